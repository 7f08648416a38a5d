// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Exchange/Exchange.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <numeric>
#include <ostream>

#include "Support/Effort.h"
#include "Support/World.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Exchange/detail/Batch.h"
#include "Tributary/Exchange/detail/Inbox.h"
#include "Tributary/Transport/Simulated.h"

namespace tributary {

using namespace detail;
namespace {

using testing::errorOf;
using testing::ForwardingTransport;
using testing::mix;
using testing::someOf;
using testing::world;

struct Scheme {
  const char* name;
  Schedule schedule;
  double arrivals;
};

// For GoogleTest's messages.
void PrintTo(const Scheme& scheme, std::ostream* stream) {
  *stream << scheme.name;
}

constexpr Scheme Schemes[] = {{"Synchronous", Schedule::Synchronous, 1},
                              {"Neighborhood0", Schedule::Neighborhood, 0},
                              {"NeighborhoodHalf", Schedule::Neighborhood, 0.5},
                              {"Neighborhood1", Schedule::Neighborhood, 1},
                              {"Asynchronous", Schedule::Asynchronous, 1}};

ExchangeOptions optionsOf(const Scheme& scheme) {
  ExchangeOptions options;
  options.schedule = scheme.schedule;
  options.arrivals = scheme.arrivals;
  options.stallTimeout = 60;
  return options;
}

/// What each test block knows of the others: some random links.
std::vector<std::vector<BlockId>> randomLinks(const Assignment& assignment, int rank,
                                              std::uint64_t seed) {
  std::vector<std::vector<BlockId>> links;
  for (BlockId block = assignment.first(rank); block < assignment.first(rank + 1); ++block) {
    links.emplace_back();
    const std::uint64_t count = mix(seed + static_cast<std::uint64_t>(block)) % 5;
    for (std::uint64_t i = 0; i < count; ++i) {
      links.back().push_back(
          static_cast<BlockId>(mix(seed * 31 + static_cast<std::uint64_t>(block) * 7 + i) %
                               static_cast<std::uint64_t>(assignment.total())));
    }
  }
  return links;
}

/// A workload whose outcome does not depend on the order of events: tokens that hop from block to
/// block as a hash decides, carry payloads of random size, and drop empty messages on the way.
struct Workload {
  std::uint64_t seed = 1;
  BlockId blocks = 1;
  std::uint64_t tokensPerBlock = 3;
  std::uint64_t hops = 12;
  std::size_t largest = 300;
  bool megabytes = false;
  std::int64_t late = 0;  // calls after which a block makes its tokens

  struct Token {
    std::uint64_t id;
    std::uint64_t left;
  };
  /// What a block has seen: a sum over its visitors, and the number of empty messages.
  struct Seen {
    std::uint64_t sum = 0;
    std::uint64_t empty = 0;
    bool operator==(const Seen& o) const { return sum == o.sum && empty == o.empty; }
  };

  Token made(BlockId block, std::uint64_t i) const {
    const auto id = mix(seed * 1000003 + static_cast<std::uint64_t>(block) * 1009 + i);
    return {id, id % (hops + 1)};
  }
  BlockId next(const Token& t) const {
    return static_cast<BlockId>(mix(t.id ^ mix(t.left)) % static_cast<std::uint64_t>(blocks));
  }
  bool dropsEmpty(const Token& t) const { return mix(t.id + t.left) % 5 == 0; }
  std::size_t payload(const Token& t) const {
    const std::uint64_t choice = mix(t.id * 3 + t.left);
    if (megabytes && choice % 97 == 0) return (choice >> 20) % 5000000;
    if (choice % 11 == 0) return (choice >> 20) % 20000;
    return (choice >> 20) % largest;
  }
  static std::uint64_t visit(const Token& t, BlockId block) {
    return mix(t.id * 17 + t.left * 3 + static_cast<std::uint64_t>(block));
  }

  /// The outcome, worked out one token after the other.
  std::vector<Seen> reference() const {
    std::vector<Seen> seen(static_cast<std::size_t>(blocks));
    for (BlockId block = 0; block < blocks; ++block) {
      for (std::uint64_t i = 0; i < tokensPerBlock; ++i) {
        Token t = made(block, i);
        while (true) {
          const BlockId target = next(t);
          auto& at = seen[static_cast<std::size_t>(target)];
          if (dropsEmpty(t)) ++at.empty;
          at.sum += visit(t, target);
          if (t.left == 0) break;
          --t.left;
        }
      }
    }
    return seen;
  }
};

/// The same as callbacks of an exchange; checks every byte that it receives.
class Player {
 public:
  Player(const Workload& workload, const Assignment& assignment, int rank)
      : workload_(workload),
        first_(assignment.first(rank)),
        seen_(static_cast<std::size_t>(assignment.count(rank))),
        calls_(seen_.size()) {}

  bool operator()(BlockId block, Mailbox& mailbox) {
    EXPECT_EQ(mailbox.block(), block);
    const auto index = static_cast<std::size_t>(block - first_);
    const std::int64_t call = calls_.at(index)++;
    if (call == workload_.late) {
      for (std::uint64_t i = 0; i < workload_.tokensPerBlock; ++i) {
        send(mailbox, workload_.made(block, i));
      }
    }
    // Both ways of reading, and blocks that leave messages for their next call.
    const std::uint64_t most = mix(static_cast<std::uint64_t>(call)) % 3 == 0 ? 2 : 1000;
    for (std::uint64_t taken = 0; taken < most; ++taken) {
      if ((call + static_cast<std::int64_t>(taken)) % 2 == 0) {
        const auto message = mailbox.dequeue();
        if (!message) break;
        take(mailbox, index, {message->payload.data(), message->payload.size()});
      } else {
        const auto message = mailbox.dequeueView();
        if (!message) break;
        take(mailbox, index, message->payload);
      }
    }
    return call < workload_.late;
  }

  const std::vector<Workload::Seen>& seen() const { return seen_; }

 private:
  void send(Mailbox& mailbox, const Workload::Token& token) {
    const BlockId target = workload_.next(token);
    if (workload_.dropsEmpty(token)) mailbox.enqueue(target, Bytes());
    const std::size_t size = workload_.payload(token);
    Bytes bytes(sizeof token + size, static_cast<std::byte>(token.id));
    std::memcpy(bytes.data(), &token, sizeof token);
    if (token.id % 2 == 0) {
      mailbox.enqueue(target, std::move(bytes));
    } else {
      mailbox.enqueue(target, bytes);
    }
  }

  void take(Mailbox& mailbox, std::size_t index, Span<const std::byte> payload) {
    if (payload.empty()) {
      ++seen_[index].empty;
      return;
    }
    Reader reader(payload);
    auto token = reader.value<Workload::Token>();
    EXPECT_EQ(reader.remaining(), workload_.payload(token));
    for (const std::byte b : reader.raw(reader.remaining())) {
      if (b != static_cast<std::byte>(token.id)) {
        ADD_FAILURE() << "a payload is damaged";
        break;
      }
    }
    seen_[index].sum += Workload::visit(token, mailbox.block());
    if (token.left > 0) {
      --token.left;
      send(mailbox, token);
    }
  }

  Workload workload_;
  BlockId first_;
  std::vector<Workload::Seen> seen_;
  std::vector<std::int64_t> calls_;
};

void expectReference(const Workload& workload, const Assignment& assignment, int rank,
                     const Player& player) {
  const auto reference = workload.reference();
  for (std::size_t i = 0; i < player.seen().size(); ++i) {
    const auto block = static_cast<std::size_t>(assignment.first(rank)) + i;
    EXPECT_TRUE(player.seen()[i] == reference[block]) << "block " << block;
  }
}

ExchangeStatistics play(Transport& transport, const Workload& workload,
                        const Assignment& assignment, const ExchangeOptions& options) {
  Player player(workload, assignment, transport.rank());
  Exchange exchange(transport, assignment, randomLinks(assignment, transport.rank(), workload.seed),
                    options, std::ref(player));
  exchange.run();
  EXPECT_FALSE(exchange.aborted());
  expectReference(workload, assignment, transport.rank(), player);
  return exchange.statistics();
}

Assignment uniform(int perRank) {
  return Assignment(std::vector<std::int64_t>(static_cast<std::size_t>(world().size()), perRank));
}

/// Runs `body` on as many virtual ranks as the test has, each with a clock that nobody else's work
/// can delay: for what must come before or after a given time.
void inVirtualTime(const std::function<void(Transport&)>& body) {
  VirtualTimeNetworkOptions options;
  options.ranks = world().size();
  makeVirtualTimeNetwork(options)->run(body);
}

class EachSchedule : public ::testing::TestWithParam<Scheme> {};

INSTANTIATE_TEST_SUITE_P(Exchange, EachSchedule, ::testing::ValuesIn(Schemes),
                         [](const auto& test) { return std::string(test.param.name); });

TEST_P(EachSchedule, EqualsTheReferenceForAnyNumberOfBlocks) {
  for (const int perRank : {1, 2, 3, 5, 16}) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      Workload workload;
      workload.seed = seed * 100 + static_cast<std::uint64_t>(perRank);
      workload.late = static_cast<std::int64_t>(seed % 3) * 4;
      const Assignment assignment = uniform(perRank);
      workload.blocks = assignment.total();
      const auto statistics =
          reduceStatistics(world(), play(world(), workload, assignment, optionsOf(GetParam())));
      EXPECT_EQ(statistics.messages, statistics.received);
      EXPECT_GE(statistics.callbacks, assignment.total());
      EXPECT_GT(statistics.messages + statistics.localDeliveries, 0);
      EXPECT_GT(statistics.totalSeconds, 0);
      EXPECT_GT(statistics.waves, 0);
      EXPECT_GE(statistics.terminationDelaySeconds, 0);
    }
  }
}

TEST_P(EachSchedule, EqualsTheReferenceWithUnevenAndEmptyRanks) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    std::vector<std::int64_t> counts;
    for (int rank = 0; rank < world().size(); ++rank) {
      const std::uint64_t choice = mix(seed * 64 + static_cast<std::uint64_t>(rank));
      counts.push_back(choice % 3 == 0 ? 0 : static_cast<std::int64_t>(choice >> 8) % 6);
    }
    counts.back() += 1;
    const Assignment assignment =
        Assignment::gather(world(), counts[static_cast<std::size_t>(world().rank())]);
    Workload workload;
    workload.seed = seed;
    workload.blocks = assignment.total();
    play(world(), workload, assignment, optionsOf(GetParam()));
  }
}

TEST_P(EachSchedule, NoBlocksAtAll) {
  Exchange exchange(world(), uniform(0), {}, optionsOf(GetParam()),
                    [](BlockId, Mailbox&) -> bool { throw Error("there is no block to call"); });
  exchange.run();
  EXPECT_EQ(exchange.statistics().callbacks, 0);
}

TEST_P(EachSchedule, MessagesOfMegabytes) {
  Workload workload;
  workload.seed = 77;
  workload.megabytes = true;
  workload.hops = 30;
  workload.blocks = 2 * world().size();
  play(world(), workload, uniform(2), optionsOf(GetParam()));
}

TEST_P(EachSchedule, TinyBatchesAndNoHolding) {
  Workload workload;
  workload.seed = 5;
  workload.blocks = 3 * world().size();
  ExchangeOptions options = optionsOf(GetParam());
  options.batchBytes = 1;
  options.holdTime = 0;
  const auto statistics = play(world(), workload, uniform(3), options);
  EXPECT_EQ(statistics.batches, statistics.messages);
}

TEST_P(EachSchedule, SplitTransportMessages) {
  const auto transport = testing::makeWorld(700);
  Workload workload;
  workload.seed = 6;
  workload.blocks = 2 * world().size();
  play(*transport, workload, uniform(2), optionsOf(GetParam()));
}

TEST_P(EachSchedule, ASlowSender) {
  Workload workload;
  workload.seed = 8;
  workload.blocks = 2 * world().size();
  const Assignment assignment = uniform(2);
  Player player(workload, assignment, world().rank());
  Exchange exchange(world(), assignment, randomLinks(assignment, world().rank(), 8),
                    optionsOf(GetParam()), [&](BlockId block, Mailbox& mailbox) {
                      if (block == 0) world().relax(1e-3);
                      return player(block, mailbox);
                    });
  exchange.run();
  expectReference(workload, assignment, world().rank(), player);
}

TEST_P(EachSchedule, ASlowRankIsHeardAtTheEnd) {
  // All others are long done when the last rank sends its only message.
  const int last = world().size() - 1;
  bool sent = false;
  bool got = false;
  Exchange exchange(world(), uniform(1), {{0}}, optionsOf(GetParam()),
                    [&](BlockId block, Mailbox& mailbox) {
                      if (block == last && !sent) {
                        world().relax(30e-3);
                        mailbox.enqueue(0, 4711);
                        sent = true;
                      }
                      while (auto message = mailbox.dequeue()) {
                        got = Reader(message->payload).value<int>() == 4711;
                        EXPECT_EQ(message->from, last);
                      }
                      return false;
                    });
  exchange.run();
  EXPECT_EQ(got, world().rank() == 0);
}

TEST_P(EachSchedule, MessagesOfAPairKeepTheirOrder) {
  const BlockId total = 3 * world().size();
  std::map<std::pair<BlockId, BlockId>, int> expected;
  std::map<BlockId, int> calls;
  Exchange exchange(
      world(), uniform(3), {{0}, {total - 1}, {}}, optionsOf(GetParam()),
      [&](BlockId block, Mailbox& mailbox) {
        while (auto message = mailbox.dequeue()) {
          EXPECT_EQ(Reader(message->payload).value<int>(), (expected[{message->from, block}]++));
        }
        const int call = calls[block]++;
        for (BlockId target = 0; target < total && call < 20; ++target) {
          // From a few bytes over whole batches to messages that arrive in the background. In each
          // call a small one first, which still waits for others when the second one comes.
          const std::size_t size = call % 5 == 3 ? 100000 : call % 5 == 4 ? 600000 / total : 8;
          for (const int number : {2 * call, 2 * call + 1}) {
            Bytes bytes(number % 2 == 0 ? 8 : size);
            std::memcpy(bytes.data(), &number, sizeof number);
            mailbox.enqueue(target, std::move(bytes));
          }
        }
        return call < 20;
      });
  exchange.run();
  const BlockId first = 3 * world().rank();
  for (BlockId from = 0; from < total; ++from) {
    for (BlockId to = first; to < first + 3; ++to) {
      EXPECT_EQ((expected[{from, to}]), 40);
    }
  }
}

TEST_P(EachSchedule, BackPressureDoesNotLock) {
  // Every rank sends much to all in one go, far above what may be in flight.
  const BlockId total = 2 * world().size();
  std::map<BlockId, int> calls;
  std::int64_t received = 0;
  ExchangeOptions options = optionsOf(GetParam());
  options.inFlightBytes = 1000;
  options.batchBytes = 500;
  Exchange exchange(world(), uniform(2), {{0}, {total - 1}}, options,
                    [&](BlockId block, Mailbox& mailbox) {
                      while (auto message = mailbox.dequeueView()) ++received;
                      const int call = calls[block]++;
                      if (call >= 10) return false;
                      for (BlockId target = 0; target < total; ++target) {
                        mailbox.enqueue(target, Bytes(20000));
                        mailbox.enqueue(target, call);
                      }
                      return true;
                    });
  exchange.run();
  EXPECT_EQ(received, 2 * total * 2 * 10);
  const auto statistics = reduceStatistics(world(), exchange.statistics());
  if (world().size() > 1) {
    EXPECT_GT(statistics.pauses, 0);
    // What one call sends may exceed the bound, but calls do not add up.
    EXPECT_LE(statistics.peakInFlightBytes, 1000 + total * 20200);
  }
}

TEST_P(EachSchedule, WithoutRoomForMessagesInFlightCallbacksGoOnOneAtATime) {
  ExchangeOptions options = optionsOf(GetParam());
  options.inFlightBytes = 0;
  options.stallTimeout = 10;
  Workload workload;
  workload.blocks = 2 * world().size();
  play(world(), workload, uniform(2), options);
}

TEST_P(EachSchedule, AnExceptionOnOneRankReachesAll) {
  for (int bad = 0; bad < world().size(); bad += 3) {
    std::map<BlockId, int> calls;
    const BlockId total = 2 * world().size();
    Exchange exchange(world(), uniform(2), {{0}, {1 % total}}, optionsOf(GetParam()),
                      [&](BlockId block, Mailbox& mailbox) {
                        while (mailbox.dequeueView()) {
                        }
                        mailbox.enqueue((block + 1) % total, Bytes(1000));
                        if (block == 2 * bad + 1 && ++calls[block] == 5) {
                          throw Error("block " + std::to_string(block) + " has no vectors");
                        }
                        return true;
                      });
    const std::string text = "block " + std::to_string(2 * bad + 1) + " has no vectors";
    EXPECT_EQ(errorOf([&] { exchange.run(); }),
              world().rank() == bad ? text : "rank " + std::to_string(bad) + ": " + text);
    EXPECT_TRUE(exchange.aborted());
    EXPECT_TRUE(exchange.advance());
    // The transport is as good as new.
    Workload workload;
    workload.blocks = 2 * world().size();
    play(world(), workload, uniform(2), optionsOf(GetParam()));
  }
}

TEST_P(EachSchedule, ExceptionsOnAllRanks) {
  Exchange exchange(world(), uniform(1), {{}}, optionsOf(GetParam()),
                    [](BlockId block, Mailbox&) -> bool {
                      if (block % 2 == 0) throw 42;
                      throw std::runtime_error("odd block " + std::to_string(block));
                    });
  const std::string error = errorOf([&] { exchange.run(); });
  EXPECT_NE(error.find(world().rank() % 2 == 0 ? "not a std::exception" : "odd block"),
            std::string::npos)
      << error;
}

TEST_P(EachSchedule, AMessageToNowhereIsAnError) {
  const BlockId total = world().size();
  for (const BlockId wrong : {total, BlockId(-1)}) {
    Exchange exchange(world(), uniform(1), {{}}, optionsOf(GetParam()),
                      [&](BlockId block, Mailbox& mailbox) {
                        if (block == 0) mailbox.enqueue(wrong, 1.0);
                        return false;
                      });
    EXPECT_NE(
        errorOf([&] { exchange.run(); }).find("block " + std::to_string(wrong) + " does not exist"),
        std::string::npos);
  }
}

TEST_P(EachSchedule, AnyRankMayAbort) {
  for (int who = 0; who < world().size(); who += 2) {
    // From the monitor, and from inside a callback.
    for (const bool inside : {false, true}) {
      int turns = 0;
      Exchange* running = nullptr;
      const BlockId total = world().size();
      Exchange exchange(world(), uniform(1), {{0}}, optionsOf(GetParam()),
                        [&](BlockId block, Mailbox& mailbox) {
                          while (mailbox.dequeueView()) {
                          }
                          mailbox.enqueue((block + 1) % total, 1);
                          if (inside && world().rank() == who && ++turns == 10) {
                            running->abort("enough");
                            mailbox.enqueue(0, 2);
                          }
                          return true;
                        });
      running = &exchange;
      exchange.run([&] { return inside || world().rank() != who || ++turns < 10; });
      EXPECT_TRUE(exchange.aborted());
      EXPECT_EQ(exchange.reason(), inside ? "enough" : "aborted by the monitor");
    }
  }
  Workload workload;
  workload.blocks = world().size();
  play(world(), workload, uniform(1), optionsOf(GetParam()));
}

TEST_P(EachSchedule, AnExceptionOfTheMonitorReachesAll) {
  Exchange exchange(world(), uniform(1), {{}}, optionsOf(GetParam()),
                    [](BlockId, Mailbox&) { return true; });
  const std::string error = errorOf([&] {
    exchange.run([&]() -> bool {
      if (world().rank() == 0) throw Error("the window was closed");
      return true;
    });
  });
  EXPECT_EQ(error, std::string(world().rank() == 0 ? "" : "rank 0: ") + "the window was closed");
  Exchange other(world(), uniform(1), {{}}, optionsOf(GetParam()),
                 [](BlockId, Mailbox&) { return true; });
  EXPECT_NE(errorOf([&] { other.run([]() -> bool { throw 5; }); }).find("not a std::exception"),
            std::string::npos);
}

/// The error of an exchange whose last block never reads what block 0 sends.
std::string errorOfAStall(Transport& transport, const Scheme& scheme, double seconds) {
  ExchangeOptions options = optionsOf(scheme);
  options.stallTimeout = seconds;
  const BlockId total = 2 * transport.size();
  Exchange exchange(transport, uniform(2), {{}, {}}, options, [&](BlockId block, Mailbox& mailbox) {
    if (block == 0) mailbox.enqueue(total - 1, 1);
    return false;
  });
  return errorOf([&] {
    try {
      exchange.run();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Stall);
      EXPECT_EQ(error.rank(), 0);
      throw;
    }
  });
}

TEST_P(EachSchedule, AnErrorHasItsKindAndRankOnAllRanks) {
  const int last = world().size() - 1;
  Exchange exchange(world(), uniform(1), {{}}, optionsOf(GetParam()), [&](BlockId block, Mailbox&) {
    if (block == last) throw Error(ErrorKind::Memory, "no memory for a callback");
    return true;
  });
  try {
    exchange.run();
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Memory);
    EXPECT_EQ(error.rank(), last);
  }
}

TEST_P(EachSchedule, AStallIsReported) {
  // On a busy machine the limit may be over before the message is there, so which blocks are not
  // done is left to the next test.
  const std::string error = errorOfAStall(world(), GetParam(), 0.05);
  EXPECT_NE(error.find("exchange stalled"), std::string::npos) << error;
  Workload workload;
  workload.blocks = 2 * world().size();
  play(world(), workload, uniform(2), optionsOf(GetParam()));
}

TEST_P(EachSchedule, AStallIsReportedWithTheBlocksThatAreNotDone) {
  inVirtualTime([&](Transport& transport) {
    const std::string error = errorOfAStall(transport, GetParam(), 1e-3);
    const int last = transport.size() - 1;
    EXPECT_NE(error.find("rank " + std::to_string(last) + ": 1 blocks not done (" +
                         std::to_string(2 * last + 1) + "), of these 1 leave messages"),
              std::string::npos)
        << error;
  });
}

TEST_P(EachSchedule, ALongCallIsNoStall) {
  inVirtualTime([&](Transport& transport) {
    ExchangeOptions options = optionsOf(GetParam());
    options.stallTimeout = 0.05;
    int calls = 0;
    Exchange exchange(transport, uniform(1), {{}}, options, [&](BlockId block, Mailbox&) {
      if (block == 0) transport.spend(0.2);
      return block == 0 && ++calls < 2;
    });
    exchange.run();
    EXPECT_EQ(calls, transport.rank() == 0 ? 2 : 0);
  });
}

TEST_P(EachSchedule, AStalledRankIsWokenByAMessage) {
  // All ranks but the last report a stall while the last one's call goes on for several times the
  // limit; then it sends around the ring of ranks, each of which takes its time, too. Nobody may
  // give up.
  inVirtualTime([&](Transport& transport) {
    ExchangeOptions options = optionsOf(GetParam());
    options.stallTimeout = 0.03;
    const BlockId total = transport.size();
    bool sent = false;
    int received = 0;
    Exchange exchange(transport, uniform(1), {{(transport.rank() + 1) % total}}, options,
                      [&](BlockId block, Mailbox& mailbox) {
                        if (block == total - 1 && !std::exchange(sent, true)) {
                          transport.spend(0.15);
                          mailbox.enqueue((block + 1) % total, 2 * static_cast<int>(total));
                        }
                        while (const auto message = mailbox.dequeueView()) {
                          ++received;
                          transport.spend(0.1);
                          const int left = Reader(message->payload).value<int>() - 1;
                          if (left > 0) mailbox.enqueue((block + 1) % total, left);
                        }
                        return false;
                      });
    EXPECT_EQ(errorOf([&] { exchange.run(); }), "");
    EXPECT_FALSE(exchange.aborted());
    EXPECT_EQ(received, 2);
  });
}

TEST_P(EachSchedule, WrongArgumentsOnOneRankAreAnErrorOnAll) {
  const auto step = [](BlockId, Mailbox&) { return false; };
  const auto error = [&](ExchangeOptions options, std::vector<std::vector<BlockId>> links,
                         Step callback) {
    return errorOf([&] {
      Exchange(world(), uniform(1), std::move(links), std::move(options), std::move(callback));
    });
  };
  const bool here = world().rank() == world().size() - 1;
  const ExchangeOptions good = optionsOf(GetParam());
  EXPECT_EQ(error(good, {{}}, step), "");
  ExchangeOptions bad = good;
  bad.arrivals = 1.5;
  EXPECT_NE(error(here ? bad : good, {{}}, step).find("arrivals"), std::string::npos);
  bad = good;
  bad.detector = "oracle";
  EXPECT_NE(error(here ? bad : good, {{}}, step).find("consensus"), std::string::npos);
  bad = good;
  bad.batchBytes = 0;
  EXPECT_NE(error(here ? bad : good, {{}}, step).find("batchBytes"), std::string::npos);
  EXPECT_NE(
      error(good,
            here ? std::vector<std::vector<BlockId>>{} : std::vector<std::vector<BlockId>>{{}},
            step)
          .find("links"),
      std::string::npos);
  EXPECT_NE(error(good, {{here ? world().size() : 0}}, step).find("link leads to block"),
            std::string::npos);
  EXPECT_NE(error(good, {{}}, here ? Step() : Step(step)).find("no callback"), std::string::npos);
  bad = good;
  bad.holdTime = -1;
  EXPECT_NE(error(here ? bad : good, {{}}, step).find("holdTime"), std::string::npos);
  bad = good;
  bad.stallTimeout = -1;
  EXPECT_NE(error(here ? bad : good, {{}}, step).find("stallTimeout"), std::string::npos);
  const Assignment others(
      std::vector<std::int64_t>(static_cast<std::size_t>(world().size() + 1), 1));
  EXPECT_NE(errorOf([&] {
              Exchange(world(), here ? others : uniform(1), {{}}, good, step);
            }).find("the assignment is for"),
            std::string::npos);
  bad = good;
  bad.detection.arity = 5;
  EXPECT_EQ(error(here ? bad : good, {{}}, step).find("parameters differ among ranks") ==
                std::string::npos,
            world().size() == 1);
}

/// Makes batches that are right in all but what a test changes.
struct BatchMaker {
  Bytes bytes;
  BatchMaker& section(BlockId to, std::uint64_t size, std::uint64_t messages) {
    const SectionHeader header{to, size, messages};
    append(bytes, &header, sizeof header);
    return *this;
  }
  BatchMaker& run(BlockId from, std::uint32_t size, std::uint32_t count) {
    const RunHeader header{from, size, count};
    append(bytes, &header, sizeof header);
    return *this;
  }
  BatchMaker& payload(std::size_t size) {
    bytes.resize(bytes.size() + size, std::byte{7});
    return *this;
  }
  BatchMaker& whole(BlockId from, BlockId to, std::uint64_t size) {
    const WholeRecord record{from, to, size};
    append(bytes, &record, sizeof record);
    return *this;
  }
  Bytes end(std::int32_t kind = 0, BatchLayout layout = BatchLayout::Sections) {
    const BatchFooter footer{0, static_cast<BatchKind>(kind), layout};
    append(bytes, &footer, sizeof footer);
    return std::move(bytes);
  }
};

TEST_P(EachSchedule, MalformedBatchesAreAnErrorOnAll) {
  const int size = world().size();
  const int sender = size > 1 ? 1 : 0;
  const BlockId mine = 0;
  const BlockId from = sender;
  constexpr std::uint64_t Huge = std::uint64_t(1) << 60;
  constexpr std::uint32_t Most = 0xffffffffu;
  constexpr auto Whole = BatchLayout::Whole;
  constexpr auto Unknown = static_cast<BatchLayout>(9);
  const auto batch = [] { return BatchMaker(); };
  const auto good = [&] { return batch().section(mine, 24, 1).run(from, 8, 1).payload(8); };
  const std::vector<Bytes> cases = {
      Bytes(sizeof(BatchFooter) - 1),
      good().end(99),
      good().end(0, Unknown),
      // Sections: cut in a header, too long, too short, for blocks that are not of this rank.
      batch().payload(8).end(),
      batch().section(mine, Huge, 1).run(from, 8, 1).payload(8).end(),
      batch().section(mine, 32, 1).run(from, 8, 1).payload(8).end(),
      batch().section(mine, 16, 1).run(from, 8, 1).payload(8).end(),
      good().payload(4).end(),
      batch().section(size, 24, 1).run(from, 8, 1).payload(8).end(),
      batch().section(-1, 24, 1).run(from, 8, 1).payload(8).end(),
      batch().section(mine, 24, 2).run(from, 8, 1).payload(8).end(),
      batch().section(mine, 24, 0).run(from, 8, 1).payload(8).end(),
      batch().section(mine, 0, Huge).end(),
      // Runs: cut in a header, of sizes and counts that cannot be, from blocks that do not exist.
      batch().section(mine, 8, 1).payload(8).end(),
      batch().section(mine, 24, 0).run(from, 8, 0).payload(8).end(),
      batch().section(mine, 24, 2).run(from, 8, 2).payload(8).end(),
      batch().section(mine, 24, Most).run(from, 8, Most).payload(8).end(),
      batch().section(mine, 24, Most).run(from, 0, Most).payload(8).end(),
      batch().section(mine, 24, 1).run(from, 9, 1).payload(8).end(),
      batch().section(mine, 24, 1).run(from, Most, 1).payload(8).end(),
      batch().section(mine, 24, 1).run(size, 8, 1).payload(8).end(),
      batch().section(mine, 24, 1).run(-1, 8, 1).payload(8).end(),
      // Batches of one payload.
      batch().payload(8).end(0, Whole),
      batch().payload(8).whole(from, mine, 9).end(0, Whole),
      batch().payload(8).whole(from, mine, 7).end(0, Whole),
      batch().payload(8).whole(from, mine, Huge).end(0, Whole),
      batch().payload(8).whole(from, size, 8).end(0, Whole),
      batch().payload(8).whole(-1, mine, 8).end(0, Whole),
  };
  ExchangeOptions options = optionsOf(GetParam());
  options.detector = "consensus";  // one that counts messages would miss the sending of these
  for (const Bytes& bytes : cases) {
    // The exchange will open the next session.
    const Session session = world().openSession() + 1;
    PendingSend send;
    if (world().rank() == sender) {
      send = world().send(0, Topic::Work, session, SendMode::Eager, Bytes(bytes));
    }
    const double until = world().now() + 5;
    Exchange exchange(world(), uniform(1), {{}}, options,
                      [&](BlockId block, Mailbox&) { return block == 0 && world().now() < until; });
    const std::string error = errorOf([&] { exchange.run(); });
    EXPECT_EQ(error.find(world().rank() == 0 ? "malformed batch from rank " : "rank 0: malformed"),
              0u)
        << "case " << &bytes - cases.data() << ": " << error;
  }
}

TEST(Exchange, ABatchOfAFarRoundIsMalformed) {
  ExchangeOptions options = optionsOf(Schemes[0]);
  const Session session = world().openSession() + 1;
  PendingSend send;
  const BatchFooter footer{2, BatchKind::Messages, BatchLayout::Sections};
  Bytes bytes;
  append(bytes, &footer, sizeof footer);
  if (world().rank() == 0) {
    send = world().send(0, Topic::Work, session, SendMode::Eager, std::move(bytes));
  }
  const double until = world().now() + 5;
  Exchange exchange(world(), uniform(1), {{}}, options,
                    [&](BlockId, Mailbox&) { return world().now() < until; });
  const std::string error = errorOf([&] { exchange.run(); });
  EXPECT_NE(error.find("of round 2 in round "), std::string::npos) << error;
}

TEST(Exchange, AStallOfManyRanksIsReportedInPart) {
  constexpr int Ranks = 20;
  for (const Scheme& scheme : Schemes) {
    VirtualTimeNetworkOptions network;
    network.ranks = Ranks;
    ExchangeOptions options = optionsOf(scheme);
    options.stallTimeout = 1e-3;
    const std::string error = errorOf([&] {
      makeVirtualTimeNetwork(network)->run([&](Transport& transport) {
        // Ten blocks a rank, of which none ever reads what the one before sends.
        const Assignment assignment(std::vector<std::int64_t>(Ranks, 10));
        std::map<BlockId, int> calls;
        Exchange exchange(transport, assignment, std::vector<std::vector<BlockId>>(10), options,
                          [&](BlockId block, Mailbox& mailbox) {
                            if (calls[block]++ == 0) mailbox.enqueue((block + 1) % 200, 1);
                            return false;
                          });
        exchange.run();
      });
    });
    EXPECT_NE(error.find("rank 15: 10 blocks not done (150 151 152 153 154 155 156 157 ...)"),
              std::string::npos)
        << scheme.name << ": " << error;
    EXPECT_EQ(error.find("rank 16:"), std::string::npos);
    EXPECT_NE(error.find("and 4 more ranks"), std::string::npos);
  }
}

TEST(Exchange, NothingIsLeftOfAStallThatIsOver) {
  // The other ranks have said to be stalled when rank 0 ends its long call; the last one says to
  // move again just before the end.
  VirtualTimeNetworkOptions options;
  options.ranks = 3;
  const auto network = makeVirtualTimeNetwork(options);
  network->run([&](Transport& transport) {
    ExchangeOptions impatient;
    impatient.stallTimeout = 1e-3;
    int messages = 0;
    const Assignment assignment(std::vector<std::int64_t>(3, 1));
    Exchange exchange(transport, assignment, {{}}, impatient, [&](BlockId block, Mailbox& mailbox) {
      while (mailbox.dequeueView()) ++messages;
      if (block == 0) {
        transport.spend(10e-3);
        mailbox.enqueue(2, 1);
      }
      return false;
    });
    exchange.run();
    EXPECT_EQ(messages, transport.rank() == 2 ? 1 : 0);
  });
  EXPECT_EQ(network->left(), "");
  EXPECT_GE(network->traffic().control, 3);
}

TEST(Batch, DamagedOnesAreReadOrRefusedButNeverOverrun) {
  // Good batches with some bytes changed, cut off or added: what is not refused must lead the
  // reader through messages that all lie inside the buffer.
  const Assignment assignment({3, 2});
  std::uint64_t random = 1;
  const auto next = [&](std::uint64_t below) { return mix(++random) % below; };
  int refused = 0;
  constexpr int Trials = 20000;
  for (int trial = 0; trial < Trials; ++trial) {
    BatchMaker maker;
    Bytes bytes;
    std::uint64_t messages = 0;
    if (trial % 8 == 0) {
      const auto size = next(100);
      bytes = maker.payload(size)
                  .whole(3 + static_cast<BlockId>(next(2)), 1, size)
                  .end(0, BatchLayout::Whole);
      messages = 1;
    } else {
      const auto sections = next(4);
      for (std::uint64_t i = 0; i < sections; ++i) {
        BatchMaker runs;
        std::uint64_t inSection = 0;
        for (std::uint64_t r = next(4) + 1; r > 0; --r) {
          const auto size = static_cast<std::uint32_t>(next(40));
          const auto count = static_cast<std::uint32_t>(next(5) + 1);
          runs.run(3 + static_cast<BlockId>(next(2)), size, count);
          runs.payload(count * paddedPayload(size));
          inSection += count;
        }
        maker.section(static_cast<BlockId>(next(3)), runs.bytes.size(), inSection);
        append(maker.bytes, runs.bytes.data(), runs.bytes.size());
        messages += inSection;
      }
      bytes = maker.end(static_cast<std::int32_t>(next(3)));
    }
    EXPECT_EQ(BatchReader(bytes, assignment, 1, 0).messages(), messages);
    const auto damages = next(4) + 1;
    for (std::uint64_t i = 0; i < damages; ++i) {
      const auto way = next(8);
      if (way == 0) {
        bytes.resize(next(bytes.size() + 1));
      } else if (way == 1) {
        bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(next(bytes.size() + 1)),
                     static_cast<std::byte>(next(256)));
      } else if (!bytes.empty()) {
        // Small numbers and the largest, where lengths and counts are looked for.
        const std::uint64_t value = way == 2 ? 0xff : way == 3 ? 0 : next(256);
        for (auto at = next(bytes.size()), n = next(8) + 1; n > 0 && at < bytes.size(); --n, ++at)
          bytes[at] = static_cast<std::byte>(value);
      }
    }
    bytes.shrink_to_fit();  // so that the address sanitizer sees its end
    try {
      const BatchReader batch(bytes, assignment, 1, 0);
      if (batch.footer().layout == BatchLayout::Whole) continue;
      BufferPool pool;
      Inbox inbox(pool);
      std::uint64_t claimed = 0;
      batch.forSections([&](const SectionHeader& section, const std::byte* runs) {
        if (section.messages == 0) return;
        inbox.addRuns(std::make_shared<Bytes>(), runs, section.bytes, section.messages);
        claimed += section.messages;
      });
      inbox.open();
      EXPECT_EQ(claimed, batch.messages());
      EXPECT_EQ(inbox.visible(), claimed);
      std::uint64_t read = 0;
      std::size_t sum = 0;
      while (auto message = inbox.dequeueView()) {
        ++read;
        for (const std::byte b : message->payload) sum += static_cast<std::size_t>(b);
        EXPECT_TRUE(message->from == 3 || message->from == 4);
      }
      EXPECT_EQ(read, claimed);
      EXPECT_LE(sum, 255 * bytes.size());
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).find("malformed batch from rank 1: "), 0u);
      ++refused;
    }
  }
  EXPECT_GT(refused, Trials / 4);
}

// Messages begin to arrive, so that their synchronous sends are finished, long before they are
// there.
class SlowArrivals : public ForwardingTransport {
 public:
  using ForwardingTransport::ForwardingTransport;
  std::optional<Envelope> tryReceive(Topic topic, Session session) override {
    auto envelope = ForwardingTransport::tryReceive(topic, session);
    if (topic != Topic::Work) return envelope;
    ++probes_;
    if (envelope) arriving_.push_back({probes_ + mix(probes_) % 200, std::move(*envelope)});
    if (arriving_.empty() || arriving_.front().first > probes_) return std::nullopt;
    envelope = std::move(arriving_.front().second);
    arriving_.pop_front();
    return envelope;
  }
  bool receiving(Topic topic, Session session) const override {
    return (topic == Topic::Work && !arriving_.empty()) ||
           ForwardingTransport::receiving(topic, session);
  }

 private:
  std::uint64_t probes_ = 0;
  std::deque<std::pair<std::uint64_t, Envelope>> arriving_;
};

TEST_P(EachSchedule, WaitsForMessagesThatAreHalfReceived) {
  // A detector that counts messages waits for them anyway; one that trusts in synchronous sends
  // must be told.
  SlowArrivals transport(world());
  for (const char* detector : {"default", "consensus"}) {
    for (std::uint64_t seed = 1; seed <= someOf(5); ++seed) {
      Workload workload;
      workload.seed = seed;
      workload.blocks = 2 * world().size();
      ExchangeOptions options = optionsOf(GetParam());
      options.detector = detector;
      play(transport, workload, uniform(2), options);
    }
  }
}

// Sleeps after probes that find nothing, so that messages arrive at the worst moments.
class SleepyTransport : public ForwardingTransport {
 public:
  using ForwardingTransport::ForwardingTransport;
  std::optional<Envelope> tryReceive(Topic topic, Session session) override {
    auto envelope = ForwardingTransport::tryReceive(topic, session);
    if (!envelope && mix(++probes_ * 16 + static_cast<std::uint64_t>(rank())) % 8 == 0) {
      relax(1e-6 * static_cast<double>(mix(probes_) % 50));
    }
    return envelope;
  }

 private:
  std::uint64_t probes_ = 0;
};

TEST(Exchange, NothingIsLostInManyRepetitions) {
  const auto repetitions = static_cast<int>(someOf(world().size() <= 2 ? 3000 : 300));
  SleepyTransport transport(world());
  const Assignment assignment = uniform(1);
  const auto total = static_cast<BlockId>(world().size());
  std::int64_t arrived = 0;
  std::int64_t expected = 0;
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    const Scheme& scheme = Schemes[repetition % 5];
    bool begun = false;
    const int particles = 1 + repetition % 20;
    expected += particles;
    Exchange exchange(transport, assignment, {{(world().rank() + 1) % total}}, optionsOf(scheme),
                      [&](BlockId block, Mailbox& mailbox) {
                        if (!begun) {
                          begun = true;
                          for (int i = 0; i < particles; ++i) {
                            mailbox.enqueue((block + 1) % total, 1 + i % 4);
                          }
                        }
                        while (auto message = mailbox.dequeueView()) {
                          const int left = Reader(message->payload).value<int>() - 1;
                          if (left > 0) {
                            mailbox.enqueue((block + 1) % total, left);
                          } else {
                            ++arrived;
                          }
                        }
                        return false;
                      });
    exchange.run();
  }
  EXPECT_EQ(allreduce(world(), ReduceOp::Sum, arrived), expected * total);
}

// A record of what was sent when.
class SentRecord : public ForwardingTransport {
 public:
  using ForwardingTransport::ForwardingTransport;
  PendingSend send(int destination, Topic topic, Session session, SendMode mode,
                   Bytes&& bytes) override {
    if (topic == Topic::Work) sent.push_back({now(), bytes.size()});
    return ForwardingTransport::send(destination, topic, session, mode, std::move(bytes));
  }

  struct Sent {
    double at;
    std::size_t bytes;
  };
  std::vector<Sent> sent;
};

// The same with a clock that moves by spend() only.
class FakeClock : public SentRecord {
 public:
  using SentRecord::SentRecord;
  double now() const override { return now_; }
  void spend(double seconds) override { now_ += seconds; }
  void relax(double seconds) override { now_ += seconds > 0 ? seconds : 1e-7; }

 private:
  double now_ = 1000;
};

// Rank 0 sends to the last: one 100-byte message each `interval` seconds, `calls` calls in a row.
std::vector<SentRecord::Sent> batchesOf(const ExchangeOptions& options, double interval, int calls,
                                        int perCall) {
  FakeClock transport(world());
  const BlockId target = world().size() - 1;
  int call = 0;
  Exchange exchange(transport, uniform(1), {{}}, options, [&](BlockId block, Mailbox& mailbox) {
    while (mailbox.dequeueView()) {
    }
    if (block != 0 || call == calls) return false;
    for (int i = 0; i < perCall; ++i) {
      mailbox.enqueueRaw(target, std::string(100, 'x').data(), 100);
      transport.spend(interval);
    }
    return ++call < calls;
  });
  exchange.run();
  return transport.sent;
}

// Of so many messages in one run, without the footer.
constexpr std::size_t batchOf(std::size_t messages) {
  return sizeof(SectionHeader) + sizeof(RunHeader) + messages * 104;
}

TEST(Exchange, ABatchLeavesWhenItIsLarge) {
  ExchangeOptions options;
  options.batchBytes = batchOf(10);
  options.holdTime = 1e12;
  for (const int perCall : {1, 25}) {
    const auto sent = batchesOf(options, 1e-3, 100 / perCall, perCall);
    if (world().size() == 1 || world().rank() != 0) continue;
    ASSERT_EQ(sent.size(), 10u);
    for (const auto& batch : sent) EXPECT_EQ(batch.bytes, batchOf(10) + sizeof(BatchFooter));
  }
}

TEST(Exchange, ABatchLeavesWhenItIsOld) {
  ExchangeOptions options;
  options.batchBytes = 1 << 30;
  options.holdTime = 9.5e3;
  // Looked at after each call ...
  auto sent = batchesOf(options, 1e-3, 100, 1);
  if (world().size() > 1 && world().rank() == 0) {
    ASSERT_EQ(sent.size(), 10u);
    for (const auto& batch : sent) EXPECT_EQ(batch.bytes, batchOf(10) + sizeof(BatchFooter));
    EXPECT_NEAR(sent[1].at - sent[0].at, 10e-3, 1.1e-3);
  }
  // ... and in a long one.
  sent = batchesOf(options, 1e-3, 1, 100);
  if (world().size() > 1 && world().rank() == 0) {
    EXPECT_GE(sent.size(), 6u);
    for (const auto& batch : sent) EXPECT_LE(batch.bytes, batchOf(17) + sizeof(BatchFooter));
  }
}

TEST(Exchange, BatchesForManyRanksAreHeldSoManyTimesAsLong) {
  if (world().size() < 3) GTEST_SKIP() << "needs two others";
  ExchangeOptions options;
  options.batchBytes = 1 << 30;
  options.holdTime = 4.5e3;
  FakeClock transport(world());
  int calls = 100;  // of a millisecond
  Exchange exchange(transport, uniform(1), {{}}, options, [&](BlockId block, Mailbox& mailbox) {
    while (mailbox.dequeueView()) {
    }
    if (block != 0) return false;
    for (BlockId other = 1; other < world().size(); ++other) mailbox.enqueue(other, 1);
    transport.spend(1e-3);
    return --calls > 0;
  });
  exchange.run();
  // One in a hold time, whoever it is for; the first and the last ones are not held.
  const int others = world().size() - 1;
  if (world().rank() != 0) return;
  EXPECT_LE(static_cast<double>(transport.sent.size()), 100 / 4.5 + 2 * others);
}

TEST(Exchange, ABatchIsHeldWhileItsRankWorks) {
  ExchangeOptions options;
  options.batchBytes = 1 << 30;
  options.holdTime = 1e12;
  const auto sent = batchesOf(options, 1e-3, 50, 2);
  if (world().size() > 1 && world().rank() == 0) {
    ASSERT_EQ(sent.size(), 1u);
    EXPECT_EQ(sent[0].bytes, batchOf(100) + sizeof(BatchFooter));
  }
}

TEST(Exchange, ABatchIsHeldLongerAndLongerAfterWaiting) {
  if (world().size() == 1) GTEST_SKIP() << "nobody else to wait for";
  ExchangeOptions options;
  options.holdTime = 8e3;
  inVirtualTime([&](Transport& network) {
    SentRecord transport(network);
    const BlockId last = transport.size() - 1;
    Exchange exchange(transport, uniform(1), {{}}, options, [&](BlockId block, Mailbox& mailbox) {
      bool woken = false;
      while (mailbox.dequeueView()) woken = true;
      if (block == last && !woken) {
        transport.spend(20e-3);
        mailbox.enqueue(0, 1);
      }
      for (int i = 0; block == 0 && woken && i < 100; ++i) {
        mailbox.enqueueRaw(last, std::string(100, 'x').data(), 100);
        transport.spend(1e-3);
      }
      return false;
    });
    exchange.run();
    if (transport.rank() != 0) return;
    ASSERT_GE(transport.sent.size(), 6u);
    EXPECT_EQ(transport.sent[0].bytes, batchOf(1) + sizeof(BatchFooter));
    EXPECT_LT(transport.sent[1].bytes, transport.sent[4].bytes);
    // The clock is looked at a few times in a hold time.
    for (const auto& batch : transport.sent) {
      EXPECT_LE(batch.bytes, batchOf(12) + sizeof(BatchFooter));
    }
  });
}

TEST(Exchange, SynchronousShowsMessagesInTheNextRound) {
  // Token passing along all blocks: in round r exactly block r is called with a message.
  const BlockId total = 3 * world().size();
  const Assignment assignment = uniform(3);
  std::vector<std::int64_t> rounds;
  ExchangeOptions options = optionsOf(Schemes[0]);
  Exchange* running = nullptr;
  Exchange exchange(world(), assignment, {{}, {}, {}}, options,
                    [&](BlockId block, Mailbox& mailbox) {
                      const auto round = running->statistics().rounds - 1;
                      bool got = round == 0 && block == 0;
                      while (mailbox.dequeueView()) got = true;
                      if (got) {
                        EXPECT_EQ(round, block);
                        rounds.push_back(round);
                        if (block + 1 < total) mailbox.enqueue(block + 1, 1);
                      }
                      return false;
                    });
  running = &exchange;
  exchange.run();
  EXPECT_EQ(rounds.size(), 3u);
  EXPECT_EQ(exchange.statistics().rounds, total);
  EXPECT_EQ(exchange.statistics().waves, total);
}

TEST(Exchange, NeighborhoodWaitsForTheShareAndNoMore) {
  // The last rank is slow. With arrivals 1 those linked to it take no second round before it has
  // ended its first; with 0 they do.
  if (world().size() < 2) GTEST_SKIP() << "needs two ranks";
  const int last = world().size() - 1;
  for (const double arrivals : {0.0, 1.0}) {
    inVirtualTime([&](Transport& transport) {
      ExchangeOptions options = optionsOf(Schemes[1]);
      options.arrivals = arrivals;
      const bool slow = transport.rank() == last;
      int calls = 0;
      double second = 0;
      const double begin = transport.now();
      Exchange exchange(transport, uniform(1), {{slow ? 0 : last}}, options,
                        [&](BlockId, Mailbox& mailbox) {
                          while (mailbox.dequeueView()) {
                          }
                          if (++calls == 2) second = transport.now() - begin;
                          if (slow && calls == 1) transport.spend(0.1);
                          return calls < 3;
                        });
      exchange.run();
      EXPECT_EQ(calls, 3);
      if (slow || arrivals == 1) {
        EXPECT_GE(second, 0.1);
      } else {
        EXPECT_LT(second, 0.01);
      }
    });
  }
}

TEST(Exchange, MessagesLeaveWhileTheCallGoesOn) {
  // Small and large ones: the sender's only call does not end before the receiver has half of them.
  if (world().size() < 2) GTEST_SKIP() << "needs two ranks";
  const BlockId target = world().size() - 1;
  for (const std::size_t bytes : {100, 5000, 200000}) {
    constexpr int Messages = 50;
    constexpr double Limit = 30;
    bool begun = false, told = false;
    int arrivals = 0;
    const Session notes = world().openSession();
    Exchange exchange(world(), uniform(1), {{}}, {}, [&](BlockId block, Mailbox& mailbox) {
      while (mailbox.dequeueView())
        if (++arrivals == 4 * Messages)
          world().send(0, Topic::Setup, notes, SendMode::Eager, Bytes(1));
      if (block == 0 && !std::exchange(begun, true)) {
        for (int i = 0; i < Messages; ++i) {
          for (int part = 0; part < 8; ++part) mailbox.enqueue(target, Bytes(bytes));
          world().relax(2e-3);
        }
        const double since = world().now();
        while (!told && world().now() - since < Limit) {
          world().poll();
          told = world().tryReceive(Topic::Setup, notes).has_value();
        }
      }
      return false;
    });
    exchange.run();
    EXPECT_EQ(arrivals, world().rank() == target ? 8 * Messages : 0);
    EXPECT_EQ(told, world().rank() == 0) << "messages of " << bytes << " bytes";
  }
}

TEST(Exchange, ALargeMessageIsNotCopiedOnItsRank) {
  const std::byte* sentFrom = nullptr;
  const std::byte* arrivedAt = nullptr;
  const BlockId first = 2 * world().rank();
  Exchange exchange(world(), uniform(2), {{}, {}}, {}, [&](BlockId block, Mailbox& mailbox) {
    if (block == first && !sentFrom) {
      Bytes bytes(1 << 20);
      sentFrom = bytes.data();
      mailbox.enqueue(first + 1, std::move(bytes));
    }
    while (auto message = mailbox.dequeue()) arrivedAt = message->payload.data();
    return false;
  });
  exchange.run();
  EXPECT_NE(sentFrom, nullptr);
  EXPECT_EQ(sentFrom, arrivedAt);
  EXPECT_EQ(exchange.statistics().localDeliveries, 1);
  EXPECT_EQ(exchange.statistics().messages, 0);
}

TEST(Exchange, ValuesAndRangesAreSentByTheirBytes) {
  const BlockId target = world().size() - 1;
  std::vector<std::size_t> sizes;
  bool begun = false;
  Exchange exchange(world(), uniform(1), {{}}, {}, [&](BlockId block, Mailbox& mailbox) {
    std::vector<double> values{1, 2, 3};
    if (block == 0 && !std::exchange(begun, true)) {
      mailbox.enqueue(target, values[0]);
      mailbox.enqueue(target, values);
      mailbox.enqueue(target, Span<double>(values));
      mailbox.enqueue(target, Span<const double>(values));
      mailbox.enqueue(target, Bytes(5));
    }
    while (auto message = mailbox.dequeueView()) {
      sizes.push_back(message->payload.size());
      if (sizes.size() == 3) {
        double last = 0;
        std::memcpy(&last, message->payload.data() + 16, sizeof last);
        EXPECT_EQ(last, 3);
      }
    }
    return false;
  });
  exchange.run();
  if (world().rank() == target) {
    EXPECT_EQ(sizes, (std::vector<std::size_t>{8, 24, 24, 24, 5}));
  }
}

TEST(Exchange, WhatABlockSendsToItselfComesAtItsNextCall) {
  int calls = 0;
  Exchange exchange(world(), uniform(1), {{}}, {}, [&](BlockId block, Mailbox& mailbox) {
    ++calls;
    int messages = 0;
    while (mailbox.dequeueView()) {
      ++messages;
      if (calls < 5) mailbox.enqueue(block, 1);
    }
    EXPECT_EQ(messages, calls == 1 ? 0 : 1);
    if (calls == 1) mailbox.enqueue(block, 1);
    return false;
  });
  exchange.run();
  EXPECT_EQ(calls, 5);
}

TEST(Assignment, Numbers) {
  const Assignment assignment({2, 0, 3});
  EXPECT_EQ(assignment.ranks(), 3);
  EXPECT_EQ(assignment.total(), 5);
  EXPECT_EQ(assignment.first(2), 2);
  EXPECT_EQ(assignment.count(1), 0);
  const std::vector<int> owners = {0, 0, 2, 2, 2};
  for (BlockId block = 0; block < 5; ++block) {
    EXPECT_EQ(assignment.rankOf(block), owners[static_cast<std::size_t>(block)]);
  }
  EXPECT_THROW(static_cast<void>(assignment.rankOf(5)), Error);
  EXPECT_THROW(static_cast<void>(assignment.rankOf(-1)), Error);
  EXPECT_THROW(Assignment({1, -1}), Error);
}

TEST(Inbox, KeepsSendersOfLikeMessagesApart) {
  BufferPool pool;
  Inbox inbox(pool);
  for (BlockId from = 0; from < 100; ++from) {
    const BlockId sender = from / 3;
    if (!inbox.tryAdd(sender, &from, sizeof from)) inbox.add(sender, &from, sizeof from);
  }
  inbox.open();
  for (BlockId from = 0; from < 100; ++from) {
    const auto view = inbox.dequeueView();
    ASSERT_TRUE(view.has_value());
    EXPECT_EQ(view->from, from / 3);
    EXPECT_EQ(Reader(view->payload).value<BlockId>(), from);
  }
}

TEST(Inbox, KeepsOrderAcrossSizesAndLeftovers) {
  BufferPool pool;
  Inbox inbox(pool);
  int written = 0;
  int read = 0;
  for (int round = 0; round < 200; ++round) {
    const auto writes = mix(static_cast<std::uint64_t>(round)) % 7;
    for (std::uint64_t i = 0; i < writes; ++i) {
      Bytes bytes(written % 9 == 0 ? Inbox::Large + 5 : sizeof written + mix(i) % 50);
      std::memcpy(bytes.data(), &written, sizeof written);
      if (written % 17 == 0) {
        // As runs of a batch: so long that they stay in it, or not.
        RunWriter runs;
        runs.begin(pool.take(1 << 14));
        runs.addRun(written, bytes.data(), bytes.size());
        const std::size_t length = runs.bytes();
        const auto batch = std::make_shared<Bytes>(runs.take());
        inbox.addRuns(batch, batch->data() + sizeof(SectionHeader), length, 1);
      } else if (written % 2) {
        inbox.add(written, std::move(bytes));
      } else {
        inbox.add(written, bytes.data(), bytes.size());
      }
      ++written;
    }
    EXPECT_EQ(inbox.visible() + inbox.arrived(), static_cast<std::size_t>(written - read));
    inbox.open();
    const auto reads = mix(static_cast<std::uint64_t>(round) + 999) % 5;
    for (std::uint64_t i = 0; i < reads; ++i) {
      const auto view = inbox.dequeueView();
      if (!view) break;
      EXPECT_EQ(view->from, read);
      EXPECT_EQ(Reader(view->payload).value<int>(), read);
      ++read;
    }
    inbox.close();
  }
  while (auto message = inbox.dequeue()) EXPECT_EQ(Reader(message->payload).value<int>(), read++);
  EXPECT_EQ(read, written);
}

}  // namespace
}  // namespace tributary
