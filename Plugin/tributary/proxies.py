# SPDX-License-Identifier: BSD-3-Clause
"""Proxies, and the ranks on which a script runs."""

import numpy as np
from paraview import servermanager
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkParallelCore import vtkCommunicator, vtkMultiProcessController


def fresh(proxy, name=None):
    """A new filter, of another name if one is given, with those properties of `proxy` that it has."""
    made = servermanager.CreateProxy(proxy.SMProxy.GetXMLGroup(), name or proxy.SMProxy.GetXMLName())
    made.Copy(proxy.SMProxy)
    seeds = made.GetProperty("Source")
    if seeds and seeds.FindDomain("vtkSMProxyListDomain"):  # Seed Type: a source that Copy() does not keep
        seeds.RemoveAllProxies()
        seeds.AddProxy(proxy.SMProxy.GetProperty("Source").GetProxy(0))
    made.UpdateVTKObjects()
    return servermanager._getPyProxy(made)


def update_input(proxy):
    """Executes what comes before a filter, so that the filter alone is measured."""
    if proxy.SMProxy.GetProperty("Input"):
        proxy.Input.UpdatePipeline()


def is_symmetric():
    """Whether each rank runs the script."""
    return bool(servermanager.vtkProcessModule.GetProcessModule().GetSymmetricMPIMode())


def is_first_rank():
    """Whether the script runs here alone, or on the first one of its ranks."""
    return vtkMultiProcessController.GetGlobalController().GetLocalProcessId() == 0


def reduced(numbers, operation):
    """Numbers of the same type, reduced over all ranks that run the script by an operation of vtkCommunicator."""
    if not is_symmetric():
        return numbers
    here = numpy_to_vtk(np.array(numbers))
    everywhere = here.NewInstance()
    everywhere.UnRegister(None)
    everywhere.SetNumberOfValues(len(numbers))
    vtkMultiProcessController.GetGlobalController().AllReduce(here, everywhere, operation)
    return vtk_to_numpy(everywhere).tolist()


def size(proxy):
    """The cells and points of the output on all ranks. A script of each rank is only told those of its own rank."""
    information = proxy.GetDataInformation()
    return reduced([information.GetNumberOfCells(), information.GetNumberOfPoints()], vtkCommunicator.SUM_OP)
