# SPDX-License-Identifier: BSD-3-Clause
"""Runs a script of Examples as a user would, and compares what it prints and writes with what follows from the data.

    pvbatch Examples.py <name> [<argument of the script>...]
"""

import contextlib
import csv
import io
import os
import re
import runpy
import sys
import xml.etree.ElementTree

import check
import netcdf  # beside this file
import numpy as np
from paraview import servermanager, simple
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkIOImage import vtkPNGReader


def run(name, arguments):
    """The variables of the script at its end, and what it printed."""
    path = os.path.join(check.SOURCE, "Examples", name + ".py")
    with open(path, encoding="utf-8") as file:
        assert len(file.readlines()) < 60, "the script is too long to be read at a glance"
    for file in os.listdir():
        if os.path.isfile(file) and os.path.abspath(file) not in arguments:
            os.remove(file)
    sys.argv = [path, *arguments]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        names = runpy.run_path(path)
    print(printed.getvalue(), flush=True)
    return names, printed.getvalue()


def numbers(pattern, text):
    """Those that a pattern finds in a text."""
    found = re.search(pattern, text)
    assert found, f"{pattern} is not in: {text}"
    return [float(number) for number in found.groups()]


def picture(file, share, colors):
    """At least `share` of the pixels differ from the white background and have at least `colors` colors."""
    reader = vtkPNGReader()
    reader.SetFileName(file)
    reader.Update()
    pixels = vtk_to_numpy(reader.GetOutput().GetPointData().GetScalars())[:, :3].astype(int)
    drawn = pixels[(pixels < 250).any(axis=1)]
    assert len(drawn) > share * len(pixels), f"{file}: {len(drawn)} of {len(pixels)} pixels are drawn"
    found = len(np.unique(drawn // 16, axis=0))
    assert found >= colors, f"{file} has only {found} colors"


def read(file):
    """The parts of all ranks in a file, as one data set."""
    return check.fetch(simple.OpenDataFile(file))


def rows(file):
    with open(file, encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def demo(names, printed):
    """Lines run along the velocities of their points; the statistics have a column for each rank."""
    lines = check.Lines(read("lines.pvtp"))
    assert lines.count == numbers(r"(\d+) lines, \d+ times faster than Stream Tracer", printed)[0], printed
    assert sorted(set(lines.cell_data["SeedIds"])) == list(range(100)), "seeds without lines"
    header = printed.splitlines()[0].split()
    assert header == ["rank", *map(str, range(check.ranks()))], header
    aligned = []
    for line in map(lines.line, range(lines.count)):
        steps = np.diff(lines.points[line].astype(float), axis=0)
        middles = (lines.point_data["U"][line][1:] + lines.point_data["U"][line][:-1]).astype(float)
        lengths = np.linalg.norm(steps, axis=1) * np.linalg.norm(middles, axis=1)
        aligned.append(np.abs((steps * middles).sum(1)[lengths > 0] / lengths[lengths > 0]))
    assert np.median(np.concatenate(aligned)) > 0.999, "lines do not follow the flow"
    picture("lines.png", 0.05, 20)


def outlets(names, printed):
    """The table of destinations counts and averages the crossings, which lie in the planes."""
    crossings = rows("crossings.csv")
    table = names["table"]
    assert table["Count"].sum() == 256, "not all seeds are counted"
    for event, place in ((0, 0.2), (1, -0.2)):
        there = [row for row in crossings if int(float(row["EventId"])) == event]
        assert all(abs(float(row["Points:1"]) - place) < 1e-5 for row in there), "a crossing is not in its plane"
        row = table[(table["EventId"] == event) & (table["ReasonForTermination"] == 8)]
        assert len(row) == 1 and row["Count"][0] == len(there) > 50, f"{row}, {len(there)} crossings"
        mean = np.mean([float(row["IntegrationTime"]) for row in there])
        assert abs(row["MeanTime"][0] - mean) < 1e-5 * mean, f"{row}, {mean}"
    picture("outlets.png", 0.05, 2)


def poincare(names, printed):
    """Lines cross in the plane, in both directions by turns of the flow, and many times."""
    crossings = read("poincare.pvtp")
    assert crossings.GetNumberOfPoints() == numbers(r"(\d+) crossings", printed)[0]
    places = vtk_to_numpy(crossings.GetPoints().GetData())
    data = check.arrays(crossings.GetPointData())
    assert np.abs(places[:, 2] - 16).max() < 1e-3, "a crossing is not in the plane"
    assert (places[:, :2].min(0) > -1e-3).all() and (places[:, :2].max(0) < 64 + 1e-3).all(), "not in the box"
    assert np.bincount(data["SeedIds"].astype(int)).max() > 40, "no line comes back"
    picture("poincare.png", 0.01, 10)


def wind_file():
    """A rotation of the whole atmosphere, a turn of the Earth in 8 days, in January; calm in July."""
    longitudes, latitudes = np.linspace(-180, 177.1875, 128), np.linspace(-87.1875, 87.1875, 63)
    speed = 2 * np.pi * 6371000 / (8 * 86400) * np.cos(np.radians(latitudes))
    east = np.zeros((2, 63, 128))
    east[0] = speed[:, None]
    axes = ("time", "lat", "lon")
    netcdf.write(
        "rotation.nc",
        {"time": 2, "lat": 63, "lon": 128},
        {
            "time": (("time",), "days since 2000-01-01", np.array([1.0, 7.0])),
            "lat": (("lat",), "degrees_north", latitudes),
            "lon": (("lon",), "degrees_east", longitudes),
            "U": (axes, "m/s", east),
            "V": (axes, "m/s", np.zeros_like(east)),
        },
    )
    return os.path.abspath("rotation.nc")


def wind(names, printed):
    """After 4 days of a turn in 8 days all lines are half around the Earth, on their parallels."""
    lines = check.Lines(read("wind.pvtp"))
    assert lines.count == 18 * 15 == numbers(r"(\d+) lines", printed)[0], printed
    for line in map(lines.line, range(lines.count)):
        longitudes, latitudes = lines.points[line][:, :2].astype(float).T
        assert np.ptp(latitudes) < 1e-4, "a line leaves its parallel"
        assert abs(abs(longitudes[-1] - longitudes[0]) - 180) < 0.2, f"{longitudes[0]} to {longitudes[-1]}"
    picture("wind.png", 0.5, 10)


def gyre(names, printed):
    """The exponents of some particles, by Runge-Kutta 4 with the formula and small steps."""
    duration = float(sys.argv[1])

    def velocity(places, time):
        shift = 0.25 * np.sin(2 * np.pi * time / 10)
        x, y = places
        f, slope = shift * x**2 + (1 - 2 * shift) * x, 2 * shift * x + 1 - 2 * shift
        return 0.1 * np.pi * np.array(
            [-np.sin(np.pi * f) * np.cos(np.pi * y), np.cos(np.pi * f) * np.sin(np.pi * y) * slope]
        )

    image = read("gyre.pvti")
    exponents = check.arrays(image.GetPointData())["FTLE"].reshape(300, 600)
    spacing = np.array(image.GetSpacing()[:2])
    columns, lines = np.meshgrid(np.arange(25, 600, 50), np.arange(25, 300, 50))
    seeds = np.array([columns * spacing[0], lines * spacing[1]])
    places = np.stack([seeds + (s * spacing * np.eye(2)[a])[:, None, None] for a in (0, 1) for s in (1, -1)], 1)
    step = 0.01
    for time in np.arange(0, duration - step / 2, step):
        k1 = velocity(places, time)
        k2 = velocity(places + step / 2 * k1, time + step / 2)
        k3 = velocity(places + step / 2 * k2, time + step / 2)
        places = places + step / 6 * (k1 + 2 * k2 + 2 * k3 + velocity(places + step * k3, time + step))
    gradient = np.stack(
        [(places[:, 2 * a] - places[:, 2 * a + 1]) / (2 * spacing[a]) for a in (0, 1)], 1
    )
    stretching = np.linalg.svd(np.moveaxis(gradient, (0, 1), (-2, -1)), compute_uv=False)[..., 0]
    expected = np.log(stretching) / duration
    wrong = np.abs(exponents[lines, columns] - expected)
    assert np.median(wrong) < 2e-3 and wrong.max() < 0.03, f"differences up to {wrong.max()}, {np.median(wrong)}"
    assert abs(numbers(r"largest exponent (\S+)", printed)[0] - exponents.max()) < 1e-3
    picture("gyre.png", 0.5, 20)


def regions(names, printed):
    """The regions, by labels that spread to cells with a common point until nothing changes."""
    data = check.fetch(names["backward"])
    points = vtk_to_numpy(data.GetPoints().GetData())
    _, same = np.unique(np.rint(points * 1e7).astype(np.int64), axis=0, return_inverse=True)
    corners = np.split(
        same.reshape(-1)[vtk_to_numpy(data.GetCells().GetConnectivityArray())],
        vtk_to_numpy(data.GetCells().GetOffsetsArray())[1:-1],
    )
    backward = check.arrays(data.GetCellData())["backward"]
    cells = [corner for corner, speed in zip(corners, backward) if 1 <= speed <= 100]
    at_points, changed = np.full(len(points), len(cells)), True
    for cell, corner in enumerate(cells):
        at_points[corner] = np.minimum(at_points[corner], cell)
    while changed:
        changed = False
        for corner in cells:
            least = at_points[corner].min()
            changed |= bool((at_points[corner] != least).any())
            at_points[corner] = least
    sizes = np.sort(np.unique([at_points[c[0]] for c in cells], return_counts=True)[1])[::-1]
    table = rows("regions.csv")
    assert numbers(r"(\d+) regions of backward flow", printed) == [len(sizes)], f"{len(sizes)} regions: {printed}"
    found = [int(float(row["Cells"])) for row in sorted(table, key=lambda row: float(row["RegionId"]))]
    assert found == sizes.tolist(), f"{found}, not {sizes}"
    assert list(names["table"]["Cells"]) == found, names["table"]
    picture("regions.png", 0.05, 6)


def paths(names, printed):
    """A path from each seed in the water or air, as old as the series is long unless it left the domain."""
    lines = check.Lines(read("paths.pvtp"))
    assert numbers(r"(\d+) paths with (\d+) points until (\S+) s", printed) == [lines.count, len(lines.points), 0.56]
    assert lines.count == 19 * 9, f"{lines.count} paths"
    assert lines.points.min() > -1e-4 and lines.points.max() < 1 + 1e-4, "a path outside of the tank"
    ages = lines.point_data["ParticleAge"]
    assert abs(ages.max() - 0.28) < 1e-6, f"ages up to {ages.max()}"
    for line in map(lines.line, range(lines.count)):
        assert (np.diff(ages[line]) > 0).all(), "a path goes back in time"
    # Between points, positions change by the time between them and a velocity that is in the data: below 8 m/s.
    moved = [np.linalg.norm(np.diff(lines.points[line], axis=0), axis=1) / np.diff(ages[line])
             for line in map(lines.line, range(lines.count)) if len(line) > 1]
    fastest = np.concatenate(moved).max()
    assert 0.5 < fastest < 8, f"up to {fastest} m/s"
    picture("paths.png", 0.02, 20)


def dambreak(names, printed):
    """The events are those in the guide, which Filters.Drops compares one by one; those printed are those written."""
    written = rows("events.csv")
    for kind, count in (("Birth", 8), ("Death", 4), ("Merge", 7), ("Split", 9)):
        assert numbers(rf"{kind}: (\d+)", printed) == [count], printed
        assert sum(row["Event"] == kind for row in written) == count, f"{kind} in events.csv"
    trajectories = read("trajectories.pvtp")
    assert len(set(check.arrays(trajectories.GetCellData())["TrackId"])) == 24, "not 24 tracks"
    picture("dambreak.png", 0.1, 6)


def dye(names, printed):
    """Until the dye reaches the outlets, there is as much of it as has come in."""
    history = rows("dye.csv")
    times = names["times"]
    assert abs(times[40] - times[0] - 0.04) < 1e-9, times
    assert abs(float(history[-1]["Time"]) - times[40]) < 1e-9, history[-1]
    last = {row["Step"]: float(row["Residual"]) for row in history}  # of the iterations of a step
    assert len(last) == 40 and max(last.values()) < 1e-3, f"residuals {last}"
    # The flow through the inlet from the velocities at the points of the image, beside the wall of the inlet.
    dye = names["dye"]
    dye.UpdatePipeline(times[10])
    image = servermanager.Fetch(dye)
    concentration = check.arrays(image.GetCellData())["Concentration"]
    assert concentration.min() > -1e-3 and concentration.max() < 1 + 1e-3, "not between 0 and 1"
    x, y, z = (count - 1 for count in image.GetDimensions())
    filled = concentration.reshape(z, y, x).sum((0, 1))
    cell = np.prod(image.GetSpacing())
    velocity = check.arrays(image.GetPointData())["U"].reshape(z + 1, y + 1, x + 1, 3)[..., 0]
    inlet = velocity[:, :, 2].sum() * np.prod(image.GetSpacing()[1:])
    assert abs(filled.sum() * cell / (inlet * 0.01) - 1) < 0.05, f"{filled.sum() * cell}, not {inlet * 0.01}"
    picture("dye.png", 0.02, 10)


def fill(names, printed):
    """The harmonic fill is the mean of its neighbors; the biharmonic one is closer to the hills."""
    first, second = (
        numbers(rf"\b{name}: maximum error (\S+) of", printed)[0] for name in ("Harmonic", "Biharmonic")
    )
    assert second < first / 2, printed
    data = check.arrays(check.fetch(names["harmonic"]).GetPointData())
    missing, height = data["missing"].reshape(201, 201) > 0, data["height"].reshape(201, 201).astype(float)
    means = (height[2:, 1:-1] + height[:-2, 1:-1] + height[1:-1, 2:] + height[1:-1, :-2]) / 4
    wrong = np.abs(means - height[1:-1, 1:-1])[missing[1:-1, 1:-1]].max()
    assert wrong < 1e-3, f"differs from the mean of the neighbors by {wrong}"
    written = check.arrays(read("fill.pvti").GetPointData())
    error = np.abs(written["height"] - written["hills"]).max() / np.ptp(written["hills"])
    assert abs(error - second) < 1e-3, f"fill.pvti has an error of {error}"
    picture("fill.png", 0.2, 20)


def gantt(names, printed):
    """The areas of the colors are the seconds of the activities, and each rank has a bar."""
    drawing = xml.etree.ElementTree.parse("gantt.svg").getroot()
    texts = [text.text for text in drawing.iter("{http://www.w3.org/2000/svg}text")]
    assert [f"rank {rank}" in texts for rank in range(check.ranks() + 1)] == [True] * check.ranks() + [False], texts
    table = [line.split() for line in printed.strip().splitlines()]
    areas = {}
    for path in drawing.iter("{http://www.w3.org/2000/svg}path"):
        boxes = re.findall(r"M(\S+) (\S+)V(\S+)h(\S+)V", path.get("d"))
        area = sum((float(low) - float(top)) * float(width) for _, low, top, width in boxes)
        areas[path.get("fill")] = areas.get(path.get("fill"), 0) + area
    legend = [box.get("fill") for box in drawing.iter("{http://www.w3.org/2000/svg}rect")][1:4]
    total = float(table[1][-1])
    for column, color in enumerate(legend, 1):
        seconds = sum(float(line[column]) for line in table[1:])
        drawn = areas.get(color, 0) / (900 * 28) * total
        assert abs(drawn - seconds) < 0.02 * check.ranks() * total, f"{table[0][column]}: {drawn}, not {seconds}"
    lines = names["run"]
    lines.UpdatePipeline()
    assert lines.GetDataInformation().GetNumberOfCells() > 1000, "the filter has no lines"
    assert sum(float(line[1]) for line in table[1:]) > 1e-3, "a thousand lines took less than a millisecond"


def main():
    name, *arguments = sys.argv[1:]
    if name == "wind":
        arguments = [wind_file()]
    names, printed = run(name, arguments)
    globals()[name](names, printed)


if __name__ == "__main__":
    check.run(__file__)
