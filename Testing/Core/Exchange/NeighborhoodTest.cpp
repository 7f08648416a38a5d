// SPDX-License-Identifier: BSD-3-Clause
// The schedule Neighborhood: what it waits for, and that nothing is lost whatever it waits for.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <optional>
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
using testing::world;

constexpr double Shares[] = {0, 0.25, 0.5, 0.75, 1};

ExchangeOptions optionsOf(double arrivals, const std::string& detector = "default") {
  ExchangeOptions options;
  options.schedule = Schedule::Neighborhood;
  options.arrivals = arrivals;
  options.detector = detector;
  options.stallTimeout = 60;
  return options;
}

/// Walkers on a graph of blocks, some of which have many links, some none: linked blocks, blocks
/// that are not linked, the block itself. Who calls when does not change where they go.
struct Walk {
  std::uint64_t seed = 1;
  BlockId blocks = 1;
  int walkersPerBlock = 3;
  int hops = 15;

  struct Walker {
    std::uint64_t id;
    std::int64_t left;
  };

  /// Any blocks, the same one twice and itself included; not symmetric.
  std::vector<BlockId> links(BlockId block) const {
    std::vector<BlockId> result;
    const std::uint64_t random = mix(seed * 977 + static_cast<std::uint64_t>(block));
    for (std::uint64_t i = 0; i < random % 6; ++i) {
      result.push_back(static_cast<BlockId>(mix(random + i) % static_cast<std::uint64_t>(blocks)));
    }
    return result;
  }
  Walker made(BlockId block, int i) const {
    const auto id =
        mix(seed * 7919 + static_cast<std::uint64_t>(block) * 31 + static_cast<std::uint64_t>(i));
    return {id, static_cast<std::int64_t>(id % static_cast<std::uint64_t>(hops + 1))};
  }
  BlockId next(BlockId block, const Walker& walker) const {
    const std::uint64_t random = mix(walker.id ^ mix(static_cast<std::uint64_t>(walker.left)));
    const auto linked = links(block);
    if (linked.empty() || random % 4 == 0) {
      return static_cast<BlockId>((random >> 8) % static_cast<std::uint64_t>(blocks));
    }
    return linked[(random >> 8) % linked.size()];
  }
  static std::uint64_t visit(const Walker& walker) {
    return mix(walker.id * 3 + static_cast<std::uint64_t>(walker.left));
  }

  /// What each block sees, worked out walker by walker.
  std::vector<std::uint64_t> reference() const {
    std::vector<std::uint64_t> seen(static_cast<std::size_t>(blocks));
    for (BlockId block = 0; block < blocks; ++block) {
      for (int i = 0; i < walkersPerBlock; ++i) {
        BlockId at = block;
        for (Walker walker = made(block, i); walker.left > 0; --walker.left) {
          at = next(at, walker);
          seen[static_cast<std::size_t>(at)] += visit(walker);
        }
      }
    }
    return seen;
  }
};

/// Walks on this rank and compares its blocks with the reference. Collective.
void expectReference(Transport& transport, const Walk& walk, const Assignment& assignment,
                     const ExchangeOptions& options, double stepSeconds = 0) {
  const BlockId first = assignment.first(transport.rank());
  const auto count = static_cast<std::size_t>(assignment.count(transport.rank()));
  std::vector<std::uint64_t> seen(count);
  std::vector<bool> begun(count, false);
  std::vector<std::vector<BlockId>> links;
  for (std::size_t i = 0; i < count; ++i) links.push_back(walk.links(first + BlockId(i)));
  Exchange exchange(transport, assignment, links, options, [&](BlockId block, Mailbox& mailbox) {
    const auto local = static_cast<std::size_t>(block - first);
    const auto send = [&](const Walk::Walker& walker) {
      transport.spend(stepSeconds);
      if (walker.left > 0) mailbox.enqueue(walk.next(block, walker), walker);
    };
    if (!begun[local]) {
      begun[local] = true;
      for (int i = 0; i < walk.walkersPerBlock; ++i) send(walk.made(block, i));
    }
    while (const auto message = mailbox.dequeueView()) {
      auto walker = Reader(message->payload).value<Walk::Walker>();
      seen[local] += Walk::visit(walker);
      --walker.left;
      send(walker);
    }
    return false;
  });
  exchange.run();
  EXPECT_FALSE(exchange.aborted());
  const auto reference = walk.reference();
  for (std::size_t i = 0; i < count; ++i) {
    EXPECT_EQ(seen[i], reference[static_cast<std::size_t>(first) + i])
        << "block " << first + BlockId(i);
  }
  const auto sums = allreduce(
      transport, ReduceOp::Sum,
      std::vector<std::int64_t>{exchange.statistics().messages, exchange.statistics().received});
  EXPECT_EQ(sums[0], sums[1]);
}

/// Blocks spread unevenly; many ranks have none.
Assignment unevenly(int ranks, std::uint64_t seed) {
  std::vector<std::int64_t> counts;
  for (int rank = 0; rank < ranks; ++rank) {
    const std::uint64_t random = mix(seed * 64 + static_cast<std::uint64_t>(rank));
    counts.push_back(random % 3 == 0 ? 0 : static_cast<std::int64_t>(random >> 8) % 7);
  }
  counts[mix(seed) % counts.size()] += 2;
  return Assignment(counts);
}

TEST(Neighborhood, EqualsTheReferenceForAllArrivalsAndDetectors) {
  for (const std::string& detector : detectorNames(WorkModel::AP)) {
    for (const double arrivals : Shares) {
      for (std::uint64_t seed = 1; seed <= (Sanitized ? 1 : 3); ++seed) {
        SCOPED_TRACE(detector + ", arrivals " + std::to_string(arrivals) + ", seed " +
                     std::to_string(seed));
        const Assignment assignment = unevenly(world().size(), seed);
        Walk walk;
        walk.seed = seed;
        walk.blocks = assignment.total();
        expectReference(world(), walk, assignment, optionsOf(arrivals, detector));
      }
    }
  }
}

TEST(Neighborhood, RanksMayChooseDifferentArrivals) {
  const Assignment assignment = unevenly(world().size(), 9);
  Walk walk;
  walk.seed = 9;
  walk.blocks = assignment.total();
  expectReference(world(), walk, assignment, optionsOf(world().rank() % 3 * 0.5));
}

// A rank that was passive sends remarks, which only detectors for the AP model expect.
TEST(Neighborhood, RefusesDetectorsOfNarrowerModels) {
  for (const std::string& detector : detectorNames()) {
    const auto any = detectorNames(WorkModel::AP);
    const bool right = std::find(any.begin(), any.end(), detector) != any.end();
    ExchangeOptions options = optionsOf(1, detector);
    options.detection.work = WorkModel::Monotone;
    const std::string error = errorOf([&] {
      Exchange exchange(
          world(),
          Assignment(std::vector<std::int64_t>(static_cast<std::size_t>(world().size()), 0)), {},
          options, [](BlockId, Mailbox&) { return false; });
      exchange.run();
    });
    EXPECT_EQ(error.empty(), right) << detector << ": " << error;
  }
}

// ---- Simulated, with a clock ----

VirtualTimeNetworkOptions cluster(int ranks) {
  VirtualTimeNetworkOptions options;
  options.ranks = ranks;
  options.ranksPerNode = 4;
  return options;
}

/// Replaces the rank in the subscription that this rank receives.
class WrongSubscription : public testing::ForwardingTransport {
 public:
  WrongSubscription(Transport& inner, std::int32_t wrong)
      : ForwardingTransport(inner), wrong_(wrong) {}
  std::optional<Envelope> tryReceive(Topic topic, Session session) override {
    auto envelope = ForwardingTransport::tryReceive(topic, session);
    if (envelope && topic == Topic::Setup && envelope->bytes.size() == sizeof wrong_)
      std::memcpy(envelope->bytes.data(), &wrong_, sizeof wrong_);
    return envelope;
  }

 private:
  std::int32_t wrong_;
};

TEST(Neighborhood, RefusesSubscriptionsOfOtherRanks) {
  for (const std::int32_t wrong : {-1, 0, 2, 1 << 30}) {
    VirtualTimeNetworkOptions options;
    options.ranks = 2;
    std::vector<std::string> errors(2);
    makeVirtualTimeNetwork(options)->run([&](Transport& transport) {
      const int rank = transport.rank();
      WrongSubscription damaged(transport, wrong);
      Transport& used = rank == 0 ? static_cast<Transport&>(damaged) : transport;
      errors[static_cast<std::size_t>(rank)] = testing::errorOf([&] {
        Exchange(used, Assignment(std::vector<std::int64_t>{1, 1}), {{1 - rank}}, optionsOf(1.0),
                 [](BlockId, Mailbox&) { return false; })
            .run();
      });
    });
    for (const std::string& error : errors)
      EXPECT_NE(error.find("a subscription of another rank"), std::string::npos)
          << wrong << ": " << error;
  }
}

TEST(Neighborhood, EqualsTheReferenceWithASlowRank) {
  for (const double arrivals : Shares) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      VirtualTimeNetworkOptions network = cluster(20);
      network.speeds.assign(20, 1);
      network.speeds[seed] = 0.01;
      network.noise = 0.5;
      network.seed = seed;
      const auto net = makeVirtualTimeNetwork(network);
      const Assignment assignment = unevenly(20, seed);
      Walk walk;
      walk.seed = seed;
      walk.blocks = assignment.total();
      net->run([&](Transport& transport) {
        expectReference(transport, walk, assignment, optionsOf(arrivals), 2e-6);
      });
      EXPECT_EQ(net->left(), "");
    }
  }
}

/// Ranks in a ring, each with one block that is linked to both neighbors and works `rounds` times
/// for a microsecond, but on rank 0 for 100. @return when each rank began each of its rounds
std::vector<std::vector<double>> ring(int ranks, int rounds, double arrivals) {
  VirtualTimeNetworkOptions network = cluster(ranks);
  network.speeds.assign(static_cast<std::size_t>(ranks), 1);
  network.speeds[0] = 0.01;
  const auto net = makeVirtualTimeNetwork(network);
  std::vector<std::vector<double>> began(static_cast<std::size_t>(ranks));
  net->run([&](Transport& transport) {
    const int rank = transport.rank();
    std::vector<double>& mine = began[static_cast<std::size_t>(rank)];
    const std::vector<std::vector<BlockId>> links = {
        {(rank + 1) % ranks, (rank + ranks - 1) % ranks}};
    Exchange exchange(transport,
                      Assignment(std::vector<std::int64_t>(static_cast<std::size_t>(ranks), 1)),
                      links, optionsOf(arrivals), [&](BlockId, Mailbox&) {
                        mine.push_back(transport.now());
                        transport.spend(1e-6);
                        return static_cast<int>(mine.size()) < rounds;
                      });
    exchange.run();
    EXPECT_EQ(exchange.statistics().rounds, rounds);
  });
  return began;
}

TEST(Neighborhood, NobodyIsARoundAheadOfAWorkingNeighborAtArrivalsOne) {
  constexpr int Ranks = 12, Rounds = 30;
  const auto began = ring(Ranks, Rounds, 1);
  for (std::size_t rank = 0; rank < Ranks; ++rank) {
    for (const std::size_t other : {(rank + 1) % Ranks, (rank + Ranks - 1) % Ranks}) {
      for (std::size_t round = 1; round < Rounds; ++round) {
        const double end = began[other][round - 1] + (other == 0 ? 100e-6 : 1e-6);
        EXPECT_GE(began[rank][round], end) << "rank " << rank << ", round " << round;
      }
    }
  }
}

TEST(Neighborhood, NobodyIsHeldUpAtArrivalsZero) {
  constexpr int Ranks = 12, Rounds = 30;
  const auto began = ring(Ranks, Rounds, 0);
  for (std::size_t rank = 1; rank < Ranks; ++rank) {
    EXPECT_LT(began[rank].back() - began[rank].front(), 100e-6) << "rank " << rank;
  }
  EXPECT_GE(began[0].back() - began[0].front(), (Rounds - 1) * 100e-6);
}

// Half of two: the neighbors of the slow rank go on with their other neighbor. 0.51: both.
TEST(Neighborhood, TheShareIsOfWhatIsExpected) {
  constexpr int Ranks = 12, Rounds = 30;
  for (const double arrivals : {0.01, 0.5}) {
    const auto began = ring(Ranks, Rounds, arrivals);
    EXPECT_LT(began[1].back() - began[1].front(), 1e-3) << arrivals;
  }
  const auto began = ring(Ranks, Rounds, 0.51);
  EXPECT_GE(began[1].back() - began[1].front(), (Rounds - 2) * 100e-6);
}

// Rank 0 rests from the beginning; a message then makes it work for long, in which the others end
// the round they are in and the next, and wait. They have to hear of it, so it may be one more.
TEST(Neighborhood, ARankThatWakesIsWaitedForAgain) {
  for (const double arrivals : {0.0, 1.0}) {
    const auto net = makeVirtualTimeNetwork(cluster(3));
    double woken = 0;
    std::vector<double> began;
    net->run([&](Transport& transport) {
      const int rank = transport.rank();
      int calls = 0;
      Exchange exchange(transport, Assignment({1, 1, 1}), {{(rank + 1) % 3, (rank + 2) % 3}},
                        optionsOf(arrivals), [&](BlockId, Mailbox& mailbox) {
                          const bool got = mailbox.dequeueView().has_value();
                          if (rank == 0) {
                            if (got) {
                              woken = transport.now();
                              transport.spend(1e-3);
                            }
                            return false;
                          }
                          if (rank == 2) began.push_back(transport.now());
                          if (rank == 1 && ++calls == 20) mailbox.enqueue(0, 1);
                          transport.spend(10e-6);
                          return rank == 1 ? calls < 100 : began.size() < 100;
                        });
      exchange.run();
    });
    EXPECT_EQ(began.size(), 100u);
    const auto during = std::count_if(began.begin(), began.end(), [&](double time) {
      return time > woken && time < woken + 1e-3;
    });
    if (arrivals == 0) {
      EXPECT_GT(during, 50);
    } else {
      EXPECT_LE(during, 3);
    }
  }
}

// ---- Without time ----

TEST(Neighborhood, ARankThatIsWokenInARoundTakesPartInIt) {
  // Block 0 works for some rounds; in one it begins with a large message, which leaves at once and
  // wakes block 1. The answer is there in the next round, as the rank of block 1 is waited for.
  VirtualTimeNetworkOptions options;
  options.ranks = 2;
  int answered = -1;
  makeVirtualTimeNetwork(options)->run([&](Transport& transport) {
    ExchangeOptions rounds;
    rounds.schedule = Schedule::Neighborhood;
    rounds.arrivals = 1;
    int call = -1;
    Exchange exchange(transport, Assignment({1, 1}), {{1 - transport.rank()}}, rounds,
                      [&](BlockId block, Mailbox& mailbox) {
                        ++call;
                        const bool got = mailbox.dequeueView().has_value();
                        if (block == 1) {
                          if (got) mailbox.enqueue(0, 1);
                          return false;
                        }
                        if (got) answered = call;
                        if (call == 5) mailbox.enqueue(1, Bytes(200000));
                        transport.spend(1e-3);
                        return call < 10;
                      });
    exchange.run();
  });
  EXPECT_EQ(answered, 6);
}

TEST(Neighborhood, NothingIsLostUnderRandomSchedules) {
  const auto detectors = detectorNames(WorkModel::AP);
  for (std::uint64_t seed = 0; seed < (Sanitized ? 100 : 1000); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const int ranks = 1 + static_cast<int>(seed % 6);
    const auto adversary = makeRandomAdversary(seed);
    const auto network = makeAdversarialNetwork(ranks, *adversary, seed % 2 == 1);
    const Assignment assignment = unevenly(ranks, seed);
    Walk walk;
    walk.seed = seed;
    walk.blocks = assignment.total();
    walk.walkersPerBlock = 2;
    walk.hops = 6;
    const double arrivals = Shares[mix(seed) % 5];
    const std::string& detector = detectors[mix(seed + 99) % detectors.size()];
    network->run([&](Transport& transport) {
      expectReference(transport, walk, assignment, optionsOf(arrivals, detector));
    });
    ASSERT_EQ(network->left(), "") << detector << ", arrivals " << arrivals;
  }
}

}  // namespace
}  // namespace tributary
