// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "Tributary/Collective/Assignment.h"
#include "Tributary/Exchange/Mailbox.h"
#include "Tributary/Exchange/Statistics.h"
#include "Tributary/Termination/Detector.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// How the callback is interleaved with communication.
enum class Schedule {
  Synchronous,  ///< BSP rounds: every block steps once, all messages arrive, then the next round.
  /// Rounds that go on when a chosen share of the expected messages is in (T. Peterka, R. Ross,
  /// "Versatile Communication Algorithms for Data Analysis", EuroMPI 2012, Algorithm 3). Detectors
  /// for the AP model only, whatever the callbacks do: ranks that were passive tell others of
  /// rounds.
  Neighborhood,
  Asynchronous  ///< iexchange: nobody waits (iexchange paper, Algorithm 2).
};

/// Whether a block is called once a round, and so has to do in a call all that it can do then.
/// Otherwise messages are looked at between calls, and one call should not do too much.
constexpr bool calledOncePerRound(Schedule schedule) {
  switch (schedule) {
    case Schedule::Synchronous:
    case Schedule::Neighborhood:
      return true;
    case Schedule::Asynchronous:
      break;
  }
  return false;
}

struct ExchangeOptions {
  Schedule schedule = Schedule::Asynchronous;
  /// Neighborhood only: the share in [0, 1] of the expected messages that a round waits for.
  /// Expected is one message of each block of another rank that is linked to a block of this rank,
  /// for each such pair; none of ranks that have nothing to do. At 0 nobody waits, at 1 nobody
  /// begins a round before all linked ranks with work have ended the last one. May differ among
  /// ranks. Messages that come late are seen in a later round.
  double arrivals = 1.0;
  std::string detector = "default";   ///< One of detectorNames(), or "default": defaultDetector().
  DetectorOptions detection;          ///< What callbacks may do, and the detector's parameters.
  std::size_t batchBytes = 64 << 10;  ///< A destination's batch leaves when it is this large ...
  /// ... or this old, times the number of ranks that batches are made for, whichever is first: so
  /// that a rank with much to do sends one batch in this time at most. Asynchronous holds the first
  /// batches less after waiting for messages.
  double holdSeconds = 5e-6;
  /// Above so much in unfinished sends a rank's callbacks pause, while it goes on receiving; what
  /// one call of the callback sends may exceed it.
  std::size_t inFlightBytes = std::size_t(256) << 20;
  double stallSeconds = 120;  ///< No progress for so long: stall report. 0: never.
};

/// The user's callback: dequeues, computes, enqueues; called as often as the schedule likes.
/// @param block  global id of a block of this rank
/// @return true while local work remains (call me again), false when only a message can bring more.
using Step = std::function<bool(BlockId block, Mailbox& mailbox)>;

/// Runs a callback over the blocks of all ranks until every block is done and no message is in
/// flight. Collective: constructed and run on all ranks of the transport, and not destroyed before
/// the end; the transport can be used for the next exchange then, after an error or an abort too
/// (which may leave messages in it that nobody asks for any more). What has arrived and waits for a
/// callback takes as much memory as it needs.
class Exchange {
 public:
  /// @param transport   outlives the exchange
  /// @param assignment  the same on all ranks, for as many ranks as the transport has
  /// @param links  for each local block, in order, the blocks that it may know as neighbors (used
  ///               by Neighborhood to know which messages to expect; a message may go to any block)
  /// @param step   called at least once for each local block
  /// Collective. Throws Error on all ranks if an argument is wrong on any.
  Exchange(Transport& transport, Assignment assignment, std::vector<std::vector<BlockId>> links,
           ExchangeOptions options, Step step);
  ~Exchange();

  /// One non-blocking turn of the state machine. @return true once all ranks know the end. Throws
  /// Error, once and at the end only, like run().
  bool advance();

  /// Spins advance() to the end; `monitor` is called between turns, and if it returns false the
  /// exchange is aborted on all ranks. Throws Error (on the rank that saw it) when a callback or
  /// the monitor threw, a message, the detector's included, was malformed or found no memory, or
  /// nothing moved on any rank for stallSeconds; the other ranks leave too and throw an Error that
  /// names the rank. The monitor is not called while the end is agreed on. A callback that never
  /// returns cannot be interrupted. Callbacks and the monitor must not call collective operations
  /// of the transport: the detector's are on their way there.
  void run(const std::function<bool()>& monitor = {});

  /// An error of this rank, to be thrown at the end as if a callback had thrown it: for what the
  /// caller finds wrong after the construction, without an agreement of its own. Local; before the
  /// first turn.
  void fail(const std::string& error);
  /// Local call, obeyed by all ranks: queues are dropped, callbacks no longer called. May be called
  /// in a callback. Not an error: run() returns. Without effect once the end is being agreed on.
  void abort(const std::string& why = {});
  /// Whether the exchange was aborted or failed; at the end the same on all ranks.
  bool aborted() const;
  /// Why, as given to abort() on the lowest rank that called it, or the error's text. "" before the
  /// end.
  const std::string& reason() const;

  /// This rank's counters; times and waves are complete at the end.
  const ExchangeStatistics& statistics() const;

 private:
  class Engine;
  std::unique_ptr<Engine> engine_;
};

}  // namespace tributary
