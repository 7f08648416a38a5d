// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "Tributary/Base/FixedSum.h"
#include "Tributary/Base/Span.h"
#include "Tributary/Collective/Assignment.h"
#include "Tributary/Components/DistributedUnion.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// What the cells of a region are told apart and put in order by, whoever owns them: a global id,
/// or something made of a cell's place. Compared from the first number to the last.
using RegionKey = std::array<std::uint64_t, 4>;

/// Numbers whose order is that of the doubles; -0 counts as 0.
std::uint64_t orderedBits(double value);

/// What is known of a region, or of a part of one. Parts add up to the same bits in any order.
struct RegionFacts {
  RegionKey key = {~std::uint64_t(0), ~std::uint64_t(0), ~std::uint64_t(0), ~std::uint64_t(0)};
  std::int64_t cells = 0;
  std::int64_t points = 0;
  FixedSum measure = 0;
  std::array<FixedSum, 3> moment = {0, 0, 0};  ///< Of cells' centroids, weighted.
  std::array<double, 3> lo = {Infinity, Infinity, Infinity};
  std::array<double, 3> hi = {-Infinity, -Infinity, -Infinity};

  static constexpr double Infinity = std::numeric_limits<double>::infinity();
  void add(const RegionFacts& part);
};

/// The values of one component of an array in a region, or in a part of one.
struct ValueFacts {
  double least = RegionFacts::Infinity;
  double most = -RegionFacts::Infinity;
  FixedSum integral = 0;
  std::int64_t notFinite = 0;  ///< Values that are in none of the above.

  void add(const ValueFacts& part);
};

/// The sets of one block, all of the same number of values.
struct BlockFacts {
  std::vector<RegionFacts> sets;
  std::vector<ValueFacts> values;  ///< Of a set side by side.
};

/// What regions are numbered by; ties by least key.
enum class RegionOrder { LeastKey, MostCells, FewestCells };

/// The regions of all ranks, in order of their numbers, each on one rank: of n regions, rank r of p
/// has those from n r / p on.
struct RegionTable {
  std::int64_t total = 0;
  std::int64_t first = 0;  ///< Number of this rank's first region.
  std::vector<RegionFacts> regions;
  std::vector<ValueFacts> values;  ///< Of a region side by side.
};

/// The region of a set.
struct RegionOfSet {
  std::int64_t number = -1;  ///< -1: a set without cells in a region without cells.
  std::int64_t cells = 0;    ///< Of the whole region.
};

struct NumberedRegions {
  RegionTable table;
  std::vector<std::vector<RegionOfSet>> ofSet;  ///< For each local block, for each set.
};

/// Adds up the facts of the sets of each region and numbers the regions from 0. Collective. No rank
/// gets more than its share of the table and what its own sets take part in; what is added up and
/// the numbers do not depend on ranks and blocks as long as keys do not.
/// @param roots   for each local block, for each set, the name of its region: see uniteSets()
/// @param blocks  for each local block, as many sets
/// @param values  values of a set; the same on all ranks
NumberedRegions numberRegions(Transport& transport, const Assignment& assignment,
                              const std::vector<std::vector<SetName>>& roots,
                              std::vector<BlockFacts> blocks, std::size_t values,
                              RegionOrder order);

/// A region that somebody has counted something of.
struct RegionCount {
  std::int64_t region;
  std::int64_t count;
};

/// Adds points to the rows of the table, wherever they are. Collective.
/// @param counts  a region may come more than once
void addPoints(Transport& transport, RegionTable& table, std::vector<RegionCount> counts);

}  // namespace tributary
