# SPDX-License-Identifier: BSD-3-Clause
"""Async Feature Tracker that is stopped in the middle and goes on in another process, on another number
of ranks: the bits of a run that was never stopped.

Without arguments it writes checkpoints and what is right to TRIBUTARY_OUTPUT. Arguments are folders to
which other numbers of ranks have written these: it goes on from each of them; and from damaged ones,
which are refused. Every rank runs this script (pvbatch --sym).
"""

import glob
import os
import shutil
import sys

import check
import checkpoints
import CriticalPoints
import Features
import fields
import films
from paraview import simple
from tracking import COMM, FEW, expect

Wrong = check.Wrong
CRITICAL = {"Features": "Critical Points", "CriticalField": ["POINTS", "field"]}
MOVING = {**Features.FILLED, "Motion": "Estimated"}

# Name: outputs, source, data of this rank in situ, times, properties.
CASES = {
    "regions": (Features.Outputs, lambda times: films.source(simple, "meet", "changing", times, 6),
                lambda step, when: films.data_of("meet", "changing", step, when),
                Features.STEPS, Features.FILLED),
    "regions that move": (Features.Outputs, lambda times: films.source(simple, "cross", "image", times),
                          lambda step, when: films.data_of("cross", "image", step, when),
                          [float(t) for t in range(9)], MOVING),
    "scalars": (CriticalPoints.Outputs, lambda times: fields.source(simple, "waves", "image", times),
                lambda step, when: fields.data_of("waves", "image", step, when),
                CriticalPoints.STEPS, CRITICAL),
    "vectors": (CriticalPoints.Outputs, lambda times: fields.source(simple, "storm", "simplices", times, 5),
                lambda step, when: fields.data_of("storm", "simplices", step, when),
                CriticalPoints.STEPS, CRITICAL),
    "solid": (CriticalPoints.Outputs, lambda times: fields.source(simple, "solid", "image", times),
              lambda step, when: fields.data_of("solid", "image", step, when),
              CriticalPoints.STEPS[:5], CRITICAL),
}


def folder_of(parent, name):
    return os.path.join(parent, name.replace(" ", "-"))


def followed(name, upto, data=None, proxies=None, **properties):
    """The outputs' digest at a step, in a filter of its own."""
    outputs, source, _, times, usual = CASES[name]
    data = data or source(times)
    proxy = check.tracked(data, **usual, **properties)
    proxy.UpdatePipeline(times[upto])
    digest = outputs(proxy).digest()
    if proxies is None:
        check.delete(proxy, data)
    else:
        proxies += [proxy, data]
    return digest


def write():
    right = {}
    for name, (_, _, _, times, _) in CASES.items():
        folder = folder_of(check.OUTPUT, name)
        if COMM.rank == 0:
            for of_before in (folder, folder + ".third"):
                shutil.rmtree(of_before, ignore_errors=True)
        COMM.barrier()
        last, middle = len(times) - 1, len(times) // 2
        right[name] = [followed(name, step) for step in (middle, last)]
        # A checkpoint at each step, and every third one only.
        found = followed(name, middle, CheckpointDirectory=folder)
        expect(found == right[name][0], f"{name}: with a checkpoint")
        followed(name, last, CheckpointDirectory=folder + ".third", CheckpointInterval=3)
        if COMM.rank == 0:
            parts = glob.glob(os.path.join(glob.escape(folder), "*"))
            expect(len(parts) == COMM.size + 1, f"{name}: {parts}")
    checkpoints.save_right(right)


def go_on(name, folder, right):
    outputs, source, data_of, times, usual = CASES[name]
    last, middle = len(times) - 1, len(times) // 2
    ways = {
        "the last step": (last, right[1]),
        "the step of the checkpoint": (middle, right[0]),
        "an earlier step": (1, None),
    }
    for way, (step, digest) in ways.items():
        found = followed(name, step, CheckpointDirectory=checkpoints.copy(folder), Resume=1)
        if digest is None:
            digest = followed(name, step)
        expect(found == digest, f"{name} from {folder}: {way}")
    found = followed(name, last, CheckpointDirectory=checkpoints.copy(folder + ".third"), Resume=1)
    expect(found == right[1], f"{name}: every third step")

    if not FEW:
        return

    # Does it go on at all?
    executed = []
    proxies = []
    mine = checkpoints.copy(folder)
    data = source(times)
    data.Script += "\nsys.modules['fields' if 'fields' in sys.modules else 'films'].EXECUTED.append(time)\n"
    fields.EXECUTED = films.EXECUTED = executed
    followed(name, last, data, proxies, CheckpointDirectory=mine, Resume=1)
    expect(executed and min(executed) == times[middle + 1], f"{name}: executed {executed}")
    # Back, and on again, though there is a checkpoint.
    proxies[0].UpdatePipeline(times[middle])
    expect(outputs(proxies[0]).digest() == right[0], f"{name}: back again")
    proxies[0].UpdatePipeline(times[last])
    expect(outputs(proxies[0]).digest() == right[1], f"{name}: on again")
    check.delete(*proxies)


def in_situ(name):
    """Stops after step 2, and goes on with step 3, 2 or 0."""
    outputs, _, data_of, times, usual = CASES[name]
    folder = os.path.join(check.OUTPUT, "insitu")

    def handed_over(steps, **properties):
        producer = simple.TrivialProducer()
        held, proxy, digest = producer.GetClientSideObject(), None, None
        for step in steps:
            data = data_of(step, times[step])
            data.GetInformation().Set(data.DATA_TIME_STEP(), times[step])
            held.SetOutput(data)
            producer.MarkModified(producer)
            proxy = proxy or check.tracked(producer, **usual, **properties)
            proxy.UpdatePipeline()
            digest = outputs(proxy).digest()
        check.delete(proxy, producer)
        return digest

    right = handed_over(range(5))
    for again in (3, 2, 0):
        if COMM.rank == 0:
            shutil.rmtree(folder, ignore_errors=True)
        COMM.barrier()
        handed_over(range(3), CheckpointDirectory=folder)
        found = handed_over(range(again, 5), CheckpointDirectory=folder, Resume=1)
        expect(found == right, f"{name} in situ, from step {again}")


def run_damaged(folder, right):
    messages = check.Messages()
    name = "scalars"
    _, source, _, times, usual = CASES[name]
    last = len(times) - 1
    index = "features.index"
    for mine, file, how in checkpoints.damaged(folder, "features"):
        given = times if how != "steps" else [0.25, *times[1:]]
        data = source(given)
        more = {"CenterTolerance": 0.1} if how == "properties" else {}
        proxy = check.tracked(data, **usual, **more, CheckpointDirectory=mine, Resume=1)
        messages.take()
        proxy.UpdatePipeline(times[last])
        checkpoints.refused(messages, file, how, proxy.GetClientSideObject().GetOutputDataObject(2).GetNumberOfRows())
        if how == "other" and file == index:
            proxy.Resume = 0  # still nobody's file
            proxy.UpdatePipeline(times[last])
            said = messages.take()
            expect("ERR|" in "".join(said), "a file that is somebody else's")
            if COMM.rank == 0:
                with open(os.path.join(mine, index), "rb") as kept:
                    expect(b"Contents of another file" in kept.read(), "a file that was somebody else's")
        proxy.CheckpointDirectory = ""
        proxy.Resume = 0
        proxy.UpdatePipeline(times[last])
        if how not in ("properties", "steps"):
            expect(CriticalPoints.Outputs(proxy).digest() == right, f"{file} {how}: after the cure")
        else:
            CriticalPoints.Outputs(proxy)
        expect("ERR|" not in "".join(messages.take()), f"{file} {how}: a message after the cure")
        check.delete(proxy, data)


def resume(written):
    # All cases on 2 ranks; on others, which would repeat them, a part each.
    moving = ("regions that move", "vectors")
    others = [name for name in CASES if name not in moving]
    resumed = CASES if COMM.size <= 2 else others if FEW else moving
    for folder in written:
        right = checkpoints.right_of(folder)
        for name in resumed:
            go_on(name, folder_of(folder, name), right[name])
        if COMM.rank == 0:
            print(f"from {folder}", flush=True)
    if not FEW:
        return
    in_situ("regions that move")
    in_situ("scalars")
    run_damaged(folder_of(folder, "scalars"), right["scalars"][1])


def main():
    if len(sys.argv) > 1:
        resume(sys.argv[1:])
    else:
        write()


if __name__ == "__main__":
    check.run(__file__)
