// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "Common/CellLists.h"
#include "Common/CellSize.h"
#include "Regions/Pieces/ComponentPiece.h"

#include "Tributary/Components/MeshEntities.h"
#include "Tributary/Components/MeshLabels.h"

namespace tributary {

/// Cells of any kind with their points, as the data set has them. Can be moved, not copied.
struct PieceMesh {
  CellLists lists;
  std::int64_t count;  ///< Cells.
  std::int64_t pointCount;
  PointCoordinates coordinates;

  explicit PieceMesh(const Leaf& leaf);
  /// Views the memory of a data set with the same cells and points in place of the first one.
  void refer(const Leaf& leaf);

  Span<const std::int64_t> pointsOf(std::int64_t cell) const {
    const std::int64_t first = lists.offsets[index(cell)];
    return lists.connectivity.subspan(index(first), index(lists.offsets[index(cell + 1)] - first));
  }
  /// The points, each with the distance within which others coincide with it.
  /// @param tolerance  as a fraction of a cell's diagonal
  std::vector<LoosePoint> loosePoints(double tolerance) const;
  /// The memory of what the data set does not have itself, in bytes.
  std::size_t memory() const {
    return memoryOf(lists.ownTypes) + memoryOf(lists.ownOffsets) + memoryOf(lists.ownConnectivity) +
           coordinates.memory();
  }
};

/// The cells of an unstructured grid or of poly data, or of a grid whose points have no indices.
class UnstructuredPiece : public ComponentPiece {
 public:
  /// @param clusters  of points, if these identify them; else empty
  UnstructuredPiece(PieceSource&& source, const DomainRules& rules, PieceMesh&& mesh,
                    std::vector<SetName> clusters);

  std::array<double, 3> place(std::int64_t point) const override {
    return mesh_.coordinates[point];
  }
  CellSize measure(std::int64_t cell) const override;
  bool isMeasuredConcurrently(std::int64_t cell) const override {
    return isMeasuredByPoints(mesh_.lists.types[index(cell)]);
  }
  Box boundsOf(std::int64_t cell) const override;
  std::int64_t firstAt(std::int64_t point) const override { return firstOf(point); }
  std::size_t memory() const override;
  NeighborPiece outline() const override;

 private:
  // The next phases read the piece's data.
  friend class SharedMesh;
  friend class LabeledMesh;

  /// An entity, and a value of its cells.
  using Connection = std::pair<std::int64_t, std::int64_t>;

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
  void readAgain() override;
  /// Finds the points that coincide.
  void mergePoints();
  std::vector<std::int64_t> findCoincident() const;
  /// Coordinates by which neighbors are found: those of a point, or its id as if it were one.
  std::array<double, 3> whereToLook(std::int64_t point) const;
  std::vector<std::int64_t> pointsIn(Span<const NeighborPiece> others) const override;
  EntityKey keyOf(std::int64_t point) const override;
  [[nodiscard]] std::unique_ptr<SharedPiece> shareMore(SharedPoints&& shared,
                                                       Span<const NeighborPiece> others,
                                                       bool connect) const override;
  /// The cells that have shared points.
  std::vector<std::int64_t> borderCells(const SharedPoints& shared) const;
  /// Finds what connects its cells with those of other data sets.
  /// @param connections  Out: sorted
  std::vector<EntityKey> connect(const SharedPoints& shared,
                                 const std::vector<std::int64_t>& borderCells,
                                 std::vector<Connection>& connections) const;

  PieceMesh mesh_;
  std::vector<std::int64_t> first_;  // of the points that coincide with a point, or none
  std::vector<std::pair<std::int64_t, std::int64_t>> copies_;  // (first, other), sorted
  std::vector<std::int64_t> mergedPoints_;                     // the connectivity with those
  CellEntities cellPoints_;
  MeshEntities numbered_;
  std::vector<std::int64_t> pointIds_;
  std::vector<SetName> clusters_;
};

/// What an unstructured piece may have in common with others.
class SharedMesh : public SharedPiece {
 public:
  using Connection = UnstructuredPiece::Connection;

  SharedMesh(const UnstructuredPiece& piece, SharedPoints points, std::vector<EntityKey> keys,
             std::vector<Connection> connections, std::vector<std::int64_t> borderCells)
      : SharedPiece(std::move(points), std::move(keys)),
        piece_(piece),
        connections_(std::move(connections)),
        borderCells_(std::move(borderCells)) {}

  const std::vector<Connection>& connections() const { return connections_; }
  const std::vector<std::int64_t>& borderCells() const { return borderCells_; }
  std::size_t memory() const override {
    return SharedPiece::memory() + memoryOf(connections_) + memoryOf(borderCells_);
  }
  [[nodiscard]] std::unique_ptr<LabeledPiece> label(
      const RangeTest& test, Span<const std::uint64_t> gapElements) const override;

 private:
  std::vector<std::uint8_t> cellsInRange(const RangeTest& test) const;

  const UnstructuredPiece& piece_;
  std::vector<Connection> connections_;    // sorted, in the order of their keys
  std::vector<std::int64_t> borderCells_;  // that have shared points
};

/// The sets of an unstructured piece. Their facts are in UnstructuredFacts.cxx.
class LabeledMesh : public LabeledPiece {
 public:
  LabeledMesh(const UnstructuredPiece& mesh, const SharedMesh& shared, MeshLabels labels)
      : LabeledPiece(mesh, shared.points()),
        mesh_(mesh),
        shared_(shared),
        labels_(std::move(labels)),
        sizes_(mesh.measureCells([this](std::int64_t cell) { return setOfCell(cell) != NoSet; })) {}

  std::uint32_t sets() const override { return labels_.sets; }
  std::uint32_t setOfCell(std::int64_t cell) const override {
    return labels_.setOfCell[index(cell)];
  }
  CellSize sizeOf(std::int64_t cell) const override { return sizes_[cell]; }
  std::vector<std::uint32_t> setsOfConnections() const override;
  std::vector<SetAtPoint> setsAtShared() const override;
  std::vector<std::uint32_t> setsAt(const std::vector<std::int64_t>& points) const override;
  NearestPoints nearest(const std::array<double, 3>& place) const override;
  Extremes extremes(const std::vector<MeasuredValues>& arrays) const override;
  BlockFacts facts(const FactScales& scales,
                   const std::vector<MeasuredValues>& arrays) const override;
  void write(RegionOutput& output) const override;
  void writeShared(std::int64_t shared, vtkIdType region, vtkIdType* points) const override;

 private:
  /// @param least  of its points
  RegionKey keyOf(std::int64_t cell, const std::array<double, 3>& least) const;
  /// Adds the measure, moment and bounds of a cell. @return its least point
  std::array<double, 3> addCell(std::int64_t cell, double weight, const FactScales& scales,
                                RegionFacts& set) const;

  const UnstructuredPiece& mesh_;
  const SharedMesh& shared_;
  MeshLabels labels_;
  CellSizes sizes_;  // of cells in range
};

}  // namespace tributary
