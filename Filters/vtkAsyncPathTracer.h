// SPDX-License-Identifier: BSD-3-Clause
/**
 * @class   vtkAsyncPathTracer
 * @brief   Paths of particles in an unsteady vector field, independent of the number of ranks
 *
 * vtkAsyncPathTracer follows particles through a vector field that varies in time. It corresponds
 * to vtkPParticleTracer, vtkPParticlePathFilter and vtkPStreaklineFilter; properties with the same
 * meaning have the same names. Unlike these, it processes the data of all ranks as one domain, and
 * its particles are the same on any number of ranks.
 *
 * **Input.** Port 0: as for vtkAsyncStreamTracer, with time steps. Between two steps, vectors and
 * point arrays are linear in time. The types of the vectors may differ between steps. Points of
 * a vtkPointSet may differ between steps: they move linearly from one step to the next, and
 * particles are located in the mesh at their time. The mesh changes if the data sets of a rank
 * differ by more than that (cells, ghost flags, extents, number). Then the velocity at a place is
 * linear in time between those that the two meshes have there, and so are point arrays. At a step
 * only its mesh counts; in between, a particle that is outside of one of the meshes leaves the
 * domain. An error is reported if the vectors are missing at one of the steps, or belong to points
 * at one and to cells at the other. There is no lending then, and no trial of AutoTune. A point
 * array that a block has at only one of two consecutive steps is omitted with a warning.
 *
 * Port 1: the seeds, as for vtkAsyncStreamTracer. They may vary in time, see StaticSeeds.
 *
 * Port 2, optional: a surface for events, as for vtkAsyncStreamTracer. That of the first time step
 * is used for all of them, in situ that of the first execution. A modification of its pipeline
 * restarts with the first step, as one of the other inputs does. Checkpoints do not have it.
 *
 * **Particles** are injected at steps, see ForceReinjectionEveryNSteps. Each step of the integrator
 * ends in the interval between two steps of the input in which it began, and the integrator begins
 * anew at each of them. A particle that leaves the domain, or meets vectors that are not finite,
 * ends there.
 *
 * **Time.** The output at a time is the result of all steps up to it: the filter makes the pipeline
 * execute the steps that it has not added yet. A time between two steps is traced up to this time
 * from the step before. The filter keeps the data of one step, and the particles at all steps that
 * were added: with Pathlines all their points, otherwise one point for each particle and step. So a
 * later time costs the new steps only, and an earlier step costs nothing. An earlier time between
 * two steps needs these two. Times before the first or after the last step show that step. A
 * property that changes the paths, and a modification of an input, restart with the first step.
 * Steps appended later are processed incrementally. If the input reports no time steps (in situ),
 * each later data time is the next step, the same time keeps the particles, and an earlier one
 * restarts. A step whose data have another time than requested (an input that cannot go back) is
 * skipped.
 *
 * **Checkpoints.** The state can be saved, and another process can continue from it on another
 * number of ranks, see CheckpointDirectory and Resume.
 *
 * **Output.** See OutputKind. With N seeds on P ranks, rank r has the particles of the seeds
 * r * N / P to (r + 1) * N / P - 1 of each injection, ordered by injection, then by seed. Points
 * are of type float; positions are continued in double.
 * - Point data: the point arrays of the input, interpolated; values are NaN (0 for integers) where
 * a block lacks an array that other blocks have. The vectors, also if they are cell data.
 *   SimulationTime (double), ParticleAge (double, the time since the injection), ParticleId
 *   (vtkIdType, the seeds of all injections counted from 0), InjectedPointId (vtkIdType, the id of
 *   the seed, as SeedIds of vtkAsyncStreamTracer) and InjectionStepId (int, the number of the
 *   injection, from 0). With ComputeVorticity, also Vorticity (double, 3 components),
 *   AngularVelocity (double) and Rotation (double, radians).
 * - Cell data: ReasonForTermination (int, see the enumeration) of pathlines and particles,
 *   ParticleId of pathlines, InjectedPointId of streaklines. With events, pathlines and particles
 *   also have EventId (int), the event that ended the path, or -1. With a surface, also TargetId
 *   (vtkIdType): the label of the triangle at which the path ended, or -1.
 * - Field data: statistics (see vtkAsyncAlgorithm). Since the first step: Injections, Injected (the
 *   particles), OutsideSeeds (in no cell), StepsAdded and HistoryBytes (the memory of the points
 *   that are kept). At the time of the output: Particles (inside) and OutputPoints. Of this
 * request: Intervals (that were traced), MeshChanges (of these, those in which the mesh changes),
 * DomainBytes (the most memory of a domain, beyond the
 * input), PointsRecorded, PeriodX, PeriodY and PeriodZ (of the axes that Periodic selects),
 * Handovers, Loans, and those of the exchange and of AutoTune. With events, Crossings (of the
 * second output). With a surface, ReusedSurface (1 if that of the request before was reused),
 * SurfaceTriangles and SurfaceBytes (of each rank).
 *
 * **Second output.** Crossings of events (see AddEvent) until the time of the output: a vertex for
 * each, with double coordinates, ordered by particle and along its path. Point data: those of
 * pathlines without Rotation, ArcLength (double, the length of the straight lines between the
 * points of the path, from its injection), EventId (int) and CrossingNumber (int, from 1 for each
 * event and particle), and with a surface TargetId (as in vtkAsyncStreamTracer). Without events,
 * there are no points.
 *
 * **Crossings** are those of vtkAsyncStreamTracer, with the steps of paths: a part of a step is
 * taken through the field at its times. Numbers, ages and lengths go on from interval to interval.
 * A time event is one of the age of a particle; SimulationTime is that of the data. A particle that
 * is still at its seed, within the rounding error of its position, does not cross a surface there.
 * The arrays of isovalues and labels must be there at all time steps, in all data sets. A label
 * that has changed at a time step is crossed at this time. With OutputKind STREAKLINES or
 * PARTICLES, or PathPoints TIME_STEPS, crossings are the same. An error is reported if events are
 * given and the mesh changes.
 *
 * **Bitwise reproducibility.** As that of vtkAsyncStreamTracer. Also, the output at a step does not
 * depend on the times requested before, except where cells overlap or a particle lies exactly on a
 * face: there, CheckpointDirectory, or a change of BlocksPerRank between requests, may select
 * another cell.
 *
 * **AutoTune** (see vtkAsyncExchangeAlgorithm) tries settings in the first interval after a
 * restart, and keeps the choice. Nothing is tried with fewer than 100 particles.
 *
 * **Properties of vtkAsyncLineAlgorithm.** Steps are taken in time: lengths are divided by the
 * speed where the step begins. No step crosses the time of a step of the input; there, the
 * integrator begins anew, with InitialIntegrationStep. TerminalSpeed is 0 by default: particles do
 * not end by it, because one that is at rest may move later. KeepDomain keeps the search structures
 * of cells that are not in grids along the axes after a request; they are used for all intervals of
 * a request in any case.
 *
 * **Collective**, see vtkAsyncAlgorithm. BlocksPerRank and KeepDomain may also differ between
 * ranks.
 *
 * **Not supported:** polyhedra and nonlinear cells whose points move; surfaces that move out of
 * their plane; events where the mesh changes; cells of dimension 0 or 1; hyper tree grids (those in
 * composite data sets are ignored with a warning); backward integration; lines along surfaces.
 *
 * @sa
 * vtkAsyncAlgorithm vtkAsyncStreamTracer vtkPParticleTracer vtkPParticlePathFilter
 * vtkPStreaklineFilter
 */

#ifndef vtkAsyncPathTracer_h
#define vtkAsyncPathTracer_h

#include "TributaryFiltersModule.h"  // For export macro
#include "vtkAsyncLineAlgorithm.h"

#include <memory>  // For State
#include <string>  // For CheckpointDirectory

namespace tributary {
struct PathTracerSettings;
struct PathTracerState;
}  // namespace tributary

class TRIBUTARYFILTERS_EXPORT vtkAsyncPathTracer : public vtkAsyncLineAlgorithm {
 public:
  static vtkAsyncPathTracer* New();
  vtkTypeMacro(vtkAsyncPathTracer, vtkAsyncLineAlgorithm);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  enum OutputKinds { PATHLINES = 0, STREAKLINES = 1, PARTICLES = 2 };
  enum PathPointKinds { INTEGRATION_STEPS = 0, TIME_STEPS = 1 };

  /**
   * Values of ReasonForTermination, those of vtkAsyncStreamTracer.
   */
  enum ReasonForTermination {
    ALIVE = 0,  ///< The particle has not ended.
    OUT_OF_DOMAIN = 1,
    UNEXPECTED_VALUE = 3,  ///< A velocity that is not finite.
    OUT_OF_STEPS = 5,
    STAGNATION = 6,   ///< The flow is too slow: see TerminalSpeed.
    OUT_OF_TIME = 7,  ///< The particle has reached TerminationTime.
    EVENT = 8         ///< See AddEvent().
  };

  ///@{
  /**
   * What the output consists of. PATHLINES: for each particle that has moved, a polyline from its
   * injection to the current time, or to where it ended, through the points that PathPoints
   * selects. STREAKLINES: for each seed, a polyline through its particles that are inside, at the
   * current time, from the newest one to the oldest; seeds with less than two have none. PARTICLES:
   * a vertex for each particle that is inside, at the current time. Default: PATHLINES.
   */
  vtkSetClampMacro(OutputKind, int, PATHLINES, PARTICLES);
  vtkGetMacro(OutputKind, int);
  ///@}

  ///@{
  /**
   * The points of pathlines. INTEGRATION_STEPS: those of all steps of the integrator. TIME_STEPS:
   * those at time steps of the input and at the current time only, as in vtkParticlePathFilter,
   * without the place where a particle ended in between. They have the same values and need less
   * time and memory. Default: INTEGRATION_STEPS.
   */
  vtkSetClampMacro(PathPoints, int, INTEGRATION_STEPS, TIME_STEPS);
  vtkGetMacro(PathPoints, int);
  ///@}

  ///@{
  /**
   * Whether all injections use the seeds of the first step. If false, they use those of the step of
   * the injection. Default: false.
   */
  vtkSetMacro(StaticSeeds, bool);
  vtkGetMacro(StaticSeeds, bool);
  vtkBooleanMacro(StaticSeeds, bool);
  ///@}

  ///@{
  /**
   * The number of steps of the input between two injections, at least 0. 0: particles are injected
   * only once. Default: 0.
   */
  vtkSetMacro(ForceReinjectionEveryNSteps, int);
  vtkGetMacro(ForceReinjectionEveryNSteps, int);
  ///@}

  ///@{
  /**
   * Particles are injected at steps whose time is not before InjectionStartTime and not after
   * InjectionEndTime. The first of these steps is that of the first injection. Default: -1e299 and
   * 1e299, no limits.
   */
  vtkSetMacro(InjectionStartTime, double);
  vtkGetMacro(InjectionStartTime, double);
  vtkSetMacro(InjectionEndTime, double);
  vtkGetMacro(InjectionEndTime, double);
  ///@}

  ///@{
  /**
   * The time at which all particles end, exactly. Particles that end there are still inside at this
   * time. 0 means no limit, as in vtkParticleTracerBase. Default: 0.
   */
  vtkSetMacro(TerminationTime, double);
  vtkGetMacro(TerminationTime, double);
  ///@}

  ///@{
  /**
   * A folder that all ranks can access, to which the filter writes checkpoints, each rank a part:
   * after every CheckpointInterval steps that were added, and replacing the last checkpoint when
   * the new one is complete. The folder is created if it does not exist. If empty, no checkpoints
   * are written. Default: empty.
   */
  vtkSetStdStringFromCharMacro(CheckpointDirectory);
  vtkGetCharFromStdStringMacro(CheckpointDirectory);
  ///@}

  ///@{
  /**
   * The number of steps between checkpoints, at least 1; see CheckpointDirectory. A checkpoint has
   * all points that the filter keeps. Default: 1.
   */
  vtkSetMacro(CheckpointInterval, int);
  vtkGetMacro(CheckpointInterval, int);
  ///@}

  ///@{
  /**
   * Whether the first execution continues from the checkpoint in CheckpointDirectory, if there is
   * one, on any number of ranks. The output is that of an uninterrupted run. Properties and time
   * steps must be the same; steps may have been appended. A simulation may restart at any step up
   * to that of the checkpoint: later steps of the checkpoint are dropped. Data of another time
   * between or after these steps are an error, because the filter needs the data of a step that it
   * continues from. Data of an earlier time begin with a first step. Default: false.
   */
  vtkSetMacro(Resume, bool);
  vtkGetMacro(Resume, bool);
  vtkBooleanMacro(Resume, bool);
  ///@}

 protected:
  vtkAsyncPathTracer();
  ~vtkAsyncPathTracer() override;

  int RequestUpdateExtent(vtkInformation* request, vtkInformationVector** inputVector,
                          vtkInformationVector* outputVector) override;
  void CheckProperties() override;
  void DescribeProperties(tributary::PropertyList& list) override;
  bool Execute(tributary::Transport& transport, vtkInformationVector** inputVector,
               vtkInformationVector* outputVector, tributary::RunStatistics& statistics) override;
  void ForgetExecution() override;
  const char* Failure() const override { return "No paths"; }

  int OutputKind = PATHLINES;
  int PathPoints = INTEGRATION_STEPS;
  bool StaticSeeds = false;
  int ForceReinjectionEveryNSteps = 0;
  double InjectionStartTime = -1e299;
  double InjectionEndTime = 1e299;
  double TerminationTime = 0.0;
  std::string CheckpointDirectory;
  int CheckpointInterval = 1;
  bool Resume = false;

 private:
  vtkAsyncPathTracer(const vtkAsyncPathTracer&) = delete;
  void operator=(const vtkAsyncPathTracer&) = delete;

  /// Local. The properties that determine the paths.
  void DescribePaths(tributary::PropertyList& list);
  bool KeepsSteps() const;
  /// Local.
  tributary::PathTracerSettings MakeSettings();

  std::unique_ptr<tributary::PathTracerState> State;
};

#endif
