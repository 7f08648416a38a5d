// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vtkIdTypeArray.h>
#include <vtkSmartPointer.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "Regions/RangeRegions.h"
#include "Regions/RegionColumns.h"
#include "Regions/RegionSelection.h"

class vtkDataObject;
class vtkTable;

namespace tributary {

// The outputs of filters on regions. All functions except for showRegions() are local.

/// An array of ids of cells and points; negative where there is none.
struct ElementIds {
  std::string name;
  /// For each leaf, the values at its cells and points, or null.
  std::vector<vtkSmartPointer<vtkIdTypeArray>> cells, points;
};

/// The regions of one range and their output arrays.
struct ShownRange {
  RangeRegions regions;
  RegionSelection selection;
  RegionColumns columns;  ///< The rows of the selected regions in the share of this rank.
  ElementIds ids;
  /// See WrittenRegions.
  std::vector<std::int64_t> atSharedPoints;
};

/// Collective. Makes the columns and the requested arrays of a range. The columns take the place of
/// the facts of its regions.
/// @param name      of the arrays
/// @param measured  names of the arrays for statistics
void showRegions(Transport& transport, const ComponentDomain& domain,
                 const std::vector<Leaf>& leaves, const std::string& name,
                 const std::vector<std::string>& measured, bool atCells, bool atPoints,
                 ShownRange& range);

/// Returns the name of the array of a range: RegionId, RegionId_1, RegionId_2, and so on.
std::string nameOfRange(std::size_t range);

/// Writes the input with further arrays.
/// @param added      the arrays, in order
/// @param extracted  writes only the cells with an id in any of these; the complete input if empty
void writeData(vtkDataObject* input, const std::vector<const ElementIds*>& added,
               const std::vector<const ElementIds*>& extracted, vtkDataObject* output);

/// Writes a row for each selected region in the share of this rank.
void writeTable(const std::vector<ShownRange>& ranges, vtkTable* table);

}  // namespace tributary
