// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Advection/detail/kernels/InterpolationKernel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "Support/World.h"
#include "Tributary/Base/InstructionSet.h"

namespace tributary::testing {

using namespace detail;
namespace {

constexpr std::size_t Lanes = Weights::Lanes;

std::vector<InterpolationKernels> allKernels() {
  std::vector<InterpolationKernels> all{interpolationKernels(), interpolationKernelsBaseline()};
#ifdef __x86_64__
  if (hasAvx2()) all.push_back(interpolationKernelsAvx2());
#endif
  return all;
}

/// A number in [-1, 1) that depends on n alone.
double number(std::uint64_t n) {
  return double(mix(n) >> 11) / double(1ull << 52) - 1;
}

/// Random weights of points whose cells have `least` to `corners` points.
Weights randomWeights(std::size_t points, int corners, int least, std::size_t dataPoints) {
  Weights weights;
  weights.wantGradients = true;
  weights.resize(points, corners);
  for (std::size_t p = 0; p < points; ++p) {
    weights.count[p] = least + int(mix(p) % std::uint64_t(corners - least + 1));
    for (int j = 0; j < weights.count[p]; ++j) {
      const std::uint64_t n = 100 * p + std::uint64_t(j);
      weights.id(p, j) = std::int64_t(mix(n) % dataPoints);
      weights.weight(p, j) = number(n);
      for (int a = 0; a < 3; ++a) weights.gradient(p, j, a) = number(3 * n + std::uint64_t(a));
    }
  }
  return weights;
}

auto vectorsOf(const InterpolationKernels& kernels, float) {
  return kernels.floatVectors;
}
auto vectorsOf(const InterpolationKernels& kernels, double) {
  return kernels.doubleVectors;
}
auto scalarsOf(const InterpolationKernels& kernels, float) {
  return kernels.floatScalars;
}
auto scalarsOf(const InterpolationKernels& kernels, double) {
  return kernels.doubleScalars;
}

/// Compares all kernels with sums over the corners, one after the other.
template <class Real>
void compareSums(const Weights& weights, const std::vector<Real>& data) {
  const std::size_t room = weights.groups() * Lanes;
  std::vector<double> value(3 * room), curl(3 * room);
  std::vector<Real> scalar(room);
  for (std::size_t p = 0; p < weights.points; ++p)
    for (int j = 0; j < weights.count[p]; ++j) {
      const Real* const at = data.data() + 3 * weights.id(p, j);
      const double u[3] = {at[0], at[1], at[2]}, w = weights.weight(p, j);
      const auto g = [&](int a) { return weights.gradient(p, j, a); };
      for (std::size_t a = 0; a < 3; ++a) value[3 * p + a] += w * u[a];
      curl[3 * p] += g(1) * u[2] - g(2) * u[1];
      curl[3 * p + 1] += g(2) * u[0] - g(0) * u[2];
      curl[3 * p + 2] += g(0) * u[1] - g(1) * u[0];
    }
  std::vector<double> sum(room);
  for (std::size_t p = 0; p < weights.points; ++p) {
    for (int j = 0; j < weights.count[p]; ++j)
      sum[p] += weights.weight(p, j) * double(data[std::size_t(weights.id(p, j))]);
    scalar[p] = Real(sum[p]);
  }
  for (const InterpolationKernels& kernels : allKernels()) {
    std::vector<double> values(3 * room), curls(3 * room), alone(3 * room);
    std::vector<Real> scalars(room);
    vectorsOf(kernels, Real())(batchOf(weights), data.data(), values.data(), curls.data());
    vectorsOf(kernels, Real())(batchOf(weights), data.data(), alone.data(), nullptr);
    scalarsOf(kernels, Real())(batchOf(weights), data.data(), scalars.data());
    for (auto* of : {&values, &curls, &alone}) of->resize(3 * weights.points);
    scalars.resize(weights.points);
    const auto firsts = [&](const auto& all, std::size_t each) {
      return std::vector(all.begin(), all.begin() + std::ptrdiff_t(each * weights.points));
    };
    EXPECT_EQ(values, firsts(value, 3));
    EXPECT_EQ(alone, values);
    EXPECT_EQ(curls, firsts(curl, 3));
    EXPECT_EQ(scalars, firsts(scalar, 1));
  }
}

TEST(InterpolationKernels, AddTheCornersInTheirOrder) {
  constexpr std::size_t DataPoints = 50;
  std::vector<double> doubles(3 * DataPoints);
  for (std::size_t n = 0; n < doubles.size(); ++n) doubles[n] = number(n);
  const std::vector<float> floats(doubles.begin(), doubles.end());
  for (const int corners : {1, 4, 8, 11})
    for (const int least : {0, corners})
      for (const std::size_t points : {std::size_t(1), Lanes - 1, Lanes, 3 * Lanes + 5}) {
        const Weights weights = randomWeights(points, corners, least, DataPoints);
        compareSums(weights, floats);
        compareSums(weights, doubles);
      }
}

/// The weights of a group from one kernel.
struct Group {
  unsigned outside = 0;
  std::vector<std::int64_t> cells = std::vector<std::int64_t>(Lanes);
  Weights weights;
};

Group uniformGroup(const InterpolationKernels& kernels, const UniformPiece& piece, int corners,
                   const std::vector<TrajectoryPoint>& points) {
  Group group;
  group.weights.wantGradients = true;
  group.weights.resize(Lanes, corners);
  group.outside =
      kernels.uniformWeights(piece, points.data(), groupOf(group.weights, 0), group.cells.data());
  return group;
}

/// @param cells  of the grid along each axis
/// @param isPeriodic  along x
void compareUniformWeights(const int (&cells)[3], bool isPeriodic) {
  UniformPiece piece{};
  std::int64_t pointStride = 1, cellStride = 1;
  int corners = 1;
  for (int a = 0; a < 3; ++a) {
    piece.origin[a] = -1 + 0.1 * a;
    piece.inverse[a] = cells[a] > 0 ? cells[a] / 2.0 : 0;
    piece.cells[a] = cells[a];
    piece.pointStride[a] = pointStride;
    piece.cellStride[a] = cellStride;
    pointStride *= cells[a] + 1;
    cellStride *= std::max(cells[a], 1);
    corners *= cells[a] > 0 ? 2 : 1;
  }
  if (isPeriodic) {
    piece.period[0] = 2;
    piece.periodicOrigin[0] = piece.origin[0];
  }
  std::size_t inside = 0;
  for (std::uint64_t round = 0; round < 50; ++round) {
    std::vector<TrajectoryPoint> points(Lanes);
    for (std::size_t p = 0; p < Lanes; ++p)
      for (int a = 0; a < 3; ++a) {
        const double x = number(round * 24 + 3 * p + std::uint64_t(a));
        // Some points lie on faces between cells, and some outside.
        points[p].x[a] = piece.origin[a] + 1 + (round % 5 == 0 ? double(int(4 * x)) / 4 : 1.03 * x);
        if (isPeriodic && a == 0) points[p].x[a] += 2 * double(int(3 * number(p + round)));
      }
    const Group baseline = uniformGroup(interpolationKernelsBaseline(), piece, corners, points);
    for (const InterpolationKernels& kernels : allKernels()) {
      const Group group = uniformGroup(kernels, piece, corners, points);
      ASSERT_EQ(group.outside, baseline.outside);
      for (std::size_t p = 0; p < Lanes; ++p) {
        if (group.outside >> p & 1) continue;
        EXPECT_EQ(group.cells[p], baseline.cells[p]);
        for (int j = 0; j < corners; ++j) {
          EXPECT_EQ(group.weights.id(p, j), baseline.weights.id(p, j));
          EXPECT_EQ(group.weights.weight(p, j), baseline.weights.weight(p, j));
          for (int a = 0; a < 3; ++a)
            EXPECT_EQ(group.weights.gradient(p, j, a), baseline.weights.gradient(p, j, a));
        }
      }
    }
    for (std::size_t p = 0; p < Lanes; ++p) {
      if (baseline.outside >> p & 1) continue;
      ++inside;
      double sum = 0;
      for (int j = 0; j < corners; ++j) {
        EXPECT_GE(baseline.weights.id(p, j), 0);
        EXPECT_LT(baseline.weights.id(p, j), pointStride);
        sum += baseline.weights.weight(p, j);
      }
      EXPECT_NEAR(sum, 1, 1e-12);
      EXPECT_TRUE(baseline.cells[p] >= 0 && baseline.cells[p] < cellStride);
    }
  }
  EXPECT_GT(inside, 200u);
}

TEST(InterpolationKernels, GiveTheSameUniformWeightsOnEveryInstructionSet) {
  for (const bool isPeriodic : {false, true}) {
    compareUniformWeights({5, 7, 4}, isPeriodic);
    compareUniformWeights({5, 7, 0}, isPeriodic);
    compareUniformWeights({5, 0, 4}, isPeriodic);
  }
}

}  // namespace
}  // namespace tributary::testing
