# SPDX-License-Identifier: BSD-3-Clause
"""Results of Tributary's filters in Python.

The plugin contains this package: it can be imported after LoadPlugin(), which a client of a server calls
for itself, too (remote=False).

    from paraview.simple import *
    LoadPlugin(".../Tributary.so", ns=globals())
    import tributary

    regions = AsyncConnectivity(Input=OpenDataFile("Data/tjunction.pvtu"))
    print(tributary.table(regions, "Region Table")["Cells"])
    print(tributary.text(tributary.statistics(regions)))

If every rank runs the script (pvbatch --sym, Catalyst), all ranks call a function together, and all have its
result.
"""

from tributary.comparison import compare
from tributary.tables import statistics, table, text
from tributary.timeline import gantt

__all__ = ["compare", "gantt", "statistics", "table", "text"]
