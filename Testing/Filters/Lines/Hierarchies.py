# SPDX-License-Identifier: BSD-3-Clause
"""An AMR hierarchy, spread over the ranks: where levels overlap, the finest one is the flow."""

import numpy as np

import check
import meshes
from check import flows

# Beside the border, and as high as the finer levels are.
SEEDS = (0.04, 0.06, 0.2, 5.0, 1.5, 6.5)


def expected(start):
    """Where a line from (0.05, y, z) in the flow "levels" leaves the domain, at x = SIDE."""
    position = np.array(start)
    while position[0] < meshes.SIDE:
        level = 0
        # The next place where the level may change.
        edges = [meshes.SIDE]
        for number, boxes in enumerate(meshes.LEVELS):
            for box in boxes:
                low, high = np.array(box[::2]) * 0.5**number, (np.array(box[1::2]) + 1) * 0.5**number
                if (position >= low).all() and (position < high).all():
                    level = max(level, number)
                edges += [low[0], high[0]]
                if number > 0:  # y of the edge, reached after dx = dy / level
                    for edge in (low[1], high[1]):
                        for slope in (1, 2):
                            edges.append(position[0] + (edge - position[1]) / slope)
        step = min(x for x in edges if x > position[0] + 1e-9) - position[0]
        position = position + step * np.array([1.0, level, 0.0])
    return position


def main():
    for placing in ("cyclic", "backwards", "last"):
        data = meshes.hierarchy(flow="levels", placing=placing)
        seeds = flows.seeds(80, SEEDS)
        seeds.UpdatePipeline()
        lines = check.tracer(
            data, seeds, Vectors=["CELLS", "velocity"], IntegrationDirection="FORWARD",
            MaximumStreamlineLength=30.0, InitialStepLength=0.005, IntegratorType="Runge-Kutta 4",
            MaximumSteps=20000,
        )
        out = check.Lines(check.fetch(lines))
        points = flows.seed_points(0, 1, 80, SEEDS)
        assert out.count == 80, f"{placing}: {out.count} lines"
        bent = 0
        for seed, index in out.by_seed().items():
            last = out.points[out.line(index)[-1]].astype(float)
            wanted = expected(points.GetPoint(seed))
            start = np.array(points.GetPoint(seed))
            if wanted[1] >= meshes.SIDE:
                continue
            bent += wanted[1] > start[1] + 0.5
            # A step crosses each border between levels as the one or the other.
            assert abs(last[1] - wanted[1]) < 0.1, f"{placing}, seed {start}: {last}, not {wanted}"
        assert bent > 20, f"{placing}: only {bent} lines meet a finer level"
        check.delete(lines, seeds, data)
        print(placing, flush=True)


if __name__ == "__main__":
    check.run(__file__)
