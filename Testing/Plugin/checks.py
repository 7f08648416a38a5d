# SPDX-License-Identifier: BSD-3-Clause
"""Functions of the tests of the plugin: they load it, make a flow, and check lines and regions."""
import os
import sys

from paraview import servermanager, simple
from paraview.simple import *


def load_plugin(remote=False):
    """Loads the tested plugin. Returns the constructors of ParaView and of the plugin, by name."""
    LoadPlugin(os.environ["TRIBUTARY_PLUGIN"], remote=remote)
    return vars(simple)


def swirl(side=20):
    """A distributed uniform grid with the point vectors "swirl", (-y, x, 5)."""
    wavelet = Wavelet(WholeExtent=[-side, side, -side, side, -side, side])
    flow = Calculator(Input=wavelet, ResultArrayName="swirl",
                      Function="-coordsY*iHat + coordsX*jHat + 5*kHat")
    # The default length of the tracer needs the bounds, which are known after an update.
    flow.UpdatePipeline()
    return flow


def fetch(tracer):
    """All lines of all ranks as one vtkPolyData."""
    tracer.UpdatePipeline()
    return servermanager.Fetch(tracer)


def cell_values(lines, name):
    array = lines.GetCellData().GetArray(name)
    expect(array is not None, "the lines have a cell array " + name)
    return [array.GetTuple1(i) for i in range(lines.GetNumberOfCells())]


def check_swirl(lines, seeds):
    """Checks the lines of swirl() from `seeds` seeds in both directions: their number, their order by seed,
    and that they are on cylinders around the z axis."""
    expect(lines.GetNumberOfCells() == 2 * seeds,
           "2 x %d lines, not %d" % (seeds, lines.GetNumberOfCells()))
    ids = cell_values(lines, "SeedIds")
    expect(ids == sorted(ids), "lines are ordered by seed")
    expect(set(ids) == set(range(seeds)), "every seed has its lines")
    reasons = set(cell_values(lines, "ReasonForTermination"))
    expect(reasons <= {1, 4, 5}, "lines end at the border or a limit, not for %s" % reasons)
    points = 0
    for i in range(lines.GetNumberOfCells()):
        cell = lines.GetCell(i).GetPoints()
        points += cell.GetNumberOfPoints()
        radii = [(x * x + y * y) ** 0.5
                 for x, y, _ in map(cell.GetPoint, range(cell.GetNumberOfPoints()))]
        expect(max(radii) - min(radii) < 1e-3, "line %d stays at its radius: %g to %g"
               % (i, min(radii), max(radii)))
    expect(points == lines.GetNumberOfPoints() and points > 20 * seeds,
           "all %d points belong to lines and are many" % points)


def check_blob(connectivity):
    """Checks the only region of cells of a Wavelet with a point of at least 200: 2362 of 8000 cells."""
    connectivity.UpdatePipeline()
    information = connectivity.GetDataInformation(0)
    expect(information.GetNumberOfCells() >= 8000, "the input is kept")
    ids = connectivity.CellData["RegionId"]
    expect(ids is not None and ids.GetRange() == (-1.0, 0.0), "one region and the rest")
    table = connectivity.GetDataInformation(1)
    expect(table.GetNumberOfRows() == 1, "one row in the table, not %d" % table.GetNumberOfRows())
    cells = table.GetRowDataInformation().GetArrayInformation("Cells").GetComponentRange(0)
    expect(cells == (2362.0, 2362.0), "cells of the region: %s" % (cells,))


def expect(condition, what):
    if not condition:
        sys.exit("NOT TRUE: " + what)
