# SPDX-License-Identifier: BSD-3-Clause
"""Values at and past the bounds of properties, as the domains in Plugin/*.xml give them, and how they are set."""

import functools
import glob
import math
import os
import re
import xml.etree.ElementTree as ElementTree

SOURCE = os.environ["TRIBUTARY_SOURCE"]
LEAST, MOST = -(2**31), 2**31 - 1
NAMES = ("velocity", "scalar", "holes", "mask", "label", "", "no such array", "vtkGhostType", "x" * 300, "\u00e9")
DOUBLES = (0.0, -0.0, 1.0, -1.0, math.nan, math.inf, -math.inf, 1e300, -1e300, 1e-300, 5e-324)
FILES = {"TimelineFile"}  # would be written to many places
# Larger values than these only make a run long; shorter times end it, as they should.
SHORT = {
    "MaximumNumberOfSteps": (LEAST, -1, 0, 1, 3000),
    "NumberOfSteps": (LEAST, -1, 0, 1, 3),
    "CycleLimit": (LEAST, -1, 0, 1, 1000),
    "IterationLimit": (LEAST, -1, 0, 1000000),
    "ResidualThreshold": (-1.0, math.nan, 0.0, 1e-6, 1e300, math.inf),
    "StallTimeout": (-1.0, math.nan, 0.0, 120.0, math.inf),
}


@functools.lru_cache(None)
def _proxies():
    files = sorted(glob.glob(os.path.join(SOURCE, "Plugin", "*.xml")))
    roots = [ElementTree.parse(file).getroot() for file in files]
    return {proxy.get("name"): proxy for root in roots for proxy in root.iter() if proxy.tag.endswith("Proxy")}


@functools.lru_cache(None)
def of_proxy(name):
    """The properties of a proxy and of those that it derives from, as XML elements by name, without inputs."""
    proxy = _proxies().get(name)
    if proxy is None:
        return {}
    result = dict(of_proxy(proxy.get("base_proxyname")))
    for element in proxy:
        if element.tag.endswith("VectorProperty") and element.get("command"):
            result[element.get("name")] = element
    return result


def _bounds(element, number):
    """Around the bounds of a range: the bound, and the next numbers on both sides."""
    values = []
    for domain in element:
        for key in ("min", "max"):
            if domain.tag.endswith("RangeDomain") and domain.get(key):
                bound = number(domain.get(key).split()[0])
                around = (bound - 1, bound + 1)
                if number is float:
                    around = (math.nextafter(bound, -math.inf), math.nextafter(bound, math.inf), *around)
                values += [bound, *around]
    return values


@functools.lru_cache(None)
def candidates(element):
    """Values of one element of a property."""
    name, kind = element.get("name"), element.tag
    if name in SHORT:
        return SHORT[name]
    if kind == "DoubleVectorProperty":
        return (*DOUBLES, *_bounds(element, float))
    if kind == "IntVectorProperty":
        entries = [int(entry.get("value")) for domain in element for entry in domain.findall("Entry")]
        edges = [max(entries) + 1, min(entries) - 1] if entries else [0, 1, 2]
        return (*entries, *edges, *_bounds(element, int), -1, LEAST, MOST)
    if kind == "IdTypeVectorProperty":
        return (0, 1, 5, -1, LEAST, MOST, 2**63 - 1, -(2**63))
    if name == "Detector":
        return ("default", "consensus", "ring-flag", "tree-ack", "nbx", "", "no such detector")
    return NAMES


def random_values(element, rng):
    """Values for all elements of a property."""
    if element.get("command") == "SetInputArrayToProcess":
        index = re.split("[ ;]", element.get("default_values") or "0")[0]
        return [index, "", "", str(rng.choice((0, 1, 0, 1, 2, 3, -1, 7))), rng.choice(NAMES)]
    count = int(element.get("number_of_elements") or 1)
    if element.get("repeat_command") == "1":
        count = rng.choice((0, 1, 2, 3, 4))
    return [rng.choice(candidates(element)) for _ in range(count)]


def random_properties(proxy, spared, rng):
    """A few properties of a proxy with random values."""
    table = {name: e for name, e in of_proxy(proxy).items() if name not in spared and name not in FILES}
    return {name: random_values(table[name], rng) for name in rng.sample(sorted(table), rng.choice((1, 1, 2, 3)))}


def is_named(proxy, message):
    """Whether a message names a property of the proxy by the label that the panel shows."""
    spaces = "(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])"
    return any(
        (element.get("label") or re.sub(spaces, " ", name)) in message for name, element in of_proxy(proxy).items()
    )


def set_all(proxy, values):
    """Set properties of a server manager's proxy, without regard to domains."""
    for name, elements in values.items():
        target = proxy.GetProperty(name)
        target.SetNumberOfElements(len(elements))
        for n, value in enumerate(elements):
            target.SetElement(n, value)
    proxy.UpdateVTKObjects()


def reset(proxy, values, names):
    """Set properties of these names to their defaults, and then some to these values. Returns whether the proxy is
    like a new one with these values."""
    like_new = True
    for name in names:
        target = proxy.GetProperty(name)
        if target.GetCommand() == "SetInputArrayToProcess":
            # The default has no array, and not the number of elements that the filter takes.
            set_all(proxy, {name: [target.GetElement(0), "", "", "0", ""]})
            like_new = like_new and name in values
        else:
            target.ResetToXMLDefaults()
    set_all(proxy, values)
    return like_new
