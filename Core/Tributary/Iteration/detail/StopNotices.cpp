// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Iteration/detail/StopNotices.h"

#include <utility>

#include "Tributary/Base/Bytes.h"

namespace tributary::detail {

StopNotices::StopNotices(Transport& transport, Session session, std::vector<int> neighbors)
    : transport_(transport), session_(session), neighbors_(std::move(neighbors)) {}

void StopNotices::tell(StopReason reason, const std::string& text) {
  if (!closing_) spread(reason, transport_.rank(), text, -1);
}

void StopNotices::spread(StopReason reason, int origin, const std::string& text, int except) {
  if (heard(reason)) return;
  heard_ |= static_cast<std::uint32_t>(reason);
  if (reason == StopReason::Error) {
    error_ = text;
    errorRank_ = origin;
  }
  if (closing_) return;
  for (const int rank : neighbors_) {
    if (rank == except) continue;
    ++messages_;
    transport_.send(rank, Topic::Control, session_, SendMode::Eager,
                    Writer().value(reason).value(origin).text(text).take());
  }
}

void StopNotices::advance() {
  while (lastWords_ < neighbors_.size()) {
    const auto envelope = transport_.tryReceive(Topic::Control, session_);
    if (!envelope) return;
    Reader reader(envelope->bytes);
    const auto reason = reader.value<StopReason>();
    const auto origin = reader.value<int>();
    if (reason == StopReason::None) {
      ++lastWords_;
    } else {
      spread(reason, origin, reader.text(), envelope->source);
    }
  }
}

bool StopNotices::close() {
  if (!closing_) {
    closing_ = true;
    for (const int rank : neighbors_) {
      ++messages_;
      transport_.send(rank, Topic::Control, session_, SendMode::Eager,
                      Writer().value(StopReason::None).value(transport_.rank()).text({}).take());
    }
  }
  advance();
  return lastWords_ == neighbors_.size();
}

std::string StopNotices::state() const {
  return "reasons " + std::to_string(heard_) + ", closing messages " + std::to_string(lastWords_) +
         (closing_ ? ", closing" : "");
}

}  // namespace tributary::detail
