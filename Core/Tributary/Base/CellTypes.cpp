// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Base/CellTypes.h"

namespace tributary {
namespace {

constexpr CellTopology TetraTopology{4,
                                     6,
                                     {{0, 1}, {1, 2}, {0, 2}, {0, 3}, {1, 3}, {2, 3}},
                                     4,
                                     {3, 3, 3, 3},
                                     {{1, 2, 3}, {0, 2, 3}, {0, 1, 3}, {0, 1, 2}}};
constexpr CellTopology VoxelTopology{
    8,
    12,
    {{0, 1},
     {2, 3},
     {4, 5},
     {6, 7},
     {0, 2},
     {1, 3},
     {4, 6},
     {5, 7},
     {0, 4},
     {1, 5},
     {2, 6},
     {3, 7}},
    6,
    {4, 4, 4, 4, 4, 4},
    {{0, 2, 6, 4}, {1, 3, 7, 5}, {0, 1, 5, 4}, {2, 3, 7, 6}, {0, 1, 3, 2}, {4, 5, 7, 6}}};
constexpr CellTopology HexahedronTopology{
    8,
    12,
    {{0, 1},
     {3, 2},
     {4, 5},
     {7, 6},
     {0, 3},
     {1, 2},
     {4, 7},
     {5, 6},
     {0, 4},
     {1, 5},
     {3, 7},
     {2, 6}},
    6,
    {4, 4, 4, 4, 4, 4},
    {{0, 3, 7, 4}, {1, 2, 6, 5}, {0, 1, 5, 4}, {3, 2, 6, 7}, {0, 1, 2, 3}, {4, 5, 6, 7}}};
constexpr CellTopology WedgeTopology{
    6,
    9,
    {{0, 1}, {1, 2}, {0, 2}, {3, 4}, {4, 5}, {3, 5}, {0, 3}, {1, 4}, {2, 5}},
    5,
    {4, 4, 4, 3, 3},
    {{0, 2, 5, 3}, {0, 1, 4, 3}, {1, 2, 5, 4}, {0, 1, 2}, {3, 4, 5}}};
constexpr CellTopology PyramidTopology{
    5,
    8,
    {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {0, 4}, {1, 4}, {2, 4}, {3, 4}},
    5,
    {3, 3, 3, 3, 4},
    {{0, 3, 4}, {1, 2, 4}, {0, 1, 4}, {3, 2, 4}, {0, 1, 2, 3}}};
constexpr CellTopology PentagonalPrismTopology{10,
                                               15,
                                               {{0, 1},
                                                {1, 2},
                                                {2, 3},
                                                {3, 4},
                                                {4, 0},
                                                {5, 6},
                                                {6, 7},
                                                {7, 8},
                                                {8, 9},
                                                {9, 5},
                                                {0, 5},
                                                {1, 6},
                                                {2, 7},
                                                {3, 8},
                                                {4, 9}},
                                               7,
                                               {5, 5, 4, 4, 4, 4, 4},
                                               {{0, 1, 2, 3, 4},
                                                {5, 6, 7, 8, 9},
                                                {0, 1, 6, 5},
                                                {1, 2, 7, 6},
                                                {2, 3, 8, 7},
                                                {3, 4, 9, 8},
                                                {4, 0, 5, 9}}};
constexpr CellTopology HexagonalPrismTopology{12,
                                              18,
                                              {{0, 1},
                                               {1, 2},
                                               {2, 3},
                                               {3, 4},
                                               {4, 5},
                                               {5, 0},
                                               {6, 7},
                                               {7, 8},
                                               {8, 9},
                                               {9, 10},
                                               {10, 11},
                                               {11, 6},
                                               {0, 6},
                                               {1, 7},
                                               {2, 8},
                                               {3, 9},
                                               {4, 10},
                                               {5, 11}},
                                              8,
                                              {6, 6, 4, 4, 4, 4, 4, 4},
                                              {{0, 1, 2, 3, 4, 5},
                                               {6, 7, 8, 9, 10, 11},
                                               {0, 1, 7, 6},
                                               {1, 2, 8, 7},
                                               {2, 3, 9, 8},
                                               {3, 4, 10, 9},
                                               {4, 5, 11, 10},
                                               {5, 0, 6, 11}}};

}  // namespace

int dimensionOf(std::uint8_t type) {
  switch (type) {
    case 0:
    case 1:
    case 2:
      return 0;
    case 3:
    case 4:
    case 21:
    case 35:
    case 51:
    case 60:
    case 68:
    case 75:
      return 1;
    case 5:
    case 6:
    case 7:
    case 8:
    case 9:
    case 22:
    case 23:
    case 28:
    case 30:
    case 34:
    case 36:
    case 52:
    case 56:
    case 61:
    case 62:
    case 63:
    case 69:
    case 70:
    case 76:
    case 77:
      return 2;
    default:
      return 3;
  }
}

std::uint8_t linearType(std::uint8_t type) {
  if (type <= HexagonalPrism || type == Polyhedron) return type;
  switch (type) {
    case 21:  // quadratic, cubic, Lagrange, Bezier
    case 35:
    case 68:
    case 75:
      return Line;
    case 22:  // quadratic, biquadratic, Lagrange, Bezier
    case 34:
    case 69:
    case 76:
      return Triangle;
    case 23:  // quadratic, biquadratic, quadratic-linear, Lagrange, Bezier
    case 28:
    case 30:
    case 70:
    case 77:
      return Quad;
    case 36:  // its second half are the middles of its edges
      return Polygon;
    case 24:
    case 71:
    case 78:
      return Tetra;
    case 25:  // quadratic, triquadratic, biquadratic-quadratic, Lagrange, Bezier
    case 29:
    case 33:
    case 72:
    case 79:
      return Hexahedron;
    case 26:  // quadratic, quadratic-linear, biquadratic-quadratic, Lagrange, Bezier
    case 31:
    case 32:
    case 73:
    case 80:
      return Wedge;
    case 27:  // quadratic, triquadratic, Lagrange, Bezier
    case 37:
    case 74:
    case 81:
      return Pyramid;
    default:
      return 0;
  }
}

const CellTopology* topologyOf(std::uint8_t linearType) {
  switch (linearType) {
    case Tetra:
      return &TetraTopology;
    case Voxel:
      return &VoxelTopology;
    case Hexahedron:
      return &HexahedronTopology;
    case Wedge:
      return &WedgeTopology;
    case Pyramid:
      return &PyramidTopology;
    case PentagonalPrism:
      return &PentagonalPrismTopology;
    case HexagonalPrism:
      return &HexagonalPrismTopology;
    default:
      return nullptr;
  }
}

}  // namespace tributary
