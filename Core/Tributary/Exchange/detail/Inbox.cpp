// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Exchange/detail/Inbox.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

namespace tributary::detail {

namespace {

// Buffers of small messages: a block that gets few must not take much memory.
constexpr std::size_t FirstBuffer = 1 << 10;
constexpr std::size_t LargestBuffer = 64 << 10;

}  // namespace

void Inbox::add(BlockId from, const void* data, std::size_t size) {
  if (size >= Large) {
    Bytes payload;
    append(payload, data, size);
    add(from, std::move(payload));
    return;
  }
  if (arriving_.tryAdd(from, data, size)) return;
  makeRoom(size + RunWriter::Overhead);
  arriving_.addRun(from, data, size);
}

void Inbox::add(BlockId from, Bytes&& payload) {
  if (payload.size() < Large) {
    add(from, payload.data(), payload.size());
    return;
  }
  seal();
  Segment segment{nullptr, std::move(payload), nullptr, nullptr, from, true};
  segment.begin = segment.own.data();
  segment.end = segment.begin + segment.own.size();
  arrived_.push_back(std::move(segment));
  ++sealed_;
}

void Inbox::addRuns(const std::shared_ptr<Bytes>& batch, const std::byte* runs, std::size_t bytes,
                    std::size_t messages) {
  if (bytes < Large) {
    makeRoom(bytes);
    arriving_.addRuns(runs, bytes, messages);
    return;
  }
  seal();
  arrived_.push_back({batch, Bytes(), runs, runs + bytes, 0, false});
  sealed_ += messages;
}

void Inbox::makeRoom(std::size_t bytes) {
  if (arriving_.room() >= bytes) return;
  const std::size_t capacity =
      std::max({std::min(2 * arriving_.capacity(), LargestBuffer), FirstBuffer,
                bytes + sizeof(SectionHeader) + RunWriter::Tail});
  seal();
  arriving_.begin(pool_->take(capacity));
}

void Inbox::seal() {
  if (arriving_.empty()) return;
  sealed_ += arriving_.messages();
  Segment segment{nullptr, arriving_.take(), nullptr, nullptr, 0, false};
  segment.begin = segment.own.data() + sizeof(SectionHeader);
  segment.end = segment.own.data() + segment.own.size();
  arrived_.push_back(std::move(segment));
}

void Inbox::open() {
  seal();
  if (arrived_.empty()) return;
  if (nextSegment_ == open_.size()) {
    open_.clear();
    nextSegment_ = 0;
    open_.swap(arrived_);
  } else {
    if (nextSegment_ > open_.size() / 2) {
      open_.erase(open_.begin(), open_.begin() + static_cast<std::ptrdiff_t>(nextSegment_));
      nextSegment_ = 0;
    }
    std::move(arrived_.begin(), arrived_.end(), std::back_inserter(open_));
    arrived_.clear();
  }
  visible_ += std::exchange(sealed_, 0);
}

void Inbox::release() {
  if (!segmentEnd_) return;
  if (!current_.shared) {
    pool_->give(std::move(current_.own));
  } else if (current_.shared.use_count() == 1) {
    pool_->give(std::move(*current_.shared));
  }
  current_ = Segment{};
  nextRun_ = segmentEnd_ = nullptr;
}

bool Inbox::openRun() {
  if (nextRun_ == segmentEnd_) {
    release();
    if (nextSegment_ == open_.size()) return false;
    current_ = std::move(open_[nextSegment_++]);
    nextRun_ = current_.begin;
    segmentEnd_ = current_.end;
    if (current_.whole) {
      at_ = current_.begin;
      size_ = stride_ = current_.own.size();
      from_ = current_.from;
      left_ = 1;
      nextRun_ = segmentEnd_;
      --visible_;
      return true;
    }
  }
  RunHeader header;
  std::memcpy(&header, nextRun_, sizeof header);
  at_ = nextRun_ + sizeof header;
  from_ = header.from;
  size_ = header.size;
  stride_ = paddedPayload(size_);
  left_ = header.count;
  nextRun_ = at_ + left_ * stride_;
  visible_ -= left_;
  return true;
}

std::optional<Message> Inbox::dequeue() {
  const auto view = dequeueView();
  if (!view) return std::nullopt;
  Message message{view->from, {}};
  if (current_.whole) {
    message.payload = std::move(current_.own);
  } else {
    append(message.payload, view->payload.data(), view->payload.size());
  }
  return message;
}

}  // namespace tributary::detail
