# SPDX-License-Identifier: BSD-3-Clause
"""Hyper tree grids and their connected regions by brute force, with the same functions as `regions`: make,
build, extent, source and reference. Regions are determined from all pairs of boxes of leaves.

Every unmasked leaf has its `number` in the whole, in the order of the least corners. All other cells have the
number -1 and values in range; the filter must assign them to no region.
"""

import functools
import itertools
import math

import numpy as np
from vtkmodules.vtkCommonCore import vtkBitArray, vtkDoubleArray, vtkPoints
from vtkmodules.vtkCommonDataModel import (
    vtkHyperTreeGrid,
    vtkHyperTreeGridNonOrientedGeometryCursor,
    vtkPolyData,
)

import flows
import meshes
import regions
from regions import EDGES, FACES, POINTS

MESH = "hyper trees"


class Cell:
    """A cell of a tree; children: None for a leaf. at: position of its least corner, in cells of the
    finest level."""

    def __init__(self, level, at, masked):
        self.level, self.at, self.masked = level, at, masked
        self.children = None
        self.number = -1


class Whole:
    """Trees by the lattice position of their roots, and properties of their leaves by number. at and width are
    in cells of the finest level."""

    def __init__(self, size, factor, depth, refined, masked, missing, pattern):
        self.flat = [n == 0 for n in size]
        self.roots = [max(n, 1) for n in size]
        self.factor, self.depth = factor, depth
        self.refined, self.masked = refined, masked
        self.width = factor**depth
        self.trees = {}
        for index, place in enumerate(itertools.product(*(range(n) for n in self.roots))):
            if flows._hash([index], 201)[0] >= missing:
                self.trees[place] = self._grown(0, tuple(self.width * p for p in place))
        self.axes = []
        for axis, n in enumerate(self.roots):
            steps = np.arange(n + 1 - self.flat[axis], dtype=np.float64)
            self.axes.append(0.25 * axis - 0.5 + (0.5 + axis) * steps + 0.125 * steps**2)
        leaves = []
        for tree in self.trees.values():
            self._collect(tree, leaves)
        leaves.sort(key=lambda cell: cell.at)
        for number, cell in enumerate(leaves):
            cell.number = number
        self.at = np.array([cell.at for cell in leaves]).reshape(-1, 3)
        self.level = np.array([cell.level for cell in leaves], dtype=int)
        numbers = np.arange(len(leaves))
        self.arrays = {
            "number": numbers,
            "value": self._pattern(pattern, numbers),
            "label": (self.at[:, 0] * 3 // (self.roots[0] * self.width)).astype(np.int32),
            "noise": flows._hash(numbers, 202),
            "level": self.level.astype(np.float64),
        }

    def _chance(self, level, at, salt):
        code = level
        for place in at:
            code = code * 1048583 + place
        return flows._hash([code % 2**62], salt)[0]

    def _grown(self, level, at):
        cell = Cell(level, at, self._chance(level, at, 203) < self.masked)
        if level < self.depth and self._chance(level, at, 204) < self.refined:
            width = self.factor ** (self.depth - level - 1)
            steps = [range(1 if flat else self.factor) for flat in self.flat]
            cell.children = [
                self._grown(level + 1, (at[0] + x * width, at[1] + y * width, at[2] + z * width))
                for z in steps[2] for y in steps[1] for x in steps[0]
            ]
        return cell

    def _collect(self, cell, leaves):
        if cell.masked:
            return
        if cell.children is None:
            leaves.append(cell)
        for child in cell.children or ():
            self._collect(child, leaves)

    def _pattern(self, pattern, numbers):
        if pattern == "all":
            return np.ones(len(numbers))
        if pattern == "nothing":
            return np.zeros(len(numbers))
        if pattern == "coarse and fine":  # two regions, each across all levels
            return (self.at[:, 0] // self.width % 3 != 1).astype(np.float64)
        assert pattern.startswith("noise"), pattern
        return (flows._hash(numbers, 205) < float(pattern.split()[1])).astype(np.float64)

    def places(self, end):
        """Least corners of the leaves, or greatest ones, in cells of the finest level."""
        width = self.factor ** (self.depth - self.level)
        return self.at + np.where(self.flat, 0, end * width[:, None])

    @functools.lru_cache(maxsize=None)
    def corner(self, place):
        """The coordinates of a place."""
        return [self.coordinate(axis, np.array([place[axis]]))[0] for axis in range(3)]

    def coordinate(self, axis, place):
        if self.flat[axis]:
            return np.full(len(place), self.axes[axis][0])
        root, rest = place // self.width, place % self.width
        low = self.axes[axis][root]
        high = self.axes[axis][np.minimum(root + 1, self.roots[axis])]
        return np.where(rest == 0, low, low + (high - low) * (rest / self.width))


@functools.lru_cache(maxsize=2)
def _whole(mesh, size=(4, 3, 2), factor=2, depth=2, refined=0.45, masked=0.0, missing=0.1,
           pattern="noise 0.4", transposed=False, limit=None):
    """Make a Whole.

    size      number of root cells along each axis; 0: flat
    refined   share of the cells that are divided, on each level but the finest
    masked    share of the cells that are masked, with their descendants
    missing   share of the roots without a tree
    transposed  whether roots are numbered along z first
    limit     deepest level that is used (DepthLimiter), or None
    """
    assert mesh == MESH
    return Whole(size, factor, depth if limit is None else limit, refined, masked, missing, pattern)


def make(**whole):
    return _whole(**whole)


class Growing:
    """A hyper tree grid to which trees are added."""

    def __init__(self, whole, transposed=False, limit=None, **_):
        self.whole, self.limit = whole, limit
        self.data = vtkHyperTreeGrid()
        self.data.Initialize()
        self.data.SetDimensions([n + 1 - flat for n, flat in zip(whole.roots, whole.flat)])
        self.data.SetBranchFactor(whole.factor)
        self.data.SetTransposedRootIndexing(transposed)
        for axis, name in enumerate("XYZ"):
            array = vtkDoubleArray()
            for value in whole.axes[axis]:
                array.InsertNextValue(value)
            getattr(self.data, f"Set{name}Coordinates")(array)
        self.numbers, self.masked, self.ghosts = [], [], []
        self.next = 0

    def add(self, place, ghost=0, cut=False):
        """Add the tree at a root. cut: add only the root and its children."""
        grid = self.data
        nx, ny, nz = self.whole.roots
        transposed = grid.GetTransposedRootIndexing()
        index = (place[0] * ny + place[1]) * nz + place[2] if transposed else (
            (place[2] * ny + place[1]) * nx + place[0])
        cursor = vtkHyperTreeGridNonOrientedGeometryCursor()
        cursor.Initialize(grid, index, True)
        cursor.SetGlobalIndexStart(self.next)
        found = {}
        self._grow(cursor, self.whole.trees[place], 1 if cut else None, found)
        for vertex in range(len(found)):
            number, masked = found[vertex]
            self.numbers.append(number)
            self.masked.append(masked)
            self.ghosts.append(ghost)
        self.next += len(found)

    def _grow(self, cursor, cell, levels, found):
        leaf = cell.children is None or levels == 0
        found[cursor.GetVertexId()] = (cell.number if cell.children is None else -1, cell.masked)
        if cell.number >= 0:
            # Check the positions of the children.
            low = self.whole.corner(tuple(cell.at))
            bounds = [0.0] * 6
            cursor.GetBounds(bounds)
            close = [math.isclose(a, b, rel_tol=1e-5, abs_tol=1e-8) for a, b in zip(bounds[::2], low)]
            assert all(close), f"{bounds}, not from {low} on"
        if leaf:
            # Cells below the deepest level that is used must have no effect.
            if self.limit is not None and cell.level == self.limit:
                cursor.SubdivideLeaf()
                for child in range(cursor.GetNumberOfChildren()):
                    cursor.ToChild(child)
                    found[cursor.GetVertexId()] = (-1, False)
                    cursor.ToParent()
            return
        cursor.SubdivideLeaf()
        for child, part in enumerate(cell.children):
            cursor.ToChild(child)
            self._grow(cursor, part, None if levels is None else levels - 1, found)
            cursor.ToParent()

    def finish(self, ghosts, ids):
        numbers = np.array(self.numbers, dtype=np.int64)
        attributes = self.data.GetCellData()
        for name, values in self.whole.arrays.items():
            other = -1 if name == "number" else 1
            mine = np.full(len(numbers), other, dtype=values.dtype)
            if len(values):
                mine = np.where(numbers >= 0, values[numbers], other).astype(values.dtype)
            regions._add(attributes, name, mine)
        if self.whole.masked:
            mask = vtkBitArray()
            mask.SetNumberOfTuples(len(numbers))
            for cell, masked in enumerate(self.masked):
                mask.SetValue(cell, int(masked))
            self.data.SetMask(mask)
        if self.limit is not None:
            self.data.SetDepthLimiter(self.limit)
        if ghosts:
            regions._add(attributes, "vtkGhostType", np.array(self.ghosts, dtype=np.uint8))
        if ids:
            regions._add(attributes, "GlobalCellIds", regions.global_ids(numbers))
            attributes.SetGlobalIds(attributes.GetArray("GlobalCellIds"))
        return self.data


def _owner(index, place, count, pieces, cut):
    if cut == "slices":
        return index * pieces // count
    if cut == "cyclic":
        return sum(place) % pieces
    return int(flows._hash([index], 206 + pieces)[0] * pieces)


def build(rank, ranks, whole, pieces=0, cut="slices", placing="contiguous", container="none",
          ghosts=0, ids=False, empty=0, fault=""):
    """The part of this rank in make(**whole).

    pieces, placing, container, empty  as in flows.build
    cut     partition of trees: slices, cyclic or random
    ghosts  1: adjacent trees of other pieces are ghosts; every other ghost tree is incomplete
    ids     global ids of cells
    fault   fault of the last piece: twice (it also has the first tree of the first piece), roots (they are
            displaced), ghosts (flags of one cell), other (an image in its place; requires a container),
            no cells (a point without a cell in its place)
    """
    if pieces == 0:
        pieces = ranks - min(empty, ranks - 1)
    data = make(**whole)
    owner = {
        place: _owner(index, place, len(data.trees), pieces, cut)
        for index, place in enumerate(data.trees)
    }
    leaves = {}
    for piece in flows.pieces_of(rank, ranks, pieces, placing, empty):
        growing = Growing(data, **whole)
        own = {place for place in data.trees if owner[place] == piece}
        for index, place in enumerate(data.trees):
            if place in own or fault == "twice" and piece == pieces - 1 and index == 0:
                growing.add(place)
            elif ghosts and any(max(abs(a - b) for a, b in zip(place, o)) <= 1 for o in own):
                growing.add(place, 1, index % 2 == 0)
        leaf = leaves[piece] = growing.finish(ghosts, ids)
        if piece == pieces - 1 and fault == "roots":
            leaf.GetXCoordinates().SetValue(0, -7)
        elif piece == pieces - 1 and fault == "ghosts":
            regions._add(leaf.GetCellData(), "vtkGhostType", np.zeros(1, np.uint8))
        elif piece == pieces - 1 and fault == "other":
            leaves[piece] = regions.make(size=(4, 4, 4))
        elif piece == pieces - 1 and fault == "no cells":
            leaves[piece] = vtkPolyData()
            leaves[piece].SetPoints(vtkPoints())
            leaves[piece].GetPoints().InsertNextPoint(0, 0, 0)
    if container != "none":
        return flows.contain(leaves, container, pieces)
    assert len(leaves) <= 1, "several pieces on a rank need a container"
    return next(iter(leaves.values())) if leaves else Growing(data, **whole).finish(ghosts, ids)


def extent(whole, container="none", **_):
    """The whole extent that a producer must set; else None."""
    if container != "none":
        return None
    return list(itertools.chain(*((0, n) for n in whole.get("size", (4, 3, 2)))))


def source(whole, **arguments):
    """Return a proxy; arguments as for build."""
    container = arguments.get("container", "none")
    kind = 32 if container == "none" else regions._TYPES[container]  # of vtkType.h
    return meshes.source(kind, "trees", "build", dict(arguments, whole=whole), extent(whole, container))


@functools.lru_cache(maxsize=2)
def reference(**whole):
    return Reference(make(**whole))


class Reference(regions.Reference):
    """The leaves of a Whole and their regions; the points are the corners of the leaves."""

    def __init__(self, whole, corners=True):
        """corners: whether to provide more than the regions of leaves."""
        self.whole = whole
        self.count = len(whole.at)
        self.cell, self.point = whole.arrays, {}
        if not corners:
            return
        ends = list(itertools.product(*((0,) if flat else (0, 1) for flat in whole.flat)))
        corners = np.stack([whole.places(np.array(end)) for end in ends], axis=1)
        corners = corners.reshape(-1, 3)
        self.coordinates = np.stack([whole.coordinate(a, corners[:, a]) for a in range(3)], axis=-1)
        self.point_count = len(corners)
        self.cell_of = np.repeat(np.arange(self.count), len(ends))
        self.connectivity = np.arange(self.point_count)
        self.offsets = np.arange(self.count + 1) * len(ends)
        self.merged = regions._merged(corners)

    def sizes(self):
        low, high = (
            np.stack([self.whole.coordinate(a, self.whole.places(end)[:, a]) for a in range(3)], axis=-1)
            for end in (0, 1)
        )
        along = ~np.array(self.whole.flat)
        return np.prod((high - low)[:, along], axis=1), (low + high) / 2

    def regions(self, inside=None, through=POINTS, labels=None):
        """As in the base class, but for boxes: two leaves are connected if they share a face, an edge or
        a point, or a part of it."""
        if inside is None:
            inside = np.ones(self.count, dtype=bool)
        chosen = np.flatnonzero(inside)
        low, high = self.whole.places(0)[chosen], self.whole.places(1)[chosen]
        along = [axis for axis in range(3) if not self.whole.flat[axis]]
        most = {FACES: 1, EDGES: max(len(along) - 1, 1), POINTS: len(along)}[through]
        one, other = [], []
        for n, cell in enumerate(chosen):
            apart = np.zeros(len(chosen), dtype=bool)
            beside = np.zeros(len(chosen), dtype=int)
            for axis in along:
                gap = np.maximum(low[:, axis], low[n, axis]) - np.minimum(high[:, axis], high[n, axis])
                apart |= gap > 0
                beside += gap == 0
            met = chosen[~apart & (beside <= most)]
            if labels is not None:
                met = met[labels[met] == labels[cell]]
            one.append(np.full(len(met), cell))
            other.append(met)
        result = np.full(self.count, -1)
        if len(chosen):
            least = regions.components(self.count, np.concatenate(one), np.concatenate(other))
            result[inside] = np.unique(least[inside], return_inverse=True)[1].reshape(-1)
        return result

