// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vtkDataSet.h>
#include <vtkGenericCell.h>
#include <vtkNew.h>

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "Common/CellLists.h"

#include "Tributary/Base/Span.h"

namespace tributary {

/// Cuts the linear, convex cells of a data set into triangles or tetrahedra: a cell is cut from its
/// corner with the lowest id to the faces that lack this corner, which are cut likewise. Cells with
/// a common face, also of different data sets, thus cut it alike. Cells of a lattice whose points
/// are numbered along the axes are cut along the diagonal from the lowest corner to the highest.
/// Local.
class SimplexCells {
 public:
  /// @param ids  of the data set's points, the same in all data sets; both outlive this
  SimplexCells(vtkDataSet* dataSet, Span<const std::int64_t> ids);

  std::int64_t cells() const { return static_cast<std::int64_t>(lists_.types.size()); }
  /// Appends the `dimension + 1` points of each simplex of a cell; none for a cell of another
  /// dimension. Throws Error if cells of this type cannot be cut.
  /// @param dimension  2 or 3
  void cut(std::int64_t cell, int dimension, std::vector<std::int64_t>& simplices);

 private:
  std::int64_t idOf(std::int64_t point) const { return ids_[static_cast<std::size_t>(point)]; }
  /// Appends triangles, or tetrahedra over the triangles if there is an apex.
  void fan(const std::vector<std::int64_t>& ring, const std::int64_t* apex,
           std::vector<std::int64_t>& simplices) const;
  void add(std::initializer_list<std::int64_t> corners, std::vector<std::int64_t>& simplices) const;
  void cutSolid(std::int64_t cell, std::vector<std::int64_t>& simplices);

  vtkDataSet* dataSet_;
  Span<const std::int64_t> ids_;
  CellLists lists_;
  vtkNew<vtkGenericCell> cell_;
};

}  // namespace tributary
