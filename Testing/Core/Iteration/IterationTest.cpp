// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <limits>
#include <new>
#include <numeric>
#include <optional>

#include "Iteration/LinearSystems.h"
#include "Support/Effort.h"
#include "Support/World.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Exchange/Exchange.h"
#include "Tributary/Iteration/ExactSum.h"
#include "Tributary/Iteration/Iteration.h"
#include "Tributary/Iteration/detail/SpanningTree.h"
#include "Tributary/Iteration/detail/StopNotices.h"
#include "Tributary/Transport/Simulated.h"

namespace tributary {

using namespace detail;
namespace {

using testing::errorOf;
using testing::gather;
using testing::laplace;
using testing::LinearSystem;
using testing::mix;
using testing::randomSystem;
using testing::Sanitized;
using testing::slowed;
using testing::someOf;
using testing::SystemPart;
using testing::world;

constexpr double Infinity = std::numeric_limits<double>::infinity();

void waitFor(Transport& transport, const std::function<bool()>& condition) {
  Backoff backoff;
  while (!condition()) {
    transport.poll();
    backoff.pause(transport);
  }
}

/// Runs `body` on all ranks of MPI; if that is one, on simulated ranks too: timed, and under
/// adversaries.
void everywhere(const std::function<void(Transport&)>& body, std::uint64_t seeds = 20) {
  body(world());
  if (world().size() > 1) return;
  for (const int ranks : {1, 2, 3, 5, 8}) {
    if (slowed() && ranks > 3) continue;
    VirtualTimeNetworkOptions options;
    options.ranks = ranks;
    const auto timed = makeVirtualTimeNetwork(options);
    timed->run(body);
    EXPECT_EQ(timed->left(), "");
    for (std::uint64_t seed = 0; seed < someOf(Sanitized ? (seeds + 3) / 4 : seeds); ++seed) {
      const auto adversary = makeRandomAdversary(seed);
      const auto network = makeAdversarialNetwork(ranks, *adversary);
      network->run(body);
      EXPECT_EQ(network->left(), "") << "seed " << seed;
    }
  }
}

/// A random graph with about `degree` links a rank; at 0 there are none.
std::vector<int> graphNeighbors(std::uint64_t seed, int rank, int size, int degree) {
  std::vector<int> neighbors;
  for (int other = 0; other < size; ++other) {
    if (other == rank) continue;
    const auto low = static_cast<std::uint64_t>(std::min(rank, other));
    const auto high = static_cast<std::uint64_t>(std::max(rank, other));
    if (mix(seed + low * 1000 + high * 1000003) % static_cast<std::uint64_t>(size) <
        static_cast<std::uint64_t>(degree)) {
      neighbors.push_back(other);
    }
  }
  return neighbors;
}

// ---- Spanning tree ----

TEST(SpanningTree, SpansAnyGraph) {
  everywhere([](Transport& transport) {
    const int rank = transport.rank();
    const int size = transport.size();
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      for (const int degree : {0, 1, 2, size}) {
        const std::vector<int> graph = graphNeighbors(seed, rank, size, degree);
        SpanningTree tree(transport, transport.openSession(), graph);
        waitFor(transport, [&] { return tree.advance(); });
        const std::vector<int> parents = allgather(transport, tree.parent());
        EXPECT_EQ(parents[0], -1);
        // Every way up ends at rank 0, so there is no circle.
        for (int start = 0; start < size; ++start) {
          int at = start;
          for (int steps = 0; steps < size && at != 0; ++steps) {
            at = parents[static_cast<std::size_t>(at)];
            ASSERT_GE(at, 0);
          }
          EXPECT_EQ(at, 0);
        }
        std::vector<int> expected;
        for (int other = 1; other < size; ++other) {
          if (parents[static_cast<std::size_t>(other)] == rank) expected.push_back(other);
        }
        std::vector<int> children = tree.children();
        std::sort(children.begin(), children.end());
        EXPECT_EQ(children, expected);
        // Links of the graph where they suffice.
        if (degree == size && rank > 0) {
          EXPECT_TRUE(std::count(graph.begin(), graph.end(), tree.parent()) > 0);
          EXPECT_LE(tree.messages(), 2 * size + 2);
        }
      }
    }
  });
}

// ---- Reductions ----

TEST(NonBlockingReduce, ReducesAgainAndAgain) {
  everywhere([](Transport& transport) {
    const int rank = transport.rank();
    const int size = transport.size();
    SpanningTree tree(transport, transport.openSession(), graphNeighbors(7, rank, size, 2));
    const Session session = transport.openSession();
    waitFor(transport, [&] { return tree.advance(); });
    for (const ReductionKind kind : {ReductionKind::LeaderElection, ReductionKind::Transport}) {
      const auto reduce = kind == ReductionKind::LeaderElection
                              ? makeLeaderElection(transport, session, tree.neighbors())
                              : makeTransportReduce(transport);
      for (std::int64_t round = 0; round < 30; ++round) {
        const auto value = [&](int r) {
          return static_cast<std::int64_t>(mix(static_cast<std::uint64_t>(round * 100 + r)) % 1000);
        };
        const ReduceOp op = round % 2 == 0 ? ReduceOp::Sum : ReduceOp::Max;
        std::vector<std::int64_t> expected = {0, 1000};
        for (int r = 0; r < size; ++r) {
          expected[0] =
              op == ReduceOp::Sum ? expected[0] + value(r) : std::max(expected[0], value(r));
        }
        if (op == ReduceOp::Sum) expected[1] *= size;
        reduce->start(op, {value(rank), 1000});
        waitFor(transport, [&] { return reduce->advance(); });
        EXPECT_EQ(reduce->result(), expected);
      }
      if (kind == ReductionKind::LeaderElection) {
        const std::int64_t messages = allreduce(transport, ReduceOp::Sum, reduce->messages());
        EXPECT_EQ(messages, 30 * 2 * (size - 1));
      }
    }
  });
}

// ---- Malformed messages ----

/// Runs `body` on rank 0 of two, after rank 1 has sent these messages to it in the first session.
/// @return the kind of the error that rank 0 throws, if any
std::optional<ErrorKind> kindAfter(const std::vector<Bytes>& messages,
                                   const std::function<void(Transport&, Session)>& body) {
  std::optional<ErrorKind> kind;
  VirtualTimeNetworkOptions options;
  options.ranks = 2;
  const auto network = makeVirtualTimeNetwork(options);
  network->run([&](Transport& transport) {
    const Session session = transport.openSession();
    if (transport.rank() == 1) {
      for (const Bytes& message : messages)
        transport.send(0, Topic::Detector, session, SendMode::Eager, Bytes(message));
      return;
    }
    try {
      body(transport, session);
    } catch (const Error& error) {
      kind = error.kind();
    }
  });
  return kind;
}

TEST(SpanningTree, RefusesMalformedMessages) {
  constexpr std::int64_t Explore = 0, Echo = 1, Seek = 2, Join = 3, Completed = 4;
  const auto message = [](std::int64_t kind, std::int64_t ranks) {
    return Writer().value(kind).value(ranks).take();
  };
  const auto build = [](Transport& transport, Session session) {
    SpanningTree tree(transport, session, {1});
    waitFor(transport, [&] { return tree.advance(); });
  };
  EXPECT_EQ(kindAfter({message(Echo, 1)}, build), std::nullopt);
  constexpr std::int64_t Largest = std::numeric_limits<std::int64_t>::max();
  const std::vector<std::vector<Bytes>> cases = {
      {message(Completed, 0)},  {message(Completed + 1, 1)}, {message(Echo, 0)},
      {message(Echo, Largest)}, {message(Seek, 2)},          {message(Join, 1)},
      {Bytes(8, std::byte{0})}, {Bytes(17, std::byte{0})}};
  for (std::size_t i = 0; i < cases.size(); ++i)
    EXPECT_EQ(kindAfter(cases[i], build), ErrorKind::Message) << i;
  // The search for ranks that no link reaches: ended too early, or with too many ranks.
  const auto search = [](Transport& transport, Session session) {
    SpanningTree tree(transport, session, {});
    waitFor(transport, [&] { return tree.advance(); });
  };
  EXPECT_EQ(kindAfter({message(Join, 1), message(Seek, 2)}, search), std::nullopt);
  for (const Bytes& wrong : {message(Explore, 0), message(Echo, 1), message(Join, 0),
                             message(Join, 2), message(Join, Largest), message(Completed, 0)})
    EXPECT_EQ(kindAfter({wrong}, search), ErrorKind::Message);
}

TEST(NonBlockingReduce, RefusesMalformedMessages) {
  using Values = std::vector<std::int64_t>;
  const auto message = [](std::int64_t reduction, std::int64_t kind, const Values& values) {
    return Writer().value(reduction).value(kind).range(values).take();
  };
  Values result;
  const auto reduce = [&](Transport& transport, Session session) {
    const auto election = makeLeaderElection(transport, session, {1});
    election->start(ReduceOp::Sum, {std::numeric_limits<std::int64_t>::max(), 2});
    waitFor(transport, [&] { return election->advance(); });
    result = election->result();
  };
  EXPECT_EQ(kindAfter({message(1, 0, {1, 3})}, reduce), std::nullopt);
  EXPECT_EQ(result, (Values{std::numeric_limits<std::int64_t>::min(), 5}));  // as MPI's sums
  Bytes longer = message(1, 1, {1, 3});
  longer.resize(longer.size() + 1);
  for (const Bytes& wrong : {message(2, 0, {1, 3}), message(1, 2, {1, 3}), message(1, 0, {1}),
                             message(1, 1, {}), message(1, 1, {1, 2, 3}), longer})
    EXPECT_EQ(kindAfter({wrong}, reduce), ErrorKind::Message);
}

TEST(ExactSum, IsTheSumRoundedOnce) {
  const auto sumOf = [](const std::vector<double>& values) {
    ExactSum sum;
    for (const double value : values) sum.add(value);
    return sum.value();
  };
  EXPECT_EQ(sumOf({}), 0);
  EXPECT_EQ(sumOf({1e308, 1e308, -1e308}), 1e308);
  EXPECT_EQ(sumOf({1e308, 1e308}), Infinity);
  EXPECT_EQ(sumOf({1e300, 1, -1e300}), 1);
  EXPECT_EQ(sumOf({1, 0x1p-53}), 1);
  EXPECT_EQ(sumOf({1, 0x1p-53, 0x1p-1074}), 1 + 0x1p-52);
  EXPECT_EQ(sumOf({1 + 0x1p-52, 0x1p-53}), 1 + 0x1p-51);
  EXPECT_EQ(sumOf({-1, -0x1p-53, -0x1p-1074}), -1 - 0x1p-52);
  EXPECT_EQ(sumOf({0x1p-1074, 0x1p-1074, 0x1p-1074}), 3 * 0x1p-1074);
  EXPECT_EQ(sumOf({0x1.fffffffffffffp1023, 0x1p-1074}), 0x1.fffffffffffffp1023);
  EXPECT_EQ(sumOf({5e-324, -5e-324}), 0);
  EXPECT_EQ(sumOf({Infinity, 1}), Infinity);
  EXPECT_EQ(sumOf({-Infinity, 1}), -Infinity);
  EXPECT_TRUE(std::isnan(sumOf({Infinity, -Infinity})));
  EXPECT_TRUE(std::isnan(sumOf({std::nan(""), 1})));
  // Integers in disguise, whose sum is known, in any order; and each single value.
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    std::vector<double> values;
    std::int64_t expected = 0;
    const int scale = static_cast<int>(mix(seed) % 2000) - 1040;
    for (std::uint64_t i = 0; i < 50; ++i) {
      const auto value =
          static_cast<std::int64_t>(mix(seed * 100 + i) >> 20) - (std::int64_t(1) << 43);
      expected += value;
      values.push_back(std::ldexp(static_cast<double>(value), scale));
      EXPECT_EQ(sumOf({values.back()}), values.back());
    }
    EXPECT_EQ(sumOf(values), std::ldexp(static_cast<double>(expected), scale));
    std::reverse(values.begin(), values.end());
    EXPECT_EQ(sumOf(values), std::ldexp(static_cast<double>(expected), scale));
  }
}

TEST(ResidualReduction, IsExactAndTheSameOnAllRanks) {
  everywhere(
      [](Transport& transport) {
        const int rank = transport.rank();
        const int size = transport.size();
        SpanningTree tree(transport, transport.openSession(), graphNeighbors(3, rank, size, 2));
        const auto leader = makeLeaderElection(transport, transport.openSession(), [&] {
          waitFor(transport, [&] { return tree.advance(); });
          return tree.neighbors();
        }());
        const auto reduceOf = [&](Norm norm, const ResidualReduction::Part& mine) {
          ResidualReduction reduction(*leader, norm);
          reduction.start(mine);
          waitFor(transport, [&] { return reduction.advance(); });
          return reduction.result();
        };
        ResidualReduction::Part mine;
        mine.residual = 0.1 * (rank + 1);
        mine.reasons = rank == size - 1 ? 2u : 0u;
        mine.met = rank != 0;
        ResidualReduction::Part all = reduceOf(Norm::Max, mine);
        EXPECT_EQ(all.residual, 0.1 * size);
        EXPECT_EQ(all.reasons, 2u);
        EXPECT_FALSE(all.met);
        mine.met = true;
        mine.residual = rank == 0 ? 9.0 : 0;
        all = reduceOf(Norm::Two, mine);
        EXPECT_EQ(all.residual, 3.0);
        EXPECT_TRUE(all.met);
        for (const double bad : {std::nan(""), -std::nan(""), Infinity}) {
          for (const Norm norm : {Norm::Max, Norm::Two}) {
            mine.residual = rank == size / 2 ? bad : 1;
            all = reduceOf(norm, mine);
            EXPECT_EQ(std::isnan(all.residual), std::isnan(bad));
            EXPECT_FALSE(std::isfinite(all.residual));
          }
        }
      },
      5);
}

TEST(StopNotices, ReachAllRanks) {
  everywhere([](Transport& transport) {
    const int rank = transport.rank();
    const int size = transport.size();
    SpanningTree tree(transport, transport.openSession(), graphNeighbors(5, rank, size, 1));
    const Session session = transport.openSession();
    waitFor(transport, [&] { return tree.advance(); });
    StopNotices notices(transport, session, tree.neighbors());
    if (rank == 0) notices.tell(StopReason::Limit);
    if (rank >= size / 2) notices.tell(StopReason::Error, "no " + std::to_string(rank));
    waitFor(transport, [&] {
      notices.advance();
      return notices.heard(StopReason::Limit) && notices.heard(StopReason::Error);
    });
    EXPECT_EQ(notices.error(), "no " + std::to_string(notices.errorRank()));
    waitFor(transport, [&] { return notices.close(); });
  });
}

// ---- Iterations ----

struct Setting {
  const char* name;
  IterationSchedule schedule;
  ConvergenceDetection convergenceDetection;
};

constexpr Setting Settings[] = {
    {"synchronous", IterationSchedule::Synchronous, ConvergenceDetection::SnapshotReduction},
    {"SSAR", IterationSchedule::Asynchronous, ConvergenceDetection::SnapshotReduction},
    {"SB96", IterationSchedule::Asynchronous, ConvergenceDetection::SupervisedTermination},
    {"trivial", IterationSchedule::Trivial, ConvergenceDetection::SnapshotReduction}};

IterationOptions optionsOf(const Setting& setting) {
  IterationOptions options;
  options.schedule = setting.schedule;
  options.convergenceDetection = setting.convergenceDetection;
  return options;
}

/// What all ranks have to agree on, bit by bit.
void expectSame(Transport& transport, const IterationResult& result) {
  std::int64_t bits;
  std::memcpy(&bits, &result.residual, sizeof bits);
  const std::vector<std::int64_t> mine = {static_cast<std::int64_t>(result.verdict), bits,
                                          result.iterations, result.snapshots};
  EXPECT_EQ(allreduce(transport, ReduceOp::Min, mine), allreduce(transport, ReduceOp::Max, mine));
}

/// Solves a system and looks at what came of it, by itself.
IterationResult solve(Transport& transport, const LinearSystem& system,
                      const IterationOptions& options, bool gaussSeidel = false,
                      const std::function<void(IterationProblem&)>& change = {}) {
  SystemPart part(system, transport.rank(), transport.size(), gaussSeidel);
  IterationProblem problem = part.problem(options.norm);
  if (change) change(problem);
  Iteration iteration(transport, problem, options);
  const IterationResult result = iteration.run();
  expectSame(transport, result);
  const double norm = system.norm(gather(transport, part.x), options.norm);
  if (options.norm == Norm::Max) {
    EXPECT_TRUE(result.residual == norm || (std::isnan(norm) && std::isnan(result.residual)))
        << result.residual << " is not the norm of the iterate returned, " << norm;
  } else if (std::isfinite(result.residual)) {
    EXPECT_NEAR(result.residual, norm, 1e-12 * norm);
  }
  if (result.verdict == Verdict::Converged) {
    EXPECT_LE(norm, options.residualThreshold * (options.norm == Norm::Max ? 1 : 1 + 1e-12));
  } else {
    EXPECT_FALSE(norm <= options.residualThreshold);
  }
  const IterationStatistics mine = iteration.statistics();
  if (options.schedule == IterationSchedule::Asynchronous && part.x.empty()) {
    EXPECT_EQ(mine.iterations, 0);
  }
  const IterationStatistics all = reduceStatistics(transport, mine);
  EXPECT_EQ(all.sent, all.received);
  EXPECT_EQ(all.iterations, result.iterations);
  EXPECT_EQ(all.snapshots, result.snapshots);
  EXPECT_GE(all.totalSeconds, mine.totalSeconds);
  return result;
}

TEST(Iteration, SolvesSystemsInEveryWay) {
  Transport& transport = world();
  const LinearSystem grid = laplace(12, 10, 1);
  for (const Setting& setting : Settings) {
    for (const ReductionKind reduction :
         {ReductionKind::LeaderElection, ReductionKind::Transport}) {
      for (const Norm norm : {Norm::Max, Norm::Two}) {
        for (const SendMode mode : {SendMode::Eager, SendMode::Synchronous}) {
          IterationOptions options = optionsOf(setting);
          options.reduction = reduction;
          options.norm = norm;
          options.residualThreshold = 1e-8;
          options.channels = {mode, norm == Norm::Max ? 2 : 1};
          options.checkInterval = norm == Norm::Max ? 1 : 3;
          const IterationResult result =
              solve(transport, grid, options, reduction == ReductionKind::Transport);
          EXPECT_EQ(result.verdict, Verdict::Converged) << setting.name;
        }
      }
    }
  }
}

// The iterates of synchronous iterations are those of the serial method, bit by bit.
TEST(Iteration, SynchronousIsTheSerialMethod) {
  const LinearSystem system = randomSystem(17, 40, 0.8);
  const auto body = [&](Transport& transport) {
    SystemPart whole(system, 0, 1);
    const IterationProblem serial = whole.problem();
    for (int i = 0; i < 25; ++i) serial.sweep({}, false);
    for (const IterationSchedule schedule :
         {IterationSchedule::Synchronous, IterationSchedule::Trivial}) {
      SystemPart part(system, transport.rank(), transport.size());
      IterationOptions options;
      options.schedule = schedule;
      options.iterationLimit = 25;
      options.residualThreshold = 0;
      Iteration iteration(transport, part.problem(), options);
      const IterationResult result = iteration.run();
      EXPECT_EQ(result.verdict, Verdict::IterationLimit);
      EXPECT_EQ(result.iterations, 25);
      EXPECT_EQ(gather(transport, part.x), whole.x);
    }
  };
  everywhere(body, 3);
}

TEST(Iteration, EmptyRanksAndSeparateParts) {
  // Two systems that have nothing to do with each other, and more ranks than rows.
  LinearSystem system = laplace(3, 1, 1);
  const LinearSystem other = laplace(2, 1, 1);
  for (std::size_t i = 0; i < other.size(); ++i) {
    system.rows.push_back(other.rows[i]);
    for (auto& entry : system.rows.back()) entry.column += 3;
    system.diagonal.push_back(other.diagonal[i]);
    system.b.push_back(other.b[i]);
  }
  everywhere(
      [&](Transport& transport) {
        for (const Setting& setting : Settings) {
          EXPECT_EQ(solve(transport, system, optionsOf(setting)).verdict, Verdict::Converged);
        }
      },
      10);
}

TEST(Iteration, KeepsTheInitialIterate) {
  // The solution itself: the first snapshot is enough.
  const LinearSystem system = laplace(8, 4, 0.5);
  SystemPart whole(system, 0, 1);
  const IterationProblem serial = whole.problem();
  for (int i = 0; i < 2000; ++i) serial.sweep({}, false);
  everywhere(
      [&](Transport& transport) {
        for (const Setting& setting : Settings) {
          SystemPart part(system, transport.rank(), transport.size());
          const std::size_t first = system.size() * static_cast<std::size_t>(transport.rank()) /
                                    static_cast<std::size_t>(transport.size());
          std::copy_n(whole.x.begin() + static_cast<std::ptrdiff_t>(first), part.x.size(),
                      part.x.begin());
          IterationOptions options = optionsOf(setting);
          options.residualThreshold = 1e-12;
          Iteration iteration(transport, part.problem(), options);
          EXPECT_EQ(iteration.run().verdict, Verdict::Converged);
          EXPECT_LE(iteration.result().snapshots, 2);
        }
      },
      3);
}

TEST(Iteration, EndsAtTheLimit) {
  const LinearSystem system = laplace(16, 4, 0);
  everywhere(
      [&](Transport& transport) {
        for (const Setting& setting : Settings) {
          IterationOptions options = optionsOf(setting);
          options.residualThreshold = 1e-14;
          options.iterationLimit = 10;
          const IterationResult result = solve(transport, system, options);
          EXPECT_EQ(result.verdict, Verdict::IterationLimit) << setting.name;
          EXPECT_EQ(result.iterations, 10) << setting.name;
        }
      },
      10);
}

TEST(Iteration, EndsWhereNumbersEnd) {
  // Rows whose off-diagonal entries outweigh the diagonal: it grows beyond all bounds.
  const LinearSystem growing = randomSystem(5, 24, 1e6);
  everywhere(
      [&](Transport& transport) {
        for (const Setting& setting : Settings) {
          for (const Norm norm : {Norm::Max, Norm::Two}) {
            if (slowed() && norm == Norm::Two && &setting != &Settings[0]) continue;
            IterationOptions options = optionsOf(setting);
            options.norm = norm;
            const IterationResult result = solve(transport, growing, options);
            EXPECT_EQ(result.verdict, Verdict::NotFinite) << setting.name;
            EXPECT_FALSE(std::isfinite(result.residual)) << setting.name;
            // A value that is no number on one rank.
            const LinearSystem good = laplace(6, 4, 1);
            const int bad = transport.size() - 1;
            const IterationResult nan =
                solve(transport, good, options, false, [&](IterationProblem& problem) {
                  if (transport.rank() != bad) return;
                  const auto sweep = problem.sweep;
                  problem.sweep = [=](const Incoming& incoming, bool measure) {
                    const double value = sweep(incoming, measure);
                    problem.iterate[0] = std::nan("");
                    return measure ? std::nan("") : value;
                  };
                });
            EXPECT_EQ(nan.verdict, Verdict::NotFinite) << setting.name;
          }
        }
      },
      1);
}

TEST(Iteration, ErrorsOfOneRankEndAll) {
  const LinearSystem system = laplace(6, 6, 0);
  everywhere(
      [&](Transport& transport) {
        const int bad = transport.size() - 1;
        const bool here = transport.rank() == bad;
        for (const Setting& setting : Settings) {
          for (const std::string where : {"sweep", "fill", "residual", "condition"}) {
            SystemPart part(system, transport.rank(), transport.size());
            IterationProblem problem = part.problem();
            int calls = 0;
            const auto fail = [&calls, here, where](const char* callback, int after) {
              if (here && where == callback && ++calls > after) throw Error("no luck");
            };
            const IterationProblem good = problem;
            problem.sweep = [=](const Incoming& incoming, bool measure) {
              fail("sweep", 3);
              return good.sweep(incoming, measure);
            };
            problem.fill = [=](std::size_t neighbor, Span<double> values) {
              fail("fill", 3);
              good.fill(neighbor, values);
            };
            problem.residual = [=](Span<const double> recorded, const Incoming& incoming) {
              fail("residual", 0);
              return good.residual(recorded, incoming);
            };
            IterationOptions options = optionsOf(setting);
            options.residualThreshold = 1e-3;
            Iteration iteration(transport, problem, options);
            iteration.require([=] {
              fail("condition", 0);
              return true;
            });
            const std::string error = errorOf([&] { iteration.run(); });
            // A rank alone fills nothing.
            if (transport.size() == 1 && where == "fill") {
              EXPECT_EQ(error, "");
              continue;
            }
            EXPECT_EQ(error, here ? "no luck" : "rank " + std::to_string(bad) + ": no luck")
                << setting.name << ", " << where;
            EXPECT_EQ(iteration.result().verdict, Verdict::Aborted);
          }
        }
      },
      3);
}

TEST(Iteration, ACallbackWithoutMemoryIsAnErrorWithACure) {
  const LinearSystem system = laplace(6, 6, 0);
  everywhere(
      [&](Transport& transport) {
        SystemPart part(system, transport.rank(), transport.size());
        IterationProblem problem = part.problem();
        const bool here = transport.rank() == transport.size() - 1;
        problem.sweep = [here, sweep = problem.sweep](const Incoming& incoming, bool measure) {
          if (here) throw std::bad_alloc();
          return sweep(incoming, measure);
        };
        Iteration iteration(transport, problem, optionsOf(Settings[0]));
        const std::string error = errorOf([&] { iteration.run(); });
        EXPECT_NE(error.find("there is not enough memory; use"), std::string::npos) << error;
      },
      3);
}

TEST(Iteration, CanBeAborted) {
  const LinearSystem system = laplace(12, 12, 0);
  everywhere(
      [&](Transport& transport) {
        for (const Setting& setting : Settings) {
          SystemPart part(system, transport.rank(), transport.size());
          IterationOptions options = optionsOf(setting);
          options.residualThreshold = 0;
          Iteration iteration(transport, part.problem(), options);
          const IterationResult result = iteration.run(
              [&] { return transport.rank() > 0 || iteration.statistics().iterations < 20; });
          EXPECT_EQ(result.verdict, Verdict::Aborted);
          expectSame(transport, result);
          EXPECT_EQ(result.residual, system.norm(gather(transport, part.x), Norm::Max));
        }
      },
      3);
}

TEST(Iteration, WrongArgumentsAreErrorsOnAllRanks) {
  Transport& transport = world();
  const LinearSystem system = laplace(8, 8, 1);
  const bool here = transport.rank() == transport.size() - 1;
  const auto expectError =
      [&](const std::string& text,
          const std::function<void(IterationProblem&, IterationOptions&)>& change) {
        SystemPart part(system, transport.rank(), transport.size());
        IterationProblem problem = part.problem();
        IterationOptions options;
        if (here) change(problem, options);
        const std::string error =
            errorOf([&] { Iteration iteration(transport, problem, options); });
        EXPECT_NE(error.find(text), std::string::npos) << error;
      };
  expectError("callback", [](auto& problem, auto&) { problem.fill = nullptr; });
  expectError("residualThreshold",
              [](auto&, auto& options) { options.residualThreshold = std::nan(""); });
  expectError("residualThreshold", [](auto&, auto& options) { options.residualThreshold = -1; });
  expectError("iterationLimit", [](auto&, auto& options) { options.iterationLimit = 0; });
  expectError("checkInterval", [](auto&, auto& options) { options.checkInterval = 0; });
  expectError("receive", [](auto&, auto& options) { options.channels.receives = 0; });
  if (transport.size() == 1) return;
  expectError("values", [](auto& problem, auto&) { ++problem.neighbors[0].receiveCount; });
  expectError("neighbor", [](auto& problem, auto&) { problem.neighbors.pop_back(); });
  expectError("differs among ranks",
              [](auto&, auto& options) { options.schedule = IterationSchedule::Synchronous; });
}

// A rank that computes ten times longer, one that stands still for a while, and noise.
TEST(Iteration, EndsWithSlowAndStalledRanks) {
  if (world().size() > 1) return;
  const LinearSystem system = laplace(16, 8, 0.2);
  for (const Setting& setting : Settings) {
    for (std::uint64_t seed = 0; seed < someOf(Sanitized ? 4 : 10); ++seed) {
      VirtualTimeNetworkOptions network;
      network.ranks = 4 + static_cast<int>(seed % 5);
      network.ranksPerNode = 2;
      network.noise = 1;
      network.seed = seed;
      network.between.latency = seed % 2 == 0 ? 1e-6 : 1e-3;
      network.speeds.assign(static_cast<std::size_t>(network.ranks), 1.0);
      network.speeds[seed % network.speeds.size()] = 0.1;
      const auto timed = makeVirtualTimeNetwork(network);
      timed->run([&](Transport& transport) {
        IterationOptions options = optionsOf(setting);
        options.channels.receives = 1 + static_cast<int>(seed % 3);
        options.channels.sendMode = seed % 4 < 2 ? SendMode::Synchronous : SendMode::Eager;
        int sweeps = 0;
        const IterationResult result =
            solve(transport, system, options, true, [&](IterationProblem& problem) {
              const auto sweep = problem.sweep;
              problem.sweep = [&, sweep](const Incoming& incoming, bool measure) {
                transport.spend(20e-6);
                if (transport.rank() == 1 && ++sweeps == 5) transport.spend(50e-3);
                return sweep(incoming, measure);
              };
            });
        EXPECT_EQ(result.verdict, Verdict::Converged);
      });
      EXPECT_EQ(timed->left(), "");
    }
  }
}

// Nobody waits for a rank that is ten times slower, but for its values.
TEST(Iteration, AsynchronousIterationsDoNotWait) {
  if (world().size() > 1) return;
  const LinearSystem system = laplace(16, 8, 0.2);
  std::vector<double> seconds;
  for (const Setting& setting : Settings) {
    VirtualTimeNetworkOptions network;
    network.ranks = 8;
    network.speeds.assign(8, 1.0);
    network.speeds[3] = 0.1;
    const auto timed = makeVirtualTimeNetwork(network);
    timed->run([&](Transport& transport) {
      solve(transport, system, optionsOf(setting), false, [&](IterationProblem& problem) {
        const auto sweep = problem.sweep;
        problem.sweep = [&, sweep](const Incoming& incoming, bool measure) {
          transport.spend(100e-6);
          return sweep(incoming, measure);
        };
      });
      if (transport.rank() == 0) seconds.push_back(transport.now());
    });
  }
  EXPECT_LT(seconds[1], 0.8 * seconds[0]) << "SSAR against synchronous";
  EXPECT_LT(seconds[2], 0.9 * seconds[0]) << "SB96 against synchronous";
  EXPECT_LT(seconds[0], seconds[3]) << "overlapping against trivial";
}

// ---- Random schedules ----

// Whatever the order of events: what is returned has the residual that is returned, at or below the
// threshold, and nothing is left in the network.
TEST(Iteration, IsRightUnderRandomSchedules) {
  if (world().size() > 1) return;
  const std::uint64_t runs = someOf(Sanitized ? 200 : 1500);
  std::int64_t converged = 0;
  std::int64_t sweeps = 0;
  std::int64_t snapshots = 0;
  for (std::uint64_t seed = 0; seed < runs; ++seed) {
    const int ranks = 1 + static_cast<int>(mix(seed) % 8);
    const std::size_t rows = 1 + mix(seed + 1) % 30;
    const LinearSystem system = randomSystem(seed * 7919, rows, 0.7);
    const Setting& setting = Settings[mix(seed + 2) % std::size(Settings)];
    IterationOptions options = optionsOf(setting);
    options.reduction = seed % 2 == 0 ? ReductionKind::LeaderElection : ReductionKind::Transport;
    options.norm = seed / 2 % 2 == 0 ? Norm::Max : Norm::Two;
    options.channels = {seed / 4 % 2 == 0 ? SendMode::Synchronous : SendMode::Eager,
                        1 + static_cast<int>(seed / 8 % 3)};
    options.checkInterval = seed % 5 == 0 ? 3 : 1;
    options.residualThreshold = 1e-6;
    const auto adversary = makeRandomAdversary(seed);
    const auto network = makeAdversarialNetwork(ranks, *adversary);
    network->run([&](Transport& transport) {
      const IterationResult result = solve(transport, system, options, seed % 7 == 0);
      if (transport.rank() != 0) return;
      EXPECT_EQ(result.verdict, Verdict::Converged) << "seed " << seed;
      EXPECT_LE(result.residual, options.residualThreshold) << "seed " << seed;
      if (result.verdict == Verdict::Converged) ++converged;
      sweeps += result.iterations;
      snapshots += result.snapshots;
    });
    EXPECT_EQ(network->left(), "") << "seed " << seed;
  }
  EXPECT_EQ(converged, static_cast<std::int64_t>(runs));
  std::printf(
      "%lld random schedules converged, %lld sweeps of their fastest ranks, %lld snapshots\n",
      static_cast<long long>(converged), static_cast<long long>(sweeps),
      static_cast<long long>(snapshots));
}

// ---- Beside an exchange ----

// Packets wander through the ranks and change the right-hand side where they end; the iteration may
// end only when the last one has: quiet and the residual, on one transport.
TEST(Iteration, EndsWithAnExchangeBesideIt) {
  const auto body = [](Transport& transport) {
    const int size = transport.size();
    const LinearSystem before = laplace(10, 6, 0.5);
    for (const Setting& setting : Settings) {
      LinearSystem mine = before;
      SystemPart part(mine, transport.rank(), size, true);
      IterationOptions options = optionsOf(setting);
      Iteration iteration(transport, part.problem(), options);
      // One packet of each rank, 40 hops long: it adds to the row it ends at.
      const Assignment assignment = Assignment::gather(transport, 1);
      std::vector<std::vector<BlockId>> links(1);
      bool sent = false;
      Exchange exchange(transport, assignment, links, {}, [&](BlockId block, Mailbox& mailbox) {
        const auto forward = [&](int hops) {
          const auto next = static_cast<BlockId>(
              mix(static_cast<std::uint64_t>(block * 100 + hops)) % static_cast<unsigned>(size));
          mailbox.enqueue(next, hops + 1);
        };
        if (!std::exchange(sent, true)) forward(0);
        while (const auto message = mailbox.dequeue()) {
          const int hops = Reader(message->payload).value<int>();
          if (hops < 40) {
            forward(hops);
          } else {
            mine.b[60 * static_cast<std::size_t>(block) / static_cast<std::size_t>(size)] += 1;
          }
        }
        return false;
      });
      bool quiet = false;
      bool ended = false;
      bool endedBeforeQuiet = false;
      iteration.require([&] { return quiet; });
      Backoff backoff;
      while (!quiet || !ended) {
        if (!ended && iteration.advance()) {
          ended = true;
          endedBeforeQuiet = !quiet;
        }
        if (!quiet) quiet = exchange.advance();
        if (ended || iteration.idle()) {
          backoff.pause(transport);
        } else {
          backoff.reset();
        }
      }
      EXPECT_FALSE(endedBeforeQuiet);
      EXPECT_EQ(iteration.result().verdict, Verdict::Converged);
      // The problem as it is in the end: each rank's own rows from it.
      LinearSystem after = before;
      const std::vector<double> b = gather(transport, [&] {
        const auto rank = static_cast<std::size_t>(transport.rank());
        const auto ranks = static_cast<std::size_t>(size);
        return std::vector<double>(
            mine.b.begin() + static_cast<std::ptrdiff_t>(60 * rank / ranks),
            mine.b.begin() + static_cast<std::ptrdiff_t>(60 * (rank + 1) / ranks));
      }());
      after.b = b;
      const double added = std::accumulate(b.begin(), b.end(), 0.0) -
                           std::accumulate(before.b.begin(), before.b.end(), 0.0);
      EXPECT_NEAR(added, size, 1e-9);
      EXPECT_EQ(iteration.result().residual, after.norm(gather(transport, part.x), Norm::Max));
    }
  };
  everywhere(body, 5);
}

}  // namespace
}  // namespace tributary
