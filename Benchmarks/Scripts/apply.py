# SPDX-License-Identifier: BSD-3-Clause
"""What a user waits for after Apply: our filters and ParaView's, on the same data, in alternating processes.

    TRIBUTARY_PLUGIN=<build>/.../Tributary.so python3 Benchmarks/Scripts/apply.py
    ... apply.py --data tjunction,dambreak --seeds 10,1000 --ranks 1 --filters streamlines --plot apply.svg

Each measurement starts pvbatch with one filter, so that its first execution is the first one of a fresh process, with
memory that was not used before. The data are made or read and executed before. Then the filter executes four times:

  first   in the new process
  moved   with other seeds (streamlines), or with another scalar range (connectivity)
  array   with another array of the same data
  step    with the next time step: new arrays of the same size, as of a reader that reads the mesh again

streamlines   Stream Tracer and Async Stream Tracer, ParaView's defaults, a line of seeds through the domain, which is
              moved by a hundredth of its length; maximum length: the longest edge of the domain
connectivity  Threshold and Connectivity, and Async Connectivity, of a scalar range with about half of the points

The measured time is that of UpdatePipeline of the filter on the slowest rank, after a barrier; the table contains
medians of --repeat processes, and `ratio` is ParaView's time divided by ours. MiB is the growth of the resident
memory of all ranks from before the first execution to after the last one, at its peak, the output included.
"""

import json
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(os.path.dirname(os.path.dirname(HERE)), "Data")
sys.path.insert(0, HERE)

import runs  # noqa: E402  (found on the path set above)

# Generated meshes of about a million cells, by points along an axis, and files.
MESHES = {
    "image": 96,
    "rectilinear": 96,
    "structured": 96,
    "tetrahedra": 56,
    "hexahedra": 101,
    "mixed": 70,
}
FILES = {"tjunction": "U", "dambreak": "U", "tjunction_polyhedra": "U"}
EVENTS = ("first", "moved", "array", "step")
FILTERS = ("streamlines", "connectivity")


def parse(arguments):
    parser = runs.make_parser(__doc__)
    parser.add_argument("--repeat", type=int, default=3, help="processes of each filter; default 3")
    parser.add_argument(
        "--seeds", type=runs.numbers, default=[1, 10, 100, 1000, 10000], help="default 1,10,100,1000,10000"
    )
    parser.add_argument("--max-peer-seeds", type=int, default=1000, help="maximum seeds for ParaView's filter")
    names = [*MESHES, *FILES]
    parser.add_argument("--data", default=",".join(names), help="of " + ",".join(names) + "; default all")
    parser.add_argument("--filters", default=",".join(FILTERS), help="of " + ",".join(FILTERS) + "; default both")
    parser.add_argument("--points", type=int, help="points along an axis of generated meshes")
    parser.add_argument("--plot", metavar="FILE", help="write a plot of times against seeds, one rank or more")
    parser.add_argument("--case", help="filter,data,seeds,product of a worker")
    options = parser.parse_args(arguments)
    options.data, options.filters = options.data.split(","), options.filters.split(",")
    for given, known in ((options.data, names), (options.filters, FILTERS)):
        for name in given:
            if name not in known:
                parser.error(f"{name} is not one of {', '.join(known)}")
    runs.require_plugin(parser, options)
    return options


# --- The driver: any Python -----------------------------------------------------------------------

COLUMNS = (
    ("filter", "filter", None),
    ("data", "data", None),
    ("cells", "cells", None),
    ("seeds", "seeds", None),
    ("ranks", "ranks", None),
    *((f"{title} {event}", who, event) for event in EVENTS for who, title in (("peer", "ParaView"), ("ours", "ours"))),
    *((f"ratio {event}", "ratio", event) for event in EVENTS),
    ("ParaView MiB", "peer", "MiB"),
    ("ours MiB", "ours", "MiB"),
)


def run_worker(options, case, ranks):
    """Run one filter in a process of its own; return its row."""
    with tempfile.TemporaryDirectory() as scratch:
        output = os.path.join(scratch, "row.json")
        command = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(ranks)]
        command += ["pvbatch", "--sym", os.path.abspath(__file__), "--case", ",".join(map(str, case))]
        command += ["--worker", output] + (["--points", str(options.points)] if options.points else [])
        subprocess.run(command, check=True, env={**runs.MPI_ENVIRONMENT, **os.environ})
        with open(output) as file:
            return json.load(file)[0]


def median(rows, key):
    values = sorted(row[key] for row in rows)
    return (values[(len(values) - 1) // 2] + values[len(values) // 2]) / 2


def measure_case(options, name, data, seeds, ranks):
    """The row of one case: medians of alternating processes of both products."""
    measured = {"peer": [], "ours": []}
    for _ in range(options.repeat):
        for who in measured:
            if who == "ours" or name != "streamlines" or seeds <= options.max_peer_seeds:
                measured[who].append(run_worker(options, (name, data, seeds, who), ranks))
    row = {"filter": name, "data": data, "seeds": seeds or None, "ranks": ranks, "runs": measured}
    row["cells"] = measured["ours"][0]["cells"]
    for who, results in measured.items():
        if results:
            row[who] = {key: median(results, key) for key in (*EVENTS, "MiB")}
    if "peer" in row:
        row["ratio"] = {event: row["peer"][event] / row["ours"][event] for event in EVENTS}
    return row


def drive(options, arguments):
    rows = []
    for name in options.filters:
        for data in options.data:
            for ranks in options.ranks:
                for seeds in options.seeds if name == "streamlines" else [0]:
                    rows.append(measure_case(options, name, data, seeds, ranks))
                    print(runs.table(rows[-1:], COLUMNS), flush=True)
    runs.report(rows, COLUMNS, options)
    if options.plot:
        plot([row for row in rows if row["filter"] == "streamlines"], options.plot)


def plot(rows, file):
    """Times of first executions and of moved seeds against the number of seeds; one panel for each data set."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    names = list(dict.fromkeys(row["data"] for row in rows))
    ranks = rows[0]["ranks"]
    figure, panels = plt.subplots(1, len(names), figsize=(3.2 * len(names), 3), sharey=True, squeeze=False)
    for name, panel in zip(names, panels[0]):
        part = [row for row in rows if row["data"] == name and row["ranks"] == ranks]
        for who, title, color in (("peer", "Stream Tracer", "C3"), ("ours", "Async Stream Tracer", "C0")):
            for event, style in (("first", "-"), ("moved", "--")):
                known = [row for row in part if who in row]
                panel.plot([row["seeds"] for row in known], [row[who][event] for row in known], style,
                           color=color, marker="o", markersize=3, label=f"{title}, {event}")
        panel.set(xscale="log", yscale="log", xlabel="seeds", title=name)
        panel.grid(alpha=0.3)
    panels[0][0].set_ylabel("seconds")
    panels[0][-1].legend(fontsize=6)
    figure.tight_layout()
    figure.savefig(file)


# --- The worker: inside pvbatch, on every rank ----------------------------------------------------


def work(options):
    import numpy as np
    import paraview.simple as pv
    from mpi4py import MPI
    from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
    from vtkmodules.vtkCommonCore import vtkPoints
    from vtkmodules.vtkCommonDataModel import vtkCellArray, vtkPolyData

    sys.path.insert(0, DATA)
    import flows

    comm = MPI.COMM_WORLD
    rank, ranks = comm.Get_rank(), comm.Get_size()
    name, data_name, seeds, who = options.case.split(",")
    seeds = int(seeds)
    if who == "ours":
        pv.LoadPlugin(os.environ["TRIBUTARY_PLUGIN"], remote=False, ns=vars(pv))

    def load():
        """The executed data object of this rank, and its vectors."""
        if data_name in MESHES:
            size = options.points or MESHES[data_name]
            proxy, vectors = flows.source(flow="abc", mesh=data_name, size=size), "velocity"
        else:
            path = os.path.join(DATA, data_name + ".pvtu")
            proxy, vectors = pv.XMLPartitionedUnstructuredGridReader(FileName=[path]), FILES[data_name]
        proxy.UpdatePipeline()
        return proxy.GetClientSideObject().GetOutputDataObject(0), vectors

    def with_arrays(data, vectors):
        """A copy with new arrays everywhere: the vectors, other vectors, and the speed of both."""
        copy = data.NewInstance()
        copy.DeepCopy(data)
        attributes = copy.GetPointData()
        values = vtk_to_numpy(attributes.GetArray(vectors)) if copy.GetNumberOfPoints() else np.zeros((0, 3))
        for added, array in (("other", values[:, [1, 2, 0]]), ("speed", np.linalg.norm(values, axis=1)),
                             ("other speed", np.abs(values[:, 0]))):
            array = numpy_to_vtk(np.ascontiguousarray(array), deep=1)
            array.SetName(added)
            attributes.AddArray(array)
        return copy

    def producer_of(data):
        producer = pv.TrivialProducer()
        producer.GetClientSideObject().SetOutput(data)
        producer.UpdatePipeline()
        return producer

    def replace(producer, data):
        producer.GetClientSideObject().SetOutput(data)
        producer.SMProxy.MarkModified(producer.SMProxy)
        producer.UpdatePipeline()

    def line_of_seeds(begin, end):
        """All seeds on rank 0."""
        line = vtkPolyData()
        points = vtkPoints()
        points.SetDataTypeToDouble()
        vertices = vtkCellArray()
        if rank == 0:
            share = ((np.arange(seeds) + 0.5) / seeds)[:, None]
            points.SetData(numpy_to_vtk(begin + share * (end - begin), deep=1))
            for point in range(seeds):
                vertices.InsertNextCell(1, [point])
        line.SetPoints(points)
        line.SetVerts(vertices)
        return line

    def memory_of_process(entry):
        """In KiB: the resident memory (VmRSS) or its peak (VmHWM), as Linux tells it."""
        with open("/proc/self/status") as file:
            return next(int(line.split()[1]) for line in file if line.startswith(entry))

    def run(proxy):
        """Execute the filter; return the seconds of the slowest rank."""
        comm.Barrier()
        begin = time.perf_counter()
        proxy.UpdatePipeline()
        return comm.allreduce(time.perf_counter() - begin, MPI.MAX)

    original, vectors = load()
    data = with_arrays(original, vectors)
    following = with_arrays(original, vectors)
    empty = data.GetNumberOfPoints() == 0
    low = np.array([np.inf] * 3 if empty else data.GetBounds()[::2])
    high = np.array([-np.inf] * 3 if empty else data.GetBounds()[1::2])
    comm.Allreduce(MPI.IN_PLACE, low, MPI.MIN)
    comm.Allreduce(MPI.IN_PLACE, high, MPI.MAX)
    source = producer_of(data)
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # the peak begins anew
    memory = memory_of_process("VmRSS")
    seconds = {}
    if name == "streamlines":
        begin, end = low + 0.1 * (high - low), low + 0.9 * (high - low)
        seed_source = producer_of(line_of_seeds(begin, end))
        make = pv.StreamTracerWithCustomSource if who == "peer" else pv.AsyncStreamTracerWithCustomSource
        tracer = make(Input=source, SeedSource=seed_source, Vectors=["POINTS", vectors],
                      MaximumStreamlineLength=float((high - low).max()))
        seconds["first"] = run(tracer)
        shift = 0.01 * (end - begin)
        replace(seed_source, line_of_seeds(begin + shift, end + shift))
        seconds["moved"] = run(tracer)
        tracer.Vectors = ["POINTS", "other"]
        seconds["array"] = run(tracer)
        replace(source, following)
        seconds["step"] = run(tracer)
    else:
        speed = vtk_to_numpy(data.GetPointData().GetArray("speed"))
        middle = comm.allreduce(float(np.median(speed)) if len(speed) else 0.0, MPI.MAX)

        def select(array, lower):
            if who == "peer":
                threshold.Scalars = ["POINTS", array]
                threshold.LowerThreshold = lower
                threshold.UpperThreshold = 1e30
            else:
                labels.ScalarConnectivity = 1
                labels.Scalars = ["POINTS", array]
                labels.ScalarRange = [lower, 1e30]

        if who == "peer":
            threshold = pv.Threshold(Input=source)
            labels = pv.Connectivity(Input=threshold)
        else:
            labels = pv.AsyncConnectivity(Input=source)
        for event, array, lower in (("first", "speed", middle), ("moved", "speed", 1.1 * middle),
                                    ("array", "other speed", 0.5 * middle)):
            select(array, lower)
            seconds[event] = run(labels)
        replace(source, following)
        seconds["step"] = run(labels)
    grown = memory_of_process("VmHWM") - memory
    row = {**seconds, "MiB": comm.allreduce(grown, MPI.SUM) / 1024,
           "cells": comm.allreduce(data.GetNumberOfCells(), MPI.SUM)}
    if rank == 0:
        runs.write_rows([row], options)


if __name__ == "__main__":
    runs.main(parse, runs.work_of_module(__file__), drive)
