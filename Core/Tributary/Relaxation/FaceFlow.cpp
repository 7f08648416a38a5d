// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Relaxation/FaceFlow.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "Tributary/Base/Bytes.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Base/Span.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"

namespace tributary {
namespace {

/// What cells beyond a box's sides say of the faces at the sides.
struct Beyond {
  SideValues velocity, solid;
};

void check(const CellRange& box, const CellFlow& cells) {
  const auto count = index(box.cells());
  const auto fits = [&](const auto& values) { return values.size() == count; };
  bool all = fits(cells.solid);
  for (std::size_t a = 0; a < 3; ++a) all = all && fits(cells.low[a]) && fits(cells.high[a]);
  if (!all)
    throw Error("the flow of " + std::to_string(count) + " cells must be " + std::to_string(count) +
                " velocities along each axis, and as many marks of solid ones");
}

Beyond beyondSides(Transport& transport, const CellGrid& grid, const std::array<bool, 3>& periodic,
                   const CellRange& box, const CellFlow& cells) {
  const std::vector<CellRange> boxes = allgather(transport, box);
  const std::vector<double> solid(cells.solid.begin(), cells.solid.end());
  std::vector<Bytes> toEachRank;
  for (const CellRange& other : boxes) {
    Writer writer;
    for (const SidePatch& patch : patchesBetween(grid, periodic, other, box)) {
      const auto axis = index(patch.side / 2);
      const auto& velocity = (patch.side % 2 == 0 ? cells.high : cells.low)[axis];
      std::vector<double> values(index(patch.cells.cells()));
      for (const auto* from : {&velocity, &solid}) {
        packPatches({patch}, box, *from, values);
        writer.range(values);
      }
    }
    toEachRank.push_back(writer.take());
  }
  const std::vector<Bytes> received = exchangeBytes(transport, std::move(toEachRank));
  Beyond beyond{makeSides(box), makeSides(box)};
  collectively(transport, [&] {
    for (std::size_t rank = 0; rank < boxes.size(); ++rank) {
      Reader reader(received[rank]);
      for (const SidePatch& patch : patchesBetween(grid, periodic, box, boxes[rank]))
        for (SideValues* to : {&beyond.velocity, &beyond.solid}) {
          const auto values = reader.range<double>();
          if (values.size() != valuesOf({patch}))
            throw Error("malformed message: " + std::to_string(values.size()) +
                        " values for a side");
          unpackPatches({patch}, box, values, *to);
        }
    }
  });
  return beyond;
}

}  // namespace

FaceFlow flowBetween(Transport& transport, const CellGrid& grid,
                     const std::array<bool, 3>& periodic, const CellRange& box,
                     const CellFlow& cells) {
  collectively(transport, [&] { check(box, cells); });
  const Beyond beyond = beyondSides(transport, grid, periodic, box, cells);
  FaceFlow flow;
  if (box.empty()) return flow;
  const std::array<std::int64_t, 3> n{box.along(0), box.along(1), box.along(2)};
  const std::array<std::int64_t, 3> step{1, n[0], n[0] * n[1]};
  for (std::size_t a = 0; a < 3; ++a) {
    auto faces = n;
    ++faces[a];
    flow.velocity[a].reserve(index(faces[0] * faces[1] * faces[2]));
    flow.closed[a].reserve(flow.velocity[a].capacity());
    const auto whole = grid.along(a);
    const std::size_t across = a == 0 ? 1 : 0, up = a == 2 ? 1 : 2;
    std::array<std::int64_t, 3> at;
    for (at[2] = 0; at[2] < faces[2]; ++at[2])
      for (at[1] = 0; at[1] < faces[1]; ++at[1])
        for (at[0] = 0; at[0] < faces[0]; ++at[0]) {
          const bool first = at[a] == 0, last = at[a] == n[a];
          const auto above = at[0] * step[0] + at[1] * step[1] + at[2] * step[2];
          const auto beside = index(at[up] * n[across] + at[across]);
          const auto global = box.lo[a] + at[a];
          // At a side of the grid there is one cell.
          const bool hasLow = global > 0 || periodic[a], hasHigh = global < whole || periodic[a];
          double low = 0, high = 0;
          bool solid = false;
          if (hasLow) {
            low = first ? beyond.velocity[2 * a][beside] : cells.high[a][index(above - step[a])];
            solid =
                first ? beyond.solid[2 * a][beside] != 0 : cells.solid[index(above - step[a])] != 0;
          }
          if (hasHigh) {
            high = last ? beyond.velocity[2 * a + 1][beside] : cells.low[a][index(above)];
            solid = solid ||
                    (last ? beyond.solid[2 * a + 1][beside] != 0 : cells.solid[index(above)] != 0);
          }
          double velocity = hasLow ? low : high;
          if (hasLow && hasHigh) {
            const double below = grid.width(a, (global + whole - 1) % whole);
            velocity = low + (high - low) * (below / (below + grid.width(a, global % whole)));
          }
          flow.velocity[a].push_back(solid ? 0 : velocity);
          flow.closed[a].push_back(solid ? 1 : 0);
        }
  }
  return flow;
}

}  // namespace tributary
