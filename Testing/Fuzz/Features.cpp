// SPDX-License-Identifier: BSD-3-Clause
// The messages by which regions and critical points are followed through time.
#include <array>
#include <memory>
#include <vector>

#include "Harness.h"
#include "Tributary/Collective/Shares.h"
#include "Tributary/Features/CriticalPoints.h"
#include "Tributary/Features/FeatureGraph.h"
#include "Tributary/Features/FeatureOverlap.h"
#include "Tributary/Features/Trajectories.h"

namespace tributary::fuzz {

namespace {

constexpr int Ranks = 2;

FeatureStep stepAt(const Transport& transport, double time) {
  const std::vector<FeatureFacts> all = {{1, {0, 0, 0}}, {2, {1, 1, 0}}, {1, {2, 0, 0}}};
  const Shares shares{static_cast<std::int64_t>(all.size()), transport.size()};
  const auto first = all.begin() + static_cast<std::ptrdiff_t>(shares.first(transport.rank()));
  return {time, shares.total, {first, first + shares.count(transport.rank())}};
}

void graph(Transport& transport) {
  TrackingOptions options;
  options.motion = FeatureMotion::Estimated;
  FeatureGraph graph(transport, options);
  const FixedScale scale(10);
  (void)graph.advance(stepAt(transport, 0), {}, scale);
  const std::vector<FeatureOverlap> overlaps = {
      {0, 0, 0, scale.fixed(1)}, {1, 0, 2, scale.fixed(0.5)}, {2, 0, 1, scale.fixed(1)}};
  (void)graph.advance(stepAt(transport, 1), overlaps, scale);
  (void)graph.moved({{{0, 0, 0}, 0, 0, scale.fixed(1)}, {{2, 0, 0}, 2, 0, scale.fixed(1)}}, 2);
  (void)graph.tracksOf({0, 1, 2});
  FeatureGraph again(transport, options);
  again.load({graph.save()});
}

void overlap(Transport& transport) {
  const FixedScale scale(10);
  const double x = transport.rank();
  Box box;
  box.lo = {x, 0, 0};
  box.hi = {x + 1, 1, 1};
  std::vector<FeatureSample> samples;
  for (const double at : {0.5, 1.5})
    samples.push_back({{at, 0.5, 0.5}, transport.rank(), 0, scale.fixed(1)});
  const auto reaches = gatherReaches(transport, {box});
  (void)findOverlaps(transport, {samples.data(), samples.size()}, reaches,
                     [&](const std::array<double, 3>& place) -> FeatureAtPlace {
                       return {false, place[0] >= x && place[0] <= x + 1 ? transport.rank() : -1};
                     });
}

/// A minimum that moves from one block to the other.
void points(Transport& transport) {
  GridAxes axes;
  axes.coordinates = {std::vector<double>{0, 1, 2, 3, 4}, {0, 1, 2}, {0}};
  GridExtent extent;
  extent.first = {2 * transport.rank(), 0, 0};
  extent.last = {2 * transport.rank() + 2, 2, 0};
  const Assignment assignment(std::vector<std::int64_t>(Ranks, 1));
  const auto space = makeGridSpace(transport, assignment, axes, {extent});
  CriticalPointOptions options;
  options.linking.exchange.detector = "tree-counter";
  CriticalPointTracker tracker(transport, *space, options);
  std::vector<TrajectoryPieces> pieces(1);
  for (const double time : {0.0, 1.0}) {
    std::vector<double> values;
    for (std::int64_t j = 0; j < 3; ++j)
      for (std::int64_t i = extent.first[0]; i <= extent.last[0]; ++i) {
        const double x = static_cast<double>(i) - 1.3 - 1.2 * time;
        const double y = static_cast<double>(j) - 1.1;
        values.push_back(x * x + y * y);
      }
    const CriticalPointStep step = tracker.addScalars(time, {{values.data(), values.size()}});
    if (step.aborted) return;
    pieces[0].append(step.pieces[0]);
  }
  (void)joinPieces(transport, assignment, pieces, options.linking);
}

}  // namespace

const std::vector<Scene>& scenes() {
  static const std::vector<Scene> all = {
      {"graph-0", Ranks, 0, graph},      {"graph-1", Ranks, 1, graph},
      {"overlaps-0", Ranks, 0, overlap}, {"overlaps-1", Ranks, 1, overlap},
      {"points-0", Ranks, 0, points},    {"points-1", Ranks, 1, points},
  };
  return all;
}

}  // namespace tributary::fuzz
