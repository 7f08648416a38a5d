#pragma once

#include <cstddef>
#include <deque>
#include <optional>

#include "Tributary/Bytes.h"
#include "Tributary/Exchange/Mailbox.h"

namespace tributary {

/// A block's incoming messages, in order of arrival. Small ones lie one after the other in a buffer
/// that is reused, so that a message costs no allocation; large ones keep the buffer they came in.
/// Arrivals become visible by open() only, so that the schedule decides in which call or round a
/// message is seen.
class Inbox {
 public:
  /// Payloads from this size on keep their own buffer.
  static constexpr std::size_t Large = 4096;

  void add(BlockId from, const void* data, std::size_t size);
  void add(BlockId from, Bytes&& payload);

  /// Makes visible what has arrived.
  void open();
  /// Ends the validity of the last view and gives its memory back.
  void close();

  std::optional<Message> dequeue();
  std::optional<MessageView> dequeueView();

  /// Messages not yet dequeued, visible or not.
  std::size_t unread() const { return visible_ + arrived_; }
  /// Of these, those that the next open() will show.
  std::size_t arrived() const { return arrived_; }
  void clear();

 private:
  struct Header {
    BlockId from;
    std::uint64_t size;  // from Large on: the payload is the next of large_
  };

  Header nextHeader();

  Bytes incoming_;
  Bytes reading_;
  std::size_t position_ = 0;  // in reading_
  std::size_t visible_ = 0;
  std::size_t arrived_ = 0;
  std::deque<Bytes> large_;
  Bytes viewed_;  // the large payload that the last view shows
};

}  // namespace tributary
