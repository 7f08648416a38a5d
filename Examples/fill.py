# SPDX-License-Identifier: BSD-3-Clause
"""Missing data, filled by Async Harmonic Fill with both values of Smoothness.

    mpirun -n 4 pvbatch Examples/fill.py

The data are hills on the points of an image; a disc and a strip of them are missing. Prints the maximum error of both
fills; writes fill.pvti, the second one, and fill.png, with values shown as heights: the known values, the fills with
Smoothness Harmonic and Biharmonic, and the original hills.
"""
import os

from paraview.simple import *

LoadPlugin(os.environ["TRIBUTARY_PLUGIN"], ns=globals())

HALF = 100  # cells
x, y = f"(coordsX/{HALF})", f"(coordsY/{HALF})"  # from -1 to 1
grid = Wavelet(WholeExtent=[-HALF, HALF, -HALF, HALF, 0, 0])
hills = Calculator(
    Input=grid, ResultArrayName="hills",
    Function=f"{0.4 * HALF}*(cos(2.5*{x})*cos(2*{y}-0.5)+0.3*sin(5*{x}))")
heights = Calculator(Input=hills, ResultArrayName="height", Function="hills")
gaps = Calculator(Input=heights, ResultArrayName="missing", Function=f"max({x}*{x}+{y}*{y}<0.16,abs({y}-0.7)<0.1)")
known = Threshold(Input=gaps, Scalars=["POINTS", "missing"], ThresholdMethod="Below Lower Threshold")
known.LowerThreshold = 0.5
harmonic, biharmonic = [
    AsyncHarmonicFill(
        Input=gaps, PointArrays=["height"], Unknown="Mask", Mask=["POINTS", "missing"], Smoothness=smoothness)
    for smoothness in ("Harmonic", "Biharmonic")
]
for filled in harmonic, biharmonic:
    error = Calculator(Input=filled, ResultArrayName="error", Function="abs(height-hills)")
    error.UpdatePipeline()
    low, high = error.PointData["hills"].GetRange()
    print("%s: maximum error %.3f of the height of the hills" % (
        filled.Smoothness, error.PointData["error"].GetRange()[1] / (high - low)), flush=True)
SaveData("fill.pvti", biharmonic, DataMode="Binary")

LoadPalette("WhiteBackground")
view = CreateRenderView(ViewSize=[1680, 340], OrientationAxesVisibility=0, CameraParallelProjection=1)
for number, (source, array) in enumerate(
        ((known, "height"), (harmonic, "height"), (biharmonic, "height"), (gaps, "hills"))):
    surface = WarpByScalar(Input=source, Scalars=["POINTS", array], UseNormal=1, Normal=[0, 0, 1])
    drawn = Show(surface, view, Representation="Surface", Position=[2.4 * HALF * number, 0, 0])
    ColorBy(drawn, ("POINTS", array))
    drawn.LookupTable.ApplyPreset("Viridis (matplotlib)", True)
    drawn.LookupTable.RescaleTransferFunction(low, high)
view.CameraPosition = [3.6 * HALF, -3 * HALF, 2.6 * HALF]
view.CameraFocalPoint = [3.6 * HALF, 0, 0]
view.CameraViewUp = [0, 0, 1]
view.CameraParallelScale = HALF
SaveScreenshot("fill.png", view)
