# SPDX-License-Identifier: BSD-3-Clause
"""Executions of Async Connectivity and Async Feature Tracker that may reuse the domain of the previous one: it is
reused exactly if nothing that it depends on has changed on any rank, and the regions are those of a new filter.

Every rank runs the script (pvbatch --sym).
"""

import check
import films
import regions
import trees
from ConnectivityRegions import Found, difference, properties
from mpi4py import MPI
from paraview import simple
from regions import FACES, POINTS
from vtkmodules.util.numpy_support import vtk_to_numpy

WORLD = MPI.COMM_WORLD
LAST = WORLD.size - 1
HIDDEN = 32  # vtkDataSetAttributes::HIDDENCELL
NOISE, LEVEL = ("CELLS", "noise"), ("CELLS", "level")
FEW = ((0.0, 0.08),)  # cells, which form many regions


# Of the array level: random numbers, of trees the level in the tree.
LEVELS = ([0.2, 0.28], [1.0, 1.0])


def copied(data):
    """A deep copy, as of a reader that reads the data again."""
    copy = data.NewInstance()
    copy.DeepCopy(data)
    return copy


class Case:
    """A filter that is executed again and again, on data that change."""

    def __init__(self, name, whole, how=None, **options):
        self.name = name
        maker = trees if whole.get("mesh") == trees.MESH else regions
        how = how or {}
        self.data = copied(maker.build(WORLD.rank, WORLD.size, whole, **how))
        self.source = check.held(self.data, maker.extent(whole, **how))
        self.properties = {**properties(NOISE, FEW, 0, POINTS, False, (NOISE,)), **options}
        self.filter = check.connectivity(self.source, **self.properties)

    def touch(self, producer):
        """Let the pipeline know that the data of a producer have changed, on all ranks."""
        producer.GetClientSideObject().Modified()
        producer.SMProxy.MarkModified(producer.SMProxy)

    def use(self, data):
        self.data = data
        self.source.GetClientSideObject().SetOutput(data)
        self.touch(self.source)

    def set(self, **changed):
        self.properties.update(changed)
        for name, value in changed.items():
            setattr(self.filter, name, value)
        self.touch(self.filter)  # also on ranks where nothing was changed

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
    case = Case(name, whole, how, **options)
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
    case.set(LabelConnectivity=int(not labels), Labels=["CELLS", "label"])
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

    # Changes on all ranks, then on one rank alone. The last rank may have no cells.
    for ranks in (range(WORLD.size), [LAST]):
        def change(what, arrays, how):
            if WORLD.rank in ranks:
                for array in filter(None, arrays):
                    how(vtk_to_numpy(array))
                    array.Modified()
            case.touch(case.source)
            case.expect(False, f"{what} on ranks {list(ranks)}")
            case.set(ScalarRange=[0.3, case.properties["ScalarRange"][1] - 0.002])
            case.expect(True, f"after {what}")

        def stretch(values):
            values *= 1.5

        def renumber(values):
            values[:] = values[::-1].copy()

        def relabel(values):
            values[::2] += 7

        def hide(values):
            values[: len(values) // 3] ^= HIDDEN

        leaves = case.leaves()
        if leaves and leaves[0].IsA("vtkPointSet"):
            change("moved points", [leaf.GetPoints().GetData() for leaf in leaves], stretch)
        elif not isTrees and not WORLD.allreduce(0 if leaves else 1):
            def ghosts(leaf):
                return leaf.GetCellGhostArray() or leaf.AllocateCellGhostArray()

            change("hidden cells", [ghosts(leaf) for leaf in leaves if WORLD.rank in ranks], hide)
        if how and how.get("ids"):
            change("ids of cells", [leaf.GetCellData().GetGlobalIds() for leaf in leaves], renumber)
        if labels and not isTrees:
            change("labels", [leaf.GetCellData().GetArray("label") for leaf in leaves], relabel)

    # What is not kept.
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


def check_tracker(mesh, stays):
    """The steps of a film: is the domain of one step that of the next?"""
    times = [0.0, 1.0, 2.0]
    source = films.source(simple, "meet", mesh, times, turn=0)
    tracker = check.tracked(source, ScalarConnectivity=1, Scalars=["CELLS", "filled"], ScalarRange=[0.5, 2.0])
    for time in times:
        tracker.UpdatePipeline(time)
        data = tracker.GetClientSideObject().GetOutputDataObject(0).GetFieldData()
        flags = data.GetArray("AsyncFeatureTracker ReusedDomain")
        flags = [flags.GetValue(n) for n in range(WORLD.size)]
        wanted = [int(stays and time > 0)] * WORLD.size
        assert flags == wanted, f"{mesh}, time {time}: ReusedDomain is {flags}"
    check.delete(tracker, source)


def main():
    check.load_plugin()
    check_case("image", {})
    check_case("image with labels", {}, LabelConnectivity=1, Labels=["CELLS", "label"])
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
    check_tracker("boxes", True)
    check_tracker("changing", False)


if __name__ == "__main__":
    check.run(__file__)
