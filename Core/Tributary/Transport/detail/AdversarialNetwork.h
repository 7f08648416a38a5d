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
#include "Tributary/Transport/Simulated.h"
#include "Tributary/Transport/Transport.h"
#include "Tributary/Transport/detail/SimulatedPrograms.h"

namespace tributary::detail {

class AdversarialNetwork;
class AdversarialSend;
class AdversarialReceive;

/// Persistent requests of one topic, session and source: letters and receives, each in the order
/// in which they were started. The first letter and the first receive have met, and so on.
struct AdversarialLink {
  struct Letter {
    Bytes bytes;
    std::shared_ptr<bool> met;  // some receive
  };
  void meet() {
    for (std::size_t i = 0; i < std::min(letters.size(), receives.size()); ++i) {
      *letters[i].met = true;
    }
  }
  std::deque<Letter> letters;
  std::deque<AdversarialReceive*> receives;
};

/// A rank of a network in which an adversary chooses what comes next.
class AdversarialRank : public Transport {
 public:
  AdversarialRank(AdversarialNetwork& network, int rank) : network_(network), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override;
  double now() const override { return clock; }
  void spend(double seconds) override { clock += seconds; }
  void relax(double seconds) override;
  Session openSession() override { return sessions_++; }
  PendingSend send(int destination, Topic topic, Session session, SendMode mode,
                   Bytes&& bytes) override;
  std::optional<Envelope> tryReceive(Topic topic, Session session) override;
  bool receiving(Topic topic, Session session) const override;
  std::unique_ptr<PersistentRequest> persistentSend(int destination, Topic topic, Session session,
                                                    SendMode mode, std::size_t size) override;
  std::unique_ptr<PersistentRequest> persistentReceive(int source, Topic topic, Session session,
                                                       std::size_t size) override;
  void poll() override;
  PendingReduce barrier() override { return allreduce(ReduceOp::Or, {}); }
  PendingReduce allreduce(ReduceOp op, std::vector<std::int64_t> values) override;
  std::unique_ptr<SharedInteger> shareInteger(std::int64_t initial) override;

  struct Letter {
    Bytes bytes;
    std::shared_ptr<PendingSend::State> send;  // one that may not be finished yet
    bool synchronous = false;
    bool half = false;
  };
  /// The messages of one source, topic and session on their way to this rank.
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
  /// Whether there is anything that the adversary could let this rank see.
  bool hasNews() const;
  /// Sends that could be seen to be finished, as their handles were not dropped.
  std::size_t askedSends() const {
    return static_cast<std::size_t>(
        std::count_if(finishable.begin(), finishable.end(),
                      [](const auto& state) { return state.use_count() > 1; }));
  }
  AdversarialLink& link(Topic topic, Session session, int source) {
    return links[{topic, session, source}];
  }
  /// A look at something persistent: others may act before it.
  void look();

  double clock = 0;
  bool relaxed = false;
  std::vector<Flow> flows;  // those with messages, in order
  std::vector<std::shared_ptr<PendingSend::State>> finishable;
  std::vector<Pending> pending;
  std::int64_t entered = 0;
  std::map<std::tuple<Topic, Session, int>, AdversarialLink> links;
  std::vector<AdversarialSend*> sends;  // persistent ones under way

 private:
  AdversarialNetwork& network_;
  int rank_;
  Session sessions_ = 0;
  std::size_t integers_ = 0;
};

/// A collective operation that some rank has entered and not all have seen to be finished.
struct AdversarialCollective {
  ReduceOp op = ReduceOp::Or;
  std::vector<std::int64_t> values;
  int entered = 0;
  int seen = 0;
};

class AdversarialSend : public PersistentRequest {
 public:
  AdversarialSend(AdversarialNetwork& network, AdversarialRank& rank, AdversarialLink& link,
                  Topic topic, SendMode mode, std::size_t size)
      : PersistentRequest(size),
        network_(network),
        rank_(rank),
        link_(link),
        topic_(topic),
        mode_(mode) {}
  ~AdversarialSend() override { leave(); }
  void start() override;
  bool done() override;
  bool cancel() override { throw Error("a send cannot be taken back"); }
  /// Whether it may be seen to be finished.
  bool finishable() const { return mode_ == SendMode::Eager || *met_; }

 private:
  void leave() {
    const auto here = std::find(rank_.sends.begin(), rank_.sends.end(), this);
    if (here != rank_.sends.end()) rank_.sends.erase(here);
  }

  AdversarialNetwork& network_;
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
  AdversarialReceive(AdversarialNetwork& network, AdversarialRank& rank, AdversarialLink& link,
                     int source, std::size_t size)
      : PersistentRequest(size), network_(network), rank_(rank), link_(link), source_(source) {}
  ~AdversarialReceive() override { leave(); }
  void start() override;
  bool done() override;
  bool cancel() override;

 private:
  std::size_t place() const {
    const auto here = std::find(link_.receives.begin(), link_.receives.end(), this);
    return static_cast<std::size_t>(here - link_.receives.begin());
  }
  /// Out of the link, with the letter that it has met.
  void leave();

  AdversarialNetwork& network_;
  AdversarialRank& rank_;
  AdversarialLink& link_;
  int source_;
  bool started_ = false;
};

/// The network of makeAdversaryNetwork().
class AdversarialNetwork : public AdversaryNetwork {
 public:
  AdversarialNetwork(int ranks, Adversary& adversary, bool halfReceived, bool eagerWaits)
      : adversary_(adversary), halfReceived_(halfReceived), eagerWaits_(eagerWaits) {
    for (int rank = 0; rank < ranks; ++rank) {
      ranks_.push_back(std::make_unique<AdversarialRank>(*this, rank));
      transports_.push_back(ranks_.back().get());
    }
  }

  int size() const override { return static_cast<int>(ranks_.size()); }
  Transport& transport(int rank) override { return *ranks_.at(static_cast<std::size_t>(rank)); }
  const NetworkTraffic& traffic() const override { return traffic_; }

  void run(const std::function<void(Transport&)>& body) override;

  void runSteps(const std::function<bool(Transport&)>& step) override;

  std::string left() const override;

  std::string state() const override;

  // For the ranks.
  NetworkTraffic& counters() { return traffic_; }
  AdversarialRank& rank(int number) { return *ranks_[static_cast<std::size_t>(number)]; }
  bool halfReceived() const { return halfReceived_; }
  bool eagerWaits() const { return eagerWaits_; }
  int choose(Decision decision, int rank, const std::vector<int>& options) {
    const std::size_t index = adversary_.choose(decision, rank, options);
    if (index >= options.size()) throw Error("an adversary chose none of the options");
    return options[index];
  }
  /// Something is on its way, or was seen.
  void moved() { naps_ = turns_ = 0; }
  void pause() {
    if (programs_.bodies()) programs_.pause();
  }
  bool mayWait() const { return programs_.bodies(); }

  AdversarialCollective& collective(std::int64_t number);
  bool complete(std::int64_t number) const {
    return collectives_[static_cast<std::size_t>(number - firstCollective_)].entered == size();
  }
  void seen(std::int64_t number);
  std::shared_ptr<std::int64_t> place(std::size_t number, std::int64_t initial);

 private:
  void go();

  static std::string leftTo(const AdversarialRank& rank);

  [[noreturn]] void reportDeadlock() const;

  Adversary& adversary_;
  bool halfReceived_;
  bool eagerWaits_;
  std::vector<std::unique_ptr<AdversarialRank>> ranks_;
  std::vector<Transport*> transports_;
  SimulatedPrograms programs_;
  NetworkTraffic traffic_;
  std::deque<AdversarialCollective> collectives_;
  std::int64_t firstCollective_ = 0;
  std::vector<std::weak_ptr<std::int64_t>> places_;
  int naps_ = 0;   // since something moved
  int turns_ = 0;  // since then or the last nap
};

}  // namespace tributary::detail
