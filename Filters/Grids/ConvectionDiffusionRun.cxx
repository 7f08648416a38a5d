// SPDX-License-Identifier: BSD-3-Clause
#include "Grids/ConvectionDiffusionRun.h"

#include "Common/Leaves.h"
#include "Common/SmpFor.h"

#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Iteration/ExactSum.h"

#include <vtkCellData.h>
#include <vtkDataArray.h>
#include <vtkDataObject.h>
#include <vtkDataSet.h>
#include <vtkDoubleArray.h>
#include <vtkFieldData.h>
#include <vtkIdTypeArray.h>
#include <vtkInformation.h>
#include <vtkInformationVector.h>
#include <vtkNew.h>
#include <vtkSMPTools.h>
#include <vtkSmartPointer.h>
#include <vtkStreamingDemandDrivenPipeline.h>
#include <vtkTable.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <sstream>
#include <string>
#include <utility>

namespace {
using Pipeline = vtkStreamingDemandDrivenPipeline;
using tributary::Error;

constexpr int SIDES = tributary::Sides;
constexpr double MOST_SUBSTEPS = 1e6;
}  // anonymous namespace

//------------------------------------------------------------------------------
/// Local, in collectively(). @return one for each piece
std::vector<tributary::PieceArray> vtkAsyncConvectionDiffusion::vtkRun::FindArrays(
    int index, const char* property, int components) {
  std::vector<tributary::PieceArray> found;
  for (const tributary::GridPiece& piece : this->Cells.pieces) {
    int association = vtkDataObject::FIELD_ASSOCIATION_NONE;
    vtkDataArray* array = this->Self->GetInputArrayToProcess(index, piece.dataSet, association);
    const bool isAtCells = association == vtkDataObject::FIELD_ASSOCIATION_CELLS;
    if (!array || array->GetNumberOfComponents() != components ||
        array->GetNumberOfTuples() !=
            (isAtCells ? piece.dataSet->GetNumberOfCells() : piece.dataSet->GetNumberOfPoints())) {
      throw Error(std::string("the input has not the array that ") + property + " names, of " +
                  std::to_string(components) + (components == 1 ? " component" : " components") +
                  " at cells or points; choose one with " + property + " (SetInputArrayToProcess(" +
                  std::to_string(index) + ", ...))");
    }
    found.push_back({array, isAtCells});
  }
  return found;
}

//------------------------------------------------------------------------------
void vtkAsyncConvectionDiffusion::vtkRun::ReadFlow() {
  tributary::CellFlow flow;
  double rate = 0;
  tributary::collectively(this->Transport, [&] {
    flow =
        tributary::cellFlow(this->Cells, this->FindArrays(vtkState::VELOCITY, "SelectVelocity", 3));
    const tributary::CellRange& box = this->Cells.box;
    std::vector<double> rates(this->Cells.count(), 0.0);
    for (std::size_t a = 0; a < 3; ++a) {
      std::size_t at = 0;
      std::int64_t place[3];
      for (place[2] = box.lo[2]; place[2] < box.hi[2]; ++place[2]) {
        for (place[1] = box.lo[1]; place[1] < box.hi[1]; ++place[1]) {
          for (place[0] = box.lo[0]; place[0] < box.hi[0]; ++place[0], ++at) {
            rates[at] += std::max(std::fabs(flow.low[a][at]), std::fabs(flow.high[a][at])) /
                         this->Cells.grid.width(a, place[a]);
          }
        }
      }
    }
    for (const double one : rates) {
      rate = std::max(rate, one);
    }
  });
  this->State.Rate = tributary::allreduce(this->Transport, tributary::ReduceOp::Max, rate);
  std::array<bool, 3> periodic{};
  for (std::size_t a = 0; a < 3; ++a) {
    periodic[a] = this->MakeTerms(0).sides[2 * a].kind == tributary::SideCondition::Kind::Periodic;
  }
  this->State.Flow =
      tributary::flowBetween(this->Transport, this->Cells.grid, periodic, this->Cells.box, flow);
}

//------------------------------------------------------------------------------
void vtkAsyncConvectionDiffusion::vtkRun::ReadSource(vtkDataObject* source) {
  auto* self = this->Self;
  this->State.Source.assign(this->Cells.count(), 0.0);
  std::vector<double> points;
  tributary::collectively(this->Transport, [&] {
    if (self->SourceType == SOURCE_ARRAY) {
      this->State.Source = tributary::cellValues(
          this->Cells, this->FindArrays(vtkState::SOURCE, "SelectSource", 1), 0);
    } else if (self->SourceType == SOURCE_DATA) {
      double point[3];
      for (const tributary::Leaf& leaf : tributary::leavesOf(source)) {
        for (vtkIdType i = 0; i < leaf.points(); ++i) {
          leaf.dataSet->GetPoint(i, point);
          points.insert(points.end(), point, point + 3);
        }
      }
    } else if (self->SourceType != NO_SOURCE) {
      const tributary::CellRange& box = this->Cells.box;
      const bool isSphere = self->SourceType == SOURCE_SPHERE;
      std::size_t at = 0;
      std::int64_t place[3];
      for (place[2] = box.lo[2]; place[2] < box.hi[2]; ++place[2]) {
        for (place[1] = box.lo[1]; place[1] < box.hi[1]; ++place[1]) {
          for (place[0] = box.lo[0]; place[0] < box.hi[0]; ++place[0], ++at) {
            double distance2 = 0;
            bool isIn = true;
            for (std::size_t a = 0; a < 3; ++a) {
              if (this->Cells.isFlat[a]) {
                continue;
              }
              const double x = this->Cells.grid.center(a, place[a]);
              distance2 += (x - self->SourceCenter[a]) * (x - self->SourceCenter[a]);
              isIn = isIn && x >= self->SourceBounds[2 * a] && x <= self->SourceBounds[2 * a + 1];
            }
            const bool isInSphere = distance2 <= self->SourceRadius * self->SourceRadius;
            this->State.Source[at] = (isSphere ? isInSphere : isIn) ? 1 : 0;
          }
        }
      }
    }
  });
  if (self->SourceType == SOURCE_DATA) {
    for (const std::size_t cell :
         tributary::cellsWithPoints(this->Transport, this->Cells, points)) {
      this->State.Source[cell] = 1;
    }
  }
  std::int64_t hit = 0;
  tributary::collectively(this->Transport, [&] {
    for (std::size_t i = 0; i < this->State.Source.size(); ++i) {
      this->State.Source[i] = this->Cells.hidden[i] ? 0 : this->State.Source[i] * self->SourceRate;
      if (!std::isfinite(this->State.Source[i])) {
        throw Error("a value of the source is not finite");
      }
      hit += this->State.Source[i] != 0;
    }
  });
  const bool isPlace = self->SourceType >= SOURCE_SPHERE && self->SourceRate != 0;
  if (tributary::allreduce(this->Transport, tributary::ReduceOp::Sum, hit) == 0 && isPlace) {
    throw Error(
        "no cell (that is not hidden) is in the source; move it into the input, or make it "
        "larger than a cell");
  }
}

//------------------------------------------------------------------------------
void vtkAsyncConvectionDiffusion::vtkRun::Begin() {
  tributary::collectively(this->Transport, [&] {
    this->State.Grid = this->Cells.grid;
    this->State.Box = this->Cells.box;
    this->State.History.clear();
    this->State.Concentration.assign(this->Cells.count(), 0.0);
    if (!this->Self->UseInitialConcentration) {
      return;
    }
    this->State.Concentration = tributary::cellValues(
        this->Cells, this->FindArrays(vtkState::INITIAL, "SelectInitialConcentration", 1), 0);
    for (std::size_t i = 0; i < this->State.Concentration.size(); ++i) {
      if (this->Cells.hidden[i]) {
        this->State.Concentration[i] = 0;
      }
      if (!std::isfinite(this->State.Concentration[i])) {
        throw Error("an initial concentration is not finite");
      }
    }
  });
}

//------------------------------------------------------------------------------
tributary::ConvectionDiffusionTerms vtkAsyncConvectionDiffusion::vtkRun::MakeTerms(
    double inverseStep) const {
  using Kind = tributary::SideCondition::Kind;
  constexpr Kind kinds[] = {Kind::Outflow, Kind::Value, Kind::Flux, Kind::Periodic};
  tributary::ConvectionDiffusionTerms terms;
  terms.diffusivity = this->Self->Diffusivity;
  terms.decay = this->Self->Decay;
  terms.inverseStep = inverseStep;
  terms.conservative = this->Self->Conservative;
  for (std::size_t side = 0; side < SIDES; ++side) {
    if (!this->Cells.isFlat[side / 2]) {
      terms.sides[side] = {kinds[this->Self->SideConditions[side]], this->Self->SideValues[side]};
    }
  }
  return terms;
}

//------------------------------------------------------------------------------
tributary::ConvectionDiffusionOptions vtkAsyncConvectionDiffusion::vtkRun::MakeOptions() const {
  auto* self = this->Self;
  tributary::ConvectionDiffusionOptions options;
  options.iteration.mode = self->Schedule == ASYNCHRONOUS ? tributary::IterationMode::Asynchronous
                                                          : tributary::IterationMode::Synchronous;
  options.iteration.detection = self->ConvergenceDetection == SUPERVISED
                                    ? tributary::ConvergenceDetection::SupervisedTermination
                                    : tributary::ConvergenceDetection::SnapshotReduction;
  options.iteration.threshold = self->ResidualThreshold;
  options.iteration.iterationLimit = self->IterationLimit;
  options.sweepsPerExchange = self->SweepsPerExchange;
  options.slabs =
      self->Slabs > 0 ? self->Slabs : std::max(vtkSMPTools::GetEstimatedNumberOfThreads(), 1);
  options.parallelFor = tributary::smpFor;
  return options;
}

//------------------------------------------------------------------------------
/// @param length  of a step, 0 for the steady state
/// @return false after an abort
bool vtkAsyncConvectionDiffusion::vtkRun::Step(double length, std::int64_t substeps, double time) {
  vtkState& state = this->State;
  const double part = length / static_cast<double>(substeps);
  tributary::ConvectionDiffusionSolver solver(this->Transport, this->Cells.grid, this->Cells.box,
                                              this->MakeTerms(part > 0 ? 1 / part : 0), state.Flow,
                                              this->MakeOptions());
  std::copy(state.Concentration.begin(), state.Concentration.end(), solver.concentration().begin());
  for (std::int64_t n = 0; n < substeps; ++n) {
    if (!this->Substep(solver, n, substeps, time)) {
      return false;
    }
  }
  std::copy(solver.concentration().begin(), solver.concentration().end(),
            state.Concentration.begin());
  state.Substeps = substeps;
  state.Courant = part * state.Rate;
  return true;
}

//------------------------------------------------------------------------------
/// @return false after an abort
bool vtkAsyncConvectionDiffusion::vtkRun::Substep(tributary::ConvectionDiffusionSolver& solver,
                                                  std::int64_t number, std::int64_t substeps,
                                                  double time) {
  auto* self = this->Self;
  vtkState& state = this->State;
  const double all = static_cast<double>(std::max<std::int64_t>(state.Times.size(), 2) - 1);
  const double progress = (static_cast<double>(std::max<std::int64_t>(state.Done, 0)) +
                           double(number) / double(substeps)) /
                          all;
  const tributary::IterationResult result =
      solver.step(this->State.Source, [&] { return self->Monitor(this->Transport, progress); });
  this->Total += solver.statistics();
  if (self->AbortedTogether(this->Transport, result.verdict == tributary::Verdict::Aborted)) {
    return false;
  }
  if (result.verdict != tributary::Verdict::Converged) {
    std::ostringstream text;
    text << "the residual is " << result.residual << " after " << result.iterations
         << " iterations, and not at or below ResidualThreshold, " << self->ResidualThreshold;
    text << (result.verdict == tributary::Verdict::IterationLimit
                 ? "; raise IterationLimit or ResidualThreshold, or take smaller steps"
                 : ": numbers became too large");
    throw Error(text.str());
  }
  if (this->Transport.rank() == 0) {
    for (const tributary::ConvergenceSample& sample : solver.history()) {
      state.History.push_back({std::max<std::int64_t>(state.Done + 1, 0), time, number, sample});
    }
  }
  state.Residual = result.residual;
  state.Iterations = result.iterations;
  return true;
}

//------------------------------------------------------------------------------
/// One step if the input varies, else all up to the goal.
/// @return false after an abort
bool vtkAsyncConvectionDiffusion::vtkRun::SolveSteps() {
  auto* self = this->Self;
  vtkState& state = this->State;
  while (state.Done < state.Goal) {
    if (state.Done < 0) {
      state.Residual = state.Courant = 0;
      state.Iterations = state.Substeps = 0;
    } else {
      const auto done = static_cast<std::size_t>(state.Done);
      const double begin = state.Times[done], end = state.Times[done + 1];
      double substeps = 1;
      if (self->MaximumCourantNumber > 0) {
        substeps =
            std::max(std::ceil((end - begin) * this->State.Rate / self->MaximumCourantNumber), 1.0);
        if (!(substeps <= MOST_SUBSTEPS)) {
          throw Error(
              "MaximumCourantNumber asks for more than a million parts of a step; raise it, "
              "or take smaller steps");
        }
      }
      if (!this->Step(end - begin, static_cast<std::int64_t>(substeps), end)) {
        return false;
      }
    }
    ++state.Done;
    state.Past.push_back(state.Times[static_cast<std::size_t>(state.Done)]);
    if (state.InputVaries) {
      break;
    }
  }
  return true;
}

//------------------------------------------------------------------------------
void vtkAsyncConvectionDiffusion::vtkRun::Write(vtkDataObject* input, double time,
                                                vtkInformationVector* outputVector) {
  vtkState& state = this->State;
  const std::vector<std::vector<double>> values =
      tributary::valuesOfPieces(this->Transport, this->Cells, state.Concentration);
  vtkDataObject* output = vtkDataObject::GetData(outputVector, 0);
  vtkTable* history = vtkTable::GetData(outputVector, 1);
  tributary::ExactSum total;
  tributary::collectively(this->Transport, [&] {
    const tributary::CellRange& box = this->Cells.box;
    std::size_t at = 0;
    for (auto k = box.lo[2]; k < box.hi[2]; ++k) {
      for (auto j = box.lo[1]; j < box.hi[1]; ++j) {
        for (auto i = box.lo[0]; i < box.hi[0]; ++i) {
          total.add(this->Cells.grid.width(0, i) * this->Cells.grid.width(1, j) *
                    this->Cells.grid.width(2, k) * state.Concentration[at++]);
        }
      }
    }
    output->ShallowCopy(input);
    auto piece = values.begin();
    tributary::forEachDataSet(output, [&](vtkDataObject* object) {
      auto* dataSet = vtkDataSet::SafeDownCast(object);
      if (!dataSet) {
        return;
      }
      vtkNew<vtkDoubleArray> array;
      array->SetName("Concentration");
      array->SetNumberOfTuples(dataSet->GetNumberOfCells());
      if (dataSet->GetNumberOfCells() > 0) {
        std::copy(piece->begin(), piece->end(), array->GetPointer(0));
        ++piece;
      }
      dataSet->GetCellData()->AddArray(array);
      dataSet->GetCellData()->SetActiveScalars("Concentration");
    });
  });
  const auto sums =
      tributary::allreduce(this->Transport, tributary::ReduceOp::Sum,
                           std::vector<std::int64_t>(total.parts().begin(), total.parts().end()));
  const auto add = [&](const char* name, auto* array, auto value) {
    array->SetName(name);
    array->InsertNextValue(value);
    output->GetFieldData()->AddArray(array);
  };
  add("Residual", vtkNew<vtkDoubleArray>().Get(), state.Residual);
  add("Iterations", vtkNew<vtkIdTypeArray>().Get(), state.Iterations);
  add("CourantNumber", vtkNew<vtkDoubleArray>().Get(), state.Courant);
  add("Substeps", vtkNew<vtkIdTypeArray>().Get(), state.Substeps);
  add("ConcentrationTotal", vtkNew<vtkDoubleArray>().Get(), tributary::ExactSum(sums).value());

  history->Initialize();
  const auto column = [&](const char* name, auto* array, auto&& valueOf) {
    array->SetName(name);
    for (const vtkState::HistoryRow& row : state.History) {
      array->InsertNextValue(valueOf(row));
    }
    history->AddColumn(array);
  };
  column("Step", vtkNew<vtkIdTypeArray>().Get(),
         [](const vtkState::HistoryRow& row) { return row.Step; });
  column("Time", vtkNew<vtkDoubleArray>().Get(),
         [](const vtkState::HistoryRow& row) { return row.Time; });
  column("Substep", vtkNew<vtkIdTypeArray>().Get(),
         [](const vtkState::HistoryRow& row) { return row.Substep; });
  column("Iterations", vtkNew<vtkIdTypeArray>().Get(),
         [](const vtkState::HistoryRow& row) { return row.Sample.iterations; });
  column("Seconds", vtkNew<vtkDoubleArray>().Get(),
         [](const vtkState::HistoryRow& row) { return row.Sample.seconds; });
  column("Residual", vtkNew<vtkDoubleArray>().Get(),
         [](const vtkState::HistoryRow& row) { return row.Sample.norm; });
  column("Verified", vtkNew<vtkIdTypeArray>().Get(),
         [](const vtkState::HistoryRow& row) { return row.Sample.verified ? 1 : 0; });
  for (int port = 0; port < 2; ++port) {
    vtkDataObject::GetData(outputVector, port)
        ->GetInformation()
        ->Set(vtkDataObject::DATA_TIME_STEP(), time);
  }
}

//------------------------------------------------------------------------------
bool vtkAsyncConvectionDiffusion::vtkRun::Execute(vtkDataObject* input, vtkDataObject* source,
                                                  vtkInformationVector* outputVector,
                                                  tributary::RunStatistics& statistics) {
  vtkState& state = this->State;
  this->Cells = tributary::gridCellsOf(this->Transport, input);
  const auto isOfAnotherGrid = [&] {
    bool differs = state.Box.lo != this->Cells.box.lo || state.Box.hi != this->Cells.box.hi;
    for (std::size_t a = 0; a < 3; ++a) {
      differs = differs || state.Grid.ends[a] != this->Cells.grid.ends[a];
    }
    return differs;
  };
  // One rank's reason is one for all.
  state.IsAnew =
      tributary::allreduce(this->Transport, tributary::ReduceOp::Or,
                           std::int64_t(state.IsAnew || ((!state.InputVaries || state.Goal < 0) &&
                                                         isOfAnotherGrid()))) != 0;
  if (state.IsAnew || state.InputVaries) {
    this->ReadFlow();
    this->ReadSource(source);
  }
  if (state.IsAnew) {
    this->Begin();
    state.Done = -1;
    state.Past.clear();
    state.IsAnew = false;
    state.Begun = state.Asked;
  }
  tributary::collectively(this->Transport, [&] {
    if (isOfAnotherGrid()) {
      throw Error("the grid, or the share of a rank, is another than in the step before");
    }
  });
  statistics.phase("SetupSeconds");
  double time = 0;
  if (state.Goal < 0) {
    state.History.clear();
    vtkInformation* info = outputVector->GetInformationObject(0);
    time = info->Has(Pipeline::UPDATE_TIME_STEP()) ? info->Get(Pipeline::UPDATE_TIME_STEP()) : 0;
    if (input->GetInformation()->Has(vtkDataObject::DATA_TIME_STEP())) {
      time = input->GetInformation()->Get(vtkDataObject::DATA_TIME_STEP());
    }
    if (!this->Step(0, 1, time)) {
      return false;
    }
  } else {
    if (!this->SolveSteps()) {
      return false;
    }
    state.Next = state.Done + 1;
    this->Self->IsUnderWay = state.Done < state.Goal;
    time = state.Times[static_cast<std::size_t>(state.Done)];
  }
  statistics.phase("SolvingSeconds");
  if (this->Self->IsUnderWay) {
    return true;
  }
  this->Write(input, time, outputVector);
  statistics.count("Cells", this->Cells.box.cells());
  statistics.add(this->Total);
  statistics.phase("WritingSeconds");
  return true;
}
