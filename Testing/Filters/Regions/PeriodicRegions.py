# SPDX-License-Identifier: BSD-3-Clause
"""Async Connectivity in periodic domains on this number of ranks: the regions of brute force on all combinations of
axes that are periodic, with both sides in the data or with a gap beyond the last column; cells and points, all ways to
connect, tiny and narrow grids, grids cut in any way, ghost cells, meshes, hierarchies. Writes hashes to hashes.json;
CompareHashes.py compares them between numbers of ranks.

Every rank runs this script (pvbatch --sym). Arguments, if any, are words: only cases with one of them in the name run,
and no hashes are written.
"""

import hashlib
import itertools
import sys

import numpy as np

import check
import grids
import regions
import tables
from grids import Grid
from meshes import empty_hierarchy
from mpi4py import MPI
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkIdList, vtkPoints
from vtkmodules.vtkCommonDataModel import (
    VTK_HEXAHEDRON,
    vtkDataSetAttributes,
    vtkMultiBlockDataSet,
    vtkUniformGrid,
    vtkUnstructuredGrid,
)

COMM = MPI.COMM_WORLD
RANK = COMM.rank
FACES, EDGES, POINTS = 0, 1, 2
SIDES, DOUBLE, GAP = 0, 1, 2  # an axis: not periodic; with both sides in the data; with a gap
OFFSETS = {
    most + 1: [d for d in itertools.product((-1, 0, 1), repeat=3) if 0 < sum(map(abs, d)) <= most + 1]
    for most in (FACES, EDGES, POINTS)
}


def widths(grid, axis, kind):
    """Of the elements along an axis: of the cells, and of the gap."""
    share = 1.0 if grid.kind == "image" else 0.75
    return np.append(grid.widths(axis), share * grid.widths(axis)[-1:] if kind == GAP else [])


def elements(cells, points, full, kinds):
    """Which elements are in range, z by y by x: the cells and the elements of gaps.

    cells, points  the values that select them; one of them is None
    """
    if points is None:
        return cells
    wrapped = points
    for axis, kind in enumerate(kinds):
        if kind == GAP:
            wrapped = np.concatenate([wrapped, np.take(wrapped, [0], 2 - axis)], 2 - axis)
    corners = []
    for corner in itertools.product((0, 1), repeat=3):
        part = wrapped
        for axis in range(3):
            n = part.shape[axis]
            if n > 1:
                part = np.take(part, np.arange(corner[axis], n - 1 + corner[axis]), axis)
        corners.append(part)
    return np.all(corners, 0) if full else np.any(corners, 0)


def hidden_elements(points, cells, kinds):
    """Which elements are hidden: at a hidden point; in gaps, also between cells that are all hidden."""
    at_points = elements(None, points, False, kinds)
    hidden = cells | at_points[tuple(slice(0, n) for n in cells.shape)]
    for axis, kind in enumerate(kinds):
        if kind == GAP:
            between = np.take(hidden, [-1], 2 - axis) & np.take(hidden, [0], 2 - axis)
            hidden = np.concatenate([hidden, between], 2 - axis)
    return hidden | at_points


def label(inside, kinds, through, values=None):
    """The number of the region of each element, -1 for none, by a search from element to element.

    values  of the elements: only equal ones are connected
    """
    labels = np.full(inside.shape, -1)
    shape = inside.shape
    count = 0
    for start in np.argwhere(inside):
        if labels[tuple(start)] >= 0:
            continue
        labels[tuple(start)] = count
        front = [tuple(start)]
        while front:
            here = front.pop()
            for offset in OFFSETS[through + 1]:
                there = []
                for n, (x, d) in enumerate(zip(here, offset)):
                    x += d
                    if kinds[2 - n] != SIDES:
                        x %= shape[n]
                    there.append(x)
                if all(0 <= x < m for x, m in zip(there, shape)):
                    there = tuple(there)
                    same = values is None or values[here] == values[there]
                    if inside[there] and labels[there] < 0 and same:
                        labels[there] = count
                        front.append(there)
        count += 1
    return labels


def free_part(occupied, ends, period, reaches_both):
    """(bounds, whether nothing is free) along an axis: of the cells `occupied`, on the side of the widest free part."""
    taken = np.flatnonzero(occupied)
    if not reaches_both:
        return (ends[taken[0]], ends[taken[-1] + 1]), False
    best, bounds = 0.0, None
    for one, next_ in zip(taken[:-1], taken[1:]):
        free = ends[next_] - ends[one + 1]
        if next_ > one + 1 and free > best + 1e-12:
            best, bounds = free, (ends[next_], ends[one + 1] + period)
    return ((ends[0], ends[0] + period), True) if bounds is None else (bounds, False)


class Reference:
    """The regions of cells, their ids at points, and their table."""

    def __init__(self, grid, inside, kinds, through, values=None):
        if through == EDGES and 1 in (len(e) for e in grid.ends):
            through = FACES  # cells of a plane share edges and points only
        labels = label(inside, kinds, through, values)
        labels = labels[tuple(slice(0, n) for n in reversed(grid.cells))]  # without gaps
        found, first = np.unique(labels, return_index=True)
        order = [n for n in found[np.argsort(first)] if n >= 0]
        number = {n: i for i, n in enumerate(order)}
        number[-1] = -1
        self.cells = np.vectorize(number.get, otypes=[int])(labels)
        self.count = len(order)
        # The least id of the cells that have a point or an image of it.
        shape = tuple(len(e) for e in reversed(grid.ends))
        none = np.iinfo(int).max
        points = np.full(shape, none)
        users = [set() for _ in range(points.size)]
        images = np.arange(points.size).reshape(shape)
        for axis, kind in enumerate(kinds):
            if kind == DOUBLE:
                last = [slice(None)] * 3
                first = [slice(None)] * 3
                last[2 - axis], first[2 - axis] = -1, 0
                images[tuple(last)] = images[tuple(first)]
        flat = points.ravel()
        for place in np.argwhere(self.cells >= 0):
            region = self.cells[tuple(place)]
            for corner in itertools.product(*(((0,) if n == 1 else (0, 1)) for n in shape)):
                point = images[tuple(place + corner)]
                flat[point] = min(flat[point], region)
                users[point].add(region)
        self.points = np.where(points == none, -1, points)
        for at in range(points.size):
            self.points.ravel()[at] = self.points.ravel()[images.ravel()[at]]
        self.table(grid, kinds, users)

    def table(self, grid, kinds, users):
        centers = grid.centers()
        volumes = np.ones(tuple(reversed(grid.cells)))
        for axis in range(3):
            shape = [1, 1, 1]
            shape[2 - axis] = -1
            volumes = volumes * grid.widths(axis).reshape(shape)
        rows = []
        for region in range(self.count):
            mine = self.cells == region
            row = {
                "Cells": mine.sum(),
                "Points": sum(region in ofs for ofs in users),
                "Measure": volumes[mine].sum(),
                "Centroid": np.zeros(3),
                "Bounds": np.zeros(6),
                "Wraps": np.zeros(3, int),
            }
            for axis in range(3):
                ends, n = grid.ends[axis], grid.cells[axis]
                x, weight = centers[axis][mine], volumes[mine]
                occupied = mine.any(tuple(2 - a for a in range(3) if a != axis))
                if kinds[axis] == SIDES:
                    taken = np.flatnonzero(occupied)
                    last = taken[-1] if grid.flat(axis) else taken[-1] + 1
                    row["Bounds"][2 * axis : 2 * axis + 2] = ends[taken[0]], ends[last]
                    row["Centroid"][axis] = (x * weight).sum() / weight.sum()
                    continue
                period = widths(grid, axis, kinds[axis]).sum()
                both = occupied[0] and occupied[n - 1]
                bounds, wraps = free_part(occupied, ends, period, both)
                row["Bounds"][2 * axis : 2 * axis + 2] = bounds
                row["Wraps"][axis] = wraps
                if wraps:
                    row["Centroid"][axis] = sum(bounds) / 2
                    continue
                x = np.where(x < bounds[0], x + period, x)
                mean = (x * weight).sum() / weight.sum()
                row["Centroid"][axis] = mean - period if mean >= ends[0] + period else mean
            rows.append(row)
        self.rows = rows


def gathered(comm, grid, data, attributes, more):
    """The array RegionId of the whole grid, on all ranks. Copies must be equal."""
    shape = tuple(len(e) if more else n for e, n in zip(reversed(grid.ends), reversed(grid.cells)))
    whole = np.full(shape, -7)
    parts = []
    for leaf in grids.leaves(data):
        extent = leaf.GetExtent()
        lo = [extent[2 * a] - grid.first[a] for a in range(3)]
        hi = [extent[2 * a + 1] - grid.first[a] + (1 if more or grid.flat(a) else 0) for a in range(3)]
        values = vtk_to_numpy(getattr(leaf, attributes)().GetArray("RegionId"))
        parts.append((lo, hi, values.copy()))
    for lo, hi, values in (part for ofs in comm.allgather(parts) for part in ofs):
        box = tuple(slice(lo[a], hi[a]) for a in (2, 1, 0))
        known = whole[box]
        values = values.reshape(known.shape)
        assert ((known == -7) | (known == values)).all(), "copies have different regions"
        whole[box] = values
    assert not (whole == -7).any(), "something is on no rank"
    return whole


def table_of(comm, proxy):
    """The rows of all ranks."""
    mine = tables.columns_of(proxy.GetClientSideObject().GetOutputDataObject(1))
    return {
        name: np.concatenate([part[name] for part in parts])
        for parts in [comm.allgather(mine)]
        for name in mine
    }


# Of a hierarchy: boxes of cells of each level. Finer cells lie on a side in x and in z.
LEVELS = (
    ((0, 3, 0, 5, 0, 3), (4, 7, 0, 2, 0, 3), (4, 7, 3, 5, 0, 3)),
    ((10, 15, 4, 7, 0, 3), (4, 9, 4, 7, 2, 7)),
)
CASES = {}
HASHES = {}


def case(name):
    def add(function):
        CASES[name] = function
        return function

    return add


def grid_of(kind, sizes, seed, first=(0, 0, 0), start=(0.0, 0.0, 0.0)):
    """A grid with cells of a width, or of widths by chance. Sizes are numbers of points."""
    rng = np.random.default_rng(seed)
    ends = []
    for n, x in zip(sizes, start):
        steps = np.full(n - 1, 0.5) if kind == "image" else 0.25 * rng.integers(1, 5, n - 1)
        ends.append(x + np.concatenate([[0.0], np.cumsum(steps)]))
    return Grid(kind, ends, first)


def values_of(grid, seed, share, kinds, at_points):
    """Values in [0, 1], of which a share is at least 0.5; periodic where both sides are in the data."""
    rng = np.random.default_rng(seed)
    shape = tuple(len(e) if at_points else n for e, n in zip(reversed(grid.ends), reversed(grid.cells)))
    values = np.where(rng.random(shape) < share, 0.75, 0.25)
    for axis, kind in enumerate(kinds):
        if at_points and kind == DOUBLE:
            last = [slice(None)] * 3
            last[2 - axis] = slice(-1, None)
            values[tuple(last)] = np.take(values, [0], 2 - axis)
    return values


def pieces_of(grid, how):
    """(data set of this rank, extent)"""
    if how == "blocks":  # more than ranks
        boxes = grids.cut((0, 0, 0), grid.cells, min(5, int(np.prod(grid.cells))), axis=1)
        return boxes[RANK :: COMM.size]
    if how == "bands":  # each has all columns along x
        ends = [grid.cells[1] * n // 4 for n in range(5)]
        boxes = [((0, a, 0), (grid.cells[0], b, grid.cells[2])) for a, b in zip(ends, ends[1:]) if a < b]
        return boxes[RANK :: COMM.size]
    if how == "slabs" or min(grid.cells) * 4 <= COMM.size or np.prod(grid.cells) < 64:
        axis = int(np.argmax(grid.cells))
        ends = [grid.cells[axis] * r // COMM.size for r in range(COMM.size + 1)]
        lo, hi = [0, 0, 0], list(grid.cells)
        lo[axis], hi[axis] = ends[RANK : RANK + 2]
        return [] if lo[axis] == hi[axis] else [(tuple(lo), tuple(hi))]
    box = grids.boxes_of(grid, "cut", COMM.size)[RANK]
    return [] if box is None else [box]


def held(grid, how, ghosts, **arrays):
    boxes = pieces_of(grid, how)
    if how in ("blocks", "bands"):
        data = vtkMultiBlockDataSet()
        for n, box in enumerate(boxes):
            data.SetBlock(n * COMM.size + RANK, grid.piece(box, ghosts, **arrays))
        return check.held(data)
    data = grid.piece(boxes[0], ghosts, **arrays) if boxes else grid.empty()
    return check.held(data, grid.extent())


def period_of(grid, kinds):
    return [
        widths(grid, axis, kind).sum() if kind != SIDES else 0.0 for axis, kind in enumerate(kinds)
    ]


def look(name, grid, kinds, at_points, full, through, share, seed, how="cut", ghosts=0, labels=None, values=None,
         hide=None):
    if values is None:
        values = values_of(grid, seed, share, kinds, at_points)
    arrays = {("point_arrays" if at_points else "cell_arrays"): [("value", values)]}
    if labels is not None:
        arrays["cell_arrays"].append(("label", labels))
    if hide is not None:
        flags = (hide[0] * vtkDataSetAttributes.HIDDENPOINT).astype(np.uint8)
        arrays["point_arrays"].append((vtkDataSetAttributes.GhostArrayName(), flags))
        arrays["hidden"] = hide[1]
    data = held(grid, how, ghosts, **arrays)
    proxy = check.connectivity(
        data,
        ScalarConnectivity=1,
        Scalars=["POINTS" if at_points else "CELLS", "value"],
        ScalarRange=[0.5, 1.0],
        FullScalarConnectivity=int(full),
        ConnectThrough=through,
        Periodic=[int(kind != SIDES) for kind in kinds],
        Period=period_of(grid, kinds),
        **({} if labels is None else {"LabelConnectivity": 1, "Labels": ["CELLS", "label"]}),
    )
    proxy.UpdatePipeline()
    output = proxy.GetClientSideObject().GetOutputDataObject(0)
    cells = gathered(COMM, grid, output, "GetCellData", 0)
    points = gathered(COMM, grid, output, "GetPointData", 1)
    table = table_of(COMM, proxy)
    inside = values >= 0.5
    key = hashlib.sha256(cells.tobytes() + points.tobytes())
    for column in sorted(table):
        key.update(column.encode() + table[column].tobytes())
    HASHES.setdefault(name, key.hexdigest())
    assert HASHES[name] == key.hexdigest(), f"{name}: other bits, cut as {how}"
    check.delete(proxy, data)
    if RANK:
        return
    selected = elements(None if at_points else inside, inside if at_points else None, full, kinds)
    if hide is not None:
        selected &= ~hidden_elements(*hide, kinds)
    reference = Reference(grid, selected, kinds, through, labels)
    what = f"{name}, {how}, ghosts {ghosts}"
    assert np.array_equal(cells, reference.cells), f"{what}: other regions"
    assert np.array_equal(points, reference.points), f"{what}: other ids at points"
    assert len(table["RegionId"]) == reference.count, f"{what}: {len(table['RegionId'])} rows"
    assert ("Wraps" in table) == any(kinds), what
    for column in ("Cells", "Points", "Measure", "Centroid", "Bounds", "Wraps"):
        if column not in table:
            continue
        for row, (mine, wanted) in enumerate(zip(table[column], (r[column] for r in reference.rows))):
            assert np.allclose(mine, wanted, rtol=1e-12, atol=1e-12), (
                f"{what}: {column}[{row}] is {mine}, not {wanted}")


@case("cells")
def cells():
    seed = 100
    for kinds in itertools.product((SIDES, DOUBLE), repeat=3):
        for through, share in ((FACES, 0.32), (EDGES, 0.15), (POINTS, 0.1)):
            kind = ("image", "rectilinear")[seed % 2]
            grid = grid_of(kind, (9, 8, 7), seed, first=(3, -2, 5))
            how = ("cut", "slabs", "blocks")[seed % 3]
            if kind == "rectilinear" and how == "blocks":
                how = "cut"
            look(f"cells {kinds} {through}", grid, kinds, False, False, through, share, seed, how, seed % 2)
            look(f"cells {kinds} {through}", grid, kinds, False, False, through, share, seed, "slabs")
            seed += 1


@case("points")
def points():
    seed = 200
    for kinds in itertools.product((SIDES, DOUBLE, GAP), repeat=3):
        through = seed % 3
        full = seed % 2
        share = (0.03, 0.75)[full] if through != FACES else (0.04, 0.8)[full]
        kind = ("image", "rectilinear")[seed // 2 % 2]
        grid = grid_of(kind, (8, 7, 6), seed, first=(0, 1, -4))
        how = ("cut", "slabs")[seed % 2]
        look(f"points {kinds} {through} {full}", grid, kinds, True, full, through, share, seed, how, seed // 2 % 2)
        seed += 1


@case("bands")
def bands():
    """Data sets that have all columns beside a gap, with ghost cells or without: their gaps overlap."""
    grid = Grid("image", [np.arange(12.0), np.arange(21.0), [0.0]])
    values = np.zeros((1, 21, 12))
    values[0, 4:17, [0, 11]] = 1.0
    values[0, 4:6, 10] = values[0, 15:17, 1] = 1.0  # one cell at each end, on opposite sides
    for through in (FACES, POINTS):
        for ghosts in (0, 1, 2):
            look(f"bands {through}", grid, (GAP, SIDES, SIDES), True, True, through, 0, 0, "bands", ghosts,
                 values=values)
    for seed, kinds in enumerate(((GAP, SIDES, SIDES), (GAP, GAP, SIDES), (GAP, DOUBLE, GAP)), 250):
        grid = grid_of("image", (7, 9, 4), seed)
        for through in (FACES, EDGES, POINTS):
            for ghosts in (1, 2):
                look(f"bands {kinds} {through}", grid, kinds, True, True, through, 0.8, seed, "bands", ghosts)


@case("equal parts")
def equal_parts():
    """Of free parts that are equally wide, apart from rounding, the lowest one is between the bounds."""
    grid = Grid("image", [np.arange(11) * 0.1, np.arange(6) * 0.1, [0.0]])
    values = np.zeros((1, 6, 11))
    values[0, [0, -1]] = 1.0  # the gap along y connects all columns
    values[0, 1, [0, 1, 3, 4, 6, 7, 9, 10]] = 1.0
    for how in ("cut", "slabs"):
        look("equal parts", grid, (DOUBLE, GAP, SIDES), True, True, FACES, 0, 0, how, values=values)


@case("hidden")
def hidden():
    """A gap is closed where points beside it are hidden, and between hidden cells."""
    grid = Grid("image", [np.arange(12.0), np.arange(21.0), [0.0]])
    values = np.zeros((1, 21, 12))
    values[0, 4:17, [0, 11]] = 1.0
    values[0, 4:6, 10] = values[0, 15:17, 1] = 1.0
    none = np.zeros(values.shape, bool)
    for name, points, cells, full, wanted in (
        ("nothing", (), (), 1, 1),
        ("points on both sides", (0, 11), (), 1, 2),
        ("points of the first column", (0,), (), 1, 2),
        ("points of the last column", (11,), (), 1, 2),
        ("points, with any point of a cell", (0, 11), (), 0, 2),
        ("cells on both sides", (), (0, 10), 1, 2),
        ("cells of the first column", (), (0,), 1, 1),
    ):
        for how, ghosts in (("bands", 0), ("bands", 1), ("cut", 0)):
            flags = none.copy()
            flags[0, 9:12, list(points)] = True
            hidden_cells = np.zeros(tuple(reversed(grid.cells)), bool)
            hidden_cells[0, 9:12, list(cells)] = True
            data = held(grid, how, ghosts, point_arrays=[
                ("value", values), ("vtkGhostType", (flags * vtkDataSetAttributes.HIDDENPOINT).astype(np.uint8))],
                hidden=hidden_cells)
            proxy = check.connectivity(
                data, ScalarConnectivity=1, Scalars=["POINTS", "value"], ScalarRange=[0.5, 1.0],
                FullScalarConnectivity=full, ConnectThrough=FACES, Periodic=[1, 0, 0], Period=[12.0, 0, 0])
            proxy.UpdatePipeline()
            rows = len(table_of(COMM, proxy)["RegionId"])
            assert rows == wanted, f"hidden {name}, {how}, ghosts {ghosts}: {rows} regions, not {wanted}"
            check.delete(proxy, data)
    for seed, kinds in enumerate(((GAP, SIDES, SIDES), (GAP, GAP, SIDES), (GAP, GAP, GAP), (DOUBLE, GAP, GAP)), 270):
        grid = grid_of("image", (6, 7, 5), seed)
        rng = np.random.default_rng(seed)
        for full, share in ((0, 0.05), (1, 0.85)):
            hide = (rng.random((5, 7, 6)) < 0.05, rng.random((4, 6, 5)) < 0.3)
            for how, ghosts in (("cut", 0), ("bands", 1)):
                look(f"hidden {kinds} {full}", grid, kinds, True, full, FACES, share, seed, how, ghosts, hide=hide)


@case("decreasing")
def decreasing():
    """Where coordinates decrease, the regions are those of the mirrored grid, of which brute force tells them."""
    seed, reaching = 290, 0
    for kinds in ((GAP, SIDES, SIDES), (GAP, GAP, SIDES), (SIDES, GAP, DOUBLE)):
        for axes in ((1,), (0, 2)):
            grid = grid_of("rectilinear", (7, 6, 5), seed)
            values = values_of(grid, seed, 0.9, kinds, True)
            name = f"decreasing {kinds} {axes}"
            look(f"{name}, mirrored", grid, kinds, True, True, FACES, 0, 0, values=values)
            mirrored = Grid("rectilinear", [-e if a in axes else e for a, e in enumerate(grid.ends)])
            results = []
            for one, how in ((grid, "cut"), (mirrored, "cut"), (mirrored, "slabs")):
                data = held(one, how, 0, point_arrays=[("value", values)])
                proxy = check.connectivity(
                    data, ScalarConnectivity=1, Scalars=["POINTS", "value"], ScalarRange=[0.5, 1.0],
                    FullScalarConnectivity=1, ConnectThrough=FACES, Periodic=[int(kind != SIDES) for kind in kinds],
                    Period=period_of(grid, kinds))
                proxy.UpdatePipeline()
                output = proxy.GetClientSideObject().GetOutputDataObject(0)
                cells = gathered(COMM, one, output, "GetCellData", 0)
                points = gathered(COMM, one, output, "GetPointData", 1)
                results.append((cells, points, table_of(COMM, proxy)))
                check.delete(proxy, data)
            cells, points, table = results[0]
            for other, others, row in results[1:]:
                assert np.array_equal(cells, other) and np.array_equal(points, others), f"{name}: other regions"
                for column in ("Cells", "Points", "Wraps", "Measure"):
                    assert np.allclose(table[column], row[column], rtol=1e-12), f"{name}: other {column}"
                for axis in range(3):
                    lo, hi = table["Bounds"][:, 2 * axis], table["Bounds"][:, 2 * axis + 1]
                    wanted = np.stack([-hi, -lo] if axis in axes else [lo, hi], 1)
                    shift = row["Bounds"][:, 2 * axis : 2 * axis + 2] - wanted
                    period = period_of(grid, kinds)[axis]
                    if period:  # an image of the region
                        shift -= period * np.round(shift / period)
                    free = table["Wraps"][:, axis] == 0
                    assert np.allclose(shift[free], 0, atol=1e-12), f"{name}: other bounds along axis {axis}"
                    sign = -1 if axis in axes else 1
                    shift = row["Centroid"][:, axis] - sign * table["Centroid"][:, axis]
                    if period:
                        shift -= period * np.round(shift / period)
                    assert np.allclose(shift[free], 0, atol=1e-12), f"{name}: other centroids along axis {axis}"
                    reaching += period > 0 and axis in axes and np.any(
                        (row["Bounds"][:, 2 * axis + 1] - row["Bounds"][:, 2 * axis] >= period) | (row["Wraps"][:, axis] > 0))
            seed += 1
    assert reaching > 3, f"{reaching} regions go on at a side where coordinates decrease"


@case("narrow")
def narrow():
    """One and two cells along an axis, planes and rows."""
    seed = 300
    for sizes in ((2, 5, 4), (3, 5, 2), (5, 3, 3), (2, 2, 2), (6, 5, 1), (2, 7, 1), (9, 1, 1), (1, 6, 3), (2, 1, 1)):
        for through in (FACES, EDGES, POINTS):
            for at_points in (False, True):
                choices = (SIDES, DOUBLE, GAP) if at_points else (SIDES, DOUBLE)
                rng = np.random.default_rng(seed)
                kinds = tuple(int(rng.choice(choices)) if n > 1 else SIDES for n in sizes)
                full = seed % 2
                share = (0.15, 0.8)[full] if at_points else 0.4
                how = ("cut", "slabs")[seed % 2]
                look(f"narrow {sizes} {kinds} {through} {at_points}", grid_of("image", sizes, seed), kinds,
                     at_points, full, through, share, seed, how)
                seed += 1


@case("far")
def far():
    """Coordinates that are large beside the cells do not join what is apart."""
    grid = grid_of("image", (12, 9, 1), 1, start=(1e6, 4e6, 0.0))
    for kinds in ((DOUBLE, SIDES, SIDES), (GAP, DOUBLE, SIDES)):
        look(f"far {kinds}", grid, kinds, True, True, FACES, 0.8, 5)


def hexahedra(grid, cells, shift=0.0):
    """Cells of a grid as hexahedra; the points of upper sides are moved by a rounding error."""
    data = vtkUnstructuredGrid()
    number = {}
    points = vtkPoints()
    points.SetDataTypeToDouble()
    ids = vtkIdList()
    data.Allocate(len(cells))
    numbers = []
    for i, j, k in cells:
        ids.Reset()
        for x, y, z in ((0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)):
            at = (i + x, j + y, k + z)
            if at not in number:
                place = [e[n] + (shift if n == len(e) - 1 else 0) for e, n in zip(grid.ends, at)]
                number[at] = points.InsertNextPoint(place)
            ids.InsertNextId(number[at])
        data.InsertNextCell(VTK_HEXAHEDRON, ids)
        numbers.append((k * grid.cells[1] + j) * grid.cells[0] + i)
    data.SetPoints(points)
    return data, np.array(numbers, int)


def compare_mesh(name, grid, kinds, through, proxy, inside):
    """A mesh has the regions of the grid that its cells are of."""
    proxy.UpdatePipeline()
    parts = []
    for leaf in grids.leaves(proxy.GetClientSideObject().GetOutputDataObject(0)):
        parts.append((vtk_to_numpy(leaf.GetCellData().GetArray("number")).copy(),
                      vtk_to_numpy(leaf.GetCellData().GetArray("RegionId")).copy()))
    table = table_of(COMM, proxy)
    found = np.full(inside.size, -7)
    for numbers, ids in (part for ofs in COMM.allgather(parts) for part in ofs):
        found[numbers] = ids
    key = hashlib.sha256(found.tobytes())
    for column in sorted(table):
        key.update(column.encode() + table[column].tobytes())
    HASHES.setdefault(name, key.hexdigest())
    assert HASHES[name] == key.hexdigest(), f"{name}: other bits"
    if RANK:
        return
    reference = Reference(grid, inside, kinds, through)
    wanted = reference.cells.ravel()
    pairs = {(a, b) for a, b in zip(found, wanted)}
    assert len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs}), f"{name}: other regions"
    same = dict(pairs)
    for row, region in enumerate(table["RegionId"]):
        for column in ("Cells", "Points", "Measure", "Centroid", "Bounds", "Wraps"):
            mine, right = table[column][row], reference.rows[same[region]][column]
            assert np.allclose(mine, right, rtol=1e-6, atol=1e-6), (
                f"{name}: {column} of {region} is {mine}, not {right}")


@case("meshes")
def meshes():
    seed = 400
    for sizes in ((6, 5, 4), (3, 4, 2), (2, 5, 3)):
        for kinds in ((DOUBLE, SIDES, SIDES), (SIDES, DOUBLE, DOUBLE), (DOUBLE, DOUBLE, DOUBLE)):
            for through in (FACES, EDGES, POINTS):
                grid = grid_of("rectilinear", sizes, seed)
                values = values_of(grid, seed, 0.35 if through == FACES else 0.2, kinds, False)
                rng = np.random.default_rng(seed)
                cells = [tuple(reversed(at)) for at in np.ndindex(values.shape)]
                owner = rng.integers(0, 3, len(cells))
                blocks = vtkMultiBlockDataSet() if seed % 2 else None
                for block in range(3):
                    if (block if blocks else 0) % COMM.size != RANK:
                        continue
                    mine = [c for c, o in zip(cells, owner) if o == block or not blocks]
                    data, numbers = hexahedra(grid, mine, 1e-9)
                    for name, array in (("value", values.ravel()[numbers]), ("number", numbers)):
                        array = numpy_to_vtk(np.ascontiguousarray(array), deep=1)
                        array.SetName(name)
                        data.GetCellData().AddArray(array)
                    if blocks:
                        blocks.SetBlock(block, data)
                if blocks is None and RANK:
                    data = vtkUnstructuredGrid()
                source = check.held(blocks if blocks else data)
                proxy = check.connectivity(
                    source, ScalarConnectivity=1, Scalars=["CELLS", "value"], ScalarRange=[0.5, 1.0],
                    ConnectThrough=through, Periodic=[int(kind == DOUBLE) for kind in kinds])
                compare_mesh(f"mesh {sizes} {kinds} {through}", grid, kinds, through, proxy, values >= 0.5)
                check.delete(proxy, source)
                seed += 1


def compare_curved(name, grid, kinds, inside, through=FACES):
    """A curvilinear grid, and a mesh, in parts with points of their own, have the regions of the grid."""
    count = int(np.prod(grid.cells))
    numbers = np.arange(count).reshape(inside.shape)
    curved = Grid("structured", grid.ends)
    arrays = [("value", inside.astype(float)), ("number", numbers)]
    mesh = vtkMultiBlockDataSet()
    cells = [tuple(reversed(at)) for at in np.ndindex(inside.shape)]
    owner = np.random.default_rng(count).integers(0, 3, count)
    for block in range(RANK, 3, COMM.size):
        data, mine = hexahedra(grid, [c for c, o in zip(cells, owner) if o == block])
        for key, array in arrays:
            array = numpy_to_vtk(np.ascontiguousarray(array.ravel()[mine]), deep=1)
            array.SetName(key)
            data.GetCellData().AddArray(array)
        mesh.SetBlock(block, data)
    for kind, source in (("curvilinear", held(curved, "slabs", 0, cell_arrays=arrays)),
                         ("curvilinear blocks", held(curved, "blocks", 0, cell_arrays=arrays)),
                         ("mesh", check.held(mesh))):
        proxy = check.connectivity(
            source, ScalarConnectivity=1, Scalars=["CELLS", "value"], ScalarRange=[0.5, 1.0], ConnectThrough=through,
            Periodic=[int(k == DOUBLE) for k in kinds])
        compare_mesh(f"{name} {kind} {kinds} {through}", grid, kinds, through, proxy, inside)
        check.delete(proxy, source)


@case("far meshes")
def far_meshes():
    grid = grid_of("image", (6, 5, 4), 450, start=(1e6, 4e6, 0.0))
    for kinds in ((DOUBLE, SIDES, SIDES), (DOUBLE, DOUBLE, SIDES)):
        for through, share in ((FACES, 0.35), (POINTS, 0.2)):
            inside = np.random.default_rng(450).random(tuple(reversed(grid.cells))) < share
            compare_curved("far", grid, kinds, inside, through)


@case("thin layers")
def thin_layers():
    """Layers that are thin beside the period are not joined at the sides."""
    grid = Grid("image", [np.arange(7) * 1e5, np.arange(3) * 1e5, 0.5 * np.arange(7)])
    inside = np.zeros((6, 2, 6), bool)
    inside[[0, 2, 4]] = True
    compare_curved("thin", grid, (DOUBLE, SIDES, SIDES), inside)
    compare_curved("thin", grid, (DOUBLE, DOUBLE, SIDES), inside)


@case("rounded sides")
def rounded_sides():
    """Points of opposite sides may differ by a rounding error along the sides."""
    grid = Grid("structured", [np.arange(7.0), np.arange(4.0), np.arange(3.0)])
    values = np.zeros((2, 3, 6))
    values[0, 1, [0, 5]] = 1.0
    for shift, wanted in ((0.0, 1), (1e-15, 1), (1e-9, 2)):
        data = grid.piece(((0, 0, 0), grid.cells), 0, cell_arrays=[("value", values)])
        points = vtk_to_numpy(data.GetPoints().GetData())
        points[points[:, 0] == 6.0, 1:] += shift
        source = check.held(data if RANK == 0 else grid.empty(), grid.extent())
        proxy = check.connectivity(
            source, ScalarConnectivity=1, Scalars=["CELLS", "value"], ScalarRange=[0.5, 1.0], ConnectThrough=FACES,
            Periodic=[1, 0, 0])
        proxy.UpdatePipeline()
        rows = len(table_of(COMM, proxy)["RegionId"])
        assert rows == wanted, f"rounded sides, moved by {shift}: {rows} regions"
        check.delete(proxy, source)


@case("labels")
def labels():
    for seed, kinds in enumerate(((DOUBLE, SIDES, SIDES), (DOUBLE, DOUBLE, DOUBLE)), 500):
        for through in (FACES, POINTS):
            grid = grid_of("image", (7, 6, 5), seed)
            values = np.random.default_rng(seed).integers(0, 3, tuple(reversed(grid.cells)))
            look(f"labels {kinds} {through}", grid, kinds, False, False, through, 0.6, seed, labels=values)


def regions_of(proxy):
    """The ids of the regions in the output, of all ranks."""
    proxy.UpdatePipeline()
    ids = set()
    for leaf in grids.leaves(proxy.GetClientSideObject().GetOutputDataObject(0)):
        ids.update(vtk_to_numpy(leaf.GetCellData().GetArray("RegionId")).tolist())
    return sorted(set().union(*COMM.allgather(ids)) - {-1})


@case("seeds")
def seeds():
    """A point of a side is the same point on the other side; distances go through the sides."""
    values = np.zeros((3, 4, 8))
    values[1, 1, 0] = values[1, 2, 7] = values[1, 1, 4] = 1.0  # regions 0, 2 and 1, through faces
    for kind, how in (("image", "cut"), ("image", "slabs"), ("structured", "cut"), ("structured", "slabs")):
        grid = Grid(kind, grid_of("image", (9, 5, 4), 0).ends)
        data = held(grid, how, 0, cell_arrays=[("value", values)])
        proxy = check.connectivity(
            data, ScalarConnectivity=1, Scalars=["CELLS", "value"], ScalarRange=[0.5, 2.0], ConnectThrough=FACES,
            Periodic=[1, 0, 0], ExtractionMode=1, SeedIds=[1 * 45 + 2 * 9 + 8])
        assert regions_of(proxy) == [0, 2], f"seeds, {how}: a point of the last column has {regions_of(proxy)}"
        proxy.SeedIds = [1 * 45 + 2 * 9 + 0]
        check.touch(proxy)
        assert regions_of(proxy) == [0, 2], f"seeds, {how}: a point of the first column has {regions_of(proxy)}"
        proxy.SeedIds = [1 * 45 + 1 * 9 + 8]
        check.touch(proxy)
        assert regions_of(proxy) == [0], f"seeds, {how}: a point beside the first cell has {regions_of(proxy)}"
        proxy.ExtractionMode, proxy.SeedIds = 2, [1 * 32 + 2 * 8 + 7]
        check.touch(proxy)
        assert regions_of(proxy) == [2], f"seeds, {kind}, {how}: the last cell of a row has {regions_of(proxy)}"
        proxy.ExtractionMode = 6
        proxy.ClosestPoint = [3.9, 0.4, 0.75]
        check.touch(proxy)
        assert regions_of(proxy) == [0], f"seeds, {how}: {regions_of(proxy)} is nearest through the side"
        check.delete(proxy, data)


def expect_reused(proxy, wanted, what):
    regions_of(proxy)
    field = proxy.GetClientSideObject().GetOutputDataObject(0).GetFieldData()
    reused = field.GetArray("AsyncConnectivity ReusedDomain").GetValue(0)
    assert reused == wanted, f"kept: {what}: ReusedDomain is {reused}"


@case("kept")
def kept():
    """What is kept of a domain is used again only if the axes continue in the same way."""
    grid = grid_of("image", (9, 8, 7), 600)
    data = held(grid, "cut", 0, point_arrays=[("value", values_of(grid, 600, 0.8, (DOUBLE,) * 3, True))])
    proxy = check.connectivity(
        data, ScalarConnectivity=1, Scalars=["POINTS", "value"], ScalarRange=[0.5, 1.0], FullScalarConnectivity=1)
    for periodic, period, wanted in (
        ((0, 0, 0), (0, 0, 0), 0), ((1, 0, 0), (4.0, 0, 0), 0), ((1, 0, 0), (4.0, 0, 0), 1),
        ((1, 0, 0), (4.5, 0, 0), 0), ((1, 0, 0), (4.5, 0, 0), 1), ((1, 1, 0), (4.5, 3.5, 0), 0),
        ((0, 1, 0), (4.5, 3.5, 0), 0), ((0, 0, 0), (0, 0, 0), 0),
    ):
        proxy.Periodic, proxy.Period = periodic, period
        check.touch(proxy)
        expect_reused(proxy, wanted, f"{periodic}, {period}")
    check.delete(proxy, data)
    # With point data the widths of cells are known, and thus which coordinates are those of a side.
    grid = Grid("rectilinear", [np.arange(9) * 1e5, np.arange(5.0), np.arange(3.0)])
    data = held(grid, "cut", 0, point_arrays=[("point", np.ones((3, 5, 9)))],
                cell_arrays=[("cell", np.ones((2, 4, 8)))])
    proxy = check.connectivity(
        data, ScalarConnectivity=1, Scalars=["CELLS", "cell"], ScalarRange=[0.5, 1.0], Periodic=[1, 0, 0])
    for place, wanted in (("CELLS", 0), ("CELLS", 1), ("POINTS", 0), ("POINTS", 1), ("CELLS", 0)):
        proxy.Scalars = [place, "cell" if place == "CELLS" else "point"]
        check.touch(proxy)
        expect_reused(proxy, wanted, f"scalars of {place}")
    check.delete(proxy, data)


@case("hierarchy")
def hierarchy():
    """Cells of an AMR hierarchy touch through the sides, whatever their levels."""
    first, total = {}, 0
    for level, boxes in enumerate(LEVELS):
        for index, box in enumerate(boxes):
            first[level, index] = total
            total += int(np.prod([box[2 * a + 1] - box[2 * a] + 1 for a in range(3)]))
    low, level_of = np.zeros((total, 3), int), np.zeros(total, int)  # in units of the finest cells
    for (level, index), number in first.items():
        box = LEVELS[level][index]
        shape = [box[2 * a + 1] - box[2 * a] + 1 for a in range(3)]
        where = np.unravel_index(np.arange(int(np.prod(shape))), shape[::-1])[::-1]
        for a in range(3):
            low[number : number + len(where[a]), a] = (where[a] + box[2 * a]) * 2 // 2**level
        level_of[number : number + len(where[0])] = level
    high = low + (2 // 2**level_of)[:, None]
    covered = np.zeros(total, bool)
    for box in LEVELS[1]:
        lo, hi = np.array(box[::2]), np.array(box[1::2]) + 1
        covered |= (level_of < 1) & (low >= lo).all(axis=1) & (high <= hi).all(axis=1)
    inside = (np.random.default_rng(700).random(total) < 0.12) & ~covered
    members = np.flatnonzero(inside)
    around = np.array([16, 12, 8])
    for through, periodic in itertools.product((FACES, EDGES, POINTS), ((0, 0, 0), (1, 0, 0), (1, 1, 1))):
        touch = np.zeros((len(members),) * 2, bool)
        for step in itertools.product(*((-1, 0, 1) if p else (0,) for p in periodic)):
            shift = np.array(step) * around
            overlap = np.minimum(high[members, None], high[None, members] + shift) - np.maximum(
                low[members, None], low[None, members] + shift)
            touch |= (overlap >= 0).all(axis=2) & ((overlap > 0).sum(axis=2) >= 2 - through)
        wanted = np.full(total, -1)
        wanted[members] = regions.components(len(members), *np.nonzero(touch))
        data = empty_hierarchy(LEVELS)
        for at, ((level, index), number) in enumerate(first.items()):
            if at % COMM.size != RANK:
                continue
            box = LEVELS[level][index]
            leaf = vtkUniformGrid()
            leaf.SetDimensions(*(box[2 * a + 1] - box[2 * a] + 2 for a in range(3)))
            leaf.SetOrigin(*(box[2 * a] * 0.5**level for a in range(3)))
            leaf.SetSpacing(*[0.5**level] * 3)
            count = leaf.GetNumberOfCells()
            for name, values in (("number", np.arange(count) + number),
                                 ("value", inside[number : number + count].astype(float))):
                array = numpy_to_vtk(values, deep=1)
                array.SetName(name)
                leaf.GetCellData().AddArray(array)
            data.SetDataSet(level, index, leaf)
        source = check.held(data)
        proxy = check.connectivity(
            source, ScalarConnectivity=1, Scalars=["CELLS", "value"], ScalarRange=[0.5, 2.0],
            ConnectThrough=through, Periodic=periodic)
        proxy.UpdatePipeline()
        parts = []
        for leaf in regions.leaves(proxy.GetClientSideObject().GetOutputDataObject(0)):
            if leaf.GetNumberOfCells():
                parts.append([vtk_to_numpy(leaf.GetCellData().GetArray(n)).copy() for n in ("number", "RegionId")])
        found = np.full(total, -7)
        for numbers, ids in (part for ofs in COMM.allgather(parts) for part in ofs):
            found[numbers] = ids
        assert regions.same_partition(found, wanted), f"hierarchy {through} {periodic}: other regions"
        check.delete(proxy, source)


def main():
    check.load_plugin()
    words = [word for word in sys.argv[1:] if not word.startswith("-")]
    for name, function in CASES.items():
        if not words or any(word in name for word in words):
            function()
    if RANK == 0:
        check.write_hashes(HASHES)


if __name__ == "__main__":
    check.run(__file__)
