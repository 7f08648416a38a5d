// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>

#include "Tributary/Advection/Particle.h"
#include "Tributary/Advection/StepRules.h"
#include "Tributary/Advection/Trajectory.h"
#include "Tributary/Advection/detail/StructuredGrid.h"

namespace tributary::detail {

/// What a kernel knows of one block.
struct StructuredView {
  const StructuredGrid* grid = nullptr;
  std::array<std::int32_t, 3> lo{};        ///< First cell that can be evaluated here,
  std::array<std::int32_t, 3> count{};     ///< and how many along each axis.
  std::array<std::int32_t, 3> storedLo{};  ///< Index of the first stored point.
  std::array<std::int64_t, 3> stride{};    ///< Of the velocity array, in tuples; 1 along x.
  std::int64_t firstTuple = 0;             ///< storedLo times stride.
  /// Cells whose first tuple lies below are interpolated by code that reads two values past the
  /// last corner and knows eight of them; the rest with care.
  std::int64_t plainTuples = 0;
  std::array<std::int64_t, 3> cellStride{};
  const void* velocity = nullptr;
  const void* laterVelocity = nullptr;  ///< In an unsteady field.
  bool isDouble = false;
  bool cellCentered = false;
  bool onFaces = false;                  ///< See StructuredPiece; evaluated with care.
  bool flat = false;                     ///< Some axis is flat.
  const std::uint8_t* hidden = nullptr;  ///< vtkGhostType per stored cell, or null.
  double cellLength = 0;                 ///< Uniform grids.
};

/// Advances particles as FieldBlock::advance does; the same bits from every variant.
using StructuredKernel = void (*)(const StructuredView&, const StepRules&, Particle*,
                                  std::int64_t count, std::int64_t extraSteps, TrajectoryLog&);
void advanceStructuredBaseline(const StructuredView&, const StepRules&, Particle*, std::int64_t,
                               std::int64_t, TrajectoryLog&);
void advanceStructuredAvx2(const StructuredView&, const StepRules&, Particle*, std::int64_t,
                           std::int64_t, TrajectoryLog&);
void advanceStructuredAvx512(const StructuredView&, const StepRules&, Particle*, std::int64_t,
                             std::int64_t, TrajectoryLog&);
/// The fastest variant that this processor runs.
[[nodiscard]] StructuredKernel structuredKernel();

}  // namespace tributary::detail
