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

/// A point of a block by its number there.
using SpacePoint = std::int64_t;

/// Blocks of simplices (triangles or tetrahedra) that together are one triangulation: what fields
/// are given on and interpolated in. Its points have numbers that are the same on all ranks; a
/// point, and a facet of a simplex, may belong to several blocks, a simplex to one.
///
/// Collective calls must be made by all ranks of the transport that it was made with, and throw
/// Error on all ranks if they do on one.
class SimplicialSpace {
 public:
  virtual ~SimplicialSpace() = default;

  const Assignment& assignment() const { return assignment_; }
  /// 2 or 3.
  int dimension() const { return dimension_; }
  /// The axes in which simplices extend, `dimension()` of them: a vector's components there count.
  const std::array<int, 3>& axes() const { return axes_; }
  std::size_t blocks() const { return pointCount_.size(); }
  std::int64_t points(std::size_t block) const { return pointCount_[block]; }

  /// The number on all ranks. Not negative.
  virtual std::int64_t idOf(std::size_t block, SpacePoint point) const = 0;
  virtual std::array<double, 3> placeOf(std::size_t block, SpacePoint point) const = 0;

  /// Vectors of `dimension()` components, the same bits on all blocks that share a point: those of
  /// the lowest block. Collective.
  /// @param vectors  of each point of each block three components, side by side
  std::vector<std::vector<double>> shareVectors(
      Transport& transport, const std::vector<Span<const double>>& vectors) const;
  /// The gradient of a field of numbers at each point: `dimension()` components, the same bits on
  /// all blocks that share a point. Collective.
  /// @param scalars  of each point of each block one
  std::vector<std::vector<double>> gradient(Transport& transport,
                                            const std::vector<Span<const double>>& scalars) const;

  /// Simplices come in groups that have a number.
  virtual std::int64_t groups(std::size_t block) const = 0;
  /// Called with the points of a simplex in the order of their ids.
  using Visit = std::function<void(const std::array<SpacePoint, 4>&)>;
  /// Calls `visit` for each simplex of groups [begin, end) of a block in which it may be that of
  /// the flags of its points no bit is set in all.
  /// @param flags  of each point; a simplex with a bit that all its points have may be left out
  virtual void forEachSimplex(std::size_t block, std::int64_t begin, std::int64_t end,
                              const std::uint8_t* flags, const Visit& visit) const = 0;

 protected:
  SimplicialSpace(Assignment assignment, int dimension, const std::array<int, 3>& axes)
      : assignment_(std::move(assignment)), dimension_(dimension), axes_(axes) {}
  void setPoints(std::vector<std::int64_t> count) { pointCount_ = std::move(count); }

  /// Overwrites values of points that are not the block's own by those of the lowest block.
  virtual void fetch(Transport& transport, std::vector<std::vector<double>>& values,
                     int components) const = 0;
  virtual std::vector<std::vector<double>> slopes(
      Transport& transport, const std::vector<Span<const double>>& scalars) const = 0;

 private:
  void check(Transport& transport, const std::vector<Span<const double>>& values,
             int components) const;

  Assignment assignment_;
  int dimension_;
  std::array<int, 3> axes_;
  std::vector<std::int64_t> pointCount_;
};

/// The points of a grid with straight axes, two or three of which have more than one point.
struct GridAxes {
  /// Coordinates along each axis, ascending, of the whole grid; the same on all ranks.
  std::array<std::vector<double>, 3> coordinates;
};

/// The points of a block: from the first to the last along each axis.
struct GridExtent {
  std::array<std::int64_t, 3> first{}, last{};
};

/// A grid, each cell of which is cut into two triangles or six tetrahedra along the diagonal from
/// its lowest to its highest corner (H. Freudenthal, 1942). Blocks share the points between them;
/// their cells must not overlap, and may leave holes. The gradient is that of central differences,
/// one-sided where the grid or the blocks end. Values of a layer of points around a block travel
/// with each call; every rank knows the extents of all blocks.
///
/// Points of a block are numbered along x first, then y, then z. Collective. Throws Error on all
/// ranks if arguments are wrong on one.
/// @param extents  of each block of this rank; along an axis with several points at least two
std::unique_ptr<SimplicialSpace> makeGridSpace(Transport& transport, const Assignment& assignment,
                                               GridAxes axes, std::vector<GridExtent> extents);

/// The simplices of one block, and all points of these. The caller keeps the arrays.
struct SimplexBlock {
  Span<const double> coordinates;  ///< Three of each point; of those of triangles x and y count.
  Span<const std::int64_t> ids;    ///< Of each point: not negative, the same on all ranks.
  Span<const std::int64_t> simplices;  ///< Of each `dimension + 1` points of the block.
};

/// A mesh of triangles in the plane of x and y (dimension 2) or of tetrahedra (3). Simplices that
/// touch must do so in a whole facet, edge or point, and a facet must not have more than two. The
/// gradient at a point is the mean of those of the simplices around it, weighted by their size.
///
/// Collective. Throws Error on all ranks if arguments are wrong on one.
/// @param blocks  of this rank
std::unique_ptr<SimplicialSpace> makeMeshSpace(Transport& transport, const Assignment& assignment,
                                               int dimension, std::vector<SimplexBlock> blocks);

}  // namespace tributary
