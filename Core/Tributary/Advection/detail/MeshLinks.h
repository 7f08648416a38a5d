// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Assignment.h"
#include "Tributary/Transport/Transport.h"

namespace tributary::detail {

/// Identifies a face (an edge in 2-D): a hash of its points' identities that does not depend on
/// their order, so the cells on both sides compute the same key, on any rank. The key has 128 bits:
/// among a billion faces the probability of a false match is below 1e-20.
struct FaceKey {
  std::uint64_t a = 0, b = 0;
  bool operator==(const FaceKey& other) const { return a == other.a && b == other.b; }
};

/// One side of a face.
struct FaceSide {
  FaceKey key;
  BlockId block = -1;
  std::int32_t cell = -1;  ///< In its piece.
  std::int32_t face = -1;
};

/// The two sides of a face; `mine` is in a block of this rank.
struct FacePair {
  FaceSide mine, other;
};

/// Hash of a point's identity: its global id, or its coordinates bit by bit (-0 counts as 0).
[[nodiscard]] std::uint64_t pointHash(std::int64_t globalId);
[[nodiscard]] std::uint64_t pointHash(const double coordinates[3]);
/// Key of a face from the hashes of its points; points that occur twice count once.
/// @return false if fewer than `least` different points remain: such a face has no other side
[[nodiscard]] bool faceKey(std::uint64_t* hashes, int count, int least, FaceKey& key);

/// Finds the points that several pieces have. Collective. Each hash is sent to the rank that it
/// determines, so memory is proportional to a rank's own points.
/// @param errors  receives errors, which the caller agrees on
/// @param mine  hashes of the points of this rank's pieces, each once for each piece
/// @return the hashes in `mine` that occur more than once, on this rank or others, ascending; none
///         after an error
[[nodiscard]] std::vector<std::uint64_t> findShared(Transport& transport, ErrorCollector& errors,
                                                    std::vector<std::uint64_t> mine);

/// Pairs the sides of all faces that have exactly two sides, counted over all ranks. The set of
/// pairs depends on the cells alone, not on their distribution. Collective. Each side is sent to
/// the rank that its key determines, which counts the sides and answers both owners, so memory is
/// proportional to a rank's own faces.
/// @param errors  receives errors, which the caller agrees on
/// @return the pairs whose `mine` is a side of this rank; none after an error
[[nodiscard]] std::vector<FacePair> matchFaces(Transport& transport, ErrorCollector& errors,
                                               std::vector<FaceSide> sides);

}  // namespace tributary::detail
