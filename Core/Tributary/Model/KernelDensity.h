// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "Tributary/Model/Distribution.h"

namespace tributary {

/// A kernel density estimate: the mean of normal distributions around each sample (E. J. Jensen,
/// E. Coleman, M. Sosonkina, "Predictive modeling of the performance of asynchronous iterative
/// methods", The Journal of Supercomputing 75, 2019, section 6). Unlike parametric distributions,
/// it can have several peaks.
///
/// The part below a lower bound, such as 0 for durations, is reflected at the bound. density() and
/// cumulative() use the samples within eight bandwidths.
class KernelDensity : public Distribution {
 public:
  /// Throws Error if there are no samples, or if one is not finite or lies below `least`.
  /// @param least  the lower bound of samples
  /// @param bandwidth  standard deviation of the kernels. 0 for 1.06 times the robust standard
  ///                   deviation of the samples (median distance from the median / 0.6745) divided
  ///                   by the fifth root of their number.
  explicit KernelDensity(std::vector<double> samples, double least = 0, double bandwidth = 0);

  /// The standard deviation of the kernels.
  [[nodiscard]] double bandwidth() const { return bandwidth_; }

  double density(double x) const override;
  double cumulative(double x) const override;
  /// To a relative accuracy of 1e-9.
  double quantile(double p) const override;
  double mean() const override;
  double deviation() const override;
  double draw(std::uint64_t& random) const override;

 private:
  double unreflectedDensity(double x) const;
  double unreflectedCumulative(double x) const;

  std::vector<double> samples_;  // sorted
  double least_;
  double bandwidth_;
};

}  // namespace tributary
