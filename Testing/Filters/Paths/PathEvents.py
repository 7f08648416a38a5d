# SPDX-License-Identifier: BSD-3-Clause
"""Crossings of events by paths: formulas, brute force at a surface mesh, one answer for all cuts, requests and kinds of
output, and crossings without paths.

Writes hashes to hashes.json; CompareHashes.py compares them between numbers of ranks. Every rank runs this script
(pvbatch --sym).
"""

import check
import films
import numpy as np
from Surfaces import sphere, surface
from tracking import expect
from unsteady import CENTER, Paths, Simulation, accelerated, seeds, source, turned

TIMES = [0.0, 0.5, 1.0, 2.0]
EVERY = {"ForceReinjectionEveryNSteps": 1}
SWAY = "unsteady.move(output, 'sway', 'swirl', time)"
EVENTS = [
    "plane origin 3 3 3 normal 1 0.5 0.1", "sphere center 3 3 3 radius 2 end 2", "length 1.5", "time 0.75",
    "box lower 1 1 1 upper 5 4.5 5 negative", "angle origin 3 3 3 from 1 0.3 0",
]
MARK = "unsteady.mark(output, time)"
TARGETS = [
    "surface", "surface negative end 3", "isovalue height 20", "label level 10 positive", "label slabs",
    "isovalue warm 12 end 4", "plane origin 3 3 3 normal 1 0.5 0.1",
]
# Name: arguments of the data, properties.
CASES = {
    "image": ({"mesh": "image", "size": 9}, EVERY),
    "image, once": ({"mesh": "image", "size": 9, "dtype": "float64"}, {"ComputeVorticity": 0}),
    "tetrahedra": ({"mesh": "tetrahedra", "size": 7}, EVERY),
    "moving tetrahedra": ({"mesh": "tetrahedra", "size": 7, "after": SWAY}, EVERY),
    "curvilinear, Runge-Kutta 4": ({"mesh": "structured", "size": 9},
                                   {**EVERY, "StaticSeeds": 1, "IntegratorType": "Runge-Kutta 4"}),
    "image, of cells": ({"mesh": "image", "size": 9}, {"Vectors": ["CELLS", "velocity"]}),
    "image, targets": ({"mesh": "image", "size": 9, "after": MARK}, {**EVERY, "Events": TARGETS}),
    "moving tetrahedra, targets": ({"mesh": "tetrahedra", "size": 7, "after": SWAY + "\n" + MARK},
                                   {**EVERY, "Events": TARGETS, "PointArrays": ["level"]}),
}
CUTS = ("blocks", "cyclic", "overlap", "last")  # of the surface
WAYS = (
    ({}, {}),
    ({"pieces": 5, "container": "multiblock", "placing": "cyclic"}, {"BlocksPerRank": 3}),
    ({"empty": 1}, {"LendingMemory": 0, "Schedule": "Synchronous"}),
    ({"ghosts": 1}, {"KeepDomain": 0, "BlocksPerRank": 16}),
)
KINDS = ({"OutputKind": "Streaklines"}, {"OutputKind": "Particles"}, {"PathPoints": "Time Steps"},
         {"PathPoints": "Time Steps", "ComputeVorticity": 0}, {"CrossingsOnly": 1})


def cloud(count, salt=0):
    return np.random.default_rng(salt).uniform(0.2, 6.0, (count, 3))


def time_of_angle(angle, begin):
    """When a particle of `turn` that begins at a time has turned by an angle."""
    return -2 + np.sqrt(4 + 4 * begin + begin**2 + 8 * angle)


def run_formula(mesh):
    """In the field of `turn`, angles and heights are functions of the time."""
    x = np.concatenate([cloud(24) * 0.3 + 2.1, [[4.0, 3.0, 2.875]]])  # the last one is on the plane at a stored step
    where = seeds(x)
    data = source("turn", TIMES, "float64", mesh=mesh, size=9)
    proxy = check.paths(data, where, MaximumError=1e-10, **EVERY)
    proxy.Events = [
        "angle origin 3 3 3 degrees 100 positive", "plane origin 0 0 3 normal 0 0 1", "time 0.75", "length 0.4",
        "plane origin 0 0 3 normal 0 0 -1 positive",
    ]
    paths = Paths(proxy, 2.0)
    found = paths.crossings
    expect(paths.statistic("Crossings") == found.count, f"statistic {paths.statistic('Crossings')}, not {found.count}")
    expect("EventId" in check.arrays(paths.data.GetCellData()) or not paths.data.GetNumberOfCells(), "no EventId")
    expect({"velocity", "SimulationTime", "ParticleAge", "ParticleId", "InjectedPointId", "InjectionStepId", "ArcLength",
            "EventId", "CrossingNumber", "Vorticity"} <= set(found.data), f"arrays {found.names}")
    expect("Rotation" not in found.names, f"arrays {found.names}")
    time, event = found.data["SimulationTime"], found.data["EventId"]
    begins = np.array(TIMES)[found.data["InjectionStepId"]]
    expect((found.data["ParticleAge"] == time - begins).all(), "ages")
    expect((found.data["ParticleId"] == found.data["InjectionStepId"] * 25 + found.data["InjectedPointId"]).all(), "ids")
    start = x[found.data["InjectedPointId"]]
    wanted = np.array([turned(s, b, t) for s, b, t in zip(start, begins, time)])
    expect(abs(found.points - wanted).max() < 1e-7, f"positions: {abs(found.points - wanted).max()}")
    rate = 0.5 + 0.25 * time
    d = found.points - CENTER
    velocity = np.stack([-rate * d[:, 1], rate * d[:, 0], 0.25 + 0 * rate], -1)
    expect(abs(found.data["velocity"] - velocity).max() < 1e-6, "velocities")
    for particle in range(3 * 25):
        begin, s = TIMES[particle // 25], x[particle % 25]
        mine = found.of(ParticleId=particle)
        expect((np.diff(time[mine]) >= 0).all(), f"particle {particle}: order of times")
        angle = (np.deg2rad(100) - np.arctan2(s[1] - 3, s[0] - 3)) % (2 * np.pi)
        height = begin + (3 - s[2]) / 0.25
        for number, when in ((0, time_of_angle(angle, begin)), (1, height if s[2] < 3 else 9.0), (2, begin + 0.75)):
            here = time[mine & (event == number)]
            if abs(when - 2) > 1e-6:
                expect(len(here) == (when < 2), f"particle {particle}, event {number}: {here}, not {when}")
            expect(len(here) == 0 or abs(here[0] - when) < 1e-7, f"particle {particle}, event {number}: {here}")
        radius = np.hypot(*(s - CENTER)[:2])
        here = mine & (event == 3)
        arc = np.hypot(radius * (0.5 * (2 - begin) + 0.125 * (4 - begin**2)), 0.25 * (2 - begin))
        if abs(arc - 0.4) > 0.02:
            expect(here.sum() == (arc > 0.4), f"particle {particle}: length {arc}")
        expect(abs(found.data["ArcLength"][here] - 0.4).max(initial=0) < 1e-12, "lengths")
    expect(not (event == 4).any(), "a crossing in the other direction")
    expect((found.data["CrossingNumber"] == 1).all(), "numbers")
    at = Paths(proxy, 0.5).crossings
    until = found.data["SimulationTime"] <= 0.5
    expect(at.count == until.sum() and at.of(InjectedPointId=24, EventId=1).sum() == 1, "crossings until a time")
    # The plane ends paths there.
    proxy.Events = ["time 100", "plane origin 0 0 3 normal 0 0 1 end"]
    paths = Paths(proxy, 2.0)
    ended = {ident: points for ident, points, reason in zip(paths.ids, paths.points, paths.reasons) if reason == 8}
    crossed = found.data["ParticleId"][event == 1]
    expect(sorted(ended) == sorted(crossed), f"ended {sorted(ended)}, not {sorted(crossed)}")
    expect(all(abs(points[-1, 2] - 3) < 1e-6 for points in ended.values()), "paths do not end at the plane")
    proxy.OutputKind = "Particles"
    expect(len(Paths(proxy, 2.0).ids) == 100 - len(ended), "particles that have ended")
    # Without events: none, and no array of them.
    proxy.Events = []
    paths = Paths(proxy, 2.0)
    expect(paths.crossings.count == 0 and "EventId" not in check.arrays(paths.data.GetCellData()), "no events")
    check.delete(proxy, data, where)
    return found.digest() if mesh == "image" else "any cells"


def changes(value, time):
    """Where a function of time that jumps has another value than before, from its samples."""
    samples = value(time)
    found = []
    for at in np.flatnonzero(samples[1:] != samples[:-1]):
        low, high = time[at], time[at + 1]
        for _ in range(50):
            middle = (low + high) / 2
            if value(np.array([middle]))[0] == samples[at]:
                low = middle
            else:
                high = middle
        found.append(high)
    return found


def run_arrays(mesh):
    """In the field of `turn`, arrays along paths are functions of the time."""
    x = cloud(20, 3) * 0.4 + 1.7
    where = seeds(x)
    data = source("turn", TIMES, "float64", after=MARK, mesh=mesh, size=9)
    proxy = check.paths(data, where, MaximumError=1e-10, MaximumStepLength=0.05, **EVERY)
    proxy.Events = ["isovalue height 20", "label level", "label level 10", "isovalue level 7.5"]
    width = 2 * np.pi / 8

    def center(at):
        return (np.floor(at / width) + 0.5) * width

    def interpolated(time):
        """The array level at the same times: linear between those of the steps."""
        return np.interp(time, TIMES, np.rint(10 * np.array(TIMES)))

    def level(time):
        return np.rint(10 * np.array(TIMES))[np.searchsorted(TIMES, time, side="right") - 1]

    values = [
        lambda p, t: p @ [1, 2, 3] + t >= 20,
        lambda p, t: level(t),
        lambda p, t: level(t) == 10,
        lambda p, t: interpolated(t) >= 7.5,
    ]
    if mesh == "image":
        proxy.Events = [*proxy.Events, "label slabs", "isovalue warm 12"]
        values += [
            lambda p, t: np.floor(center(p[:, 0]) / 1.3),
            lambda p, t: 2 * center(p[:, 0]) + center(p[:, 1]) + 3 * t >= 12,
        ]
    paths = Paths(proxy, 2.0)
    found = paths.crossings
    time, event = found.data["SimulationTime"], found.data["EventId"]
    total = np.zeros(len(values), int)
    for particle in range(3 * len(x)):
        begin, s = TIMES[particle // len(x)], x[particle % len(x)]
        samples = np.linspace(begin, 2, 4001)
        for number, value in enumerate(values):
            expected = changes(lambda t: value(turned(s, begin, t), t), samples)
            if np.diff(expected).min(initial=1) < 0.15:
                continue  # perhaps in one step
            here = time[found.of(ParticleId=particle, EventId=number)]
            expect(len(here) == len(expected), f"particle {particle}, event {number}: {here}, not {expected}")
            expect(abs(here - expected).max(initial=0) < 1e-6, f"particle {particle}, event {number}: {here}")
            total[number] += len(expected)
    expect((total > 20).all(), f"crossings {total}")
    expect(abs(found.data["height"][event == 0] - 20).max() < 1e-12, "the array at isovalues")
    if mesh == "image":
        # Values of cells change in time, or jump at faces.
        faces = abs(found.points[event == 5, :2] / width - np.rint(found.points[event == 5, :2] / width)).min(axis=1)
        off = abs(found.data["warm"][event == 5] - 12)
        expect(((off < 1e-12) | (faces < 1e-8)).all() and (off < 1e-12).sum() > 5, f"the array of cells: {off}, {faces}")
        expect({"slabs", "warm"} <= set(paths.names), f"arrays of paths: {paths.names}")
    check.delete(proxy, data, where)


def hits(triangles, start, begin, end):
    """Times, numbers of triangles and directions of the crossings by a path of `accelerate`, which is a parabola."""
    a, b, c = triangles[:, 0], triangles[:, 1], triangles[:, 2]
    normal = np.cross(b - a, c - a)
    linear, square = np.array([0.5, 0.25, 0]), np.array([0, 0.25, 0.0625])
    found = []
    for number, n in enumerate(normal):
        constant = n @ (start - linear * begin - square * begin**2 - a[number])
        for time in np.roots([n @ square, n @ linear, constant]):
            if abs(time.imag) > 0 or not begin < time.real < end:
                continue
            x = accelerated(start, begin, time.real)
            corners = triangles[number]
            if all(np.cross(corners[(i + 1) % 3] - corners[i], x - corners[i]) @ n >= 0 for i in range(3)):
                found.append((time.real, number, n @ (linear + 2 * square * time.real) > 0))
    return sorted(found)


def run_surface():
    """A sphere of triangles against each of them."""
    triangles, labels = sphere()
    x = cloud(24, 5) * 0.5 + 1.2
    where, target = seeds(x), surface()
    data = source("accelerate", TIMES, "float64", mesh="image", size=9)
    proxy = check.paths(data, where, MaximumStepLength=0.05, **EVERY, EventSurfaces=target, SurfaceLabelArray="octant")
    proxy.Events = ["surface", "surface negative", "time 100"]
    paths = Paths(proxy, 2.0)
    found = paths.crossings
    expect(not paths.statistic("ReusedSurface"), "a new surface")
    expect(set(check.arrays(paths.data.GetCellData()).get("TargetId", np.array([-1])).tolist()) <= {-1}, "no end")
    wanted = {}
    for particle in range(3 * len(x)):
        begin = TIMES[particle // len(x)]
        wanted[particle] = hits(triangles, x[particle % len(x)], begin, 2.0)
        for event, some in ((0, wanted[particle]), (1, [hit for hit in wanted[particle] if not hit[2]])):
            here = found.of(ParticleId=particle, EventId=event)
            times = found.data["SimulationTime"][here]
            expect(len(times) == len(some), f"particle {particle}, event {event}: {times}, not {some}")
            expect(not some or abs(times - [hit[0] for hit in some]).max() < 1e-9, f"particle {particle}: {times}")
            expect(found.data["TargetId"][here].tolist() == [labels[hit[1]] for hit in some], f"labels of {particle}")
    expect(sum(map(len, wanted.values())) > 30, f"{sum(map(len, wanted.values()))} crossings")
    until = Paths(proxy, 1.0)
    expect(until.crossings.count == (found.data["SimulationTime"] <= 1).sum(), "crossings until a time")
    expect(until.statistic("ReusedSurface"), "the surface is kept")
    # Without a text, paths end at the first crossing.
    proxy.Events = []
    for kind in ("Pathlines", "Particles"):
        proxy.OutputKind = kind
        paths = Paths(proxy, 2.0)
        cells = check.arrays(paths.data.GetCellData())
        ids = cells.get("ParticleId", check.arrays(paths.data.GetPointData()).get("ParticleId"))
        for i in range(paths.data.GetNumberOfCells()):
            first = wanted.get(ids[i], [])[:1]  # the last particles begin at the end
            end = [cells[name][i] for name in ("ReasonForTermination", "EventId", "TargetId")]
            expect(end == ([8, 0, labels[first[0][1]]] if first else [0, -1, -1]), f"{kind} {ids[i]} ends with {end}")
            expect(kind == "Pathlines" or not first, f"particle {ids[i]} has ended")
    alone = found.digest()
    # The surface at the first time step is that of all others, whatever times are requested.
    proxy.OutputKind = "Pathlines"
    moving = surface(more="""
time = self.GetExecutive().GetOutputInformation(0).Get(self.GetExecutive().UPDATE_TIME_STEP())
points = vtkPoints()
points.SetDataTypeToDouble()
points.DeepCopy(output.GetPoints())
for i in range(points.GetNumberOfPoints()):
    points.SetPoint(i, *(c + time for c in points.GetPoint(i)))
output.SetPoints(points)
""")
    moving.ScriptRequestInformation = films._INFORMATION.format(times=TIMES)
    proxy.EventSurfaces, proxy.Events = moving, ["surface", "surface negative", "time 100"]
    for order in ((2.0,), (1.75, 0.5, 2.0)):
        check.touch(moving)  # begins again
        found = [Paths(proxy, when).crossings for when in order][-1]
        expect(found.digest() == alone, f"a surface that moves: times {order}")
    # A modified one restarts.
    moving.Script = moving.Script.replace("c + time", "c + time + 0.5")
    expect(Paths(proxy, 2.0).crossings.digest() not in (alone, ""), "another surface")
    proxy.EventSurfaces, proxy.Events = None, ["time 0.75"]
    paths = Paths(proxy, 2.0)
    expect("TargetId" not in paths.crossings.names, "labels without a surface")
    check.delete(proxy, moving, target, data, where)
    return alone


def run_in_situ():
    """The surface of the first execution is that of all others, although its source executes again."""
    where, target = seeds(cloud(30)), surface("cyclic")
    properties = {**EVERY, "EventSurfaces": target, "Events": ["surface", "isovalue height 20", "label level"]}

    def output(proxy, when):
        check.touch(target)
        paths = Paths(proxy, when)
        counts.append(paths.crossings.count)
        return paths

    counts = []
    found = Simulation(False, TIMES).digests(range(4), lambda data: check.paths(data, where, **properties), output)
    data = source("swirl", TIMES, mesh="image", size=9)
    proxy = check.paths(data, where, **properties)
    expect(found == [Paths(proxy, when).digest() for when in TIMES], "in situ")
    expect(counts[0] == 0 and counts[-1] > 30, f"crossings {counts}")
    check.delete(proxy, data, where, target)


def run_case(case):
    """All ways to cut the data, and to ask for times, give the same bits."""
    arguments, properties = CASES[case]
    properties = {"Events": EVENTS, **properties}
    has_surface = "surface" in properties["Events"]
    where = seeds(cloud(40))
    first = None
    for turn, (cut, way) in enumerate(check.some(WAYS, len(case))):
        data = source("swirl", TIMES, **{**arguments, **cut})
        more = {"EventSurfaces": surface(CUTS[turn]), "SurfaceLabelArray": "octant"} if has_surface else {}
        proxy = check.paths(data, where, **{**properties, **way, **more})
        order = (0.5, 1.75, 2.0) if turn % 2 == 0 else (2.0, 1.75, 0.5)
        found = {when: Paths(proxy, when) for when in order}
        hashes = [found[when].digest() for when in (0.5, 1.75, 2.0)]
        expect(found[2.0].crossings.count > 60, f"only {found[2.0].crossings.count} crossings")
        expect({2, 1} <= set(found[2.0].crossings.data["CrossingNumber"].tolist()), "no second crossing")
        expect(8 in found[2.0].reasons, "no path was ended")
        if has_surface:
            crossings = found[2.0].crossings
            expect(set(crossings.data["EventId"].tolist()) == set(range(len(TARGETS))), "events without crossings")
            height = crossings.data["height"][crossings.of(EventId=2)]
            expect(abs(height - 20).max() < 1e-12, f"the array at isovalues: {height}")
        first = first or hashes
        expect(hashes == first, f"{cut}, {way}: {hashes}, not {first}")
        check.delete(proxy, data, *(more[name] for name in more if name == "EventSurfaces"))
    check.delete(where)
    return "-".join(first)


def run_kinds():
    """Crossings are the same with all kinds of output, and without any other."""
    where = seeds(cloud(40))
    data, target = source("swirl", TIMES, mesh="tetrahedra", size=7, after=MARK), surface()
    more = {**EVERY, "EventSurfaces": target, "Events": [*EVENTS[:5], "surface negative", "isovalue height 20", "label slabs"]}
    usual = {}
    for vorticity in (0, 1):
        proxy = check.paths(data, where, **more, ComputeVorticity=vorticity)
        usual[vorticity] = [Paths(proxy, when).crossings.digest() for when in (0.75, 2.0)]
        check.delete(proxy)
    for kind in KINDS:
        proxy = check.paths(data, where, **{**more, **kind})
        paths = [Paths(proxy, when) for when in (0.75, 2.0)]
        digests = [each.crossings.digest() for each in paths]
        expect(digests == usual[kind.get("ComputeVorticity", 1)], f"crossings with {kind}")
        if "CrossingsOnly" in kind:
            expect(not paths[-1].ids and not paths[-1].statistic("PointsRecorded"), "points with Crossings Only")
        check.delete(proxy)
    check.delete(data, where, target)
    return "-".join(usual[0] + usual[1])


def main():
    hashes = {f"formula, {mesh}": run_formula(mesh) for mesh in ("image", "tetrahedra")}
    for case in CASES:
        hashes[case] = run_case(case)
    for mesh in ("image", "tetrahedra"):
        run_arrays(mesh)
    hashes["surface"] = run_surface()
    run_in_situ()
    hashes["kinds"] = run_kinds()
    check.write_hashes(hashes)


if __name__ == "__main__":
    check.run(__file__)
