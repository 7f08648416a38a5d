# SPDX-License-Identifier: BSD-3-Clause
"""Dye in a simulated flow, by Async Convection Diffusion.

    mpirun -n 4 pvbatch Examples/dye.py

Data/tjunction.pvtu is an OpenFOAM result: water enters on the left and leaves through two arms. The flow is resampled
to an image. From the first time on, the water that enters has a concentration of 1. Prints the last time step with
its iterations and residual; writes dye.csv, the same for all time steps, and dye.png: the concentration at half the
height of the channel after 10, 20 and 40 ms.
"""
import os

from paraview.simple import *

LoadPlugin(os.environ["TRIBUTARY_PLUGIN"], ns=globals())
import tributary

SIZE = [96, 192, 16]  # points along each axis

folder = os.path.dirname(os.path.abspath(__file__))
flow = OpenDataFile(os.path.join(folder, "..", "Data", "tjunction.pvtu"))
# One array only: ParaView 5.11's Resample To Image, executed again on several ranks, gives arrays each other's values.
velocity = PassArrays(Input=flow, PointDataArrays=["U"], CellDataArrays=[])
image = ResampleToImage(Input=velocity, SamplingDimensions=SIZE)
image.UpdatePipeline()
dye = AsyncConvectionDiffusion(
    Input=image, Velocity=["POINTS", "U"], Diffusivity=1e-5, XMinCondition="Value", XMinValue=1,
    TimeStep=0.001, NumberOfSteps=40, ResidualThreshold=1e-3)
dye.UpdatePipelineInformation()
times = list(dye.TimestepValues)  # from the time of the flow on
print(tributary.text(tributary.table(dye, "History", times[-1])[-1:]), flush=True)
SaveData("dye.csv", OutputPort(dye, "History"))

LoadPalette("WhiteBackground")
view = CreateRenderView(ViewSize=[1200, 680], OrientationAxesVisibility=0, CameraParallelProjection=1)
for number, steps in enumerate((10, 20, 40)):
    then = ForceTime(Input=dye, ForcedTime=times[steps])
    # One layer of cells; those outside of the channel are hidden.
    layer = ExtractSubset(Input=then, VOI=[0, SIZE[0] - 1, 0, SIZE[1] - 1, SIZE[2] // 2, SIZE[2] // 2])
    drawn = Show(layer, view, Representation="Surface", Position=[0.26 * number, 0, 0])
    ColorBy(drawn, ("CELLS", "Concentration"))
    drawn.LookupTable.ApplyPreset("Viridis (matplotlib)", True)
    drawn.LookupTable.RescaleTransferFunction(0, 1)
drawn.SetScalarBarVisibility(view, True)
GetScalarBar(drawn.LookupTable, view).WindowLocation = "Upper Left Corner"
view.CameraPosition = [0.37, 0, 1]
view.CameraFocalPoint = [0.37, 0, 0]
view.CameraParallelScale = 0.223
SaveScreenshot("dye.png", view)
