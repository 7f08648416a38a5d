# SPDX-License-Identifier: BSD-3-Clause
"""A Poincare map of the ABC flow, by Async Stream Tracer.

    mpirun -n 4 pvbatch Examples/poincare.py

T. Dombre et al., "Chaotic streamlines in the ABC flows", J. Fluid Mech. 167 (1986), doi:10.1017/S0022112086002859,
with A^2 = 1, B^2 = 2/3 and C^2 = 1/3. Lines go around the periodic box many times. The points where they cross a
plane are curves if a line stays on a torus, and fill an area if it is chaotic. Only these crossings are kept, not
the lines. Writes poincare.pvtp and poincare.png, and prints the number of crossings.
"""
import os

from paraview.simple import *

LoadPlugin(os.environ["TRIBUTARY_PLUGIN"], ns=globals())

POINTS, TURN = 64, 6.283185307179586
box = Wavelet(WholeExtent=[0, POINTS] * 3)
x, y, z = (f"({TURN / POINTS}*coords{axis})" for axis in "XYZ")  # angles
flow = Calculator(
    Input=box, ResultArrayName="velocity",
    Function=f"(sin{z}+0.57735*cos{y})*iHat+(0.81650*sin{x}+cos{z})*jHat+(0.57735*sin{y}+0.81650*cos{x})*kHat")
flow.UpdatePipeline()
seeds = Plane(Origin=[1, 1, POINTS / 4], Point1=[POINTS - 1, 1, POINTS / 4], Point2=[1, POINTS - 1, POINTS / 4])
seeds.XResolution = seeds.YResolution = 9
lines = AsyncStreamTracerWithCustomSource(Input=flow, SeedSource=seeds, Vectors=["POINTS", "velocity"])
lines.IntegrationDirection = "FORWARD"
lines.Periodic = [1, 1, 1]
lines.MaximumStreamlineLength, lines.MaximumSteps = 200 * POINTS, 100000
lines.Events = [f"plane origin 0 0 {POINTS / 4} normal 0 0 1"]
lines.CrossingsOnly = 1
crossings = OutputPort(lines, "Crossings")
crossings.UpdatePipeline()
print("%d crossings" % crossings.GetDataInformation().GetNumberOfPoints(), flush=True)
SaveData("poincare.pvtp", crossings, DataMode="Binary")

LoadPalette("WhiteBackground")
view = CreateRenderView(ViewSize=[720, 720], OrientationAxesVisibility=0, CameraParallelProjection=1)
drawn = Show(crossings, view, Representation="Points", PointSize=2)
ColorBy(drawn, ("POINTS", "SeedIds"))
drawn.LookupTable.ApplyPreset("Viridis (matplotlib)", True)
view.CameraPosition = [POINTS / 2, POINTS / 2, 3 * POINTS]
view.CameraFocalPoint = [POINTS / 2, POINTS / 2, 0]
view.CameraParallelScale = 0.51 * POINTS
SaveScreenshot("poincare.png", view)
