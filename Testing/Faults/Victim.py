# SPDX-License-Identifier: BSD-3-Clause
"""pvbatch --sym Victim.py FILTER: executes a filter again and again, for Processes.py, and compares each result.

Rank 0 writes a line to standard output when all ranks are ready, and after each execution.
"""

import os
import sys
import time

import scenes
from scenes import COMM

MAKE = {
    "StreamTracer": lambda: scenes.tracer(32, lines=3000, steps=300, StallTimeout=0.5),
    "Connectivity": lambda: scenes.connectivity(96, StallTimeout=0.5),
    "FeatureTracker": lambda: scenes.tracker(32, StallTimeout=0.5),
    "CriticalPoints": lambda: scenes.critical(20, StallTimeout=0.5),
    "ConvectionDiffusion": lambda: scenes.carried(48, steps=10),
    "HarmonicFill": lambda: scenes.filled(48),
}


def tell(*words):
    if COMM.rank == 0:
        os.write(1, (" ".join(map(str, words)) + "\n").encode())


def main():
    scene = MAKE[sys.argv[1]]()
    scene.update()
    usual = scene.digest()
    begin = time.monotonic()
    scene.update()
    seconds = COMM.allreduce(time.monotonic() - begin, max)
    tell("@ready", seconds, *COMM.allgather(os.getpid()))
    while True:
        scene.update()
        tell("@right" if scene.digest() == usual and usual else "@wrong")


main()
