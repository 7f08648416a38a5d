# SPDX-License-Identifier: BSD-3-Clause
"""Async Flow Map on this number of ranks: one answer, bit for bit, however the data and the output are cut, the
maps and exponents of formulas and of brute force, and each time step read once in a series of windows. Writes
hashes to hashes.json for CompareHashes.py.

Every rank runs this script (pvbatch --sym). Arguments, if any, are words: only cases with one of them in the
name run, and no hashes are written.
"""

import hashlib

import check
import numpy as np
from tracking import FEW, IS_REFERENCE, expect
from unsteady import COMM, FIELDS, Grid, accelerated, executed, source, stretch, turned
from vtkmodules.util.numpy_support import vtk_to_numpy

TIMES = [0.0, 0.5, 1.0, 2.0]
TENSOR = {"ComputeTensor": 1}
POINTS = {"Seeds": "Points of Input"}
# Points that move, with the vectors at the places where they are.
SWAY = "unsteady.move(output, 'sway', 'swirl', time)"
# Ways to cut the data and to execute that change nothing.
WAYS = (
    ({}, {}),
    ({"pieces": 8, "container": "multiblock", "placing": "cyclic"}, {"BlocksPerRank": 3, "SeedsPerBatch": 70}),
    ({"empty": 1}, {"LendingMemory": 0, "Schedule": "Synchronous", "KeptTimeSteps": 0}),
    ({"ghosts": 1}, {"KeepDomain": 0, "BlocksPerRank": 16, "SeedsPerBatch": 40, "KeptTimeSteps": 9}),
)
# Name: field, arguments of the data, properties, the windows as pairs of a time and its length.
CASES = {
    "gyre": ("gyre", {"flow": "double_gyre", "mesh": "image", "size": 17},
             {"SamplingDimensions": [14, 9, 1], **TENSOR}, ((0.25, 1.5), (1.75, -1.5))),
    "volume": ("swirl", {"mesh": "image", "size": 9}, {"SamplingDimensions": [7, 6, 5], **TENSOR},
               ((0.0, 0.75), (2.0, -0.75))),
    "plane in a volume, tetrahedra": ("swirl", {"mesh": "tetrahedra", "size": 7},
                                      {"SamplingDimensions": [1, 8, 9]}, ((0.5, 0.5),)),
    "box outside, curvilinear": ("swirl", {"mesh": "structured", "size": 9},
                                 {"SamplingDimensions": [7, 7, 4], "UseInputBounds": 0,
                                  "SamplingBounds": [-1.0, 4.0, 2.0, 7.0, 1.0, 5.0]}, ((0.0, 1.0),)),
    "of cells, mixed": ("swirl", {"mesh": "mixed", "size": 6},
                        {"Vectors": ["CELLS", "velocity"], "SamplingDimensions": [6, 6, 6]}, ((0.0, 0.75),)),
    "points of an image": ("gyre", {"flow": "double_gyre", "mesh": "image", "size": 9},
                           {**POINTS, **TENSOR}, ((0.0, 1.5), (1.75, -1.5))),
    "points of tetrahedra": ("swirl", {"mesh": "tetrahedra", "size": 5}, POINTS, ((0.25, 0.5),)),
    "grid in moving tetrahedra": ("swirl", {"mesh": "tetrahedra", "size": 7, "after": SWAY},
                                  {"SamplingDimensions": [10, 9, 1]}, ((0.0, 0.5), (1.0, -0.25))),
    "points of triangles": ("gyre", {"flow": "double_gyre", "mesh": "triangles", "size": 9},
                            {**POINTS, "IntegratorType": "Runge-Kutta 4"}, ((0.0, 1.5),)),
}


class Map:
    """The output of all ranks: its points and arrays in an order that does not depend on their distribution.
    Points that several ranks have must have the same bits. The same on all ranks."""

    def __init__(self, proxy, when=None):
        if when is None:
            proxy.UpdatePipeline()
        else:
            proxy.UpdatePipeline(when)
        self.data = proxy.GetClientSideObject().GetOutputDataObject(0)
        rows = {}
        for leaf in self._leaves():
            if not leaf.GetNumberOfPoints():
                continue
            arrays = check.arrays(leaf.GetPointData())
            arrays.pop("vtkGhostType", None)
            names = sorted(arrays)
            for i in range(leaf.GetNumberOfPoints()):
                self._enter(rows, leaf.GetPoint(i), {name: arrays[name][i] for name in names})
        every = {}
        for part in COMM.allgather(rows):
            for place, row in part.items():
                self._enter(every, place, row)
        places = sorted(every, key=lambda x: x[::-1])
        self.points = np.array(places).reshape(-1, 3)
        self.arrays = {}
        for name in sorted(every[places[0]]) if places else ():
            self.arrays[name] = np.array([every[place][name] for place in places])
        self.exponent = self.arrays.get("FTLE")
        self.ends = self.arrays.get("FlowMap")
        self.reasons = self.arrays.get("ReasonForTermination")

    def _leaves(self):
        if self.data.IsA("vtkDataSet"):
            return [self.data]
        iterator, leaves = self.data.NewIterator(), []
        while not iterator.IsDoneWithTraversal():
            leaves.append(iterator.GetCurrentDataObject())
            iterator.GoToNextItem()
        return leaves

    @staticmethod
    def _enter(rows, place, row):
        other = rows.setdefault(tuple(place), row)
        same = sorted(other) == sorted(row) and all(
            np.asarray(other[name]).tobytes() == np.asarray(row[name]).tobytes() for name in row)
        if not same:
            raise check.Wrong(f"two values at {place}: {other}, {row}")

    def digest(self):
        """A hash of all bits. All numbers that are none are the same."""
        total = hashlib.sha256(np.ascontiguousarray(self.points))
        for name, values in self.arrays.items():
            total.update(f"{name} {values.dtype} {values.shape}".encode())
            if values.dtype.kind == "f":
                values = np.where(np.isnan(values), np.nan, values)
            total.update(np.ascontiguousarray(values).tobytes())
        return total.hexdigest()[:24]

    def statistic(self, name):
        """The value of rank 0."""
        return vtk_to_numpy(self.data.GetFieldData().GetArray(f"AsyncFlowMap {name}"))[0]


def run_case(case):
    """All ways to cut the data give the same bits."""
    field, arguments, properties, windows = CASES[case]
    first = None
    for cut, way in check.some(WAYS, len(case)):
        data = source(field, TIMES, **{**arguments, **cut})
        proxy = check.flow_map(data, **{**properties, **way})
        hashes = []
        for when, duration in windows:
            proxy.IntegrationTime = duration
            found = Map(proxy, when)
            valid = found.arrays["vtkValidPointMask"]
            expect((valid == np.isfinite(found.exponent)).all(), "the mask")
            expect(valid.sum() > 20, f"only {valid.sum()} of {len(valid)} points have an FTLE")
            hashes.append(found.digest())
        first = first or hashes
        expect(hashes == first, f"{cut}, {way}: {hashes}, not {first}")
        check.delete(proxy, data)
    return "-".join(first)


def run_one_piece():
    """The field in eight pieces, on all ranks, and in one piece, on one rank: the same bits."""
    found = []
    for pieces in (1, 8):
        data = source("gyre", TIMES, flow="double_gyre", mesh="image", size=17, pieces=pieces, container="partitioned")
        proxy = check.flow_map(data, IntegrationTime=1.5, SamplingDimensions=[33, 17, 1], **TENSOR)
        found.append(Map(proxy, 0.25).digest())
        check.delete(proxy, data)
    expect(found[0] == found[1], f"{found[0]} of one piece, {found[1]} of eight")
    return found[0]


def run_formulas():
    """Fields that the interpolation reproduces, in windows that begin and end between steps and at them."""
    for field, formula in (("accelerate", accelerated), ("turn", turned)):
        data = source(field, TIMES, "float64", mesh="image", size=9)
        proxy = check.flow_map(data, MaximumError=1e-9, SamplingDimensions=[5, 6, 4], UseInputBounds=0,
                               SamplingBounds=[2.4, 3.6, 2.4, 3.6, 2.4, 3.6])
        for begin, duration in ((0.0, 2.0), (0.25, 1.3), (2.0, -2.0), (1.7, -1.3), (0.5, 0.25), (1.0, -0.25)):
            proxy.IntegrationTime = duration
            found = Map(proxy, begin)
            expect((found.arrays["EndTime"] == begin + duration).all(), "particles end elsewhere in time")
            expect((found.reasons == 7).all(), "particles end early")
            error = np.abs(found.ends - formula(found.points, begin, begin + duration)).max()
            expect(error < 1e-6, f"{field}, {begin}, {duration}: off by {error}")
            # A shift and a rotation stretch nothing: positions off by e give an exponent of e / distance / time.
            expect(np.abs(found.exponent).max() < 1e-5, f"{field}: FTLE {np.abs(found.exponent).max()}")
            expect(found.statistic("Duration") == begin + duration - begin, "duration")
        check.delete(proxy, data)


def run_saddle():
    """A steady linear saddle: the exponent is its rate, forward and backward, and the direction its axis."""
    data = check.held(check.flows.build(COMM.rank, COMM.size, flow="saddle", mesh="tetrahedra", size=6,
                                        dtype="float64", jitter=0.0))
    for seeds in ({"SamplingDimensions": [9, 9, 5]}, POINTS):
        proxy = check.flow_map(data, MaximumError=1e-9, **seeds, **TENSOR)
        for duration in (0.5, -0.5):
            proxy.IntegrationTime = duration
            found = Map(proxy)
            along = 0 if duration > 0 else 1
            # Particles leave across the sides towards which the flow stretches.
            stays = np.abs(found.points[:, along]) * np.exp(0.5) < 0.999
            leaves = np.abs(found.points[:, along]) * np.exp(0.5) > 1.001
            expect((found.reasons[stays] == 7).all(), "particles leave that should stay")
            expect((found.reasons[leaves] == 1).all(), "particles stay that should leave")
            expect(np.isnan(found.exponent[leaves]).all(), "FTLE of particles that left")
            expect(stays.sum() > 10 and np.isfinite(found.exponent[stays]).all(), "no FTLE of particles that stay")
            error = np.abs(found.exponent[stays] - 1).max()
            expect(error < 1e-5, f"FTLE off by {error}")
            c = found.arrays["CauchyGreenTensor"][stays]
            e = np.exp(2 * duration)
            expect(np.abs(c - [e, 1 / e, 1, 0, 0, 0]).max() < 1e-4, "tensor")
            direction = np.abs(found.arrays["StretchingDirection"][stays])
            expect(np.abs(direction - np.eye(3)[along]).max() < 1e-4, "direction")
        check.delete(proxy)
    check.delete(data)


def exponents(ends, shape, spacing, duration):
    """FTLE of end positions (n x 3, x fastest) on a plane grid: differences as those of numpy's gradient."""
    f = ends.reshape(shape[1], shape[0], 3)
    dx, dy = np.gradient(f, spacing[0], axis=1), np.gradient(f, spacing[1], axis=0)
    a, b, c = (dx * dx).sum(-1), (dx * dy).sum(-1), (dy * dy).sum(-1)
    largest = (a + c) / 2 + np.sqrt(((a - c) / 2) ** 2 + b**2)
    return (np.log(largest) / (2 * abs(duration))).ravel()


def analytic(x, begin, end, parts=200):
    """Positions of particles of the analytic double gyre, by small steps."""
    gyre, h = FIELDS["gyre"], (end - begin) / parts
    for i in range(parts):
        t = begin + i * h
        k1 = gyre(x, t)
        k2 = gyre(x + h / 2 * k1, t + h / 2)
        k3 = gyre(x + h / 2 * k2, t + h / 2)
        k4 = gyre(x + h * k3, t + h)
        x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return x


def run_gyre():
    """The double gyre: the map of the interpolated field by another integration, and the ridges of FTLE of the
    analytic field, forward and backward."""
    times = list(np.linspace(0, 10, 41))
    size, box = (65, 33), (0, 2, 0, 1)
    shape, duration = (61, 31), 7.0
    data = source("gyre", times, flow="double_gyre", mesh="image", size=[*size, 1])
    proxy = check.flow_map(data, MaximumError=1e-8, SamplingDimensions=[*shape, 1])
    grid = Grid("gyre", times, size, box)
    for begin, sign in ((0.0, 1), (8.0, -1)):
        proxy.IntegrationTime = sign * duration
        found = Map(proxy, begin)
        expect((found.reasons == 7).all(), f"{(found.reasons != 7).sum()} particles end early")
        if COMM.rank != 0:
            continue
        own = exponents(found.ends, shape, (2 / 60, 1 / 30), duration)
        expect(np.abs(own - found.exponent).max() < 1e-9, "FTLE of the map by numpy")
        if sign > 0:  # Grid knows forward only
            x = grid.advance(found.points[::9], begin, begin + duration, parts=20)
            error = np.abs(found.ends[::9] - x).max()
            # Errors of steps, 1e-8 each, are stretched by exp(7 * 0.6) < 100.
            expect(error < 1e-4, f"map off by {error}")
        wanted = exponents(analytic(found.points, begin, begin + sign * duration), shape, (2 / 60, 1 / 30), duration)
        # Interpolation errors of the velocity, about h^2 / 8 * pi^3 * 0.1 = 4e-4 for h = 1/32, displace a ridge by
        # less than 7 * 4e-4 * exp(7 * 0.6) / exp(7 * 0.6), a tenth of the distance of seeds: values beside the ridge
        # change by a tenth of their difference there.
        error = np.abs(found.exponent - wanted)
        expect(np.median(error) < 0.005 and np.quantile(error, 0.99) < 0.06, f"FTLE off by {np.median(error)}, {error.max()}")
        ridge, mine = wanted > np.quantile(wanted, 0.9), found.exponent > np.quantile(wanted, 0.9)
        share = (ridge & mine).sum() / (ridge | mine).sum()
        expect(share > 0.9, f"ridges have {share} in common")
    check.delete(proxy, data)


def run_windows():
    """A series of windows reads each step once if there is memory for them, and gives the bits of single maps."""
    times = list(np.linspace(0.0, 4.0, 9))
    arguments = dict(flow="double_gyre", mesh="image", size=9)
    properties = dict(IntegrationTime=1.5, SamplingDimensions=[8, 5, 1])
    data = source("gyre", times, **arguments)
    starts = (0.0, 0.5, 0.75, 1.0, 2.0, 1.0, 0.0)
    wanted = {}
    for start in starts:
        other = source("gyre", times, **arguments)
        alone = check.flow_map(other, KeptTimeSteps=0, **properties)
        wanted[start] = Map(alone, start).digest()
        check.delete(alone, other)
    for kept, reads in ((0, None), (9, 9), (3, None), (5, None)):
        proxy = check.flow_map(data, KeptTimeSteps=kept, **properties)
        del executed[:]
        for start in starts:
            found = Map(proxy, start)
            expect(found.digest() == wanted[start], f"{kept} kept steps: other values at {start}")
            expect(found.statistic("StepsKept") <= kept, "more steps are kept")
            expect(found.statistic("StepsRead") + found.statistic("StepsReused") == (5 if start == 0.75 else 4), "steps")
        ran = COMM.bcast(list(executed), 0)
        if kept == 9:
            # The last window is from 2.0 to 3.5: steps 0 to 7. Windows whose steps are kept execute none. The input
            # may be at the first step already.
            expect(sorted({0.0, *ran}) == times[:8] and len(set(ran)) == len(ran), f"{ran} were read")
        if kept == 0:
            expect(len(ran) > 3 * len(starts), f"{ran} were read without kept steps")
        if kept == 5:
            expect(len(ran) < 4 * len(starts) - 8, f"{ran} were read with 5 kept steps")
        # Other properties of the map: the steps are the same. A modification of the data: they are not.
        proxy.IntegrationTime = -1.5
        del executed[:]
        Map(proxy, 1.5)
        if kept == 9:
            expect(not executed, f"{executed} were read again")
        data.GetClientSideObject().Modified()
        check.touch(proxy)
        del executed[:]
        Map(proxy, 1.5)
        expect(sorted(executed) == times[:4], f"{executed} after a modification of the data")
        proxy.IntegrationTime = 1.5
        check.delete(proxy)
    check.delete(data)


def run_growing():
    """A window from the first time step gives the bits of one from the current time. Playing forward executes each
    step once; going back begins again."""
    times = list(np.linspace(0.0, 4.0, 9))
    for arguments, properties in (
        (dict(flow="double_gyre", mesh="image", size=9), dict(SamplingDimensions=[8, 5, 1], **TENSOR)),
        (dict(mesh="tetrahedra", size=5, after=SWAY), dict(SamplingDimensions=[6, 5, 1], MaximumError=1e-4)),
    ):
        field = "gyre" if "flow" in arguments else "swirl"
        data = source(field, times, **arguments)
        single = check.flow_map(data, **properties)
        wanted = {}
        for when in (0.5, 0.75, 1.0, 2.0, 2.5, 2.75):  # the last one is the whole window
            single.IntegrationTime = when
            wanted[when] = Map(single, 0.0).digest()
        check.delete(single)
        proxy = check.flow_map(data, Window="From First Time Step", IntegrationTime=2.75, **properties)
        del executed[:]
        for when in (0.0, 0.5, 0.75, 1.0, 2.0, 2.5, 3.0, 4.0, 3.75, 9.0):
            found = Map(proxy, when)
            if when > 0:
                expect(found.digest() == wanted[min(when, 2.75)], f"{field}: other values at {when}")
            expect(found.statistic("StepsKept") == (0 if when >= 3 else 1), f"steps kept at {when}")
            expect(found.statistic("Duration") == min(when, 2.75), f"duration at {when}")
        ran = COMM.bcast(list(executed), 0)
        # The step after 0.75 is executed for it, and kept by the input. Those after the window are not.
        expect(ran == times[: len(ran)] and len(ran) == 7, f"{field}: {ran} were executed")
        # The first step shows which seeds are in cells, whatever was requested before.
        first = Map(proxy, 0.0)
        expect((first.ends == first.points).all() and np.isnan(first.exponent).all(), "a map without time")
        del executed[:]
        expect(Map(proxy, 2.0).digest() == wanted[2.0], f"{field}: after going back")
        expect(COMM.bcast(list(executed), 0) == times[1:5], f"{field}: {executed} after going back")
        del executed[:]
        expect(Map(proxy, 0.75).digest() == wanted[0.75], f"{field}: between steps, after going back")
        proxy.BlocksPerRank = 3
        expect(Map(proxy, 2.75).digest() == wanted[2.75], f"{field}: in other blocks")
        # A modification of the data, and another property of the map, begin again.
        data.GetClientSideObject().Modified()
        check.touch(proxy)
        del executed[:]
        Map(proxy, 1.0)
        expect(COMM.bcast(list(executed), 0) == times[:3], f"{executed} after a modification of the data")
        proxy.MaximumError = 1e-7
        del executed[:]
        expect(Map(proxy, 1.0).digest() not in wanted.values(), "another error")
        expect(COMM.bcast(list(executed), 0) == times[:3], f"{executed} after another property")
        # And back to windows from the current time.
        proxy.MaximumError = properties.get("MaximumError", 1e-6)
        proxy.Window, proxy.IntegrationTime = "From Current Time", 2.0
        expect(Map(proxy, 0.0).digest() == wanted[2.0], "another kind of window")
        check.delete(proxy, data)


def run_ends():
    """Windows that the steps end early, requests outside of the steps, and vectors that end particles."""
    data = source("accelerate", TIMES, "float64", mesh="image", size=9)
    proxy = check.flow_map(data, SamplingDimensions=[4, 4, 3], UseInputBounds=0,
                           SamplingBounds=[1, 3, 1, 3, 1, 3])
    for when, duration, begin, end in (
        (1.0, 5.0, 1.0, 2.0), (0.75, -5.0, 0.75, 0.0), (-3.0, 0.5, 0.0, 0.5), (9.0, -0.5, 2.0, 1.5)
    ):
        proxy.IntegrationTime = duration
        found = Map(proxy, when)
        expect((found.arrays["EndTime"] == end).all(), f"{when}, {duration}: {found.arrays['EndTime']}")
        error = np.abs(found.ends - accelerated(found.points, begin, end)).max()
        expect(error < 1e-6 and (found.reasons == 7).all(), f"{when}, {duration}: off by {error}")
    proxy.IntegrationTime = 1.0
    found = Map(proxy, 2.0)  # at the end
    expect((found.ends == found.points).all() and np.isnan(found.exponent).all(), "a window without time")
    expect((found.reasons == 7).all() and (found.arrays["vtkValidPointMask"] == 0).all(), "a window without time")
    # More ranks than points along an axis.
    proxy.SamplingDimensions = [2, 1, 1]
    found = Map(proxy, 0.0)
    expect(len(found.points) == 2 and np.abs(found.exponent).max() < 1e-5, f"a line: {found.exponent}")
    proxy.SamplingDimensions = [2, 2, 1]
    proxy.Seeds = "Points of Input"
    found = Map(proxy, 0.0)
    expect(len(found.points) == 729 and np.nanmax(np.abs(found.exponent)) < 1e-4, "after another kind of seeds")
    expect("velocity" not in found.arrays, "arrays of the input in the output")
    expect(data.GetClientSideObject().GetOutputDataObject(0).GetPointData().GetArray("velocity") is not None,
           "arrays of the input are gone")
    check.delete(proxy, data)


def run_box():
    """The grid is in the box of the data where the window begins, in both directions, if that grows."""
    grow = """
from vtkmodules.vtkCommonCore import vtkPoints
points = vtkPoints()
points.SetDataTypeToDouble()
for i in range(output.GetNumberOfPoints()):
    points.InsertNextPoint(*[(1 + time) * x for x in output.GetPoint(i)])
output.SetPoints(points)
"""
    data = source("accelerate", TIMES, "float64", mesh="tetrahedra", size=4, jitter=0.0, after=grow)
    proxy = check.flow_map(data, SamplingDimensions=[3, 3, 3])
    data.UpdatePipeline(0.0)
    bounds = COMM.allgather(data.GetClientSideObject().GetOutputDataObject(0).GetBounds())
    side = max(b[1] for b in bounds)
    for when, duration in ((1.0, 0.5), (1.0, -0.25), (2.0, -0.5), (0.0, 0.5)):
        proxy.IntegrationTime = duration
        found = Map(proxy, when).points.max()
        expect(abs(found - (1 + when) * side) < 1e-9, f"a grid up to {found} at {when}, {duration}; side {side}")
    check.delete(proxy, data)


def run_carried_points():
    """Points of a mesh that moves with the flow: seeds begin where they are at the beginning of the window, also
    between time steps, and end where they are at its end."""
    data = source("carry", TIMES, "float64", mesh="tetrahedra", size=5, jitter=0.0,
                  after="unsteady.move(output, 'stretch', 'carry', time, 'float64')")
    proxy = check.flow_map(data, MaximumError=1e-9, **POINTS)
    data.UpdatePipeline(0.0)
    mesh = data.GetClientSideObject().GetOutputDataObject(0)
    mine = [mesh.GetPoint(i) for i in range(mesh.GetNumberOfPoints())]
    places = np.array(sorted({x for part in COMM.allgather(mine) for x in part}))
    for when, duration in ((0.25, 0.5), (0.5, 0.25), (1.75, -1.0), (0.75, -0.25)):
        proxy.IntegrationTime = duration
        found = Map(proxy, when)
        wanted = stretch(places, when)
        expect(len(found.points) == len(wanted), f"{when}: {len(found.points)} points, not {len(wanted)}")
        nearest = np.abs(found.points[:, None] - wanted[None]).max(-1)
        expect(nearest.min(1).max() < 1e-5, f"{when}, {duration}: seeds are off by {nearest.min(1).max()}")
        inside = found.reasons == 7
        expect(inside.sum() > len(wanted) // 2, f"{when}: only {inside.sum()} particles arrive")
        ends = stretch(places[nearest.argmin(1)], when + duration)
        error = np.abs(found.ends - ends)[inside].max()
        expect(error < 1e-5, f"{when}, {duration}: ends are off by {error}")
    check.delete(proxy, data)


def run_tuned():
    """AutoTune changes nothing."""
    data = source("swirl", TIMES, mesh="image", size=9)
    proxy = check.flow_map(data, SamplingDimensions=[9, 8, 7], IntegrationTime=0.75)
    wanted = Map(proxy, 0.0).digest()
    proxy.AutoTune = 1
    expect(Map(proxy, 0.0).digest() == wanted, "AutoTune")
    expect(Map(proxy, 0.25).statistic("TuningTrials") == 0, "trials for the second map")
    check.delete(proxy, data)


def main():
    work = {name: lambda name=name: run_case(name) for name in CASES}
    work["one piece"] = run_one_piece
    if FEW:
        # No hashes: they do not run on all numbers of ranks.
        work.update({"formulas": run_formulas, "saddle": run_saddle, "windows": run_windows, "growing": run_growing,
                     "ends": run_ends, "box": run_box,
                     "carried points": run_carried_points, "tuned": run_tuned})
    if IS_REFERENCE:
        work["double gyre"] = run_gyre
    check.run_cases(work, COMM.rank, "flow maps")


if __name__ == "__main__":
    check.run(__file__)
