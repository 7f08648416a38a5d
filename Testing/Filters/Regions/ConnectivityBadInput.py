# SPDX-License-Identifier: BSD-3-Clause
"""Async Connectivity with wrong input: one message on one rank that names the cause, no hang, and a
pipeline that works again. (Ranks that disagree are in ConnectivityOptions.py.)
"""

import check
import regions
import trees
from BadInput import EMPTY_NAME, NAMELESS, POINT, SHORT, TOO_FEW_POINTS, spoiled

WHOLE = {"size": (8, 7, 6), "pattern": "noise 0.3"}
GOOD = {
    "ScalarConnectivity": 1,
    "Scalars": ["CELLS", "value"],
    "ScalarRange": [0.5, 2.0],
    "ConnectThrough": 0,
}
NAN, INFINITE = float("nan"), float("inf")
WIDE = """
from vtkmodules.vtkCommonCore import vtkFloatArray
wide = vtkFloatArray()
wide.SetName("wide")
wide.SetNumberOfComponents(3)
wide.SetNumberOfTuples(data.GetNumberOfCells())
wide.Fill(1)
cells.AddArray(wide)
"""
# Which VTK keeps if an array is renamed.
TWICE = """
from vtkmodules.vtkCommonCore import vtkDoubleArray
for name in ("twice", "other"):
    array = vtkDoubleArray()
    array.SetName(name)
    array.SetNumberOfTuples({place}.GetNumberOfTuples())
    array.Fill(0)
    {place}.AddArray(array)
{place}.GetArray("other").SetName("twice")
"""


class Cases:
    def __init__(self):
        self.messages = check.Messages()
        self.data = regions.source(WHOLE)
        self.data.UpdatePipeline()
        self.failures = []
        proxy = check.connectivity(self.data, **GOOD)
        self.usual = self.count(proxy)
        assert self.usual > 3, f"{self.usual} regions"
        check.delete(proxy)

    def expect(self, name, condition, what):
        if not condition:
            self.failures.append(f"{name}: {what}")

    def count(self, proxy):
        """Regions, or None where there is no output."""
        proxy.UpdatePipeline()
        output = proxy.GetClientSideObject().GetOutputDataObject(0)
        counts = output.GetFieldData().GetArray("NumberOfRegions")
        return counts and counts.GetValue(0)

    def refused(self, name, words, proxy, cure):
        """The filter refuses with a message that has all the words, and works after cure(proxy)."""
        self.messages.take()
        self.count(proxy)
        for port in (0, 1):
            information = proxy.GetDataInformation(port)
            amount = information.GetNumberOfCells() + information.GetNumberOfRows()
            self.expect(name, amount == 0, f"{amount} cells or rows on output {port}")
        said = self.messages.take()
        lines = [line for part in said for line in part.splitlines() if "ERR|" in line]
        self.expect(name, len(lines) == 1, f"{len(lines)} errors instead of one: {said}")
        for word in ("vtkAsyncConnectivity",) + words:
            self.expect(name, word in "".join(said), f"no word {word!r} in {said}")
        again = check.said_again(proxy, self.messages, "vtkAsyncConnectivity")
        self.expect(name, not again, "the message comes again without a change")
        cure(proxy)
        count = self.count(proxy)
        self.expect(name, count == self.usual, f"{count} regions after the cure, not {self.usual}")
        left = "".join(self.messages.take())
        self.expect(name, "ERR|" not in left, f"still a message after the cure: {left}")
        print(name, flush=True)

    def refused_property(self, name, bad, good, **others):
        proxy = check.connectivity(self.data, **{**GOOD, **others, name: bad})
        self.refused(f"{name} = {bad}", (check.label(name),), proxy, lambda p: setattr(p, name, good))
        check.delete(proxy)

    def works(self, name, data, count=None, **properties):
        """Odd input that is no error."""
        self.messages.take()
        proxy = check.connectivity(data, **{**GOOD, **properties})
        found = self.count(proxy)
        said = "".join(self.messages.take())
        self.expect(name, "ERR|" not in said, said)
        self.expect(name, found is not None and count in (None, found), f"{found} regions, not {count}")
        check.delete(proxy)
        print(name, flush=True)


def hyper_trees(cases, data):
    whole = {"mesh": trees.MESH, "missing": 0.0}
    proxy = check.connectivity(data, **GOOD)

    def take_good(p):
        p.Input = data
        p.Scalars = ["CELLS", "value"]
        p.Labels = ["CELLS", "value"]
        p.LabelConnectivity = 0
        p.StatisticsArrays = []
        p.ExtractionMode = 5
        p.Periodic = [0, 0, 0]

    good = trees.source(whole)
    good.UpdatePipeline()
    for name, how, words in (
        ("points of hyper trees", {"Scalars": ["POINTS", "value"]}, ("Scalars", "arrays of cells")),
        ("labels of points of hyper trees", {"LabelConnectivity": 1, "Labels": ["POINTS", "value"]},
         ("Labels", "arrays of cells")),
        ("no array of hyper trees", {"Scalars": ["CELLS", "no such array"]}, ("Scalars",)),
        ("no array of hyper trees to measure", {"StatisticsArrays": ["no such array"]}, ("no such array",)),
        ("periodic hyper trees", {"Periodic": [1, 0, 0]}, ("Periodic", "hyper tree")),
        ("seeds at points of hyper trees", {"ExtractionMode": 1, "SeedIds": [0]}, ("Seed Ids", "no points")),
    ):
        proxy.Input = good
        for key, value in how.items():
            setattr(proxy, key, value)
        cases.refused(name, words, proxy, take_good)
    several = {"container": "multiblock", "pieces": 2 * check.ranks()}
    for fault, words in (("twice", ("tree 0", "ghost")), ("roots", ("same root cells",)),
                         ("ghosts", ("ghost flags",)), ("other", ("other data sets",)),
                         ("no cells", ("other data sets",))):
        bad = trees.source(whole, fault=fault, **several)
        bad.UpdatePipeline()
        proxy.Input = bad
        cases.refused(f"hyper trees, {fault}", words, proxy, take_good)
    check.delete(proxy)
    # Their leaves meet exactly.
    cases.works("hyper trees with a tolerance", good, 1, ScalarConnectivity=0, Tolerance=0.1)


def open_circles(cases):
    """Longitudes that end a cell before 360, where no gap can be closed: their length is not taken for their period."""
    data = spoiled(cases.data, "data.SetSpacing(360.0 / {}, 1.0, 1.0)".format(WHOLE["size"][0] + 1))
    on = {"Periodic": [1, 0, 0]}
    for name, others, words in (
        ("cell data", {}, ("Period", "360 less a cell", "point data", "resample")),
        ("labels", {"LabelConnectivity": 1, "Labels": ["CELLS", "value"]}, ("Label Connectivity", "switch it off")),
        ("no scalars", {"ScalarConnectivity": 0}, ("Scalar Connectivity", "switch")),
        ("labels, and the period", {"LabelConnectivity": 1, "Labels": ["CELLS", "value"], "Period": [360.0, 0.0, 0.0]},
         ("Period", "Label Connectivity", "switch it off")),
    ):
        proxy = check.connectivity(data, **{**GOOD, **on, **others})

        def cure(p):
            p.Periodic, p.Period = [0, 0, 0], [0.0, 0.0, 0.0]
            p.ScalarConnectivity, p.LabelConnectivity = 1, 0

        cases.refused(f"open circle, {name}", words, proxy, cure)
        check.delete(proxy)
    length = 360.0 * WHOLE["size"][0] / (WHOLE["size"][0] + 1)
    cases.works("a period of the length", data, Periodic=[1, 0, 0], Period=[length, 0.0, 0.0])


def main():
    cases = Cases()
    data = cases.data

    for name, bad, fine, others in (
        ("ScalarRange", [2.0, 0.5], [0.5, 2.0], {}),
        ("ScalarRange", [NAN, 2.0], [0.5, 2.0], {}),
        ("ScalarRange", [0.5, NAN], [0.5, 2.0], {}),
        ("ScalarRange", [0.5, 2.0, 3.0, 1.0], [0.5, 2.0], {}),
        ("ScalarRange", [], [0.5, 2.0], {}),
        ("Scalars", ["CELLS", "no such array"], ["CELLS", "value"], {}),
        ("Labels", ["CELLS", "no such array"], ["CELLS", "value"], {"LabelConnectivity": 1}),
        ("StatisticsArrays", ["no such array"], ["noise"], {}),
        ("Tolerance", -1.0, 0.0, {}),
        ("Tolerance", NAN, 0.0, {}),
        ("Tolerance", INFINITE, 0.0, {}),
        ("ClosestPoint", [NAN, 0.0, 0.0], [0.0, 0.0, 0.0], {"ExtractionMode": 6}),
        ("SizeRange", [5, 2], [0, 100000], {"ExtractionMode": 7}),
        ("Arrivals", 2.0, 1.0, {}),
        ("Detector", "nonsense", "default", {}),
    ):
        if others.get("ExtractionMode") == 6:
            # One region, the nearest, is what the cure gives.
            proxy = check.connectivity(data, **{**GOOD, **others, name: bad})
            cases.refused(f"{name} = {bad}", (check.label(name),), proxy, lambda p: setattr(p, "ExtractionMode", 5))
            check.delete(proxy)
        else:
            cases.refused_property(name, bad, fine, **others)

    for name, bad, fine, others in (
        ("Period", [-1.0, 0.0, 0.0], [0.0, 0.0, 0.0], {"Periodic": [1, 0, 0]}),
        ("Period", [0.0, NAN, 0.0], [0.0, 0.0, 0.0], {}),
        ("Period", [0.0, 0.0, INFINITE], [0.0, 0.0, 0.0], {"Periodic": [0, 0, 1]}),
        # Shorter than the data, and longer, with values of cells.
        ("Period", [0.5, 0.0, 0.0], [0.0, 0.0, 0.0], {"Periodic": [1, 0, 0]}),
        ("Period", [1e3, 0.0, 0.0], [0.0, 0.0, 0.0], {"Periodic": [1, 0, 0]}),
        ("Tolerance", 0.1, 0.0, {"Periodic": [1, 0, 0]}),
    ):
        proxy = check.connectivity(data, **{**GOOD, **others, name: bad})

        def cure(p, name=name, fine=fine):
            setattr(p, name, fine)
            p.Periodic = [0, 0, 0]

        cases.refused(f"{name} = {bad}", (check.label(name),), proxy, cure)
        check.delete(proxy)

    for mode, name in ((1, "SeedIds"), (2, "SeedIds"), (3, "SpecifiedRegionIds")):
        for bad in ([10**9], [-1], []):
            proxy = check.connectivity(data, **GOOD, ExtractionMode=mode, **{name: bad})
            cases.refused(f"mode {mode}, {name} = {bad}", (check.label(name),), proxy,
                          lambda p: setattr(p, "ExtractionMode", 5))
            check.delete(proxy)

    proxy = check.connectivity(data, **GOOD)

    def take_good(p):
        p.Input = data
        p.Scalars = ["CELLS", "value"]

    proxy.Input = spoiled(data, 'cells.RemoveArray("value")')
    cases.refused("no array anywhere", ("Scalars",), proxy, take_good)
    proxy.Input = spoiled(data, WIDE)
    proxy.Scalars = ["CELLS", "wide"]
    cases.refused("three components", ("component",), proxy, take_good)
    for mesh in ("image", "hexahedra"):
        whole = regions.source({**WHOLE, "mesh": mesh})
        whole.UpdatePipeline()
        for array, words in (("value", ("value",)), ("vtkGhostType", ("ghost flags", "remove vtkGhostType"))):
            proxy.Input = spoiled(whole, SHORT.format(name=array, components=1, place="cells"))
            cases.refused(f"{mesh}, too short {array}", words, proxy, take_good)
    for mesh, word, how in (
        # A hexahedron's points for a hexagonal prism, and more faces than there are.
        ("hexahedra", "cell", "data.GetCellTypesArray().SetValue(0, 16)"),
        ("hexahedra", "8 points", "data.GetCellTypesArray().SetValue(0, 29)"),
        ("hexahedra", "no class", "data.GetCellTypesArray().SetValue(0, 81)"),
        ("polyhedra", "faces", "import faces; faces.name_missing(data)"),
        ("polyhedra", "-3 faces", "import faces; faces.make_negative(data)"),
    ):
        whole = regions.source({**WHOLE, "size": (4, 4, 4), "mesh": mesh})
        whole.UpdatePipeline()
        proxy.Input = spoiled(whole, f"if last: {how}")
        cases.refused(f"wrong {mesh}", (word, "repair"), proxy, take_good)
    for mesh, how in (
        ("hexahedra", POINT.format(point=-3)),
        ("hexahedra", POINT.format(point=5000000)),
        ("structured", TOO_FEW_POINTS),
        ("structured", "data.SetPoints(None)"),
        ("rectilinear", "data.GetXCoordinates().Resize(2)"),
    ):
        whole = regions.source({**WHOLE, "mesh": mesh})
        whole.UpdatePipeline()
        proxy.Input = spoiled(whole, how)
        cases.refused(f"{mesh}, {how}", ("point", "repair"), proxy, take_good)
    if check.ranks() > 1:
        proxy.Input = spoiled(data, "if last: cells.RemoveArray('value')")
        cases.refused("no array on the last rank", ("Scalars",), proxy, take_good)
    check.delete(proxy)
    hyper_trees(cases, data)
    open_circles(cases)

    cases.works("no scalar range", data, 1, ScalarConnectivity=0)
    cases.works("a range of all numbers", data, 1, ScalarRange=[-INFINITE, INFINITE])
    cases.works("a range of one number", data, cases.usual, ScalarRange=[1.0, 1.0])
    cases.works("a range where nothing is", data, 0, ScalarRange=[7.0, 8.0])
    cases.works("the same range twice", data, cases.usual, ScalarRange=[0.5, 2.0, 0.5, 2.0])
    for number in ("nan", "inf", "-inf"):
        fill = f"cells.GetArray('value').Fill(float({number!r}))"
        cases.works(f"values {number}", spoiled(data, fill), 0)
    if check.ranks() > 1:
        kind = """
if last:
    from vtkmodules.vtkCommonCore import vtkIntArray
    other = vtkIntArray()
    other.DeepCopy(cells.GetArray("value"))
    cells.RemoveArray("value")
    other.SetName("value")
    cells.AddArray(other)
"""
        cases.works("integers on the last rank", spoiled(data, kind), cases.usual)
    mesh = regions.source({**WHOLE, "mesh": "hexahedra"})
    mesh.UpdatePipeline()
    torn = "data.GetPoints().SetPoint(0, float('nan'), 0, 0)"
    cases.works("a point that is not a number", spoiled(mesh, torn))
    short = SHORT.format(name="short", components=1, place="points")
    cases.works("an array too short", spoiled(mesh, short), cases.usual)
    # Extraction copies arrays tuple by tuple.
    for shape in ("hexahedra", "surface"):
        whole = regions.source({**WHOLE, "mesh": shape})
        whole.UpdatePipeline()
        for place in ("points", "cells"):
            short = SHORT.format(name="short", components=1, place=place)
            cases.works(f"{shape}, an array too short, extracted", spoiled(whole, short), ExtractionMode=4)
            cases.works(f"{shape}, a name twice, extracted", spoiled(whole, TWICE.format(place=place)), ExtractionMode=4)

    for some in (data, mesh):
        cases.works("arrays without a name", spoiled(some, NAMELESS), cases.usual)
        if check.ranks() == 1:  # as for the tracer
            cases.works("an array with an empty name", spoiled(some, EMPTY_NAME.format(components=3)), cases.usual)

    assert not cases.failures, "\n  ".join(["bad input:"] + cases.failures)


if __name__ == "__main__":
    check.run(__file__)
