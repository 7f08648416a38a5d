# SPDX-License-Identifier: BSD-3-Clause
"""Async Feature Tracker in situ: a simulation passes its grid to ParaView Catalyst in each step, and the
pipeline CatalystPipeline.py tracks regions and critical points. The result must be that of a batch run.

Every rank runs this script (pvbatch --sym).
"""

import json
import os

import check
import CriticalPoints
import Features
import fields
from mpi4py import MPI
from paraview import simple
from paraview.catalyst import bridge

COMM = MPI.COMM_WORLD
TIMES = [0.5 * t for t in range(6)]


def data_of(step):
    return fields.data_of("waves", "image", step, TIMES[step], 5)


def simulate():
    bridge.initialize()
    bridge.add_pipeline(os.path.join(os.path.dirname(os.path.abspath(__file__)), "CatalystPipeline.py"), 2)
    for step, time in enumerate(TIMES):
        bridge.coprocess(time, step, data_of(step), name="grid")
    bridge.finalize()


def main():
    path = os.path.join(check.OUTPUT, "digests.json")
    if COMM.rank == 0 and os.path.exists(path):
        os.remove(path)
    COMM.barrier()
    simulate()
    import CatalystPipeline

    data = fields.source(simple, "waves", "image", TIMES)
    right = [[] for _ in TIMES]
    for outputs, properties in (
        (Features.Outputs, CatalystPipeline.REGIONS),
        (CriticalPoints.Outputs, CatalystPipeline.CRITICAL),
    ):
        proxy = check.tracked(data, **properties)
        for step, time in enumerate(TIMES):
            proxy.UpdatePipeline(time)
            right[step].append(outputs(proxy).digest())
        check.delete(proxy)
    if COMM.rank == 0:
        with open(path) as file:
            found = json.load(file)
        assert len(found) == len(TIMES), f"{len(found)} steps in situ"
        assert len({str(step) for step in right}) == len(TIMES), "steps that are alike"
        for step, (one, other) in enumerate(zip(found, right)):
            other.append(other[-1])
            assert one == other, f"step {step} in situ differs: {one}, {other}"


if __name__ == "__main__":
    check.run(__file__)
