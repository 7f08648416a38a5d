# SPDX-License-Identifier: BSD-3-Clause
"""The tables that filters write."""

import numpy as np
from vtkmodules.util.numpy_support import vtk_to_numpy


def columns_of(table):
    """The columns of a vtkTable by name, as arrays or, if they are texts, as lists. Those of components are one:
    CentroidX, CentroidY and CentroidZ are Centroid, and BoundsMinX to BoundsMaxZ are Bounds, in VTK's order."""
    columns = {}
    for column in map(table.GetColumn, range(table.GetNumberOfColumns())):
        texts = None if column.IsNumeric() else map(column.GetValue, range(column.GetNumberOfTuples()))
        columns[column.GetName()] = vtk_to_numpy(column).copy() if texts is None else list(texts)
    for stem in [name[:-1] for name in columns if name.endswith("X") and name[:-1] + "Z" in columns]:
        columns[stem] = np.stack([columns.pop(stem + axis) for axis in "XYZ"], axis=-1)
    if "BoundsMin" in columns:
        ends = columns.pop("BoundsMin"), columns.pop("BoundsMax")
        columns["Bounds"] = np.stack(ends, axis=-1).reshape(-1, 6)
    return columns
