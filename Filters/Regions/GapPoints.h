// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "Regions/Pieces/CellValues.h"
#include "Regions/Pieces/ComponentPiece.h"
#include "Regions/Pieces/PieceFactory.h"

#include "Tributary/Base/Span.h"
#include "Tributary/Collective/Assignment.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// The points beside the gaps of all ranks: which data set needs to know whether they are in range.
class GapPoints {
 public:
  GapPoints() = default;
  /// Local.
  /// @param pieces  of this rank
  /// @param all     outlines of the pieces of all ranks
  GapPoints(const DomainRules& rules, const Pieces& pieces, Span<const NeighborPiece> all);

  /// Collective. Returns for each piece of this rank the mask of the points of its gaps; see
  /// GapSlab.
  [[nodiscard]] std::vector<std::vector<std::uint64_t>> masksOf(
      Transport& transport, const Assignment& assignment,
      const std::vector<RangeTest>& tests) const;

  /// The memory on this rank, in bytes.
  [[nodiscard]] std::size_t memory() const;

 private:
  /// A block that needs a point.
  struct Need {
    BlockId block;
    std::int64_t bit;
  };

  std::vector<std::vector<std::int64_t>> points_;  // of each piece, those that blocks need
  std::vector<std::vector<Need>> needs_;           // of each piece, for these points
  std::vector<std::size_t> words_;                 // of each piece
};

}  // namespace tributary
