// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "Tributary/Base/Span.h"
#include "Tributary/Relaxation/CellGrid.h"
#include "Tributary/Relaxation/FaceFlow.h"
#include "Tributary/Transport/Transport.h"

class vtkDataArray;
class vtkDataObject;
class vtkDataSet;

namespace tributary {

/// A data set with some of the grid's cells.
struct GridPiece {
  vtkDataSet* dataSet = nullptr;
  CellRange all;  ///< Its cells, ghosts too,
  CellRange own;  ///< and those that are no ghosts.
};

/// The cells of a grid along the axes that this rank has.
struct GridCells {
  CellGrid grid;                  ///< Of all ranks. Along an axis without cells one of width 1.
  std::array<bool, 3> isFlat{};   ///< Whether that is so, per axis.
  CellRange box;                  ///< This rank's own cells, of all its data sets.
  std::vector<GridPiece> pieces;  ///< Its data sets that have cells.
  std::vector<std::uint8_t>
      hidden;  ///< Not 0 for own cells that are hidden or have a hidden point.

  std::size_t count() const { return static_cast<std::size_t>(box.cells()); }
};

/// Values at the cells or points of a piece.
struct PieceArray {
  vtkDataArray* array = nullptr;
  bool isAtCells = false;
};

/// Collective. Puts the pieces of all ranks together: images, rectilinear grids and structured
/// grids whose points lie on the lines of such a grid, pieces of one extent. Throws Error on all
/// ranks if an input is something else, if pieces do not fit, or if those of a rank are together no
/// box.
GridCells gridCellsOf(Transport& transport, vtkDataObject* input);

/// Of each own cell, x fastest: its value of a component, or the mean of its points' values.
/// @param arrays  one for each piece
std::vector<double> cellValues(const GridCells& cells, const std::vector<PieceArray>& arrays,
                               int component);

/// What own cells know of the flow: the vectors of cells, or at each face the mean of its points'.
/// Hidden cells are solid. Throws Error if a velocity of another cell is not finite.
/// @param vectors  one for each piece
CellFlow cellFlow(const GridCells& cells, const std::vector<PieceArray>& vectors);

/// Own cells with the points of all ranks, each once.
/// @param points  of this rank, x y z one after the other
std::vector<std::size_t> cellsWithPoints(Transport& transport, const GridCells& cells,
                                         const std::vector<double>& points);

/// Collective. Values of all cells of each piece, ghosts from the ranks whose own they are.
std::vector<std::vector<double>> valuesOfPieces(Transport& transport, const GridCells& cells,
                                                Span<const double> own);

}  // namespace tributary
