// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Base/StructuredCells.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>

#include "Tributary/Base/Error.h"

namespace tributary {

StructuredCells::StructuredCells(const std::array<std::int64_t, 3>& points) : points_(points) {
  std::array<std::int64_t, 3> steps{};
  std::int64_t stride = 1, most = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t count : points) {
    if (count < 1 || count > most)
      throw Error("a structured grid has " + std::to_string(points[0]) + " x " +
                  std::to_string(points[1]) + " x " + std::to_string(points[2]) +
                  " points; give at least 1 along each axis, and at most 2^63 in all");
    most /= count;
  }
  for (std::size_t a = 0; a < 3; ++a) {
    cells_[a] = std::max<std::int64_t>(points[a] - 1, 1);
    if (points[a] > 1) steps[std::size_t(dimension_++)] = stride;
    stride *= points[a];
  }
  const auto [u, v, w] = steps;
  corners_ = {0, u, u + v, v, w, u + w, u + v + w, v + w};
}

std::int64_t StructuredCells::neighborOf(std::int64_t cell, int face) const {
  std::int64_t stride = 1;
  int axis = face / 2;
  for (std::size_t a = 0; a < 3; ++a) {
    if (points_[a] > 1 && axis-- == 0) {
      const std::int64_t at = cell / stride % cells_[a], next = at + (face % 2 == 0 ? -1 : 1);
      return next < 0 || next >= cells_[a] ? -1 : cell + (next - at) * stride;
    }
    stride *= cells_[a];
  }
  return -1;
}

}  // namespace tributary
