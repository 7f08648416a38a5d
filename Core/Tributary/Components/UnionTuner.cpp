// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Components/UnionTuner.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "Tributary/Collective/Collectives.h"

namespace tributary {

namespace {

/// Does not limit the trials, which end earlier.
constexpr double Sweeps = 10;

}  // namespace

bool UnionTuner::Work::isLike(const Work& other) const {
  const auto same = [](const Work& w) {
    return std::tie(w.ranks, w.method, w.schedule, w.arrivals, w.detector);
  };
  // Blocks without data may come and go from step to step.
  const auto [fewer, more] = std::minmax(blocks, other.blocks);
  return same(*this) == same(other) && more <= 2 * fewer;
}

UnionResult UnionTuner::unite(Transport& transport, const Assignment& assignment,
                              const std::vector<std::int64_t>& setsOfBlock,
                              const std::vector<std::vector<SetLink>>& links,
                              const UnionOptions& options) {
  UnionOptions own = options;
  own.tuner = nullptr;
  double seconds = 0;
  const auto run = [&](const ExchangeSetting& setting) {
    setting.applyTo(own.exchange);
    UnionResult result = uniteSets(transport, assignment, setsOfBlock, links, own);
    // Of the rank that came last, as the others waited for it. Even if the clock is too coarse.
    seconds = std::max(allreduce(transport, ReduceOp::Min, result.statistics.totalSeconds), 1e-9);
    return result;
  };
  const auto runToKeep = [&](const ExchangeSetting& setting) {
    UnionResult result = run(setting);
    if (!actualSeconds_ && !result.aborted) actualSeconds_ = seconds;
    return result;
  };
  const auto runTrial = [&](const ExchangeSetting& setting) {
    UnionResult result = run(setting);
    ++trials_;
    trialSeconds_ += seconds;
    return result;
  };

  Work work{transport.size(),          assignment.total(),        options.method,
            options.exchange.schedule, options.exchange.arrivals, options.exchange.detector};
  const bool isKnown = choice_ && choice_->work.isLike(work);
  // Not alike on all ranks: arrivals.
  if (allreduce(transport, ReduceOp::Or, std::int64_t(!isKnown)) == 0)
    return runToKeep(choice_->setting);
  choice_.reset();
  const auto settings = exchangeSettings();
  UnionResult result = runToKeep(settings[0]);
  if (result.aborted || allreduce(transport, ReduceOp::Sum, result.statistics.messages) == 0)
    return result;
  TrialOptions trialOptions;
  trialOptions.budget = Sweeps;
  trialOptions.smallestShare = 1;
  SettingsTrial trial(settings.size(), trialOptions);
  while (const auto next = trial.next()) {
    result = runTrial(settings[next->candidate]);
    if (result.aborted) return result;
    trial.report(seconds);
  }
  choice_ = Choice{std::move(work), settings[trial.best()], *trial.forecast()};
  actualSeconds_.reset();
  return runToKeep(choice_->setting);
}

UnionTuning UnionTuner::takeTuning() {
  UnionTuning tuning;
  tuning.trials = std::exchange(trials_, 0);
  tuning.seconds = std::exchange(trialSeconds_, 0);
  tuning.actualSeconds = std::exchange(actualSeconds_, std::nullopt);
  if (choice_) {
    tuning.setting = choice_->setting;
    tuning.expected = choice_->expected;
  }
  return tuning;
}

}  // namespace tributary
