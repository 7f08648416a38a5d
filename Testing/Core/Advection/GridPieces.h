// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "Advection/Flows.h"
#include "Tributary/Advection/Domain.h"
#include "Tributary/Advection/StructuredField.h"

namespace tributary::testing {

/// A grid over a box, and how it is stored and cut; every value is a function of its global index.
struct GridSetup {
  Flow flow = abc;
  Flow laterFlow;  ///< At the end of the interval; empty for a steady field.
  std::array<int, 3> points{{17, 17, 17}};
  Vector lo{{0, 0, 0}}, hi{{6.283185307179586, 6.283185307179586, 6.283185307179586}};
  bool uniform = true;
  bool isDouble = false;
  bool cellCentered = false;
  bool onFaces = false;  // each component in the middles of the faces across its axis
  int ghostLayers = 0;
  int pieces = 1;  // over all ranks: piece p lies on rank p % ranks
  int blocksPerPiece = 1;
  int firstIndex = 0;  // extents need not begin at 0
};

/// The arrays behind the blocks of a domain.
struct GridDomain {
  std::vector<std::vector<float>> floats;
  std::vector<std::vector<double>> doubles;
  std::vector<std::vector<std::uint8_t>> ghosts;
  std::vector<StructuredPiece> pieces;
  Domain domain{{}, Assignment(std::vector<std::int64_t>{}), {}, {}};
};

inline double gridCoordinate(const GridSetup& s, int axis, int index) {
  const auto a = static_cast<std::size_t>(axis);
  const int n = s.points[a] - 1;
  if (n == 0) return s.lo[a];
  const double spacing = (s.hi[a] - s.lo[a]) / n;
  if (s.uniform) return s.lo[a] + spacing * index;
  const double u = static_cast<double>(index) / n;  // uneven: widths differ by a factor of three
  return s.lo[a] + (s.hi[a] - s.lo[a]) * (u + 0.5 * u * u) / 1.5;
}

/// Collective over the ranks of the transport.
inline std::unique_ptr<GridDomain> makeGridDomain(Transport& transport, const GridSetup& s) {
  auto out = std::make_unique<GridDomain>();
  // Boxes of cells by repeated halving along the longest axis.
  struct Cells {
    std::array<int, 3> lo, hi;
  };
  std::vector<Cells> boxes{{{0, 0, 0}, {s.points[0] - 1, s.points[1] - 1, s.points[2] - 1}}};
  while (static_cast<int>(boxes.size()) < s.pieces) {
    std::size_t widest = 0;
    int axis = 0;
    for (std::size_t b = 0; b < boxes.size(); ++b)
      for (std::size_t a = 0; a < 3; ++a)
        if (boxes[b].hi[a] - boxes[b].lo[a] >
            boxes[widest].hi[std::size_t(axis)] - boxes[widest].lo[std::size_t(axis)]) {
          widest = b;
          axis = int(a);
        }
    Cells high = boxes[widest];
    const auto a = std::size_t(axis);
    high.lo[a] = (boxes[widest].lo[a] + 2 * boxes[widest].hi[a]) / 3;  // uneven on purpose
    boxes[widest].hi[a] = high.lo[a];
    boxes.push_back(high);
  }
  for (int b = transport.rank(); b < s.pieces; b += transport.size()) {
    StructuredPiece piece;
    piece.piece = static_cast<int>(out->pieces.size());
    Cells stored = boxes[std::size_t(b)];
    for (std::size_t a = 0; a < 3; ++a) {
      stored.lo[a] = std::max(0, stored.lo[a] - s.ghostLayers);
      stored.hi[a] = std::min(s.points[a] - 1, stored.hi[a] + s.ghostLayers);
      piece.extent[2 * a] = stored.lo[a] + s.firstIndex;
      piece.extent[2 * a + 1] = stored.hi[a] + s.firstIndex;
      const double spacing = s.points[a] > 1 ? (s.hi[a] - s.lo[a]) / (s.points[a] - 1) : 1.0;
      piece.spacing[a] = spacing;
      piece.origin[a] = s.lo[a] - spacing * s.firstIndex;
      if (!s.uniform)
        for (int i = stored.lo[a]; i <= stored.hi[a]; ++i)
          piece.coordinates[a].push_back(gridCoordinate(s, int(a), i));
    }
    piece.uniform = s.uniform;
    const auto top = [&](std::size_t a) {
      return s.cellCentered && s.points[a] > 1 ? stored.hi[a] - 1 : stored.hi[a];
    };
    const auto velocities = [&](const Flow& flow) -> ArrayView {
      std::vector<double> values;
      for (int k = stored.lo[2]; k <= top(2); ++k)
        for (int j = stored.lo[1]; j <= top(1); ++j)
          for (int i = stored.lo[0]; i <= top(0); ++i) {
            const Vector x{gridCoordinate(s, 0, i), gridCoordinate(s, 1, j),
                           gridCoordinate(s, 2, k)};
            const Vector next{gridCoordinate(s, 0, i + 1), gridCoordinate(s, 1, j + 1),
                              gridCoordinate(s, 2, k + 1)};
            for (std::size_t c = 0; c < 3; ++c) {
              Vector at = x;
              for (std::size_t a = 0; s.onFaces && a < 3; ++a)
                if (a != c) at[a] = (x[a] + next[a]) / 2;
              values.push_back(flow(at)[c]);
            }
          }
      const auto& floats = out->floats.emplace_back(values.begin(), values.end());
      const auto& doubles = out->doubles.emplace_back(std::move(values));
      return {s.isDouble ? static_cast<const void*>(doubles.data()) : floats.data(), s.isDouble,
              static_cast<std::int64_t>(doubles.size() / 3)};
    };
    std::vector<std::uint8_t> ghosts;
    if (s.ghostLayers > 0)
      for (int k = stored.lo[2]; k < std::max(stored.hi[2], stored.lo[2] + 1); ++k)
        for (int j = stored.lo[1]; j < std::max(stored.hi[1], stored.lo[1] + 1); ++j)
          for (int i = stored.lo[0]; i < std::max(stored.hi[0], stored.lo[0] + 1); ++i) {
            bool own = true;
            const std::array<int, 3> cell{{i, j, k}};
            for (std::size_t a = 0; a < 3; ++a)
              if (s.points[a] > 1)
                own = own && cell[a] >= boxes[std::size_t(b)].lo[a] &&
                      cell[a] < boxes[std::size_t(b)].hi[a];
            ghosts.push_back(own ? 0 : 1);
          }
    piece.velocity = velocities(s.flow);
    if (s.laterFlow) piece.laterVelocity = velocities(s.laterFlow);
    piece.cellCentered = s.cellCentered;
    piece.onFaces = s.onFaces;
    out->ghosts.push_back(std::move(ghosts));
    piece.ghosts = out->ghosts.back();
    out->pieces.push_back(std::move(piece));
  }
  const auto blocks = static_cast<std::int64_t>(out->pieces.size()) * s.blocksPerPiece;
  Assignment assignment = Assignment::gather(transport, blocks);
  std::vector<BlockId> first;
  for (std::size_t p = 0; p < out->pieces.size(); ++p)
    first.push_back(assignment.first(transport.rank()) +
                    static_cast<BlockId>(p) * s.blocksPerPiece);
  StructuredGrids grids;
  auto made = makeStructuredBlocks(transport, out->pieces, s.blocksPerPiece, first, &grids);
  out->domain = makeDomain(transport, std::move(assignment), std::move(made), std::move(grids));
  return out;
}

}  // namespace tributary::testing
