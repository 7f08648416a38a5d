# SPDX-License-Identifier: BSD-3-Clause
"""Async Path Tracer on this number of ranks: the paths of formulas and of brute force, one answer, bit for bit,
however the data are cut, and the same whether steps come one by one, all at once, again, backwards, between
steps, or in situ. Writes hashes to hashes.json for CompareHashes.py.

Every rank runs this script (pvbatch --sym). Arguments, if any, are words: only cases with one of them in the
name run, and no hashes are written.
"""

import check
import grids
import numpy as np
from paraview import simple
from tracking import FEW, IS_REFERENCE, expect
from unsteady import (
    COMM,
    Grid,
    Paths,
    accelerated,
    carry,
    executed,
    seeds,
    set_values,
    source,
    turned,
)

TIMES = [0.0, 0.5, 1.0, 2.0]
EVERY = {"ForceReinjectionEveryNSteps": 1}
STREAKS = {**EVERY, "OutputKind": "Streaklines"}
DOTS = {**EVERY, "OutputKind": "Particles"}
# Only the ends of intervals are recorded.
ENDS = {"PathPoints": "Time Steps", "ComputeVorticity": 0}
# Ways to cut the data and to execute that change nothing.
WAYS = (
    ({}, {}),
    ({"pieces": 5, "container": "multiblock", "placing": "cyclic"}, {"BlocksPerRank": 3}),
    ({"empty": 1}, {"LendingMemory": 0, "Schedule": "Synchronous"}),
    ({"ghosts": 1}, {"KeepDomain": 0, "BlocksPerRank": 16, "Schedule": "Neighborhood"}),
)
# The same for data that are not of Data/flows.py.
CUTS = {
    "meshes.build_hierarchy": [{"placing": "cyclic"}, {"placing": "backwards"}, {"placing": "last"}],
    "meshes.build_cells": [{"cut": "slices"}, {"cut": "cyclic"}],
}
# Points that move, with the vectors at the places where they are.
SWAY = "unsteady.move(output, 'sway', 'swirl', time)"
# Name: field, arguments of the data, properties.
CASES = {
    "image": ("swirl", {"mesh": "image", "size": 9}, {}),
    "image of doubles, streaklines": ("swirl", {"mesh": "image", "size": 9, "dtype": "float64"}, STREAKS),
    "rectilinear, particles": ("swirl", {"mesh": "rectilinear", "size": 9}, DOTS),
    "curvilinear": ("swirl", {"mesh": "structured", "size": 9}, {**EVERY, "StaticSeeds": 1}),
    "tetrahedra": ("swirl", {"mesh": "tetrahedra", "size": 7}, {}),
    "tetrahedra, time steps": ("swirl", {"mesh": "tetrahedra", "size": 7}, {**EVERY, **ENDS}),
    "image, time steps": ("swirl", {"mesh": "image", "size": 9}, ENDS),
    "image, time steps, vorticity": ("swirl", {"mesh": "image", "size": 9}, {"PathPoints": "Time Steps"}),
    "mixed cells, particles": ("swirl", {"mesh": "mixed", "size": 7}, {**DOTS, "ComputeVorticity": 0}),
    "mixed cells": ("swirl", {"mesh": "mixed", "size": 7}, {"IntegratorType": "Runge-Kutta 4"}),
    "hexahedra, of cells": ("swirl", {"mesh": "hexahedra", "size": 7},
                            {"Vectors": ["CELLS", "velocity"]}),
    "image, of cells, Runge-Kutta 2": ("swirl", {"mesh": "image", "size": 9},
                                       {"Vectors": ["CELLS", "velocity"],
                                        "IntegratorType": "Runge-Kutta 2"}),
    "hierarchy": ("swirl", {"build": "meshes.build_hierarchy"}, EVERY),
    "hierarchy, of cells": ("swirl", {"build": "meshes.build_hierarchy"},
                            {**DOTS, "Vectors": ["CELLS", "velocity"]}),
    "pentagonal prisms": ("swirl", {"build": "meshes.build_cells", "cell_type": 15, "size": 4}, EVERY),
    "quadratic hexahedra": ("swirl", {"build": "meshes.build_cells", "cell_type": 25, "size": 4}, EVERY),
    "polyhedra": ("swirl", {"build": "meshes.build_cells", "cell_type": 42, "size": 4}, EVERY),
    "moving tetrahedra": ("swirl", {"mesh": "tetrahedra", "size": 7, "after": SWAY}, EVERY),
    "moving mixed cells": ("swirl", {"mesh": "mixed", "size": 7, "after": SWAY}, STREAKS),
    "moving hexahedra, of cells": ("swirl", {"mesh": "hexahedra", "size": 7, "after": SWAY},
                                   {"Vectors": ["CELLS", "velocity"], "IntegratorType": "Runge-Kutta 4"}),
    "moving curvilinear": ("swirl", {"mesh": "structured", "size": 9, "after": SWAY}, EVERY),
    "triangles": ("gyre", {"flow": "double_gyre", "mesh": "triangles", "size": 17}, STREAKS),
}


def cloud(count, box=(0.2, 6.0, 0.2, 6.0, 0.2, 6.0), salt=0):
    random = np.random.default_rng(salt)
    lo, hi = np.array(box[::2]), np.array(box[1::2])
    return random.uniform(lo, hi, (count, 3))


def places(case):
    return cloud(40, (0.05, 1.95, 0.05, 0.95, 0, 0)) if CASES[case][0] == "gyre" else cloud(40)


def one(text):
    """The hash of several outputs."""
    return "-".join(text)


def run_case(case):
    """All ways to cut the data, one step after the other or all at once, give the same bits."""
    field, arguments, properties = CASES[case]
    where = seeds(places(case))
    first = None
    ways = WAYS
    if "build" in arguments:
        ways = [(cut, way) for cut, (_, way) in zip(CUTS[arguments["build"]], WAYS)]
    for turn, (cut, way) in enumerate(check.some(ways, len(case))):
        data = source(field, TIMES, **{**arguments, **cut})
        proxy = check.paths(data, where, **{**properties, **way})
        if turn % 2 == 0:
            found = [Paths(proxy, when) for when in (0.5, 1.75, 2.0)]
        else:
            found = [Paths(proxy, when) for when in (2.0, 1.75, 0.5)][::-1]
        hashes = [paths.digest() for paths in found]
        expect(len(found[-1].ids) > 20, f"only {len(found[-1].ids)} paths")
        first = first or hashes
        expect(hashes == first, f"{cut}, {way}: {hashes}, not {first}")
        check.delete(proxy, data)
    check.delete(where)
    return one(first)


def close(found, wanted, tolerance, what):
    """Compare the last points of paths with positions, on rank 0."""
    error = max(np.abs(p[-1] - w).max() for p, w in zip(found, wanted))
    expect(error <= tolerance, f"{what}: off by {error}")


def run_formula(field, formula, tolerance):
    """The paths of fields that the interpolation reproduces."""
    x = np.concatenate([cloud(30, (2.0, 4.0, 2.0, 4.0, 1.0, 4.0)), [[-5.0, 0.0, 0.0]]])
    where = seeds(x)
    data = source(field, TIMES, "float64", mesh="image", size=9)
    proxy = check.paths(data, where, MaximumError=1e-9)
    for when in (0.5, 0.25, 2.0, 1.3, 1.0):
        paths = Paths(proxy, when)
        expect(paths.ids == list(range(30)), f"ids {paths.ids}")
        close(paths.points, formula(x[:30], 0.0, when), tolerance, f"paths of {field} at {when}")
        for points, arrays, start in zip(paths.points, paths.arrays, x):
            time = arrays["SimulationTime"]
            expect(time[0] == 0 and time[-1] == when and (np.diff(time) > 0).all(), f"times {time}")
            expect((arrays["ParticleAge"] == time).all(), "ages")
            expect((points[0] == start.astype(np.float32)).all(), "a path does not begin at its seed")
            wanted = np.array([formula(start, 0.0, t) for t in time])
            expect(np.abs(points - wanted).max() <= tolerance, f"points within paths of {field}")
            expect(np.abs(arrays["height"] - (wanted @ [1, 2, 3] + time)).max() < 1e-5, "height")
        expect(set(paths.reasons) == {0}, f"reasons {set(paths.reasons)}")
    expect(paths.statistic("OutsideSeeds") == 1, "a seed outside")
    check.delete(proxy, data, where)


def run_moving():
    """Meshes whose points move: the same flow as without, and one that is that of the mesh."""
    x = cloud(30, (2.0, 4.0, 2.0, 4.0, 1.0, 4.0))
    where = seeds(x)
    for field, place, formula in (
        ("accelerate", "sway", accelerated),
        ("carry", "stretch", lambda start, begin, when: start + (when - begin) * carry(np.atleast_2d(start), 0)),
    ):
        for mesh in ("tetrahedra", "mixed", "structured"):
            after = f"unsteady.move(output, {place!r}, {field!r}, time, 'float64')"
            data = source(field, TIMES, "float64", after=after, mesh=mesh, size=9)
            proxy = check.paths(data, where, MaximumError=1e-9)
            for when in (0.5, 0.25, 2.0, 1.3):
                paths = Paths(proxy, when)
                expect(paths.ids == list(range(30)), f"{mesh}: ids {paths.ids}")
                # Points of meshes may be of single precision.
                close(paths.points, formula(x, 0.0, when), 1e-5, f"{field} in moving {mesh} at {when}")
                expect(set(paths.reasons) == {0}, f"reasons {set(paths.reasons)}")
                if field == "accelerate":  # linear arrays are interpolated exactly
                    for points, arrays in zip(paths.points, paths.arrays):
                        time = arrays["SimulationTime"]
                        wanted = points @ [1, 2, 3] + time
                        expect(np.abs(arrays["height"] - wanted).max() < 1e-4, "height")
                        expect(np.abs(arrays["Vorticity"]).max() < 1e-6, "vorticity")
            check.delete(proxy, data)
    check.delete(where)


def run_vorticity():
    """The angular velocity of a rotation, and the angle."""
    x = cloud(10, (2.0, 4.0, 2.0, 4.0, 1.0, 4.0))
    where = seeds(x)
    data = source("turn", TIMES, "float64", mesh="image", size=9)
    for kind in ("Pathlines", "Particles"):
        proxy = check.paths(data, where, MaximumError=1e-9, OutputKind=kind, RotationScale=2.0)
        for when in (1.5, 1.0):
            paths = Paths(proxy, when)
            for arrays in paths.arrays:
                time = arrays["SimulationTime"]
                spin = 2 * (0.5 + 0.25 * time)
                expect(np.abs(arrays["Vorticity"] - np.stack([0 * time, 0 * time, spin], -1)).max() < 1e-9,
                       f"vorticity {arrays['Vorticity']}")
                v = arrays["velocity"]
                along = 2 * spin * v[:, 2] / np.linalg.norm(v, axis=1)
                expect(np.abs(arrays["AngularVelocity"] - along).max() < 1e-9, "angular velocity")
                expect(arrays["Rotation"][-1] > 0.1, f"rotation {arrays['Rotation']}")
                if kind == "Pathlines":
                    sums = np.concatenate([[0], np.cumsum((along[1:] + along[:-1]) / 2 * np.diff(time))])
                    expect(np.abs(arrays["Rotation"] - sums).max() < 1e-9, "rotation")
            if kind == "Pathlines":
                right = right_at[when] = {i: a["Rotation"][-1] for i, a in zip(paths.ids, paths.arrays)}
            else:
                right = {i: a["Rotation"][-1] for i, a in zip(paths.ids, paths.arrays)}
                expect(right == right_at[when], "rotation of particles")
        check.delete(proxy)
    check.delete(data, where)


right_at = {}


def run_time_steps():
    """The points at time steps are those of all steps, with the same bits; the others are left out."""
    where = seeds(cloud(60))
    for mesh, size in (("image", 9), ("tetrahedra", 7), ("mixed", 7)):
        data = source("swirl", TIMES, mesh=mesh, size=size)
        for properties in ({}, {"ComputeVorticity": 0}, {"TerminationTime": 1.25, **EVERY}):
            every = check.paths(data, where, **properties)
            few = check.paths(data, where, PathPoints="Time Steps", **properties)
            for when in (2.0, 1.75, 0.5):
                wanted, found = Paths(every, when), Paths(few, when)
                end = min(when, properties.get("TerminationTime", when))
                stored = [time for time in TIMES if time < end] + [end]
                ended = short = 0
                lines = dict(zip(found.ids, zip(found.points, found.arrays, found.reasons)))
                for ident, points, arrays, reason in zip(
                        wanted.ids, wanted.points, wanted.arrays, wanted.reasons):
                    at = np.isin(arrays["SimulationTime"], stored)
                    ended += reason not in (0, 7)
                    if at.sum() < 2:
                        expect(ident not in lines, f"a path of {at.sum()} points")
                        short += 1
                        continue
                    line = lines.pop(ident)
                    expect(line[2] == reason, f"reason {line[2]}, not {reason}")
                    expect(line[0].tobytes() == points[at].tobytes(), f"{mesh}: points of path {ident}")
                    expect(line[1].keys() == arrays.keys(), f"arrays {line[1].keys()}")
                    for name in arrays:
                        expect(line[1][name].tobytes() == arrays[name][at].tobytes(), f"{mesh}: {name}")
                expect(not lines, f"more paths: {lines.keys()}")
                expect(when < 1 or ended > 0, f"{mesh}: all particles stay inside")
                expect(short < len(wanted.ids) / 2, f"{mesh}: {short} short paths")
            # Particles are kept already.
            few.OutputKind = "Particles"
            expect(Paths(few, 2.0).statistic("Intervals") == 0, "particles need no trace")
            check.delete(every, few)
        check.delete(data)
    check.delete(where)


def run_brute_force():
    """The double gyre, interpolated, against small steps through the same interpolation."""
    times = [0.0, 0.7, 1.5, 3.0, 4.0]
    box = (0.05, 1.95, 0.05, 0.95)
    x = cloud(25, box + (0, 0))
    where = seeds(x)
    data = source("gyre", times, flow="double_gyre", mesh="image", size=33)
    grid = Grid("gyre", times, (33, 33), (0.0, 2.0, 0.0, 1.0))
    proxy = check.paths(data, where, MaximumError=1e-10, MaximumStepLength=0.1)
    for when in (4.0, 2.0):
        paths = Paths(proxy, when)
        if COMM.rank == 0:
            wanted = grid.advance(x, 0.0, when)
            close(paths.points, [wanted[i] for i in paths.ids], 2e-5, f"the gyre at {when}")
    check.delete(proxy, data, where)


def run_injections():
    """Particles and streaklines of repeated injections, against the formula."""
    x = cloud(12, (2.0, 4.0, 2.0, 4.0, 1.0, 3.0))
    where = seeds(x, spread=False)
    data = source("turn", TIMES, "float64", mesh="image", size=9)
    for n, start, end, steps in ((1, -1e299, 1e299, [0, 1, 2, 3]), (2, -1e299, 1e299, [0, 2]),
                                 (1, 0.25, 1.5, [1, 2]), (2, 0.5, 1e299, [1, 3]), (0, 0.6, 1e299, [2])):
        proxy = check.paths(data, where, MaximumError=1e-9, ForceReinjectionEveryNSteps=n,
                            InjectionStartTime=start, InjectionEndTime=end, OutputKind="Particles")
        for when in (2.0, 1.0, 1.75):
            injected = [TIMES[s] for s in steps if TIMES[s] <= when]
            proxy.OutputKind = "Particles"
            paths = Paths(proxy, when)
            expect(paths.ids == list(range(12 * len(injected))), f"{n} from {start}: ids {paths.ids}")
            for ident, points, arrays in zip(paths.ids, paths.points, paths.arrays):
                number, seed = divmod(ident, 12)
                expect(np.abs(points[0] - turned(x[seed], injected[number], when)).max() < 1e-5, "place")
                expect(arrays["InjectionStepId"][0] == number, "InjectionStepId")
                expect(arrays["InjectedPointId"][0] == seed, "InjectedPointId")
                expect(arrays["ParticleAge"][0] == when - injected[number], "ParticleAge")
                expect(arrays["SimulationTime"][0] == when, "SimulationTime")
                expect(np.abs(arrays["height"][0] - points[0] @ [1, 2, 3] - when) < 1e-4, "height")
                expect(abs(arrays["level"][0] - 10 * when) <= 0.5 + 1e-9, f"level {arrays['level']}")
            # Without tracing again.
            proxy.OutputKind = "Streaklines"
            lines = Paths(proxy, when)
            expect(lines.statistic("Intervals") <= COMM.size, "an interval was traced again")
            expect(len(lines.ids) == (12 if len(injected) > 1 else 0), f"{len(lines.ids)} streaklines")
            for points, arrays in zip(lines.points, lines.arrays):
                expect(list(arrays["InjectionStepId"]) == list(range(len(injected)))[::-1],
                       f"order {arrays['InjectionStepId']}")
                expect(len(set(arrays["InjectedPointId"])) == 1, "one seed")
        check.delete(proxy)
    check.delete(data, where)


def run_termination():
    """Particles stop exactly at a time, also between steps."""
    x = cloud(12, (2.0, 4.0, 2.0, 4.0, 1.0, 3.0))
    where = seeds(x)
    data = source("turn", TIMES, "float64", mesh="image", size=9)
    for end in (0.75, 1.0):
        proxy = check.paths(data, where, MaximumError=1e-9, TerminationTime=end)
        for when in (2.0, 0.5, 0.6, 0.75, 1.0):
            paths = Paths(proxy, when)
            last = min(end, when)
            close(paths.points, turned(x, 0.0, last), 1e-5, f"until {end}, at {when}")
            expect(set(paths.reasons) == {7 if when >= end else 0}, f"{when}: reasons {paths.reasons}")
            expect({a["SimulationTime"][-1] for a in paths.arrays} == {last}, "the last time")
        check.delete(proxy)
        proxy = check.paths(data, where, TerminationTime=end, OutputKind="Particles", **EVERY)
        counts = [len(Paths(proxy, when).ids) for when in (2.0, 0.5, end)]
        expect(counts == [0, 24, 24], f"particles {counts}")
        check.delete(proxy)
    check.delete(data, where)


def run_limits():
    """Maximum Steps and Terminal Speed end particles; a flow at rest does not by itself."""
    where = seeds([[3.0, 3.0, 3.0], [3.5, 3.0, 3.0]])
    after = """
if time < 1:
    array = output.GetPointData().GetArray("velocity")
    array.Fill(0)
"""
    data = source("turn", TIMES, "float64", after=after, mesh="image", size=9)
    proxy = check.paths(data, where)
    paths = Paths(proxy, 2.0)
    expect(set(paths.reasons) == {0}, f"at rest: {paths.reasons}")
    expect(paths.points[1][-1][1] > 3.1, "a particle at rest moves later")
    proxy.TerminalSpeed = 0.01
    expect(set(Paths(proxy, 2.0).reasons) <= {6}, "terminal speed")
    proxy.TerminalSpeed = 0
    proxy.MaximumSteps = 0
    expect(Paths(proxy, 2.0).reasons[1] == 5, "maximum steps")
    check.delete(proxy, data, where)


def run_requests():
    """Any order of requests gives the outputs of a new filter, and traces what it must only."""
    where = seeds(cloud(30))
    data = source("swirl", TIMES, mesh="mixed", size=7)
    right = {}
    for when in (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0):
        new = check.paths(data, where, **EVERY)
        right[when] = Paths(new, when).digest()
        check.delete(new)
    expect(len(set(right.values())) == len(right), "all differ")
    proxy = check.paths(data, where, **EVERY)
    # For each time the number of intervals that are traced, and the steps that the input executes.
    for when, traced, steps in (
        (0.0, 0, [0.0]), (0.25, 1, [0.5]), (0.5, 1, []), (0.25, 1, [0.0, 0.5]), (1.5, 2, [1.0, 2.0]),
        (2.0, 1, []), (0.0, 0, []), (0.5, 0, []), (0.75, 1, [0.5, 1.0]), (1.5, 1, [2.0]), (2.0, 0, []),
        (1.0, 0, []), (1.5, 1, []),
    ):
        executed.clear()
        paths = Paths(proxy, when)
        expect(executed == steps, f"for {when} the input has executed {executed}, not {steps}")
        expect(paths.digest() == right[when], f"at {when} after others")
        found = paths.statistic("Intervals") / COMM.size
        expect(found == traced, f"{found} intervals for {when}, not {traced}")
    expect(Paths(proxy, 5.0).digest() == right[2.0], "after the last step")
    expect(Paths(proxy, -5.0).digest() == right[0.0], "before the first step")
    # Another property, and back.
    proxy.MaximumError = 1e-3
    expect(Paths(proxy, 2.0).statistic("Intervals") == 3 * COMM.size, "a property begins anew")
    proxy.MaximumError = 1e-6
    expect(Paths(proxy, 1.5).digest() == right[1.5], "the property restored")
    proxy.HoldTime = 7
    proxy.BlocksPerRank = 4
    paths = Paths(proxy, 1.0)
    expect(paths.digest() == right[1.0] and paths.statistic("Intervals") == 0, "blocks need no trace")
    # Other data.
    data.Script = data.Script + "\n# modified\n"
    paths = Paths(proxy, 2.0)
    expect(paths.digest() == right[2.0] and paths.statistic("Intervals") == 3 * COMM.size,
           f"other data begin anew: {paths.statistic('Intervals')}")
    proxy.MaximumError = 1e-5
    grids.abort_on_last_rank(COMM, proxy, lambda: proxy.UpdatePipeline(2.0))
    proxy.MaximumError = 1e-6
    expect(Paths(proxy, 2.0).digest() == right[2.0], "after an abort")
    check.delete(proxy)
    # Steps are appended.
    few = source("swirl", TIMES[:2], mesh="mixed", size=7)
    proxy = check.paths(few, where, **EVERY)
    expect(Paths(proxy, 0.5).digest() == right[0.5], "before steps were added")
    few.ScriptRequestInformation = data.ScriptRequestInformation
    few.UpdatePipelineInformation()
    paths = Paths(proxy, 2.0)
    expect(paths.digest() == right[2.0], "after steps were added")
    expect(paths.statistic("Intervals") == 2 * COMM.size, "appended steps continue")
    check.delete(proxy, few)
    proxy = check.paths(data, where, AutoTune=1, **EVERY)
    expect(Paths(proxy, 2.0).digest() == right[2.0], "with AutoTune")
    check.delete(proxy, data, where)


def run_in_situ(catalyst):
    """Data of a simulation, which overwrites its arrays: each execution adds a step.

    catalyst  the producer is Catalyst's, which reports the time steps so far; otherwise one without time steps
    """
    where = seeds(cloud(30))
    steps = source("swirl", TIMES, mesh="image", size=9)
    reference = check.paths(steps, where, **EVERY)
    right = [Paths(reference, when).digest() for when in TIMES]
    data = check.flows.build(COMM.rank, COMM.size, mesh="image", size=9, centring="both")
    set_values(data, "swirl", TIMES[0])
    producer = simple.PVTrivialProducer() if catalyst else simple.TrivialProducer()
    held = producer.GetClientSideObject()
    held.SetWholeExtent(*check.flows.whole_extent("abc", "image", 9))

    def hand_over(step):
        new = type(data)()
        new.DeepCopy(data)
        set_values(new, "swirl", TIMES[step])
        for attributes, other in ((data.GetPointData(), new.GetPointData()),
                                  (data.GetCellData(), new.GetCellData())):
            for i in range(attributes.GetNumberOfArrays()):
                array = attributes.GetArray(i)
                array.DeepCopy(other.GetArray(array.GetName()))
                array.Modified()
        data.GetInformation().Set(data.DATA_TIME_STEP(), TIMES[step])
        data.Modified()
        if catalyst:
            held.SetOutput(data, TIMES[step])
        else:
            held.SetOutput(data)
        held.Modified()
        producer.MarkModified(producer)

    hand_over(0)
    proxy = check.paths(producer, where, **EVERY)
    careless = check.paths(producer, where, **EVERY)  # updated without a time, as some scripts do
    for step in (0, 1, 2, 3) if catalyst else (0, 1, 1, 2, 3):
        hand_over(step)
        expect(Paths(careless).digest() == right[step], f"in situ: step {step}")
        if catalyst:
            expect(Paths(proxy, TIMES[step]).digest() == right[step], f"Catalyst: step {step}")
    if not catalyst:
        hand_over(0)
        expect(Paths(careless).digest() == right[0], "in situ: an earlier time begins anew")
    check.delete(careless, proxy, producer, reference, steps, where)


def run_moving_seeds():
    """Seeds that vary in time: those of each injection, or of the first step."""
    script = """
from vtkmodules.vtkCommonCore import vtkPoints
executive = self.GetExecutive()
information = executive.GetOutputInformation(0)
time = information.Get(executive.UPDATE_TIME_STEP())
points = vtkPoints()
if information.Get(executive.UPDATE_PIECE_NUMBER()) in (0, None):
    for i in range(5):
        points.InsertNextPoint(2 + 0.2 * i, 2 + time, 2)
self.GetOutputDataObject(0).SetPoints(points)
"""
    where = simple.ProgrammableSource(OutputDataSetType="vtkPolyData", Script=script)
    where.ScriptRequestInformation = f"""
executive = self.GetExecutive()
information = executive.GetOutputInformation(0)
information.Set(executive.TIME_STEPS(), {TIMES!r}, {len(TIMES)})
information.Set(executive.TIME_RANGE(), [{TIMES[0]}, {TIMES[-1]}], 2)
"""
    data = source("accelerate", TIMES, "float64", mesh="image", size=9)
    for static in (0, 1):
        proxy = check.paths(data, where, StaticSeeds=static, MaximumError=1e-9, **DOTS)
        paths = Paths(proxy, 2.0)
        expect(len(paths.ids) == 20, f"{len(paths.ids)} particles")
        for ident, points in zip(paths.ids, paths.points):
            number, seed = divmod(ident, 5)
            begin = TIMES[number]
            start = np.array([2 + 0.2 * seed, 2 + (0 if static else begin), 2])
            wanted = accelerated(start, begin, 2.0)
            expect(np.abs(points[0] - wanted).max() < 1e-5, f"static {static}: {points[0]}, not {wanted}")
        check.delete(proxy)
    check.delete(data, where)


def run_types():
    """The type of the vectors changes from step to step; an array is missing in one."""
    x = cloud(12, (2.0, 4.0, 2.0, 4.0, 1.0, 3.0))
    where = seeds(x)
    after = """
if time in (0.5, 2.0):
    unsteady.set_values(output, "turn", time, "float32")
if time == 1.0:
    output.GetPointData().RemoveArray("level")
"""
    data = source("turn", TIMES, "float64", after=after, mesh="image", size=9)
    proxy = check.paths(data, where, MaximumError=1e-9)
    paths = Paths(proxy, 2.0)
    close(paths.points, turned(x, 0.0, 2.0), 1e-5, "vectors of two types")
    expect("level" not in paths.names and "height" in paths.names, f"arrays {paths.names}")
    expect(paths.arrays[0]["velocity"].dtype == np.float64, "the wider type")
    paths = Paths(proxy, 0.5)
    expect("level" in paths.names, f"arrays {paths.names}")
    proxy.PointArrays = ["height"]
    proxy.ComputeVorticity = 0
    paths = Paths(proxy, 2.0)
    expect(paths.names == ["InjectedPointId", "InjectionStepId", "ParticleAge", "ParticleId",
                           "SimulationTime", "height", "velocity"], f"arrays {paths.names}")
    check.delete(proxy, data, where)


def main():
    work = {name: lambda name=name: run_case(name) for name in CASES}
    work["brute force"] = run_brute_force
    # No hashes of the following: they do not run on all numbers of ranks.
    if FEW and IS_REFERENCE:
        work.update({
            "acceleration": lambda: run_formula("accelerate", accelerated, 1e-5),
            "rotation": lambda: run_formula("turn", turned, 1e-5),
            "time steps": run_time_steps, "moving": run_moving, "vorticity": run_vorticity,
        })
    if FEW:
        work.update({
            "injections": run_injections, "termination": run_termination,
            "limits": run_limits, "requests": run_requests,
            "in situ": lambda: run_in_situ(False), "in situ, Catalyst": lambda: run_in_situ(True),
            "moving seeds": run_moving_seeds, "types": run_types,
        })
    check.run_cases(work, COMM.rank, "paths")


if __name__ == "__main__":
    check.run(__file__)
