// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vtkDataArray.h>
#include <vtkDataSetAttributes.h>
#include <vtkSmartPointer.h>

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "Common/CellLists.h"
#include "Common/CellSize.h"
#include "Regions/ComponentPiece.h"

#include "Tributary/Components/MeshEntities.h"
#include "Tributary/Components/MeshLabels.h"

namespace tributary {

/// The cells of an unstructured grid or of poly data. What it shares with others is in
/// UnstructuredSharing.cxx, what it says of regions in UnstructuredFacts.cxx.
class UnstructuredPiece : public ComponentPiece {
 public:
  UnstructuredPiece(const Leaf& leaf, const DomainRules& rules, std::vector<std::uint8_t> flags,
                    std::vector<std::int64_t> labels);

  std::array<double, 3> place(std::int64_t point) const override { return coordinates_[point]; }
  Extremes extremes(const std::vector<MeasuredValues>& arrays) const override;
  Box box() const override;
  std::vector<std::int64_t> pointsIn(Span<const NeighborPiece> others) const override;
  std::vector<LoosePoint> loosePoints(double tolerance) const override;
  void identify(const std::vector<SetName>& names) override;
  std::vector<EntityKey> connectionKeys(Span<const NeighborPiece> others) override;
  std::uint32_t label(const RangeTest& test) override;
  std::uint32_t setOfCell(std::int64_t cell) const override {
    return labels_.setOfCell[index(cell)];
  }
  bool isGhost(std::int64_t cell) const override {
    return !flags_.empty() && (flags_[index(cell)] & vtkDataSetAttributes::DUPLICATECELL) != 0;
  }
  CellSize sizeOf(std::int64_t cell) const override { return sizes_[index(cell)]; }
  std::vector<std::uint32_t> setsOfConnections() const override;
  std::vector<SetAtPoint> setsAtShared() const override;
  BlockFacts facts(const FactScales& scales,
                   const std::vector<MeasuredValues>& arrays) const override;
  void write(RegionOutput& output) const override;
  void showAt(std::int64_t shared, vtkIdType region, vtkIdType* points) const override;
  std::vector<std::uint32_t> setsAt(const std::vector<std::int64_t>& points) const override;
  Nearest nearest(const std::array<double, 3>& place) const override;

 private:
  bool throughPoints() const { return rules_.through == Through::Points; }
  /// The points of a cell, coincident ones by the first of them.
  Span<const std::int64_t> pointsOf(std::int64_t cell) const { return between(cellPoints_, cell); }
  Span<const std::int64_t> entitiesOf(std::int64_t cell) const {
    return throughPoints() ? pointsOf(cell) : between(numbered_.cells(), cell);
  }
  static Span<const std::int64_t> between(const CellEntities& rows, std::int64_t row) {
    const std::int64_t first = rows.offsets[index(row)];
    return rows.entities.subspan(index(first), index(rows.offsets[index(row + 1)] - first));
  }
  std::int64_t firstOf(std::int64_t point) const {
    return first_.empty() ? point : first_[index(point)];
  }
  Span<const std::int64_t> ownPointsOf(std::int64_t cell) const {
    return between({lists_.offsets, lists_.connectivity, 0}, cell);
  }
  void checkCells() const;
  void measureCells();
  /// What tells where the same point may be: its coordinates, or its id as if it were one.
  std::array<double, 3> whereToLook(std::int64_t point) const;
  /// @param names  of clusters, or null
  void mergePoints(const std::vector<SetName>* names);
  /// @param least  of its points
  RegionKey keyOf(std::int64_t cell, const std::array<double, 3>& least) const;

  CellLists lists_;
  std::int64_t count_;  // cells
  vtkSmartPointer<vtkDataArray> coordinatesArray_;
  Coordinates coordinates_;
  std::vector<CellSize> sizes_;      // of cells
  std::vector<std::int64_t> first_;  // of the points that are the same as a point, or none
  std::vector<std::pair<std::int64_t, std::int64_t>> copies_;  // (first, other), sorted
  std::vector<std::int64_t> mergedPoints_;                     // the connectivity with those
  CellEntities cellPoints_;
  MeshEntities numbered_;
  std::vector<std::uint8_t> flags_;
  std::vector<std::int64_t> values_;
  std::vector<std::int64_t> cellIds_, pointIds_;

  using Connection = std::pair<std::int64_t, std::int64_t>;  // an entity, and a value of its cells
  std::vector<Connection> connections_;                      // sorted
  std::vector<std::int64_t> borderCells_;                    // that have shared points
  MeshLabels labels_;
};

}  // namespace tributary
