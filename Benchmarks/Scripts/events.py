# SPDX-License-Identifier: BSD-3-Clause
"""Measure Poincare maps: lines in the periodic ABC flow that cross planes, against the same lines without events.

    TRIBUTARY_PLUGIN=<build>/.../Tributary.so python3 Benchmarks/Scripts/events.py

starts pvbatch on 1, 2 and 4 ranks in succession, and prints one table. Each row is one way to trace the
same seeds, with Runge-Kutta 4-5 and no vorticity:
  traced     Crossings Only with a plane that no line reaches: no output
  none       Crossings Only, Crossing Arrays None
  ids        Crossings Only, Crossing Arrays Ids And Times
  crossings  Crossings Only
  longer     Crossings Only with lines ten times as long
  lines      without events
  recorded   the same lines, with the crossings of the planes
The time is the median of UpdatePipeline of the filter, on the slowest rank, after a barrier; runs of different
ways take turns. The ratio is to the time of the first way. The memory is the growth of the peak of resident memory in
the first execution, the largest of all ranks, and the sum of all ranks in bytes for each crossing.
"""

import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(os.path.dirname(os.path.dirname(HERE)), "Data")
sys.path.insert(0, HERE)

import runs  # noqa: E402  (found on the path set above)


# Events, Crossings Only, Crossing Arrays, factor of the length of lines. Those that need little memory come first:
# filters keep memory for later executions.
WAYS = {
    "traced": ("far", 1, "None", 1),
    "none": ("planes", 1, "None", 1),
    "ids": ("planes", 1, "Ids And Times", 1),
    "crossings": ("planes", 1, "All", 1),
    "longer": ("planes", 1, "All", 10),
    "lines": ("none", 0, "All", 1),
    "recorded": ("planes", 0, "All", 1),
}


def parse(arguments):
    parser = runs.make_parser(__doc__)
    parser.add_argument("--seeds", type=runs.numbers, default=[10000], help="default 10000")
    parser.add_argument("--points", type=int, default=64, help="points per axis")
    parser.add_argument("--length", type=float, default=100.0, help="length of lines; the domain has 2 pi")
    parser.add_argument("--planes", type=int, default=1, help="number of planes, in [1, 8]")
    parser.add_argument("--any", action="store_true", help="count crossings in both directions")
    parser.add_argument("--ways", type=lambda text: text.split(","), default=list(WAYS), help="default all")
    parser.add_argument("--repeat", type=int, default=3, help="timed runs")
    options = parser.parse_args(arguments)
    if not 1 <= options.planes <= 8:
        parser.error("--planes must be in [1, 8]")
    if not set(options.ways) <= set(WAYS):
        parser.error("--ways must be of " + ", ".join(WAYS))
    runs.require_plugin(parser, options)
    return options


COLUMNS = (
    ("seeds", "seeds", None),
    ("ranks", "ranks", None),
    ("way", "way", None),
    ("seconds", "seconds", None),
    ("ratio", "ratio", None),
    ("MiB", "memory", None),
    ("bytes each", "each", None),
    ("line points", "points", None),
    ("crossings", "crossings", None),
)


def drive(options, arguments):
    rows = runs.measure(__file__, options, arguments)
    rows.sort(key=lambda row: (row["seeds"], row["ranks"], row["order"]))
    runs.report(rows, COLUMNS, options)


def memory(key):
    """A number of MiB that the system tells of this process."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(key + ":")) / 1024


def work(options):
    import numpy as np
    import paraview.simple as pv
    from mpi4py import MPI

    sys.path.insert(0, DATA)
    import flows

    comm = MPI.COMM_WORLD
    rank, ranks = comm.Get_rank(), comm.Get_size()
    pv.LoadPlugin(os.environ["TRIBUTARY_PLUGIN"], remote=False, ns=vars(pv))
    data = flows.source(flow="abc", mesh="image", size=options.points)
    data.UpdatePipeline()
    side = "" if options.any else " positive"
    events = {
        "planes": [f"plane origin 0 0 {2 * np.pi * (n + 0.5) / options.planes} normal 0 0 1{side}"
                   for n in range(options.planes)],
        "far": ["length 1e9"],
        "none": [],
    }
    rows = []
    for count in options.seeds:
        seeds = flows.seeds(count, flows.bounds("abc"))
        tracers, found = {}, {}
        for way in options.ways:
            which, only, arrays, longer = WAYS[way]
            tracer = pv.AsyncStreamTracerWithCustomSource(Input=data, SeedSource=seeds)
            tracer.Vectors = ["POINTS", "velocity"]
            tracer.IntegrationDirection = "FORWARD"
            tracer.MaximumStreamlineLength = longer * options.length
            tracer.MaximumSteps = 10**8
            tracer.ComputeVorticity = 0
            tracer.Periodic = [1, 1, 1]
            tracer.Events = events[which]
            tracer.CrossingsOnly = only
            tracer.CrossingArrays = arrays
            tracers[way] = tracer
            found[way] = {"seeds": count, "ranks": ranks, "order": len(found), "way": way, "runs": []}
        for number in range(1 + options.repeat):
            for way, tracer in tracers.items():
                tracer.GetClientSideObject().Modified()
                tracer.SMProxy.MarkModified(tracer.SMProxy)
                with open("/proc/self/clear_refs", "w") as file:
                    file.write("5")  # resets the peak
                before = memory("VmRSS")
                comm.Barrier()
                begin = time.perf_counter()
                tracer.UpdatePipeline()
                seconds = comm.allreduce(time.perf_counter() - begin, MPI.MAX)
                grown = memory("VmHWM") - before
                outputs = [tracer.GetClientSideObject().GetOutputDataObject(port) for port in range(2)]
                points, crossings = (comm.allreduce(output.GetNumberOfPoints()) for output in outputs)
                for output in outputs:
                    output.Initialize()
                row = found[way]
                if number > 0:
                    row["runs"].append(seconds)
                    continue
                each = comm.allreduce(grown) * 2**20 / max(crossings, 1)
                row.update(memory=comm.allreduce(grown, MPI.MAX), each=each, points=points, crossings=crossings)
        for way, row in found.items():
            row["seconds"] = float(np.median(row["runs"]))
            row["ratio"] = row["seconds"] / found[options.ways[0]]["seconds"]
            pv.Delete(tracers[way])
        rows += found.values()
        pv.Delete(seeds)
    if rank == 0:
        runs.write_rows(rows, options)


if __name__ == "__main__":
    runs.main(parse, runs.work_of_module(__file__), drive)
