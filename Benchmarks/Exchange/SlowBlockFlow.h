// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "Tributary/Collective/Assignment.h"

namespace bench {

using tributary::BlockId;

/// What travels from block to block.
struct Tracer {
  float x[3];
  std::int32_t steps;
  std::int64_t id;
};

/// A hash of all members of a tracer.
std::uint64_t hashOf(const Tracer& tracer);

/// Where tracers begin. All but Sixteenth have the same number of them.
enum class FlowSeeds {
  Plane,      ///< On the plane x = 0.
  Sixteenth,  ///< On this plane, where y and z are below a quarter of the extent.
  Block,      ///< On this plane, all in the first block.
  Even        ///< In the middle of all blocks.
};

/// The synthetic flow of the iexchange paper (doi:10.1109/LDAV53230.2021.00009, section 4.1.1): the
/// velocity is along +x, slow in the blocks on the three-dimensional diagonal of the lattice and
/// fast in all others. With `laps`, the same box is closed to a ring along x, without slow blocks.
/// Lengths are in voxels.
struct FlowSettings {
  std::array<int, 3> voxels{{64, 64, 64}};
  std::array<int, 3> blocks{{1, 1, 1}};
  float fastSpeed = 10;
  float slowSpeed = 1;
  float stepVoxels = 1;  ///< Length of a step in fast blocks; a step's duration is the same in all.
  int seedsPerVoxel = 4;  ///< Along y and along z.
  FlowSeeds seeds = FlowSeeds::Plane;
  int laps = 0;        ///< 0: open box. Else tracers retire after laps * blocks[0] steps.
  bool dealt = false;  ///< Neighbors along x live on different ranks, as far as possible.
};

/// One block: its velocities at grid points, its seeds, and its retired tracers.
struct FlowBlock {
  BlockId id = 0;
  std::array<int, 3> lo{}, hi{};
  std::vector<float> velocity;  ///< 3 values a point, x fastest.
  std::vector<Tracer> waiting;  ///< Seeds that no callback has taken yet.
  std::uint64_t hash = 0;       ///< Sum over retired tracers; does not depend on their order.
  std::int64_t retired = 0;
  std::int64_t steps = 0;
};

/// The lattice of blocks and the work in it, the same under every library and schedule.
class SlowBlockFlow {
 public:
  using Block = FlowBlock;
  using Message = Tracer;

  SlowBlockFlow(const FlowSettings& settings, int ranks);

  const FlowSettings& settings() const { return settings_; }
  std::int64_t blockCount() const { return static_cast<std::int64_t>(ids_.size()); }
  std::int64_t slowBlocks() const;
  std::int64_t seedCount() const;
  /// Face neighbors of a block; symmetric.
  std::vector<BlockId> links(BlockId block) const;

  /// A block without field and seeds.
  FlowBlock outline(BlockId block) const;
  /// A block with its field, without seeds.
  FlowBlock makeBlock(BlockId block) const;
  /// The number of values of the field of a block.
  static std::size_t fieldSize(const FlowBlock& block);
  /// Restores the seeds of the block and clears its retired tracers.
  void seed(FlowBlock& block) const;

  /// Traces until the tracer leaves the block.
  /// @return the block that it enters, or -1 if it is retired
  BlockId advance(FlowBlock& block, Tracer& tracer) const;
  /// The same in an open box by the known speed, without interpolation: the block needs no field,
  /// and the tracer leaves it at its face.
  /// @param most  steps, at least 1
  /// @return the block itself if the tracer has not left it
  BlockId pass(FlowBlock& block, Tracer& tracer, std::int32_t most) const;

  /// The callback of D. Morozov et al., "IExchange: Asynchronous Communication and Termination
  /// Detection for Iterative Algorithms", LDAV 2021, doi:10.1109/LDAV53230.2021.00009, Algorithm 6:
  /// traces all waiting tracers and then all that `receive(tracer)` yields. Passes each to
  /// `send(target, tracer)` as soon as it leaves the block.
  template <class Receive, class Send>
  void step(FlowBlock& block, Receive&& receive, Send&& send) const {
    const auto trace = [&](Tracer& tracer) {
      const BlockId target = advance(block, tracer);
      if (target >= 0) send(target, tracer);
    };
    for (Tracer& tracer : block.waiting) trace(tracer);
    block.waiting.clear();
    Tracer tracer;
    while (receive(tracer)) trace(tracer);
  }

 private:
  std::array<int, 3> place(BlockId block) const;
  BlockId at(int i, int j, int k) const {
    return ids_[static_cast<std::size_t>(i + settings_.blocks[0] *
                                                 (j + std::int64_t(settings_.blocks[1]) * k))];
  }
  bool slow(const std::array<int, 3>& place) const;
  float speed(const std::array<int, 3>& place) const {
    return slow(place) ? settings_.slowSpeed : settings_.fastSpeed;
  }
  /// The number of seeds along an axis.
  int seedsAlong(int axis) const { return settings_.voxels[axis] * settings_.seedsPerVoxel; }
  int firstVoxel(int axis, int index) const {
    return static_cast<int>(std::int64_t(settings_.voxels[axis]) * index / settings_.blocks[axis]);
  }

  FlowSettings settings_;
  float duration_;
  std::vector<BlockId> ids_;                 ///< By place, x fastest.
  std::vector<std::array<int, 3>> places_;   ///< By id.
  std::array<std::vector<int>, 3> blockOf_;  ///< Per axis: index of the block of each voxel.
};

/// Factors `count` into three numbers as near to each other as can be, the largest along x.
std::array<int, 3> nearCube(int count);

}  // namespace bench
