// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "Common/CellLists.h"
#include "Common/CellSize.h"
#include "Regions/Pieces/ComponentPiece.h"
#include "Regions/Pieces/GapSlabs.h"
#include "Regions/Pieces/StraightLattice.h"

#include "Tributary/Components/LatticeLabels.h"

namespace tributary {

/// A point, edge or face of a lattice, or of a finer one: from `at`, in the finest lattice counted
/// from the first point, it extends along each axis in `span`.
struct LatticeEntity {
  std::array<std::int64_t, 3> at;
  unsigned span;       ///< A bit per axis.
  std::int64_t value;  ///< Of the cells that it connects, if only cells of equal labels connect.
  int slab = -1;       ///< If it is of elements of a gap: the number of the slab.
};

class SharedLattice;

/// The cells of an image, a rectilinear or a curvilinear grid.
class LatticePiece : public ComponentPiece {
 public:
  using Index3 = std::array<std::int64_t, 3>;

  LatticePiece(PieceSource&& source, const DomainRules& rules);

  std::array<double, 3> place(std::int64_t point) const override;
  CellSize measure(std::int64_t cell) const override;
  const StraightLattice* straight() const override { return straight_ ? &*straight_ : nullptr; }
  Box boundsOf(std::int64_t cell) const override;
  std::size_t memory() const override;
  NeighborPiece outline() const override;

 private:
  // The next phases read the lattice's data.
  friend class SharedLattice;
  friend class LabeledLattice;

  Index3 localIndexOf(std::int64_t point) const {
    return {point % points_[0], point / points_[0] % points_[1], point / (points_[0] * points_[1])};
  }
  std::int64_t pointAt(std::int64_t i, std::int64_t j, std::int64_t k) const {
    return (k * points_[1] + j) * points_[0] + i;
  }
  std::int64_t cellAt(std::int64_t i, std::int64_t j, std::int64_t k) const {
    return (k * cells_[1] + j) * cells_[0] + i;
  }
  bool isFlat(std::size_t axis) const { return points_[axis] == 1; }
  /// Whether all cells are of one size.
  bool isUniform() const { return straight_ && straight_->spacing; }

  void setCells();
  void readAgain() override;
  /// The corners of a cell as VTK orders those of a vertex, line, quadrilateral or hexahedron.
  int cornersOf(std::int64_t cell, std::int64_t* ids) const;
  std::array<double, 3> at(std::int64_t i, std::int64_t j, std::int64_t k) const {
    if (straight_)
      return {straight_->axes[0][index(i)], straight_->axes[1][index(j)],
              straight_->axes[2][index(k)]};
    return coordinates_[pointAt(i, j, k)];
  }

  bool hasIndices() const { return rules_.hasIndices(); }
  /// Whether its last points along an axis are images of its first ones.
  bool isClosed(std::size_t axis) const {
    return around_[axis] > 0 && !rules_.periodic[axis].hasGap();
  }
  std::unique_ptr<LabeledPiece> labelWithSides(const SharedLattice& shared, LatticeLabels labels,
                                               Through through,
                                               Span<const std::uint64_t> gapElements) const;
  /// The key of an entity by its index in the extent or in the hierarchy's finest lattice.
  EntityKey keyOfIndices(const Index3& index, unsigned span, int level) const {
    const Index3 at = rules_.wrapped(index);
    return keyOfStructured(1, at[0], at[1], at[2], std::int64_t(span) + 8 * level);
  }
  Index3 finestIndexOf(std::int64_t point) const;
  /// Index of a point in the extent or in the hierarchy's finest lattice.
  Index3 indexOf(std::int64_t point) const;
  std::vector<std::int64_t> pointsIn(Span<const NeighborPiece> others) const override;
  EntityKey keyOf(std::int64_t point) const override;
  [[nodiscard]] std::unique_ptr<SharedPiece> shareMore(SharedPoints&& shared,
                                                       Span<const NeighborPiece> others,
                                                       bool connect) const override;
  /// Calls `visit(cell)` for all cells that have the entity.
  template <class Visit>
  void cellsAt(const Index3& at, unsigned span, Visit&& visit) const {
    Index3 first{}, end{};
    for (std::size_t a = 0; a < 3; ++a) {
      const bool inside = (span >> a & 1) != 0 || at[a] % stride_[a] != 0;
      const std::int64_t cell = at[a] / stride_[a];
      first[a] = inside ? cell : std::max<std::int64_t>(cell - 1, 0);
      end[a] = std::min(cell + 1, cells_[a]);
    }
    for (std::int64_t k = first[2]; k < end[2]; ++k)
      for (std::int64_t j = first[1]; j < end[1]; ++j)
        for (std::int64_t i = first[0]; i < end[0]; ++i) visit(cellAt(i, j, k));
  }
  /// Calls `visit(at, key)` for the shared entities that connect its cells with those of another
  /// data set.
  template <class Visit>
  void visitOwnEntities(const SharedPoints& shared, unsigned span, Visit&& visit) const;
  /// The same for the entities that cells of a finer level connect to.
  template <class Visit>
  void visitFinerEntities(const NeighborPiece& finer, unsigned span, Visit&& visit) const;
  /// Calls `visit(slab, at, key)` for the entities that connect elements of its gaps with elements
  /// of other data sets.
  template <class Visit>
  void visitGapEntities(Span<const NeighborPiece> others, unsigned span, Visit&& visit) const;
  /// Finds what connects its cells with those of other data sets.
  std::vector<EntityKey> connect(Span<const NeighborPiece> others, const SharedPoints& shared,
                                 std::vector<LatticeEntity>& connections) const;

  std::array<int, 6> extent_;
  Index3 start_{};          // in the extent or the finest lattice
  Index3 stride_{1, 1, 1};  // of its points there
  LatticeSize points_{};
  LatticeSize cells_{};
  Index3 around_{};  // number of elements after which the piece repeats; 0 if it does not
  std::vector<GapSlab> slabs_;               // beyond its last cells
  std::optional<StraightLattice> straight_;  // if it is along the axes, with increasing coordinates
  PointCoordinates coordinates_;             // otherwise
  bool hasGhosts_ = false;
};

/// What a lattice may have in common with other pieces.
class SharedLattice : public SharedPiece {
 public:
  SharedLattice(const LatticePiece& piece, SharedPoints points, std::vector<EntityKey> keys,
                std::vector<LatticeEntity> connections)
      : SharedPiece(std::move(points), std::move(keys)),
        piece_(piece),
        connections_(std::move(connections)) {}

  const std::vector<LatticeEntity>& connections() const { return connections_; }
  std::size_t memory() const override { return SharedPiece::memory() + memoryOf(connections_); }
  [[nodiscard]] std::unique_ptr<LabeledPiece> label(
      const RangeTest& test, Span<const std::uint64_t> gapElements) const override;

 private:
  const LatticePiece& piece_;
  std::vector<LatticeEntity> connections_;  // in the order of their keys
};

/// The sets of a lattice. Their facts are in LatticeFacts.cxx, the output in LatticeWriting.cxx.
class LabeledLattice : public LabeledPiece {
 public:
  /// @param gaps  the sets of the elements of each gap, numbered with those of the cells
  LabeledLattice(const LatticePiece& lattice, const SharedLattice& shared, LatticeLabels labels,
                 std::vector<LatticeLabels> gaps)
      : LabeledPiece(lattice, shared.points()),
        lattice_(lattice),
        connections_(shared.connections()),
        labels_(std::move(labels)),
        gaps_(std::move(gaps)) {
    if (!lattice_.straight_) measureCells();
  }

  std::uint32_t sets() const override { return labels_.sets(); }
  std::uint32_t setOfCell(std::int64_t cell) const override {
    return labels_.setAt(cell / lattice_.cells_[0], cell % lattice_.cells_[0]);
  }
  void visitOwnCells(const VisitCells& visit) const override;
  void visitCells(std::int64_t begin, std::int64_t end, const VisitCells& visit) const override;
  CellSize sizeOf(std::int64_t cell) const override {
    return sizes_.empty() ? lattice_.measure(cell) : sizes_[cell];
  }
  std::vector<std::uint32_t> setsOfConnections() const override;
  std::vector<SetAtPoint> setsAtShared() const override;
  std::vector<std::uint32_t> setsAt(const std::vector<std::int64_t>& points) const override;
  NearestPoints nearest(const std::array<double, 3>& place) const override;
  Extremes extremes(const std::vector<MeasuredValues>& arrays) const override;
  BlockFacts facts(const FactScales& scales,
                   const std::vector<MeasuredValues>& arrays) const override;
  void write(RegionOutput& output) const override;

 private:
  using Index3 = LatticePiece::Index3;
  struct Moments;
  struct Stretch;

  /// Measures the cells in range.
  void measureCells();
  /// Calls `visit(run, row)` for each run.
  template <class Visit>
  void visitRuns(Visit&& visit) const {
    const std::int64_t rows = lattice_.cells_[1] * lattice_.cells_[2];
    for (std::int64_t row = 0; row < rows; ++row)
      labels_.visitRuns(row, [&](const Run& run) { visit(run, row); });
  }
  /// Calls `visit(begin, end)` for the cells of a run that are no ghosts, in one piece or more.
  template <class Visit>
  void ownCells(const Run& run, std::int64_t row, Visit&& visit) const;
  /// The key of a cell, or `known` if that is less.
  RegionKey keyOf(std::int64_t i, std::int64_t row, const RegionKey& known) const;
  RegionKey structuredKeyOf(std::int64_t i, std::int64_t j, std::int64_t k) const;
  Moments momentsOf(const FactScales& scales) const;
  void addBounds(const Stretch& stretch, RegionFacts& set) const;
  void addCells(const Stretch& stretch, const FactScales& scales,
                const std::vector<MeasuredValues>& arrays, RegionFacts& set,
                ValueFacts* values) const;

  std::uint32_t setInGap(const LatticeEntity& entity) const;
  /// Calls `visit(row)` for the rows of cells beside a row of points.
  template <class Visit>
  void cellRowsAt(std::int64_t j, std::int64_t k, Visit&& visit) const;
  using SetsOfRow = std::vector<std::vector<std::uint32_t>>;
  std::size_t setsOfRow(std::int64_t j, std::int64_t k, const RegionOutput& output,
                        SetsOfRow& sets) const;
  void writeRow(std::int64_t j, std::int64_t k, RegionOutput& output, bool isConcurrent,
                SetsOfRow& sets) const;

  const LatticePiece& lattice_;
  const std::vector<LatticeEntity>& connections_;
  LatticeLabels labels_;
  std::vector<LatticeLabels> gaps_;
  CellSizes sizes_;  // of cells in range that are not straight
};

}  // namespace tributary
