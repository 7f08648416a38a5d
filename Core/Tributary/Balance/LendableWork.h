// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "Tributary/Base/Bytes.h"
#include "Tributary/Collective/Assignment.h"

namespace tributary {

/// Work that waits in a block on one rank.
struct WaitingWork {
  BlockId block = -1;      ///< -1 if there is none.
  std::int64_t items = 0;  ///< That can be lent.
  double seconds = 0;      ///< That all of these are expected to take.
};

/// The size of a copy of a block.
struct CopySize {
  std::size_t message = 0;  ///< Bytes that writeCopy() writes.
  std::size_t memory = 0;   ///< An upper bound of the bytes that the copy will ever take.
};

/// A copy of another rank's block.
struct BlockCopy {
  BlockId block;
  std::size_t memory;  ///< CopySize::memory
};

/// The work of one rank that Lending moves between ranks: items that wait in blocks. An item can be
/// processed by any rank that has the block or a copy of it, with the same result.
///
/// All members are local and are called by Lending, inside of callbacks of an exchange.
class LendableWork {
 public:
  virtual ~LendableWork() = default;

  /// Whether nothing waits on this rank, in its blocks and in copies.
  [[nodiscard]] virtual bool idle() const = 0;
  /// Whether work waits in copies, for which the desk must be called: see LendingDesk.
  [[nodiscard]] virtual bool anyCopyWaits() const = 0;
  /// The own blocks that have got work back since the last call, which must be called.
  [[nodiscard]] virtual std::vector<BlockId> takeRefilled() = 0;
  /// The time that all work that waits here is expected to take.
  [[nodiscard]] virtual double expectedSeconds() const = 0;

  // As a lender.

  /// The block, or copy, with the most work that can be lent.
  [[nodiscard]] virtual WaitingWork fullest() const = 0;
  /// The work that can be lent of a block that fullest() has named, and that this rank still has.
  [[nodiscard]] virtual WaitingWork waitingIn(BlockId block) const = 0;
  /// The size of a copy of a block that fullest() has named.
  [[nodiscard]] virtual CopySize copySize(BlockId block) const = 0;
  /// Appends a copy of such a block.
  virtual void writeCopy(BlockId block, Writer& message) const = 0;
  /// Removes items from such a block and appends them.
  /// @param items  at most those that wait
  /// @param borrower  the rank that gets them
  virtual void lend(BlockId block, std::int64_t items, int borrower, Writer& message) = 0;

  // As a borrower.

  /// Whether this rank has a block, its own or a copy.
  [[nodiscard]] virtual bool has(BlockId block) const = 0;
  /// The copies that this rank has.
  [[nodiscard]] virtual std::vector<BlockCopy> copies() const = 0;
  /// Makes a copy of what writeCopy() has written. Throws Error if it is malformed.
  virtual void readCopy(BlockId block, Reader& message) = 0;
  /// Takes items that lend() has written, to the end of the message, into a block that this rank
  /// has, its own or a copy. Must see to it that they are processed. Throws Error if they are
  /// malformed.
  virtual void borrow(BlockId block, Reader& message) = 0;
  /// Whether no work waits in a copy.
  [[nodiscard]] virtual bool isUnused(BlockId copy) const = 0;
  /// Destroys an unused copy.
  /// @return what takeBack() of the block's owner must know; may be empty
  [[nodiscard]] virtual Bytes drop(BlockId copy) = 0;
  /// Receives what drop() of another rank has returned for a block of this rank. Throws Error if it
  /// is malformed.
  virtual void takeBack(BlockId block, Reader& message) = 0;
};

}  // namespace tributary
