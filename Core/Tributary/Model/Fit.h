// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "Tributary/Model/Distribution.h"

namespace tributary {

/// The distribution of a family that is likeliest to give these samples. For generalized extreme
/// values the one with the samples' first three L-moments (J. Hosking, J. Wallis, E. Wood,
/// Technometrics 27, 1985), which unlike the likelihood never is without a maximum. Local.
///
/// Throws Error if there are fewer than 3 samples, if they are all equal, not finite, or not
/// positive where the family has positive numbers only.
ParametricDistribution fit(Family family, const std::vector<double>& samples);

/// The distribution between two of a family, or beyond them, whose parameters lie on the lines
/// through theirs: as section 7.2 of the model's paper has times of a 7-point stencil from those of
/// 5 and 9 points. Local. Throws Error if the families differ, if both are at the same place, or if
/// a parameter becomes what it must not be.
ParametricDistribution interpolate(const ParametricDistribution& first, double atFirst,
                                   const ParametricDistribution& second, double atSecond,
                                   double at);

/// How far samples are from a distribution.
struct ChiSquare {
  double statistic = 0;         ///< Sum over bins of (found - expected)^2 / expected.
  std::size_t bins = 0;         ///< After merging.
  double degreesOfFreedom = 0;  ///< Bins less one less the parameters; at least 1.
  double probability = 0;       ///< That samples of the distribution are as far away, or further.
};

/// Pearson's test, as in section 7.1 of the model's paper: bins of equal width between the least
/// and the largest sample, those outside of it counted to the first and the last; bins that fewer
/// than five samples are expected in are merged with the next one inward. Local. Throws Error if
/// there are no samples, or fewer than two bins.
/// @param parameters  that were fitted to the samples
ChiSquare chiSquare(const std::vector<double>& samples, const Distribution& distribution,
                    std::size_t parameters, std::size_t bins = 10);

}  // namespace tributary
