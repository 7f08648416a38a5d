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

/// A rank that exchanges interface values with this one.
struct Neighbor {
  int rank = 0;
  std::size_t sendCount = 0;     ///< doubles sent to it per message; 0 for no messages
  std::size_t receiveCount = 0;  ///< doubles received from it per message; 0 for no messages
};

/// The values of the neighbors, in the order of the neighbors.
using Incoming = std::vector<Span<const double>>;

/// The parameters of Channels.
struct ChannelOptions {
  /// With Eager, a link is free once the values have left their buffer; a slow rank must receive
  /// all messages of its neighbors. With Synchronous, a link is free once the receive has begun.
  /// Default: Synchronous.
  SendMode sendMode = SendMode::Synchronous;
  /// Receives that are active for each neighbor, at least 1. A sender waits if more messages arrive
  /// between two calls of get(). Default: 2.
  int receives = 2;
};

/// Counters of the messages with interface values of one rank.
struct ChannelStatistics {
  std::int64_t sent = 0;  ///< messages sent
  std::int64_t unsent =
      0;  ///< values passed to put() and replaced by newer ones before they were sent
  std::int64_t received = 0;  ///< messages received
  std::int64_t superseded =
      0;                   ///< received together with a newer message and never returned by get()
  std::int64_t bytes = 0;  ///< of the messages sent
};

/// Checks the neighbors of all ranks. Collective. Throws Error on all ranks if the neighbors of any
/// rank are invalid (the rank itself, a duplicate, a rank out of range, too many values) or if
/// those of two ranks do not match: each must list the other, and expect as many values as it
/// sends.
void agreeOnNeighbors(Transport& transport, const std::vector<Neighbor>& neighbors);

/// Put/get links to neighbors that deliver the newest values: the point-to-point communication of
/// asynchronous iterations. The same calls serve synchronous iterations. Source:
/// F. Magoulès, G. Gbikpi-Benissan, "JACK2: An MPI-based communication library with
/// non-blocking synchronization for asynchronous iterations", Advances in Engineering Software 119,
/// 2018, doi:10.1016/j.advengsoft.2018.01.009, section 4.2, Listings 3, 4, 8
/// and 9.
///
/// A link has two send buffers, each with a persistent request. The caller writes to the buffer
/// that is not being sent:
///
///   writing --put, other buffer free--> sending --done--> free, written next
///   writing --put, other buffer sending--> waiting --other buffer free--> sending
///   waiting --put--> waiting, with newer values; the older values are unsent
///
/// In the paper, the user overwrites values while MPI_Issend may still send them, which MPI
/// forbids. With a second buffer, the newest values are sent as soon as the link is free, and no
/// message is torn. Waiting values are sent by the first call of get() or put() after the previous
/// send is finished.
///
/// A link has several active receives, each with a buffer, and one more buffer, which the caller
/// reads. get() exchanges this buffer with that of each message that has arrived, in order, and
/// starts a receive into the returned buffer; values are not copied. It continues while messages
/// arrive, so the last one is the newest. The paper tests each receive once; if messages arrive
/// faster, the values become older and older (its Table 1, MPI_Isend with one receive).
///
/// In synchronous mode no values wait: a turn ends when the values of all neighbors have arrived
/// and a send buffer is free. Channels begin in synchronous mode.
class Channels {
 public:
  /// Local. Throws Error if an option is invalid.
  /// @param transport  must outlive the channels
  /// @param session  used by these channels only
  /// @param neighbors  checked by agreeOnNeighbors()
  /// @param ahead  whether receives are active while this rank computes (Algorithm 2 of the paper).
  ///               If not, put() starts one receive for each neighbor (Algorithm 1), and there is
  ///               no asynchronous mode.
  Channels(Transport& transport, Session session, std::vector<Neighbor> neighbors,
           const ChannelOptions& options, bool ahead = true);

  /// The neighbors of the constructor, in the same order.
  [[nodiscard]] const std::vector<Neighbor>& neighbors() const { return neighbors_; }

  /// Enters synchronous mode: put() and get() alternate, and get() waits for the values of the same
  /// turn of all neighbors. Must be called on all ranks, at any time. Values that were sent in
  /// asynchronous mode and not yet returned by get() are dropped.
  void switchSync();
  /// Enters asynchronous mode: newer values replace older ones, and no rank waits. All ranks must
  /// leave synchronous mode after the same number of turns. Throws Error if constructed without
  /// `ahead`.
  void switchAsync();
  /// Whether the channels are in synchronous mode.
  [[nodiscard]] bool synchronous() const { return synchronous_; }

  /// The buffer to which the caller writes all values for a neighbor before put(). Its previous
  /// contents are unspecified. put() invalidates it.
  [[nodiscard]] Span<double> outgoing(std::size_t neighbor);
  /// Sends the values written for all neighbors. In asynchronous mode, the values for a busy link
  /// wait. No other function may be called between writing the values and put().
  void put();

  /// Receives values and makes progress. Asynchronous mode: takes the newest values that have
  /// arrived and returns true; the result may be ignored. Synchronous mode: must be called until it
  /// returns true.
  /// @return in synchronous mode, whether the values of this turn of all neighbors have arrived and
  ///         those of this rank are sent
  bool get();
  /// The values of the last get(); zeros before the first message. Valid until the next get().
  [[nodiscard]] const Incoming& incoming() const { return incoming_; }

  /// Closes the channels: sends the number of messages to each neighbor, receives all messages in
  /// flight, finishes sends and cancels receives. Waiting values are dropped. Must be called on all
  /// ranks, repeatedly until it returns true.
  [[nodiscard]] bool close();

  /// Describes the state without values, for reports and for explorations of schedules (see
  /// Detector::state()).
  [[nodiscard]] std::string state() const;
  /// The counters of this rank.
  [[nodiscard]] const ChannelStatistics& statistics() const { return statistics_; }

 private:
  struct Link {
    std::unique_ptr<PersistentRequest> sends[2];  // null without values to send
    int writing = 0;
    bool waiting = false;   // the written values
    std::int64_t sent = 0;  // messages

    std::vector<std::unique_ptr<PersistentRequest>> receives;
    std::deque<std::size_t> started;  // active ones of `receives`, in order of start
    std::size_t held = 0;             // the one whose buffer the caller reads
    std::int64_t received = 0;        // messages
    std::int64_t wanted = 0;          // synchronous: messages needed for the turns that ended

    std::deque<std::int64_t> counts;  // numbers of messages announced by the neighbor, unused
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
  int told_ = 0;  // counts sent to each neighbor whose counterparts are unused
  enum class Closing { Open, Draining, Closed } closing_ = Closing::Open;
  ChannelStatistics statistics_;
};

}  // namespace tributary
