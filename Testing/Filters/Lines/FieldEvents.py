# SPDX-License-Identifier: BSD-3-Clause
"""Events of arrays: isovalues where formulas have them, boundaries of labels on faces, one answer for all cuts.

Writes the hashes of lines and crossings to hashes.json; CompareHashes.py compares them between numbers of ranks.
"""

import numpy as np

import check
import crossings
import meshes
from check import flows
from paraview import simple

from Events import CASES

ARRAYS = """
import numpy as np
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkFiltersCore import vtkCellCenters
data = self.GetOutputDataObject(0)
data.ShallowCopy(self.GetInputDataObject(0, 0))
count = data.GetNumberOfPoints()
x, y, z = np.array([data.GetPoint(i) for i in range(count)]).reshape(-1, 3).T
filter = vtkCellCenters()
filter.SetInputData(data)
filter.Update()
centers = np.zeros((0, 3))
if data.GetNumberOfCells():
    centers = vtk_to_numpy(filter.GetOutput().GetPoints().GetData()).astype(float)
cx, cy, cz = centers.T
def add(name, values, attributes):
    array = numpy_to_vtk(np.ascontiguousarray(values), deep=1)
    array.SetName(name)
    attributes.AddArray(array)
points, cells = data.GetPointData(), data.GetCellData()
"""


def with_arrays(data, script):
    proxy = simple.ProgrammableFilter(Input=data, Script=ARRAYS + script)
    proxy.OutputDataSetType = "Same as Input"
    proxy.UpdatePipeline()
    return proxy


def zeros(values, time):
    """Where a function of time changes its sign between samples, by secants; and its sign behind."""
    up = values >= 0
    at = np.flatnonzero(up[1:] != up[:-1])
    share = values[at] / (values[at] - values[at + 1])
    return time[at] + share * (time[at + 1] - time[at]), np.where(up[at + 1], 1, -1)


def circles():
    """Rigid rotation through a linear field, a product of coordinates and slabs of cells."""
    grid = flows.source(flow="rotation", mesh="image", size=21, dtype="float64")
    data = with_arrays(grid, """
add("linear", x + 2 * y + 0.5 * z, points)
add("a product", x * y, points)
add("slab", np.floor((cx + 1) / 0.5).astype(np.int32), cells)
add("slab", np.floor(x * 0 + 7).astype(np.int32), points)
""")
    seeds = flows.seeds(40, (-0.6, 0.6, -0.6, 0.6, -0.9, 0.9))
    lines = check.tracer(
        data, seeds, MaximumStreamlineLength=100.0, MaximumIntegrationTime=2 * np.pi, MaximumSteps=100000,
        MaximumError=1e-11, IntegrationDirection="FORWARD",
    )
    lines.Events = [
        "isovalue linear 0.3", 'isovalue "a product" 0.05 positive', "label slab", "label slab 2 negative",
        "Label, 'slab' 1 positive", "plane origin 0.5 0 0 normal 1 0 0", "isovalue slab 1.5",
    ]
    found, out = crossings.fetched(lines), check.Lines(check.fetch(lines))
    seed, elapsed = np.diff(found.data["SeedIds"]), np.diff(found.data["IntegrationTime"])
    # Events at one place are ordered as in the list.
    assert ((seed > 0) | ((seed == 0) & (elapsed > -1e-14))).all(), "not ordered by seed and time"
    p = found.points
    linear, product = found.of(EventId=0), found.of(EventId=1)
    assert linear.sum() > 30 and product.sum() > 10 and found.of(EventId=2).sum() > 40
    for mask, name, value, place in (
        (linear, "linear", 0.3, p[:, 0] + 2 * p[:, 1] + 0.5 * p[:, 2]),
        (product, "a product", 0.05, p[:, 0] * p[:, 1]),
    ):
        assert abs(found.data[name][mask] - value).max() < 1e-14, f"{name}: the array at the crossings"
        assert abs(place[mask] - value).max() < 1e-13, f"{name}: {abs(place[mask] - value).max()}"
    labels = found.of(EventId=2) | found.of(EventId=3) | found.of(EventId=4)
    away = abs(p[labels, 0] - np.round(p[labels, 0] / 0.5) * 0.5)
    assert away.max() < 1e-14, f"{away.max()} beside the faces"
    assert found.of(EventId=6).sum() == 0, "values of points come before those of cells"
    time = np.linspace(0, 2 * np.pi, 20001)
    for index in range(out.count):
        seed = out.cell_data["SeedIds"][index]
        start = out.points[out.line(index)[0]].astype(float)
        radius, phase = np.hypot(*start[:2]), np.arctan2(start[1], start[0])
        x, y = radius * np.cos(phase + time), radius * np.sin(phase + time)
        slab = np.floor((x + 1) / 0.5)
        inside = [np.where(slab == label, 1.0, -1.0) for label in (1, 2)]
        jumps = [time[:-1][np.diff(slab) != 0], time[:-1][np.diff(inside[1]) < 0], time[:-1][np.diff(inside[0]) > 0]]
        ups = zeros(x * y - 0.05, time)
        wanted = [zeros(x + 2 * y + 0.5 * start[2] - 0.3, time)[0], ups[0][ups[1] > 0], *jumps]
        for event, expected in enumerate(wanted):
            here = found.data["IntegrationTime"][found.of(SeedIds=seed, EventId=event)]
            assert len(here) == len(expected), f"event {event} of seed {seed}: {here}, not {expected}"
            step = 2e-6 if event < 2 else 4e-4
            assert not len(here) or abs(here - expected).max() < step, f"event {event} of seed {seed}"
    # The second time that a line enters a slab ends it, and the cells' array is output under a name of its own.
    lines.PointArrays = ["linear"]
    lines.Events = ["label slab 2 positive end 2", "isovalue linear 0.3"]
    found, out = crossings.fetched(lines), check.Lines(check.fetch(lines))
    ended = out.cell_data["EventId"] == 0
    assert ended.any() and set(out.cell_data["ReasonForTermination"][ended].tolist()) == {8}
    assert "a product" not in found.data and "slab" in found.data, f"arrays {sorted(found.data)}"
    assert (found.data["slab"][found.of(EventId=0)] == 2).all(), "labels at the crossings are not the new ones"
    assert abs(found.data["linear"][found.of(EventId=1)] - 0.3).max() < 1e-14
    lines.PointArrays = ["a product"]
    lines.Events = ["isovalue linear 0.3"]
    assert {"linear", "a product"} <= set(crossings.fetched(lines).data), "an array of an event is not output"
    check.delete(lines, seeds, data, grid)


def regions():
    """The boundaries of Async Connectivity's regions, by brute force along straight lines."""
    cells = 20
    grid = flows.source(flow="uniform", mesh="image", size=cells + 1, dtype="float64")
    inside = "np.minimum(np.hypot(cx - 0.3, cy - 0.4) - 0.2, np.hypot(cx - 0.75, cy - 0.5) - 0.12)"
    balls = with_arrays(grid, f'add("outside", {inside}, cells)')
    data = check.connectivity(
        balls, ScalarConnectivity=1, Scalars=["CELLS", "outside"], ScalarRange=[-10.0, 0.0],
        RegionIdAssignmentMode="Cell Count Descending",
    )
    seeds = flows.seeds(60, (0.01, 0.04, 0.2, 0.7, 0.1, 0.9))
    lines = check.tracer(
        data, seeds, MaximumStreamlineLength=2.0, IntegrationDirection="FORWARD", MaximumSteps=1000,
        IntegratorType="Runge-Kutta 4", InitialStepLength=0.7,
    )
    lines.Events = ["label RegionId", "label RegionId 0", "label RegionId 1 positive", "label RegionId -1 negative"]
    lines.PointArrays = ["velocity"]
    found, out = crossings.fetched(lines), check.Lines(check.fetch(lines))
    edges = np.arange(cells + 1) / cells
    centers = (edges[1:] + edges[:-1]) / 2
    total = 0
    for index in range(out.count):
        start = out.points[out.line(index)[0]].astype(float)
        cy = (np.floor(start[1] * cells) + 0.5) / cells
        one, two = (np.hypot(centers - a, cy - b) <= r for a, b, r in ((0.3, 0.4, 0.2), (0.75, 0.5, 0.12)))
        label = np.where(one, 0, np.where(two, 1, -1))
        change = np.flatnonzero(np.diff(label))
        before, after, face = label[change], label[change + 1], edges[change + 1]
        total += len(face)
        for event, expected in enumerate((
            face, face[(before == 0) | (after == 0)], face[after == 1], face[before == -1],
        )):
            here = found.of(SeedIds=out.cell_data["SeedIds"][index], EventId=event)
            assert here.sum() == len(expected), f"event {event} at y = {start[1]}: {found.points[here]}"
            assert not here.any() or abs(found.points[here, 0] - expected).max() < 1e-14, f"event {event}"
            if event == 0:
                assert found.data["RegionId"][here].tolist() == after.tolist(), "not the new labels"
    assert total > 60, f"{total} boundaries"
    check.delete(lines, seeds, data, balls, grid)


def invariance(hashes):
    """Lines and crossings have the same bits with all cuts and schedules, with and without loans."""
    events = [
        "isovalue height 17", "label checker", "plane origin 3 3 3 normal 1 1 0.2", "label corner 1 positive end",
        "isovalue curved 9 negative", "label checker 2",
    ]
    script = """
add("checker", (np.floor(cx / 1.3) + np.floor(cy / 1.1) + np.floor(cz / 1.7)) % 4, cells)
add("corner", ((x > 3) ^ (y > 2.9)).astype(np.int8), points)
add("curved", (x * y + z).astype(np.float32), points)
"""
    for name, arguments in CASES.items():
        seeds = flows.seeds(60, flows.bounds("abc"))
        for variant in ({}, {"ghosts": 1}) if name in ("image", "tetrahedra") else ({},):
            source = flows.source(**arguments, **variant)
            data = with_arrays(source, script)
            lines = check.tracer(data, seeds)
            lines.Events = events
            for schedule, blocks, lending, arrays in ((2, 1, 512, []), (2, 5, 0, []), (2, 3, 512, ["velocity"])):
                lines.Schedule, lines.BlocksPerRank, lines.LendingMemory = schedule, blocks, lending
                lines.PointArrays = arrays
                found, out = crossings.fetched(lines), check.Lines(check.fetch(lines))
                assert found.count > 100, f"{name}: {found.count} crossings"
                assert {0, 1, 2, 3, 4, 5} == set(found.data["EventId"].tolist()), f"{name}: events without crossings"
                assert {"height", "curved", "corner", "checker"} <= set(found.data), f"arrays {sorted(found.data)}"
                assert 3 in out.cell_data["EventId"], f"{name}: events that end lines"
                bits = found.digest() + out.digest()
                assert hashes.setdefault(name, bits) == bits, f"{name} {variant}: {blocks} blocks, {lending} MiB"
            check.delete(lines, data, source)
        check.delete(seeds)


def gap():
    """A cell between the last and the first column of a periodic grid has isovalues like any other."""
    grid = flows.source(flow="uniform", mesh="image", size=17, dtype="float64")
    data = with_arrays(grid, 'add("saw", x, points)')
    seeds = flows.seeds(12, (0.05, 0.3, 0.1, 0.9, 0.1, 0.9))
    lines = check.tracer(
        data, seeds, Periodic=[1, 0, 0], Period=[17 / 16, 0, 0], MaximumStreamlineLength=3.0,
        IntegrationDirection="FORWARD", IntegratorType="Runge-Kutta 4", InitialStepLength=0.3,
    )
    lines.Events = ["isovalue saw 0.5 positive", "isovalue saw 0.5 negative", "label saw 0 positive"]
    found = crossings.fetched(lines)
    # The array falls from 1 to 0 in the gap. There, the points of the first column are nearer behind its middle.
    for event, place in ((0, 0.5), (1, 1 + 1 / 32), (2, 1 + 1 / 32)):
        here = found.of(EventId=event)
        assert here.sum() >= 24, f"{here.sum()} crossings of event {event}"
        assert abs(found.points[here, 0] - place).max() < 1e-13, f"event {event}: {found.points[here, 0]}"
    check.delete(lines, seeds, data, grid)


def elsewhere(hashes):
    """Polyhedra, which VTK evaluates, and lines along a surface."""
    polyhedra = simple.OpenDataFile(f"{check.DATA}/tjunction_polyhedra.pvtu")
    triangles = flows.source(flow="double_gyre", mesh="triangles", size=15)
    for name, source, script, vectors, box, events, properties in (
        ("polyhedra", polyhedra, 'add("strip", np.floor(cx * 50) % 3, cells)', "U",
         (0.02, 0.1, -0.01, 0.01, 0.005, 0.015), ["isovalue p 10", "label strip", "label strip 1 positive end 3"],
         dict(MaximumSteps=200)),
        ("surface", triangles, 'add("strip", np.floor(cx * 5) % 3, cells)', "velocity",
         (0.1, 1.9, 0.1, 0.9, 0.0, 0.0), ["isovalue height 1.5", "label strip", "label strip 1 positive end 3"],
         dict(SurfaceStreamlines=1, MaximumStreamlineLength=5.0)),
    ):
        data = with_arrays(source, script)
        seeds = flows.seeds(12, box)
        lines = check.tracer(data, seeds, Vectors=["POINTS", vectors], **properties)
        lines.Events = events
        for blocks, lending in ((1, 512), (3, 0)):
            lines.BlocksPerRank, lines.LendingMemory = blocks, lending
            found, out = crossings.fetched(lines), check.Lines(check.fetch(lines))
            iso = found.of(EventId=0)
            array, value = events[0].split()[1:]
            assert iso.sum() > 5 and found.of(EventId=1).sum() > 10, f"{name}: {found.count} crossings"
            assert abs(found.data[array][iso] - float(value)).max() < 1e-6 * float(value), f"{name}: other values"
            bits = found.digest() + out.digest()
            assert hashes.setdefault(name, bits) == bits, f"{name}: {blocks} blocks"
        check.delete(lines, seeds, data)


def levels(hashes):
    """Where lines enter another level of an AMR hierarchy, as labels of cells: on faces between levels."""
    flow = meshes.hierarchy(flow="levels", placing="cyclic")
    data = simple.Calculator(
        Input=flow, AttributeType="Cell Data", ResultArrayName="level", Function="velocity_Y"
    )
    seeds = flows.seeds(80, (0.04, 0.06, 0.2, 5.0, 1.5, 6.5))
    lines = check.tracer(
        data, seeds, Vectors=["CELLS", "velocity"], IntegrationDirection="FORWARD", MaximumStreamlineLength=30.0,
        InitialStepLength=0.05, IntegratorType="Runge-Kutta 4", MaximumSteps=20000,
    )
    lines.Events = ["label level", "label level 2 positive"]
    faces = [
        {edge * 0.5**level for level, boxes in enumerate(meshes.LEVELS) for box in boxes
         for edge in (box[2 * axis], box[2 * axis + 1] + 1)}
        for axis in (0, 1)
    ]
    found = crossings.fetched(lines)
    away = [abs(found.points[:, a, None] - np.array(sorted(faces[a]))).min(axis=1) for a in (0, 1)]
    # A grid holds points up to 1e-9 of a cell outside.
    assert np.minimum(*away).max() < 1.1e-9, f"crossings beside the levels: {np.minimum(*away).max()}"
    assert found.of(EventId=0).sum() > 80 and found.of(EventId=1).sum() > 5, f"{found.count} crossings"
    assert (found.data["level"][found.of(EventId=1)] == 2).all(), "other labels"
    hashes["levels"] = found.digest()
    check.delete(lines, seeds, data, flow)


def main():
    hashes = {}
    levels(hashes)
    gap()
    elsewhere(hashes)
    circles()
    regions()
    invariance(hashes)
    check.write_hashes(hashes)


if __name__ == "__main__":
    check.run(__file__)
