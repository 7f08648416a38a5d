// SPDX-License-Identifier: BSD-3-Clause
/**
 * @class   vtkAsyncFeatureTracker
 * @brief   Tracks regions or critical points through time, the same on any number of ranks
 *
 * vtkAsyncFeatureTracker finds the regions of connected cells in each step as vtkAsyncConnectivity
 * does, of a scalar range, of labels, or both. It matches regions of consecutive steps by the
 * volume that they share, assigns tracks to them, and reports births, deaths, splits and merges.
 *
 * **Input.** As that of vtkAsyncConnectivity, without hyper tree grids. The mesh and its
 * distribution over ranks may change from step to step: a cell of the earlier step counts for the
 * region of the later step that contains its centroid. A cell of lower dimension also contains the
 * places close above and below it. On a border of several regions the lowest RegionId counts. If
 * nothing moves (see Motion), a cell with exactly the same centroid that is not hidden comes before
 * all others: on a mesh that stays, a cell overlaps itself, also where cells overlap one another,
 * and if it does not contain its centroid.
 *
 * **Links and tracks.** See MinimumOverlap and MinimumSecondaryOverlap. A track continues along an
 * overlap that is the largest of both its regions; ties go to the lower TrackId, and to the lower
 * RegionId of the later step. Each other region begins a track. Tracks are numbered from 0, step by
 * step in the order of RegionIds. The largest part of a split thus keeps the track, and a merged
 * region continues the track of its largest part. The distribution over ranks has no influence.
 *
 * **Time.** If the input reports time steps, the outputs at a time are the results of all steps up
 * to it: the filter makes the pipeline execute the steps that it has not added yet. It stores the
 * data of two steps only, so that a later time costs the new steps only. An earlier time, another
 * update of the same step and a changed property restart with the first step. Steps appended later
 * are processed incrementally. If the input reports no time steps (in situ), each later data time
 * is the next step, the same time replaces the last step, and an earlier one restarts. A step whose
 * data have another time than requested (an input that cannot go back) is skipped.
 *
 * **Output 0.** The cells in regions, or without ExtractRegions the input, with the arrays RegionId
 * and TrackId of cells and points, -1 outside of regions; a point has the lowest RegionId of its
 * cells. TrackId of cells are the active scalars. ExtractRegions is true by default. Field data:
 * those of the input, NumberOfRegions of the step, NumberOfTracks so far and statistics (see
 * vtkAsyncAlgorithm).
 *
 * **Output 1**, vtkPolyData: the trajectory of each track so far through its centroids, with
 * RegionId, Step, Time, Size (length, area or volume; number of cells if none has any), Velocity
 * and Speed of points, and TrackId of cells; tracks of one step are vertices. Rank r of P has the
 * tracks whose number modulo P is r.
 *
 * **Output 2**, vtkTable: a row for each region of this step, as in the table of
 * vtkAsyncConnectivity, with TrackId, Step, Time, FirstStep (in which the track began), Velocity
 * and Speed.
 *
 * **Output 3**, vtkTable: a row for each event so far: Step, Time, Event (Birth, Death, Split,
 * Merge), TrackId, RegionId, Parts (number of regions that it splits into or is merged from) and
 * Centroid of the region. For Birth and Merge the region is one of Step, for Death and Split one of
 * the step before.
 *
 * **Output 4**, vtkTable: a row for each link so far, the edges of the feature graph: Step and Time
 * of the later region, Kind (Continuation, Split, Merge, Split and Merge), TrackBefore, TrackAfter,
 * RegionBefore, RegionAfter, Overlap (the shared volume) and Fraction.
 *
 * Tables have a column for each component of a vector, such as CentroidX, CentroidY and CentroidZ,
 * and their columns are in the order of their names. All outputs are the same, bit for bit, on any
 * number of ranks, but for the order of rows and trajectories.
 *
 * **Critical points** (see Features) of a field of points: minima, maxima and saddles of scalars,
 * or sources, sinks, saddles and centers of vectors (vectors of two components extend along the two
 * axes of flat data). They are the zeros of the field, or of its gradient, interpolated linearly in
 * simplices of space-time, see tributary::CriticalPointTracker. Input: images and rectilinear
 * grids, cut along the diagonals of their cells; other meshes of linear, convex cells, each cut
 * from its point with the lowest number (a global id, or by place: points with exactly the same
 * coordinates are one); two-dimensional meshes in a plane of constant z. Ghost cells, and cells
 * with a value that is not finite at a point, are ignored. The mesh must not change; its
 * distribution over ranks may.
 *
 * Output 0 is the input with NumberOfCriticalPoints, NumberOfTracks and NumberOfTrajectories in its
 * field data (two tracks may turn out to be one trajectory). Output 1: the trajectories so far,
 * with Time, Step (the last one before), Velocity, Speed, Index (number of eigenvalues of the
 * Jacobian with a negative real part: 0 at a minimum or source, the dimension at a maximum or sink;
 * -1 if it is unknown) and Event (1 where the kind changes, 2 at a birth, 3 at a death of a pair,
 * where the velocity is not a number) of points, and Value, or for vectors Rotation (1 spiral, 2
 * center); TrackId of cells. Of n trajectories, rank r of P has those in [n r / P, n (r + 1) / P).
 * Output 2: a row for each critical point of this step: TrackId, Step, Time, Kind (its name),
 * Index, Position, Velocity, Speed and Value. Output 3: a row for each event: Step, Time, Event
 * (Birth, Death, Kind Change), TrackId, KindBefore, KindAfter and Position. Output 4: a row for
 * each part of a trajectory between critical points of steps: Step, Time, Kind (Continuation, or
 * Birth or Death if both points are of one step), TrackId, PositionBefore and PositionAfter.
 */

#ifndef vtkAsyncFeatureTracker_h
#define vtkAsyncFeatureTracker_h

#include "TributaryFiltersModule.h"  // For export macro
#include "vtkAsyncRegionAlgorithm.h"

#include <memory>  // For State
#include <string>  // For CheckpointDirectory

namespace tributary {
struct FeatureTrackerSettings;
struct FeatureTrackerState;
}  // namespace tributary

class TRIBUTARYFILTERS_EXPORT vtkAsyncFeatureTracker : public vtkAsyncRegionAlgorithm {
 public:
  static vtkAsyncFeatureTracker* New();
  vtkTypeMacro(vtkAsyncFeatureTracker, vtkAsyncRegionAlgorithm);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  enum FeatureKinds { REGIONS = 0, CRITICAL_POINTS = 1 };

  enum Matches { ALL = 0, BEST = 1 };

  enum OverlapFractions { OF_SMALLER = 0, OF_LARGER = 1 };

  enum Motions { NO_MOTION = 0, ESTIMATED = 1, VELOCITY_FIELD = 2 };

  ///@{
  /**
   * The features to track: regions of connected cells (REGIONS), or the critical points
   * (CRITICAL_POINTS) of the array of points that SetInputArrayToProcess(3, ...) selects.
   * Default: REGIONS.
   */
  vtkSetClampMacro(Features, int, REGIONS, CRITICAL_POINTS);
  vtkGetMacro(Features, int);
  ///@}

  ///@{
  /**
   * Critical points of vector fields only: the maximum ratio of the real part to the magnitude of
   * two complex eigenvalues for a point to be classified as a center rather than a spiral, in
   * [0, 1]. Default: 0.05.
   */
  vtkSetMacro(CenterTolerance, double);
  vtkGetMacro(CenterTolerance, double);
  ///@}

  ///@{
  /**
   * Overlaps that become links: all large ones (ALL), or only those that are the largest
   * of both their regions, without splits and merges (BEST). Default: ALL.
   */
  vtkSetClampMacro(Match, int, ALL, BEST);
  vtkGetMacro(Match, int);
  ///@}

  ///@{
  /**
   * The region of a pair whose size is the denominator of overlap fractions. Default: OF_SMALLER.
   */
  vtkSetClampMacro(OverlapFraction, int, OF_SMALLER, OF_LARGER);
  vtkGetMacro(OverlapFraction, int);
  ///@}

  ///@{
  /**
   * Regions that overlap by a smaller fraction are not linked. In [0, 1]. Default: 0.1.
   */
  vtkSetMacro(MinimumOverlap, double);
  vtkGetMacro(MinimumOverlap, double);
  ///@}

  ///@{
  /**
   * Regions that overlap by a smaller fraction are linked only if it is the largest overlap of one
   * of them: a region that passes another one may overlap the other's earlier location. In [0, 1].
   * Default: 0.5.
   */
  vtkSetMacro(MinimumSecondaryOverlap, double);
  vtkGetMacro(MinimumSecondaryOverlap, double);
  ///@}

  ///@{
  /**
   * How the earlier regions move before they are compared: not at all (NO_MOTION), each with the
   * velocity estimated from earlier steps (ESTIMATED; regions in their first step do not move, and
   * merged regions are compared under each motion of their parts), or each cell with the velocity
   * in the array of cells or points that SetInputArrayToProcess(2, ...) selects (VELOCITY_FIELD).
   * Use it for regions that move by more than their width in a step. Default: NO_MOTION.
   */
  vtkSetClampMacro(Motion, int, NO_MOTION, VELOCITY_FIELD);
  vtkGetMacro(Motion, int);
  ///@}

  ///@{
  /**
   * A folder that all ranks can access, to which the filter writes checkpoints, each rank a part:
   * after every CheckpointInterval steps, and replacing the last checkpoint when the new one is
   * complete. The folder is created if it does not exist. If empty, no checkpoints are written.
   * Default: empty.
   */
  vtkSetStdStringFromCharMacro(CheckpointDirectory);
  vtkGetCharFromStdStringMacro(CheckpointDirectory);
  ///@}

  ///@{
  /**
   * The number of steps between checkpoints, at least 1; see CheckpointDirectory. The size of
   * checkpoints grows with the trajectories. Default: 1.
   */
  vtkSetMacro(CheckpointInterval, int);
  vtkGetMacro(CheckpointInterval, int);
  ///@}

  ///@{
  /**
   * Whether the first execution continues from the checkpoint in CheckpointDirectory, if there is
   * one, on any number of ranks. The outputs are those of an uninterrupted run. Properties and time
   * steps must be the same; steps may have been appended. A time before that of the checkpoint
   * begins with the first step. Default: false.
   */
  vtkSetMacro(Resume, bool);
  vtkGetMacro(Resume, bool);
  vtkBooleanMacro(Resume, bool);
  ///@}

 protected:
  vtkAsyncFeatureTracker();
  ~vtkAsyncFeatureTracker() override;

  int FillOutputPortInformation(int port, vtkInformation* info) override;
  std::string ClassOfOutput(int port, vtkDataObject* input) override;
  int RequestUpdateExtent(vtkInformation*, vtkInformationVector** inputVector,
                          vtkInformationVector* outputVector) override;
  void CheckProperties() override;
  void DescribeProperties(tributary::PropertyList& list) override;
  bool Execute(tributary::Transport& transport, vtkInformationVector** inputVector,
               vtkInformationVector* outputVector, tributary::RunStatistics& statistics) override;
  const char* Failure() const override { return "No features"; }

  int Features = REGIONS;
  double CenterTolerance = 0.05;
  std::string CheckpointDirectory;
  int CheckpointInterval = 1;
  bool Resume = false;
  int Match = ALL;
  int OverlapFraction = OF_SMALLER;
  double MinimumOverlap = 0.1;
  double MinimumSecondaryOverlap = 0.5;
  int Motion = NO_MOTION;

 private:
  vtkAsyncFeatureTracker(const vtkAsyncFeatureTracker&) = delete;
  void operator=(const vtkAsyncFeatureTracker&) = delete;

  /// Local. The properties that determine the tracks.
  void DescribeTracking(tributary::PropertyList& list);
  /// Local.
  tributary::FeatureTrackerSettings MakeSettings();

  std::unique_ptr<tributary::FeatureTrackerState> State;
};

#endif
