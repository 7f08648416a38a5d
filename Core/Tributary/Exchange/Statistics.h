// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "Tributary/Transport/Transport.h"

namespace tributary {

/// Counters and wall times of an exchange on one rank, or on all ranks (see reduceStatistics()).
struct ExchangeStatistics {
  std::int64_t messages = 0;         ///< messages from blocks of this rank to other ranks
  std::int64_t bytes = 0;            ///< payload of `messages`
  std::int64_t localDeliveries = 0;  ///< messages between blocks of the same rank
  std::int64_t batches = 0;          ///< transport messages that contained `messages`
  std::int64_t received = 0;         ///< messages from other ranks
  std::int64_t callbacks = 0;        ///< calls of the callback
  std::int64_t rounds = 0;           ///< rounds (Synchronous and Neighborhood)
  std::int64_t waves = 0;            ///< waves of the detector, or reductions at the ends of rounds
  std::int64_t pauses = 0;           ///< times that `inFlightBytes` was exceeded and calls paused
  std::int64_t peakInFlightBytes = 0;  ///< largest total size of unfinished sends
  double computingSeconds = 0;         ///< in callbacks
  double communicationSeconds = 0;     ///< sending and receiving
  double idleSeconds = 0;              ///< in turns without a call or a message
  double terminationDelaySeconds = 0;  ///< from when this rank became passive to the end
  double totalSeconds = 0;             ///< from construction to the end

  /// Adds the counters of a later exchange on the same rank.
  void add(const ExchangeStatistics& later);
};

/// Combines the statistics of all ranks: the maximum of `rounds`, `waves`, `peakInFlightBytes` and
/// `totalSeconds`, the minimum of `terminationDelaySeconds` (that of the last rank to become
/// passive), and the sum of all other members. Collective; the same result on all ranks.
[[nodiscard]] ExchangeStatistics reduceStatistics(Transport& transport,
                                                  const ExchangeStatistics& mine);

}  // namespace tributary
