// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>

namespace tributary {

/// Runge-Kutta schemes of order 2 and 4, and 4-5 with error control (Cash and Karp).
enum class Integrator { RungeKutta2, RungeKutta4, RungeKutta45 };

/// The unit of step sizes.
enum class StepUnit {
  Length,     ///< Steps are given as arc length.
  CellLength  ///< Steps are multiples of the diagonal of the cell where they begin.
};

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

  /// Length of the domain along each periodic axis and 0 along the others; points are evaluated
  /// at their image in [periodicOrigin, periodicOrigin + period), positions stay unwrapped.
  double period[3] = {0, 0, 0};
  double periodicOrigin[3] = {0, 0, 0};

  /// 2-D domains: every accepted position is projected onto its cell, so that a line remains on a
  /// curved surface. No effect on cells of dimension 3 and on structured grids.
  bool onSurface = false;

  bool record = true;  ///< Whether to append accepted positions to the trajectory log.
};

}  // namespace tributary
