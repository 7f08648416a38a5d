#include "DomainFromVTK.h"

#include <vtkImageData.h>
#include <vtkPointData.h>
#include <vtkRectilinearGrid.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "Refinement.h"

#include "Tributary/Agree.h"
#include "Tributary/Error.h"
#include "Tributary/Transport/Collectives.h"

namespace tributary {
namespace {

/// A view of the array, or of a contiguous copy, which is all that the kernels read.
ArrayView viewOf(vtkDataArray* array, FlowDomain& flow) {
  flow.arrays.push_back(contiguous(array));
  array = flow.arrays.back();
  return {array->GetVoidPointer(0), array->GetDataType() == VTK_DOUBLE,
          static_cast<std::int64_t>(array->GetNumberOfTuples())};
}

/// A uniform or rectilinear grid as it is. The grid's number is set later, by all ranks together.
StructuredPiece structuredPiece(const FlowPiece& from, int number, Span<const std::uint8_t> covered,
                                FlowDomain& flow) {
  StructuredPiece piece;
  piece.piece = number;
  piece.cellCentred = flow.cellCentred;
  piece.velocity = viewOf(from.velocity, flow);
  piece.ghosts = cellFlagsOf(from.dataSet, covered, flow.bytes.emplace_back());
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

MeshPiece meshPiece(const FlowPiece& from, int number, Span<const std::uint8_t> covered,
                    FlowDomain& flow) {
  MeshPiece piece;
  piece.piece = number;
  piece.cellCentred = flow.cellCentred;
  piece.velocity = viewOf(from.velocity, flow);
  piece.ghosts = cellFlagsOf(from.dataSet, covered, flow.bytes.emplace_back());

  piece.points = viewOf(coordinatesOf(from.dataSet), flow);
  const CellLists& lists = flow.cellLists.emplace_back(cellListsOf(from.dataSet));
  piece.types = lists.types;
  piece.offsets = lists.offsets;
  piece.connectivity = lists.connectivity;

  // The leaves of a composite data set may each number their points from the beginning.
  vtkDataArray* ids = from.group.empty() ? from.dataSet->GetPointData()->GetGlobalIds() : nullptr;
  if (ids) {
    piece.globalPointIds = flow.integers.emplace_back(exactIds(ids));
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
  const auto covered = findRefinedCells(transport, std::vector<Leaf>(list.begin(), list.end()));
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
