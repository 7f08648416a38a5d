# SPDX-License-Identifier: BSD-3-Clause
"""Dye in a simulated flow, transported by Async Convection Diffusion.

    xvfb-run -a -s -noreset mpirun -n 2 pvbatch Examples/dye.py --plugin <Tributary.so> --output <folder>

Data/tjunction.pvtu is an OpenFOAM result: water enters on the left and leaves through two arms. The flow
is resampled to an image. From time 0 on, the water that enters has a concentration of 1. Writes dye.png,
the concentration at half the height of the channel at three times, and prints the seconds of each step.
"""
import argparse
import os
import time

from paraview import servermanager
from paraview.simple import *
from vtkmodules.vtkFiltersCore import vtkImageAppend
from vtkmodules.vtkIOImage import vtkPNGReader, vtkPNGWriter

here = os.path.dirname(os.path.abspath(__file__))
parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
parser.add_argument("--plugin", default=os.environ.get("TRIBUTARY_PLUGIN"), help="Tributary.so")
parser.add_argument("--output", default=".", help="folder for dye.png")
parser.add_argument("--points", type=int, default=128, help="points of the image along each axis")
arguments = parser.parse_args()
if not arguments.plugin:
    parser.error("set --plugin to the path of Tributary.so")
os.makedirs(arguments.output, exist_ok=True)
LoadPlugin(arguments.plugin, remote=False, ns=globals())

STEP = 0.001  # seconds
SHOWN = (10, 20, 40)  # steps

reader = XMLPartitionedUnstructuredGridReader(
    FileName=[os.path.join(here, "..", "Data", "tjunction.pvtu")])
# One array only: ParaView 5.11's Resample To Image, executed again on several ranks, gives arrays
# each other's values.
velocity = PassArrays(Input=reader, PointDataArrays=["U"], CellDataArrays=[])
image = ResampleToImage(Input=velocity, SamplingDimensions=[arguments.points] * 3)
image.UpdatePipeline()

view = CreateRenderView(ViewSize=[420, 700])
view.UseColorPaletteForBackground = 0
view.Background = [1, 1, 1]
view.OrientationAxesVisibility = 0
view.CameraParallelProjection = 1
view.CameraPosition = [0.1, 0, 1]
view.CameraFocalPoint = [0.1, 0, 0]
view.CameraParallelScale = 0.225

begin = time.perf_counter()
dye = AsyncConvectionDiffusion(
    Input=image, Velocity=["POINTS", "U"], Diffusivity=1e-5, XMinCondition="Value", XMinValue=1.0,
    TimeStep=STEP, NumberOfSteps=SHOWN[-1], ResidualThreshold=1e-3)
dye.UpdatePipelineInformation()
times = list(dye.TimestepValues)
# One layer of cells; those outside of the channel are hidden.
plane = [0, arguments.points - 1] * 2 + [arguments.points // 2] * 2
layer = ExtractSubset(Input=dye, VOI=plane)
drawn = Show(layer, view)
drawn.SetRepresentationType("Surface")
ColorBy(drawn, ("CELLS", "Concentration"))
colors = GetColorTransferFunction("Concentration")
colors.ApplyPreset("Viridis (matplotlib)", True)
colors.RescaleTransferFunction(0, 1)
view.ViewTime = times[1]
SaveScreenshot(os.path.join(arguments.output, "dye.png"), view)
print("%d^3 points on %d ranks: the first step and its picture after %.2f s" % (
    arguments.points, servermanager.vtkProcessModule.GetProcessModule().GetNumberOfLocalPartitions(),
    time.perf_counter() - begin), flush=True)

append = vtkImageAppend()
for step in SHOWN:
    begin = time.perf_counter()
    view.ViewTime = times[step]
    drawn.SetScalarBarVisibility(view, step == SHOWN[0])
    bar = GetScalarBar(colors, view)
    bar.Title = "dye"
    bar.ComponentTitle = ""
    bar.WindowLocation = "Upper Left Corner"
    bar.ScalarBarLength = 0.25
    bar.TitleColor = bar.LabelColor = [0, 0, 0]
    label = Text(Text="%.0f ms" % (1000 * step * STEP))
    shown = Show(label, view)
    shown.Color = [0, 0, 0]
    shown.FontSize = 20
    shown.WindowLocation = "Lower Center"
    part = os.path.join(arguments.output, "dye.%d.png" % step)
    SaveScreenshot(part, view)
    Hide(label, view)
    print("step %d: %.2f s" % (step, time.perf_counter() - begin), flush=True)
    drawing = vtkPNGReader()
    drawing.SetFileName(part)
    drawing.Update()
    append.AddInputData(drawing.GetOutput())
    os.remove(part)
writer = vtkPNGWriter()
writer.SetFileName(os.path.join(arguments.output, "dye.png"))
writer.SetInputConnection(append.GetOutputPort())
writer.Write()
