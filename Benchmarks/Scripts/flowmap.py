# SPDX-License-Identifier: BSD-3-Clause
"""Measure Async Flow Map in one pvbatch run.

    TRIBUTARY_PLUGIN=<build>/.../Tributary.so python3 Benchmarks/Scripts/flowmap.py

starts pvbatch on 1 and 2 ranks in succession, and prints one table. The data are the five steps of the unsteady
ABC flow of pathlines.py; the window is from the first to the last one. Seeds are a grid of n^3 points. The measured
time is that of UpdatePipeline of a new filter, on the slowest rank, after a barrier; the table contains medians.
  map       seconds of the map
  steps     steps of the integrator per second, of all ranks
  again     seconds of the map of the same window if all time steps are kept
  bytes     memory of a seed between intervals, and additional peak memory (VmHWM) of all ranks for a seed of the grid
  halo      seeds traced for a point of the grid: ranks also trace those beside their extents
"""

import os
import time

import pathlines
import runs

COLUMNS = (
    ("data", "data", None),
    ("seeds", "seeds", None),
    ("ranks", "ranks", None),
    ("map s", "map", None),
    ("steps/s", "steps", None),
    ("again s", "again", None),
    ("bytes", "bytes", None),
    ("peak", "peak", None),
    ("halo", "halo", None),
)


def parse(arguments):
    parser = runs.make_parser(__doc__)
    parser.set_defaults(ranks=[1, 2])
    parser.add_argument("--side", type=runs.numbers, default=[46, 100], help="points per axis, default 46,100")
    parser.add_argument("--points", type=int, default=64, help="points of the image per axis; tetrahedra: half")
    parser.add_argument("--only", choices=pathlines.MESHES, help="run one mesh only")
    parser.add_argument("--repeat", type=int, default=3, help="timed runs")
    options = parser.parse_args(arguments)
    runs.require_plugin(parser, options)
    return options


def drive(options, arguments):
    runs.report(runs.measure(__file__, options, arguments), COLUMNS, options)


def peak_memory():
    """The largest memory of this process in bytes."""
    with open("/proc/self/status", encoding="ascii") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))


def work(options):
    import numpy as np
    import paraview.simple as pv
    from mpi4py import MPI
    from vtkmodules.util.numpy_support import vtk_to_numpy

    comm = MPI.COMM_WORLD
    rank, ranks = comm.Get_rank(), comm.Get_size()
    pv.LoadPlugin(os.environ["TRIBUTARY_PLUGIN"], remote=False, ns=vars(pv))

    def seconds_of(proxy):
        comm.Barrier()
        begin = time.perf_counter()
        proxy.UpdatePipeline(0.0)
        return comm.allreduce(time.perf_counter() - begin, MPI.MAX)

    rows = []
    for mesh in [options.only] if options.only else pathlines.MESHES:
        source, series = pathlines.make_series(mesh, options.points, rank, ranks)
        for when in series.times:
            source.UpdatePipeline(when)
        for side in sorted(options.side):
            taken, again = [], []
            before = peak_memory()
            for _ in range(options.repeat):
                proxy = pv.AsyncFlowMap(
                    Input=source, Vectors=["POINTS", "velocity"], IntegrationTime=series.times[-1],
                    SamplingDimensions=[side] * 3, KeptTimeSteps=len(series.times))
                taken.append(seconds_of(proxy))
                field = proxy.GetClientSideObject().GetOutputDataObject(0).GetFieldData()
                proxy.ComputeTensor = 1  # another map, from the same time steps
                found = {name: int(vtk_to_numpy(field.GetArray(f"AsyncFlowMap {name}")).sum())
                         for name in ("Seeds", "SeedBytes", "Steps")}
                again.append(seconds_of(proxy))
                pv.Delete(proxy)
            more = comm.allreduce(peak_memory() - before)
            row = {"data": mesh, "seeds": side**3, "ranks": ranks, "map": float(np.median(taken)),
                   "steps": found["Steps"] / float(np.median(taken)), "again": float(np.median(again)),
                   "bytes": found["SeedBytes"] / found["Seeds"], "peak": more / side**3,
                   "halo": found["Seeds"] / side**3}
            rows.append(row)
            if rank == 0:
                print(runs.table([row], COLUMNS), flush=True)
        pv.Delete(source)
    if rank == 0:
        runs.write_rows(rows, options)


if __name__ == "__main__":
    runs.main(parse, work, drive)
