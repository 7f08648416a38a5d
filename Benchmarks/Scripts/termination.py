#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Run the termination detection experiments; write tables, JSON and plots.

    Benchmarks/Scripts/termination.py <path of tributary-bench> [--output FOLDER] [--full]

On a simulated network: termination delay against the number of ranks, messages of detectors against
the share of remote work and against the mean load, and slowdown of the work (Kocalar, Khokhar and
Hambrusch 1999, Figures 3 to 5); message counts of a diffusing process (Figure 2) compared with the
derived counts; random walks of 64-byte messages and particle tracing, which are not in the paper.
On MPI: loads, walks and tracing on 2 to 8 ranks (16 with --full). Requires python3-matplotlib.
"""

import argparse
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import plots  # noqa: E402  (found on the path set above)

RINGS = ["ring-aps", "ring-flag", "ring-counter"]
TREES = ["tree-aps", "tree-counter", "tree-ack"]


class Runs(plots.Runs):
    """Runs of the termination benchmark."""

    def run(self, name, arguments, ranks=None):
        return super().run(name, ["termination"] + arguments, ranks)


def plot(path, title, rows, detectors, x, y, log=True):
    lines = {
        detector: plots.series([row for row in rows if row["detector"] == detector], x, y) + ("-",)
        for detector in detectors
    }
    plots.plot(path, title, lines, (x, y), ("log", "log") if log else ("linear", "linear"))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("program", help="path of tributary-bench")
    parser.add_argument("--output", default="termination", help="folder for JSON and plots")
    parser.add_argument(
        "--full", action="store_true", help="all loads of the paper, up to 4,096 ranks and 16 of MPI"
    )
    parser.add_argument("--only", choices=["simulated", "mpi"], help="run one half only")
    options = parser.parse_args()
    runs = Runs(options.program, options.output)
    sizes = "16,64,256,1024,4096" if options.full else "16,64,256,1024"
    loads = ["--mean", "1,2,5,20,40" if options.full else "5,20", "--repeat", "3"]
    remotes = ["--remote", "1,2,5" if options.full else "1,5"]

    if options.only != "simulated":
        for ranks in (2, 4, 8, 16) if options.full else (2, 4, 8):
            runs.run(f"mpi-load-{ranks}", ["--mean", "5", "--remote", "5", "--repeat", "9"], ranks)
            runs.run(
                f"mpi-walks-{ranks}",
                ["--program", "walks", "--walkers", "64", "--hops", "2000", "--repeat", "9"],
                ranks,
            )
            runs.run(f"mpi-tracer-{ranks}", ["--program", "tracer", "--repeat", "9"], ranks)
    if options.only == "mpi":
        return

    runs.run("counts", ["--program", "diffusion", "--simulate", "16,64,256", "--arity", "2"])
    delays = runs.run("delays", ["--simulate", sizes] + loads + remotes)
    remote = runs.run(
        "remote", ["--simulate", "128", "--mean", "20", "--remote", "1,2,5", "--repeat", "5"]
    )
    means = runs.run(
        "means", ["--simulate", "64", "--mean", "1,2,5,20,40", "--remote", "5", "--repeat", "5"]
    )
    walks = runs.run("walks", ["--program", "walks", "--simulate", sizes, "--repeat", "5"])
    runs.run("tracer", ["--program", "tracer", "--simulate", "64,256", "--repeat", "5"])

    def save(name, *arguments, **keywords):
        plot(os.path.join(options.output, name + ".svg"), *arguments, **keywords)

    general = ["consensus", "four-counter", "hash-counter"]
    save("delay-rings", "Termination delay of rings (simulated)", delays, RINGS, "ranks", "delay us")
    save(
        "delay-trees",
        "Termination delay of trees (simulated)",
        delays,
        ["ring-aps"] + TREES,
        "ranks",
        "delay us",
    )
    save(
        "delay-all",
        "Termination delay (simulated)",
        delays,
        TREES + general + ["shared-counter", "all-reduce"],
        "ranks",
        "delay us",
    )
    save(
        "messages-remote",
        "Messages of tree detectors, 128 ranks, mean 20",
        remote,
        TREES,
        "remote%",
        "own msgs",
        log=False,
    )
    save(
        "messages-mean",
        "Messages of tree detectors, 64 ranks, 5 % remote",
        means,
        TREES,
        "mean",
        "own msgs",
        log=False,
    )
    save("slowdown", "Time of the work itself (simulated)", delays, TREES + general, "ranks",
         "slowdown")
    save("delay-walks", "Termination delay, random walks (simulated)", walks,
         TREES[1:] + general, "ranks", "delay us")


if __name__ == "__main__":
    main()
