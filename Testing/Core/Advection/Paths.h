// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "Advection/Flows.h"
#include "Advection/TracedLines.h"
#include "Support/World.h"
#include "Tributary/Advection/Tracer.h"

/// Particles in unsteady fields, and paths that are known exactly, for tests.
namespace tributary::testing {

constexpr Integrator Integrators[] = {Integrator::RungeKutta2, Integrator::RungeKutta4,
                                      Integrator::RungeKutta45};

/// A velocity that is the same everywhere.
inline Flow constantFlow(const Vector& v) {
  return [v](const Vector&) { return v; };
}

/// Rotation about the z axis.
inline Flow rotationAt(double angularVelocity) {
  return [=](const Vector& x) -> Vector {
    return {-angularVelocity * x[1], angularVelocity * x[0], 0};
  };
}

/// Chaotic, and unlike `abc` everywhere.
inline Vector otherAbc(const Vector& x) {
  const Vector v = abc({x[0] + 0.7, x[1] - 0.4, x[2] + 0.2});
  return {0.8 * v[0], 1.1 * v[1], -0.9 * v[2]};
}

/// How far in an interval a time is.
inline double shareAt(const TimeInterval& interval, double time) {
  return (time - interval.begin) / (interval.end - interval.begin);
}

inline TraceOptions pathOptions(const TimeInterval& interval, Integrator integrator) {
  TraceOptions options;
  options.rules.integrator = integrator;
  options.rules.interval = interval;
  options.rules.terminalSpeed = 0;
  return options;
}

/// A rank's share of particles that begin at different times in an interval.
/// @param coordinateOf  of a random number in [0, 1)
template <class CoordinateOf>
std::vector<Seed> particlesOf(const TimeInterval& interval, int count, int rank, int ranks,
                              CoordinateOf&& coordinateOf) {
  std::vector<Seed> seeds;
  for (int i = rank; i < count; i += ranks) {
    Seed seed{{}, i};
    const auto random = [&](int a) {
      return double(mix(std::uint64_t(4 * i + a)) >> 11) / double(1ull << 53);
    };
    for (int a = 0; a < 3; ++a) seed.x[a] = coordinateOf(random(a));
    seed.time = i % 3 == 0 ? interval.begin : interval.begin + 1.25 * random(3);
    if (i % 11 == 0) seed.time = interval.stop;
    seeds.push_back(seed);
  }
  return seeds;
}

/// The exact end of a path that began at a seed.
using Exact = std::function<Vector(const Seed&, double time)>;

/// The paths in a velocity that is the same everywhere, and changes linearly from `a` to `b`.
inline Exact accelerated(const TimeInterval& interval, const Vector& a, const Vector& b) {
  return [=](const Seed& seed, double time) {
    Vector x;
    const double from = seed.time - interval.begin, to = time - interval.begin;
    for (std::size_t i = 0; i < 3; ++i)
      x[i] = seed.x[i] + a[i] * (to - from) +
             (b[i] - a[i]) * (to * to - from * from) / (2 * (interval.end - interval.begin));
    return x;
  };
}

/// The rotation by an angular velocity that changes linearly from `from` to `to`. The field is
/// linear in space and in time, so its interpolation is exact.
inline Exact rotated(const TimeInterval& interval, double from, double to) {
  return [=](const Seed& seed, double time) -> Vector {
    const auto angle = [&](double t) {
      const double since = t - interval.begin;
      return from * since + (to - from) * since * since / (2 * (interval.end - interval.begin));
    };
    const double turn = angle(time) - angle(seed.time), c = std::cos(turn), s = std::sin(turn);
    return {c * seed.x[0] - s * seed.x[1], s * seed.x[0] + c * seed.x[1], seed.x[2]};
  };
}

/// The largest distance of the points of forward paths to exact positions. All of these paths reach
/// the end of the interval.
/// @param seeds  of all ranks, by id
inline double largestError(const std::map<std::int64_t, Line>& lines,
                           const std::vector<Seed>& seeds, double stop, const Exact& exact) {
  double error = 0;
  for (const auto& [number, line] : lines) {
    const Seed& seed = seeds[std::size_t(number / 2)];
    EXPECT_EQ(line.reason, Reason::OutOfTime);
    EXPECT_EQ(line.points.front()[3], seed.time);
    EXPECT_EQ(line.points.back()[3], stop);  // exactly
    for (const auto& point : line.points) {
      const Vector there = exact(seed, point[3]);
      for (std::size_t a = 0; a < 3; ++a) error = std::max(error, std::fabs(point[a] - there[a]));
    }
  }
  return error;
}

}  // namespace tributary::testing
