// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vtkSmartPointer.h>
#include <vtkType.h>

#include <array>
#include <cstdint>
#include <vector>

#include "Tributary/Components/TreeLeaves.h"

class vtkHyperTreeGrid;

namespace tributary {

/// The lattice of a hyper tree grid's trees, with as many levels as it has here.
TreeLattice latticeOf(vtkHyperTreeGrid* grid);

/// The coordinates of the corners of its root cells, along each axis. Throws Error if there are too
/// few.
std::array<std::vector<double>, 3> rootCoordinates(vtkHyperTreeGrid* grid);

/// A number that is the same for grids of the same root cells, divided alike.
std::uint64_t hashOfRoots(vtkHyperTreeGrid* grid);

/// Cells that are not divided, or as deep as the grid's DepthLimiter goes, but for masked and
/// hidden ones and what lies in them.
struct HyperTreeLeaves {
  std::vector<TreeLeaf> leaves;
  std::vector<vtkIdType> cells;  ///< Of each leaf the place in cell data.
};

/// @param lattice  may have more levels than the grid
/// Throws Error if the mask or the ghost flags are too short.
HyperTreeLeaves hyperTreeLeaves(vtkHyperTreeGrid* grid, const TreeLattice& lattice);

/// The grid with a mask that leaves nothing but some of its cells and those that they are parts of.
/// Trees and arrays are shared.
/// @param cells  ascending; not divided
vtkSmartPointer<vtkHyperTreeGrid> maskOthers(vtkHyperTreeGrid* grid,
                                             const std::vector<vtkIdType>& cells);

}  // namespace tributary
