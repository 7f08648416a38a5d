# SPDX-License-Identifier: BSD-3-Clause
"""Measure Poincare maps: lines in the periodic ABC flow that cross planes, against the same lines without events.

    TRIBUTARY_PLUGIN=<build>/.../Tributary.so python3 Benchmarks/Scripts/events.py

starts pvbatch on 1, 2 and 4 ranks in succession, and prints one table. Each row is one way to trace the
same seeds, with Runge-Kutta 4-5 and no vorticity:
  crossings  Crossings Only
  longer     Crossings Only with lines ten times as long
  lines      without events
  recorded   the same lines, with the crossings of the planes
The time is the median of UpdatePipeline of the filter, on the slowest rank, after a barrier. The memory is
the growth of the peak of resident memory in the first execution, the largest of all ranks.
"""

import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(os.path.dirname(os.path.dirname(HERE)), "Data")
sys.path.insert(0, HERE)

import runs  # noqa: E402  (found on the path set above)


def parse(arguments):
    parser = runs.make_parser(__doc__)
    parser.add_argument("--seeds", type=runs.numbers, default=[10000], help="default 10000")
    parser.add_argument("--points", type=int, default=64, help="points per axis")
    parser.add_argument("--length", type=float, default=100.0, help="length of lines; the domain has 2 pi")
    parser.add_argument("--planes", type=int, default=1, help="number of planes, in [1, 8]")
    parser.add_argument("--repeat", type=int, default=3, help="timed runs")
    options = parser.parse_args(arguments)
    if not 1 <= options.planes <= 8:
        parser.error("--planes must be in [1, 8]")
    runs.require_plugin(parser, options)
    return options


COLUMNS = (
    ("seeds", "seeds", None),
    ("ranks", "ranks", None),
    ("way", "way", None),
    ("seconds", "seconds", None),
    ("MiB", "memory", None),
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
    planes = [
        f"plane origin 0 0 {2 * np.pi * (n + 0.5) / options.planes} normal 0 0 1 positive" for n in range(options.planes)
    ]
    # Those that need little memory come first: filters keep memory for later executions.
    ways = (("crossings", planes, 1, 1), ("longer", planes, 1, 10), ("lines", [], 0, 1), ("recorded", planes, 0, 1))
    rows = []
    for count in options.seeds:
        seeds = flows.seeds(count, flows.bounds("abc"))
        for order, (way, events, only, longer) in enumerate(ways):
            tracer = pv.AsyncStreamTracerWithCustomSource(Input=data, SeedSource=seeds)
            tracer.Vectors = ["POINTS", "velocity"]
            tracer.IntegrationDirection = "FORWARD"
            tracer.MaximumStreamlineLength = longer * options.length
            tracer.MaximumSteps = 10**8
            tracer.ComputeVorticity = 0
            tracer.Periodic = [1, 1, 1]
            tracer.Events = events
            tracer.CrossingsOnly = only
            seconds = []
            for number in range(1 + options.repeat):
                tracer.GetClientSideObject().Modified()
                tracer.SMProxy.MarkModified(tracer.SMProxy)
                for port in range(2):
                    tracer.GetClientSideObject().GetOutputDataObject(port).Initialize()
                with open("/proc/self/clear_refs", "w") as file:
                    file.write("5")  # resets the peak
                before = memory("VmRSS")
                comm.Barrier()
                begin = time.perf_counter()
                tracer.UpdatePipeline()
                seconds.append(comm.allreduce(time.perf_counter() - begin, MPI.MAX))
                if number == 0:
                    grown = comm.allreduce(memory("VmHWM") - before, MPI.MAX)
            outputs = [tracer.GetClientSideObject().GetOutputDataObject(port) for port in range(2)]
            points, crossings = (comm.allreduce(output.GetNumberOfPoints()) for output in outputs)
            rows.append({
                "seeds": count, "ranks": ranks, "order": order, "way": way, "memory": grown, "points": points,
                "seconds": float(np.median(seconds[1:])), "runs": seconds[1:], "crossings": crossings,
            })
            if rank == 0:
                print(runs.table(rows[-1:], COLUMNS), flush=True)
            pv.Delete(tracer)
        pv.Delete(seeds)
    if rank == 0:
        runs.write_rows(rows, options)


if __name__ == "__main__":
    runs.main(parse, runs.work_of_module(__file__), drive)
