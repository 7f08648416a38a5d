// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vtkDataObject.h>
#include <vtkSmartPointer.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "Tributary/Advection/Particle.h"
#include "Tributary/Base/Box.h"

namespace tributary {

/// The particles of this rank, by seed.
struct MapParticles {
  std::vector<std::array<double, 3>> x;  ///< The last positions,
  std::vector<double> time;              ///< and their times.
  std::vector<Reason> reasons;           ///< None while a particle can be continued.

  /// The memory of a number of particles in bytes.
  static std::size_t memory(std::size_t count) {
    return count * (sizeof(std::array<double, 3>) + sizeof(double) + sizeof(Reason));
  }
  void resize(std::size_t count) {
    x.resize(count);
    time.resize(count);
    reasons.resize(count);
  }
};

/// The seeds of a flow map on this rank: those of the points that it outputs, and those beside them
/// that differences need. Positions do not depend on the distribution of the data. All functions
/// are local.
class MapSeeds {
 public:
  virtual ~MapSeeds() = default;

  /// The number of seeds.
  [[nodiscard]] virtual std::int64_t count() const = 0;
  /// Gets the position of a seed.
  virtual void position(std::int64_t seed, double x[3]) const = 0;

  /// The number of points of the output.
  [[nodiscard]] virtual std::int64_t points() const = 0;
  /// The seed at a point of the output.
  [[nodiscard]] virtual std::int64_t seedAt(std::int64_t point) const = 0;
  /// The seeds beside a point of the output, below and above it along an axis; -1 where there is
  /// none.
  [[nodiscard]] virtual std::array<std::int64_t, 2> neighbors(std::int64_t point,
                                                              int axis) const = 0;
  /// Whether positions are differentiated along an axis.
  [[nodiscard]] bool isAlong(int axis) const { return along_[static_cast<std::size_t>(axis)]; }

 protected:
  std::array<bool, 3> along_{};
};

/// A uniform grid of points, of which each rank outputs an extent.
struct MapGrid {
  std::array<std::int64_t, 3> dimensions{1, 1, 1};  ///< Points along the axes.
  std::array<double, 3> origin{}, spacing{1, 1, 1};
  std::array<double, 3> end{};  ///< The last coordinates.

  /// The coordinate of the points with a number along an axis. Numbers beyond the grid are those of
  /// a longer one.
  [[nodiscard]] double coordinate(std::size_t axis, std::int64_t number) const;
};

/// The grid with these points in a box, from boundary to boundary; one point along an axis is at
/// the middle. Throws Error if there are several points along an axis without extent.
[[nodiscard]] MapGrid makeMapGrid(const Box& bounds, const int dimensions[3]);

/// Seeds at the points of an extent of a grid, and at those around it.
class GridSeeds : public MapSeeds {
 public:
  /// @param extent  of the output of this rank; may be empty
  /// @param periodic  by axis, whether there are seeds beyond the sides of the grid, too
  GridSeeds(const MapGrid& grid, const int extent[6], const std::array<bool, 3>& periodic);

  [[nodiscard]] std::int64_t count() const override;
  void position(std::int64_t seed, double x[3]) const override;
  [[nodiscard]] std::int64_t points() const override;
  [[nodiscard]] std::int64_t seedAt(std::int64_t point) const override;
  [[nodiscard]] std::array<std::int64_t, 2> neighbors(std::int64_t point, int axis) const override;

 private:
  using Indices = std::array<std::int64_t, 3>;
  /// Points in an extent, the first and the last along each axis included.
  struct Points {
    Indices low{}, high{-1, -1, -1};
    [[nodiscard]] std::int64_t along(std::size_t axis) const { return high[axis] - low[axis] + 1; }
    [[nodiscard]] std::int64_t count() const;
    [[nodiscard]] Indices at(std::int64_t number) const;
    [[nodiscard]] std::int64_t numberOf(const Indices& at) const;
  };

  MapGrid grid_;
  Points own_, all_;
};

/// Seeds at the points of data sets, and at a distance from them along the axes.
///
/// M. Farazmand, G. Haller, "Computing Lagrangian coherent structures from their variational
/// theory", Chaos 22 (2012), doi:10.1063/1.3690153: the auxiliary grid.
class PointSeeds : public MapSeeds {
 public:
  /// @param data  a data set or composite; its leaves' points in order
  /// @param along  the axes along which seeds are displaced
  /// @param distance  of the seeds from their points
  PointSeeds(vtkDataObject* data, const std::array<bool, 3>& along, double distance);

  [[nodiscard]] std::int64_t count() const override { return points() * perPoint_; }
  void position(std::int64_t seed, double x[3]) const override;
  [[nodiscard]] std::int64_t points() const override {
    return static_cast<std::int64_t>(places_.size());
  }
  [[nodiscard]] std::int64_t seedAt(std::int64_t point) const override { return point * perPoint_; }
  [[nodiscard]] std::array<std::int64_t, 2> neighbors(std::int64_t point, int axis) const override;

 private:
  std::vector<std::array<double, 3>> places_;
  std::vector<int> axes_;  // in ascending order
  std::int64_t perPoint_ = 1;
  double distance_;
};

}  // namespace tributary
