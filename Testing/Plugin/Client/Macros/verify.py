# SPDX-License-Identifier: BSD-3-Clause
"""Macro: what the menu and the first Apply have made. Adds a line to the file "verified"."""
import os

from paraview.simple import *
from progress import current, expect, report
from screen import read_picture

case = current()
result = GetActiveSource()
expect(result.GetXMLName() == case.filter, "the menu made %s" % case.filter)
information = result.GetDataInformation()
cells = information.GetNumberOfCells()
expect(cells >= case.cells, "%s made %d cells" % (case.filter, cells))

view = GetActiveView()
expect(view.GetXMLName() == "RenderView", "the active view is still the 3-D view")
shown = GetRepresentation(result, view)
expect(shown.Visibility == 1, "the result of %s is shown" % case.filter)
expect(not case.color or shown.ColorArrayName[1] == case.color,
       "%s is colored by %s" % (case.filter, shown.ColorArrayName[1]))
for source in GetSources().values():
    if source != result:
        Hide(source, view)
picture = os.path.join(os.environ["TRIBUTARY_OUTPUT"], case.filter + "-result.png")
SaveScreenshot(picture, view, ImageResolution=[400, 300])
pixels = read_picture(picture)
drawn = (pixels != pixels[0, 0]).any(axis=2)
expect(drawn.mean() > 0.01, "%s covers %g of the picture" % (case.filter, drawn.mean()))
if case.colored:
    hues = pixels[drawn].max(axis=1).astype(int) - pixels[drawn].min(axis=1)
    expect((hues > 60).mean() > 0.1, "%s is colored: %g" % (case.filter, (hues > 60).mean()))

report("verified", "%s: %d cells, %.1f %% of the picture" % (case.filter, cells, 100 * drawn.mean()))
