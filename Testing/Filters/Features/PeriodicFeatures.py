# SPDX-License-Identifier: BSD-3-Clause
"""Async Feature Tracker in periodic domains on this number of ranks: discs that move through the sides at known
velocities keep their tracks, on grids with both sides and with a gap, at cells and points, in any motion; a band that
goes all around does not move. Writes hashes to hashes.json; CompareHashes.py compares them between numbers of ranks.

Every rank runs this script (pvbatch --sym).
"""

import hashlib

import check
import grids
import numpy as np
from grids import Grid
from mpi4py import MPI
from paraview import simple
from tracking import Tables

COMM = MPI.COMM_WORLD
STEPS = 14
# x, y, radius, velocity. The first crosses the sides in x and in y at once, the second that in x, backward.
DISCS = ((15.0, 9.0, 3.0, 2.0, 1.0), (4.0, 3.0, 2.5, -1.5, 0.0))
BAND = 13.0, 15.0  # y
HASHES = {}


def piece(grid, at_points, time, size, shown):
    where = grid.points() if at_points else grid.centers()
    values = shown(where[0], where[1], time, size).astype(float)
    velocity = np.zeros(values.shape + (3,))
    for cx, cy, radius, u, v in DISCS:
        dx = np.abs(where[0] - cx - u * time) % size[0]
        dy = np.abs(where[1] - cy - v * time) % size[1]
        near = np.minimum(dx, size[0] - dx) ** 2 + np.minimum(dy, size[1] - dy) ** 2 < (radius + 1) ** 2
        velocity[near] = u, v, 0
    arrays = [("value", values), ("velocity", velocity)]
    box = grids.boxes_of(grid, "cut", COMM.size)[COMM.rank]
    if box is None:
        return grid.empty()
    return grid.piece(box, 0, **{("point_arrays" if at_points else "cell_arrays"): arrays})


def follow(name, at_points, gap, motion, shown, tracks, wraps):
    cell = 0.5
    size = (24.0, 12.0) if shown is only_discs else (24.0, 20.0)
    cells = [int(s / cell) - (1 if gap else 0) for s in size]
    grid = Grid("image", [np.arange(n + 1) * cell for n in cells] + [np.array([0.0])])
    producer = simple.TrivialProducer()
    held = producer.GetClientSideObject()
    held.SetWholeExtent(*grid.extent())

    def hand_over(step):
        data = piece(grid, at_points, float(step), size, shown)
        data.GetInformation().Set(data.DATA_TIME_STEP(), float(step))
        held.SetOutput(data)
        producer.MarkModified(producer)

    hand_over(0)
    where = "POINTS" if at_points else "CELLS"
    proxy = check.tracked(
        producer, ScalarConnectivity=1, Scalars=[where, "value"], ScalarRange=[0.5, 2.0], Motion=motion,
        FullScalarConnectivity=1, Periodic=[1, 1, 0], Period=[*size, 0.0],
        **({"Velocity": [where, "velocity"]} if motion == "Velocity Field" else {}))
    digest = hashlib.sha256()
    for step in range(STEPS):
        hand_over(step)
        proxy.UpdatePipeline()
        tables = Tables(proxy.GetClientSideObject())
        if COMM.rank:
            continue
        digest.update(repr(tables.tables).encode())
        features = sorted(tables.rows(0), key=lambda row: row["TrackId"])
        what = f"{name}, step {step}"
        assert [row["TrackId"] for row in features] == list(range(tracks)), (
            f"{what}: tracks {[row['TrackId'] for row in features]}")
        births = [row for row in tables.rows(1) if row["Step"] > 0]
        assert not births, f"{what}: {births}"
        for row in features:
            if tuple(row["Wraps"]) != (0, 0, 0):
                assert tuple(row["Wraps"]) == wraps, f"{what}: Wraps {row['Wraps']}"
                assert row["Velocity"] == (0.0, 0.0, 0.0), f"{what}: {row['Velocity']}"
                continue
            nearest = []
            for cx, cy, _, u, v in DISCS:
                way = [(row["Centroid"][0] - cx - u * step + size[0] / 2) % size[0] - size[0] / 2,
                       (row["Centroid"][1] - cy - v * step + size[1] / 2) % size[1] - size[1] / 2]
                nearest.append((np.hypot(*way), u, v))
            distance, u, v = min(nearest)
            # What is in the gap has no cells.
            loose = 0.6 if gap else 0.1
            assert distance < loose, f"{what}: a centroid at {row['Centroid']}"
            for a in range(2):
                assert 0 <= row["Centroid"][a] <= size[a], f"{what}: a centroid at {row['Centroid']}"
            if step > 0:
                assert np.hypot(row["Velocity"][0] - u, row["Velocity"][1] - v) < 2.5 * loose, (
                    f"{what}: {row['Velocity']} instead of {(u, v)}")
    check.delete(proxy, producer)
    HASHES[name] = digest.hexdigest()


def only_discs(x, y, time, size):
    filled = np.zeros(x.shape, bool)
    for cx, cy, radius, u, v in DISCS[:1]:
        dx = np.abs(x - cx - u * time) % size[0]
        dy = np.abs(y - cy - v * time) % size[1]
        filled |= np.minimum(dx, size[0] - dx) ** 2 + np.minimum(dy, size[1] - dy) ** 2 < radius**2
    return filled


def disc_and_band(x, y, time, size):
    """The second disc, and a band that it does not meet."""
    cx, cy, radius, u, v = DISCS[1]
    dx = np.abs(x - cx - u * time) % size[0]
    dx = np.minimum(dx, size[0] - dx)
    return (dx**2 + (y - cy) ** 2 < radius**2) | ((y >= BAND[0]) & (y <= BAND[1]))


def main():
    check.load_plugin()
    for motion in ("None", "Estimated", "Velocity Field"):
        for at_points, gap in ((False, False), (True, False), (True, True)):
            kind = f"{motion}, {'points' if at_points else 'cells'}{', gap' if gap else ''}"
            follow(f"a disc: {kind}", at_points, gap, motion, only_discs, 1, None)
            if motion != "Velocity Field":
                follow(f"a disc and a band: {kind}", at_points, gap, motion, disc_and_band, 2, (1, 0, 0))
    if COMM.rank == 0:
        check.write_hashes(HASHES)


if __name__ == "__main__":
    check.run(__file__)
