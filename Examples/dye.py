# SPDX-License-Identifier: BSD-3-Clause
"""Dye in a simulated flow, by Async Convection Diffusion.

    mpirun -n 4 pvbatch Examples/dye.py

Data/tjunction.pvtu is an OpenFOAM result: water enters on the left and leaves through two arms. The flow is resampled
to an image. From time 0 on, the water that enters has a concentration of 1. Prints the time steps with the iterations
and the residual of each; writes dye.csv, the same, and dye.png, the concentration at half the height of the channel
after 10, 20 and 40 ms.
"""
import os

from paraview.simple import *

LoadPlugin(os.environ["TRIBUTARY_PLUGIN"], ns=globals())
import tributary

POINTS, STEP = 128, 0.001  # along each axis; seconds

folder = os.path.dirname(os.path.abspath(__file__))
flow = OpenDataFile(os.path.join(folder, "..", "Data", "tjunction.pvtu"))
# One array only: ParaView 5.11's Resample To Image, executed again on several ranks, gives arrays each other's values.
velocity = PassArrays(Input=flow, PointDataArrays=["U"], CellDataArrays=[])
image = ResampleToImage(Input=velocity, SamplingDimensions=[POINTS] * 3)
dye = AsyncConvectionDiffusion(
    Input=image, Velocity=["POINTS", "U"], Diffusivity=1e-5, XMinCondition="Value", XMinValue=1,
    TimeStep=STEP, NumberOfSteps=40, ResidualThreshold=1e-3)

LoadPalette("WhiteBackground")
view = CreateRenderView(ViewSize=[1260, 700], OrientationAxesVisibility=0, CameraParallelProjection=1)
for number, steps in enumerate((10, 20, 40)):
    # One layer of cells; those outside of the channel are hidden.
    layer = ExtractSubset(Input=dye, VOI=[0, POINTS - 1] * 2 + [POINTS // 2] * 2)
    still = ForceTime(Input=layer, ForcedTime=steps * STEP)
    drawn = Show(still, view, Representation="Surface", Position=[0.3 * number, 0, 0])
    ColorBy(drawn, ("CELLS", "Concentration"))
    drawn.LookupTable.ApplyPreset("Viridis (matplotlib)", True)
    drawn.LookupTable.RescaleTransferFunction(0, 1)
drawn.SetScalarBarVisibility(view, True)
view.CameraPosition = [0.4, 0, 1]
view.CameraFocalPoint = [0.4, 0, 0]
view.CameraParallelScale = 0.25
SaveScreenshot("dye.png", view)

print(tributary.text(tributary.table(dye, "History", 40 * STEP)[-1:]), flush=True)
SaveData("dye.csv", OutputPort(dye, "History"))
