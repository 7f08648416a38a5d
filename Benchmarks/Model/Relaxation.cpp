// SPDX-License-Identifier: BSD-3-Clause
#include "Model/Relaxation.h"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <functional>
#include <iostream>
#include <limits>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "Support/Report.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Base/HugePages.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Model/HybridJacobi.h"
#include "Tributary/Transport/Clock.h"
#include "Tributary/Transport/Mpi.h"

namespace bench {

namespace {

using tributary::CellRange;
using tributary::HybridJacobi;
using tributary::HybridOptions;
using tributary::HybridResult;
using tributary::HybridVariant;
using tributary::LaplaceProblem;
using tributary::ReduceOp;
using tributary::Transport;

const std::vector<std::pair<std::string, HybridVariant>> Names = {
    {"WS", HybridVariant::WorkScaling},
    {"RTINC", HybridVariant::RotatingIncrementing},
    {"RTMAXIT", HybridVariant::RotatingMostIterations},
    {"RTMNRS", HybridVariant::RotatingLeastResidual},
    {"ASNCDIR", HybridVariant::AsynchronousDirect},
    {"SNCDIR", HybridVariant::SynchronousDirect},
    {"SHRD", HybridVariant::SharedMemory}};

HybridVariant variantOf(const std::string& name) {
  for (const auto& [known, variant] : Names)
    if (known == name) return variant;
  throw tributary::Error("unknown variant '" + name + "'");
}

/// Hot below, warm to the right.
double boundaryValue(std::int64_t i, std::int64_t j, std::int64_t) {
  return j < 0 ? 1 : i < 0 ? 0 : 0.25 * std::sin(0.1 * static_cast<double>(i + j));
}

/// A square of `size` points for each rank, in a rectangle that is as square as can be.
LaplaceProblem problemOf(std::int64_t size, int ranks) {
  auto along = static_cast<std::int64_t>(std::sqrt(static_cast<double>(ranks)));
  while (ranks % along != 0) --along;
  LaplaceProblem problem;
  problem.points = {size * along, size * (ranks / along), 1};
  problem.boundary = boundaryValue;
  return problem;
}

/// The 2-norm of the residual, written down from the differences.
double residualOf(const LaplaceProblem& problem, const std::vector<double>& values) {
  const std::int64_t nx = problem.points[0], ny = problem.points[1];
  const auto at = [&](std::int64_t i, std::int64_t j) {
    const bool inside = i >= 0 && i < nx && j >= 0 && j < ny;
    return inside ? values[static_cast<std::size_t>(j * nx + i)] : boundaryValue(i, j, 0);
  };
  double squares = 0;
  for (std::int64_t j = 0; j < ny; ++j)
    for (std::int64_t i = 0; i < nx; ++i) {
      const double r = at(i - 1, j) + at(i + 1, j) + at(i, j - 1) + at(i, j + 1) - 4 * at(i, j);
      squares += r * r;
    }
  return std::sqrt(squares);
}

/// Throws if the residual of a result differs from the reported one. Collective.
void check(Transport& transport, const LaplaceProblem& problem, const HybridJacobi& solver,
           const HybridResult& result) {
  const CellRange& box = solver.box();
  std::vector<double> mine;
  for (std::int64_t j = box.lo[1]; j < box.hi[1]; ++j)
    for (std::int64_t i = box.lo[0]; i < box.hi[0]; ++i) mine.push_back(solver.value(i, j, 0));
  const std::vector<std::int64_t> ends{box.lo[0], box.hi[0], box.lo[1], box.hi[1]};
  const auto values = tributary::allgatherv(transport, mine);
  const auto boxes = tributary::allgatherv(transport, ends);
  std::vector<double> all(values.size());
  std::size_t next = 0;
  for (std::size_t b = 0; b < boxes.size(); b += 4)
    for (std::int64_t j = boxes[b + 2]; j < boxes[b + 3]; ++j)
      for (std::int64_t i = boxes[b]; i < boxes[b + 1]; ++i)
        all[static_cast<std::size_t>(j * problem.points[0] + i)] = values[next++];
  const double told = result.residual * result.guessResidual;
  const double found = residualOf(problem, all);
  if (!(std::abs(found - told) <= 1e-9 * result.guessResidual))
    throw tributary::Error("the result reports a residual of " + std::to_string(told) +
                           ", but the values have one of " + std::to_string(found));
}

/// The outcome of a run, the same on all ranks.
struct Outcome {
  bool converged = false;
  double seconds = 0;
  double residual = 0;
  int rounds = 0;
  double mostIterations = 0, fewestIterations = 0, iterations = 0;  ///< of a thread; the mean
  std::vector<double> rates;   ///< of each thread, mean over the ranks, a second
  std::vector<double> shares;  ///< of the squared residual of each thread, likewise
  std::vector<tributary::HybridSample> history;  ///< of this rank
};

Outcome runOn(Transport& transport, const LaplaceProblem& problem, const HybridOptions& options) {
  HybridJacobi solver(transport, problem, options);
  tributary::barrier(transport);
  const HybridResult result = solver.run();
  check(transport, problem, solver, result);
  Outcome outcome;
  outcome.converged = result.converged;
  outcome.seconds = tributary::allreduce(transport, ReduceOp::Max, result.seconds);
  outcome.residual = result.residual;
  outcome.rounds = result.rounds;
  outcome.history = result.history;
  // A master computes nothing.
  std::vector<double> iterations, squares;
  if (!solver.box().empty()) {
    for (const std::int64_t n : result.iterations) iterations.push_back(static_cast<double>(n));
    squares = result.squaredResiduals;
  }
  const auto threads = static_cast<double>(iterations.size());
  const auto allIterations = tributary::allgatherv(transport, iterations);
  const auto allSquares = tributary::allgatherv(transport, squares);
  const auto most =
      static_cast<std::size_t>(tributary::allreduce(transport, ReduceOp::Max, threads));
  const std::size_t ranks = allIterations.size() / most;
  outcome.mostIterations = *std::max_element(allIterations.begin(), allIterations.end());
  outcome.fewestIterations = *std::min_element(allIterations.begin(), allIterations.end());
  double sum = 0;
  for (const double square : allSquares) sum += square;
  for (const double n : allIterations)
    outcome.iterations += n / static_cast<double>(allIterations.size());
  for (std::size_t t = 0; t < most; ++t) {
    double rate = 0, share = 0;
    for (std::size_t r = 0; r < ranks; ++r) {
      rate += allIterations[r * most + t] / outcome.seconds / static_cast<double>(ranks);
      share += allSquares[r * most + t] / sum;
    }
    outcome.rates.push_back(rate);
    outcome.shares.push_back(share);
  }
  return outcome;
}

HybridOptions hybridOptions(const RelaxationOptions& options, const std::string& variant) {
  HybridOptions hybrid;
  hybrid.variant = variantOf(variant);
  hybrid.traffic = options.traffic == "master" ? tributary::HybridTraffic::Master
                                               : tributary::HybridTraffic::Direct;
  hybrid.threads = options.threads;
  hybrid.residualPeriod = options.residualPeriod;
  hybrid.tolerance = options.tolerance;
  hybrid.timeLimit = options.timeLimit;
  return hybrid;
}

double middle(const std::vector<Outcome>& outcomes, double Outcome::*value) {
  std::vector<double> values;
  for (const Outcome& outcome : outcomes) values.push_back(outcome.*value);
  return median(values);
}

void addEnd(Row& row, const std::vector<Outcome>& outcomes) {
  double worst = 0;
  int rounds = 0;
  for (const Outcome& outcome : outcomes) {
    worst = std::max(worst, outcome.residual);
    rounds = std::max(rounds, outcome.rounds);
  }
  row["seconds"] = middle(outcomes, &Outcome::seconds);
  row["iterations"] = static_cast<std::int64_t>(middle(outcomes, &Outcome::iterations));
  row["minimum iterations"] =
      static_cast<std::int64_t>(middle(outcomes, &Outcome::fewestIterations));
  row["rate"] = middle(outcomes, &Outcome::iterations) / middle(outcomes, &Outcome::seconds);
  row["residual"] = worst;
  row["rounds"] = rounds;
  std::vector<double> single;
  for (const Outcome& outcome : outcomes) single.push_back(outcome.seconds);
  row["single seconds"] = single;
}

/// Runs take turns, every other time backwards.
template <class Run>
std::vector<std::vector<Outcome>> inTurns(int repeat, std::size_t cases, Run&& run) {
  std::vector<std::vector<Outcome>> outcomes(cases);
  for (int r = 0; r < repeat; ++r)
    for (std::size_t n = 0; n < cases; ++n) {
      const std::size_t c = r % 2 == 0 ? n : cases - 1 - n;
      outcomes[c].push_back(run(c));
    }
  return outcomes;
}

/// Figures 1 and 2: time, iterations and their rate against the swap period, or the residual's way.
void measureConvergence(Transport& transport, const RelaxationOptions& options, Report& report) {
  struct Case {
    std::int64_t size;
    int swapPeriod;
    std::string variant;
  };
  std::vector<Case> cases;
  for (const std::int64_t size : options.sizes)
    for (const int swapPeriod : options.swapPeriods)
      for (const std::string& variant : options.variants)
        cases.push_back({size, swapPeriod, variant});
  const bool history = options.part == "history";
  const int ranks = transport.size() - (options.traffic == "master" ? 1 : 0);
  const auto outcomes = inTurns(history ? 1 : options.repeat, cases.size(), [&](std::size_t c) {
    HybridOptions hybrid = hybridOptions(options, cases[c].variant);
    hybrid.swapPeriod = cases[c].swapPeriod;
    hybrid.history = history;
    return runOn(transport, problemOf(cases[c].size, ranks), hybrid);
  });
  for (std::size_t c = 0; c < cases.size(); ++c) {
    Row row;
    row["ranks"] = transport.size();
    row["size"] = cases[c].size;
    row["swap period"] = cases[c].swapPeriod;
    row["variant"] = cases[c].variant;
    if (!history) {
      addEnd(row, outcomes[c]);
      report.add(row);
      continue;
    }
    // No more samples than a plot can show.
    const auto& samples = outcomes[c].front().history;
    const std::size_t stride = samples.size() / 50 + 1;
    for (std::size_t s = 0; s < samples.size(); ++s) {
      if (s % stride != 0 && s + 1 < samples.size()) continue;
      row["seconds"] = samples[s].seconds;
      row["iterations"] = samples[s].iterations;
      row["residual"] = samples[s].residual;
      row["verified"] = samples[s].verified ? 1 : 0;
      report.add(row);
    }
  }
}

/// Figures 3 and 4: rates and shares of the residual, thread by thread.
void measureThreads(Transport& transport, const RelaxationOptions& options, Report& report) {
  const int ranks = transport.size() - (options.traffic == "master" ? 1 : 0);
  for (const std::int64_t size : options.sizes)
    for (const int swapPeriod : options.swapPeriods)
      for (const double share : options.workShares) {
        HybridOptions hybrid = hybridOptions(options, "WS");
        hybrid.swapPeriod = swapPeriod;
        hybrid.workShare = share;
        hybrid.tolerance = 1e-30;
        const Outcome outcome = runOn(transport, problemOf(size, ranks), hybrid);
        for (std::size_t t = 0; t < outcome.rates.size(); ++t) {
          Row row;
          row["ranks"] = transport.size();
          row["size"] = size;
          row["swap period"] = swapPeriod;
          row["work share"] = share;
          row["thread"] = t;
          row["rate"] = outcome.rates[t];
          row["residual share"] = outcome.shares[t];
          report.add(row);
        }
      }
}

/// Compares asynchronous with synchronous iterations if one of all threads is slow.
void measureSlow(Transport& transport, const RelaxationOptions& options, Report& report) {
  const int ranks = transport.size() - (options.traffic == "master" ? 1 : 0);
  for (const std::int64_t size : options.sizes) {
    const LaplaceProblem problem = problemOf(size, ranks);
    double sleep = options.slowMicroseconds * 1e-6;
    if (sleep == 0) {
      // The duration of an iteration without sleep, the same on all ranks.
      HybridOptions hybrid = hybridOptions(options, "SNCDIR");
      hybrid.iterationLimit = 500;
      const Outcome outcome = runOn(transport, problem, hybrid);
      sleep = 9 * outcome.seconds / outcome.iterations;
    }
    // The threads of the last rank: all of them, or the last one.
    for (const bool wholeRank : {false, true}) {
      if (wholeRank && transport.size() == 1) continue;
      const auto outcomes = inTurns(options.repeat, options.variants.size(), [&](std::size_t v) {
        HybridOptions hybrid = hybridOptions(options, options.variants[v]);
        const int computing =
            options.threads - (hybrid.variant == HybridVariant::AsynchronousDirect ? 1 : 0);
        const bool here = transport.rank() == transport.size() - 1;
        hybrid.afterIteration = [=](int thread) {
          if (here && (wholeRank || thread == computing - 1))
            std::this_thread::sleep_for(std::chrono::duration<double>(sleep));
        };
        return runOn(transport, problem, hybrid);
      });
      double synchronous = std::numeric_limits<double>::quiet_NaN();
      for (std::size_t v = 0; v < options.variants.size(); ++v)
        if (options.variants[v] == "SNCDIR") synchronous = middle(outcomes[v], &Outcome::seconds);
      for (std::size_t v = 0; v < options.variants.size(); ++v) {
        Row row;
        row["ranks"] = transport.size();
        row["threads"] = options.threads;
        row["size"] = size;
        row["slow"] = wholeRank ? "rank" : "thread";
        row["sleep us"] = sleep * 1e6;
        row["variant"] = options.variants[v];
        addEnd(row, outcomes[v]);
        row["speedup over SNCDIR"] = synchronous / middle(outcomes[v], &Outcome::seconds);
        report.add(row);
      }
    }
  }
}

// ---- Memory ----

typedef double Four __attribute__((vector_size(32)));

/// The kernels that tell what memory can do, over [first, last) of arrays of 32-byte units.
struct Stream {
  std::string name;
  double bytes;  ///< that move for a double: ordinary stores read their lines before
  std::function<void(const double* a, const double* b, double* c, std::size_t first,
                     std::size_t last)>
      run;
};

void storePast(double* to, Four value) {
#if defined(__clang__)
  __builtin_nontemporal_store(value, reinterpret_cast<Four*>(to));
#elif defined(__SSE2__)
  typedef double Two __attribute__((vector_size(16)));
  __builtin_ia32_movntpd(to, Two{value[0], value[1]});
  __builtin_ia32_movntpd(to + 2, Two{value[2], value[3]});
#else
  *reinterpret_cast<Four*>(to) = value;
#endif
}

std::vector<Stream> streams() {
  const auto in = [](const double* p) { return *reinterpret_cast<const Four*>(p); };
  return {{"copy", 24,
           [=](const double* a, const double*, double* c, std::size_t first, std::size_t last) {
             for (std::size_t i = first; i < last; i += 4)
               *reinterpret_cast<Four*>(c + i) = in(a + i);
           }},
          {"triad", 32,
           [=](const double* a, const double* b, double* c, std::size_t first, std::size_t last) {
             for (std::size_t i = first; i < last; i += 4)
               *reinterpret_cast<Four*>(c + i) = in(a + i) + 3.0 * in(b + i);
           }},
          {"copy past caches", 16,
           [=](const double* a, const double*, double* c, std::size_t first, std::size_t last) {
             for (std::size_t i = first; i < last; i += 4) storePast(c + i, in(a + i));
             tributary::drainStreams();
           }},
          {"triad past caches", 24,
           [=](const double* a, const double* b, double* c, std::size_t first, std::size_t last) {
             for (std::size_t i = first; i < last; i += 4)
               storePast(c + i, in(a + i) + 3.0 * in(b + i));
             tributary::drainStreams();
           }}};
}

/// Runs work on several threads at once. @return seconds of the slowest
double onThreads(int threads, const std::function<void(int)>& work) {
  std::vector<std::thread> team;
  const double begin = tributary::steadySeconds();
  for (int t = 0; t < threads; ++t) team.emplace_back([&, t] { work(t); });
  for (std::thread& thread : team) thread.join();
  return tributary::steadySeconds() - begin;
}

/// Memory traffic of an iteration per point, which is written past the caches.
constexpr double IterationBytes = 16;

/// Seconds of each of streams() for this number of points.
std::vector<double> timeStreams(int threads, std::size_t points) {
  const std::size_t size = points / 4 / static_cast<std::size_t>(threads) * 4;  // a thread's
  std::vector<tributary::HugePages> memory;
  std::array<double*, 3> arrays{};
  for (double*& array : arrays) {
    memory.emplace_back(points * sizeof(double));
    array = reinterpret_cast<double*>(memory.back().data());
  }
  onThreads(threads, [&](int t) {
    const std::size_t first = static_cast<std::size_t>(t) * size;
    for (double* array : arrays) std::fill_n(array + first, size, 1.0 + t);
  });
  std::vector<double> seconds;
  for (const Stream& stream : streams()) {
    std::vector<double> times;
    for (int r = 0; r < 5; ++r)
      times.push_back(onThreads(threads, [&](int t) {
        const std::size_t first = static_cast<std::size_t>(t) * size;
        stream.run(arrays[0], arrays[1], arrays[2], first, first + size);
      }));
    seconds.push_back(median(times));
  }
  return seconds;
}

/// Seconds of an iteration over a square, measured in several iterations. None if a thread did not
/// run until another one had finished all iterations.
std::optional<double> timeIteration(Transport& transport, const RelaxationOptions& options,
                                    int iterations) {
  LaplaceProblem problem;
  problem.points = {options.edge, options.edge, 1};
  problem.boundary = boundaryValue;
  HybridOptions hybrid = hybridOptions(options, "SHRD");
  hybrid.swapPeriod = std::numeric_limits<int>::max();
  // Each thread's iterations, from the end of one to the end of the next.
  std::vector<std::vector<double>> moments(static_cast<std::size_t>(options.threads));
  hybrid.iterationLimit = iterations - 1;
  hybrid.residualPeriod = iterations;  // and then it is told to stop
  hybrid.tolerance = 1e-30;
  hybrid.afterIteration = [&](int thread) {
    moments[static_cast<std::size_t>(thread)].push_back(tributary::steadySeconds());
  };
  HybridJacobi solver(transport, problem, hybrid);
  (void)solver.run();
  double rate = 0;
  for (const auto& ends : moments) {
    std::vector<double> times;
    for (std::size_t i = 1; i < ends.size() && i + 1 < static_cast<std::size_t>(iterations); ++i)
      times.push_back(ends[i] - ends[i - 1]);
    if (times.empty()) return std::nullopt;
    rate += 1 / (options.threads * median(times));
  }
  return 1 / rate;
}

/// Compares the memory throughput of an iteration with the bandwidth of the machine. Both are
/// measured in turns, because the load of other programs changes during a run.
void measureBandwidth(Transport& transport, const RelaxationOptions& options, Report& report) {
  if (transport.size() > 1) throw tributary::Error("--part bandwidth must run on one rank");
  const auto points = static_cast<std::size_t>(options.edge * options.edge);
  const std::vector<Stream> all = streams();
  std::vector<std::vector<double>> seconds(all.size());
  std::vector<double> ofIteration, share;
  for (int r = 0; r < options.repeat; ++r) {
    const std::vector<double> times = timeStreams(options.threads, points);
    double best = 0;
    for (std::size_t s = 0; s < all.size(); ++s) {
      seconds[s].push_back(times[s]);
      best = std::max(best, all[s].bytes / times[s]);
    }
    std::optional<double> time;
    for (int iterations = 12; !time; iterations *= 2)
      time = timeIteration(transport, options, iterations);
    ofIteration.push_back(*time);
    share.push_back(IterationBytes / ofIteration.back() / best);
  }
  const auto add = [&](const std::string& what, double bytes, const std::vector<double>& times) {
    Row row;
    row["kernel"] = what;
    row["bytes/point"] = bytes;
    row["ns/point"] = 1e9 * median(times) / static_cast<double>(points);
    row["GB/s"] = 1e-9 * bytes * static_cast<double>(points) / median(times);
    return row;
  };
  constexpr double None = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t s = 0; s < all.size(); ++s) {
    Row row = add(all[s].name, all[s].bytes, seconds[s]);
    for (const char* name : {"share of the limit", "least", "most"}) row[name] = None;
    report.add(row);
  }
  Row row = add("Jacobi iteration", IterationBytes, ofIteration);
  row["share of the limit"] = median(share);
  row["least"] = *std::min_element(share.begin(), share.end());
  row["most"] = *std::max_element(share.begin(), share.end());
  report.add(row);
}

}  // namespace

void measureRelaxation(const RelaxationOptions& options) {
  const auto transport = tributary::makeMpiTransport(MPI_COMM_WORLD);
  for (const std::string& variant : options.variants) variantOf(variant);
  Row settings;
  settings["part"] = options.part;
  settings["threads"] = options.threads;
  if (options.part == "bandwidth") {
    settings["edge"] = options.edge;
  } else {
    settings["traffic"] = options.traffic;
    settings["residual period"] = options.residualPeriod;
    settings["tolerance"] = options.tolerance;
  }
  settings["repetitions"] = options.repeat;
  Report report("Hybrid Jacobi iterations (medians)", settings);
  if (options.part == "threads") {
    measureThreads(*transport, options, report);
  } else if (options.part == "slow") {
    measureSlow(*transport, options, report);
  } else if (options.part == "bandwidth") {
    measureBandwidth(*transport, options, report);
  } else {
    measureConvergence(*transport, options, report);
  }
  if (transport->rank() == 0) report.publish(options.json, options.csv);
}

}  // namespace bench
