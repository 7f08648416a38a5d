// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "Common/Leaves.h"
#include "Regions/Pieces/CellValues.h"

#include "Tributary/Transport/Transport.h"

class vtkDataArray;

namespace tributary {

// The arrays that properties of vtkAsyncConnectivity choose. All collective; throw Error if a leaf
// with cells has not an array, or if it does not fit.

/// The chosen array of a leaf, null if it has it not, and what it belongs to.
using FindArray = std::function<vtkDataArray*(const Leaf& leaf, int& association)>;

/// The array of labels of each leaf.
std::vector<vtkDataArray*> findLabels(Transport& transport, const std::vector<Leaf>& leaves,
                                      const FindArray& find);

/// The array of scalars of each leaf, with the range left open.
std::vector<RangeTest> findScalars(Transport& transport, const std::vector<Leaf>& leaves,
                                   const FindArray& find, bool allPoints);

/// What regions are measured by: components of arrays, the same on all ranks.
struct MeasuredColumns {
  std::vector<std::string> names;
  std::vector<std::vector<MeasuredValues>> arrays;  ///< For each leaf.
};

/// @param names  of arrays of cells, or else of points
MeasuredColumns findMeasured(Transport& transport, const std::vector<Leaf>& leaves,
                             const std::vector<std::string>& names);

}  // namespace tributary
