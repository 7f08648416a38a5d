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

namespace tributary::detail {

constexpr double Never = std::numeric_limits<double>::infinity();

class VirtualTimeNetwork;

/// An integer in the memory of rank 0, and when it is free for the next operation.
struct SharedPlace {
  std::int64_t value = 0;
  double freeAt = 0;
};

/// Something on its way to a rank.
struct Arrival {
  enum class Kind {
    Letter,
    Acknowledgement,  // of a synchronous send of this rank
    Sent,             // an eager send of this rank has left its buffer; not a message
    Up,               // a part of a reduction, to the parent
    Down,             // its result, to the children
    Wake              // something about a persistent request can be seen now; not a message
  };
  Arrival(Kind what, int from) : kind(what), source(from) {}

  Kind kind;
  int source;
  bool admitted = false;  // the time is already that of the receiver's gap
  Topic topic = Topic::Work;
  Session session = 0;
  Bytes bytes;
  std::shared_ptr<PendingSend::State> send;
  std::int64_t collective = 0;
  ReduceOp op = ReduceOp::Or;
  std::vector<std::int64_t> values;
};

class VirtualTimeReceive;

/// Persistent requests of one topic, session and source. The first letter goes to the receive
/// that was started first, and so on, when both are there, whatever the receiving rank is doing.
struct VirtualTimeLink {
  struct Letter {
    double arrives;
    Bytes bytes;
    std::shared_ptr<double> met;  // when it is there and has a receive
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
class VirtualTimeRank : public Transport {
 public:
  VirtualTimeRank(VirtualTimeNetwork& network, int rank, double speed, std::uint64_t seed);

  int rank() const override { return rank_; }
  int size() const override;
  double now() const override { return clock_; }
  void spend(double seconds) override;
  void relax(double seconds) override;
  Session openSession() override { return sessions_++; }

  PendingSend send(int destination, Topic topic, Session session, SendMode mode,
                   Bytes&& bytes) override;
  std::optional<Envelope> tryReceive(Topic topic, Session session) override;
  bool receiving(Topic, Session) const override { return false; }
  std::unique_ptr<PersistentRequest> persistentSend(int destination, Topic topic, Session session,
                                                    SendMode mode, std::size_t size) override;
  std::unique_ptr<PersistentRequest> persistentReceive(int source, Topic topic, Session session,
                                                       std::size_t size) override;
  void poll() override;
  PendingReduce barrier() override { return allreduce(ReduceOp::Or, {}); }
  PendingReduce allreduce(ReduceOp op, std::vector<std::int64_t> values) override;
  std::unique_ptr<SharedInteger> shareInteger(std::int64_t initial) override;

  std::int64_t fetchAdd(SharedPlace& place, std::int64_t value);

  // For the network.
  double clock() const { return clock_; }
  void beginTurn(double time) { clock_ = std::max(clock_, time); }
  /// After a step: has the next one made when it is due.
  void endStep();
  /// Puts something on its way to this rank.
  void expect(double time, Arrival&& arrival);
  std::string left() const;
  /// For persistent requests: the overhead of a send, and when it leaves its buffer.
  double leave(int destination, std::size_t bytes);
  /// Brings letters and receives of a link to this rank together.
  void meet(VirtualTimeLink& link, int source);
  /// A look at a persistent request.
  void observe();
  void pay(double seconds) { clock_ += seconds; }

  // The entry of this rank in the network's queue that counts, and whether an earlier arrival may
  // replace it.
  double wakeAt = 0;
  std::int64_t version = 0;
  bool sleeping = false;

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
    bool begun = false;  // `values` holds somebody's
    int missing = 0;     // parts, of the children and of this rank
    std::shared_ptr<PendingReduce::State> state;
  };

  double firstComing() const { return coming_.empty() ? Never : coming_.front().time; }
  void admit();
  /// A message to another rank: this rank's overhead and gap, and the way.
  void dispatch(int destination, std::size_t bytes, Arrival&& arrival);
  Collective& collective(std::int64_t number, ReduceOp op);
  void contribute(Collective& collective, ReduceOp op, const std::vector<std::int64_t>& values);
  void finish(std::int64_t number, const std::vector<std::int64_t>& values);
  void forEachChild(const std::function<void(int)>& visit) const;
  int parent() const { return rank_ & (rank_ - 1); }

  VirtualTimeNetwork& network_;
  int rank_;
  double speed_;
  std::uint64_t random_;
  double clock_ = 0;
  double sendFreeAt_ = 0;
  double receiveFreeAt_ = 0;
  Session sessions_ = 0;
  std::int64_t collectivesEntered_ = 0;
  std::size_t integers_ = 0;
  std::vector<Coming> coming_;  // a heap
  std::map<std::pair<Topic, Session>, std::deque<Letter>> letters_;
  std::map<std::tuple<Topic, Session, int>, VirtualTimeLink> links_;
  std::vector<Arrival> protocol_;  // to be dealt with by poll()
  std::vector<Collective> collectives_;
  double lastArrival_ = 0;
  bool news_ = false;     // something arrived since this rank relaxed
  bool relaxed_ = false;  // in this step
  double napEnd_ = 0;
};

}  // namespace tributary::detail
