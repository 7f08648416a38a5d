// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "Tributary/Advection/Stepper.h"

namespace tributary::detail {
inline namespace TRIBUTARY_KERNEL_NAMESPACE {  // see Vector.h

/// The most steps of each lane in one call of a kernel, some 10 to 100 milliseconds. Particles that
/// are still here then stay active, so the tracer can look for an abort between calls.
constexpr std::int64_t StepsPerCall = 4096;

/// A SIMD pack of Width particles in the same stage, one per lane: the state of Particle and the
/// state machine of Stepper.h for all of them. Lanes with special cases are processed by the
/// functions for one particle.
template <Integrator I, Flow F>
struct ParticlePack {
  static constexpr int S = Stages<I>;

  // As in Particle.
  Wide x[3]{}, target[3]{}, k[S][3]{};
  Wide h{}, next{}, minimum{}, maximum{}, cellLength{}, speed{}, time{}, length{};
  WideInt steps{}, line{};
  Wide direction{};   ///< 1 or -1.
  Wide targetTime{};  ///< Of the targets, in an unsteady field.
  Particle* particle[Width];
  LaneSet alive = 0;    ///< Lanes that hold a particle.
  LaneSet refused = 0;  ///< Sent back to stage 1 by error control; they wait there for the others.
  LaneSet lastTry = 0;
  LaneSet atEvent = 0;  ///< Lanes that have lost their particle to the search for an event.

  /// Takes a particle that begins a step into a lane.
  void enter(Particle& p, int l) {
    for (int a = 0; a < 3; ++a) {
      x[a][l] = p.x[a];
      target[a][l] = p.target[a];
      k[0][a][l] = p.k[0][a];
    }
    h[l] = p.h;
    next[l] = p.next;
    minimum[l] = p.minimum;
    maximum[l] = p.maximum;
    cellLength[l] = p.cellLength;
    speed[l] = p.speed;
    time[l] = p.time;
    length[l] = p.length;
    steps[l] = p.steps;
    line[l] = p.line;
    direction[l] = directionOf(p);
    if constexpr (F == Flow::Unsteady) targetTime[l] = stageTime<I, 1>(p);
    particle[l] = &p;
    alive |= 1u << l;
    refused &= ~(1u << l);
    lastTry &= ~(1u << l);
    if (p.lastTry) lastTry |= 1u << l;
  }

  /// Writes a lane back to its particle, which is in the given stage, and empties it.
  Particle& leave(int l, int stage) {
    Particle& p = *particle[l];
    for (int a = 0; a < 3; ++a) {
      p.x[a] = x[a][l];
      p.target[a] = target[a][l];
      for (int s = 0; s < S; ++s) p.k[s][a] = k[s][a][l];
    }
    p.h = h[l];
    p.next = next[l];
    p.minimum = minimum[l];
    p.maximum = maximum[l];
    p.cellLength = cellLength[l];
    p.speed = speed[l];
    p.time = time[l];
    p.length = length[l];
    p.steps = static_cast<std::int32_t>(steps[l]);
    p.lastTry = lastTry >> l & 1;
    p.stage = static_cast<std::uint8_t>(refused >> l & 1 ? 1 : stage);
    alive &= ~(1u << l);
    return p;
  }

  /// Leaves all lanes where they begin a step.
  void putBack() {
    forEach(alive, [&](int l) { leave(l, 1); });
  }

  /// Feeds the velocities at the targets to all lanes in stage `Stage`.
  /// @param length  of the cells that hold the targets
  /// @param cell    their numbers for the log, or null for none
  template <int Stage>
  TRIBUTARY_INLINE void feed(const StepRules& rules, const Wide velocity[3], Wide lengthOfCell,
                             const std::int32_t* cell, TrajectoryLog& log) {
    const Wide newSpeed = tributary::norm(velocity);
    const Wide scale =
        F == Flow::Steady ? select(newSpeed > 0, 1 / newSpeed, all<Wide>(1)) : all<Wide>(1);
    if constexpr (Stage < S) {
      for (int a = 0; a < 3; ++a) k[Stage][a] = velocity[a] * scale;
      if constexpr (Stage + 1 < S) {
        for (int a = 0; a < 3; ++a) target[a] = stagePoint<I, Stage + 1>(*this, a);
        if constexpr (F == Flow::Unsteady) targetTime = stageTime<I, Stage + 1>(*this);
      } else {
        endStep(rules);
      }
    } else {
      beginStep(rules, velocity, newSpeed, scale, lengthOfCell, cell, log);
    }
  }

 private:
  /// All slopes are known: the targets become the ends of the steps, or step control decides
  /// otherwise.
  TRIBUTARY_INLINE void endStep(const StepRules& rules) {
    Wide newH = h, newNext = next;
    WideInt accepted = toCondition(AllLanes);
    if constexpr (I == Integrator::RungeKutta45) {
      const auto verdict =
          judgeStep<F, WideInt>(rules, *this, stepError<Wide>(*this),
                                toCondition(rules.maximumError <= 0 ? AllLanes : lastTry));
      forEach(toLanes(verdict.undefined) & alive,
              [&](int l) { finish(leave(l, S - 1), Reason::UnexpectedValue); });
      newH = verdict.h;
      newNext = verdict.next;
      accepted = verdict.accepted;
      refused = toLanes(accepted) ^ AllLanes;
      lastTry = (refused & toLanes(verdict.lastTry)) | (lastTry & ~refused);
    }
    Wide end[3];
    for (int a = 0; a < 3; ++a) end[a] = endPoint<I>(*this, a);
    if constexpr (F == Flow::Steady) {
      const LaneSet resting =
          toLanes((end[0] == x[0]) & (end[1] == x[1]) & (end[2] == x[2]) & accepted);
      forEach(resting & alive, [&](int l) {
        Particle& p = leave(l, S - 1);
        finish(p, reasonAtRest(rules, p));
      });
    }
    h = newH;
    next = newNext;
    if constexpr (F == Flow::Unsteady)
      targetTime = select(accepted, endTime(rules, *this), stageTime<I, 1>(*this));
    for (int a = 0; a < 3; ++a)
      if constexpr (I == Integrator::RungeKutta45)
        target[a] = select(accepted, end[a], stagePoint<I, 1>(*this, a));
      else
        target[a] = end[a];
  }

  /// The velocity at the ends of the steps is known: accepts these and begins the next ones.
  TRIBUTARY_INLINE void beginStep(const StepRules& rules, const Wide velocity[3], Wide newSpeed,
                                  Wide scale, Wide lengthOfCell, const std::int32_t* cell,
                                  TrajectoryLog& log) {
    struct {
      Wide h, next, minimum, maximum, time, length, direction;
      WideInt steps;
    } then;
    then.time = F == Flow::Unsteady ? targetTime : time + h / speed;
    then.length = F == Flow::Unsteady ? length : length + magnitude(h);
    if (F == Flow::Unsteady && __builtin_expect(rules.events.count > 0, 0))
      then.length += distance(x, target);
    then.steps = steps + 1;
    then.next = next;
    then.direction = direction;
    chooseStep<I, F>(rules, then, lengthOfCell, newSpeed);
    WideInt plain = (newSpeed <= std::numeric_limits<double>::max()) &
                    startsPlainly<F, WideInt>(rules, then, newSpeed);
    if constexpr (F == Flow::Steady) plain &= (speed + newSpeed) / 2 > rules.terminalSpeed;
    if (__builtin_expect(rules.events.count > 0, 0))
      plain &= mayCross(rules, *this, target, then.time, then.length) == 0;
    const LaneSet here = alive & ~refused, odd = here & ~toLanes(plain);
    LaneSet back = 0;
    if (__builtin_expect(odd != 0, 0))
      forEach(odd, [&](int l) {
        const double v[3] = {velocity[0][l], velocity[1][l], velocity[2][l]};
        Particle& p = leave(l, S);
        if (!feedStage<I, F, S>(rules, p, v, lengthOfCell[l], cell ? cell[l] : -1, log)) return;
        (p.isAtEvent() ? atEvent : back) |= 1u << l;
      });

    const auto commit = [&](auto& member, auto value) __attribute__((always_inline)) {
      if constexpr (I == Integrator::RungeKutta45)
        member = toCondition(refused) ? member : value;
      else
        member = value;
    };
    for (int a = 0; a < 3; ++a) {
      commit(x[a], target[a]);
      commit(k[0][a], velocity[a] * scale);
    }
    commit(h, then.h);
    commit(minimum, then.minimum);
    commit(maximum, then.maximum);
    commit(cellLength, lengthOfCell);
    commit(speed, newSpeed);
    commit(time, then.time);
    commit(length, then.length);
    commit(steps, then.steps);
    for (int a = 0; a < 3; ++a) target[a] = stagePoint<I, 1>(*this, a);
    if constexpr (F == Flow::Unsteady) targetTime = stageTime<I, 1>(*this);
    lastTry &= refused;
    refused = 0;
    if (rules.record)
      forEach(
          here & ~odd, [&](int l) __attribute__((always_inline)) {
            TrajectoryPoint& point = log.append();
            for (int a = 0; a < 3; ++a) point.x[a] = x[a][l];
            point.time = time[l];
            point.line = line[l];
            point.index = static_cast<std::int32_t>(steps[l]);
            point.cell = cell ? cell[l] : -1;
          });
    if (__builtin_expect(back != 0, 0)) forEach(back, [&](int l) { enter(*particle[l], l); });
  }
};

}  // namespace TRIBUTARY_KERNEL_NAMESPACE
}  // namespace tributary::detail
