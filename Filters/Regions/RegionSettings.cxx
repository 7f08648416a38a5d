// SPDX-License-Identifier: BSD-3-Clause
#include "Regions/RegionSettings.h"

#include "Common/RunStatistics.h"

#include "Tributary/Exchange/ExchangeSetting.h"

namespace tributary {

UnionOptions makeUnionOptions(const RegionSettings& settings, const RunContext& context,
                              double progress) {
  UnionOptions options;
  options.method = settings.method;
  options.exchange = settings.exchange;
  if (settings.tuner) ExchangeSetting().applyTo(options.exchange);
  options.monitor = [monitor = context.monitor, progress] { return monitor(progress); };
  return options;
}

UnionOptions makeTunedUnionOptions(const RegionSettings& settings, const RunContext& context,
                                   double progress) {
  UnionOptions options = makeUnionOptions(settings, context, progress);
  options.tuner = settings.tuner;
  return options;
}

void describeTuning(const RegionSettings& settings, RunStatistics& statistics) {
  if (!settings.tuner) return;
  const UnionTuning tuning = settings.tuner->takeTuning();
  statistics.add(tuning.setting, tuning.trials);
  statistics.amount("TuningSeconds", tuning.seconds);
  if (tuning.expected && tuning.actualSeconds)
    statistics.add(*tuning.expected, *tuning.actualSeconds);
}

std::vector<RangeTest> selectTests(const RegionSettings& settings, Transport& transport,
                                   const std::vector<Leaf>& leaves) {
  if (!settings.scalarConnectivity) return std::vector<RangeTest>(leaves.size());
  return findScalars(transport, leaves, settings.scalars, settings.fullScalarConnectivity);
}

void setRange(const RegionSettings& settings, std::size_t number, std::vector<RangeTest>& tests) {
  for (RangeTest& test : tests) {
    test.lo = settings.scalarRanges.empty() ? 0 : settings.scalarRanges[number][0];
    test.hi = settings.scalarRanges.empty() ? 0 : settings.scalarRanges[number][1];
  }
}

}  // namespace tributary
