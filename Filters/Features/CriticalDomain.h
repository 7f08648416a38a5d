// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "Common/Leaves.h"

#include "Tributary/Collective/Assignment.h"
#include "Tributary/Features/SimplicialSpace.h"
#include "Tributary/Transport/Transport.h"

class vtkDataArray;

namespace tributary {

/// The data sets of all ranks as one triangulation, where critical points are looked for. Parts of
/// one grid along the axes are that grid, unless cells of it are hidden; all else is a mesh, whose
/// cells are cut by SimplexCells and whose points have numbers by their global ids, by their place
/// in the grid, or in space. Ghost cells, hidden cells and cells of a lower dimension than others
/// are left out.
struct CriticalDomain {
  /// A data set, or the part of it without ghost cells. Not moved once it has been made.
  struct Block {
    std::size_t leaf = 0;                 ///< Which of this rank's it is of.
    std::vector<std::int64_t> points;     ///< Of that data set, in the order of the block.
    std::vector<std::int64_t> ids;        ///< Of a mesh: the numbers on all ranks.
    std::vector<double> coordinates;      ///< Of a mesh.
    std::vector<std::int64_t> simplices;  ///< Of a mesh: points of the block.
  };

  std::vector<Block> blocks;  ///< Of this rank; the space looks at these.
  std::unique_ptr<SimplicialSpace> space;
  /// Tells meshes apart: the same for the same mesh, whoever has what of it. The same on all ranks.
  std::int64_t fingerprint = 0;

  int dimension() const { return space->dimension(); }
};

/// Collective. Throws Error on all ranks if there is nothing of 2 or 3 dimensions, or what cannot
/// be cut into simplices.
/// @param leaves  of this rank
std::unique_ptr<CriticalDomain> makeCriticalDomain(Transport& transport,
                                                   const std::vector<Leaf>& leaves);

/// The field that is followed, at a step.
struct CriticalField {
  bool isVector = false;  ///< The same on all ranks.
  /// Of each block of this rank for each point one value, or three: a vector of two components is
  /// one along the axes of the space.
  std::vector<std::vector<double>> values;
};

/// Collective. Throws Error on all ranks unless all data sets with a block have the array, with
/// the same number of components, at points.
/// @param find  gives a data set's array, and sets its association
CriticalField findCriticalField(Transport& transport, const CriticalDomain& domain,
                                const std::vector<Leaf>& leaves,
                                const std::function<vtkDataArray*(const Leaf&, int&)>& find);

}  // namespace tributary
