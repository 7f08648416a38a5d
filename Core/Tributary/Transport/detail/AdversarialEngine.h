// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "Tributary/Base/Error.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Transport/Simulated.h"
#include "Tributary/Transport/Transport.h"
#include "Tributary/Transport/detail/SimulatedPrograms.h"

namespace tributary::detail {

class AdversarialEngine;
class AdversarialSend;
class AdversarialReceive;

/// Persistent requests of one topic, session and source: messages and receives, each in the order
/// in which they were started. The first message matches the first receive, and so on.
struct AdversarialLink {
  struct Letter {
    Bytes bytes;
    std::shared_ptr<bool> met;  // whether it is matched
  };
  void meet() {
    for (std::size_t i = 0; i < std::min(letters.size(), receives.size()); ++i) {
      *letters[i].met = true;
    }
  }
  std::deque<Letter> letters;
  std::deque<AdversarialReceive*> receives;
};

/// A rank of a network in which an adversary chooses the next event.
class AdversarialRank : public SimulatedRank {
 public:
  AdversarialRank(AdversarialEngine& network, int rank);

  double now() const override { return clock; }
  void spend(double seconds) override { clock += seconds; }
  void relax(double seconds) override;
  PendingSend send(int destination, Topic topic, Session session, SendMode mode,
                   Bytes&& bytes) override;
  [[nodiscard]] std::optional<Envelope> tryReceive(Topic topic, Session session) override;
  void poll() override;
  [[nodiscard]] bool receiving(Topic topic, Session session) const override;
  [[nodiscard]] std::unique_ptr<PersistentRequest> persistentSend(int destination, Topic topic,
                                                                  Session session, SendMode mode,
                                                                  std::size_t size) override;
  [[nodiscard]] std::unique_ptr<PersistentRequest> persistentReceive(int source, Topic topic,
                                                                     Session session,
                                                                     std::size_t size) override;
  [[nodiscard]] PendingReduce allreduce(ReduceOp op, std::vector<std::int64_t> values) override;
  std::string left() const override;

  struct Letter {
    Bytes bytes;
    std::shared_ptr<PendingSend::State> send;  // null if it is finished
    bool synchronous = false;
    bool half = false;
  };
  /// The messages of one source, topic and session that are in flight to this rank.
  struct Flow {
    Topic topic;
    Session session;
    int source;
    std::deque<Letter> letters;
  };
  struct Pending {
    std::int64_t number;
    std::shared_ptr<PendingReduce::State> state;
  };

  // For the network.
  Flow& flow(Topic topic, Session session, int source);
  /// Whether the adversary could let this rank observe an event.
  [[nodiscard]] bool hasNews() const;
  /// The number of sends that can finish and whose handles still exist.
  std::size_t askedSends() const {
    return static_cast<std::size_t>(
        std::count_if(finishable.begin(), finishable.end(),
                      [](const auto& state) { return state.use_count() > 1; }));
  }
  AdversarialLink& link(Topic topic, Session session, int source) {
    return links[{topic, session, source}];
  }
  /// Called before this rank examines a persistent request: other ranks may run first.
  void look();

  double clock = 0;
  bool relaxed = false;
  std::vector<Flow> flows;  // those with messages, in order
  std::vector<std::shared_ptr<PendingSend::State>> finishable;
  std::vector<Pending> pending;
  std::int64_t entered = 0;
  std::map<std::tuple<Topic, Session, int>, AdversarialLink> links;
  std::vector<AdversarialSend*> sends;  // persistent ones in progress

 protected:
  [[nodiscard]] std::unique_ptr<SharedInteger> makeInteger(std::size_t number,
                                                           std::int64_t initial) override;

 private:
  AdversarialEngine& network_;
};

/// A collective operation that at least one rank has entered, and not all have seen finished.
struct AdversarialCollective {
  ReduceOp op = ReduceOp::Or;
  std::vector<std::int64_t> values;
  int entered = 0;
  int seen = 0;
};

class AdversarialSend : public PersistentRequest {
 public:
  AdversarialSend(AdversarialEngine& network, AdversarialRank& rank, AdversarialLink& link,
                  Topic topic, SendMode mode, std::size_t size)
      : PersistentRequest(size),
        network_(network),
        rank_(rank),
        link_(link),
        topic_(topic),
        mode_(mode) {}
  ~AdversarialSend() override { leave(); }
  void start() override;
  [[nodiscard]] bool done() override;
  [[nodiscard]] bool cancel() override {
    throw Error("a persistent send cannot be canceled; wait until it is done");
  }
  /// Whether the adversary may let the rank see it finished.
  [[nodiscard]] bool finishable() const { return mode_ == SendMode::Eager || *met_; }

 private:
  void leave() {
    const auto here = std::find(rank_.sends.begin(), rank_.sends.end(), this);
    if (here != rank_.sends.end()) rank_.sends.erase(here);
  }

  AdversarialEngine& network_;
  AdversarialRank& rank_;
  AdversarialLink& link_;
  Topic topic_;
  SendMode mode_;
  bool started_ = false;
  std::shared_ptr<bool> met_;
  Bytes sent_;
};

class AdversarialReceive : public PersistentRequest {
 public:
  AdversarialReceive(AdversarialEngine& network, AdversarialRank& rank, AdversarialLink& link,
                     int source, std::size_t size)
      : PersistentRequest(size), network_(network), rank_(rank), link_(link), source_(source) {}
  ~AdversarialReceive() override { leave(); }
  void start() override;
  [[nodiscard]] bool done() override;
  [[nodiscard]] bool cancel() override;

 private:
  std::size_t place() const {
    const auto here = std::find(link_.receives.begin(), link_.receives.end(), this);
    return static_cast<std::size_t>(here - link_.receives.begin());
  }
  /// Leaves the link, with the message that it matches.
  void leave();

  AdversarialEngine& network_;
  AdversarialRank& rank_;
  AdversarialLink& link_;
  int source_;
  bool started_ = false;
};

/// The network of makeAdversarialNetwork().
class AdversarialEngine : public AdversarialNetwork {
 public:
  AdversarialEngine(int ranks, Adversary& adversary, bool halfReceived, bool eagerWaits);

  int size() const override { return ranksCount_; }
  Transport& transport(int rank) override { return *ranks_.at(index(rank)); }
  const NetworkTraffic& traffic() const override { return traffic_; }
  void run(const std::function<void(Transport&)>& body) override;
  void runSteps(const std::function<bool(Transport&)>& step) override;
  std::string left() const override { return programs_.left(); }
  std::string state() const override;

  // For the ranks.

  NetworkTraffic& counters() { return traffic_; }
  AdversarialRank& rank(int number) { return *ranks_[index(number)]; }
  bool halfReceived() const { return halfReceived_; }
  bool eagerWaits() const { return eagerWaits_; }
  /// Asks the adversary. @return one of the options
  int choose(Decision decision, int rank, const std::vector<int>& options) {
    const std::size_t chosen = adversary_.choose(decision, rank, options);
    if (chosen >= options.size())
      throw Error("an adversary chose none of the options; return the number of an option");
    return options[chosen];
  }
  /// Called if a message or collective operation makes progress.
  void moved() { fruitlessSleeps_ = fruitlessTurns_ = 0; }
  /// Ends the turn of the rank that runs, if it runs a body.
  void pause() {
    if (programs_.bodies()) programs_.pause();
  }

  /// Collective operations are numbered in the order in which ranks enter them.
  AdversarialCollective& collective(std::int64_t number);
  /// Whether all ranks have entered a collective operation.
  bool complete(std::int64_t number) const {
    return collectives_[index(number - firstCollective_)].entered == size();
  }
  /// Called if a rank sees a collective operation finished.
  void seen(std::int64_t number);
  /// The value of a shared integer; integers are numbered in the order in which ranks make them.
  std::shared_ptr<std::int64_t> place(std::size_t number, std::int64_t initial);

 private:
  std::vector<std::unique_ptr<AdversarialRank>> makeRanks();
  /// Resumes ranks until all programs have ended.
  void takeTurns();

  Adversary& adversary_;
  bool halfReceived_;
  bool eagerWaits_;
  int ranksCount_;
  std::vector<std::unique_ptr<AdversarialRank>> ranks_;
  SimulatedPrograms programs_;
  NetworkTraffic traffic_;
  std::deque<AdversarialCollective> collectives_;
  std::int64_t firstCollective_ = 0;
  std::vector<std::weak_ptr<std::int64_t>> places_;
  int fruitlessSleeps_ = 0;  // of all ranks, since the last progress
  int fruitlessTurns_ = 0;   // since the last progress or sleep
};

}  // namespace tributary::detail
