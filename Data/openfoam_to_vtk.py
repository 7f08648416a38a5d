# SPDX-License-Identifier: BSD-3-Clause
"""Write one time of a decomposed OpenFOAM case as VTK files, one piece a rank.

    mpirun -n PIECES pvbatch openfoam_to_vtk.py CASE TIME OUTPUT KIND ARRAY...

CASE is the case's folder with processor0 .. processor<PIECES-1>, TIME the time
to read, OUTPUT the file to write and KIND one of

    split       OUTPUT.pvtu: internal mesh, polyhedra split by the reader
    polyhedra   OUTPUT.pvtu: internal mesh, polyhedra as VTK_POLYHEDRON
    multiblock  OUTPUT.vtm:  internal mesh and patches, polyhedra split

Files are XML with inline binary, because ParaView 5.11 with Debian 12's expat
cannot read XML files with appended data. Arrays not named, and all field data
(the reader puts the case's path there), are left out.
"""

import os
import sys

from paraview.simple import (
    ExtractBlock,
    MergeBlocks,
    OpenFOAMReader,
    ProgrammableFilter,
    SaveData,
)

KEEP_ARRAYS = """
keep = set({arrays!r})

def strip(data):
    for attributes in (data.GetPointData(), data.GetCellData()):
        for name in [attributes.GetArrayName(i) for i in range(attributes.GetNumberOfArrays())]:
            if name not in keep:
                attributes.RemoveArray(name)
    data.GetFieldData().Initialize()

source = self.GetInputDataObject(0, 0)
result = self.GetOutputDataObject(0)
if source.IsA("vtkCompositeDataSet"):
    result.CopyStructure(source)
    leaves = source.NewIterator()
    leaves.InitTraversal()
    while not leaves.IsDoneWithTraversal():
        leaf = leaves.GetCurrentDataObject().NewInstance()
        leaf.ShallowCopy(leaves.GetCurrentDataObject())
        strip(leaf)
        result.SetDataSet(leaves, leaf)
        leaves.GoToNextItem()
    result.GetFieldData().Initialize()
else:
    result.ShallowCopy(source)
    strip(result)
"""


def main(case, time, output, kind, arrays):
    marker = os.path.join(case, "case.foam")
    open(marker, "w", encoding="ascii").close()
    # Given later than at construction, the reader looks for a reconstructed case first.
    reader = OpenFOAMReader(FileName=marker, CaseType="Decomposed Case")
    reader.Decomposepolyhedra = 0 if kind == "polyhedra" else 1
    reader.Createcelltopointfiltereddata = 1
    reader.UpdatePipelineInformation()
    available = list(reader.MeshRegions.Available)
    if "internalMesh" not in available:
        raise RuntimeError(f"{case} holds no decomposed mesh; run decomposePar in it first")
    reader.MeshRegions = available if kind == "multiblock" else ["internalMesh"]
    reader.CellArrays = arrays
    reader.UpdatePipeline(time)
    mesh = reader
    if kind != "multiblock":
        mesh = MergeBlocks(Input=ExtractBlock(Input=reader, Selectors=["//internalMesh"]))
        # Doubled interface points are what a decomposed run really has.
        mesh.MergePoints = 0
        mesh.UpdatePipeline(time)
    clean = ProgrammableFilter(Input=mesh, Script=KEEP_ARRAYS.format(arrays=arrays))
    clean.UpdatePipeline(time)
    SaveData(output, proxy=clean, DataMode="Binary", CompressorType="ZLib", CompressionLevel="9")


if __name__ == "__main__":
    if len(sys.argv) < 6:
        sys.exit(__doc__)
    main(sys.argv[1], float(sys.argv[2]), sys.argv[3], sys.argv[4], sys.argv[5:])
