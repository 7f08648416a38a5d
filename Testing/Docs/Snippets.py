# SPDX-License-Identifier: BSD-3-Clause
"""Runs the Python snippets of README.md, Docs/Scripts.md and Docs/UserGuide.md as printed, page by page, in the
order of the page.

The working directory stands for the repository's folder: it gets links to the plugin and to Data, and a short
time series. After each snippet the outputs of all sources that it made must not be empty.
"""

import os
import re

import check
import drops  # found on the path that check sets
from paraview import servermanager

PAGES = {"README.md": 1, "Docs/Scripts.md": 5, "Docs/UserGuide.md": 7}  # and how many snippets each has at least
STEPS = 3  # of the time series


def link(target, name):
    os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
    if os.path.islink(name):
        os.remove(name)
    os.symlink(target, name)


def prepare():
    """What the snippets expect in the repository's folder."""
    plugin = os.path.dirname(os.environ["TRIBUTARY_PLUGIN"])
    link(plugin, "build/release/lib/paraview-5.11/plugins/Tributary")
    link(check.DATA, "Data")

    class Beginning(drops.Drops):
        def __init__(self):
            super().__init__()
            self.times = self.times[:STEPS]

    whole, drops.Drops = drops.Drops, Beginning
    drops.write("build/drops", 2)
    drops.Drops = whole


def snippets_of(page):
    with open(os.path.join(check.SOURCE, page), encoding="utf-8") as file:
        return re.findall(r"^```python\n(.*?)^```$", file.read(), re.MULTILINE | re.DOTALL)


def elements_of(source):
    """Points, cells and rows of all ranks in the output that a variable stands for: that of the port it
    names, else the first one. It is updated if the snippet has not done so, and keeps its time if it has."""

    def elements():
        information = source.GetDataInformation()
        return (
            information.GetNumberOfPoints()
            + information.GetNumberOfCells()
            + information.GetNumberOfRows()
        )

    if elements() == 0:
        source.UpdatePipeline()
    return elements()


def main():
    prepare()
    for page, least in PAGES.items():
        snippets = snippets_of(page)
        assert len(snippets) >= least, f"{page} has only {len(snippets)} snippets"
        names, empty = {"__name__": "__main__"}, []
        for number, snippet in enumerate(snippets, 1):
            before = dict(names)
            exec(compile(snippet, f"{page}, snippet {number}", "exec"), names)
            made = {n: v for n, v in names.items() if n not in before or before[n] is not v}
            for name, source in made.items():
                if not isinstance(source, servermanager.SourceProxy):
                    continue
                elements = elements_of(source)
                print(f"{page}, snippet {number}: {name} has {elements} points, cells or rows", flush=True)
                if elements == 0:
                    empty.append(f"{page}, snippet {number}: {name}")
        assert not empty, "empty outputs: " + ", ".join(empty)
    # An array of zeros is not empty.
    carried = names["dye"].CellData["Concentration"].GetRange()
    assert carried[1] > 0.1, f"no dye came in: {carried}"


if __name__ == "__main__":
    check.run(__file__)
