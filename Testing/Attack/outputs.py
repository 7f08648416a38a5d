# SPDX-License-Identifier: BSD-3-Clause
"""Checks of outputs and messages."""

import hashlib
import math
import re

import numpy as np
from vtkmodules.util.numpy_support import get_vtk_to_numpy_typemap
from vtkmodules.vtkCommonCore import VTK_BIT, vtkDataArray
from vtkmodules.vtkCommonDataModel import vtkDataObject

from datasets import leaves
from defects import attributes_of

# A message that says what to do has one of these words.
CURE = re.compile(
    r"\b(set|use|select|choose|give|add|remove|convert|resample|tetrahedralize|triangulate|clean|increase|decrease|"
    r"change|must|needs?|run|apply|assign|connect|check|merge|make|expected|allowed|at least|at most|generate|"
    r"rename|replace|extract|append|group|raise|reduce|lower|repair|scale|mark|split|write)\b",
    re.IGNORECASE,
)
TYPES = {kind: np.dtype(name) for kind, name in get_vtk_to_numpy_typemap().items() if kind != VTK_BIT}
ADDRESS = re.compile(r"\(0x[0-9a-f]+\)|0x[0-9a-f]+")
COLOR = re.compile("\x1b\\[[0-9;]*m")
RECORD = re.compile(r"^\( *[0-9.]+s\) \[")


def values_of(array):
    """The numbers of an array, or None for text and the like."""
    kind = TYPES.get(array.GetDataType()) if isinstance(array, vtkDataArray) else None
    if kind is None:
        return None
    components = array.GetNumberOfComponents()
    if array.GetNumberOfTuples() == 0:
        return np.zeros((0, components))
    values = np.frombuffer(array, kind)  # vtk_to_numpy() takes several times as long
    return values if components == 1 else values.reshape(-1, components)


def _arrays(attributes):
    """All arrays with their names."""
    for n in range(attributes.GetNumberOfArrays()):
        array = attributes.GetAbstractArray(n)
        if array is not None:
            yield str(array.GetName()), array


def _faults_of_cells(name, cells, points):
    if cells is None or cells.GetNumberOfCells() == 0:
        return
    offsets = values_of(cells.GetOffsetsArray())
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
            if not np.isfinite(values_of(leaf.GetPoints().GetData())).all():
                found.add("points of lines are not finite")
    return found


def _hash(*parts):
    return hashlib.blake2b(b"".join(parts), digest_size=8).hexdigest()


def _columns(attributes, only=()):
    columns = {}
    for name, array in _arrays(attributes):
        values = values_of(array)
        if values is not None and (not only or name.startswith(only)):
            columns.setdefault(name, values)
    return sorted(columns.items())


def _table(columns, count):
    """The names of columns and their widths in bytes as bytes, and the bytes of all columns as a matrix."""
    parts = []
    for name, values in columns:
        values = np.ascontiguousarray(values[:count])
        width = values.itemsize * math.prod(values.shape[1:])
        parts.append((name, values.reshape(-1).view(np.uint8).reshape(count, width)))
    head = " ".join(f"{name} {part.shape[1]}" for name, part in parts).encode()
    return head, np.concatenate([part for _, part in parts], axis=1) if parts else np.zeros((count, 0), np.uint8)


def rows(data, only=(), cut=False):
    """Hashes of rows, cells of poly data, or data sets, in any order. only: beginnings of the names of arrays that
    count, if not all do. cut: of images those of points, because pieces are cut differently."""
    result = []
    for leaf in leaves(data):
        if leaf.IsA("vtkTable"):
            count = leaf.GetNumberOfRows()
            if count:
                head, table = _table(_columns(leaf.GetRowData()), count)
                result += [_hash(head, row) for row in table]
        elif leaf.IsA("vtkImageData") and cut:
            count = leaf.GetNumberOfPoints()
            places = np.array([leaf.GetPoint(i) for i in range(count)])
            if count:
                head, table = _table([("points", places), *_columns(leaf.GetPointData(), only)], count)
                result += [_hash(head, row) for row in table]
        elif leaf.IsA("vtkPolyData") and not only:
            result += _cells(leaf)
        elif leaf.GetNumberOfElements(vtkDataObject.CELL):
            columns = [column for attributes, _ in attributes_of(leaf) for column in _columns(attributes, only)]
            result.append(_hash(*(part for name, values in columns
                                  for part in (name.encode(), np.ascontiguousarray(values)))))
    return result


def _cells(data):
    """One hash for each cell of poly data, with its points and values."""
    count = data.GetNumberOfCells()
    if count == 0:
        return []
    points = values_of(data.GetPoints().GetData())
    head, of_points = _table([("points", points), *_columns(data.GetPointData())], len(points))
    head_of_cell, of_cells = _table(_columns(data.GetCellData()), count)
    result = []
    for cells in (data.GetVerts(), data.GetLines(), data.GetPolys(), data.GetStrips()):
        if cells is None or cells.GetNumberOfCells() == 0:
            continue
        offsets = values_of(cells.GetOffsetsArray()).tolist()
        values = of_points[values_of(cells.GetConnectivityArray())]
        for begin, end in zip(offsets, offsets[1:]):
            result.append(_hash(head, values[begin:end], head_of_cell, of_cells[len(result)]))
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
