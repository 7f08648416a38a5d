# SPDX-License-Identifier: BSD-3-Clause
"""A chart of what each rank of a filter did, and when.

    mpirun -n 4 pvbatch Examples/gantt.py            # a run of Async Stream Tracer
    pvpython Examples/gantt.py <timeline>            # any other run

Filters with the property Timeline File write a timeline. Without one the script makes it, with streamlines of
Data/tjunction.pvtu. Prints the seconds of each activity on each rank; writes gantt.svg.
"""
import os
import sys

from paraview.simple import *

LoadPlugin(os.environ["TRIBUTARY_PLUGIN"], ns=globals())
import tributary

if len(sys.argv) > 1:
    run = sys.argv[1]
else:
    folder = os.path.dirname(os.path.abspath(__file__))
    flow = OpenDataFile(os.path.join(folder, "..", "Data", "tjunction.pvtu"))
    flow.UpdatePipeline()  # the length of lines is taken from its bounds
    run = AsyncStreamTracer(Input=flow, Vectors=["POINTS", "U"], SeedType="Point Cloud")
    run.SeedType.Center, run.SeedType.Radius, run.SeedType.NumberOfPoints = [0.1, 0, 0.01], 0.01, 1000
print(tributary.text(tributary.gantt(run, "gantt.svg")), flush=True)
