// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "Tributary/Base/Span.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// A rank with which values are exchanged, and how many each way.
struct Neighbor {
  int rank = 0;
  std::size_t sendCount = 0;     ///< doubles to that rank, 0: none
  std::size_t receiveCount = 0;  ///< doubles from that rank, 0: none
};

/// Values from the neighbors, in their order.
using Incoming = std::vector<Span<const double>>;

struct ChannelOptions {
  /// Eager: a link is free when the values have left their buffer, and a slow rank has to receive
  /// all that its neighbors send. Synchronous: when they have been received.
  SendMode sendMode = SendMode::Synchronous;
  /// Receives of each neighbor started at a time, at least 1: the most messages that arrive
  /// between two calls of get() without the sender's being kept waiting.
  int receives = 2;
};

/// Messages of one rank with interface values.
struct ChannelStatistics {
  std::int64_t sent = 0;        ///< that left
  std::int64_t unsent = 0;      ///< values put that never left, as newer ones came first
  std::int64_t received = 0;    ///< that came
  std::int64_t superseded = 0;  ///< of these, never seen, as a newer one came with them
  std::int64_t bytes = 0;       ///< of those that left
};

/// Collective: throws Error on all ranks if the neighbors of any rank make no sense (itself, twice
/// the same, no rank, too many values) or do not fit: each must be the other's neighbor and expect
/// what that sends.
void agreeOnNeighbors(Transport& transport, const std::vector<Neighbor>& neighbors);

/// Put/get links to neighbors on which the newest values win: the point-to-point part of
/// asynchronous iterations (F. Magoules, G. Gbikpi-Benissan, "JACK2", Advances in Engineering
/// Software 119, 2018, section 4.2, Listings 3, 4, 8 and 9), and the same calls for synchronous
/// ones.
///
/// A link to a neighbor has two buffers to send from, each with a persistent request. The caller
/// writes to the one that is not under way:
///
///   writing --put, the other is free--> under way --done--> free, to be written next
///   writing --put, the other is under way--> waiting --the other is free--> under way
///   waiting --put--> waiting, with newer values: the older are unsent
///
/// The paper lets the user overwrite values while MPI_Issend may still be sending them; MPI forbids
/// to touch such a buffer. A second buffer gives the same, the newest values leave as soon as the
/// link is free, and no message is torn: what waits is what was put last, and leaves in the next
/// call of get() or put() after the send before it is finished.
///
/// In the other direction a link has several receives that are started, each with a buffer, and a
/// buffer more, which the caller reads. get() exchanges that with the one of each message that has
/// come, in their order, and starts the receive of the buffer given back: values are not copied. It
/// goes on while there are messages, so that what it ends with is the newest; the paper tests each
/// receive once, and where messages come faster than that the values seen grow older and older (its
/// Table 1, MPI_Isend with one receive).
///
/// Synchronous mode has no waiting values: a turn ends when the values of all neighbors have come
/// and a buffer is free again. Channels begin in it.
class Channels {
 public:
  /// Local. @param transport  outlives the channels
  /// @param session  for these channels alone
  /// @param neighbors  as agreed on by all ranks
  /// @param ahead  whether receives are started before this rank needs the values, while it
  ///               computes (the paper's Algorithm 2). If not, a receive is started by put() only
  ///               (Algorithm 1): one of each neighbor, and there is no asynchronous mode.
  Channels(Transport& transport, Session session, std::vector<Neighbor> neighbors,
           const ChannelOptions& options, bool ahead = true);

  const std::vector<Neighbor>& neighbors() const { return neighbors_; }

  /// From now on values are met one by one, in their order: put() and get() take turns, and get()
  /// waits. To be called by all ranks; from asynchronous mode each as soon as it likes, and what
  /// was sent before and not seen is dropped.
  void switchSync();
  /// From now on the newest values win and nobody waits. From synchronous mode all ranks switch
  /// after the same number of turns. Throws Error if receives are not ahead.
  void switchAsync();
  bool synchronous() const { return synchronous_; }

  /// Where the values for a neighbor are to be written, all of them, before put(). Their place
  /// changes with put(), and what is there before is of no use.
  Span<double> outgoing(std::size_t neighbor);
  /// Sends what was written for all neighbors, or lets it wait if a link is busy (asynchronous
  /// mode only). Between the writing and put() there must be no other call.
  void put();

  /// Asynchronous mode: takes the newest values that are there, and returns true. Synchronous mode:
  /// whether the values of this turn of all neighbors have come and own values have left; to be
  /// called until that is so. Makes progress.
  bool get();
  /// Of the last get(); zeros before anything has come. Valid until the next get().
  const Incoming& incoming() const { return incoming_; }

  /// The end, to be called by all ranks, again and again until it returns true: tells neighbors
  /// how many messages there were, receives those on their way, lets sends finish and takes
  /// receives back, so that nothing is left. Values that wait are dropped.
  bool close();

  /// For people, and for explorations of schedules, as Detector::state(): apart from the values.
  std::string state() const;
  const ChannelStatistics& statistics() const { return statistics_; }

 private:
  struct Link {
    std::unique_ptr<PersistentRequest> sends[2];  // none if there is nothing to send
    int writing = 0;
    bool waiting = false;   // what was written
    std::int64_t sent = 0;  // messages

    std::vector<std::unique_ptr<PersistentRequest>> receives;
    std::deque<std::size_t> started;  // of `receives`, in the order of their start
    std::size_t held = 0;             // the one that the caller reads
    std::int64_t received = 0;        // messages
    std::int64_t wanted = 0;          // synchronous: so many were needed for the turns that ended

    std::deque<std::int64_t> counts;  // of messages, that the neighbor told and were not used yet
  };

  void start(Link& link);
  void startReceive(Link& link, std::size_t receive);
  void tell();
  bool countsKnown();
  void useCounts();
  bool take(std::size_t neighbor);
  bool sendsDone();

  Transport& transport_;
  Session session_;
  std::vector<Neighbor> neighbors_;
  std::vector<Link> links_;
  Incoming incoming_;
  SendMode mode_;
  bool ahead_;
  bool synchronous_ = true;
  int told_ = 0;  // counts sent to each neighbor whose counterparts were not used yet
  enum class Closing { Open, Draining, Closed } closing_ = Closing::Open;
  ChannelStatistics statistics_;
};

}  // namespace tributary
