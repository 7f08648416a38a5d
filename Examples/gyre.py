# SPDX-License-Identifier: BSD-3-Clause
"""The finite-time Lyapunov exponent of the double gyre, by Async Flow Map.

    mpirun -n 4 pvbatch Examples/gyre.py [<integration time>]

S. C. Shadden, F. Lekien, J. E. Marsden, Physica D 212 (2005), doi:10.1016/j.physd.2005.10.007: two gyres in [0, 2] x
[0, 1], the line between which moves to and fro, with A = 0.1, epsilon = 0.25 and omega = 2 pi / 10. The source computes
their velocities, in time steps of 0.25, on an image that is cut among the ranks. Writes gyre.pvti and gyre.png: the
exponent forward from time 0 over 15 units of time. Its ridges separate particles that end in different gyres.
"""
import os
import sys

from paraview.simple import *

LoadPlugin(os.environ["TRIBUTARY_PLUGIN"], ns=globals())

gyre = ProgrammableSource(OutputDataSetType="vtkImageData")
gyre.ScriptRequestInformation = """
information = self.GetExecutive().GetOutputInformation(0)
steps = [0.25 * step for step in range(61)]
information.Set(vtk.vtkStreamingDemandDrivenPipeline.TIME_STEPS(), steps, len(steps))
information.Set(vtk.vtkStreamingDemandDrivenPipeline.TIME_RANGE(), [steps[0], steps[-1]], 2)
information.Set(vtk.vtkStreamingDemandDrivenPipeline.WHOLE_EXTENT(), [0, 200, 0, 100, 0, 0], 6)
information.Set(vtk.vtkAlgorithm.CAN_PRODUCE_SUB_EXTENT(), 1)
"""
gyre.Script = """
import numpy as np
information = self.GetExecutive().GetOutputInformation(0)
t = information.Get(vtk.vtkStreamingDemandDrivenPipeline.UPDATE_TIME_STEP())
extent = [0] * 6
information.Get(vtk.vtkStreamingDemandDrivenPipeline.UPDATE_EXTENT(), extent)
output.SetExtent(extent)
output.SetSpacing(0.01, 0.01, 1)
y, x = np.mgrid[extent[2]:extent[3] + 1, extent[0]:extent[1] + 1] * 0.01
shift = 0.25 * np.sin(2 * np.pi * t / 10)
f, slope = shift * x**2 + (1 - 2 * shift) * x, 2 * shift * x + 1 - 2 * shift
u = -np.pi * 0.1 * np.sin(np.pi * f) * np.cos(np.pi * y)
v = np.pi * 0.1 * np.cos(np.pi * f) * np.sin(np.pi * y) * slope
output.PointData.append(np.stack([u, v, 0 * u], -1).reshape(-1, 3), "velocity")
output.GetInformation().Set(output.DATA_TIME_STEP(), t)
"""
ftle = AsyncFlowMap(
    Input=gyre, Vectors=["POINTS", "velocity"], IntegrationTime=float(sys.argv[1]) if len(sys.argv) > 1 else 15,
    SamplingDimensions=[600, 300, 1], InitialStepLength=1.0, MaximumStepLength=4.0)
ftle.UpdatePipeline(0.0)
print("largest exponent %.3f" % ftle.PointData["FTLE"].GetRange()[1], flush=True)
SaveData("gyre.pvti", ftle, DataMode="Binary")

view = CreateRenderView(ViewSize=[720, 360], OrientationAxesVisibility=0, CameraParallelProjection=1, ViewTime=0.0)
drawn = Show(ftle, view, Representation="Slice")
ColorBy(drawn, ("POINTS", "FTLE"))
drawn.LookupTable.ApplyPreset("Inferno (matplotlib)", True)
drawn.LookupTable.RescaleTransferFunction(0, 0.4)
view.CameraPosition, view.CameraFocalPoint, view.CameraParallelScale = [1, 0.5, 1], [1, 0.5, 0], 0.5
SaveScreenshot("gyre.png", view)
