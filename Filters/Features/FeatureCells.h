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

// The cells of features on one rank, as samples for the next step, and as a search structure for
// the samples of the last step. All local.

/// A sample, and the flow velocity there.
struct FlowingSample {
  FeatureSample sample;
  std::array<double, 3> velocity;
};

/// Adds a sample for each cell in a region that is not a ghost cell: its centroid and measure, or 1
/// if no cell of the domain has a measure.
/// @param ofSet     the regions of the piece's sets
/// @param velocity  vectors of the data set's cells or points, or null; the velocity of a cell is
///                  the mean of those of its points
/// @param atCells   whether `velocity` is an array of cells
void addSamples(const LabeledPiece& labeled, const std::vector<RegionOfSet>& ofSet,
                const FactScales& scales, vtkDataArray* velocity, bool atCells,
                std::vector<FlowingSample>& samples);

/// Finds features by place in the cells of a data set. A cell of three dimensions contains the
/// places inside and on its border. A cell of lower dimension contains the places above and below
/// it, up to a distance of half its diagonal. A cell with a point that is not finite contains none.
class FeatureSearch {
 public:
  /// @param labeled, ofSet  outlive this
  FeatureSearch(const LabeledPiece& labeled, const std::vector<RegionOfSet>& ofSet);

  /// No cell contains a place outside of this box.
  const Box& box() const { return box_; }
  /// The lowest of the regions of the cells that contain a place, -1 if there is none.
  [[nodiscard]] std::int64_t at(const std::array<double, 3>& place) const;

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
