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

#include "Tributary/Error.h"
#include "Tributary/Transport/Simulated.h"
#include "Tributary/Transport/SimulatedPrograms.h"
#include "Tributary/Transport/Transport.h"

namespace tributary::simulated {

class ChosenNetwork;
class ChosenSend;
class ChosenReceive;

/// Persistent requests of one channel, session and source: letters and receives, each in the order
/// in which they were started. The first letter and the first receive have met, and so on.
struct ChosenLink {
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
  std::deque<ChosenReceive*> receives;
};

/// A rank of a network in which an adversary chooses what comes next.
class ChosenRank : public Transport {
 public:
  ChosenRank(ChosenNetwork& network, int rank) : network_(network), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override;
  double now() const override { return clock; }
  void spend(double seconds) override { clock += seconds; }
  void relax(double seconds) override;
  Session openSession() override { return sessions_++; }
  PendingSend send(int destination, Channel channel, Session session, SendMode mode,
                   Bytes&& bytes) override;
  std::optional<Envelope> tryReceive(Channel channel, Session session) override;
  bool receiving(Channel channel, Session session) const override;
  std::unique_ptr<PersistentRequest> persistentSend(int destination, Channel channel,
                                                    Session session, SendMode mode,
                                                    std::size_t size) override;
  std::unique_ptr<PersistentRequest> persistentReceive(int source, Channel channel, Session session,
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
  /// The messages of one source, channel and session on their way to this rank.
  struct Flow {
    Channel channel;
    Session session;
    int source;
    std::deque<Letter> letters;
  };
  struct Pending {
    std::int64_t number;
    std::shared_ptr<PendingReduce::State> state;
  };

  // For the network.
  Flow& flow(Channel channel, Session session, int source);
  /// Whether there is anything that the adversary could let this rank see.
  bool hasNews() const;
  /// Sends that could be seen to be finished, as their handles were not dropped.
  std::size_t askedSends() const {
    return static_cast<std::size_t>(
        std::count_if(finishable.begin(), finishable.end(),
                      [](const auto& state) { return state.use_count() > 1; }));
  }
  ChosenLink& link(Channel channel, Session session, int source) {
    return links[{channel, session, source}];
  }
  /// A look at something persistent: others may act before it.
  void look();

  double clock = 0;
  bool relaxed = false;
  std::vector<Flow> flows;  // those with messages, in order
  std::vector<std::shared_ptr<PendingSend::State>> finishable;
  std::vector<Pending> pending;
  std::int64_t entered = 0;
  std::map<std::tuple<Channel, Session, int>, ChosenLink> links;
  std::vector<ChosenSend*> sends;  // persistent ones under way

 private:
  ChosenNetwork& network_;
  int rank_;
  Session sessions_ = 0;
  std::size_t integers_ = 0;
};

/// A collective operation that some rank has entered and not all have seen to be finished.
struct ChosenCollective {
  ReduceOp op = ReduceOp::Or;
  std::vector<std::int64_t> values;
  int entered = 0;
  int seen = 0;
};

class ChosenSend : public PersistentRequest {
 public:
  ChosenSend(ChosenNetwork& network, ChosenRank& rank, ChosenLink& link, Channel channel,
             SendMode mode, std::size_t size)
      : PersistentRequest(size),
        network_(network),
        rank_(rank),
        link_(link),
        channel_(channel),
        mode_(mode) {}
  ~ChosenSend() override { leave(); }
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

  ChosenNetwork& network_;
  ChosenRank& rank_;
  ChosenLink& link_;
  Channel channel_;
  SendMode mode_;
  bool started_ = false;
  std::shared_ptr<bool> met_;
  Bytes sent_;
};

class ChosenReceive : public PersistentRequest {
 public:
  ChosenReceive(ChosenNetwork& network, ChosenRank& rank, ChosenLink& link, int source,
                std::size_t size)
      : PersistentRequest(size), network_(network), rank_(rank), link_(link), source_(source) {}
  ~ChosenReceive() override { leave(); }
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

  ChosenNetwork& network_;
  ChosenRank& rank_;
  ChosenLink& link_;
  int source_;
  bool started_ = false;
};

/// The network of makeAdversaryNetwork().
class ChosenNetwork : public AdversaryNetwork {
 public:
  ChosenNetwork(int ranks, Adversary& adversary, bool halfReceived, bool eagerWaits)
      : adversary_(adversary), halfReceived_(halfReceived), eagerWaits_(eagerWaits) {
    for (int rank = 0; rank < ranks; ++rank) {
      ranks_.push_back(std::make_unique<ChosenRank>(*this, rank));
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
  ChosenRank& rank(int number) { return *ranks_[static_cast<std::size_t>(number)]; }
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

  ChosenCollective& collective(std::int64_t number);
  bool complete(std::int64_t number) const {
    return collectives_[static_cast<std::size_t>(number - firstCollective_)].entered == size();
  }
  void seen(std::int64_t number);
  std::shared_ptr<std::int64_t> place(std::size_t number, std::int64_t initial);

 private:
  void go();

  static std::string leftTo(const ChosenRank& rank);

  [[noreturn]] void reportDeadlock() const;

  Adversary& adversary_;
  bool halfReceived_;
  bool eagerWaits_;
  std::vector<std::unique_ptr<ChosenRank>> ranks_;
  std::vector<Transport*> transports_;
  SimulatedPrograms programs_;
  NetworkTraffic traffic_;
  std::deque<ChosenCollective> collectives_;
  std::int64_t firstCollective_ = 0;
  std::vector<std::weak_ptr<std::int64_t>> places_;
  int naps_ = 0;   // since something moved
  int turns_ = 0;  // since then or the last nap
};

}  // namespace tributary::simulated
