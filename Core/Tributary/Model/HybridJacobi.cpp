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
#include "Tributary/Base/OrderedDouble.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Iteration/NonBlockingReduce.h"
#include "Tributary/Iteration/ResidualReduction.h"
#include "Tributary/Model/HybridLinks.h"
#include "Tributary/Model/HybridSetting.h"
#include "Tributary/Transport/Clock.h"

#ifdef __unix__
#include <unistd.h>
#endif

namespace tributary {

using namespace detail;

namespace {

// Rounds go on until so many in a row have left the residual no lower than it was before: those
// that ended as they seemed to be done, and those that ended as nothing changed for the better.
constexpr int MostVainRounds = 100;
constexpr int MostStagnantRounds = 3;

// A round ends after so many judgments without a lower residual than ever before in it.
constexpr int MostVainJudgments = 100;

// After so many iterations on values of others that have not changed a thread lets others have its
// core, who may be waiting for it to bring the values that this one waits for.
constexpr int MostAlone = 20;

/// Of the cache that the cores share; what most of them have if it is not known.
std::size_t largestCacheBytes() {
#ifdef _SC_LEVEL3_CACHE_SIZE
  const long bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
  if (bytes > 0) return static_cast<std::size_t>(bytes);
#endif
  return std::size_t(32) << 20;
}

/// All threads of a team wait for each other.
class Barrier {
 public:
  /// Before anybody waits.
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

  const std::string& error() const { return error_; }
  bool limited() const { return (reasons_.load() & HybridJudge::Limit) != 0; }
  /// Residuals as they are, and moments of steadySeconds().
  const std::vector<HybridSample>& history() const { return history_; }
  /// By block; then of a dedicated thread.
  const std::vector<OperationTimes>& times() const { return times_; }
  /// By block.
  const std::vector<double>& coreSeconds() const { return coreSeconds_; }

 private:
  /// What a thread has to do when it communicates.
  struct Due {
    bool swap = false, report = false;
  };

  /// Which measurement this iteration is for.
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
    // Counted here, as an iteration that fails is one all the same for those who wait for it.
    std::int64_t n = blocks_[static_cast<std::size_t>(number)]->iterations();
    const double begin = tributary::coreSeconds();
    while (!stop_.load(std::memory_order_acquire)) iterate(number, ++n);
    coreSeconds_[static_cast<std::size_t>(number)] = tributary::coreSeconds() - begin;
  }

  /// Notes what goes wrong; the threads, and the other ranks, go on until all have been told.
  template <class Part>
  void attempt(Part&& part) {
    try {
      part();
    } catch (...) {
      const std::lock_guard<std::mutex> guard(errorMutex_);
      if (error_.empty()) error_ = currentExceptionText();
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
    if (synchronous) barrier_.wait();  // all have taken what belongs to the same iteration
    attempt([&] {
      // Before the step, which takes what the values of others make wrong out of sight.
      if (measures) block.computeResidual(times);
      block.compute(times, sample == Sample::Layers ? &draft : nullptr);
      if (swaps || measures) block.publish(times);
    });
    if (synchronous) barrier_.wait();
    // Where threads take turns, what fell due in the meantime is done, too: periods could be such
    // that each turn comes for the same one of the two.
    Due& due = due_[static_cast<std::size_t>(number)];
    due = {due.swap || swaps, due.report || measures};
    Due done;
    if (communicating && (swaps || measures)) {
      done = std::exchange(due, Due());
      communicate(number, done.swap, done.report, times);
    }
    if (synchronous) barrier_.wait();
    attempt([&] {
      if (n >= options_.maximumIterations || steadySeconds() > end_) note(HybridJudge::Limit);
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
    // Who communicated before may have been told the end just now.
    if (stop_.load(std::memory_order_acquire)) return;
    // Each by itself: the others wait for this rank's part, whatever became of the values.
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
        // If all wait for each other there is nothing that is old.
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
  std::string error_;
};

HybridJacobi::HybridJacobi(Transport& transport, const LaplaceProblem& problem,
                           const HybridOptions& options)
    : transport_(transport), problem_(problem), options_(options) {
  const std::size_t dimension = dimensionOf(problem.stencil);
  collectively(transport, [&] {
    for (std::size_t a = 0; a < 3; ++a)
      if (problem.points[a] < 1)
        throw Error("a Laplace problem with " + std::to_string(problem.points[a]) +
                    " points along an axis; give at least 1");
    if (dimension == 2 && problem.points[2] != 1)
      throw Error("a stencil in two dimensions for points in three; give 1 along z");
    if (!problem.boundary) throw Error("a Laplace problem without boundary values");
    if (options.threads < 1 || options.swapPeriod < 1 || options.residualPeriod < 1)
      throw Error("threads, swap period and residual period must be at least 1");
    if (!(options.workShare > 0 && options.workShare <= 1))
      throw Error("a work share of " + std::to_string(options.workShare) +
                  "; give a part of an equal share, above 0 and at most 1");
    if (!(options.tolerance > 0)) throw Error("the tolerance must be positive");
    if (options.variant == HybridVariant::AsynchronousDirect && options.threads < 2)
      throw Error("one thread communicates and computes nothing here; give at least two");
    if (options.variant == HybridVariant::SharedMemory && transport.size() > 1)
      throw Error("the variant for shared memory runs on one rank");
    if (isRotating(options.variant) && options.threads > 1 && !transport.threadsMayTakeTurns())
      throw Error("threads communicate in turns; initialize MPI with MPI_THREAD_SERIALIZED");
    if (hasMaster(options) && transport.size() < 2)
      throw Error("a master computes nothing; give at least two ranks, or direct traffic");
  });
  const std::vector<std::int64_t> mine{static_cast<std::int64_t>(options.variant),
                                       static_cast<std::int64_t>(options.traffic),
                                       static_cast<std::int64_t>(problem.stencil),
                                       problem.points[0],
                                       problem.points[1],
                                       problem.points[2],
                                       orderedInteger(options.tolerance),
                                       waitsForNeighbors(options) ? options.swapPeriod : 0,
                                       waitsForNeighbors(options) ? options.residualPeriod : 0};
  if (allreduce(transport, ReduceOp::Min, mine) != allreduce(transport, ReduceOp::Max, mine))
    throw Error(
        "ranks differ in the problem, the variant, the traffic, the tolerance, or periods that "
        "they "
        "share");

  const int masters = hasMaster(options) ? 1 : 0;
  boxes_.assign(static_cast<std::size_t>(masters), CellRange());
  for (const CellRange& box : cutIntoBoxes(problem.points, dimension, transport.size() - masters))
    boxes_.push_back(box);
  collectively(transport, [&] {
    subregion_ =
        std::make_unique<Subregion>(problem_, boxes_, static_cast<std::size_t>(transport.rank()));
    const CellRange& whole = box();
    const std::size_t axis = dimension - 1;
    const int computing =
        options.threads - (options.variant == HybridVariant::AsynchronousDirect ? 1 : 0);
    const double workShare = options.variant == HybridVariant::WorkScaling ? options.workShare : 1;
    const bool streams = 2 * sizeof(double) * static_cast<std::size_t>(whole.cells()) >
                         options.cacheBytes.value_or(largestCacheBytes());
    std::int64_t at = whole.lo[axis];
    for (const std::int64_t layers :
         sharesOf(whole.empty() ? 0 : whole.along(axis), computing, workShare)) {
      CellRange part = whole;
      part.lo[axis] = at;
      part.hi[axis] = at += layers;
      blocks_.push_back(
          std::make_unique<JacobiBlock>(problem_, *subregion_, part, options.captures, streams));
      if (blocks_.size() > 1) JacobiBlock::connect(*blocks_[blocks_.size() - 2], *blocks_.back());
    }
  });
}

HybridJacobi::~HybridJacobi() = default;

double HybridJacobi::value(std::int64_t i, std::int64_t j, std::int64_t k) const {
  const std::size_t axis = dimensionOf(problem_.stencil) - 1;
  const std::int64_t layer = axis == 1 ? j : k;
  for (const auto& block : blocks_)
    if (layer >= block->box().lo[axis] && layer < block->box().hi[axis])
      return block->value(i, j, k);
  throw Error("the value of a point of another rank");
}

/// The 2-norm of the residual of all values as they are, exactly added up. Collective.
double HybridJacobi::verify() {
  std::vector<Bytes> toEachRank(boxes_.size());
  collectively(transport_, [&] {
    boundary_.values.resize(subregion_->boundary().size());
    halo_ = {std::vector<double>(subregion_->halo().size())};
    for (const auto& block : blocks_) {
      block->show();
      block->publish(nullptr);
      const std::vector<double>& values = block->newestReport().boundary.values;
      for (std::size_t i = 0; i < values.size(); ++i)
        boundary_.values[block->boundaryPlaces()[i]] = values[i];
    }
    for (std::size_t other = 0; other < boxes_.size(); ++other) {
      std::vector<double> values;
      for (const std::size_t place : subregion_->neededBy(other))
        values.push_back(boundary_.values[place]);
      if (!values.empty()) toEachRank[other] = Writer().range(values).take();
    }
  });
  const std::vector<Bytes> received = exchangeBytes(transport_, std::move(toEachRank));
  double squares = 0;
  collectively(transport_, [&] {
    for (std::size_t other = 0; other < boxes_.size(); ++other) {
      const auto places = subregion_->neededFrom(other);
      if (places.empty()) continue;
      const std::vector<double> values = Reader(received[other]).range<double>();
      if (values.size() != places.size()) throw Error("malformed message: a halo of another size");
      for (std::size_t i = 0; i < places.size(); ++i) halo_.values[places[i]] = values[i];
    }
    for (const auto& block : blocks_) {
      if (!halo_.values.empty()) block->giveHalo(halo_);
      block->take(0, nullptr);
      squares += block->computeResidual(nullptr);
      block->publish(nullptr);
    }
  });
  const auto reduce = makeTransportReduce(transport_);
  ResidualReduction reduction(*reduce, Norm::Two);
  reduction.start({squares, 0, true});
  Backoff backoff;
  while (!reduction.advance()) backoff.pause(transport_);
  return reduction.result().residual;
}

HybridResult HybridJacobi::run() {
  HybridResult result;
  result.guessResidual = verify();
  const double wanted = options_.tolerance * result.guessResidual;
  double threshold = wanted;
  double residual = result.guessResidual;
  result.times.resize(blocks_.size() + 1);
  result.coreSeconds.resize(blocks_.size());
  const double begin = steadySeconds();
  const double end = begin + options_.maximumSeconds;
  // Between two swaps it may rise and fall. Ranks may have other periods, but must judge alike.
  const std::int64_t backoff = allreduce(
      transport_, ReduceOp::Max,
      MostVainJudgments + std::int64_t(10) * options_.swapPeriod / options_.residualPeriod);
  bool limited = false;
  bool stagnant = false;
  double least = residual;
  int vain = 0;
  // As nothing was ever different from a solution, there is nothing to do.
  while (residual > wanted && !limited && std::isfinite(residual) &&
         vain < (stagnant ? MostStagnantRounds : MostVainRounds)) {
    ++result.rounds;
    const HybridJudge judge(threshold, backoff);
    stagnant = false;
    const Session session = transport_.openSession();
    std::vector<Bytes> boundaries;
    if (hasMaster(options_)) {
      std::vector<Bytes> toEachRank(boxes_.size());
      collectively(transport_, [&] { toEachRank[0] = Writer().range(boundary_.values).take(); });
      boundaries = exchangeBytes(transport_, std::move(toEachRank));
    }
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
      team = std::make_unique<Team>(*this, *links, end);
    });
    ErrorCollector errors;
    if (master) {
      OperationTimes* times = options_.timingPeriod > 0 ? &result.times.back() : nullptr;
      errors.attempt([&] { stagnant = master->serve(transport_, session, judge, times); });
    } else {
      errors.attempt([&] { links->open(boundary_); });
      team->run();
      errors.attempt([&] { links->close(); });
      if (!team->error().empty()) errors.note(team->error());
      limited = team->limited();
      stagnant = links->stagnates();
      errors.attempt([&] {
        for (std::size_t i = 0; i < result.times.size(); ++i) result.times[i].add(team->times()[i]);
        for (std::size_t b = 0; b < blocks_.size(); ++b)
          result.coreSeconds[b] += team->coreSeconds()[b];
        for (const HybridSample& sample : team->history())
          result.history.push_back(
              {sample.seconds - begin, sample.iterations, sample.residual / result.guessResidual});
      });
    }
    errors.agree(transport_);
    limited = allreduce(transport_, ReduceOp::Max, limited ? 1 : 0) != 0;
    stagnant = allreduce(transport_, ReduceOp::Max, stagnant ? 1 : 0) != 0;
    residual = verify();
    if (options_.history) {
      std::int64_t fewest = std::numeric_limits<std::int64_t>::max();
      for (const auto& block : blocks_) fewest = std::min(fewest, block->iterations());
      result.history.push_back(
          {steadySeconds() - begin, fewest, residual / result.guessResidual, true});
    }
    // Not lower and lower: what rounding does not let be reached would be waited for.
    threshold = std::max(0.5 * threshold, 0.25 * wanted);
    vain = residual < least ? 0 : vain + 1;
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
