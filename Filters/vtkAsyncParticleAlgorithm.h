// SPDX-License-Identifier: BSD-3-Clause
/**
 * @class   vtkAsyncParticleAlgorithm
 * @brief   Superclass of filters that trace particles through a vector field
 *
 * vtkAsyncParticleAlgorithm has the properties of the integration and of the blocks that all
 * tracing filters share. Port 0 is the data set with the velocity: see VelocityForm.
 *
 * @sa
 * vtkAsyncExchangeAlgorithm
 */

#ifndef vtkAsyncParticleAlgorithm_h
#define vtkAsyncParticleAlgorithm_h

#include "TributaryFiltersModule.h"  // For export macro
#include "vtkAsyncExchangeAlgorithm.h"

namespace tributary {
struct PeriodicSettings;
struct TraceSettings;
struct VelocityForm;
}  // namespace tributary

class TRIBUTARYFILTERS_EXPORT vtkAsyncParticleAlgorithm : public vtkAsyncExchangeAlgorithm {
 public:
  vtkAbstractTypeMacro(vtkAsyncParticleAlgorithm, vtkAsyncExchangeAlgorithm);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  enum Solvers { RUNGE_KUTTA2 = 0, RUNGE_KUTTA4 = 1, RUNGE_KUTTA45 = 2 };

  enum Units { LENGTH_UNIT = 1, CELL_LENGTH_UNIT = 2 };

  enum VelocityForms { VECTOR_ARRAY = 0, COMPONENTS = 1 };

  enum ComponentPositions { POINTS_OR_CELLS = 0, LOW_FACES = 1, HIGH_FACES = 2 };

  enum CoordinateSystems { CARTESIAN = 0, LONGITUDE_LATITUDE = 1 };

  ///@{
  /**
   * How the velocity is stored. VECTOR_ARRAY: in the array of 3 components that
   * SetInputArrayToProcess(0, ...) selects. COMPONENTS: in arrays of 1 component that
   * SetInputArrayToProcess(1, ...), (2, ...) and (3, ...) select by their names, all of points or
   * all of cells. The third component is 0 if no array, or one with the name "None", is selected.
   * The vectors are float if all components are, otherwise double. Lines carry the arrays of the
   * components as other arrays, and no array of vectors. Default: VECTOR_ARRAY.
   */
  vtkSetClampMacro(VelocityForm, int, VECTOR_ARRAY, COMPONENTS);
  vtkGetMacro(VelocityForm, int);
  ///@}

  ///@{
  /**
   * Where the values of COMPONENTS belong to. POINTS_OR_CELLS: to the points or cells of their
   * arrays. LOW_FACES and HIGH_FACES: staggered velocities of an Arakawa C grid. Arrays of cells
   * have the velocity through one face of each cell, that across the axis of the component at the
   * side of lower (MITgcm, MOM) or of higher (NEMO) indices. The face at the other side is that of
   * the next cell, on any rank. Beyond the last cell the grid is closed, with velocity 0, or
   * periodic. NaN counts as 0. In a cell each component is linear between its two faces and
   * constant along the other axes, which conserves mass. The input must be one uniform or
   * rectilinear grid. Default: POINTS_OR_CELLS.
   */
  vtkSetClampMacro(ComponentPosition, int, POINTS_OR_CELLS, HIGH_FACES);
  vtkGetMacro(ComponentPosition, int);
  ///@}

  ///@{
  /**
   * The coordinates. CARTESIAN: the velocity is the derivative of the coordinates by time.
   * LONGITUDE_LATITUDE: x and y are longitude and latitude in degrees. The first two components of
   * the velocity point to the east and to the north, in the unit of length of SphereRadius per
   * time. Longitudes change by u / (R cos(latitude)) radians per time and latitudes by v / R; the
   * third component is the derivative of z. The conversion is made at the points or, for cells, at
   * the middle of the latitudes of their points; between points, derivatives are interpolated.
   * Within 0.00006 degrees of a pole, longitudes do not change. All lengths, speeds and errors of
   * lines, the vorticity and derivatives of flow maps are those of coordinates in degrees. Velocity
   * at cells is not carried by lines. Default: CARTESIAN.
   */
  vtkSetClampMacro(Coordinates, int, CARTESIAN, LONGITUDE_LATITUDE);
  vtkGetMacro(Coordinates, int);
  ///@}

  ///@{
  /**
   * Radius of the sphere of LONGITUDE_LATITUDE, in the unit of length of the velocity. Must be
   * greater than 0. Default: 6371000, the mean radius of the Earth in meters.
   */
  vtkSetMacro(SphereRadius, double);
  vtkGetMacro(SphereRadius, double);
  ///@}

  ///@{
  /**
   * Integration method. RUNGE_KUTTA2 and RUNGE_KUTTA4 have steps of constant length,
   * InitialIntegrationStep. RUNGE_KUTTA45 adapts the length of each step to an estimate of its
   * error. Default: RUNGE_KUTTA45.
   */
  vtkSetClampMacro(IntegratorType, int, RUNGE_KUTTA2, RUNGE_KUTTA45);
  vtkGetMacro(IntegratorType, int);
  ///@}

  ///@{
  /**
   * Unit of the three step lengths: LENGTH_UNIT, the length unit of the input, or CELL_LENGTH_UNIT,
   * the diagonal of the bounding box of the cell in which the step begins. Default:
   * CELL_LENGTH_UNIT.
   */
  vtkSetClampMacro(IntegrationStepUnit, int, LENGTH_UNIT, CELL_LENGTH_UNIT);
  vtkGetMacro(IntegrationStepUnit, int);
  ///@}

  ///@{
  /**
   * Length of each step (RUNGE_KUTTA2 and RUNGE_KUTTA4) or of the first step (RUNGE_KUTTA45), in
   * IntegrationStepUnit. Must be greater than 0. Default: 0.2.
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
   * Maximum number of steps of a line; of a particle, between two steps of the input. In
   * [0, 2147483645]. As in vtkStreamTracer, a line ends after one step more than this number.
   * Memory depends on the number of steps computed, not on this limit. Default: 2000.
   */
  vtkSetMacro(MaximumNumberOfSteps, vtkIdType);
  vtkGetMacro(MaximumNumberOfSteps, vtkIdType);
  ///@}

  ///@{
  /**
   * Terminal speed, in the unit of the vectors. A line or particle ends where the speed is not
   * greater than this value. Must be at least 0. Default: see the filter.
   */
  vtkSetMacro(TerminalSpeed, double);
  vtkGetMacro(TerminalSpeed, double);
  ///@}

  ///@{
  /**
   * For each axis, 1 if the domain is periodic along it: a line or particle that leaves the domain
   * there enters it again on the opposite side, and a seed outside is traced from its image inside.
   * Positions are not wrapped, so lines are not split. Default: 0, 0, 0.
   */
  vtkSetVector3Macro(Periodic, int);
  vtkGetVector3Macro(Periodic, int);
  ///@}

  ///@{
  /**
   * The period along each axis, which counts where Periodic is 1, in the length unit of the input.
   * In a single uniform or rectilinear grid with point data it may be longer than the grid, by up
   * to twice the width of the widest cell: the first column of points then follows the last one at
   * this distance, and the cells between them are like any others. Other inputs must be as long as
   * their period. 0: the first of these that applies. For such a grid, 360 or 2 pi, if this is its
   * length, or its length and one cell. The length of the input, unless it is such a grid whose
   * last column of points has other vectors than the first one. 360, if the grid is shorter by less
   * than the width of a cell. Otherwise an error. The statistics have the result as PeriodX,
   * PeriodY and PeriodZ. Default: 0, 0, 0.
   */
  vtkSetVector3Macro(Period, double);
  vtkGetVector3Macro(Period, double);
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
   * Whether to keep the search structures of cells, and what was made of the cells that were
   * visited, for the next execution: see the filter. Nothing is kept with ReleaseDataFlag. The
   * result does not change. The value may differ between ranks. Default: true.
   */
  vtkSetMacro(KeepDomain, bool);
  vtkGetMacro(KeepDomain, bool);
  vtkBooleanMacro(KeepDomain, bool);
  ///@}

  ///@{
  /**
   * The memory in MiB that each rank may use for copies of blocks of other ranks, in [0, 1000000];
   * 0 switches lending off. A rank that has no lines to trace borrows some of another rank, with a
   * copy of the block in which they are, if this is expected to save time. The result does not
   * change. Blocks with cells that VTK evaluates (polyhedra, nonlinear cells) are not lent. Only
   * with the schedule ASYNCHRONOUS. Default: 512.
   */
  vtkSetMacro(LendingMemory, int);
  vtkGetMacro(LendingMemory, int);
  ///@}

 protected:
  /// @param terminalSpeed  the default of the filter
  explicit vtkAsyncParticleAlgorithm(double terminalSpeed);
  ~vtkAsyncParticleAlgorithm() override = default;

  int RequestUpdateExtent(vtkInformation* request, vtkInformationVector** inputVector,
                          vtkInformationVector* outputVector) override;
  void CheckProperties() override;
  /// Adds the properties of this class that determine the paths of particles. The other ones are
  /// BlocksPerRank, KeepDomain and LendingMemory.
  void DescribeProperties(tributary::PropertyList& list) override;

  /// Local. Adds the properties that determine the velocity.
  void DescribeVelocity(tributary::PropertyList& list);
  /// Local. The form of the velocity with the values of the properties.
  [[nodiscard]] tributary::VelocityForm MakeVelocityForm();
  /// Local. The settings of a run with the values of the properties.
  [[nodiscard]] tributary::TraceSettings MakeTraceSettings();
  /// Local. Periodic and Period.
  [[nodiscard]] tributary::PeriodicSettings MakePeriodicSettings() const;

  int VelocityForm = VECTOR_ARRAY;
  int ComponentPosition = POINTS_OR_CELLS;
  int Coordinates = CARTESIAN;
  double SphereRadius = 6371000;
  int IntegratorType = RUNGE_KUTTA45;
  int IntegrationStepUnit = CELL_LENGTH_UNIT;
  double InitialIntegrationStep = 0.2;
  double MinimumIntegrationStep = 0.01;
  double MaximumIntegrationStep = 0.5;
  double MaximumError = 1e-6;
  vtkIdType MaximumNumberOfSteps = 2000;
  double TerminalSpeed;
  int Periodic[3] = {0, 0, 0};
  double Period[3] = {0.0, 0.0, 0.0};
  int BlocksPerRank = 1;
  bool KeepDomain = true;
  int LendingMemory = 512;

 private:
  vtkAsyncParticleAlgorithm(const vtkAsyncParticleAlgorithm&) = delete;
  void operator=(const vtkAsyncParticleAlgorithm&) = delete;
};

#endif
