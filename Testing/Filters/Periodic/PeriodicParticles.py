# SPDX-License-Identifier: BSD-3-Clause
"""Async Path Tracer and Async Flow Map in periodic domains: known paths through gaps, one answer however the grid
is cut, and exponents without a seam. Writes hashes to hashes.json for CompareHashes.py.

Every rank runs this script (pvbatch --sym). Arguments, if any, are words: only cases with one of them in the
name run, and no hashes are written.
"""

import check
import numpy as np
import torus
from FlowMap import Map
from torus import Torus, in_time, near
from tracking import FEW, expect
from unsteady import Paths, accelerate, accelerated, seeds

TAU = 2 * np.pi
TIMES = [0.0, 0.5, 1.0, 2.0]
UNEVEN = np.array([0.0, 0.3, 0.9, 1.4, 2.2, 2.8, 3.5, 4.1, 4.9, 5.3])


def even(count, period=TAU, origin=0.0):
    return origin + np.arange(count) * (period / count)


def flow_at(field, time):
    """A field of unsteady.py that is the same everywhere, with a scalar that varies."""
    velocity = tuple(field(np.zeros((1, 3)), time)[0])
    return lambda x, y, z: {"velocity": velocity, "tracer": np.cos(x) + np.sin(y) + 0 * z}


def waves_at(time, scale=1.0):
    def field(x, y, z):
        x, y, z = (scale * c for c in (x, y, z))
        return {
            "velocity": tuple((1 + 0.5 * time) * c for c in (
                np.sin(z) + 0.6 * np.cos(y), 0.8 * np.sin(x) + np.cos(z), 0.6 * np.sin(y) + 0.8 * np.cos(x))),
            "tracer": np.cos(x + 0 * y) + np.sin(y) * np.cos(z) + time,
        }
    return field


def paths_of(data, where, when=TIMES[-1], **properties):
    proxy = check.paths(data, where, **properties)
    found = Paths(proxy, when)
    check.delete(proxy)
    return found


def run_known_paths():
    """A uniform flow that varies in time: ends and values that formulas say, in even and uneven gaps, also where the
    grid changes from step to step, and where coordinates decrease."""
    starts = np.array([[6.2, 5.6, 0.5], [0.1, 0.2, 0.9], [-3.0, 17.0, 0.2], [5.9, 0.0, 0.1]])
    where = seeds(starts)
    fast = lambda x, time: 4 * accelerate(x, time)
    for change, order in ((False, 1), (True, 1), (False, -1), (True, -1)):
        def make(time):
            columns = [even(9 + (4 if change and time > 0.75 else 0)), UNEVEN[::order], np.linspace(-9, 9, 4)]
            return Torus(columns, (TAU, TAU, 0), flow_at(fast, time)).pieces(uniform=False, cuts=(2, 2, 1))
        data = in_time(make, TIMES)
        found = paths_of(data, where, Periodic=[1, 1, 0], MaximumError=1e-9, Period=[0, TAU, 0])
        expect(found.ids == list(range(4)), f"particles {found.ids}")
        for start, points, arrays in zip(starts, found.points, found.arrays):
            time = arrays["SimulationTime"]
            right = start + 4 * np.array([accelerated(np.zeros(3), 0.0, t) for t in time])
            near(points, right, 3e-5, "a path")
            expect(time[-1] == 2.0, f"a path that ends at {time[-1]}")
            if not change:
                x, y = right[:, 0], right[:, 1]
                value = sum(np.interp((c - along[0]) % TAU + along[0], np.append(along, along[0] + TAU),
                                      np.append(f(along), f(along[0])))
                            for c, along, f in ((x, even(9), np.cos), (y, UNEVEN, np.sin)))
                near(arrays["tracer"], value, 1e-8, "the tracer on a path")
        expect((found.statistic("MeshChanges") > 0) == change, f"mesh changes: {found.statistic('MeshChanges')}")
        expect(found.data.GetFieldData().GetArray("AsyncPathTracer PeriodY").GetValue(0) == TAU, "the period")
        check.delete(data)
    check.delete(where)


def run_paths():
    """Cuts, blocks and loans change nothing, nor does a column that repeats the first one."""
    starts = np.random.default_rng(3).uniform(-5, 11, (14, 3))
    where, last = seeds(starts), seeds(starts, False)
    first = {}
    for uniform, columns, period in ((True, [even(9), even(8), even(7)], [0] * 3), (False, [UNEVEN, UNEVEN, UNEVEN], [5.7] * 3)):
        size = period[0] or TAU
        name = "uniform" if uniform else "rectilinear"
        for doubled in ((0, 0, 0), (1, 1, 1)):
            for way, more in check.some((
                    ({}, {}), ({"cuts": (3, 2, 1), "dealt": "backwards"}, {"BlocksPerRank": 3}),
                    ({"cuts": (2, 2, 2), "ghosts": 1}, {"LendingMemory": 0, "Schedule": "Synchronous"}),
                    ({"cuts": (2, 1, 2), "dealt": "last"}, {"KeepDomain": 0}))[: 2 if doubled[0] else 4], len(first)):
                def make(time):
                    some = Torus(columns, [size] * 3, waves_at(time, TAU / size), doubled)
                    return some.pieces(uniform=uniform, **way)
                data = in_time(make, TIMES)
                start = last if way.get("dealt") == "last" else where
                found = paths_of(data, start, Periodic=[1, 1, 1], Period=period, **more)
                expect(len(found.ids) == 14 and all(arrays["SimulationTime"][-1] == 2.0 for arrays in found.arrays),
                       f"{name}: {found.ids}")
                expect(found.statistic("MeshChanges") == 0, f"{name}: the gaps of steps differ")
                digest = found.digest()
                expect(first.setdefault(name, digest) == digest, f"{name}, {doubled}, {way}: {digest}, not {first[name]}")
                check.delete(data)
    check.delete(where, last)
    return "-".join(first.values())


def run_other_period():
    """A filter that has traced with one period does as a new one with another."""
    data = in_time(lambda time: Torus([UNEVEN] * 3, (5.7,) * 3, waves_at(time, TAU / 5.7)).pieces(uniform=False), TIMES)
    where = seeds(np.random.default_rng(4).uniform(0, 5, (6, 3)))
    for make in (lambda **p: check.paths(data, where, **p),
                 lambda **p: check.flow_map(data, IntegrationTime=1.5, SamplingDimensions=[5, 5, 4], KeptTimeSteps=9, **p),
                 lambda **p: check.flow_map(data, IntegrationTime=1.5, SamplingDimensions=[5, 5, 4],
                                            Window="From First Time Step", **p)):
        kept = make()
        digests = []
        is_map = kept.GetXMLName() == "AsyncFlowMap"
        when = 0.0 if is_map and kept.Window == "From Current Time" else TIMES[-1]
        digest = lambda proxy: (Map if is_map else Paths)(proxy, when).digest()
        for periodic, period in (((0, 0, 0), (0, 0, 0)), ((1, 1, 1), (5.7, 5.7, 5.7)), ((1, 1, 1), (5.9, 5.7, 5.7)),
                                 ((0, 0, 0), (0, 0, 0))):
            kept.Periodic, kept.Period = list(periodic), list(period)
            fresh = make(Periodic=list(periodic), Period=list(period))
            found = digest(kept)
            expect(found == digest(fresh), f"{kept.GetXMLName()}: {periodic}, {period} after others")
            digests.append(found)
            check.delete(fresh)
        expect(digests[0] == digests[-1] and len(set(digests)) == 3, f"properties without effect: {digests}")
        check.delete(kept)
    check.delete(data, where)


def cells(x, y, z):
    """A flow in cells of an infinite plane."""
    return {"velocity": (np.sin(x) * np.cos(y) + 0.2, 0.3 - np.cos(x) * np.sin(y), 0.0)}


def exponents(columns, origin, points, duration, parts=300):
    """FTLE of the flow as interpolated between its columns, on a grid of points on the torus; by brute force."""
    n = len(columns)
    x, y = columns[:, None, None], columns[None, :, None]
    u, v, _ = (np.broadcast_to(c, (n, n, 1))[:, :, 0] for c in cells(x, y, 0 * x)["velocity"])

    def velocity(p):
        at = (p - columns[0]) / (TAU / n)
        cell = np.floor(at).astype(int)
        f, low, high = at - cell, cell % n, (cell + 1) % n
        result = []
        for c in (u, v):
            a = c[low[..., 0], low[..., 1]] * (1 - f[..., 0]) + c[high[..., 0], low[..., 1]] * f[..., 0]
            b = c[low[..., 0], high[..., 1]] * (1 - f[..., 0]) + c[high[..., 0], high[..., 1]] * f[..., 0]
            result.append(a * (1 - f[..., 1]) + b * f[..., 1])
        return np.stack(result, -1)

    d = TAU / points
    along = origin + d * np.arange(-1, points + 2)
    p = np.stack(np.meshgrid(along, along, indexing="ij"), -1)
    h = duration / parts
    for _ in range(parts):
        k1 = velocity(p)
        k2 = velocity(p + h / 2 * k1)
        k3 = velocity(p + h / 2 * k2)
        k4 = velocity(p + h * k3)
        p = p + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    gradient = np.stack([(p[2:, 1:-1] - p[:-2, 1:-1]) / (2 * d), (p[1:-1, 2:] - p[1:-1, :-2]) / (2 * d)], -1)
    largest = np.linalg.svd(gradient, compute_uv=False)[..., 0]
    return np.log(largest) / abs(duration)


def run_exponents():
    """FTLE of a flow in cells: that of brute force at all points, the first and the last columns included, and in a
    grid that begins k columns later the same at the shifted points. Values at a side are those at the other one."""
    count, points, shift = 16, 32, 5
    found = {}
    for begin in (0, shift):
        columns = even(count, origin=begin * TAU / count)
        some = Torus([columns, columns, [0.0]], (TAU, TAU, 0), cells)
        data = some.source(cuts=(2, 2, 1))
        proxy = check.flow_map(data, Periodic=[1, 1, 0], IntegrationTime=1.5, IntegratorType="Runge-Kutta 4",
                               InitialStepLength=0.05, SamplingDimensions=[points + 1, points + 1, 1])
        for duration in (1.5, -1.5):
            proxy.IntegrationTime = duration
            result = Map(proxy)
            expect((result.reasons == 7).all(), "particles that end")
            ftle = result.exponent.reshape(points + 1, points + 1).T  # x first
            near(ftle, exponents(columns, columns[0], points, duration), 1e-4, f"FTLE of {duration}")
            near(ftle[0], ftle[-1], 1e-9, "FTLE at both sides along x")
            near(ftle[:, 0], ftle[:, -1], 1e-9, "FTLE at both sides along y")
            found[begin, duration] = ftle[:-1, :-1]
        near(result.statistic("PeriodX"), TAU, 1e-12, "the period")
        # At the points of the input, which are not those of the gap.
        proxy.Seeds, proxy.AuxiliaryDistance = "Points of Input", TAU / points
        result = Map(proxy)
        expect(len(result.points) == count * count, f"{len(result.points)} points")
        near(result.exponent.reshape(count, count).T, found[begin, -1.5][::2, ::2], 1e-9, "FTLE at points of the input")
        check.delete(proxy, data)
    for duration in (1.5, -1.5):
        steps = shift * points // count
        rolled = np.roll(found[0, duration], (-steps, -steps), (0, 1))
        near(rolled, found[shift, duration], 1e-9, f"FTLE of {duration} in a grid that begins {shift} columns later")


def run_maps():
    """Cuts of the data and of the output change nothing, for windows of both kinds."""
    first = {}
    for way, more in check.some((({}, {}), ({"cuts": (3, 2, 1), "dealt": "backwards"}, {"BlocksPerRank": 3, "SeedsPerBatch": 50}),
                                 ({"cuts": (2, 2, 2), "ghosts": 1}, {"LendingMemory": 0, "KeptTimeSteps": 0})), 1):
        def make(time):
            some = Torus([even(8), UNEVEN, even(6)], (TAU,) * 3, waves_at(time))
            return some.pieces(uniform=False, **way)
        data = in_time(make, TIMES)
        for window, when in (("From Current Time", 0.25), ("From First Time Step", 1.25)):
            proxy = check.flow_map(data, Periodic=[1, 1, 1], Period=[0, TAU, 0], IntegrationTime=1.5, Window=window,
                                   SamplingDimensions=[6, 5, 4], ComputeTensor=1, **more)
            found = Map(proxy, when)
            expect(np.isfinite(found.exponent).all() and (found.reasons == 7).all(), f"{window}: no FTLE")
            digest = found.digest()
            expect(first.setdefault(window, digest) == digest, f"{window}, {way}: {digest}, not {first[window]}")
            check.delete(proxy)
        check.delete(data)
    return "-".join(first.values())


def main():
    names = dict(globals())
    if not FEW:
        for name in ("run_other_period", "run_exponents", "run_known_paths"):
            del names[name]
    torus.cases(names, "periodic particles")


if __name__ == "__main__":
    check.run(__file__)
