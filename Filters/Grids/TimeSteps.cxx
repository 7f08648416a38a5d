// SPDX-License-Identifier: BSD-3-Clause
#include "Grids/TimeSteps.h"

#include <algorithm>
#include <cmath>

namespace tributary {
namespace {

/// Times that differ by less than this share of a step are the same.
constexpr double SameTime = 1e-6;
/// A power of ten that is exact, as are the integers up to it.
constexpr double MostScale = 1e15;

/// The times `begin` + n `step`. Those of decimal fractions are the numbers closest to the decimal
/// ones: three steps of 0.1 end at 0.3 and not at 0.30000000000000004, so that they are the times
/// that other data have.
class RegularTimes {
 public:
  RegularTimes(double begin, double step) : begin_(begin), step_(step) {
    for (double scale = 1; scale <= MostScale; scale *= 10) {
      const double scaledBegin = std::round(begin * scale), scaledStep = std::round(step * scale);
      if (scaledBegin / scale != begin || scaledStep / scale != step) continue;
      begin_ = scaledBegin;
      step_ = scaledStep;
      scale_ = scale;
      break;
    }
  }
  double operator[](std::int64_t n) const {
    const double scaled = begin_ + static_cast<double>(n) * step_;
    return scaled / scale_;
  }

 private:
  double begin_, step_, scale_ = 1;
};

}  // namespace

std::vector<double> timesOf(const TimeStepping& stepping) {
  const auto [begin, step, count, end] = stepping;
  if (!(step > 0) || !std::isfinite(step) || !std::isfinite(begin) || count < 1 ||
      static_cast<double>(count) > MostSteps ||
      (end && !(*end > begin && (*end - begin) / step <= MostSteps)))
    return {};
  const RegularTimes regularTimes(begin, step);
  std::vector<double> times{begin};
  for (std::int64_t n = 1; end || n <= count; ++n) {
    const double regular = regularTimes[n];
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
