// SPDX-License-Identifier: BSD-3-Clause
#include "Features/Features.h"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "Support/Report.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Assignment.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Collective/Shares.h"
#include "Tributary/Features/CriticalPoints.h"
#include "Tributary/Features/FeatureGraph.h"
#include "Tributary/Transport/Mpi.h"

namespace bench {

namespace {

using tributary::Transport;

/// Seconds of the slowest rank.
double timed(Transport& transport, const std::function<void()>& work) {
  tributary::barrier(transport);
  const double begin = transport.now();
  work();
  return tributary::allreduce(transport, tributary::ReduceOp::Max, transport.now() - begin);
}

std::int64_t sum(Transport& transport, std::size_t mine) {
  return tributary::allreduce(transport, tributary::ReduceOp::Sum, static_cast<std::int64_t>(mine));
}

Row rowOf(const std::string& what, std::int64_t elements, std::int64_t features,
          const std::vector<double>& seconds) {
  const double middle = median(seconds);
  return {{"what", what},
          {"elements", elements},
          {"features", features},
          {"ms/step", 1e3 * middle},
          {"million elements/s", 1e-6 * static_cast<double>(elements) / middle},
          {"seconds", seconds}};
}

/// The synthetic field of section 4.2.1, which turns; in three dimensions with another wave along
/// z.
double field(double x, double y, double z, double t) {
  return std::cos(x * std::cos(t) - y * std::sin(t)) * std::sin(x * std::sin(t) + y * std::cos(t)) *
         std::cos(0.7 * z + t);
}

Row measureCriticalPoints(Transport& transport, std::size_t dimension, std::int64_t points,
                          int steps) {
  // Slabs along the last axis.
  const std::size_t last = dimension - 1;
  const std::int64_t ranks = transport.size(), rank = transport.rank();
  tributary::GridAxes axes;
  tributary::GridExtent mine;
  std::int64_t all = 1;
  for (std::size_t a = 0; a < 3; ++a) {
    const std::int64_t count = a < dimension ? points : 1;
    all *= count;
    for (std::int64_t i = 0; i < count; ++i)
      axes.coordinates[a].push_back(
          count > 1 ? -16 + 32 * static_cast<double>(i) / static_cast<double>(count - 1) : 0);
    mine.last[a] = count - 1;
  }
  mine.first[last] = (points - 1) * rank / ranks;
  mine.last[last] = (points - 1) * (rank + 1) / ranks;
  std::vector<tributary::GridExtent> extents;
  if (mine.last[last] > mine.first[last]) extents.push_back(mine);
  const auto assignment =
      tributary::Assignment::gather(transport, static_cast<std::int64_t>(extents.size()));
  const auto space = tributary::makeGridSpace(transport, assignment, axes, extents);
  tributary::CriticalPointTracker tracker(transport, *space);
  std::vector<double> values;
  std::vector<double> seconds;
  std::size_t found = 0;
  for (int step = 0; step <= steps; ++step) {
    values.clear();
    const double t = 0.01 * step;
    for (const tributary::GridExtent& e : extents)
      for (std::int64_t k = e.first[2]; k <= e.last[2]; ++k)
        for (std::int64_t j = e.first[1]; j <= e.last[1]; ++j)
          for (std::int64_t i = e.first[0]; i <= e.last[0]; ++i)
            values.push_back(field(axes.coordinates[0][static_cast<std::size_t>(i)],
                                   axes.coordinates[1][static_cast<std::size_t>(j)],
                                   axes.coordinates[2][static_cast<std::size_t>(k)], t));
    std::vector<tributary::Span<const double>> views;
    if (!extents.empty()) views.emplace_back(values.data(), values.size());
    tributary::CriticalPointStep added;
    const double took = timed(transport, [&] { added = tracker.addScalars(t, views); });
    if (step > 0) seconds.push_back(took);  // the first one follows nothing
    found = 0;
    for (const tributary::TrajectoryPieces& pieces : added.pieces) found += pieces.size();
  }
  return rowOf("critical points, " + std::to_string(dimension) + "-D", all, sum(transport, found),
               seconds);
}

/// All regions change places, so that each link is between two ranks.
Row measureGraph(Transport& transport, std::int64_t features, int steps) {
  tributary::FeatureGraph graph(transport, {});
  const tributary::Shares shares{features, transport.size()};
  const std::int64_t first = shares.first(transport.rank());
  const std::int64_t count = shares.count(transport.rank());
  const tributary::FixedScale scale(1);
  tributary::FeatureStep next;
  next.total = features;
  next.features.assign(static_cast<std::size_t>(count), {1.0, {0, 0, 0}});
  std::vector<double> seconds;
  for (int step = 0; step <= steps; ++step) {
    next.time = step;
    std::vector<tributary::FeatureOverlap> overlaps;
    for (std::int64_t f = first; step > 0 && f < first + count; ++f)
      overlaps.push_back({f, 0, features - 1 - f, scale.fixed(1)});
    tributary::TrackedStep tracked;
    const double took =
        timed(transport, [&] { tracked = graph.advance(next, std::move(overlaps), scale); });
    if (step > 0) seconds.push_back(took);
    if (graph.tracks() != features || (step > 0 && !tracked.events.empty()))
      throw tributary::Error("features: the graph has lost a track");
  }
  return rowOf("regions linked", features, features, seconds);
}

}  // namespace

void measureFeatures(const FeaturesOptions& options) {
  if (options.unions.simulate.empty()) {
    const auto transport = tributary::makeMpiTransport(MPI_COMM_WORLD);
    Report report("One step of features on " + std::to_string(transport->size()) + " ranks",
                  {{"steps", options.steps}});
    report.add(measureCriticalPoints(*transport, 2, options.plane, options.steps));
    report.add(measureCriticalPoints(*transport, 3, options.volume, options.steps));
    report.add(measureGraph(*transport, options.features, options.steps));
    if (transport->rank() == 0) report.print(std::cout);
  }
  measureComponents(options.unions);
}

}  // namespace bench
