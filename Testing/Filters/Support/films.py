# SPDX-License-Identifier: BSD-3-Clause
"""Features that move, merge, split, turn and cross, as time-dependent data with a selectable partition into
pieces; and the results of all ranks.

A film is a function of positions and time that returns which positions are filled. Its meshes consist of
axis-aligned boxes, so positions can be located without the filter.
"""

import os

import numpy as np
import tables
from vtkmodules.util.numpy_support import numpy_to_vtk, numpy_to_vtkIdTypeArray, vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkPoints
from vtkmodules.vtkCommonDataModel import (
    VTK_HEXAHEDRON,
    VTK_XY_PLANE,
    vtkAMRBox,
    vtkCellArray,
    vtkDataSetAttributes,
    vtkImageData,
    vtkMultiBlockDataSet,
    vtkOverlappingAMR,
    vtkPolyData,
    vtkRectilinearGrid,
    vtkStructuredGrid,
    vtkUniformGrid,
    vtkUnstructuredGrid,
)
from vtkmodules.vtkParallelCore import vtkMultiProcessController

WIDTH = 24.0
VTK_OVERLAPPING_AMR = 31  # of vtkType.h
FINE = 226


def _ball(x, y, cx, cy, radius):
    return (x - cx) ** 2 + (y - cy) ** 2 <= radius**2


def _meet(x, y, time):
    gap = 10 - 4 * time if time < 2 else 4 * time - 6
    return _ball(x, y, 12 - gap / 2, 12, 2.2) | _ball(x, y, 12 + gap / 2, 12, 3.2)


def _turn(x, y, time):
    c, s = np.cos(0.3 * time), np.sin(0.3 * time)
    along, across = c * (x - 12) + s * (y - 12), c * (y - 12) - s * (x - 12)
    return (np.abs(along) < 11) & (np.abs(across) < 1.4)


def _cross(x, y, time):
    way = time + 0.2 * time * time
    return _ball(x, y, 2 + way, 2 + way, 2) | _ball(x, y, 22 - way, 2 + way, 2)


def _fast(x, y, time):
    """Features that move along x by more than their width per step; see _velocity."""
    return _ball(x, y, 3 + 5 * (time % 4), 6, 1.5) | _ball(x, y, 3 + 5 * (time % 4), 18, 1.5)


def _blink(x, y, time):
    return (time % 3 != 1) & _ball(x, y, 12, 12, 4)


def _many(x, y, time):
    """Every second square in both directions; some squares are filled only at some times."""
    i, j = np.floor(x).astype(int), np.floor(y).astype(int)
    return (i % 2 == 0) & (j % 2 == 0) & ((7 * i + 3 * j + int(time)) % 5 != 0)


def _squares(x, y, time):
    """The same with a square for each cell of the fine mesh."""
    return _many(x * FINE / WIDTH, y * FINE / WIDTH, time)


FILMS = {f.__name__[1:]: f for f in (_meet, _turn, _cross, _fast, _blink, _many, _squares)}


def cells_along(mesh, step):
    """The number of boxes along x and y in a step. Sums of their widths are exact."""
    return {"changing": (24, 48, 16)[step % 3], "fine": FINE}.get(mesh, 24)


def edges_along(mesh, axis, n, step=0):
    """The coordinates of the ends of boxes, exact."""
    edges = np.arange(n + 1) * (WIDTH / n)
    if axis == 0 and (mesh == "rectilinear" or mesh == "breathing" and step % 2 == 1):
        edges[1:-1:2] += WIDTH / n / 4
    return edges


def pieces(film, mesh, step, time, count, turn):
    """The slabs across x of each of `count` holders. With `turn`, holders change in each step."""
    n = cells_along(mesh, step)
    along = [edges_along(mesh, axis, n, step) for axis in (0, 1)]
    for holder in range(count):
        slab = (holder + step * turn) % count
        first, end = slab * n // count, (slab + 1) * n // count
        if mesh == "layers":
            yield _layers(FILMS[film], time, first, end, n, WIDTH / n)
            continue
        if mesh == "overlapping":
            yield _overlapping(FILMS[film], time, first, end, n, WIDTH / n)
            continue
        x, y = (0.5 * (e[1:] + e[:-1]) for e in (along[0][first : end + 1], along[1]))
        x, y = np.meshgrid(x, y)
        filled = FILMS[film](x, y, time)
        make = {"image": _image, "fine": _image, "boxes": _boxes, "changing": _boxes, "breathing": _boxes,
                "rectilinear": _rectilinear, "curvilinear": _curvilinear, "surface": _surface}[mesh]
        data = make(first, end, n, WIDTH / n)
        if mesh == "breathing":  # only the points change
            points = vtk_to_numpy(data.GetPoints().GetData())
            points[:, 0] = along[0][np.rint(points[:, 0] / (WIDTH / n)).astype(int)]
        for name, values in (
            ("filled", filled.astype(np.float64)),
            ("labels", np.where(filled, np.where(y < 12, 3, 7), -1).astype(np.int32)),
            ("flow", np.stack([np.full(x.shape, 5.0), 0 * x, 0 * x], axis=-1).reshape(-1, 3)),
        ):
            array = numpy_to_vtk(values.reshape(x.size, -1) if values.ndim > 1 and name == "flow"
                                 else values.ravel(), deep=1)
            array.SetName(name)
            data.GetCellData().AddArray(array)
        yield data


def _rectilinear(first, end, n, width):
    grid = vtkRectilinearGrid()
    grid.SetExtent(first, end, 0, n, 0, 0)
    grid.SetXCoordinates(numpy_to_vtk(edges_along("rectilinear", 0, n)[first : end + 1], deep=1))
    grid.SetYCoordinates(numpy_to_vtk(edges_along("rectilinear", 1, n), deep=1))
    grid.SetZCoordinates(numpy_to_vtk(np.zeros(1), deep=1))
    return grid


def _flat_points(first, end, n, width):
    x, y = np.meshgrid(np.arange(first, end + 1) * width, np.arange(n + 1) * width)
    points = vtkPoints()
    points.SetDataTypeToDouble()
    points.SetData(numpy_to_vtk(np.stack([x.ravel(), y.ravel(), 0 * x.ravel()], axis=-1), deep=1))
    return points


def _curvilinear(first, end, n, width):
    grid = vtkStructuredGrid()
    grid.SetExtent(first, end, 0, n, 0, 0)
    grid.SetPoints(_flat_points(first, end, n, width))
    return grid


def _surface(first, end, n, width):
    data = vtkPolyData()
    data.SetPoints(_flat_points(first, end, n, width))
    up = end - first + 1
    i, j = np.meshgrid(np.arange(end - first), np.arange(n))
    corner = (j * up + i).ravel()
    corners = np.stack([corner, corner + 1, corner + 1 + up, corner + up], axis=-1).astype(np.int64)
    cells = vtkCellArray()
    cells.SetData(
        numpy_to_vtkIdTypeArray(np.arange(0, 4 * len(corners) + 1, 4, dtype=np.int64), deep=1),
        numpy_to_vtkIdTypeArray(np.ascontiguousarray(corners.ravel()), deep=1),
    )
    data.SetPolys(cells)
    return data


def _image(first, end, n, width):
    """A flat image with the extent of its block."""
    image = vtkImageData()
    image.SetExtent(first, end, 0, n, 0, 0)
    image.SetSpacing(width, width, 1)
    return image


def _layers(film, time, first, end, n, width, layers=3):
    """An image of several layers with one ghost cell on both sides, except at the ends."""
    lowest, highest = max(first - 1, 0), min(end + 1, n)
    image = vtkImageData()
    image.SetExtent(lowest, highest, 0, n, 0, layers)
    image.SetSpacing(width, width, width)
    column = np.arange(lowest, highest)
    x, y = np.meshgrid((column + 0.5) * width, (np.arange(n) + 0.5) * width)
    filled = np.stack([film(x, y, time + 0.25 * layer) for layer in range(layers)])
    ghosts = np.broadcast_to((column < first) | (column >= end), filled.shape)
    for name, values, kind in (("filled", filled, np.float64), ("vtkGhostType", ghosts, np.uint8)):
        array = numpy_to_vtk(values.astype(kind).ravel(), deep=1)
        array.SetName(name)
        image.GetCellData().AddArray(array)
    return image


def _boxes(first, end, n, width):
    """Hexahedra of one layer."""
    nx = end - first
    i, j, k = np.meshgrid(np.arange(nx + 1), np.arange(n + 1), np.arange(2), indexing="ij")
    places = np.stack([(first + i) * width, j * width, k * 1.0], axis=-1).transpose(2, 1, 0, 3)
    points = vtkPoints()
    points.SetDataTypeToDouble()
    points.SetData(numpy_to_vtk(np.ascontiguousarray(places.reshape(-1, 3)), deep=1))
    i, j = np.meshgrid(np.arange(nx), np.arange(n))
    corner = (j * (nx + 1) + i).ravel()
    up, layer = nx + 1, (nx + 1) * (n + 1)
    corners = np.stack([corner, corner + 1, corner + 1 + up, corner + up], axis=-1)
    corners = np.concatenate([corners, corners + layer], axis=1).astype(np.int64)
    cells = vtkCellArray()
    offsets = np.arange(0, 8 * len(corners) + 1, 8, dtype=np.int64)
    cells.SetData(
        numpy_to_vtkIdTypeArray(offsets, deep=1),
        numpy_to_vtkIdTypeArray(np.ascontiguousarray(corners.ravel()), deep=1),
    )
    grid = vtkUnstructuredGrid()
    grid.SetPoints(points)
    grid.SetCells(VTK_HEXAHEDRON, cells)
    return grid


def _overlapping(film, time, first, end, n, width):
    """Boxes; copies of every third column of them; and boxes moved by a quarter of their width. Each kind has
    labels of its own."""
    meshes = [_boxes(first, end, n, width) for _ in range(3)]
    points = [vtk_to_numpy(mesh.GetPoints().GetData()) for mesh in meshes]
    points[2][:, 0] += width / 4
    corners = [vtk_to_numpy(mesh.GetCells().GetConnectivityArray()).reshape(-1, 8) for mesh in meshes]
    column = np.tile(np.arange(first, end), n)
    corners[1] = corners[1][column % 3 == 0]
    labels = []
    for kind, (places, ids) in enumerate(zip(points, corners)):
        x, y, _ = places[ids].mean(axis=1).T
        labels.append(np.where(film(x, y, time + 0.5 * kind), 10 * kind + np.where(y < 12, 3, 7), -1))
    before = np.cumsum([0] + [len(places) for places in points])
    corners = np.concatenate([ids + n for ids, n in zip(corners, before)])
    data = vtkUnstructuredGrid()
    all_points = vtkPoints()
    all_points.SetData(numpy_to_vtk(np.concatenate(points), deep=1))
    cells = vtkCellArray()
    cells.SetData(
        numpy_to_vtkIdTypeArray(np.arange(0, 8 * len(corners) + 1, 8, dtype=np.int64), deep=1),
        numpy_to_vtkIdTypeArray(np.ascontiguousarray(corners.ravel()), deep=1),
    )
    data.SetPoints(all_points)
    data.SetCells(VTK_HEXAHEDRON, cells)
    array = numpy_to_vtk(np.concatenate(labels).astype(np.int32), deep=1)
    array.SetName("labels")
    data.GetCellData().AddArray(array)
    return data


# The grids of each level: the lowest and the highest cell.
LEVELS = (
    [((0, 0, 0), (11, 23, 0)), ((12, 0, 0), (23, 23, 0))],
    [((8, 16, 0), (27, 31, 0)), ((28, 12, 0), (37, 35, 0))],
)


def hierarchy(film, step, time, rank, ranks, turn):
    """A flat AMR hierarchy whose grids change ranks in each step."""
    data = vtkOverlappingAMR()
    data.Initialize(len(LEVELS), [len(level) for level in LEVELS])
    data.SetOrigin([0.0, 0.0, 0.0])
    data.SetGridDescription(VTK_XY_PLANE)
    number = 0
    for level, boxes in enumerate(LEVELS):
        width = 0.5**level
        data.SetSpacing(level, [width, width, 1.0])
        data.SetRefinementRatio(level, 2)
        for index, (lowest, highest) in enumerate(boxes):
            data.SetAMRBox(level, index, vtkAMRBox(lowest, highest))
            number += 1
            if (number + step * turn) % ranks != rank:
                continue
            grid = vtkUniformGrid()
            cells = [h - l + 1 for l, h in zip(lowest, highest)]
            grid.SetDimensions(cells[0] + 1, cells[1] + 1, 1)
            grid.SetOrigin(lowest[0] * width, lowest[1] * width, 0)
            grid.SetSpacing(width, width, 1)
            x, y = np.meshgrid(*((np.arange(n) + l + 0.5) * width for n, l in zip(cells[:2], lowest)))
            filled = numpy_to_vtk(FILMS[film](x, y, time).astype(float).ravel(), deep=1)
            filled.SetName("filled")
            grid.GetCellData().AddArray(filled)
            data.SetDataSet(level, index, grid)
    return data


def data_of(film, mesh, step, time, pieces_count=0, turn=1):
    """The data of this rank: blocks assigned to the ranks cyclically, or the grid of a rank."""
    controller = vtkMultiProcessController.GetGlobalController()
    rank, ranks = controller.GetLocalProcessId(), controller.GetNumberOfProcesses()
    if mesh == "levels":
        return hierarchy(film, step, time, rank, ranks, turn)
    count = pieces_count or ranks
    mine = vtkMultiBlockDataSet()
    mine.SetNumberOfBlocks(count)
    for holder, piece in enumerate(pieces(film, mesh, step, time, count, turn)):
        if holder % ranks == rank:
            mine.SetBlock(holder, piece)
    return mine


_INFORMATION = """
executive = self.GetExecutive()
information = executive.GetOutputInformation(0)
times = {times!r}
information.Set(executive.TIME_STEPS(), times, len(times))
information.Set(executive.TIME_RANGE(), [times[0], times[-1]], 2)
"""

_SCRIPT = """
import sys
sys.path[:0] = {paths!r}
import films
executive = self.GetExecutive()
information = executive.GetOutputInformation(0)
times = {times!r}
time = information.Get(executive.UPDATE_TIME_STEP())
step = times.index(time)
output = self.GetOutputDataObject(0)
output.ShallowCopy(films.data_of({film!r}, {mesh!r}, step, time, {count!r}, {turn!r}))
output.GetInformation().Set(output.DATA_TIME_STEP(), time)
"""


def source(simple, film, mesh, times, count=0, turn=1):
    """Return a proxy with time steps."""
    proxy = simple.ProgrammableSource(OutputDataSetType="vtkMultiblockDataSet")
    if mesh == "levels":
        proxy.SMProxy.GetProperty("OutputDataSetType").SetElement(0, VTK_OVERLAPPING_AMR)
        proxy.SMProxy.UpdateVTKObjects()
    proxy.ScriptRequestInformation = _INFORMATION.format(times=times)
    here = os.path.dirname(os.path.abspath(__file__))
    paths = [here, os.path.join(os.environ["TRIBUTARY_SOURCE"], "Data")]
    proxy.Script = _SCRIPT.format(
        paths=paths, film=film, mesh=mesh, times=times, count=count, turn=turn
    )
    return proxy


def _bounds(leaf):
    """The bounds of each cell (n x 6)."""
    if leaf.IsA("vtkImageData") and not leaf.IsA("vtkUniformGrid"):
        first, end, _, n, _, layers = leaf.GetExtent()
        width = leaf.GetSpacing()[0]
        z, y, x = np.meshgrid(*(width * np.arange(*along) for along in ((max(layers, 1),), (n,), (first, end))),
                              indexing="ij")
        high = width if layers else 0
        return np.stack([x, x + width, y, y + width, z, z + high], axis=-1).reshape(-1, 6)
    if not leaf.IsA("vtkUnstructuredGrid"):
        box = [0.0] * 6
        boxes = []
        for cell in range(leaf.GetNumberOfCells()):
            leaf.GetCellBounds(cell, box)
            boxes.append(list(box))
        return np.array(boxes)
    places = vtk_to_numpy(leaf.GetPoints().GetData())
    corners = vtk_to_numpy(leaf.GetCells().GetConnectivityArray()).reshape(-1, 8)
    ends = np.stack([places[corners].min(axis=1), places[corners].max(axis=1)], axis=-1)
    return ends.reshape(-1, 6)


def cells(data):
    """Bounds, RegionId and TrackId of each cell of the data sets of this rank that is no ghost (n x 8)."""
    parts = [np.zeros((0, 8))]
    iterator = data.NewIterator()
    iterator.InitTraversal()
    while not iterator.IsDoneWithTraversal():
        leaf = iterator.GetCurrentDataObject()
        iterator.GoToNextItem()
        numbers = [vtk_to_numpy(leaf.GetCellData().GetArray(a)) for a in ("RegionId", "TrackId")]
        rows = np.column_stack([_bounds(leaf), *numbers])
        ghosts = leaf.GetCellData().GetArray("vtkGhostType") if leaf.IsA("vtkImageData") else None
        own = vtk_to_numpy(ghosts) & vtkDataSetAttributes.DUPLICATECELL == 0 if ghosts else slice(None)
        parts.append(rows[own])
    return np.concatenate(parts)


def table(data):
    """The rows of a vtkTable as tuples, and the names of its columns."""
    columns = {
        name: [v if isinstance(v, str) else tuple(v) if v.ndim else v.item() for v in values]
        for name, values in tables.columns_of(data).items()
    }
    return list(columns), list(zip(*columns.values()))
