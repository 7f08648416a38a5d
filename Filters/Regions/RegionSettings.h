// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "Common/Leaves.h"
#include "Common/RunContext.h"
#include "Periodic/PeriodicAxes.h"
#include "Regions/Pieces/CellValues.h"
#include "Regions/RegionArrays.h"

#include "Tributary/Components/Connection.h"
#include "Tributary/Components/DistributedUnion.h"
#include "Tributary/Components/UnionTuner.h"

namespace tributary {

class KeptDomain;

/// The properties common to all filters of regions: see vtkAsyncRegionAlgorithm.
struct RegionSettings {
  bool scalarConnectivity = false;
  bool fullScalarConnectivity = false;
  std::vector<std::array<double, 2>> scalarRanges;  ///< With scalarConnectivity.
  Through through = Through::Points;
  bool labelConnectivity = false;
  double tolerance = 0;         ///< A fraction of a cell's diagonal.
  bool extractRegions = false;  ///< Whether to output only the cells in regions.
  PeriodicSettings periodic;
  UnionMethod method = UnionMethod::TreeUnion;
  ExchangeOptions exchange;
  UnionTuner* tuner = nullptr;  ///< With AutoTune: chooses the batch size and hold time.
  FindArray scalars;            ///< Finds the array of scalarConnectivity.
  FindArray labels;             ///< Finds the array of labelConnectivity.
  KeptDomain* kept = nullptr;   ///< The domain of the last execution. Never null in an execution.
  bool keepDomain = false;      ///< Whether the next execution may use the domain of this one.
};

/// Returns the options of unions to which AutoTune does not apply. Local.
/// @param progress  value of the progress bar during the union
[[nodiscard]] UnionOptions makeUnionOptions(const RegionSettings& settings,
                                            const RunContext& context, double progress);
/// Returns the options of unions to which AutoTune applies. Local.
[[nodiscard]] UnionOptions makeTunedUnionOptions(const RegionSettings& settings,
                                                 const RunContext& context, double progress);
/// Adds the statistics of AutoTune if it is on. Local.
void describeTuning(const RegionSettings& settings, RunStatistics& statistics);

/// Collective. Returns the array of scalars for each leaf, if any. setRange() sets the range.
[[nodiscard]] std::vector<RangeTest> selectTests(const RegionSettings& settings,
                                                 Transport& transport,
                                                 const std::vector<Leaf>& leaves);
/// Sets the range to the one with the given number, if there are ranges. Local.
void setRange(const RegionSettings& settings, std::size_t number, std::vector<RangeTest>& tests);

}  // namespace tributary
