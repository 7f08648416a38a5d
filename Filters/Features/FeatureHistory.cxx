// SPDX-License-Identifier: BSD-3-Clause
#include "Features/FeatureHistory.h"

#include <vtkNew.h>
#include <vtkPoints.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "Common/FreshArray.h"
#include "Features/TrajectoryCells.h"
#include "Output/NamedArrays.h"
#include "Output/TableColumns.h"

#include "Tributary/Base/Bytes.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Collective/Records.h"

namespace tributary {
namespace {

double speedOf(const TrackedFeature& feature) {
  const auto& v = feature.velocity;
  return std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

const char* nameOf(FeatureEventKind kind) {
  switch (kind) {
    case FeatureEventKind::Birth:
      return "Birth";
    case FeatureEventKind::Death:
      return "Death";
    case FeatureEventKind::Split:
      return "Split";
    default:
      return "Merge";
  }
}

const char* nameOf(const FeatureEdge& edge) {
  if (edge.successors > 1) return edge.predecessors > 1 ? "Split and Merge" : "Split";
  return edge.predecessors > 1 ? "Merge" : "Continuation";
}

}  // namespace

template <class ForPoints>
void FeatureHistory::deal(Transport& transport, ForPoints&& forPoints) {
  sendRecords<TrackPoint>(
      transport,
      [&](RecordOutbox<TrackPoint>& outbox) {
        forPoints([&](const TrackPoint& point) {
          outbox.add(static_cast<int>(point.tracked.track % transport.size()), point);
        });
      },
      [&](const Records<TrackPoint>& received) {
        points_.insert(points_.end(), received.begin(), received.end());
        order(order_.size());
      });
}

void FeatureHistory::order(std::size_t first) {
  const auto isBefore = [](const Entry& a, const Entry& b) {
    return std::tie(a.track, a.point) < std::tie(b.track, b.point);
  };
  order_.reserve(points_.size());
  for (std::size_t point = first; point < points_.size(); ++point)
    order_.push_back({points_[point].tracked.track, point});
  const auto added = order_.begin() + static_cast<std::ptrdiff_t>(first);
  std::sort(added, order_.end(), isBefore);
  std::inplace_merge(order_.begin(), added, order_.end(), isBefore);
}

void FeatureHistory::add(Transport& transport, const TrackedStep& step, double time) {
  deal(transport, [&](auto&& give) {
    for (std::size_t i = 0; i < step.features.size(); ++i)
      give({step.first + static_cast<std::int64_t>(i), step.step, time, step.features[i]});
    for (const FeatureEdge& edge : step.edges) edges_.push_back({step.step, time, edge});
    for (const FeatureEvent& event : step.events) events_.push_back({step.step, time, event});
  });
}

void FeatureHistory::save(Writer& writer) const {
  writer.range(points_).range(edges_).range(events_);
}

void FeatureHistory::load(Transport& transport, std::vector<Reader>& parts) {
  points_.clear();
  order_.clear();
  edges_.clear();
  events_.clear();
  deal(transport, [&](auto&& give) {
    std::vector<TrackPoint> points;
    for (Reader& part : parts) {
      part.rangeInto(points);
      part.rangeInto(edges_);
      part.rangeInto(events_);
    }
    for (const TrackPoint& point : points) {
      if (point.tracked.track < 0) throw Error("the checkpoint has a point without a track");
      give(point);
    }
  });
}

void FeatureHistory::cut(std::int64_t step) {
  const auto cutList = [&](auto& list) {
    list.erase(
        std::remove_if(list.begin(), list.end(), [&](const auto& one) { return one.step == step; }),
        list.end());
  };
  cutList(points_);
  order_.clear();
  order(0);
  cutList(edges_);
  cutList(events_);
}

void FeatureHistory::writeTrajectories(vtkPolyData* output) const {
  requireRows(points_.size(), 16);
  std::vector<const TrackPoint*> rows;
  std::vector<std::size_t> offsets;
  std::vector<std::int64_t> tracks;
  rows.reserve(order_.size());
  for (const Entry& entry : order_) {
    if (tracks.empty() || tracks.back() != entry.track) {
      offsets.push_back(rows.size());
      tracks.push_back(entry.track);
    }
    rows.push_back(&points_[entry.point]);
  }
  offsets.push_back(rows.size());
  using Row = const TrackPoint*;
  vtkNew<vtkPoints> places;
  places->SetData(vectors("Points", rows, [](Row row) { return row->tracked.facts.centroid; }));
  makeTrajectoryCells(places, offsets, tracks,
                      {numbers("RegionId", rows, [](Row row) { return row->feature; }),
                       numbers("Step", rows, [](Row row) { return row->step; }),
                       values("Time", rows, [](Row row) { return row->time; }),
                       values("Size", rows, [](Row row) { return row->tracked.facts.size; }),
                       vectors("Velocity", rows, [](Row row) { return row->tracked.velocity; }),
                       values("Speed", rows, [](Row row) { return speedOf(row->tracked); })},
                      output);
}

void FeatureHistory::writeEvents(vtkTable* table) const {
  using Row = const Event&;
  addColumns(table, {numbers("Step", events_, [](Row row) { return row.step; }),
                     values("Time", events_, [](Row row) { return row.time; }),
                     texts("Event", events_, [](Row row) { return nameOf(row.event.kind); }),
                     numbers("TrackId", events_, [](Row row) { return row.event.track; }),
                     numbers("RegionId", events_, [](Row row) { return row.event.feature; }),
                     numbers("Parts", events_, [](Row row) { return row.event.parts; }),
                     vectors("Centroid", events_, [](Row row) { return row.event.centroid; })});
}

void FeatureHistory::writeEdges(vtkTable* table) const {
  using Row = const Edge&;
  addColumns(table, {numbers("Step", edges_, [](Row row) { return row.step; }),
                     values("Time", edges_, [](Row row) { return row.time; }),
                     texts("Kind", edges_, [](Row row) { return nameOf(row.edge); }),
                     numbers("TrackBefore", edges_, [](Row row) { return row.edge.trackBefore; }),
                     numbers("TrackAfter", edges_, [](Row row) { return row.edge.trackAfter; }),
                     numbers("RegionBefore", edges_, [](Row row) { return row.edge.before; }),
                     numbers("RegionAfter", edges_, [](Row row) { return row.edge.after; }),
                     values("Overlap", edges_, [](Row row) { return row.edge.volume; }),
                     values("Fraction", edges_, [](Row row) { return row.edge.fraction; })});
}

void addTrackColumns(const TrackedStep& step, double time, vtkTable* table) {
  const auto& features = step.features;
  using Row = const TrackedFeature&;
  addColumns(table, {numbers("TrackId", features, [](Row row) { return row.track; }),
                     numbers("Step", features, [&](Row) { return step.step; }),
                     values("Time", features, [&](Row) { return time; }),
                     numbers("FirstStep", features, [](Row row) { return row.firstStep; }),
                     vectors("Velocity", features, [](Row row) { return row.velocity; }),
                     values("Speed", features, [](Row row) { return speedOf(row); })});
}

}  // namespace tributary
