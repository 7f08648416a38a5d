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

/// A block's incoming messages, in order of arrival, as segments. Small messages are gathered in
/// buffers of their own; many small ones in a batch, and large ones, stay in the buffer they came
/// in. Arrivals become visible by open() only, so that the schedule decides in which call or round
/// a message is seen.
class Inbox {
 public:
  /// From this size on a payload, or a batch's section, stays in its buffer.
  static constexpr std::size_t Large = 4096;

  /// @param pool  outlives the inbox
  explicit Inbox(BufferPool& pool) : pool_(&pool) {}

  /// The quick way for a small message after another one like it. @return false: take add().
  bool tryAdd(BlockId from, const void* data, std::size_t size) {
    return arriving_.tryAdd(from, data, size);
  }
  void add(BlockId from, const void* data, std::size_t size);
  void add(BlockId from, Bytes&& payload);
  /// Runs of a received batch, which were checked.
  void addRuns(const std::shared_ptr<Bytes>& batch, const std::byte* runs, std::size_t bytes,
               std::size_t messages);

  /// Makes visible what has arrived.
  void open();
  /// Ends the validity of the last view and gives its memory back.
  void close() {
    if (left_ == 0 && nextRun_ == segmentEnd_) release();
  }

  std::optional<Message> dequeue();
  std::optional<MessageView> dequeueView() {
    if (left_ == 0 && !openRun()) return std::nullopt;
    --left_;
    const MessageView view{from_, {at_, size_}};
    at_ += stride_;
    return view;
  }

  /// Messages that can be dequeued.
  std::size_t visible() const { return visible_ + left_; }
  /// Those that the next open() will show.
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

  /// Room in arriving_ for so many bytes.
  void makeRoom(std::size_t bytes);
  /// What arriving_ holds becomes a segment.
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
