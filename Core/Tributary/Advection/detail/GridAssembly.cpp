// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Advection/detail/GridAssembly.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "Tributary/Base/Error.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Collective/Records.h"

namespace tributary::detail {
namespace {

[[noreturn]] void refuseGap(int grid) {
  throw Error("the pieces of grid " + std::to_string(grid) +
              " leave a gap along an axis, or their coordinates do not increase; repair the "
              "extents or coordinates where the pieces are made");
}

[[noreturn]] void refuseDifference(int grid, const std::string& what) {
  throw Error("the pieces of grid " + std::to_string(grid) + " disagree in " + what +
              "; give them different grid numbers");
}

[[noreturn]] void refuseWidths(int grid) {
  throw Error("the coordinates of grid " + std::to_string(grid) +
              " are too far apart or too close together; scale them");
}

/// The number of points along an axis cannot be larger: a limit on memory if a message is
/// malformed.
std::int64_t countCoordinates(const std::vector<PieceDescription>& pieces) {
  std::size_t count = 0;
  for (const PieceDescription& piece : pieces)
    for (const auto& coordinates : piece.coordinates) count += coordinates.size();
  return static_cast<std::int64_t>(count);
}

/// A grid as its pieces know it.
struct GridModel {
  PieceSummary first;         // of its first piece
  std::array<int, 6> extent;  // of all pieces
};

std::map<int, GridModel> modelGrids(const std::vector<PieceDescription>& pieces) {
  std::map<int, GridModel> models;
  for (const PieceDescription& piece : pieces) {
    const PieceSummary& s = piece.summary;
    GridModel& model = models.emplace(s.grid, GridModel{s, s.extent}).first->second;
    const PieceSummary& first = model.first;
    if (first.uniform != s.uniform ||
        (s.uniform && (first.origin != s.origin || first.spacing != s.spacing)))
      refuseDifference(s.grid, "origin or spacing");
    for (std::size_t a = 0; a < 3; ++a) {
      model.extent[2 * a] = std::min(model.extent[2 * a], s.extent[2 * a]);
      model.extent[2 * a + 1] = std::max(model.extent[2 * a + 1], s.extent[2 * a + 1]);
    }
  }
  return models;
}

/// A grid whose rectilinear coordinates are not known yet.
WholeGrid makeGrid(int number, const GridModel& model, std::int64_t coordinates) {
  WholeGrid whole{std::make_shared<StructuredGrid>(), {}};
  whole.grid->number = number;
  for (std::size_t a = 0; a < 3; ++a) {
    const double spacing = model.first.spacing[a];
    const int first = model.extent[2 * a];
    GridAxis& axis = whole.grid->axes[a];
    axis.cells = pointsAlong(model.extent, a) - 1;
    axis.uniform = model.first.uniform != 0;
    axis.spacing = spacing;
    axis.inverse = 1 / spacing;
    axis.origin = model.first.origin[a] + spacing * first;
    axis.slack = 1e-6 * spacing;
    if (axis.cells < 0) refuseMessage("a grid without points");
    if (axis.cells > std::numeric_limits<std::int32_t>::max())
      throw Error("grid " + std::to_string(number) + " has " + std::to_string(axis.cells) +
                  " cells along an axis, too many; use extents of pieces that are less far apart");
    if (!axis.uniform && axis.cells >= coordinates) refuseGap(number);
    if (!axis.uniform)
      axis.coordinates.assign(index(axis.cells) + 1, std::numeric_limits<double>::quiet_NaN());
    whole.firstIndex[a] = first;
  }
  return whole;
}

/// Copies the coordinates of a rectilinear piece to its grid.
void addCoordinates(const PieceDescription& piece, WholeGrid& whole) {
  for (std::size_t a = 0; a < 3; ++a) {
    const std::vector<double>& values = piece.coordinates[a];
    std::vector<double>& c = whole.grid->axes[a].coordinates;
    const std::size_t first = index(piece.summary.extent[2 * a] - whole.firstIndex[a]);
    if (first + values.size() > c.size())
      refuseMessage("coordinates outside of the extent of a grid");
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (c[first + i] == c[first + i] && c[first + i] != values[i])
        refuseDifference(piece.summary.grid, "coordinates");
      c[first + i] = values[i];
    }
  }
}

/// The first cell that may hold a point of each of many equal intervals.
void fillBuckets(GridAxis& axis) {
  const std::vector<double>& c = axis.coordinates;
  const std::size_t buckets = index(2 * axis.cells);
  axis.bucketInverse = static_cast<double>(buckets) / (c.back() - c[0]);
  axis.buckets.assign(buckets, std::numeric_limits<std::int32_t>::max());
  const auto bucketOf = [&](double p) {
    return std::clamp<std::int64_t>(static_cast<std::int64_t>((p - c[0]) * axis.bucketInverse), 0,
                                    static_cast<std::int64_t>(buckets) - 1);
  };
  // A cell enters every bucket that one of its points may be sorted into, roundings included.
  for (std::size_t i = 0; i < axis.inverseWidth.size(); ++i) {
    for (auto b = bucketOf(c[i]); b <= bucketOf(c[i + 1]); ++b) {
      std::int32_t& entry = axis.buckets[index(b)];
      entry = std::min(entry, static_cast<std::int32_t>(i));
    }
  }
}

/// Computes the other members of a rectilinear axis, whose coordinates are complete.
void finishAxis(int number, GridAxis& axis) {
  const std::vector<double>& c = axis.coordinates;
  for (std::size_t i = 0; i < c.size(); ++i)
    if (!(c[i] == c[i]) || (i > 0 && !(c[i] > c[i - 1]))) refuseGap(number);
  axis.origin = c[0];
  if (axis.cells == 0) {
    axis.slack = 1e-6 * std::max(1.0, std::fabs(c[0]));
    return;
  }
  constexpr double Largest = std::numeric_limits<double>::max();
  const double extent = c.back() - c[0];
  if (!(extent <= Largest)) refuseWidths(number);
  axis.spacing = extent / static_cast<double>(axis.cells);
  for (std::size_t i = 0; i + 1 < c.size(); ++i) {
    const double inverse = 1 / (c[i + 1] - c[i]);
    if (!(2 * inverse <= Largest)) refuseWidths(number);  // bucketInverse is not larger
    axis.inverseWidth.push_back(inverse);
  }
  fillBuckets(axis);
}

}  // namespace

Bytes describePieces(const std::vector<StructuredPiece>& pieces) {
  Writer writer;
  for (const StructuredPiece& piece : pieces) {
    writer.value(
        PieceSummary{piece.grid, piece.extent, piece.uniform, piece.origin, piece.spacing});
    for (const std::vector<double>& coordinates : piece.coordinates)
      writer.range(piece.uniform ? std::vector<double>() : coordinates);
  }
  return writer.take();
}

PieceDescription readPiece(Reader& reader) {
  PieceDescription piece;
  piece.summary = reader.value<PieceSummary>();
  for (std::size_t a = 0; a < 3; ++a)
    if (pointsAlong(piece.summary.extent, a) < 1) refuseMessage("a piece without points");
  for (std::vector<double>& coordinates : piece.coordinates) reader.rangeInto(coordinates);
  return piece;
}

std::map<int, WholeGrid> assembleGrids(const std::vector<PieceDescription>& pieces) {
  const std::int64_t coordinates = countCoordinates(pieces);
  std::map<int, WholeGrid> grids;
  for (const auto& [number, model] : modelGrids(pieces))
    grids.emplace(number, makeGrid(number, model, coordinates));
  for (const PieceDescription& piece : pieces)
    if (!piece.summary.uniform) addCoordinates(piece, grids.at(piece.summary.grid));
  for (auto& [number, whole] : grids)
    for (GridAxis& axis : whole.grid->axes)
      if (!axis.uniform) finishAxis(number, axis);
  return grids;
}

}  // namespace tributary::detail
