// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vtkType.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "Common/PropertyList.h"
#include "Common/RunContext.h"
#include "Grids/GridCells.h"
#include "Grids/GridSites.h"
#include "Grids/SolverSettings.h"
#include "Velocity/VelocityForm.h"

#include "Tributary/Iteration/Iteration.h"
#include "Tributary/Relaxation/CellGrid.h"
#include "Tributary/Relaxation/ConvectionDiffusionSolver.h"
#include "Tributary/Relaxation/FaceFlow.h"

class vtkDataObject;
class vtkTable;

namespace tributary {

/// The properties of vtkAsyncConvectionDiffusion that one execution needs; see there.
struct ConvectionDiffusionSettings {
  enum class Source { None, Array, Sphere, Box, Data };

  VelocityForm velocity;
  ArrayChoice sourceArray, initialArray;
  double diffusivity = 0;
  double decay = 0;
  bool conservative = false;
  std::array<SideCondition, Sides> sides;
  Source source = Source::None;
  double sourceRate = 1;
  std::array<double, 3> sourceCenter{};
  double sourceRadius = 1;
  std::array<double, 6> sourceBounds{};
  bool useInitialConcentration = false;
  double maximumCourantNumber = 0;
  /// The time of a steady state if the input has no time.
  double requestedTime = 0;
  double residualThreshold = 1e-6;
  SolverSettings solver;
  int slabs = 0;  ///< 0: one for each thread
};

/// State kept between executions: the time steps, the request for the next execution, and the
/// concentration after the last step.
struct ConvectionDiffusionState {
  /// A residual norm computed by the iterations.
  struct HistoryRow {
    std::int64_t step;
    double time;
    std::int64_t substep;
    ConvergenceSample sample;
  };

  /// The inputs of the computation that must not change from one step to the next.
  struct Basis {
    PropertyList properties;
    vtkMTimeType inputTime = 0;  ///< modification time of the inputs' pipelines

    bool operator==(const Basis& other) const {
      return properties == other.properties && inputTime == other.inputTime;
    }
  };

  /// Local. Plans the executions up to a step: those that follow the steps done, or all.
  /// @param requestedGoal  index of the step in `times`; -1 if steady
  /// @param isWhole        whether the last execution neither failed nor was aborted
  void plan(std::int64_t requestedGoal, Basis basis, bool isWhole);
  /// Local. Whether the plan of an earlier request leads to a step and is not at its end.
  [[nodiscard]] bool continuesTo(std::int64_t requestedGoal) const {
    return requestedGoal == goal && next < static_cast<std::int64_t>(times.size());
  }

  // The request, which the filter sets before an execution.
  std::vector<double> times;        ///< the initial time and the ends of all steps; empty if steady
  bool inputVaries = false;         ///< whether an input has more than one time step
  Basis requested;                  ///< of the next execution
  std::int64_t first = 0;           ///< index of the first step of the request
  std::int64_t next = 0;            ///< index of the first step of the next execution
  std::int64_t goal = 0;            ///< index of the last step requested; -1 if steady
  bool restart = true;              ///< whether to start from the initial concentration
  bool hasWarnedOfCourant = false;  ///< on rank 0, since `requested` changed

  // The result, which an execution sets.
  Basis started;               ///< of the execution that started from the initial concentration
  std::int64_t done = -1;      ///< index of the last step computed; -1: none
  std::vector<double> past;    ///< times of the steps computed
  CellGrid grid;               ///< the grid of the concentration
  CellRange box;               ///< this rank's cells
  FaceFlow flow;               ///< through the faces of the box
  double rate = 0;             ///< maximum of velocity / width of all cells, summed over axes
  std::vector<double> source;  ///< by cell of the box, in concentration per time
  std::vector<double> concentration;  ///< by cell of the box
  std::vector<HistoryRow> history;    ///< on rank 0
  double residual = 0;                ///< of the last step, as are the values below
  double courant = 0;
  std::int64_t iterations = 0;
  std::int64_t substeps = 0;

  /// Whether the execution must be continued with the input of another time step.
  [[nodiscard]] bool isUnderWay() const { return goal >= 0 && done < goal; }
};

/// One execution of vtkAsyncConvectionDiffusion on one rank. Private member functions are
/// collective unless their comment states otherwise.
class ConvectionDiffusionRun {
 public:
  /// @param context, state  must outlive the object, as must the settings
  ConvectionDiffusionRun(const RunContext& context, const ConvectionDiffusionSettings& settings,
                         ConvectionDiffusionState& state)
      : context_(context), transport_(context.transport), settings_(settings), state_(state) {}

  /// Collective. Does not write the outputs if isUnderWay() is true afterwards.
  /// @param source  the points of Source::Data; may be null
  /// @return false after an abort
  /// @throws Error on all ranks
  [[nodiscard]] bool execute(vtkDataObject* input, vtkDataObject* source, vtkDataObject* output,
                             vtkTable* history);

 private:
  std::vector<PieceArray> findArrays(const ArrayChoice& choice, const char* property,
                                     std::size_t components) const;
  void prepare(vtkDataObject* source);
  std::vector<PieceArray> movedToFaces(const std::vector<PieceArray>& vectors,
                                       const std::array<bool, 3>& periodic) const;
  void readFlow();
  void readSource(vtkDataObject* source);
  void markSourceShape();
  void initialize();
  [[nodiscard]] bool solveSteps();
  std::int64_t substepsOf(double length) const;
  double progress(double share) const;
  void warnOfCourantNumber();
  [[nodiscard]] bool solveStep(double length, std::int64_t substeps, double time);
  [[nodiscard]] bool solveSubstep(ConvectionDiffusionSolver& solver, std::int64_t number,
                                  std::int64_t substeps, double time);
  bool isOfAnotherGrid() const;
  ConvectionDiffusionTerms makeTerms(double inverseStep) const;
  ConvectionDiffusionOptions makeOptions() const;
  void write(vtkDataObject* input, vtkDataObject* output);
  void writeTotals(vtkDataObject* output);
  void writeHistory(vtkTable* history) const;

  const RunContext& context_;
  Transport& transport_;
  const ConvectionDiffusionSettings& settings_;
  ConvectionDiffusionState& state_;
  GridCells cells_;
  GridSites sites_;                 ///< these cells
  IterationStatistics iterations_;  ///< of this rank
};

}  // namespace tributary
