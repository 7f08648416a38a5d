// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "Tributary/Base/Bytes.h"
#include "Tributary/Base/Span.h"
#include "Tributary/Collective/Assignment.h"
#include "Tributary/Exchange/Message.h"
#include "Tributary/Exchange/detail/Queues.h"

namespace tributary {

/// What a callback sees of the exchange: its block's incoming messages and a way to send. Valid
/// during the callback. Messages of one block to another arrive in the order they were sent; what a
/// block sends to itself arrives at its next call. Local; not to be used by several threads at
/// once.
class Mailbox {
 public:
  Mailbox(detail::Queues& queues, BlockId block)
      : queues_(queues), inbox_(queues.inbox(block)), block_(block) {}

  BlockId block() const { return block_; }

  /// The next message for this block, if any. Messages left in the mailbox are there at the next
  /// call.
  std::optional<Message> dequeue() { return inbox_.dequeue(); }
  /// The same without a copy or an allocation: the way for small messages.
  std::optional<MessageView> dequeueView() { return inbox_.dequeueView(); }

  /// Sends `payload` (any size) to a block on any rank. A block of this rank receives a large
  /// buffer itself, not a copy; spare capacity of 64 bytes saves a copy of a large one to another
  /// rank. Throws Error if there is no such block.
  void enqueue(BlockId target, Bytes&& payload) {
    queues_.enqueue(block_, target, std::move(payload));
  }
  /// Sends a copy of `size` bytes.
  void enqueueRaw(BlockId target, const void* data, std::size_t size) {
    queues_.enqueue(block_, target, data, size);
  }
  /// Sends the bytes of a trivially copyable value.
  template <class T, class = std::enable_if_t<std::is_trivially_copyable_v<T>>>
  void enqueue(BlockId target, const T& value) {
    static_assert(!std::is_pointer_v<T>, "a pointer means nothing on another rank");
    enqueueRaw(target, &value, sizeof(T));
  }
  /// Sends the bytes of contiguous trivially copyable values, without their number.
  template <class T>
  void enqueue(BlockId target, Span<T> values) {
    static_assert(std::is_trivially_copyable_v<T>, "serialize this type into Bytes first");
    enqueueRaw(target, values.data(), values.size() * sizeof(T));
  }
  template <class T, class A>
  void enqueue(BlockId target, const std::vector<T, A>& values) {
    enqueue(target, Span<const T>(values.data(), values.size()));
  }

 private:
  detail::Queues& queues_;
  detail::Inbox& inbox_;
  BlockId block_;
};

}  // namespace tributary
