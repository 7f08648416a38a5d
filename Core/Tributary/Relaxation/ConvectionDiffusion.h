// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "Tributary/Base/ParallelFor.h"
#include "Tributary/Base/Span.h"
#include "Tributary/Relaxation/CellGrid.h"
#include "Tributary/Relaxation/FaceFlow.h"

namespace tributary {

namespace detail {
struct ConvectionDiffusionRow;
}

/// What holds at a side of the whole grid.
struct SideCondition {
  enum class Kind {
    /// Nothing diffuses through the side. What flows out takes the cell's concentration along; what
    /// flows in has the cell's, too, in the form a . grad u, and none in the form div (a u).
    Outflow,
    Value,    ///< The concentration at the side is `value`.
    Flux,     ///< `value` enters per area and time, whatever the flow does.
    Periodic  ///< The grid goes on at the opposite side, which must be periodic, too.
  };
  Kind kind = Kind::Outflow;
  double value = 0;
};

/// du/dt + a . grad u - diffusivity laplace u + decay u = source, or with div (a u) for a . grad u.
struct ConvectionDiffusionTerms {
  double diffusivity = 0;     ///< length^2 / time, at least 0
  double decay = 0;           ///< 1 / time, at least 0
  double inverseStep = 0;     ///< 1 / time step of backward Euler; 0 for the steady state
  bool conservative = false;  ///< div (a u): keeps the sum of what is there exactly
  std::array<SideCondition, Sides> sides;
};

/// The equation on one rank's box of cells, discretized by finite volumes (on uniform grids the
/// same as finite differences) with upwind values of the concentration at the faces: A u = b with a
/// matrix A that has no positive entry off the diagonal and is diagonally dominant: by rows in the
/// form a . grad u, so that without sources u has no extremum that neither the last step nor the
/// sides have; by columns in the form div (a u), so that u is not negative if nothing else is. In
/// both it is an M-matrix (with a time step, decay or a side with a value that all cells feel), and
/// Jacobi, Gauss-Seidel and Schwarz iterations converge, synchronous or not. A is never stored: its
/// entries come from the face velocities.
///
/// Residuals b - A u are in concentration per time.
class ConvectionDiffusion {
 public:
  /// @param box  this rank's cells, in the grid
  /// Throws Error if sizes do not fit, coordinates do not increase, a number is not finite, a term
  /// is negative, or one side of an axis is periodic and the other is not.
  ConvectionDiffusion(const CellGrid& grid, const CellRange& box,
                      const ConvectionDiffusionTerms& terms, FaceFlow faces);

  const CellRange& box() const { return box_; }

  /// Sides of the box that lie at sides of the grid with a value get it; the others stay.
  void setSideValues(SideValues& sides) const;

  /// b = source + inverseStep * old + what the sides with a flux let in.
  /// @param old  the concentrations of the last time step; not read for the steady state
  void rightHandSide(Span<const double> source, Span<const double> old, Span<double> b) const;

  /// One Gauss-Seidel sweep, from the first cell to the last one or back. With threads the box is
  /// cut into slabs, which know of each other what was before the sweep (Schwarz iterations).
  /// @param slabs  at least 1; the result depends on it
  void sweep(bool forward, Span<double> u, const SideValues& beyond, Span<const double> b,
             int slabs, const ParallelFor& parallelFor);

  /// The largest magnitude of b - A u.
  double residual(Span<const double> u, const SideValues& beyond, Span<const double> b,
                  const ParallelFor& parallelFor) const;

 private:
  /// @param below, above  the plane of cells below that of row (j, k), and above it
  detail::ConvectionDiffusionRow rowAt(std::int64_t j, std::int64_t k, const double* plane,
                                       const double* below, const double* above,
                                       const SideValues& beyond) const;

  /// Per face across an axis: what diffusion lets through (diffusivity / distance of the centers),
  /// and whether the flow brings in what lies beyond, and takes out what lies here (1 or 0).
  struct Faces {
    std::vector<double> diffusion, in, out;
    std::vector<double> inverseWidth;  ///< of the cells
  };

  /// The cells of a row from the first to the last that have an open face.
  struct OpenPart {
    std::int64_t first, count;
  };
  void findOpenParts();
  /// The row's part with open faces; the others' equation is base u = b.
  /// @param u  of the whole row
  detail::ConvectionDiffusionRow openPart(detail::ConvectionDiffusionRow row, const OpenPart& part,
                                          const double* u) const;

  CellRange box_;
  ConvectionDiffusionTerms terms_;
  std::array<Faces, 3> faces_;
  std::array<std::vector<double>, 3> velocity_;  ///< On the faces; NaN on closed ones.
  std::vector<OpenPart> openParts_;              ///< Per row; none if no face is closed.
  std::array<bool, Sides> atSide_{};             ///< Whether the box's side is one of the grid.
};

}  // namespace tributary
