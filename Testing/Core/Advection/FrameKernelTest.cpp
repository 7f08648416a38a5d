// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Advection/detail/kernels/FrameKernel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "Support/World.h"
#include "Tributary/Base/InstructionSet.h"

namespace tributary::testing {

using namespace detail;
namespace {

std::vector<FrameKernel> allKernels() {
  std::vector<FrameKernel> all{frameKernel(), computeFramesBaseline};
#ifdef __x86_64__
  if (hasAvx2()) all.push_back(computeFramesAvx2);
#endif
  return all;
}

/// Lines with their arrays.
struct Lines {
  std::vector<Polyline> lines;
  std::vector<float> points, floatVelocity;
  std::vector<double> time, angularVelocity, velocity;

  void addPoint(double t, const double (&x)[3], const double (&v)[3], double turn) {
    for (int a = 0; a < 3; ++a) {
      points.push_back(float(x[a]));
      velocity.push_back(v[a]);
      floatVelocity.push_back(float(v[a]));
    }
    time.push_back(t);
    angularVelocity.push_back(turn);
    ++lines.back().points;
  }
};

struct Frames {
  std::vector<double> rotation, normals;
};

Frames framesFrom(FrameKernel kernel, const Lines& lines, bool isDouble) {
  Frames frames{std::vector<double>(lines.time.size()), std::vector<double>(3 * lines.time.size())};
  FrameArrays arrays;
  arrays.points = lines.points.data();
  arrays.time = lines.time.data();
  arrays.angularVelocity = lines.angularVelocity.data();
  if (isDouble)
    arrays.velocityDouble = lines.velocity.data();
  else
    arrays.velocityFloat = lines.floatVelocity.data();
  arrays.rotation = frames.rotation.data();
  arrays.normals = frames.normals.data();
  kernel(lines.lines.data(), std::int64_t(lines.lines.size()), arrays);
  return frames;
}

/// The normals of a plane curve stay perpendicular to the plane, until they are turned.
TEST(FrameKernels, TurnTheNormalsOfCirclesByTheIntegralOfTheAngularVelocity) {
  Lines circles;
  for (int n = 0; n < 11; ++n) {
    const std::int64_t count = 3 + 7 * n;
    circles.lines.push_back({std::int64_t(circles.time.size()), 0, n % 3});
    for (std::int64_t i = 0; i < count; ++i) {
      const double phi = 0.05 * double(i) + n;
      const double x[3] = {std::cos(phi), std::sin(phi), 0};
      const double v[3] = {-std::sin(phi), std::cos(phi), 0};
      circles.addPoint(0.05 * double(i), x, v, n == 0 ? 0 : 1.5 / n);
    }
  }
  for (const FrameKernel kernel : allKernels())
    for (const bool isDouble : {false, true}) {
      const Frames frames = framesFrom(kernel, circles, isDouble);
      for (std::size_t n = 0; n < circles.lines.size(); ++n) {
        const Polyline& line = circles.lines[n];
        const double turn = n == 0 ? 0 : 1.5 / double(n);
        for (std::int64_t i = line.first; i < line.first + line.points; ++i) {
          const double expected = turn * (circles.time[std::size_t(i)] -
                                          circles.time[std::size_t(line.first + line.origin)]);
          EXPECT_NEAR(frames.rotation[std::size_t(i)], expected, 1e-12);
          const double* const normal = &frames.normals[3 * std::size_t(i)];
          EXPECT_NEAR(std::abs(normal[2]), std::abs(std::cos(expected)), 1e-4);
          EXPECT_NEAR(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2], 1,
                      1e-4);
        }
      }
    }
}

TEST(FrameKernels, GiveTheSameBitsOnEveryInstructionSet) {
  Lines lines;
  std::uint64_t n = 0;
  const auto number = [&] { return double(mix(++n) >> 11) / double(1ull << 52) - 1; };
  for (int l = 0; l < 37; ++l) {
    const int count = l % 5 == 0 ? 2 : 2 + int(mix(std::uint64_t(l)) % 60);
    lines.lines.push_back({std::int64_t(lines.time.size()), 0, l % count});
    double x[3] = {number(), number(), number()}, v[3] = {number(), number(), number()};
    for (int i = 0; i < count; ++i) {
      lines.addPoint(0.1 * i, x, v, 3 * number());
      for (int a = 0; a < 3; ++a) {
        if (l % 4 != 0) v[a] += 0.3 * number();  // other lines are straight, or stay where they are
        if (l % 7 != 0) x[a] += 0.1 * v[a];
      }
    }
  }
  for (const bool isDouble : {false, true}) {
    const Frames baseline = framesFrom(computeFramesBaseline, lines, isDouble);
    for (const FrameKernel kernel : allKernels()) {
      const Frames frames = framesFrom(kernel, lines, isDouble);
      EXPECT_EQ(frames.rotation, baseline.rotation);
      for (std::size_t i = 0; i < frames.normals.size(); ++i)
        EXPECT_TRUE(frames.normals[i] == baseline.normals[i] ||
                    (std::isnan(frames.normals[i]) && std::isnan(baseline.normals[i])))
            << i;
    }
  }
}

}  // namespace
}  // namespace tributary::testing
