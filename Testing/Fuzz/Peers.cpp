// SPDX-License-Identifier: BSD-3-Clause
#include "Peers.h"

#include <algorithm>
#include <utility>

#include "Tributary/Base/Error.h"
#include "Tributary/Transport/detail/LocalInteger.h"

namespace tributary::fuzz {

namespace {

// More than any state machine needs between two messages.
constexpr int MostIdlePolls = 100;
// So long that hold times pass, and notices are looked for at every poll.
constexpr double PollSeconds = 1e-3;

constexpr int Topics = 4;
constexpr std::size_t LongestLetter = 0xffff;

class PeerSend : public PersistentRequest {
 public:
  explicit PeerSend(std::size_t size) : PersistentRequest(size) {}
  void start() override {}
  bool done() override { return true; }
  bool cancel() override { throw Error("a persistent send cannot be canceled"); }
};

class PeerReceive : public PersistentRequest {
 public:
  PeerReceive(Peers& peers, int source, Topic topic, Session session, std::size_t size)
      : PersistentRequest(size), peers_(peers), source_(source), topic_(topic), session_(session) {}
  void start() override { started_ = true; }
  bool done() override {
    if (!started_) return true;
    const auto envelope = peers_.next(source_, topic_, session_);
    if (!envelope) return false;
    started_ = false;
    checkPersistentSize(envelope->bytes.size(), buffer_.size(), source_, peers_.rank());
    std::copy(envelope->bytes.begin(), envelope->bytes.end(), buffer_.begin());
    return true;
  }
  bool cancel() override { return std::exchange(started_, false); }

 private:
  Peers& peers_;
  int source_;
  Topic topic_;
  Session session_;
  bool started_ = false;
};

class RecordedReceive : public PersistentRequest {
 public:
  RecordedReceive(std::unique_ptr<PersistentRequest> inner, Letter letter, Bytes& input)
      : PersistentRequest(inner->buffer().size()),
        inner_(std::move(inner)),
        letter_(std::move(letter)),
        input_(input) {}
  void start() override {
    inner_->start();
    started_ = true;
  }
  bool done() override {
    if (!inner_->done()) return false;
    if (std::exchange(started_, false)) {
      buffer_.assign(inner_->buffer().begin(), inner_->buffer().end());
      letter_.bytes = buffer_;
      appendLetter(input_, letter_);
    }
    return true;
  }
  bool cancel() override {
    started_ = false;
    return inner_->cancel();
  }

 private:
  std::unique_ptr<PersistentRequest> inner_;
  Letter letter_;
  Bytes& input_;
  bool started_ = false;
};

}  // namespace

std::deque<Letter> lettersOf(Span<const std::byte> input, int ranks) {
  std::deque<Letter> letters;
  for (Reader reader(input); reader.remaining() >= 5;) {
    Letter letter;
    letter.source = reader.value<std::uint8_t>() % ranks;
    letter.topic = static_cast<Topic>(reader.value<std::uint8_t>() % Topics);
    letter.session = reader.value<std::uint8_t>();
    const std::size_t size = std::min<std::size_t>(reader.value<std::uint16_t>(),  //
                                                   reader.remaining());
    const auto bytes = reader.raw(size);
    letter.bytes.assign(bytes.begin(), bytes.end());
    letters.push_back(std::move(letter));
  }
  return letters;
}

void appendLetter(Bytes& input, const Letter& letter) {
  if (letter.session > 0xff || letter.bytes.size() > LongestLetter)
    throw Error("a message that no input can hold; make the scene smaller");
  Writer writer(std::move(input));
  writer.value(static_cast<std::uint8_t>(letter.source));
  writer.value(static_cast<std::uint8_t>(letter.topic));
  writer.value(static_cast<std::uint8_t>(letter.session));
  writer.value(static_cast<std::uint16_t>(letter.bytes.size()));
  input = writer.take();
  append(input, letter.bytes.data(), letter.bytes.size());
}

PendingSend Peers::send(int destination, Topic topic, Session session, SendMode, Bytes&& bytes) {
  checkDestination(destination, size_);
  if (destination == rank_) letters_.push_back({rank_, topic, session, bytes});
  auto state = std::make_shared<PendingSend::State>();
  state->done = true;
  state->bytes = std::move(bytes);
  return PendingSend(std::move(state));
}

std::optional<Envelope> Peers::next(int source, Topic topic, Session session) {
  const auto letter = std::find_if(letters_.begin(), letters_.end(), [&](const Letter& l) {
    return l.topic == topic && l.session == session && (source < 0 || l.source == source);
  });
  if (letter == letters_.end()) return std::nullopt;
  Envelope envelope{letter->source, std::move(letter->bytes)};
  letters_.erase(letter);
  idle_ = 0;
  return envelope;
}

std::optional<Envelope> Peers::tryReceive(Topic topic, Session session) {
  return next(-1, topic, session);
}

std::unique_ptr<PersistentRequest> Peers::persistentSend(int destination, Topic, Session, SendMode,
                                                         std::size_t size) {
  checkPersistent(destination, size_, size);
  return std::make_unique<PeerSend>(size);
}

std::unique_ptr<PersistentRequest> Peers::persistentReceive(int source, Topic topic,
                                                            Session session, std::size_t size) {
  checkPersistent(source, size_, size);
  return std::make_unique<PeerReceive>(*this, source, topic, session, size);
}

void Peers::poll() {
  now_ += PollSeconds;
  if (++idle_ > MostIdlePolls) throw Error(ErrorKind::Stall, "no rank sends anything any more");
}

PendingReduce Peers::allreduce(ReduceOp op, std::vector<std::int64_t> values) {
  if (!contributions_.empty()) {
    if (contributions_.front().size() == values.size())
      reduceInto(op, values, contributions_.front());
    contributions_.pop_front();
  }
  auto state = std::make_shared<PendingReduce::State>();
  state->result = std::move(values);
  state->done = true;
  return PendingReduce(std::move(state));
}

std::unique_ptr<SharedInteger> Peers::shareInteger(std::int64_t initial) {
  return std::make_unique<detail::LocalInteger>(initial);
}

std::optional<Envelope> Recorder::tryReceive(Topic topic, Session session) {
  auto envelope = inner_.tryReceive(topic, session);
  if (envelope && isRecorded())
    appendLetter(input_, {envelope->source, topic, session, envelope->bytes});
  return envelope;
}

PendingReduce Recorder::allreduce(ReduceOp op, std::vector<std::int64_t> values) {
  if (!isRecorded()) {
    if (contributions_.size() == reductions_)
      contributions_.push_back(values);
    else
      reduceInto(op, contributions_[reductions_], values);
    ++reductions_;
  }
  return inner_.allreduce(op, std::move(values));
}

std::unique_ptr<PersistentRequest> Recorder::persistentReceive(int source, Topic topic,
                                                               Session session, std::size_t size) {
  if (!isRecorded()) return inner_.persistentReceive(source, topic, session, size);
  return std::make_unique<RecordedReceive>(inner_.persistentReceive(source, topic, session, size),
                                           Letter{source, topic, session, {}}, input_);
}

}  // namespace tributary::fuzz
