// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "Advection/Flows.h"
#include "Tributary/Advection/Targets/EventSurface.h"

/// Triangulated surfaces, and where lines cross their triangles.
namespace tributary::testing {

inline SurfaceTriangle triangle(const Vector& a, const Vector& b, const Vector& c,
                                std::int64_t label = 0) {
  return {{{a[0], a[1], a[2]}, {b[0], b[1], b[2]}, {c[0], c[1], c[2]}}, label};
}

/// An octahedron of |x| + |y| + |z| = size about a center, normals outward, each face in parts^2
/// triangles. The label is the number of the octant.
inline std::vector<SurfaceTriangle> octahedron(const Vector& center, double size, int parts = 1) {
  std::vector<SurfaceTriangle> triangles;
  for (int octant = 0; octant < 8; ++octant) {
    const double s[3] = {octant & 1 ? -size : size, octant & 2 ? -size : size,
                         octant & 4 ? -size : size};
    const bool isOdd = (s[0] < 0) ^ (s[1] < 0) ^ (s[2] < 0);
    const auto at = [&](int i, int j) {
      return Vector{center[0] + s[0] * i / parts, center[1] + s[1] * j / parts,
                    center[2] + s[2] * (parts - i - j) / parts};
    };
    const auto put = [&](const Vector& a, const Vector& b, const Vector& c) {
      triangles.push_back(isOdd ? triangle(a, c, b, octant) : triangle(a, b, c, octant));
    };
    for (int i = 0; i < parts; ++i)
      for (int j = 0; i + j < parts; ++j) {
        put(at(i, j), at(i + 1, j), at(i, j + 1));
        if (i + j + 1 < parts) put(at(i + 1, j + 1), at(i, j + 1), at(i + 1, j));
      }
  }
  return triangles;
}

/// The same with all corners on a sphere.
inline std::vector<SurfaceTriangle> sphereMesh(const Vector& center, double radius, int parts) {
  std::vector<SurfaceTriangle> triangles = octahedron({0, 0, 0}, 1, parts);
  for (SurfaceTriangle& t : triangles)
    for (auto& x : t.corner) {
      const double length = std::sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
      for (std::size_t a = 0; a < 3; ++a) x[a] = center[a] + radius * x[a] / length;
    }
  return triangles;
}

/// Not normalized.
inline Vector normalOf(const SurfaceTriangle& t) {
  const auto* const x = t.corner;
  Vector normal{};
  for (std::size_t a = 0; a < 3; ++a) {
    const std::size_t b = (a + 1) % 3, c = (a + 2) % 3;
    normal[a] =
        (x[1][b] - x[0][b]) * (x[2][c] - x[0][c]) - (x[1][c] - x[0][c]) * (x[2][b] - x[0][b]);
  }
  return normal;
}

/// Whether a point in the plane of a triangle is in it.
inline bool holds(const SurfaceTriangle& t, const Vector& x) {
  const Vector normal = normalOf(t);
  for (int i = 0; i < 3; ++i) {
    const SurfaceTriangle part =
        triangle({t.corner[i][0], t.corner[i][1], t.corner[i][2]},
                 {t.corner[(i + 1) % 3][0], t.corner[(i + 1) % 3][1], t.corner[(i + 1) % 3][2]}, x);
    const Vector other = normalOf(part);
    if (other[0] * normal[0] + other[1] * normal[1] + other[2] * normal[2] < 0) return false;
  }
  return true;
}

/// Where the line from a point in a direction crosses a triangle.
inline std::optional<double> crossingOf(const SurfaceTriangle& t, const Vector& from,
                                        const Vector& along) {
  const Vector normal = normalOf(t);
  double height = 0, slope = 0;
  for (std::size_t a = 0; a < 3; ++a) {
    height += normal[a] * (t.corner[0][a] - from[a]);
    slope += normal[a] * along[a];
  }
  if (slope == 0) return {};
  const double at = height / slope;
  const Vector x{from[0] + at * along[0], from[1] + at * along[1], from[2] + at * along[2]};
  if (!holds(t, x)) return {};
  return at;
}

}  // namespace tributary::testing
