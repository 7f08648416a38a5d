// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <set>
#include <vector>

#include "FlowMap/MapSeeds.h"

#include "Tributary/Base/Bytes.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// The part of a flow map in a checkpoint that is the same on all ranks: its steps, and what its
/// seeds are made of.
struct SavedMap {
  std::vector<double> added;    ///< The times of the steps that were added; not empty.
  std::set<double> passedOver;  ///< The times of those that were passed over.
  MapGrid grid;                 ///< If the seeds are a grid.
  std::array<bool, 3> along{};  ///< Otherwise: the axes of auxiliary seeds,
  double distance = 0;          ///< and their distance.
};

/// Local. Serializes the common part.
[[nodiscard]] Bytes saveMapSteps(const SavedMap& map);
/// Local. Loads it. @throws Error if it is malformed
[[nodiscard]] SavedMap loadMapSteps(const Bytes& common);

/// Local. Serializes the particles of this rank.
[[nodiscard]] Bytes saveParticles(const MapSeeds& seeds, const MapParticles& particles);
/// Collective. Loads the particles of the seeds of this rank, which any ranks have saved.
/// @param parts  each of them on one rank
/// @throws Error on all ranks if a part is malformed, or has no particle of a seed
[[nodiscard]] MapParticles loadParticles(Transport& transport, const std::vector<Bytes>& parts,
                                         const MapSeeds& seeds);

}  // namespace tributary
