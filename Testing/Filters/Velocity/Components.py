# SPDX-License-Identifier: BSD-3-Clause
"""Velocities in an array for each component, against the same vectors in one array: the same bits of lines, paths,
flow maps and concentrations, on this number of ranks.

Every rank runs this script (pvbatch --sym). Arguments, if any, are words: only cases with one of them in the name run.
"""

import check
import grids
import numpy as np
import velocities
from tracking import COMM, expect
from unsteady import Paths, seeds, source
from vtkmodules.util.numpy_support import vtk_to_numpy

TIMES = [0.0, 0.5, 1.0]
FLOATS, DOUBLES = ("float32",) * 3, ("float64",) * 3
# Name: arguments of the data, where vectors are, types of components, properties.
CASES = {
    "image": ({"mesh": "image", "size": 9, "container": "multiblock", "pieces": 8}, "POINTS", FLOATS, {}),
    "rectilinear, cells": ({"mesh": "rectilinear", "size": 9}, "CELLS", FLOATS, {"BlocksPerRank": 3}),
    "curvilinear, double": ({"mesh": "structured", "size": 9, "ghosts": 1}, "POINTS", DOUBLES,
                            {"ComputeVorticity": 0}),
    "tetrahedra, mixed types": ({"mesh": "tetrahedra", "size": 7}, "POINTS", ("float32", "float64", "int16"), {}),
    "mixed cells, integers": ({"mesh": "mixed", "size": 6}, "CELLS", ("int32",) * 3, {"TerminalSpeed": 0.1}),
    "moving": ({"mesh": "tetrahedra", "size": 6, "after": "unsteady.move(output, 'sway', 'swirl', time)\n"}, "POINTS",
               FLOATS, {}),
    "changing mesh": ({"build": "unsteady.remesh", "steps": [("image", 9), ("tetrahedra", 7), ("mixed", 6)]}, "POINTS",
                      FLOATS, {}),
    "few arrays": ({"mesh": "image", "size": 9}, "POINTS", FLOATS, {"PointArrays": ["height"]}),
}
SPLIT = "import velocities\nvelocities.split(output, {dtypes!r}, {keep!r})\n"


def data_of(arguments, dtypes, keep):
    after = arguments.get("after", "") + SPLIT.format(dtypes=dtypes, keep=keep)
    return source("swirl", TIMES, **{"dtype": "float64" if dtypes == DOUBLES else "float32", **arguments, "after": after})


def same(one, other, ours, what):
    """Arrays by name of two outputs of this rank are the same; `ours` may be in the first one alone."""
    names = sorted(set(one) - set(ours))
    found = sorted(other) == names and all(
        one[name].dtype == other[name].dtype and one[name].tobytes() == other[name].tobytes() for name in names)
    expect(all(COMM.allgather(found)), f"{what}: other arrays {names} and {sorted(other)}, or other values")


def lines_of(proxy):
    proxy.UpdatePipeline(TIMES[0])
    return check.Lines(proxy.GetClientSideObject().GetOutputDataObject(0))


def check_lines(name, start, whole, parts):
    _, where, _, properties = CASES[name]
    one = check.tracer(whole, start, Vectors=[where, "velocity"], MaximumStreamlineLength=9.0, **properties)
    other = check.tracer(parts, start, MaximumStreamlineLength=9.0, **velocities.of(where), **properties)
    lines, mine = lines_of(one), lines_of(other)
    expect(sum(COMM.allgather(lines.count)) > 40, f"{lines.count} lines")
    # Lines carry the arrays of the input, and the vectors if there are any.
    expect("velocity" not in mine.point_data, "an array that is not in the input")
    carried = where == "POINTS" and "PointArrays" not in properties
    expect(not carried or set(velocities.NAMES) <= set(mine.point_data), "the components are missing")
    same(lines.point_data, mine.point_data, ("velocity",), f"{name}: lines")
    for values, wanted in ((mine.points, lines.points), (mine.connectivity, lines.connectivity)):
        expect(all(COMM.allgather(values.tobytes() == wanted.tobytes())), f"{name}: other lines")
    same(lines.cell_data, mine.cell_data, (), f"{name}: cell data of lines")
    check.delete(one, other)


def check_paths(name, start, whole, parts):
    _, where, _, properties = CASES[name]
    one = check.paths(whole, start, Vectors=[where, "velocity"], ForceReinjectionEveryNSteps=1, **properties)
    other = check.paths(parts, start, ForceReinjectionEveryNSteps=1, **velocities.of(where), **properties)
    for when in (0.75, TIMES[-1]):
        a, b = Paths(one, when), Paths(other, when)
        expect(a.ids == b.ids and len(a.ids) > 40, f"{name}: {len(a.ids)} and {len(b.ids)} particles")
        expect([x.tobytes() for x in a.points] == [x.tobytes() for x in b.points], f"{name}: other paths")
        expect("velocity" not in b.names, f"{name}: an array that is not in the input")
        for n, arrays in enumerate(a.arrays):
            same(arrays, b.arrays[n], ("velocity",), f"{name}: path {n}")
    if name == "image":  # where nothing else differs
        expect(a.statistic("DomainBytes") < b.statistic("DomainBytes"), "the memory of vectors is counted")
    check.delete(one, other)


def check_map(name, whole, parts):
    _, where, _, properties = CASES[name]
    rules = {k: v for k, v in properties.items() if k not in ("ComputeVorticity", "PointArrays")}
    rules.update(IntegrationTime=0.4, SamplingDimensions=[6, 6, 5])
    one = check.flow_map(whole, Vectors=[where, "velocity"], **rules)
    other = check.flow_map(parts, **velocities.of(where), **rules)
    for proxy in (one, other):
        proxy.UpdatePipeline(0.25)
    a, b = (check.arrays(p.GetClientSideObject().GetOutputDataObject(0).GetPointData()) for p in (one, other))
    same(a, b, (), f"{name}: flow map")
    valid = sum(COMM.allgather(int(a["vtkValidPointMask"].sum()) if "vtkValidPointMask" in a else 0))
    expect(valid > 5, f"{name}: {valid} points of the map")
    check.delete(one, other)


def run_case(name):
    arguments, _, dtypes, _ = CASES[name]
    start = seeds(np.random.default_rng(5).uniform(0.5, 5.8, (60, 3)))
    whole, parts = (data_of(arguments, dtypes, keep) for keep in (True, False))
    check_lines(name, start, whole, parts)
    check_paths(name, start, whole, parts)
    check_map(name, whole, parts)
    check.delete(start, whole, parts)


def planes():
    """Two components, the third one 0."""
    start = seeds(np.stack([np.linspace(0.1, 1.9, 30), np.full(30, 0.4), np.zeros(30)], -1))
    arguments = {"flow": "double_gyre", "mesh": "triangles", "size": 9}
    after = SPLIT.format(dtypes=FLOATS, keep=True)
    data = source("gyre", TIMES, after=after, **arguments)
    one = check.tracer(data, start, MaximumStreamlineLength=3.0)
    other = check.tracer(data, start, MaximumStreamlineLength=3.0, **velocities.of("POINTS", ("u", "v")))
    lines, mine = lines_of(one), lines_of(other)
    expect(sum(COMM.allgather(lines.count)) > 40, f"{lines.count} lines")
    wrong = check.difference(mine, lines)
    expect(not any(COMM.allgather(wrong)), f"two components: {wrong}")
    check.delete(one, other, data, start)


def concentrations():
    """Convection and diffusion, with components of points and of cells."""
    for kind, where in (("image", "CELLS"), ("rectilinear", "POINTS")):
        grid = grids.uneven(kind)
        x, y, z = grid.centers() if where == "CELLS" else grid.points()
        flow = np.stack([np.sin(3 * y + z) + 0.3, np.cos(2 * x) - 0.2 * z, np.sin(x + y)], -1)
        arrays = [("flow", flow)] + [(n, flow[..., c]) for c, n in enumerate(velocities.NAMES)]
        box = grids.boxes_of(grid, "cut", COMM.size)[COMM.rank]
        place = {("cell_arrays" if where == "CELLS" else "point_arrays"): arrays}
        data = check.held(grid.empty() if box is None else grid.piece(box, 0, **place), grid.extent())
        rules = dict(TimeStep=0.05, NumberOfSteps=2, XMinCondition="Value", XMinValue=1.0, Schedule="Synchronous")
        found = []
        for chosen in ({"Velocity": [where, "flow"]}, {**velocities.of(where)}):
            chosen.pop("Vectors", None)
            proxy = check.carried(data, **rules, **chosen)
            proxy.UpdatePipeline(0.1)
            output = proxy.GetClientSideObject().GetOutputDataObject(0)
            found.append(check.arrays(output.GetCellData()).get("Concentration", np.zeros(0)))
            check.delete(proxy)
        expect(max(COMM.allgather(found[0].max(initial=0.0))) > 0.01, f"{kind}: nothing is carried")
        expect(all(COMM.allgather(found[0].tobytes() == found[1].tobytes())), f"{kind}: other concentrations")
        check.delete(data)


def main():
    work = {name: lambda name=name: run_case(name) for name in CASES}
    work.update({"planes": planes, "concentrations": concentrations})
    check.run_cases(work, COMM.rank, "components")


if __name__ == "__main__":
    check.run(__file__)
