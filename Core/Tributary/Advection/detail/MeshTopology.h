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
#include "Tributary/Advection/detail/BoxHierarchy.h"
#include "Tributary/Advection/detail/BrickOrder.h"
#include "Tributary/Advection/detail/MeshCells.h"
#include "Tributary/Advection/detail/MeshLinks.h"
#include "Tributary/Advection/detail/MeshShapes.h"
#include "Tributary/Advection/detail/kernels/MeshKernel.h"
#include "Tributary/Base/Box.h"
#include "Tributary/Base/Bytes.h"
#include "Tributary/Base/CellBins.h"
#include "Tributary/Base/Lazy.h"
#include "Tributary/Base/PackedLists.h"
#include "Tributary/Base/ParallelFor.h"

namespace tributary::detail {

/// The points of a face by their identities: ascending, each once.
template <class Id>
struct FacePoints {
  Id point[MostFacePoints]{};
  int count = 0;
};

/// Points of a piece that other pieces may have, too.
struct Border {
  std::vector<bool> points;         ///< Per point of the piece.
  std::vector<std::int32_t> cells;  ///< Those that have such points, and maybe others.
};

struct MeshRecords;  // of a MeshBlock

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
  MeshTopology(const MeshPiece& piece, int blocks, int dimension, BlockId firstBlock,
               const ParallelFor& parallelFor);

  const MeshPiece& piece() const { return piece_; }
  int blocks() const { return int(boxes_.size()); }
  BlockId firstBlock() const { return firstBlock_; }
  int dimension() const { return dimension_; }
  /// See identifyPoints().
  bool identifiesById() const { return byId_; }
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
  /// What is kept of a block for the next MeshBlock; null at first.
  std::shared_ptr<MeshRecords>& keptRecords(int block) const {
    return keptRecords_[std::size_t(block)];
  }

  /// Calls visit(n, cell) for each of some points and the candidates of a block whose boxes may
  /// contain it, a superset. Bins are made once searches without them have cost as much.
  /// @param points  at most CellBins::MostPoints; pointOf(n) gives point n, three coordinates
  template <class PointOf, class Visit>
  void near(int block, std::size_t points, PointOf&& pointOf, Visit&& visit) const {
    const auto b = std::size_t(block);
    std::size_t done = 0;
    for (; done < points && !bins_[b].made() && maySearchGroups(TestsPerBinnedCell); ++done)
      searchGroups(block, pointOf(done), [&](std::int32_t cell) { visit(done, cell); });
    if (done == points) return;
    bins(block).near(
        points - done, [&](std::size_t n) { return pointOf(done + n); }, boxesOf(block),
        [&](std::size_t n, std::int32_t slot) {
          const std::int32_t cell = candidateAt(block, slot);
          if (cell >= 0) visit(done + n, cell);
        });
  }

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
  /// All points of candidates.
  [[nodiscard]] Border wholeBorder() const;
  /// The points of candidates in the boxes of other pieces.
  [[nodiscard]] Border borderIn(const std::vector<Box>& others) const;
  /// Sets which points other pieces have, too.
  /// @return the faces all of whose points are shared
  [[nodiscard]] std::vector<FaceSide> setSharedPoints(Border shared);
  /// Sets the neighbors beyond faces all of whose points are shared; the others have none.
  void setOuterNeighbors(const std::vector<FacePair>& pairs);
  /// Finds the neighbors of blocks. Call it last.
  void findNeighborsOfBlocks();
  /// For further blocks of a piece with the same cells and points. Records stay if velocities take
  /// the same room in them; then MeshBlock::readVelocities() must follow.
  void renew(const MeshPiece& piece);

  // Copies: see MeshCopy.h.

  /// Writes what makeMeshBlocks() has set, at most linkBytes() bytes.
  void writeLinks(Writer& writer) const;
  [[nodiscard]] std::size_t linkBytes() const {
    return shared_.size() / 8 + outer_.size() * sizeof outer_[0] + 64;
  }
  /// Reads it for a piece with the same cells and points. Throws Error if it is malformed.
  void readLinks(Reader& reader);

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
  /// The number of slots of a block.
  std::int32_t slotsOf(int block) const {
    return cellsOfBlock_.empty() ? slots_ : std::int32_t(cellsOfBlock_[std::size_t(block)].size());
  }
  /// The candidate at a slot of a block, negative if there is none. Candidates at consecutive
  /// slots are close to each other if the piece is a grid, or cut into blocks.
  std::int32_t candidateAt(int block, std::int32_t slot) const {
    if (!cellsOfBlock_.empty()) return cellsOfBlock_[std::size_t(block)][std::size_t(slot)];
    const auto cell = piece_.grid ? std::int32_t(bricks_.cellAt(slot)) : slot;
    return cell >= 0 && isCandidate(cell) ? cell : -1;
  }
  /// Calls visit(cell) for each cell of a group of slots of the piece.
  template <class Visit>
  void forEachCellOfGroup(std::size_t group, Visit&& visit) const {
    if (piece_.grid) {
      bricks_.forEachCell(bricks_.brickAt(std::int64_t(group)),
                          [&](std::int64_t cell) { visit(std::int32_t(cell)); });
      return;
    }
    const auto first = std::int32_t(group * CellBins::GroupSize);
    const std::int32_t count = std::min(std::int32_t(CellBins::GroupSize), slots_ - first);
    for (std::int32_t n = 0; n < count; ++n) visit(first + n);
  }
  /// Calls visit(cell) for each candidate of a group of a block.
  template <class Visit>
  void forEachOfGroup(int block, std::size_t group, Visit&& visit) const {
    if (cellsOfBlock_.empty()) {
      forEachCellOfGroup(group, [&](std::int32_t cell) {
        if (isCandidate(cell)) visit(cell);
      });
      return;
    }
    const std::vector<std::int32_t>& cells = cellsOfBlock_[std::size_t(block)];
    const std::size_t first = group * CellBins::GroupSize;
    for (std::size_t n = first; n < std::min(first + CellBins::GroupSize, cells.size()); ++n)
      visit(cells[n]);
  }
  /// Calls visit(cell) for each candidate of the piece, ascending. The candidates stay the same.
  template <class Visit>
  void forEachCandidate(Visit&& visit) const {
    for (std::size_t cell = 0; cell < piece_.types.size(); ++cell)
      if (isCandidate(std::int32_t(cell))) visit(std::int32_t(cell));
  }
  bool isCandidate(std::int32_t cell) const {
    return recordOf(cell).load(std::memory_order_relaxed) != Excluded;
  }
  /// What becomes of the cells of a type.
  enum class Kind : std::uint8_t { Other, Linear, Foreign };
  using Kinds = std::array<Kind, 256>;
  /// Tests of boxes that take as long as to make a table, per cell: the lists of the cells around
  /// points, and bins that are divided everywhere.
  static constexpr std::int64_t TestsPerListedCell = 4, TestsPerBinnedCell = 64;
  /// Whether searches without tables cost little still.
  /// @param testsPerCell  what the tables would cost
  bool maySearchGroups(std::int64_t testsPerCell) const {
    return searched_.load(std::memory_order_relaxed) <
           testsPerCell * std::int64_t(piece_.types.size());
  }
  /// Calls visit(cell) for each candidate of a block whose box contains a point or a box.
  template <class PointOrBox, class Visit>
  void searchGroups(int block, const PointOrBox& place, Visit&& visit) const {
    constexpr std::size_t TestsPerCell = 8;  // that take as long as to find the box of a cell
    std::size_t cost = 0;
    cost += groups_[std::size_t(block)].forEachAt(place, [&](std::size_t group) {
      forEachOfGroup(block, group, [&](std::int32_t cell) {
        cost += TestsPerCell;
        if (CellExtent(piece_, cell).box().contains(place)) visit(cell);
      });
    });
    searched_.fetch_add(std::int64_t(cost), std::memory_order_relaxed);
  }

  Kinds kindsOfCells() const;
  void check(const FaceSide& mine, const FaceSide& other) const;
  void classify(const Kinds& kinds, std::size_t group, Box& box) const;
  bool mayBeUsed(std::int64_t cell, const Kinds& kinds, Box& box) const;
  bool mayBeUsed(const Brick& brick, const Kinds& kinds, Box& box) const;
  bool examine(std::int64_t cell) const;
  bool usesAny() const;
  void cut(int blocks);
  CellBins::BoxOf boxesOf(int block) const;
  const CellBins& bins(int block) const;
  const std::vector<std::int64_t>& copies() const;
  const PackedLists<std::int32_t>& pointCells() const;
  std::vector<std::int64_t> findCopies() const;
  PackedLists<std::int32_t> findPointCells(const std::vector<std::int64_t>& canonical) const;
  template <class Id, class IdOf>
  bool facePoints(std::int64_t cell, int face, const IdOf& idOf, FacePoints<Id>& out) const;
  template <class Id, class IdOf, class ForEachAround>
  Neighbor findNeighbor(std::int32_t cell, int face, const IdOf& idOf,
                        const ForEachAround& forEachAround) const;
  Neighbor neighborInGroups(std::int32_t cell, int face) const;
  Neighbor neighborInTables(std::int32_t cell, int face) const;
  bool isShared(std::int64_t cell, int face) const;

  MeshPiece piece_;
  int dimension_;
  BlockId firstBlock_;
  bool byId_ = false;
  std::vector<Box> boxes_;            // per block
  std::vector<BoxHierarchy> groups_;  // per block: of each CellBins::GroupSize slots
  BrickOrder bricks_;                 // of a grid
  std::int32_t slots_ = 0;            // of the piece
  // Of several blocks only: the block of each cell, and the candidates of each block, ascending.
  std::vector<std::int32_t> blockOfCell_;
  std::vector<std::vector<std::int32_t>> cellsOfBlock_;
  std::unique_ptr<std::atomic<std::int32_t>[]> records_;           // per cell
  mutable std::vector<std::shared_ptr<MeshRecords>> keptRecords_;  // per block

  std::vector<bool> shared_;      // per point; empty if none is
  std::vector<OuterFace> outer_;  // ascending by cell and face
  std::vector<std::vector<BlockId>> neighbors_;

  mutable std::atomic<std::int64_t> searched_{0};  // boxes, without tables
  mutable std::mutex mutex_;                       // of the construction of:
  Lazy<std::vector<std::int64_t>> copies_;
  Lazy<PackedLists<std::int32_t>> pointCells_;
  std::vector<Lazy<CellBins>> bins_;  // per block
};

}  // namespace tributary::detail
