# SPDX-License-Identifier: BSD-3-Clause
"""Async Harmonic Fill on this number of ranks: what it fills is the solution of numpy's direct solver, within
what the tolerance leaves, and has the residual that it says, harmonic or biharmonic; on all kinds of grids, at points and cells, of
all kinds of unknown values and types; ghost cells, empty ranks, pieces cut in any way.

Every rank runs this script (pvbatch --sym). Arguments, if any, are words: only tests with one of them in
the name run.
"""

import sys

import numpy as np

import check
import grids
from grids import Grid
from mpi4py import MPI
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkCommonDataModel import vtkDataSetAttributes, vtkMultiBlockDataSet

COMM = MPI.COMM_WORLD
FEW = COMM.size > 2  # ranks share cores: a part of the cases
NAN = float("nan")


class Sites:
    """Points or cells of a grid, and the flows between them, written down by themselves."""

    def __init__(self, grid, at_cells):
        self.at_cells = at_cells
        self.places, self.widths = [], []
        for axis in range(3):
            ends = grid.ends[axis]
            if at_cells:
                self.places.append(ends if grid.flat(axis) else 0.5 * (ends[1:] + ends[:-1]))
                self.widths.append(np.ones(1) if len(ends) <= 2 else np.diff(ends))
            else:
                middles = 0.5 * (ends[1:] + ends[:-1])
                walls = np.concatenate([ends[:1], middles, ends[-1:]])
                self.places.append(ends)
                self.widths.append(np.ones(1) if grid.flat(axis) else np.diff(walls))
        self.shape = tuple(len(p) for p in reversed(self.places))
        self.coordinates = np.meshgrid(*reversed(self.places), indexing="ij")[::-1]

    def weights(self, axis):
        """Of the pairs of neighbors along an axis: area over distance."""
        distance = np.diff(self.places[axis])
        factors = [self.widths[a] for a in range(3)]
        factors[axis] = 1 / distance
        return np.einsum("k,j,i->kji", factors[2], factors[1], factors[0])

    def pairs(self):
        """(weight, one site, the next one) of all neighbors, by number."""
        numbers = np.arange(np.prod(self.shape)).reshape(self.shape)
        for axis in range(3):
            n = self.shape[2 - axis]
            low = np.take(numbers, np.arange(0, n - 1), 2 - axis)
            high = np.take(numbers, np.arange(1, n), 2 - axis)
            yield self.weights(axis).ravel(), low.ravel(), high.ravel()

    def residual(self, u, unknown):
        """Largest difference of an unknown value from the mean of its neighbors."""
        flow, total = np.zeros(u.size), np.zeros(u.size)
        v = u.ravel()
        for weight, low, high in self.pairs():
            for one, other in ((low, high), (high, low)):
                np.add.at(flow, one, weight * (v[other] - v[one]))
                np.add.at(total, one, weight)
        mask = unknown.ravel()
        return abs(flow[mask] / total[mask]).max()

    def solution(self, u, unknown):
        """(direct solution, how far a residual of 1 may be from it)"""
        mask = unknown.ravel()
        number = np.cumsum(mask) - 1
        matrix, right, total = np.zeros((mask.sum(),) * 2), np.zeros(mask.sum()), np.zeros(mask.sum())
        v = u.ravel()
        for weight, low, high in self.pairs():
            for one, other in ((low, high), (high, low)):
                mine = mask[one]
                np.add.at(total, number[one[mine]], weight[mine])
                inner = mine & mask[other]
                np.add.at(matrix, (number[one[inner]], number[other[inner]]), -weight[inner])
                rim = mine & ~mask[other]
                np.add.at(right, number[one[rim]], weight[rim] * v[other[rim]])
        matrix[np.diag_indices_from(matrix)] += total
        found = u.copy().ravel()
        found[mask] = np.linalg.solve(matrix, right)
        return found.reshape(u.shape), np.linalg.solve(matrix, total).max()

    def bending(self, u, unknown):
        """(least squares of the Laplacians, their matrix, what they are without unknown values): of each site what
        flows to it over the root of what belongs to it; of a known one at the border without the axes across that."""
        mask, v = unknown.ravel(), u.ravel()
        matrix = np.zeros((u.size, u.size))
        for axis, (weight, low, high) in enumerate(self.pairs()):
            index = np.broadcast_to(
                np.arange(self.shape[2 - axis]).reshape([-1 if a == 2 - axis else 1 for a in range(3)]),
                self.shape).ravel()
            border = (index == 0) | (index == self.shape[2 - axis] - 1)
            for one, other in ((low, high), (high, low)):
                counts = np.where(mask[one] | ~border[one], weight, 0)
                np.add.at(matrix, (one, one), counts)
                np.add.at(matrix, (one, other), -counts)
        volumes = np.einsum("k,j,i->kji", *reversed(self.widths)).ravel()
        matrix /= np.sqrt(volumes)[:, None]
        rows, right = matrix[:, mask], -(matrix[:, ~mask] @ v[~mask])
        found = v.copy()
        found[mask] = np.linalg.lstsq(rows, right, rcond=None)[0]
        return found.reshape(u.shape), rows, right

    def rim(self, unknown):
        """Known sites beside unknown ones."""
        mask, found = unknown.ravel(), np.zeros(unknown.size, bool)
        for _, low, high in self.pairs():
            found[low] |= mask[high] & ~mask[low]
            found[high] |= mask[low] & ~mask[high]
        return found.reshape(unknown.shape)


def smooth(x, y, z):
    return np.sin(4 * x + 1) * np.cos(3 * y) + z * (1 + x) + 5


def ball(sites, radius):
    middle = [0.5 * (p[0] + p[-1]) for p in sites.places]
    return sum((c - m) ** 2 for c, m in zip(sites.coordinates, middle)) < radius**2


def corner(sites, radius):
    """A hole at the border of the grid."""
    return sum((c - p[0]) ** 2 for c, p in zip(sites.coordinates, sites.places)) < radius**2


def held(grid, how="cut", ghosts=0, **arrays):
    box = grids.boxes_of(grid, how, COMM.size)[COMM.rank]
    data = grid.empty() if box is None else grid.piece(box, ghosts, **arrays)
    return data, check.held(data, grid.extent())


def output(proxy):
    proxy.UpdatePipeline()
    return proxy.GetClientSideObject().GetOutputDataObject(0)


def gathered(grid, sites, data, name):
    """The array of the whole grid, on all ranks; sites that ranks have twice must have the same bits."""
    parts = []
    for leaf in grids.leaves(data):
        extent = leaf.GetExtent()
        attributes = leaf.GetCellData() if sites.at_cells else leaf.GetPointData()
        array = attributes.GetArray(name)
        assert array is not None, f"no array {name}"
        lo = [extent[2 * a] - grid.first[a] for a in range(3)]
        n = [extent[2 * a + 1] - extent[2 * a] + (0 if sites.at_cells and not grid.flat(a) else 1)
             for a in range(3)]
        values = vtk_to_numpy(array)
        parts.append((lo, values.reshape(n[2], n[1], n[0], *values.shape[1:]).copy()))
    whole, seen = None, np.zeros(sites.shape, bool)
    for lo, values in (part for parts_of_rank in COMM.allgather(parts) for part in parts_of_rank):
        if whole is None:
            whole = np.zeros(sites.shape + values.shape[3:], values.dtype)
        where = tuple(slice(a, a + n) for a, n in zip(reversed(lo), values.shape))
        before, old = seen[where], whole[where]
        same = np.array_equal(old[before], values[before], equal_nan=values.dtype.kind == "f")
        assert same, "ranks have other bits of the same site"
        whole[where], seen[where] = values, True
    assert seen.all(), "a site is on no rank"
    return whole


def number(data, name, index=0):
    array = data.GetFieldData().GetArray(name)
    assert array is not None and array.GetNumberOfTuples() > index, f"no {name} in field data"
    return array.GetValue(index)


def hold(sites, before, after, unknown, data, tolerance=1e-6, rounding=1e-12, index=0):
    """A component of an array that was filled."""
    assert (after[~unknown] == before[~unknown]).all(), "a known value has changed"
    known = before[sites.rim(unknown)].astype(float)
    limit = tolerance * (known.max() - known.min())
    filled = after.astype(float)
    assert filled[unknown].min() >= known.min() - rounding, "below the known values"
    assert filled[unknown].max() <= known.max() + rounding, "above the known values"
    residual = sites.residual(filled, unknown)
    assert residual <= limit + 2 * rounding, f"the residual is {residual}, above {limit}"
    assert number(data, "Residual", index) <= limit * (1 + 1e-12)
    assert number(data, "FilledValues", index) == unknown.sum()
    want, growth = sites.solution(before.astype(float), unknown)
    error = abs(filled - want).max()
    assert error <= limit * growth * 1.001 + 2 * rounding, f"{error} from the direct solution"


def hold_bent(sites, before, after, unknown, data, tolerance=1e-9, rounding=1e-11, index=0):
    """A component of an array that was filled with Smoothness Biharmonic. Returns the direct solution."""
    assert (after[~unknown] == before[~unknown]).all(), "a known value has changed"
    known = before[~unknown].astype(float)
    limit = tolerance * (known.max() - known.min())
    want, rows, right = sites.bending(before.astype(float), unknown)
    filled = after.astype(float)
    residual = abs(rows.T @ (right - rows @ filled[unknown])) / (rows**2).sum(axis=0)
    assert residual.max() <= limit + rounding, f"the residual is {residual.max()}, above {limit}"
    assert number(data, "Residual", index) <= limit * (1 + 1e-12)
    assert number(data, "FilledValues", index) == unknown.sum()
    assert number(data, "Correction", index) <= limit * (1 + 1e-12)
    assert number(data, "Iterations", index) == 0
    error = abs(filled - want).max()
    assert error <= 10 * limit + rounding, f"{error} from the direct solution"
    return want


# ---- tests ----


def test_kinds_and_cuts():
    """All kinds of grids, points and cells, holes inside and at the border, ghosts that are wrong."""
    n = 0
    for kind in grids.KINDS:
        for at_cells in (False, True):
            for how, ghosts in (("cut", 1), ("slabs", 0), ("on the last rank", 0)):
                n += 1
                if FEW and (n + n // 3) % 3 != COMM.size % 3:
                    continue
                grid = grids.uneven(kind, first=(2, -1, 5))
                sites = Sites(grid, at_cells)
                unknown = ball(sites, 0.45) | corner(sites, 0.4)
                u = np.where(unknown, NAN, smooth(*sites.coordinates))
                data, source = held(grid, how, ghosts, **{"cell_arrays" if at_cells else "point_arrays": [("u", u)]})
                flags = data.GetCellData().GetArray(vtkDataSetAttributes.GhostArrayName())
                if at_cells and flags is not None:
                    # Ghost cells are not believed.
                    vtk_to_numpy(data.GetCellData().GetArray("u"))[vtk_to_numpy(flags) != 0] = NAN
                proxy = check.filled(source, Tolerance=1e-9)
                result = output(proxy)
                assert result.IsA(data.GetClassName())
                before = np.where(unknown, NAN, smooth(*sites.coordinates))
                hold(sites, before, gathered(grid, sites, result, "u"), unknown, result, 1e-9)
                check.delete(proxy, source)


def test_unknowns():
    """NaN, a mask and its opposite, blanked points and cells, a value, what is missing by default: the same answer of
    each."""
    grid = grids.uneven("rectilinear")
    sites = Sites(grid, False)
    unknown = ball(sites, 0.45)
    u = smooth(*sites.coordinates)
    holes = np.where(unknown, NAN, u)
    garbage = np.where(unknown, 1e30, u)
    marked = np.where(unknown, -9999.0, u)
    mask = unknown.astype(np.uint8)
    found = []
    for values, more, properties in (
        (holes, [], {}),
        (garbage, [("mask", mask)], {"Unknown": "Mask", "Mask": ["POINTS", "mask"]}),
        (garbage, [("mask", 1 - mask)], {"Unknown": "Mask", "Mask": ["POINTS", "mask"], "InvertMask": 1}),
        (marked, [], {"Unknown": "Value"}),
        (garbage, [("vtkGhostType", 2 * mask)], {"Unknown": "Blanked"}),
        (garbage, [("vtkGhostType", 2 * mask)], {}),
        (garbage, [("vtkValidPointMask", 1 - mask)], {}),
    ):
        data, source = held(grid, point_arrays=[("u", values), *more])
        was = [vtk_to_numpy(leaf.GetPointData().GetArray("u")).copy() for leaf in grids.leaves(data)]
        proxy = check.filled(source, Tolerance=1e-9, MarkFilled=1, **properties)
        result = output(proxy)
        after = gathered(grid, sites, result, "u")
        hold(sites, values, after, unknown, result, 1e-9)
        assert (gathered(grid, sites, result, "uFilled") == mask).all()
        for name, _ in more:
            left = gathered(grid, sites, result, name)
            assert (left == (0 if name == "vtkGhostType" else dict(more)[name])).all()
        found.append(after)
        # The input is as it was.
        for leaf, values in zip(grids.leaves(data), was):
            assert np.array_equal(vtk_to_numpy(leaf.GetPointData().GetArray("u")), values, equal_nan=True)
            assert leaf.GetPointData().GetArray("uFilled") is None
        check.delete(proxy, source)
    for other in found[1:]:
        assert abs(other - found[0]).max() < 1e-6
    # Hidden cells.
    sites = Sites(grid, True)
    unknown = ball(sites, 0.4)
    u = np.where(unknown, 77.0, smooth(*sites.coordinates))
    _, source = held(grid, cell_arrays=[("u", u)], hidden=unknown)
    for kind in ("Blanked", "Missing"):
        proxy = check.filled(source, Unknown=kind, Tolerance=1e-9, ShowFilled=0)
        result = output(proxy)
        hold(sites, u, gathered(grid, sites, result, "u"), unknown, result, 1e-9)
        assert ((gathered(grid, sites, result, "vtkGhostType") & 32 != 0) == unknown).all()
        check.delete(proxy)
    check.delete(source)
    # Labels have no values between them: they are filled only if they are named.
    labels = np.where(unknown, 0, 7).astype(np.int32)
    _, source = held(grid, cell_arrays=[("u", u), ("labels", labels)], hidden=unknown)
    for names, expected in (([], labels), (["u", "labels"], np.full_like(labels, 7))):
        proxy = check.filled(source, CellArrays=names)
        assert (gathered(grid, sites, output(proxy), "labels") == expected).all(), names
        check.delete(proxy)
    check.delete(source)


def test_arrays():
    """Several arrays at once: vectors, float and integers, points and cells, and what has no holes."""
    grid = grids.uneven("image")
    points, cells = Sites(grid, False), Sites(grid, True)
    hole, other = ball(points, 0.4), corner(cells, 0.5)
    x, y, z = points.coordinates
    vector = np.stack([smooth(x, y, z), x * y, z - 2 * x], -1).astype(np.float32)
    vector[hole] = 3e3
    vector[hole, 1] = NAN  # one component is enough
    single = np.where(hole, NAN, x + y).astype(np.float32)
    whole = x - z
    level = np.where(other, NAN, smooth(*cells.coordinates))
    _, source = held(grid, point_arrays=[("vector", vector), ("whole", whole), ("single", single)],
                     cell_arrays=[("level", level)])
    proxy = check.filled(source)
    result = output(proxy)
    names = result.GetFieldData().GetAbstractArray("FilledArrays")
    assert [names.GetValue(i) for i in range(names.GetNumberOfValues())] == ["vector", "single", "level"]
    after = gathered(grid, points, result, "vector")
    assert after.dtype == np.float32 and (after[~hole] == vector[~hole]).all()
    for c in range(3):
        part = after[..., c].astype(float)
        rim = part[points.rim(hole)]
        assert points.residual(part, hole) <= 1e-6 * (rim.max() - rim.min()) + 1e-6
        assert rim.min() <= part[hole].min() and part[hole].max() <= rim.max()
    hold(points, single, gathered(grid, points, result, "single"), hole, result, rounding=5e-7, index=1)
    hold(cells, level, gathered(grid, cells, result, "level"), other, result, index=2)
    assert (gathered(grid, points, result, "whole") == whole).all()
    for leaf in grids.leaves(result):
        assert leaf.GetPointData().GetArray("single").GetDataTypeAsString() == "float"
    # Only what is chosen.
    proxy.CellArrays = ["level"]
    result = output(proxy)
    assert np.isnan(gathered(grid, points, result, "single")).any()
    hold(cells, level, gathered(grid, cells, result, "level"), other, result)
    statistics = result.GetFieldData().GetArray("AsyncHarmonicFill Iterations")
    assert statistics is not None and statistics.GetNumberOfTuples() == COMM.size
    check.delete(proxy, source)
    # Integers are rounded.
    counts = np.where(hole, 0, np.rint(100 * smooth(x, y, z))).astype(np.int16)
    _, source = held(grid, point_arrays=[("counts", counts)])
    proxy = check.filled(source, Unknown="Value", UnknownValue=0.0)
    result = output(proxy)
    after = gathered(grid, points, result, "counts")
    assert after.dtype == np.int16 and (after[~hole] == counts[~hole]).all()
    want, _ = points.solution(counts.astype(float), hole)
    assert abs(after - want).max() <= 0.501
    check.delete(proxy, source)


def test_biharmonic():
    """The values that bend least, of numpy's least squares; other ones than the harmonic fill has."""
    for n, (kind, at_cells, how) in enumerate(
        (kind, at_cells, how) for kind in grids.KINDS for at_cells in (False, True)
        for how in ("cut", "slabs", "on the last rank")):
        if FEW and n % 4 != COMM.size % 4:
            continue
        grid = grids.uneven(kind, first=(2, -1, 5))
        sites = Sites(grid, at_cells)
        unknown = ball(sites, 0.45) | corner(sites, 0.4)
        u = np.where(unknown, NAN, smooth(*sites.coordinates))
        _, source = held(grid, how, 1, **{"cell_arrays" if at_cells else "point_arrays": [("u", u)]})
        proxy = check.filled(source, Tolerance=1e-9, Smoothness="Biharmonic")
        result = output(proxy)
        after = gathered(grid, sites, result, "u")
        hold_bent(sites, u, after, unknown, result)
        proxy.Smoothness = "Harmonic"
        result = output(proxy)
        harmonic = gathered(grid, sites, result, "u")
        hold(sites, u, harmonic, unknown, result, 1e-9)
        assert abs(after - harmonic).max() > 0.01, "both are the same"
        # The ball is where slopes tell more than values.
        inside, truth = ball(sites, 0.45), smooth(*sites.coordinates)
        assert abs(after - truth)[inside].max() < abs(harmonic - truth)[inside].max()
        check.delete(proxy, source)


def test_biharmonic_arrays():
    """Vectors, float and cells at once; a linear function is filled as it goes on; flat grids."""
    grid = grids.uneven("rectilinear")
    points, cells = Sites(grid, False), Sites(grid, True)
    hole, other = ball(points, 0.45), corner(cells, 0.5)
    x, y, z = points.coordinates
    linear = 1 + 2 * x - y + 0.5 * z
    vector = np.stack([smooth(x, y, z), linear, z - 2 * x], -1)
    vector[hole] = NAN
    single = np.where(hole, NAN, linear).astype(np.float32)
    level = np.where(other, NAN, smooth(*cells.coordinates))
    _, source = held(grid, point_arrays=[("vector", vector), ("single", single)], cell_arrays=[("level", level)])
    proxy = check.filled(source, Tolerance=1e-9, Smoothness="Biharmonic", MarkFilled=1)
    result = output(proxy)
    after = gathered(grid, points, result, "vector")
    hold_bent(points, vector[..., 0], after[..., 0], hole, result)
    assert abs(after[..., 1] - linear).max() < 1e-7
    assert abs(after[..., 2] - (z - 2 * x)).max() < 1e-7
    assert abs(gathered(grid, points, result, "single") - linear).max() < 1e-6
    assert (gathered(grid, points, result, "singleFilled") == hole).all()
    hold_bent(cells, level, gathered(grid, cells, result, "level"), other, result, index=2)
    assert number(result, "Cycles") > 10
    check.delete(proxy, source)
    flat = Grid("image", [np.arange(13) * 0.5, np.arange(11) * 0.5, np.zeros(1)])
    for at_cells in (False, True):
        sites = Sites(flat, at_cells)
        unknown = ball(sites, 1.6)
        u = np.where(unknown, NAN, smooth(*sites.coordinates))
        _, source = held(flat, **{"cell_arrays" if at_cells else "point_arrays": [("u", u)]})
        proxy = check.filled(source, Tolerance=1e-9, Smoothness="Biharmonic")
        result = output(proxy)
        hold_bent(sites, u, gathered(flat, sites, result, "u"), unknown, result)
        check.delete(proxy, source)


def test_flat_grids():
    for at_cells in (False, True):
        grid = Grid("image", [np.arange(13) * 0.5, np.arange(11) * 0.5, np.zeros(1)])
        sites = Sites(grid, at_cells)
        unknown = ball(sites, 2.0)
        u = np.where(unknown, NAN, smooth(*sites.coordinates))
        _, source = held(grid, **{"cell_arrays" if at_cells else "point_arrays": [("u", u)]})
        proxy = check.filled(source, Tolerance=1e-9)
        result = output(proxy)
        hold(sites, u, gathered(grid, sites, result, "u"), unknown, result, 1e-9)
        check.delete(proxy, source)


def test_schedules():
    """Iterations that wait, and the other way to find out that they may end; the same bits in step."""
    grid = grids.uneven("image", cells=(14, 13, 12))
    sites = Sites(grid, False)
    unknown = ball(sites, 0.6)
    u = np.where(unknown, NAN, smooth(*sites.coordinates))
    _, source = held(grid, point_arrays=[("u", u)])
    proxy = check.filled(source, Tolerance=1e-8)
    found = []
    for properties in (
        {"ConvergenceDetection": "Supervised"},
        {"Schedule": "Synchronous", "SweepsPerExchange": 2},
        {"Schedule": "Synchronous", "SweepsPerExchange": 2, "MarkFilled": 1},
        {"CycleLimit": 3, "Schedule": "Asynchronous", "IterationLimit": 100000, "SweepsPerExchange": 4},
    ):
        for name, value in properties.items():
            setattr(proxy, name, value)
        result = output(proxy)
        found.append(gathered(grid, sites, result, "u"))
        hold(sites, u, found[-1], unknown, result, 1e-8)
    assert number(result, "Iterations") > 1 and number(result, "Cycles") == 3
    assert (found[1] == found[2]).all()
    check.delete(proxy, source)


def test_blocks():
    """A composite with a few pieces for a rank, with ghost cells."""
    grid = grids.uneven("image")
    for at_cells in (False, True):
        sites = Sites(grid, at_cells)
        unknown = ball(sites, 0.45)
        u = np.where(unknown, NAN, smooth(*sites.coordinates))
        arrays = {"cell_arrays" if at_cells else "point_arrays": [("u", u)]}
        parts = grids.cut(*grids.boxes_of(grid, "cut", COMM.size)[COMM.rank], 3)
        blocks = vtkMultiBlockDataSet()
        blocks.SetNumberOfBlocks(4 * COMM.size)
        for n, part in enumerate(parts):
            blocks.SetBlock(4 * COMM.rank + n + (n > 0), grid.piece(part, 1, **arrays))
        source = check.held(blocks)
        proxy = check.filled(source, Tolerance=1e-9)
        result = output(proxy)
        hold(sites, u, gathered(grid, sites, result, "u"), unknown, result, 1e-9)
        # The input's blocks are as they were.
        holes = sum(
            int(np.isnan(vtk_to_numpy(
                (leaf.GetCellData() if at_cells else leaf.GetPointData()).GetArray("u"))).sum())
            for leaf in grids.leaves(blocks))
        assert COMM.allreduce(holes) >= unknown.sum()
        check.delete(proxy, source)


def test_nothing_to_do():
    grid = grids.uneven("image")
    sites = Sites(grid, False)
    u = smooth(*sites.coordinates)
    _, source = held(grid, point_arrays=[("u", u)])
    proxy = check.filled(source)
    result = output(proxy)
    assert (gathered(grid, sites, result, "u") == u).all()
    assert result.GetFieldData().GetAbstractArray("FilledArrays").GetNumberOfValues() == 0
    check.delete(proxy, source)


def test_abort():
    """An abort on one rank is obeyed by all, and the filter can be used again."""
    grid = grids.uneven("image")
    sites = Sites(grid, False)
    unknown = ball(sites, 0.45)
    u = np.where(unknown, NAN, smooth(*sites.coordinates))
    _, source = held(grid, point_arrays=[("u", u)])
    proxy = check.filled(source)
    grids.abort_on_last_rank(COMM, proxy, proxy.UpdatePipeline)
    result = output(proxy)
    hold(sites, u, gathered(grid, sites, result, "u"), unknown, result)
    check.delete(proxy, source)


def test_copies_that_disagree():
    """Of a point that ranks share one of them may not know the value; afterwards all have the same one."""
    grid = grids.uneven("image")
    points = Sites(grid, False)
    values = np.where(ball(points, 0.3), NAN, smooth(*points.coordinates))
    for plane in (0, -1):
        data, source = held(grid, "slabs", point_arrays=[("u", values)])
        if data.GetNumberOfPoints():
            n = data.GetDimensions()
            vtk_to_numpy(data.GetPointData().GetArray("u")).reshape(n[::-1])[plane, 0, 0] = NAN
            data.GetPointData().GetArray("u").Modified()
            data.Modified()
        proxy = check.filled(source)
        assert not np.isnan(gathered(grid, points, output(proxy), "u")).any()
        check.delete(proxy, source)


def main():
    words = sys.argv[1:]
    for name, test in list(globals().items()):
        if name.startswith("test_") and (not words or any(word in name for word in words)):
            test()
            if COMM.rank == 0:
                print(name, flush=True)


if __name__ == "__main__":
    check.run(__file__)
