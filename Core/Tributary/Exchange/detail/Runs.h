// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "Tributary/Base/Bytes.h"
#include "Tributary/Collective/Assignment.h"

namespace tributary::detail {

/// The header of a run: consecutive messages of equal size from one block to another, followed by
/// their padded payloads. The format of small messages in batches and inboxes.
struct RunHeader {
  BlockId from;
  std::uint32_t size;
  std::uint32_t count;
};

/// Precedes the runs for one block in a batch.
struct SectionHeader {
  BlockId to;
  std::uint64_t bytes;     ///< of its runs
  std::uint64_t messages;  ///< in its runs
};

/// The bytes that a payload takes in a run: at least 8, so that the length of a run bounds its
/// count.
constexpr std::size_t paddedPayload(std::size_t size) {
  return size == 0 ? 8 : (size + 7) & ~std::size_t(7);
}

/// Reuses the buffers of batches and inboxes, because new buffers cause page faults.
class BufferPool {
 public:
  /// An empty buffer with room for `bytes`.
  Bytes take(std::size_t bytes) {
    Bytes buffer;
    if (!spare_.empty() && spare_.back().capacity() >= bytes) {
      buffer = std::move(spare_.back());
      spare_.pop_back();
      buffer.clear();
    } else {
      buffer.reserve(bytes);
    }
    return buffer;
  }
  void give(Bytes&& buffer) {
    Bytes taken = std::move(buffer);
    if (taken.capacity() >= Smallest && taken.capacity() <= Largest && spare_.size() < Most) {
      spare_.push_back(std::move(taken));
    }
  }

 private:
  // The heap is fast for smaller buffers; larger ones would hold too much memory.
  static constexpr std::size_t Smallest = 16 << 10;
  static constexpr std::size_t Largest = 256 << 10;
  static constexpr std::size_t Most = 128;
  std::vector<Bytes> spare_;
};

/// Writes runs to a buffer with space for a SectionHeader before them and a tail after them.
class RunWriter {
 public:
  /// The free bytes at the end of a buffer, for the footer of a batch and the transport.
  static constexpr std::size_t Tail = 64;
  /// The maximum number of bytes of a message besides its payload.
  static constexpr std::size_t Overhead = sizeof(RunHeader) + 8;

  /// Adds a message to the current run. @return false if addRun() is needed
  [[nodiscard]] bool tryAdd(BlockId from, const void* data, std::size_t size) {
    if (from != from_ || size != size_ || static_cast<std::size_t>(end_ - at_) < stride_ ||
        count_ == std::numeric_limits<std::uint32_t>::max()) {
      return false;
    }
    if (size > 0) std::memcpy(at_, data, size);
    at_ += stride_;
    ++count_;
    return true;
  }

  /// Begins a run with a message. @pre size + Overhead <= room()
  void addRun(BlockId from, const void* data, std::size_t size) {
    endRun();
    run_ = at_;
    at_ += sizeof(RunHeader);
    from_ = from;
    size_ = size;
    stride_ = paddedPayload(size);
    if (size > 0) std::memcpy(at_, data, size);
    at_ += stride_;
    count_ = 1;
  }
  /// Adds runs of another writer. @pre bytes <= room()
  void addRuns(const std::byte* runs, std::size_t bytes, std::size_t messages) {
    endRun();
    std::memcpy(at_, runs, bytes);
    at_ += bytes;
    ended_ += messages;
  }

  bool empty() const { return ended_ == 0 && count_ == 0; }
  std::size_t messages() const { return ended_ + count_; }
  /// The size of all runs.
  std::size_t bytes() const {
    return empty() ? 0 : static_cast<std::size_t>(at_ - buffer_.data()) - sizeof(SectionHeader);
  }
  /// The payload of all messages added by tryAdd() and addRun(). Ends the current run.
  std::size_t payloadBytes() {
    endRun();
    return payloadBytes_;
  }
  std::size_t room() const { return static_cast<std::size_t>(end_ - at_); }
  std::size_t capacity() const { return buffer_.capacity(); }

  /// Begins with a new buffer. @pre empty()
  void begin(Bytes&& buffer) {
    buffer_ = std::move(buffer);
    place(sizeof(SectionHeader));
    run_ = at_;
  }
  /// Continues in a larger buffer, whose size is at least the size in use. @return the old buffer
  Bytes moveTo(Bytes&& larger) {
    const auto used = static_cast<std::size_t>(at_ - buffer_.data());
    const auto run = run_ - buffer_.data();
    std::memcpy(larger.data(), buffer_.data(), used);
    buffer_.swap(larger);
    place(used);
    run_ = buffer_.data() + run;
    return std::move(larger);
  }
  /// The runs, in place.
  const std::byte* data() {
    endRun();
    return buffer_.data() + sizeof(SectionHeader);
  }
  /// Hands over the buffer, with runs from byte sizeof(SectionHeader) to the end. Leaves the writer
  /// empty.
  Bytes take() {
    endRun();
    buffer_.resize(static_cast<std::size_t>(at_ - buffer_.data()));
    Bytes buffer = std::move(buffer_);
    *this = RunWriter();
    return buffer;
  }
  /// Discards the runs and keeps the buffer.
  void restart() {
    Bytes buffer = std::move(buffer_);
    *this = RunWriter();
    begin(std::move(buffer));
  }

 private:
  static constexpr std::size_t NoRun = std::numeric_limits<std::size_t>::max();

  void place(std::size_t used) {
    buffer_.resize(buffer_.capacity());
    at_ = buffer_.data() + used;
    end_ = buffer_.data() + buffer_.size() - Tail;
  }
  void endRun() {
    if (count_ == 0) return;
    const RunHeader header{from_, static_cast<std::uint32_t>(size_), count_};
    std::memcpy(run_, &header, sizeof header);
    ended_ += count_;
    payloadBytes_ += count_ * size_;
    count_ = 0;
    size_ = NoRun;
  }

  std::byte* at_ = nullptr;
  std::byte* end_ = nullptr;
  BlockId from_ = 0;  // of the current run, as are the next four
  std::size_t size_ = NoRun;
  std::size_t stride_ = 0;
  std::uint32_t count_ = 0;
  std::byte* run_ = nullptr;
  std::size_t ended_ = 0;  // messages in the runs before
  std::size_t payloadBytes_ = 0;
  Bytes buffer_;
};

}  // namespace tributary::detail
