// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vtkDataArray.h>
#include <vtkDataSetAttributes.h>
#include <vtkSmartPointer.h>

#include <array>
#include <cstdint>
#include <vector>

#include "Common/CellLists.h"
#include "Common/CellSize.h"
#include "Regions/ComponentPiece.h"

#include "Tributary/Components/LatticeLabels.h"

namespace tributary {

/// The cells of an image, a rectilinear or a curvilinear grid. What it shares with others is in
/// LatticeSharing.cxx, what it says of regions in LatticeFacts.cxx, what it shows of them in
/// LatticeWriting.cxx.
class LatticePiece : public ComponentPiece {
 public:
  using Index3 = std::array<std::int64_t, 3>;

  LatticePiece(const Leaf& leaf, const DomainRules& rules, std::vector<std::uint8_t> flags,
               std::vector<std::int64_t> labels);

  std::array<double, 3> place(std::int64_t point) const override;
  Extremes extremes(const std::vector<MeasuredValues>& arrays) const override;
  Box box() const override;
  std::vector<std::int64_t> pointsIn(Span<const NeighborPiece> others) const override;
  Index3 indexOf(std::int64_t point) const override;
  Index3 stride() const override { return stride_; }
  std::vector<EntityKey> connectionKeys(Span<const NeighborPiece> others) override;
  std::uint32_t label(const RangeTest& test) override;
  std::uint32_t setOfCell(std::int64_t cell) const override {
    return setAt(cell % cells_[0], cell / cells_[0]);
  }
  bool isGhost(std::int64_t cell) const override {
    return hasGhosts_ && (flags_[index(cell)] & vtkDataSetAttributes::DUPLICATECELL) != 0;
  }
  CellSize sizeOf(std::int64_t cell) const override;
  std::vector<std::uint32_t> setsOfConnections() const override;
  std::vector<SetAtPoint> setsAtShared() const override;
  BlockFacts facts(const FactScales& scales,
                   const std::vector<MeasuredValues>& arrays) const override;
  void write(RegionOutput& output) const override;
  std::vector<std::uint32_t> setsAt(const std::vector<std::int64_t>& points) const override;
  Nearest nearest(const std::array<double, 3>& place) const override;

 private:
  /// A point, edge or face of the lattice, or of a finer one: from `at`, in the finest lattice
  /// counted from the first point, it goes along each axis in `span`.
  struct Entity {
    Index3 at;
    unsigned span;       // a bit per axis
    std::int64_t value;  // of the cells that it connects, if they are told apart by values
  };

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

  /// The corners of a cell as VTK orders those of a vertex, line, quadrilateral or hexahedron.
  int cornersOf(std::int64_t cell, std::int64_t* ids) const;
  std::array<double, 3> at(std::int64_t i, std::int64_t j, std::int64_t k) const {
    if (straight_) return {axes_[0][index(i)], axes_[1][index(j)], axes_[2][index(k)]};
    return coordinates_[pointAt(i, j, k)];
  }

  /// The set of a cell in a row of cells.
  std::uint32_t setAt(std::int64_t i, std::int64_t row) const;
  /// Whether points are told apart by indices.
  bool hasIndices() const {
    return rules_.points == DomainRules::Points::Structured ||
           rules_.points == DomainRules::Points::Hierarchy;
  }
  Index3 finestIndexOf(std::int64_t point) const;
  /// Calls `visit(cell)` for all cells that have the entity.
  template <class Visit>
  void cellsAt(const Index3& at, unsigned span, Visit&& visit) const;
  /// Calls `visit(at, key)` for what connects its cells with those of another data set.
  template <class Visit>
  void visitOwnEntities(unsigned span, Visit&& visit) const;
  /// The same for what cells of a finer level connect to.
  template <class Visit>
  void visitFinerEntities(const NeighborPiece& finer, unsigned span, Visit&& visit) const;
  /// Calls `visit(row)` for the rows of cells beside a row of points.
  template <class Visit>
  void cellRowsAt(std::int64_t j, std::int64_t k, Visit&& visit) const;
  /// Calls `visit(begin, end, set)` for the cells of a run that are no ghosts, in one piece or
  /// more.
  template <class Visit>
  void ownCells(const Run& run, std::int64_t row, Visit&& visit) const;
  RegionKey keyOf(std::int64_t i, std::int64_t row, const RegionKey& known) const;

  void writeRow(std::int64_t j, std::int64_t k, RegionOutput& output, bool isConcurrent,
                std::vector<std::vector<std::uint32_t>>& sets) const;

  std::array<int, 6> extent_;
  Index3 start_{};          // in the extent or the finest lattice
  Index3 stride_{1, 1, 1};  // of its points there
  LatticeSize points_{};
  LatticeSize cells_{};
  bool straight_ = false;  // along the axes, with increasing coordinates
  bool uniform_ = false;   // and all cells of one size
  std::array<std::vector<double>, 3> axes_;
  std::array<double, 3> spacing_{1, 1, 1};
  vtkSmartPointer<vtkDataArray> coordinatesArray_;
  Coordinates coordinates_;
  std::vector<std::uint8_t> flags_;
  bool hasGhosts_ = false;
  std::vector<std::int64_t> values_;  // per cell, or none
  std::vector<std::int64_t> cellIds_;
  std::vector<CellSize> sizes_;  // of cells that are not straight

  std::vector<Entity> connections_;
  LatticeLabels labels_;
};

}  // namespace tributary
