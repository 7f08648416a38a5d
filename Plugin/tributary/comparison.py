# SPDX-License-Identifier: BSD-3-Clause
"""Tributary's filters beside those of ParaView that compute the same."""

import time

import numpy as np
from paraview import servermanager
from tributary.proxies import fresh, reduced, size, update_input
from vtkmodules.vtkParallelCore import vtkCommunicator

# By the name of a proxy, that of ParaView's.
COUNTERPARTS = {
    "AsyncStreamTracer": "StreamTracer",
    "AsyncStreamTracerWithCustomSource": "ArbitrarySourceStreamTracer",
    "AsyncConnectivity": "PVConnectivityFilter",
}


def compare(proxy, other=None):
    """The seconds that a filter and its counterpart take for the same input, and the sizes of their outputs.

    Returns a structured array with the columns Filter, Seconds, Cells and Points and a row for each of both:
    compare(lines)["Seconds"]. Fresh filters with the same properties are timed, one after the other, in
    their first execution, with an input that is up to date. Their outputs are not kept. If each rank runs the script,
    the seconds are those of the slowest one.

    proxy  Async Stream Tracer (also With Custom Source), which is compared with Stream Tracer, or Async
           Connectivity, which is compared with Connectivity, behind Threshold if Scalar Connectivity is on: with
           one Scalar Range, also with Full Scalar Connectivity
    other  another filter to compare any filter with
    """
    update_input(proxy)
    if other:
        update_input(other)
    return np.array(
        [_measured(fresh(proxy)), _measured(fresh(other) if other else _counterpart(proxy))],
        [("Filter", "U64"), ("Seconds", float), ("Cells", int), ("Points", int)],
    )


def _measured(proxy):
    begin = time.perf_counter()
    proxy.UpdatePipeline()
    seconds = time.perf_counter() - begin
    (slowest,) = reduced([seconds], vtkCommunicator.MAX_OP)
    return proxy.SMProxy.GetXMLLabel(), slowest, *size(proxy)


def _counterpart(proxy):
    name = proxy.SMProxy.GetXMLName()
    if name not in COUNTERPARTS:
        raise ValueError(f"ParaView has no counterpart of {proxy.SMProxy.GetXMLLabel()}; give one as `other`")
    made = fresh(proxy, COUNTERPARTS[name])
    if name == "AsyncConnectivity" and proxy.ScalarConnectivity:
        made.Input = _cells_in_range(proxy)
    return made


def _cells_in_range(connectivity):
    """The cells that Scalar Connectivity takes: those with a point in the range, or with all points if it is full."""
    if len(connectivity.ScalarRange) != 2:
        raise ValueError("Threshold has one range: give one Scalar Range")
    cells = servermanager.filters.Threshold(Input=connectivity.Input)
    cells.Scalars = list(connectivity.Scalars)
    cells.LowerThreshold, cells.UpperThreshold = connectivity.ScalarRange
    cells.AllScalars = int(connectivity.FullScalarConnectivity)
    return cells
