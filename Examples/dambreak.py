# SPDX-License-Identifier: BSD-3-Clause
"""The drops of a dam break followed through time, by Async Feature Tracker: they detach, fall back and merge.

    pvpython Data/drops.py build/drops 4
    mpirun -n 4 pvbatch Examples/dambreak.py build/drops/drops.pvd

The data are an OpenFOAM result of 15 time steps, on a mesh that is refined at the surface of the water and changes
in each step. Regions are connected cells with more than half water. Between two steps drops move about as far as they
are wide, so they are moved with the velocity before they are compared with the drops of the next step. Prints how
many are born, die, split and merge; writes events.csv, trajectories.pvtp, and dambreak.png: three time steps.
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
view = CreateRenderView(ViewSize=[1500, 500], OrientationAxesVisibility=0, ViewTime=end)
for number, time in enumerate((0.38, 0.5, end)):
    drops = Threshold(Input=ForceTime(Input=tracker, ForcedTime=time), Scalars=["CELLS", "TrackId"])
    drops.LowerThreshold, drops.UpperThreshold = 0, 1000
    drawn = Show(drops, view, Position=[0, 1.2 * number, 0])
    ColorBy(drawn, ("CELLS", "TrackId"))
    drawn.LookupTable.ApplyPreset("KAAMS", True)
view.CameraPosition = [5, 2.5, 2]
view.CameraFocalPoint = [0.5, 1.7, 0.3]
view.CameraViewUp = [0, 0, 1]
view.CameraViewAngle = 14
SaveScreenshot("dambreak.png", view)
