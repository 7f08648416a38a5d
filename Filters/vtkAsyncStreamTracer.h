// SPDX-License-Identifier: BSD-3-Clause
/**
 * @class   vtkAsyncStreamTracer
 * @brief   Streamlines in a distributed steady vector field, the same on any number of ranks
 *
 * vtkAsyncStreamTracer traces lines that follow a vector field, from every point of a second input,
 * with the flow, against it, or both. It does what vtkStreamTracer (and vtkPStreamTracer, its
 * distributed kin) does, with properties of the same names and meanings; what is different is how
 * it works on several ranks, and what follows from that.
 *
 * **Input.** Port 0: any vtkDataSet, or any composite of them (multiblock, partitioned, AMR),
 * distributed over the ranks in any way. All its blocks on all ranks are one domain: a line that
 * leaves a block goes on in the next one. The vectors are chosen with SetInputArrayToProcess(0,
 * ...), as point data (interpolated in a cell) or cell data (constant in a cell), three components;
 * by default they are the active ones, of points or else of cells, with one name in all blocks.
 * Blocks without them, and blocks of lower dimension than the highest there is, are left out, and
 * so are an AMR hierarchy's cells that a finer level covers. Ranks may be empty. Ghost cells are
 * neither needed nor asked for; where the input has them, they save messages. Port 1: the seeds,
 * the points of a vtkDataSet or composite, each rank giving its own share: a source that is the
 * same on all ranks must give its points on one of them only, as VTK's sources do when they are
 * asked for a piece.
 *
 * **Output.** One polyline for every seed and direction that has at least one step, ordered by
 * seed, forward before backward. With N seeds on P ranks, rank r has the lines of the seeds
 * r * N / P to (r + 1) * N / P - 1. Points are of type float.
 * - Point data: the input's point arrays, interpolated (where a block lacks an array that others
 *   have: NaN, or 0 for integers); the vectors, also if they belong to cells; IntegrationTime
 *   (double), the time since the seed, negative on the way back; with ComputeVorticity also
 *   Vorticity (double, 3), Rotation (double, radians), AngularVelocity (double) and Normals
 *   (double, 3; the active vectors). An array of the input with the name of one of these gives way
 *   to it; one that has not a tuple for each point is left out.
 * - Cell data: ReasonForTermination (int, see the enumeration) and SeedIds (int, as
 * vtkStreamTracer's; vtkIdType if the largest id of all ranks needs it). Ids are the seeds' global
 * point ids if the source has such; else the number of the point in the whole extent, for a
 * structured source; else points are counted rank by rank.
 * - Field data: that of the input; statistics (see vtkAsyncAlgorithm), of which the tracer's own
 * are Seeds, RejectedSeeds, Lines, LinePoints, PointsRecorded, Blocks and Handovers, and what
 * AutoTune adds; RejectedSeedIds on request.
 *
 * **The same bits.** Points, point data and cell data do not depend on the number of ranks, on how
 * the input is cut or on ghost cells, on BlocksPerRank, on threads, on the schedule or on the
 * timing of messages: a line that crosses ranks hands over the state of its integrator, within a
 * step too. (Ranks must be processors of one kind. SeedIds of a source without global ids or
 * extent follow the order of ranks, hence its cut. Field data is outside this promise.)
 *
 * **AutoTune** (see vtkAsyncExchangeAlgorithm) tries four times BlocksPerRank, too:
 * TunedBlocksPerRank. All seeds are traced with the defaults, the first steps of their lines with
 * the others, too, and where one of these seems to be faster all seeds with that one and with the
 * defaults again; all of it takes about five times as long as tracing them. The choice holds until
 * a property or the number of seeds changes; not when the input's values or time do. With fewer
 * than 100 seeds nothing is tried. ExpectedSeconds are those of TracingSeconds.
 *
 * **Collective**, see vtkAsyncAlgorithm; BlocksPerRank may differ between ranks too. It is looked
 * for an abort between groups of up to 2048 lines of a block.
 *
 * Work on the points of one rank is parallel through vtkSMPTools.
 *
 * **Cell-centered vectors.** The velocity is constant in each cell. For the vorticity, which would
 * be zero, the velocity is averaged to the points, over the cells of all ranks, and interpolated.
 *
 * **Not supported:** cells of 0 or 1 dimensions, hyper tree grids (in composite data sets they are
 * left out with a warning), vectors that vary in time, vtkStreamTracer's interpolator prototypes
 * and custom termination callbacks.
 *
 * @sa
 * vtkAsyncAlgorithm vtkStreamTracer vtkPStreamTracer vtkRibbonFilter
 */

#ifndef vtkAsyncStreamTracer_h
#define vtkAsyncStreamTracer_h

#include "TributaryFiltersModule.h"  // For export macro
#include "vtkAsyncExchangeAlgorithm.h"

#include <memory>  // For State

class vtkPolyData;
namespace tributary {
struct StreamTracerSettings;
struct StreamTracerState;
}  // namespace tributary

class TRIBUTARYFILTERS_EXPORT vtkAsyncStreamTracer : public vtkAsyncExchangeAlgorithm {
 public:
  static vtkAsyncStreamTracer* New();
  vtkTypeMacro(vtkAsyncStreamTracer, vtkAsyncExchangeAlgorithm);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  enum Directions { FORWARD = 0, BACKWARD = 1, BOTH = 2 };

  enum Solvers { RUNGE_KUTTA2 = 0, RUNGE_KUTTA4 = 1, RUNGE_KUTTA45 = 2 };

  enum Units { LENGTH_UNIT = 1, CELL_LENGTH_UNIT = 2 };

  /**
   * Values of ReasonForTermination; up to STAGNATION those of vtkStreamTracer.
   */
  enum ReasonForTermination {
    OUT_OF_DOMAIN = 1,
    NOT_INITIALIZED = 2,   ///< The seed lies in no cell; such a line is not output.
    UNEXPECTED_VALUE = 3,  ///< A velocity that is not finite.
    OUT_OF_LENGTH = 4,
    OUT_OF_STEPS = 5,
    STAGNATION = 6,
    OUT_OF_TIME = 7
  };

  ///@{
  /**
   * The lines.
   */
  vtkPolyData* GetOutput();
  vtkPolyData* GetOutput(int port);
  ///@}

  /**
   * The pipeline that makes the seeds: sets the connection of port 1.
   */
  void SetSourceConnection(vtkAlgorithmOutput* seeds);

  ///@{
  /**
   * Trace with the flow (FORWARD), against it (BACKWARD) or both (the default).
   */
  vtkSetClampMacro(IntegrationDirection, int, FORWARD, BOTH);
  vtkGetMacro(IntegrationDirection, int);
  ///@}

  ///@{
  /**
   * Whether, with the direction BOTH, the two halves become one line in the direction of the flow
   * with the seed inside; its ReasonForTermination is that of the forward half. Rotation is 0 at
   * the seed. Default: false.
   */
  vtkSetMacro(JoinDirections, bool);
  vtkGetMacro(JoinDirections, bool);
  vtkBooleanMacro(JoinDirections, bool);
  ///@}

  ///@{
  /**
   * RUNGE_KUTTA2 and RUNGE_KUTTA4 make steps of InitialIntegrationStep; RUNGE_KUTTA45 (the default)
   * chooses each step by its own estimate of the error.
   */
  vtkSetClampMacro(IntegratorType, int, RUNGE_KUTTA2, RUNGE_KUTTA45);
  vtkGetMacro(IntegratorType, int);
  ///@}

  ///@{
  /**
   * Unit of the three step lengths: LENGTH_UNIT, the input's own unit, or CELL_LENGTH_UNIT (the
   * default), the diagonal of the bounding box of the cell where the step begins.
   */
  vtkSetClampMacro(IntegrationStepUnit, int, LENGTH_UNIT, CELL_LENGTH_UNIT);
  vtkGetMacro(IntegrationStepUnit, int);
  ///@}

  ///@{
  /**
   * Length of every step (RUNGE_KUTTA2 and 4) or of the first one (RUNGE_KUTTA45), in
   * IntegrationStepUnit; above 0. Default: 0.2.
   */
  vtkSetMacro(InitialIntegrationStep, double);
  vtkGetMacro(InitialIntegrationStep, double);
  ///@}

  ///@{
  /**
   * Shortest step of RUNGE_KUTTA45, in IntegrationStepUnit, at most MaximumIntegrationStep; it is
   * taken whatever its error. 0: InitialIntegrationStep. Default: 0.01.
   */
  vtkSetMacro(MinimumIntegrationStep, double);
  vtkGetMacro(MinimumIntegrationStep, double);
  ///@}

  ///@{
  /**
   * Longest step of RUNGE_KUTTA45, in IntegrationStepUnit. 0: InitialIntegrationStep. Default: 0.5.
   */
  vtkSetMacro(MaximumIntegrationStep, double);
  vtkGetMacro(MaximumIntegrationStep, double);
  ///@}

  ///@{
  /**
   * Error in a step of RUNGE_KUTTA45, as a length, above which the step is made shorter; above 0.
   * Default: 1e-6.
   */
  vtkSetMacro(MaximumError, double);
  vtkGetMacro(MaximumError, double);
  ///@}

  ///@{
  /**
   * A line ends after this number of steps and one more, as with vtkStreamTracer; 0 to
   * 2,147,483,645. Memory grows with the steps made, not with this limit. Default: 2000.
   */
  vtkSetMacro(MaximumNumberOfSteps, vtkIdType);
  vtkGetMacro(MaximumNumberOfSteps, vtkIdType);
  ///@}

  ///@{
  /**
   * A line ends when it is this long, in the input's unit of length; above 0. Default: 1.
   */
  vtkSetMacro(MaximumPropagation, double);
  vtkGetMacro(MaximumPropagation, double);
  ///@}

  ///@{
  /**
   * A line ends when this time has passed since its seed, in the unit of length over that of the
   * vectors. 0: no limit. Default: 0.
   */
  vtkSetMacro(MaximumIntegrationTime, double);
  vtkGetMacro(MaximumIntegrationTime, double);
  ///@}

  ///@{
  /**
   * A line ends where the flow is not faster than this, in the unit of the vectors; at least 0.
   * Default: 1e-12.
   */
  vtkSetMacro(TerminalSpeed, double);
  vtkGetMacro(TerminalSpeed, double);
  ///@}

  ///@{
  /**
   * Whether to add Vorticity, AngularVelocity (its part along the flow), Rotation (that part
   * integrated from the seed) and Normals, as ribbons want them. Default: true.
   */
  vtkSetMacro(ComputeVorticity, bool);
  vtkGetMacro(ComputeVorticity, bool);
  vtkBooleanMacro(ComputeVorticity, bool);
  ///@}

  ///@{
  /**
   * A factor on AngularVelocity, hence on Rotation. Default: 1.
   */
  vtkSetMacro(RotationScale, double);
  vtkGetMacro(RotationScale, double);
  ///@}

  ///@{
  /**
   * Whether each new point is projected onto the surface cell it lies beside, so that lines stay on
   * a curved surface. The input must consist of 2-D cells. Default: false.
   */
  vtkSetMacro(SurfaceStreamlines, bool);
  vtkGetMacro(SurfaceStreamlines, bool);
  vtkBooleanMacro(SurfaceStreamlines, bool);
  ///@}

  ///@{
  /**
   * For each axis, 1 if the domain repeats along it with the length of its bounding box: a line
   * that leaves it there enters again on the opposite side. Points of lines are not wrapped, so
   * lines stay in one piece. Default: 0, 0, 0.
   */
  vtkSetVector3Macro(Periodic, int);
  vtkGetVector3Macro(Periodic, int);
  ///@}

  ///@{
  /**
   * Whether to add the field data array RejectedSeedIds: the ids of the seeds that lie in no cell,
   * ascending, all of them on every rank. Their number is always in the statistics. Default: false.
   */
  vtkSetMacro(ReportRejectedSeeds, bool);
  vtkGetMacro(ReportRejectedSeeds, bool);
  vtkBooleanMacro(ReportRejectedSeeds, bool);
  ///@}

  ///@{
  /**
   * Number of blocks into which a rank's data is cut, 1 to 1000000; a rank with more data sets has
   * as many blocks as data sets. It may differ between ranks. Default: 1.
   */
  vtkSetMacro(BlocksPerRank, int);
  vtkGetMacro(BlocksPerRank, int);
  ///@}

 protected:
  vtkAsyncStreamTracer();
  ~vtkAsyncStreamTracer() override;

  int FillOutputPortInformation(int port, vtkInformation* info) override;
  int RequestUpdateExtent(vtkInformation* request, vtkInformationVector** inputVector,
                          vtkInformationVector* outputVector) override;
  void CheckProperties() override;
  void DescribeProperties(tributary::PropertyList& list) override;
  bool Execute(tributary::Transport& transport, vtkInformationVector** inputVector,
               vtkInformationVector* outputVector, tributary::RunStatistics& statistics) override;
  const char* Failure() const override { return "No streamlines"; }

  int IntegrationDirection = BOTH;
  bool JoinDirections = false;
  int IntegratorType = RUNGE_KUTTA45;
  int IntegrationStepUnit = CELL_LENGTH_UNIT;
  double InitialIntegrationStep = 0.2;
  double MinimumIntegrationStep = 0.01;
  double MaximumIntegrationStep = 0.5;
  double MaximumError = 1e-6;
  vtkIdType MaximumNumberOfSteps = 2000;
  double MaximumPropagation = 1.0;
  double MaximumIntegrationTime = 0.0;
  double TerminalSpeed = 1e-12;
  bool ComputeVorticity = true;
  double RotationScale = 1.0;
  bool SurfaceStreamlines = false;
  int Periodic[3] = {0, 0, 0};
  bool ReportRejectedSeeds = false;
  int BlocksPerRank = 1;

 private:
  vtkAsyncStreamTracer(const vtkAsyncStreamTracer&) = delete;
  void operator=(const vtkAsyncStreamTracer&) = delete;

  tributary::StreamTracerSettings MakeSettings();

  std::unique_ptr<tributary::StreamTracerState> State;
};

#endif
