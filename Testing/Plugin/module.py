# SPDX-License-Identifier: BSD-3-Clause
"""Checks of the Python package that the plugin contains, wherever its script runs."""

import numpy as np
from checks import *
from paraview.simple import *
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkImagingCore import vtkRTAnalyticSource

LOW, HIGH = 30, 80


def sizes_of_regions():
    """Of a Wavelet, the sizes of the regions of cells with a point in the range, found here and in one piece."""
    wavelet = vtkRTAnalyticSource()
    wavelet.Update()
    values = vtk_to_numpy(wavelet.GetOutput().GetPointData().GetScalars()).reshape(21, 21, 21)
    corners = [slice(corner, corner + 20) for corner in (0, 1)]
    inside = (values >= LOW) & (values <= HIGH)
    cells = np.any([inside[k, j, i] for k in corners for j in corners for i in corners], axis=0)
    labels, before = np.where(cells, np.arange(8000).reshape(20, 20, 20), 8000), None
    shifts = [slice(shift, shift + 20) for shift in (0, 1, 2)]
    while not np.array_equal(labels, before):
        before, padded = labels, np.pad(labels, 1, constant_values=8000)
        least = np.min([padded[k, j, i] for k in shifts for j in shifts for i in shifts], axis=0)
        labels = np.where(cells, least, 8000)
    return sorted(np.unique(labels[cells], return_counts=True)[1])


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
    size = tracer.GetDataInformation()
    expect({len(values) for values in statistics.values()} == {ranks}, f"a value for each rank: {statistics}")
    expect(statistics["Lines"].sum() == size.GetNumberOfCells() == 26, f"lines: {statistics['Lines']}")
    expect(statistics["LinePoints"].sum() == size.GetNumberOfPoints(), f"points: {statistics['LinePoints']}")
    expect(tributary.text(statistics).splitlines()[0].split() == ["rank", *map(str, range(ranks))], "a head of ranks")
    return tracer


def check_comparison(tributary, names, tracer):
    """Sizes are those of the filters, each executed here."""
    both = tributary.compare(tracer)
    expect(list(both["Filter"]) == ["Async Stream Tracer", "Stream Tracer"], f"names: {both}")
    expect(both["Cells"][0] == 26 and (both["Seconds"] > 0).all(), f"lines and seconds: {both}")
    seeds = Line(Point1=[2, 0, 0], Point2=[15, 0, 0], Resolution=12)
    own = StreamTracerWithCustomSource(Input=tracer.Input, SeedSource=seeds, Vectors=["POINTS", "swirl"])
    own.UpdatePipeline()
    size = own.GetDataInformation()
    expect((both["Cells"][1], both["Points"][1]) == (size.GetNumberOfCells(), size.GetNumberOfPoints()),
           f"lines of Stream Tracer: {both}, not {size.GetNumberOfPoints()} points")
    blob = names["AsyncConnectivity"](
        Input=Wavelet(), ScalarConnectivity=1, ScalarRange=[200, 1000], Scalars=["POINTS", "RTData"])
    both = tributary.compare(blob)
    expect(both["Cells"][1] == 2362, f"cells of Connectivity behind Threshold: {both}")
    fill = names["AsyncHarmonicFill"](Input=Wavelet())
    try:
        tributary.compare(fill)
        expect(False, "a counterpart of Async Harmonic Fill")
    except ValueError as error:
        expect("no counterpart of Async Harmonic Fill" in str(error), f"the error: {error}")
    both = tributary.compare(fill, Wavelet())
    expect(list(both["Filter"]) == ["Async Harmonic Fill", "Wavelet"], f"names: {both}")
