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
#include "Tributary/Exchange/Timeline.h"
#include "Tributary/Termination/Detector.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// How calls of the callback are interleaved with communication.
enum class Schedule {
  /// Bulk-synchronous rounds: each block is called once, all messages arrive, then the next round
  /// begins.
  Synchronous,
  /// Rounds that end when a chosen share of the expected messages has arrived: T. Peterka, R. Ross,
  /// "Versatile Communication Algorithms for Data Analysis", EuroMPI 2012, LNCS 7490, Algorithm 3.
  /// Accepts only detectors for the AP model, because a passive rank may send messages that
  /// announce rounds.
  Neighborhood,
  /// No rank waits for another: D. Morozov et al., "IExchange: Asynchronous Communication and
  /// Termination Detection for Iterative Algorithms", LDAV 2021,
  /// doi:10.1109/LDAV53230.2021.00009, Algorithm 2.
  Asynchronous
};

/// Whether the schedule calls a block at most once per round. Then a call should do all work that
/// is available. Otherwise messages are received between calls, and calls should be short.
[[nodiscard]] constexpr bool calledOncePerRound(Schedule schedule) {
  switch (schedule) {
    case Schedule::Synchronous:
    case Schedule::Neighborhood:
      return true;
    case Schedule::Asynchronous:
      break;
  }
  return false;
}

/// The parameters of an exchange.
struct ExchangeOptions {
  /// The same on all ranks. Default: Asynchronous.
  Schedule schedule = Schedule::Asynchronous;
  /// Neighborhood only: the share in [0, 1] of the expected messages that ends a round. A rank
  /// expects one message per round for each pair of a local block and a block of another rank that
  /// is linked to it. It expects none from ranks without work. At 0 no rank waits. At 1 a rank
  /// begins a round after all linked ranks with work have ended the previous one. Late messages are
  /// delivered in a later round. May differ among ranks. Default: 1.
  double arrivals = 1.0;
  /// One of detectorNames(), or "default" for defaultDetector(). The same on all ranks.
  std::string detector = "default";
  /// The work model that callbacks follow, and the parameters of the detector. The same on all
  /// ranks.
  DetectorOptions detection;
  /// The size in bytes at which the batch for a destination rank is sent. Default: 65536.
  std::size_t batchBytes = 64 << 10;
  /// The time in microseconds after which a batch is sent although it is smaller than `batchBytes`,
  /// multiplied by the number of ranks with an open batch. So a busy rank sends at most one batch
  /// per hold time. The schedule Asynchronous holds the first batches after an idle turn for a
  /// shorter time. Default: 5.
  double holdTime = 5;
  /// The limit in bytes of unfinished sends. Above it, a rank receives but makes no calls. A single
  /// call may exceed the limit. Default: 256 MiB.
  std::size_t inFlightBytes = std::size_t(256) << 20;
  /// The time in seconds without progress on any rank after which the exchange fails with a report;
  /// 0 for no limit. Default: 120.
  double stallTimeout = 120;
  /// Receives what this rank does, and when; null for none. Must outlive the exchange. May differ
  /// among ranks. Default: null.
  Timeline* timeline = nullptr;
};

/// The user's callback. It dequeues messages, computes, and enqueues messages. The schedule decides
/// how often it is called.
/// @param block  global id of a block of this rank
/// @return true if the block has work left and must be called again, false if only a message can
///         bring more work
using Step = std::function<bool(BlockId block, Mailbox& mailbox)>;

/// Runs a callback over the blocks of all ranks until every block is done and no message is in
/// flight.
///
/// Collective: constructed and run on all ranks of the transport, and not destroyed before the end.
/// Afterwards the transport can be used for another exchange, also after an error or an abort.
/// Messages that an aborted exchange leaves in the transport are never received. The memory for
/// messages that wait for a call is not limited.
class Exchange {
 public:
  /// Collective. Throws Error on all ranks if an argument is invalid on any rank.
  /// @param transport   must outlive the exchange
  /// @param assignment  the same on all ranks; its number of ranks is the size of the transport
  /// @param links  for each local block, in order, its neighbors. Neighborhood expects messages
  ///               from these. A message may be sent to any block.
  /// @param options  see ExchangeOptions for members that must be equal on all ranks
  /// @param step   called at least once for each local block
  Exchange(Transport& transport, Assignment assignment, std::vector<std::vector<BlockId>> links,
           ExchangeOptions options, Step step);
  ~Exchange();

  /// Makes one non-blocking turn of the state machine. Local. Throws the errors of run(), once, in
  /// the last turn.
  /// @return true once the end of the exchange is known on all ranks
  [[nodiscard]] bool advance();

  /// Calls advance() until the end. Collective.
  ///
  /// The exchange fails if a callback or the monitor throws, if a message is malformed, if memory
  /// for a message cannot be allocated, or if no rank makes progress for `stallTimeout`. The rank
  /// that detected the error throws it; the other ranks throw an Error that names this rank. A
  /// callback that does not return cannot be interrupted.
  ///
  /// Callbacks and the monitor must not call collective operations of the transport, because the
  /// detector may have collective operations in progress.
  /// @param monitor  called between turns until the ranks begin to agree on the end. If it returns
  ///                 false, the exchange is aborted on all ranks.
  void run(const std::function<bool()>& monitor = {});

  /// Makes the exchange fail on all ranks, as if a callback of this rank had thrown. For errors
  /// that the caller detects after construction. Local; must be called before the first turn.
  /// @param error  the text of the error that is thrown at the end
  void fail(const std::string& error);
  /// Aborts the exchange on all ranks: messages are dropped and no more calls are made. Local; may
  /// be called in a callback. An abort is not an error: run() returns. Has no effect once the ranks
  /// agree on the end.
  /// @param why  see reason()
  void abort(const std::string& why = {});
  /// Whether the exchange was aborted or has failed. The same on all ranks after the end.
  [[nodiscard]] bool aborted() const;
  /// The argument of abort() on the lowest rank that called it, or the text of the error. Empty
  /// before the end.
  [[nodiscard]] const std::string& reason() const;

  /// The counters of this rank. Times and waves are complete after the end.
  [[nodiscard]] const ExchangeStatistics& statistics() const;

 private:
  class Engine;
  std::unique_ptr<Engine> engine_;
};

}  // namespace tributary
