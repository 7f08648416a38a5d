# SPDX-License-Identifier: BSD-3-Clause
"""The inputs of the client test, as sources of the pipeline."""
import os
import sys

from paraview.simple import *

DATA = os.path.join(os.environ["TRIBUTARY_SOURCE"], "Data")
sys.path.insert(0, DATA)

from drops import write  # noqa: E402  (found on the path set above)


def channel():
    """The flow through a T-junction."""
    return XMLPartitionedUnstructuredGridReader(FileName=[os.path.join(DATA, "tjunction.pvtu")])


def inlet():
    """Seeds across the channel."""
    return Line(Point1=[0.02, -0.009, 0.01], Point2=[0.02, 0.009, 0.01], Resolution=20)


def sampled_channel():
    """The flow in the plane in the middle of the channel."""
    velocity = PassArrays(Input=channel(), PointDataArrays=["U"])
    bounds = [0, 0.22, -0.21, 0.21, 0.01, 0.01]
    return ResampleToImage(
        Input=velocity, UseInputBounds=0, SamplingBounds=bounds, SamplingDimensions=[60, 120, 1])


def drops():
    """The dam break on a mesh that changes in each of 15 time steps."""
    file = os.path.join(os.environ["TRIBUTARY_OUTPUT"], "drops", "drops.pvd")
    if not os.path.exists(file):
        write(os.path.dirname(file), pieces=3)
    return PVDReader(FileName=file)


def splash():
    """The cells with water in the last step: a large part and drops."""
    return Threshold(Input=drops(), Scalars=["CELLS", "alpha.water"], LowerThreshold=0.5, UpperThreshold=1)


def water():
    """Seeds in the water of the first step."""
    return PointSource(Center=[0.5, 0.5, 0.3], Radius=0.3, NumberOfPoints=500)


def holes():
    """A plane image whose largest values are not a number."""
    image = Wavelet(WholeExtent=[-30, 30, -30, 30, 0, 0])
    return ProgrammableFilter(Input=image, CopyArrays=1, Script="""
import numpy
values = numpy.array(inputs[0].PointData["RTData"], dtype=float)
values[values > 200] = numpy.nan
output.PointData.append(values, "holes")
""")
