# SPDX-License-Identifier: BSD-3-Clause
"""The drops of a dam break followed through time, by Async Feature Tracker: they detach, fall back and merge.

    pvpython Data/drops.py build/drops 4
    mpirun -n 4 pvbatch Examples/dambreak.py build/drops/drops.pvd

The data are an OpenFOAM result of 15 time steps, on a mesh that is refined at the surface of the water and changes
in each step. Regions are connected cells with more than half water. Between two steps drops move about as far as they
are wide, so they are moved with the velocity before they are compared with the drops of the next step. Prints how
many are born, die, split and merge; writes events.csv, trajectories.pvtp, and dambreak.png: the drops of the last time
step, with the numbers of their tracks.
"""
import os
import sys

import numpy as np
from paraview.simple import *

LoadPlugin(os.environ["TRIBUTARY_PLUGIN"], ns=globals())
import tributary

series = OpenDataFile(sys.argv[1])
tracker = AsyncFeatureTracker(
    Input=series, ScalarConnectivity=1, Scalars=["CELLS", "alpha.water"], ScalarRange=[0.5, 1],
    ConnectThrough="Faces", Motion="Velocity Field", Velocity=["CELLS", "U"])
end = series.TimestepValues[-1]
events = tributary.table(tracker, "Events", end)
for kind, count in zip(*np.unique(events["Event"], return_counts=True)):
    print(f"{kind}: {count}", flush=True)
SaveData("events.csv", OutputPort(tracker, "Events"))
SaveData("trajectories.pvtp", OutputPort(tracker, "Trajectories"), DataMode="Binary")

LoadPalette("WhiteBackground")
view = CreateRenderView(ViewSize=[900, 630], OrientationAxesVisibility=0)
view.ViewTime = end


def show(first, last):
    """Shows the cells of some tracks."""
    cells = Threshold(Input=tracker, Scalars=["CELLS", "TrackId"])
    cells.LowerThreshold, cells.UpperThreshold = first, last
    return Show(cells, view)


water = show(0, 0)
water.ColorArrayName = [None, ""]
water.AmbientColor = water.DiffuseColor = [0.7, 0.82, 0.94]
drops = show(1, 1000)
ColorBy(drops, ("CELLS", "TrackId"))
drops.LookupTable.ApplyPreset("Turbo", True)
for drop in tributary.table(tracker, "Features", end):
    if drop["TrackId"] > 0:
        number = Show(Text(Text=str(drop["TrackId"])), view, TextPropMode="Billboard 3D Text", FontSize=18)
        number.BillboardPosition = [drop["CentroidX"], drop["CentroidY"], drop["CentroidZ"] + 0.04]
view.CameraPosition = [2.0, 1.55, 0.95]
view.CameraFocalPoint = [0.46, 0.45, 0.24]
view.CameraViewUp = [0, 0, 1]
view.CameraViewAngle = 17
SaveScreenshot("dambreak.png", view)
