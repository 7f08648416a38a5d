# SPDX-License-Identifier: BSD-3-Clause
"""The plugin in pvbatch: proxies trace lines and find regions, also after a change of a property, and after
their state was saved and loaded."""
import os

from checks import *

names = load_plugin()
flow = swirl()

# Seed Type: the same sources as those of ParaView's Stream Tracer.
tracer = names["AsyncStreamTracer"](Input=flow, SeedType="Line")
tracer.Vectors = ["POINTS", "swirl"]
tracer.SeedType.Point1 = [2, 0, 0]
tracer.SeedType.Point2 = [15, 0, 0]
tracer.SeedType.Resolution = 12
check_swirl(fetch(tracer), 13)

# The default seed is in the data.
default = names["AsyncStreamTracer"](Input=flow, SeedType="Point Cloud")
default.Vectors = ["POINTS", "swirl"]
default.SeedType.NumberOfPoints = 20
expect(fetch(default).GetNumberOfCells() == 40, "20 seeds at random give 40 lines")

# A changed property takes effect: one direction, then both again.
tracer.IntegrationDirection = "FORWARD"
expect(fetch(tracer).GetNumberOfCells() == 13, "one direction gives one line a seed")
tracer.IntegrationDirection = "BOTH"
tracer.JoinDirections = 1
joined = fetch(tracer)
expect(joined.GetNumberOfCells() == 13, "joined directions give one line a seed")
tracer.JoinDirections = 0

# Seeds from the pipeline, one of them outside.
points = ProgrammableSource(Script="""
from vtkmodules.vtkCommonCore import vtkPoints
if self.GetExecutive().GetOutputInformation(0).Get(
        vtk.vtkStreamingDemandDrivenPipeline.UPDATE_PIECE_NUMBER()) in (0, None):
    points = vtkPoints()
    for x in (3, 5, 1000):
        points.InsertNextPoint(x, 0, 0)
    output.VTKObject.SetPoints(points)
""")
custom = names["AsyncStreamTracerWithCustomSource"](Input=flow, SeedSource=points)
custom.Vectors = ["POINTS", "swirl"]
custom.ReportRejectedSeeds = 1
lines = fetch(custom)
expect(set(cell_values(lines, "SeedIds")) == {0, 1}, "the seed outside has no line")

# A velocity in components, in data without vectors.
parts = Wavelet(WholeExtent=[-20, 20, -20, 20, -20, 20])
for name, function in (("u", "-coordsY"), ("v", "coordsX"), ("w", "5")):
    parts = Calculator(Input=parts, ResultArrayName=name, Function=function)
parts.UpdatePipeline()
split = names["AsyncStreamTracer"](Input=parts, SeedType="Line", VelocityForm="Components")
split.SeedType.Point1 = [2, 0, 0]
split.SeedType.Point2 = [15, 0, 0]
split.SeedType.Resolution = 12
expect(split.ZComponent[1] == "None", "the third component is none by default: %s" % split.ZComponent)
split.XComponent = ["POINTS", "u"]
split.YComponent = ["POINTS", "v"]
flat = fetch(split)
expect(flat.GetNumberOfCells() == 26 and flat.GetBounds()[4:] == (0.0, 0.0), "without the third one, lines are flat")
split.ZComponent = ["POINTS", "w"]
check_swirl(fetch(split), 13)
RenameSource("split", split)

# Only the table is requested: each rank still has only its piece of the input.
data = Wavelet()
table = ProgrammableFilter(
    Input=OutputPort(names["AsyncConnectivity"](Input=data, ScalarConnectivity=1,
                                                ScalarRange=[200, 1000],
                                                Scalars=["POINTS", "RTData"]), 1),
    OutputDataSetType="vtkTable", Script="output.ShallowCopy(inputs[0].VTKObject)")
table.UpdatePipeline()
cells = table.GetDataInformation().GetRowDataInformation().GetArrayInformation("Cells")
expect(cells.GetComponentRange(0) == (2362.0, 2362.0),
       "cells of a table asked for by itself: %s" % (cells.GetComponentRange(0),))

# Regions, also after a change of the range.
blob = names["AsyncConnectivity"](Input=Wavelet(), ScalarConnectivity=1, ScalarRange=[200, 1000],
                                  Scalars=["POINTS", "RTData"])
check_blob(blob)
blob.ScalarRange = [1000, 2000]
blob.UpdatePipeline()
expect(blob.CellData["RegionId"].GetRange() == (-1.0, -1.0), "no region out of all values")
blob.ScalarRange = [200, 1000]
check_blob(blob)
RenameSource("blob", blob)

# A saved and loaded state gives the same results.
state = os.path.join(os.environ["TRIBUTARY_OUTPUT"], "trace-%d.pvsm" % os.getpid())
tracer.StallTimeout = 77
RenameSource("kept", tracer)
before = fetch(tracer)
SaveState(state)
ResetSession()
names = load_plugin()
LoadState(state)
os.remove(state)
again = FindSource("kept")
expect(again is not None and again.StallTimeout == 77, "the state keeps properties")
after = fetch(again)
check_swirl(after, 13)
check_blob(FindSource("blob"))
split = FindSource("split")
expect([split.XComponent[1], split.YComponent[1], split.ZComponent[1]] == ["u", "v", "w"], "the state keeps components")
check_swirl(fetch(split), 13)
for i in range(before.GetNumberOfPoints()):
    expect(before.GetPoint(i) == after.GetPoint(i), "point %d is the same after loading" % i)
print("passed")
