# SPDX-License-Identifier: BSD-3-Clause
"""Components on the faces of cells (Arakawa C) on this number of ranks: linear fields against exponentials, closed
basins against their stream function, periodic axes, steps in time, flow maps and vorticity. The faces of both sides give
the same bits. Writes hashes to hashes.json for CompareHashes.py.

Every rank runs this script (pvbatch --sym). Arguments, if any, are words: only cases with one of them in the name run.
"""

import hashlib

import check
import grids
import numpy as np
import velocities
from tracking import COMM, expect
from unsteady import Paths, seeds, source

SIDES = {"low": "Faces, Low Side", "high": "Faces, High Side"}
NAN = float("nan")
OUT_OF_LENGTH = 4  # of vtkStreamTracer


def on(side, names=velocities.NAMES):
    """The properties that select components of cells at faces."""
    return {**velocities.of("CELLS", names), "ComponentPosition": SIDES[side]}


def at(axis, what):
    index = [slice(None)] * 3
    index[2 - axis] = what
    return tuple(index)


def staggered(grid, faces, side, dtype="float64", ghosts=0, parts=None, land=None, hidden=None, more=()):
    """A proxy of a grid whose cells have the velocities of the faces at one side.

    faces  by axis, values z by y by x, with one more along the axis unless the grid is flat
    land   cells whose components are no numbers where they are 0
    parts  the number of pieces, all in a partitioned data set, or one on each rank
    more   name and values of further arrays of cells
    """
    arrays = list(more)
    for axis, name in enumerate(velocities.NAMES):
        ends = {"low": slice(None, -1), "high": slice(1, None)}[side]
        values = faces[axis][at(axis, slice(None) if grid.flat(axis) else ends)].astype(dtype)
        if land is not None:
            values = np.where(land & (values == 0), NAN, values)
        arrays.append((name, values))
    boxes = grids.boxes_of(grid, "cut", parts or COMM.size)
    arguments = {"ghosts": ghosts, "cell_arrays": arrays, "hidden": hidden}
    if parts is None:
        box = boxes[COMM.rank]
        return check.held(grid.empty() if box is None else grid.piece(box, **arguments), grid.extent())
    return check.held(velocities.partitions([grid.piece(box, **arguments) for box in boxes[COMM.rank :: COMM.size]]))


def lines_of(proxy):
    """Lines of all ranks: (seed, times, points, reason), in the order of seeds."""
    proxy.UpdatePipeline(0.0)
    lines = check.Lines(proxy.GetClientSideObject().GetOutputDataObject(0))
    mine = []
    for n in range(lines.count):
        points = lines.line(n)
        mine.append((int(lines.cell_data["SeedIds"][n]), lines.point_data["IntegrationTime"][points],
                     lines.points[points].astype(float), int(lines.cell_data["ReasonForTermination"][n]),
                     {name: values[points] for name, values in lines.point_data.items()}))
    return sorted((row for part in COMM.allgather(mine) for row in part), key=lambda r: (r[0], r[1][-1]))


def digest_of(rows):
    total = hashlib.sha256()
    for seed, times, points, reason, arrays in rows:
        total.update(f"{seed} {len(times)} {reason}".encode() + times.tobytes() + points.tobytes())
        for name in sorted(arrays):
            total.update(name.encode() + np.ascontiguousarray(arrays[name]).tobytes())
    return total.hexdigest()[:24]


def same_for_all(name, grid, faces, start, rules, land=None, more=()):
    """Lines of the faces of both sides, of several divisions of the grid and with loans have the same bits.

    @return the lines
    """
    first = None
    for side, dtype, ghosts, parts, extra in (
        ("low", "float64", 0, None, {}),
        ("high", "float64", 0, None, {"BlocksPerRank": 4}),
        ("low", "float64", 1, None, {"LendingMemory": 0}),
        ("high", "float64", 2, COMM.size + 3, {"Schedule": "Synchronous"}),
    ):
        data = staggered(grid, faces, side, dtype, ghosts, parts, land)
        proxy = check.tracer(data, start, **rules, **on(side), **extra)
        rows = lines_of(proxy)
        if first is None:
            first = rows
            expect(sum(len(row[1]) for row in rows) > 20 * len(rows) > 0, f"{name}: {len(rows)} lines are short")
        else:
            expect(digest_of(rows) == digest_of(first), f"{name}: other lines at the {side} side with {extra}")
        check.delete(proxy, data)
    return first


def linear_faces(grid, slope, begin):
    """Each component is linear along its axis."""
    faces = []
    for axis in range(3):
        shape = list(reversed(grid.cells))
        ends = grid.ends[axis]
        shape[2 - axis] = len(ends)
        along = [1, 1, 1]
        along[2 - axis] = len(ends)
        faces.append(np.broadcast_to((begin[axis] + slope[axis] * ends).reshape(along), shape))
    return faces


def linear(kind):
    """Exponentials, in the cells that do not touch a closed end."""
    grid = grids.uneven(kind)
    low, high = (np.array([e[i] for e in grid.ends]) for i in (1, -2))
    middle, width = (low + high) / 2, high - low
    slope = np.array([0.9, -0.5, -0.4])
    begin = -slope * middle + [1.0, -0.1, 0.1]  # the first component has no zero
    where = middle + 0.3 * width * np.random.default_rng(2).uniform(-1, 1, (40, 3))
    start = seeds(where)
    rules = {"InitialStepLength": 0.05, "MaximumStepLength": 0.1, "MaximumError": 1e-9,
             "MaximumStreamlineLength": 0.5 * width.min(), "ComputeVorticity": 0}
    faces = linear_faces(grid, slope, begin)
    # Those at the ends would be 0 of one side only: the grid is closed there.
    for axis in range(3):
        faces[axis] = faces[axis].copy()
        for end in (0, -1):
            faces[axis][at(axis, end)] = 0
    rows = same_for_all(f"linear, {kind}", grid, faces, start, rules)
    rest, worst, points_seen = begin / slope, 0.0, 0
    for seed, _, points, _, _ in rows:
        times = np.log((points[:, :1] + rest[0]) / (where[seed, 0] + rest[0])) / slope[0]
        exact = (where[seed] + rest) * np.exp(slope * times) - rest
        inside = np.logical_and.accumulate(((exact > low) & (exact < high)).all(axis=1))
        worst = max(worst, abs(points - exact)[inside].max())
        points_seen += inside.sum()
    expect(points_seen > 1000, f"{points_seen} points")
    expect(worst < 2e-6, f"an error of {worst}")
    return [digest_of(rows)]


def basin(land):
    """A closed basin in a plane: lines keep the stream function, which is bilinear in cells, and do not leave."""
    found = []
    for kind in ("image", "rectilinear"):
        x = np.linspace(0, 6, 13)
        y = np.linspace(0, 4, 9)
        if kind == "rectilinear":
            x, y = x + 0.2 * np.sin(x * np.pi / 6), y**2 / 4
        grid = grids.Grid(kind, [x, y, np.zeros(1)])
        is_land = np.zeros((1, 8, 12), bool)
        if land:
            is_land[0, 3:5, 4:6] = is_land[0, 0:2, 9:12] = True
        corners = np.sin(np.pi * x / x[-1])[None] * np.sin(np.pi * y / y[-1])[:, None]
        corners += 0.2 * np.sin(2 * np.pi * x / x[-1])[None] * np.sin(np.pi * y / y[-1])[:, None]
        corners[[0, -1]] = 0
        corners[:, [0, -1]] = 0
        for j, i in np.argwhere(is_land[0]):
            corners[j : j + 2, i : i + 2] = 0
        faces = [(np.diff(corners, axis=0) / np.diff(y)[:, None])[None],
                 (-np.diff(corners, axis=1) / np.diff(x)[None])[None], np.zeros((1, 8, 12))]

        def cell_of(p):
            return (np.clip(np.searchsorted(x, p[:, 0], "right") - 1, 0, 11),
                    np.clip(np.searchsorted(y, p[:, 1], "right") - 1, 0, 7))

        def stream(p):
            i, j = cell_of(p)
            f, g = (p[:, 0] - x[i]) / (x[i + 1] - x[i]), (p[:, 1] - y[j]) / (y[j + 1] - y[j])
            return ((1 - g) * ((1 - f) * corners[j, i] + f * corners[j, i + 1])
                    + g * ((1 - f) * corners[j + 1, i] + f * corners[j + 1, i + 1]))

        where = np.stack([*np.random.default_rng(7).uniform([0.02, 0.02], [x[-1] - 0.02, y[-1] - 0.02], (60, 2)).T,
                          np.zeros(60)], -1)
        i, j = cell_of(where)
        where = where[~is_land[0, j, i]]
        start = seeds(where)
        worst = []
        for step in (0.04, 0.01):
            rules = {"MaximumStreamlineLength": 20.0, "IntegratorType": "Runge-Kutta 4", "InitialStepLength": step,
                     "MaximumSteps": 20000, "ComputeVorticity": 0, "IntegrationDirection": "FORWARD"}
            if step == 0.04:
                rows = same_for_all(f"basin, {kind}", grid, faces, start, rules, is_land if land else None)
                found.append(digest_of(rows))
            else:
                data = staggered(grid, faces, "low")
                proxy = check.tracer(data, start, **rules, **on("low"))
                rows = lines_of(proxy)
                check.delete(proxy, data)
            differences = []
            for seed, _, points, reason, _ in rows:
                i, j = cell_of(points)
                expect(not is_land[0, j, i].any(), f"a line of {where[seed]} is on land")
                differences.append(abs(stream(points) - stream(where[seed : seed + 1])).max())
                expect(reason == OUT_OF_LENGTH, f"a line of {where[seed]} ends at {points[-1]}: {reason}")
            worst.append(np.mean(differences))
        if COMM.rank == 0:
            print(f"{kind}: the stream function differs by {worst}", flush=True)
        expect(worst[0] < 0.015 and worst[1] < worst[0] / 2, f"the stream function differs by {worst}")
        check.delete(start)
    return found


def around():
    """With a period the last cells take the faces of the first ones; without one they are closed."""
    grid = grids.Grid.uniform((6, 4, 3), 0.5)
    one = np.ones((3, 4, 7))
    one[..., :] = 1 + 0.5 * np.sin(2 * np.pi * (np.arange(7) + 0.3) / 6)
    one[..., -1] = one[..., 0]
    inward = np.zeros((3, 5, 6))
    inward[:] = 0.2 * (1 - grid.ends[1])[None, :, None]
    inward[:, [0, -1]] = 0
    faces = [one, inward, np.zeros((4, 4, 6))]
    where = np.stack([np.linspace(0.1, 2.9, 12), np.linspace(0.6, 1.4, 12), np.linspace(0.1, 1.4, 12)], -1)
    start = seeds(where)
    rules = {"MaximumStreamlineLength": 10.0, "MaximumStepLength": 0.02, "InitialStepLength": 0.02,
             "ComputeVorticity": 1, "IntegrationDirection": "FORWARD"}
    rows = same_for_all("around", grid, faces, start, {**rules, "Periodic": [1, 0, 0]})
    ends = np.concatenate([one[0, 0, :6]] * 6)  # of the cells of several turns

    def time_to(x):
        # In each cell the velocity is linear.
        cell = np.floor(x / 0.5).astype(int)
        slope = 2 * np.diff(ends)
        through = np.concatenate([[0], np.cumsum(np.log(ends[1:] / ends[:-1]) / slope)])
        return through[cell] + np.log(1 + (x - 0.5 * cell) * slope[cell] / ends[cell]) / slope[cell]

    for seed, _, points, reason, _ in rows:
        x, y = points[:, 0], points[:, 1]
        wanted = 1 + (where[seed, 1] - 1) * np.exp(-0.2 * (time_to(x) - time_to(x[:1])))
        expect(x[-1] - x[0] > 9.9, f"a line ends at {x[-1]}: {reason}")
        expect(abs(y - wanted).max() < 2e-5, f"an error of {abs(y - wanted).max()}")
    closed = check.tracer(staggered(grid, faces, "low"), start, **rules, **on("low"))
    for seed, times, points, _, _ in lines_of(closed):
        expect(2.9 < points[-1, 0] <= 3, f"a closed line ends at {points[-1]}")
    check.delete(closed, start)
    return [digest_of(rows)]


def holes():
    """Lines end at hidden cells; values of these are those of faces as others."""
    grid = grids.Grid.uniform((8, 3, 3), 1.0)
    faces = [np.ones((3, 3, 9)), np.zeros((3, 4, 8)), np.zeros((4, 3, 8))]
    hidden = np.zeros((3, 3, 8), bool)
    hidden[:, :, 5] = True
    start = seeds([[1.5, 1.5, 1.5], [1.5, 0.5, 2.5]])
    found = []
    for side, ghosts in (("low", 0), ("low", 1), ("high", 0)):
        data = staggered(grid, faces, side, ghosts=ghosts, hidden=hidden)
        proxy = check.tracer(data, start, MaximumStreamlineLength=20.0, IntegrationDirection="FORWARD", **on(side))
        rows = lines_of(proxy)
        for _, times, points, _, _ in rows:
            expect(4.4 < points[-1, 0] <= 5 and abs(times[-1] - points[-1, 0] + 1.5) < 1e-5, f"a line ends at {points[-1]}")
        found.append(digest_of(rows))
        check.delete(proxy, data)
    expect(len(set(found)) == 1, "other lines with ghost cells or at the other side")
    check.delete(start)
    return found[:1]


def vorticity():
    """Of a rotation, as far from the ends as centers of cells are interpolated; u and v are carried by no line."""
    grid = grids.Grid.uniform((12, 12, 4), 0.5)
    x, y = grid.ends[0], grid.ends[1]
    u = np.broadcast_to(3 - (y[1:] + y[:-1])[None, :, None] / 2, (4, 12, 13)).copy()
    v = np.broadcast_to((x[1:] + x[:-1])[None, None] / 2 - 3, (4, 13, 12)).copy()
    u[..., 0] = u[..., -1] = v[:, 0] = v[:, -1] = 0
    where = [[3.3, 3.1, 1.0], [3.9, 3.0, 1.2], [2.2, 3.4, 0.7]]
    start = seeds(where)
    rows = same_for_all("vorticity", grid, [u, v, np.zeros((5, 12, 12))], start,
                        {"MaximumStreamlineLength": 6.0, "ComputeVorticity": 1})
    for _, _, points, _, arrays in rows:
        near = (abs(points[:, :2] - 3) < 2).all(axis=1)
        expect(near.sum() > 10, "too few points near the middle")
        expect(abs(arrays["Vorticity"][near] - [0, 0, 2]).max() < 1e-9, f"a vorticity of {arrays['Vorticity'][near][0]}")
        expect("u" not in arrays and "velocity" not in arrays, f"arrays {sorted(arrays)}")
        # That of the velocity at the point: across the axis of the vorticity.
        expect(abs(arrays["AngularVelocity"][near]).max() < 1e-9, "an angular velocity")
    check.delete(start)
    return [digest_of(rows)]


def globe():
    """A sphere that turns about its poles, in meters per second: all cells turn by the same angle."""
    rate = 2e-5  # radians per second
    longitudes, latitudes = np.linspace(-180, 180, 25), np.linspace(-80, 80, 17)
    grid = grids.Grid("rectilinear", [longitudes, latitudes, np.linspace(0, 1, 4)])
    middle = (latitudes[1:] + latitudes[:-1]) / 2
    east = np.broadcast_to((rate * velocities.RADIUS * np.cos(np.radians(middle)))[None, :, None], (3, 16, 25))
    north = np.zeros((3, 17, 24))
    north[:, 1:-1] = 2 * rate * velocities.RADIUS / 100
    where = np.random.default_rng(8).uniform([-170, -40, 0.1], [170, 40, 0.9], (20, 3))
    start = seeds(where)
    rows = same_for_all("globe", grid, [east, north, np.zeros((4, 16, 24))], start,
                        {"MaximumStreamlineLength": 300.0, "IntegrationDirection": "FORWARD", "ComputeVorticity": 0,
                         "InitialStepLength": 0.02, "IntegratorType": "Runge-Kutta 4", "MaximumSteps": 20000,
                         "Periodic": [1, 0, 0], **velocities.SPHERE})
    for seed, times, points, _, _ in rows:
        inside = abs(points[:, 1]) < 70
        turned = np.degrees(rate * times[:, None]) * [1, 0.02, 0]
        expect(inside.sum() > 100 and abs(points - where[seed] - turned)[inside].max() < 1e-3,
               f"an error of {abs(points - where[seed] - turned)[inside].max()} degrees")
    check.delete(start)
    return [digest_of(rows)]


TIMES = [0.0, 0.5, 1.5]
STRAIN = """
import velocities
velocities.stagger(output, {slope!r}, {begin!r}, 1 + time, {side!r}, {dtype!r})
"""
SLOPE, BEGIN = (0.12, -0.05, -0.07), (-0.3, 0.2, 0.15)


def strained(x, begin, end, slope=np.array(SLOPE), start=np.array(BEGIN)):
    """Where a particle of a flow that is linear in space and grows with 1 + time goes."""
    return (x + start / slope) * np.exp(slope * (end + end**2 / 2 - begin - begin**2 / 2)) - start / slope


def strain(side, dtype="float64", **arguments):
    after = STRAIN.format(slope=SLOPE, begin=BEGIN, side=side, dtype=dtype)
    usual = {} if "build" in arguments else {"mesh": "image", "size": 13}
    return source("swirl", TIMES, dtype="float64", after=after, **{**usual, **arguments})


def in_time():
    """Paths through steps in time against the exact ones, of one mesh and of one that changes its cells."""
    where = np.random.default_rng(3).uniform(2, 4, (30, 3))
    start = seeds(where)
    found = []
    for side, arguments, extra in (
        ("low", {}, {}), ("high", {"ghosts": 1}, {"BlocksPerRank": 3}),
        ("low", {"container": "multiblock", "pieces": 5}, {"LendingMemory": 0}),
        ("high", {"mesh": "rectilinear"}, {}),
        # Other grids at each step, other numbers of pieces, and none on the first rank at the second one.
        ("low", {"build": "unsteady.remesh", "steps": [("image", 9), ("image", 13), ("image", 11)], "cut": 1}, {}),
    ):
        data = strain(side, **arguments)
        # Averages for the vorticity are rounded to a share of the largest speed, also of the ends.
        proxy = check.paths(data, start, ForceReinjectionEveryNSteps=0, ComputeVorticity=side == "low", MaximumError=1e-9, InitialStepLength=0.05,
                            MaximumStepLength=0.2, **on(side), **extra)
        paths = Paths(proxy, TIMES[-1])
        expect(len(paths.ids) == len(where), f"{len(paths.ids)} particles")
        worst = 0.0
        # In the order of ids, which are those of seeds.
        for points, arrays in zip(paths.points, paths.arrays):
            times = arrays["SimulationTime"]
            exact = strained(points[0].astype(float), 0.0, times[:, None])
            worst = max(worst, abs(points - exact).max())
            expect(times[-1] == TIMES[-1], f"a path ends at {times[-1]}")
        expect(worst < 3e-6, f"an error of {worst} with {arguments}")
        found.append((paths.digest(), [x.tobytes() for x in paths.points]))
        check.delete(proxy, data)
    expect(found[0][1] == found[1][1] and found[0] == found[2], "other paths at the other side or with other pieces")
    check.delete(start)
    return [digest for digest, _ in found]


def maps():
    """The stretching of a linear flow."""
    found = []
    for side in SIDES:
        data = strain(side, mesh="image")
        proxy = check.flow_map(data, IntegrationTime=1.5, SamplingDimensions=[4, 4, 4], UseInputBounds=0,
                               SamplingBounds=[2.0, 4.0, 2.0, 4.0, 2.0, 4.0], MaximumError=1e-10, **on(side))
        proxy.UpdatePipeline(0.0)
        output = proxy.GetClientSideObject().GetOutputDataObject(0)
        arrays = check.arrays(output.GetPointData())
        name = next(n for n in sorted(arrays) if "FTLE" in n or "Lyapunov" in n)
        wanted = SLOPE[0] * (1.5 + 1.5**2 / 2) / 1.5
        expect(all(COMM.allgather(len(arrays[name]) > 0 and abs(arrays[name] - wanted).max() < 1e-5)),
               f"exponents {arrays[name][:3]} instead of {wanted}")
        whole = np.full((4, 4, 4), np.nan)
        for (x, xx, y, yy, z, zz), values in COMM.allgather((output.GetExtent(), arrays[name])):
            part = whole[z : zz + 1, y : yy + 1, x : xx + 1]
            values = values.reshape(part.shape)
            expect(np.all(np.isnan(part) | (part == values)), "copies of a point of the map differ")
            part[...] = values
        expect(not np.isnan(whole).any(), "a point of the map is on no rank")
        found.append(hashlib.sha256(whole.tobytes()).hexdigest()[:24])
        check.delete(proxy, data)
    expect(found[0] == found[1], "another map at the other side")
    return found


def in_walls(grid, random):
    """Velocities by chance at the faces across each axis, 0 at the sides of the grid."""
    faces = []
    for axis in range(3):
        shape = list(reversed(grid.cells))
        shape[2 - axis] += 1
        faces.append(random.uniform(-1, 1, shape))
        for end in (0, -1):
            faces[axis][at(axis, end)] = 0
    return faces


def decreasing():
    """Grids whose coordinates decrease along some axes, such as depths, give the lines of the same grid in the order in
    which they increase."""
    found = []
    for kind, axes in (("rectilinear", (0, 1, 2)), ("image", (2,))):
        random = np.random.default_rng(6)
        grid = grids.uneven(kind, cells=(9, 8, 7))
        faces = in_walls(grid, random)
        flip = tuple(slice(None, None, -1 if a in axes else 1) for a in (2, 1, 0))
        turned = grids.Grid(kind, [e[:: -1 if a in axes else 1] for a, e in enumerate(grid.ends)])
        low, high = (np.array([e[i] for e in grid.ends]) for i in (0, -1))
        start = seeds(low + (high - low) * random.uniform(0.1, 0.9, (30, 3)))
        rules = {"MaximumStreamlineLength": 3.0, "IntegratorType": "Runge-Kutta 4", "InitialStepLength": 0.1}
        rows = same_for_all("increasing", grid, faces, start, rules)
        other = same_for_all("decreasing", turned, [f[flip] for f in faces], start, rules)
        expect([r[0] for r in rows] == [r[0] for r in other], "other seeds")
        if kind == "image":  # other last bits of coordinates
            close = [len(a[2]) == len(b[2]) and abs(a[2] - b[2]).max() < 1e-4 for a, b in zip(rows, other)]
            expect(np.mean(close) > 0.9, f"{len(close) - sum(close)} other lines of {len(close)}")
        else:
            expect(digest_of(rows) == digest_of(other), f"other lines where coordinates decrease along {axes}")
        found.append(digest_of(other))
        check.delete(start)
    return found


def concentrations():
    """The residual of each step of Async Convection Diffusion, computed again from the faces."""
    random = np.random.default_rng(4)
    for kind, periodic in (("image", True), ("rectilinear", False)):
        grid = grids.uneven(kind, cells=(7, 6, 5))
        faces = in_walls(grid, random)
        sides = [("Outflow", 0.0)] * 6
        properties = {}
        if periodic:
            faces[1][at(1, 0)] = faces[1][at(1, -1)] = random.uniform(-1, 1, (5, 7))
            sides[2:4] = [("Periodic", 0.0)] * 2
            properties = {"YMinCondition": "Periodic", "YMaxCondition": "Periodic"}
        start = random.uniform(0, 1, tuple(reversed(grid.cells)))
        found = []
        for side, ghosts in (("low", 0), ("high", 1)):
            data = staggered(grid, faces, side, ghosts=ghosts, more=[("start", start)])
            proxy = check.carried(data, Diffusivity=0.01, TimeStep=0.05, NumberOfSteps=1, UseInitialConcentration=1,
                                  InitialConcentration=["CELLS", "start"], ResidualThreshold=1e-9,
                                  Schedule="Synchronous", **properties,
                                  **{k: v for k, v in on(side).items() if k != "Vectors"})
            proxy.UpdatePipeline(0.05)
            u = grids.gathered(COMM, grid, proxy.GetClientSideObject().GetOutputDataObject(0))
            rest = grids.residual(grid, (faces, [np.ones(f.shape, bool) for f in faces]), u, start, 0.05,
                                  diffusivity=0.01, sides=sides)
            expect(abs(u - start).max() > 0.01 and abs(rest).max() < 1e-8, f"{kind}: a residual of {abs(rest).max()}")
            found.append(u)
            check.delete(proxy, data)
        expect(abs(found[0] - found[1]).max() < 1e-9, f"{kind}: another concentration at the other side")
    return []


def main():
    work = {
        "linear, image": lambda: linear("image"), "linear, rectilinear": lambda: linear("rectilinear"),
        "basin": lambda: basin(False), "land": lambda: basin(True), "around": around, "holes": holes, "globe": globe,
        "vorticity": vorticity, "decreasing": decreasing, "concentrations": concentrations, "in time": in_time, "maps": maps,
    }
    check.run_cases(work, COMM.rank, "faces")


if __name__ == "__main__":
    check.run(__file__)
