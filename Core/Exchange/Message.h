#pragma once

#include "Tributary/Assignment.h"
#include "Tributary/Bytes.h"
#include "Tributary/Span.h"

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
