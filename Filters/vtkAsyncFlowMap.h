// SPDX-License-Identifier: BSD-3-Clause
/**
 * @class   vtkAsyncFlowMap
 * @brief   Flow map and finite-time Lyapunov exponent, independent of the number of ranks
 *
 * vtkAsyncFlowMap traces a particle from each point of a grid, or from each point of the input,
 * through a window of time, and computes how much the flow stretches the neighborhood of the
 * particle. Ridges of the finite-time Lyapunov exponent (FTLE) are candidates for Lagrangian
 * coherent structures: repelling ones for a positive IntegrationTime, attracting ones for a
 * negative one.
 *
 * **Input.** As for vtkAsyncPathTracer: vectors that are linear in time between two time steps, on
 * cells that do not change; points may move. The points of the input are those at the beginning of
 * the window, between two time steps interpolated as those of the mesh are. The box of the data is
 * that of one of the time steps around the beginning, see UseInputBounds. An input with one time
 * step, or without times, is a steady flow: its vectors are used at all times.
 *
 * **Time.** See Window. By default, the window begins at the time that the pipeline requests, and
 * ends IntegrationTime later, or earlier if that is negative. Both may lie between time steps:
 * particles stop exactly there. Requested times before the first and after the last time step count
 * as that step. A window that the time steps end early ends with them, with a warning, and FTLE is
 * divided by the time traced. The filter makes the pipeline execute the time steps of the window
 * one after the other; see KeptTimeSteps for a series of windows.
 *
 * **In situ.** With FROM_FIRST_TIME_STEP, the filter keeps the particles at the last time step and
 * the data of that step. A later time continues from them; an earlier one begins again. If the
 * input reports no time steps, each later data time is the next step, the same time keeps the
 * particles, and an earlier one begins again. So there are never more than two time steps in
 * memory: the data of the input, and the ones before, which are a copy if a simulation may
 * overwrite its own. A step whose data have another time than requested (an input that cannot go
 * back) is skipped. When the window has its whole length, later steps change nothing, and no data
 * are kept.
 *
 * **Checkpoints.** With FROM_FIRST_TIME_STEP, the state can be saved, and another process can
 * continue from it on another number of ranks, see CheckpointDirectory and Resume.
 *
 * **Output.** See Seeds: an image, of which each rank has the extent of its piece, or the mesh of
 * the input on each rank, without its arrays except ghost flags and global ids. Point data:
 * - FlowMap (double, 3 components): the position of the particle at the end of the window, or where
 *   it ended before.
 * - FTLE (double): ln(sqrt(l)) / |t|, where l is the largest eigenvalue of the right Cauchy-Green
 *   tensor and t the time traced. NaN where it is not defined.
 * - vtkValidPointMask (char): 1 where FTLE is a number, otherwise 0.
 * - ReasonForTermination (int, see the enumeration).
 * - EndTime (double): the time of the end.
 * - With ComputeTensor: CauchyGreenTensor (double, 6 components: XX, YY, ZZ, XY, YZ, XZ) and
 *   StretchingDirection (double, 3 components): the unit vector along which neighbors of the seed
 *   are separated most, with its largest component positive. NaN where they are not defined.
 *
 * Field data: statistics (see vtkAsyncAlgorithm): Duration (the time traced), Points, Seeds (with
 * those beside points of this rank), Arrived (points whose particle reached the end), OutsideSeeds
 * (points in no cell), UndefinedPoints (points whose particle arrived, without an FTLE), SeedBytes
 * (the memory of particles), StepsRead, StepsReused, StepsKept (beyond the data of the input),
 * DomainBytes (the most memory of a domain, beyond the input), Intervals, MeshChanges (of these,
 * those in which the mesh changes), SeedBatches, Steps (of the integrator), PeriodX, PeriodY and
 * PeriodZ (of the axes that Periodic selects), Handovers, Loans, and those of the exchange and of
 * AutoTune.
 *
 * **Differences.** The gradient of the flow map consists of differences of end positions: of the
 * neighbors on the grid, or of the seeds on both sides of each point of the input. If a neighbor
 * lies outside of the grid, or its particle has not reached the end of the window, the difference
 * is one-sided. FTLE is not defined where the point's own particle, or both neighbors along an
 * axis, have not reached the end. Axes along which the grid has one point, or the data are flat,
 * are left out: FTLE then measures the stretching of directions in the plane of the grid.
 *
 * Along an axis that Periodic selects, seeds beyond the sides of the grid are traced, too, so that
 * no difference is one-sided there. End positions are not wrapped. The bounds of the input include
 * the cells that Period adds beyond its last column.
 *
 * M. Farazmand, G. Haller, "Computing Lagrangian coherent structures from their variational
 * theory", Chaos 22 (2012), doi:10.1063/1.3690153.
 *
 * **Bitwise reproducibility.** As that of vtkAsyncStreamTracer. A rank also traces the seeds beside
 * its extent, so values at a point do not depend on the pieces in which the output is requested.
 *
 * **Properties of vtkAsyncParticleAlgorithm.** As for vtkAsyncPathTracer: steps are taken in time,
 * and no step crosses the time of a step of the input. TerminalSpeed is 0 by default. Errors of
 * positions, see MaximumError, divided by the distance of seeds are errors of the gradient.
 *
 * **Collective**, see vtkAsyncAlgorithm. BlocksPerRank and KeepDomain may also differ between
 * ranks, and so may the extents that ranks request.
 *
 * **Not supported:** as for vtkAsyncPathTracer: cells of dimension 0 or 1; hyper tree grids;
 * seeds at the points of curved surfaces.
 *
 * @sa
 * vtkAsyncAlgorithm vtkAsyncPathTracer
 */

#ifndef vtkAsyncFlowMap_h
#define vtkAsyncFlowMap_h

#include "TributaryFiltersModule.h"  // For export macro
#include "vtkAsyncParticleAlgorithm.h"

#include <memory>  // For State
#include <string>  // For CheckpointDirectory

namespace tributary {
struct FlowMapSettings;
struct FlowMapState;
}  // namespace tributary

class TRIBUTARYFILTERS_EXPORT vtkAsyncFlowMap : public vtkAsyncParticleAlgorithm {
 public:
  static vtkAsyncFlowMap* New();
  vtkTypeMacro(vtkAsyncFlowMap, vtkAsyncParticleAlgorithm);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  enum SeedKinds { RESAMPLED_GRID = 0, POINTS_OF_INPUT = 1 };
  enum Windows { FROM_CURRENT_TIME = 0, FROM_FIRST_TIME_STEP = 1 };

  /**
   * Values of ReasonForTermination, those of vtkAsyncStreamTracer.
   */
  enum ReasonForTermination {
    OUT_OF_DOMAIN = 1,
    NOT_INITIALIZED = 2,   ///< The seed lies in no cell.
    UNEXPECTED_VALUE = 3,  ///< A velocity that is not finite.
    OUT_OF_STEPS = 5,
    STAGNATION = 6,  ///< The flow is too slow: see TerminalSpeed.
    OUT_OF_TIME = 7  ///< The particle has reached the end of the window.
  };

  ///@{
  /**
   * Length of the window of time, in the unit of the times of the input. Not 0; negative to trace
   * backward in time. Default: 1.
   */
  vtkSetMacro(IntegrationTime, double);
  vtkGetMacro(IntegrationTime, double);
  ///@}

  ///@{
  /**
   * The window of time. FROM_CURRENT_TIME: from the requested time, for the whole IntegrationTime.
   * FROM_FIRST_TIME_STEP: from the first time step to the requested time, but not longer than
   * IntegrationTime, which must be positive; also in situ, where the first step is that of the
   * first execution. Later steps only trace the time that has passed. For a window that ends at the
   * requested time, both give the same bits. A time between two steps needs the memory of the
   * particles twice, because these continue from the step before. Default: FROM_CURRENT_TIME.
   */
  vtkSetClampMacro(Window, int, FROM_CURRENT_TIME, FROM_FIRST_TIME_STEP);
  vtkGetMacro(Window, int);
  ///@}

  ///@{
  /**
   * Where particles begin. RESAMPLED_GRID: at the points of a uniform grid, the output. It has
   * SamplingDimensions points in a box, see UseInputBounds. POINTS_OF_INPUT: at the points of the
   * input, with further seeds at AuxiliaryDistance on both sides of each along the axes. Default:
   * RESAMPLED_GRID.
   */
  vtkSetClampMacro(Seeds, int, RESAMPLED_GRID, POINTS_OF_INPUT);
  vtkGetMacro(Seeds, int);
  ///@}

  ///@{
  /**
   * Numbers of points of the grid along the axes, at least 1, and not 1 along all of them. With 1,
   * they lie in the middle of the box. Default: 100, 100, 1.
   */
  vtkSetVector3Macro(SamplingDimensions, int);
  vtkGetVector3Macro(SamplingDimensions, int);
  ///@}

  ///@{
  /**
   * Whether the box of the grid is that of the data with the vectors; where points move, at the
   * time step where the window begins, or at the one before it in the direction of the trace. If
   * false, it is SamplingBounds. Default: true.
   */
  vtkSetMacro(UseInputBounds, bool);
  vtkGetMacro(UseInputBounds, bool);
  vtkBooleanMacro(UseInputBounds, bool);
  ///@}

  ///@{
  /**
   * The box of the grid: minimum and maximum of x, y and z. Default: 0, 1, 0, 1, 0, 1.
   */
  vtkSetVector6Macro(SamplingBounds, double);
  vtkGetVector6Macro(SamplingBounds, double);
  ///@}

  ///@{
  /**
   * The distance of further seeds from the points of the input, at least 0, in the unit of the
   * coordinates. 0 selects 1/1000 of the diagonal of the data's box. Default: 0.
   */
  vtkSetMacro(AuxiliaryDistance, double);
  vtkGetMacro(AuxiliaryDistance, double);
  ///@}

  ///@{
  /**
   * Whether to add the arrays CauchyGreenTensor and StretchingDirection. Default: false.
   */
  vtkSetMacro(ComputeTensor, bool);
  vtkGetMacro(ComputeTensor, bool);
  vtkBooleanMacro(ComputeTensor, bool);
  ///@}

  ///@{
  /**
   * The largest number of particles that each rank traces at once, at least 1. Fewer need less
   * memory: a seed that waits needs 33 bytes, one that is traced about 600. The result does not
   * change. Default: 200000.
   */
  vtkSetMacro(SeedsPerBatch, vtkIdType);
  vtkGetMacro(SeedsPerBatch, vtkIdType);
  ///@}

  ///@{
  /**
   * The largest number of time steps whose data are kept for the next window, at least 0. A window
   * that shares time steps with the one before reads only the others. With all time steps of a
   * window, a later window reads each time step once. Copies are shallow, so that a step needs as
   * much memory as its arrays (and points and cells, if the input makes new ones for each step). No
   * step is kept after a modification of the input. Not used with FROM_FIRST_TIME_STEP, which keeps
   * one step. Default: 4.
   */
  vtkSetMacro(KeptTimeSteps, int);
  vtkGetMacro(KeptTimeSteps, int);
  ///@}

  ///@{
  /**
   * With FROM_FIRST_TIME_STEP: a directory for checkpoints, which all ranks can access, or "" to
   * write none. It is created if it does not exist. Each rank writes a part with 64 bytes for each
   * of its seeds. A new checkpoint replaces the last one when it is complete. None is written after
   * the step at which the window has its whole length. Default: "".
   */
  vtkSetStdStringFromCharMacro(CheckpointDirectory);
  vtkGetCharFromStdStringMacro(CheckpointDirectory);
  ///@}

  ///@{
  /**
   * The number of steps between checkpoints, at least 1; see CheckpointDirectory. Default: 1.
   */
  vtkSetMacro(CheckpointInterval, int);
  vtkGetMacro(CheckpointInterval, int);
  ///@}

  ///@{
  /**
   * Whether the first execution continues from the checkpoint in CheckpointDirectory, if there is
   * one, on any number of ranks. The output is that of an uninterrupted run. Properties and time
   * steps must be the same; steps may have been appended. A simulation must restart at the step of
   * the checkpoint, because particles at earlier ones are not kept, or at the first step. With
   * POINTS_OF_INPUT, points must not move. Default: false.
   */
  vtkSetMacro(Resume, bool);
  vtkGetMacro(Resume, bool);
  vtkBooleanMacro(Resume, bool);
  ///@}

 protected:
  vtkAsyncFlowMap();
  ~vtkAsyncFlowMap() override;

  int FillOutputPortInformation(int port, vtkInformation* info) override;
  int RequestInformation(vtkInformation* request, vtkInformationVector** inputVector,
                         vtkInformationVector* outputVector) override;
  int RequestUpdateExtent(vtkInformation* request, vtkInformationVector** inputVector,
                          vtkInformationVector* outputVector) override;
  std::string ClassOfOutput(int port, vtkDataObject* input) override;
  void CheckProperties() override;
  void DescribeProperties(tributary::PropertyList& list) override;
  bool Execute(tributary::Transport& transport, vtkInformationVector** inputVector,
               vtkInformationVector* outputVector, tributary::RunStatistics& statistics) override;
  void ForgetExecution() override;
  const char* Failure() const override { return "No flow map"; }

  double IntegrationTime = 1.0;
  int Window = FROM_CURRENT_TIME;
  int Seeds = RESAMPLED_GRID;
  int SamplingDimensions[3] = {100, 100, 1};
  bool UseInputBounds = true;
  double SamplingBounds[6] = {0, 1, 0, 1, 0, 1};
  double AuxiliaryDistance = 0.0;
  bool ComputeTensor = false;
  vtkIdType SeedsPerBatch = 200000;
  int KeptTimeSteps = 4;
  std::string CheckpointDirectory;
  int CheckpointInterval = 1;
  bool Resume = false;

 private:
  vtkAsyncFlowMap(const vtkAsyncFlowMap&) = delete;
  void operator=(const vtkAsyncFlowMap&) = delete;

  /// Local. The properties that determine the particles.
  void DescribeMap(tributary::PropertyList& list);
  /// Local.
  tributary::FlowMapSettings MakeSettings();

  std::unique_ptr<tributary::FlowMapState> State;
};

#endif
