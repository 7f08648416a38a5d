// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "Tributary/Advection/MeshField.h"
#include "Tributary/Advection/Particle.h"
#include "Tributary/Advection/StepRules.h"
#include "Tributary/Advection/Trajectory.h"

namespace tributary::detail {

/// How a cell tells inside from outside, by its parametric coordinates r, s, t.
enum class CellShape : std::uint8_t {
  Tetra,           ///< Barycentric coordinates, all at least 0.
  Box,             ///< r, s, t in [0, 1]: hexahedra and voxels.
  Parallelepiped,  ///< A box whose parametric coordinates are affine.
  Wedge,           ///< r, s >= 0, r + s <= 1, t in [0, 1].
  Pyramid,         ///< r, s in [0, 1], t >= 0.
  Triangle,        ///< r, s >= 0, r + s <= 1, t near 0.
  Quad,            ///< r, s in [0, 1], t near 0.
  Foreign          ///< Asks MeshView::foreign.
};

/// Everything a walk needs of one cell, in one run of memory. Followed by the velocity: per term
/// four values of the field's type (the last unused); one term if cell-centered, four (the nodes')
/// in a tetrahedron, eight otherwise; none in a foreign cell. In an unsteady field, by the same
/// terms of the velocity at the end of the interval. Then, but for tetrahedra and foreign
/// cells, by the eight terms of the geometry, four doubles each. In a mesh whose points move, by
/// the points of the cell instead, four doubles each, at the beginning of the interval and then at
/// its end; `anchor`, `length` and `map` have no meaning there: see MovedCell.
///
/// The terms belong to the products 1, r, s, t, rs, st, rt, rst: every linear cell is a polynomial
/// of this form in its parametric coordinates. In 2-D cells t is the distance from the cell along
/// its normal, in units of `length`.
struct alignas(32) CellRecord {
  double anchor[3];      ///< First node.
  double length;         ///< Diagonal of the bounding box.
  std::int32_t link[6];  ///< Per face: the neighbor's record, NoLink, or Unresolved.
  std::int8_t entry[6];  ///< The same face as the neighbor numbers it.
  CellShape shape;
  std::uint8_t terms;  ///< Number of velocity terms.
  /// Tetrahedra: d lambda / d (x, y, z), one lane per node. Others: row i gives the i-th parametric
  /// coordinate of a point, relative to the anchor, as if the cell were affine (lane 3: constant).
  double map[3][4];

  static constexpr std::int32_t NoLink = -1;
  /// The neighbor is in another block, or was not asked for yet: see MeshView::resolve.
  static constexpr std::int32_t Unresolved = -2;
};
static_assert(sizeof(CellRecord) == 160, "records are laid out in units of 32 bytes");

/// The geometry at one time of a cell whose points move: a record without neighbors and velocities.
struct alignas(64) MovedCell {
  std::byte bytes[sizeof(CellRecord) + 8 * 4 * sizeof(double)];
  CellRecord& record() { return *reinterpret_cast<CellRecord*>(bytes); }
};

/// Begins to load the first `bytes` bytes of a record. Inlined into each kernel, so that the linker
/// cannot use code for a newer processor.
__attribute__((always_inline)) inline void prefetchRecord(const CellRecord& record,
                                                          std::size_t bytes) {
  const auto* const first = reinterpret_cast<const std::byte*>(&record);
  for (std::size_t b = 0; b < bytes; b += 64) __builtin_prefetch(first + b);
}

/// The cell beyond a face.
struct Neighbor {
  BlockId block = -1;      ///< Below 0: there is no cell.
  std::int32_t cell = -1;  ///< In its piece.
  std::int8_t face = -1;   ///< The same face as that cell numbers it.
};

/// What a kernel knows of one block. A cell's number is its record's position in units of 32 bytes.
/// Records and links are made when a particle first needs them, by any thread; what is made does
/// not change.
struct MeshView {
  const std::byte* records = nullptr;
  bool isDouble = false;
  bool mayPack = true;  ///< Whether there may be boxes, wedges or pyramids.
  /// Finds the neighbor beyond a face whose link is Unresolved.
  /// @param beyond  set to the neighbor
  /// @return its record, NoLink, or Unresolved if it is in another block
  std::int32_t (*resolve)(const void* block, std::int32_t cell, int face,
                          Neighbor& beyond) = nullptr;
  /// Velocity of a foreign cell.
  /// @param share  how far in the interval the time is; 0 in a steady field
  /// @return false if the point is not inside and `accept` is false
  bool (*foreign)(const void* block, std::int32_t cell, const double point[3], double share,
                  bool accept, double velocity[3]) = nullptr;
  /// If points move: the geometry of a cell that is not foreign, at a time. Null otherwise.
  /// @param valueSize  see geometryTerms()
  /// @param share  how far in the interval the time is
  /// @return false if the cell has no volume then
  bool (*geometryAt)(const CellRecord& cell, std::size_t valueSize, double share,
                     MovedCell& moved) = nullptr;
  const void* block = nullptr;

  static constexpr std::size_t Unit = 32;
  const CellRecord& record(std::int32_t cell) const {
    return *reinterpret_cast<const CellRecord*>(records + std::size_t(cell) * Unit);
  }
};

/// How far from a 2-D cell, in cell lengths, a point still belongs to it.
constexpr double Sheet = 0.01;
/// The same for StepRules::onSurface, where a step may leave a curved surface until it is
/// projected.
constexpr double NearSheet = 0.25;

/// How far outside a cell, in its parametric coordinates, a point that lies in no cell may be and
/// still count as in the nearest one. Cells that meet at warped or differently split faces leave
/// gaps of this size between them.
constexpr double Gap = 1e-2;

using MeshKernel = void (*)(const MeshView&, const StepRules&, Particle*, std::int64_t count,
                            std::int64_t extraSteps, TrajectoryLog&);
void advanceMeshBaseline(const MeshView&, const StepRules&, Particle*, std::int64_t, std::int64_t,
                         TrajectoryLog&);
void advanceMeshAvx2(const MeshView&, const StepRules&, Particle*, std::int64_t, std::int64_t,
                     TrajectoryLog&);
void advanceMeshAvx512(const MeshView&, const StepRules&, Particle*, std::int64_t, std::int64_t,
                       TrajectoryLog&);
/// The fastest variant that this processor runs; all give the same bits.
[[nodiscard]] MeshKernel meshKernel();

}  // namespace tributary::detail
