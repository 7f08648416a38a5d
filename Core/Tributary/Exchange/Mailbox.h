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

/// The interface of a callback to the exchange: receives the messages of its block and sends
/// messages to other blocks. Valid during the call. Messages from one block to another are received
/// in the order in which they were sent. A message of a block to itself is received in its next
/// call. Local; not thread-safe.
class Mailbox {
 public:
  /// The mailbox of a block of this rank, for schedules.
  Mailbox(detail::Queues& queues, BlockId block)
      : queues_(queues), inbox_(queues.inbox(block)), block_(block) {}

  /// The block that is called.
  [[nodiscard]] BlockId block() const { return block_; }
  /// The mailbox of another block of this rank: messages are sent as by that block.
  [[nodiscard]] Mailbox of(BlockId other) const { return {queues_, other}; }

  /// Makes all messages visible that have arrived for this block. Under the asynchronous schedule,
  /// so that what a block waits for can be received in the call of another: see of().
  void refresh() { inbox_.open(); }

  /// Removes and returns the next message for this block, if there is one. Messages that a call
  /// does not dequeue remain for the next call.
  [[nodiscard]] std::optional<Message> dequeue() { return inbox_.dequeue(); }
  /// The same without a copy or an allocation. Preferable for small messages.
  [[nodiscard]] std::optional<MessageView> dequeueView() { return inbox_.dequeueView(); }

  /// Sends `payload` to a block on any rank. A large buffer is moved, not copied, to a block of
  /// this rank; to a block of another rank, if its capacity exceeds its size by at least 64 bytes.
  /// Throws Error if the block does not exist.
  void enqueue(BlockId target, Bytes&& payload) {
    queues_.enqueue(block_, target, std::move(payload));
  }
  /// Sends a copy of `size` bytes. Throws Error if the block does not exist.
  void enqueueRaw(BlockId target, const void* data, std::size_t size) {
    queues_.enqueue(block_, target, data, size);
  }
  /// Sends a trivially copyable value.
  template <class T, class = std::enable_if_t<std::is_trivially_copyable_v<T>>>
  void enqueue(BlockId target, const T& value) {
    static_assert(!std::is_pointer_v<T>, "a pointer is not valid on another rank");
    enqueueRaw(target, &value, sizeof(T));
  }
  /// Sends contiguous trivially copyable values as one message. Their number is not sent; the
  /// receiver divides the size of the message.
  template <class T>
  void enqueue(BlockId target, Span<T> values) {
    static_assert(std::is_trivially_copyable_v<T>, "serialize this type into Bytes first");
    enqueueRaw(target, values.data(), values.size() * sizeof(T));
  }
  /// The same for a vector.
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
