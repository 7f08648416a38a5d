# SPDX-License-Identifier: BSD-3-Clause
"""Drops of a dam break on a mesh that changes in every step: the events in Docs/Guide/FeatureTracker.md, which can be checked
against its picture by eye, are those that the filter finds on any number of ranks."""

import os
import sys

import check
from paraview import simple

sys.path.insert(0, os.path.join(check.SOURCE, "Examples"))

import dambreak as example  # noqa: E402  (found on the path set above)


def main():
    check.load_plugin()
    vars(simple).setdefault("AsyncFeatureTracker", check._created["AsyncFeatureTracker"])
    tracker = example.tracked(check.OUTPUT, 5)
    found = example.events_of(tracker, example.drops.Drops().times[-1])
    with open(os.path.join(check.SOURCE, "Docs", "Guide", "FeatureTracker.md"), encoding="utf-8") as file:
        guide = file.read().splitlines()
    begin = guide.index(found[0])
    told = guide[begin : guide.index("", begin)]
    assert len(found) > 5 and told == found, "found:\n" + "\n".join(found)


if __name__ == "__main__":
    check.run(__file__)
