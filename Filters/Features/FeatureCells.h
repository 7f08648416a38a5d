// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "Regions/Pieces/ComponentPiece.h"
#include "Regions/RangeRegions.h"

#include "Tributary/Features/FeatureOverlap.h"

class vtkDataArray;

namespace tributary {

/// Cells in regions, as samples.
struct CellSamples {
  std::vector<FeatureSample> samples;
  /// The flow velocity at each sample, or none.
  std::vector<std::array<double, 3>> velocities;
};

/// Adds a sample for each cell in a region that is not a ghost cell: its centroid and measure, or 1
/// if no cell of the domain has a measure. Local.
/// @param ofSet     the regions of the piece's sets
/// @param velocity  vectors of the data set's cells or points, or null; the velocity of a cell is
///                  the mean of those of its points
/// @param atCells   whether `velocity` is an array of cells
void addSamples(const LabeledPiece& labeled, const std::vector<RegionOfSet>& ofSet,
                const FactScales& scales, vtkDataArray* velocity, bool atCells,
                CellSamples& result);

}  // namespace tributary
