// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "Tributary/Base/ParallelFor.h"
#include "Tributary/Base/Span.h"
#include "Tributary/Components/Connection.h"
#include "Tributary/Components/MeshLabels.h"

namespace tributary {

/// A mesh's cells: a view of arrays that stay the caller's. Types and point orders are VTK's.
struct MeshCells {
  Span<const std::uint8_t> types;
  Span<const std::int64_t> offsets;  ///< cells + 1 positions in connectivity.
  Span<const std::int64_t> connectivity;
  /// Where in `faces` a cell's faces begin (their number, then per face the number of its points
  /// and the points); not read but for polyhedra, without which both may be empty.
  Span<const std::int64_t> faceLocations;
  Span<const std::int64_t> faces;
  std::int64_t pointCount = 0;
  /// Empty, or per point the one that stands for it (see mergeCoincident()).
  Span<const std::int64_t> canonical;
};

/// Which faces, edges or points the cells of a mesh have, numbered densely: what two cells list by
/// the same points, in whatever order, is one entity. What they are follows from Through: Faces
/// means a 3-D cell's faces, a 2-D cell's edges and a 1-D cell's points, Edges the same but of 3-D
/// cells the edges, Points always the points. Polylines, strips and poly-vertices have what their
/// lines, triangles and vertices have; curved cells what their corners make. Faces that use a point
/// twice have it once; those with less than three points left, and edges with less than two, are
/// none.
class MeshEntities {
 public:
  CellEntities cells() const { return {offsets_, entities_, count()}; }
  std::int64_t count() const { return static_cast<std::int64_t>(uses_.size()); }
  /// Whether only one cell has the entity.
  bool single(std::int64_t entity) const { return uses_[std::size_t(entity)] == 1; }
  /// The (canonical) points of an entity, ascending, from the mesh's arrays, which must still be
  /// there.
  void pointsOf(std::int64_t entity, std::vector<std::int64_t>& points) const;

 private:
  friend MeshEntities numberEntities(const MeshCells&, Through, Span<const std::uint8_t>,
                                     const ParallelFor&);
  MeshCells mesh_;
  Through through_ = Through::Points;
  std::vector<std::int64_t> offsets_, entities_;
  std::vector<std::uint8_t> uses_;       // 0: no cell has it, 1: one
  std::vector<std::int64_t> ownerSlot_;  // but for points: a position in entities_ with the entity
};

/// Numbers the entities of the cells in range; others get none. The numbers do not depend on
/// threads. Edges and (below 2^32 points) triangles are told apart by their points, other faces by
/// the least point and 64 bits of hash: among 10^9 a false match has a chance of 10^-9.
/// @param inRange  empty: all cells
/// Throws Error if sizes are off, a cell refers to a point that is not there, or its type has no
/// known faces or edges.
MeshEntities numberEntities(const MeshCells& mesh, Through through,
                            Span<const std::uint8_t> inRange, const ParallelFor& parallelFor);

}  // namespace tributary
