# SPDX-License-Identifier: BSD-3-Clause
"""Lets allocations fail on one rank, for each filter: one message, empty outputs on all ranks, and a filter that works
again.

LD_PRELOAD=libFailingAllocator.so pvbatch --sym Memory.py [CASES [FILTER [LEAST [NUMBER]]]]

CASES   number of allocations of each filter that fail, one execution for each
LEAST   their least size in bytes
NUMBER  only the allocation of this number fails
"""

import ctypes
import faulthandler
import sys

import check
import scenes
from scenes import COMM

SECONDS = 60  # after which an execution hangs
SIZES = {"PathTracer": 12, "FlowMap": 12, "Connectivity": 24, "FeatureTracker": 16, "CriticalPoints": 10, "ConvectionDiffusion": 16, "HarmonicFill": 16}


class Allocator:
    """The allocator of this process; see FailingAllocator.cpp."""

    def __init__(self):
        library = ctypes.CDLL(None)
        self.arm = library.tributary_fail_allocations
        self.arm.argtypes = (ctypes.c_size_t, ctypes.c_long, ctypes.c_long)
        self.stop = library.tributary_stop_failing
        self.failed = library.tributary_failed_allocations
        self.stop.restype = self.failed.restype = ctypes.c_long


class Sweep:
    def __init__(self, name, least, messages):
        self.name, self.least, self.messages = name, least, messages
        self.allocator = Allocator()
        small = {"lines": 60, "steps": 40} if name == "StreamTracer" else {}
        self.scene = scenes.SCENES[name](SIZES.get(name, 16), **small)
        self.scene.update()
        self.usual = self.scene.digest()
        assert self.usual is not None, f"{name}: there is no result"
        self.failures, self.refused, self.survived = [], 0, 0

    def allocations(self):
        """Their number in an execution, on each rank."""
        self.allocator.arm(self.least, 0, -1)
        self.scene.update()
        return COMM.allgather(self.allocator.stop())

    def fail(self, case, what):
        if COMM.rank == 0:
            print(f"{self.name} {case}: {what}", flush=True)
        self.failures.append(case)

    def run(self, rank, number, persistent):
        case = f"allocation {number} of at least {self.least} bytes on rank {rank}" + ", and all after it" * persistent
        if COMM.rank == 0 and VERBOSE:
            print(case, flush=True)
        faulthandler.dump_traceback_later(SECONDS, exit=True, file=CONSOLE)
        if COMM.rank == rank:
            self.allocator.arm(self.least, number, 1 << 60 if persistent else number)
        self.scene.update()
        self.allocator.stop()
        failed = COMM.bcast(self.allocator.failed(), rank)
        faulthandler.cancel_dump_traceback_later()
        digest, said = self.scene.digest(), self.messages.take()
        ours = [line for text in said for line in text.splitlines() if "ERR|" in line and self.scene.filter.GetClassName() in line]
        if not failed:
            return
        if digest is None:
            self.refused += 1
            if len(ours) != 1 or "memory" not in ours[0]:
                self.fail(case, f"the messages are {said}")
        elif digest == self.usual and not ours:
            self.survived += 1
        else:
            self.fail(case, f"neither refused nor the usual result: {said}")
        self.scene.update()
        if self.scene.digest() != self.usual or "ERR|" in "".join(self.messages.take()):
            self.fail(case, "it does not work afterwards")

    def sweep(self, cases):
        counts = self.allocations()
        for rank in range(COMM.size):
            self.run(rank, 0, persistent=False)  # before there is a transport that could notify the other ranks
        for index in range(cases):
            rank = index % COMM.size
            self.run(rank, counts[rank] * (2 * index + 1) // (2 * cases), persistent=index // COMM.size % 2 == 1)
        if COMM.rank == 0:
            print(f"{self.name}: {counts} allocations of at least {self.least} bytes, {cases + COMM.size} failed: {self.refused} "
                  f"executions refused, {self.survived} not disturbed, {len(self.failures)} wrong", flush=True)


CONSOLE = open("/dev/null", "w")
VERBOSE = len(sys.argv) > 4


def main():
    global CONSOLE
    CONSOLE = check.os.fdopen(check.os.dup(2), "w")
    messages = scenes.Messages()
    wrong = []
    for name in sys.argv[2:3] or scenes.SCENES:
        sweep = Sweep(name, int(sys.argv[3]) if len(sys.argv) > 3 else 1024, messages)
        if len(sys.argv) > 4:
            for rank in range(COMM.size):
                sweep.run(rank, int(sys.argv[4]), False)
        else:
            sweep.sweep(int(sys.argv[1]) if len(sys.argv) > 1 else 12)
        wrong += sweep.failures
    assert not wrong, f"{len(wrong)} cases are wrong"


if __name__ == "__main__":
    check.run(__file__)
