// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Transport/detail/SimulatedPrograms.h"

#include "Tributary/Base/Error.h"

namespace tributary {

void NetworkTraffic::add(Topic topic, std::size_t size) {
  switch (topic) {
    case Topic::Work:
      ++work;
      break;
    case Topic::Detector:
      ++detector;
      break;
    case Topic::Control:
      ++control;
      break;
    case Topic::Setup:
      ++setup;
      break;
  }
  bytes += static_cast<std::int64_t>(size);
}

}  // namespace tributary

namespace tributary::detail {

namespace {

// A report of a deadlock describes this number of ranks.
constexpr int MostReported = 16;

}  // namespace

void combineReduced(ReduceOp op, std::vector<std::int64_t>& sum, ReduceOp otherOp,
                    const std::vector<std::int64_t>& values) {
  if (op != otherOp)
    throw Error(
        "simulated all-reduce: ranks passed different operations; pass the same on all ranks");
  reduceInto(op, sum, values);
}

void SimulatedPrograms::startBodies(const std::function<void(Transport&)>& body,
                                    std::size_t stackBytes) {
  body_ = body;
  step_ = nullptr;
  canceling_ = false;
  ranks_.clear();
  ranks_.resize(transports_.size());
  running_ = static_cast<int>(ranks_.size());
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    ranks_[i].fiber = std::make_unique<Fiber>(
        [this, i] {
          try {
            if (!canceling_) body_(*transports_[i]);
          } catch (const Canceled&) {
          } catch (...) {
            ranks_[i].error = std::current_exception();
          }
        },
        stackBytes);
  }
}

void SimulatedPrograms::startSteps(const std::function<bool(Transport&)>& step) {
  step_ = step;
  ranks_.clear();
  ranks_.resize(transports_.size());
  running_ = static_cast<int>(ranks_.size());
}

void SimulatedPrograms::resume(int rank) {
  Rank& program = ranks_[index(rank)];
  if (bodies()) {
    current_ = program.fiber.get();
    current_->resume();
    current_ = nullptr;
    program.ended = program.fiber->finished();
    // Thousands of stacks take much memory.
    if (program.ended) program.fiber.reset();
  } else {
    program.ended = step_(*transports_[index(rank)]);
  }
  if (program.ended) --running_;
}

void SimulatedPrograms::pause() {
  if (!canceling_) current_->yield();
  if (canceling_) throw Canceled();
}

void SimulatedPrograms::rethrow() const {
  for (const Rank& rank : ranks_) {
    if (rank.error) std::rethrow_exception(rank.error);
  }
}

std::string SimulatedPrograms::left() const {
  std::string text;
  for (const SimulatedRank* rank : transports_) {
    const std::string part = rank->left();
    if (part.empty()) continue;
    text += (text.empty() ? "rank " : "; rank ") + std::to_string(rank->rank()) + ": " + part;
  }
  return text;
}

void SimulatedPrograms::reportDeadlock(const std::function<std::string(int rank)>& describe) const {
  std::string text = "simulated network: deadlock, " + std::to_string(running_) + " of " +
                     std::to_string(ranks_.size()) + " ranks have not ended";
  int reported = 0;
  for (const SimulatedRank* rank : transports_) {
    if (ended(rank->rank()) || ++reported > MostReported) continue;
    text += "\n  rank " + std::to_string(rank->rank()) + ": ";
    if (describe) text += describe(rank->rank()) + "; ";
    const std::string part = rank->left();
    text += part.empty() ? "no message or completion is pending" : part;
  }
  if (reported > MostReported) {
    text += "\n  and " + std::to_string(reported - MostReported) + " more ranks";
  }
  throw Error(ErrorKind::Stall, text);
}

void SimulatedPrograms::cancel() {
  canceling_ = true;
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    if (bodies() && !ranks_[i].ended) resume(static_cast<int>(i));
  }
}

}  // namespace tributary::detail
