# SPDX-License-Identifier: BSD-3-Clause
"""Tributary's filters as Python classes, for scripts that use VTK without ParaView's proxies.

>>> from tributary import vtkAsyncStreamTracer

Each class is documented by help(). On several ranks, set the global controller of VTK before a filter is made:

>>> from mpi4py import MPI
>>> from vtkmodules.vtkParallelCore import vtkMultiProcessController
>>> from vtkmodules.vtkParallelMPI import vtkMPIController
>>> controller = vtkMPIController()
>>> controller.Initialize()
>>> vtkMultiProcessController.SetGlobalController(controller)
"""

# The modules of the superclasses and of the objects that methods return.
import vtkmodules.vtkCommonExecutionModel
import vtkmodules.vtkParallelMPI  # noqa: F401

from .TributaryFilters import *
