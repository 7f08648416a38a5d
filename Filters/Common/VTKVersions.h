// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vtkAlgorithm.h>
#include <vtkDataObject.h>
#include <vtkExtractCells.h>
#include <vtkHyperTreeGrid.h>
#include <vtkType.h>
#include <vtkUnstructuredGrid.h>
#include <vtkVersionMacros.h>

#if VTK_VERSION_NUMBER < VTK_VERSION_CHECK(9, 2, 20230111)
#include <vtkCellData.h>
#include <vtkCompositeDataSet.h>
#include <vtkDemandDrivenPipeline.h>
#include <vtkInformation.h>
#endif

// All that differs between the versions of VTK, from 9.1 to that of ParaView 5.11.

namespace tributary {

/// Calls visit(const vtkIdType* corners, vtkIdType count) for each face of a polyhedron. Local.
/// @param visit  `corners` are numbers of points in the grid
template <class Visit>
void forEachFace(vtkUnstructuredGrid* grid, vtkIdType cell, Visit&& visit) {
  vtkIdType faces = 0;
  const vtkIdType* stream = nullptr;
  grid->GetFaceStream(cell, faces, stream);
  for (vtkIdType face = 0; face < faces; ++face) {
    const vtkIdType count = *stream++;
    visit(stream, count);
    stream += count;
  }
}

#if VTK_VERSION_NUMBER >= VTK_VERSION_CHECK(9, 2, 20230111)

/// Local. Whether the user asked a filter, or one that it depends on, to abort.
inline bool isAskedToAbort(vtkAlgorithm* filter) {
  return filter->CheckAbort();
}

/// Local. Called by a filter that executes: its outputs are not complete. It executes again at the
/// next update, whether it was modified or not.
inline void markAborted(vtkAlgorithm* filter) {
  filter->SetAbortOutput(true);
}

/// Local. Takes markAborted(), and what isAskedToAbort() has found, back.
inline void clearAborted(vtkAlgorithm* filter) {
  filter->SetAbortOutput(false);
}

/// Local. The number of cells of hyper trees, refined ones included.
inline vtkIdType cellsOf(vtkHyperTreeGrid* trees) {
  return trees->GetNumberOfCells();
}

/// Local. Makes a copy that shares arrays: adding others to it, or to its data sets if it is a
/// composite, does not change `from`.
inline void shallowCopy(vtkDataObject* to, vtkDataObject* from) {
  to->ShallowCopy(from);
}

/// Local. Extracts cells without an array of their ids in the input.
inline void updateWithoutCellIds(vtkExtractCells* extract) {
  extract->PassThroughCellIdsOff();
  extract->Update();
}

#else

inline bool isAskedToAbort(vtkAlgorithm* filter) {
  return filter->GetAbortExecute() != 0;
}

inline void markAborted(vtkAlgorithm* filter) {
  for (int port = 0; port < filter->GetNumberOfOutputPorts(); ++port) {
    vtkInformation* info = filter->GetOutputInformation(port);
    if (vtkDataObject* output = vtkDataObject::GetData(info)) output->ReleaseData();
    // Otherwise, the executive marks the output as up to date. It removes the key itself.
    info->Set(vtkDemandDrivenPipeline::DATA_NOT_GENERATED(), 1);
  }
}

inline void clearAborted(vtkAlgorithm*) {}

inline vtkIdType cellsOf(vtkHyperTreeGrid* trees) {
  return trees->GetNumberOfVertices();
}

inline void shallowCopy(vtkDataObject* to, vtkDataObject* from) {
  // ShallowCopy() of a composite shares the data sets themselves.
  if (auto* composite = vtkCompositeDataSet::SafeDownCast(to))
    composite->RecursiveShallowCopy(from);
  else
    to->ShallowCopy(from);
}

inline void updateWithoutCellIds(vtkExtractCells* extract) {
  extract->Update();
  extract->GetOutput()->GetCellData()->RemoveArray("vtkOriginalCellIds");
}

#endif

}  // namespace tributary
