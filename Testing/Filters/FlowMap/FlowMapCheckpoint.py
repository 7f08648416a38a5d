# SPDX-License-Identifier: BSD-3-Clause
"""Async Flow Map with a window from the first time step that is stopped in the middle and goes on in another
process, on another number of ranks: the bits of a run that was never stopped.

Without arguments it writes checkpoints and what is right to TRIBUTARY_OUTPUT. Arguments are folders to which other
numbers of ranks have written these: it goes on from each of them; and from damaged ones, which are refused. Every
rank runs this script (pvbatch --sym).
"""

import os
import sys

import check
import checkpoints
from FlowMap import SWAY, Map
from tracking import COMM, expect
from unsteady import Simulation, executed, source

TIMES = [0.0, 0.5, 1.0, 2.0, 2.5]
MIDDLE, LAST = 2, 4
WHEN = (1.0, 1.75, 2.0, 2.5)
GROWS = {"Window": "From First Time Step", "IntegrationTime": 2.25, "MaximumError": 1e-4}
# Name: arguments of the data, properties.
CASES = {
    "grid": ({"mesh": "image", "size": 9}, {"SamplingDimensions": [8, 7, 5], "ComputeTensor": 1}),
    "moving": ({"mesh": "tetrahedra", "size": 6, "after": SWAY}, {"SamplingDimensions": [7, 6, 1]}),
    "points": ({"mesh": "tetrahedra", "size": 5}, {"Seeds": "Points of Input"}),
}


def mapped(case, times, upto=TIMES, **more):
    """The hashes at some times, in a new filter."""
    arguments, properties = CASES[case]
    data = source("swirl", upto, **arguments)
    proxy = check.flow_map(data, **{**GROWS, **properties, **more})
    digests = [Map(proxy, when).digest() for when in times]
    check.delete(proxy, data)
    return digests


def write():
    right = {}
    for case in CASES:
        right[case] = mapped(case, WHEN)
        expect(len(set(right[case])) == len(WHEN), f"{case}: all differ")
        found = mapped(case, [TIMES[MIDDLE]], CheckpointDirectory=checkpoints.empty(case))
        expect(found[0] == right[case][0], f"{case}: with a checkpoint")
        mapped(case, [TIMES[LAST]], CheckpointDirectory=checkpoints.empty(case + ".second"), CheckpointInterval=2)
    checkpoints.save_right(right)


def go_on(case, folder, right):
    for order in (WHEN, *([WHEN[::-1]] if case == "grid" else []), (TIMES[LAST],)):
        executed.clear()
        found = mapped(case, order, CheckpointDirectory=checkpoints.copy(os.path.join(folder, case)), Resume=1)
        expect(found == [right[WHEN.index(when)] for when in order], f"{case} from {folder}: {order}")
    expect(executed == TIMES[MIDDLE:], f"{case}: executed {executed}")
    found = mapped(case, WHEN, CheckpointDirectory=checkpoints.copy(os.path.join(folder, case + ".second")), Resume=1)
    expect(found == right, f"{case}: every second step")


def simulated(catalyst, steps, **properties):
    """The hashes after each of the steps of a simulation, in a new filter."""
    simulation = Simulation(catalyst, TIMES)
    return simulation.digests(steps, lambda producer: check.flow_map(producer, **properties), Map)


def run_in_situ(catalyst, more):
    """A simulation that stops after step 3 and is started again at that step, at the first one, or elsewhere."""
    grow = {**GROWS, "IntegrationTime": 9.0, **more}
    right = simulated(catalyst, range(5), **grow)
    steps = (3,) if "Seeds" in more else (3, 0, 2, 4)
    for again, found, said in checkpoints.restarts(simulated, catalyst, grow, steps):
        if again in (3, 0):
            expect(found == right[again:], f"in situ, from step {again}")
            expect("ERR|" not in said, f"in situ, from step {again}: {said}")
        else:
            cure = "other time steps; restore these" if catalyst else "at the time 2"
            expect(said.count("ERR|") == 1 and cure in said and "switch Resume off" in said,
                   f"from step {again}: {said}")


def run_damaged(folder, right):
    messages = check.Messages()
    case = "grid"
    arguments, properties = CASES[case]
    for mine, file, how in checkpoints.damaged(os.path.join(folder, case), "flowmap"):
        data = source("swirl", TIMES if how != "steps" else [0.25, *TIMES[1:]], **arguments)
        more = {"MaximumError": 1e-5} if how == "properties" else {}
        proxy = check.flow_map(data, **{**GROWS, **properties, **more, "CheckpointDirectory": mine, "Resume": 1})
        messages.take()
        proxy.UpdatePipeline(TIMES[LAST])
        checkpoints.refused(messages, file, how, proxy.GetClientSideObject().GetOutputDataObject(0).GetNumberOfPoints())
        proxy.Resume = 0
        proxy.CheckpointDirectory = ""
        digest = Map(proxy, TIMES[LAST]).digest()
        expect((digest == right[case][-1]) == (how not in ("properties", "steps")), f"{file} {how}: after the cure")
        expect("ERR|" not in "".join(messages.take()), f"{file} {how}: a message after the cure")
        check.delete(proxy, data)


def run_moved():
    """Seeds at points of the data that have moved since the first step cannot be found again."""
    arguments = {"mesh": "tetrahedra", "size": 5, "after": SWAY}
    mine = checkpoints.empty("moved")
    properties = {**GROWS, "Seeds": "Points of Input", "CheckpointDirectory": mine}
    for resume in (0, 1):
        data = source("swirl", TIMES, **arguments)
        proxy = check.flow_map(data, **properties, Resume=resume)
        messages = check.Messages()
        proxy.UpdatePipeline(TIMES[MIDDLE + resume])
        said = "".join(messages.take())
        expect(said.count("ERR|") == resume, f"moved points: {said}")
        expect(resume == 0 or ("have moved" in said and "switch Resume off" in said), f"moved points: {said}")
        check.delete(proxy, data)


def resume(written):
    for folder in written:
        right = checkpoints.right_of(folder)
        for case in CASES:
            go_on(case, folder, right[case])
    run_damaged(written[-1], right)
    run_moved()
    for catalyst in (False, True):
        for seeds in ({"SamplingDimensions": [6, 5, 4]}, {"Seeds": "Points of Input"}):
            run_in_situ(catalyst, seeds)


def main():
    if len(sys.argv) > 1:
        resume(sys.argv[1:])
    else:
        write()


if __name__ == "__main__":
    check.run(__file__)
