#include "Tributary/Exchange/Statistics.h"

#include <algorithm>

#include "Tributary/Transport/Collectives.h"

namespace tributary {

ExchangeStatistics reduceStatistics(Transport& transport, const ExchangeStatistics& mine) {
  const std::vector<ExchangeStatistics> all = allgather(transport, mine);
  ExchangeStatistics sum;
  sum.terminationDelaySeconds = all.front().terminationDelaySeconds;
  for (const ExchangeStatistics& one : all) {
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
    sum.terminationDelaySeconds =
        std::min(sum.terminationDelaySeconds, one.terminationDelaySeconds);
    sum.totalSeconds = std::max(sum.totalSeconds, one.totalSeconds);
  }
  return sum;
}

}  // namespace tributary
