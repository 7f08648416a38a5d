// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "Tributary/Base/Bytes.h"
#include "Tributary/Base/FixedSum.h"
#include "Tributary/Base/Span.h"
#include "Tributary/Collective/Assignment.h"
#include "Tributary/Components/DistributedUnion.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// Identifies and orders cells independently of the rank that owns them: a global id, or a key
/// computed from the place of a cell. Keys are compared lexicographically.
using RegionKey = std::array<std::uint64_t, 4>;

/// A number whose order is that of the doubles; -0 equals 0.
[[nodiscard]] std::uint64_t orderedBits(double value);

/// The facts of a region, or of a part of one. Parts add up to the same bits in any order.
struct RegionFacts {
  /// The least key of its cells.
  RegionKey key = {~std::uint64_t(0), ~std::uint64_t(0), ~std::uint64_t(0), ~std::uint64_t(0)};
  std::int64_t cells = 0;
  FixedSum measure = 0;
  std::array<FixedSum, 3> moment = {0, 0, 0};  ///< Of the centroids of cells, weighted.
  std::array<double, 3> lo = {Infinity, Infinity, Infinity};
  std::array<double, 3> hi = {-Infinity, -Infinity, -Infinity};

  static constexpr double Infinity = std::numeric_limits<double>::infinity();
  /// Throws Error if a sum cannot hold the parts.
  void add(const RegionFacts& part);
};

/// The values of one component of an array in a region, or in a part of one.
struct ValueFacts {
  double least = RegionFacts::Infinity;
  double most = -RegionFacts::Infinity;
  FixedSum integral = 0;
  std::int64_t notFinite =
      0;  ///< Number of values that are not finite; the other members exclude them.

  /// Throws Error if a sum cannot hold the parts.
  void add(const ValueFacts& part);
};

/// Lists of facts are long where there is noise. Their memory is reused: see LargeBuffers.h.
using RegionFactsList = std::vector<RegionFacts, UninitializedAllocator<RegionFacts>>;
/// As RegionFactsList.
using ValueFactsList = std::vector<ValueFacts, UninitializedAllocator<ValueFacts>>;

/// The facts of the sets of one block. All sets have the same number of values.
struct BlockFacts {
  RegionFactsList sets;
  ValueFactsList values;  ///< Set by set.
};

/// The order in which regions are numbered. Ties are ordered by the least key.
enum class RegionOrder { LeastKey, MostCells, FewestCells };

/// The regions of all ranks in the order of their numbers, each on one rank: of n regions, rank r
/// of p has those from n r / p.
struct RegionTable {
  std::int64_t total = 0;
  std::int64_t first = 0;  ///< Number of this rank's first region.
  RegionFactsList regions;
  ValueFactsList values;  ///< Region by region.
};

/// The region of a set.
struct RegionOfSet {
  std::int64_t number = -1;  ///< -1 for a region without cells.
  std::int64_t cells = 0;    ///< Of the whole region.
  /// A bit for each axis along which the region reaches both of the sides; see numberRegions().
  std::int64_t reaches = 0;
};

/// Two sides along each axis. Default: sides that no region reaches.
struct RegionSides {
  std::array<double, 3> lower = {-RegionFacts::Infinity, -RegionFacts::Infinity,
                                 -RegionFacts::Infinity};
  std::array<double, 3> upper = {RegionFacts::Infinity, RegionFacts::Infinity,
                                 RegionFacts::Infinity};
};

/// The result of numberRegions().
struct NumberedRegions {
  RegionTable table;
  std::vector<std::vector<RegionOfSet>> ofSet;  ///< For each local block, for each set.
};

/// Adds the facts of the sets of each region and numbers the regions from 0. Collective. A rank
/// receives its share of the table and the regions of its own sets. The sums and the numbers do not
/// depend on ranks and blocks if the keys do not. Throws Error on all ranks if a message is
/// malformed.
/// @param roots   for each local block, for each set, the name of its region: see uniteSets()
/// @param blocks  for each local block, the facts of its sets
/// @param values  number of values of a set; the same on all ranks
/// @param sides   a region reaches both along an axis if its bounds meet or contain them
[[nodiscard]] NumberedRegions numberRegions(Transport& transport, const Assignment& assignment,
                                            const std::vector<std::vector<SetName>>& roots,
                                            std::vector<BlockFacts> blocks, std::size_t values,
                                            RegionOrder order, const RegionSides& sides = {});

/// A count for a region.
struct RegionCount {
  std::int64_t region;
  std::int64_t count;
};

/// Adds up numbers of points of regions on any rank. Collective. Throws Error on all ranks if a
/// region does not exist.
/// @param total   number of regions, the same on all ranks
/// @param counts  may contain a region more than once
/// @return for each region in this rank's share, see RegionTable
[[nodiscard]] std::vector<std::int64_t> addPoints(Transport& transport, std::int64_t total,
                                                  std::vector<RegionCount> counts);

}  // namespace tributary
