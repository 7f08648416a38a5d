// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Balance/LendingDesk.h"

#include <utility>

namespace tributary {

LendingDesk::LendingDesk(const Transport& transport, const Assignment& blocks, LendableWork& work,
                         const LendingOptions& options)
    : rank_(transport.rank()),
      desks_(blocks),
      desk_(desks_.deskOf(rank_)),
      work_(work),
      lending_(transport, blocks, work, options) {}

/// Messages are sent from the desk, so that they arrive in their order.
Lending::Post LendingDesk::postOf(const Mailbox& desk) const {
  return [this, desk = Mailbox(desk)](int to, Bytes&& message) mutable {
    desk.enqueue(desks_.deskOf(to), std::move(message));
  };
}

void LendingDesk::receive(const Mailbox& mailbox) {
  Mailbox desk = mailbox.of(desk_);
  desk.refresh();
  while (const auto message = desk.dequeueView()) {
    const int from = desks_.rankOf(message->from);
    if (from != rank_)  // else the desk was woken
      lending_.receive(from, message->payload, postOf(desk));
  }
}

void LendingDesk::settle(const Mailbox& mailbox) {
  Mailbox desk = mailbox.of(desk_);
  lending_.settle(postOf(desk));
  // A block or a desk that has returned false is called only after a message.
  for (const BlockId block : work_.takeRefilled())
    desk.enqueueRaw(desks_.addressOf(block), nullptr, 0);
  const bool called = isHere(mailbox.block());
  const bool waits = work_.anyCopyWaits();
  if (waits && !called && !isAwake_) desk.enqueue(desk_, char(0));
  isAwake_ = waits || (isAwake_ && !called);
}

}  // namespace tributary
