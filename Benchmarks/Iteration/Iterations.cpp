// SPDX-License-Identifier: BSD-3-Clause
#include "Iteration/Iterations.h"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "Support/Mpi.h"
#include "Support/Report.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Relaxation/ConvectionDiffusionSolver.h"
#include "Tributary/Transport/Mpi.h"
#include "Tributary/Transport/Simulated.h"

namespace bench {

namespace {

using tributary::CellGrid;
using tributary::CellRange;
using tributary::ConvergenceDetection;
using tributary::IterationSchedule;
using tributary::SendMode;
using tributary::Transport;

constexpr double Diffusivity = 1;
constexpr std::array<double, 3> Velocity = {{8, 4, 2}};

/// The unit cube with clean sides, a flow across it, and a source.
struct Problem {
  std::int64_t cells;
  double inverseStep;
  double width() const { return 1 / static_cast<double>(cells); }

  CellGrid grid() const {
    CellGrid grid;
    for (auto& ends : grid.ends) {
      for (std::int64_t i = 0; i <= cells; ++i) ends.push_back(static_cast<double>(i) * width());
    }
    return grid;
  }
  double source(std::int64_t i, std::int64_t j, std::int64_t k) const {
    return 1 + std::sin(static_cast<double>(i + 2 * j + 3 * k) * width());
  }

  /// The largest magnitude of b - A u, written down from the differences: the last step is 0.
  double residual(const std::vector<double>& u) const {
    const double h = width();
    double largest = 0;
    const auto at = [&](std::int64_t i, std::int64_t j, std::int64_t k) {
      return u[static_cast<std::size_t>((k * cells + j) * cells + i)];
    };
    for (std::int64_t k = 0; k < cells; ++k) {
      for (std::int64_t j = 0; j < cells; ++j) {
        for (std::int64_t i = 0; i < cells; ++i) {
          const std::array<std::int64_t, 3> cell = {{i, j, k}};
          double r = source(i, j, k) - inverseStep * at(i, j, k);
          for (std::size_t a = 0; a < 3; ++a) {
            for (const int side : {-1, 1}) {
              auto other = cell;
              other[a] += side;
              const bool inside = other[a] >= 0 && other[a] < cells;
              const double value = inside ? at(other[0], other[1], other[2]) : 0;
              // The middle of a cell is half as far from a side as from the next one's.
              const double diffusion = Diffusivity / (inside ? h : 0.5 * h);
              const double inflow = side < 0 ? Velocity[a] : 0;
              r += (inflow + diffusion) / h * (value - at(i, j, k));
            }
          }
          largest = std::max(largest, std::fabs(r));
        }
      }
    }
    return largest;
  }
};

/// The two numbers nearest to each other that make up `ranks`, the smaller one first.
std::array<int, 2> nearSquare(int ranks) {
  int first = static_cast<int>(std::sqrt(static_cast<double>(ranks)));
  while (ranks % first != 0) --first;
  return {{first, ranks / first}};
}

/// A rank's columns of cells, as in the paper: the (x, y) plane is cut, z is not.
CellRange columnsOf(std::int64_t cells, int rank, int ranks) {
  const auto cut = nearSquare(ranks);
  const std::array<int, 2> place = {{rank % cut[0], rank / cut[0]}};
  CellRange box;
  box.hi[2] = cells;
  for (std::size_t a = 0; a < 2; ++a) {
    box.lo[a] = cells * place[a] / cut[a];
    box.hi[a] = cells * (place[a] + 1) / cut[a];
  }
  return box;
}

struct Way {
  std::string name;
  IterationSchedule schedule = IterationSchedule::Asynchronous;
  ConvergenceDetection convergenceDetection = ConvergenceDetection::SnapshotReduction;
  tributary::ChannelOptions channels;
};

struct Outcome {
  double residual = 0;
  double seconds = 0;
  tributary::IterationStatistics statistics;
};

/// One rank's part of a run. Collective.
Outcome runOn(Transport& transport, const IterationsOptions& options, const Way& way) {
  const Problem problem{options.cells, options.inverseStep};
  const CellGrid grid = problem.grid();
  const CellRange box = columnsOf(problem.cells, transport.rank(), transport.size());
  tributary::ConvectionDiffusionTerms terms;
  terms.diffusivity = Diffusivity;
  terms.inverseStep = options.inverseStep;
  for (auto& side : terms.sides) side.kind = tributary::SideCondition::Kind::Value;
  tributary::FaceFlow flow;
  for (std::size_t a = 0; a < 3; ++a) {
    CellRange faces = box;
    ++faces.hi[a];
    flow.velocity[a].assign(static_cast<std::size_t>(box.empty() ? 0 : faces.cells()), Velocity[a]);
  }
  std::vector<double> source;
  for (auto k = box.lo[2]; k < box.hi[2]; ++k) {
    for (auto j = box.lo[1]; j < box.hi[1]; ++j) {
      for (auto i = box.lo[0]; i < box.hi[0]; ++i) source.push_back(problem.source(i, j, k));
    }
  }
  tributary::ConvectionDiffusionOptions solver;
  solver.iteration.schedule = way.schedule;
  solver.iteration.convergenceDetection = way.convergenceDetection;
  solver.iteration.channels = way.channels;
  solver.iteration.residualThreshold = options.residualThreshold;
  solver.iteration.iterationLimit = 100000000;
  solver.sweepsPerExchange = 1;
  // Simulated times are those of the rank's cells in the paper's problem.
  const auto paper = columnsOf(options.paperCells, transport.rank(), transport.size()).cells();
  solver.sweepSeconds = options.cellSeconds * static_cast<double>(paper);
  solver.residualSeconds = options.residualSeconds * static_cast<double>(paper);

  tributary::ConvectionDiffusionSolver equation(transport, grid, box, terms, std::move(flow),
                                                solver);
  tributary::barrier(transport);
  const double begin = transport.now();
  const tributary::IterationResult result = equation.step(source);
  const double seconds = transport.now() - begin;
  Outcome outcome;
  outcome.seconds = tributary::allreduce(transport, tributary::ReduceOp::Max, seconds);
  outcome.statistics = tributary::reduceStatistics(transport, equation.statistics());

  const auto part = equation.concentration();
  const std::vector<double> parts =
      tributary::allgatherv(transport, std::vector<double>(part.begin(), part.end()));
  if (transport.rank() != 0) return outcome;
  std::vector<double> all(parts.size());
  std::size_t next = 0;
  for (int rank = 0; rank < transport.size(); ++rank) {
    const CellRange other = columnsOf(problem.cells, rank, transport.size());
    for (auto k = other.lo[2]; k < other.hi[2]; ++k) {
      for (auto j = other.lo[1]; j < other.hi[1]; ++j) {
        for (auto i = other.lo[0]; i < other.hi[0]; ++i) {
          all[static_cast<std::size_t>((k * problem.cells + j) * problem.cells + i)] =
              parts[next++];
        }
      }
    }
  }
  outcome.residual = problem.residual(all);
  // What rounding makes of sums in another order.
  const double rounding = 1e-10 * options.residualThreshold + 1e-12;
  if (result.verdict != tributary::Verdict::Converged ||
      !(outcome.residual <= options.residualThreshold + rounding)) {
    throw tributary::Error(way.name + " ended with a residual of " +
                           std::to_string(outcome.residual / options.residualThreshold) +
                           " times the threshold");
  }
  return outcome;
}

Outcome simulate(const IterationsOptions& options, const Way& way, int ranks, std::uint64_t seed) {
  tributary::VirtualTimeNetworkOptions network;
  network.ranks = ranks;
  network.ranksPerNode = options.ranksPerNode;
  network.noise = options.noise;
  network.seed = seed;
  network.deadlockSeconds = 1e6;
  network.speeds.assign(static_cast<std::size_t>(ranks), 1.0);
  const auto cut = nearSquare(ranks);
  network.speeds[static_cast<std::size_t>(cut[0] * (cut[1] / 2) + cut[0] / 2)] = options.slowSpeed;
  // Messages cost as much as those of the paper's problem, which are larger by this factor.
  const double scale = static_cast<double>(options.paperCells) / static_cast<double>(options.cells);
  network.within.gapPerByte *= scale * scale;
  network.between.gapPerByte *= scale * scale;
  const auto net = tributary::makeVirtualTimeNetwork(network);
  Outcome outcome;
  net->run([&](Transport& transport) {
    const Outcome mine = runOn(transport, options, way);
    if (transport.rank() == 0) outcome = mine;
  });
  if (!net->left().empty()) {
    throw tributary::Error("the iteration left messages in the network: " + net->left());
  }
  return outcome;
}

std::vector<Way> waysOf(const IterationsOptions& options) {
  if (options.table == "detection") {
    return {
        {"trivial", IterationSchedule::Trivial, {}, {}},
        {"synchronous", IterationSchedule::Synchronous, {}, {}},
        {"SB96", IterationSchedule::Asynchronous, ConvergenceDetection::SupervisedTermination, {}},
        {"SSAR", IterationSchedule::Asynchronous, ConvergenceDetection::SnapshotReduction, {}}};
  }
  std::vector<Way> ways;
  for (const SendMode mode : {SendMode::Synchronous, SendMode::Eager}) {
    for (const int receives : options.receives) {
      Way way;
      way.name = mode == SendMode::Synchronous ? "Ssend" : "Send";
      way.channels = {mode, receives};
      ways.push_back(way);
    }
  }
  return ways;
}

void addRows(Report& report, const IterationsOptions& options, Transport* transport, int ranks) {
  const std::vector<Way> ways = waysOf(options);
  std::vector<std::vector<Outcome>> outcomes(ways.size());
  // Repetitions take turns, every other time backwards.
  for (int r = 0; r < options.repeat; ++r) {
    for (std::size_t n = 0; n < ways.size(); ++n) {
      const std::size_t w = r % 2 == 0 ? n : ways.size() - 1 - n;
      outcomes[w].push_back(
          transport != nullptr
              ? runOn(*transport, options, ways[w])
              : simulate(options, ways[w], ranks, options.seed + static_cast<std::uint64_t>(r)));
    }
  }
  const auto middle = [&](std::size_t w, auto&& value) {
    std::vector<double> values;
    for (const Outcome& outcome : outcomes[w]) values.push_back(value(outcome));
    return median(values);
  };
  const auto seconds = [&](std::size_t w) {
    return middle(w, [](const Outcome& o) { return o.seconds; });
  };
  for (std::size_t w = 0; w < ways.size(); ++w) {
    const auto count = [&](auto member) {
      return static_cast<std::int64_t>(
          middle(w, [&](const Outcome& o) { return static_cast<double>(o.statistics.*member); }));
    };
    Row row;
    row["ranks"] = ranks;
    row["variant"] = ways[w].name;
    if (options.table == "sends") row["receives"] = ways[w].channels.receives;
    double worst = 0;
    for (const Outcome& outcome : outcomes[w]) worst = std::max(worst, outcome.residual);
    row["residual / threshold"] = worst / options.residualThreshold;
    row["seconds"] = seconds(w);
    row["iterations"] = count(&tributary::IterationStatistics::iterations);
    row["snapshots"] = count(&tributary::IterationStatistics::snapshots);
    row["unsent"] = count(&tributary::IterationStatistics::unsent);
    if (options.table == "detection") row["speedup over synchronous"] = seconds(1) / seconds(w);
    std::vector<double> single;
    for (const Outcome& outcome : outcomes[w]) single.push_back(outcome.seconds);
    row["single seconds"] = single;
    report.add(row);
  }
}

}  // namespace

void measureIterations(const IterationsOptions& options) {
  const int rank = worldRank(), size = worldSize();
  if (!options.simulate.empty() && size > 1) {
    throw tributary::Error("--simulate runs in one process: run it on one rank");
  }
  Row settings;
  settings["cells"] = options.cells;
  settings["residual threshold"] = options.residualThreshold;
  settings["inverse step"] = options.inverseStep;
  settings["repetitions"] = options.repeat;
  if (!options.simulate.empty()) {
    settings["simulated"] = true;
    settings["paper cells"] = options.paperCells;
    settings["cell seconds"] = options.cellSeconds;
    settings["residual seconds"] = options.residualSeconds;
    settings["noise"] = options.noise;
    settings["slow speed"] = options.slowSpeed;
  }
  Report report("Iterations for a convection-diffusion step (median seconds)", settings);
  if (options.simulate.empty()) {
    const auto transport = tributary::makeMpiTransport(MPI_COMM_WORLD);
    addRows(report, options, transport.get(), size);
  }
  for (const int ranks : options.simulate) addRows(report, options, nullptr, ranks);
  if (rank == 0) report.publish(options.json);
}

}  // namespace bench
