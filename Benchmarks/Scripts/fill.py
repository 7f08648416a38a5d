# SPDX-License-Identifier: BSD-3-Clause
"""Compare Async Harmonic Fill with ParaView's Point Dataset Interpolator (Gaussian kernel) in one pvbatch run.

    TRIBUTARY_PLUGIN=<build>/.../Tributary.so python3 Benchmarks/Scripts/fill.py

starts pvbatch on 1, 2 and 4 ranks in succession, and prints one table. `--quick` uses a small image.
An image of 256^3 points has a ball of NaN values in its center, with 30 % of its points. Each rank has a slab.
The measured time is the median time of the update of the filter, on the slowest rank, after a barrier. Our
filter fills with harmonic and with biharmonic values (Smoothness).

  harmonic  the exact field solves the Laplace equation, so the filled values should equal it
  waves     the exact field is smooth but does not solve the equation, so no filter can reproduce it

The interpolator (vtkPointInterpolator) runs under favorable conditions. Its source consists of the known points
adjacent to the hole only; each rank has those of all ranks, collected before the measurement. It fills only a
strip of points through the center of the hole, 3 layers of 5 rows, because the whole hole takes too long
(`--rows` widens the strip). `closest` weights the 8 closest points, `radius` all points within the radius of
the hole. `points` is the number of points that are filled in the measured time.

Both results are evaluated in the middle row of the strip:
  rough max, rms   difference between a value and the mean of its 6 neighbors, relative to the range of the
                   values adjacent to the hole
  error max, rms   difference from the exact field, in the same unit
The program fails if our filter leaves NaN values, changes known values, or exceeds the requested residual.
"""

import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import runs  # noqa: E402  (found on the path set above)

SHARE = 0.3  # share of the points in the hole


def parse(arguments):
    parser = runs.make_parser(__doc__)
    parser.add_argument("--points", type=int, default=256, help="points along each axis. Default: 256.")
    parser.add_argument("--quick", action="store_true", help="64 points along each axis")
    parser.add_argument("--tolerance", type=float, default=1e-6, help="tolerance of our filter. Default: 1e-6.")
    parser.add_argument("--rows", type=int, default=5, help="odd number of rows of the strip. Default: 5.")
    parser.add_argument("--repeat", type=int, default=5, help="timed runs of our filter")
    options = parser.parse_args(arguments)
    if options.quick:
        options.points = 64
    runs.require_plugin(parser, options)
    return options


# --- The driver: any Python -----------------------------------------------------------------------

COLUMNS = (
    ("data", "data", None),
    ("ranks", "ranks", None),
    ("filter", "filter", None),
    ("points", "points", None),
    ("seconds", "seconds", None),
    ("points/s", "rate", None),
    ("rough max", "rough max", None),
    ("rms", "rough rms", None),
    ("error max", "error max", None),
    ("rms", "error rms", None),
    ("cycles", "cycles", None),
)


def drive(options, arguments):
    rows = runs.measure(__file__, options, arguments)
    runs.report(rows, COLUMNS, options)
    if any(row.get("wrong") for row in rows):
        sys.exit("a fill failed verification: " + str([row.get("wrong") for row in rows]))


# --- The worker: inside pvbatch, on every rank ----------------------------------------------------


def work(options):
    import numpy as np
    import paraview.simple as pv
    from mpi4py import MPI
    from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
    from vtkmodules.vtkCommonCore import vtkPoints
    from vtkmodules.vtkCommonDataModel import vtkImageData, vtkPolyData
    from vtkmodules.vtkFiltersPoints import vtkGaussianKernel, vtkPointInterpolator

    comm = MPI.COMM_WORLD
    rank, ranks = comm.Get_rank(), comm.Get_size()
    pv.LoadPlugin(os.environ["TRIBUTARY_PLUGIN"], remote=False, ns=vars(pv))
    n = options.points
    step = 1.0 / (n - 1)
    radius = (SHARE * 3 / (4 * np.pi)) ** (1 / 3) * n * step

    truths = {
        "harmonic": lambda x, y, z: np.exp(3 * x) * np.sin(1.8 * y) * np.sin(2.4 * z),
        "waves": lambda x, y, z: np.sin(6 * x) + np.cos(5 * y) * np.sin(4 * z + 1),
    }

    def is_hole(x, y, z):
        return (x - 0.5) ** 2 + (y - 0.5) ** 2 + (z - 0.5) ** 2 < radius**2

    def places(lo, hi):
        """The coordinates x, y, z of layers, as arrays to be broadcast."""
        line = np.arange(n) * step
        return line[None, None, :], line[None, :, None], line[lo:hi][:, None, None]

    # Each slab shares a layer of points with the next slab.
    lo, hi = ((n - 1) * (rank + i) // ranks for i in range(2))
    x, y, z = places(lo, hi + 1)
    hole = is_hole(x, y, z)
    # Known points adjacent to the hole, each on one rank.
    around = is_hole(*places(max(lo - 1, 0), min(hi + 2, n)))
    inner = np.pad(around, ((int(lo == 0), int(hi == n - 1)), (1, 1), (1, 1)))
    beside = np.zeros_like(hole)
    for axis in range(3):
        for shift in (0, 2):
            window = [slice(1, -1)] * 3
            window[axis] = slice(shift, inner.shape[axis] - 2 + shift)
            beside |= inner[tuple(window)]
    beside &= ~hole
    if rank + 1 < ranks:
        beside[-1] = False
    k, j, i = np.nonzero(beside)
    rim = np.concatenate(comm.allgather(np.stack([i, j, k + lo], -1))) * step

    # The strip: the points of the hole in rows of 3 central layers, distributed evenly over the ranks.
    middle = n // 2
    half = options.rows // 2
    strip = np.zeros((3, 2 * half + 1, n), bool)
    sx, sy, sz = places(middle - 1, middle + 2)
    strip[:] = is_hole(sx, sy[:, middle - half : middle + half + 1], sz)
    strip_sites = np.argwhere(strip) + [middle - 1, middle - half, 0]
    share = np.array_split(np.arange(len(strip_sites)), ranks)[rank]

    def summary(value, truth, span):
        """Roughness and error of the middle row. value: the strip, with known values around the hole."""
        u = value
        mean = (u[1, half, 2:] + u[1, half, :-2] + u[0, half, 1:-1] + u[2, half, 1:-1]
                + u[1, half - 1, 1:-1] + u[1, half + 1, 1:-1]) / 6
        inside = strip[1, half, 1:-1]
        rough = abs(mean - u[1, half, 1:-1])[inside] / span
        error = abs(u - truth)[1, half, 1:-1][inside] / span
        return {
            "rough max": float(rough.max()), "rough rms": float(np.sqrt((rough**2).mean())),
            "error max": float(error.max()), "error rms": float(np.sqrt((error**2).mean())),
        }

    def timed(update):
        comm.Barrier()
        begin = time.perf_counter()
        update()
        return comm.allreduce(time.perf_counter() - begin, MPI.MAX)

    rows = []
    for name, truth in truths.items():
        strip_truth = truth(sx, sy[:, middle - half : middle + half + 1], sz) + np.zeros(strip.shape)
        rim_values = truth(*rim.T)
        span = float(np.ptp(rim_values))

        # Ours.
        image = vtkImageData()
        image.SetExtent(0, n - 1, 0, n - 1, lo, hi)
        image.SetSpacing(step, step, step)
        values = (truth(x, y, z) + np.zeros(hole.shape)).astype(np.float32)
        exact = values.copy()
        values[hole] = np.nan
        array = numpy_to_vtk(values.ravel(), deep=1)
        array.SetName("u")
        image.GetPointData().AddArray(array)
        producer = pv.TrivialProducer()
        producer.GetClientSideObject().SetOutput(image)
        producer.GetClientSideObject().SetWholeExtent(0, n - 1, 0, n - 1, 0, n - 1)
        producer.UpdatePipeline()
        for smoothness in ("Harmonic", "Biharmonic"):
            fill = pv.AsyncHarmonicFill(
                Input=producer, Tolerance=options.tolerance, Smoothness=smoothness)
            seconds = []
            for r in range(options.repeat + 1):
                fill.GetClientSideObject().Modified()
                fill.SMProxy.MarkModified(fill.SMProxy)
                once = timed(fill.UpdatePipeline)
                if r > 0:
                    seconds.append(once)
            output = fill.GetClientSideObject().GetOutputDataObject(0)
            fields = output.GetFieldData()
            found = vtk_to_numpy(output.GetPointData().GetArray("u")).reshape(hole.shape)
            whole = np.zeros(strip.shape)
            for layer in range(3):
                at = middle - 1 + layer
                if lo <= at < hi or at == hi == n - 1:
                    whole[layer] = found[at - lo, middle - half : middle + half + 1]
            whole = comm.allreduce(whole)
            row = {
                "data": name, "ranks": ranks, "filter": "ours, " + smoothness.lower(),
                "points": fields.GetArray("FilledValues").GetValue(0),
                "seconds": float(np.median(seconds)), "runs": seconds, "cycles": fields.GetArray("Cycles").GetValue(0),
                "residual": fields.GetArray("Residual").GetValue(0), **summary(whole, strip_truth, span),
            }
            row["whole error max"] = comm.allreduce(float(abs(found - exact).max()) / span, MPI.MAX)
            wrong = int(np.isnan(found).any()) + int((found != exact)[~hole].any())
            row["wrong"] = comm.allreduce(wrong) > 0 or row["residual"] > options.tolerance * span * (1 + 1e-6)
            row["rate"] = row["points"] / row["seconds"]
            rows.append(row)
            pv.Delete(fill)
        pv.Delete(producer)
        del found, output, image, array

        # ParaView's.
        def cloud(points, scalars=None):
            data, where = vtkPolyData(), vtkPoints()
            where.SetData(numpy_to_vtk(np.ascontiguousarray(points), deep=1))
            data.SetPoints(where)
            if scalars is not None:
                array = numpy_to_vtk(np.ascontiguousarray(scalars), deep=1)
                array.SetName("u")
                data.GetPointData().AddArray(array)
            return data

        for how in ("closest", "radius"):
            kernel = vtkGaussianKernel()
            if how == "closest":
                kernel.SetKernelFootprintToNClosest()
                kernel.SetNumberOfPoints(8)
            else:
                kernel.SetKernelFootprintToRadius()
            kernel.SetRadius(1.05 * radius)
            interpolator = vtkPointInterpolator()
            interpolator.SetInputData(cloud(strip_sites[share][:, ::-1] * step))
            interpolator.SetSourceData(cloud(rim, rim_values))
            interpolator.SetKernel(kernel)
            once = timed(interpolator.Update)
            mine = vtk_to_numpy(interpolator.GetOutput().GetPointData().GetArray("u"))
            whole = strip_truth.copy()
            whole[strip] = np.concatenate(comm.allgather(mine))
            row = {
                "data": name, "ranks": ranks, "filter": "Gaussian, " + how, "points": len(strip_sites),
                "seconds": once, "rate": len(strip_sites) / once, **summary(whole, strip_truth, span),
            }
            rows.append(row)
    if rank == 0:
        print(runs.table(rows, COLUMNS), flush=True)
        runs.write_rows(rows, options)


if __name__ == "__main__":
    runs.main(parse, work, drive)
