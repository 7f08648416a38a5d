# SPDX-License-Identifier: BSD-3-Clause
"""Async Feature Tracker on this number of ranks: the links, events and tracks of brute force, one answer,
bit for bit, however the data are cut, and the same whether steps come one by one, all at once, again,
backwards, or in situ. Writes hashes to hashes.json for CompareHashes.py.

Every rank runs this script (pvbatch --sym). Arguments, if any, are words: only cases with one of them
in the name run, and no hashes are written.
"""

import collections
import hashlib
import math

import numpy as np

import check
import films
from paraview import simple
from tracking import COMM, FEW, IS_REFERENCE, Tables, appended, expect, gathered, requests, tuned
from vtkmodules.util.numpy_support import numpy_to_vtk
from vtkmodules.vtkCommonCore import vtkPoints
from vtkmodules.vtkCommonDataModel import vtkCellArray, vtkPolyData

# Another way to cut the data: so many pieces, and which are whose changes by so much in each step.
CUT = (1, 0) if COMM.size == 3 else (7, 3)
# And one whose pieces stay, for some cases.
STEADY_CUT = (5, 0)
STEADY = ("meet in images", "turn in rectilinear grids", "turn in layers", "labels",
          "labels of cells that overlap")
TIMES = [0.5 * t for t in range(5)]
FILLED = {"ScalarConnectivity": 1, "Scalars": ["CELLS", "filled"], "ScalarRange": [0.5, 2.0]}
LABELS = {"ScalarConnectivity": 0, "LabelConnectivity": 1, "Labels": ["CELLS", "labels"]}
FLOW = {"Motion": "Velocity Field", "Velocity": ["CELLS", "flow"]}
STEPS = [float(t) for t in range(5)]

# Name: film, mesh, times, properties.
CASES = {
    "meet in images": ("meet", "image", STEPS, FILLED),
    "meet in meshes that change": ("meet", "changing", STEPS, FILLED),
    "meet, best only": ("meet", "image", STEPS, {**FILLED, "Match": "Best"}),
    "turn in meshes that change": ("turn", "changing", TIMES, FILLED),
    "turn in meshes whose points move": ("turn", "breathing", TIMES, FILLED),
    "cross in meshes that change": ("cross", "changing", STEPS, {**FILLED, "Motion": "Estimated"}),
    "cross and merge": ("cross", "image", [float(t) for t in range(9)],
                        {**FILLED, "Motion": "Estimated"}),
    "turn in rectilinear grids": ("turn", "rectilinear", TIMES, FILLED),
    "turn in layers": ("turn", "layers", TIMES, FILLED),
    "meet in curvilinear grids": ("meet", "curvilinear", STEPS, FILLED),
    "turn on levels": ("turn", "levels", TIMES, FILLED),
    "ten thousand": ("squares", "fine", STEPS[:3], {**FILLED, "ConnectThrough": "Faces"}),
    "turn on surfaces": ("turn", "surface", TIMES, FILLED),
    "fast in a flow": ("fast", "image", STEPS, {**FILLED, **FLOW}),
    "labels": ("turn", "boxes", TIMES, LABELS),
    "labels of cells that overlap": ("turn", "overlapping", TIMES, LABELS),
    "blink": ("blink", "image", STEPS, FILLED),
    "many, of the larger": ("many", "changing", STEPS,
                            {**FILLED, "ConnectThrough": "Faces", "MinimumOverlap": 0.4,
                             "OverlapFraction": "Of The Larger Region"}),
}


class Outputs(Tables):
    """The outputs of all ranks, in an order that does not depend on ranks; on rank 0."""

    def __init__(self, proxy):
        tracker = proxy.GetClientSideObject()
        cells = COMM.gather(films.cells(tracker.GetOutputDataObject(0)))
        cells = np.concatenate(cells) if cells else np.zeros((0, 8))
        self.cells = cells[np.lexsort(cells.T[::-1])]
        super().__init__(tracker)
        self.lines = sorted(gathered(self.trajectories(tracker.GetOutputDataObject(1))))

    @staticmethod
    def trajectories(data):
        arrays = check.arrays(data.GetPointData())
        names = sorted(arrays)
        result = []
        for cell in range(data.GetNumberOfCells()):
            ids = data.GetCell(cell).GetPointIds()
            points = [ids.GetId(i) for i in range(ids.GetNumberOfIds())]
            result.append((
                int(data.GetCellData().GetArray("TrackId").GetValue(cell)),
                tuple((data.GetPoint(p), *(tuple(np.ravel(arrays[n][p]).tolist()) for n in names))
                      for p in points),
            ))
        return result

    def digest(self):
        text = repr((self.names, self.tables, self.lines)).encode()
        return hashlib.sha256(text + self.cells.tobytes()).hexdigest()[:24]


class BruteForce:
    """The rules of links and tracks, by loops over all pairs of regions and cells. The numbers of regions
    are the filter's own."""

    def __init__(self, properties):
        self.properties = properties
        self.before = None
        self.features = {}
        self.tracks = 0
        self.edges, self.events, self.points = [], [], {}

    def displacements(self, region, seconds):
        """A row for each way in which a region of the last step may move."""
        motion = self.properties.get("Motion")
        if motion == "Velocity Field":
            return np.array([[5.0 * seconds, 0, 0]])
        if motion == "Estimated":
            return np.array([v for v, _ in self.features[region]["motions"]]) * seconds
        return np.zeros((1, 3))

    def overlaps(self, cells, seconds):
        """Volumes shared by each pair of regions, and by which of the earlier one's motions."""
        shared = {}
        filled = cells[cells[:, 6] >= 0]
        lo, hi = filled[:, 0:6:2], filled[:, 1:6:2]
        middles = cells[:, :6].reshape(-1, 3, 2).mean(axis=2)
        for cell in self.before[self.before[:, 6] >= 0]:
            ends = cell[:6].reshape(3, 2)
            size = math.prod(high - low if high > low else 1 for low, high in ends.tolist())
            for motion, way in enumerate(self.displacements(int(cell[6]), seconds)):
                center = ends.mean(axis=1) + way
                hits = filled[np.all((lo <= center) & (center <= hi), axis=1), 6]
                if "Motion" not in self.properties:  # a cell with this center is found again
                    centered = cells[np.all(middles == center, axis=1), 6]
                    hits = centered[centered >= 0] if len(centered) else hits
                if len(hits):
                    of_pair = shared.setdefault((int(cell[6]), int(hits.min())), {})
                    of_pair[motion] = of_pair.get(motion, 0) + size
        best = {pair: max(sorted(by), key=lambda m: by[m]) for pair, by in shared.items()}
        return {pair: shared[pair][m] for pair, m in best.items()}, best

    def motions(self, links, shared, motion_of, goes_on, size, centroid, seconds):
        """Of a region with links from regions before: its own motion, and others that it keeps."""
        velocity = lambda f, m: self.features[f]["motions"][m][0]
        total = sum(shared[link] for link in links)
        own = sum((shared[link] * velocity(link[0], motion_of[link]) for link in links), np.zeros(3))
        own = own / total if links else own
        largest = sorted(links, key=lambda link: (-shared[link], self.features[link[0]]["track"]))
        if goes_on:
            f = largest[0][0]
            before = self.features[f]
            alone = len(links) == 1 and before["successors"] == 1
            if alone or min(size, before["size"]) >= 0.75 * max(size, before["size"]):
                own = (centroid - before["centroid"]) / seconds
        kept = [(velocity(link[0], motion_of[link]), 0) for link in largest] if len(links) > 1 else []
        for link in largest:
            for m, (v, age) in enumerate(self.features[link[0]]["motions"]):
                if m > 0 and m != motion_of[link] and age + 1 <= 8:
                    kept.append((v, age + 1))
        return [(own, 0), *kept[:3]]

    def advance(self, step, when, last, cells, sizes, centroids):
        """sizes, centroids: of the step's regions."""
        p = self.properties
        shared, motion_of = self.overlaps(cells, when - last) if step > 0 else ({}, {})
        smaller = p.get("OverlapFraction") != "Of The Larger Region"
        fraction = {
            (f, g): v / (min if smaller else max)(self.features[f]["size"], sizes[g])
            for (f, g), v in shared.items()
        }
        pairs = [pair for pair in shared if fraction[pair] >= p.get("MinimumOverlap", 0.1)]
        of_before = {}
        of_after = {}
        for f, g in sorted(pairs):
            best = of_before.get(f)
            if best is None or shared[f, g] > shared[f, best]:
                of_before[f] = g
            best = of_after.get(g)
            track = lambda f: self.features[f]["track"]
            if best is None or (shared[f, g], -track(f)) > (shared[best, g], -track(best)):
                of_after[g] = f
        if p.get("Match") == "Best":
            links = [(f, g) for f, g in pairs if of_before[f] == g and of_after[g] == f]
        else:
            links = [
                (f, g) for f, g in pairs
                if of_before[f] == g or of_after[g] == f or fraction[f, g] >= 0.5
            ]
        successors = collections.Counter(f for f, _ in links)
        links_to = {g: [] for g in sizes}
        for f, g in links:
            links_to[g].append((f, g))
        predecessors = {g: len(to) for g, to in links_to.items()}
        for f in self.features:
            self.features[f]["successors"] = successors[f]
        features = {}
        for g in sorted(sizes):
            f = of_after.get(g)
            goes_on = f is not None and (f, g) in links_to[g] and of_before[f] == g
            track = self.features[f]["track"] if goes_on else self.tracks
            self.tracks += not goes_on
            motions = self.motions(links_to[g], shared, motion_of, goes_on,
                                   sizes[g], centroids[g], when - last)
            features[g] = {"track": track, "size": sizes[g], "centroid": centroids[g],
                           "motions": motions}
            self.points.setdefault(track, []).append((step, g))
            if predecessors[g] == 0:
                self.events.append((step, "Birth", track, g, 0))
            if predecessors[g] > 1:
                self.events.append((step, "Merge", track, g, predecessors[g]))
        for f, feature in self.features.items():
            if successors[f] == 0:
                self.events.append((step, "Death", feature["track"], f, 0))
            if successors[f] > 1:
                self.events.append((step, "Split", feature["track"], f, successors[f]))
        for f, g in links:
            kind = " and ".join(
                name for name, n in (("Split", successors[f]), ("Merge", predecessors[g])) if n > 1
            )
            self.edges.append((step, kind or "Continuation", self.features[f]["track"],
                               features[g]["track"], f, g, shared[f, g]))
        self.features = features
        self.before = cells


def compare(brute, outputs, step, when):
    features = sorted(outputs.rows(0), key=lambda r: r["RegionId"])
    expect([(r["RegionId"], r["TrackId"]) for r in features]
           == [(g, f["track"]) for g, f in sorted(brute.features.items())], "other tracks")
    expect(all(r["Step"] == step and r["Time"] == when for r in features), "other steps")
    if brute.properties.get("Motion") != "Velocity Field":
        velocities = [f["motions"][0][0] for _, f in sorted(brute.features.items())]
        found = [r["Velocity"] for r in features]
        expect(np.allclose(found, velocities, rtol=1e-9, atol=1e-9), f"velocities {found}")
    tracks = {g: f["track"] for g, f in brute.features.items()}
    expect(all(tracks.get(int(r), -1) == t for r, t in outputs.cells[:, 6:8]), "TrackId of cells")
    events = [(r["Step"], r["Event"], r["TrackId"], r["RegionId"], r["Parts"]) for r in outputs.rows(1)]
    expect(sorted(events) == sorted(brute.events), f"events {events} not {sorted(brute.events)}")
    edges = [(r["Step"], r["Kind"], r["TrackBefore"], r["TrackAfter"], r["RegionBefore"],
              r["RegionAfter"]) for r in outputs.rows(2)]
    expect(sorted(edges) == sorted(e[:6] for e in brute.edges), f"edges {edges} not {brute.edges}")
    volumes = {(r["Step"], r["RegionBefore"], r["RegionAfter"]): r["Overlap"] for r in outputs.rows(2)}
    expect(np.allclose([volumes[e[0], e[4], e[5]] for e in brute.edges],
                       [e[6] for e in brute.edges], rtol=1e-12, atol=0), "overlaps")
    # RegionId, Size, Speed, Step, Time, Velocity: the arrays by name.
    points = {track: [(row[4][0], row[1][0]) for row in line] for track, line in outputs.lines}
    expect(points == brute.points, f"trajectories {points} not {brute.points}")


def brute_force(name, results):
    """Of the outputs at each time, which tell what the regions are."""
    film, mesh, times, properties = CASES[name]
    brute = BruteForce(properties)
    for step, (when, outputs) in enumerate(zip(times, results)):
        sizes = {r["RegionId"]: r["Measure"] for r in outputs.rows(0)}
        last = times[step - 1] if step > 0 else when
        centroids = {r["RegionId"]: np.array(r["Centroid"]) for r in outputs.rows(0)}
        brute.advance(step, when, last, outputs.cells, sizes, centroids)
        try:
            compare(brute, outputs, step, when)
        except check.Wrong as wrong:
            raise check.Wrong(f"at time {when}: {wrong}") from None


def one_by_one(data, properties, times):
    proxy = check.tracked(data, **properties)
    results = []
    for when in times:
        proxy.UpdatePipeline(when)
        results.append(Outputs(proxy))
    check.delete(proxy)
    return results


def run_case(name):
    film, mesh, times, properties = CASES[name]
    data = films.source(simple, film, mesh, times)
    results = one_by_one(data, properties, times)
    if COMM.rank == 0 and IS_REFERENCE and (check.thorough() or name != "ten thousand"):
        brute_force(name, results)
    hashes = [outputs.digest() for outputs in results]
    check.delete(data)
    if FEW:
        for cut in (CUT, STEADY_CUT) if name in STEADY else (CUT,):
            data = films.source(simple, film, mesh, times, *cut)
            again = one_by_one(data, properties, times[-1:])[-1].digest()
            expect(again == hashes[-1], f"another answer from {cut[0]} pieces")
            check.delete(data)
    return hashes


def at(proxy, when):
    proxy.UpdatePipeline(when)
    return Outputs(proxy).digest()


def run_times():
    """Steps requested in several orders, again, with AutoTune, and appended."""
    film, mesh, times, properties = CASES["meet in images"]
    data = films.source(simple, film, mesh, times)
    right = [o.digest() for o in one_by_one(data, properties, times)]
    proxy = check.tracked(data, **properties)
    requests(proxy, at, right, times)
    proxy.MinimumOverlap = 1
    changed = at(proxy, times[4])
    expect(changed != right[4], "a property without a use")
    proxy.MinimumOverlap = 0.1
    expect(at(proxy, times[4]) == right[4], "after a property was changed back")
    check.delete(proxy)
    proxy = check.tracked(data, AutoTune=1, **properties)
    tuned(proxy, at, right, times)
    check.delete(proxy, data)

    # Steps that are added.
    data = films.source(simple, film, mesh, times[:3])
    proxy = check.tracked(data, **properties)
    more = films.source(simple, film, mesh, times)
    appended(proxy, data, more, at, right)
    check.delete(proxy, data, more)


def run_in_situ():
    """Data without time steps, of which each has a time, as a simulation hands them over."""
    film, mesh, times, properties = CASES["meet in images"]
    data = films.source(simple, film, mesh, times)
    right = [o.digest() for o in one_by_one(data, properties, times)]
    check.delete(data)
    producer = simple.TrivialProducer()
    held = producer.GetClientSideObject()

    def hand_over(step):
        data = films.data_of(film, mesh, step, times[step])
        data.GetInformation().Set(data.DATA_TIME_STEP(), times[step])
        held.SetOutput(data)
        producer.MarkModified(producer)

    hand_over(0)
    proxy = check.tracked(producer, **properties)
    for step, why in ((0, "first"), (1, "next"), (1, "again"), (2, "next"), (3, "next"), (3, "again"),
                      (4, "next")):
        hand_over(step)
        proxy.UpdatePipeline()
        expect(Outputs(proxy).digest() == right[step], f"in situ: step {step}, {why}")
    hand_over(0)
    proxy.UpdatePipeline()
    expect(Outputs(proxy).digest() == right[0], "in situ: an earlier time begins anew")
    check.delete(proxy, producer)


def run_bent():
    """A region of a polygon that does not contain its centroid continues on a mesh that stays."""
    producer = simple.TrivialProducer()
    held = producer.GetClientSideObject()
    for step in range(3):
        data = vtkPolyData()
        if COMM.rank == 0:
            points = vtkPoints()
            for place in ((0, 0, 0), (5, 2.5, 0), (0, 5, 0), (4, 2.5, 0)):
                points.InsertNextPoint(place)
            cells = vtkCellArray()
            cells.InsertNextCell(4, [0, 1, 2, 3])
            data.SetPoints(points)
            data.SetPolys(cells)
        filled = numpy_to_vtk(np.ones(data.GetNumberOfCells()), deep=1)
        filled.SetName("filled")
        data.GetCellData().AddArray(filled)
        data.GetInformation().Set(data.DATA_TIME_STEP(), float(step))
        held.SetOutput(data)
        producer.MarkModified(producer)
        if step == 0:
            proxy = check.tracked(producer, **FILLED)
        proxy.UpdatePipeline()
        outputs = Tables(proxy.GetClientSideObject())
        if COMM.rank == 0:
            expect([row["TrackId"] for row in outputs.rows(0)] == [0], f"a new track in step {step}")
    check.delete(proxy, producer)


def main():
    work = {name: lambda name=name: run_case(name) for name in CASES}
    if FEW:
        # No hashes: they do not run on all numbers of ranks.
        work.update({"times": run_times, "in situ": run_in_situ, "bent": run_bent})
    check.run_cases(work, COMM.rank, "features")


if __name__ == "__main__":
    check.run(__file__)
