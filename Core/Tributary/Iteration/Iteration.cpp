// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Iteration/Iteration.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "Tributary/Base/Error.h"
#include "Tributary/Base/NumberText.h"
#include "Tributary/Base/OrderedDouble.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Iteration/ExactSum.h"
#include "Tributary/Iteration/detail/ConvergenceDetector.h"
#include "Tributary/Iteration/detail/SpanningTree.h"
#include "Tributary/Iteration/detail/StopNotices.h"

namespace tributary {

using namespace detail;

namespace {

std::string argumentError(const IterationProblem& problem, const IterationOptions& options) {
  if (!problem.sweep || !problem.fill || !problem.residual) {
    return "iteration: a callback is missing; set all of sweep, fill and residual";
  }
  if (!(options.residualThreshold >= 0))
    return "iteration: residualThreshold is " + numberText(options.residualThreshold) +
           "; give at least 0";
  if (options.iterationLimit < 1)
    return "iteration: iterationLimit is " + std::to_string(options.iterationLimit) +
           "; give at least 1";
  if (options.checkInterval < 1)
    return "iteration: checkInterval is " + std::to_string(options.checkInterval) +
           "; give at least 1";
  if (options.channels.receives < 1)
    return "iteration: channels.receives is " + std::to_string(options.channels.receives) +
           "; give at least 1";
  return {};
}

std::string disagreement(Transport& transport, const IterationOptions& options) {
  const bool same = sameOnAllRanks(
      transport,
      {static_cast<std::int64_t>(options.schedule),
       static_cast<std::int64_t>(options.convergenceDetection),
       static_cast<std::int64_t>(options.reduction), static_cast<std::int64_t>(options.norm),
       orderedInteger(options.residualThreshold), options.iterationLimit, options.checkInterval});
  if (same) return {};
  return "iteration: the schedule, convergenceDetection, reduction, norm, residualThreshold, "
         "iterationLimit or checkInterval differs among ranks; give the same on all ranks";
}

std::vector<int> ranksOf(const std::vector<Neighbor>& neighbors) {
  std::vector<int> ranks;
  for (const Neighbor& neighbor : neighbors) ranks.push_back(neighbor.rank);
  return ranks;
}

/// The neighbors of snapshots include those of the tree, so a snapshot reaches all ranks.
std::vector<Neighbor> withTree(std::vector<Neighbor> neighbors, const SpanningTree& tree) {
  const std::vector<int> known = ranksOf(neighbors);
  for (const int rank : tree.neighbors()) {
    if (std::count(known.begin(), known.end(), rank) == 0) neighbors.push_back({rank, 0, 0});
  }
  return neighbors;
}

double sumOverRanks(Transport& transport, double value) {
  ExactSum sum;
  sum.add(value);
  const auto all = allreduce(transport, ReduceOp::Sum,
                             std::vector<std::int64_t>(sum.parts().begin(), sum.parts().end()));
  return ExactSum(all).value();
}

}  // namespace

/// One rank of an iteration:
///
///   Opening --tree complete, initial values of all neighbors there--> Flying (asynchronous) or
///                                                                      Sweeping (the others)
///   Sweeping --sweep, put--> Turning (with the measure's reduction; if trivial, after the values)
///   Turning --values of all neighbors there, measure known: above the threshold--> Sweeping
///                                                            at or below it: residual--> Verifying
///   Verifying --norm of the residual known: no verdict--> Sweeping, a verdict--> Agreeing
///   Flying --outcome of a snapshot known: no verdict--> Flying, a verdict--> Agreeing
///   Agreeing --all ranks have given up sweeping, errors are known--> Closing
///   Closing --notices and channels closed--> Ended
class Iteration::Engine {
 public:
  Engine(Transport& transport, IterationProblem&& problem, const IterationOptions& options)
      : transport_(transport),
        problem_(std::move(problem)),
        options_(options),
        begin_(transport.now()) {
    agreeOnError(transport, argumentError(problem_, options_));
    agreeOnError(transport, disagreement(transport, options_));
    agreeOnNeighbors(transport, problem_.neighbors);
    const Session channelsSession = transport.openSession();
    const Session treeSession = transport.openSession();
    for (Session* session : {&reductionSession_, &snapshotSession_, &noticesSession_}) {
      *session = transport.openSession();
    }
    collectively(transport, [&] {
      channels_.emplace(transport, channelsSession, problem_.neighbors, options_.channels,
                        options_.schedule != IterationSchedule::Trivial);
      tree_.emplace(transport, treeSession, ranksOf(problem_.neighbors));
    });
  }

  void require(std::function<bool()>&& condition) { condition_ = std::move(condition); }
  void abort() { abortAsked_ = true; }
  bool idle() const { return idle_; }
  bool ended() const { return phase_ == Phase::Ended; }
  const IterationResult& result() const { return result_; }
  const Incoming& recordedIncoming() const { return recordedIncoming_; }
  Transport& transport() { return transport_; }
  const std::vector<ConvergenceSample>& history() const { return history_; }

  const IterationStatistics& statistics() {
    const ChannelStatistics& channels = channels_->statistics();
    statistics_.sent = channels.sent;
    statistics_.unsent = channels.unsent;
    statistics_.received = channels.received;
    statistics_.superseded = channels.superseded;
    statistics_.bytes = channels.bytes;
    statistics_.snapshots = snapshots_;
    statistics_.protocol = tree_->messages();
    if (reduce_) statistics_.protocol += reduce_->messages();
    if (notices_) statistics_.protocol += notices_->messages();
    if (detector_) statistics_.protocol += detector_->snapshot().messages();
    return statistics_;
  }

  bool advance() {
    if (phase_ == Phase::Ended) return true;
    const double begin = transport_.now();
    const Phase before = phase_;
    idle_ = true;
    transport_.poll();
    if (notices_ && phase_ < Phase::Closing) hear();
    switch (phase_) {
      case Phase::Opening:
        open();
        break;
      case Phase::Sweeping:
        sweepSynchronously();
        break;
      case Phase::Turning:
        turn();
        break;
      case Phase::Verifying:
        if (reduction_->advance()) decide(reduction_->result(), Phase::Sweeping);
        break;
      case Phase::Flying:
        fly();
        break;
      case Phase::Agreeing:
        agree();
        break;
      case Phase::Closing:
        if (closeAll()) end();
        break;
      case Phase::Ended:
        break;
    }
    if (phase_ != before) idle_ = false;
    if (idle_) statistics_.idleSeconds += transport_.now() - begin;
    if (phase_ != Phase::Ended) return false;
    if (!error_.empty()) throw Error(error_);
    return true;
  }

  std::string state() const {
    constexpr const char* Names[] = {"opening", "sweeping", "turning", "verifying",
                                     "flying",  "agreeing", "closing", "ended"};
    std::string text = std::string(Names[static_cast<int>(phase_)]) + " after " +
                       std::to_string(statistics_.iterations) + " iterations; " +
                       channels_->state() + "; tree: " + tree_->state();
    if (reduce_) text += "; reduction: " + reduce_->state();
    if (detector_) text += "; detector: " + detector_->state();
    if (notices_) text += "; notices: " + notices_->state();
    return text;
  }

 private:
  enum class Phase { Opening, Sweeping, Turning, Verifying, Flying, Agreeing, Closing, Ended };

  /// Runs a callback; an exception stops the iteration on all ranks.
  template <class Action>
  void guarded(Action&& action) {
    try {
      action();
    } catch (...) {
      notices_->tell(StopReason::Error, currentExceptionText());
    }
  }

  void hear() {
    notices_->advance();
    if (std::exchange(abortAsked_, false)) notices_->tell(StopReason::Abort);
  }

  void open() {
    const bool complete = tree_->advance();
    if (complete && !notices_) {
      notices_.emplace(transport_, noticesSession_, tree_->neighbors());
      reduce_ = options_.reduction == ReductionKind::LeaderElection
                    ? makeLeaderElection(transport_, reductionSession_, tree_->neighbors())
                    : makeTransportReduce(transport_);
      putValues();
    }
    // Channels begin in synchronous mode, so all ranks begin with values of the initial iterate.
    if (!complete || !channels_->get()) return;
    if (options_.schedule != IterationSchedule::Asynchronous) {
      reduction_.emplace(*reduce_, options_.norm);
      phase_ = Phase::Sweeping;
      return;
    }
    channels_->switchAsync();
    SnapshotSource source{problem_.iterate, [this](std::size_t neighbor, Span<double> values) {
                            guarded([&] { problem_.fill(neighbor, values); });
                          }};
    const std::vector<Neighbor> neighbors = withTree(problem_.neighbors, *tree_);
    auto snapshot = options_.convergenceDetection == ConvergenceDetection::SnapshotReduction
                        ? makeGeneralSnapshot(transport_, snapshotSession_, neighbors, source)
                        : makeSupervisedTermination(transport_, snapshotSession_, neighbors, source,
                                                    tree_->parent(), tree_->children());
    detector_.emplace(
        std::move(snapshot), *reduce_, options_.norm,
        ConvergenceCallbacks{[this](Span<const double> recorded, const Incoming& incoming) {
                               return residual(recorded, incoming);
                             },
                             [this] { return notices_->reasons(); },
                             [this] { return conditionHolds(); }});
    phase_ = Phase::Flying;
  }

  bool conditionHolds() {
    bool holds = !condition_;
    if (condition_) guarded([&] { holds = condition_(); });
    return holds;
  }

  double residual(Span<const double> recorded, const Incoming& incoming) {
    double value = 0;
    const double begin = transport_.now();
    // Without the additional neighbors of the tree.
    guarded([&] {
      if (incoming.size() == problem_.neighbors.size()) {
        value = problem_.residual(recorded, incoming);
      } else {
        const auto count = static_cast<std::ptrdiff_t>(problem_.neighbors.size());
        value = problem_.residual(recorded, Incoming(incoming.begin(), incoming.begin() + count));
      }
    });
    statistics_.verifyingSeconds += transport_.now() - begin;
    return value;
  }

  void putValues() {
    for (std::size_t i = 0; i < problem_.neighbors.size(); ++i) {
      if (problem_.neighbors[i].sendCount == 0) continue;
      guarded([&] { problem_.fill(i, channels_->outgoing(i)); });
    }
    channels_->put();
  }

  /// @return the local measure
  double sweep(bool measure) {
    idle_ = false;
    double value = 0;
    const double begin = transport_.now();
    guarded([&] { value = problem_.sweep(channels_->incoming(), measure); });
    statistics_.computingSeconds += transport_.now() - begin;
    if (++statistics_.iterations >= options_.iterationLimit) notices_->tell(StopReason::Limit);
    return value;
  }

  // ---- Synchronous, and trivial ----

  void sweepSynchronously() {
    const std::int64_t next = statistics_.iterations + 1;
    checking_ = next % options_.checkInterval == 0 || next == options_.iterationLimit;
    measure_ = 0;
    if (notices_->heard(StopReason::Error)) {
      ++statistics_.iterations;  // keeps the number of turns equal on all ranks
    } else {
      measure_ = sweep(checking_);
    }
    putValues();
    turned_ = false;
    reducing_ = false;
    phase_ = Phase::Turning;
  }

  void turn() {
    turned_ = turned_ || channels_->get();
    if (checking_ && !reducing_ &&
        (turned_ || options_.schedule == IterationSchedule::Synchronous)) {
      reduction_->start({measure_, notices_->reasons(), true});
      reducing_ = true;
      reduced_ = false;
    }
    reduced_ = !checking_ || (reducing_ && (reduced_ || reduction_->advance()));
    if (!turned_ || !reduced_) return;
    phase_ = Phase::Sweeping;
    if (!checking_) return;
    const ResidualReduction::Part all = reduction_->result();
    note(all.residual, false);
    if (all.residual > options_.residualThreshold && std::isfinite(all.residual) &&
        all.reasons == 0) {
      return;
    }
    // All ranks are between two sweeps, and have the present values of their neighbors.
    const double mine = residual(problem_.iterate, channels_->incoming());
    reduction_->start({mine, notices_->reasons(), conditionHolds()});
    phase_ = Phase::Verifying;
  }

  // ---- Asynchronous ----

  void fly() {
    channels_->get();
    const bool supervised =
        options_.convergenceDetection == ConvergenceDetection::SupervisedTermination;
    const bool limited = statistics_.iterations >= options_.iterationLimit;
    // A rank with an empty part does not sweep: it would reach the limit long before the others.
    const bool empty = problem_.iterate.empty();
    if (empty) locallyConverged_ = true;
    if (!empty && !limited && !notices_->heard(StopReason::Error)) {
      const double measure = sweep(supervised);
      putValues();
      ++sweepsSinceRecord_;
      if (!std::isfinite(measure)) notices_->tell(StopReason::NotFinite);
      locallyConverged_ = locallySmall(measure);
    }
    const bool stopping = notices_->any();
    const bool recorded = detector_->snapshot().recorded() && !known_;
    if (!recorded && !stopping && !empty && sweepsSinceRecord_ < options_.checkInterval) return;
    const std::int64_t messages = detector_->snapshot().messages() + reduce_->messages();
    known_ = detector_->advance(locallyConverged_ || stopping);
    if (!recorded && detector_->snapshot().recorded()) sweepsSinceRecord_ = 0;
    // A turn in which the detector sent a message is not idle: its next turn may do more.
    if (known_ || detector_->snapshot().messages() + reduce_->messages() != messages) idle_ = false;
    if (known_) decide(detector_->outcome(), Phase::Flying);
  }

  /// Whether a measure is small enough that, if all ranks' are, their norm is at the threshold.
  bool locallySmall(double measure) const {
    if (options_.norm == Norm::Max) return measure <= options_.residualThreshold;
    return measure * transport_.size() <= options_.residualThreshold * options_.residualThreshold;
  }

  // ---- The end ----

  void note(double norm, bool verified) {
    history_.push_back({statistics_.iterations, transport_.now() - begin_, norm, verified});
  }

  void decide(const ResidualReduction::Part& all, Phase onwards) {
    ++snapshots_;
    note(all.residual, true);
    const auto said = [&](StopReason reason) {
      return (all.reasons & static_cast<std::uint32_t>(reason)) != 0;
    };
    result_.residual = all.residual;
    if (said(StopReason::Error) || said(StopReason::Abort)) {
      result_.verdict = Verdict::Aborted;
    } else if (all.residual <= options_.residualThreshold && all.met) {
      result_.verdict = Verdict::Converged;
    } else if (!std::isfinite(all.residual) || said(StopReason::NotFinite)) {
      result_.verdict = Verdict::NotFinite;
    } else if (said(StopReason::Limit)) {
      result_.verdict = Verdict::IterationLimit;
    } else {
      phase_ = onwards;
      return;
    }
    result_.snapshots = snapshots_;
    reduce_->start(ReduceOp::Max, {statistics_.iterations, notices_->heard(StopReason::Error)});
    phase_ = Phase::Agreeing;
  }

  void agree() {
    if (!agreed_ && !(agreed_ = reduce_->advance())) return;
    // The text of the error is in flight.
    if (reduce_->result()[1] > 0 && !notices_->heard(StopReason::Error)) return;
    result_.iterations = reduce_->result()[0];
    phase_ = Phase::Closing;
  }

  /// Closes the notices and the channels, both in each turn, because neighbors wait for either.
  /// @return whether both are closed
  bool closeAll() {
    const bool noticesClosed = notices_->close();
    return channels_->close() && noticesClosed;
  }

  void end() {
    phase_ = Phase::Ended;
    statistics_.totalSeconds = transport_.now() - begin_;
    if (detector_) {
      const Snapshot& last = detector_->snapshot();
      std::copy(last.iterate().begin(), last.iterate().end(), problem_.iterate.begin());
      recordedIncoming_ = last.incoming();
    } else {
      recordedIncoming_ = channels_->incoming();
    }
    recordedIncoming_.resize(problem_.neighbors.size());
    if (reduce_->result()[1] == 0) return;
    result_.verdict = Verdict::Aborted;
    error_ = notices_->error();
    if (notices_->errorRank() != transport_.rank()) {
      error_ = "rank " + std::to_string(notices_->errorRank()) + ": " + error_;
    }
  }

  Transport& transport_;
  IterationProblem problem_;
  IterationOptions options_;
  std::function<bool()> condition_;
  double begin_;
  Session reductionSession_ = 0;
  Session snapshotSession_ = 0;
  Session noticesSession_ = 0;
  std::optional<Channels> channels_;
  std::optional<SpanningTree> tree_;
  std::optional<StopNotices> notices_;
  std::unique_ptr<NonBlockingReduce> reduce_;
  std::optional<ResidualReduction> reduction_;   // synchronous
  std::optional<ConvergenceDetector> detector_;  // asynchronous

  Phase phase_ = Phase::Opening;
  bool idle_ = false;
  bool abortAsked_ = false;
  std::string error_;
  std::int64_t snapshots_ = 0;
  IterationResult result_;
  Incoming recordedIncoming_;
  IterationStatistics statistics_;
  std::vector<ConvergenceSample> history_;
  bool agreed_ = false;

  bool checking_ = false;  // synchronous, in this iteration
  double measure_ = 0;
  bool turned_ = false;
  bool reducing_ = false;
  bool reduced_ = false;

  std::int64_t sweepsSinceRecord_ = 0;  // asynchronous
  bool locallyConverged_ = false;
  bool known_ = false;
};

Iteration::Iteration(Transport& transport, IterationProblem problem, IterationOptions options)
    : engine_(std::make_unique<Engine>(transport, std::move(problem), options)) {}

Iteration::~Iteration() = default;

void Iteration::require(std::function<bool()> condition) {
  engine_->require(std::move(condition));
}

bool Iteration::advance() {
  return engine_->advance();
}

bool Iteration::idle() const {
  return engine_->idle();
}

const IterationResult& Iteration::run(const std::function<bool()>& monitor) {
  Backoff backoff;
  while (!engine_->advance()) {
    if (monitor && !monitor()) engine_->abort();
    if (engine_->idle()) {
      backoff.pause(engine_->transport());
    } else {
      backoff.reset();
    }
  }
  return engine_->result();
}

void Iteration::abort() {
  engine_->abort();
}

const IterationResult& Iteration::result() const {
  return engine_->result();
}

const Incoming& Iteration::recordedIncoming() const {
  return engine_->recordedIncoming();
}

const std::vector<ConvergenceSample>& Iteration::history() const {
  return engine_->history();
}

const IterationStatistics& Iteration::statistics() const {
  return engine_->statistics();
}

std::string Iteration::state() const {
  return engine_->state();
}

IterationStatistics& IterationStatistics::operator+=(const IterationStatistics& next) {
  iterations += next.iterations;
  snapshots += next.snapshots;
  sent += next.sent;
  unsent += next.unsent;
  received += next.received;
  superseded += next.superseded;
  bytes += next.bytes;
  protocol += next.protocol;
  computingSeconds += next.computingSeconds;
  verifyingSeconds += next.verifyingSeconds;
  idleSeconds += next.idleSeconds;
  totalSeconds += next.totalSeconds;
  return *this;
}

IterationStatistics reduceStatistics(Transport& transport, const IterationStatistics& mine) {
  const std::vector<std::int64_t> sums =
      allreduce(transport, ReduceOp::Sum,
                std::vector<std::int64_t>{mine.sent, mine.received, mine.superseded, mine.bytes,
                                          mine.protocol});
  const std::vector<std::int64_t> largest =
      allreduce(transport, ReduceOp::Max,
                std::vector<std::int64_t>{mine.iterations, mine.snapshots, mine.unsent});
  IterationStatistics all;
  all.sent = sums[0];
  all.received = sums[1];
  all.superseded = sums[2];
  all.bytes = sums[3];
  all.protocol = sums[4];
  all.iterations = largest[0];
  all.snapshots = largest[1];
  all.unsent = largest[2];
  all.computingSeconds = sumOverRanks(transport, mine.computingSeconds);
  all.verifyingSeconds = sumOverRanks(transport, mine.verifyingSeconds);
  all.idleSeconds = sumOverRanks(transport, mine.idleSeconds);
  all.totalSeconds = allreduce(transport, ReduceOp::Max, mine.totalSeconds);
  return all;
}

}  // namespace tributary
