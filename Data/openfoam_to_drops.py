# SPDX-License-Identifier: BSD-3-Clause
"""Keep the water of a dam break on a mesh that is refined as it goes, in a small file.

    pvbatch openfoam_to_drops.py CASE FIRST OUTPUT.npz

CASE is the case's folder, with hexahedra in a unit cube's lattice that were halved at most once. All
times from FIRST on are kept; drops.py says what is in the file, and makes a mesh of it again.
"""

import os
import sys

import numpy as np
from paraview.simple import OpenFOAMReader
from vtkmodules.util.numpy_support import vtk_to_numpy

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from drops import CELLS, SPEED_UNIT, WET, leaves_of  # noqa: E402  (found on the path set above)


def corners(mesh):
    """The lowest corner and the width of every cell, in base cells."""
    cells = mesh.GetCells()
    points = vtk_to_numpy(mesh.GetPoints().GetData()).astype(float) * CELLS
    of_cells = points[vtk_to_numpy(cells.GetConnectivityArray())]
    begin = vtk_to_numpy(cells.GetOffsetsArray())[:-1]
    low = np.minimum.reduceat(of_cells, begin)
    width = np.maximum.reduceat(of_cells, begin) - low
    return low, width


def kept(mesh):
    """refined, alpha and velocity as drops.py describes them; and which base cells there are."""
    low, width = corners(mesh)
    halves = np.rint(low * 2).astype(int)
    fine = width.max(axis=1) < 0.75
    if abs(halves - low * 2).max() > 0.01 or abs(width - np.where(fine, 0.5, 1)[:, None]).max() > 0.01:
        raise RuntimeError("cells are not those of a lattice, or halved more than once")
    base = (halves // 2) @ (1, CELLS, CELLS * CELLS)
    refined = np.zeros(CELLS**3, bool)
    refined[base[fine]] = True
    fluid = np.zeros(CELLS**3, bool)
    fluid[base] = True
    leaf_base, leaf_child = leaves_of(refined, fluid)
    order = np.lexsort((np.where(fine, (halves % 2) @ (1, 2, 4), 0), base))
    if not np.array_equal(base[order], leaf_base):
        raise RuntimeError("base cells are neither whole nor halved")
    arrays = mesh.GetCellData()
    alpha = vtk_to_numpy(arrays.GetArray("alpha.water"))[order]
    alpha = np.rint(255 * np.clip(alpha, 0, 1)).astype(np.uint8)
    velocity = vtk_to_numpy(arrays.GetArray("U"))[order][alpha >= WET]
    if abs(velocity).max() > 127 * SPEED_UNIT:
        raise RuntimeError("water is too fast to be kept in a byte")
    return refined, alpha, np.rint(velocity / SPEED_UNIT).astype(np.int8), fluid


def main(case, first, output):
    marker = os.path.join(case, "case.foam")
    open(marker, "w", encoding="ascii").close()
    reader = OpenFOAMReader(
        FileName=marker, MeshRegions=["internalMesh"], CellArrays=["alpha.water", "U"]
    )
    reader.Decomposepolyhedra = 0
    reader.Createcelltopointfiltereddata = 0
    reader.UpdatePipelineInformation()
    times = [t for t in reader.TimestepValues if t >= first - 1e-9]
    arrays = {"times": np.array(times)}
    for step, time in enumerate(times):
        reader.UpdatePipeline(time)
        mesh = reader.GetClientSideObject().GetOutputDataObject(0).GetBlock(0)
        refined, alpha, velocity, fluid = kept(mesh)
        arrays["fluid"] = np.packbits(fluid)
        arrays[f"refined_{step}"] = np.packbits(refined)
        arrays[f"alpha_{step}"] = alpha
        arrays[f"velocity_{step}"] = velocity.T.copy()
    np.savez_compressed(output, **arrays)
    print(f"{output}: {len(times)} steps, {os.path.getsize(output) // 1024} KiB")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(sys.argv[1], float(sys.argv[2]), sys.argv[3])
