// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "Tributary/Transport/Transport.h"

class vtkDataObject;

namespace tributary {

/// A seed, on the rank that keeps its particles.
struct PathSeed {
  std::int64_t place;  ///< In the order of all seeds.
  std::int64_t shown;  ///< The id to output.
  double x[3];
};

/// The seeds of one injection. Of n seeds, rank r of P keeps those in [n r / P, n (r + 1) / P).
struct PathSeeds {
  std::vector<PathSeed> seeds;  ///< Of this rank, ordered by place.
  std::int64_t total = 0;       ///< On all ranks.
};

/// Collective. Makes seeds of the points of `source`, with the ids of makeSeedList(), and sends
/// them to the ranks that keep their particles.
/// @throws Error on all ranks if there are no points or an id is invalid
[[nodiscard]] PathSeeds makePathSeeds(Transport& transport, vtkDataObject* source);

}  // namespace tributary
