// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Relaxation/CellGrid.h"

#include <algorithm>
#include <string>

#include "Tributary/Base/Box.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Base/Index.h"

namespace tributary {
namespace {

/// Visits the rows of `cells`: position of the first cell within `box`, and how many follow.
template <class Visit>
void forEachRow(const CellRange& cells, const CellRange& box, Visit&& visit) {
  for (auto k = cells.lo[2]; k < cells.hi[2]; ++k)
    for (auto j = cells.lo[1]; j < cells.hi[1]; ++j)
      visit(
          ((k - box.lo[2]) * box.along(1) + j - box.lo[1]) * box.along(0) + cells.lo[0] - box.lo[0],
          cells.along(0));
}

}  // namespace

void checkPartition(const std::vector<CellRange>& boxes, const std::array<std::int64_t, 3>& size,
                    int rank, const char* cells, const char* grid) {
  const auto ofRank = [&](std::size_t r) { return cells + (" of rank " + std::to_string(r)); };
  // Before cells are counted, so that no number of them overflows.
  for (std::size_t r = 0; r < boxes.size(); ++r)
    for (std::size_t a = 0; a < 3; ++a)
      if (boxes[r].hi[a] > boxes[r].lo[a] && (boxes[r].lo[a] < 0 || boxes[r].hi[a] > size[a]))
        throw Error(ofRank(r) + " are not in the " + grid + "; give boxes inside it");
  std::int64_t count = 0;
  for (std::size_t r = 0; r < boxes.size(); ++r) {
    count += boxes[r].cells();
    if (r != index(rank) && !overlapOf(boxes[index(rank)], boxes[r]).empty())
      throw Error("the " + ofRank(index(rank)) + " and of rank " + std::to_string(r) +
                  " overlap; give boxes that do not overlap");
  }
  const std::int64_t all = size[0] * size[1] * size[2];
  if (count != all)
    throw Error("the ranks have " + std::to_string(count) + " of the " + grid + "'s " +
                std::to_string(all) + " " + cells + "; give boxes that fill it");
}

CellRange overlapOf(const CellRange& one, const CellRange& other) {
  CellRange both = one;
  intersect(both.lo, both.hi, other.lo, other.hi);
  return both;
}

SideValues makeSides(const CellRange& box) {
  SideValues sides;
  for (std::size_t side = 0; side < Sides; ++side) {
    const auto axis = side / 2;
    const auto thick = box.along(axis);
    sides[side].assign(thick > 0 ? index(box.cells() / thick) : 0, 0.0);
  }
  return sides;
}

std::vector<SidePatch> patchesBetween(const CellGrid& grid, const std::array<bool, 3>& periodic,
                                      const CellRange& needs, const CellRange& has) {
  std::vector<SidePatch> patches;
  if (needs.empty() || has.empty()) return patches;
  for (int side = 0; side < Sides; ++side) {
    const auto axis = static_cast<std::size_t>(side / 2);
    CellRange wanted = needs;
    auto layer = side % 2 ? needs.hi[axis] : needs.lo[axis] - 1;
    if (layer < 0 || layer >= grid.along(axis)) {
      if (!periodic[axis]) continue;
      layer = layer < 0 ? grid.along(axis) - 1 : 0;
    }
    wanted.lo[axis] = layer;
    wanted.hi[axis] = layer + 1;
    const CellRange found = overlapOf(wanted, has);
    if (!found.empty()) patches.push_back({side, found});
  }
  return patches;
}

std::size_t valuesOf(const std::vector<SidePatch>& patches) {
  std::size_t values = 0;
  for (const SidePatch& patch : patches) values += index(patch.cells.cells());
  return values;
}

void packPatches(const std::vector<SidePatch>& patches, const CellRange& has,
                 Span<const double> values, Span<double> out) {
  auto* at = out.data();
  for (const SidePatch& patch : patches)
    forEachRow(patch.cells, has, [&](std::int64_t first, std::int64_t count) {
      at = std::copy_n(values.data() + first, count, at);
    });
}

void unpackPatches(const std::vector<SidePatch>& patches, const CellRange& needs,
                   Span<const double> in, SideValues& sides) {
  const auto* at = in.data();
  for (const SidePatch& patch : patches) {
    const auto axis = static_cast<std::size_t>(patch.side / 2);
    // As if the box had one layer of cells there, at the place of the patch.
    CellRange layer = needs, cells = patch.cells;
    layer.lo[axis] = cells.lo[axis];
    layer.hi[axis] = cells.hi[axis];
    auto& values = sides[static_cast<std::size_t>(patch.side)];
    forEachRow(cells, layer, [&](std::int64_t first, std::int64_t count) {
      std::copy_n(at, count, values.data() + first);
      at += count;
    });
  }
}

}  // namespace tributary
