# SPDX-License-Identifier: BSD-3-Clause
"""Which part of an inlet feeds which outlet, by Async Stream Tracer With Custom Source and its events.

    mpirun -n 4 pvbatch Examples/outlets.py

Data/tjunction.pvtu is an OpenFOAM result: water enters on the left and leaves through two arms. Lines end at a plane
across each arm. Prints how many of them do, and their mean time; writes crossings.csv, where and when each line
crosses a plane, and outlets.png.
"""
import os

from paraview.simple import *

LoadPlugin(os.environ["TRIBUTARY_PLUGIN"], ns=globals())
import tributary

folder = os.path.dirname(os.path.abspath(__file__))
flow = OpenDataFile(os.path.join(folder, "..", "Data", "tjunction.pvtu"))
flow.UpdatePipeline()  # the length of lines is taken from its bounds
inlet = Plane(Origin=[0.002, -0.0095, 0.0005], Point1=[0.002, 0.0095, 0.0005], Point2=[0.002, -0.0095, 0.0195])
inlet.XResolution = inlet.YResolution = 15
lines = AsyncStreamTracerWithCustomSource(
    Input=flow, SeedSource=inlet, Vectors=["POINTS", "U"], IntegrationDirection="FORWARD", MaximumStreamlineLength=1)
lines.Events = ["plane origin 0 0.2 0 normal 0 1 0 end", "plane origin 0 -0.2 0 normal 0 1 0 end"]
lines.Destinations = "Reason And Event"

table = tributary.table(lines, "Destinations")
print(tributary.text(table[["EventId", "ReasonForTermination", "Count", "MeanTime"]]), flush=True)
SaveData("crossings.csv", OutputPort(lines, 1))

LoadPalette("WhiteBackground")
view = CreateRenderView(ViewSize=[700, 900], OrientationAxesVisibility=0, CameraParallelProjection=1)
drawn = Show(Tube(Input=lines, Radius=0.0003), view)
ColorBy(drawn, ("CELLS", "EventId"))
drawn.LookupTable.ApplyPreset("Viridis (matplotlib)", True)
view.CameraPosition = [0.11, 0, 1]
view.CameraFocalPoint = [0.11, 0, 0]
view.CameraParallelScale = 0.22
SaveScreenshot("outlets.png", view)
