# SPDX-License-Identifier: BSD-3-Clause
"""The Python package that the plugin contains, in pvbatch; also where each rank runs the script."""
import module_checks  # beside this file
from checks import *

names = load_plugin()
import tributary  # noqa: E402  (from the plugin)

ranks = servermanager.ActiveConnection.GetNumberOfDataPartitions()
tracer = module_checks.check_tables(tributary, names, ranks)
symmetric = servermanager.vtkProcessModule.GetProcessModule().GetSymmetricMPIMode()
module_checks.check_comparison(tributary, names, tracer, symmetric)
module_checks.check_charts(tributary, tracer)
print("passed")
