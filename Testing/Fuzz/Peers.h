// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "Tributary/Base/Bytes.h"
#include "Tributary/Transport/Transport.h"

namespace tributary::fuzz {

/// A message that the ranks under `Peers` receive.
struct Letter {
  int source = 0;
  Topic topic = Topic::Work;
  Session session = 0;
  Bytes bytes;
};

/// Messages as the bytes of an input: each its source, topic and session (a byte each), its length
/// (two bytes) and its contents. Any bytes are messages: numbers are taken modulo their limits, and
/// a length that exceeds the input is that of the rest.
[[nodiscard]] std::deque<Letter> lettersOf(Span<const std::byte> input, int ranks);
/// Appends a message. One of more than 65535 bytes, or a session above 255, has no such form.
void appendLetter(Bytes& input, const Letter& letter);

/// What other ranks contribute to the all-reduces of a rank, in their order.
using Contributions = std::deque<std::vector<std::int64_t>>;

/// The transport of one rank whose peers exist only as the messages that they send: those of an
/// input, all of which have arrived. The rank's own sends are finished at once. To an all-reduce
/// they contribute the next values of a list, if these are as many. If the rank keeps waiting when
/// there is nothing for it, poll() throws Error of kind Stall, so that every wait ends.
class Peers : public Transport {
 public:
  Peers(int rank, int size, std::deque<Letter> letters, Contributions contributions)
      : rank_(rank),
        size_(size),
        letters_(std::move(letters)),
        contributions_(std::move(contributions)) {}

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  [[nodiscard]] double now() const override { return now_; }
  void spend(double seconds) override { now_ += seconds; }
  void relax(double seconds) override { now_ += seconds; }
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
  [[nodiscard]] std::unique_ptr<SharedInteger> shareInteger(std::int64_t initial) override;

  /// The next message of a source, or of any source if it is -1.
  std::optional<Envelope> next(int source, Topic topic, Session session);

 private:
  int rank_;
  int size_;
  std::deque<Letter> letters_;
  Contributions contributions_;
  double now_ = 0;
  int idle_ = 0;  // polls since a message
};

/// Forwards to the transport of one of the ranks that play a scene, and writes down the messages
/// that one rank receives, as an input, and what the others contribute to all-reduces.
class Recorder : public Transport {
 public:
  /// @param recorded  the rank whose messages are written down
  Recorder(Transport& inner, int recorded, Bytes& input, Contributions& contributions)
      : inner_(inner), recorded_(recorded), input_(input), contributions_(contributions) {}

  int rank() const override { return inner_.rank(); }
  int size() const override { return inner_.size(); }
  [[nodiscard]] double now() const override { return inner_.now(); }
  void spend(double seconds) override { inner_.spend(seconds); }
  void relax(double seconds) override { inner_.relax(seconds); }
  [[nodiscard]] Session openSession() override { return inner_.openSession(); }
  PendingSend send(int destination, Topic topic, Session session, SendMode mode,
                   Bytes&& bytes) override {
    return inner_.send(destination, topic, session, mode, std::move(bytes));
  }
  [[nodiscard]] std::optional<Envelope> tryReceive(Topic topic, Session session) override;
  [[nodiscard]] bool receiving(Topic topic, Session session) const override {
    return inner_.receiving(topic, session);
  }
  [[nodiscard]] std::unique_ptr<PersistentRequest> persistentSend(int destination, Topic topic,
                                                                  Session session, SendMode mode,
                                                                  std::size_t size) override {
    return inner_.persistentSend(destination, topic, session, mode, size);
  }
  [[nodiscard]] std::unique_ptr<PersistentRequest> persistentReceive(int source, Topic topic,
                                                                     Session session,
                                                                     std::size_t size) override;
  void poll() override { inner_.poll(); }
  [[nodiscard]] PendingReduce barrier() override { return allreduce(ReduceOp::Or, {}); }
  [[nodiscard]] PendingReduce allreduce(ReduceOp op, std::vector<std::int64_t> values) override;
  [[nodiscard]] std::unique_ptr<SharedInteger> shareInteger(std::int64_t initial) override {
    return inner_.shareInteger(initial);
  }

 private:
  [[nodiscard]] bool isRecorded() const { return rank() == recorded_; }

  Transport& inner_;
  int recorded_;
  Bytes& input_;
  Contributions& contributions_;
  std::size_t reductions_ = 0;
};

}  // namespace tributary::fuzz
