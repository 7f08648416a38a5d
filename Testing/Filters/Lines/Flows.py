# SPDX-License-Identifier: BSD-3-Clause
"""The generators themselves: every cut of a data set has the same bits, and cells are sound."""

import numpy as np
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkFiltersVerdict import vtkCellSizeFilter

import check
from check import flows

MESHES = flows.STRUCTURED_MESHES + flows.UNSTRUCTURED_MESHES + flows.PLANE_MESHES


def contents(data):
    """Velocity by point coordinates, and the set of cells that are not ghosts."""
    if not data.GetNumberOfCells():
        return {}, []
    velocity = vtk_to_numpy(data.GetPointData().GetArray("velocity"))
    points = {
        data.GetPoint(i): velocity[i].tobytes() for i in range(data.GetNumberOfPoints())
    }
    velocity = vtk_to_numpy(data.GetCellData().GetArray("velocity"))
    ghost = data.GetCellData().GetArray("vtkGhostType")
    cells = []
    for i in range(data.GetNumberOfCells()):
        if ghost is None or not ghost.GetValue(i):
            corners = data.GetCell(i).GetPoints()
            where = tuple(corners.GetPoint(c) for c in range(corners.GetNumberOfPoints()))
            cells.append((data.GetCellType(i), where, velocity[i].tobytes()))
    return points, cells


def same_in_every_cut(mesh):
    arguments = {"mesh": mesh, "size": 7, "centring": "both"}
    points, cells = contents(flows.build(0, 1, **arguments))
    cuts = ("bricks",) if mesh in flows.STRUCTURED_MESHES else ("bricks", "clumps", "random")
    for cut in cuts:
        for ghosts in (0, 1):
            seen, count = {}, []
            for rank in range(5):
                part = flows.build(rank, 5, cut=cut, ghosts=ghosts, **arguments)
                some, more = contents(part)
                for point, value in some.items():
                    assert seen.setdefault(point, value) == value, (mesh, cut, point)
                count += more
            assert seen == points, (mesh, cut, ghosts)
            assert len(count) == len(cells) and set(count) == set(cells), (mesh, cut, ghosts)


def fills_the_box(mesh):
    sizes = vtkCellSizeFilter()
    sizes.SetInputData(flows.build(0, 1, mesh=mesh, size=9))
    sizes.Update()
    plane = mesh in flows.PLANE_MESHES
    size = vtk_to_numpy(sizes.GetOutput().GetCellData().GetArray("Area" if plane else "Volume"))
    whole = (2.0 * np.pi) ** (2 if plane else 3)
    assert size.min() > 0.0, f"{mesh}: a cell is turned inside out"
    # Cells with faces that are not flat are measured in flat parts.
    assert abs(size.sum() / whole - 1.0) < 0.02, f"{mesh}: covers {size.sum() / whole} of the box"


def main():
    for mesh in MESHES:
        same_in_every_cut(mesh)
        fills_the_box(mesh)
    pieces = [flows.pieces_of(rank, 8, 6, empty=2) for rank in range(8)]
    assert sorted(sum(pieces, [])) == list(range(6)) and not pieces[0] and not pieces[1]
    shares = [flows.seed_points(r, 3, 100, flows.bounds("abc")) for r in range(3)]
    whole = flows.seed_points(0, 1, 100, flows.bounds("abc"))
    joined = [s.GetPoint(i) for s in shares for i in range(s.GetNumberOfPoints())]
    assert joined == [whole.GetPoint(i) for i in range(100)]


if __name__ == "__main__":
    check.run(__file__)
