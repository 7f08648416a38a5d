// SPDX-License-Identifier: BSD-3-Clause
/**
 * @class   vtkAsyncConvectionDiffusion
 * @brief   A concentration carried by a flow, by iterations in which no rank waits for another
 *
 * vtkAsyncConvectionDiffusion solves du/dt + a . grad u - D laplace u + k u = s, or with div (a u)
 * for a . grad u, on a grid that is distributed over the ranks: backward Euler in time (or the
 * steady state), upwind values at faces, and in each step asynchronous Schwarz iterations with
 * Gauss-Seidel inside (F. Magoules, G. Gbikpi-Benissan, "JACK2: An MPI-based communication library
 * with non-blocking synchronization for asynchronous iterations", Advances in Engineering Software
 * 119, 2018).
 *
 * **Units** are those of the input: a length is what its coordinates are in, a time what its
 * velocity is per. D is a length squared per time, k one per time, s a concentration per time;
 * concentrations are in any unit.
 *
 * **Input.** vtkImageData, vtkRectilinearGrid, or vtkStructuredGrid whose points lie on lines along
 * the axes; or a composite of these. All are pieces of one extent, cut in any way, but that those
 * of a rank, ghost cells left out, are together a box; ranks may be empty, ghost cells may be there
 * and are not needed. Concentrations belong to cells. SetInputArrayToProcess(0, ...) chooses the
 * velocity, of cells or points: at a face it is interpolated linearly between the cells, or the
 * mean of the face's points. Hidden cells, and cells with a hidden point (as Resample To Image
 * marks what is outside of a mesh), are walls. Along an axis in which there is no cell nothing
 * changes. Optional input 1: see SOURCE_DATA.
 *
 * **Time.** There are NumberOfSteps steps of TimeStep, or steps of that length until EndTime, from
 * the first time of the input on (0 if it has none); the output announces their ends as its time
 * steps, and the beginning. The velocity and the source of a step are those of the input at its
 * end; an input with less than two time steps is taken as constant. Going on to a later time goes
 * on with the concentration there is; going back, a changed property (but Schedule) and a changed
 * input begin again.
 *
 * **What is promised.** Each step ends with max |b - A u| at or below ResidualThreshold, computed
 * from a consistent snapshot of all ranks, whatever the schedule; if it does not get there within
 * IterationLimit that is an error, and there is no output. Bits depend on the number of ranks and,
 * with asynchronous iterations, on timing. Concentrations have no maximum or minimum that neither
 * the last step, nor sides, sources and decay make (within the residual); with Conservative their
 * sum is kept instead.
 *
 * **Output 0.** The input with the cell array Concentration. Field data: that of the input,
 * Residual, Iterations (of the rank with most), CourantNumber (the largest of a cell: step times
 * velocity over width, added up over axes) and Substeps of the last step, ConcentrationTotal (the
 * sum over cells of volume times concentration) and statistics (see vtkAsyncAlgorithm).
 *
 * **Output 1**, vtkTable, on rank 0: the convergence history, a row for each norm that the
 * iterations came to know, of all steps so far: Step, Time, Substep, Iterations (of rank 0 in this
 * substep, until then), Seconds (since this substep began), Residual, and Verified: 1 if it is the
 * residual of all cells at one moment, 0 if it is put together from what ranks saw after their
 * sweeps (synchronous iterations look at those first).
 *
 * **Collective**, see vtkAsyncAlgorithm. Schedule: ASYNCHRONOUS, or SYNCHRONOUS, which waits for
 * neighbors in each iteration; NEIGHBORHOOD is the same as that. Arrivals, Detector, BatchBytes,
 * HoldTime and StallTimeout have no effect. Sweeps are parallel through vtkSMPTools, see Slabs.
 *
 * @sa
 * vtkAsyncAlgorithm
 */

#ifndef vtkAsyncConvectionDiffusion_h
#define vtkAsyncConvectionDiffusion_h

#include "TributaryFiltersModule.h"  // For export macro
#include "vtkAsyncAlgorithm.h"

#include <memory>  // For State

namespace tributary {
struct ConvectionDiffusionSettings;
struct ConvectionDiffusionState;
}  // namespace tributary
class vtkAlgorithmOutput;

class TRIBUTARYFILTERS_EXPORT vtkAsyncConvectionDiffusion : public vtkAsyncAlgorithm {
 public:
  static vtkAsyncConvectionDiffusion* New();
  vtkTypeMacro(vtkAsyncConvectionDiffusion, vtkAsyncAlgorithm);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  enum SideConditions {
    OUTFLOW = 0,  ///< Nothing diffuses through; what flows out takes the concentration along.
    VALUE = 1,    ///< The concentration at the side.
    FLUX = 2,     ///< What enters per area and time, whatever the flow does; 0: a wall.
    PERIODIC = 3  ///< The grid goes on at the opposite side, which must be periodic, too.
  };

  enum SourceTypes {
    NO_SOURCE = 0,
    SOURCE_ARRAY = 1,  ///< The array that SetInputArrayToProcess(1, ...) chooses, times SourceRate.
    SOURCE_SPHERE = 2,  ///< SourceRate in the cells with their center within the sphere.
    SOURCE_BOX = 3,     ///< SourceRate in the cells with their center within the box.
    SOURCE_DATA = 4     ///< SourceRate in the cells with a point of input 1, of any rank.
  };

  enum Stops { NUMBER_OF_STEPS = 0, END_TIME = 1 };

  enum ConvergenceDetections { SNAPSHOTS = 0, SUPERVISED = 1 };

  /// Optional input 1: a data set, or composite of such, whose points say where the source is.
  void SetSourceConnection(vtkAlgorithmOutput* source);

  ///@{
  /**
   * D, in length^2 / time; at least 0. Default: 0.
   */
  vtkSetMacro(Diffusivity, double);
  vtkGetMacro(Diffusivity, double);
  ///@}

  ///@{
  /**
   * k, in 1 / time; at least 0. Default: 0.
   */
  vtkSetMacro(Decay, double);
  vtkGetMacro(Decay, double);
  ///@}

  ///@{
  /**
   * Whether to solve with div (a u), which keeps the sum of what is there exactly, instead of
   * a . grad u, which makes no new extrema. They differ where the divergence of the velocity is not
   * 0. Default: false.
   */
  vtkSetMacro(Conservative, bool);
  vtkGetMacro(Conservative, bool);
  vtkBooleanMacro(Conservative, bool);
  ///@}

  ///@{
  /**
   * What holds at a side of the whole grid: 0 lower x, 1 upper x, 2 lower y ... 5 upper z. The
   * value is a concentration (VALUE), or a concentration times length per time (FLUX). Default:
   * OUTFLOW, 0.
   */
  void SetSideCondition(int side, int condition);
  int GetSideCondition(int side) const;
  void SetSideValue(int side, double value);
  double GetSideValue(int side) const;
  void SetXMinCondition(int condition) { this->SetSideCondition(0, condition); }
  void SetXMaxCondition(int condition) { this->SetSideCondition(1, condition); }
  void SetYMinCondition(int condition) { this->SetSideCondition(2, condition); }
  void SetYMaxCondition(int condition) { this->SetSideCondition(3, condition); }
  void SetZMinCondition(int condition) { this->SetSideCondition(4, condition); }
  void SetZMaxCondition(int condition) { this->SetSideCondition(5, condition); }
  void SetXMinValue(double value) { this->SetSideValue(0, value); }
  void SetXMaxValue(double value) { this->SetSideValue(1, value); }
  void SetYMinValue(double value) { this->SetSideValue(2, value); }
  void SetYMaxValue(double value) { this->SetSideValue(3, value); }
  void SetZMinValue(double value) { this->SetSideValue(4, value); }
  void SetZMaxValue(double value) { this->SetSideValue(5, value); }
  ///@}

  ///@{
  /**
   * Where the source is. Default: NO_SOURCE.
   */
  vtkSetClampMacro(SourceType, int, NO_SOURCE, SOURCE_DATA);
  vtkGetMacro(SourceType, int);
  ///@}

  ///@{
  /**
   * What the source adds, in concentration per time, or a factor of its array. Default: 1.
   */
  vtkSetMacro(SourceRate, double);
  vtkGetMacro(SourceRate, double);
  ///@}

  ///@{
  /**
   * Of SOURCE_SPHERE. Default: around the origin, with a radius of 1.
   */
  vtkSetVector3Macro(SourceCenter, double);
  vtkGetVector3Macro(SourceCenter, double);
  vtkSetMacro(SourceRadius, double);
  vtkGetMacro(SourceRadius, double);
  ///@}

  ///@{
  /**
   * Of SOURCE_BOX: xmin, xmax, ymin, ymax, zmin, zmax. Default: 0 to 1.
   */
  vtkSetVector6Macro(SourceBounds, double);
  vtkGetVector6Macro(SourceBounds, double);
  ///@}

  ///@{
  /**
   * Whether the concentration begins with the array that SetInputArrayToProcess(2, ...) chooses, of
   * cells or points, instead of 0. Default: false.
   */
  vtkSetMacro(UseInitialConcentration, bool);
  vtkGetMacro(UseInitialConcentration, bool);
  vtkBooleanMacro(UseInitialConcentration, bool);
  ///@}

  ///@{
  /**
   * Whether to solve for the steady state of the input at each time, without steps. Default: false.
   */
  vtkSetMacro(SteadyState, bool);
  vtkGetMacro(SteadyState, bool);
  vtkBooleanMacro(SteadyState, bool);
  ///@}

  ///@{
  /**
   * Length of a step, more than 0. Default: 0.1.
   */
  vtkSetMacro(TimeStep, double);
  vtkGetMacro(TimeStep, double);
  ///@}

  ///@{
  /**
   * If more than 0: each step is taken in so many equal parts (Substeps) that in none of them the
   * flow goes further than so many cells. Backward Euler needs no limit; smaller steps are more
   * accurate. 0: no limit. Default: 0.
   */
  vtkSetMacro(MaximumCourantNumber, double);
  vtkGetMacro(MaximumCourantNumber, double);
  ///@}

  ///@{
  /**
   * What ends the steps. Default: NUMBER_OF_STEPS.
   */
  vtkSetClampMacro(StopAt, int, NUMBER_OF_STEPS, END_TIME);
  vtkGetMacro(StopAt, int);
  ///@}

  ///@{
  /**
   * With NUMBER_OF_STEPS, at least 1. Default: 10.
   */
  vtkSetMacro(NumberOfSteps, int);
  vtkGetMacro(NumberOfSteps, int);
  ///@}

  ///@{
  /**
   * With END_TIME, a time after the beginning, at which the last step ends, which may be shorter.
   * Default: 1.
   */
  vtkSetMacro(EndTime, double);
  vtkGetMacro(EndTime, double);
  ///@}

  ///@{
  /**
   * Iterations go on until the largest residual of a cell, max |b - A u| in concentration per time,
   * is at or below this; more than 0. Default: 1e-6.
   */
  vtkSetMacro(ResidualThreshold, double);
  vtkGetMacro(ResidualThreshold, double);
  ///@}

  ///@{
  /**
   * When a rank has iterated so often in a step (or a part of it) and the residual is still too
   * large, that is an error; at least 1. A rank of few cells that waits for a busy one iterates a
   * million times in seconds. Default: 10000000.
   */
  vtkSetMacro(IterationLimit, int);
  vtkGetMacro(IterationLimit, int);
  ///@}

  ///@{
  /**
   * Gauss-Seidel sweeps over a rank's cells in an iteration, before neighbors get their values; at
   * least
   * 1. Default: 2.
   */
  vtkSetMacro(SweepsPerExchange, int);
  vtkGetMacro(SweepsPerExchange, int);
  ///@}

  ///@{
  /**
   * Parts of a rank's cells that threads sweep at once, each with the others' values of before the
   * sweep. 0: as many as vtkSMPTools has threads. Default: 0.
   */
  vtkSetMacro(Slabs, int);
  vtkGetMacro(Slabs, int);
  ///@}

  ///@{
  /**
   * How asynchronous iterations find out that they may stop: by the residuals of snapshots, one
   * after the other (SNAPSHOTS), or of a snapshot when all ranks have seen their own residuals
   * small (SUPERVISED). Default: SNAPSHOTS.
   */
  vtkSetClampMacro(ConvergenceDetection, int, SNAPSHOTS, SUPERVISED);
  vtkGetMacro(ConvergenceDetection, int);
  ///@}

 protected:
  vtkAsyncConvectionDiffusion();
  ~vtkAsyncConvectionDiffusion() override;

  int FillInputPortInformation(int port, vtkInformation* info) override;
  int FillOutputPortInformation(int port, vtkInformation* info) override;
  int RequestInformation(vtkInformation*, vtkInformationVector** inputVector,
                         vtkInformationVector* outputVector) override;
  int RequestUpdateExtent(vtkInformation*, vtkInformationVector** inputVector,
                          vtkInformationVector* outputVector) override;
  void CheckProperties() override;
  void DescribeProperties(tributary::PropertyList& list) override;
  bool Execute(tributary::Transport& transport, vtkInformationVector** inputVector,
               vtkInformationVector* outputVector, tributary::RunStatistics& statistics) override;
  const char* Failure() const override { return "no concentration"; }

 private:
  vtkAsyncConvectionDiffusion(const vtkAsyncConvectionDiffusion&) = delete;
  void operator=(const vtkAsyncConvectionDiffusion&) = delete;

  /// Adds the properties whose change restarts the steps.
  void DescribeEquation(tributary::PropertyList& list);
  tributary::ConvectionDiffusionSettings MakeSettings();

  double Diffusivity = 0;
  double Decay = 0;
  bool Conservative = false;
  int SideConditions[6] = {OUTFLOW, OUTFLOW, OUTFLOW, OUTFLOW, OUTFLOW, OUTFLOW};
  double SideValues[6] = {0, 0, 0, 0, 0, 0};
  int SourceType = NO_SOURCE;
  double SourceRate = 1;
  double SourceCenter[3] = {0, 0, 0};
  double SourceRadius = 1;
  double SourceBounds[6] = {0, 1, 0, 1, 0, 1};
  bool UseInitialConcentration = false;
  bool SteadyState = false;
  double TimeStep = 0.1;
  double MaximumCourantNumber = 0;
  int StopAt = NUMBER_OF_STEPS;
  int NumberOfSteps = 10;
  double EndTime = 1;
  double ResidualThreshold = 1e-6;
  int IterationLimit = 10000000;
  int SweepsPerExchange = 2;
  int Slabs = 0;
  int ConvergenceDetection = SNAPSHOTS;
  std::unique_ptr<tributary::ConvectionDiffusionState> State;
};

#endif
