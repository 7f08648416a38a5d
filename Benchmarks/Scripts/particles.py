#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Run tributary-bench particles on several numbers of ranks, and print one table.

    Benchmarks/Scripts/particles.py <path of tributary-bench> [--ranks 1,2,4] [--json FILE] [more options]

Other options are passed to tributary-bench, for example --steps-per-hop 1 or --repeat 9.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from runs import MPI_ENVIRONMENT  # noqa: E402  (found on the path set above)


def text(value):
    if isinstance(value, float):
        return f"{value:.3f}" if value < 10 else f"{value:.1f}"
    return str(value)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("program", help="path of tributary-bench")
    parser.add_argument("--ranks", default="1,2,4", help="default 1,2,4")
    parser.add_argument("--json", help="also write the results to this file")
    options, more = parser.parse_known_args()
    merged = None
    with tempfile.TemporaryDirectory() as scratch:
        for ranks in options.ranks.split(","):
            output = os.path.join(scratch, ranks + ".json")
            command = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", ranks]
            command += [options.program, "particles", "--json", output] + more
            subprocess.run(
                command, check=True, stdout=subprocess.DEVNULL, env={**MPI_ENVIRONMENT, **os.environ}
            )
            with open(output) as file:
                result = json.load(file)
            if merged is None:
                merged = result
                del merged["settings"]["ranks"]
            else:
                merged["rows"] += result["rows"]
    names = [name for name, value in merged["rows"][0].items() if not isinstance(value, dict)]
    lines = [names] + [[text(row[name]) for name in names] for row in merged["rows"]]
    widths = [max(len(line[c]) for line in lines) for c in range(len(names))]
    print(merged["title"])
    print(", ".join(f"{name} {value}" for name, value in merged["settings"].items()))
    for line in lines:
        print("  ".join(value.rjust(width) for value, width in zip(line, widths)))
    if options.json:
        with open(options.json, "w") as file:
            json.dump(merged, file, indent=2)


if __name__ == "__main__":
    main()
