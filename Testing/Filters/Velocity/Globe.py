# SPDX-License-Identifier: BSD-3-Clause
"""Longitudes and latitudes on this number of ranks: spheres that turn about their poles and about other axes, against
formulas, also over time; what is kept after a change of the radius. Writes hashes to hashes.json for CompareHashes.py.

Every rank runs this script (pvbatch --sym). Arguments, if any, are words: only cases with one of them in the name run.
"""

import hashlib

import check
import numpy as np
import velocities
from tracking import COMM, expect
from unsteady import Paths, executed, seeds, source
from velocities import RADIUS, SPHERE
from vtkmodules.util.numpy_support import vtk_to_numpy

RATE = 2e-5  # radians per second
LONG = 2e4  # seconds
RISE = 2e-5
POLAR, TILTED = (0.0, 0.0, RATE), tuple(RATE * x for x in (0.36, 0.8, 0.48))
# Cells are large: short steps.
LINES = {"MaximumStreamlineLength": 1e4, "MaximumIntegrationTime": LONG, "InitialStepLength": 0.02,
         "MaximumStepLength": 0.05}
TURN = """
import velocities
velocities.to_globe(output, {low!r}, {high!r})
velocities.spin(output, [x * (1 + {growth!r} * time) for x in {turns!r}], {dtype!r}, rise={rise!r})
velocities.split(output, ({dtype!r},) * 3)
"""
MESHES = {
    "image": {"mesh": "image", "size": [13, 11, 4]},
    "rectilinear": {"mesh": "rectilinear", "size": [13, 11, 4], "container": "multiblock", "pieces": 5},
    "curvilinear": {"mesh": "structured", "size": [13, 11, 4], "ghosts": 1},
    "tetrahedra": {"mesh": "tetrahedra", "size": [10, 9, 4]},
    "mixed": {"mesh": "mixed", "size": [10, 9, 4]},
}


def globe(turns, mesh, times=(0.0,), growth=0.0, rise=0.0, low=velocities.LOW, high=velocities.HIGH, dtype="float64"):
    after = TURN.format(low=low, high=high, growth=growth, turns=turns, rise=rise, dtype=dtype)
    return source("swirl", list(times), dtype="float64", after=after, **mesh)


def starts(count=40, lon=(-60, 60), lat=(-45, 45)):
    random = np.random.default_rng(11)
    return np.stack([random.uniform(*lon, count), random.uniform(*lat, count), random.uniform(0.42, 0.58, count)], -1)


def lines_of(proxy):
    """Lines of all ranks: (seed, times, points), in the order of seeds, and the names of their arrays."""
    proxy.UpdatePipeline(0.0)
    lines = check.Lines(proxy.GetClientSideObject().GetOutputDataObject(0))
    mine = []
    for n in range(lines.count):
        at = lines.line(n)
        mine.append((int(lines.cell_data["SeedIds"][n]), lines.point_data["IntegrationTime"][at], lines.points[at]))
    for name, values in lines.point_data.items():
        expect(np.isfinite(values).all(), f"{name} is not finite")
    names = {name for part in COMM.allgather(sorted(lines.point_data)) for name in part}
    return sorted((row for part in COMM.allgather(mine) for row in part), key=lambda r: (r[0], r[1][-1])), names


def digest_of(rows):
    total = hashlib.sha256()
    for seed, times, points in rows:
        total.update(f"{seed} {len(times)}".encode() + times.tobytes() + points.tobytes())
    return total.hexdigest()[:24]


def degrees(rate, times):
    return np.degrees(rate * times)


def error_of(rows, turns, where):
    """The largest distance in degrees from the circles of a turn."""
    worst = 0.0
    for seed, times, points in rows:
        wanted = velocities.turned(where[seed], turns, np.linalg.norm(turns) * times)
        a, b = (velocities.direction(*np.radians(p[:, :2].astype(float)).T) for p in (points, wanted))
        worst = max(worst, np.degrees(np.linalg.norm(a - b, axis=1)).max())
    return worst


def polar(mesh, association):
    """All points turn about the poles by the same angle, exactly."""
    where = starts()
    start, data = seeds(where), globe(POLAR, MESHES[mesh], rise=RISE)
    proxy = check.tracer(data, start, **LINES, **SPHERE, **velocities.of(association))
    rows, names = lines_of(proxy)
    expect(len(rows) == 2 * len(where), f"{len(rows)} lines")
    for seed, times, points in rows:
        wanted = where[seed] + np.stack([degrees(RATE, times), 0 * times, RISE * times], -1)
        expect(abs(times[-1]) >= LONG, f"a line ends at {points[-1]} after {times[-1]} s")
        expect(abs(points - wanted).max() < 1e-4, f"{points[-1]} is not {wanted[-1]} after {times[-1]} s")
    ours = {"IntegrationTime", "Vorticity", "AngularVelocity", "Rotation", "Normals"}
    expect(names <= ours | {"u", "v", "w", "velocity", "height", "level"}, f"arrays {names}")
    # The same vectors in one array.
    other = check.tracer(data, start, Vectors=[association, "velocity"], **LINES, **SPHERE)
    again, others = lines_of(other)
    expect(digest_of(again) == digest_of(rows) and others == names, "vectors in one array give other lines")
    # As on other coordinates, vectors of points are always carried.
    other.PointArrays = ["height"]
    _, few = lines_of(other)
    expect(few == ours | {"height"} | ({"velocity"} if association == "POINTS" else set()), f"arrays {few}")
    check.delete(proxy, other, data, start)
    return [digest_of(rows)]


def tilted(mesh):
    """A turn about another axis, along circles; the error is that of linear interpolation."""
    where, found = starts(), []
    start = seeds(where)
    for fine in (1, 2):
        data = globe(TILTED, {"mesh": mesh, "size": [36 * fine + 1, 15 * fine + 1, 2 * fine + 1]})
        proxy = check.tracer(data, start, **LINES, **SPHERE, **velocities.of("POINTS"))
        rows, _ = lines_of(proxy)
        expect(len(rows) == 2 * len(where), f"{len(rows)} lines")
        found.append(error_of(rows, TILTED, where))
        check.delete(proxy, data)
    check.delete(start)
    expect(found[0] < 1.0 and found[1] < found[0] / 3, f"errors {found} degrees")
    return [digest_of(rows)]


def around():
    """Lines go on from the last column to the first one, 10 degrees farther, where data end; meridians there and
    elsewhere are crossed once in each turn."""
    turn, meridians = 2 * np.pi / RATE, (175.0, 30.0)
    where = starts(12)
    start = seeds(where)
    data = globe(POLAR, {"mesh": "image", "size": [36, 13, 4]}, low=(-180.0, -75.0), high=(170.0, 75.0))
    limits = {**LINES, "MaximumIntegrationTime": 2 * turn, "MaximumStepLength": 0.1, "MaximumSteps": 10000}
    proxy = check.tracer(data, start, Periodic=[1, 0, 0], **limits, **SPHERE, **velocities.of("POINTS"))
    proxy.Events = [f"plane origin {x} 0 0 normal 1 0 0" for x in meridians]
    rows, _ = lines_of(proxy)
    expect(len(rows) == 2 * len(where), f"{len(rows)} lines")
    for seed, times, points in rows:
        wanted = where[seed] + np.stack([degrees(RATE, times), 0 * times, 0 * times], -1)
        expect(abs(abs(times[-1]) - 2 * turn) < 1e-6 * turn, f"a line ends at {points[-1]} after {times[-1]} s")
        expect(abs(points - wanted).max() < 1e-3, f"{points[-1]} is not {wanted[-1]} after {times[-1]} s")
    output = proxy.GetClientSideObject().GetOutputDataObject(1)
    data_of = {name: vtk_to_numpy(output.GetPointData().GetArray(name))
               for name in ("SeedIds", "EventId", "CrossingNumber", "IntegrationTime", "u")}
    places = vtk_to_numpy(output.GetPoints().GetData()) if output.GetNumberOfPoints() else np.zeros((0, 3))
    for n, place in enumerate(places):
        event, count, time = (data_of[name][n] for name in ("EventId", "CrossingNumber", "IntegrationTime"))
        lead = np.radians(meridians[event] - where[data_of["SeedIds"][n], 0]) / RATE % turn
        wanted = lead + (count - 1) * turn if time > 0 else lead - count * turn
        expect(abs(time - wanted) < 1e-6 * turn, f"the crossing {count} of meridian {event} at {time}, not {wanted}")
        expect(abs(place[0] - meridians[event]) < 1e-6, f"a crossing at {place}")
    total = sum(COMM.allgather(len(places)))
    expect(total == len(where) * 2 * 2 * len(meridians), f"{total} crossings")
    check.delete(proxy, data, start)
    everything = hashlib.sha256()
    for mine in (places, *(data_of[name] for name in sorted(data_of))):
        everything.update(b"".join(COMM.allgather(mine.tobytes())))
    return [digest_of(rows), everything.hexdigest()[:24]]


def over_time(turns, bound):
    """Paths on a sphere that turns faster and faster: linear in time."""
    growth, times = 1 / LONG, (0.0, LONG / 2, LONG)
    where = starts(lat=(-40, 40))
    start, data = seeds(where), globe(turns, {"mesh": "image", "size": [73, 61, 3]}, times, growth)
    proxy = check.paths(data, start, **SPHERE, **velocities.of("POINTS"))
    digests = []
    for when in (0.75 * LONG, LONG):
        found = Paths(proxy, when)
        expect(len(found.ids) == len(where), f"{len(found.ids)} paths")
        rows = []
        for n, seed in enumerate(found.ids):
            t = found.arrays[n]["SimulationTime"]
            expect(t[-1] == when, f"a path ends at {t[-1]}")
            rows.append((seed, t + growth * t * t / 2, found.points[n]))
        error = error_of(rows, turns, where)
        expect(error < bound, f"an error of {error} degrees at {when}")
        digests.append(found.digest())
    check.delete(proxy, data, start)
    return digests


def poles():
    """At a pole longitudes stay; no value is lost where the grid has points there."""
    rows_apart = 3.0
    # Without gaps of the other kinds of grid, whose rows are uneven.
    for mesh in ("image", "structured"):
        size = {"mesh": mesh, "size": [25, 61, 3], **({"warp": 0.0} if mesh == "structured" else {})}
        data = globe(POLAR, size, low=(-170.0, -90.0), high=(190.0, 90.0), dtype="float32")
        where = np.array([[s * 20.0, s * lat, 0.5] for s in (-1, 1) for lat in (60.0, 87.5, 88.5, 89.9)])
        start = seeds(where)
        proxy = check.tracer(data, start, IntegrationDirection="FORWARD", **LINES, **SPHERE,
                             **velocities.of("POINTS"))
        rows, _ = lines_of(proxy)
        expect(len(rows) == len(where), f"{len(rows)} lines")
        for seed, times, points in rows:
            share = min(1.0, (90 - abs(where[seed, 1])) / rows_apart)
            wanted = where[seed, 0] + share * degrees(RATE, times)
            expect(abs(points[:, 0] - wanted).max() < 1e-3, f"{points[-1]}, not at the longitude {wanted[-1]}")
        check.delete(proxy, data, start)
    return [digest_of(rows)]


def kept():
    """A change of the radius gives new results; what has no effect, or nothing new, keeps what was made."""
    times, where = (0.0, LONG / 2, LONG), starts()
    data, start = globe(POLAR, MESHES["image"], times, 1 / LONG), seeds(where)

    def reused(proxy):
        proxy.UpdatePipeline(0.0)
        array = proxy.GetClientSideObject().GetOutputDataObject(0).GetFieldData().GetArray(
            "AsyncStreamTracer ReusedDomain")
        return vtk_to_numpy(array)[0] == 1

    tracer = check.tracer(data, start, **LINES, **SPHERE, **velocities.of("POINTS"))
    expect(not reused(tracer), "the first domain")
    tracer.MaximumSteps = 1999
    expect(reused(tracer), "other limits need another domain")
    tracer.Vectors = ["CELLS", "velocity"]
    expect(reused(tracer), "vectors that are not read need another domain")
    tracer.SphereRadius = 2 * RADIUS
    expect(not reused(tracer), "the domain of another radius")
    for seed, t, points in lines_of(tracer)[0]:
        expect(abs(points[:, 0] - where[seed, 0] - degrees(RATE / 2, t)).max() < 1e-4, "the radius of the lines")
    tracer.Coordinates = "Cartesian"
    expect(not reused(tracer), "the domain of other coordinates")
    tracer.SphereRadius = RADIUS
    expect(reused(tracer), "a radius that is not read needs another domain")
    tracer.VelocityForm = "Vector Array"
    expect(not reused(tracer), "the domain of components")
    check.delete(tracer)

    # The angle until the end, as a share of RATE * LONG.
    def turn_of(begin, end):
        return (end - begin + (end**2 - begin**2) / 2) * RATE * LONG

    flow = check.flow_map(data, IntegrationTime=0.75 * LONG, KeptTimeSteps=9, UseInputBounds=0,
                          SamplingBounds=[-50, 50, -40, 40, 0.2, 0.8], SamplingDimensions=[6, 5, 2], **SPHERE,
                          **velocities.of("POINTS"))
    for factor in (1, 2, 1):
        flow.SphereRadius = factor * RADIUS
        executed.clear()
        flow.UpdatePipeline(0.0)
        output = flow.GetClientSideObject().GetOutputDataObject(0)
        ends = vtk_to_numpy(output.GetPointData().GetArray("FlowMap")) if output.GetNumberOfPoints() else np.zeros((0, 3))
        begins = np.array([output.GetPoint(i) for i in range(output.GetNumberOfPoints())]).reshape(-1, 3)
        moved = ends - begins - [np.degrees(turn_of(0, 0.75)) / factor, 0, 0]
        expect(all(COMM.allgather(abs(moved).max(initial=0) < 1e-4)), f"the map of {factor} radii: {moved}")
    expect(not executed, f"steps {executed} were read again, although they were kept")
    check.delete(flow)

    paths = check.paths(data, start, **SPHERE, **velocities.of("POINTS"))
    for factor in (1, 2):
        paths.SphereRadius = factor * RADIUS
        found = Paths(paths, LONG)
        for n, seed in enumerate(found.ids):
            moved = found.points[n][-1, 0] - where[seed, 0] - np.degrees(turn_of(0, 1)) / factor
            expect(abs(moved) < 1e-4, f"the paths of {factor} radii: {moved}")
    check.delete(paths, data, start)


def main():
    work = {f"polar, {mesh}, {where}": lambda m=mesh, w=where: polar(m, w)
            for mesh in MESHES for where in ("POINTS", "CELLS")}
    work.update({f"tilted, {mesh}": lambda m=mesh: tilted(m) for mesh in ("image", "structured")})
    work["polar over time"] = lambda: over_time(POLAR, 1e-3)
    work["tilted over time"] = lambda: over_time(TILTED, 0.2)
    work.update({"around": around, "poles": poles, "kept": kept})
    check.run_cases(work, COMM.rank, "lines on a sphere")


if __name__ == "__main__":
    check.run(__file__)
