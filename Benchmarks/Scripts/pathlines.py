# SPDX-License-Identifier: BSD-3-Clause
"""Compare Async Path Tracer with ParaView's Particle Path and Particle Tracer, in one pvbatch run on the same
data and seeds.

    TRIBUTARY_PLUGIN=<build>/.../Tributary.so python3 Benchmarks/Scripts/pathlines.py

starts pvbatch on 1, 2 and 4 ranks in succession, and prints one table. The data are five steps of the unsteady
ABC flow on [0, 2 pi]^3, on an image or on tetrahedra; in the time between two steps, particles move by some
five cells. The steps are kept in memory, by ParaView's Temporal Cache, so that no time is spent on reading; the time
for a step of it is the column `source`. Seeds are random. Ours are all on
rank 0; ParaView's filters do not end unless all ranks have all seeds. All filters have their default settings,
without vorticity. The measured time is that of UpdatePipeline, on the slowest rank, after a barrier:
  paths     pathlines from the first to the last step, of a new filter (Particle Path ends at Termination Time
            and has points at the time steps only)
  all       the same with all points; only ours has these (Path Points: Integration Steps)
  first     particles at the second step, of a new filter (Particle Tracer)
  next      then at each of the others: the mean
Runs of the filters alternate; the table contains medians.

Positions at the last step are compared with those of a fine integration of ours (maximum error 1e-10):
  error     largest distance, in cells, of particles that both have
  missing   particles that are in only one of the two
  same bits for our filter: whether points and times have the same bits as in our run on one rank
"""

import hashlib
import os
import sys
import time
import types

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(os.path.dirname(os.path.dirname(HERE)), "Data")
MESHES = ("image", "tetrahedra")
STEPS = 5
sys.path.insert(0, HERE)

import runs  # noqa: E402  (found on the path set above)

COLUMNS = (
    ("data", "data", None),
    ("ranks", "ranks", None),
    ("particles", "particles", None),
    ("source s", "source", None),
    ("ParaView paths s", "peer", "paths"),
    ("first s", "peer", "first"),
    ("next s", "peer", "next"),
    ("error", "peer", "error"),
    ("missing", "peer", "missing"),
    ("ours paths s", "ours", "paths"),
    ("all s", "ours", "all"),
    ("first s", "ours", "first"),
    ("next s", "ours", "next"),
    ("error", "ours", "error"),
    ("missing", "ours", "missing"),
    ("same bits", "same", None),
    ("ratio paths", "ratio", "paths"),
    ("first", "ratio", "first"),
    ("next", "ratio", "next"),
)


def parse(arguments):
    parser = runs.make_parser(__doc__)
    runs.add_peer_options(parser, long=60)
    parser.add_argument(
        "--particles", type=runs.numbers, default=[10, 1000, 10000, 100000],
        help="default 10,1000,10000,100000",
    )
    parser.add_argument(
        "--max-peer-particles", type=int, default=10000, help="maximum for ParaView's filter"
    )
    parser.add_argument("--only", choices=MESHES, help="run one mesh only")
    parser.add_argument("--points", type=int, default=64, help="points of the image per axis; tetrahedra: half")
    parser.add_argument(
        "--reference", default="",
        help="folder that keeps the results on one rank (default: a temporary one)",
    )
    options = parser.parse_args(arguments)
    runs.require_plugin(parser, options)
    return options


def drive(options, arguments):
    rows = runs.measure(__file__, options, arguments, reference=options.reference)
    runs.report(rows, COLUMNS, options)
    if any(row.get("same") is False for row in rows):
        sys.exit("paths depend on the number of ranks")


# --- A worker: pvbatch ----------------------------------------------------------------------------
# Programmable sources import functions of VTK into this module in place of max, sum and abs.

INFORMATION = """
import {module} as series
executive = self.GetExecutive()
information = executive.GetOutputInformation(0)
information.Set(executive.TIME_STEPS(), series.times, len(series.times))
information.Set(executive.TIME_RANGE(), [series.times[0], series.times[-1]], 2)
if series.extent:
    information.Set(executive.WHOLE_EXTENT(), series.extent, 6)
"""
SCRIPT = """
import {module} as series
executive = self.GetExecutive()
time = executive.GetOutputInformation(0).Get(executive.UPDATE_TIME_STEP())
output = self.GetOutputDataObject(0)
output.ShallowCopy(series.steps[series.times.index(time)])
output.GetInformation().Set(output.DATA_TIME_STEP(), time)
"""


def make_series(mesh, points, rank, ranks):
    """A source of the steps of a field, which are made at once."""
    import numpy as np
    import paraview.simple as pv
    from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy

    sys.path.insert(0, DATA)
    import flows

    name = f"series_{mesh}"
    series = sys.modules[name] = types.ModuleType(name)
    size = points if mesh == "image" else points // 2 + 1
    series.edge = 2 * np.pi / (size - 1)
    interval = 5 * series.edge / 2.4  # 2.4 is the mean speed
    series.times = [interval * step for step in range(STEPS)]
    series.extent = [0, size - 1] * 3 if mesh == "image" else None
    data = flows.build(rank, ranks, mesh=mesh, size=size, jitter=0.2)
    if mesh == "image":
        x, y, z = (
            data.GetOrigin()[a] + data.GetSpacing()[a] * np.arange(data.GetExtent()[2 * a], data.GetExtent()[2 * a + 1] + 1)
            for a in range(3)
        )
        z, y, x = (axis.ravel() for axis in np.meshgrid(z, y, x, indexing="ij"))
    else:
        x, y, z = vtk_to_numpy(data.GetPoints().GetData()).astype(float).T if data.GetNumberOfPoints() else np.zeros((3, 0))
    series.steps = []
    for when in series.times:
        a = np.sqrt(3) + 0.5 * np.sin(np.pi * when)
        b, c = np.sqrt(2), 1.0
        velocity = np.stack(
            [a * np.sin(z) + c * np.cos(y), b * np.sin(x) + a * np.cos(z), c * np.sin(y) + b * np.cos(x)], -1
        )
        step = data.NewInstance()
        step.ShallowCopy(data)
        for attributes in (step.GetPointData(), step.GetCellData()):
            attributes.Initialize()
        array = numpy_to_vtk(np.ascontiguousarray(velocity, np.float32), deep=1)
        array.SetName("velocity")
        step.GetPointData().SetVectors(array)
        series.steps.append(step)
    source = pv.ProgrammableSource(
        OutputDataSetType="vtkImageData" if mesh == "image" else "vtkUnstructuredGrid",
        ScriptRequestInformation=INFORMATION.format(module=name),
        Script=SCRIPT.format(module=name),
    )
    return pv.TemporalCache(Input=source, CacheSize=STEPS), series


def make_seeds(count, here):
    """A source of seeds, of all or of none on this rank."""
    import numpy as np
    import paraview.simple as pv
    from vtkmodules.util.numpy_support import numpy_to_vtk
    from vtkmodules.vtkCommonCore import vtkPoints
    from vtkmodules.vtkCommonDataModel import vtkPolyData

    points = vtkPoints()
    where = np.random.default_rng(1).uniform(0.3, 5.9, (count if here else 0, 3))
    points.SetData(numpy_to_vtk(where, deep=1))
    data = vtkPolyData()
    data.SetPoints(points)
    seeds = pv.TrivialProducer()
    seeds.GetClientSideObject().SetOutput(data)
    return seeds


def ends_of(proxy, comm, when):
    """The positions of all particles that are at a time, by id, and a hash of all paths; on rank 0."""
    import numpy as np
    from vtkmodules.util.numpy_support import vtk_to_numpy

    data = proxy.GetClientSideObject().GetOutputDataObject(0)
    mine = {}
    total = []
    if data.GetNumberOfPoints():
        points = vtk_to_numpy(data.GetPoints().GetData())
        ids = vtk_to_numpy(data.GetPointData().GetArray("InjectedPointId"))
        times = vtk_to_numpy(data.GetPointData().GetArray("SimulationTime"))
        for cell in range(data.GetNumberOfCells()):
            line = data.GetCell(cell).GetPointIds()
            at = [line.GetId(i) for i in range(line.GetNumberOfIds())]
            total.append((int(ids[at[0]]), points[at].tobytes() + times[at].tobytes()))
            last = at[int(np.argmax(times[at]))]
            if np.fabs(times[last] - when) < 1e-6:
                mine[int(ids[last])] = points[last].astype(float)
    parts = comm.gather((mine, total))
    if parts is None:
        return {}, ""
    digest = hashlib.sha256()
    for number, text in sorted(row for _, rows in parts for row in rows):
        digest.update(f"{number} ".encode() + text)
    return {number: x for ends, _ in parts for number, x in ends.items()}, digest.hexdigest()


def work(options):
    import numpy as np
    import paraview.simple as pv
    from mpi4py import MPI

    comm = MPI.COMM_WORLD
    rank, ranks = comm.Get_rank(), comm.Get_size()
    if not options.no_ours:
        pv.LoadPlugin(os.environ["TRIBUTARY_PLUGIN"], remote=False, ns=vars(pv))

    def seconds_of(proxy, when):
        comm.Barrier()
        begin = time.perf_counter()
        proxy.UpdatePipeline(when)
        return comm.allreduce(time.perf_counter() - begin, MPI.MAX)

    def run(paths, particles, every, series):
        """The seconds of a filter for pathlines and of one for particles, the ends of paths, and their hash."""
        proxy = paths()
        seconds = {"paths": seconds_of(proxy, series.times[-1])}
        ends, digest = ends_of(proxy, comm, series.times[-1])
        pv.Delete(proxy)
        proxy = particles()
        seconds["first"] = seconds_of(proxy, series.times[1])
        seconds["next"] = float(np.mean([seconds_of(proxy, when) for when in series.times[2:]]))
        pv.Delete(proxy)
        if every:
            proxy = every()
            seconds["all"] = seconds_of(proxy, series.times[-1])
            pv.Delete(proxy)
        return seconds, ends, digest

    rows = []
    for mesh in [options.only] if options.only else MESHES:
        source, series = make_series(mesh, options.points, rank, ranks)
        for when in series.times:
            source.UpdatePipeline(when)
        source_seconds = float(np.median([seconds_of(source, when) for when in 3 * series.times]))
        for count in options.particles:
            everywhere, seeds = make_seeds(count, True), make_seeds(count, rank == 0)

            def peer(proxy, **properties):
                return proxy(
                    Input=source, SeedSource=everywhere, SelectInputVectors=["POINTS", "velocity"],
                    ComputeVorticity=0, **properties)

            def ours(**properties):
                return pv.AsyncPathTracer(
                    Input=source, SeedSource=seeds, Vectors=["POINTS", "velocity"], ComputeVorticity=0,
                    **properties)

            makers = {
                "peer": (lambda: peer(pv.ParticlePath, TerminationTime=series.times[-1]),
                         lambda: peer(pv.ParticleTracer), None),
                "ours": (lambda: ours(PathPoints="Time Steps"), lambda: ours(OutputKind="Particles"), ours),
            }
            repeats = {"peer": options.peer_repeat, "ours": options.repeat}
            if options.no_ours:
                del makers["ours"]
            if count > options.max_peer_particles:
                del makers["peer"]
            taken = {who: [] for who in makers}
            for turn in range(int(np.max(list(repeats.values())))):
                for who, kinds in makers.items():
                    enough = taken[who] and taken[who][0][0]["paths"] > options.long
                    if turn < repeats[who] and not enough:
                        taken[who].append(run(*kinds, series))
            row = {"data": mesh, "ranks": ranks, "particles": count, "source": source_seconds}
            for who, results in taken.items():
                row[who] = {what: float(np.median([seconds[what] for seconds, _, _ in results]))
                            for what in results[0][0]}
            if "ours" in taken:
                proxy = ours(MaximumError=1e-10, MinimumStepLength=1e-4)
                proxy.UpdatePipeline(series.times[-1])
                fine = ends_of(proxy, comm, series.times[-1])[0]
                pv.Delete(proxy)
                for who, results in taken.items():
                    ends = results[-1][1]
                    both = set(ends) & set(fine)
                    row[who]["missing"] = len(set(ends) ^ set(fine))
                    distances = [np.linalg.norm(ends[n] - fine[n]) / series.edge for n in both]
                    row[who]["error"] = float(np.max(distances or [0.0]))
                if rank == 0:
                    kept = os.path.join(options.reference, f"{mesh}-{options.points}-{count}.txt")
                    digest = taken["ours"][-1][2]
                    if ranks == 1:
                        with open(kept, "w") as file:
                            file.write(digest)
                    if os.path.exists(kept):
                        with open(kept) as file:
                            row["same"] = file.read() == digest
            if len(taken) == 2:
                row["ratio"] = {what: row["peer"][what] / row["ours"][what] for what in ("paths", "first", "next")}
            if rank == 0:
                print(runs.table([row], COLUMNS), flush=True)
            rows.append(row)
            pv.Delete(seeds)
            pv.Delete(everywhere)
        pv.Delete(source)
    if rank == 0:
        runs.write_rows(rows, options)


if __name__ == "__main__":
    runs.main(parse, work, drive)
