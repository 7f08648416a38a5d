#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "Tributary/Advection/Particle.h"
#include "Tributary/Advection/StepRules.h"
#include "Tributary/Advection/Trajectory.h"
#include "Tributary/Assignment.h"

namespace tributary {

/// One axis of a whole grid, the same on every rank. Indices count from 0 at its lower end.
struct GridAxis {
  std::int64_t cells = 0;  ///< 0 for an axis along which the grid is flat.
  bool uniform = true;
  double origin = 0;                 ///< Coordinate of index 0.
  double spacing = 1;                ///< Uniform: distance of neighbouring points.
  double inverse = 1;                ///< Uniform: 1 / spacing.
  std::vector<double> coordinates;   ///< Rectilinear: of the cells + 1 points.
  std::vector<double> inverseWidth;  ///< Rectilinear: 1 / width per cell.
  /// Rectilinear: the first cell that may hold a point of each of bucketCount equal intervals.
  std::vector<std::int32_t> buckets;
  double bucketInverse = 0;
  double slack = 0;  ///< Flat: how far from the plane a point may lie.
};

/// How far outside the whole grid, in cells, a point still counts as on its boundary: the rounding
/// of coordinates, no more.
constexpr double kGridSlack = 1e-9;

/// A grid spread over any number of blocks: geometry and who owns which cell.
class StructuredGrid {
 public:
  std::array<GridAxis, 3> axes;

  struct Part {
    std::array<std::int32_t, 3> lo, hi;  ///< Cells lo <= (i, j, k) < hi.
    BlockId block;
  };
  void setParts(std::vector<Part> parts);
  /// The block that owns a cell, or -1.
  BlockId owner(const std::int32_t cell[3]) const;

 private:
  std::vector<Part> parts_;
  std::array<std::vector<std::int32_t>, 3> cuts_;  // ascending starts of the lattice's intervals
  std::vector<std::int32_t> lattice_;              // part per lattice box, or -1; may be empty
};

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
  bool isDouble = false;
  bool cellCentred = false;
  bool flat = false;                     ///< Some axis is flat.
  const std::uint8_t* hidden = nullptr;  ///< vtkGhostType per stored cell, or null.
  double cellLength = 0;                 ///< Uniform grids.
};

/// Advances particles; the same bits from every variant.
using StructuredKernel = void (*)(const StructuredView&, const StepRules&, Particle*, std::int64_t,
                                  TrajectoryLog&);
void advanceStructuredBaseline(const StructuredView&, const StepRules&, Particle*, std::int64_t,
                               TrajectoryLog&);
void advanceStructuredAvx2(const StructuredView&, const StepRules&, Particle*, std::int64_t,
                           TrajectoryLog&);
void advanceStructuredAvx512(const StructuredView&, const StepRules&, Particle*, std::int64_t,
                             TrajectoryLog&);
/// The fastest variant that this processor runs.
StructuredKernel structuredKernel();

}  // namespace tributary
