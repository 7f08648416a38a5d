# SPDX-License-Identifier: BSD-3-Clause
"""Async Flow Map with wrong input: one message on one rank that names the cause, empty outputs, no hang, and a
pipeline that works again. Windows and seeds that leave nothing to compute: one warning.

Every rank runs this script (pvbatch --sym).
"""

import check
from unsteady import COMM, source
from vtkmodules.util.numpy_support import vtk_to_numpy

TIMES = [0.0, 0.5, 1.0]
NAN = float("nan")


def value_at(when):
    def value(proxy):
        """The number of points of all ranks, or None without output."""
        proxy.UpdatePipeline(when)
        output = proxy.GetClientSideObject().GetOutputDataObject(0)
        found = output.GetFieldData().GetArray("AsyncFlowMap Points")
        return int(vtk_to_numpy(found).sum()) if found else None

    return value


def main():
    refusals = check.Refusals("vtkAsyncFlowMap", value_at(0.0))
    data = source("turn", TIMES, mesh="image", size=9)
    proxy = check.flow_map(data, SamplingDimensions=[5, 4, 1])
    usual = value_at(0.0)(proxy)
    # Two ranks have the 4 points between their extents. Each rank would have all if it were not asked for its piece.
    assert usual == 20 + 4 * (COMM.size - 1), f"{usual} points"
    proxy.SamplingBounds = [1.0, 0.0, 0.0, 1.0, 0.0, 1.0]  # not used
    refusals.properties(proxy, usual, (
        ("IntegrationTime", 0.0, 1.0, ("Integration Time is 0",)),
        ("IntegrationTime", NAN, 1.0, ("Integration Time",)),
        ("IntegrationTime", float("inf"), 1.0, ("Integration Time",)),
        ("SamplingDimensions", [0, 4, 1], [5, 4, 1], ("Sampling Dimensions",)),
        ("SamplingDimensions", [5, -4, 1], [5, 4, 1], ("Sampling Dimensions",)),
        ("SamplingDimensions", [1, 1, 1], [5, 4, 1], ("Sampling Dimensions", "one axis")),
        ("SamplingDimensions", [2**31 - 1] * 3, [5, 4, 1], ("Sampling Dimensions", "1e15")),
        ("SamplingDimensions", [100000] * 3, [5, 4, 1], ("memory",)),
        ("UseInputBounds", 0, 1, ("Sampling Bounds",)),
        ("SeedsPerBatch", 0, 200000, ("Seeds Per Batch",)),
        ("KeptTimeSteps", -1, 4, ("Kept Time Steps",)),
        ("InitialStepLength", 0.0, 0.2, ("Initial Step Length",)),
        ("MaximumError", 0.0, 1e-6, ("Maximum Error",)),
        ("MaximumSteps", -1, 2000, ("Maximum Steps",)),
        ("TerminalSpeed", -1.0, 0.0, ("Terminal Speed",)),
        ("BlocksPerRank", 0, 1, ("Blocks Per Rank",)),
        ("LendingMemory", -1, 512, ("Lending Memory",)),
        ("Vectors", ["POINTS", "none"], ["POINTS", "velocity"], ("Vectors",)),
        ("Vectors", ["POINTS", "height"], ["POINTS", "velocity"], ("Vectors",)),
    ))
    proxy.Window = "From First Time Step"
    refusals.properties(proxy, usual, (
        ("IntegrationTime", -1.0, 1.0, ("Integration Time", "From Current Time")),
        ("CheckpointInterval", 0, 1, ("Checkpoint Interval",)),
    ))
    proxy.Window = "From Current Time"
    proxy.Seeds = "Points of Input"
    proxy.AuxiliaryDistance = -1.0
    refusals.refused("AuxiliaryDistance = -1", proxy, ("Auxiliary Distance",))
    proxy.AuxiliaryDistance = 0.0
    proxy.Seeds = "Resampled Grid"
    refusals.cured("AuxiliaryDistance = -1", proxy, usual)

    other = source("turn", TIMES, mesh="image", size=9,
                   after="if time == 1.0 and rank == ranks - 1: output.GetPointData().RemoveArray('velocity')")
    wrong = check.flow_map(other, SamplingDimensions=[5, 4, 1])
    refusals.refused("vectors missing at a step", wrong, ("vectors", "the time 0.5", "the time 1"))
    check.delete(wrong, other)

    flat = source("gyre", TIMES, flow="double_gyre", mesh="image", size=9)
    wrong = check.flow_map(flat, SamplingDimensions=[5, 4, 2])
    refusals.refused("a grid through flat data", wrong, ("Sampling Dimensions", "along Z", "flat"))
    wrong.SamplingDimensions = [5, 4, 1]
    refusals.cured("a grid through flat data", wrong, usual)
    check.delete(wrong, flat)

    late = source("turn", [1e17, 1.1e17], mesh="image", size=9)
    wrong = check.flow_map(late, SamplingDimensions=[5, 4, 1], IntegrationTime=1.0)
    for window in ("From Current Time", "From First Time Step"):
        wrong.Window = window
        refusals.refused(f"a window {window} lost in rounding", wrong, ("Integration Time", "rounding"))
    check.delete(wrong, late)

    stuck = source("turn", TIMES, mesh="image", size=9, after="time = 0.25")
    wrong = check.flow_map(stuck, SamplingDimensions=[5, 4, 1])
    refusals.refused("an input at another time", wrong, ("0.25", "Integration Time"))
    check.delete(wrong, stuck)

    # Warnings.
    alone = source("turn", [0.0], mesh="image", size=9)
    wrong = check.flow_map(alone, SamplingDimensions=[5, 4, 1], Window="From First Time Step")
    refusals.warned("one time step", wrong, usual, ("single time step", "From Current Time"))
    check.delete(wrong, alone)
    warned = check.Refusals("vtkAsyncFlowMap", value_at(0.5))
    warned.warned("a window beyond the steps", proxy, usual, ("end at 1", "shorter Integration Time"))
    at_end = check.Refusals("vtkAsyncFlowMap", value_at(1.0))
    at_end.warned("a window after the steps", proxy, usual, ("end at 1", "FTLE is not defined"))
    proxy.UseInputBounds = 0
    proxy.SamplingBounds = [70.0, 71.0, 0.0, 1.0, 0.0, 1.0]
    inside = check.Refusals("vtkAsyncFlowMap", value_at(0.0))
    inside.warned("seeds outside", proxy, usual, ("outside",))
    proxy.UseInputBounds = 1
    proxy.MaximumSteps = 0
    inside.warned("few steps", proxy, usual, ("Maximum Steps",))
    proxy.MaximumSteps = 2000
    holes = source("turn", TIMES, mesh="image", size=9,
                   after="if time == 1.0: output.GetPointData().GetArray('velocity').Fill(float('nan'))")
    alone = check.flow_map(holes, SamplingDimensions=[5, 4, 1])
    failures = refusals.failures + warned.failures + at_end.failures + inside.failures
    inside._messages.take()
    value_at(0.0)(alone)
    said = "".join(inside._messages.take())
    if "not finite" not in said or "ERR|" in said:
        failures.append(f"vectors that are not finite: {said}")
    check.delete(alone, holes)
    assert not failures, "\n  ".join(failures)


if __name__ == "__main__":
    check.run(__file__)
