#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "Tributary/Relaxation/CellGrid.h"
#include "Tributary/Relaxation/FaceFlow.h"
#include "Tributary/Span.h"
#include "Tributary/Transport/Transport.h"

class vtkDataArray;
class vtkDataObject;
class vtkDataSet;

namespace tributary {

/// The cells of a grid along the axes that this rank has: those of its one data set, if it has any.
struct GridCells {
  CellGrid grid;                 ///< Of all ranks. Along an axis without cells one of width 1.
  std::array<bool, 3> isFlat{};  ///< Whether that is so, per axis.
  CellRange box;                 ///< Its own cells.
  CellRange piece;               ///< All cells of its data set, ghosts too.
  vtkDataSet* dataSet = nullptr;
  std::vector<std::uint8_t>
      hidden;  ///< Not 0 for own cells that are hidden or have a hidden point.

  std::size_t count() const { return static_cast<std::size_t>(box.cells()); }
};

/// Collective. Puts the pieces of all ranks together: images, rectilinear grids and structured
/// grids whose points lie on the lines of such a grid, pieces of one extent. Throws Error on all
/// ranks if an input is something else, if a rank has several data sets, or if pieces do not fit.
GridCells gridCellsOf(Transport& transport, vtkDataObject* input);

/// Of each own cell, x fastest: its value of a component, or the mean of its points' values.
std::vector<double> cellValues(const GridCells& cells, vtkDataArray* array, bool atCells,
                               int component);

/// What own cells know of the flow: the vectors of cells, or at each face the mean of its points'.
/// Hidden cells are solid. Throws Error if a velocity of another cell is not finite.
CellFlow cellFlow(const GridCells& cells, vtkDataArray* vectors, bool atCells);

/// Own cells with the points of all ranks, each once.
/// @param points  of this rank, x y z one after the other
std::vector<std::size_t> cellsWithPoints(Transport& transport, const GridCells& cells,
                                         const std::vector<double>& points);

/// Collective. Values of all cells of the data set: own ones as given, ghosts from the ranks whose
/// own they are.
std::vector<double> withGhosts(Transport& transport, const GridCells& cells,
                               Span<const double> own);

}  // namespace tributary
