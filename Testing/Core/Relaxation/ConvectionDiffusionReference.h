// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Eigen/SparseCore>
#include <Eigen/SparseLU>
#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "Support/World.h"
#include "Tributary/Relaxation/ConvectionDiffusion.h"

namespace tributary::testing {

using Kind = SideCondition::Kind;
using Cell = std::array<std::int64_t, 3>;

inline double random01(std::uint64_t key) {
  return double(mix(key) >> 11) * 0x1p-53;
}

/// Cells of unequal widths.
inline CellGrid randomGrid(const Cell& cells, std::uint64_t seed) {
  CellGrid grid;
  for (std::size_t a = 0; a < 3; ++a) {
    grid.ends[a].push_back(random01(seed + a) - 0.5);
    for (std::int64_t i = 0; i < cells[a]; ++i)
      grid.ends[a].push_back(grid.ends[a].back() + 0.1 +
                             0.1 * random01(seed + 1000 * a + std::uint64_t(i)));
  }
  return grid;
}

inline CellGrid uniformGrid(const Cell& cells, double width) {
  CellGrid grid;
  for (std::size_t a = 0; a < 3; ++a)
    for (std::int64_t i = 0; i <= cells[a]; ++i) grid.ends[a].push_back(double(i) * width);
  return grid;
}

inline CellRange whole(const CellGrid& grid) {
  return {{0, 0, 0}, {grid.along(0), grid.along(1), grid.along(2)}};
}

/// The velocity along an axis as a function of the face's position in the grid of faces across it.
using Velocity = std::function<double(std::size_t axis, const Cell& face)>;

inline FaceFlow faceVelocities(const CellRange& box, const Velocity& velocity) {
  FaceFlow faces;
  for (std::size_t a = 0; a < 3; ++a) {
    CellRange range = box;
    ++range.hi[a];
    for (auto k = range.lo[2]; k < range.hi[2]; ++k)
      for (auto j = range.lo[1]; j < range.hi[1]; ++j)
        for (auto i = range.lo[0]; i < range.hi[0]; ++i)
          faces.velocity[a].push_back(velocity(a, {i, j, k}));
  }
  return faces;
}

/// Whether nothing comes through a face across an axis.
using Closed = std::function<bool(std::size_t axis, const Cell& face)>;

/// The same equation written down face by face, from fluxes.
struct Reference {
  Eigen::SparseMatrix<double> matrix;
  Eigen::VectorXd fixed;  // what the sides add to the right hand side

  Reference(const CellGrid& grid, const ConvectionDiffusionTerms& terms, const Velocity& velocity,
            const Closed& closed = {}) {
    const Cell n{grid.along(0), grid.along(1), grid.along(2)};
    const auto number = [&](const Cell& c) { return int((c[2] * n[1] + c[1]) * n[0] + c[0]); };
    const auto size = int(n[0] * n[1] * n[2]);
    std::vector<Eigen::Triplet<double>> entries;
    fixed = Eigen::VectorXd::Zero(size);
    for (int i = 0; i < size; ++i) entries.emplace_back(i, i, terms.inverseStep + terms.decay);
    for (std::size_t a = 0; a < 3; ++a) {
      Cell f;
      for (f[2] = 0; f[2] < n[2] + (a == 2); ++f[2])
        for (f[1] = 0; f[1] < n[1] + (a == 1); ++f[1])
          for (f[0] = 0; f[0] < n[0] + (a == 0); ++f[0]) {
            Cell low = f, high = f;
            --low[a];
            const bool first = f[a] == 0, last = f[a] == n[a];
            const SideCondition& side = terms.sides[2 * a + (last ? 1 : 0)];
            const bool periodic = (first || last) && side.kind == Kind::Periodic;
            if (periodic) {
              if (last) continue;  // the same face as the first
              low[a] = n[a] - 1;
            }
            if (closed && closed(a, f)) continue;
            const double v = velocity(a, f);
            const auto cell = [&](const Cell& c, double outward, const Cell* other, double value,
                                  double distance) {
              // One cell's part in the face: flux out = max(outward, 0) u + min(outward, 0) u' ...
              const double h = grid.width(a, c[a]);
              const double own = std::max(outward, 0.0), in = std::max(-outward, 0.0);
              const double diffusion = distance > 0 ? terms.diffusivity / distance : 0;
              const double lets = terms.conservative ? own : in;
              entries.emplace_back(number(c), number(c), (lets + diffusion) / h);
              if (other)
                entries.emplace_back(number(c), number(*other), -(in + diffusion) / h);
              else
                fixed[number(c)] += (in + diffusion) / h * value;
            };
            if (!(first || last) || periodic) {
              const double distance = 0.5 * (grid.width(a, low[a]) + grid.width(a, high[a]));
              cell(low, v, &high, 0, distance);
              cell(high, -v, &low, 0, distance);
              continue;
            }
            const Cell& inside = first ? high : low;
            const double outward = first ? -v : v, h = grid.width(a, inside[a]);
            if (side.kind == Kind::Value)
              cell(inside, outward, nullptr, side.value, 0.5 * h);
            else if (side.kind == Kind::Flux)
              fixed[number(inside)] += side.value / h;
            else if (terms.conservative)
              cell(inside, std::max(outward, 0.0), nullptr, 0, 0);
          }
    }
    matrix.resize(size, size);
    matrix.setFromTriplets(entries.begin(), entries.end());
  }
};

/// The box in so many parts, halved along one axis after the other.
inline std::vector<CellRange> cut(const CellRange& box, std::size_t parts, std::size_t axis = 0) {
  if (parts <= 1) return {box};
  CellRange low = box, high = box;
  low.hi[axis] = high.lo[axis] = (box.lo[axis] + box.hi[axis] + 1) / 2;
  auto all = cut(low, parts / 2, (axis + 1) % 3);
  for (const CellRange& more : cut(high, parts - parts / 2, (axis + 1) % 3)) all.push_back(more);
  return all;
}

}  // namespace tributary::testing
