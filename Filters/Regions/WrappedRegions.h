// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "Periodic/PeriodicAxes.h"
#include "Regions/Pieces/ComponentPiece.h"

#include "Tributary/Base/FixedSum.h"
#include "Tributary/Components/Regions.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// Returns the length, area or volume of a region; 0 if no cell of the domain has a measure.
double measureOf(const RegionFacts& facts, const FactScales& scales);
/// Returns the divisor of means: the measure, or the number of cells if no cell of the domain has a
/// measure.
double weightOf(const RegionFacts& facts, const FactScales& scales);

/// Returns the sides of a periodic domain. A region that continues beyond them reaches both.
RegionSides sidesOf(const PeriodicAxes& periodic);

/// Where a region is.
struct RegionPlace {
  std::array<double, 3> centroid{};  ///< Inside of the domain along a periodic axis.
  std::array<double, 3> lo{}, hi{};  ///< Of a region that continues at a side, `hi` is beyond it.
  /// Whether the cells of the region leave no part between the sides free; a gap has no cells, and
  /// does not count. Then it is the whole period that has the bounds and the centroid along the
  /// axis.
  std::array<bool, 3> wraps{};
};

/// The regions in this rank's share of the table that reach both sides of a periodic domain. Their
/// cells are on both sides of the largest part of the period that is free of the region, and are
/// measured as if those below it were a period further.
class WrappedRegions {
 public:
  WrappedRegions() = default;
  /// Collective. Throws Error on all ranks if a message is malformed.
  /// @param labeled   the sets of each piece
  /// @param numbered  their regions; made with sidesOf(periodic)
  WrappedRegions(Transport& transport, const PeriodicAxes& periodic,
                 const std::vector<std::unique_ptr<LabeledPiece>>& labeled,
                 const NumberedRegions& numbered, const FactScales& scales);

  /// Local. Where a region of this rank's share is: the center of its bounds if its weight is 0.
  [[nodiscard]] RegionPlace placeOf(std::int64_t number, const RegionFacts& facts,
                                    const FactScales& scales) const;
  /// Whether an axis is periodic. The same on all ranks.
  [[nodiscard]] bool isPeriodic() const {
    return periodic_[0].isPeriodic || periodic_[1].isPeriodic || periodic_[2].isPeriodic;
  }

 private:
  /// A region along an axis.
  struct Along {
    std::int64_t region = 0;
    std::int64_t axis = 0;
    double lo = 0, hi = 0;  ///< Its bounds; from lo a period on if nothing is free.
    bool isFree = false;    ///< Whether a part of the period is free.
    FixedSum below = 0;     ///< The weight of its cells below `lo`.
  };

  PeriodicAxes periodic_;
  std::vector<Along> along_;  // by region and axis
};

}  // namespace tributary
