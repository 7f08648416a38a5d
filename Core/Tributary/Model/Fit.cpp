// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Model/Fit.h"

#include <algorithm>
#include <array>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <boost/math/tools/minima.hpp>
#include <boost/math/tools/roots.hpp>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>

#include "Tributary/Base/Error.h"
#include "Tributary/Base/NumberText.h"

namespace tributary {

namespace {

double meanOf(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double deviationOf(const std::vector<double>& values, double mean) {
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return std::sqrt(sum / static_cast<double>(values.size()));
}

std::vector<double> logarithms(const std::vector<double>& samples) {
  std::vector<double> logs;
  for (const double sample : samples) logs.push_back(std::log(sample));
  return logs;
}

/// Where a function that rises is 0.
/// @param guess  positive, as is the root
template <class Function>
double rootOf(Function&& function, double guess) {
  std::uintmax_t steps = 200;
  const auto bracket = boost::math::tools::bracket_and_solve_root(
      function, guess, 2.0, true, boost::math::tools::eps_tolerance<double>(44), steps);
  return 0.5 * (bracket.first + bracket.second);
}

std::vector<double> fitNormal(const std::vector<double>& values) {
  const double mean = meanOf(values);
  return {mean, deviationOf(values, mean)};
}

std::vector<double> fitWeibull(const std::vector<double>& samples) {
  std::vector<double> logs = logarithms(samples);
  const double center = meanOf(logs);
  for (double& log : logs) log -= center;  // so that no power overflows, and their mean is 0
  // The derivative of the likelihood by the shape, which rises with it.
  const auto slope = [&](double shape) {
    const double largest = shape * *std::max_element(logs.begin(), logs.end());
    double powers = 0, weighted = 0;
    for (const double log : logs) {
      const double power = std::exp(shape * log - largest);
      powers += power;
      weighted += power * log;
    }
    return weighted / powers - 1 / shape;
  };
  const double shape = rootOf(slope, 1.28 / deviationOf(logs, 0));
  double powers = 0;
  for (const double log : logs) powers += std::exp(shape * log);
  return {std::exp(center) * std::pow(powers / static_cast<double>(logs.size()), 1 / shape), shape};
}

std::vector<double> fitGamma(const std::vector<double>& samples) {
  const double mean = meanOf(samples);
  const double gap = std::log(mean) - meanOf(logarithms(samples));
  if (!(gap > 0))
    throw Error(
        "a gamma distribution cannot be fitted to samples that are nearly equal; use another "
        "family");
  const double shape =
      rootOf([&](double k) { return gap - std::log(k) + boost::math::digamma(k); }, 0.5 / gap);
  return {shape, mean / shape};
}

std::vector<double> fitLoglogistic(const std::vector<double>& samples) {
  const std::vector<double> logs = logarithms(samples);
  const auto [least, largest] = std::minmax_element(logs.begin(), logs.end());
  const double low = *least, high = *largest;
  const double deviation = deviationOf(logs, meanOf(logs));
  // For a given scale the likeliest mean is where the sum of hyperbolic tangents is 0, which falls
  // with it; among scales the likelihood has one maximum.
  const auto meanFor = [&](double scale) {
    double below = low, above = high;
    for (int i = 0; i < 60; ++i) {
      const double middle = 0.5 * (below + above);
      double sum = 0;
      for (const double log : logs) sum += std::tanh((log - middle) / (2 * scale));
      (sum > 0 ? below : above) = middle;
    }
    return 0.5 * (below + above);
  };
  const auto unlikelihood = [&](double logScale) {
    const double scale = std::exp(logScale);
    const double mean = meanFor(scale);
    double sum = static_cast<double>(logs.size()) * logScale;
    for (const double log : logs) {
      const double z = std::abs(log - mean) / scale;
      sum += z + 2 * std::log1p(std::exp(-z));
    }
    return sum;
  };
  const double guess = std::log(deviation * std::sqrt(3.0) / std::acos(-1.0));
  std::uintmax_t steps = 60;
  const double best =
      boost::math::tools::brent_find_minima(unlikelihood, guess - 4, guess + 2, 26, steps).first;
  return {meanFor(std::exp(best)), std::exp(best)};
}

std::vector<double> fitGeneralizedExtremeValue(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  const auto n = static_cast<double>(samples.size());
  std::array<double, 3> weighted{};  // probability weighted moments, unbiased
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const auto rank = static_cast<double>(i);
    weighted[0] += samples[i] / n;
    weighted[1] += samples[i] * rank / (n - 1) / n;
    weighted[2] += samples[i] * rank * (rank - 1) / ((n - 1) * (n - 2)) / n;
  }
  const double first = weighted[0];
  const double second = 2 * weighted[1] - weighted[0];
  const double skewness = (6 * weighted[2] - 6 * weighted[1] + weighted[0]) / second;
  // Hosking's shape is the other sign of ours: 2 (1 - 3^-k) / (1 - 2^-k) - 3 is the L-skewness,
  // which falls with k.
  const auto skewnessOf = [](double k) {
    const double log2 = std::log(2.0), log3 = std::log(3.0);
    const double ratio =
        std::abs(k) < 1e-9 ? log3 / log2 : std::expm1(-k * log3) / std::expm1(-k * log2);
    return 2 * ratio - 3;
  };
  double low = -0.999, high = 50;
  if (skewness >= skewnessOf(low) || skewness <= skewnessOf(high))
    throw Error(
        "no generalized extreme value distribution is as skewed as the samples; use another "
        "family");
  for (int i = 0; i < 80; ++i) {
    const double middle = 0.5 * (low + high);
    (skewnessOf(middle) > skewness ? low : high) = middle;
  }
  const double k = 0.5 * (low + high);
  if (std::abs(k) < 1e-7) {
    const double scale = second / std::log(2.0);
    return {first - 0.57721566490153286 * scale, scale, 0};
  }
  const double scale = -second * k / (std::expm1(-k * std::log(2.0)) * std::tgamma(1 + k));
  return {first + scale * boost::math::tgamma1pm1(k) / k, scale, -k};
}

}  // namespace

ParametricDistribution fit(Family family, const std::vector<double>& samples) {
  const std::string failure = "a " + nameOf(family) + " distribution cannot be fitted to ";
  if (samples.size() < 3)
    throw Error(failure + std::to_string(samples.size()) + " samples; give at least 3");
  const bool isSigned = family == Family::Normal || family == Family::GeneralizedExtremeValue;
  for (const double sample : samples)
    if (!std::isfinite(sample) || !(isSigned || sample > 0))
      throw Error(failure + "a sample of " + numberText(sample) +
                  (isSigned ? "; give finite samples" : "; give positive, finite samples"));
  const auto [least, largest] = std::minmax_element(samples.begin(), samples.end());
  if (*least == *largest)
    throw Error(failure + "samples that are all equal; give samples that differ");
  switch (family) {
    case Family::Normal:
      return {family, fitNormal(samples)};
    case Family::Lognormal:
      return {family, fitNormal(logarithms(samples))};
    case Family::Weibull:
      return {family, fitWeibull(samples)};
    case Family::Gamma:
      return {family, fitGamma(samples)};
    case Family::Loglogistic:
      return {family, fitLoglogistic(samples)};
    case Family::GeneralizedExtremeValue:
      return {family, fitGeneralizedExtremeValue(samples)};
  }
  throw Error("unknown family of distributions; use a value of Family");
}

ParametricDistribution interpolate(const ParametricDistribution& first, double atFirst,
                                   const ParametricDistribution& second, double atSecond,
                                   double at) {
  if (first.family() != second.family())
    throw Error("a " + nameOf(first.family()) + " and a " + nameOf(second.family()) +
                " distribution cannot be interpolated; give two of the same family");
  if (atFirst == atSecond)
    throw Error("distributions at the same position cannot be interpolated; give two positions");
  const double part = (at - atFirst) / (atSecond - atFirst);
  std::vector<double> parameters;
  for (std::size_t i = 0; i < first.parameters().size(); ++i)
    parameters.push_back((1 - part) * first.parameters()[i] + part * second.parameters()[i]);
  return {first.family(), std::move(parameters)};
}

ChiSquare chiSquare(const std::vector<double>& samples, const Distribution& distribution,
                    std::size_t parameters, std::size_t bins) {
  if (samples.empty() || bins < 2)
    throw Error("a chi-square test needs samples and at least two bins; give both");
  const auto [least, largest] = std::minmax_element(samples.begin(), samples.end());
  const double low = *least, high = *largest;
  if (low == high)
    throw Error("a chi-square test needs samples that are not all equal; give samples that differ");
  const double width = (high - low) / static_cast<double>(bins);
  std::vector<double> found(bins, 0), expected(bins, 0);
  for (const double sample : samples) {
    const auto bin = static_cast<std::size_t>((sample - low) / width);
    ++found[std::min(bin, bins - 1)];
  }
  double below = 0;
  for (std::size_t bin = 0; bin < bins; ++bin) {
    const double upTo =
        bin + 1 == bins ? 1 : distribution.cumulative(low + static_cast<double>(bin + 1) * width);
    expected[bin] = (upTo - below) * static_cast<double>(samples.size());
    below = upTo;
  }
  constexpr double Enough = 5;
  // From both ends inward, as it is there that little is expected; then what is left between.
  const auto merge = [&](std::size_t from, std::size_t into) {
    found[into] += found[from];
    expected[into] += expected[from];
    found.erase(found.begin() + static_cast<std::ptrdiff_t>(from));
    expected.erase(expected.begin() + static_cast<std::ptrdiff_t>(from));
  };
  while (expected.size() > 1 && expected.front() < Enough) merge(0, 1);
  while (expected.size() > 1 && expected.back() < Enough)
    merge(expected.size() - 1, expected.size() - 2);
  for (std::size_t bin = 1; bin + 1 < expected.size();)
    expected[bin] < Enough ? merge(bin, bin + 1) : static_cast<void>(++bin);
  ChiSquare result;
  result.bins = expected.size();
  for (std::size_t bin = 0; bin < expected.size(); ++bin) {
    const double gap = found[bin] - expected[bin];
    result.statistic += gap * gap / expected[bin];
  }
  result.degreesOfFreedom =
      std::max(1.0, static_cast<double>(result.bins) - 1 - static_cast<double>(parameters));
  result.probability = boost::math::gamma_q(0.5 * result.degreesOfFreedom, 0.5 * result.statistic);
  return result;
}

}  // namespace tributary
