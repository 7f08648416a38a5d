// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Collective/CollectiveMemo.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "Support/Everywhere.h"
#include "Support/World.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Collective/Records.h"
#include "Tributary/Reduction/AllToAll.h"

namespace tributary {
namespace {

using testing::everywhere;
using testing::ForwardingTransport;

/// Counts sends and reductions.
class CountingTransport : public ForwardingTransport {
 public:
  using ForwardingTransport::ForwardingTransport;

  PendingSend send(int destination, Topic topic, Session session, SendMode mode,
                   Bytes&& bytes) override {
    ++calls;
    return ForwardingTransport::send(destination, topic, session, mode, std::move(bytes));
  }
  PendingReduce allreduce(ReduceOp op, std::vector<std::int64_t> values) override {
    ++calls;
    return ForwardingTransport::allreduce(op, std::move(values));
  }

  int calls = 0;
};

/// All kinds of collective calls; the result depends on the values of all ranks.
std::vector<std::int64_t> resultOf(Transport& t, std::int64_t mine) {
  std::vector<std::int64_t> result = allgather(t, mine);
  result.push_back(allreduce(t, ReduceOp::Max, mine));
  result.push_back(exclusivePrefix(t, mine));
  const auto sendToAll = [&](RecordOutbox<std::int64_t>& outbox) {
    for (int rank = 0; rank < t.size(); ++rank) outbox.add(rank, 10 * mine + rank);
  };
  const auto receive = [&](const Records<std::int64_t>& records) {
    for (const std::int64_t record : records) result.push_back(record);
  };
  sendRecords<std::int64_t>(t, sendToAll, receive);
  sendRecords<std::int64_t, allToAll>(t, sendToAll, receive);
  return result;
}

TEST(CollectiveMemo, APhaseIsRepeatedWithOneReductionIfNoRankSendsAnythingElse) {
  everywhere([](Transport& t) {
    CollectiveMemo memo;
    const auto run = [&](std::int64_t mine) {
      CountingTransport counting(t);
      std::vector<std::int64_t> result;
      memo.run(counting, [&](Transport& through) { result = resultOf(through, mine); });
      EXPECT_EQ(result, resultOf(t, mine));
      EXPECT_EQ(memo.repeated(), t.size() > 1 && counting.calls == 1);
      return memo.repeated();
    };
    const bool several = t.size() > 1;
    EXPECT_FALSE(run(t.rank() + 1));
    EXPECT_EQ(run(t.rank() + 1), several);
    EXPECT_EQ(run(t.rank() + 1), several);
    // One rank sends something else, once.
    const int last = t.size() - 1;
    EXPECT_FALSE(run(t.rank() == last ? 100 : t.rank() + 1));
    // What all ranks sent two times is tried again.
    EXPECT_FALSE(run(t.rank() + 1));
    EXPECT_FALSE(run(t.rank() + 1));
    EXPECT_FALSE(run(t.rank() + 1));
    EXPECT_EQ(run(t.rank() + 1), several);
  });
}

TEST(CollectiveMemo, AnErrorOfOneRankIsOneOfAllRanksAlsoWhereThePhaseIsRepeated) {
  everywhere([](Transport& t) {
    CollectiveMemo memo;
    const auto run = [&](bool fails) {
      memo.run(t, [&](Transport& through) {
        collectively(through, [&] {
          if (fails && t.rank() == t.size() - 1) throw Error("the mesh is broken");
        });
        EXPECT_EQ(allreduce(through, ReduceOp::Sum, 1), t.size());
      });
    };
    run(false);
    run(false);
    try {
      run(true);
      FAIL();
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find("the mesh is broken"), std::string::npos);
    }
    run(false);
    EXPECT_FALSE(memo.repeated());
  });
}

TEST(CollectiveMemo, ALargePhaseIsNotRemembered) {
  everywhere([](Transport& t) {
    CollectiveMemo memo;
    for (int time = 0; time < 3; ++time) {
      memo.run(t, [&](Transport& through) {
        const std::vector<Bytes> all =
            allgatherBytes(through, Bytes(CollectiveMemo::MostBytes + 1, std::byte{7}));
        EXPECT_EQ(all.size(), std::size_t(t.size()));
      });
      EXPECT_FALSE(memo.repeated());
      EXPECT_EQ(memo.memory(), 0u);
    }
  });
}

}  // namespace
}  // namespace tributary
