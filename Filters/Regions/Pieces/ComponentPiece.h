// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vtkDataSet.h>
#include <vtkDataSetAttributes.h>
#include <vtkType.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "Common/CellSize.h"
#include "Common/Leaves.h"
#include "Regions/Pieces/CellValues.h"
#include "Regions/Pieces/DomainRules.h"
#include "Regions/Pieces/StraightLattice.h"

#include "Tributary/Base/Box.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Base/Span.h"
#include "Tributary/Components/Connection.h"
#include "Tributary/Components/Matching.h"
#include "Tributary/Components/PointClusters.h"
#include "Tributary/Components/Regions.h"
#include "Tributary/Components/TreeLeaves.h"

// One data set of a rank, as a block of the distributed union. All of this is local. Each phase is
// a type, and the next one is made from it:
//
//   PieceSource -> ComponentPiece   what the data set consists of
//   share()     -> SharedPiece      what it may have in common with other data sets
//   label()     -> LabeledPiece     the sets of connected cells for one range
//
// A phase does not change an earlier one, which must outlive it. An execution that finds the same
// mesh again makes labels from the pieces of an earlier one: see ComponentPiece::refer().

namespace tributary {

/// Where a data set lies.
struct NeighborPiece {
  Box box;  ///< Bounds of its points, or of their indices or ids where these identify points.
  int level = -1;                               ///< In the AMR hierarchy, or -1.
  std::array<std::int64_t, 3> stride{1, 1, 1};  ///< Of its points in the finest lattice.
};

/// The memory of a list, in bytes.
template <class T>
std::size_t memoryOf(const std::vector<T>& list) {
  return list.capacity() * sizeof(T);
}

/// The points of a piece on periodic sides of the domain, if points have no indices.
struct SidePoints {
  std::vector<std::int64_t> points;  ///< Ascending, each once.
  std::vector<EntityKey> keys;       ///< The same for points that are the same place.
  std::vector<std::uint8_t> upper;   ///< A bit for each axis on whose upper side the point is.

  /// Position of a point in `points`, -1 if it is on no side.
  std::int64_t find(std::int64_t point) const {
    const auto at = std::lower_bound(points.begin(), points.end(), point);
    return at != points.end() && *at == point ? at - points.begin() : -1;
  }
  /// In bytes.
  std::size_t memory() const { return memoryOf(points) + memoryOf(keys) + memoryOf(upper); }
};

/// The points of a piece that other pieces may have too.
class SharedPoints {
 public:
  SharedPoints() = default;
  /// @param points      ascending, each once
  /// @param keys        of the points
  /// @param pointCount  all points of the piece
  SharedPoints(std::vector<std::int64_t> points, std::vector<EntityKey> keys,
               std::int64_t pointCount);

  bool empty() const { return points_.empty(); }
  const std::vector<std::int64_t>& points() const { return points_; }
  const std::vector<EntityKey>& keys() const { return keys_; }
  /// @post there are no keys
  [[nodiscard]] std::vector<EntityKey> takeKeys() { return std::exchange(keys_, {}); }
  /// In bytes.
  std::size_t memory() const {
    return memoryOf(points_) + memoryOf(keys_) + memoryOf(bits_) + memoryOf(before_);
  }
  bool contains(std::int64_t point) const {
    return !bits_.empty() && (bits_[index(point >> 6)] >> (point & 63) & 1) != 0;
  }
  /// Position of a point in points(), -1 if the point is not shared.
  std::int64_t find(std::int64_t point) const { return contains(point) ? countBefore(point) : -1; }
  /// The number of shared points below a number in [0, number of points].
  std::int64_t countBefore(std::int64_t point) const;

 private:
  std::vector<std::int64_t> points_;
  std::vector<EntityKey> keys_;
  std::vector<std::uint64_t> bits_;    // one per point
  std::vector<std::uint32_t> before_;  // shared points before each word of bits_
};

/// Where the numbers of regions are written in one data set.
struct RegionOutput {
  Span<const std::int64_t> numberOf;  ///< Region of each set, -1 for none.
  Span<const std::int64_t> shownOf;   ///< The same, -1 if the region is not selected.
  vtkIdType* cells = nullptr;         ///< For each cell the region shown, or null.
  vtkIdType* points = nullptr;        ///< For each point the least region of its cells, or null.
  std::vector<std::int64_t> pointsOfSet;  ///< Out: points that the set's cells use, without shared
                                          ///< points; each counts once for a region.
};

/// A set that has a cell at a shared point.
struct SetAtPoint {
  std::int64_t shared;  ///< Index in SharedPoints::points().
  std::uint32_t set;
};

/// The points that are nearest to a place.
struct NearestPoints {
  double distance2 = RegionFacts::Infinity;  ///< Square of their distance.
  std::vector<std::uint32_t> sets;           ///< Sets of the cells that have them.

  /// @param periodic  distances are the shortest ones through the sides
  void add(const std::array<double, 3>& where, const std::array<double, 3>& point,
           std::uint32_t set, const PeriodicAxes& periodic);
};

/// A data set whose arrays have been checked.
struct PieceSource {
  Leaf leaf;
  std::vector<std::uint8_t> flags;   ///< Ghost flags of cells, or none.
  std::vector<std::int64_t> labels;  ///< Of cells, which connect only within equal ones; or none.
};

class SharedPiece;

/// The cells and points of one data set.
class ComponentPiece {
 public:
  ComponentPiece(PieceSource&& source, const DomainRules& rules);
  virtual ~ComponentPiece() = default;
  ComponentPiece(const ComponentPiece&) = delete;
  void operator=(const ComponentPiece&) = delete;

  /// From now on reads a data set with the same points, cells, ids, labels and ghosts, in place of
  /// the present one, which need not exist any more. Not for hyper trees.
  /// @pre There is no LabeledPiece of this piece. @post share() must not be called again.
  void refer(const Leaf& leaf);

  vtkDataSet* dataSet() const { return leaf_.dataSet; }
  const Leaf& leaf() const { return leaf_; }
  const DomainRules& rules() const { return rules_; }
  std::int64_t cells() const { return leaf_.cells(); }
  virtual std::int64_t points() const { return leaf_.points(); }
  /// Coordinates of a point.
  virtual std::array<double, 3> place(std::int64_t point) const = 0;
  /// Not for hyper trees.
  bool isGhost(std::int64_t cell) const {
    return hasFlag(cell, vtkDataSetAttributes::DUPLICATECELL);
  }
  /// Not for hyper trees.
  bool isHidden(std::int64_t cell) const { return hasFlag(cell, vtkDataSetAttributes::HIDDENCELL); }
  /// Whether any cell may be a ghost or hidden. Not for hyper trees.
  bool hasFlags() const { return !flags_.empty(); }
  /// Computes the size of a cell. Not for hyper trees.
  virtual CellSize measure(std::int64_t) const { return {}; }
  /// Whether several threads can measure cells like this one.
  virtual bool isMeasuredConcurrently(std::int64_t) const { return true; }
  /// Computes the sizes of the cells for which `isWanted(cell)` is true. Not for hyper trees.
  [[nodiscard]] CellSizes measureCells(const std::function<bool(std::int64_t)>& isWanted) const;
  /// The lattice of its cells, if they are along the axes; otherwise null.
  virtual const StraightLattice* straight() const { return nullptr; }

  /// The bounds of the points of a cell. Not for hyper trees.
  virtual Box boundsOf(std::int64_t) const { return {}; }
  /// The first of the points of the piece that coincide with a point.
  virtual std::int64_t firstAt(std::int64_t point) const { return point; }
  /// @pre share() has not been called
  void setSides(SidePoints&& sides) { sides_ = std::move(sides); }

  /// The memory of the piece itself, in bytes.
  virtual std::size_t memory() const {
    return memoryOf(flags_) + memoryOf(values_) + memoryOf(cellIds_) + sides_.memory();
  }
  virtual NeighborPiece outline() const = 0;
  /// Finds what other pieces may have too.
  /// @param others   those whose outlines touch this one's
  /// @param connect  whether to find what connects cells, because shared points alone do not
  [[nodiscard]] std::unique_ptr<SharedPiece> share(Span<const NeighborPiece> others,
                                                   bool connect) const;

 protected:
  /// Reads the arrays of another data set: see refer().
  virtual void readAgain() {}
  /// The points that may be points of other data sets too, ascending.
  virtual std::vector<std::int64_t> pointsIn(Span<const NeighborPiece> others) const = 0;
  virtual EntityKey keyOf(std::int64_t point) const = 0;
  /// The second part of share().
  /// @param shared  pointsIn(others), with their keys
  [[nodiscard]] virtual std::unique_ptr<SharedPiece> shareMore(SharedPoints&& shared,
                                                               Span<const NeighborPiece> others,
                                                               bool connect) const = 0;

  /// The key of an entity by the keys of its points. Two entities between the same points, of
  /// which one is beyond a periodic side, are different.
  /// @param keys  In and out: sorted by the function
  EntityKey keyOfPoints(Span<const std::int64_t> points, Span<EntityKey> keys) const;

  Leaf leaf_;
  DomainRules rules_;
  SidePoints sides_;
  std::vector<std::uint8_t> flags_;    // per cell, or none
  std::vector<std::int64_t> values_;   // of labels, per cell, or none
  std::vector<std::int64_t> cellIds_;  // or none

 private:
  void setLeaf(const Leaf& leaf);
  bool hasFlag(std::int64_t cell, std::uint8_t flag) const {
    return !flags_.empty() && (flags_[index(cell)] & flag) != 0;
  }
};

class LabeledPiece;

/// What a piece may have in common with others.
class SharedPiece {
 public:
  SharedPiece(SharedPoints points, std::vector<EntityKey> connectionKeys)
      : points_(std::move(points)), connectionKeys_(std::move(connectionKeys)) {}
  virtual ~SharedPiece() = default;
  SharedPiece(const SharedPiece&) = delete;
  void operator=(const SharedPiece&) = delete;

  const SharedPoints& points() const { return points_; }
  /// In bytes.
  virtual std::size_t memory() const { return points_.memory() + memoryOf(connectionKeys_); }
  /// Gives away the keys of the points and of what connects cells, to find their matches. The
  /// latter are empty if share() was not asked for them.
  [[nodiscard]] std::vector<EntityKey> takePointKeys() { return points_.takeKeys(); }
  [[nodiscard]] std::vector<EntityKey> takeConnectionKeys() {
    return std::exchange(connectionKeys_, {});
  }
  /// Labels the cells in range.
  /// @param gapElements  mask of the elements of the piece's gaps in range, or none; see GapSlab
  [[nodiscard]] virtual std::unique_ptr<LabeledPiece> label(
      const RangeTest& test, Span<const std::uint64_t> gapElements) const = 0;

 protected:
  SharedPoints points_;
  std::vector<EntityKey> connectionKeys_;
};

/// The sets of connected cells of a piece.
class LabeledPiece {
 public:
  LabeledPiece(const ComponentPiece& piece, const SharedPoints& points)
      : piece_(piece), points_(points) {}
  virtual ~LabeledPiece() = default;
  LabeledPiece(const LabeledPiece&) = delete;
  void operator=(const LabeledPiece&) = delete;

  const ComponentPiece& piece() const { return piece_; }

  /// The number of sets.
  virtual std::uint32_t sets() const = 0;
  /// NoSet for a cell out of range.
  virtual std::uint32_t setOfCell(std::int64_t cell) const = 0;
  using VisitCells = std::function<void(std::int64_t begin, std::int64_t end, std::uint32_t set)>;
  /// Calls `visit(begin, end, set)` for the cells in range that are no ghosts, in ascending order:
  /// those of [begin, end) are in the set. Not for hyper trees.
  virtual void visitOwnCells(const VisitCells& visit) const;
  /// The same for the cells in range among [begin, end), ghosts included. @pre begin < end
  virtual void visitCells(std::int64_t begin, std::int64_t end, const VisitCells& visit) const;
  /// The sets of the connections, in the order of their keys.
  virtual std::vector<std::uint32_t> setsOfConnections() const = 0;
  /// All sets at the shared points, each once.
  virtual std::vector<SetAtPoint> setsAtShared() const = 0;
  /// The size of a cell in range. Not for hyper trees.
  virtual CellSize sizeOf(std::int64_t) const { return {}; }
  /// One set for each shared point. @pre cells are connected through points, whatever their labels
  std::vector<std::uint32_t> setsOfShared() const;
  /// The sets that have a cell at one of the points. Not for hyper trees.
  virtual std::vector<std::uint32_t> setsAt(const std::vector<std::int64_t>&) const { return {}; }
  /// Among the points of cells in range.
  virtual NearestPoints nearest(const std::array<double, 3>& place) const = 0;

  /// Of the cells in range that are no ghosts, so that the result does not depend on the cut.
  virtual Extremes extremes(const std::vector<MeasuredValues>& arrays) const = 0;
  /// Facts of each set. Ghost cells do not count.
  virtual BlockFacts facts(const FactScales& scales,
                           const std::vector<MeasuredValues>& arrays) const = 0;

  virtual void write(RegionOutput& output) const = 0;
  /// Writes a region at a shared point, and at all points of the piece that coincide with it.
  virtual void writeShared(std::int64_t shared, vtkIdType region, vtkIdType* points) const {
    points[points_.points()[index(shared)]] = region;
  }

 protected:
  const ComponentPiece& piece_;
  const SharedPoints& points_;
};

/// The key of a cell by its least point and the keys of all its points by their coordinates.
RegionKey placeKey(const std::array<double, 3>& least, const EntityKey& all);

/// The key of an entity of cells with one value only.
EntityKey withValue(const EntityKey& key, std::int64_t value);

}  // namespace tributary
