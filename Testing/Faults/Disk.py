# SPDX-License-Identifier: BSD-3-Clause
"""A disk that becomes full while a filter writes a checkpoint: one message, the checkpoint before is
intact, and the filter works and writes again when there is room.

The disk is full for one rank in turn, and for all: by a limit on the size of its files, and as root by a file system
in memory that is too small.
"""

import glob
import os
import resource
import shutil
import signal
import subprocess

import check
import scenes
from scenes import COMM

STEPS = 4
LIMIT = 8192  # bytes of a file: more than the messages of this test, less than a part of a checkpoint


def kinds():
    return {"regions": scenes.tracker, "critical points": scenes.critical, "paths": scenes.paths}


def digest_after(make, step, messages, **properties):
    """The result of a filter of its own at a step, None after a message."""
    scene = make(12, steps=STEPS, **properties)
    scene.asked = [float(step)]
    scene.update()
    said = [line for text in messages.take() for line in text.splitlines() if "ERR|" in line]
    return scene.digest(), said


def content_of(folder):
    """Collective. Rank 0 reads, because it also removes the files."""
    files = {}
    for path in sorted(glob.glob(os.path.join(glob.escape(folder), "*"))) if COMM.rank == 0 else ():
        with open(path, "rb") as file:
            files[os.path.basename(path)] = file.read()
    return COMM.bcast(files)


class FileLimit:
    """Files of one rank, or of all, are limited to a few kilobytes."""

    def __init__(self, folder):
        self.folder = folder
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # writing fails instead

    def fill(self, rank):
        if rank in (COMM.rank, None):
            resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, resource.RLIM_INFINITY))

    def clear(self):
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)


class SmallDisk:
    """A file system that another file fills. All ranks share it."""

    def __init__(self, folder):
        self.folder, self.other = folder, os.path.join(folder, "other")

    def fill(self, rank):
        if COMM.rank == 0:
            try:
                with open(self.other, "wb", buffering=0) as file:
                    while True:
                        file.write(b"x" * 4096)
            except OSError:
                pass
        COMM.barrier()

    def clear(self):
        COMM.barrier()
        if COMM.rank == 0:
            os.remove(self.other)
        COMM.barrier()


def run(disk, messages, ranks):
    for kind, make in kinds().items():
        middle, said = digest_after(make, STEPS - 2, messages)
        last, more = digest_after(make, STEPS - 1, messages)
        assert middle and last and not said + more, (said, more)
        for rank in ranks:
            case = f"{kind}, {type(disk).__name__}, rank {rank}"
            keep = {"CheckpointDirectory": disk.folder}
            if COMM.rank == 0:
                for path in glob.glob(os.path.join(glob.escape(disk.folder), "*")):
                    os.remove(path)
            COMM.barrier()
            found, said = digest_after(make, STEPS - 2, messages, **keep)
            assert found == middle and not said, f"{case}: {said}"
            before = content_of(disk.folder)
            assert len(before) == COMM.size + 1, f"{case}: {list(before)}"
            disk.fill(rank)
            found, said = digest_after(make, STEPS - 1, messages, Resume=1, **keep)
            disk.clear()
            assert found is None, f"{case}: there is an output"
            assert len(said) == 1 and "free space" in said[0], f"{case}: {said}"
            assert content_of(disk.folder) == before, f"{case}: the checkpoint before is another one"
            found, said = digest_after(make, STEPS - 1, messages, Resume=1, **keep)
            assert found == last and not said, f"{case}: afterwards {said}"
            after = content_of(disk.folder)
            assert len(after) == COMM.size + 1 and after != before, f"{case}: {list(after)}"
        if COMM.rank == 0:
            print(f"{kind}: {type(disk).__name__} on {ranks}", flush=True)


def main():
    messages = scenes.Messages()
    folder = os.path.join(check.OUTPUT, "checkpoint")
    if COMM.rank == 0:
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
    COMM.barrier()
    run(FileLimit(folder), messages, [*range(COMM.size), None])
    mount = ["mount", "-t", "tmpfs", "-o", "size=32m", "tributary", folder]
    mounted = COMM.bcast(COMM.rank == 0 and os.geteuid() == 0 and subprocess.run(mount, check=False).returncode == 0)
    messages.take()
    if not mounted:
        return
    try:
        run(SmallDisk(folder), messages, [None])
    finally:
        COMM.barrier()
        if COMM.rank == 0:
            subprocess.run(["umount", folder], check=True)


if __name__ == "__main__":
    check.run(__file__)
