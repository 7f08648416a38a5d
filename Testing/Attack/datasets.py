# SPDX-License-Identifier: BSD-3-Clause
"""Valid data sets of every VTK type: pieces of one lattice, cut along x, with the arrays that the filters need.

A box is the least and the greatest point of a piece along each axis; an axis with one point is flat.
"""

import functools
import itertools

import numpy as np
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkDoubleArray, vtkIdList, vtkPoints
from vtkmodules.vtkCommonDataModel import (
    VTK_BEZIER_CURVE,
    VTK_BEZIER_TETRAHEDRON,
    VTK_BEZIER_TRIANGLE,
    VTK_HEXAHEDRON,
    VTK_LAGRANGE_CURVE,
    VTK_LAGRANGE_HEXAHEDRON,
    VTK_LAGRANGE_QUADRILATERAL,
    VTK_LINE,
    VTK_POLYHEDRON,
    VTK_QUAD,
    VTK_QUADRATIC_EDGE,
    VTK_QUADRATIC_TETRA,
    VTK_QUADRATIC_TRIANGLE,
    VTK_TETRA,
    VTK_VERTEX,
    vtkAMRBox,
    vtkCellArray,
    vtkHyperTreeGrid,
    vtkHyperTreeGridNonOrientedCursor,
    vtkImageData,
    vtkMultiBlockDataSet,
    vtkOverlappingAMR,
    vtkPartitionedDataSet,
    vtkPartitionedDataSetCollection,
    vtkPolyData,
    vtkRectilinearGrid,
    vtkStructuredGrid,
    vtkTable,
    vtkUniformGrid,
    vtkUnstructuredGrid,
)
from vtkmodules.vtkFiltersSources import vtkCellTypeSource

SHAPES = ((6, 4, 3), (6, 4, 0), (6, 0, 0), (0, 4, 3))
# The axes of a grid that are not flat, as VTK_XYZ_GRID and so on of vtkStructuredData.h.
GRIDS = {"xyz": 8, "xy": 5, "yz": 6, "xz": 7, "x": 2, "y": 3, "z": 4, "": 1}


def box_of(shape, piece, pieces):
    """The box of a piece of a lattice, given the number of cells along each axis; None if the piece is empty."""
    first, last = shape[0] * piece // pieces, shape[0] * (piece + 1) // pieces
    if shape[0] == 0:
        return ((0, 0, 0), shape) if piece == 0 else None
    return ((first, 0, 0), (last, *shape[1:])) if first < last else None


def lattice(box):
    """The places of the points of a box, x fastest."""
    ranges = [range(low, high + 1) for low, high in zip(*box)]
    return np.array([(x, y, z) for z in ranges[2] for y in ranges[1] for x in ranges[0]], float)


def fields(at, time):
    """Arrays by name, as functions of the place."""
    # Contiguous: NumPy may compute other last bits of strided values, depending on where they are in memory.
    x, y, z = np.ascontiguousarray(at.T) if len(at) else np.zeros((3, 0))
    hole = (x - 3) ** 2 + (y - 2) ** 2 < 1.2
    scalar = np.sin(0.9 * x + 0.4 * time) + np.cos(1.1 * y) + 0.1 * z
    return {
        "velocity": np.stack([1 + 0.2 * y, 0.3 * np.sin(x), 0.1 * np.cos(z)], axis=-1),
        "scalar": scalar,
        "holes": np.where(hole, np.nan, scalar),
        "mask": hole.astype(np.uint8),
        "label": (x > 2).astype(np.int32),
    }


def add(attributes, name, values):
    array = numpy_to_vtk(np.ascontiguousarray(values), deep=1)
    array.SetName(name)
    attributes.AddArray(array)


def add_fields(data, point_places, cell_places, time):
    for attributes, at in ((data.GetPointData(), point_places), (data.GetCellData(), cell_places)):
        for name, values in fields(at, time).items():
            add(attributes, name, values)
    return data


def points_of(coordinates):
    points = vtkPoints()
    points.SetDataTypeToDouble()
    points.SetData(numpy_to_vtk(np.ascontiguousarray(coordinates, dtype=float).reshape(-1, 3), deep=1))
    return points


def copy_of(data):
    """A copy that can be changed: it costs much less than another data set."""
    copy = data.NewInstance()
    copy.DeepCopy(data)
    return copy


def extent(box):
    return [n for low, high in zip(*box) for n in (low, high)]


def cell_boxes(box):
    """The least corners of the cells of a box; one layer along a flat axis."""
    ranges = [range(low, max(high, low + 1)) for low, high in zip(*box)]
    return [(x, y, z) for z in ranges[2] for y in ranges[1] for x in ranges[0]]


def centers(box):
    half = [0.5 if high > low else 0.0 for low, high in zip(*box)]
    return np.array(cell_boxes(box), float) + half


def image(box, time, kind=vtkImageData):
    data = kind()
    data.SetExtent(extent(box))
    return add_fields(data, lattice(box), centers(box), time)


def rectilinear(box, time):
    data = vtkRectilinearGrid()
    data.SetExtent(extent(box))
    for axis, name in enumerate("XYZ"):
        ends = np.arange(box[0][axis], box[1][axis] + 1, dtype=float)
        getattr(data, f"Set{name}Coordinates")(numpy_to_vtk(ends, deep=1))
    return add_fields(data, lattice(box), centers(box), time)


def structured(box, time):
    data = vtkStructuredGrid()
    data.SetExtent(extent(box))
    data.SetPoints(points_of(lattice(box)))
    return add_fields(data, lattice(box), centers(box), time)


class Mesh:
    """Cells of a box as lists of points, in the order of VTK's cells."""

    def __init__(self, box):
        self.at = lattice(box)
        self.numbers = {tuple(place): n for n, place in enumerate(self.at.astype(int).tolist())}
        self.along = [axis for axis in range(3) if box[1][axis] > box[0][axis]]
        self.corners = [self._corners(place) for place in cell_boxes(box)]
        self.centers = centers(box)

    def _corners(self, place):
        """Of a vertex, line, quad or hexahedron."""
        steps = [()]
        for _ in self.along:
            # The second half of each square runs backwards, as in VTK's quads.
            steps = [s + (0,) for s in steps] + [s + (1,) for s in (steps[::-1] if len(steps) == 2 else steps)]
        result = []
        for step in steps:
            corner = list(place)
            for axis, n in zip(self.along, step):
                corner[axis] += n
            result.append(self.numbers[tuple(corner)])
        return result


# Six tetrahedra of a hexahedron; neighbors have the same diagonals.
TETRAHEDRA = tuple((0, *path, 6) for path in ((1, 2), (2, 3), (3, 7), (7, 4), (4, 5), (5, 1)))
FACES = ((0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7))


def unstructured(mesh, cells, cell_places, time):
    """cells: pairs of a type and its points, or faces of a polyhedron."""
    data = vtkUnstructuredGrid()
    data.SetPoints(points_of(mesh.at))
    data.Allocate(len(cells))
    for kind, content in cells:
        if kind == VTK_POLYHEDRON:
            stream = vtkIdList()
            for number in (len(content), *itertools.chain(*((len(face), *face) for face in content))):
                stream.InsertNextId(number)
            data.InsertNextCell(kind, stream)
        else:
            data.InsertNextCell(kind, len(content), content)
    return add_fields(data, mesh.at, cell_places, time)


def hexahedra(box, time):
    mesh = Mesh(box)
    kind = (VTK_VERTEX, VTK_LINE, VTK_QUAD, VTK_HEXAHEDRON)[len(mesh.along)]
    return unstructured(mesh, [(kind, corners) for corners in mesh.corners], mesh.centers, time)


def tetrahedra(box, time):
    mesh = Mesh(box)
    if len(mesh.along) < 3:
        return hexahedra(box, time)
    cells = [(VTK_TETRA, [corners[n] for n in four]) for corners in mesh.corners for four in TETRAHEDRA]
    return unstructured(mesh, cells, np.repeat(mesh.centers, len(TETRAHEDRA), axis=0), time)


def polyhedra(box, time):
    mesh = Mesh(box)
    if len(mesh.along) < 3:
        return hexahedra(box, time)
    cells = [(VTK_POLYHEDRON, [[corners[n] for n in face] for face in FACES]) for corners in mesh.corners]
    return unstructured(mesh, cells, mesh.centers, time)


def curved(*types):
    """A maker of cells of second order, each two units wide if the box allows it.

    types  in 1, 2 and 3 dimensions
    """

    def make_cells(box, time):
        along = [axis for axis in range(3) if box[1][axis] > box[0][axis]]
        if not along:
            return hexahedra(box, time)
        source = vtkCellTypeSource()
        source.SetCellType(types[len(along) - 1])
        source.SetCellOrder(2)
        source.SetOutputPrecision(1)
        counts = [max((box[1][axis] - box[0][axis]) // 2, 1) for axis in along]
        source.SetBlocksDimensions(*counts, *[1] * (3 - len(counts)))
        source.Update()
        data = vtkUnstructuredGrid()
        data.CopyStructure(source.GetOutput())
        cells = vtk_to_numpy(data.GetPoints().GetData())
        places = np.tile(np.array(box[0], float), (len(cells), 1))
        for n, axis in enumerate(along):
            places[:, axis] += cells[:, n] * (box[1][axis] - box[0][axis]) / counts[n]
        data.SetPoints(points_of(places))
        of_cells = np.split(vtk_to_numpy(data.GetCells().GetConnectivityArray()),
                            vtk_to_numpy(data.GetCells().GetOffsetsArray())[1:-1])
        return add_fields(data, places, np.array([places[ids].mean(axis=0) for ids in of_cells]), time)

    return make_cells


def polydata(box, time):
    """Quads of the lowest layer, or lines, or vertices."""
    mesh = Mesh((box[0], (*box[1][:2], box[0][2])))
    cells = vtkCellArray()
    for corners in mesh.corners:
        cells.InsertNextCell(len(corners), corners)
    data = vtkPolyData()
    data.SetPoints(points_of(mesh.at))
    (data.SetVerts, data.SetLines, data.SetPolys)[len(mesh.along)](cells)
    return add_fields(data, mesh.at, mesh.centers, time)


@functools.lru_cache(None)
def _amr_grid(coarse, fine, scale, time):
    grid = vtkUniformGrid()
    grid.SetOrigin(*map(float, coarse[0]))
    grid.SetSpacing(*[1.0 / scale] * 3)
    grid.SetDimensions(*[high - low + 1 for low, high in zip(*fine)])
    return add_fields(grid, lattice(fine) / scale, centers(fine) / scale, time)


def amr(box, time):
    """Two levels; the fine one covers the first cell of the coarse one."""
    result = vtkOverlappingAMR()
    result.Initialize(2, [1, 1])
    result.SetOrigin([0.0, 0.0, 0.0])
    result.SetGridDescription(GRIDS["".join(a for a, low, high in zip("xyz", *box) if high > low)])
    for level in range(2):
        coarse = box if level == 0 else (box[0], tuple(low + (high > low) for low, high in zip(*box)))
        scale = 2**level
        fine = tuple(tuple(scale * n for n in end) for end in coarse)
        result.SetSpacing(level, [1.0 / scale] * 3)
        high = [max(high - 1, low) for low, high in zip(*fine)]
        result.SetAMRBox(level, 0, vtkAMRBox(list(fine[0]), high))
        result.SetDataSet(level, 0, copy_of(_amr_grid(coarse, fine, scale, time)))
    result.SetRefinementRatio(0, 2)
    return result


def trees(box, time, shape):
    """A hyper tree grid with the trees of this box; every other root is refined."""
    data = vtkHyperTreeGrid()
    data.SetDimensions([n + 1 for n in shape])
    data.SetBranchFactor(2)
    for axis, name in enumerate("XYZ"):
        ends = vtkDoubleArray()
        for n in range(shape[axis] + 1):
            ends.InsertNextValue(n)
        getattr(data, f"Set{name}Coordinates")(ends)
    cursor = vtkHyperTreeGridNonOrientedCursor()
    count, places = 0, []
    roots = [max(n, 1) for n in shape]
    for x, y, z in cell_boxes(box):
        root = x + roots[0] * (y + roots[1] * z)
        data.InitializeNonOrientedCursor(cursor, root, True)
        cursor.SetGlobalIndexStart(count)
        number = 1
        if root % 2 == 0:
            cursor.SubdivideLeaf()
            number += cursor.GetNumberOfChildren()
        places += [(x + 0.5, y + 0.5, z + 0.5)] * number
        count += number
    for name, values in fields(np.array(places, float).reshape(-1, 3), time).items():
        add(data.GetCellData(), name, values)
    return data


MAKERS = {
    "image": image,
    "uniform": lambda box, time: image(box, time, vtkUniformGrid),
    "rectilinear": rectilinear,
    "structured": structured,
    "hexahedra": hexahedra,
    "tetrahedra": tetrahedra,
    "polyhedra": polyhedra,
    "quadratic": curved(VTK_QUADRATIC_EDGE, VTK_QUADRATIC_TRIANGLE, VTK_QUADRATIC_TETRA),
    "lagrange": curved(VTK_LAGRANGE_CURVE, VTK_LAGRANGE_QUADRILATERAL, VTK_LAGRANGE_HEXAHEDRON),
    "bezier": curved(VTK_BEZIER_CURVE, VTK_BEZIER_TRIANGLE, VTK_BEZIER_TETRAHEDRON),
    "polydata": polydata,
    "amr": amr,
    "trees": trees,
}
EMPTY = {
    "image": vtkImageData, "uniform": vtkUniformGrid, "rectilinear": vtkRectilinearGrid,
    "structured": vtkStructuredGrid, "hexahedra": vtkUnstructuredGrid, "tetrahedra": vtkUnstructuredGrid,
    "polyhedra": vtkUnstructuredGrid, "quadratic": vtkUnstructuredGrid, "lagrange": vtkUnstructuredGrid,
    "bezier": vtkUnstructuredGrid, "polydata": vtkPolyData, "amr": vtkOverlappingAMR, "trees": vtkHyperTreeGrid,
}


@functools.lru_cache(None)
def _original(kind, box, time, shape):
    return trees(box, time, shape) if kind == "trees" else MAKERS[kind](box, time)


def make(kind, shape, piece, pieces, time):
    """A piece of the lattice as a data set; an empty one if the piece has no cells."""
    box = box_of(shape, piece, pieces)
    if box is None:
        return EMPTY[kind]()
    if kind == "amr":  # which VTK does not copy
        return amr(box, time)
    return copy_of(_original(kind, box, time, shape))


CONTAINERS = ("multiblock", "nested", "nulls", "strange", "partitioned", "collection")


def contain(container, parts):
    """A composite of parts, of which None are on other ranks.

    nulls    blocks without data and empty data sets beside the parts
    strange  a table beside the parts
    """
    if container == "partitioned":
        result = vtkPartitionedDataSet()
        result.SetNumberOfPartitions(len(parts))
        for n, part in enumerate(parts):
            result.SetPartition(n, part)
        return result
    if container == "collection":
        result = vtkPartitionedDataSetCollection()
        result.SetNumberOfPartitionedDataSets(2)
        result.SetPartitionedDataSet(0, contain("partitioned", parts[:1]))
        result.SetPartitionedDataSet(1, contain("partitioned", parts[1:]))
        return result
    blocks = list(parts)
    if container == "nulls":
        blocks = [None, vtkUnstructuredGrid(), *blocks, None, vtkImageData()]
    elif container == "strange":
        blocks = [vtkTable(), *blocks]
    elif container == "nested":
        blocks = [contain("multiblock", blocks[:1]), contain("multiblock", blocks[1:]), vtkMultiBlockDataSet()]
    result = vtkMultiBlockDataSet()
    result.SetNumberOfBlocks(len(blocks))
    for n, block in enumerate(blocks):
        result.SetBlock(n, block)
    return result


def leaves(data):
    """The data objects in a composite, or the data object itself."""
    if data is None:
        return []
    if not data.IsA("vtkCompositeDataSet"):
        return [data]
    iterator = data.NewIterator()
    result = []
    iterator.InitTraversal()
    while not iterator.IsDoneWithTraversal():
        result.append(iterator.GetCurrentDataObject())
        iterator.GoToNextItem()
    return result
