// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "Common/Leaves.h"
#include "Common/RunContext.h"
#include "Regions/ComponentDomain.h"
#include "Regions/RegionArrays.h"

#include "Tributary/Components/Connection.h"
#include "Tributary/Components/DistributedUnion.h"
#include "Tributary/Components/UnionTuner.h"

namespace tributary {

/// The properties that all filters of regions have: see vtkAsyncRegionAlgorithm.
struct RegionSettings {
  bool scalarConnectivity = false;
  bool fullScalarConnectivity = false;
  std::vector<std::array<double, 2>> scalarRanges;  ///< With scalarConnectivity.
  Through through = Through::Points;
  bool labelConnectivity = false;
  double tolerance = 0;  ///< A fraction of a cell's diagonal.
  UnionMethod method = UnionMethod::TreeUnion;
  ExchangeOptions exchange;
  UnionTuner* tuner = nullptr;  ///< With AutoTune: chooses the batch size and hold time.
  FindArray scalars;            ///< Finds the array of scalarConnectivity.
  FindArray labels;             ///< Finds the array of labelConnectivity.
};

/// The options of unions that AutoTune does not concern. Local.
/// @param progress  that the progress bar shows during the union
[[nodiscard]] UnionOptions makeUnionOptions(const RegionSettings& settings,
                                            const RunContext& context, double progress);
/// The same for the unions that AutoTune concerns.
[[nodiscard]] UnionOptions makeTunedUnionOptions(const RegionSettings& settings,
                                                 const RunContext& context, double progress);
/// Adds the statistics of AutoTune, if it is on. Local.
void describeTuning(const RegionSettings& settings, RunStatistics& statistics);

/// The domain of the leaves of all ranks. Collective.
/// @return null after an abort
[[nodiscard]] std::unique_ptr<const ComponentDomain> makeDomain(const RegionSettings& settings,
                                                                const RunContext& context,
                                                                const std::vector<Leaf>& leaves,
                                                                double progress);
/// For each leaf the array of scalars, if any; the range is set by setRange(). Collective.
[[nodiscard]] std::vector<RangeTest> selectTests(const RegionSettings& settings,
                                                 Transport& transport,
                                                 const std::vector<Leaf>& leaves);
/// Sets the range to that of the number given, if there are ranges. Local.
void setRange(const RegionSettings& settings, std::size_t number, std::vector<RangeTest>& tests);

}  // namespace tributary
