# SPDX-License-Identifier: BSD-3-Clause
"""Crossings of events by paths: formulas, one answer for all cuts, requests and kinds of output, and crossings
without paths.

Writes hashes to hashes.json; CompareHashes.py compares them between numbers of ranks. Every rank runs this script
(pvbatch --sym).
"""

import check
import numpy as np
from tracking import expect
from unsteady import CENTER, Paths, seeds, source, turned

TIMES = [0.0, 0.5, 1.0, 2.0]
EVERY = {"ForceReinjectionEveryNSteps": 1}
SWAY = "unsteady.move(output, 'sway', 'swirl', time)"
EVENTS = [
    "plane origin 3 3 3 normal 1 0.5 0.1", "sphere center 3 3 3 radius 2 end 2", "length 1.5", "time 0.75",
    "box lower 1 1 1 upper 5 4.5 5 negative", "angle origin 3 3 3 from 1 0.3 0",
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
}
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


def run_case(case):
    """All ways to cut the data, and to ask for times, give the same bits."""
    arguments, properties = CASES[case]
    where = seeds(cloud(40))
    first = None
    for turn, (cut, way) in enumerate(check.some(WAYS, len(case))):
        data = source("swirl", TIMES, **{**arguments, **cut})
        proxy = check.paths(data, where, **{**properties, **way}, Events=EVENTS)
        order = (0.5, 1.75, 2.0) if turn % 2 == 0 else (2.0, 1.75, 0.5)
        found = {when: Paths(proxy, when) for when in order}
        hashes = [found[when].digest() for when in (0.5, 1.75, 2.0)]
        expect(found[2.0].crossings.count > 60, f"only {found[2.0].crossings.count} crossings")
        expect({2, 1} <= set(found[2.0].crossings.data["CrossingNumber"].tolist()), "no second crossing")
        expect(8 in found[2.0].reasons, "no path was ended")
        first = first or hashes
        expect(hashes == first, f"{cut}, {way}: {hashes}, not {first}")
        check.delete(proxy, data)
    check.delete(where)
    return "-".join(first)


def run_kinds():
    """Crossings are the same with all kinds of output, and without any other."""
    where = seeds(cloud(40))
    data = source("swirl", TIMES, mesh="tetrahedra", size=7)
    usual = {}
    for vorticity in (0, 1):
        proxy = check.paths(data, where, **EVERY, ComputeVorticity=vorticity, Events=EVENTS)
        usual[vorticity] = [Paths(proxy, when).crossings.digest() for when in (0.75, 2.0)]
        check.delete(proxy)
    for kind in KINDS:
        proxy = check.paths(data, where, **{**EVERY, **kind}, Events=EVENTS)
        paths = [Paths(proxy, when) for when in (0.75, 2.0)]
        digests = [each.crossings.digest() for each in paths]
        expect(digests == usual[kind.get("ComputeVorticity", 1)], f"crossings with {kind}")
        if "CrossingsOnly" in kind:
            expect(not paths[-1].ids and not paths[-1].statistic("PointsRecorded"), "points with Crossings Only")
        check.delete(proxy)
    check.delete(data, where)
    return "-".join(usual[0] + usual[1])


def main():
    hashes = {f"formula, {mesh}": run_formula(mesh) for mesh in ("image", "tetrahedra")}
    for case in CASES:
        hashes[case] = run_case(case)
    hashes["kinds"] = run_kinds()
    check.write_hashes(hashes)


if __name__ == "__main__":
    check.run(__file__)
