# SPDX-License-Identifier: BSD-3-Clause
"""Messages of the filters name properties by the labels of the panel, as in "Scalar Range is empty".

Scripts name a property by its label without blanks, so that users of the panel and of scripts both
recognize it. Needs the sources only: the labels in Plugin/*.xml and the texts in Filters/.
"""

import glob
import os
import re
import sys

from PropertiesAreRead import FILTERS, proxies

# What else a text may call by capitalized words: other filters of ParaView, values of properties and
# tables, names of arrays.
FILTER_NAMES = {
    "Cell Data", "Point Data", "Extract Surface", "Tetrahedralize", "Hyper Tree Grid", "Unstructured Grid",
    "Hyper Tree Grid To Unstructured Grid", "To Unstructured Grid", "Transform",
    "Resample To Image", "Resample With Dataset", "Async Stream Tracer", "Slice", "Extract Subset",
}
VALUES = {
    "Cartesian", "Data", "From Current Time", "Not A Number", "Harmonic", "Kind Change", "Longitude Latitude", "Merge",
    "Pathlines", "Resampled Grid", "Vector Array", "Same Points", "Cells", "Faces", "Low Side", "High Side",
}
NOT_PROPERTIES = {"Courant", "D", "FTLE", "Filled", "GlobalIds", "MPI", "ReasonForTermination", "VTK"}
# Ends of labels whose beginning is the name of a side, and what is compared beside properties.
ENDS = {"Value", "Condition"}
COUNTS = {"Seeds", "Ranks"}
LITERAL = r'"(?:[^"\\\n]|\\.)*"'
CALL = r"\((?:[^;\"]|" + LITERAL + r")*?;"


def label_of(element):
    """As ParaView makes it from the name if the XML has none; Plugin.ProxyDefinition compares them."""
    words = re.sub("(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", element.get("name"))
    return element.get("label") or words


def texts_of(source):
    """The literals of several words, those that stand one after the other as one; without what PrintSelf prints."""
    code = re.sub(r"^ *//.*|^#include.*", "", source, flags=re.M)
    code = re.sub(r"::PrintSelf\(.*?\n}\n", "", code, flags=re.S)
    joined = re.sub(r'(?<!\\)"\s+"', "", code)
    return [literal[1:-1] for literal in re.findall(LITERAL, joined) if re.search("[a-z] ?[a-zA-Z]* ", literal)]


def sources():
    for path in sorted(glob.glob(os.path.join(FILTERS, "**", "*.cxx"), recursive=True)):
        with open(path, encoding="utf-8") as file:
            yield os.path.relpath(path, FILTERS), file.read()


def named(text):
    """Capitalized words in a text that do not begin a sentence, names of programs among them."""
    inside = re.sub(r"(^|[.:] )[A-Z](?=[a-z]* [a-z])", r"\1", text)
    return re.findall(r"(?<![\w\"])[A-Z]\w*(?: (?:[A-Z]\w*|To))*", inside)


def main():
    labels, names, wrong = set(), set(), []
    for proxy, _, properties in proxies():
        for name, element in properties.items():
            labels.add(label_of(element))
            names.add(name)
            names.add(re.sub("^(Set|Add)", "", element.get("command") or name))
    sides = {side + kind for side in ("X Min", "X Max") for kind in (" Condition", " Value")}
    if not sides <= labels:
        sys.exit(f"no labels {sorted(sides - labels)}: the rule of labels is wrong")
    checked = properties_named = 0
    for path, source in sources():
        # Properties that are checked or compared between ranks, which the message begins with.
        calls = re.findall(r"(?:list|properties)\.add(?:All)?\(\s*(" + LITERAL + ")", source)
        calls += re.findall(r"\bDescribeArray\(list, (" + LITERAL + ")", source)
        calls += re.findall(r"\bfindArrays\([^;\"]*(" + LITERAL + ")", source)
        for statement in re.findall(r"\brequire" + CALL, source):
            calls += re.findall(LITERAL, statement)[:1]
        for call in calls:
            name = call[1:-1]
            if name[:1].isupper() or name in names:
                properties_named += 1
                if name.strip() not in labels | ENDS | COUNTS:
                    wrong.append(f"{path}: {name!r} is not a label")
        for text in texts_of(source):
            checked += 1
            if "SetInputArrayToProcess" in text:
                wrong.append(f"{path}: {text!r} names a function")
            for found in named(text):
                if found not in labels | FILTER_NAMES | VALUES | NOT_PROPERTIES | ENDS:
                    wrong.append(f"{path}: {found!r} in {text!r} is not a label")
    if wrong:
        sys.exit("\n".join(wrong))
    if checked < 120 or properties_named < 100:
        sys.exit(f"only {checked} texts and {properties_named} names of properties")
    print(f"passed: {checked} texts, {properties_named} names of properties")


if __name__ == "__main__":
    main()
