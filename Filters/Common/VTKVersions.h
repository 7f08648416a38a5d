// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vtkAlgorithm.h>
#include <vtkCellType.h>
#include <vtkDataObject.h>
#include <vtkExtractCells.h>
#include <vtkHyperTreeGrid.h>
#include <vtkType.h>
#include <vtkUnstructuredGrid.h>
#include <vtkVersionMacros.h>

#include <cstdint>
#include <string>
#include <vector>

#include "Tributary/Base/Index.h"
#include "Tributary/Base/Span.h"

// Whether the faces of polyhedra are lists of lists: between ParaView 5.12 and 5.13, in January
// 2024.
#define TRIBUTARY_VTK_HAS_FACE_LISTS (VTK_VERSION_NUMBER >= VTK_VERSION_CHECK(9, 3, 20240122))

#if TRIBUTARY_VTK_HAS_FACE_LISTS
#include <vtkCellArray.h>
#include <vtkIdList.h>
#include <vtkNew.h>
#else
#include <vtkIdTypeArray.h>
#endif

#if VTK_VERSION_NUMBER < VTK_VERSION_CHECK(9, 2, 20230111)
#include <vtkCellData.h>
#include <vtkCompositeDataSet.h>
#include <vtkDemandDrivenPipeline.h>
#include <vtkInformation.h>
#endif

// All that differs between the versions of VTK, from 9.1 to that of ParaView 5.13.

namespace tributary {

/// The faces of polyhedra, as Core reads them: views of the memory of the grid, or of own memory if
/// VTK stores them in another form. Can be moved, not copied.
struct FaceStream {
  Span<const std::int64_t> locations;  ///< First value of each polyhedron in faces; or empty.
  Span<const std::int64_t> faces;      ///< For each polyhedron the number of its faces, for each
                                       ///< face the number of its points and the points.

  FaceStream() = default;
  FaceStream(FaceStream&&) = default;
  FaceStream& operator=(FaceStream&&) = default;

  // Own memory.
  std::vector<std::int64_t> ownLocations;
  std::vector<std::int64_t> ownFaces;
};

#if TRIBUTARY_VTK_HAS_FACE_LISTS

/// Calls visit(const vtkIdType* corners, vtkIdType count) for each face of a polyhedron. Local.
/// @param visit  `corners` are numbers of points in the grid
template <class Visit>
void forEachFace(vtkUnstructuredGrid* grid, vtkIdType cell, Visit&& visit) {
  vtkNew<vtkIdList> copyOfFaces, copyOfCorners;  // if VTK stores 32 bits
  vtkIdType faces = 0, count = 0;
  const vtkIdType* ids = nullptr;
  const vtkIdType* corners = nullptr;
  grid->GetPolyhedronFaceLocations()->GetCellAtId(cell, faces, ids, copyOfFaces);
  for (vtkIdType face = 0; face < faces; ++face) {
    grid->GetPolyhedronFaces()->GetCellAtId(ids[face], count, corners, copyOfCorners);
    visit(corners, count);
  }
}

/// Calls visit(vtkIdType point) for each point of each face of a polyhedron whose list of faces may
/// be malformed. Local.
/// @param refuse  called with what the polyhedron has, before memory is read that does not exist;
///                throws
template <class Visit, class Refuse>
void forEachFacePoint(vtkUnstructuredGrid* grid, vtkIdType cell, Visit&& visit, Refuse&& refuse) {
  vtkNew<vtkIdList> copyOfFaces, copyOfCorners;  // if VTK stores 32 bits
  // Calls each(vtkIdType id) for the ids in a list of lists.
  const auto read = [&](vtkCellArray* lists, vtkIdType list, vtkIdList* copy, auto&& each) {
    if (!lists || list < 0 || list >= lists->GetNumberOfCells())
      refuse(std::string("an incomplete list of faces"));
    const vtkIdType begin = lists->GetOffset(list), count = lists->GetCellSize(list);
    if (count < 0)
      refuse(std::to_string(count) + " faces, or points of a face, in its list of faces");
    if (begin < 0 || count > lists->GetNumberOfConnectivityIds() - begin)
      refuse(std::string("an incomplete list of faces"));
    vtkIdType size = 0;
    const vtkIdType* ids = nullptr;
    lists->GetCellAtId(list, size, ids, copy);
    for (vtkIdType i = 0; i < size; ++i) each(ids[i]);
  };
  read(grid->GetPolyhedronFaceLocations(), cell, copyOfFaces,
       [&](vtkIdType face) { read(grid->GetPolyhedronFaces(), face, copyOfCorners, visit); });
}

/// Calls visit(vtkObject*) for the arrays that hold the faces of polyhedra, if there are faces.
/// Local.
template <class Visit>
void forEachFaceArray(vtkUnstructuredGrid* grid, Visit&& visit) {
  vtkCellArray* faces = grid->GetPolyhedronFaces();
  if (!faces || faces->GetNumberOfCells() < 1) return;
  for (vtkCellArray* lists : {faces, grid->GetPolyhedronFaceLocations()}) {
    if (!lists) continue;
    visit(lists);
    visit(lists->GetOffsetsArray());
    visit(lists->GetConnectivityArray());
  }
}

/// Local. The faces of the polyhedra of a grid whose lists of faces are well-formed.
inline FaceStream faceStreamOf(vtkUnstructuredGrid* grid) {
  FaceStream stream;
  vtkCellArray* cells = grid->GetPolyhedronFaceLocations();
  if (!cells || !grid->GetPolyhedronFaces()) return stream;
  stream.ownLocations.assign(index(grid->GetNumberOfCells()), -1);
  for (vtkIdType c = 0; c < grid->GetNumberOfCells(); ++c) {
    if (grid->GetCellType(c) != VTK_POLYHEDRON) continue;
    stream.ownLocations[index(c)] = static_cast<std::int64_t>(stream.ownFaces.size());
    stream.ownFaces.push_back(cells->GetCellSize(c));
    forEachFace(grid, c, [&](const vtkIdType* corners, vtkIdType count) {
      stream.ownFaces.push_back(count);
      stream.ownFaces.insert(stream.ownFaces.end(), corners, corners + count);
    });
  }
  stream.locations = stream.ownLocations;
  stream.faces = stream.ownFaces;
  return stream;
}

#else

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

template <class Visit, class Refuse>
void forEachFacePoint(vtkUnstructuredGrid* grid, vtkIdType cell, Visit&& visit, Refuse&& refuse) {
  vtkIdTypeArray* locations = grid->GetFaceLocations();
  vtkIdTypeArray* faces = grid->GetFaces();
  const vtkIdType size = faces ? faces->GetNumberOfValues() : 0;
  vtkIdType at =
      locations && cell < locations->GetNumberOfValues() ? locations->GetValue(cell) : -1;
  const auto next = [&] {
    if (at < 0 || at >= size) refuse(std::string("an incomplete list of faces"));
    return faces->GetValue(at++);
  };
  const auto nextCount = [&] {
    const vtkIdType count = next();
    if (count < 0)
      refuse(std::to_string(count) + " faces, or points of a face, in its list of faces");
    return count;
  };
  for (vtkIdType left = nextCount(); left > 0; --left)
    for (vtkIdType corners = nextCount(); corners > 0; --corners) visit(next());
}

template <class Visit>
void forEachFaceArray(vtkUnstructuredGrid* grid, Visit&& visit) {
  if (!grid->GetFaces() || grid->GetFaces()->GetNumberOfValues() < 1) return;
  visit(grid->GetFaces());
  visit(grid->GetFaceLocations());
}

inline FaceStream faceStreamOf(vtkUnstructuredGrid* grid) {
  static_assert(sizeof(vtkIdType) == sizeof(std::int64_t));
  const auto view = [](vtkIdTypeArray* ids) -> Span<const std::int64_t> {
    if (!ids) return {};
    return {reinterpret_cast<const std::int64_t*>(ids->GetPointer(0)),
            index(ids->GetNumberOfValues())};
  };
  FaceStream stream;
  stream.locations = view(grid->GetFaceLocations());
  stream.faces = view(grid->GetFaces());
  return stream;
}

#endif

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
