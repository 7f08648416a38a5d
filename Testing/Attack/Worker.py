# SPDX-License-Identifier: BSD-3-Clause
"""pvbatch --sym Worker.py FILTER SEED KEY...: run cases of one filter on all ranks.

Rank 0 writes a line to standard output before and after each case, so that the driver knows in which case a rank
crashed. The other environment is that of Testing/Filters/Support/check.py.
"""

import hashlib
import json
import os
import random
import resource
import sys
import time
import traceback

import numpy as np
from mpi4py import MPI
from paraview import servermanager
from vtkmodules.util.vtkAlgorithm import VTKPythonAlgorithmBase
from vtkmodules.vtkCommonDataModel import vtkDataObject, vtkPolyData
from vtkmodules.vtkCommonExecutionModel import vtkAlgorithm
from vtkmodules.vtkCommonExecutionModel import vtkStreamingDemandDrivenPipeline as Pipeline

import cases
import check
import datasets
import filters
import outputs
import properties
import troubles

COMM = MPI.COMM_WORLD
MEMORY = 6 << 30  # bytes of address space of a rank, beyond which an allocation fails


def tell(what, **content):
    if COMM.rank == 0:
        os.write(1, f"@{what} {json.dumps(content)}\n".encode())


class Source(VTKPythonAlgorithmBase):
    """A source of one data object for each time, without checks."""

    def __init__(self, steps, times, whole=None):
        super().__init__(nInputPorts=0, nOutputPorts=1, outputType="vtkDataObject")
        self.steps, self.times, self.whole = steps, times, whole

    def RequestDataObject(self, request, inputs, outputs_):
        output = self.steps[0].NewInstance()
        outputs_.GetInformationObject(0).Set(vtkDataObject.DATA_OBJECT(), output)
        return 1

    def RequestInformation(self, request, inputs, outputs_):
        info = outputs_.GetInformationObject(0)
        info.Set(vtkAlgorithm.CAN_HANDLE_PIECE_REQUEST(), 1)
        if len(self.times) > 1:
            info.Set(Pipeline.TIME_STEPS(), self.times, len(self.times))
            info.Set(Pipeline.TIME_RANGE(), (self.times[0], self.times[-1]), 2)
        if self.whole is not None:
            info.Set(Pipeline.WHOLE_EXTENT(), self.whole, 6)
        return 1

    def RequestData(self, request, inputs, outputs_):
        info = outputs_.GetInformationObject(0)
        time_ = info.Get(Pipeline.UPDATE_TIME_STEP()) if info.Has(Pipeline.UPDATE_TIME_STEP()) else self.times[0]
        step = max([n for n, t in enumerate(self.times) if t <= time_] or [0])
        output = info.Get(vtkDataObject.DATA_OBJECT())
        output.ShallowCopy(self.steps[step])
        if len(self.times) > 1:
            output.GetInformation().Set(vtkDataObject.DATA_TIME_STEP(), self.times[step])
        return 1


def spoil(data, case, piece, step):
    for part in datasets.leaves(data):
        for name, where in case.troubles:
            if where in (cases.ALL, piece) and not (case.late and step == 0):
                troubles.find(name)(part, random.Random(f"{case.key} {name} {piece}"))
    return data


def data_of(case, time_, step):
    """This rank's data."""

    def part(piece, pieces):
        kind = case.kinds[piece % len(case.kinds)]
        return spoil(datasets.make(kind, case.shape, piece, pieces, time_), case, piece, step)

    if case.container:
        owner = [COMM.size - 1 if case.spread == "last" else n * COMM.size // cases.PIECES for n in range(cases.PIECES)]
        parts = [part(n, cases.PIECES) if owner[n] == COMM.rank else None for n in range(cases.PIECES)]
        return datasets.contain(case.container, parts)
    if case.spread == "last":
        if COMM.rank < COMM.size - 1:
            return datasets.EMPTY[case.kinds[-1]]()
        return part(0, 1)
    return part(COMM.rank, COMM.size)


def source_of(case, target):
    steps = [data_of(case, t, n) for n, t in enumerate(target.times)]
    whole = datasets.extent(((0, 0, 0), case.shape))
    kinds = {"vtkImageData", "vtkUniformGrid", "vtkRectilinearGrid", "vtkStructuredGrid"}
    return Source(steps, target.times, whole if steps[0].GetClassName() in kinds else None)


def seeds_of(case):
    """A source of seeds, all on rank 0; None for no source."""
    rng = np.random.default_rng(5)
    places = {
        "some": rng.uniform((0.5, 0.5, 0.5), (5.5, 3.5, 2.5), (7, 3)),
        "one": [[1.5, 1.5, 1.5]],
        "many": rng.uniform((-1, -1, -1), (7, 5, 4), (300, 3)),
        "empty": [],
        "nan": [[np.nan, 1, 1], [np.inf, 1, 1], [1, 1, -np.inf], [1.5, 1.5, 1.5]],
        "outside": [[100, 100, 100], [1e300, 0, 0], [-1e-300, 0, 0]],
    }
    if case.seeds == "missing":
        return None
    if case.seeds == "input":
        return Source([data_of(case, 0.0, 1)], (0.0,))
    data = vtkPolyData()
    if COMM.rank == 0:
        data.SetPoints(datasets.points_of(places.get(case.seeds, places["some"])))
    if case.seeds == "composite":
        data = datasets.contain("nulls", [data])
    return Source([data], (0.0,))


class Attack:
    """Cases of one filter in this process."""

    def __init__(self, target, seed):
        check.load_plugin()
        self.target, self.seed = target, seed
        self.asked = target.asked or target.times
        path = os.path.join(check.OUTPUT, f"messages.{COMM.rank}")
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND), 2)
        self.messages = open(path, encoding="utf-8", errors="replace")
        self.good = cases.Case(target.name, "good", ["image"])
        self.usual = self._run_good(*self._filter())
        assert COMM.bcast(bool(self.usual), 0), "good data are refused: " + self.messages.read()

    def _filter(self):
        proxy = servermanager.ProxyManager().NewProxy("filters", self.target.proxy)
        properties.set_all(proxy, self.target.good)
        return proxy, proxy.GetClientSideObject()

    def _connect(self, vtk_filter, case):
        """Make the data of a case; returns those of this rank at all times."""
        source = source_of(case, self.target)
        vtk_filter.SetInputConnection(0, source.GetOutputPort())
        if self.target.seeds:
            seeds = seeds_of(case)
            vtk_filter.SetInputConnection(1, seeds and seeds.GetOutputPort())
        return source.steps

    def _update(self, vtk_filter):
        vtk_filter.UpdateInformation()
        for time_ in self.asked:
            vtk_filter.UpdateTimeStep(time_, COMM.rank, COMM.size, 0)

    def _outputs(self, vtk_filter):
        return [vtk_filter.GetOutputDataObject(port) for port in range(vtk_filter.GetNumberOfOutputPorts())]

    def _digest(self, vtk_filter, inputs):
        """A hash of all ranks' outputs, or a sum where their bits are not promised; None if there is nothing."""
        found = self._outputs(vtk_filter)
        if not self.target.exact:
            return COMM.bcast(COMM.reduce(outputs.total(found[0], self.target.sums)), 0) or None
        omitted = set()
        if inputs and self.target.name != "StreamTracer":
            for leaf in datasets.leaves(inputs[-1]):
                for attributes, _ in troubles.attributes_of(leaf):
                    omitted |= {str(attributes.GetArrayName(n)) for n in range(attributes.GetNumberOfArrays())}
        rows = [f"{port} {row}" for port, data in enumerate(found)
                for row in outputs.rows(data, omitted if port == 0 else ())]
        everything = sorted(row for part in COMM.allgather(rows) for row in part)
        return hashlib.sha256(" ".join(everything).encode()).hexdigest()[:24] if everything else None

    def _run_good(self, proxy, vtk_filter):
        inputs = self._connect(vtk_filter, self.good)
        self._update(vtk_filter)
        return self._digest(vtk_filter, inputs)

    def _same(self, digest):
        if digest is None or self.target.exact:
            return digest == self.usual
        return abs(digest - self.usual) <= 1e-3 * abs(self.usual)

    def _said(self):
        """Messages of all ranks since the last call."""
        COMM.Barrier()
        said = COMM.allgather(self.messages.read())
        COMM.Barrier()
        return [message for text in said for message in outputs.errors_in(text)]

    @staticmethod
    def _kinds(case):
        """Under which kinds a case is counted."""
        names = {name for name, _ in case.troubles}
        kinds = [kind for kind, table in troubles.KINDS.items() if names & table.keys()]
        kinds += ["properties"] if case.properties else []
        kinds += ["seeds"] if case.seeds != "some" else []
        return ["all", *kinds]

    def run(self, key):
        """Run a case, and tell what is wrong, the messages and the digest."""
        case = cases.make(self.target, key, self.seed)
        tell("begin", key=key, case=case.describe(), kinds=self._kinds(case))
        proxy, vtk_filter = self._filter()
        properties.set_all(proxy, case.properties)
        inputs = self._connect(vtk_filter, case)
        self._said()
        begun = time.time()
        self._update(vtk_filter)
        spent = time.time() - begun
        messages = self._said()
        wrong = set()
        old = set().union(*(outputs.faults(data) for data in inputs))
        for port, data in enumerate(self._outputs(vtk_filter)):
            found = outputs.faults(data) - old | outputs.not_finite(data, self.target.finite)
            wrong |= {f"output {port}: {fault}" for fault in found}
        wrong = set().union(*COMM.allgather(wrong))
        name = vtk_filter.GetClassName()
        # The pipeline itself tells each rank that an input is missing or of a wrong type.
        own = [message for message in messages if message.startswith(name)]
        if len(own) > len(self.asked):
            wrong.add(f"{len(own)} messages of the filter: " + " | ".join(sorted(set(own))[:3]))
        others = sorted({message for message in messages if name not in message})
        if others:
            wrong.add(f"a message that does not name the filter: {others[0]}")
        for message in set(own):
            reason = outputs.poor(message)
            if case.is_good and not properties.is_named(self.target.proxy, message):
                reason = "that names no property"
            if reason:
                wrong.add(f"a message {reason}: {message}")
        digest = self._digest(vtk_filter, inputs) if not messages else "refused"
        properties.reset(proxy, self.target.good, case.properties)
        if not self._same(self._run_good(proxy, vtk_filter)):
            wrong.add("good data do not give the usual result afterwards: " + " ".join(self._said())[:300])
        comparable = digest if case.comparable and (self.target.exact or digest in (None, "refused")) else ""
        tell("end", key=key, wrong=sorted(wrong), messages=sorted(set(messages)), digest=comparable or "",
             seconds=spent, worked=digest != "refused", empty=digest is None)


def main():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    tell("ready", processes=COMM.gather(os.getpid()))
    attack = Attack(filters.FILTERS[sys.argv[1]], int(sys.argv[2]))
    for key in sys.argv[3:]:
        attack.run(key)
    tell("done")


try:
    main()
except BaseException:
    tell("failed", trace=traceback.format_exc())
    if COMM.rank:
        os.write(1, f"@failed {json.dumps({'trace': traceback.format_exc()})}\n".encode())
    time.sleep(0.5)
    os._exit(1)  # ends the other ranks, which may be waiting
