// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tributary {

/// A distribution of one number, such as the seconds that an operation takes. Immutable; functions
/// are local, and may be called by several threads at once.
class Distribution {
 public:
  virtual ~Distribution() = default;

  /// Probability per unit at x.
  virtual double density(double x) const = 0;
  /// Probability of at most x.
  virtual double cumulative(double x) const = 0;
  /// The x with cumulative(x) = p. Throws Error unless 0 < p < 1.
  virtual double quantile(double p) const = 0;
  /// May be infinite.
  virtual double mean() const = 0;
  /// Standard deviation; may be infinite.
  virtual double deviation() const = 0;

  /// The next random number of the distribution.
  /// @param random  state of nextRandom(), which is advanced
  virtual double draw(std::uint64_t& random) const;
};

/// Parametric distributions, with their parameters in the order in which they are given.
enum class Family {
  Normal,                  ///< mean, standard deviation > 0
  Lognormal,               ///< mean and standard deviation > 0 of the logarithm
  Weibull,                 ///< scale > 0, shape > 0
  Gamma,                   ///< shape > 0, scale > 0
  Loglogistic,             ///< mean and scale > 0 of the logarithm
  GeneralizedExtremeValue  ///< location, scale > 0, shape: > 0 has the heavy tail (Frechet)
};

constexpr std::array<Family, 6> AllFamilies = {
    Family::Normal, Family::Lognormal,   Family::Weibull,
    Family::Gamma,  Family::Loglogistic, Family::GeneralizedExtremeValue};

/// "normal", "generalized extreme value", ...
std::string nameOf(Family family);
/// How many parameters a family has.
std::size_t parametersOf(Family family);

/// A distribution of a family.
class ParametricDistribution : public Distribution {
 public:
  /// Throws Error if there are more or fewer parameters than the family has, or if they are not
  /// as it says.
  ParametricDistribution(Family family, std::vector<double> parameters);

  Family family() const { return family_; }
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
