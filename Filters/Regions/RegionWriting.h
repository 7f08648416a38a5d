// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vtkIdTypeArray.h>
#include <vtkSmartPointer.h>

#include <cstddef>
#include <string>
#include <vector>

#include "Regions/RangeRegions.h"
#include "Regions/RegionSelection.h"

class vtkDataObject;
class vtkTable;

namespace tributary {

// The outputs of vtkAsyncConnectivity. All local but for showRegions().

/// The regions of one range and what is shown of them.
struct ShownRange {
  RangeRegions regions;
  RegionSelection selection;
  /// For each leaf what is shown at its cells and points, or null.
  std::vector<vtkSmartPointer<vtkIdTypeArray>> cells, points;
};

/// Collective. Makes the arrays of a range, as far as they are wanted, and completes the numbers of
/// points in its table. @param name  of the arrays
void showRegions(Transport& transport, const ComponentDomain& domain,
                 const std::vector<Leaf>& leaves, const std::string& name, bool atCells,
                 bool atPoints, ShownRange& range);

/// Name of the array of regions of a range: RegionId, RegionId_1, RegionId_2 ...
std::string nameOfRange(std::size_t range);

/// The input as it is, or the cells that are shown in any range.
/// @param withArrays  whether to add the arrays of regions
void writeData(vtkDataObject* input, const std::vector<ShownRange>& ranges, bool withArrays,
               bool extract, vtkDataObject* output);

/// A row for each selected region in this rank's share.
/// @param names  of the values that regions were measured by
void writeTable(const std::vector<ShownRange>& ranges, const std::vector<std::string>& names,
                vtkTable* table);

}  // namespace tributary
