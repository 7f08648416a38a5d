// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Transport/detail/SimulatedPrograms.h"

#include "Tributary/Base/Error.h"
#include "Tributary/Transport/Simulated.h"

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

void combineReduced(ReduceOp op, std::vector<std::int64_t>& sum, ReduceOp otherOp,
                    const std::vector<std::int64_t>& values) {
  if (op != otherOp) throw Error("simulated all-reduce: ranks gave different operations");
  reduceInto(op, sum, values);
}

void SimulatedPrograms::startBodies(const std::vector<Transport*>& transports,
                                    const std::function<void(Transport&)>& body,
                                    std::size_t stackBytes) {
  transports_ = transports;
  body_ = body;
  step_ = nullptr;
  canceling_ = false;
  ranks_.clear();
  ranks_.resize(transports.size());
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

void SimulatedPrograms::startSteps(const std::vector<Transport*>& transports,
                                   const std::function<bool(Transport&)>& step) {
  transports_ = transports;
  step_ = step;
  ranks_.clear();
  ranks_.resize(transports.size());
  running_ = static_cast<int>(ranks_.size());
}

void SimulatedPrograms::resume(int rank) {
  Rank& program = ranks_[static_cast<std::size_t>(rank)];
  if (bodies()) {
    current_ = program.fiber.get();
    current_->resume();
    current_ = nullptr;
    program.ended = program.fiber->finished();
    // Thousands of stacks are a lot of memory.
    if (program.ended) program.fiber.reset();
  } else {
    program.ended = step_(*transports_[static_cast<std::size_t>(rank)]);
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

void SimulatedPrograms::cancel() {
  canceling_ = true;
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    if (bodies() && !ranks_[i].ended) resume(static_cast<int>(i));
  }
}

}  // namespace tributary::detail
