# SPDX-License-Identifier: BSD-3-Clause
"""Macro: undo has taken the last Apply back."""
from checks import *

expect(GetActiveSource().ConnectThrough == "Points", "undo restores Connect Through")
