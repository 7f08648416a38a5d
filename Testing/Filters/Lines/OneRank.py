# SPDX-License-Identifier: BSD-3-Clause
"""A property that one rank alone has otherwise: an error on all ranks, or the same result.

Looks at all properties that the proxies have, so that a new one is not forgotten where the filters
compare them. Every rank runs the script (pvbatch --sym).
"""


from mpi4py import MPI

import check
import numpy as np
from paraview import simple
from vtkmodules.util.numpy_support import numpy_to_vtk
from vtkmodules.vtkCommonCore import vtkPoints
from vtkmodules.vtkCommonDataModel import vtkImageData, vtkPolyData

WORLD = MPI.COMM_WORLD
SIDE = 8

# What each rank may decide for itself.
MAY_DIFFER = {"Arrivals", "BatchBytes", "BlocksPerRank", "HoldTime", "KeepDomain", "StallTimeout"}
# What has no effect in the other form of the velocity, or without a sphere.
UNREAD = {"SelectXComponent", "SelectYComponent", "SelectZComponent", "ComponentPosition", "SphereRadius"}
UNREAD_IN_COMPONENTS = {"SelectInputVectors"}


def slab():
    """This rank's part of an image with two arrays of each kind that a property can name."""
    image = vtkImageData()
    lo, hi = (SIDE * (WORLD.rank + i) // WORLD.size for i in range(2))
    image.SetExtent(0, SIDE, 0, SIDE, lo, hi)
    points, cells = image.GetNumberOfPoints(), image.GetNumberOfCells()
    for attributes, name, values in (
        (image.GetPointData(), "one", np.tile([1.0, 0.5, 0.25], (points, 1))),
        (image.GetPointData(), "other", np.tile([0.5, 1.0, 0.25], (points, 1))),
        (image.GetCellData(), "first", np.arange(cells) % 3),
        (image.GetCellData(), "second", np.arange(cells) % 3),
    ):
        array = numpy_to_vtk(np.ascontiguousarray(values), deep=1)
        array.SetName(name)
        attributes.AddArray(array)
    return image


def seeds():
    points = vtkPoints()
    if WORLD.rank == 0:
        for i in range(6):
            points.InsertNextPoint(1.1 + i, 2.3, 3.7)
    data = vtkPolyData()
    data.SetPoints(points)
    return data


def names(proxy):
    """Of all properties that say something else than where data come from."""
    found = []
    iterator = proxy.SMProxy.NewPropertyIterator()
    iterator.Begin()
    while not iterator.IsAtEnd():
        smart = iterator.GetProperty()
        if not smart.IsA("vtkSMInputProperty") and not smart.GetInformationOnly():
            found.append(iterator.GetKey())
        iterator.Next()
    return found


def fits(domain, value):
    """Whether a number is in a domain of a property, which is none for any number."""
    if domain is None:
        return True
    if domain.IsA("vtkSMBooleanDomain"):
        return value in (0, 1)
    if domain.IsA("vtkSMEnumerationDomain"):
        return value in [domain.GetEntryValue(i) for i in range(domain.GetNumberOfEntries())]
    return not (
        (domain.GetMinimumExists(0) and value < domain.GetMinimum(0))
        or (domain.GetMaximumExists(0) and value > domain.GetMaximum(0))
    )


def changed(proxy, name):
    """Gives a property another value that it can have."""
    smart = proxy.SMProxy.GetProperty(name)
    count = smart.GetNumberOfElements()
    if smart.IsA("vtkSMStringVectorProperty"):
        if name == "Detector":
            smart.SetElement(0, "consensus")
        elif count == 5:  # the choice of an array: its association and its name at the end
            smart.SetElement(4, {"first": "second"}.get(smart.GetElement(4), "other"))
        elif name == "Events":
            smart.SetElement(0, "plane origin 0 0 0 normal 1 0 0")
        else:
            smart.SetElement(0, "second")
    else:
        domain = smart.GetDomain("range") or smart.GetDomain("enum") or smart.GetDomain("bool")
        if count == 0:  # a list
            smart.SetNumberOfElements(1)
            smart.SetElement(0, 1)
        else:
            was = smart.GetElement(0)
            values = (was + 1, was - 1, was + 2, was - 2, was + 0.25, was - 0.25, was / 2)
            values = [type(was)(value) for value in values if fits(domain, value) and type(was)(value) != was]
            assert values, f"no other value for {name}"
            smart.SetElement(0, values[0])
    proxy.SMProxy.UpdateVTKObjects()


def result(proxy):
    """A hash of this rank's outputs, and whether there was an error."""
    filter_ = proxy.GetClientSideObject()
    check.touch(proxy)
    proxy.UpdatePipeline()
    parts = []
    for port in range(filter_.GetNumberOfOutputPorts()):
        if filter_.GetClassName() == "vtkAsyncConvectionDiffusion" and port == 1:
            continue  # a history with seconds
        output = filter_.GetOutputDataObject(port)
        for kind in range(7):
            attributes = output.GetAttributes(kind)
            if attributes is not None:
                for name, values in sorted(check.arrays(attributes).items()):
                    parts.append((port, kind, name, values.tobytes()))
    return hash(tuple(parts)), filter_.GetErrorCode() != 0


def main():
    check.load_plugin()
    data = check.held(slab(), (0, SIDE, 0, SIDE, 0, SIDE))
    source = check.held(seeds())
    lines = check.tracer(
        data, source, Vectors=["POINTS", "one"], MaximumStreamlineLength=5.0, PointArrays=["other"]
    )
    stored = check.tracer(
        data, source, VelocityForm="Components", XComponent=["CELLS", "first"], YComponent=["CELLS", "second"],
        ZComponent="None", Coordinates="Longitude Latitude", MaximumStreamlineLength=5.0, PointArrays=["other"]
    )
    paths = check.paths(
        data, source, Vectors=["POINTS", "one"], OutputKind="Particles", PointArrays=["other"]
    )
    flow_map = check.flow_map(data, Vectors=["POINTS", "one"], SamplingDimensions=[4, 3, 5])
    regions = check.connectivity(
        data,
        ScalarConnectivity=1,
        Scalars=["CELLS", "first"],
        ScalarRange=[0, 1],
        LabelConnectivity=1,
        Labels=["CELLS", "first"],
        StatisticsArrays=["first"],
    )
    features = check.tracked(
        data,
        ScalarConnectivity=1,
        Scalars=["CELLS", "first"],
        ScalarRange=[0, 1],
        LabelConnectivity=1,
        Labels=["CELLS", "first"],
        Motion="Velocity Field",
        Velocity=["POINTS", "one"],
        CriticalField=["POINTS", "one"],
    )
    # In synchronous iterations, which have the same bits each time.
    concentration = check.carried(
        data,
        Velocity=["POINTS", "one"],
        Schedule="Synchronous",
        NumberOfSteps=1,
        SourceType="Array",
        SourceArray=["CELLS", "first"],
        InitialConcentration=["CELLS", "first"],
    )
    fill = check.filled(data, Unknown="Mask", Mask=["CELLS", "first"], Schedule="Synchronous")
    for proxy in (lines, stored, paths, flow_map, regions, features, concentration, fill):
        expected, failed = result(proxy)
        assert not any(WORLD.allgather(failed)), "an error without a change"
        kept = set()
        for name in names(proxy):
            smart = proxy.SMProxy.GetProperty(name)
            before = [smart.GetElement(i) for i in range(smart.GetNumberOfElements())]
            if WORLD.rank == WORLD.size - 1:
                changed(proxy, name)
            found, failed = result(proxy)
            same = WORLD.allgather(found == expected and not failed)
            if all(same):
                kept.add(name)
            else:
                failures = WORLD.allgather(failed)
                assert all(failures), f"{name}: errors on ranks {failures}, the same result on {same}"
            smart.SetNumberOfElements(len(before))
            for i, value in enumerate(before):
                smart.SetElement(i, value)
            proxy.SMProxy.UpdateVTKObjects()
            assert all(WORLD.allgather(result(proxy) == (expected, False))), f"{name} is not reset"
        kept -= MAY_DIFFER | (UNREAD_IN_COMPONENTS if proxy is stored else UNREAD)
        assert not kept, f"may differ without an error: {sorted(kept)}"
        check.delete(proxy)


if __name__ == "__main__":
    check.run(__file__)
