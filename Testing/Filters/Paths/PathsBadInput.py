# SPDX-License-Identifier: BSD-3-Clause
"""Async Path Tracer with wrong input: one message on one rank that names the cause, empty outputs, no hang, and
a pipeline that works again. Input that leaves nothing to trace: one warning.

Every rank runs this script (pvbatch --sym).
"""

import check
import numpy as np
from paraview import simple
from Surfaces import surface
from unsteady import COMM, Paths, seeds, source

TIMES = [0.0, 0.5, 1.0]
NAN = float("nan")
# What changes the mesh at the last step; paths go on.
CHANGES = (
    ("image", "output.SetSpacing(1.1, 1.1, 1.1)"),
    ("rectilinear", "output.GetXCoordinates().SetComponent(0, 0, -0.1)"),
    ("structured", """
import vtk
ghosts = vtk.vtkUnsignedCharArray()
ghosts.SetName("vtkGhostType")
ghosts.SetNumberOfTuples(output.GetNumberOfCells())
ghosts.Fill(0)
output.GetCellData().AddArray(ghosts)
"""),
    ("tetrahedra", """
import vtk
cells = vtk.vtkIdList()
for i in range(output.GetNumberOfCells() - 1): cells.InsertNextId(i)
extract = vtk.vtkExtractCells()
extract.SetInputData(output.NewInstance())
extract.GetInput().ShallowCopy(output)
extract.SetCellList(cells)
extract.Update()
output.ShallowCopy(extract.GetOutput())
"""),
    ("tetrahedra", """
import vtk
ids = vtk.vtkIdTypeArray()
ids.SetName("ids")
for i in range(output.GetNumberOfPoints()): ids.InsertNextValue(i + 7 * rank)
output.GetPointData().SetGlobalIds(ids)
unsteady.move(output, 'sway', 'turn', time)
"""),
)
# What leaves nothing to trace at the last step.
LOSSES = (
    ("image", "output.GetPointData().RemoveArray('velocity')"),
    ("tetrahedra", "output.GetPointData().RemoveArray('velocity')"),  # the cells still have them
    ("image", "output.SetExtent(0, 1, 0, 1, 0, 1); output.GetPointData().Initialize()"),
    ("tetrahedra", "output.Initialize()"),
)


def count(proxy):
    """The number of particles at the end, or None without output."""
    paths = Paths(proxy, TIMES[-1])
    return len(paths.ids) if paths.data.GetNumberOfPoints() or paths.ids else None


def points(proxy):
    """The number of points, also if it is 0."""
    return len(Paths(proxy, TIMES[-1]).ids)


def at_the_end(change, condition=""):
    """A script that changes the last step."""
    body = "\n".join("    " + line for line in change.strip().splitlines())
    return f"if time == {TIMES[-1]}{condition}:\n{body}\n"


def only_there(change):
    """A script that changes the last step on the last rank."""
    return at_the_end(change, " and rank == ranks - 1")


def main():
    refusals = check.Refusals("vtkAsyncPathTracer", count)
    where = seeds(np.random.default_rng(3).uniform(2, 4, (10, 3)))
    data = source("turn", TIMES, mesh="image", size=9)
    proxy = check.paths(data, where, ForceReinjectionEveryNSteps=1, OutputKind="Particles")
    usual = count(proxy)
    assert usual == 30, f"{usual} particles"
    refusals.properties(proxy, usual, (
        ("ForceReinjectionEveryNSteps", -1, 1, ("Force Reinjection Every N Steps",)),
        ("InjectionStartTime", NAN, -1e299, ("Injection Start Time",)),
        ("InjectionEndTime", -1e300, 1e299, ("Injection End Time", "Injection Start Time")),
        ("InjectionEndTime", NAN, 1e299, ("Injection End Time",)),
        ("TerminationTime", NAN, 0, ("Termination Time",)),
        ("InitialStepLength", 0.0, 0.2, ("Initial Step Length",)),
        ("MinimumStepLength", -1.0, 0.01, ("Minimum Step Length",)),
        ("MinimumStepLength", 0.7, 0.01, ("Minimum Step Length", "Maximum Step Length")),
        ("MaximumStepLength", NAN, 0.5, ("Maximum Step Length",)),
        ("MaximumError", 0.0, 1e-6, ("Maximum Error",)),
        ("MaximumSteps", -1, 2000, ("Maximum Steps",)),
        ("TerminalSpeed", -1.0, 0.0, ("Terminal Speed",)),
        ("RotationScale", NAN, 1.0, ("Rotation Scale",)),
        ("Events", ["plane"], [], ("Events", "give 3 numbers")),
        ("Events", ["isovalue nothing 1"], [], ("Events", "isovalue nothing 1", "use an array of the input")),
        ("Events", ["label velocity 1"], [], ("Events", "label velocity 1", "one component")),
        ("Events", ["surface"], [], ("Events", '"surface" without Event Surfaces', "set Event Surfaces")),
        ("CrossingsOnly", 1, 0, ("Crossings Only", "add an event")),
        ("BlocksPerRank", 0, 1, ("Blocks Per Rank",)),
        ("LendingMemory", -1, 512, ("Lending Memory",)),
        ("Vectors", ["POINTS", "none"], ["POINTS", "velocity"], ("Vectors",)),
        ("Vectors", ["POINTS", "height"], ["POINTS", "velocity"], ("Vectors",)),
    ))

    for mesh, change in CHANGES:
        other = source("turn", TIMES, after=at_the_end(change), mesh=mesh, size=6)
        changed = check.paths(other, where)
        refusals.cured(f"{mesh}: {change}", changed, 10)
        if not change.rstrip().endswith("'turn', time)"):  # these points move only
            for event in ("time 0.25", "isovalue height 20"):
                changed.Events = [event]
                refusals.refused(f"{event}: {mesh}: {change}", changed,
                                 ("Events", "mesh that changes", "0.5", "1", "remove the events"))
        check.delete(changed, other)
    for mesh, change in LOSSES:
        other = source("turn", TIMES, after=at_the_end(change), mesh=mesh, size=6)
        wrong = check.paths(other, where)
        refusals.refused(f"{mesh}: {change}", wrong, ("vectors", "the time 0.5", "the time 1"))
        # The steps before are fine.
        if len(Paths(wrong, 0.5).ids) != 10:
            refusals.failures.append(f"{mesh}: {change}: no paths before")
        check.delete(wrong, other)

    # Points move, and cells are not linear.
    other = source("turn", TIMES, after="unsteady.move(output, 'sway', 'turn', time)\n", build="meshes.build_cells",
                   cell_type=25, size=4)
    wrong = check.paths(other, where)
    refusals.refused("moving nonlinear cells", wrong, ("nonlinear", "Tetrahedralize"))
    check.delete(wrong, other)

    other = source("turn", TIMES, after=only_there("output.GetPointData().RemoveArray('velocity')"),
                   mesh="image", size=9)
    wrong = check.paths(other, where)
    refusals.refused("vectors missing at a step", wrong, ("vectors", "0.5", "1"))
    check.delete(wrong, other)

    # Arrays of events that are missing at the last step, on all ranks or on one.
    mark = "unsteady.mark(output, time)\n"
    for event, name, place, change in (
        ("isovalue height 20", "height", "points", at_the_end("output.GetPointData().RemoveArray('height')")),
        ("label level", "level", "points", only_there("output.GetPointData().RemoveArray('level')")),
        ("label slabs", "slabs", "cells", mark + at_the_end("output.GetCellData().RemoveArray('slabs')")),
        ("isovalue warm 9", "warm", "cells", mark + only_there("output.GetCellData().RemoveArray('warm')")),
    ):
        other = source("turn", TIMES, after=change, mesh="image", size=9)
        wrong = check.paths(other, where, Events=[event])
        refusals.refused(f"{event}: {change}", wrong, ("Events", event, f'"{name}" at {place}', "at all time steps"))
        wrong.Events = []
        refusals.cured(event, wrong, 10)
        check.delete(wrong, other)

    # Data that are no surface, and labels that it lacks.
    ball = surface()
    wrong = check.paths(data, where, Events=["time 9"])
    for bad, labels, words in ((data, "", ("Event Surfaces", "use poly data")),
                               (ball, "none", ("Surface Label Array", '"none"', "choose an array"))):
        wrong.EventSurfaces, wrong.SurfaceLabelArray = bad, labels
        refusals.refused(words[0], wrong, words)
    wrong.SurfaceLabelArray = "octant"
    refusals.cured("a surface", wrong, count(wrong))
    check.delete(wrong, ball)

    none = seeds(np.zeros((0, 3)))
    wrong = check.paths(data, none)
    refusals.refused("no seeds", wrong, ("seed source",))
    check.delete(wrong, none)

    # The number of seeds changes.
    script = """
from vtkmodules.vtkCommonCore import vtkPoints
executive = self.GetExecutive()
information = executive.GetOutputInformation(0)
points = vtkPoints()
if information.Get(executive.UPDATE_PIECE_NUMBER()) in (0, None):
    for i in range(3 + int(2 * information.Get(executive.UPDATE_TIME_STEP()))):
        points.InsertNextPoint(2 + 0.2 * i, 3, 3)
self.GetOutputDataObject(0).SetPoints(points)
"""
    moving = simple.ProgrammableSource(OutputDataSetType="vtkPolyData", Script=script)
    moving.ScriptRequestInformation = data.ScriptRequestInformation
    wrong = check.paths(data, moving, ForceReinjectionEveryNSteps=1, OutputKind="Streaklines")
    refusals.refused("seeds whose number changes", wrong, ("Static Seeds",))
    wrong.OutputKind = "Particles"
    refusals.cured("particles of seeds whose number changes", wrong, 12)
    wrong.OutputKind = "Streaklines"
    refusals.refused("seeds whose number has changed", wrong, ("Static Seeds",))
    wrong.StaticSeeds = 1
    refusals.cured("seeds whose number changes", wrong, 3)
    check.delete(wrong, moving)

    # Warnings.
    warned = check.Refusals("vtkAsyncPathTracer", points)
    single = source("turn", TIMES[:1], mesh="image", size=9)
    alone = check.paths(single, where, OutputKind="Particles")
    warned.warned("a single step", alone, 10, ("single time step", "stay at their seeds"))
    check.delete(alone, single)
    steady = check.held(check.flows.build(COMM.rank, COMM.size, mesh="tetrahedra", size=6))
    alone = check.paths(steady, where, OutputKind="Particles")
    warned.warned("no time", alone, 10, ("no time", "stay at their seeds"))
    check.delete(alone, steady)
    outside = seeds([[-9.0, 0.0, 0.0]])
    alone = check.paths(data, outside)
    warned.warned("seeds outside", alone, 0, ("outside",))
    check.delete(alone, outside)
    alone = check.paths(data, where, TerminationTime=-1.0)
    warned.warned("a termination before the first step", alone, 0, ("Termination Time",))
    check.delete(alone)
    alone = check.paths(data, where, OutputKind="Streaklines")
    warned.warned("one injection", alone, 0, ("Force Reinjection Every N Steps",))
    check.delete(alone)
    holes = source("turn", TIMES, after=f"if time == 1.0: output.GetPointData().GetArray('velocity').Fill({NAN!r})"
                   .replace("nan", "float('nan')"), mesh="image", size=9)
    alone = check.paths(holes, where)
    warned.warned("vectors that are not finite", alone, 10, ("not finite",))
    check.delete(alone, holes)
    assert not refusals.failures + warned.failures, "\n  ".join(refusals.failures + warned.failures)


if __name__ == "__main__":
    check.run(__file__)
