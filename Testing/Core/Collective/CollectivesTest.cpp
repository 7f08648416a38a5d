// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Collective/Collectives.h"

#include <gtest/gtest.h>

#include <new>
#include <string>
#include <utility>
#include <vector>

#include "Support/Everywhere.h"
#include "Tributary/Collective/Records.h"
#include "Tributary/Reduction/AllToAll.h"

namespace tributary {
namespace {

using testing::everywhere;

std::int64_t countOf(int rank) {
  return rank % 3;
}

/// The values of a rank: as many as the others expect, or one more.
std::vector<double> valuesOf(int rank, bool isOneMore = false) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < countOf(rank) + (isOneMore ? 1 : 0); ++i)
    values.push_back(10 * rank + static_cast<double>(i));
  return values;
}

TEST(Collectives, GatherValuesOfKnownNumbers) {
  everywhere([](Transport& t) {
    std::vector<double> expected;
    for (int rank = 0; rank < t.size(); ++rank) {
      const std::vector<double> values = valuesOf(rank);
      expected.insert(expected.end(), values.begin(), values.end());
    }
    ErrorCollector errors;
    EXPECT_EQ(allgatherv<double>(t, valuesOf(t.rank()), errors, countOf), expected);
    errors.agree(t);
  });
}

TEST(Collectives, AnotherNumberOfValuesIsAnErrorOnAllRanks) {
  everywhere([](Transport& t) {
    for (int wrong = 0; wrong < t.size(); ++wrong) {
      ErrorCollector errors;
      EXPECT_TRUE(
          allgatherv<double>(t, valuesOf(t.rank(), t.rank() == wrong), errors, countOf).empty());
      const std::string from = std::to_string(countOf(wrong)) + " values expected from rank " +
                               std::to_string(wrong) + ", which sent " +
                               std::to_string(countOf(wrong) + 1);
      EXPECT_NE(errors.text().find(from), std::string::npos) << errors.text();
      EXPECT_EQ(errors.report().kind, ErrorKind::Message);
      EXPECT_THROW(errors.agree(t), Error);
    }
    // An error of one rank alone: it gives no values, and all ranks learn of it at the end.
    ErrorCollector errors;
    if (t.rank() == t.size() - 1) errors.note("an earlier error");
    const auto values = allgatherv<double>(t, valuesOf(t.rank()), errors, countOf);
    EXPECT_TRUE(values.empty() || t.rank() != t.size() - 1);
    EXPECT_THROW(errors.agree(t), Error);
    // The transport can be used again.
    EXPECT_EQ(allgather(t, t.rank()).back(), t.size() - 1);
  });
}

std::vector<Bytes> allToAllInOneRound(Transport& transport, std::vector<Bytes> toEachRank,
                                      ErrorCollector& errors) {
  return allToAll(transport, std::move(toEachRank), KValues{transport.size()}, errors);
}

TEST(Collectives, CountsThatCannotBeAddedAreAnErrorOnAllRanks) {
  everywhere([](Transport& t) {
    EXPECT_EQ(exclusivePrefix(t, t.rank() == 0 ? MostCounted : 0), t.rank() == 0 ? 0 : MostCounted);
    for (int wrong = 0; wrong < t.size(); ++wrong) {
      EXPECT_THROW((void)exclusivePrefix(t, t.rank() == wrong ? -1 : 7), Error);
      EXPECT_THROW((void)exclusivePrefix(t, t.rank() == wrong ? MostCounted + 1 : 0), Error);
      EXPECT_EQ(exclusivePrefix(t, 7), 7 * t.rank());
    }
  });
}

TEST(Collectives, ARankThatPassesNoBuffersSendsNothing) {
  everywhere([](Transport& t) {
    for (const ByteExchange exchange :
         {ByteExchange(exchangeBytes), ByteExchange(allToAll), ByteExchange(allToAllInOneRound)}) {
      std::vector<Bytes> toEachRank;
      if (t.rank() % 2 == 1)
        for (int to = 0; to < t.size(); ++to)
          toEachRank.push_back(Writer().value(100 * t.rank() + to).take());
      ErrorCollector errors;
      const std::vector<Bytes> got = exchange(t, std::move(toEachRank), errors);
      errors.agree(t);
      ASSERT_EQ(got.size(), static_cast<std::size_t>(t.size()));
      for (int from = 0; from < t.size(); ++from) {
        const Bytes& bytes = got[static_cast<std::size_t>(from)];
        ASSERT_EQ(bytes.empty(), from % 2 == 0);
        if (from % 2 == 1) {
          EXPECT_EQ(Reader(bytes).value<int>(), 100 * from + t.rank());
        }
      }
    }
  });
}

TEST(Collectives, ARankThatPassesAWrongNumberOfBuffersIsAnErrorOnAllRanks) {
  everywhere([](Transport& t) {
    for (int wrong = 0; wrong < t.size(); ++wrong) {
      const bool isWrong = t.rank() == wrong;
      std::vector<Bytes> toEachRank(static_cast<std::size_t>(t.size() + (isWrong ? 1 : 0)));
      for (Bytes& bytes : toEachRank) bytes = Writer().value(t.rank()).take();
      ErrorCollector errors;
      const std::vector<Bytes> got = exchangeBytes(t, std::move(toEachRank), errors);
      EXPECT_TRUE(errors.anyKnown());
      EXPECT_EQ(errors.any(), isWrong);
      try {
        errors.agree(t);
        ADD_FAILURE() << "no error";
      } catch (const Error& error) {
        EXPECT_EQ(error.rank(), wrong);
      }
    }
  });
}

TEST(Collectives, AnErrorOfTheRootOfABroadcastIsAgreedOn) {
  everywhere([](Transport& t) {
    for (int root = 0; root < t.size(); ++root) {
      const auto write = [&]() -> Bytes {
        EXPECT_EQ(t.rank(), root);
        throw std::bad_alloc();
      };
      try {
        (void)broadcastAs(t, write, root, [](Reader& reader) { return reader.value<int>(); });
        ADD_FAILURE() << "no error";
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::Memory);
        EXPECT_EQ(error.rank(), root);
      }
      EXPECT_EQ(broadcast(t, t.rank(), root), root);
    }
  });
}

}  // namespace
}  // namespace tributary
