# SPDX-License-Identifier: BSD-3-Clause
"""Async Path Tracer that is stopped in the middle and goes on in another process, on another number of ranks:
the bits of a run that was never stopped.

Without arguments it writes checkpoints and what is right to TRIBUTARY_OUTPUT. Arguments are folders to
which other numbers of ranks have written these: it goes on from each of them; and from damaged ones,
which are refused. Every rank runs this script (pvbatch --sym).
"""

import glob
import os
import sys

import check
import checkpoints
import numpy as np
from Surfaces import surface
from tracking import COMM, expect
from unsteady import Paths, Simulation, executed, seeds, source

TIMES = [0.0, 0.5, 1.0, 2.0, 2.5]
MIDDLE, LAST = 2, 4
WHEN = (0.0, 0.5, 0.75, 1.0, 1.75, 2.5)
EVERY = {"ForceReinjectionEveryNSteps": 1}
# Name: arguments of the data, properties.
CASES = {
    "pathlines": ({"mesh": "tetrahedra", "size": 7}, {**EVERY, "ComputeVorticity": 1}),
    "streaklines": ({"mesh": "image", "size": 9, "dtype": "float64"},
                    {**EVERY, "OutputKind": "Streaklines", "StaticSeeds": 1}),
    "particles": ({"mesh": "mixed", "size": 7}, {"ForceReinjectionEveryNSteps": 3, "OutputKind": "Particles"}),
    "events": ({"mesh": "image", "size": 9},
               {**EVERY, "ComputeVorticity": 0,
                "Events": ["plane origin 3 3 3 normal 1 0.5 0", "sphere center 3 3 3 radius 2 end 2", "length 1.5",
                           "time 0.75", "box lower 1 1 1 upper 5 5 5 negative"]}),
    "targets": ({"mesh": "tetrahedra", "size": 7, "after": "unsteady.mark(output, time)"},
                {**EVERY, "SurfaceLabelArray": "octant",
                 "Events": ["surface", "surface negative end 2", "isovalue height 20", "label level", "label slabs",
                            "isovalue warm 12"]}),
}


def start():
    random = np.random.default_rng(7)
    return seeds(random.uniform(-0.5, 6.0, (41, 3)), spread=COMM.size % 2 == 0)


def followed(case, times, upto=TIMES, **more):
    """The hashes at some times, in a new filter."""
    arguments, properties = CASES[case]
    where, data = start(), source("swirl", upto, **arguments)
    targets = [surface("cyclic")] if case == "targets" else []
    proxy = check.paths(data, where, **{**properties, **more}, **{"EventSurfaces": target for target in targets})
    digests = [Paths(proxy, when).digest() for when in times]
    check.delete(proxy, data, where, *targets)
    return digests


def write():
    right = {}
    for case in CASES:
        right[case] = followed(case, WHEN)
        expect(len(set(right[case])) == len(WHEN), f"{case}: all differ")
        folder = checkpoints.empty(case)
        found = followed(case, [TIMES[MIDDLE]], CheckpointDirectory=folder)
        expect(found[0] == right[case][WHEN.index(TIMES[MIDDLE])], f"{case}: with a checkpoint")
        names = sorted(os.path.basename(p) for p in glob.glob(os.path.join(glob.escape(folder), "*")))
        wanted = [f"paths.{MIDDLE}.{r}" for r in range(COMM.size)] + ["paths.index"]
        expect(sorted(names) == sorted(wanted), f"{case}: files {names}")
        followed(case, [TIMES[LAST]], CheckpointDirectory=checkpoints.empty(case + ".second"),
                 CheckpointInterval=2)
    checkpoints.save_right(right)


def go_on(case, folder, right):
    for order in (WHEN, WHEN[::-1], (TIMES[LAST],)):
        executed.clear()
        found = followed(case, order, CheckpointDirectory=checkpoints.copy(os.path.join(folder, case)),
                         Resume=1)
        expect(found == [right[WHEN.index(when)] for when in order], f"{case} from {folder}: {order}")
    expect(executed == TIMES[MIDDLE:], f"{case}: executed {executed}")
    found = followed(case, WHEN, CheckpointDirectory=checkpoints.copy(os.path.join(folder, case + ".second")),
                     Resume=1)
    expect(found == right, f"{case}: every second step")


def run_once(folder, right):
    """After an error, the filter begins with the first step: the data may be others than those of the checkpoint."""
    messages = check.Messages()
    case = "streaklines"
    arguments, properties = CASES[case]
    mine = checkpoints.copy(os.path.join(folder, case))
    where, data = start(), source("swirl", TIMES, **arguments)
    proxy = check.paths(data, where, **{**properties, "CheckpointDirectory": mine, "Resume": 1})
    expect(Paths(proxy, TIMES[MIDDLE]).digest() == right[case][WHEN.index(TIMES[MIDDLE])], "resumed")
    usual = proxy.MaximumError
    proxy.MaximumError = -1
    messages.take()
    proxy.UpdatePipeline(TIMES[LAST])
    expect("ERR|" in "".join(messages.take()), "no error")
    proxy.MaximumError = usual
    data.Script = data.Script + "\n# modified\n"
    executed.clear()
    expect(Paths(proxy, TIMES[LAST]).digest() == right[case][-1], "after an error")
    expect(executed == TIMES, f"after an error: executed {executed}")
    check.delete(proxy, data, where)


def simulated(catalyst, steps, **properties):
    """The hashes after each of the steps of a simulation, in a new filter."""
    where = start()
    simulation = Simulation(catalyst, TIMES)
    return simulation.digests(steps, lambda producer: check.paths(producer, where, **properties), Paths)


def run_in_situ(catalyst):
    """A simulation that stops after step 3 and is started again at one of its steps, or at the first one."""
    right = simulated(catalyst, range(5), **EVERY)
    for again, found, said in checkpoints.restarts(simulated, catalyst, EVERY, (3, 2, 0, 4)):
        if again < 4:
            expect(found == right[again:], f"in situ, from step {again}")
            expect("ERR|" not in said, f"in situ, from step {again}: {said}")
        else:
            cure = "other time steps; restore these" if catalyst else "resumes at the time 2"
            expect(said.count("ERR|") == 1 and cure in said and "switch Resume off" in said,
                   f"a step that is too late: {said}")
            expect(found[0] == right[0], "paths without the step between")  # none have moved


def run_damaged(folder, right):
    messages = check.Messages()
    case = "pathlines"
    arguments, properties = CASES[case]
    where = start()
    for mine, file, how in checkpoints.damaged(os.path.join(folder, case), "paths"):
        data = source("swirl", TIMES if how != "steps" else [0.25, *TIMES[1:]], **arguments)
        more = {"MaximumError": 1e-4} if how == "properties" else {}
        proxy = check.paths(data, where, **{**properties, **more, "CheckpointDirectory": mine, "Resume": 1})
        messages.take()
        proxy.UpdatePipeline(TIMES[LAST])
        checkpoints.refused(messages, file, how, proxy.GetClientSideObject().GetOutputDataObject(0).GetNumberOfPoints())
        proxy.Resume = 0
        proxy.CheckpointDirectory = ""
        digest = Paths(proxy, TIMES[LAST]).digest()
        expect((digest == right[case][-1]) == (how not in ("properties", "steps")), f"{file} {how}: after the cure")
        expect("ERR|" not in "".join(messages.take()), f"{file} {how}: a message after the cure")
        check.delete(proxy, data)
    check.delete(where)


def resume(written):
    for folder in written:
        right = checkpoints.right_of(folder)
        for case in CASES:
            go_on(case, folder, right[case])
    run_once(written[-1], right)
    run_damaged(written[-1], right)
    for catalyst in (False, True):
        run_in_situ(catalyst)


def main():
    if len(sys.argv) > 1:
        resume(sys.argv[1:])
    else:
        write()


if __name__ == "__main__":
    check.run(__file__)
