// SPDX-License-Identifier: BSD-3-Clause
// The messages by which regions are matched, linked, united, numbered and counted.
#include <vector>

#include "Components/ThreeSets.h"
#include "Harness.h"
#include "Support/OneEach.h"
#include "Tributary/Components/DistributedUnion.h"
#include "Tributary/Components/Matching.h"
#include "Tributary/Components/Regions.h"
#include "Tributary/Components/SetLinks.h"
#include "Tributary/Components/SharedPoints.h"

namespace tributary::fuzz {

namespace {

using testing::oneEach;

void match(Transport& transport) {
  const auto assignment = oneEach(transport);
  const auto matches =
      matchEntities(transport, assignment, {{keyOfPoint(5), keyOfPoint(7), keyOfPoint(9)}});
  const std::vector<std::uint32_t> sets = {0, 1, 0xffffffff};
  (void)linkSets(transport, assignment, matches, {{sets.data(), sets.size()}});
  (void)settlePoints(transport, assignment, matches, {{{0, transport.rank(), 1}, {1, 3, 1}}});
}

/// Sets 0 of all blocks are one region, sets 1 another one.
void unite(Transport& transport, UnionMethod method) {
  UnionOptions options;
  options.method = method;
  options.exchange.detector = "tree-counter";
  const BlockId mine = transport.rank();
  std::vector<SetLink> links;
  for (const BlockId other : {mine - 1, mine + 1})
    if (other >= 0 && other < transport.size())
      for (const std::int64_t set : {0, 1}) links.push_back({set, other, set});
  (void)uniteSets(transport, oneEach(transport), {3}, {links}, options);
}

void number(Transport& transport) {
  NumberedRegions regions = testing::numberThreeSets(transport);
  std::vector<RegionCount> counts;
  for (std::int64_t region = 0; region < regions.table.total && region < 9; ++region)
    counts.push_back({region, 1});
  (void)addPoints(transport, regions.table.total, std::move(counts));
}

}  // namespace

const std::vector<Scene>& scenes() {
  static const std::vector<Scene> all = {
      {"match-0", 2, 0, match},
      {"match-1", 2, 1, match},
      {"labels", 3, 1,
       [](Transport& transport) { unite(transport, UnionMethod::LabelPropagation); }},
      {"trees-0", 3, 0, [](Transport& transport) { unite(transport, UnionMethod::TreeUnion); }},
      {"trees-1", 3, 1, [](Transport& transport) { unite(transport, UnionMethod::TreeUnion); }},
      {"number-0", 2, 0, number},
      {"number-1", 2, 1, number},
  };
  return all;
}

}  // namespace tributary::fuzz
