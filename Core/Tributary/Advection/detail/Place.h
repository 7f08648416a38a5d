// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "Tributary/Advection/FieldBlock.h"
#include "Tributary/Advection/Particle.h"
#include "Tributary/Advection/Tracer.h"
#include "Tributary/Advection/Trajectory.h"
#include "Tributary/Advection/detail/ParticleMessage.h"
#include "Tributary/Balance/WorkMeter.h"
#include "Tributary/Base/Bytes.h"

namespace tributary::detail {

/// Lines are numbered by twice the id of their seed.
[[nodiscard]] bool isSeedId(std::int64_t id);

/// A particle leaves a block. If it is at an event, the end of its step gets a number that other
/// blocks understand.
void departFrom(const FieldBlock& block, Particle& p);

/// The logs of one block. A thread takes one while it advances particles there.
class LogPool {
 public:
  /// @param rules  the same in all calls
  TrajectoryLog take(const StepRules& rules) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (free_.empty()) return TrajectoryLog(CrossingFormat(rules));
    TrajectoryLog log = std::move(free_.back());
    free_.pop_back();
    return log;
  }
  void give(TrajectoryLog log) {
    const std::lock_guard<std::mutex> lock(mutex_);
    free_.push_back(std::move(log));
  }
  /// All logs, while no thread has one.
  const std::vector<TrajectoryLog>& all() const { return free_; }
  std::vector<TrajectoryLog> takeAll() { return std::move(free_); }

 private:
  std::mutex mutex_;
  std::vector<TrajectoryLog> free_;
};

/// A block on this rank, its own or a copy of another rank's, with what waits there and what was
/// recorded there. All members are local.
class Place {
 public:
  /// A block of this rank, which must outlive the place.
  /// @param linesPerSeed  1 or 2
  /// @param expected  with what earlier work has taken
  Place(const FieldBlock& own, int linesPerSeed, const WorkMeter& expected)
      : meter(expected), block_(own), linesPerSeed_(std::size_t(linesPerSeed)) {}
  /// A copy.
  Place(std::shared_ptr<const FieldBlock> copy, int linesPerSeed, const WorkMeter& expected)
      : meter(expected),
        copy_(std::move(copy)),
        block_(*copy_),
        linesPerSeed_(std::size_t(linesPerSeed)) {}

  const FieldBlock& block() const { return block_; }
  bool isCopy() const { return copy_ != nullptr; }
  const std::shared_ptr<const FieldBlock>& copy() const { return copy_; }

  std::vector<Particle> active;  ///< Advanced first.
  std::vector<Particle> later;   ///< Arrived since; advanced after all of `active`.
  std::vector<Particle> taken;   ///< Being advanced; kept for its memory.
  std::vector<MigratingParticle> seeking;
  std::vector<Seed> seeds;  ///< Made particles as late as possible: a seed is far smaller.
  LogPool logs;
  WorkMeter meter;
  bool isWaiting = false;  ///< Whether work waits here, as counted by Places.

  /// All but seeds.
  std::size_t particles() const { return active.size() + later.size() + seeking.size(); }
  /// Particles and seeds, `taken` not included.
  std::size_t waiting() const { return particles() + seeds.size(); }
  /// Lines, or the rest of them, that can be lent: not of `seeking`.
  std::size_t lendable() const {
    return active.size() + later.size() + seeds.size() * linesPerSeed_;
  }

  /// Adds an active particle from another block, or from a search.
  /// @return false if the block does not have its cell; then the particle is as before
  [[nodiscard]] bool add(Particle&& p);
  /// Moves at most `limit` particles to `taken`.
  void take(std::size_t limit);

  /// Removes seeds and particles, and appends them.
  /// @param lines  their number of lines, at most lendable()
  /// @param stages,events  of the integrator, and of the trace
  /// @param first  first(line) tells which lines are lent before others
  void lend(std::size_t lines, int stages, int events,
            const std::function<bool(std::int64_t)>& first, Writer& message);
  /// Adds what lend() of a place with a copy of the block has written. Throws Error if it is
  /// malformed.
  void borrow(int stages, int events, Reader& message);
  /// All points recorded here, for receivePoints() of a place with a copy of the block.
  [[nodiscard]] Bytes recordedPoints(const StepRules& rules) const;
  /// Throws Error if the message is malformed.
  void receivePoints(const StepRules& rules, Reader& message);

 private:
  std::shared_ptr<const FieldBlock> copy_;  // null if the block is this rank's own
  const FieldBlock& block_;
  std::size_t linesPerSeed_;
};

}  // namespace tributary::detail
