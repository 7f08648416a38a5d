# SPDX-License-Identifier: BSD-3-Clause
"""Every class of the package tributary in plain Python with mpi4py, without ParaView.

Each function compares a filter on the data of all ranks with a serial filter of VTK on all data, or, where VTK has
none, with the exact solution. It must hold on any number of ranks.
"""

import faulthandler
import os

import numpy as np
from mpi4py import MPI
from vtkmodules.numpy_interface import dataset_adapter
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.util.vtkAlgorithm import VTKPythonAlgorithmBase
from vtkmodules.vtkCommonCore import vtkPoints
from vtkmodules.vtkCommonDataModel import vtkDataObject, vtkImageData, vtkMultiBlockDataSet, vtkPolyData
from vtkmodules.vtkCommonExecutionModel import vtkAlgorithm, vtkStreamingDemandDrivenPipeline as Pipeline
from vtkmodules.vtkFiltersCore import vtkConnectivityFilter, vtkThreshold
from vtkmodules.vtkFiltersFlowPaths import vtkParticleTracer, vtkStreamTracer
from vtkmodules.vtkParallelCore import vtkMultiProcessController
from vtkmodules.vtkParallelMPI import vtkMPIController

import tributary

faulthandler.dump_traceback_later(int(os.environ.get("TRIBUTARY_TEST_TIMEOUT", 1200)) - 20, exit=True)

COMM = MPI.COMM_WORLD
RANK, RANKS = COMM.rank, COMM.size
CONTROLLER = vtkMPIController()
CONTROLLER.Initialize()
vtkMultiProcessController.SetGlobalController(CONTROLLER)

CELLS = 24  # along each axis
POINT, CELL = vtkDataObject.FIELD_ASSOCIATION_POINTS, vtkDataObject.FIELD_ASSOCIATION_CELLS
STEPS = [0.25 * i for i in range(9)]


def grid(part, parts, cells):
    """One of some slabs of a grid of the cube [-1, 1]^3, without ghost cells."""
    image = vtkImageData()
    image.SetExtent(0, cells, 0, cells, cells * part // parts, cells * (part + 1) // parts)
    image.SetSpacing(3 * [2 / cells])
    image.SetOrigin(-1, -1, -1)
    return image


def piece(cells=CELLS):
    return grid(RANK, RANKS, cells)


def whole():
    return grid(0, 1, CELLS)


def positions(data):
    """The coordinates of the points of an image, or of poly data."""
    if isinstance(data, vtkPolyData):
        return vtk_to_numpy(data.GetPoints().GetData()) if data.GetNumberOfPoints() else np.empty((0, 3))
    spacing = data.GetSpacing()[0]
    axes = [np.arange(low, high + 1) * spacing - 1 for low, high in np.reshape(data.GetExtent(), (3, 2))]
    z, y, x = np.meshgrid(*axes[::-1], indexing="ij")
    return np.stack([x.ravel(), y.ravel(), z.ravel()], axis=1)


def add_points(data, name, values):
    array = numpy_to_vtk(np.ascontiguousarray(values), deep=True)
    array.SetName(name)
    data.GetPointData().AddArray(array)
    return data


def swirl(data, time=0.0):
    """Adds a rotation about the z axis that becomes faster, and a slow rise."""
    x, y, _ = positions(data).T
    spin = 0.3 * (1 + time)
    velocity = np.stack([-spin * y, spin * x, np.full_like(x, 0.1)], axis=1)
    return add_points(data, "velocity", velocity)


def blobs(data, time=0.0):
    """Adds a field above 0.5 in two balls that move along z, and in one that stays."""
    x = positions(data)
    centers = [(0.5, 0.5, -0.7 + 0.2 * time), (-0.5, 0.4, 0.6 - 0.2 * time), (0.1, -0.5, 0.0)]
    field = np.max([np.exp(-np.log(2) * ((x - c) ** 2).sum(axis=1) / 0.3**2) for c in centers], axis=0)
    return add_points(data, "field", field)


def seeds(rank=0):
    """Points of one rank, inside the domain: a source must not give the same points on several ranks."""
    data, points = vtkPolyData(), vtkPoints()
    points.SetDataTypeToDouble()
    if rank == 0:
        for i in range(7):
            points.InsertNextPoint(0.15 + 0.08 * i, 0.05, -0.8 + 0.15 * i)
    data.SetPoints(points)
    return data


class Steps(VTKPythonAlgorithmBase):
    """A series of steps in time of an image."""

    def __init__(self, make, fill):
        super().__init__(nInputPorts=0, nOutputPorts=1, outputType="vtkImageData")
        self.make, self.fill = make, fill

    def RequestInformation(self, request, inputs, outputs):
        info = outputs.GetInformationObject(0)
        info.Set(Pipeline.WHOLE_EXTENT(), whole().GetExtent(), 6)
        info.Set(vtkAlgorithm.CAN_HANDLE_PIECE_REQUEST(), 1)  # as a parallel reader, which knows its pieces
        info.Set(Pipeline.TIME_STEPS(), STEPS, len(STEPS))
        info.Set(Pipeline.TIME_RANGE(), [STEPS[0], STEPS[-1]], 2)
        return 1

    def RequestData(self, request, inputs, outputs):
        info = outputs.GetInformationObject(0)
        time = info.Get(Pipeline.UPDATE_TIME_STEP()) if info.Has(Pipeline.UPDATE_TIME_STEP()) else STEPS[0]
        output = vtkImageData.GetData(info)
        output.ShallowCopy(self.fill(self.make(), time))
        output.GetInformation().Set(vtkDataObject.DATA_TIME_STEP(), time)
        return 1


def gathered(array):
    """The rows of all ranks, in the order of the ranks."""
    return np.concatenate(COMM.allgather(np.asarray(array)))


def statistic(filter_, name):
    """Sum over the ranks of a statistic of a filter."""
    array = filter_.GetOutputDataObject(0).GetFieldData().GetArray(f"{filter_.GetClassName()[3:]} {name}")
    return vtk_to_numpy(array).sum()


def serial_regions(data):
    """The sorted numbers of cells of the regions above 0.5, by vtkConnectivityFilter."""
    threshold = vtkThreshold()
    threshold.SetInputData(data)
    threshold.SetInputArrayToProcess(0, 0, 0, POINT, "field")
    threshold.SetUpperThreshold(0.5)
    threshold.SetThresholdFunction(vtkThreshold.THRESHOLD_UPPER)
    connectivity = vtkConnectivityFilter()
    connectivity.SetInputConnection(threshold.GetOutputPort())
    connectivity.SetExtractionModeToAllRegions()
    connectivity.ColorRegionsOn()
    connectivity.Update()
    output = connectivity.GetOutput()
    region = vtk_to_numpy(output.GetPointData().GetArray("RegionId"))
    cells = output.GetCells()
    first_points = vtk_to_numpy(cells.GetConnectivityArray())[vtk_to_numpy(cells.GetOffsetsArray())[:-1]]
    return sorted(np.bincount(region[first_points]))


def serial_particles(points):
    """The positions at the last step of particles from these points, by vtkParticleTracer, in their order."""
    source = Steps(whole, swirl)
    tracer = vtkParticleTracer()
    tracer.SetInputConnection(0, source.GetOutputPort())
    tracer.SetInputData(1, points)
    tracer.SetInputArrayToProcess(0, 0, 0, POINT, "velocity")
    tracer.SetComputeVorticity(False)
    tracer.SetStartTime(STEPS[0])
    tracer.UpdateTimeStep(STEPS[-1])
    output = tracer.GetOutput()
    order = np.argsort(vtk_to_numpy(output.GetPointData().GetArray("ParticleId")))
    return positions(output)[order]


def line_ends(data):
    """The last points of polylines, sorted."""
    cells = data.GetLines()
    offsets = vtk_to_numpy(cells.GetOffsetsArray())
    last = vtk_to_numpy(cells.GetConnectivityArray())[offsets[1:] - 1] if cells.GetNumberOfCells() else []
    return positions(data)[np.asarray(last, dtype=int)]


def trace(tracer, data, points):
    tracer.SetInputData(0, data)
    tracer.SetInputData(1, points)
    tracer.SetInputArrayToProcess(0, 0, 0, POINT, "velocity")
    tracer.SetIntegrationDirection(0)
    tracer.SetIntegratorType(2)
    tracer.SetMaximumPropagation(1.5)
    tracer.SetIntegrationStepUnit(2)  # the length of a cell
    tracer.SetInitialIntegrationStep(0.05)
    tracer.SetMaximumIntegrationStep(0.1)
    return tracer


def stream_tracer():
    serial = trace(vtkStreamTracer(), swirl(whole()), seeds())
    serial.Update()
    ours = trace(tributary.vtkAsyncStreamTracer(), swirl(piece()), seeds(RANK))
    ours.Update()
    ends, expected = gathered(line_ends(ours.GetOutputDataObject(0))), line_ends(serial.GetOutput())
    assert len(ends) == len(expected) == 7
    assert np.abs(ends - expected).max() < 1e-4, np.abs(ends - expected).max()
    if RANKS > 1:
        assert statistic(ours, "Handovers") > 0  # lines went through the data of several ranks


def stream_tracer_aborts():
    """If one rank is asked to abort, the output is empty on all; the next update makes it, unasked."""
    ours = trace(tributary.vtkAsyncStreamTracer(), swirl(piece()), seeds(RANK))
    observer = ours.AddObserver("ProgressEvent", lambda *_: ours.SetAbortExecute(1) if RANK == RANKS - 1 else None)
    ours.Update()
    assert gathered(line_ends(ours.GetOutputDataObject(0))).size == 0
    ours.RemoveObserver(observer)
    if RANK == RANKS - 1:
        ours.SetAbortExecute(0)
    ours.Update()
    assert len(gathered(line_ends(ours.GetOutputDataObject(0)))) == 7


def path_tracer():
    source = Steps(piece, swirl)
    ours = tributary.vtkAsyncPathTracer()
    ours.SetInputConnection(0, source.GetOutputPort())
    ours.SetInputData(1, seeds(RANK))
    ours.SetInputArrayToProcess(0, 0, 0, POINT, "velocity")
    ours.SetOutputKind(ours.PARTICLES)
    ours.SetMaximumError(1e-7)
    ours.UpdateTimeStep(STEPS[-1], RANK, RANKS)
    ends, expected = gathered(positions(ours.GetOutputDataObject(0))), serial_particles(seeds())
    assert len(ends) == len(expected) == 7
    assert np.abs(ends - expected).max() < 2e-3, np.abs(ends - expected).max()


def flow_map():
    source = Steps(piece, swirl)
    ours = tributary.vtkAsyncFlowMap()
    ours.SetInputConnection(0, source.GetOutputPort())
    ours.SetInputArrayToProcess(0, 0, 0, POINT, "velocity")
    ours.SetIntegrationTime(STEPS[-1])
    ours.SetUseInputBounds(False)
    ours.SetSamplingBounds(-0.4, 0.4, -0.4, 0.4, -0.4, 0.4)
    ours.SetSamplingDimensions(4, 4, 4)
    ours.SetMaximumError(1e-7)
    ours.UpdateTimeStep(STEPS[0], RANK, RANKS)
    output = dataset_adapter.WrapDataObject(ours.GetOutputDataObject(0))
    count = ours.GetOutputDataObject(0).GetNumberOfPoints()
    starts = [ours.GetOutputDataObject(0).GetPoint(i) for i in range(count)]
    ends = np.asarray(output.PointData["FlowMap"]) if count else np.empty((0, 3))
    exponents = gathered(output.PointData["FTLE"] if count else [])
    starts = gathered(np.reshape(starts, (-1, 3)))
    points = vtkPoints()
    points.SetData(numpy_to_vtk(np.ascontiguousarray(starts), deep=True))
    data = vtkPolyData()
    data.SetPoints(points)
    expected = serial_particles(data)
    assert len(starts) >= 64 and len(np.unique(starts.round(6), axis=0)) == 64
    assert np.abs(gathered(ends) - expected).max() < 2e-3
    assert np.abs(exponents).max() < 1e-2  # a rotation does not stretch


def regions_above(filter_, threshold=0.5):
    filter_.SetInputArrayToProcess(0, 0, 0, POINT, "field")
    filter_.SetScalarConnectivity(True)
    filter_.SetFullScalarConnectivity(True)
    filter_.SetScalarRange(threshold, 2)
    return filter_


def region_sizes(filter_, port):
    table = dataset_adapter.WrapDataObject(filter_.GetOutputDataObject(port))
    return sorted(gathered(table.RowData["Cells"] if filter_.GetOutputDataObject(port).GetNumberOfRows() else []))


def connectivity():
    ours = regions_above(tributary.vtkAsyncConnectivity())
    ours.SetInputData(blobs(piece()))
    ours.Update()
    expected = serial_regions(blobs(whole()))
    assert len(expected) == 3 and region_sizes(ours, 1) == expected, (region_sizes(ours, 1), expected)


def feature_tracker():
    source = Steps(piece, blobs)
    ours = regions_above(tributary.vtkAsyncFeatureTracker())
    ours.SetInputConnection(source.GetOutputPort())
    for time in STEPS[::4]:
        ours.UpdateTimeStep(time, RANK, RANKS)
        expected = serial_regions(blobs(whole(), time))
        assert region_sizes(ours, 2) == expected, (time, region_sizes(ours, 2), expected)
    tracks = ours.GetOutputDataObject(1)
    assert COMM.allreduce(tracks.GetNumberOfCells()) == 3
    assert COMM.allreduce(tracks.GetNumberOfPoints()) == 3 * len(STEPS)


def convection_diffusion():
    """Between two sides with fixed values a steady concentration is exponential in a uniform flow."""
    cells = 9
    data = piece(cells)
    add_points(data, "velocity", np.tile([0.5, 0, 0], (data.GetNumberOfPoints(), 1)))
    ours = tributary.vtkAsyncConvectionDiffusion()
    ours.SetInputData(data)
    ours.SetInputArrayToProcess(0, 0, 0, POINT, "velocity")
    ours.SetDiffusivity(1)
    ours.SetSteadyState(True)
    for side, value in [(0, 0.0), (1, 1.0)]:
        ours.SetSideCondition(side, ours.VALUE)
        ours.SetSideValue(side, value)
    ours.SetResidualThreshold(1e-6)
    ours.Update()
    output = ours.GetOutputDataObject(0)
    x = np.array([(2 * (i % cells) + 1) / cells - 1 for i in range(output.GetNumberOfCells())])
    expected = np.expm1(0.5 * (x + 1)) / np.expm1(1.0)
    computed = vtk_to_numpy(output.GetCellData().GetArray("Concentration"))
    # Upwind values are of first order in the size of cells.
    assert COMM.allreduce(len(computed)) == cells**3
    assert COMM.allreduce(np.abs(computed - expected).max(), MPI.MAX) < 0.02


def harmonic_fill():
    """A linear function is harmonic: the fill restores it in a hole inside the domain."""
    data = piece()
    x = positions(data)
    expected = x @ [1.0, -2.0, 3.0]
    hole = np.abs(x).max(axis=1) < 0.5
    add_points(data, "values", np.where(hole, np.nan, expected))
    ours = tributary.vtkAsyncHarmonicFill()
    ours.SetInputData(data)
    ours.AddPointArray("values")
    ours.SetTolerance(1e-10)
    ours.Update()
    filled = vtk_to_numpy(ours.GetOutputDataObject(0).GetPointData().GetArray("values"))
    assert COMM.allreduce(int(hole.sum())) > 1000
    assert COMM.allreduce(np.abs(filled - expected).max(), MPI.MAX) < 1e-6


def arrays(blocks):
    """Names and tuples of all arrays of the blocks, and the active scalars."""
    found = []
    for i in range(blocks.GetNumberOfBlocks()):
        for attributes in (blocks.GetBlock(i).GetPointData(), blocks.GetBlock(i).GetCellData()):
            active = attributes.GetScalars()
            found.append(active and active.GetName())
            found += [(attributes.GetArrayName(a), vtk_to_numpy(attributes.GetArray(a)).tobytes())
                      for a in range(attributes.GetNumberOfArrays())]
    return found


def inputs_stay():
    """Outputs share arrays with a composite input, but not its data sets, to which they would add arrays."""
    data = swirl(blobs(piece()))
    add_points(data, "values", np.where(np.abs(positions(data)).max(axis=1) < 0.5, np.nan, 1.0))
    blocks = vtkMultiBlockDataSet()
    blocks.SetBlock(0, data)
    before = arrays(blocks)
    critical, diffusion = tributary.vtkAsyncFeatureTracker(), tributary.vtkAsyncConvectionDiffusion()
    critical.SetFeatures(critical.CRITICAL_POINTS)
    critical.SetInputArrayToProcess(3, 0, 0, POINT, "field")
    diffusion.SetInputArrayToProcess(0, 0, 0, POINT, "velocity")
    diffusion.SetSteadyState(True)
    diffusion.SetDecay(1)
    for filter_ in (regions_above(tributary.vtkAsyncConnectivity()), critical, diffusion,
                    tributary.vtkAsyncHarmonicFill()):
        filter_.SetInputData(blocks)
        filter_.Update()
        name = filter_.GetClassName()
        assert COMM.allreduce(filter_.GetOutputDataObject(0).GetNumberOfPoints()) > 0, name
        assert arrays(blocks) == before, f"{name} changes its input"


def main():
    tests = [stream_tracer, stream_tracer_aborts, path_tracer, flow_map, connectivity, feature_tracker,
             convection_diffusion, harmonic_fill, inputs_stay]
    for test in tests:
        begun = MPI.Wtime()
        test()
        if RANK == 0:
            print(f"{test.__name__}: {MPI.Wtime() - begun:.2f} s", flush=True)
    wrapped = {name for name in dir(tributary) if name.startswith("vtkAsync") and not name.endswith("Algorithm")}
    assert len(wrapped) == 7, wrapped


try:
    main()
except BaseException:
    import traceback
    traceback.print_exc()
    COMM.Abort(1)  # other ranks may wait
