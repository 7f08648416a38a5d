// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tributary {

/// The interpolation of point data at a batch of recorded points: the value at point i is the sum
/// over j < count[i] of weight(i, j) * data[id(i, j)]. The numbers of Lanes points lie side by
/// side, for the vectors of interpolateVectors() and interpolateScalars().
struct Weights {
  static constexpr std::size_t Lanes = 8;

  bool wantGradients = false;        ///< Set by the caller.
  std::size_t points = 0;            ///< Size of the batch.
  int corners = 0;                   ///< Upper bound of `count`.
  std::vector<std::int32_t> count;   ///< Points of the cell, per recorded point.
  std::vector<std::int64_t> cellId;  ///< Cell number in the piece, per recorded point.

  /// Sets the size of a batch. All ids are valid afterwards, and all other numbers are undefined.
  /// The last group of Lanes points is filled up with points without corners.
  void resize(std::size_t batch, int mostCorners) {
    points = batch;
    corners = mostCorners;
    const std::size_t groups = this->groups(), values = groups * std::size_t(corners);
    count.assign(groups * Lanes, 0);
    cellId.resize(groups * Lanes);
    ids_.assign(values, Ids{});
    values_.resize(values);
    if (wantGradients) gradients_.resize(3 * values);
  }

  /// The number of groups of Lanes points; the last one may be incomplete.
  std::size_t groups() const { return (points + Lanes - 1) / Lanes; }

  /// Point numbers in the piece that the block came from, of corner j of all points of a group.
  std::int64_t* ids(std::size_t group, int j) { return ids_[place(group, j)].of; }
  /// @overload
  const std::int64_t* ids(std::size_t group, int j) const { return ids_[place(group, j)].of; }
  /// The weights of corner j of all points of a group.
  double* weights(std::size_t group, int j) { return values_[place(group, j)].of; }
  /// @overload
  const double* weights(std::size_t group, int j) const { return values_[place(group, j)].of; }
  /// d weight / d x, y or z.
  double* gradients(std::size_t group, int j, int axis) {
    return gradients_[3 * place(group, j) + std::size_t(axis)].of;
  }
  /// @overload
  const double* gradients(std::size_t group, int j, int axis) const {
    return gradients_[3 * place(group, j) + std::size_t(axis)].of;
  }

  // The same of one point.
  /// The point number of corner j of a point.
  std::int64_t& id(std::size_t point, int j) { return ids(point / Lanes, j)[point % Lanes]; }
  /// @overload
  std::int64_t id(std::size_t point, int j) const { return ids(point / Lanes, j)[point % Lanes]; }
  /// The weight of corner j of a point.
  double& weight(std::size_t point, int j) { return weights(point / Lanes, j)[point % Lanes]; }
  /// @overload
  double weight(std::size_t point, int j) const { return weights(point / Lanes, j)[point % Lanes]; }
  /// The derivative of the weight of corner j of a point along an axis.
  double& gradient(std::size_t point, int j, int axis) {
    return gradients(point / Lanes, j, axis)[point % Lanes];
  }
  /// @overload
  double gradient(std::size_t point, int j, int axis) const {
    return gradients(point / Lanes, j, axis)[point % Lanes];
  }

 private:
  struct alignas(64) Ids {
    std::int64_t of[Lanes];
  };
  struct alignas(64) Values {
    double of[Lanes];
  };

  std::size_t place(std::size_t group, int j) const {
    return group * std::size_t(corners) + std::size_t(j);
  }

  std::vector<Ids> ids_;
  std::vector<Values> values_, gradients_;
};

}  // namespace tributary
