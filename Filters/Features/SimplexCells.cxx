// SPDX-License-Identifier: BSD-3-Clause
#include "Features/SimplexCells.h"

#include <vtkCellType.h>
#include <vtkCellTypes.h>
#include <vtkIdList.h>

#include <algorithm>
#include <string>
#include <utility>

#include "Tributary/Base/Error.h"

namespace tributary {

SimplexCells::SimplexCells(vtkDataSet* dataSet, Span<const std::int64_t> ids)
    : dataSet_(dataSet), ids_(ids), lists_(cellListsOf(dataSet)) {}

void SimplexCells::add(std::initializer_list<std::int64_t> corners,
                       std::vector<std::int64_t>& simplices) const {
  // A cell with a repeated corner has simplices without size.
  for (const auto* a = corners.begin(); a != corners.end(); ++a)
    for (const auto* b = corners.begin(); b != a; ++b)
      if (idOf(*a) == idOf(*b)) return;
  simplices.insert(simplices.end(), corners);
}

void SimplexCells::fan(const std::vector<std::int64_t>& ring, const std::int64_t* apex,
                       std::vector<std::int64_t>& simplices) const {
  const auto lowest =
      std::min_element(ring.begin(), ring.end(), [&](auto a, auto b) { return idOf(a) < idOf(b); });
  const std::size_t n = ring.size(), first = static_cast<std::size_t>(lowest - ring.begin());
  for (std::size_t i = 1; i + 1 < n; ++i) {
    const std::int64_t one = ring[(first + i) % n], other = ring[(first + i + 1) % n];
    if (apex)
      add({*apex, *lowest, one, other}, simplices);
    else
      add({*lowest, one, other}, simplices);
  }
}

void SimplexCells::cutSolid(std::int64_t cell, std::vector<std::int64_t>& simplices) {
  dataSet_->GetCell(cell, cell_);
  vtkIdList* points = cell_->GetPointIds();
  std::int64_t lowest = points->GetId(0);
  for (vtkIdType i = 1; i < points->GetNumberOfIds(); ++i)
    if (idOf(points->GetId(i)) < idOf(lowest)) lowest = points->GetId(i);
  std::vector<std::int64_t> ring;
  for (int f = 0; f < cell_->GetNumberOfFaces(); ++f) {
    vtkCell* face = cell_->GetFace(f);
    vtkIdList* corners = face->GetPointIds();
    ring.assign(corners->begin(), corners->end());
    if (face->GetCellType() == VTK_PIXEL) std::swap(ring[2], ring[3]);
    const auto isLowest = [&](std::int64_t point) { return idOf(point) == idOf(lowest); };
    if (std::none_of(ring.begin(), ring.end(), isLowest)) fan(ring, &lowest, simplices);
  }
}

void SimplexCells::cut(std::int64_t cell, int dimension, std::vector<std::int64_t>& simplices) {
  const auto c = static_cast<std::size_t>(cell);
  const int type = lists_.types[c];
  const std::int64_t* points = lists_.connectivity.data() + lists_.offsets[c];
  const std::int64_t count = lists_.offsets[c + 1] - lists_.offsets[c];
  switch (type) {
    case VTK_TRIANGLE:
    case VTK_QUAD:
    case VTK_PIXEL:
    case VTK_POLYGON: {
      if (dimension != 2) return;
      std::vector<std::int64_t> ring(points, points + count);
      if (type == VTK_PIXEL) std::swap(ring[2], ring[3]);
      fan(ring, nullptr, simplices);
      return;
    }
    case VTK_TRIANGLE_STRIP:
      if (dimension != 2) return;
      for (std::int64_t i = 0; i + 2 < count; ++i)
        add({points[i], points[i + 1], points[i + 2]}, simplices);
      return;
    case VTK_TETRA:
      if (dimension == 3) add({points[0], points[1], points[2], points[3]}, simplices);
      return;
    case VTK_VOXEL:
    case VTK_HEXAHEDRON:
    case VTK_WEDGE:
    case VTK_PYRAMID:
    case VTK_PENTAGONAL_PRISM:
    case VTK_HEXAGONAL_PRISM:
    case VTK_POLYHEDRON:
      if (dimension == 3) cutSolid(cell, simplices);
      return;
    default:
      cell_->SetCellType(type);
      if (cell_->GetCellDimension() != dimension) return;
      const char* name = vtkCellTypes::GetClassNameFromTypeId(type);
      throw Error(std::string("a cell is a ") + (name ? name : "cell of an unknown type") +
                  ", which cannot be cut into triangles or tetrahedra; use Tetrahedralize first");
  }
}

}  // namespace tributary
