// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "Tributary/Base/Bytes.h"
#include "Tributary/Collective/Assignment.h"
#include "Tributary/Exchange/Statistics.h"
#include "Tributary/Exchange/detail/Batch.h"
#include "Tributary/Exchange/detail/Inbox.h"
#include "Tributary/Exchange/detail/Runs.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {
class Detector;
struct ExchangeOptions;
}  // namespace tributary

namespace tributary::detail {

/// All messages of an exchange on one rank: the inboxes of its blocks, one open batch for each
/// destination rank, and unfinished sends. Common to all schedules.
///
/// Messages to a block are collected in a stream per block, so most messages continue a run and
/// cost a copy and a few additions. A batch consists of the streams for the blocks of one rank.
class Queues {
 public:
  /// Called for each batch before its delivery. @return false to keep the batch until deliverKept()
  using BatchHook = std::function<bool(int source, const BatchFooter&)>;

  /// @param detector  counts every batch; may be null
  Queues(Transport& transport, Session session, const Assignment& assignment,
         const ExchangeOptions& options, Detector* detector, SendMode mode,
         ExchangeStatistics& statistics);

  // Called by mailboxes, during a callback.
  void enqueue(BlockId from, BlockId to, const void* data, std::size_t size) {
    const std::uint64_t index = localIndex(to);
    if (index < inboxes_.size()) {
      if (!inboxes_[index].tryAdd(from, data, size)) deliver(from, to, data, size);
      ++statistics_.localDeliveries;
      return;
    }
    const Slot& slot = slots_[slotOf(to)];
    if (slot.to != to || !slot.stream->writer.tryAdd(from, data, size)) {
      append(from, to, data, size);
      return;
    }
    Destination& destination = *slot.stream->destination;
    destination.bytes += paddedPayload(size);
    if (destination.bytes >= batchBytes_ || --untilClock_ <= 0) grown(destination);
  }
  void enqueue(BlockId from, BlockId to, Bytes&& payload);
  Inbox& inbox(BlockId block) { return inboxes_[localIndex(block)]; }

  // Called by schedules.

  /// Receives a bounded number of batches. Throws Error if a batch is malformed.
  /// @return their number
  [[nodiscard]] int receive(const BatchHook& hook);
  /// Delivers the kept batches, without calling the hook again.
  void deliverKept();

  /// Sends the batches that have reached the hold time.
  void flushDue(double now);
  void flushAll();
  /// Called after an idle turn, when other ranks may wait for this one: the next batch is not held
  /// back, and later ones for increasing times up to the hold time.
  void hurry() {
    hold_ = 0;
    untilClock_ = 1;
  }
  /// Sends the open batch for a rank, which may be empty, with an announcement.
  void sendRemark(int destination, BatchKind kind);
  /// Sets the round that is written to each batch.
  void setRound(std::int64_t round) { round_ = round; }

  /// Releases finished sends. @return whether there was one
  bool retire();
  bool sending() const { return !sends_.empty(); }
  /// Whether back-pressure allows callbacks.
  bool mayProduce() const { return inFlightBytes_ <= mostInFlight_; }
  /// Whether a batch has been received in part.
  bool receiving() const { return transport_.receiving(Topic::Work, session_); }
  /// Whether no batch is open, being sent, received in part, or kept.
  bool quiet() const;

  /// The local blocks (index from 0) that have received a message they have not seen since the list
  /// was cleared.
  std::vector<std::int32_t>& woken() { return woken_; }
  /// Called after a call of a block, which may have sent or dequeued messages.
  void touch() { touched_ = true; }

  /// Drops all messages, including those that arrive later.
  void drop();

  /// Changes with every batch sent or received, and when a block without unseen messages gets one.
  std::int64_t traffic() const { return traffic_; }
  /// Whether a batch was sent or received or a block was called since the last call of this
  /// function.
  bool takeTouched() { return std::exchange(touched_, false); }
  /// For a stall report, for instance "3 unfinished sends of 400 bytes to ranks 1 2".
  std::string describe() const;

 private:
  struct Destination;
  /// The unsent messages for one block of another rank.
  struct Stream {
    BlockId to = 0;
    Destination* destination = nullptr;
    RunWriter writer;
  };
  /// An open batch.
  struct Destination {
    int rank = 0;
    std::size_t bytes = 0;
    double since = 0;
    std::vector<Stream*> open;  // with messages
  };
  /// An entry of the hash table of streams.
  struct Slot {
    BlockId to = 0;
    Stream* stream;
  };
  struct Sending {
    PendingSend send;
    std::size_t bytes;
    int destination;
  };
  struct Kept {
    int source;
    Bytes bytes;
  };

  /// Multiplicative hashing (Knuth): consecutive numbers do not collide.
  std::size_t slotOf(BlockId to) const {
    return static_cast<std::size_t>((static_cast<std::uint64_t>(to) * 0x9e3779b97f4a7c15u) >>
                                    slotShift_);
  }
  /// The index of a local block; at least the number of inboxes for a block of another rank.
  std::uint64_t localIndex(BlockId block) const { return offsetOf(block, first_); }

  // The slow paths of enqueue().
  void deliver(BlockId from, BlockId to, const void* data, std::size_t size);
  void append(BlockId from, BlockId to, const void* data, std::size_t size);
  Stream& streamOf(BlockId to);
  void grown(Destination& destination);

  void note(int source);
  Inbox& wake(BlockId block);
  void deliver(Bytes&& bytes, const BatchReader& batch);
  Destination& destinationOf(int rank);
  void open(Destination& destination);
  void makeRoom(Stream& stream, std::size_t bytes);
  void lookAtClock();
  void send(Destination& destination, BatchKind kind);
  Bytes gather(Destination& destination);
  void close(Destination& destination);
  void start(int rank, Bytes&& batch, BatchKind kind, BatchLayout layout);

  Transport& transport_;
  Session session_;
  const Assignment& assignment_;
  Detector* detector_;
  SendMode mode_;
  ExchangeStatistics& statistics_;
  std::size_t batchBytes_;
  std::size_t wholeBytes_;  // messages from this size on make a batch of their own
  double longestHold_;      // seconds
  double hold_;             // seconds now, at most longestHold_
  std::size_t mostInFlight_;
  BlockId first_;
  BufferPool pool_;
  std::vector<Inbox> inboxes_;
  Stream nowhere_;  // without destination: that of an empty slot
  std::vector<Slot> slots_;
  int slotShift_;
  std::unordered_map<BlockId, Stream> streams_;        // by block, as far as used
  std::unordered_map<int, Destination> destinations_;  // by rank, as far as used
  std::vector<Destination*> open_;                     // with messages
  std::vector<Sending> sends_;
  std::vector<Kept> kept_;
  std::vector<std::int32_t> woken_;
  std::size_t inFlightBytes_ = 0;
  std::int64_t round_ = 0;
  std::int64_t traffic_ = 0;
  int untilClock_ = 1;  // messages
  int messagesPerClock_ = 1;
  double clockAt_ = 0;
  bool touched_ = false;
  bool dropping_ = false;
};

}  // namespace tributary::detail
