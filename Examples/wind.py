# SPDX-License-Identifier: BSD-3-Clause
"""The mean wind of a January 9 km above the ground, around the Earth, by Async Stream Tracer.

    xvfb-run -a -s -noreset mpirun -n 4 pvbatch Examples/wind.py --plugin <Tributary.so> --data <uv300.nc>

The data, of the National Center for Atmospheric Research, are in Debian's package libncarg-data:
/usr/share/ncarg/data/cdf/uv300.nc. They have the eastward and the northward wind (U and V, in meters per
second) on a grid of 128 longitudes and 64 latitudes, in degrees. There is no column at 180 degrees east, which
would repeat the one at 180 degrees west: lines go on in the cells between the last and the first column. Writes
wind.png: lines of 4 days, with the data as they are, without these cells.
"""
import argparse
import os

from paraview.simple import *

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
parser.add_argument("--plugin", default=os.environ.get("TRIBUTARY_PLUGIN"), help="Tributary.so")
parser.add_argument("--data", default="/usr/share/ncarg/data/cdf/uv300.nc", help="the file with the wind")
parser.add_argument("--output", default=".", help="folder for wind.png")
parser.add_argument("--days", type=float, default=4, help="length of the lines")
arguments = parser.parse_args()
if not arguments.plugin:
    parser.error("set --plugin to the path of Tributary.so")
if not os.path.exists(arguments.data):
    parser.error(f"there is no {arguments.data}; set --data to a copy of uv300.nc of Debian's libncarg-data")
os.makedirs(arguments.output, exist_ok=True)
LoadPlugin(arguments.plugin, remote=False, ns=globals())

wind = NetCDFReader(FileName=[arguments.data], Dimensions="(lat, lon)", SphericalCoordinates=0)
wind.UpdatePipeline(1.0)
seeds = Plane(Origin=[-170, -70, 0], Point1=[170, -70, 0], Point2=[-170, 70, 0], XResolution=17, YResolution=14)
lines = AsyncStreamTracerWithCustomSource(
    Input=wind, SeedSource=seeds, VelocityForm="Components", Coordinates="Longitude Latitude", Periodic=[1, 0, 0],
    IntegrationDirection="FORWARD", MaximumIntegrationTime=86400 * arguments.days, MaximumStreamlineLength=1000)
lines.XComponent = ["POINTS", "U"]
lines.YComponent = ["POINTS", "V"]
lines.UpdatePipeline(1.0)
low, high = lines.GetDataInformation().GetBounds()[:2]
print("%d lines, longitudes from %.1f to %.1f" % (lines.GetDataInformation().GetNumberOfCells(), low, high), flush=True)


def on_globe(data, radius):
    """The data at their places on a sphere, with the speed of the wind."""
    speed = Calculator(Input=data, ResultArrayName="speed", Function="sqrt(U*U+V*V)")
    degree = 3.141592653589793 / 180
    parallel = f"{radius}*cos(coordsY*{degree})"
    return Calculator(
        Input=speed, CoordinateResults=1,
        Function=f"{parallel}*cos(coordsX*{degree})*iHat+{parallel}*sin(coordsX*{degree})*jHat"
                 f"+{radius}*sin(coordsY*{degree})*kHat")


view = CreateRenderView(ViewSize=[720, 720])
view.UseColorPaletteForBackground = 0
view.Background = [1, 1, 1]
view.OrientationAxesVisibility = 0
view.CameraPosition = [-5, 1, 2]
view.CameraFocalPoint = [0, 0, 0]
view.CameraViewUp = [0, 0, 1]
view.CameraParallelProjection = 1
view.CameraParallelScale = 1.03
view.ViewTime = 1.0
below = Show(Sphere(Radius=0.99, ThetaResolution=96, PhiResolution=48), view)  # seen where the data have a gap
below.AmbientColor = below.DiffuseColor = [0.6, 0.6, 0.6]
ground = Show(on_globe(ExtractSurface(Input=wind), 1), view)
ColorBy(ground, ("POINTS", "speed"))
colors = GetColorTransferFunction("speed")
colors.ApplyPreset("Viridis (matplotlib)", True)
colors.RescaleTransferFunction(0, 50)
ground.SetScalarBarVisibility(view, False)
tubes = Show(Tube(Input=on_globe(lines, 1.005), Radius=0.004, NumberofSides=8), view)
ColorBy(tubes, None)
tubes.AmbientColor = tubes.DiffuseColor = [1, 1, 1]
SaveScreenshot(os.path.join(arguments.output, "wind.png"), view)
