// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Model/HybridJacobi.h"

#include <gtest/gtest.h>

#include <Eigen/SparseCholesky>
#include <Eigen/SparseCore>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "Support/Effort.h"
#include "Support/World.h"
#include "Tributary/Base/InstructionSet.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Model/LaplaceStencil.h"
#include "Tributary/Model/detail/HybridLinks.h"
#include "Tributary/Model/detail/LaplaceKernel.h"
#include "Tributary/Model/detail/LatestValue.h"

namespace tributary {

using namespace detail;
namespace {

using testing::errorOf;
using testing::ForwardingTransport;
using testing::Sanitized;
using testing::slowed;
using testing::thorough;
using testing::world;

using Points = std::array<std::int64_t, 3>;

/// A boundary without any symmetry.
double rough(std::int64_t i, std::int64_t j, std::int64_t k) {
  return std::sin(0.7 * static_cast<double>(i)) + 0.3 * static_cast<double>(j) -
         0.01 * static_cast<double>(j * k) + 0.2 * static_cast<double>(k);
}

LaplaceProblem problemOf(LaplaceStencil stencil) {
  LaplaceProblem problem;
  problem.stencil = stencil;
  problem.points = dimensionOf(stencil) == 2 ? Points{9, 13, 1} : Points{5, 4, 7};
  problem.boundary = rough;
  return problem;
}

std::size_t indexOf(const Points& points, std::int64_t i, std::int64_t j, std::int64_t k) {
  return static_cast<std::size_t>((k * points[1] + j) * points[0] + i);
}

/// The offsets of a stencil's neighbors, written down by themselves.
std::vector<Points> offsetsOf(LaplaceStencil stencil) {
  std::vector<Points> offsets;
  const std::int64_t deep = dimensionOf(stencil) == 3 ? 1 : 0;
  for (std::int64_t k = -deep; k <= deep; ++k)
    for (std::int64_t j = -1; j <= 1; ++j)
      for (std::int64_t i = -1; i <= 1; ++i) {
        const std::int64_t distance = std::abs(i) + std::abs(j) + std::abs(k);
        const bool all =
            stencil == LaplaceStencil::NinePoint || stencil == LaplaceStencil::TwentySevenPoint;
        if (distance == 1 || (all && distance > 1)) offsets.push_back({i, j, k});
      }
  return offsets;
}

template <class Visit>
void forEachPoint(const Points& points, Visit&& visit) {
  for (std::int64_t k = 0; k < points[2]; ++k)
    for (std::int64_t j = 0; j < points[1]; ++j)
      for (std::int64_t i = 0; i < points[0]; ++i) visit(i, j, k);
}

bool isUnknown(const Points& points, const Points& at) {
  for (std::size_t a = 0; a < 3; ++a)
    if (at[a] < 0 || at[a] >= points[a]) return false;
  return true;
}

/// The solution of the discrete equations, by a direct solver.
std::vector<double> solved(const LaplaceProblem& problem) {
  const Points& n = problem.points;
  const auto count = n[0] * n[1] * n[2];
  const auto offsets = offsetsOf(problem.stencil);
  std::vector<Eigen::Triplet<double>> entries;
  Eigen::VectorXd right = Eigen::VectorXd::Zero(count);
  forEachPoint(n, [&](std::int64_t i, std::int64_t j, std::int64_t k) {
    const auto row = static_cast<int>(indexOf(n, i, j, k));
    entries.emplace_back(row, row, static_cast<double>(offsets.size()));
    for (const Points& offset : offsets) {
      const Points at{i + offset[0], j + offset[1], k + offset[2]};
      if (isUnknown(n, at)) {
        entries.emplace_back(row, static_cast<int>(indexOf(n, at[0], at[1], at[2])), -1.0);
      } else {
        right[row] += problem.boundary(at[0], at[1], at[2]);
      }
    }
  });
  Eigen::SparseMatrix<double> matrix(count, count);
  matrix.setFromTriplets(entries.begin(), entries.end());
  const Eigen::VectorXd solution =
      Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>>(matrix).solve(right);
  return {solution.data(), solution.data() + count};
}

/// Norm of the residual of whole values.
double residualOf(const LaplaceProblem& problem, const std::vector<double>& values) {
  const auto offsets = offsetsOf(problem.stencil);
  double squares = 0;
  forEachPoint(problem.points, [&](std::int64_t i, std::int64_t j, std::int64_t k) {
    double sum = 0;
    for (const Points& offset : offsets) {
      const Points at{i + offset[0], j + offset[1], k + offset[2]};
      sum += isUnknown(problem.points, at) ? values[indexOf(problem.points, at[0], at[1], at[2])]
                                           : problem.boundary(at[0], at[1], at[2]);
      sum -= values[indexOf(problem.points, i, j, k)];
    }
    squares += sum * sum;
  });
  return std::sqrt(squares);
}

/// The values of all ranks.
std::vector<double> gathered(Transport& transport, const LaplaceProblem& problem,
                             const HybridJacobi& solver) {
  std::vector<double> mine;
  std::vector<std::int64_t> places;
  const CellRange& box = solver.box();
  for (std::int64_t k = box.lo[2]; k < box.hi[2]; ++k)
    for (std::int64_t j = box.lo[1]; j < box.hi[1]; ++j)
      for (std::int64_t i = box.lo[0]; i < box.hi[0]; ++i) {
        mine.push_back(solver.value(i, j, k));
        places.push_back(static_cast<std::int64_t>(indexOf(problem.points, i, j, k)));
      }
  const auto values = allgatherv(transport, mine);
  const auto where = allgatherv(transport, places);
  std::vector<double> all(values.size(), std::nan(""));
  EXPECT_EQ(static_cast<std::int64_t>(all.size()),
            problem.points[0] * problem.points[1] * problem.points[2]);
  for (std::size_t i = 0; i < all.size(); ++i) all[static_cast<std::size_t>(where[i])] = values[i];
  return all;
}

const std::vector<LaplaceStencil> AllStencils = {
    LaplaceStencil::FivePoint, LaplaceStencil::NinePoint, LaplaceStencil::SevenPoint,
    LaplaceStencil::TwentySevenPoint};

const std::vector<HybridVariant> AllVariants = {HybridVariant::WorkScaling,
                                                HybridVariant::RotatingIncrementing,
                                                HybridVariant::RotatingMostIterations,
                                                HybridVariant::RotatingLeastResidual,
                                                HybridVariant::AsynchronousDirect,
                                                HybridVariant::SynchronousDirect,
                                                HybridVariant::SharedMemory};

/// Whether a variant can do with the master's traffic.
bool hasTraffic(HybridVariant variant) {
  return variant == HybridVariant::WorkScaling || variant == HybridVariant::RotatingIncrementing ||
         variant == HybridVariant::RotatingMostIterations ||
         variant == HybridVariant::RotatingLeastResidual;
}

/// Whether these ranks can do with options at all.
bool fits(const HybridOptions& options) {
  if (options.variant == HybridVariant::SharedMemory) return world().size() == 1;
  if (options.variant == HybridVariant::AsynchronousDirect && options.threads < 2) return false;
  return options.traffic == HybridTraffic::Direct || world().size() > 1;
}

/// All of them, captures aside.
std::vector<HybridOptions> everyVariant(int threads) {
  std::vector<HybridOptions> all;
  for (const HybridVariant variant : AllVariants)
    for (const HybridTraffic traffic : {HybridTraffic::Direct, HybridTraffic::Master}) {
      if (traffic == HybridTraffic::Master && !hasTraffic(variant)) continue;
      HybridOptions options;
      options.variant = variant;
      options.traffic = traffic;
      options.threads = threads;
      if (fits(options)) all.push_back(options);
    }
  return all;
}

/// Where nothing is old the first round is the last one.
bool seesAllAtOneMoment(const HybridOptions& options) {
  if (options.variant == HybridVariant::SynchronousDirect) return options.swapPeriod == 1;
  return world().size() == 1 && options.threads == 1;
}

/// The direct solution, computed once for each stencil.
const std::vector<double>& solutionOf(const LaplaceProblem& problem) {
  static std::map<std::pair<LaplaceStencil, Points>, std::vector<double>> known;
  auto& solution = known[{problem.stencil, problem.points}];
  if (solution.empty()) solution = solved(problem);
  return solution;
}

/// Compares the result with the residual of the gathered values, computed by itself.
/// @return all values
std::vector<double> expectHonest(const LaplaceProblem& problem, const HybridJacobi& solver,
                                 const HybridResult& result) {
  const auto values = gathered(world(), problem, solver);
  const double own = residualOf(problem, values);
  EXPECT_NEAR(own, result.residual * result.guessResidual, 1e-12 * result.guessResidual);
  double squares = 0;
  for (const double part : result.squaredResiduals) squares += part;
  double sum = 0;
  for (const double part : allgather(world(), squares)) sum += part;
  EXPECT_NEAR(std::sqrt(sum), own, 1e-6 * own + 1e-12);
  return values;
}

/// Solves, and compares with the direct solution.
void expectSolved(const LaplaceProblem& problem, HybridOptions options) {
  if (!fits(options)) return;
  options.tolerance = 1e-9;
  HybridJacobi solver(world(), problem, options);
  const HybridResult result = solver.run();
  EXPECT_TRUE(result.converged);
  EXPECT_LE(result.residual, 1e-9);
  if (seesAllAtOneMoment(options)) {
    EXPECT_EQ(result.rounds, 1);
  }
  const auto values = expectHonest(problem, solver, result);
  const auto& exact = solutionOf(problem);
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], exact[i], 1e-6);
  // Maximum principle: no value beyond those given around.
  for (const double value : values) {
    EXPECT_GT(value, -4);
    EXPECT_LT(value, 10);
  }
}

class HybridVariants
    : public ::testing::TestWithParam<std::tuple<HybridVariant, HybridTraffic, Captures>> {
 protected:
  HybridOptions options() const {
    HybridOptions options;
    std::tie(options.variant, options.traffic, options.captures) = GetParam();
    return options;
  }
};

TEST_P(HybridVariants, SolveWithEveryStencilOnAnyThreads) {
  for (const LaplaceStencil stencil : AllStencils)
    for (const int threads : {1, 2, 3, 4}) {
      // Threads that share a core take it in turns; there are enough of them on fewer ranks.
      if (world().size() > 4 && threads > 2) continue;
      if ((Sanitized || world().size() > 1) && threads > 1 && threads != 3 && !thorough()) continue;
      HybridOptions with = options();
      with.threads = threads;
      SCOPED_TRACE(std::to_string(neighborsOf(stencil)) + " neighbors, " + std::to_string(threads) +
                   " threads");
      expectSolved(problemOf(stencil), with);
    }
}

TEST_P(HybridVariants, SolveWithAnyPeriodsAndShares) {
  for (const auto& [swapPeriod, residualPeriod] :
       {std::pair(3, 7), std::pair(16, 1), std::pair(1, 40)})
    for (const double share : {0.3, 1.0}) {
      if (world().size() > (thorough() ? 4 : 1) && share < 1) continue;
      HybridOptions with = options();
      with.threads = 3;
      with.swapPeriod = swapPeriod;
      with.residualPeriod = residualPeriod;
      with.workShare = share;
      expectSolved(problemOf(LaplaceStencil::NinePoint), with);
    }
}

std::vector<std::tuple<HybridVariant, HybridTraffic, Captures>> everyCombination() {
  std::vector<std::tuple<HybridVariant, HybridTraffic, Captures>> all;
  for (const HybridVariant variant : AllVariants)
    for (const Captures captures : {Captures::LockFree, Captures::Locked}) {
      all.emplace_back(variant, HybridTraffic::Direct, captures);
      if (hasTraffic(variant)) all.emplace_back(variant, HybridTraffic::Master, captures);
    }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Hybrid, HybridVariants, ::testing::ValuesIn(everyCombination()));

TEST(HybridJacobi, SynchronousIsJacobiBitForBit) {
  Transport& transport = world();
  for (const LaplaceStencil stencil : AllStencils)
    for (const auto& [threads, cacheBytes] :
         {std::pair(1, std::optional<std::size_t>()), std::pair(3, std::optional<std::size_t>()),
          std::pair(1, std::optional<std::size_t>(0)),
          std::pair(2, std::optional<std::size_t>(0))}) {
      LaplaceProblem problem = problemOf(stencil);
      problem.points[1] += 17;  // so that some ranks have rows to write side by side
      HybridOptions options;
      options.variant = HybridVariant::SynchronousDirect;
      options.cacheBytes = cacheBytes;
      options.threads = threads;
      options.tolerance = 1e-30;
      options.residualPeriod = 5;
      options.iterationLimit = 11;  // seen when the residual is computed the next time
      HybridJacobi solver(transport, problem, options);
      const HybridResult result = solver.run();
      EXPECT_FALSE(result.converged);
      for (const std::int64_t iterations : result.iterations) EXPECT_EQ(iterations, 15);
      // Jacobi's method on whole arrays with points around.
      const Points& n = problem.points;
      const std::int64_t deep = dimensionOf(stencil) == 3 ? 1 : 0;
      const RowStrides strides{n[0] + 2, (n[0] + 2) * (n[1] + 2)};
      std::vector<double> values(
          static_cast<std::size_t>((n[0] + 2) * (n[1] + 2) * (n[2] + 2 * deep)));
      const auto at = [&](std::int64_t i, std::int64_t j, std::int64_t k) {
        return static_cast<std::size_t>(((k + deep) * (n[1] + 2) + j + 1) * (n[0] + 2) + i + 1);
      };
      for (std::int64_t k = -deep; k < n[2] + deep; ++k)
        for (std::int64_t j = -1; j <= n[1]; ++j)
          for (std::int64_t i = -1; i <= n[0]; ++i)
            values[at(i, j, k)] = isUnknown(n, {i, j, k}) ? 0 : problem.boundary(i, j, k);
      std::vector<double> next = values;
      for (int iteration = 0; iteration < 15; ++iteration) {
        for (std::int64_t k = 0; k < n[2]; ++k)
          for (std::int64_t j = 0; j < n[1]; ++j)
            jacobiRow(stencil, &values[at(0, j, k)], strides, n[0], &next[at(0, j, k)]);
        std::swap(values, next);
      }
      const auto found = gathered(transport, problem, solver);
      forEachPoint(n, [&](std::int64_t i, std::int64_t j, std::int64_t k) {
        EXPECT_EQ(found[indexOf(n, i, j, k)], values[at(i, j, k)]);
      });
    }
}

TEST(HybridJacobi, ARowIsTheMeanOfNeighbors) {
  for (const LaplaceStencil stencil : AllStencils) {
    const RowStrides strides{20, 400};
    std::vector<double> values(1200);
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = std::sin(static_cast<double>(i * i % 97));
    std::vector<double> out(13);
    jacobiRow(stencil, &values[422], strides, 13, out.data());
    double squares = 0;
    for (std::int64_t i = 0; i < 13; ++i) {
      double sum = 0;
      for (const Points& offset : offsetsOf(stencil))
        sum += values[static_cast<std::size_t>(422 + i + offset[0] + 20 * offset[1] +
                                               400 * offset[2])];
      EXPECT_NEAR(out[static_cast<std::size_t>(i)], sum / neighborsOf(stencil), 1e-14);
      const double residual =
          sum - neighborsOf(stencil) * values[static_cast<std::size_t>(422 + i)];
      squares += residual * residual;
    }
    EXPECT_NEAR(squaredResidualOfRow(stencil, &values[422], strides, 13), squares, 1e-11);
  }
}

TEST(HybridJacobi, RowsHaveTheSameBitsOnEveryInstructionSet) {
  std::vector<const LaplaceKernel*> kernels{&laplaceKernelBaseline};
#if defined(__x86_64__)
  if (hasAvx2()) kernels.push_back(&laplaceKernelAvx2);
#endif
  // Rows that lie alike in vectors, and such that do not.
  for (const std::int64_t stride : {64, 61}) {
    constexpr std::size_t Rows = 10;
    const RowStrides strides{stride, 30 * stride};
    std::vector<double> values(static_cast<std::size_t>(90 * stride));
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = std::sin(static_cast<double>(i * i % 997));
    for (const LaplaceStencil stencil : AllStencils)
      for (const std::int64_t count : {0, 1, 2, 3, 4, 5, 8, 11, 47})
        for (std::size_t at = 0; at < 4; ++at) {
          const double* row = &values[static_cast<std::size_t>(42 * stride) + at];
          const std::vector<double> untouched(Rows * static_cast<std::size_t>(stride), 7);
          for (std::size_t rows = 1; rows <= Rows; ++rows) {
            std::vector<double> expected = untouched;
            for (std::size_t r = 0; r < rows; ++r) {
              const std::size_t to = r * static_cast<std::size_t>(stride);
              laplaceKernelBaseline.step(stencil, row + to, strides, count, &expected[5 + at + to]);
            }
            for (const LaplaceKernel* kernel : kernels) {
              std::vector<double> out = untouched;
              kernel->stream(stencil, row, strides, count, static_cast<std::int64_t>(rows),
                             &out[5 + at]);
              kernel->drain();
              EXPECT_EQ(out, expected);
            }
          }
          std::vector<double> expected = untouched;
          laplaceKernelBaseline.step(stencil, row, strides, count, &expected[5 + at]);
          const double squares = laplaceKernelBaseline.squares(stencil, row, strides, count);
          for (const LaplaceKernel* kernel : kernels) {
            std::vector<double> out = untouched;
            kernel->step(stencil, row, strides, count, &out[5 + at]);
            EXPECT_EQ(out, expected);
            EXPECT_EQ(kernel->squares(stencil, row, strides, count), squares);
          }
        }
  }
}

TEST(HybridJacobi, RowsToStreamLieAlikeAndApart) {
  for (std::size_t values = 1; values < 3000; ++values) {
    const std::size_t stride = streamStride(values);
    EXPECT_GE(stride, values);
    EXPECT_LT(stride, values + 80);
    EXPECT_EQ(stride % 8, 0u);
    // The first cache repeats after 4 KiB at the latest.
    for (const std::size_t rows : {1u, 2u}) {
      EXPECT_GE(rows * stride % 512, 32u) << values;
      EXPECT_LE(rows * stride % 512, 480u) << values;
    }
  }
}

TEST(HybridJacobi, ManyRanksForFewPoints) {
  LaplaceProblem problem = problemOf(LaplaceStencil::NinePoint);
  problem.points = {2, 1, 1};
  for (const HybridOptions& options : everyVariant(2)) expectSolved(problem, options);
}

TEST(HybridJacobi, OneThreadOrRankMaySleep) {
  for (const bool thread : {true, false})
    for (HybridOptions options : everyVariant(2)) {
      const bool here = thread || world().rank() == world().size() - 1;
      options.afterIteration = [thread, here](int number) {
        if (here && (!thread || number == 1))
          std::this_thread::sleep_for(std::chrono::microseconds(50));
      };
      expectSolved(problemOf(LaplaceStencil::FivePoint), options);
    }
}

TEST(HybridJacobi, OneRankMayStandStillForAWhile) {
  for (HybridOptions options : everyVariant(2)) {
    std::atomic<int> calls{0};
    options.afterIteration = [&, last = world().size() - 1](int) {
      const int call = ++calls;
      if (world().rank() == last && (call == 50 || call == 150))
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
    };
    expectSolved(problemOf(LaplaceStencil::FivePoint), options);
  }
}

TEST(HybridJacobi, EndsWhereRoundingLeavesNoHope) {
  for (HybridOptions options : everyVariant(2))
    for (const int swapPeriod : {1, 5}) {
      if ((slowed() || world().size() > (thorough() ? 4 : 1)) && swapPeriod > 1) continue;
      options.tolerance = 1e-30;
      options.swapPeriod = swapPeriod;
      // Nothing else may end it. (A thread makes millions while another one has no core.)
      options.iterationLimit = std::numeric_limits<std::int64_t>::max();
      // A sixth is no number of the machine's: of five points even 0 is reached.
      const LaplaceProblem problem = problemOf(LaplaceStencil::SevenPoint);
      HybridJacobi solver(world(), problem, options);
      const HybridResult result = solver.run();
      EXPECT_FALSE(result.converged);
      EXPECT_LT(result.residual, 1e-13);  // nor did it give up early
      expectHonest(problem, solver, result);
    }
}

TEST(HybridJacobi, WhatIsSolvedAlreadyIsLeftAlone) {
  LaplaceProblem problem = problemOf(LaplaceStencil::SevenPoint);
  problem.boundary = [](std::int64_t, std::int64_t, std::int64_t) { return 2.0; };
  problem.guess = problem.boundary;
  HybridJacobi solver(world(), problem, {});
  const HybridResult result = solver.run();
  EXPECT_TRUE(result.converged);
  EXPECT_EQ(result.rounds, 0);
  EXPECT_EQ(result.guessResidual, 0);
}

TEST(HybridJacobi, AnErrorOfOneThreadEndsItOnAllRanks) {
  for (HybridOptions options : everyVariant(3))
    for (const bool again : {false, true}) {
      options.tolerance = 1e-30;
      std::atomic<int> calls{0};
      options.afterIteration = [&, last = world().size() - 1](int) {
        const int call = ++calls;
        if (world().rank() == last && (again ? call >= 30 : call == 30))
          throw std::runtime_error("no more");
      };
      HybridJacobi solver(world(), problemOf(LaplaceStencil::FivePoint), options);
      const std::string error = errorOf([&] { static_cast<void>(solver.run()); });
      EXPECT_NE(error.find("no more"), std::string::npos) << error;
    }
  expectSolved(problemOf(LaplaceStencil::FivePoint), {});  // and others go on
}

/// Fails once, on one rank, in one of the calls that make progress.
class FailsOnce : public testing::ForwardingTransport {
 public:
  FailsOnce(Transport& inner, int at) : ForwardingTransport(inner), at_(at) {}

  void poll() override {
    fail();
    ForwardingTransport::poll();
  }
  std::optional<Envelope> tryReceive(Topic topic, Session session) override {
    if (topic == Topic::Work) fail();
    return ForwardingTransport::tryReceive(topic, session);
  }
  void arm() { armed_ = rank() == size() - 1; }

 private:
  void fail() {
    if (!armed_ || ++calls_ != at_) return;
    armed_ = false;
    throw Error("the network is tired");
  }

  int at_;
  int calls_ = 0;
  std::atomic<bool> armed_{false};
};

TEST(HybridJacobi, AnErrorOfTheTransportEndsItOnAllRanks) {
  if (world().size() == 1) return;  // nothing is asked of it
  for (const HybridOptions& given : everyVariant(2))
    for (const int at : {1, 2, 20}) {
      FailsOnce transport(world(), at);
      HybridOptions options = given;
      options.tolerance = 1e-30;
      // Not while the solver begins, where it is for everybody to be told at once.
      options.afterIteration = [&](int) { transport.arm(); };
      HybridJacobi solver(transport, problemOf(LaplaceStencil::FivePoint), options);
      const std::string error = errorOf([&] { static_cast<void>(solver.run()); });
      EXPECT_NE(error.find("tired"), std::string::npos) << error;
    }
}

TEST(HybridJacobi, LimitsEndIt) {
  for (const HybridTraffic traffic : {HybridTraffic::Direct, HybridTraffic::Master}) {
    if (traffic == HybridTraffic::Master && world().size() < 2) continue;
    HybridOptions options;
    options.traffic = traffic;
    options.threads = 2;
    options.tolerance = 1e-30;
    options.iterationLimit = 100;
    HybridJacobi solver(world(), problemOf(LaplaceStencil::FivePoint), options);
    const HybridResult result = solver.run();
    EXPECT_FALSE(result.converged);
    EXPECT_EQ(result.rounds, 1);
    HybridOptions timed = options;
    timed.iterationLimit = 1'000'000'000;
    timed.timeLimit = 0.05;
    LaplaceProblem large = problemOf(LaplaceStencil::FivePoint);
    large.points = {300, 200, 1};
    EXPECT_FALSE(HybridJacobi(world(), large, timed).run().converged);
  }
}

TEST(HybridJacobi, TimesAreThoseOfEachOperation) {
  HybridOptions options;
  options.threads = 2;
  options.timingPeriod = 3;
  options.swapPeriod = 2;
  options.residualPeriod = 3;
  options.tolerance = 1e-9;
  HybridJacobi solver(world(), problemOf(LaplaceStencil::FivePoint), options);
  const HybridResult result = solver.run();
  // Two blocks, and nobody who only communicates.
  ASSERT_EQ(result.times.size(), 3u);
  OperationTimes times = result.times[0];
  times.add(result.times[1]);
  for (const std::size_t block : {0u, 1u})
    EXPECT_FALSE(result.times[block].layersTogether.empty()) << block;
  const auto samples = [&](Operation operation) {
    return times.operations[static_cast<std::size_t>(operation)].size();
  };
  EXPECT_GT(samples(Operation::ComputeLayer), 0u);
  EXPECT_GT(samples(Operation::ComputeResidual), 0u);
  EXPECT_GT(samples(Operation::SumResidual), 0u);
  EXPECT_EQ(samples(Operation::MasterHalo), 0u);
  EXPECT_GT(times.layersTogether.size(), 0u);
  // Two outermost layers, or the only one.
  EXPECT_GE(samples(Operation::ComputeLayer), times.layersOneByOne.size());
  EXPECT_LE(samples(Operation::ComputeLayer), 2 * times.layersOneByOne.size());
  std::map<std::string, int> kinds;
  for (const auto* iterations : {&times.iterations, &times.interrupted})
    for (const auto& [kind, seconds] : *iterations) {
      ++kinds[nameOf(kind)];
      EXPECT_GE(seconds, 0);
    }
  for (const char* kind : {"C_U", "C_US", "C_USRr", "C_URr", "N_U", "N_UR"})
    EXPECT_GT(kinds[kind], 0) << kind;
  EXPECT_EQ(kinds.size(), 6u);
}

TEST(HybridJacobi, TimesOfADedicatedThreadComeLast) {
  HybridOptions options;
  options.variant = HybridVariant::AsynchronousDirect;
  options.threads = 2;
  options.timingPeriod = 3;
  options.tolerance = 1e-9;
  const HybridResult result =
      HybridJacobi(world(), problemOf(LaplaceStencil::FivePoint), options).run();
  ASSERT_EQ(result.times.size(), 2u);
  const auto samples = [&](std::size_t thread, Operation operation) {
    return result.times[thread].operations[static_cast<std::size_t>(operation)].size();
  };
  EXPECT_GT(samples(0, Operation::ComputeLayer), 0u);
  EXPECT_EQ(samples(0, Operation::CopyBoundary), 0u);
  EXPECT_EQ(samples(1, Operation::ComputeLayer), 0u);
  EXPECT_GT(samples(1, Operation::CopyBoundary), 0u);
}

/// Naps where a report of the residual begins.
class NappingTransport : public ForwardingTransport {
 public:
  static constexpr double NapSeconds = 0.005;

  using ForwardingTransport::ForwardingTransport;
  PendingReduce allreduce(ReduceOp op, std::vector<std::int64_t> values) override {
    leaveCore(NapSeconds);
    return ForwardingTransport::allreduce(op, std::move(values));
  }
};

TEST(HybridJacobi, KeepsInterruptedIterationsApart) {
  HybridOptions options;
  options.timingPeriod = 2;
  options.residualPeriod = 2;
  options.tolerance = 1e-300;
  options.iterationLimit = 60;
  for (const bool waits : {false, true}) {
    if (waits) options.variant = HybridVariant::SynchronousDirect;
    NappingTransport transport(world());
    const HybridResult result =
        HybridJacobi(transport, problemOf(LaplaceStencil::FivePoint), options).run();
    const OperationTimes& times = result.times.front();
    double longest = 0;
    for (const auto& [kind, seconds] : times.interrupted) longest = std::max(longest, seconds);
    const auto samples = [&](Operation operation) {
      return times.operations[static_cast<std::size_t>(operation)].size();
    };
    if (waits) {
      EXPECT_TRUE(times.interrupted.empty());
      continue;
    }
    // A nap is no time with a core.
    EXPECT_GT(result.coreSeconds.front(), 0);
    EXPECT_LT(result.coreSeconds.front(), result.seconds - longest);
    // Alone, each report begins anew, and no other iteration naps.
    if (world().size() > 1) continue;
    EXPECT_GE(longest, NappingTransport::NapSeconds);
    EXPECT_GT(samples(Operation::ComputeLayer), 0u);
    EXPECT_GT(times.iterations.size(), 0u);
    EXPECT_EQ(samples(Operation::SumResidual), 0u);
    for (const auto& [kind, seconds] : times.iterations) EXPECT_FALSE(kind.reported);
  }
}

TEST(HybridJacobi, RefusesWhatMakesNoSense) {
  const auto refusal = [](const std::function<void(LaplaceProblem&, HybridOptions&)>& change) {
    LaplaceProblem problem = problemOf(LaplaceStencil::FivePoint);
    HybridOptions options;
    change(problem, options);
    return errorOf([&] { HybridJacobi(world(), problem, options); });
  };
  const auto expect = [&](const std::string& text, auto change) {
    EXPECT_NE(refusal(change).find(text), std::string::npos) << text << ": " << refusal(change);
  };
  expect("give at least 1", [](auto& problem, auto&) { problem.points[0] = 0; });
  expect("two-dimensional", [](auto& problem, auto&) { problem.points[2] = 2; });
  expect("no boundary values", [](auto& problem, auto&) { problem.boundary = nullptr; });
  expect("at least 1", [](auto&, auto& options) { options.swapPeriod = 0; });
  expect("workShare", [](auto&, auto& options) { options.workShare = 1.5; });
  expect("tolerance", [](auto&, auto& options) { options.tolerance = std::nan(""); });
  expect("at least two",
         [](auto&, auto& options) { options.variant = HybridVariant::AsynchronousDirect; });
  if (world().size() > 1) {
    expect("one rank", [](auto&, auto& options) { options.variant = HybridVariant::SharedMemory; });
    expect("differ", [](auto&, auto& options) {
      if (world().rank() == 0) options.tolerance = 1e-3;
    });
    expect("workShare", [](auto&, auto& options) {
      if (world().rank() == 1) options.workShare = 0;
    });
  } else {
    expect("at least two ranks",
           [](auto&, auto& options) { options.traffic = HybridTraffic::Master; });
  }
}

TEST(HybridJudge, JudgesWhatIsFresh) {
  HybridJudge judge(1, 3);
  EXPECT_EQ(judge.epoch(), 1);
  EXPECT_FALSE(judge.judge(0.5, false, 0));  // low, but of who knows when
  EXPECT_EQ(judge.epoch(), 1);
  EXPECT_FALSE(judge.judge(4, true, 0));
  EXPECT_EQ(judge.epoch(), 2);
  EXPECT_FALSE(judge.judge(2, true, 0));
  EXPECT_TRUE(judge.judge(1, true, 0));
  EXPECT_FALSE(judge.stagnates());
}

TEST(HybridJudge, GivesUpWhereNothingGetsBetter) {
  HybridJudge judge(1, 3);
  for (const double residual : {5.0, 6.0, 5.0, 4.0, 4.0, 7.0}) {
    EXPECT_FALSE(judge.judge(residual, true, 0));
    EXPECT_FALSE(judge.judge(residual, false, 0));
  }
  EXPECT_TRUE(judge.judge(4, true, 0));
  EXPECT_TRUE(judge.stagnates());
}

TEST(HybridJudge, StopsForReasonsAtOnce) {
  EXPECT_TRUE(HybridJudge(1, 3).judge(9, false, HybridJudge::Failed));
  EXPECT_TRUE(HybridJudge(1, 3).judge(std::nan(""), false, 0));
  EXPECT_FALSE(HybridJudge(1, 3).judge(9, false, 0));
}

TEST(LatestValue, IsNeverTornAndNeverOlder) {
  for (const Captures captures : {Captures::Locked, Captures::LockFree}) {
    LatestValue<std::vector<std::int64_t>> newest(captures, std::vector<std::int64_t>(50, 0));
    constexpr std::int64_t Last = 20000;
    std::thread writer([&] {
      for (std::int64_t n = 1; n <= Last; ++n) {
        newest.writing().assign(50, n);
        newest.publish();
      }
    });
    std::int64_t seen = 0;
    while (seen < Last) {
      if (!newest.take()) continue;
      const std::vector<std::int64_t>& values = newest.reading();
      EXPECT_GT(values[0], seen);
      for (const std::int64_t value : values) EXPECT_EQ(value, values[0]);
      seen = values[0];
    }
    writer.join();
    EXPECT_FALSE(newest.take());
  }
}

TEST(Subregion, BoxesCoverAllPointsOnce) {
  for (const std::int64_t parts : {1, 2, 3, 4, 6, 7, 12, 64})
    for (const Points& points : {Points{13, 17, 1}, Points{100, 3, 1}, Points{5, 6, 7}}) {
      const std::size_t dimension = points[2] == 1 ? 2 : 3;
      std::vector<int> times(static_cast<std::size_t>(points[0] * points[1] * points[2]), 0);
      const auto boxes = cutIntoBoxes(points, dimension, parts);
      EXPECT_EQ(static_cast<std::int64_t>(boxes.size()), parts);
      for (const CellRange& box : boxes)
        for (std::int64_t k = box.lo[2]; k < box.hi[2]; ++k)
          for (std::int64_t j = box.lo[1]; j < box.hi[1]; ++j)
            for (std::int64_t i = box.lo[0]; i < box.hi[0]; ++i) ++times[indexOf(points, i, j, k)];
      for (const int count : times) EXPECT_EQ(count, 1);
    }
}

}  // namespace
}  // namespace tributary
