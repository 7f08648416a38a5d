// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vtkDataArray.h>
#include <vtkSmartPointer.h>

#include <array>
#include <vector>

#include "Common/Leaves.h"
#include "Velocity/VelocityForm.h"

#include "Tributary/Transport/Transport.h"

namespace tributary {

/// Local. Throws Error unless a data set can have its velocity on faces: cell arrays of a uniform
/// or rectilinear grid outside of an AMR hierarchy.
/// @param form  with onFaces()
void requireCellsWithFaces(const VelocityForm& form, const Leaf& leaf, bool isAtCells);

/// A part of a grid whose cells have the velocities of faces at one of their sides.
struct FacePart {
  std::array<int, 6> extent{};       ///< Of points, in the index space of the grid.
  vtkDataArray* velocity = nullptr;  ///< 3 components, contiguous floats or doubles; not owned.
};

/// Collective. Moves the components of velocities from cells to the faces that they belong to.
/// Component c of the tuple of a point is the velocity through the face across axis c whose lowest
/// corner is the point; along an axis without cells it is that of the cell. The other sides of the
/// last cells of a part come from the cells beyond it, on any rank. Where there is none, the grid
/// is closed: the velocity is 0, or with a period that of the first cells. A component that is not
/// a number is 0, as models mark land.
/// @param parts  of this rank; those of all ranks form one grid
/// @param isLow  by axis: whether the values are those of faces at the side of lower indices
/// @param isPeriodic  by axis: whether the last cells of the grid meet the first ones
/// @return by part, a tuple for each point; double if any velocity of any rank is, otherwise float
/// @throws Error on all ranks
[[nodiscard]] std::vector<vtkSmartPointer<vtkDataArray>> moveToFaces(
    Transport& transport, const std::vector<FacePart>& parts, const std::array<bool, 3>& isLow,
    const std::array<bool, 3>& isPeriodic);

}  // namespace tributary
