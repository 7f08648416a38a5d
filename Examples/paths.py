# SPDX-License-Identifier: BSD-3-Clause
"""Paths of particles in the water of a dam break, by Async Path Tracer.

    pvpython Data/drops.py build/drops 4
    mpirun -n 4 pvbatch Examples/paths.py build/drops/drops.pvd

The data are an OpenFOAM result of 15 time steps, on a mesh that is refined at the surface of the water and changes
in each step. Prints the number of paths and where they have gone; writes paths.pvtp and paths.png.
"""
import os
import sys

from paraview.simple import *

LoadPlugin(os.environ["TRIBUTARY_PLUGIN"], ns=globals())

series = OpenDataFile(sys.argv[1])
seeds = Plane(Origin=[0.35, 0.05, 0.05], Point1=[0.35, 0.95, 0.05], Point2=[0.35, 0.05, 0.45])
seeds.XResolution, seeds.YResolution = 18, 8
paths = AsyncPathTracer(Input=series, SeedSource=seeds, Vectors=["CELLS", "U"])
end = series.TimestepValues[-1]
paths.UpdatePipeline(end)
size = paths.GetDataInformation()
print("%d paths with %d points until %g s" % (size.GetNumberOfCells(), size.GetNumberOfPoints(), end), flush=True)
SaveData("paths.pvtp", paths, DataMode="Binary")

LoadPalette("WhiteBackground")
view = CreateRenderView(ViewSize=[900, 700], OrientationAxesVisibility=0)
view.ViewTime = end
tank = Show(Outline(Input=series), view)
tank.AmbientColor = tank.DiffuseColor = [0.6, 0.6, 0.6]
drawn = Show(Tube(Input=paths, Radius=0.003), view)
ColorBy(drawn, ("POINTS", "ParticleAge"))
drawn.LookupTable.ApplyPreset("Viridis (matplotlib)", True)
drawn.SetScalarBarVisibility(view, True)
view.CameraPosition = [2.9, 2.3, 1.6]
view.CameraFocalPoint = [0.5, 0.55, 0.42]
view.CameraViewUp = [0, 0, 1]
SaveScreenshot("paths.png", view)
