// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "Tributary/Base/Box.h"
#include "Tributary/Base/PackedLists.h"
#include "Tributary/Base/Span.h"

namespace tributary {

/// Finds the cells whose boxes may contain a point: uniform bins over the box of all cells, each
/// with a list of the cells whose boxes touch it. A bin that is asked for often, or that has many
/// cells, is divided into bins of its own, so a few searches need little preparation, many are
/// fast, and lists are short in locally refined meshes. Thread-safe.
class CellBins {
 public:
  /// The box of a cell.
  using BoxOf = std::function<Box(std::int32_t cell)>;

  /// @param bounds  holds the boxes of all cells
  /// @param cellsPerBin  on average, if the boxes of cells do not overlap
  CellBins(const Box& bounds, Span<const std::int32_t> cells, const BoxOf& boxOf,
           double cellsPerBin)
      : CellBins(bounds, cells, boxOf, cellsPerBin, 0) {}

  /// Calls visit(cell) for the cells whose boxes may contain the point, a superset.
  template <class Visit>
  void near(const double point[3], const BoxOf& boxOf, Visit&& visit) const {
    const List list = find(point, boxOf);
    for (const std::int32_t cell : list.cells) visit(cell);
    for (const BoxedCell& boxed : list.boxed)
      if (boxed.mayContain(list.place)) visit(boxed.cell);
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
  /// The cells of a bin, of one kind or the other.
  struct List {
    Span<const std::int32_t> cells;
    Span<const BoxedCell> boxed;
    Place place{};  ///< Of the point sought.

    [[nodiscard]] std::size_t size() const { return cells.size() + boxed.size(); }
  };

  CellBins(const Box& bounds, Span<const std::int32_t> cells, const BoxOf& boxOf,
           double cellsPerBin, int level);
  void chooseBins(std::size_t cells, double cellsPerBin);
  double alongAxis(std::size_t axis, double x) const {
    return (x - bounds_.lo[axis]) * perLength_[axis];
  }
  std::int64_t binAlong(std::size_t axis, double x) const;
  Place placeIn(const Bin& bin, const double x[3]) const;
  std::size_t indexOf(const Bin& bin) const {
    return std::size_t((bin[2] * bins_[1] + bin[1]) * bins_[0] + bin[0]);
  }
  std::size_t number() const { return std::size_t(bins_[0] * bins_[1] * bins_[2]); }
  List find(const double point[3], const BoxOf& boxOf) const;
  Box boxOfBin(const Bin& bin) const;
  bool separates(std::size_t cells) const;
  const CellBins* divided(const Bin& bin, const List& list, const BoxOf& boxOf) const;

  Box bounds_;
  Bin bins_{{1, 1, 1}};                // the number of bins
  std::array<double, 3> perLength_{};  // bins per unit of length, along each axis
  int level_;                          // 0 for the outermost bins, 1 for the parts of one, ...
  PackedLists<std::int32_t> cells_;    // per bin, on level 0
  PackedLists<BoxedCell> boxedCells_;  // per bin, on other levels

  // Divided bins.
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<const CellBins>> parts_;
  std::unique_ptr<std::atomic<const CellBins*>[]> partOf_;  // per bin, null if it has none yet
  std::unique_ptr<std::atomic<bool>[]> asked_;              // per bin, before it was divided
};

}  // namespace tributary
