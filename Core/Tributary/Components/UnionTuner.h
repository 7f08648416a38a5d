// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "Tributary/Components/DistributedUnion.h"
#include "Tributary/Exchange/ExchangeSetting.h"
#include "Tributary/Tuning/SettingsTrial.h"

namespace tributary {

/// The choice of a UnionTuner, its cost and its benefit.
struct UnionTuning {
  ExchangeSetting setting;
  std::size_t trials = 0;                ///< 0 if an earlier choice was used again.
  double seconds = 0;                    ///< Duration of the trials, in seconds.
  std::optional<TimeForecast> expected;  ///< Of a union; none if there were no trials.
  std::optional<double> actualSeconds;   ///< Duration of the union; none if there was no union.
};

/// Unites sets repeatedly with the fastest batch size and hold time.
///
/// The first union determines them by trials: exchangeSettings() are compared by successive halving
/// (SettingsTrial). Each trial is a complete union; there are about fifty, regardless of their
/// duration. Later unions reuse the choice while the number of ranks, the method, the schedule, its
/// arrivals and the detector are unchanged and the number of blocks changes by at most a
/// factor of two. If no rank sends a message, there are no trials, and the default is kept.
///
/// To use the tuner, set UnionOptions::tuner on all ranks or on none. The tuner does not change the
/// roots.
class UnionTuner {
 public:
  /// As uniteSets(), except that options.exchange.batchBytes, options.exchange.holdTime and
  /// options.tuner are not used. Collective; all ranks must have made the same calls before. After
  /// an error or an abort in a trial, the tuner has no choice.
  [[nodiscard]] UnionResult unite(Transport& transport, const Assignment& assignment,
                                  const std::vector<std::int64_t>& setsOfBlock,
                                  const std::vector<std::vector<SetLink>>& links,
                                  const UnionOptions& options);

  /// Returns the choice, the trials of all unions since the last call, and the duration of the
  /// first of these unions that was not aborted. Local; the same on all ranks.
  [[nodiscard]] UnionTuning takeTuning();

 private:
  /// The properties of a union on which the choice depends.
  struct Work {
    int ranks = 0;
    std::int64_t blocks = 0;
    UnionMethod method = UnionMethod::TreeUnion;
    Schedule schedule = Schedule::Asynchronous;
    double arrivals = 0;
    std::string detector;

    bool isLike(const Work& other) const;
  };
  struct Choice {
    Work work;
    ExchangeSetting setting;
    TimeForecast expected;
  };

  std::optional<Choice> choice_;
  std::size_t trials_ = 0;  // these and the following: since the last takeTuning()
  double trialSeconds_ = 0;
  std::optional<double> actualSeconds_;
};

}  // namespace tributary
