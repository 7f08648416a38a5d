# SPDX-License-Identifier: BSD-3-Clause
"""What the filter has beyond ParaView's, and analytic answers, on any number of ranks."""

import json
import os
import tempfile

import numpy as np

import check
from paraview import simple
from check import flows


def rotation():
    """Circles about the z axis: constant radius, angle = time, vorticity (0, 0, 2)."""
    data = flows.source(flow="rotation", mesh="image", size=21, dtype="float64")
    seeds = flows.seeds(40, (-0.6, 0.6, -0.6, 0.6, -0.9, 0.9))
    lines = check.tracer(data, seeds, MaximumStreamlineLength=3.0)
    out = check.Lines(check.fetch(lines))
    assert out.count == 80, f"{out.count} lines"
    time, curl = out.point_data["IntegrationTime"], out.point_data["Vorticity"]
    assert abs(curl - [0.0, 0.0, 2.0]).max() < 1e-4, "vorticity"
    for index in range(out.count):
        line = out.line(index)
        p = out.points[line].astype(float)
        radius, angle = np.hypot(p[:, 0], p[:, 1]), np.unwrap(np.arctan2(p[:, 1], p[:, 0]))
        assert np.ptp(radius) < 1e-4 and np.ptp(p[:, 2]) < 1e-6, f"line {index} leaves its circle"
        assert abs(angle - angle[0] - time[line]).max() < 1e-3, f"line {index}: angle is not time"
    # Limits in time, and two halves joined into one line with the seed within.
    lines.MaximumIntegrationTime = 0.75
    lines.MaximumStreamlineLength = 100.0
    lines.JoinDirections = 1
    out = check.Lines(check.fetch(lines))
    assert out.count == 40, f"{out.count} joined lines"
    time = out.point_data["IntegrationTime"]
    for index in range(out.count):
        t = time[out.line(index)]
        assert (np.diff(t) > 0).all(), f"joined line {index}: time does not rise"
        assert (t == 0).sum() == 1, f"joined line {index}: {(t == 0).sum()} points at the seed"
        assert abs(t[0] + 0.75) < 1e-3 and abs(t[-1] - 0.75) < 1e-3, f"ends at {t[0]}, {t[-1]}"
    assert set(out.cell_data["ReasonForTermination"].tolist()) == {7}
    check.delete(lines, seeds, data)


def saddle():
    """Hyperbolas: x y and z stay as they are, on tetrahedra, where the linear field is exact."""
    data = flows.source(flow="saddle", mesh="tetrahedra", size=9, dtype="float64")
    seeds = flows.seeds(40, (-0.5, 0.5, -0.9, 0.9, -0.9, 0.9))
    lines = check.tracer(data, seeds, IntegrationDirection="FORWARD", MaximumStreamlineLength=9.0)
    out = check.Lines(check.fetch(lines))
    assert out.count == 40, f"{out.count} lines"
    for index in range(out.count):
        line = out.line(index)
        # The last step leaves the domain, where there is no saddle.
        p, t = out.points[line][:-1].astype(float), out.point_data["IntegrationTime"][line]
        assert np.ptp(p[:, 0] * p[:, 1]) < 1e-4, f"line {index} leaves its hyperbola"
        assert np.ptp(p[:, 2]) < 1e-6, f"line {index} leaves its plane"
        assert (np.diff(abs(p[:, 0])) > 0).all() and (np.diff(t) > 0).all(), f"line {index} turns"
    check.delete(lines, seeds, data)


def periodic():
    """A uniform flow that goes round the domain: ends by length, not at the border."""
    data = flows.source(flow="uniform", mesh="image", size=9)
    seeds = flows.seeds(20, flows.bounds("uniform"))
    properties = {"IntegrationDirection": "FORWARD", "MaximumStreamlineLength": 3.5}
    lines = check.tracer(data, seeds, **properties)
    out = check.Lines(check.fetch(lines))
    assert set(out.cell_data["ReasonForTermination"].tolist()) == {1}
    lines.Periodic = [1, 0, 0]
    out = check.Lines(check.fetch(lines))
    assert out.count == 20 and set(out.cell_data["ReasonForTermination"].tolist()) == {4}
    time = out.point_data["IntegrationTime"]
    for index in range(out.count):
        assert abs(time[out.line(index)[-1]] - 3.5) < 1e-2, "a line that is not 3.5 long"
    check.delete(lines, seeds, data)


def rejected():
    """Seeds outside are counted, and named on request; the others keep their ids."""
    data = flows.source(mesh="hexahedra", size=9)
    # Not close to the border, where a line may leave before its first step.
    seeds = flows.seeds(30, (2.5, 3.8) * 3, outside=7)
    lines = check.tracer(data, seeds, IntegrationDirection="FORWARD", ReportRejectedSeeds=1)
    whole = check.fetch(lines)
    out = check.Lines(whole)
    assert out.cell_data["SeedIds"].tolist() == list(range(7, 30)), out.cell_data["SeedIds"]
    fields = check.arrays(whole.GetFieldData())
    assert sorted(fields["RejectedSeedIds"].tolist()) == list(range(7)), fields["RejectedSeedIds"]
    for name, sum_ in (("RejectedSeeds", 7), ("Seeds", 30), ("Lines", 23)):
        values = fields["AsyncStreamTracer " + name]
        assert values.sum() == sum_, (name, values)
    check.delete(lines, seeds, data)


def selected_arrays():
    """Only the arrays that are asked for, with the bits that they have beside all others."""
    data = flows.source(mesh="tetrahedra", size=9, dtype="float64")
    names = ("a", "b", "c")
    calculated = data
    for number, name in enumerate(names):
        calculated = simple.Calculator(
            Input=calculated, ResultArrayName=name, Function=f"coordsX+{number}*coordsY"
        )
    seeds = flows.seeds(12, (2.5, 3.8) * 3)
    lines = check.tracer(calculated, seeds, Vectors=["POINTS", "velocity"])
    all_arrays = check.Lines(check.fetch(lines))
    own = {"velocity", "IntegrationTime", "Vorticity", "AngularVelocity", "Rotation", "Normals"}
    assert set(all_arrays.point_data) >= own | set(names), sorted(all_arrays.point_data)
    for selected, carried in ((["b"], {"b"}), (["c", "a"], {"a", "c"}), (["velocity"], set())):
        lines.PointArrays = selected
        out = check.Lines(check.fetch(lines))
        assert set(out.point_data) == own | carried, (selected, sorted(out.point_data))
        assert np.array_equal(out.points, all_arrays.points), selected
        for name, values in out.point_data.items():
            assert np.array_equal(values, all_arrays.point_data[name]), (selected, name)
    lines.PointArrays = []
    assert set(check.Lines(check.fetch(lines)).point_data) == set(all_arrays.point_data)
    check.delete(lines, seeds, calculated, data)


def slow_blocks():
    """The flow of the iexchange paper: every line crosses the whole domain along x."""
    data = flows.source(
        flow="slow_blocks", mesh="image", size=17, centring="cells", lattice=4, fast=10.0, slow=1.0
    )
    seeds = flows.seeds(50, (0.001, 0.002, 0.01, 0.99, 0.01, 0.99))
    lines = check.tracer(
        data, seeds, Vectors=["CELLS", "velocity"], IntegrationDirection="FORWARD",
        MaximumStreamlineLength=10.0, BlocksPerRank=4,
    )
    out = check.Lines(check.fetch(lines))
    assert out.count == 50 and set(out.cell_data["ReasonForTermination"].tolist()) == {1}
    for index in range(out.count):
        p = out.points[out.line(index)]
        assert p[-1, 0] > 0.95 and np.ptp(p[:, 1:], axis=0).max() == 0, f"line {index} bends"
    check.delete(lines, seeds, data)


def surface():
    """Round a sphere: with Surface Streamlines the lines stay on its facets; volumes are refused."""
    simple = check.simple
    sphere = simple.Sphere(Radius=1.0, ThetaResolution=48, PhiResolution=24)
    data = simple.Calculator(
        Input=sphere, ResultArrayName="velocity", Function="-coordsY*iHat+coordsX*jHat+0.2*kHat"
    )
    lines = check.tracer(
        data, data, SurfaceStreamlines=1, MaximumStreamlineLength=2.0, IntegrationDirection="FORWARD"
    )
    out = check.Lines(check.fetch(lines))
    assert out.count > 500, f"{out.count} lines"
    radius = np.linalg.norm(out.points.astype(float), axis=1)
    assert radius.max() < 1.001 and radius.min() > 0.98, f"radii {radius.min()}, {radius.max()}"
    ended = out.cell_data["ReasonForTermination"]
    assert (ended == 4).mean() > 0.5, "most lines are as long as they may be"
    check.delete(lines, data, sphere)

    volume = flows.source(flow="rotation", mesh="tetrahedra", size=5)
    seeds = flows.seeds(5, (-0.5, 0.5, -0.5, 0.5, -0.5, 0.5))
    lines = check.tracer(volume, seeds, SurfaceStreamlines=1)
    assert check.fetch(lines).GetNumberOfCells() == 0, "surface lines in a volume"
    lines.SurfaceStreamlines = 0
    assert check.fetch(lines).GetNumberOfCells() > 0, "the filter does not run again"
    check.delete(lines, seeds, volume)


def timeline():
    """The trace of all ranks: calls and idle times that take what the statistics say, one after the other."""
    data = flows.source(flow="rotation", mesh="hexahedra", size=9)
    seeds = flows.seeds(30, (-0.5, 0.5, -0.5, 0.5, -0.9, 0.9))
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "trace.json")
        lines = check.tracer(data, seeds, TimelineFile=file)
        fields = check.arrays(check.fetch(lines).GetFieldData())
        with open(file, encoding="utf-8") as stream:
            events = json.load(stream)["traceEvents"]
        os.remove(file)
        lines.TimelineFile = ""
        check.fetch(lines)
        assert not os.listdir(folder), "a timeline was written although Timeline File is empty"
    messages = check.Messages()
    lines.TimelineFile = "no/such/folder/trace.json"
    assert check.fetch(lines).GetNumberOfCells() == 60, "no lines without a timeline"
    said = "".join(messages.take())
    assert said.count("WARN|") == 1 and "Timeline File cannot be written" in said, said
    for rank in range(check.ranks()):
        mine = [event for event in events if event["pid"] == rank and event["ph"] == "X"]
        for kind, name in (("call", "ComputingSeconds"), ("idle", "IdleSeconds")):
            took = sum(event["dur"] for event in mine if event["cat"] == kind) * 1e-6
            said = fields["AsyncStreamTracer " + name][rank]
            # Times in the file are rounded to nanoseconds.
            assert abs(took - said) <= 1e-9 * len(mine) + 1e-9, f"rank {rank}, {kind}: {took} s, not {said}"
        outer = sorted((event["ts"], event["dur"]) for event in mine if event["cat"] != "loan")
        assert outer and outer[0][0] >= 0, f"rank {rank} begins at {outer[:1]}"
        for (begin, length), (next_begin, _) in zip(outer, outer[1:]):
            assert begin + length <= next_begin + 2e-3, f"rank {rank}: two activities at {next_begin} us"
    assert any(event["name"].startswith("block ") for event in events), "no call of a block"
    check.delete(lines, seeds, data)


def main():
    for test in (timeline, rotation, saddle, periodic, rejected, selected_arrays, slow_blocks, surface):
        test()
        print(test.__name__, flush=True)


if __name__ == "__main__":
    check.run(__file__)
