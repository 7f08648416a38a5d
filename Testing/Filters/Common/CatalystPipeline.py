# SPDX-License-Identifier: BSD-3-Clause
# script-version: 2.0
"""The pipeline of Catalyst.py: tracks regions and critical points of the simulation's grid. Writes a digest of
all outputs of each step to TRIBUTARY_OUTPUT."""

import json
import os

import check
import CriticalPoints
import Features
from paraview import simple
from paraview.simple import PVTrivialProducer

REGIONS = {"ScalarConnectivity": 1, "Scalars": ["POINTS", "field"], "ScalarRange": [0.3, 2.0]}
CRITICAL = {"Features": "Critical Points", "CriticalField": ["POINTS", "field"]}

producer = PVTrivialProducer(registrationName="grid")
trackers = [
    (Features.Outputs, check.tracked(producer, **REGIONS)),
    (CriticalPoints.Outputs, check.tracked(producer, **CRITICAL)),
]
# Updated without a time, as some scripts do.
careless = check.tracked(producer, **CRITICAL)
digests = []


def catalyst_execute(info):
    producer.UpdatePipeline(info.time)
    digests.append([])
    for outputs, tracker in trackers:
        tracker.UpdatePipeline(info.time)
        digests[-1].append(outputs(tracker).digest())
    careless.UpdatePipeline()
    digests[-1].append(CriticalPoints.Outputs(careless).digest())


def catalyst_finalize():
    if Features.COMM.rank == 0:
        with open(os.path.join(check.OUTPUT, "digests.json"), "w") as file:
            json.dump(digests, file)
