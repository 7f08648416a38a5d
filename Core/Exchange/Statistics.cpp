#include "Tributary/Exchange/Statistics.h"

#include <algorithm>
#include <vector>

#include "Tributary/Reduction/AllReduce.h"

namespace tributary {

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
