// SPDX-License-Identifier: BSD-3-Clause
// What goes wrong on one rank alone, in an exchange: all ranks have to leave it, with the reason.
// On simulated ranks, where one that waits for ever is found out.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "Support/Effort.h"
#include "Support/World.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Exchange/Exchange.h"
#include "Tributary/Transport/Simulated.h"

namespace {

using namespace tributary;
using tributary::testing::errorOf;
using tributary::testing::ForwardingTransport;
using tributary::testing::slowed;

struct Scheme {
  Schedule schedule;
  std::string detector;
};

std::vector<Scheme> schemes() {
  std::vector<Scheme> all = {{Schedule::Synchronous, "default"}};
  for (const std::string& name : detectorNames(WorkModel::AP)) {
    all.push_back({Schedule::Asynchronous, name});
    all.push_back({Schedule::Neighborhood, name});
  }
  return all;
}

std::string nameOf(const Scheme& scheme) {
  return scheme.schedule == Schedule::Synchronous    ? "synchronous"
         : scheme.schedule == Schedule::Asynchronous ? "asynchronous, " + scheme.detector
                                                     : "neighborhood, " + scheme.detector;
}

/// Whether a detector with messages of its own finds the end in this scheme.
bool ownMessages(const Scheme& scheme) {
  if (scheme.schedule == Schedule::Synchronous) return false;
  bool own = false;
  const auto adversary = makeScriptedAdversary("");
  const auto network = makeAdversarialNetwork(1, *adversary);
  network->run([&](Transport& transport) {
    own = !makeDetector(scheme.detector, transport, transport.openSession())->collective();
  });
  return own;
}

ExchangeOptions optionsOf(const Scheme& scheme) {
  ExchangeOptions options;
  options.schedule = scheme.schedule;
  options.detector = scheme.detector;
  return options;
}

Assignment oneBlockEach(const Transport& transport) {
  return Assignment(std::vector<std::int64_t>(static_cast<std::size_t>(transport.size()), 1));
}

/// Tokens that go around the ring of ranks for some hops. @return how many came by here
int ring(Transport& transport, const Scheme& scheme, std::uint64_t hops,
         const std::function<bool()>& monitor = {}) {
  const BlockId total = transport.size();
  bool begun = false;
  int came = 0;
  Exchange exchange(transport, oneBlockEach(transport), {{(transport.rank() + 1) % total}},
                    optionsOf(scheme), [&](BlockId block, Mailbox& mailbox) {
                      if (!begun) mailbox.enqueue((block + 1) % total, hops);
                      begun = true;
                      while (const auto message = mailbox.dequeueView()) {
                        ++came;
                        const auto left = Reader(message->payload).value<std::uint64_t>() - 1;
                        if (left > 0) mailbox.enqueue((block + 1) % total, left);
                      }
                      return false;
                    });
  exchange.run(monitor);
  return came;
}

/// Runs `body` on the ranks under several adversaries: it disturbs an exchange that must fail on
/// all ranks, by rank `culprit`, with `text`; afterwards the transport is as good as new.
void expectErrorOnAll(const Scheme& scheme, const std::string& text,
                      const std::function<void(Transport&, int culprit)>& body) {
  for (int seed = 0; seed < 3; ++seed) {
    for (const int ranks : {2, 5}) {
      if (slowed() && (seed == 0) != (ranks == 2)) continue;
      const int culprit = seed % ranks;
      SCOPED_TRACE(nameOf(scheme) + ", " + std::to_string(ranks) + " ranks, seed " +
                   std::to_string(seed));
      const auto adversary = makeRandomAdversary(static_cast<std::uint64_t>(seed));
      const auto network = makeAdversarialNetwork(ranks, *adversary, seed % 2 == 0, seed % 3 == 1);
      EXPECT_EQ(errorOf([&] {
                  network->run([&](Transport& transport) {
                    const std::string error = errorOf([&] { body(transport, culprit); });
                    EXPECT_NE(error.find(text), std::string::npos) << error;
                    const std::string begin = "rank " + std::to_string(culprit) + ": ";
                    EXPECT_EQ(error.find(begin) == 0, transport.rank() != culprit) << error;
                    EXPECT_EQ(ring(transport, scheme, 7), 7);
                  });
                }),
                "");
    }
  }
}

/// Sends one rank a message of three bytes in the session of the next exchange.
void sendNonsense(Transport& transport, Topic topic, int destination) {
  const Session session = transport.openSession() + 1;
  if (transport.rank() == (destination + 1) % transport.size()) {
    transport.send(destination, topic, session, SendMode::Eager, Bytes(3));
  }
}

/// Work that does not end by itself.
void workForEver(Transport& transport, const Scheme& scheme) {
  ring(transport, scheme, ~std::uint64_t(0));
}

TEST(ExchangeFaults, AMalformedMessageOfTheDetector) {
  for (const Scheme& scheme : schemes()) {
    if (!ownMessages(scheme)) continue;
    expectErrorOnAll(scheme, "malformed message", [&](Transport& transport, int culprit) {
      sendNonsense(transport, Topic::Detector, culprit);
      workForEver(transport, scheme);
    });
  }
}

TEST(ExchangeFaults, AMalformedNotice) {
  for (const Scheme& scheme : schemes()) {
    expectErrorOnAll(scheme, "malformed message", [&](Transport& transport, int culprit) {
      sendNonsense(transport, Topic::Control, culprit);
      workForEver(transport, scheme);
    });
  }
}

/// Damages the first batch that it receives.
class Damaging : public ForwardingTransport {
 public:
  Damaging(Transport& inner, bool active) : ForwardingTransport(inner), active_(active) {}
  std::optional<Envelope> tryReceive(Topic topic, Session session) override {
    auto envelope = ForwardingTransport::tryReceive(topic, session);
    if (envelope && topic == Topic::Work && std::exchange(active_, false)) {
      envelope->bytes.pop_back();
    }
    return envelope;
  }

 private:
  bool active_;
};

TEST(ExchangeFaults, ABatchDamagedOnItsWay) {
  for (const Scheme& scheme : schemes()) {
    expectErrorOnAll(scheme, "malformed batch", [&](Transport& transport, int culprit) {
      Damaging damaging(transport, transport.rank() == culprit);
      ring(damaging, scheme, 50);
    });
  }
}

/// Finds no memory for the second message of work.
class Losing : public ForwardingTransport {
 public:
  Losing(Transport& inner, bool active) : ForwardingTransport(inner), active_(active) {}
  std::optional<Envelope> tryReceive(Topic topic, Session session) override {
    auto envelope = ForwardingTransport::tryReceive(topic, session);
    if (envelope && active_ && topic == Topic::Work && ++count_ == 2) {
      throw LostMessage(envelope->source, "no memory for a message");
    }
    return envelope;
  }

 private:
  bool active_;
  int count_ = 0;
};

TEST(ExchangeFaults, NoMemoryForAMessage) {
  for (const Scheme& scheme : schemes()) {
    expectErrorOnAll(scheme, "no memory for a message", [&](Transport& transport, int culprit) {
      Losing losing(transport, transport.rank() == culprit);
      ring(losing, scheme, 50);
    });
  }
}

/// Spoils the notices that it receives, or one of them: finds no memory for it or cuts it.
class SpoilingNotices : public ForwardingTransport {
 public:
  SpoilingNotices(Transport& inner, int number, bool lost)
      : ForwardingTransport(inner), number_(number), lost_(lost) {}
  std::optional<Envelope> tryReceive(Topic topic, Session session) override {
    auto envelope = ForwardingTransport::tryReceive(topic, session);
    if (!envelope || topic != Topic::Control || number_-- != 0) return envelope;
    if (lost_) throw LostMessage(envelope->source, "no memory for a message");
    envelope->bytes.resize(3);
    return envelope;
  }

 private:
  int number_;
  bool lost_;
};

TEST(ExchangeFaults, AStopOrItsReasonSpoiledOnItsWay) {
  int spoiled = 0;
  for (const Scheme& scheme : schemes()) {
    for (int variant = 0; variant < 6 * 4; variant += slowed() ? 3 : 1) {
      const int victim = variant % 6, number = variant / 6;
      const bool lost = (variant + number) % 2 == 0;
      SCOPED_TRACE(nameOf(scheme) + ", rank " + std::to_string(victim) + ", notice " +
                   std::to_string(number));
      const auto adversary = makeRandomAdversary(static_cast<std::uint64_t>(variant));
      const auto network = makeAdversarialNetwork(6, *adversary);
      EXPECT_EQ(errorOf([&] {
                  network->run([&](Transport& transport) {
                    SpoilingNotices spoiling(transport, transport.rank() == victim ? number : -1,
                                             lost);
                    Exchange exchange(spoiling, oneBlockEach(spoiling), {{}}, optionsOf(scheme),
                                      [](BlockId block, Mailbox&) -> bool {
                                        if (block % 3 == 1) throw Error("a wrong setting");
                                        return true;
                                      });
                    const std::string error = errorOf([&] { exchange.run(); });
                    EXPECT_NE(error, "");
                    if (error.find("its text is lost") != std::string::npos) ++spoiled;
                    EXPECT_EQ(ring(transport, scheme, 7), 7);
                  });
                }),
                "");
    }
  }
  EXPECT_GT(spoiled, 0) << "no reason was spoiled";
}

/// A poll that fails.
class Failing : public ForwardingTransport {
 public:
  Failing(Transport& inner, bool active) : ForwardingTransport(inner), active_(active) {}
  void poll() override {
    ForwardingTransport::poll();
    if (active_ && running_ && ++polls_ == 50) throw Error("the network is down");
  }
  std::optional<Envelope> tryReceive(Topic topic, Session session) override {
    if (topic == Topic::Work) running_ = true;
    return ForwardingTransport::tryReceive(topic, session);
  }

 private:
  bool active_;
  bool running_ = false;  // the exchange was made
  int polls_ = 0;
};

TEST(ExchangeFaults, APollThatFails) {
  for (const Scheme& scheme : schemes()) {
    expectErrorOnAll(scheme, "the network is down", [&](Transport& transport, int culprit) {
      Failing failing(transport, transport.rank() == culprit);
      workForEver(failing, scheme);
    });
  }
}

TEST(ExchangeFaults, TheMonitorIsNotAskedWhileTheEndIsAgreedOn) {
  for (const Scheme& scheme : schemes()) {
    for (int seed = 0; seed < 6; ++seed) {
      SCOPED_TRACE(nameOf(scheme) + ", seed " + std::to_string(seed));
      const auto adversary = makeRandomAdversary(static_cast<std::uint64_t>(seed));
      const auto network = makeAdversarialNetwork(3, *adversary);
      network->run([&](Transport& transport) {
        const BlockId total = transport.size();
        Exchange* running = nullptr;
        Exchange exchange(transport, oneBlockEach(transport), {{(transport.rank() + 1) % total}},
                          optionsOf(scheme), [](BlockId, Mailbox&) { return false; });
        running = &exchange;
        EXPECT_EQ(
            errorOf([&] {
              exchange.run([&] {
                // Counted in the turn in which this rank knows the end.
                if (running->statistics().waves > 0 && scheme.schedule != Schedule::Synchronous) {
                  throw Error("too late");
                }
                return true;
              });
            }),
            "");
      });
    }
  }
}

TEST(ExchangeFaults, AStopIsToldInFewMessagesHoweverManyStop) {
  for (const int ranks : {1, 2, 7, 64}) {
    VirtualTimeNetworkOptions options;
    options.ranks = ranks;
    const auto network = makeVirtualTimeNetwork(options);
    network->run([&](Transport& transport) {
      Exchange exchange(transport, oneBlockEach(transport), {{}}, ExchangeOptions{},
                        [](BlockId, Mailbox&) -> bool { throw Error("a wrong setting"); });
      EXPECT_EQ(errorOf([&] { exchange.run(); }), "a wrong setting");
    });
    // Each rank tells its neighbors in a tree, and the reason comes down another.
    EXPECT_EQ(network->traffic().control, 3 * (ranks - 1));
  }
}

}  // namespace
