#pragma once

#include <memory>
#include <vector>

#include "Tributary/Advection/FieldBlock.h"
#include "Tributary/Exchange/Assignment.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// A velocity field spread over the blocks of all ranks: what every rank must know to send a
/// particle anywhere. Memory: this rank's blocks and one box per block of the others.
struct Domain {
  std::vector<std::unique_ptr<FieldBlock>> blocks;  ///< Of this rank, in order of their ids.
  Assignment assignment;
  std::vector<Box> boxes;  ///< Of all blocks, by id.
  Box bounds;              ///< Of everything; empty if no rank has a cell.
};

/// Collective. Takes the blocks of this rank, whose ids must be those that `assignment` gives it.
Domain makeDomain(Transport& transport, Assignment assignment,
                  std::vector<std::unique_ptr<FieldBlock>> blocks);

}  // namespace tributary
