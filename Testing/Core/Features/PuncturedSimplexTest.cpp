// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Features/detail/PuncturedSimplex.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "Support/Effort.h"
#include "Support/World.h"
#include "Tributary/Features/CriticalKind.h"

namespace tributary {

using namespace detail;
namespace {

using testing::mix;
using testing::Sanitized;

using Vectors = std::vector<std::array<double, 3>>;

double uniform(std::uint64_t seed) {
  return double(mix(seed) >> 11) * 0x1p-53 * 2 - 1;
}

std::vector<RoundedVector> roundedAll(const Vectors& vectors, int dimension) {
  std::vector<RoundedVector> result;
  for (const auto& vector : vectors) result.push_back(rounded(vector.data(), dimension));
  return result;
}

/// Of a simplex with dimension + 2 corners, the facets that are punctured.
int puncturedFacets(const std::vector<RoundedVector>& corners, int dimension) {
  int count = 0;
  for (std::size_t left = 0; left < corners.size(); ++left) {
    std::vector<RoundedVector> facet = corners;
    facet.erase(facet.begin() + static_cast<std::ptrdiff_t>(left));
    count += isPunctured(facet.data(), dimension);
  }
  return count;
}

/// Solves for the weights of the corners at which the interpolation is zero.
std::array<long double, 4> solve(const Vectors& corners, int dimension) {
  long double m[4][5];
  const int n = dimension + 1;
  for (int r = 0; r < n; ++r) {
    for (int c = 0; c < n; ++c)
      m[r][c] = r < dimension ? corners[std::size_t(c)][std::size_t(r)] : 1;
    m[r][n] = r < dimension ? 0 : 1;
  }
  for (int i = 0; i < n; ++i) {
    int pivot = i;
    for (int r = i + 1; r < n; ++r)
      if (std::fabs(m[r][i]) > std::fabs(m[pivot][i])) pivot = r;
    for (int c = 0; c <= n; ++c) std::swap(m[i][c], m[pivot][c]);
    for (int r = 0; r < n; ++r) {
      if (r == i) continue;
      const long double factor = m[r][i] / m[i][i];
      for (int c = i; c <= n; ++c) m[r][c] -= factor * m[i][c];
    }
  }
  std::array<long double, 4> weights{};
  for (int i = 0; i < n; ++i) weights[std::size_t(i)] = m[i][n] / m[i][i];
  return weights;
}

TEST(PuncturedSimplex, HasTheWeightsThatASolverFinds) {
  int punctured = 0, clear = 0;
  for (std::uint64_t seed = 0; seed < (Sanitized ? 4000 : 40000); ++seed) {
    const int d = 2 + int(seed % 2);
    Vectors corners(std::size_t(d) + 1);
    for (std::size_t i = 0; i < corners.size(); ++i)
      for (std::size_t c = 0; c < 3; ++c)
        // Of lengths from 1e-30 to 1e30.
        corners[i][c] =
            std::pow(10, 30 * uniform(seed * 100 + i)) * uniform(seed * 100 + i * 4 + c + 10);
    // The solver is told directions only: a weight's sign does not depend on lengths.
    Vectors directions = corners;
    for (auto& v : directions) {
      const double length = std::hypot(v[0], v[1], d == 3 ? v[2] : 0);
      for (double& x : v) x /= length;
    }
    const auto scaled = solve(directions, d);
    bool inside = true, near = false;
    for (int i = 0; i <= d; ++i) {
      inside = inside && scaled[std::size_t(i)] > 0;
      near = near || std::fabs(scaled[std::size_t(i)]) < 1e-6L;
    }
    if (near) continue;
    ++clear;
    const auto exact = roundedAll(corners, d);
    ASSERT_EQ(isPunctured(exact.data(), d), inside) << "seed " << seed;
    if (!inside) continue;
    ++punctured;
    const auto weights = punctureWeights(exact.data(), d);
    long double sum = 0;
    std::array<long double, 4> expected{};
    for (int i = 0; i <= d; ++i) {
      const auto& v = corners[std::size_t(i)];
      expected[std::size_t(i)] = scaled[std::size_t(i)] / std::hypot(v[0], v[1], d == 3 ? v[2] : 0);
      sum += expected[std::size_t(i)];
    }
    for (int i = 0; i <= d; ++i)
      EXPECT_NEAR(weights[std::size_t(i)], double(expected[std::size_t(i)] / sum), 1e-5);
  }
  EXPECT_GT(punctured, clear / 16);
}

TEST(PuncturedSimplex, HasNoneOrTwoSuchFacetsWhateverTies) {
  int none = 0, two = 0;
  for (std::uint64_t seed = 0; seed < (Sanitized ? 20000 : 300000); ++seed) {
    const int d = 2 + int(seed % 2);
    const std::uint64_t range = 1 + seed / 2 % 3;
    Vectors corners(std::size_t(d) + 2);
    for (std::size_t i = 0; i < corners.size(); ++i)
      for (std::size_t c = 0; c < 3; ++c)
        corners[i][c] = double(mix(seed * 32 + i * 4 + c) % (2 * range + 1)) - double(range);
    const int count = puncturedFacets(roundedAll(corners, d), d);
    ASSERT_TRUE(count == 0 || count == 2) << count << " facets, seed " << seed;
    ++(count ? two : none);
  }
  EXPECT_GT(two, 1000);
  EXPECT_GT(none, 1000);
}

TEST(PuncturedSimplex, HasNoneOrTwoSuchFacetsWhateverTheNumbers) {
  const double special[] = {0.0,
                            -0.0,
                            std::numeric_limits<double>::denorm_min(),
                            -1e-310,
                            std::numeric_limits<double>::min(),
                            1e-300,
                            -1.0,
                            1.0 + 1e-16,
                            1.0 + 0x1p-41,
                            3e300,
                            -std::numeric_limits<double>::max()};
  constexpr auto Count = sizeof special / sizeof *special;
  for (std::uint64_t seed = 0; seed < (Sanitized ? 10000 : 100000); ++seed) {
    const int d = 2 + int(seed % 2);
    Vectors corners(std::size_t(d) + 2);
    for (std::size_t i = 0; i < corners.size(); ++i)
      for (std::size_t c = 0; c < 3; ++c)
        corners[i][c] = special[mix(seed * 32 + i * 4 + c) % Count];
    const auto exact = roundedAll(corners, d);
    const int count = puncturedFacets(exact, d);
    ASSERT_TRUE(count == 0 || count == 2) << count << " facets, seed " << seed;
    if (!isPunctured(exact.data(), d)) continue;
    double sum = 0;
    for (const double weight : punctureWeights(exact.data(), d)) {
      EXPECT_GE(weight, 0);
      sum += weight;
    }
    EXPECT_NEAR(sum, 1, 1e-12);
  }
}

TEST(PuncturedSimplex, HasItsZeroWhereACornerHasNoVector) {
  // One of the triangles around a point without a vector has it.
  int found = 0;
  const Vectors ring = {{1, 0, 0}, {0.3, 1, 0}, {-1, 0.5, 0}, {-0.5, -1, 0}, {0.5, -1, 0}};
  for (std::size_t i = 0; i < ring.size(); ++i) {
    // By number: the center is the third.
    const std::size_t j = (i + 1) % ring.size();
    Vectors corners;
    std::vector<std::pair<std::size_t, std::array<double, 3>>> byNumber = {
        {i < 2 ? i : i + 1, ring[i]}, {j < 2 ? j : j + 1, ring[j]}, {2, {0, 0, 0}}};
    std::sort(byNumber.begin(), byNumber.end());
    for (const auto& corner : byNumber) corners.push_back(corner.second);
    const auto exact = roundedAll(corners, 2);
    if (!isPunctured(exact.data(), 2)) continue;
    ++found;
    const auto weights = punctureWeights(exact.data(), 2);
    for (std::size_t c = 0; c < 3; ++c) EXPECT_EQ(weights[c], byNumber[c].first == 2 ? 1.0 : 0.0);
  }
  EXPECT_EQ(found, 1);
}

TEST(RoundedVector, KeepsSignsAndDirections) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const double v[3] = {uniform(seed) * 1e-200, uniform(seed + 1) * 1e-180,
                         1e-5 * uniform(seed + 2)};
    const RoundedVector r = rounded(v, 3);
    for (std::size_t c = 0; c < 3; ++c) {
      const auto integer = r.component[c];
      EXPECT_EQ(integer > 0, v[c] > 0);
      EXPECT_EQ(integer < 0, v[c] < 0);
      EXPECT_LE(std::abs(integer), std::int64_t(1) << 40);
      EXPECT_NEAR(std::ldexp(double(integer), r.exponent), v[c], 1e-5 * 0x1p-38);
    }
  }
}

/// R D R^-1 with the given eigenvalues; a pair `real` +- `imaginary` if that is not 0.
void jacobianOf(std::uint64_t seed, const double eigenvalues[3], double imaginary, int d,
                double out[3][3]) {
  double r[3][3], inverse[3][3], block[3][3] = {};
  for (int i = 0; i < d; ++i) block[i][i] = eigenvalues[i];
  if (imaginary != 0) {
    block[1][1] = block[0][0];
    block[0][1] = imaginary;
    block[1][0] = -imaginary;
  }
  // Rows that are far from dependent: the unit matrix and a little more.
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      r[i][j] =
          (i == j) + (i < d && j < d ? 0.3 * uniform(seed * 16 + std::uint64_t(i * 3 + j)) : 0);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      inverse[j][i] = r[(i + 1) % 3][(j + 1) % 3] * r[(i + 2) % 3][(j + 2) % 3] -
                      r[(i + 1) % 3][(j + 2) % 3] * r[(i + 2) % 3][(j + 1) % 3];
  const double det = r[0][0] * inverse[0][0] + r[0][1] * inverse[1][0] + r[0][2] * inverse[2][0];
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      out[i][j] = 0;
      for (int k = 0; k < 3; ++k)
        for (int l = 0; l < 3; ++l) out[i][j] += r[i][k] * block[k][l] * inverse[l][j] / det;
    }
}

TEST(CriticalKind, CountsTheEigenvaluesOfAJacobian) {
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    const int d = 2 + int(seed % 2);
    double eigenvalues[3] = {};
    int negative = 0;
    for (int i = 0; i < d; ++i) {
      const double sign = mix(seed * 8 + std::uint64_t(i)) % 2 ? 1 : -1;
      eigenvalues[i] = sign * (0.2 + std::fabs(uniform(seed * 8 + std::uint64_t(i) + 4)));
      negative += sign < 0;
    }
    const bool spiral = seed % 3 == 0;
    if (spiral) negative += (eigenvalues[0] < 0) - (eigenvalues[1] < 0);
    double jacobian[3][3];
    jacobianOf(seed, eigenvalues, spiral ? 0.7 : 0, d, jacobian);
    for (auto& row : jacobian)
      for (double& x : row) x *= 1e-12;
    const CriticalKind kind = kindOf(jacobian, d, 0.01);
    EXPECT_EQ(int(kind.negative), negative) << seed;
    EXPECT_EQ(kind.rotation, spiral ? Rotation::Spiral : Rotation::None) << seed;

    eigenvalues[0] = seed % 2 ? 1e-3 : -1e-3;
    jacobianOf(seed, eigenvalues, 0.7, d, jacobian);
    const CriticalKind center = kindOf(jacobian, d, 0.01);
    EXPECT_EQ(center.rotation, Rotation::Center) << seed;
    EXPECT_EQ(int(center.negative), d == 3 && eigenvalues[2] < 0) << seed;
  }
  double none[3][3] = {{std::nan(""), 0, 0}, {0, 1, 0}, {0, 0, 1}};
  EXPECT_EQ(kindOf(none, 3, 0).negative, CriticalKind::Unknown);
}

TEST(CriticalKind, HasTheNameOfTheField) {
  const auto kind = [](int negative, Rotation rotation = Rotation::None) {
    return CriticalKind{static_cast<std::uint8_t>(negative), rotation};
  };
  EXPECT_EQ(nameOfScalarKind(kind(0), 2), "minimum");
  EXPECT_EQ(nameOfScalarKind(kind(1), 2), "saddle");
  EXPECT_EQ(nameOfScalarKind(kind(2), 2), "maximum");
  EXPECT_EQ(nameOfScalarKind(kind(2), 3), "2-saddle");
  EXPECT_EQ(nameOfScalarKind(kind(3), 3), "maximum");
  EXPECT_EQ(nameOfScalarKind({}, 3), "unknown");
  EXPECT_EQ(nameOfVectorKind(kind(0), 2), "source");
  EXPECT_EQ(nameOfVectorKind(kind(2, Rotation::Spiral), 2), "spiral sink");
  EXPECT_EQ(nameOfVectorKind(kind(1, Rotation::Spiral), 3), "spiral 1-saddle");
  EXPECT_EQ(nameOfVectorKind(kind(0, Rotation::Center), 2), "center");
  EXPECT_EQ(nameOfVectorKind(kind(1, Rotation::Center), 3), "center sink");
  EXPECT_EQ(nameOfVectorKind({}, 2), "unknown");
}

}  // namespace
}  // namespace tributary
