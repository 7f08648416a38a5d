# SPDX-License-Identifier: BSD-3-Clause
"""Executions that may reuse the domain of the previous one: it is reused exactly if nothing that it depends on has
changed on any rank, and the lines have the bits of a new filter's in either case.

Every rank runs the script (pvbatch --sym).
"""

from mpi4py import MPI

import check
import meshes
import numpy as np
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkPoints
from vtkmodules.vtkCommonDataModel import vtkMultiBlockDataSet, vtkPolyData

WORLD = MPI.COMM_WORLD
LAST = WORLD.size - 1
HEXAHEDRON, TETRAHEDRON = 12, 10


def seeds_at(shift):
    points = vtkPoints()
    if WORLD.rank == 0:
        for i in range(20):
            points.InsertNextPoint(0.7 + 0.25 * i, 3.1 + shift, 2.9 - 0.1 * i)
    data = vtkPolyData()
    data.SetPoints(points)
    return data


def mesh_of(cell_type):
    """This rank's part of a mesh, with a second array of vectors."""
    data = meshes.build_cells(WORLD.rank, WORLD.size, cell_type=cell_type, flow="abc", size=7)
    values = vtk_to_numpy(data.GetPointData().GetArray("velocity"))
    other = numpy_to_vtk(np.ascontiguousarray(values[:, [1, 2, 0]]), deep=1)
    other.SetName("other")
    data.GetPointData().AddArray(other)
    return data


class Case:
    """A filter that is executed again and again, on data that change."""

    def __init__(self, data):
        self.data = data
        self.source = check.held(data)
        self.seeds = check.held(seeds_at(0))
        self.properties = {"MaximumStreamlineLength": 12.0}
        self.tracer = check.tracer(self.source, self.seeds, **self.properties)

    def set(self, **properties):
        self.properties.update(properties)
        for name, value in properties.items():
            setattr(self.tracer, name, value)
        check.touch(self.tracer)  # also on ranks where nothing was changed

    def expect(self, reused, what, failed=False, mesh=None):
        """Execute, and compare with a new filter. mesh: whether the mesh alone is reused."""
        self.tracer.UpdatePipeline()
        output = self.tracer.GetClientSideObject().GetOutputDataObject(0)
        if failed:
            assert self.tracer.GetClientSideObject().GetErrorCode() != 0, f"{what}: no error"
            return
        for name, wanted in (("ReusedDomain", reused), ("ReusedMesh", reused if mesh is None else mesh)):
            statistic = output.GetFieldData().GetArray(f"AsyncStreamTracer {name}")
            found = [statistic.GetValue(n) for n in range(WORLD.size)]
            assert found == [int(wanted)] * WORLD.size, f"{what}: {name} is {found}"
        new = check.tracer(self.source, self.seeds, **self.properties)
        new.UpdatePipeline()
        wanted = check.Lines(new.GetClientSideObject().GetOutputDataObject(0))
        lines = check.Lines(output)
        assert sum(WORLD.allgather(lines.count)) > 10, f"{what}: {lines.count} lines"
        different = check.difference(lines, wanted)
        assert different is None, f"{what}: {different}"
        check.delete(new)


def leaf_of(data):
    return data.GetBlock(0) if data.IsA("vtkMultiBlockDataSet") else data


def check_case(data):
    case = Case(data)
    leaf = leaf_of(data)
    case.expect(False, "the first execution")

    # The input stays.
    case.seeds.GetClientSideObject().SetOutput(seeds_at(0.2))
    check.touch(case.seeds)
    case.expect(True, "other seeds")
    case.set(IntegratorType="Runge-Kutta 4", InitialStepLength=0.1)
    case.expect(True, "another integrator")
    case.set(BlocksPerRank=3)
    case.expect(True, "more blocks", mesh=False)
    case.set(BlocksPerRank=1)
    case.expect(True, "one block", mesh=False)
    case.set(Schedule="Neighborhood", ComputeVorticity=0)
    case.expect(True, "another schedule")

    # Other vectors, on the same mesh.
    case.set(Vectors=["POINTS", "other"])
    case.expect(False, "other vectors", mesh=True)
    case.set(MaximumSteps=50)
    case.expect(True, "fewer steps")

    # Changes of the data: on all ranks, then on one rank alone.
    for hidden, ranks in ((0.25, range(WORLD.size)), (0.4, [LAST])):
        def change(what, array, mesh=False):
            """array: of this rank, changed in place"""
            if WORLD.rank in ranks:
                vtk_to_numpy(array)[...] *= 1.01
                array.Modified()
            check.touch(case.source)
            case.expect(False, f"{what} on ranks {list(ranks)}", mesh=mesh)
            case.set(MaximumSteps=case.properties["MaximumSteps"] + 1)
            case.expect(True, f"after {what}")

        change("changed vectors", leaf.GetPointData().GetArray("other"), mesh=True)
        change("moved points", leaf.GetPoints().GetData())
        if WORLD.rank in ranks:
            ghosts = leaf.AllocateCellGhostArray()
            vtk_to_numpy(ghosts)[int((1 - hidden) * leaf.GetNumberOfCells()) :] = 32  # hidden
            ghosts.Modified()
        check.touch(case.source)
        case.expect(False, f"hidden cells on ranks {list(ranks)}")

    # The producer has executed: its data may be other ones, although no object says so.
    check.touch(case.source)
    case.expect(False, "an executed producer", mesh=True)

    # What is not kept.
    case.set(KeepDomain=0 if WORLD.rank == LAST else 1)
    case.expect(True, "one that is not kept")
    case.set(MaximumSteps=60)
    case.expect(False, "after one that was not kept on the last rank")
    case.set(KeepDomain=1, MaximumSteps=61)
    case.expect(False, "after another one")
    case.tracer.GetClientSideObject().SetReleaseDataFlag(1)
    case.set(MaximumSteps=62)
    case.tracer.UpdatePipeline()
    case.tracer.GetClientSideObject().SetReleaseDataFlag(0)
    case.set(MaximumSteps=63)
    case.expect(False, "after one whose output is released")

    # After an error.
    case.set(InitialStepLength=-1.0)
    case.expect(False, "a negative step", failed=True)
    case.set(InitialStepLength=0.2)
    case.expect(False, "after an error")

    # A copy, as of a reader that reads the mesh again.
    copy = data.NewInstance()
    copy.DeepCopy(data)
    case.source.GetClientSideObject().SetOutput(copy)
    check.touch(case.source)
    case.expect(False, "a copy", mesh=True)

    # Another data set in its place, and the first one again.
    other = mesh_of(TETRAHEDRON)
    case.source.GetClientSideObject().SetOutput(other)
    check.touch(case.source)
    case.expect(False, "another data set")
    case.source.GetClientSideObject().SetOutput(data)
    check.touch(case.source)
    case.expect(False, "the first data set again")
    check.delete(case.tracer, case.seeds, case.source)


def main():
    check.load_plugin()
    check_case(mesh_of(HEXAHEDRON))
    print("a mesh", flush=True)
    blocks = vtkMultiBlockDataSet()
    blocks.SetBlock(0, mesh_of(HEXAHEDRON))
    check_case(blocks)
    print("blocks", flush=True)


if __name__ == "__main__":
    check.run(__file__)
