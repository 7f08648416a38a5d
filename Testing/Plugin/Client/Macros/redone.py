# SPDX-License-Identifier: BSD-3-Clause
"""Macro: redo has applied it again."""
from paraview.simple import *
from progress import expect

expect(GetActiveSource().ConnectThrough == "Faces", "redo applies Connect Through")
