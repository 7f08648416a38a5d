// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "Regions/Pieces/ComponentPiece.h"
#include "Regions/RangeRegions.h"

#include "Tributary/Base/Box.h"
#include "Tributary/Base/Fingerprint.h"
#include "Tributary/Base/FixedSum.h"
#include "Tributary/Features/FeatureOverlap.h"

class vtkDataArray;

namespace tributary {

/// Consecutive cells of a row of a lattice in one region.
struct RegionRun {
  std::int64_t begin, end;
  std::int64_t region;
};

/// Adds up overlaps of the regions of two steps. Those of regions that were added recently take no
/// more memory.
class OverlapSums {
 public:
  /// Throws Error if a sum cannot hold the volume.
  void add(std::int64_t before, std::int64_t after, FixedSum volume);
  /// The sums, each pair of regions once; see addUp().
  [[nodiscard]] std::vector<FeatureOverlap> take();

 private:
  static constexpr std::size_t Slots = 4096;

  std::vector<FeatureOverlap> overlaps_;
  /// By a hash of the regions, the place of the last overlap with this hash, or any number.
  std::vector<std::size_t> recent_ = std::vector<std::size_t>(Slots);
};

/// The cells of a lattice along the axes that are in regions. On a lattice that stays, a cell
/// overlaps itself: its regions are those of the runs, and no cell is searched.
class LatticeCells {
 public:
  /// Whether a piece is a lattice each of whose cells has its centroid inside of it and a finite
  /// measure.
  static bool fits(const ComponentPiece& piece);

  /// The cells in regions that are no ghosts. Local.
  /// @param leaf    number of the data set
  /// @param mesh    fingerprintOfMesh() of it
  /// @param ofSet   the regions of the piece's sets
  /// @pre fits(labeled.piece())
  LatticeCells(std::size_t leaf, const Fingerprint& mesh, const LabeledPiece& labeled,
               const std::vector<RegionOfSet>& ofSet, const FactScales& scales);

  /// The number of the data set.
  std::size_t leaf() const { return leaf_; }
  /// The number of cells.
  std::size_t size() const { return size_; }
  /// Of the data set's points.
  [[nodiscard]] Box bounds() const;
  /// fingerprintOfMesh() of the data set.
  const Fingerprint& mesh() const { return mesh_; }

  /// Adds a sample for each cell: its centroid, and its measure or 1. Local.
  void addSamples(std::vector<FeatureSample>& samples) const;
  /// The same data set in the next step. Adds the overlaps of cells with themselves, and samples of
  /// the cells whose centroids other data sets may contain, too. Local.
  /// @param ofSet   the regions of the piece's sets
  /// @param others  no other data set has a cell in bounds() that is outside of these boxes
  void addOverlaps(const LabeledPiece& next, const std::vector<RegionOfSet>& ofSet,
                   const std::vector<Box>& others, OverlapSums& overlaps,
                   std::vector<FeatureSample>& samples) const;

 private:
  /// Cells of the lattice, [begin, end) along each axis.
  struct Part {
    std::array<std::int64_t, 3> begin, end;
  };

  /// Of one cell, and of the cells [begin, end).
  FixedSum volumeOf(const CellSize& size) const;
  FixedSum volumeOf(std::int64_t begin, std::int64_t end) const;
  /// The cells whose centroids are in a box.
  Part partIn(const Box& box) const;
  void addSamples(const RegionRun& run, std::vector<FeatureSample>& samples) const;

  std::size_t leaf_;
  std::size_t size_ = 0;
  Fingerprint mesh_;
  StraightLattice lattice_;
  FixedScale scale_;
  bool hasMeasure_;
  std::vector<RegionRun> runs_;  // ascending
};

/// The cells of a data set in CellSamples::samples.
struct SampledCells {
  std::size_t leaf;                 ///< Number of the data set.
  Fingerprint mesh;                 ///< fingerprintOfMesh() of it.
  std::size_t first;                ///< Its first sample.
  std::vector<std::int64_t> cells;  ///< Of its samples.
};

/// The cells of a step that are in regions and are no ghosts.
struct CellSamples {
  /// Of the data sets that are not in `lattices`: the centroid and measure of each cell, or 1 if no
  /// cell of the domain has a measure.
  std::vector<FeatureSample> samples;
  /// The cells of all samples, or none if they are not known.
  std::vector<SampledCells> sampled;
  /// The flow velocity at each sample, or none.
  std::vector<std::array<double, 3>> velocities;
  std::vector<LatticeCells> lattices;

  /// A sample for each cell, also of the lattices. Local.
  [[nodiscard]] std::vector<FeatureSample> all() const;
};

/// Adds the cells of a data set. Local.
/// @param leaf      number of the data set
/// @param mesh      fingerprintOfMesh() of it
/// @param ofSet     the regions of the piece's sets
/// @param velocity  vectors of the data set's cells or points, or null; the velocity of a cell is
///                  the mean of those of its points
/// @param atCells   whether `velocity` is an array of cells
void addCells(std::size_t leaf, const Fingerprint& mesh, const LabeledPiece& labeled,
              const std::vector<RegionOfSet>& ofSet, const FactScales& scales,
              vtkDataArray* velocity, bool atCells, CellSamples& result);

}  // namespace tributary
