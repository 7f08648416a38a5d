# SPDX-License-Identifier: BSD-3-Clause
"""Compare Async Stream Tracer with ParaView's Stream Tracer, in one pvbatch run on the same data and seeds.

    TRIBUTARY_PLUGIN=<build>/.../Tributary.so python3 Benchmarks/Scripts/streamlines.py

starts pvbatch on 1, 2 and 4 ranks in succession, and prints one table. Both filters use ParaView's
default settings: Runge-Kutta 4-5, both directions, steps in cell lengths, vorticity on. The maximum
length is the longest edge of the domain. The measured time is that of UpdatePipeline of the filter, on
the slowest rank, after a barrier. Runs of the two filters alternate; the table contains medians.

The lines of both filters are compared with those of ParaView on one rank. The seed and the direction
identify the pieces of a line. The end point of a line is the point with the largest integration time.
  shift     largest distance between end points, in units of the domain's longest edge
  length    lines whose length differs by more than 0.1 %
  missing   lines that are in only one of the two results
  same bits for our filter: whether every array has the same bits as in our run on one rank
"""

import hashlib
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(os.path.dirname(os.path.dirname(HERE)), "Data")
DATA_SETS = ("abc", "tjunction", "dambreak")
sys.path.insert(0, HERE)

import runs  # noqa: E402  (found on the path set above)


def parse(arguments):
    parser = runs.make_parser(__doc__)
    runs.add_peer_options(parser, long=30)
    parser.add_argument(
        "--seeds", type=runs.numbers, default=[1000, 10000, 100000], help="default 1000,10000,100000"
    )
    parser.add_argument(
        "--data", type=lambda text: text.split(","), default=list(DATA_SETS),
        help="of " + ",".join(DATA_SETS) + "; default all",
    )
    parser.add_argument("--points", type=int, default=96, help="ABC flow: points per axis")
    parser.add_argument(
        "--max-peer-seeds", type=int, default=10000, help="maximum seeds for ParaView's filter"
    )
    parser.add_argument(
        "--reference", default="",
        help="folder that keeps the results on one rank (default: a temporary one)",
    )
    options = parser.parse_args(arguments)
    for name in options.data:
        if name not in DATA_SETS:
            parser.error(f"no data set {name}: choose from {', '.join(DATA_SETS)}")
    runs.require_plugin(parser, options)
    return options


# --- The driver: any Python -----------------------------------------------------------------------


COLUMNS = (
    ("data", "data", None),
    ("seeds", "seeds", None),
    ("ranks", "ranks", None),
    ("ParaView s", "peer", "seconds"),
    ("ours s", "ours", "seconds"),
    ("ratio", "ratio", None),
    ("ParaView lines", "peer", "lines"),
    ("ours", "ours", "lines"),
    ("ParaView points", "peer", "points"),
    ("ours", "ours", "points"),
    ("ParaView shift", "peer", "shift"),
    ("ours", "ours", "shift"),
    ("ParaView length", "peer", "length"),
    ("ours", "ours", "length"),
    ("ParaView missing", "peer", "missing"),
    ("ours", "ours", "missing"),
    ("same bits", "ours", "same bits"),
)


def drive(options, arguments):
    rows = runs.measure(__file__, options, arguments, options.reference)
    rows.sort(key=lambda row: (DATA_SETS.index(row["data"]), row["seeds"], row["ranks"]))
    runs.report(rows, COLUMNS, options)
    if any(row.get("ours", {}).get("same bits") is False for row in rows):
        sys.exit("our lines differ from those on one rank")


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
    if not options.no_ours:
        pv.LoadPlugin(os.environ["TRIBUTARY_PLUGIN"], remote=False, ns=vars(pv))

    def random_numbers(shape):
        return np.random.Generator(np.random.PCG64(11)).random(shape)

    def load(name):
        """Return the executed proxy of a data set, its vectors, its bounds, and a function that makes seeds."""
        if name == "abc":
            data, vectors = flows.source(flow="abc", mesh="image", size=options.points), "velocity"
            box = np.array(flows.bounds("abc"), dtype=float)
            draw = lambda count: box[::2] + random_numbers((count, 3)) * (box[1::2] - box[::2])
        else:
            path = os.path.join(DATA, name + ".pvtu")
            data, vectors = pv.XMLPartitionedUnstructuredGridReader(FileName=[path]), "U"
            whole = read_whole(path) if rank == 0 else None
            box = comm.bcast(np.array(whole.GetBounds()) if rank == 0 else None)
            draw = lambda count: draw_in_cells(whole, count)
        data.UpdatePipeline()
        return data, vectors, box, draw

    def read_whole(path):
        from vtkmodules.vtkIOXML import vtkXMLPUnstructuredGridReader

        reader = vtkXMLPUnstructuredGridReader()
        reader.SetFileName(path)
        reader.Update()
        return reader.GetOutput()

    def draw_in_cells(grid, count):
        """Random weighted means of the points of random cells. They lie inside, because cells are convex."""
        points = vtk_to_numpy(grid.GetPoints().GetData()).astype(float)
        offsets = vtk_to_numpy(grid.GetCells().GetOffsetsArray())
        connectivity = vtk_to_numpy(grid.GetCells().GetConnectivityArray())
        numbers = random_numbers((count, 1 + np.diff(offsets).max()))
        result = np.empty((count, 3))
        for i, number in enumerate(numbers):
            cell = int(number[0] * (len(offsets) - 1))
            corners = points[connectivity[offsets[cell] : offsets[cell + 1]]]
            weights = number[1 : 1 + len(corners)] + 1e-3
            result[i] = weights @ corners / weights.sum()
        return result

    def seed_proxy(coordinates):
        """A proxy with all seeds on rank 0, for any number of ranks."""
        seeds = vtkPolyData()
        points = vtkPoints()
        points.SetDataTypeToDouble()
        count = 0
        if rank == 0:
            count = len(coordinates)
            points.SetData(numpy_to_vtk(coordinates, deep=1))
        seeds.SetPoints(points)
        vertices = vtkCellArray()
        vertices.SetData(
            numpy_to_vtk(np.arange(count + 1, dtype=np.int64), deep=1),
            numpy_to_vtk(np.arange(count, dtype=np.int64), deep=1),
        )
        seeds.SetVerts(vertices)
        producer = pv.TrivialProducer()
        producer.GetClientSideObject().SetOutput(seeds)
        producer.UpdatePipeline()
        return producer

    def run(tracer):
        """Execute the tracer; return the seconds of the slowest rank."""
        tracer.GetClientSideObject().Modified()
        tracer.SMProxy.MarkModified(tracer.SMProxy)
        comm.Barrier()
        begin = time.perf_counter()
        tracer.UpdatePipeline()
        return comm.allreduce(time.perf_counter() - begin, MPI.MAX)

    def collect(tracer):
        """Gather the lines of all ranks on rank 0; None on the other ranks."""
        output = tracer.GetClientSideObject().GetOutputDataObject(0)
        arrays = {}
        if output.GetNumberOfLines():
            arrays["points"] = vtk_to_numpy(output.GetPoints().GetData())
            arrays["offsets"] = vtk_to_numpy(output.GetLines().GetOffsetsArray())
            arrays["connectivity"] = vtk_to_numpy(output.GetLines().GetConnectivityArray())
            for kind, data in (("point", output.GetPointData()), ("cell", output.GetCellData())):
                for i in range(data.GetNumberOfArrays()):
                    name = f"{kind} {data.GetArrayName(i)}"
                    arrays[name] = vtk_to_numpy(data.GetArray(i))
        parts = comm.gather(arrays)
        if rank != 0:
            return None
        parts = [part for part in parts if part]
        names = set.intersection(*(set(part) for part in parts)) - {"offsets", "connectivity"}
        # Points are in the order of the lines, so connectivity is no longer needed.
        result = {"sizes": np.concatenate([np.diff(part["offsets"]) for part in parts])}
        for name in names:
            if name.startswith("cell "):
                result[name] = np.concatenate([part[name] for part in parts])
            else:
                result[name] = np.concatenate([part[name][part["connectivity"]] for part in parts])
        return result

    def measure(lines, scale):
        """The end point and the length of the line of each seed and direction."""
        sizes, x, t = lines["sizes"], lines["points"], lines["point IntegrationTime"]
        first = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        line = np.repeat(np.arange(len(sizes)), sizes)
        steps = np.linalg.norm(np.diff(x, axis=0), axis=1) * (line[1:] == line[:-1])
        lengths = np.add.reduceat(np.concatenate([steps, [0.0]]), first)
        backward = np.minimum.reduceat(t, first) < 0
        keys = 2 * lines["cell SeedIds"].astype(np.int64) + backward
        order = np.lexsort((np.abs(t), keys[line]))
        sorted_keys = keys[line][order]
        last = np.flatnonzero(np.append(sorted_keys[1:] != sorted_keys[:-1], True))
        unique = sorted_keys[last]
        total = np.zeros(len(unique))
        np.add.at(total, np.searchsorted(unique, keys), lengths)
        return {"keys": unique, "ends": x[order[last]].astype(float) / scale, "lengths": total / scale}

    def quality(mine, reference):
        common, i, j = np.intersect1d(mine["keys"], reference["keys"], return_indices=True)
        shift = np.linalg.norm(mine["ends"][i] - reference["ends"][j], axis=1)
        difference = np.abs(mine["lengths"][i] - reference["lengths"][j])
        return {
            "shift": float(shift.max()) if len(shift) else None,
            "length": int((difference > 1e-3 * reference["lengths"][j]).sum()),
            "missing": len(mine["keys"]) + len(reference["keys"]) - 2 * len(common),
        }

    def hash_of(lines):
        """A hash of all arrays, with lines in the order of seed and direction."""
        sizes = lines["sizes"]
        first = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        backward = np.minimum.reduceat(lines["point IntegrationTime"], first) < 0
        order = np.lexsort((backward, lines["cell SeedIds"]))
        line = np.repeat(np.arange(len(sizes)), sizes)
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        point_order = np.argsort(place[line], kind="stable")
        digest = hashlib.sha256()
        for name in sorted(lines):
            per_line = name == "sizes" or name.startswith("cell ")
            digest.update(name.encode())
            digest.update(np.ascontiguousarray(lines[name][order if per_line else point_order]).tobytes())
        return digest.hexdigest()

    rows = []
    for name in options.data:
        data, vectors, box, draw = load(name)
        edge = float((box[1::2] - box[::2]).max())
        for count in options.seeds:
            seeds = seed_proxy(draw(count) if rank == 0 else None)
            tracers = {}
            if count <= options.max_peer_seeds:
                tracers["peer"] = pv.StreamTracerWithCustomSource
            if not options.no_ours:
                tracers["ours"] = pv.AsyncStreamTracerWithCustomSource
            for who, make in tracers.items():
                tracers[who] = make(
                    Input=data,
                    SeedSource=seeds,
                    Vectors=["POINTS", vectors],
                    MaximumStreamlineLength=edge,
                )
            repeat = {"peer": options.peer_repeat, "ours": options.repeat}
            seconds = {who: [] for who in tracers}
            row = {"data": name, "seeds": count, "ranks": ranks}
            answers = {}
            for r in range(1 + max(repeat.values())):
                for who, tracer in tracers.items():
                    if r == 0:  # the sources execute here, with the ghost cells that the filter requests
                        first = run(tracer)
                        answers[who] = collect(tracer)
                        if first > options.long:
                            seconds[who].append(first)
                            repeat[who] = 0
                    elif r <= repeat[who]:
                        seconds[who].append(run(tracer))
            if rank == 0:
                file = os.path.join(options.reference, f"{name}-{options.points}-{count}.npz")
                measures = {who: measure(lines, edge) for who, lines in answers.items()}
                hashes = {"ours": hash_of(answers["ours"])} if "ours" in answers else {}
                if ranks == 1:
                    parts = {f"peer {k}": v for k, v in measures.get("peer", {}).items()}
                    np.savez(file, hash=hashes.get("ours", ""), **parts)
                saved = np.load(file) if os.path.isfile(file) else {}
                reference = {k: saved[f"peer {k}"] for k in ("keys", "ends", "lengths") if f"peer {k}" in saved}
                for who, lines in answers.items():
                    row[who] = {
                        "seconds": float(np.median(seconds[who])),
                        "runs": seconds[who],
                        "lines": len(lines["sizes"]),
                        "points": int(lines["sizes"].sum()),
                    }
                    if reference:
                        row[who].update(quality(measures[who], reference))
                if "ours" in row and "hash" in saved and str(saved["hash"]):
                    row["ours"]["same bits"] = hashes["ours"] == str(saved["hash"])
                if "ours" in row and "peer" in row:
                    row["ratio"] = row["peer"]["seconds"] / row["ours"]["seconds"]
                print(runs.table([row], COLUMNS), flush=True)
            rows.append(row)
            for tracer in tracers.values():
                pv.Delete(tracer)
            pv.Delete(seeds)
        pv.Delete(data)
    if rank == 0:
        runs.write_rows(rows, options)


if __name__ == "__main__":
    runs.main(parse, runs.work_of_module(__file__), drive)
