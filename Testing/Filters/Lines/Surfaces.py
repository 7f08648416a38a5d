# SPDX-License-Identifier: BSD-3-Clause
"""Events at surface meshes: brute force over all triangles, one answer for all cuts of data and surface, labels, cells of
all shapes, and data that are no surface.

Writes the hashes of lines and crossings to hashes.json; CompareHashes.py compares them between numbers of ranks.
"""

import numpy as np

import check
import crossings
from check import flows
from paraview import simple

VELOCITY = np.array([1.0, -0.5, 0.25])
CENTER, RADIUS, PARTS = np.array([3.2, 2.9, 3.0]), 1.7, 6

# The sphere's triangles on some of the ranks. Each rank makes all of them, and keeps its own.
SPHERE = """
import numpy as np
from vtkmodules.util.numpy_support import numpy_to_vtk
from vtkmodules.vtkCommonCore import vtkIdTypeArray, vtkPoints
from vtkmodules.vtkCommonDataModel import vtkCellArray, vtkPolyData
from vtkmodules.vtkParallelCore import vtkMultiProcessController
controller = vtkMultiProcessController.GetGlobalController()
rank = controller.GetLocalProcessId() if controller else 0
ranks = controller.GetNumberOfProcesses() if controller else 1

def poly_data(triangles, labels):
    data, points, cells = vtkPolyData(), vtkPoints(), vtkCellArray()
    points.SetData(numpy_to_vtk(np.ascontiguousarray(triangles.reshape(-1, 3)), deep=1))
    ids = numpy_to_vtk(np.arange(3 * len(triangles), dtype=np.int64), deep=1, array_type=12)
    cells.SetData(3, ids)
    data.SetPoints(points)
    data.SetPolys(cells)
    for name, kind in (("octant", np.int32), ("whole", np.float64), ("half", np.float32)):
        values = numpy_to_vtk(labels.astype(kind) + (0.5 if name == "half" else 0), deep=1)
        values.SetName(name)
        data.GetCellData().AddArray(values)
    return data

triangles, labels = {triangles}
triangles, labels = np.array(triangles), np.array(labels)
number = np.arange(len(triangles))
cut = {cut!r}
if cut == "cyclic":
    mine = number[number % ranks == rank]
elif cut == "reversed":
    mine = number[number % ranks == ranks - 1 - rank][::-1]
elif cut == "last":
    mine = number if rank == ranks - 1 else number[:0]
elif cut == "overlap":  # ghost cells of all others
    mine = number
else:
    mine = np.array_split(number, ranks)[rank]
output = self.GetOutputDataObject(0)
if {composite}:
    output.SetNumberOfBlocks(3)
    for block, some in ((0, labels[mine] < 4), (2, labels[mine] >= 4)):
        output.SetBlock(block, poly_data(triangles[mine][some], labels[mine][some]))
else:
    output.ShallowCopy(poly_data(triangles[mine], labels[mine]))
if cut == "overlap":
    ghosts = numpy_to_vtk((number % ranks != rank).astype(np.uint8), deep=1)
    ghosts.SetName("vtkGhostType")
    output.GetCellData().AddArray(ghosts)
{more}
"""


def sphere():
    """The triangles of a sphere, normals outward, and their octants."""
    triangles, labels = [], []
    for octant in range(8):
        signs = np.array([-1.0 if octant >> a & 1 else 1.0 for a in range(3)])

        def at(i, j):
            x = signs * [i, j, PARTS - i - j]
            return CENTER + RADIUS * x / np.sqrt((x**2).sum())

        for i in range(PARTS):
            for j in range(PARTS - i):
                for corners in ([(i, j), (i + 1, j), (i, j + 1)], [(i + 1, j + 1), (i, j + 1), (i + 1, j)]):
                    if corners[0][0] + corners[0][1] > PARTS:
                        continue
                    triangle = np.array([at(*c) for c in corners])
                    triangles.append(triangle[::-1] if signs.prod() < 0 else triangle)
                    labels.append(octant)
    return np.array(triangles), np.array(labels)


def surface(cut="blocks", composite=False, more=""):
    triangles, labels = sphere()
    script = SPHERE.format(
        triangles=repr((triangles.tolist(), labels.tolist())), cut=cut, composite=composite, more=more
    )
    proxy = simple.ProgrammableSource(
        OutputDataSetType="vtkMultiblockDataSet" if composite else "vtkPolyData", Script=script
    )
    proxy.UpdatePipeline()
    return proxy


def brute_force(starts):
    """For each start: times, octants and directions of the crossings of a straight line with each triangle."""
    triangles, labels = sphere()
    a, b, c = triangles[:, 0], triangles[:, 1], triangles[:, 2]
    normal = np.cross(b - a, c - a)
    slope = normal @ VELOCITY
    found = []
    for start in starts:
        time = (normal * (a - start)).sum(axis=1) / slope
        x = start + time[:, None] * VELOCITY
        inside = time > 0
        for p, q in ((a, b), (b, c), (c, a)):
            inside &= (np.cross(q - p, x - p) * normal).sum(axis=1) >= 0
        order = np.flatnonzero(inside)
        order = order[np.argsort(time[order])]
        found.append((time[order], labels[order], slope[order] > 0))
    return found


def straight():
    """Lines that are known, against each triangle."""
    grid = flows.source(flow="abc", mesh="image", size=13, dtype="float64")
    data = simple.Calculator(Input=grid, ResultArrayName="flow", Function="iHat-0.5*jHat+0.25*kHat")
    seeds = flows.seeds(60, (0.2, 2.0, 2.0, 6.0, 0.5, 4.0))
    target = surface()
    lines = check.tracer(
        data, seeds, Vectors=["POINTS", "flow"], MaximumStreamlineLength=100.0, IntegrationDirection="FORWARD",
        EventSurfaces=target, SurfaceLabelArray="octant", InitialStepLength=1.3,
        IntegratorType="Runge-Kutta 4",
    )
    lines.Events = ["surface", "surface positive", "surface negative", "plane origin 3 0 0 normal 1 0 0"]
    found, out = crossings.fetched(lines), check.Lines(check.fetch(lines))
    starts = {out.cell_data["SeedIds"][i]: out.points[out.line(i)[0]].astype(float) for i in range(out.count)}
    assert len(starts) == 60
    expected = dict(zip(starts, brute_force(list(starts.values()))))
    assert sum(len(times) for times, _, _ in expected.values()) > 40
    assert set(out.cell_data["TargetId"].tolist()) == {-1}
    assert set(found.data["TargetId"][found.data["EventId"] == 3].tolist()) == {-1}
    for seed, (times, octants, is_out) in expected.items():
        for event, keep in ((0, is_out >= 0), (1, is_out), (2, ~is_out)):
            mine = (found.data["SeedIds"] == seed) & (found.data["EventId"] == event)
            assert mine.sum() == keep.sum(), f"seed {seed}: {mine.sum()} crossings of event {event}, not {keep.sum()}"
            if keep.any():
                # Seeds are of single precision in the lines.
                assert abs(found.data["IntegrationTime"][mine] - times[keep]).max() < 1e-5, f"seed {seed}"
            assert found.data["TargetId"][mine].tolist() == octants[keep].tolist(), f"seed {seed}, event {event}"
    # Without a text, lines end at the first crossing.
    lines.Events = ["length 0.5"]
    found, out = crossings.fetched(lines), check.Lines(check.fetch(lines))
    for i in range(out.count):
        times, octants, _ = expected[out.cell_data["SeedIds"][i]]
        ends = [out.cell_data[name][i] for name in ("ReasonForTermination", "EventId", "TargetId")]
        assert ends == ([8, 1, octants[0]] if len(times) else [1, -1, -1]), f"line {i} ends with {ends}"
    for array, labels in (("whole", range(8)), ("", [0])):
        lines.SurfaceLabelArray = array
        labels = set(labels) | {-1}
        assert set(crossings.fetched(lines).data["TargetId"].tolist()) <= labels, f"labels of {array}"
    # The surface stays from one execution to the next one.
    statistics = check.arrays(check.fetch(lines).GetFieldData())
    assert not statistics["AsyncStreamTracer ReusedSurface"].any()
    assert (statistics["AsyncStreamTracer SurfaceTriangles"] == 8 * PARTS**2).all()
    lines.MaximumSteps = 1000
    assert check.arrays(check.fetch(lines).GetFieldData())["AsyncStreamTracer ReusedSurface"].all()
    # Without a surface.
    lines.EventSurfaces = None
    found, out = crossings.fetched(lines), check.Lines(check.fetch(lines))
    assert "TargetId" not in out.cell_data and "TargetId" not in found.data
    assert set(out.cell_data["EventId"].tolist()) == {-1}
    # Blocks have the numbers of their flat indices: 1 to 3, the second one empty.
    blocks = surface("cyclic", composite=True)
    lines.EventSurfaces = blocks
    out = check.Lines(check.fetch(lines))
    for i in range(out.count):
        times, octants, _ = expected[out.cell_data["SeedIds"][i]]
        label = (1 if octants[0] < 4 else 3) if len(times) else -1
        assert out.cell_data["TargetId"][i] == label, f"line {i} ends at {out.cell_data['TargetId'][i]}"
    check.delete(lines, blocks, target, seeds, data, grid)


# A prism whose base is no convex polygon, of height 2, as cells of other shapes. Polygons have normals outward.
PRISM = """
base = np.array([(2, 2), (4, 2), (4, 4), (3, 2.7), (2, 4)], float)
low, high = (np.column_stack([base, np.full(5, z)]) for z in (2.0, 4.0))
prism, points, polygons, strips = vtkPolyData(), vtkPoints(), vtkCellArray(), vtkCellArray()
points.SetData(numpy_to_vtk(np.concatenate([low, high]), deep=1))
prism.SetPoints(points)
def put(cells, ids):
    cells.InsertNextCell(len(ids))
    for i in ids:
        cells.InsertCellPoint(i)
if rank == ranks - 1:
    put(polygons, range(4, -1, -1))
    put(polygons, range(5, 10))
    sides = [(i, (i + 1) % 5) for i in range(5)]
    if {strips}:
        put(strips, [i + n for i in (0, 1, 2, 3, 4, 0) for n in (5, 0)])
    else:
        for i, j in sides:
            put(polygons, [i, j, j + 5, i + 5])
prism.SetPolys(polygons)
prism.SetStrips(strips)
output.ShallowCopy(prism)
"""


def shapes():
    """Polygons that are not convex, quadrilaterals and strips: inside and outside by a formula."""
    grid = flows.source(flow="abc", mesh="image", size=9, dtype="float64")
    data = simple.Calculator(Input=grid, ResultArrayName="flow", Function="0.01*iHat+0.02*jHat+kHat")
    seeds = flows.seeds(300, (1.5, 4.5, 1.5, 4.5, 0.1, 3.9))
    counts = []
    for strips in (False, True):
        prism = surface(more=PRISM.format(strips=strips))
        lines = check.tracer(
            data, seeds, Vectors=["POINTS", "flow"], MaximumStreamlineLength=100.0, IntegrationDirection="FORWARD",
            EventSurfaces=prism, Events=["surface positive", "surface negative"],
        )
        found, out = crossings.fetched(lines), check.Lines(check.fetch(lines))
        for i in range(out.count):
            x, y, z = out.points[out.line(i)[0]].astype(float)
            height = np.interp(x, [2, 3, 4], [4, 2.7, 4])  # of the notch
            inside = 2 < x < 4 and 2 < y < height and 2 < z < 4
            mine = found.data["SeedIds"] == out.cell_data["SeedIds"][i]
            ways = found.data["EventId"][mine].tolist()
            turns = [(n + (not inside)) % 2 for n in range(len(ways))]  # out of the prism and into it
            assert ways == turns and len(ways) % 2 == inside, f"line {i} from {x, y, z}: {ways}"
        place = found.points
        height = np.interp(place[:, 0], [2, 3, 4], [4, 2.7, 4])
        away = np.max([2 - place[:, 0], place[:, 0] - 4, 2 - place[:, 1], place[:, 1] - height, 2 - place[:, 2],
                       place[:, 2] - 4], axis=0)
        assert abs(away).max() < 1e-12, "crossings beside the prism"
        counts.append(len(place))
        check.delete(lines, prism)
    assert counts[0] == counts[1] > 100, f"crossings {counts}"
    check.delete(seeds, data, grid)


def invariance(hashes):
    """Lines and crossings have the same bits with all cuts of the data and of the surface."""
    events = ["surface negative end 3", "surface positive", "plane origin 3 3 3 normal 1 1 0.2"]
    for name, arguments, periodic in (("image", dict(mesh="image", size=15), [0, 0, 0]),
                                      ("periodic", dict(mesh="image", size=15), [1, 1, 1]),
                                      ("tetrahedra", dict(mesh="tetrahedra", size=8), [0, 0, 0])):
        seeds = flows.seeds(150, flows.bounds("abc"))
        data = flows.source(**arguments)
        lines = check.tracer(data, seeds, MaximumStreamlineLength=20.0, Periodic=periodic)
        lines.SurfaceLabelArray = "octant"
        lines.Events = []
        cuts = ("blocks", "cyclic", "reversed", "last", "overlap")
        for i, cut in enumerate(cuts if name == "image" else cuts[1:4:2]):
            target = surface(cut)
            lines.EventSurfaces = target
            lines.Events = events
            lines.BlocksPerRank, lines.LendingMemory = 1 + 2 * (i % 2), 512 * (i % 2)
            found, out = crossings.fetched(lines), check.Lines(check.fetch(lines))
            assert len(found.points) > 60, f"{name}: {len(found.points)} crossings"
            assert len(set(found.data["TargetId"].tolist())) == 9, f"{name}: labels"
            bits = found.digest() + out.digest()
            assert hashes.setdefault(name, bits) == bits, f"{name}: {cut}"
            lines.Events, lines.EventSurfaces = [], None
            check.delete(target)
        check.delete(lines, data, seeds)


def refusals():
    """Data that are no surface, and texts and arrays that do not match."""
    messages = check.Messages()
    data, seeds = flows.source(mesh="image", size=9), flows.seeds(20, (1.5, 4.5) * 3)
    lines = check.tracer(data, seeds)
    last = "rank == ranks - 1 and "
    good = surface()
    cases = [
        (good, dict(Events=["surface end 0"]), ("Events", "after \"end\"")),
        (good, dict(Events=["surface 3"]), ("Events", "between \"surface\"")),
        (good, dict(Events=["length 1"] * 8), ("Events", "at most 7 beside Event Surfaces")),
        (good, dict(SurfaceLabelArray="none"), ("Surface Label Array", "\"none\"", "choose an array")),
        (good, dict(SurfaceLabelArray="half"), ("Surface Label Array", ".5", "whole numbers")),
        (None, dict(Events=["surface"]), ("Events", "set Event Surfaces")),
        (data, {}, ("Event Surfaces", "vtkImageData", "Extract Surface")),
        (surface(more=last + "output.GetPoints().SetPoint(1, 0, float('nan'), 0)"), {},
         ("Event Surfaces", "nan", "use finite coordinates")),
        (surface(more=last + "output.GetPolys().GetConnectivityArray().SetComponent(3, 0, 5000)"), {},
         ("point 5000", "repair")),
        (surface(more="output.SetVerts(output.GetPolys())\noutput.SetPolys(vtkCellArray())"), {},
         ("Event Surfaces", "lines and vertices", "use a mesh")),
    ]
    for bad, properties, words in cases:
        lines.EventSurfaces = bad
        for name, value in properties.items():
            setattr(lines, name, value)
        messages.take()
        assert check.Lines(check.fetch(lines)).count == 0, f"lines in spite of {words}"
        said = [line for part in messages.take() for line in part.splitlines() if "No streamlines" in line]
        assert len(said) == 1, f"{len(said)} messages with {words}: {said}"
        for word in words:
            assert word in said[0], f"no {word!r} in {said[0]}"
        lines.EventSurfaces, lines.Events, lines.SurfaceLabelArray = None, [], ""
        assert check.Lines(check.fetch(lines)).count > 0, f"no lines after {words}"
        if bad not in (None, good, data):
            check.delete(bad)
    # No cells at all is no error: a surface may be empty at a time step.
    empty = surface(more="output.Initialize()")
    lines.EventSurfaces = empty
    assert check.Lines(check.fetch(lines)).count > 0 and len(crossings.fetched(lines).points) == 0
    said = "".join(messages.take())
    assert "No streamlines" not in said, said
    check.delete(lines, empty, good, data, seeds)


def main():
    hashes = {}
    straight()
    invariance(hashes)
    if check.ranks() <= 3:
        shapes()
        refusals()
    check.write_hashes(hashes)


if __name__ == "__main__":
    check.run(__file__)
