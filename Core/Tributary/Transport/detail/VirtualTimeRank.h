// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "Tributary/Transport/Transport.h"
#include "Tributary/Transport/detail/SimulatedPrograms.h"

namespace tributary::detail {

constexpr double Never = std::numeric_limits<double>::infinity();

class VirtualTimeEngine;

/// An integer in the memory of rank 0, and the time at which it can serve the next operation.
struct SharedPlace {
  std::int64_t value = 0;
  double freeAt = 0;
};

/// An event that is about to reach a rank.
struct Arrival {
  enum class Kind {
    Letter,
    Acknowledgement,  // of a synchronous send of this rank
    Sent,             // an eager send of this rank can reuse its buffer; not a message
    Up,               // contribution to a reduction, to the parent
    Down,             // result of a reduction, to the children
    Wake              // the state of a persistent request has changed; not a message
  };
  Arrival(Kind what, int from) : kind(what), source(from) {}

  Kind kind;
  int source;
  bool admitted = false;  // the time already includes the receiver's gap
  Topic topic = Topic::Work;
  Session session = 0;
  Bytes bytes;
  std::shared_ptr<PendingSend::State> send;
  std::int64_t collective = 0;
  ReduceOp op = ReduceOp::Or;
  std::vector<std::int64_t> values;
};

class VirtualTimeReceive;

/// Persistent requests of one topic, session and source. Messages match receives in the order in
/// which both were started, as soon as both exist, even while the receiving rank computes.
struct VirtualTimeLink {
  struct Letter {
    double arrives;
    Bytes bytes;
    std::shared_ptr<double> met;  // the time at which it has arrived and is matched
    bool synchronous;
  };
  struct Receive {
    double started;
    VirtualTimeReceive* request;
  };
  std::deque<Letter> letters;
  std::deque<Receive> receives;
};

/// A rank of a network in virtual time.
class VirtualTimeRank : public SimulatedRank {
 public:
  VirtualTimeRank(VirtualTimeEngine& network, int rank, double speed, std::uint64_t seed);

  double now() const override { return clock_; }
  void spend(double seconds) override;
  void relax(double seconds) override;

  PendingSend send(int destination, Topic topic, Session session, SendMode mode,
                   Bytes&& bytes) override;
  [[nodiscard]] std::optional<Envelope> tryReceive(Topic topic, Session session) override;
  [[nodiscard]] bool receiving(Topic, Session) const override { return false; }
  [[nodiscard]] std::unique_ptr<PersistentRequest> persistentSend(int destination, Topic topic,
                                                                  Session session, SendMode mode,
                                                                  std::size_t size) override;
  [[nodiscard]] std::unique_ptr<PersistentRequest> persistentReceive(int source, Topic topic,
                                                                     Session session,
                                                                     std::size_t size) override;
  void poll() override;
  [[nodiscard]] PendingReduce allreduce(ReduceOp op, std::vector<std::int64_t> values) override;

  /// Adds to a shared integer, at the costs of the way to rank 0 and back.
  std::int64_t fetchAdd(SharedPlace& place, std::int64_t value);

  // For the network.
  double clock() const { return clock_; }
  void beginTurn(double time) { clock_ = std::max(clock_, time); }
  /// Called after a step: schedules the next one.
  void endStep();
  /// Schedules an event that reaches this rank.
  void expect(double time, Arrival&& arrival);
  std::string left() const override;
  /// Charges the overhead of a send. @return the time at which the message has left its buffer
  double leave(int destination, std::size_t bytes);
  /// Matches messages and receives of a link to this rank.
  void meet(VirtualTimeLink& link, int source);
  /// Called when this rank examines its state: lets earlier ranks run first, then admits events.
  void observe();
  void pay(double seconds) { clock_ += seconds; }

  // The valid entry of this rank in the queue of the network, and whether an earlier arrival
  // replaces it.
  double wakeAt = 0;
  std::int64_t version = 0;
  bool sleeping = false;

 protected:
  [[nodiscard]] std::unique_ptr<SharedInteger> makeInteger(std::size_t number,
                                                           std::int64_t initial) override;

 private:
  struct Coming {
    double time;
    std::int64_t order;
    std::unique_ptr<Arrival> arrival;
    /// For a heap with the earliest on top.
    bool operator<(const Coming& other) const {
      return time != other.time ? time > other.time : order > other.order;
    }
  };
  struct Letter {
    int source;
    Bytes bytes;
    std::shared_ptr<PendingSend::State> send;
  };
  struct Collective {
    std::int64_t number;
    ReduceOp op;
    std::vector<std::int64_t> values;
    bool begun = false;  // `values` holds a contribution
    int missing = 0;     // contributions, of the children and of this rank
    std::shared_ptr<PendingReduce::State> state;
  };

  double firstComing() const { return coming_.empty() ? Never : coming_.front().time; }
  void admit();
  /// Sends a message: charges this rank's overhead and gap, and the latency.
  void dispatch(int destination, std::size_t bytes, Arrival&& arrival);
  Collective& collective(std::int64_t number, ReduceOp op);
  void contribute(Collective& collective, ReduceOp op, const std::vector<std::int64_t>& values);
  void finish(std::int64_t number, const std::vector<std::int64_t>& values);
  void forEachChild(const std::function<void(int)>& visit) const;
  int parent() const { return rank() & (rank() - 1); }

  VirtualTimeEngine& network_;
  double speed_;
  std::uint64_t random_;
  double clock_ = 0;
  double sendFreeAt_ = 0;
  double receiveFreeAt_ = 0;
  std::int64_t collectivesEntered_ = 0;
  std::vector<Coming> coming_;  // a heap
  std::map<std::pair<Topic, Session>, std::deque<Letter>> letters_;
  std::map<std::tuple<Topic, Session, int>, VirtualTimeLink> links_;
  std::vector<Arrival> protocol_;  // processed by poll()
  std::vector<Collective> collectives_;
  double lastArrival_ = 0;
  bool news_ = false;     // an event arrived since this rank relaxed
  bool relaxed_ = false;  // in this step
  double napEnd_ = 0;
};

}  // namespace tributary::detail
