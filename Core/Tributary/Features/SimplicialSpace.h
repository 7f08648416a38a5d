// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "Tributary/Base/Span.h"
#include "Tributary/Collective/Assignment.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// The number of a point in its block.
using SpacePoint = std::int64_t;

/// Blocks of simplices (triangles or tetrahedra) that together form one triangulation, on which
/// fields are given and interpolated linearly. Its points have global ids, the same on all ranks. A
/// point or a facet may belong to several blocks; a simplex belongs to one block.
///
/// Collective members must be called by all ranks of the transport that the space was made with,
/// and throw Error on all ranks if they do on one.
class SimplicialSpace {
 public:
  virtual ~SimplicialSpace() = default;

  /// The assignment of blocks to ranks.
  const Assignment& assignment() const { return assignment_; }
  /// The dimension of the simplices: 2 or 3.
  int dimension() const { return dimension_; }
  /// The `dimension()` axes along which simplices extend; components of vectors along these are
  /// used.
  const std::array<int, 3>& axes() const { return axes_; }
  /// The number of local blocks.
  std::size_t blocks() const { return pointCount_.size(); }
  /// The number of points of a local block.
  std::int64_t points(std::size_t block) const { return pointCount_[block]; }

  /// The global id of a point, not negative.
  [[nodiscard]] virtual std::int64_t idOf(std::size_t block, SpacePoint point) const = 0;
  /// The coordinates of a point.
  [[nodiscard]] virtual std::array<double, 3> placeOf(std::size_t block,
                                                      SpacePoint point) const = 0;

  /// Makes the vectors at shared points equal: those of the lowest block. Collective.
  /// @param vectors  for each local block three components for each point, interleaved
  /// @return for each local block `dimension()` components for each point, the same bits on all
  ///         blocks that share a point
  [[nodiscard]] std::vector<std::vector<double>> shareVectors(
      Transport& transport, const std::vector<Span<const double>>& vectors) const;
  /// The gradient of a scalar field. Collective.
  /// @param scalars  for each local block one value for each point
  /// @return for each local block `dimension()` components for each point, the same bits on all
  ///         blocks that share a point
  [[nodiscard]] std::vector<std::vector<double>> gradient(
      Transport& transport, const std::vector<Span<const double>>& scalars) const;

  /// The number of groups of simplices of a block; groups are numbered from 0.
  [[nodiscard]] virtual std::int64_t groups(std::size_t block) const = 0;
  /// Called with the points of a simplex in the order of their ids.
  using Visit = std::function<void(const std::array<SpacePoint, 4>&)>;
  /// Calls `visit` for the simplices of groups [begin, end) of a block. Local.
  /// @param flags  of each point; a simplex may be skipped if all its points have a common bit
  virtual void forEachSimplex(std::size_t block, std::int64_t begin, std::int64_t end,
                              const std::uint8_t* flags, const Visit& visit) const = 0;

 protected:
  /// @param axes  see axes()
  SimplicialSpace(Assignment assignment, int dimension, const std::array<int, 3>& axes)
      : assignment_(std::move(assignment)), dimension_(dimension), axes_(axes) {}
  /// Sets the number of points of each block.
  void setPoints(std::vector<std::int64_t> count) { pointCount_ = std::move(count); }

  /// Collective. Overwrites the values of points that a lower block shares by those of the lowest
  /// block.
  virtual void fetch(Transport& transport, std::vector<std::vector<double>>& values,
                     int components) const = 0;
  /// Collective. See gradient().
  [[nodiscard]] virtual std::vector<std::vector<double>> slopes(
      Transport& transport, const std::vector<Span<const double>>& scalars) const = 0;

 private:
  /// Local. Throws Error if the numbers of values are wrong.
  void check(int rank, const std::vector<Span<const double>>& values, int components) const;

  Assignment assignment_;
  int dimension_;
  std::array<int, 3> axes_;
  std::vector<std::int64_t> pointCount_;
};

/// The axes of a rectilinear grid. Two or three of them have more than one point.
struct GridAxes {
  /// Coordinates along each axis, ascending, of the whole grid; the same on all ranks.
  std::array<std::vector<double>, 3> coordinates;
};

/// The points of a block: the range [first, last] along each axis.
struct GridExtent {
  std::array<std::int64_t, 3> first{}, last{};
};

/// Makes a grid, each cell of which is cut into two triangles or six tetrahedra along the diagonal
/// from its lowest to its highest corner (H. Freudenthal, 1942). Blocks share the points between
/// them; their cells must not overlap, and may leave holes. The gradient is computed by central
/// differences, which are one-sided at the ends of the grid and at holes. Each call of
/// SimplicialSpace::gradient() exchanges the values of one layer of points around each block. Each
/// rank stores the extents of all blocks.
///
/// Points of a block are numbered along x first, then y, then z. Collective. Throws Error on all
/// ranks if an argument is invalid on one.
/// @param extents  of each local block; at least two points along an axis with several points
[[nodiscard]] std::unique_ptr<SimplicialSpace> makeGridSpace(Transport& transport,
                                                             const Assignment& assignment,
                                                             GridAxes axes,
                                                             std::vector<GridExtent> extents);

/// The simplices of one block, and their points. The caller keeps the arrays for the lifetime of
/// the space.
struct SimplexBlock {
  Span<const double> coordinates;      ///< x, y and z of each point; triangles ignore z.
  Span<const std::int64_t> ids;        ///< Of each point: not negative, the same on all ranks.
  Span<const std::int64_t> simplices;  ///< `dimension + 1` points of the block for each simplex.
};

/// Makes a mesh of triangles in the plane of x and y (dimension 2) or of tetrahedra (dimension 3).
/// Simplices may touch in whole facets, edges and points only, and at most two simplices share a
/// facet. The gradient at a point is the mean of those of the simplices around it, weighted by
/// their sizes.
///
/// Collective. Throws Error on all ranks if an argument is invalid on one.
/// @param blocks  the local blocks
[[nodiscard]] std::unique_ptr<SimplicialSpace> makeMeshSpace(Transport& transport,
                                                             const Assignment& assignment,
                                                             int dimension,
                                                             std::vector<SimplexBlock> blocks);

}  // namespace tributary
