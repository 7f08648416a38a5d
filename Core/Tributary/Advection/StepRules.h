// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "Tributary/Advection/Events.h"

namespace tributary {

/// Runge-Kutta schemes of order 2 and 4, and 4-5 with error control (Cash and Karp).
enum class Integrator { RungeKutta2, RungeKutta4, RungeKutta45 };

/// The unit of step sizes.
enum class StepUnit {
  Length,     ///< Steps are given as arc length.
  CellLength  ///< Steps are multiples of the diagonal of the cell where they begin.
};

/// The time between two steps of an unsteady field.
struct TimeInterval {
  double begin = 0, end = 0;  ///< Times of the two steps; begin < end.
  double stop = 0;            ///< Where particles stop, in [begin, end].
};

/// What is kept of each crossing of an event. All that is not kept is 0 (the cell and the target
/// -1). If an event is at a surface, All and Times keep the target, 8 bytes more.
enum class CrossingContent : std::uint8_t {
  All,       ///< CrossingPoint, with what the evaluation of arrays needs. 57 bytes; periodic 81.
  Times,     ///< Where and when it is, and the event; CrossingPoint::point has the image. 53 bytes.
  Positions  ///< The image, in single precision, and the place in the line. 20 bytes.
};

/// This share of a length or time is taken for all of it: a step clipped to end there may miss it
/// by the rounding of a sum.
constexpr double Reached = 1 - 4 * std::numeric_limits<double>::epsilon();

/// The rules for the size of steps and for the end of a line. Defaults are those of
/// vtkStreamTracer in ParaView.
struct StepRules {
  Integrator integrator = Integrator::RungeKutta45;
  StepUnit unit = StepUnit::CellLength;
  double initialStep = 0.2;
  double minimumStep = 0.01;                                       ///< RungeKutta45 only.
  double maximumStep = 0.5;                                        ///< RungeKutta45 only.
  double maximumError = 1e-6;                                      ///< RungeKutta45 only.
  double maximumLength = std::numeric_limits<double>::infinity();  ///< Arc length.
  double maximumTime = std::numeric_limits<double>::infinity();    ///< |integration time|.
  std::int64_t maximumSteps = 2000;
  double terminalSpeed = 1e-12;

  /// With an interval, the field is unsteady: its velocity changes linearly in time, from
  /// FieldBlock::velocity() at the beginning to FieldBlock::laterVelocity() at the end. Particles
  /// follow it from Seed::time to TimeInterval::stop, where they end with Reason::OutOfTime. Then
  /// - steps are integrated in time; their sizes above are divided by the speed,
  /// - each step ends in the interval, so that no step crosses a stored time,
  /// - maximumLength and maximumTime are not used, and maximumSteps counts those of the interval,
  /// - a particle ends by stagnation only if terminalSpeed is not 0: one at rest may move later.
  std::optional<TimeInterval> interval;

  /// Length of the domain along each periodic axis and 0 along the others; points are evaluated
  /// at their image in [periodicOrigin, periodicOrigin + period), positions stay unwrapped.
  double period[3] = {0, 0, 0};
  double periodicOrigin[3] = {0, 0, 0};

  /// 2-D domains: the component of velocities along the normal of the cell is left out, and every
  /// accepted position is projected onto its cell, so that a line remains on a surface. No effect
  /// on cells of dimension 3, and on cells that ForeignCells evaluates.
  bool onSurface = false;

  /// In an unsteady field, a time event is that of the age of a particle, and a length event that
  /// of the straight lines between its points: see TraceOptions::progressOf.
  EventList events;
  /// For events of fields; null without such events. Must outlive the trace.
  const EventFields* fields = nullptr;
  const FieldBlock* block = nullptr;  ///< In which particles are advanced; trace() sets it.

  bool record = true;  ///< Whether to append accepted positions to the trajectory log.
  CrossingContent crossingContent = CrossingContent::All;  ///< What it keeps of each crossing.
};

}  // namespace tributary
