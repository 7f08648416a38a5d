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

/// Returns the lattice of the trees of a hyper tree grid, with the number of levels of this grid on
/// this rank.
TreeLattice latticeOf(vtkHyperTreeGrid* grid);

/// Returns the coordinates of the corners of the root cells, along each axis.
/// @throws Error if there are too few coordinates
std::array<std::vector<double>, 3> rootCoordinates(vtkHyperTreeGrid* grid);

/// Returns a hash that is the same for all grids with the same root cells and the same branch
/// factor.
std::uint64_t hashOfRoots(vtkHyperTreeGrid* grid);

/// The leaves of a hyper tree grid: cells that are not divided or that are at the grid's
/// DepthLimiter, except for masked cells, hidden cells, and cells inside of these.
struct HyperTreeLeaves {
  std::vector<TreeLeaf> leaves;
  std::vector<vtkIdType> cells;  ///< Index of each leaf in the cell data.
};

/// @param lattice  may have more levels than the grid
/// @throws Error if the mask or the ghost flags are too short
HyperTreeLeaves hyperTreeLeaves(vtkHyperTreeGrid* grid, const TreeLattice& lattice);

/// Returns the grid with a mask that hides all cells except for the given cells and their
/// ancestors. Trees and arrays are shared with the input.
/// @param cells  in ascending order; not divided
vtkSmartPointer<vtkHyperTreeGrid> maskOthers(vtkHyperTreeGrid* grid,
                                             const std::vector<vtkIdType>& cells);

}  // namespace tributary
