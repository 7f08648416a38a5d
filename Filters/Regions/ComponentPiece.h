// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vtkDataArray.h>
#include <vtkDataSet.h>
#include <vtkSmartPointer.h>
#include <vtkType.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "Common/CellSize.h"
#include "Common/Leaves.h"
#include "Regions/DomainRules.h"

#include "Tributary/Base/Box.h"
#include "Tributary/Base/FixedSum.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Base/Span.h"
#include "Tributary/Components/Connection.h"
#include "Tributary/Components/Matching.h"
#include "Tributary/Components/PointClusters.h"
#include "Tributary/Components/Regions.h"
#include "Tributary/Components/TreeLeaves.h"

namespace tributary {

constexpr std::uint32_t NoSet = 0xffffffffu;

/// Where another data set lies: its bounds, or indices where those tell points apart.
struct NeighborPiece {
  Box box;
  int level;                           ///< In the hierarchy, or -1.
  std::array<std::int64_t, 3> stride;  ///< Of the points of its level in the finest lattice.
};

/// Which cells of a data set take part.
struct RangeTest {
  vtkDataArray* scalars = nullptr;  ///< Of the data set; null: all cells do.
  bool atCells = false;
  bool allPoints =
      false;  ///< Of scalars at points: all points of a cell must be in range, not one.
  double lo = 0, hi = 0;
};

/// A component of an array of the data set that regions are measured by.
class MeasuredValues {
 public:
  MeasuredValues() = default;
  MeasuredValues(vtkDataArray* array, int component, bool atCells);

  bool atCells() const { return atCells_; }
  double at(std::int64_t i) const {
    const std::int64_t place = i * stride_ + component_;
    return doubles_ ? doubles_[place] : static_cast<double>(floats_[place]);
  }

 private:
  vtkSmartPointer<vtkDataArray> array_;  // of floats or doubles
  const float* floats_ = nullptr;
  const double* doubles_ = nullptr;
  std::int64_t stride_ = 1;
  int component_ = 0;
  bool atCells_ = false;
};

/// Largest magnitudes, which decide the scales of sums.
struct Extremes {
  double measure = 0;
  double coordinate = 0;
  std::vector<double> values;
};

/// Scales of sums over the whole domain, the same on all ranks.
struct FactScales {
  FixedScale measure;
  FixedScale moment;
  std::vector<FixedScale> integrals;
  bool hasMeasure = true;  ///< If no cell has a measure, each counts one in moments and integrals.
};

/// Where the numbers of regions go in one data set.
struct RegionOutput {
  Span<const std::int64_t> numberOf;      ///< Region of each set, -1 for none.
  Span<const std::int64_t> shownOf;       ///< The same, -1 if it is not selected.
  vtkIdType* cells = nullptr;             ///< For each cell what is shown.
  vtkIdType* points = nullptr;            ///< For each point the least of what its cells show.
  std::vector<std::int64_t> pointsOfSet;  ///< Out: points that the set's cells use; not of shared
                                          ///< points, and each once for a region.
};

/// A set that has a cell at a shared point.
struct SetAtPoint {
  std::int64_t shared;  ///< Index in shared().
  std::uint32_t set;
};

/// One data set of this rank, as a block of the distributed union. Local.
///
/// Order of calls: identify() if points are told apart by clusters, meet() of trees, share(), then
/// for each range label() and what follows from it.
class ComponentPiece {
 public:
  ComponentPiece(const Leaf& leaf, const DomainRules& rules) : leaf_(leaf), rules_(rules) {
    if (rules.points != DomainRules::Points::Hierarchy) leaf_.level = -1;  // levels have no lattice
  }
  virtual ~ComponentPiece() = default;
  ComponentPiece(const ComponentPiece&) = delete;
  void operator=(const ComponentPiece&) = delete;

  vtkDataSet* dataSet() const { return leaf_.dataSet; }
  const Leaf& leaf() const { return leaf_; }
  std::int64_t cells() const { return leaf_.cells(); }
  virtual std::int64_t points() const { return leaf_.points(); }

  /// Of a structured data set.
  std::array<int, 6> extent() const;
  /// Coordinates of a point.
  virtual std::array<double, 3> place(std::int64_t point) const = 0;
  /// Of its points; of their indices or ids, where those tell points apart.
  virtual Box box() const = 0;
  /// The points that may be points of other data sets too, ascending.
  virtual std::vector<std::int64_t> pointsIn(Span<const NeighborPiece> others) const = 0;
  virtual std::array<std::int64_t, 3> stride() const { return {1, 1, 1}; }
  /// Index of a point of a lattice in the extent or in the hierarchy's finest lattice.
  virtual std::array<std::int64_t, 3> indexOf(std::int64_t point) const;

  /// Only where points are told apart by clusters: the points with how far they reach, before
  /// anything else is called, and then what they are.
  virtual std::vector<LoosePoint> loosePoints(double tolerance) const;
  virtual void identify(const std::vector<SetName>& names);

  /// Only of hyper trees: their leaves, and then what those have in common with leaves of others.
  virtual const TreeLeaves* treeLeaves() const { return nullptr; }
  virtual void meet(std::vector<LeafContact>) {}

  /// Says which points others may have, by what keys. @param points  ascending
  virtual void share(std::vector<std::int64_t> points, std::vector<EntityKey> keys);
  Span<const std::int64_t> shared() const { return shared_; }
  Span<const EntityKey> sharedKeys() const { return sharedKeys_; }
  /// Keys of what connects cells and others may have; not asked for if that is the shared points.
  virtual std::vector<EntityKey> connectionKeys(Span<const NeighborPiece> others) = 0;

  /// Labels the cells in range. @return the number of sets
  virtual std::uint32_t label(const RangeTest& test) = 0;
  virtual std::uint32_t setOfCell(std::int64_t cell) const = 0;
  /// Neither is asked of hyper trees.
  virtual bool isGhost(std::int64_t) const { return false; }
  virtual CellSize sizeOf(std::int64_t) const { return {}; }
  /// The sets of what connectionKeys() named.
  virtual std::vector<std::uint32_t> setsOfConnections() const = 0;
  /// The sets of the shared points, where cells are connected through points whatever their labels.
  std::vector<std::uint32_t> setsOfShared() const;
  /// All sets at the shared points, each once.
  virtual std::vector<SetAtPoint> setsAtShared() const = 0;
  /// Of the cells in range that are no ghosts, so that it does not depend on what else there is.
  virtual Extremes extremes(const std::vector<MeasuredValues>& arrays) const = 0;
  /// What is known of each set. Ghost cells do not count.
  virtual BlockFacts facts(const FactScales& scales,
                           const std::vector<MeasuredValues>& arrays) const = 0;
  virtual void write(RegionOutput& output) const = 0;
  /// Shows a region at a shared point, and at whatever points are the same one.
  virtual void showAt(std::int64_t shared, vtkIdType region, vtkIdType* points) const {
    points[shared_[static_cast<std::size_t>(shared)]] = region;
  }
  /// The sets that have a cell at one of the points; not asked of hyper trees.
  virtual std::vector<std::uint32_t> setsAt(const std::vector<std::int64_t>&) const { return {}; }
  /// The points of cells in range that are the nearest to a place, and the square of their
  /// distance; none if no cell is in range.
  struct Nearest {
    double distance2 = RegionFacts::Infinity;
    std::vector<std::uint32_t> sets;

    void add(const std::array<double, 3>& where, const std::array<double, 3>& point,
             std::uint32_t set);
  };
  virtual Nearest nearest(const std::array<double, 3>& place) const = 0;

 protected:
  /// Position of a point in shared(), -1 if it is not there.
  std::int64_t sharedIndex(std::int64_t point) const;
  bool isShared(std::int64_t point) const {
    return !sharedBits_.empty() &&
           (sharedBits_[static_cast<std::size_t>(point >> 6)] >> (point & 63) & 1) != 0;
  }
  /// Key of a cell that has the least point given and all its points' keys by coordinates.
  RegionKey placeKey(const std::array<double, 3>& least, EntityKey all) const {
    return {orderedBits(least[0]), orderedBits(least[1]), orderedBits(least[2]), all.low};
  }

  Leaf leaf_;
  DomainRules rules_;
  std::vector<std::int64_t> shared_;
  std::vector<EntityKey> sharedKeys_;

 private:
  std::vector<std::uint64_t> sharedBits_;    // a bit per point
  std::vector<std::uint32_t> sharedBefore_;  // shared points before each word
};

/// A lattice of points with all its cells.
/// @param flags   ghost flags per cell, or none
/// @param labels  a value per cell, or none
std::unique_ptr<ComponentPiece> makeLatticePiece(const Leaf& leaf, const DomainRules& rules,
                                                 std::vector<std::uint8_t> flags,
                                                 std::vector<std::int64_t> labels);
/// Cells of any kind.
std::unique_ptr<ComponentPiece> makeUnstructuredPiece(const Leaf& leaf, const DomainRules& rules,
                                                      std::vector<std::uint8_t> flags,
                                                      std::vector<std::int64_t> labels);

/// The leaves of hyper trees.
std::unique_ptr<ComponentPiece> makeTreePiece(const Leaf& leaf, const DomainRules& rules,
                                              std::vector<std::int64_t> labels);

/// A bit per value, set if it is in range; none if there is no array to test.
std::vector<std::uint64_t> rangeBits(const RangeTest& test);

/// Adds what a cell has of an array. @param points  of the cell
void addValues(const MeasuredValues& array, std::int64_t cell, std::int64_t count,
               const std::int64_t* points, double weight, const FixedScale& scale,
               ValueFacts& facts);

/// Makes the largest magnitude of an array's finite values in a cell count. @param points  of the
/// cell
void considerValues(const MeasuredValues& array, std::int64_t cell, Span<const std::int64_t> points,
                    double& largest);

/// A cell's entity told apart by a value too.
EntityKey withValue(const EntityKey& key, std::int64_t value);

}  // namespace tributary
