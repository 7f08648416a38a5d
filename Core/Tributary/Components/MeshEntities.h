// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "Tributary/Base/ParallelFor.h"
#include "Tributary/Base/Span.h"
#include "Tributary/Components/Connection.h"
#include "Tributary/Components/MeshLabels.h"

namespace tributary {

/// The cells of a mesh: a view of arrays that the caller owns. Cell types and the order of their
/// points are those of VTK.
struct MeshCells {
  Span<const std::uint8_t> types;
  Span<const std::int64_t> offsets;  ///< cells + 1 positions in connectivity.
  Span<const std::int64_t> connectivity;
  /// The position in `faces` at which the faces of a cell begin: their number, then for each face
  /// the number of its points and the points. Read only for polyhedra; may be empty without them.
  Span<const std::int64_t> faceLocations;
  Span<const std::int64_t> faces;
  std::int64_t pointCount = 0;
  /// Empty, or for each point the point that represents it (see mergeCoincident()).
  Span<const std::int64_t> canonical;
};

/// The faces, edges or points of the cells of a mesh, numbered from 0. Two cells share an entity if
/// they have one with the same points, in any order. With Through::Faces entities are the faces of
/// 3-D cells, the edges of 2-D cells and the points of 1-D cells; Through::Edges uses the edges of
/// 3-D cells instead of their faces; Through::Points uses the points of all cells. Polylines,
/// strips and poly-vertices have the entities of their lines, triangles and vertices; curved cells
/// have those of their corners. Duplicate points of a face count once. Faces with fewer than three
/// points, and edges with fewer than two, are omitted.
class MeshEntities {
 public:
  /// The entities of each cell.
  CellEntities cells() const { return {offsets_, entities_, count()}; }
  /// In bytes.
  [[nodiscard]] std::size_t memory() const;
  /// The number of entities.
  std::int64_t count() const { return static_cast<std::int64_t>(uses_.size()); }
  /// Whether only one cell has the entity.
  bool single(std::int64_t entity) const { return uses_[std::size_t(entity)] == 1; }
  /// The canonical points of an entity, ascending. Reads the arrays of the mesh, which must still
  /// exist.
  void pointsOf(std::int64_t entity, std::vector<std::int64_t>& points) const;

 private:
  class Numbering;
  friend MeshEntities numberEntities(const MeshCells& mesh, Through through,
                                     Span<const std::uint8_t> inRange,
                                     const ParallelFor& parallelFor);
  MeshCells mesh_;
  Through through_ = Through::Points;
  std::vector<std::int64_t> offsets_, entities_;
  std::vector<std::uint8_t> uses_;       // 0: no cell has it, 1: one
  std::vector<std::int64_t> ownerSlot_;  // but for points: a position in entities_ with the entity
};

/// Numbers the entities of the cells in range; the other cells have none. Local. The numbers do not
/// depend on threads. Edges and triangles (of fewer than 2^32 points) are identified by their
/// points, other faces by their least point and a hash of 64 bits: the probability of a false match
/// among 10^9 faces is 10^-9. Throws Error if the sizes of arrays do not match, if a cell refers to
/// a point that does not exist, or if the faces or edges of its type are unknown.
/// @param inRange  empty: all cells
[[nodiscard]] MeshEntities numberEntities(const MeshCells& mesh, Through through,
                                          Span<const std::uint8_t> inRange,
                                          const ParallelFor& parallelFor);

}  // namespace tributary
