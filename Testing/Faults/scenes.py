# SPDX-License-Identifier: BSD-3-Clause
"""The filters under faults: each on data that all ranks have a slab of, in pvbatch --sym.

    scene = SCENES["StreamTracer"](size)
    scene.update()          executes on all ranks, although nothing has changed
    scene.digest()          a hash of the outputs of all ranks, None if they are empty
"""

import hashlib
import os

import numpy as np
from mpi4py import MPI
from paraview import servermanager
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.util.vtkAlgorithm import VTKPythonAlgorithmBase
from vtkmodules.vtkCommonDataModel import vtkDataObject, vtkImageData, vtkPolyData
from vtkmodules.vtkCommonCore import vtkPoints
from vtkmodules.vtkCommonExecutionModel import vtkAlgorithm
from vtkmodules.vtkCommonExecutionModel import vtkStreamingDemandDrivenPipeline as Pipeline

import check

COMM = MPI.COMM_WORLD
WIDTH = 2 * np.pi  # of the box


class Source(VTKPythonAlgorithmBase):
    """A source of one data object for each time."""

    def __init__(self, steps, whole=None):
        super().__init__(nInputPorts=0, nOutputPorts=1, outputType=steps[0].GetClassName())
        self.steps, self.whole = steps, whole

    def RequestInformation(self, request, inputs, outputs):
        info = outputs.GetInformationObject(0)
        info.Set(vtkAlgorithm.CAN_HANDLE_PIECE_REQUEST(), 1)
        times = [float(n) for n in range(len(self.steps))]
        if len(times) > 1:
            info.Set(Pipeline.TIME_STEPS(), times, len(times))
            info.Set(Pipeline.TIME_RANGE(), (times[0], times[-1]), 2)
        if self.whole:
            info.Set(Pipeline.WHOLE_EXTENT(), self.whole, 6)
        return 1

    def RequestData(self, request, inputs, outputs):
        info = outputs.GetInformationObject(0)
        step = int(info.Get(Pipeline.UPDATE_TIME_STEP())) if info.Has(Pipeline.UPDATE_TIME_STEP()) else 0
        step = min(max(step, 0), len(self.steps) - 1)
        output = info.Get(vtkDataObject.DATA_OBJECT())
        output.ShallowCopy(self.steps[step])
        if len(self.steps) > 1:
            output.GetInformation().Set(vtkDataObject.DATA_TIME_STEP(), float(step))
        return 1


def add(attributes, name, values):
    array = numpy_to_vtk(np.ascontiguousarray(values), deep=1)
    array.SetName(name)
    attributes.AddArray(array)


def slab(size, time):
    """This rank's slab of a box of size^3 cells: a flow, a moving scalar, and one with holes."""
    lo, hi = size * COMM.rank // COMM.size, size * (COMM.rank + 1) // COMM.size
    axis = np.linspace(0, WIDTH, size + 1)
    z, y, x = np.meshgrid(axis[lo : hi + 1], axis, axis, indexing="ij")
    image = vtkImageData()
    image.SetExtent(0, size, 0, size, lo, hi)
    image.SetSpacing(*3 * (WIDTH / size,))
    flow = (np.sin(z) + 0.8 * np.cos(y), 0.9 * np.sin(x) + np.cos(z), 0.8 * np.sin(y) + 0.9 * np.cos(x))
    scalar = np.sin(3 * x - 0.2 * time) * np.sin(3 * y) * np.sin(3 * z + 0.1 * time) + 0.1 * np.cos(5 * x + 2 * y + z)
    holes = np.where((np.hypot(x - 3, y - 3) < 1) & (abs(z - 3) < 2), np.nan, scalar)
    add(image.GetPointData(), "velocity", np.stack([c.ravel() for c in flow], axis=1))
    add(image.GetPointData(), "scalar", scalar.ravel())
    add(image.GetPointData(), "holes", holes.ravel())
    return image


def seeds(count):
    """This rank's part of random points in the box."""
    places = np.random.default_rng(7).uniform(0.01, WIDTH - 0.01, (count, 3))
    mine = places[count * COMM.rank // COMM.size : count * (COMM.rank + 1) // COMM.size]
    points = vtkPoints()
    points.SetDataTypeToDouble()
    points.SetData(numpy_to_vtk(np.ascontiguousarray(mine), deep=1))
    data = vtkPolyData()
    data.SetPoints(points)
    return data


def choice(index, association, name):
    """The elements of SetInputArrayToProcess; association: 0 for points, 1 for cells."""
    return [str(index), "", "", str(association), name]


class Scene:
    """A filter on data. update() and digest() are called on all ranks."""

    def __init__(self, proxy, properties, size, steps=1, asked=None, source=None):
        check.load_plugin()
        self.proxy = servermanager.ProxyManager().NewProxy("filters", proxy)
        for name, values in properties.items():
            self.set(name, values)
        self.filter = self.proxy.GetClientSideObject()
        self.asked = [steps - 1.0] if asked is None else asked
        self.inputs = [Source([slab(size, n) for n in range(steps)], (0, size) * 3)]
        if source is not None:
            self.inputs.append(Source([source]))
        for port, one in enumerate(self.inputs):
            self.filter.SetInputConnection(port, one.GetOutputPort())

    def set(self, name, values):
        property_ = self.proxy.GetProperty(name)
        for index, value in enumerate(values if isinstance(values, list) else [values]):
            property_.SetElement(index, value)
        self.proxy.UpdateVTKObjects()

    def update(self):
        self.inputs[0].Modified()  # what the filter has kept of the last execution is not used
        self.filter.UpdateInformation()
        for time in self.asked:
            self.filter.UpdateTimeStep(time, COMM.rank, COMM.size, 0)

    def outputs(self):
        return [self.filter.GetOutputDataObject(port) for port in range(self.filter.GetNumberOfOutputPorts())]

    def statistic(self, name):
        """A statistic of the last execution by its name, the greatest of all ranks; 0 without it."""
        field = self.outputs()[0].GetFieldData()
        prefix = self.filter.GetClassName()[3:]
        array = field.GetArray(f"{prefix} {name}") if field else None
        return max(vtk_to_numpy(array)) if array else 0

    def digest(self):
        total = hashlib.sha256()
        size = 0
        for data in self.outputs():
            size += data.GetNumberOfElements(vtkDataObject.CELL) + data.GetNumberOfElements(vtkDataObject.ROW)
            for kind in (vtkDataObject.POINT, vtkDataObject.CELL, vtkDataObject.ROW):
                attributes = data.GetAttributes(kind)
                for index in range(attributes.GetNumberOfArrays() if attributes else 0):
                    array = attributes.GetArray(index)
                    if array is not None and array.GetName() != "Seconds":  # of the history
                        total.update(f"{array.GetName()} {array.GetNumberOfTuples()}".encode())
                        total.update(np.ascontiguousarray(vtk_to_numpy(array)))
            if data.IsA("vtkPointSet") and data.GetPoints():
                total.update(np.ascontiguousarray(vtk_to_numpy(data.GetPoints().GetData())))
        found = COMM.allgather((size, total.hexdigest()))
        if not sum(part[0] for part in found):
            return None
        return hashlib.sha256("".join(part[1] for part in found).encode()).hexdigest()[:24]


REGIONS = {"ScalarConnectivity": 1, "SelectInputScalars": choice(0, 0, "scalar"), "ScalarRange": [0.2, 3.0]}


def tracer(size, lines=2000, steps=200, **properties):
    return Scene(
        "AsyncStreamTracerWithCustomSource",
        {"SelectInputVectors": choice(0, 0, "velocity"), "MaximumPropagation": 1e9, "MaximumNumberOfSteps": steps,
         "Periodic": [1, 1, 1], "IntegrationDirection": 0, **properties},
        size,
        source=seeds(lines),
    )


def paths(size, particles=500, steps=3, **properties):
    return Scene(
        "AsyncPathTracer",
        {"SelectInputVectors": choice(0, 0, "velocity"), "ForceReinjectionEveryNSteps": 1, **properties}, size,
        steps=steps, source=seeds(particles),
    )


def flow_map(size, points=9, steps=3, **properties):
    return Scene(
        "AsyncFlowMap",
        {"SelectInputVectors": choice(0, 0, "velocity"), "SamplingDimensions": [points] * 3, "IntegrationTime": 1.5,
         "KeptTimeSteps": 0, **properties},
        size, steps=steps, asked=[0.0],
    )


def tracker(size, steps=3, **properties):
    return Scene("AsyncFeatureTracker", {**REGIONS, **properties}, size, steps=steps)


def critical(size, steps=3, **properties):
    return Scene(
        "AsyncFeatureTracker", {"Features": 1, "SelectCriticalField": choice(3, 0, "scalar"), **properties}, size,
        steps=steps,
    )


def carried(size, steps=3, **properties):
    return Scene(
        "AsyncConvectionDiffusion",
        {"SelectVelocity": choice(0, 0, "velocity"), "SourceType": 2, "SourceCenter": [3.0, 2.0, 2.5],
         "SourceRadius": 1.0, "NumberOfSteps": steps, "TimeStep": 0.1, "Schedule": 0, **properties},
        size,
        asked=[0.1 * steps],
    )


def filled(size, **properties):
    return Scene("AsyncHarmonicFill", {"PointArrays": "holes", "Schedule": 0, **properties}, size)


def connectivity(size, **properties):
    return Scene("AsyncConnectivity", {**REGIONS, **properties}, size)


SCENES = {
    "StreamTracer": tracer,
    "PathTracer": paths,
    "FlowMap": flow_map,
    "Connectivity": connectivity,
    "FeatureTracker": tracker,
    "CriticalPoints": critical,
    "ConvectionDiffusion": carried,
    "HarmonicFill": filled,
}


class Messages:
    """The standard error of this rank."""

    def __init__(self):
        self.path = os.path.join(check.OUTPUT, f"messages.{COMM.rank}")
        target = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
        os.dup2(target, 2)
        os.close(target)
        self.file = open(self.path, encoding="utf-8", errors="replace")

    def take(self):
        """What all ranks have written since the last call, a text for each rank."""
        COMM.Barrier()
        said = COMM.allgather(self.file.read())
        COMM.Barrier()
        return said
