// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "Tributary/Base/Hash.h"
#include "Tributary/Collective/Assignment.h"
#include "Tributary/Components/SetLinks.h"
#include "Tributary/Features/TrajectoryPieces.h"
#include "Tributary/Transport/Transport.h"

namespace tributary::detail {

/// An end of a piece, where another piece may go on.
struct PieceEnd {
  SpaceTimeFace face;
  SetName piece;
};

/// Instead of a face: what all pieces have in common that a track of the step before goes on with.
inline SpaceTimeFace endOfTrack(std::int64_t track) {
  return {-1, 0, {track, 0, 0, 0}};
}

/// Well mixed, for records to meet by.
inline std::uint64_t hashOf(const SpaceTimeFace& face) {
  std::uint64_t hash = scramble(static_cast<std::uint64_t>(face.step));
  hash = scramble(hash ^ static_cast<std::uint64_t>(face.upper));
  for (const std::int64_t id : face.ids) hash = scramble(hash ^ static_cast<std::uint64_t>(id));
  return hash;
}

struct LinkedPieces {
  std::vector<std::vector<SetLink>> links;  ///< Of each local block, given on both sides.
  std::vector<PieceEnd> lowest;  ///< Of each track the lowest piece, if it is on this rank.
};

/// Finds out which pieces have an end or a track in common, for uniteSets(). Collective. Throws
/// Error on all ranks if three have a face in common, or a message is malformed.
LinkedPieces linkPieces(Transport& transport, const Assignment& assignment,
                        std::vector<PieceEnd> ends);

}  // namespace tributary::detail
