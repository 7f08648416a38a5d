// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "Tributary/Collective/Assignment.h"
#include "Tributary/Transport/Transport.h"

namespace tributary::detail {

/// A face (an edge in 2-D) by what identifies it: a symmetric hash of its points' identities, so
/// that two cells that list the points in different order, on whatever rank, mean the same face.
/// 128 bits: among a billion faces a false match has a chance below 1e-20.
struct FaceKey {
  std::uint64_t a = 0, b = 0;
  bool operator==(const FaceKey& other) const { return a == other.a && b == other.b; }
};

/// One side of a face.
struct FaceSide {
  FaceKey key;
  BlockId block = -1;
  std::int32_t cell = -1;
  std::int32_t face = -1;
};

/// Two sides of one face, each as seen by this rank: `mine` lies in a block of this rank.
struct FacePair {
  FaceSide mine, other;
};

/// Hash of a point's identity: its global id, or its coordinates bit by bit (-0 counts as 0).
std::uint64_t pointHash(std::int64_t globalId);
std::uint64_t pointHash(const double coordinates[3]);
/// Key of a face from the hashes of its points; those that occur twice count once.
/// @return false when fewer than `least` different points are left: such a face has no other side
bool faceKey(std::uint64_t* hashes, int count, int least, FaceKey& key);

/// Which points lie on several ranks. Collective. Each hash travels to the rank that it names, so
/// memory follows a rank's own points.
/// @param mine  hashes of this rank's points, in any order, repeated or not
/// @return those of them that another rank has too, ascending
std::vector<std::uint64_t> heldElsewhere(Transport& transport, std::vector<std::uint64_t> mine);

/// Pairs the faces of the cells of all ranks that have exactly two sides, counted over all ranks;
/// which faces these are depends on the cells alone, not on who has them. Collective.
/// @param inner  sides with a point that no other rank has, so all sides are here
/// @param outer  the other sides; they travel to the rank that their key names, which counts them
///               and answers both owners: memory follows a rank's own faces
std::vector<FacePair> matchFaces(Transport& transport, const std::vector<FaceSide>& inner,
                                 std::vector<FaceSide> outer);

}  // namespace tributary::detail
