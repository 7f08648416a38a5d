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
    return ResampleToImage(Input=channel(), SamplingDimensions=[60, 60, 10])


def splash():
    """The surface of the water in a dam break: a large part and drops."""
    reader = XMLPartitionedUnstructuredGridReader(FileName=[os.path.join(DATA, "dambreak.pvtu")])
    return Contour(Input=reader, ContourBy=["POINTS", "alpha.water"], Isosurfaces=[0.5])


def drops():
    """The dam break on a mesh that changes in each of 15 time steps."""
    folder = os.path.join(os.environ["TRIBUTARY_OUTPUT"], "drops")
    return PVDReader(FileName=write(folder, pieces=3))


def water():
    """Seeds in the water of the first step."""
    return PointSource(Center=[0.5, 0.5, 0.3], Radius=0.3, NumberOfPoints=500)


def holes():
    """An image whose largest values are not a number."""
    return ProgrammableFilter(Input=Wavelet(), CopyArrays=1, Script="""
import numpy
values = numpy.array(inputs[0].PointData["RTData"], dtype=float)
values[values > 200] = numpy.nan
output.PointData.append(values, "holes")
""")
