// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Advection/detail/GridAssembly.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "Tributary/Base/Bytes.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"

namespace tributary::detail {
namespace {

/// What all ranks must know of a piece to agree on its grid.
struct PieceSummary {
  int grid;
  std::array<int, 6> extent;
  std::int32_t uniform;
  std::array<double, 3> origin, spacing;
};

[[noreturn]] void refuseGap(int grid) {
  throw Error("the pieces of grid " + std::to_string(grid) +
              " leave a gap along an axis, or their coordinates do not increase");
}

/// @param summaries  of the pieces of all ranks
/// @param coordinateBytes  by rank, those of its pieces that are not uniform
std::map<int, std::shared_ptr<StructuredGrid>> assemble(
    const std::vector<PieceSummary>& summaries, const std::vector<Bytes>& coordinateBytes,
    std::map<int, std::array<int, 3>>& firstIndex) {
  std::int64_t coordinates = 0;  // and the ranges' lengths: no grid has so many along an axis
  for (const auto& bytes : coordinateBytes)
    coordinates += static_cast<std::int64_t>(bytes.size() / sizeof(double));

  std::map<int, std::array<int, 6>> whole;
  std::map<int, PieceSummary> model;
  for (const auto& s : summaries) {
    const auto known = model.emplace(s.grid, s).first->second;
    if (known.uniform != s.uniform ||
        (s.uniform && (known.origin != s.origin || known.spacing != s.spacing)))
      throw Error("the pieces of grid " + std::to_string(s.grid) +
                  " disagree in origin or spacing; give them different grid numbers");
    auto& extent = whole.emplace(s.grid, s.extent).first->second;
    for (std::size_t a = 0; a < 3; ++a) {
      extent[2 * a] = std::min(extent[2 * a], s.extent[2 * a]);
      extent[2 * a + 1] = std::max(extent[2 * a + 1], s.extent[2 * a + 1]);
    }
  }

  std::map<int, std::shared_ptr<StructuredGrid>> grids;
  for (const auto& [number, extent] : whole) {
    auto grid = std::make_shared<StructuredGrid>();
    const PieceSummary& m = model.at(number);
    for (std::size_t a = 0; a < 3; ++a) {
      GridAxis& axis = grid->axes[a];
      axis.cells = pointsAlong(extent, a) - 1;
      axis.uniform = m.uniform != 0;
      axis.spacing = m.spacing[a];
      axis.inverse = 1 / m.spacing[a];
      axis.origin = m.origin[a] + m.spacing[a] * extent[2 * a];
      axis.slack = 1e-6 * m.spacing[a];
      if (!axis.uniform && axis.cells >= coordinates) refuseGap(number);
      if (!axis.uniform)
        axis.coordinates.assign(static_cast<std::size_t>(axis.cells) + 1,
                                std::numeric_limits<double>::quiet_NaN());
      firstIndex[number][a] = extent[2 * a];
    }
    grids.emplace(number, std::move(grid));
  }

  // The coordinates travel in the order of the summaries: by rank, then by piece.
  std::size_t at = 0;
  for (const auto& bytes : coordinateBytes) {
    Reader reader(bytes);
    for (; at < summaries.size() && !reader.atEnd(); ++at) {
      const auto& s = summaries[at];
      if (s.uniform) continue;
      for (std::size_t a = 0; a < 3; ++a) {
        const auto values = reader.range<double>();
        auto& c = grids.at(s.grid)->axes[a].coordinates;
        const auto first = static_cast<std::size_t>(s.extent[2 * a] - firstIndex[s.grid][a]);
        if (first + values.size() > c.size()) throw Error("malformed coordinates of a grid");
        for (std::size_t i = 0; i < values.size(); ++i) {
          if (c[first + i] == c[first + i] && c[first + i] != values[i])
            throw Error("the pieces of grid " + std::to_string(s.grid) +
                        " disagree in coordinates; give them different grid numbers");
          c[first + i] = values[i];
        }
      }
    }
  }
  for (auto& [number, grid] : grids)
    for (GridAxis& axis : grid->axes) {
      if (axis.uniform) continue;
      auto& c = axis.coordinates;
      for (std::size_t i = 0; i < c.size(); ++i)
        if (!(c[i] == c[i]) || (i > 0 && !(c[i] > c[i - 1]))) refuseGap(number);
      axis.origin = c[0];
      if (axis.cells == 0) {
        axis.slack = 1e-6 * std::max(1.0, std::fabs(c[0]));
        continue;
      }
      axis.spacing = (c.back() - c[0]) / static_cast<double>(axis.cells);
      for (std::size_t i = 0; i + 1 < c.size(); ++i)
        axis.inverseWidth.push_back(1 / (c[i + 1] - c[i]));
      const auto buckets = static_cast<std::size_t>(2 * axis.cells);
      axis.bucketInverse = static_cast<double>(buckets) / (c.back() - c[0]);
      axis.buckets.assign(buckets, std::numeric_limits<std::int32_t>::max());
      // A cell enters every bucket that one of its points may be sorted into, roundings included.
      for (std::size_t i = 0; i < axis.inverseWidth.size(); ++i) {
        const auto bucketOf = [&](double p) {
          return std::clamp<std::int64_t>(
              static_cast<std::int64_t>((p - c[0]) * axis.bucketInverse), 0,
              static_cast<std::int64_t>(buckets) - 1);
        };
        for (auto b = bucketOf(c[i]); b <= bucketOf(c[i + 1]); ++b) {
          auto& entry = axis.buckets[static_cast<std::size_t>(b)];
          entry = std::min(entry, static_cast<std::int32_t>(i));
        }
      }
    }
  return grids;
}

}  // namespace

std::map<int, std::shared_ptr<StructuredGrid>> assembleGrids(
    Transport& transport, const std::vector<StructuredPiece>& pieces,
    std::map<int, std::array<int, 3>>& firstIndex) {
  std::vector<PieceSummary> mine;
  Writer writer;
  for (const auto& piece : pieces) {
    mine.push_back({piece.grid, piece.extent, piece.uniform, piece.origin, piece.spacing});
    if (!piece.uniform)
      for (const auto& c : piece.coordinates) writer.range(c);
  }
  const auto summaries = allgatherv(transport, mine);
  const auto coordinateBytes = allgatherBytes(transport, writer.take());
  std::map<int, std::shared_ptr<StructuredGrid>> grids;
  collectively(transport, [&] { grids = assemble(summaries, coordinateBytes, firstIndex); });
  return grids;
}

}  // namespace tributary::detail
