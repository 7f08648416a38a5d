# SPDX-License-Identifier: BSD-3-Clause
"""A chart of what each rank did, from the timeline that a filter writes."""

import html
import json
import os

import numpy as np
from tributary.proxies import fresh, is_first_rank, update_input

# By category in the file, from the bottom of a bar to its top: what it means, and its color.
ACTIVITIES = {
    "call": ("calls of blocks", "#3f6fb0"),
    "loan": ("loans of blocks", "#e08a1e"),
    "idle": ("idle", "#d4d4d4"),
}
WIDTH, BAR, GAP, LEFT, TOP, SCALE = 900, 28, 6, 70, 40, 30  # of the picture, in pixels


def gantt(source, picture):
    """Draws what each rank of a filter did, and when, as an SVG file: a bar for each rank.

    The height of a color is its share of the time within a pixel; time of communication is white. Returns the
    seconds of each rank as a structured array with the columns Rank, call, loan, idle and total. If each rank
    runs the script, the first one draws, and others return None.

    source   a file as written by a filter with Timeline File, or a filter with that property: then a fresh one
             with the same properties is executed, and writes its timeline beside the picture as .json. On a
             server it writes to the server's disk; call gantt() with the file there.
    picture  the name of the SVG file
    """
    if not isinstance(source, (str, os.PathLike)):
        source = _recorded(source, os.path.abspath(os.path.splitext(picture)[0] + ".json"))
    if not is_first_rank():
        return None
    ranks = _spans(source)
    end = max((spans[-1, 1] for rank in ranks for spans in rank.values() if len(spans)), default=0)
    with open(picture, "w", encoding="utf-8") as file:
        file.write(_drawn(ranks, end))
    return np.array(
        [
            (number, *(_covered(rank, np.array([0, end]))[name][0] for name in ACTIVITIES), end)
            for number, rank in enumerate(ranks)
        ],
        [("Rank", int), *((name, float) for name in ACTIVITIES), ("total", float)],
    )


def _recorded(proxy, file):
    """Executes a copy of a filter that writes its timeline. Returns the file."""
    if not proxy.SMProxy.GetProperty("TimelineFile"):
        raise ValueError(f"{proxy.SMProxy.GetXMLLabel()} has no property Timeline File; give a filter with it, or a file")
    update_input(proxy)
    copy = fresh(proxy)
    copy.TimelineFile = file
    copy.UpdatePipeline()
    return file


def _spans(file):
    """For each rank and category, beginnings and ends in seconds, by time."""
    with open(file, encoding="utf-8") as stream:
        events = json.load(stream)["traceEvents"]
    ranks = [{name: [] for name in ACTIVITIES} for event in events if event["ph"] == "M"]
    for event in events:
        if event["ph"] == "X":
            begin = event["ts"] * 1e-6
            ranks[event["pid"]][event["cat"]].append((begin, begin + event["dur"] * 1e-6))
    return [
        {name: np.array(sorted(spans)).reshape(-1, 2) for name, spans in rank.items()} for rank in ranks
    ]


def _covered(rank, edges):
    """The seconds of each activity of a rank between edges and the next ones."""

    def seconds(spans):
        if not len(spans):
            return np.zeros(len(edges) - 1)
        after = np.cumsum(spans[:, 1] - spans[:, 0])
        before = np.r_[0, after[:-1]]
        return np.diff(np.interp(edges, spans.ravel(), np.stack([before, after], 1).ravel()))

    covered = {name: seconds(spans) for name, spans in rank.items()}
    covered["call"] -= covered["loan"]  # which are within calls
    return covered


def _drawn(ranks, end):
    """The text of the SVG file."""
    height = TOP + len(ranks) * (BAR + GAP) + SCALE
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + 30}" height="{height}" '
        'font-family="Helvetica, Arial, sans-serif" font-size="12" fill="#222">',
        '<rect width="100%" height="100%" fill="white"/>',
        *_legend(),
    ]
    edges = np.linspace(0, end, WIDTH + 1)
    for number, rank in enumerate(ranks):
        low = TOP + number * (BAR + GAP) + BAR
        lines.append(f'<text x="{LEFT - 8}" y="{low - BAR / 2 + 4:g}" text-anchor="end">rank {number}</text>')
        lines += _bar(_covered(rank, edges), end / WIDTH, low)
        lines.append(f'<rect x="{LEFT}" y="{low - BAR}" width="{WIDTH}" height="{BAR}" fill="none" stroke="#888"/>')
    return "\n".join([*lines, *_axis(end, height - SCALE), "</svg>", ""])


def _bar(covered, column, low):
    """Of one rank above y = low, a path for each activity; columns of pixels with the same shares are one."""
    shares = np.stack([covered[name] for name in ACTIVITIES], 1) / (column or 1)
    tops = np.rint(np.clip(np.cumsum(shares, 1), 0, 1) * BAR).astype(int)
    starts = np.flatnonzero(np.r_[True, (tops[1:] != tops[:-1]).any(1)])
    widths = np.diff(np.r_[starts, len(tops)])
    bottoms = np.zeros(len(starts), int)
    for (_, color), activity in zip(ACTIVITIES.values(), tops[starts].T):
        boxes = "".join(
            f"M{LEFT + start} {low - bottom}V{low - top}h{width}V{low - bottom}z"
            for start, width, bottom, top in zip(starts, widths, bottoms, activity)
            if top > bottom
        )
        if boxes:
            yield f'<path fill="{color}" d="{boxes}"/>'
        bottoms = activity


def _legend():
    for number, (meaning, color) in enumerate(ACTIVITIES.values()):
        left = LEFT + 200 * number
        yield f'<rect x="{left}" y="12" width="14" height="14" fill="{color}"/>'
        yield f'<text x="{left + 20}" y="23">{html.escape(meaning)}</text>'


def _axis(end, top):
    """Marks at round numbers of milliseconds, at least four."""
    if end <= 0:
        return
    power = 10 ** np.floor(np.log10(end * 1e3 / 4))
    step = power * max(factor for factor in (1, 2, 5) if factor * power * 4 <= end * 1e3)
    for mark in np.arange(0, end * 1e3, step):
        left = LEFT + WIDTH * mark * 1e-3 / end
        yield f'<line x1="{left:.1f}" x2="{left:.1f}" y1="{top}" y2="{top + 5}" stroke="#222"/>'
        yield f'<text x="{left:.1f}" y="{top + 18}" text-anchor="middle">{mark:g} ms</text>'
