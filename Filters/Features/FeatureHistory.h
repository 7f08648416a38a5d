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

/// The results of all steps added to a feature graph, distributed over ranks. Rank r of P has the
/// tracks whose number modulo P is r; edges and events stay on the rank that found them.
class FeatureHistory {
 public:
  /// Collective.
  void add(Transport& transport, const TrackedStep& step, double time);
  /// Local. Removes the results of a step.
  void cut(std::int64_t step);

  /// Local. Serializes this rank's part for load().
  void save(Writer& writer) const;
  /// Collective. Replaces the history by the one that the ranks of a run have saved, on the same or
  /// another number of ranks.
  /// @param parts  of this rank, each at the position where save() began
  void load(Transport& transport, std::vector<Reader>& parts);

  // Local: these write this rank's part.
  /// Writes a polyline for each track with several points and a vertex for each with one, by their
  /// numbers.
  void writeTrajectories(vtkPolyData* output) const;
  void writeEvents(vtkTable* table) const;
  void writeEdges(vtkTable* table) const;

 private:
  /// Collective. Sends points to the ranks of their tracks.
  /// @param forPoints  forPoints(give), local: calls give(point) for each of this rank's
  template <class ForPoints>
  void deal(Transport& transport, ForPoints&& forPoints);
  /// Adds the points from a number on to order_.
  void order(std::size_t first);

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

  /// A point of points_.
  struct Entry {
    std::int64_t track;
    std::size_t point;
  };

  std::vector<TrackPoint> points_;  // those of a track in the order of steps
  std::vector<Entry> order_;        // of the points by track
  std::vector<Edge> edges_;
  std::vector<Event> events_;
};

/// Adds the columns of tracks to a table of the features of a step. Local.
void addTrackColumns(const TrackedStep& step, double time, vtkTable* table);

}  // namespace tributary
