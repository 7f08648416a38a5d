# SPDX-License-Identifier: BSD-3-Clause
"""Runs VortexStreet with the example's script and compares what the filters give.

    python3 Runs.py ranks <mpirun> <VortexStreet> <folder>    # 1, 2 and 4 ranks give the same
    python3 Runs.py restart <mpirun> <VortexStreet> <folder>  # as does a run that is restarted, on 1 or 3 ranks

Environment: TRIBUTARY_PLUGIN, TRIBUTARY_SOURCE.
"""

import csv
import json
import os
import shutil
import subprocess
import sys

SOURCE = os.environ["TRIBUTARY_SOURCE"]
SCRIPTS = [os.path.join(SOURCE, folder, "InSitu", name)
           for folder, name in (("Examples", "pipeline.py"), ("Testing", "Digests.py"))]
OUTPUTS = 10
RESTART = 6  # the last output that writes a restart file
# Coarse, but with vortices, some of which move from rank to rank.
FLOW = {"reynolds": 60, "velocity": 0.1, "resolution": 6, "length": 10, "layers": 3, "every": 30,
        "restart-every": RESTART}
WORKS = ("solver", "streamlines", "paths", "flow map", "regions", "tracks", "fill", "dye")


class Runs:
    def __init__(self, mpirun, program, folder):
        self.mpirun, self.program, self.folder = mpirun, program, folder
        shutil.rmtree(folder, ignore_errors=True)

    def run(self, ranks, name, **options):
        """The results of a run, by output."""
        folder = os.path.join(self.folder, name)
        command = [self.mpirun, "--oversubscribe", "--bind-to", "none", "-n", str(ranks), self.program]
        for option, value in {**FLOW, **options, "folder": folder}.items():
            command += ["--" + option.replace("_", "-"), str(value)]
        for script in SCRIPTS:
            command += ["--script", script]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        print(f"=== {name}\n{done.stdout}", flush=True)
        expect(done.returncode == 0, f"{name}: the program has failed")
        expect("ERR|" not in done.stdout, f"{name}: an error message")
        self.check_files(folder, name)
        with open(os.path.join(folder, "results.json")) as file:
            return {int(output): result for output, result in json.load(file).items()}

    def copy(self, name, other):
        shutil.copytree(os.path.join(self.folder, name), os.path.join(self.folder, other))
        return os.path.join(self.folder, other)

    @staticmethod
    def check_files(folder, name):
        with open(os.path.join(folder, "seconds.csv")) as file:
            rows = {row["work"]: row for row in csv.DictReader(file)}
        expect(sorted(rows) == sorted(WORKS), f"{name}: seconds of {sorted(rows)}")
        expect(all(float(row["mean seconds"]) > 0 for row in rows.values()), f"{name}: seconds {rows}")
        for file in ("tracks.csv", "events.csv", "regions.csv"):
            with open(os.path.join(folder, file)) as table:
                expect(len(table.readlines()) > 1, f"{name}: {file} has no rows")


def expect(is_right, what):
    if not is_right:
        sys.exit(what)


def compare(one, other, first, name):
    """Results from the output `first` on are the same; those of the solvers within their tolerance, which is relative
    to the largest value of all outputs."""
    largest = [max(map(abs, values)) for values in zip(*(result["close"] for result in one.values()))]
    expect(sorted(other) == list(range(first, OUTPUTS + 1)), f"{name}: outputs {sorted(other)}")
    for output in range(first, OUTPUTS + 1):
        for key, right in one[output]["same"].items():
            found = other[output]["same"][key]
            expect(found == right, f"{name}, output {output}: {key} {found} differs from {right}")
        for found, right, scale in zip(other[output]["close"], one[output]["close"], largest):
            expect(abs(found - right) <= 1e-4 * scale, f"{name}, output {output}: {found}, {right}")


def check_content(results):
    """The filters have found something, and it changes."""
    last = results[OUTPUTS]["same"]
    rows = [last["streamlines"], last["paths"], last["flow map"], *last["regions"], *last["tracks"]]
    expect(all(not row.startswith("0 ") for row in rows), f"empty results: {last}")
    for key in last:
        different = {str(results[output]["same"][key]) for output in range(1, OUTPUTS + 1)}
        expect(len(different) == OUTPUTS, f"{key} has {len(different)} results in {OUTPUTS} outputs")
    dye = [results[output]["close"][0] for output in range(OUTPUTS + 1)]
    expect(dye == sorted(dye) and dye[-1] > dye[1] > 0, f"the dye does not increase: {dye}")


def ranks(runs):
    whole = runs.run(1, "1 rank", outputs=OUTPUTS)
    check_content(whole)
    for count in (2, 4):
        compare(whole, runs.run(count, f"{count} ranks", outputs=OUTPUTS), 0, f"{count} ranks")


def restart(runs):
    whole = runs.run(1, "whole", outputs=OUTPUTS)
    for count in (1, 3):
        name = f"restarted on {count} ranks"
        file = os.path.join(runs.copy("whole", name), "restart.bin")
        compare(whole, runs.run(count, name, outputs=OUTPUTS, restart=file), RESTART, name)


if __name__ == "__main__":
    {"ranks": ranks, "restart": restart}[sys.argv[1]](Runs(*sys.argv[2:5]))
    print("PASSED")
