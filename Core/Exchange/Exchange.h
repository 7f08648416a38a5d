#pragma once
// Interface agreed on by all parts of the library; the implementation may refine it.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "Tributary/Exchange/Assignment.h"
#include "Tributary/Exchange/Mailbox.h"
#include "Tributary/Exchange/Statistics.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// How the callback is interleaved with communication.
enum class Schedule {
  Synchronous,   ///< BSP rounds: every block steps once, all messages arrive, then the next round.
  Neighborhood,  ///< Rounds that go on when a chosen share of the expected messages is in.
  Asynchronous   ///< iexchange: nobody waits (iexchange paper, Algorithm 2).
};

struct ExchangeOptions {
  Schedule schedule = Schedule::Asynchronous;
  double arrivals = 1.0;  ///< Neighborhood only: share in [0, 1] of the linked blocks.
  std::string detector = "consensus";
  std::size_t batchBytes = 64 << 10;  ///< A destination's batch leaves when it is this large ...
  double holdSeconds = 20e-6;         ///< ... or this old, whichever is first.
  std::size_t inFlightBytes = std::size_t(256) << 20;  ///< Bound on a rank's unfinished sends.
  double stallSeconds = 120;  ///< No progress for so long: stall report. 0: never.
};

/// The user's callback: dequeues, computes, enqueues; called as often as the schedule likes.
/// @param block  global id of a block of this rank
/// @return true while local work remains (call me again), false when only a message can bring more.
using Step = std::function<bool(BlockId block, Mailbox& mailbox)>;

/// Runs a callback over the blocks of all ranks until every block is done and no message is in
/// flight. Collective: constructed and run on all ranks of the transport.
class Exchange {
 public:
  /// @param links  for each local block, in order, the blocks that it may know as neighbours (used
  ///               by Neighborhood to know which messages to expect; a message may go to any
  ///               block).
  Exchange(Transport& transport, Assignment assignment, std::vector<std::vector<BlockId>> links,
           ExchangeOptions options, Step step);
  ~Exchange();

  /// One non-blocking turn of the state machine. @return true once all ranks know the end.
  bool advance();

  /// Spins advance() to the end; `monitor` is called between turns, and if it returns false the
  /// exchange is aborted on all ranks. Throws Error (on the rank that saw it) when a callback
  /// threw, a message was malformed or nothing moved for stallSeconds; the other ranks leave too
  /// and throw an Error that names the rank.
  void run(const std::function<bool()>& monitor = {});

  /// Local call, obeyed by all ranks: queues are dropped, callbacks no longer called.
  void abort(const std::string& why = {});
  bool aborted() const;

  const ExchangeStatistics& statistics() const;

 private:
  class Engine;
  std::unique_ptr<Engine> engine_;
};

}  // namespace tributary
