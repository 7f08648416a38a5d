// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "Tributary/Advection/MeshField.h"
#include "Tributary/Advection/detail/MeshLinks.h"
#include "Tributary/Advection/detail/MeshShapes.h"
#include "Tributary/Advection/detail/kernels/MeshKernel.h"
#include "Tributary/Base/Box.h"
#include "Tributary/Base/CellBins.h"
#include "Tributary/Base/Lazy.h"
#include "Tributary/Base/PackedLists.h"

namespace tributary::detail {

/// The points of a face, as identified inside the piece: ascending, each once.
struct FacePoints {
  std::int64_t point[MostFacePoints]{};
  int count = 0;
};

/// The cells of a piece that are traced through, their division into blocks, and their neighbors.
///
/// Flat cells are not traced through. Whether a cell is flat is found out when it is first asked
/// for; until then it is a candidate. Neighbors inside the piece are found when they are first
/// asked for. Those beyond faces whose points other pieces have, too, are set by makeMeshBlocks(),
/// as all ranks must count the sides of such a face together. Const members are local and
/// thread-safe.
class MeshTopology {
 public:
  /// Throws Error if the piece has too many cells.
  MeshTopology(const MeshPiece& piece, int blocks, int dimension, BlockId firstBlock);

  const MeshPiece& piece() const { return piece_; }
  int blocks() const { return int(boxes_.size()); }
  BlockId firstBlock() const { return firstBlock_; }
  /// Whether the cell is traced through.
  bool isUsed(std::int64_t cell) const {
    if (cell < 0 || cell >= std::int64_t(piece_.types.size())) return false;
    const std::int32_t known = records_[std::size_t(cell)].load(std::memory_order_relaxed);
    return known == Unexamined ? examine(cell) : known != Excluded && known != Flat;
  }
  /// The number, from 0, of the block of a used cell.
  int blockOf(std::int64_t cell) const {
    return blockOfCell_.empty() ? 0 : blockOfCell_[std::size_t(cell)];
  }
  /// The box of a block's candidates; empty if it has none, or if no cell of the piece is used.
  const Box& box(int block) const { return boxes_[std::size_t(block)]; }
  /// Calls visit(cell) for each candidate of a block, ascending.
  template <class Visit>
  void forEachCell(int block, Visit&& visit) const {
    if (cellsOfBlock_.empty())
      forEachCandidate(visit);
    else
      for (const std::int32_t cell : cellsOfBlock_[std::size_t(block)]) visit(cell);
  }
  /// For MeshBlock: the number of a used cell's record, negative if it has none.
  std::atomic<std::int32_t>& recordOf(std::int64_t cell) const {
    return records_[std::size_t(cell)];
  }

  /// The bins of a block's candidates, made at the first call. Not for an empty block.
  const CellBins& bins(int block) const;
  /// The boxes of cells.
  const CellBins::BoxOf& boxesOfCells() const { return boxOfCell_; }

  /// The cell beyond a face of a used cell.
  Neighbor neighborOf(std::int32_t cell, int face) const;
  /// The blocks that share a point with a block: ascending, each once, without the block itself.
  const std::vector<BlockId>& neighborsOf(int block) const {
    return neighbors_[std::size_t(block)];
  }

  /// In bytes.
  [[nodiscard]] std::size_t memory() const;

  // Set-up, by makeMeshBlocks().

  /// Chooses how points are identified: by their global ids, or by their coordinates.
  void identifyPoints(bool byId) { byId_ = byId; }
  [[nodiscard]] std::uint64_t hashOf(std::int64_t point) const;
  /// Whether all cells of the piece are candidates.
  bool hasOnlyCandidates() const { return hasOnlyCandidates_; }
  /// Whether a candidate has the point, per point.
  [[nodiscard]] std::vector<bool> candidatePoints() const;
  /// Sets which points other pieces have, too.
  /// @param shared  per point
  /// @return the faces all of whose points are shared
  [[nodiscard]] std::vector<FaceSide> setSharedPoints(std::vector<bool> shared);
  /// Sets the neighbors beyond faces all of whose points are shared; the others have none.
  void setOuterNeighbors(const std::vector<FacePair>& pairs);
  /// Finds the neighbors of blocks. Call it last.
  void findNeighborsOfBlocks();
  /// For further blocks of a piece with the same cells and points: no cell has a record.
  void renew(const MeshPiece& piece);

 private:
  // Instead of the number of a record.
  static constexpr std::int32_t Unvisited = -1;   // a candidate that is used
  static constexpr std::int32_t Excluded = -2;    // no candidate
  static constexpr std::int32_t Unexamined = -3;  // a candidate
  static constexpr std::int32_t Flat = -4;        // a candidate that is not used
  struct OuterFace {
    std::int32_t cell;
    std::int32_t face;
    Neighbor beyond;
  };
  /// Calls visit(cell) for each cell of the piece, so that consecutive cells are close to each
  /// other: those of a grid in bricks.
  template <class Visit>
  void forEachNearby(Visit&& visit) const {
    if (!piece_.grid) {
      for (std::size_t cell = 0; cell < piece_.types.size(); ++cell) visit(std::int32_t(cell));
      return;
    }
    const auto& cells = piece_.grid->cells();
    for (std::int64_t k = 0; k < cells[2]; k += 2)
      for (std::int64_t j = 0; j < cells[1]; j += 2)
        for (std::int64_t i = 0; i < cells[0]; i += 2)
          for (std::int64_t w = k; w < std::min(k + 2, cells[2]); ++w)
            for (std::int64_t v = j; v < std::min(j + 2, cells[1]); ++v)
              for (std::int64_t u = i; u < std::min(i + 2, cells[0]); ++u)
                visit(std::int32_t((w * cells[1] + v) * cells[0] + u));
  }
  /// Calls visit(cell) for each candidate of the piece, ascending. The candidates stay the same.
  template <class Visit>
  void forEachCandidate(Visit&& visit) const {
    for (std::size_t cell = 0; cell < piece_.types.size(); ++cell)
      if (records_[cell].load(std::memory_order_relaxed) != Excluded) visit(std::int32_t(cell));
  }
  /// What becomes of the cells of a type.
  enum class Kind : std::uint8_t { Other, Linear, Foreign };
  using Kinds = std::array<Kind, 256>;
  /// The boxes of consecutive candidates, for CellBins.
  struct GroupBoxes {
    std::vector<Box> boxes;
    std::size_t cells = 0;
    void add(const Box& box);
  };

  bool isCandidate(std::int64_t cell, const Kinds& kinds, Box& box) const;
  bool examine(std::int64_t cell) const;
  bool usesAny() const;
  void cut(int blocks);
  const std::vector<std::int64_t>& copies() const;
  const PackedLists<std::int32_t>& pointCells() const;
  std::vector<std::int64_t> findCopies() const;
  PackedLists<std::int32_t> findPointCells(const std::vector<std::int64_t>& canonical) const;
  bool facePoints(std::int64_t cell, int face, const std::vector<std::int64_t>& canonical,
                  FacePoints& out) const;
  bool isShared(std::int64_t cell, int face) const;

  MeshPiece piece_;
  int dimension_;
  BlockId firstBlock_;
  bool byId_ = false;
  bool hasOnlyCandidates_ = true;
  std::vector<Box> boxes_;          // per block
  std::vector<GroupBoxes> groups_;  // per block
  // Of several blocks only: the block of each cell, and the candidates of each block, ascending.
  std::vector<std::int32_t> blockOfCell_;
  std::vector<std::vector<std::int32_t>> cellsOfBlock_;
  std::unique_ptr<std::atomic<std::int32_t>[]> records_;  // per cell

  std::vector<bool> shared_;      // per point; empty if none is
  std::vector<OuterFace> outer_;  // ascending by cell and face
  std::vector<std::vector<BlockId>> neighbors_;

  CellBins::BoxOf boxOfCell_;
  mutable std::mutex mutex_;  // of the construction of:
  Lazy<std::vector<std::int64_t>> copies_;
  Lazy<PackedLists<std::int32_t>> pointCells_;
  std::vector<Lazy<CellBins>> bins_;  // per block
};

}  // namespace tributary::detail
