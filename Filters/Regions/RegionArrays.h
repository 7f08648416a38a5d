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

// The arrays selected by the properties of vtkAsyncConnectivity. All functions are collective. They
// throw Error if a leaf with cells lacks a required array, or if the array is not suitable.

/// Returns the selected array of a leaf, or null if the leaf lacks it, and its association.
using FindArray = std::function<vtkDataArray*(const Leaf& leaf, int& association)>;

/// Returns the array of labels of each leaf.
[[nodiscard]] std::vector<vtkDataArray*> findLabels(Transport& transport,
                                                    const std::vector<Leaf>& leaves,
                                                    const FindArray& find);

/// Returns the array of scalars of each leaf; the range is not set.
[[nodiscard]] std::vector<RangeTest> findScalars(Transport& transport,
                                                 const std::vector<Leaf>& leaves,
                                                 const FindArray& find, bool allPoints);

/// Components of arrays for the statistics of regions, the same on all ranks.
struct MeasuredColumns {
  std::vector<std::string> names;
  std::vector<std::vector<MeasuredValues>> arrays;  ///< For each leaf.
};

/// @param names  of cell arrays or, if there is no cell array of a name, of point arrays
[[nodiscard]] MeasuredColumns findMeasured(Transport& transport, const std::vector<Leaf>& leaves,
                                           const std::vector<std::string>& names);

}  // namespace tributary
