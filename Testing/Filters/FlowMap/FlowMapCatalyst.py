# SPDX-License-Identifier: BSD-3-Clause
"""Async Flow Map and Async Path Tracer in situ: a simulation passes its mesh to ParaView Catalyst in each of ten
steps, and writes it to disk. The maps and pathlines must be those of the files, bit for bit, with two time steps in
memory.

Every rank runs this script (pvbatch --sym).
"""

import json
import os

import check
import FlowMap
from paraview import simple
from paraview.catalyst import bridge
from tracking import expect
from unsteady import COMM, Paths, set_values

TIMES = [float(step) for step in range(10)]
MESH = {"mesh": "tetrahedra", "size": 7, "dtype": "float64"}


def file_of(step):
    return os.path.join(check.OUTPUT, f"step{step}.pvtu")


class Simulation:
    """Overwrites its arrays in each step."""

    def __init__(self):
        self.data = check.flows.build(COMM.rank, COMM.size, centring="both", **MESH)
        self.set(0)

    def set(self, step):
        other = self.data.NewInstance()
        other.DeepCopy(self.data)
        set_values(other, "swirl", TIMES[step], "float64")
        if self.data.GetPointData().GetArray("height") is None:
            self.data.ShallowCopy(other)
        for mine, new in ((self.data.GetPointData(), other.GetPointData()),
                          (self.data.GetCellData(), other.GetCellData())):
            for i in range(mine.GetNumberOfArrays()):
                mine.GetArray(i).DeepCopy(new.GetArray(mine.GetArray(i).GetName()))
                mine.GetArray(i).Modified()
        self.data.Modified()


def simulate():
    bridge.initialize()
    bridge.add_pipeline(os.path.join(os.path.dirname(os.path.abspath(__file__)), "FlowMapCatalystPipeline.py"), 2)
    simulation = Simulation()
    writer = check.held(simulation.data)
    for step, time in enumerate(TIMES):
        simulation.set(step)
        check.touch(writer)
        simple.SaveData(file_of(step), writer, DataMode="Binary")
        bridge.coprocess(time, step, simulation.data, name="grid")
    bridge.finalize()
    check.delete(writer)


def from_files():
    """What is right after each step."""
    from FlowMapCatalystPipeline import GROWS, MAPS, start

    COMM.barrier()
    files = simple.XMLPartitionedUnstructuredGridReader(FileName=[file_of(step) for step in range(len(TIMES))])
    expect(list(files.TimestepValues) == TIMES, f"times of the files: {list(files.TimestepValues)}")
    right = [{} for _ in TIMES]
    for name, properties in MAPS.items():
        proxy = check.flow_map(files, **GROWS, **properties)
        single = check.flow_map(files, **properties)
        for step, time in enumerate(TIMES):
            found = FlowMap.Map(proxy, time)
            right[step][name] = found.digest()
            if step in (1, 5, 9):  # the same window, without a step before
                single.IntegrationTime = min(time, properties["IntegrationTime"])
                expect(FlowMap.Map(single, 0.0).digest() == right[step][name],
                       f"{name}: the window From Current Time to {time} differs")
        check.delete(proxy, single)
    where = start()
    proxy = check.paths(files, where)
    for step, time in enumerate(TIMES):
        right[step]["paths"] = Paths(proxy, time).digest()
    check.delete(proxy, where, files)
    return MAPS, right


def peak_memory():
    """The largest memory of this process in bytes."""
    with open("/proc/self/status", encoding="ascii") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))


def run_memory():
    """The peak memory does not grow with the number of steps: a step is 28 MB, and two are in memory."""
    side = 105
    data = check.flows.build(COMM.rank, COMM.size, mesh="image", size=side, dtype="float64")
    velocity = data.GetPointData().GetArray("velocity")
    step_bytes = velocity.GetDataSize() * 8
    producer = simple.PVTrivialProducer()
    held = producer.GetClientSideObject()
    held.SetWholeExtent(*check.flows.whole_extent("abc", "image", side))
    proxy, peaks = None, [peak_memory()]
    for time in TIMES:
        velocity.Modified()
        data.Modified()
        data.GetInformation().Set(data.DATA_TIME_STEP(), time)
        held.SetOutput(data, time)
        held.Modified()
        producer.MarkModified(producer)
        proxy = proxy or check.flow_map(producer, IntegrationTime=9.0, SamplingDimensions=[5, 5, 1],
                                        Window="From First Time Step")
        proxy.UpdatePipeline(time)
        peaks.append(peak_memory())
    more = [(peak - peaks[0]) / step_bytes for peak in peaks[1:]]
    print(f"rank {COMM.rank}: a step has {step_bytes} bytes; additional peak memory in steps: "
               + ", ".join(f"{one:.2f}" for one in more), flush=True)
    expect(more[-1] < 1.6, f"{more[-1]} steps in addition to that of the simulation")
    expect(more[-1] - more[2] < 0.3, f"memory grows: {more}")
    check.delete(proxy, producer)


def main():
    path = os.path.join(check.OUTPUT, "steps.json")
    if COMM.rank == 0 and os.path.exists(path):
        os.remove(path)
    COMM.barrier()
    run_memory()
    simulate()
    maps, right = from_files()
    COMM.barrier()
    with open(path) as file:
        steps = json.load(file)
    expect(len(steps) == len(TIMES), f"{len(steps)} steps in situ")
    expect(len({row["whole"] for row in right}) == len(TIMES), "maps that are alike")
    for step, (found, wanted) in enumerate(zip(steps, right)):
        for name in maps:
            digest, kept = found[name]
            expect(digest == wanted[name], f"{name}: the map of step {step} in situ differs from that of the files")
            # Beside the data of the simulation; none when the window is complete.
            complete = TIMES[step] >= maps[name]["IntegrationTime"]
            expect(kept == (0 if complete else 1), f"{name}: {kept} steps are kept at step {step}")
        expect(found["careless"] == found["short"], f"step {step}, without a time")
        expect(found["paths"] == wanted["paths"], f"pathlines of step {step} in situ differ from those of the files")
    expect(right[5]["short"] == right[9]["short"] != right[4]["short"], "a map that is complete changes, or not")


if __name__ == "__main__":
    check.run(__file__)
