# SPDX-License-Identifier: BSD-3-Clause
"""Wrong input: one message on one rank that names the cause, no hang, and a pipeline that works again.

A rank that hangs is ended by the time limit of check.run, which fails the test.
"""

import numpy as np

import check
from check import flows
from paraview import simple

SPOIL = """
import numpy as np
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkParallelCore import vtkMultiProcessController
controller = vtkMultiProcessController.GetGlobalController()
rank = controller.GetLocalProcessId() if controller else 0
last = rank == (controller.GetNumberOfProcesses() - 1 if controller else 0)
data = self.GetOutputDataObject(0)
data.DeepCopy(self.GetInputDataObject(0, 0))
points, cells = data.GetPointData(), data.GetCellData()
vectors = points.GetArray("velocity")
{how}
"""

# An array of one tuple where there should be one for each point or cell.
SHORT = """
from vtkmodules.vtkCommonCore import vtkFloatArray, vtkUnsignedCharArray
short = (vtkUnsignedCharArray if {name!r} == "vtkGhostType" else vtkFloatArray)()
short.SetName({name!r})
short.SetNumberOfComponents({components})
short.SetNumberOfTuples(1)
short.Fill(0)
{place}.RemoveArray({name!r})
{place}.AddArray(short)
"""
# What numbers a seed source may give its points.
IDS = """
from vtkmodules.vtkCommonCore import vtkIdTypeArray
ids = vtkIdTypeArray()
ids.SetName("ids")
for i in range(data.GetNumberOfPoints()):
    ids.InsertNextValue({first} + i)
points.SetGlobalIds(ids)
"""
# Names of the filter's own point arrays.
OURS = ("IntegrationTime", "Vorticity", "Rotation", "AngularVelocity", "Normals")

# Arrays without a name before and after the others. ParaView's own filters crash on them.
NAMELESS = """
from vtkmodules.vtkCommonCore import vtkDoubleArray, vtkStringArray
for attributes, count in ((points, data.GetNumberOfPoints()), (cells, data.GetNumberOfCells())):
    kept = [attributes.GetAbstractArray(i) for i in range(attributes.GetNumberOfArrays())]
    for array in kept:
        attributes.RemoveArray(array.GetName())
    numbers, words = vtkDoubleArray(), vtkStringArray()
    for array in (numbers, words):
        array.SetNumberOfTuples(count)
    numbers.Fill(1)
    for array in [numbers] + kept + [words]:
        attributes.AddArray(array)
"""
# An array whose name is empty, of as many components as no property of the filter accepts: ParaView crashes
# when it lists others for a property, see Docs/Guide/KnownProblems.md.
EMPTY_NAME = """
from vtkmodules.vtkCommonCore import vtkDoubleArray
for attributes, count in ((points, data.GetNumberOfPoints()), (cells, data.GetNumberOfCells())):
    numbers = vtkDoubleArray()
    numbers.SetName("")
    numbers.SetNumberOfComponents({components})
    numbers.SetNumberOfTuples(count)
    numbers.Fill(1)
    attributes.AddArray(numbers)
"""
# A cell that refers to a point which the data set does not have.
POINT = "data.GetCells().GetConnectivityArray().SetComponent(9, 0, {point})"
# Fewer points than the extent of a structured grid.
TOO_FEW_POINTS = "data.GetPoints().Resize(5)"

NO_VECTORS = 'points.RemoveArray("velocity"); cells.RemoveArray("velocity")'


def spoiled(data, how):
    proxy = simple.ProgrammableFilter(Input=data, Script=SPOIL.format(how=how))
    proxy.UpdatePipeline()
    return proxy


class Cases:
    def __init__(self):
        self.messages = check.Messages()
        self.data = flows.source(mesh="image", size=9)
        # Not close to the border, where a line may leave before its first step.
        self.seeds = flows.seeds(20, (1.5, 4.5) * 3)
        self.failures = []

    def expect(self, name, condition, what):
        if not condition:
            self.failures.append(f"{name}: {what}")

    def told(self, name, words):
        """One message of the filter, on one rank, that has all the words."""
        said = self.messages.take()
        found = [line for part in said for line in part.splitlines() if "No streamlines" in line]
        self.expect(name, len(found) == 1, f"{len(found)} messages instead of one: {found}")
        errors = sum(part.count("ERR|") for part in said)
        self.expect(name, errors == 1, f"{errors} errors on all ranks: {said}")
        for word in ("vtkAsyncStreamTracer",) + words:
            self.expect(name, found and word in found[0], f"no word {word!r} in {found}")

    def refused(self, name, words, lines, cure):
        """The filter refuses with a message, and works when cure(lines) was called."""
        self.messages.take()
        out = check.Lines(check.fetch(lines))
        self.expect(name, out.count == 0, f"{out.count} lines")
        self.told(name, words)
        cure(lines)
        out = check.Lines(check.fetch(lines))
        self.expect(name, out.count > 0, "no lines after the cure")
        said = "".join(self.messages.take())
        self.expect(name, "No streamlines" not in said, "still a message after the cure")
        print(name, flush=True)

    def refused_property(self, name, bad, good, **others):
        """A value that the property's domain may forbid in the user interface, but not a script."""
        lines = check.tracer(self.data, self.seeds, **{name: bad}, **others)

        def cure(proxy):
            setattr(proxy, name, good)

        self.refused(f"{name} = {bad}", (check.label(name),), lines, cure)
        check.delete(lines)

    def works(self, name, data, test=None, **properties):
        """Odd input that is no error: runs, ends and passes test(lines)."""
        self.messages.take()
        lines = check.tracer(data, self.seeds, **properties)
        out = check.Lines(check.fetch(lines))
        said = "".join(self.messages.take())
        self.expect(name, "No streamlines" not in said, said)
        # Only an array that some blocks lack may be NaN, there.
        for array in ("IntegrationTime", "velocity"):
            values = out.point_data.get(array, np.zeros(0))
            self.expect(name, np.isfinite(values).all(), f"{array} is not finite somewhere")
        self.expect(name, np.isfinite(out.points).all(), "points are not finite")
        if test is not None:
            self.expect(name, test(out), f"{out.count} lines, {out.cell_data}")
        check.delete(lines)
        print(name, flush=True)


def reasons(lines):
    return set(lines.cell_data.get("ReasonForTermination", np.zeros(0, int)).tolist())


def take_whole(data):
    return lambda proxy: setattr(proxy, "Input", data)


def names(cases, data):
    """Vectors, or another array, that have the name of an array which the filter makes."""
    lines = check.tracer(data, cases.seeds)
    usual = check.Lines(check.fetch(lines))
    check.delete(lines)
    for name in OURS:
        for array in ("velocity", "height"):
            renamed = spoiled(data, f"points.GetArray({array!r}).SetName({name!r})")
            chosen = ["POINTS", name if array == "velocity" else "velocity"]
            cases.messages.take()
            lines = check.tracer(renamed, cases.seeds, Vectors=chosen)
            out = check.Lines(check.fetch(lines))
            check.delete(lines)
            what = f"{array} called {name}"
            said = "".join(cases.messages.take())
            cases.expect(what, not said, said)
            cases.expect(what, np.array_equal(out.points, usual.points), "other lines")
            for own in OURS:
                same = np.array_equal(out.point_data.get(own), usual.point_data[own])
                cases.expect(what, same, f"{own} is another")


def malformed(cases, good):
    """Data sets whose cells or extents refer to points that they do not have."""
    lines = check.tracer(good, cases.seeds, MaximumStreamlineLength=6.0)
    grid = flows.source(mesh="hexahedra", size=9)
    for point in (-1, -3, 5000000, 2**62):
        lines.Input = spoiled(grid, POINT.format(point=point))
        cases.refused(f"a cell with point {point}", ("has point", "repair"), lines, take_whole(good))
    # A hexahedron's points for a triquadratic one, and types that VTK does not have.
    for kind, word in ((29, "8 points"), (81, "no class"), (200, "no class")):
        lines.Input = spoiled(grid, f"data.GetCellTypesArray().SetValue(0, {kind})")
        cases.refused(f"a cell of type {kind}", (f"of type {kind}", word, "repair"), lines, take_whole(good))
    for how in (TOO_FEW_POINTS, "data.SetPoints(None)"):
        lines.Input = spoiled(flows.source(mesh="structured", size=9), how)
        cases.refused(how, ("structured grid", "repair"), lines, take_whole(good))
    check.delete(lines)


def without_cells(cases, image, grid):
    """Data sets none of whose cells a line can cross: no lines, and one warning that says why."""
    move = """
from vtkmodules.vtkCommonCore import vtkPoints
moved = vtkPoints()
moved.SetDataTypeToDouble()
for i in range(data.GetNumberOfPoints()):
    moved.InsertNextPoint(*[{new} for x in data.GetPoint(i)])
data.SetPoints(moved)
"""
    ghosts = """
from vtkmodules.vtkCommonCore import vtkUnsignedCharArray
flags = vtkUnsignedCharArray()
flags.SetName("vtkGhostType")
flags.SetNumberOfTuples(data.GetNumberOfCells())
flags.Fill(255)
cells.AddArray(flags)
"""
    cut = [(grid, f"points at {new}", move.format(new=new))
           for new in ("1", "float('nan')", "float('inf')", "x * 1e150", "x * 1e-160", "x + 1e20")]
    cut += [(grid, "all cells ghosts", ghosts), (image, "an image of ghosts", ghosts)]
    cut += [(image, how, f"data.{how}") for how in (
        "SetSpacing(0, 1, 1)", "SetSpacing(float('nan'), 1, 1)",
        "SetDirectionMatrix(1, 0, 0, 1, 0, 0, 0, 0, 1)",
        "SetDirectionMatrix(float('nan'), 0, 0, 0, 1, 0, 0, 0, 1)")]
    for data, name, how in cut:
        cases.messages.take()
        lines = check.tracer(spoiled(data, how), cases.seeds, MaximumStreamlineLength=6.0)
        count = check.Lines(check.fetch(lines)).count
        check.delete(lines)
        said = "".join(cases.messages.take())
        cases.expect(name, count == 0, f"{count} lines")
        cases.expect(name, said.count("There are no streamlines: each cell") == 1, f"said {said!r}")
        cases.expect(name, "ERR|" not in said, said)
        print(name, flush=True)


def plane(kind, upward):
    """A flat image, its surface, or a slice, with circles whose vectors also have a component out of the plane."""
    flat = kind != "slice"
    image = simple.Wavelet(WholeExtent=[-10, 10, -10, 10, 0 if flat else -3, 0 if flat else 3])
    flow = simple.Calculator(Input=image, ResultArrayName="velocity")
    flow.Function = f"-coordsY * iHat + coordsX * jHat + {upward} * kHat"
    if kind == "image":
        return flow
    if kind == "surface":
        return simple.ExtractSurface(Input=flow)
    piece = simple.Slice(Input=flow)
    piece.SliceType.Normal = [0.0, 0.0, 1.0]
    return piece


def leaving_surface(cases):
    """Vectors that point out of a surface: no lines and one warning, and lines along the surface if asked."""
    seeds = flows.seeds(30, (-6, 6, -6, 6, 0, 0))
    settings = {"MaximumStreamlineLength": 9.0, "IntegrationDirection": "FORWARD"}
    for kind in ("image", "surface", "slice"):
        usual = None
        for upward in (0, 0.5, 5):
            name = f"{kind}, vectors with {upward} out of it"
            data = plane(kind, upward)
            cases.messages.take()
            lines = check.tracer(data, seeds, **settings)
            count = check.Lines(check.fetch(lines)).count
            said = "".join(cases.messages.take())
            cases.expect(name, count == (30 if upward == 0 else 0), f"{count} lines")
            cases.expect(name, said.count("WARN|") == (0 if upward == 0 else 1), said)
            cases.expect(name, upward == 0 or "vtkAsyncStreamTracer" in said, said)
            cases.expect(name, upward == 0 or "30 seeds have no line" in said, said)
            cases.expect(name, upward == 0 or "turn on Surface Streamlines" in said, said)
            lines.Events, lines.CrossingsOnly = ["plane origin 50 0 0 normal 1 0 0"], 1
            check.fetch(lines)
            again = "".join(cases.messages.take())
            cases.expect(name, again.count("30 seeds have no line") == (0 if upward == 0 else 1), again)
            lines.CrossingsOnly, lines.Events = 0, []
            lines.SurfaceStreamlines = 1
            out = check.Lines(check.fetch(lines))
            said = "".join(cases.messages.take())
            cases.expect(name, not said, said)
            usual = usual or out
            cases.expect(name, out.count == 30 and reasons(out) == {4}, f"{out.count} lines, {reasons(out)}")
            same = out.points.shape == usual.points.shape and np.allclose(out.points, usual.points, atol=1e-5)
            cases.expect(name, same, "lines along the surface are not those of vectors in the surface")
            check.delete(lines, data)
            print(name, flush=True)


def main():
    cases = Cases()
    data, seeds = cases.data, cases.seeds
    good = data

    for name, bad, fine in (
        ("InitialStepLength", 0.0, 0.2),
        ("InitialStepLength", -1.0, 0.2),
        ("InitialStepLength", float("nan"), 0.2),
        ("InitialStepLength", float("inf"), 0.2),
        ("MinimumStepLength", 2.0, 0.01),
        ("MaximumError", 0.0, 1e-6),
        ("MaximumSteps", -1, 2000),
        ("MaximumStreamlineLength", 0.0, 6.0),
        ("MaximumStreamlineLength", float("nan"), 6.0),
        ("TerminalSpeed", -1.0, 1e-12),
        ("MaximumIntegrationTime", -1.0, 0.0),
        ("BlocksPerRank", 0, 1),
        ("BlocksPerRank", 1000001, 1),
        ("Arrivals", 2.0, 1.0),
        ("Detector", "nonsense", "default"),
    ):
        cases.refused_property(name, bad, fine)
    good_event = ["plane origin 1 1 1 normal 0 0 1"]
    for bad in (
        "", "plane", "plain normal 0 0 1", "1 plane", "plane normal 0 0", "plane 0 0 1", "plane normal 0 0 0",
        "plane normal 0 0 nan", "plane origin 0 0 0 normal 0 0 1 origin 1 1 1", "plane normal 0 0 1 radius 2",
        "plane normal 0 0 1 end 0", "plane normal 0 0 1 end 1.5", "plane normal 0 0 1 end 1 2",
        "plane normal 0 0 1 positive negative", "plane normal 0 0 1 positive 3", "sphere radius 0", "sphere center 1 1 1",
        "box lower 0 0 0", "box lower 0 0 0 upper 1 1 0", "angle axis 0 0 1 from 0 0 2", "angle degrees inf",
        "length -1", "time 0", "time", "plane normal 0 0 \u22121", "plane normal 0;0;1", "plane: normal 0 0 1",
        "plane normal 0 0 1 end end 2", "plane normal 0 0 1 positive positive", "plane normal 0 0 1 any positive",
        "plane normal 0 0 1 plane", "length 1 length 1",
        "isovalue", "isovalue height", "isovalue height 1 2", "isovalue height nan", "isovalue 'height 1",
        "isovalue nothing 1", "isovalue velocity 1", "label", "label height positive", "label height 1 2",
        'label "" 1', "label height 1 end 0",
    ):
        cases.refused_property("Events", [bad], good_event)
    cases.refused_property("Events", 9 * good_event, good_event)
    for how, event in (
        ('if last: points.RemoveArray("height")', "isovalue height 9"),
        ("if last:\n  " + SHORT.format(name="height", components=1, place="points").replace("\n", "\n  "),
         "label height 9"),
        ("if last:\n  " + SHORT.format(name="height", components=2, place="points")
         .replace("\n", "\n  ").replace("SetNumberOfTuples(1)", "SetNumberOfTuples(data.GetNumberOfPoints())"),
         "isovalue 'height' 9"),
    ):
        bad = spoiled(data, how)
        lines = check.tracer(bad, seeds, Events=[event])
        cases.refused(f"{event}, {how[:40]}", (check.label("Events"), "height", event), lines,
                      lambda p: setattr(p, "Input", data))
        check.delete(lines, bad)
    mark = SHORT.format(name="mark", components=1, place="cells")
    mark = mark.replace("SetNumberOfTuples(1)", "SetNumberOfTuples(data.GetNumberOfCells())")
    marked = spoiled(data, mark)
    lines = check.tracer(marked, seeds, Events=["label mark"], Periodic=[1, 0, 0], Period=[7.1, 0, 0])
    cases.refused("labels of cells beside a gap", (check.label("Events"), "mark", "gap"), lines,
                  lambda p: setattr(p, "Events", ["isovalue height 9"]))
    check.delete(lines, marked)
    cases.refused_property("CrossingsOnly", 1, 0)

    def take_good(lines):
        lines.Input = good

    without = spoiled(data, NO_VECTORS)
    lines = check.tracer(without, seeds, MaximumStreamlineLength=6.0)
    cases.refused("no vectors", ("Vectors",), lines, take_good)
    lines.Vectors = ["POINTS", "no such array"]
    cases.refused(
        "another name", ("Vectors",), lines, lambda p: setattr(p, "Vectors", ["POINTS", "velocity"])
    )
    lines.Vectors = ["POINTS", "height"]
    cases.refused(
        "one component", ("components",), lines,
        lambda p: setattr(p, "Vectors", ["POINTS", "velocity"]),
    )
    nothing = flows.seeds(0, flows.bounds("abc"))
    lines.SeedSource = nothing
    cases.refused("no seeds", ("seed",), lines, lambda p: setattr(p, "SeedSource", seeds))
    empty = simple.ProgrammableSource()
    empty.OutputDataSetType = "vtkUnstructuredGrid"
    empty.UpdatePipeline()
    lines.Input = empty
    cases.refused("no cells on any rank", ("Vectors",), lines, take_good)
    check.delete(lines)

    lines = check.tracer(good, seeds, MaximumStreamlineLength=6.0)
    for mesh in ("image", "hexahedra"):
        whole = flows.source(mesh=mesh, size=9, centring="both")
        for where, place in (("POINTS", "points"), ("CELLS", "cells")):
            how = SHORT.format(name="velocity", components=3, place=place)
            lines.Vectors = [where, "velocity"]
            lines.Input = spoiled(whole, how)
            cases.refused(f"{mesh}, too few vectors of {place}", ("velocities",), lines, take_whole(whole))
            lines.Input = spoiled(whole, SHORT.format(name="vtkGhostType", components=1, place=place))
            cases.refused(
                f"{mesh}, too few ghost flags of {place}", ("flags", "remove vtkGhostType"), lines,
                take_whole(whole)
            )
    lines.Vectors = ["POINTS", "velocity"]
    for first in ("-3", "2**63 - data.GetNumberOfPoints()"):
        lines.SeedSource = spoiled(seeds, IDS.format(first=first))
        cases.refused(
            f"seed ids from {first}", ("id",), lines, lambda p: setattr(p, "SeedSource", seeds)
        )
    check.delete(lines)

    for mesh in ("image", "hexahedra"):
        whole = flows.source(mesh=mesh, size=9)
        short = spoiled(whole, SHORT.format(name="short", components=1, place="points"))
        cases.works(
            f"{mesh}, an array too short", short,
            lambda out: out.count == 40 and "short" not in out.point_data,
        )
        names(cases, whole)

    bad = "for i in range(0, vectors.GetNumberOfTuples(), 3): vectors.SetTuple3(i, {0}, {0}, {0})"
    for value in ("float('nan')", "float('inf')", "-float('inf')"):
        cases.works(f"velocity {value}", spoiled(data, bad.format(value)))
    everywhere = "for i in range(vectors.GetNumberOfTuples()): vectors.SetTuple3(i, {0}, {0}, {0})"
    cases.works("velocity NaN everywhere", spoiled(data, everywhere.format("float('nan')")))
    cases.works(
        "velocity 0 everywhere",
        spoiled(data, everywhere.format(0)),
        lambda out: out.count == 0 or reasons(out) <= {2, 6},
    )
    cases.works("velocity 1e30", spoiled(data, everywhere.format(1e30)))
    if check.ranks() > 1:
        cases.works("no vectors on the last rank", spoiled(data, f"if last: {NO_VECTORS}"))
    cases.works(
        "another array on the last rank",
        spoiled(data, "if last: points.GetArray('height').SetName('other')"),
        lambda out: out.count > 0,
    )
    cases.works("limits beyond reason", data, lambda out: out.count == 40,
                MaximumStreamlineLength=1e300, MaximumSteps=2000000, MaximumStepLength=1e30,
                MaximumError=1e30)
    cases.works("no steps", data, MaximumSteps=0)
    for ranks in (1, 100):
        cases.works(f"data on all ranks but {ranks}", flows.source(mesh="image", size=9, empty=ranks),
                    lambda out: out.count == 40)
    flat = flows.source(mesh="hexahedra", size=9, jitter=0.0)
    squash = """
p = data.GetPoints()
for i in range(data.GetNumberOfPoints()):
    x, y, z = p.GetPoint(i)
    p.SetPoint(i, x, y, min(z, 4.0))
"""
    cases.works("cells without volume", spoiled(flat, squash), lambda out: out.count > 0)
    torn = "data.GetPoints().SetPoint(0, float('nan'), 0, 0)"
    cases.works("a point that is not a number", spoiled(flat, torn), lambda out: out.count > 0)

    malformed(cases, data)
    without_cells(cases, data, flat)
    leaving_surface(cases)
    for mesh in ("image", "hexahedra"):
        unnamed = spoiled(flows.source(mesh=mesh, size=9), NAMELESS)
        cases.works(f"{mesh}, arrays without a name", unnamed, lambda out: out.count == 40)
        unnamed = spoiled(flows.source(mesh=mesh, size=9), EMPTY_NAME.format(components=2))
        if check.ranks() == 1:  # ParaView crashes when it gathers information about such data from several ranks
            cases.works(f"{mesh}, an array with an empty name", unnamed, lambda out: out.count == 40)

    cases.messages.take()
    mixed = check.tracer(simple.GroupDatasets(Input=[good, simple.HyperTreeGridRandom()]), seeds)
    cases.expect("hyper tree grids too", check.Lines(check.fetch(mixed)).count == 40, "no lines")
    told = "".join(cases.messages.take()).count("The hyper tree grids of the input are not traced")
    cases.expect("hyper tree grids too", told == 1, f"{told} warnings")
    check.delete(mixed)

    lines = check.tracer(good, seeds, PointArrays=["no such array"])
    cases.expect("an array that is none", check.Lines(check.fetch(lines)).count == 40, "no lines")
    said = "".join(cases.messages.take())
    told = said.count('The input has no point array "no such array"')
    cases.expect("an array that is none", told == 1 and "Point Arrays" in said, said)
    check.delete(lines)

    for number in ("nan", "inf", "-inf", "1e300"):
        move = "for i in range(data.GetNumberOfPoints()): data.GetPoints().SetPoint(i, float({!r}), 3, 3)"
        odd = spoiled(seeds, move.format(number))
        lines = check.tracer(good, odd)
        cases.expect(f"seeds at {number}", check.Lines(check.fetch(lines)).count == 0, "lines")
        said = "".join(cases.messages.take())
        cases.expect(f"seeds at {number}", "No streamlines" not in said, said)
        check.delete(lines)

    outside = flows.seeds(20, flows.bounds("abc"), outside=20)
    lines = check.tracer(data, outside, ReportRejectedSeeds=1)
    out = check.fetch(lines)
    count = out.GetFieldData().GetArray("AsyncStreamTracer RejectedSeeds")
    cases.expect("all seeds outside", check.Lines(out).count == 0, "lines")
    total = count and sum(count.GetValue(i) for i in range(count.GetNumberOfTuples()))
    cases.expect("all seeds outside", total == 20, f"{total} reported")
    lines.SeedSource = seeds
    cases.expect("all seeds outside", check.Lines(check.fetch(lines)).count == 40, "no lines after")

    assert not cases.failures, "\n  ".join(["bad input:"] + cases.failures)


if __name__ == "__main__":
    check.run(__file__)
