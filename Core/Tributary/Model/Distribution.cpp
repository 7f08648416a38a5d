// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Model/Distribution.h"

#include <boost/math/constants/constants.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <limits>
#include <utility>

#include "Tributary/Base/Error.h"
#include "Tributary/Base/Hash.h"
#include "Tributary/Base/NumberText.h"

namespace tributary {

namespace {

constexpr double Pi = boost::math::constants::pi<double>();
constexpr double Infinite = std::numeric_limits<double>::infinity();

// Below, a generalized extreme value distribution is computed as the Gumbel distribution.
constexpr double LeastShape = 1e-9;

/// Density, cumulative and quantile of the standard normal distribution.
double normalDensity(double z) {
  return std::exp(-0.5 * z * z) / std::sqrt(2 * Pi);
}
double normalCumulative(double z) {
  return 0.5 * std::erfc(-z / std::sqrt(2.0));
}
double normalQuantile(double p) {
  return -std::sqrt(2.0) * boost::math::erfc_inv(2 * p);
}

/// Of the standard logistic distribution, without overflow.
double logisticCumulative(double z) {
  return z > 0 ? 1 / (1 + std::exp(-z)) : std::exp(z) / (1 + std::exp(z));
}

/// What a generalized extreme value distribution is an exponential of: (1 + shape z)^(-1 / shape).
/// Outside of the support 0 or infinite.
double gevPower(double z, double shape) {
  if (std::abs(shape) < LeastShape) return std::exp(-z);
  const double base = 1 + shape * z;
  if (base <= 0) return shape > 0 ? Infinite : 0;
  return std::pow(base, -1 / shape);
}

}  // namespace

double Distribution::draw(std::uint64_t& random) const {
  return quantile((static_cast<double>(nextRandom(random) >> 11) + 0.5) * 0x1p-53);
}

std::string nameOf(Family family) {
  switch (family) {
    case Family::Normal:
      return "normal";
    case Family::Lognormal:
      return "lognormal";
    case Family::Weibull:
      return "Weibull";
    case Family::Gamma:
      return "gamma";
    case Family::Loglogistic:
      return "log-logistic";
    case Family::GeneralizedExtremeValue:
      return "generalized extreme value";
  }
  throw Error("unknown family of distributions; use a value of Family");
}

std::size_t parametersOf(Family family) {
  return family == Family::GeneralizedExtremeValue ? 3 : 2;
}

ParametricDistribution::ParametricDistribution(Family family, std::vector<double> parameters)
    : family_(family), parameters_(std::move(parameters)) {
  const std::string name = "a " + nameOf(family) + " distribution";
  if (parameters_.size() != parametersOf(family))
    throw Error(name + " has " + std::to_string(parametersOf(family)) + " parameters, not " +
                std::to_string(parameters_.size()) + "; give as many as the family has");
  for (const double parameter : parameters_)
    if (!std::isfinite(parameter))
      throw Error(name + " has a parameter that is not finite; give finite parameters");
  const bool bothPositive = family == Family::Weibull || family == Family::Gamma;
  if (!(parameters_[1] > 0) || (bothPositive && !(parameters_[0] > 0)))
    throw Error(name + " has a scale or shape that is not positive; give a positive one");
}

double ParametricDistribution::density(double x) const {
  const double a = parameters_[0], b = parameters_[1];
  switch (family_) {
    case Family::Normal:
      return normalDensity((x - a) / b) / b;
    case Family::Lognormal:
      return x > 0 ? normalDensity((std::log(x) - a) / b) / (b * x) : 0;
    case Family::Weibull: {
      if (!(x > 0)) return 0;
      const double power = std::pow(x / a, b);
      return b / x * power * std::exp(-power);
    }
    case Family::Gamma:
      return x > 0 ? boost::math::gamma_p_derivative(a, x / b) / b : 0;
    case Family::Loglogistic: {
      if (!(x > 0)) return 0;
      const double p = logisticCumulative((std::log(x) - a) / b);
      return p * (1 - p) / (b * x);
    }
    case Family::GeneralizedExtremeValue: {
      const double shape = parameters_[2];
      const double power = gevPower((x - a) / b, shape);
      if (power == 0 || power == Infinite) return 0;
      return std::pow(power, shape + 1) * std::exp(-power) / b;
    }
  }
  return 0;
}

double ParametricDistribution::cumulative(double x) const {
  const double a = parameters_[0], b = parameters_[1];
  if (family_ == Family::Normal) return normalCumulative((x - a) / b);
  if (family_ == Family::GeneralizedExtremeValue)
    return std::exp(-gevPower((x - a) / b, parameters_[2]));
  if (!(x > 0)) return 0;
  switch (family_) {
    case Family::Lognormal:
      return normalCumulative((std::log(x) - a) / b);
    case Family::Weibull:
      return -std::expm1(-std::pow(x / a, b));
    case Family::Gamma:
      return boost::math::gamma_p(a, x / b);
    default:
      return logisticCumulative((std::log(x) - a) / b);
  }
}

double ParametricDistribution::quantile(double p) const {
  if (!(p > 0 && p < 1))
    throw Error("the probability of a quantile is " + numberText(p) + "; give one in (0, 1)");
  const double a = parameters_[0], b = parameters_[1];
  switch (family_) {
    case Family::Normal:
      return a + b * normalQuantile(p);
    case Family::Lognormal:
      return std::exp(a + b * normalQuantile(p));
    case Family::Weibull:
      return a * std::pow(-std::log1p(-p), 1 / b);
    case Family::Gamma:
      return b * boost::math::gamma_p_inv(a, p);
    case Family::Loglogistic:
      return std::exp(a + b * (std::log(p) - std::log1p(-p)));
    case Family::GeneralizedExtremeValue: {
      const double shape = parameters_[2];
      const double rate = -std::log(p);
      if (std::abs(shape) < LeastShape) return a - b * std::log(rate);
      return a + b * std::expm1(-shape * std::log(rate)) / shape;
    }
  }
  return 0;
}

double ParametricDistribution::mean() const {
  const double a = parameters_[0], b = parameters_[1];
  switch (family_) {
    case Family::Normal:
      return a;
    case Family::Lognormal:
      return std::exp(a + 0.5 * b * b);
    case Family::Weibull:
      return a * std::tgamma(1 + 1 / b);
    case Family::Gamma:
      return a * b;
    case Family::Loglogistic:
      return b < 1 ? std::exp(a) * Pi * b / std::sin(Pi * b) : Infinite;
    case Family::GeneralizedExtremeValue: {
      const double shape = parameters_[2];
      if (shape >= 1) return Infinite;
      if (std::abs(shape) < LeastShape) return a + b * boost::math::constants::euler<double>();
      return a + b * boost::math::tgamma1pm1(-shape) / shape;
    }
  }
  return 0;
}

double ParametricDistribution::deviation() const {
  const double a = parameters_[0], b = parameters_[1];
  switch (family_) {
    case Family::Normal:
      return b;
    case Family::Lognormal:
      return mean() * std::sqrt(std::expm1(b * b));
    case Family::Weibull: {
      const double first = std::tgamma(1 + 1 / b);
      return a * std::sqrt(std::tgamma(1 + 2 / b) - first * first);
    }
    case Family::Gamma:
      return b * std::sqrt(a);
    case Family::Loglogistic: {
      if (b >= 0.5) return Infinite;
      const double first = Pi * b / std::sin(Pi * b);
      return std::exp(a) * std::sqrt(2 * Pi * b / std::sin(2 * Pi * b) - first * first);
    }
    case Family::GeneralizedExtremeValue: {
      const double shape = parameters_[2];
      if (shape >= 0.5) return Infinite;
      if (std::abs(shape) < 1e-6) return b * Pi / std::sqrt(6.0);  // else 0 / 0 is near
      const double first = std::tgamma(1 - shape);
      return b / std::abs(shape) * std::sqrt(std::tgamma(1 - 2 * shape) - first * first);
    }
  }
  return 0;
}

}  // namespace tributary
