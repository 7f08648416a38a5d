// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "Support/Effort.h"
#include "Support/World.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Exchange/Exchange.h"
#include "Tributary/Termination/Detector.h"
#include "Tributary/Transport/Simulated.h"

namespace tributary {
namespace {

using testing::errorOf;
using testing::mix;
using testing::Sanitized;

constexpr LinkCosts Within = {0.5e-6, 0.2e-6, 0.4e-6, 1e-9};
constexpr LinkCosts Between = {2e-6, 0.3e-6, 0.6e-6, 2e-9};

VirtualTimeNetworkOptions cluster(int ranks, int ranksPerNode) {
  VirtualTimeNetworkOptions options;
  options.ranks = ranks;
  options.ranksPerNode = ranksPerNode;
  options.within = Within;
  options.between = Between;
  return options;
}

/// Waits for a message, looking again and again.
Envelope receive(Transport& transport, Session session) {
  while (true) {
    if (auto envelope = transport.tryReceive(Topic::Work, session)) return std::move(*envelope);
    transport.relax(0);
  }
}

void finish(Transport& transport, const PendingSend& send) {
  while (!send.done()) {
    transport.poll();
    if (!send.done()) transport.relax(0);
  }
}

// The receiver was asleep, so the formula of LogGP is exact but for one look of each.
TEST(VirtualTimeNetwork, AMessageCostsWhatLogGPSays) {
  for (const bool sameNode : {true, false}) {
    const LinkCosts& link = sameNode ? Within : Between;
    for (const std::size_t size : {std::size_t(1), std::size_t(5000)}) {
      const auto network = makeVirtualTimeNetwork(cluster(2, sameNode ? 2 : 1));
      const double look = VirtualTimeNetworkOptions().lookSeconds;
      const double way = link.latency + static_cast<double>(size - 1) * link.gapPerByte;
      network->run([&](Transport& transport) {
        const Session session = transport.openSession();
        if (transport.rank() == 0) {
          const double begin = transport.now();
          const PendingSend send =
              transport.send(1, Topic::Work, session, SendMode::Synchronous, Bytes(size));
          EXPECT_NEAR(transport.now() - begin, link.overhead, 1e-12);
          finish(transport, send);
          // There, its receipt, the acknowledgement's overhead and way, and its receipt.
          EXPECT_NEAR(transport.now() - begin, 4 * link.overhead + way + link.latency, 4 * look);
        } else {
          EXPECT_EQ(receive(transport, session).bytes.size(), size);
          EXPECT_NEAR(transport.now(), 3 * link.overhead + way, 4 * look);
        }
      });
      EXPECT_EQ(network->traffic().work, 1);
      EXPECT_EQ(network->traffic().bytes, static_cast<std::int64_t>(size));
      EXPECT_EQ(network->traffic().acknowledgements, 1);
      EXPECT_EQ(network->left(), "");
    }
  }
}

TEST(VirtualTimeNetwork, GapsKeepMessagesApart) {
  const auto network = makeVirtualTimeNetwork(cluster(3, 1));
  network->run([&](Transport& transport) {
    const Session session = transport.openSession();
    if (transport.rank() > 0) {
      for (int i = 0; i < 10; ++i) {
        transport.send(0, Topic::Work, session, SendMode::Eager, Bytes(1));
      }
    } else {
      for (int i = 0; i < 20; ++i) receive(transport, session);
      // The two senders' gaps pass at the same time, the receiver's gaps one after the other.
      EXPECT_NEAR(transport.now(), Between.latency + 2 * Between.overhead + 19 * Between.gap, 2e-7);
    }
  });
}

/// Whatever the receiver's gap puts off, and however late it looks.
TEST(VirtualTimeNetwork, MessagesOfARankToAnotherKeepTheirOrder) {
  constexpr int Ranks = 5, Messages = 200;
  const auto network = makeVirtualTimeNetwork(cluster(Ranks, 2));
  network->run([&](Transport& transport) {
    const Session session = transport.openSession();
    auto pause = [&, n = std::uint64_t(transport.rank()) << 32](unsigned longest) mutable {
      transport.spend(1e-7 * static_cast<double>(mix(++n) % longest));
    };
    if (transport.rank() > 0) {
      for (int i = 0; i < Messages; ++i) {
        transport.send(0, Topic::Work, session, SendMode::Eager, Writer().value(i).take());
        pause(45);
      }
      return;
    }
    std::vector<int> next(Ranks, 0);
    for (int i = 0; i < (Ranks - 1) * Messages; ++i) {
      const Envelope envelope = receive(transport, session);
      EXPECT_EQ(Reader(envelope.bytes).value<int>(), next[std::size_t(envelope.source)]++)
          << "of rank " << envelope.source;
      pause(14);
    }
  });
}

TEST(VirtualTimeNetwork, CollectivesAreTreesAndRight) {
  for (const int size : {1, 2, 3, 5, 8, 13, 64}) {
    const auto network = makeVirtualTimeNetwork(cluster(size, 4));
    network->run([&](Transport& transport) {
      const std::int64_t rank = transport.rank();
      EXPECT_EQ(allreduce(transport, ReduceOp::Sum, rank), std::int64_t(size) * (size - 1) / 2);
      EXPECT_EQ(allreduce(transport, ReduceOp::Min, rank + 7), 7);
      EXPECT_EQ(allreduce(transport, ReduceOp::Max, rank), size - 1);
      EXPECT_EQ(allreduce(transport, ReduceOp::Or, rank == size - 1 ? 4 : 0), 4);
    });
    EXPECT_EQ(network->traffic().collective, 4 * 2 * (size - 1));
    EXPECT_EQ(network->left(), "");
  }
  // Nobody leaves a barrier before the last has come.
  const auto network = makeVirtualTimeNetwork(cluster(16, 4));
  network->run([&](Transport& transport) {
    if (transport.rank() == 11) transport.spend(1.0);
    barrier(transport);
    EXPECT_GT(transport.now(), 1.0);
    EXPECT_LT(transport.now(), 1.0 + 8 * (Between.latency + 6 * Between.overhead));
  });
}

TEST(VirtualTimeNetwork, SharedOperationsAreServedOneAfterTheOther) {
  VirtualTimeNetworkOptions options = cluster(64, 64);
  options.sharedSeconds = 1e-6;
  const auto network = makeVirtualTimeNetwork(options);
  std::vector<bool> seen(64 * 10, false);
  network->run([&](Transport& transport) {
    const auto integer = transport.shareInteger(5);
    for (int i = 0; i < 10; ++i) {
      const auto value = static_cast<std::size_t>(integer->fetchAdd(1) - 5);
      ASSERT_LT(value, seen.size());
      EXPECT_FALSE(seen[value]);
      seen[value] = true;
    }
    if (transport.rank() == 63) {
      EXPECT_GT(transport.now(), 600e-6);
    }
  });
  EXPECT_EQ(network->traffic().sharedOperations, 640);
}

TEST(VirtualTimeNetwork, SpeedAndNoiseScaleComputation) {
  VirtualTimeNetworkOptions options = cluster(2, 2);
  options.speeds = {1, 4};
  options.noise = 0.5;
  const auto network = makeVirtualTimeNetwork(options);
  network->run([&](Transport& transport) {
    for (int i = 0; i < 10000; ++i) transport.spend(1e-3);
    const double expected = transport.rank() == 0 ? 10 : 2.5;
    EXPECT_NEAR(transport.now(), expected, expected * 0.02);
    EXPECT_NE(transport.now(), expected);
  });
}

TEST(VirtualTimeNetwork, TimeOutsPassWhileNothingComes) {
  const auto network = makeVirtualTimeNetwork(cluster(3, 1));
  network->run([&](Transport& transport) {
    const double begin = transport.now();
    int turns = 0;
    while (transport.now() - begin < 50.0) {
      transport.poll();
      transport.relax(0);
      ++turns;
    }
    EXPECT_LT(transport.now() - begin, 76.0);
    EXPECT_LT(turns, 100);
  });
}

TEST(VirtualTimeNetwork, ADeadlockIsReportedAndStacksAreCleared) {
  const auto network = makeVirtualTimeNetwork(cluster(3, 1));
  network->describeBy([](int rank) { return "I am " + std::to_string(rank); });
  int destroyed = 0;
  struct Count {
    int& count;
    ~Count() { ++count; }
  };
  const std::string error = errorOf([&] {
    network->run([&](Transport& transport) {
      const Count count{destroyed};
      if (transport.rank() == 0) return;
      if (transport.rank() == 2) {
        transport.send(1, Topic::Setup, 9, SendMode::Eager, Bytes(3));
        barrier(transport);
      }
      receive(transport, transport.openSession());
    });
  });
  EXPECT_NE(error.find("deadlock, 2 of 3 ranks have not ended"), std::string::npos) << error;
  EXPECT_NE(error.find("rank 1: I am 1; 1 messages not received"), std::string::npos) << error;
  EXPECT_NE(error.find("rank 2: I am 2; 1 collective operations not ended"), std::string::npos)
      << error;
  EXPECT_EQ(destroyed, 3);
}

TEST(VirtualTimeNetwork, TheLowestRanksExceptionComesOut) {
  const auto network = makeVirtualTimeNetwork(cluster(4, 2));
  const std::string error = errorOf([&] {
    network->run([&](Transport& transport) {
      try {
        throw Error("first");
      } catch (const Error&) {
        // Others throw and catch while this one is being handled.
        barrier(transport);
        try {
          throw;
        } catch (const Error& again) {
          if (transport.rank() > 1) throw Error("of rank " + std::to_string(transport.rank()));
        }
      }
    });
  });
  EXPECT_EQ(error, "of rank 2");
}

// A run is a function of its options: what ranks see, and when, is the same again.
TEST(VirtualTimeNetwork, IsExactlyRepeatable) {
  const auto trace = [](std::uint64_t seed) {
    VirtualTimeNetworkOptions options = cluster(9, 4);
    options.noise = 1;
    options.seed = seed;
    const auto network = makeVirtualTimeNetwork(options);
    std::vector<double> times;
    network->run([&](Transport& transport) {
      const Session session = transport.openSession();
      std::uint64_t state = static_cast<std::uint64_t>(transport.rank());
      for (int i = 0; i < 20; ++i) {
        state = mix(state);
        transport.spend(1e-6);
        transport.send(static_cast<int>(state % 9), Topic::Work, session, SendMode::Eager,
                       Bytes(state % 1000));
      }
      const double end = transport.now() + 1e-3;
      while (transport.now() < end) {
        if (auto envelope = transport.tryReceive(Topic::Work, session)) {
          times.push_back(transport.now() + envelope->source);
        }
        transport.relax(0);
      }
    });
    EXPECT_EQ(times.size(), 180u);
    EXPECT_EQ(network->left(), "");
    return times;
  };
  EXPECT_EQ(trace(1), trace(1));
  EXPECT_NE(trace(1), trace(2));
}

/// Tokens that hop to random ranks and split, then an end; counts what was handled.
class Hops {
 public:
  Hops(Transport& transport, const std::string& detector)
      : transport_(transport),
        session_(transport.openSession()),
        detector_(makeDetector(detector, transport, session_)),
        mode_(detector_->traits().synchronousSends ? SendMode::Synchronous : SendMode::Eager) {
    if (transport.rank() == 0) tokens_.assign(3, 1 << 16 | 8);
  }

  bool step() {
    while (auto envelope = transport_.tryReceive(Topic::Work, session_)) {
      detector_->received(envelope->source);
      tokens_.push_back(Reader(envelope->bytes).value<std::uint64_t>());
      touched_ = true;
    }
    const bool working = !tokens_.empty();
    if (working) {
      const std::uint64_t token = tokens_.back();
      tokens_.pop_back();
      ++handled;
      touched_ = true;
      transport_.spend(1e-6);
      for (std::uint64_t child = 0; (token & 0xffff) > 0 && child < 2; ++child) {
        const auto size = static_cast<std::uint64_t>(transport_.size());
        const auto target = static_cast<int>(mix(token * 2 + child) % size);
        const std::uint64_t next = (mix(token + child) << 16) | ((token & 0xffff) - 1);
        detector_->sent(target);
        sends_.push_back(
            transport_.send(target, Topic::Work, session_, mode_, Writer().value(next).take()));
      }
    }
    transport_.poll();
    sends_.erase(
        std::remove_if(sends_.begin(), sends_.end(), [](const PendingSend& s) { return s.done(); }),
        sends_.end());
    if (detector_->advance(tokens_.empty() && sends_.empty(), std::exchange(touched_, false))) {
      return true;
    }
    if (!working) transport_.relax(0);
    return false;
  }

  std::int64_t handled = 0;
  std::int64_t waves() const { return detector_->waves(); }

 private:
  Transport& transport_;
  Session session_;
  std::unique_ptr<Detector> detector_;
  SendMode mode_;
  std::vector<std::uint64_t> tokens_;
  std::vector<PendingSend> sends_;
  bool touched_ = false;
};

TEST(VirtualTimeNetwork, StepsRunEveryDetector) {
  for (const std::string& name : detectorNames(WorkModel::AP)) {
    for (const int size : {1, 2, 3, 8, 50}) {
      const auto network = makeVirtualTimeNetwork(cluster(size, 4));
      std::vector<std::unique_ptr<Hops>> hops;
      for (int rank = 0; rank < size; ++rank) {
        hops.push_back(std::make_unique<Hops>(network->transport(rank), name));
      }
      network->runSteps([&](Transport& transport) {
        return hops[static_cast<std::size_t>(transport.rank())]->step();
      });
      std::int64_t handled = 0;
      for (const auto& rank : hops) {
        handled += rank->handled;
        EXPECT_EQ(rank->waves(), hops[0]->waves()) << name;
      }
      EXPECT_EQ(handled, 3 * ((1 << 9) - 1)) << name;
      EXPECT_EQ(network->left(), "") << name;
    }
  }
}

TEST(VirtualTimeNetwork, AStepMustNotWait) {
  const auto network = makeVirtualTimeNetwork(cluster(2, 2));
  const std::string error = errorOf([&] {
    network->runSteps([](Transport& transport) {
      barrier(transport);
      return true;
    });
  });
  EXPECT_NE(error.find("must not wait"), std::string::npos);
}

TEST(VirtualTimeNetwork, RefusesOptionsWithoutSense) {
  EXPECT_THROW(makeVirtualTimeNetwork(cluster(0, 1)), Error);
  EXPECT_THROW(makeVirtualTimeNetwork(cluster(1, 0)), Error);
  VirtualTimeNetworkOptions options = cluster(2, 1);
  options.speeds = {1};
  EXPECT_THROW(makeVirtualTimeNetwork(options), Error);
  options.speeds = {1, 0};
  EXPECT_THROW(makeVirtualTimeNetwork(options), Error);
  const auto refused = [](const std::function<void(VirtualTimeNetworkOptions&)>& spoil) {
    VirtualTimeNetworkOptions bad = cluster(2, 1);
    spoil(bad);
    return errorOf([&] { static_cast<void>(makeVirtualTimeNetwork(bad)); });
  };
  EXPECT_EQ(refused([](auto&) {}), "");
  EXPECT_NE(refused([](auto& o) { o.between.latency = -1; }).find("costs"), std::string::npos);
  EXPECT_NE(refused([](auto& o) { o.within.gapPerByte = -1; }).find("costs"), std::string::npos);
  EXPECT_NE(refused([](auto& o) { o.lookSeconds = 0; }).find("lookSeconds"), std::string::npos);
  EXPECT_NE(refused([](auto& o) { o.sharedSeconds = -1; }).find("sharedS"), std::string::npos);
  EXPECT_NE(refused([](auto& o) { o.noise = 1.1; }).find("noise"), std::string::npos);
}

TEST(VirtualTimeNetwork, StacksThatFindNoRoomAreAnError) {
  VirtualTimeNetworkOptions options = cluster(2, 1);
  options.stackBytes = std::size_t(1) << 60;
  const auto network = makeVirtualTimeNetwork(options);
  EXPECT_NE(errorOf([&] { network->run([](Transport&) {}); }).find("no address space"),
            std::string::npos);
}

TEST(SimulatedNetworks, RefuseWrongUse) {
  const auto adversary = makeScriptedAdversary("");
  EXPECT_NE(errorOf([&] {
              static_cast<void>(makeAdversarialNetwork(0, *adversary));
            }).find("ranks must be at least 1"),
            std::string::npos);
  const auto onBoth = [&](const std::function<void(Transport&)>& body, const char* expected) {
    const auto timed = makeVirtualTimeNetwork(cluster(2, 1));
    EXPECT_NE(errorOf([&] { timed->run(body); }).find(expected), std::string::npos);
    const auto chosen = makeAdversarialNetwork(2, *adversary);
    EXPECT_NE(errorOf([&] { chosen->run(body); }).find(expected), std::string::npos);
  };
  onBoth([](Transport& t) { t.send(2, Topic::Work, 0, SendMode::Eager, Bytes(1)); },
         "send to rank 2: ranks are numbered from 0 to 1");
  onBoth([](Transport& t) { (void)allreduce(t, t.rank() == 0 ? ReduceOp::Sum : ReduceOp::Max, 1); },
         "ranks passed different operations");
  onBoth(
      [](Transport& t) {
        (void)allreduce(t, ReduceOp::Sum,
                        std::vector<std::int64_t>(static_cast<std::size_t>(1 + t.rank())));
      },
      " values");
  // An adversary without sense.
  struct : Adversary {
    std::size_t choose(Decision, int, const std::vector<int>& options) override {
      return options.size();
    }
  } mad;
  const auto network = makeAdversarialNetwork(2, mad);
  EXPECT_NE(errorOf([&] { network->run([](Transport&) {}); }).find("none of the options"),
            std::string::npos);
}

Assignment evenly(int ranks, int blocksPerRank) {
  return Assignment(
      std::vector<std::int64_t>(static_cast<std::size_t>(ranks), std::int64_t(blocksPerRank)));
}

/// Counters that count down from rank to rank in a ring; @return how often a block was called.
std::int64_t passAround(Transport& transport, Schedule schedule, const Assignment& assignment) {
  ExchangeOptions options;
  options.schedule = schedule;
  const std::int64_t total = assignment.total();
  const BlockId first = assignment.first(transport.rank());
  std::vector<std::vector<BlockId>> links;
  for (std::int64_t i = 0; i < assignment.count(transport.rank()); ++i) {
    links.push_back({(first + i + 1) % total, (first + i + total - 1) % total});
  }
  std::int64_t received = 0;
  std::vector<bool> begun(links.size(), false);
  Exchange exchange(transport, assignment, links, options, [&](BlockId block, Mailbox& mailbox) {
    const auto local = static_cast<std::size_t>(block - first);
    transport.spend(1e-6);
    if (!begun[local]) {
      begun[local] = true;
      mailbox.enqueue((block + 1) % total, std::int64_t(block % 5));
    }
    while (auto message = mailbox.dequeue()) {
      ++received;
      const auto hops = Reader(message->payload).value<std::int64_t>();
      if (hops > 0) mailbox.enqueue((block + 1) % total, hops - 1);
    }
    return false;
  });
  exchange.run();
  return allreduce(transport, ReduceOp::Sum, received);
}

TEST(VirtualTimeNetwork, ExchangeRunsUnchanged) {
  for (const Schedule schedule :
       {Schedule::Synchronous, Schedule::Neighborhood, Schedule::Asynchronous}) {
    for (const int size : {1, 3, 20}) {
      const auto network = makeVirtualTimeNetwork(cluster(size, 4));
      const Assignment assignment = evenly(size, 5);
      network->run([&](Transport& transport) {
        EXPECT_EQ(passAround(transport, schedule, assignment), size * (1 + 2 + 3 + 4 + 5));
      });
      EXPECT_EQ(network->left(), "");
    }
  }
}

/// The memory that this process has, or 0 where the system does not tell.
double residentBytes() {
  std::ifstream file("/proc/self/statm");
  double total = 0;
  double resident = 0;
  file >> total >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

// Experiments of the papers' sizes: 4,096 ranks, each with a stack and an exchange.
TEST(VirtualTimeNetwork, ThousandsOfRanksAreSmall) {
  constexpr int Ranks = Sanitized ? 256 : 4096;
  const Assignment assignment = evenly(Ranks, 1);
  const double before = residentBytes();
  double during = before;
  const auto network = makeVirtualTimeNetwork(cluster(Ranks, 32));
  network->run([&](Transport& transport) {
    EXPECT_EQ(passAround(transport, Schedule::Asynchronous, assignment), Ranks / 5 * 15 + 1);
    if (transport.rank() == Ranks / 2) during = residentBytes();
  });
  EXPECT_EQ(network->left(), "");
  std::printf("%.1f KiB a rank\n", (during - before) / Ranks / 1024);
  if (!Sanitized) {
    EXPECT_LT((during - before) / Ranks, 64 << 10);
  }
}

// ---- Without time ----

TEST(AdversarialNetwork, AScriptDecidesWhatIsSeen) {
  std::vector<int> sources;
  const auto play = [&](const std::string& script) {
    sources.clear();
    const auto adversary = makeScriptedAdversary(script);
    const auto network = makeAdversarialNetwork(3, *adversary);
    std::vector<PendingSend> sends;
    network->runSteps([&](Transport& transport) {
      const Session session = 0;
      if (transport.rank() > 0) {
        for (int i = 0; i < 2; ++i) {
          sends.push_back(transport.send(0, Topic::Work, session, SendMode::Synchronous,
                                         Writer().value(i).take()));
        }
        return true;
      }
      const auto envelope = transport.tryReceive(Topic::Work, session);
      sources.push_back(envelope ? envelope->source * 10 + Reader(envelope->bytes).value<int>()
                                 : -1);
      return sources.size() == 6;
    });
    return network->left();
  };
  // At the script's end everything is seen at once.
  EXPECT_EQ(play("r0 r1 r0 m- r2 r0 m2"),
            "rank 1: 2 sends not seen to be finished; "
            "rank 2: 2 sends not seen to be finished");
  EXPECT_EQ(sources, (std::vector<int>{-1, -1, 20, 21, 10, 11}));
  EXPECT_NE(errorOf([&] { play("r0 m1"); }).find("word 2, 'm1'"), std::string::npos);
}

TEST(AdversarialNetwork, AHalfReceivedMessageHasBegunToArrive) {
  const auto adversary = makeScriptedAdversary("r0 r1 m0 h1 r1 r0 s1 r1 m0");
  const auto network = makeAdversarialNetwork(2, *adversary, true);
  PendingSend send;
  std::vector<bool> seen;
  network->runSteps([&](Transport& transport) {
    if (transport.rank() == 0) {
      if (seen.empty()) {
        send = transport.send(1, Topic::Work, 0, SendMode::Synchronous, Bytes(1));
        seen.push_back(true);
        return false;
      }
      transport.poll();
      return send.done();
    }
    if (seen.size() == 1) {
      EXPECT_FALSE(transport.tryReceive(Topic::Work, 0));
      EXPECT_TRUE(transport.receiving(Topic::Work, 0));
      EXPECT_FALSE(transport.receiving(Topic::Control, 0));
      seen.push_back(true);
      return false;
    }
    if (seen.size() == 2) {
      EXPECT_FALSE(send.done());
      seen.push_back(true);
      return false;
    }
    EXPECT_TRUE(send.done());
    EXPECT_TRUE(transport.tryReceive(Topic::Work, 0));
    EXPECT_FALSE(transport.receiving(Topic::Work, 0));
    return true;
  });
  EXPECT_EQ(network->left(), "");
}

// What a random adversary did is done again by its script; each seed does something else.
TEST(AdversarialNetwork, RandomSchedulesCanBeRepeated) {
  std::vector<std::string> scripts;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const auto play = [&](Adversary& adversary) {
      ScheduleRecorder recorder(adversary);
      const auto network = makeAdversarialNetwork(4, recorder, seed % 2 == 0);
      std::vector<std::unique_ptr<Hops>> hops;
      for (int rank = 0; rank < 4; ++rank) {
        hops.push_back(std::make_unique<Hops>(network->transport(rank), "default"));
      }
      network->runSteps([&](Transport& transport) {
        return hops[static_cast<std::size_t>(transport.rank())]->step();
      });
      EXPECT_EQ(network->left(), "");
      std::int64_t handled = 0;
      for (const auto& rank : hops) handled += rank->handled;
      EXPECT_EQ(handled, 3 * ((1 << 9) - 1));
      return recorder.script();
    };
    scripts.push_back(play(*makeRandomAdversary(seed)));
    EXPECT_EQ(play(*makeScriptedAdversary(scripts.back())), scripts.back());
  }
  std::sort(scripts.begin(), scripts.end());
  EXPECT_EQ(std::unique(scripts.begin(), scripts.end()), scripts.end());
}

TEST(AdversarialNetwork, ADeadlockIsReported) {
  const auto adversary = makeScriptedAdversary("");
  const auto network = makeAdversarialNetwork(2, *adversary);
  network->describeBy([](int rank) { return "I am " + std::to_string(rank); });
  const std::string error = errorOf([&] {
    network->run([&](Transport& transport) {
      if (transport.rank() == 1) barrier(transport);
    });
  });
  EXPECT_NE(error.find(
                "1 of 2 ranks have not ended\n  rank 1: I am 1; 1 collective operations not ended"),
            std::string::npos)
      << error;
}

// The production's schedules with all that belongs to them, whatever happens when.
TEST(AdversarialNetwork, ExchangeIsRightUnderRandomSchedules) {
  const std::vector<Schedule> schedules = {Schedule::Synchronous, Schedule::Neighborhood,
                                           Schedule::Asynchronous};
  std::int64_t runs = 0;
  for (std::uint64_t seed = 0; seed < (Sanitized ? 150 : 1200); ++seed) {
    const int size = 1 + static_cast<int>(seed % 5);
    const int blocks = static_cast<int>(seed / 5 % 3);
    for (const Schedule schedule : schedules) {
      const auto adversary = makeRandomAdversary(seed);
      const auto network =
          makeAdversarialNetwork(size, *adversary, seed % 2 == 1, seed / 2 % 2 == 1);
      std::int64_t expected = 0;
      for (int block = 0; block < size * blocks; ++block) expected += 1 + block % 5;
      const Assignment assignment = evenly(size, blocks);
      network->run([&](Transport& transport) {
        EXPECT_EQ(passAround(transport, schedule, assignment), expected) << "seed " << seed;
      });
      ASSERT_EQ(network->left(), "") << "seed " << seed;
      ++runs;
    }
  }
  std::printf("%lld schedules of exchanges\n", static_cast<long long>(runs));
}

}  // namespace
}  // namespace tributary
