# SPDX-License-Identifier: BSD-3-Clause
"""Macro: a picture of the client's window."""
import os

import progress
import screen

folder = os.environ["TRIBUTARY_OUTPUT"]
pixels = screen.read(os.path.join(folder, "Xvfb_screen0"))
screen.write_picture(os.path.join(folder, progress.current().filter + ".png"), pixels)
