# SPDX-License-Identifier: BSD-3-Clause
"""Async Connectivity on this number of ranks: the regions of brute force, and one answer, bit for bit,
however the data are cut. Writes hashes to hashes.json; CompareHashes.py compares them between
numbers of ranks and threads.

Every rank runs this script (pvbatch --sym). Arguments, if any, are words: only cases with one of them
in the name run, and no hashes are written.
"""

import hashlib
import os
import time
from types import SimpleNamespace

import numpy as np

import check
import regions
import trees
from check import flows
from mpi4py import MPI
from paraview import simple
from regions import EDGES, FACES, POINTS
from vtkmodules.vtkImagingCore import vtkRTAnalyticSource
from vtkmodules.vtkIOXML import vtkXMLMultiBlockDataReader, vtkXMLPUnstructuredGridReader

RANK = MPI.COMM_WORLD.rank

VALUE, NOISE, LEVEL = ("CELLS", "value"), ("CELLS", "noise"), ("CELLS", "level")
POTENTIAL = ("POINTS", "potential")
PATTERN = ((0.5, 2.0),)

EMPTY = ({}, {"empty": 1}, {"empty": 100})
STRUCTURED = (
    {},
    {"ghosts": 1},
    {"container": "multiblock", "pieces": 6},
    {"container": "partitioned", "pieces": 7, "placing": "cyclic", "ghosts": 1},
)
UNSTRUCTURED = (
    {"cut": "random"},
    {"cut": "bricks", "ghosts": 1},
    {"cut": "slices", "container": "multiblock", "pieces": 5, "placing": "cyclic"},
)

CASES = {}


def case(name, whole, variants, array=VALUE, ranges=PATTERN, full=0, through=POINTS, labels=False,
         statistics=(), count=None):
    """A case is a whole and the ways to cut it; all must give the same regions.

    ranges  of the array; None: no scalar range
    count   how many regions there are, if it is known otherwise
    """
    assert name not in CASES, name
    CASES[name] = (whole, variants, array, ranges, full, through, labels, statistics, count)


SIZES = {0: (15, 14, 0), 1: (12, 11, 10)}
for through, share in ((FACES, 0.3116), (EDGES, 0.137), (POINTS, 0.0976)):
    # The share at which the largest region begins to span the lattice.
    case(f"noise, through {through}", {"size": (16, 15, 14), "pattern": f"noise {share}"}, STRUCTURED,
         through=through, statistics=(NOISE, POTENTIAL))
    case(f"noise in a plane, through {through}", {"size": (23, 21, 0), "pattern": "noise 0.55"},
         STRUCTURED[:2], through=through)
case("noise in a row", {"size": (90, 0, 0), "pattern": "noise 0.7"}, STRUCTURED[:2])
case("a plane across z", {"size": (0, 20, 20), "pattern": "noise 0.5"}, STRUCTURED[:2], through=FACES)
for mesh in ("rectilinear", "structured"):
    whole = {"mesh": mesh, "size": SIZES[1], "pattern": "noise 0.2"}
    case(mesh, whole, STRUCTURED[:2] + EMPTY[1:2], through=FACES, statistics=(NOISE,))
    # By themselves, blocks do not say how they lie in a whole extent.
    case(f"{mesh}, blocks", whole, STRUCTURED[2:], through=FACES, statistics=(NOISE,))
case("points of an image, any", {"size": SIZES[1]}, STRUCTURED, POTENTIAL, ((0.1, 0.13),),
     statistics=(POTENTIAL,))
case("points of an image, all", {"size": SIZES[1]}, STRUCTURED, POTENTIAL, ((0.2, 0.9),), full=1)
case("points of hexahedra, all", {"mesh": "hexahedra", "size": (8, 7, 6)}, UNSTRUCTURED, POTENTIAL,
     ((0.2, 0.9),), full=1, through=EDGES)
case("points of tetrahedra, any", {"mesh": "tetrahedra", "size": (6, 6, 6)}, UNSTRUCTURED, POTENTIAL,
     ((0.1, 0.12),), through=FACES)
case("three ranges", {"size": SIZES[1]}, STRUCTURED[:2], NOISE,
     ((0.0, 0.1), (0.05, 0.3), (2.0, 3.0)), through=FACES, statistics=(LEVEL,))
case("spiral", {"size": (33, 30, 0), "pattern": "spiral"}, STRUCTURED + EMPTY[1:], through=FACES, count=1)
case("spirals on levels", {"size": (13, 12, 9), "pattern": "spiral"}, STRUCTURED, through=FACES, count=1)
case("spiral of quads", {"mesh": "quads", "size": (21, 20, 0), "pattern": "spiral"}, UNSTRUCTURED,
     through=FACES, count=1)
case("comb", {"size": (40, 9, 0), "pattern": "comb"}, STRUCTURED, through=FACES, count=1)
case("two combs", {"size": (40, 9, 0), "pattern": "combs"}, STRUCTURED, ranges=None, through=FACES,
     labels=True, count=2)
case("labels in a range", {"size": SIZES[1], "pattern": "noise 0.3"}, STRUCTURED[:2], labels=True)
case("checkerboard, through faces", {"size": (10, 9, 8), "pattern": "checkerboard"}, STRUCTURED,
     through=FACES, count=360)
case("checkerboard, through edges", {"size": (10, 9, 8), "pattern": "checkerboard"}, STRUCTURED[:2],
     through=EDGES, count=1)
for through, count in ((FACES, 2), (EDGES, 2), (POINTS, 1)):
    for mesh, variants in (("image", STRUCTURED), ("hexahedra", UNSTRUCTURED)):
        case(f"{mesh}, a corner shared, through {through}",
             {"mesh": mesh, "size": (6, 6, 6), "pattern": "corner"}, variants[:2], through=through,
             count=count)
for through, count in ((FACES, 2), (EDGES, 1)):
    case(f"an edge shared, through {through}", {"size": (6, 6, 6), "pattern": "edge"}, STRUCTURED[:2],
         through=through, count=count)
case("blobs", {"size": (20, 20, 20), "pattern": "blobs"}, STRUCTURED)
case("everything", {"size": (8, 8, 8)}, STRUCTURED + EMPTY[1:], ranges=None, count=1,
     statistics=(NOISE, POTENTIAL))
case("nothing in range", {"size": (6, 6, 6), "pattern": "nothing"}, STRUCTURED, count=0)
case("nothing of a mesh in range", {"mesh": "mixed", "size": (4, 4, 4), "pattern": "nothing"},
     UNSTRUCTURED[:1], count=0)
for mesh in ("tetrahedra", "hexahedra", "wedges", "pyramids", "mixed", "polyhedra"):
    for through in (FACES, EDGES, POINTS):
        size = (5, 5, 4) if mesh == "polyhedra" else (7, 6, 5)
        share = {FACES: 0.3, EDGES: 0.1, POINTS: 0.05}[through]
        case(f"{mesh}, through {through}", {"mesh": mesh, "size": size},
             UNSTRUCTURED[: 3 if through == FACES else 1], NOISE, ((0.0, share),), through=through,
             statistics=(NOISE, POTENTIAL) if through == FACES else ())
for mesh in ("triangles", "quads", "surface"):
    for through in (FACES, EDGES, POINTS):
        case(f"{mesh}, through {through}", {"mesh": mesh, "size": (16, 15, 0)},
             UNSTRUCTURED if through != EDGES else UNSTRUCTURED[:1], NOISE, ((0.0, 0.35),),
             through=through, statistics=(LEVEL,))
for mesh in regions.CELL_TYPES:
    for through in (FACES, EDGES, POINTS):
        flat = mesh == "pixels"
        case(f"{mesh}, through {through}",
             {"mesh": mesh, "size": (4, 4, 0 if flat else 4)}, UNSTRUCTURED[:1], NOISE, ((0.0, 0.3),),
             through=through)
# Ids join what coordinates do not.
case("global ids", {"mesh": "mixed", "size": (6, 6, 5), "pattern": "noise 0.2"},
     tuple({"ids": True, "nudge": 0.01 * i, **v} for i, v in enumerate(UNSTRUCTURED[:2])),
     through=FACES)
case("global ids, points", {"mesh": "surface", "size": (16, 15, 0), "pattern": "noise 0.2"},
     ({"cut": "random", "ids": True, "nudge": 0.01}, {"cut": "bricks", "ids": True, "ghosts": 1}))
case("empty ranks", {"mesh": "tetrahedra", "size": (5, 5, 5), "pattern": "noise 0.1"}, EMPTY)
case("two spheres", {"mesh": "spheres"}, ({},), ranges=None, count=2, statistics=(NOISE,))
case("a range of two spheres", {"mesh": "spheres"}, ({},), NOISE, ((0.3, 0.8),), through=FACES)


TREES = (
    {},
    {"cut": "random", "ghosts": 1},
    {"cut": "cyclic"},
    {"cut": "random", "container": "multiblock", "pieces": 5, "placing": "cyclic"},
    {"cut": "slices", "container": "partitioned", "pieces": 4, "ghosts": 1},
)


def tree_case(name, variants=TREES, whole=(), **more):
    case(f"hyper trees, {name}", {"mesh": trees.MESH, **dict(whole)}, variants, **more)


for through, share in ((FACES, 0.4), (EDGES, 0.25), (POINTS, 0.15)):
    for factor, size in ((2, (4, 3, 2)), (3, (3, 2, 2))):
        whole = {"size": size, "factor": factor, "pattern": f"noise {share}", "masked": 0.05}
        tree_case(f"{factor} parts, through {through}", TREES if factor == 2 else TREES[:3], whole,
                  through=through, statistics=(NOISE, LEVEL))
    for axis in range(3):
        size = [5, 5, 5]
        size[axis] = 0
        whole = {"size": tuple(size), "depth": 3, "factor": 2 + axis % 2, "pattern": "noise 0.5"}
        tree_case(f"a plane across {'xyz'[axis]}, through {through}", TREES[1:3], whole,
                  through=through, statistics=(NOISE,))
for axis in range(3):
    size = [0, 0, 0]
    size[axis] = 12
    tree_case(f"a row along {'xyz'[axis]}", TREES[:3], {"size": tuple(size), "depth": 4, "pattern": "noise 0.8"})
tree_case("transposed", TREES[:2], {"transposed": True}, statistics=(NOISE,))
tree_case("without coarse levels", TREES[:2], {"refined": 1.0, "depth": 2, "pattern": "noise 0.3"}, through=FACES)
tree_case("of a deep level", TREES[:2], {"size": (3, 2, 0), "depth": 9, "refined": 0.3})
tree_case("with a limit of depth", TREES[:3], {"limit": 2, "refined": 0.6, "masked": 0.1}, through=FACES)
tree_case("everything", TREES + EMPTY[1:], {"missing": 0.0}, ranges=None, through=FACES, count=1,
          statistics=(NOISE,))
tree_case("nothing in range", TREES[:2], {"pattern": "nothing"}, count=0)
tree_case("two sides", TREES, {"missing": 0.0, "size": (5, 3, 2), "pattern": "coarse and fine"},
          through=FACES, count=2)
tree_case("three ranges", TREES[:2], array=NOISE, ranges=((0.0, 0.1), (0.05, 0.4), (2.0, 3.0)),
          through=FACES, statistics=(LEVEL,))
tree_case("labels", TREES, {"pattern": "noise 0.6"}, labels=True)
tree_case("global ids", tuple({"ids": True, **variant} for variant in TREES[:2]), through=FACES)
tree_case("empty ranks", EMPTY + ({"empty": 1, "ghosts": 1},), {"masked": 0.1}, statistics=(NOISE,))

REAL = {
    "dambreak.pvtu": ("alpha.water", (0.05, 0.9)),
    "tjunction.pvtu": ("p", (5.0, 12.0)),
    "tjunction_polyhedra.pvtu": ("p", (5.0, 12.0)),
    "tjunction_multiblock.vtm": ("p", (5.0, 12.0)),
}


def once(rows, keys):
    """Rows of copies of the same cell or point made one, ordered by number."""
    order = np.argsort(rows["number"], kind="stable")
    number = rows["number"][order]
    first = np.append(True, number[1:] != number[:-1])[: len(number)]
    result = {"number": number[first]}
    for key in keys:
        values = rows[key][order]
        if len(values) and not np.array_equal(values, values[first][np.cumsum(first) - 1]):
            raise check.Wrong(f"copies of a cell or point have different {key}")
        result[key] = values[first]
    return result


class Found:
    """What the filter says, of all ranks, independent of the cut. Its members are on rank 0 alone."""

    def __init__(self, proxy, whole=None, points=True):
        """Collective.

        whole   the Reference that cells and points without numbers are found in by place
        points  whether copies of a point must have one id
        """
        proxy.UpdatePipeline()
        output = proxy.GetClientSideObject().GetOutputDataObject(0)
        table = proxy.GetClientSideObject().GetOutputDataObject(1)
        self.cells = regions.gathered(output, "cells")
        self.points = regions.gathered(output, "points")
        self.table = regions.gathered(table, "table")
        counts = output.GetFieldData().GetArray("NumberOfRegions")
        assert counts is not None, "no NumberOfRegions in the field data"
        self.counts = [counts.GetValue(i) for i in range(counts.GetNumberOfTuples())]
        if RANK:
            return
        if whole is not None:
            whole.number(self.cells, "cells")
            whole.number(self.points, "points")
        self.ids = sorted(key for key in self.cells if key.startswith("RegionId"))
        self.original = self.cells["number"][self.cells["vtkGhostType"] == 0]
        self.cells = once(self.cells, self.ids)
        self.points = once(self.points, self.ids) if points and self.points else None
        # Of several ranges, each rank has a share of each.
        if "Range" in self.table:
            order = np.argsort(self.table["Range"], kind="stable")
            self.table = {name: values[order] for name, values in self.table.items()}
        self.holders = self.table.pop("rank", np.zeros(0, int))

    def digest(self):
        total = hashlib.sha256()
        for rows in filter(None, (self.cells, self.points, self.table)):
            for name in sorted(rows):
                values = np.ascontiguousarray(rows[name])
                total.update(f"{name} {values.dtype} {values.shape}".encode())
                total.update(values.tobytes())
        return total.hexdigest()[:24]


def difference(one, other):
    """In words, where two Found differ first."""
    for what in ("cells", "points", "table"):
        a, b = getattr(one, what) or {}, getattr(other, what) or {}
        if sorted(a) != sorted(b):
            return f"{what} have arrays {sorted(a)} and {sorted(b)}"
        for name in sorted(a):
            if a[name].shape != b[name].shape or a[name].dtype != b[name].dtype:
                return f"{what}, {name}: {a[name].dtype} {a[name].shape}, {b[name].dtype} {b[name].shape}"
            same = np.frombuffer(a[name].tobytes(), np.uint8) == np.frombuffer(b[name].tobytes(), np.uint8)
            if not same.all():
                row = int(np.flatnonzero(~same.reshape(len(a[name]), -1).all(axis=1))[0])
                return f"{what}, {name}[{row}]: {a[name][row]!r} and {b[name][row]!r}"
    return None


def expect(condition, what):
    if not condition:
        raise check.Wrong(what)


def compare(found, reference, expected, statistics, loose, order=None, table=True):
    """Do cells, points and table agree with brute force?

    expected  regions of the cells, for each range
    loose     a relative tolerance for measures, centroids and what is weighted by measures
    order     for each cell a number whose least one of a region says which region comes first
    table     whether to look at the table
    """
    expect(np.array_equal(found.cells["number"], np.arange(reference.count)), "cells are missing")
    expect(np.array_equal(np.sort(found.original), np.arange(reference.count)), "cells are twice there")
    counts = [wanted.max(initial=-1) + 1 for wanted in expected]
    expect(found.counts == counts, f"{found.counts} regions instead of {counts}")
    names = ["RegionId"] + [f"RegionId_{i}" for i in range(1, len(expected))]
    expect(found.ids == names, f"arrays {found.ids}")
    wanted_table = {}
    for number, (name, wanted) in enumerate(zip(names, expected)):
        ids = found.cells[name]
        expect(regions.same_partition(ids, wanted), f"{name}: other regions")
        expect(set(ids[ids >= 0].tolist()) == set(range(counts[number])), f"{name}: ids have gaps")
        same = np.zeros(counts[number], dtype=int)  # number by brute force, of each id
        same[ids[ids >= 0]] = wanted[ids >= 0]
        if order is not None:
            first = np.full(counts[number], np.iinfo(np.int64).max)
            np.minimum.at(first, ids[ids >= 0], order[ids >= 0])
            expect((first[1:] > first[:-1]).all(), f"{name}: regions are not in order")
        id_of = np.append(np.argsort(same), -1)
        if reference.point:  # hyper trees have none
            # The least id, not the least number.
            points = reference.point_regions(np.where(wanted >= 0, id_of[wanted], -1))
            there = found.points["number"]
            expect(np.array_equal(found.points[name], points[there]), f"{name}: other ids of points")
        if not table:
            continue
        part = reference.table(wanted, statistics)
        for column, values in part.items():
            values = np.arange(len(same)) if column == "RegionId" else values[same]
            wanted_table.setdefault(column, []).append(values)
        wanted_table.setdefault("Range", []).append(np.full(len(same), number))
    if not table:
        return
    wanted_table = {name: np.concatenate(parts) for name, parts in wanted_table.items()}
    if len(expected) == 1:
        del wanted_table["Range"]
    ranks = check.ranks()
    shares = [np.diff([rank * count // ranks for rank in range(ranks + 1)]) for count in counts]
    holders = [np.repeat(np.arange(ranks), share) for share in shares]
    if not sum(counts):
        return
    expect(sorted(found.table) == sorted(wanted_table), f"columns {sorted(found.table)}")
    held = np.bincount(found.holders)
    expect(np.array_equal(found.holders, np.concatenate(holders)), f"{held} rows on ranks")
    scale = np.ptp(reference.coordinates, axis=0).max()
    for column, values in wanted_table.items():
        mine = found.table[column]
        expect(mine.shape == values.shape, f"{column}: shape {mine.shape}")
        if column in ("RegionId", "Cells", "Points", "Range"):
            expect(np.issubdtype(mine.dtype, np.integer), f"{column} is {mine.dtype}")
            right = mine == values
        elif column == "Bounds" or column.endswith("imum"):
            right = mine == values
        elif column == "Centroid":
            right = np.abs(mine - values) <= loose * scale
        else:
            right = np.abs(mine - values) <= loose * np.abs(values) + 1e-300
        right = right.reshape(len(mine), -1).all(axis=1)
        if not right.all():
            row = int(np.flatnonzero(~right)[0])
            raise check.Wrong(f"{column}[{row}]: {mine[row]!r} instead of {values[row]!r}")


class Run:
    def __init__(self):
        self.hashes = {}
        self.failures = []
        self.runs = 0

    def look(self, name, label, proxy, judge, whole=None, make=Found):
        """Remember the first answer and hold the others to it; judge(found) compares with brute force.

        make  of the proxy, and of a whole if there is one: what the filter says"""
        # One schedule, detector and method after the other.
        detectors = proxy.GetProperty("Detector").Available
        proxy.Schedule = (2, 0, 2, 1, 2)[self.runs % 5]
        if proxy.Schedule != "Neighborhood":  # which is not for all detectors
            proxy.Detector = detectors[self.runs % len(detectors)]
        proxy.Method = (1, 0, 1)[self.runs % 3]
        proxy.AutoTune = self.runs % 16 == 7
        how = f"{name}: {label}, schedule {proxy.Schedule}, {proxy.Detector}, method {proxy.Method}"
        self.runs += 1
        try:
            found = make(proxy) if whole is None else make(proxy, whole)
            if RANK:
                return
            judge(found)
        except (check.Wrong, KeyError) as wrong:
            self.failures.append(f"{how}: {wrong}")
            return
        if name not in self.hashes:
            self.hashes[name] = found.digest()
            self.first = found
        elif found.digest() != self.hashes[name]:
            self.failures.append(f"{how}: {difference(self.first, found)}")


def properties(array, ranges, full, through, labels, statistics):
    result = {"ConnectThrough": through, "StatisticsArrays": [name for _, name in statistics]}
    if ranges is not None:
        result.update(
            ScalarConnectivity=1,
            Scalars=list(array),
            ScalarRange=[bound for pair in ranges for bound in pair],
            FullScalarConnectivity=full,
        )
    if labels:
        result.update(LabelConnectivity=1, Labels=["CELLS", "label"])
    return result


def run_case(run, name):
    whole, variants, array, ranges, full, through, labels, statistics, count = CASES[name]
    mesh = whole.get("mesh", "image")
    maker = trees if mesh == trees.MESH else regions
    maker.make(**whole)
    if RANK == 0:
        reference = maker.reference(**whole)
        inside = [reference.in_range(array, *pair, full) for pair in ranges] if ranges else [None]
        label = reference.cell["label"] if labels else None
        expected = [reference.regions(i, through, label) for i in inside]
        if count is not None:
            assert expected[0].max(initial=-1) + 1 == count, "brute force is wrong"
    loose = 0.1 if mesh.startswith("quadratic") else 1e-9
    # Cells do not stay where they are, so that what the table says of them depends on the cut.
    nudged = any(variant.get("nudge") for variant in variants)
    for variant in check.some(variants, run.runs):
        order = None
        numbers = np.arange(reference.count if RANK == 0 else 0)
        if variant.get("ids"):
            order = regions.global_ids(numbers)
        elif mesh in ("image", trees.MESH) or (
            mesh in flows.STRUCTURED_MESHES and "container" not in variant
        ):
            order = numbers
        part = check.held(
            maker.build(RANK, check.ranks(), whole, **variant), maker.extent(whole, **variant)
        )
        proxy = check.connectivity(
            part, **properties(array, ranges, full, through, labels, statistics)
        )

        def judge(found, order=order):
            if nudged:
                found.table = None
            compare(found, reference, expected, statistics, loose, order, not nudged)

        run.look(name, variant, proxy, judge)
        check.delete(proxy, part)


def others():
    """Data that do not come from `regions`: name, proxies to run on in turn, source of the whole, array of
    points, range, whether all points must be in range, and array of the table."""
    for name, (array, pair) in REAL.items():
        kind = vtkXMLMultiBlockDataReader if name.endswith(".vtm") else vtkXMLPUnstructuredGridReader
        reader = kind()
        reader.SetFileName(os.path.join(check.DATA, name))
        yield name, [lambda: (check.real_data(name),)], reader, ("POINTS", array), pair, 0, ("CELLS", array)

    def plain():
        return (simple.Wavelet(),)

    def with_ghosts():
        source = simple.Wavelet()
        return simple.GhostCellsGenerator(Input=source), source

    # ParaView 5.11's Connectivity finds 5,638 regions on one rank, which are the cells out of range.
    for full in (0, 1):
        yield (f"wavelet, all points {full}", [plain, with_ghosts], vtkRTAnalyticSource(),
               ("POINTS", "RTData"), (200.0, 1000.0), full, ("POINTS", "RTData"))


def run_other(run, name, makers, source, array, pair, full, measured):
    whole = expected = None
    if RANK == 0:
        source.Update()
        leaves = regions.leaves(source.GetOutput())
        whole = regions.Reference(*(leaf for leaf in leaves if leaf.GetNumberOfCells()))
        expected = [whole.regions(whole.in_range(array, *pair, full))]
    if RANK == 0 and name.startswith("wavelet"):
        count = (expected[0] >= 0).sum()
        assert expected[0].max() == 0 and count == (780 if full else 2362), "brute force is wrong"
    for index, make in enumerate(makers):
        data, *inputs = make()
        proxy = check.connectivity(data, **properties(array, (pair,), full, POINTS, False, (measured,)))
        # VTK is slow to measure cells: it does so in one thorough run, and runs are compared with each other.
        table = check.ranks() == 1 and check.thorough()
        run.look(name, f"variant {index}", proxy,
                 lambda found: compare(found, whole, expected, (measured,), 0.05, None, table),
                 whole)
        check.delete(proxy, data, *inputs)


class Leaves:
    """Leaves of hyper trees of all ranks as ParaView converts them, with their regions, in the order of
    their places: what Run.look needs. Collective; its members are on rank 0 alone."""

    points = None

    def __init__(self, proxy):
        convert = simple.HyperTreeGridToUnstructuredGrid(Input=proxy)
        convert.UpdatePipeline()
        cells = convert.GetClientSideObject().GetOutputDataObject(0)
        arrays = check.arrays(cells.GetCellData())
        bounds = np.array([cells.GetCell(n).GetBounds() for n in range(cells.GetNumberOfCells())])
        own = np.flatnonzero(arrays.get("vtkGhostType", np.zeros(len(bounds))) == 0)
        parts = MPI.COMM_WORLD.gather(
            (bounds.reshape(-1, 6)[own], arrays["RegionId"][own], arrays["Depth"][own])
        )
        self.table = regions.gathered(proxy.GetClientSideObject().GetOutputDataObject(1), "table")
        check.delete(convert)
        if RANK:
            return
        self.table.pop("rank", None)
        bounds, ids, depth = (np.concatenate(part) for part in zip(*parts))
        order = np.lexsort(bounds.T[::-1])
        self.cells = {"bounds": bounds[order], "RegionId": ids[order], "Depth": depth[order]}

    digest = Found.digest


def run_random_trees(run):
    """ParaView's own source of hyper trees, with and without its ghost cells."""
    size, depth = (5, 4, 3), 3
    for ghosts in (False, True):
        source = simple.HyperTreeGridRandom(Dimensions=[n + 1 for n in size], MaxDepth=depth)
        data = simple.HyperTreeGridGhostCellsGenerator(Input=source) if ghosts else source
        proxy = check.connectivity(
            data, **properties(("CELLS", "Depth"), ((2.0, 9.0),), 0, FACES, False, (("CELLS", "Depth"),))
        )

        def judge(found):
            bounds, ids = found.cells["bounds"], found.cells["RegionId"]
            # In cells of the finest level.
            low, high = bounds[:, ::2].min(axis=0), bounds[:, 1::2].max(axis=0)
            scale = np.array(size) * 2**depth / (high - low)
            places = [np.rint((bounds[:, end::2] - low) * scale).astype(int) for end in (0, 1)]
            whole = SimpleNamespace(
                arrays={}, at=places[0], flat=[False] * 3, places=lambda end: places[end]
            )
            inside = found.cells["Depth"] >= 2
            expected = trees.Reference(whole, corners=False).regions(inside, FACES)
            expect(inside.any() and not inside.all(), "an empty test")
            expect(regions.same_partition(ids, expected), "other regions")
            count = expected.max() + 1
            expect(np.array_equal(found.table["Cells"], np.bincount(ids[inside], minlength=count)), "sizes")

        run.look("hyper trees, random", f"ghosts {ghosts}", proxy, judge, make=Leaves)
        check.delete(proxy, data, *([source] if ghosts else []))


def main():
    run = Run()
    if check.chosen("hyper trees, random"):
        run_random_trees(run)
    for name, *how in others():
        if check.chosen(name):
            start = time.time()
            run_other(run, name, *how)
            print(f"{time.time() - start:6.2f} s  {name}", flush=True)
    for name in CASES:
        if check.chosen(name):
            start = time.time()
            run_case(run, name)
            print(f"{time.time() - start:6.2f} s  {name}", flush=True)
    if RANK == 0:
        check.write_hashes(run.hashes)
    assert not run.failures, "not the right regions:\n  " + "\n  ".join(run.failures)


if __name__ == "__main__":
    check.run(__file__)
