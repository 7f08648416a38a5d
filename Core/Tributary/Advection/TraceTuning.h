// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "Tributary/Advection/Domain.h"
#include "Tributary/Advection/Tracer.h"
#include "Tributary/Base/Span.h"
#include "Tributary/Exchange/ExchangeSetting.h"
#include "Tributary/Tuning/SettingsTrial.h"

namespace tributary {

/// Settings that change the duration of trace(), but not its result.
struct TraceSetting {
  const Domain* domain = nullptr;  ///< The field, cut into some number of blocks.
  ExchangeSetting exchange;
};

/// The candidates for tuning: exchangeSettings() for each of several cuts of one field into blocks.
/// The first setting is the default of ExchangeOptions with the first cut. Local.
[[nodiscard]] std::vector<TraceSetting> traceSettings(Span<const Domain* const> cuts);

/// The result of tuneTrace(), the same on all ranks.
struct TraceTuning {
  std::size_t best = 0;                  ///< Index of the setting; 0: the default.
  std::optional<TimeForecast> expected;  ///< Of trace() of all seeds; none without trials.
  double seconds = 0;                    ///< Duration of all trials.
  std::size_t trials = 0;
  bool aborted = false;
};

/// Finds the setting with which trace() of all seeds is fastest. Collective; the lines of trials
/// are discarded.
///
/// First, the complete work runs with the default, which gives its duration and the number of steps
/// of the lines. Then settings are compared by successive halving (SettingsTrial) on the first
/// steps of all lines, or of a part of the lines if these are short. The winner is run on the
/// complete work, because lines may accumulate in other blocks later. With fewer than 100 seeds,
/// and on one rank, which sends no messages, there are no trials, and the default is kept.
///
/// Throws the errors of trace() on all ranks.
/// @param settings  at least one; the same number on all ranks, in the same order
/// @param options  its batch size and hold time are not used; its monitor is called with 0
/// @param budget  the cost of all trials, as a share of one run with each setting; the same on all
///                ranks. There are no trials with a budget of less than three runs: the
///                settings of one cut need more than a third. Default: 0.3.
/// @return the best setting, the same on all ranks
[[nodiscard]] TraceTuning tuneTrace(Transport& transport, const std::vector<TraceSetting>& settings,
                                    Span<const Seed> seeds, const TraceOptions& options,
                                    double budget = 0.3);

}  // namespace tributary
