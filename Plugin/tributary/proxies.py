# SPDX-License-Identifier: BSD-3-Clause
"""Proxies, and the ranks on which a script runs."""

from paraview import servermanager
from vtkmodules.vtkParallelCore import vtkMultiProcessController


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
