#pragma once

// The integrators, as a machine that is fed one velocity at a time.
//
// Problem. A Runge-Kutta step asks for several velocities; the cells that hold the points may live
// on different ranks. A tracer that restarts the step where it entered a new piece gives other
// answers on other partitions. Ours hands over the unfinished step instead (see Particle).
//
//            velocity at seed        k[1] .. k[S-1]            velocity at x + h * sum(b k)
//   stage 0 ------------------> 1 -> 2 -> ... -> S-1 -> S ---------------------------> 1
//                                    ^                  |
//                                    +---- step refused-+  (Runge-Kutta 4-5 only)
//
// Every edge is one call of feed(). The same inline code runs in every kernel, on values held in
// vector registers, with no contraction to fused operations, so that any mixture of kernels,
// batches and hand-overs gives the same bits.
//
// Semantics (step control, order of the termination tests, reasons) follow vtkStreamTracer and
// vtkRungeKutta45 so that lines agree point by point, with two deliberate differences: an error
// estimate of exactly zero asks for the largest step (there: the smallest), and a rest of the
// maximum length that is below the minimum step is still travelled (there: reason 3).

#include <cmath>
#include <cstring>
#include <limits>

#include "Tributary/Advection/Particle.h"
#include "Tributary/Advection/StepRules.h"
#include "Tributary/Advection/Trajectory.h"

namespace tributary {
namespace {  // one private copy per translation unit: kernels are compiled for several processors

/// x, y, z and an unused lane in one vector (GCC and Clang extension; lowered to what the target
/// has).
typedef double V4 __attribute__((vector_size(32)));

inline __attribute__((always_inline)) V4 load(const double* p) {
  V4 v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
inline __attribute__((always_inline)) void store(double* p, V4 v) {
  std::memcpy(p, &v, sizeof v);
}
inline __attribute__((always_inline)) V4 splat(double s) {
  return V4{s, s, s, s};
}
inline __attribute__((always_inline)) double norm(V4 v) {
  const V4 s = v * v;
  return __builtin_sqrt(s[0] + s[1] + s[2]);
}

template <Integrator I>
constexpr int kStages = I == Integrator::RungeKutta2   ? 2
                        : I == Integrator::RungeKutta4 ? 4
                                                       : 6;

/// Where the evaluation of slope k[stage] is made.
template <Integrator I, int Stage>
inline __attribute__((always_inline)) V4 stagePoint(const Particle& p) {
  const V4 x = load(p.x), h = splat(p.h);
  const V4 k0 = load(p.k[0]);
  if constexpr (I == Integrator::RungeKutta2) {
    return x + splat(p.h * 0.5) * k0;
  } else if constexpr (I == Integrator::RungeKutta4) {
    if constexpr (Stage == 1) return x + splat(p.h * 0.5) * k0;
    if constexpr (Stage == 2) return x + splat(p.h * 0.5) * load(p.k[1]);
    return x + h * load(p.k[2]);
  } else {  // Cash and Karp
    if constexpr (Stage == 1) return x + h * (splat(0.2) * k0);
    const V4 k1 = load(p.k[1]);
    if constexpr (Stage == 2) return x + h * (splat(3.0 / 40) * k0 + splat(9.0 / 40) * k1);
    const V4 k2 = load(p.k[2]);
    if constexpr (Stage == 3) return x + h * (splat(0.3) * k0 + splat(-0.9) * k1 + splat(1.2) * k2);
    const V4 k3 = load(p.k[3]);
    if constexpr (Stage == 4)
      return x + h * (splat(-11.0 / 54) * k0 + splat(2.5) * k1 + splat(-70.0 / 27) * k2 +
                      splat(35.0 / 27) * k3);
    const V4 k4 = load(p.k[4]);
    return x +
           h * (splat(1631.0 / 55296) * k0 + splat(175.0 / 512) * k1 + splat(575.0 / 13824) * k2 +
                splat(44275.0 / 110592) * k3 + splat(253.0 / 4096) * k4);
  }
}

/// End of the step; for Runge-Kutta 4-5 also the estimated error.
template <Integrator I>
inline __attribute__((always_inline)) V4 endPoint(const Particle& p, double& error) {
  const V4 x = load(p.x), h = splat(p.h);
  if constexpr (I == Integrator::RungeKutta2) {
    return x + h * load(p.k[1]);
  } else if constexpr (I == Integrator::RungeKutta4) {
    const V4 middle = load(p.k[1]) + load(p.k[2]);
    return x + splat(p.h / 6) * (load(p.k[0]) + (middle + middle) + load(p.k[3]));
  } else {
    const V4 k0 = load(p.k[0]), k2 = load(p.k[2]), k3 = load(p.k[3]), k4 = load(p.k[4]),
             k5 = load(p.k[5]);
    error = norm(h * (splat(37.0 / 378 - 2825.0 / 27648) * k0 +
                      splat(250.0 / 621 - 18575.0 / 48384) * k2 +
                      splat(125.0 / 594 - 13525.0 / 55296) * k3 + splat(-277.0 / 14336) * k4 +
                      splat(512.0 / 1771 - 0.25) * k5));
    return x + h * (splat(37.0 / 378) * k0 + splat(250.0 / 621) * k2 + splat(125.0 / 594) * k3 +
                    splat(512.0 / 1771) * k5);
  }
}

inline __attribute__((always_inline)) void finish(Particle& p, Reason reason) {
  p.status = Status::Finished;
  p.reason = reason;
}

inline void record(const Particle& p, TrajectoryLog& log, std::int32_t cell) {
  TrajectoryPoint& point = log.append();
  std::memcpy(point.x, p.x, sizeof point.x);
  point.time = p.time;
  point.line = p.line;
  point.index = p.steps;
  point.cell = cell;
}

/// The velocity at p.x is known (speed, k[0]): starts the next step or ends the line.
template <Integrator I>
inline __attribute__((always_inline)) bool startStep(const StepRules& rules, Particle& p) {
  // A step clipped to end at a limit may miss it by the rounding of a sum.
  constexpr double kReached = 1 - 4 * std::numeric_limits<double>::epsilon();
  if (p.length >= rules.maximumLength * kReached) return finish(p, Reason::OutOfLength), false;
  if (p.steps > rules.maximumSteps) return finish(p, Reason::OutOfSteps), false;
  const double age = std::fabs(p.time);
  if (age >= rules.maximumTime * kReached) return finish(p, Reason::OutOfTime), false;
  // Written so that a speed that is not a number is also caught.
  if (!(p.speed > rules.terminalSpeed && p.speed > 0))
    return finish(p, p.speed != p.speed ? Reason::UnexpectedValue : Reason::Stagnation), false;

  const double direction = p.backward() ? -1.0 : 1.0;
  double size = std::fabs(p.h);
  bool clipped = false;
  if (p.length + size > rules.maximumLength) {
    size = rules.maximumLength - p.length;
    clipped = true;
  }
  if (size > (rules.maximumTime - age) * p.speed) {
    size = (rules.maximumTime - age) * p.speed;
    clipped = true;
  }
  if (clipped) {
    if (size < p.maximum) p.maximum = size;
    if (size < p.minimum) p.minimum = size;
    p.h = direction * size;
  }
  p.stage = 1;
  p.lastTry = false;
  store(p.target, stagePoint<I, 1>(p));
  return true;
}

/// Step bounds from the cell at p.x; p.h is the size proposed so far (ignored without control).
template <Integrator I>
inline __attribute__((always_inline)) void chooseStep(const StepRules& rules, Particle& p,
                                                      bool first) {
  const double unit = rules.unit == StepUnit::CellLength ? p.cellLength : 1.0;
  const double direction = p.backward() ? -1.0 : 1.0;
  const double initial = rules.initialStep * unit;
  p.minimum = p.maximum = initial;
  if constexpr (I == Integrator::RungeKutta45) {
    if (rules.minimumStep > 0) p.minimum = rules.minimumStep * unit;
    if (rules.maximumStep > 0) p.maximum = rules.maximumStep * unit;
    double size = first ? initial : std::fabs(p.next);
    if (!first) {
      if (size < p.minimum)
        size = p.minimum;
      else if (size > p.maximum)
        size = p.maximum;
    }
    p.h = direction * size;
  } else {
    p.h = direction * initial;
  }
}

/// All slopes are known. @return true to go to the end point, false to try the step again with the
/// p.h that was set, or when p was finished.
inline __attribute__((always_inline)) bool acceptStep(const StepRules& rules, Particle& p,
                                                      double error) {
  const double size = std::fabs(p.h), direction = p.h < 0 ? -1.0 : 1.0;
  p.next = p.h;
  if (p.lastTry || rules.maximumError <= 0 || size == p.minimum) return true;
  const double ratio = error / rules.maximumError;
  const bool good = ratio <= 1;
  if (good) {
    // 0.9 * size * ratio^-0.2 > maximum, without the power: nearly always so.
    const double r = 0.9 * size / p.maximum, r2 = r * r;
    if (ratio < r2 * r2 * r) {
      if (size == p.maximum) return true;
      p.h = p.next = direction * p.maximum;
      p.lastTry = true;
      return false;
    }
  } else if (ratio != ratio) {
    finish(p, Reason::UnexpectedValue);
    return false;
  }
  const double wanted =
      good ? 0.9 * size * std::pow(ratio, -0.2) : 0.9 * size / std::sqrt(std::sqrt(ratio));
  p.lastTry = wanted < p.minimum || wanted > p.maximum;
  const double clamped = wanted < p.minimum ? p.minimum : wanted > p.maximum ? p.maximum : wanted;
  p.next = direction * clamped;
  if (good && !p.lastTry) return true;
  if (good && clamped == size) return true;
  p.h = p.next;
  return false;
}

/// Feeds the velocity at p.target. `Stage` is p.stage, known to the caller.
/// @return true if p wants another evaluation, at the p.target that was set.
template <Integrator I, int Stage>
inline __attribute__((always_inline)) bool feedStage(const StepRules& rules, Particle& p,
                                                     V4 velocity, double cellLength,
                                                     std::int32_t cell, TrajectoryLog& log) {
  constexpr int S = kStages<I>;
  const double speed = norm(velocity);
  const V4 scale = splat(speed > 0 ? 1 / speed : 1.0);
  if constexpr (Stage > 0 && Stage < S) {
    store(p.k[Stage], velocity * scale);
    if constexpr (Stage + 1 < S) {
      p.stage = Stage + 1;
      store(p.target, stagePoint<I, Stage + 1>(p));
      return true;
    } else {
      double error = 0;
      const V4 end = endPoint<I>(p, error);
      if constexpr (I == Integrator::RungeKutta45) {
        if (!acceptStep(rules, p, error)) {
          if (p.status == Status::Finished) return false;
          p.stage = 1;
          store(p.target, stagePoint<I, 1>(p));
          return true;
        }
      }
      if (end[0] == p.x[0] && end[1] == p.x[1] && end[2] == p.x[2])
        return finish(p, Reason::UnexpectedValue), false;
      p.stage = S;
      store(p.target, end);
      return true;
    }
  } else {
    if (!(speed <= std::numeric_limits<double>::max()))
      return finish(p, Reason::UnexpectedValue), false;
    if constexpr (Stage == S) {
      if ((p.speed + speed) / 2 <= rules.terminalSpeed) return finish(p, Reason::Stagnation), false;
      p.time += p.h / p.speed;
      p.length += std::fabs(p.h);
      ++p.steps;
      store(p.x, load(p.target));
    }
    p.speed = speed;
    p.cellLength = cellLength;
    store(p.k[0], velocity * scale);
    if (rules.record) record(p, log, cell);
    chooseStep<I>(rules, p, Stage == 0);
    return startStep<I>(rules, p);
  }
}

/// feedStage for the stage that the particle is in.
template <Integrator I>
inline bool feed(const StepRules& rules, Particle& p, V4 velocity, double cellLength,
                 std::int32_t cell, TrajectoryLog& log) {
  switch (p.stage) {
    case 0:
      return feedStage<I, 0>(rules, p, velocity, cellLength, cell, log);
    case 1:
      return feedStage<I, 1>(rules, p, velocity, cellLength, cell, log);
    case 2:
      return feedStage<I, 2>(rules, p, velocity, cellLength, cell, log);
    case 3:
      if constexpr (kStages<I> >= 3)
        return feedStage<I, 3>(rules, p, velocity, cellLength, cell, log);
      break;
    case 4:
      if constexpr (kStages<I> >= 4)
        return feedStage<I, 4>(rules, p, velocity, cellLength, cell, log);
      break;
    case 5:
      if constexpr (kStages<I> >= 5)
        return feedStage<I, 5>(rules, p, velocity, cellLength, cell, log);
      break;
    case 6:
      if constexpr (kStages<I> >= 6)
        return feedStage<I, 6>(rules, p, velocity, cellLength, cell, log);
      break;
  }
  return finish(p, Reason::UnexpectedValue), false;
}

}  // namespace
}  // namespace tributary
