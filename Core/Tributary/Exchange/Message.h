// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "Tributary/Base/Bytes.h"
#include "Tributary/Base/Span.h"
#include "Tributary/Collective/Assignment.h"

namespace tributary {

/// A message that was removed from a mailbox.
struct Message {
  BlockId from = 0;  ///< the sending block
  Bytes payload;
};

/// A view of a message. Valid until the next call of a dequeue function or the end of the callback.
struct MessageView {
  BlockId from = 0;  ///< the sending block
  Span<const std::byte> payload;
};

}  // namespace tributary
