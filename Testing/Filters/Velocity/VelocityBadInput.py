# SPDX-License-Identifier: BSD-3-Clause
"""Components and longitudes with wrong input: one message on one rank that names the cause, empty outputs, no hang,
and a pipeline that works again.

Every rank runs this script (pvbatch --sym).
"""

import check
import checkpoints
import numpy as np
import velocities
from unsteady import COMM, Paths, seeds, source

TIMES = [0.0, 0.5, 1.0]
SPLIT = "import velocities\nvelocities.split(output)\n"
NONE = ["POINTS", ""]
NAN = float("nan")
# Name: what the script does to the data of the last rank, what the message names.
CHANGES = (
    ("a component is missing", "p.RemoveArray('v')", ('"u"', "X Component", '"v"', "Y Component", "lacks")),
    ("the third is missing", "p.RemoveArray('w')", ('"u"', '"w"', "Z Component", "lacks")),
    ("three components", "p.RemoveArray('v'); p.GetArray('velocity').SetName('v')", ('"v"', "Y Component", "3 components", "1 component")),
    ("too few values", "p.GetArray('w').SetNumberOfTuples(5)", ('"w"', "Z Component", "5 values", "points")),
)


def only_there(change):
    """A change on the last rank, of each data set."""
    return SPLIT + f"""
if rank == ranks - 1:
    for leaf in velocities.leaves(output):
        p, c = leaf.GetPointData(), leaf.GetCellData()
        {change}
"""


def lines(proxy):
    proxy.UpdatePipeline(0.0)
    output = proxy.GetClientSideObject().GetOutputDataObject(0)
    total = sum(COMM.allgather(output.GetNumberOfCells()))
    return total or None


def paths(proxy):
    found = Paths(proxy, TIMES[-1])
    return len(found.ids) or None


def map_points(proxy):
    proxy.UpdatePipeline(0.0)
    output = proxy.GetClientSideObject().GetOutputDataObject(0)
    mask = output.GetPointData().GetArray("vtkValidPointMask") if output.IsA("vtkDataSet") else None
    return sum(COMM.allgather(1 if mask else 0)) and 1 or None


def check_faces(where):
    """Components on faces of other data than cells of one grid along the axes."""
    refusals = check.Refusals("vtkAsyncStreamTracer", lines)
    data = source("turn", TIMES, after=SPLIT, mesh="image", size=9)
    faces = {**velocities.of("CELLS"), "ComponentPosition": "Faces, High Side"}
    proxy = check.tracer(data, where, MaximumStreamlineLength=2.0, **faces)
    usual = lines(proxy)
    assert usual == 20, f"{usual} lines"
    for axis, name in zip("XYZ", "uvw"):
        setattr(proxy, axis + "Component", ["POINTS", name])
    choice = ("Component Position", "Faces, High Side", "Same Points or Cells")
    refusals.refused("faces of points", proxy, ('"u"', "X Component", "points", "choose arrays of cells", *choice))
    for axis, name in zip("XYZ", "uvw"):
        setattr(proxy, axis + "Component", ["CELLS", name])
    refusals.cured("faces of points", proxy, usual)
    proxy.Periodic, proxy.Period = [1, 0, 0], [7.0, 0, 0]  # a cell longer than the data
    refusals.refused("faces with a gap", proxy, ("Period",))
    proxy.Periodic = [0, 0, 0]
    refusals.cured("faces with a gap", proxy, usual)
    check.delete(proxy, data)

    for name, arguments, more, words in (
        ("curvilinear", {"mesh": "structured"}, "", ("vtkStructuredGrid", "use such a grid", *choice)),
        ("tetrahedra", {"mesh": "tetrahedra"}, "", ("vtkUnstructuredGrid", *choice)),
        ("a rotated image", {"mesh": "image"}, "output.SetDirectionMatrix(0, 1, 0, 1, 0, 0, 0, 0, 1)\n",
         ("Component Position", "increase or decrease", "use one uniform")),
        ("several grids", {"mesh": "rectilinear", "container": "multiblock", "pieces": 8}, "",
         ("Component Position", "one grid", "use one uniform")),
        ("a component is missing", {"mesh": "image"}, "if rank == ranks - 1: output.GetCellData().RemoveArray('v')\n",
         ('"u"', "X Component", '"v"', "Y Component", "lacks")),
    ):
        other = source("turn", TIMES, after=SPLIT + more, size=9, **arguments)
        wrong = check.tracer(other, where, MaximumStreamlineLength=2.0, **faces)
        refusals.refused(f"faces, {name}", wrong, words)
        wrong.ComponentPosition = "Same Points or Cells"
        if "missing" not in name:
            refusals.cured(f"faces, {name}", wrong, 20)
        check.delete(wrong, other)

    levels = source("turn", TIMES, after=SPLIT, build="meshes.build_hierarchy")
    wrong = check.tracer(levels, where, **faces)
    refusals.refused("faces of levels", wrong, ("hierarchy of levels", *choice))
    check.delete(wrong, levels)

    failures = refusals.failures
    data = source("turn", TIMES, after=SPLIT, mesh="tetrahedra", size=6)
    for name, value, proxy in (
        ("vtkAsyncPathTracer", paths, check.paths(data, where, **faces)),
        ("vtkAsyncFlowMap", map_points, check.flow_map(data, IntegrationTime=0.5, SamplingDimensions=[4, 4, 4], **faces)),
    ):
        refusals = check.Refusals(name, value)
        refusals.refused(f"{name}: faces of tetrahedra", proxy, ("Component Position", "vtkUnstructuredGrid"))
        failures += refusals.failures
        check.delete(proxy)
    check.delete(data)
    return failures


def cells(proxy):
    proxy.UpdatePipeline()
    output = proxy.GetClientSideObject().GetOutputDataObject(0)
    found = output.IsA("vtkDataSet") and output.GetCellData().HasArray("Concentration")
    return sum(COMM.allgather(int(bool(found)))) and 1 or None


def check_tracer(data, where):
    refusals = check.Refusals("vtkAsyncStreamTracer", lines)
    proxy = check.tracer(data, where, MaximumStreamlineLength=2.0, **velocities.of("POINTS"))
    usual = lines(proxy)
    assert usual == 20, f"{usual} lines"
    good = {axis: ["POINTS", name] for axis, name in zip("XYZ", "uvw")}
    refusals.properties(proxy, usual, (
        ("XComponent", NONE, good["X"], ("X Component", "1 component")),
        ("YComponent", NONE, good["Y"], ("Y Component", "1 component")),
        ("YComponent", good["X"], good["Y"], ("Y Component", '"u"', "X Component")),
        ("ZComponent", good["Y"], good["Z"], ("Z Component", '"v"', "Y Component")),
        ("ZComponent", ["POINTS", "no such"], good["Z"], ("Z Component", '"no such"', "lacks")),
        ("XComponent", ["CELLS", "u"], good["X"], ("X Component", "cells", "Y Component", "points")),
        ("YComponent", ["POINTS", "velocity"], good["Y"], ("Y Component", '"velocity"', "3 components")),
    ))
    proxy.XComponent, proxy.YComponent, proxy.ZComponent = (["POINTS", n] for n in ("a", "b", "c"))
    refusals.refused("no array of these names", proxy, ("no block", "X Component", "Y Component"))
    proxy.XComponent, proxy.YComponent, proxy.ZComponent = good.values()
    refusals.cured("no array of these names", proxy, usual)

    proxy.Coordinates = "Longitude Latitude"
    refusals.cured("any latitude in [-90, 90]", proxy, usual)
    for radius in (0.0, -1.0, NAN, float("inf")):
        proxy.SphereRadius = radius
        refusals.refused(f"a radius of {radius}", proxy, ("Sphere Radius", "positive"))
    proxy.SphereRadius = velocities.RADIUS
    refusals.cured("a wrong radius", proxy, usual)
    check.delete(proxy)

    for name, change, words in CHANGES:
        other = source("turn", TIMES, after=only_there(change), mesh="image", size=9)
        wrong = check.tracer(other, where, **velocities.of("POINTS"))
        refusals.refused(name, wrong, words)
        wrong.Vectors = ["CELLS", "velocity"]
        wrong.VelocityForm = "Vector Array"
        refusals.cured(name, wrong, usual)
        check.delete(wrong, other)
    # Data sets without any component are left out, as those without vectors.
    other = source("turn", TIMES, after=only_there("[p.RemoveArray(n) for n in 'uvw']"), mesh="image", size=9,
                   container="multiblock", pieces=8)
    few = check.tracer(other, where, MaximumStreamlineLength=2.0, **velocities.of("POINTS"))
    if COMM.size == 1:
        refusals.refused("no component", few, ("no block", "X Component"))
    elif lines(few) is None:
        refusals.failures.append("no lines in the data sets that have components")
    check.delete(few, other)

    # Beyond a pole.
    beyond = SPLIT + "velocities.to_globe(output, (0.0, -90.0), (360.0, 90.5))\n"
    for mesh in ("image", "tetrahedra"):
        other = source("turn", TIMES, after=beyond, mesh=mesh, size=7)
        wrong = check.tracer(other, where, **velocities.SPHERE, **velocities.of("CELLS"))
        refusals.refused(f"a latitude beyond a pole, {mesh}", wrong, ("Coordinates", "90.5", "Cartesian"))
        check.delete(wrong, other)
    return refusals.failures


def check_paths(where):
    refusals = check.Refusals("vtkAsyncPathTracer", paths)
    for change, words in (("p.RemoveArray('v')", ("Y Component", "lacks")),
                          ("[p.RemoveArray(n) for n in 'uvw']", ("the time 0.5", "the time 1", "X Component"))):
        after = SPLIT + f"if time == 1.0:\n    p = output.GetPointData()\n    {change}\n"
        other = source("turn", TIMES, after=after, mesh="tetrahedra", size=6)
        wrong = check.paths(other, where, **velocities.of("POINTS"))
        refusals.refused(f"at a later step: {change}", wrong, words)
        if len(Paths(wrong, 0.5).ids) != 10:
            refusals.failures.append("no paths before")
        check.delete(wrong, other)

    # A checkpoint of another radius, and of another form.
    data = source("turn", TIMES, after=SPLIT, mesh="image", size=9)
    folder = checkpoints.empty("radius")
    first = check.paths(data, where, CheckpointDirectory=folder, **velocities.SPHERE, **velocities.of("POINTS"))
    usual = paths(first)
    assert usual == 10, f"{usual} paths"
    check.delete(first)
    again = check.paths(data, where, CheckpointDirectory=folder, Resume=1, SphereRadius=1.0, **velocities.SPHERE,
                        **velocities.of("POINTS"))
    refusals.refused("a checkpoint of another radius", again, ("checkpoint", "other properties", "Resume"))
    again.SphereRadius = velocities.RADIUS
    again.VelocityForm = "Vector Array"
    refusals.refused("a checkpoint of another form", again, ("checkpoint", "other properties", "Resume"))
    again.VelocityForm = "Components"
    refusals.cured("a checkpoint of another radius", again, usual)
    check.delete(again, data)
    return refusals.failures


def check_map():
    refusals = check.Refusals("vtkAsyncFlowMap", map_points)
    data = source("turn", TIMES, after=only_there("p.RemoveArray('v')"), mesh="image", size=9)
    wrong = check.flow_map(data, IntegrationTime=0.5, SamplingDimensions=[4, 4, 4], **velocities.of("POINTS"))
    refusals.refused("flow map: a component is missing", wrong, ("X Component", "Y Component", "lacks"))
    wrong.XComponent, wrong.YComponent, wrong.ZComponent = (["CELLS", n] for n in "uvw")
    refusals.cured("flow map: a component is missing", wrong, 1)
    wrong.Coordinates = "Longitude Latitude"
    wrong.SphereRadius = 0.0
    refusals.refused("flow map: a radius of 0", wrong, ("Sphere Radius",))
    check.delete(wrong, data)
    return refusals.failures


def check_concentration():
    refusals = check.Refusals("vtkAsyncConvectionDiffusion", cells)
    rules = {k: v for k, v in velocities.of("POINTS").items() if k != "Vectors"}
    for name, change, words in CHANGES + (
            ("no component", "[p.RemoveArray(n) for n in 'uvw']", ("X Component", "Y Component")),
            ("a value that is not finite", "p.GetArray('v').FillComponent(0, float('nan'))",
             ("not finite", "Y Component"))):
        data = source("turn", TIMES[:1], after=only_there(change), mesh="image", size=9)
        wrong = check.carried(data, NumberOfSteps=1, **rules)
        refusals.refused(f"concentration: {name}", wrong, words)
        wrong.XComponent, wrong.YComponent, wrong.ZComponent = (["CELLS", n] for n in "uvw")
        refusals.cured(f"concentration: {name}", wrong, 1)
        wrong.YComponent = ["CELLS", "u"]
        refusals.refused(f"concentration: {name}, then one array twice", wrong, ("Y Component", "X Component"))
        check.delete(wrong, data)
    data = source("turn", TIMES[:1], after=SPLIT, mesh="image", size=9)
    wrong = check.carried(data, NumberOfSteps=1, ComponentPosition="Faces, Low Side", **rules)
    refusals.refused("concentration: faces of points", wrong, ("Component Position", "Faces, Low Side", "points"))
    wrong.XComponent, wrong.YComponent, wrong.ZComponent = (["CELLS", n] for n in "uvw")
    refusals.cured("concentration: faces of points", wrong, 1)
    check.delete(wrong, data)
    return refusals.failures


def main():
    where = seeds(np.random.default_rng(3).uniform(2, 4, (10, 3)))
    data = source("turn", TIMES, after=SPLIT, mesh="image", size=9)
    failures = check_tracer(data, where) + check_paths(where) + check_map() + check_concentration()
    failures += check_faces(where)
    assert not failures, "\n  ".join(failures)


if __name__ == "__main__":
    check.run(__file__)
