// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "Tributary/Collective/Shares.h"

#include "Tributary/Advection/Tracer.h"
#include "Tributary/Transport/Transport.h"

class vtkDataObject;

namespace tributary {

/// The seeds of all ranks, each on the rank whose source produced it.
struct SeedList {
  std::vector<Seed> seeds;  ///< Of this rank; Seed::id is the seed's place in the order of all.
  Shares shares;            ///< Of all seeds: which rank outputs which lines.
  /// The ids to show for this rank's share, by place; empty if place and id are the same.
  std::vector<std::int64_t> shown;
  std::int64_t largestShown = 0;  ///< On all ranks.
};

/// Collective. Makes seeds of the points of `source`, a data set or a composite of them; each rank
/// passes its part. Ids are global point ids if all data sets have them. Otherwise, if the data
/// sets are parts of one grid, ids are the numbers of points in the whole extent: they do not
/// depend on the cut, and points that several ranks have are used once. Otherwise points are
/// counted rank by rank. Ghost points are ignored. Throws Error on all ranks if there are no points
/// or an id is not valid.
[[nodiscard]] SeedList makeSeedList(Transport& transport, vtkDataObject* source);

}  // namespace tributary
