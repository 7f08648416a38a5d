// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Advection/detail/StructuredGrid.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tributary::detail {

double GridAxis::point(std::int32_t index) const {
  return uniform || cells == 0 ? origin + spacing * index
                               : coordinates[static_cast<std::size_t>(index)];
}

double GridAxis::width(std::int32_t cell) const {
  if (cells == 0) return 0;
  return uniform ? spacing : point(cell + 1) - point(cell);
}

void StructuredGrid::setParts(std::vector<Part> parts) {
  parts_ = std::move(parts);
  std::size_t boxes = 1;
  for (std::size_t a = 0; a < 3; ++a) {
    auto& cuts = cuts_[a];
    cuts.clear();
    for (const Part& part : parts_) {
      cuts.push_back(part.lo[a]);
      cuts.push_back(part.hi[a]);
    }
    std::sort(cuts.begin(), cuts.end());
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    boxes *= std::max<std::size_t>(cuts.size(), 1);
  }
  // Irregular cuts can make far more lattice boxes than parts; then owner() looks through the list.
  lattice_.clear();
  if (boxes > 64 * parts_.size() + 4096) return;
  lattice_.assign(boxes, -1);
  const auto index = [&](std::size_t a, std::int32_t cut) {
    return static_cast<std::size_t>(std::lower_bound(cuts_[a].begin(), cuts_[a].end(), cut) -
                                    cuts_[a].begin());
  };
  for (std::size_t n = parts_.size(); n-- > 0;) {  // backwards: the lowest block wins an overlap
    const Part& part = parts_[n];
    for (auto k = index(2, part.lo[2]); k < index(2, part.hi[2]); ++k)
      for (auto j = index(1, part.lo[1]); j < index(1, part.hi[1]); ++j)
        for (auto i = index(0, part.lo[0]); i < index(0, part.hi[0]); ++i)
          lattice_[(k * cuts_[1].size() + j) * cuts_[0].size() + i] = static_cast<std::int32_t>(n);
  }
}

BlockId StructuredGrid::owner(const std::int32_t cell[3]) const {
  if (lattice_.empty()) {
    for (const Part& part : parts_) {
      bool inside = true;
      for (std::size_t a = 0; a < 3; ++a)
        inside = inside && cell[a] >= part.lo[a] && cell[a] < part.hi[a];
      if (inside) return part.block;
    }
    return -1;
  }
  std::array<std::size_t, 3> at{};
  for (std::size_t a = 0; a < 3; ++a) {
    const auto next = std::upper_bound(cuts_[a].begin(), cuts_[a].end(), cell[a]);
    if (next == cuts_[a].begin() || next == cuts_[a].end()) return -1;
    at[a] = static_cast<std::size_t>(next - cuts_[a].begin()) - 1;
  }
  const auto part = lattice_[(at[2] * cuts_[1].size() + at[1]) * cuts_[0].size() + at[0]];
  return part < 0 ? -1 : parts_[static_cast<std::size_t>(part)].block;
}

bool StructuredGrid::locate(const double point[3], std::array<std::int32_t, 3>& cell,
                            double f[3]) const {
  for (std::size_t a = 0; a < 3; ++a) {
    const GridAxis& axis = axes[a];
    const double p = point[a];
    cell[a] = 0;
    f[a] = 0;
    if (axis.cells == 0) {
      if (!(std::fabs(p - axis.origin) <= axis.slack)) return false;
      continue;
    }
    if (axis.uniform) {
      const double u = (p - axis.origin) * axis.inverse;
      const auto cells = static_cast<double>(axis.cells);
      if (!(u >= -GridSlack && u <= cells + GridSlack)) return false;
      if (u >= cells)
        cell[a] = static_cast<std::int32_t>(cells) - 1;
      else if (u > 0)
        cell[a] = static_cast<std::int32_t>(u + 1.0) - 1;
      if (cell[a] == axis.cells) --cell[a];  // u + 1 may round up to the next index
      f[a] = u - cell[a];
    } else {
      const auto& c = axis.coordinates;
      const auto last = static_cast<std::size_t>(axis.cells);
      if (!(p >= c[0] - GridSlack * (c[1] - c[0]) &&
            p <= c[last] + GridSlack * (c[last] - c[last - 1])))
        return false;
      if (p < c[0]) continue;
      if (p >= c[last]) {
        cell[a] = static_cast<std::int32_t>(last) - 1;
        f[a] = 1;
        continue;
      }
      const auto next = std::upper_bound(c.begin(), c.end(), p);
      cell[a] = static_cast<std::int32_t>(next - c.begin()) - 1;
      f[a] = (p - c[static_cast<std::size_t>(cell[a])]) *
             axis.inverseWidth[static_cast<std::size_t>(cell[a])];
    }
  }
  return true;
}

}  // namespace tributary::detail
