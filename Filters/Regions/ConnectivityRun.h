// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "Common/Leaves.h"
#include "Common/RunContext.h"
#include "Regions/ComponentDomain.h"
#include "Regions/RegionArrays.h"
#include "Regions/RegionSelection.h"
#include "Regions/RegionSettings.h"
#include "Regions/RegionWriting.h"

#include "Tributary/Components/Regions.h"

class vtkDataObject;
class vtkTable;

namespace tributary {

/// The properties of vtkAsyncConnectivity that one execution needs; see there.
struct ConnectivitySettings {
  /// Selection of regions.
  enum class Extraction {
    PointSeeded,
    CellSeeded,
    Specified,
    Largest,
    All,
    ClosestPoint,
    SizeRange
  };

  RegionSettings regions;
  Extraction extraction = Extraction::All;
  bool colorRegions = true;  ///< Whether to add the RegionId arrays.
  RegionOrder order = RegionOrder::LeastKey;
  std::vector<std::int64_t> seeds;         ///< With PointSeeded and CellSeeded.
  std::vector<std::int64_t> specified;     ///< With Specified.
  std::array<double, 3> closestPoint{};    ///< With ClosestPoint.
  std::int64_t leastCells = 1;             ///< With SizeRange.
  std::int64_t mostCells = 0;              ///< With SizeRange; 0: no limit.
  std::vector<std::string> measuredNames;  ///< Names of the arrays for statistics.
};

/// One execution of vtkAsyncConnectivity on one rank.
class ConnectivityRun {
 public:
  ConnectivityRun(const RunContext& context, const ConnectivitySettings& settings)
      : context_(context), settings_(settings) {}

  /// Collective.
  /// @return false after an abort
  /// @throws Error on all ranks, or on none
  [[nodiscard]] bool execute(vtkDataObject* input, vtkDataObject* output, vtkTable* table);

 private:
  [[nodiscard]] bool labelRange(std::size_t number);
  RegionSelection select(const RangeRegions& regions);
  void write(vtkDataObject* input, vtkDataObject* output, vtkTable* table);

  const RunContext& context_;
  const ConnectivitySettings& settings_;
  std::vector<Leaf> leaves_;
  const ComponentDomain* domain_ = nullptr;
  std::vector<RangeTest> tests_;
  MeasuredColumns measured_;
  std::vector<ShownRange> ranges_;
};

}  // namespace tributary
