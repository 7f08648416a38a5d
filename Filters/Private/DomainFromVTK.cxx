#include "DomainFromVTK.h"

#include <vtkCellArray.h>
#include <vtkCellType.h>
#include <vtkDataSetAttributes.h>
#include <vtkDoubleArray.h>
#include <vtkFloatArray.h>
#include <vtkGenericCell.h>
#include <vtkIdList.h>
#include <vtkIdTypeArray.h>
#include <vtkImageData.h>
#include <vtkMatrix3x3.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPointSet.h>
#include <vtkPoints.h>
#include <vtkPolyData.h>
#include <vtkRectilinearGrid.h>
#include <vtkStructuredGrid.h>
#include <vtkTypeInt64Array.h>
#include <vtkUnsignedCharArray.h>
#include <vtkUnstructuredGrid.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "Refinement.h"
#include "Together.h"

#include "Tributary/Error.h"
#include "Tributary/Transport/Collectives.h"

namespace tributary {
namespace {

/// A view of the array; of a copy where the values are not contiguous tuples of float or double,
/// which is all that the kernels read.
ArrayView viewOf(vtkDataArray* array, FlowDomain& flow) {
  if (!vtkFloatArray::FastDownCast(array) && !vtkDoubleArray::FastDownCast(array)) {
    vtkSmartPointer<vtkDataArray> copy;
    if (array->GetDataType() == VTK_FLOAT)
      copy = vtkSmartPointer<vtkFloatArray>::New();
    else
      copy = vtkSmartPointer<vtkDoubleArray>::New();
    copy->DeepCopy(array);
    flow.arrays.push_back(copy);
    array = copy;
  }
  return {array->GetVoidPointer(0), array->GetDataType() == VTK_DOUBLE,
          static_cast<std::int64_t>(array->GetNumberOfTuples())};
}

/// Ghost flags per cell as the core reads them. Cells that are left out for another reason (a
/// hidden point, a refinement elsewhere) are marked hidden in a copy.
/// @param covered  1 per cell that a finer level covers, or empty
Span<const std::uint8_t> cellGhosts(vtkDataSet* dataSet, Span<const std::uint8_t> covered,
                                    FlowDomain& flow) {
  vtkUnsignedCharArray* cells = dataSet->GetCellGhostArray();
  vtkUnsignedCharArray* points = pointGhosts(dataSet);
  const auto any = [](vtkUnsignedCharArray* array, unsigned char flag) {
    if (!array) return false;
    const unsigned char* first = array->GetPointer(0);
    return std::any_of(first, first + array->GetNumberOfValues(),
                       [&](unsigned char value) { return (value & flag) != 0; });
  };
  const bool refined = any(cells, vtkDataSetAttributes::REFINEDCELL);
  const bool hiddenPoints = any(points, vtkDataSetAttributes::HIDDENPOINT);
  const auto count = static_cast<std::size_t>(dataSet->GetNumberOfCells());
  const Span<const std::uint8_t> stored =
      cells ? Span<const std::uint8_t>(cells->GetPointer(0),
                                       static_cast<std::size_t>(cells->GetNumberOfValues()))
            : Span<const std::uint8_t>();
  // Flags of another number are the core's to refuse.
  if ((!refined && !hiddenPoints && covered.empty()) || (cells && stored.size() != count))
    return stored;
  std::vector<std::uint8_t>& flags = flow.bytes.emplace_back(count, std::uint8_t(0));
  vtkNew<vtkIdList> ids;
  for (std::size_t c = 0; c < count; ++c) {
    if (cells) flags[c] = stored[c];
    if ((flags[c] & vtkDataSetAttributes::REFINEDCELL) || (!covered.empty() && covered[c]))
      flags[c] |= vtkDataSetAttributes::HIDDENCELL;
    if (!hiddenPoints) continue;
    dataSet->GetCellPoints(static_cast<vtkIdType>(c), ids);
    for (vtkIdType j = 0; j < ids->GetNumberOfIds(); ++j)
      if (points->GetValue(ids->GetId(j)) & vtkDataSetAttributes::HIDDENPOINT)
        flags[c] |= vtkDataSetAttributes::HIDDENCELL;
  }
  return flags;
}

/// Whether a data set is a grid along the axes with coordinates that increase; others are meshes.
bool isLattice(vtkDataSet* dataSet) {
  if (auto* image = vtkImageData::SafeDownCast(dataSet)) {
    const double* spacing = image->GetSpacing();
    return image->GetDirectionMatrix()->IsIdentity() && spacing[0] > 0 && spacing[1] > 0 &&
           spacing[2] > 0;
  }
  auto* grid = vtkRectilinearGrid::SafeDownCast(dataSet);
  if (!grid) return false;
  for (vtkDataArray* axis :
       {grid->GetXCoordinates(), grid->GetYCoordinates(), grid->GetZCoordinates()})
    for (vtkIdType i = 1; i < axis->GetNumberOfTuples(); ++i)
      if (!(axis->GetComponent(i, 0) > axis->GetComponent(i - 1, 0))) return false;
  return true;
}

/// A uniform or rectilinear grid as it is. The grid's number is set later, by all ranks together.
StructuredPiece structuredPiece(const FlowPiece& from, int number, Span<const std::uint8_t> covered,
                                FlowDomain& flow) {
  StructuredPiece piece;
  piece.piece = number;
  piece.cellCentred = flow.cellCentred;
  piece.velocity = viewOf(from.velocity, flow);
  piece.ghosts = cellGhosts(from.dataSet, covered, flow);
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

/// Connectivity of 64-bit numbers, as a view or, if VTK stores 32 bits, as a copy.
void viewCells(vtkCellArray* cells, MeshPiece& piece, FlowDomain& flow) {
  const auto view = [&](vtkDataArray* array) -> Span<const std::int64_t> {
    const auto count = static_cast<std::size_t>(array->GetNumberOfValues());
    if (array->GetDataTypeSize() == sizeof(std::int64_t))
      return {static_cast<const std::int64_t*>(array->GetVoidPointer(0)), count};
    const auto* narrow = static_cast<const std::int32_t*>(array->GetVoidPointer(0));
    return flow.integers.emplace_back(narrow, narrow + count);
  };
  piece.offsets = view(cells->GetOffsetsArray());
  piece.connectivity = view(cells->GetConnectivityArray());
}

/// Cells written one by one.
struct CellList {
  std::vector<std::uint8_t>& types;
  std::vector<std::int64_t>& offsets;
  std::vector<std::int64_t>& connectivity;

  explicit CellList(FlowDomain& flow)
      : types(flow.bytes.emplace_back()),
        offsets(flow.integers.emplace_back(1, std::int64_t(0))),
        connectivity(flow.integers.emplace_back()) {}

  void add(int type, vtkIdType count, const vtkIdType* points) {
    types.push_back(static_cast<std::uint8_t>(type));
    connectivity.insert(connectivity.end(), points, points + count);
    offsets.push_back(static_cast<std::int64_t>(connectivity.size()));
  }
  void giveTo(MeshPiece& piece) const {
    piece.types = types;
    piece.offsets = offsets;
    piece.connectivity = connectivity;
  }
};

/// The hexahedra (quadrilaterals where an axis is flat) of an extent, in VTK's order.
void structuredCells(const int extent[6], MeshPiece& piece, FlowDomain& flow) {
  CellList list(flow);
  std::array<vtkIdType, 3> points{}, cells{};
  std::vector<vtkIdType> steps;  // from a point to the next one along each axis that is not flat
  vtkIdType stride = 1;
  for (std::size_t a = 0; a < 3; ++a) {
    points[a] = extent[2 * a + 1] - extent[2 * a] + 1;
    cells[a] = std::max<vtkIdType>(points[a] - 1, 1);
    if (points[a] > 1) steps.push_back(stride);
    stride *= points[a];
  }
  for (vtkIdType k = 0; k < cells[2]; ++k)
    for (vtkIdType j = 0; j < cells[1]; ++j)
      for (vtkIdType i = 0; i < cells[0]; ++i) {
        const vtkIdType p = (k * points[1] + j) * points[0] + i;
        const vtkIdType u = steps[0], v = steps[1], w = steps.size() > 2 ? steps[2] : 0;
        const vtkIdType ids[8] = {p,     p + u,     p + u + v,     p + v,
                                  p + w, p + u + w, p + u + v + w, p + v + w};
        if (w > 0)
          list.add(VTK_HEXAHEDRON, 8, ids);
        else
          list.add(VTK_QUAD, 4, ids);
      }
  list.giveTo(piece);
}

/// The cells of poly data in the order of their cell data.
void polyCells(vtkPolyData* poly, MeshPiece& piece, FlowDomain& flow) {
  CellList list(flow);
  const auto add = [&](vtkCellArray* cells, auto&& typeOf) {
    if (!cells) return;
    vtkNew<vtkIdList> scratch;
    for (vtkIdType c = 0; c < cells->GetNumberOfCells(); ++c) {
      vtkIdType count = 0;
      const vtkIdType* points = nullptr;
      cells->GetCellAtId(c, count, points, scratch);
      list.add(typeOf(count), count, points);
    }
  };
  add(poly->GetVerts(), [](vtkIdType n) { return n == 1 ? VTK_VERTEX : VTK_POLY_VERTEX; });
  add(poly->GetLines(), [](vtkIdType n) { return n == 2 ? VTK_LINE : VTK_POLY_LINE; });
  add(poly->GetPolys(), [](vtkIdType n) {
    return n == 3 ? VTK_TRIANGLE : n == 4 ? VTK_QUAD : VTK_POLYGON;
  });
  add(poly->GetStrips(), [](vtkIdType) { return VTK_TRIANGLE_STRIP; });
  list.giveTo(piece);
}

/// Whatever else a data set may be.
void genericCells(vtkDataSet* dataSet, MeshPiece& piece, FlowDomain& flow) {
  CellList list(flow);
  vtkNew<vtkIdList> ids;
  for (vtkIdType c = 0; c < dataSet->GetNumberOfCells(); ++c) {
    dataSet->GetCellPoints(c, ids);
    list.add(dataSet->GetCellType(c), ids->GetNumberOfIds(), ids->GetPointer(0));
  }
  list.giveTo(piece);
}

MeshPiece meshPiece(const FlowPiece& from, int number, Span<const std::uint8_t> covered,
                    FlowDomain& flow) {
  MeshPiece piece;
  piece.piece = number;
  piece.cellCentred = flow.cellCentred;
  piece.velocity = viewOf(from.velocity, flow);
  piece.ghosts = cellGhosts(from.dataSet, covered, flow);

  auto* pointSet = vtkPointSet::SafeDownCast(from.dataSet);
  if (pointSet && pointSet->GetPoints()) {
    piece.points = viewOf(pointSet->GetPoints()->GetData(), flow);
  } else {
    vtkNew<vtkDoubleArray> points;
    points->SetNumberOfComponents(3);
    points->SetNumberOfTuples(from.dataSet->GetNumberOfPoints());
    for (vtkIdType i = 0; i < from.dataSet->GetNumberOfPoints(); ++i)
      from.dataSet->GetPoint(i, points->GetPointer(3 * i));
    flow.arrays.emplace_back(points.Get());
    piece.points = viewOf(points, flow);
  }

  if (auto* grid = vtkUnstructuredGrid::SafeDownCast(from.dataSet)) {
    vtkUnsignedCharArray* types = grid->GetCellTypesArray();
    piece.types = {types->GetPointer(0), static_cast<std::size_t>(types->GetNumberOfValues())};
    viewCells(grid->GetCells(), piece, flow);
  } else if (auto* curvilinear = vtkStructuredGrid::SafeDownCast(from.dataSet)) {
    structuredCells(curvilinear->GetExtent(), piece, flow);
  } else if (auto* image = vtkImageData::SafeDownCast(from.dataSet)) {
    structuredCells(image->GetExtent(), piece, flow);
  } else if (auto* rectilinear = vtkRectilinearGrid::SafeDownCast(from.dataSet)) {
    structuredCells(rectilinear->GetExtent(), piece, flow);
  } else if (auto* poly = vtkPolyData::SafeDownCast(from.dataSet)) {
    polyCells(poly, piece, flow);
  } else {
    genericCells(from.dataSet, piece, flow);
  }

  // The leaves of a composite data set may each number their points from the beginning.
  vtkDataArray* ids = from.group.empty() ? from.dataSet->GetPointData()->GetGlobalIds() : nullptr;
  if (ids) {
    std::vector<std::int64_t>& copy =
        flow.integers.emplace_back(static_cast<std::size_t>(ids->GetNumberOfTuples()));
    for (std::size_t i = 0; i < copy.size(); ++i)
      copy[i] = static_cast<std::int64_t>(ids->GetTuple1(static_cast<vtkIdType>(i)));
    if (auto* exact = vtkIdTypeArray::SafeDownCast(ids))
      std::copy_n(exact->GetPointer(0), copy.size(), copy.begin());
    piece.globalPointIds = copy;
  }
  flow.cells.push_back(std::make_unique<VTKCells>(from.dataSet));
  piece.foreign = flow.cells.back().get();
  return piece;
}

/// What decides whether two pieces are parts of one grid.
struct GridPart {
  bool uniform = true;
  std::array<int, 6> extent{};
  std::array<double, 6> lattice{};  // origin and spacing
  std::string group;
  std::array<std::vector<double>, 3> coordinates;
};

Bytes pack(const std::vector<GridPart>& parts) {
  Writer writer;
  writer.value(static_cast<std::uint64_t>(parts.size()));
  for (const GridPart& part : parts) {
    writer.value(part.uniform).value(part.extent).value(part.lattice).text(part.group);
    for (const auto& axis : part.coordinates) writer.range(axis);
  }
  return writer.take();
}

std::vector<GridPart> unpack(const std::vector<Bytes>& all) {
  std::vector<GridPart> parts;
  for (const Bytes& bytes : all) {
    Reader reader(bytes);
    for (auto left = reader.value<std::uint64_t>(); left > 0; --left) {
      GridPart& part = parts.emplace_back();
      part.uniform = reader.value<bool>();
      part.extent = reader.value<std::array<int, 6>>();
      part.lattice = reader.value<std::array<double, 6>>();
      part.group = reader.text();
      for (auto& axis : part.coordinates) axis = reader.range<double>();
    }
  }
  return parts;
}

/// Whether the coordinates of all parts of a group are those of one index space.
bool haveCommonCoordinates(const std::vector<const GridPart*>& parts) {
  for (std::size_t a = 0; a < 3; ++a) {
    std::map<int, double> known;
    for (const GridPart* part : parts) {
      for (std::size_t i = 0; i < part->coordinates[a].size(); ++i) {
        const auto [at, isNew] =
            known.emplace(part->extent[2 * a] + static_cast<int>(i), part->coordinates[a][i]);
        if (!isNew && at->second != part->coordinates[a][i]) return false;
      }
    }
    double last = -std::numeric_limits<double>::infinity();
    for (const auto& [index, coordinate] : known) {
      if (!(coordinate > last)) return false;
      last = coordinate;
    }
  }
  return true;
}

/// Collective. Numbers the grids: uniform pieces on one lattice are one grid, rectilinear pieces of
/// one composite group if their coordinates agree. Flat pieces join only pieces in the same plane.
void numberGrids(Transport& transport, FlowDomain& flow) {
  std::vector<GridPart> mine;
  for (const StructuredPiece& piece : flow.structured) {
    GridPart& part = mine.emplace_back();
    part.uniform = piece.uniform;
    part.extent = piece.extent;
    for (std::size_t a = 0; a < 3; ++a) {
      part.lattice[a] = piece.origin[a];
      part.lattice[3 + a] = piece.spacing[a];
    }
    part.group = flow.pieces[static_cast<std::size_t>(piece.piece)].group;
    part.coordinates = piece.coordinates;
  }
  const std::vector<Bytes> all = allgatherBytes(transport, pack(mine));
  std::size_t first = 0;  // of this rank's parts
  for (int r = 0; r < transport.rank(); ++r)
    first += Reader(all[static_cast<std::size_t>(r)]).value<std::uint64_t>();
  const std::vector<GridPart> parts = unpack(all);

  using Plane = std::array<int, 3>;
  using Key = std::tuple<bool, std::array<double, 6>, std::string, Plane>;
  std::map<Key, std::vector<std::size_t>> groups;
  for (std::size_t n = 0; n < parts.size(); ++n) {
    const GridPart& part = parts[n];
    Plane plane;
    for (std::size_t a = 0; a < 3; ++a)
      plane[a] = part.extent[2 * a] == part.extent[2 * a + 1] ? part.extent[2 * a]
                                                              : std::numeric_limits<int>::min();
    groups[{part.uniform, part.uniform ? part.lattice : std::array<double, 6>{},
            part.uniform ? std::string() : part.group, plane}]
        .push_back(n);
  }
  std::vector<int> number(parts.size());
  int next = 0;
  for (const auto& [key, members] : groups) {
    std::vector<const GridPart*> list;
    for (const std::size_t n : members) list.push_back(&parts[n]);
    const bool one = std::get<0>(key) || haveCommonCoordinates(list);
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (i > 0 && !one) ++next;
      number[members[i]] = next;
    }
    ++next;
  }
  for (std::size_t n = 0; n < flow.structured.size(); ++n)
    flow.structured[n].grid = number[first + n];
}

/// Collective. Name and place of the vectors, the same on all ranks.
void agreeOnVectors(Transport& transport, FlowDomain& flow, bool cellCentred) {
  std::set<std::string> names;
  for (const FlowPiece& piece : flow.pieces)
    names.insert(piece.velocity->GetName() ? piece.velocity->GetName() : "");
  Writer writer;
  for (const std::string& name : names) writer.value(cellCentred).text(name);
  bool known = false;
  for (const Bytes& bytes : allgatherBytes(transport, writer.take())) {
    for (Reader reader(bytes); !reader.atEnd();) {
      const bool centred = reader.value<bool>();
      const std::string name = reader.text();
      if (known && centred != flow.cellCentred)
        throw Error("the vectors \"" + flow.vectorName +
                    "\" belong to points on some ranks and to cells on others; convert them with "
                    "Cell Data to Point Data or Point Data to Cell Data first");
      if (known && name != flow.vectorName)
        throw Error("the vectors are \"" + flow.vectorName + "\" in some blocks and \"" + name +
                    "\" in others; choose one by its name with the property Vectors "
                    "(SetInputArrayToProcess)");
      flow.vectorName = name;
      flow.cellCentred = centred;
      known = true;
    }
  }
  if (!known)
    throw Error(
        "no block of the input on any rank has cells and the vectors to trace; choose an array of "
        "3 components that the input has with the property Vectors (SetInputArrayToProcess)");
  if (flow.vectorName.empty()) throw Error("the vectors have no name; give their array one");
}

}  // namespace

std::unique_ptr<FlowDomain> makeFlowDomain(Transport& transport, std::vector<FlowPiece> pieces,
                                           bool cellCentred, int blocksPerRank) {
  auto flow = std::make_unique<FlowDomain>();
  flow->pieces = std::move(pieces);
  agreeOnVectors(transport, *flow, cellCentred);

  std::int64_t highest = -1;
  together(transport, [&] {
    for (FlowPiece& piece : flow->pieces) {
      if (piece.velocity->GetNumberOfComponents() != 3)
        throw Error("the vectors \"" + flow->vectorName + "\" have " +
                    std::to_string(piece.velocity->GetNumberOfComponents()) +
                    " components where 3 are needed; choose another array with the property "
                    "Vectors (SetInputArrayToProcess)");
      highest = std::max<std::int64_t>(highest, piece.dimension);
    }
  });
  flow->dimension = static_cast<int>(allreduce(transport, ReduceOp::Max, highest));
  if (flow->dimension < 2)
    throw Error(
        "the input has no cells of 2 or 3 dimensions; streamlines need an area or a volume");

  std::vector<std::unique_ptr<FieldBlock>> blocks;
  std::vector<BlockId> structuredFirst, meshFirst;
  std::vector<double> box(6, -std::numeric_limits<double>::infinity());  // -lo, hi
  int blocksPerPiece = 1;
  auto& list = flow->pieces;
  list.erase(std::remove_if(list.begin(), list.end(),
                            [&](const FlowPiece& p) { return p.dimension < flow->dimension; }),
             list.end());
  const auto covered = findRefinedCells(transport, list);
  together(transport, [&] {
    const int count = static_cast<int>(list.size());
    if (count > 0) blocksPerPiece = std::max(1, (blocksPerRank + count - 1) / count);
    for (int n = 0; n < count; ++n) {
      const FlowPiece& piece = list[static_cast<std::size_t>(n)];
      const auto& hidden = covered[static_cast<std::size_t>(n)];
      if (isLattice(piece.dataSet))
        flow->structured.push_back(structuredPiece(piece, n, hidden, *flow));
      else
        flow->meshes.push_back(meshPiece(piece, n, hidden, *flow));
      const double* b = piece.dataSet->GetBounds();
      for (std::size_t a = 0; a < 3; ++a) {
        box[a] = std::max(box[a], -b[2 * a]);
        box[3 + a] = std::max(box[3 + a], b[2 * a + 1]);
      }
    }
  });
  box = allreduce(transport, ReduceOp::Max, box);
  for (std::size_t a = 0; a < 3; ++a) {
    flow->bounds.lo[a] = -box[a];
    flow->bounds.hi[a] = box[3 + a];
  }
  numberGrids(transport, *flow);

  // Blocks are numbered as the calls below return them: grids first, then meshes.
  const auto pieceCount = static_cast<std::int64_t>(flow->structured.size() + flow->meshes.size());
  Assignment assignment = Assignment::gather(transport, pieceCount * blocksPerPiece);
  BlockId next = assignment.first(transport.rank());
  for (std::size_t n = 0; n < flow->structured.size(); ++n, next += blocksPerPiece)
    structuredFirst.push_back(next);
  for (std::size_t n = 0; n < flow->meshes.size(); ++n, next += blocksPerPiece)
    meshFirst.push_back(next);
  blocks = makeStructuredBlocks(transport, flow->structured, blocksPerPiece, structuredFirst);
  for (auto& block :
       makeMeshBlocks(transport, flow->meshes, blocksPerPiece, flow->dimension, meshFirst))
    blocks.push_back(std::move(block));
  flow->domain =
      std::make_unique<Domain>(makeDomain(transport, std::move(assignment), std::move(blocks)));
  return flow;
}

}  // namespace tributary
