// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Base/CellBins.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "Support/World.h"

namespace tributary::testing {
namespace {

double random(std::uint64_t n) {
  return double(mix(n) >> 11) / double(1ull << 53);
}

/// Boxes of some size around random points; every tenth point of a thousandth of the region only,
/// where boxes are a thousandth of that size.
std::vector<Box> makeBoxes(std::size_t count, double size) {
  std::vector<Box> boxes(count);
  for (std::size_t n = 0; n < count; ++n) {
    const double scale = n % 10 == 0 ? 1 : 1e-3;
    for (std::size_t a = 0; a < 3; ++a) {
      const double x = scale * random(6 * n + a), half = 0.5 * scale * size * random(6 * n + 3 + a);
      boxes[n].lo[a] = x - half;
      boxes[n].hi[a] = x + half;
    }
  }
  return boxes;
}

struct Search {
  explicit Search(std::vector<Box> list) : boxes(std::move(list)) {
    for (const Box& box : boxes) include(bounds, box);
    makeBins();
  }
  void makeBins() { bins = std::make_unique<CellBins>(bounds, std::int32_t(boxes.size()), boxOf); }
  std::vector<std::int32_t> near(const double point[3]) const {
    std::vector<std::int32_t> result;
    bins->near(point, boxOf, [&](std::int32_t cell) { result.push_back(cell); });
    return result;
  }
  std::vector<std::int32_t> found(const double point[3]) const {
    std::vector<std::int32_t> result;
    for (const std::int32_t cell : near(point))
      if (boxes[std::size_t(cell)].contains(point)) result.push_back(cell);
    std::sort(result.begin(), result.end());
    return result;
  }
  std::vector<std::int32_t> expected(const double point[3]) const {
    std::vector<std::int32_t> result;
    for (std::size_t cell = 0; cell < boxes.size(); ++cell)
      if (boxes[cell].contains(point)) result.push_back(std::int32_t(cell));
    return result;
  }

  std::vector<Box> boxes;
  Box bounds;
  CellBins::BoxOf boxOf = [this](std::int32_t cell) { return boxes[std::size_t(cell)]; };
  std::unique_ptr<CellBins> bins;
};

TEST(CellBins, FindAllCellsThatMayHoldAPoint) {
  for (const double size : {0.0, 0.02, 0.3}) {
    const Search search(makeBoxes(3000, size));
    std::size_t matches = 0;
    for (std::uint64_t n = 0; n < 2000; ++n) {
      const double scale = n % 2 ? 1 : 1e-3;
      double point[3];
      for (int a = 0; a < 3; ++a) point[a] = scale * (1.2 * random(90000 + 3 * n + a) - 0.1);
      if (n % 7 == 0)  // a corner of a box
        std::copy(search.boxes[n].hi.begin(), search.boxes[n].hi.end(), point);
      const auto found = search.found(point);
      EXPECT_EQ(found, search.expected(point));
      matches += found.size();
    }
    EXPECT_GT(matches, 200u);
  }
}

TEST(CellBins, ListsAreShortAlsoWhereAMeshIsRefined) {
  for (const std::size_t count : {3000, 20000, 30000}) {  // with and without parts of parts
    const Search search(makeBoxes(count, 0.03));
    std::size_t longest = 0;
    for (std::uint64_t n = 0; n < 3000; ++n) {
      const Box& box = search.boxes[n];
      const double point[3] = {0.5 * (box.lo[0] + box.hi[0]), 0.5 * (box.lo[1] + box.hi[1]),
                               0.5 * (box.lo[2] + box.hi[2])};
      longest = std::max(longest, search.near(point).size());
    }
    EXPECT_LT(longest, 200u);
  }
}

TEST(CellBins, AreNotDividedWithoutEndWhereCellsCoincide) {
  std::vector<Box> boxes(1000);
  for (std::size_t n = 0; n < boxes.size(); ++n)
    for (std::size_t a = 0; a < 3; ++a) {
      const double x = n < 900 ? 0.3 : random(3 * n + a);
      boxes[n].lo[a] = boxes[n].hi[a] = x;
    }
  const Search search(boxes);
  const double point[3] = {0.3, 0.3, 0.3};
  for (int n = 0; n < 3; ++n) EXPECT_EQ(search.found(point), search.expected(point));
  EXPECT_LT(search.bins->memory(), 1000u * 1000u);
}

/// Inside the cells of a mesh of cubes, 20 along each axis; the n-th is that at a place.
template <class PlaceOf>
std::vector<Box> cubes(PlaceOf&& placeOf) {
  std::vector<Box> boxes(8000);
  for (std::size_t n = 0; n < boxes.size(); ++n) {
    const std::size_t at = placeOf(n), place[3] = {at % 20, at / 20 % 20, at / 400};
    for (std::size_t a = 0; a < 3; ++a) {
      boxes[n].lo[a] = double(place[a]) + 0.1;
      boxes[n].hi[a] = double(place[a]) + 0.9;
    }
  }
  return boxes;
}

TEST(CellBins, FindFewCellsAlsoAtFirst) {
  const auto asTheyAre = [](std::size_t n) { return n; };
  const auto mixed = [](std::size_t n) { return 4999 * n % 8000; };  // groups are all over
  for (const auto& boxes : {cubes(asTheyAre), cubes(mixed)}) {
    std::size_t cells = 0;
    for (std::uint64_t n = 0; n < 50; ++n) {
      const Search search(boxes);
      const double point[3] = {20 * random(3 * n), 20 * random(3 * n + 1), 20 * random(3 * n + 2)};
      cells += search.near(point).size();
      EXPECT_EQ(search.found(point), search.expected(point));
    }
    EXPECT_LT(cells, 600u);
  }
}

TEST(CellBins, NeedMemoryInProportionToTheCellsHoweverTheseAreNumbered) {
  constexpr double Nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<Box> boxes(20000);
  // Every other group of eight has no valid box.
  for (std::size_t n = 0; n < boxes.size(); ++n)
    for (std::size_t a = 0; a < 3; ++a) {
      const double x = 2 * random(3 * (7919 * n % boxes.size()) + a) - 1;
      const bool valid = n / 8 % 2 == 0;
      boxes[n].lo[a] = valid ? x : n % 3 == 0 ? 1.0 : Nan;
      boxes[n].hi[a] = valid ? x + 0.01 : n % 3 == 0 ? -1.0 : Nan;
    }
  Search search(boxes);
  search.bounds.lo = {{-1, -1, -1}};
  search.bounds.hi = {{1.01, 1.01, 1.01}};
  search.makeBins();
  for (std::uint64_t n = 0; n < 100; ++n) {
    const double point[3] = {boxes[16 * n].lo[0], boxes[16 * n].hi[1], boxes[16 * n].lo[2]};
    EXPECT_EQ(search.found(point), search.expected(point));
  }
  EXPECT_LT(search.bins->memory(), 300 * boxes.size());
}

TEST(CellBins, AcceptBoxesThatCannotBeSeparated) {
  constexpr double Infinity = std::numeric_limits<double>::infinity();
  Box all;
  all.lo = {{-Infinity, 0, 0}};
  all.hi = {{Infinity, 1, 0}};
  const Search search(std::vector<Box>(500, all));
  const double inside[3] = {3, 0.5, 0}, outside[3] = {3, 2, 0};
  EXPECT_EQ(search.found(inside).size(), 500u);
  EXPECT_EQ(search.found(outside).size(), 0u);
}

TEST(CellBins, AreDividedByAnyThread) {
  const Search search(makeBoxes(20000, 0.02));
  std::vector<std::thread> threads;
  std::vector<std::size_t> sums(4, 0), missed(4, 0);
  for (std::size_t t = 0; t < sums.size(); ++t)
    threads.emplace_back([&, t] {
      for (std::uint64_t n = 0; n < 2000; ++n) {  // in another order on each thread
        const auto cell = std::int32_t((7 * n + 500 * t) % 2000);
        const auto found = search.found(search.boxes[std::size_t(cell)].lo.data());
        sums[t] += found.size();
        missed[t] += std::binary_search(found.begin(), found.end(), cell) ? 0 : 1;
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::size_t sum : sums) {
    EXPECT_GT(sum, 1000u);
    EXPECT_EQ(sum, sums[0]);
  }
  EXPECT_EQ(missed, std::vector<std::size_t>(4, 0));
}

}  // namespace
}  // namespace tributary::testing
