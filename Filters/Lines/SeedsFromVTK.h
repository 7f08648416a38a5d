// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "Tributary/Collective/Shares.h"

#include "Tributary/Advection/Tracer.h"
#include "Tributary/Transport/Transport.h"

class vtkDataObject;

namespace tributary {

/// The seeds of all ranks, each on the rank whose source produced it.
struct SeedList {
  std::vector<Seed> seeds;  ///< Of this rank; Seed::id is the position in the order of all seeds.
  Shares shares;            ///< Of all seeds; they define which rank outputs which lines.
  /// The ids to output for the seeds of this rank's share, by position; empty if ids equal
  /// positions.
  std::vector<std::int64_t> shown;
  std::int64_t largestShown = 0;  ///< On all ranks.
  /// Whether seeds have labels, and those of `seeds`: values of an array of the source, NaN where
  /// the source lacks it.
  bool isLabeled = false;
  std::vector<double> labels;
};

/// Collective. Makes seeds of the points of `source`, a data set or a composite of them. Each rank
/// passes its part. Ghost points are ignored. The ids are defined by the first of these rules that
/// applies:
/// - If all data sets have global point ids, ids are these.
/// - If the data sets are parts of one grid, ids are point numbers in the whole extent. They do not
///   depend on the decomposition, and a point that several ranks have is used once.
/// - Otherwise, points are numbered rank by rank.
/// @param labelArray  a point array with labels of the seeds; empty for none
/// @throws Error on all ranks if there are no points, an id is invalid, no rank has the array of
///         labels, or it does not have one component
[[nodiscard]] SeedList makeSeedList(Transport& transport, vtkDataObject* source,
                                    const std::string& labelArray = {});

}  // namespace tributary
