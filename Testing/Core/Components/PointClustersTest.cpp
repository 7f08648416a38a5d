// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Components/PointClusters.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "Support/Assignments.h"
#include "Support/Effort.h"
#include "Support/World.h"
#include "Tributary/Base/Index.h"

namespace tributary {
namespace {

using testing::mix;
using testing::onRanks;
using testing::Sanitized;
using testing::spread;

using Points = std::vector<std::vector<LoosePoint>>;

/// @param span  width of the cube that the points lie in; about the largest reach: all are one
Points randomPoints(std::int64_t blocks, std::size_t count, double span, std::uint64_t seed) {
  Points points;
  for (std::int64_t b = 0; b < blocks; ++b) {
    points.emplace_back();
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t random = mix(seed * 1000003 + static_cast<std::uint64_t>(b) * 1009 + i);
      LoosePoint point;
      for (std::size_t a = 0; a < 3; ++a)
        point.place[a] = (static_cast<double>(mix(random + a) % 1000) / 1000 - 0.5) * span;
      point.reach = 0.1 * static_cast<double>(random % 4);
      points.back().push_back(point);
    }
  }
  return points;
}

/// Every pair looked at, until nothing changes.
std::vector<std::vector<SetName>> byPairs(const Points& points) {
  std::vector<const LoosePoint*> all;
  std::vector<SetName> names;
  for (std::size_t b = 0; b < points.size(); ++b) {
    for (std::size_t i = 0; i < points[b].size(); ++i) {
      all.push_back(&points[b][i]);
      names.push_back({static_cast<BlockId>(b), static_cast<std::int64_t>(i)});
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < all.size(); ++i) {
      for (std::size_t j = 0; j < all.size(); ++j) {
        double squares = 0;
        for (std::size_t a = 0; a < 3; ++a) {
          const double d = all[i]->place[a] - all[j]->place[a];
          squares += d * d;
        }
        const double reach = std::min(all[i]->reach, all[j]->reach);
        if (squares <= reach * reach && names[j] < names[i]) {
          names[i] = names[j];
          changed = true;
        }
      }
    }
  }
  std::vector<std::vector<SetName>> result;
  std::size_t next = 0;
  for (const auto& block : points) {
    result.emplace_back(names.begin() + static_cast<std::ptrdiff_t>(next),
                        names.begin() + static_cast<std::ptrdiff_t>(next + block.size()));
    next += block.size();
  }
  return result;
}

void clusterAndCompare(Transport& transport, const Points& points, std::uint64_t seed) {
  const Assignment assignment =
      spread(static_cast<std::int64_t>(points.size()), transport.size(), seed);
  const std::int64_t first = assignment.first(transport.rank());
  const auto begin = points.begin() + first;
  const Points mine(begin, begin + assignment.count(transport.rank()));
  const auto clusters = clusterPoints(transport, assignment, mine, {}).root;
  const auto expected = byPairs(points);
  ASSERT_EQ(clusters.size(), mine.size());
  for (std::size_t b = 0; b < mine.size(); ++b)
    EXPECT_TRUE(clusters[b] == expected[index(first) + b]) << "block " << b << " seed " << seed;
}

TEST(PointClusters, AreThoseOfAllPairs) {
  for (std::uint64_t seed = 0; seed < (Sanitized ? 4 : 12); ++seed) {
    for (const double span : {0.5, 2.0, 6.0}) {
      const Points points = randomPoints(5, 30, span, seed);
      onRanks(static_cast<int>(1 + seed % 4),
              [&](Transport& transport) { clusterAndCompare(transport, points, seed); });
    }
  }
}

TEST(PointClusters, LeavePointsWithoutAPlaceAlone) {
  Points points = randomPoints(3, 10, 0.5, 1);
  points[1][3].place[2] = std::numeric_limits<double>::quiet_NaN();
  points[2][0].reach = std::numeric_limits<double>::infinity();
  points[2][0].place = {100, 100, 100};
  onRanks(3, [&](Transport& transport) { clusterAndCompare(transport, points, 2); });
}

TEST(PointClusters, ReachAsFarAsTheirReach) {
  // Exactly, along each axis; and where points coincide, without any.
  Points points(3);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    for (std::size_t i = 0; i < 9; ++i) {
      LoosePoint point{};
      point.reach = 0.25;
      point.place[axis] = 10 + 0.25 * static_cast<double>(i);
      points[i % 3].push_back(point);
    }
  }
  for (std::size_t block = 0; block < 3; ++block) {
    LoosePoint point{};
    point.reach = 0;
    point.place = {-5, -5, -5};
    points[block].push_back(point);
  }
  onRanks(3, [&](Transport& transport) { clusterAndCompare(transport, points, 3); });
}

TEST(PointClusters, OfNoReachAreNone) {
  Points points = randomPoints(3, 10, 1, 1);
  for (auto& block : points)
    for (LoosePoint& point : block) point.reach = 0;
  onRanks(2, [&](Transport& transport) { clusterAndCompare(transport, points, 0); });
}

}  // namespace
}  // namespace tributary
