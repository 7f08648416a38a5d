# SPDX-License-Identifier: BSD-3-Clause
"""Async Feature Tracker following critical points of wrong input: one message on one rank that names
the cause, empty outputs, no hang, and a pipeline that works again, from the first step on.
"""

import check
import fields
import films
from paraview import simple
from tracking import counted

TIMES = [float(t) for t in range(4)]
GOOD = {"CenterTolerance": 0.05, "CriticalField": ["POINTS", "field"]}

# What is wrong: field, mesh, properties, words of the message.
CASES = (
    ("waves", "image", {"CriticalField": ["POINTS", "none"]}, ("Critical Field",)),
    ("waves", "image", {"CriticalField": ["CELLS", "of cells"]}, ("Cell Data to Point Data",)),
    ("waves", "image", {"CenterTolerance": 2.0}, ("Center Tolerance",)),
    ("waves", "image", {"CenterTolerance": float("nan")}, ("Center Tolerance",)),
    ("wide", "image", {}, ("4 components",)),
    ("line", "image", {}, ("2 or 3 dimensions", "choose an input")),
    ("waves", "overlapping", {}, ("overlap", "ghost cells")),
    ("waves", "strange", {}, ("ghost cells",)),
    ("waves", "bent", {}, ("plane",)),
    ("waves", "quadratic", {}, ("Tetrahedralize",)),
    ("turn", "levels", {}, ("levels of refinement",)),
    ("waves", "moving", {}, ("mesh", "last step")),
    ("waves", "beyond", {}, ("has point 1000000", "repair")),
    ("waves", "negative", {}, ("has point -1", "repair")),
)

points = counted("NumberOfCriticalPoints", TIMES[-1])


def main():
    refusals = check.Refusals("vtkAsyncFeatureTracker", points)
    right = fields.source(simple, "waves", "image", TIMES, 6)
    proxy = check.tracked(right, Features="Critical Points", **GOOD)
    usual = points(proxy)
    assert usual == len(fields.brute_force("waves", TIMES[-1])), f"{usual} critical points"
    for field, mesh, properties, words in CASES:
        case = f"{field}, {mesh}, {properties}"
        source = films.source if mesh == "levels" else fields.source
        wrong = source(simple, field, mesh, TIMES, 6)
        proxy.Input = wrong
        for key, value in properties.items():
            setattr(proxy, key, value)
        refusals.refused(case, proxy, words)
        proxy.Input = right
        for key, value in GOOD.items():
            setattr(proxy, key, value)
        refusals.cured(case, proxy, usual)
        check.delete(wrong)
    thin = simple.ExtractSubset(Input=simple.Wavelet(), VOI=[-10, 10, -10, 10, 0, 1])
    flat = simple.Calculator(Input=thin, Function="sin(coordsX) + sin(coordsY)", ResultArrayName="field")
    proxy.Input = flat
    refusals.warned("a mesh one cell thick", proxy, 0, ("one cell thick along Z", "apply Slice"))
    flat.Function = "sin(coordsX) - sin(coordsY)"  # as in a later step: said once until a property changes
    proxy.UpdatePipeline()
    refusals.silent("other data of a mesh one cell thick")
    assert not refusals.failures, "\n  ".join(refusals.failures)


if __name__ == "__main__":
    check.run(__file__)
