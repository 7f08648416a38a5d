# SPDX-License-Identifier: BSD-3-Clause
# script-version: 2.0
"""All filters in situ, on the flow past a cylinder that VortexStreet computes: see Docs/InSitu.md.

Environment: TRIBUTARY_PLUGIN (path of Tributary.so), PICTURE_EVERY (outputs between two pictures; needs a screen).
Writes to the current folder.
"""

import csv
import os
import time

from mpi4py import MPI
from paraview import catalyst
from paraview.simple import *
from vtkmodules.vtkCommonDataModel import vtkImageData
from vtkmodules.vtkIOXML import vtkXMLPImageDataReader

LoadPlugin(os.environ["TRIBUTARY_PLUGIN"], remote=False, ns=globals())
PICTURE_EVERY = int(os.environ.get("PICTURE_EVERY", 0))
FOLDER = os.getcwd()  # of the outputs; at the end of the simulation it is another one
CHECKPOINT = os.path.join(FOLDER, "checkpoint")
WINDOW = 5.0  # of time, of the flow map
COMM = MPI.COMM_WORLD

options = catalyst.Options()

grid = PVTrivialProducer(registrationName="grid")


class Dye:
    """Async Convection Diffusion has time steps of its own: each output is one step, and begins with the
    concentration of the previous one."""

    FILE = os.path.join(CHECKPOINT, "dye.pvti")

    def __init__(self):
        self.input = TrivialProducer(registrationName="dye input")
        self.filter = None
        self.concentration = None  # of this rank
        self.time = None

    def load(self, extent):
        """Read the concentration of the cells of this rank, which any number of ranks has written."""
        reader = vtkXMLPImageDataReader()
        reader.SetFileName(self.FILE)
        reader.UpdateExtent(extent)
        self.concentration = reader.GetOutput().GetCellData().GetArray("Concentration")

    def update(self, data, now):
        self._pass(data)
        if not self.filter:
            self.filter = AsyncConvectionDiffusion(
                registrationName="dye", Input=self.input, Velocity=["POINTS", "velocity"], Diffusivity=1e-3,
                NumberOfSteps=1, SourceType="Sphere", SourceCenter=[1.2, 2.1, 0.15], SourceRadius=0.2)
        self.filter.UseInitialConcentration = int(self.concentration is not None)
        self.filter.InitialConcentration = ["CELLS", "Concentration"]
        step = now - self.time if self.time is not None else 0
        if step > 0:
            self.filter.TimeStep = step
        self.filter.UpdatePipeline(step)
        self.time = now
        carried = self.filter.GetClientSideObject().GetOutputDataObject(0)
        self.concentration = carried.GetCellData().GetArray("Concentration")

    def _pass(self, data):
        """The grid with the concentration, as the input of the filter."""
        image = vtkImageData()
        image.ShallowCopy(data)
        if self.concentration is not None:
            image.GetCellData().AddArray(self.concentration)
        image.GetInformation().Remove(image.DATA_TIME_STEP())
        producer = self.input.GetClientSideObject()
        producer.SetWholeExtent(grid.GetClientSideObject().GetWholeExtent())
        producer.SetOutput(image)
        producer.Modified()
        self.input.MarkModified(self.input)


def make_filters():
    """The filters that take the grid as it is, in the order of their execution. The slab is periodic along z."""
    bounds = grid.GetDataInformation().GetBounds()
    period = [0, 0, bounds[5] - bounds[4] + grid.GetClientSideObject().GetOutputDataObject(0).GetSpacing()[2]]
    slab = {"Periodic": [0, 0, 1], "Period": period}
    flow = {"Input": grid, "Vectors": ["POINTS", "velocity"], **slab}
    vortex = {"Input": grid, "ScalarConnectivity": 1, "Scalars": ["POINTS", "Q"], "ScalarRange": [0.5, 1e6],
              "FullScalarConnectivity": 1, **slab}
    kept = {"CheckpointDirectory": CHECKPOINT}
    rake = Line(registrationName="rake", Point1=[1, 1, 0.1], Point2=[1, 3, 0.1], Resolution=20)
    lines = AsyncStreamTracer(registrationName="streamlines", SeedType="Line", IntegrationDirection="FORWARD", **flow)
    lines.SeedType.Point1, lines.SeedType.Point2 = [1, 1, 0.1], [1, 3, 0.1]
    lines.SeedType.Resolution = 20
    return {
        "streamlines": lines,
        "paths": AsyncPathTracer(registrationName="paths", SeedSource=rake, StaticSeeds=1,
                                 ForceReinjectionEveryNSteps=1, OutputKind="Streaklines", **flow, **kept),
        "flow map": AsyncFlowMap(registrationName="map", Window="From First Time Step", IntegrationTime=WINDOW,
                                 UseInputBounds=0, SamplingBounds=[1, 8, 0.5, 3.5, 0.1, 0.1],
                                 SamplingDimensions=[141, 61, 1], **flow, **kept),
        "regions": AsyncConnectivity(registrationName="regions", StatisticsArrays=["pressure", "Q"], **vortex),
        "tracks": AsyncFeatureTracker(registrationName="tracks", Motion="Velocity Field",
                                      Velocity=["POINTS", "velocity"], **vortex, **kept),
        "fill": AsyncHarmonicFill(registrationName="fill", Input=grid, PointArrays=["pressure"], Unknown="Mask",
                                  Mask=["POINTS", "solid"], **slab),
    }


filters = {}
dye = Dye()
seconds = {}  # of the solver and of each filter in all outputs, those of the slowest rank
LATER = slice(1, None)  # without the first output, before which the solver takes no step


def timed(name, work):
    """Execute a filter, and note how long it took."""
    COMM.Barrier()
    begin = time.perf_counter()
    work()
    seconds.setdefault(name, []).append(COMM.allreduce(time.perf_counter() - begin, MPI.MAX))


def output(name):
    return os.path.join(FOLDER, name)


def value(data, name):
    """A value that the simulation tells about the step."""
    return data.GetFieldData().GetArray(name).GetValue(0)


def begin(data, info):
    """Make the filters. A simulation that was restarted continues what they have kept."""
    filters.update(make_filters())
    if info.timestep > 0:
        filters["paths"].Resume = filters["tracks"].Resume = 1
        filters["flow map"].Resume = int(info.time < WINDOW)  # a map that was complete has no checkpoint
        dye.load(data.GetExtent())
        dye.time = info.time


def catalyst_execute(info):
    grid.UpdatePipeline(info.time)
    data = grid.GetClientSideObject().GetOutputDataObject(0)
    first = not filters
    if first:
        begin(data, info)
    solver = 0 if first else COMM.allreduce(value(data, "SolverSeconds"), MPI.MAX)
    seconds.setdefault("solver", []).append(solver)
    saves = value(data, "WritesRestart") != 0
    for name, proxy in filters.items():
        if hasattr(proxy, "CheckpointDirectory"):
            # Checkpoints and the restart file of the simulation are those of the same step.
            proxy.CheckpointDirectory = CHECKPOINT if saves or first else ""
        timed(name, lambda: proxy.UpdatePipeline(info.time))
    timed("dye", lambda: dye.update(data, info.time))
    if saves:
        SaveData(Dye.FILE, dye.filter, CellDataArrays=["Concentration"], PointDataArrays=[], DataMode="Binary")
    if PICTURE_EVERY and info.timestep % PICTURE_EVERY == 0:
        draw(output(f"street{info.timestep:05}.png"))
    report(info)


def share(name, steps):
    """The mean seconds of a filter in some outputs, and their percentage of those of the solver."""
    solver = sum(seconds["solver"][steps])
    spent = seconds[name][steps]
    return sum(spent) / len(spent), 100 * sum(spent) / solver if solver else 0


def report(info):
    """Print the seconds of each filter in this output, and their share of those of the solver since the last one."""
    if COMM.rank == 0:
        last = slice(-1, None)
        parts = ["%s %.4f s (%.0f %%)" % (name, *share(name, last)) for name in seconds]
        print(f"output {info.timestep}, time {info.time:.3f}: " + ", ".join(parts), flush=True)


def catalyst_finalize():
    """Write the tables of tracks and of seconds, and the last streaklines."""
    SaveData(output("tracks.csv"), OutputPort(filters["tracks"], 2))
    SaveData(output("events.csv"), OutputPort(filters["tracks"], 3))
    SaveData(output("regions.csv"), OutputPort(filters["regions"], 1))
    SaveData(output("streaklines.pvtp"), filters["paths"], DataMode="Binary")
    if COMM.rank == 0:
        with open(output("seconds.csv"), "w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["work", "outputs", "mean seconds", "percent of the solver"])
            for name in seconds if len(seconds["solver"]) > 1 else ():
                mean, percent = share(name, LATER)
                rows.writerow([name, len(seconds[name]), f"{mean:.5f}", f"{percent:.1f}"])


def draw(path):
    """The vorticity, the streaklines and the vortices."""
    size = [1200, 320]
    view = CreateRenderView(ViewSize=size)
    view.OrientationAxesVisibility = 0
    view.UseColorPaletteForBackground = 0
    view.Background = [1, 1, 1]
    view.CameraParallelProjection = 1
    bounds = grid.GetDataInformation().GetBounds()
    middle = [(bounds[0] + bounds[1]) / 2, (bounds[2] + bounds[3]) / 2]
    view.CameraPosition, view.CameraFocalPoint = [*middle, 30], [*middle, 0]
    view.CameraParallelScale = max(bounds[3] - bounds[2], (bounds[1] - bounds[0]) * size[1] / size[0]) / 2 * 1.02
    flow = Show(grid, view)
    flow.SetRepresentationType("Surface")
    ColorBy(flow, ("POINTS", "vorticity", "Z"))
    colors = GetColorTransferFunction("vorticity")
    colors.ApplyPreset("Cool to Warm", True)
    colors.RescaleTransferFunction(-5, 5)
    streaks = Show(filters["paths"], view)
    streaks.ColorArrayName = [None, ""]
    streaks.Position = [0, 0, 1]  # in front of the slab
    streaks.AmbientColor = streaks.DiffuseColor = [0, 0, 0]
    SaveScreenshot(path, view, ImageResolution=size)
    Delete(view)
