// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vtkDataArray.h>
#include <vtkDataSet.h>
#include <vtkSmartPointer.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "Common/CellLists.h"
#include "Common/Leaves.h"
#include "Lines/VTKCells.h"

#include "Tributary/Advection/Domain.h"
#include "Tributary/Advection/MeshField.h"
#include "Tributary/Advection/StructuredField.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// A leaf of this rank that carries the vectors.
struct FlowPiece : Leaf {
  vtkDataArray* velocity = nullptr;
  int dimension = 0;
};

/// The input of all ranks as one domain of the tracer. Views the data sets, which must outlive it;
/// copies only what a view cannot show.
struct FlowDomain {
  std::vector<FlowPiece> pieces;  ///< Of this rank; FieldBlock::piece() indexes them.
  std::string vectorName;         ///< The same on all ranks.
  bool cellCentered = false;      ///< The same on all ranks.
  int dimension = 3;              ///< Of the cells of the domain, 2 or 3.
  Box bounds;                     ///< Of the points of all ranks' pieces.

  std::vector<StructuredPiece> structured;
  std::vector<MeshPiece> meshes;
  std::unique_ptr<Domain> domain;  ///< See cutIntoBlocks(); it views the pieces.

  // What the views above look at where VTK's own memory does not do; never moved.
  std::deque<vtkSmartPointer<vtkDataArray>> arrays;
  std::deque<std::vector<std::int64_t>> integers;
  std::deque<std::vector<std::uint8_t>> bytes;
  std::deque<CellLists> cellLists;
  std::deque<std::unique_ptr<VTKCells>> cells;
};

/// Collective. `pieces` are this rank's leaves with the vectors, `cellCentered` where they are
/// there (ignored on a rank without pieces). Leaves of lower dimension than the highest of all
/// ranks are left out, and so are cells of an AMR hierarchy that a finer level covers. There is no
/// FlowDomain::domain yet. Throws Error on all ranks if
/// no rank has the vectors, if they are at points in one block and at cells in another, or have
/// different names, or do not have three components.
std::unique_ptr<FlowDomain> makeFlowDomain(Transport& transport, std::vector<FlowPiece> pieces,
                                           bool cellCentered);

/// Collective. The pieces as blocks, about `blocksPerRank` on every rank, at least one per leaf.
/// @param flow  outlives what is returned, except for its FlowDomain::domain
std::unique_ptr<Domain> cutIntoBlocks(Transport& transport, const FlowDomain& flow,
                                      int blocksPerRank);

}  // namespace tributary
