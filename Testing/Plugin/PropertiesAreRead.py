# SPDX-License-Identifier: BSD-3-Clause
"""Each property of each proxy is read by its filter, beyond being set, checked and printed.

Needs the sources only: the proxies in Plugin/*.xml and the classes in Filters/. A property is read if
its member is used in a function that the filter executes. Functions of superclasses count if the filter
calls them: an option of a superclass that a filter ignores is an error.
"""

import glob
import os
import re
import sys
import xml.etree.ElementTree as ElementTree

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FILTERS = os.path.join(ROOT, "Filters")

# Functions that handle a property without using its value for the work (SetRange() uses it).
HANDLERS = re.compile(
    r"(Check\w*Properties|Describe\w*Properties|DescribeTracking|DescribeEquation|PrintSelf|DescribeArray"
    r"|Set(?!Range$)\w+|Get\w+|Add\w+|Clear\w+|Initialize\w+)$"
)
# Functions that the pipeline calls, not the filter.
ENTRIES = re.compile(r"(Request\w+|ClassOfOutput|Fill\w+PortInformation|Execute)$")
SEPARATOR = "//" + "-" * 78 + "\n"

# Commands of inputs and of vtkAlgorithm, by what reads them.
INPUTS = {"SetInputConnection", "AddInputConnection"}
EXCHANGE = {"Arrivals", "Detector", "BatchBytes", "HoldTime", "StallTimeout", "AutoTune", "TimelineFile"}


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


class FilterClass:
    """The sources of a class and its superclasses."""

    def __init__(self, name):
        self.chain = [name]
        self.headers = ""
        while name.startswith("vtkAsync"):
            header = read(FILTERS, name + ".h")
            self.headers += header
            name = re.search(r"class TRIBUTARYFILTERS_EXPORT \w+\s*: public (\w+)", header).group(1)
            self.chain.append(name)
        self.chain.pop()
        self.functions = []  # (class, name, text)
        for owner in self.chain:
            for text in read(FILTERS, owner + ".cxx").split(SEPARATOR):
                found = re.search(r"^[\w:<>*&, ]*?\b" + owner + r"::(?:\w+::)*~?(\w+)\(", text, re.M)
                self.functions.append((owner, found.group(1) if found else "", text))
        # Parts of the class in other files.
        for path in glob.glob(os.path.join(FILTERS, "*", "*.cxx")):
            text = read(path)
            if self.chain[0] + "::" in text or self.chain[0] + ".h" in text:
                self.functions.append((self.chain[0], "", text))

    def executed(self):
        """The text of all functions that an execution may call, handlers left out."""
        rest = [f for f in self.functions if not HANDLERS.match(f[1])]
        done = [f for f in rest if f[0] == self.chain[0] or ENTRIES.match(f[1])]
        rest = [f for f in rest if f not in done]
        while True:
            text = "\n".join(f[2] for f in done)
            called = [f for f in rest if f[1] and re.search(r"(->|::)" + f[1] + r"\(", text)]
            if not called:
                return text
            done += called
            rest = [f for f in rest if f not in called]

    def members(self, command):
        """The members that a setter writes."""
        if re.search(r"vtkSet\w*Macro\(" + command[3:] + r"\b", self.headers):
            return {command[3:]}
        sources = self.headers + "\n".join(f[2] for f in self.functions)
        found = set()
        for body in re.findall(r"\b" + command + r"\([^;{]*\{(.*?)(?:\n\}|\}\n)", sources, re.S):
            for member in re.findall(r"this->(\w+)", body):
                if re.search(r"^  [\w:<>, ]+ " + member + r"\b[^(]*;", self.headers, re.M):
                    found.add(member)
                elif member != command and member.startswith(("Set", "Add")):
                    found |= self.members(member)
        return found


def proxies():
    """Own and inherited properties of all filters: (proxy, class, {name: element})."""
    all_proxies = {}
    for path in sorted(glob.glob(os.path.join(ROOT, "Plugin", "*.xml"))):
        for group in ElementTree.parse(path).getroot().iter("ProxyGroup"):
            for proxy in group.iter("SourceProxy"):
                all_proxies[group.get("name"), proxy.get("name")] = proxy

    def properties(proxy):
        base = proxy.get("base_proxygroup"), proxy.get("base_proxyname")
        found = properties(all_proxies[base]) if base[1] else {}
        found.update({e.get("name"): e for e in proxy if e.tag.endswith("Property")})
        return found

    for (group, name), proxy in all_proxies.items():
        if group == "filters":
            yield name, proxy.get("class"), properties(proxy)


def is_read(element, filter_class, text):
    command = element.get("command")
    if command in INPUTS or element.get("information_only") == "1":
        return True
    if command == "SetSourceConnection":
        return bool(re.search(r"inputVector\[(1|[A-Za-z]\w+)\]", text))
    if command == "SetEventSurfaceConnection":
        return "inputVector[SURFACES]" in text
    if command == "SetInputArrayToProcess":
        index = (element.get("default_values") or "0").split(";")[0]
        return bool(re.search(rf"(GetInputArrayToProcess|Finder)\(({index}|[A-Za-z_]+)\b", text))
    members = filter_class.members(command)
    if not members:
        sys.exit(f"{filter_class.chain[0]}: no member is set by {command}")
    return all(re.search(r"->" + member + r"\b", text) for member in members)


def main():
    unread = []
    looked_at = 0
    for proxy, name, properties in proxies():
        filter_class = FilterClass(name)
        text = filter_class.executed()
        for element in properties.values():
            looked_at += 1
            if not is_read(element, filter_class, text):
                unread.append(f"{proxy}.{element.get('name')}")
        if "vtkAsyncSolverAlgorithm" in filter_class.chain:
            unread += [f"{proxy}.{each}" for each in sorted(EXCHANGE & set(properties))]
        elif not EXCHANGE <= set(properties):
            sys.exit(f"{proxy} lacks {sorted(EXCHANGE - set(properties))}")
    if unread:
        sys.exit("properties without an effect: " + ", ".join(unread))
    if looked_at < 100:
        sys.exit(f"{looked_at} properties only")
    print(f"passed: {looked_at} properties")


if __name__ == "__main__":
    main()
