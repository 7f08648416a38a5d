# SPDX-License-Identifier: BSD-3-Clause
"""Periodic axes that the data do not have: one message on one rank that names the property and the cure, no hang,
and a filter that works again.

Every rank runs this script (pvbatch --sym).
"""

import check
import numpy as np
from torus import Lines, Torus, in_time
from unsteady import COMM, Paths, seeds
from vtkmodules.vtkCommonDataModel import vtkImageData, vtkMultiBlockDataSet

COUNT = 12
NAN, INFINITY = float("nan"), float("inf")


def field(x, y, z):
    return {"velocity": (1 + 0.5 * np.cos(np.pi * x / 6), 0.3 * np.sin(np.pi * y / 6), 0 * z), "tracer": x + y + z}


def grid(doubled=(0, 0, 0), columns=None):
    columns = columns or [np.arange(COUNT), np.arange(COUNT), np.arange(4)]
    return Torus(columns, (COUNT, COUNT, 0), field, doubled)


def count(proxy):
    """The number of lines, or None."""
    return len(Lines(proxy).ids) or None


def particles(proxy):
    return len(Paths(proxy, 1.0).ids) or None


def two_grids():
    """Two grids side by side, and a gap after the second one."""
    data = vtkMultiBlockDataSet()
    for number, begin in enumerate((0, 6)):
        if number % COMM.size == COMM.rank:
            columns = [0.5 * np.arange(13) if begin == 0 else 6 + np.arange(6), np.arange(COUNT), np.arange(4)]
            data.SetBlock(number, grid(columns=columns).piece((0, 0, 0), [len(c) - 1 for c in columns], False))
    return data


def of_cells(data):
    """Cell vectors instead of point vectors."""
    for i in range(data.GetNumberOfPartitions()):
        piece = data.GetPartition(i)
        array = piece.GetPointData().GetArray("velocity").NewInstance()
        array.SetName("velocity")
        array.SetNumberOfComponents(3)
        array.SetNumberOfTuples(piece.GetNumberOfCells())
        array.Fill(1)
        piece.GetCellData().AddArray(array)
        piece.GetPointData().RemoveArray("velocity")
    return data


def short(name, number):
    """Two pieces along x, of which one has too few values."""
    pieces = grid().pieces(cuts=(2, 1, 1))
    for n in range(pieces.GetNumberOfPartitions()):
        piece = pieces.GetPartition(n)
        if (piece.GetExtent()[0] == 0) == (number == 0):
            array = piece.GetPointData().GetArray(name)
            array.SetNumberOfTuples(5)
    return pieces


def rotated():
    image = grid((1, 1, 0)).piece((0, 0, 0), (COUNT, COUNT, 3), True) if COMM.rank == 0 else vtkImageData()
    if COMM.rank == 0:
        image.SetDirectionMatrix(0.0, 1.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0, 1.0)
    return check.held(image, [0, COUNT, 0, COUNT, 0, 3])


def main():
    cases = check.Refusals("vtkAsyncStreamTracer", count)
    starts = seeds([[3.0, 4.0, 1.0], [5.0, 6.0, 2.0]])
    data = grid().source(cuts=(3, 1, 1))
    forward = {"IntegrationDirection": "FORWARD", "MaximumStreamlineLength": 4.0}
    lines = check.tracer(data, starts, Periodic=[1, 0, 0], Period=[COUNT, 0, 0], **forward)
    cases.cured("a period", lines, 2)
    cases.properties(lines, 2, (
        ("Period", [-12.0, 0, 0], [COUNT, 0, 0], ("Period is -12 along X", "positive")),
        ("Period", [COUNT, NAN, 0], [COUNT, 0, 0], ("Period is nan along Y", "positive")),
        ("Period", [INFINITY, 0, 0], [COUNT, 0, 0], ("Period is inf along X", "positive")),
        ("Period", [10.5, 0, 0], [COUNT, 0, 0], ("Period is 10.5 along X", "11 long", "or to 0")),
        ("Period", [13.5, 0, 0], [COUNT, 0, 0], ("Period is 13.5 along X", "distance of 2.5", "twice the widest cell")),
        ("Period", [36.0, 0, 0], [11.5, 0, 0], ("Period is 36 along X", "shorter")),
        ("Period", [0.0, 0, 0], [COUNT, 0, 0], ("Period is 0 along X", "set it to 12", "or to 11")),
        ("Period", [0.0, 0, 0], [11.0, 0, 0], ("Period is 0 along X", "first column")),
    ))
    check.delete(lines, data)

    def refused(name, data, words, vectors=("POINTS", "velocity"), bad=None, good=None):
        lines = check.tracer(data, starts, Vectors=list(vectors), **forward)
        for property_name, value in (bad or {"Periodic": [1, 0, 0], "Period": [COUNT, 0, 0]}).items():
            setattr(lines, property_name, value)
        cases.refused(name, lines, words)
        for property_name, value in (good or {"Periodic": [0, 0, 0], "Period": [0, 0, 0]}).items():
            setattr(lines, property_name, value)
        cases.cured(name, lines, 2)
        check.delete(lines, data)

    refused("two grids", check.held(two_grids()), ("Period is 12 along X", "single uniform or rectilinear grid"))
    refused("cell vectors", check.held(of_cells(grid().pieces(cuts=(2, 1, 1)))), ("Period is 12 along X", "point data"),
            ("CELLS", "velocity"), good={"Period": [0, 0, 0]})
    for mesh in ("structured", "tetrahedra"):
        some = check.held(check.flows.build(COMM.rank, COMM.size, flow="abc", mesh=mesh, size=6, jitter=0.0))
        refused(mesh, some, ("Period is 7.5 along Y", "single uniform or rectilinear grid"),
                bad={"Periodic": [0, 1, 0], "Period": [0, 7.5, 0]}, good={"Period": [0, 0, 0]})
    decreasing = grid(columns=[np.arange(COUNT), np.arange(COUNT)[::-1], np.arange(4)]).source(uniform=False)
    refused("a decreasing axis", decreasing, ("Period is 0 along X", "last column differs", "set it to 12"),
            bad={"Periodic": [1, 0, 0], "Period": [0, 0, 0]}, good={"Period": [COUNT, 0, 0]})
    for number in (0, 1):
        some = check.held(short("velocity", number))
        lines = check.tracer(some, starts, Periodic=[1, 0, 0], **forward)
        cases.refused(f"a short array in piece {number}", lines, ('"velocity" has 5 tuples', "points; remove it"))
        check.delete(lines, some)
    flat = Torus([np.arange(COUNT), np.arange(COUNT), [0.0]], (COUNT, COUNT, 0), field).source()
    where = seeds([[3.0, 4.0, 0.0], [5.0, 6.0, 0.0]])
    lines = check.tracer(flat, where, Periodic=[0, 0, 1], **forward)
    cases.refused("flat", lines, ("Periodic is on along Z", "flat", "set it to 0"))
    lines.Periodic = [0, 0, 0]
    cases.cured("flat", lines, 2)
    check.delete(lines, flat, where)
    some = rotated()
    lines = check.tracer(some, starts, Periodic=[1, 0, 0], **forward)
    cases.refused("a direction matrix", lines, ("Periodic is on", "direction matrix", "set Periodic to 0"))
    check.delete(lines, some)
    # The seeds alone, without a data set on any rank.
    nothing = check.held(vtkMultiBlockDataSet())
    lines = check.tracer(nothing, starts, Periodic=[1, 0, 0], Period=[COUNT, 0, 0], **forward)
    cases.refused("no data", lines, ("no block of the input",))
    check.delete(lines, nothing)

    moving = check.Refusals("vtkAsyncPathTracer", particles)

    def make(time):
        columns = [np.arange(COUNT) * (1 + 0.25 * time), np.arange(COUNT), np.arange(4)]
        return grid((1, 0, 0), None if time == 0 else columns).pieces()

    data = in_time(make, [0.0, 1.0])
    tracer = check.paths(data, starts, Periodic=[1, 0, 0])
    moving.refused("a period that changes", tracer, ("Periodic is on along X", "at the time 0", "set it to 0"))
    tracer.Periodic = [0, 0, 0]
    moving.cured("a period that changes", tracer, 2)
    check.delete(tracer, data)

    # Vectors that all pieces, or one of them, lack at the second step.
    for name, cuts, lacks, words in (
            ("no vectors at one time", (1, 2, 1), lambda extent: True, ("no block of the input", "at the time 1")),
            ("a piece of rows without vectors", (1, 2, 1), lambda extent: extent[2] > 0,
             ("blocks of the input lack the vectors at the time 1", "none does at the time 0")),
            ("a piece of columns without vectors", (2, 1, 1), lambda extent: extent[0] > 0,
             ("blocks of the input lack the vectors at the time 1", "none does at the time 0"))):
        def make(time):
            pieces = grid().pieces(cuts=cuts)
            for n in range(pieces.GetNumberOfPartitions()):
                if time == 1 and lacks(pieces.GetPartition(n).GetExtent()):
                    pieces.GetPartition(n).GetPointData().RemoveArray("velocity")
            return pieces

        data = in_time(make, [0.0, 1.0])
        tracer = check.paths(data, starts)
        # The same with and without periods.
        for periodic, period in (([0, 0, 0], [0, 0, 0]), ([1, 0, 0], [COUNT, 0, 0])):
            tracer.Periodic, tracer.Period = periodic, period
            moving.refused(f"{name}, {periodic}", tracer, (*words, "with Vectors"))
        check.delete(tracer, data)
    check.delete(starts)
    failures = cases.failures + moving.failures
    assert not failures, "\n  " + "\n  ".join(failures)


if __name__ == "__main__":
    check.run(__file__)
