# SPDX-License-Identifier: BSD-3-Clause
"""Macro: another filter has the copied properties."""
from paraview.simple import *
from progress import expect

filters = list(GetSources().values())
expect(len(filters) == 3, "%d sources" % len(filters))
expect(GetActiveSource().ConnectThrough == "Faces", "Connect Through is pasted")
