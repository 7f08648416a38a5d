# SPDX-License-Identifier: BSD-3-Clause
"""Macro: redo has applied it again."""
from checks import *

expect(GetActiveSource().ConnectThrough == "Faces", "redo applies Connect Through")
