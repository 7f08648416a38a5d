#pragma once

#include <cstdint>
#include <vector>

#include "Tributary/Exchange/Assignment.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

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

/// Pairs the faces of the cells of all ranks that are sides of one face. Collective. A face with
/// more than two sides pairs with none. Faces are matched inside the rank first; only those left
/// travel, to the rank that their key names, which answers both owners: memory follows a rank's own
/// faces.
std::vector<FacePair> matchFaces(Transport& transport, std::vector<FaceSide> sides);

}  // namespace tributary
