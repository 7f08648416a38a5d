// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "Tributary/Transport/Transport.h"

namespace tributary {

/// What an exchange cost on one rank, or on all (see reduceStatistics). Seconds are wall time.
struct ExchangeStatistics {
  std::int64_t messages = 0;           ///< messages that this rank's blocks sent to other ranks
  std::int64_t bytes = 0;              ///< their payload
  std::int64_t localDeliveries = 0;    ///< messages between blocks of the same rank
  std::int64_t batches = 0;            ///< transport messages that carried `messages`
  std::int64_t received = 0;           ///< messages from other ranks
  std::int64_t callbacks = 0;          ///< calls of the user's callback
  std::int64_t rounds = 0;             ///< rounds begun (Synchronous and Neighborhood)
  std::int64_t waves = 0;              ///< passes of the detector, or of the round's reduction
  std::int64_t pauses = 0;             ///< times that back-pressure held callbacks back
  std::int64_t peakInFlightBytes = 0;  ///< largest size of this rank's unfinished sends
  double computingSeconds = 0;         ///< inside callbacks
  double communicationSeconds = 0;     ///< moving messages
  double idleSeconds = 0;              ///< with nothing to do
  double terminationDelaySeconds = 0;  ///< from this rank's last passive moment to the known end
  double totalSeconds = 0;             ///< from construction to the known end

  /// Adds what a later exchange of the same rank cost.
  void add(const ExchangeStatistics& later);
};

/// Over all ranks, collective, the same result everywhere: sums, except for the largest of
/// `rounds`, `waves`, `peakInFlightBytes` and `totalSeconds`, and the smallest of
/// `terminationDelaySeconds`: counted from the rank that turned passive last.
ExchangeStatistics reduceStatistics(Transport& transport, const ExchangeStatistics& mine);

}  // namespace tributary
