# SPDX-License-Identifier: BSD-3-Clause
"""Checks of the Python package that the plugin contains, wherever its script runs."""

import numpy as np
from checks import *
from paraview.simple import *
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkImagingCore import vtkRTAnalyticSource
from vtkmodules.vtkParallelCore import vtkMultiProcessController

LOW, HIGH = 30, 80


def cells_in_range(low, high, taken=np.any):
    """Of a Wavelet, whether any or all points of each cell are in a range, found here and in one piece."""
    wavelet = vtkRTAnalyticSource()
    wavelet.Update()
    values = vtk_to_numpy(wavelet.GetOutput().GetPointData().GetScalars()).reshape(21, 21, 21)
    corners = [slice(corner, corner + 20) for corner in (0, 1)]
    inside = (values >= low) & (values <= high)
    return taken([inside[k, j, i] for k in corners for j in corners for i in corners], axis=0)


def sizes_of_regions():
    """Of a Wavelet, the sizes of the regions of cells with a point in the range."""
    cells = cells_in_range(LOW, HIGH)
    labels, before = np.where(cells, np.arange(8000).reshape(20, 20, 20), 8000), None
    shifts = [slice(shift, shift + 20) for shift in (0, 1, 2)]
    while not np.array_equal(labels, before):
        before, padded = labels, np.pad(labels, 1, constant_values=8000)
        least = np.min([padded[k, j, i] for k in shifts for j in shifts for i in shifts], axis=0)
        labels = np.where(cells, least, 8000)
    return sorted(np.unique(labels[cells], return_counts=True)[1])


def expect_error(part, function, *arguments):
    """The function raises a ValueError whose text contains the part."""
    try:
        function(*arguments)
    except ValueError as error:
        expect(part in str(error), f"the error: {error}")
    else:
        expect(False, f"an error with the text: {part}")


def check_tables(tributary, names, ranks):
    """Rows of all ranks, typed, by region; texts; field data with a value for each rank."""
    blobs = names["AsyncConnectivity"](
        Input=Wavelet(), ScalarConnectivity=1, ScalarRange=[LOW, HIGH], Scalars=["POINTS", "RTData"])
    table = tributary.table(blobs, "Region Table")
    expect(sorted(table["Cells"]) == sizes_of_regions(), f"sizes of regions: {table['Cells']}")
    expect(table["Cells"].dtype.kind == "i" and table["Measure"].dtype == float, f"types: {table.dtype}")
    expect(list(table["RegionId"]) == list(range(len(table))), f"order of rows: {table['RegionId']}")
    expect(np.array_equal(table, tributary.table(blobs, 1)), "a port by number is the one by name")
    expect(np.allclose(table["Measure"], table["Cells"]), "cells have a volume of 1")
    for port in ("Regions", 7, -1):
        expect_error("Output, Region Table", tributary.table, blobs, port)
    expect_error("no table", tributary.table, blobs, 0)
    lines = tributary.text(table[["RegionId", "Cells"]]).splitlines()
    expect([line.split() for line in lines[1:]] == [[str(v) for v in row] for row in table[["RegionId", "Cells"]]],
           f"the table as text: {lines}")
    blobs.ScalarRange = [1000, 2000]
    expect(len(tributary.table(blobs, 1)) == 0, "a table without rows")
    tracker = names["AsyncFeatureTracker"](
        Input=Wavelet(), ScalarConnectivity=1, ScalarRange=[LOW, HIGH], Scalars=["POINTS", "RTData"])
    events = tributary.table(tracker, "Events", 0)
    expect(set(events["Event"]) == {"Birth"} and len(events) == len(table), f"events: {events}")

    tracer = names["AsyncStreamTracer"](Input=swirl(), SeedType="Line", Vectors=["POINTS", "swirl"])
    tracer.SeedType.Point1, tracer.SeedType.Point2, tracer.SeedType.Resolution = [2, 0, 0], [15, 0, 0], 12
    statistics = tributary.statistics(tracer)
    expect({len(values) for values in statistics.values()} == {ranks}, f"a value for each rank: {statistics}")
    expect(statistics["Lines"].sum() == 26, f"lines: {statistics['Lines']}")
    expect(tributary.text(statistics).splitlines()[0].split() == ["rank", *map(str, range(ranks))], "a head of ranks")
    grid = HyperTreeGridRandom()
    cells = tributary.statistics(names["AsyncConnectivity"](Input=grid))
    expect(len(cells["Messages"]) == ranks, f"of a hyper tree grid, a value for each rank: {cells}")
    return tracer


def check_charts(tributary, tracer):
    """The first rank that runs the script has the seconds, of a filter and of its file."""
    first = vtkMultiProcessController.GetGlobalController().GetLocalProcessId() == 0
    picture = os.path.join(os.environ["TRIBUTARY_OUTPUT"], "gantt.svg")
    for source in (tracer, picture.replace(".svg", ".json")):
        rows = tributary.gantt(source, picture)
        expect((rows is not None) == first, f"seconds of {source} on the first rank alone: {rows}")
    expect_error("Wavelet has no property Timeline File", tributary.gantt, Wavelet(), picture)


def check_comparison(tributary, names, tracer, symmetric):
    """Sizes are those of the filters, each executed here."""
    both = tributary.compare(tracer)
    expect(list(both["Filter"]) == ["Async Stream Tracer", "Stream Tracer"], f"names: {both}")
    expect(both["Cells"][0] == 26 and (both["Seconds"] > 0).all(), f"lines and seconds: {both}")
    points = tributary.statistics(tracer)["LinePoints"].sum()
    expect(both["Points"][0] == points, f"{points} points: {both}")
    if not symmetric:  # each rank would be told its own size
        seeds = Line(Point1=[2, 0, 0], Point2=[15, 0, 0], Resolution=12)
        own = StreamTracerWithCustomSource(Input=tracer.Input, SeedSource=seeds, Vectors=["POINTS", "swirl"])
        own.UpdatePipeline()
        size = own.GetDataInformation()
        expect((both["Cells"][1], both["Points"][1]) == (size.GetNumberOfCells(), size.GetNumberOfPoints()),
               f"lines of Stream Tracer: {both}, not {size.GetNumberOfPoints()} points")
    blob = names["AsyncConnectivity"](
        Input=Wavelet(), ScalarConnectivity=1, ScalarRange=[200, 1000], Scalars=["POINTS", "RTData"])
    for full, taken in enumerate((np.any, np.all)):
        blob.FullScalarConnectivity = full
        both, cells = tributary.compare(blob), np.count_nonzero(cells_in_range(200, 1000, taken))
        expect(both["Cells"][1] == cells, f"{cells} cells of Connectivity behind Threshold: {both}")
    if symmetric:
        from mpi4py import MPI

        expect(len(set(MPI.COMM_WORLD.allgather(tuple(both["Seconds"])))) == 1, f"of all ranks the same: {both}")
    blob.ScalarRange = [200, 250, 260, 1000]
    expect_error("one Scalar Range", tributary.compare, blob)
    fill = names["AsyncHarmonicFill"](Input=Wavelet())
    expect_error("no counterpart of Async Harmonic Fill", tributary.compare, fill)
    both = tributary.compare(fill, Wavelet())
    expect(list(both["Filter"]) == ["Async Harmonic Fill", "Wavelet"], f"names: {both}")
