# SPDX-License-Identifier: BSD-3-Clause
"""Tributary's filters in Python: their results in scripts of ParaView, and their classes in those of VTK.

In ParaView, the plugin contains this package: it can be imported after LoadPlugin(), which a client of a server
calls for itself, too (remote=False).

    from paraview.simple import *
    LoadPlugin(".../Tributary.so", ns=globals())
    import tributary

    regions = AsyncConnectivity(Input=OpenDataFile("Data/tjunction.pvtu"))
    print(tributary.table(regions, "Region Table")["Cells"])
    print(tributary.text(tributary.statistics(regions)))

If every rank runs the script (pvbatch --sym, Catalyst), all ranks call a function together, and all have its
result.

On the module path, the package also has the filters' classes, with ParaView's VTK or with VTK alone. On several ranks,
set VTK's global controller before a filter is made.

    from tributary import vtkAsyncConnectivity
"""

from importlib import import_module
from importlib.util import find_spec

# Functions and their modules, which need ParaView and are imported when they are used.
_FUNCTIONS = {"compare": "comparison", "gantt": "timeline", "statistics": "tables", "table": "tables", "text": "tables"}

__all__ = list(_FUNCTIONS)

if find_spec("tributary.TributaryFilters"):  # not in the plugin
    # Modules of the superclasses, and of the classes of arguments.
    import vtkmodules.vtkCommonExecutionModel
    import vtkmodules.vtkParallelCore
    from tributary import TributaryFilters
    from tributary.TributaryFilters import *

    __all__ += [name for name in dir(TributaryFilters) if name.startswith("vtkAsync")]


def __getattr__(name):
    if name not in _FUNCTIONS:
        raise AttributeError(f"module {__name__} has no attribute {name}")
    return getattr(import_module(f"tributary.{_FUNCTIONS[name]}"), name)
