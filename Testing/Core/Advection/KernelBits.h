// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "Tributary/Advection/FieldBlock.h"

namespace tributary::testing {

/// Appends the bytes of a value.
template <class T>
void addBits(std::vector<unsigned char>& bits, const T& value) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(&value);
  bits.insert(bits.end(), bytes, bytes + sizeof value);
}

/// The results of a kernel.
struct KernelBits {
  std::vector<unsigned char> bits;  // of the particles and of the points, line by line
  std::size_t points = 0;           // recorded
};

/// The rules with which kernels are compared: all integrators, in a steady and in an unsteady
/// field, at most 50 steps.
inline std::vector<StepRules> kernelRules() {
  std::vector<StepRules> all;
  for (const Integrator integrator :
       {Integrator::RungeKutta2, Integrator::RungeKutta4, Integrator::RungeKutta45})
    for (const bool unsteady : {false, true}) {
      StepRules& rules = all.emplace_back();
      rules.integrator = integrator;
      rules.maximumSteps = 50;
      if (unsteady) rules.interval = {1.5, 4, 3.75};
    }
  return all;
}

/// Advances particles with one kernel until they end.
/// @param extraSteps  of a call; calls follow each other until no particle is left
template <class Kernel, class View>
KernelBits advanceAll(Kernel kernel, const View& view, const StepRules& rules,
                      std::vector<Particle>& particles, std::int64_t extraSteps) {
  TrajectoryLog log;
  const auto isActive = [](const Particle& p) { return p.status == Status::Active; };
  int calls = 0;
  for (; std::any_of(particles.begin(), particles.end(), isActive); ++calls)
    kernel(view, rules, particles.data(), std::int64_t(particles.size()), extraSteps, log);
  EXPECT_EQ(calls > 1, extraSteps != FieldBlock::ToTheEnd);
  KernelBits result;
  for (const Particle& p : particles) {
    for (int a = 0; a < 3; ++a) {
      addBits(result.bits, p.x[a]);
      addBits(result.bits, p.target[a]);
    }
    addBits(result.bits, p.time);
    addBits(result.bits, p.steps);
    addBits(result.bits, p.reason);
  }
  std::vector<TrajectoryPoint> points;
  for (std::size_t c = 0; c < log.chunkCount(); ++c)
    points.insert(points.end(), log.chunk(c).begin(), log.chunk(c).end());
  std::sort(points.begin(), points.end(), [](const auto& a, const auto& b) {
    return a.line != b.line ? a.line < b.line : a.index < b.index;
  });
  for (const TrajectoryPoint& p : points) addBits(result.bits, p);
  result.points = points.size();
  return result;
}

}  // namespace tributary::testing
