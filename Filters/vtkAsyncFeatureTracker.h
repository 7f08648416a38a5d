// SPDX-License-Identifier: BSD-3-Clause
/**
 * @class   vtkAsyncFeatureTracker
 * @brief   Regions or critical points followed through time, the same on any number of ranks
 *
 * vtkAsyncFeatureTracker finds the regions of connected cells in each step as vtkAsyncConnectivity
 * does, of a scalar range, of labels, or both, and matches those of consecutive steps by the volume
 * that they share. It gives them tracks, and tells where they are born, die, split and merge.
 *
 * **Input.** As that of vtkAsyncConnectivity, without hyper tree grids. The mesh and who has what
 * of it may change from step to step: a cell of the earlier step counts for the region of the later
 * step in which its centroid lies (of a cell that is not three-dimensional: lies or is close above
 * or below; on a border of several that of the lowest number).
 *
 * **Links and tracks.** See MinimumOverlap and MinimumSecondaryOverlap. Where an overlap is the
 * largest of both its regions a track goes on along it; ties go to the lower TrackId, and to the
 * lower RegionId of the later step. All other regions begin tracks, numbered from 0 step by step in
 * the order of RegionIds. So of what splits the largest overlap keeps the track, and of what merges
 * the largest gives it. Whoever owns what decides nothing.
 *
 * **Time.** If the input tells its time steps, the outputs at a time are what follows from all
 * steps up to it: the filter has the pipeline execute those that it has not seen yet. It keeps two
 * steps only, so that going on is cheap; going back, updating the same step again and a changed
 * property begin with the first step again. Steps that are added at the end are gone on with. If
 * the input tells no time steps (in situ), each later data time is the next step, the same time is
 * the last step again, and an earlier one begins anew. A step whose data are of another time than
 * was asked for (an input that cannot go back) is passed over.
 *
 * **Output 0.** The input with the arrays RegionId and TrackId on cells and points, -1 where there
 * is no region; at a point that of the lowest RegionId of its cells. Field data: that of the input,
 * NumberOfRegions of the step, NumberOfTracks so far and statistics (see vtkAsyncAlgorithm).
 *
 * **Output 1**, vtkPolyData: the trajectory of each track so far through its centroids, with
 * RegionId, Step, Time, Size (length, area or volume; number of cells if none has any), Velocity
 * and Speed at its points, and TrackId of cells; tracks of one step are vertices. Rank r of P has
 * the tracks whose number modulo P is r.
 *
 * **Output 2**, vtkTable: a row for each region of this step, as in the table of
 * vtkAsyncConnectivity, with TrackId, Step, Time, FirstStep (in which the track began), Velocity
 * and Speed.
 *
 * **Output 3**, vtkTable: a row for each event so far: Step, Time, Event (Birth, Death, Split,
 * Merge), TrackId, RegionId, Parts (that it splits into or is merged from) and Centroid of the
 * region that it happens to. That is a region of Step for Birth and Merge, and of the step before
 * it for Death and Split.
 *
 * **Output 4**, vtkTable: a row for each link so far, the edges of the feature graph: Step and Time
 * of the later region, Kind (Continuation, Split, Merge, Split and Merge), TrackBefore, TrackAfter,
 * RegionBefore, RegionAfter, Overlap (the shared volume) and Fraction.
 *
 * All outputs are the same, bit for bit, on any number of ranks, but for the order of rows and
 * trajectories, as far as cells have their centroids within.
 *
 * **Critical points** (see Features) of a field at points: minima, maxima and saddles of numbers,
 * or sources, sinks, saddles and centers of vectors (a vector of two components has those of the
 * two axes of flat data). They are where the field, or its gradient, interpolated linearly in
 * simplices of space-time is zero, see tributary::CriticalPointTracker. Input: images and
 * rectilinear grids, cut along the diagonals of their cells; other meshes of linear, convex cells,
 * each cut from its point of the lowest number (a global id, or by place: points with exactly the
 * same coordinates are one); two-dimensional ones in a plane of constant z. Ghost cells are left
 * out, so are cells that have a value at a point that is not finite. The mesh must not change, who
 * has what of it may.
 *
 * Output 0 is the input with NumberOfCriticalPoints, NumberOfTracks and NumberOfTrajectories in its
 * field data (tracks may turn out to be one). Output 1: the trajectories so far, with Time, Step
 * (the last one before), Velocity, Speed, Index (eigenvalues of the Jacobian with a negative real
 * part: 0 at a minimum or source, the dimension at a maximum or sink; -1 if it is not known) and
 * Event (1 where the kind changes, 2 at a birth, 3 at a death of a pair, where the velocity is not
 * a number) of points, and Value, or of vectors Rotation (1 spiral, 2 center); TrackId of cells; of
 * n, rank r of P has those from n r / P on. Output 2: a row for each critical point of this step:
 * TrackId, Step, Time, Kind (its name), Index, Position, Velocity, Speed and Value. Output 3: a row
 * for each event: Step, Time, Event (Birth, Death, Kind Change), TrackId, KindBefore, KindAfter and
 * Position. Output 4: a row for each way from a critical point of a step to the next one: Step,
 * Time, Kind (Continuation, or Birth or Death if both are of one step), TrackId, PositionBefore and
 * PositionAfter.
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
   * What is followed: regions of connected cells (REGIONS), or the critical points
   * (CRITICAL_POINTS) of the field that SetInputArrayToProcess(3, ...) chooses, an array of points.
   * Default: REGIONS.
   */
  vtkSetClampMacro(Features, int, REGIONS, CRITICAL_POINTS);
  vtkGetMacro(Features, int);
  ///@}

  ///@{
  /**
   * Critical points of vector fields only: two complex eigenvalues make a center if their real part
   * is at most so large a share of their magnitude, else a spiral. 0 to 1. Default: 0.05.
   */
  vtkSetMacro(CenterTolerance, double);
  vtkGetMacro(CenterTolerance, double);
  ///@}

  ///@{
  /**
   * Whether all overlaps that are large enough are links (ALL), or only those that are the largest
   * of both their regions, so that nothing splits or merges (BEST). Default: ALL.
   */
  vtkSetClampMacro(Match, int, ALL, BEST);
  vtkGetMacro(Match, int);
  ///@}

  ///@{
  /**
   * Which of two regions the least overlaps are fractions of. Default: OF_SMALLER.
   */
  vtkSetClampMacro(OverlapFraction, int, OF_SMALLER, OF_LARGER);
  vtkGetMacro(OverlapFraction, int);
  ///@}

  ///@{
  /**
   * Regions that overlap by a smaller fraction than this are not linked, 0 to 1. Default: 0.1.
   */
  vtkSetMacro(MinimumOverlap, double);
  vtkGetMacro(MinimumOverlap, double);
  ///@}

  ///@{
  /**
   * Nor are regions that overlap by a smaller fraction than this, 0 to 1, unless it is the largest
   * overlap of one of them: things that pass each other touch where the other was before.
   * Default: 0.5.
   */
  vtkSetMacro(MinimumSecondaryOverlap, double);
  vtkGetMacro(MinimumSecondaryOverlap, double);
  ///@}

  ///@{
  /**
   * How the earlier regions are moved before they are compared: not at all (NO_MOTION), each as it
   * moved before (ESTIMATED; what has just begun is not moved, and what has merged is moved in each
   * way that its parts moved), or each cell with the velocity of the array that
   * SetInputArrayToProcess(2, ...) chooses, of cells or points (VELOCITY_FIELD). For things that
   * move further in a step than they are wide. Default: NO_MOTION.
   */
  vtkSetClampMacro(Motion, int, NO_MOTION, VELOCITY_FIELD);
  vtkGetMacro(Motion, int);
  ///@}

  ///@{
  /**
   * A folder that all ranks see, to which what is needed to go on is written: after each step, or
   * after every CheckpointInterval steps, replacing the last one once it is complete. Each rank
   * writes a part. Made if it is not there. Default: empty, nothing is written.
   */
  void SetCheckpointDirectory(const char* path);
  const char* GetCheckpointDirectory() const { return this->CheckpointDirectory.c_str(); }
  ///@}

  ///@{
  /**
   * See CheckpointDirectory; at least 1. What a checkpoint has grows with the trajectories.
   * Default: 1.
   */
  vtkSetMacro(CheckpointInterval, int);
  vtkGetMacro(CheckpointInterval, int);
  ///@}

  ///@{
  /**
   * Whether the first execution goes on from the checkpoint in CheckpointDirectory, if there is
   * one, on any number of ranks; the outputs are those of a run that was never interrupted. Its
   * properties and its time steps must be the same, more steps may have come. A time before that of
   * the checkpoint, and in situ an earlier step, begins with the first step. Default: false.
   */
  vtkSetMacro(Resume, bool);
  vtkGetMacro(Resume, bool);
  vtkBooleanMacro(Resume, bool);
  ///@}

 protected:
  vtkAsyncFeatureTracker();
  ~vtkAsyncFeatureTracker() override;

  int FillOutputPortInformation(int port, vtkInformation* info) override;
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
