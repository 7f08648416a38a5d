# SPDX-License-Identifier: BSD-3-Clause
"""Common parts of benchmarks in pvbatch: options, a run on each number of ranks, a table."""

import argparse
import importlib
import json
import os
import subprocess
import sys
import tempfile

MPI_ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
}


def numbers(text):
    return [int(number) for number in text.split(",")]


def make_parser(description):
    """Make a parser with the common options: ranks, json, worker."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ranks", type=numbers, default=[1, 2, 4], help="default 1,2,4")
    parser.add_argument("--json", help="also write the results to this file")
    parser.add_argument("--worker", metavar="FILE", help=argparse.SUPPRESS)
    return parser


def add_peer_options(parser, long):
    """Add the options of benchmarks that also measure ParaView, whose runs may take minutes."""
    parser.add_argument("--repeat", type=int, default=5, help="timed runs of our filter")
    parser.add_argument("--peer-repeat", type=int, default=3, help="timed runs of ParaView's filter")
    parser.add_argument(
        "--long", type=float, default=long, help="use a first run of more seconds as the result"
    )
    parser.add_argument("--no-ours", action="store_true", help="measure ParaView's filter only")


def require_plugin(parser, options):
    needed = not getattr(options, "no_ours", None)
    if needed and not os.path.isfile(os.environ.get("TRIBUTARY_PLUGIN", "")):
        otherwise = ", or give --no-ours" if hasattr(options, "no_ours") else ""
        parser.error("set TRIBUTARY_PLUGIN to the plugin's file (Tributary.so)" + otherwise)


def measure(script, options, arguments, reference=None):
    """Run the workers of the script in pvbatch on each number of ranks; return the rows that they wrote.

    reference: folder for the results on one rank, passed to workers as --reference; "" for a temporary
    folder; None for no folder
    """
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        if reference is not None:
            reference = os.path.abspath(reference or os.path.join(scratch, "reference"))
            os.makedirs(reference, exist_ok=True)
            arguments = arguments + ["--reference", reference]
        for ranks in options.ranks:
            output = os.path.join(scratch, f"{ranks}.json")
            command = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(ranks)]
            command += ["pvbatch", "--sym", os.path.abspath(script)] + arguments
            command += ["--worker", output]
            print(f"measuring {ranks} ranks ...", flush=True)
            subprocess.run(command, check=True, env={**MPI_ENVIRONMENT, **os.environ})
            with open(output) as file:
                rows += json.load(file)
    return rows


def report(rows, columns, options):
    print(table(rows, columns))
    if options.json:
        with open(options.json, "w") as file:
            json.dump(rows, file, indent=2)


def table(rows, columns):
    """Format rows (dictionaries) as text. columns: title, key, and key within that value or None."""

    def text(row, key, inner):
        value = row.get(key)
        if inner is not None:
            value = (value or {}).get(inner)
        if value is None:
            return "-"
        if isinstance(value, bool):
            return "yes" if value else "NO"
        if isinstance(value, float):
            small = 0 < abs(value) < 5e-4
            return f"{value:.1e}" if small else f"{value:.3f}" if value < 10 else f"{value:.1f}"
        return str(value)

    lines = [[title for title, _, _ in columns]]
    lines += [[text(row, key, inner) for _, key, inner in columns] for row in rows]
    widths = [max(len(line[c]) for line in lines) for c in range(len(columns))]
    return "\n".join("  ".join(v.rjust(w) for v, w in zip(line, widths)) for line in lines)


def write_rows(rows, options):
    """Write the results of a worker; called on rank 0."""
    with open(options.worker, "w") as file:
        json.dump(rows, file)


def work_of_module(path):
    """The function work() of a script, called in an imported module: Programmable Sources overwrite names like max in
    __main__."""
    name = os.path.splitext(os.path.basename(path))[0]
    return lambda options: importlib.import_module(name).work(options)


def main(parse, work, drive):
    options = parse(sys.argv[1:])
    if options.worker:
        work(options)
    else:
        drive(options, sys.argv[1:])
