// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Features/CriticalKind.h"

#include <algorithm>
#include <cmath>

namespace tributary {
namespace {

/// Adds the two roots of x^2 - sum x + product.
void addRoots(double sum, double product, double center, CriticalKind& kind) {
  if (sum * sum < 4 * product) {
    const bool isCenter = std::fabs(sum) <= 2 * center * std::sqrt(product);
    kind.rotation = isCenter ? Rotation::Center : Rotation::Spiral;
    if (isCenter) return;
  }
  if (product < 0) {
    ++kind.negative;
  } else if (sum < 0) {
    kind.negative = static_cast<std::uint8_t>(kind.negative + (product > 0 ? 2 : 1));
  }
}

/// A real root of x^3 - trace x^2 + minors x - det, by bisection.
double realRoot(double trace, double minors, double det) {
  const auto value = [&](double x) { return ((x - trace) * x + minors) * x - det; };
  double hi = std::fabs(trace) + std::sqrt(std::fabs(minors)) + std::cbrt(std::fabs(det));
  hi *= 2;  // larger than any root
  double lo = -hi;
  for (int i = 0; i < 200; ++i) {
    const double middle = 0.5 * (lo + hi);
    if (middle <= lo || middle >= hi) break;
    (value(middle) > 0 ? hi : lo) = middle;
  }
  return 0.5 * (lo + hi);
}

const char* const UnknownName = "unknown";

}  // namespace

CriticalKind kindOf(const double j[3][3], int dimension, double center) {
  // The eigenvalues' signs do not depend on the scale.
  double largest = 0;
  for (int r = 0; r < dimension; ++r)
    for (int c = 0; c < dimension; ++c) {
      if (!std::isfinite(j[r][c])) return {};
      largest = std::max(largest, std::fabs(j[r][c]));
    }
  CriticalKind kind{0, Rotation::None};
  if (largest == 0) return kind;
  double m[3][3];
  for (int r = 0; r < dimension; ++r)
    for (int c = 0; c < dimension; ++c) m[r][c] = j[r][c] / largest;
  if (dimension == 2) {
    addRoots(m[0][0] + m[1][1], m[0][0] * m[1][1] - m[0][1] * m[1][0], center, kind);
    return kind;
  }
  const auto minor = [&](int a, int b) { return m[a][a] * m[b][b] - m[a][b] * m[b][a]; };
  const double trace = m[0][0] + m[1][1] + m[2][2];
  const double minors = minor(0, 1) + minor(0, 2) + minor(1, 2);
  const double det = m[0][0] * minor(1, 2) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
                     m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
  const double root = realRoot(trace, minors, det);
  if (root < 0) ++kind.negative;
  addRoots(trace - root, minors - root * (trace - root), center, kind);
  return kind;
}

std::string nameOfScalarKind(CriticalKind kind, int dimension) {
  if (kind.negative > dimension) return UnknownName;
  if (kind.negative == 0) return "minimum";
  if (kind.negative == dimension) return "maximum";
  return dimension == 2 ? "saddle" : std::to_string(kind.negative) + "-saddle";
}

std::string nameOfVectorKind(CriticalKind kind, int dimension) {
  if (kind.negative > dimension) return UnknownName;
  if (kind.rotation == Rotation::Center) {
    if (dimension == 2) return "center";
    return kind.negative ? "center sink" : "center source";
  }
  const std::string prefix = kind.rotation == Rotation::Spiral ? "spiral " : "";
  if (kind.negative == 0) return prefix + "source";
  if (kind.negative == dimension) return prefix + "sink";
  return prefix + (dimension == 2 ? "saddle" : std::to_string(kind.negative) + "-saddle");
}

}  // namespace tributary
