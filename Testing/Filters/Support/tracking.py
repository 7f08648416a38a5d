# SPDX-License-Identifier: BSD-3-Clause
"""Parts that the tests of Async Feature Tracker have in common."""

import check
import films
from mpi4py import MPI

COMM = MPI.COMM_WORLD
# More ranks share cores: these run only the cases whose result may depend on the number of ranks.
FEW = COMM.size <= 4
# Whether cases are compared with brute force here: those of other numbers of ranks have the hashes of one rank.
IS_REFERENCE = COMM.size == 1 or check.thorough()


def expect(condition, what):
    """Rank 0 raises Wrong unless the condition is true; the other ranks do not wait."""
    if COMM.rank == 0 and not condition:
        raise check.Wrong(what)


def gathered(rows):
    """The rows of all ranks, on rank 0."""
    return [row for part in COMM.gather(rows) or [] for row in part]


class Tables:
    """The tables of ports 2 to 4 of all ranks, in an order that does not depend on ranks; on rank 0."""

    def __init__(self, tracker, key=None):
        self.names, self.tables = [], []
        for port in (2, 3, 4):
            names, rows = films.table(tracker.GetOutputDataObject(port))
            self.names.append(names)
            self.tables.append(sorted(gathered(rows), key=key))

    def rows(self, table):
        return [dict(zip(self.names[table], row)) for row in self.tables[table]]


def requests(proxy, digest_of, right, times):
    """Request steps in any order, a step again, and a time between steps."""
    for step in (4, 2, 2, 3, 1, 4, 0):
        expect(digest_of(proxy, times[step]) == right[step], f"step {step} after others")
    expect(digest_of(proxy, 2.75) == right[2], "between steps")


def tuned(proxy, digest_of, right, times):
    """Request all steps of a filter with AutoTune."""
    for step, when in enumerate(times):
        expect(digest_of(proxy, when) == right[step], f"step {step} with settings that are chosen")
    expect(proxy.FieldData["AsyncFeatureTracker TuningTrials"] is not None, "nothing said of a choice")


def appended(proxy, data, more, digest_of, right):
    """Append the steps of another source to the first three."""
    expect(digest_of(proxy, 2.0) == right[2], "before steps were added")
    data.Script = more.Script
    data.ScriptRequestInformation = more.ScriptRequestInformation
    data.UpdatePipelineInformation()
    expect(digest_of(proxy, 4.0) == right[4], "after steps were added")


def counted(name, when):
    """A function of a filter: the number in its field data at a time, or None without output."""

    def count(proxy):
        proxy.UpdatePipeline(when)
        output = proxy.GetClientSideObject().GetOutputDataObject(0)
        counts = output.GetFieldData().GetArray(name)
        return counts and counts.GetValue(0)

    return count
