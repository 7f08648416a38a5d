// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "Tributary/Base/Bytes.h"
#include "Tributary/Base/FixedSum.h"
#include "Tributary/Features/FeatureOverlap.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// The feature of a pair whose size is the denominator of an overlap fraction.
enum class OverlapOf { Smaller, Larger };

/// Which overlaps become links.
enum class FeatureMatch {
  All,  ///< All overlaps that are large enough.
  Best  ///< Only an overlap that is the largest of both features: no splits and no merges.
};

/// How features move between two steps before they are compared.
enum class FeatureMotion {
  None,      ///< Features do not move, or the caller has moved the samples.
  Estimated  ///< Features move with the velocities estimated from earlier steps.
};

/// The criteria for linking features of consecutive steps. Overlaps are fractions of a volume, in
/// [0, 1].
struct TrackingOptions {
  FeatureMatch match = FeatureMatch::All;
  OverlapOf overlapOf = OverlapOf::Smaller;
  /// Features with a smaller overlap are not linked. Default: 0.1.
  double minimumOverlap = 0.1;
  /// Features with a smaller overlap are linked only if it is the largest overlap of one of them:
  /// a feature that passes another one may overlap the other's earlier location. Default: 0.5.
  double minimumSecondaryOverlap = 0.5;
  FeatureMotion motion = FeatureMotion::None;
  /// By axis, the distance of places that are the same; 0: none are. A feature moves the shorter
  /// way from one centroid to the next.
  std::array<double, 3> period{};
};

/// The size and location of a feature.
struct FeatureFacts {
  double size = 0;  ///< Volume, in the unit of overlaps.
  std::array<double, 3> centroid{};
  /// A bit for each axis along which the feature leaves no part of the period free. Its centroid
  /// there says nothing about its motion.
  std::int64_t wraps = 0;
};

/// The features of a step. They are numbered from 0 independently of ranks, as Regions does, and
/// distributed over ranks as in Shares{total, ranks}.
struct FeatureStep {
  double time = 0;                     ///< The same on all ranks.
  std::int64_t total = 0;              ///< Number on all ranks; the same on all ranks.
  std::vector<FeatureFacts> features;  ///< This rank's share.
};

/// A feature as part of a track.
struct TrackedFeature {
  FeatureFacts facts;
  std::int64_t track = 0;
  std::int64_t firstStep = 0;        ///< Number of the step in which the track began.
  std::array<double, 3> velocity{};  ///< Estimated; 0 in the first step of a track.
};

/// A link between features of consecutive steps that overlap: an edge of the feature graph.
struct FeatureEdge {
  std::int64_t before = 0, after = 0;  ///< Numbers of the features, each in its step.
  std::int64_t trackBefore = 0, trackAfter = 0;
  std::int64_t successors = 0;    ///< Number of edges from `before`; more than one: it splits.
  std::int64_t predecessors = 0;  ///< Number of edges to `after`; more than one: they merge.
  double volume = 0;              ///< The shared volume.
  double fraction = 0;            ///< Of the feature that TrackingOptions::overlapOf selects.
};

/// Any change other than simple continuation.
enum class FeatureEventKind : std::int64_t {
  Birth,  ///< A feature without a predecessor.
  Death,  ///< A feature without a successor, reported in the first step without it.
  Split,  ///< A feature with several successors.
  Merge   ///< A feature with several predecessors.
};

/// An event in the life of a feature.
struct FeatureEvent {
  FeatureEventKind kind = FeatureEventKind::Birth;
  std::int64_t feature =
      0;                   ///< Birth and Merge: of this step. Death and Split: of the step before.
  std::int64_t track = 0;  ///< Of the feature.
  std::int64_t parts = 0;  ///< Number of features that it splits into or is merged from, else 0.
  std::array<double, 3> centroid{};  ///< Of the feature.
};

/// The part of a step that this rank adds to the graph.
struct TrackedStep {
  std::int64_t step = 0;   ///< Its number, from 0.
  std::int64_t first = 0;  ///< Number of this rank's first feature.
  std::vector<TrackedFeature> features;
  std::vector<FeatureEdge> edges;    ///< By (after, before); of this rank's features.
  std::vector<FeatureEvent> events;  ///< By (kind, feature); of this rank's features.
};

/// Tracks features through time: matches the features of each step with those of the step before by
/// the volume that they share, and assigns tracks to them. Distributed: each rank stores its share
/// of the features of one step, and the features of other ranks that overlap these. Edges, events
/// and tracks are the same bits on any number of ranks.
///
/// The main overlap of an earlier feature is its largest; ties go to the lower number of the later
/// feature. The main overlap of a later feature is its largest; ties go to the lower track. If an
/// edge is the main overlap of both its ends, the track continues along it. Each other later
/// feature begins a track; new tracks are numbered in the order of the features. A track thus
/// continues in the largest part of a split, and a merged feature continues the track of its
/// largest part.
///
/// Motions are estimated as follows. A feature with one predecessor whose only successor it is
/// moves with the velocity of its centroid. So does a feature that keeps its track and at least
/// three quarters of its size. Any other feature moves with the mean velocity of its predecessors,
/// weighted by overlap; a part of a split moves with the motion by which it overlaps its
/// predecessor. A merged feature also keeps the motions of up to three predecessors for some steps,
/// and is compared under each of its motions: features that cross are one feature for some steps,
/// and continue with their earlier velocities when they part.
class FeatureGraph {
 public:
  /// Collective. Throws Error on all ranks if an option is out of range.
  /// @param transport  outlives the graph
  FeatureGraph(Transport& transport, const TrackingOptions& options);

  /// The number of steps added so far.
  std::int64_t steps() const { return steps_; }
  /// The number of tracks begun so far on all ranks; tracks are numbered from 0.
  std::int64_t tracks() const { return tracks_; }
  /// The time of the last step. @pre steps() > 0
  double time() const { return time_; }

  /// Moves samples of the last step's features to their expected places at a time. Collective.
  /// Throws Error on all ranks if the feature of a sample does not exist.
  /// @return a copy of each sample for each motion of its feature
  [[nodiscard]] std::vector<FeatureSample> moved(const std::vector<FeatureSample>& samples,
                                                 double time) const;

  /// Adds the next step. Collective. Throws Error on all ranks if an argument is invalid on one
  /// rank or a message is malformed; the graph is then unchanged.
  /// @param step      its time is later than that of the step before
  /// @param overlaps  with the features of the step before, in any parts on any ranks; none for the
  ///                  first step
  /// @param scale     of the overlaps; the same on all ranks
  /// @return this rank's part of the step
  [[nodiscard]] TrackedStep advance(const FeatureStep& step, std::vector<FeatureOverlap> overlaps,
                                    const FixedScale& scale);

  /// The tracks of features of the last step, on any rank. Collective. Throws Error on all ranks if
  /// a feature does not exist.
  [[nodiscard]] std::vector<std::int64_t> tracksOf(const std::vector<std::int64_t>& features) const;

  /// Serializes this rank's part of the graph for load(). Local.
  [[nodiscard]] Bytes save() const;
  /// Restores a graph that was saved, on the same or another number of ranks. Collective. Throws
  /// Error on all ranks unless the parts of all ranks together are those of one graph after one
  /// step, each given once.
  /// @param parts  results of save(), any number of them on any rank
  void load(const std::vector<Bytes>& parts);

 private:
  static constexpr std::size_t Motions = 4;

  struct Motion {
    std::array<double, 3> velocity{};
    std::int64_t age = 0;  ///< Steps since it was estimated.
  };
  /// The data of a feature that the next step needs.
  struct Row {
    TrackedFeature feature;
    std::int64_t count = 1;  ///< Number of motions; the first is the feature's own.
    std::array<Motion, Motions> motions{};
  };
  struct Contact;
  struct Candidate;
  struct Proposal;
  struct Linked;
  class Advance;
  struct SavedHead;
  struct SavedRow;

  /// Whether the motions of a row from another rank or a file are valid.
  static bool hasMotions(const Row& row);
  static void readParts(const std::vector<Bytes>& parts, std::vector<SavedHead>& heads,
                        std::vector<SavedRow>& rows);
  [[nodiscard]] static SavedHead agreeOnHead(Transport& transport,
                                             const std::vector<SavedHead>& ofParts);

  Transport& transport_;
  TrackingOptions options_;
  std::int64_t steps_ = 0;
  std::int64_t tracks_ = 0;
  double time_ = 0;
  std::int64_t total_ = 0;
  std::vector<Row> rows_;  // this rank's share
};

}  // namespace tributary
