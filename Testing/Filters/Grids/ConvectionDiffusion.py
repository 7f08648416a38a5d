# SPDX-License-Identifier: BSD-3-Clause
"""Async Convection Diffusion on this number of ranks: the residual of every step, computed again with numpy
from the outputs, is at or below the threshold; known solutions; what is conserved; steps in any order of
times; walls; ghost cells, empty ranks, pieces cut in any way.

Every rank runs this script (pvbatch --sym). Arguments, if any, are words: only tests with one of them in
the name run.
"""

import os
import sys

import numpy as np

import check
import grids
from grids import Grid
from mpi4py import MPI
from paraview import simple
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.util.vtkAlgorithm import VTKPythonAlgorithmBase
from vtkmodules.vtkCommonDataModel import vtkImageData, vtkMultiBlockDataSet
from vtkmodules.vtkCommonExecutionModel import vtkAlgorithm

COMM = MPI.COMM_WORLD
FEW = COMM.size > 2  # ranks share cores: a part of the cases
SIDES = [axis + end for axis in "XYZ" for end in ("Min", "Max")]
MIXED = (("Value", 0.7), ("Outflow", 0.0), ("Flux", 0.3), ("Value", 0.1), ("Periodic", 0.0), ("Periodic", 0.0))
OTHER = (("Periodic", 0.0), ("Periodic", 0.0), ("Outflow", 0.0), ("Outflow", 0.0), ("Flux", 0.0), ("Outflow", 0.0))


def data_of(grid, how="cut", ghosts=0, **arrays):
    box = grids.boxes_of(grid, how, COMM.size)[COMM.rank]
    data = grid.empty() if box is None else grid.piece(box, ghosts, **arrays)
    return data


def source_of(grid, *args, **arrays):
    """A proxy of the pieces of all ranks."""
    return check.held(data_of(grid, *args, **arrays), grid.extent())


def side_properties(sides):
    properties = {}
    for name, (kind, value) in zip(SIDES, sides):
        properties[name + "Condition"] = kind
        properties[name + "Value"] = value
    return properties


def output(proxy, when=None, port=0):
    if when is None:
        proxy.UpdatePipeline()
    else:
        proxy.UpdatePipeline(when)
    return proxy.GetClientSideObject().GetOutputDataObject(port)


def number(data, name):
    array = data.GetFieldData().GetArray(name)
    assert array is not None and array.GetNumberOfTuples() == 1, f"no {name} in field data"
    return array.GetValue(0)


def solution(grid, proxy, when=None):
    """(concentration of the whole grid, field data's numbers)"""
    data = output(proxy, when)
    found = grids.gathered(COMM, grid, data)
    numbers = {n: number(data, n)
               for n in ("Residual", "Iterations", "CourantNumber", "Substeps", "ConcentrationTotal")}
    assert len(set(COMM.allgather(tuple(numbers.values())))) == 1, "ranks have other field data"
    volume = np.einsum("k,j,i->kji", *(grid.widths(a) for a in (2, 1, 0)))
    total = (volume * found).sum()
    assert abs(numbers["ConcentrationTotal"] - total) <= 1e-12 * (volume * abs(found)).sum(), total
    return found, numbers


def hold_residual(grid, flow, u, old, step, numbers, threshold, **terms):
    """The residual that all cells have, and that the filter says they have."""
    mine = abs(grids.residual(grid, flow, u, old, step, **terms)).max()
    scale = max(1.0, abs(u).max(), abs(old).max() if old is not None else 0.0)
    rates = sum(abs(v).max() / grid.widths(a).min() for a, v in enumerate(flow[0]))
    rounding = 1e-13 * scale * (rates + (1 / step if old is not None else 0) + 1
                                + terms.get("diffusivity", 0) * 12 / min(grid.widths(a).min() for a in range(3)) ** 2)
    assert numbers["Residual"] <= threshold, f"{numbers['Residual']} is above {threshold}"
    assert mine <= threshold + rounding, f"the residual is {mine}, above {threshold}"
    assert abs(mine - numbers["Residual"]) <= rounding, f"{mine}, not {numbers['Residual']}"


def swirl(x, y, z, time=0.0):
    return np.stack([np.sin(3 * y + z) + 0.3 + time, np.cos(2 * x) - 0.2 * z, np.sin(x + y) - 0.1 * time], -1)


def periodic_of(sides):
    return [sides[2 * a][0] == "Periodic" for a in range(3)]


# ---- tests ----


def test_residual():
    """All kinds of grids, arrays, cuts, sources, conditions and ways to iterate."""
    bumps = lambda x, y, z: np.exp(-((x - 0.2) ** 2 + (y - 0.5) ** 2 + (z - 0.6) ** 2) / 0.1)
    cases = [
        # kind, where vectors are, cut, ghosts, sides, conservative, source, properties
        ("image", "POINTS", "cut", 0, MIXED, False, "array", {}),
        ("rectilinear", "CELLS", "cut", 1, OTHER, True, "sphere", {}),
        ("structured", "POINTS", "slabs", 2, OTHER, False, "box", {"Schedule": "Synchronous"}),
        ("image", "CELLS", "on the last rank", 0, MIXED, True, "array",
         {"ConvergenceDetection": "Supervised"}),
        ("rectilinear", "POINTS", "slabs", 0, MIXED, True, "none", {"SweepsPerExchange": 1, "Slabs": 2}),
        ("image", "CELLS", "cut", 1, OTHER, False, "data", {"Slabs": 3, "SweepsPerExchange": 5}),
    ]
    for n, (kind, where, how, ghosts, sides, conservative, source, properties) in enumerate(cases):
        if FEW and n % 2 != COMM.size % 2 and source != "data":
            continue
        name = f"{kind}, {where}, {how}, {source}, {properties}"
        grid = grids.uneven(kind, (0, 0, 0) if n % 2 else (5, -3, 2))
        x, y, z = grid.centers()
        at_cells = swirl(x, y, z)
        at_points = swirl(*grid.points())
        start = bumps(x, y, z)
        rate = 0.2 * np.cos(x * y)
        px, py, pz = grid.points()
        arrays = {
            "cell_arrays": [("flow", at_cells), ("rate", rate), ("start", start)],
            "point_arrays": [("flow", at_points), ("rate", 0 * px), ("start", 0 * px)],
        }
        data = source_of(grid, how, ghosts, **arrays)
        threshold, step = 1e-7, 0.05
        terms = {"diffusivity": 0.03, "decay": 0.4, "sides": sides, "conservative": conservative}
        if source == "none":
            terms["diffusivity"] = 0.0
        proxy = check.carried(
            data, Velocity=[where, "flow"], Diffusivity=terms["diffusivity"], Decay=0.4, Conservative=conservative,
            TimeStep=step, NumberOfSteps=3, UseInitialConcentration=1,
            InitialConcentration=["CELLS", "start"], ResidualThreshold=threshold,
            **side_properties(sides), **properties,
        )
        dye = None
        if source == "array":
            proxy.SourceType, proxy.SourceArray, proxy.SourceRate = "Array", ["CELLS", "rate"], 0.5
            terms["source"] = 0.5 * rate
        elif source == "sphere":
            proxy.SourceType, proxy.SourceCenter, proxy.SourceRadius = "Sphere", [0.1, 0.4, 0.8], 0.35
            inside = (x - 0.1) ** 2 + (y - 0.4) ** 2 + (z - 0.8) ** 2 <= 0.35**2
            assert inside.any()
            terms["source"] = 1.0 * inside
        elif source == "box":
            proxy.SourceType, proxy.SourceBounds, proxy.SourceRate = "Box", [-0.2, 0.4, 0.1, 0.6, 0.2, 0.9], -2.0
            inside = (x >= -0.2) & (x <= 0.4) & (y >= 0.1) & (y <= 0.6) & (z >= 0.2) & (z <= 0.9)
            assert inside.any()
            terms["source"] = -2.0 * inside
        elif source == "data":
            spots = [(0.11, 0.35, 0.7), (0.55, 0.2, 0.4), (0.55, 0.2, 0.4), (99.0, 0.0, 0.0)]
            dye = check.held(_points(spots if COMM.rank == COMM.size - 1 else []))
            proxy.SourceType, proxy.Source = "Data", dye
            at = np.zeros(tuple(reversed(grid.cells)))
            for spot in spots[:2]:
                place = [int(np.searchsorted(grid.ends[a], spot[a]) - 1) for a in (2, 1, 0)]
                at[tuple(place)] = 1
            terms["source"] = at
        flow = grids.face_flow(
            grid, periodic_of(sides), *((at_cells, None) if where == "CELLS" else (None, at_points))
        )
        steps = list(proxy.TimestepValues)
        assert np.allclose(steps, [0, 0.05, 0.1, 0.15], atol=1e-12), (name, steps)
        old, numbers = solution(grid, proxy, 0.0)
        assert (old == start).all(), name
        for when in steps[1:]:
            u, numbers = solution(grid, proxy, when)
            assert abs(u - old).max() > 1e-3, f"{name}: nothing moves"
            hold_residual(grid, flow, u, old, step, numbers, threshold, **terms)
            old = u
        check_history(proxy, steps, threshold)
        # The steady state, which the first guess has no part in.
        proxy.SteadyState = 1
        steady, numbers = solution(grid, proxy)
        hold_residual(grid, flow, steady, None, None, numbers, threshold, **terms)
        check.delete(proxy, *([dye] if dye else []), data)


def _points(places):
    from vtkmodules.vtkCommonCore import vtkPoints
    from vtkmodules.vtkCommonDataModel import vtkPolyData

    points = vtkPoints()
    points.SetDataTypeToDouble()
    for place in places:
        points.InsertNextPoint(place)
    data = vtkPolyData()
    data.SetPoints(points)
    return data


def check_history(proxy, times, threshold):
    """The last verified row of each step is at the threshold; on rank 0."""
    table = output(proxy, times[-1], 1)
    names = [table.GetColumnName(i) for i in range(table.GetNumberOfColumns())]
    assert names == ["Iterations", "Residual", "Seconds", "Step", "Substep", "Time", "Verified"], names
    if COMM.rank > 0:
        assert table.GetNumberOfRows() == 0
        return
    columns = {n: vtk_to_numpy(table.GetColumnByName(n)) for n in names}
    assert sorted(set(columns["Step"])) == list(range(1, len(times))), set(columns["Step"])
    for step in range(1, len(times)):
        rows = columns["Step"] == step
        assert (columns["Time"][rows] == times[step]).all()
        assert columns["Verified"][rows][-1] == 1
        assert columns["Residual"][rows][-1] <= threshold
        assert (np.diff(columns["Iterations"][rows]) >= 0).all()
        verified = columns["Residual"][rows][columns["Verified"][rows] == 1]
        assert (verified[:-1] > threshold).all(), "went on after the end"


def test_known_solutions():
    """First order where there is a flow, second where there is none."""
    def gaussian(n):
        grid = Grid("image", [np.arange(n + 1) / n, [0.0, 0.3], [0.0, 0.4, 0.8]])
        x, _, _ = grid.centers()

        def exact(time):
            variance = 0.15**2 + 2 * 0.01 * time
            images = sum(np.exp(-((x - 0.5 - time + p) ** 2) / (2 * variance)) for p in range(-3, 4))
            return 0.15 / np.sqrt(variance) * images

        flow = np.zeros((*x.shape, 3))
        flow[..., 0] = 1
        data = source_of(grid, "cut", cell_arrays=[("flow", flow), ("start", exact(0.0))])
        proxy = check.carried(
            data, Velocity=["CELLS", "flow"], Diffusivity=0.01, TimeStep=1 / n, NumberOfSteps=n // 4,
            UseInitialConcentration=1, InitialConcentration=["CELLS", "start"], ResidualThreshold=1e-7,
            XMinCondition="Periodic", XMaxCondition="Periodic",
        )
        u, numbers = solution(grid, proxy, 0.25)
        assert abs(numbers["CourantNumber"] - 1) < 1e-9, numbers
        check.delete(proxy, data)
        return abs(u - exact(0.25)).max()

    errors = [gaussian(n) for n in (64, 128)]
    assert errors[1] < 0.07 and 1.8 < errors[0] / errors[1] < 2.2, errors

    def layer(n):
        """Steady, between two values, along y."""
        grid = Grid("rectilinear", [[0.0, 0.5, 1.0], np.arange(n + 1) / n, [0.0]])
        _, y, _ = grid.centers()
        _, py, _ = grid.points()
        flow = np.zeros((*py.shape, 3))
        flow[..., 1] = 1
        data = source_of(grid, "cut", point_arrays=[("flow", flow)])
        proxy = check.carried(
            data, Velocity=["POINTS", "flow"], Diffusivity=0.2, SteadyState=1, ResidualThreshold=1e-8,
            YMinCondition="Value", YMaxCondition="Value", YMaxValue=1.0,
        )
        u, _ = solution(grid, proxy)
        assert len(proxy.TimestepValues) == 0, list(proxy.TimestepValues)
        check.delete(proxy, data)
        return abs(u - np.expm1(5 * y) / np.expm1(5)).max()

    errors = [layer(n) for n in (32, 64)]
    assert errors[1] < 0.03 and 1.7 < errors[0] / errors[1] < 2.3, errors

    def cosine(n):
        """Nothing but diffusion, between walls along z."""
        grid = Grid("structured", [[0.0, 1.0], [0.0, 1.0, 2.0], np.arange(n + 1) / n])
        _, _, z = grid.centers()
        data = source_of(grid, "slabs",
                         cell_arrays=[("flow", np.zeros((*z.shape, 3))), ("start", np.cos(np.pi * z))])
        steps = n * n // 8
        proxy = check.carried(
            data, Velocity=["CELLS", "flow"], Diffusivity=1.0, TimeStep=0.1 / steps, NumberOfSteps=steps,
            UseInitialConcentration=1, InitialConcentration=["CELLS", "start"], ResidualThreshold=1e-7,
        )
        u, _ = solution(grid, proxy, 0.1)
        check.delete(proxy, data)
        return abs(u - np.exp(-np.pi**2 * 0.1) * np.cos(np.pi * z)).max()

    errors = [cosine(n) for n in (16, 32)]
    assert errors[0] / errors[1] > 3.5, errors


def test_conservation():
    """Between walls and periodic sides the sum stays, and without Conservative all extrema do."""
    grid = grids.uneven("rectilinear", cells=(9, 8, 7))
    x, y, z = grid.centers()
    start = 0.5 + 0.5 * np.sin(7 * x) * np.cos(5 * y)
    data = source_of(grid, cell_arrays=[("flow", 5 * swirl(x, y, z)), ("start", start)])
    for conservative in (1, 0):
        proxy = check.carried(
            data, Velocity=["CELLS", "flow"], Diffusivity=0.01, Conservative=conservative, TimeStep=0.5,
            NumberOfSteps=4, UseInitialConcentration=1, InitialConcentration=["CELLS", "start"],
            ResidualThreshold=1e-8,
            **side_properties((("Flux", 0.0), ("Flux", 0.0), ("Periodic", 0.0), ("Periodic", 0.0),
                               ("Flux", 0.0), ("Flux", 0.0))),
        )
        _, before = solution(grid, proxy, 0.0)
        u, after = solution(grid, proxy, 2.0)
        if conservative:
            volume = np.prod([grid.widths(a).sum() for a in range(3)])
            allowed = 4 * 0.5 * 1e-8 * volume
            assert abs(after["ConcentrationTotal"] - before["ConcentrationTotal"]) <= allowed, (before, after)
            assert u.min() > -1e-7
        else:
            assert start.min() - 1e-7 <= u.min() and u.max() <= start.max() + 1e-7, (u.min(), u.max())
        check.delete(proxy)
    check.delete(data)


def test_walls():
    """Hidden cells, and cells with a hidden point, are walls."""
    grid = grids.uneven("image")
    x, y, z = grid.centers()
    solid = np.zeros(x.shape, bool)
    solid[:, 3:5, 2:9] = True
    solid[:, :, 6] = True
    solid[3, 6, 6] = False  # a hole
    start = np.where(x < 0, 1.0, 0.0)
    flow_at_cells = swirl(x, y, z)
    flow_at_cells[solid] = np.nan  # nobody looks at it
    data = source_of(grid, cell_arrays=[("flow", flow_at_cells), ("start", start)], hidden=solid)
    proxy = check.carried(
        data, Velocity=["CELLS", "flow"], Diffusivity=0.02, TimeStep=0.1, NumberOfSteps=2,
        UseInitialConcentration=1, InitialConcentration=["CELLS", "start"], ResidualThreshold=1e-8,
        **side_properties(MIXED),
    )
    flow = grids.face_flow(grid, periodic_of(MIXED), np.nan_to_num(flow_at_cells), None, solid)
    old, _ = solution(grid, proxy, 0.0)
    assert (old == np.where(solid, 0, start)).all()
    for when in (0.1, 0.2):
        u, numbers = solution(grid, proxy, when)
        assert (u[solid] == 0).all()
        hold_residual(grid, flow, u, old, 0.1, numbers, 1e-8, diffusivity=0.02, sides=MIXED)
        old = u
    check.delete(proxy, data)


_ASKED = """
executive = self.GetExecutive()
information = executive.GetOutputInformation(0)
times = {times!r}
information.Set(executive.TIME_STEPS(), times, len(times))
information.Set(executive.TIME_RANGE(), [times[0], times[-1]], 2)
information.Set(executive.WHOLE_EXTENT(), {extent!r}, 6)
"""
_GIVEN = """
import sys
sys.path[:0] = {paths!r}
import grids, importlib
executive = self.GetExecutive()
information = executive.GetOutputInformation(0)
time = information.Get(executive.UPDATE_TIME_STEP())
test = sys.modules["tributary_varying"]
test.asked.append(time)
output = self.GetOutputDataObject(0)
output.ShallowCopy(test.data(time))
output.GetInformation().Set(output.DATA_TIME_STEP(), time)
"""


def test_varying_flow():
    """A flow that changes is asked for at the end of each step, once while time goes on."""
    import types

    grid = grids.uneven("image", cells=(10, 8, 8))
    x, y, z = grid.centers()
    start = np.where(x < 0, 1.0, 0.0)
    module = types.ModuleType("tributary_varying")
    module.asked = []
    module.data = lambda time: data_of(
        grid, "cut", cell_arrays=[("flow", swirl(x, y, z, time)), ("start", start)])
    sys.modules["tributary_varying"] = module
    source = simple.ProgrammableSource(OutputDataSetType="vtkImageData")
    source.ScriptRequestInformation = _ASKED.format(times=[2.0, 2.1, 2.2, 2.3], extent=grid.extent())
    source.Script = _GIVEN.format(paths=[os.path.dirname(os.path.abspath(check.__file__))])
    proxy = check.carried(
        source, Velocity=["CELLS", "flow"], Diffusivity=0.02, TimeStep=0.1, NumberOfSteps=4,
        UseInitialConcentration=1, InitialConcentration=["CELLS", "start"], ResidualThreshold=1e-8,
    )
    proxy.UpdatePipelineInformation()
    times = list(proxy.TimestepValues)
    assert times == [2.0, 2.1, 2.2, 2.3, 2.4], times  # not 2.3000000000000003

    def asked(when):
        module.asked.clear()
        found, numbers = solution(grid, proxy, when)
        return found, numbers, [round(t, 6) for t in module.asked]

    _, _, wanted = asked(times[1])
    assert wanted == [2.0, 2.1], wanted
    first = solution(grid, proxy, times[1])[0]
    old, numbers, wanted = asked(times[3])
    assert wanted == [2.2, 2.3], wanted
    u, numbers, wanted = asked(times[4])
    assert wanted == [2.4], wanted
    flow = grids.face_flow(grid, (False,) * 3, swirl(x, y, z, times[4]))
    hold_residual(grid, flow, u, old, 0.1, numbers, 1e-8, diffusivity=0.02)
    check_history(proxy, times, 1e-8)
    back, _, wanted = asked(times[2])
    assert wanted == [2.0, 2.1, 2.2], wanted
    flow = grids.face_flow(grid, (False,) * 3, swirl(x, y, z, times[2]))
    # From the first step of the run before, of which this one has its own within the residuals.
    left = grids.residual(grid, flow, back, first, 0.1, diffusivity=0.02)
    assert abs(left).max() <= 4e-8, abs(left).max()
    # A changed property, and a changed source, begin again.
    proxy.Diffusivity = 0.03
    _, _, wanted = asked(times[3])
    assert wanted == [2.0, 2.1, 2.2, 2.3], wanted
    source.Script = source.Script + "\n# changed\n"
    _, _, wanted = asked(times[4])
    assert wanted == [2.0, 2.1, 2.2, 2.3, 2.4], wanted
    # A flow of one time is read once.
    source.ScriptRequestInformation = _ASKED.format(times=[2.0], extent=grid.extent())
    proxy.UpdatePipelineInformation()
    times = list(proxy.TimestepValues)
    old, _, wanted = asked(times[1])
    assert wanted == [2.0], wanted
    u, numbers, wanted = asked(times[2])
    assert wanted == [], wanted
    flow = grids.face_flow(grid, (False,) * 3, swirl(x, y, z, 2.0))
    hold_residual(grid, flow, u, old, 0.1, numbers, 1e-8, diffusivity=0.03)
    check.delete(proxy, source)


class Flow(VTKPythonAlgorithmBase):
    """A flow that changes; it cannot be given at `missing`."""

    def __init__(self, grid, times):
        super().__init__(nInputPorts=0, nOutputPorts=1, outputType="vtkImageData")
        self.grid, self.times, self.missing, self.asked = grid, times, None, []

    def RequestInformation(self, request, inputs, outputs):
        information, executive = outputs.GetInformationObject(0), self.GetExecutive()
        information.Set(executive.TIME_STEPS(), self.times, len(self.times))
        information.Set(executive.TIME_RANGE(), [self.times[0], self.times[-1]], 2)
        information.Set(executive.WHOLE_EXTENT(), self.grid.extent(), 6)
        information.Set(vtkAlgorithm.CAN_HANDLE_PIECE_REQUEST(), 1)
        return 1

    def RequestData(self, request, inputs, outputs):
        time = outputs.GetInformationObject(0).Get(self.GetExecutive().UPDATE_TIME_STEP())
        self.asked.append(round(time, 6))
        if self.missing is not None and abs(time - self.missing) < 1e-6:
            return 0
        output = vtkImageData.GetData(outputs)
        flow = swirl(*self.grid.centers(), time)
        output.ShallowCopy(data_of(self.grid, "cut", cell_arrays=[("flow", flow)]))
        output.GetInformation().Set(output.DATA_TIME_STEP(), time)
        return 1


def test_input_that_fails():
    """If the input of one rank or of all fails on the way to a step, all ranks fail and may begin again."""
    grid = grids.uneven("image", cells=(10, 8, 8))
    times = [0.0, 0.1, 0.2, 0.3]
    data = source_of(grid, cell_arrays=[("flow", swirl(*grid.centers()))])
    for ranks in (range(COMM.size), [COMM.size - 1]):
        proxy = check.carried(data, Velocity=["CELLS", "flow"], Diffusivity=0.02, TimeStep=0.1, NumberOfSteps=3)
        proxy.UpdatePipelineInformation()
        filter_ = proxy.GetClientSideObject()
        flow = Flow(grid, times)
        flow.missing = 0.2 if COMM.rank in ranks else None
        filter_.SetInputConnection(0, flow.GetOutputPort())
        filter_.UpdateTimeStep(0.3, COMM.rank, COMM.size, 0)
        assert flow.asked == times[:3], flow.asked
        assert filter_.GetErrorCode() != 0
        assert not filter_.GetOutputDataObject(0).GetNumberOfCells(), "an output after an error"
        flow.missing = None
        flow.asked.clear()
        proxy.Diffusivity = 0.05
        filter_.UpdateTimeStep(0.3, COMM.rank, COMM.size, 0)
        assert flow.asked == times, flow.asked
        assert filter_.GetErrorCode() == 0
        check.delete(proxy)
    check.delete(data)


_MOVES = """
from vtkmodules.vtkCommonCore import vtkPoints
executive = self.GetExecutive()
time = executive.GetOutputInformation(0).Get(executive.UPDATE_TIME_STEP())
points = vtkPoints()
points.InsertNextPoint({places!r}[int(round(10 * time))])  # round() of NumPy here
output = self.GetOutputDataObject(0)
output.SetPoints(points)
output.GetInformation().Set(output.DATA_TIME_STEP(), time)
"""


def test_moving_source():
    """Points of a second input that move: without flow each step leaves its share where they are."""
    grid = grids.uneven("image", cells=(10, 8, 8))
    x, y, z = grid.centers()
    cells = [(1, 2, 3), (6, 5, 7), (2, 2, 8), (4, 0, 1), (7, 7, 9)]
    places = [tuple(float(a[cell]) for a in np.broadcast_arrays(x, y, z)) for cell in cells]
    data = source_of(grid, cell_arrays=[("flow", np.zeros(grid.centers()[0].shape + (3,)))])
    moving = simple.ProgrammableSource(OutputDataSetType="vtkPolyData")
    moving.ScriptRequestInformation = _ASKED.format(
        times=[0.0, 0.1, 0.2, 0.3, 0.4], extent=grid.extent())
    moving.Script = _MOVES.format(places=places)
    proxy = check.carried(
        data, Source=moving, SourceType="Data", SourceRate=3.0, Velocity=["CELLS", "flow"],
        TimeStep=0.1, NumberOfSteps=4, ResidualThreshold=1e-10,
    )

    def hold(step):
        wanted = np.zeros(np.broadcast(x, y, z).shape)
        for cell in cells[1 : step + 1]:
            wanted[cell] += 0.3
        found, _ = solution(grid, proxy, 0.1 * step)
        assert np.allclose(found, wanted, atol=1e-9), (step, np.argwhere(found != wanted))

    hold(4)  # at once
    for step in (1, 2, 3, 4):  # and one after the other
        hold(step)
    check.delete(proxy, moving, data)


def test_times():
    """A constant flow: all orders of times give the same, within what residuals leave."""
    grid = grids.uneven("image", cells=(10, 8, 8))
    x, y, z = grid.centers()
    data = source_of(grid, cell_arrays=[("flow", swirl(x, y, z)), ("start", 1.0 * (x < 0))])
    proxy = check.carried(
        data, Velocity=["CELLS", "flow"], TimeStep=0.1, StopAt="End Time", EndTime=0.45,
        UseInitialConcentration=1, InitialConcentration=["CELLS", "start"], ResidualThreshold=1e-9,
    )
    proxy.UpdatePipelineInformation()
    times = list(proxy.TimestepValues)
    assert np.allclose(times, [0, 0.1, 0.2, 0.3, 0.4, 0.45]), times

    one_by_one = [solution(grid, proxy, t)[0] for t in times]
    allowed = 2e-9 * 0.45
    for when in (5, 2, 4, 0, 3):
        u, numbers = solution(grid, proxy, times[when])
        assert abs(u - one_by_one[when]).max() <= allowed, when
        table = output(proxy, times[when], 1)
        if COMM.rank == 0 and when:
            assert vtk_to_numpy(table.GetColumnByName("Step")).max() == when
    # In between, before and after: the last step that has ended.
    for asked, step in ((0.25, 2), (-1.0, 0), (7.0, 5)):
        u, _ = solution(grid, proxy, asked)
        assert abs(u - one_by_one[step]).max() <= allowed, asked
    # Smaller steps within the steps.
    proxy.MaximumCourantNumber = 0.25
    u, numbers = solution(grid, proxy, 0.1)
    rate = max_rate(grid, swirl(x, y, z))
    assert numbers["Substeps"] == np.ceil(0.1 * rate / 0.25) > 1, (numbers, rate)
    assert abs(numbers["CourantNumber"] - 0.1 * rate / numbers["Substeps"]) < 1e-9
    finer = check.carried(
        data, Velocity=["CELLS", "flow"], TimeStep=0.1 / numbers["Substeps"],
        NumberOfSteps=int(numbers["Substeps"]), UseInitialConcentration=1,
        InitialConcentration=["CELLS", "start"], ResidualThreshold=1e-9,
    )
    assert abs(solution(grid, finer, 0.1)[0] - u).max() <= allowed
    check.delete(finer, proxy, data)


def max_rate(grid, vectors):
    return sum(abs(vectors[..., a]) / grid.widths(a).min() for a in range(3)).max()


def test_blocks():
    """A composite with a few pieces for a rank, with ghost cells, gets the array in each block."""
    grid = grids.uneven("image")
    x, y, z = grid.centers()
    arrays = {"cell_arrays": [("flow", swirl(x, y, z))]}
    parts = grids.cut(*grids.boxes_of(grid, "cut", COMM.size)[COMM.rank], 3)
    blocks = vtkMultiBlockDataSet()
    blocks.SetNumberOfBlocks(4 * COMM.size)
    for n, part in enumerate(parts):
        blocks.SetBlock(4 * COMM.rank + n + (n > 0), grid.piece(part, 1, **arrays))
    data = check.held(blocks)
    proxy = check.carried(data, Velocity=["CELLS", "flow"], SteadyState=1, Decay=1.0, SourceType="Sphere",
                          SourceCenter=[0.0, 0.0, 0.0], SourceRadius=0.5, ResidualThreshold=1e-8)
    u, numbers = solution(grid, proxy)
    flow = grids.face_flow(grid, (False,) * 3, swirl(x, y, z))
    inside = 1.0 * (x**2 + y**2 + z**2 <= 0.25)
    hold_residual(grid, flow, u, None, None, numbers, 1e-8, decay=1.0, source=inside)
    statistics = output(proxy).GetFieldData()
    for name in ("Cells", "Iterations", "Snapshots", "Messages", "ComputingSeconds", "SolvingSeconds"):
        array = statistics.GetArray("AsyncConvectionDiffusion " + name)
        assert array is not None and array.GetNumberOfTuples() == COMM.size, name
    assert vtk_to_numpy(statistics.GetArray("AsyncConvectionDiffusion Cells")).sum() == u.size
    check.delete(proxy, data)
    # Blocks of the last rank that are no box, and the same cells on all ranks.
    if COMM.rank == COMM.size - 1:
        blocks.SetBlock(4 * COMM.rank + 2, None)
    failing(blocks)
    if COMM.size > 1:
        failing(grid.piece(((0, 0, 0), grid.cells), **arrays), grid.extent())


def failing(pieces, extent=None):
    """There is an error on all ranks."""
    broken = check.held(pieces, extent)
    proxy = check.carried(broken, Velocity=["CELLS", "flow"], NumberOfSteps=1)
    proxy.UpdatePipeline()
    filter_ = proxy.GetClientSideObject()
    codes = COMM.allgather(filter_.GetErrorCode())
    assert all(codes), f"errors on ranks {codes}"
    assert not grids.leaves(filter_.GetOutputDataObject(0)), "an output after an error"
    check.delete(proxy, broken)


def test_abort():
    """One rank aborts, all end with nothing; the next execution is whole."""
    grid = grids.uneven("image")
    x, y, z = grid.centers()
    data = source_of(grid, cell_arrays=[("flow", swirl(x, y, z))])
    proxy = check.carried(
        data, Velocity=["CELLS", "flow"], Diffusivity=0.1, XMinCondition="Value", XMinValue=1.0,
        TimeStep=0.1, NumberOfSteps=50, ResidualThreshold=1e-9,
    )
    proxy.UpdatePipelineInformation()
    grids.abort_on_last_rank(COMM, proxy, lambda: proxy.UpdatePipeline(proxy.TimestepValues[-1]))
    u, numbers = solution(grid, proxy, proxy.TimestepValues[2])
    assert u.max() > 0.1 and numbers["Residual"] <= 1e-9
    check.delete(proxy, data)


def main():
    words = sys.argv[1:]
    for name, test in list(globals().items()):
        if name.startswith("test_") and (not words or any(w in name for w in words)):
            if COMM.rank == 0:
                print(name, flush=True)
            test()


if __name__ == "__main__":
    check.run(__file__)
