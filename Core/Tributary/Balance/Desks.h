// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "Tributary/Collective/Assignment.h"
#include "Tributary/Exchange/Timeline.h"

namespace tributary {

/// The numbering of an exchange in which each rank has one more block, its desk, which receives the
/// messages of Lending. A rank without blocks has a desk, too. Local.
class Desks {
 public:
  /// @param blocks  of the exchange without desks
  explicit Desks(const Assignment& blocks);

  /// Of blocks and desks: for the Exchange.
  [[nodiscard]] const Assignment& assignment() const { return all_; }
  /// The number of a block in the exchange. Throws Error if the block does not exist.
  [[nodiscard]] BlockId addressOf(BlockId block) const { return block + blocks_.rankOf(block); }
  /// The number of a rank's desk in the exchange: the highest of the rank.
  [[nodiscard]] BlockId deskOf(int rank) const { return all_.first(rank + 1) - 1; }
  /// Whether a number of the exchange is that of a desk. Throws Error if it does not exist.
  [[nodiscard]] bool isDesk(BlockId address) const { return address == deskOf(rankOf(address)); }
  /// The block with a number of the exchange that is no desk.
  [[nodiscard]] BlockId blockAt(BlockId address) const { return address - rankOf(address); }
  /// The rank that owns a block or desk, by its number in the exchange.
  [[nodiscard]] int rankOf(BlockId address) const { return all_.rankOf(address); }

 private:
  Assignment blocks_, all_;
};

/// Gives the calls in a timeline the numbers of blocks instead of those of the exchange, and calls
/// of desks, which work in copies, the number -1. Local.
/// @param first  the entry to begin with
void renumber(Timeline& timeline, std::size_t first, const Desks& desks);

}  // namespace tributary
