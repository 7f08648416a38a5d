# SPDX-License-Identifier: BSD-3-Clause
"""Macro: a flow, shown and active, as a user has it before choosing a filter."""
from checks import *

flow = swirl()
Show(flow)
Render()
SetActiveSource(flow)
