# SPDX-License-Identifier: BSD-3-Clause
"""Grids with a flow for Async Convection Diffusion, distributed over the ranks, and an independent numpy
implementation of the equation for whole grids.

A flow is a function of coordinates and a time that returns three components.
"""

import check
import numpy as np
from paraview import simple
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkPoints
from vtkmodules.vtkCommonDataModel import (
    vtkDataSetAttributes,
    vtkImageData,
    vtkMultiBlockDataSet,
    vtkRectilinearGrid,
    vtkStructuredGrid,
)

KINDS = ("image", "rectilinear", "structured")


def cut(lo, hi, parts, axis=0):
    """Boxes of cells from recursive bisection along alternating axes."""
    if parts == 1:
        return [(lo, hi)]
    axis = next(a % 3 for a in range(axis, axis + 3) if hi[a % 3] - lo[a % 3] > 1)
    middle = (lo[axis] + hi[axis] + 1) // 2
    low = tuple(middle if a == axis else h for a, h in enumerate(hi))
    high = tuple(middle if a == axis else x for a, x in enumerate(lo))
    return cut(lo, low, parts // 2, axis + 1) + cut(high, hi, parts - parts // 2, axis + 1)


class Grid:
    """The whole grid: coordinates of the cell ends along x, y and z; one point along a flat axis."""

    def __init__(self, kind, ends, first=(0, 0, 0)):
        self.kind = kind
        self.ends = [np.asarray(e, float) for e in ends]
        self.first = first  # number of the first point along each axis
        self.cells = tuple(max(len(e) - 1, 1) for e in self.ends)

    @staticmethod
    def uniform(cells, width=1.0, kind="image"):
        return Grid(kind, [np.arange(n + 1) * width for n in cells])

    def flat(self, axis):
        return len(self.ends[axis]) == 1

    def widths(self, axis):
        return np.ones(1) if self.flat(axis) else np.diff(self.ends[axis])

    def centers(self):
        """The coordinates x, y, z of all cell centers, as arrays z by y by x."""
        middles = [e if len(e) == 1 else 0.5 * (e[1:] + e[:-1]) for e in self.ends]
        z, y, x = np.meshgrid(middles[2], middles[1], middles[0], indexing="ij")
        return x, y, z

    def points(self):
        z, y, x = np.meshgrid(self.ends[2], self.ends[1], self.ends[0], indexing="ij")
        return x, y, z

    def extent(self):
        """The extent of the points."""
        return [
            n for a in range(3)
            for n in (self.first[a], self.first[a] + len(self.ends[a]) - 1)
        ]

    def slices(self, box, more=0):
        return tuple(slice(box[0][a], box[1][a] + (0 if self.flat(a) else more)) for a in (2, 1, 0))

    def piece(self, box, ghosts=0, cell_arrays=(), point_arrays=(), hidden=None):
        """A data set with the cells of a box, and ghost cells around it within the grid.

        cell_arrays, point_arrays  name and values of the whole grid, z by y by x (by component)
        hidden  which cells are hidden
        """
        lo = tuple(max(0, x - ghosts) for x in box[0])
        hi = tuple(min(n, x + ghosts) for n, x in zip(self.cells, box[1]))
        grown = (lo, hi)
        point_hi = tuple(h if not self.flat(a) else lo[a] for a, h in enumerate(hi))
        extent = [
            n + self.first[a] for a in range(3) for n in (lo[a], point_hi[a])
        ]
        mine = [
            e[lo[a] : (hi[a] if self.flat(a) else hi[a] + 1)] for a, e in enumerate(self.ends)
        ]
        if self.kind == "image":
            data = vtkImageData()
            data.SetExtent(extent)
            spacing = [1.0 if self.flat(a) else self.widths(a)[0] for a in range(3)]
            data.SetSpacing(spacing)
            data.SetOrigin([e[0] - self.first[a] * spacing[a] for a, e in enumerate(self.ends)])
        elif self.kind == "rectilinear":
            data = vtkRectilinearGrid()
            data.SetExtent(extent)
            for axis, name in enumerate("XYZ"):
                getattr(data, f"Set{name}Coordinates")(numpy_to_vtk(mine[axis], deep=1))
        else:
            data = vtkStructuredGrid()
            data.SetExtent(extent)
            z, y, x = np.meshgrid(mine[2], mine[1], mine[0], indexing="ij")
            points = vtkPoints()
            points.SetDataTypeToDouble()
            points.SetData(numpy_to_vtk(np.stack([x, y, z], -1).reshape(-1, 3), deep=1))
            data.SetPoints(points)
        for attributes, arrays, more in (
            (data.GetCellData(), cell_arrays, 0),
            (data.GetPointData(), point_arrays, 1),
        ):
            for name, values in arrays:
                part = values[self.slices(grown, more)]
                rows = part.reshape(-1, 3) if part.ndim == 4 else part.ravel()
                array = numpy_to_vtk(np.ascontiguousarray(rows), deep=1)
                array.SetName(name)
                attributes.AddArray(array)
        if ghosts or hidden is not None:
            flags = np.zeros(tuple(reversed(self.cells)), np.uint8)
            flags[:] = vtkDataSetAttributes.DUPLICATECELL
            flags[self.slices(box)] = 0
            if hidden is not None:
                flags[hidden] |= int(vtkDataSetAttributes.HIDDENCELL)
            array = numpy_to_vtk(np.ascontiguousarray(flags[self.slices(grown)].ravel()), deep=1)
            array.SetName(vtkDataSetAttributes.GhostArrayName())
            data.GetCellData().AddArray(array)
        return data

    def empty(self):
        return {"image": vtkImageData, "rectilinear": vtkRectilinearGrid,
                "structured": vtkStructuredGrid}[self.kind]()


# The beginning of the script of a programmable filter that adds arrays to an image.
ADD_ARRAYS = """
import numpy as np
from vtkmodules.util.numpy_support import numpy_to_vtk
image = self.GetOutputDataObject(0)
image.ShallowCopy(self.GetInputDataObject(0, 0))
n, cells = image.GetNumberOfPoints(), image.GetNumberOfCells()
coordinates = np.array([image.GetPoint(i) for i in range(n)]).reshape(-1, 3)
def add(name, values, attributes=image.GetPointData()):
    array = numpy_to_vtk(np.ascontiguousarray(values), deep=1)
    array.SetName(name)
    attributes.AddArray(array)
"""


def image_with_arrays(script):
    """A proxy of a small image with the arrays that the script adds, after ADD_ARRAYS."""
    data = simple.ProgrammableFilter(Input=simple.Wavelet(WholeExtent=[0, 9, 0, 8, 0, 8]))
    data.OutputDataSetType = "Same as Input"
    data.Script = ADD_ARRAYS + script
    return data


def with_ghosts(data, flags):
    """A proxy of an image with ghost flags of cells, as the text of an expression."""
    other = simple.ProgrammableFilter(Input=data)
    other.OutputDataSetType = "Same as Input"
    other.Script = ADD_ARRAYS + f'add("vtkGhostType", {flags}, image.GetCellData())'
    return other


def refuse_and_cure(refusals, proxy, usual, cases, defaults, tolerance=0):
    """Check that each case (property, bad value, words of the message, other properties) is refused, and that
    the defaults cure it."""
    for name, bad, words, others in cases:
        for key, value in {**others, name: bad}.items():
            setattr(proxy, key, value)
        refusals.refused(f"{name} = {bad}", proxy, words)
        for key, value in defaults.items():
            setattr(proxy, key, value)
        refusals.cured(f"{name} = {bad}", proxy, usual, tolerance)


def far_apart(data):
    """A proxy of an image and its copy, whose indices are as far from each other as indices can be."""
    other = simple.ProgrammableFilter(Input=data)
    other.OutputDataSetType = "vtkMultiblockDataSet"
    other.Script = """
image = self.GetInputDataObject(0, 0)
copy = image.NewInstance()
copy.DeepCopy(image)
copy.SetExtent([at + 2**31 - 100 if i < 2 else at for i, at in enumerate(image.GetExtent())])
output.SetBlock(0, image)
output.SetBlock(1, copy)
"""
    return other


def refuse_other_data(refusals, data, filter_of):
    """Check that inputs other than axis-aligned grids, pieces with gaps, and wrong ghost cells, are refused."""
    turned = simple.Transform(Input=data)
    turned.Transform.Rotate = [0.0, 0.0, 30.0]
    for name, other, words in (
        ("a sphere", simple.Sphere(), ("resample",)),
        ("an image that is turned", turned, ("resample",)),
        ("images far apart", far_apart(data), ("cover the grid",)),
        ("too few ghost flags", with_ghosts(data, "np.zeros(1, np.uint8)"),
         ("ghost flags for", "remove vtkGhostType from its cell data")),
        ("a ghost cell within", with_ghosts(data, "(np.arange(cells) == cells // 2).astype(np.uint8)"),
         ("form a box", "split the data set into boxes")),
    ):
        wrong = filter_of(other)
        refusals.refused(name, wrong, words)
        check.delete(wrong, other)


def abort_on_last_rank(comm, proxy, update):
    """Abort the last rank at its first progress event. Check that all ranks end with an empty output and without
    an error. Afterwards the proxy can be executed again."""
    filter_ = proxy.GetClientSideObject()
    last = comm.rank == comm.size - 1
    observer = filter_.AddObserver(
        "ProgressEvent", lambda *_: filter_.SetAbortExecute(1) if last else None)
    update()
    filter_.RemoveObserver(observer)
    assert not leaves(filter_.GetOutputDataObject(0)), "an output after an abort"
    assert not any(comm.allgather(filter_.GetErrorCode())), "an abort is an error"
    filter_.SetAbortExecute(0)
    check.touch(proxy)


def leaves(data):
    """The data sets that have cells, of a composite or a simple data set."""
    blocks = [data]
    if isinstance(data, vtkMultiBlockDataSet):
        blocks = [data.GetBlock(n) for n in range(data.GetNumberOfBlocks())]
    return [b for b in blocks if b is not None and b.GetNumberOfCells() > 0]


def own_values(grid, data, name="Concentration"):
    """(box, values as z by y by x) of all cells of a data set of a rank, including ghosts."""
    extent = data.GetExtent()
    lo = [extent[2 * a] - grid.first[a] for a in range(3)]
    hi = [extent[2 * a + 1] - grid.first[a] + (1 if grid.flat(a) else 0) for a in range(3)]
    array = data.GetCellData().GetArray(name)
    assert array is not None, f"no array {name}"
    shape = tuple(hi[a] - lo[a] for a in (2, 1, 0))
    return (tuple(lo), tuple(hi)), vtk_to_numpy(array).reshape(shape).copy()


def gathered(comm, grid, data, name="Concentration"):
    """The values of the whole grid, on all ranks. Checks that copies of a cell have equal values."""
    whole = np.full(tuple(reversed(grid.cells)), np.nan)
    parts = comm.allgather([own_values(grid, leaf, name) for leaf in leaves(data)])
    for box, values in (part for parts_of_rank in parts for part in parts_of_rank):
        known = whole[grid.slices(box)]
        same = np.isnan(known) | (known == values)
        assert same.all(), "ghosts differ from the cells they are copies of"
        whole[grid.slices(box)] = values
    assert not np.isnan(whole).any(), "a cell is on no rank"
    return whole


def _take(values, axis, what):
    index = [slice(None)] * 3
    index[2 - axis] = what
    return values[tuple(index)]


def face_flow(grid, periodic, at_cells=None, at_points=None, solid=None):
    """Velocities across the faces along x, y, z, and whether faces are open, for the whole grid."""
    velocity, opened = [], []
    for axis in range(3):
        shape = list(reversed(grid.cells))
        shape[2 - axis] += 1
        faces = np.zeros(shape)
        if grid.flat(axis):
            pass
        elif at_points is not None:
            faces = at_points[..., axis]
            for other in range(3):
                if other != axis and not grid.flat(other):
                    faces = 0.5 * (
                        _take(faces, other, slice(1, None)) + _take(faces, other, slice(None, -1))
                    )
            faces = faces.copy()
            if periodic[axis]:
                h = grid.widths(axis)
                low, high = _take(faces, axis, -1), _take(faces, axis, 0)
                both = (low * h[0] + high * h[-1]) / (h[0] + h[-1])
                for end in (0, -1):
                    _take(faces, axis, slice(None))[_index(axis, end)] = both
        else:
            values = at_cells[..., axis]
            h = grid.widths(axis)
            n = grid.cells[axis]
            for face in range(n + 1):
                low, high = face - 1, face
                if periodic[axis]:
                    low, high = low % n, high % n
                low, high = max(low, 0), min(high, n - 1)
                faces[_index(axis, face)] = (
                    _take(values, axis, low) * h[high] + _take(values, axis, high) * h[low]
                ) / (h[low] + h[high])
        is_open = np.ones(shape, bool)
        if solid is not None:
            n = grid.cells[axis]
            for face in range(n + 1):
                cells = [face - 1, face]
                if periodic[axis]:
                    cells = [c % n for c in cells]
                for cell in cells:
                    if 0 <= cell < n:
                        is_open[_index(axis, face)] &= ~_take(solid, axis, cell)
        velocity.append(faces)
        opened.append(is_open)
    return velocity, opened


def _index(axis, at):
    index = [slice(None)] * 3
    index[2 - axis] = at
    return tuple(index)


def residual(grid, flow, u, old, step, source=0.0, diffusivity=0.0, decay=0.0,
             sides=(("Outflow", 0.0),) * 6, conservative=False):
    """s - du/dt - a . grad u + D laplace u - k u of each cell, from the fluxes across its faces. old: None for
    the steady state."""
    velocity, opened = flow
    r = source - decay * u
    if old is not None:
        r = r - (u - old) / step
    for axis in range(3):
        if grid.flat(axis):
            continue
        n = grid.cells[axis]
        h = grid.widths(axis)
        for face in range(n + 1):
            low, high = face - 1, face
            v = velocity[axis][_index(axis, face)]
            is_open = opened[axis][_index(axis, face)]
            kind, value = "inner", 0.0
            if face in (0, n):
                kind, value = sides[2 * axis + (1 if face == n else 0)]
            if kind == "Periodic":
                if face == n:
                    continue
                low, kind = n - 1, "inner"
            u_low = _take(u, axis, low) if low >= 0 else None
            u_high = _take(u, axis, high) if high < n else None
            if kind == "Flux":
                cell = high if low < 0 else low
                r[_index(axis, cell)] += np.where(is_open, value / h[cell], 0)
                continue
            distance = 0.5 * ((h[low] if low >= 0 else 0) + (h[high] if high < n else 0))
            lost = 0.0  # inflow of a boundary without a value
            if u_low is None:
                u_low = np.full_like(u_high, value) if kind == "Value" else u_high
            if u_high is None:
                u_high = np.full_like(u_low, value) if kind == "Value" else u_low
            diffusive = 0.0 if kind == "Outflow" else diffusivity * (u_low - u_high) / distance
            upwind = np.where(v > 0, u_low, u_high)
            if kind == "Outflow" and conservative:
                inward = v > 0 if low < 0 else v < 0
                upwind = np.where(inward, lost, upwind)
            for cell, sign, mine in ((low, -1, u_low), (high, 1, u_high)):
                if 0 <= cell < n:
                    carried = v * upwind if conservative else v * (upwind - mine)
                    r[_index(axis, cell)] += np.where(
                        is_open, sign * (carried + diffusive) / h[cell], 0
                    )
    return r


def boxes_of(grid, how, ranks):
    """The cells of each rank: a box, or None."""
    if how == "on the last rank":
        return [None] * (ranks - 1) + [((0, 0, 0), grid.cells)]
    if how == "slabs":
        n = grid.cells[2]
        ends = [n * r // ranks for r in range(ranks + 1)]
        return [((0, 0, a), (*grid.cells[:2], b)) if b > a else None for a, b in zip(ends, ends[1:])]
    return cut((0, 0, 0), grid.cells, ranks)


def uneven(kind, first=(0, 0, 0), cells=(11, 9, 8)):
    """A grid with cells of different widths; for an image, of equal widths."""
    ends = []
    for axis, n in enumerate(cells):
        widths = np.full(n, 0.13 + 0.02 * axis)
        if kind != "image":
            widths *= 1 + 0.4 * np.sin(np.arange(n) * (axis + 2))
        ends.append(0.3 * axis - 0.5 + np.concatenate([[0], np.cumsum(widths)]))
    return Grid(kind, ends, first)
