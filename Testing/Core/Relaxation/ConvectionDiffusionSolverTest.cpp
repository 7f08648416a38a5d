// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Relaxation/ConvectionDiffusionSolver.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <vector>

#include "Relaxation/ConvectionDiffusionReference.h"
#include "Support/Effort.h"
#include "Support/Everywhere.h"
#include "Support/Threads.h"
#include "Support/World.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Relaxation/FaceFlow.h"
#include "Tributary/Transport/Simulated.h"

namespace tributary::testing {
namespace {

const double Pi = std::acos(-1.0);

/// What all ranks know whole.
struct Problem {
  CellGrid grid;
  ConvectionDiffusionTerms terms;
  Velocity velocity = [](std::size_t, const Cell&) { return 0.0; };
  std::vector<double> source;

  std::size_t size() const { return std::size_t(whole(grid).cells()); }
};

/// A random problem whose cells all feel something that holds them.
Problem randomProblem(const Cell& cells, std::uint64_t seed) {
  Problem problem;
  problem.grid = randomGrid(cells, seed);
  problem.terms.diffusivity = 0.02 + 0.1 * random01(seed + 1);
  problem.terms.decay = 0.5;
  problem.terms.conservative = seed % 2 == 1;
  constexpr Kind Kinds[] = {Kind::Outflow, Kind::Value, Kind::Flux, Kind::Periodic};
  std::array<Kind, 3> kinds;
  for (std::size_t side = 0; side < Sides; ++side) {
    kinds[side / 2] = Kinds[mix(seed + side / 2) % 4];
    problem.terms.sides[side] = {kinds[side / 2], random01(seed + 20 + side)};
  }
  problem.velocity = [=](std::size_t axis, const Cell& face) {
    Cell f = face;
    if (kinds[axis] == Kind::Periodic && f[axis] == cells[axis]) f[axis] = 0;
    return 2 * random01(seed + std::uint64_t(((f[2] * 50 + f[1]) * 50 + f[0]) * 3) + axis) - 1;
  };
  for (std::size_t i = 0; i < problem.size(); ++i) problem.source.push_back(random01(seed + 7 * i));
  return problem;
}

enum class Cut { Bisected, Columns, Slabs, AllOnTheLast };
constexpr Cut Cuts[] = {Cut::Bisected, Cut::Columns, Cut::Slabs, Cut::AllOnTheLast};

/// The cells of each rank, some of which may have none.
std::vector<CellRange> boxesOf(const CellGrid& grid, Cut how, int ranks) {
  const CellRange all = whole(grid);
  if (how == Cut::Bisected) return cut(all, std::size_t(ranks));
  std::vector<CellRange> boxes(std::size_t(ranks), CellRange{});
  if (how == Cut::AllOnTheLast) {
    boxes.back() = all;
    return boxes;
  }
  const int columns = how == Cut::Columns && ranks % 2 == 0 ? 2 : 1;
  const std::size_t axis = how == Cut::Slabs ? 2 : 1;
  for (int rank = 0; rank < ranks; ++rank) {
    CellRange& box = boxes[std::size_t(rank)];
    box = all;
    const auto share = [&](std::size_t a, int part, int parts) {
      box.lo[a] = all.hi[a] * part / parts;
      box.hi[a] = all.hi[a] * (part + 1) / parts;
    };
    share(axis, rank / columns, ranks / columns);
    if (columns > 1) share(0, rank % columns, columns);
  }
  return boxes;
}

template <class Visit>
void forEachCell(const CellGrid& grid, const CellRange& box, Visit&& visit) {
  for (auto k = box.lo[2]; k < box.hi[2]; ++k)
    for (auto j = box.lo[1]; j < box.hi[1]; ++j)
      for (auto i = box.lo[0]; i < box.hi[0]; ++i)
        visit(std::size_t((k * grid.along(1) + j) * grid.along(0) + i));
}

std::vector<double> partOf(const CellGrid& grid, const CellRange& box,
                           const std::vector<double>& all) {
  std::vector<double> part;
  forEachCell(grid, box, [&](std::size_t i) { part.push_back(all[i]); });
  return part;
}

/// All cells of the grid, on every rank.
std::vector<double> gathered(Transport& transport, const CellGrid& grid,
                             const std::vector<CellRange>& boxes, Span<const double> part) {
  const std::vector<double> parts =
      allgatherv(transport, std::vector<double>(part.begin(), part.end()));
  std::vector<double> all(parts.size());
  std::size_t at = 0;
  for (const CellRange& box : boxes)
    forEachCell(grid, box, [&](std::size_t i) { all[i] = parts[at++]; });
  return all;
}

/// The largest magnitude of b - A u, from the matrix that the reference writes down.
double serialResidual(const Problem& problem, const Reference& reference,
                      const std::vector<double>& u, const std::vector<double>& old) {
  double largest = 0;
  Eigen::VectorXd r = reference.fixed -
                      reference.matrix * Eigen::Map<const Eigen::VectorXd>(u.data(), int(u.size()));
  for (std::size_t i = 0; i < u.size(); ++i) {
    r[int(i)] += problem.source[i] + problem.terms.inverseStep * old[i];
    largest = std::max(largest, std::fabs(r[int(i)]));
  }
  return largest;
}

struct Setting {
  const char* name;
  IterationSchedule schedule;
  ConvergenceDetection convergenceDetection;
};

constexpr Setting Settings[] = {
    {"SSAR", IterationSchedule::Asynchronous, ConvergenceDetection::SnapshotReduction},
    {"SB96", IterationSchedule::Asynchronous, ConvergenceDetection::SupervisedTermination},
    {"synchronous", IterationSchedule::Synchronous, ConvergenceDetection::SnapshotReduction},
    {"trivial", IterationSchedule::Trivial, ConvergenceDetection::SnapshotReduction}};

ConvectionDiffusionOptions optionsOf(const Setting& setting, double threshold) {
  ConvectionDiffusionOptions options;
  options.iteration.schedule = setting.schedule;
  options.iteration.convergenceDetection = setting.convergenceDetection;
  options.iteration.residualThreshold = threshold;
  return options;
}

/// Takes so many steps, and looks at each one's residual by itself.
/// @return the concentrations of all cells
std::vector<double> solve(Transport& transport, const Problem& problem,
                          const std::vector<CellRange>& boxes,
                          const ConvectionDiffusionOptions& options,
                          const std::vector<double>& initial, int steps, const Reference& reference,
                          const std::string& name) {
  const CellRange& box = boxes[std::size_t(transport.rank())];
  ConvectionDiffusionSolver solver(transport, problem.grid, box, problem.terms,
                                   faceVelocities(box, problem.velocity), options);
  const std::vector<double> source = partOf(problem.grid, box, problem.source);
  const std::vector<double> mine = partOf(problem.grid, box, initial);
  std::copy(mine.begin(), mine.end(), solver.concentration().begin());
  std::vector<double> u = initial;
  for (int step = 0; step < steps; ++step) {
    const std::vector<double> old = u;
    const IterationResult result = solver.step(source);
    u = gathered(transport, problem.grid, boxes, solver.concentration());
    const double residual = serialResidual(problem, reference, u, old);
    // What rounding makes of the sums, in another order.
    double scale = 1;
    for (std::size_t i = 0; i < u.size(); ++i)
      scale = std::max(scale, reference.matrix.coeff(int(i), int(i)) * std::fabs(u[i]));
    const double rounding = 1e-14 * scale;
    EXPECT_EQ(result.verdict, Verdict::Converged) << name;
    EXPECT_LE(result.residual, options.iteration.residualThreshold) << name;
    EXPECT_LE(residual, options.iteration.residualThreshold + rounding) << name;
    EXPECT_NEAR(residual, result.residual, rounding) << name;
    const auto& history = solver.history();
    EXPECT_FALSE(history.empty());
    if (history.empty()) return u;
    EXPECT_EQ(history.back().norm, result.residual) << name;
    EXPECT_EQ(std::count_if(history.begin(), history.end(),
                            [](const ConvergenceSample& sample) { return sample.verified; }),
              result.snapshots)
        << name;
    for (std::size_t i = 1; i < history.size(); ++i) {
      EXPECT_GE(history[i].iterations, history[i - 1].iterations) << name;
      EXPECT_GE(history[i].seconds, history[i - 1].seconds) << name;
    }
  }
  return u;
}

std::vector<double> solve(Transport& transport, const Problem& problem, Cut cut,
                          const ConvectionDiffusionOptions& options,
                          const std::vector<double>& initial, int steps = 1) {
  return solve(transport, problem, boxesOf(problem.grid, cut, transport.size()), options, initial,
               steps, Reference(problem.grid, problem.terms, problem.velocity), "");
}

TEST(ConvectionDiffusionSolver, HasTheDirectSteadySolution) {
  constexpr double Threshold = 1e-9;
  for (const std::uint64_t seed : {2u, 3u}) {
    if (few() && seed != 2) continue;
    const Problem problem = randomProblem({9, 8, 7}, seed);
    const Reference reference(problem.grid, problem.terms, problem.velocity);
    Eigen::SparseLU<Eigen::SparseMatrix<double>> direct(reference.matrix);
    Eigen::VectorXd b = reference.fixed;
    for (std::size_t i = 0; i < problem.size(); ++i) b[int(i)] += problem.source[i];
    const Eigen::VectorXd want = direct.solve(b);
    // A is an M-matrix: the largest row sum of its inverse is the solution for all ones.
    const double growth = direct.solve(Eigen::VectorXd::Ones(int(problem.size()))).maxCoeff();
    const std::vector<double> none(problem.size(), 0.0);
    everywhere([&](Transport& transport) {
      for (const Setting& setting : Settings)
        for (const Cut how : Cuts)
          for (const int sweeps : {1, 3}) {
            if (few() && (sweeps > 1) != (how == Cut::Bisected)) continue;
            if (slowed() && sweeps > 1 && &setting != &Settings[0]) continue;
            ConvectionDiffusionOptions options = optionsOf(setting, Threshold);
            options.sweepsPerExchange = sweeps;
            options.slabs = sweeps;
            if (sweeps > 1 && how == Cut::Bisected) options.parallelFor = onThreads(2, sweeps);
            const auto u = solve(transport, problem, boxesOf(problem.grid, how, transport.size()),
                                 options, none, 1, reference, setting.name);
            double error = 0;
            for (std::size_t i = 0; i < u.size(); ++i)
              error = std::max(error, std::fabs(u[i] - want[int(i)]));
            EXPECT_LE(error, growth * Threshold * (1 + 1e-6)) << setting.name;
          }
    });
  }
}

/// Upwind values and backward Euler are of first order: a Gaussian carried once around.
TEST(ConvectionDiffusionSolver, CarriesAGaussianWithFirstOrder) {
  constexpr double Diffusivity = 0.01, Time = 0.25, Width = 0.15;
  everywhere([&](Transport& transport) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (few() && axis != std::size_t(world().size()) % 3) continue;
      const auto error = [&](std::int64_t n) {
        Problem problem;
        Cell cells{1, 1, 1};
        cells[axis] = n;
        problem.grid = uniformGrid(cells, 1.0 / double(n));
        problem.terms.diffusivity = Diffusivity;
        problem.terms.conservative = true;
        problem.terms.sides[2 * axis].kind = problem.terms.sides[2 * axis + 1].kind =
            Kind::Periodic;
        problem.velocity = [axis](std::size_t a, const Cell&) { return a == axis ? 1.0 : 0.0; };
        const int steps = int(n / 4);
        problem.terms.inverseStep = steps / Time;
        problem.source.assign(problem.size(), 0.0);
        // Images from all periods count.
        const auto exact = [&](double x, double t) {
          const double variance = Width * Width + 2 * Diffusivity * t;
          double sum = 0;
          for (int period = -3; period <= 3; ++period) {
            const double distance = x - 0.5 - t + period;
            sum += std::exp(-distance * distance / (2 * variance));
          }
          return sum * Width / std::sqrt(variance);
        };
        std::vector<double> initial;
        for (std::int64_t i = 0; i < n; ++i)
          initial.push_back(exact(problem.grid.center(axis, i), 0));
        const Cut how = axis == 2 ? Cut::Slabs : Cut::Bisected;
        const auto u =
            solve(transport, problem, how, optionsOf(Settings[axis], 1e-7), initial, steps);
        double largest = 0;
        for (std::int64_t i = 0; i < n; ++i)
          largest = std::max(
              largest, std::fabs(u[std::size_t(i)] - exact(problem.grid.center(axis, i), Time)));
        return largest;
      };
      const double coarse = error(64), fine = error(128);
      EXPECT_LT(fine, 0.07);
      EXPECT_GT(coarse / fine, 1.8);
      EXPECT_LT(coarse / fine, 2.2);
    }
  });
}

/// u = sin(pi x) sin(pi y) sin(pi z), whose source is computed: of second order without a flow, of
/// first with one.
TEST(ConvectionDiffusionSolver, ConvergesToAManufacturedSolution) {
  everywhere([&](Transport& transport) {
    for (const bool flows : {false, true}) {
      if (slowed() && flows) continue;
      const std::array<double, 3> v =
          flows ? std::array<double, 3>{4, -2, 1} : std::array<double, 3>{0, 0, 0};
      const auto error = [&](std::int64_t n) {
        Problem problem;
        problem.grid = uniformGrid({n, n, n}, 1.0 / double(n));
        problem.terms.diffusivity = 0.5;
        problem.terms.decay = 1;
        for (auto& side : problem.terms.sides) side = {Kind::Value, 0};
        problem.velocity = [v](std::size_t axis, const Cell&) { return v[axis]; };
        std::vector<double> exact;
        for (std::int64_t k = 0; k < n; ++k)
          for (std::int64_t j = 0; j < n; ++j)
            for (std::int64_t i = 0; i < n; ++i) {
              const double s[] = {std::sin(Pi * problem.grid.center(0, i)),
                                  std::sin(Pi * problem.grid.center(1, j)),
                                  std::sin(Pi * problem.grid.center(2, k))};
              const double c[] = {std::cos(Pi * problem.grid.center(0, i)),
                                  std::cos(Pi * problem.grid.center(1, j)),
                                  std::cos(Pi * problem.grid.center(2, k))};
              const double u = s[0] * s[1] * s[2];
              exact.push_back(u);
              problem.source.push_back(
                  Pi * (v[0] * c[0] * s[1] * s[2] + v[1] * s[0] * c[1] * s[2] +
                        v[2] * s[0] * s[1] * c[2]) +
                  (problem.terms.diffusivity * 3 * Pi * Pi + problem.terms.decay) * u);
            }
        ConvectionDiffusionOptions options = optionsOf(Settings[0], 1e-6);
        options.sweepsPerExchange = 4;
        const auto u = solve(transport, problem, Cut::Bisected, options,
                             std::vector<double>(problem.size(), 0.0));
        double largest = 0;
        for (std::size_t i = 0; i < u.size(); ++i)
          largest = std::max(largest, std::fabs(u[i] - exact[i]));
        return largest;
      };
      const double ratio = error(10) / error(20);
      EXPECT_GT(ratio, flows ? 1.6 : 3.6);
      EXPECT_LT(ratio, flows ? 2.4 : 4.4);
    }
  });
}

TEST(ConvectionDiffusionSolver, ConservesWhatIsThere) {
  Problem problem;
  problem.grid = randomGrid({8, 7, 6}, 5);
  problem.terms.conservative = true;
  problem.terms.diffusivity = 0.1;
  problem.terms.inverseStep = 3;
  for (std::size_t side = 0; side < Sides; ++side)
    problem.terms.sides[side].kind = side / 2 == 1 ? Kind::Periodic : Kind::Flux;  // of 0
  problem.velocity = [](std::size_t axis, const Cell& face) {
    Cell f = face;
    if (axis == 1 && f[1] == 7) f[1] = 0;
    return 2 * random01(std::uint64_t(((f[2] * 50 + f[1]) * 50 + f[0]) * 3) + axis) - 1;
  };
  problem.source.assign(problem.size(), 0.0);
  std::vector<double> initial;
  for (std::size_t i = 0; i < problem.size(); ++i) initial.push_back(random01(i));
  const auto sum = [&](const std::vector<double>& u) {
    double total = 0;
    for (std::int64_t k = 0, i = 0; k < 6; ++k)
      for (std::int64_t j = 0; j < 7; ++j)
        for (std::int64_t n = 0; n < 8; ++n, ++i)
          total += problem.grid.width(0, n) * problem.grid.width(1, j) * problem.grid.width(2, k) *
                   u[std::size_t(i)];
    return total;
  };
  constexpr double Threshold = 1e-8;
  constexpr int Steps = 4;
  double volume = 1;
  for (const auto& ends : problem.grid.ends) volume *= ends.back() - ends.front();
  // What a residual in every cell adds in a step.
  const double allowed = Steps * volume * Threshold / problem.terms.inverseStep;
  everywhere([&](Transport& transport) {
    for (const Setting& setting : Settings) {
      const auto u =
          solve(transport, problem, Cut::Bisected, optionsOf(setting, Threshold), initial, Steps);
      EXPECT_NEAR(sum(u), sum(initial), allowed) << setting.name;
      EXPECT_GE(*std::min_element(u.begin(), u.end()), -Threshold) << setting.name;
    }
  });
}

// Slow ranks, stalled ranks, noise, and any order of events: each time the residual that the serial
// matrix gives is at or below the threshold.
TEST(ConvectionDiffusionSolver, HasTheResidualInEverySimulatedRun) {
  if (world().size() > 1) return;
  const std::uint64_t runs = someOf(Sanitized ? 60 : 1200);
  for (std::uint64_t seed = 0; seed < runs && !HasFailure(); ++seed) {
    const int ranks = 1 + int(mix(seed) % 8);
    Problem problem =
        randomProblem({std::int64_t(2 + mix(seed + 1) % 5), std::int64_t(1 + mix(seed + 2) % 5),
                       std::int64_t(1 + mix(seed + 3) % 4)},
                      seed);
    problem.terms.inverseStep = mix(seed + 4) % 2 == 0 ? 0 : 2;
    const Reference reference(problem.grid, problem.terms, problem.velocity);
    const Setting& setting = Settings[mix(seed + 5) % std::size(Settings)];
    ConvectionDiffusionOptions options = optionsOf(setting, 1e-6);
    options.sweepsPerExchange = 1 + int(mix(seed + 6) % 3);
    options.slabs = 1 + int(mix(seed + 7) % 2);
    options.sweepSeconds = 1e-5;
    options.residualSeconds = 4e-6;
    options.iteration.reduction =
        mix(seed + 8) % 2 == 0 ? ReductionKind::LeaderElection : ReductionKind::Transport;
    options.iteration.channels = {mix(seed + 9) % 2 == 0 ? SendMode::Eager : SendMode::Synchronous,
                                  1 + int(mix(seed + 10) % 3)};
    const auto boxes = boxesOf(problem.grid, Cuts[mix(seed + 11) % std::size(Cuts)], ranks);
    std::vector<double> initial;
    for (std::size_t i = 0; i < problem.size(); ++i) initial.push_back(random01(seed + 3 * i));
    const auto body = [&](Transport& transport) {
      if (transport.rank() == int(seed) % ranks) transport.spend(0.01);  // a stall
      solve(transport, problem, boxes, options, initial, 1, reference,
            std::string(setting.name) + ", seed " + std::to_string(seed));
    };
    VirtualTimeNetworkOptions network;
    network.between.latency = seed % 4 == 1 ? 1e-6 : 1e-4;
    onSimulatedRanks(ranks, seed, body, network);
  }
}

/// Faces as two cells see them, also two cells of different ranks; walls between any cells.
TEST(ConvectionDiffusionSolver, GoesAroundSolidCells) {
  constexpr double Threshold = 1e-9;
  for (const std::uint64_t seed : {1u, 2u, 5u}) {
    Problem problem = randomProblem({7, 6, 5}, seed);
    const Cell n{7, 6, 5};
    std::array<bool, 3> periodic;
    for (std::size_t a = 0; a < 3; ++a)
      periodic[a] = problem.terms.sides[2 * a].kind == Kind::Periodic;
    const auto number = [&](const Cell& c) {
      return std::uint64_t((c[2] * n[1] + c[1]) * n[0] + c[0]);
    };
    const auto isSolid = [&](std::uint64_t cell) { return mix(seed + cell) % 4 == 0; };
    const auto seen = [&](std::uint64_t cell, std::size_t axis, int end) {
      return 2 * random01(seed + 100 + 6 * cell + 2 * axis + std::uint64_t(end)) - 1;
    };
    /// Both cells at a face; the one that is not there is the other.
    const auto cellsAt = [&](std::size_t axis, const Cell& face) {
      Cell low = face, high = face;
      --low[axis];
      if (low[axis] < 0) low[axis] = periodic[axis] ? n[axis] - 1 : 0;
      if (high[axis] == n[axis]) high[axis] = periodic[axis] ? 0 : n[axis] - 1;
      return std::array<Cell, 2>{low, high};
    };
    const Closed closed = [&](std::size_t axis, const Cell& face) {
      const auto [low, high] = cellsAt(axis, face);
      return isSolid(number(low)) || isSolid(number(high));
    };
    problem.velocity = [&](std::size_t axis, const Cell& face) {
      const auto [low, high] = cellsAt(axis, face);
      if (low == high) return seen(number(low), axis, face[axis] == 0 ? 0 : 1);
      const double l = problem.grid.width(axis, low[axis]),
                   h = problem.grid.width(axis, high[axis]);
      return (seen(number(low), axis, 1) * h + seen(number(high), axis, 0) * l) / (l + h);
    };
    for (std::uint64_t i = 0; i < problem.size(); ++i)
      if (isSolid(i)) problem.source[i] = 0;
    const Reference reference(problem.grid, problem.terms, problem.velocity, closed);
    Eigen::SparseLU<Eigen::SparseMatrix<double>> direct(reference.matrix);
    Eigen::VectorXd b = reference.fixed;
    for (std::size_t i = 0; i < problem.size(); ++i) b[int(i)] += problem.source[i];
    const Eigen::VectorXd want = direct.solve(b);
    everywhere([&](Transport& transport) {
      for (const Cut how : Cuts) {
        const auto boxes = boxesOf(problem.grid, how, transport.size());
        const CellRange& box = boxes[std::size_t(transport.rank())];
        CellFlow cells;
        forEachCell(problem.grid, box, [&](std::size_t i) {
          cells.solid.push_back(isSolid(i));
          for (std::size_t a = 0; a < 3; ++a) {
            cells.low[a].push_back(seen(i, a, 0));
            cells.high[a].push_back(seen(i, a, 1));
          }
        });
        const FaceFlow flow = flowBetween(transport, problem.grid, periodic, box, cells);
        for (std::size_t a = 0; a < 3 && !box.empty(); ++a) {
          const FaceFlow speeds = faceVelocities(box, problem.velocity);
          const FaceFlow walls =
              faceVelocities(box, [&](std::size_t axis, const Cell& f) { return closed(axis, f); });
          ASSERT_EQ(flow.velocity[a].size(), speeds.velocity[a].size());
          for (std::size_t f = 0; f < flow.velocity[a].size(); ++f) {
            ASSERT_EQ(flow.closed[a][f], walls.velocity[a][f]) << "axis " << a << ", face " << f;
            ASSERT_NEAR(flow.velocity[a][f], flow.closed[a][f] ? 0 : speeds.velocity[a][f], 1e-15);
          }
        }
        ConvectionDiffusionSolver solver(transport, problem.grid, box, problem.terms, flow,
                                         optionsOf(Settings[0], Threshold));
        EXPECT_EQ(solver.step(partOf(problem.grid, box, problem.source)).verdict,
                  Verdict::Converged);
        const auto u = gathered(transport, problem.grid, boxes, solver.concentration());
        for (std::uint64_t i = 0; i < problem.size(); ++i) {
          ASSERT_NEAR(u[i], want[int(i)], 10 * Threshold) << "cell " << i;
          if (isSolid(i)) {
            ASSERT_EQ(u[i], 0);
          }
        }
      }
    });
  }
}

/// Steady, without decay: what no face reaches has an equation only if nothing is let in.
TEST(ConvectionDiffusionSolver, LeavesCellsAloneThatNothingReaches) {
  Problem problem;
  problem.grid = uniformGrid({6, 4, 3}, 0.5);
  problem.terms.diffusivity = 0.5;
  problem.terms.sides[0] = {Kind::Value, 1};
  problem.source.assign(problem.size(), 0.0);
  everywhere([&](Transport& transport) {
    const auto boxes = boxesOf(problem.grid, Cut::Bisected, transport.size());
    const CellRange& box = boxes[std::size_t(transport.rank())];
    CellFlow cells;
    std::vector<std::size_t> numbers;
    forEachCell(problem.grid, box, [&](std::size_t i) { numbers.push_back(i); });
    for (std::size_t a = 0; a < 3; ++a)
      cells.low[a] = cells.high[a] = std::vector<double>(numbers.size(), 0.0);
    for (const std::size_t i : numbers) cells.solid.push_back(i % 6 == 4);  // a wall across x
    ConvectionDiffusionSolver solver(transport, problem.grid, box, problem.terms,
                                     flowBetween(transport, problem.grid, {}, box, cells),
                                     optionsOf(Settings[0], 1e-9));
    std::vector<double> source(numbers.size(), 0.0);
    // Behind the wall there is a cell of width 1 that only has neighbors like it: any constant is
    // a solution there; before it the value of the side is everywhere.
    EXPECT_EQ(solver.step(source).verdict, Verdict::Converged);
    for (std::size_t i = 0; i < numbers.size(); ++i)
      EXPECT_NEAR(solver.concentration()[i], numbers[i] % 6 < 4 ? 1 : 0, 1e-7);
    // A source within a wall has nowhere to go.
    for (std::size_t i = 0; i < numbers.size(); ++i) source[i] = numbers[i] % 6 == 4 ? 1 : 0;
    ConvectionDiffusionOptions few = optionsOf(Settings[0], 1e-9);
    few.iteration.iterationLimit = 50;
    ConvectionDiffusionSolver other(transport, problem.grid, box, problem.terms,
                                    flowBetween(transport, problem.grid, {}, box, cells), few);
    EXPECT_EQ(other.step(source).verdict, Verdict::IterationLimit);
  });
}

TEST(ConvectionDiffusionSolver, IsAborted) {
  const Problem problem = randomProblem({9, 8, 7}, 2);
  Transport& transport = world();
  const auto boxes = boxesOf(problem.grid, Cut::Bisected, transport.size());
  const CellRange& box = boxes[std::size_t(transport.rank())];
  ConvectionDiffusionSolver solver(transport, problem.grid, box, problem.terms,
                                   faceVelocities(box, problem.velocity),
                                   optionsOf(Settings[0], 0));
  int calls = 0;
  const IterationResult result =
      solver.step(partOf(problem.grid, box, problem.source),
                  [&](double) { return transport.rank() > 0 || ++calls < 10; });
  EXPECT_EQ(result.verdict, Verdict::Aborted);
}

/// An abort does not wait for the many sweeps of an iteration.
TEST(ConvectionDiffusionSolver, IsAbortedBetweenSweeps) {
  const Problem problem = randomProblem({9, 8, 7}, 2);
  Transport& transport = world();
  const auto boxes = boxesOf(problem.grid, Cut::Bisected, transport.size());
  const CellRange& box = boxes[std::size_t(transport.rank())];
  int calls = 0, loops = 0;
  auto options = optionsOf(Settings[0], 0);
  options.sweepsPerExchange = 100000;
  options.parallelFor = [&](std::int64_t count, const auto& body) {
    ++loops;
    serialFor(count, body);
  };
  ConvectionDiffusionSolver solver(transport, problem.grid, box, problem.terms,
                                   faceVelocities(box, problem.velocity), options);
  const IterationResult result =
      solver.step(partOf(problem.grid, box, problem.source), [&](double) { return ++calls < 3; });
  EXPECT_EQ(result.verdict, Verdict::Aborted);
  EXPECT_GE(calls, 3);
  EXPECT_LT(loops, 100);
}

TEST(ConvectionDiffusionSolver, RefusesWhatCannotBeOnAllRanks) {
  const Problem problem = randomProblem({9, 8, 7}, 2);
  everywhere([&](Transport& transport) {
    const int last = transport.size() - 1;
    const auto expectError = [&](const std::string& text, auto&& change) {
      const auto boxes = boxesOf(problem.grid, Cut::Bisected, transport.size());
      CellRange box = boxes[std::size_t(transport.rank())];
      ConvectionDiffusionTerms terms = problem.terms;
      auto options = optionsOf(Settings[0], 1e-6);
      Velocity velocity = problem.velocity;
      if (transport.rank() == last) change(box, terms, options, velocity);
      const std::string error = errorOf([&] {
        ConvectionDiffusionSolver solver(transport, problem.grid, box, terms,
                                         faceVelocities(box, velocity), options);
        std::vector<double> source(std::size_t(box.cells()), 0.0);
        if (transport.rank() == last && text == "sources") source.push_back(0);
        static_cast<void>(solver.step(source));
      });
      EXPECT_NE(error.find(text), std::string::npos) << error;
    };
    expectError("cells", [](auto& box, auto&, auto&, auto&) { ++box.lo[0]; });
    expectError("diffusivity", [](auto&, auto& terms, auto&, auto&) { terms.diffusivity = -1; });
    expectError("periodic", [](auto&, auto& terms, auto&, auto&) {
      terms.sides[0].kind = Kind::Periodic;
      terms.sides[1].kind = Kind::Value;
    });
    expectError("sweep", [](auto&, auto&, auto& options, auto&) { options.sweepsPerExchange = 0; });
    expectError("slab", [](auto&, auto&, auto& options, auto&) { options.slabs = 0; });
    expectError("residualThreshold", [](auto&, auto&, auto& options, auto&) {
      options.iteration.residualThreshold = -1;
    });
    expectError("velocity", [](auto&, auto&, auto&, auto& velocity) {
      velocity = [](std::size_t, const Cell&) { return std::nan(""); };
    });
    expectError("sources", [](auto&, auto&, auto&, auto&) {});
    if (transport.size() > 1)
      expectError("overlap", [](auto& box, auto&, auto&, auto&) { box = {{0, 0, 0}, {9, 8, 7}}; });
  });
}

}  // namespace
}  // namespace tributary::testing
