# SPDX-License-Identifier: BSD-3-Clause
"""Regions of backward flow in a T-junction, by Async Connectivity.

    mpirun -n 4 pvbatch Examples/regions.py

Data/tjunction.pvtu is an OpenFOAM result in 4 pieces: water enters on the left and leaves through two arms. Regions are
connected cells in which the water flows back by more than 1 m/s. Prints their number, and their sizes and places;
writes regions.csv, a row for each region, and regions.png.
"""
import os

from paraview.simple import *

LoadPlugin(os.environ["TRIBUTARY_PLUGIN"], ns=globals())
import tributary

folder = os.path.dirname(os.path.abspath(__file__))
flow = OpenDataFile(os.path.join(folder, "..", "Data", "tjunction.pvtu"))
backward = Calculator(Input=flow, AttributeType="Cell Data", ResultArrayName="backward", Function="-U_X")
backward.UpdatePipeline()
regions = AsyncConnectivity(
    Input=backward, ScalarConnectivity=1, Scalars=["CELLS", "backward"], ScalarRange=[1, 100],
    ExtractRegions=1, RegionIdAssignmentMode="Cell Count Descending", StatisticsArrays=["backward"])
table = tributary.table(regions, "Region Table")
print(len(table), "regions of backward flow")
print(tributary.text(table[["RegionId", "Cells", "Measure", "CentroidX"]]), flush=True)
SaveData("regions.csv", OutputPort(regions, "Region Table"))

LoadPalette("WhiteBackground")
view = CreateRenderView(ViewSize=[900, 600], OrientationAxesVisibility=0)
floor = Slice(Input=flow)
floor.SliceType.Origin = [0.1, 0, 0.0001]
floor.SliceType.Normal = [0, 0, 1]
ground = Show(floor, view)
ground.ColorArrayName = [None, ""]
ground.AmbientColor = ground.DiffuseColor = [0.85, 0.87, 0.9]
drawn = Show(regions, view)
ColorBy(drawn, ("CELLS", "RegionId"))
drawn.LookupTable.ApplyPreset("Turbo", True)
view.CameraPosition = [0.05, -0.1, 0.25]
view.CameraFocalPoint = [0.19, 0, 0]
view.CameraViewUp = [0, 0, 1]
SaveScreenshot("regions.png", view)
