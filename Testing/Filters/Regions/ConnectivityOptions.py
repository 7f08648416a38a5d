# SPDX-License-Identifier: BSD-3-Clause
"""Async Connectivity's options, against brute force: which regions are taken, how they are numbered,
tolerance, kinds of data sets and of cells. Every rank runs this script (pvbatch --sym). Arguments, if
any, are the names of the tests to run.
"""

import sys

import numpy as np
from mpi4py import MPI
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkPoints
from vtkmodules.vtkCommonDataModel import (
    VTK_QUAD,
    VTK_TETRA,
    VTK_TRIANGLE,
    vtkAMRBox,
    vtkCellArray,
    vtkImageData,
    vtkMultiBlockDataSet,
    vtkOverlappingAMR,
    vtkPolyData,
    vtkUniformGrid,
    vtkUnstructuredGrid,
)
from vtkmodules.vtkFiltersCore import vtkAppendFilter
from vtkmodules.vtkFiltersHyperTree import vtkHyperTreeGridToUnstructuredGrid

import check
import meshes
import regions
import trees
from ConnectivityRegions import PATTERN, VALUE, Found, expect, properties
from check import flows
from regions import FACES, POINTS

COMM = MPI.COMM_WORLD
RANK, RANKS = COMM.rank, COMM.size
POINT_SEEDED, CELL_SEEDED, SPECIFIED, LARGEST, ALL, CLOSEST, SIZE = range(1, 8)
HIDDEN = 32  # vtkDataSetAttributes::HIDDENCELL

failures = []


def held(whole, **how):
    maker = trees if whole.get("mesh") == trees.MESH else regions
    return check.held(maker.build(RANK, RANKS, whole, **how), maker.extent(whole, **how))


def on_first(what, judge):
    """Judge on rank 0; a failure is kept and said in the end."""
    if RANK == 0:
        try:
            judge()
            print(what, flush=True)
        except (check.Wrong, KeyError) as wrong:
            failures.append(f"{what}: {wrong}")


def usual(**more):
    return {**properties(VALUE, PATTERN, 0, FACES, False, ()), **more}


# --- Which regions --------------------------------------------------------------------------------


def selected(reference, expected, mode):
    """Properties of a mode, and the regions (numbers by brute force) that it takes."""
    sizes = np.bincount(expected[expected >= 0])
    inside = np.flatnonzero(expected >= 0)
    seeds = inside[[0, len(inside) // 2, -1]]
    outside = int(np.flatnonzero(expected < 0)[0])
    if mode == ALL:
        return {}, set(range(len(sizes)))
    if mode == LARGEST:
        return {}, {int(np.argmax(sizes))}
    if mode == SPECIFIED:
        return {"SpecifiedRegionIds": [1, 4]}, {1, 4}
    if mode == SIZE:
        return {"SizeRange": [2, 5]}, set(np.flatnonzero((sizes >= 2) & (sizes <= 5)).tolist())
    if mode == CELL_SEEDED:
        return {"SeedIds": [outside] + seeds.tolist()}, set(expected[seeds].tolist())
    if mode == POINT_SEEDED:
        points = reference.connectivity[reference.offsets[seeds]]
        users = np.isin(reference.connectivity, points)
        taken = expected[reference.cell_of[users]]
        return {"SeedIds": points.tolist()}, set(taken[taken >= 0].tolist())
    # A place nearest to a point of the last region.
    cell = int(seeds[-1])
    corner = reference.coordinates[reference.connectivity[reference.offsets[cell + 1] - 1]]
    used = expected[reference.cell_of] >= 0
    corners = reference.coordinates[reference.connectivity[used]]
    place = corner + 0.01
    nearest = np.argmin(((corners - place) ** 2).sum(axis=1))
    return {"ClosestPoint": place.tolist()}, {int(expected[reference.cell_of[used][nearest]])}


def leaves_left(grid):
    """How many leaves of a hyper tree grid are not masked and no ghosts, on all ranks, says VTK."""
    ghosts = grid.GetCellData().GetArray("vtkGhostType")
    assert ghosts is not None
    convert = vtkHyperTreeGridToUnstructuredGrid()
    convert.SetInputData(grid)
    convert.Update()
    cells = convert.GetOutput()
    copies = cells.GetCellData().GetArray("vtkGhostType")
    mine = cells.GetNumberOfCells()
    if copies is not None:
        mine -= sum(copies.GetValue(cell) != 0 for cell in range(mine))
    return COMM.allreduce(mine)


def modes():
    for whole, how in (
        ({"size": (9, 8, 7), "pattern": "noise 0.3"}, {}),
        ({"size": (9, 8, 7), "pattern": "noise 0.3"}, {"ghosts": 1}),
        ({"mesh": "hexahedra", "size": (8, 7, 6), "pattern": "noise 0.3"}, {"cut": "random", "ids": True}),
        ({"mesh": "surface", "size": (12, 12, 0), "pattern": "noise 0.4"}, {"cut": "bricks", "ids": True}),
        ({"mesh": trees.MESH, "masked": 0.05}, {"cut": "random", "ghosts": 1, "ids": True}),
    ):
        data = held(whole, **how)
        are_trees = whole.get("mesh") == trees.MESH
        maker = trees if are_trees else regions
        reference = maker.Reference(maker.make(**whole))
        expected = reference.regions(reference.in_range(VALUE, *PATTERN[0]), FACES)
        ids = how.get("ids")
        # Regions are numbered by their least global id.
        order = regions.global_ids(np.arange(reference.count)) if ids else np.arange(reference.count)
        first = np.full(expected.max() + 1, np.iinfo(np.int64).max)
        np.minimum.at(first, expected[expected >= 0], order[expected >= 0])
        rank_of = np.argsort(np.argsort(first))
        expected = np.where(expected >= 0, rank_of[expected], -1)
        for mode in range(CELL_SEEDED if are_trees else POINT_SEEDED, SIZE + 1):
            more, taken = selected(reference, expected, mode)
            if ids and "SeedIds" in more:
                more["SeedIds"] = [int(regions.global_ids(n)) for n in more["SeedIds"]]
            for extract in (0, 1):
                options = usual(ExtractionMode=mode, ExtractRegions=extract, **more)
                proxy = check.connectivity(data, **options)
                found = Found(proxy)
                chosen = np.isin(expected, sorted(taken))
                output = proxy.GetClientSideObject().GetOutputDataObject(0)
                if are_trees:
                    expect(output.IsA("vtkHyperTreeGrid"), "no hyper tree grid")
                    left = leaves_left(output)

                def judge():
                    wanted = np.where(chosen, expected, -1)
                    if extract:
                        expect(np.array_equal(found.cells["number"], np.flatnonzero(chosen)), "other cells")
                        if are_trees:
                            expect(left == chosen.sum(), f"{left} cells are left for a user of the mask")
                        else:
                            used = np.unique(reference.connectivity[chosen[reference.cell_of]])
                            expect(np.array_equal(found.points["number"], used), "other points")
                        wanted = wanted[chosen]
                    else:
                        expect(len(found.cells["number"]) == reference.count, "cells are missing")
                    ids_found = found.cells["RegionId"]
                    expect(regions.same_partition(ids_found, wanted), f"other regions, not {taken}")
                    expect(np.array_equal(ids_found, wanted), "other ids")
                    rows = found.table["RegionId"]
                    expect(len(rows) == len(taken), f"{rows} in the table")
                    expect(set(rows.tolist()) == taken, "other ids in the table")
                    sizes = np.bincount(wanted[wanted >= 0], minlength=expected.max() + 1)
                    expect(np.array_equal(found.table["Cells"], sizes[rows]), "other sizes")

                on_first(f"{whole.get('mesh', 'image')} {how}, mode {mode}, extract {extract}", judge)
                check.delete(proxy)
        check.delete(data)


def assignment():
    whole = {"mesh": "tetrahedra", "size": (5, 5, 5), "pattern": "noise 0.3"}
    data = held(whole, cut="random", ids=True)
    reference = regions.Reference(regions.make(**whole))
    expected = reference.regions(reference.in_range(VALUE, *PATTERN[0]), FACES)
    order = regions.global_ids(np.arange(reference.count))
    count = expected.max() + 1
    first = np.full(count, np.iinfo(np.int64).max)
    np.minimum.at(first, expected[expected >= 0], order[expected >= 0])
    sizes = np.bincount(expected[expected >= 0])
    for mode, keys in ((0, (first,)), (1, (first, -sizes)), (2, (first, sizes))):
        place = np.empty(count, int)
        place[np.lexsort(keys)] = np.arange(count)
        wanted = np.where(expected >= 0, place[expected], -1)
        proxy = check.connectivity(data, **usual(RegionIdAssignmentMode=mode))
        found = Found(proxy)
        on_first(
            f"assignment {mode}",
            lambda: expect(np.array_equal(found.cells["RegionId"], wanted), "regions in another order"),
        )
        on_first(
            f"table of assignment {mode}",
            lambda: expect(
                np.array_equal(found.table["Cells"], sizes[np.argsort(place)]), "rows in another order"
            ),
        )
        check.delete(proxy)
    check.delete(data)


def coloring():
    """Without ids, the arrays are those of the input; the pipeline runs again after a change."""
    whole = {"size": (9, 8, 7), "pattern": "noise 0.3"}
    data = held(whole)
    proxy = check.connectivity(data, **usual(ColorRegions=0))
    for color in (0, 1, 0):
        proxy.ColorRegions = color
        proxy.UpdatePipeline()
        output = proxy.GetClientSideObject().GetOutputDataObject(0)
        given = data.GetClientSideObject().GetOutputDataObject(0)
        assert output.GetClassName() == "vtkImageData" and output.GetExtent() == given.GetExtent()
        for attributes, before in (
            (output.GetCellData(), given.GetCellData()), (output.GetPointData(), given.GetPointData()),
        ):
            names = [attributes.GetArrayName(i) for i in range(attributes.GetNumberOfArrays())]
            old = [before.GetArrayName(i) for i in range(before.GetNumberOfArrays())]
            assert sorted(names) == sorted(old + ["RegionId"] * color), f"arrays {names}"
            assert all(attributes.GetArray(name) is before.GetArray(name) for name in old), "arrays copied"
    check.delete(proxy, data)


# --- What is near enough --------------------------------------------------------------------------


def tolerance():
    nudge = 1e-5
    for mesh, size in (("hexahedra", (7, 6, 5)), ("surface", (12, 12, 0))):
        whole = {"mesh": mesh, "size": size, "pattern": "noise 0.4"}
        how = {"cut": "bricks", "container": "multiblock", "pieces": 5, "placing": "cyclic", "nudge": nudge}
        for through in (FACES, POINTS):
            joined = apart = None
            if RANK == 0:
                reference = regions.Reference(regions.make(**whole))
                joined = reference.regions(reference.in_range(VALUE, *PATTERN[0]), through)
                pieces = regions.Reference(*regions.leaves(regions.build(0, 1, whole, **how)))
                apart = np.full(reference.count, -1)
                if through == POINTS:
                    inside = pieces.in_range(VALUE, *PATTERN[0])
                    apart[pieces.cell["number"]] = pieces.regions(inside, POINTS)
            # Cells are 0.06 to 2 wide.
            for value, wanted in ((0.0, apart), (1e-8, apart), (0.01, joined)):
                if through == FACES and value < 0.01:
                    continue
                data = held(whole, **how)
                proxy = check.connectivity(data, **{**usual(Tolerance=value), "ConnectThrough": through})
                found = Found(proxy, points=False)
                on_first(
                    f"{mesh}, tolerance {value}, through {through}",
                    lambda: expect(
                        regions.same_partition(found.cells["RegionId"], wanted),
                        f"{found.counts} regions, not {wanted.max() + 1}",
                    ),
                )
                check.delete(proxy, data)


# --- Kinds of data --------------------------------------------------------------------------------


def add_fields(data, first_cell, first_point, share):
    cells = np.arange(data.GetNumberOfCells()) + first_cell
    regions._add(data.GetCellData(), "number", cells)
    regions._add(data.GetPointData(), "number", np.arange(data.GetNumberOfPoints()) + first_point)
    regions._add(data.GetCellData(), "value", (flows._hash(cells, 105) < share).astype(float))


def image(origin, size, share, first):
    data = vtkImageData()
    data.SetOrigin(origin)
    data.SetDimensions([n + 1 for n in size])
    add_fields(data, first, first, share)
    return data


def grid_of(data, first, share):
    """An image as an unstructured grid."""
    convert = vtkAppendFilter()
    convert.AddInputData(data)
    convert.Update()
    result = vtkUnstructuredGrid()
    result.CopyStructure(convert.GetOutput())
    add_fields(result, first, first, share)
    return result


def side_by_side():
    """Blocks of several kinds that touch: images with an origin of their own, a grid, poly data."""
    def blocks():
        size = (4, 4, 4)
        made = [image((4.0 * i, 0, 0), size, 0.25, 1000 * i) for i in range(3)]
        made.append(grid_of(image((0, 4.0, 0), size, 0.25, 0), 3000, 0.25))
        surface = vtkPolyData()
        points = vtkPoints()
        cells = vtkCellArray()
        for y in range(5):
            for z in range(5):
                points.InsertNextPoint(4.0, 4.0 + y, float(z))
        for y in range(4):
            for z in range(4):
                cells.InsertNextCell(4, [5 * y + z, 5 * y + z + 1, 5 * y + z + 6, 5 * y + z + 5])
        surface.SetPoints(points)
        surface.SetPolys(cells)
        add_fields(surface, 4000, 4000, 0.6)
        return made + [surface]

    whole = blocks()
    data = vtkMultiBlockDataSet()
    data.SetNumberOfBlocks(len(whole))
    for index, block in enumerate(whole):
        if index % RANKS == RANK:
            data.SetBlock(index, block)
    part = check.held(data)
    proxy = check.connectivity(part, **{**usual(), "ConnectThrough": POINTS})
    found = Found(proxy)

    def judge():
        reference = regions.Reference(*whole)
        wanted = reference.regions(reference.in_range(VALUE, *PATTERN[0]), POINTS)
        expect(np.array_equal(found.cells["number"], reference.cell["number"]), "cells are missing")
        expect(regions.same_partition(found.cells["RegionId"], wanted),
               f"{found.counts} regions, not {wanted.max() + 1}")

    on_first("blocks side by side", judge)
    check.delete(proxy, part)


def hidden():
    """Hidden cells are in no region."""
    whole = {"size": (9, 8, 7), "pattern": "noise 0.5"}
    for mesh in ("image", "hexahedra"):
        data = regions.build(RANK, RANKS, {**whole, "mesh": mesh})
        if data.GetNumberOfCells():
            numbers = vtk_to_numpy(data.GetCellData().GetArray("number"))
            flows._add_ghosts(data.GetCellData(), np.zeros(len(numbers)))
            flags = vtk_to_numpy(data.GetCellData().GetArray("vtkGhostType"))
            flags[numbers % 3 == 0] = HIDDEN
        part = check.held(data, regions.extent({**whole, "mesh": mesh}))
        proxy = check.connectivity(part, **usual())
        found = Found(proxy)

        def judge():
            reference = regions.Reference(regions.make(**{**whole, "mesh": mesh}))
            inside = reference.in_range(VALUE, *PATTERN[0]) & (reference.cell["number"] % 3 != 0)
            wanted = reference.regions(inside, FACES)
            expect(regions.same_partition(found.cells["RegionId"], wanted),
                   f"{found.counts} regions, not {wanted.max() + 1}")

        on_first(f"hidden cells of {mesh}", judge)
        check.delete(proxy, part)


def thin():
    """Vertices and lines: a chain of lines from rank to rank, and points alone."""
    steps = 6
    data = vtkPolyData()
    points, lines, vertices = vtkPoints(), vtkCellArray(), vtkCellArray()
    for step in range(steps + 1):
        points.InsertNextPoint(RANK * steps + step, 0, 0)
    for step in range(steps):
        lines.InsertNextCell(2, [step, step + 1])
    points.InsertNextPoint(RANK, 1, 0)  # a vertex of its own
    vertices.InsertNextCell(1, [steps + 1])
    vertices.InsertNextCell(1, [0])  # one at the chain's
    data.SetPoints(points)
    data.SetLines(lines)
    data.SetVerts(vertices)
    regions._add(data.GetCellData(), "number", np.arange(steps + 2) + RANK * 100)
    regions._add(data.GetPointData(), "number", np.arange(steps + 2) + RANK * 100)
    part = check.held(data)
    proxy = check.connectivity(part)
    found = Found(proxy)

    def judge():
        expect(found.counts == [1 + RANKS], f"{found.counts} regions, not {1 + RANKS}")
        sizes = sorted(found.table["Cells"].tolist())
        expect(sizes == [1] * RANKS + [RANKS * (steps + 1)], f"sizes {sizes}")
        chain = int(np.argmax(found.table["Cells"]))
        expect(abs(found.table["Measure"][chain] - RANKS * steps) < 1e-9, "length of the chain")
        expect(found.table["Points"][chain] == RANKS * steps + 1, "points of the chain")
        expect(abs(found.table["Centroid"][chain] - [RANKS * steps / 2, 0, 0]).max() < 1e-9, "its middle")
        alone = found.table["Cells"] == 1
        places = found.table["Centroid"][alone]
        expect(places.tolist() == [[r, 1.0, 0.0] for r in range(RANKS)], f"places of vertices {places}")

    on_first("lines and vertices", judge)
    check.delete(proxy, part)


def strips():
    """Triangle strips, a row of the plane each, that have their long sides in common."""
    count, rows = 7, 8
    data = vtkPolyData()
    points, cells = vtkPoints(), vtkCellArray()
    for row in range(RANK, rows, RANKS):
        first = points.GetNumberOfPoints()
        for x in range(count + 1):
            points.InsertNextPoint(x, row, 0)
            points.InsertNextPoint(x, row + 1, 0)
        cells.InsertNextCell(2 * count + 2, list(range(first, first + 2 * count + 2)))
    data.SetPoints(points)
    data.SetStrips(cells)
    regions._add(data.GetCellData(), "number", np.arange(RANK, rows, RANKS))
    regions._add(data.GetPointData(), "number", np.arange(points.GetNumberOfPoints()) + 1000 * RANK)
    part = check.held(data)
    for through in (FACES, POINTS):
        proxy = check.connectivity(part, ConnectThrough=through)
        found = Found(proxy)

        def judge():
            expect(found.counts == [1], f"{found.counts} regions")
            expect(found.table["Cells"].tolist() == [rows], f"{found.table['Cells']} cells")
            expect(abs(found.table["Measure"][0] - rows * count) < 1e-9, f"area {found.table['Measure']}")
            expect(abs(found.table["Centroid"][0] - [count / 2, rows / 2, 0]).max() < 1e-9, "its middle")

        on_first(f"triangle strips, through {through}", judge)
        check.delete(proxy)
    check.delete(part)


def crack():
    """Two halves of a mesh whose points coincide: global ids keep them apart, coordinates do not."""
    for ids, count in ((True, 2), (False, 1)):
        append = vtkAppendFilter()
        append.MergePointsOff()
        for half in range(2):
            if half * (RANKS - 1) == RANK:
                block = grid_of(image((0.0, 0, 4.0 * half), (4, 4, 4), 1.0, 0), 100 * half, 1.0)
                if ids:
                    numbers = np.arange(block.GetNumberOfPoints()) + 1000 * half
                    regions._add(block.GetPointData(), "GlobalPointIds", numbers)
                    block.GetPointData().SetGlobalIds(block.GetPointData().GetArray("GlobalPointIds"))
                append.AddInputData(block)
        data = vtkUnstructuredGrid()
        if append.GetNumberOfInputConnections(0):
            append.Update()
            data = append.GetOutput()
        names = data.GetPointData()
        if ids and data.GetNumberOfCells():
            if names.GetGlobalIds() is None:  # as the filter that appends has left it
                names.SetGlobalIds(names.GetArray("GlobalPointIds"))
        part = check.held(data)
        proxy = check.connectivity(part)
        proxy.UpdatePipeline()
        field = proxy.GetClientSideObject().GetOutputDataObject(0).GetFieldData()
        found = field.GetArray("NumberOfRegions").GetValue(0)
        assert found == count, f"crack, ids {ids}: {found} regions, not {count}"
        check.delete(proxy, part)


def nothing():
    """No cell anywhere is no error."""
    for data in (vtkUnstructuredGrid(), vtkPolyData(), vtkMultiBlockDataSet()):
        part = check.held(data)
        proxy = check.connectivity(part)
        proxy.UpdatePipeline()
        output = proxy.GetClientSideObject().GetOutputDataObject(0)
        table = proxy.GetClientSideObject().GetOutputDataObject(1)
        assert output.GetClassName() == data.GetClassName(), output.GetClassName()
        assert table.GetNumberOfRows() == 0
        check.delete(proxy, part)


def hierarchy():
    """Levels of an AMR hierarchy are one domain: cells that touch are neighbors; covered ones are out."""
    first = {}
    total = 0
    for level, boxes in enumerate(meshes.LEVELS):
        for index, box in enumerate(boxes):
            first[level, index] = total
            total += int(np.prod([box[2 * a + 1] - box[2 * a] + 1 for a in range(3)]))

    # Boxes of cells, in units of the finest ones.
    low, level_of = np.zeros((total, 3), int), np.zeros(total, int)
    for (level, index), number in first.items():
        box = meshes.LEVELS[level][index]
        shape = [box[2 * a + 1] - box[2 * a] + 1 for a in range(3)]
        where = np.unravel_index(np.arange(int(np.prod(shape))), shape[::-1])[::-1]
        for a in range(3):
            low[number : number + len(where[a]), a] = (where[a] + box[2 * a]) * 4 // 2**level
        level_of[number : number + len(where[0])] = level
    high = low + (4 // 2**level_of)[:, None]
    covered = np.zeros(total, bool)
    for level in (1, 2):
        for box in meshes.LEVELS[level]:
            lo, hi = np.array(box[::2]) * 4 // 2**level, (np.array(box[1::2]) + 1) * 4 // 2**level
            covered |= (level_of < level) & (low >= lo).all(axis=1) & (high <= hi).all(axis=1)
    inside = (flows._hash(np.arange(total), 106) < 0.12) & ~covered
    for through in (POINTS, FACES):
        wanted = None
        if RANK == 0:
            members = np.flatnonzero(inside)
            overlap = np.minimum(high[members, None], high[None, members]) - np.maximum(
                low[members, None], low[None, members]
            )
            touch = (overlap >= 0).all(axis=2)
            if through == FACES:
                touch &= (overlap > 0).sum(axis=2) >= 2
            one, other = np.nonzero(touch)
            wanted = np.full(total, -1)
            wanted[members] = regions.components(len(members), one, other)
        for placing in ("cyclic", "backwards", "last"):
            data = meshes.build_hierarchy(RANK, RANKS, placing=placing)
            for (level, index), number in first.items():
                grid = data.GetDataSet(level, index)
                if grid is not None:
                    count = grid.GetNumberOfCells()
                    regions._add(grid.GetCellData(), "number", np.arange(count) + number)
                    points = np.arange(grid.GetNumberOfPoints()) + 10000 * number
                    regions._add(grid.GetPointData(), "number", points)
                    regions._add(grid.GetCellData(), "value", inside[number : number + count].astype(float))
            part = check.held(data)
            proxy = check.connectivity(part, **{**usual(), "ConnectThrough": through})
            found = Found(proxy)
            on_first(
                f"hierarchy, through {through}, {placing}",
                lambda: expect(
                    regions.same_partition(found.cells["RegionId"], wanted),
                    f"{found.counts} regions, not {len(np.unique(wanted)) - 1}",
                ),
            )
            check.delete(proxy, part)


def many():
    """A million regions: each rank has its share of the table, and no more."""
    size = 126
    along = [size] * 3
    lattice = flows._Lattice([size + 1] * 3, (0.0, float(size)) * 3)
    extent = flows.brick(lattice, RANKS, RANK)
    data = vtkImageData()
    data.SetExtent(extent)
    x, y, z = (np.arange(extent[2 * a], extent[2 * a + 1]) for a in range(3))
    value = (x[None, None, :] + y[None, :, None] + z[:, None, None]) % 2
    regions._add(data.GetCellData(), "value", value.ravel().astype(np.uint8))
    part = check.held(data, [0, size] * 3)
    proxy = check.connectivity(part, **usual())
    proxy.UpdatePipeline()
    total = size**3 // 2
    output = proxy.GetClientSideObject().GetOutputDataObject(0)
    ids = vtk_to_numpy(output.GetCellData().GetArray("RegionId"))
    table = proxy.GetClientSideObject().GetOutputDataObject(1).GetRowData()
    rows = range(RANK * total // RANKS, (RANK + 1) * total // RANKS)
    assert np.array_equal(vtk_to_numpy(table.GetArray("RegionId")), np.array(rows)), "other rows"
    assert (vtk_to_numpy(table.GetArray("Cells")) == 1).all()
    assert (vtk_to_numpy(table.GetArray("Points")) == 8).all()
    assert (vtk_to_numpy(table.GetArray("Measure")) == 1).all()
    # Of every other cell of a row, in order.
    number = (x[None, None, :] + size * (y[None, :, None] + size * z[:, None, None])).ravel()
    assert np.array_equal(ids, np.where(value.ravel() == 1, number // 2, -1)), "other ids"
    check.delete(proxy, part)


# --- Odd data -------------------------------------------------------------------------------------


def grid(coordinates, cells, first=0, **arrays):
    """An unstructured grid of cells (type, points); arrays of cells; numbers from `first` on."""
    data = vtkUnstructuredGrid()
    points = vtkPoints()
    points.SetDataTypeToDouble()
    for place in coordinates:
        points.InsertNextPoint(*place)
    data.SetPoints(points)
    for cell_type, ids in cells:
        data.InsertNextCell(cell_type, len(ids), ids)
    arrays["number"] = np.arange(len(cells)) + first
    for name, values in arrays.items():
        regions._add(data.GetCellData(), name, values)
    regions._add(data.GetPointData(), "number", np.arange(len(coordinates)) + first)
    return data


def blocks(*leaves):
    """A proxy of a multiblock data set, block by block on the ranks in turn."""
    data = vtkMultiBlockDataSet()
    data.SetNumberOfBlocks(len(leaves))
    for index, leaf in enumerate(leaves):
        if index % RANKS == RANK:
            data.SetBlock(index, leaf)
    return check.held(data)


def counted(what, part, counts, **options):
    """Regions are as many as they should be; returns what was found."""
    proxy = check.connectivity(part, **options)
    found = Found(proxy, points=False)
    on_first(what, lambda: expect(found.counts == counts, f"{found.counts} regions, not {counts}"))
    check.delete(proxy)
    return found


SQUARE = ((0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0))


def square(x, first, y=0.0, **arrays):
    return grid([(a + x, b + y, c) for a, b, c in SQUARE], [(VTK_QUAD, [0, 1, 2, 3])], first, **arrays)


def points_alone():
    """Data sets with points, but no cells and no arrays, among others."""
    loose = grid([(0, 0, 0), (5, 5, 5)], [], 900)
    noise = np.array([0.5])
    counted("a block of points", blocks(square(0, 0, noise=noise), loose, square(1, 100, noise=noise)), [1],
            StatisticsArrays=["noise"])
    if RANKS > 1:
        whole = {"mesh": "hexahedra", "size": (4, 4, 4), "pattern": "noise 0.3"}
        data = loose
        if RANK < RANKS - 1:
            data = regions.build(RANK, RANKS - 1, whole, cut="random", ids=True)
        reference = regions.reference(**whole)
        wanted = reference.regions(reference.in_range(VALUE, *PATTERN[0]), FACES)
        part = check.held(data)
        counted("a rank with points alone", part, [wanted.max() + 1], **usual(StatisticsArrays=["noise"]))
        check.delete(part)


def fill_values():
    """What is out of range does not spoil the sums of what is in range."""
    for mesh in ("image", "hexahedra"):
        whole = {"mesh": mesh, "size": (6, 5, 4), "pattern": "noise 0.3"}
        data = regions.build(RANK, RANKS, whole)
        if data.GetNumberOfCells():
            values, noise = (vtk_to_numpy(data.GetCellData().GetArray(n)) for n in ("value", "noise"))
            regions._add(data.GetCellData(), "filled", np.where(values > 0.5, noise, 9.97e36))
        part = check.held(data, regions.extent(whole))
        found = counted(f"fill values of {mesh}", part, [len(wanted_table(whole)["Cells"])],
                        **usual(StatisticsArrays=["filled"]))

        def judge():
            for column in ("Mean", "Integral"):
                wanted = np.sort(wanted_table(whole)[f"noise {column}"])
                mine = np.sort(found.table[f"filled {column}"])
                expect(np.allclose(mine, wanted, rtol=1e-9, atol=0), f"{column}: {mine}, not {wanted}")

        on_first(f"sums beside fill values of {mesh}", judge)
        check.delete(part)


def wanted_table(whole):
    reference = regions.reference(**whole)
    wanted = reference.regions(reference.in_range(VALUE, *PATTERN[0]), FACES)
    return reference.table(wanted, (("CELLS", "noise"),))


def shifted_hierarchy():
    """Grids of a hierarchy that do not lie where its boxes say: joined where points coincide."""
    data = vtkOverlappingAMR()
    data.Initialize(1, [2])
    data.SetOrigin([0.0, 0.0, 0.0])
    data.SetGridDescription(meshes.VTK_XYZ_GRID)
    data.SetSpacing(0, [1.0] * 3)
    data.SetRefinementRatio(0, 2)
    for index in range(2):
        data.SetAMRBox(0, index, vtkAMRBox([4 * index, 0, 0], [4 * index + 3, 3, 3]))
        if index % RANKS == RANK:
            leaf = vtkUniformGrid()
            leaf.SetOrigin(4.0 * index + 0.25, 0, 0)
            leaf.SetDimensions(5, 5, 5)
            add_fields(leaf, 1000 * index, 1000 * index, 1.0)
            data.SetDataSet(0, index, leaf)
    part = check.held(data)
    counted("a hierarchy off its lattice", part, [1])
    check.delete(part)


def scaled_hierarchy():
    """Grids of a hierarchy that are too different for a lattice of all: joined where points coincide."""
    for start, count in ((4.0, 1), (5.0, 2)):
        data = vtkOverlappingAMR()
        data.Initialize(2, [1, 1])
        data.SetOrigin([0.0, 0.0, 0.0])
        data.SetGridDescription(meshes.VTK_XYZ_GRID)
        data.SetRefinementRatio(0, 2)
        for level, spacing in enumerate((1.0, 1e150)):
            data.SetSpacing(level, [spacing] * 3)
            data.SetAMRBox(level, 0, vtkAMRBox([8 * level, 0, 0], [8 * level + 3, 3, 3]))
            if level % RANKS == RANK:
                leaf = vtkUniformGrid()
                leaf.SetOrigin(start * level, 0, 0)
                leaf.SetSpacing([spacing] * 3)
                leaf.SetDimensions(5, 5, 5)
                add_fields(leaf, 1000 * level, 1000 * level, 1.0)
                data.SetDataSet(level, 0, leaf)
        part = check.held(data)
        counted(f"a hierarchy of distant scales from {start} on", part, [count])
        check.delete(part)


def chains():
    """Points within tolerance of each other one by one: near, nearer, and bounds as they are."""
    for count in (2, 3):
        # Corners at (1, 1), each 1.2e-3 further than the one before; a diagonal is 1.4 long.
        step = 1.2e-3
        leaves = [
            grid([(1 + n * step, 1, 0), (1 + n * step + dx, 1 + dy, 0), (1 + n * step + ex, 1 + ey, 0)],
                 [(VTK_TRIANGLE, [0, 1, 2])], 10 * n)
            for n, (dx, dy, ex, ey) in enumerate(((1, 0, 1, 1), (-1, 1, -1, 0), (-1, -1, 0, -1))[:count])
        ]
        part = blocks(*leaves)
        counted(f"{count} in a chain, apart", part, [count])
        counted(f"{count} in a chain, too far", part, [count], Tolerance=0.0005)
        found = counted(f"{count} in a chain", part, [1], Tolerance=0.001)

        def judge():
            places = np.concatenate([regions._coordinates(leaf) for leaf in leaves])
            wanted = np.stack([places.min(axis=0), places.max(axis=0)], axis=-1).ravel()
            expect(np.abs(found.table["Bounds"][0] - wanted).max() <= 2 * step, f"{found.table['Bounds']}")
            expect(found.table["Points"].tolist() == [2 * count + 1], f"{found.table['Points']} points")

        on_first(f"table of {count} in a chain", judge)
        check.delete(part)


def seeds_of_image():
    """Global ids of a grid's points and cells say what seeds are, not places in the extent."""
    whole = {"size": (6, 5, 4), "pattern": "noise 0.3"}
    data = regions.build(RANK, RANKS, whole)
    for attributes, name in (
        (data.GetPointData(), "GlobalPointIds"), (data.GetCellData(), "GlobalCellIds"),
    ):
        regions._add(attributes, name, regions.global_ids(vtk_to_numpy(attributes.GetArray("number"))))
        attributes.SetGlobalIds(attributes.GetArray(name))
    part = check.held(data, regions.extent(whole))
    reference = regions.reference(**whole)
    wanted = reference.regions(reference.in_range(VALUE, *PATTERN[0]), FACES)
    cell = int(np.flatnonzero(wanted >= 0)[-1])
    proxy = check.connectivity(part, **usual(
        ExtractionMode=CELL_SEEDED, SeedIds=[int(regions.global_ids(cell))]))
    found = Found(proxy)
    on_first("a seed of an image with ids", lambda: expect(
        np.array_equal(found.cells["RegionId"] >= 0, wanted == wanted[cell]), "another region"))
    check.delete(proxy, part)


def unused_points():
    """Points that no cell uses are not extracted, on no cut."""
    places = list(SQUARE) + [(7, 7, 7)]
    part = blocks(grid(places, [(VTK_QUAD, [0, 1, 2, 3])], 0), square(3, 100))
    proxy = check.connectivity(part, ExtractRegions=1)
    found = Found(proxy)
    on_first("points without cells", lambda: expect(
        found.points["number"].tolist() == [0, 1, 2, 3, 100, 101, 102, 103], f"{found.points['number']}"))
    check.delete(proxy, part)


def large_integers():
    """Values that are the same as doubles, and a range that only some of them are in."""
    for mesh in ("image", "hexahedra"):
        whole = {"mesh": mesh, "size": (6, 5, 4), "pattern": "noise 0.3"}
        data = regions.build(RANK, RANKS, whole)
        if data.GetNumberOfCells():
            values = vtk_to_numpy(data.GetCellData().GetArray("value")).astype(np.int64)
            regions._add(data.GetCellData(), "large", 2**53 + 1 - values)
        part = check.held(data, regions.extent(whole))
        options = usual(Scalars=["CELLS", "large"], ScalarRange=[2.0**53, 2.0**53])
        counted(f"large integers of {mesh}", part, [len(wanted_table(whole)["Cells"])], **options)
        check.delete(part)


def same_corners():
    """A quadrilateral and a tetrahedron of the same points have no face in common."""
    places = ((0, 0, 0), (1, 0, 0), (1, 1, 0.5), (0, 1, 0))
    flat, solid = (VTK_QUAD, [0, 1, 2, 3]), (VTK_TETRA, [0, 1, 3, 2])
    for what, leaves in (
        ("one block", [grid(places, [flat, solid])]),
        ("two blocks", [grid(places, [flat]), grid(places, [solid], 10)]),
    ):
        part = blocks(*leaves)
        counted(f"same corners, {what}, faces", part, [2], ConnectThrough=FACES)
        counted(f"same corners, {what}, points", part, [1], ConnectThrough=POINTS)
        check.delete(part)


def kinds_of_labels():
    """Labels are equal if their values are, whatever their types."""
    for second, count in ((np.array([1.0]), 1), (np.array([1.5]), 2), (np.array([1], np.int64), 1)):
        part = blocks(square(0, 0, kind=np.array([1], np.int32)), square(1, 100, kind=second))
        counted(f"labels 1 and {second.dtype} {second[0]}", part, [count], LabelConnectivity=1,
                Labels=["CELLS", "kind"], ConnectThrough=FACES)
        check.delete(part)


def disagreeing():
    """Ranks with different properties: nothing on all of them, and all is well when they agree."""
    if RANKS == 1:
        return
    part = held({"size": (6, 6, 6), "pattern": "noise 0.3"})
    proxy = check.connectivity(part, **usual())
    for name, bad, good in (
        ("ConnectThrough", RANK % 3, FACES),
        ("Tolerance", 0.1 * RANK, 0.0),
        ("ScalarRange", [0.5, 2.0 + RANK], [0.5, 2.0]),
        ("ExtractionMode", LARGEST if RANK == RANKS - 1 else ALL, ALL),
        ("StatisticsArrays", ["noise"] if RANK else [], []),
        ("StatisticsArrays", ["noise" if RANK else "level"], []),
        ("Scalars", ["CELLS", "noise" if RANK else "value"], ["CELLS", "value"]),
    ):
        for value, works in ((bad, False), (good, True)):
            setattr(proxy, name, value)
            check.touch(proxy)  # where the value is what it was, too
            proxy.UpdatePipeline()
            cells = COMM.allreduce(proxy.GetClientSideObject().GetOutputDataObject(0).GetNumberOfCells())
            rows = COMM.allreduce(proxy.GetClientSideObject().GetOutputDataObject(1).GetNumberOfRows())
            assert (cells > 0, rows > 0) == (works, works), f"{name}: {cells} cells, {rows} rows"
    check.delete(proxy, part)


TESTS = (
    modes, assignment, coloring, tolerance, side_by_side, hidden, thin, strips, crack, nothing,
    points_alone, fill_values, shifted_hierarchy, scaled_hierarchy, chains, seeds_of_image, unused_points,
    large_integers, same_corners, kinds_of_labels, disagreeing, hierarchy, many,
)


def main():
    for test in TESTS:
        if sys.argv[1:] and test.__name__ not in sys.argv[1:]:
            continue
        test()
        if RANK == 0:
            print(test.__name__, flush=True)
    assert not failures, "\n  ".join(["options:"] + failures)


if __name__ == "__main__":
    check.run(__file__)
