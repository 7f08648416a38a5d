// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vtkGenericCell.h>
#include <vtkNew.h>
#include <vtkSmartPointer.h>

#include <array>
#include <cstdint>
#include <vector>

#include "Regions/Pieces/ComponentPiece.h"
#include "Regions/RangeRegions.h"

#include "Tributary/Base/Box.h"
#include "Tributary/Base/FixedSum.h"
#include "Tributary/Features/FeatureOverlap.h"

class vtkDataArray;
class vtkIdList;
class vtkStaticCellLocator;

namespace tributary {

// The cells of features on one rank: as samples for the next step, and by place for the last one's.
// All local.

/// A sample and how fast what is there flows.
struct FlowingSample {
  FeatureSample sample;
  std::array<double, 3> velocity;
};

/// Adds a sample for each cell in a region that is no ghost: its centroid, and its measure, or 1 if
/// no cell of the domain has one.
/// @param ofSet     the regions of the piece's sets
/// @param velocity  vectors of the data set's cells or points, or null for none; at a cell the mean
///                  of its points'
void addSamples(const LabeledPiece& labeled, const std::vector<RegionOfSet>& ofSet,
                const FactScales& scales, vtkDataArray* velocity, bool atCells,
                std::vector<FlowingSample>& samples);

/// Finds features by place in the cells of a data set. A place is in a cell of three dimensions
/// with its border, and in a flatter cell if it lies above or below it by half of its diagonal at
/// most.
class FeatureSearch {
 public:
  /// @param labeled, ofSet  outlive this
  FeatureSearch(const LabeledPiece& labeled, const std::vector<RegionOfSet>& ofSet);

  /// What lies outside is in none of its cells.
  const Box& box() const { return box_; }
  /// The least of the regions of the cells at a place, -1 if there is none.
  std::int64_t at(const std::array<double, 3>& place) const;

 private:
  std::int64_t regionOf(std::int64_t cell) const;
  std::int64_t atOfLattice(const std::array<double, 3>& place) const;
  bool isIn(std::int64_t cell, const std::array<double, 3>& place) const;

  const LabeledPiece& labeled_;
  const ComponentPiece& piece_;
  const std::vector<RegionOfSet>& ofSet_;
  Box box_;
  double margin_ = 0;                        // around cells that are flat
  std::array<std::vector<double>, 3> axes_;  // of a straight lattice, ascending
  vtkSmartPointer<vtkStaticCellLocator> locator_;
  vtkNew<vtkIdList> near_;
  vtkNew<vtkGenericCell> cell_;
};

}  // namespace tributary
