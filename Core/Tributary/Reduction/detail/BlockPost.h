// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "Tributary/Collective/Assignment.h"
#include "Tributary/Transport/Transport.h"

namespace tributary::detail {

/// A message of a reduction.
struct BlockMessage {
  BlockId from = 0;
  BlockId to = 0;
  std::int64_t round = 0;
  Bytes payload;
  bool failed = false;       ///< The payload is the text of an error, or empty.
  std::int64_t segment = 0;  ///< Number of the segment, if items are sent in segments.
};

/// Sends messages between blocks in rounds, in a session of their own. Messages between blocks of
/// one rank do not use the transport. The constructor is collective.
class BlockPost {
 public:
  /// Capacity that a payload should have beyond its end, in bytes, so that sending does not copy
  /// it.
  static constexpr std::size_t Tail = 48;

  /// @param transport  must outlive this object
  /// @param rounds  the number of rounds
  BlockPost(Transport& transport, const Assignment& assignment, std::int64_t rounds);

  /// Whether this rank owns a block.
  bool isLocal(BlockId block) const { return localIndex(block) < localCount_; }
  /// The index of a block among those of this rank; localCount() or more if it is not one of them,
  /// whatever number a message has. @pre isLocal(block), to use it
  std::size_t localIndex(BlockId block) const { return offsetOf(block, first_); }
  /// The first block of this rank.
  BlockId first() const { return first_; }
  std::size_t localCount() const { return localCount_; }
  const Assignment& assignment() const { return assignment_; }

  void send(BlockMessage&& message);
  /// Sends a message whose payload is in memory that must neither change nor be freed before
  /// sent().
  void sendFrom(BlockMessage&& message, Span<const std::byte> payload);
  /// The next message for a block of this rank, if one has arrived. Throws Error if it is
  /// malformed.
  [[nodiscard]] std::optional<BlockMessage> receive();
  /// Discards all messages that have arrived. @return whether there were any
  [[nodiscard]] bool discard();
  /// The number of messages that have arrived from other ranks, including malformed and lost ones.
  std::int64_t received() const { return received_; }
  /// The number of sends that sent() has not seen finished.
  std::size_t underWay() const { return sends_.size(); }
  /// Makes progress. @return whether all sends are finished
  [[nodiscard]] bool sent();
  /// Whether sends are in progress or messages are arriving.
  [[nodiscard]] bool transferring() const {
    return !sends_.empty() || transport_.receiving(Topic::Work, session_);
  }

 private:
  [[nodiscard]] std::optional<Envelope> arrived();

  Transport& transport_;
  Session session_;
  Assignment assignment_;
  BlockId first_;
  std::size_t localCount_;
  std::int64_t rounds_;
  std::int64_t received_ = 0;
  std::deque<BlockMessage> handedOver_;
  std::vector<PendingSend> sends_;
};

}  // namespace tributary::detail
