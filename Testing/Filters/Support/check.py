# SPDX-License-Identifier: BSD-3-Clause
"""Functions of the pvbatch tests: they load the plugin, make its proxies and compare lines.

A test is a script with a function main() that raises AssertionError and ends with
check.run(__file__) if it is run as a program.
Environment: TRIBUTARY_PLUGIN (the plugin's file), TRIBUTARY_SOURCE (the repository),
TRIBUTARY_OUTPUT (a folder to write to).
"""

import faulthandler
import gc
import hashlib
import importlib.util
import json
import os
import re
import sys
import time
import traceback

import numpy as np
from paraview import servermanager

# paraview.simple goes through all proxies for the documentation of each one, which takes half a second.
servermanager.ProxyNamespace.getDocumentation = lambda namespace, name: ""

from paraview import simple  # noqa: E402  (after the line above)
from vtkmodules.util.numpy_support import vtk_to_numpy  # noqa: E402

SOURCE = os.environ["TRIBUTARY_SOURCE"]
DATA = os.path.join(SOURCE, "Data")
OUTPUT = os.environ.get("TRIBUTARY_OUTPUT", ".")
SECONDS = int(os.environ.get("TRIBUTARY_TEST_TIMEOUT", 1200)) - 20
sys.path.insert(0, DATA)

import flows  # noqa: E402  (found on the path set above)

# A programmable source collects garbage after each execution. Collections need not look at the objects of all
# modules, which took up to half the time of a test. Ranks that do not run the script do the same in Messages.
gc.freeze()
_created = {}


def run(path):
    """Call main() of a script; exit with 1 after a failure or a hang, before the timeout of ctest.

    The script becomes a module of its own, because programmable sources run in __main__ and leave
    names there, max and sum among them.
    """
    # sys.stderr of pvbatch is not a file, and Messages redirects the real one.
    console = os.fdopen(os.dup(2), "w")
    faulthandler.dump_traceback_later(SECONDS, exit=True, file=console)
    try:
        specification = importlib.util.spec_from_file_location("tributary_test", path)
        script = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(script)
        script.main()
    except BaseException:
        traceback.print_exc(file=console)
        console.flush()
        print("FAILED", flush=True)
        # Leaving without MPI_Finalize makes mpirun end the other ranks, which may be waiting.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(1)
    faulthandler.cancel_dump_traceback_later()
    print("PASSED", flush=True)


def load_plugin():
    """Load the plugin here and on the server, once."""
    if _created:
        return
    path = os.environ["TRIBUTARY_PLUGIN"]
    assert os.path.exists(path), f"no plugin at TRIBUTARY_PLUGIN={path}"
    simple.LoadPlugin(path, remote=True, ns=_created)
    if servermanager.ActiveConnection.IsRemote():
        simple.LoadPlugin(path, remote=False, ns=_created)
    for name in (
        "AsyncStreamTracer",
        "AsyncStreamTracerWithCustomSource",
        "AsyncConnectivity",
        "AsyncFeatureTracker",
        "AsyncConvectionDiffusion",
        "AsyncHarmonicFill",
        "AsyncPathTracer",
        "AsyncFlowMap",
    ):
        if name not in _created:
            assert hasattr(simple, name), f"the plugin loaded from {path} has no proxy {name}"
            _created[name] = getattr(simple, name)


def tracer(data, seeds, **properties):
    """Async Stream Tracer With Custom Source on a proxy of data and one of seeds."""
    load_plugin()
    # The default length comes from the bounds of the data, which are known after an update.
    data.UpdatePipeline()
    return _configured(
        _created["AsyncStreamTracerWithCustomSource"](Input=data, SeedSource=seeds), properties
    )


def cloud_tracer(data, **properties):
    """Async Stream Tracer with the seed type that the user gets."""
    load_plugin()
    data.UpdatePipeline()
    return _configured(_created["AsyncStreamTracer"](Input=data), properties)


def connectivity(data, **properties):
    """Async Connectivity on a proxy of data."""
    load_plugin()
    data.UpdatePipeline()
    return _created["AsyncConnectivity"](Input=data, **properties)


def tracked(data, **properties):
    """Async Feature Tracker on a proxy of data, with all cells in the output."""
    load_plugin()
    return _created["AsyncFeatureTracker"](Input=data, **{"ExtractRegions": 0, **properties})


def carried(data, **properties):
    """Async Convection Diffusion on a proxy of data."""
    load_plugin()
    return _created["AsyncConvectionDiffusion"](Input=data, **properties)


def filled(data, **properties):
    """Async Harmonic Fill on a proxy of data."""
    load_plugin()
    return _created["AsyncHarmonicFill"](Input=data, **properties)


def paths(data, seeds, **properties):
    """Async Path Tracer on a proxy of data and one of seeds."""
    load_plugin()
    return _configured(_created["AsyncPathTracer"](Input=data, SeedSource=seeds), properties)


def flow_map(data, **properties):
    """Async Flow Map on a proxy of data."""
    load_plugin()
    return _configured(_created["AsyncFlowMap"](Input=data), properties)


def paraview_tracer(data, seeds, **properties):
    """ParaView's own Stream Tracer With Custom Source, with its more robust interpolator."""
    data.UpdatePipeline()
    proxy = simple.StreamTracerWithCustomSource(Input=data, SeedSource=seeds)
    proxy.InterpolatorType = "Interpolator with Cell Locator"
    return _configured(proxy, properties)


def _configured(proxy, properties):
    vectors = properties.pop("Vectors", ["POINTS", "velocity"])
    if vectors is not None:
        proxy.Vectors = vectors
    for name, value in properties.items():
        setattr(proxy, name, value)
    return proxy


def held(data, extent=None):
    """A proxy of the data of this rank, if each rank runs the script (pvbatch --sym).

    extent  the whole extent, for structured data
    """
    producer = simple.TrivialProducer()
    producer.GetClientSideObject().SetOutput(data)
    if extent is not None:
        producer.GetClientSideObject().SetWholeExtent(*extent)
    producer.UpdatePipeline()
    return producer


def touch(proxy):
    """Execute a source or filter in the next update, also on ranks where nothing was changed."""
    proxy.GetClientSideObject().Modified()
    proxy.SMProxy.MarkModified(proxy.SMProxy)


def ranks():
    return servermanager.ActiveConnection.GetNumberOfDataPartitions()


def fetch(proxy):
    """The whole output as one data set, the ranks' parts in the order of ranks."""
    proxy.UpdatePipeline()
    return servermanager.Fetch(proxy)


def delete(*proxies):
    for proxy in proxies:
        simple.Delete(proxy)


def arrays(attributes):
    """Arrays of point or cell data by name, as numpy."""
    result = {}
    for index in range(attributes.GetNumberOfArrays()):
        array = attributes.GetArray(index)
        if array is not None:
            result[array.GetName()] = vtk_to_numpy(array)
    return result


class Lines:
    """Polylines as numpy: points (n x 3), point_data, cell_data, and each line's point numbers."""

    def __init__(self, data):
        self.points = np.zeros((0, 3))
        if data.GetNumberOfPoints():
            self.points = vtk_to_numpy(data.GetPoints().GetData())
        self.point_data = arrays(data.GetPointData())
        self.cell_data = arrays(data.GetCellData())
        cells = data.GetLines()
        self.offsets = np.zeros(1, np.int64)
        self.connectivity = np.zeros(0, np.int64)
        if cells is not None and cells.GetNumberOfCells():
            self.offsets = vtk_to_numpy(cells.GetOffsetsArray())
            self.connectivity = vtk_to_numpy(cells.GetConnectivityArray())
        self.count = len(self.offsets) - 1

    def line(self, index):
        return self.connectivity[self.offsets[index] : self.offsets[index + 1]]

    def by_seed(self):
        """Seed id to the number of its line; for output that has one direction."""
        ids = self.cell_data.get("SeedIds", np.zeros(0, int))
        result = {int(seed): index for index, seed in enumerate(ids)}
        assert len(result) == len(ids), "several lines for one seed and direction"
        return result

    def digest(self):
        """A hash of every bit that the promise covers: all but the field data."""
        total = hashlib.sha256()

        def add(name, values):
            values = np.ascontiguousarray(values)
            total.update(f"{name} {values.dtype} {values.shape}".encode())
            total.update(values.tobytes())

        add("points", self.points)
        add("offsets", self.offsets.astype(np.int64))
        add("connectivity", self.connectivity.astype(np.int64))
        for kind, table in (("point", self.point_data), ("cell", self.cell_data)):
            for name in sorted(table):
                add(f"{kind} {name}", table[name])
        return total.hexdigest()[:24]


def difference(one, other):
    """A text that names the first difference of two Lines; None if they have the same bits."""
    if one.count != other.count:
        return f"{one.count} and {other.count} lines"
    if len(one.points) != len(other.points):
        return f"{len(one.points)} and {len(other.points)} points"
    for kind, a, b in (
        ("point", one.point_data, other.point_data),
        ("line", one.cell_data, other.cell_data),
    ):
        if sorted(a) != sorted(b):
            return f"{kind} arrays {sorted(a)} and {sorted(b)}"
    if not np.array_equal(one.offsets, other.offsets):
        return "numbers of points of the lines"
    if not np.array_equal(one.connectivity, other.connectivity):
        return "connectivity"
    tables = [("coordinates", one.points, other.points)]
    tables += [(n, one.point_data[n], other.point_data[n]) for n in sorted(one.point_data)]
    tables += [(n, one.cell_data[n], other.cell_data[n]) for n in sorted(one.cell_data)]
    for name, a, b in tables:
        if a.dtype != b.dtype or a.shape != b.shape:
            return f"{name}: {a.dtype} {a.shape} and {b.dtype} {b.shape}"
        same = np.frombuffer(a.tobytes(), np.uint8) == np.frombuffer(b.tobytes(), np.uint8)
        if not same.all():
            row = int(np.flatnonzero(~same.reshape(len(a), -1).all(axis=1))[0])
            return f"{name}[{row}]: {a[row]} and {b[row]}"
    return None


def real_data(name):
    """A reader of a file of Data/."""
    reader = simple.OpenDataFile(os.path.join(DATA, name))
    assert reader is not None, f"ParaView cannot open {name}"
    return reader


_RANK = """
from vtkmodules.vtkParallelCore import vtkMultiProcessController
controller = vtkMultiProcessController.GetGlobalController()
rank = controller.GetLocalProcessId() if controller else 0
"""
_CAPTURE = """
import os
target = os.open({folder!r} + f"/messages.{{rank}}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
os.dup2(target, 2)
os.close(target)
"""
_MEET = """
import gc
gc.freeze()
if controller:
    controller.Barrier()  # meeting {number}
"""


class Messages:
    """The standard error of all ranks from now on.

    One rank may be far ahead of the others, whether they run the script or only the pipeline. So a
    barrier before each read waits for all messages, and one after it delays further messages.
    """

    def __init__(self):
        redirect = simple.ProgrammableSource(Script=_RANK + _CAPTURE.format(folder=OUTPUT))
        redirect.UpdatePipeline()
        self._meeting = simple.ProgrammableSource()
        self._meetings = 0
        self._meet()
        self._files = [
            open(f"{OUTPUT}/messages.{rank}", encoding="utf-8", errors="replace")
            for rank in range(ranks())
        ]

    def take(self):
        """The text written since the last call, a string for each rank."""
        self._meet()
        said = [file.read() for file in self._files]
        self._meet()
        return said

    def _meet(self):
        self._meetings += 1
        # Another script each time, without which nothing would execute again.
        self._meeting.Script = _RANK + _MEET.format(number=self._meetings)
        self._meeting.UpdatePipeline()


def said_again(proxy, messages, name):
    """Whether a filter of this name repeats its error at the second of two equal requests."""
    proxy.SMProxy.UpdatePipeline(0.0)
    messages.take()
    proxy.SMProxy.UpdatePipeline(0.0)
    return f"ERR| {name} " in "".join(messages.take())


class Refusals:
    """A filter with invalid input: one message on one rank, empty outputs, and a cure.

    name   the class of the filter, which all messages contain
    value  value(proxy) is the result of a successful execution, None without output
    """

    def __init__(self, name, value):
        self._name = name
        self._value = value
        self._messages = Messages()
        self.failures = []

    def refused(self, case, proxy, words):
        """Execute with invalid input; the message contains the words."""
        self._messages.take()
        if self._value(proxy) is not None:
            self._fail(case, "there is an output")
        said = self._messages.take()
        lines = [line for part in said for line in part.splitlines() if "ERR|" in line]
        if len(lines) != 1:
            self._fail(case, f"{len(lines)} errors instead of one: {said}")
        for word in (self._name, *words):
            if word not in "".join(said):
                self._fail(case, f"no word {word} in {said}")
        for port in range(proxy.SMProxy.GetNumberOfOutputPorts()):
            information = proxy.GetDataInformation(port)
            if information.GetNumberOfCells() + information.GetNumberOfRows():
                self._fail(case, f"there is something on output {port}")
        if said_again(proxy, self._messages, self._name):
            self._fail(case, "the message comes again without a change")

    def warned(self, case, proxy, usual, words):
        """Execute with input of which a part is invalid; the only message is a warning that contains the words."""
        self._messages.take()
        found = self._value(proxy)
        if found != usual:
            self._fail(case, f"{found}, not {usual}")
        said = self._messages.take()
        lines = [line for part in said for line in part.splitlines() if "WARN|" in line or "ERR|" in line]
        if len(lines) != 1 or "ERR|" in "".join(said):
            self._fail(case, f"{len(lines)} messages instead of one warning: {said}")
        for word in (self._name, *words):
            if word not in "".join(said):
                self._fail(case, f"no word {word} in {said}")

    def silent(self, case):
        """There was no message since the last check."""
        said = "".join(self._messages.take())
        if "WARN|" in said or "ERR|" in said:
            self._fail(case, f"another message: {said}")

    def cured(self, case, proxy, usual, tolerance=0):
        """Execute with valid input again."""
        found = self._value(proxy)
        if found is None or not abs(found - usual) <= tolerance:
            self._fail(case, f"{found} after the cure, not {usual}")
        if "ERR|" in "".join(self._messages.take()):
            self._fail(case, "still a message after the cure")
        print(case, flush=True)

    def properties(self, proxy, usual, cases):
        """Each case (property, bad value, good value, words of the message) is refused, and cured by the good value."""
        for name, bad, good, words in cases:
            setattr(proxy, name, bad)
            self.refused(f"{name} = {bad}", proxy, words)
            setattr(proxy, name, good)
            self.cured(f"{name} = {bad}", proxy, usual)

    def _fail(self, case, what):
        self.failures.append(f"{case}: {what}")


def label(name):
    """The panel's label of a property, from its name in scripts, which is the label without blanks."""
    return re.sub("(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)


def chosen(name):
    """Whether the arguments, words, select the case of this name; no arguments select all cases."""
    return len(sys.argv) == 1 or any(word in name for word in sys.argv[1:])


def thorough():
    """Whether long tests run all of their cases: `Utilities/test --all` sets the variable."""
    return "TRIBUTARY_TEST_ALL" in os.environ


def some(variants, turn):
    """The variants that this number of ranks runs: all on 1 and 3 ranks and in `Utilities/test --all`, otherwise the
    first and another one in turn, on more than 3 ranks only one in turn."""
    if ranks() in (1, 3) or thorough() or len(variants) < 2:
        return variants
    if ranks() == 2:
        return [variants[0], variants[1 + turn % (len(variants) - 1)]]
    return variants[turn % len(variants) :][:1]


def write_hashes(hashes):
    """For CompareHashes.py, if no cases were chosen."""
    if len(sys.argv) == 1:
        with open(os.path.join(OUTPUT, "hashes.json"), "w") as file:
            json.dump(hashes, file, indent=1)


class Wrong(AssertionError):
    """A case failed."""


def run_cases(work, rank, what):
    """Run the selected cases on all ranks, up to the first one that raises Wrong.

    work  functions by name that return their hashes, or None
    what  the subject of the failure message
    """
    hashes, failures = {}, []
    for name in filter(chosen, work):
        start = time.time()
        try:
            found = work[name]()
            if found:
                hashes[name] = found
        except Wrong as wrong:
            failures.append(f"{name}: {wrong}")
            break  # the other ranks are elsewhere
        if rank == 0:
            print(f"{time.time() - start:6.2f} s  {name}", flush=True)
    if rank == 0:
        write_hashes(hashes)
    assert not failures, f"not the right {what}:\n  " + "\n  ".join(failures)
