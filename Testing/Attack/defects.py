# SPDX-License-Identifier: BSD-3-Clause
"""Defects of data sets. A defect is a function that changes a data set in place, given a random generator. It does
nothing to data sets of other types.
"""

import math

import numpy as np
from vtkmodules.util.numpy_support import numpy_to_vtk, numpy_to_vtkIdTypeArray, vtk_to_numpy
from vtkmodules.vtkCommonCore import VTK_BIT, vtkBitArray, vtkIdTypeArray, vtkPoints, vtkStringArray, vtkVariantArray
from vtkmodules.vtkCommonDataModel import vtkCellArray

import datasets
import faces

NAN, INFINITE = math.nan, math.inf
GHOSTS = "vtkGhostType"
KINDS = {"geometry": {}, "topology": {}, "ghosts": {}, "arrays": {}}


def defect(kind):
    """Register a function by its name, with spaces."""

    def register(function):
        KINDS[kind][function.__name__.replace("_", " ")] = function
        return function

    return register


def find(name):
    """The defect with this name."""
    return next(table[name] for table in KINDS.values() if name in table)


# Geometry.


def coordinates(data):
    """The coordinates as arrays that can be changed: of points, or along each axis."""
    if data.IsA("vtkRectilinearGrid") or data.IsA("vtkHyperTreeGrid"):
        arrays = [getattr(data, f"Get{name}Coordinates")() for name in "XYZ"]
        return [vtk_to_numpy(a) for a in arrays if a is not None and a.GetNumberOfTuples()]
    if data.IsA("vtkPointSet") and data.GetNumberOfPoints():
        return [vtk_to_numpy(data.GetPoints().GetData())]
    return []


def change_spacing(data, spacing):
    if data.IsA("vtkImageData"):
        data.SetSpacing(spacing)


def some_numbers(value):
    def change(data, rng):
        if data.IsA("vtkImageData"):
            data.SetOrigin(value, 0, 0)
        for values in coordinates(data):
            values[rng.randrange(len(values))] = value

    return change


def moved(change_values, spacing=None):
    def change(data, rng):
        for values in coordinates(data):
            values[:] = change_values(values)
            values[np.isnan(values)] = NAN  # whose sign depends on the processor's instructions
        if spacing is not None and data.IsA("vtkImageData"):
            change_spacing(data, [spacing(s) for s in data.GetSpacing()])

    return change


KINDS["geometry"].update({
    "a coordinate NaN": some_numbers(NAN),
    "a coordinate Inf": some_numbers(INFINITE),
    "a coordinate 1e300": some_numbers(1e300),
    "coordinates NaN": moved(lambda v: v * NAN, lambda s: NAN),
    "coordinates Inf": moved(lambda v: v * INFINITE, lambda s: INFINITE),
    "coordinates 0": moved(lambda v: v * 0, lambda s: 0.0),
    "scale 1e150": moved(lambda v: v * 1e150, lambda s: s * 1e150),
    "scale 1e300": moved(lambda v: v * 1e300, lambda s: s * 1e300),
    "scale 1e-160": moved(lambda v: v * 1e-160, lambda s: s * 1e-160),
    "scale 1e-320": moved(lambda v: v * 1e-320, lambda s: s * 1e-320),
    "mirrored": moved(lambda v: -v, lambda s: -s),
    "reversed": moved(lambda v: v[::-1].copy()),
})


@defect("geometry")
def far_away(data, rng):
    if data.IsA("vtkImageData"):
        data.SetOrigin(1e20, 1e20, 1e20)
    for values in coordinates(data):
        values += 1e20


@defect("geometry")
def flat(data, rng):
    """All points have the same coordinate along an axis."""
    axis = rng.randrange(3)
    if data.IsA("vtkImageData"):
        spacing = list(data.GetSpacing())
        spacing[axis] = 0.0
        change_spacing(data, spacing)
    values = coordinates(data)
    if data.IsA("vtkPointSet") and values:
        values[0][:, axis] = 1.0
    elif values:
        values[axis % len(values)][:] = 1.0


def spaced(value):
    def change(data, rng):
        spacing = [1.0, 1.0, 1.0]
        spacing[rng.randrange(3)] = value
        change_spacing(data, spacing)

    return change


def directed(*matrix):
    def change(data, rng):
        if data.IsA("vtkImageData"):
            data.SetDirectionMatrix(*map(float, matrix))

    return change


KINDS["geometry"].update({f"spacing {value}": spaced(value) for value in (0.0, -1.0, NAN, INFINITE, 1e-310)})
KINDS["geometry"].update({
    "direction of zeros": directed(*(0,) * 9),
    "direction singular": directed(1, 0, 0, 1, 0, 0, 0, 0, 1),
    "direction NaN": directed(*(NAN,) * 9),
    "direction Inf": directed(1, 0, 0, 0, 1, 0, 0, 0, INFINITE),
    "direction swapped": directed(0, 1, 0, 1, 0, 0, 0, 0, 1),
    "direction scaled": directed(2, 0, 0, 0, 2, 0, 0, 0, 2),
    "direction rotated": directed(0.6, -0.8, 0, 0.8, 0.6, 0, 0, 0, 1),
})


def has_short_flags(data):
    flags = [(attributes.GetArray(GHOSTS), count) for attributes, count in attributes_of(data)]
    return any(array is not None and array.GetNumberOfTuples() < count for array, count in flags)


@defect("geometry")
def blanked(data, rng):
    """Structured grids without visible cells or points."""
    if has_short_flags(data):  # VTK would write beyond them
        return
    if data.IsA("vtkUniformGrid") or data.IsA("vtkStructuredGrid"):
        points, all_of = rng.random() < 0.5, rng.random() < 0.5
        for n in range(data.GetNumberOfPoints() if points else data.GetNumberOfCells()):
            if all_of or rng.random() < 0.5:
                (data.BlankPoint if points else data.BlankCell)(n)


# Topology.


def cell_arrays(data):
    if data.IsA("vtkUnstructuredGrid"):
        return [data.GetCells()] if data.GetNumberOfCells() else []
    if data.IsA("vtkPolyData"):
        lists = [data.GetVerts(), data.GetLines(), data.GetPolys(), data.GetStrips()]
        return [cells for cells in lists if cells is not None and cells.GetNumberOfCells()]
    return []


def connectivity(value):
    """Some point ids of cells are others."""

    def change(data, rng):
        for cells in cell_arrays(data):
            values = vtk_to_numpy(cells.GetConnectivityArray())
            if len(values):
                for _ in range(rng.choice((1, 5))):
                    values[rng.randrange(len(values))] = value(data, values)

    return change


KINDS["topology"].update({
    "a point id too large": connectivity(lambda data, values: data.GetNumberOfPoints()),
    "a point id beyond reason": connectivity(lambda data, values: np.iinfo(values.dtype).max),
    "a point id negative": connectivity(lambda data, values: -1),
    "a point id at the lower limit": connectivity(lambda data, values: np.iinfo(values.dtype).min),
    "points repeated": connectivity(lambda data, values: values[0]),
})


@defect("topology")
def too_few_points(data, rng):
    """Also for the extent of a structured grid."""
    if data.IsA("vtkPointSet") and data.GetNumberOfPoints():
        points = vtkPoints()
        count = rng.choice((0, 1, data.GetNumberOfPoints() - 1))
        points.SetData(numpy_to_vtk(coordinates(data)[0][:count].copy(), deep=1))
        data.SetPoints(points)


@defect("topology")
def no_points(data, rng):
    if data.IsA("vtkPointSet"):
        data.SetPoints(None)


@defect("topology")
def too_few_coordinates(data, rng):
    if data.IsA("vtkRectilinearGrid"):
        name = rng.choice("XYZ")
        few = numpy_to_vtk(np.zeros(rng.choice((0, 1))), deep=1)
        getattr(data, f"Set{name}Coordinates")(rng.choice((few, None)))


@defect("topology")
def shared_point(data, rng):
    """All cells have the same point everywhere."""
    for cells in cell_arrays(data):
        vtk_to_numpy(cells.GetConnectivityArray())[:] = 0


def typed(kind):
    """Cells of another type, which may not fit their points or may be one that no filter has."""

    def change(data, rng):
        if data.IsA("vtkUnstructuredGrid") and data.GetNumberOfCells():
            types = vtk_to_numpy(data.GetCellTypesArray())
            types[: rng.choice((1, len(types)))] = kind

    return change


# Of vtkCellType.h; 76, 78 and 80 are none of the types of this version or have no fixed number of points.
KINDS["topology"].update({
    f"cells of type {kind}": typed(kind)
    for kind in (0, 1, 2, 4, 6, 7, 8, 11, 13, 14, 15, 16, 23, 25, 29, 35, 41, 42, 51, 68, 70, 72, 76, 78, 80, 81, 82,
                 200, 255)
})


@defect("topology")
def empty_cells(data, rng):
    """Of types 0 and others, without points."""
    if data.IsA("vtkUnstructuredGrid") and data.GetPoints() is not None:
        for _ in range(3):
            data.InsertNextCell(rng.choice((0, 1, 2, 3, 7)), 0, [])
    elif data.IsA("vtkPolyData"):
        for cells in cell_arrays(data):
            cells.InsertNextCell(0)


@defect("topology")
def short_cells(data, rng):
    """Cells with fewer points than their type needs."""
    if data.IsA("vtkUnstructuredGrid") and data.GetPoints() is not None:
        data.InsertNextCell(rng.choice((3, 4, 5, 8, 9, 10, 12, 13, 14, 22, 24)), 1, [0])
    elif data.IsA("vtkPolyData"):
        for cells in cell_arrays(data):
            cells.InsertNextCell(1, [0])


@defect("topology")
def broken_faces(data, rng):
    """The lists of faces of polyhedra have wrong numbers."""
    numbers = [(array, number) for array in faces.arrays(data) for number in range(len(array))]
    for _ in range(rng.choice((1, 4)) if numbers else 0):
        array, number = numbers[rng.randrange(len(numbers))]
        array[number] = rng.choice((-1, 0, 1, 3, 7, 10**6, 2**62))


@defect("topology")
def a_negative_face(data, rng):
    """The list of a polyhedron's faces has a negative number of points."""
    if faces.arrays(data):
        faces.make_negative(data)


@defect("topology")
def wrong_offsets(data, rng):
    """Cells that begin in the middle of others, or beyond the end."""
    for cells in cell_arrays(data):
        offsets = vtk_to_numpy(cells.GetOffsetsArray())
        offsets[rng.randrange(len(offsets))] = rng.choice((-1, 0, 1, 10**6))


@defect("topology")
def cells_removed(data, rng):
    """Fewer cells than values."""
    if data.IsA("vtkPolyData"):
        data.SetPolys(vtkCellArray())


@defect("topology")
def doubled(data, rng):
    """Each cell twice."""
    for cells in cell_arrays(data) if data.IsA("vtkPolyData") else ():
        copy = vtkCellArray()
        copy.DeepCopy(cells)
        cells.Append(copy)


# Ghost flags.


def set_flags(values_of):
    def change(data, rng):
        for attributes, count in attributes_of(data):
            if count and rng.random() < 0.7:
                attributes.RemoveArray(GHOSTS)
                datasets.add(attributes, GHOSTS, np.array(values_of(count, rng), np.uint8))

    return change


KINDS["ghosts"].update({
    "all flags 255": set_flags(lambda count, rng: [255] * count),
    "all flags 1": set_flags(lambda count, rng: [1] * count),
    "random flags": set_flags(lambda count, rng: [rng.choice((0, 1, 2, 4, 8, 16, 32, 128)) for _ in range(count)]),
    "flags too short": set_flags(lambda count, rng: [1]),
    "flags too long": set_flags(lambda count, rng: [0] * (count + 5)),
})


@defect("ghosts")
def flags_of_another_type(data, rng):
    for attributes, count in attributes_of(data):
        datasets.add(attributes, GHOSTS, np.ones(count))


# Arrays.

TYPES = (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64, np.float32, np.float64)


def attributes_of(data):
    """Point and cell data with their numbers of tuples."""
    result = []
    if hasattr(data, "GetPointData") and not data.IsA("vtkHyperTreeGrid"):
        result.append((data.GetPointData(), data.GetNumberOfPoints()))
    if hasattr(data, "GetCellData"):
        result.append((data.GetCellData(), data.GetNumberOfCells()))
    return result


def arrays_of(data):
    """All numeric arrays with their attributes."""
    for attributes, _ in attributes_of(data):
        arrays = [attributes.GetArray(n) for n in range(attributes.GetNumberOfArrays())]
        for array in arrays:
            if array is not None and array.GetName() != GHOSTS:
                yield attributes, array


def numbers_of(data):
    """As arrays_of(), without arrays of bits."""
    return [(attributes, array) for attributes, array in arrays_of(data) if array.GetDataType() != VTK_BIT]


def filled(value):
    def change(data, rng):
        for _, array in arrays_of(data):
            if array.GetDataTypeAsString() in ("float", "double"):
                array.Fill(value)

    return change


KINDS["arrays"].update({f"all values {value}": filled(value) for value in (NAN, INFINITE, 0.0, 1e300, 1e-320, -9999.0)})


@defect("arrays")
def some_values_odd(data, rng):
    for _, array in arrays_of(data):
        if array.GetDataTypeAsString() in ("float", "double") and array.GetNumberOfTuples():
            values = vtk_to_numpy(array).reshape(-1)
            for _ in range(3):
                values[rng.randrange(len(values))] = rng.choice((NAN, INFINITE, -INFINITE, 1e308, -1e308, 5e-324))


@defect("arrays")
def a_nameless_array(data, rng):
    for attributes, count in attributes_of(data):
        attributes.AddArray(numpy_to_vtk(np.arange(float(count)), deep=1))


@defect("arrays")
def all_arrays_nameless(data, rng):
    for _, array in list(arrays_of(data)):
        array.SetName(None)


@defect("arrays")
def an_empty_name(data, rng):
    for attributes, count in attributes_of(data):
        datasets.add(attributes, "", np.arange(float(count)))


@defect("arrays")
def a_name_twice(data, rng):
    """VTK replaces an array of the same name when it is added, but not when it is renamed."""
    for _, array in list(arrays_of(data)):
        if array.GetName() == "label":
            array.SetName("velocity")


@defect("arrays")
def odd_names(data, rng):
    for attributes, count in attributes_of(data):
        for name in ("RegionId", "SeedIds", "Concentration", "IntegrationTime", "Filled", "x" * 5000, "a\nb", "\u00e9"):
            datasets.add(attributes, name, np.zeros(count))


def resized(count_of):
    def change(data, rng):
        for _, array in list(arrays_of(data)):
            if rng.random() < 0.5:
                array.SetNumberOfTuples(count_of(array.GetNumberOfTuples()))

    return change


KINDS["arrays"].update({
    "arrays empty": resized(lambda count: 0),
    "arrays too short": resized(lambda count: count // 2),
    "arrays one too short": resized(lambda count: max(count - 1, 0)),
})


@defect("arrays")
def arrays_too_long(data, rng):
    for attributes, array in numbers_of(data):
        name, values = array.GetName(), vtk_to_numpy(array)
        attributes.RemoveArray(name)
        datasets.add(attributes, name, np.concatenate([values, values]))


@defect("arrays")
def other_value_types(data, rng):
    kind = rng.choice(TYPES)
    for attributes, array in numbers_of(data):
        name, values = array.GetName(), np.nan_to_num(vtk_to_numpy(array))
        attributes.RemoveArray(name)
        datasets.add(attributes, name, values.astype(kind))


@defect("arrays")
def arrays_without_numbers(data, rng):
    """Bits, text or variants instead of numbers."""
    kind = rng.choice((vtkBitArray, vtkStringArray, vtkVariantArray))
    for attributes, array in list(arrays_of(data)):
        other = kind()
        other.SetName(array.GetName())
        other.SetNumberOfComponents(array.GetNumberOfComponents())
        other.SetNumberOfTuples(array.GetNumberOfTuples())
        if kind is vtkBitArray:
            other.Fill(1)
        attributes.RemoveArray(array.GetName())
        attributes.AddArray(other)


@defect("arrays")
def other_components(data, rng):
    components = rng.choice((1, 2, 3, 4, 9))
    for attributes, array in list(arrays_of(data)):
        name, count = array.GetName(), array.GetNumberOfTuples()
        attributes.RemoveArray(name)
        datasets.add(attributes, name, np.ones((count, components)))


@defect("arrays")
def no_arrays(data, rng):
    for attributes, _ in attributes_of(data):
        attributes.Initialize()


@defect("arrays")
def arrays_of_cells_only(data, rng):
    if hasattr(data, "GetPointData"):
        data.GetPointData().Initialize()


@defect("arrays")
def odd_global_ids(data, rng):
    """Equal, negative or huge ones."""
    for attributes, count in attributes_of(data):
        ids = vtkIdTypeArray()
        ids.SetName("ids")
        first, step = rng.choice(((0, 0), (-5, 1), (2**63 - 1 - count, 1), (0, 2)))
        ids.SetNumberOfTuples(count)
        for n in range(count):
            ids.SetValue(n, first + step * n)
        attributes.SetGlobalIds(ids)


@defect("arrays")
def global_ids_too_short(data, rng):
    for attributes, _ in attributes_of(data):
        ids = numpy_to_vtkIdTypeArray(np.zeros(1, np.int64), deep=1)
        ids.SetName("ids")
        attributes.SetGlobalIds(ids)
