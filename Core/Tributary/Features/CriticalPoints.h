// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "Tributary/Base/Bytes.h"
#include "Tributary/Base/ParallelFor.h"
#include "Tributary/Base/Span.h"
#include "Tributary/Components/DistributedUnion.h"
#include "Tributary/Features/CriticalPointSearch.h"
#include "Tributary/Features/SimplicialSpace.h"
#include "Tributary/Features/TrajectoryPieces.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// Two tracks turned out to be one: their critical points met and vanished.
struct TrackJoin {
  std::int64_t track;  ///< Not used any more.
  std::int64_t into;   ///< A lower one, which goes on, or has ended with it.
};

/// What a step has added.
struct CriticalPointStep {
  std::vector<TrajectoryPieces> pieces;  ///< Of each local block.
  std::vector<TrackJoin> joins;          ///< Found by this rank; each by one rank.
  bool aborted = false;                  ///< By a monitor; the tracker is not to be used any more.
};

struct CriticalPointOptions {
  /// See kindOf().
  double center = 0.05;
  /// How parts of trajectories on different blocks find together.
  UnionOptions linking;
  ParallelFor parallelFor = serialFor;
};

/// Critical points of a field that changes with time, followed from step to step: the lines on
/// which its linear interpolation in space-time is zero (X. Tricoche, T. Wischgoll, G. Scheuermann,
/// H. Hagen, "Topology tracking for the visualization of time-dependent two-dimensional flows",
/// Computers & Graphics 26, 2002; C. Garth, X. Tricoche, G. Scheuermann, "Tracking of vector field
/// singularities in unstructured 3D time-dependent datasets", Visualization 2004; H. Guo et al.,
/// "FTK: A simplicial spacetime meshing framework for robust and scalable feature tracking", TVCG
/// 27, 2021). The prism over a simplex of space between two steps is cut into simplices by the
/// order of ids; which of their facets a line goes through is decided by isPunctured(), so each
/// line goes on until it leaves space or the steps, or comes back to where it began: no point is
/// found twice or lost. Simplices with a value that is not finite at a corner are not a part of
/// space.
///
/// Trajectories are numbered in the order in which they appear, by tracks. The numbers and all else
/// do not depend on ranks, blocks, threads or the timing of messages, and stay as further steps
/// come. Two trajectories may turn out to be one: the higher track then ends, see TrackJoin.
///
/// Kept between steps are the values of the last one and the tracks of its critical points.
///
/// All members but the accessors are collective, and throw Error on all ranks if they do on one;
/// after an error that is not one of arguments a tracker is not to be used any more.
class CriticalPointTracker {
 public:
  /// @param transport, space  outlive the tracker
  CriticalPointTracker(Transport& transport, const SimplicialSpace& space,
                       CriticalPointOptions options = {});

  /// Minima, maxima and saddles of a scalar field. The first step gives pieces of one point.
  /// Critical points of this very step are the ends of pieces whose face has this step, and no
  /// upper points.
  /// @param time     later than the last one's; the same on all ranks
  /// @param scalars  of each block one for each point
  CriticalPointStep addScalars(double time, const std::vector<Span<const double>>& scalars);
  /// Sources, sinks, saddles and centers of a vector field.
  /// @param vectors  of each block three components for each point, those along the axes of space
  ///                 count
  CriticalPointStep addVectors(double time, const std::vector<Span<const double>>& vectors);

  /// How many steps have been added.
  std::int64_t steps() const { return step_ + 1; }
  /// How many tracks there have been, on all ranks: their numbers are lower.
  std::int64_t tracks() const { return nextTrack_; }

  /// What this rank has to keep so that a new tracker can go on, beside the values of the last
  /// step. Local.
  Bytes save() const;
  /// Goes on where others have ended, instead of adding a first step. The number of ranks and the
  /// blocks may be others.
  /// @param saved  what save() gave on any ranks, each once: some here, some on other ranks
  /// @param scalars  of the last step, as they were given to addScalars()
  void resumeScalars(const std::vector<Bytes>& saved,
                     const std::vector<Span<const double>>& scalars);
  void resumeVectors(const std::vector<Bytes>& saved,
                     const std::vector<Span<const double>>& vectors);

 private:
  /// A critical point of the last step.
  struct Current {
    SpaceTimeFace face;
    std::int64_t track;
  };
  /// What was saved of a step.
  struct Saved {
    std::int64_t step = -1, tracks = -1;
    double time = 0;
    std::vector<Current> current;
  };

  void checkTime(double time);
  CriticalPointStep add(FieldAtStep field);
  bool nameTracks(std::vector<TrajectoryPieces>& pieces, std::vector<TrackJoin>& joins);
  void keepCurrent(const std::vector<TrajectoryPieces>& pieces);
  Saved read(const std::vector<Bytes>& saved);
  void resume(Saved state, std::vector<std::vector<double>> vectors,
              std::vector<std::vector<double>> scalars);
  static void sortByFace(std::vector<Current>& list);
  /// The track of a face of the last step, or -1.
  std::int64_t trackOf(std::size_t block, const SpaceTimeFace& face) const;

  Transport& transport_;
  const SimplicialSpace& space_;
  CriticalPointOptions options_;
  std::int64_t step_ = -1;
  std::int64_t nextTrack_ = 0;
  FieldAtStep last_;
  std::vector<std::vector<Current>> current_;  // of each block, by face
};

}  // namespace tributary
