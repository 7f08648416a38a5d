// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Exchange/Statistics.h"

#include <algorithm>
#include <vector>

#include "Tributary/Reduction/AllReduce.h"

namespace tributary {

void ExchangeStatistics::add(const ExchangeStatistics& later) {
  messages += later.messages;
  bytes += later.bytes;
  localDeliveries += later.localDeliveries;
  batches += later.batches;
  received += later.received;
  callbacks += later.callbacks;
  rounds += later.rounds;
  waves += later.waves;
  pauses += later.pauses;
  peakInFlightBytes = std::max(peakInFlightBytes, later.peakInFlightBytes);
  computingSeconds += later.computingSeconds;
  communicationSeconds += later.communicationSeconds;
  idleSeconds += later.idleSeconds;
  terminationDelaySeconds += later.terminationDelaySeconds;
  totalSeconds += later.totalSeconds;
}

namespace {

void add(ExchangeStatistics& sum, const ExchangeStatistics& one) {
  sum.messages += one.messages;
  sum.bytes += one.bytes;
  sum.localDeliveries += one.localDeliveries;
  sum.batches += one.batches;
  sum.received += one.received;
  sum.callbacks += one.callbacks;
  sum.rounds = std::max(sum.rounds, one.rounds);
  sum.waves = std::max(sum.waves, one.waves);
  sum.pauses += one.pauses;
  sum.peakInFlightBytes = std::max(sum.peakInFlightBytes, one.peakInFlightBytes);
  sum.computingSeconds += one.computingSeconds;
  sum.communicationSeconds += one.communicationSeconds;
  sum.idleSeconds += one.idleSeconds;
  sum.terminationDelaySeconds = std::min(sum.terminationDelaySeconds, one.terminationDelaySeconds);
  sum.totalSeconds = std::max(sum.totalSeconds, one.totalSeconds);
}

}  // namespace

ExchangeStatistics reduceStatistics(Transport& transport, const ExchangeStatistics& mine) {
  const Assignment onePerRank(
      std::vector<std::int64_t>(static_cast<std::size_t>(transport.size()), 1));
  AllReduce<ExchangeStatistics> allReduce(transport, onePerRank, add);
  return allReduce.run({mine}).value();
}

}  // namespace tributary
