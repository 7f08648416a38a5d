# SPDX-License-Identifier: BSD-3-Clause
"""Common parts of benchmarks with plots: runs of tributary-bench, and plots of its rows."""

import io
import json
import os
import subprocess

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402  (after the choice above)

from runs import MPI_ENVIRONMENT  # noqa: E402


class Runs:
    """Runs tributary-bench, prints its tables and keeps its rows by name."""

    def __init__(self, program, output):
        self.program = program
        self.output = output
        self.rows = {}
        os.makedirs(output, exist_ok=True)

    def run(self, name, arguments, ranks=None):
        """Run a benchmark and return its rows. arguments: the name of the benchmark and its options."""
        file = os.path.join(self.output, name + ".json")
        command = [self.program] + arguments + ["--json", file]
        if ranks:
            command = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(ranks)] + command
        subprocess.run(command, check=True, env={**MPI_ENVIRONMENT, **os.environ})
        with open(file) as result:
            self.rows[name] = json.load(result)["rows"]
        return self.rows[name]


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def series(rows, x, y):
    """The mean of column y for each value of column x; rows that lack one of them are omitted."""
    known = [row for row in rows if row.get(x) is not None and row.get(y) is not None]
    places = sorted({row[x] for row in known})
    return places, [mean(row[y] for row in known if row[x] == place) for place in places]


def save(figure, path):
    """Write a figure as SVG, with its license and without the time."""
    text = io.StringIO()
    figure.savefig(text, metadata={"Date": None})
    declaration, rest = text.getvalue().split("\n", 1)
    with open(path, "w") as file:
        file.write(f"{declaration}\n<!-- SPDX-License-Identifier: BSD-3-Clause -->\n{rest}")


def plot(path, title, lines, labels, scales=("log", "log")):
    """Write a plot. lines: name to (x values, y values, style); labels and scales: those of x and y."""
    figure, axes = plt.subplots(figsize=(5.5, 4))
    for name, (places, values, style) in lines.items():
        axes.plot(places, values, style, marker="o", markersize=3, label=name)
    for axis, scale, label in zip("xy", scales, labels):
        set_scale = getattr(axes, f"set_{axis}scale")
        if scale == "log" and axis == "x":
            set_scale("log", base=2)
        else:
            set_scale(scale)
        getattr(axes, f"set_{axis}label")(label)
    axes.set_title(title, fontsize=10)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    figure.tight_layout()
    save(figure, path)
    plt.close(figure)
    print("wrote", path)
