# SPDX-License-Identifier: BSD-3-Clause
"""A dam break on a mesh that changes in every step, as VTK files: drops come off, fall back and join.

    pvpython Data/drops.py FOLDER [PIECES]

makes FOLDER/drops.pvd of drops.npz, each step in so many pieces (1), cut across x. The arrays of cells
are alpha.water (the share of water), U (m/s) and Level (0, or 1 in cells that were halved).

drops.npz holds, for each of its `times` (s), what openfoam_to_drops.py kept of OpenFOAM's result:
  fluid       a bit for each of 32^3 base cells of the unit cube, x fastest: all but the obstacle's
  refined_S   a bit for each base cell: halved in each direction in step S
  alpha_S     alpha.water, in 255ths, of the cells: of the base cells in order, or of their eight halves
  velocity_S  U in 16ths of m/s, by component, of those of these cells whose alpha is a tenth or more;
              elsewhere it is given as zero
"""

import os
import sys

import numpy as np

CELLS = 32
SPEED_UNIT = 1 / 16
WET = 26  # 255ths
FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "drops.npz")


def leaves_of(refined, fluid):
    """Base cell and child (0 if it is whole) of every cell, in the order in which they are kept."""
    base = np.repeat(np.arange(CELLS**3), np.where(fluid, np.where(refined, 8, 1), 0))
    first = np.r_[True, base[1:] != base[:-1]]
    start = np.maximum.accumulate(np.where(first, np.arange(len(base)), 0))
    return base, np.arange(len(base)) - start


class Drops:
    def __init__(self, file=FILE):
        with np.load(file) as arrays:
            self._arrays = dict(arrays)
        self.times = [float(t) for t in self._arrays["times"]]
        self._fluid = np.unpackbits(self._arrays["fluid"]).astype(bool)

    def cells(self, step):
        """For each cell its lowest corner and width, in half base cells; alpha, velocity."""
        refined = np.unpackbits(self._arrays[f"refined_{step}"]).astype(bool)
        base, child = leaves_of(refined, self._fluid)
        fine = refined[base]
        low = 2 * np.stack([base // CELLS**a % CELLS for a in range(3)], axis=1)
        low += np.stack([child >> a & 1 for a in range(3)], axis=1)
        alpha = self._arrays[f"alpha_{step}"]
        velocity = np.zeros((len(alpha), 3), np.float32)
        velocity[alpha >= WET] = self._arrays[f"velocity_{step}"].T * SPEED_UNIT
        return low, np.where(fine, 1, 2), alpha.astype(np.float32) / 255, velocity

    def mesh(self, step, piece=0, pieces=1):
        """A vtkUnstructuredGrid of the cells whose middle lies in the piece-th slab across x.

        Whole cells beside halved ones are polyhedra with the smaller faces, so that what lies beside
        each other has faces in common; all others are hexahedra.
        """
        from vtkmodules.util.numpy_support import numpy_to_vtk, numpy_to_vtkIdTypeArray
        from vtkmodules.vtkCommonCore import vtkIdList, vtkPoints
        from vtkmodules.vtkCommonDataModel import (
            VTK_HEXAHEDRON,
            VTK_POLYHEDRON,
            vtkCellArray,
            vtkUnstructuredGrid,
        )

        low, width, alpha, velocity = self.cells(step)
        n = 2 * CELLS
        halved = np.zeros((n + 3,) * 3, bool)  # with a margin
        halved[tuple(low[width == 1].T + 1)] = True
        # By axis and side: is the neighbor of a whole cell halved?
        beside = np.stack(
            [
                (width == 2) & halved[tuple((low + 1 + (2 if side else -1) * np.eye(3, dtype=int)[a]).T)]
                for a in range(3)
                for side in (0, 1)
            ],
            axis=1,
        )
        here = (2 * low[:, 0] + width) * pieces // (2 * n) == piece
        simple = np.flatnonzero(here & ~beside.any(axis=1))
        split = np.flatnonzero(here & beside.any(axis=1))

        def keys(places):
            return (places[..., 2] * (n + 1) + places[..., 1]) * (n + 1) + places[..., 0]

        def faces_of(cell):
            """Places of the corners of a whole cell's faces, seen from outside."""
            faces = []
            for side in range(6):
                axis, up = divmod(side, 2)
                u, v = (axis + 1) % 3, (axis + 2) % 3
                step = 1 if beside[cell, side] else 2
                for i in range(0, 2, step):
                    for j in range(0, 2, step):
                        corners = np.tile(low[cell], (4, 1))
                        corners[:, axis] += 2 * up
                        corners[:, u] += i + step * np.array((0, 1, 1, 0))
                        corners[:, v] += j + step * np.array((0, 0, 1, 1))
                        faces.append(keys(corners if up else corners[::-1]))
            return faces

        around = np.array(
            ((0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1))
        )
        boxes = keys(low[simple, None, :] + width[simple, None, None] * around)
        polyhedra = [faces_of(cell) for cell in split]
        used = np.unique(np.concatenate([boxes.ravel()] + [f for faces in polyhedra for f in faces]))
        grid = vtkUnstructuredGrid()
        points = vtkPoints()
        coordinates = np.stack([used // (n + 1) ** a % (n + 1) for a in range(3)], axis=1)
        points.SetData(numpy_to_vtk((coordinates / n).astype(np.float32), deep=1))
        grid.SetPoints(points)
        hexahedra = vtkCellArray()
        hexahedra.SetData(
            numpy_to_vtkIdTypeArray(8 * np.arange(len(simple) + 1), deep=1),
            numpy_to_vtkIdTypeArray(np.searchsorted(used, boxes.ravel()), deep=1),
        )
        grid.SetCells(VTK_HEXAHEDRON, hexahedra)
        for faces in polyhedra:
            ids = vtkIdList()
            ids.InsertNextId(len(faces))
            for face in faces:
                ids.InsertNextId(4)
                for p in np.searchsorted(used, face):
                    ids.InsertNextId(p)
            grid.InsertNextCell(VTK_POLYHEDRON, ids)
        mine = np.concatenate([simple, split])
        level = np.where(width == 1, 1, 0).astype(np.uint8)
        for name, values in (("alpha.water", alpha), ("U", velocity), ("Level", level)):
            array = numpy_to_vtk(np.ascontiguousarray(values[mine]), deep=1)
            array.SetName(name)
            grid.GetCellData().AddArray(array)
        return grid


HEADER = """<VTKFile type="PUnstructuredGrid" version="0.1">
<PUnstructuredGrid GhostLevel="0">
<PPoints><PDataArray type="Float32" NumberOfComponents="3"/></PPoints>
<PCellData>
<PDataArray type="Float32" Name="alpha.water"/>
<PDataArray type="Float32" Name="U" NumberOfComponents="3"/>
<PDataArray type="UInt8" Name="Level"/>
</PCellData>
"""


def write(folder, pieces=1):
    """Writes drops.pvd and its files, and returns its path."""
    from vtkmodules.vtkIOXML import vtkXMLUnstructuredGridWriter

    drops = Drops()
    os.makedirs(os.path.join(folder, "drops"), exist_ok=True)
    writer = vtkXMLUnstructuredGridWriter()
    # Inline: the expat of Debian 12 does not let ParaView 5.11 read appended data.
    writer.SetDataModeToBinary()
    steps = []
    for step, time in enumerate(drops.times):
        names = [f"drops_{step}_{piece}.vtu" for piece in range(pieces)]
        for piece, name in enumerate(names):
            writer.SetFileName(os.path.join(folder, "drops", name))
            writer.SetInputData(drops.mesh(step, piece, pieces))
            if not writer.Write():
                raise RuntimeError(f"cannot write {writer.GetFileName()}")
        with open(os.path.join(folder, "drops", f"drops_{step}.pvtu"), "w") as file:
            file.write(HEADER)
            file.writelines(f'<Piece Source="{name}"/>\n' for name in names)
            file.write("</PUnstructuredGrid>\n</VTKFile>\n")
        steps.append(f'<DataSet timestep="{time:g}" file="drops/drops_{step}.pvtu"/>\n')
    path = os.path.join(folder, "drops.pvd")
    with open(path, "w") as file:
        file.write('<VTKFile type="Collection" version="0.1">\n<Collection>\n')
        file.writelines(steps)
        file.write("</Collection>\n</VTKFile>\n")
    return path


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    print(write(sys.argv[1], int(sys.argv[2]) if len(sys.argv) == 3 else 1))
