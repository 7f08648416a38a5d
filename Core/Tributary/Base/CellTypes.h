// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace tributary {

/// Cell types with the numbers that VTK gives them: linear cells and polyhedra.
enum CellType : std::uint8_t {
  Vertex = 1,
  PolyVertex = 2,
  Line = 3,
  PolyLine = 4,
  Triangle = 5,
  Strip = 6,
  Polygon = 7,
  Pixel = 8,
  Quad = 9,
  Tetra = 10,
  Voxel = 11,
  Hexahedron = 12,
  Wedge = 13,
  Pyramid = 14,
  PentagonalPrism = 15,
  HexagonalPrism = 16,
  Polyhedron = 42
};

/// Bits of vtkGhostType: a copy of a cell of another piece, and a blanked cell.
constexpr std::uint8_t DuplicateCell = 1;
/// Bit of vtkGhostType: a blanked cell.
constexpr std::uint8_t HiddenCell = 32;

/// The dimension of a cell type; 3 for types unknown to VTK.
[[nodiscard]] int dimensionOf(std::uint8_t type);

/// The linear type with the same corners: Triangle for a quadratic or Lagrange triangle. The
/// corners are the first points of a curved cell. A linear type is returned unchanged. Returns 0
/// for empty cells and for types whose corners have no known order (convex point sets, parametric
/// cells).
[[nodiscard]] std::uint8_t linearType(std::uint8_t type);

/// Edges and faces of a linear 3-D cell, as indices of its points in VTK's order. Faces are in the
/// order of the parametric coordinates that they bound (see Advection/detail/kernels/MeshKernel.h):
/// face i of a tetrahedron is opposite to point i; the faces of a hexahedron are r = 0, r = 1, s =
/// 0 and so on.
struct CellTopology {
  int points;  ///< number of points
  int edges;   ///< number of edges
  std::int8_t edge[18][2];
  int faces;  ///< number of faces
  std::int8_t faceSize[8];
  std::int8_t face[8][6];
};
/// The topology of a linear 3-D type. @return null for other types and polyhedra
[[nodiscard]] const CellTopology* topologyOf(std::uint8_t linearType);

}  // namespace tributary
