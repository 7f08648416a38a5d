// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Model/Subregion.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace tributary {

namespace {

/// The box of the grid's points that are in a box or next to it.
CellRange grown(const CellRange& box, const std::array<std::int64_t, 3>& points,
                std::size_t dimension) {
  CellRange all = box;
  for (std::size_t a = 0; a < dimension; ++a) {
    all.lo[a] = std::max<std::int64_t>(0, box.lo[a] - 1);
    all.hi[a] = std::min(points[a], box.hi[a] + 1);
  }
  return all;
}

bool contains(const CellRange& box, std::int64_t i, std::int64_t j, std::int64_t k) {
  return i >= box.lo[0] && i < box.hi[0] && j >= box.lo[1] && j < box.hi[1] && k >= box.lo[2] &&
         k < box.hi[2];
}

template <class Visit>
void forEachPoint(const CellRange& box, Visit&& visit) {
  for (std::int64_t k = box.lo[2]; k < box.hi[2]; ++k)
    for (std::int64_t j = box.lo[1]; j < box.hi[1]; ++j)
      for (std::int64_t i = box.lo[0]; i < box.hi[0]; ++i) visit(i, j, k);
}

}  // namespace

std::vector<CellRange> cutIntoBoxes(const std::array<std::int64_t, 3>& points,
                                    std::size_t dimension, std::int64_t parts) {
  // Of all ways to write `parts` as a product that with the least area between boxes.
  std::array<std::int64_t, 3> best{1, 1, parts};
  double least = std::numeric_limits<double>::infinity();
  for (std::int64_t x = 1; x <= parts; ++x) {
    if (parts % x != 0) continue;
    for (std::int64_t y = 1; y <= parts / x; ++y) {
      if (parts / x % y != 0) continue;
      const std::array<std::int64_t, 3> cuts{x, y, parts / x / y};
      if (dimension == 2 && cuts[2] > 1) continue;
      double area = 0;
      for (std::size_t a = 0; a < 3; ++a) {
        const double along =
            static_cast<double>(points[(a + 1) % 3]) * static_cast<double>(points[(a + 2) % 3]);
        area += static_cast<double>(cuts[a] - 1) * along;
        if (cuts[a] > points[a]) area += 1e30;  // some would be empty
      }
      if (area < least) {
        least = area;
        best = cuts;
      }
    }
  }
  std::vector<CellRange> boxes;
  for (std::int64_t z = 0; z < best[2]; ++z)
    for (std::int64_t y = 0; y < best[1]; ++y)
      for (std::int64_t x = 0; x < best[0]; ++x) {
        const std::array<std::int64_t, 3> at{x, y, z};
        CellRange box;
        for (std::size_t a = 0; a < 3; ++a) {
          box.lo[a] = points[a] * at[a] / best[a];
          box.hi[a] = points[a] * (at[a] + 1) / best[a];
        }
        boxes.push_back(box);
      }
  return boxes;
}

Subregion::Subregion(const LaplaceProblem& problem, std::vector<CellRange> boxes, std::size_t rank)
    : points_(problem.points),
      dimension_(dimensionOf(problem.stencil)),
      boxes_(std::move(boxes)),
      rank_(rank) {
  const CellRange& own = boxes_[rank_];
  if (own.empty()) return;
  halo_ = haloOf(own);
  forEachPoint(own, [&](std::int64_t i, std::int64_t j, std::int64_t k) {
    const std::array<std::int64_t, 3> at{i, j, k};
    for (std::size_t a = 0; a < dimension_; ++a) {
      const bool first = at[a] == own.lo[a] && own.lo[a] > 0;
      const bool last = at[a] == own.hi[a] - 1 && own.hi[a] < points_[a];
      if (!first && !last) continue;
      boundary_.push_back(place(i, j, k));
      return;
    }
  });
}

std::vector<std::int64_t> Subregion::haloOf(const CellRange& box) const {
  std::vector<std::int64_t> places;
  forEachPoint(grown(box, points_, dimension_),
               [&](std::int64_t i, std::int64_t j, std::int64_t k) {
                 if (!contains(box, i, j, k)) places.push_back(place(i, j, k));
               });
  return places;
}

std::vector<std::size_t> Subregion::indicesOf(const std::vector<std::int64_t>& places,
                                              std::size_t owner, std::size_t user) const {
  std::vector<std::size_t> indices;
  if (owner == user || boxes_[user].empty()) return indices;
  const CellRange both = overlapOf(boxes_[owner], grown(boxes_[user], points_, dimension_));
  forEachPoint(both, [&](std::int64_t i, std::int64_t j, std::int64_t k) {
    const auto at = std::lower_bound(places.begin(), places.end(), place(i, j, k));
    indices.push_back(static_cast<std::size_t>(at - places.begin()));
  });
  return indices;
}

std::vector<std::size_t> Subregion::neededBy(std::size_t other) const {
  return indicesOf(boundary_, rank_, other);
}

std::vector<std::size_t> Subregion::neededFrom(std::size_t other) const {
  return indicesOf(halo_, other, rank_);
}

}  // namespace tributary
