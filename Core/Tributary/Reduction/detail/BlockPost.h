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
  bool failed = false;       ///< Worth nothing: the payload is the text of an error, or empty.
  std::int64_t segment = 0;  ///< For those who send their items in segments.
};

/// Messages between blocks in rounds, one reduction's apart from all others'; blocks of one rank
/// hand over without the transport. Collective to make.
class BlockPost {
 public:
  /// Room that a payload should have at its end, so that sending does not copy it.
  static constexpr std::size_t Tail = 48;

  /// @param transport   outlives the post
  /// @param rounds      messages belong to rounds below this number
  BlockPost(Transport& transport, const Assignment& assignment, std::int64_t rounds);

  bool isLocal(BlockId block) const { return localIndex(block) < localCount_; }
  /// From 0, of a block of this rank.
  std::size_t localIndex(BlockId block) const { return static_cast<std::size_t>(block - first_); }
  BlockId first() const { return first_; }
  std::size_t localCount() const { return localCount_; }
  const Assignment& assignment() const { return assignment_; }

  void send(BlockMessage&& message);
  /// A message without its payload, which is in memory that neither changes nor goes before sent().
  void sendFrom(BlockMessage&& message, Span<const std::byte> payload);
  /// The next message for a block of this rank, if one has arrived. Throws Error if it is
  /// malformed.
  std::optional<BlockMessage> receive();
  /// Drops what has arrived, malformed or not. @return whether there was anything
  bool discard();
  /// Messages of other ranks that have arrived so far, malformed ones and those without memory too.
  std::int64_t received() const { return received_; }
  /// Messages that sent() has not seen leave.
  std::size_t underWay() const { return sends_.size(); }
  /// Makes progress. @return whether all that was sent has left
  bool sent();
  /// Whether messages are on their way from or to this rank.
  bool transferring() const {
    return !sends_.empty() || transport_.receiving(Topic::Work, session_);
  }

 private:
  std::optional<Envelope> arrived();

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
