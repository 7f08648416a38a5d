// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vtkType.h>
#include <vtkUnstructuredGrid.h>

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

}  // namespace tributary
