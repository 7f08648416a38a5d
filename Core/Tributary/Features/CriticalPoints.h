// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "Tributary/Base/Bytes.h"
#include "Tributary/Base/ParallelFor.h"
#include "Tributary/Base/Span.h"
#include "Tributary/Components/DistributedUnion.h"
#include "Tributary/Features/SimplicialSpace.h"
#include "Tributary/Features/TrajectoryPieces.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

namespace detail {
struct FieldAtStep;
struct PieceEnd;
struct PieceSets;
}  // namespace detail
struct NumberedRegions;

/// The union of two tracks whose critical points met and vanished.
struct TrackJoin {
  std::int64_t track;  ///< No longer used.
  std::int64_t into;   ///< The lower track, which continues or has ended as well.
};

/// The result of adding a step.
struct CriticalPointStep {
  std::vector<TrajectoryPieces> pieces;  ///< Of each local block.
  std::vector<TrackJoin> joins;          ///< Each on one rank.
  bool aborted = false;  ///< By a monitor, on all ranks; the tracker must not be used any more.
};

/// Options of CriticalPointTracker.
struct CriticalPointOptions {
  /// The maximum ratio of growth rate to rotation rate at a center, see kindOf(). Default: 0.05.
  double center = 0.05;
  /// The distributed union-find that joins parts of trajectories on different blocks.
  UnionOptions linking;
  ParallelFor parallelFor = serialFor;
};

/// Tracks critical points of a time-dependent field from step to step: they are the lines on which
/// the field, interpolated linearly in space-time, is zero (X. Tricoche, T. Wischgoll, G.
/// Scheuermann, H. Hagen, "Topology tracking for the visualization of time-dependent
/// two-dimensional flows", Computers & Graphics 26, 2002; C. Garth, X. Tricoche, G. Scheuermann,
/// "Tracking of vector field singularities in unstructured 3D time-dependent datasets",
/// Visualization 2004; H. Guo et al., "FTK: A simplicial spacetime meshing framework for robust and
/// scalable feature tracking", TVCG 27, 2021). The prism over a simplex of space between two steps
/// is cut into simplices by the order of ids. isPunctured() decides which of their facets a line
/// crosses, so that each line continues until it leaves space or the range of steps, or returns to
/// its first point: no point is found twice or lost. Simplices with a value that is not finite at a
/// corner are not part of space.
///
/// Trajectories are numbered as tracks, in the order in which they appear. Numbers and all other
/// results do not depend on ranks, blocks, threads or the timing of messages, and later steps do
/// not change them. If two trajectories turn out to be one, the higher track ends, see TrackJoin.
///
/// Between steps the tracker stores the values of the last step and the tracks of its critical
/// points.
///
/// All members but the accessors are collective, and throw Error on all ranks if they do on one.
/// After an error of another cause than invalid arguments the tracker must not be used any more.
class CriticalPointTracker {
 public:
  /// @param transport, space  outlive the tracker
  CriticalPointTracker(Transport& transport, const SimplicialSpace& space,
                       CriticalPointOptions options = {});
  ~CriticalPointTracker();

  /// Adds a step of a scalar field: tracks its minima, maxima and saddles. The pieces of the first
  /// step have one point each. The critical points of the step are the ends of pieces whose face
  /// has this step and no upper points.
  /// @param time     later than that of the last step; the same on all ranks
  /// @param scalars  for each block one value for each point
  [[nodiscard]] CriticalPointStep addScalars(double time,
                                             const std::vector<Span<const double>>& scalars);
  /// Adds a step of a vector field: tracks its sources, sinks, saddles and centers.
  /// @param vectors  for each block three components for each point; the components along the axes
  ///                 of space are used
  [[nodiscard]] CriticalPointStep addVectors(double time,
                                             const std::vector<Span<const double>>& vectors);

  /// The number of steps added.
  std::int64_t steps() const { return step_ + 1; }
  /// The number of tracks begun so far on all ranks; tracks are numbered from 0.
  std::int64_t tracks() const { return nextTrack_; }

  /// Serializes this rank's part of the tracker, without the values of the last step. Local.
  [[nodiscard]] Bytes save() const;
  /// Restores a tracker, instead of adding a first step. The number of ranks and the blocks may
  /// differ.
  /// @param saved    results of save(): those of all ranks, each given once, on any rank
  /// @param scalars  of the last step, as given to addScalars()
  void resumeScalars(const std::vector<Bytes>& saved,
                     const std::vector<Span<const double>>& scalars);
  /// @param vectors  of the last step, as given to addVectors()
  void resumeVectors(const std::vector<Bytes>& saved,
                     const std::vector<Span<const double>>& vectors);

 private:
  /// A critical point of the last step.
  struct Current {
    SpaceTimeFace face;
    std::int64_t track;
  };
  /// The content of saved parts.
  struct Saved {
    std::int64_t step = -1, tracks = -1;
    double time = 0;
    std::vector<Current> current;
  };

  void checkTime(double time);
  using Field = std::unique_ptr<const detail::FieldAtStep>;
  Field makeField(std::int64_t step, double time, std::vector<std::vector<double>> vectors,
                  const std::vector<Span<const double>>& scalars) const;
  CriticalPointStep add(Field field);
  detail::PieceSets describe(const std::vector<TrajectoryPieces>& pieces, std::int64_t step) const;
  void nameTracks(const NumberedRegions& lines, std::vector<TrajectoryPieces>& pieces);
  void findJoins(const std::vector<detail::PieceEnd>& lowest, CriticalPointStep& step) const;
  void keepCurrent(const std::vector<TrajectoryPieces>& pieces);
  Saved read(const std::vector<Bytes>& saved);
  void resume(Saved state, std::vector<std::vector<double>> vectors,
              const std::vector<Span<const double>>& scalars);
  static void sortByFace(std::vector<Current>& list);
  /// The track of a face of the last step, or -1.
  std::int64_t trackOf(std::size_t block, const SpaceTimeFace& face) const;

  Transport& transport_;
  const SimplicialSpace& space_;
  CriticalPointOptions options_;
  std::int64_t step_ = -1;
  std::int64_t nextTrack_ = 0;
  Field last_;                                 // null before the first step
  std::vector<std::vector<Current>> current_;  // of each block, by face
};

}  // namespace tributary
