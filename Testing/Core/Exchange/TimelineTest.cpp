// SPDX-License-Identifier: BSD-3-Clause
// What a timeline records of exchanges whose calls take known times, and the trace that is written.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "Support/World.h"
#include "Tributary/Base/Bytes.h"
#include "Tributary/Exchange/Exchange.h"
#include "Tributary/Exchange/Timeline.h"
#include "Tributary/Transport/Simulated.h"

namespace tributary {
namespace {

using testing::errorOf;
using testing::world;

/// A token that visits all blocks twice, two blocks per rank: `block + 1` ms for a call.
ExchangeStatistics passToken(Transport& transport, ExchangeOptions options) {
  const Assignment assignment(
      std::vector<std::int64_t>(static_cast<std::size_t>(transport.size()), 2));
  const BlockId all = assignment.total();
  bool begins = true;
  Exchange exchange(transport, assignment, std::vector<std::vector<BlockId>>(2), options,
                    [&](BlockId block, Mailbox& mailbox) {
                      std::int64_t hops = block == 0 && begins ? 2 * all : 0;
                      if (block == 0) begins = false;
                      while (const auto message = mailbox.dequeue()) {
                        Reader reader(message->payload);
                        hops = reader.value<std::int64_t>();
                      }
                      if (hops == 0) return false;
                      transport.spend(1e-3 * static_cast<double>(block + 1));
                      if (hops > 1) mailbox.enqueue((block + 1) % all, hops - 1);
                      return false;
                    });
  exchange.run();
  return exchange.statistics();
}

TEST(Timeline, RecordsCallsAndIdleTimes) {
  VirtualTimeNetworkOptions network;
  network.ranks = 4;
  const auto net = makeVirtualTimeNetwork(network);
  std::vector<Timeline> timelines(4);
  std::vector<ExchangeStatistics> statistics(4);
  net->run([&](Transport& transport) {
    const auto rank = static_cast<std::size_t>(transport.rank());
    timelines[rank].start(transport);
    ExchangeOptions options;
    options.timeline = &timelines[rank];
    statistics[rank] = passToken(transport, options);
  });
  for (std::size_t rank = 0; rank < 4; ++rank) {
    std::map<BlockId, std::vector<double>> calls;
    double idle = 0, last = 0;
    for (const TimelineEntry& entry : timelines[rank].entries()) {
      EXPECT_GE(entry.begin, last);  // one after the other
      EXPECT_GT(entry.end, entry.begin);
      last = entry.end;
      if (entry.activity == Activity::Idle)
        idle += entry.end - entry.begin;
      else if (entry.end - entry.begin > 0.5e-3)  // others only look at their mailbox
        calls[entry.block].push_back(entry.end - entry.begin);
    }
    EXPECT_EQ(calls.size(), 2u);
    for (const auto& [block, times] : calls) {
      EXPECT_EQ(block / 2, static_cast<BlockId>(rank));
      EXPECT_EQ(times.size(), 2u);
      for (const double time : times) EXPECT_NEAR(time, 1e-3 * double(block + 1), 1e-4);
    }
    EXPECT_NEAR(idle, statistics[rank].idleSeconds, 1e-9);
    EXPECT_GT(idle, 40e-3);  // of the 72 ms that all calls take
  }
}

TEST(Timeline, KeepsAsManyEntriesAsAllowed) {
  Timeline timeline(3);
  for (int i = 0; i < 5; ++i) timeline.add(Activity::Call, i, i + 0.5, i);
  timeline.add(Activity::Call, 7, 7);  // nothing
  EXPECT_EQ(timeline.entries().size(), 3u);
  EXPECT_EQ(timeline.dropped(), 2);
  timeline.renumber(1, [](BlockId block) { return 10 * block; });
  EXPECT_EQ(timeline.entries()[0].block, 0);
  EXPECT_EQ(timeline.entries()[1].block, 10);
}

TEST(Timeline, JoinsIdleTimes) {
  Timeline timeline;
  timeline.add(Activity::Idle, 1, 2);
  timeline.add(Activity::Idle, 2, 3);
  timeline.add(Activity::Idle, 4, 5);
  ASSERT_EQ(timeline.entries().size(), 2u);
  EXPECT_EQ(timeline.entries()[0].end, 3);
}

TEST(Timeline, IsWrittenAsATrace) {
  const std::vector<std::vector<TimelineEntry>> ranks{
      {{0.5, 0.75, 3, 0, -1, Activity::Call}},
      {{1, 2, -1, 0, -1, Activity::Call}, {1, 1.5, 3, 64, 0, Activity::Borrow}}};
  std::ostringstream text;
  writeTrace(text, {ranks.data(), ranks.size()});
  EXPECT_EQ(text.str(),
            R"({"displayTimeUnit": "ms", "traceEvents": [
{"name": "process_name", "ph": "M", "pid": 0, "args": {"name": "rank 0"}},
{"name": "block 3", "cat": "call", "ph": "X", "pid": 0, "tid": 0, "ts": 500000.000, "dur": 250000.000},
{"name": "process_name", "ph": "M", "pid": 1, "args": {"name": "rank 1"}},
{"name": "copies", "cat": "call", "ph": "X", "pid": 1, "tid": 0, "ts": 1000000.000, "dur": 1000000.000},
{"name": "borrows block 3", "cat": "loan", "ph": "X", "pid": 1, "tid": 0, "ts": 1000000.000, "dur": 500000.000, "args": {"rank": 0, "bytes": 64}}
]}
)");
}

TEST(Timeline, OfAllRanksIsInTheFile) {
  Transport& transport = world();
  Timeline timeline;
  timeline.start(transport);
  const double now = transport.now();
  timeline.add(Activity::Call, now, now + 1, transport.rank());
  const std::string file = "TimelineTest." + std::to_string(transport.size()) + ".json";
  writeTimeline(transport, timeline, file);
  if (transport.rank() == 0) {
    std::ifstream stream(file);
    const std::string text(std::istreambuf_iterator<char>(stream), {});
    for (int rank = 0; rank < transport.size(); ++rank) {
      const std::string number = std::to_string(rank);
      EXPECT_NE(text.find(R"("name": "block )" + number +
                          R"(", "cat": "call", "ph": "X", "pid": )" + number + ","),
                std::string::npos);
    }
    EXPECT_EQ(std::remove(file.c_str()), 0);
  }
  const std::string error =
      errorOf([&] { writeTimeline(transport, timeline, "no/such/folder/timeline.json"); });
  EXPECT_NE(error.find("cannot be written"), std::string::npos) << error;
}

}  // namespace
}  // namespace tributary
