// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "Tributary/Balance/Desks.h"
#include "Tributary/Balance/LendableWork.h"
#include "Tributary/Balance/Lending.h"
#include "Tributary/Collective/Assignment.h"
#include "Tributary/Exchange/Mailbox.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// The part of one rank in an exchange in which work is lent. A call of the callback for a block
/// first receives the messages of the block. Each call, of a block or of the desk, then calls
/// receive(), works in the block, or at the desk in copies of other ranks' blocks, and ends with
/// settle(). The desk returns LendableWork::anyCopyWaits(). Local.
class LendingDesk {
 public:
  /// @param transport  gives ranks and time; must outlive the object, like `work`
  /// @param blocks  which rank owns which block, without desks
  LendingDesk(const Transport& transport, const Assignment& blocks, LendableWork& work,
              const LendingOptions& options);

  /// The numbers of blocks and desks in the exchange.
  [[nodiscard]] const Desks& desks() const { return desks_; }
  /// The protocol, for its rates and statistics.
  [[nodiscard]] const Lending& lending() const { return lending_; }
  /// Whether a number of the exchange is that of this rank's desk.
  [[nodiscard]] bool isHere(BlockId address) const { return address == desk_; }

  /// Receives what other ranks' desks have sent, whichever block is called, because these ranks
  /// wait. Throws Error if a message is malformed.
  void receive(const Mailbox& mailbox);
  /// Lets Lending settle, and has the blocks and the desk called in which there is work now.
  void settle(const Mailbox& mailbox);

 private:
  Lending::Post postOf(const Mailbox& desk) const;

  const int rank_;
  const Desks desks_;
  const BlockId desk_;
  LendableWork& work_;
  Lending lending_;
  bool isAwake_ = true;  // the desk will be called
};

}  // namespace tributary
