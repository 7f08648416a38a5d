// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>

#include "Support/Assignments.h"
#include "Support/Effort.h"
#include "Support/World.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Reduction/AllReduce.h"
#include "Tributary/Reduction/AllToAll.h"
#include "Tributary/Reduction/Sort.h"

namespace tributary {
namespace {

using testing::allKValues;
using testing::errorOf;
using testing::mix;
using testing::onRanks;
using testing::Sanitized;
using testing::spread;
using testing::underAdversaries;
using testing::world;

std::uint64_t draw(std::uint64_t seed, std::int64_t a, std::int64_t b = 0) {
  return mix(mix(seed * 31 + static_cast<std::uint64_t>(a)) + static_cast<std::uint64_t>(b));
}

void broadcastsRight(Transport& transport, const Assignment& assignment, int k) {
  Broadcast<std::string> broadcast(transport, assignment, k);
  for (BlockId root = 0; root < assignment.total(); ++root) {
    const std::string text(static_cast<std::size_t>(root * 100),
                           'a' + static_cast<char>(root % 26));
    const bool isRoot = assignment.rankOf(root) == transport.rank();
    const auto& item =
        broadcast.run(root, isRoot ? std::optional<std::string>(text) : std::nullopt);
    EXPECT_EQ(item.has_value(), assignment.count(transport.rank()) > 0);
    EXPECT_EQ(item.value_or(text), text);
  }
}

void allReducesRight(Transport& transport, const Assignment& assignment, int k) {
  AllReduce<std::string> allReduce(
      transport, assignment, [](std::string& lower, std::string&& upper) { lower += upper; }, k);
  std::string expected;
  for (BlockId block = 0; block < assignment.total(); ++block) {
    expected += "<" + std::to_string(block) + ">";
  }
  for (int run = 0; run < 3; ++run) {
    std::vector<std::string> items;
    const BlockId first = assignment.first(transport.rank());
    for (BlockId block = first; block < first + assignment.count(transport.rank()); ++block) {
      items.push_back("<" + std::to_string(block) + ">");
    }
    const auto& item = allReduce.run(std::move(items));
    EXPECT_EQ(item.has_value(), assignment.count(transport.rank()) > 0);
    EXPECT_EQ(item.value_or(expected), expected);
  }
}

/// The parcels that a block sends: some to nobody, some several times, some of no bytes.
std::vector<Parcel> parcelsOf(BlockId from, std::int64_t blocks, std::uint64_t seed) {
  std::vector<Parcel> parcels;
  const auto count = draw(seed, from) % 9;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto bits = draw(seed, from, static_cast<std::int64_t>(i) + 1);
    const auto to = static_cast<BlockId>(bits % static_cast<std::uint64_t>(blocks));
    const std::size_t size = bits >> 20 & 1 ? 0 : bits >> 30 & 63;
    parcels.push_back({to, Bytes(size, static_cast<std::byte>(bits >> 40))});
  }
  return parcels;
}

void exchangesRight(Transport& transport, const Assignment& assignment, const KValues& kValues,
                    std::uint64_t seed) {
  AllToAll allToAll(transport, assignment, kValues);
  const BlockId first = assignment.first(transport.rank());
  const auto count = static_cast<std::size_t>(assignment.count(transport.rank()));
  std::vector<std::vector<Parcel>> outgoing;
  for (std::size_t i = 0; i < count; ++i) {
    outgoing.push_back(parcelsOf(first + static_cast<BlockId>(i), assignment.total(), seed));
  }
  const auto incoming = allToAll.run(std::move(outgoing));
  ASSERT_EQ(incoming.size(), count);
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t next = 0;
    for (BlockId from = 0; from < assignment.total(); ++from) {
      for (const Parcel& parcel : parcelsOf(from, assignment.total(), seed)) {
        if (parcel.block != first + static_cast<BlockId>(i)) continue;
        ASSERT_LT(next, incoming[i].size());
        EXPECT_EQ(incoming[i][next].block, from);
        EXPECT_EQ(incoming[i][next].bytes, parcel.bytes);
        ++next;
      }
    }
    EXPECT_EQ(next, incoming[i].size());
  }
}

TEST(Broadcast, ReachesAllRanksThatHaveBlocks) {
  for (const int ranks : {1, 5}) {
    onRanks(ranks, [](Transport& transport) {
      for (const std::int64_t blocks : {1, 2, 7, 12}) {
        for (const int k : {2, 3, 8}) {
          broadcastsRight(transport, spread(blocks, transport.size(), 3), k);
          broadcastsRight(transport, spread(blocks, transport.size(), 8), k);
        }
      }
    });
  }
}

TEST(AllReduce, KeepsTheOrderOfBlocks) {
  for (const int ranks : {1, 5}) {
    onRanks(ranks, [](Transport& transport) {
      for (const std::int64_t blocks : {0, 1, 2, 7, 12}) {
        for (const int k : {2, 3, 8}) {
          allReducesRight(transport, spread(blocks, transport.size(), 3), k);
        }
      }
    });
  }
}

TEST(AllReduce, AnOperatorThatThrowsEndsItOnAllRanks) {
  const int ranks = world().size();
  const Assignment assignment(std::vector<std::int64_t>(static_cast<std::size_t>(ranks), 2));
  int angry = ranks;
  AllReduce<int> allReduce(
      world(), assignment,
      [&](int& lower, int&& upper) {
        if (world().rank() == angry) throw Error("no more");
        lower += upper;
      },
      2);
  for (angry = 0; angry < ranks; ++angry) {
    EXPECT_NE(errorOf([&] { allReduce.run({1, 1}); }).find("no more"), std::string::npos);
  }
  EXPECT_EQ(allReduce.run({1, 1}).value(), 2 * ranks);
}

TEST(AllToAll, OfAllKValuesDeliversEachParcelOnce) {
  const std::int64_t most = world().size() > 1 || Sanitized ? 9 : 20;
  for (const int ranks : {1, 4}) {
    onRanks(ranks, [&](Transport& transport) {
      std::uint64_t seed = 0;
      for (std::int64_t blocks = 1; blocks <= most; ++blocks) {
        for (const KValues& kValues : allKValues(blocks)) {
          ++seed;
          exchangesRight(transport, spread(blocks, transport.size(), seed), kValues, seed);
        }
      }
    });
  }
}

TEST(AllToAll, ManyParcelsOfABlockKeepTheirOrder) {
  const auto body = [](Transport& transport) {
    constexpr std::int64_t Parcels = 100;
    const Assignment assignment(
        std::vector<std::int64_t>(static_cast<std::size_t>(transport.size()), 1));
    AllToAll allToAll(transport, assignment, AllToAll::defaultKValues(transport.size()));
    std::vector<std::vector<Parcel>> parcels(1);
    for (std::int64_t i = 0; i < Parcels; ++i) {
      parcels[0].push_back({i * i % transport.size(), Writer().value(i).take()});
    }
    parcels = allToAll.run(std::move(parcels));
    std::map<BlockId, std::int64_t> last;
    for (const Parcel& parcel : parcels.front()) {
      const auto number = Reader(parcel.bytes).value<std::int64_t>();
      const auto before = last.emplace(parcel.block, -1).first;
      EXPECT_LT(before->second, number);
      before->second = number;
    }
  };
  testing::onRanks(3, body);
}

TEST(AllToAll, OfRanksIsEveryRanksBytes) {
  const int ranks = world().size();
  const auto bytesOf = [](int from, int to) {
    const std::size_t sizes[] = {0, 1, 1000, 3 << 20};
    return Bytes(sizes[(from + 2 * to) % 4], static_cast<std::byte>(from * 16 + to));
  };
  std::vector<Bytes> outgoing;
  for (int to = 0; to < ranks; ++to) outgoing.push_back(bytesOf(world().rank(), to));
  const auto incoming = allToAll(world(), std::move(outgoing));
  ASSERT_EQ(incoming.size(), static_cast<std::size_t>(ranks));
  for (int from = 0; from < ranks; ++from) {
    EXPECT_EQ(incoming[static_cast<std::size_t>(from)], bytesOf(from, world().rank()));
  }
  EXPECT_NE(errorOf([&] {
              (void)allToAll(world(), std::vector<Bytes>(static_cast<std::size_t>(ranks + 1)));
            }),
            "");
  EXPECT_TRUE(Rounds(1000, AllToAll::defaultKValues(1000)).isFull());
}

/// One type for all comparisons, as a sort takes long to compile.
using Less = std::function<bool(int, int)>;

// Only one rank's arguments are wrong, and all leave.
TEST(BlockCollectives, AnErrorOfOneRankEndsThemOnAllRanks) {
  const int ranks = world().size();
  const bool last = world().rank() == ranks - 1;
  const Assignment assignment(std::vector<std::int64_t>(static_cast<std::size_t>(ranks), 1));
  EXPECT_NE(errorOf([&] {
              AllReduce<int>(
                  world(), assignment, [](int& lower, int&& upper) { lower += upper; },
                  last ? 1 : 2);
            }),
            "");
  EXPECT_NE(errorOf([&] { Broadcast<int>(world(), assignment, last ? 0 : 3); }), "");
  Broadcast<int> broadcast(world(), assignment);
  EXPECT_NE(errorOf([&] { broadcast.run(0, std::nullopt); }), "");
  EXPECT_NE(errorOf([&] { broadcast.run(last ? ranks : 0, 5); }), "");
  EXPECT_EQ(broadcast.run(0, 6), 6);
  AllToAll allToAll(world(), assignment, AllToAll::defaultKValues(ranks));
  std::vector<std::vector<Parcel>> parcels(1);
  parcels[0].push_back({last ? ranks : 0, Bytes(3)});
  EXPECT_NE(errorOf([&] { static_cast<void>(allToAll.run(std::move(parcels))); }), "");
  EXPECT_EQ(allToAll.run(std::vector<std::vector<Parcel>>(1)).size(), 1u);
  bool angry = true;
  SampleSort<int, Less> sort(world(), assignment, AllToAll::defaultKValues(ranks),
                             [&](int a, int b) {
                               if (angry && last) throw 5;
                               return a < b;
                             });
  EXPECT_NE(errorOf([&] { (void)sort.run({{3, 2, 1}}); }), "");
  angry = false;
  EXPECT_EQ(sort.run({{3, 2, 1}}).size(), 1u);
}

TEST(AllToAll, WrongArgumentsAreRefused) {
  const Assignment assignment(
      std::vector<std::int64_t>(static_cast<std::size_t>(world().size()), 3));
  EXPECT_NE(errorOf([&] { AllToAll(world(), assignment, {2}); }).find("k-values"),
            std::string::npos);
  AllToAll allToAll(world(), assignment, Rounds::full(assignment.total(), 3));
  std::vector<std::vector<Parcel>> parcels(3);
  parcels[1].push_back({assignment.total(), Bytes(3)});
  EXPECT_NE(errorOf([&] { allToAll.start(std::move(parcels)); }), "");
  EXPECT_EQ(allToAll.run(std::vector<std::vector<Parcel>>(3)).size(), 3u);
}

/// A value and where it came from, compared by the value only.
struct Tracked {
  std::int32_t value;
  std::int32_t number;
};
struct ByValue {
  bool operator()(const Tracked& a, const Tracked& b) const { return a.value < b.value; }
};

using Make = std::function<std::int32_t(std::int64_t number)>;

/// Values of block b: so many, numbered through all blocks.
std::vector<std::vector<Tracked>> valuesOf(std::int64_t blocks, std::int64_t average,
                                           std::uint64_t seed, const Make& make) {
  std::vector<std::vector<Tracked>> all;
  std::int64_t number = 0;
  for (BlockId block = 0; block < blocks; ++block) {
    // Some have none, some many.
    const auto kind = draw(seed, block) % 4;
    const auto count = kind == 0 ? 0 : kind == 1 ? 2 * average : average;
    all.emplace_back();
    for (std::int64_t i = 0; i < count; ++i, ++number) {
      all.back().push_back({make(number), static_cast<std::int32_t>(number)});
    }
  }
  return all;
}

void sortsRight(Transport& transport, const Assignment& assignment, std::int64_t average,
                std::uint64_t seed, const Make& make, std::vector<std::size_t>* sizes = nullptr) {
  const auto all = valuesOf(assignment.total(), average, seed, make);
  const BlockId first = assignment.first(transport.rank());
  const BlockId end = first + assignment.count(transport.rank());
  SampleSort<Tracked, ByValue> sort(transport, assignment, Rounds::full(assignment.total(), 4));
  const auto mine = sort.run({all.begin() + first, all.begin() + end});
  ASSERT_EQ(mine.size(), static_cast<std::size_t>(end - first));
  std::vector<Tracked> expected;
  for (const auto& values : all) expected.insert(expected.end(), values.begin(), values.end());
  std::stable_sort(expected.begin(), expected.end(), ByValue());

  // All blocks' values in order are the sorted ones; checked where they lie.
  std::vector<std::int64_t> counts(static_cast<std::size_t>(assignment.total()), 0);
  for (std::size_t i = 0; i < mine.size(); ++i) {
    counts[static_cast<std::size_t>(first) + i] = static_cast<std::int64_t>(mine[i].size());
  }
  if (counts.empty()) return;
  counts = allreduce(transport, ReduceOp::Sum, std::move(counts));
  std::int64_t before = 0;
  for (BlockId block = 0; block < assignment.total(); ++block) {
    const std::int64_t count = counts[static_cast<std::size_t>(block)];
    // The bound that the documentation gives.
    const auto total = static_cast<std::int64_t>(expected.size());
    EXPECT_LE(count, total / assignment.total() + total / 16 + assignment.total() + 1);
    if (sizes) sizes->push_back(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; block >= first && block < end && i < count; ++i) {
      ASSERT_LT(before + i, total);
      const Tracked& is =
          mine[static_cast<std::size_t>(block - first)][static_cast<std::size_t>(i)];
      const Tracked& should = expected[static_cast<std::size_t>(before + i)];
      ASSERT_EQ(is.value, should.value);
      ASSERT_EQ(is.number, should.number);
    }
    before += count;
  }
  EXPECT_EQ(before, static_cast<std::int64_t>(expected.size()));
}

const std::map<std::string, Make> Kinds = {
    {"random", [](std::int64_t n) { return static_cast<std::int32_t>(draw(1, n)); }},
    {"few different", [](std::int64_t n) { return static_cast<std::int32_t>(draw(2, n) % 3); }},
    {"all equal", [](std::int64_t) { return 7; }},
    {"sorted", [](std::int64_t n) { return static_cast<std::int32_t>(n); }},
    {"backwards", [](std::int64_t n) { return -static_cast<std::int32_t>(n); }}};

TEST(SampleSort, IsTheStableSort) {
  for (const int ranks : {1, 3, 8}) {
    onRanks(ranks, [](Transport& transport) {
      std::uint64_t seed = 0;
      for (const auto& [name, make] : Kinds) {
        for (const std::int64_t blocks : {0, 1, 2, 5, 16, 33}) {
          for (const std::int64_t average : {0, 1, 10, 500}) {
            ++seed;
            sortsRight(transport, spread(blocks, transport.size(), seed), average, seed, make);
          }
        }
      }
    });
  }
}

TEST(SampleSort, BalancesAndDoesNotDependOnTheRanks) {
  if (world().size() > 1) return;
  constexpr std::int64_t Blocks = 64;
  for (const auto& [name, make] : Kinds) {
    std::vector<std::size_t> reference;
    for (const int ranks : {1, 2, 7}) {
      std::vector<std::vector<std::size_t>> sizes(static_cast<std::size_t>(ranks));
      onRanks(ranks, [&](Transport& transport) {
        sortsRight(transport, spread(Blocks, ranks, 5), 2000, 11, make,
                   &sizes[static_cast<std::size_t>(transport.rank())]);
      });
      if (reference.empty()) reference = sizes[0];
      EXPECT_EQ(sizes[0], reference) << name;
    }
    std::size_t total = 0;
    for (const std::size_t size : reference) total += size;
    const std::size_t largest = *std::max_element(reference.begin(), reference.end());
    EXPECT_LE(static_cast<double>(largest), 1.6 * static_cast<double>(total) / Blocks) << name;
  }
}

TEST(SampleSort, SortsTexts) {
  const Assignment assignment = spread(6, world().size(), 1);
  const BlockId first = assignment.first(world().rank());
  std::vector<std::vector<std::string>> texts;
  for (BlockId block = first; block < first + assignment.count(world().rank()); ++block) {
    texts.emplace_back();
    for (int i = 0; i < 50; ++i) {
      texts.back().push_back(std::string(draw(3, block, i) % 20, 'z') + std::to_string(i));
    }
  }
  SampleSort<std::string> sort(world(), assignment, {6});
  const auto sorted = sort.run(texts);
  std::vector<std::string> mine;
  for (const auto& values : texts) mine.insert(mine.end(), values.begin(), values.end());
  std::vector<std::string> found;
  for (const auto& values : sorted) found.insert(found.end(), values.begin(), values.end());
  const auto gathered = [](const std::vector<std::string>& values) {
    std::vector<std::string> all;
    for (const Bytes& bytes : allgatherBytes(world(), packed(values))) {
      for (auto& value : unpacked<std::vector<std::string>>(Bytes(bytes))) {
        all.push_back(std::move(value));
      }
    }
    return all;
  };
  auto expected = gathered(mine);
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(gathered(found), expected);
}

TEST(SampleSort, AComparisonThatThrowsEndsItOnAllRanks) {
  const Assignment assignment(
      std::vector<std::int64_t>(static_cast<std::size_t>(world().size()), 2));
  bool angry = true;
  SampleSort<int, Less> sort(world(), assignment, Rounds::full(assignment.total(), 2),
                             [&](int a, int b) {
                               if (angry && world().rank() == world().size() - 1) {
                                 throw Error("no more");
                               }
                               return a < b;
                             });
  EXPECT_NE(errorOf([&] {
              (void)sort.run({{3, 2, 1}, {6, 5, 4}});
            }).find("no more"),
            std::string::npos);
  angry = false;
  const auto sorted = sort.run({{3, 2, 1}, {6, 5, 4}});
  EXPECT_TRUE(std::is_sorted(sorted[0].begin(), sorted[0].end()));
}

TEST(BlockCollectives, AreRightUnderAdversaries) {
  if (world().size() > 1) return;
  underAdversaries(Sanitized ? 40 : 300, [](std::uint64_t seed, Transport& transport) {
    const auto blocks = 1 + static_cast<std::int64_t>(mix(seed) % 10);
    const auto all = allKValues(blocks);
    const Assignment assignment = spread(blocks, transport.size(), seed);
    const int k = 2 + static_cast<int>(seed % 3);
    broadcastsRight(transport, assignment, k);
    allReducesRight(transport, assignment, k);
    exchangesRight(transport, assignment, all[mix(seed + 1) % all.size()], seed);
    sortsRight(transport, assignment, 20, seed, Kinds.at("few different"));
  });
}

}  // namespace
}  // namespace tributary
