# SPDX-License-Identifier: BSD-3-Clause
"""Async Convection Diffusion with wrong input: one message on one rank that names the cause, empty outputs, no
hang, and a pipeline that works again.
"""

import check
import grids

NAN = float("nan")
INFINITE = float("inf")

# A flow with arrays that are wrong in a place that one rank has.
_SCRIPT = """
flow = np.ones((n, 3))
add("flow", flow)
bad = flow.copy()
bad[(coordinates == coordinates.max(axis=0)).all(axis=1)] = np.nan
add("torn", bad)
add("flat", flow[:, :2])
add("rate", np.ones(n))
hole = np.ones(n)
hole[:1] = np.inf
add("hole", hole)
"""


def total(proxy):
    """Of the concentration, or None where there is no output."""
    proxy.UpdatePipeline(1.0)
    output = proxy.GetClientSideObject().GetOutputDataObject(0)
    sums = output.GetFieldData().GetArray("ConcentrationTotal")
    return sums and sums.GetValue(0)


def large_steps(refusals, data, good):
    """Steps through many cells: one warning, with the number of cells and two cures."""
    proxy = check.carried(data, **{**good, "TimeStep": 25.0})
    cells = 25 * 3  # of width 1, in a flow of (1, 1, 1)
    words = (f"passes {cells} cells", f"set Time Step to {25 / cells:.6g} or less", "Maximum Courant Number to 1")
    large = check.Refusals("vtkAsyncConvectionDiffusion", lambda proxy: proxy.UpdatePipeline(50.0) or 1)
    large.warned("a large Courant number", proxy, 1, words)
    proxy.UpdatePipeline(0.0)  # from which it starts again, with nothing new to say
    proxy.UpdatePipeline(25.0)
    large.silent("a large Courant number")
    proxy.MaximumCourantNumber = 25.0
    large.cured("a large Courant number", proxy, 1)
    refusals.failures += large.failures
    check.delete(proxy)


def main():
    refusals = check.Refusals("vtkAsyncConvectionDiffusion", total)
    data = grids.image_with_arrays(_SCRIPT)
    good = {
        "Velocity": ["POINTS", "flow"], "TimeStep": 0.5, "NumberOfSteps": 2, "SourceType": "Sphere",
        "SourceCenter": [4.0, 4.0, 4.0], "SourceRadius": 2.0,
    }
    proxy = check.carried(data, **good)
    usual = total(proxy)
    assert usual and usual > 1, usual
    source = {"SourceType": "Array", "SourceArray": ["POINTS", "rate"]}
    initial = {"UseInitialConcentration": 1, "InitialConcentration": ["POINTS", "rate"]}
    box = {"SourceType": "Box"}
    defaults = {
        "Diffusivity": 0.0, "Decay": 0.0, "XMinCondition": "Outflow", "XMinValue": 0.0,
        "UseInitialConcentration": 0, "SourceBounds": [0, 1, 0, 1, 0, 1], "SourceRate": 1.0,
        "ResidualThreshold": 1e-6, "IterationLimit": 10000000, "StopAt": "Number Of Steps",
        "MaximumCourantNumber": 0.0, "SweepsPerExchange": 2, "Slabs": 0, **good,
    }
    cases = (
        ("Velocity", ["POINTS", "none"], ("Velocity",), {}),
        ("Velocity", ["POINTS", "flat"], ("Velocity", "3 components"), {}),
        ("Velocity", ["POINTS", "rate"], ("Velocity",), {}),
        ("Velocity", ["POINTS", "torn"], ("velocity", "not finite", "with Velocity"), {}),
        ("Diffusivity", -0.1, ("Diffusivity is -0.1",), {}),
        ("Diffusivity", NAN, ("Diffusivity",), {}),
        ("Decay", -1.0, ("Decay is -1",), {}),
        ("TimeStep", 0.0, ("Time Step is 0",), {}),
        ("TimeStep", -1.0, ("Time Step is -1",), {}),
        ("TimeStep", NAN, ("Time Step",), {}),
        ("TimeStep", 5e-324, ("Time Step is", "1e-300 or more"), {}),
        ("NumberOfSteps", 0, ("Number Of Steps is 0",), {}),
        ("NumberOfSteps", 1000001, ("Number Of Steps is 1000001",), {}),
        ("EndTime", -1.0, ("End Time is -1",), {"StopAt": "End Time"}),
        ("EndTime", INFINITE, ("End Time",), {"StopAt": "End Time"}),
        ("MaximumCourantNumber", -1.0, ("Maximum Courant Number",), {}),
        ("MaximumCourantNumber", 1e-9, ("Maximum Courant Number",), {}),
        ("XMinCondition", "Periodic", ("X Min Condition", "opposite"), {}),
        ("XMinValue", NAN, ("X Min Value",), {}),
        ("SourceRate", NAN, ("Source Rate",), {}),
        ("SourceRadius", 0.0, ("Source Radius",), {}),
        ("SourceCenter", [100.0, 0.0, 0.0], ("no visible cell",), {}),
        ("SourceCenter", [NAN, 0.0, 0.0], ("Source Center",), {}),
        ("SourceBounds", [1, 0, 0, 1, 0, 1], ("Source Bounds",), box),
        ("SourceType", "Data", ("Source Type is Data", "connect Source"), {}),
        ("SourceArray", ["POINTS", "none"], ("Source Array",), source),
        ("SourceArray", ["POINTS", "hole"], ("source", "not finite"), source),
        ("InitialConcentration", ["POINTS", "flow"], ("Initial Concentration",), initial),
        ("InitialConcentration", ["POINTS", "hole"], ("initial", "not finite"), initial),
        ("ResidualThreshold", 0.0, ("Residual Threshold",), {}),
        ("ResidualThreshold", NAN, ("Residual Threshold",), {}),
        ("IterationLimit", 0, ("Iteration Limit",), {}),
        ("IterationLimit", 1, ("the residual is", "Iteration Limit"), {"Diffusivity": 9.0}),
        ("SweepsPerExchange", 0, ("Sweeps Per Exchange",), {}),
        ("SweepsPerExchange", 1001, ("Sweeps Per Exchange is 1001", "[1, 1000]"), {}),
        ("Slabs", -1, ("Slabs",), {}),
    )
    grids.refuse_and_cure(refusals, proxy, usual, cases, defaults, 1e-3)
    grids.refuse_other_data(refusals, data, lambda other: check.carried(other, **{**good, "SourceType": "None"}))
    large_steps(refusals, data, good)
    assert not refusals.failures, "\n  ".join(refusals.failures)


if __name__ == "__main__":
    check.run(__file__)
