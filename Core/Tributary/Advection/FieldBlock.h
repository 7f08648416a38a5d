// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "Tributary/Advection/Particle.h"
#include "Tributary/Advection/StepRules.h"
#include "Tributary/Advection/Trajectory.h"
#include "Tributary/Base/Box.h"
#include "Tributary/Base/Span.h"
#include "Tributary/Collective/Assignment.h"

namespace tributary {

/// How well a cell holds a point, comparable across blocks and ranks. Every part is computed from
/// the cell alone, so the best match does not depend on the cut.
struct CellMatch {
  double violation = std::numeric_limits<double>::infinity();  ///< 0 inside, else how far outside.
  double size = 0;            ///< Cell length: the finer cell wins.
  double key[3] = {0, 0, 0};  ///< Center of the cell: the smaller, lexicographically, wins ties.
  std::uint64_t content = 0;  ///< Hash of points and velocity, for cells that coincide: equal only
                              ///< if it does not matter which of them is taken.
  std::int64_t block = -1;
  std::int32_t cell = -1;

  bool found() const { return block >= 0; }
  bool betterThan(const CellMatch& other) const {
    if (violation != other.violation) return violation < other.violation;
    if (size != other.size) return size < other.size;
    for (int a = 0; a < 3; ++a)
      if (key[a] != other.key[a]) return key[a] < other.key[a];
    return content < other.content;
  }
};

/// The interpolation of point data at a batch of recorded points: value(i) = sum over j < count[i]
/// of weight[i * stride + j] * data[id[i * stride + j]].
struct Weights {
  int stride = 0;
  bool wantGradients = false;    ///< Set by the caller.
  std::vector<int> count;        ///< Points of the cell, per recorded point.
  std::vector<std::int64_t> id;  ///< Point numbers in the piece that the block came from.
  std::vector<double> weight;
  std::vector<double> gradient;      ///< d weight / d (x, y, z): [(i * stride + j) * 3 + axis].
  std::vector<std::int64_t> cellId;  ///< Cell number in the piece, per recorded point.
};

/// One block's share of a steady velocity field: the cells it owns, their velocities, and the way
/// to the blocks beyond. Immutable while particles are advanced; const members are thread-safe.
class FieldBlock {
 public:
  virtual ~FieldBlock() = default;

  /// For advance(): no particle is left active here.
  static constexpr std::int64_t ToTheEnd = std::numeric_limits<std::int64_t>::max();

  BlockId id() const { return id_; }
  /// Index of the piece (leaf data set of this rank) that the block was cut from.
  int piece() const { return piece_; }

  /// Box that holds every point that find() may match.
  virtual Box bounds() const = 0;

  /// Advances active particles of this block until each finishes, seeks, or belongs to another
  /// block (then particle.block names it). Appends the accepted positions to `log`.
  /// @param extraSteps  at least 1: about how many steps are still made once all particles that are
  ///                  left go side by side. Those that are here after them may stay active, for
  ///                  another call, if the first particle got further.
  virtual void advance(const StepRules& rules, Span<Particle> particles, std::int64_t extraSteps,
                       TrajectoryLog& log) const = 0;

  /// Whether a particle may be told to be in this cell: guards against malformed messages.
  virtual bool hasCell(std::int32_t cell) const = 0;

  /// Replaces `best` if a cell of this block holds `point` better.
  virtual void find(const double point[3], CellMatch& best) const = 0;

  /// Interpolation weights at points recorded by this block. `period` as in StepRules.
  virtual void weights(const StepRules& rules, Span<const TrajectoryPoint> points,
                       Weights& out) const = 0;

  /// The blocks that particles may reach from here through a link, ascending, without repetition.
  virtual std::vector<BlockId> neighbors() const = 0;

 protected:
  FieldBlock(BlockId id, int piece) : id_(id), piece_(piece) {}

 private:
  BlockId id_;
  int piece_;
};

/// A view of an array of tuples, float or double, that somebody else owns.
struct ArrayView {
  const void* data = nullptr;
  bool isDouble = false;
  std::int64_t tuples = 0;
};

/// Moves a point to its image in the periodic box (StepRules::period).
inline void wrapIntoPeriod(const StepRules& rules, double p[3]) {
  for (int a = 0; a < 3; ++a)
    if (rules.period[a] > 0)
      p[a] -= rules.period[a] * std::floor((p[a] - rules.periodicOrigin[a]) / rules.period[a]);
}

}  // namespace tributary
