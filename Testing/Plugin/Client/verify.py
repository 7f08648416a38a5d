# SPDX-License-Identifier: BSD-3-Clause
"""Macro: what the menu and Apply have made. Leaves a picture and the file "verified"."""
import os

from checks import *
from vtkmodules.vtkIOImage import vtkPNGReader

tracer = GetActiveSource()
expect(tracer.GetXMLName() == "AsyncStreamTracer", "the menu made an Async Stream Tracer")
expect(tracer.Vectors[1] == "swirl", "the vectors were chosen by themselves")
lines = tracer.GetDataInformation().GetNumberOfCells()
points = tracer.GetDataInformation().GetNumberOfPoints()
expect(lines > 100 and points > 20 * lines, "Apply traced many long lines: %d, %d" % (lines, points))

view = GetActiveView()
expect(GetRepresentation(tracer, view).Visibility == 1, "the lines are shown")
for source in GetSources().values():
    if source != tracer:
        Hide(source, view)
picture = os.path.join(os.environ["TRIBUTARY_OUTPUT"], "client.png")
SaveScreenshot(picture, view, ImageResolution=[800, 600])
reader = vtkPNGReader()
reader.SetFileName(picture)
reader.Update()
pixels = reader.GetOutput().GetPointData().GetScalars()
background = pixels.GetTuple(0)
drawn = sum(pixels.GetTuple(i) != background for i in range(0, pixels.GetNumberOfTuples(), 7))
expect(drawn > 500, "lines cover a part of the picture: %d of its sampled pixels" % drawn)

with open(os.path.join(os.environ["TRIBUTARY_OUTPUT"], "verified"), "w") as file:
    file.write("the client traced %d lines of %d points\n" % (lines, points))
