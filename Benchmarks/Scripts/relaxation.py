#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measure hybrid Jacobi iterations and their model; write tables, JSON and plots.

    Benchmarks/Scripts/relaxation.py <path of tributary-bench> [--output FOLDER] [--quick]

After Jensen, Coleman and Sosonkina, *Predictive modeling of the performance of asynchronous iterative
methods*: time to the tolerance against the swap period, for three sizes, and residual histories (Figure
1); rates on 1, 2 and 4 ranks (Figure 2); rates and shares of the residual by thread (Figures 3 and 4);
rates by swap period and work share, modeled and measured (Figures 7 to 9). Duration on two cores: ten
minutes; with --quick, one minute. Requires python3-matplotlib.
"""

import argparse
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import plots  # noqa: E402  (found on the path set above)


def by(rows, column):
    """Group rows by the value of a column, in the order of the rows."""
    groups = {}
    for row in rows:
        groups.setdefault(row[column], []).append(row)
    return groups


def lines_by(rows, column, x, y, text="{}"):
    return {
        text.format(value): plots.series(some, x, y) + ("-",) for value, some in by(rows, column).items()
    }


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("program", help="path of tributary-bench")
    parser.add_argument("--output", default="relaxation", help="folder for JSON and plots")
    parser.add_argument("--quick", action="store_true", help="small problems, in a minute")
    options = parser.parse_args()
    runs = plots.Runs(options.program, options.output)
    sizes = "16,32" if options.quick else "50,100,200"
    periods = "1,4,16" if options.quick else "1,2,4,8,16,32,64"
    largest = int(sizes.split(",")[-1])

    def part(name, periods, time_limit, *arguments):
        """Arguments of a part. `time_limit` is in seconds: with more ranks than cores a run may take minutes."""
        quick = ["--tolerance", "0.01", "--repeat", "1"] if options.quick else []
        time_limit = "1" if options.quick else time_limit
        return ["relaxation", "--part", name, "--swap-periods", periods, "--time-limit", time_limit, *quick, *arguments]

    def save(name, *arguments):
        plots.plot(os.path.join(options.output, name + ".svg"), *arguments)

    for ranks in (1, 2, 4):
        if ranks != 2:  # for the rates only
            arguments = part("convergence", "1,16", "5", "--sizes", str(largest))
            runs.run(f"convergence-{ranks}", arguments, ranks)
            continue
        arguments = part("convergence", periods, "5", "--sizes", sizes)
        rows = runs.run(f"convergence-{ranks}", arguments, ranks)
        for size, some in by(rows, "size").items():
            lines = lines_by(some, "variant", "swap period", "seconds")
            save(f"convergence-{size}", f"Time to the tolerance, {size}^2 points per rank, 2 ranks", lines,
                 ("swap period", "seconds"))
    for period in (1, 16):
        rows = [
            row
            for ranks in (1, 2, 4)
            for row in runs.rows[f"convergence-{ranks}"]
            if row["size"] == largest and row["swap period"] == period
        ]
        save(f"rates-{period}", f"Iterations of all threads, {largest}^2 points per rank, swap period {period}",
             lines_by(rows, "variant", "ranks", "rate"), ("ranks", "iterations per second"))

    rows = runs.run("history", part("history", periods, "5", "--sizes", str(largest)), 2)
    for variant, some in by(rows, "variant").items():
        lines = lines_by(some, "swap period", "seconds", "residual", "swap period {}")
        save(f"history-{variant}", f"Residual history, {variant}, 2 ranks", lines,
             ("seconds", "residual"), ("linear", "log"))

    sizes_and_shares = ["--sizes", str(largest), "--work-shares", "0.25,0.5,1"]
    arguments = part("threads", periods, "1", *sizes_and_shares)
    rows = runs.run("threads", arguments, 2)
    for share, some in by(rows, "work share").items():
        for column in ("rate", "residual share"):
            lines = lines_by(some, "swap period", "thread", column, "swap period {}")
            save(f"threads-{column.replace(' ', '-')}-{share}", f"Threads of 2 ranks, work share {share}", lines,
                 ("thread", column), ("linear", "linear"))

    points = "64" if options.quick else "200"
    arguments = ["model", "--table", "rates", "--threads", "2", "--points", points]
    arguments += ["--swap-periods", periods]
    if options.quick:
        arguments += ["--measured-seconds", "0.5", "--simulated-seconds", "0.05", "--rate-seconds", "0.2"]
    rows = runs.run("model", arguments)
    for column, what in (("I_c", "the communicating thread"), ("I_nc", "the other threads")):
        lines = {}
        for share, some in by(rows, "share").items():
            lines[f"share {share:g}"] = plots.series(some, "period", column) + ("-",)
            lines[f"share {share:g}, measured"] = plots.series(some, "period", "measured " + column) + (":",)
        save(f"model-{column}", f"Iterations of {what}: modeled, measured", lines,
             ("swap period", "iterations per second"))
    for row in rows:
        row["measured I_c/I_nc"] = row["measured I_c"] / row["measured I_nc"]
    lines = {
        f"swap period {period}{name}": plots.series(some, "share", column) + (style,)
        for period, some in by(rows, "period").items()
        for name, column, style in (("", "I_c/I_nc", "-"), (", measured", "measured I_c/I_nc", ":"))
    }
    save("model-ratio", "Rate of the communicating thread / other threads", lines, ("work share", "I_c / I_nc"))


if __name__ == "__main__":
    main()
