# SPDX-License-Identifier: BSD-3-Clause
"""A limit on the address space (ulimit -v) of one rank or all: one message, and a filter that works again without it.

pvbatch --sym Limits.py [FILTER]. Limits of some bytes above what a rank has are tried in turn, up to one that is
enough.
"""

import ctypes
import faulthandler
import resource
import sys

import check
import scenes
from scenes import COMM

SECONDS = 120  # after which an execution hangs
MAKE = {
    "StreamTracer": lambda: scenes.tracer(48, lines=3000, steps=400),
    "PathTracer": lambda: scenes.paths(48, particles=3000),
    "FlowMap": lambda: scenes.flow_map(48, points=20),
    "Connectivity": lambda: scenes.connectivity(96),
    "FeatureTracker": lambda: scenes.tracker(48),
    "CriticalPoints": lambda: scenes.critical(32),
    "ConvectionDiffusion": lambda: scenes.carried(64),
    "HarmonicFill": lambda: scenes.filled(64),
}
M_MMAP_THRESHOLD = -3
LIMITS = [n << 20 for n in ((1, 4, 16) if check.thorough() else (1, 16))]


def address_space():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def main():
    messages = scenes.Messages()
    # Freed memory is given back at once, so that a limit above what is left is one.
    ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, 1 << 16)
    console = check.os.fdopen(check.os.dup(1), "w")
    total = 0
    for name in sys.argv[1:2] or MAKE:
        scene = MAKE[name]()
        scene.update()
        usual, refused = scene.digest(), 0
        cases = [(limit, rank) for limit in LIMITS for rank in (COMM.size - 1, None)]
        for limit, rank in cases:
            case = f"{name} with {limit >> 20} MiB more on rank {rank}"
            faulthandler.dump_traceback_later(SECONDS, exit=True, file=console)
            if rank in (COMM.rank, None):
                resource.setrlimit(resource.RLIMIT_AS, (address_space() + limit, resource.RLIM_INFINITY))
            scene.update()
            resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
            faulthandler.cancel_dump_traceback_later()
            found = scene.digest()
            said = messages.take()
            ours = [line for text in said for line in text.splitlines()
                    if "ERR|" in line and scene.filter.GetClassName() in line]
            if found is None:
                refused += 1
                assert len(ours) == 1 and "memory" in ours[0], f"{case}: {said}"
            else:
                assert found == usual and not ours, f"{case}: {said}"
            scene.update()
            assert scene.digest() == usual, f"{case}: it does not work afterwards: {messages.take()}"
            assert "ERR|" not in "".join(messages.take()), f"{case}: a message afterwards"
        if COMM.rank == 0:
            print(f"{name}: {refused} of {len(cases)} limits refused", flush=True)
        total += refused
    assert total > 0 or len(sys.argv) > 1, "no limit is too low"


if __name__ == "__main__":
    check.run(__file__)
