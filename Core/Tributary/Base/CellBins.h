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
/// with a list of the cells whose boxes touch it. A bin with many cells is divided into bins of its
/// own on first use, so a few searches are cheap, and lists are short in locally refined meshes.
/// Thread-safe.
class CellBins {
 public:
  using BoxOf = std::function<Box(std::int32_t cell)>;

  /// @param bounds  holds the boxes of all cells
  /// @param cellsPerBin  on average, if the boxes of cells do not overlap
  CellBins(const Box& bounds, Span<const std::int32_t> cells, const BoxOf& boxOf,
           double cellsPerBin);

  /// The cells whose boxes may contain the point, a superset.
  [[nodiscard]] Span<const std::int32_t> near(const double point[3], const BoxOf& boxOf) const;

  /// In bytes.
  [[nodiscard]] std::size_t memory() const;

 private:
  void chooseBins(std::size_t cells, double cellsPerBin);
  std::int64_t binAlong(std::size_t axis, double x) const;
  Box boxOfBin(const std::array<std::int64_t, 3>& bin) const;
  const CellBins* divided(const std::array<std::int64_t, 3>& bin, std::size_t at,
                          const BoxOf& boxOf) const;

  Box bounds_;
  std::array<std::int64_t, 3> bins_{{1, 1, 1}};  // per axis
  PackedLists<std::int32_t> lists_;              // of cells, per bin

  // Divided bins.
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<const CellBins>> parts_;
  std::unique_ptr<std::atomic<const CellBins*>[]> partOf_;  // per bin, null if it has none yet
};

}  // namespace tributary
