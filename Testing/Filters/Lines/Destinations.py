# SPDX-License-Identifier: BSD-3-Clause
"""The table of destinations: formulas, the lines themselves, one answer for all cuts, and bad input.

Writes the hashes of tables to hashes.json; CompareHashes.py compares them between numbers of ranks.
"""

import hashlib
import math

import numpy as np

import check
from check import flows
from paraview import servermanager

REASON, LABEL = "Reason And Event", "Label Array"
OUTSIDE, LENGTH, LEFT, EVENT = 2, 4, 1, 8


class Table:
    """The rows of the third output, by their key; all of them are on the first rank."""

    def __init__(self, tracer):
        tracer.UpdatePipeline()
        data = servermanager.Fetch(tracer, idx=2)
        here = tracer.GetClientSideObject().GetOutputDataObject(2)
        assert data.GetNumberOfRows() == here.GetNumberOfRows(), "rows on another rank than the first"
        columns = check.arrays(data.GetRowData())
        by = ["To"] if "To" in columns else ["ReasonForTermination", "EventId"]
        by += ["TargetId"] if "TargetId" in columns else []
        self.names = ["Direction", "From", *by, "Count", "MeanTime", "MeanLength"]
        assert list(columns) == (sorted(self.names) if columns else []), f"columns {list(columns)}"
        self.rows = {}
        self.keys = []
        for row in zip(*(columns[name].tolist() for name in self.names)) if columns else ():
            key = tuple("NaN" if value != value else value for value in row[:-3])
            assert key not in self.rows, f"two rows {key}"
            self.rows[key] = row[-3:]
            self.keys.append(key)
        self.bits = b"".join(columns[name].tobytes() for name in self.names) if columns else b""

    def digest(self):
        return hashlib.sha256(self.bits).hexdigest()[:24]

    def expect(self, lines, tolerance, what):
        """The rows are those of lines, each a key with a time and a length; no length: None."""
        found = {}
        for key, time, length in lines:
            found.setdefault(key, []).append((time, length))
        assert set(found) == set(self.rows), f"{what}: rows {sorted(map(str, self.rows))}, not {sorted(map(str, found))}"
        order = sorted(found, key=lambda key: tuple((value == "NaN", 0 if value == "NaN" else value) for value in key))
        assert self.keys == order, f"{what}: order {self.keys}"
        for key, values in found.items():
            count, time, length = self.rows[key]
            assert count == len(values), f"{what}, {key}: {count} lines, not {len(values)}"
            for name, mean, of in (("time", time, 0), ("length", length, 1)):
                if values[0][of] is not None:
                    wanted = math.fsum(value[of] for value in values) / count
                    assert abs(mean - wanted) <= tolerance, f"{what}, {key}: mean {name} {mean}, not {wanted}"


def points_of(count, box, **arguments):
    """The positions of flows.seeds(), in the order of their ids."""
    return check.vtk_to_numpy(flows.seed_points(0, 1, count, box, **arguments).GetPoints().GetData())


def labeled(seeds, bare=-1):
    """Seeds with an array of labels, 2 above y = 0.5 and 1 above z = 0.5. One rank of several has no array."""
    script = f"""
import numpy as np
from vtkmodules.numpy_interface import dataset_adapter
from vtkmodules.vtkParallelCore import vtkMultiProcessController
controller = vtkMultiProcessController.GetGlobalController()
rank = controller.GetLocalProcessId() if controller else 0
ranks = controller.GetNumberOfProcesses() if controller else 1
if not (ranks > 1 and rank == {bare}) and inputs[0].GetNumberOfPoints():
    x = inputs[0].Points
    output.PointData.append(2 * (x[:, 1] > 0.5).astype(np.int32) + (x[:, 2] > 0.5), "inlet")
    output.PointData.append(x, "place")
"""
    return check.simple.ProgrammableFilter(Input=seeds, Script=script)


def inlet(points):
    return 2.0 * (points[:, 1] > 0.5) + (points[:, 2] > 0.5)


def quadrants(hashes):
    """A uniform flow along x keeps y and z: inlets lead to outlets as the labels say."""
    box = flows.bounds("uniform")
    data = flows.source(flow="uniform", mesh="image", size=17, dtype="float64", centring="both")
    count = 90
    start = points_of(count, box, outside=6)
    bare = flows.seeds(count, box, outside=6)
    is_outside = np.arange(count) < 6
    for rank in (-1, 0):
        seeds = labeled(bare, rank)
        lines = check.tracer(
            data, seeds, MaximumStreamlineLength=0.25, Destinations=REASON, SeedLabelArray="inlet",
            IntegratorType="Runge-Kutta 4", IntegrationStepUnit="Length", InitialStepLength=0.03125,
        )
        label = inlet(start).tolist()
        if rank >= 0 and check.ranks() > 1:
            label[: count // check.ranks()] = ["NaN"] * (count // check.ranks())
        expected = []
        for way in (0, 1):
            rest = 1 - start[:, 0] if way == 0 else start[:, 0]
            for i in range(count):
                stays = rest[i] > 0.25
                reason = OUTSIDE if is_outside[i] else LENGTH if stays else LEFT
                # Fixed steps that would leave the domain are not taken.
                length = 0.0 if is_outside[i] else 0.25 if stays else math.floor(rest[i] / 0.03125) * 0.03125
                expected.append(((way, label[i], reason, -1), length, length))
        table = Table(lines)
        table.expect(expected, 1e-12, f"reasons, rank {rank} without labels")
        if rank < 0:
            assert hashes.setdefault("quadrants", table.digest()) == table.digest()
        # By a cell array: height = x + 2 y + 3 z in the middle of the cell. A point array has the same name.
        for way, name in ((0, "FORWARD"), (1, "BACKWARD")):
            lines.IntegrationDirection = name
            lines.Destinations, lines.EndLabelArray = LABEL, "height"
            expected = []
            for i in range(count):
                length = float(expected_lengths(start, way)[i])
                if is_outside[i]:
                    expected.append(((way, label[i], "NaN"), 0.0, 0.0))
                    continue
                end = start[i] + [length if way == 0 else -length, 0, 0]
                middle = (np.minimum(np.floor(end * 16), 15) + 0.5) / 16
                expected.append(((way, label[i], float(middle @ [1, 2, 3])), length, length))
            table = Table(lines)
            table.expect(expected, 1e-12, f"cells, {name}")
        check.delete(lines, seeds)
    # Without labels all seeds have 0, and without Destinations there is no table.
    lines = check.tracer(data, bare, MaximumStreamlineLength=0.25, Destinations=REASON)
    assert {key[1] for key in Table(lines).rows} == {0.0}
    lines.Destinations = "None"
    assert not Table(lines).rows and check.fetch(lines).GetNumberOfLines() > 0
    check.delete(lines, bare, data)


def expected_lengths(start, way):
    rest = 1 - start[:, 0] if way == 0 else start[:, 0]
    return np.where(rest > 0.25, 0.25, np.floor(rest / 0.03125) * 0.03125)


def corners():
    """By a point array: the label of the corner that is nearest to the end of the line."""
    data = flows.source(flow="uniform", mesh="image", size=9, dtype="float64")
    seeds = flows.seeds(60, (0, 0.5, 0, 1, 0, 1))
    start = points_of(60, (0, 0.5, 0, 1, 0, 1))
    lines = check.tracer(
        data, seeds, MaximumStreamlineLength=0.25, IntegrationDirection="FORWARD", Destinations=LABEL,
        EndLabelArray="height",
    )
    ends = np.round((start + [0.25, 0, 0]) * 8) / 8
    Table(lines).expect([((0, 0.0, float(end @ [1, 2, 3])), 0.25, 0.25) for end in ends], 1e-12, "corners")
    # Halfway between corners the lowest value is taken.
    exact = check.simple.PointSource(Center=[0.1875, 0.5625, 0.4375], NumberOfPoints=1, Radius=0)
    lines.SeedSource = exact
    Table(lines).expect([((0, 0.0, 0.375 + 2 * 0.5 + 3 * 0.375), 0.25, 0.25)], 1e-12, "ties")
    check.delete(lines, exact, seeds, data)


def circles():
    """Rigid rotation: all lines end at an event, after a time that follows from the angle of the seed."""
    data = flows.source(flow="rotation", mesh="image", size=21, dtype="float64")
    box = (-0.6, 0.6, -0.6, 0.6, -0.9, 0.9)
    seeds, start = flows.seeds(50, box), points_of(50, box)
    named = check.simple.Calculator(Input=seeds, ResultArrayName="side", Function="if(coordsZ > 0, 7, -3)")
    lines = check.tracer(
        data, named, MaximumStreamlineLength=100.0, MaximumSteps=100000, MaximumError=1e-11,
        Destinations=REASON, SeedLabelArray="side", CrossingsOnly=1,
        Events=["sphere center 0 0 0 radius 50", "plane origin 0 0 0 normal 0 1 0 end", "plane normal 1 0 0"],
    )
    expected = []
    for x in start:
        angle, radius = np.arctan2(x[1], x[0]), np.hypot(x[0], x[1])
        for way, turn in ((0, -angle % np.pi), (1, angle % np.pi)):
            expected.append(((way, 7.0 if x[2] > 0 else -3.0, EVENT, 1), turn, radius * turn))
    Table(lines).expect(expected, 1e-6, "circles")
    check.delete(lines, named, seeds, data)


def whole_lines():
    """The table agrees with the lines, their reasons, events and times."""
    data = flows.source(flow="abc", mesh="tetrahedra", size=9)
    seeds = flows.seeds(80, flows.bounds("abc"))
    named = check.simple.Calculator(Input=seeds, ResultArrayName="part", Function="floor(coordsX)")
    start = points_of(80, flows.bounds("abc"))
    lines = check.tracer(data, named, MaximumStreamlineLength=9.0, Destinations=REASON, SeedLabelArray="part")
    lines.Events = ["sphere center 3 3 3 radius 1.5 end", "plane origin 3 3 3 normal 0 1 0 end", "time 2 end"]
    out = check.Lines(check.fetch(lines))
    time = out.point_data["IntegrationTime"]
    expected, known = [], set()
    for i in range(out.count):
        seed, last = int(out.cell_data["SeedIds"][i]), time[out.line(i)[-1]]
        way = 0 if last > 0 else 1
        reason, event = (int(out.cell_data[name][i]) for name in ("ReasonForTermination", "EventId"))
        known.add((seed, way))
        expected.append(((way, float(np.floor(start[seed, 0])), reason, event), abs(float(last)), None))
    # Lines whose first step leaves the domain have no length, and are not output.
    for seed in range(80):
        for way in (0, 1):
            if (seed, way) not in known:
                expected.append(((way, float(np.floor(start[seed, 0])), LEFT, -1), 0.0, None))
    assert len({key[2:] for key, _, _ in expected}) >= 4, f"destinations {sorted({key[2:] for key, _, _ in expected})}"
    Table(lines).expect(expected, 1e-12, "lines")
    check.delete(lines, named, seeds, data)


# A wall at x = 0.75, on the last rank.
PATCHES = """
from vtkmodules.vtkCommonDataModel import vtkPolyData
from vtkmodules.vtkFiltersSources import vtkPlaneSource
from vtkmodules.vtkParallelCore import vtkMultiProcessController
controller = vtkMultiProcessController.GetGlobalController()
is_last = not controller or controller.GetLocalProcessId() == controller.GetNumberOfProcesses() - 1
for block in (0, 1):
    patch = vtkPlaneSource()
    patch.SetOrigin(0.75, 0.5 * block, 0)
    patch.SetPoint1(0.75, 0.5 * block + 0.5, 0)
    patch.SetPoint2(0.75, 0.5 * block, 1)
    patch.Update()
    self.GetOutputDataObject(0).SetBlock(block, patch.GetOutput() if is_last else vtkPolyData())
"""


def walls():
    """Lines end at a wall: its two patches, the blocks of a surface, are destinations."""
    wall = check.simple.ProgrammableSource(OutputDataSetType="vtkMultiblockDataSet", Script=PATCHES)
    data = flows.source(flow="uniform", mesh="image", size=9, dtype="float64")
    box = flows.bounds("uniform")
    start = points_of(70, box)
    seeds = flows.seeds(70, box)
    lines = check.tracer(
        data, seeds, MaximumStreamlineLength=10.0, IntegrationDirection="FORWARD", Destinations=REASON,
        EventSurfaces=wall, IntegratorType="Runge-Kutta 4-5")
    expected = []
    for x in start:
        if x[0] < 0.75:
            expected.append(((0, 0.0, EVENT, 0, 1 if x[1] < 0.5 else 2), 0.75 - x[0], 0.75 - x[0]))
        else:
            expected.append(((0, 0.0, LEFT, -1, -1), None, None))
    table = Table(lines)
    left = table.rows.pop((0, 0.0, LEFT, -1, -1))
    assert left[0] == sum(key[2] == LEFT for key, _, _ in expected), "lines that leave"
    table.keys.remove((0, 0.0, LEFT, -1, -1))
    table.expect([one for one in expected if one[0][2] == EVENT], 1e-9, "walls")
    assert len(table.rows) == 2
    check.delete(lines, seeds, data, wall)


CASES = {
    "image": dict(mesh="image", size=17, centring="both"),
    "rectilinear": dict(mesh="rectilinear", size=13, centring="points"),
    "tetrahedra": dict(mesh="tetrahedra", size=9, centring="points"),
    "mixed": dict(mesh="mixed", size=7, centring="both"),
}


def invariance(hashes):
    """Tables have the same bits with all cuts and schedules, with and without loans."""
    for name, arguments in CASES.items():
        seeds = flows.seeds(100, flows.bounds("abc"), outside=3)
        named = check.simple.Calculator(Input=seeds, ResultArrayName="part", Function="floor(coordsX/2)")
        for variant in ({}, {"empty": 1}):
            data = flows.source(**arguments, **variant)
            lines = check.tracer(data, named, MaximumStreamlineLength=8.0, SeedLabelArray="part")
            lines.Events = ["plane origin 3 3 3 normal 1 1 0.2 end 2"]
            for kind in (REASON, LABEL):
                lines.Destinations, lines.EndLabelArray = kind, "height"
                for schedule, blocks, lending in ((2, 1, 512), (2, 5, 0), (0, 3, 0)):
                    lines.Schedule, lines.BlocksPerRank, lines.LendingMemory = schedule, blocks, lending
                    table = Table(lines)
                    assert sum(row[0] for row in table.rows.values()) == 200, f"{name}: lines are missing"
                    assert len(table.rows) > (8 if kind == REASON else 50), f"{name}: {len(table.rows)} rows"
                    bits = hashes.setdefault(f"{name} {kind}", table.digest())
                    assert bits == table.digest(), f"{name} {variant}, {kind}: {schedule}, {blocks} blocks"
            check.delete(lines, data)
        check.delete(named, seeds)


def bad_input():
    """Errors name the property, what it is and what to use."""
    data = flows.source(flow="uniform", mesh="image", size=9, centring="both")
    seeds = labeled(flows.seeds(20, flows.bounds("uniform")))
    lines = check.tracer(data, seeds, Destinations=LABEL, SeedLabelArray="inlet", EndLabelArray="height")

    def rows(proxy):
        check.touch(proxy)
        proxy.UpdatePipeline()
        if proxy.GetDataInformation(2).GetNumberOfRows() == 0:
            return None
        return len(Table(proxy).rows)

    cases = check.Refusals("vtkAsyncStreamTracer", rows)
    cases.properties(lines, rows(lines), (
        ("EndLabelArray", "", "height", ("End Label Array", "empty", "set it to")),
        ("EndLabelArray", "nothing", "height", ("End Label Array", "nothing", "use the name")),
        ("EndLabelArray", "velocity", "height", ("End Label Array", "velocity", "one component")),
        ("SeedLabelArray", "nothing", "inlet", ("Seed Label Array", "nothing", "use the name")),
        ("SeedLabelArray", "place", "inlet", ("Seed Label Array", "place", "one component")),
    ))
    assert not cases.failures, "\n".join(cases.failures)
    check.delete(lines, seeds, data)


def main():
    hashes = {}
    quadrants(hashes)
    corners()
    circles()
    walls()
    whole_lines()
    invariance(hashes)
    bad_input()
    check.write_hashes(hashes)


if __name__ == "__main__":
    check.run(__file__)
