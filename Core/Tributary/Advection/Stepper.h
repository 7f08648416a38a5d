// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The integrators, as a state machine whose input is one velocity at a time.
//
// Problem. A Runge-Kutta step needs several velocities, and the cells of these points may be on
// different ranks. A tracer that restarts the step in a new piece gives different results on
// different partitions. This one sends the unfinished step instead (see Particle).
//
//            velocity at seed        k[1] .. k[S-1]            velocity at x + h * sum(b k)
//   stage 0 ------------------> 1 -> 2 -> ... -> S-1 -> S ---------------------------> 1
//                                    ^                  |
//                                    +---- step refused-+  (Runge-Kutta 4-5 only)
//
// Each edge is one call of feed(), for one particle here and for several in ParticlePack.h. Both
// use the same templates, without contraction to fused operations, so any mixture of kernels,
// batches and hand-overs gives the same bits.
//
// Semantics (step control, order of the termination tests, reasons) follow vtkStreamTracer and
// vtkRungeKutta45, so lines agree point by point. There are three deliberate differences: after an
// error estimate of exactly zero the next step is the largest (VTK: the smallest); a last step to
// the maximum length may be shorter than the minimum step (VTK: the line ends with reason 3); and a
// step that leads to where it begins ends the line by stagnation (VTK: with reason 3 in Runge-Kutta
// 4-5, after any number of such steps in the others).
//
// A step that crosses an event (Events.h) waits at stage S. Parts of it are taken again, through
// the same stages, until one ends at the crossing, where stage S records it. Then the particle
// returns to the end of its step, and goes on as if there were no events.
//
// In an unsteady field (StepRules::interval) the same schemes integrate in time: slopes are
// velocities, `h` is a time, and each stage is evaluated at its own time. With events, the length
// of a line is the sum of the distances of its points.

#include <cstring>
#include <limits>

#include "Tributary/Advection/Particle.h"
#include "Tributary/Advection/StepRules.h"
#include "Tributary/Advection/Trajectory.h"
#include "Tributary/Advection/Vector.h"
#include "Tributary/Advection/detail/kernels/EventTest.h"

namespace tributary {
inline namespace TRIBUTARY_KERNEL_NAMESPACE {  // see Vector.h

/// Number of slopes of a step.
template <Integrator I>
constexpr int Stages = I == Integrator::RungeKutta2   ? 2
                       : I == Integrator::RungeKutta4 ? 4
                                                      : 6;

/// Whether a field changes in time: see StepRules::interval.
enum class Flow { Steady, Unsteady };

/// Euclidean length.
template <class Number>
TRIBUTARY_INLINE Number norm(const Number v[3]) {
  return root(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

// The templates below take a Particle, or a ParticlePack, whose members have the same names.

/// 1 or -1.
TRIBUTARY_INLINE double directionOf(const Particle& p) {
  return p.backward() ? -1.0 : 1.0;
}
/// @overload
template <class P>
TRIBUTARY_INLINE auto directionOf(const P& p) {
  return p.direction;
}

/// The coordinate, along an axis, of the evaluation of slope k[Stage].
template <Integrator I, int Stage, class P>
TRIBUTARY_INLINE auto stagePoint(const P& p, int a) {
  const auto& k = p.k;
  if constexpr (I == Integrator::RungeKutta2) {
    return p.x[a] + (p.h * 0.5) * k[0][a];
  } else if constexpr (I == Integrator::RungeKutta4) {
    if constexpr (Stage < 3)
      return p.x[a] + (p.h * 0.5) * k[Stage - 1][a];
    else
      return p.x[a] + p.h * k[2][a];
  } else if constexpr (Stage == 1) {  // Cash and Karp
    return p.x[a] + p.h * (0.2 * k[0][a]);
  } else if constexpr (Stage == 2) {
    return p.x[a] + p.h * ((3.0 / 40) * k[0][a] + (9.0 / 40) * k[1][a]);
  } else if constexpr (Stage == 3) {
    return p.x[a] + p.h * (0.3 * k[0][a] + -0.9 * k[1][a] + 1.2 * k[2][a]);
  } else if constexpr (Stage == 4) {
    return p.x[a] + p.h * ((-11.0 / 54) * k[0][a] + 2.5 * k[1][a] + (-70.0 / 27) * k[2][a] +
                           (35.0 / 27) * k[3][a]);
  } else {
    return p.x[a] +
           p.h * ((1631.0 / 55296) * k[0][a] + (175.0 / 512) * k[1][a] + (575.0 / 13824) * k[2][a] +
                  (44275.0 / 110592) * k[3][a] + (253.0 / 4096) * k[4][a]);
  }
}

/// End of the step, along an axis.
template <Integrator I, class P>
TRIBUTARY_INLINE auto endPoint(const P& p, int a) {
  const auto& k = p.k;
  if constexpr (I == Integrator::RungeKutta2) {
    return p.x[a] + p.h * k[1][a];
  } else if constexpr (I == Integrator::RungeKutta4) {
    const auto middle = k[1][a] + k[2][a];
    return p.x[a] + (p.h / 6) * (k[0][a] + (middle + middle) + k[3][a]);
  } else {
    return p.x[a] + p.h * ((37.0 / 378) * k[0][a] + (250.0 / 621) * k[2][a] +
                           (125.0 / 594) * k[3][a] + (512.0 / 1771) * k[5][a]);
  }
}

/// The time at which the velocity for slope k[Stage] is evaluated in an unsteady field.
template <Integrator I, int Stage, class P>
TRIBUTARY_INLINE auto stageTime(const P& p) {
  constexpr double CashKarp[6] = {0, 0.2, 0.3, 0.6, 1, 0.875};
  constexpr double Node = I == Integrator::RungeKutta45 ? CashKarp[Stage]
                          : Stage == 0                  ? 0
                          : Stage == 3                  ? 1
                                                        : 0.5;
  return p.time + p.h * Node;
}

/// The end of the step in an unsteady field.
template <class P>
TRIBUTARY_INLINE auto endTime(const StepRules& rules, const P& p) {
  return detail::timeAfter(rules, p.time, p.h);
}

/// How far in an interval a time is, from 0 to 1.
template <class Number>
TRIBUTARY_INLINE Number shareOf(const StepRules& rules, Number time) {
  const TimeInterval& interval = *rules.interval;
  return (time - interval.begin) / (interval.end - interval.begin);
}

/// The value at a share of an interval: exactly one of the two values at its ends, whatever the
/// other one is.
template <class Number>
TRIBUTARY_INLINE Number valueBetween(Number early, Number late, Number share) {
  return select(share == 0, early, select(share == 1, late, early + share * (late - early)));
}

/// The estimated error of a step of Runge-Kutta 4-5.
template <class Number, class P>
TRIBUTARY_INLINE Number stepError(const P& p) {
  Number error[3];
  for (int a = 0; a < 3; ++a)
    error[a] = p.h * ((37.0 / 378 - 2825.0 / 27648) * p.k[0][a] +
                      (250.0 / 621 - 18575.0 / 48384) * p.k[2][a] +
                      (125.0 / 594 - 13525.0 / 55296) * p.k[3][a] + (-277.0 / 14336) * p.k[4][a] +
                      (512.0 / 1771 - 0.25) * p.k[5][a]);
  return norm(error);
}

/// The decision of error control on a step.
template <class Number, class Condition>
struct StepVerdict {
  Condition accepted;   ///< Go to the end point; else try again with `h`.
  Condition lastTry;    ///< Of the step that is tried again.
  Condition undefined;  ///< The error is not a number: the line ends.
  Number h, next;       ///< As in Particle.
};

/// In a steady field, as in VTK, a step is also tried again if it could be longer. In an unsteady
/// one, where the bounds of steps change with the speed, only the next step becomes longer.
/// @param settled  accept the step for any error
template <Flow F, class Condition, class P, class Number>
TRIBUTARY_INLINE StepVerdict<Number, Condition> judgeStep(const StepRules& rules, const P& p,
                                                          Number error, Condition settled) {
  const Number h = p.h, size = magnitude(h), minimum = p.minimum, maximum = p.maximum;
  settled = settled | (size == minimum);
  const Number ratio = error / rules.maximumError;
  const Condition good = ratio <= 1;
  // 0.9 * size * ratio^-0.2 > maximum, without the power, which is infinite for an error of zero.
  const Number r = 0.9 * size / maximum, r2 = r * r;
  const Condition plenty = good & (ratio < r2 * r2 * r);
  const Number wanted =
      select(good, 0.9 * size * inverseFifthRoot(ratio), 0.9 * size / root(root(ratio)));
  const Condition above = plenty | (wanted > maximum);
  const Condition limited = above | (wanted < minimum);
  const Number clamped = select(limited, select(above, maximum, minimum), wanted);
  StepVerdict<Number, Condition> verdict;
  verdict.accepted =
      settled | (F == Flow::Unsteady ? good : good & ((limited == 0) | (clamped == size)));
  verdict.lastTry = limited;
  verdict.undefined = (settled == 0) & (ratio != ratio);  // NOLINT(misc-redundant-expression): NaN
  verdict.next = select(settled, h, directionOf(p) * clamped);
  verdict.h = select(verdict.accepted, h, verdict.next);
  return verdict;
}

/// The unit of step sizes at a point, from the length of its cell. In an unsteady field it is a
/// time, and infinite where the velocity is 0.
template <Flow F, class Number>
TRIBUTARY_INLINE Number unitOfStep(const StepRules& rules, Number cellLength, Number speed) {
  const Number unit = rules.unit == StepUnit::CellLength ? cellLength : all<Number>(1);
  return F == Flow::Unsteady ? unit / speed : unit;
}

/// In an unsteady field, error control may choose steps of this share of the interval, however slow
/// the flow is.
constexpr double SmallestShare = 1.0 / 128;

/// Size and bounds of the next step from the length of the cell at p.x.
template <Integrator I, Flow F, class P, class Number>
TRIBUTARY_INLINE void chooseStep(const StepRules& rules, P& p, Number cellLength, Number speed) {
  const Number unit = unitOfStep<F>(rules, cellLength, speed);
  const Number initial = rules.initialStep * unit;
  p.minimum = p.maximum = initial;
  Number size = initial;
  if constexpr (I == Integrator::RungeKutta45) {
    if (rules.minimumStep > 0) p.minimum = rules.minimumStep * unit;
    if (rules.maximumStep > 0) p.maximum = rules.maximumStep * unit;
    if constexpr (F == Flow::Unsteady) {
      const TimeInterval& interval = *rules.interval;
      const Number most = directionOf(p) * (interval.stop - p.time);  // no step crosses it
      const Number least = all<Number>(SmallestShare * (interval.end - interval.begin));
      p.maximum = select(p.maximum < most, p.maximum, most);
      p.minimum = select(p.minimum < least, p.minimum, least);
    }
    size = magnitude(p.next);
    size = select(size < p.minimum, p.minimum, select(size > p.maximum, p.maximum, size));
  }
  p.h = directionOf(p) * size;
}

/// A step in an unsteady field that would leave less than this share of the rest of the interval
/// takes all of the rest.
constexpr double NearlyAll = 1 - 0x1p-10;

/// Whether p starts its next step unchanged: startStep() would neither end the line nor clip it.
template <Flow F, class Condition, class P, class Number>
TRIBUTARY_INLINE Condition startsPlainly(const StepRules& rules, const P& p, Number speed) {
  const Number size = magnitude(p.h), age = magnitude(p.time), length = p.length;
  const Condition usual = (p.steps <= rules.maximumSteps) & (speed > rules.terminalSpeed);
  if constexpr (F == Flow::Unsteady)
    return usual & (size < directionOf(p) * (rules.interval->stop - p.time) * NearlyAll);
  else
    return usual & (length < rules.maximumLength * Reached) & (age < rules.maximumTime * Reached) &
           (speed > 0) & (length + size <= rules.maximumLength) &
           (size <= (rules.maximumTime - age) * speed);
}

/// Why a line ends whose next step leads to where it begins. Fixed steps settle so beside a sink
/// that is closer than a step, where the directions of a step cancel. Or the step was clipped at a
/// limit to less than the rounding error of the position.
inline Reason reasonAtRest(const StepRules& rules, const Particle& p) {
  const double size = magnitude(p.h);
  if (p.length + size >= rules.maximumLength * Reached) return Reason::OutOfLength;
  if (size >= (rules.maximumTime * Reached - magnitude(p.time)) * p.speed) return Reason::OutOfTime;
  return Reason::Stagnation;
}

/// Ends the line.
TRIBUTARY_INLINE void finish(Particle& p, Reason reason) {
  p.status = Status::Finished;
  p.reason = reason;
}

/// Whether a line has all the steps that it may have.
inline bool isOutOfSteps(const StepRules& rules, const Particle& p) {
  return p.steps > rules.maximumSteps;
}

/// Shortens a step to end at a limit, and with it the bounds of error control.
/// @param size  the distance to the limit
inline void clipStep(Particle& p, double size) {
  if (size < p.maximum) p.maximum = size;
  if (size < p.minimum) p.minimum = size;
  p.h = directionOf(p) * size;
}

/// Prepares the first evaluation of a step.
template <Integrator I>
inline void beginStages(Particle& p) {
  p.stage = 1;
  p.lastTry = false;
  for (int a = 0; a < 3; ++a) p.target[a] = stagePoint<I, 1>(p, a);
}

/// As startStep(), in an unsteady field.
template <Integrator I>
[[nodiscard]] inline bool startUnsteadyStep(const StepRules& rules, Particle& p) {
  const double rest = directionOf(p) * (rules.interval->stop - p.time);
  if (!(rest > 0)) return finish(p, Reason::OutOfTime), false;
  if (isOutOfSteps(rules, p)) return finish(p, Reason::OutOfSteps), false;
  if (rules.terminalSpeed > 0 && p.speed <= rules.terminalSpeed)
    return finish(p, Reason::Stagnation), false;
  if (!(magnitude(p.h) < rest * NearlyAll)) clipStep(p, rest);
  beginStages<I>(p);
  return true;
}

/// Starts the chosen step, or ends the line. @pre the velocity at p.x is known (speed, k[0])
/// @return whether the line continues
template <Integrator I>
[[nodiscard]] inline bool startStep(const StepRules& rules, Particle& p) {
  if (p.length >= rules.maximumLength * Reached) return finish(p, Reason::OutOfLength), false;
  if (isOutOfSteps(rules, p)) return finish(p, Reason::OutOfSteps), false;
  const double age = magnitude(p.time);
  if (age >= rules.maximumTime * Reached) return finish(p, Reason::OutOfTime), false;
  // Written so that a speed that is not a number is also caught.
  if (!(p.speed > rules.terminalSpeed && p.speed > 0))
    return finish(p, p.speed != p.speed ? Reason::UnexpectedValue : Reason::Stagnation), false;

  double size = magnitude(p.h);
  bool clipped = false;
  if (p.length + size > rules.maximumLength) {
    size = rules.maximumLength - p.length;
    clipped = true;
  }
  if (size > (rules.maximumTime - age) * p.speed) {
    size = (rules.maximumTime - age) * p.speed;
    clipped = true;
  }
  if (clipped) clipStep(p, size);
  beginStages<I>(p);
  return true;
}

/// Moves a particle to the end of its step, or of a part of it, at p.target.
template <Flow F>
inline void moveOn(const StepRules& rules, Particle& p) {
  if constexpr (F == Flow::Steady) {
    p.time += p.h / p.speed;
    p.length += magnitude(p.h);
  } else {
    p.time = endTime(rules, p);
    if (rules.events.count > 0) p.length += detail::distance(p.x, p.target);
  }
  if (rules.fields)
    std::memcpy(p.events->startField, p.events->endField, sizeof p.events->endField);
  ++p.steps;
  std::memcpy(p.x, p.target, sizeof p.x);
}

/// Records where a particle is.
inline void recordPoint(const StepRules& rules, const Particle& p, std::int32_t cell,
                        TrajectoryLog& log) {
  if (!rules.record) return;
  TrajectoryPoint& point = log.append();
  std::memcpy(point.x, p.x, sizeof point.x);
  point.time = p.time;
  point.line = p.line;
  point.index = p.steps;
  point.cell = cell;
}

/// Begins a step at p.x, or ends the line.
/// @param slope,speed  direction and magnitude of the velocity there
/// @return whether the line continues
template <Integrator I, Flow F, int Stage>
[[nodiscard]] inline bool beginStep(const StepRules& rules, Particle& p, const double slope[3],
                                    double speed, double cellLength, std::int32_t cell,
                                    TrajectoryLog& log) {
  p.speed = speed;
  p.cellLength = cellLength;
  for (int a = 0; a < 3; ++a) p.k[0][a] = slope[a];
  recordPoint(rules, p, cell, log);
  chooseStep<I, F>(rules, p, cellLength, speed);
  if constexpr (Stage == 0)  // also if it is out of bounds
    p.h = directionOf(p) * (rules.initialStep * unitOfStep<F>(rules, cellLength, speed));
  if constexpr (F == Flow::Unsteady)
    return startUnsteadyStep<I>(rules, p);
  else
    return startStep<I>(rules, p);
}

/// Takes a part of a step again.
template <Integrator I>
inline void takePart(Particle& p, double h) {
  p.h = h;
  beginStages<I>(p);
}

/// Searches for the zero of a candidate in the part of the step that ends at `end`.
/// @param fields  their values there; null if no event is of a field
template <Integrator I>
inline void searchZero(const StepRules& rules, Particle& p, int candidate, const double end[3],
                       double h, const double* fields) {
  p.events->moves = 0;
  detail::bracket(rules, p, candidate, end, h, fields);
  takePart<I>(p, detail::secantZero(*p.events));
}

/// Goes on with the next event of the step, or returns to its end. A surface may be crossed again.
template <Integrator I>
inline void leaveCandidate(const StepRules& rules, Particle& p) {
  EventProgress& e = *p.events;
  const unsigned member = detail::memberOf(rules, p, e.candidate);
  if ((e.handled & member) != 0 || !detail::goToNextHit(rules, p, e.candidate, false))
    e.handled = static_cast<std::uint16_t>(e.handled | member);
  e.tried = 0;
  e.best = -1;
  const int next = detail::nextCandidate(rules, p, e.end, e.fullStep, e.endField, e.handled);
  if (next >= 0) return searchZero<I>(rules, p, next, e.end, e.fullStep, e.endField);
  p.stage = Stages<I>;
  e.phase = EventPhase::Return;
}

/// Begins to search for the events of a step, at whose end p.target the velocity is known.
/// @return whether there are any
template <Integrator I>
[[nodiscard]] inline bool beginEvents(const StepRules& rules, Particle& p, const double slope[3],
                                      double speed, double cellLength, std::int32_t cell) {
  EventProgress& e = *p.events;
  std::memcpy(e.end, p.target, sizeof e.end);
  e.fullStep = p.h;
  detail::evaluateFields(rules, p, cell, detail::timeOfPart(rules, p, p.h), e.endField);
  detail::findFirstHits(rules, p);
  const int candidate = detail::nextCandidate(rules, p, e.end, p.h, e.endField, 0);
  if (candidate < 0) return false;
  std::memcpy(e.slope, slope, sizeof e.slope);
  e.speed = speed;
  e.cellLength = cellLength;
  e.endBlock = -1;
  e.endCell = cell;
  e.handled = e.tried = e.failed = 0;
  e.reached = 0;
  e.best = -1;
  searchZero<I>(rules, p, candidate, e.end, p.h, e.endField);
  return true;
}

/// Takes the next part of a step in the search for a zero, unless it is found.
/// @param end  of the last part
/// @param fields  their values there, if the candidate is of a field
/// @return whether the zero is found
template <Integrator I>
[[nodiscard]] inline bool isZeroFound(const StepRules& rules, Particle& p, const double end[3],
                                      const double* fields) {
  EventProgress& e = *p.events;
  const Event& event = rules.events.event[e.candidate % MostEvents];
  const double value = detail::candidateValue(rules, p, e.candidate, end, p.h, fields);
  if (value != value) return leaveCandidate<I>(rules, p), false;
  const double next =
      detail::narrow(e, p.h, value, detail::eventRounding(event, p, end), detail::jumps(event));
  if (next != p.h) return takePart<I>(p, next), false;
  if (detail::moveToClosest(rules, p, end)) return takePart<I>(p, detail::secantZero(e)), false;
  // A jump is recorded behind it, where the new label is.
  detail::keepEarliest(e, detail::jumps(event)            ? e.high
                          : detail::isLate(rules, e, p.h) ? e.reached
                                                          : p.h);
  return true;
}

/// A zero is found at the end of a part: looks for crossings before it.
/// @param fields  as in searchZero()
/// @return whether the part ends at the first crossing; otherwise the particle takes another part
template <Integrator I>
[[nodiscard]] inline bool isAtEarliest(const StepRules& rules, Particle& p, const double end[3],
                                       const double* fields) {
  EventProgress& e = *p.events;
  const int earlier = detail::nextCandidate(rules, p, end, p.h, fields, e.handled | e.tried);
  if (earlier >= 0) return searchZero<I>(rules, p, earlier, end, p.h, fields), false;
  if (e.best < 0) return leaveCandidate<I>(rules, p), false;  // of a malformed message
  const bool isBest = e.candidate == e.best && e.bestStep == p.h;
  e.candidate = e.best;
  e.phase = EventPhase::Arrive;
  if (!isBest) takePart<I>(p, e.bestStep);
  return isBest;
}

/// All slopes of a part of a step are known. With fields, what follows is decided when these are
/// evaluated at its end.
template <Integrator I>
inline void endPart(const StepRules& rules, Particle& p) {
  EventProgress& e = *p.events;
  const double end[3] = {endPoint<I>(p, 0), endPoint<I>(p, 1), endPoint<I>(p, 2)};
  if (e.phase == EventPhase::Search) {
    const Event& event = rules.events.event[e.candidate % MostEvents];
    if (!isOfField(event.kind) && !isZeroFound<I>(rules, p, end, nullptr)) return;
    if (!rules.fields && !isAtEarliest<I>(rules, p, end, nullptr)) return;
  }
  if (e.phase == EventPhase::Arrive && !detail::isCrossingAt(rules, p, e.candidate, end))
    return leaveCandidate<I>(rules, p);
  p.stage = Stages<I>;
  std::memcpy(p.target, end, sizeof end);
}

/// The velocity at the end of a part of a step is known, at p.target.
/// @return whether there is a crossing to record
template <Integrator I>
[[nodiscard]] inline bool arriveAtPart(const StepRules& rules, Particle& p, std::int32_t cell) {
  EventProgress& e = *p.events;
  if (e.phase != EventPhase::Search) return true;
  if (!rules.fields) return leaveCandidate<I>(rules, p), false;  // of a malformed message
  double fields[MostEvents];
  detail::evaluateFields(rules, p, cell, detail::timeOfPart(rules, p, p.h), fields);
  const double end[3] = {p.target[0], p.target[1], p.target[2]};
  const Event& event = rules.events.event[e.candidate % MostEvents];
  if (isOfField(event.kind) && !isZeroFound<I>(rules, p, end, fields)) return false;
  if (!isAtEarliest<I>(rules, p, end, fields)) return false;
  const bool counts = detail::isCrossingAt(rules, p, e.candidate, end);
  if (!counts) leaveCandidate<I>(rules, p);
  return counts;
}

/// Records the crossing at p.target, and ends the line there if the event does.
/// @return whether the line continues
template <Integrator I, Flow F>
[[nodiscard]] inline bool recordCrossing(const StepRules& rules, Particle& p, std::int32_t cell,
                                         TrajectoryLog& log) {
  EventProgress& e = *p.events;
  const int number = e.candidate % MostEvents;
  CrossingPoint crossing;
  std::memcpy(crossing.point.x, p.target, sizeof crossing.point.x);
  detail::imageOfCrossing(rules, p, crossing.image);
  crossing.point.time = detail::timeOfPart(rules, p, p.h);
  crossing.point.line = p.line;
  crossing.point.index = 0;
  for (const std::int32_t count : e.count) crossing.point.index += count;
  crossing.point.cell = cell;
  crossing.length = detail::lengthOfPart(rules, p, p.target, p.h);
  crossing.event = number;
  crossing.number = ++e.count[number];
  crossing.target = detail::targetOf(rules, p);
  e.reached = p.h;
  log.appendCrossing(crossing);
  if (crossing.number != rules.events.event[number].endsLine) {
    leaveCandidate<I>(rules, p);
    return true;
  }
  moveOn<F>(rules, p);
  recordPoint(rules, p, cell, log);
  e.phase = EventPhase::None;
  return finish(p, Reason::Event), false;
}

/// Whether a particle goes on from the end of its step, for which it needs no evaluation.
inline bool isReturning(const Particle& p) {
  return p.isAtEvent() &&
         (p.events->phase == EventPhase::Return || p.events->phase == EventPhase::Fallback);
}

/// Moves a particle to the cell of the end of its step, which may be in another block.
inline void goToEnd(Particle& p) {
  const EventProgress& e = *p.events;
  p.cell = e.endCell;
  p.face = Particle::AnyFace;
  p.crossings = 0;
  if (e.endBlock >= 0) p.block = e.endBlock;
}

/// Goes on from the end of the step. @pre isReturning(p)
/// @return whether the particle needs an evaluation here; otherwise the line has ended, or goes on
///         in another block
template <Integrator I, Flow F>
[[nodiscard]] inline bool returnToStep(const StepRules& rules, Particle& p, TrajectoryLog& log) {
  EventProgress& e = *p.events;
  goToEnd(p);
  if (e.endBlock >= 0) return false;
  if (e.phase == EventPhase::Fallback) {
    const unsigned member = detail::memberOf(rules, p, e.candidate);
    e.failed = static_cast<std::uint16_t>(e.failed | member);
    e.handled = static_cast<std::uint16_t>(e.handled | member);  // with the next ones of a surface
    leaveCandidate<I>(rules, p);
    if (e.phase != EventPhase::Return) return true;
  }
  p.h = e.fullStep;
  std::memcpy(p.target, e.end, sizeof e.end);
  for (int candidate = 0; e.failed != 0 && candidate < detail::EventCandidates; ++candidate) {
    const unsigned member = detail::memberOf(rules, p, candidate);
    if ((e.failed & member) == 0) continue;
    e.failed = static_cast<std::uint16_t>(e.failed ^ member);
    e.candidate = static_cast<std::int8_t>(candidate);
    do {
      const bool counts = detail::isCrossingBetweenEnds(rules, p, candidate);
      if (counts && !recordCrossing<I, F>(rules, p, e.endCell, log)) return false;
    } while (detail::goToNextHit(rules, p, candidate, false));
  }
  e.phase = EventPhase::None;
  moveOn<F>(rules, p);
  return beginStep<I, F, Stages<I>>(rules, p, e.slope, e.speed, e.cellLength, e.endCell, log);
}

/// A part of a step leads out of the domain, although the whole step does not. The crossing that it
/// was to find is recorded at the end of the step. One that was found after it is searched again.
inline void fallBack(Particle& p) {
  p.events->phase = EventPhase::Fallback;
  p.status = Status::Active;
  p.reason = Reason::None;
  goToEnd(p);
}

/// Processes the velocity at p.target. @pre Stage == p.stage
/// @return true if p needs another evaluation, at its new target, or isReturning(p); false if the
///         line ended
template <Integrator I, Flow F, int Stage>
[[nodiscard]] bool feedStage(const StepRules& rules, Particle& p, const double velocity[3],
                             double cellLength, std::int32_t cell, TrajectoryLog& log) {
  constexpr int S = Stages<I>;
  const double speed = norm(velocity);
  const double scale = F == Flow::Steady && speed > 0 ? 1 / speed : 1.0;
  if constexpr (Stage > 0 && Stage < S) {
    for (int a = 0; a < 3; ++a) p.k[Stage][a] = velocity[a] * scale;
    if constexpr (Stage + 1 < S) {
      p.stage = Stage + 1;
      for (int a = 0; a < 3; ++a) p.target[a] = stagePoint<I, Stage + 1>(p, a);
    } else {
      if (p.isAtEvent()) return endPart<I>(rules, p), true;
      if constexpr (I == Integrator::RungeKutta45) {
        const auto verdict = judgeStep<F, bool>(rules, p, stepError<double>(p),
                                                p.lastTry || rules.maximumError <= 0);
        if (verdict.undefined) return finish(p, Reason::UnexpectedValue), false;
        p.h = verdict.h;
        p.next = verdict.next;
        if (!verdict.accepted) {
          p.lastTry = verdict.lastTry;
          p.stage = 1;
          for (int a = 0; a < 3; ++a) p.target[a] = stagePoint<I, 1>(p, a);
          return true;
        }
      }
      const double end[3] = {endPoint<I>(p, 0), endPoint<I>(p, 1), endPoint<I>(p, 2)};
      if (F == Flow::Steady && end[0] == p.x[0] && end[1] == p.x[1] && end[2] == p.x[2])
        return finish(p, reasonAtRest(rules, p)), false;
      p.stage = S;
      std::memcpy(p.target, end, sizeof end);
    }
    return true;
  } else {
    if (!(speed <= std::numeric_limits<double>::max()))
      return finish(p, Reason::UnexpectedValue), false;
    const double slope[3] = {velocity[0] * scale, velocity[1] * scale, velocity[2] * scale};
    if constexpr (Stage == S) {
      if (p.isAtEvent())
        return !arriveAtPart<I>(rules, p, cell) || recordCrossing<I, F>(rules, p, cell, log);
      if (F == Flow::Steady && (p.speed + speed) / 2 <= rules.terminalSpeed)
        return finish(p, Reason::Stagnation), false;
      if (rules.events.count > 0 && beginEvents<I>(rules, p, slope, speed, cellLength, cell))
        return true;
      moveOn<F>(rules, p);
    } else if (rules.fields) {
      detail::evaluateFields(rules, p, cell, p.time, p.events->startField);
    }
    return beginStep<I, F, Stage>(rules, p, slope, speed, cellLength, cell, log);
  }
}

/// The time of the next evaluation in an unsteady field.
template <Integrator I>
[[nodiscard]] inline double targetTime(const StepRules& rules, const Particle& p) {
  constexpr int S = Stages<I>;
  switch (p.stage) {
    case 0:
      return p.time;
    case 1:
      return stageTime<I, 1>(p);
    case 2:
      if constexpr (S > 2) return stageTime<I, 2>(p);
      break;
    case 3:
      if constexpr (S > 3) return stageTime<I, 3>(p);
      break;
    case 4:
      if constexpr (S > 4) return stageTime<I, 4>(p);
      break;
    case 5:
      if constexpr (S > 5) return stageTime<I, 5>(p);
      break;
  }
  return endTime(rules, p);
}

/// Processes the velocity at p.target: sets the target of the next evaluation, or ends the line.
/// Implementations of FieldBlock::advance() call it, and returnToStep() if events are given. Local.
/// @param cellLength  diagonal of the bounding box of the cell that holds p.target
/// @param cell  local number of that cell, for the log
/// @param log  receives accepted positions, if StepRules::record is set
/// @return true if p needs another evaluation, at its new target, or isReturning(p); false if the
///         line ended
template <Integrator I, Flow F = Flow::Steady>
[[nodiscard]] inline bool feed(const StepRules& rules, Particle& p, const double velocity[3],
                               double cellLength, std::int32_t cell, TrajectoryLog& log) {
  switch (p.stage) {
    case 0:
      return feedStage<I, F, 0>(rules, p, velocity, cellLength, cell, log);
    case 1:
      return feedStage<I, F, 1>(rules, p, velocity, cellLength, cell, log);
    case 2:
      return feedStage<I, F, 2>(rules, p, velocity, cellLength, cell, log);
    case 3:
      if constexpr (Stages<I> >= 3)
        return feedStage<I, F, 3>(rules, p, velocity, cellLength, cell, log);
      break;
    case 4:
      if constexpr (Stages<I> >= 4)
        return feedStage<I, F, 4>(rules, p, velocity, cellLength, cell, log);
      break;
    case 5:
      if constexpr (Stages<I> >= 5)
        return feedStage<I, F, 5>(rules, p, velocity, cellLength, cell, log);
      break;
    case 6:
      if constexpr (Stages<I> >= 6)
        return feedStage<I, F, 6>(rules, p, velocity, cellLength, cell, log);
      break;
  }
  return finish(p, Reason::UnexpectedValue), false;
}

}  // namespace TRIBUTARY_KERNEL_NAMESPACE
}  // namespace tributary
