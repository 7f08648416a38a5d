// SPDX-License-Identifier: BSD-3-Clause
#include "Support/ExchangeComparison.h"

namespace bench {

void addSettings(Row& settings, const ExchangeComparisonOptions& options) {
  settings["repetitions"] = options.repeat;
  settings["arrivals"] = options.exchange.arrivals;
  settings["detector"] = options.exchange.detector;
  settings["batch bytes"] = options.exchange.batchBytes;
  settings["hold time us"] = options.exchange.holdTime;
  settings["DIY queue bytes"] = options.diy.minimumQueueBytes;
  settings["DIY hold time us"] = options.diy.holdTime;
  settings["DIY fine"] = options.diy.fine;
}

}  // namespace bench
