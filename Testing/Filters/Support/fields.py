# SPDX-License-Identifier: BSD-3-Clause
"""Time-dependent fields whose critical points move, appear and disappear, on grids and meshes with a
selectable partition into pieces; and their critical points by brute force.

The points of a grid are at integer multiples of its spacing. Meshes that divide the cells of a grid divide
them along the diagonals from the lowest to the highest corner.
"""

import itertools
import os

import numpy as np
from vtkmodules.util.numpy_support import numpy_to_vtk, numpy_to_vtkIdTypeArray
from vtkmodules.vtkCommonCore import vtkPoints
from vtkmodules.vtkCommonDataModel import (
    VTK_QUAD,
    VTK_QUADRATIC_TRIANGLE,
    VTK_TETRA,
    VTK_TRIANGLE,
    VTK_VOXEL,
    vtkCellArray,
    vtkImageData,
    vtkMultiBlockDataSet,
    vtkPolyData,
    vtkRectilinearGrid,
    vtkStructuredGrid,
    vtkUnstructuredGrid,
)
from vtkmodules.vtkParallelCore import vtkMultiProcessController


def _drift(x, y, z, t):
    """A minimum at center(t); slopes of a parabola are exact."""
    cx, cy = center(t)
    return (x - cx) ** 2 + 2 * (y - cy) ** 2


def center(t):
    return 3.3 + 0.41 * t, 5.23 - 0.31 * t


def _vanish(x, y, z, t):
    """A minimum at x = sqrt(a) and a saddle at -sqrt(a), which meet at time 4."""
    x = 0.5 * (x - 6.05)
    return x**3 / 3 - (4 - t) / 4.0 * x + (y - 5.21) ** 2


def _appear(x, y, z, t):
    return _vanish(x, y, z, 8 - t)


def _turning(x, y, z, t):
    """A center that moves."""
    cx, cy = center(t)
    return np.stack([cy - y, x - cx], axis=-1)


def _woven(x, y, z, t):
    """Differences of the field of section 4.2.1 of the iexchange paper (x, y: numbers of points)."""

    def value(i, j):
        u, v = (((n + 2) / 127 - 0.5) * 32 for n in (x + i, y + j))
        a = t / 127.0
        return np.cos(u * np.cos(a) - v * np.sin(a)) * np.sin(u * np.sin(a) + v * np.cos(a))

    return np.stack([value(1, 0) - value(-1, 0), value(0, 1) - value(0, -1)], axis=-1)


def _waves(x, y, z, t):
    return np.sin(0.9 * x + 0.4 * t) * np.cos(0.8 * y - 0.3 * t) + 0.3 * np.sin(0.5 * (x + 1.7 * y) - t)


def _storm(x, y, z, t):
    return np.stack([np.sin(0.7 * y + 0.3 * t) + 0.4 * np.cos(x), np.cos(0.8 * x - 0.5 * t) * np.sin(0.5 * y + 0.21),
                     0 * x], axis=-1)


def _hidden(x, y, z, t):
    """A field on a domain with a hole."""
    values = _storm(x, y, z, t)
    values[(x > 4) & (x < 8) & (y > 3) & (y < 6)] = np.nan
    return values


def _solid(x, y, z, t):
    return (np.sin(0.9 * x + 0.3 * t) * np.cos(0.7 * y) + np.cos(0.8 * z - 0.4 * t)
            + 0.2 * np.sin(x + y - z + t))


def _swirl(x, y, z, t):
    return np.stack([np.sin(y - 0.3 * t) + 0.5 * np.cos(z), np.sin(0.9 * z + 0.2 * t) + 0.5 * np.cos(x),
                     np.sin(0.8 * x - 0.4 * t) + 0.5 * np.cos(y)], axis=-1)


# Function, points along the axes, spacing.
FIELDS = {
    "drift": (_drift, (14, 11, 1), (1, 1, 1)),
    "vanish": (_vanish, (25, 21, 1), (0.5, 0.5, 1)),
    "appear": (_appear, (25, 21, 1), (0.5, 0.5, 1)),
    "turning": (_turning, (14, 11, 1), (1, 1, 1)),
    "woven": (_woven, (124, 124, 1), (1, 1, 1)),
    "waves": (_waves, (25, 15, 1), (0.5, 0.75, 1)),
    "storm": (_storm, (25, 15, 1), (0.5, 0.75, 1)),
    "hidden": (_hidden, (25, 15, 1), (0.5, 0.75, 1)),
    "solid": (_solid, (13, 9, 10), (0.5, 0.75, 0.5)),
    "swirl": (_swirl, (13, 9, 10), (0.5, 0.75, 0.5)),
    # Images in other planes.
    "standing": (lambda x, y, z, t: _waves(x, z, y, t), (25, 1, 15), (0.5, 1, 0.75)),
    "upright": (lambda x, y, z, t: _storm(x, z, y, t)[:, :2], (25, 1, 15), (0.5, 1, 0.75)),
    # Invalid data.
    "line": (lambda x, y, z, t: x, (25, 1, 1), (1, 1, 1)),
    "wide": (lambda x, y, z, t: np.stack([x] * 4, axis=-1), (8, 8, 1), (1, 1, 1)),
}


def orders(points):
    """Paths from the lowest to the highest corner of a cell: the offsets of the corners of each simplex."""
    axes = [a for a in range(3) if points[a] > 1]
    for order in itertools.permutations(axes):
        corner = np.zeros(3, int)
        corners = [corner.copy()]
        for axis in order:
            corner[axis] += 1
            corners.append(corner.copy())
        yield np.array(corners)


class Slab:
    """The part of a grid between two indices of points along x."""

    def __init__(self, points, spacing, first, last):
        self.whole, self.spacing = points, spacing
        self.first, self.last = first, last
        self.points = (last - first + 1, *points[1:])
        axes = [np.arange(first, last + 1) * spacing[0]]
        axes += [np.arange(points[a]) * spacing[a] for a in (1, 2)]
        self.axes = [np.asarray(a, float) for a in axes]
        z, y, x = np.meshgrid(*self.axes[::-1], indexing="ij")
        self.x, self.y, self.z = (c.ravel() for c in (x, y, z))

    def number(self, i, j, k):
        return (k * self.points[1] + j) * self.points[0] + i

    def corners(self, offsets):
        """The corners of the cells, as rows of point numbers."""
        cells = [max(n - 1, 1) for n in self.points]
        k, j, i = np.meshgrid(*(np.arange(n) for n in cells[::-1]), indexing="ij")
        return np.stack(
            [self.number(i + o[0], j + o[1], k + o[2]).ravel() for o in np.asarray(offsets)], axis=-1
        )

    def ids(self):
        z, y, x = np.meshgrid(*(np.arange(n) for n in self.points[::-1]), indexing="ij")
        return (((z * self.whole[1]) + y) * self.whole[0] + x + self.first).ravel()

    def vtk_points(self):
        points = vtkPoints()
        points.SetDataTypeToDouble()
        points.SetData(numpy_to_vtk(np.stack([self.x, self.y, self.z], axis=-1), deep=1))
        return points

    def _grid(self, kind):
        data = kind()
        extent = (self.first, self.last, 0, self.points[1] - 1, 0, self.points[2] - 1)
        data.SetExtent(extent)
        return data

    def image(self):
        data = self._grid(vtkImageData)
        data.SetSpacing(self.spacing)
        return data

    def rectilinear(self):
        data = self._grid(vtkRectilinearGrid)
        for name, axis in zip("XYZ", self.axes):
            getattr(data, f"Set{name}Coordinates")(numpy_to_vtk(axis, deep=1))
        return data

    def curvilinear(self):
        data = self._grid(vtkStructuredGrid)
        data.SetPoints(self.vtk_points())
        return data

    def _cells(self, corners):
        cells = vtkCellArray()
        width = corners.shape[1]
        offsets = np.arange(0, width * len(corners) + 1, width, dtype=np.int64)
        cells.SetData(
            numpy_to_vtkIdTypeArray(offsets, deep=1),
            numpy_to_vtkIdTypeArray(np.ascontiguousarray(corners, np.int64).ravel(), deep=1),
        )
        return cells

    def _mesh(self, kind, corners):
        data = vtkUnstructuredGrid()
        data.SetPoints(self.vtk_points())
        data.SetCells(kind, self._cells(corners))
        return data

    def solids(self):
        """A mesh whose cells are not simplices."""
        if self.points[2] > 1:
            offsets = [(i, j, k) for k in (0, 1) for j in (0, 1) for i in (0, 1)]
            return self._mesh(VTK_VOXEL, self.corners(offsets))
        return self._mesh(VTK_QUAD, self.corners([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]))

    def _simplices(self):
        return np.concatenate([self.corners(o) for o in orders(self.whole)])

    def simplices(self):
        return self._mesh(VTK_TETRA if self.points[2] > 1 else VTK_TRIANGLE, self._simplices())

    def surface(self):
        data = vtkPolyData()
        data.SetPoints(self.vtk_points())
        data.SetPolys(self._cells(self._simplices()))
        return data

    def _is_hidden(self):
        """Whether each cell is hidden, depending on its position."""
        z, y, x = np.meshgrid(*(0.5 * (a[1:] + a[:-1]) if len(a) > 1 else a for a in self.axes[::-1]),
                              indexing="ij")
        return ((x > 2.1) & (x < 7.7) & (y > 2) & (y < 6)).ravel()

    def blanked(self):
        data = self.image()
        _add(data.GetCellData(), "vtkGhostType", (32 * self._is_hidden()).astype(np.uint8))
        return data

    def cutout(self):
        """Only the cells that are not hidden in blanked()."""
        kind = VTK_TETRA if self.points[2] > 1 else VTK_TRIANGLE
        there = ~self._is_hidden()
        return self._mesh(kind, np.concatenate([self.corners(o)[there] for o in orders(self.whole)]))

    # What is wrong.

    def bent(self):
        self.z = 0.1 * self.x
        return self.surface()

    def moving(self):
        """A mesh whose points move in each step."""
        self.y = self.y * (1 + 0.125 * self.time)
        return self.simplices()

    def quadratic(self):
        corners = self.corners([(0, 0, 0), (1, 0, 0), (0, 1, 0)])
        return self._mesh(VTK_QUADRATIC_TRIANGLE, np.concatenate([corners, corners], axis=1))

    def beyond(self):
        """A mesh whose first cell has a point that does not exist."""
        data = self.simplices()
        data.GetCells().GetConnectivityArray().SetComponent(0, 0, 10**6)
        return data

    def negative(self):
        data = self.simplices()
        data.GetCells().GetConnectivityArray().SetComponent(0, 0, -1)
        return data

    def strange(self):
        """An image with ghost cells in its interior."""
        data = self.image()
        flags = np.zeros([max(n - 1, 1) for n in self.points[::-1]], np.uint8)
        flags[:, flags.shape[1] // 2] = 1
        flags[0, 0, 0] = 1
        _add(data.GetCellData(), "vtkGhostType", flags.ravel())
        return data


def slabs(points, spacing, count, turn, step, ghosts=0):
    """For each of `count` holders, its slab and the numbers of ghost layers below and above."""
    cells = points[0] - 1
    for holder in range(count):
        slab = (holder + step * turn) % count
        first, end = slab * cells // count, (slab + 1) * cells // count
        if first == end:
            yield None, 0, 0
            continue
        below, above = min(ghosts, first), min(ghosts, cells - end)
        yield Slab(points, spacing, first - below, end + above), below, above


def _add(attributes, name, values):
    array = numpy_to_vtk(np.ascontiguousarray(values), deep=1)
    array.SetName(name)
    attributes.AddArray(array)
    return array


ALSO = {"ghosts": "image", "overlapping": "image", "ids": "simplices"}


def piece_of(field, mesh, time, slab, below=0, above=0):
    function = FIELDS[field][0]
    slab.time = time
    data = getattr(slab, ALSO.get(mesh, mesh))()
    values = function(slab.x, slab.y, slab.z, time)
    if mesh == "ghosts":
        # Values of ghosts must not be used.
        n = len(slab.axes[0])
        outside = np.zeros(slab.points[::-1], bool)
        outside[..., :below] = True
        outside[..., n - above:] = above > 0
        values[outside.ravel()] = -1e9
        flags = np.zeros([max(c - 1, 1) for c in slab.points[::-1]], np.uint8)
        flags[..., :below] = 1
        flags[..., n - 1 - above:] = above > 0
        _add(data.GetCellData(), "vtkGhostType", flags.ravel())
    _add(data.GetPointData(), "field", values)
    _add(data.GetCellData(), "of cells", np.zeros(data.GetNumberOfCells()))
    if mesh == "ids":
        ids = numpy_to_vtkIdTypeArray(slab.ids().astype(np.int64), deep=1)
        ids.SetName("GlobalPointIds")
        data.GetPointData().SetGlobalIds(ids)
    return data


def data_of(field, mesh, step, time, count=0, turn=1):
    """The data of this rank: blocks are assigned to the ranks cyclically."""
    controller = vtkMultiProcessController.GetGlobalController()
    rank, ranks = controller.GetLocalProcessId(), controller.GetNumberOfProcesses()
    count = count or ranks
    mine = vtkMultiBlockDataSet()
    mine.SetNumberOfBlocks(count)
    _, points, spacing = FIELDS[field]
    pieces = slabs(points, spacing, count, turn, step, 1 if mesh in ("ghosts", "overlapping") else 0)
    for holder, (slab, below, above) in enumerate(pieces):
        if slab and holder % ranks == rank:
            mine.SetBlock(holder, piece_of(field, mesh, time, slab, below, above))
    return mine


def single(field, mesh, step, time, turn=0):
    """The data of this rank as one data set; with several ranks, that of the last rank is empty."""
    controller = vtkMultiProcessController.GetGlobalController()
    rank, ranks = controller.GetLocalProcessId(), controller.GetNumberOfProcesses()
    _, points, spacing = FIELDS[field]
    holders = max(ranks - 1, 1)
    pieces = list(slabs(points, spacing, holders, turn, step, 1 if mesh in ("ghosts", "overlapping") else 0))
    slab, below, above = pieces[rank] if rank < holders else (None, 0, 0)
    if slab is None:
        slab = Slab(points, spacing, 0, 1)
        return getattr(slab, ALSO.get(mesh, mesh))().NewInstance()
    return piece_of(field, mesh, time, slab, below, above)


_SCRIPT = """
import sys
sys.path[:0] = {paths!r}
import fields
information = self.GetExecutive().GetOutputInformation(0)
times = {times!r}
time = information.Get(self.GetExecutive().UPDATE_TIME_STEP())
output = self.GetOutputDataObject(0)
output.ShallowCopy(fields.data_of({field!r}, {mesh!r}, times.index(time), time, {count!r}, {turn!r}))
output.GetInformation().Set(output.DATA_TIME_STEP(), time)
"""


def source(simple, field, mesh, times, count=0, turn=1):
    """Return a proxy with time steps."""
    import films

    proxy = simple.ProgrammableSource(OutputDataSetType="vtkMultiblockDataSet")
    proxy.ScriptRequestInformation = films._INFORMATION.format(times=times)
    here = os.path.dirname(os.path.abspath(__file__))
    paths = [here, os.path.join(os.environ["TRIBUTARY_SOURCE"], "Data")]
    proxy.Script = _SCRIPT.format(
        paths=paths, field=field, mesh=mesh, times=times, count=count, turn=turn
    )
    return proxy


def brute_force(field, time):
    """Critical points at a time: position and number of eigenvalues with a negative real part,
    from a test of all simplices."""
    function, points, spacing = FIELDS[field]
    slab = Slab(points, spacing, 0, points[0] - 1)
    axes = [a for a in range(3) if points[a] > 1]
    values = function(slab.x, slab.y, slab.z, time)
    if values.ndim == 1:
        cube = values.reshape(points[::-1])
        values = np.stack([np.gradient(cube, spacing[a], axis=2 - a).ravel() for a in axes], axis=-1)
    vectors = values[:, : len(axes)] if values.shape[1] > len(axes) else values
    places = np.stack([slab.x, slab.y, slab.z], axis=-1)
    found = []
    for offsets in orders(points):
        corners = slab.corners(offsets)
        v = vectors[corners]  # cells x corners x components
        edges = (v[:, 1:] - v[:, :1]).transpose(0, 2, 1)
        with np.errstate(invalid="ignore"):
            determinant = np.linalg.det(edges)
            good = np.isfinite(determinant) & (np.abs(determinant) > 0)
        v, edges, corners = v[good], edges[good], corners[good]
        weights = np.linalg.solve(edges, -v[:, 0][..., None])[..., 0]
        weights = np.concatenate([1 - weights.sum(axis=1, keepdims=True), weights], axis=1)
        inside = (weights > 0).all(axis=1)
        for w, c, e in zip(weights[inside], corners[inside], edges[inside]):
            sides = (places[c[1:]] - places[c[0]])[:, axes].T
            eigenvalues = np.linalg.eigvals(e @ np.linalg.inv(sides))
            found.append((*(w @ places[c]), int((eigenvalues.real < 0).sum())))
    return sorted(found)
