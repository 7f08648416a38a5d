// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace tributary {

/// Limit of the number of steps, whose times are all announced to the pipeline.
constexpr double MostSteps = 1e6;
/// So that the inverse of a part of a step is finite.
constexpr double LeastStep = 1e-300;

/// The steps of an equation in time.
struct TimeStepping {
  double begin = 0;           ///< the initial time
  double step = 0;            ///< the length of a step; the last one may be shorter
  std::int64_t count = 0;     ///< the number of steps, if there is no `end`
  std::optional<double> end;  ///< the end of the last step
};

/// Local. The initial time and the ends of all steps; none if a value is invalid, or if a step is
/// lost in the rounding of times.
[[nodiscard]] std::vector<double> timesOf(const TimeStepping& stepping);

/// Local. The index of the last of `times` that is not after a requested time; 0 if none is. Times
/// that differ by much less than a step are the same.
[[nodiscard]] std::int64_t stepAt(const std::vector<double>& times, double step, double requested);

}  // namespace tributary
