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

/// Settings that change how long trace() takes, and nothing else.
struct TraceSetting {
  const Domain* domain = nullptr;  ///< The field, cut into some number of blocks.
  ExchangeSetting exchange;
};

/// The settings to choose from: for each of some cuts of one field, exchangeSettings(). The
/// defaults of ExchangeOptions with the first cut come first.
std::vector<TraceSetting> traceSettings(Span<const Domain* const> cuts);

struct TraceTuning {
  std::size_t best = 0;                  ///< Index of the setting; 0: the default.
  std::optional<TimeForecast> expected;  ///< Of trace() of all seeds; none if nothing was tried.
  double seconds = 0;                    ///< That trials took.
  std::size_t trials = 0;
  bool aborted = false;
};

/// Finds out which setting traces all seeds fastest. Collective, the same result on all ranks; the
/// lines of trials are thrown away. First all of the work is done with the default, which tells how
/// long it takes and how many steps lines have; then settings race (SettingsTrial) over the first
/// steps of all lines, or, where these are short, of a part of them, and the winner, as lines may
/// gather elsewhere later, over all of the work. With fewer than 100 seeds nothing is tried, and
/// the default stays; so it does on one rank, which sends nothing.
/// @param settings  the same number on all ranks, in the same order; at least one
/// @param options   batchBytes and holdTime are not read; the monitor is called with 0
/// @param budget    what all of this may cost, as a share of one run with each setting; the same on
///                  all ranks. With less than three runs nothing is tried: the settings of one
///                  cut need more than a third.
/// Throws what trace() throws, on all ranks.
TraceTuning tuneTrace(Transport& transport, const std::vector<TraceSetting>& settings,
                      Span<const Seed> seeds, const TraceOptions& options, double budget = 0.3);

}  // namespace tributary
