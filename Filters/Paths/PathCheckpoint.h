// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "Paths/PathHistory.h"
#include "Paths/PathSeeds.h"

#include "Tributary/Base/Bytes.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// The steps of a path tracer in a checkpoint.
struct SavedSteps {
  std::vector<double> added;    ///< The times of those that were added.
  std::set<double> passedOver;  ///< The times of those that were passed over.
};

/// What a path tracer needs to continue on any number of ranks.
struct SavedPaths {
  PathHistory history;
  std::optional<PathSeeds> seeds;  ///< Those of the first step, if seeds are static.
};

/// Local. The part of a state that is the same on all ranks: steps, injections, and the fields of
/// the points.
[[nodiscard]] Bytes saveCommon(const SavedSteps& steps, const PathHistory& history,
                               const std::optional<PathSeeds>& seeds);
/// Local. The steps in a common part.
/// @throws Error if it is malformed
[[nodiscard]] SavedSteps loadSteps(const Bytes& common);

/// Local. The part of a state that this rank keeps: its particles and their points.
[[nodiscard]] Bytes savePart(const PathHistory& history, const std::optional<PathSeeds>& seeds);
/// Collective. Loads a state that any number of ranks have saved, and sends particles and seeds to
/// the ranks that keep them.
/// @param parts  each of them on one rank
/// @throws Error on all ranks if a part is malformed, or a particle is there twice
[[nodiscard]] SavedPaths loadPaths(Transport& transport, const Bytes& common,
                                   const std::vector<Bytes>& parts);

}  // namespace tributary
