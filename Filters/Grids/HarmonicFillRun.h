// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "vtkAsyncHarmonicFill.h"

#include "Common/RunStatistics.h"
#include "Grids/GridCells.h"
#include "Grids/GridSites.h"

#include "Tributary/Relaxation/HarmonicFill.h"
#include "Tributary/Transport/Transport.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

class vtkDataArray;
class vtkDataObject;
class vtkDataSet;

/// One execution on one rank. Execute() is collective.
class vtkAsyncHarmonicFill::vtkRun {
 public:
  vtkRun(vtkAsyncHarmonicFill* self, tributary::Transport& transport)
      : Self(self), Transport(transport) {}

  /// @return false after an abort
  bool Execute(vtkDataObject* input, vtkDataObject* output, tributary::RunStatistics& statistics);

 private:
  /// An array to be filled: the same on all ranks.
  struct Task {
    std::string Name;
    bool IsAtCells;
    int Components;
  };

  /// What came of one.
  struct Filled {
    Task What;
    std::int64_t Count = 0;
    double Residual = 0;
    double Correction = 0;
    std::int64_t Cycles = 0;
    std::int64_t Iterations = 0;
    std::vector<std::vector<std::uint8_t>> Unknown;        ///< Of all sites of each piece,
    std::vector<std::vector<std::vector<double>>> Values;  ///< by component, then of each piece.
  };

  std::vector<Task> FindTasks();
  vtkDataArray* ArrayOf(const tributary::GridPiece& piece, const Task& task) const;
  std::vector<std::uint8_t> UnknownOf(const tributary::GridSites& sites, const Task& task);
  bool Fill(const tributary::GridSites& sites, const Task& task, double begin, double share);
  tributary::HarmonicFillOptions MakeOptions() const;
  void Retire();
  void Write(vtkDataObject* input, vtkDataObject* output);

  vtkAsyncHarmonicFill* Self;
  tributary::Transport& Transport;
  tributary::GridCells Cells;
  std::vector<Filled> Done;

  /// The last one that was needed, for arrays of which the same is unknown.
  std::unique_ptr<tributary::HarmonicFill> Solver;
  std::vector<std::uint8_t> SolverUnknown;
  bool SolverIsAtCells = false;
  tributary::IterationStatistics Total;  ///< Of this rank.
};
