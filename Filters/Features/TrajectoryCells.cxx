// SPDX-License-Identifier: BSD-3-Clause
#include "Features/TrajectoryCells.h"

#include <vtkCellArray.h>
#include <vtkCellData.h>
#include <vtkDataArray.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPoints.h>
#include <vtkPolyData.h>
#include <vtkSmartPointer.h>

#include <vector>

#include "Output/NamedArrays.h"

namespace tributary {

void makeTrajectoryCells(vtkPoints* places, Span<const std::size_t> offsets,
                         Span<const std::int64_t> tracks,
                         std::initializer_list<vtkDataArray*> arrays, vtkPolyData* output) {
  const auto track = numbers("TrackId");
  const auto makeCells = [&](bool isLine) {  // of the trajectories with several points, or with one
    std::vector<vtkIdType> ends{0}, points;
    for (std::size_t i = 0; i < tracks.size(); ++i) {
      const std::size_t begin = offsets[i], end = offsets[i + 1];
      if ((end - begin > 1) != isLine) continue;
      for (std::size_t p = begin; p < end; ++p) points.push_back(static_cast<vtkIdType>(p));
      ends.push_back(static_cast<vtkIdType>(points.size()));
      track->InsertNextValue(tracks[i]);
    }
    const auto same = [](vtkIdType number) { return number; };
    vtkNew<vtkCellArray> cells;
    cells->SetData(numbers("", ends, same), numbers("", points, same));
    return vtkSmartPointer<vtkCellArray>(cells);
  };
  const auto vertices = makeCells(false),
             lines = makeCells(true);  // as poly data order their cells
  output->SetPoints(places);
  output->SetVerts(vertices);
  output->SetLines(lines);
  output->GetCellData()->SetScalars(track);
  for (vtkDataArray* array : arrays) output->GetPointData()->AddArray(array);
}

}  // namespace tributary
