// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "Tributary/Base/Hash.h"
#include "Tributary/Base/Span.h"
#include "Tributary/Collective/Assignment.h"
#include "Tributary/Components/Regions.h"
#include "Tributary/Components/SetLinks.h"
#include "Tributary/Features/TrajectoryPieces.h"
#include "Tributary/Transport/Transport.h"

namespace tributary::detail {

/// An end of a piece, at which another piece may continue.
struct PieceEnd {
  SpaceTimeFace face;
  SetName piece;
};

/// Used instead of a face: the pieces that continue a track of the step before share it.
inline SpaceTimeFace endOfTrack(std::int64_t track) {
  return {-1, 0, {track, 0, 0, 0}};
}

/// A well-mixed hash for rendezvous().
inline std::uint64_t hashOf(const SpaceTimeFace& face) {
  std::uint64_t hash = scramble(static_cast<std::uint64_t>(face.step));
  hash = scramble(hash ^ static_cast<std::uint64_t>(face.upper));
  for (const std::int64_t id : face.ids) hash = scramble(hash ^ static_cast<std::uint64_t>(id));
  return hash;
}

/// Describes a piece: appends the ends at which other pieces may continue, and returns the key that
/// orders components. Local.
using DescribePiece = std::function<RegionKey(std::size_t block, Span<const CriticalPoint> points,
                                              const SetName& name, std::vector<PieceEnd>& ends)>;

/// The pieces of this rank as sets to unite.
struct PieceSets {
  std::vector<PieceEnd> ends;
  std::vector<std::int64_t> counts;  ///< Number of pieces of each local block.
  std::vector<BlockFacts> facts;
};

/// Local.
[[nodiscard]] PieceSets describePieces(const Assignment& assignment, int rank,
                                       const std::vector<TrajectoryPieces>& pieces,
                                       const DescribePiece& describe);

/// The connected components of pieces.
struct NumberedPieces {
  bool aborted = false;          ///< By a monitor; the components are not known then.
  NumberedRegions numbered;      ///< The components, in the order of their least keys.
  std::vector<PieceEnd> lowest;  ///< The lowest piece of each track, if it is on this rank.
};

/// Numbers the connected components of pieces: pieces with a common end or track are connected.
/// Collective. Throws Error on all ranks if three pieces have a common end, or a message is
/// malformed.
[[nodiscard]] NumberedPieces numberPieces(Transport& transport, const Assignment& assignment,
                                          PieceSets sets, const UnionOptions& options);

}  // namespace tributary::detail
