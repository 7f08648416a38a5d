# SPDX-License-Identifier: BSD-3-Clause
# script-version: 2.0
"""Runs after Examples/InSitu/pipeline.py: writes results.json with hashes of what its filters give in each output, in
an order that does not depend on ranks, and the values of the solvers, which may differ within a tolerance."""

import hashlib
import json

import numpy as np
import pipeline
from paraview import catalyst
from vtkmodules.util.numpy_support import vtk_to_numpy

COMM = pipeline.COMM
options = catalyst.Options()
results = {}


def bytes_of(attributes, count, coordinates=()):
    """A row of bytes for each point, cell or table row: what all its arrays have."""
    arrays = {attributes.GetArrayName(i): attributes.GetAbstractArray(i) for i in range(attributes.GetNumberOfArrays())}
    columns = [*coordinates]
    for name in sorted(arrays):
        if name == "vtkGhostType":
            continue
        array = arrays[name]
        if array.IsA("vtkStringArray"):
            columns.append(np.array([array.GetValue(i).ljust(20) for i in range(count)], dtype="S20"))
        else:
            columns.append(vtk_to_numpy(array))
    if not columns or not count:
        return np.zeros((0, 0), np.uint8)
    columns = [np.where(np.isnan(c), np.nan, c) if c.dtype.kind == "f" else c for c in columns]
    return np.hstack([np.ascontiguousarray(c).view(np.uint8).reshape(count, -1) for c in columns])


def rows_of(data):
    """Polylines whole, points of grids and rows of tables each alone."""
    if data.IsA("vtkTable"):
        return [row.tobytes() for row in bytes_of(data.GetRowData(), data.GetNumberOfRows())]
    if data.IsA("vtkPolyData"):
        places = [vtk_to_numpy(data.GetPoints().GetData())] if data.GetNumberOfPoints() else ()
        points = bytes_of(data.GetPointData(), data.GetNumberOfPoints(), places)
        cells = bytes_of(data.GetCellData(), data.GetNumberOfCells())
        rows = []
        for cell in range(data.GetNumberOfCells()):
            ids = data.GetCell(cell).GetPointIds()
            own = cells[cell].tobytes() if len(cells) else b""
            rows.append(own + points[[ids.GetId(i) for i in range(ids.GetNumberOfIds())]].tobytes())
        return rows
    count = data.GetNumberOfPoints()
    places = np.array([data.GetPoint(i) for i in range(count)])
    return [row.tobytes() for row in bytes_of(data.GetPointData(), count, [places])]


def digest(proxy, port=0):
    """Points that ranks share count once: they must have the same bits, or the number of rows differs."""
    data = proxy.GetClientSideObject().GetOutputDataObject(port)
    rows = sorted({row for part in COMM.allgather(rows_of(data)) for row in part})
    return f"{len(rows)} {hashlib.sha256(b''.join(rows)).hexdigest()[:24]}"


def total(proxy, name):
    """A value in the field data that is the same on all ranks."""
    return proxy.GetClientSideObject().GetOutputDataObject(0).GetFieldData().GetArray(name).GetValue(0)


def filled():
    """The range of the pressure in the cylinder."""
    points = pipeline.filters["fill"].GetClientSideObject().GetOutputDataObject(0).GetPointData()
    pressure = vtk_to_numpy(points.GetArray("pressure"))[vtk_to_numpy(points.GetArray("solid")) == 1]
    ranges = [part for part in COMM.allgather((pressure.min(), pressure.max()) if len(pressure) else ()) if part]
    return [float(min(low for low, high in ranges)), float(max(high for low, high in ranges))]


def catalyst_execute(info):
    filters = pipeline.filters
    results[info.timestep] = {
        "same": {
            "streamlines": digest(filters["streamlines"]),
            "paths": digest(filters["paths"]),
            "flow map": digest(filters["flow map"]),
            "regions": [digest(filters["regions"], port) for port in range(2)],
            "tracks": [digest(filters["tracks"], port) for port in range(5)],
        },
        "close": [total(pipeline.dye.filter, "ConcentrationTotal"), *filled()],
    }


def catalyst_finalize():
    if COMM.rank == 0:
        with open(pipeline.output("results.json"), "w") as file:
            json.dump(results, file)
