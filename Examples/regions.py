# SPDX-License-Identifier: BSD-3-Clause
"""The drops of a dam break, by Async Connectivity.

    mpirun -n 4 pvbatch Examples/regions.py

Data/dambreak.pvtu is an OpenFOAM result in 8 pieces: water and air, 0.6 s after a dam is removed. Regions are connected
cells with more than half water. Prints the number of regions and those with the most cells; writes regions.csv, a
row for each region, and regions.png.
"""
import os

from paraview.simple import *

LoadPlugin(os.environ["TRIBUTARY_PLUGIN"], ns=globals())
import tributary

folder = os.path.dirname(os.path.abspath(__file__))
dambreak = OpenDataFile(os.path.join(folder, "..", "Data", "dambreak.pvtu"))
regions = AsyncConnectivity(
    Input=dambreak, ScalarConnectivity=1, Scalars=["CELLS", "alpha.water"], ScalarRange=[0.5, 1],
    RegionIdAssignmentMode="Cell Count Descending")
table = tributary.table(regions, "Region Table")
print(len(table), "regions of water")
print(tributary.text(table[["RegionId", "Cells", "Measure", "Centroid"]][:5]), flush=True)
SaveData("regions.csv", OutputPort(regions, "Region Table"))

water = Threshold(Input=regions, Scalars=["CELLS", "RegionId"])
water.LowerThreshold, water.UpperThreshold = 0, len(table)
LoadPalette("WhiteBackground")
view = CreateRenderView(ViewSize=[900, 700], OrientationAxesVisibility=0)
Show(Outline(Input=dambreak), view)
drawn = Show(water, view)
ColorBy(drawn, ("CELLS", "RegionId"))
drawn.LookupTable.ApplyPreset("Turbo", True)
view.CameraPosition = [2.6, 1.9, 2.2]
view.CameraFocalPoint = [0.5, 0.4, 0.5]
view.CameraViewUp = [0, 0, 1]
SaveScreenshot("regions.png", view)
