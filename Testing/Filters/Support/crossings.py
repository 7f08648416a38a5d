# SPDX-License-Identifier: BSD-3-Clause
"""Crossings of events as numpy, in scripts that test tracers."""

import hashlib

import check
import numpy as np
from paraview import servermanager


class Crossings:
    """Points with arrays.

    points  three coordinates of each
    data    the arrays by name
    """

    def __init__(self, points, data):
        self.points = points
        self.data = data
        self.count = len(points)

    def of(self, **values):
        """A mask of the crossings with these values of arrays."""
        mask = np.ones(self.count, bool)
        for name, value in values.items():
            mask &= self.data[name] == value
        return mask

    def digest(self):
        """A hash of all bits."""
        total = hashlib.sha256(np.ascontiguousarray(self.points).tobytes())
        for name in sorted(self.data):
            total.update(f"{name} {self.data[name].dtype} {self.data[name].shape}".encode())
            total.update(np.ascontiguousarray(self.data[name]).tobytes())
        return total.hexdigest()[:24]


def fetched(tracer):
    """The second output of a tracer, the ranks' parts in the order of ranks."""
    tracer.UpdatePipeline()
    data = servermanager.Fetch(tracer, idx=1)
    count = data.GetNumberOfPoints()
    assert data.GetNumberOfVerts() == count and data.GetNumberOfLines() == 0, "not one vertex each"
    points = check.vtk_to_numpy(data.GetPoints().GetData()) if count else np.zeros((0, 3))
    return Crossings(points, check.arrays(data.GetPointData()))
