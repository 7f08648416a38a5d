# SPDX-License-Identifier: BSD-3-Clause
"""The filters under attack: their proxies, good properties, and what is promised of their outputs."""

from dataclasses import dataclass


@dataclass
class Filter:
    """good    properties with which the filter works on good data
    exact   the outputs have the same bits on any number of ranks
    adds    beginnings of the names of arrays that it adds to its input, whose bits are compared; none for all arrays
    times   of the data
    asked   the times that are requested of the filter, if they are not those of the data
    seeds   the second input has the seeds of lines
    finite  arrays of the outputs without NaN and Inf
    sums    the array whose sum is compared if outputs are not exact
    grids   the filter takes structured grids only
    spared  properties that the attack does not change
    cut     the filter may output a grid, of which each rank has an extent; extents share points"""

    name: str
    proxy: str
    good: dict
    exact: bool = True
    adds: tuple = ()
    times: tuple = (0.0,)
    asked: tuple = ()
    seeds: bool = False
    finite: tuple = ()
    sums: str = ""
    grids: bool = False
    spared: tuple = ()
    cut: bool = False


def array(index, association, name):
    """The elements of SetInputArrayToProcess; association: 0 for points, 1 for cells."""
    return [str(index), "", "", str(association), name]


_ADDED = ("RegionId", "TrackId")
_REGIONS = {"ScalarConnectivity": [1], "SelectInputScalars": array(0, 1, "scalar"), "ScalarRange": [0.5, 3.0]}

FILTERS = {
    f.name: f
    for f in (
        Filter(
            "StreamTracer",
            "AsyncStreamTracerWithCustomSource",
            {"SelectInputVectors": array(0, 0, "velocity"), "MaximumPropagation": [6.0],
             "MaximumNumberOfSteps": [200]},
            seeds=True,
            finite=("IntegrationTime",),
        ),
        Filter(
            "Components",
            "AsyncStreamTracerWithCustomSource",
            {"VelocityForm": [1], "SelectXComponent": array(1, 0, "scalar"), "SelectYComponent": array(2, 0, "holes"),
             "SelectZComponent": array(3, 0, "label"), "Coordinates": [1], "SphereRadius": [57.3],
             "MaximumPropagation": [6.0], "MaximumNumberOfSteps": [200]},
            seeds=True,
            finite=("IntegrationTime",),
        ),
        Filter(
            "PathTracer",
            "AsyncPathTracer",
            {"SelectInputVectors": array(0, 0, "velocity"), "MaximumNumberOfSteps": [200],
             "ForceReinjectionEveryNSteps": [1]},
            times=(0.0, 1.0),
            seeds=True,
            finite=("SimulationTime", "ParticleAge"),
            spared=("CheckpointDirectory",),
        ),
        Filter(
            "FlowMap",
            "AsyncFlowMap",
            {"SelectInputVectors": array(0, 0, "velocity"), "MaximumNumberOfSteps": [40], "Seeds": [1],
             "SamplingDimensions": [3, 3, 2], "IntegrationTime": [0.75]},
            adds=("FlowMap", "FTLE", "EndTime", "ReasonForTermination", "vtkValidPointMask"),
            times=(0.0, 1.0),
            asked=(0.0,),
            cut=True,
            spared=("CheckpointDirectory",),
        ),
        Filter("Connectivity", "AsyncConnectivity", _REGIONS, adds=_ADDED),
        Filter(
            "FeatureTracker",
            "AsyncFeatureTracker",
            _REGIONS,
            adds=_ADDED,
            times=(0.0, 1.0),
            spared=("CheckpointDirectory",),
        ),
        Filter(
            "CriticalPoints",
            "AsyncFeatureTracker",
            {"Features": [1], "SelectCriticalField": array(3, 0, "scalar")},
            adds=_ADDED,
            times=(0.0, 1.0),
            spared=("CheckpointDirectory",),
        ),
        Filter(
            "ConvectionDiffusion",
            "AsyncConvectionDiffusion",
            {"SelectVelocity": array(0, 0, "velocity"), "SourceType": [2], "SourceCenter": [3.0, 2.0, 1.5],
             "SourceRadius": [2.0], "NumberOfSteps": [2], "TimeStep": [0.1], "IterationLimit": [1000000]},
            exact=False,
            asked=(0.2,),
            finite=("Concentration",),
            sums="Concentration",
            grids=True,
        ),
        Filter("HarmonicFill", "AsyncHarmonicFill", {"PointArrays": ["holes"]}, exact=False, sums="holes", grids=True),
    )
}
