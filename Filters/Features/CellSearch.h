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
#include <utility>
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
/// A place may be the centroid of a cell, too, bit for bit: on a mesh that stays, this is how a
/// cell is found again. A cell counts as such a cell only if it has its centroid close to its
/// points.
///
/// A search depends on the points and cells alone: it can be used for the next step of a mesh that
/// stays (`mesh`). It reads those of the data set of the piece that it was made from, or that it is
/// used for again. It has a list of the cells of poly data. The first search for a place takes 48
/// bytes for each cell.
class CellSearch {
 public:
  /// Throws Error if there are more cells than 32 bits can count.
  /// @param mesh  fingerprintOfMesh() of the piece's data set
  CellSearch(const ComponentPiece& piece, const Fingerprint& mesh);
  CellSearch(const CellSearch&) = delete;
  void operator=(const CellSearch&) = delete;

  /// Of the points and cells that this search was made from.
  const Fingerprint& mesh() const { return mesh_; }
  /// The search is used for another step of a mesh that stays: centroids are likely to be searched
  /// again. From now on that costs a look into a table, of about 80 bytes for each place and at
  /// most three places for each cell.
  /// @param piece  with the points and cells of this search, which from now on reads its data set
  void useAgain(const ComponentPiece& piece);
  /// No cell contains a place outside of this box.
  const Box& box() const { return box_; }
  /// The cells at a place, each once.
  struct CellsAtPlace {
    Span<const vtkIdType> centered;  ///< Those whose centroid the place is.
    Span<const vtkIdType> others;    ///< Others that contain the place.
  };
  /// @param piece       with the points and cells of this search
  /// @param isCentroid  whether the place is the centroid of a cell of the step before; if not, no
  ///                    cell is `centered`
  /// @return valid until the next call
  [[nodiscard]] CellsAtPlace at(const ComponentPiece& piece, const std::array<double, 3>& place,
                                bool isCentroid);
  /// Finds the cells whose centroid is that of a cell, without a search: not for lattices along the
  /// axes. The first call looks through the centroids of all cells.
  /// @param centroid  of the cell
  /// @param centered  Out: as by at(), empty if the cell does not have its centroid close to it
  /// @return whether the cells are known; a lattice has to be searched
  [[nodiscard]] bool findCentered(const ComponentPiece& piece, std::int64_t cell,
                                  const std::array<double, 3>& centroid,
                                  std::vector<vtkIdType>& centered);

 private:
  using Place = std::array<double, 3>;
  struct HashOfPlace {
    std::size_t operator()(const Place& place) const;
  };
  /// Of several cells in cells_: the centered ones before the others.
  struct Range {
    std::size_t first, centered, count;
  };

  void useAxes(const ComponentPiece& piece, const int extent[6]);
  void useCells(vtkDataSet* dataSet);
  void view(vtkDataSet* dataSet);
  void findBox();
  const CellBins& bins();
  Box boundsOf(std::int64_t cell) const;
  Box boxOf(const Box& bounds) const;
  bool isNear(std::int64_t cell, const Place& place) const;
  bool isCentered(const ComponentPiece& piece, std::int64_t cell, const Place& place) const;
  std::array<vtkIdType, 2> cellsAlong(std::size_t axis, double coordinate);
  void findInLattice(const Place& place);
  /// @return the number of centered cells, which are the first of found_
  std::size_t findInMesh(const ComponentPiece& piece, const Place& place, bool isCentroid);
  void findCopies(const ComponentPiece& piece);
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
  PointCoordinates coordinates_;
  std::vector<Box> boxes_;        // of its cells, see boxOf(); made with bins_
  std::optional<CellBins> bins_;  // of boxes_, made by the first search
  vtkNew<vtkGenericCell> cell_;
  std::vector<double> weights_;
  std::vector<vtkIdType> found_;
  bool remembers_ = false;
  std::unordered_map<Place, Range, HashOfPlace> remembered_;
  std::vector<vtkIdType> cells_;  // of remembered_
  // Of cells with the same centroid, the first for each cell, or none if there are no such cells;
  // and pairs (first, other), sorted.
  bool hasCopies_ = false;  // whether they are known
  std::vector<std::int64_t> first_;
  std::vector<std::pair<std::int64_t, std::int64_t>> copies_;
};

}  // namespace tributary
