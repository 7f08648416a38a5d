// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "Tributary/Base/Bytes.h"
#include "Tributary/Exchange/Message.h"
#include "Tributary/Exchange/detail/Runs.h"

namespace tributary::detail {

/// The incoming messages of a block, in order of arrival, as a list of segments. Small messages are
/// copied to a common buffer. Large messages, and large sections of a batch, stay in the buffer in
/// which they were received. Messages become visible only by open(), so the schedule decides in
/// which call or round a message is received.
class Inbox {
 public:
  /// The size in bytes from which a payload or a section of a batch stays in its buffer.
  static constexpr std::size_t Large = 4096;

  /// @param pool  must outlive the inbox
  explicit Inbox(BufferPool& pool) : pool_(&pool) {}

  /// The fast path for a message that continues the current run. @return false if add() is needed
  [[nodiscard]] bool tryAdd(BlockId from, const void* data, std::size_t size) {
    return arriving_.tryAdd(from, data, size);
  }
  void add(BlockId from, const void* data, std::size_t size);
  void add(BlockId from, Bytes&& payload);
  /// Adds runs of a received batch. @pre BatchReader has checked them
  void addRuns(const std::shared_ptr<Bytes>& batch, const std::byte* runs, std::size_t bytes,
               std::size_t messages);

  /// Makes all messages visible that have arrived.
  void open();
  /// Invalidates the last view and releases its memory.
  void close() {
    if (left_ == 0 && nextRun_ == segmentEnd_) release();
  }

  [[nodiscard]] std::optional<Message> dequeue();
  [[nodiscard]] std::optional<MessageView> dequeueView() {
    if (left_ == 0 && !openRun()) return std::nullopt;
    --left_;
    const MessageView view{from_, {at_, size_}};
    at_ += stride_;
    return view;
  }

  /// The number of messages that can be dequeued.
  std::size_t visible() const { return visible_ + left_; }
  /// The number of messages that the next open() makes visible.
  std::size_t arrived() const { return sealed_ + arriving_.messages(); }
  void clear() { *this = Inbox(*pool_); }

 private:
  /// Runs, or one payload.
  struct Segment {
    std::shared_ptr<Bytes> shared;  // the buffer, or
    Bytes own;
    const std::byte* begin;
    const std::byte* end;
    BlockId from = 0;
    bool whole = false;
  };

  /// Provides space for `bytes` in arriving_.
  void makeRoom(std::size_t bytes);
  /// Turns the contents of arriving_ into a segment.
  void seal();
  bool openRun();
  void release();

  // The current run, and the current segment's next.
  const std::byte* at_ = nullptr;
  std::size_t left_ = 0;
  std::size_t size_ = 0;
  std::size_t stride_ = 0;
  BlockId from_ = 0;
  const std::byte* nextRun_ = nullptr;
  const std::byte* segmentEnd_ = nullptr;

  RunWriter arriving_;
  Segment current_{};
  std::vector<Segment> open_;
  std::size_t nextSegment_ = 0;  // in open_
  std::vector<Segment> arrived_;
  std::size_t visible_ = 0;  // besides the current run
  std::size_t sealed_ = 0;   // messages in arrived_
  BufferPool* pool_;
};

}  // namespace tributary::detail
