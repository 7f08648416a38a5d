// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tributary {

/// A distribution of a number, for instance the duration of an operation. Immutable; all functions
/// are local and thread-safe.
class Distribution {
 public:
  virtual ~Distribution() = default;

  /// The probability density at x.
  [[nodiscard]] virtual double density(double x) const = 0;
  /// The probability of values up to x.
  [[nodiscard]] virtual double cumulative(double x) const = 0;
  /// The x with cumulative(x) = p. Throws Error unless p is in (0, 1).
  [[nodiscard]] virtual double quantile(double p) const = 0;
  /// The mean; may be infinite.
  [[nodiscard]] virtual double mean() const = 0;
  /// The standard deviation; may be infinite.
  [[nodiscard]] virtual double deviation() const = 0;

  /// Draws a random number.
  /// @param random  the state of nextRandom(); advanced
  [[nodiscard]] virtual double draw(std::uint64_t& random) const;
};

/// Families of parametric distributions. The comments list their parameters in order.
enum class Family {
  Normal,                  ///< mean, standard deviation > 0
  Lognormal,               ///< mean and standard deviation > 0 of the logarithm
  Weibull,                 ///< scale > 0, shape > 0
  Gamma,                   ///< shape > 0, scale > 0
  Loglogistic,             ///< mean and scale > 0 of the logarithm
  GeneralizedExtremeValue  ///< location, scale > 0, shape; above 0: Frechet, heavy tail
};

/// All families.
constexpr std::array<Family, 6> AllFamilies = {
    Family::Normal, Family::Lognormal,   Family::Weibull,
    Family::Gamma,  Family::Loglogistic, Family::GeneralizedExtremeValue};

/// The name of a family, for instance "generalized extreme value".
[[nodiscard]] std::string nameOf(Family family);
/// The number of parameters of a family.
[[nodiscard]] std::size_t parametersOf(Family family);

/// A distribution of a parametric family.
class ParametricDistribution : public Distribution {
 public:
  /// Throws Error if the number of parameters or a parameter is invalid for the family.
  ParametricDistribution(Family family, std::vector<double> parameters);

  /// The family of distributions.
  Family family() const { return family_; }
  /// The parameters, in the order of the family.
  const std::vector<double>& parameters() const { return parameters_; }

  double density(double x) const override;
  double cumulative(double x) const override;
  double quantile(double p) const override;
  double mean() const override;
  double deviation() const override;

 private:
  Family family_;
  std::vector<double> parameters_;
};

}  // namespace tributary
