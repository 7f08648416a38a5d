# SPDX-License-Identifier: BSD-3-Clause
"""Async Feature Tracker with wrong input: one message on one rank that names the cause, empty outputs, no
hang, and a pipeline that works again, from the first step on.
"""

import check
import films
from paraview import simple
from tracking import counted

TIMES = [float(t) for t in range(4)]
GOOD = {"ScalarConnectivity": 1, "Scalars": ["CELLS", "filled"], "ScalarRange": [0.5, 2.0]}
DEFAULTS = {"LabelConnectivity": 0, "Motion": "None"}
LABELS = {"LabelConnectivity": 1}
FLOW = {"Motion": "Velocity Field"}
NAN = float("nan")
tracks = counted("NumberOfTracks", TIMES[-1])


def main():
    refusals = check.Refusals("vtkAsyncFeatureTracker", tracks)
    data = films.source(simple, "meet", "image", TIMES, 6)
    proxy = check.tracked(data, **GOOD)
    usual = tracks(proxy)
    assert usual == 3, f"{usual} tracks"
    for name, bad, good, words, others in (
        ("MinimumOverlap", 1.5, 0.1, ("Minimum Overlap",), {}),
        ("MinimumOverlap", -0.5, 0.1, ("Minimum Overlap",), {}),
        ("MinimumOverlap", NAN, 0.1, ("Minimum Overlap",), {}),
        ("MinimumSecondaryOverlap", 2.0, 0.5, ("Minimum Secondary Overlap",), {}),
        ("ScalarRange", [0.5, 2.0, 3.0, 4.0], [0.5, 2.0], ("Scalar Range", "one"), {}),
        ("ScalarRange", [2.0, 0.5], [0.5, 2.0], ("Scalar Range",), {}),
        ("Scalars", ["CELLS", "none"], ["CELLS", "filled"], ("Scalars",), {}),
        ("Labels", ["CELLS", "none"], ["CELLS", "labels"], ("Labels",), LABELS),
        ("Velocity", ["CELLS", "none"], ["CELLS", "flow"], ("Velocity",), FLOW),
        ("Velocity", ["CELLS", "filled"], ["CELLS", "flow"], ("Velocity",), FLOW),
        ("Tolerance", 2.0, 0.0, ("Tolerance",), {}),
    ):
        for key, value in {**others, name: bad}.items():
            setattr(proxy, key, value)
        refusals.refused(f"{name} = {bad}", proxy, words)
        for key, value in {**DEFAULTS, name: good}.items():
            setattr(proxy, key, value)
        refusals.cured(f"{name} = {bad}", proxy, usual)
    proxy.Input = simple.GroupDatasets(Input=[simple.HyperTreeGridRandom()])
    refusals.refused("hyper tree grids", proxy, ("hyper tree grids", "apply"))
    proxy.Input = data
    refusals.cured("hyper tree grids", proxy, usual)
    assert not refusals.failures, "\n  ".join(refusals.failures)


if __name__ == "__main__":
    check.run(__file__)
