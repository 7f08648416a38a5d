// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vtkDataArray.h>
#include <vtkSmartPointer.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "Tributary/Base/Index.h"
#include "Tributary/Base/Span.h"
#include "Tributary/Relaxation/CellGrid.h"
#include "Tributary/Relaxation/FaceFlow.h"
#include "Tributary/Transport/Transport.h"

class vtkDataObject;
class vtkDataSet;

namespace tributary {

/// A data set that is a piece of the grid.
struct GridPiece {
  vtkDataSet* dataSet = nullptr;
  CellRange all;  ///< its cells, including ghost cells
  CellRange own;  ///< its cells, excluding ghost cells
};

/// The cells of an axis-aligned grid and this rank's part of it.
struct GridCells {
  CellGrid grid;                  ///< of all ranks; one cell of width 1 along a flat axis
  std::array<bool, 3> isFlat{};   ///< by axis, whether the input has one layer of points along it
  CellRange box;                  ///< this rank's cells of all its data sets, excluding ghost cells
  std::vector<GridPiece> pieces;  ///< this rank's data sets that have cells
  /// By cell of the box: nonzero for hidden cells and for cells with a hidden point.
  std::vector<std::uint8_t> hidden;

  /// The number of cells of the box.
  std::size_t count() const { return index(box.cells()); }
};

/// An array of a piece.
struct PieceArray {
  vtkSmartPointer<vtkDataArray> array;
  bool isAtCells = false;  ///< whether it is cell data rather than point data
};

/// Chooses an array of a data set, as vtkAlgorithm::GetInputArrayToProcess() does. The array is
/// null if the data set lacks it.
using ArrayChoice = std::function<PieceArray(vtkDataSet*)>;

/// Whether the array exists and has one tuple for each cell, or for each point. Local.
[[nodiscard]] bool isWholeArray(const PieceArray& array, vtkDataSet* dataSet);

/// What becomes of axes along which coordinates decrease.
enum class DecreasingAxes {
  Refused,
  Mirrored  ///< GridCells::grid has the negative coordinates.
};

/// Collective. Assembles the grid from the pieces of all ranks: images, rectilinear grids, and
/// structured grids whose points lie on the lines of a rectilinear grid. All must be pieces of one
/// extent.
/// @throws Error on all ranks if the input contains other data sets, if pieces do not match, or if
///         the cells of a rank do not form a box
[[nodiscard]] GridCells gridCellsOf(Transport& transport, vtkDataObject* input,
                                    DecreasingAxes decreasing);

/// Returns the values of a component at the cells of the box, x fastest. For point data, the value
/// of a cell is the mean over its points. Local.
/// @param arrays  one for each piece
[[nodiscard]] std::vector<double> cellValues(const GridCells& cells,
                                             const std::vector<PieceArray>& arrays, int component);

/// Returns the flow in the cells of the box. Cell vectors are used directly; from point vectors,
/// the flow at a face is the mean over its points, or the value at the lowest of them. Hidden cells
/// are solid. Local.
/// @param vectors  one for each piece
/// @param onFaces  whether the point vectors are those of faces: see moveToFaces()
/// @param cure  what to choose if the velocity of a cell that is not hidden is not finite, the end
///              of the text of an Error
[[nodiscard]] CellFlow cellFlow(const GridCells& cells, const std::vector<PieceArray>& vectors,
                                bool onFaces, const char* cure);

/// Collective. Returns the positions in the box of the cells that contain a point of any rank, each
/// once.
/// @param points  of this rank: coordinates x, y, z of each
[[nodiscard]] std::vector<std::size_t> cellsWithPoints(Transport& transport, const GridCells& cells,
                                                       const std::vector<double>& points);

}  // namespace tributary
