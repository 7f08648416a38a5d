# SPDX-License-Identifier: BSD-3-Clause
"""Missing data, filled by Async Harmonic Fill with both values of Smoothness.

    xvfb-run -a -s -noreset mpirun -n 2 pvbatch Examples/fill.py --plugin <Tributary.so> --output <folder>

The data are hills, which the script generates on the points of an image; a disc and a strip of them
are missing. Writes fill.png, with values shown as heights: the known values, the fills with
Smoothness Harmonic and Biharmonic, and the original hills. Prints the maximum error of both fills.
"""
import argparse
import os

from paraview.simple import *
from vtkmodules.vtkFiltersCore import vtkImageAppend
from vtkmodules.vtkIOImage import vtkPNGReader, vtkPNGWriter

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
parser.add_argument("--plugin", default=os.environ.get("TRIBUTARY_PLUGIN"), help="Tributary.so")
parser.add_argument("--output", default=".", help="folder for fill.png")
parser.add_argument("--cells", type=int, default=200, help="cells of the image along each axis")
arguments = parser.parse_args()
if not arguments.plugin:
    parser.error("set --plugin to the path of Tributary.so")
os.makedirs(arguments.output, exist_ok=True)
LoadPlugin(arguments.plugin, remote=False, ns=globals())

half = arguments.cells // 2
X, Y = "(coordsX/%d)" % half, "(coordsY/%d)" % half  # from -1 to 1
grid = Wavelet(WholeExtent=[-half, half, -half, half, 0, 0])
hills = Calculator(
    Input=grid, ResultArrayName="hills",
    Function="%g*(cos(2.5*%s)*cos(2*%s-0.5)+0.3*sin(5*%s))" % (0.4 * half, X, Y, X))
height = Calculator(Input=hills, ResultArrayName="height", Function="hills")
gaps = Calculator(
    Input=height, ResultArrayName="missing",
    Function="max({0}*{0}+{1}*{1}<0.16,abs({1}-0.7)<0.1)".format(X, Y))
known = Threshold(
    Input=gaps, Scalars=["POINTS", "missing"], ThresholdMethod="Below Lower Threshold",
    LowerThreshold=0.5)
fills = {
    smoothness: AsyncHarmonicFill(
        Input=gaps, PointArrays=["height"], Unknown="Mask", Mask=["POINTS", "missing"],
        Smoothness=smoothness)
    for smoothness in ("Harmonic", "Biharmonic")
}


def span(source, array):
    source.UpdatePipeline()
    return source.PointData[array].GetRange()


low, high = span(hills, "hills")
for smoothness, fill in fills.items():
    error = Calculator(Input=fill, ResultArrayName="error", Function="abs(height-hills)")
    print("%s: maximum error %.3f of the height of the hills" % (
        smoothness, span(error, "error")[1] / (high - low)), flush=True)

view = CreateRenderView(ViewSize=[420, 340])
view.UseColorPaletteForBackground = 0
view.Background = [1, 1, 1]
view.OrientationAxesVisibility = 0
view.CameraPosition = [-1.2 * half, -3 * half, 2.6 * half]
view.CameraFocalPoint = [0, 0, -0.1 * half]
view.CameraViewUp = [0, 0, 1]
view.CameraViewAngle = 34
append = vtkImageAppend()
for name, source, array in (
    ("known values", known, "height"), ("Harmonic", fills["Harmonic"], "height"),
    ("Biharmonic", fills["Biharmonic"], "height"), ("original values", gaps, "hills"),
):
    surface = WarpByScalar(Input=source, Scalars=["POINTS", array], UseNormal=1, Normal=[0, 0, 1])
    drawn = Show(surface, view)
    drawn.SetRepresentationType("Surface")
    ColorBy(drawn, ("POINTS", array))
    colors = GetColorTransferFunction(array)
    colors.ApplyPreset("Viridis (matplotlib)", True)
    colors.RescaleTransferFunction(low, high)
    drawn.SetScalarBarVisibility(view, False)
    label = Text(Text=name)
    shown = Show(label, view)
    shown.Color = [0, 0, 0]
    shown.FontSize = 20
    shown.WindowLocation = "Lower Center"
    part = os.path.join(arguments.output, "fill.part.png")
    SaveScreenshot(part, view)
    Hide(label, view)
    Hide(surface, view)
    drawing = vtkPNGReader()
    drawing.SetFileName(part)
    drawing.Update()
    append.AddInputData(drawing.GetOutput())
    os.remove(part)
writer = vtkPNGWriter()
writer.SetFileName(os.path.join(arguments.output, "fill.png"))
writer.SetInputConnection(append.GetOutputPort())
writer.Write()
