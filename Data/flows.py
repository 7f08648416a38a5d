# SPDX-License-Identifier: BSD-3-Clause
"""Data sets with an analytic velocity, cut into pieces at will.

In a pvbatch or pvpython script (the client's folder Data/ must be readable by
the servers too):

    sys.path.insert(0, "<repository>/Data")
    import flows
    flow = flows.source(flow="abc", mesh="image", size=96)
    seeds = flows.seeds(1000, flows.bounds("abc"))

`source` and `seeds` return Programmable Source proxies; every rank then makes its
own pieces by `build` and `seed_points` below, which return VTK objects and may be
called directly.

Every coordinate and velocity is evaluated from global indices in one order, so it
has the same bits in whatever piece it appears: two cuts differ in nothing but the
cut. Points on the border of two pieces are in both.
"""

import os

import numpy as np
from vtkmodules.util.numpy_support import numpy_to_vtk
from vtkmodules.vtkCommonCore import vtkPoints, vtkUnsignedCharArray
from vtkmodules.vtkCommonDataModel import (
    VTK_HEXAHEDRON,
    VTK_PYRAMID,
    VTK_QUAD,
    VTK_TETRA,
    VTK_TRIANGLE,
    VTK_WEDGE,
    vtkCellArray,
    vtkImageData,
    vtkMultiBlockDataSet,
    vtkPartitionedDataSet,
    vtkPartitionedDataSetCollection,
    vtkPolyData,
    vtkRectilinearGrid,
    vtkStructuredGrid,
    vtkUnstructuredGrid,
)

DUPLICATE = 1  # vtkDataSetAttributes::DUPLICATECELL and DUPLICATEPOINT

STRUCTURED_MESHES = ("image", "rectilinear", "structured")
UNSTRUCTURED_MESHES = ("tetrahedra", "hexahedra", "wedges", "pyramids", "mixed")
PLANE_MESHES = ("triangles", "quads")


# --- Flows ---------------------------------------------------------------------------------------


def _each(function, values):
    """Apply a function of one number; the result does not depend on a number's place.

    Vector kernels may treat the last few numbers of an array differently, hence the padding.
    """
    values = np.asarray(values, dtype=np.float64)
    padded = np.zeros(-(-max(values.size, 1) // 64) * 64)
    padded[: values.size] = values.ravel()
    return function(padded)[: values.size].reshape(values.shape)


def _sin(values):
    return _each(np.sin, values)


def _cos(values):
    return _each(np.cos, values)


def _abc(x, y, z, **_):
    """Arnold-Beltrami-Childress flow with A = sqrt(3), B = sqrt(2), C = 1 on [0, 2 pi]^3."""
    a, b, c = np.sqrt(3.0), np.sqrt(2.0), 1.0
    return (
        a * _sin(z) + c * _cos(y),
        b * _sin(x) + a * _cos(z),
        c * _sin(y) + b * _cos(x),
    )


def _rotation(x, y, z, **_):
    """Rigid rotation about the z axis with angular velocity 1: circles, vorticity (0, 0, 2)."""
    return (-y, x, 0.0 * z)


def _saddle(x, y, z, **_):
    """Linear saddle (x, -y, 0): from p the flow goes to (x exp(t), y exp(-t), z)."""
    return (x, -y, 0.0 * z)


def _uniform(x, y, z, **_):
    """Velocity (1, 0, 0)."""
    return (1.0 + 0.0 * x, 0.0 * y, 0.0 * z)


def _double_gyre(x, y, z, **_):
    """Steady double gyre on [0, 2] x [0, 1], amplitude 0.1."""
    a = 0.1
    return (
        -np.pi * a * _sin(np.pi * x) * _cos(np.pi * y),
        np.pi * a * _cos(np.pi * x) * _sin(np.pi * y),
        0.0 * z,
    )


def _slow_blocks(x, y, z, lattice=4, fast=10.0, slow=1.0):
    """Velocity in +x, slow in the blocks on the diagonal of a lattice of blocks and fast elsewhere.

    Morozov et al., "IExchange: Asynchronous Communication and Termination Detection for Iterative
    Algorithms", section 4.1.1; the domain is the unit cube.
    """

    def block(values):
        return np.clip(np.floor(np.asarray(values) * lattice), 0, lattice - 1)

    diagonal = (block(x) == block(y)) & (block(y) == block(z))
    return (np.where(diagonal, slow, fast), 0.0 * y, 0.0 * z)


_TWO_PI = 2.0 * np.pi
FLOWS = {
    "abc": (_abc, (0.0, _TWO_PI, 0.0, _TWO_PI, 0.0, _TWO_PI)),
    "rotation": (_rotation, (-1.0, 1.0, -1.0, 1.0, -1.0, 1.0)),
    "saddle": (_saddle, (-1.0, 1.0, -1.0, 1.0, -1.0, 1.0)),
    "uniform": (_uniform, (0.0, 1.0, 0.0, 1.0, 0.0, 1.0)),
    "double_gyre": (_double_gyre, (0.0, 2.0, 0.0, 1.0, 0.0, 0.0)),
    "slow_blocks": (_slow_blocks, (0.0, 1.0, 0.0, 1.0, 0.0, 1.0)),
}


def bounds(flow):
    """The domain of a flow: (x0, x1, y0, y1, z0, z1). A double gyre is flat, z = 0."""
    return FLOWS[flow][1]


def velocity(flow, x, y, z, **parameters):
    """The velocity at points: coordinates that broadcast to one shape S; result S x 3, float64."""
    parts = FLOWS[flow][0](x, y, z, **parameters)
    return np.stack(np.broadcast_arrays(*parts, x, y, z)[:3], axis=-1)


# --- Numbers that look random and depend on an index only -----------------------------------------


def _hash(indices, salt):
    """Uniform float64 in [0, 1), one for each index (splitmix64)."""
    with np.errstate(over="ignore"):
        z = np.asarray(indices).astype(np.uint64)
        z = (z + np.uint64(salt + 1)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    return (z >> np.uint64(11)).astype(np.float64) / float(1 << 53)


# --- The lattice behind every mesh ----------------------------------------------------------------


class _Lattice:
    """points = (nx, ny, nz) lattice points over a box; index order x fastest, as VTK's."""

    def __init__(self, points, box):
        self.points = tuple(points)
        self.box = box
        self.cells = tuple(max(n - 1, 1) for n in self.points)

    def axis(self, which, first, last, stretch=0.0):
        """Coordinates of the lattice points first..last on an axis, evaluated by index."""
        low, high = self.box[2 * which], self.box[2 * which + 1]
        n = self.points[which]
        if n == 1:
            return np.full(last - first + 1, low)
        t = np.arange(first, last + 1, dtype=np.float64) / (n - 1)
        t = t + stretch * t * (1.0 - t) * (1.0 - 2.0 * t)
        return low + (high - low) * t

    def coordinates(self, extent, warp):
        """x, y, z of the points of an extent, each nz x ny x nx; the box's border stays put."""
        x, y, z = (self.axis(a, extent[2 * a], extent[2 * a + 1]) for a in range(3))
        z, y, x = (np.ascontiguousarray(c) for c in np.meshgrid(z, y, x, indexing="ij"))
        if warp == 0.0:
            return x, y, z
        bump = np.full(x.shape, float(warp))
        for a, c in enumerate((x, y, z)):
            low, high = self.box[2 * a], self.box[2 * a + 1]
            if high > low:
                t = (c - low) / (high - low)
                bump = bump * (4.0 * t * (1.0 - t))
        moved = []
        for a, (c, other) in enumerate(((x, y), (y, x), (z, x))):
            low, high = self.box[2 * a], self.box[2 * a + 1]
            moved.append(c + (high - low) * bump * (0.5 + 0.5 * _sin(other)))
        return moved


def _factors(pieces, cells):
    """pieces as a product of three numbers of parts, longest axes cut first."""
    parts = [1, 1, 1]
    left = pieces
    prime = 2
    primes = []
    while left > 1:
        while left % prime == 0:
            primes.append(prime)
            left //= prime
        prime += 1
    for p in reversed(primes):
        axis = max(range(3), key=lambda a: (cells[a] // parts[a], -a))
        parts[axis] *= p
    return parts


def brick(lattice, pieces, piece):
    """Extent (in points) of a piece of the lattice when it is cut into bricks."""
    parts = _factors(pieces, lattice.cells)
    where = (piece % parts[0], piece // parts[0] % parts[1], piece // (parts[0] * parts[1]))
    extent = []
    for a in range(3):
        if lattice.points[a] == 1:
            extent += [0, 0]
        else:
            n = lattice.cells[a]
            extent += [where[a] * n // parts[a], (where[a] + 1) * n // parts[a]]
    return extent


# --- Arrays ---------------------------------------------------------------------------------------


def _add_array(attributes, name, values):
    array = numpy_to_vtk(np.ascontiguousarray(values), deep=1)
    array.SetName(name)
    attributes.AddArray(array)
    return array


def _add_ghosts(attributes, ghost):
    array = vtkUnsignedCharArray()
    array.SetName("vtkGhostType")
    array.SetNumberOfTuples(len(ghost))
    for index, value in enumerate(ghost.tolist()):
        array.SetValue(index, DUPLICATE if value else 0)
    attributes.AddArray(array)


def _add_fields(data, flow, centring, dtype, points, centers, parameters):
    """velocity, and a scalar beside it, on points, on cells or on both."""
    places = {"points": [0], "cells": [1], "both": [0, 1]}[centring]
    for place in places:
        x, y, z = (points, centers)[place]
        attributes = (data.GetPointData(), data.GetCellData())[place]
        values = velocity(flow, x, y, z, **parameters).reshape(-1, 3)
        _add_array(attributes, "velocity", values.astype(dtype))
        attributes.SetActiveVectors("velocity")
        height = np.broadcast_arrays(x + 2.0 * y + 3.0 * z, x, y, z)[0].ravel()
        _add_array(attributes, "height", height.astype(dtype))


# --- Structured meshes ----------------------------------------------------------------------------


def _structured_piece(lattice, mesh, extent, owned, options):
    """One extent of an image, rectilinear or structured grid; cells outside owned are ghosts."""
    shape = [extent[2 * a + 1] - extent[2 * a] + 1 for a in range(3)]
    if mesh == "structured":
        x, y, z = lattice.coordinates(extent, options["warp"])
        data = vtkStructuredGrid()
        data.SetExtent(extent)
        data.SetPoints(_vtk_points(np.stack([x, y, z], axis=-1).reshape(-1, 3), np.float64))
    else:
        stretch = 0.6 if mesh == "rectilinear" else 0.0
        axes = [lattice.axis(a, extent[2 * a], extent[2 * a + 1], stretch) for a in range(3)]
        if mesh == "image":
            data = vtkImageData()
            spacing = [
                (lattice.box[2 * a + 1] - lattice.box[2 * a]) / (lattice.points[a] - 1)
                if lattice.points[a] > 1
                else 1.0
                for a in range(3)
            ]
            data.SetOrigin(lattice.box[::2])
            data.SetSpacing(spacing)
            data.SetExtent(extent)
        else:
            data = vtkRectilinearGrid()
            data.SetExtent(extent)
            data.SetXCoordinates(numpy_to_vtk(axes[0], deep=1))
            data.SetYCoordinates(numpy_to_vtk(axes[1], deep=1))
            data.SetZCoordinates(numpy_to_vtk(axes[2], deep=1))
        # Axes that broadcast keep a large image from costing an evaluation of sine a point.
        x = axes[0].reshape(1, 1, -1)
        y = axes[1].reshape(1, -1, 1)
        z = axes[2].reshape(-1, 1, 1)

    def center(values):
        for axis in range(3):
            if values.shape[axis] > 1:
                low = [slice(None)] * 3
                high = [slice(None)] * 3
                low[axis] = slice(None, -1)
                high[axis] = slice(1, None)
                values = 0.5 * (values[tuple(low)] + values[tuple(high)])
        return values

    _add_fields(
        data,
        options["flow"],
        options["centring"],
        options["dtype"],
        (x, y, z),
        (center(x), center(y), center(z)),
        options["parameters"],
    )
    if list(extent) != list(owned):
        cell, point = [], []
        for a in (2, 1, 0):
            cells = np.arange(extent[2 * a], max(extent[2 * a + 1], extent[2 * a] + 1))
            flat = shape[a] == 1
            cell.append(np.full(1, flat) if flat else _within(cells, owned, a, 0))
            points = np.arange(extent[2 * a], extent[2 * a + 1] + 1)
            point.append(_within(points, owned, a, 1))
        cell = cell[0][:, None, None] & cell[1][None, :, None] & cell[2][None, None, :]
        point = point[0][:, None, None] & point[1][None, :, None] & point[2][None, None, :]
        _add_ghosts(data.GetCellData(), ~cell.ravel())
        _add_ghosts(data.GetPointData(), ~point.ravel())
    return data


def _within(indices, owned, axis, more):
    return (indices >= owned[2 * axis]) & (indices < owned[2 * axis + 1] + more)


# --- Unstructured meshes --------------------------------------------------------------------------

# Corners of a lattice cell by bits x + 2 y + 4 z. Every face that is split is split from its corner
# with no bit set to its corner with both, so neighbors agree.
_HEXAHEDRON = (0, 1, 3, 2, 4, 5, 7, 6)
_WEDGES = ((0, 3, 1, 4, 7, 5), (0, 2, 3, 4, 6, 7))
_KUHN = ((0, 1, 3, 7), (0, 3, 2, 7), (0, 2, 6, 7), (0, 6, 4, 7), (0, 4, 5, 7), (0, 5, 1, 7))
# Faces -x, +x, -y, +y, -z, +z as quadrilaterals whose normal points into the cell.
_FACES = ((0, 2, 6, 4), (1, 5, 7, 3), (0, 4, 5, 1), (2, 3, 7, 6), (0, 1, 3, 2), (4, 6, 7, 5))
_CENTER = 8  # stands for the lattice cell's center point


class _Mesh:
    """A whole unstructured mesh: points (n x 3), and for each cell type its cells and where they lie.

    groups: list of (VTK cell type, connectivity m x k, lattice cell of each m). The order of cells
    over all groups is the mesh's order; a cell's global id is its place in it.
    """

    def __init__(self, points, groups):
        self.points = points
        order = np.argsort(np.concatenate([g[2] for g in groups]), kind="stable")
        self.types = np.concatenate([np.full(len(g[1]), g[0], np.uint8) for g in groups])[order]
        self.home = np.concatenate([g[2] for g in groups])[order]
        sizes = np.concatenate([np.full(len(g[1]), g[1].shape[1], np.int64) for g in groups])
        wide = max(g[1].shape[1] for g in groups)
        table = np.concatenate(
            [np.pad(g[1], ((0, 0), (0, wide - g[1].shape[1])), constant_values=-1) for g in groups]
        )
        self.sizes = sizes[order]
        self.table = table[order]

    def centers(self):
        """Mean of each cell's corners, added in the order of the corners."""
        total = np.zeros((len(self.table), 3))
        for column in self.table.T:
            total = total + np.where((column >= 0)[:, None], self.points[column], 0.0)
        return total / self.sizes[:, None]


def _lattice_mesh(lattice, mesh, jitter):
    nx, ny, nz = lattice.points
    cx, cy, cz = lattice.cells
    flat = nz == 1
    x, y, z = lattice.coordinates((0, nx - 1, 0, ny - 1, 0, nz - 1), 0.0)
    points = np.stack([x, y, z], axis=-1).reshape(-1, 3)
    ids = np.arange(len(points))
    i, j, k = ids % nx, ids // nx % ny, ids // (nx * ny)
    inside = (i > 0) & (i < nx - 1) & (j > 0) & (j < ny - 1)
    if not flat:
        inside &= (k > 0) & (k < nz - 1)
    for axis in range(2 if flat else 3):
        step = (lattice.box[2 * axis + 1] - lattice.box[2 * axis]) / lattice.cells[axis]
        points[:, axis] += np.where(inside, jitter * step * (2 * _hash(ids, axis) - 1), 0.0)

    home = np.arange(cx * cy * cz)
    ci, cj, ck = home % cx, home // cx % cy, home // (cx * cy)
    corner = np.stack(
        [
            (ci + (b & 1)) + nx * ((cj + (b >> 1 & 1)) + ny * (ck + (0 if flat else b >> 2 & 1)))
            for b in range(8)
        ],
        axis=-1,
    )
    if mesh == "quads":
        return _Mesh(points, [(VTK_QUAD, corner[:, [0, 1, 3, 2]], home)])
    if mesh == "triangles":
        return _Mesh(
            points, [(VTK_TRIANGLE, corner[:, t], home) for t in ([0, 1, 3], [0, 3, 2])]
        )
    middle = points[corner[:, 0]]
    for b in range(1, 8):
        middle = middle + points[corner[:, b]]
    corner = np.concatenate([corner, (len(points) + home)[:, None]], axis=1)
    points = np.concatenate([points, middle / 8.0])

    kinds = {"hexahedra": 0, "wedges": 1, "tetrahedra": 2, "pyramids": 3}
    if mesh in kinds:
        kind = np.full(len(home), kinds[mesh])
        split = np.zeros((len(home), 6), dtype=bool)
    else:
        kind = np.minimum((3 * _hash(home, 7)).astype(np.int64), 2)
        split = np.repeat((kind == 2)[:, None], 6, axis=1)
        split[:, 4:] |= (kind == 1)[:, None]
        grid = split.reshape(cz, cy, cx, 6)
        for axis, low in ((2, 0), (1, 2), (0, 4)):
            after = [slice(None)] * 3
            before = [slice(None)] * 3
            after[axis] = slice(1, None)
            before[axis] = slice(None, -1)
            shared = grid[tuple(after)][..., low] | grid[tuple(before)][..., low + 1]
            grid[tuple(after) + (low,)] = shared
            grid[tuple(before) + (low + 1,)] = shared
        split = grid.reshape(-1, 6)
        # A cell that must split a face but cannot is made of pyramids and tetrahedra.
        kind = np.where((kind == 0) & split.any(axis=1), 3, kind)
        kind = np.where((kind == 1) & split[:, :4].any(axis=1), 3, kind)
    groups = []

    def add(cell_type, corners, which):
        if which.any():
            groups.append((cell_type, corner[which][:, list(corners)], home[which]))

    add(VTK_HEXAHEDRON, _HEXAHEDRON, kind == 0)
    for wedge in _WEDGES:
        add(VTK_WEDGE, wedge, kind == 1)
    for tetrahedron in _KUHN:
        add(VTK_TETRA, tetrahedron, kind == 2)
    for face, quad in enumerate(_FACES):
        add(VTK_PYRAMID, quad + (_CENTER,), (kind == 3) & ~split[:, face])
        low, high = min(quad), max(quad)
        first = quad.index(low)
        turned = quad[first:] + quad[:first]
        for triangle in ((low, turned[1], high), (low, high, turned[3])):
            add(VTK_TETRA, triangle + (_CENTER,), (kind == 3) & split[:, face])
    return _Mesh(points, groups)


def _owners(lattice, mesh, pieces, cut):
    """The piece of each cell of a mesh."""
    cx, cy, cz = lattice.cells
    if cut == "random":
        return np.minimum((pieces * _hash(np.arange(len(mesh.home)), 11)).astype(int), pieces - 1)
    i, j, k = mesh.home % cx, mesh.home // cx % cy, mesh.home // (cx * cy)
    owner = np.zeros(len(mesh.home), dtype=int)
    if cut == "bricks":
        for piece in range(pieces):
            e = brick(lattice, pieces, piece)
            inside = (i >= e[0]) & (i < e[1]) & (j >= e[2]) & (j < e[3])
            if lattice.points[2] > 1:
                inside &= (k >= e[4]) & (k < e[5])
            owner[inside] = piece
        return owner
    if cut != "clumps":
        raise ValueError(f"flows: no cut called {cut!r}; take bricks, clumps or random")
    # Each cell goes to the nearest of some centers, so pieces are ragged but connected.
    best = np.full(len(mesh.home), np.inf)
    for piece in range(pieces):
        center = [n * _hash(np.array([piece]), 20 + a)[0] for a, n in enumerate((cx, cy, cz))]
        ragged = 1.0 + 0.5 * _hash(np.arange(len(mesh.home)), 31)
        distance = ragged * ((i - center[0]) ** 2 + (j - center[1]) ** 2 + (k - center[2]) ** 2)
        owner = np.where(distance < best, piece, owner)
        best = np.minimum(best, distance)
    return owner


def _vtk_points(points, dtype):
    result = vtkPoints()
    result.SetData(numpy_to_vtk(np.ascontiguousarray(points.astype(dtype)), deep=1))
    return result


def _unstructured_piece(mesh, owner, piece, options):
    mine = np.flatnonzero(owner == piece)
    ghost = np.zeros(0, dtype=np.int64)
    if options["ghosts"] and len(mine):
        touched = np.zeros(len(mesh.points), dtype=bool)
        table = mesh.table[mine]
        touched[table[table >= 0]] = True
        near = (np.where(mesh.table >= 0, touched[mesh.table], False)).any(axis=1)
        ghost = np.flatnonzero(near & (owner != piece))
    cells = np.concatenate([mine, ghost])
    data = vtkUnstructuredGrid()
    if not len(cells):
        return data
    table = mesh.table[cells]
    used = np.unique(table[table >= 0])
    local = np.full(len(mesh.points), -1)
    local[used] = np.arange(len(used))
    offsets = np.concatenate([[0], np.cumsum(mesh.sizes[cells])])
    connectivity = local[table[table >= 0]]
    array = vtkCellArray()
    array.SetData(
        numpy_to_vtk(offsets.astype(np.int64), deep=1),
        numpy_to_vtk(connectivity.astype(np.int64), deep=1),
    )
    data.SetPoints(_vtk_points(mesh.points[used], options["dtype"]))
    data.SetCells(numpy_to_vtk(mesh.types[cells], deep=1), array)
    centers = mesh.centers()[cells]
    _add_fields(
        data,
        options["flow"],
        options["centring"],
        options["dtype"],
        tuple(np.ascontiguousarray(mesh.points[used].T)),
        tuple(np.ascontiguousarray(centers.T)),
        options["parameters"],
    )
    if options["ids"]:
        data.GetPointData().SetGlobalIds(
            _add_array(data.GetPointData(), "GlobalPointIds", used.astype(np.int64))
        )
        data.GetCellData().SetGlobalIds(
            _add_array(data.GetCellData(), "GlobalCellIds", cells.astype(np.int64))
        )
    if options["ghosts"]:
        _add_ghosts(data.GetCellData(), np.arange(len(cells)) >= len(mine))
        owned = np.zeros(len(used), dtype=bool)
        owned_table = mesh.table[mine]
        owned[local[owned_table[owned_table >= 0]]] = True
        _add_ghosts(data.GetPointData(), ~owned)
    return data


# --- Data sets ------------------------------------------------------------------------------------


def pieces_of(rank, ranks, pieces, placing="contiguous", empty=0):
    """Pieces that live on a rank. The first `empty` ranks, while others are left, hold none."""
    empty = min(empty, ranks - 1)
    rank, ranks = rank - empty, ranks - empty
    if rank < 0:
        return []
    if placing == "cyclic":
        return [p for p in range(pieces) if p % ranks == rank]
    if placing != "contiguous":
        raise ValueError(f"flows: no placing called {placing!r}; take contiguous or cyclic")
    return [p for p in range(pieces) if p * ranks // pieces == rank]


def build(
    rank,
    ranks,
    flow="abc",
    mesh="image",
    size=32,
    pieces=0,
    cut="bricks",
    placing="contiguous",
    container="none",
    centring="points",
    dtype="float32",
    ghosts=0,
    ids=False,
    empty=0,
    jitter=0.2,
    warp=0.08,
    **parameters,
):
    """The part of a data set that one rank holds.

    rank, ranks  which part of how many
    flow         a name in FLOWS; further named arguments go to it
    mesh         image, rectilinear, structured; tetrahedra, hexahedra, wedges, pyramids, mixed;
                 triangles, quads (plane). All fill the flow's box, but for the triangles and quads
                 and for a flat flow, which lie in z = 0.
    size         points along an axis, a number or three
    pieces       into how many pieces the data set is cut; 0: one for each rank that is not empty
    cut          bricks; unstructured meshes also clumps (ragged, connected) and random (cell by cell)
    placing      contiguous or cyclic: which rank has which piece
    container    none: one data set a rank (a structured one can then have one piece a rank at most,
                 pieces of unstructured ones are appended without merging points);
                 multiblock or partitioned: a leaf for each piece
    centring     points, cells or both: where `velocity` (3) and `height` (1, x + 2y + 3z) are
    dtype        float32 or float64, of arrays and of unstructured points
    ghosts       0 or 1 layers of ghost cells
    ids          unstructured: add global ids of points and cells
    empty        so many ranks, from rank 0, get no piece
    jitter       unstructured: points move by so much of a cell at most
    warp         structured: how much the grid bends
    """
    if pieces == 0:
        pieces = ranks - min(empty, ranks - 1)
    points = [size] * 3 if np.isscalar(size) else list(size)
    box = FLOWS[flow][1]
    if mesh in PLANE_MESHES or box[4] == box[5]:
        points[2] = 1
        box = box[:4] + (0.0, 0.0)
    lattice = _Lattice(points, box)
    options = {
        "flow": flow,
        "centring": centring,
        "dtype": np.dtype(dtype),
        "ghosts": ghosts,
        "ids": ids,
        "warp": warp,
        "parameters": parameters,
    }
    mine = pieces_of(rank, ranks, pieces, placing, empty)
    if mesh in STRUCTURED_MESHES:
        if cut != "bricks":
            raise ValueError(f"flows: a mesh {mesh!r} can be cut into bricks only")
        leaves = {}
        for piece in mine:
            owned = brick(lattice, pieces, piece)
            extent = list(owned)
            if ghosts:
                for a in range(3):
                    extent[2 * a] = max(0, owned[2 * a] - 1)
                    extent[2 * a + 1] = min(lattice.points[a] - 1, owned[2 * a + 1] + 1)
            leaves[piece] = _structured_piece(lattice, mesh, extent, owned, options)
    else:
        if mesh not in UNSTRUCTURED_MESHES + PLANE_MESHES:
            raise ValueError(f"flows: no mesh called {mesh!r}")
        whole = _lattice_mesh(lattice, mesh, jitter)
        owner = _owners(lattice, whole, pieces, cut)
        leaves = {p: _unstructured_piece(whole, owner, p, options) for p in mine}
    if container == "none":
        return _single(leaves, mesh)
    return contain(leaves, container, pieces)


def contain(leaves, container, pieces):
    """Data sets, by their number, as some of the leaves of a multiblock or partitioned data set."""
    if container == "multiblock":
        result = vtkMultiBlockDataSet()
        result.SetNumberOfBlocks(pieces)
        for piece, leaf in leaves.items():
            result.SetBlock(piece, leaf)
        return result
    if container == "partitioned":
        partitions = vtkPartitionedDataSet()
        partitions.SetNumberOfPartitions(pieces)
        for piece, leaf in leaves.items():
            partitions.SetPartition(piece, leaf)
        result = vtkPartitionedDataSetCollection()
        result.SetPartitionedDataSet(0, partitions)
        return result
    raise ValueError(f"flows: no container called {container!r}")


_STRUCTURED_CLASSES = {
    "image": vtkImageData,
    "rectilinear": vtkRectilinearGrid,
    "structured": vtkStructuredGrid,
}


def _single(leaves, mesh):
    if mesh in STRUCTURED_MESHES:
        if len(leaves) > 1:
            raise ValueError("flows: several pieces of a structured mesh on a rank need a container")
        return next(iter(leaves.values())) if leaves else _STRUCTURED_CLASSES[mesh]()
    if len(leaves) == 1:
        return next(iter(leaves.values()))
    from vtkmodules.vtkFiltersCore import vtkAppendFilter

    filled = [leaf for leaf in leaves.values() if leaf.GetNumberOfCells()]
    if not filled:
        return vtkUnstructuredGrid()
    append = vtkAppendFilter()
    append.MergePointsOff()
    for leaf in filled:
        append.AddInputData(leaf)
    append.Update()
    return append.GetOutput()


def whole_extent(flow, mesh, size):
    """The extent of the uncut data set of a structured mesh."""
    points = [size] * 3 if np.isscalar(size) else list(size)
    box = FLOWS[flow][1]
    if box[4] == box[5]:
        points[2] = 1
    return [0, points[0] - 1, 0, points[1] - 1, 0, points[2] - 1]


def seed_points(rank, ranks, count, box, salt=0, holder="spread", outside=0, lattice=None):
    """A rank's share of a cloud of seeds; seeds keep one global order on any number of ranks.

    count    seeds in all, spread over the box (x0, x1, y0, y1, z0, z1)
    holder   spread: each rank holds a part; first or last: one rank holds all
    outside  so many of them, the first, lie far from the box
    lattice  (nx, ny, nz): seeds sit on the points of such a lattice over the box, on faces, edges
             and corners of cells, where more than one cell could claim them
    """
    ids = np.arange(count)
    points = np.stack([_hash(ids, 40 + salt * 3 + a) for a in range(3)], axis=-1)
    if lattice is not None:
        steps = np.maximum(np.asarray(lattice) - 1, 1)
        points = np.round(points * steps) / steps
    low, high = np.asarray(box[::2]), np.asarray(box[1::2])
    points = low + points * (high - low)
    points[:outside] += 100.0 * (high - low).max()
    if holder == "spread":
        points = points[rank * count // ranks : (rank + 1) * count // ranks]
    elif rank != {"first": 0, "last": ranks - 1}[holder]:
        points = points[:0]
    result = vtkPolyData()
    result.SetPoints(_vtk_points(points, np.float64))
    vertices = vtkCellArray()
    vertices.SetData(
        numpy_to_vtk(np.arange(len(points) + 1, dtype=np.int64), deep=1),
        numpy_to_vtk(np.arange(len(points), dtype=np.int64), deep=1),
    )
    result.SetVerts(vertices)
    return result


# --- Proxies --------------------------------------------------------------------------------------

_SCRIPT = """
import sys
if {folder!r} not in sys.path:
    sys.path.insert(0, {folder!r})
import flows
from vtkmodules.vtkParallelCore import vtkMultiProcessController
controller = vtkMultiProcessController.GetGlobalController()
rank = controller.GetLocalProcessId() if controller else 0
ranks = controller.GetNumberOfProcesses() if controller else 1
self.GetOutputDataObject(0).ShallowCopy(flows.{function}(rank, ranks, **{arguments!r}))
"""

_INFORMATION_SCRIPT = """
from vtkmodules.vtkCommonExecutionModel import vtkAlgorithm, vtkStreamingDemandDrivenPipeline
information = self.GetExecutive().GetOutputInformation(0)
information.Set(vtkAlgorithm.CAN_HANDLE_PIECE_REQUEST(), 1)
extent = {extent!r}
if extent:
    information.Set(vtkStreamingDemandDrivenPipeline.WHOLE_EXTENT(), extent, 6)
"""

# VTK_POLY_DATA and so on, of vtkType.h.
_TYPES = {
    "vtkPolyData": 0,
    "vtkStructuredGrid": 2,
    "vtkRectilinearGrid": 3,
    "vtkUnstructuredGrid": 4,
    "vtkImageData": 6,
    "vtkMultiBlockDataSet": 13,
    "vtkPartitionedDataSetCollection": 38,
}


def _proxy(class_name, function, arguments, extent):
    from paraview.simple import ProgrammableSource

    source = ProgrammableSource()
    # By number: the proxy's list of names lacks the newest classes.
    source.SMProxy.GetProperty("OutputDataSetType").SetElement(0, _TYPES[class_name])
    source.SMProxy.UpdateVTKObjects()
    folder = os.path.dirname(os.path.abspath(__file__))
    source.Script = _SCRIPT.format(folder=folder, function=function, arguments=arguments)
    source.ScriptRequestInformation = _INFORMATION_SCRIPT.format(extent=extent)
    return source


def source(**arguments):
    """A proxy that makes a data set on the ranks of the server; arguments as for build."""
    container = arguments.get("container", "none")
    mesh = arguments.get("mesh", "image")
    extent = None
    if container == "multiblock":
        name = "vtkMultiBlockDataSet"
    elif container == "partitioned":
        name = "vtkPartitionedDataSetCollection"
    elif mesh in STRUCTURED_MESHES:
        name = _STRUCTURED_CLASSES[mesh].__name__
        extent = whole_extent(arguments.get("flow", "abc"), mesh, arguments.get("size", 32))
    else:
        name = "vtkUnstructuredGrid"
    return _proxy(name, "build", arguments, extent)


def seeds(count, box, **arguments):
    """A proxy that makes a cloud of seeds on the ranks of the server; arguments as for seed_points."""
    return _proxy(
        "vtkPolyData", "seed_points", dict(arguments, count=count, box=tuple(box)), None
    )
