// SPDX-License-Identifier: BSD-3-Clause
#include "Grids/TimeSteps.h"

#include <algorithm>
#include <cmath>

namespace tributary {
namespace {

/// Times that differ by less than this share of a step are the same.
constexpr double SameTime = 1e-6;

}  // namespace

std::vector<double> timesOf(const TimeStepping& stepping) {
  const auto [begin, step, count, end] = stepping;
  if (!(step > 0) || !std::isfinite(step) || !std::isfinite(begin) || count < 1 ||
      static_cast<double>(count) > MostSteps ||
      (end && !(*end > begin && (*end - begin) / step <= MostSteps)))
    return {};
  std::vector<double> times{begin};
  for (std::int64_t n = 1; end || n <= count; ++n) {
    const double regular = begin + static_cast<double>(n) * step;
    const bool isLast = end && regular >= *end - SameTime * step;
    const double next = isLast ? *end : regular;
    if (!(next > times.back())) return {};
    times.push_back(next);
    if (isLast) break;
  }
  return times;
}

std::int64_t stepAt(const std::vector<double>& times, double step, double requested) {
  const auto after = std::upper_bound(times.begin(), times.end(), requested + SameTime * step);
  return std::max<std::int64_t>(after - times.begin() - 1, 0);
}

}  // namespace tributary
