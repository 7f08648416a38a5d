# SPDX-License-Identifier: BSD-3-Clause
"""Async Path Tracer and Async Flow Map on data whose mesh is another one at each time step: the paths of formulas
and of brute force, and one answer, bit for bit, however the data are cut. Writes hashes to hashes.json for
CompareHashes.py.

Every rank runs this script (pvbatch --sym). Arguments, if any, are words: only cases with one of them in the
name run, and no hashes are written.
"""

import hashlib

import check
import numpy as np
from tracking import expect
from unsteady import COMM, Grid, Paths, accelerated, seeds, source, turned

TIMES = [0.0, 0.5, 1.0, 2.0]
ENDS = {"PathPoints": "Time Steps", "ComputeVorticity": 0}
VOLUMES = (("image", 9), ("tetrahedra", 7), ("mixed", 6), ("rectilinear", 8))
GRIDS = (("image", 9), ("image", 7), ("structured", 9), ("image", 8))
MESHES = (("tetrahedra", 6), ("tetrahedra", 8), ("tetrahedra", 8), ("hexahedra", 6))  # one interval without change
# Name: steps, arguments of the data, properties.
CASES = {
    "volumes": (VOLUMES, {}, {"ForceReinjectionEveryNSteps": 1}),
    "volumes, of cells": (VOLUMES, {}, {"Vectors": ["CELLS", "velocity"]}),
    "grids": (GRIDS, {}, {"IntegratorType": "Runge-Kutta 4"}),
    "grids, time steps": (GRIDS, {}, {**ENDS, "ForceReinjectionEveryNSteps": 1}),
    "meshes, streaklines": (MESHES, {}, {"ForceReinjectionEveryNSteps": 1, "OutputKind": "Streaklines"}),
}
# Ways to cut the data and to execute that change nothing.
WAYS = (
    ({}, {}),
    ({"cut": 1}, {"BlocksPerRank": 3, "Schedule": "Synchronous"}),
    ({"cut": 2, "ghosts": 1}, {"KeepDomain": 0, "AutoTune": 1}),
)


def cloud(count, lo, hi, salt=0):
    return np.random.default_rng(salt).uniform(lo, hi, (count, 3))


def changing(field, steps, dtype="float32", **arguments):
    return source(field, TIMES, dtype, build="unsteady.remesh", steps=steps, **arguments)


def run_case(case):
    """All ways to cut the data, one step after the other or all at once, give the same bits."""
    steps, arguments, properties = CASES[case]
    where = seeds(cloud(40, 0.2, 6.0))
    first = None
    for turn, (cut, way) in enumerate(check.some(WAYS, len(case))):
        data = changing("swirl", steps, **{**arguments, **cut})
        proxy = check.paths(data, where, **{**properties, **way})
        order = (0.5, 1.75, 2.0) if turn % 2 == 0 else (2.0, 1.75, 0.5)
        found = {when: Paths(proxy, when) for when in order}
        hashes = [found[when].digest() for when in sorted(found)]
        expect(len(found[2.0].ids) > 15, f"only {len(found[2.0].ids)} paths")
        first = first or hashes
        expect(hashes == first, f"{cut}, {way}: {hashes}, not {first}")
        check.delete(proxy, data)
    check.delete(where)
    return "-".join(first)


def run_formula(field, formula):
    """The paths and arrays of fields that the interpolation reproduces in any mesh."""
    x = cloud(30, 2.0, 4.0)
    where = seeds(x)
    for steps in (VOLUMES, GRIDS, MESHES):
        data = changing(field, steps, "float64", cut=1)
        proxy = check.paths(data, where, MaximumError=1e-9)
        for when in (2.0, 0.25, 1.3, 1.0):
            paths = Paths(proxy, when)
            expect(paths.ids == list(range(30)), f"ids {paths.ids}")
            wanted = formula(x, 0.0, when)
            error = max(np.abs(p[-1] - w).max() for p, w in zip(paths.points, wanted))
            expect(error < 2e-5, f"{field} at {when}: off by {error}")
            for points, arrays in zip(paths.points, paths.arrays):
                time = arrays["SimulationTime"]
                expect(time[0] == 0 and time[-1] == when and (np.diff(time) > 0).all(), f"times {time}")
                expect(np.abs(arrays["height"] - points @ [1, 2, 3] - time).max() < 1e-4, "height")
                expect(np.abs(arrays["level"] - 10 * time).max() <= 1, "level")
                expect(arrays["level"].dtype == np.int32, "type of level")
                turning = 2 * (0.5 + 0.25 * time) if field == "turn" else 0 * time
                expect(np.abs(arrays["Vorticity"][:, 2] - turning).max() < 1e-4, "vorticity")
                v = arrays["velocity"]
                along = (arrays["Vorticity"] * v).sum(1) / np.linalg.norm(v, axis=1)
                expect(np.abs(arrays["AngularVelocity"] - along).max() < 1e-6, "angular velocity")
            if when == 2.0:
                expect(paths.statistic("MeshChanges") == 3 * COMM.size, "MeshChanges")
                expect(paths.statistic("Loans") == 0, "Loans")
        check.delete(proxy, data)
    check.delete(where)


def run_brute_force():
    """The double gyre on images of other sizes at each step, against small steps through an interpolation of its
    own."""
    sizes = (33, 20, 27, 24)
    x = cloud(25, (0.05, 0.05, 0.0), (1.95, 0.95, 0.0))
    where = seeds(x)
    data = changing("gyre", [("image", n) for n in sizes], flow="double_gyre", cut=1)
    grids = [Grid("gyre", TIMES, (n, n), (0.0, 2.0, 0.0, 1.0)) for n in sizes]

    def velocity(x, step, time):
        begin, end = TIMES[step], TIMES[step + 1]
        share = (time - begin) / (end - begin)
        return ((1 - share) * grids[step].velocity(x, step, begin)
                + share * grids[step + 1].velocity(x, step, end))

    proxy = check.paths(data, where, MaximumError=1e-10, MaximumStepLength=0.1)
    wanted = x
    for step, (begin, end) in enumerate(zip(TIMES, TIMES[1:])):
        h = (end - begin) / 200
        for i in range(200):
            t = begin + i * h
            k1 = velocity(wanted, step, t)
            k2 = velocity(wanted + h / 2 * k1, step, t + h / 2)
            k3 = velocity(wanted + h / 2 * k2, step, t + h / 2)
            k4 = velocity(wanted + h * k3, step, t + h)
            wanted = wanted + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        paths = Paths(proxy, end)
        expect(paths.ids == list(range(25)), f"ids {paths.ids}")
        error = max(np.abs(p[-1] - w).max() for p, w in zip(paths.points, wanted))
        expect(error < 2e-5, f"the gyre at {end}: off by {error}")
    check.delete(proxy, data, where)


def run_refined_once():
    """A rank whose piece stays, beside others that are refined and coarsened again between steps without a change:
    what is kept of the meshes gives the bits that meshes made anew give."""
    times = [0.5 * step for step in range(10)]
    where = seeds(cloud(400, (1.0, 0.3, 0.3), (2.2, 5.7, 5.7)))
    first = None
    for keep in (0, 1):
        data = source("swirl", times, build="unsteady.refine", steps=(3, 4, 4, 4, 4, 12, 4, 4, 4, 4))
        proxy = check.paths(data, where, KeepDomain=keep, Vectors=["POINTS", "velocity"])
        hashes = [Paths(proxy, when).digest() for when in times]
        expect(len(set(hashes)) == len(times), f"{hashes}")
        first = first or hashes
        expect(hashes == first, f"{hashes}, not {first}")
        check.delete(proxy, data)
    check.delete(where)
    return first[-1]


def run_flow_map(duration):
    """The flow map of a rotation, forward and backward."""
    begin = 0.0 if duration > 0 else 2.0
    digests = set()
    for cut in (0, 1):
        data = changing("turn", VOLUMES, "float64", cut=cut)
        proxy = check.flow_map(data, IntegrationTime=duration, UseInputBounds=0,
                               SamplingBounds=[2.0, 4.0, 2.0, 4.0, 2.8, 3.2], SamplingDimensions=[5, 5, 3],
                               MaximumError=1e-9)
        proxy.UpdatePipeline(begin)
        output = proxy.GetClientSideObject().GetOutputDataObject(0)
        ends = check.arrays(output.GetPointData()).get("FlowMap")
        mine = [(output.GetPoint(i), tuple(ends[i])) for i in range(output.GetNumberOfPoints())]
        every = sorted({row for part in COMM.allgather(mine) for row in part})
        expect(len(every) == 75, f"{len(every)} points")
        x, found = np.array([row[0] for row in every]), np.array([row[1] for row in every])
        error = np.abs(found - turned(x, begin, begin + duration)).max()
        expect(error < 2e-5, f"the flow map from {begin}: off by {error}")
        digests.add(hashlib.sha256(found.tobytes()).hexdigest()[:24])
        check.delete(proxy, data)
    expect(len(digests) == 1, f"{digests}")
    return digests.pop()


def main():
    work = {name: lambda name=name: run_case(name) for name in CASES}
    work.update({
        "acceleration": lambda: run_formula("accelerate", accelerated),
        "rotation": lambda: run_formula("turn", turned),
        "brute force": run_brute_force,
        "refined once": run_refined_once,
        "flow map": lambda: run_flow_map(1.5),
        "flow map, backward": lambda: run_flow_map(-1.75),
    })
    check.run_cases(work, COMM.rank, "paths")


if __name__ == "__main__":
    check.run(__file__)
