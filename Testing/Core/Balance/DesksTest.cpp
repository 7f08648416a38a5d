// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Balance/Desks.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "Support/World.h"

namespace tributary {
namespace {

using testing::errorOf;

// All numbers of the exchange are those of one block or one desk, in the order of ranks.
TEST(Desks, NumberEachBlockAndEachRankOnce) {
  for (const std::vector<std::int64_t>& counts : std::vector<std::vector<std::int64_t>>{
           {1}, {0}, {5}, {0, 0, 0}, {1, 1}, {0, 3, 0}, {2, 0, 1, 0}, {100, 0, 1000, 7}}) {
    const Assignment blocks(counts);
    const Desks desks(blocks);
    ASSERT_EQ(desks.assignment().ranks(), blocks.ranks());
    BlockId address = 0, block = 0;
    for (int rank = 0; rank < blocks.ranks(); ++rank) {
      EXPECT_EQ(desks.assignment().first(rank), address);
      for (std::int64_t i = 0; i < blocks.count(rank); ++i, ++address, ++block) {
        EXPECT_EQ(desks.addressOf(block), address);
        EXPECT_EQ(desks.blockAt(address), block);
        EXPECT_EQ(desks.rankOf(address), rank);
        EXPECT_FALSE(desks.isDesk(address));
      }
      EXPECT_EQ(desks.deskOf(rank), address);
      EXPECT_EQ(desks.rankOf(address), rank);
      EXPECT_TRUE(desks.isDesk(address));
      ++address;
    }
    EXPECT_EQ(desks.assignment().total(), address);
  }
}

TEST(Desks, RefuseNumbersThatDoNotExist) {
  const Desks desks(Assignment({2, 0, 1}));
  for (const BlockId block : {BlockId(-1), BlockId(3), BlockId(1) << 40})
    EXPECT_NE(errorOf([&] { static_cast<void>(desks.addressOf(block)); }), "") << block;
  for (const BlockId address : {BlockId(-1), BlockId(6), BlockId(1) << 40}) {
    EXPECT_NE(errorOf([&] { static_cast<void>(desks.rankOf(address)); }), "") << address;
    EXPECT_NE(errorOf([&] { static_cast<void>(desks.isDesk(address)); }), "") << address;
    EXPECT_NE(errorOf([&] { static_cast<void>(desks.blockAt(address)); }), "") << address;
  }
}

}  // namespace
}  // namespace tributary
