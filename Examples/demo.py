# SPDX-License-Identifier: BSD-3-Clause
"""Traces streamlines of a simulated flow with Async Stream Tracer and ParaView's Stream Tracer.

    xvfb-run -a -s -noreset mpirun -n 4 pvbatch Examples/demo.py --plugin <Tributary.so> --output <folder>

Data/tjunction.pvtu is an OpenFOAM result in 4 pieces: water enters on the left and leaves through
two arms. Writes lines.vtp and lines.png, and prints the statistics of each rank and the seconds of both
filters.
"""
import argparse
import os
import sys
import time

from paraview import servermanager
from paraview.simple import *
from vtkmodules.vtkIOXML import vtkXMLPolyDataWriter

here = os.path.dirname(os.path.abspath(__file__))
parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
parser.add_argument("--plugin", default=os.environ.get("TRIBUTARY_PLUGIN"), help="path of Tributary.so; default: $TRIBUTARY_PLUGIN")
parser.add_argument("--output", default=".", help="folder for lines.vtp and lines.png; default: the current folder")
parser.add_argument("--seeds", type=int, default=1000, help="approximate number of seeds; default: 1000")
arguments = parser.parse_args()
if not arguments.plugin:
    parser.error("set --plugin to the path of Tributary.so")
os.makedirs(arguments.output, exist_ok=True)


def show(text):
    print(text, flush=True)


def traced(tracer):
    """Traces and returns the seconds on all ranks."""
    start = time.perf_counter()
    tracer.UpdatePipeline()
    return time.perf_counter() - start


def table(rows):
    """Prints rows of text in columns; the first row is the header."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        first = row[0].ljust(widths[0])
        show("  " + "  ".join([first] + [cell.rjust(w) for cell, w in zip(row[1:], widths[1:])]))


def inlet(number):
    """About `number` seeds across the inlet."""
    across = max(2, round(number ** 0.5))
    return Plane(Origin=[0.002, -0.0095, 0.0005], Point1=[0.002, 0.0095, 0.0005],
                 Point2=[0.002, -0.0095, 0.0195], XResolution=across - 1, YResolution=across - 1)


def statistics(lines):
    """The statistics of the filter: arrays of the field data with one value for each rank."""
    fields = lines.GetFieldData()
    rows = [["rank"] + [str(rank) for rank in range(ranks)]]
    for array in map(fields.GetArray, range(fields.GetNumberOfArrays())):
        if array and array.GetName().startswith("AsyncStreamTracer "):
            form = "%.4f" if array.GetName().endswith("Seconds") else "%d"
            rows.append([array.GetName().split()[1]] +
                        [form % array.GetTuple1(rank) for rank in range(ranks)])
    return rows


LoadPlugin(arguments.plugin, remote=False, ns=globals())
ranks = servermanager.vtkProcessModule.GetProcessModule().GetNumberOfLocalPartitions()

data = XMLPartitionedUnstructuredGridReader(
    FileName=[os.path.join(here, "..", "Data", "tjunction.pvtu")])
data.UpdatePipeline()
info = data.GetDataInformation()
show("T-junction: %d cells on %d rank%s" % (info.GetNumberOfCells(), ranks, "s" * (ranks > 1)))

seeds = inlet(arguments.seeds)
seeds.UpdatePipeline()
count = seeds.GetDataInformation().GetNumberOfPoints()

show("Tracing %d seeds, forward and backward, with each filter's defaults" % count)
ours = AsyncStreamTracerWithCustomSource(Input=data, SeedSource=seeds, Vectors=["POINTS", "U"])
ourSeconds = traced(ours)
show("  Async Stream Tracer: %.3f s" % ourSeconds)
theirs = StreamTracerWithCustomSource(Input=data, SeedSource=seeds, Vectors=["POINTS", "U"])
theirSeconds = traced(theirs)
show("  Stream Tracer:       %.3f s" % theirSeconds)

rows = [["", "seconds", "lines", "points"]]
for name, tracer, seconds in (("Async Stream Tracer", ours, ourSeconds),
                              ("Stream Tracer", theirs, theirSeconds)):
    info = tracer.GetDataInformation()
    rows.append([name, "%.3f" % seconds, str(info.GetNumberOfCells()),
                 str(info.GetNumberOfPoints())])
show("")
table(rows)

lines = servermanager.Fetch(ours)
show("\nStatistics of each rank")
table(statistics(lines))

# Inline data: ParaView 5.11 cannot read appended data with the expat of Debian 12.
writer = vtkXMLPolyDataWriter()
writer.SetFileName(os.path.join(arguments.output, "lines.vtp"))
writer.SetDataModeToBinary()
writer.SetInputData(lines)
if not writer.Write():
    sys.exit("cannot write %s" % writer.GetFileName())

view = CreateRenderView(ViewSize=[1200, 800])
view.UseColorPaletteForBackground = 0
view.Background = [1, 1, 1]
view.OrientationAxesVisibility = 0
# The floor of the channel. Nothing is transparent: to sort pieces on several ranks, ParaView exchanges
# them as appended XML, which it cannot read with the expat of Debian 12.
floor = Slice(Input=data)
floor.SliceType.Origin = [0.1, 0, 0.0001]
floor.SliceType.Normal = [0, 0, 1]
ground = Show(floor, view)
ground.ColorArrayName = [None, ""]
ground.DiffuseColor = ground.AmbientColor = [0.85, 0.87, 0.9]
# 100 lines as tubes; more lines would hide each other.
few = AsyncStreamTracerWithCustomSource(Input=data, SeedSource=inlet(100), Vectors=["POINTS", "U"])
tubes = Tube(Input=few, Radius=0.0004)
drawn = Show(tubes, view)
ColorBy(drawn, ("POINTS", "U", "Magnitude"))
colors = GetColorTransferFunction("U")
colors.ApplyPreset("Viridis (matplotlib)", True)
drawn.SetScalarBarVisibility(view, True)
bar = GetScalarBar(colors, view)
bar.Title = "speed (m/s)"
bar.ComponentTitle = ""
bar.WindowLocation = "Upper Right Corner"
bar.TitleColor = bar.LabelColor = [0, 0, 0]
view.CameraPosition = [-0.09, -0.37, 0.40]
view.CameraFocalPoint = [0.11, -0.01, 0]
view.CameraViewUp = [0, 0, 1]
picture = os.path.join(arguments.output, "lines.png")
SaveScreenshot(picture, view)

show("\n%d lines from %d seeds on %d rank%s in %.3f s, %.0f times faster than Stream Tracer" % (
    int(rows[1][2]), count, ranks, "s" * (ranks > 1), ourSeconds,
    theirSeconds / ourSeconds))
