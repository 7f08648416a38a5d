# SPDX-License-Identifier: BSD-3-Clause
"""Async Harmonic Fill with wrong input: one message on one rank that names the cause, empty outputs, no hang,
and a pipeline that works again.
"""

import numpy as np

import check
import grids

NAN = float("nan")

# Arrays that are wrong in a place that one rank has.
_SCRIPT = """
hole = ((coordinates - 4) ** 2).sum(axis=1) < 6
u = coordinates[:, 0] + coordinates[:, 1] * coordinates[:, 2]
add("u", np.where(hole, np.nan, u))
add("mask", hole.astype(np.uint8))
add("everything", np.ones(n))
add("pair", np.ones((n, 2)))
add("none known", np.full(n, np.nan))
far = np.where(hole, np.nan, u)
far[(coordinates == [4, 4, 1]).all(axis=1)] = np.inf
add("far", far)
farther = np.where(hole, np.nan, u)
farther[(coordinates == [4, 4, 0]).all(axis=1)] = np.inf
add("farther", farther)
add("level", np.ones(cells), image.GetCellData())
add("flag", np.ones(1), image.GetFieldData())
"""


def filled(proxy):
    """How many values were, or None where there is no output."""
    proxy.UpdatePipeline()
    output = proxy.GetClientSideObject().GetOutputDataObject(0)
    counts = output.GetFieldData().GetArray("FilledValues")
    return counts and (counts.GetValue(0) if counts.GetNumberOfValues() else 0)


def bits_of(proxy, name):
    """The bits of a point array on this rank."""
    output = proxy.GetClientSideObject().GetOutputDataObject(0)
    return [check.arrays(leaf.GetPointData())[name].tobytes() for leaf in grids.leaves(output)]


def nothing_known(refusals, data, defaults):
    """An array without a known value, at a step of many: one warning that names it, and all others are filled."""
    # Asynchronous iterations on several ranks do not repeat their bits.
    proxy = check.filled(data, **defaults, Schedule="Synchronous")
    usual, bits = filled(proxy), bits_of(proxy, "u")
    proxy.PointArrays = ["none known", "u"]
    refusals.warned("an array without a known value", proxy, usual, ('the point array "none known": all values', "Unknown"))
    assert bits_of(proxy, "u") == bits, "the other array has another result"
    for found in bits_of(proxy, "none known"):
        assert np.isnan(np.frombuffer(found)).all(), "an array without a known value is filled"
    proxy.PointArrays = ["u"]
    refusals.cured("an array without a known value", proxy, usual)
    proxy.PointArrays = ["pair"]
    refusals.warned("an array without an unknown value", proxy, 0, ('"pair"', "no value is unknown", "set Unknown"))
    check.delete(proxy)


def main():
    refusals = check.Refusals("vtkAsyncHarmonicFill", filled)
    data = grids.image_with_arrays(_SCRIPT)
    defaults = {
        "PointArrays": ["u"], "CellArrays": [], "Smoothness": "Harmonic", "Unknown": "Not A Number", "Mask": ["POINTS", "mask"],
        "UnknownValue": -9999.0, "Tolerance": 1e-6, "CycleLimit": 1000, "IterationLimit": 10000,
        "SweepsPerExchange": 1,
    }
    proxy = check.filled(data, **defaults)
    usual = filled(proxy)
    assert usual and usual > 20, usual
    masked, bent = {"Unknown": "Mask"}, {"Smoothness": "Biharmonic"}
    cases = (
        ("PointArrays", ["missing"], ('the point array "missing"', "Point Arrays"), {}),
        ("CellArrays", ["missing"], ('the cell array "missing"', "Cell Arrays"), {}),
        ("CellArrays", ["u"], ('the cell array "u"',), {}),
        ("PointArrays", ["none known"], ("nothing is known", '"none known"'), {}),
        ("PointArrays", ["far"], ('"far"', "not finite"), {}),
        ("PointArrays", ["far"], ('"far"', "within two sites", "not finite"), bent),
        ("PointArrays", ["farther"], ('"farther"', "within two sites", "not finite"), bent),
        ("CycleLimit", 1, ("the residual of", "its correction", "Cycle Limit", "Smoothness"), bent),
        ("Tolerance", 1e-300, ("the residual of", '"u"', "Tolerance", "Smoothness"), bent),
        ("Mask", ["POINTS", "everything"], ("nothing is known", '"u"'), masked),
        ("Mask", ["POINTS", "missing"], ("Mask",), masked),
        ("Mask", ["POINTS", "pair"], ("Mask", "1 component"), masked),
        ("Mask", ["FIELD", "flag"], ("Mask", "points or cells"), masked),
        ("Mask", ["CELLS", "level"], ("mask belongs to cells", "Mask of points"), masked),
        ("UnknownValue", NAN, ("Unknown Value",), {"Unknown": "Value"}),
        ("Tolerance", 0.0, ("Tolerance is 0",), {}),
        ("Tolerance", -1.0, ("Tolerance is -1",), {}),
        ("Tolerance", NAN, ("Tolerance",), {}),
        ("Tolerance", 1e-300, ("the residual of", '"u"', "Tolerance"), {"IterationLimit": 10}),
        ("CycleLimit", 0, ("Cycle Limit is 0",), {}),
        ("IterationLimit", 0, ("Iteration Limit is 0",), {}),
        ("IterationLimit", 1, ("the residual of", "Iteration Limit"), {"CycleLimit": 1}),
        ("SweepsPerExchange", 0, ("Sweeps Per Exchange is 0",), {}),
        ("SweepsPerExchange", 1001, ("Sweeps Per Exchange is 1001", "[1, 1000]"), {}),
    )
    grids.refuse_and_cure(refusals, proxy, usual, cases, defaults)
    nothing_known(refusals, data, defaults)
    grids.refuse_other_data(refusals, data, check.filled)
    assert not refusals.failures, "\n  ".join(refusals.failures)


if __name__ == "__main__":
    check.run(__file__)
