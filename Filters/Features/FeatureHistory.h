// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "Tributary/Base/Bytes.h"
#include "Tributary/Features/FeatureGraph.h"
#include "Tributary/Transport/Transport.h"

class vtkPolyData;
class vtkTable;

namespace tributary {

/// A feature as a point of its trajectory.
struct TrackPoint {
  std::int64_t feature;
  std::int64_t step;
  double time;
  TrackedFeature tracked;
};

/// What all steps so far have added to a feature graph, on all ranks together. A track is on the
/// rank that its number modulo the number of ranks names; edges and events are where they came up.
class FeatureHistory {
 public:
  /// Collective.
  void add(Transport& transport, const TrackedStep& step, double time);
  /// Local. Forgets what was added with a step.
  void cut(std::int64_t step);

  /// Local. What load() takes.
  void save(Writer& writer) const;
  /// Collective. What all ranks of some run had saved, on as many ranks or on others.
  /// @param parts  of this rank, each read from where save() began; instead of what there is
  void load(Transport& transport, std::vector<Reader>& parts);

  // Local: this rank's part.
  /// A polyline for each track with several points, a vertex for each with one, by their numbers.
  void writeTrajectories(vtkPolyData* output) const;
  void writeEvents(vtkTable* table) const;
  void writeEdges(vtkTable* table) const;

 private:
  /// Collective. Sends points to the ranks of their tracks.
  /// @param forPoints  forPoints(give), local: calls give(point) for each of this rank's
  template <class ForPoints>
  void deal(Transport& transport, ForPoints&& forPoints);

  struct Edge {
    std::int64_t step;
    double time;
    FeatureEdge edge;
  };
  struct Event {
    std::int64_t step;
    double time;
    FeatureEvent event;
  };

  std::vector<TrackPoint> points_;  // in the order of steps
  std::vector<Edge> edges_;
  std::vector<Event> events_;
};

/// Adds to a table of the features of a step, row by row, what their tracks are. Local.
void addTrackColumns(const TrackedStep& step, double time, vtkTable* table);

}  // namespace tributary
