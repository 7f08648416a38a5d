// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Base/CellBins.h"

#include <algorithm>
#include <cmath>

#include "Tributary/Base/Bytes.h"

namespace tributary {
namespace {

/// The list of a part is divided again from this length on.
constexpr std::size_t LongList = 64;
/// Average number of groups, and of cells that are not grouped, in a bin of level 0.
constexpr double GroupsPerBin = 1, CellsPerBin = 16;
/// Average number of cells in a bin of a divided bin.
constexpr double CellsPerPart = 4;
/// Bins that a box touches, on average.
constexpr double MostEntries = 16, MostEntriesOfGroups = 48;
/// Per axis.
constexpr double MostBins = 1024;
/// Of parts of parts: cells at one place are not divided without end.
constexpr int MostLevels = 20;

/// Whether a box may contain a point: it is not empty, and has numbers.
bool isValid(const Box& box) {
  return intersects(box, box);
}

std::vector<Box> boxesOfGroups(std::int32_t cells, const CellBins::BoxOf& boxOf) {
  std::vector<Box> groups((std::size_t(cells) + CellBins::GroupSize - 1) / CellBins::GroupSize);
  for (std::int32_t cell = 0; cell < cells; ++cell) {
    const Box box = boxOf(cell);
    if (isValid(box)) include(groups[std::size_t(cell) / CellBins::GroupSize], box);
  }
  return groups;
}

/// Begins to load objects.
template <class T>
void prefetch(const T* first, const T* last) {
  const auto* const end = reinterpret_cast<const std::byte*>(last);
  for (auto* byte = reinterpret_cast<const std::byte*>(first); byte < end; byte += 64)
    __builtin_prefetch(byte);
}
/// @overload
template <class T>
void prefetch(const T* object) {
  prefetch(object, object + 1);
}

}  // namespace

CellBins::CellBins(const Box& bounds, std::int32_t cells, const BoxOf& boxOf)
    : CellBins(bounds, cells, boxOf, boxesOfGroups(cells, boxOf)) {}

CellBins::CellBins(const Box& bounds, std::int32_t cells, const BoxOf& boxOf,
                   Span<const Box> groups)
    : bounds_(bounds), level_(0), cells_(cells) {
  Ranges ranges;
  if (!tryBins(
          groups.size(), GroupsPerBin, MostEntriesOfGroups,
          [&](std::size_t n) { return groups[n]; }, ranges)) {
    // Consecutive cells are not close to each other.
    groupSize_ = 1;
    ranges = makeBins(std::size_t(cells), CellsPerBin,
                      [&](std::size_t n) { return boxOf(std::int32_t(n)); });
  }
  groups_ = {number(), [&](auto&& visit) {
               forEachEntry(ranges, [&](std::size_t n, const Bin& bin) {
                 visit(indexOf(bin), std::int32_t(n));
               });
             }};
  partOf_ = std::make_unique<std::atomic<const CellBins*>[]>(number());
}

CellBins::CellBins(const Box& bounds, Span<const std::int32_t> cells, Span<const Box> boxes,
                   int level)
    : bounds_(bounds), level_(level) {
  const Ranges ranges =
      makeBins(cells.size(), CellsPerPart, [&](std::size_t n) { return boxes[n]; });
  boxedCells_ = {number(), [&](auto&& visit) {
                   forEachEntry(ranges, [&](std::size_t n, const Bin& bin) {
                     visit(indexOf(bin), {cells[n], placeIn(bin, boxes[n].lo.data()),
                                          placeIn(bin, boxes[n].hi.data())});
                   });
                 }};
  partOf_ = std::make_unique<std::atomic<const CellBins*>[]>(number());
}

/// Chooses bins and finds those that each box touches.
/// @return false if there are too many bins, or boxes overlap so much that they touch too many
template <class BoxAt>
bool CellBins::tryBins(std::size_t boxes, double perBin, double mostEntries, const BoxAt& boxAt,
                       Ranges& ranges) {
  chooseBins(boxes, perBin);
  ranges.resize(boxes);
  double entries = 0;
  for (std::size_t n = 0; n < boxes; ++n) {
    ranges[n] = rangeOf(boxAt(n));
    double bins = 1;
    for (std::size_t a = 0; a < 3; ++a) bins *= std::max(ranges[n].hi[a] - ranges[n].lo[a] + 1, 0);
    entries += bins;
  }
  const double most = mostEntries * double(std::max<std::size_t>(boxes, 1));
  return (entries <= most && double(number()) <= most) || number() == 1;
}

/// As tryBins(), with coarser bins where it needs them, so that memory is proportional to the
/// boxes.
template <class BoxAt>
CellBins::Ranges CellBins::makeBins(std::size_t boxes, double perBin, const BoxAt& boxAt) {
  Ranges ranges;
  while (!tryBins(boxes, perBin, MostEntries, boxAt, ranges)) perBin *= 8;
  return ranges;
}

/// Calls visit(n, bin) for each box and each bin that it touches.
template <class Visit>
void CellBins::forEachEntry(const Ranges& ranges, Visit&& visit) {
  for (std::size_t n = 0; n < ranges.size(); ++n) {
    const Range& range = ranges[n];
    for (std::int64_t k = range.lo[2]; k <= range.hi[2]; ++k)
      for (std::int64_t j = range.lo[1]; j <= range.hi[1]; ++j)
        for (std::int64_t i = range.lo[0]; i <= range.hi[0]; ++i) visit(n, Bin{{i, j, k}});
  }
}

CellBins::Range CellBins::rangeOf(const Box& box) const {
  if (!isValid(box)) return {{{1, 1, 1}}, {{0, 0, 0}}};  // it touches none
  Range range;
  for (std::size_t a = 0; a < 3; ++a) {
    range.lo[a] = std::uint16_t(binAlong(a, box.lo[a]));
    range.hi[a] = std::uint16_t(binAlong(a, box.hi[a]));
  }
  return range;
}

/// Chooses bins as near to cubes as the box allows.
void CellBins::chooseBins(std::size_t boxes, double perBin) {
  double volume = 1;
  int axes = 0;
  for (std::size_t a = 0; a < 3; ++a)
    if (bounds_.hi[a] > bounds_.lo[a]) {
      volume *= bounds_.hi[a] - bounds_.lo[a];
      ++axes;
    }
  const double edge = axes ? std::pow(volume / double(boxes) * perBin, 1.0 / axes) : 1;
  for (std::size_t a = 0; a < 3; ++a) {
    // Not a number if both are infinite, as points may be: one bin.
    const double wanted = edge > 0 ? (bounds_.hi[a] - bounds_.lo[a]) / edge : 1;
    bins_[a] = wanted > 1 ? std::int64_t(std::min(wanted, MostBins)) : 1;
    perLength_[a] = double(bins_[a]) / (bounds_.hi[a] - bounds_.lo[a]);
  }
}

std::int64_t CellBins::binAlong(std::size_t axis, double x) const {
  const double u = alongAxis(axis, x);
  // Limited as a double: points may be of any size.
  return u > 0 ? std::int64_t(std::min(u, double(bins_[axis] - 1))) : 0;
}

/// Rounded and limited to the bin. It does not decrease if x increases, so that the place of a
/// point in a box is between the places of the box's corners.
CellBins::Place CellBins::placeIn(const Bin& bin, const double x[3]) const {
  Place place;
  for (std::size_t a = 0; a < 3; ++a) {
    const double u = 256 * (alongAxis(a, x[a]) - double(bin[a]));
    place[a] = u > 0 ? std::uint8_t(std::min(u, 255.0)) : std::uint8_t(0);
  }
  return place;
}

void CellBins::Search::begin(const CellBins& bins, const double point[3]) {
  bins_ = &bins;
  for (std::size_t a = 0; a < 3; ++a) bin_[a] = bins.binAlong(a, point[a]);
  const std::size_t at = bins.indexOf(bin_);
  if (bins.level_ > 0)
    bins.boxedCells_.prefetch(at);
  else
    bins.groups_.prefetch(at);
  prefetch(&bins.partOf_[at]);
  isEntered_ = true;
}

bool CellBins::Search::proceed(const double point[3], const BoxOf& boxOf) {
  if (!isEntered_) {
    begin(*bins_, point);
    return false;
  }
  list_ = bins_->listOf(bin_, point);
  // A point beyond the box of a part by a rounding error is in one of its outer bins, as are the
  // cells there.
  const CellBins* const next = bins_->isDivided(list_) ? bins_->divided(bin_, list_, boxOf) : bins_;
  if (next != bins_) {
    bins_ = next;
    isEntered_ = false;
    prefetch(next);
    return false;
  }
  bins_ = nullptr;
  prefetch(list_.boxed.begin(), list_.boxed.end());
  return true;
}

CellBins::List CellBins::listOf(const Bin& bin, const double point[3]) const {
  List list;
  if (level_ > 0) {
    list.boxed = boxedCells_[indexOf(bin)];
    list.place = placeIn(bin, point);
  } else {
    list.groups = groups_[indexOf(bin)];
    list.cells = cells_;
    list.groupSize = groupSize_;
  }
  return list;
}

/// Whether a search goes on in the parts of a bin.
bool CellBins::isDivided(const List& list) const {
  return level_ > 0 ? list.size() >= LongList : !list.groups.empty();
}

Box CellBins::boxOfBin(const Bin& bin) const {
  Box box;
  for (std::size_t a = 0; a < 3; ++a) {
    const double width = (bounds_.hi[a] - bounds_.lo[a]) / double(bins_[a]);
    box.lo[a] = bounds_.lo[a] + width * double(bin[a]);
    box.hi[a] = box.lo[a] + width;
  }
  return box;
}

/// Whether each list is much shorter than a list of `cells` cells, or would be after another
/// division because most cells of the longest list are smaller than a bin.
bool CellBins::separates(std::size_t cells) const {
  Span<const BoxedCell> longest;
  for (std::size_t b = 0; b < number(); ++b)
    if (boxedCells_[b].size() > longest.size()) longest = boxedCells_[b];
  if (longest.size() <= cells / 4 * 3) return true;
  if (level_ >= MostLevels) return false;
  const auto isSmaller = [&](const BoxedCell& cell) {
    bool spans = true;
    for (std::size_t a = 0; a < 3; ++a)
      spans = spans && (bins_[a] == 1 || (cell.lo[a] == 0 && cell.hi[a] == 255));
    return !spans;
  };
  const auto smaller = std::count_if(longest.begin(), longest.end(), isSmaller);
  return std::size_t(smaller) > longest.size() / 2;
}

/// The bins of one bin, made at the first call; this object if its cells cannot be separated.
const CellBins* CellBins::divided(const Bin& bin, const List& list, const BoxOf& boxOf) const {
  const std::size_t at = indexOf(bin);
  if (const CellBins* made = partOf_[at].load(std::memory_order_acquire)) return made;
  std::vector<std::int32_t> cells;
  std::vector<Box> boxes;
  const auto add = [&](std::int32_t cell) {
    const Box box = boxOf(cell);
    const Range range = rangeOf(box);
    for (std::size_t a = 0; a < 3; ++a)  // cells of a group may lie in other bins
      if (bin[a] < range.lo[a] || range.hi[a] < bin[a]) return;
    cells.push_back(cell);
    boxes.push_back(box);
  };
  if (level_ == 0) list.visit(add);
  for (const BoxedCell& boxed : list.boxed) add(boxed.cell);
  std::unique_ptr<const CellBins> part(new CellBins(boxOfBin(bin), cells, boxes, level_ + 1));
  const bool separates = part->separates(list.size());
  // Threads make parts at the same time; of two for the same bin the first one is kept.
  const std::lock_guard<std::mutex> lock(mutex_);
  if (const CellBins* made = partOf_[at].load(std::memory_order_relaxed)) return made;
  const CellBins* result = this;
  if (separates) {
    parts_.push_back(std::move(part));
    result = parts_.back().get();
  }
  partOf_[at].store(result, std::memory_order_release);
  return result;
}

std::size_t CellBins::memory() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::size_t bytes = groups_.memory() + boxedCells_.memory() + number() * sizeof partOf_[0];
  for (const auto& part : parts_) bytes += sizeof *part + part->memory();
  return bytes;
}

}  // namespace tributary
