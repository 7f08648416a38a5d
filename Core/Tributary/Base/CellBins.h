// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "Tributary/Base/Box.h"
#include "Tributary/Base/Bytes.h"
#include "Tributary/Base/PackedLists.h"
#include "Tributary/Base/Span.h"

namespace tributary {

/// Finds the cells whose boxes may contain a point: uniform bins over the box of all cells, each
/// with a list of the cells whose boxes touch it. These bins hold groups of consecutive cells, so
/// they cost little, unless consecutive cells are far from each other. A bin in which a point is
/// sought is divided into bins of its own, which hold cells, and so is each of those with many
/// cells: lists are short in locally refined meshes, too. Thread-safe.
class CellBins {
 public:
  /// The box of a cell, which may be empty: then no point is in the cell.
  using BoxOf = std::function<Box(std::int32_t cell)>;

  /// The number of cells of a group.
  static constexpr std::size_t GroupSize = 8;

  /// @param bounds  holds the boxes of all cells
  /// @param cells   their number; they are numbered from 0
  /// @param groups  the boxes of each GroupSize consecutive cells
  CellBins(const Box& bounds, std::int32_t cells, const BoxOf& boxOf, Span<const Box> groups);
  /// As above; computes the boxes of groups.
  CellBins(const Box& bounds, std::int32_t cells, const BoxOf& boxOf);

  /// The maximum number of points of one call of near().
  static constexpr std::size_t MostPoints = 16;

  /// Calls visit(n, cell) for each of the points and the cells whose boxes may contain it, a
  /// superset. Memory accesses for the points overlap.
  /// @param points  at most MostPoints; pointOf(n) gives point n, three coordinates
  template <class PointOf, class Visit>
  void near(std::size_t points, PointOf&& pointOf, const BoxOf& boxOf, Visit&& visit) const {
    std::array<Search, MostPoints> searches;
    for (std::size_t n = 0; n < points; ++n) searches[n].begin(*this, pointOf(n));
    for (std::size_t left = points; left > 0;)
      for (std::size_t n = 0; n < points; ++n)
        if (!searches[n].isOver()) left -= searches[n].proceed(pointOf(n), boxOf);
    for (std::size_t n = 0; n < points; ++n)
      searches[n].list().visit([&](std::int32_t cell) { visit(n, cell); });
  }
  /// As above, for one point: calls visit(cell).
  template <class Visit>
  void near(const double point[3], const BoxOf& boxOf, Visit&& visit) const {
    Search search;
    search.begin(*this, point);
    while (!search.proceed(point, boxOf)) {
    }
    search.list().visit(visit);
  }

  /// In bytes.
  [[nodiscard]] std::size_t memory() const;

 private:
  /// A place in a bin, along each axis in units of its width / 256.
  using Place = std::array<std::uint8_t, 3>;
  /// A cell and the part of its box in a bin. Divided bins have these, so that a search need not
  /// read the points of all cells of a list.
  struct BoxedCell {
    std::int32_t cell;
    Place lo, hi;

    bool mayContain(const Place& p) const {
      int outside = 0;  // without branches, which would be hard to predict
      for (std::size_t a = 0; a < 3; ++a) outside |= int(p[a] < lo[a]) | int(hi[a] < p[a]);
      return outside == 0;
    }
  };
  using Bin = std::array<std::int64_t, 3>;  // along each axis
  /// The cells of a bin.
  struct List {
    // On level 0: numbers of groups, the number of all cells, and that of the cells of a group.
    Span<const std::int32_t> groups;
    std::int32_t cells = 0, groupSize = 0;
    // On other levels: cells, and the place of the point sought.
    Span<const BoxedCell> boxed;
    Place place{};

    /// At least the number of cells.
    [[nodiscard]] std::size_t size() const {
      return std::size_t(groupSize) * groups.size() + boxed.size();
    }
    template <class Visit>
    void visit(Visit&& visitCell) const {
      for (const std::int32_t group : groups) {
        const std::int32_t first = group * groupSize;
        for (std::int32_t n = 0; n < std::min(groupSize, cells - first); ++n) visitCell(first + n);
      }
      for (const BoxedCell& one : boxed)
        if (one.mayContain(place)) visitCell(one.cell);
    }
  };
  /// The bins that a box touches.
  struct Range {
    std::array<std::uint16_t, 3> lo, hi;
  };
  using Ranges = std::vector<Range, UninitializedAllocator<Range>>;
  /// A search for the list of one point. Each part of it ends by beginning to load what the next
  /// part reads.
  class Search {
   public:
    void begin(const CellBins& bins, const double point[3]);
    /// @return whether the list is found
    bool proceed(const double point[3], const BoxOf& boxOf);
    bool isOver() const { return !bins_; }
    const List& list() const { return list_; }

   private:
    const CellBins* bins_ = nullptr;  ///< That are searched next.
    bool isEntered_ = false;          ///< Whether the bin in them is known.
    Bin bin_;
    List list_;
  };

  /// A part. @param boxes  of the cells
  CellBins(const Box& bounds, Span<const std::int32_t> cells, Span<const Box> boxes, int level);
  template <class BoxAt>
  bool tryBins(std::size_t boxes, double perBin, double mostEntries, const BoxAt& boxAt,
               Ranges& ranges);
  template <class BoxAt>
  Ranges makeBins(std::size_t boxes, double perBin, const BoxAt& boxAt);
  template <class Visit>
  static void forEachEntry(const Ranges& ranges, Visit&& visit);
  void chooseBins(std::size_t boxes, double perBin);
  Range rangeOf(const Box& box) const;
  double alongAxis(std::size_t axis, double x) const {
    return (x - bounds_.lo[axis]) * perLength_[axis];
  }
  std::int64_t binAlong(std::size_t axis, double x) const;
  Place placeIn(const Bin& bin, const double x[3]) const;
  std::size_t indexOf(const Bin& bin) const {
    return std::size_t((bin[2] * bins_[1] + bin[1]) * bins_[0] + bin[0]);
  }
  std::size_t number() const { return std::size_t(bins_[0] * bins_[1] * bins_[2]); }
  List listOf(const Bin& bin, const double point[3]) const;
  bool isDivided(const List& list) const;
  Box boxOfBin(const Bin& bin) const;
  bool separates(std::size_t cells) const;
  const CellBins* divided(const Bin& bin, const List& list, const BoxOf& boxOf) const;

  Box bounds_;
  Bin bins_{{1, 1, 1}};                // the number of bins
  std::array<double, 3> perLength_{};  // bins per unit of length, along each axis
  int level_;                          // 0 for the outermost bins, 1 for the parts of one, ...
  // On level 0.
  std::int32_t cells_ = 0;
  std::int32_t groupSize_ = std::int32_t(GroupSize);  // 1 if groups are too large
  PackedLists<std::int32_t> groups_;                  // per bin
  // On other levels.
  PackedLists<BoxedCell> boxedCells_;  // per bin

  // Divided bins.
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<const CellBins>> parts_;
  std::unique_ptr<std::atomic<const CellBins*>[]> partOf_;  // per bin, null if it has none yet
};

}  // namespace tributary
