# SPDX-License-Identifier: BSD-3-Clause
"""Runs the Python snippets of the pages PAGES and of those in FOLDERS as printed, page by page, in the order of the page.

The working directory stands for the repository's folder: it gets links to the plugin and to Data, and a short
time series. After each snippet the outputs of all sources that it made must not be empty.
"""

import os
import re

import check
import drops  # found on the path that check sets
from paraview import servermanager

PAGES = {"README.md": 1, "Docs/Scripts.md": 5}  # and how many snippets each has at least
FOLDERS = {"Docs/Start": 1, "Docs/Guide": 15, "Docs/Recipes": 7}  # and how many their pages have
STEPS = 3  # of the time series


def link(target, name):
    os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
    if os.path.islink(name):
        os.remove(name)
    os.symlink(target, name)


def prepare():
    """What the snippets expect in the repository's folder."""
    plugin = os.path.dirname(os.environ["TRIBUTARY_PLUGIN"])
    link(plugin, "build/release/lib/plugins/Tributary")
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


def pages_of(folder):
    names = sorted(os.listdir(os.path.join(check.SOURCE, folder)))
    return [f"{folder}/{name}" for name in names if name.endswith(".md")]


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


def run(page):
    """Runs the snippets of a page. Returns how many they are, and the names that they have made."""
    names, empty = {"__name__": "__main__"}, []
    snippets = snippets_of(page)
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
    return len(snippets), names


def check_outlets(page, table):
    """The recipe lists the numbers of lines that the filter counts, on any number of ranks."""
    columns = ("ReasonForTermination", "TargetId", "Count")
    counted = {tuple(int(row[name]) for name in columns) for row in table}
    with open(os.path.join(check.SOURCE, page), encoding="utf-8") as file:
        rows = re.findall(r"^\| (\d+) \| (-?\d+) \| (\d+) \|", file.read(), re.MULTILINE)
    listed = {tuple(map(int, row)) for row in rows}
    assert listed == counted, f"{page} lists {sorted(listed)}, counted: {sorted(counted)}"


def main():
    prepare()
    for page, least in PAGES.items():
        count, _ = run(page)
        assert count >= least, f"{page} has only {count} snippets"
    found = {}
    for folder, least in FOLDERS.items():
        count = 0
        for page in pages_of(folder):
            number, found[page] = run(page)
            count += number
        assert count >= least, f"the pages in {folder} have only {count} snippets"
    check_outlets("Docs/Recipes/InletOutlet.md", found["Docs/Recipes/InletOutlet.md"]["table"])
    # An array of zeros is not empty.
    carried = found["Docs/Guide/ConvectionDiffusion.md"]["dye"].CellData["Concentration"].GetRange()
    assert carried[1] > 0.1, f"no dye came in: {carried}"


if __name__ == "__main__":
    check.run(__file__)
