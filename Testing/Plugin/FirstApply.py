# SPDX-License-Identifier: BSD-3-Clause
"""What users see during and after the first Apply: the progress of all steps, outputs colored by the array that the
filter has computed, no statistics among the colors, no views of tables, whose columns and files are the same on any
number of ranks."""
import csv
import os

import check
from checks import *

OUTPUT = os.environ["TRIBUTARY_OUTPUT"]
controller = servermanager.vtkSMParaViewPipelineControllerWithRendering()


def colors(source, port, view):
    """What ParaView colors an output by when it shows it first, and all arrays that it offers."""
    shown = Show(OutputPort(source, port), view)
    offered = shown.SMProxy.GetProperty("ColorArrayName").GetDomain("array_list")
    names = {offered.GetString(i) for i in range(offered.GetNumberOfStrings())}
    return tuple(shown.ColorArrayName), names


def check_colors(name, source, expected, view):
    """expected: the color of each output that is no table."""
    for port, color in expected.items():
        found, offered = colors(source, port, view)
        expect(found == color, f"{name}: port {port} is colored by {found}")
        expect(color[1] in offered, f"{name}: {color[1]} is not among {offered}")
        added = {one for one in offered if one.startswith(("Async", "NumberOf", "Iterations", "FilledArrays"))}
        expect(not added, f"{name}: {added} are offered for coloring")


def check_tables(name, source, tables, view):
    """tables: for each port of a table its columns. Empty tables have them, too."""
    for port, columns in tables.items():
        shown = controller.ShowInPreferredView(source.SMProxy, port, view.SMProxy)
        expect(shown is None, f"{name}: the table of port {port} opens a view")
        table = source.GetClientSideObject().GetOutputDataObject(port)
        found = [table.GetColumnName(c) for c in range(table.GetNumberOfColumns())]
        expect(found == sorted(columns), f"{name}: port {port} has the columns {found}")
        expect(all(table.GetColumn(c).GetNumberOfComponents() == 1 for c in range(len(found))), f"{name}: vectors")


def check_file(name, source, port):
    """A file has the columns of the table, which views show in the same order, and all rows."""
    path = os.path.join(OUTPUT, f"{name}.csv")
    SaveData(path, OutputPort(source, port))
    table = source.GetClientSideObject().GetOutputDataObject(port)
    names = [table.GetColumnName(c) for c in range(table.GetNumberOfColumns())]
    with open(path, newline="") as file:
        header, *rows = csv.reader(file)
    expect(header == names, f"{name}: the file has the columns {header}")
    count = source.GetDataInformation(port).GetNumberOfRows()
    expect(len(rows) == count > 0, f"{name}: {len(rows)} rows of {count}")


def check_points(source, port):
    """Table To Points takes the centroids."""
    points = TableToPoints(Input=OutputPort(source, port), XColumn="CentroidX", YColumn="CentroidY", ZColumn="CentroidZ")
    points.UpdatePipeline()
    rows = source.GetDataInformation(port).GetNumberOfRows()
    expect(points.GetDataInformation().GetNumberOfPoints() == rows, "a point of each row")
    low, high = points.GetDataInformation().GetBounds()[:2]
    expect(-10 <= low < high <= 10, f"points from {low} to {high}")


VECTORS = {stem: {stem + axis for axis in "XYZ"} for stem in ("BoundsMin", "BoundsMax", "Centroid", "Velocity")}
PLACE = VECTORS["BoundsMin"] | VECTORS["BoundsMax"] | VECTORS["Centroid"]
REGIONS = {"RegionId", "Cells", "Points", "Measure"} | PLACE
FEATURES = REGIONS | VECTORS["Velocity"] | {"TrackId", "Step", "Time", "FirstStep", "Speed"}
EVENTS = VECTORS["Centroid"] | {"Step", "Time", "Event", "TrackId", "RegionId", "Parts"}
EDGES = {"Step", "Time", "Kind", "TrackBefore", "TrackAfter", "RegionBefore", "RegionAfter", "Overlap", "Fraction"}
HISTORY = {"Step", "Time", "Substep", "Iterations", "Seconds", "Residual", "Verified"}


def check_regions(data, view):
    """Of data with point scalars, which would color it otherwise; alone and in blocks."""
    choice = {"ScalarConnectivity": 1, "Scalars": ["POINTS", "RTData"], "ScalarRange": [37, 80]}
    for name, input_ in (("regions", data), ("blocks", GroupDatasets(Input=data))):
        regions = check.connectivity(input_, **choice)
        check_colors(name, regions, {0: ("CELLS", "RegionId")}, view)
        check_tables(name, regions, {1: REGIONS}, view)
        check_file(name, regions, 1)
        check_points(regions, 1)
    regions.ScalarRange = [1e6, 2e6]
    regions.UpdatePipeline()
    check_tables("no regions", regions, {1: REGIONS}, view)


def check_tracks(data, view):
    """At the first step, without rows of events and edges."""
    tracks = check.tracked(data, ScalarConnectivity=1, Scalars=["POINTS", "RTData"], ScalarRange=[37, 80])
    check_colors("tracks", tracks, {0: ("CELLS", "TrackId"), 1: ("CELLS", "TrackId")}, view)
    check_tables("tracks", tracks, {2: FEATURES, 3: EVENTS, 4: EDGES}, view)
    check_file("tracks", tracks, 2)
    whole = tracks.GetDataInformation(0).GetNumberOfCells()
    tracks.ExtractRegions = 1
    tracks.UpdatePipeline()
    parts = tracks.GetDataInformation(0)
    cells = tracks.GetDataInformation(2).GetRowDataInformation().GetArrayInformation("Cells")
    expect(parts.GetDataClassName() == "vtkUnstructuredGrid", "extracted cells are unstructured")
    expect(cells.GetComponentRange(0)[1] < parts.GetNumberOfCells() < whole, "the cells of regions")
    least = parts.GetCellDataInformation().GetArrayInformation("TrackId").GetComponentRange(0)[0]
    expect(least == 0, f"the least track of extracted cells is {least}")
    check_colors("extracted tracks", tracks, {0: ("CELLS", "TrackId")}, view)


def between(data, low, high):
    """The cells with a point in a range of RTData, as an unstructured grid."""
    cells = Threshold(Input=data)
    cells.Scalars = ["POINTS", "RTData"]
    cells.LowerThreshold, cells.UpperThreshold, cells.AllScalars = low, high, 0
    return cells


def check_grids(data, view):
    """Flat ones: ParaView shows the outline of others at first, in no color."""
    flow = Calculator(Input=data, ResultArrayName="flow", Function="iHat + jHat")
    carried = check.carried(flow, Velocity=["POINTS", "flow"], TimeStep=0.1, SourceType="Sphere", SourceRadius=5)
    check_colors("carried", carried, {0: ("CELLS", "Concentration")}, view)
    check_tables("carried", carried, {1: HISTORY}, view)
    filled = check.filled(ResampleToImage(Input=between(data, 200, 250), SamplingDimensions=[40, 40, 1]))
    check_colors("filled", filled, {0: ("POINTS", "RTData")}, view)
    counts = filled.FieldData["FilledValues"].GetRange()
    expect(counts[0] > 100, f"{counts} points outside of the cells are filled")
    ftle = check.flow_map(flow, Vectors=["POINTS", "flow"])
    check_colors("FTLE", ftle, {0: ("POINTS", "FTLE")}, view)


def check_lines(data, view):
    """As ParaView's Stream Tracer."""
    flow = Calculator(Input=data, ResultArrayName="velocity", Function="iHat + jHat")
    flow.UpdatePipeline()  # lengths of lines are fractions of that of the data
    seeds = {"SeedType": "Line"}
    wanted, _ = colors(StreamTracer(Input=flow, Vectors=["POINTS", "velocity"], **seeds), 0, view)
    found, _ = colors(check.cloud_tracer(flow, **seeds), 0, view)
    expect(found == wanted, f"lines are colored by {found}, those of ParaView by {wanted}")


def progress(proxy, when):
    """What a filter tells of itself during an update: texts and shares."""
    told, algorithm = [], proxy.GetClientSideObject()
    algorithm.AddObserver("ProgressEvent", lambda one, _: told.append((one.GetProgressText(), one.GetProgress())))
    proxy.UpdatePipeline(when)
    return [text for text, _ in told], [share for _, share in told]


def check_progress(data):
    """Of all steps up to the requested time, with the name of the filter."""
    flow = Calculator(Input=data, ResultArrayName="flow", Function="iHat + jHat")
    carried = check.carried(flow, Velocity=["POINTS", "flow"], SourceType="Sphere", SourceRadius=5, TimeStep=1,
                            NumberOfSteps=6)
    carried.UpdatePipelineInformation()
    tracks = check.tracked(carried, ScalarConnectivity=1, Scalars=["CELLS", "Concentration"], ScalarRange=[0.1, 100])
    for name, proxy in (("Async Convection Diffusion", carried), ("Async Feature Tracker", tracks)):
        texts, shares = progress(proxy, 6.0)
        expect(set(texts) == {name}, f"{name} is called {texts}")
        expect(shares == sorted(shares) and shares[-1] == 1, f"{name} goes on from step to step: {shares}")
        expect(name != "Async Feature Tracker" or len(set(shares)) > 3, f"{name} has no progress: {shares}")


def main():
    check.load_plugin()
    view = CreateRenderView()
    mesh = between(Wavelet(), -1e9, 1e9)
    check_regions(mesh, view)
    check_tracks(mesh, view)
    flat = Wavelet(WholeExtent=[-10, 10, -10, 10, 0, 0])
    check_grids(flat, view)
    check_lines(flat, view)
    check_progress(flat)


if __name__ == "__main__":
    check.run(__file__)
