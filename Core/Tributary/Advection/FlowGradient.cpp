// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Advection/FlowGradient.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace tributary {
namespace {

/// Sweeps of Jacobi's method, which converges quadratically: 3 x 3 matrices need about five.
constexpr int MostSweeps = 50;

/// Rotates the axes p and q so that the entry between them becomes 0.
///
/// G. H. Golub, C. F. Van Loan, "Matrix Computations", 4th edition, 2013, section 8.5.2.
void rotate(double a[3][3], double v[3][3], int p, int q) {
  if (a[p][q] == 0) return;
  const double tau = (a[q][q] - a[p][p]) / (2 * a[p][q]);
  const double t = (tau >= 0 ? 1 : -1) / (std::fabs(tau) + std::sqrt(1 + tau * tau));
  const double c = 1 / std::sqrt(1 + t * t), s = t * c;
  const int r = 3 - p - q;
  const double apr = a[p][r], aqr = a[q][r];
  a[p][p] -= t * a[p][q];
  a[q][q] += t * a[p][q];
  a[p][q] = a[q][p] = 0;
  a[p][r] = a[r][p] = c * apr - s * aqr;
  a[q][r] = a[r][q] = s * apr + c * aqr;
  for (int k = 0; k < 3; ++k) {
    const double vkp = v[k][p], vkq = v[k][q];
    v[k][p] = c * vkp - s * vkq;
    v[k][q] = s * vkp + c * vkq;
  }
}

/// Makes a symmetric matrix diagonal.
/// @param v  Out: the eigenvectors as columns
void diagonalize(double a[3][3], double v[3][3]) {
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k) v[i][k] = i == k;
  for (int sweep = 0; sweep < MostSweeps; ++sweep) {
    const double size = std::max({std::fabs(a[0][0]), std::fabs(a[1][1]), std::fabs(a[2][2])});
    const double rest = std::max({std::fabs(a[0][1]), std::fabs(a[1][2]), std::fabs(a[0][2])});
    if (rest <= size * 1e-3 * std::numeric_limits<double>::epsilon()) return;
    rotate(a, v, 0, 1);
    rotate(a, v, 0, 2);
    rotate(a, v, 1, 2);
  }
}

}  // namespace

bool addColumn(FlowGradient& gradient, int axis, const MappedParticle* before,
               const MappedParticle& particle, const MappedParticle* after) {
  if (!particle.hasArrived) return false;
  const MappedParticle& low = before && before->hasArrived ? *before : particle;
  const MappedParticle& high = after && after->hasArrived ? *after : particle;
  const double distance = high.from[axis] - low.from[axis];
  if (!(distance > 0)) return false;
  for (int component = 0; component < 3; ++component)
    gradient.columns[axis][component] = (high.to[component] - low.to[component]) / distance;
  gradient.along[axis] = true;
  return true;
}

Stretching stretchingOf(const FlowGradient& gradient) {
  Stretching result{};
  double a[3][3] = {}, v[3][3];
  bool isFinite = true;
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k) {
      if (!gradient.along[i] || !gradient.along[k]) continue;
      const double *one = gradient.columns[i], *other = gradient.columns[k];
      a[i][k] = one[0] * other[0] + one[1] * other[1] + one[2] * other[2];
      isFinite = isFinite && std::isfinite(a[i][k]);
    }
  if (!isFinite) {
    constexpr double NaN = std::numeric_limits<double>::quiet_NaN();
    std::fill_n(result.tensor, 6, NaN);
    std::fill_n(result.direction, 3, NaN);
    result.largest = NaN;
    return result;
  }
  const double tensor[6] = {a[0][0], a[1][1], a[2][2], a[0][1], a[1][2], a[0][2]};
  std::copy_n(tensor, 6, result.tensor);
  diagonalize(a, v);
  int best = -1;
  for (int i = 0; i < 3; ++i)  // absent axes have an eigenvalue of 0, which is not the gradient's
    if (gradient.along[i] && (best < 0 || a[i][i] > a[best][best])) best = i;
  if (best < 0) return result;
  result.largest = std::max(a[best][best], 0.0);
  int first = 0;
  for (int k = 1; k < 3; ++k)
    if (std::fabs(v[k][best]) > std::fabs(v[first][best])) first = k;
  const double sign = v[first][best] < 0 ? -1 : 1;
  for (int k = 0; k < 3; ++k) result.direction[k] = sign * v[k][best] + 0.0;  // no -0
  return result;
}

double lyapunovExponent(double largest, double duration) {
  return std::log(largest) / (2 * std::fabs(duration));
}

}  // namespace tributary
