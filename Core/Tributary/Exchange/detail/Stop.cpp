// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Exchange/detail/Stop.h"

#include <algorithm>

namespace tributary::detail {

namespace {

constexpr int Arity = 4;

// An error's rank and kind in one number, which the lowest rank has the least of.
constexpr std::int64_t Kinds = static_cast<std::int64_t>(ErrorKind::Internal) + 1;

}  // namespace

Stop::Stop(Transport& transport, Notices& notices)
    : transport_(transport),
      notices_(notices),
      tree_(transport.size(), Arity),
      silent_(tree_.neighbors(transport.rank())) {}

void Stop::stop(Kind kind, const ErrorReport& why) {
  if (phase_ != Phase::Spreading || own_ != Kind::None) return;
  own_ = kind;
  ownReport_ = why;
  spread();
}

void Stop::spread() {
  if (known_) return;
  known_ = true;
  for (const int rank : tree_.neighbors(transport_.rank())) {
    notices_.send(rank, Notice::Kind::Stop);
  }
}

void Stop::receive(const Notice& notice) {
  const auto silent = std::find(silent_.begin(), silent_.end(), notice.source);
  if (notice.kind == Notice::Kind::Reason) {
    text_ = notice.text;
  } else if (silent != silent_.end()) {
    silent_.erase(silent);
    spread();
  } else if (notice.kind == Notice::Kind::Unreadable) {
    unreadable_.push_back(notice.source);
  }
}

void Stop::close() {
  const std::int64_t none = transport_.size();
  const std::int64_t self = transport_.rank();
  agreement_ = transport_.allreduce(
      ReduceOp::Min,
      {own_ == Kind::Error ? self * Kinds + static_cast<std::int64_t>(ownReport_.kind)
                           : none * Kinds,
       own_ == Kind::Abort ? self : none});
  phase_ = Phase::Agreeing;
}

bool Stop::closed() {
  if (phase_ == Phase::Agreeing && agreement_.done()) readOutcome();
  if (phase_ == Phase::Telling && !text_ && reasonLost()) text_ = "its text is lost";
  if (phase_ == Phase::Telling && text_ && silent_.empty()) tell();
  return phase_ == Phase::Closed;
}

void Stop::readOutcome() {
  const std::int64_t none = transport_.size();
  const std::int64_t failed = agreement_.result()[0] / Kinds;
  const std::int64_t aborted = agreement_.result()[1];
  if (failed == none && aborted == none) {
    phase_ = Phase::Closed;
    return;
  }
  spread();
  outcome_ = failed < none ? Kind::Error : Kind::Abort;
  teller_ = static_cast<int>(failed < none ? failed : aborted);
  if (teller_ == transport_.rank()) text_ = ownReport_.text;
  phase_ = Phase::Telling;
}

bool Stop::reasonLost() const {
  const int size = transport_.size();
  const int place = (transport_.rank() - teller_ + size) % size;
  if (place == 0) return false;
  const int sender = (tree_.parent(place) + teller_) % size;
  return std::find(unreadable_.begin(), unreadable_.end(), sender) != unreadable_.end();
}

void Stop::tell() {
  const int size = transport_.size();
  const int place = (transport_.rank() - teller_ + size) % size;
  for (const int child : tree_.children(place)) {
    notices_.send((child + teller_) % size, Notice::Kind::Reason, *text_);
  }
  const auto kind = static_cast<ErrorKind>(agreement_.result()[0] % Kinds);
  // An interruption is reported as one on all ranks or on none.
  const bool isAlike = (kind == ErrorKind::Aborted) == (ownReport_.kind == ErrorKind::Aborted);
  if (outcome_ == Kind::Abort) {
    reason_.text = *text_;
  } else if (own_ == Kind::Error && isAlike) {
    reason_ = ownReport_;
    if (!reason_.rank) reason_.rank = transport_.rank();
  } else {
    reason_.text = "rank " + std::to_string(teller_) + ": " + *text_;
    reason_.kind = kind;
    reason_.rank = teller_;
  }
  phase_ = Phase::Closed;
}

}  // namespace tributary::detail
