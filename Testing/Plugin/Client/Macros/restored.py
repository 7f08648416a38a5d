# SPDX-License-Identifier: BSD-3-Clause
"""Macro: the loaded state has both filters, with their properties. Adds a line to the file "verified"."""

from paraview.simple import *
from progress import expect, report

filters = [source for source in GetSources().values() if source.GetXMLName() == "AsyncConnectivity"]
expect(len(filters) == 2, "the state has %d filters" % len(filters))
for each in filters:
    expect(each.ConnectThrough == "Faces", "the state keeps Connect Through")
    expect(each.GetDataInformation().GetNumberOfCells() == 8000, "the loaded filter executes")
report("verified", "undo, copied properties and state")
