// SPDX-License-Identifier: BSD-3-Clause
#include "Velocity/FaceVelocity.h"

#include <vtkDataSet.h>
#include <vtkDoubleArray.h>
#include <vtkFloatArray.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

#include "Common/FreshArray.h"
#include "Common/SmpFor.h"

#include "Tributary/Base/Box.h"
#include "Tributary/Base/Bytes.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Collective/Records.h"

namespace tributary {
namespace {

/// Cells between two looks for an abort.
constexpr std::int64_t CellsPerPiece = std::int64_t{1} << 24;

using Place = std::array<std::int64_t, 3>;

/// The cells low <= (i, j, k) < high of a grid.
struct Cells {
  Place low{}, high{};

  [[nodiscard]] std::int64_t count() const {
    std::int64_t count = 1;
    for (std::size_t a = 0; a < 3; ++a) count *= std::max<std::int64_t>(high[a] - low[a], 0);
    return count;
  }
};

/// Those of an extent of points, with one layer along an axis without cells.
Cells cellsOf(const std::array<int, 6>& extent) {
  Cells cells;
  for (std::size_t a = 0; a < 3; ++a) {
    cells.low[a] = extent[2 * a];
    cells.high[a] = std::max<std::int64_t>(extent[2 * a + 1], cells.low[a] + 1);
  }
  return cells;
}

/// The number of a place in the arrays of an extent.
/// @param size  of the extent, in cells or points
std::int64_t numberOf(const Place& at, const std::array<int, 6>& extent, const Place& size) {
  return ((at[2] - extent[4]) * size[1] + at[1] - extent[2]) * size[0] + at[0] - extent[0];
}

template <class Visit>
void forEachOf(const Cells& cells, Visit&& visit) {
  Place at;
  for (at[2] = cells.low[2]; at[2] < cells.high[2]; ++at[2])
    for (at[1] = cells.low[1]; at[1] < cells.high[1]; ++at[1])
      for (at[0] = cells.low[0]; at[0] < cells.high[0]; ++at[0]) visit(at);
}

/// The parts of all ranks, and which cells each needs from others. The same on all ranks.
class AllParts {
 public:
  /// @param extents  in the order of ranks
  /// @param counts  their number on each rank
  AllParts(std::vector<std::array<int, 6>> extents, const std::vector<std::int64_t>& counts,
           const std::array<bool, 3>& isLow, const std::array<bool, 3>& isPeriodic)
      : extents_(std::move(extents)), isLow_(isLow), isPeriodic_(isPeriodic) {
    for (const std::int64_t count : counts) first_.push_back(first_.back() + index(count));
    if (!extents_.empty()) whole_ = extents_.front();
    for (const auto& extent : extents_)
      for (std::size_t a = 0; a < 3; ++a) {
        whole_[2 * a] = std::min(whole_[2 * a], extent[2 * a]);
        whole_[2 * a + 1] = std::max(whole_[2 * a + 1], extent[2 * a + 1]);
      }
  }

  /// Calls visit(from, to, axis, cells) for the cells of the parts of one rank that lie beside
  /// those of another one along an axis; parts are numbered as on their ranks.
  template <class Visit>
  void forEachPassage(int fromRank, int toRank, Visit&& visit) const {
    const std::size_t fromFirst = first_[index(fromRank)], toFirst = first_[index(toRank)];
    for (std::size_t to = toFirst; to < first_[index(toRank) + 1]; ++to)
      for (std::size_t a = 0; a < 3; ++a) {
        const std::optional<Cells> layer = layerBeside(extents_[to], a);
        if (!layer) continue;
        for (std::size_t from = fromFirst; from < first_[index(fromRank) + 1]; ++from) {
          Cells common = *layer;
          const Cells own = cellsOf(extents_[from]);
          intersect(common.low, common.high, own.low, own.high);
          if (ownsCells(extents_[from]) && common.count() > 0)
            visit(from - fromFirst, to - toFirst, a, common);
        }
      }
  }

 private:
  bool isFlat(const std::array<int, 6>& extent, std::size_t axis) const {
    return extent[2 * axis] == extent[2 * axis + 1];
  }

  /// A part that is one layer of points in a grid that is not flat has none.
  bool ownsCells(const std::array<int, 6>& extent) const {
    bool owns = true;
    for (std::size_t a = 0; a < 3; ++a) owns = owns && (!isFlat(extent, a) || isFlat(whole_, a));
    return owns;
  }

  /// The cells that have the faces at the other side of a part.
  std::optional<Cells> layerBeside(const std::array<int, 6>& extent, std::size_t axis) const {
    if (isFlat(extent, axis)) return std::nullopt;
    std::int64_t at = isLow_[axis] ? extent[2 * axis + 1] : std::int64_t(extent[2 * axis]) - 1;
    if (isLow_[axis] ? at == whole_[2 * axis + 1] : at < whole_[2 * axis]) {
      if (!isPeriodic_[axis]) return std::nullopt;
      at = isLow_[axis] ? whole_[2 * axis] : std::int64_t(whole_[2 * axis + 1]) - 1;
    }
    Cells layer = cellsOf(extent);
    layer.low[axis] = at;
    layer.high[axis] = at + 1;
    return layer;
  }

  std::vector<std::array<int, 6>> extents_;
  std::vector<std::size_t> first_{0};  // by rank, and the end
  std::array<int, 6> whole_{};
  std::array<bool, 3> isLow_;
  std::array<bool, 3> isPeriodic_;
};

Place cellSize(const std::array<int, 6>& extent) {
  Place size = pointsAlong(extent.data());
  for (std::int64_t& cells : size) cells = std::max<std::int64_t>(cells - 1, 1);
  return size;
}

/// Land has no flow through its faces.
double through(double velocity) {
  return velocity == velocity ? velocity : 0;
}

double valueOf(vtkDataArray* array, std::int64_t tuple, std::size_t component) {
  const std::size_t at = 3 * index(tuple) + component;
  return array->GetDataType() == VTK_FLOAT
             ? static_cast<double>(static_cast<const float*>(array->GetVoidPointer(0))[at])
             : static_cast<const double*>(array->GetVoidPointer(0))[at];
}

/// Writes the velocities of a part's own cells; those of all other faces become 0.
template <class From, class To>
void spread(const Transport& transport, const FacePart& part, const std::array<bool, 3>& isLow,
            To* to) {
  const auto* const from = static_cast<const From*>(part.velocity->GetVoidPointer(0));
  const Place points = pointsAlong(part.extent.data()), cells = cellSize(part.extent);
  const Place stride{1, points[0], points[0] * points[1]};
  Place shift{};  // to the faces at the high sides
  for (std::size_t c = 0; c < 3; ++c) shift[c] = !isLow[c] && points[c] > 1 ? stride[c] : 0;
  smpForPieces(
      transport, 3 * stride[2] * points[2], 3 * CellsPerPiece,
      [&](std::int64_t begin, std::int64_t end) { std::fill(to + begin, to + end, To(0)); });
  const std::int64_t rows = cells[1] * cells[2];
  smpForPieces(transport, rows, std::max<std::int64_t>(CellsPerPiece / cells[0], 1),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t row = begin; row < end; ++row) {
                   const std::int64_t cell = row * cells[0];
                   const std::int64_t point =
                       row % cells[1] * stride[1] + row / cells[1] * stride[2];
                   for (std::int64_t i = 0; i < cells[0]; ++i)
                     for (std::size_t c = 0; c < 3; ++c)
                       to[3 * (point + i + shift[c]) + std::int64_t(c)] =
                           static_cast<To>(through(from[3 * (cell + i) + std::int64_t(c)]));
                 }
               });
}

/// The velocities of the faces that the cells of a part have.
vtkSmartPointer<vtkDataArray> facesOf(const Transport& transport, const FacePart& part,
                                      const std::array<bool, 3>& isLow, bool isDouble) {
  const Place points = pointsAlong(part.extent.data());
  const auto tuples = static_cast<vtkIdType>(points[0] * points[1] * points[2]);
  const bool isFromFloat = part.velocity->GetDataType() == VTK_FLOAT;
  if (!isDouble) {
    const auto faces = freshArray<vtkFloatArray>(part.velocity->GetName(), 3, tuples);
    spread<float>(transport, part, isLow, faces->GetPointer(0));
    return faces;
  }
  const auto faces = freshArray<vtkDoubleArray>(part.velocity->GetName(), 3, tuples);
  if (isFromFloat)
    spread<float>(transport, part, isLow, faces->GetPointer(0));
  else
    spread<double>(transport, part, isLow, faces->GetPointer(0));
  return faces;
}

/// Appends a component of the velocities of cells.
void write(Writer& writer, const FacePart& part, std::size_t component, const Cells& cells) {
  std::byte* to = writer.extend(index(cells.count()) * sizeof(double));
  const Place size = cellSize(part.extent);
  forEachOf(cells, [&](const Place& at) {
    const double value =
        through(valueOf(part.velocity, numberOf(at, part.extent, size), component));
    std::memcpy(to, &value, sizeof value);
    to += sizeof value;
  });
}

/// Reads what write() has written to the faces at the other side of a part.
void read(Reader& reader, const FacePart& part, const std::array<bool, 3>& isLow,
          std::size_t component, Cells cells, vtkDataArray* faces) {
  const Span<const std::byte> raw = reader.raw(index(cells.count()) * sizeof(double));
  const std::byte* from = raw.data();
  cells.low[component] = part.extent[2 * component + (isLow[component] ? 1 : 0)];
  cells.high[component] = cells.low[component] + 1;
  const Place size = pointsAlong(part.extent.data());
  forEachOf(cells, [&](const Place& at) {
    double value;
    std::memcpy(&value, from, sizeof value);
    from += sizeof value;
    faces->SetComponent(numberOf(at, part.extent, size), static_cast<int>(component), value);
  });
}

}  // namespace

void requireCellsWithFaces(const VelocityForm& form, const Leaf& leaf, bool isAtCells) {
  const std::string position = form.positionText();
  const std::string cure = ", or set Component Position to Same Points or Cells";
  if (!isAtCells)
    throw Error("the array \"" + form.components[0].name +
                "\" of X Component belongs to points, but Component Position is " + position +
                ", which needs the values of cells; choose arrays of cells" + cure);
  if (leaf.level >= 0)
    throw Error(
        "Component Position is " + position +
        ", but the input is a hierarchy of levels, which do not share faces; use a uniform or "
        "rectilinear grid" +
        cure);
  if (!leaf.dataSet->IsA("vtkImageData") && !leaf.dataSet->IsA("vtkRectilinearGrid"))
    throw Error("Component Position is " + position + ", but a data set of the input (" +
                leaf.dataSet->GetClassName() +
                ") is not a uniform or rectilinear grid; use such a grid" + cure);
}

std::vector<vtkSmartPointer<vtkDataArray>> moveToFaces(Transport& transport,
                                                       const std::vector<FacePart>& parts,
                                                       const std::array<bool, 3>& isLow,
                                                       const std::array<bool, 3>& isPeriodic) {
  std::int64_t isDouble = 0;
  std::vector<std::array<int, 6>> extents;
  collectively(transport, [&] {
    for (const FacePart& part : parts) {
      if (part.velocity->GetDataType() != VTK_FLOAT) isDouble = 1;
      extents.push_back(part.extent);
    }
  });
  isDouble = allreduce(transport, ReduceOp::Max, isDouble);
  std::vector<std::int64_t> counts;
  extents = allgatherv(transport, extents, &counts);

  std::optional<AllParts> all;
  std::vector<vtkSmartPointer<vtkDataArray>> faces;
  collectively(transport, [&] {
    all.emplace(std::move(extents), counts, isLow, isPeriodic);
    for (const FacePart& part : parts)
      faces.push_back(facesOf(transport, part, isLow, isDouble != 0));
  });
  sendMessages(
      transport,
      [&](MessageOutbox& outbox) {
        for (int rank = 0; rank < transport.size(); ++rank)
          all->forEachPassage(
              transport.rank(), rank,
              [&](std::size_t from, std::size_t, std::size_t axis, const Cells& cells) {
                write(outbox.to(rank), parts[from], axis, cells);
              });
      },
      [&](std::vector<Reader>& readers) {
        for (int rank = 0; rank < transport.size(); ++rank)
          all->forEachPassage(
              rank, transport.rank(),
              [&](std::size_t, std::size_t to, std::size_t axis, const Cells& cells) {
                read(readers[index(rank)], parts[to], isLow, axis, cells, faces[to]);
              });
      });
  return faces;
}

}  // namespace tributary
