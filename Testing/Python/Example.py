# SPDX-License-Identifier: BSD-3-Clause
"""Runs Examples/vtk_lines.py on each rank. The first one compares what it prints with the file that all have written.

    python3 Example.py <repository>
"""

import io
import os
import runpy
import sys
from contextlib import redirect_stdout

from mpi4py import MPI
from vtkmodules.vtkIOXML import vtkXMLPPolyDataReader

source, printed = sys.argv[1], io.StringIO()
sys.argv = ["vtk_lines.py", os.path.join(source, "Data", "tjunction.pvtu"), "U", "lines.pvtp"]
with redirect_stdout(printed):
    runpy.run_path(os.path.join(source, "Examples", "vtk_lines.py"), run_name="__main__")
MPI.COMM_WORLD.barrier()
if MPI.COMM_WORLD.rank == 0:
    reader = vtkXMLPPolyDataReader()
    reader.SetFileName("lines.pvtp")
    reader.Update()
    lines = reader.GetOutput().GetNumberOfCells()
    if lines != 60 or printed.getvalue() != "60 lines in lines.pvtp\n":
        sys.exit(f"{lines} lines are in the file; printed: {printed.getvalue()}")
