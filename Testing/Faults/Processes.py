# SPDX-License-Identifier: BSD-3-Clause
"""python3 Processes.py [FILTER]: stops, slows down and kills a rank of each filter while it executes.

* A slow rank and one that is stopped for longer than StallTimeout change no result.
* While a rank is stopped for good, the others wait: there is no wrong result and no message.
* After a rank is killed, MPI ends the others and says so. No process, temporary file or shared memory is left.
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time

RANKS = 3
END = 30  # seconds in which the job has to end after a rank is killed
START = 300  # seconds in which it has to begin, on a busy machine
HERE = os.path.dirname(os.path.abspath(__file__))
OUTPUT = os.environ.get("TRIBUTARY_OUTPUT", ".")
FILTERS = ("StreamTracer", "Connectivity", "FeatureTracker", "CriticalPoints", "ConvectionDiffusion", "HarmonicFill")


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def files_below(folder):
    return {os.path.join(path, name) for path, _, names in os.walk(folder) for name in names}


class Job:
    """A filter that executes again and again on all ranks."""

    def __init__(self, name, mpirun, pvbatch):
        self.name = name
        self.temporary = os.path.join(OUTPUT, f"tmp.{name}")
        shutil.rmtree(self.temporary, ignore_errors=True)
        os.makedirs(self.temporary)
        self.shared = set(os.listdir("/dev/shm"))
        self.process = subprocess.Popen(
            [mpirun, "--oversubscribe", "--bind-to", "none", "-n", str(RANKS), pvbatch, "--sym",
             os.path.join(HERE, "Victim.py"), name],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=self.temporary,
            env={**os.environ, "TMPDIR": self.temporary})
        self.right, self.others = 0, []
        self.pids, self.seconds = [], 0.0
        self.ready = threading.Event()
        threading.Thread(target=self._read, daemon=True).start()
        if not self.ready.wait(START) or not self.pids:
            self.process.kill()
            raise AssertionError(f"{name}: it does not begin: {self.others}")

    def _read(self):
        for line in self.process.stdout:
            words = line.split()
            if words and words[0] == "@ready":
                self.seconds, self.pids = float(words[1]), [int(w) for w in words[2:]]
                self.ready.set()
            elif words and words[0] == "@right":
                self.right += 1
            elif words:
                self.others.append(line)
        self.ready.set()

    def send(self, rank, what):
        os.kill(self.pids[rank], what)

    def wait_for(self, more):
        """Wait for `more` further correct results."""
        goal, end = self.right + more, time.monotonic() + START
        while self.right < goal:
            assert time.monotonic() < end, f"{self.name}: no further result"
            assert not self.others, f"{self.name}: {''.join(self.others)}"
            time.sleep(0.01)


def slow_down(job, rank):
    for _ in range(10):
        job.send(rank, signal.SIGSTOP)
        time.sleep(0.04)
        job.send(rank, signal.SIGCONT)
        time.sleep(0.01)
    job.wait_for(2)


def stop_for_a_while(job, rank):
    time.sleep(random.uniform(0, job.seconds))
    job.send(rank, signal.SIGSTOP)
    time.sleep(1.5)
    job.send(rank, signal.SIGCONT)
    job.wait_for(2)


def stop_for_good(job, rank):
    job.send(rank, signal.SIGSTOP)
    time.sleep(0.5)
    results = job.right
    time.sleep(1.5)
    assert job.right == results, f"{job.name}: it ends without rank {rank}"
    assert not job.others, f"{job.name}: {''.join(job.others)}"


def kill(job, rank):
    """Returns the seconds until no process of the job is left."""
    begin = time.monotonic()
    job.send(rank, signal.SIGKILL)
    try:
        code = job.process.wait(END)
    except subprocess.TimeoutExpired:
        job.process.kill()
        raise AssertionError(f"{job.name}: the other ranks are there {END} s after rank {rank} was killed") from None
    while any(map(is_alive, job.pids)) and time.monotonic() - begin < END:
        time.sleep(0.05)
    seconds = time.monotonic() - begin
    assert code != 0, f"{job.name}: mpirun reports success"
    assert f"process rank {rank}" in "".join(job.others), f"{job.name}: no message: {job.others}"
    left = [pid for pid in job.pids if is_alive(pid)]
    assert not left, f"{job.name}: processes {left} are left"
    files = files_below(job.temporary)
    assert not files, f"{job.name}: files are left: {files}"
    shared = {name for name in set(os.listdir("/dev/shm")) - job.shared if "ributary" in name}
    assert not shared, f"{job.name}: shared memory is left: {shared}"
    return seconds


def main():
    mpirun, pvbatch = sys.argv[1:3]
    # Every second filter, in `Utilities/test --all` each.
    some = FILTERS if "TRIBUTARY_TEST_ALL" in os.environ else FILTERS[::2]
    for number, name in enumerate(sys.argv[3:] or some):
        job = Job(name, mpirun, pvbatch)
        try:
            rank = number % RANKS
            slow_down(job, rank)
            stop_for_a_while(job, rank)
            if number % 2:
                stop_for_good(job, rank)
            else:
                time.sleep(random.uniform(0, job.seconds))
            seconds = kill(job, rank)
        finally:
            if job.process.poll() is None:
                job.process.kill()
        print(f"{name}: rank {rank} slow, stopped and killed; {job.right} right results, the end after {seconds:.2f} s",
              flush=True)


main()
