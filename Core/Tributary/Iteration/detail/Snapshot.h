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

/// What a snapshot records of a rank, as it is at the time.
struct SnapshotSource {
  Span<const double> iterate;
  /// Writes the interface values of that iterate for a neighbor.
  std::function<void(std::size_t neighbor, Span<double> values)> fill;
};

/// Consistent global iterates, one after the other, taken without stopping: each rank records its
/// part of the iterate once a round and sends each neighbor the interface values of what it has
/// recorded (JACK2, section 2.2 and figure 4). The rounds of all ranks:
///
///   Open --the kind of snapshot lets it: record, send to all neighbors--> Recorded
///   Recorded --the recorded values of all neighbors are there--> Complete --next()--> Open
///
/// Consistent: in a complete round the values of each neighbor were computed from the iterate that
/// it has recorded in the same round. Rounds do not mix: a rank sends one message a round to each
/// neighbor, with the round's number; a neighbor completes no round before it has this rank's
/// values, so it is at most one round ahead, and its message of the next round is put by. Nothing
/// is asked of the channels: values of iterations may be lost, late or overtaken by snapshots.
class Snapshot {
 public:
  virtual ~Snapshot() = default;

  /// One non-blocking turn, at a moment when the source is a whole iterate.
  /// @param converged  local convergence, for the kinds that ask for it
  /// @return whether the round is complete here
  virtual bool advance(bool converged) = 0;
  /// Begins the next round. @pre complete
  void next();

  bool recorded() const { return recorded_; }
  /// This rank's part. @pre recorded()
  Span<const double> iterate() const { return iterate_; }
  /// The neighbors' values. @pre complete; valid until next()
  const Incoming& incoming() const { return incoming_; }

  std::int64_t messages() const { return messages_; }
  /// See Detector::state().
  std::string state() const;

 protected:
  Snapshot(Transport& transport, Session session, std::vector<Neighbor> neighbors,
           SnapshotSource source);

  /// Takes in what has come.
  void receive();
  /// A message of this round that is not a neighbor's values.
  virtual void handle(int source, std::int64_t kind);
  void record();
  bool complete() const { return recorded_ && missing_ == 0; }
  /// Whether a neighbor has recorded in this round.
  bool reached() const { return missing_ < neighbors_.size(); }
  void send(int destination, std::int64_t kind);
  [[noreturn]] void malformed(int source, const std::string& what) const;

  /// What else decides this rank's acts.
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
  std::vector<Bytes> values_;  // of each neighbor in this round, with the message's header
  std::size_t missing_;
  Incoming incoming_;
  std::deque<Envelope> deferred_;  // of the next round
  std::int64_t messages_ = 0;
};

/// The general partial snapshot: every rank records as soon as a round begins (JACK2, Algorithm 6).
/// @param session  for these snapshots alone
/// @param neighbors  symmetric; those without values take part, too
std::unique_ptr<Snapshot> makeGeneralSnapshot(Transport& transport, Session session,
                                              std::vector<Neighbor> neighbors,
                                              SnapshotSource source);

/// The supervised termination of S. A. Savari, D. P. Bertsekas, "Finite termination of asynchronous
/// iterative algorithms", Parallel Computing 22, 1996 (JACK2, Algorithms 4 and 5, figure 5). First
/// the ranks learn up a spanning tree that all have converged locally at some time; then the root
/// records, and each rank that a neighbor's values have reached records when it has converged
/// again.
///
///   Coordinating --notified by all children, and converged: notify the parent--> Listening
///   Coordinating (root) --notified by all children, and converged: record--> Recorded
///   Listening --a neighbor's recorded values have come, and converged: record--> Recorded
///   Recorded --the recorded values of all neighbors are there--> Complete
///
/// All ranks record if neighbors include the tree's: the graph is connected then.
///
/// @param parent, children  in the spanning tree; -1: the root
std::unique_ptr<Snapshot> makeSupervisedTermination(Transport& transport, Session session,
                                                    std::vector<Neighbor> neighbors,
                                                    SnapshotSource source, int parent,
                                                    std::vector<int> children);

}  // namespace tributary::detail
