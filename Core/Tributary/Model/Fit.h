// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "Tributary/Model/Distribution.h"

namespace tributary {

/// Fits a distribution of a family to samples by maximum likelihood. Generalized extreme values are
/// fitted by the first three L-moments (J. Hosking, J. Wallis, E. Wood, Technometrics 27, 1985),
/// because their likelihood may have no maximum. Local.
///
/// Throws Error if there are fewer than 3 samples, if all are equal, if one is not finite, or if
/// one is not positive and the family has positive numbers only.
[[nodiscard]] ParametricDistribution fit(Family family, const std::vector<double>& samples);

/// Interpolates or extrapolates the parameters of two distributions of a family linearly, as E. J.
/// Jensen, E. Coleman, M. Sosonkina, "Predictive modeling of the performance of asynchronous
/// iterative methods", The Journal of Supercomputing 75, 2019, section 7.2, do for a 7-point
/// stencil between 5 and 9 points. Local. Throws Error if the families differ, if both positions
/// are equal, or if a resulting parameter is invalid.
[[nodiscard]] ParametricDistribution interpolate(const ParametricDistribution& first,
                                                 double atFirst,
                                                 const ParametricDistribution& second,
                                                 double atSecond, double at);

/// The result of a chi-square test.
struct ChiSquare {
  double statistic = 0;         ///< Sum over bins of (observed - expected)^2 / expected.
  std::size_t bins = 0;         ///< After merging.
  double degreesOfFreedom = 0;  ///< Bins minus one minus parameters; at least 1.
  double probability = 0;       ///< Probability of a statistic at least as large.
};

/// Pearson's chi-square test, as in section 7.1 of that paper: bins of equal width between the
/// smallest and the largest sample; the tails of the distribution belong to the first and the last
/// bin. Bins with fewer than five expected samples are merged with the next bin inward. Local.
/// Throws Error if there are no samples, or fewer than two bins.
/// @param parameters  the number of parameters that were fitted to the samples
[[nodiscard]] ChiSquare chiSquare(const std::vector<double>& samples,
                                  const Distribution& distribution, std::size_t parameters,
                                  std::size_t bins = 10);

}  // namespace tributary
