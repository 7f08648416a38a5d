// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Model/KernelDensity.h"

#include <algorithm>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

#include "Tributary/Base/Error.h"
#include "Tributary/Base/Hash.h"
#include "Tributary/Base/Median.h"
#include "Tributary/Base/NumberText.h"

namespace tributary {

namespace {

// In bandwidths. Further away a kernel is below 1e-14 of its peak.
constexpr double Reach = 8;

/// For samples of a normal distribution the bandwidth of the least mean squared error; the median
/// keeps it from what a few late ones would do to a standard deviation.
double ruleOfThumb(const std::vector<double>& sorted) {
  const double middle = median(sorted);
  std::vector<double> distances;
  for (const double sample : sorted) distances.push_back(std::abs(sample - middle));
  double deviation = median(distances) / 0.6745;
  if (deviation == 0) {  // more than half are equal
    double mean = 0;
    for (const double distance : distances) mean += distance;
    deviation = mean / static_cast<double>(sorted.size());
  }
  // All are equal: as good as that number itself.
  if (deviation == 0) deviation = middle != 0 ? 1e-6 * std::abs(middle) : 1e-6;
  return 1.06 * deviation / std::pow(static_cast<double>(sorted.size()), 0.2);
}

}  // namespace

KernelDensity::KernelDensity(std::vector<double> samples, double least, double bandwidth)
    : samples_(std::move(samples)), least_(least), bandwidth_(bandwidth) {
  if (samples_.empty()) throw Error("a kernel density has no samples; give at least one");
  for (const double sample : samples_)
    if (!std::isfinite(sample) || sample < least)
      throw Error("samples of a kernel density must be finite and at least " + numberText(least) +
                  ", not " + numberText(sample));
  if (!(bandwidth >= 0))
    throw Error("the bandwidth of a kernel density is " + numberText(bandwidth) +
                "; give a positive one, or 0 for a rule of thumb");
  std::sort(samples_.begin(), samples_.end());
  if (bandwidth_ == 0) bandwidth_ = ruleOfThumb(samples_);
}

double KernelDensity::unreflectedDensity(double x) const {
  const auto from = std::lower_bound(samples_.begin(), samples_.end(), x - Reach * bandwidth_);
  double sum = 0;
  for (auto at = from; at != samples_.end() && *at <= x + Reach * bandwidth_; ++at) {
    const double z = (x - *at) / bandwidth_;
    sum += std::exp(-0.5 * z * z);
  }
  const double peak = 1 / (bandwidth_ * std::sqrt(2 * std::acos(-1.0)));
  return sum * peak / static_cast<double>(samples_.size());
}

double KernelDensity::unreflectedCumulative(double x) const {
  const auto from = std::lower_bound(samples_.begin(), samples_.end(), x - Reach * bandwidth_);
  auto sum = static_cast<double>(from - samples_.begin());
  for (auto at = from; at != samples_.end() && *at <= x + Reach * bandwidth_; ++at)
    sum += 0.5 * std::erfc((*at - x) / (bandwidth_ * std::sqrt(2.0)));
  return sum / static_cast<double>(samples_.size());
}

double KernelDensity::density(double x) const {
  if (x < least_) return 0;
  return unreflectedDensity(x) + unreflectedDensity(2 * least_ - x);
}

double KernelDensity::cumulative(double x) const {
  if (x <= least_) return 0;
  return unreflectedCumulative(x) - unreflectedCumulative(2 * least_ - x);
}

double KernelDensity::quantile(double p) const {
  if (!(p > 0 && p < 1))
    throw Error("the probability of a quantile is " + numberText(p) + "; give one in (0, 1)");
  double low = std::max(least_, samples_.front() - 2 * Reach * bandwidth_);
  double high = samples_.back() + 2 * Reach * bandwidth_;
  // The cumulative distribution rises everywhere in between, so halving cannot miss.
  while (high - low > 1e-9 * std::max(std::abs(low), std::abs(high)) &&
         high - low > 1e-9 * bandwidth_) {
    const double middle = 0.5 * (low + high);
    (cumulative(middle) < p ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

double KernelDensity::mean() const {
  // Of normal distributions that are folded at `least_`.
  double sum = 0;
  for (const double sample : samples_) {
    if (sample - least_ > Reach * bandwidth_) {
      sum += sample;
      continue;
    }
    const double z = (sample - least_) / bandwidth_;
    const double folded = bandwidth_ * std::sqrt(2 / std::acos(-1.0)) * std::exp(-0.5 * z * z) +
                          (sample - least_) * std::erf(z / std::sqrt(2.0));
    sum += least_ + folded;
  }
  return sum / static_cast<double>(samples_.size());
}

double KernelDensity::deviation() const {
  // Folding at a place keeps the mean square distance from there.
  const double center = std::isfinite(least_) ? least_ : samples_.front();
  double squares = 0;
  for (const double sample : samples_)
    squares += (sample - center) * (sample - center) + bandwidth_ * bandwidth_;
  const double distance = mean() - center;
  return std::sqrt(
      std::max(0.0, squares / static_cast<double>(samples_.size()) - distance * distance));
}

double KernelDensity::draw(std::uint64_t& random) const {
  const auto unit = [&] { return (static_cast<double>(nextRandom(random) >> 11) + 0.5) * 0x1p-53; };
  const auto index = static_cast<std::size_t>(unit() * static_cast<double>(samples_.size()));
  const double z = -std::sqrt(2.0) * boost::math::erfc_inv(2 * unit());
  const double x = samples_[std::min(index, samples_.size() - 1)] + bandwidth_ * z;
  return x >= least_ ? x : 2 * least_ - x;
}

}  // namespace tributary
