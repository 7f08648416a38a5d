// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "Support/DiyRuns.h"
#include "Support/InterleavedComparison.h"
#include "Tributary/Exchange/Exchange.h"

namespace bench {

/// The parameters of a comparison of all schedules, and DIY's two exchanges, on the same work.
struct ExchangeComparisonOptions {
  int repeat = 5;
  std::vector<std::string> variants;    ///< names; all if empty
  tributary::ExchangeOptions exchange;  ///< the schedule is not used
  DiyOptions diy;
  std::string json;
};

/// Adds the parameters to the settings of a report.
void addSettings(Row& settings, const ExchangeComparisonOptions& options);

/// Adds a variant for each schedule.
/// @param run  run(const ExchangeOptions&, ExchangeStatistics&): does the work and returns the
///             seconds of this rank
template <class Run>
void addSchedules(InterleavedComparison& comparison, const tributary::ExchangeOptions& options,
                  Run run) {
  using tributary::Schedule;
  for (const auto& [name, schedule] : {std::pair("Synchronous", Schedule::Synchronous),
                                       std::pair("Neighborhood", Schedule::Neighborhood),
                                       std::pair("Asynchronous", Schedule::Asynchronous)}) {
    tributary::ExchangeOptions mine = options;
    mine.schedule = schedule;
    comparison.add({name, [mine, run](tributary::ExchangeStatistics& statistics) {
                      return run(mine, statistics);
                    }});
  }
}

#ifdef TRIBUTARY_BENCH_WITH_DIY
/// Adds a variant for each of DIY's exchanges. All arguments must outlive the comparison.
template <class Work>
void addDiy(InterleavedComparison& comparison, const Work& work,
            const tributary::Assignment& assignment, std::vector<typename Work::Block>& blocks,
            const DiyOptions& options) {
  comparison.add(
      {"DIY exchange",
       [&](tributary::ExchangeStatistics&) { return runDiyExchange(work, assignment, blocks); },
       false});
  comparison.add({"DIY iexchange",
                  [&](tributary::ExchangeStatistics&) {
                    return runDiyIexchange(work, assignment, blocks, options);
                  },
                  false});
}
#endif

}  // namespace bench
