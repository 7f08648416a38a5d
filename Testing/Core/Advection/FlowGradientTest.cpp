// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Advection/FlowGradient.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <random>

namespace tributary {
namespace {

using Matrix = std::array<std::array<double, 3>, 3>;  // [row][column]

constexpr double Infinity = std::numeric_limits<double>::infinity();

FlowGradient gradientOf(const Matrix& f, int axes = 3) {
  FlowGradient gradient;
  for (int axis = 0; axis < axes; ++axis) {
    gradient.along[axis] = true;
    for (int row = 0; row < 3; ++row)
      gradient.columns[axis][row] = f[std::size_t(row)][std::size_t(axis)];
  }
  return gradient;
}

/// Particles at three places along an axis, of the linear map x -> f x + shift.
struct Line {
  double from[3][3], to[3][3];
  MappedParticle particles[3];

  Line(const Matrix& f, int axis, const double steps[3]) {
    for (std::size_t i = 0; i < 3; ++i) {
      for (int a = 0; a < 3; ++a) from[i][a] = 0.25 * a + (a == axis ? steps[i] : 0);
      for (std::size_t row = 0; row < 3; ++row) {
        to[i][row] = 1;
        for (std::size_t a = 0; a < 3; ++a) to[i][row] += f[row][a] * from[i][a];
      }
      particles[i] = {from[i], to[i], true};
    }
  }
};

constexpr Matrix Map{{{2, 0.5, 0.25}, {-1, 3, 0.5}, {0.125, -0.25, 1}}};

TEST(FlowGradient, DifferencesOfALinearMapAreItsMatrix) {
  const double steps[3] = {-0.5, 0, 0.25};
  FlowGradient gradient;
  for (int axis = 0; axis < 3; ++axis) {
    Line line(Map, axis, steps);
    const MappedParticle* p = line.particles;
    ASSERT_TRUE(addColumn(gradient, axis, &p[0], p[1], &p[2]));
    for (std::size_t row = 0; row < 3; ++row)
      EXPECT_EQ(gradient.columns[axis][row], Map[row][std::size_t(axis)]);
  }
}

TEST(FlowGradient, NeighborsThatHaveNotArrivedAreNotUsed) {
  const double steps[3] = {-0.5, 0, 0.25};
  Line line(Map, 0, steps);
  MappedParticle* p = line.particles;
  line.to[0][0] = 1e9;  // of a particle that left
  p[0].hasArrived = false;
  FlowGradient gradient;
  ASSERT_TRUE(addColumn(gradient, 0, &p[0], p[1], &p[2]));
  EXPECT_EQ(gradient.columns[0][0], Map[0][0]);
  ASSERT_TRUE(addColumn(gradient, 0, nullptr, p[1], &p[2]));  // at a border
  EXPECT_EQ(gradient.columns[0][0], Map[0][0]);
  gradient = {};
  EXPECT_FALSE(addColumn(gradient, 0, &p[0], p[1], nullptr));
  EXPECT_FALSE(addColumn(gradient, 0, nullptr, p[1], nullptr));
  p[0].hasArrived = true;
  p[1].hasArrived = false;
  EXPECT_FALSE(addColumn(gradient, 0, &p[0], p[1], &p[2]));
  EXPECT_FALSE(gradient.along[0]);
}

TEST(FlowGradient, OneSidedDifferencesAreThoseOfTheSideThatArrived) {
  const double steps[3] = {-1, 0, 1};
  Line line(Map, 0, steps);
  MappedParticle* p = line.particles;
  line.to[0][0] = -7;
  line.to[1][0] = 0;
  line.to[2][0] = 3;
  FlowGradient gradient;
  ASSERT_TRUE(addColumn(gradient, 0, &p[0], p[1], nullptr));
  EXPECT_EQ(gradient.columns[0][0], 7);
  ASSERT_TRUE(addColumn(gradient, 0, nullptr, p[1], &p[2]));
  EXPECT_EQ(gradient.columns[0][0], 3);
  ASSERT_TRUE(addColumn(gradient, 0, &p[0], p[1], &p[2]));
  EXPECT_EQ(gradient.columns[0][0], 5);
}

TEST(FlowGradient, SaddleHasItsRateInBothDirectionsOfTime) {
  for (const double duration : {2.0, -2.0, 0.125}) {
    const double rate = 0.75, stretch = std::exp(rate * duration);
    const Matrix f{{{stretch, 0, 0}, {0, 1 / stretch, 0}, {0, 0, 1}}};
    for (const int axes : {2, 3}) {
      const Stretching found = stretchingOf(gradientOf(f, axes));
      EXPECT_NEAR(lyapunovExponent(found.largest, duration), rate, 1e-14);
      EXPECT_EQ(found.direction[duration > 0 ? 0 : 1], 1);
      EXPECT_EQ(found.direction[duration > 0 ? 1 : 0], 0);
    }
  }
}

TEST(FlowGradient, ShearHasTheExponentOfItsFormula) {
  for (const double shear : {1e-8, 0.5, 3.0, 1e6}) {
    const Matrix f{{{1, shear, 0}, {0, 1, 0}, {0, 0, 1}}};
    const double s = shear / 2, stretch = s + std::sqrt(1 + s * s);
    for (const int axes : {2, 3}) {
      const double found = stretchingOf(gradientOf(f, axes)).largest;
      EXPECT_NEAR(found / (stretch * stretch), 1, 1e-14) << shear;
    }
  }
}

TEST(FlowGradient, TensorsOfRandomMapsHaveTheStretchingFound) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> entry(-2, 2);
  for (int trial = 0; trial < 1000; ++trial) {
    Matrix f{};
    for (auto& row : f)
      for (double& x : row) x = entry(random);
    const Stretching found = stretchingOf(gradientOf(f));
    // The direction is a unit vector that the map stretches by the root of the eigenvalue, and no
    // other direction is stretched more.
    const auto stretch = [&](const double v[3]) {
      double sum = 0;
      for (const auto& row : f) {
        const double y = row[0] * v[0] + row[1] * v[1] + row[2] * v[2];
        sum += y * y;
      }
      return sum;
    };
    const double* d = found.direction;
    EXPECT_NEAR(d[0] * d[0] + d[1] * d[1] + d[2] * d[2], 1, 1e-14);
    EXPECT_NEAR(stretch(d), found.largest, 1e-13 * found.largest);
    for (int other = 0; other < 20; ++other) {
      double v[3] = {entry(random), entry(random), entry(random)};
      const double length = std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
      for (double& x : v) x /= length;
      EXPECT_LE(stretch(v), found.largest * (1 + 1e-13));
    }
    const double* t = found.tensor;
    EXPECT_NEAR(t[0] + t[1] + t[2],
                stretch(std::array<double, 3>{1, 0, 0}.data()) +
                    stretch(std::array<double, 3>{0, 1, 0}.data()) +
                    stretch(std::array<double, 3>{0, 0, 1}.data()),
                1e-13 * found.largest);
  }
}

TEST(FlowGradient, RotationsStretchNothing) {
  for (const double angle : {0.1, 1.0, 2.5}) {
    const double c = std::cos(angle), s = std::sin(angle);
    const Matrix f{{{c, -s, 0}, {s, c, 0}, {0, 0, 1}}};
    EXPECT_NEAR(lyapunovExponent(stretchingOf(gradientOf(f)).largest, 1), 0, 1e-15);
  }
}

TEST(FlowGradient, ValuesThatAreNotFiniteGiveNoNumbers) {
  for (const double bad : {std::nan(""), Infinity, 1e200}) {
    Matrix f = Map;
    f[1][2] = bad;
    const Stretching found = stretchingOf(gradientOf(f));
    EXPECT_TRUE(std::isnan(found.largest));
    for (const double x : found.tensor) EXPECT_TRUE(std::isnan(x));
    for (const double x : found.direction) EXPECT_TRUE(std::isnan(x));
    EXPECT_FALSE(std::isnan(stretchingOf(gradientOf(f, 2)).largest));
  }
}

TEST(FlowGradient, ParticlesThatMeetHaveNoFiniteExponent) {
  EXPECT_EQ(lyapunovExponent(stretchingOf(gradientOf({})).largest, 1), -Infinity);
}

}  // namespace
}  // namespace tributary
