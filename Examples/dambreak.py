# SPDX-License-Identifier: BSD-3-Clause
"""Tracks the drops of a dam break with Async Feature Tracker: they detach, fall back and merge.

    xvfb-run -a -s -noreset mpirun -n 4 pvbatch Examples/dambreak.py --plugin <Tributary.so> --output <folder>

The water is an OpenFOAM result on a mesh that changes between steps (Data/drops.py). In a step, drops move
about as far as they are wide, so they are moved with the velocity before they are compared with the drops
of the next step. Prints the events with the tracks that split or merge, and writes dambreak.png: time
steps with drops colored and labeled by TrackId.
"""
import argparse
import colorsys
import os
import sys

from paraview import servermanager
from paraview import simple
from vtkmodules.vtkFiltersCore import vtkImageAppend
from vtkmodules.vtkIOImage import vtkPNGReader, vtkPNGWriter
from vtkmodules.vtkRenderingCore import vtkCoordinate

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "Data"))

import drops  # noqa: E402  (found on the path set above)

SHOWN = ["0.28", "0.3", "0.32", "0.38", "0.4", "0.5", "0.52", "0.54", "0.56"]


def tracked(folder, pieces):
    """The filter on the water, cut into pieces that ranks share."""
    return simple.AsyncFeatureTracker(
        Input=simple.PVDReader(FileName=drops.write(folder, pieces)),
        ScalarConnectivity=1,
        Scalars=["CELLS", "alpha.water"],
        ScalarRange=[0.5, 1.0],
        ConnectThrough="Faces",
        Motion="Velocity Field",
        Velocity=["CELLS", "U"],
    )


def rows_of(tracker, port, time):
    """Of a table of all ranks, each row as a dictionary."""
    merged = servermanager.filters.ReductionFilter(Input=simple.OutputPort(tracker, port))
    merged.PostGatherHelperName = "vtkPVMergeTables"
    merged.UpdatePipeline(time)
    table = merged.GetClientSideObject().GetOutputDataObject(0)
    columns = [table.GetColumn(c) for c in range(table.GetNumberOfColumns())]

    def value(column, row):
        return column.GetValue(row) if column.IsA("vtkStringArray") else column.GetTuple1(row)

    return [{c.GetName(): value(c, r) for c in columns} for r in range(table.GetNumberOfRows())]


def events_of(tracker, time):
    """All up to a time: a line of a table for each step that has any, in order."""
    events, links = rows_of(tracker, 3, time), rows_of(tracker, 4, time)
    told = {}
    for event in events:
        step, region, track = event["Step"], event["RegionId"], int(event["TrackId"])
        before = [l["TrackBefore"] for l in links if (l["Step"], l["RegionAfter"]) == (step, region)]
        after = [l["TrackAfter"] for l in links if (l["Step"], l["RegionBefore"]) == (step, region)]
        before, after = (", ".join(str(int(t)) for t in sorted(side)) for side in (before, after))
        split, merge = f"{track} to {after}", f"{before} to {track}"
        text = {"Split": split, "Merge": merge}.get(event["Event"], str(track))
        told.setdefault(step, {"Time": event["Time"]}).setdefault(event["Event"], []).append((track, text))
    lines = ["| time (s) | born | splits | merges | dies |", "|---|---|---|---|---|"]
    for step in sorted(told):
        cells = [
            ("; " if event in ("Split", "Merge") else ", ").join(
                text for _, text in sorted(told[step].get(event, []))
            )
            for event in ("Birth", "Split", "Merge", "Death")
        ]
        lines.append(f"| {told[step]['Time']:g} | " + " | ".join(cells) + " |")
    return lines


def draw(tracker, times, file):
    """Steps side by side, three in a row."""
    view = simple.CreateRenderView(ViewSize=[600, 420])
    view.UseColorPaletteForBackground = 0
    view.Background = [1, 1, 1]
    view.OrientationAxesVisibility = 0
    box = simple.Show(simple.Outline(Input=tracker), view)
    box.DiffuseColor = box.AmbientColor = [0.6, 0.6, 0.6]
    regions = simple.Threshold(Input=tracker)
    # One after the other: values equal to the defaults are forgotten if they are given above.
    regions.Scalars = ["CELLS", "TrackId"]
    regions.LowerThreshold, regions.UpperThreshold = 0, 1e9
    shown = simple.Show(simple.ExtractSurface(Input=regions), view)
    simple.ColorBy(shown, ("CELLS", "TrackId"))
    shown.SetScalarBarVisibility(view, False)
    colors = simple.GetColorTransferFunction("TrackId")
    colors.InterpretValuesAsCategories = 0
    colors.Discretize = 0
    colors.AutomaticRescaleRangeMode = "Never"
    points = [0, 0.70, 0.82, 0.94]
    for track in range(1, 100):
        points += [track, *colorsys.hsv_to_rgb(track * 0.618034 % 1, 0.95, 0.8)]
    colors.RGBPoints = points

    simple.Render(view)  # which moves the camera the first time
    view.CameraPosition = [2.0, 1.55, 0.95]
    view.CameraFocalPoint = [0.46, 0.45, 0.24]
    view.CameraViewUp = [0, 0, 1]
    view.CameraViewAngle = 17

    labels = []
    reader, joined = vtkPNGReader(), []
    for time in times:
        view.ViewTime = float(time)
        simple.Render(view)
        for label in labels:
            simple.Delete(label)
        labels = [write(view, f"{time} s", [0.03, 0.9], 22, [0, 0, 0])]
        corner = vtkCoordinate()
        for region in rows_of(tracker, 2, float(time)):
            track = int(region["TrackId"])
            if track == 0:
                continue
            corner.SetValue(*(region["Centroid" + axis] for axis in "XYZ"))
            x, y = corner.GetComputedDisplayValue(view.GetRenderer())
            place = [x / view.ViewSize[0] + 0.012, y / view.ViewSize[1] + 0.012]
            labels.append(write(view, str(track), place, 17, points[4 * track + 1 : 4 * track + 4]))
        simple.SaveScreenshot(file, view, ImageResolution=view.ViewSize)
        reader.SetFileName(file)
        reader.Modified()
        reader.Update()
        image = reader.GetOutput().NewInstance()
        image.DeepCopy(reader.GetOutput())
        joined.append(image)
    strips = [append(joined[i : i + 3], 0) for i in reversed(range(0, len(joined), 3))]
    writer = vtkPNGWriter()
    writer.SetFileName(file)
    writer.SetInputData(append(strips, 1))
    writer.Write()


def write(view, text, place, size, color):
    """Text at a place of the view, from 0 to 1."""
    source = simple.Text(Text=text)
    simple.Show(source, view, WindowLocation="Any Location", Position=place, FontSize=size, Color=color,
                Bold=1)
    return source


def append(images, axis):
    join = vtkImageAppend()
    join.SetAppendAxis(axis)
    for image in images:
        join.AddInputData(image)
    join.Update()
    return join.GetOutput()


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--plugin", default=os.environ.get("TRIBUTARY_PLUGIN"), help="Tributary.so")
    parser.add_argument("--output", default=".", help="folder for dambreak.png and the data")
    parser.add_argument("--pieces", type=int, default=4, help="how many to cut the data into")
    arguments = parser.parse_args()
    if not arguments.plugin:
        parser.error("set --plugin to the path of Tributary.so")
    simple.LoadPlugin(arguments.plugin, remote=False, ns=vars(simple))
    tracker = tracked(arguments.output, arguments.pieces)
    print("\n".join(events_of(tracker, drops.Drops().times[-1])), flush=True)
    draw(tracker, SHOWN, os.path.join(arguments.output, "dambreak.png"))


if __name__ == "__main__":
    main()
