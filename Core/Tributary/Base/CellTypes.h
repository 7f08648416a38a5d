// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace tributary {

/// Cell types as VTK numbers them: the linear ones, and those that list faces.
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

/// Bits of vtkGhostType: a copy of another piece's cell, and a cell that is not there.
constexpr std::uint8_t DuplicateCell = 1;
constexpr std::uint8_t HiddenCell = 32;

/// Dimension of a cell type; types that VTK does not have count as 3-D.
int dimensionOf(std::uint8_t type);

/// The linear type with the same corners, which come first in the cells of curved types: Triangle
/// for a quadratic or Lagrange triangle. Linear types are their own; 0 for empty cells and for
/// types without corners of a known order (convex point sets, parametric ones).
std::uint8_t linearType(std::uint8_t type);

/// Edges and faces of a 3-D linear cell, by its points in VTK's order. The faces come in the order
/// of the parametric coordinates that they bound (see Advection/MeshKernel.h): a tetrahedron's face
/// i is opposite to its point i, a hexahedron's are r = 0, r = 1, s = 0 and so on.
struct CellTopology {
  int points;
  int edges;
  std::int8_t edge[18][2];
  int faces;
  std::int8_t faceSize[8];
  std::int8_t face[8][6];
};
/// @return null for other types and polyhedra
const CellTopology* topologyOf(std::uint8_t linearType);

}  // namespace tributary
