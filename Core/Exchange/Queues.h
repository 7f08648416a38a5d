#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "Tributary/Bytes.h"
#include "Tributary/Exchange/Assignment.h"
#include "Tributary/Exchange/Batch.h"
#include "Tributary/Exchange/Exchange.h"
#include "Tributary/Exchange/Inbox.h"
#include "Tributary/Exchange/Statistics.h"
#include "Tributary/Termination/Detector.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// All messages of an exchange on one rank: the inboxes of its blocks, a batch in the making for
/// each destination rank, and the sends that are not finished. The same for all schedules.
class Queues {
 public:
  /// Called for each batch before it is delivered. @return false to keep it back until
  /// deliverKept().
  using BatchHook = std::function<bool(int source, const BatchFooter&)>;

  Queues(Transport& transport, Session session, const Assignment& assignment,
         const ExchangeOptions& options, Detector& detector, SendMode mode,
         ExchangeStatistics& statistics);

  // For the mailboxes, during a callback.
  void enqueue(BlockId from, BlockId to, const void* data, std::size_t size);
  void enqueue(BlockId from, BlockId to, Bytes&& payload);
  Inbox& inbox(BlockId block) { return inboxes_[static_cast<std::size_t>(block - first_)]; }

  // For the schedules.

  /// Takes in batches that have arrived, a bounded number. @return their number. Throws Error for a
  /// malformed one.
  int receive(const BatchHook& hook);
  /// Delivers what the hook kept back, without asking it again.
  void deliverKept();
  bool keeps() const { return !kept_.empty(); }

  /// Sends the batches that are older than the hold time.
  void flushDue(double now);
  void flushAll();
  /// Sends what there is for a rank, even if that is nothing, with a remark.
  void sendRemark(int destination, BatchKind kind);
  /// Written into each batch.
  void setRound(std::int64_t round) { round_ = round; }

  /// Notices finished sends. @return whether there was one.
  bool retire();
  bool sending() const { return !sends_.empty(); }
  /// Whether back-pressure allows callbacks.
  bool mayProduce() const { return inFlightBytes_ <= options_.inFlightBytes; }
  /// Whether a batch has begun to arrive.
  bool receiving() const { return transport_.receiving(Channel::Work, session_); }
  /// Nothing waits to be sent, is being sent, has half arrived or is kept back.
  bool quiet() const;

  /// Local blocks (index from 0) that got their first unseen message since the list was cleared.
  std::vector<std::int32_t>& woken() { return woken_; }

  /// Forgets all messages, now and from now on.
  void drop();

  /// Changes with every message sent, received or delivered.
  std::int64_t traffic() const { return traffic_; }
  /// Whether something was sent or received since the last call of this function.
  bool takeTouched() { return std::exchange(touched_, false); }
  /// "3 unfinished sends of 400 bytes to ranks 1 2", for people.
  std::string describe() const;

 private:
  struct Outgoing {
    Bytes payload;
    std::vector<BatchRecord> records;
    double since = 0;
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

  void wake(BlockId block);
  void deliver(Bytes&& bytes, const BatchReader& batch);
  Outgoing& open(int destination);
  void grown(int destination, Outgoing& outgoing);
  void send(int destination, BatchKind kind);

  Transport& transport_;
  Session session_;
  const Assignment& assignment_;
  const ExchangeOptions& options_;
  Detector& detector_;
  SendMode mode_;
  ExchangeStatistics& statistics_;
  BlockId first_;
  BlockId last_;  // one past this rank's blocks
  std::vector<Inbox> inboxes_;
  std::vector<Outgoing> outgoing_;  // by rank
  std::vector<int> open_;           // destinations with messages in outgoing_
  std::vector<Sending> sends_;
  std::vector<Bytes> spare_;  // buffers of finished sends
  std::vector<Kept> kept_;
  std::vector<std::int32_t> woken_;
  std::size_t inFlightBytes_ = 0;
  std::int64_t round_ = 0;
  std::int64_t traffic_ = 0;
  unsigned enqueued_ = 0;
  bool touched_ = false;
  bool dropping_ = false;
};

}  // namespace tributary
