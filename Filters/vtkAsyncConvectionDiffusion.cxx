#include "vtkAsyncConvectionDiffusion.h"

#include "Private/GridCells.h"
#include "Private/Leaves.h"
#include "Private/PropertyList.h"
#include "Private/Require.h"
#include "Private/RunStatistics.h"
#include "Private/SmpFor.h"

#include "Tributary/Agree.h"
#include "Tributary/Error.h"
#include "Tributary/Iteration/ExactSum.h"
#include "Tributary/Relaxation/ConvectionDiffusionSolver.h"
#include "Tributary/Transport/Collectives.h"

#include <vtkCellData.h>
#include <vtkDataArray.h>
#include <vtkDataObject.h>
#include <vtkDataSet.h>
#include <vtkDataSetAttributes.h>
#include <vtkDemandDrivenPipeline.h>
#include <vtkDoubleArray.h>
#include <vtkFieldData.h>
#include <vtkIdTypeArray.h>
#include <vtkInformation.h>
#include <vtkInformationVector.h>
#include <vtkNew.h>
#include <vtkObjectFactory.h>
#include <vtkSMPTools.h>
#include <vtkSmartPointer.h>
#include <vtkStreamingDemandDrivenPipeline.h>
#include <vtkTable.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

vtkStandardNewMacro(vtkAsyncConvectionDiffusion);

namespace
{
using Pipeline = vtkStreamingDemandDrivenPipeline;
using tributary::Error;
using tributary::require;

constexpr int SIDES = tributary::kSides;
const char* const SIDE_NAMES[SIDES] = { "XMin", "XMax", "YMin", "YMax", "ZMin", "ZMax" };

/// Which array SetInputArrayToProcess() chooses.
enum Arrays
{
  VELOCITY,
  SOURCE,
  INITIAL
};

/// More steps than anyone waits for, all of whose times are announced.
constexpr double MOST_STEPS = 1e6;
/// Share of a step by which a time may miss another one and be the same.
constexpr double SAME_TIME = 1e-6;
constexpr double MOST_SUBSTEPS = 1e6;

/// The ends of all steps, from the beginning on; none if a property is wrong.
std::vector<double> timesOfSteps(double begin, double step, int count, bool untilEnd, double end)
{
  std::vector<double> times;
  if (!(step > 0) || !std::isfinite(step) || !std::isfinite(begin) ||
    (untilEnd && !(end > begin && (end - begin) / step <= MOST_STEPS)) || count < 1 ||
    count > MOST_STEPS)
  {
    return times;
  }
  times.push_back(begin);
  for (int n = 1; untilEnd || n <= count; ++n)
  {
    const double next = begin + n * step;
    if (untilEnd && next >= end - SAME_TIME * step)
    {
      times.push_back(end);
      break;
    }
    times.push_back(next);
  }
  return times;
}

struct HistoryRow
{
  std::int64_t Step;
  double Time;
  std::int64_t Substep;
  tributary::ConvergenceSample Sample;
};
} // anonymous namespace

//------------------------------------------------------------------------------
/// What is kept between executions, and what the next one is for.
class vtkAsyncConvectionDiffusion::vtkState
{
public:
  /// What all steps have to have in common.
  struct Basis
  {
    tributary::PropertyList Properties;
    vtkMTimeType InputTime = 0; ///< Of all that makes the inputs.

    bool operator==(const Basis& other) const
    {
      return this->Properties == other.Properties && this->InputTime == other.InputTime;
    }
  };

  std::vector<double> Times; ///< Ends of all steps, from the beginning on; none if steady.
  bool InputVaries = false;  ///< The input tells several time steps.
  Basis Begun;               ///< That of the concentration,
  Basis Asked;               ///< and of the next execution.
  std::int64_t Next = 0;     ///< The first step to be executed,
  std::int64_t Goal = 0;     ///< and the last one; -1 if steady.
  bool IsAnew = true;        ///< Begin again.
  bool IsWhole = false;      ///< The last execution neither failed nor was aborted.
  bool IsUnderWay = false;   ///< Towards the goal: the input is asked for another time.

  std::int64_t Done = -1;   ///< The last step done, -1: none.
  std::vector<double> Past; ///< The times of those done.
  tributary::CellGrid Grid; ///< Those that the concentration belongs to.
  tributary::CellRange Box;
  tributary::FaceFlow Flow;
  double Rate = 0; ///< The largest share of its width that the flow crosses in a cell per time.
  std::vector<double> Source;
  std::vector<double> Concentration; ///< Of this rank's cells.
  std::vector<HistoryRow> History;   ///< On rank 0.
  double Residual = 0;               ///< Of the last step.
  double Courant = 0;
  std::int64_t Iterations = 0;
  std::int64_t Substeps = 0;
};

//------------------------------------------------------------------------------
/// One execution on one rank. Every member function is collective.
class vtkAsyncConvectionDiffusion::vtkRun
{
public:
  vtkRun(vtkAsyncConvectionDiffusion* self, tributary::Transport& transport)
    : Self(self)
    , Transport(transport)
    , State(*self->State)
  {
  }

  /// @return false after an abort
  bool Execute(vtkDataObject* input, vtkDataObject* source, vtkInformationVector* outputVector,
    tributary::RunStatistics& statistics);

private:
  std::vector<tributary::PieceArray> FindArrays(int index, const char* property, int components);
  void ReadFlow();
  void ReadSource(vtkDataObject* source);
  void Begin();
  bool SolveSteps();
  bool Step(double length, std::int64_t substep, std::int64_t substeps, double time);
  tributary::ConvectionDiffusionTerms MakeTerms(double inverseStep) const;
  tributary::ConvectionDiffusionOptions MakeOptions() const;
  void Write(vtkDataObject* input, double time, vtkInformationVector* outputVector);

  vtkAsyncConvectionDiffusion* Self;
  tributary::Transport& Transport;
  vtkState& State;
  tributary::GridCells Cells;
  tributary::IterationStatistics Total; ///< Of this rank.
};

//------------------------------------------------------------------------------
/// Local, in together(). @return one for each piece
std::vector<tributary::PieceArray> vtkAsyncConvectionDiffusion::vtkRun::FindArrays(
  int index, const char* property, int components)
{
  std::vector<tributary::PieceArray> found;
  for (const tributary::GridPiece& piece : this->Cells.pieces)
  {
    int association = vtkDataObject::FIELD_ASSOCIATION_NONE;
    vtkDataArray* array = this->Self->GetInputArrayToProcess(index, piece.dataSet, association);
    const bool isAtCells = association == vtkDataObject::FIELD_ASSOCIATION_CELLS;
    if (!array || array->GetNumberOfComponents() != components ||
      array->GetNumberOfTuples() !=
        (isAtCells ? piece.dataSet->GetNumberOfCells() : piece.dataSet->GetNumberOfPoints()))
    {
      throw Error(std::string("the input has not the array that ") + property + " names, of " +
        std::to_string(components) + (components == 1 ? " component" : " components") +
        " at cells or points; choose one with " + property + " (SetInputArrayToProcess(" +
        std::to_string(index) + ", ...))");
    }
    found.push_back({ array, isAtCells });
  }
  return found;
}

//------------------------------------------------------------------------------
void vtkAsyncConvectionDiffusion::vtkRun::ReadFlow()
{
  tributary::CellFlow flow;
  double rate = 0;
  tributary::together(this->Transport,
    [&]
    {
      flow = tributary::cellFlow(this->Cells, this->FindArrays(VELOCITY, "SelectVelocity", 3));
      const tributary::CellRange& box = this->Cells.box;
      std::vector<double> rates(this->Cells.count(), 0.0);
      for (std::size_t a = 0; a < 3; ++a)
      {
        std::size_t at = 0;
        std::int64_t place[3];
        for (place[2] = box.lo[2]; place[2] < box.hi[2]; ++place[2])
        {
          for (place[1] = box.lo[1]; place[1] < box.hi[1]; ++place[1])
          {
            for (place[0] = box.lo[0]; place[0] < box.hi[0]; ++place[0], ++at)
            {
              rates[at] += std::max(std::fabs(flow.low[a][at]), std::fabs(flow.high[a][at])) /
                this->Cells.grid.width(a, place[a]);
            }
          }
        }
      }
      for (const double one : rates)
      {
        rate = std::max(rate, one);
      }
    });
  this->State.Rate = tributary::allreduce(this->Transport, tributary::ReduceOp::Max, rate);
  std::array<bool, 3> periodic{};
  for (std::size_t a = 0; a < 3; ++a)
  {
    periodic[a] = this->MakeTerms(0).sides[2 * a].kind == tributary::SideCondition::Kind::Periodic;
  }
  this->State.Flow =
    tributary::flowBetween(this->Transport, this->Cells.grid, periodic, this->Cells.box, flow);
}

//------------------------------------------------------------------------------
void vtkAsyncConvectionDiffusion::vtkRun::ReadSource(vtkDataObject* source)
{
  auto* self = this->Self;
  this->State.Source.assign(this->Cells.count(), 0.0);
  std::vector<double> points;
  tributary::together(this->Transport,
    [&]
    {
      if (self->SourceType == SOURCE_ARRAY)
      {
        this->State.Source =
          tributary::cellValues(this->Cells, this->FindArrays(SOURCE, "SelectSource", 1), 0);
      }
      else if (self->SourceType == SOURCE_DATA)
      {
        double point[3];
        for (const tributary::Leaf& leaf : tributary::leavesOf(source))
        {
          for (vtkIdType i = 0; i < leaf.points(); ++i)
          {
            leaf.dataSet->GetPoint(i, point);
            points.insert(points.end(), point, point + 3);
          }
        }
      }
      else if (self->SourceType != NO_SOURCE)
      {
        const tributary::CellRange& box = this->Cells.box;
        const bool isSphere = self->SourceType == SOURCE_SPHERE;
        std::size_t at = 0;
        std::int64_t place[3];
        for (place[2] = box.lo[2]; place[2] < box.hi[2]; ++place[2])
        {
          for (place[1] = box.lo[1]; place[1] < box.hi[1]; ++place[1])
          {
            for (place[0] = box.lo[0]; place[0] < box.hi[0]; ++place[0], ++at)
            {
              double distance2 = 0;
              bool isIn = true;
              for (std::size_t a = 0; a < 3; ++a)
              {
                if (this->Cells.isFlat[a])
                {
                  continue;
                }
                const double x = this->Cells.grid.centre(a, place[a]);
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
  if (self->SourceType == SOURCE_DATA)
  {
    for (const std::size_t cell : tributary::cellsWithPoints(this->Transport, this->Cells, points))
    {
      this->State.Source[cell] = 1;
    }
  }
  std::int64_t hit = 0;
  tributary::together(this->Transport,
    [&]
    {
      for (std::size_t i = 0; i < this->State.Source.size(); ++i)
      {
        this->State.Source[i] =
          this->Cells.hidden[i] ? 0 : this->State.Source[i] * self->SourceRate;
        if (!std::isfinite(this->State.Source[i]))
        {
          throw Error("a value of the source is not finite");
        }
        hit += this->State.Source[i] != 0;
      }
    });
  const bool isPlace = self->SourceType >= SOURCE_SPHERE && self->SourceRate != 0;
  if (tributary::allreduce(this->Transport, tributary::ReduceOp::Sum, hit) == 0 && isPlace)
  {
    throw Error("no cell (that is not hidden) is in the source; move it into the input, or make it "
                "larger than a cell");
  }
}

//------------------------------------------------------------------------------
void vtkAsyncConvectionDiffusion::vtkRun::Begin()
{
  tributary::together(this->Transport,
    [&]
    {
      this->State.Grid = this->Cells.grid;
      this->State.Box = this->Cells.box;
      this->State.History.clear();
      this->State.Concentration.assign(this->Cells.count(), 0.0);
      if (!this->Self->UseInitialConcentration)
      {
        return;
      }
      this->State.Concentration = tributary::cellValues(
        this->Cells, this->FindArrays(INITIAL, "SelectInitialConcentration", 1), 0);
      for (std::size_t i = 0; i < this->State.Concentration.size(); ++i)
      {
        if (this->Cells.hidden[i])
        {
          this->State.Concentration[i] = 0;
        }
        if (!std::isfinite(this->State.Concentration[i]))
        {
          throw Error("an initial concentration is not finite");
        }
      }
    });
}

//------------------------------------------------------------------------------
tributary::ConvectionDiffusionTerms vtkAsyncConvectionDiffusion::vtkRun::MakeTerms(
  double inverseStep) const
{
  using Kind = tributary::SideCondition::Kind;
  constexpr Kind kinds[] = { Kind::Outflow, Kind::Value, Kind::Flux, Kind::Periodic };
  tributary::ConvectionDiffusionTerms terms;
  terms.diffusivity = this->Self->Diffusivity;
  terms.decay = this->Self->Decay;
  terms.inverseStep = inverseStep;
  terms.conservative = this->Self->Conservative;
  for (std::size_t side = 0; side < SIDES; ++side)
  {
    if (!this->Cells.isFlat[side / 2])
    {
      terms.sides[side] = { kinds[this->Self->SideConditions[side]], this->Self->SideValues[side] };
    }
  }
  return terms;
}

//------------------------------------------------------------------------------
tributary::ConvectionDiffusionOptions vtkAsyncConvectionDiffusion::vtkRun::MakeOptions() const
{
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
/// @param length  0 for the steady state
/// @return false after an abort
bool vtkAsyncConvectionDiffusion::vtkRun::Step(
  double length, std::int64_t substep, std::int64_t substeps, double time)
{
  auto* self = this->Self;
  vtkState& state = this->State;
  tributary::ConvectionDiffusionSolver solver(this->Transport, this->Cells.grid, this->Cells.box,
    this->MakeTerms(length > 0 ? 1 / length : 0), this->State.Flow, this->MakeOptions());
  std::copy(state.Concentration.begin(), state.Concentration.end(), solver.concentration().begin());
  const double all = static_cast<double>(std::max<std::int64_t>(state.Times.size(), 2) - 1);
  const double progress = (static_cast<double>(std::max<std::int64_t>(state.Done, 0)) +
                            double(substep) / double(substeps)) /
    all;
  const tributary::IterationResult result =
    solver.step(this->State.Source, [&] { return self->Monitor(this->Transport, progress); });
  const tributary::IterationStatistics& statistics = solver.statistics();
  this->Total.iterations += statistics.iterations;
  this->Total.snapshots += statistics.snapshots;
  this->Total.sent += statistics.sent;
  this->Total.unsent += statistics.unsent;
  this->Total.received += statistics.received;
  this->Total.superseded += statistics.superseded;
  this->Total.bytes += statistics.bytes;
  this->Total.protocol += statistics.protocol;
  this->Total.computingSeconds += statistics.computingSeconds;
  this->Total.verifyingSeconds += statistics.verifyingSeconds;
  this->Total.idleSeconds += statistics.idleSeconds;
  if (self->AbortedTogether(this->Transport, result.verdict == tributary::Verdict::Aborted))
  {
    return false;
  }
  if (result.verdict != tributary::Verdict::Converged)
  {
    std::ostringstream text;
    text << "the residual is " << result.residual << " after " << result.iterations
         << " iterations, and not at or below ResidualThreshold, " << self->ResidualThreshold;
    text << (result.verdict == tributary::Verdict::IterationLimit
        ? "; raise IterationLimit or ResidualThreshold, or take smaller steps"
        : ": numbers became too large");
    throw Error(text.str());
  }
  std::copy(
    solver.concentration().begin(), solver.concentration().end(), state.Concentration.begin());
  if (this->Transport.rank() == 0)
  {
    for (const tributary::ConvergenceSample& sample : solver.history())
    {
      state.History.push_back({ std::max<std::int64_t>(state.Done + 1, 0), time, substep, sample });
    }
  }
  state.Residual = result.residual;
  state.Iterations = result.iterations;
  state.Substeps = substeps;
  state.Courant = length * this->State.Rate;
  return true;
}

//------------------------------------------------------------------------------
/// One step if the input varies, else all up to the goal.
/// @return false after an abort
bool vtkAsyncConvectionDiffusion::vtkRun::SolveSteps()
{
  auto* self = this->Self;
  vtkState& state = this->State;
  while (state.Done < state.Goal)
  {
    if (state.Done < 0)
    {
      state.Residual = state.Courant = 0;
      state.Iterations = state.Substeps = 0;
    }
    else
    {
      const auto done = static_cast<std::size_t>(state.Done);
      const double begin = state.Times[done], end = state.Times[done + 1];
      double substeps = 1;
      if (self->MaximumCourantNumber > 0)
      {
        substeps =
          std::max(std::ceil((end - begin) * this->State.Rate / self->MaximumCourantNumber), 1.0);
        if (!(substeps <= MOST_SUBSTEPS))
        {
          throw Error(
            "MaximumCourantNumber asks for more than a million parts of a step; raise it, "
            "or take smaller steps");
        }
      }
      for (double n = 0; n < substeps; ++n)
      {
        if (!this->Step((end - begin) / substeps, static_cast<std::int64_t>(n),
              static_cast<std::int64_t>(substeps), end))
        {
          return false;
        }
      }
    }
    ++state.Done;
    state.Past.push_back(state.Times[static_cast<std::size_t>(state.Done)]);
    if (state.InputVaries)
    {
      break;
    }
  }
  return true;
}

//------------------------------------------------------------------------------
void vtkAsyncConvectionDiffusion::vtkRun::Write(
  vtkDataObject* input, double time, vtkInformationVector* outputVector)
{
  vtkState& state = this->State;
  const std::vector<std::vector<double>> values =
    tributary::valuesOfPieces(this->Transport, this->Cells, state.Concentration);
  vtkDataObject* output = vtkDataObject::GetData(outputVector, 0);
  vtkTable* history = vtkTable::GetData(outputVector, 1);
  tributary::ExactSum total;
  tributary::together(this->Transport,
    [&]
    {
      const tributary::CellRange& box = this->Cells.box;
      std::size_t at = 0;
      for (auto k = box.lo[2]; k < box.hi[2]; ++k)
      {
        for (auto j = box.lo[1]; j < box.hi[1]; ++j)
        {
          for (auto i = box.lo[0]; i < box.hi[0]; ++i)
          {
            total.add(this->Cells.grid.width(0, i) * this->Cells.grid.width(1, j) *
              this->Cells.grid.width(2, k) * state.Concentration[at++]);
          }
        }
      }
      output->ShallowCopy(input);
      auto piece = values.begin();
      tributary::forEachDataSet(output,
        [&](vtkDataObject* object)
        {
          auto* dataSet = vtkDataSet::SafeDownCast(object);
          if (!dataSet)
          {
            return;
          }
          vtkNew<vtkDoubleArray> array;
          array->SetName("Concentration");
          array->SetNumberOfTuples(dataSet->GetNumberOfCells());
          if (dataSet->GetNumberOfCells() > 0)
          {
            std::copy(piece->begin(), piece->end(), array->GetPointer(0));
            ++piece;
          }
          dataSet->GetCellData()->AddArray(array);
          dataSet->GetCellData()->SetActiveScalars("Concentration");
        });
    });
  const auto sums = tributary::allreduce(this->Transport, tributary::ReduceOp::Sum,
    std::vector<std::int64_t>(total.parts().begin(), total.parts().end()));
  const auto add = [&](const char* name, auto* array, auto value)
  {
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
  const auto column = [&](const char* name, auto* array, auto&& valueOf)
  {
    array->SetName(name);
    for (const HistoryRow& row : state.History)
    {
      array->InsertNextValue(valueOf(row));
    }
    history->AddColumn(array);
  };
  column("Step", vtkNew<vtkIdTypeArray>().Get(), [](const HistoryRow& row) { return row.Step; });
  column("Time", vtkNew<vtkDoubleArray>().Get(), [](const HistoryRow& row) { return row.Time; });
  column(
    "Substep", vtkNew<vtkIdTypeArray>().Get(), [](const HistoryRow& row) { return row.Substep; });
  column("Iterations", vtkNew<vtkIdTypeArray>().Get(),
    [](const HistoryRow& row) { return row.Sample.iterations; });
  column("Seconds", vtkNew<vtkDoubleArray>().Get(),
    [](const HistoryRow& row) { return row.Sample.seconds; });
  column("Residual", vtkNew<vtkDoubleArray>().Get(),
    [](const HistoryRow& row) { return row.Sample.norm; });
  column("Verified", vtkNew<vtkIdTypeArray>().Get(),
    [](const HistoryRow& row) { return row.Sample.verified ? 1 : 0; });
  for (int port = 0; port < 2; ++port)
  {
    vtkDataObject::GetData(outputVector, port)
      ->GetInformation()
      ->Set(vtkDataObject::DATA_TIME_STEP(), time);
  }
}

//------------------------------------------------------------------------------
bool vtkAsyncConvectionDiffusion::vtkRun::Execute(vtkDataObject* input, vtkDataObject* source,
  vtkInformationVector* outputVector, tributary::RunStatistics& statistics)
{
  vtkState& state = this->State;
  this->Cells = tributary::gridCellsOf(this->Transport, input);
  const auto isOfAnotherGrid = [&]
  {
    bool differs = state.Box.lo != this->Cells.box.lo || state.Box.hi != this->Cells.box.hi;
    for (std::size_t a = 0; a < 3; ++a)
    {
      differs = differs || state.Grid.ends[a] != this->Cells.grid.ends[a];
    }
    return differs;
  };
  // One rank's reason is one for all.
  state.IsAnew = tributary::allreduce(this->Transport, tributary::ReduceOp::Or,
                   std::int64_t(state.IsAnew ||
                     ((!state.InputVaries || state.Goal < 0) && isOfAnotherGrid()))) != 0;
  if (state.IsAnew || state.InputVaries)
  {
    this->ReadFlow();
    this->ReadSource(source);
  }
  if (state.IsAnew)
  {
    this->Begin();
    state.Done = -1;
    state.Past.clear();
    state.IsAnew = false;
    state.Begun = state.Asked;
  }
  tributary::together(this->Transport,
    [&]
    {
      if (isOfAnotherGrid())
      {
        throw Error("the grid, or the share of a rank, is another than in the step before");
      }
    });
  statistics.phase("SetupSeconds");
  double time = 0;
  if (state.Goal < 0)
  {
    state.History.clear();
    vtkInformation* info = outputVector->GetInformationObject(0);
    time = info->Has(Pipeline::UPDATE_TIME_STEP()) ? info->Get(Pipeline::UPDATE_TIME_STEP()) : 0;
    if (input->GetInformation()->Has(vtkDataObject::DATA_TIME_STEP()))
    {
      time = input->GetInformation()->Get(vtkDataObject::DATA_TIME_STEP());
    }
    if (!this->Step(0, 0, 1, time))
    {
      return false;
    }
  }
  else
  {
    if (!this->SolveSteps())
    {
      return false;
    }
    state.Next = state.Done + 1;
    state.IsUnderWay = state.Done < state.Goal;
    time = state.Times[static_cast<std::size_t>(state.Done)];
  }
  statistics.phase("SolvingSeconds");
  if (state.IsUnderWay)
  {
    return true;
  }
  this->Write(input, time, outputVector);
  statistics.count("Cells", this->Cells.box.cells());
  statistics.add(this->Total);
  statistics.phase("WritingSeconds");
  return true;
}

//------------------------------------------------------------------------------
vtkAsyncConvectionDiffusion::vtkAsyncConvectionDiffusion()
  : State(std::make_unique<vtkState>())
{
  this->SetNumberOfInputPorts(2);
  this->SetNumberOfOutputPorts(2);
  constexpr int either = vtkDataObject::FIELD_ASSOCIATION_POINTS_THEN_CELLS;
  this->SetInputArrayToProcess(VELOCITY, 0, 0, either, vtkDataSetAttributes::VECTORS);
  this->SetInputArrayToProcess(SOURCE, 0, 0, either, vtkDataSetAttributes::SCALARS);
  this->SetInputArrayToProcess(INITIAL, 0, 0, either, vtkDataSetAttributes::SCALARS);
}

//------------------------------------------------------------------------------
vtkAsyncConvectionDiffusion::~vtkAsyncConvectionDiffusion() = default;

//------------------------------------------------------------------------------
void vtkAsyncConvectionDiffusion::SetSourceConnection(vtkAlgorithmOutput* source)
{
  this->SetInputConnection(1, source);
}

//------------------------------------------------------------------------------
void vtkAsyncConvectionDiffusion::SetSideCondition(int side, int condition)
{
  condition = std::clamp<int>(condition, OUTFLOW, PERIODIC);
  if (side >= 0 && side < SIDES && this->SideConditions[side] != condition)
  {
    this->SideConditions[side] = condition;
    this->Modified();
  }
}

//------------------------------------------------------------------------------
int vtkAsyncConvectionDiffusion::GetSideCondition(int side) const
{
  return side >= 0 && side < SIDES ? this->SideConditions[side] : static_cast<int>(OUTFLOW);
}

//------------------------------------------------------------------------------
void vtkAsyncConvectionDiffusion::SetSideValue(int side, double value)
{
  if (side >= 0 && side < SIDES && !(this->SideValues[side] == value))
  {
    this->SideValues[side] = value;
    this->Modified();
  }
}

//------------------------------------------------------------------------------
double vtkAsyncConvectionDiffusion::GetSideValue(int side) const
{
  return side >= 0 && side < SIDES ? this->SideValues[side] : 0;
}

//------------------------------------------------------------------------------
void vtkAsyncConvectionDiffusion::CheckProperties()
{
  const auto isFinite = [](double x) { return std::isfinite(x); };
  require(this->Diffusivity >= 0 && isFinite(this->Diffusivity), "Diffusivity", this->Diffusivity,
    "set it to 0 or more");
  require(this->Decay >= 0 && isFinite(this->Decay), "Decay", this->Decay, "set it to 0 or more");
  for (int side = 0; side < SIDES; ++side)
  {
    const std::string name = SIDE_NAMES[side];
    require(isFinite(this->SideValues[side]), (name + "Value").c_str(), this->SideValues[side],
      "set it to a finite number");
    const bool isPeriodic = this->SideConditions[side] == PERIODIC;
    require(!isPeriodic || this->SideConditions[side ^ 1] == PERIODIC, (name + "Condition").c_str(),
      "periodic", "make the opposite side periodic, too");
  }
  require(isFinite(this->SourceRate), "SourceRate", this->SourceRate, "set it to a finite number");
  if (this->SourceType == SOURCE_SPHERE)
  {
    for (const double x : this->SourceCenter)
    {
      require(isFinite(x), "SourceCenter", x, "set it to finite coordinates");
    }
    require(this->SourceRadius > 0 && isFinite(this->SourceRadius), "SourceRadius",
      this->SourceRadius, "set it to a positive length");
  }
  if (this->SourceType == SOURCE_BOX)
  {
    for (int a = 0; a < 3; ++a)
    {
      const double lo = this->SourceBounds[2 * a], hi = this->SourceBounds[2 * a + 1];
      require(isFinite(lo) && isFinite(hi) && lo <= hi, "SourceBounds", lo, "its end, ", hi,
        ", must not be below its beginning");
    }
  }
  require(this->SourceType != SOURCE_DATA || this->GetNumberOfInputConnections(1) > 0, "SourceType",
    "input", "set the source input, or choose another type");
  if (!this->SteadyState)
  {
    require(this->TimeStep > 0 && isFinite(this->TimeStep), "TimeStep", this->TimeStep,
      "set it to more than 0");
    require(this->MaximumCourantNumber >= 0 && isFinite(this->MaximumCourantNumber),
      "MaximumCourantNumber", this->MaximumCourantNumber,
      "set it to more than 0, or to 0 for no limit");
    require(this->NumberOfSteps >= 1 && this->NumberOfSteps <= MOST_STEPS, "NumberOfSteps",
      this->NumberOfSteps, "set it to 1 or more, up to a million");
    require(!this->State->Times.empty(), "EndTime", this->EndTime,
      "set it to a time after the beginning, and not more than a million steps after");
  }
  require(this->ResidualThreshold > 0 && isFinite(this->ResidualThreshold), "ResidualThreshold",
    this->ResidualThreshold, "set it to more than 0");
  require(this->IterationLimit >= 1, "IterationLimit", this->IterationLimit, "set it to 1 or more");
  require(this->SweepsPerExchange >= 1, "SweepsPerExchange", this->SweepsPerExchange,
    "set it to 1 or more");
  require(this->Slabs >= 0, "Slabs", this->Slabs, "set it to 1 or more, or to 0 for the threads");
}

//------------------------------------------------------------------------------
void vtkAsyncConvectionDiffusion::DescribeEquation(tributary::PropertyList& list)
{
  list.add("Diffusivity", this->Diffusivity);
  list.add("Decay", this->Decay);
  list.add("Conservative", this->Conservative);
  list.addAll("the conditions of sides", this->SideConditions);
  list.addAll("the values of sides", this->SideValues);
  list.add("SourceType", this->SourceType);
  list.add("SourceRate", this->SourceRate);
  list.addAll("SourceCenter", this->SourceCenter);
  list.add("SourceRadius", this->SourceRadius);
  list.addAll("SourceBounds", this->SourceBounds);
  list.add("UseInitialConcentration", this->UseInitialConcentration);
  list.add("SteadyState", this->SteadyState);
  list.add("TimeStep", this->TimeStep);
  list.add("MaximumCourantNumber", this->MaximumCourantNumber);
  list.add("ResidualThreshold", this->ResidualThreshold);
  list.add("IterationLimit", this->IterationLimit);
  list.add("SweepsPerExchange", this->SweepsPerExchange);
  list.add("Slabs", this->Slabs);
  list.add("ConvergenceDetection", this->ConvergenceDetection);
  this->DescribeArray(list, "SelectVelocity", VELOCITY);
  this->DescribeArray(list, "SelectSource", SOURCE);
  this->DescribeArray(list, "SelectInitialConcentration", INITIAL);
  list.add("whether the input varies", this->State->InputVaries);
}

//------------------------------------------------------------------------------
void vtkAsyncConvectionDiffusion::DescribeProperties(tributary::PropertyList& list)
{
  this->DescribeEquation(list);
  list.add("StopAt", this->StopAt);
  list.add("NumberOfSteps", this->NumberOfSteps);
  list.add("EndTime", this->EndTime);
  list.addAll("the list of time steps", this->State->Times);
  list.add("the time step asked for", this->State->Goal);
  if (this->State->InputVaries)
  {
    // What the input was asked for, too, follows from them.
    list.add("the next time step", this->State->Next);
    list.add("whether to begin anew", this->State->IsAnew);
  }
}

//------------------------------------------------------------------------------
int vtkAsyncConvectionDiffusion::FillInputPortInformation(int port, vtkInformation* info)
{
  if (port == 1)
  {
    info->Set(vtkAlgorithm::INPUT_IS_OPTIONAL(), 1);
  }
  return this->Superclass::FillInputPortInformation(port, info);
}

//------------------------------------------------------------------------------
int vtkAsyncConvectionDiffusion::FillOutputPortInformation(int port, vtkInformation* info)
{
  info->Set(vtkDataObject::DATA_TYPE_NAME(), port == 0 ? "vtkDataObject" : "vtkTable");
  return 1;
}

//------------------------------------------------------------------------------
int vtkAsyncConvectionDiffusion::RequestDataObject(
  vtkInformation*, vtkInformationVector** inputVector, vtkInformationVector* outputVector)
{
  vtkDataObject* input = vtkDataObject::GetData(inputVector[0], 0);
  if (!input)
  {
    return 0;
  }
  for (int port = 0; port < 2; ++port)
  {
    vtkSmartPointer<vtkDataObject> output;
    if (port == 0)
    {
      output.TakeReference(input->NewInstance());
    }
    else
    {
      output = vtkSmartPointer<vtkTable>::New();
    }
    vtkInformation* info = outputVector->GetInformationObject(port);
    vtkDataObject* old = vtkDataObject::GetData(info);
    if (!old || old->GetDataObjectType() != output->GetDataObjectType())
    {
      info->Set(vtkDataObject::DATA_OBJECT(), output);
    }
  }
  return 1;
}

//------------------------------------------------------------------------------
int vtkAsyncConvectionDiffusion::RequestInformation(
  vtkInformation*, vtkInformationVector** inputVector, vtkInformationVector* outputVector)
{
  vtkState& state = *this->State;
  vtkInformation* input = inputVector[0]->GetInformationObject(0);
  const int count = input->Has(Pipeline::TIME_STEPS()) ? input->Length(Pipeline::TIME_STEPS()) : 0;
  state.InputVaries = count > 1;
  state.Times.clear();
  if (this->SteadyState)
  {
    return 1;
  }
  const double begin = count > 0 ? input->Get(Pipeline::TIME_STEPS())[0] : 0;
  state.Times = timesOfSteps(
    begin, this->TimeStep, this->NumberOfSteps, this->StopAt == END_TIME, this->EndTime);
  for (int port = 0; port < outputVector->GetNumberOfInformationObjects(); ++port)
  {
    vtkInformation* output = outputVector->GetInformationObject(port);
    if (state.Times.empty())
    {
      output->Remove(Pipeline::TIME_STEPS());
      output->Remove(Pipeline::TIME_RANGE());
      continue;
    }
    const double range[2] = { state.Times.front(), state.Times.back() };
    output->Set(Pipeline::TIME_STEPS(), state.Times.data(), static_cast<int>(state.Times.size()));
    output->Set(Pipeline::TIME_RANGE(), range, 2);
  }
  return 1;
}

//------------------------------------------------------------------------------
int vtkAsyncConvectionDiffusion::RequestUpdateExtent(
  vtkInformation* request, vtkInformationVector** inputVector, vtkInformationVector* outputVector)
{
  this->Superclass::RequestUpdateExtent(request, inputVector, outputVector);
  vtkState& state = *this->State;
  vtkInformation* input = inputVector[0]->GetInformationObject(0);
  if (!state.IsUnderWay)
  {
    const int port = std::max(request->Get(Pipeline::FROM_OUTPUT_PORT()), 0);
    vtkInformation* output = outputVector->GetInformationObject(port);
    state.Asked = {};
    this->DescribeEquation(state.Asked.Properties);
    for (int i = 0; i < this->GetNumberOfInputPorts(); ++i)
    {
      if (this->GetNumberOfInputConnections(i) > 0)
      {
        auto* executive = vtkDemandDrivenPipeline::SafeDownCast(this->GetInputExecutive(i, 0));
        state.Asked.InputTime =
          std::max(state.Asked.InputTime, executive ? executive->GetPipelineMTime() : 0);
      }
    }
    state.Goal = this->SteadyState ? -1 : 0;
    if (!this->SteadyState && output->Has(Pipeline::UPDATE_TIME_STEP()))
    {
      const double time = output->Get(Pipeline::UPDATE_TIME_STEP()) + SAME_TIME * this->TimeStep;
      const auto after = std::upper_bound(state.Times.begin(), state.Times.end(), time);
      state.Goal = std::max<std::int64_t>(after - state.Times.begin() - 1, 0);
    }
    // Of a steady state what there is is a good guess, if nothing but the flow has changed.
    const bool goesOn = state.Past.size() <= state.Times.size() &&
      std::equal(state.Past.begin(), state.Past.end(), state.Times.begin());
    state.IsAnew =
      !state.IsWhole || !(state.Asked == state.Begun) || !goesOn || state.Goal < state.Done;
    state.Next = state.IsAnew ? 0 : std::min(state.Done + 1, state.Goal);
  }
  if (this->SteadyState || state.Times.empty())
  {
    return 1;
  }
  if (state.InputVaries)
  {
    input->Set(Pipeline::UPDATE_TIME_STEP(), state.Times[static_cast<std::size_t>(state.Next)]);
  }
  else if (input->Has(Pipeline::TIME_STEPS()))
  {
    // Its only time: another one would have it execute again, for the same data.
    input->Set(Pipeline::UPDATE_TIME_STEP(), state.Times.front());
  }
  else
  {
    input->Remove(Pipeline::UPDATE_TIME_STEP());
  }
  return 1;
}

//------------------------------------------------------------------------------
int vtkAsyncConvectionDiffusion::ProcessRequest(
  vtkInformation* request, vtkInformationVector** inputVector, vtkInformationVector* outputVector)
{
  const int result = this->Superclass::ProcessRequest(request, inputVector, outputVector);
  if (request->Has(vtkDemandDrivenPipeline::REQUEST_DATA()))
  {
    if (this->State->IsUnderWay)
    {
      request->Set(Pipeline::CONTINUE_EXECUTING(), 1);
    }
    else
    {
      request->Remove(Pipeline::CONTINUE_EXECUTING());
    }
  }
  return result;
}

//------------------------------------------------------------------------------
bool vtkAsyncConvectionDiffusion::Execute(tributary::Transport& transport,
  vtkInformationVector** inputVector, vtkInformationVector* outputVector,
  tributary::RunStatistics& statistics)
{
  this->State->IsUnderWay = false;
  this->State->IsWhole = false;
  this->State->IsWhole = vtkRun(this, transport)
                           .Execute(vtkDataObject::GetData(inputVector[0], 0),
                             vtkDataObject::GetData(inputVector[1], 0), outputVector, statistics);
  return this->State->IsWhole;
}

//------------------------------------------------------------------------------
void vtkAsyncConvectionDiffusion::PrintSelf(ostream& os, vtkIndent indent)
{
  this->Superclass::PrintSelf(os, indent);
  os << indent << "Diffusivity: " << this->Diffusivity << "\n"
     << indent << "Decay: " << this->Decay << "\n"
     << indent << "Conservative: " << this->Conservative << "\n";
  for (int side = 0; side < SIDES; ++side)
  {
    os << indent << SIDE_NAMES[side] << "Condition: " << this->SideConditions[side] << "\n"
       << indent << SIDE_NAMES[side] << "Value: " << this->SideValues[side] << "\n";
  }
  os << indent << "SourceType: " << this->SourceType << "\n"
     << indent << "SourceRate: " << this->SourceRate << "\n"
     << indent << "SourceCenter: " << this->SourceCenter[0] << " " << this->SourceCenter[1] << " "
     << this->SourceCenter[2] << "\n"
     << indent << "SourceRadius: " << this->SourceRadius << "\n"
     << indent << "SourceBounds:";
  for (const double bound : this->SourceBounds)
  {
    os << " " << bound;
  }
  os << "\n"
     << indent << "UseInitialConcentration: " << this->UseInitialConcentration << "\n"
     << indent << "SteadyState: " << this->SteadyState << "\n"
     << indent << "TimeStep: " << this->TimeStep << "\n"
     << indent << "MaximumCourantNumber: " << this->MaximumCourantNumber << "\n"
     << indent << "StopAt: " << this->StopAt << "\n"
     << indent << "NumberOfSteps: " << this->NumberOfSteps << "\n"
     << indent << "EndTime: " << this->EndTime << "\n"
     << indent << "ResidualThreshold: " << this->ResidualThreshold << "\n"
     << indent << "IterationLimit: " << this->IterationLimit << "\n"
     << indent << "SweepsPerExchange: " << this->SweepsPerExchange << "\n"
     << indent << "Slabs: " << this->Slabs << "\n"
     << indent << "ConvergenceDetection: " << this->ConvergenceDetection << "\n";
}
