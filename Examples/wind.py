# SPDX-License-Identifier: BSD-3-Clause
"""The mean wind of a January 9 km above the ground, around the Earth, by Async Stream Tracer.

    mpirun -n 4 pvbatch Examples/wind.py [<uv300.nc>]

The data, of the National Center for Atmospheric Research, are in Debian's package libncarg-data. They have the eastward
and the northward wind (U and V, in meters per second) on a grid of 128 longitudes and 64 latitudes, in degrees. There
is no column at 180 degrees east, which would repeat the one at 180 degrees west: lines go on in the cells between the
last and the first column. Prints how far the lines of 4 days go; writes wind.pvtp and wind.png.
"""
import os
import sys

from paraview.simple import *

LoadPlugin(os.environ["TRIBUTARY_PLUGIN"], ns=globals())

file = sys.argv[1] if len(sys.argv) > 1 else "/usr/share/ncarg/data/cdf/uv300.nc"
wind = NetCDFReader(FileName=[file], Dimensions="(lat, lon)", SphericalCoordinates=0)
wind.UpdatePipeline(1.0)
seeds = Plane(Origin=[-170, -70, 0], Point1=[170, -70, 0], Point2=[-170, 70, 0], XResolution=17, YResolution=14)
lines = AsyncStreamTracerWithCustomSource(
    Input=wind, SeedSource=seeds, VelocityForm="Components", Coordinates="Longitude Latitude", Periodic=[1, 0, 0],
    IntegrationDirection="FORWARD", MaximumIntegrationTime=86400 * 4, MaximumStreamlineLength=1000)
lines.XComponent, lines.YComponent = ["POINTS", "U"], ["POINTS", "V"]
lines.UpdatePipeline(1.0)
size = lines.GetDataInformation()
print("%d lines, longitudes from %.1f to %.1f" % (size.GetNumberOfCells(), *size.GetBounds()[:2]), flush=True)
SaveData("wind.pvtp", lines, DataMode="Binary")


def on_globe(data, radius):
    """The data at their places on a sphere, with the speed of the wind."""
    speed = Calculator(Input=data, ResultArrayName="speed", Function="sqrt(U*U+V*V)")
    x, y = "(coordsX*0.0174532925)", "(coordsY*0.0174532925)"  # in radians
    return Calculator(
        Input=speed, CoordinateResults=1,
        Function=f"{radius}*(cos{y}*cos{x}*iHat+cos{y}*sin{x}*jHat+sin{y}*kHat)")


LoadPalette("WhiteBackground")
view = CreateRenderView(ViewSize=[720, 720], OrientationAxesVisibility=0, CameraParallelProjection=1, ViewTime=1.0)
below = Show(Sphere(Radius=0.99, ThetaResolution=96, PhiResolution=48), view)  # seen where the data have a gap
below.AmbientColor = below.DiffuseColor = [0.6, 0.6, 0.6]
ground = Show(on_globe(ExtractSurface(Input=wind), 1), view)
ColorBy(ground, ("POINTS", "speed"))
ground.LookupTable.ApplyPreset("Viridis (matplotlib)", True)
ground.LookupTable.RescaleTransferFunction(0, 50)
tubes = Show(Tube(Input=on_globe(lines, 1.005), Radius=0.004, NumberofSides=8), view)
tubes.ColorArrayName = [None, ""]
tubes.AmbientColor = tubes.DiffuseColor = [1, 1, 1]
view.CameraPosition, view.CameraFocalPoint, view.CameraViewUp = [-5, 1, 2], [0, 0, 0], [0, 0, 1]
view.CameraParallelScale = 1.03
SaveScreenshot("wind.png", view)
