# SPDX-License-Identifier: BSD-3-Clause
"""Several filters and pipelines in one process give the results that each of them gives alone.

* Filters on one input, updated alternately, in orders that change.
* Two instances of each filter with different properties.
* A filter on the output of another one.
* A filter among some ranks only, nested in the work of all.
"""

import check
import scenes
from scenes import COMM
from vtkmodules.vtkParallelCore import vtkMultiProcessController

OTHER = {
    "StreamTracer": {"IntegrationDirection": 2, "Schedule": 1},
    "PathTracer": {"IntegratorType": 0, "OutputKind": 2},
    "FlowMap": {"IntegratorType": 0, "ComputeTensor": 1},
    "Connectivity": {"ScalarRange": [-3.0, -0.2]},
    "FeatureTracker": {"ScalarRange": [0.5, 3.0]},
    "CriticalPoints": {"SelectCriticalField": scenes.choice(3, 0, "velocity")},
    "ConvectionDiffusion": {"Diffusivity": 0.3},
    "HarmonicFill": {"Smoothness": 1},
}
SIZES = {"StreamTracer": 16, "CriticalPoints": 10}


def make(name, **properties):
    small = {"lines": 100, "steps": 60} if name == "StreamTracer" else {}
    return scenes.SCENES[name](SIZES.get(name, 16), **small, **properties)


def result(scene):
    scene.update()
    found = scene.digest()
    assert found is not None, f"{scene.filter.GetClassName()} gives nothing"
    return found


def alternately(instances, usual, rounds=2):
    for number in range(rounds):
        names = list(instances)
        for name in names[number:] + names[:number]:
            assert result(instances[name]) == usual[name], f"{name} in round {number}"


def on_one_input():
    """All filters that need one step read the same source."""
    names = [name for name in scenes.SCENES if name not in ("FeatureTracker", "CriticalPoints", "PathTracer", "FlowMap")]
    alone = {name: result(make_on(None, name)) for name in names}
    first = make_on(None, names[0])
    together = {names[0]: first}
    for name in names[1:]:
        together[name] = make_on(first, name)
    alternately(together, alone, 3)


def make_on(first, name):
    small = {"lines": 100, "steps": 60} if name == "StreamTracer" else {}
    scene = scenes.SCENES[name](16, **small)
    if first is not None:
        scene.inputs[0] = first.inputs[0]
        scene.filter.SetInputConnection(0, scene.inputs[0].GetOutputPort())
    return scene


def two_instances():
    instances, usual = {}, {}
    for name, other in OTHER.items():
        for key, properties in ((name, {}), (f"{name} {other}", other)):
            usual[key] = result(make(name, **properties))
            instances[key] = make(name, **properties)
        assert usual[name] != usual[key], f"{name}: {other} changes nothing"
    alternately(instances, usual)


def on_the_output_of_another():
    """Lines, regions and a concentration from data whose holes are filled in the same pipeline."""
    filled = make_on(None, "HarmonicFill")
    filled.update()
    kept = filled.outputs()[0].NewInstance()
    kept.DeepCopy(filled.outputs()[0])
    for name in ("Connectivity", "StreamTracer", "ConvectionDiffusion"):
        alone, piped = make_on(None, name), make_on(None, name)
        alone.inputs[0] = scenes.Source([kept], (0, 16) * 3)
        alone.filter.SetInputConnection(0, alone.inputs[0].GetOutputPort())
        piped.inputs[0] = filled.inputs[0]
        piped.filter.SetInputConnection(0, filled.filter.GetOutputPort())
        usual = result(alone)
        for _ in range(2):
            assert result(piped) == usual, f"{name} on the output of Async Harmonic Fill"


def nested():
    """A filter of the first ranks, and one of each rank alone, between executions of all."""
    whole = make("Connectivity")
    usual = result(whole)
    world = vtkMultiProcessController.GetGlobalController()
    color = 0 if COMM.rank < COMM.size - 1 else 1
    part = world.PartitionController(color, COMM.rank)
    vtkMultiProcessController.SetGlobalController(part)  # which a new filter takes
    scene = make("Connectivity")
    vtkMultiProcessController.SetGlobalController(world)
    found = []
    for _ in range(2):
        scene.inputs[0].Modified()
        scene.filter.UpdateTimeStep(0.0, COMM.rank, COMM.size, 0)
        found.append(scene.outputs()[0].GetNumberOfCells())
        assert result(whole) == usual, "all ranks, around a filter of some of them"
    assert found[0] == found[1] > 0, f"{found} cells in the filter of some ranks"


def main():
    messages = scenes.Messages()
    for part in (on_one_input, two_instances, on_the_output_of_another, nested):
        part()
        said = "".join(messages.take())
        assert "ERR|" not in said, said
        if COMM.rank == 0:
            print(part.__name__, flush=True)


if __name__ == "__main__":
    check.run(__file__)
