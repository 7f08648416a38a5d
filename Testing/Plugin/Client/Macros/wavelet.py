# SPDX-License-Identifier: BSD-3-Clause
"""Macro: a source without files and nothing else, which is active."""
from paraview.simple import *

for source in reversed(list(GetSources().values())):
    Delete(source)
SetActiveSource(Wavelet(registrationName="wavelet"))
Show()
