# SPDX-License-Identifier: BSD-3-Clause
"""Async Feature Tracker on this number of ranks, following critical points: those of brute force at
each step, the paths that are known, one answer, bit for bit, on whatever mesh that is cut alike and
however it is dealt to the ranks, and the same whether steps come one by one, all at once, again,
backwards, or in situ. Writes hashes to hashes.json for CompareHashes.py.
Run and arguments as of Features.py.
"""

import hashlib

import numpy as np

import check
import fields
import films
from paraview import simple
from tracking import COMM, FEW, IS_REFERENCE, Tables, appended, expect, gathered, requests, tuned

CUT = (1, 0) if COMM.size == 3 else (7, 3)
STEPS = [float(t) for t in range(7)]

# Name: field, mesh, times.
CASES = {
    "drift": ("drift", "image", STEPS),
    "vanish": ("vanish", "image", [0.5 * t for t in range(11)]),
    "appear": ("appear", "image", [3.0 + 0.5 * t for t in range(11)]),
    "turning": ("turning", "image", STEPS),
    "waves": ("waves", "image", STEPS),
    "storm": ("storm", "image", STEPS),
    "hidden": ("hidden", "image", STEPS),
    "solid": ("solid", "image", STEPS[:4]),
    "swirl": ("swirl", "image", STEPS[:4]),
    "waves in triangles": ("waves", "simplices", STEPS),
    "solid in tetrahedra": ("solid", "simplices", STEPS[:4]),
    "blanked": ("storm", "blanked", STEPS),
    "blanked solid": ("swirl", "blanked", STEPS[:4]),
    "upright": ("upright", "image", STEPS),
    "standing": ("standing", "image", STEPS),
    "woven": ("woven", "image", [float(t) for t in range(128)]),
}
# Cut alike, so vectors have the same bits in all.
ALIKE = {
    "storm": ("ghosts", "rectilinear", "curvilinear", "solids", "simplices", "surface"),
    "swirl": ("ghosts", "rectilinear", "curvilinear", "solids", "simplices"),
    "blanked": ("cutout",),
    "blanked solid": ("cutout",),
}


class Outputs(Tables):
    """The outputs of all ranks, in an order that does not depend on ranks; on rank 0."""

    def __init__(self, proxy):
        tracker = proxy.GetClientSideObject()
        fields = check.arrays(tracker.GetOutputDataObject(0).GetFieldData())
        self.counts = {n: int(fields[n][0]) for n in fields if n.startswith("NumberOf")}
        super().__init__(tracker, key=repr)
        self.lines = sorted(gathered(self.trajectories(tracker.GetOutputDataObject(1))), key=repr)

    @staticmethod
    def trajectories(data):
        """For each line its track and its points, each a dictionary."""
        arrays = check.arrays(data.GetPointData())
        tracks = check.arrays(data.GetCellData())["TrackId"]
        result = []
        for cell in range(data.GetNumberOfCells()):
            ids = data.GetCell(cell).GetPointIds()
            line = []
            for i in range(ids.GetNumberOfIds()):
                point = ids.GetId(i)
                line.append({name: arrays[name][point].tolist() for name in sorted(arrays)})
                line[-1]["place"] = data.GetPoint(point)
            result.append((int(tracks[cell]), line))
        return result

    def digest(self):
        text = repr((self.counts, self.names, self.tables, self.lines)).encode()
        return hashlib.sha256(text).hexdigest()[:24]


def compare(field, when, step, outputs):
    """With all critical points of the step."""
    right = fields.brute_force(field, when)
    rows = outputs.rows(0)
    found = sorted((*r["Position"], r["Index"]) for r in rows)
    expect(len(found) == len(right), f"{len(found)} critical points, not {len(right)}")
    expect(np.allclose(found, right, rtol=0, atol=1e-9), f"points {found}, not {right}")
    expect(outputs.counts["NumberOfCriticalPoints"] == len(right), "their number")
    expect(all(r["Step"] == step and r["Time"] == when for r in rows), "other steps")
    through = {p["place"] for _, line in outputs.lines for p in line if p["Time"] == when}
    expect(all(tuple(r["Position"]) in through for r in rows), "trajectories go elsewhere")


def one_by_one(data, times, last_only=False):
    proxy = check.tracked(data, Features="Critical Points", CriticalField=["POINTS", "field"])
    results = []
    for when in times[-1:] if last_only else times:
        proxy.UpdatePipeline(when)
        results.append(Outputs(proxy))
    check.delete(proxy)
    return results


def known(name, times, results):
    """What is known of some fields."""
    last = results[-1]
    events = [(r["Event"], r["Time"], r["Position"]) for r in last.rows(1)]
    if name in ("drift", "turning"):
        kind = "minimum" if name == "drift" else "center"
        expect([len(r.lines) for r in results] == [1] * len(times) and not events, "one trajectory")
        for when, result in zip(times, results):
            row, = result.rows(0)
            expect(row["Kind"] == kind, f"{row['Kind']}")
            expect(np.allclose(row["Position"][:2], fields.center(when), atol=1e-12), "place")
            expect(when == 0 or np.allclose(row["Velocity"], (0.41, -0.31, 0), atol=1e-12), "velocity")
        for point in last.lines[0][1]:
            expect(np.allclose(point["place"][:2], fields.center(point["Time"]), atol=1e-12), "path")
        edges = [(r["Kind"], r["Step"], r["Time"]) for r in last.rows(2)]
        expect(edges == [("Continuation", n, t) for n, t in enumerate(times)][1:], f"edges {edges}")
    if name in ("vanish", "appear"):
        at = {"vanish": "Death", "appear": "Birth"}[name]
        expect(len(events) == 1 and events[0][0] == at, f"events {events}")
        expect(abs(events[0][1] - 4) < 0.1, f"at time {events[0][1]}")
        expect(np.allclose(events[0][2], (6.05, 5.21, 0), atol=0.25), f"at {events[0][2]}")
        expect(len(last.lines) == 1 and {r["TrackId"] for r in last.rows(1)} == {0}, "one trajectory")
        kinds = [[r["Kind"] for r in result.rows(0)] for result in results]
        expect(sorted(kinds[0] or kinds[-1]) == ["minimum", "saddle"], f"kinds {kinds}")
        expect(not (kinds[0] and kinds[-1]), f"kinds {kinds}")
        expect([r["Kind"] for r in last.rows(2)].count(at) == 1, "an edge of the pair")
        for point in last.lines[0][1]:
            a = (4 - point["Time"] if name == "vanish" else point["Time"] - 4) / 4
            way = abs(point["place"][0] - 6.05) / 2
            expect(abs(way - np.sqrt(max(a, 0))) < 0.15, f"{point}")
    if name == "woven":
        lengths = [len(line) for _, line in last.lines]
        expect((len(lengths), min(lengths), max(lengths), sum(lengths) // len(lengths))
               == (280, 4, 574, 337), "not the trajectories of the paper")


def run_case(name):
    field, mesh, times = CASES[name]
    data = fields.source(simple, field, mesh, times)
    is_short = name == "woven" or not FEW
    results = one_by_one(data, times, is_short)
    check.delete(data)
    if COMM.rank == 0 and IS_REFERENCE and mesh == "image" and not is_short:
        for step, (when, outputs) in enumerate(zip(times, results)):
            try:
                compare(field, when, step, outputs)
            except check.Wrong as wrong:
                raise check.Wrong(f"at time {when}: {wrong}") from None
    if COMM.rank == 0 and (name == "woven" or not is_short):
        known(name, times, results)
    last = results[-1].digest()
    if not is_short:
        for other, *cut in ((mesh, *CUT), *((other, 0, 1) for other in ALIKE.get(name, ()))):
            data = fields.source(simple, field, other, times, *cut)
            again = one_by_one(data, times, True)[-1].digest()
            expect(again == last, f"another answer from {other} in {cut[0] or COMM.size} pieces")
            check.delete(data)
    return [last]


def at(proxy, when):
    proxy.UpdatePipeline(when)
    return Outputs(proxy).digest()


def run_times():
    """Steps requested in several orders, again, with AutoTune, and appended."""
    field, mesh, times = CASES["waves"]
    data = fields.source(simple, field, mesh, times)
    right = [o.digest() for o in one_by_one(data, times)]
    proxy = check.tracked(data, Features="Critical Points", CriticalField=["POINTS", "field"])
    requests(proxy, at, right, times)
    proxy.Features = "Regions"
    proxy.UpdatePipeline(3.0)
    proxy.Features = "Critical Points"
    expect(at(proxy, 3.0) == right[3], "after regions")
    check.delete(proxy)
    proxy = check.tracked(
        data, AutoTune=1, Features="Critical Points", CriticalField=["POINTS", "field"])
    tuned(proxy, at, right, times)
    check.delete(proxy, data)

    # Steps that are added.
    data = fields.source(simple, field, mesh, times[:3])
    proxy = check.tracked(data, Features="Critical Points", CriticalField=["POINTS", "field"])
    more = fields.source(simple, field, mesh, times)
    appended(proxy, data, more, at, right)
    check.delete(proxy, data, more)


def in_situ(field, mesh, times, order, turn=0):
    """Outputs of data without time steps, of which each has a time, as a simulation hands them over."""
    producer = simple.TrivialProducer()
    held = producer.GetClientSideObject()
    _, points, _ = fields.FIELDS[field]
    proxy, results = None, []
    for step in order:
        data = fields.single(field, mesh, step, times[step], turn)
        data.GetInformation().Set(data.DATA_TIME_STEP(), times[step])
        if hasattr(data, "GetExtent"):
            held.SetWholeExtent(0, points[0] - 1, 0, points[1] - 1, 0, points[2] - 1)
        held.SetOutput(data)
        producer.MarkModified(producer)
        if not proxy:
            proxy = check.tracked(
                producer, Features="Critical Points", CriticalField=["POINTS", "field"])
        proxy.UpdatePipeline()
        results.append(Outputs(proxy).digest())
    check.delete(proxy, producer)
    return results


def run_in_situ():
    for name, meshes in (("storm", ("image", "ghosts", "rectilinear", "ids", "curvilinear")),
                         ("waves", ("image", "ghosts", "rectilinear"))):
        field, mesh, times = CASES[name]
        data = fields.source(simple, field, mesh, times)
        right = [o.digest() for o in one_by_one(data, times)]
        check.delete(data)
        order = (0, 1, 1, 2, 3, 3, 4, 0)
        for other in meshes:
            for turn in (0, 1):
                found = in_situ(field, other, times, order, turn)
                expect(found == [right[step] for step in order], f"{name} in situ: {other}, {turn}")


def main():
    work = {name: lambda name=name: run_case(name) for name in CASES}
    if FEW:
        work.update({"times": run_times, "in situ": run_in_situ})  # no hashes: not of all numbers of ranks
    check.run_cases(work, COMM.rank, "critical points")


if __name__ == "__main__":
    check.run(__file__)
