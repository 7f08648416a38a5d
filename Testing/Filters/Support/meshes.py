# SPDX-License-Identifier: BSD-3-Clause
"""Data sets that Data/flows.py lacks: AMR hierarchies, and meshes of a single VTK cell type.

`hierarchy` and `cells` return Programmable Source proxies. Each rank builds its part with
`build_hierarchy` and `build_cells`, which return VTK objects.
"""

import os

import numpy as np
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkIdList
from vtkmodules.vtkCommonDataModel import (
    VTK_HEXAHEDRON,
    VTK_PIXEL,
    VTK_POLYHEDRON,
    VTK_VOXEL,
    vtkAMRBox,
    vtkImageData,
    vtkOverlappingAMR,
    vtkUniformGrid,
    vtkUnstructuredGrid,
)
from vtkmodules.vtkFiltersCore import vtkAppendFilter, vtkExtractCells
from vtkmodules.vtkFiltersSources import vtkCellTypeSource

import flows

# Of vtkType.h.
VTK_UNSTRUCTURED_GRID = 4
VTK_OVERLAPPING_AMR = 31
VTK_XYZ_GRID = 8

# Folders of the modules that make data, for the Python path of the ranks.
FOLDERS = [os.path.dirname(os.path.abspath(module)) for module in (flows.__file__, __file__)]

SIDE = 8.0  # edge length of all these domains, which begin at the origin

# Boxes of cells per level, lo and hi of each axis; cells are 1, 1/2 and 1/4 long.
LEVELS = (
    ((0, 3, 0, 7, 0, 7), (4, 7, 0, 3, 0, 7), (4, 7, 4, 7, 0, 7)),
    ((4, 7, 4, 11, 4, 11), (8, 11, 4, 11, 4, 11)),
    ((12, 19, 12, 19, 12, 19),),
)


def _add(attributes, values):
    array = numpy_to_vtk(np.ascontiguousarray(values, dtype=np.float64), deep=1)
    array.SetName("velocity")
    attributes.AddArray(array)
    attributes.SetActiveVectors("velocity")


def _velocity(flow, points):
    """A flow of Data/flows.py, with its domain scaled to [0, SIDE]^3."""
    box = np.array(flows.bounds(flow), dtype=float)
    low, size = box[::2], np.maximum(box[1::2] - box[::2], 1e-300)
    x = low + points / SIDE * size
    return flows.velocity(flow, *np.ascontiguousarray(x.T))


def _leaf(level, box, velocity):
    """A grid of a level with velocity(points, level) at points and at cells."""
    step = 0.5**level
    grid = vtkUniformGrid()
    grid.SetOrigin([box[2 * a] * step for a in range(3)])
    grid.SetSpacing([step] * 3)
    shape = [box[2 * a + 1] - box[2 * a] + 1 for a in range(3)]
    grid.SetDimensions([n + 1 for n in shape])

    def places(shift, more):
        axes = [(np.arange(n + more) + box[2 * a] + shift) * step for a, n in enumerate(shape)]
        z, y, x = np.meshgrid(axes[2], axes[1], axes[0], indexing="ij")
        return np.stack([x, y, z], axis=-1).reshape(-1, 3)

    _add(grid.GetPointData(), velocity(places(0.0, 1), level))
    _add(grid.GetCellData(), velocity(places(0.5, 0), level))
    return grid


def empty_hierarchy(levels):
    """An overlapping AMR in which each level is twice as fine as the one before, without its data sets.

    levels  for each level the boxes of cells, as extents
    """
    data = vtkOverlappingAMR()
    data.Initialize(len(levels), [len(boxes) for boxes in levels])
    data.SetOrigin([0.0, 0.0, 0.0])
    data.SetGridDescription(VTK_XYZ_GRID)
    for level, boxes in enumerate(levels):
        data.SetSpacing(level, [0.5**level] * 3)
        data.SetRefinementRatio(level, 2)
        for index, box in enumerate(boxes):
            data.SetAMRBox(level, index, vtkAMRBox(box[::2], box[1::2]))
    return data


def build_hierarchy(rank, ranks, flow="abc", placing="cyclic"):
    """The part of this rank in an overlapping AMR. Cells covered by a finer level are not marked.

    flow     of Data/flows.py, or "levels": (1, level, 0), which identifies the level
    placing  cyclic: grids are assigned to ranks cyclically; backwards: in reverse order; last: all on
             the last rank
    """

    def velocity(points, level):
        if flow == "levels":
            return np.broadcast_to([1.0, level, 0.0], points.shape)
        return _velocity(flow, points)

    data = empty_hierarchy(LEVELS)
    grids = [(level, index) for level, boxes in enumerate(LEVELS) for index in range(len(boxes))]
    for number, (level, index) in enumerate(grids):
        holder = {"cyclic": number, "backwards": -number - 1, "last": ranks - 1}[placing] % ranks
        if holder == rank:
            data.SetDataSet(level, index, _leaf(level, LEVELS[level][index], velocity))
    return data


def polyhedra(mesh):
    """The same cells as polyhedra."""
    result = vtkUnstructuredGrid()
    result.SetPoints(mesh.GetPoints())
    for number in range(mesh.GetNumberOfCells()):
        cell = mesh.GetCell(number)
        stream = vtkIdList()
        stream.InsertNextId(cell.GetNumberOfFaces())
        for face in range(cell.GetNumberOfFaces()):
            ids = cell.GetFace(face).GetPointIds()
            stream.InsertNextId(ids.GetNumberOfIds())
            for corner in range(ids.GetNumberOfIds()):
                stream.InsertNextId(ids.GetId(corner))
        result.InsertNextCell(VTK_POLYHEDRON, stream)
    return result


def whole(cell_type, size):
    """A mesh of cells of a type over [0, SIDE]^3, or its square z = 0."""
    if cell_type in (VTK_VOXEL, VTK_PIXEL):
        image = vtkImageData()
        image.SetDimensions(size + 1, size + 1, 1 if cell_type == VTK_PIXEL else size + 1)
        image.SetSpacing([SIDE / size] * 3)
        convert = vtkAppendFilter()
        convert.AddInputData(image)
        convert.Update()
        return convert.GetOutput()
    if cell_type == VTK_POLYHEDRON:
        return polyhedra(whole(VTK_HEXAHEDRON, size))
    source = vtkCellTypeSource()
    source.SetCellType(cell_type)
    source.SetCellOrder(2)
    source.SetBlocksDimensions(size, size, size)
    source.SetOutputPrecision(1)  # double
    source.Update()
    mesh = source.GetOutput()
    points = vtk_to_numpy(mesh.GetPoints().GetData())
    points *= SIDE / size
    return mesh


def build_cells(rank, ranks, cell_type=12, flow="abc", size=5, cut="slices", scale=1.0, shift=0.0):
    """The part of this rank in a mesh of one VTK cell type, with `velocity` at points and cells.

    cut    slices: consecutive cells for each rank; cyclic: cells are assigned cyclically
    scale  of the points, which are shifted then; velocities stay as they are
    """
    mesh = whole(cell_type, size)
    for data in (mesh.GetPointData(), mesh.GetCellData()):
        while data.GetNumberOfArrays():
            data.RemoveArray(0)
    _add(mesh.GetPointData(), _velocity(flow, vtk_to_numpy(mesh.GetPoints().GetData()).astype(float)))
    count = mesh.GetNumberOfCells()
    bounds = np.array([mesh.GetCell(i).GetBounds() for i in range(count)])
    _add(mesh.GetCellData(), _velocity(flow, (bounds[:, ::2] + bounds[:, 1::2]) / 2))
    points = vtk_to_numpy(mesh.GetPoints().GetData())
    points[:] = points * scale + shift
    if cut == "slices":
        mine = range(rank * count // ranks, (rank + 1) * count // ranks)
    else:
        mine = range(rank, count, ranks)
    if not mine:
        return vtkUnstructuredGrid()
    ids = vtkIdList()
    for cell in mine:
        ids.InsertNextId(cell)
    extract = vtkExtractCells()
    extract.SetInputData(mesh)
    extract.SetCellList(ids)
    extract.Update()
    return extract.GetOutput()


_SCRIPT = """
import sys
for folder in {folders!r}:
    if folder not in sys.path:
        sys.path.insert(0, folder)
import {module}
from vtkmodules.vtkParallelCore import vtkMultiProcessController
controller = vtkMultiProcessController.GetGlobalController()
rank = controller.GetLocalProcessId() if controller else 0
ranks = controller.GetNumberOfProcesses() if controller else 1
self.GetOutputDataObject(0).ShallowCopy({module}.{function}(rank, ranks, **{arguments!r}))
"""

_INFORMATION_SCRIPT = """
from vtkmodules.vtkCommonExecutionModel import vtkAlgorithm, vtkStreamingDemandDrivenPipeline
information = self.GetExecutive().GetOutputInformation(0)
information.Set(vtkAlgorithm.CAN_HANDLE_PIECE_REQUEST(), 1)
extent = {extent!r}
if extent:
    information.Set(vtkStreamingDemandDrivenPipeline.WHOLE_EXTENT(), extent, 6)
"""


def source(data_type, module, function, arguments, extent=None):
    """Return a proxy whose data are made by a function(rank, ranks, **arguments) of a module in this folder.

    data_type  a number of vtkType.h
    extent     the whole extent, for structured data
    """
    from paraview.simple import ProgrammableSource

    proxy = ProgrammableSource()
    proxy.SMProxy.GetProperty("OutputDataSetType").SetElement(0, data_type)
    proxy.SMProxy.UpdateVTKObjects()
    proxy.Script = _SCRIPT.format(
        folders=FOLDERS, module=module, function=function, arguments=arguments
    )
    proxy.ScriptRequestInformation = _INFORMATION_SCRIPT.format(extent=extent)
    return proxy


def hierarchy(**arguments):
    """Return a proxy; arguments as for build_hierarchy."""
    return source(VTK_OVERLAPPING_AMR, "meshes", "build_hierarchy", arguments)


def cells(**arguments):
    """Return a proxy; arguments as for build_cells."""
    return source(VTK_UNSTRUCTURED_GRID, "meshes", "build_cells", arguments)
