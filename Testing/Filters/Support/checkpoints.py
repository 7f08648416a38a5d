# SPDX-License-Identifier: BSD-3-Clause
"""Folders of checkpoints, for the tests of filters that resume."""

import os
import shutil

import check
from mpi4py import MPI

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
        content = b"Something else, that nobody should write over.\n"
    if how == "gone":
        os.remove(path)
    else:
        with open(path, "wb") as file:
            file.write(content)
