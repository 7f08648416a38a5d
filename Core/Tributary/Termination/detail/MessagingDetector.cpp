// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Termination/detail/MessagingDetector.h"

#include <utility>

#include "Tributary/Base/Error.h"

namespace tributary::detail {

namespace {

constexpr std::int32_t End = 0;

// Bounds a turn: ranks could exchange messages forever.
constexpr int MessagesPerTurn = 256;

struct Header {
  std::int64_t detection;
  std::int64_t kind;
};

std::string hexadecimal(const Bytes& bytes, std::size_t first) {
  constexpr char Digits[] = "0123456789abcdef";
  std::string text;
  for (std::size_t i = first; i < bytes.size(); ++i) {
    const auto value = std::to_integer<unsigned>(bytes[i]);
    text += Digits[value >> 4];
    text += Digits[value & 15];
  }
  return text;
}

}  // namespace

MessagingDetector::MessagingDetector(const DetectorTraits& traits, Transport& transport,
                                     Session session, const DetectorOptions& options)
    : traits_(traits),
      transport_(transport),
      session_(session),
      rank_(transport.rank()),
      size_(transport.size()),
      tree_(transport.size(), options.arity) {}

std::string MessagingDetector::state() const {
  std::string text = describe();
  for (const Envelope& envelope : deferred_) {
    text += ", deferred from rank " + std::to_string(envelope.source) + ": " +
            hexadecimal(envelope.bytes, sizeof(std::int64_t));
  }
  return text;
}

bool MessagingDetector::turn(bool passive, bool) {
  for (int count = 0; count < MessagesPerTurn && !ended_; ++count) {
    const auto envelope = receive();
    if (!envelope) break;
    Reader reader(envelope->bytes);
    const auto header = reader.value<Header>();
    if (header.kind == End) {
      handleEnd(envelope->source, reader);
    } else {
      handle(envelope->source, header.kind, reader, passive);
    }
    if (!reader.atEnd()) malformed(envelope->source, "more bytes than expected");
  }
  if (!ended_) step(passive);
  if (!ended_) return false;
  ended_ = false;
  ++detection_;
  addTo(waves_, std::exchange(passes_, 0));
  restart();
  return true;
}

std::optional<Envelope> MessagingDetector::receive() {
  const auto detectionOf = [](const Envelope& e) { return Reader(e.bytes).value<std::int64_t>(); };
  while (true) {
    std::optional<Envelope> envelope;
    if (!deferred_.empty() && detectionOf(deferred_.front()) <= detection_) {
      envelope = std::move(deferred_.front());
      deferred_.pop_front();
    } else {
      envelope = transport_.tryReceive(Topic::Detector, session_);
      if (!envelope) return std::nullopt;
    }
    const std::int64_t detection = detectionOf(*envelope);
    if (detection == detection_) return envelope;
    if (detection != detection_ + 1) {
      malformed(envelope->source, "a message of detection " + std::to_string(detection) +
                                      " in detection " + std::to_string(detection_));
    }
    deferred_.push_back(std::move(*envelope));
  }
}

Writer MessagingDetector::compose(std::int64_t kind) const {
  Writer message;
  message.value(Header{detection_, kind});
  return message;
}

void MessagingDetector::send(int destination, Writer& message) {
  ++messages_;
  transport_.send(destination, Topic::Detector, session_, SendMode::Eager, message.take());
}

void MessagingDetector::end() {
  ended_ = true;
  announce(rank_);
}

void MessagingDetector::announce(int root) {
  const int place = (rank_ - root + size_) % size_;
  for (const int child : tree_.children(place)) {
    Writer message = compose(End);
    message.value(std::int64_t(root)).value(passes_);
    send((child + root) % size_, message);
  }
}

void MessagingDetector::handleEnd(int source, Reader& body) {
  const auto root = body.value<std::int64_t>();
  const auto passes = body.value<std::int64_t>();
  if (root < 0 || root >= size_ || root == rank_ || passes < 0)
    malformed(source, "an announcement of the end with impossible content");
  const auto decider = static_cast<int>(root);
  const int place = (rank_ - decider + size_) % size_;
  if (source != (tree_.parent(place) + decider) % size_)
    malformed(source, "an announcement of the end from a rank that is not the parent");
  passes_ = passes;
  ended_ = true;
  announce(decider);
}

void MessagingDetector::malformed(int source, const std::string& what) const {
  refuseMessage("termination detector '" + traits_.name + "' on rank " + std::to_string(rank_) +
                " received from rank " + std::to_string(source) + ": " + what);
}

}  // namespace tributary::detail
