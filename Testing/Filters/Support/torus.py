# SPDX-License-Identifier: BSD-3-Clause
"""Uniform and rectilinear grids of fields that repeat along axes, cut into pieces, and the lines in them; for tests
of periodic domains. Every rank runs the script.
"""

import check
import films
import numpy as np
from tracking import expect
from unsteady import COMM, digest_of
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkCommonDataModel import (
    vtkImageData, vtkMultiBlockDataSet, vtkPartitionedDataSet, vtkPartitionedDataSetCollection,
    vtkRectilinearGrid)

# Cuts along the axes, cells of ghosts, and how pieces are dealt to the ranks; nothing of them changes a line.
WAYS = (
    {},
    {"cuts": (3, 2, 1), "container": vtkMultiBlockDataSet},
    {"cuts": (2, 2, 2), "ghosts": 1, "dealt": "backwards"},
    {"cuts": (1, 3, 2), "dealt": "last"},
    {"cuts": (5, 1, 1), "dealt": "first", "ghosts": 1},
)


class Torus:
    """Columns of points, and point arrays at them.

    columns  coordinates by axis, without the image of the first column
    period   by axis; 0 along axes that end
    field    a function of three arrays of coordinates that gives arrays by name, each with axes x, y, z and
             perhaps components; repeats with the period. Coordinates of one axis at a time are in each array
    doubled  by axis, whether the image of the first column is a column, too
    """

    def __init__(self, columns, period, field, doubled=(0, 0, 0)):
        self.period = np.array(period, float)
        # Contiguous: numpy's functions of a reversed view may differ in the last bit from run to run.
        columns = [np.ascontiguousarray(x, float) for x in columns]
        arrays = field(*(x.reshape([-1 if a == b else 1 for b in range(3)]) for a, x in enumerate(columns)))
        shape = tuple(len(x) for x in columns)
        self.arrays = {}
        for name, values in arrays.items():
            if isinstance(values, tuple):
                values = np.stack([np.broadcast_to(np.asarray(v, float), shape) for v in values], -1)
            else:
                values = np.broadcast_to(np.asarray(values, float), shape)
            for a in range(3):
                if doubled[a]:
                    values = np.concatenate([values, np.take(values, [0], axis=a)], axis=a)
            self.arrays[name] = values
        self.columns = [np.append(x, x[0] + p) if d else x for x, p, d in zip(columns, self.period, doubled)]

    def piece(self, low, high, uniform, ghosts=(), dtype="float64", first=(0, 0, 0)):
        """The grid between two columns along each axis, ends included.

        ghosts  by axis, pairs of layers of cells that are those of other pieces
        first   the index of the first column
        """
        data = vtkImageData() if uniform else vtkRectilinearGrid()
        data.SetExtent(*(first[a] + end[a] for a in range(3) for end in (low, high)))
        if uniform:
            spacing = [x[1] - x[0] if len(x) > 1 else 1.0 for x in self.columns]
            data.SetSpacing(*spacing)
            data.SetOrigin(*(x[0] - f * s for x, f, s in zip(self.columns, first, spacing)))
        else:
            for x, begin, end, setter in zip(
                    self.columns, low, high, (data.SetXCoordinates, data.SetYCoordinates, data.SetZCoordinates)):
                setter(numpy_to_vtk(np.ascontiguousarray(x[begin:end + 1]), deep=1))
        at = tuple(slice(b, e + 1) for b, e in zip(low, high))
        for name, values in self.arrays.items():
            mine = values[at]
            mine = np.swapaxes(mine, 0, 2).reshape(-1, *mine.shape[3:])
            kind = dtype if mine.ndim > 1 else "float64"
            array = numpy_to_vtk(np.ascontiguousarray(mine.astype(kind)), deep=1)
            array.SetName(name)
            data.GetPointData().AddArray(array)
        if ghosts:
            cells = [max(e - b, 1) for b, e in zip(low, high)]
            flags = np.ones(cells[::-1], np.uint8)
            inner = tuple(slice(g[0], n - g[1]) for g, n in zip(ghosts, cells))
            flags[inner[::-1]] = 0
            array = numpy_to_vtk(flags.ravel(), deep=1)
            array.SetName("vtkGhostType")
            data.GetCellData().AddArray(array)
        return data

    def pieces(self, uniform=True, cuts=(1, 1, 1), ghosts=0, dealt="turns", container=vtkPartitionedDataSet,
               **arguments):
        """The pieces of this rank in a composite."""
        data = container()
        count = int(np.prod(cuts))
        cells = [max(len(x) - 1, 1) for x in self.columns]
        mine = 0
        for number in range(count):
            if {"turns": number % COMM.size, "backwards": -1 - number % COMM.size, "first": 0, "last": -1}[
                    dealt] % COMM.size != COMM.rank:
                continue
            at = np.unravel_index(number, cuts)
            low, high, layers = [], [], []
            for a in range(3):
                flat = len(self.columns[a]) == 1
                begin, end = cells[a] * at[a] // cuts[a], cells[a] * (at[a] + 1) // cuts[a]
                before, after = min(begin, ghosts), min(cells[a] - end, ghosts)
                low.append(0 if flat else begin - before)
                high.append(0 if flat else end + after)
                layers.append((0, 0) if flat else (before, after))
            piece = self.piece(low, high, uniform, layers if ghosts else (), **arguments)
            if container is vtkMultiBlockDataSet:
                data.SetBlock(number, piece)
            else:
                data.SetPartition(mine, piece)
            mine += 1
        return data

    def source(self, **arguments):
        """A proxy of the pieces of all ranks."""
        return check.held(self.pieces(**arguments))

    def alone(self, uniform=True, **arguments):
        """A proxy of the whole grid without a composite, on the last rank."""
        high = [len(x) - 1 for x in self.columns]
        if COMM.rank == COMM.size - 1:
            return check.held(self.piece((0, 0, 0), high, uniform, **arguments), self._extent())
        data = vtkImageData() if uniform else vtkRectilinearGrid()
        return check.held(data, self._extent())

    def _extent(self):
        return [n for x in self.columns for n in (0, len(x) - 1)]


class Lines:
    """The streamlines of all ranks, by seed, forward before backward; the same on all ranks."""

    def __init__(self, proxy):
        proxy.UpdatePipeline()
        data = self.data = proxy.GetClientSideObject().GetOutputDataObject(0)
        arrays = check.arrays(data.GetPointData())
        cells = check.arrays(data.GetCellData())
        mine = []
        for cell in range(data.GetNumberOfCells()):
            ids = data.GetCell(cell).GetPointIds()
            at = [ids.GetId(i) for i in range(ids.GetNumberOfIds())]
            mine.append((int(cells["SeedIds"][cell]), vtk_to_numpy(data.GetPoints().GetData())[at],
                         {name: values[at] for name, values in arrays.items()},
                         int(cells["ReasonForTermination"][cell])))
        every = [row for part in COMM.allgather(mine) for row in part]
        self.ids, self.points, self.arrays, self.reasons = ([row[i] for row in every] for i in range(4))

    def digest(self):
        """A hash of all bits."""
        return digest_of(self)

    def statistic(self, name):
        """The value of rank 0, or None."""
        array = self.data.GetFieldData().GetArray(f"AsyncStreamTracer {name}")
        return array and array.GetValue(0)


def near(one, other, tolerance, what):
    """The two are equal up to a tolerance."""
    one, other = np.asarray(one, float), np.asarray(other, float)
    expect(one.shape == other.shape, f"{what}: {one.shape} and {other.shape} values")
    error = np.abs(one - other).max() if one.size else np.inf
    expect(error <= tolerance, f"{what}: off by {error}")


_makers = []
_SCRIPT = """
import torus
executive = self.GetExecutive()
time = executive.GetOutputInformation(0).Get(executive.UPDATE_TIME_STEP())
output = self.GetOutputDataObject(0)
output.ShallowCopy(torus._makers[{number}](time))
output.GetInformation().Set(output.DATA_TIME_STEP(), time)
"""


def in_time(make, times):
    """A proxy with time steps.

    make  a function of a time that returns a multiblock data set of this rank
    """
    proxy = check.flows.source(container="partitioned", mesh="image", size=4)

    def collection(time):
        data = vtkPartitionedDataSetCollection()
        data.SetPartitionedDataSet(0, make(time))
        return data

    _makers.append(collection)
    proxy.Script = _SCRIPT.format(number=len(_makers) - 1)
    proxy.ScriptRequestInformation = proxy.ScriptRequestInformation + films._INFORMATION.format(times=list(times))
    return proxy


def cases(names, what):
    """Run the functions run_... of a script."""
    work = {name[4:].replace("_", " "): function for name, function in names.items() if name.startswith("run_")}
    check.run_cases(work, COMM.rank, what)
