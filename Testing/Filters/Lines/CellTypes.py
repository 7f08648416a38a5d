# SPDX-License-Identifier: BSD-3-Clause
"""Every kind of cell that VTK can make a mesh of: a linear flow is what it is whatever the cells, so
lines in a saddle are hyperbolas that end at the border, and a rotation has the same vorticity everywhere."""

import numpy as np
from vtkmodules.vtkCommonDataModel import vtkCellTypes

import check
import meshes
from check import flows

PLANE = (
    5, 8, 9,  # triangle, pixel, quad
    22, 23,  # quadratic triangle and quad
    69, 70,  # Lagrange quad and triangle, of order 2
    76, 77,  # Bezier triangle and quad, of order 2
)
SOLID = (
    10, 11, 12, 13, 14,  # tetra, voxel, hexahedron, wedge, pyramid
    15, 16,  # pentagonal and hexagonal prism
    24, 25, 26, 27,  # quadratic tetra, hexahedron, wedge, pyramid
    71, 72, 73,  # Lagrange tetra, hexahedron, wedge, of order 2
    78, 79, 80,  # Bezier tetra, hexahedron, wedge, of order 2
)
# VTK finds parametric coordinates in cells of second order by iterations that end at 1e-3.
DRIFT = 1e-3
# Of points, and a shift after it: cells larger and smaller than any number, and far from the origin.
SCALES = ((1.0, 0.0), (1e6, 0.0), (1e-5, 0.0), (1.0, 8192.0))
# The derivatives of VTK's shape functions do not add up to 0 exactly.
NOT_SHIFTED = (15, 16)


def check_vorticity(cell_type, name):
    for scale, shift in SCALES:
        if shift > 0.0 and cell_type in NOT_SHIFTED:
            continue
        data = meshes.cells(cell_type=cell_type, flow="rotation", size=4, scale=scale, shift=shift)
        box = np.array([0.25, 0.75] * 3) * meshes.SIDE * scale + shift
        if cell_type in PLANE:
            box[4:] = shift
        lines = check.tracer(data, flows.seeds(6, box.tolist()), MaximumStreamlineLength=meshes.SIDE * scale)
        out = check.Lines(check.fetch(lines))
        assert out.count == 12, f"{name}, scale {scale}, shift {shift}: {out.count} lines"
        expected = 4.0 / (meshes.SIDE * scale)  # that of the flow, whose domain has edges of length 2
        error = abs(out.point_data["Vorticity"] - [0.0, 0.0, expected]).max() / expected
        assert error < 1e-4, f"{name}, scale {scale}, shift {shift}: vorticity, error {error}"
        check.delete(lines, data)


def main():
    for cell_type in PLANE + SOLID:
        name = vtkCellTypes.GetClassNameFromTypeId(cell_type)
        data = meshes.cells(cell_type=cell_type, flow="saddle", size=4)
        box = [0.1 * meshes.SIDE, 0.9 * meshes.SIDE] * 3
        if cell_type in PLANE:
            box[4:] = [0.0, 0.0]
        seeds = flows.seeds(24, box)
        properties = {
            "IntegrationDirection": "FORWARD", "IntegratorType": "Runge-Kutta 4",
            "InitialStepLength": 0.1, "MaximumStreamlineLength": 3.0 * meshes.SIDE,
        }
        lines = check.tracer(data, seeds, **properties)
        out = check.Lines(check.fetch(lines))
        assert out.count == 24, f"{name}: {out.count} lines"
        assert set(out.cell_data["ReasonForTermination"].tolist()) == {1}, name
        products = []
        for index in range(out.count):
            p = out.points[out.line(index)].astype(float) / meshes.SIDE * 2.0 - 1.0
            assert abs(p[-1, 0]) > 0.9, f"{name}: line {index} ends at {p[-1]}"
            p = p[:-1]  # the last step leaves the domain, where there is no saddle
            products.append(np.ptp(p[:, 0] * p[:, 1]))
            assert np.ptp(p[:, 2]) < 1e-4, f"{name}: line {index} leaves its plane"
        assert max(products) < DRIFT, f"{name}: a line drifts by {max(products)} from its hyperbola"
        assert abs(out.point_data["Vorticity"]).max() < 1e-4, f"{name}: vorticity"
        check.delete(lines, seeds, data)
        check_vorticity(cell_type, name)
        print(f"{name}: {max(products):.1e}", flush=True)


if __name__ == "__main__":
    check.run(__file__)
