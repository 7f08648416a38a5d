# SPDX-License-Identifier: BSD-3-Clause
# script-version: 2.0
"""The pipeline of FlowMapCatalyst.py: flow maps and pathlines of the simulation's mesh. Writes a digest of each
output of each step, and the numbers of time steps kept, to TRIBUTARY_OUTPUT."""

import json
import os

import check
import FlowMap
import numpy as np
import unsteady
from paraview.simple import PVTrivialProducer

GROWS = {"Window": "From First Time Step"}
GRID = {"SamplingDimensions": [9, 8, 7], "ComputeTensor": 1}
# The window of the second ends between two time steps.
MAPS = {
    "whole": {**GRID, "IntegrationTime": 9.0},
    "short": {**GRID, "IntegrationTime": 4.25},
    "points": {"Seeds": "Points of Input", "IntegrationTime": 9.0},
}


def start():
    return unsteady.seeds(np.random.default_rng(5).uniform(0.5, 5.5, (40, 3)))


producer = PVTrivialProducer(registrationName="grid")
maps = {name: check.flow_map(producer, **GROWS, **properties) for name, properties in MAPS.items()}
# Updated without a time, as some scripts do.
careless = check.flow_map(producer, **GROWS, **MAPS["short"])
paths = check.paths(producer, start())
steps = []


def catalyst_execute(info):
    producer.UpdatePipeline(info.time)
    found = {}
    for name, proxy in maps.items():
        one = FlowMap.Map(proxy, info.time)
        found[name] = [one.digest(), int(one.statistic("StepsKept"))]
    one = FlowMap.Map(careless)
    found["careless"] = [one.digest(), int(one.statistic("StepsKept"))]
    found["paths"] = unsteady.Paths(paths, info.time).digest()
    steps.append(found)


def catalyst_finalize():
    if unsteady.COMM.rank == 0:
        with open(os.path.join(check.OUTPUT, "steps.json"), "w") as file:
            json.dump(steps, file)
