// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include "Tributary/Advection/FieldBlock.h"
#include "Tributary/Advection/StructuredField.h"
#include "Tributary/Base/PackedLists.h"
#include "Tributary/Base/ParallelFor.h"
#include "Tributary/Collective/Assignment.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// Finds the blocks whose boxes contain a point, by bins. Local.
class BoxIndex {
 public:
  BoxIndex() = default;
  /// @param boxes  of all blocks, by id
  explicit BoxIndex(const std::vector<Box>& boxes);

  /// The lowest block above `after` whose box contains the point, or -1.
  [[nodiscard]] BlockId next(const double point[3], BlockId after) const;
  const Box& bounds() const { return bounds_; }  ///< Of all boxes; empty if all are.

 private:
  std::int64_t binOf(int axis, double coordinate) const;

  std::vector<Box> boxes_;
  Box bounds_;
  std::int64_t bins_ = 1;        // per axis
  PackedLists<BlockId> blocks_;  // per bin, ascending
};

/// A velocity field that is distributed over the blocks of all ranks. Each rank has its own blocks
/// and the boxes of all blocks, so it can send a particle to any block.
struct Domain {
  std::vector<std::unique_ptr<FieldBlock>> blocks;  ///< Of this rank, in order of their ids.
  Assignment assignment;
  BoxIndex boxes;         ///< Of all blocks, by id.
  StructuredGrids grids;  ///< Of all structured blocks of all ranks.
  bool unsteady = false;  ///< Whether blocks have velocities at two times.
};

/// Collective. Makes a domain of the blocks of all ranks. Throws Error on all ranks if some blocks
/// have velocities at two times and others do not.
/// @param assignment  the same on all ranks
/// @param blocks  of this rank, in order of their ids, which are those that `assignment` gives it
/// @param grids  what makeStructuredBlocks() gave. Without it, no structured block is lent.
[[nodiscard]] Domain makeDomain(Transport& transport, Assignment assignment,
                                std::vector<std::unique_ptr<FieldBlock>> blocks,
                                StructuredGrids grids = {});

/// Local. Whether readBlock() of all ranks can read copies of a block.
[[nodiscard]] bool canBeCopied(const Domain& domain, const FieldBlock& block);
/// Local. Appends a copy of such a block.
void writeBlock(const FieldBlock& block, Writer& writer);
/// Local. Makes a block from a copy that writeBlock() of another rank has written. Throws Error if
/// it is malformed.
/// @param domain  the same as on the other rank
/// @param piece  FieldBlock::piece() of the copy
[[nodiscard]] std::unique_ptr<FieldBlock> readBlock(const Domain& domain, BlockId id, int piece,
                                                    Reader& reader,
                                                    const ParallelFor& parallelFor = serialFor);

}  // namespace tributary
