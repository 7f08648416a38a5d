// SPDX-License-Identifier: BSD-3-Clause
#include "FlowMap/MapSeeds.h"

#include <vtkDataSet.h>

#include <algorithm>
#include <cstddef>
#include <string>

#include "Common/Leaves.h"

#include "Tributary/Base/Error.h"
#include "Tributary/Base/Index.h"

namespace tributary {

double MapGrid::coordinate(std::size_t axis, std::int64_t number) const {
  if (number >= dimensions[axis]) return origin[axis] + spacing[axis] * static_cast<double>(number);
  // The sum may be beyond the end by its rounding error, where a particle is outside of the data.
  return std::min(origin[axis] + spacing[axis] * static_cast<double>(number), end[axis]);
}

MapGrid makeMapGrid(const Box& bounds, const int dimensions[3]) {
  MapGrid grid;
  for (std::size_t a = 0; a < 3; ++a) {
    const double width = bounds.hi[a] - bounds.lo[a];
    grid.dimensions[a] = dimensions[a];
    grid.end[a] = bounds.hi[a];
    if (dimensions[a] == 1) {
      grid.origin[a] = grid.end[a] = bounds.lo[a] + width / 2;
      continue;
    }
    grid.origin[a] = bounds.lo[a];
    grid.spacing[a] = width / (dimensions[a] - 1);
    if (!(bounds.lo[a] + grid.spacing[a] > bounds.lo[a]))
      throw Error(std::string("Sampling Dimensions has ") + std::to_string(dimensions[a]) +
                  " points along " + "XYZ"[a] +
                  ", where the region of the seeds is flat; set it to 1 along this axis");
  }
  return grid;
}

std::int64_t GridSeeds::Points::count() const {
  for (std::size_t a = 0; a < 3; ++a)
    if (high[a] < low[a]) return 0;
  return along(0) * along(1) * along(2);
}

GridSeeds::Indices GridSeeds::Points::at(std::int64_t number) const {
  return {low[0] + number % along(0), low[1] + number / along(0) % along(1),
          low[2] + number / along(0) / along(1)};
}

std::int64_t GridSeeds::Points::numberOf(const Indices& at) const {
  return ((at[2] - low[2]) * along(1) + at[1] - low[1]) * along(0) + at[0] - low[0];
}

GridSeeds::GridSeeds(const MapGrid& grid, const int extent[6], const std::array<bool, 3>& periodic)
    : grid_(grid) {
  for (std::size_t a = 0; a < 3; ++a) {
    along_[a] = grid.dimensions[a] > 1;
    own_.low[a] = extent[2 * a];
    own_.high[a] = extent[2 * a + 1];
  }
  if (own_.count() == 0) {
    own_ = {};
    return;
  }
  for (std::size_t a = 0; a < 3; ++a) {
    const std::int64_t beyond = periodic[a] && along_[a] ? 1 : 0;
    all_.low[a] = std::max<std::int64_t>(own_.low[a] - 1, -beyond);
    all_.high[a] = std::min(own_.high[a] + 1, grid.dimensions[a] - 1 + beyond);
  }
}

std::int64_t GridSeeds::count() const {
  return all_.count();
}

void GridSeeds::position(std::int64_t seed, double x[3]) const {
  const Indices at = all_.at(seed);
  for (std::size_t a = 0; a < 3; ++a) x[a] = grid_.coordinate(a, at[a]);
}

std::int64_t GridSeeds::points() const {
  return own_.count();
}

std::int64_t GridSeeds::seedAt(std::int64_t point) const {
  return all_.numberOf(own_.at(point));
}

std::array<std::int64_t, 2> GridSeeds::neighbors(std::int64_t point, int axis) const {
  const auto a = static_cast<std::size_t>(axis);
  Indices below = own_.at(point), above = below;
  --below[a];
  ++above[a];
  return {below[a] < all_.low[a] ? -1 : all_.numberOf(below),
          above[a] > all_.high[a] ? -1 : all_.numberOf(above)};
}

PointSeeds::PointSeeds(vtkDataObject* data, const std::array<bool, 3>& along, double distance)
    : distance_(distance) {
  along_ = along;
  for (int a = 0; a < 3; ++a)
    if (isAlong(a)) axes_.push_back(a);
  perPoint_ = 1 + 2 * static_cast<std::int64_t>(axes_.size());
  for (const Leaf& leaf : leavesOf(data))
    for (vtkIdType i = 0; i < leaf.points(); ++i)
      leaf.dataSet->GetPoint(i, places_.emplace_back().data());
}

void PointSeeds::position(std::int64_t seed, double x[3]) const {
  std::copy_n(places_[index(seed / perPoint_)].data(), 3, x);
  const std::int64_t which = seed % perPoint_ - 1;
  if (which < 0) return;
  x[axes_[index(which / 2)]] += which % 2 == 0 ? -distance_ : distance_;
}

std::array<std::int64_t, 2> PointSeeds::neighbors(std::int64_t point, int axis) const {
  const auto at = std::find(axes_.begin(), axes_.end(), axis);
  if (at == axes_.end()) return {-1, -1};
  const std::int64_t below = seedAt(point) + 1 + 2 * (at - axes_.begin());
  return {below, below + 1};
}

}  // namespace tributary
