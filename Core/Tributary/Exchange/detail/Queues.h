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

/// All messages of an exchange on one rank: the inboxes of its blocks, a batch in the making for
/// each destination rank, and the sends that are not finished. The same for all schedules.
///
/// What is sent to a block is gathered in a stream of its own, so that most messages are one of a
/// run and cost a copy and a few additions; a batch is the streams for the blocks of one rank.
class Queues {
 public:
  /// Called for each batch before it is delivered. @return false to keep it back until
  /// deliverKept().
  using BatchHook = std::function<bool(int source, const BatchFooter&)>;

  /// @param detector  told of every batch; may be null
  Queues(Transport& transport, Session session, const Assignment& assignment,
         const ExchangeOptions& options, Detector* detector, SendMode mode,
         ExchangeStatistics& statistics);

  // For the mailboxes, during a callback.
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

  // For the schedules.

  /// Takes in batches that have arrived, a bounded number. @return their number. Throws Error for a
  /// malformed one.
  int receive(const BatchHook& hook);
  /// Delivers what the hook kept back, without asking it again.
  void deliverKept();

  /// Sends the batches that have been held for long enough.
  void flushDue(double now);
  void flushAll();
  /// This rank was waiting, so that others may be waiting for it: the next batch is not held back,
  /// and those after it longer and longer, up to the hold time.
  void hurry() {
    hold_ = 0;
    untilClock_ = 1;
  }
  /// Sends what there is for a rank, even if that is nothing, with a remark.
  void sendRemark(int destination, BatchKind kind);
  /// Written into each batch.
  void setRound(std::int64_t round) { round_ = round; }

  /// Notices finished sends. @return whether there was one.
  bool retire();
  bool sending() const { return !sends_.empty(); }
  /// Whether back-pressure allows callbacks.
  bool mayProduce() const { return inFlightBytes_ <= mostInFlight_; }
  /// Whether a batch has begun to arrive.
  bool receiving() const { return transport_.receiving(Topic::Work, session_); }
  /// Nothing waits to be sent, is being sent, has half arrived or is kept back.
  bool quiet() const;

  /// Local blocks (index from 0) that got their first unseen message since the list was cleared.
  std::vector<std::int32_t>& woken() { return woken_; }
  /// A block was called: it may have sent or taken messages.
  void touch() { touched_ = true; }

  /// Forgets all messages, now and from now on.
  void drop();

  /// Changes with every batch sent and received and with a block's first unseen message.
  std::int64_t traffic() const { return traffic_; }
  /// Whether something was sent or received, or a block called, since the last call of this
  /// function.
  bool takeTouched() { return std::exchange(touched_, false); }
  /// "3 unfinished sends of 400 bytes to ranks 1 2", for people.
  std::string describe() const;

 private:
  struct Destination;
  /// The messages for one block of another rank that wait for their batch.
  struct Stream {
    BlockId to = 0;
    Destination* destination = nullptr;
    RunWriter writer;
  };
  /// A batch in the making.
  struct Destination {
    int rank = 0;
    std::size_t bytes = 0;
    double since = 0;
    std::vector<Stream*> open;  // with messages
  };
  /// Where to find a stream quickly.
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

  /// Multiplicative hashing (Knuth): neighbors in number do not meet.
  std::size_t slotOf(BlockId to) const {
    return static_cast<std::size_t>((static_cast<std::uint64_t>(to) * 0x9e3779b97f4a7c15u) >>
                                    slotShift_);
  }
  /// Of a block of another rank: not below the number of inboxes.
  std::uint64_t localIndex(BlockId block) const {
    return static_cast<std::uint64_t>(block) - static_cast<std::uint64_t>(first_);
  }

  // The slower ways of enqueue().
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
  double holdSeconds_;
  double hold_;  // now, at most holdSeconds_
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
