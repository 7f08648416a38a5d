# SPDX-License-Identifier: BSD-3-Clause
"""Async Feature Tracker at its default settings on images of an exploding wire: links of regions that have
a particle in common, precision and recall against the truth."""

import check
import films
import wire
from paraview import simple
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkCommonDataModel import vtkImageData


def picture(explosion, frame):
    image = vtkImageData()
    image.SetDimensions(explosion.size + 1, explosion.size + 1, 1)
    light = numpy_to_vtk(explosion.image(frame).ravel(), deep=1)
    light.SetName("light")
    image.GetCellData().AddArray(light)
    image.GetInformation().Set(image.DATA_TIME_STEP(), float(frame))
    return image


def main():
    explosion = wire.Wire(frames=130)
    producer = simple.TrivialProducer()
    held = producer.GetClientSideObject()
    held.SetOutput(picture(explosion, 0))
    tracker = check.tracked(
        producer, ScalarConnectivity=1, Scalars=["CELLS", "light"], ScalarRange=[0.5, 1.0]
    )
    output = tracker.GetClientSideObject()
    truth, before = set(), {}
    for frame in range(explosion.frames):
        held.SetOutput(picture(explosion, frame))
        producer.MarkModified(producer)
        tracker.UpdatePipeline()
        regions = vtk_to_numpy(output.GetOutputDataObject(0).GetCellData().GetArray("RegionId"))
        regions = regions.reshape(explosion.size, explosion.size)
        now = {p: int(regions[int(y), int(x)]) for p, x, y in explosion.streaks(frame)}
        assert min(now.values()) >= 0, "a streak without a region"
        truth |= {(frame, before[p], region) for p, region in now.items() if p in before}
        before = now
    names, rows = films.table(output.GetOutputDataObject(4))
    columns = [names.index(name) for name in ("Step", "RegionBefore", "RegionAfter")]
    found = {tuple(row[c] for c in columns) for row in rows}
    right = len(found & truth)
    particles = len({p for f in range(explosion.frames) for p, _, _ in explosion.streaks(f)})
    print(f"{particles} particles, {len(truth)} links, {len(found)} found, precision "
          f"{right / len(found):.4f}, recall {right / len(truth):.4f}")
    assert particles > 2000 and len(truth) > 10000
    assert right >= 0.99 * len(found) and right >= 0.99 * len(truth)


if __name__ == "__main__":
    check.run(__file__)
