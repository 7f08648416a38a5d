# SPDX-License-Identifier: BSD-3-Clause
"""Crossings of events: formulas, one answer for all cuts, and Poincare maps without lines.

Writes the hashes of lines and crossings to hashes.json; CompareHashes.py compares them between numbers of ranks.
"""

import numpy as np

import check
import crossings
from check import flows
from paraview import servermanager

ANGLE = "angle origin (0, 0, 0), axis (0, 0, 1), from (1, 0, 0), degrees {}"


def arrays_of(tracer, port):
    """The names of the point arrays of an output on this rank, also of an empty one."""
    tracer.UpdatePipeline()
    return set(check.arrays(tracer.GetClientSideObject().GetOutputDataObject(port).GetPointData()))


def circles():
    """Rigid rotation: angle and time are one, and positions follow from the seeds."""
    data = flows.source(flow="rotation", mesh="image", size=21, dtype="float64")
    seeds = flows.seeds(40, (-0.6, 0.6, -0.6, 0.6, -0.9, 0.9))
    turns = 5
    lines = check.tracer(
        data, seeds, MaximumStreamlineLength=100.0, MaximumIntegrationTime=2 * np.pi * turns,
        MaximumSteps=100000, MaximumError=1e-11, IntegrationDirection="FORWARD",
    )
    lines.Events = [
        ANGLE.format(120), "plane origin 0 0 0 normal 0 1 0 positive", "sphere center 0.5 0 0 radius 0.3",
        "box lower -0.2 -0.3 -0.5 upper 0.4 0.3 0.5 negative", "length 1.5", "time 2.5",
    ]
    found, out = crossings.fetched(lines), check.Lines(check.fetch(lines))
    names = {"velocity", "IntegrationTime", "Vorticity", "AngularVelocity", "ArcLength", "EventId", "CrossingNumber",
             "SeedIds"}
    assert names <= set(found.data), f"arrays {sorted(found.data)}"
    assert not {"Rotation", "Normals"} & set(found.data), f"arrays {sorted(found.data)}"
    assert set(out.cell_data["EventId"].tolist()) == {-1}
    x, time = found.points, found.data["IntegrationTime"]
    velocity = np.stack([-x[:, 1], x[:, 0], 0 * x[:, 2]], axis=1)
    assert abs(found.data["velocity"] - velocity).max() < 1e-12, "velocity at the crossings"
    assert abs(found.data["Vorticity"] - [0.0, 0.0, 2.0]).max() < 1e-9, "vorticity at the crossings"
    order = np.lexsort((time, found.data["SeedIds"]))
    assert (order == np.arange(found.count)).all(), "not ordered by seed and time"
    for index in range(out.count):
        line, seed = out.line(index), out.cell_data["SeedIds"][index]
        start = out.points[line[0]].astype(float)
        radius, phase = np.hypot(*start[:2]), np.arctan2(start[1], start[0])
        at = phase + time
        place = np.stack([radius * np.cos(at), radius * np.sin(at)], axis=1)
        here = found.of(SeedIds=seed)
        assert abs(x[here][:, :2] - place[here]).max() < 1e-6, f"line {index} leaves its circle"
        assert abs(found.data["ArcLength"][here] - radius * time[here]).max() < 1e-6, f"length of line {index}"
        for event, angle in ((0, 2 * np.pi / 3), (1, 0.0)):
            mine = found.of(SeedIds=seed, EventId=event)
            expected = (angle - phase) % (2 * np.pi) + 2 * np.pi * np.arange(turns)
            assert mine.sum() == turns, f"line {index}: {mine.sum()} crossings of event {event}"
            assert abs(time[mine] - expected).max() < 1e-6, f"line {index}, event {event}: {time[mine]}"
            assert found.data["CrossingNumber"][mine].tolist() == [1, 2, 3, 4, 5]
        for event, value in ((4, found.data["ArcLength"] - 1.5), (5, time - 2.5)):
            mine = found.of(SeedIds=seed, EventId=event)
            assert mine.sum() == (radius * 2 * np.pi * turns > 1.5 if event == 4 else 1), f"event {event}"
            assert not mine.any() or abs(value[mine]).max() < 1e-12, f"event {event} of line {index}"
        # A circle that meets the sphere in two points enters and leaves it once a turn.
        cosine = (radius**2 + start[2] ** 2 + 0.25 - 0.09) / radius
        mine = found.of(SeedIds=seed, EventId=2)
        if abs(abs(cosine) - 1) > 1e-2:
            assert mine.sum() == (2 * turns if abs(cosine) < 1 else 0), f"line {index}: {mine.sum()} at the sphere"
    sphere, box = found.of(EventId=2), found.of(EventId=3)
    assert sphere.sum() > 40 and box.sum() > 40
    assert abs(np.linalg.norm(x[sphere] - [0.5, 0, 0], axis=1) - 0.3).max() < 1e-13
    sides = np.maximum([-0.2, -0.3, -0.5] - x[box], x[box] - [0.4, 0.3, 0.5]).max(axis=1)
    assert abs(sides).max() < 1e-13, "crossings that are not on the box"
    # The fourth crossing of the half plane ends each line.
    lines.Events = [ANGLE.format(120) + " end 4"]
    out = check.Lines(check.fetch(lines))
    assert set(out.cell_data["ReasonForTermination"].tolist()) == {8}
    assert set(out.cell_data["EventId"].tolist()) == {0}
    last = np.array([out.points[out.line(i)[-1]] for i in range(out.count)])
    assert abs((np.arctan2(last[:, 1], last[:, 0]) - 2 * np.pi / 3)).max() < 1e-6
    # Without events: no crossings, and the same arrays.
    lines.Events = []
    nothing, out = crossings.fetched(lines), check.Lines(check.fetch(lines))
    assert nothing.count == 0 and arrays_of(lines, 1) == set(found.data), f"arrays {arrays_of(lines, 1)}"
    lines.CrossingArrays = "None"
    assert crossings.fetched(lines).count == 0 and not arrays_of(lines, 1), f"arrays {arrays_of(lines, 1)}"
    assert "EventId" not in out.cell_data
    check.delete(lines, seeds, data)


def poincare():
    """The crossings alone are those with lines; winding number of a twisted flow in a periodic cylinder."""
    data = flows.source(flow="abc", mesh="image", size=17)
    seeds = flows.seeds(30, flows.bounds("abc"))
    lines = check.tracer(data, seeds, MaximumStreamlineLength=60.0, Periodic=[1, 1, 1], MaximumSteps=100000)
    lines.Events = ["plane origin 0 0 3 normal 0 0 1 positive", "plane origin 1 1 1 normal 0 1 0 negative end 4"]
    usual, traced = crossings.fetched(lines), check.Lines(check.fetch(lines))
    assert usual.count > 200 and traced.count == 60
    counted = check.arrays(check.fetch(lines).GetFieldData())["AsyncStreamTracer Crossings"]
    assert counted.sum() == usual.count, f"{counted} crossings in the statistics"
    lines.CrossingsOnly = 1
    alone, nothing = crossings.fetched(lines), check.Lines(check.fetch(lines))
    assert alone.digest() == usual.digest(), "other crossings without lines"
    assert nothing.count == 0 and len(nothing.points) == 0, "lines with Crossings Only"
    assert arrays_of(lines, 0) == set(traced.point_data), f"arrays {arrays_of(lines, 0)} of no lines"
    fields = check.arrays(lines.GetClientSideObject().GetOutputDataObject(0).GetFieldData())
    assert not fields["AsyncStreamTracer PointsRecorded"].any(), "points were recorded"
    fewer_arrays(lines, usual)
    check.delete(lines, seeds, data)


def fewer_arrays(lines, usual):
    """Crossing Arrays leaves arrays out and changes no value of the others, with and without lines."""
    for only, blocks, lending in ((1, 1, 512), (0, 3, 0)):
        lines.CrossingsOnly, lines.BlocksPerRank, lines.LendingMemory = only, blocks, lending
        lines.CrossingArrays = "Ids And Times"
        found = crossings.fetched(lines)
        kept = {"IntegrationTime", "ArcLength", "EventId", "CrossingNumber", "SeedIds"}
        assert arrays_of(lines, 1) == kept, f"arrays {arrays_of(lines, 1)}"
        assert found.points.dtype == np.float64 and (found.points == usual.points).all(), "points with ids and times"
        for name in kept:
            assert found.data[name].dtype == usual.data[name].dtype
            assert (found.data[name] == usual.data[name]).all(), f"{name} with ids and times"
        lines.CrossingArrays = "None"
        lines.UpdatePipeline()
        data = servermanager.Fetch(lines, idx=1)
        points = check.vtk_to_numpy(data.GetPoints().GetData())
        assert points.dtype == np.float32 and (points == usual.points.astype(np.float32)).all(), "points alone"
        assert not arrays_of(lines, 1), f"arrays {arrays_of(lines, 1)}"
        # One cell for each line and direction: their times begin anew, and have one sign.
        time, seed = usual.data["IntegrationTime"], usual.data["SeedIds"]
        begins = np.flatnonzero(np.r_[True, (seed[1:] != seed[:-1]) | (np.sign(time[1:]) != np.sign(time[:-1]))])
        assert data.GetNumberOfCells() == data.GetNumberOfVerts() == len(begins)
        assert (check.arrays(data.GetCellData())["SeedIds"] == seed[begins]).all(), "seeds of the cells"
        sizes = [data.GetCell(c).GetNumberOfPoints() for c in range(len(begins))]
        assert sizes == np.diff(np.r_[begins, usual.count]).tolist(), "sizes of the cells"
        ids = [data.GetCell(c).GetPointId(i) for c in range(len(begins)) for i in range(sizes[c])]
        assert ids == list(range(usual.count)), "points of the cells"
        lines.CrossingArrays = "All"
        assert crossings.fetched(lines).digest() == usual.digest(), "all arrays again"


def sides(hashes):
    """Planes on the sides of a periodic box: all turns are counted, and arrays are those of the cells there."""
    period, velocity = 2 * np.pi, np.array([1.0, -0.5, 0.25])
    grid = flows.source(flow="abc", mesh="image", size=17, dtype="float64")
    place = check.simple.Calculator(Input=grid, ResultArrayName="place", Function="coords")
    data = check.simple.Calculator(Input=place, ResultArrayName="flow", Function="iHat-0.5*jHat+0.25*kHat")
    seeds = flows.seeds(20, flows.bounds("abc"))
    turns = 20
    lines = check.tracer(
        data, seeds, Vectors=["POINTS", "flow"], Periodic=[1, 1, 1], MaximumStreamlineLength=1000.0,
        MaximumIntegrationTime=turns * period, MaximumSteps=100000, IntegratorType="Runge-Kutta 4",
        InitialStepLength=0.7, IntegrationDirection="FORWARD",
    )
    lines.Events = [
        f"plane origin {side!r} {side!r} {side!r} normal {normal}"
        for normal in ("1 0 0", "0 1 0", "0 0 1") for side in (0.0, period)
    ]
    for blocks, lending in ((1, 0), (3, 512)):
        lines.BlocksPerRank, lines.LendingMemory = blocks, lending
        found, out = crossings.fetched(lines), check.Lines(check.fetch(lines))
        starts = {out.cell_data["SeedIds"][i]: out.points[out.line(i)[0]].astype(float) for i in range(out.count)}
        assert len(starts) == 20
        start = np.array([starts[seed] for seed in found.data["SeedIds"]])
        expected = start + np.outer(found.data["IntegrationTime"], velocity)
        for values in (found.points, found.data["place"]):
            away = (values - expected + period / 2) % period - period / 2
            assert abs(away).max() < 1e-5, f"a crossing is off by {abs(away).max()}"
        assert abs((found.data["place"] - found.points + 1) % period - 1).max() < 1e-11, "arrays of other cells"
        assert abs(found.data["flow"] - velocity).max() < 1e-13, "velocity at the crossings"
        for event in range(6):
            axis, side = event // 2, period * (event % 2)
            mine = found.of(EventId=event)
            assert abs(found.points[mine, axis] - side).max() < 1e-10, f"crossings of event {event} beside the side"
            for seed, x in starts.items():
                count = (found.of(SeedIds=seed) & mine).sum()
                ends = np.array([x[axis], x[axis] + turns * period * velocity[axis]]) / period
                wanted = abs(np.floor(ends[1]) - np.floor(ends[0]))
                assert count == wanted, f"{count} crossings of event {event} by seed {seed}, not {wanted}"
        bits = found.digest() + out.digest()
        assert hashes.setdefault("sides", bits) == bits, f"sides: {blocks} blocks"
    check.delete(lines, seeds, data, place, grid)


CASES = {
    "image": dict(mesh="image", size=21),
    "rectilinear": dict(mesh="rectilinear", size=15),
    "tetrahedra": dict(mesh="tetrahedra", size=11),
    "mixed": dict(mesh="mixed", size=9),
}


def invariance(hashes):
    """Lines and crossings have the same bits with all cuts and schedules, with and without loans."""
    events = [
        "plane origin 3 3 3 normal 1 1 0.2", "sphere center 3 3.2 2.9 radius 1.5", "angle origin 3 3 3 from 1 0.5 0",
        "box lower 1 1 1 upper 5 4.5 5.5 negative end 2", "length 4 end",
    ]
    for name, arguments in CASES.items():
        seeds = flows.seeds(100, flows.bounds("abc"))
        for variant in ({}, {"ghosts": 1}):
            data = flows.source(**arguments, **variant)
            lines = check.tracer(data, seeds)
            lines.Events = events
            for schedule, blocks, lending in ((2, 1, 512), (2, 5, 0), (0, 3, 0)):
                lines.Schedule, lines.BlocksPerRank, lines.LendingMemory = schedule, blocks, lending
                found, out = crossings.fetched(lines), check.Lines(check.fetch(lines))
                assert found.count > 100, f"{name}: {found.count} crossings"
                assert len(set(out.cell_data["EventId"].tolist())) >= 3, f"{name}: events that end lines"
                bits = found.digest() + out.digest()
                assert hashes.setdefault(name, bits) == bits, f"{name} {variant}: {schedule}, {blocks} blocks"
            check.delete(lines, data)
        check.delete(seeds)


def main():
    hashes = {}
    circles()
    poincare()
    sides(hashes)
    invariance(hashes)
    check.write_hashes(hashes)


if __name__ == "__main__":
    check.run(__file__)
