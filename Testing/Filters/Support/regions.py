# SPDX-License-Identifier: BSD-3-Clause
"""Data with a selectable partition into pieces, their connected regions by brute force, and the gathered
results of all ranks.

A "whole" is an undivided data set. A dictionary of the arguments of `make` identifies it; `source(whole, ...)`
returns a proxy of it, partitioned by `build`. `Reference(whole)` finds its regions by a method that shares no
code with the filter: pairs of cells with a common entity (point, edge, face) are joined until nothing changes.

Every cell and point has its `number` in the whole, so results can be compared for any partition.
"""

import functools
import hashlib
import itertools
from types import SimpleNamespace

import numpy as np
import tables
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkIdList, vtkPoints
from vtkmodules.vtkCommonDataModel import (
    VTK_PIXEL,
    VTK_POLYHEDRON,
    vtkPolyData,
    vtkUnstructuredGrid,
)
from vtkmodules.vtkFiltersCore import vtkAppendPolyData, vtkExtractCells
from vtkmodules.vtkFiltersGeometry import vtkGeometryFilter
from vtkmodules.vtkFiltersSources import vtkSphereSource
from vtkmodules.vtkFiltersVerdict import vtkCellSizeFilter

import flows
import meshes

FACES, EDGES, POINTS = 0, 1, 2  # ConnectThrough

# Of vtkType.h.
_TYPES = {
    "vtkPolyData": 0,
    "vtkStructuredGrid": 2,
    "vtkRectilinearGrid": 3,
    "vtkUnstructuredGrid": 4,
    "vtkImageData": 6,
    "multiblock": 13,
    "partitioned": 38,
}
_CLASSES = {
    "image": "vtkImageData",
    "rectilinear": "vtkRectilinearGrid",
    "structured": "vtkStructuredGrid",
    "surface": "vtkPolyData",
    "spheres": "vtkPolyData",
}

# Cell types that Data/flows.py lacks; see meshes.build_cells.
CELL_TYPES = {
    "voxels": 11,
    "pixels": 8,
    "pentagonal prisms": 15,
    "hexagonal prisms": 16,
    "quadratic tetrahedra": 24,
    "quadratic hexahedra": 25,
}

# Two nested spheres. The distance of their surfaces is 0.0005 in a domain of width 0.021.
RADII = (0.01, 0.0105)


# --- Wholes ---------------------------------------------------------------------------------------


def _spiral(nx, ny):
    """A spiral path of one cell width from a corner to the center of a rectangle."""
    path = np.zeros((nx + 2, ny + 2), dtype=bool)  # with a border
    x, y, step, turned = 1, 1, (1, 0), 0
    path[x, y] = True
    while turned < 2:
        place = (x + step[0], y + step[1])
        beside = [(place[0] + dx, place[1] + dy) for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1))]
        inside = 1 <= place[0] <= nx and 1 <= place[1] <= ny
        if inside and sum(path[p] for p in beside) == 1:
            (x, y), turned = place, 0
            path[x, y] = True
        else:
            step, turned = (-step[1], step[0]), turned + 1
    return path[1:-1, 1:-1]


def _pattern(name, numbers, where, shape):
    """A number for each cell; cells above 0.5 belong to the pattern. where: n x 3 lattice indices."""
    x, y, z = where.T
    nx, ny, nz = shape
    if name.startswith("noise"):
        inside = flows._hash(numbers, 101) < float(name.split()[1])
    elif name == "spiral":
        # Layers of a spiral, connected alternately in the center and at the rim.
        path = _spiral(nx, ny)
        inside = path[x, y] & (z % 2 == 0)
        rim, end = (0, 0), np.argwhere(path)[np.argmax(_steps(path)[path])]
        joint = np.where(z // 2 % 2 == 0, (x == end[0]) & (y == end[1]), (x == rim[0]) & (y == rim[1]))
        inside |= (z % 2 == 1) & joint & (z < nz - 1)
    elif name == "comb":
        inside = (z % 2 == 0) & ((y == 0) | (x % 2 == 0))
    elif name == "combs":  # two combs with interleaved teeth that touch
        inside = np.ones(len(x), dtype=bool)
    elif name == "checkerboard":
        inside = (x + y + z) % 2 == 0
    elif name == "corner":  # two boxes that touch in one point, in the center
        low = (x < nx // 2) & (y < ny // 2) & (z < nz // 2)
        inside = low | (x >= nx // 2) & (y >= ny // 2) & (z >= nz // 2)
    elif name == "edge":  # two boxes that touch along an edge
        inside = ((x < nx // 2) & (y < ny // 2)) | ((x >= nx // 2) & (y >= ny // 2))
    elif name == "blobs":
        waves = np.cos(1.1 * x) + np.cos(0.9 * y + 1) + np.cos(1.3 * z + 0.3 * x)
        inside = waves > 1.2
    elif name == "all":
        inside = np.ones(len(x), dtype=bool)
    elif name == "nothing":
        inside = np.zeros(len(x), dtype=bool)
    else:
        raise ValueError(f"regions: no pattern called {name!r}")
    return inside.astype(np.float64)


def _labels(name, where, shape):
    x, y, _ = where.T
    if name == "combs":
        # Different integers that are equal as doubles.
        return 2**53 + ((y == shape[1] - 1) | (x % 2 == 1) & (y > 0)).astype(np.int64)
    return (x * 3 // shape[0]).astype(np.int32)


def _steps(path):
    """The distance along the spiral of each of its cells from (0, 0), in cells."""
    distance = np.where(path, -1, -2)
    front, steps = [(0, 0)], 0
    while front:
        for place in front:
            distance[place] = steps
        steps += 1
        near = [(x + dx, y + dy) for x, y in front for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1))]
        front = [
            p for p in set(near)
            if 0 <= p[0] < path.shape[0] and 0 <= p[1] < path.shape[1] and distance[p] == -1
        ]
    return distance


def _add(attributes, name, values):
    array = numpy_to_vtk(np.ascontiguousarray(values), deep=1)
    array.SetName(name)
    attributes.AddArray(array)


def _clear(attributes):
    while attributes.GetNumberOfArrays():
        attributes.RemoveArray(0)


def _spheres():
    append = vtkAppendPolyData()
    for radius in RADII:
        sphere = vtkSphereSource()
        sphere.SetRadius(radius)
        sphere.SetThetaResolution(24)
        sphere.SetPhiResolution(18)
        append.AddInputConnection(sphere.GetOutputPort())
    append.Update()
    return append.GetOutput()


@functools.lru_cache(maxsize=2)
def make(mesh="image", size=(12, 12, 12), pattern="all"):
    """Make a whole.

    mesh     one of Data/flows.py, or surface (triangles as poly data), polyhedra (the mixed mesh),
             spheres (two, poly data), one of CELL_TYPES
    size     lattice cells along each axis; 0: flat
    pattern  the pattern of the cell array `value`, see _pattern

    Cell arrays: number, value (1 in the pattern, 0 else), label, noise and level (random in [0, 1));
    point arrays: number, potential (random in [0, 1)). The object is cached; do
    not modify it.
    """
    if mesh == "spheres":
        data = _spheres()
    elif mesh in CELL_TYPES:
        data = meshes.whole(CELL_TYPES[mesh], size[0])
    else:
        base = {"surface": "triangles", "polyhedra": "mixed"}.get(mesh, mesh)
        data = flows.build(
            0, 1, flow="double_gyre" if size[2] == 0 else "abc", mesh=base, dtype="float64",
            size=[n + 1 for n in size],
        )
        if mesh == "surface":
            convert = vtkGeometryFilter()
            convert.SetInputData(data)
            convert.Update()
            data = convert.GetOutput()
        elif mesh == "polyhedra":
            data = meshes.polyhedra(data)
    cells, points = data.GetCellData(), data.GetPointData()
    _clear(cells)
    _clear(points)
    numbers = np.arange(data.GetNumberOfCells())
    _add(cells, "number", numbers)
    _add(points, "number", np.arange(data.GetNumberOfPoints()))
    shape = np.maximum(size, 1)
    if mesh in flows.STRUCTURED_MESHES:
        where = np.stack(np.unravel_index(numbers, shape[::-1])[::-1], axis=-1)
    else:
        bounds = np.array([data.GetCell(int(n)).GetBounds() for n in numbers])
        low, high = np.array(data.GetBounds())[::2], np.array(data.GetBounds())[1::2]
        middle = (bounds[:, ::2] + bounds[:, 1::2]) / 2
        share = (middle - low) / np.where(high > low, high - low, 1)
        where = np.clip((share * shape).astype(int), 0, shape - 1)
    _add(cells, "value", _pattern(pattern, numbers, where, shape))
    _add(cells, "label", _labels(pattern, where, shape))
    _add(cells, "noise", flows._hash(numbers, 102))
    _add(cells, "level", flows._hash(numbers, 103))
    _add(points, "potential", flows._hash(np.arange(data.GetNumberOfPoints()), 104))
    return data


# --- Cutting --------------------------------------------------------------------------------------


def _incidence(data):
    """Points of the cells of a data set: offsets and connectivity. For poly data: polygons only."""
    if data.IsA("vtkUnstructuredGrid") or data.IsA("vtkPolyData"):
        cells = data.GetCells() if data.IsA("vtkUnstructuredGrid") else data.GetPolys()
        if cells is None or cells.GetNumberOfCells() == 0:
            return np.zeros(1, np.int64), np.zeros(0, np.int64)
        assert cells.GetNumberOfCells() == data.GetNumberOfCells(), "cells that are no polygons"
        offsets = vtk_to_numpy(cells.GetOffsetsArray()).astype(np.int64)
        return offsets, vtk_to_numpy(cells.GetConnectivityArray()).astype(np.int64)
    cells, keys = _lattice_entities(_cells_along(data), 3)
    order = np.argsort(cells, kind="stable")
    each = len(cells) // max(data.GetNumberOfCells(), 1)
    return np.arange(data.GetNumberOfCells() + 1) * each, keys[order]


def _cells_along(data):
    extent = data.GetExtent()
    return [extent[2 * a + 1] - extent[2 * a] for a in range(3)]


def _lattice_entities(cells_along, codimension):
    """(cell, entity) for all cells of a lattice and their faces, edges or points (codimension 1 to
    3 in space; edges and points in a plane). Points are numbered as VTK does."""
    spans = [a for a in range(3) if cells_along[a] > 0]
    shape = [max(n, 1) for n in cells_along]
    numbers = np.arange(int(np.prod(shape)))
    where = np.unravel_index(numbers, shape[::-1])[::-1]
    points = [n + 1 for n in cells_along]
    cells, keys = [], []
    for kind, axes in enumerate(itertools.combinations(spans, min(codimension, len(spans)))):
        for ends in itertools.product((0, 1), repeat=len(axes)):
            place = list(where)
            for axis, end in zip(axes, ends):
                place[axis] = place[axis] + end
            key = place[0] + points[0] * (place[1] + points[1] * place[2])
            cells.append(numbers)
            keys.append(key + kind * int(np.prod(points)))
    return np.concatenate(cells), np.concatenate(keys)


@functools.lru_cache(maxsize=8)
def _owners(data, pieces, cut):
    """The piece of each cell of an unstructured whole."""
    numbers = np.arange(data.GetNumberOfCells())
    if cut == "slices":
        return numbers * pieces // len(numbers)
    if cut == "random":
        return (flows._hash(numbers, 7 + pieces) * pieces).astype(int)
    if cut != "bricks":
        raise ValueError(f"regions: no cut called {cut!r}")
    bounds = np.array([data.GetCell(int(n)).GetBounds() for n in numbers])
    low, high = np.array(data.GetBounds())[::2], np.array(data.GetBounds())[1::2]
    share = ((bounds[:, ::2] + bounds[:, 1::2]) / 2 - low) / np.where(high > low, high - low, 1)
    parts = np.array(flows._factors(pieces, [1000, 900, 800]))
    place = np.clip((share * parts).astype(int), 0, parts - 1)
    return place[:, 0] + parts[0] * (place[:, 1] + parts[1] * place[:, 2])


def _mark_ghosts(data, cells, points):
    flows._add_ghosts(data.GetCellData(), cells)
    flows._add_ghosts(data.GetPointData(), points)


def _structured_piece(whole, owned, ghosts):
    whole_extent = whole.GetExtent()
    extent = list(owned)
    for a in range(3):
        extent[2 * a] = max(whole_extent[2 * a], owned[2 * a] - ghosts)
        extent[2 * a + 1] = min(whole_extent[2 * a + 1], owned[2 * a + 1] + ghosts)
    piece = whole.NewInstance()
    piece.CopyStructure(whole)
    piece.Crop(extent)
    ghost = []
    for old, new, more in (
        (whole.GetCellData(), piece.GetCellData(), 0), (whole.GetPointData(), piece.GetPointData(), 1),
    ):
        # Does not use Crop, which selects wrong cells for a plane normal to x.
        axes, inside, shape = [], [], []
        for a in (2, 1, 0):
            extra = 1 if whole_extent[2 * a] == whole_extent[2 * a + 1] else more
            axes.append(np.arange(extent[2 * a], extent[2 * a + 1] + extra))
            inside.append((axes[-1] >= owned[2 * a]) & (axes[-1] < owned[2 * a + 1] + extra))
            shape.append(whole_extent[2 * a + 1] + extra)
        z, y, x = np.meshgrid(*axes, indexing="ij")
        numbers = (x + shape[2] * (y + shape[1] * z)).ravel()
        for index in range(old.GetNumberOfArrays()):
            _add(new, old.GetArrayName(index), vtk_to_numpy(old.GetArray(index))[numbers])
        z, y, x = np.meshgrid(*inside, indexing="ij")
        ghost.append(~(x & y & z).ravel())
    if extent != list(owned):
        _mark_ghosts(piece, *ghost)
    return piece


def _unstructured_piece(whole, owner, piece, ghosts):
    chosen = owner == piece
    own_points = np.zeros(whole.GetNumberOfPoints(), dtype=bool)
    offsets, connectivity = _incidence(whole)
    cell_of = np.repeat(np.arange(len(owner)), np.diff(offsets))
    own_points[connectivity[chosen[cell_of]]] = True
    if ghosts and chosen.any():
        chosen = chosen.copy()
        chosen[cell_of[own_points[connectivity]]] = True
    ids = vtkIdList()
    for cell in np.flatnonzero(chosen):
        ids.InsertNextId(int(cell))
    if not ids.GetNumberOfIds():
        return whole.NewInstance()
    extract = vtkExtractCells()
    extract.SetInputData(whole)
    extract.SetCellList(ids)
    extract.Update()
    data = extract.GetOutput()
    data.GetPointData().RemoveArray("vtkOriginalPointIds")
    data.GetCellData().RemoveArray("vtkOriginalCellIds")
    if whole.IsA("vtkPolyData"):
        convert = vtkGeometryFilter()
        convert.SetInputData(data)
        convert.Update()
        data = convert.GetOutput()
    if ghosts:
        cells = vtk_to_numpy(data.GetCellData().GetArray("number"))
        points = vtk_to_numpy(data.GetPointData().GetArray("number"))
        _mark_ghosts(data, owner[cells] != piece, ~own_points[points])
    return data


def _place_points(data, piece, nudge):
    """In odd pieces, replace 0 by -0 and shift points by `nudge`. Results must not depend on this."""
    if piece % 2 == 0 or not data.GetNumberOfPoints():
        return
    points = vtk_to_numpy(data.GetPoints().GetData()).copy()
    points[points == 0] = -0.0
    if nudge:
        points += nudge
    copy = vtkPoints()
    copy.SetData(numpy_to_vtk(points, deep=1))
    data.SetPoints(copy)


def global_ids(numbers):
    """Ids in an order other than that of numbers, too large for 32 bits."""
    return (numbers * 7919) % 1000003 + 10**12


def build(rank, ranks, whole, pieces=0, cut="bricks", placing="contiguous", container="none",
          ghosts=0, ids=False, empty=0, nudge=0.0):
    """The part of this rank in make(**whole).

    pieces, placing, container, empty  as in flows.build
    cut     bricks; for unstructured data also slices (consecutive cells) and random (cell by cell)
    ghosts  layers of ghost cells, 0 or 1
    ids     unstructured: whether points and cells have global ids
    nudge   unstructured: distance by which points of odd pieces are shifted
    """
    if pieces == 0:
        pieces = ranks - min(empty, ranks - 1)
    mine = flows.pieces_of(rank, ranks, pieces, placing, empty)
    mesh = whole.get("mesh", "image")
    if mesh == "spheres":  # the first sphere on the first rank, the other one on the last rank
        mine = [p for p in range(2) if p * (ranks - 1) == rank]
        pieces, cut = 2, "slices"
    data = make(**whole)
    leaves = {}
    for piece in mine:
        if mesh in flows.STRUCTURED_MESHES:
            along = _cells_along(data)
            lattice = SimpleNamespace(
                points=[n + 1 for n in along], cells=tuple(max(n, 1) for n in along)
            )
            leaves[piece] = _structured_piece(data, flows.brick(lattice, pieces, piece), ghosts)
        else:
            leaf = _unstructured_piece(data, _owners(data, pieces, cut), piece, ghosts)
            _place_points(leaf, piece, nudge)
            leaves[piece] = leaf
            if ids and leaf.GetNumberOfCells():
                for attributes, name in (
                    (leaf.GetPointData(), "GlobalPointIds"), (leaf.GetCellData(), "GlobalCellIds"),
                ):
                    values = global_ids(vtk_to_numpy(attributes.GetArray("number")))
                    _add(attributes, name, values)
                    attributes.SetGlobalIds(attributes.GetArray(name))
    if container != "none":
        return flows.contain(leaves, container, pieces)
    if not leaves:
        return data.NewInstance()
    if len(leaves) == 1:
        return next(iter(leaves.values()))
    assert mesh == "spheres", "several pieces on a rank need a container"
    append = vtkAppendPolyData()
    for leaf in leaves.values():
        append.AddInputData(leaf)
    append.Update()
    return append.GetOutput()


def extent(whole, container="none", **_):
    """The whole extent that a producer of pieces must set for structured data; else None."""
    if container != "none" or whole.get("mesh", "image") not in flows.STRUCTURED_MESHES:
        return None
    size = whole.get("size", (12, 12, 12))
    return [0, size[0], 0, size[1], 0, size[2]]


def source(whole, **arguments):
    """Return a proxy; arguments as for build."""
    container = arguments.get("container", "none")
    mesh = whole.get("mesh", "image")
    kind = container if container != "none" else _CLASSES.get(mesh, "vtkUnstructuredGrid")
    return meshes.source(
        _TYPES[kind], "regions", "build", dict(arguments, whole=whole), extent(whole, container)
    )


# --- Brute force ----------------------------------------------------------------------------------


def components(count, one, other):
    """Connected components of the numbers 0..count-1 with links between one[i] and other[i]: the least
    number in the component of each number."""
    label = np.arange(count)
    while True:
        a, b = label[one], label[other]
        differ = a != b
        if not differ.any():
            return label
        one, other, a, b = one[differ], other[differ], a[differ], b[differ]
        np.minimum.at(label, np.maximum(a, b), np.minimum(a, b))
        while True:
            jumped = label[label]
            if np.array_equal(jumped, label):
                break
            label = jumped


def _merged(points):
    """Numbers of points; points with equal coordinates have equal numbers."""
    points = np.asarray(points, dtype=np.float64) + 0.0  # -0 becomes 0
    return np.unique(points, axis=0, return_inverse=True)[1].reshape(-1)


@functools.lru_cache(maxsize=2)
def reference(**whole):
    """The Reference of make(**whole)."""
    return Reference(make(**whole), linear=True)


class Reference:
    """A whole, defined by its leaf data sets, and its regions by brute force.

    count           number of cells of all leaves; point_count: number of points
    cell, point     arrays by name
    """

    def __init__(self, *leaves, linear=False):
        """linear: whether linear cells are measured here, and not by VTK."""
        self.leaves = leaves
        self._linear = linear
        self.count = sum(leaf.GetNumberOfCells() for leaf in leaves)
        self.point_count = sum(leaf.GetNumberOfPoints() for leaf in leaves)
        self.cell, self.point = (
            {
                name: np.concatenate([vtk_to_numpy(g(leaf).GetArray(name)) for leaf in leaves])
                for name in (g(leaves[0]).GetArrayName(i) for i in range(g(leaves[0]).GetNumberOfArrays()))
            }
            for g in (lambda leaf: leaf.GetCellData(), lambda leaf: leaf.GetPointData())
        )
        self.coordinates = np.concatenate([_coordinates(leaf) for leaf in leaves])
        parts = [_incidence(leaf) for leaf in leaves]
        sizes = np.concatenate([np.diff(offsets) for offsets, _ in parts])
        self.cell_of = np.repeat(np.arange(self.count), sizes)
        first = np.cumsum([0] + [leaf.GetNumberOfPoints() for leaf in leaves])
        self.connectivity = np.concatenate([c + first[i] for i, (_, c) in enumerate(parts)])
        self.offsets = np.concatenate([[0], np.cumsum(sizes)])
        self.merged = _merged(self.coordinates)
        self._sizes = None
        self._entities = {POINTS: (self.cell_of, self.merged[self.connectivity])}

    def number(self, rows, what):
        """Add the column number to rows identified by `place`; copies of a point share a number."""
        mine = np.concatenate([_places(leaf, what) for leaf in self.leaves])
        place = rows.pop("place")
        same = np.unique(np.concatenate([mine, place]), axis=0, return_inverse=True)[1].reshape(-1)
        number = np.full(same.max(initial=-1) + 1, -1)
        number[same[: len(mine)][::-1]] = np.arange(len(mine))[::-1]
        rows["number"] = number[same[len(mine) :]]
        assert (rows["number"] >= 0).all(), f"{what} at places where there were none"

    def entities(self, through):
        """(cell, entity) of all cells. In a plane, EDGES is equivalent to FACES."""
        if through not in self._entities:
            assert len(self.leaves) == 1
            data = self.leaves[0]
            if hasattr(data, "GetExtent"):
                along = _cells_along(data)
                flat = 3 - sum(n > 0 for n in along)
                self._entities[through] = _lattice_entities(along, max(through + 1 - flat, 1))
            else:
                self._entities[through] = self._cell_by_cell(data, through)
        return self._entities[through]

    def _cell_by_cell(self, data, through):
        cells, names = [], []
        for number in range(self.count):
            cell = data.GetCell(number)
            solid = cell.GetCellDimension() == 3
            faces = solid and through == FACES
            for index in range(cell.GetNumberOfFaces() if faces else cell.GetNumberOfEdges()):
                ids = (cell.GetFace(index) if faces else cell.GetEdge(index)).GetPointIds()
                name = sorted(self.merged[ids.GetId(i)] for i in range(ids.GetNumberOfIds()))
                cells.append(number)
                names.append((name + [-1] * 8)[:8])
        keys = np.unique(np.array(names), axis=0, return_inverse=True)[1].reshape(-1)
        return np.array(cells), keys

    def in_range(self, array, low, high, full=False):
        """Whether each cell is in range; array: (POINTS or CELLS, name)."""
        where, name = array
        if where == "CELLS":
            return (self.cell[name] >= low) & (self.cell[name] <= high)
        inside = (self.point[name] >= low) & (self.point[name] <= high)
        count = np.bincount(self.cell_of[inside[self.connectivity]], minlength=self.count)
        return count == np.diff(self.offsets) if full else count > 0

    def regions(self, inside=None, through=POINTS, labels=None):
        """Region of each cell, -1 outside `inside`; regions are ordered by their least cell number."""
        if inside is None:
            inside = np.ones(self.count, dtype=bool)
        cells, entities = self.entities(through)
        keep = inside[cells]
        cells, entities = cells[keep], entities[keep]
        kind = np.zeros(len(cells), dtype=np.int64) if labels is None else labels[cells]
        order = np.lexsort((cells, kind, entities))
        cells, entities, kind = cells[order], entities[order], kind[order]
        same = (entities[1:] == entities[:-1]) & (kind[1:] == kind[:-1])
        least = components(self.count, cells[:-1][same], cells[1:][same])
        result = np.full(self.count, -1)
        result[inside] = np.unique(least[inside], return_inverse=True)[1].reshape(-1)
        return result

    def point_regions(self, regions):
        """Region of each point: the least region of the cells that use it or a copy of it."""
        use = regions[self.cell_of] >= 0
        result = np.full(self.merged.max(initial=0) + 1, np.iinfo(np.int64).max)
        np.minimum.at(result, self.merged[self.connectivity[use]], regions[self.cell_of[use]])
        result[result == np.iinfo(np.int64).max] = -1
        return result[self.merged]

    def sizes(self):
        """Measure and centroid of each cell."""
        if self._sizes is None:
            parts = [_sizes(leaf, self._linear) for leaf in self.leaves]
            self._sizes = tuple(np.concatenate(part) for part in zip(*parts))
        return self._sizes

    def table(self, regions, arrays=()):
        """The columns of the table of regions. arrays: list of (POINTS or CELLS, name)."""
        count = regions.max(initial=-1) + 1
        use = regions >= 0
        which = regions[use]

        def total(values):
            return np.bincount(which, weights=values[use], minlength=count)

        corner = np.flatnonzero(use[self.cell_of])
        pairs = np.unique(
            np.stack([regions[self.cell_of[corner]], self.merged[self.connectivity[corner]]], axis=-1),
            axis=0,
        ).reshape(-1, 2)
        measure, middle = self.sizes()
        corners = self.coordinates[self.connectivity]
        measures = total(measure)
        result = {
            "RegionId": np.arange(count),
            "Cells": np.bincount(which, minlength=count),
            "Points": np.bincount(pairs[:, 0], minlength=count),
            "Measure": measures,
            "Centroid": np.stack([total(measure * c) / measures for c in middle.T], axis=-1),
        }
        region_of_corner = regions[self.cell_of[corner]]
        box = []
        for axis in range(3):
            box += _extremes(region_of_corner, corners[corner, axis], count)
        result["Bounds"] = np.stack(box, axis=-1)
        for where, name in arrays:
            if where == "CELLS":
                of_cell = self.cell[name].astype(np.float64)
                low, high = _extremes(which, of_cell[use], count)
            else:
                of_corner = self.point[name][self.connectivity].astype(np.float64)
                of_cell = np.bincount(self.cell_of, weights=of_corner) / np.diff(self.offsets)
                low, high = _extremes(region_of_corner, of_corner[corner], count)
            integral = total(measure * of_cell)
            result[f"{name} Minimum"], result[f"{name} Maximum"] = low, high
            result[f"{name} Mean"], result[f"{name} Integral"] = integral / measures, integral
        return result


def _coordinates(data):
    if data.IsA("vtkPointSet"):
        return vtk_to_numpy(data.GetPoints().GetData()).astype(np.float64)
    return np.array([data.GetPoint(i) for i in range(data.GetNumberOfPoints())])


def _cycle(cell):
    """The points of a flat cell in cyclic order."""
    points = [cell.GetPointId(corner) for corner in range(cell.GetNumberOfPoints())]
    return [points[i] for i in (0, 1, 3, 2)] if cell.GetCellType() == VTK_PIXEL else points


def _simplices(cell, points):
    """Simplices that fill a linear cell, each corner as weights of the cell's points, which are in the order of
    `points`. Faces that are not flat are triangulated as fans around the mean of their corners."""
    of = {point: number for number, point in enumerate(points)}

    def mean(some):
        weights = np.zeros(len(points))
        weights[[of[point] for point in some]] = 1 / len(some)
        return weights

    if cell.GetCellDimension() < 3:
        first, *rest = [mean([point]) for point in _cycle(cell)]
        return np.array([(first, one, other) for one, other in zip(rest, rest[1:])])
    faces = [_cycle(cell.GetFace(number)) for number in range(cell.GetNumberOfFaces())]
    return np.array([
        (mean(points), mean(face), mean([one]), mean([other]))
        for face in faces for one, other in zip(face, face[1:] + face[:1])
    ])


def _linear_sizes(data):
    """Measure and centroid of each linear cell, bounded by its faces."""
    count = data.GetNumberOfCells()
    offsets, connectivity = _incidence(data)
    coordinates = _coordinates(data)
    alike = {}
    for number in range(count):
        kind = data.GetCellType(number)
        shape = number if kind == VTK_POLYHEDRON else (kind, offsets[number + 1] - offsets[number])
        alike.setdefault(shape, []).append(number)
    measure, middle = np.zeros(count), np.zeros((count, 3))
    for numbers in alike.values():
        first = offsets[numbers]
        points = connectivity[first[:, None] + np.arange(offsets[numbers[0] + 1] - first[0])]
        weights = _simplices(data.GetCell(numbers[0]), points[0].tolist())
        corners = np.einsum("svp,cpd->csvd", weights, coordinates[points])
        sides = corners[:, :, 1:] - corners[:, :, :1]
        if sides.shape[2] == 3:
            measures = np.abs(np.linalg.det(sides)) / 6
        else:
            normals = np.cross(sides[:, :, 0], sides[:, :, 1])
            whole = normals.sum(axis=1)
            measures = np.einsum("csd,cd->cs", normals, whole) / np.linalg.norm(whole, axis=1)[:, None] / 2
        measure[numbers] = measures.sum(axis=1)
        middle[numbers] = np.einsum("cs,csd->cd", measures, corners.mean(axis=2)) / measure[numbers][:, None]
    return measure, middle


def _sizes(data, linear):
    """Measure and centroid of each cell; approximate only for cells that are not linear, and unless `linear` says that
    the others are to be measured here."""
    if data.IsA("vtkImageData"):
        spacing = np.array(data.GetSpacing())
        along = [n > 0 for n in _cells_along(data)]
        corners = _coordinates(data)[_incidence(data)[1]].reshape(data.GetNumberOfCells(), -1, 3)
        return np.full(data.GetNumberOfCells(), np.prod(spacing[along])), corners.mean(axis=1)
    if linear and data.GetCell(0).IsLinear():
        return _linear_sizes(data)
    sizes = vtkCellSizeFilter()
    sizes.SetInputData(data)
    sizes.Update()
    arrays = sizes.GetOutput().GetCellData()
    measure = sum(np.abs(vtk_to_numpy(arrays.GetArray(name))) for name in ("Length", "Area", "Volume"))
    offsets, connectivity = _incidence(data)
    cell_of = np.repeat(np.arange(len(measure)), np.diff(offsets))
    corners = _coordinates(data)[connectivity]
    totals = [np.bincount(cell_of, weights=c, minlength=len(measure)) for c in corners.T]
    return measure, np.stack(totals, axis=-1) / np.diff(offsets)[:, None]


def _extremes(which, values, count):
    low, high = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(low, which, values)
    np.maximum.at(high, which, values)
    return [low, high]


def same_partition(one, other):
    """Whether two numberings define the same sets; -1 is a set of its own."""
    if not np.array_equal(one < 0, other < 0):
        return False
    pairs = np.unique(np.stack([one, other], axis=-1), axis=0)
    return len(np.unique(pairs[:, 0])) == len(pairs) == len(np.unique(pairs[:, 1]))


# --- Results of all ranks -------------------------------------------------------------------------


def leaves(data):
    if data is None:
        return []
    if not data.IsA("vtkCompositeDataSet"):
        return [data]
    found = []
    iterator = data.NewIterator()
    iterator.InitTraversal()
    while not iterator.IsDoneWithTraversal():
        found.append(iterator.GetCurrentDataObject())
        iterator.GoToNextItem()
    return found


def _places(data, what):
    """Numbers that identify cells or points by position, the same in every piece."""
    coordinates = _coordinates(data) + 0.0
    if what == "points":
        return coordinates
    offsets, connectivity = _incidence(data)
    corners = coordinates[connectivity]
    digests = [
        hashlib.md5(corners[first:last].tobytes()).digest()
        for first, last in zip(offsets[:-1], offsets[1:])
    ]
    return np.frombuffer(b"".join(digests), np.int64).reshape(-1, 2)


def rows(data, what):
    """The part of this rank in `gathered`."""
    if what == "table":
        return tables.columns_of(data) if data.GetNumberOfRows() else {}
    parts = []
    for leaf in leaves(data):
        trees = leaf.IsA("vtkHyperTreeGrid")
        if trees and what == "points":
            continue
        attributes = leaf.GetCellData() if what == "cells" else leaf.GetPointData()
        count = leaf.GetNumberOfCells() if what == "cells" else leaf.GetNumberOfPoints()
        if not count:
            continue
        part = {}
        for name in [attributes.GetArrayName(i) for i in range(attributes.GetNumberOfArrays())]:
            if name in ("number", "vtkGhostType") or name.startswith("RegionId"):
                part[name] = vtk_to_numpy(attributes.GetArray(name))
        if "number" not in part:
            part["place"] = _places(leaf, what)
        part.setdefault("vtkGhostType", np.zeros(count, np.uint8))
        if trees:  # divided cells have no number; divided and masked cells have no region
            there = part["number"] >= 0
            if leaf.HasMask():
                there &= np.array([leaf.GetMask().GetValue(cell) == 0 for cell in range(count)])
            for name, values in part.items():
                assert not name.startswith("RegionId") or (values[~there] == -1).all(), f"{name} of no leaf"
            part = {name: values[there] for name, values in part.items()}
        parts.append(part)
    return joined(parts)


def joined(parts):
    """Concatenate dictionaries of arrays. Arrays that some parts lack are filled with an id of no region."""
    parts = [part for part in parts if part]
    names = sorted(set().union(*parts))
    for part in parts:
        count = len(next(iter(part.values())))
        for name in names:
            part.setdefault(name, np.full(count, -99))
    return {name: np.concatenate([part[name] for part in parts]) for name in names}


def gathered(data, what):
    """Gather the rows of all ranks on rank 0, as a dictionary of arrays by name. Collective.

    what  cells or points: number (or `place`, which identifies them), arrays RegionId..., and
          vtkGhostType (0 if absent); table: all columns. `rank` is the rank of each row.
    """
    from mpi4py import MPI

    mine = rows(data, what)
    if mine:
        mine["rank"] = np.full(len(next(iter(mine.values()))), MPI.COMM_WORLD.rank)
    parts = MPI.COMM_WORLD.gather(mine)
    return joined(parts) if parts is not None else None
