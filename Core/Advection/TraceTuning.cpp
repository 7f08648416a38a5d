#include "Tributary/Advection/TraceTuning.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>

#include "Tributary/Agree.h"
#include "Tributary/Error.h"
#include "Tributary/Transport/Collectives.h"

namespace tributary {

namespace {

/// Fewer particles hardly ever meet in a batch, nor fill a kernel's lanes.
constexpr std::int64_t kFewestSeeds = 16;

/// The seeds of this rank whose ids fall into the part. Multiples of the golden ratio are spread
/// evenly in [0, 1), whatever rows and planes the seeds were laid out in; a larger part has
/// those of a smaller one.
std::vector<Seed> partOf(Span<const Seed> seeds, double share) {
  if (share >= 1) return {seeds.begin(), seeds.end()};
  const auto limit = static_cast<std::uint64_t>(share * 0x1p64);
  std::vector<Seed> part;
  for (const Seed& seed : seeds)
    if (static_cast<std::uint64_t>(seed.id) * 0x9e3779b97f4a7c15ull < limit) part.push_back(seed);
  return part;
}

}  // namespace

std::vector<TraceSetting> traceSettings(Span<const Domain* const> cuts) {
  const ExchangeOptions defaults;
  std::vector<TraceSetting> settings;
  for (const Domain* cut : cuts) {
    settings.push_back({cut, defaults.batchBytes, defaults.holdSeconds});
    for (const std::size_t batchBytes :
         {std::size_t(4) << 10, std::size_t(64) << 10, std::size_t(1) << 20})
      for (const double holdSeconds : {0.0, 5e-6, 100e-6})
        if (batchBytes != defaults.batchBytes || holdSeconds != defaults.holdSeconds)
          settings.push_back({cut, batchBytes, holdSeconds});
  }
  return settings;
}

TraceTuning tuneTrace(Transport& transport, const std::vector<TraceSetting>& settings,
                      Span<const Seed> seeds, const TraceOptions& options, double budget) {
  together(transport, [&] {
    if (settings.empty()) throw Error("tuning of the tracer: there is no setting to choose from");
    for (const TraceSetting& setting : settings)
      if (!setting.domain) throw Error("tuning of the tracer: a setting has no domain");
  });
  const auto offered = static_cast<std::int64_t>(settings.size());
  if (allreduce(transport, ReduceOp::Min, offered) != allreduce(transport, ReduceOp::Max, offered))
    throw Error("tuning of the tracer: ranks were given different numbers of settings");
  const auto count = allreduce(transport, ReduceOp::Sum, static_cast<std::int64_t>(seeds.size()));
  RaceOptions raceOptions;
  raceOptions.budget = budget;
  raceOptions.smallestShare =
      std::min(1.0, static_cast<double>(kFewestSeeds) /
                        static_cast<double>(std::max<std::int64_t>(1, count)));
  // A rank alone sends nothing.
  SettingsRace race(transport.size() > 1 ? settings.size() : 1, raceOptions);
  TraceOptions trial = options;
  if (options.monitor) trial.monitor = [&](double) { return options.monitor(0); };
  TraceTuning tuning;
  while (const auto next = race.next()) {
    const TraceSetting& setting = settings[next->candidate];
    trial.exchange.batchBytes = setting.batchBytes;
    trial.exchange.holdSeconds = setting.holdSeconds;
    const std::vector<Seed> part = partOf(seeds, next->share);
    barrier(transport);
    const double begin = transport.now();
    const TraceResult traced = trace(transport, *setting.domain, part, trial);
    const double slowest = allreduce(transport, ReduceOp::Max, transport.now() - begin);
    tuning.aborted = traced.aborted;
    if (tuning.aborted) break;
    // Even if the clock is too coarse to tell.
    race.report(std::max(slowest, 1e-9));
  }
  tuning.best = race.best();
  tuning.expected = race.forecast();
  tuning.seconds = race.spentSeconds();
  tuning.trials = race.trials();
  return tuning;
}

}  // namespace tributary
