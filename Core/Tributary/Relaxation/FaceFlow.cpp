// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Relaxation/FaceFlow.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "Tributary/Base/Bytes.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Base/Span.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Collective/Records.h"

namespace tributary {
namespace {

/// What the cells beyond a box's sides contribute to the faces at the sides.
struct Beyond {
  SideValues velocity, solid;
};

void check(const CellRange& box, const CellFlow& cells) {
  const auto count = index(box.cells());
  const auto fits = [&](const auto& values) { return values.size() == count; };
  bool all = fits(cells.solid);
  for (std::size_t a = 0; a < 3; ++a) all = all && fits(cells.low[a]) && fits(cells.high[a]);
  if (!all)
    throw Error("the flow of " + std::to_string(count) + " cells needs " + std::to_string(count) +
                " velocities along each axis, and as many flags of solid cells; give one of each "
                "for each cell");
}

/// Collective. Exchanges what ranks know of the faces between their boxes.
Beyond beyondSides(Transport& transport, const CellGrid& grid, const std::array<bool, 3>& periodic,
                   const CellRange& box, const CellFlow& cells) {
  const std::vector<CellRange> boxes = allgather(transport, box);
  Beyond beyond;
  sendMessages(
      transport,
      [&](MessageOutbox& outbox) {
        // Before cells are counted, so that their number does not overflow.
        for (const CellRange& one : boxes)
          for (std::size_t a = 0; a < 3; ++a)
            if (one.hi[a] > one.lo[a] && (one.lo[a] < 0 || one.hi[a] > grid.along(a)))
              throw Error("the cells of a rank are not in the grid; give a box inside the grid");
        check(box, cells);
        beyond = {makeSides(box), makeSides(box)};
        const std::vector<double> solid(cells.solid.begin(), cells.solid.end());
        for (int rank = 0; rank < outbox.ranks(); ++rank)
          for (const SidePatch& patch : patchesBetween(grid, periodic, boxes[index(rank)], box)) {
            const auto axis = index(patch.side / 2);
            const auto& velocity = (patch.side % 2 == 0 ? cells.high : cells.low)[axis];
            std::vector<double> values(index(patch.cells.cells()));
            for (const auto* from : {&velocity, &solid}) {
              packPatches({patch}, box, *from, values);
              outbox.to(rank).range(values);
            }
          }
      },
      [&](std::vector<Reader>& readers) {
        for (std::size_t rank = 0; rank < readers.size(); ++rank)
          for (const SidePatch& patch : patchesBetween(grid, periodic, box, boxes[rank]))
            for (SideValues* to : {&beyond.velocity, &beyond.solid}) {
              const auto values = readers[rank].range<double>();
              if (values.size() != valuesOf({patch}))
                refuseMessage(std::to_string(values.size()) + " values for a side");
              unpackPatches({patch}, box, values, *to);
            }
      });
  return beyond;
}

/// One axis of a box and what is known of its cells.
struct FaceInterpolation {
  const CellGrid& grid;
  const CellRange& box;
  const CellFlow& cells;
  const Beyond& beyond;
  std::size_t axis;
  bool periodic;

  /// Adds the face below a cell; there is also one above the last cell along the axis.
  /// @param at  the cell, from the box's first one
  void add(const std::array<std::int64_t, 3>& at, FaceFlow& flow) const {
    const std::array<std::int64_t, 3> step{1, box.along(0), box.along(0) * box.along(1)};
    const std::size_t across = axis == 0 ? 1 : 0, up = axis == 2 ? 1 : 2;
    const bool first = at[axis] == 0, last = at[axis] == box.along(axis);
    const auto above = at[0] * step[0] + at[1] * step[1] + at[2] * step[2];
    const auto beside = index(at[up] * box.along(across) + at[across]);
    const auto whole = grid.along(axis), global = box.lo[axis] + at[axis];
    // At a side of the grid there is one cell.
    const bool hasLow = global > 0 || periodic, hasHigh = global < whole || periodic;
    double low = 0, high = 0;
    bool solid = false;
    if (hasLow) {
      const auto below = above - step[axis];
      low = first ? beyond.velocity[2 * axis][beside] : cells.high[axis][index(below)];
      solid = first ? beyond.solid[2 * axis][beside] != 0 : cells.solid[index(below)] != 0;
    }
    if (hasHigh) {
      high = last ? beyond.velocity[2 * axis + 1][beside] : cells.low[axis][index(above)];
      solid = solid ||
              (last ? beyond.solid[2 * axis + 1][beside] != 0 : cells.solid[index(above)] != 0);
    }
    double velocity = hasLow ? low : high;
    if (hasLow && hasHigh) {
      const double below = grid.width(axis, (global + whole - 1) % whole);
      velocity = low + (high - low) * (below / (below + grid.width(axis, global % whole)));
    }
    flow.velocity[axis].push_back(solid ? 0 : velocity);
    flow.closed[axis].push_back(solid ? 1 : 0);
  }
};

}  // namespace

FaceFlow flowBetween(Transport& transport, const CellGrid& grid,
                     const std::array<bool, 3>& periodic, const CellRange& box,
                     const CellFlow& cells) {
  const Beyond beyond = beyondSides(transport, grid, periodic, box, cells);
  FaceFlow flow;
  collectively(transport, [&] {
    if (box.empty()) return;
    for (std::size_t a = 0; a < 3; ++a) {
      const FaceInterpolation interpolation{grid, box, cells, beyond, a, periodic[a]};
      std::array<std::int64_t, 3> faces{box.along(0), box.along(1), box.along(2)};
      ++faces[a];
      flow.velocity[a].reserve(index(faces[0] * faces[1] * faces[2]));
      flow.closed[a].reserve(flow.velocity[a].capacity());
      std::array<std::int64_t, 3> at;
      for (at[2] = 0; at[2] < faces[2]; ++at[2])
        for (at[1] = 0; at[1] < faces[1]; ++at[1])
          for (at[0] = 0; at[0] < faces[0]; ++at[0]) interpolation.add(at, flow);
    }
  });
  return flow;
}

}  // namespace tributary
