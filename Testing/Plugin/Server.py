# SPDX-License-Identifier: BSD-3-Clause
"""The client of Server.sh: connects, loads the plugin on both sides, and executes filters on the server."""
import sys
import time

import module_checks  # beside this file
from checks import *

for attempt in range(600):
    try:
        connection = Connect("localhost", int(sys.argv[1]))
        break
    except RuntimeError:
        time.sleep(0.5)
else:
    sys.exit("no connection to pvserver")

load_plugin(remote=True)
names = load_plugin()
expect(connection.GetNumberOfDataPartitions() == 3, "the server has 3 ranks")

tracer = names["AsyncStreamTracer"](Input=swirl(), SeedType="Line")
tracer.Vectors = ["POINTS", "swirl"]
tracer.SeedType.Point1 = [2, 0, 0]
tracer.SeedType.Point2 = [15, 0, 0]
tracer.SeedType.Resolution = 12
check_swirl(fetch(tracer), 13)

blob = names["AsyncConnectivity"](Input=Wavelet(), ScalarConnectivity=1, ScalarRange=[200, 1000],
                                  Scalars=["POINTS", "RTData"])
check_blob(blob)

import tributary  # noqa: E402  (from the plugin)

module_checks.check_tables(tributary, names, 3)

blob.ExtractRegions = 1  # of a grid, ParaView would show the outline first, in no color
shown = Show(blob)
expect(tuple(shown.ColorArrayName) == ("CELLS", "RegionId"), "regions are colored by %s" % shown.ColorArrayName)
offered = shown.SMProxy.GetProperty("ColorArrayName").GetDomain("array_list")
names = [offered.GetString(i) for i in range(offered.GetNumberOfStrings())]
expect("RegionId" in names and not [n for n in names if n.startswith("Async")], "colors to choose from: %s" % names)
Show(tracer)
Render()
Disconnect()
print("passed")
