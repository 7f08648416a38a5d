// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <utility>

#include "Tributary/Base/Bytes.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Iteration/NonBlockingReduce.h"

namespace tributary {

namespace {

class LeaderElection : public NonBlockingReduce {
 public:
  LeaderElection(Transport& transport, Session session, std::vector<int> neighbors)
      : transport_(transport), session_(session), neighbors_(std::move(neighbors)) {}

  void start(ReduceOp op, std::vector<std::int64_t> values) override {
    ++reduction_;
    op_ = op;
    values_ = std::move(values);
    missing_ = neighbors_;
    state_ = State::Reducing;
  }

  bool advance() override {
    while (state_ == State::Reducing && !missing_.empty()) {
      const auto message = receive();
      if (!message) break;
      const auto from = std::find(missing_.begin(), missing_.end(), message->source);
      if (from == missing_.end() || message->kind != Kind::Part) malformed(message->source);
      missing_.erase(from);
      reduceInto(op_, values_, message->values);
    }
    if (state_ == State::Reducing) {
      if (missing_.empty()) {
        broadcast(-1);
      } else if (missing_.size() == 1) {
        send(missing_.front(), Kind::Part);
        state_ = State::Waiting;
      }
    }
    if (state_ == State::Waiting) {
      if (auto message = receive()) {
        if (message->source != missing_.front()) malformed(message->source);
        if (message->kind == Kind::Part) {
          reduceInto(op_, values_, message->values);
        } else {
          values_ = std::move(message->values);
        }
        broadcast(message->source);
      }
    }
    return state_ == State::Idle;
  }

  const std::vector<std::int64_t>& result() const override { return values_; }
  std::int64_t messages() const override { return messages_; }

  std::string state() const override {
    constexpr const char* Names[] = {"idle", "reducing", "waiting"};
    std::string text = std::string(Names[static_cast<int>(state_)]) + " in " +
                       std::to_string(reduction_) + ", missing";
    for (const int rank : missing_) text += " " + std::to_string(rank);
    text += ", values";
    for (const std::int64_t value : values_) text += " " + std::to_string(value);
    return text;
  }

 private:
  enum class State { Idle, Reducing, Waiting };
  enum class Kind : std::int64_t { Part, Broadcast };
  struct Message {
    int source;
    Kind kind;
    std::vector<std::int64_t> values;
  };

  std::optional<Message> receive() {
    const auto envelope = transport_.tryReceive(Topic::Detector, session_);
    if (!envelope) return std::nullopt;
    Reader reader(envelope->bytes);
    if (reader.value<std::int64_t>() != reduction_) malformed(envelope->source);
    const auto kind = reader.value<Kind>();
    Message message{envelope->source, kind, reader.range<std::int64_t>()};
    if ((kind != Kind::Part && kind != Kind::Broadcast) || !reader.atEnd() ||
        message.values.size() != values_.size())
      malformed(envelope->source);
    return message;
  }

  void send(int destination, Kind kind) {
    ++messages_;
    transport_.send(destination, Topic::Detector, session_, SendMode::Eager,
                    Writer().value(reduction_).value(kind).range(values_).take());
  }

  /// The result, to all neighbors but one.
  void broadcast(int except) {
    for (const int rank : neighbors_) {
      if (rank != except) send(rank, Kind::Broadcast);
    }
    missing_.clear();
    state_ = State::Idle;
  }

  [[noreturn]] void malformed(int source) const {
    throw Error(ErrorKind::Message, "leader election: malformed message from rank " +
                                        std::to_string(source) + " on rank " +
                                        std::to_string(transport_.rank()) + ", " + state());
  }

  Transport& transport_;
  Session session_;
  std::vector<int> neighbors_;
  State state_ = State::Idle;
  ReduceOp op_ = ReduceOp::Sum;
  std::int64_t reduction_ = 0;
  std::vector<std::int64_t> values_;
  std::vector<int> missing_;  // neighbors whose part has not come
  std::int64_t messages_ = 0;
};

}  // namespace

std::unique_ptr<NonBlockingReduce> makeLeaderElection(Transport& transport, Session session,
                                                      std::vector<int> neighbors) {
  return std::make_unique<LeaderElection>(transport, session, std::move(neighbors));
}

}  // namespace tributary
