/**
 * @class   vtkAsyncFeatureTracker
 * @brief   Regions followed through time, the same on any number of ranks
 *
 * vtkAsyncFeatureTracker finds the regions of connected cells in each step as vtkAsyncConnectivity
 * does, of a scalar range, of labels, or both, and matches those of consecutive steps by the volume
 * that they share. It gives them tracks, and tells where they are born, die, split and merge.
 *
 * **Input.** As that of vtkAsyncConnectivity, without hyper tree grids. The mesh and who has what of it
 * may change from step to step: a cell of the earlier step counts for the region of the later step in
 * which its centroid lies (of a cell that is not three-dimensional: lies or is close above or below;
 * on a border of several that of the lowest number).
 *
 * **Links and tracks.** See MinimumOverlap and MinimumSecondaryOverlap. Where an overlap is the largest
 * of both its regions a track goes on along it; ties go to the lower TrackId, and to the lower
 * RegionId of the later step. All other regions begin tracks, numbered from 0 step by step in the
 * order of RegionIds. So of what splits the largest overlap keeps the track, and of what merges the
 * largest gives it. Whoever owns what decides nothing.
 *
 * **Time.** If the input tells its time steps, the outputs at a time are what follows from all steps up
 * to it: the filter has the pipeline execute those that it has not seen yet. It keeps two steps
 * only, so that going on is cheap; going back, updating the same step again and a changed property
 * begin with the first step again. Steps that are added at the end are gone on with. If the input
 * tells no time steps (in situ), each later data time is the next step, the same time is the last
 * step again, and an earlier one begins anew. A step whose data are of another time than was asked
 * for (an input that cannot go back) is passed over.
 *
 * **Output 0.** The input with the arrays RegionId and TrackId on cells and points, -1 where there is no
 * region; at a point that of the lowest RegionId of its cells. Field data: that of the input,
 * NumberOfRegions of the step, NumberOfTracks so far and statistics (see vtkAsyncAlgorithm).
 *
 * **Output 1**, vtkPolyData: the trajectory of each track so far through its centroids, with RegionId,
 * Step, Time, Size (length, area or volume; number of cells if none has any), Velocity and Speed at
 * its points, and TrackId of cells; tracks of one step are vertices. Rank r of P has the tracks whose
 * number modulo P is r.
 *
 * **Output 2**, vtkTable: a row for each region of this step, as in the table of vtkAsyncConnectivity,
 * with TrackId, Step, Time, FirstStep (in which the track began), Velocity and Speed.
 *
 * **Output 3**, vtkTable: a row for each event so far: Step, Time, Event (Birth, Death, Split, Merge),
 * TrackId, RegionId, Parts (that it splits into or is merged from) and Centroid of the region that
 * it happens to. That is a region of Step for Birth and Merge, and of the step before it for Death
 * and Split.
 *
 * **Output 4**, vtkTable: a row for each link so far, the edges of the feature graph: Step and Time of
 * the later region, Kind (Continuation, Split, Merge, Split and Merge), TrackBefore, TrackAfter,
 * RegionBefore, RegionAfter, Overlap (the shared volume) and Fraction.
 *
 * All outputs are the same, bit for bit, on any number of ranks, but for the order of rows and
 * trajectories, as far as cells have their centroids within.
 */

#ifndef vtkAsyncFeatureTracker_h
#define vtkAsyncFeatureTracker_h

#include "TributaryFiltersModule.h" // For export macro
#include "vtkAsyncRegionAlgorithm.h"

#include <memory> // For State

class TRIBUTARYFILTERS_EXPORT vtkAsyncFeatureTracker : public vtkAsyncRegionAlgorithm
{
public:
  static vtkAsyncFeatureTracker* New();
  vtkTypeMacro(vtkAsyncFeatureTracker, vtkAsyncRegionAlgorithm);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  enum Matches
  {
    ALL = 0,
    BEST = 1
  };

  enum OverlapFractions
  {
    OF_SMALLER = 0,
    OF_LARGER = 1
  };

  enum Motions
  {
    NO_MOTION = 0,
    ESTIMATED = 1,
    VELOCITY_FIELD = 2
  };

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
   * SetInputArrayToProcess(2, ...) chooses, of cells or points (VELOCITY_FIELD). For things that move
   * further in a step than they are wide. Default: NO_MOTION.
   */
  vtkSetClampMacro(Motion, int, NO_MOTION, VELOCITY_FIELD);
  vtkGetMacro(Motion, int);
  ///@}

protected:
  vtkAsyncFeatureTracker();
  ~vtkAsyncFeatureTracker() override;

  int FillOutputPortInformation(int port, vtkInformation* info) override;
  int ProcessRequest(vtkInformation* request, vtkInformationVector** inputVector,
    vtkInformationVector* outputVector) override;
  int RequestDataObject(vtkInformation*, vtkInformationVector** inputVector,
    vtkInformationVector* outputVector) override;
  int RequestUpdateExtent(vtkInformation*, vtkInformationVector** inputVector,
    vtkInformationVector* outputVector) override;
  void CheckProperties() override;
  void DescribeProperties(tributary::PropertyList& list) override;
  bool Execute(tributary::Transport& transport, vtkInformationVector** inputVector,
    vtkInformationVector* outputVector, tributary::RunStatistics& statistics) override;
  const char* Failure() const override { return "No features"; }

  int Match = ALL;
  int OverlapFraction = OF_SMALLER;
  double MinimumOverlap = 0.1;
  double MinimumSecondaryOverlap = 0.5;
  int Motion = NO_MOTION;

private:
  vtkAsyncFeatureTracker(const vtkAsyncFeatureTracker&) = delete;
  void operator=(const vtkAsyncFeatureTracker&) = delete;

  /// Local. What decides what the tracks are.
  void DescribeTracking(tributary::PropertyList& list);

  class vtkState;
  class vtkRun;

  std::unique_ptr<vtkState> State;
};

#endif
