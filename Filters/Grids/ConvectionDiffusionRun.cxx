// SPDX-License-Identifier: BSD-3-Clause
#include "Grids/ConvectionDiffusionRun.h"

#include <vtkCellData.h>
#include <vtkDataArray.h>
#include <vtkDataObject.h>
#include <vtkDataSet.h>
#include <vtkDoubleArray.h>
#include <vtkFieldData.h>
#include <vtkIdTypeArray.h>
#include <vtkInformation.h>
#include <vtkNew.h>
#include <vtkSMPTools.h>
#include <vtkTable.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <utility>

#include "Common/FreshArray.h"
#include "Common/Leaves.h"
#include "Common/RunStatistics.h"
#include "Common/SmpFor.h"
#include "Common/VTKVersions.h"
#include "Output/ActiveScalars.h"
#include "Output/NamedArrays.h"
#include "Output/TableColumns.h"
#include "Velocity/FaceVelocity.h"

#include "Tributary/Base/Error.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Iteration/ExactSum.h"

namespace tributary {
namespace {

using Source = ConvectionDiffusionSettings::Source;

constexpr double MaximumSubsteps = 1e6;
/// Larger ones are reported.
constexpr double LargeCourantNumber = 10;

/// Visits the cells of a box with their places, x fastest.
template <class Visit>
void forEachCellOf(const CellRange& box, Visit&& visit) {
  std::size_t place = 0;
  std::array<std::int64_t, 3> cell;
  for (cell[2] = box.lo[2]; cell[2] < box.hi[2]; ++cell[2])
    for (cell[1] = box.lo[1]; cell[1] < box.hi[1]; ++cell[1])
      for (cell[0] = box.lo[0]; cell[0] < box.hi[0]; ++cell[0]) visit(cell, place++);
}

}  // namespace

/// Local, inside of an agreement. @return one array for each piece
std::vector<PieceArray> ConvectionDiffusionRun::findArrays(const ArrayChoice& choice,
                                                           const char* property,
                                                           std::size_t components) const {
  std::vector<PieceArray> found;
  for (const GridPiece& piece : cells_.pieces) {
    found.push_back(choice(piece.dataSet));
    if (!isWholeArray(found.back(), piece.dataSet) ||
        found.back().array->GetNumberOfComponents() != static_cast<int>(components))
      throw Error("the input lacks an array with " + std::to_string(components) +
                  (components == 1 ? " component" : " components") +
                  " at cells or points; choose one with " + property);
  }
  return found;
}

/// Collective. Moves components of cells to the faces that they belong to.
/// @param vectors  of the pieces
std::vector<PieceArray> ConvectionDiffusionRun::movedToFaces(
    const std::vector<PieceArray>& vectors, const std::array<bool, 3>& periodic) const {
  std::vector<FacePart> parts;
  collectively(transport_, [&] {
    for (std::size_t n = 0; n < vectors.size(); ++n) {
      FacePart& part = parts.emplace_back();
      extentOf(cells_.pieces[n].dataSet, part.extent.data());
      part.velocity = vectors[n].array;
    }
  });
  const bool isLow = settings_.velocity.position == ComponentPosition::LowFaces;
  std::vector<PieceArray> moved;
  for (const auto& faces : moveToFaces(transport_, parts, {isLow, isLow, isLow}, periodic))
    moved.push_back({faces, false});
  return moved;
}

void ConvectionDiffusionRun::readFlow() {
  CellFlow flow;
  double rate = 0;
  std::array<bool, 3> periodic{};
  for (std::size_t a = 0; a < 3; ++a)
    periodic[a] = makeTerms(0).sides[2 * a].kind == SideCondition::Kind::Periodic;
  std::vector<PieceArray> vectors;
  collectively(transport_, [&] {
    const auto vectorsOf = [this](vtkDataSet* dataSet) {
      const Velocity velocity = settings_.velocity.of(transport_, dataSet);
      if (settings_.velocity.inComponents && !velocity.vectors)
        throw Error("the input lacks the components of the velocity; " +
                    settings_.velocity.choice("that all its data sets have"));
      if (settings_.velocity.onFaces()) {
        Leaf leaf;
        leaf.dataSet = dataSet;
        requireCellsWithFaces(settings_.velocity, leaf, velocity.isAtCells);
      }
      return PieceArray{velocity.vectors, velocity.isAtCells};
    };
    vectors = findArrays(vectorsOf, "Velocity", 3);
  });
  if (settings_.velocity.onFaces()) vectors = movedToFaces(vectors, periodic);
  collectively(transport_, [&] {
    const char* const cure = settings_.velocity.inComponents
                                 ? "other arrays with X Component, Y Component and Z Component"
                                 : "another array with Velocity";
    flow = cellFlow(cells_, vectors, settings_.velocity.onFaces(), cure);
    std::vector<double> rates(cells_.count(), 0.0);
    for (std::size_t a = 0; a < 3; ++a)
      forEachCellOf(cells_.box, [&](const auto& cell, std::size_t at) {
        rates[at] += std::max(std::fabs(flow.low[a][at]), std::fabs(flow.high[a][at])) /
                     cells_.grid.width(a, cell[a]);
      });
    for (const double one : rates) rate = std::max(rate, one);
  });
  state_.rate = allreduce(transport_, ReduceOp::Max, rate);
  state_.flow = flowBetween(transport_, cells_.grid, periodic, cells_.box, flow);
}

/// Local. Sets the source to 1 in the cells whose centers are in the sphere or box, to 0 in others.
void ConvectionDiffusionRun::markSourceShape() {
  const bool isSphere = settings_.source == Source::Sphere;
  forEachCellOf(cells_.box, [&](const auto& cell, std::size_t at) {
    double distance2 = 0;
    bool isInBox = true;
    for (std::size_t a = 0; a < 3; ++a) {
      if (cells_.isFlat[a]) continue;
      const double x = cells_.grid.center(a, cell[a]);
      distance2 += (x - settings_.sourceCenter[a]) * (x - settings_.sourceCenter[a]);
      isInBox =
          isInBox && x >= settings_.sourceBounds[2 * a] && x <= settings_.sourceBounds[2 * a + 1];
    }
    const bool isInSphere = distance2 <= settings_.sourceRadius * settings_.sourceRadius;
    state_.source[at] = (isSphere ? isInSphere : isInBox) ? 1 : 0;
  });
}

void ConvectionDiffusionRun::readSource(vtkDataObject* source) {
  std::vector<double> points;
  collectively(transport_, [&] {
    state_.source.assign(cells_.count(), 0.0);
    if (settings_.source == Source::Array) {
      state_.source = cellValues(cells_, findArrays(settings_.sourceArray, "Source Array", 1), 0);
    } else if (settings_.source == Source::Data) {
      double point[3];
      for (const Leaf& leaf : leavesOf(source))
        for (vtkIdType i = 0; i < leaf.points(); ++i) {
          leaf.dataSet->GetPoint(i, point);
          points.insert(points.end(), point, point + 3);
        }
    } else if (settings_.source != Source::None) {
      markSourceShape();
    }
  });
  if (settings_.source == Source::Data)
    for (const std::size_t cell : cellsWithPoints(transport_, cells_, points))
      state_.source[cell] = 1;
  std::int64_t nonzero = 0;
  collectively(transport_, [&] {
    for (std::size_t i = 0; i < state_.source.size(); ++i) {
      state_.source[i] = cells_.hidden[i] ? 0 : state_.source[i] * settings_.sourceRate;
      if (!std::isfinite(state_.source[i]))
        throw Error(
            "a value of the source is not finite; replace it in the source array, or choose "
            "another");
      nonzero += state_.source[i] != 0;
    }
  });
  const bool isPlace = settings_.source >= Source::Sphere && settings_.sourceRate != 0;
  if (allreduce(transport_, ReduceOp::Sum, nonzero) == 0 && isPlace)
    throw Error(
        "the source selected by Source Type contains no visible cell; move the source "
        "into "
        "the input, or make it larger than a cell");
}

/// Sets the initial concentration.
void ConvectionDiffusionRun::initialize() {
  collectively(transport_, [&] {
    state_.grid = cells_.grid;
    state_.box = cells_.box;
    state_.history.clear();
    state_.concentration.assign(cells_.count(), 0.0);
    if (!settings_.useInitialConcentration) return;
    state_.concentration =
        cellValues(cells_, findArrays(settings_.initialArray, "Initial Concentration", 1), 0);
    for (std::size_t i = 0; i < state_.concentration.size(); ++i) {
      if (cells_.hidden[i]) state_.concentration[i] = 0;
      if (!std::isfinite(state_.concentration[i]))
        throw Error(
            "an initial concentration is not finite; replace it in the array, or choose another");
    }
  });
}

/// Local.
ConvectionDiffusionTerms ConvectionDiffusionRun::makeTerms(double inverseStep) const {
  ConvectionDiffusionTerms terms;
  terms.diffusivity = settings_.diffusivity;
  terms.decay = settings_.decay;
  terms.inverseStep = inverseStep;
  terms.conservative = settings_.conservative;
  for (std::size_t side = 0; side < Sides; ++side)
    if (!cells_.isFlat[side / 2]) terms.sides[side] = settings_.sides[side];
  return terms;
}

/// Local.
ConvectionDiffusionOptions ConvectionDiffusionRun::makeOptions() const {
  ConvectionDiffusionOptions options;
  settings_.solver.apply(options.iteration);
  options.iteration.residualThreshold = settings_.residualThreshold;
  options.sweepsPerExchange = settings_.solver.sweepsPerExchange;
  options.slabs = settings_.slabs > 0 ? settings_.slabs : static_cast<int>(smpThreads());
  options.parallelFor = smpFor;
  return options;
}

/// Local. The progress of the request, of which a share of the present step is done.
double ConvectionDiffusionRun::progress(double share) const {
  // The initial concentration is no step to solve.
  const std::int64_t before = std::max<std::int64_t>(state_.first - 1, 0);
  const std::int64_t all = std::max<std::int64_t>(state_.goal - before, 1);
  const std::int64_t done = std::max<std::int64_t>(state_.done - before, 0);
  return std::min(1.0, (static_cast<double>(done) + share) / static_cast<double>(all));
}

/// Local, for one rank. Warns of a large Courant number of the last step, once for each basis,
/// unless Maximum Courant Number divides steps.
void ConvectionDiffusionRun::warnOfCourantNumber() {
  if (settings_.maximumCourantNumber > 0 || state_.courant <= LargeCourantNumber) return;
  if (std::exchange(state_.hasWarnedOfCourant, true)) return;
  const double length = state_.times[index(state_.done + 1)] - state_.times[index(state_.done)];
  std::ostringstream text;
  text << "In a step the flow passes " << state_.courant
       << " cells (the Courant number), so the concentration is smeared; set Time Step to "
       << length / state_.courant
       << " or less, or Maximum Courant Number to 1, which divides steps.";
  context_.warn(text.str());
}

/// @param length  of the step, 0 for the steady state
/// @return false after an abort
bool ConvectionDiffusionRun::solveStep(double length, std::int64_t substeps, double time) {
  const double part = length / static_cast<double>(substeps);
  ConvectionDiffusionSolver solver(transport_, cells_.grid, cells_.box,
                                   makeTerms(part > 0 ? 1 / part : 0), state_.flow, makeOptions());
  std::copy(state_.concentration.begin(), state_.concentration.end(),
            solver.concentration().begin());
  for (std::int64_t n = 0; n < substeps; ++n)
    if (!solveSubstep(solver, n, substeps, time)) return false;
  std::copy(solver.concentration().begin(), solver.concentration().end(),
            state_.concentration.begin());
  state_.substeps = substeps;
  state_.courant = part * state_.rate;
  return true;
}

/// @return false after an abort
bool ConvectionDiffusionRun::solveSubstep(ConvectionDiffusionSolver& solver, std::int64_t number,
                                          std::int64_t substeps, double time) {
  const IterationResult result = solver.step(state_.source, [&](double share) {
    return context_.monitor(
        progress((static_cast<double>(number) + share) / static_cast<double>(substeps)));
  });
  iterations_ += solver.statistics();
  if (context_.agreeOnAbort(result.verdict == Verdict::Aborted)) return false;
  if (result.verdict != Verdict::Converged) {
    std::ostringstream text;
    text << "the residual is " << result.residual << " after " << result.iterations
         << " iterations and exceeds Residual Threshold, " << settings_.residualThreshold;
    text << (result.verdict == Verdict::IterationLimit
                 ? "; raise Iteration Limit or Residual Threshold, or reduce Time Step"
                 : ": the iterations diverged to values that are not finite; choose smaller "
                   "velocities or sources, or a larger Decay");
    throw Error(text.str());
  }
  if (transport_.rank() == 0)
    for (const ConvergenceSample& sample : solver.history())
      state_.history.push_back({std::max<std::int64_t>(state_.done + 1, 0), time, number, sample});
  state_.residual = result.residual;
  state_.iterations = result.iterations;
  return true;
}

/// Local, with the same result on all ranks.
std::int64_t ConvectionDiffusionRun::substepsOf(double length) const {
  if (!(settings_.maximumCourantNumber > 0)) return 1;
  const double substeps =
      std::max(std::ceil(length * state_.rate / settings_.maximumCourantNumber), 1.0);
  if (!(substeps <= MaximumSubsteps))
    throw Error(
        "Maximum Courant Number divides a step into more than 1000000 parts; raise it, or reduce "
        "Time Step");
  return static_cast<std::int64_t>(substeps);
}

/// One step if the input varies, otherwise all steps up to the goal.
/// @return false after an abort
bool ConvectionDiffusionRun::solveSteps() {
  while (state_.isUnderWay()) {
    if (state_.done < 0) {
      state_.residual = state_.courant = 0;
      state_.iterations = state_.substeps = 0;
    } else {
      const double begin = state_.times[index(state_.done)];
      const double end = state_.times[index(state_.done + 1)];
      if (!solveStep(end - begin, substepsOf(end - begin), end)) return false;
      if (transport_.rank() == 0) warnOfCourantNumber();
    }
    ++state_.done;
    state_.past.push_back(state_.times[index(state_.done)]);
    if (state_.inputVaries) break;
  }
  return true;
}

/// The input with the array Concentration.
void ConvectionDiffusionRun::write(vtkDataObject* input, vtkDataObject* output) {
  const std::vector<std::vector<double>> values =
      valuesAtPieces(transport_, sites_, state_.concentration);
  collectively(transport_, [&] {
    shallowCopy(output, input);
    auto piece = values.begin();
    forEachDataSet(output, [&](vtkDataObject* object) {
      auto* dataSet = vtkDataSet::SafeDownCast(object);
      if (!dataSet) return;
      const auto array =
          freshArray<vtkDoubleArray>("Concentration", 1, dataSet->GetNumberOfCells());
      if (dataSet->GetNumberOfCells() > 0) {
        std::copy(piece->begin(), piece->end(), array->GetPointer(0));
        ++piece;
      }
      dataSet->GetCellData()->AddArray(array);
    });
    setActiveScalars(output, vtkDataObject::CELL, "Concentration");
  });
}

/// The field data: numbers of the last step.
void ConvectionDiffusionRun::writeTotals(vtkDataObject* output) {
  ExactSum total;
  forEachCellOf(cells_.box, [&](const auto& cell, std::size_t at) {
    total.add(cells_.grid.width(0, cell[0]) * cells_.grid.width(1, cell[1]) *
              cells_.grid.width(2, cell[2]) * state_.concentration[at]);
  });
  const auto sums =
      allreduce(transport_, ReduceOp::Sum,
                std::vector<std::int64_t>(total.parts().begin(), total.parts().end()));
  const auto add = [&](const char* name, auto* array, auto value) {
    array->SetName(name);
    array->InsertNextValue(value);
    output->GetFieldData()->AddArray(array);
  };
  add("Residual", vtkNew<vtkDoubleArray>().Get(), state_.residual);
  add("Iterations", vtkNew<vtkIdTypeArray>().Get(), state_.iterations);
  add("CourantNumber", vtkNew<vtkDoubleArray>().Get(), state_.courant);
  add("Substeps", vtkNew<vtkIdTypeArray>().Get(), state_.substeps);
  add("ConcentrationTotal", vtkNew<vtkDoubleArray>().Get(), ExactSum(sums).value());
}

/// Local.
void ConvectionDiffusionRun::writeHistory(vtkTable* history) const {
  using Row = ConvectionDiffusionState::HistoryRow;
  history->Initialize();
  const auto& rows = state_.history;
  addColumns(
      history,
      {numbers("Step", rows, [](const Row& row) { return row.step; }),
       values("Time", rows, [](const Row& row) { return row.time; }),
       numbers("Substep", rows, [](const Row& row) { return row.substep; }),
       numbers("Iterations", rows, [](const Row& row) { return row.sample.iterations; }),
       values("Seconds", rows, [](const Row& row) { return row.sample.seconds; }),
       values("Residual", rows, [](const Row& row) { return row.sample.norm; }),
       numbers("Verified", rows, [](const Row& row) { return row.sample.verified ? 1 : 0; })});
}

/// Local. Whether the grid or this rank's box is not that of the concentration.
bool ConvectionDiffusionRun::isOfAnotherGrid() const {
  bool differs = state_.box.lo != cells_.box.lo || state_.box.hi != cells_.box.hi;
  for (std::size_t a = 0; a < 3; ++a)
    differs = differs || state_.grid.ends[a] != cells_.grid.ends[a];
  return differs;
}

/// Reads the input and, if needed, restarts.
void ConvectionDiffusionRun::prepare(vtkDataObject* source) {
  // All ranks restart if one has a reason to.
  const bool restart =
      state_.restart || ((!state_.inputVaries || state_.goal < 0) && isOfAnotherGrid());
  state_.restart = allreduce(transport_, ReduceOp::Or, std::int64_t(restart)) != 0;
  if (state_.restart || state_.inputVaries) {
    readFlow();
    readSource(source);
  }
  if (state_.restart) {
    initialize();
    state_.done = -1;
    state_.past.clear();
    state_.restart = false;
    state_.started = state_.requested;
  }
  collectively(transport_, [&] {
    if (isOfAnotherGrid())
      throw Error(
          "the grid, or the part of it on a rank, differs from that of the previous step; use an "
          "input with the same grid at all times");
    sites_ = gridSitesOf(cells_, {}, true);
  });
}

void ConvectionDiffusionState::plan(std::int64_t requestedGoal, Basis basis, bool isWhole) {
  goal = requestedGoal;
  if (!(basis == requested)) hasWarnedOfCourant = false;
  requested = std::move(basis);
  // If only the flow has changed, the last steady state is a good initial guess.
  const bool isPrefix =
      past.size() <= times.size() && std::equal(past.begin(), past.end(), times.begin());
  restart = !isWhole || !(requested == started) || !isPrefix || goal < done;
  first = next = restart ? 0 : std::min(done + 1, goal);
}

bool ConvectionDiffusionRun::execute(vtkDataObject* input, vtkDataObject* source,
                                     vtkDataObject* output, vtkTable* history) {
  cells_ = gridCellsOf(transport_, input, DecreasingAxes::Refused);
  prepare(source);
  context_.statistics.phase("SetupSeconds");
  double time = settings_.requestedTime;
  if (state_.goal < 0) {
    state_.history.clear();
    if (input->GetInformation()->Has(vtkDataObject::DATA_TIME_STEP()))
      time = input->GetInformation()->Get(vtkDataObject::DATA_TIME_STEP());
    if (!solveStep(0, 1, time)) return false;
  } else {
    if (!solveSteps()) return false;
    state_.next = state_.done + 1;
    time = state_.times[index(state_.done)];
  }
  context_.statistics.phase("SolvingSeconds");
  if (state_.isUnderWay()) return true;
  write(input, output);
  writeTotals(output);
  writeHistory(history);
  for (vtkDataObject* one : {output, static_cast<vtkDataObject*>(history)})
    one->GetInformation()->Set(vtkDataObject::DATA_TIME_STEP(), time);
  context_.statistics.count("Cells", cells_.box.cells());
  context_.statistics.add(iterations_);
  context_.statistics.phase("WritingSeconds");
  return true;
}

}  // namespace tributary
