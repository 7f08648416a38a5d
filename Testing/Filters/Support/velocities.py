# SPDX-License-Identifier: BSD-3-Clause
"""Velocities in components, and on a sphere: functions for the script of unsteady.source(), and formulas."""

import numpy as np
import unsteady
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkPoints
from vtkmodules.vtkCommonDataModel import vtkPartitionedDataSet

NAMES = ("u", "v", "w")
COMPONENTS = {"Vectors": None, "VelocityForm": "Components"}
SPHERE = {"Coordinates": "Longitude Latitude"}
RADIUS = 6371000.0
# The box [0, 2 pi]^3 of the flow abc becomes this box of longitudes and latitudes.
LOW, HIGH = (-170.0, -75.0), (190.0, 75.0)


def of(association, names=NAMES):
    """The properties that select components."""
    chosen = {axis + "Component": [association, name] for axis, name in zip("XYZ", names)}
    return {**COMPONENTS, **chosen, **({} if len(names) == 3 else {"ZComponent": "None"})}


def leaves(output):
    return [output] if output.IsA("vtkDataSet") else unsteady._leaves(output)


def attributes_of(output):
    for leaf in leaves(output):
        yield leaf.GetPointData()
        yield leaf.GetCellData()


def split(output, dtypes=("float32",) * 3, keep=True):
    """Add the components of `velocity`, of these types, as arrays u, v and w. The vectors get the values of the
    components, and stay if `keep` is set."""
    for attributes in attributes_of(output):
        array = attributes.GetArray("velocity")
        if array is None:
            continue
        values = [c.astype(d) for c, d in zip(vtk_to_numpy(array).T, dtypes)]
        for name, component in zip(NAMES, values):
            unsteady._add(attributes, name, component)
        attributes.RemoveArray("velocity")
        if keep:
            unsteady._add(attributes, "velocity", np.stack(values, -1))


def stagger(output, slope, begin, scale=1.0, side="low", dtype="float64"):
    """Add arrays u, v and w of cells: velocities, linear along the axis of each, at the faces of one side."""
    for leaf in leaves(output):
        boxes = np.array([leaf.GetCell(i).GetBounds() for i in range(leaf.GetNumberOfCells())]).reshape(-1, 6)
        for axis, name in enumerate(NAMES):
            x = boxes[:, 2 * axis + (0 if side == "low" else 1)]
            unsteady._add(leaf.GetCellData(), name, (scale * (begin[axis] + slope[axis] * x)).astype(dtype))


def partitions(pieces):
    """A data set of pieces."""
    data = vtkPartitionedDataSet()
    for number, piece in enumerate(pieces):
        data.SetPartition(number, piece)
    return data


def to_globe(output, low=LOW, high=HIGH):
    """Stretch the box of the flow abc to longitudes and latitudes; z becomes a height in [0, 1]."""
    low, high = np.array([*low, 0.0]), np.array([*high, 1.0])
    scale = (high - low) / (2 * np.pi)
    for leaf in leaves(output):
        if leaf.IsA("vtkImageData"):
            leaf.SetOrigin(low + scale * leaf.GetOrigin())
            leaf.SetSpacing(scale * leaf.GetSpacing())
        elif leaf.IsA("vtkRectilinearGrid"):
            for a, axis in enumerate("XYZ"):
                x = vtk_to_numpy(getattr(leaf, f"Get{axis}Coordinates")())
                # The last bits at a pole are those of the pole.
                moved = np.clip(low[a] + scale[a] * x, low[a], high[a])
                getattr(leaf, f"Set{axis}Coordinates")(numpy_to_vtk(moved, deep=1))
        elif leaf.GetNumberOfPoints():
            x = vtk_to_numpy(leaf.GetPoints().GetData()).astype(float)
            points = vtkPoints()
            points.SetData(numpy_to_vtk(np.clip(low + scale * x, low, high), deep=1))
            leaf.SetPoints(points)


def spin(output, turns, dtype="float64", rise=0.0, radius=RADIUS):
    """Set `velocity`, in meters per second, to that of a sphere that turns by the vector `turns`, in radians per
    second, and rises in z."""
    for leaf in leaves(output):
        for cells, attributes in ((False, leaf.GetPointData()), (True, leaf.GetCellData())):
            x = unsteady._positions(leaf, cells)
            lon, lat = np.radians(x[:, 0]), np.radians(x[:, 1])
            velocity = np.cross(np.asarray(turns, float), radius * direction(lon, lat))
            east = np.stack([-np.sin(lon), np.cos(lon), 0 * lon], -1)
            north = np.stack([-np.sin(lat) * np.cos(lon), -np.sin(lat) * np.sin(lon), np.cos(lat)], -1)
            values = np.stack([(velocity * east).sum(-1), (velocity * north).sum(-1), rise + 0 * lon], -1)
            unsteady._add(attributes, "velocity", values.astype(dtype))


def direction(lon, lat):
    return np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], -1)


def turned(start, turns, angles):
    """Longitudes and latitudes in degrees of a point after turns about an axis by these angles in radians.

    start  longitude and latitude in degrees
    turns  a vector along the axis
    """
    r = direction(*np.radians(start[:2]))
    axis = np.asarray(turns, float) / np.linalg.norm(turns)
    c, s = np.cos(angles)[:, None], np.sin(angles)[:, None]
    r = c * r + s * np.cross(axis, r) + (1 - c) * axis * (axis @ r)
    return np.degrees(np.stack([np.arctan2(r[:, 1], r[:, 0]), np.arcsin(np.clip(r[:, 2], -1, 1))], -1))
