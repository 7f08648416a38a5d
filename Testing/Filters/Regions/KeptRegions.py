# SPDX-License-Identifier: BSD-3-Clause
"""Executions of Async Connectivity and Async Feature Tracker that may reuse the domain of the previous one: it is
reused exactly if nothing that it depends on has changed on any rank, and the regions are those of a new filter.

Every rank runs the script (pvbatch --sym).
"""

import check
import films
import meshes
import numpy as np
import regions
import trees
from ConnectivityRegions import Found, difference, properties
from check import flows
from mpi4py import MPI
from paraview import simple
from regions import FACES, POINTS
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkBitArray

WORLD = MPI.COMM_WORLD
LAST = WORLD.size - 1
HIDDEN = 32  # vtkDataSetAttributes::HIDDENCELL
NOISE, LEVEL = ("CELLS", "noise"), ("CELLS", "level")
FEW = ((0.0, 0.08),)  # cells, which form many regions
TIMES = [0.0, 1.0, 2.0, 3.0]
# Of the array level: random numbers, of trees the level in the tree.
LEVELS = ([0.2, 0.28], [1.0, 1.0])


def copied(data):
    """A deep copy, as of a reader that reads the data again."""
    copy = data.NewInstance()
    copy.DeepCopy(data)
    return copy


def stretch(values):
    values *= 1.5


def renumber(values):
    values[:] = values[::-1].copy()


def hide(values):
    values[: len(values) // 3] ^= HIDDEN


def relabel(values):
    if isinstance(values, vtkBitArray):
        for cell in range(0, values.GetNumberOfValues(), 2):
            values.SetValue(cell, 1 - values.GetValue(cell))
    else:
        values[::2] += 7


def ghosts_of(leaf):
    return leaf.GetCellGhostArray() or leaf.AllocateCellGhostArray()


class Case:
    """A filter that is executed again and again, on data that change."""

    def __init__(self, name, data, extent=None, **options):
        self.name = name
        self.data = data
        self.source = check.held(data, extent)
        self.properties = {**properties(NOISE, FEW, 0, POINTS, False, (NOISE,)), **options}
        self.filter = check.connectivity(self.source, **self.properties)

    def use(self, data):
        self.data = data
        self.source.GetClientSideObject().SetOutput(data)
        check.touch(self.source)

    def set(self, **changed):
        self.properties.update(changed)
        for name, value in changed.items():
            setattr(self.filter, name, value)
        check.touch(self.filter)  # also on ranks where nothing was changed

    def leaves(self):
        return [leaf for leaf in regions.leaves(self.data) if leaf.GetNumberOfCells() > 0]

    def expect(self, reused, what, failed=False):
        """Execute, and compare with a new filter."""
        what = f"{self.name}, {what}"
        if failed:
            self.filter.UpdatePipeline()
            assert self.filter.GetClientSideObject().GetErrorCode() != 0, f"{what}: no error"
            return
        found = Found(self.filter, points=False)
        statistic = self.filter.GetClientSideObject().GetOutputDataObject(0).GetFieldData()
        flags = statistic.GetArray("AsyncConnectivity ReusedDomain")
        flags = [flags.GetValue(n) for n in range(WORLD.size)]
        assert flags == [int(reused)] * WORLD.size, f"{what}: ReusedDomain is {flags}"
        new = check.connectivity(self.source, **self.properties)
        wanted = Found(new, points=False)
        if WORLD.rank == 0:
            assert wanted.counts[0] > 1, f"{what}: {wanted.counts} regions"
            different = difference(found, wanted)
            assert different is None and found.counts == wanted.counts, f"{what}: {different}"
        check.delete(new)


def spoil(data):
    """Overwrite the coordinates and cells of data that are no longer in use, as a simulation may do."""
    for leaf in regions.leaves(data):
        if leaf.IsA("vtkPointSet") and leaf.GetNumberOfPoints():
            vtk_to_numpy(leaf.GetPoints().GetData())[...] = 1e30
        if leaf.IsA("vtkUnstructuredGrid") and leaf.GetNumberOfCells():
            vtk_to_numpy(leaf.GetCells().GetConnectivityArray())[...] = 0


def check_case(name, whole, how=None, **options):
    how = how or {}
    maker = trees if whole.get("mesh") == trees.MESH else regions
    data = copied(maker.build(WORLD.rank, WORLD.size, whole, **how))
    for leaf in regions.leaves(data):
        bits = vtkBitArray()
        bits.SetName("bits")
        for cell in range(leaf.GetNumberOfCells()):
            bits.InsertNextValue(cell // 40 % 2)
        leaf.GetCellData().AddArray(bits)
    case = Case(name, data, maker.extent(whole, **how), **options)
    isTrees = whole.get("mesh") == trees.MESH
    labels = bool(options.get("LabelConnectivity"))
    case.expect(False, "the first execution")

    # The input stays.
    case.set(ScalarRange=[0.2, 0.28])
    case.expect(True, "another range")
    case.set(Scalars=list(LEVEL), StatisticsArrays=["level"], ScalarRange=LEVELS[isTrees])
    case.expect(True, "another array")
    case.set(ExtractionMode="Extract Largest Region", Schedule="Synchronous")
    case.expect(True, "the largest region")
    case.set(ExtractionMode="Extract All Regions", Scalars=list(NOISE), ScalarRange=[0.0, 0.08])

    # Other properties of the domain.
    through = case.properties["ConnectThrough"]
    case.set(ConnectThrough=POINTS if through == FACES else FACES)
    case.expect(False, "through other entities")
    case.set(ConnectThrough=through)
    case.expect(False, "through the first ones again")
    case.set(LabelConnectivity=int(not labels), Labels=options.get("Labels", ["CELLS", "label"]))
    case.expect(False, "other labels")
    case.set(LabelConnectivity=int(labels))
    case.expect(False, "the first labels again")

    # Other data objects with the same mesh.
    first = case.data
    shallow = first.NewInstance()
    shallow.ShallowCopy(first)
    case.use(shallow)
    case.expect(not isTrees, "a shallow copy")
    case.use(copied(shallow))
    if not isTrees:
        spoil(first)
    case.expect(not isTrees, "a deep copy")
    case.set(ScalarRange=[0.3, 0.4])
    case.expect(True, "after a copy")

    # Changes on all ranks, then on one rank alone, while the data of the others stay. A rank may have no cells.
    for ranks in (range(WORLD.size), [LAST]):
        def change(what, arrays, how):
            if WORLD.rank in ranks:
                for array in filter(None, arrays):
                    how(array if array.IsA("vtkBitArray") else vtk_to_numpy(array))
                    array.Modified()
                check.touch(case.source)
            check.touch(case.filter)
            case.expect(False, f"{what} on ranks {list(ranks)}")
            case.set(ScalarRange=[0.3, case.properties["ScalarRange"][1] - 0.002])
            case.expect(True, f"after {what}")

        leaves = case.leaves()
        cells = [leaf.GetCellData() for leaf in leaves]
        if WORLD.allreduce(int(any(leaf.IsA("vtkPointSet") for leaf in leaves))):
            change("moved points", [leaf.GetPoints().GetData() for leaf in leaves], stretch)
        elif not isTrees:
            change("hidden cells", [ghosts_of(leaf) for leaf in leaves if WORLD.rank in ranks], hide)
        if how.get("ids"):
            change("ids of cells", [data.GetGlobalIds() for data in cells], renumber)
            change("ids of points", [leaf.GetPointData().GetGlobalIds() for leaf in leaves], renumber)
        if labels:
            change("labels", [data.GetArray(options["Labels"][1]) for data in cells], relabel)

    # The same mesh in a new object on one rank alone.
    if WORLD.rank == LAST:
        case.use(copied(case.data))
    check.touch(case.filter)
    case.expect(not isTrees, "a copy on the last rank")

    # What is not kept.
    case.set(KeepDomain=0)
    case.expect(True, "the last one that is not kept")
    case.set(ScalarRange=[0.1, 0.17])
    case.expect(False, "without")
    case.set(KeepDomain=1)
    case.expect(False, "with it again")
    case.set(KeepDomain=0 if WORLD.rank == LAST else 1)
    case.expect(True, "one that is not kept")
    case.set(ScalarRange=[0.1, 0.18])
    case.expect(False, "after one that was not kept on the last rank")
    case.set(KeepDomain=1)
    case.expect(False, "after another one")
    case.filter.GetClientSideObject().SetReleaseDataFlag(1)
    case.set(ScalarRange=[0.1, 0.19])
    case.filter.UpdatePipeline()
    case.filter.GetClientSideObject().SetReleaseDataFlag(0)
    case.set(ScalarRange=[0.1, 0.2])
    case.expect(False, "after one whose output is released")

    # After an error.
    case.set(Tolerance=-1.0)
    case.expect(False, "a negative tolerance", failed=True)
    case.set(Tolerance=options.get("Tolerance", 0.0))
    case.expect(False, "after an error")
    case.set(ScalarRange=[0.1, 0.21])
    case.expect(True, "in the end")
    check.delete(case.filter, case.source)
    if WORLD.rank == 0:
        print(name, flush=True)


def hierarchy():
    """The part of this rank in an AMR hierarchy, with numbers and noise."""
    data = meshes.build_hierarchy(WORLD.rank, WORLD.size)
    for level, boxes in enumerate(meshes.LEVELS):
        for index in range(len(boxes)):
            leaf = data.GetDataSet(level, index)
            for attributes in (leaf.GetCellData(), leaf.GetPointData()) if leaf else ():
                first = 10000 * (10 * level + index)
                numbers = first + np.arange(attributes.GetArray("velocity").GetNumberOfTuples())
                regions._add(attributes, "number", numbers)
                regions._add(attributes, "noise", flows._hash(numbers, 107))
    return data


def check_hierarchy():
    """An AMR hierarchy: what a finer level covers is hidden."""
    case = Case("hierarchy", hierarchy())
    case.expect(False, "the first execution")
    case.set(ScalarRange=[0.2, 0.28])
    case.expect(True, "another range")
    case.use(hierarchy())
    case.expect(True, "a copy")
    usual = meshes.LEVELS
    meshes.LEVELS = (*usual[:2], ((12, 15, 12, 19, 12, 19),))
    case.use(hierarchy())
    meshes.LEVELS = usual
    case.expect(False, "a smaller grid of the finest level")
    check.delete(case.filter, case.source)
    if WORLD.rank == 0:
        print("hierarchy", flush=True)


def tracks_of(mesh, keeps, spoils):
    """Regions and tracks of this rank at each step of a film, and whether the domain was that of the step before."""
    source = films.source(simple, "meet", mesh, TIMES, turn=0)
    tracker = check.tracked(source, ScalarConnectivity=1, Scalars=["CELLS", "filled"], ScalarRange=[0.5, 2.0],
                            KeepDomain=int(keeps))
    found, reused = [], []
    for time in TIMES:
        tracker.UpdatePipeline(time)
        output = tracker.GetClientSideObject().GetOutputDataObject(0)
        flags = output.GetFieldData().GetArray("AsyncFeatureTracker ReusedDomain")
        reused.append([flags.GetValue(n) for n in range(WORLD.size)])
        found.append([vtk_to_numpy(attributes.GetArray(name)).tobytes() for leaf in regions.leaves(output)
                      for attributes in (leaf.GetCellData(), leaf.GetPointData())
                      for name in ("RegionId", "TrackId")])
        if spoils:
            spoil(source.GetClientSideObject().GetOutputDataObject(0))  # the next step has its own
    check.delete(tracker, source)
    return found, reused


def check_tracker(mesh, stays):
    """The steps of a film: is the domain of one step that of the next? The tracks are those without it."""
    wanted, reused = tracks_of(mesh, keeps=False, spoils=False)
    assert not np.any(reused), f"{mesh}, not kept: ReusedDomain is {reused}"
    found, reused = tracks_of(mesh, keeps=True, spoils=True)
    right = [[int(stays and time > 0)] * WORLD.size for time in TIMES]
    assert reused == right, f"{mesh}: ReusedDomain is {reused}"
    assert found == wanted, f"{mesh}: other regions or tracks"


def main():
    check.load_plugin()
    check_case("image", {})
    check_case("image with labels", {}, LabelConnectivity=1, Labels=["CELLS", "label"])
    check_case("image with bits", {}, LabelConnectivity=1, Labels=["CELLS", "bits"])
    check_case("curvilinear blocks", {"mesh": "structured"}, {"container": "multiblock", "pieces": 5},
               ConnectThrough=FACES)
    check_case("tetrahedra", {"mesh": "tetrahedra", "size": (6, 6, 6)}, {"cut": "random"}, ConnectThrough=FACES)
    check_case("hexahedra with ids", {"mesh": "hexahedra"}, {"cut": "random", "ids": True},
               LabelConnectivity=1, Labels=["CELLS", "label"])
    check_case("polyhedra", {"mesh": "polyhedra", "size": (4, 4, 4)}, {"cut": "slices"}, ConnectThrough=FACES)
    check_case("surface", {"mesh": "surface", "size": (12, 11, 0)}, {"cut": "slices"})
    check_case("nearly coincident points", {"mesh": "tetrahedra", "size": (9, 9, 9)},
               {"cut": "slices", "nudge": 1e-5}, Tolerance=0.01)
    check_case("hyper trees", {"mesh": trees.MESH, "size": (8, 6, 4)})
    check_case("hyper trees with bits", {"mesh": trees.MESH, "size": (8, 6, 4)}, LabelConnectivity=1,
               Labels=["CELLS", "bits"])
    check_hierarchy()
    check_tracker("boxes", True)
    check_tracker("changing", False)


if __name__ == "__main__":
    check.run(__file__)
