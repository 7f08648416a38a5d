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
import defects
import filters
import outputs
import properties

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

    def ProcessRequest(self, request, inputs, outputs_):
        process = REQUESTS.get(request.GetRequest())
        return process(self, request, inputs, outputs_) if process else 1

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
        output, step = vtkDataObject.GetData(outputs_, 0), 0
        if len(self.times) > 1:
            info = outputs_.GetInformationObject(0)
            time_ = info.Get(Pipeline.UPDATE_TIME_STEP()) if info.Has(Pipeline.UPDATE_TIME_STEP()) else self.times[0]
            step = max([n for n, t in enumerate(self.times) if t <= time_] or [0])
        output.ShallowCopy(self.steps[step])
        if len(self.times) > 1:
            output.GetInformation().Set(vtkDataObject.DATA_TIME_STEP(), self.times[step])
        return 1


# request.Has() takes 15 microseconds for each key.
REQUESTS = {
    Pipeline.REQUEST_DATA_OBJECT(): Source.RequestDataObject,
    Pipeline.REQUEST_INFORMATION(): Source.RequestInformation,
    Pipeline.REQUEST_DATA(): Source.RequestData,
}


def spoil(data, case, piece, step):
    for part in datasets.leaves(data):
        for name, where in case.defects:
            if where in (cases.ALL, piece) and not (case.late and step == 0):
                defects.find(name)(part, random.Random(f"{case.key} {name} {piece}"))
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


RANDOM = np.random.default_rng(5)
PLACES = {
    "some": RANDOM.uniform((0.5, 0.5, 0.5), (5.5, 3.5, 2.5), (7, 3)),
    "one": [[1.5, 1.5, 1.5]],
    "many": RANDOM.uniform((-1, -1, -1), (7, 5, 4), (300, 3)),
    "empty": [],
    "nan": [[np.nan, 1, 1], [np.inf, 1, 1], [1, 1, -np.inf], [1.5, 1.5, 1.5]],
    "outside": [[100, 100, 100], [1e300, 0, 0], [-1e-300, 0, 0]],
}


def seeds_of(case):
    """A source of seeds, all on rank 0; None for no source."""
    if case.seeds == "missing":
        return None
    if case.seeds == "input":
        return Source([data_of(case, 0.0, 1)], (0.0,))
    data = vtkPolyData()
    if COMM.rank == 0:
        data.SetPoints(datasets.points_of(PLACES.get(case.seeds, PLACES["some"])))
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
        self.proxy = None
        good = cases.Case(target.name, "good", ["image"])
        self.good = source_of(good, target), seeds_of(good) if target.seeds else None
        found, messages = self._run(self._filter(), *self.good)
        self.usual = self._digest(COMM.allgather(self._values(found)))
        assert self.usual, f"good data are refused: {messages}"

    def _filter(self):
        """A new filter with good properties. The proxy is not new: another one takes longer than a filter runs."""
        if self.proxy is None:
            self.proxy = servermanager.ProxyManager().NewProxy("filters", self.target.proxy)
            properties.set_all(self.proxy, self.target.good)
        else:
            self.proxy.RecreateVTKObjects()
        return self.proxy.GetClientSideObject()

    def _run(self, vtk_filter, source, seeds):
        """Execute a filter on this rank's data; returns this rank's outputs and error messages."""
        self.messages.read()  # those of earlier runs
        vtk_filter.SetInputConnection(0, source.GetOutputPort())
        if self.target.seeds:
            vtk_filter.SetInputConnection(1, seeds and seeds.GetOutputPort())
        vtk_filter.UpdateInformation()
        for time_ in self.asked:
            vtk_filter.UpdateTimeStep(time_, COMM.rank, COMM.size, 0)
        found = [vtk_filter.GetOutputDataObject(port) for port in range(vtk_filter.GetNumberOfOutputPorts())]
        return found, outputs.errors_in(self.messages.read())

    def _faults(self, found, inputs):
        """What is wrong with the outputs of this rank, other than what is wrong with the inputs."""
        faults = {(port, fault) for port, data in enumerate(found) for fault in outputs.faults(data)}
        if faults:
            old = set().union(*(outputs.faults(data) for data in inputs))
            faults = {(port, fault) for port, fault in faults if fault not in old}
        faults |= {(port, fault) for port, data in enumerate(found)
                   for fault in outputs.not_finite(data, self.target.finite)}
        return {f"output {port}: {fault}" for port, fault in faults}

    def _values(self, found):
        """What is compared of this rank's outputs: hashes, or a sum where their bits are not promised."""
        if not self.target.exact:
            return outputs.total(found[0], self.target.sums)
        return [f"{port} {row}" for port, data in enumerate(found)
                for row in outputs.rows(data, self.target.adds if port == 0 else (), self.target.cut)]

    def _digest(self, values):
        """Of what all ranks have; None if there is nothing."""
        if not self.target.exact:
            return sum(values) or None
        rows = sorted(row for part in values for row in part)
        if self.target.cut:
            rows = sorted(set(rows))
        return hashlib.sha256(" ".join(rows).encode()).hexdigest()[:24] if rows else None

    def _same(self, digest):
        if digest is None or self.target.exact:
            return digest == self.usual
        return abs(digest - self.usual) <= 1e-3 * abs(self.usual)

    @staticmethod
    def _kinds(case):
        """Under which kinds a case is counted."""
        names = {name for name, _ in case.defects}
        kinds = [kind for kind, table in defects.KINDS.items() if names & table.keys()]
        kinds += ["properties"] if case.properties else []
        kinds += ["seeds"] if case.seeds != "some" else []
        return ["all", *kinds]

    def _wrong_messages(self, case, name, messages):
        """What is wrong with the messages that a filter has written."""
        # The pipeline itself tells each rank that an input is missing.
        own = [message for message in messages if message.startswith(name)]
        if len(own) > len(self.asked):
            yield f"{len(own)} messages of the filter: " + " | ".join(sorted(set(own))[:3])
        others = sorted({message for message in messages if name not in message})
        if others:
            yield f"a message that does not name the filter: {others[0]}"
        for message in set(own):
            reason = outputs.poor(message)
            if case.is_good and not properties.is_named(self.target.proxy, message):
                reason = "that names no property"
            if reason:
                yield f"a message {reason}: {message}"

    def _judge(self, case, name, everyone):
        """What is wrong with a case, its messages and its digest, given what all ranks have found."""
        said, faults, values, said_again, values_again = zip(*everyone)
        messages = sum(said, [])
        wrong = set().union(*faults, self._wrong_messages(case, name, messages))
        digest = "refused" if messages else self._digest(values)
        if not self._same(self._digest(values_again)):
            wrong.add("good data do not give the usual result afterwards: " + " ".join(sum(said_again, []))[:300])
        comparable = digest if case.comparable and (self.target.exact or digest in (None, "refused")) else ""
        return dict(wrong=sorted(wrong), messages=sorted(set(messages)), digest=comparable or "",
                    worked=digest != "refused", empty=digest is None)

    def run(self, key):
        """Run a case, and tell what was found."""
        case = cases.make(self.target, key, self.seed)
        tell("begin", key=key, case=case.describe(), kinds=self._kinds(case))
        vtk_filter = self._filter()
        properties.set_all(self.proxy, case.properties)
        source, seeds = source_of(case, self.target), seeds_of(case) if self.target.seeds else None
        found, messages = self._run(vtk_filter, source, seeds)
        mine = messages, self._faults(found, source.steps), self._values(found)
        if not properties.reset(self.proxy, self.target.good, case.properties):
            self.proxy = None
        found, said = self._run(vtk_filter, *self.good)
        everyone = COMM.allgather((*mine, said, self._values(found)))
        if COMM.rank == 0:
            tell("end", key=key, **self._judge(case, vtk_filter.GetClassName(), everyone))


def main():
    if "asan" not in os.environ.get("LD_PRELOAD", ""):  # which reserves terabytes of addresses
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
