# SPDX-License-Identifier: BSD-3-Clause
"""Vector fields that vary in time, on the distributed meshes of Data/flows.py, and the paths of particles in
them; for tests of Async Path Tracer.

A field is a function of positions (n x 3) and a time that returns vectors (n x 3).
"""

import hashlib
import os

import check
import films
import meshes
import numpy as np
from crossings import Crossings
from mpi4py import MPI
from paraview import simple
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkPoints
from vtkmodules.vtkCommonDataModel import vtkImageData, vtkMultiBlockDataSet, vtkPolyData
from vtkmodules.vtkFiltersCore import vtkAppendFilter

COMM = MPI.COMM_WORLD
executed = []  # the times at which sources have made data on this rank
CENTER = np.array([3.0, 3.0, 3.0])


def accelerate(x, time):
    """The same everywhere, linear in time."""
    return np.zeros_like(x) + [0.5, 0.25 + 0.5 * time, 0.125 * time]


def accelerated(x, begin, time):
    """Where a particle of `accelerate` is at a time that was at x at the time `begin`."""
    t, s = time, begin
    return x + [0.5 * (t - s), 0.25 * (t - s) + 0.25 * (t * t - s * s), 0.0625 * (t * t - s * s)]


def turn(x, time):
    """A rotation about an axis along z, linear in space and time, with a constant upward flow."""
    speed = 0.5 + 0.25 * time
    return speed * np.stack([CENTER[1] - x[:, 1], x[:, 0] - CENTER[0], 0 * x[:, 0]], -1) + [0, 0, 0.25]


def turned(x, begin, time):
    """Where a particle of `turn` is at a time that was at x at the time `begin`."""
    angle = 0.5 * (time - begin) + 0.125 * (time**2 - begin**2)
    c, s = np.cos(angle), np.sin(angle)
    d = x - CENTER
    return CENTER + np.stack(
        [c * d[..., 0] - s * d[..., 1], s * d[..., 0] + c * d[..., 1],
         d[..., 2] + 0.25 * (time - begin)], -1)


def _columns(x):
    """The coordinates. Kernels of numpy give other bits for arrays that are not contiguous, at some addresses."""
    return [np.ascontiguousarray(x[:, axis]) for axis in range(3)]


def swirl(x, time):
    """Not linear; particles leave the domain, or stay."""
    a, b, c = _columns(x)
    return np.stack([
        np.sin(c + time) + 0.7 * np.cos(b - 0.5 * time),
        np.sin(a + 0.3 * time) + 0.7 * np.cos(c),
        np.sin(b) + 0.7 * np.cos(a + time)], -1)


def gyre(x, time):
    """The double gyre of Shadden et al., in [0, 2] x [0, 1]."""
    a, b, _ = _columns(x)
    shift = 0.25 * np.sin(2 * np.pi * time / 10)
    f = shift * a**2 + (1 - 2 * shift) * a
    slope = 2 * shift * a + 1 - 2 * shift
    return np.pi * 0.1 * np.stack([
        -np.sin(np.pi * f) * np.cos(np.pi * b), np.cos(np.pi * f) * np.sin(np.pi * b) * slope, 0 * f], -1)


def stretch(x, time):
    """Where a point of a mesh is at a time: it moves with a velocity of its own, linear in space."""
    return x + time * carry(x, 0.0)


def carry(x, _):
    """The velocity of `stretch` at a point of the mesh at the time 0."""
    a, b, c = _columns(x - CENTER)
    return np.stack([0.125 * b - 0.0625 * a, 0.0625 * b, 0.125 * c + 0.0625 * a], -1)


def sway(x, time):
    """Where a point of a mesh is at a time: in waves, not linear in space or time."""
    a, b, c = _columns(x)
    return x + 0.15 * np.stack(
        [np.sin(2 * b + 3 * time), np.sin(1.5 * c + a - 2 * time), np.sin(a + 4 * time)], -1) * min(time + 0.25, 1)


def move(data, place, field, time, dtype="float32"):
    """Move the points of a data set as `place` says, which is a function of positions and a time. The vectors are
    those of the field at the new points, or with `carry` those of the mesh."""
    if field == "carry":
        set_values(data, field, 0.0, dtype)
    for leaf in [data] if data.IsA("vtkDataSet") else _leaves(data):
        x = _each(lambda p: PLACES[place](p, time), _positions(leaf, False))
        array = numpy_to_vtk(x.astype(vtk_to_numpy(leaf.GetPoints().GetData()).dtype), deep=1)
        points = vtkPoints()
        points.SetData(array)
        leaf.SetPoints(points)
    if field != "carry":
        set_values(data, field, time, dtype)


PLACES = {f.__name__: f for f in (stretch, sway)}
FIELDS = {f.__name__: f for f in (accelerate, turn, swirl, gyre, carry)}


def _positions(data, cells):
    if cells:
        boxes = np.array([data.GetCell(i).GetBounds() for i in range(data.GetNumberOfCells())])
        return (boxes.reshape(-1, 6)[:, ::2] + boxes.reshape(-1, 6)[:, 1::2]) / 2
    return np.array([data.GetPoint(i) for i in range(data.GetNumberOfPoints())]).reshape(-1, 3)


def _each(function, x):
    """Vector kernels may treat the last few numbers of an array differently: pad them."""
    padded = np.zeros((-(-max(len(x), 1) // 64) * 64, 3))
    padded[: len(x)] = x
    return function(padded)[: len(x)]


def set_values(data, field, time, dtype="float32", extra=True):
    """Replace the arrays of a data set by those of a field at a time."""
    leaves = [data] if data.IsA("vtkDataSet") else _leaves(data)
    for leaf in leaves:
        for cells, attributes in ((False, leaf.GetPointData()), (True, leaf.GetCellData())):
            if attributes.GetArray("velocity") is None:
                continue
            x = _positions(leaf, cells)
            _add(attributes, "velocity", _each(lambda p: FIELDS[field](p, time), x).astype(dtype))
            if not cells and extra:
                _add(attributes, "height", (x @ [1, 2, 3] + time).astype(np.float64))
                _add(attributes, "level", np.rint(10 * time + 0 * x[:, 0]).astype(np.int32))
    return data


def mark(data, time):
    """Add arrays to the cells: slabs, which are labels, and warm, linear in the center and in time."""
    for leaf in [data] if data.IsA("vtkDataSet") else _leaves(data):
        x = _positions(leaf, True)
        _add(leaf.GetCellData(), "slabs", np.floor(x[:, 0] / 1.3).astype(np.int32))
        _add(leaf.GetCellData(), "warm", (x @ [2, 1, 0] + 3 * time).astype(np.float64))


def _add(attributes, name, values):
    array = numpy_to_vtk(np.ascontiguousarray(values), deep=1)
    array.SetName(name)
    attributes.AddArray(array)


def _leaves(data):
    iterator = data.NewIterator()
    leaves = []
    while not iterator.IsDoneWithTraversal():
        leaves.append(iterator.GetCurrentDataObject())
        iterator.GoToNextItem()
    return leaves


_SCRIPT = """
import sys
sys.path[:0] = [p for p in {paths!r} if p not in sys.path]
import flows, meshes, unsteady
from vtkmodules.vtkParallelCore import vtkMultiProcessController
controller = vtkMultiProcessController.GetGlobalController()
executive = self.GetExecutive()
information = executive.GetOutputInformation(0)
time = {time}
rank, ranks = controller.GetLocalProcessId(), controller.GetNumberOfProcesses()
unsteady.executed.append(time)
output = self.GetOutputDataObject(0)
output.ShallowCopy(unsteady.set_values({build}(rank, ranks, **{arguments!r}), {field!r}, time, **{values!r}))
{after}
output.GetInformation().Set(output.DATA_TIME_STEP(), time)
"""


def remesh(rank, ranks, steps, times, cut=0, **arguments):
    """A multiblock data set whose mesh is another one at each time.

    steps  (mesh, size) by time step, for flows.build
    cut    0: a piece for each rank. 1: other numbers of pieces at each step, placed in turns; none on rank 0 at
           every second step. 2: all on the last rank at every second step
    """
    step = list(times).index(executed[-1])
    mesh, size = steps[step]
    if cut == 1:
        arguments = {**arguments, "pieces": 2 + 3 * step, "placing": "cyclic", "empty": step % 2}
    if cut == 2:
        arguments = {**arguments, "empty": (ranks - 1) * (step % 2)}
    return check.flows.build(rank, ranks, mesh=mesh, size=size, container="multiblock", **arguments)


def refine(rank, ranks, steps, times):
    """Three slabs of voxels side by side along x, dealt to the ranks in turns. The first one stays as it is.

    steps  the numbers of voxels along x of the others, by time step
    """
    data = vtkMultiBlockDataSet()
    for slab in range(rank, 3, ranks):
        cells = steps[list(times).index(executed[-1])] if slab > 0 else 4
        image = vtkImageData()
        image.SetDimensions(cells + 1, 7, 7)
        image.SetOrigin(2.0 * slab, 0, 0)
        image.SetSpacing(2.0 / cells, 1, 1)
        append = vtkAppendFilter()
        append.AddInputData(image)
        append.Update()
        mesh = append.GetOutput()
        _add(mesh.GetPointData(), "velocity", np.zeros((mesh.GetNumberOfPoints(), 3), np.float32))  # for set_values()
        data.SetBlock(slab, mesh)
    return data


def source(field, times, dtype="float32", after="", build="flows.build", **arguments):
    """A proxy with time steps.

    after  more of the script, which may change `output` at `time`
    build  the function that makes the data set, to which further arguments go: that of flows, one of meshes, or
           unsteady.remesh or unsteady.refine
    """
    if build in ("unsteady.remesh", "unsteady.refine"):
        arguments = {"times": list(times), **arguments}
        if build == "unsteady.remesh":
            arguments["centring"] = "both"
        proxy = check.flows.source(container="multiblock", mesh="tetrahedra", size=4)
    elif build == "flows.build":
        arguments = {"centring": "both", **arguments}
        proxy = check.flows.source(**arguments)
    else:
        proxy = {"meshes.build_hierarchy": meshes.hierarchy, "meshes.build_cells": meshes.cells}[build](**arguments)
    paths = [os.path.dirname(os.path.abspath(__file__)), check.DATA]
    proxy.Script = _SCRIPT.format(
        paths=paths, field=field, build=build, arguments=arguments, values={"dtype": dtype}, after=after,
        time="information.Get(executive.UPDATE_TIME_STEP())")
    proxy.ScriptRequestInformation = (
        proxy.ScriptRequestInformation + films._INFORMATION.format(times=list(times)))
    return proxy


def digest_of(polylines):
    """A hash of all bits of an object with the lists ids, points, arrays and reasons of polylines."""
    total = hashlib.sha256()
    for ident, points, arrays, reason in zip(polylines.ids, polylines.points, polylines.arrays, polylines.reasons):
        total.update(f"{ident} {reason} {points.dtype} {points.shape}".encode())
        total.update(np.ascontiguousarray(points).tobytes())
        for name in sorted(arrays):
            total.update(f"{name} {arrays[name].dtype}".encode())
            total.update(np.ascontiguousarray(arrays[name]).tobytes())
    return total.hexdigest()[:24]


class PathCrossings(Crossings):
    """The second output of all ranks, by particle and along each path; the same on all ranks."""

    def __init__(self, proxy):
        data = proxy.GetClientSideObject().GetOutputDataObject(1)
        self.mine = data.GetNumberOfPoints()
        expected = (self.mine, 0, self.mine)
        assert (data.GetNumberOfVerts(), data.GetNumberOfLines(), data.GetNumberOfCells()) == expected, "not vertices"
        arrays = check.arrays(data.GetPointData())
        self.names = sorted(arrays)
        points = vtk_to_numpy(data.GetPoints().GetData()) if self.mine else np.zeros((0, 3))
        parts = [part for part in COMM.allgather((points, arrays)) if len(part[0]) > 0]
        data = {name: np.concatenate([part[1][name] for part in parts]) for name in self.names} if parts else {}
        if parts:
            order = np.argsort(data["ParticleId"], kind="stable")
            points = np.concatenate([part[0] for part in parts])[order]
            data = {name: values[order] for name, values in data.items()}
        super().__init__(points, data)


class Paths:
    """The outputs of all ranks, by particle; the same on all ranks."""

    def __init__(self, proxy, when=None):
        if when is None:
            proxy.UpdatePipeline()
        else:
            proxy.UpdatePipeline(when)
        data = proxy.GetClientSideObject().GetOutputDataObject(0)
        self.data = data
        mine = []
        points = data.GetPointData()
        arrays = check.arrays(points)
        coordinates = vtk_to_numpy(data.GetPoints().GetData()) if data.GetNumberOfPoints() else None
        reasons = check.arrays(data.GetCellData()).get("ReasonForTermination")
        self.names = sorted(arrays)
        for cell in range(data.GetNumberOfCells()):
            ids = data.GetCell(cell).GetPointIds()
            at = [ids.GetId(i) for i in range(ids.GetNumberOfIds())]
            part = {name: values[at] for name, values in arrays.items()}
            mine.append((int(arrays["ParticleId"][at[0]]), coordinates[at], part,
                         None if reasons is None else int(reasons[cell])))
        every = [row for part in COMM.allgather(mine) for row in part]
        every.sort(key=lambda row: row[0])
        self.ids = [row[0] for row in every]
        self.points = [row[1] for row in every]
        self.arrays = [row[2] for row in every]
        self.reasons = [row[3] for row in every]
        self.crossings = PathCrossings(proxy)

    def digest(self):
        """A hash of all bits."""
        return digest_of(self) + (self.crossings.digest() if self.crossings.count else "")

    def statistic(self, name):
        """The sum over the ranks."""
        array = self.data.GetFieldData().GetArray(f"AsyncPathTracer {name}")
        return sum(array.GetValue(i) for i in range(array.GetNumberOfTuples()))


class Simulation:
    """A producer of the field swirl on an image, step by step: Catalyst's, which reports the steps since it was
    started, or one that does not."""

    def __init__(self, catalyst, times):
        self.catalyst = catalyst
        self.times = times
        self.data = check.flows.build(COMM.rank, COMM.size, centring="both", mesh="image", size=9)
        self.producer = simple.PVTrivialProducer() if catalyst else simple.TrivialProducer()
        self.held = self.producer.GetClientSideObject()
        self.held.SetWholeExtent(*check.flows.whole_extent("abc", "image", 9))

    def digests(self, steps, make, output):
        """The hashes of output(proxy, time) after each of the steps, of the proxy make(producer)."""
        proxy, found = None, []
        for step in steps:
            time = self.times[step]
            new = type(self.data)()
            new.DeepCopy(self.data)
            set_values(new, "swirl", time)
            new.GetInformation().Set(new.DATA_TIME_STEP(), time)
            if self.catalyst:
                self.held.SetOutput(new, time)
            else:
                self.held.SetOutput(new)
            self.held.Modified()
            self.producer.MarkModified(self.producer)
            proxy = proxy or make(self.producer)
            found.append(output(proxy, time if self.catalyst else None).digest())
        check.delete(proxy)
        return found


def seeds(points, spread=True):
    """A proxy of seeds at these points, spread over the ranks, or all on the last one."""
    points = np.asarray(points, float)
    if spread:
        mine = points[len(points) * COMM.rank // COMM.size : len(points) * (COMM.rank + 1) // COMM.size]
    else:
        mine = points if COMM.rank == COMM.size - 1 else points[:0]
    data = vtkPolyData()
    where = vtkPoints()
    where.SetDataTypeToDouble()
    for x in mine:
        where.InsertNextPoint(*x)
    data.SetPoints(where)
    return check.held(data)



class Grid:
    """The field of an image as the filter interpolates it: linear in each cell and in time. Independent of it."""

    def __init__(self, field, times, size, box):
        axes = [np.linspace(box[2 * a], box[2 * a + 1], n) for a, n in enumerate(size)]
        self.origin = np.array([axis[0] for axis in axes])
        self.spacing = np.array([axis[1] - axis[0] for axis in axes])
        self.size = np.array(size)
        self.times = times
        mesh = np.meshgrid(*axes, indexing="ij")
        x = np.zeros((mesh[0].size, 3))
        for a, along in enumerate(mesh):
            x[:, a] = along.ravel()
        self.steps = [
            FIELDS[field](x, t).astype(np.float32).astype(float).reshape(*size, 3) for t in times
        ]

    def velocity(self, x, step, time):
        axes = len(self.size)
        at = (x[:, :axes] - self.origin) / self.spacing
        cell = np.clip(np.floor(at).astype(int), 0, self.size - 2)
        at = at - cell
        share = (time - self.times[step]) / (self.times[step + 1] - self.times[step])
        result = np.zeros_like(x)
        for corner in np.ndindex(*([2] * axes)):
            weight = np.prod(np.where(corner, at, 1 - at), axis=1)[:, None]
            where = tuple((cell + corner).T)
            result += weight * ((1 - share) * self.steps[step][where]
                                + share * self.steps[step + 1][where])
        return result

    def advance(self, x, begin, end, parts=400):
        """Positions at a time of particles that were at x at the time `begin`, by small steps."""
        for step in range(len(self.times) - 1):
            lo, hi = max(begin, self.times[step]), min(end, self.times[step + 1])
            if lo >= hi:
                continue
            h = (hi - lo) / parts
            for i in range(parts):
                t = lo + i * h
                k1 = self.velocity(x, step, t)
                k2 = self.velocity(x + h / 2 * k1, step, t + h / 2)
                k3 = self.velocity(x + h / 2 * k2, step, t + h / 2)
                k4 = self.velocity(x + h * k3, step, t + h)
                x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return x
