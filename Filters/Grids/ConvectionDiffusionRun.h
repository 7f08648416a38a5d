// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "vtkAsyncConvectionDiffusion.h"

#include "Common/PropertyList.h"
#include "Common/RunStatistics.h"
#include "Grids/GridCells.h"

#include "Tributary/Relaxation/ConvectionDiffusionSolver.h"
#include "Tributary/Transport/Transport.h"

#include <cstdint>
#include <vector>

class vtkDataArray;
class vtkDataObject;

/// What is kept between executions, and what the next one is for.
class vtkAsyncConvectionDiffusion::vtkState {
 public:
  /// Which array SetInputArrayToProcess() chooses.
  enum Arrays { VELOCITY, SOURCE, INITIAL };

  /// A norm that the iterations came to know.
  struct HistoryRow {
    std::int64_t Step;
    double Time;
    std::int64_t Substep;
    tributary::ConvergenceSample Sample;
  };

  /// What all steps have to have in common.
  struct Basis {
    tributary::PropertyList Properties;
    vtkMTimeType InputTime = 0;  ///< Of all that makes the inputs.

    bool operator==(const Basis& other) const {
      return this->Properties == other.Properties && this->InputTime == other.InputTime;
    }
  };

  std::vector<double> Times;  ///< Ends of all steps, from the beginning on; none if steady.
  bool InputVaries = false;   ///< The input tells several time steps.
  Basis Begun;                ///< That of the concentration,
  Basis Asked;                ///< and of the next execution.
  std::int64_t Next = 0;      ///< The first step to be executed,
  std::int64_t Goal = 0;      ///< and the last one; -1 if steady.
  bool IsAnew = true;         ///< Begin again.

  std::int64_t Done = -1;    ///< The last step done, -1: none.
  std::vector<double> Past;  ///< The times of those done.
  tributary::CellGrid Grid;  ///< Those that the concentration belongs to.
  tributary::CellRange Box;
  tributary::FaceFlow Flow;
  double Rate = 0;  ///< The largest share of its width that the flow crosses in a cell per time.
  std::vector<double> Source;
  std::vector<double> Concentration;  ///< Of this rank's cells.
  std::vector<HistoryRow> History;    ///< On rank 0.
  double Residual = 0;                ///< Of the last step.
  double Courant = 0;
  std::int64_t Iterations = 0;
  std::int64_t Substeps = 0;
};

/// One execution on one rank. Every member function is collective.
class vtkAsyncConvectionDiffusion::vtkRun {
 public:
  vtkRun(vtkAsyncConvectionDiffusion* self, tributary::Transport& transport)
      : Self(self), Transport(transport), State(*self->State) {}

  /// @return false after an abort
  bool Execute(vtkDataObject* input, vtkDataObject* source, vtkInformationVector* outputVector,
               tributary::RunStatistics& statistics);

 private:
  std::vector<tributary::PieceArray> FindArrays(int index, const char* property, int components);
  void ReadFlow();
  void ReadSource(vtkDataObject* source);
  void Begin();
  bool SolveSteps();
  bool Step(double length, std::int64_t substeps, double time);
  bool Substep(tributary::ConvectionDiffusionSolver& solver, std::int64_t number,
               std::int64_t substeps, double time);
  tributary::ConvectionDiffusionTerms MakeTerms(double inverseStep) const;
  tributary::ConvectionDiffusionOptions MakeOptions() const;
  void Write(vtkDataObject* input, double time, vtkInformationVector* outputVector);

  vtkAsyncConvectionDiffusion* Self;
  tributary::Transport& Transport;
  vtkState& State;
  tributary::GridCells Cells;
  tributary::IterationStatistics Total;  ///< Of this rank.
};
