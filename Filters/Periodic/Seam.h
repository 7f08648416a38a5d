// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vtkDataArray.h>
#include <vtkDataObject.h>
#include <vtkDataSet.h>
#include <vtkSmartPointer.h>

#include <cstddef>
#include <functional>
#include <vector>

#include "Periodic/PeriodicAxes.h"

#include "Tributary/Transport/Transport.h"

namespace tributary {

/// The data of this rank, with the cells between the last column and the image of the first one.
struct ClosedData {
  vtkDataObject* input = nullptr;  ///< Not owned.
  /// The data sets of the input, which share its arrays, and those of the gaps, as pieces of one
  /// grid. Null without a gap.
  vtkSmartPointer<vtkDataObject> closed;
  PeriodicAxes axes;
  std::size_t memory = 0;  ///< Of the data sets of the gaps, in bytes.

  [[nodiscard]] vtkDataObject* data() const { return closed ? closed.Get() : input; }
};

/// The arrays of a data set that are its velocity.
struct VelocityArrays {
  std::vector<vtkDataArray*> arrays;  ///< Not owned; none if the data set has no velocity.
  bool isAtCells = false;             ///< Whether they are cell data rather than point data.
};

/// Returns the velocity of a data set as it is stored.
using VelocityArraysOf = std::function<VelocityArrays(vtkDataSet*)>;

/// Collective, without communication if no axis is periodic. Finds the periods, and makes cells of
/// the gaps. These lie on the ranks of the cells before them, and are ghost cells where those are.
/// A gap cell is hidden if a corner is hidden or missing, or if the cells on both sides are hidden.
/// The gaps along several axes also meet: along an edge of the data, and at a corner.
/// @param input  must outlive the result
/// @param velocityOf  data sets without velocity have no gap; those of lower dimension than the
///                    highest one of all ranks are left out
/// @throws Error on all ranks, as findPeriodicAxes(), or if the input is not one grid
[[nodiscard]] ClosedData closePeriodicAxes(Transport& transport, vtkDataObject* input,
                                           const PeriodicSettings& settings,
                                           const VelocityArraysOf& velocityOf);

}  // namespace tributary
