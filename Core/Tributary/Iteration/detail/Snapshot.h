// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "Tributary/Base/Span.h"
#include "Tributary/Iteration/Channels.h"
#include "Tributary/Transport/Transport.h"

namespace tributary::detail {

/// The data of a rank that a snapshot records.
struct SnapshotSource {
  Span<const double> iterate;  ///< The current iterate.
  /// Writes the interface values of that iterate for a neighbor.
  std::function<void(std::size_t neighbor, Span<double> values)> fill;
};

/// Takes consistent global snapshots of the iterate, one per round, without stopping the iteration.
/// In each round, each rank records its part of the iterate and sends each neighbor the interface
/// values of the recorded part (JACK2, doi:10.1016/j.advengsoft.2018.01.009, section 2.2 and figure
/// 4). The states of a rank in a round:
///
///   Open --the kind of snapshot permits: record, send to all neighbors--> Recorded
///   Recorded --recorded values of all neighbors received--> Complete --next()--> Open
///
/// Consistency: in a complete round, the values of each neighbor were computed from the iterate
/// that the neighbor recorded in the same round.
///
/// Rounds do not mix: a rank sends each neighbor one message per round, with the number of the
/// round. A neighbor does not complete a round before it has received the values of this rank, so
/// it is at most one round ahead. Its message of the next round is deferred.
///
/// Snapshots do not depend on the channels: values of iterations may be lost, late or overtaken by
/// snapshots.
class Snapshot {
 public:
  virtual ~Snapshot() = default;

  /// Performs one non-blocking turn. The iterate of the source must not be partially updated.
  /// @param converged  whether this rank has converged locally; not used by all kinds
  /// @return whether the round is complete on this rank
  [[nodiscard]] virtual bool advance(bool converged) = 0;
  /// Begins the next round. @pre complete
  void next();

  bool recorded() const { return recorded_; }
  /// The recorded part of this rank. @pre recorded()
  Span<const double> iterate() const { return iterate_; }
  /// The recorded values of the neighbors. @pre complete; valid until next()
  const Incoming& incoming() const { return incoming_; }

  std::int64_t messages() const { return messages_; }
  /// See Detector::state().
  std::string state() const;

 protected:
  Snapshot(Transport& transport, Session session, std::vector<Neighbor> neighbors,
           SnapshotSource source);

  /// Receives the messages that have arrived.
  void receive();
  /// Handles a message of this round that does not carry the values of a neighbor.
  virtual void handle(int source, std::int64_t kind);
  void record();
  bool complete() const { return recorded_ && missing_ == 0; }
  /// Whether the recorded values of at least one neighbor have arrived in this round.
  bool reached() const { return missing_ < neighbors_.size(); }
  void send(int destination, std::int64_t kind);
  [[noreturn]] void malformed(int source, const std::string& what) const;

  /// Describes the state of the derived class that determines its behavior; a part of state().
  virtual std::string describe() const = 0;
  virtual void restart() {}

  Transport& transport_;

 private:
  void take(Envelope&& envelope);

  Session session_;
  std::vector<Neighbor> neighbors_;
  SnapshotSource source_;
  std::int64_t round_ = 1;
  bool recorded_ = false;
  std::vector<double> iterate_;
  std::vector<Bytes> values_;  // of each neighbor in this round, with the message header
  std::size_t missing_;
  Incoming incoming_;
  std::deque<Envelope> deferred_;  // of the next round
  std::int64_t messages_ = 0;
};

/// Makes the general partial snapshot: each rank records as soon as a round begins (JACK2,
/// Algorithm 6).
/// @param session    used by these snapshots only
/// @param neighbors  symmetric; includes neighbors without values
[[nodiscard]] std::unique_ptr<Snapshot> makeGeneralSnapshot(Transport& transport, Session session,
                                                            std::vector<Neighbor> neighbors,
                                                            SnapshotSource source);

/// Makes the supervised termination of S. A. Savari, D. P. Bertsekas, "Finite termination of
/// asynchronous iterative algorithms", Parallel Computing 22, 1996 (JACK2, Algorithms 4 and 5,
/// figure 5). First, notifications travel up a spanning tree until the root knows that each rank
/// has converged locally at some time. Then the root records. Each other rank records when recorded
/// values of a neighbor have arrived and the rank has converged locally again.
///
///   Coordinating --notified by all children, and converged: notify the parent--> Listening
///   Coordinating (root) --notified by all children, and converged: record--> Recorded
///   Listening --recorded values of a neighbor received, and converged: record--> Recorded
///   Recorded --recorded values of all neighbors received--> Complete
///
/// All ranks record if `neighbors` include the neighbors in the tree, because the graph is then
/// connected.
///
/// @param parent, children  in the spanning tree; the parent of the root is -1
[[nodiscard]] std::unique_ptr<Snapshot> makeSupervisedTermination(Transport& transport,
                                                                  Session session,
                                                                  std::vector<Neighbor> neighbors,
                                                                  SnapshotSource source, int parent,
                                                                  std::vector<int> children);

}  // namespace tributary::detail
