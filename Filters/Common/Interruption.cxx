// SPDX-License-Identifier: BSD-3-Clause
#include "Common/Interruption.h"

#include <exception>
#include <utility>

namespace tributary {
namespace {

/// Seconds between two checks, which may call back into a client.
constexpr double Interval = 0.02;
constexpr int Arity = 4;

}  // namespace

Interruption::Interruption(Transport& transport, std::function<bool()> isAborted)
    : transport_(transport),
      isAborted_(std::move(isAborted)),
      session_(transport.openSession()),
      tree_(transport.size(), Arity),
      lastLook_(transport.now()) {
  transport_.setInterruption([this] { return look(); });
}

bool Interruption::look() {
  if (isKnown_ || isLooking_) return isKnown_;
  const double now = transport_.now();
  if (now - lastLook_ < Interval) return false;
  lastLook_ = now;
  isLooking_ = true;  // events may call the transport
  try {
    isKnown_ = transport_.tryReceive(Topic::Control, session_).has_value() || isAborted_();
    if (isKnown_) spread();
  } catch (const std::exception&) {
    // No memory, or an error of MPI, which the communication of the work meets, too.
  }
  isLooking_ = false;
  return isKnown_;
}

void Interruption::spread() {
  for (const int rank : tree_.neighbors(transport_.rank()))
    transport_.send(rank, Topic::Control, session_, SendMode::Eager, Bytes());
}

}  // namespace tributary
