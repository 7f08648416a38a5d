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

/// The boundary condition at a side of the whole grid.
struct SideCondition {
  /// What is prescribed at the side.
  enum class Kind {
    /// No diffusion through the side. Outflow carries the concentration of the cell. Inflow carries
    /// the concentration of the cell in the form a . grad u, and none in the form div (a u).
    Outflow,
    Value,    ///< Dirichlet: the concentration at the side is `value`.
    Flux,     ///< Neumann: `value` enters per area and time, independent of the flow.
    Periodic  ///< The grid continues at the opposite side, which must be periodic as well.
  };
  Kind kind = Kind::Outflow;
  double value = 0;
};

/// The coefficients of du/dt + a . grad u - diffusivity laplace u + decay u = source. If
/// `conservative` is set, div (a u) replaces a . grad u.
struct ConvectionDiffusionTerms {
  double diffusivity = 0;     ///< length^2 / time, at least 0
  double decay = 0;           ///< 1 / time, at least 0
  double inverseStep = 0;     ///< 1 / time step of backward Euler; 0 for the steady state
  bool conservative = false;  ///< div (a u): conserves the total amount
  std::array<SideCondition, Sides> sides;
};

/// The discrete convection-diffusion equation A u = b on one rank's box of cells: finite volumes
/// with upwind concentrations at the faces. On uniform grids this equals finite differences.
///
/// The off-diagonal entries of A are not positive. In the form a . grad u, A is diagonally dominant
/// by rows: without sources, u has no new extrema. In the form div (a u), A is diagonally dominant
/// by columns: u is not negative if neither the sources, the sides nor the last step are. In both
/// forms A is an M-matrix if there is a time step, a decay, or a side with a value that affects all
/// cells; Jacobi, Gauss-Seidel and Schwarz iterations then converge, synchronous or asynchronous. A
/// is not stored: its entries are computed from the face velocities.
///
/// Residuals b - A u are in concentration per time.
class ConvectionDiffusion {
 public:
  /// Local.
  /// @param grid  the whole grid
  /// @param box  this rank's cells, may be empty
  /// @param faces  the flow through the faces of the box, see flowBetween()
  /// @throws Error if sizes do not match, coordinates do not increase, a number is not finite, a
  ///         coefficient is negative, or only one side of an axis is periodic
  ConvectionDiffusion(const CellGrid& grid, const CellRange& box,
                      const ConvectionDiffusionTerms& terms, FaceFlow faces);

  /// This rank's cells.
  const CellRange& box() const { return box_; }

  /// Sets the sides of the box that lie at sides of the grid with a value. Others are unchanged.
  void setSideValues(SideValues& sides) const;

  /// Computes b = source + inverseStep * old + the inflow through sides with a flux.
  /// @param source  by cell, in concentration per time
  /// @param old  the concentrations of the last time step; not read for the steady state
  void rightHandSide(Span<const double> source, Span<const double> old, Span<double> b) const;

  /// One Gauss-Seidel sweep.
  /// @param forward  whether the sweep runs from the first cell to the last one, or back
  /// @param beyond  concentrations beyond the sides of the box
  /// @param slabs  number of parts of the box that are swept in parallel, at least 1; each uses the
  ///               others' values from before the sweep (Schwarz iteration), so the result depends
  ///               on the number
  void sweep(bool forward, Span<double> u, const SideValues& beyond, Span<const double> b,
             int slabs, const ParallelFor& parallelFor);

  /// The largest magnitude of b - A u, in concentration per time.
  [[nodiscard]] double residual(Span<const double> u, const SideValues& beyond,
                                Span<const double> b, const ParallelFor& parallelFor) const;

 private:
  /// The equations of row (j, k).
  /// @param plane, below, above  the concentrations of the plane of the row, and of those below and
  ///                             above it; null beyond the box
  detail::ConvectionDiffusionRow rowAt(std::int64_t j, std::int64_t k, const double* plane,
                                       const double* below, const double* above,
                                       const SideValues& beyond) const;

  /// The coefficients of the faces across an axis.
  struct Faces {
    std::vector<double> diffusion;     ///< diffusivity / distance of the centers
    std::vector<double> in, out;       ///< 1 if the flow carries concentration in, or out; else 0
    std::vector<double> inverseWidth;  ///< of the cells
  };

  void checkFlow(std::size_t axis, const CellGrid& grid,
                 const std::vector<std::uint8_t>& closed) const;
  void addFaces(std::size_t axis, const CellGrid& grid);

  /// The range of the cells of a row that have an open face.
  struct OpenPart {
    std::int64_t first, count;
  };
  void findOpenParts();
  /// The part of a row with open faces. The equation of the other cells is base u = b.
  /// @param u  of the whole row
  detail::ConvectionDiffusionRow openPart(detail::ConvectionDiffusionRow row, const OpenPart& part,
                                          const double* u) const;

  CellRange box_;
  ConvectionDiffusionTerms terms_;
  std::array<Faces, 3> faces_;
  std::array<std::vector<double>, 3> velocity_;  ///< at the faces; NaN at closed ones
  std::vector<OpenPart> openParts_;              ///< by row; empty if no face is closed
  std::array<bool, Sides> atSide_{};             ///< whether a side of the box is one of the grid
};

}  // namespace tributary
