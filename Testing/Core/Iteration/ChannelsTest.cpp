// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "Support/Effort.h"
#include "Support/World.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Iteration/Channels.h"
#include "Tributary/Transport/Simulated.h"

namespace tributary {
namespace {

using testing::errorOf;
using testing::makeWorld;
using testing::mix;
using testing::Sanitized;
using testing::world;

void waitFor(Transport& transport, const std::function<bool()>& condition) {
  Backoff backoff;
  while (!condition()) {
    transport.poll();
    backoff.pause(transport);
  }
}

/// Runs `body` on all ranks of MPI; if that is one, on simulated ranks too: timed, and under
/// adversaries.
void everywhere(const std::function<void(Transport&)>& body) {
  body(world());
  if (world().size() > 1) return;
  for (const int ranks : {1, 2, 3, 5}) {
    VirtualTimeNetworkOptions options;
    options.ranks = ranks;
    const auto timed = makeVirtualTimeNetwork(options);
    timed->run(body);
    EXPECT_EQ(timed->left(), "");
    for (std::uint64_t seed = 0; seed < (Sanitized ? 5 : 20); ++seed) {
      const auto adversary = makeRandomAdversary(seed);
      const auto network = makeAdversarialNetwork(ranks, *adversary);
      network->run(body);
      EXPECT_EQ(network->left(), "") << "seed " << seed;
    }
  }
}

// ---- Persistent requests ----

// The same two requests again and again around a ring, and to the rank itself.
void persistentRing(Transport& transport, SendMode mode, int shift, std::size_t bytes) {
  const Session session = transport.openSession();
  const int size = transport.size();
  const int to = (transport.rank() + shift) % size;
  const int from = (transport.rank() + size - shift % size) % size;
  const auto send = transport.persistentSend(to, Topic::Work, session, mode, bytes);
  const auto receive = transport.persistentReceive(from, Topic::Work, session, bytes);
  EXPECT_TRUE(send->done());
  EXPECT_TRUE(receive->done());
  ASSERT_EQ(send->buffer().size(), bytes);
  for (int round = 0; round < 5; ++round) {
    receive->start();
    const auto fill = static_cast<std::byte>(transport.rank() * 16 + round);
    std::fill(send->buffer().begin(), send->buffer().end(), fill);
    send->start();
    waitFor(transport, [&] { return receive->done(); });
    waitFor(transport, [&] { return send->done(); });
    const auto expected = static_cast<std::byte>(from * 16 + round);
    EXPECT_EQ(std::count(receive->buffer().begin(), receive->buffer().end(), expected),
              static_cast<std::ptrdiff_t>(bytes));
  }
}

TEST(PersistentRequests, CarryMessageAfterMessage) {
  everywhere([](Transport& transport) {
    for (const SendMode mode : {SendMode::Eager, SendMode::Synchronous}) {
      for (const int shift : {0, 1}) {
        for (const std::size_t bytes : {0, 1, 8, 100000}) {
          persistentRing(transport, mode, shift, bytes);
        }
      }
    }
  });
}

TEST(PersistentRequests, AreReceivedInTheOrderOfTheirStart) {
  everywhere([](Transport& transport) {
    const Session session = transport.openSession();
    const int size = transport.size();
    const int to = (transport.rank() + 1) % size;
    const int from = (transport.rank() + size - 1) % size;
    std::vector<std::unique_ptr<PersistentRequest>> sends;
    std::vector<std::unique_ptr<PersistentRequest>> receives;
    for (int i = 0; i < 4; ++i) {
      sends.push_back(transport.persistentSend(to, Topic::Work, session, SendMode::Synchronous, 1));
      receives.push_back(transport.persistentReceive(from, Topic::Work, session, 1));
    }
    for (int i = 0; i < 4; ++i) {
      sends[static_cast<std::size_t>(i)]->buffer()[0] = static_cast<std::byte>(i);
      sends[static_cast<std::size_t>(i)]->start();
    }
    // In another order than they were made.
    const std::size_t order[] = {2, 0, 3, 1};
    for (const std::size_t i : order) receives[i]->start();
    for (int i = 0; i < 4; ++i) {
      waitFor(transport, [&] { return receives[order[i]]->done(); });
      EXPECT_EQ(receives[order[i]]->buffer()[0], static_cast<std::byte>(i));
    }
    waitFor(transport, [&] {
      return std::all_of(sends.begin(), sends.end(), [](const auto& send) { return send->done(); });
    });
  });
}

TEST(PersistentRequests, SynchronousSendsAreFinishedByTheReceiverOnly) {
  Transport& transport = world();
  const Session session = transport.openSession();
  const int right = (transport.rank() + 1) % transport.size();
  const int left = (transport.rank() + transport.size() - 1) % transport.size();
  const auto send = transport.persistentSend(right, Topic::Work, session, SendMode::Synchronous, 8);
  const auto receive = transport.persistentReceive(left, Topic::Work, session, 8);
  send->start();
  for (int i = 0; i < 200; ++i) EXPECT_FALSE(send->done());
  barrier(transport);
  receive->start();
  waitFor(transport, [&] { return receive->done() && send->done(); });
}

TEST(PersistentRequests, CanBeTakenBackAndDropped) {
  for (int i = 0; i < 3; ++i) {
    const auto transport = makeWorld();
    const Session session = transport->openSession();
    const int right = (transport->rank() + 1) % transport->size();
    const int left = (transport->rank() + transport->size() - 1) % transport->size();
    const auto receive = transport->persistentReceive(left, Topic::Work, session, 8);
    receive->start();
    EXPECT_TRUE(receive->cancel());
    EXPECT_TRUE(receive->done());
    EXPECT_FALSE(receive->cancel());
    barrier(*transport);
    // Nobody receives these: the transport has to.
    for (const SendMode mode : {SendMode::Eager, SendMode::Synchronous}) {
      auto send = transport->persistentSend(right, Topic::Work, session, mode, 1 << 20);
      send->start();
    }
  }
  EXPECT_NE(errorOf([] {
              world().persistentSend(world().size(), Topic::Work, 0, SendMode::Eager, 1);
            }).find("rank " + std::to_string(world().size())),
            std::string::npos);
  EXPECT_THROW(world().persistentReceive(0, Topic::Work, 0, std::size_t(1) << 31), Error);
}

TEST(PersistentRequests, OfAnotherSizeAreAnError) {
  for (const std::size_t sent : {4, 12}) {
    // Open MPI 4.1 cuts messages of a rank to itself without a word.
    if (sent > 8 && world().size() == 1) continue;
    const auto transport = makeWorld();
    const Session session = transport->openSession();
    const int right = (transport->rank() + 1) % transport->size();
    const int left = (transport->rank() + transport->size() - 1) % transport->size();
    const auto send = transport->persistentSend(right, Topic::Work, session, SendMode::Eager, sent);
    const auto receive = transport->persistentReceive(left, Topic::Work, session, 8);
    receive->start();
    send->start();
    EXPECT_NE(errorOf([&] { waitFor(*transport, [&] { return receive->done(); }); }), "")
        << sent << " bytes for 8";
    barrier(*transport);
  }
}

// A receive that is started takes its message while its rank computes; without one the send waits.
TEST(PersistentRequests, AreMatchedWhileTheReceiverComputes) {
  VirtualTimeNetworkOptions options;
  options.ranks = 2;
  const auto network = makeVirtualTimeNetwork(options);
  std::vector<double> finished;
  network->run([&](Transport& transport) {
    const Session session = transport.openSession();
    if (transport.rank() == 1) {
      const auto receive = transport.persistentReceive(0, Topic::Work, session, 8);
      receive->start();
      transport.spend(1);
      EXPECT_TRUE(receive->done());
      receive->start();
      transport.spend(1);
      EXPECT_TRUE(receive->done());
      return;
    }
    transport.spend(0.1);
    const auto send = transport.persistentSend(1, Topic::Work, session, SendMode::Synchronous, 8);
    for (int i = 0; i < 2; ++i) {
      send->start();
      waitFor(transport, [&] { return send->done(); });
      finished.push_back(transport.now());
    }
  });
  ASSERT_EQ(finished.size(), 2u);
  EXPECT_NEAR(finished[0], 0.1, 1e-4);
  EXPECT_NEAR(finished[1], 1.0, 0.2);
  EXPECT_EQ(network->left(), "");
}

// ---- Channels ----

/// A ring with chords: every rank has the ranks at distance 1 and 2 as neighbors; sizes differ by
/// direction, and some links carry nothing one way.
std::vector<Neighbor> ringNeighbors(int rank, int size) {
  std::vector<Neighbor> neighbors;
  for (int other = 0; other < size; ++other) {
    const int distance = std::min((other - rank + size) % size, (rank - other + size) % size);
    if (other == rank || distance > 2) continue;
    const auto count = [](int from, int to) { return static_cast<std::size_t>(from * 7 + to) % 5; };
    neighbors.push_back({other, count(rank, other), count(other, rank)});
  }
  return neighbors;
}

/// What rank `from` sends `to` in its turn `turn`, so that every message can be recognized.
double valueOf(int from, int to, std::int64_t turn, std::size_t index) {
  return static_cast<double>(((from * 64 + to) * 16 + static_cast<int>(index)) * 100000 + turn);
}

void write(Channels& channels, int rank, std::int64_t turn) {
  for (std::size_t n = 0; n < channels.neighbors().size(); ++n) {
    const Span<double> values = channels.outgoing(n);
    ASSERT_EQ(values.size(), channels.neighbors()[n].sendCount);
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = valueOf(rank, channels.neighbors()[n].rank, turn, i);
    }
  }
}

/// The turn in which the neighbor's values were written, all of them; 0 if nothing has come.
std::int64_t turnOf(const Channels& channels, int rank, std::size_t n) {
  const Span<const double> values = channels.incoming()[n];
  if (values.empty() || values[0] == 0) return 0;
  const int from = channels.neighbors()[n].rank;
  const auto turn = static_cast<std::int64_t>(values[0] - valueOf(from, rank, 0, 0));
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(values[i], valueOf(from, rank, turn, i)) << "a torn message of rank " << from;
  }
  return turn;
}

void close(Transport& transport, Channels& channels) {
  waitFor(transport, [&] { return channels.close(); });
}

std::vector<ChannelOptions> channelOptions() {
  std::vector<ChannelOptions> list;
  for (const SendMode mode : {SendMode::Eager, SendMode::Synchronous}) {
    for (const int receives : {1, 2, 5}) list.push_back({mode, receives});
  }
  return list;
}

TEST(Channels, SynchronousTurnsSeeTheValuesOfTheirTurn) {
  everywhere([](Transport& transport) {
    const auto neighbors = ringNeighbors(transport.rank(), transport.size());
    agreeOnNeighbors(transport, neighbors);
    for (const ChannelOptions& options : channelOptions()) {
      for (const bool ahead : {true, false}) {
        Channels channels(transport, transport.openSession(), neighbors, options, ahead);
        for (std::int64_t turn = 1; turn <= 20; ++turn) {
          write(channels, transport.rank(), turn);
          channels.put();
          waitFor(transport, [&] { return channels.get(); });
          for (std::size_t n = 0; n < neighbors.size(); ++n) {
            if (neighbors[n].receiveCount > 0) {
              EXPECT_EQ(turnOf(channels, transport.rank(), n), turn);
            }
          }
        }
        close(transport, channels);
        EXPECT_EQ(channels.statistics().unsent, 0);
        EXPECT_EQ(channels.statistics().superseded, 0);
        if (!ahead) {
          EXPECT_NE(errorOf([&] { channels.switchAsync(); }), "");
        }
      }
    }
  });
}

TEST(Channels, AsynchronousValuesNeverGoBack) {
  everywhere([](Transport& transport) {
    const auto neighbors = ringNeighbors(transport.rank(), transport.size());
    for (const ChannelOptions& options : channelOptions()) {
      Channels channels(transport, transport.openSession(), neighbors, options);
      channels.switchAsync();
      std::vector<std::int64_t> last(neighbors.size(), 0);
      // Ranks of different speed.
      const std::int64_t turns = 20 + 40 * (transport.rank() % 3);
      std::int64_t puts = 0;
      for (std::int64_t turn = 1; turn <= turns; ++turn) {
        EXPECT_TRUE(channels.get());
        for (std::size_t n = 0; n < neighbors.size(); ++n) {
          const std::int64_t seen = turnOf(channels, transport.rank(), n);
          EXPECT_GE(seen, last[n]);
          last[n] = seen;
        }
        write(channels, transport.rank(), turn);
        channels.put();
        for (const Neighbor& neighbor : neighbors) puts += neighbor.sendCount > 0 ? 1 : 0;
      }
      close(transport, channels);
      const ChannelStatistics& mine = channels.statistics();
      EXPECT_EQ(mine.sent + mine.unsent, puts);
      const auto sums =
          allreduce(transport, ReduceOp::Sum, std::vector<std::int64_t>{mine.sent, mine.received});
      EXPECT_EQ(sums[0], sums[1]);
    }
  });
}

// From asynchronous to synchronous turns, at different moments on different ranks, and back.
TEST(Channels, SwitchAtRunTime) {
  everywhere([](Transport& transport) {
    const auto neighbors = ringNeighbors(transport.rank(), transport.size());
    for (const ChannelOptions& options : channelOptions()) {
      Channels channels(transport, transport.openSession(), neighbors, options);
      std::int64_t turn = 0;
      const auto seen = [&](std::size_t n) { return turnOf(channels, transport.rank(), n); };
      for (int phase = 0; phase < 3; ++phase) {
        channels.switchAsync();
        const int free =
            static_cast<int>(mix(static_cast<std::uint64_t>(transport.rank() * 10 + phase)) % 12);
        for (int i = 0; i < free; ++i) {
          channels.get();
          write(channels, transport.rank(), ++turn);
          channels.put();
        }
        channels.switchSync();
        for (int i = 0; i < 4; ++i) {
          // Synchronous turns are recognized by their number, whatever came before.
          turn = 1000 * (phase + 1) + i;
          write(channels, transport.rank(), turn);
          channels.put();
          waitFor(transport, [&] { return channels.get(); });
          for (std::size_t n = 0; n < neighbors.size(); ++n) {
            if (neighbors[n].receiveCount > 0) {
              EXPECT_EQ(seen(n), turn);
            }
          }
        }
      }
      close(transport, channels);
    }
  });
}

// Values are handed over without a copy, and lie where the message has come.
TEST(Channels, HandOverBuffers) {
  Transport& transport = world();
  const Session session = transport.openSession();
  const int other = transport.rank() ^ 1;
  if (other >= transport.size()) return;
  Channels channels(transport, session, {{other, 4, 4}}, {SendMode::Eager, 2});
  std::vector<const double*> places;
  for (int turn = 1; turn <= 6; ++turn) {
    write(channels, transport.rank(), turn);
    channels.put();
    waitFor(transport, [&] { return channels.get(); });
    places.push_back(channels.incoming()[0].data());
  }
  // Three buffers in turns: the two with started receives, and the one that is read.
  EXPECT_EQ(places[0], places[3]);
  EXPECT_EQ(places[1], places[4]);
  EXPECT_EQ(places[2], places[5]);
  EXPECT_NE(places[0], places[1]);
  EXPECT_NE(places[1], places[2]);
  close(transport, channels);
}

// What is put while a link is busy is not lost: the newest values leave when the link is free.
TEST(Channels, TheNewestValuesLeaveWhenALinkIsFree) {
  VirtualTimeNetworkOptions options;
  options.ranks = 2;
  const auto network = makeVirtualTimeNetwork(options);
  network->run([&](Transport& transport) {
    const int other = 1 - transport.rank();
    Channels channels(transport, transport.openSession(), {{other, 1, 1}},
                      {SendMode::Synchronous, 1});
    channels.switchAsync();
    if (transport.rank() == 0) {
      // The first goes to the started receive; the second one has none; the others wait.
      for (int turn = 1; turn <= 10; ++turn) {
        channels.get();
        write(channels, 0, turn);
        channels.put();
        transport.spend(0.01);
      }
      EXPECT_EQ(channels.statistics().sent, 2);
      EXPECT_EQ(channels.statistics().unsent, 7);
      while (transport.now() < 2.5) {
        channels.get();
        transport.spend(0.01);
      }
      EXPECT_EQ(channels.statistics().sent, 3);
    } else {
      transport.spend(1);
      std::vector<std::int64_t> seen;
      while (transport.now() < 2) {
        channels.get();
        if (seen.empty() || seen.back() != turnOf(channels, 1, 0)) {
          seen.push_back(turnOf(channels, 1, 0));
        }
        transport.spend(0.01);
      }
      EXPECT_EQ(seen, (std::vector<std::int64_t>{2, 10}));
      EXPECT_EQ(channels.statistics().superseded, 1);
    }
    close(transport, channels);
  });
  EXPECT_EQ(network->left(), "");
}

// However many messages have come since the last look, the next one sees the newest.
TEST(Channels, ASlowRankSeesTheNewestValues) {
  VirtualTimeNetworkOptions options;
  options.ranks = 2;
  const auto network = makeVirtualTimeNetwork(options);
  network->run([&](Transport& transport) {
    const int other = 1 - transport.rank();
    Channels channels(transport, transport.openSession(), {{other, 1, 1}}, {SendMode::Eager, 1});
    channels.switchAsync();
    for (int turn = 1; turn <= (transport.rank() == 0 ? 1000 : 10); ++turn) {
      transport.spend(transport.rank() == 0 ? 0.01 : 1);
      channels.get();
      const std::int64_t seen = turnOf(channels, transport.rank(), 0);
      if (transport.rank() == 1) {
        EXPECT_NEAR(static_cast<double>(seen), 100.0 * turn, 2);
      }
      write(channels, transport.rank(), turn);
      channels.put();
    }
    close(transport, channels);
    EXPECT_EQ(channels.statistics().unsent, 0);
  });
  EXPECT_EQ(network->left(), "");
}

TEST(Channels, NeighborsThatDoNotFitAreAnErrorOnAllRanks) {
  Transport& transport = world();
  const int rank = transport.rank();
  const int size = transport.size();
  const auto expectError = [&](const std::vector<Neighbor>& neighbors, const std::string& text) {
    const std::string error = errorOf([&] { agreeOnNeighbors(transport, neighbors); });
    EXPECT_NE(error.find(text), std::string::npos) << error;
  };
  expectError(rank == size - 1 ? std::vector<Neighbor>{{rank, 1, 1}} : std::vector<Neighbor>{},
              "is the rank itself");
  expectError(rank == 0 ? std::vector<Neighbor>{{size, 1, 1}} : std::vector<Neighbor>{},
              "neighbor " + std::to_string(size));
  if (size > 1) {
    expectError(rank == 0 ? std::vector<Neighbor>{{1, 1, 1}, {1, 2, 2}} : std::vector<Neighbor>{},
                "twice");
    expectError(rank == 0 ? std::vector<Neighbor>{{1, 1, 1}} : std::vector<Neighbor>{}, "as a");
    expectError(rank == 0   ? std::vector<Neighbor>{{1, 3, 1}}
                : rank == 1 ? std::vector<Neighbor>{{0, 1, 2}}
                            : std::vector<Neighbor>{},
                "values");
  }
  EXPECT_EQ(errorOf([&] { agreeOnNeighbors(transport, ringNeighbors(rank, size)); }), "");
  EXPECT_THROW(Channels(transport, 0, {}, {SendMode::Eager, 0}), Error);
}

}  // namespace
}  // namespace tributary
