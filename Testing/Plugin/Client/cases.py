# SPDX-License-Identifier: BSD-3-Clause
"""What the client test does with each filter: its input, where it is in the menu, what its panel shows, and what
there is to see after the first Apply."""
from dataclasses import dataclass, field


@dataclass
class Case:
    """A filter that a user chooses in the menu for an input, and applies with its defaults."""

    filter: str  # name of the proxy
    category: str  # submenu of Filters
    data: str  # function of inputs.py that makes the input
    seeds: str = ""  # function of inputs.py that makes the second input; empty: the filter has none
    cells: int = 1  # minimum number of cells shown
    colored: bool = True  # whether the picture has colors other than shades of gray
    color: str = ""  # the array that colors the result at first; empty: ParaView shows the outline of a grid
    last: bool = False  # whether the last time step is looked at, instead of the current one
    events: list = field(default_factory=list)  # of the panel before Apply; see events.py


def shown(*widgets):
    return [("check", widget, "visible", "true") for widget in widgets]


def hidden(*widgets):
    return [("check", widget, "visible", "false") for widget in widgets]


def chosen(widget, text):
    """A user chooses a text in a combo box."""
    return [("do", widget + "/ComboBox", "set_string", text)]


def checked(widget, on):
    """A user checks a box, or clears it."""
    return [("do", widget + "/CheckBox", "set_boolean", str(on).lower())]


def typed(widget, text):
    """A user types a number."""
    return [("do", widget + "/DoubleLineEdit0", "set_string", text)]


COMPONENTS = ["SelectXComponent", "SelectYComponent", "SelectZComponent"]
# The panel shows the properties that the choices of others need.
VELOCITY = [
    *shown("SelectInputVectors"),
    *hidden(*COMPONENTS, "SphereRadius"),
    *chosen("VelocityForm", "Components"),
    *hidden("SelectInputVectors"),
    *shown(*COMPONENTS),
    *chosen("Coordinates", "Longitude Latitude"),
    *shown("SphereRadius"),
    *chosen("Coordinates", "Cartesian"),
    *chosen("VelocityForm", "Vector Array"),
    *hidden(*COMPONENTS),
]
CONNECTIVITY = [
    *hidden("ScalarRange", "Schedule"),
    *checked("ScalarConnectivity", True),
    # Sliders, not a table.
    *shown("ScalarRange/ThresholdBetween_0", "ScalarRange/ThresholdBetween_1"),
    *checked("ScalarConnectivity", False),
]
TRACKER = [
    *shown("Features", "ScalarRange/ThresholdBetween_0", "Match"),
    *chosen("Features", "Critical Points"),
    *hidden("ScalarRange", "Match"),
    *shown("SelectCriticalField"),
    *chosen("Features", "Regions"),
    *chosen("SelectInputScalars", "alpha.water"),
]
CONVECTION = [
    *hidden("InteractiveSphere"),
    *chosen("SourceType", "Box"),
    *shown("SourceBounds"),
    *chosen("SourceType", "Sphere"),
    *hidden("SourceBounds"),
    *shown("InteractiveSphere"),
    *typed("TimeStep", "0.002"),
]

CASES = [
    Case("AsyncStreamTracer", "Tributary", "channel", cells=100, events=VELOCITY),
    Case("AsyncStreamTracerWithCustomSource", "Tributary", "channel", "inlet", cells=20),
    Case("AsyncPathTracer", "Temporal", "drops", "water", cells=20, colored=False),
    Case("AsyncFlowMap", "Tributary", "channel", cells=1000, events=typed("IntegrationTime", "0.02")),
    Case("AsyncConnectivity", "Tributary", "splash", cells=1000, color="RegionId", events=CONNECTIVITY),
    Case("AsyncFeatureTracker", "Temporal", "drops", cells=100, color="TrackId", events=TRACKER),
    Case(
        "AsyncConvectionDiffusion", "Tributary", "sampled_channel", cells=1000, color="Concentration", last=True,
        events=CONVECTION),
    Case("AsyncHarmonicFill", "Tributary", "holes", cells=1000, color="holes"),
]
