// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "Tributary/Collective/Assignment.h"
#include "Tributary/Components/SetLinks.h"
#include "Tributary/Components/detail/LabelPropagation.h"

namespace bench {

using tributary::BlockId;

/// Sets of connected elements of all blocks of a lattice, and the links between them.
struct ComponentProblem {
  std::vector<std::int64_t> sets;                      ///< By block.
  std::vector<std::vector<tributary::SetLink>> links;  ///< By block.
  std::int64_t elements = 0;                           ///< Voxels in range, or critical points.
  std::int64_t regions = 0;
  std::int64_t linked = 0;       ///< Sets with links.
  std::array<int, 3> lattice{};  ///< Of blocks.

  /// The blocks that a block has links with.
  std::vector<BlockId> neighbors(BlockId block) const;
  /// The up to 26 blocks around a block. @pre one block per rank
  std::vector<BlockId> surrounding(BlockId block) const;
};

/// spiral, comb (both one voxel wide, 2-D), noise (at the percolation threshold), blobs, critical
/// (trajectories of critical points in space and time), streaks (tracks through many images).
const std::vector<std::string>& componentProblems();

/// Voxels are connected through faces. Neighboring blocks lie on different ranks, as far as
/// possible. The same on every rank.
/// @param size  voxels per axis; 0: what suits the problem
ComponentProblem makeComponentProblem(const std::string& name, int size,
                                      const tributary::Assignment& assignment);

/// Algorithm 8 of the iexchange paper (doi:10.1109/LDAV53230.2021.00009), for any exchange.
struct LabelBlock {
  BlockId id;
  tributary::detail::LabelPropagation labels;
};
struct LabelMessage {
  BlockId from;
  tributary::detail::SetLabel label;
};
class LabelWork {
 public:
  using Block = LabelBlock;
  using Message = LabelMessage;

  LabelWork(const ComponentProblem& problem, const tributary::Assignment& assignment)
      : problem_(problem), assignment_(assignment) {}

  std::vector<LabelBlock> blocksOf(int rank) const;
  std::vector<BlockId> links(BlockId block) const { return problem_.neighbors(block); }

  /// @param receive  `bool receive(LabelMessage&)`: the next message, if any
  /// @param send  `send(BlockId, const LabelMessage&)`
  template <class Receive, class Send>
  void step(LabelBlock& block, Receive&& receive, Send&& send) const {
    LabelMessage message;
    while (receive(message)) block.labels.receive(assignment_, message.from, message.label);
    block.labels.sendChanged([&](BlockId to, const tributary::detail::SetLabel& label) {
      send(to, LabelMessage{block.id, label});
    });
  }

 private:
  const ComponentProblem& problem_;
  const tributary::Assignment& assignment_;
};

}  // namespace bench
