// SPDX-License-Identifier: BSD-3-Clause
#include "Features/TrajectoryCells.h"

#include <vtkCellArray.h>
#include <vtkCellData.h>
#include <vtkDataArray.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPoints.h>
#include <vtkPolyData.h>

#include "Common/NamedArrays.h"

namespace tributary {

void makeTrajectoryCells(vtkPoints* places, Span<const std::size_t> offsets,
                         Span<const std::int64_t> tracks,
                         std::initializer_list<vtkDataArray*> arrays, vtkPolyData* output) {
  vtkNew<vtkCellArray> vertices, lines;
  const auto track = numbers("TrackId");
  for (const bool isLine : {false, true})  // as poly data order their cells
    for (std::size_t i = 0; i < tracks.size(); ++i) {
      const std::size_t begin = offsets[i], end = offsets[i + 1];
      if ((end - begin > 1) != isLine) continue;
      vtkCellArray* cells = isLine ? lines : vertices;
      cells->InsertNextCell(static_cast<int>(end - begin));
      for (std::size_t p = begin; p < end; ++p) cells->InsertCellPoint(static_cast<vtkIdType>(p));
      track->InsertNextValue(tracks[i]);
    }
  output->SetPoints(places);
  output->SetVerts(vertices);
  output->SetLines(lines);
  output->GetCellData()->AddArray(track);
  for (vtkDataArray* array : arrays) output->GetPointData()->AddArray(array);
}

}  // namespace tributary
