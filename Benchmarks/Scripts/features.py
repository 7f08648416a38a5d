# SPDX-License-Identifier: BSD-3-Clause
"""Measure the cost of feature tracking per step, compared with ParaView's Threshold and Connectivity.

    TRIBUTARY_PLUGIN=<build>/.../Tributary.so python3 Benchmarks/Scripts/features.py

starts pvbatch on 1, 2 and 4 ranks in succession, and prints one table. Steps are provided one by one, as in
situ. The measured time is that of UpdatePipeline of the filters, on the slowest rank, after a barrier. In each
step, the three filters run one after the other on the same data. The table contains medians over all steps
except the first two.

  wire     images of an exploding wire (Data/wire.py), 384^2 pixels
  balls    a grid of 128^3 cells with 10^3 balls that move by a third of their radius per step
  mesh     64^3 hexahedra of an unstructured grid, with 5^3 such balls
  moving   the same, and in each step all points move

  Connectivity   ParaView's, after Threshold: the regions of one step
  Regions        Async Connectivity: the same, labeled in place, with their table
  Tracker        Async Feature Tracker: regions, and their correspondence to those of the previous step
  share          share of the tracker's time that is not spent on regions: 1 - Regions / Tracker
The program fails if the filters find different numbers of regions, or if the numbers of regions or tracks
depend on the number of ranks.
"""

import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(os.path.dirname(os.path.dirname(HERE)), "Data")
sys.path.insert(0, HERE)

import runs  # noqa: E402  (found on the path set above)

CASES = ("wire", "balls", "mesh", "moving")
COLUMNS = (
    ("data", "data", None),
    ("ranks", "ranks", None),
    ("cells", "cells", None),
    ("regions per step", "regions", None),
    ("Connectivity s", "connectivity", None),
    ("Regions s", "labeling", None),
    ("Tracker s", "tracker", None),
    ("share", "share", None),
    ("Connectivity / Tracker", "ratio", None),
    ("tracks", "tracks", None),
)


def parse(arguments):
    parser = runs.make_parser(__doc__)
    parser.add_argument("--only", choices=CASES, help="run one case only")
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--cells", type=int, default=128, help="cells along each axis of the balls' grid; meshes: half")
    options = parser.parse_args(arguments)
    if options.steps < 3:
        parser.error("--steps must be at least 3, as two are not timed")
    runs.require_plugin(parser, options)
    return options


def drive(options, arguments):
    rows = runs.measure(__file__, options, arguments)
    rows.sort(key=lambda row: (CASES.index(row["data"]), row["ranks"]))
    runs.report(rows, COLUMNS, options)
    for case in CASES:
        if len({(row["tracks"], row["regions"]) for row in rows if row["data"] == case}) > 1:
            sys.exit(f"the tracks of {case} depend on the ranks")


def work(options):
    import numpy as np
    import paraview.simple as pv
    from mpi4py import MPI
    from types import SimpleNamespace
    from vtkmodules.util.numpy_support import numpy_to_vtk, numpy_to_vtkIdTypeArray
    from vtkmodules.vtkCommonCore import vtkPoints
    from vtkmodules.vtkCommonDataModel import VTK_HEXAHEDRON, vtkCellArray, vtkImageData, vtkUnstructuredGrid

    sys.path.insert(0, DATA)
    import flows
    import wire

    comm = MPI.COMM_WORLD
    rank, ranks = comm.Get_rank(), comm.Get_size()
    pv.LoadPlugin(os.environ["TRIBUTARY_PLUGIN"], remote=False, ns=vars(pv))

    def image(cells, values):
        """This rank's brick of a grid; `values(x, y, z)` returns the values of the cells at these indices."""
        lattice = SimpleNamespace(points=tuple(n + 1 for n in cells), cells=cells)
        extent = list(flows.brick(lattice, ranks, rank))
        if cells[2] == 0:
            extent[4:] = [0, 0]
        data = vtkImageData()
        data.SetExtent(extent)
        axes = [np.arange(extent[2 * a], max(extent[2 * a + 1], extent[2 * a] + 1)) for a in range(3)]
        array = numpy_to_vtk(np.ascontiguousarray(values(*axes), np.float32).ravel(), deep=1)
        array.SetName("value")
        data.GetCellData().AddArray(array)
        return data

    explosion = wire.Wire(frames=options.steps + 40)

    def wire_step(step):
        frame = explosion.image(step + 30).reshape(explosion.size, explosion.size)
        size = (explosion.size, explosion.size, 1)
        return image(size, lambda x, y, z: np.repeat(frame[np.ix_(y, x)][None], len(z), 0)), size

    def balls_step(step, n=options.cells, number=10):
        size = (n, n, n)

        def values(x, y, z):
            # Balls around the points where all three cosines are 1. The balls where the sum exceeds
            # 1.7 have a radius of about 0.2 wavelengths.
            wave = lambda i, move: np.cos(2 * np.pi * (number * (i + 0.5) / n - 0.5 - move))
            moves = [0.07 * step * way for way in (1, 0.5, 0.25)]
            return (
                wave(z, moves[2])[:, None, None]
                + wave(y, moves[1])[None, :, None]
                + wave(x, moves[0])[None, None, :]
            )

        return image(size, values), size

    def mesh_step(step, sway=0.0):
        brick, size = balls_step(step, options.cells // 2, 5)
        extent = brick.GetExtent()
        z, y, x = np.meshgrid(*(np.arange(extent[2 * a], extent[2 * a + 1] + 1.0) for a in (2, 1, 0)), indexing="ij")
        points = vtkPoints()
        points.SetData(numpy_to_vtk(np.stack([x + sway * np.sin(step + y), y, z], axis=-1).reshape(-1, 3), deep=1))
        number = np.arange(x.size).reshape(x.shape)
        ends = [slice(None, -1), slice(1, None)]
        corners = np.stack(
            [number[ends[k], ends[j], ends[i]].ravel() for k in (0, 1) for i, j in ((0, 0), (1, 0), (1, 1), (0, 1))],
            axis=-1)
        cells = vtkCellArray()
        cells.SetData(
            numpy_to_vtkIdTypeArray(np.arange(0, corners.size + 1, 8), deep=1),
            numpy_to_vtkIdTypeArray(np.ascontiguousarray(corners.ravel()), deep=1))
        grid = vtkUnstructuredGrid()
        grid.SetPoints(points)
        grid.SetCells(VTK_HEXAHEDRON, cells)
        grid.GetCellData().ShallowCopy(brick.GetCellData())
        return grid, size

    cases = {
        "wire": (wire_step, [0.3, 1e9]),
        "balls": (balls_step, [1.7, 4.0]),
        "mesh": (mesh_step, [1.7, 4.0]),
        "moving": (lambda step: mesh_step(step, 0.2), [1.7, 4.0]),
    }
    rows = []
    for name in [options.only] if options.only else CASES:
        make, pair = cases[name]
        source = pv.TrivialProducer()
        array = ["CELLS", "value"]
        kept = peer = labels = tracker = None
        seconds = {"connectivity": [], "labeling": [], "tracker": []}
        regions = []
        for step in range(options.steps):
            data, size = make(step)
            data.GetInformation().Set(data.DATA_TIME_STEP(), float(step))
            source.GetClientSideObject().SetOutput(data)
            source.GetClientSideObject().SetWholeExtent(0, size[0], 0, size[1], 0, size[2])
            source.GetClientSideObject().Modified()
            source.SMProxy.MarkModified(source.SMProxy)
            source.UpdatePipeline()
            if not tracker:
                kept = pv.Threshold(
                    Input=source, Scalars=array, LowerThreshold=pair[0], UpperThreshold=pair[1],
                    AllScalars=0,
                )
                peer = pv.Connectivity(Input=kept)
                common = {"Input": source, "ScalarConnectivity": 1, "Scalars": array, "ScalarRange": pair,
                          "ExtractRegions": 0}
                labels = pv.AsyncConnectivity(**common)
                tracker = pv.AsyncFeatureTracker(**common)
            for what, proxy in (("connectivity", peer), ("labeling", labels), ("tracker", tracker)):
                comm.Barrier()
                begin = time.perf_counter()
                proxy.UpdatePipeline()
                elapsed = comm.allreduce(time.perf_counter() - begin, MPI.MAX)
                if step >= 2:
                    seconds[what].append(elapsed)

            def field(proxy, key):
                output = proxy.GetClientSideObject().GetOutputDataObject(0)
                return int(output.GetFieldData().GetArray(key).GetTuple1(0))

            found = {field(labels, "NumberOfRegions"), field(tracker, "NumberOfRegions")}
            if len(found) > 1:
                sys.exit(f"{name}, step {step}: the filters disagree in the number of regions: {found}")
            regions += found
        median = {what: float(np.median(values)) for what, values in seconds.items()}
        row = {
            "data": name,
            "ranks": ranks,
            "cells": int(np.prod(size)),
            "regions": int(np.median(regions)),
            "tracks": field(tracker, "NumberOfTracks"),
            "share": 1 - median["labeling"] / median["tracker"],
            "ratio": median["connectivity"] / median["tracker"],
            **median,
        }
        if rank == 0:
            print(runs.table([row], COLUMNS), flush=True)
        rows.append(row)
        for proxy in (tracker, labels, peer, kept, source):
            pv.Delete(proxy)
    if rank == 0:
        runs.write_rows(rows, options)


if __name__ == "__main__":
    runs.main(parse, work, drive)
