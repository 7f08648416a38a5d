// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "Tributary/Base/Bytes.h"
#include "Tributary/Base/Span.h"
#include "Tributary/Collective/Assignment.h"

namespace tributary {

/// A message taken out of a mailbox.
struct Message {
  BlockId from = 0;
  Bytes payload;
};

/// A message read in place: valid until the next call of a dequeue function or the callback's end.
struct MessageView {
  BlockId from = 0;
  Span<const std::byte> payload;
};

}  // namespace tributary
