// SPDX-License-Identifier: BSD-3-Clause
#include "Features/FeatureHistory.h"

#include <vtkNew.h>
#include <vtkPoints.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "Common/FreshArray.h"
#include "Common/NamedArrays.h"
#include "Features/TrajectoryCells.h"

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
      });
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
  cutList(edges_);
  cutList(events_);
}

void FeatureHistory::writeTrajectories(vtkPolyData* output) const {
  requireRows(points_.size(), 16);
  std::vector<const TrackPoint*> sorted;
  for (const TrackPoint& point : points_) sorted.push_back(&point);
  std::sort(sorted.begin(), sorted.end(), [](const TrackPoint* a, const TrackPoint* b) {
    return std::tie(a->tracked.track, a->step) < std::tie(b->tracked.track, b->step);
  });
  vtkNew<vtkPoints> places;
  places->SetDataTypeToDouble();
  const auto region = numbers("RegionId"), step = numbers("Step");
  const auto time = values("Time"), size = values("Size"), speed = values("Speed");
  const auto velocity = values("Velocity", 3);
  std::vector<std::size_t> offsets;
  std::vector<std::int64_t> tracks;
  for (const TrackPoint* point : sorted) {
    if (tracks.empty() || tracks.back() != point->tracked.track) {
      offsets.push_back(index(places->GetNumberOfPoints()));
      tracks.push_back(point->tracked.track);
    }
    places->InsertNextPoint(point->tracked.facts.centroid.data());
    region->InsertNextValue(point->feature);
    step->InsertNextValue(point->step);
    time->InsertNextValue(point->time);
    size->InsertNextValue(point->tracked.facts.size);
    velocity->InsertNextTuple(point->tracked.velocity.data());
    speed->InsertNextValue(speedOf(point->tracked));
  }
  offsets.push_back(sorted.size());
  makeTrajectoryCells(places, offsets, tracks, {region, step, time, size, velocity, speed}, output);
}

void FeatureHistory::writeEvents(vtkTable* table) const {
  const auto step = numbers("Step"), track = numbers("TrackId"), region = numbers("RegionId");
  const auto parts = numbers("Parts");
  const auto time = values("Time"), centroid = values("Centroid", 3);
  const auto kind = texts("Event");
  for (const Event& one : events_) {
    step->InsertNextValue(one.step);
    time->InsertNextValue(one.time);
    kind->InsertNextValue(nameOf(one.event.kind));
    track->InsertNextValue(one.event.track);
    region->InsertNextValue(one.event.feature);
    parts->InsertNextValue(one.event.parts);
    centroid->InsertNextTuple(one.event.centroid.data());
  }
  addColumns(table, {step, time, kind, track, region, parts, centroid});
}

void FeatureHistory::writeEdges(vtkTable* table) const {
  const auto step = numbers("Step"), before = numbers("RegionBefore"),
             after = numbers("RegionAfter");
  const auto trackBefore = numbers("TrackBefore"), trackAfter = numbers("TrackAfter");
  const auto time = values("Time"), overlap = values("Overlap"), fraction = values("Fraction");
  const auto kind = texts("Kind");
  for (const Edge& one : edges_) {
    step->InsertNextValue(one.step);
    time->InsertNextValue(one.time);
    kind->InsertNextValue(nameOf(one.edge));
    trackBefore->InsertNextValue(one.edge.trackBefore);
    trackAfter->InsertNextValue(one.edge.trackAfter);
    before->InsertNextValue(one.edge.before);
    after->InsertNextValue(one.edge.after);
    overlap->InsertNextValue(one.edge.volume);
    fraction->InsertNextValue(one.edge.fraction);
  }
  addColumns(table, {step, time, kind, trackBefore, trackAfter, before, after, overlap, fraction});
}

void addTrackColumns(const TrackedStep& step, double time, vtkTable* table) {
  const auto track = numbers("TrackId"), number = numbers("Step"), first = numbers("FirstStep");
  const auto when = values("Time"), velocity = values("Velocity", 3), speed = values("Speed");
  for (const TrackedFeature& feature : step.features) {
    track->InsertNextValue(feature.track);
    number->InsertNextValue(step.step);
    when->InsertNextValue(time);
    first->InsertNextValue(feature.firstStep);
    velocity->InsertNextTuple(feature.velocity.data());
    speed->InsertNextValue(speedOf(feature));
  }
  addColumns(table, {track, number, when, first, velocity, speed});
}

}  // namespace tributary
