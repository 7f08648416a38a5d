# SPDX-License-Identifier: BSD-3-Clause
"""Compare Async Connectivity with ParaView's Threshold and Connectivity, in one pvbatch run on the same data.

    TRIBUTARY_PLUGIN=<build>/.../Tributary.so python3 Benchmarks/Scripts/connectivity.py

starts pvbatch on 1, 2 and 4 ranks in succession, and prints one table. `--quick` uses small data.
The measured time is that of UpdatePipeline of the filters, on the slowest rank, after a barrier. Runs of the
two products alternate; the table contains medians. `first` is the first execution, which is in no median unless
it takes more than --long seconds: memory that was not used before is slow, and our filter keeps what it finds
out about cells and points for the next ones. Cells are neighbors if they share a point, which is the only
criterion of ParaView's filter.

  noise    grids of 192^3 and 256^3 cells, with a random share of the cells in range: at 0.0976 the largest
           region begins to span the grid, at 0.25 nearly all cells in range are in one region
  blobs    a grid with the given number of balls
  kept     the cells in range of a noise grid, as the unstructured grid that Threshold made before the
           measurement: ParaView's Connectivity against ours with Extract Regions
  tetrahedra  a mesh of jittered points, a range of a point array, ragged pieces

In all cases except `kept`, ParaView's Threshold and Connectivity are compared with our filter, which labels
the cells of a scalar range in place. The results are compared:
  regions    number of regions
  same sizes whether the regions of ParaView have the same numbers of cells as ours
  same bits  whether our regions have the same sizes, in the same order, as on one rank
The program fails if `same bits` is false, or if `same sizes` is false on one rank.

--settings measures our filter only, with batches of 4 KiB, 64 KiB and 1 MiB and hold times of 0, 5 and
100 us, in alternating runs. The difference between the default and the best of these nine settings is the
possible gain of tuning. Then Auto Tune chooses a setting; the table contains the cost of its trials, and times of
the default and of the chosen setting, in alternating runs.

--periodic measures what Periodic costs our filter: point data on a grid, along one axis and along all, with both sides
in the data and with a gap, in alternating runs with Periodic off. The ratio is the median of those of each turn.
"""

import argparse
import hashlib
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(os.path.dirname(os.path.dirname(HERE)), "Data")
sys.path.insert(0, HERE)

import runs  # noqa: E402  (found on the path set above)

CASES = {
    "noise 192, 0.0976": ("noise", 192, 0.0976),
    "noise 192, 0.25": ("noise", 192, 0.25),
    "noise 256, 0.01": ("noise", 256, 0.01),
    "noise 256, 0.0976": ("noise", 256, 0.0976),
    "noise 256, 0.25": ("noise", 256, 0.25),
    "noise 256, 0.5": ("noise", 256, 0.5),
    "blobs 256, 5^3": ("blobs", 256, 5),
    "blobs 256, 10^3": ("blobs", 256, 10),
    "blobs 256, 22^3": ("blobs", 256, 22),
    "blobs 256, 46^3": ("blobs", 256, 46),
    "kept 256, 0.0976": ("kept", 256, 0.0976),
    "kept 256, 0.25": ("kept", 256, 0.25),
    "tetrahedra 64": ("tetrahedra", 64, 0.1),
}
PERIODIC = {
    "waves 256": ("waves", 256, 0.4),
    "waves 256, many": ("waves", 256, 1.6),
}
QUICK_PERIODIC = {"waves 64": ("waves", 64, 0.4)}
QUICK = {
    "noise 64, 0.0976": ("noise", 64, 0.0976),
    "noise 64, 0.25": ("noise", 64, 0.25),
    "blobs 64, 5^3": ("blobs", 64, 5),
    "kept 64, 0.25": ("kept", 64, 0.25),
    "tetrahedra 16": ("tetrahedra", 16, 0.1),
}


def parse(arguments):
    parser = runs.make_parser(__doc__)
    runs.add_peer_options(parser, long=60)
    parser.add_argument("--quick", action="store_true", help="small data: " + "; ".join(QUICK))
    parser.add_argument("--settings", action="store_true", help="sizes and hold times of batches")
    parser.add_argument("--periodic", action="store_true", help="the cost of Periodic")
    parser.add_argument("--double", action="store_true", help="scalars in double precision")
    parser.add_argument("--only", default="", help="only cases whose names begin with this")
    parser.add_argument("--reference", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    cases = (CASES, QUICK, PERIODIC, QUICK_PERIODIC)[2 * options.periodic + options.quick]
    options.cases = {
        name: case
        for name, case in cases.items()
        if name.startswith(options.only) and not (options.settings and case[0] == "kept")
    }
    if options.settings + options.periodic + options.no_ours > 1:
        parser.error("--settings, --periodic and --no-ours cannot be combined")
    if not options.cases:
        parser.error(f"no case begins with {options.only!r}")
    runs.require_plugin(parser, options)
    return options


# --- The driver: any Python -----------------------------------------------------------------------

COLUMNS = (
    ("data", "data", None),
    ("ranks", "ranks", None),
    ("cells", "cells", None),
    ("in range", "in range", None),
    ("ParaView s", "peer", "seconds"),
    ("ours s", "ours", "seconds"),
    ("ratio", "ratio", None),
    ("ParaView first", "peer", "first"),
    ("ours first", "ours", "first"),
    ("ParaView regions", "peer", "regions"),
    ("ours", "ours", "regions"),
    ("same sizes", "same sizes", None),
    ("same bits", "same bits", None),
)
SETTINGS_COLUMNS = (
    ("data", "data", None),
    ("ranks", "ranks", None),
    ("default s", "default", None),
    ("best s", "best", None),
    ("worst s", "worst", None),
    ("best bytes", "bytes", None),
    ("us", "us", None),
    ("default, again", "again", None),
    ("Auto Tune s", "auto", None),
    ("trials s", "trials", None),
    ("bytes", "auto bytes", None),
    ("us", "auto us", None),
    ("relative error", "off by", None),
)
PERIODIC_COLUMNS = (
    ("data", "data", None),
    ("ranks", "ranks", None),
    ("periodic", "periodic", None),
    ("off s", "off", None),
    ("on s", "on", None),
    ("ratio", "ratio", None),
    ("regions", "regions", None),
)


def drive(options, arguments):
    rows = runs.measure(__file__, options, arguments, reference="")
    if options.settings:
        runs.report(rows, SETTINGS_COLUMNS, options)
        return
    if options.periodic:
        runs.report(rows, PERIODIC_COLUMNS, options)
        return
    order = list(options.cases)
    rows.sort(key=lambda row: (order.index(row["data"]), row["ranks"]))
    runs.report(rows, COLUMNS, options)
    if any(row.get("same bits") is False for row in rows):
        sys.exit("our regions differ from those on one rank")
    if any(row["ranks"] == 1 and row.get("same sizes") is False for row in rows):
        sys.exit("our regions differ from ParaView's on one rank")


# --- The worker: inside pvbatch, on every rank ----------------------------------------------------


def work(options):
    import numpy as np
    import paraview.simple as pv
    from mpi4py import MPI
    from types import SimpleNamespace
    from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
    from vtkmodules.vtkCommonDataModel import vtkImageData

    sys.path.insert(0, DATA)
    import flows

    comm = MPI.COMM_WORLD
    rank, ranks = comm.Get_rank(), comm.Get_size()
    if not options.no_ours:
        pv.LoadPlugin(os.environ["TRIBUTARY_PLUGIN"], remote=False, ns=vars(pv))

    def add(attributes, values):
        array = numpy_to_vtk(np.ascontiguousarray(values.ravel(), dtype=np.float32), deep=1)
        array.SetName("value")
        attributes.AddArray(array)

    def grid(kind, size, number):
        """This rank's brick of an image of size^3 cells with the array `value`, of points for waves."""
        lattice = SimpleNamespace(points=(size + 1,) * 3, cells=(size,) * 3)
        extent = flows.brick(lattice, ranks, rank)
        precision = np.float64 if options.double else np.float32
        data = vtkImageData()
        data.SetExtent(extent)
        more = 1 if kind == "waves" else 0
        x, y, z = (np.arange(extent[2 * a], extent[2 * a + 1] + more) for a in range(3))
        if kind == "waves":
            wave = lambda n, number: np.sin(2 * np.pi * number * n / size).astype(precision)
            values = wave(x, 3) * wave(y + 4, 5)[:, None] + wave(z, 4)[:, None, None]
            values += precision(0.3) * wave(x, 17) * wave(z, 13)[:, None, None]
            add(data.GetPointData(), values)
            return data, [0, size] * 3
        if kind == "blobs":
            # Balls around the points where all three cosines are 1.
            wave = lambda n: np.cos(2 * np.pi * number * (n + 0.5) / size - np.pi).astype(precision)
            values = wave(z)[:, None, None] + wave(y)[None, :, None] + wave(x)[None, None, :]
        else:
            values = np.empty((len(z), len(y), len(x)), precision)
            for layer, index in enumerate(z):  # layer by layer, to need less memory
                values[layer] = flows._hash((index * size + y[:, None]) * size + x[None, :], 9)
        add(data.GetCellData(), values)
        return data, [0, size] * 3

    def producer(data, extent=None):
        proxy = pv.TrivialProducer()
        proxy.GetClientSideObject().SetOutput(data)
        if extent:
            proxy.GetClientSideObject().SetWholeExtent(*extent)
        proxy.UpdatePipeline()
        return proxy

    def load(kind, size, number):
        """Return the proxy of a data set, [association, array], and the range."""
        if kind == "tetrahedra":
            data = flows.build(rank, ranks, mesh="tetrahedra", size=size, cut="clumps")
            points = vtk_to_numpy(data.GetPoints().GetData()).astype(np.float64)
            add(data.GetPointData(), np.cos(6 * points).sum(axis=1))
            return producer(data), ["POINTS", "value"], [1.5, 4.0]
        if kind == "blobs":
            return producer(*grid(kind, size, number)), ["CELLS", "value"], [1.7, 4.0]
        if kind == "waves":
            return producer(*grid(kind, size, number)), ["POINTS", "value"], [number, 4.0]
        return producer(*grid(kind, size, number)), ["CELLS", "value"], [0.0, number]

    def threshold(data, array, pair):
        return pv.Threshold(
            Input=data, Scalars=array, LowerThreshold=pair[0], UpperThreshold=pair[1], AllScalars=0
        )

    def run(*filters):
        """Execute the filters; return the seconds of the slowest rank."""
        for proxy in filters:
            proxy.GetClientSideObject().Modified()
            proxy.SMProxy.MarkModified(proxy.SMProxy)
        comm.Barrier()
        begin = time.perf_counter()
        filters[-1].UpdatePipeline()
        return comm.allreduce(time.perf_counter() - begin, MPI.MAX)

    def sizes(proxy):
        """The number of cells of each region, by RegionId; the same on all ranks."""
        data = proxy.GetClientSideObject().GetOutputDataObject(0)
        ids = data.GetCellData().GetArray("RegionId")
        ids = vtk_to_numpy(ids) if ids is not None else np.zeros(0, np.int64)
        ids = ids[ids >= 0]
        count = comm.allreduce(int(ids.max(initial=-1)) + 1, MPI.MAX)
        mine = np.bincount(ids, minlength=count).astype(np.int64)
        total = np.empty_like(mine)
        comm.Allreduce(mine, total)
        return total

    def compared_settings(proxy):
        """Compare the median times of all settings in alternating runs; the first run of each is discarded."""
        settings = [(size, hold) for size in (65536, 4096, 1 << 20) for hold in (5, 0, 100)]
        seconds = {setting: [] for setting in settings}
        for turn in range(1 + options.repeat):
            for setting in settings:
                proxy.BatchBytes, proxy.HoldTime = setting
                proxy.UpdateVTKObjects()
                one = run(proxy)
                if turn > 0:
                    seconds[setting].append(one)
        medians = {setting: float(np.median(runs_of)) for setting, runs_of in seconds.items()}
        best = min(medians, key=medians.get)
        return {
            "default": medians[settings[0]],
            "best": medians[best],
            "worst": max(medians.values()),
            "bytes": best[0],
            "us": best[1],
            "runs": [[*setting, seconds[setting]] for setting in settings],
        }

    def compared_choice(plain, auto):
        """Compare the choice of Auto Tune with the default; the trials are in the discarded first run."""
        run(plain)
        run(auto)
        trials = statistic(auto, "TuningSeconds")
        seconds = {plain: [], auto: []}
        for _ in range(options.repeat):
            for proxy, runs_of in seconds.items():
                runs_of.append(run(proxy))
        return {
            "again": float(np.median(seconds[plain])),
            "auto": float(np.median(seconds[auto])),
            "trials": trials,
            "auto bytes": statistic(auto, "TunedBatchBytes"),
            "auto us": statistic(auto, "TunedHoldTime"),
            "off by": statistic(auto, "OffBy"),
        }

    def compared_axes(size, **properties):
        """Compare the median times with Periodic on and off; the first run of each is discarded."""
        ways = {
            "off": ([0, 0, 0], 0),
            "x": ([1, 0, 0], size),
            "x, y, z": ([1, 1, 1], size),
            "x, gap": ([1, 0, 0], size + 1),
            "x, y, z, gaps": ([1, 1, 1], size + 1),
        }
        proxies = {
            way: pv.AsyncConnectivity(
                ScalarConnectivity=1, KeepDomain=0, Periodic=axes, Period=[float(period)] * 3, **properties
            )
            for way, (axes, period) in ways.items()
        }
        seconds = {way: [] for way in ways}
        for turn in range(1 + options.repeat):
            for way, proxy in proxies.items():
                one = run(proxy)
                if turn > 0:
                    seconds[way].append(one)
        rows = []
        for way, proxy in proxies.items():
            rows.append({
                "periodic": way,
                "off": float(np.median(seconds["off"])),
                "on": float(np.median(seconds[way])),
                "ratio": float(np.median(np.divide(seconds[way], seconds["off"]))),
                "runs": seconds[way],
                "regions": len(sizes(proxy)),
            })
            pv.Delete(proxy)
        return rows[1:]

    def statistic(proxy, name):
        fields = proxy.GetClientSideObject().GetOutputDataObject(0).GetFieldData()
        array = fields.GetArray("AsyncConnectivity " + name)
        return array.GetTuple1(0) if array else float("nan")

    rows = []
    for name, (kind, size, number) in options.cases.items():
        data, array, pair = load(kind, size, number)
        row = {"data": name, "ranks": ranks}
        if options.settings:
            proxies = [
                pv.AsyncConnectivity(
                    Input=data, ScalarConnectivity=1, Scalars=array, ScalarRange=pair, AutoTune=auto
                )
                for auto in (0, 0, 1)
            ]
            rows.append({**row, **compared_settings(proxies[0]), **compared_choice(*proxies[1:])})
            for proxy in (*proxies, data):
                pv.Delete(proxy)
            continue
        if options.periodic:
            ways = compared_axes(size, Input=data, Scalars=array, ScalarRange=pair)
            rows += [{**row, **way} for way in ways]
            pv.Delete(data)
            continue
        cells = data.GetClientSideObject().GetOutputDataObject(0).GetNumberOfCells()
        row["cells"] = comm.allreduce(cells)
        kept = threshold(data, array, pair)
        kept.UpdatePipeline()
        chains = {}
        if kind == "kept":
            chains["peer"] = [pv.Connectivity(Input=kept)]
            if not options.no_ours:
                chains["ours"] = [pv.AsyncConnectivity(Input=kept, ExtractRegions=1)]
        else:
            chains["peer"] = [kept, pv.Connectivity(Input=kept)]
            if not options.no_ours:
                chains["ours"] = [
                    pv.AsyncConnectivity(
                        Input=data, ScalarConnectivity=1, Scalars=array, ScalarRange=pair
                    )
                ]
        repeat = {"peer": options.peer_repeat, "ours": options.repeat}
        seconds = {who: [] for who in chains}
        answers, first = {}, {}
        for r in range(1 + max(repeat.values())):
            for who, chain in chains.items():
                if r == 0:
                    first[who] = run(*chain)
                    answers[who] = sizes(chain[-1])
                    if first[who] > options.long:
                        seconds[who].append(first[who])
                        repeat[who] = 0
                elif r <= repeat[who]:
                    seconds[who].append(run(*chain))
        for who, answer in answers.items():
            row[who] = {
                "seconds": float(np.median(seconds[who])),
                "runs": seconds[who],
                "first": first[who],
                "regions": len(answer),
            }
        row["in range"] = int(answers["peer"].sum())
        if "ours" in answers:
            row["ratio"] = row["peer"]["seconds"] / row["ours"]["seconds"]
            row["same sizes"] = bool(
                np.array_equal(np.sort(answers["peer"]), np.sort(answers["ours"]))
            )
            digest = hashlib.sha256(answers["ours"].tobytes()).hexdigest()
            file = os.path.join(options.reference, name.replace(" ", "-"))
            if ranks == 1:
                with open(file, "w") as saved:
                    saved.write(digest)
            if os.path.isfile(file):
                with open(file) as saved:
                    row["same bits"] = saved.read() == digest
        if rank == 0:
            print(runs.table([row], COLUMNS), flush=True)
        rows.append(row)
        for chain in chains.values():
            pv.Delete(chain[-1])
        pv.Delete(kept)
        pv.Delete(data)
        del chains, kept, data
    if rank == 0:
        runs.write_rows(rows, options)


if __name__ == "__main__":
    runs.main(parse, work, drive)
