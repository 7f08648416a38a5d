# SPDX-License-Identifier: BSD-3-Clause
"""The finite-time Lyapunov exponent of the double gyre, by Async Flow Map.

    xvfb-run -a -s -noreset mpirun -n 4 pvbatch Examples/gyre.py --plugin <Tributary.so> --output <folder>

S. C. Shadden, F. Lekien, J. E. Marsden, "Definition and properties of Lagrangian coherent structures from
finite-time Lyapunov exponents in two-dimensional aperiodic flows", Physica D 212 (2005),
doi:10.1016/j.physd.2005.10.007: two gyres in [0, 2] x [0, 1], the line between which moves to and fro, with
A = 0.1, epsilon = 0.25 and omega = 2 pi / 10. The script makes the velocities from the formula, in time steps
of 0.25, on the points of an image that is cut among the ranks. Writes gyre.png: the exponent forward from time 0 over
15 units of time. Its ridges separate particles that end in different gyres. Prints the seconds, and the
largest exponent.
"""
import argparse
import os
import time

from paraview import servermanager
from paraview.simple import *

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
parser.add_argument("--plugin", default=os.environ.get("TRIBUTARY_PLUGIN"), help="Tributary.so")
parser.add_argument("--output", default=".", help="folder for gyre.png")
parser.add_argument("--points", type=int, default=300, help="points of the map along y; along x twice as many")
parser.add_argument("--duration", type=float, default=15, help="Integration Time")
arguments = parser.parse_args()
if not arguments.plugin:
    parser.error("set --plugin to the path of Tributary.so")
os.makedirs(arguments.output, exist_ok=True)
LoadPlugin(arguments.plugin, remote=False, ns=globals())

CELLS = 100  # along y
STEPS = "[0.25 * i for i in range(61)]"

gyre = ProgrammableSource(OutputDataSetType="vtkImageData")
gyre.ScriptRequestInformation = f"""
executive = self.GetExecutive()
information = executive.GetOutputInformation(0)
steps = {STEPS}
information.Set(executive.TIME_STEPS(), steps, len(steps))
information.Set(executive.TIME_RANGE(), [steps[0], steps[-1]], 2)
information.Set(executive.WHOLE_EXTENT(), [0, {2 * CELLS}, 0, {CELLS}, 0, 0], 6)
information.Set(self.CAN_PRODUCE_SUB_EXTENT(), 1)
"""
gyre.Script = f"""
import numpy as np
from vtkmodules.util.numpy_support import numpy_to_vtk
executive = self.GetExecutive()
information = executive.GetOutputInformation(0)
when = information.Get(executive.UPDATE_TIME_STEP())
extent = [0] * 6
information.Get(executive.UPDATE_EXTENT(), extent)
output.VTKObject.SetExtent(extent)
output.VTKObject.SetSpacing(1 / {CELLS}, 1 / {CELLS}, 1)
y, x = np.mgrid[extent[2]:extent[3] + 1, extent[0]:extent[1] + 1] / {CELLS}
shift = 0.25 * np.sin(2 * np.pi * when / 10)
f, slope = shift * x**2 + (1 - 2 * shift) * x, 2 * shift * x + 1 - 2 * shift
u = -np.pi * 0.1 * np.sin(np.pi * f) * np.cos(np.pi * y)
v = np.pi * 0.1 * np.cos(np.pi * f) * np.sin(np.pi * y) * slope
array = numpy_to_vtk(np.stack([u, v, 0 * u], -1).reshape(-1, 3), deep=1)
array.SetName("velocity")
output.VTKObject.GetPointData().AddArray(array)
output.VTKObject.GetInformation().Set(output.DATA_TIME_STEP(), when)
"""

flow_map = AsyncFlowMap(
    Input=gyre, Vectors=["POINTS", "velocity"], IntegrationTime=arguments.duration,
    SamplingDimensions=[2 * arguments.points, arguments.points, 1], InitialStepLength=1.0, MaximumStepLength=4.0)
begin = time.perf_counter()
flow_map.UpdatePipeline(0.0)
print("%d x %d particles on %d ranks: %.2f s, largest exponent %.3f" % (
    2 * arguments.points, arguments.points,
    servermanager.vtkProcessModule.GetProcessModule().GetNumberOfLocalPartitions(),
    time.perf_counter() - begin, flow_map.PointData["FTLE"].GetRange()[1]), flush=True)

view = CreateRenderView(ViewSize=[720, 360])
view.UseColorPaletteForBackground = 0
view.Background = [1, 1, 1]
view.OrientationAxesVisibility = 0
view.CameraParallelProjection = 1
view.CameraPosition = [1, 0.5, 1]
view.CameraFocalPoint = [1, 0.5, 0]
view.CameraParallelScale = 0.5
view.ViewTime = 0.0
drawn = Show(flow_map, view)
drawn.SetRepresentationType("Slice")
ColorBy(drawn, ("POINTS", "FTLE"))
colors = GetColorTransferFunction("FTLE")
colors.ApplyPreset("Inferno (matplotlib)", True)
colors.RescaleTransferFunction(0, 0.4)
drawn.SetScalarBarVisibility(view, False)
SaveScreenshot(os.path.join(arguments.output, "gyre.png"), view)
