// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Base/CellBins.h"

#include <algorithm>
#include <cmath>

#include "Tributary/Base/Bytes.h"

namespace tributary {
namespace {

/// A list of this length is searched faster than it is divided.
constexpr std::size_t LongList = 64;
/// Average number of cells in a bin of a divided bin.
constexpr double CellsPerPart = 2;
/// Per cell, on average.
constexpr double MostEntries = 16;
/// Per axis.
constexpr double MostBins = 1024;

}  // namespace

CellBins::CellBins(const Box& bounds, Span<const std::int32_t> cells, const BoxOf& boxOf,
                   double cellsPerBin)
    : bounds_(bounds) {
  struct Range {  // of the bins that a cell's box touches
    std::uint16_t lo[3], hi[3];
  };
  std::vector<Range, UninitializedAllocator<Range>> ranges(cells.size());
  // Coarser bins where boxes overlap much, so that memory is proportional to the cells.
  for (bool fits = false; !fits; cellsPerBin *= 8) {
    chooseBins(cells.size(), cellsPerBin);
    double entries = 0;
    for (std::size_t n = 0; n < cells.size(); ++n) {
      const Box box = boxOf(cells[n]);
      double bins = 1;
      for (std::size_t a = 0; a < 3; ++a) {
        ranges[n].lo[a] = std::uint16_t(binAlong(a, box.lo[a]));
        ranges[n].hi[a] = std::uint16_t(binAlong(a, box.hi[a]));
        bins *= ranges[n].hi[a] - ranges[n].lo[a] + 1;
      }
      entries += bins;
    }
    fits = entries <= MostEntries * double(cells.size()) || bins_[0] * bins_[1] * bins_[2] == 1;
  }
  const auto bins = std::size_t(bins_[0] * bins_[1] * bins_[2]);
  lists_ = {bins, [&](auto&& visit) {
              for (std::size_t n = 0; n < cells.size(); ++n) {
                const Range& range = ranges[n];
                for (std::int64_t k = range.lo[2]; k <= range.hi[2]; ++k)
                  for (std::int64_t j = range.lo[1]; j <= range.hi[1]; ++j)
                    for (std::int64_t i = range.lo[0]; i <= range.hi[0]; ++i)
                      visit(std::size_t((k * bins_[1] + j) * bins_[0] + i), cells[n]);
              }
            }};
  partOf_ = std::make_unique<std::atomic<const CellBins*>[]>(bins);
}

/// Chooses bins as near to cubes as the box allows.
void CellBins::chooseBins(std::size_t cells, double cellsPerBin) {
  double volume = 1;
  int axes = 0;
  for (std::size_t a = 0; a < 3; ++a)
    if (bounds_.hi[a] > bounds_.lo[a]) {
      volume *= bounds_.hi[a] - bounds_.lo[a];
      ++axes;
    }
  const double edge = axes ? std::pow(volume / double(cells) * cellsPerBin, 1.0 / axes) : 1;
  for (std::size_t a = 0; a < 3; ++a) {
    // Not a number if both are infinite, as points may be: one bin.
    const double wanted = edge > 0 ? (bounds_.hi[a] - bounds_.lo[a]) / edge : 1;
    bins_[a] = wanted > 1 ? std::int64_t(std::min(wanted, MostBins)) : 1;
  }
}

std::int64_t CellBins::binAlong(std::size_t axis, double x) const {
  const double width = bounds_.hi[axis] - bounds_.lo[axis];
  const double u = width > 0 ? (x - bounds_.lo[axis]) / width * double(bins_[axis]) : 0;
  // Limited as a double: points may be of any size.
  return u > 0 ? std::int64_t(std::min(u, double(bins_[axis] - 1))) : 0;
}

Span<const std::int32_t> CellBins::near(const double point[3], const BoxOf& boxOf) const {
  std::array<std::int64_t, 3> bin;
  for (std::size_t a = 0; a < 3; ++a) bin[a] = binAlong(a, point[a]);
  const auto at = std::size_t((bin[2] * bins_[1] + bin[1]) * bins_[0] + bin[0]);
  const Span<const std::int32_t> cells = lists_[at];
  if (cells.size() < LongList) return cells;
  const CellBins* part = divided(bin, at, boxOf);
  // A point beyond the box of the part by a rounding error is in one of its outer bins, as are the
  // cells there.
  return part == this ? cells : part->near(point, boxOf);
}

Box CellBins::boxOfBin(const std::array<std::int64_t, 3>& bin) const {
  Box box;
  for (std::size_t a = 0; a < 3; ++a) {
    const double width = (bounds_.hi[a] - bounds_.lo[a]) / double(bins_[a]);
    box.lo[a] = bounds_.lo[a] + width * double(bin[a]);
    box.hi[a] = box.lo[a] + width;
  }
  return box;
}

/// The bins of one bin, made at the first call; this object if its cells cannot be separated.
const CellBins* CellBins::divided(const std::array<std::int64_t, 3>& bin, std::size_t at,
                                  const BoxOf& boxOf) const {
  if (const CellBins* made = partOf_[at].load(std::memory_order_acquire)) return made;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (const CellBins* made = partOf_[at].load(std::memory_order_relaxed)) return made;
  const Span<const std::int32_t> cells = lists_[at];
  auto part = std::make_unique<const CellBins>(boxOfBin(bin), cells, boxOf, CellsPerPart);
  std::size_t longest = 0;
  for (std::size_t b = 0; b < part->lists_.size(); ++b)
    longest = std::max(longest, part->lists_[b].size());
  const CellBins* result = this;
  if (longest <= cells.size() / 4 * 3) {
    parts_.push_back(std::move(part));
    result = parts_.back().get();
  }
  partOf_[at].store(result, std::memory_order_release);
  return result;
}

std::size_t CellBins::memory() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::size_t bytes = lists_.memory() + lists_.size() * sizeof partOf_[0];
  for (const auto& part : parts_) bytes += sizeof *part + part->memory();
  return bytes;
}

}  // namespace tributary
