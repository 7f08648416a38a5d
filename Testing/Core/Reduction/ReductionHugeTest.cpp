// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "Support/Huge.h"
#include "Support/World.h"
#include "Tributary/Reduction/ArrayMerge.h"
#include "Tributary/Reduction/Merge.h"
#include "Tributary/Reduction/Swap.h"

namespace tributary {
namespace {

using testing::HugeBytes;
using testing::mix;
using testing::whyNotHuge;
using testing::world;

// Two blocks, on one rank or on two. Which of them is the lower one makes a difference.
constexpr std::int64_t Length = HugeBytes / sizeof(std::uint32_t);
constexpr std::int64_t Step = 1021;  // of what is looked at

std::uint32_t given(BlockId block, std::int64_t element) {
  return static_cast<std::uint32_t>(mix(static_cast<std::uint64_t>(element * 2 + block)));
}
std::uint32_t combined(std::uint32_t lower, std::uint32_t upper) {
  return 3 * lower + upper;
}
void combineAll(const std::uint32_t* lower, const std::uint32_t* upper, std::uint32_t* result,
                std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) result[i] = combined(lower[i], upper[i]);
}

Assignment twoBlocks() {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(world().size()), 0);
  ++counts.front();
  ++counts.back();
  return Assignment(counts);
}

void fill(BlockId block, std::uint32_t* elements) {
  for (std::int64_t e = 0; e < Length; ++e) elements[e] = static_cast<std::uint32_t>(e);
  for (std::int64_t e = 0; e < Length; e += Step) elements[e] = given(block, e);
  elements[Length - 1] = given(block, Length - 1);
}

std::int64_t wrong(const std::uint32_t* elements, std::int64_t begin, std::int64_t end) {
  const auto isWrong = [&](std::int64_t e) {
    return elements[e] != combined(given(0, e), given(1, e));
  };
  std::int64_t count = end == Length && isWrong(end - 1) ? 1 : 0;
  for (std::int64_t e = (begin + Step - 1) / Step * Step; e < end; e += Step) count += isWrong(e);
  return count;
}

/// Buffers of this rank's blocks.
struct Buffers {
  explicit Buffers(const Assignment& assignment) {
    const BlockId first = assignment.first(world().rank());
    for (std::int64_t i = 0; i < assignment.count(world().rank()); ++i) {
      Bytes& buffer = bytes.emplace_back();
      buffer.reserve(HugeBytes + detail::BlockPost::Tail);
      buffer.resize(HugeBytes);
      pointers.push_back(reinterpret_cast<std::uint32_t*>(buffer.data()));
      fill(first + i, pointers.back());
    }
  }
  std::vector<Bytes> bytes;
  std::vector<std::uint32_t*> pointers;
};

TEST(ReductionHuge, MergeOfItemsOverTwoGibibytes) {
  const std::string whyNot = whyNotHuge(12);
  if (!whyNot.empty()) GTEST_SKIP() << whyNot;
  const Assignment assignment = twoBlocks();
  MergeReduction<Bytes> merge(world(), assignment, {2}, [](Bytes& lower, Bytes&& upper) {
    ASSERT_EQ(upper.size(), HugeBytes);
    auto* elements = reinterpret_cast<std::uint32_t*>(lower.data());
    combineAll(elements, reinterpret_cast<const std::uint32_t*>(upper.data()), elements,
               static_cast<std::size_t>(Length));
  });
  const auto survivors = merge.run(std::move(Buffers(assignment).bytes));
  ASSERT_EQ(survivors.size(), world().rank() == 0 ? 1u : 0u);
  if (survivors.empty()) return;
  ASSERT_EQ(survivors[0].item.size(), HugeBytes);
  EXPECT_EQ(wrong(reinterpret_cast<const std::uint32_t*>(survivors[0].item.data()), 0, Length), 0);
}

TEST(ReductionHuge, MergeOfArraysOverTwoGibibytes) {
  const std::string whyNot = whyNotHuge(8);
  if (!whyNot.empty()) GTEST_SKIP() << whyNot;
  const Assignment assignment = twoBlocks();
  const Buffers buffers(assignment);
  // In many segments, and in one.
  for (const std::size_t segmentBytes : {ArrayMergeBytes::DefaultSegmentBytes, HugeBytes}) {
    ArrayMergeReduction<std::uint32_t> merge(world(), assignment, {2}, Length, combineAll,
                                             serialFor, segmentBytes);
    if (world().rank() == 0) fill(0, buffers.pointers[0]);
    merge.run(buffers.pointers);
    if (world().rank() == 0) {
      EXPECT_EQ(wrong(buffers.pointers[0], 0, Length), 0);
    }
  }
}

TEST(ReductionHuge, SwapOfArraysOverTwoGibibytes) {
  const std::string whyNot = whyNotHuge(10);
  if (!whyNot.empty()) GTEST_SKIP() << whyNot;
  const Assignment assignment = twoBlocks();
  const Buffers buffers(assignment);
  SwapReduction<std::uint32_t> swap(world(), assignment, {2}, Length, combineAll);
  swap.run(buffers.pointers);
  for (std::size_t i = 0; i < buffers.pointers.size(); ++i) {
    EXPECT_EQ(wrong(buffers.pointers[i], swap.part(i).begin, swap.part(i).end), 0);
  }
}

}  // namespace
}  // namespace tributary
