// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "Tributary/Advection/Particle.h"
#include "Tributary/Advection/StepRules.h"
#include "Tributary/Advection/Trajectory.h"
#include "Tributary/Advection/Weights.h"
#include "Tributary/Balance/LendableWork.h"
#include "Tributary/Base/Box.h"
#include "Tributary/Base/Bytes.h"
#include "Tributary/Base/Span.h"
#include "Tributary/Collective/Assignment.h"

namespace tributary {

/// The quality of a cell as a match for a point, comparable across blocks and ranks. It is computed
/// from the cell only, so the best match does not depend on the partition.
struct CellMatch {
  double violation = std::numeric_limits<double>::infinity();  ///< 0 inside; else the distance.
  double size = 0;            ///< Cell length: the finer cell is preferred.
  double key[3] = {0, 0, 0};  ///< Center of the cell: ties go to the lexicographically smaller.
  /// Hash of points and velocity, for cells that coincide: equal only if both cells give the same
  /// result.
  std::uint64_t content = 0;
  std::int64_t block = -1;
  std::int32_t cell = -1;  ///< For FieldBlock::enter().

  /// Whether a cell matches.
  [[nodiscard]] bool found() const { return block >= 0; }
  /// Whether this match is preferred to another one.
  [[nodiscard]] bool betterThan(const CellMatch& other) const {
    if (violation != other.violation) return violation < other.violation;
    if (size != other.size) return size < other.size;
    for (int a = 0; a < 3; ++a)
      if (key[a] != other.key[a]) return key[a] < other.key[a];
    return content < other.content;
  }
};

/// A search for the cell of a point: see FieldBlock::find().
struct CellQuery {
  std::array<double, 3> point;
  CellMatch best;
  double share = 0;  ///< How far in the interval the time of the search is; 0 in a steady field.
};

/// A view of an array of tuples, float or double, which the caller owns.
struct ArrayView {
  const void* data = nullptr;
  bool isDouble = false;
  std::int64_t tuples = 0;
};

/// A block of a velocity field: its cells, their velocities, at two times if the field is unsteady,
/// and links to the neighboring blocks. The field does not change while particles are advanced;
/// const members are thread-safe, including those that cache results. All members are local.
class FieldBlock {
 public:
  virtual ~FieldBlock() = default;

  /// For advance(): particles stay active in the block only if the call would last too long.
  static constexpr std::int64_t ToTheEnd = std::numeric_limits<std::int64_t>::max();

  /// The global id of the block.
  BlockId id() const { return id_; }
  /// Index of the piece (leaf data set of this rank) that the block was cut from.
  int piece() const { return piece_; }

  /// A box that holds all points that find() can match, at any time.
  [[nodiscard]] virtual Box bounds() const = 0;

  /// Advances active particles of this block until each is finished, is seeking its cell, or
  /// belongs to another block (then particle.block names it, and particle.cell is a number for its
  /// enter()), or until some 10 to 100 milliseconds have passed. Appends the accepted positions to
  /// `log`.
  /// @param extraSteps  at least 1: the approximate number of steps made after the remaining
  ///                    particles fit into the lanes of a vector. Particles that are still in the
  ///                    block then may remain active for another call if the first one made
  ///                    progress.
  virtual void advance(const StepRules& rules, Span<Particle> particles, std::int64_t extraSteps,
                       TrajectoryLog& log) const = 0;

  /// Receives a particle from another block or a search: sets Particle::cell, the number that
  /// advance() of that block or find() gave, to the one that advance() of this block uses.
  /// @param cell  in, out: Particle::cell
  /// @return false if there is no such cell, as in a malformed message
  [[nodiscard]] virtual bool enter(std::int32_t& cell) const = 0;
  /// The reverse of enter(): the number for enter() of a copy of this block.
  [[nodiscard]] virtual std::int32_t leave(std::int32_t cell) const { return cell; }

  /// Replaces the best match of each query if a cell of this block is a better one. Memory accesses
  /// for the queries of one call overlap, so it is faster to pass many queries in one call.
  virtual void find(Span<CellQuery> queries) const = 0;

  /// Computes interpolation weights at points that this block recorded.
  /// @param rules  those of the trace; only the period and the interval are used
  /// @param out  receives the weights; out.wantGradients is an input
  virtual void weights(const StepRules& rules, Span<const TrajectoryPoint> points,
                       Weights& out) const = 0;

  /// Whether the points of the block move in the interval.
  [[nodiscard]] virtual bool moves() const { return false; }

  /// Blocks that hold all those that particles can reach from here through a link, ascending, each
  /// once.
  [[nodiscard]] virtual std::vector<BlockId> neighbors() const = 0;

  /// The memory that the block uses, in bytes, beyond the arrays that it views.
  [[nodiscard]] virtual std::size_t memory() const { return 0; }

  /// The velocities that the block views, at the points, the cells or the faces of its
  /// piece; none by default.
  [[nodiscard]] virtual ArrayView velocity() const { return {}; }
  /// Those at the end of the interval; none if the field is steady. See StepRules::interval.
  [[nodiscard]] virtual ArrayView laterVelocity() const { return {}; }

  /// What copies of a block are made of.
  enum class CopyKind : std::uint64_t {
    None,  ///< The block cannot be copied, as its cells are evaluated by the caller.
    Structured,
    Mesh
  };
  /// Whether copies of the block can be made, and which.
  [[nodiscard]] virtual CopyKind copyKind() const { return CopyKind::None; }
  /// The size of a copy.
  [[nodiscard]] virtual CopySize copySize() const { return {}; }
  /// Appends a copy, from which readBlock() makes a block. Particles take the same steps in it.
  virtual void writeCopy(Writer&) const {}
  /// Appends those tuples of an array of the piece that belong to the points of a copy, in its
  /// order.
  /// @param bytes  of a tuple
  virtual void writePointData(Writer& message, const void* tuples, std::size_t bytes) const {
    static_cast<void>(message), static_cast<void>(tuples), static_cast<void>(bytes);
  }
  /// The number of points of a copy.
  [[nodiscard]] virtual std::int64_t copiedPoints() const { return 0; }
  /// As writePointData(), of the cells of a copy.
  virtual void writeCellData(Writer& message, const void* tuples, std::size_t bytes) const {
    static_cast<void>(message), static_cast<void>(tuples), static_cast<void>(bytes);
  }
  /// The number of cells of a copy.
  [[nodiscard]] virtual std::int64_t copiedCells() const { return 0; }

 protected:
  /// A block with these id() and piece().
  FieldBlock(BlockId id, int piece) : id_(id), piece_(piece) {}

 private:
  BlockId id_;
  int piece_;
};

/// Moves a point to its image in the periodic box (StepRules::period).
inline void wrapIntoPeriod(const StepRules& rules, double p[3]) {
  for (int a = 0; a < 3; ++a)
    if (rules.period[a] > 0)
      p[a] -= rules.period[a] * std::floor((p[a] - rules.periodicOrigin[a]) / rules.period[a]);
}

}  // namespace tributary
