// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "Tributary/Advection/Vector.h"
#include "Tributary/Advection/detail/kernels/MeshKernel.h"
#include "Tributary/Base/CellTypes.h"

// What the walk has to know of each CellShape but how to tell inside from outside (MeshCell.inl):
// to add a shape, go through the switches of these two files.

namespace tributary::detail {

constexpr int MostPoints = 8;      ///< Of a cell of any shape but Foreign.
constexpr int MostFaces = 6;       ///< And of CellRecord::link.
constexpr int MostFacePoints = 4;  ///< And of a face.

/// Foreign for types that the walk does not know by themselves, prisms and polyhedra among them.
[[nodiscard]] CellShape shapeOf(std::uint8_t type);

/// Points and faces of a shape; a 2-D cell has its edges as faces, and a foreign cell nothing.
[[nodiscard]] const CellTopology& topologyOf(CellShape shape);

/// The eight terms of the polynomial (see CellRecord) that takes the given values at a cell's
/// points.
void termsOf(CellShape shape, const V4* at, V4* terms);

/// The terms of a cell's geometry; a 2-D cell gets its normal, as long as the cell, as third axis.
void geometryOf(CellShape shape, const V4* x, double length, V4* terms);

/// The parametric coordinates of a point well inside.
[[nodiscard]] V4 middleOf(CellShape shape);

/// Rows of the adjoint Jacobian at a point of a cell. @return the determinant
double affineMap(const double* geometry, V4 at, V4 rows[3]);

/// Shape functions of a cell's points and their derivatives by r, s, t.
void shapeFunctions(CellShape shape, V4 at, double* n, double (*d)[3]);

}  // namespace tributary::detail
