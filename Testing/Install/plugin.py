# SPDX-License-Identifier: BSD-3-Clause
"""Loads the installed plugin by its name, and compares its streamlines with those of ParaView's Stream Tracer."""

from paraview import servermanager, simple


def listed():
    """The plugins of the plugin manager: name -> (loaded, loaded by itself)."""
    manager = servermanager.vtkSMProxyManager.GetProxyManager().GetPluginManager()
    info = manager.GetLocalInformation()
    return {info.GetPluginName(i): (info.GetPluginLoaded(i), info.GetAutoLoad(i))
            for i in range(info.GetNumberOfPlugins())}


loaded, automatic = listed()["Tributary"]
assert not loaded and not automatic
simple.LoadDistributedPlugin("Tributary")
assert listed()["Tributary"][0]

flow = simple.Calculator(Input=simple.Wavelet(WholeExtent=[-8, 8, -8, 8, -8, 8]), ResultArrayName="v",
                         Function="iHat*(0.3-coordsY)+jHat*coordsX+kHat*0.5")
counts = []
for tracer in (simple.AsyncStreamTracer, simple.StreamTracer):
    lines = tracer(Input=flow, Vectors=["POINTS", "v"], SeedType="Line", MaximumStreamlineLength=20)
    lines.SeedType.Point1, lines.SeedType.Point2, lines.SeedType.Resolution = [1, 0, -5], [6, 0, -5], 5
    lines.UpdatePipeline()
    counts.append(lines.GetDataInformation().GetNumberOfCells())
print("lines:", *counts)
ranks = servermanager.vtkProcessModule.GetProcessModule().GetNumberOfLocalPartitions()
# A line in each direction from 6 seeds. Between ranks, Stream Tracer divides lines.
assert counts[0] == 12 and (counts[1] == 12 or ranks > 1)
