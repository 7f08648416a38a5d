# SPDX-License-Identifier: BSD-3-Clause
"""The Python package that the plugin contains, in pvbatch; also where each rank runs the script."""
import module  # beside this file
from checks import *

names = load_plugin()
import tributary  # noqa: E402  (from the plugin)

ranks = servermanager.ActiveConnection.GetNumberOfDataPartitions()
tracer = module.check_tables(tributary, names, ranks)
module.check_comparison(tributary, names, tracer)
print("passed")
