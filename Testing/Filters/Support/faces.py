# SPDX-License-Identifier: BSD-3-Clause
"""The faces of polyhedra as NumPy arrays that can be changed: one array, since ParaView 5.13 two lists of lists."""

from vtkmodules.util.numpy_support import vtk_to_numpy


def has_lists(data):
    return hasattr(data, "GetPolyhedronFaces")


def arrays(data):
    """The arrays that hold the faces; none if the data set has no polyhedra."""
    if not data.IsA("vtkUnstructuredGrid"):
        return []
    if has_lists(data):
        lists = [cells for cells in (data.GetPolyhedronFaces(), data.GetPolyhedronFaceLocations()) if cells]
        found = [array for cells in lists for array in (cells.GetOffsetsArray(), cells.GetConnectivityArray())]
    else:
        found = [data.GetFaces()] if data.GetFaces() else []
    return [vtk_to_numpy(array) for array in found if array.GetNumberOfValues()]


def name_missing(data):
    """The first polyhedron has more faces than there are, or a face that does not exist."""
    if has_lists(data):
        vtk_to_numpy(data.GetPolyhedronFaceLocations().GetConnectivityArray())[0] = 1000000
    else:
        vtk_to_numpy(data.GetFaces())[0] = 1000000


def make_negative(data):
    """The first face of the first polyhedron has -3 points."""
    if has_lists(data):
        offsets = vtk_to_numpy(data.GetPolyhedronFaces().GetOffsetsArray())
        offsets[1] = offsets[0] - 3
    else:
        vtk_to_numpy(data.GetFaces())[1] = -3
