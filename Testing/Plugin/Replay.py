# SPDX-License-Identifier: BSD-3-Clause
"""The Python trace of all filters, executed in a new session, makes the same filters with the same results."""
from checks import *
from paraview import smtrace

VECTORS = ["POINTS", "swirl"]
REGIONS = {"ScalarConnectivity": 1, "Scalars": ["POINTS", "RTData"], "ScalarRange": [30, 80]}
PROPERTIES = {
    "AsyncStreamTracer": {"Vectors": VECTORS, "SeedType": "Line", "Events": ["sphere center 0 0 0 radius 9 end"],
                          "MaximumSteps": 50, "StallTimeout": 60},
    "AsyncStreamTracerWithCustomSource": {"Vectors": VECTORS, "IntegrationDirection": "FORWARD", "JoinDirections": 1},
    "AsyncPathTracer": {"Vectors": VECTORS, "OutputKind": "Particles", "MaximumError": 1e-4},
    "AsyncFlowMap": {"Vectors": VECTORS, "IntegrationTime": 0.5, "SamplingDimensions": [9, 8, 1]},
    "AsyncConnectivity": {**REGIONS, "ExtractionMode": "Extract Largest Region", "Periodic": [1, 0, 0]},
    "AsyncFeatureTracker": {**REGIONS, "ConnectThrough": "Faces", "MinimumOverlap": 0.3},
    "AsyncConvectionDiffusion": {"Velocity": VECTORS, "Diffusivity": 0.5, "XMinCondition": "Value", "XMinValue": 2,
                                 "TimeStep": 0.01, "NumberOfSteps": 3},
    "AsyncHarmonicFill": {"PointArrays": ["RTData"], "Unknown": "Mask", "Mask": ["POINTS", "hole"],
                          "Smoothness": "Biharmonic"},
}


def make(names):
    """All filters, on a flow with a hole."""
    flow = swirl(10)
    data = Calculator(registrationName="data", Input=flow, ResultArrayName="hole", Function="RTData>250")
    seeds = Line(registrationName="seeds", Point1=[2, 0, 0], Point2=[8, 0, 0], Resolution=6)
    data.UpdatePipeline()
    for name, properties in PROPERTIES.items():
        further = {"SeedSource": seeds} if name in ("AsyncStreamTracerWithCustomSource", "AsyncPathTracer") else {}
        made = names[name](registrationName=name, Input=data, **further)
        # One after the other: values equal to the defaults are forgotten if they are given above.
        for key, value in properties.items():
            setattr(made, key, value)
        if name == "AsyncStreamTracer":
            made.SeedType.Point1, made.SeedType.Point2, made.SeedType.Resolution = [1, 0, 0], [9, 0, 0], 4


def results():
    """Of each filter, the properties that were set and the sizes of all outputs."""
    found = {}
    for name, properties in PROPERTIES.items():
        made = FindSource(name)
        expect(made is not None, "the trace makes " + name)
        made.UpdatePipeline()
        values = [str(getattr(made, key)) for key in properties]
        sizes = []
        for port in range(made.SMProxy.GetNumberOfOutputPorts()):
            OutputPort(made, port).UpdatePipeline()
            size = made.GetDataInformation(port)
            sizes.append((size.GetNumberOfPoints(), size.GetNumberOfCells(), size.GetNumberOfRows(), size.GetBounds()))
        found[name] = (values, sizes)
    return found


names = load_plugin()
smtrace.start_trace()
make(names)
trace = smtrace.stop_trace()
made = results()
ResetSession()
load_plugin()
expect(FindSource("AsyncConnectivity") is None, "the session is new")
exec(trace, {})
replayed = results()
for name in PROPERTIES:
    expect(made[name] == replayed[name], f"{name}: {made[name]} and after the trace {replayed[name]}\n{trace}")
expect(sum(sum(sizes[0][:3]) > 0 for _, sizes in made.values()) == len(PROPERTIES), f"empty outputs: {made}")
print("passed")
