// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vtkGenericCell.h>
#include <vtkNew.h>
#include <vtkSmartPointer.h>
#include <vtkType.h>

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "Common/CellLists.h"
#include "Common/CellSize.h"

#include "Tributary/Base/Box.h"
#include "Tributary/Base/CellBins.h"
#include "Tributary/Base/Fingerprint.h"
#include "Tributary/Base/Span.h"
#include "Tributary/Base/StructuredCells.h"

class vtkDataSet;

namespace tributary {

class ComponentPiece;

/// Finds the cells of a data set by place. A cell of three dimensions contains the places inside
/// and on its border. A cell of lower dimension contains the places above and below it, up to a
/// distance of half its diagonal. A cell contains none if a point of it is not finite or it is
/// longer than LongestDiagonal. Local.
///
/// A search depends on the points and cells alone, and shares them with the data set of the piece
/// that it was made from, which it may outlive: it can be used for the next step of a mesh that
/// stays (`mesh`). It has a list of the cells of poly data.
class CellSearch {
 public:
  /// Throws Error if there are more cells than 32 bits can count.
  /// @param mesh  fingerprintOfMesh() of the piece's data set
  CellSearch(const ComponentPiece& piece, const Fingerprint& mesh);
  CellSearch(const CellSearch&) = delete;
  void operator=(const CellSearch&) = delete;

  /// Of the points and cells that this search was made from.
  const Fingerprint& mesh() const { return mesh_; }
  /// No cell contains a place outside of this box.
  const Box& box() const { return box_; }
  /// The cells that contain a place, each once.
  /// @param remember  whether the place is likely to be searched again: it then costs a look into a
  ///                  table, of about 80 bytes for each such place and at most three places for
  ///                  each cell
  /// @return valid until the next call
  [[nodiscard]] Span<const vtkIdType> at(const std::array<double, 3>& place, bool remember);

 private:
  using Place = std::array<double, 3>;
  struct HashOfPlace {
    std::size_t operator()(const Place& place) const;
  };
  /// Of several cells in cells_.
  struct Range {
    std::size_t first, count;
  };

  void useAxes(const ComponentPiece& piece, const int extent[6]);
  void useCells(vtkDataSet* dataSet);
  Box boxOf(std::int64_t cell) const;
  std::array<vtkIdType, 2> cellsAlong(std::size_t axis, double coordinate);
  void findInLattice(const Place& place);
  void findInMesh(const Place& place);
  bool isIn(vtkIdType cell, const Place& place);

  Fingerprint mesh_;
  Box box_;
  double margin_ = 0;                        // around cells that are flat
  std::array<std::vector<double>, 3> axes_;  // of a straight lattice, ascending
  std::array<vtkIdType, 3> hints_{};         // cells of the last place found in the lattice
  // Of any other data set:
  vtkSmartPointer<vtkDataSet> structure_;
  std::optional<StructuredCells> structured_;
  CellLists lists_;                                        // unless they are structured
  std::vector<vtkSmartPointer<vtkDataArray>> listArrays_;  // of views in lists_
  vtkSmartPointer<vtkDataArray> coordinatesArray_;
  Coordinates coordinates_;
  std::optional<CellBins> bins_;  // of its cells
  vtkNew<vtkGenericCell> cell_;
  std::vector<double> weights_;
  std::vector<vtkIdType> found_;
  std::unordered_map<Place, Range, HashOfPlace> remembered_;
  std::vector<vtkIdType> cells_;  // of remembered_
};

}  // namespace tributary
