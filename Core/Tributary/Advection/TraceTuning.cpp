// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Advection/TraceTuning.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"

namespace tributary {

namespace {

/// With fewer seeds, or fewer steps of a line, starting up takes most of the time.
constexpr std::int64_t FewestSeeds = 100;
constexpr std::int64_t FewestSteps = 16;
/// Number of complete runs besides the trials of parts: one with the default before them, and after
/// them one with the winner and one with the default.
constexpr double WholeRuns = 3;

/// The work of a trial: the first steps of some of the lines.
struct Part {
  std::int64_t steps = 0;
  double seeds = 1;  // as a share of all
};

/// The seeds of this rank whose ids are in the part. Multiples of the golden ratio are distributed
/// evenly in [0, 1), independent of the arrangement of the seeds; a larger part contains a smaller
/// one.
std::vector<Seed> seedsIn(const Part& part, Span<const Seed> seeds) {
  if (part.seeds >= 1) return {seeds.begin(), seeds.end()};
  const auto limit = static_cast<std::uint64_t>(part.seeds * 0x1p64);
  std::vector<Seed> some;
  for (const Seed& seed : seeds)
    if (static_cast<std::uint64_t>(seed.id) * 0x9e3779b97f4a7c15ull < limit) some.push_back(seed);
  return some;
}

/// The distribution of the work over the steps of lines. All member functions are collective.
class Work {
 public:
  Work(Transport& transport, const std::vector<LineEnd>& ends) : transport_(transport) {
    collectively(transport, [&] {
      for (const LineEnd& end : ends) points_.push_back(end.points);
      std::sort(points_.begin(), points_.end());
      sums_.push_back(0);
      for (const std::int64_t points : points_) sums_.push_back(sums_.back() + points);
    });
    all_ = allreduce(transport, ReduceOp::Sum, sums_.back());
    const std::int64_t most = points_.empty() ? 0 : points_.back();
    longest_ = allreduce(transport, ReduceOp::Max, most);
  }

  bool empty() const { return all_ == 0; }

  /// The share of the first steps of all lines in all steps.
  double shareOf(std::int64_t steps) const {
    const std::int64_t points = steps + 1;
    const auto longer = std::upper_bound(points_.begin(), points_.end(), points);
    const std::int64_t mine = sums_[static_cast<std::size_t>(longer - points_.begin())] +
                              points * (points_.end() - longer);
    return static_cast<double>(allreduce(transport_, ReduceOp::Sum, mine)) /
           static_cast<double>(all_);
  }

  /// The part with a share of the work: the first steps of all lines, so lines meet as in the
  /// complete work; of fewer lines only if too few steps of each would remain.
  Part part(double share) const {
    std::int64_t low = FewestSteps, high = std::max(longest_, FewestSteps);
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (shareOf(middle) < share)
        low = middle + 1;
      else
        high = middle;
    }
    return {low, std::min(1.0, share / shareOf(low))};
  }

 private:
  Transport& transport_;
  std::vector<std::int64_t> points_;  // of lines that ended on this rank, sorted
  std::vector<std::int64_t> sums_;    // of the first ones of these
  std::int64_t all_ = 0;
  std::int64_t longest_ = 0;
};

/// Runs of trace() that are timed. All member functions are collective.
class TimedTrace {
 public:
  TimedTrace(Transport& transport, Span<const Seed> seeds, const TraceOptions& options,
             TraceTuning& tuning)
      : transport_(transport), seeds_(seeds), options_(options), trial_(options), tuning_(tuning) {
    if (options.monitor) trial_.monitor = [this](double) { return options_.monitor(0); };
  }

  /// @return the seconds of the slowest rank, the same on all ranks
  double run(const TraceSetting& setting, const Part& part) {
    trial_.rules.maximumSteps = std::min(options_.rules.maximumSteps, part.steps);
    setting.exchange.applyTo(trial_.exchange);
    std::vector<Seed> some;
    collectively(transport_, [&] { some = seedsIn(part, seeds_); });
    barrier(transport_);
    const double begin = transport_.now();
    TraceResult traced = trace(transport_, *setting.domain, some, trial_);
    const double slowest = allreduce(transport_, ReduceOp::Max, transport_.now() - begin);
    ends_ = std::move(traced.ends);
    tuning_.aborted = traced.aborted;
    // Positive even if the clock is too coarse.
    const double seconds = std::max(slowest, 1e-9);
    tuning_.seconds += seconds;
    ++tuning_.trials;
    return seconds;
  }

  /// Of the last run.
  const std::vector<LineEnd>& ends() const { return ends_; }

 private:
  Transport& transport_;
  Span<const Seed> seeds_;
  const TraceOptions& options_;
  TraceOptions trial_;
  TraceTuning& tuning_;
  std::vector<LineEnd> ends_;
};

/// Collective. Throws Error on all ranks if the settings cannot be compared.
void check(Transport& transport, const std::vector<TraceSetting>& settings) {
  collectively(transport, [&] {
    if (settings.empty())
      throw Error("tuning of the tracer: there are no settings; give at least one");
    for (const TraceSetting& setting : settings)
      if (!setting.domain)
        throw Error("tuning of the tracer: a setting has no domain; set TraceSetting::domain");
  });
  if (!sameOnAllRanks(transport, {static_cast<std::int64_t>(settings.size())}))
    throw Error(
        "tuning of the tracer: ranks were given different numbers of settings; give the same "
        "number on all ranks");
}

}  // namespace

std::vector<TraceSetting> traceSettings(Span<const Domain* const> cuts) {
  std::vector<TraceSetting> settings;
  for (const Domain* cut : cuts)
    for (const ExchangeSetting& setting : exchangeSettings()) settings.push_back({cut, setting});
  return settings;
}

TraceTuning tuneTrace(Transport& transport, const std::vector<TraceSetting>& settings,
                      Span<const Seed> seeds, const TraceOptions& options, double budget) {
  check(transport, settings);
  const auto count = allreduce(transport, ReduceOp::Sum, static_cast<std::int64_t>(seeds.size()));
  const auto candidates = static_cast<double>(settings.size());
  TraceTuning tuning;
  // A rank alone sends nothing.
  if (transport.size() == 1 || settings.size() == 1 || count < FewestSeeds ||
      !(budget * candidates > WholeRuns))
    return tuning;
  TimedTrace timed(transport, seeds, options, tuning);
  // The complete work after a warm-up: its duration, and the numbers of steps of lines.
  timed.run(settings[0], {FewestSteps, 1});
  if (tuning.aborted) return tuning;
  TrialOptions trialOptions;
  trialOptions.budget = budget - WholeRuns / candidates;
  trialOptions.defaultSeconds = timed.run(settings[0], {options.rules.maximumSteps, 1});
  if (tuning.aborted) return tuning;
  const Work work(transport, timed.ends());
  if (work.empty()) return tuning;
  trialOptions.smallestShare =
      work.shareOf(FewestSteps) *
      std::min(1.0, static_cast<double>(FewestSeeds) / static_cast<double>(count));
  SettingsTrial trial(settings.size(), trialOptions);
  while (const auto next = trial.next()) {
    const double seconds = timed.run(settings[next->candidate], work.part(next->share));
    if (tuning.aborted) return tuning;
    trial.report(seconds);
  }
  tuning.best = trial.best();
  tuning.expected = trial.forecast();
  return tuning;
}

}  // namespace tributary
