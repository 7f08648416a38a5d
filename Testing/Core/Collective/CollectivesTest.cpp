// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Collective/Collectives.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "Support/Everywhere.h"

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

}  // namespace
}  // namespace tributary
