// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Reduction/detail/BlockPost.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "Tributary/Base/Error.h"

namespace tributary::detail {

namespace {

/// At the end of a message, so that the payload stays aligned and keeps its buffer.
struct Footer {
  BlockId from;
  BlockId to;
  std::int64_t round;
  std::int64_t failed;
  std::int64_t segment;
};
static_assert(sizeof(Footer) + 8 <= BlockPost::Tail);

}  // namespace

BlockPost::BlockPost(Transport& transport, const Assignment& assignment, std::int64_t rounds)
    : transport_(transport),
      session_(transport.openSession()),
      assignment_(assignment),
      first_(assignment.first(transport.rank())),
      localCount_(static_cast<std::size_t>(assignment.count(transport.rank()))),
      rounds_(rounds) {}

void BlockPost::send(BlockMessage&& message) {
  if (isLocal(message.to)) {
    handedOver_.push_back(std::move(message));
    return;
  }
  const Footer footer{message.from, message.to, message.round, message.failed, message.segment};
  append(message.payload, &footer, sizeof footer);
  sends_.push_back(transport_.send(assignment_.rankOf(message.to), Topic::Work, session_,
                                   SendMode::Eager, std::move(message.payload)));
}

void BlockPost::sendFrom(BlockMessage&& message, Span<const std::byte> payload) {
  if (isLocal(message.to)) {
    append(message.payload, payload.data(), payload.size());
    handedOver_.push_back(std::move(message));
    return;
  }
  const Footer footer{message.from, message.to, message.round, message.failed, message.segment};
  sends_.push_back(
      transport_.sendFrom(assignment_.rankOf(message.to), Topic::Work, session_, SendMode::Eager,
                          payload, {reinterpret_cast<const std::byte*>(&footer), sizeof footer}));
}

std::optional<BlockMessage> BlockPost::receive() {
  if (!handedOver_.empty()) {
    BlockMessage message = std::move(handedOver_.front());
    handedOver_.pop_front();
    return message;
  }
  auto envelope = arrived();
  if (!envelope) return std::nullopt;
  Bytes& bytes = envelope->bytes;
  Footer footer{};
  if (bytes.size() < sizeof footer) refuseMessage("a message of a reduction is too short");
  std::memcpy(&footer, bytes.data() + bytes.size() - sizeof footer, sizeof footer);
  if (!assignment_.exists(footer.from) || assignment_.rankOf(footer.from) != envelope->source ||
      !isLocal(footer.to) || footer.round < 0 || footer.round >= rounds_) {
    refuseMessage("block " + std::to_string(footer.from) + " to block " +
                  std::to_string(footer.to) + " in round " + std::to_string(footer.round) +
                  " of a reduction");
  }
  bytes.resize(bytes.size() - sizeof footer);
  return BlockMessage{footer.from,      footer.to,          footer.round,
                      std::move(bytes), footer.failed != 0, footer.segment};
}

bool BlockPost::discard() {
  bool any = !handedOver_.empty();
  handedOver_.clear();
  while (true) {
    try {
      if (!arrived()) return any;
    } catch (const LostMessage&) {
    }
    any = true;
  }
}

std::optional<Envelope> BlockPost::arrived() {
  try {
    auto envelope = transport_.tryReceive(Topic::Work, session_);
    if (envelope) ++received_;
    return envelope;
  } catch (const LostMessage&) {
    ++received_;
    throw;
  }
}

bool BlockPost::sent() {
  transport_.poll();
  sends_.erase(std::remove_if(sends_.begin(), sends_.end(),
                              [](const PendingSend& send) { return send.done(); }),
               sends_.end());
  return sends_.empty();
}

}  // namespace tributary::detail
