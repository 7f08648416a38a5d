// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "Advection/Flows.h"
#include "Support/Threads.h"
#include "Support/World.h"
#include "Tributary/Advection/Domain.h"
#include "Tributary/Advection/MeshField.h"

namespace tributary::testing {

/// A whole mesh, to be cut into pieces.
struct WholeMesh {
  std::vector<Vector> points;
  std::vector<std::uint8_t> types;
  std::vector<std::vector<std::int64_t>> cells;
};

enum class MeshKind { Tetrahedra, Hexahedra, Voxels, Wedges, Pyramids, Mixed };

/// The box [-1, 1]^3 with n cells along each edge, each cut as `kind` says; inner points are moved
/// by up to `jitter` of the spacing (not with voxels).
inline WholeMesh makeMesh(MeshKind kind, int n, double jitter = 0.25) {
  WholeMesh mesh;
  const auto at = [&](int i, int j, int k) {
    return (std::int64_t(k) * (n + 1) + j) * (n + 1) + i;
  };
  for (int k = 0; k <= n; ++k)
    for (int j = 0; j <= n; ++j)
      for (int i = 0; i <= n; ++i) {
        const int index[3] = {i, j, k};
        Vector x;
        for (std::size_t a = 0; a < 3; ++a) {
          x[a] = -1 + 2.0 * index[a] / n;
          if (kind != MeshKind::Voxels && index[a] > 0 && index[a] < n) {
            const auto bits = mix(std::uint64_t(at(i, j, k)) * 3 + a) >> 11;
            x[a] += jitter * 2 / n * (double(bits) / double(1ull << 53) - 0.5);
          }
          x[a] = static_cast<float>(x[a]);  // as most files have it
        }
        mesh.points.push_back(x);
      }
  const auto add = [&](std::uint8_t type, std::vector<std::int64_t> points) {
    mesh.types.push_back(type);
    mesh.cells.push_back(std::move(points));
  };
  for (int k = 0; k < n; ++k)
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i) {
        std::int64_t q[8];
        for (int b = 0; b < 8; ++b) q[b] = at(i + (b & 1), j + ((b >> 1) & 1), k + (b >> 2));
        MeshKind here = kind;
        // Neighbors of different kinds share quadrilaterals: layers of hexahedra and wedges.
        if (kind == MeshKind::Mixed) here = j % 2 ? MeshKind::Hexahedra : MeshKind::Wedges;
        switch (here) {
          case MeshKind::Tetrahedra:
            for (const auto& t : {std::array<int, 4>{0, 1, 3, 7},
                                  {0, 1, 7, 5},
                                  {0, 5, 7, 4},
                                  {0, 3, 2, 7},
                                  {0, 6, 4, 7},
                                  {0, 2, 6, 7}})
              add(10, {q[t[0]], q[t[1]], q[t[2]], q[t[3]]});
            break;
          case MeshKind::Voxels:
            add(11, {q, q + 8});
            break;
          case MeshKind::Wedges:
            // Prisms along y, so that quadrilaterals toward j - 1 and j + 1 are cut in triangles
            // only where the neighbor is cut alike.
            add(13, {q[0], q[1], q[5], q[2], q[3], q[7]});
            add(13, {q[0], q[5], q[4], q[2], q[7], q[6]});
            break;
          case MeshKind::Pyramids: {
            Vector center{};
            for (const auto p : q)
              for (std::size_t a = 0; a < 3; ++a) center[a] += mesh.points[std::size_t(p)][a] / 8;
            const auto c = std::int64_t(mesh.points.size());
            mesh.points.push_back(center);
            for (const auto& f : {std::array<int, 4>{0, 2, 6, 4},
                                  {1, 5, 7, 3},
                                  {0, 4, 5, 1},
                                  {2, 3, 7, 6},
                                  {0, 1, 3, 2},
                                  {4, 6, 7, 5}})
              add(14, {q[f[0]], q[f[1]], q[f[2]], q[f[3]], c});
            break;
          }
          default:
            add(12, {q[0], q[1], q[3], q[2], q[4], q[5], q[7], q[6]});
            break;
        }
      }
  return mesh;
}

/// How a whole mesh is stored and cut.
struct MeshSetup {
  WholeMesh mesh;
  Flow flow = abc;
  Flow laterFlow;   ///< At the end of the interval; empty for a steady field.
  Flow laterPlace;  ///< Where a point is at the end of the interval; empty if points stay.
  /// Velocity by the number of the point too; if empty, `flow`.
  std::function<Vector(std::int64_t, const Vector&)> flowOf;
  bool isDouble = false;
  bool cellCentered = false;
  bool copies = false;  ///< Each cell has points of its own.
  bool globalIds = false;
  int dimension = 3;
  int blocksPerPiece = 1;
  int pieces = 1;
  /// Which piece a cell goes to; by default any.
  std::function<int(std::int64_t)> pieceOf;
};

struct MeshDomain {
  struct Arrays {
    std::vector<double> points, laterPoints, velocity, laterVelocity;
    std::vector<float> floatVelocity, floatLaterVelocity;
    std::vector<std::uint8_t> types;
    std::vector<std::int64_t> offsets{0}, connectivity, ids;
  };
  std::vector<std::unique_ptr<Arrays>> arrays;
  std::vector<MeshPiece> pieces;
  Domain domain{{}, Assignment(std::vector<std::int64_t>{}), {}, {}};
};

/// Collective: every rank makes its pieces (piece p on rank p % ranks) with points of its own, so
/// that the points of interfaces are doubled.
inline std::unique_ptr<MeshDomain> makeMeshDomain(Transport& transport, const MeshSetup& s) {
  auto out = std::make_unique<MeshDomain>();
  for (int p = transport.rank(); p < s.pieces; p += transport.size()) {
    auto arrays = std::make_unique<MeshDomain::Arrays>();
    std::map<std::int64_t, std::int64_t> local;
    std::vector<Vector> velocity, laterVelocity;
    for (std::size_t c = 0; c < s.mesh.cells.size(); ++c) {
      const int home =
          s.pieceOf ? s.pieceOf(std::int64_t(c)) : int(mix(c) % std::uint64_t(s.pieces));
      if (home != p) continue;
      if (s.copies) local.clear();
      arrays->types.push_back(s.mesh.types[c]);
      Vector center{}, laterCenter{};
      for (const auto point : s.mesh.cells[c]) {
        const auto added = local.emplace(point, std::int64_t(arrays->ids.size()));
        const Vector& x = s.mesh.points[std::size_t(point)];
        if (added.second) {
          arrays->points.insert(arrays->points.end(), x.begin(), x.end());
          arrays->ids.push_back(point);
          if (!s.cellCentered) velocity.push_back(s.flowOf ? s.flowOf(point, x) : s.flow(x));
          const Vector later = s.laterPlace ? s.laterPlace(x) : x;
          arrays->laterPoints.insert(arrays->laterPoints.end(), later.begin(), later.end());
          if (!s.cellCentered && s.laterFlow) laterVelocity.push_back(s.laterFlow(later));
        }
        arrays->connectivity.push_back(added.first->second);
        const Vector later = s.laterPlace ? s.laterPlace(x) : x;
        for (std::size_t a = 0; a < 3; ++a) {
          center[a] += x[a] / double(s.mesh.cells[c].size());
          laterCenter[a] += later[a] / double(s.mesh.cells[c].size());
        }
      }
      arrays->offsets.push_back(std::int64_t(arrays->connectivity.size()));
      if (s.cellCentered) velocity.push_back(s.flow(center));
      if (s.cellCentered && s.laterFlow) laterVelocity.push_back(s.laterFlow(laterCenter));
    }
    const auto store = [&](const std::vector<Vector>& vectors, std::vector<double>& doubles,
                           std::vector<float>& floats) -> ArrayView {
      for (const Vector& v : vectors) doubles.insert(doubles.end(), v.begin(), v.end());
      floats.assign(doubles.begin(), doubles.end());
      return {s.isDouble ? static_cast<const void*>(doubles.data()) : floats.data(), s.isDouble,
              std::int64_t(vectors.size())};
    };
    MeshPiece piece;
    piece.piece = int(out->pieces.size());
    piece.points = {arrays->points.data(), true, std::int64_t(arrays->points.size() / 3)};
    if (arrays->laterPoints != arrays->points) {
      piece.laterPoints = piece.points;
      piece.laterPoints.data = arrays->laterPoints.data();
    }
    piece.types = arrays->types;
    piece.offsets = arrays->offsets;
    piece.connectivity = arrays->connectivity;
    piece.velocity = store(velocity, arrays->velocity, arrays->floatVelocity);
    if (s.laterFlow)
      piece.laterVelocity = store(laterVelocity, arrays->laterVelocity, arrays->floatLaterVelocity);
    piece.cellCentered = s.cellCentered;
    if (s.globalIds) piece.globalPointIds = arrays->ids;
    out->pieces.push_back(piece);
    out->arrays.push_back(std::move(arrays));
  }
  const auto blocks = std::int64_t(out->pieces.size()) * s.blocksPerPiece;
  Assignment assignment = Assignment::gather(transport, blocks);
  std::vector<BlockId> first;
  for (std::size_t p = 0; p < out->pieces.size(); ++p)
    first.push_back(assignment.first(transport.rank()) + BlockId(p) * s.blocksPerPiece);
  // References are made on one rank, without threads.
  const ParallelFor loop = transport.rank() == 1 ? onThreads(3, 7) : ParallelFor(serialFor);
  auto made =
      makeMeshBlocks(transport, out->pieces, s.blocksPerPiece, s.dimension, first, nullptr, loop);
  out->domain = makeDomain(transport, std::move(assignment), std::move(made));
  return out;
}

}  // namespace tributary::testing
