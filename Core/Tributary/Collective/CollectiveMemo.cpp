// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Collective/CollectiveMemo.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Collectives.h"

namespace tributary {
namespace {

/// Passes on what does not communicate.
class ThroughTransport : public Transport {
 public:
  explicit ThroughTransport(Transport& inner) : inner_(inner) {
    setInterruption([&inner] { return inner.isInterrupted(); });
  }
  int rank() const override { return inner_.rank(); }
  int size() const override { return inner_.size(); }
  bool threadsMayTakeTurns() const override { return inner_.threadsMayTakeTurns(); }
  double now() const override { return inner_.now(); }
  void spend(double seconds) override { inner_.spend(seconds); }

 protected:
  Transport& inner_;
};

bool areEqual(const Bytes& a, const Bytes& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
}

}  // namespace

/// Communicates, and writes it down.
class CollectiveMemo::Recorder : public ThroughTransport {
 public:
  Recorder(Transport& inner, Record& record) : ThroughTransport(inner), record_(record) {}

  /// Whether the record has everything.
  [[nodiscard]] bool isWhole() const { return isWhole_; }

  void relax(double seconds) override { inner_.relax(seconds); }
  void poll() override {
    inner_.poll();
    const auto end =
        std::remove_if(pending_.begin(), pending_.end(), [&](const Pending& reduction) {
          if (!reduction.inner.done()) return false;
          reduction.state->result = reduction.inner.result();
          reduction.state->done = true;
          if (reduction.place != Unkept)
            record_.reduced[reduction.place].result = reduction.state->result;
          return true;
        });
    pending_.erase(end, pending_.end());
  }
  void abandon(ErrorKind kind, const char* why) noexcept override { inner_.abandon(kind, why); }
  bool isAbandoned() const override { return inner_.isAbandoned(); }
  bool receiving(Topic topic, Session session) const override {
    return inner_.receiving(topic, session);
  }

  Session openSession() override {
    const Session session = inner_.openSession();
    numbers_.emplace(session, static_cast<Session>(numbers_.size()));
    return session;
  }

  PendingSend send(int destination, Topic topic, Session session, SendMode mode,
                   Bytes&& bytes) override {
    note(bytes.size(), [&] {
      record_.sent.push_back({destination, topic, numbers_.at(session), bytes});
    });
    return inner_.send(destination, topic, session, mode, std::move(bytes));
  }

  std::optional<Envelope> tryReceive(Topic topic, Session session) override {
    std::optional<Envelope> envelope = inner_.tryReceive(topic, session);
    if (envelope)
      note(envelope->bytes.size(), [&] {
        record_.received[{topic, numbers_.at(session)}].push_back(*envelope);
      });
    return envelope;
  }

  PendingReduce allreduce(ReduceOp op, std::vector<std::int64_t> values) override {
    note(2 * values.size() * sizeof values[0], [&] {
      Reduced reduced{op, values, {}};
      reduced.result.reserve(values.size());
      record_.reduced.push_back(std::move(reduced));
    });
    auto state = std::make_shared<PendingReduce::State>();
    pending_.reserve(pending_.size() + 1);
    const std::size_t place = isWhole_ ? record_.reduced.size() - 1 : Unkept;
    pending_.push_back({inner_.allreduce(op, std::move(values)), state, place});
    return PendingReduce(std::move(state));
  }

  std::unique_ptr<PersistentRequest> persistentSend(int destination, Topic topic, Session session,
                                                    SendMode mode, std::size_t size) override {
    isWhole_ = false;
    return inner_.persistentSend(destination, topic, session, mode, size);
  }
  std::unique_ptr<PersistentRequest> persistentReceive(int source, Topic topic, Session session,
                                                       std::size_t size) override {
    isWhole_ = false;
    return inner_.persistentReceive(source, topic, session, size);
  }
  std::unique_ptr<SharedInteger> shareInteger(std::int64_t initial) override {
    isWhole_ = false;
    return inner_.shareInteger(initial);
  }

 private:
  /// Writes to the record, unless it is too large or there is no memory for it: what is not in it
  /// is communicated the next time.
  template <class Write>
  void note(std::size_t bytes, Write&& write) noexcept {
    record_.bytes += bytes;
    isWhole_ = isWhole_ && record_.bytes <= MostBytes;
    if (!isWhole_) return;
    try {
      write();
    } catch (...) {
      isWhole_ = false;
    }
  }

  static constexpr std::size_t Unkept = std::size_t(-1);

  /// A reduction that is under way.
  struct Pending {
    PendingReduce inner;
    std::shared_ptr<PendingReduce::State> state;
    std::size_t place;  ///< In the record.
  };

  Record& record_;
  std::map<Session, Session> numbers_;
  std::vector<Pending> pending_;
  bool isWhole_ = true;
};

/// Compares what is sent with a record, and receives from it.
class CollectiveMemo::Repeater : public ThroughTransport {
 public:
  Repeater(Transport& inner, const Record& record) : ThroughTransport(inner), record_(record) {}

  /// Whether all of the record was sent and received.
  [[nodiscard]] bool isAtEnd() const {
    const auto isReceived = [&](const auto& list) {
      const auto at = received_.find(list.first);
      return at != received_.end() && at->second == list.second.size();
    };
    return sent_ == record_.sent.size() && reduced_ == record_.reduced.size() &&
           std::all_of(record_.received.begin(), record_.received.end(), isReceived);
  }

  /// A wait is one for something that is not in the record.
  void relax(double) override { differ(); }
  void poll() override {}
  bool receiving(Topic, Session) const override { return false; }

  PendingSend send(int destination, Topic topic, Session session, SendMode,
                   Bytes&& bytes) override {
    if (sent_ == record_.sent.size()) differ();
    const Sent& known = record_.sent[sent_++];
    if (known.destination != destination || known.topic != topic || known.session != session ||
        !areEqual(known.bytes, bytes))
      differ();
    return {};
  }

  std::optional<Envelope> tryReceive(Topic topic, Session session) override {
    const auto list = record_.received.find({topic, session});
    if (list == record_.received.end()) return {};
    std::size_t& next = received_[list->first];
    if (next == list->second.size()) return {};
    return list->second[next++];
  }

  PendingReduce allreduce(ReduceOp op, std::vector<std::int64_t> values) override {
    if (reduced_ == record_.reduced.size()) differ();
    const Reduced& known = record_.reduced[reduced_++];
    if (known.op != op || known.values != values) differ();
    auto state = std::make_shared<PendingReduce::State>();
    state->result = known.result;
    state->done = true;
    return PendingReduce(std::move(state));
  }

  std::unique_ptr<PersistentRequest> persistentSend(int, Topic, Session, SendMode,
                                                    std::size_t) override {
    differ();
  }
  std::unique_ptr<PersistentRequest> persistentReceive(int, Topic, Session, std::size_t) override {
    differ();
  }
  std::unique_ptr<SharedInteger> shareInteger(std::int64_t) override { differ(); }

 private:
  [[noreturn]] static void differ() {
    throw Error(ErrorKind::Internal, "a phase is not repeated as it was");
  }

  const Record& record_;
  std::size_t sent_ = 0, reduced_ = 0;
  std::map<std::pair<Topic, Session>, std::size_t> received_;
};

bool CollectiveMemo::Record::isLike(const Record& other) const {
  return isComplete && other.isComplete &&
         std::equal(sent.begin(), sent.end(), other.sent.begin(), other.sent.end(),
                    [](const Sent& a, const Sent& b) {
                      return a.destination == b.destination && a.topic == b.topic &&
                             a.session == b.session && areEqual(a.bytes, b.bytes);
                    }) &&
         std::equal(reduced.begin(), reduced.end(), other.reduced.begin(), other.reduced.end(),
                    [](const Reduced& a, const Reduced& b) {
                      return a.op == b.op && a.values == b.values;
                    });
}

/// Local. Whether the phase runs as it is remembered.
bool CollectiveMemo::repeats(Transport& transport, const std::function<void(Transport&)>& phase) {
  if (!tries_ || !record_.isComplete) return false;
  try {
    Repeater repeater(transport, record_);
    phase(repeater);
    return repeater.isAtEnd();
  } catch (...) {  // an error of its own occurs again when the phase communicates
    return false;
  }
}

void CollectiveMemo::runWith(Transport& transport, const std::function<void(Transport&)>& phase) {
  const bool repeats = this->repeats(transport, phase);
  const std::vector<std::int64_t> all =
      allreduce(transport, ReduceOp::Min, std::vector<std::int64_t>{repeats, wasLike_});
  repeated_ = all[0] != 0;
  if (repeated_) return;
  const Record last = std::exchange(record_, {});
  if (last.isComplete) tries_ = all[1] != 0;
  wasLike_ = false;  // also after an error
  Recorder recorder(transport, record_);
  phase(recorder);
  if (recorder.isWhole())
    record_.isComplete = true;
  else
    record_ = {};
  wasLike_ = record_.isLike(last);
}

std::size_t CollectiveMemo::memory() const {
  return record_.bytes;
}

}  // namespace tributary
