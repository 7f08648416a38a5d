# SPDX-License-Identifier: BSD-3-Clause
"""Runs the Catalyst script of Docs/Start/InSitu.md as printed, with a simulation of a few steps: a vortex whose pressure
is lowest in the middle, which moves.

Every rank runs this script (pvbatch --sym).
"""

import os
import re
import sys

import check
import numpy as np
from mpi4py import MPI
from paraview.catalyst import bridge
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkIOXML import vtkXMLPPolyDataReader

COMM = MPI.COMM_WORLD
PAGE = os.path.join(check.SOURCE, "Docs", "Start", "InSitu.md")
STEPS = range(0, 400, 50)
FEATURES = 2  # output of Async Feature Tracker


def script():
    """The file with the snippet, in which the plugin's path is that of this build."""
    with open(PAGE, encoding="utf-8") as file:
        snippet = re.search(r"^```py\n(.*?)^```$", file.read(), re.MULTILINE | re.DOTALL).group(1)
    assert "<path>/Tributary.so" in snippet, "the snippet does not load the plugin"
    if COMM.rank == 0:
        with open("pipeline.py", "w", encoding="utf-8") as file:
            file.write(snippet.replace("<path>/Tributary.so", os.environ["TRIBUTARY_PLUGIN"]))
    COMM.barrier()
    return os.path.abspath("pipeline.py")


def set_arrays(data, step):
    """The velocity turns about the z axis; the pressure is above 1 in a ball that moves."""
    x, y, z = vtk_to_numpy(data.GetPoints().GetData()).astype(float).T
    velocity = np.stack([3 - y, x - 3, 0 * z], axis=-1)
    pressure = 2 - (x - 2 - step / 200) ** 2 - (y - 3) ** 2 - (z - 3) ** 2
    for name, values in (("U", velocity), ("pressure", pressure)):
        array = numpy_to_vtk(np.ascontiguousarray(values), deep=True)
        array.SetName(name)
        data.GetPointData().AddArray(array)
    data.Modified()


def points_of(file):
    reader = vtkXMLPPolyDataReader()
    reader.SetFileName(file)
    reader.Update()
    return reader.GetOutput().GetNumberOfPoints()


def features():
    """The rows of the tracker's table on all ranks."""
    tracks = sys.modules["pipeline"].tracks.GetClientSideObject()
    return COMM.allreduce(tracks.GetOutputDataObject(FEATURES).GetNumberOfRows())


def main():
    os.chdir(check.OUTPUT)
    data = check.flows.build(COMM.rank, COMM.size, mesh="tetrahedra", size=12)
    bridge.initialize()
    bridge.add_pipeline(script(), 2)
    for step in STEPS:
        set_arrays(data, step)
        bridge.coprocess(step / 100, step, data, name="grid")
        assert features() == 1, f"{features()} features in step {step}"
    bridge.finalize()
    if COMM.rank == 0:
        points = [points_of(f"paths{step}.pvtp") for step in (100, 300)]
        assert 0 < points[0] < points[1], f"the paths have {points} points"
    COMM.barrier()


if __name__ == "__main__":
    check.run(__file__)
