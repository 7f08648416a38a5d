// SPDX-License-Identifier: BSD-3-Clause
// The messages of asynchronous iterations: values, snapshots, the tree, elections and notices.
#include <cmath>
#include <memory>

#include "Harness.h"
#include "Tributary/Iteration/Channels.h"
#include "Tributary/Iteration/Iteration.h"
#include "Tributary/Iteration/NonBlockingReduce.h"
#include "Tributary/Iteration/detail/SpanningTree.h"
#include "Tributary/Iteration/detail/StopNotices.h"

namespace tributary::fuzz {

namespace {

constexpr int Ranks = 3;

template <class Condition>
void waitFor(Transport& transport, Condition&& condition) {
  while (!condition()) {
    transport.poll();
    transport.relax(0);
  }
}

/// The other ranks, of which all are neighbors.
std::vector<int> others(const Transport& transport) {
  std::vector<int> ranks;
  for (int rank = 0; rank < transport.size(); ++rank)
    if (rank != transport.rank()) ranks.push_back(rank);
  return ranks;
}

/// The neighbors in a tree that is a star around rank 0.
std::vector<int> star(const Transport& transport) {
  return transport.rank() == 0 ? others(transport) : std::vector<int>{0};
}

void tree(Transport& transport) {
  detail::SpanningTree tree(transport, transport.openSession(), others(transport));
  waitFor(transport, [&] { return tree.advance(); });
}

void election(Transport& transport) {
  const auto reduce = makeLeaderElection(transport, transport.openSession(), star(transport));
  for (int i = 0; i < 2; ++i) {
    reduce->start(ReduceOp::Max, {transport.rank(), i});
    waitFor(transport, [&] { return reduce->advance(); });
  }
}

void notices(Transport& transport) {
  detail::StopNotices notices(transport, transport.openSession(), star(transport));
  if (transport.rank() == 1) notices.tell(detail::StopReason::Limit);
  if (transport.rank() == 2) notices.tell(detail::StopReason::Error, "text");
  waitFor(transport, [&] {
    notices.advance();
    return notices.heard(detail::StopReason::Error);
  });
  waitFor(transport, [&] { return notices.close(); });
}

void channels(Transport& transport) {
  std::vector<Neighbor> neighbors;
  for (const int rank : others(transport)) neighbors.push_back({rank, 1, 1});
  agreeOnNeighbors(transport, neighbors);
  Channels channels(transport, transport.openSession(), neighbors, {});
  for (int turn = 0; turn < 4; ++turn) {
    if (turn == 2) channels.switchAsync();
    for (std::size_t i = 0; i < neighbors.size(); ++i) channels.outgoing(i)[0] = turn;
    channels.put();
    waitFor(transport, [&] { return channels.get(); });
  }
  waitFor(transport, [&] { return channels.close(); });
}

/// x := 1 + mean of the neighbors' values / 2.
void iterate(Transport& transport, IterationSchedule schedule,
             ConvergenceDetection convergenceDetection) {
  std::vector<double> x(1, 0.0);
  IterationProblem problem;
  for (const int rank : star(transport)) problem.neighbors.push_back({rank, 1, 1});
  problem.iterate = {x.data(), x.size()};
  const auto next = [](const Incoming& incoming) {
    double sum = 0;
    for (const auto& values : incoming) sum += values[0];
    return 1 + sum / static_cast<double>(2 * incoming.size());
  };
  problem.sweep = [&](const Incoming& incoming, bool) {
    const double before = x[0];
    x[0] = next(incoming);
    return std::abs(x[0] - before);
  };
  problem.fill = [&](std::size_t, Span<double> values) { values[0] = x[0]; };
  problem.residual = [&](Span<const double> recorded, const Incoming& incoming) {
    return std::abs(next(incoming) - recorded[0]);
  };
  IterationOptions options;
  options.schedule = schedule;
  options.convergenceDetection = convergenceDetection;
  options.residualThreshold = 0.5;
  options.iterationLimit = 20;
  Iteration(transport, problem, options).run();
}

}  // namespace

const std::vector<Scene>& scenes() {
  static const std::vector<Scene> all = {
      {"tree", Ranks, 1, tree},
      {"tree-root", Ranks, 0, tree},
      {"election", Ranks, 0, election},
      {"notices", Ranks, 0, notices},
      {"channels", Ranks, 1, channels},
      {"synchronous", Ranks, 1,
       [](Transport& transport) {
         iterate(transport, IterationSchedule::Synchronous,
                 ConvergenceDetection::SnapshotReduction);
       }},
      {"snapshots", Ranks, 0,
       [](Transport& transport) {
         iterate(transport, IterationSchedule::Asynchronous,
                 ConvergenceDetection::SnapshotReduction);
       }},
      {"supervised", Ranks, 1,
       [](Transport& transport) {
         iterate(transport, IterationSchedule::Asynchronous,
                 ConvergenceDetection::SupervisedTermination);
       }},
  };
  return all;
}

}  // namespace tributary::fuzz
