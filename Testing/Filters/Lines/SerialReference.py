# SPDX-License-Identifier: BSD-3-Clause
"""Against ParaView's own serial Stream Tracer, on every kind of data set: the same lines within
tolerance. Runs on one rank, where ParaView's answer does not depend on the cut.

Of the lines of a case, SHARE may differ: ParaView finds cells by a locator and lets a line end or
jump where its search fails, and a step that ends close to the border may fall on either side.
With Runge-Kutta 4-5 the last bit of an error decides on a step, so two programs place their points
differently along one curve, and ParaView ends many lines before the length that is asked for, by its
way of clipping the last step. There the curves are compared, with short steps, as far as ParaView's go;
times, reasons and vorticity point by point with the other integrators.
"""

import numpy as np

import check
from check import flows

COUNT = 80
SHARE = 0.12
# End points, as a share of the domain's diagonal, and times, as a share of the longest.
TOLERANCE = 1e-3
# Vorticity is a derivative within a cell, and jumps where the next cell begins.
VORTICITY_SHARE = 0.1


def distance(points, line):
    """The largest distance of some points from a polyline."""
    if len(line) == 1:
        return np.linalg.norm(points - line, axis=1).max()
    start, along = line[:-1].astype(float), np.diff(line.astype(float), axis=0)
    square = np.maximum((along**2).sum(axis=1), 1e-300)
    t = ((points[:, None, :] - start) * along).sum(axis=2) / square
    nearest = start + np.clip(t, 0.0, 1.0)[:, :, None] * along
    return np.linalg.norm(points[:, None, :] - nearest, axis=2).min(axis=1).max()


def compare(name, data, seeds, diagonal, **properties):
    failures = []
    if properties.get("IntegratorType", "Runge-Kutta 4-5") == "Runge-Kutta 4-5":
        properties = {"InitialStepLength": 0.05, "MaximumStepLength": 0.1, **properties}
    for direction in ("FORWARD", "BACKWARD"):
        theirs_proxy = check.paraview_tracer(
            data, seeds, IntegrationDirection=direction, **dict(properties)
        )
        ours_proxy = check.tracer(data, seeds, IntegrationDirection=direction, **dict(properties))
        theirs = check.Lines(check.fetch(theirs_proxy))
        ours = check.Lines(check.fetch(ours_proxy))
        check.delete(theirs_proxy, ours_proxy)
        for kind in ("point_data", "cell_data"):
            wanted, have = getattr(theirs, kind), getattr(ours, kind)
            for array, values in wanted.items():
                if array not in have:
                    failures.append(f"no array {array} in {kind}, which has {sorted(have)}")
                elif have[array].shape[1:] != values.shape[1:]:
                    failures.append(f"{array} has components {have[array].shape[1:]}")
        mine, other = ours.by_seed(), theirs.by_seed()
        both = sorted(mine.keys() & other.keys())
        missing = len(other.keys() - mine.keys())
        odd = {"lines": missing, "points": 0, "ends": 0, "times": 0, "reasons": 0, "vorticity": 0}
        adaptive = properties.get("IntegratorType", "Runge-Kutta 4-5") == "Runge-Kutta 4-5"
        for seed in both:
            a, b = ours.line(mine[seed]), theirs.line(other[seed])
            if adaptive:
                # Their last two points are where ParaView clips the last step.
                wanted = theirs.points[b[: max(1, len(b) - 2)]]
                apart = distance(wanted, ours.points[a])
                odd["ends"] += not apart <= TOLERANCE * diagonal
                continue
            if len(a) != len(b):
                odd["points"] += 1
                continue
            apart = np.linalg.norm(ours.points[a[-1]] - theirs.points[b[-1]])
            odd["ends"] += not apart <= TOLERANCE * diagonal
            times = [lines.point_data["IntegrationTime"] for lines in (ours, theirs)]
            scale = max(abs(times[1]).max(), 1e-30)
            odd["times"] += not abs(times[0][a] - times[1][b]).max() <= TOLERANCE * scale
            ends = [lines.cell_data["ReasonForTermination"] for lines in (ours, theirs)]
            odd["reasons"] += int(ends[0][mine[seed]] != ends[1][other[seed]])
            if "Vorticity" in theirs.point_data and "Vorticity" in ours.point_data:
                curl = [lines.point_data["Vorticity"] for lines in (ours, theirs)]
                scale = max(abs(curl[1]).max(), 1e-30)
                apart = abs(curl[0][a] - curl[1][b]).max(axis=1)
                odd["vorticity"] += (apart > 0.01 * scale).mean() > VORTICITY_SHARE
        limit = max(1, int(SHARE * COUNT))
        print(f"{name}, {direction.lower()}: {len(both)} lines, differ: {odd}", flush=True)
        if len(both) < 0.8 * len(other) or not both:
            failures.append(f"{direction}: only {len(both)} of {len(other)} lines")
        for what, number in odd.items():
            if number > limit:
                failures.append(f"{direction}: {number} lines differ in {what}, {limit} may")
    return [f"{name}: {failure}" for failure in failures]


def main():
    assert check.ranks() == 1, "ParaView's answer depends on the cut; run this on one rank"
    failures = []
    three = {"MaximumStreamlineLength": 3.0}

    def on_flow(name, properties=None, **arguments):
        flow = arguments.get("flow", "abc")
        box = np.array(flows.bounds(flow))
        data = flows.source(**arguments)
        seeds = flows.seeds(COUNT, box)
        diagonal = np.linalg.norm(box[1::2] - box[::2])
        failures.extend(compare(name, data, seeds, diagonal, **{**three, **(properties or {})}))
        check.delete(seeds, data)

    for mesh in flows.STRUCTURED_MESHES + flows.UNSTRUCTURED_MESHES:
        for kind in ("Runge-Kutta 4-5", "Runge-Kutta 4", "Runge-Kutta 2"):
            on_flow(f"{mesh}, {kind}", {"IntegratorType": kind}, mesh=mesh, size=11)
    for mesh in ("image", "tetrahedra"):
        on_flow(f"{mesh}, double", mesh=mesh, size=11, dtype="float64")
        on_flow(f"{mesh}, steps in length", {"IntegrationStepUnit": "Length"}, mesh=mesh, size=11)
        on_flow(
            f"{mesh}, of cells",
            {"Vectors": ["CELLS", "velocity"], "ComputeVorticity": 0},
            mesh=mesh, size=11, centring="both",
        )
        on_flow(f"{mesh}, limit of steps", {"MaximumSteps": 7, "IntegratorType": "Runge-Kutta 4"}, mesh=mesh, size=11)
    on_flow("multiblock", mesh="image", size=11, container="multiblock", pieces=6)
    on_flow("double gyre", {"MaximumStreamlineLength": 1.0}, flow="double_gyre", mesh="image", size=21)
    for mesh in flows.PLANE_MESHES:
        on_flow(mesh, {"MaximumStreamlineLength": 1.0}, flow="double_gyre", mesh=mesh, size=17)
    for name, box, length in (
        ("dambreak.pvtu", (0.02, 0.98) * 3, 0.3),
        ("tjunction.pvtu", (0.001, 0.219, -0.2, 0.2, 0.001, 0.019), 0.05),
    ):
        data = check.real_data(name)
        seeds = flows.seeds(COUNT * 4, box)
        diagonal = np.linalg.norm(np.array(box[1::2]) - np.array(box[::2]))
        failures.extend(
            compare(name, data, seeds, diagonal, Vectors=["POINTS", "U"],
                    MaximumStreamlineLength=length)
        )
        check.delete(seeds, data)
    assert not failures, "\n  ".join(["not as ParaView's:"] + failures)


if __name__ == "__main__":
    check.run(__file__)
