# SPDX-License-Identifier: BSD-3-Clause
"""Async Stream Tracer in periodic domains: known lines, values between the last and the first column of points, a
column that repeats the first against a grid without it, and one answer however the grid is cut. Writes hashes to
hashes.json for CompareHashes.py.

Every rank runs this script (pvbatch --sym). Arguments, if any, are words: only cases with one of them in the
name run, and no hashes are written.
"""

import check
import numpy as np
import torus
from torus import Lines, Torus, near
from tracking import expect
from unsteady import COMM, seeds

TAU = 2 * np.pi
FORWARD = {"IntegrationDirection": "FORWARD"}
UNEVEN = np.array([0.0, 0.3, 0.9, 1.4, 2.2, 2.8, 3.5, 4.1, 4.9, 5.3])
DRIFT = np.array([1.0, 0.6180339887498949, 0.3])


def drift(x, y, z):
    """A uniform flow, and a scalar that varies."""
    return {"velocity": tuple(DRIFT), "tracer": np.cos(x) + 2 * np.sin(y) + 0.5 * np.cos(2 * z)}


def waves(x, y, z):
    """The flow of Arnold, Beltrami and Childress."""
    return {
        "velocity": (np.sin(z) + 0.6 * np.cos(y), 0.8 * np.sin(x) + np.cos(z), 0.6 * np.sin(y) + 0.8 * np.cos(x)),
        "tracer": np.cos(x) + np.sin(y) * np.cos(z),
    }


def even(count, period=TAU, origin=0.0):
    return origin + np.arange(count) * (period / count)


def some_seeds(count, low=0.0, high=TAU, spread=True):
    generator = np.random.default_rng(5)
    return seeds(generator.uniform(low, high, (count, 3)), spread)


def traced(data, where, **properties):
    proxy = check.tracer(data, where, **properties)
    lines = Lines(proxy)
    check.delete(proxy)
    return lines


def along(values, columns, period, x):
    """Linear interpolation of the values at the columns of a periodic axis."""
    return np.interp((x - columns[0]) % period + columns[0], np.append(columns, columns[0] + period),
                     np.append(values, values[0]))


def run_longitudes():
    """A global grid whose longitudes end before 360: the gap has the values that formulas say, and 360 is found."""
    longitudes = 2.5 * np.arange(144)
    latitudes = np.linspace(-30, 30, 9)
    flow = lambda x, y, z: {"velocity": (10.0, 0.0, 0.0), "tracer": np.cos(np.radians(x)) + 3 * (np.degrees(np.radians(y)) / 90)}
    world = Torus([longitudes, latitudes, [0.0]], (360, 0, 0), flow)
    starts = [[19.45, -11.0, 0], [357.5, 0, 0], [358.0, 7.0, 0], [-1.0, 9.0, 0], [725.0, 3.0, 0]]
    where = seeds(starts)
    # Latitudes from north to south, and longitudes from east to west.
    southward = Torus([longitudes, latitudes[::-1], [0.0]], (360, 0, 0), flow)
    westward = Torus([longitudes[::-1], latitudes, [0.0]], (-360, 0, 0), flow)
    for some, uniform in ((world, True), (world, False), (southward, True), (southward, False), (westward, True),
                          (westward, False)):
        data = some.source(uniform=uniform, cuts=(4, 1, 1))
        lines = traced(data, where, Periodic=[1, 0, 0], MaximumStreamlineLength=400.0, **FORWARD)
        expect(lines.ids == list(range(5)) and set(lines.reasons) == {4}, f"{lines.ids}, {lines.reasons}")
        expect(lines.statistic("PeriodX") == 360, f"a period of {lines.statistic('PeriodX')}")
        expect(lines.statistic("PeriodY") is None, "a period along y")
        for start, points, arrays in zip(starts, lines.points, lines.arrays):
            x = start[0] + 10 * arrays["IntegrationTime"]
            near(points[:, 0], x, 2e-4, "longitude")
            near(points[:, 1], np.full(len(x), start[1]), 1e-5, "latitude")
            right = along(np.cos(np.radians(longitudes)), longitudes, 360, x) + start[1] / 30
            near(arrays["tracer"], right, 1e-9, "tracer")
            near(arrays["velocity"], np.tile([10.0, 0, 0], (len(x), 1)), 1e-12, "velocity")
            # The gap is a cell of the same size: steps do not change there.
            near(np.diff(x)[1:-1], np.full(len(x) - 3, np.diff(x)[1]), 1e-6, "steps")
        check.delete(data)
    # The same with a column at 360, which repeats that at 0, bit for bit.
    for some, (x, y), period in ((world, (longitudes, latitudes), 360), (southward, (longitudes, latitudes[::-1]), 360),
                                 (westward, (longitudes[::-1], latitudes), -360)):
        closed = Torus([x, y, [0.0]], (period, 0, 0), flow, (1, 0, 0))
        found = []
        for one in (some, closed):
            data = one.source(cuts=(3, 1, 1))
            found.append(traced(data, where, Periodic=[1, 0, 0], MaximumStreamlineLength=400.0).digest())
            check.delete(data)
        expect(found[0] == found[1], f"{found[0]} without a column at {x[0] + period}, {found[1]} with it")
    # Irregular longitudes, of which the last is less than the widest cell before 360.
    irregular = np.sort(np.append(np.arange(0, 358.0, 4.0), [1.0, 358.5]))
    # Columns that are all the same would tell nothing.
    turned = lambda x, y, z: {**flow(x, y, z), "velocity": (10.0, 0.01 * np.sin(np.radians(x)), 0.0)}
    data = Torus([irregular, latitudes, [0.0]], (360, 0, 0), turned).source(uniform=False)
    lines = traced(data, where, Periodic=[1, 0, 0], MaximumStreamlineLength=400.0, **FORWARD)
    expect(lines.statistic("PeriodX") == 360, f"irregular: a period of {lines.statistic('PeriodX')}")
    for start, points, arrays in zip(starts, lines.points, lines.arrays):
        x = start[0] + 10 * arrays["IntegrationTime"]
        right = along(np.cos(np.radians(irregular)), irregular, 360, x) + points[:, 1] / 30
        near(arrays["tracer"], right, 1e-6, "tracer at irregular longitudes")
    check.delete(data, where)


def run_torus():
    """A uniform flow through gaps of three axes, their edges and their corner: straight lines, and a sum of
    functions of one coordinate each, which the interpolation in a cell reproduces as a sum. Also where coordinates
    decrease."""
    columns = [even(8), UNEVEN, even(6)]
    period = (TAU, 5.7, TAU)
    field = lambda x, y, z: {"velocity": tuple(DRIFT), "tracer": np.cos(x) + 2 * np.sin(TAU / 5.7 * y) + 0.5 * np.cos(z)}
    corner = [columns[a][-1] + 0.5 * (period[a] - columns[a][-1]) for a in range(3)]
    starts = np.array([corner, [corner[0], corner[1], 1.0], [1.0, corner[1], corner[2]], [1, 2, 3], [-9.0, 20.0, 31.0]])
    where = seeds(starts)
    length = 40.0
    for orders in ((1, 1, 1), (-1, 1, -1), (1, -1, 1)):
        name = f"orders {orders}"
        some = Torus([x[::order] for x, order in zip(columns, orders)], period, field)
        data = some.source(uniform=False, cuts=(2, 2, 1))
        lines = traced(data, where, Periodic=[1, 1, 1], Period=[0, 5.7, 0], MaximumStreamlineLength=length,
                       MaximumSteps=100000, **FORWARD)
        expect(lines.ids == list(range(5)) and set(lines.reasons) == {4}, f"{name}: {lines.ids}, {lines.reasons}")
        for start, points, arrays in zip(starts, lines.points, lines.arrays):
            time = arrays["IntegrationTime"]
            x = start + time[:, None] * DRIFT
            near(points, x, 1e-5, f"{name}: a straight line")
            near(time[-1] * np.linalg.norm(DRIFT), length, 1e-4, f"{name}: the length of a line")
            right = sum(along(f(c), c, p, x[:, a]) for a, (c, p, f) in enumerate(zip(columns, period, (
                np.cos, lambda y: 2 * np.sin(TAU / 5.7 * y), lambda z: 0.5 * np.cos(z)))))
            near(arrays["tracer"], right, 1e-9, f"{name}: the tracer")
            near(arrays["Vorticity"], np.zeros((len(x), 3)), 1e-12, f"{name}: vorticity")
        check.delete(data)
    check.delete(where)


def run_doubled():
    """Grids without the last column have the bits of those with it, in gaps along any axes."""
    answers = {}
    for axes in ((1, 0, 0), (0, 1, 1), (1, 1, 1)):
        inside = np.random.default_rng(5).uniform(0.8, 4.5, (12, 3))
        where = seeds(inside + np.array(axes) * np.arange(-9, 15, 2)[:, None])
        for kind, columns, period, given in (
                ("even", [even(9), even(8), even(7)], (TAU,) * 3, 0.0),
                ("uneven", [UNEVEN, UNEVEN[::2], UNEVEN[1:]], (5.9,) * 3, 5.9)):
            scale = TAU / period[0]
            field = lambda x, y, z: waves(scale * x, scale * y, scale * z)
            # Along the other axes there is an end.
            properties = {"Periodic": list(axes), "Period": [given] * 3, "MaximumStreamlineLength": 15.0}
            digests = []
            for doubled in ((0, 0, 0), axes):
                data = Torus(columns, period, field, doubled).source(uniform=kind == "even", cuts=(2, 1, 2))
                lines = traced(data, where, **properties)
                expect(len(lines.ids) == 24, f"{axes}, {kind}: {len(lines.ids)} lines")
                digests.append(lines.digest())
                check.delete(data)
            expect(digests[0] == digests[1], f"{axes}, {kind}: {digests[0]} and, with the last column, {digests[1]}")
            answers[f"{axes} {kind}"] = digests[0]
        check.delete(where)
    return "-".join(answers.values())


def run_cuts():
    """Any pieces, ghosts, blocks, loans and schedules give the same bits."""
    first = {}
    spread, together = some_seeds(15, -7.0, 13.0), some_seeds(15, -7.0, 13.0, False)
    settings = ({}, {"BlocksPerRank": 5}, {"LendingMemory": 0, "Schedule": "Synchronous"}, {"KeepDomain": 0},
                {"BlocksPerRank": 2, "Schedule": "Synchronous"})

    def expect_bits(name, data, where, way, **properties):
        lines = traced(data, where, Periodic=[1, 1, 1], **properties)
        found = lines.digest()
        expect(len(lines.ids) == 30, f"{name}: {len(lines.ids)} lines")
        expect(first.setdefault(name, found) == found, f"{name}, {way}, {properties}: {found}, not {first[name]}")

    for dtype in ("float32", "float64"):
        for uniform, columns, period in ((True, [even(10), even(9), even(8)], [0, 0, 0]),
                                         (False, [UNEVEN, even(9), UNEVEN], [5.6, 0, 5.6])):
            scale = [TAU / p if p else 1 for p in period]
            some = Torus(columns, [p or TAU for p in period], lambda x, y, z: waves(scale[0] * x, y, scale[2] * z))
            for way, more in check.some(list(zip(torus.WAYS, settings)), len(first)):
                name = f"{dtype}, {'uniform' if uniform else 'rectilinear'}"
                if not uniform:  # pieces of one grid only in a partitioned data set
                    way = {**way, "container": torus.vtkPartitionedDataSet}
                data = some.source(uniform=uniform, dtype=dtype, **way)
                where = together if way.get("dealt") == "first" else spread
                expect_bits(name, data, where, way, Period=period, MaximumStreamlineLength=12.0, **more)
                check.delete(data)
            data = some.alone(uniform, dtype=dtype)
            found = traced(data, spread, Periodic=[1, 1, 1], Period=period, MaximumStreamlineLength=12.0).digest()
            expect(first[name] == found, f"{name}, not composite: {found}, not {first[name]}")
            check.delete(data)
    # Where coordinates decrease, the grid is a mesh.
    for uniform, columns, period in ((True, [even(7), even(6)[::-1], even(5)[::-1]], [0, 0, 0]),
                                     (False, [UNEVEN[::-1], even(6), even(5)[::-1]], [5.6, 0, 0])):
        some = Torus(columns, [p or TAU for p in period], lambda x, y, z: waves(TAU / (period[0] or TAU) * x, y, z))
        for way, more in check.some(list(zip(torus.WAYS, settings)), len(first)):
            name = f"decreasing, {'uniform' if uniform else 'rectilinear'}"
            data = some.source(uniform=uniform, **{**way, "container": torus.vtkPartitionedDataSet})
            where = together if way.get("dealt") == "first" else spread
            expect_bits(name, data, where, way, Period=period, MaximumStreamlineLength=8.0, **more)
            check.delete(data)
    # The extent of a grid may begin anywhere. Its spacing is a power of two, so coordinates are the same.
    found = []
    for begin in ((0, 0, 0), (-5, 40, 3)):
        some = Torus([0.5 * np.arange(8)] * 3, (4.0,) * 3, lambda x, y, z: waves(*(TAU / 4 * c for c in (x, y, z))))
        data = some.source(cuts=(2, 1, 2), first=begin)
        found.append(traced(data, spread, Periodic=[1, 1, 1], Period=[4.0] * 3, MaximumStreamlineLength=12.0).digest())
        check.delete(data)
    expect(found[0] == found[1], f"{found[1]} where the extent begins elsewhere, not {found[0]}")
    check.delete(spread, together)
    return "-".join(first.values()) + "-" + found[0]


def run_far():
    """Coordinates of 1e6 with cells of 10, also of type float: sides and gaps are found, and nothing ends there."""
    origin, count = 1.0e6, 40
    for kind in ("double", "float"):
        x = origin + 10.0 * np.arange(count) + (0.1 if kind == "float" else 0.0)
        if kind == "float":
            x = x.astype(np.float32).astype(float)
        field = lambda x, y, z: {"velocity": (3.0, 1.0, 0.0), "tracer": np.cos(TAU / (10 * count) * (x - origin)) + 0 * y}
        for doubled in ((0, 0, 0), (1, 1, 0)):
            some = Torus([x, x, [0.0]], (10 * count, 10 * count, 0), field, doubled)
            data = some.source(uniform=kind == "double", cuts=(2, 2, 1))
            where = seeds([[origin + 5, origin + 395, 0], [origin + 399.9, origin + 17, 0]])
            lines = traced(data, where, Periodic=[1, 1, 0], Period=[10.0 * count] * 2 + [0], IntegrationStepUnit="Length",
                           InitialStepLength=3.0, IntegratorType="Runge-Kutta 4", MaximumStreamlineLength=5000.0,
                           MaximumSteps=100000, **FORWARD)
            expect(lines.ids == [0, 1] and set(lines.reasons) == {4}, f"{kind}, {doubled}: {lines.reasons}")
            near(lines.statistic("PeriodX"), 10.0 * count, 0.1, "the period")
            for arrays in lines.arrays:
                near(arrays["IntegrationTime"][-1], 5000 / np.sqrt(10.0), 1e-6, f"{kind}, {doubled}: time at the end")
            check.delete(data, where)


def run_vorticity():
    """Vorticity at the sides, of point and of cell vectors: that of the grid that begins k columns later."""
    count = 12
    x = even(count)
    found = {}
    for where in ("POINTS", "CELLS"):
        for shift in (0, 5):
            begin = x[shift]
            columns = [begin + x, begin + x, [0.0, 0.5]]
            flow = lambda x, y, z: {"velocity": (1 + 0.3 * np.sin(y), 0.4 * np.cos(x), 0.0)}
            some = Torus(columns, (TAU, TAU, 0), flow, (1, 1, 0) if where == "CELLS" else (0, 0, 0))
            pieces = some.pieces(cuts=(2, 2, 1))
            if where == "CELLS":
                for i in range(pieces.GetNumberOfPartitions()):
                    cells_of(pieces.GetPartition(i), begin)
            data = check.held(pieces)
            starts = seeds([[0.1, 0.2, 0.2], [6.2, 3.0, 0.3], [3.0, 6.25, 0.25]])
            lines = traced(data, starts, Vectors=[where, "velocity"], Periodic=[1, 1, 0], MaximumStreamlineLength=15.0,
                           IntegratorType="Runge-Kutta 4", IntegrationStepUnit="Length", InitialStepLength=0.05, **FORWARD)
            expect(len(lines.ids) == 3 and set(lines.reasons) == {4}, f"{where}: {lines.reasons}")
            found[where, shift] = lines
            check.delete(data, starts)
        one, other = found[where, 0], found[where, 5]
        for a, b, points in zip(one.arrays, other.arrays, one.points):
            near(a["IntegrationTime"], b["IntegrationTime"], 1e-6, f"{where}: times")
            near(a["Vorticity"], b["Vorticity"], 2e-3, f"{where}: vorticity in a grid that begins elsewhere")
            turn = -0.4 * np.sin(points[:, 0]) - 0.3 * np.cos(points[:, 1])
            near(a["Vorticity"][:, 2], turn, 0.25, f"{where}: vorticity and its formula")


def cells_of(piece, begin):
    """Replace point vectors by those at the centers of cells."""
    n = [max(d - 1, 1) for d in piece.GetDimensions()]
    origin, spacing, extent = piece.GetOrigin(), piece.GetSpacing(), piece.GetExtent()
    count = 12
    x, y = (np.round((origin[a] - begin) / spacing[a]) + extent[2 * a] + 0.5 + np.arange(n[a]) for a in (0, 1))
    x, y = (begin + (c % count) * TAU / count for c in (x, y))
    u = np.stack(np.broadcast_arrays(1 + 0.3 * np.sin(y)[None, :, None], 0.4 * np.cos(x)[None, None, :], np.zeros((n[2], 1, 1))), -1)
    array = torus.numpy_to_vtk(np.ascontiguousarray(u.reshape(-1, 3)), deep=1)
    array.SetName("velocity")
    piece.GetCellData().AddArray(array)
    piece.GetPointData().RemoveArray("velocity")


def run_changes():
    """A filter that executes again with other periodic axes or periods does as a new one."""
    some = Torus([even(9), UNEVEN, even(7)], (TAU, 5.8, TAU), lambda x, y, z: waves(x, TAU / 5.8 * y, z))
    data, where = some.source(uniform=False, cuts=(2, 1, 1)), some_seeds(10, 0.5, 5.0)
    kept = check.tracer(data, where, MaximumStreamlineLength=15.0)
    digests = []
    for periodic, period in (((0, 0, 0), (0, 0, 0)), ((1, 0, 0), (0, 0, 0)), ((1, 1, 0), (0, 5.8, 0)),
                             ((1, 1, 0), (0, 5.5, 0)), ((1, 1, 1), (0, 5.5, 0)), ((0, 0, 0), (0, 0, 0))):
        kept.Periodic, kept.Period = list(periodic), list(period)
        fresh = traced(data, where, MaximumStreamlineLength=15.0, Periodic=list(periodic), Period=list(period)).digest()
        found = Lines(kept).digest()
        expect(found == fresh, f"{periodic}, {period}: {found} of a filter with other properties before, not {fresh}")
        digests.append(found)
    expect(digests[0] == digests[-1] and len(set(digests)) == 5, f"properties without effect: {digests}")
    kept.MaximumStreamlineLength = 10.0
    expect(Lines(kept).statistic("ReusedDomain") == 1, "the domain is not kept")
    kept.Period = [0, 5.5, 6.9]  # along an axis that ends
    expect(Lines(kept).statistic("PeriodZ") is None, "a period where Periodic is off")
    check.delete(kept, data, where)


def run_holes():
    """Hidden points and cells, and columns that the grid lacks: the gap has holes where they are."""
    y = np.linspace(0, 4, 5)
    flow = lambda x, y, z: {"velocity": (1.0, 0.0, 0.0), "tracer": x + 0 * y + 0 * z}
    columns, period = [np.arange(8.0), y, np.linspace(0, 1, 2)], (8, 0, 0)
    starts = seeds([[4.0, 0.5, 0.5], [4.0, 1.5, 0.5], [4.0, 2.5, 0.5], [4.0, 3.5, 0.5]])

    def reasons(change):
        piece = Torus(columns, period, flow).piece((0, 0, 0), (7, 4, 1), True)
        change(piece)
        data = check.held(piece if COMM.rank == 0 else torus.vtkImageData(), [0, 7, 0, 4, 0, 1])
        lines = traced(data, starts, Periodic=[1, 0, 0], Period=[8, 0, 0], MaximumStreamlineLength=20.0, **FORWARD)
        check.delete(data)
        ends = [points[-1][0] for points in lines.points]
        return lines.reasons, ends

    def hide(attributes, count, which, flag):
        values = np.zeros(count, np.uint8)
        values[which] = flag
        array = torus.numpy_to_vtk(values, deep=1)
        array.SetName("vtkGhostType")
        attributes.AddArray(array)

    expect(reasons(lambda piece: None)[0] == [4] * 4, "a gap without holes")
    # The point at x = 0, y = 1, z = 0: a corner of the cells of the first two rows, before and after the side.
    found, ends = reasons(lambda piece: hide(piece.GetPointData(), 80, [8], 2))
    expect(found == [1, 1, 4, 4] and max(ends[:2]) <= 7 and min(ends[:2]) > 6, f"a hidden point: {found}, {ends}")
    # The last cell of the third row, then also the first one.
    found, ends = reasons(lambda piece: hide(piece.GetCellData(), 28, [20], 32))
    expect(found == [4, 4, 1, 4] and 5 < ends[2] <= 6, f"a hidden cell before the gap: {found}, {ends}")
    found, ends = reasons(lambda piece: hide(piece.GetCellData(), 28, [14], 32))
    expect(found == [4, 4, 1, 4] and 7 < ends[2] <= 8, f"a hidden cell after the gap: {found}, {ends}")
    # The grid begins at x = 2 in the upper rows.
    some, pieces = Torus(columns, period, flow), torus.vtkPartitionedDataSet()
    if COMM.rank == 0:
        pieces.SetPartition(0, some.piece((0, 0, 0), (7, 2, 1), True))
        pieces.SetPartition(1, some.piece((2, 2, 0), (7, 4, 1), True))
    data = check.held(pieces)
    lines = traced(data, starts, Periodic=[1, 0, 0], Period=[8, 0, 0], MaximumStreamlineLength=20.0, **FORWARD)
    ends = [points[-1][0] for points in lines.points]
    expect(lines.reasons == [4, 4, 1, 1] and 6 < min(ends[2:]) and max(ends[2:]) <= 7, f"no first column: {ends}")
    check.delete(data, starts)


def run_arrays():
    """Arrays of other types, ids, and arrays that pieces lack or have with other types."""
    flow = lambda x, y, z: {"velocity": (1.0, 0.0, 0.0), "tracer": x + 0 * y + 0 * z}
    some = Torus([np.arange(8.0), np.arange(3.0), np.arange(2.0)], (8, 0, 0), flow)
    where = seeds([[7.0, 1.0, 0.5], [7.5, 0.25, 0.5]])
    pieces = some.pieces(cuts=(2, 1, 1))
    for n in range(pieces.GetNumberOfPartitions()):
        piece = pieces.GetPartition(n)
        points, count = piece.GetPointData(), piece.GetNumberOfPoints()
        x = torus.vtk_to_numpy(points.GetArray("tracer"))
        begins = piece.GetExtent()[0] == 0

        def add(name, values):
            array = torus.numpy_to_vtk(np.ascontiguousarray(values), deep=1)
            array.SetName(name)
            points.AddArray(array)
            return array

        add("level", np.rint(3 * x).astype(np.int32))
        add("large", x.astype(np.int64) + 2**40)
        add("either", x.astype(np.float32 if begins else np.float64) + 0.125)
        if begins:
            add("at the beginning", x)
        else:
            add("at the end", x)
        points.SetGlobalIds(add("ids", np.arange(count)))
    data = check.held(pieces)
    lines = traced(data, where, Periodic=[1, 0, 0], Period=[8, 0, 0], IntegratorType="Runge-Kutta 4",
                   IntegrationStepUnit="Length", InitialStepLength=0.125, MaximumStreamlineLength=1.25, **FORWARD)
    expect(lines.ids == [0, 1], f"{lines.ids}")
    for start, points, arrays in zip((7.0, 7.5), lines.points, lines.arrays):
        x = start + arrays["IntegrationTime"]
        value = np.interp(x, [7, 8, 9], [7, 0, 1])  # from the last column to the first one, and on
        near(arrays["tracer"], value, 1e-12, "tracer")
        near(arrays["either"], value + 0.125, 1e-12, "an array of two types")
        level = np.interp(x, [7, 8, 9], [21, 0, 3])
        near(arrays["level"], level, 0.5 + 1e-9, "an integer")
        expect(arrays["level"].dtype == np.int32 and arrays["large"].dtype == np.int64, "types")
        expect((np.abs(arrays["large"] - 2**40 - value) <= 0.51).all(), "a large integer")
        inside = (x > 7.01) & (x < 7.99)
        expect(inside.any() and np.isnan(arrays["at the beginning"][inside]).all(), "an array that the last piece lacks")
        expect(np.isnan(arrays["at the end"][inside]).all(), "an array that the first piece lacks")
        expect("ids" not in arrays, "ids are interpolated")
    check.delete(data, where)


def run_meshes():
    """Meshes and cell vectors that are as long as their period, as the box says; a grid beside a rectilinear one."""
    for mesh in ("tetrahedra", "structured"):
        data = check.held(check.flows.build(COMM.rank, COMM.size, flow="uniform", mesh=mesh, size=6, jitter=0.0))
        where = seeds([[0.3, 0.4, 0.5], [0.9, 0.6, 0.1]])
        lines = traced(data, where, Periodic=[1, 0, 0], MaximumStreamlineLength=3.5, **FORWARD)
        expect(lines.reasons == [4, 4], f"{mesh}: {lines.reasons}")
        check.delete(data, where)


def main():
    torus.cases(globals(), "periodic lines")


if __name__ == "__main__":
    check.run(__file__)
