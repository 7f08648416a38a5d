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

/// Which of two features the volume that they share is a fraction of.
enum class OverlapOf { Smaller, Larger };

enum class FeatureMatch {
  All,  ///< All overlaps that are large enough are links.
  Best  ///< Only between two features that overlap each other most: no splits and no merges.
};

/// How features move between two steps before they are compared.
enum class FeatureMotion {
  None,      ///< Not, or the caller has moved the samples himself.
  Estimated  ///< As they did before.
};

/// What makes two features of consecutive steps one. Overlaps are fractions of a volume, 0 to 1.
struct TrackingOptions {
  FeatureMatch match = FeatureMatch::All;
  OverlapOf overlapOf = OverlapOf::Smaller;
  /// What overlaps less is not linked.
  double minimumOverlap = 0.1;
  /// Nor is what overlaps less than this, unless it is the largest overlap of one of the two:
  /// things that pass each other touch where the other was before.
  double minimumSecondaryOverlap = 0.5;
  FeatureMotion motion = FeatureMotion::None;
};

/// What is known of a feature.
struct FeatureFacts {
  double size = 0;  ///< Volume, in the unit of overlaps.
  std::array<double, 3> centroid{};
};

/// The features of a step. They are numbered from 0 by something that does not depend on ranks, as
/// Regions does, and the numbers are dealt to the ranks as in Shares{total, ranks}.
struct FeatureStep {
  double time = 0;
  std::int64_t total = 0;              ///< The same on all ranks, as `time`.
  std::vector<FeatureFacts> features;  ///< This rank's share.
};

/// A feature as part of a track.
struct TrackedFeature {
  FeatureFacts facts;
  std::int64_t track = 0;
  std::int64_t firstStep = 0;        ///< Number of the step in which the track began.
  std::array<double, 3> velocity{};  ///< As estimated; 0 in the first step of a track.
};

/// That features of consecutive steps share volume. A set of such edges is the graph.
struct FeatureEdge {
  std::int64_t before = 0, after = 0;  ///< Numbers of the features, each in its step.
  std::int64_t trackBefore = 0, trackAfter = 0;
  std::int64_t successors = 0;    ///< Edges from `before`; more than one: it splits.
  std::int64_t predecessors = 0;  ///< Edges to `after`; more than one: they merge.
  double volume = 0;              ///< That they share.
  double fraction = 0;            ///< Of the one that TrackingOptions::overlapOf names.
};

enum class FeatureEventKind : std::int64_t {
  Birth,  ///< A feature without a predecessor.
  Death,  ///< A feature without a successor, told in the step in which there is none.
  Split,  ///< A feature with several successors.
  Merge   ///< A feature with several predecessors.
};

/// Something else than that a feature goes on as one.
struct FeatureEvent {
  FeatureEventKind kind = FeatureEventKind::Birth;
  std::int64_t feature =
      0;                   ///< For Birth and Merge a feature of this step, else of the one before.
  std::int64_t track = 0;  ///< Of that feature.
  std::int64_t parts = 0;  ///< Features that it splits into or is merged from, else 0.
  std::array<double, 3> centroid{};  ///< Of that feature.
};

/// A rank's share of what a step has added to the graph.
struct TrackedStep {
  std::int64_t step = 0;   ///< Its number, from 0.
  std::int64_t first = 0;  ///< Number of this rank's first feature.
  std::vector<TrackedFeature> features;
  std::vector<FeatureEdge> edges;    ///< By (after, before); of this rank's features.
  std::vector<FeatureEvent> events;  ///< By (kind, feature); of this rank's features.
};

/// Follows features through time: matches those of each step with those of the step before by the
/// volume that they share, and gives them tracks. Distributed: each rank has its share of the
/// features of one step, and sees of others what its own overlap. Edges, events and tracks are the
/// same bits on any number of ranks.
///
/// Of all overlaps of a feature of the earlier step the largest is its main one; ties go to the
/// lower number of the later feature. Of a feature of the later step likewise; ties go to the lower
/// track. Where an edge is the main one of both its ends, the track goes on along it. All other
/// features of the later step begin tracks, numbered on in the order of the features. So a track
/// goes on in the largest part of what splits, and the largest of what merges gives its track.
///
/// Motions are estimated so: a feature that goes on alone moves as its centroid did. So does one
/// that keeps its track and three quarters of its size. Others have the mean velocity of what they
/// come from, weighted by overlap; and the motion by which it overlaps its predecessor goes to each
/// part of what splits. What merges keeps the motions of up to three predecessors too for some
/// steps, and is compared under each of its motions: things that cross are one feature for a while,
/// and go on afterwards as they did before.
class FeatureGraph {
 public:
  /// Collective. Throws Error on all ranks if options are wrong.
  /// @param transport  outlives the graph
  FeatureGraph(Transport& transport, const TrackingOptions& options);

  /// Steps taken up so far.
  std::int64_t steps() const { return steps_; }
  /// Tracks begun so far; they are numbered from 0.
  std::int64_t tracks() const { return tracks_; }
  /// Of the last step. @pre steps() > 0
  double time() const { return time_; }

  /// Where samples of the last step's features are expected at a time, a copy for each motion of
  /// the feature. Collective. Throws Error on all ranks if a sample's feature does not exist.
  std::vector<FeatureSample> moved(const std::vector<FeatureSample>& samples, double time) const;

  /// Takes up the next step. Collective. Throws Error on all ranks if arguments are wrong on one or
  /// a message is malformed, and has then not taken it up.
  /// @param step      its time is later than that of the step before
  /// @param overlaps  with the step before, in any parts on any ranks; none for the first step
  /// @param scale     of the overlaps, the same on all ranks
  TrackedStep advance(const FeatureStep& step, std::vector<FeatureOverlap> overlaps,
                      const FixedScale& scale);

  /// The tracks of features of the last step, whoever has them. Collective. Throws Error on all
  /// ranks if one does not exist.
  std::vector<std::int64_t> tracksOf(const std::vector<std::int64_t>& features) const;

  /// This rank's part of all that is needed to go on. Local.
  Bytes save() const;
  /// Goes on from what all ranks of some graph had saved, on as many ranks or on others.
  /// Collective. Throws Error on all ranks if the parts are not those of one graph and one moment,
  /// each once.
  /// @param parts  any on any rank
  void load(const std::vector<Bytes>& parts);

 private:
  static constexpr std::size_t Motions = 4;

  struct Motion {
    std::array<double, 3> velocity{};
    std::int64_t age = 0;  ///< Steps since it was seen.
  };
  /// What the next step needs of a feature of the last one.
  struct Row {
    TrackedFeature feature;
    std::int64_t count = 1;  ///< Of motions; the first is the feature's own.
    std::array<Motion, Motions> motions{};
  };
  struct Contact;
  struct Candidate;
  struct Proposal;
  struct Linked;

  std::vector<Candidate> findCandidates(const FeatureStep& step, const std::vector<FeatureOverlap>&,
                                        const FixedScale& scale) const;
  Row rowOf(const FeatureFacts& facts, Span<const Candidate> edges, std::size_t main,
            double seconds) const;

  Transport& transport_;
  TrackingOptions options_;
  std::int64_t steps_ = 0;
  std::int64_t tracks_ = 0;
  double time_ = 0;
  std::int64_t total_ = 0;
  std::vector<Row> rows_;  // this rank's share
};

}  // namespace tributary
