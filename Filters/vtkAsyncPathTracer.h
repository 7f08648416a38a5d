// SPDX-License-Identifier: BSD-3-Clause
/**
 * @class   vtkAsyncPathTracer
 * @brief   Pathlines, streaklines and particles of a distributed unsteady vector field, independent
 * of the number of ranks
 *
 * vtkAsyncPathTracer follows particles through a vector field that varies in time. It corresponds
 * to vtkPParticleTracer, vtkPParticlePathFilter and vtkPStreaklineFilter; properties with the same
 * meaning have the same names. Unlike these, it processes the data of all ranks as one domain, and
 * its particles are the same on any number of ranks.
 *
 * **Input.** Port 0: as for vtkAsyncStreamTracer, with time steps. Between two steps, vectors and
 * point arrays are linear in time. The types of the vectors may differ between steps. The mesh and
 * its distribution must not change: the filter compares consecutive steps, and reports an error if
 * the cells or points of a data set differ. A point array that a block has at only one of two
 * consecutive steps is omitted with a warning.
 *
 * Port 1: the seeds, as for vtkAsyncStreamTracer. They may vary in time, see StaticSeeds.
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
 *   ParticleId of pathlines, InjectedPointId of streaklines.
 * - Field data: statistics (see vtkAsyncAlgorithm). Since the first step: Injections, Injected (the
 *   particles), OutsideSeeds (in no cell), StepsAdded and HistoryBytes (the memory of the points
 *   that are kept). At the time of the output: Particles (inside) and OutputPoints. Of this
 * request: Intervals (that were traced), DomainBytes (the most memory of a domain, beyond the
 * input), PointsRecorded, Handovers, Loans, and those of the exchange and of AutoTune.
 *
 * **Bitwise reproducibility.** As that of vtkAsyncStreamTracer. Also, the output at a step does not
 * depend on the times requested before.
 *
 * **AutoTune** (see vtkAsyncExchangeAlgorithm) tries settings in the first interval after a
 * restart, and keeps the choice. Nothing is tried with fewer than 100 particles.
 *
 * **Collective**, see vtkAsyncAlgorithm. BlocksPerRank and KeepDomain may also differ between
 * ranks.
 *
 * **Not supported:** meshes that change; cells of dimension 0 or 1; hyper tree grids (those in
 * composite data sets are ignored with a warning); backward integration; periodic domains and
 * surfaces.
 *
 * @sa
 * vtkAsyncAlgorithm vtkAsyncStreamTracer vtkPParticleTracer vtkPParticlePathFilter
 * vtkPStreaklineFilter
 */

#ifndef vtkAsyncPathTracer_h
#define vtkAsyncPathTracer_h

#include "TributaryFiltersModule.h"  // For export macro
#include "vtkAsyncExchangeAlgorithm.h"

#include <memory>  // For State
#include <set>     // For PointArrays
#include <string>  // For PointArrays
#include <vector>  // For InputTimes

class vtkPolyData;
namespace tributary {
struct PathTracerSettings;
struct PathTracerState;
}  // namespace tributary

class TRIBUTARYFILTERS_EXPORT vtkAsyncPathTracer : public vtkAsyncExchangeAlgorithm {
 public:
  static vtkAsyncPathTracer* New();
  vtkTypeMacro(vtkAsyncPathTracer, vtkAsyncExchangeAlgorithm);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  enum OutputKinds { PATHLINES = 0, STREAKLINES = 1, PARTICLES = 2 };

  enum Solvers { RUNGE_KUTTA2 = 0, RUNGE_KUTTA4 = 1, RUNGE_KUTTA45 = 2 };

  enum Units { LENGTH_UNIT = 1, CELL_LENGTH_UNIT = 2 };

  /**
   * Values of ReasonForTermination, those of vtkAsyncStreamTracer.
   */
  enum ReasonForTermination {
    ALIVE = 0,  ///< The particle has not ended.
    OUT_OF_DOMAIN = 1,
    UNEXPECTED_VALUE = 3,  ///< A velocity that is not finite.
    OUT_OF_STEPS = 5,
    STAGNATION = 6,  ///< The flow is too slow: see TerminalSpeed.
    OUT_OF_TIME = 7  ///< The particle has reached TerminationTime.
  };

  ///@{
  /**
   * The particles or lines of this rank.
   */
  vtkPolyData* GetOutput();
  vtkPolyData* GetOutput(int port);
  ///@}

  /**
   * Sets the connection of port 1, the pipeline that produces the seeds.
   */
  void SetSourceConnection(vtkAlgorithmOutput* seeds);

  ///@{
  /**
   * What the output consists of. PATHLINES: for each particle that has moved, a polyline from its
   * injection to the current time, or to where it ended, through the points of all steps of the
   * integrator. STREAKLINES: for each seed, a polyline through its particles that are inside, at
   * the current time, from the newest one to the oldest; seeds with less than two have none.
   * PARTICLES: a vertex for each particle that is inside, at the current time. Default: PATHLINES.
   */
  vtkSetClampMacro(OutputKind, int, PATHLINES, PARTICLES);
  vtkGetMacro(OutputKind, int);
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
   * Integration method. RUNGE_KUTTA2 and RUNGE_KUTTA4 have steps of constant length,
   * InitialIntegrationStep, but for the last one in an interval. RUNGE_KUTTA45 adapts the length of
   * each step to an estimate of its error. Default: RUNGE_KUTTA45.
   */
  vtkSetClampMacro(IntegratorType, int, RUNGE_KUTTA2, RUNGE_KUTTA45);
  vtkGetMacro(IntegratorType, int);
  ///@}

  ///@{
  /**
   * Unit of the three step lengths: LENGTH_UNIT, the length unit of the input, or CELL_LENGTH_UNIT,
   * the diagonal of the bounding box of the cell in which the step begins. Steps are taken in time:
   * lengths are divided by the speed where the step begins. Default: CELL_LENGTH_UNIT.
   */
  vtkSetClampMacro(IntegrationStepUnit, int, LENGTH_UNIT, CELL_LENGTH_UNIT);
  vtkGetMacro(IntegrationStepUnit, int);
  ///@}

  ///@{
  /**
   * Length of each step (RUNGE_KUTTA2 and RUNGE_KUTTA4) or of the first step of an interval
   * (RUNGE_KUTTA45), in IntegrationStepUnit. Must be greater than 0. Default: 0.2.
   */
  vtkSetMacro(InitialIntegrationStep, double);
  vtkGetMacro(InitialIntegrationStep, double);
  ///@}

  ///@{
  /**
   * Minimum step length of RUNGE_KUTTA45, in IntegrationStepUnit; not greater than
   * MaximumIntegrationStep. A step of this length is accepted regardless of its error. 0 selects
   * InitialIntegrationStep. Default: 0.01.
   */
  vtkSetMacro(MinimumIntegrationStep, double);
  vtkGetMacro(MinimumIntegrationStep, double);
  ///@}

  ///@{
  /**
   * Maximum step length of RUNGE_KUTTA45, in IntegrationStepUnit. 0 selects InitialIntegrationStep.
   * Default: 0.5.
   */
  vtkSetMacro(MaximumIntegrationStep, double);
  vtkGetMacro(MaximumIntegrationStep, double);
  ///@}

  ///@{
  /**
   * Maximum error of a step of RUNGE_KUTTA45, as a length. A step with a larger error is shortened.
   * Must be greater than 0. Default: 1e-6.
   */
  vtkSetMacro(MaximumError, double);
  vtkGetMacro(MaximumError, double);
  ///@}

  ///@{
  /**
   * Maximum number of steps of a particle between two steps of the input, in [0, 2147483645]. A
   * particle ends after one step more than this number. Default: 2000.
   */
  vtkSetMacro(MaximumNumberOfSteps, vtkIdType);
  vtkGetMacro(MaximumNumberOfSteps, vtkIdType);
  ///@}

  ///@{
  /**
   * Terminal speed, in the unit of the vectors. A particle ends where the speed is not greater than
   * this value, if it is greater than 0. Must be at least 0. 0: particles do not end, because one
   * that is at rest may move later. Default: 0.
   */
  vtkSetMacro(TerminalSpeed, double);
  vtkGetMacro(TerminalSpeed, double);
  ///@}

  ///@{
  /**
   * Whether to add the arrays Vorticity, AngularVelocity (the component of the vorticity along the
   * flow) and Rotation (AngularVelocity integrated from the injection). Default: true.
   */
  vtkSetMacro(ComputeVorticity, bool);
  vtkGetMacro(ComputeVorticity, bool);
  vtkBooleanMacro(ComputeVorticity, bool);
  ///@}

  ///@{
  /**
   * Factor applied to AngularVelocity, and so to Rotation. Default: 1.
   */
  vtkSetMacro(RotationScale, double);
  vtkGetMacro(RotationScale, double);
  ///@}

  ///@{
  /**
   * The names of the point arrays that particles carry, in any order, beside point-centered vectors
   * and the arrays that the filter computes. A name that the input lacks causes a warning. Fewer
   * arrays save time and memory. Default: none, all arrays.
   */
  void AddPointArray(const char* name);
  void ClearPointArrays();
  ///@}

  ///@{
  /**
   * Number of blocks into which the data of a rank is divided, in [1, 1000000]. A rank with more
   * data sets than this number has one block per data set. The value may differ between ranks.
   * Default: 1.
   */
  vtkSetMacro(BlocksPerRank, int);
  vtkGetMacro(BlocksPerRank, int);
  ///@}

  ///@{
  /**
   * Whether to keep the search structures of cells that are not in grids along the axes after an
   * execution. They are used for all intervals of a request in any case. The result does not
   * change. The value may differ between ranks. Default: true.
   */
  vtkSetMacro(KeepDomain, bool);
  vtkGetMacro(KeepDomain, bool);
  vtkBooleanMacro(KeepDomain, bool);
  ///@}

  ///@{
  /**
   * The memory in MiB that each rank may use for copies of blocks of other ranks, in [0, 1000000];
   * 0 switches lending off. See vtkAsyncStreamTracer. The result does not change. Default: 512.
   */
  vtkSetMacro(LendingMemory, int);
  vtkGetMacro(LendingMemory, int);
  ///@}

 protected:
  vtkAsyncPathTracer();
  ~vtkAsyncPathTracer() override;

  int FillOutputPortInformation(int port, vtkInformation* info) override;
  int RequestUpdateExtent(vtkInformation* request, vtkInformationVector** inputVector,
                          vtkInformationVector* outputVector) override;
  void CheckProperties() override;
  void DescribeProperties(tributary::PropertyList& list) override;
  bool Execute(tributary::Transport& transport, vtkInformationVector** inputVector,
               vtkInformationVector* outputVector, tributary::RunStatistics& statistics) override;
  void ForgetExecution() override;
  const char* Failure() const override { return "No paths"; }

  int OutputKind = PATHLINES;
  bool StaticSeeds = false;
  int ForceReinjectionEveryNSteps = 0;
  double InjectionStartTime = -1e299;
  double InjectionEndTime = 1e299;
  double TerminationTime = 0.0;
  int IntegratorType = RUNGE_KUTTA45;
  int IntegrationStepUnit = CELL_LENGTH_UNIT;
  double InitialIntegrationStep = 0.2;
  double MinimumIntegrationStep = 0.01;
  double MaximumIntegrationStep = 0.5;
  double MaximumError = 1e-6;
  vtkIdType MaximumNumberOfSteps = 2000;
  double TerminalSpeed = 0.0;
  bool ComputeVorticity = true;
  double RotationScale = 1.0;
  int BlocksPerRank = 1;
  bool KeepDomain = true;
  int LendingMemory = 512;

 private:
  vtkAsyncPathTracer(const vtkAsyncPathTracer&) = delete;
  void operator=(const vtkAsyncPathTracer&) = delete;

  /// Local. The properties that determine the paths.
  void DescribePaths(tributary::PropertyList& list);
  /// Local. When each input's pipeline was last modified.
  std::vector<vtkMTimeType> InputTimes();
  /// Local.
  tributary::PathTracerSettings MakeSettings();

  std::set<std::string> PointArrays;
  std::unique_ptr<tributary::PathTracerState> State;
};

#endif
