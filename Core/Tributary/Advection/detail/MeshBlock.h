// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "Tributary/Advection/FieldBlock.h"
#include "Tributary/Advection/MeshField.h"
#include "Tributary/Advection/Vector.h"
#include "Tributary/Advection/detail/MeshKernel.h"
#include "Tributary/Advection/detail/MeshLinks.h"
#include "Tributary/Base/HugePages.h"

namespace tributary::detail {

/// Identifies the points of a piece on all ranks.
struct PointNames {
  std::vector<std::uint64_t> hashes;
  std::vector<bool> elsewhere;  ///< Whether another rank has the point too.
};

/// The arguments of matchFaces().
struct FaceLists {
  std::vector<FaceSide> inner, outer;
};

/// Some cells of a piece, as records that the kernels walk through.
class MeshBlock : public FieldBlock {
 public:
  /// @param cells  cells of the piece that the block owns
  MeshBlock(BlockId id, const MeshPiece& piece, std::vector<std::int64_t> cells);

  /// The faces of all cells, to be matched with those of the other blocks.
  void listFaces(const PointNames& names, int dimension, FaceLists& faces) const;
  void link(const FacePair& pair);

  Box bounds() const override { return bounds_; }
  void advance(const StepRules& rules, Span<Particle> particles, std::int64_t extraSteps,
               TrajectoryLog& log) const override;
  bool hasCell(std::int32_t cell) const override { return indexOf(cell) >= 0; }
  void find(const double point[3], CellMatch& best) const override;
  void weights(const StepRules& rules, Span<const TrajectoryPoint> points,
               Weights& out) const override;
  std::vector<BlockId> neighbors() const override;

 private:
  CellRecord& record(std::size_t index) const {
    return *reinterpret_cast<CellRecord*>(records_.data() +
                                          std::size_t(numbers_[index]) * MeshView::Unit);
  }
  std::int64_t indexOf(std::int32_t cell) const {
    const auto at = std::lower_bound(numbers_.begin(), numbers_.end(), cell);
    return at != numbers_.end() && *at == cell ? at - numbers_.begin() : -1;
  }
  Box boxOf(std::size_t index) const;
  void fill(std::size_t index);
  static void fillTetrahedron(CellRecord& cell, const V4* x);
  void fillGeometry(CellRecord& cell, const V4* x);
  template <class Real>
  void fillVelocity(CellRecord& cell, std::size_t index);
  void buildBins();
  static bool foreignVelocity(const void* self, std::int32_t cell, const double point[3],
                              bool accept, double velocity[3]);
  std::uint64_t contentOf(std::size_t index) const;
  CellMatch match(std::size_t index, const double point[3]) const;
  int maximumPoints() const {
    return std::max(8, piece_.foreign ? piece_.foreign->maximumPoints() : 0);
  }

  MeshPiece piece_;
  std::vector<std::int64_t> cells_;    // in the piece, by index
  std::vector<std::int32_t> numbers_;  // of the records, ascending, by index
  HugePages records_;
  std::vector<RemoteLink> remote_;
  MeshView view_;
  Box bounds_;

  // Uniform bins over the block's box; each lists the cells whose boxes touch it.
  std::array<std::int64_t, 3> bins_{{1, 1, 1}};
  std::vector<std::int64_t> binFirst_;
  std::vector<std::int32_t> binCells_;
};

}  // namespace tributary::detail
