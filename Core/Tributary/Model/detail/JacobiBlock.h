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

/// The layers of a subregion that one thread computes, in two arrays that take turns, and what it
/// exchanges with the others. Only its own thread calls it, but for the members that say so.
class JacobiBlock {
 public:
  /// What the thread says of its part.
  struct Report {
    DatedValues boundary;  ///< at the subregion's boundary, in boundary order
    double residual = 0;   ///< sum of squares over the block
    /// The largest residual of those computed with values that all others have had since `judged`
    /// began. The largest, since a thread that runs alone soon finds its own part solved.
    double largest = 0;
    std::int64_t judged = 0;  ///< an epoch
    std::int64_t iterations = 0;
  };

  /// @param box      its part of the subregion's box, all of it but along the last axis
  /// @param streams  whether what is written goes past the caches
  JacobiBlock(const LaplaceProblem& problem, const Subregion& subregion, const CellRange& box,
              Captures captures, bool streams);

  const CellRange& box() const { return box_; }
  /// Connects two blocks of neighboring layers. Before the threads begin.
  static void connect(JacobiBlock& below, JacobiBlock& above);

  /// The newest values of others become those of the next step.
  /// @param epoch  the present one, that what is published from now on is of
  /// @return whether there were any
  bool take(std::int64_t epoch, OperationTimes* times);
  /// One Jacobi step with them; publishes the outermost layers to the next blocks.
  /// @param together  where to note how long all layers take together
  void compute(OperationTimes* times, OperationTimes* together);
  /// The residual of the values as they are now, with those of others that were taken last, is
  /// computed and becomes part of the next report.
  double computeResidual(OperationTimes* times);
  /// Publishes the report.
  void publish(OperationTimes* times);

  /// Of the communicating thread: the block's newest report, and where its values go in the
  /// subregion's boundary.
  const Report& newestReport() {
    report_.take();
    return report_.reading();
  }
  const std::vector<std::size_t>& boundaryPlaces() const { return boundaryPlaces_; }
  /// Of the communicating thread: the subregion's halo values for the next steps.
  void giveHalo(const DatedValues& halo);

  /// Whether there is anybody whose values it needs.
  bool dependsOnOthers() const;
  std::int64_t iterations() const { return iterations_; }
  double residual() const { return residual_; }

  /// Publishes the outermost layers as they are now, as of the first epoch; while there are no
  /// threads.
  void show();
  /// Not while threads run: the value at a point of the box.
  double value(std::int64_t i, std::int64_t j, std::int64_t k) const {
    return values_[current_][index(i, j, k)];
  }

 private:
  /// A point that this block has beside its own ones, and where its value comes from.
  struct Ghost {
    std::size_t to, from;
  };
  /// The layer of a block next to this one.
  struct Neighboring {
    LatestValue<DatedValues>* incoming = nullptr;
    std::unique_ptr<LatestValue<DatedValues>> outgoing;
  };

  std::size_t index(std::int64_t i, std::int64_t j, std::int64_t k) const;
  /// Index of a layer's first point, those around it included, and how many they are.
  std::size_t layer(std::int64_t number) const;
  std::size_t layerSize() const;
  void computeLayers(std::int64_t first, std::int64_t count, std::vector<double>& to,
                     bool stream) const;
  void takeGhosts(const std::vector<Ghost>& ghosts);
  void takeNeighbor(std::size_t side);
  void publishNeighbor(std::size_t side);
  /// Index of the first row of a layer, and how many it has.
  std::size_t firstRow(std::int64_t layer) const;
  std::int64_t rowsOfLayer() const;

  LaplaceStencil stencil_;
  Captures captures_;
  bool streams_;
  std::size_t axis_;  ///< Of the layers: the last one.
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
  /// Beside the block's layers, beside the layers of the next blocks, and beyond the subregion's
  /// first and last layer.
  std::vector<Ghost> sideGhosts_, neighborGhosts_, endGhosts_;
  std::vector<std::size_t> sidePoints_, endPoints_;  ///< Of the boundary; indices of values_.
  std::vector<std::size_t> boundaryPlaces_;          ///< Sides first, then ends.
  LatestValue<Report> report_;
  LatestValue<DatedValues> halo_;
};

}  // namespace tributary::detail
