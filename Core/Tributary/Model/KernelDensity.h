// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "Tributary/Model/Distribution.h"

namespace tributary {

/// A distribution as its samples have it: the mean of normal distributions around each (E. Jensen,
/// E. Coleman, M. Sosonkina, *Predictive modeling of the performance of asynchronous iterative
/// methods*, section 6). Unlike parametric ones it follows several peaks.
///
/// What would lie below a least value, such as 0 for times, is reflected there. density() and
/// cumulative() look at the samples within eight bandwidths.
class KernelDensity : public Distribution {
 public:
  /// Throws Error if there are no samples, or if one is not finite or lies below `least`.
  /// @param bandwidth  standard deviation of the kernels; 0: 1.06 of the samples' robust standard
  ///                   deviation (median distance from the median / 0.6745) over the fifth root of
  ///                   their number
  explicit KernelDensity(std::vector<double> samples, double least = 0, double bandwidth = 0);

  double bandwidth() const { return bandwidth_; }

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
