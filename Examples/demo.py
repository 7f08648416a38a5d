# SPDX-License-Identifier: BSD-3-Clause
"""Streamlines from points across an inlet, by Async Stream Tracer With Custom Source and by Stream Tracer.

    mpirun -n 4 pvbatch Examples/demo.py [<number of seeds>]

Data/tjunction.pvtu is an OpenFOAM result in 4 pieces: water enters on the left and leaves through two arms. Writes
lines.pvtp and lines.png, and prints the seconds of both filters and the statistics of each rank.
"""
import os
import sys

from paraview.simple import *

LoadPlugin(os.environ["TRIBUTARY_PLUGIN"], ns=globals())
import tributary

folder = os.path.dirname(os.path.abspath(__file__))
flow = OpenDataFile(os.path.join(folder, "..", "Data", "tjunction.pvtu"))
flow.UpdatePipeline()  # the length of lines is taken from its bounds


def streamlines(seeds):
    """From about this number of seeds in a square."""
    across = round(seeds ** 0.5) - 1
    inlet = Plane(Origin=[0.002, -0.0095, 0.0005], Point1=[0.002, 0.0095, 0.0005], Point2=[0.002, -0.0095, 0.0195])
    inlet.XResolution = inlet.YResolution = across
    return AsyncStreamTracerWithCustomSource(Input=flow, SeedSource=inlet, Vectors=["POINTS", "U"])


lines = streamlines(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
lines.UpdatePipeline()
print(tributary.text(tributary.statistics(lines)), "\n")
both = tributary.compare(lines)
print(tributary.text(both), "\n", flush=True)
print("%d lines, %.0f times faster than Stream Tracer" % (both["Cells"][0], both["Seconds"][1] / both["Seconds"][0]))
# ParaView cannot read appended data, the default, with the expat of Debian 12.
SaveData("lines.pvtp", lines, DataMode="Binary")

LoadPalette("WhiteBackground")
view = CreateRenderView(ViewSize=[1200, 800], OrientationAxesVisibility=0)
floor = Slice(Input=flow)
floor.SliceType.Origin = [0.1, 0, 0.0001]
floor.SliceType.Normal = [0, 0, 1]
ground = Show(floor, view)
ground.ColorArrayName = [None, ""]
ground.AmbientColor = ground.DiffuseColor = [0.85, 0.87, 0.9]
tubes = Show(Tube(Input=streamlines(100), Radius=0.0004), view)  # more lines would hide each other
ColorBy(tubes, ("POINTS", "U", "Magnitude"))
tubes.LookupTable.ApplyPreset("Viridis (matplotlib)", True)
tubes.SetScalarBarVisibility(view, True)
bar = GetScalarBar(tubes.LookupTable, view)
bar.WindowLocation, bar.Title, bar.ComponentTitle = "Upper Right Corner", "speed (m/s)", ""
view.CameraPosition = [-0.09, -0.37, 0.40]
view.CameraFocalPoint = [0.11, -0.01, 0]
view.CameraViewUp = [0, 0, 1]
SaveScreenshot("lines.png", view)
