#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Repeat the experiments of the iexchange paper on simulated ranks; write JSON, tables and plots.

    Benchmarks/Scripts/paper.py <path of tributary-bench> [--output FOLDER] [--tables] [--max RANKS]

Table 1 and Figure 4, Figures 7 and 9, and the timelines of Figure 1 (doi:10.1109/LDAV53230.2021.00009)
with the numbers of the paper beside ours, as Markdown. --tables reads the JSON of an earlier run instead of
running. --fit prints the fit of Table 1 that gives the kernel times of the machine theta. Requires
python3-matplotlib.
"""

import argparse
import json
import math
import os
import statistics
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import plots  # noqa: E402  (found on the path set above)

RANKS = [32, 128, 512, 2048, 8192]
# Table 1: seconds by protocol and blocks per process, for RANKS.
TABLE1 = {
    "exchange": {
        1: [93.027, 79.390, 19.931, 17.330, 15.846],
        2: [95.807, 73.461, 65.394, 16.740, 15.567],
        4: [285.032, 74.465, 62.390, 59.530, 15.239],
        8: [281.349, 244.787, 63.319, 58.225, 56.280],
        16: [290.736, 243.664, 228.618, 58.785, 55.583],
    },
    "iexchange": {
        1: [96.403, 81.911, 20.377, 17.074, 15.583],
        2: [64.308, 45.683, 36.211, 9.145, 7.986],
        4: [107.284, 27.348, 20.046, 17.066, 4.277],
        8: [73.196, 47.373, 12.249, 9.561, 8.123],
        16: [57.816, 31.981, 22.537, 5.839, 4.601],
    },
}
PARTICLES = (4 * 512) ** 2

PROTOCOLS = ["exchange", "iexchange", "library", "lending"]
# Figure 4 with another machine: names and arguments. 4 blocks per rank.
CHANGES = {
    "network 10 times slower": ["--network", "10"],
    "a rank in a thousand stalls for 10 s": ["--stall", "10"],
}


def paper_seconds(protocol, blocks, ranks):
    times = TABLE1.get(protocol, {}).get(blocks)
    return times[RANKS.index(ranks)] if times and ranks in RANKS else None


def fit():
    """Fit the synchronous times of Table 1; print seconds per hand-over and per step, and the errors.

    A round takes the time of the rank with a slow block. A plane of blocks is on ranks / planes ranks.
    """
    rows = []
    for blocks, times in TABLE1["exchange"].items():
        for ranks, seconds in zip(RANKS, times):
            planes = 2 ** ((int(math.log2(ranks * blocks)) + 2) // 3)
            handovers = PARTICLES * planes**2 / ranks
            steps = 512 * PARTICLES * planes / ranks * (1 + 9 / blocks)
            rows.append((handovers / seconds, steps / seconds))
    aa, ab, bb = (sum(r[i] * r[j] for r in rows) for i, j in ((0, 0), (0, 1), (1, 1)))
    a, b = (sum(r[i] for r in rows) for i in (0, 1))
    determinant = aa * bb - ab * ab
    handover, step = (a * bb - b * ab) / determinant, (b * aa - a * ab) / determinant
    errors = [abs(handover * r[0] + step * r[1] - 1) for r in rows]
    print(f"hand-over {handover * 1e6:.1f} us, step {step * 1e9:.1f} ns; "
          f"error at most {max(errors):.1%}, in the median {statistics.median(errors):.1%}")


def markdown(columns, rows):
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    for row in rows:
        cells = ("-" if c is None else f"{c:.3g}" if isinstance(c, float) else str(c) for c in row)
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def strong_scaling(rows, output):
    """Table 1, and Figure 4 with the paper's blocks per process."""
    seconds = {(r["protocol"], r["blocks/rank"], r["ranks"]): r["seconds"] for r in rows}
    all_blocks = sorted({key[1] for key in seconds})
    table = []
    for protocol in PROTOCOLS:
        for blocks in all_blocks:
            line = [protocol, blocks]
            for ranks in RANKS:
                line += [seconds.get((protocol, blocks, ranks)), paper_seconds(protocol, blocks, ranks)]
            table.append(line)
    names = [f"{n} {who}" for n in RANKS for who in ("ours", "paper")]
    print("\nTable 1, seconds\n\n" + markdown(["protocol", "blocks/rank"] + names, table))

    def least(protocol, ranks):
        times = [t for key, t in seconds.items() if key[0] == protocol and key[2] == ranks]
        return min(times) if times else None

    table = []
    for ranks in RANKS:
        times = [least(protocol, ranks) for protocol in PROTOCOLS]
        ratios = [times[0] / t if times[0] and t else None for t in times[1:]]
        paper = [min(paper_seconds(protocol, b, ranks) for b in TABLE1[protocol]) for protocol in TABLE1]
        table.append([ranks] + times + ratios + [paper[0] / paper[1]])
    print("\nLeast seconds over all blocks per rank\n\n" + markdown(
        ["ranks"] + PROTOCOLS + [f"exchange / {p}" for p in PROTOCOLS[1:]] + ["paper"], table))

    lines = {}
    for protocol, blocks, color in (("exchange", 2, "C3"), ("iexchange", 16, "C0"), ("lending", 4, "C2")):
        known = [n for n in RANKS if (protocol, blocks, n) in seconds]
        if known:
            lines[f"{protocol}, {blocks} blocks"] = (
                known, [seconds[protocol, blocks, n] for n in known], color + "-")
        if protocol in TABLE1:
            lines[f"{protocol}, paper"] = (RANKS, TABLE1[protocol][blocks], color + ":")
    plots.plot(os.path.join(output, "figure4.svg"), "Figure 4: particle tracing, 512^3, 10:1", lines,
               ("ranks", "seconds"))


def changes(runs):
    """Seconds by what is changed, ranks and protocol."""
    table = []
    for name, rows in runs.items():
        seconds = {(r["ranks"], r["protocol"]): r["seconds"] for r in rows}
        for ranks in sorted({key[0] for key in seconds}):
            table.append([name, ranks] + [seconds.get((ranks, p)) for p in PROTOCOLS])
    print("\nOne change at a time, 4 blocks per rank, seconds\n\n"
          + markdown(["changed", "ranks"] + PROTOCOLS, table))


def unions(figure, rows, output):
    variants = ["Labels Dense", "Labels Sync", "Labels Async", "Tree Async"]
    table = [[r["ranks"]] + [r[v + " ms"] for v in variants] + [r["Labels Dense rounds"]]
             + [r["Labels Dense ms"] / r["Labels Async ms"], r["Labels Dense ms"] / r["Tree Async ms"]]
             for r in rows]
    print(f"\nFigure {figure}, ms\n\n" + markdown(
        ["ranks"] + variants + ["rounds", "Dense / Async", "Dense / Tree"], table))
    lines = {v: plots.series(rows, "ranks", v + " ms") + ("-",) for v in variants}
    plots.plot(os.path.join(output, f"figure{figure}.svg"),
               f"Figure {figure}: distributed union-find", lines, ("ranks", "ms"))


def gantt(output):
    """Figure 1: calls of all ranks over time, both protocols on one scale."""
    figure, axes = plots.plt.subplots(1, 2, figsize=(9, 4.5), sharex=True, sharey=True)
    for ax, protocol in zip(axes, ("exchange", "iexchange")):
        with open(os.path.join(output, f"gantt-{protocol}.json")) as file:
            events = json.load(file)["traceEvents"]
        bars = {}
        for event in events:
            if event.get("cat") == "call":
                bars.setdefault(event["pid"], []).append((event["ts"] * 1e-6, event["dur"] * 1e-6))
        for rank, spans in bars.items():
            ax.broken_barh(spans, (rank - 0.4, 0.8), color="C0")
        ax.set_title(protocol, fontsize=10)
        ax.set_xlabel("seconds")
    axes[0].set_ylabel("rank")
    figure.suptitle("Figure 1: 64 ranks, 4 slow blocks (100:1); blue: computing", fontsize=10)
    figure.tight_layout()
    path = os.path.join(output, "figure1.svg")
    plots.save(figure, path)
    print("wrote", path)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?", help="path of tributary-bench")
    parser.add_argument("--output", default="paper", help="folder for JSON and plots")
    parser.add_argument("--tables", action="store_true", help="use the JSON that is in the folder")
    parser.add_argument("--fit", action="store_true", help="only fit Table 1")
    parser.add_argument("--max", type=int, default=8192, help="largest number of ranks")
    options = parser.parse_args()
    if options.fit:
        return fit()
    if not (options.tables or options.program):
        parser.error("give the path of tributary-bench, or --tables")
    runs = plots.Runs(options.program, options.output)
    ranks = ",".join(str(n) for n in RANKS if n <= options.max)
    powers = ",".join(str(2**e) for e in range(4, 14) if 2**e <= options.max)

    def rows(name, arguments):
        if not options.tables:
            return runs.run(name, ["paper"] + arguments)
        path = os.path.join(options.output, name + ".json")
        if not os.path.exists(path):
            return []
        with open(path) as file:
            return json.load(file)["rows"]

    timeline = os.path.join(options.output, "gantt")
    if rows("figure1", ["--figure", "1", "--machine", "cluster", "--timeline", timeline]):
        gantt(options.output)
    scaling = rows("figure4", ["--figure", "4", "--ranks", ranks])
    if scaling:
        strong_scaling(scaling, options.output)
    few = ",".join(str(n) for n in RANKS if n <= min(options.max, 2048))
    changed = {name: rows(f"figure4-change{i}",
                          ["--figure", "4", "--ranks", few, "--blocks-per-rank", "4"] + arguments)
               for i, (name, arguments) in enumerate(CHANGES.items())}
    if any(changed.values()):
        same = [r for r in scaling if r["blocks/rank"] == 4 and r["ranks"] <= 2048]
        changes({"nothing": same, **changed})
    for figure in (7, 9):
        united = rows(f"figure{figure}", ["--figure", str(figure), "--ranks", powers])
        if united:
            unions(figure, united, options.output)


if __name__ == "__main__":
    main()
