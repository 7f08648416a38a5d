# SPDX-License-Identifier: BSD-3-Clause
"""Aborts executions at random moments, on one rank or all, and prints how long each takes to return.

pvbatch --sym Aborts.py [ABORTS [FILTER...]]. The time of an abort runs from the moment that the user asks for it,
whatever the filter does then, to the return on the last rank. The user's request is seen where the filter processes
events.

From 1000 aborts on, of 100,000 lines, 99 % have to return within a second; fewer aborts, of fewer lines, are for busy
machines.
"""

import random
import sys
import time

import numpy as np

import check
import scenes
from scenes import COMM

ABORTS = int(sys.argv[1]) if len(sys.argv) > 1 else 8  # of each filter
LONG = ABORTS >= 1000
BOUND = 1.0  # seconds
REPEATS = 2  # of the undisturbed execution

# The phases of each filter, in their order, by the names of their statistics.
CASES = {
    "StreamTracer": (
        lambda: scenes.tracer(64, lines=100000 if LONG else 20000, steps=100),
        ("SetupSeconds", "TracingSeconds", "AssemblySeconds"),
    ),
    "PathTracer": (lambda: scenes.paths(48, particles=20000), ()),
    "FlowMap": (lambda: scenes.flow_map(48, points=40), ()),
    "Connectivity": (lambda: scenes.connectivity(160), ("SetupSeconds", "LabelingSeconds", "WritingSeconds")),
    "FeatureTracker": (lambda: scenes.tracker(96), ()),
    "CriticalPoints": (lambda: scenes.critical(64), ()),
    "ConvectionDiffusion": (lambda: scenes.carried(48, steps=10), ("SetupSeconds", "SolvingSeconds", "WritingSeconds")),
    "HarmonicFill": (lambda: scenes.filled(64), ("SetupSeconds", "SolvingSeconds", "WritingSeconds")),
}


class Asker:
    """The user, who asks for an abort at a moment."""

    def __init__(self, vtk_filter):
        self.filter, self.at = vtk_filter, None
        vtk_filter.AddObserver("ProgressEvent", self.see)

    def see(self, caller, event):
        if self.at is not None and time.monotonic() >= self.at:
            self.filter.SetAbortExecute(1)


class Aborts:
    def __init__(self, name):
        make, self.phases = CASES[name]
        self.name, self.scene = name, make()
        self.asker = Asker(self.scene.filter)
        self.random = random.Random(name)  # the same on all ranks
        self.latencies = {}
        self.missed = 0

    def undisturbed(self):
        """The usual result, the duration, and when each phase ends."""
        COMM.Barrier()
        begin = time.monotonic()
        self.scene.update()
        seconds = COMM.allreduce(time.monotonic() - begin, max)
        ends = np.cumsum([self.scene.statistic(phase) for phase in self.phases])
        return self.scene.digest(), seconds, COMM.bcast(ends)

    def phase(self, moment):
        for name, end in zip(self.phases, self.ends):
            if moment <= end:
                return name.replace("Seconds", "").lower()
        return "other"

    def abort(self, number, within):
        moment = self.random.uniform(0, within)
        asked = COMM.rank == number % (COMM.size + 1) or number % (COMM.size + 1) == COMM.size
        COMM.Barrier()
        begin = COMM.bcast(time.monotonic())
        self.asker.at = begin + moment if asked else None
        self.scene.update()
        latency = COMM.allreduce(time.monotonic(), max) - begin - moment
        aborted = COMM.allreduce(bool(self.scene.filter.GetAbortExecute()), max)
        self.asker.at = None
        self.scene.filter.SetAbortExecute(0)
        found = self.scene.digest()
        assert found in (None, self.usual), f"{self.name}: an abort after {moment:.3f} s leaves a part of the output"
        if not aborted or found:  # the flag is also set where the execution has ended
            self.missed += 1
            return
        self.latencies.setdefault(self.phase(moment), []).append(latency)

    def report(self):
        everything = sorted(x for part in self.latencies.values() for x in part)
        print(f"{self.name}: {self.seconds:.2f} s undisturbed, {len(everything)} aborts, {self.missed} came too late",
              flush=True)
        for phase, part in [*self.latencies.items(), ("all", everything)]:
            middle, late = np.percentile(part, (50, 99))
            print(f"  {phase:10} {len(part):5} aborts: {middle:.3f} s median, {late:.3f} s at 99 %, {max(part):.3f} s most",
                  flush=True)
        return np.percentile(everything, 99)

    def run(self, count, messages):
        runs = [self.undisturbed() for _ in range(REPEATS)]
        usual = runs[0][0]
        assert usual is not None and all(run[0] == usual for run in runs), f"{self.name}: the result differs by itself"
        self.usual = usual
        self.seconds, self.ends = min(run[1] for run in runs), runs[-1][2]
        for number in range(count):
            self.abort(number, self.seconds)
            if number % 100 == 99:
                assert self.undisturbed()[0] == usual, f"{self.name}: another result after {number + 1} aborts"
                if COMM.rank == 0:
                    print(f"{number + 1} done", flush=True)
        # On a busy machine the duration varies: at least one abort is not too late.
        for number in range(20):
            if COMM.bcast(bool(self.latencies)):
                break
            self.abort(number, 0)
        assert self.undisturbed()[0] == usual, f"{self.name}: another result after the aborts"
        assert not "".join(messages.take()), "there is a message"
        if COMM.rank == 0:
            assert self.latencies, f"{self.name}: all aborts come too late"
            late = self.report()
            assert late <= BOUND or not LONG, f"{self.name}: 99 % of the aborts take up to {late:.3f} s"


def main():
    messages = scenes.Messages()
    for name in sys.argv[2:] or CASES:
        Aborts(name).run(ABORTS, messages)


if __name__ == "__main__":
    check.run(__file__)
