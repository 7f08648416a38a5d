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

/// The data sets of all ranks as one triangulation, in which critical points are found. Uniform and
/// rectilinear parts of one grid without hidden cells form that grid. Other data sets form a mesh:
/// SimplexCells cuts its cells, and its points are numbered by their global ids, their indices in
/// the grid, or their coordinates. Ghost cells, hidden cells and cells of a lower dimension than
/// others are ignored.
struct CriticalDomain {
  /// A data set, or the part of it without ghost cells. Its address does not change.
  struct Block {
    std::size_t leaf = 0;                 ///< Index of the data set among this rank's leaves.
    std::vector<std::int64_t> points;     ///< Points of the data set, in the order of the block.
    std::vector<std::int64_t> ids;        ///< Of a mesh: the global ids.
    std::vector<double> coordinates;      ///< Of a mesh.
    std::vector<std::int64_t> simplices;  ///< Of a mesh: points of the block.
  };

  std::vector<Block> blocks;  ///< Of this rank; the space refers to them.
  std::unique_ptr<SimplicialSpace> space;
  /// Equal for equal meshes, with any distribution over ranks. The same on all ranks.
  std::int64_t fingerprint = 0;

  int dimension() const { return space->dimension(); }
};

/// Collective. Throws Error on all ranks if there are no cells of 2 or 3 dimensions, or cells that
/// cannot be cut into simplices.
/// @param leaves  of this rank
[[nodiscard]] std::unique_ptr<CriticalDomain> makeCriticalDomain(Transport& transport,
                                                                 const std::vector<Leaf>& leaves);

/// Collective. The axis along which all points are in two planes: the cells are one layer. -1 if
/// there is none.
[[nodiscard]] int axisOfOneLayer(Transport& transport, const std::vector<Leaf>& leaves);

/// The tracked field at a step.
struct CriticalField {
  bool isVector = false;  ///< The same on all ranks.
  /// For each local block one value for each point, or three: vectors of two components extend
  /// along the axes of the space.
  std::vector<std::vector<double>> values;
};

/// Collective. Throws Error on all ranks unless all data sets with a block have the array, of
/// points and with the same number of components.
/// @param find  returns the array of a data set, and sets its association
[[nodiscard]] CriticalField findCriticalField(
    Transport& transport, const CriticalDomain& domain, const std::vector<Leaf>& leaves,
    const std::function<vtkDataArray*(const Leaf&, int&)>& find);

}  // namespace tributary
