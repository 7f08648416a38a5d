// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <thread>

#include "Support/Assignments.h"
#include "Support/Effort.h"
#include "Support/World.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Reduction/ArrayMerge.h"
#include "Tributary/Reduction/Merge.h"
#include "Tributary/Reduction/Swap.h"
#include "Tributary/Transport/Simulated.h"

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

constexpr std::int64_t MostBlocks = Sanitized ? 12 : 32;

std::string textOf(const KValues& kValues) {
  std::string text;
  for (const int k : kValues) text += " " + std::to_string(k);
  return "k" + text;
}

// A map x -> a x + b modulo a prime: composition is associative and does not commute.
struct Affine {
  std::uint32_t a = 1;
  std::uint32_t b = 0;
};
constexpr std::uint64_t Prime = 4294967291u;
bool operator==(const Affine& f, const Affine& g) {
  return f.a == g.a && f.b == g.b;
}
Affine after(const Affine& f, const Affine& g) {
  return {static_cast<std::uint32_t>(std::uint64_t(f.a) * g.a % Prime),
          static_cast<std::uint32_t>((std::uint64_t(f.a) * g.b + f.b) % Prime)};
}
void compose(const Affine* lower, const Affine* upper, Affine* result, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) result[i] = after(lower[i], upper[i]);
}
Affine given(BlockId block, std::int64_t element) {
  const std::uint64_t bits =
      mix(static_cast<std::uint64_t>(block) * 1000003 + static_cast<std::uint64_t>(element));
  return {static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32)};
}
/// Folded one by one.
Affine folded(BlockId first, BlockId last, std::int64_t element) {
  Affine all = given(first, element);
  for (BlockId block = first + 1; block < last; ++block) all = after(all, given(block, element));
  return all;
}

std::string itemOf(BlockId block) {
  std::string text = "<";
  text.append(mix(static_cast<std::uint64_t>(block)) % 40, 'x');
  return text + std::to_string(block) + ">";
}

void mergesRight(Transport& transport, const Assignment& assignment, const KValues& kValues) {
  const std::string what = std::to_string(assignment.total()) + " blocks, " + textOf(kValues);
  MergeReduction<std::string> merge(
      transport, assignment, kValues,
      [](std::string& lower, std::string&& upper) { lower += upper; });
  std::int64_t span = 1;
  for (const int k : kValues) span *= k;
  const BlockId first = assignment.first(transport.rank());
  const BlockId end = first + assignment.count(transport.rank());
  std::vector<std::string> items;
  for (BlockId block = first; block < end; ++block) items.push_back(itemOf(block));
  const auto survivors = merge.run(std::move(items));
  std::size_t found = 0;
  for (BlockId block = 0; block < assignment.total(); block += span) {
    if (block < first || block >= end) continue;
    std::string expected;
    for (BlockId b = block; b < std::min(block + span, assignment.total()); ++b)
      expected += itemOf(b);
    ASSERT_LT(found, survivors.size()) << what;
    EXPECT_EQ(survivors[found].block, block) << what;
    EXPECT_EQ(survivors[found].item, expected) << what;
    ++found;
  }
  EXPECT_EQ(found, survivors.size()) << what;
}

/// Arrays of this rank's blocks, and where they begin.
struct Arrays {
  Arrays(const Transport& transport, const Assignment& assignment, std::int64_t length)
      : first(assignment.first(transport.rank())),
        buffers(static_cast<std::size_t>(assignment.count(transport.rank()))) {
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      for (std::int64_t e = 0; e < length; ++e) {
        buffers[i].push_back(given(first + static_cast<BlockId>(i), e));
      }
      pointers.push_back(buffers[i].data());
    }
  }
  BlockId first;
  std::vector<std::vector<Affine>> buffers;
  std::vector<Affine*> pointers;
};

void mergesArraysRight(Transport& transport, const Assignment& assignment, const KValues& kValues,
                       std::int64_t length, std::size_t segmentBytes) {
  const std::string what = std::to_string(assignment.total()) + " blocks, " + textOf(kValues) +
                           ", " + std::to_string(length) + " elements, segments of " +
                           std::to_string(segmentBytes) + " bytes";
  ArrayMergeReduction<Affine> merge(transport, assignment, kValues, length, compose, serialFor,
                                    segmentBytes);
  std::int64_t span = 1;
  for (const int k : kValues) span *= k;
  Arrays arrays(transport, assignment, length);
  merge.run(arrays.pointers);
  for (std::size_t i = 0; i < arrays.buffers.size(); ++i) {
    const BlockId block = arrays.first + static_cast<BlockId>(i);
    ASSERT_EQ(merge.hasResult(i), block % span == 0) << what;
    if (!merge.hasResult(i)) continue;
    for (std::int64_t e = 0; e < length; ++e) {
      ASSERT_EQ(arrays.buffers[i][static_cast<std::size_t>(e)],
                folded(block, std::min(block + span, assignment.total()), e))
          << what << ", element " << e << " of block " << block;
    }
  }
}

void swapsRight(Transport& transport, const Assignment& assignment, const KValues& kValues,
                std::int64_t length) {
  const std::string what = std::to_string(assignment.total()) + " blocks, " + textOf(kValues) +
                           ", " + std::to_string(length) + " elements";
  SwapReduction<Affine> swap(transport, assignment, kValues, length, compose);
  std::int64_t span = 1;
  for (const int k : kValues) span *= k;
  Arrays arrays(transport, assignment, length);
  swap.run(arrays.pointers);
  // How often each group's elements are somewhere.
  std::vector<std::int64_t> holders(
      static_cast<std::size_t>((assignment.total() + span - 1) / span * length), 0);
  for (std::size_t i = 0; i < arrays.buffers.size(); ++i) {
    const BlockId block = arrays.first + static_cast<BlockId>(i);
    const BlockId group = block / span;
    const std::int64_t members = std::min(span, assignment.total() - group * span);
    const Interval part = swap.part(i);
    EXPECT_LE(part.size(), (length + members - 1) / members);
    for (std::int64_t e = part.begin; e < part.end; ++e) {
      ++holders[static_cast<std::size_t>(group * length + e)];
      EXPECT_EQ(arrays.buffers[i][static_cast<std::size_t>(e)],
                folded(group * span, group * span + members, e))
          << what << ", element " << e << " of block " << block;
    }
  }
  if (holders.empty()) return;
  holders = allreduce(transport, ReduceOp::Sum, std::move(holders));
  for (const std::int64_t n : holders) EXPECT_EQ(n, 1) << what;
}

TEST(Rounds, FullKValuesReachOneGroup) {
  EXPECT_EQ(Rounds::full(1, 2), KValues{});
  EXPECT_EQ(Rounds::full(8, 2), (KValues{2, 2, 2}));
  EXPECT_EQ(Rounds::full(9, 4), (KValues{4, 3}));
  EXPECT_EQ(Rounds::full(5, 100), KValues{5});
  for (std::int64_t blocks = 1; blocks < 200; ++blocks) {
    for (int k = 2; k < 20; ++k) EXPECT_TRUE(Rounds(blocks, Rounds::full(blocks, k)).isFull());
  }
  EXPECT_FALSE(Rounds(9, {4, 2}).isFull());
  EXPECT_TRUE(Rounds(std::int64_t(1) << 62, {2147483647, 2147483647, 2147483647}).isFull());
  EXPECT_NE(errorOf([] { Rounds(4, {2, 1}); }), "");
  EXPECT_NE(errorOf([] { Rounds(-1, {2}); }), "");
  EXPECT_NE(errorOf([] { static_cast<void>(Rounds::full(4, 1)); }), "");
}

TEST(Rounds, PlacesArePermutationsAndRefineWhereGroupsAreFull) {
  for (std::int64_t blocks = 1; blocks <= MostBlocks; ++blocks) {
    for (const KValues& kValues : allKValues(blocks)) {
      const Rounds rounds(blocks, kValues);
      for (int round = 0; round <= rounds.count(); ++round) {
        std::vector<bool> taken(static_cast<std::size_t>(blocks), false);
        for (BlockId block = 0; block < blocks; ++block) {
          const BlockId first = rounds.first(block, round);
          const std::int64_t place = rounds.place(block, round);
          ASSERT_LT(place, rounds.members(first, round));
          ASSERT_FALSE(taken[static_cast<std::size_t>(first + place)]);
          taken[static_cast<std::size_t>(first + place)] = true;
          ASSERT_EQ(rounds.blockAt(first, place, round), block);
          std::int64_t product = 1;
          for (int r = 0; r < round; ++r) product *= kValues[static_cast<std::size_t>(r)];
          if (round == 0 || blocks % product != 0) continue;
          const Interval before = rounds.part(block, round - 1, 12345);
          const Interval now = rounds.part(block, round, 12345);
          ASSERT_LE(before.begin, now.begin);
          ASSERT_GE(before.end, now.end);
        }
      }
    }
  }
}

// All k-values of all numbers of blocks, on ranks with uneven numbers of blocks or none.
TEST(Merge, OfAllKValuesIsTheSerialFold) {
  const int most = world().size() > 1 ? 12 : static_cast<int>(MostBlocks);
  for (const int ranks : {1, 3}) {
    onRanks(ranks, [&](Transport& transport) {
      for (std::int64_t blocks = 1; blocks <= most; ++blocks) {
        std::uint64_t seed = 0;
        for (const KValues& kValues : allKValues(blocks)) {
          mergesRight(transport, spread(blocks, transport.size(), seed++), kValues);
        }
      }
    });
  }
}

TEST(ArrayMerge, OfAllKValuesIsTheSerialFold) {
  const int most = world().size() > 1 ? 12 : static_cast<int>(MostBlocks);
  for (const int ranks : {1, 3}) {
    onRanks(ranks, [&](Transport& transport) {
      for (std::int64_t blocks = 1; blocks <= most; ++blocks) {
        std::uint64_t seed = 0;
        for (const KValues& kValues : allKValues(blocks)) {
          // Of one segment, of several unequal ones, and of an element each.
          mergesArraysRight(transport, spread(blocks, transport.size(), seed), kValues,
                            7 + static_cast<std::int64_t>(seed % 5),
                            (seed % 4 == 0   ? 100
                             : seed % 4 == 1 ? 3
                                             : 4) *
                                sizeof(Affine));
          ++seed;
        }
      }
    });
  }
}

TEST(Swap, OfAllKValuesIsTheSerialFold) {
  const int most = world().size() > 1 ? 12 : static_cast<int>(MostBlocks);
  for (const int ranks : {1, 3}) {
    onRanks(ranks, [&](Transport& transport) {
      for (std::int64_t blocks = 1; blocks <= most; ++blocks) {
        std::uint64_t seed = 0;
        for (const KValues& kValues : allKValues(blocks)) {
          swapsRight(transport, spread(blocks, transport.size(), seed), kValues,
                     37 + static_cast<std::int64_t>(seed % 5));
          ++seed;
        }
      }
    });
  }
}

TEST(Merge, PartialLeavesTheGroups) {
  onRanks(4, [&](Transport& transport) {
    for (const std::int64_t blocks : {0, 1, 6, 16, 23}) {
      for (const KValues& kValues : {KValues{}, {2}, {4}, {4, 2}, {3, 2}, {2, 2, 2}}) {
        mergesRight(transport, spread(blocks, transport.size(), 5), kValues);
      }
    }
  });
}

TEST(ArrayMerge, PartialAndShortBuffers) {
  onRanks(4, [&](Transport& transport) {
    for (const std::int64_t blocks : {0, 1, 6, 16, 23}) {
      for (const KValues& kValues : {KValues{}, {2}, {4}, {4, 2}, {3, 2}, {2, 2, 2}, {23}}) {
        for (const std::int64_t length : {0, 1, 5, 64}) {
          mergesArraysRight(transport, spread(blocks, transport.size(), 6), kValues, length, 40);
        }
      }
    }
  });
}

// Segments larger and smaller than what the transport copies, and as large as by default.
TEST(ArrayMerge, OfManyBytes) {
  for (const std::size_t segmentBytes :
       {std::size_t(50000), std::size_t(100000), ArrayMergeBytes::DefaultSegmentBytes}) {
    for (const KValues& kValues : {KValues{2, 2, 2}, {5}}) {
      mergesArraysRight(world(), spread(5, world().size(), 3), kValues, 150001, segmentBytes);
    }
  }
}

TEST(Swap, PartialAndShortBuffers) {
  onRanks(4, [&](Transport& transport) {
    for (const std::int64_t blocks : {0, 1, 6, 16, 23}) {
      for (const KValues& kValues : {KValues{}, {2}, {4}, {4, 2}, {3, 2}, {2, 2, 2}, {23}}) {
        for (const std::int64_t length : {0, 1, 5, 64}) {
          swapsRight(transport, spread(blocks, transport.size(), 6), kValues, length);
        }
      }
    }
  });
}

TEST(Merge, ItemsOfNoneAndOfManyBytes) {
  const Assignment assignment = spread(7, world().size(), 3);
  const BlockId first = assignment.first(world().rank());
  const auto count = static_cast<std::size_t>(assignment.count(world().rank()));
  MergeReduction<Bytes> merge(world(), assignment, {2, 2, 2}, [](Bytes& lower, Bytes&& upper) {
    append(lower, upper.data(), upper.size());
  });
  for (const std::size_t size : {std::size_t(0), std::size_t(Sanitized ? 1 : 5) << 20}) {
    std::vector<Bytes> items;
    for (std::size_t i = 0; i < count; ++i) {
      items.emplace_back(size, static_cast<std::byte>(first + static_cast<BlockId>(i)));
    }
    const auto survivors = merge.run(std::move(items));
    if (survivors.empty()) continue;
    ASSERT_EQ(survivors[0].item.size(), 7 * size);
    for (std::size_t i = 0; i < 7 * size; i += 4093) {
      ASSERT_EQ(survivors[0].item[i], static_cast<std::byte>(i / size));
    }
  }
}

// An image over another, as in sort-last rendering: floats, so that another order has other bits.
struct Pixel {
  float r, g, b, a;
};
void over(const Pixel* lower, const Pixel* upper, Pixel* result, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const float rest = 1 - lower[i].a;
    result[i] = {lower[i].r + rest * upper[i].r, lower[i].g + rest * upper[i].g,
                 lower[i].b + rest * upper[i].b, lower[i].a + rest * upper[i].a};
  }
}
Pixel pixelOf(BlockId block, std::int64_t at) {
  const auto part = [&](int i) {
    return static_cast<float>(mix(static_cast<std::uint64_t>((block * 4 + i) * 7919 + at)) % 1000) /
           1000;
  };
  return {part(0), part(1), part(2), part(3)};
}

/// The whole image, by its parts from wherever they are.
std::vector<Pixel> composited(Transport& transport, const Assignment& assignment,
                              const KValues& kValues, std::int64_t pixels,
                              const ParallelFor& parallelFor) {
  SwapReduction<Pixel> swap(transport, assignment, kValues, pixels, over, parallelFor);
  const auto count = static_cast<std::size_t>(assignment.count(transport.rank()));
  std::vector<std::vector<Pixel>> images(count);
  std::vector<Pixel*> pointers;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::int64_t p = 0; p < pixels; ++p) {
      images[i].push_back(pixelOf(assignment.first(transport.rank()) + static_cast<BlockId>(i), p));
    }
    pointers.push_back(images[i].data());
  }
  swap.run(pointers);
  struct Placed {
    std::int64_t at;
    Pixel pixel;
  };
  std::vector<Placed> mine;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::int64_t p = swap.part(i).begin; p < swap.part(i).end; ++p) {
      mine.push_back({p, images[i][static_cast<std::size_t>(p)]});
    }
  }
  std::vector<Pixel> image(static_cast<std::size_t>(pixels));
  for (const Placed& placed : allgatherv(transport, mine)) {
    image[static_cast<std::size_t>(placed.at)] = placed.pixel;
  }
  return image;
}

/// The merged image, on all ranks.
std::vector<Pixel> merged(Transport& transport, const Assignment& assignment,
                          const KValues& kValues, std::int64_t pixels, std::size_t segmentBytes,
                          const ParallelFor& parallelFor) {
  ArrayMergeReduction<Pixel> merge(transport, assignment, kValues, pixels, over, parallelFor,
                                   segmentBytes);
  const auto count = static_cast<std::size_t>(assignment.count(transport.rank()));
  std::vector<std::vector<Pixel>> images(count);
  std::vector<Pixel*> pointers;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::int64_t p = 0; p < pixels; ++p) {
      images[i].push_back(pixelOf(assignment.first(transport.rank()) + static_cast<BlockId>(i), p));
    }
    pointers.push_back(images[i].data());
  }
  merge.run(pointers);
  return allgatherv(transport, count > 0 && merge.hasResult(0) ? images[0] : std::vector<Pixel>());
}

ParallelFor threads(int number) {
  return [number](std::int64_t n, const std::function<void(std::int64_t, std::int64_t)>& body) {
    std::vector<std::thread> all;
    for (std::int64_t t = 0; t < number; ++t) {
      all.emplace_back([&, t] {
        if (n * t / number < n * (t + 1) / number) body(n * t / number, n * (t + 1) / number);
      });
    }
    for (auto& thread : all) thread.join();
  };
}

TEST(Swap, HasTheSameBitsOnAnyRanksThreadsAndArrivals) {
  constexpr std::int64_t Pixels = Sanitized ? 5000 : 20000;
  for (const KValues& kValues : {KValues{11}, {2, 2, 2, 2}, {4, 3}, {3, 4}}) {
    std::vector<Pixel> reference;
    if (world().rank() == 0) {
      VirtualTimeNetworkOptions one;
      makeVirtualTimeNetwork(one)->run([&](Transport& transport) {
        reference = composited(transport, Assignment({11}), kValues, Pixels, serialFor);
      });
    }
    reference = broadcast(world(), reference, 0);
    const auto same = [&](const std::vector<Pixel>& image) {
      ASSERT_EQ(image.size(), reference.size());
      EXPECT_EQ(std::memcmp(image.data(), reference.data(), image.size() * sizeof(Pixel)), 0);
    };
    // Against the serial fold, up to rounding.
    for (std::int64_t p = 0; p < Pixels; p += 997) {
      Pixel all = pixelOf(0, p);
      for (BlockId block = 1; block < 11; ++block) {
        const Pixel next = pixelOf(block, p);
        over(&all, &next, &all, 1);
      }
      EXPECT_NEAR(all.r, reference[static_cast<std::size_t>(p)].r, 1e-5);
      EXPECT_NEAR(all.a, reference[static_cast<std::size_t>(p)].a, 1e-5);
    }
    for (const int count : {1, 2, 3}) {
      same(composited(world(), spread(11, world().size(), 9), kValues, Pixels, threads(count)));
    }
    if (world().size() > 1) continue;
    for (const int ranks : {2, 3, 4, 8}) {
      VirtualTimeNetworkOptions options;
      options.ranks = ranks;
      makeVirtualTimeNetwork(options)->run([&](Transport& transport) {
        same(composited(transport, spread(11, ranks, 4), kValues, Pixels, serialFor));
      });
    }
  }
}

TEST(ArrayMerge, HasTheSameBitsOnAnyRanksThreadsSegmentsAndArrivals) {
  constexpr std::int64_t Pixels = Sanitized ? 5000 : 20000;
  for (const KValues& kValues : {KValues{11}, {2, 2, 2, 2}, {4, 3}, {3, 4}}) {
    // Along the tree of a merge of items.
    MergeReduction<std::vector<Pixel>> items(
        world(), spread(11, world().size(), 2), kValues,
        [](std::vector<Pixel>& lower, std::vector<Pixel>&& upper) {
          over(lower.data(), upper.data(), lower.data(), lower.size());
        });
    const Assignment assignment = spread(11, world().size(), 2);
    std::vector<std::vector<Pixel>> images(
        static_cast<std::size_t>(assignment.count(world().rank())));
    for (std::size_t i = 0; i < images.size(); ++i) {
      for (std::int64_t p = 0; p < Pixels; ++p) {
        images[i].push_back(pixelOf(assignment.first(world().rank()) + static_cast<BlockId>(i), p));
      }
    }
    const auto survivors = items.run(std::move(images));
    const std::vector<Pixel> reference =
        allgatherv(world(), survivors.empty() ? std::vector<Pixel>() : survivors[0].item);
    const auto same = [&](const std::vector<Pixel>& image) {
      ASSERT_EQ(image.size(), reference.size());
      EXPECT_EQ(std::memcmp(image.data(), reference.data(), image.size() * sizeof(Pixel)), 0);
    };
    ASSERT_EQ(reference.size(), static_cast<std::size_t>(Pixels));
    for (const int count : {1, 2, 3}) {
      const std::size_t segmentBytes = static_cast<std::size_t>(count * Pixels) * 7 / 2;
      same(merged(world(), spread(11, world().size(), 9), kValues, Pixels, segmentBytes,
                  threads(count)));
    }
    if (world().size() > 1) continue;
    for (const int ranks : {2, 3, 4, 8}) {
      VirtualTimeNetworkOptions options;
      options.ranks = ranks;
      makeVirtualTimeNetwork(options)->run([&](Transport& transport) {
        same(merged(transport, spread(11, ranks, 4), kValues, Pixels,
                    static_cast<std::size_t>(Pixels) * 3 / 2, serialFor));
      });
    }
  }
}

// What is done of an array goes on while the rest is still to come: four blocks in two rounds take
// hardly longer than two in one.
TEST(ArrayMerge, PassesSegmentsOnAsTheyAreDone) {
  if (world().size() > 1) return;
  constexpr std::int64_t Length = 1 << 20;
  const auto seconds = [](int ranks, std::size_t segmentBytes) {
    VirtualTimeNetworkOptions options;
    options.ranks = ranks;
    double last = 0;
    makeVirtualTimeNetwork(options)->run([&](Transport& transport) {
      const Assignment assignment(std::vector<std::int64_t>(static_cast<std::size_t>(ranks), 1));
      ArrayMergeReduction<char> merge(
          transport, assignment, Rounds::full(ranks, 2), Length,
          [](const char*, const char*, char*, std::size_t) {}, serialFor, segmentBytes);
      std::vector<char> array(Length);
      barrier(transport);
      const double begin = transport.now();
      merge.run({array.data()});
      last = std::max(last, transport.now() - begin);
    });
    return last;
  };
  EXPECT_GT(seconds(8, Length), 2.0 * seconds(2, Length));
  EXPECT_LT(seconds(8, 1 << 14), 1.5 * seconds(2, 1 << 14));
}

TEST(Merge, ThreadsMergeMembersOfAGroupAtTheSameTime) {
  const Assignment assignment(
      std::vector<std::int64_t>(static_cast<std::size_t>(world().size()), 8));
  std::int64_t most = 0;
  const ParallelFor parallelFor = [&](std::int64_t n, const auto& body) {
    most = std::max(most, n);
    threads(4)(n, body);
  };
  MergeReduction<std::string> merge(
      world(), assignment, Rounds::full(assignment.total(), 8),
      [](std::string& lower, std::string&& upper) { lower += upper; }, parallelFor);
  std::vector<std::string> items;
  for (int i = 0; i < 8; ++i) items.push_back(itemOf(assignment.first(world().rank()) + i));
  const auto survivors = merge.run(std::move(items));
  EXPECT_EQ(most, 4);
  if (world().rank() != 0) return;
  std::string expected;
  for (BlockId block = 0; block < assignment.total(); ++block) expected += itemOf(block);
  ASSERT_EQ(survivors.size(), 1u);
  EXPECT_EQ(survivors[0].item, expected);
}

// Messages come in any order that an adversary likes.
TEST(Reductions, AreRightUnderAdversaries) {
  if (world().size() > 1) return;
  underAdversaries(Sanitized ? 40 : 400, [](std::uint64_t seed, Transport& transport) {
    const auto blocks = 1 + static_cast<std::int64_t>(mix(seed) % 12);
    const auto all = allKValues(blocks);
    const KValues& kValues = all[mix(seed + 99) % all.size()];
    const Assignment assignment = spread(blocks, transport.size(), seed);
    mergesRight(transport, assignment, kValues);
    swapsRight(transport, assignment, kValues, 29);
    mergesArraysRight(transport, assignment, kValues, 29, 40);
  });
}

TEST(Reductions, ManyInARowDoNotMix) {
  const Assignment assignment = spread(9, world().size(), 2);
  const auto count = static_cast<std::size_t>(assignment.count(world().rank()));
  MergeReduction<std::vector<int>> merge(world(), assignment, {3, 3},
                                         [](std::vector<int>& lower, std::vector<int>&& upper) {
                                           lower.insert(lower.end(), upper.begin(), upper.end());
                                         });
  for (int run = 0; run < 200; ++run) {
    for (const auto& survivor : merge.run(std::vector<std::vector<int>>(count, {run}))) {
      EXPECT_EQ(survivor.item, std::vector<int>(9, run));
    }
  }
}

// Ranks that do not wait for each other, and two machines advanced in whatever order.
TEST(Reductions, UnderWayAtTheSameTimeDoNotMix) {
  const auto body = [](std::uint64_t seed, Transport& transport) {
    const Assignment assignment = spread(9, transport.size(), seed);
    const BlockId first = assignment.first(transport.rank());
    const auto count = static_cast<std::size_t>(assignment.count(transport.rank()));
    const auto append = [](std::string& lower, std::string&& upper) { lower += upper; };
    MergeReduction<std::string> one(transport, assignment, {3, 3}, append);
    MergeReduction<std::string> other(transport, assignment, {2, 5}, append);
    Backoff backoff;
    for (int run = 0; run < 20; ++run) {
      std::vector<std::string> items;
      for (std::size_t i = 0; i < count; ++i) {
        items.push_back(std::to_string(run) + itemOf(first + static_cast<BlockId>(i)));
      }
      std::string expected;
      for (BlockId block = 0; block < 9; ++block) expected += std::to_string(run) + itemOf(block);
      one.start(items);
      other.start(items);
      while (!one.ended() || !other.ended()) {
        const bool begin = (mix(seed + static_cast<std::uint64_t>(transport.rank())) & 1) == 0;
        // The loop asks both whether they have ended.
        static_cast<void>((begin ? one : other).advance());
        static_cast<void>((begin ? other : one).advance());
        backoff.pause(transport);
      }
      for (auto* merge : {&one, &other}) {
        for (const auto& survivor : merge->takeSurvivors()) EXPECT_EQ(survivor.item, expected);
      }
    }
    barrier(transport);
  };
  body(1, world());
  if (world().size() == 1) underAdversaries(Sanitized ? 10 : 60, body);
}

/// A value that cannot be sent from one rank.
struct Stubborn {
  std::string text;
};

}  // namespace

template <>
struct Serial<Stubborn> {
  static void write(Writer& writer, const Stubborn& value) {
    if (value.text.rfind("no", 0) == 0) throw Error("it does not want to go");
    writer.text(value.text);
  }
  static Stubborn read(Reader& reader) { return {reader.text()}; }
};

namespace {

TEST(Reductions, AnErrorOfOneRankEndsThemOnAllRanks) {
  const int ranks = world().size();
  const bool last = world().rank() == ranks - 1;
  const Assignment assignment(std::vector<std::int64_t>(static_cast<std::size_t>(ranks), 2));
  MergeReduction<Stubborn> merge(
      world(), assignment, Rounds::full(2 * ranks, 2),
      [](Stubborn& lower, Stubborn&& upper) { lower.text += upper.text; });
  const auto with = [](const char* text) { return std::vector<Stubborn>(2, Stubborn{text}); };
  EXPECT_EQ(errorOf([&] { static_cast<void>(merge.run(with(last ? "no" : "yes"))); }).empty(),
            ranks == 1);
  std::vector<Stubborn> items = with("yes");
  if (last) items.resize(1);
  EXPECT_NE(errorOf([&] { static_cast<void>(merge.run(std::move(items))); }), "");
  for (const auto& survivor : merge.run(with("a"))) {
    EXPECT_EQ(survivor.item.text, std::string(static_cast<std::size_t>(2 * ranks), 'a'));
  }
  if (ranks == 1) return;
  const auto add = [](int& lower, int&& upper) { lower += upper; };
  const std::vector<std::int64_t> even(static_cast<std::size_t>(ranks), 33);
  std::vector<std::int64_t> uneven = even;
  uneven[0] += 1;
  uneven[1] -= 1;
  const KValues one = {2, 33};
  const KValues other = {3, 2};
  EXPECT_NE(
      errorOf([&] { MergeReduction<int>(world(), Assignment(even), last ? one : other, add); }),
      "");
  EXPECT_NE(
      errorOf([&] { MergeReduction<int>(world(), Assignment(last ? even : uneven), {2}, add); }),
      "");
}

// Large messages in many parts.
TEST(Reductions, AreRightInParts) {
  const auto transport = testing::makeWorld(1000);
  const Assignment assignment = spread(5, transport->size(), 4);
  swapsRight(*transport, assignment, {5}, 200000);
  swapsRight(*transport, assignment, {3, 2}, 100000);
  mergesArraysRight(*transport, assignment, {3, 2}, 100000, 70000);
}

TEST(Reductions, AreNotBegunTwiceAtATime) {
  const Assignment assignment(
      std::vector<std::int64_t>(static_cast<std::size_t>(world().size()), 1));
  MergeReduction<int> merge(world(), assignment, Rounds::full(assignment.total(), 2),
                            [](int& lower, int&& upper) { lower += upper; });
  merge.start({1});
  EXPECT_NE(errorOf([&] { merge.start({1}); }).find("started again"), std::string::npos);
  EXPECT_NE(errorOf([&] { merge.open(); }).find("opened again"), std::string::npos);
  merge.wait();
  for (const auto& survivor : merge.takeSurvivors()) EXPECT_EQ(survivor.item, world().size());
}

TEST(Reductions, WrongArgumentsAreRefusedOnAllRanks) {
  const int ranks = world().size();
  const bool last = world().rank() == ranks - 1;
  const Assignment assignment(std::vector<std::int64_t>(static_cast<std::size_t>(ranks), 2));
  const auto add = [](int& lower, int&& upper) { lower += upper; };
  EXPECT_NE(errorOf([&] {
              MergeReduction<int>(world(), assignment, {2, last ? 1 : 2}, add);
            }).find("k-value"),
            std::string::npos);
  if (ranks > 1) {
    EXPECT_NE(errorOf([&] { MergeReduction<int>(world(), assignment, {last ? 3 : 2}, add); }), "");
    EXPECT_NE(
        errorOf([&] { SwapReduction<Affine>(world(), assignment, {2}, last ? 10 : 11, compose); }),
        "");
    EXPECT_NE(errorOf([&] {
                ArrayMergeReduction<Affine>(world(), assignment, {2}, 10, compose, serialFor,
                                            last ? 100 : 200);
              }),
              "");
  }
  EXPECT_NE(errorOf([&] {
              MergeReduction<int>(
                  world(),
                  Assignment(std::vector<std::int64_t>(static_cast<std::size_t>(ranks + 1))), {2},
                  add);
            }),
            "");
  EXPECT_NE(errorOf([&] {
              ArrayMergeReduction<Affine>(world(), assignment, {2}, 10, compose, serialFor, 0);
            }),
            "");
  EXPECT_NE(errorOf([&] { ArrayMergeReduction<Affine>(world(), assignment, {2}, -1, compose); }),
            "");
  EXPECT_NE(errorOf([] { Rounds(-1, {}); }).find("negative"), std::string::npos);
  MergeReduction<int> merge(world(), assignment, {2}, add);
  EXPECT_NE(errorOf([&] { merge.start({1, 2, 3}); }), "");
  const auto survivors = merge.run({1, 2});
  ASSERT_EQ(survivors.size(), 1u);
  EXPECT_EQ(survivors[0].item, 3);
}

TEST(Reductions, AnOperatorThatThrowsEndsThemOnAllRanks) {
  const int ranks = world().size();
  const Assignment assignment(std::vector<std::int64_t>(static_cast<std::size_t>(ranks), 3));
  const KValues kValues = Rounds::full(assignment.total(), 2);
  bool angry = true;
  MergeReduction<int> merge(world(), assignment, kValues, [&](int& lower, int&& upper) {
    if (angry && world().rank() == ranks - 1) throw Error("no more");
    lower += upper;
  });
  const auto add = [&](const int* lower, const int* upper, int* result, std::size_t count) {
    if (angry && world().rank() == ranks - 1) throw Error("no more");
    for (std::size_t i = 0; i < count; ++i) result[i] = lower[i] + upper[i];
  };
  SwapReduction<int> swap(world(), assignment, kValues, 100, add);
  ArrayMergeReduction<int> arrayMerge(world(), assignment, kValues, 100, add, serialFor, 64);
  std::vector<int> values(300, 1);
  const std::vector<int*> buffers = {&values[0], &values[100], &values[200]};
  EXPECT_NE(errorOf([&] {
              static_cast<void>(merge.run({1, 1, 1}));
            }).find("no more"),
            std::string::npos);
  MergeReduction<int> odd(world(), assignment, kValues, [](int&, int&&) { throw 5; });
  EXPECT_NE(errorOf([&] {
              static_cast<void>(odd.run({1, 1, 1}));
            }).find("not a std::exception"),
            std::string::npos);
  EXPECT_NE(errorOf([&] { swap.run(buffers); }).find("no more"), std::string::npos);
  EXPECT_NE(errorOf([&] { arrayMerge.run(buffers); }).find("no more"), std::string::npos);
  angry = false;
  std::fill(values.begin(), values.end(), 1);
  arrayMerge.run(buffers);
  if (arrayMerge.hasResult(0)) {
    EXPECT_EQ(std::count(&values[0], &values[100], 3 * ranks), 100);
  }
  for (const auto& survivor : merge.run({1, 1, 1})) EXPECT_EQ(survivor.item, 3 * ranks);
  std::fill(values.begin(), values.end(), 1);
  swap.run(buffers);
  for (std::size_t i = 0; i < 3; ++i) {
    for (auto e = swap.part(i).begin; e < swap.part(i).end; ++e)
      EXPECT_EQ(buffers[i][e], 3 * ranks);
  }
}

}  // namespace

}  // namespace tributary
