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
#include "Periodic/PeriodicAxes.h"
#include "Periodic/Seam.h"
#include "Velocity/VelocityForm.h"

#include "Tributary/Advection/Domain.h"
#include "Tributary/Advection/MeshField.h"
#include "Tributary/Advection/StepRules.h"
#include "Tributary/Advection/StructuredField.h"
#include "Tributary/Transport/Transport.h"

class vtkDataObject;

namespace tributary {

/// A leaf of this rank that has the vectors.
struct FlowPiece : Leaf {
  vtkSmartPointer<vtkDataArray> velocity;
  int dimension = 0;
  /// In an unsteady field: the leaf of the step at the end of the interval, with the same cells,
  /// and its vectors.
  vtkDataSet* laterDataSet = nullptr;
  vtkSmartPointer<vtkDataArray> laterVelocity;
  bool moves = false;  ///< Whether the points of that leaf lie elsewhere.
};

/// The leaves of this rank that have cells and the vectors.
struct FlowPieces {
  std::vector<FlowPiece> pieces;
  bool cellCentered = false;  ///< Whether the vectors are cell data.
  bool isDerived = false;     ///< VelocityForm::isDerived(), the same on all ranks.
  /// PointsOrCells, or where the vectors of cells belong to; the same on all ranks.
  ComponentPosition position = ComponentPosition::PointsOrCells;
  std::string choice;             ///< VelocityForm::choice() of the input.
  std::int64_t skippedTrees = 0;  ///< Hyper tree grids, which are left out.
};

/// Local. Finds the leaves. Throws Error if the vectors are point data in some and cell data in
/// others, or as VelocityForm::of() and requireCellsWithFaces().
[[nodiscard]] FlowPieces findFlowPieces(const Transport& transport, vtkDataObject* input,
                                        const VelocityForm& form);

/// The input of all ranks as one domain of the tracer. Refers to the data sets, which must outlive
/// it; copies only data that cannot be viewed in place.
struct FlowDomain {
  std::vector<FlowPiece> pieces;  ///< Of this rank, indexed by FieldBlock::piece().
  std::string vectorName;         ///< The same on all ranks.
  bool isDerived = false;         ///< Whether the vectors are not an array of the input, the same.
  bool cellCentered = false;      ///< The same on all ranks.
  /// Whether the vectors are those of faces: see StructuredPiece::onFaces. The same on all ranks;
  /// cellCentered is set, too, as the input has them at cells.
  bool onFaces = false;
  bool isDouble = false;  ///< Whether any vectors are not float, the same on all ranks.
  bool moves = false;     ///< Whether points move on any rank.
  int dimension = 3;      ///< Of the cells of the domain: 2 or 3.
  Box bounds;             ///< Of the points of the pieces of all ranks.
  PeriodicAxes periodic;  ///< The same on all ranks.

  std::vector<StructuredPiece> structured;
  std::vector<MeshPiece> meshes;
  std::unique_ptr<Domain> domain;  ///< See cutIntoBlocks(); views the pieces.
  int blocksPerRank = 0;           ///< Of `domain`.

  // Copies that the views above refer to where VTK arrays cannot be viewed; never moved.
  std::deque<vtkSmartPointer<vtkDataSet>> dataSets;  // of pieces that are not those of the input
  std::deque<vtkSmartPointer<vtkDataArray>> arrays;
  std::deque<std::vector<std::int64_t>> integers;
  std::deque<std::vector<std::uint8_t>> bytes;
  std::deque<CellLists> cellLists;
  std::deque<std::unique_ptr<VTKCells>> cells;
};

/// Collective. Makes the domain from the leaves of all ranks, without FlowDomain::domain. Leaves of
/// lower dimension than the highest dimension of all ranks are omitted, and so are cells of an AMR
/// hierarchy that a finer level covers.
/// @param found  this rank's leaves with the vectors; whether these are cell data is ignored on a
///               rank without such leaves
/// @param periodic  of closeFlow()
/// @throws Error on all ranks if no rank has the vectors; if they are point data in one block and
///         cell data in another; if their names differ; if they do not have three components; or,
///         with vectors of faces, if the pieces are not one grid
[[nodiscard]] std::unique_ptr<FlowDomain> makeFlowDomain(Transport& transport, FlowPieces found,
                                                         const PeriodicAxes& periodic);

/// Collective. The input with the cells that close the gaps of periodic axes: see
/// closePeriodicAxes().
[[nodiscard]] ClosedData closeFlow(Transport& transport, vtkDataObject* input,
                                   const PeriodicSettings& settings, const VelocityForm& form);

/// Local. Sets the periods of rules.
void setPeriods(const PeriodicAxes& axes, StepRules& rules);

/// Collective. The box of the points of the pieces of all ranks at the end of an interval.
[[nodiscard]] Box laterBounds(Transport& transport, const std::vector<FlowPiece>& pieces);

/// Collective. Divides the pieces into blocks: about `blocksPerRank` on each rank, and at least one
/// per leaf.
/// @param flow  must outlive the returned object, except for its FlowDomain::domain
/// @param cache  see makeMeshBlocks()
[[nodiscard]] std::unique_ptr<Domain> cutIntoBlocks(Transport& transport, const FlowDomain& flow,
                                                    int blocksPerRank, MeshCache* cache = nullptr);

}  // namespace tributary
