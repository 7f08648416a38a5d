# SPDX-License-Identifier: BSD-3-Clause
"""The promise, on this number of ranks: one hash for each data set, whatever schedule, blocks,
ghost cells and cut. Writes the hashes to hashes.json; CompareHashes.py compares them between
numbers of ranks and threads.

Data sets are cut into as many pieces as there are ranks, so the cut differs between runs, unless
the case says otherwise. Arguments, if any, are words: only cases with one of them in the name run,
and no hashes are written.
"""

import time

import check
import meshes
from check import flows

COUNT = 60
CASES = {}


def case(name, properties=None, seeds=None, variants=({},), **arguments):
    """A case is a data set and the ways to cut it; all must give the same lines."""
    assert name not in CASES, name
    CASES[name] = (arguments, properties or {}, seeds or {}, variants)


GHOSTS = ({}, {"ghosts": 1})
for mesh in flows.STRUCTURED_MESHES:
    case(
        mesh,
        mesh=mesh,
        size=21,
        variants=GHOSTS
        + (
            {"container": "multiblock", "pieces": 6},
            {"container": "partitioned", "pieces": 7, "placing": "cyclic", "ghosts": 1},
        ),
    )
for mesh in flows.UNSTRUCTURED_MESHES:
    case(
        mesh,
        mesh=mesh,
        size=11,
        variants=GHOSTS
        + (
            {"cut": "clumps"},
            {"cut": "clumps", "ghosts": 1, "ids": True},
            {"container": "multiblock", "pieces": 6, "cut": "clumps"},
        ),
    )
case(
    "scattered cells",
    mesh="mixed",
    size=8,
    variants=({"cut": "random"}, {"cut": "random", "pieces": 5, "placing": "cyclic"}),
)
case("image, double", mesh="image", size=17, dtype="float64", variants=GHOSTS)
case("structured, double", mesh="structured", size=17, dtype="float64", variants=GHOSTS)
case("mixed, double", mesh="mixed", size=9, dtype="float64", variants=GHOSTS)
for mesh in ("image", "structured", "tetrahedra", "mixed"):
    case(
        f"{mesh}, of cells",
        {"Vectors": ["CELLS", "velocity"]},
        mesh=mesh,
        size=11,
        centring="both",
        variants=GHOSTS,
    )
for mesh in ("image", "hexahedra"):
    for kind in ("Runge-Kutta 2", "Runge-Kutta 4"):
        case(f"{mesh}, {kind}", {"IntegratorType": kind}, mesh=mesh, size=11, variants=GHOSTS)
    case(
        f"{mesh}, seeds on corners and faces",
        seeds={"lattice": (6, 11, 21)},
        mesh=mesh,
        size=11,
        jitter=0.0,
        variants=GHOSTS,
    )
    case(f"{mesh}, periodic", {"Periodic": [1, 1, 1]}, mesh=mesh, size=11, variants=GHOSTS)
    case(
        f"{mesh}, empty ranks",
        seeds={"holder": "first"},
        mesh=mesh,
        size=11,
        variants=({"empty": 1}, {"empty": 2}, {}),
    )
case("double gyre", flow="double_gyre", mesh="image", size=33, variants=GHOSTS)
for mesh in flows.PLANE_MESHES:
    case(mesh, flow="double_gyre", mesh=mesh, size=17, variants=GHOSTS + ({"cut": "clumps"},))
case("joined", {"JoinDirections": 1}, mesh="image", size=11, variants=GHOSTS)

# Cells that VTK evaluates, and those of the kinds that Data/flows.py does not have.
CELLS = {
    "voxels": 11, "pentagonal prisms": 15, "quadratic hexahedra": 25, "quadratic wedges": 26,
}
# Seeds of the sources that a user gets; each rank is asked for its piece of them.
SEED_TYPES = {
    "Line": {"Point1": [0.3, 0.4, 0.5], "Point2": [6.0, 5.9, 5.8], "Resolution": 40},
    "Point Cloud": {"Center": [3.0, 3.0, 3.0], "Radius": 3.0, "NumberOfPoints": 50},
}

REAL = {
    "dambreak.pvtu": (0.02, 0.98) * 3,
    "tjunction.pvtu": (0.001, 0.219, -0.2, 0.2, 0.001, 0.019),
    "tjunction_polyhedra.pvtu": (0.001, 0.219, -0.2, 0.2, 0.001, 0.019),
    "tjunction_multiblock.vtm": (0.001, 0.219, -0.2, 0.2, 0.001, 0.019),
}

# Pairs of a schedule and a number of blocks. In `Utilities/test --all` the first variant of a case has each schedule and
# number of blocks once, on 3 ranks all nine pairs, and the others have FEWER; otherwise they have them by turns.
SCHEDULES = [(2, 1), (0, 3), (1, 16)]
ALL = [(s, b) for s in (2, 0, 1) for b in (1, 3, 16)]
FEWER = [(2, 3), (0, 1)]


class Run:
    def __init__(self):
        self.hashes = {}
        self.traces = 0
        self.failures = []

    def pairs(self, index, first=SCHEDULES):
        """The pairs for variant `index`, of which the first one has those of `first` in a thorough run."""
        if check.thorough():
            return FEWER if index else first
        count = 1 if index or check.ranks() > 4 else 2
        return [first[(self.traces + i) % len(first)] for i in range(count)]

    def trace(self, name, label, lines, pairs):
        """Trace with each schedule and number of blocks, and with one termination detector after
        the other; remember the first, compare the others."""
        detectors = lines.GetProperty("Detector").Available
        for schedule, blocks in pairs:
            lines.Schedule = schedule
            lines.BlocksPerRank = blocks
            lines.Detector = detectors[self.traces % len(detectors)]
            self.traces += 1
            result = check.Lines(check.fetch(lines))
            if name not in self.hashes:
                assert result.count, f"{name}: no lines"
                ids = result.cell_data["SeedIds"]
                assert (ids[1:] >= ids[:-1]).all(), f"{name}: lines are not ordered by seed"
                self.hashes[name] = result.digest()
                self.first = result
            elif result.digest() != self.hashes[name]:
                where = f"{name}: {label} schedule {schedule}, {blocks} blocks, {lines.Detector}"
                self.failures.append(f"{where}: {check.difference(self.first, result)}")


def others():
    """Data and seeds that do not come from Data/flows.py, as (name, makers of tracers)."""
    box = (0.0, meshes.SIDE) * 3

    def from_points(maker, arguments, where="POINTS"):
        def make():
            data, seeds = maker(**arguments), flows.seeds(COUNT, box)
            return check.tracer(data, seeds, Vectors=[where, "velocity"]), data, seeds

        return make

    def from_type(seed_type, properties):
        def make():
            data = flows.source(mesh="image", size=11)
            tracer = check.cloud_tracer(data, SeedType=seed_type)
            for name, value in properties.items():
                setattr(tracer.SeedType, name, value)
            return tracer, data

        return make

    def from_data(arguments):
        def make():
            data, seeds = flows.source(mesh="image", size=11), flows.source(size=4, **arguments)
            return check.tracer(data, seeds), data, seeds

        return make

    # Seeds that several ranks have count once; ids are those of the whole.
    yield "seeds of a grid", [from_data({"mesh": "image", "ghosts": g}) for g in (0, 1)]
    yield "seeds with global ids", [
        from_data({"mesh": "tetrahedra", "ids": True, "cut": cut, "ghosts": ghosts})
        for cut, ghosts in (("bricks", 0), ("clumps", 1), ("random", 0))
    ]
    for where in ("POINTS", "CELLS"):
        yield f"hierarchy, of {where.lower()}", [
            from_points(meshes.hierarchy, {"placing": placing}, where)
            for placing in ("cyclic", "backwards", "last")
        ]
    for name, number in CELLS.items():
        yield name, [
            from_points(meshes.cells, {"cell_type": number, "size": 4, "cut": cut})
            for cut in ("slices", "cyclic")
        ]
    for name, properties in SEED_TYPES.items():
        yield f"seed type {name}", [from_type(name, properties)]


def main():
    run = Run()
    schedules = ALL if check.ranks() == 3 and check.thorough() else SCHEDULES
    for name, makers in others():
        if not check.chosen(name):
            continue
        start = time.time()
        for index, make in enumerate(check.some(makers, run.traces)):
            lines, *inputs = make()
            run.trace(name, f"variant {index}", lines, run.pairs(index, FEWER))
            check.delete(lines, *inputs)
        print(f"{time.time() - start:6.2f} s  {name}", flush=True)
    for name, (arguments, properties, seeding, variants) in CASES.items():
        if not check.chosen(name):
            continue
        start = time.time()
        box = flows.bounds(arguments.get("flow", "abc"))
        seeds = flows.seeds(COUNT, box, **seeding)
        for index, variant in enumerate(check.some(variants, run.traces)):
            data = flows.source(**{**arguments, **variant})
            lines = check.tracer(data, seeds, **dict(properties))
            run.trace(name, variant, lines, run.pairs(index, schedules))
            check.delete(lines, data)
        check.delete(seeds)
        print(f"{time.time() - start:6.2f} s  {name}", flush=True)
    for name, box in REAL.items():
        for where in ("POINTS", "CELLS") if check.chosen(name) else ():
            start = time.time()
            data = check.real_data(name)
            seeds = flows.seeds(COUNT, box)
            lines = check.tracer(data, seeds, Vectors=[where, "U"])
            label = f"{name}, of {where.lower()}"
            run.trace(label, "", lines, run.pairs(0, schedules if where == "POINTS" else FEWER))
            check.delete(lines, seeds, data)
            print(f"{time.time() - start:6.2f} s  {label}", flush=True)
    check.write_hashes(run.hashes)
    assert not run.failures, "not the same lines:\n  " + "\n  ".join(run.failures)


if __name__ == "__main__":
    check.run(__file__)
