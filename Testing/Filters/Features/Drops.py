# SPDX-License-Identifier: BSD-3-Clause
"""Drops of a dam break on a mesh that changes in every step: the events in Docs/UserGuide.md, which can be checked
against its picture by eye, are those that the filter finds on any number of ranks.

    pvbatch Drops.py <drops.pvd, as Data/drops.py writes it>
"""

import os
import sys

import check
from paraview import simple

EVENTS = ("Birth", "Split", "Merge", "Death")


def events_of(tracker, time):
    """All up to a time: a line of a table for each step that has any, in order."""
    import tributary  # which the plugin contains

    events, links = tributary.table(tracker, "Events", time), tributary.table(tracker, "Edges", time)
    told = {}
    for event in events:
        step, region, track = event["Step"], event["RegionId"], event["TrackId"]

        def tracks(side, other):
            """Of the links of the region, those of the other side."""
            of = links[(links["Step"] == step) & (links["Region" + side] == region)]
            return ", ".join(map(str, sorted(of["Track" + other])))

        text = {
            "Split": f"{track} to {tracks('Before', 'After')}",
            "Merge": f"{tracks('After', 'Before')} to {track}",
        }.get(event["Event"], str(track))
        told.setdefault(step, {"Time": event["Time"]}).setdefault(event["Event"], []).append((track, text))
    lines = ["| time (s) | born | splits | merges | dies |", "|---|---|---|---|---|"]
    for step in sorted(told):
        cells = [
            ("; " if event in ("Split", "Merge") else ", ").join(
                text for _, text in sorted(told[step].get(event, []))
            )
            for event in EVENTS
        ]
        lines.append(f"| {told[step]['Time']:g} | " + " | ".join(cells) + " |")
    return lines


def main():
    series = simple.PVDReader(FileName=sys.argv[1])
    tracker = check.tracked(
        series,
        ScalarConnectivity=1,
        Scalars=["CELLS", "alpha.water"],
        ScalarRange=[0.5, 1.0],
        ConnectThrough="Faces",
        Motion="Velocity Field",
        Velocity=["CELLS", "U"],
    )
    found = events_of(tracker, series.TimestepValues[-1])
    with open(os.path.join(check.SOURCE, "Docs", "UserGuide.md"), encoding="utf-8") as file:
        guide = file.read().splitlines()
    begin = guide.index(found[0])
    told = guide[begin : guide.index("", begin)]
    assert len(found) > 5 and told == found, "found:\n" + "\n".join(found)


if __name__ == "__main__":
    check.run(__file__)
