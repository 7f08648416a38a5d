# SPDX-License-Identifier: BSD-3-Clause
"""Folders of checkpoints, for the tests of filters that resume."""

import glob
import json
import os
import shutil

import check
from mpi4py import MPI
from tracking import expect

COMM = MPI.COMM_WORLD


def empty(name):
    """The path of a folder of this run that does not exist."""
    folder = os.path.join(check.OUTPUT, name)
    if COMM.rank == 0:
        shutil.rmtree(folder, ignore_errors=True)
    COMM.barrier()
    return folder


def copy(folder):
    """A checkpoint for this run alone, without what is wrong with it so far."""
    mine = empty("copy")
    if COMM.rank == 0:
        shutil.copytree(folder, mine)
    COMM.barrier()
    return mine


def save_right(right):
    """Keep what a run that was never stopped has found, for right_of()."""
    if COMM.rank == 0:
        with open(os.path.join(check.OUTPUT, "right.json"), "w") as file:
            json.dump(right, file)


def right_of(folder):
    """What save_right() has kept in the folder of another run."""
    with open(os.path.join(folder, "right.json")) as file:
        return json.load(file)


def restarts(simulated, catalyst, properties, steps):
    """A simulation that stops after step 3 and is started again at one of some steps: the step, the hashes after it
    and the later ones, and what was said.

    simulated  simulated(catalyst, steps, **properties) gives the hashes after each of the steps, in a new filter
    """
    messages = check.Messages()
    for step in steps:
        keep = {**properties, "CheckpointDirectory": empty("insitu")}
        simulated(catalyst, range(4), **keep)
        messages.take()
        found = simulated(catalyst, range(step, 5), **keep, Resume=1)
        yield step, found, "".join(messages.take())


def damage(path, how):
    with open(path, "rb") as file:
        content = bytearray(file.read())
    if how == "flipped":
        content[len(content) // 2] ^= 4
    elif how == "cut":
        content = content[: len(content) // 2]
    elif how == "longer":
        content += b"\0" * 8
    elif how == "other":
        content = b"Contents of another file, which must not be overwritten.\n"
    if how == "gone":
        os.remove(path)
    else:
        with open(path, "wb") as file:
            file.write(content)


def damaged(folder, name):
    """Copies of a checkpoint with a wrong file each, then two that are right, for other properties and other steps:
    the copy, the file or None, and what is wrong.

    name  at the beginning of the names of files
    """
    part = os.path.basename(sorted(glob.glob(os.path.join(glob.escape(folder), f"{name}.*.0")))[0])
    cases = [(file, how) for file in (f"{name}.index", part) for how in ("flipped", "cut", "longer", "other")]
    for file, how in [*cases, (part, "gone"), (None, "properties"), (None, "steps")]:
        mine = copy(folder)
        if file and COMM.rank == 0:
            damage(os.path.join(mine, file), how)
        COMM.barrier()
        yield mine, file, how


def refused(messages, file, how, count):
    """Check the messages of an execution on a copy of damaged(), and the number of rows or points of its output."""
    said = messages.take()
    lines = [line for text in said for line in text.splitlines() if "ERR|" in line]
    expect(len(lines) == 1, f"{file} {how}: {len(lines)} messages: {said}")
    expect(lines and "heckpoint" in lines[0], f"{file} {how}: {lines}")
    cure = "choose another Checkpoint Directory" if file else "switch Resume off"
    expect(lines and cure in lines[0], f"{file} {how}: no cure: {lines}")
    expect(sum(COMM.allgather(count)) == 0, f"{file} {how}: there is an output")
