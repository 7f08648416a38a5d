# SPDX-License-Identifier: BSD-3-Clause
"""Macro: undo has taken the last Apply back."""
from paraview.simple import *
from progress import expect

expect(GetActiveSource().ConnectThrough == "Points", "undo restores Connect Through")
