// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "Tributary/Model/OperationTimes.h"
#include "Tributary/Model/Subregion.h"
#include "Tributary/Model/detail/LatestValue.h"

namespace tributary::detail {

/// The layers of a subregion that one thread computes, in two alternating arrays, and the values
/// that the thread exchanges with others. Only the thread of the block may call its members, unless
/// a member is documented otherwise.
class JacobiBlock {
 public:
  /// The values that the thread publishes about its block.
  struct Report {
    DatedValues boundary;  ///< at the boundary of the subregion, in boundary order
    double residual = 0;   ///< sum of squares over the block
    /// The maximum of the residuals computed only with values that other threads published after
    /// the epoch `judged` began. The maximum is used because a thread that runs alone soon solves
    /// its own part, and its residual becomes small.
    double largest = 0;
    std::int64_t judged = 0;  ///< the epoch of `largest`
    std::int64_t iterations = 0;
  };

  /// @param box      the part of the block in the box of the subregion; it may be smaller than that
  ///                 box along the last axis only
  /// @param streams  whether to write new values with stores that bypass the caches
  JacobiBlock(const LaplaceProblem& problem, const Subregion& subregion, const CellRange& box,
              Captures captures, bool streams);

  const CellRange& box() const { return box_; }
  /// Connects two blocks of adjacent layers. Call before the threads begin.
  static void connect(JacobiBlock& below, JacobiBlock& above);

  /// Takes the latest values of other threads for the next step.
  /// @param epoch  the present epoch, assigned to values published from now on
  /// @return whether there were new values
  [[nodiscard]] bool take(std::int64_t epoch, OperationTimes* times);
  /// Performs one Jacobi step with these values, and publishes the outermost layers to the next
  /// blocks.
  /// @param together  receives the duration of all layers together, or null
  void compute(OperationTimes* times, OperationTimes* together);
  /// Computes the residual of the present values, with the values of other threads that were taken
  /// last, and stores it for the next report.
  double computeResidual(OperationTimes* times);
  /// Publishes the report.
  void publish(OperationTimes* times);

  /// The latest report of the block. Called by the communicating thread.
  const Report& newestReport() {
    static_cast<void>(report_.take());
    return report_.reading();
  }
  /// The indices of the boundary values of the block in the boundary of the subregion. Called by
  /// the communicating thread.
  const std::vector<std::size_t>& boundaryPlaces() const { return boundaryPlaces_; }
  /// Provides the halo values of the subregion for the next steps. Called by the communicating
  /// thread.
  void giveHalo(const DatedValues& halo);

  /// Whether the block needs values of other threads or ranks.
  bool dependsOnOthers() const;
  std::int64_t iterations() const { return iterations_; }
  double residual() const { return residual_; }

  /// Publishes the present outermost layers with the first epoch. Call only while no threads run.
  void show();
  /// The value at a point of the box. Call only while no threads run.
  double value(std::int64_t i, std::int64_t j, std::int64_t k) const {
    return values_[current_][index(i, j, k)];
  }

 private:
  /// The index of a ghost point of this block, and the index of its source value.
  struct Ghost {
    std::size_t to, from;
  };
  /// The connection to the adjacent block on one side.
  struct Neighboring {
    LatestValue<DatedValues>* incoming = nullptr;
    std::unique_ptr<LatestValue<DatedValues>> outgoing;
  };

  std::size_t index(std::int64_t i, std::int64_t j, std::int64_t k) const;
  /// The index of the first point of a layer, and the number of its points; both include the points
  /// around the layer.
  std::size_t layer(std::int64_t number) const;
  std::size_t layerSize() const;
  void computeLayers(std::int64_t first, std::int64_t count, std::vector<double>& to,
                     bool stream) const;
  void takeGhosts(const std::vector<Ghost>& ghosts);
  void takeNeighbor(std::size_t side);
  void publishNeighbor(std::size_t side);
  /// The index of the first row of a layer, and the number of its rows.
  std::size_t firstRow(std::int64_t layer) const;
  std::int64_t rowsOfLayer() const;

  LaplaceStencil stencil_;
  Captures captures_;
  bool streams_;
  std::size_t axis_;  ///< The axis of the layers: the last one.
  CellRange box_;
  std::array<std::int64_t, 3> pad_{};  ///< Points around the box along each axis.
  std::array<std::size_t, 3> strides_{};
  std::array<std::vector<double>, 2> values_;
  std::size_t current_ = 0;
  std::int64_t iterations_ = 0;
  double residual_ = 0;
  double largest_ = 0;
  std::int64_t judged_ = 0;
  std::int64_t epoch_ = 0;

  std::array<Neighboring, 2> next_;  ///< Below and above.
  /// Ghosts beside the layers of this block, beside the layers of the next blocks, and beyond the
  /// first and last layer of the subregion.
  std::vector<Ghost> sideGhosts_, neighborGhosts_, endGhosts_;
  std::vector<std::size_t> sidePoints_, endPoints_;  ///< Boundary points, as indices of values_.
  std::vector<std::size_t> boundaryPlaces_;          ///< Sides first, then ends.
  LatestValue<Report> report_;
  LatestValue<DatedValues> halo_;
};

}  // namespace tributary::detail
