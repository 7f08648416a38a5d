# SPDX-License-Identifier: BSD-3-Clause
"""Async Harmonic Fill in periodic domains on this number of ranks: what it fills is the solution of numpy's direct
solver, at points and cells, on all combinations of periodic axes, with both sides in the data and with a gap, of even
and odd numbers of sites, cut in any way.

Every rank runs this script (pvbatch --sym).
"""

import itertools

import check
import grids
import numpy as np
from grids import Grid
from HarmonicFill import Sites, gathered, held, hold, output
from mpi4py import MPI

COMM = MPI.COMM_WORLD
NAN = float("nan")
SIDES, DOUBLE, GAP = 0, 1, 2  # an axis: not periodic; with both sides in the data; with a gap


class PeriodicSites(Sites):
    """Sites of which the last ones are neighbors of the first ones. Points on both sides are one."""

    def __init__(self, grid, at_cells, kinds, gaps):
        super().__init__(grid, at_cells)
        self.seam = [0.0] * 3
        for axis, kind in enumerate(kinds):
            x, width = self.places[axis], self.widths[axis]
            if kind == SIDES:
                continue
            if at_cells:
                self.seam[axis] = 0.5 * (width[0] + width[-1])
                continue
            seam = gaps[axis] if kind == GAP else x[-1] - x[-2]
            if kind == DOUBLE:
                x = x[:-1]
            after = np.append(np.diff(x), seam)
            self.seam[axis] = seam
            self.places[axis] = x
            self.widths[axis] = 0.5 * (after + np.roll(after, 1))
        self.shape = tuple(len(p) for p in reversed(self.places))
        self.coordinates = np.meshgrid(*reversed(self.places), indexing="ij")[::-1]

    def pairs(self):
        yield from super().pairs()
        numbers = np.arange(np.prod(self.shape)).reshape(self.shape)
        for axis, seam in enumerate(self.seam):
            if seam == 0:
                continue
            factors = [self.widths[a] for a in range(3)]
            factors[axis] = np.array([1 / seam])
            weight = np.einsum("k,j,i->kji", factors[2], factors[1], factors[0])
            low, high = (np.take(numbers, [at], 2 - axis) for at in (-1, 0))
            yield weight.ravel(), low.ravel(), high.ravel()


def doubled(values, kinds):
    """With the columns of the lower sides also on the upper ones."""
    for axis, kind in enumerate(kinds):
        if kind == DOUBLE:
            values = np.concatenate([values, np.take(values, [0], 2 - axis)], 2 - axis)
    return values


def single(values, kinds):
    """The opposite; both columns must be equal."""
    for axis, kind in enumerate(kinds):
        if kind == DOUBLE:
            assert (np.take(values, 0, 2 - axis) == np.take(values, -1, 2 - axis)).all(), "the sides differ"
            values = np.delete(values, -1, 2 - axis)
    return values


def fill(kind, cells, at_cells, kinds, seed, how, decreasing=()):
    """decreasing  axes along which the coordinates of the data set are the negative ones"""
    rng = np.random.default_rng(seed)
    ends = [
        np.concatenate([[0.0], np.cumsum(rng.uniform(0.5, 1.5, n) if kind == "rectilinear" else np.full(n, 0.5))])
        for n in cells
    ]
    ends = [e if len(e) > 1 else np.zeros(1) for e in ends]
    gaps = [0.7 * np.diff(e).max() if len(e) > 1 else 0.0 for e in ends]
    if kind == "image":
        gaps = [0.5] * 3
    grid = Grid(kind, ends, first=(2, -1, 5))
    sites = PeriodicSites(grid, at_cells, kinds, gaps)
    values = rng.random(sites.shape)
    # Holes at random, and one around a corner of the domain that goes on at all other corners.
    unknown = rng.random(sites.shape) < 0.3
    for corner in itertools.product((0, -1), repeat=3):
        unknown[corner] = True
    values = np.where(unknown, NAN, values)
    whole = values if at_cells else doubled(values, kinds)
    mirrored = Grid(kind, [-e if a in decreasing else e for a, e in enumerate(ends)], first=grid.first)
    _, source = held(mirrored, how, 0, **{"cell_arrays" if at_cells else "point_arrays": [("u", whole)]})
    proxy = check.filled(
        source, Tolerance=1e-9, Periodic=[int(k != SIDES) for k in kinds],
        Period=[(e[-1] - e[0] + (gaps[a] if k == GAP else 0)) if k != SIDES else 0.0
                for a, (e, k) in enumerate(zip(ends, kinds))])
    result = output(proxy)
    full = Sites(grid, at_cells)
    after = gathered(grid, full, result, "u")
    try:
        hold(sites, values, after if at_cells else single(after, kinds), unknown, result, 1e-9)
    except AssertionError as error:
        raise AssertionError(f"{kind} {cells} {'cells' if at_cells else 'points'} {kinds} {how}: {error}") from None
    check.delete(proxy, source)


def main():
    check.load_plugin()
    seed = 0
    for at_cells in (False, True):
        for kinds in itertools.product((SIDES, DOUBLE) if at_cells else (SIDES, DOUBLE, GAP), repeat=3):
            seed += 1
            if not any(kinds) or COMM.size > 2 and seed % 2:  # ranks share cores: a part of the cases
                continue
            cells = (6 + seed % 2, 5 + seed // 2 % 2, 5)
            fill(("image", "rectilinear")[seed % 2], cells, at_cells, kinds, seed, ("cut", "slabs")[seed // 2 % 2],
                 ((), (1,), (0, 2))[seed % 3])
    # Two sites along an axis, planes and rows, and a grid of several levels of the solver.
    for cells, kinds in (((2, 5, 4), (1, 0, 1)), ((3, 2, 4), (0, 1, 1)), ((7, 6, 0), (1, 1, 0)), ((9, 0, 0), (1, 0, 0)),
                         ((33, 12, 3), (1, 1, 0)), ((2, 2, 2), (2, 2, 2))):
        for at_cells in (False, True):
            if at_cells and GAP in kinds:
                continue
            seed += 1
            fill("rectilinear", cells, at_cells, kinds, seed, "slabs" if cells[2] > 1 else "on the last rank")
    # A hole that is connected with what is known across the side only.
    grid = Grid.uniform((40, 4, 1))
    for at_cells in (False, True):
        sites = PeriodicSites(grid, at_cells, (DOUBLE, SIDES, SIDES), [0.0] * 3)
        values = np.full(sites.shape, NAN)
        values[..., 0] = np.linspace(1.0, 2.0, sites.shape[1])
        values[..., 20] = 5.0
        unknown = np.isnan(values)
        whole = values if at_cells else doubled(values, (DOUBLE, SIDES, SIDES))
        _, source = held(grid, "cut", 0, **{"cell_arrays" if at_cells else "point_arrays": [("u", whole)]})
        proxy = check.filled(source, Tolerance=1e-9, Periodic=[1, 0, 0])
        result = output(proxy)
        after = gathered(grid, Sites(grid, at_cells), result, "u")
        hold(sites, values, after if at_cells else single(after, (DOUBLE, SIDES, SIDES)), unknown, result, 1e-9)
        check.delete(proxy, source)


if __name__ == "__main__":
    check.run(__file__)
