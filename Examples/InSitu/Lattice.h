// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>

/// The D3Q19 lattice: a node, its 6 nearest neighbors and its 12 neighbors along diagonals.
/// Qian, d'Humieres, Lallemand, Europhys. Lett. 17 (1992) 479,
/// https://doi.org/10.1209/0295-5075/17/6/001
namespace lattice {

constexpr unsigned Directions = 19;

/// Each odd direction is followed by the opposite one.
constexpr std::array<std::array<int, 3>, Directions> Velocity = {{
    {0, 0, 0},  {1, 0, 0},   {-1, 0, 0},  {0, 1, 0},  {0, -1, 0}, {0, 0, 1},   {0, 0, -1},
    {1, 1, 0},  {-1, -1, 0}, {1, -1, 0},  {-1, 1, 0}, {1, 0, 1},  {-1, 0, -1}, {1, 0, -1},
    {-1, 0, 1}, {0, 1, 1},   {0, -1, -1}, {0, 1, -1}, {0, -1, 1},
}};

constexpr unsigned opposite(unsigned q) {
  return q == 0 ? 0 : (q % 2 == 1 ? q + 1 : q - 1);
}

constexpr double weight(unsigned q) {
  return q == 0 ? 1.0 / 3 : (q < 7 ? 1.0 / 18 : 1.0 / 36);
}

/// The component of a velocity along direction q.
inline double along(unsigned q, double u, double v, double w) {
  return Velocity[q][0] * u + Velocity[q][1] * v + Velocity[q][2] * w;
}

/// The part of the equilibrium that opposite directions share.
inline double evenEquilibrium(unsigned q, double density, double u, double v, double w) {
  const double component = along(q, u, v, w);
  return weight(q) * density * (1 + 4.5 * component * component - 1.5 * (u * u + v * v + w * w));
}

/// The part of the equilibrium that has the other sign in the opposite direction.
inline double oddEquilibrium(unsigned q, double density, double u, double v, double w) {
  return weight(q) * density * 3 * along(q, u, v, w);
}

inline double equilibrium(unsigned q, double density, double u, double v, double w) {
  return evenEquilibrium(q, density, u, v, w) + oddEquilibrium(q, density, u, v, w);
}

}  // namespace lattice
