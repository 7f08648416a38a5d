// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Components/Regions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <vector>

#include "Support/Assignments.h"
#include "Support/Effort.h"
#include "Support/World.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Collective/Shares.h"
#include "Tributary/Components/SharedPoints.h"

namespace tributary {
namespace {

using testing::mix;
using testing::onRanks;
using testing::Sanitized;
using testing::spread;
using testing::underAdversaries;

constexpr std::size_t Values = 2;

auto asTuple(const RegionFacts& f) {
  return std::make_tuple(f.key, f.cells, f.measure, f.moment, f.lo, f.hi);
}
auto asTuple(const ValueFacts& v) {
  return std::make_tuple(v.least, v.most, v.integral, v.notFinite);
}

/// The sets of all blocks and what is known of them, the same on every rank.
struct Problem {
  std::vector<std::vector<std::int64_t>> regionOf;  // any numbers
  std::vector<BlockFacts> facts;
  std::map<std::int64_t, SetName> root;
};

/// @param regions  that sets are dealt to; about as many sets have no cells
Problem randomProblem(std::int64_t blocks, std::uint64_t regions, std::uint64_t seed) {
  Problem problem;
  for (std::int64_t b = 0; b < blocks; ++b) {
    const std::uint64_t block = mix(seed * 1000 + static_cast<std::uint64_t>(b));
    const std::size_t count = block % 4 == 0 ? 0 : block % 37;
    problem.regionOf.emplace_back();
    BlockFacts& facts = problem.facts.emplace_back();
    for (std::size_t s = 0; s < count; ++s) {
      const std::uint64_t random = mix(block + s);
      const auto region = static_cast<std::int64_t>(random % regions);
      problem.regionOf.back().push_back(region);
      problem.root.emplace(region, SetName{b, static_cast<std::int64_t>(s)});
      RegionFacts& set = facts.sets.emplace_back();
      const FixedScale scale(1000);
      if (region % 7 != 0) {  // a region in seven has no cells
        set.cells = static_cast<std::int64_t>(random >> 8 & 3);
        set.key = {mix(random) % 5, mix(random + 1), 0, 0};  // ties in the first number
        set.measure = scale.fixed(static_cast<double>(random >> 20 & 1023) * 0.1);
        for (std::size_t a = 0; a < 3; ++a) {
          set.moment[a] = scale.fixed(static_cast<double>(random >> (8 * a) & 255) * 0.3 - 30);
          set.lo[a] = static_cast<double>(mix(random + a) % 100);
          set.hi[a] = set.lo[a] + 1;
        }
      }
      for (std::size_t v = 0; v < Values; ++v) {
        ValueFacts& values = facts.values.emplace_back();
        values.least = static_cast<double>(mix(random + 10 + v) % 1000) / 7;
        values.most = values.least + 1;
        values.integral = scale.fixed(values.least);
        values.notFinite = static_cast<std::int64_t>(random >> 30 & 1);
      }
    }
  }
  return problem;
}

/// A region added up by one hand.
struct Expected {
  std::int64_t region;
  RegionFacts facts;
  std::vector<ValueFacts> values = std::vector<ValueFacts>(Values);
};

std::vector<Expected> serially(const Problem& problem, RegionOrder order) {
  std::map<std::int64_t, Expected> byRegion;
  for (std::size_t b = 0; b < problem.regionOf.size(); ++b) {
    for (std::size_t s = 0; s < problem.regionOf[b].size(); ++s) {
      Expected& one = byRegion[problem.regionOf[b][s]];
      one.region = problem.regionOf[b][s];
      one.facts.add(problem.facts[b].sets[s]);
      for (std::size_t v = 0; v < Values; ++v)
        one.values[v].add(problem.facts[b].values[s * Values + v]);
    }
  }
  std::vector<Expected> list;
  for (const auto& [region, one] : byRegion)
    if (one.facts.cells > 0) list.push_back(one);
  std::sort(list.begin(), list.end(), [&](const Expected& a, const Expected& b) {
    if (order == RegionOrder::MostCells && a.facts.cells != b.facts.cells)
      return a.facts.cells > b.facts.cells;
    if (order == RegionOrder::FewestCells && a.facts.cells != b.facts.cells)
      return a.facts.cells < b.facts.cells;
    return a.facts.key < b.facts.key;
  });
  return list;
}

void numberAndCompare(Transport& transport, std::int64_t blocks, std::uint64_t regions,
                      std::uint64_t seed, RegionOrder order) {
  const Problem problem = randomProblem(blocks, regions, seed);
  const Assignment assignment = spread(blocks, transport.size(), seed);
  const std::int64_t first = assignment.first(transport.rank());
  std::vector<std::vector<SetName>> roots;
  std::vector<BlockFacts> facts;
  for (std::int64_t b = first; b < first + assignment.count(transport.rank()); ++b) {
    facts.push_back(problem.facts[index(b)]);
    roots.emplace_back();
    for (const std::int64_t region : problem.regionOf[index(b)])
      roots.back().push_back(problem.root.at(region));
  }
  RegionSides sides;
  sides.lower[0] = 20;
  sides.upper[0] = 60;
  sides.lower[2] = 5;
  sides.upper[2] = 80;
  NumberedRegions numbered =
      numberRegions(transport, assignment, roots, std::move(facts), Values, order, sides);

  const std::vector<Expected> expected = serially(problem, order);
  const Shares shares{static_cast<std::int64_t>(expected.size()), transport.size()};
  RegionTable& table = numbered.table;
  ASSERT_EQ(table.total, shares.total);
  ASSERT_EQ(table.first, shares.first(transport.rank()));
  ASSERT_EQ(static_cast<std::int64_t>(table.regions.size()), shares.count(transport.rank()));
  for (std::size_t i = 0; i < table.regions.size(); ++i) {
    const Expected& one = expected[index(table.first) + i];
    EXPECT_EQ(asTuple(table.regions[i]), asTuple(one.facts));
    for (std::size_t v = 0; v < Values; ++v)
      EXPECT_EQ(asTuple(table.values[i * Values + v]), asTuple(one.values[v]));
  }
  std::map<std::int64_t, std::int64_t> numberOf;
  for (std::size_t i = 0; i < expected.size(); ++i)
    numberOf[expected[i].region] = static_cast<std::int64_t>(i);
  for (std::size_t b = 0; b < numbered.ofSet.size(); ++b) {
    const auto& regionOf = problem.regionOf[index(first) + b];
    ASSERT_EQ(numbered.ofSet[b].size(), regionOf.size());
    for (std::size_t s = 0; s < regionOf.size(); ++s) {
      const auto known = numberOf.find(regionOf[s]);
      const std::int64_t number = known == numberOf.end() ? -1 : known->second;
      EXPECT_EQ(numbered.ofSet[b][s].number, number);
      if (number >= 0) {
        const RegionFacts& region = expected[index(number)].facts;
        EXPECT_EQ(numbered.ofSet[b][s].cells, region.cells);
        const bool reachesX = region.lo[0] <= 20 && region.hi[0] >= 60;
        const bool reachesZ = region.lo[2] <= 5 && region.hi[2] >= 80;
        EXPECT_EQ(numbered.ofSet[b][s].reaches, (reachesX ? 1 : 0) + (reachesZ ? 4 : 0));
      }
    }
  }

  // Every rank counts as many points of a region as its rank and the region's number say.
  std::vector<RegionCount> counts;
  for (std::int64_t r = 0; r < table.total; ++r)
    for (int twice = 0; twice < 2; ++twice) counts.push_back({r, r + transport.rank()});
  const std::vector<std::int64_t> points = addPoints(transport, table.total, counts);
  ASSERT_EQ(points.size(), table.regions.size());
  const std::int64_t ranks = transport.size();
  for (std::size_t i = 0; i < points.size(); ++i)
    EXPECT_EQ(points[i],
              (table.first + static_cast<std::int64_t>(i)) * 2 * ranks + ranks * (ranks - 1));
}

TEST(Regions, AreAddedUpAndNumberedAsByOneHand) {
  for (std::uint64_t seed = 0; seed < (Sanitized ? 6 : 24); ++seed) {
    onRanks(static_cast<int>(1 + seed % 5), [&](Transport& transport) {
      const auto order = static_cast<RegionOrder>(seed % 3);
      numberAndCompare(transport, static_cast<std::int64_t>(seed % 23), 1 + seed * seed % 200, seed,
                       order);
    });
  }
}

TEST(Regions, AreTheSameWhateverArrivesFirst) {
  underAdversaries(Sanitized ? 5 : 30, [](std::uint64_t seed, Transport& transport) {
    numberAndCompare(transport, 7, 30, seed, static_cast<RegionOrder>(seed % 3));
  });
}

TEST(Regions, HaveNoPointsOfARegionThatDoesNotExist) {
  onRanks(3, [](Transport& transport) {
    RegionTable table;
    EXPECT_NE(testing::errorOf([&] { (void)addPoints(transport, table.total, {{0, 1}}); }), "");
  });
}

TEST(Regions, WhoseSumsCannotBeHeldAreRefused) {
  const auto isRefused = [](const auto& facts) {
    auto sum = facts;
    return testing::errorOf([&] { sum.add(facts); }).find("larger than a sum can hold") !=
           std::string::npos;
  };
  const FixedSum half = FixedSum{1} << 126;
  RegionFacts facts;
  facts.measure = half - 1;
  facts.moment[2] = -half;
  facts.cells = std::numeric_limits<std::int64_t>::max() / 2;
  EXPECT_FALSE(isRefused(facts));
  RegionFacts large = facts;
  large.measure = half;
  EXPECT_TRUE(isRefused(large));
  large = facts;
  large.moment[2] = -half - 1;
  EXPECT_TRUE(isRefused(large));
  large = facts;
  large.cells += 1;
  EXPECT_TRUE(isRefused(large));
  ValueFacts values;
  EXPECT_FALSE(isRefused(values));
  values.integral = half;
  EXPECT_TRUE(isRefused(values));

  onRanks(3, [](Transport& transport) {
    constexpr std::int64_t Most = std::numeric_limits<std::int64_t>::max();
    const std::string error = testing::errorOf([&] { (void)addPoints(transport, 3, {{0, Most}}); });
    EXPECT_NE(error.find("larger than a sum can hold"), std::string::npos);
  });
}

TEST(FixedSum, HasTheSameBitsInAnyOrder) {
  std::vector<double> values;
  for (std::uint64_t i = 0; i < 10000; ++i)
    values.push_back((static_cast<double>(mix(i) % 2000001) - 1e6) * std::pow(10, -double(i % 20)));
  const FixedScale scale(1e6);
  FixedSum forward = 0, backward = 0;
  long double exact = 0;
  for (const double value : values) {
    forward += scale.fixed(value);
    exact += value;
  }
  for (auto value = values.rbegin(); value != values.rend(); ++value)
    backward += scale.fixed(*value);
  EXPECT_TRUE(forward == backward);
  EXPECT_NEAR(scale.value(forward), static_cast<double>(exact), 1e-10);
}

TEST(FixedSum, HoldsAsManyOfTheLargestAsItSays) {
  for (const double largest : {5e-324, 1e-300, 0.1, 1.0, 3.7, 1e300, 1.7e308}) {
    const FixedScale scale(largest);
    const FixedSum one = scale.fixed(largest);
    FixedSum many = 0;
    EXPECT_FALSE(__builtin_mul_overflow(one, FixedSum(1) << 38, &many)) << largest;
    EXPECT_NEAR(scale.value(one) / largest, 1, largest < 1e-290 ? 1 : 1e-15) << largest;
  }
}

TEST(FixedSum, CountsValuesThatAreNotFiniteAsZero) {
  const FixedScale scale(1e6);
  for (const double value : {double(NAN), double(INFINITY), -double(INFINITY)})
    EXPECT_TRUE(scale.fixed(value) == 0) << value;
}

TEST(OrderedBits, AreInTheOrderOfTheNumbers) {
  const std::vector<double> ascending = {-INFINITY, -1e300, -1, -5e-324, 0,
                                         5e-324,    1e-3,   2,  INFINITY};
  for (std::size_t i = 1; i < ascending.size(); ++i)
    EXPECT_LT(orderedBits(ascending[i - 1]), orderedBits(ascending[i]));
  EXPECT_EQ(orderedBits(-0.0), orderedBits(0.0));
}

/// Points of few places in many blocks, with regions dealt at random.
void settleAndCompare(Transport& transport, std::uint64_t seed) {
  constexpr std::int64_t Blocks = 9;
  struct Held {
    std::int64_t place;
    std::vector<std::int64_t> regions;
  };
  std::vector<std::vector<Held>> all;
  std::map<std::int64_t, int> holders;
  const auto isSelected = [](std::int64_t region) { return region % 3 != 0; };
  for (std::uint64_t b = 0; b < Blocks; ++b) {
    auto& block = all.emplace_back();
    for (std::int64_t place = 0; place < 40; ++place) {
      const std::uint64_t random =
          mix(seed * 100000 + b * 1000 + static_cast<std::uint64_t>(place));
      if (random % 3 != 0) continue;
      ++holders[place];
      Held& held = block.emplace_back();
      held.place = place;
      for (std::uint64_t r = 0; r < random >> 8 % 3; ++r) {
        if (held.regions.size() == 2) break;
        held.regions.push_back(static_cast<std::int64_t>(mix(random + r) % 6));
      }
    }
  }
  const Assignment assignment = spread(Blocks, transport.size(), seed);
  const std::int64_t first = assignment.first(transport.rank());
  const std::int64_t count = assignment.count(transport.rank());
  std::vector<std::vector<EntityKey>> keys(index(count));
  std::vector<std::vector<RegionAtPoint>> regions(index(count));
  for (std::size_t b = 0; b < keys.size(); ++b) {
    std::int64_t local = 0;
    for (const Held& held : all[index(first) + b]) {
      keys[b].push_back(keyOfPoint(held.place));
      for (const std::int64_t region : held.regions)
        if (holders[held.place] > 1) regions[b].push_back({local, region, isSelected(region)});
      ++local;
    }
  }
  const auto matches = matchEntities(transport, assignment, keys);
  const SettledPoints settled = settlePoints(transport, assignment, matches, regions);

  std::map<std::int64_t, std::map<std::int64_t, int>> atPlace;  // regions of a place
  for (const auto& block : all)
    for (const Held& held : block)
      if (holders[held.place] > 1)
        for (const std::int64_t region : held.regions) atPlace[held.place][region] = 1;
  std::vector<std::int64_t> expected(6, 0), counted(6, 0);
  for (const auto& [place, known] : atPlace)
    for (const auto& [region, one] : known) expected[index(region)] += one;
  for (const RegionCount& one : settled.counts) counted[index(one.region)] += one.count;
  EXPECT_EQ(allreduce(transport, ReduceOp::Sum, counted), expected);

  for (std::size_t b = 0; b < keys.size(); ++b) {
    std::map<std::int64_t, std::int64_t> shown, expectedShown;
    for (const PointLabel& label : settled.labels[b]) {
      EXPECT_EQ(shown.count(label.point), 0u);
      shown[label.point] = label.region;
    }
    std::int64_t local = 0;
    for (const Held& held : all[index(first) + b]) {
      for (const auto& [region, one] : atPlace[held.place])
        if (isSelected(region)) expectedShown.emplace(local, region);  // the least comes first
      ++local;
    }
    EXPECT_EQ(shown, expectedShown);
  }
}

TEST(SharedPoints, AreCountedOnceAndShowTheLeastRegion) {
  for (std::uint64_t seed = 0; seed < (Sanitized ? 4 : 16); ++seed)
    onRanks(static_cast<int>(1 + seed % 5),
            [&](Transport& transport) { settleAndCompare(transport, seed); });
}

TEST(SharedPoints, AreTheSameWhateverArrivesFirst) {
  underAdversaries(Sanitized ? 5 : 20, [](std::uint64_t seed, Transport& transport) {
    settleAndCompare(transport, seed);
  });
}

}  // namespace
}  // namespace tributary
