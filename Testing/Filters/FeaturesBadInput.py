"""Async Feature Tracker with wrong input: one message on one rank that names the cause, empty outputs, no
hang, and a pipeline that works again, from the first step on.
"""

import check
import films
from paraview import simple

TIMES = [float(t) for t in range(4)]
GOOD = {"ScalarConnectivity": 1, "Scalars": ["CELLS", "filled"], "ScalarRange": [0.5, 2.0]}
DEFAULTS = {"LabelConnectivity": 0, "Motion": "None"}
LABELS = {"LabelConnectivity": 1}
FLOW = {"Motion": "Velocity Field"}
NAN = float("nan")


def tracks(proxy, when):
    """How many so far, or None where there is no output."""
    proxy.UpdatePipeline(when)
    output = proxy.GetClientSideObject().GetOutputDataObject(0)
    counts = output.GetFieldData().GetArray("NumberOfTracks")
    return counts and counts.GetValue(0)


def main():
    messages = check.Messages()
    data = films.source(simple, "meet", "image", TIMES, 6)
    proxy = check.tracked(data, **GOOD)
    usual = tracks(proxy, TIMES[-1])
    assert usual == 3, f"{usual} tracks"
    failures = []
    for name, bad, good, words, others in (
        ("MinimumOverlap", 1.5, 0.1, ("MinimumOverlap",), {}),
        ("MinimumOverlap", -0.5, 0.1, ("MinimumOverlap",), {}),
        ("MinimumOverlap", NAN, 0.1, ("MinimumOverlap",), {}),
        ("MinimumSecondaryOverlap", 2.0, 0.5, ("MinimumSecondaryOverlap",), {}),
        ("ScalarRange", [0.5, 2.0, 3.0, 4.0], [0.5, 2.0], ("ScalarRange", "one"), {}),
        ("ScalarRange", [2.0, 0.5], [0.5, 2.0], ("ScalarRange",), {}),
        ("Scalars", ["CELLS", "none"], ["CELLS", "filled"], ("SelectInputScalars",), {}),
        ("Labels", ["CELLS", "none"], ["CELLS", "labels"], ("SelectLabels",), LABELS),
        ("Velocity", ["CELLS", "none"], ["CELLS", "flow"], ("SelectVelocity",), FLOW),
        ("Velocity", ["CELLS", "filled"], ["CELLS", "flow"], ("SelectVelocity",), FLOW),
        ("Tolerance", 2.0, 0.0, ("Tolerance",), {}),
    ):
        for key, value in {**others, name: bad}.items():
            setattr(proxy, key, value)
        messages.take()
        if tracks(proxy, TIMES[-1]) is not None:
            failures.append(f"{name} = {bad}: there is an output")
        said = messages.take()
        lines = [line for part in said for line in part.splitlines() if "ERR|" in line]
        if len(lines) != 1:
            failures.append(f"{name} = {bad}: {len(lines)} errors instead of one: {said}")
        failures += [f"{name} = {bad}: no word {word} in {said}"
                     for word in ("vtkAsyncFeatureTracker", *words) if word not in "".join(said)]
        for port in range(5):
            information = proxy.GetDataInformation(port)
            if information.GetNumberOfCells() + information.GetNumberOfRows():
                failures.append(f"{name} = {bad}: there is something on output {port}")
        for key, value in {**DEFAULTS, name: good}.items():
            setattr(proxy, key, value)
        found = tracks(proxy, TIMES[-1])
        if found != usual:
            failures.append(f"{name} = {bad}: {found} tracks after the cure, not {usual}")
        if "ERR|" in "".join(messages.take()):
            failures.append(f"{name} = {bad}: still a message after the cure")
        print(name, flush=True)
    assert not failures, "\n  ".join(failures)


if __name__ == "__main__":
    check.run(__file__)
