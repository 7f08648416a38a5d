// SPDX-License-Identifier: BSD-3-Clause
#include "Lines/DomainFromVTK.h"

#include <vtkDataObject.h>
#include <vtkDoubleArray.h>
#include <vtkImageData.h>
#include <vtkPointData.h>
#include <vtkPointSet.h>
#include <vtkPoints.h>
#include <vtkRectilinearGrid.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>

#include "Common/FreshArray.h"
#include "Common/GridParts.h"
#include "Common/Refinement.h"
#include "Common/SmpFor.h"
#include "Periodic/WholeLattice.h"
#include "Velocity/FaceVelocity.h"
#include "Velocity/ReversedGrid.h"

#include "Tributary/Base/CellTypes.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"

namespace tributary {
namespace {

/// A view of the array, or of a contiguous copy: kernels read contiguous arrays only. The array
/// itself is not kept alive.
ArrayView viewOf(vtkDataArray* array, FlowDomain& flow) {
  const vtkSmartPointer<vtkDataArray> readable = contiguous(array);
  if (readable != array) flow.arrays.push_back(readable);
  array = readable;
  return {array->GetVoidPointer(0), array->GetDataType() == VTK_DOUBLE,
          static_cast<std::int64_t>(array->GetNumberOfTuples())};
}

/// Views of an array at the beginning and the end (which may be null) of an interval. If their
/// types differ, that of a copy is viewed instead of the one of type float.
void viewBoth(vtkDataArray* from, vtkDataArray* to, ArrayView& earlier, ArrayView& later,
              FlowDomain& flow) {
  earlier = viewOf(from, flow);
  if (!to) return;
  later = viewOf(to, flow);
  if (earlier.isDouble == later.isDouble) return;
  const auto copy = vtkSmartPointer<vtkDoubleArray>::New();
  copyArray(earlier.isDouble ? to : from, copy);
  (earlier.isDouble ? later : earlier) = viewOf(copy, flow);
  flow.arrays.push_back(copy);
}

/// The points of a data set, kept alive.
vtkDataArray* pointsOf(vtkDataSet* dataSet, FlowDomain& flow) {
  const vtkSmartPointer<vtkDataArray> points = coordinatesOf(dataSet);
  auto* pointSet = vtkPointSet::SafeDownCast(dataSet);
  if (!pointSet || !pointSet->GetPoints() || pointSet->GetPoints()->GetData() != points)
    flow.arrays.push_back(points);
  return points;
}

/// The members that StructuredPiece and MeshPiece share.
template <class Piece>
Piece pieceOf(const FlowPiece& from, int number, Span<const std::uint8_t> covered,
              FlowDomain& flow) {
  Piece piece;
  piece.piece = number;
  piece.cellCentered = flow.cellCentered;
  viewBoth(from.velocity, from.laterVelocity, piece.velocity, piece.laterVelocity, flow);
  piece.ghosts = cellFlagsOf(from.dataSet, covered, flow.bytes.emplace_back());
  return piece;
}

/// A view of a uniform or rectilinear grid. The number of the grid is set later, on all ranks.
StructuredPiece structuredPiece(const FlowPiece& from, int number, Span<const std::uint8_t> covered,
                                FlowDomain& flow) {
  auto piece = pieceOf<StructuredPiece>(from, number, covered, flow);
  piece.cellCentered = flow.cellCentered && !flow.onFaces;
  piece.onFaces = flow.onFaces;
  if (auto* image = vtkImageData::SafeDownCast(from.dataSet)) {
    piece.uniform = true;
    std::copy_n(image->GetExtent(), 6, piece.extent.begin());
    std::copy_n(image->GetOrigin(), 3, piece.origin.begin());
    std::copy_n(image->GetSpacing(), 3, piece.spacing.begin());
  } else {
    auto* grid = vtkRectilinearGrid::SafeDownCast(from.dataSet);
    piece.uniform = false;
    std::copy_n(grid->GetExtent(), 6, piece.extent.begin());
    vtkDataArray* axes[3] = {grid->GetXCoordinates(), grid->GetYCoordinates(),
                             grid->GetZCoordinates()};
    for (std::size_t a = 0; a < 3; ++a)
      for (vtkIdType i = 0; i < axes[a]->GetNumberOfTuples(); ++i)
        piece.coordinates[a].push_back(axes[a]->GetComponent(i, 0));
  }
  return piece;
}

/// @param dimension  of cells that are traced through
bool hasForeign(Span<const std::uint8_t> types, int dimension) {
  std::array<bool, 256> occurs{};
  for (const std::uint8_t type : types) occurs[type] = true;
  for (std::size_t type = 0; type < occurs.size(); ++type)
    if (occurs[type] && isForeign(static_cast<std::uint8_t>(type)) &&
        dimensionOf(static_cast<std::uint8_t>(type)) == dimension)
      return true;
  return false;
}

MeshPiece meshPiece(const FlowPiece& from, int number, Span<const std::uint8_t> covered,
                    FlowDomain& flow) {
  auto piece = pieceOf<MeshPiece>(from, number, covered, flow);
  viewBoth(pointsOf(from.dataSet, flow), from.moves ? pointsOf(from.laterDataSet, flow) : nullptr,
           piece.points, piece.laterPoints, flow);
  int extent[6];
  if (extentOf(from.dataSet, extent)) {
    piece.grid.emplace(pointsAlong(extent));
    piece.types = flow.bytes.emplace_back(static_cast<std::size_t>(piece.grid->cellCount()),
                                          piece.grid->dimension() == 3 ? Hexahedron : Quad);
  } else {
    const CellLists& lists = flow.cellLists.emplace_back(cellListsOf(from.dataSet));
    piece.types = lists.types;
    piece.offsets = lists.offsets;
    piece.connectivity = lists.connectivity;
  }

  // The leaves of a composite data set may each number their points from the beginning.
  vtkDataArray* ids = from.group.empty() ? from.dataSet->GetPointData()->GetGlobalIds() : nullptr;
  if (ids) {
    piece.globalPointIds = flow.integers.emplace_back(exactIds(ids));
  }
  if (hasForeign(piece.types, flow.dimension)) {
    if (from.moves)
      throw Error(
          "the points of a data set with polyhedra, quadratic or other nonlinear cells move, and "
          "particles are traced through linear cells only where points move; convert the cells "
          "with Tetrahedralize first");
    flow.cells.push_back(std::make_unique<VTKCells>(from.dataSet));
    piece.foreign = flow.cells.back().get();
  }
  return piece;
}

/// Collective. Sets the name and association of the vectors, the same on all ranks.
/// @param choice  see FlowPieces
void agreeOnVectors(Transport& transport, FlowDomain& flow, bool cellCentered,
                    const std::string& choice) {
  Bytes mine;
  collectively(transport, [&] {
    std::set<std::string> names;
    for (const FlowPiece& piece : flow.pieces)
      names.insert(piece.velocity->GetName() ? piece.velocity->GetName() : "");
    Writer writer;
    for (const std::string& name : names) writer.value(cellCentered).text(name);
    mine = writer.take();
  });
  bool known = false;
  // All ranks find the same error, so the text does not name a rank.
  std::string error;
  allgatherRead(transport, std::move(mine), [&](Reader& reader, int) {
    const bool centered = reader.value<std::uint8_t>() != 0;
    const std::string name = reader.text();
    if (known && centered != flow.cellCentered && error.empty())
      error = "the vectors \"" + flow.vectorName +
              "\" belong to points on some ranks and to cells on others; convert them with "
              "Cell Data to Point Data or Point Data to Cell Data first";
    if (known && name != flow.vectorName && error.empty())
      error = "the vectors are \"" + flow.vectorName + "\" in some blocks and \"" + name +
              "\" in others; choose one by its name with Vectors";
    flow.vectorName = name;
    flow.cellCentered = centered;
    known = true;
  });
  if (!error.empty()) throw Error(error);
  if (!known)
    throw Error("no block of the input on any rank has cells and the vectors to trace; " + choice);
  if (flow.vectorName.empty()) throw Error("the vectors have no name; give their array one");
}

/// The least and the largest coordinates of the points of data sets.
struct Extremes {
  static constexpr double Infinity = std::numeric_limits<double>::infinity();
  std::array<double, 3> minusLow{{-Infinity, -Infinity, -Infinity}}, high = minusLow;

  void include(vtkDataSet* dataSet) {
    const double* const b = dataSet->GetBounds();
    for (std::size_t a = 0; a < 3; ++a) {
      minusLow[a] = std::max(minusLow[a], -b[2 * a]);
      high[a] = std::max(high[a], b[2 * a + 1]);
    }
  }
  /// Collective.
  [[nodiscard]] Box ofAllRanks(Transport& transport) const {
    const std::vector<double> most = allreduce(
        transport, ReduceOp::Max,
        std::vector<double>{minusLow[0], minusLow[1], minusLow[2], high[0], high[1], high[2]});
    return {{{-most[0], -most[1], -most[2]}}, {{most[3], most[4], most[5]}}};
  }
};

/// Local. Replaces the grid of a piece by one whose coordinates increase.
/// @param axes  those along which they decrease
void reverse(FlowPiece& piece, const std::array<bool, 3>& axes, FlowDomain& flow) {
  const auto reversed = [&](vtkDataSet* grid) -> vtkDataSet* {
    return flow.dataSets.emplace_back(reversedAlong(grid, axes));
  };
  const bool isOne = piece.laterDataSet == piece.dataSet;
  const bool isSame = piece.laterVelocity == piece.velocity;
  piece.velocity = reversedCells(piece.velocity, piece.dataSet, axes);
  if (piece.laterVelocity)
    piece.laterVelocity =
        isSame ? piece.velocity : reversedCells(piece.laterVelocity, piece.laterDataSet, axes);
  piece.dataSet = reversed(piece.dataSet);
  if (piece.laterDataSet) piece.laterDataSet = isOne ? piece.dataSet : reversed(piece.laterDataSet);
}

/// Collective. Replaces the vectors of the pieces by those of their faces, and grids whose
/// coordinates decrease by others.
void useFaces(Transport& transport, FlowDomain& flow, ComponentPosition side) {
  std::vector<Leaf> leaves;
  collectively(transport, [&] { leaves.assign(flow.pieces.begin(), flow.pieces.end()); });
  const std::optional<WholeLattice> lattice = findWholeLattice(transport, leaves);
  const char* const error =
      "Component Position is for the faces of one grid whose coordinates increase or decrease "
      "along "
      "each axis, which the input is not; use one uniform or rectilinear grid, or set Component "
      "Position to Same Points or Cells";
  if (!lattice) throw Error(error);
  std::array<bool, 3> isLow, isPeriodic, decreases;
  for (std::size_t a = 0; a < 3; ++a) {
    decreases[a] = lattice->axes[a].decreases;
    isLow[a] = (side == ComponentPosition::LowFaces) != decreases[a];
    isPeriodic[a] = flow.periodic[a].isPeriodic;
  }
  std::int64_t isUnsteady = 0;
  collectively(transport, [&] {
    for (FlowPiece& piece : flow.pieces) {
      if (decreases[0] || decreases[1] || decreases[2]) reverse(piece, decreases, flow);
      if (!isAlongAxes(piece.dataSet)) throw Error(error);
      if (piece.laterVelocity && piece.laterVelocity != piece.velocity) isUnsteady = 1;
    }
  });
  isUnsteady = allreduce(transport, ReduceOp::Max, isUnsteady);
  const auto move = [&](vtkSmartPointer<vtkDataArray> FlowPiece::*velocity) {
    std::vector<FacePart> parts;
    collectively(transport, [&] {
      for (const FlowPiece& piece : flow.pieces) {
        FacePart& part = parts.emplace_back();
        extentOf(piece.dataSet, part.extent.data());
        part.velocity = piece.*velocity;
      }
    });
    return moveToFaces(transport, parts, isLow, isPeriodic);
  };
  const auto earlier = move(&FlowPiece::velocity);
  const auto later = isUnsteady != 0 ? move(&FlowPiece::laterVelocity) : earlier;
  for (std::size_t n = 0; n < flow.pieces.size(); ++n) {
    FlowPiece& piece = flow.pieces[n];
    piece.velocity = earlier[n];
    if (piece.laterVelocity) piece.laterVelocity = later[n];
  }
}

}  // namespace

FlowPieces findFlowPieces(const Transport& transport, vtkDataObject* input,
                          const VelocityForm& form) {
  FlowPieces found;
  found.isDerived = form.isDerived();
  found.choice = form.choice("that the input has");
  if (form.onFaces()) found.position = form.position;
  for (const Leaf& leaf : leavesAndTreesOf(input)) {
    if (leaf.trees) {
      ++found.skippedTrees;
      continue;
    }
    const int dimension = dimensionOf(leaf.dataSet);
    if (dimension < 0) continue;
    const Velocity velocity = form.of(transport, leaf.dataSet);
    if (!velocity.vectors) continue;
    if (!found.pieces.empty() && velocity.isAtCells != found.cellCentered)
      throw Error(
          "the vectors belong to points in some blocks and to cells in others; convert "
          "them with Cell Data to Point Data or Point Data to Cell Data first");
    if (form.onFaces()) requireCellsWithFaces(form, leaf, velocity.isAtCells);
    found.cellCentered = velocity.isAtCells;
    FlowPiece& piece = found.pieces.emplace_back();
    static_cast<Leaf&>(piece) = leaf;
    piece.velocity = velocity.vectors;
    piece.dimension = dimension;
  }
  return found;
}

ClosedData closeFlow(Transport& transport, vtkDataObject* input, const PeriodicSettings& settings,
                     const VelocityForm& form) {
  return closePeriodicAxes(transport, input, settings, [&](vtkDataSet* dataSet) {
    VelocityArrays velocity;
    velocity.arrays = form.stored(dataSet, velocity.isAtCells);
    return velocity;
  });
}

void setPeriods(const PeriodicAxes& axes, StepRules& rules) {
  for (std::size_t a = 0; a < 3; ++a) {
    rules.period[a] = axes[a].period;
    rules.periodicOrigin[a] = axes[a].origin;
  }
}

Box laterBounds(Transport& transport, const std::vector<FlowPiece>& pieces) {
  Extremes extremes;
  collectively(transport, [&] {
    for (const FlowPiece& piece : pieces) extremes.include(piece.laterDataSet);
  });
  return extremes.ofAllRanks(transport);
}

std::unique_ptr<FlowDomain> makeFlowDomain(Transport& transport, FlowPieces found,
                                           const PeriodicAxes& periodic) {
  auto flow = std::make_unique<FlowDomain>();
  flow->pieces = std::move(found.pieces);
  flow->isDerived = found.isDerived;
  flow->onFaces = found.position != ComponentPosition::PointsOrCells;
  flow->periodic = periodic;
  agreeOnVectors(transport, *flow, found.cellCentered, found.choice);

  // The dimension, whether points move, and whether vectors are not float.
  std::vector<std::int64_t> most{-1, 0, 0};
  collectively(transport, [&] {
    for (FlowPiece& piece : flow->pieces) {
      for (vtkDataArray* vectors : {piece.velocity, piece.laterVelocity})
        if (vectors && vectors->GetNumberOfComponents() != 3)
          throw Error("the vectors \"" + flow->vectorName + "\" have " +
                      std::to_string(vectors->GetNumberOfComponents()) +
                      " components where 3 are needed; choose another array with "
                      "Vectors");
      most[0] = std::max<std::int64_t>(most[0], piece.dimension);
      if (piece.moves) most[1] = 1;
      if (piece.velocity->GetDataType() != VTK_FLOAT) most[2] = 1;
    }
  });
  most = allreduce(transport, ReduceOp::Max, most);
  flow->dimension = static_cast<int>(most[0]);
  flow->moves = most[1] != 0;
  flow->isDouble = most[2] != 0;
  if (flow->dimension < 2)
    throw Error(
        "the input has no cells of 2 or 3 dimensions; streamlines need an area or a volume; choose "
        "an input with 2-D or 3-D cells");

  auto& list = flow->pieces;
  std::vector<Leaf> leaves;
  collectively(transport, [&] {
    list.erase(std::remove_if(list.begin(), list.end(),
                              [&](const FlowPiece& p) { return p.dimension < flow->dimension; }),
               list.end());
  });
  if (flow->onFaces) useFaces(transport, *flow, found.position);
  collectively(transport, [&] { leaves.assign(list.begin(), list.end()); });
  const auto covered = findRefinedCells(transport, leaves);
  Extremes extremes;
  std::vector<Leaf> lattices;
  collectively(transport, [&] {
    const int count = static_cast<int>(list.size());
    for (int n = 0; n < count; ++n) {
      const FlowPiece& piece = list[static_cast<std::size_t>(n)];
      const auto& hidden = covered[static_cast<std::size_t>(n)];
      if (isAlongAxes(piece.dataSet))
        flow->structured.push_back(structuredPiece(piece, n, hidden, *flow));
      else
        flow->meshes.push_back(meshPiece(piece, n, hidden, *flow));
      extremes.include(piece.dataSet);
    }
    for (const StructuredPiece& piece : flow->structured)
      lattices.push_back(list[static_cast<std::size_t>(piece.piece)]);
  });
  flow->bounds = extremes.ofAllRanks(transport);
  const std::vector<int> grids = numberGrids(transport, lattices);
  for (std::size_t n = 0; n < grids.size(); ++n) flow->structured[n].grid = grids[n];
  return flow;
}

std::unique_ptr<Domain> cutIntoBlocks(Transport& transport, const FlowDomain& flow,
                                      int blocksPerRank, MeshCache* cache) {
  // Blocks are numbered as the calls below return them: grids first, then meshes.
  const auto pieceCount = static_cast<std::int64_t>(flow.structured.size() + flow.meshes.size());
  int blocksPerPiece = 1;
  if (pieceCount > 0)
    blocksPerPiece =
        static_cast<int>(std::max<std::int64_t>(1, (blocksPerRank + pieceCount - 1) / pieceCount));
  Assignment assignment = Assignment::gather(transport, pieceCount * blocksPerPiece);
  std::vector<BlockId> structuredFirst, meshFirst;
  collectively(transport, [&] {
    BlockId next = assignment.first(transport.rank());
    for (std::size_t n = 0; n < flow.structured.size(); ++n, next += blocksPerPiece)
      structuredFirst.push_back(next);
    for (std::size_t n = 0; n < flow.meshes.size(); ++n, next += blocksPerPiece)
      meshFirst.push_back(next);
  });
  StructuredGrids grids;
  auto blocks =
      makeStructuredBlocks(transport, flow.structured, blocksPerPiece, structuredFirst, &grids);
  for (auto& block : makeMeshBlocks(transport, flow.meshes, blocksPerPiece, flow.dimension,
                                    meshFirst, cache, smpFor))
    blocks.push_back(std::move(block));
  return std::make_unique<Domain>(
      makeDomain(transport, std::move(assignment), std::move(blocks), std::move(grids)));
}

}  // namespace tributary
