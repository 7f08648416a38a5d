# SPDX-License-Identifier: BSD-3-Clause
"""Macro: the inputs of the next case and nothing else, shown and active, as a user has them before choosing a
filter."""
import inputs
import progress
from paraview.simple import *

case = progress.begin()
for source in reversed(list(GetSources().values())):
    Delete(source)
data = getattr(inputs, case.data)()
view = GetActiveViewOrCreate("RenderView")
if case.seeds:
    UpdatePipeline(proxy=getattr(inputs, case.seeds)())
scene = GetAnimationScene()
scene.UpdateAnimationUsingDataTimeSteps()
scene.GoToLast()
Show(data, view)
HideUnusedScalarBars(view)
ResetCamera(view)
SetActiveSource(data)
