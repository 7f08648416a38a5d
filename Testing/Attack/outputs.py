# SPDX-License-Identifier: BSD-3-Clause
"""Checks of outputs and messages."""

import hashlib
import re

import numpy as np
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonDataModel import vtkDataObject

from datasets import leaves
from troubles import attributes_of

# A message that says what to do has one of these words.
CURE = re.compile(
    r"\b(set|use|select|choose|give|add|remove|convert|resample|tetrahedralize|triangulate|clean|increase|decrease|"
    r"change|must|needs?|run|apply|assign|connect|check|merge|make|expected|allowed|at least|at most|generate|"
    r"rename|replace|extract|append|group|raise|reduce|lower|repair)\b",
    re.IGNORECASE,
)
ADDRESS = re.compile(r"\(0x[0-9a-f]+\)|0x[0-9a-f]+")
COLOR = re.compile("\x1b\\[[0-9;]*m")
RECORD = re.compile(r"^\( *[0-9.]+s\) \[")


def values_of(array):
    """The numbers of an array, or None for text and the like."""
    if array is None or not hasattr(array, "GetTuple") or array.IsA("vtkBitArray"):
        return None
    if array.GetNumberOfTuples() == 0:
        return np.zeros((0, array.GetNumberOfComponents()))
    return vtk_to_numpy(array)


def _arrays(attributes):
    """All arrays with their names."""
    for n in range(attributes.GetNumberOfArrays()):
        array = attributes.GetAbstractArray(n)
        if array is not None:
            yield str(array.GetName()), array


def _faults_of_cells(name, cells, points):
    if cells is None or cells.GetNumberOfCells() == 0:
        return
    offsets = vtk_to_numpy(cells.GetOffsetsArray())
    connectivity = values_of(cells.GetConnectivityArray())
    if offsets[0] != 0 or (np.diff(offsets) < 0).any() or offsets[-1] > len(connectivity):
        yield f"offsets of {name} are wrong"
    if len(connectivity) and (connectivity.min() < 0 or connectivity.max() >= points):
        yield f"point ids of {name} are out of range"


def faults(data):
    """What is structurally wrong with a data object, as texts that are equal for equal faults."""
    found = set()
    for leaf in leaves(data):
        if leaf.IsA("vtkTable"):
            rows = leaf.GetNumberOfRows()
            for name, array in _arrays(leaf.GetRowData()):
                if array.GetNumberOfTuples() != rows:
                    found.add(f"column {name} has another length than the table")
            continue
        for kind, (attributes, count) in zip(("point", "cell"), attributes_of(leaf)):
            for name, array in _arrays(attributes):
                if array.GetNumberOfTuples() != count:
                    found.add(f"{kind} array {name} has another length than the data")
        if leaf.IsA("vtkUnstructuredGrid"):
            found.update(_faults_of_cells("cells", leaf.GetCells(), leaf.GetNumberOfPoints()))
        elif leaf.IsA("vtkPolyData"):
            for name in ("Verts", "Lines", "Polys", "Strips"):
                found.update(_faults_of_cells(name, getattr(leaf, f"Get{name}")(), leaf.GetNumberOfPoints()))
        elif leaf.IsA("vtkStructuredGrid"):
            dimensions = leaf.GetDimensions()
            points = leaf.GetPoints().GetNumberOfPoints() if leaf.GetPoints() else 0
            if points != np.prod([max(n, 0) for n in dimensions]):
                found.add("the number of points is not that of the extent")
    return found


def not_finite(data, names):
    """The arrays of these names with NaN or Inf; points, if the first name is of lines."""
    found = set()
    for leaf in leaves(data):
        for attributes, _ in attributes_of(leaf):
            for name, array in _arrays(attributes):
                values = values_of(array)
                if name in names and values is not None and not np.isfinite(values).all():
                    found.add(f"{name} is not finite")
        if "IntegrationTime" in names and leaf.IsA("vtkPolyData") and leaf.GetNumberOfPoints():
            if not np.isfinite(vtk_to_numpy(leaf.GetPoints().GetData())).all():
                found.add("points of lines are not finite")
    return found


def _row(*parts):
    total = hashlib.sha256()
    for part in parts:
        total.update(part.encode() if isinstance(part, str) else np.ascontiguousarray(part).tobytes())
    return total.hexdigest()[:16]


def _columns(attributes, only=()):
    columns = {}
    for name, array in _arrays(attributes):
        values = values_of(array)
        if values is not None and (not only or name.startswith(only)):
            columns.setdefault(name, values)
    return sorted(columns.items())


def rows(data, only=()):
    """Hashes of rows, cells of poly data, or data sets, in any order. only: beginnings of the names of arrays that
    count, if not all do."""
    result = []
    for leaf in leaves(data):
        if leaf.IsA("vtkTable"):
            columns = _columns(leaf.GetRowData())
            for n in range(leaf.GetNumberOfRows()):
                result.append(_row(*(part for name, values in columns for part in (name, values[n]))))
        elif leaf.IsA("vtkPolyData") and not only:
            result += _cells(leaf)
        elif leaf.GetNumberOfElements(vtkDataObject.CELL):
            tables = [_columns(attributes, only) for attributes, _ in attributes_of(leaf)]
            result.append(_row(*(part for table in tables for name, values in table for part in (name, values))))
    return result


def _cells(data):
    """One hash for each cell of poly data, with its points and values."""
    of_points, of_cells = _columns(data.GetPointData()), _columns(data.GetCellData())
    result = []
    for cells in (data.GetVerts(), data.GetLines(), data.GetPolys(), data.GetStrips()):
        if cells is None or cells.GetNumberOfCells() == 0:
            continue
        points = vtk_to_numpy(data.GetPoints().GetData())
        offsets, connectivity = vtk_to_numpy(cells.GetOffsetsArray()), values_of(cells.GetConnectivityArray())
        for n in range(len(offsets) - 1):
            ids = connectivity[offsets[n] : offsets[n + 1]]
            parts = [points[ids]]
            parts += [part for name, values in of_points for part in (name, values[ids])]
            parts += [part for name, values in of_cells for part in (name, values[len(result)])]
            result.append(_row(*parts))
    return result


def total(data, name):
    """The sum of the finite values of an array."""
    result = 0.0
    for leaf in leaves(data):
        for attributes, _ in attributes_of(leaf):
            for found, array in _arrays(attributes):
                values = values_of(array)
                if found == name and values is not None:
                    result += float(values[np.isfinite(values)].astype(float).sum())
    return result


def errors_in(text):
    """The error messages in what a rank has written."""
    records = []
    for line in COLOR.sub("", text).splitlines():
        if RECORD.match(line):
            records.append(line)
        elif records and line.strip():
            records[-1] += " " + line.strip()
    return [ADDRESS.sub("", record.partition("ERR| ")[2]) for record in records if "ERR|" in record]


def poor(message):
    """What is wrong with an error message of a filter; None if it is fine."""
    if "an exception of an unknown type" in message or "std::" in message or "bad_alloc" in message:
        return "that names no cause"
    if not CURE.search(message):
        return "that does not say what to do"
    return None
