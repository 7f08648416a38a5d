// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Model/HybridJacobi.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "Tributary/Base/Error.h"
#include "Tributary/Base/Hash.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Base/NumberText.h"
#include "Tributary/Base/OrderedDouble.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Iteration/NonBlockingReduce.h"
#include "Tributary/Iteration/ResidualReduction.h"
#include "Tributary/Model/HybridSetting.h"
#include "Tributary/Model/detail/HybridLinks.h"
#include "Tributary/Model/detail/JacobiBlock.h"
#include "Tributary/Transport/Clock.h"

#ifdef __unix__
#include <unistd.h>
#endif

namespace tributary {

using namespace detail;

namespace {

// The iteration ends after this many consecutive rounds without a lower residual: rounds that ended
// below the threshold, and rounds that ended because the residual stagnated.
constexpr int MostRoundsWithoutDecrease = 100;
constexpr int MostStagnantRounds = 3;

// A round ends after this many judgments without a new minimum of the residual.
constexpr int MostJudgmentsWithoutMinimum = 100;

// After this many iterations without new values of other threads or ranks, a thread yields its
// core, which may be needed to produce those values.
constexpr int MostAlone = 20;

/// The size of the shared cache; a common size if it is unknown.
std::size_t largestCacheBytes() {
#ifdef _SC_LEVEL3_CACHE_SIZE
  const long bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
  if (bytes > 0) return static_cast<std::size_t>(bytes);
#endif
  return std::size_t(32) << 20;
}

/// A barrier for all threads of a team.
class Barrier {
 public:
  /// Called before the first wait().
  void setThreads(int threads) { threads_ = threads; }
  void wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    const std::int64_t turn = turn_;
    if (++waiting_ == threads_) {
      waiting_ = 0;
      ++turn_;
      all_.notify_all();
    } else {
      all_.wait(lock, [&] { return turn_ != turn; });
    }
  }

 private:
  std::mutex mutex_;
  std::condition_variable all_;
  int threads_ = 1;
  int waiting_ = 0;
  std::int64_t turn_ = 0;
};

bool isRotating(HybridVariant variant) {
  return variant == HybridVariant::RotatingIncrementing ||
         variant == HybridVariant::RotatingMostIterations ||
         variant == HybridVariant::RotatingLeastResidual;
}

bool hasMaster(const HybridOptions& options) {
  return options.traffic == HybridTraffic::Master &&
         (options.variant == HybridVariant::WorkScaling || isRotating(options.variant));
}

bool waitsForNeighbors(const HybridOptions& options) {
  return options.variant == HybridVariant::SynchronousDirect ||
         options.variant == HybridVariant::AsynchronousDirect;
}

}  // namespace

/// The threads of a rank in one round.
class HybridJacobi::Team {
 public:
  Team(HybridJacobi& solver, HybridLinks& links, double end)
      : options_(solver.options_),
        blocks_(solver.blocks_),
        links_(links),
        end_(end),
        boundary_(solver.boundary_),
        halo_(solver.halo_),
        dedicated_(options_.variant == HybridVariant::AsynchronousDirect),
        times_(blocks_.size() + 1),
        drafts_(blocks_.size()),
        coreSeconds_(blocks_.size(), 0),
        alone_(blocks_.size(), 0),
        due_(blocks_.size()) {}

  void run() {
    const auto count = static_cast<int>(blocks_.size());
    const auto first = dedicated_ ? 0 : 1;
    std::vector<std::thread> team;
    attempt([&] {
      for (int b = first; b < count; ++b) {
        team.emplace_back([this, b] {
          while (!go_.load(std::memory_order_acquire)) leaveCore(0);
          work(b);
        });
        computing_ = b + 1;
      }
    });
    barrier_.setThreads(static_cast<int>(team.size()) + (dedicated_ ? 0 : 1));
    go_.store(true, std::memory_order_release);
    if (dedicated_) {
      communicateOnly();
    } else {
      work(0);
    }
    for (std::thread& thread : team) thread.join();
  }

  const ErrorReport& error() const { return error_; }
  bool limited() const { return (reasons_.load() & HybridJudge::Limit) != 0; }
  /// Adds the times and the history of this round.
  /// @param begin  of HybridJacobi::run()
  void addTo(HybridResult& result, double begin) const {
    for (std::size_t i = 0; i < times_.size(); ++i) result.times[i].add(times_[i]);
    for (std::size_t b = 0; b < coreSeconds_.size(); ++b) result.coreSeconds[b] += coreSeconds_[b];
    for (const HybridSample& sample : history_)
      result.history.push_back(
          {sample.seconds - begin, sample.iterations, sample.residual / result.guessResidual});
  }

 private:
  /// The tasks of a thread when it communicates.
  struct Due {
    bool swap = false, report = false;
  };

  /// The measurement that an iteration is used for.
  enum class Sample { None, Parts, Layers, Whole };
  Sample sampleOf(int block, std::int64_t iteration) const {
    if (options_.timingPeriod <= 0) return Sample::None;
    const auto place =
        scramble(static_cast<std::uint64_t>(iteration) * 64 + static_cast<std::uint64_t>(block)) %
        static_cast<std::uint64_t>(options_.timingPeriod);
    return place == 0   ? Sample::Parts
           : place == 1 ? Sample::Whole
           : place == 2 ? Sample::Layers
                        : Sample::None;
  }

  void work(int number) {
    // Counts failed iterations too, because other threads wait for each iteration.
    std::int64_t n = blocks_[static_cast<std::size_t>(number)]->iterations();
    const double begin = tributary::coreSeconds();
    while (!stop_.load(std::memory_order_acquire)) iterate(number, ++n);
    coreSeconds_[static_cast<std::size_t>(number)] = tributary::coreSeconds() - begin;
  }

  /// Runs `part` and keeps its error. All threads and ranks continue until they know of it.
  template <class Part>
  void attempt(Part&& part) {
    try {
      part();
    } catch (...) {
      const std::lock_guard<std::mutex> guard(errorMutex_);
      if (error_.text.empty()) error_ = currentExceptionReport();
      note(HybridJudge::Failed);
    }
  }

  void iterate(int number, std::int64_t n) {
    JacobiBlock& block = *blocks_[static_cast<std::size_t>(number)];
    int& alone = alone_[static_cast<std::size_t>(number)];
    if (alone >= MostAlone) leaveCore(0);
    const Sample sample = sampleOf(number, n);
    OperationTimes& draft = drafts_[static_cast<std::size_t>(number)];
    OperationTimes* times = sample == Sample::Parts ? &draft : nullptr;
    std::optional<OffCore> offCore;
    if (sample != Sample::None) offCore.emplace();
    const double begin = sample == Sample::Whole ? steadySeconds() : 0;
    const bool swaps = n % options_.swapPeriod == 0;
    const bool measures = n % options_.residualPeriod == 0;
    const bool synchronous = options_.variant == HybridVariant::SynchronousDirect;
    const bool communicating =
        !dedicated_ &&
        (synchronous ? number == 0 : communicator_.load(std::memory_order_acquire) == number);

    bool isAlone = false;
    attempt([&] {
      const bool isNew = block.take(epoch_.load(std::memory_order_acquire), times);
      isAlone = !isNew && (block.dependsOnOthers() || block.box().empty());
    });
    alone = isAlone ? alone + 1 : 0;
    if (synchronous) barrier_.wait();  // all threads have taken the values of the same iteration
    attempt([&] {
      // Before the step, which would reduce the residual due to the values of others.
      if (measures) block.computeResidual(times);
      block.compute(times, sample == Sample::Layers ? &draft : nullptr);
      if (swaps || measures) block.publish(times);
    });
    if (synchronous) barrier_.wait();
    // If threads take turns, tasks that fell due since the last turn are done as well. Otherwise
    // periods could make every turn perform the same one of the two tasks.
    Due& due = due_[static_cast<std::size_t>(number)];
    due = {due.swap || swaps, due.report || measures};
    Due done;
    if (communicating && (swaps || measures)) {
      done = std::exchange(due, Due());
      communicate(number, done.swap, done.report, times);
    }
    if (synchronous) barrier_.wait();
    attempt([&] {
      if (n >= options_.iterationLimit || steadySeconds() > end_) note(HybridJudge::Limit);
      if (sample == Sample::Whole)
        draft.iterations.emplace_back(
            IterationKind{communicating, done.swap, measures, done.report},
            steadySeconds() - begin);
      // Who waits for others has no core meanwhile.
      if (offCore) keep(number, !synchronous && offCore->seconds() > InterruptionSeconds);
      if (options_.afterIteration) options_.afterIteration(number);
    });
  }

  /// What was noted of an iteration.
  void keep(int number, bool wasInterrupted) {
    OperationTimes& own = times_[static_cast<std::size_t>(number)];
    OperationTimes& draft = drafts_[static_cast<std::size_t>(number)];
    if (wasInterrupted) {
      own.interrupted.insert(own.interrupted.end(), draft.iterations.begin(),
                             draft.iterations.end());
    } else {
      own.add(draft);
    }
    draft.clear();
  }

  /// AsynchronousDirect's thread that computes nothing.
  void communicateOnly() {
    const auto number = static_cast<int>(blocks_.size());
    for (std::int64_t n = 1; !stop_.load(std::memory_order_acquire); ++n) {
      OperationTimes* times = sampleOf(number, n) == Sample::Parts ? &times_.back() : nullptr;
      communicate(number, true, n % options_.residualPeriod == 0, times);
    }
  }

  void communicate(int number, bool swaps, bool measures, OperationTimes* times) {
    // The previous communicating thread may just have received the stop.
    if (stop_.load(std::memory_order_acquire)) return;
    // Separately: other ranks wait for the report even if the swap has failed.
    if (swaps) attempt([&] { swap(times); });
    if (measures) attempt([&] { report(times); });
    if (isRotating(options_.variant))
      communicator_.store(nextAfter(number), std::memory_order_release);
  }

  void swap(OperationTimes* times) {
    timed(times, Operation::CopyBoundary, [&] {
      boundary_.epoch = links_.epoch();
      for (const auto& block : blocks_) {
        const DatedValues& part = block->newestReport().boundary;
        boundary_.epoch = std::min(boundary_.epoch, part.epoch);
        for (std::size_t i = 0; i < part.values.size(); ++i)
          boundary_.values[block->boundaryPlaces()[i]] = part.values[i];
      }
    });
    const bool isNew = links_.swap(boundary_, halo_);
    if (isNew)
      timed(times, Operation::UpdateHalo, [&] {
        for (const auto& block : blocks_) block->giveHalo(halo_);
      });
    else if (dedicated_)
      leaveCore(0);
  }

  void report(OperationTimes* times) {
    HybridPart part;
    part.fresh = true;
    timed(times, Operation::SumResidual, [&] {
      for (const auto& block : blocks_) {
        const JacobiBlock::Report& report = block->newestReport();
        // If all ranks wait for each other, no value is old.
        const bool synchronous = options_.variant == HybridVariant::SynchronousDirect;
        const bool fresh = synchronous || report.judged == links_.epoch();
        part.fresh = part.fresh && fresh;
        part.squares += fresh && !synchronous ? report.largest : report.residual;
      }
    });
    part.reasons = reasons_.load();
    if (links_.report(part)) stop_.store(true, std::memory_order_release);
    if (options_.history && links_.epoch() > epoch_.load(std::memory_order_relaxed)) {
      std::int64_t fewest = std::numeric_limits<std::int64_t>::max();
      for (const auto& block : blocks_) fewest = std::min(fewest, block->newestReport().iterations);
      history_.push_back({steadySeconds(), fewest, links_.residual()});
    }
    epoch_.store(links_.epoch(), std::memory_order_release);
  }

  int nextAfter(int number) {
    const int count = computing_;
    if (options_.variant == HybridVariant::RotatingIncrementing) return (number + 1) % count;
    int next = 0;
    for (int b = 1; b < count; ++b) {
      const JacobiBlock::Report& best = blocks_[static_cast<std::size_t>(next)]->newestReport();
      const JacobiBlock::Report& other = blocks_[static_cast<std::size_t>(b)]->newestReport();
      const bool isBetter = options_.variant == HybridVariant::RotatingMostIterations
                                ? other.iterations > best.iterations
                                : other.residual < best.residual;
      if (isBetter) next = b;
    }
    return next;
  }

  void note(std::uint32_t reason) { reasons_.fetch_or(reason); }

  const HybridOptions& options_;
  const std::vector<std::unique_ptr<JacobiBlock>>& blocks_;
  HybridLinks& links_;
  double end_;
  DatedValues boundary_, halo_;
  bool dedicated_;
  int computing_ = 1;  // blocks that have a thread
  Barrier barrier_;
  std::vector<OperationTimes> times_;   // by thread
  std::vector<OperationTimes> drafts_;  // by block: of the iteration that is under way
  std::vector<double> coreSeconds_;     // by block: its thread's
  std::vector<HybridSample> history_;   // of the one who communicates
  std::vector<int> alone_;              // by thread: iterations without anything new
  std::vector<Due> due_;                // by thread: since it communicated last
  std::atomic<bool> go_{false};
  std::atomic<bool> stop_{false};
  std::atomic<std::int64_t> epoch_{1};
  std::atomic<int> communicator_{0};
  std::atomic<std::uint32_t> reasons_{0};
  std::mutex errorMutex_;
  ErrorReport error_;
};

HybridJacobi::HybridJacobi(Transport& transport, const LaplaceProblem& problem,
                           const HybridOptions& options)
    : transport_(transport), problem_(problem), options_(options) {
  collectively(transport, [&] { checkOptions(); });
  agreeOnOptions();
  collectively(transport, [&] {
    const int masters = hasMaster(options) ? 1 : 0;
    boxes_.assign(index(masters), CellRange());
    for (const CellRange& box :
         cutIntoBoxes(problem.points, dimensionOf(problem.stencil), transport.size() - masters))
      boxes_.push_back(box);
    makeBlocks();
  });
}

void HybridJacobi::checkOptions() const {
  for (std::size_t a = 0; a < 3; ++a)
    if (problem_.points[a] < 1)
      throw Error("HybridJacobi: the problem has " + std::to_string(problem_.points[a]) +
                  " points along an axis; give at least 1");
  if (dimensionOf(problem_.stencil) == 2 && problem_.points[2] != 1)
    throw Error(
        "HybridJacobi: the stencil is two-dimensional, but there are several points along z; "
        "give 1 point along z");
  if (!problem_.boundary)
    throw Error("HybridJacobi: the problem has no boundary values; set LaplaceProblem::boundary");
  if (options_.threads < 1 || options_.swapPeriod < 1 || options_.residualPeriod < 1)
    throw Error("HybridJacobi: threads is " + std::to_string(options_.threads) + ", swapPeriod " +
                std::to_string(options_.swapPeriod) + " and residualPeriod " +
                std::to_string(options_.residualPeriod) + "; give at least 1");
  if (!(options_.workShare > 0 && options_.workShare <= 1))
    throw Error("HybridJacobi: workShare is " + numberText(options_.workShare) +
                ", but must be in (0, 1]");
  if (!(options_.tolerance > 0))
    throw Error("HybridJacobi: the tolerance is " + numberText(options_.tolerance) +
                "; give a positive number");
  if (options_.variant == HybridVariant::AsynchronousDirect && options_.threads < 2)
    throw Error(
        "HybridJacobi: AsynchronousDirect has a dedicated thread for communication; give at "
        "least two threads");
  if (options_.variant == HybridVariant::SharedMemory && transport_.size() > 1)
    throw Error("HybridJacobi: SharedMemory runs on one rank; choose another variant");
  if (isRotating(options_.variant) && options_.threads > 1 && !transport_.threadsMayTakeTurns())
    throw Error(
        "HybridJacobi: threads communicate in turns; initialize MPI with MPI_THREAD_SERIALIZED");
  if (hasMaster(options_) && transport_.size() < 2)
    throw Error(
        "HybridJacobi: the master computes nothing; give at least two ranks, or choose Direct");
}

/// Throws Error on all ranks if ranks differ in what must be equal.
void HybridJacobi::agreeOnOptions() {
  const bool sharesPeriods = waitsForNeighbors(options_);
  std::vector<std::int64_t> mine{static_cast<std::int64_t>(options_.variant),
                                 static_cast<std::int64_t>(options_.traffic),
                                 static_cast<std::int64_t>(problem_.stencil),
                                 problem_.points[0],
                                 problem_.points[1],
                                 problem_.points[2],
                                 orderedInteger(options_.tolerance),
                                 sharesPeriods ? options_.swapPeriod : 0,
                                 sharesPeriods ? options_.residualPeriod : 0};
  if (!sameOnAllRanks(transport_, std::move(mine)))
    throw Error(
        "HybridJacobi: ranks differ in the problem, the variant, the traffic, the tolerance, or in "
        "periods that must be equal; give the same on all ranks");
}

/// Makes the subregion of this rank, and the blocks of its threads.
void HybridJacobi::makeBlocks() {
  subregion_ = std::make_unique<Subregion>(problem_, boxes_, index(transport_.rank()));
  const CellRange& whole = box();
  const std::size_t axis = dimensionOf(problem_.stencil) - 1;
  const int computing =
      options_.threads - (options_.variant == HybridVariant::AsynchronousDirect ? 1 : 0);
  const double workShare = options_.variant == HybridVariant::WorkScaling ? options_.workShare : 1;
  const bool streams =
      2 * sizeof(double) * index(whole.cells()) > options_.cacheBytes.value_or(largestCacheBytes());
  std::int64_t at = whole.lo[axis];
  for (const std::int64_t layers :
       sharesOf(whole.empty() ? 0 : whole.along(axis), computing, workShare)) {
    CellRange part = whole;
    part.lo[axis] = at;
    part.hi[axis] = at += layers;
    blocks_.push_back(
        std::make_unique<JacobiBlock>(problem_, *subregion_, part, options_.captures, streams));
    if (blocks_.size() > 1) JacobiBlock::connect(*blocks_[blocks_.size() - 2], *blocks_.back());
  }
}

HybridJacobi::~HybridJacobi() = default;

double HybridJacobi::value(std::int64_t i, std::int64_t j, std::int64_t k) const {
  const std::size_t axis = dimensionOf(problem_.stencil) - 1;
  const std::int64_t layer = axis == 1 ? j : k;
  for (const auto& block : blocks_)
    if (layer >= block->box().lo[axis] && layer < block->box().hi[axis])
      return block->value(i, j, k);
  throw Error(
      "HybridJacobi: the value of a point that is not in the box of this rank; give a point of "
      "this box");
}

/// Collects the boundary of this rank from its blocks. While no threads run.
void HybridJacobi::collectBoundary() {
  boundary_.values.resize(subregion_->boundary().size());
  halo_ = {std::vector<double>(subregion_->halo().size())};
  for (const auto& block : blocks_) {
    block->show();
    block->publish(nullptr);
    const std::vector<double>& values = block->newestReport().boundary.values;
    for (std::size_t i = 0; i < values.size(); ++i)
      boundary_.values[block->boundaryPlaces()[i]] = values[i];
  }
}

/// The sum of the squared residuals of this rank's points, with halo values of other ranks.
double HybridJacobi::residualWith(const Records<double>& halos) {
  for (std::size_t other = 0; other < boxes_.size(); ++other) {
    const auto places = subregion_->neededFrom(other);
    const Span<const double> values = halos.from(static_cast<int>(other));
    if (values.size() != places.size()) refuseMessage("a halo of another size");
    for (std::size_t i = 0; i < places.size(); ++i) halo_.values[places[i]] = values[i];
  }
  double squares = 0;
  for (const auto& block : blocks_) {
    if (!halo_.values.empty()) block->giveHalo(halo_);
    static_cast<void>(block->take(0, nullptr));
    squares += block->computeResidual(nullptr);
    block->publish(nullptr);
  }
  return squares;
}

/// The 2-norm of the residual of all present values, summed exactly. Collective.
double HybridJacobi::verify() {
  double squares = 0;
  sendRecords<double>(
      transport_,
      [&](RecordOutbox<double>& outbox) {
        collectBoundary();
        for (std::size_t other = 0; other < boxes_.size(); ++other) {
          std::vector<double> values;
          for (const std::size_t place : subregion_->neededBy(other))
            values.push_back(boundary_.values[place]);
          outbox.add(static_cast<int>(other), Span<const double>(values.data(), values.size()));
        }
      },
      [&](const Records<double>& halos) { squares = residualWith(halos); });
  const auto reduce = makeTransportReduce(transport_);
  ResidualReduction reduction(*reduce, Norm::Two);
  reduction.start({squares, 0, true});
  Backoff backoff;
  while (!reduction.advance()) backoff.pause(transport_);
  return reduction.result().residual;
}

std::int64_t HybridJacobi::fewestIterations() const {
  std::int64_t fewest = std::numeric_limits<std::int64_t>::max();
  for (const auto& block : blocks_) fewest = std::min(fewest, block->iterations());
  return fewest;
}

/// Runs the threads, or the master, of all ranks until the judge stops them. Collective.
/// @param begin  of run(), on the clock of steadySeconds()
HybridJacobi::RoundEnd HybridJacobi::runRound(const HybridJudge& judge, double begin,
                                              HybridResult& result) {
  const Session session = transport_.openSession();
  Records<double> boundaries;
  if (hasMaster(options_))
    boundaries = sendRecords<double>(transport_, [&](RecordOutbox<double>& outbox) {
      outbox.add(0, Span<const double>(boundary_.values.data(), boundary_.values.size()));
    });
  std::unique_ptr<HybridMaster> master;
  std::unique_ptr<HybridLinks> links;
  std::unique_ptr<Team> team;
  collectively(transport_, [&] {
    if (hasMaster(options_) && transport_.rank() == 0) {
      master = std::make_unique<HybridMaster>(problem_, boxes_, boundaries);
      return;
    }
    links = hasMaster(options_) ? makeMasterLinks(transport_, session, *subregion_)
                                : makeNeighborLinks(transport_, session, *subregion_, judge,
                                                    waitsForNeighbors(options_));
    team = std::make_unique<Team>(*this, *links, begin + options_.timeLimit);
  });
  RoundEnd end;
  ErrorCollector errors;
  if (master) {
    OperationTimes* times = options_.timingPeriod > 0 ? &result.times.back() : nullptr;
    errors.attempt([&] { end.stagnant = master->serve(transport_, session, judge, times); });
  } else {
    errors.attempt([&] { links->open(boundary_); });
    team->run();
    errors.attempt([&] { links->close(); });
    if (!team->error().text.empty()) errors.note(team->error());
    end = {team->limited(), links->stagnates()};
    errors.attempt([&] { team->addTo(result, begin); });
  }
  errors.agree(transport_);
  end.limited = allreduce(transport_, ReduceOp::Max, end.limited ? 1 : 0) != 0;
  end.stagnant = allreduce(transport_, ReduceOp::Max, end.stagnant ? 1 : 0) != 0;
  return end;
}

HybridResult HybridJacobi::run() {
  HybridResult result;
  result.guessResidual = verify();
  collectively(transport_, [&] {
    result.times.resize(blocks_.size() + 1);
    result.coreSeconds.resize(blocks_.size());
  });
  const double begin = steadySeconds();
  // Between two swaps the residual may rise and fall. Periods may differ among ranks, but all ranks
  // must judge alike.
  const std::int64_t stagnationLimit =
      allreduce(transport_, ReduceOp::Max,
                MostJudgmentsWithoutMinimum +
                    std::int64_t(10) * options_.swapPeriod / options_.residualPeriod);
  const double wanted = options_.tolerance * result.guessResidual;
  double threshold = wanted;
  double residual = result.guessResidual;
  double least = residual;
  int roundsWithoutDecrease = 0;
  RoundEnd end;
  // No round if the guess is a solution.
  while (residual > wanted && !end.limited && std::isfinite(residual) &&
         roundsWithoutDecrease < (end.stagnant ? MostStagnantRounds : MostRoundsWithoutDecrease)) {
    ++result.rounds;
    end = runRound(HybridJudge(threshold, stagnationLimit), begin, result);
    residual = verify();
    if (options_.history)
      result.history.push_back(
          {steadySeconds() - begin, fewestIterations(), residual / result.guessResidual, true});
    // Bounded below, because rounding errors may prevent much lower residuals.
    threshold = std::max(0.5 * threshold, 0.25 * wanted);
    roundsWithoutDecrease = residual < least ? 0 : roundsWithoutDecrease + 1;
    least = std::min(least, residual);
  }
  result.seconds = steadySeconds() - begin;
  result.converged = residual <= wanted;
  result.residual = result.guessResidual > 0 ? residual / result.guessResidual : 0;
  for (const auto& block : blocks_) {
    result.iterations.push_back(block->iterations());
    result.squaredResiduals.push_back(block->residual());
  }
  return result;
}

}  // namespace tributary
