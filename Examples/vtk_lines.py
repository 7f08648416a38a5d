# SPDX-License-Identifier: BSD-3-Clause
"""Streamlines of a distributed data set in plain Python, with VTK and mpi4py and without ParaView.

    mpirun -n 4 python3 Examples/vtk_lines.py Data/tjunction.pvtu U lines.pvtp

Each rank reads its pieces, all ranks trace the lines together, and each rank writes those that it owns.
"""

import sys

from mpi4py import MPI
from tributary import vtkAsyncStreamTracer
from vtkmodules.vtkCommonDataModel import vtkBoundingBox, vtkDataObject
from vtkmodules.vtkFiltersSources import vtkPointSource
from vtkmodules.vtkIOParallelXML import vtkXMLPPolyDataWriter
from vtkmodules.vtkIOXML import vtkXMLPUnstructuredGridReader
from vtkmodules.vtkParallelCore import vtkMultiProcessController
from vtkmodules.vtkParallelMPI import vtkMPIController

source, vectors, target = sys.argv[1:]

# A filter uses the global controller that is set when it is made.
controller = vtkMPIController()
controller.Initialize()
vtkMultiProcessController.SetGlobalController(controller)
rank, ranks = MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size

reader = vtkXMLPUnstructuredGridReader()
reader.SetFileName(source)
reader.UpdatePiece(rank, ranks, 0)

box = vtkBoundingBox()
for bounds in MPI.COMM_WORLD.allgather(reader.GetOutput().GetBounds()):
    box.AddBounds(bounds)
seeds = vtkPointSource()  # of rank 0, which requests piece 0
seeds.SetNumberOfPoints(1000)
seeds.SetCenter([(low + high) / 2 for low, high in zip(box.GetMinPoint(), box.GetMaxPoint())])
seeds.SetRadius(0.2 * box.GetMaxLength())

tracer = vtkAsyncStreamTracer()
tracer.SetInputConnection(0, reader.GetOutputPort())
tracer.SetSourceConnection(seeds.GetOutputPort())
tracer.SetInputArrayToProcess(0, 0, 0, vtkDataObject.FIELD_ASSOCIATION_POINTS, vectors)
tracer.SetIntegrationDirection(tracer.BOTH)
tracer.SetMaximumPropagation(5 * box.GetMaxLength())
tracer.UpdatePiece(rank, ranks, 0)

writer = vtkXMLPPolyDataWriter()
writer.SetInputConnection(tracer.GetOutputPort())
writer.SetFileName(target)
writer.SetNumberOfPieces(ranks)
writer.SetStartPiece(rank)
writer.SetEndPiece(rank)
writer.SetDataModeToBinary()  # VTK with expat 2.6 or newer cannot read appended data
writer.Write()

count = MPI.COMM_WORLD.allreduce(tracer.GetOutputDataObject(0).GetNumberOfCells())
if rank == 0:
    print(f"{count} lines in {target}")
