# SPDX-License-Identifier: BSD-3-Clause
"""Macro: the source of wavelet is active again."""
from paraview.simple import *

SetActiveSource(FindSource("wavelet"))
