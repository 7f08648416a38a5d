// SPDX-License-Identifier: BSD-3-Clause
/**
 * @class   vtkAsyncConvectionDiffusion
 * @brief   Transport of a concentration by a flow, solved by asynchronous iterations
 *
 * vtkAsyncConvectionDiffusion solves du/dt + a . grad u - D laplace u + k u = s, or the
 * conservative form with div (a u), on a distributed grid: backward Euler in time (or the steady
 * state), upwind values at faces, and in each step asynchronous Schwarz iterations with
 * Gauss-Seidel sweeps: F. Magoulès, G. Gbikpi-Benissan, "JACK2: An MPI-based communication library
 * with non-blocking synchronization for asynchronous iterations", Advances in Engineering Software
 * 119, 2018, doi:10.1016/j.advengsoft.2018.01.009, Section 5.
 *
 * **Units** follow from the input: lengths are in units of its coordinates, times in the unit of
 * its velocity's denominator. D is a length squared per time, k is 1 per time, s is a concentration
 * per time. Concentrations may have any unit.
 *
 * **Input.** vtkImageData, vtkRectilinearGrid, or vtkStructuredGrid whose points lie on lines along
 * the axes; or a composite of these. All data sets must be pieces of one extent. The cells of a
 * rank, without ghost cells, must form a box; the decomposition is arbitrary otherwise. Ranks may
 * be empty. Ghost cells are allowed and not needed. The velocity is an array of cells or points
 * (see VelocityForm): at a face it is interpolated linearly between the cells, or is the mean of
 * the face's points. Hidden cells and cells with a hidden point (for example those that Resample To
 * Image marks as outside of a mesh) are walls. Along an axis with one layer of points nothing
 * varies. Optional input 1: see SOURCE_DATA.
 *
 * **Time.** The filter takes NumberOfSteps steps of TimeStep, or steps until EndTime, from the
 * first time of the input (0 if it has none). It announces the initial time and the ends of all
 * steps as its time steps. The velocity and the source of a step are those of the input at the end
 * of the step; an input with fewer than two time steps is taken as constant. A request for a later
 * time continues from the last step. A request for an earlier time, a changed property (except
 * Schedule) or a changed input restarts from the initial concentration.
 *
 * **Guarantees.** Each step ends with max |b - A u| at or below ResidualThreshold, computed from a
 * consistent snapshot of all ranks, for each schedule. If this is not reached within
 * IterationLimit, the filter reports an error and has no output. Bits depend on the number of ranks
 * and, with asynchronous iterations, on timing. Within the residual, the concentration has no
 * extrema except those of the last step, the sides, the source and the decay; with Conservative,
 * the total amount is conserved instead.
 *
 * **Output 0.** The input with the cell array Concentration. Field data: that of the input;
 * Residual; Iterations (of the rank with the most); CourantNumber (maximum over cells of step times
 * velocity over width, summed over axes) and Substeps of the last step; ConcentrationTotal (the sum
 * over cells of volume times concentration); and statistics (see vtkAsyncAlgorithm).
 *
 * **Output 1**, vtkTable, on rank 0: the convergence history of all steps so far, one row for each
 * norm that the iterations computed: Step, Time, Substep, Iterations (of rank 0, in this substep),
 * Seconds (since the start of this substep), Residual, and Verified: 1 for the residual of a
 * consistent snapshot, 0 for an estimate from residuals that ranks computed after their sweeps.
 *
 * **Collective**, see vtkAsyncAlgorithm. Sweeps are parallel through vtkSMPTools, see Slabs.
 *
 * @sa
 * vtkAsyncSolverAlgorithm
 */

#ifndef vtkAsyncConvectionDiffusion_h
#define vtkAsyncConvectionDiffusion_h

#include "TributaryFiltersModule.h"  // For export macro
#include "vtkAsyncSolverAlgorithm.h"

#include <memory>  // For State

namespace tributary {
struct ConvectionDiffusionSettings;
struct ConvectionDiffusionState;
struct VelocityForm;
}  // namespace tributary
class vtkAlgorithmOutput;

class TRIBUTARYFILTERS_EXPORT vtkAsyncConvectionDiffusion : public vtkAsyncSolverAlgorithm {
 public:
  static vtkAsyncConvectionDiffusion* New();
  vtkTypeMacro(vtkAsyncConvectionDiffusion, vtkAsyncSolverAlgorithm);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  enum VelocityForms { VECTOR_ARRAY = 0, COMPONENTS = 1 };

  enum ComponentPositions { POINTS_OR_CELLS = 0, LOW_FACES = 1, HIGH_FACES = 2 };

  enum SideConditions {
    OUTFLOW = 0,  ///< No diffusion through the side; outflow carries the concentration.
    VALUE = 1,    ///< A fixed concentration at the side.
    FLUX = 2,     ///< A fixed inflow per area and time, independent of the flow; 0: a wall.
    PERIODIC = 3  ///< The grid continues at the opposite side, which must be periodic as well.
  };

  enum SourceTypes {
    NO_SOURCE = 0,
    SOURCE_ARRAY = 1,  ///< The array that SetInputArrayToProcess(1, ...) chooses, times SourceRate.
    SOURCE_SPHERE = 2,  ///< SourceRate in the cells whose centers are in the sphere.
    SOURCE_BOX = 3,     ///< SourceRate in the cells whose centers are in the box.
    SOURCE_DATA = 4     ///< SourceRate in the cells that contain a point of input 1 of any rank.
  };

  enum Stops { NUMBER_OF_STEPS = 0, END_TIME = 1 };

  /// Optional input 1: a data set or composite data set whose points locate the source.
  void SetSourceConnection(vtkAlgorithmOutput* source);

  ///@{
  /**
   * How the velocity is stored. VECTOR_ARRAY: in the array of 3 components that
   * SetInputArrayToProcess(0, ...) selects. COMPONENTS: in arrays of 1 component that
   * SetInputArrayToProcess(3, ...), (4, ...) and (5, ...) select by their names, all of points or
   * all of cells. The third component is 0 if no array, or one with the name "None", is selected.
   * Default: VECTOR_ARRAY.
   */
  vtkSetClampMacro(VelocityForm, int, VECTOR_ARRAY, COMPONENTS);
  vtkGetMacro(VelocityForm, int);
  ///@}

  ///@{
  /**
   * Where the values of COMPONENTS belong to, as in vtkAsyncParticleAlgorithm. LOW_FACES and
   * HIGH_FACES: arrays of cells have the velocity through one face of each cell, as on an Arakawa C
   * grid; the grid is closed beyond the last cells, or periodic. Default: POINTS_OR_CELLS.
   */
  vtkSetClampMacro(ComponentPosition, int, POINTS_OR_CELLS, HIGH_FACES);
  vtkGetMacro(ComponentPosition, int);
  ///@}

  ///@{
  /**
   * Diffusivity D in length^2 / time, at least 0. Default: 0.
   */
  vtkSetMacro(Diffusivity, double);
  vtkGetMacro(Diffusivity, double);
  ///@}

  ///@{
  /**
   * Decay rate k in 1 / time, at least 0. Default: 0.
   */
  vtkSetMacro(Decay, double);
  vtkGetMacro(Decay, double);
  ///@}

  ///@{
  /**
   * Whether to solve the conservative form with div (a u), which conserves the total amount,
   * instead of the form with a . grad u, which creates no new extrema. They differ where the
   * divergence of the velocity is not 0. Default: false.
   */
  vtkSetMacro(Conservative, bool);
  vtkGetMacro(Conservative, bool);
  vtkBooleanMacro(Conservative, bool);
  ///@}

  ///@{
  /**
   * Boundary condition at a side of the whole grid: 0 is lower x, 1 upper x, 2 lower y, ..., 5
   * upper z. The value is a concentration (VALUE), or a concentration times length per time (FLUX).
   * Default: OUTFLOW with value 0.
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
   * Location of the source. Default: NO_SOURCE.
   */
  vtkSetClampMacro(SourceType, int, NO_SOURCE, SOURCE_DATA);
  vtkGetMacro(SourceType, int);
  ///@}

  ///@{
  /**
   * Rate of the source in concentration per time; for SOURCE_ARRAY, a factor of the array.
   * Default: 1.
   */
  vtkSetMacro(SourceRate, double);
  vtkGetMacro(SourceRate, double);
  ///@}

  ///@{
  /**
   * Center and radius of SOURCE_SPHERE. Default: the origin and 1.
   */
  vtkSetVector3Macro(SourceCenter, double);
  vtkGetVector3Macro(SourceCenter, double);
  vtkSetMacro(SourceRadius, double);
  vtkGetMacro(SourceRadius, double);
  ///@}

  ///@{
  /**
   * Bounds of SOURCE_BOX: xmin, xmax, ymin, ymax, zmin, zmax. Default: [0, 1] along each axis.
   */
  vtkSetVector6Macro(SourceBounds, double);
  vtkGetVector6Macro(SourceBounds, double);
  ///@}

  ///@{
  /**
   * Whether the initial concentration is the array at cells or points that
   * SetInputArrayToProcess(2, ...) chooses, instead of 0. Default: false.
   */
  vtkSetMacro(UseInitialConcentration, bool);
  vtkGetMacro(UseInitialConcentration, bool);
  vtkBooleanMacro(UseInitialConcentration, bool);
  ///@}

  ///@{
  /**
   * Whether to solve for the steady state of the input at each time instead of taking time steps.
   * Default: false.
   */
  vtkSetMacro(SteadyState, bool);
  vtkGetMacro(SteadyState, bool);
  vtkBooleanMacro(SteadyState, bool);
  ///@}

  ///@{
  /**
   * Length of a time step, at least 1e-300. Default: 0.1.
   */
  vtkSetMacro(TimeStep, double);
  vtkGetMacro(TimeStep, double);
  ///@}

  ///@{
  /**
   * If greater than 0, each step is divided into equal substeps whose Courant number is at most
   * this value. Backward Euler is stable without a limit; smaller steps are more accurate. 0: no
   * limit. Default: 0.
   */
  vtkSetMacro(MaximumCourantNumber, double);
  vtkGetMacro(MaximumCourantNumber, double);
  ///@}

  ///@{
  /**
   * Whether NumberOfSteps or EndTime ends the time steps. Default: NUMBER_OF_STEPS.
   */
  vtkSetClampMacro(StopAt, int, NUMBER_OF_STEPS, END_TIME);
  vtkGetMacro(StopAt, int);
  ///@}

  ///@{
  /**
   * Number of time steps with NUMBER_OF_STEPS, in [1, 1000000]. Default: 10.
   */
  vtkSetMacro(NumberOfSteps, int);
  vtkGetMacro(NumberOfSteps, int);
  ///@}

  ///@{
  /**
   * End of the last step with END_TIME, after the initial time. The last step may be shorter than
   * TimeStep. Default: 1.
   */
  vtkSetMacro(EndTime, double);
  vtkGetMacro(EndTime, double);
  ///@}

  ///@{
  /**
   * The iterations of a step end when the largest residual of a cell, max |b - A u| in
   * concentration per time, is at or below this value; greater than 0. Default: 1e-6.
   */
  vtkSetMacro(ResidualThreshold, double);
  vtkGetMacro(ResidualThreshold, double);
  ///@}

  ///@{
  /**
   * Number of parts of a rank's cells that threads sweep in parallel, each with the others' values
   * from before the sweep. 0: the number of threads of vtkSMPTools. Default: 0.
   */
  vtkSetMacro(Slabs, int);
  vtkGetMacro(Slabs, int);
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
  const char* Failure() const override { return "No concentration"; }

 private:
  vtkAsyncConvectionDiffusion(const vtkAsyncConvectionDiffusion&) = delete;
  void operator=(const vtkAsyncConvectionDiffusion&) = delete;

  /// Adds the properties whose change restarts the steps.
  void DescribeEquation(tributary::PropertyList& list);
  tributary::VelocityForm MakeVelocityForm();
  tributary::ConvectionDiffusionSettings MakeSettings();

  int VelocityForm = VECTOR_ARRAY;
  int ComponentPosition = POINTS_OR_CELLS;
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
  int Slabs = 0;
  std::unique_ptr<tributary::ConvectionDiffusionState> State;
};

#endif
