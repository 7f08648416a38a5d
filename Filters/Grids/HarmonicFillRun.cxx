// SPDX-License-Identifier: BSD-3-Clause
#include "Grids/HarmonicFillRun.h"

#include <vtkCellData.h>
#include <vtkDataArray.h>
#include <vtkDataObject.h>
#include <vtkDataSet.h>
#include <vtkDataSetAttributes.h>
#include <vtkFieldData.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkSmartPointer.h>
#include <vtkUnsignedCharArray.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

#include "Common/FreshArray.h"
#include "Common/Leaves.h"
#include "Common/RunStatistics.h"
#include "Common/SmpFor.h"
#include "Common/VTKVersions.h"
#include "Output/ActiveScalars.h"
#include "Output/NamedArrays.h"

#include "Tributary/Base/Error.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"

namespace tributary {
namespace {

using Unknown = HarmonicFillSettings::Unknown;

/// The array with which VTK's probes mark the points inside of their source.
constexpr const char* ValidPointMask = "vtkValidPointMask";

/// For messages.
std::string nameOf(const std::string& array, bool isAtCells) {
  return std::string(isAtCells ? "the cell array \"" : "the point array \"") + array + "\"";
}

vtkDataSetAttributes* attributesOf(vtkDataSet* dataSet, bool areCells) {
  return areCells ? static_cast<vtkDataSetAttributes*>(dataSet->GetCellData())
                  : static_cast<vtkDataSetAttributes*>(dataSet->GetPointData());
}

bool isFloating(vtkDataArray* array) {
  return array->GetDataType() == VTK_FLOAT || array->GetDataType() == VTK_DOUBLE;
}

/// Whether an array has values that can be interpolated. Ids, ghost flags and the mask of a probe
/// have none.
bool canBeFilled(vtkDataSetAttributes* attributes, int index) {
  vtkDataArray* array = attributes->GetArray(index);
  if (!array || !array->GetName()) return false;
  const int attribute = attributes->IsArrayAnAttribute(index);
  return attribute != vtkDataSetAttributes::GLOBALIDS &&
         attribute != vtkDataSetAttributes::PEDIGREEIDS &&
         array->GetName() != std::string(vtkDataSetAttributes::GhostArrayName()) &&
         array->GetName() != std::string(ValidPointMask);
}

/// Whether a component of a tuple is NaN.
bool hasNaN(vtkDataArray* array, vtkIdType tuple) {
  for (int c = 0; c < array->GetNumberOfComponents(); ++c)
    if (std::isnan(array->GetComponent(tuple, c))) return true;
  return false;
}

/// Whether a mask has one number for each point, or for each cell.
bool isMask(const PieceArray& mask, vtkDataSet* dataSet) {
  return isWholeArray(mask, dataSet) && mask.array->GetNumberOfComponents() == 1;
}

}  // namespace

/// Local, inside of an agreement.
vtkDataArray* HarmonicFillRun::arrayOf(const GridPiece& piece, const Task& task) const {
  vtkDataArray* array = attributesOf(piece.dataSet, task.isAtCells)->GetArray(task.name.c_str());
  if (!isWholeArray({array, task.isAtCells}, piece.dataSet) ||
      array->GetNumberOfComponents() != task.components)
    throw Error("a piece of the input lacks " + nameOf(task.name, task.isAtCells) + " with " +
                std::to_string(task.components) +
                " components, which another piece has; choose arrays that all pieces have with " +
                (task.isAtCells ? "Cell Arrays" : "Point Arrays"));
  return array;
}

/// Local, inside of an agreement. Writes the tasks of a data set.
void HarmonicFillRun::writeTasks(vtkDataSet* dataSet, Writer& writer) const {
  PieceArray mask;
  if (settings_.unknown == Unknown::Mask) {
    mask = settings_.mask(dataSet);
    if (!isMask(mask, dataSet))
      throw Error(
          "the input lacks an array with 1 component at points or cells; choose one with Mask");
  }
  const bool isAll = settings_.pointArrays.empty() && settings_.cellArrays.empty();
  // Integers are never NaN, and may be labels, which have no values between them.
  const bool takesFloatsOnly =
      settings_.unknown == Unknown::NotANumber || settings_.unknown == Unknown::Missing;
  for (const bool areCells : {false, true}) {
    const bool fits = !mask.array || areCells == mask.isAtCells;
    vtkDataSetAttributes* attributes = attributesOf(dataSet, areCells);
    const auto add = [&](vtkDataArray* array) {
      writer.value(std::uint8_t(areCells))
          .value(std::int32_t(array->GetNumberOfComponents()))
          .text(array->GetName());
    };
    for (int i = 0; isAll && fits && i < attributes->GetNumberOfArrays(); ++i)
      if (canBeFilled(attributes, i) && attributes->GetArray(i) != mask.array &&
          (!takesFloatsOnly || isFloating(attributes->GetArray(i))))
        add(attributes->GetArray(i));
    const auto& names = areCells ? settings_.cellArrays : settings_.pointArrays;
    for (auto name = names.begin(); name != names.end(); ++name) {
      int index = -1;
      if (!attributes->GetArray(name->c_str(), index) || !canBeFilled(attributes, index))
        throw Error("the input lacks " + nameOf(*name, areCells) +
                    " with numbers that are not ids or ghost flags; choose another one with " +
                    (areCells ? "Cell Arrays" : "Point Arrays"));
      if (!fits)
        throw Error(nameOf(*name, areCells) + " is chosen, but the mask belongs to " +
                    (areCells ? "points" : "cells") + "; choose a Mask of " +
                    (areCells ? "cells, or use Point Arrays" : "points, or use Cell Arrays"));
      if (std::find(names.begin(), name, *name) == name) add(attributes->GetArray(index));
    }
  }
}

/// The tasks of the first rank with data.
std::vector<HarmonicFillRun::Task> HarmonicFillRun::findTasks() {
  Writer writer;
  collectively(transport_, [&] {
    if (!cells_.pieces.empty()) writeTasks(cells_.pieces.front().dataSet, writer);
  });
  std::vector<Task> tasks;
  int first = -1;
  allgatherRead(transport_, writer.take(), [&](Reader& reader, int rank) {
    first = first < 0 ? rank : first;
    Task task;
    task.isAtCells = reader.value<std::uint8_t>() != 0;
    task.components = reader.value<std::int32_t>();
    task.name = reader.text();
    if (rank == first) tasks.push_back(task);
  });
  if (settings_.markFilled) checkMarks(tasks);
  return tasks;
}

/// How the grid continues along the axes.
PeriodicAxes HarmonicFillRun::findAxes(vtkDataObject* input, const std::vector<Task>& tasks) {
  if (!settings_.periodic.any()) return {};
  std::vector<Leaf> leaves;
  collectively(transport_, [&] {
    for (const Leaf& leaf : leavesOf(input))
      if (leaf.cells() > 0) leaves.push_back(leaf);
  });
  // A gap is between points.
  const bool areAtPoints =
      std::none_of(tasks.begin(), tasks.end(), [](const Task& task) { return task.isAtCells; });
  return findPeriodicAxes(transport_, leaves, settings_.periodic, [&](vtkDataSet* dataSet) {
    std::vector<vtkDataArray*> values;
    if (!areAtPoints || tasks.empty()) return values;
    if (vtkDataArray* array = dataSet->GetPointData()->GetArray(tasks.front().name.c_str()))
      values.push_back(array);
    return values;
  });
}

/// Local, with the same result on all ranks. Throws Error if the mark of a task would replace the
/// array of another one.
void HarmonicFillRun::checkMarks(const std::vector<Task>& tasks) const {
  for (const Task& task : tasks) {
    const auto isItsMark = [&](const Task& other) {
      return other.isAtCells == task.isAtCells && other.name == task.name + "Filled";
    };
    if (std::any_of(tasks.begin(), tasks.end(), isItsMark))
      throw Error(
          nameOf(task.name + "Filled", task.isAtCells) +
          " is to be filled, but Mark Filled would replace it; set Mark Filled to false, or "
          "choose arrays without it");
  }
}

/// Local, inside of an agreement. Calls mark(isUnknown), where isUnknown(place) is the test for a
/// point or cell of the piece.
template <class Mark>
void HarmonicFillRun::markUnknown(const GridPiece& piece, const Task& task, Mark&& mark) const {
  vtkUnsignedCharArray* const ghosts =
      marksBlanked() && !task.isAtCells ? pointGhosts(piece.dataSet) : nullptr;
  const auto isHidden = [&](vtkIdType i) {
    return ghosts && (ghosts->GetValue(i) & vtkDataSetAttributes::HIDDENPOINT) != 0;
  };
  if (settings_.unknown == Unknown::Blanked) {
    mark(isHidden);
    return;
  }
  if (settings_.unknown == Unknown::Mask) {
    const PieceArray mask = settings_.mask(piece.dataSet);
    if (!isMask(mask, piece.dataSet) || mask.isAtCells != task.isAtCells)
      throw Error(
          "a piece of the input lacks the array that Mask chooses; choose one that all pieces "
          "have");
    mark(
        [&](vtkIdType i) { return (mask.array->GetComponent(i, 0) != 0) != settings_.invertMask; });
    return;
  }
  vtkDataArray* array = arrayOf(piece, task);
  if (settings_.unknown == Unknown::Missing) {
    const PieceArray valid{attributesOf(piece.dataSet, task.isAtCells)->GetArray(ValidPointMask),
                           task.isAtCells};
    const bool hasMask = !task.isAtCells && isMask(valid, piece.dataSet);
    mark([&](vtkIdType i) {
      return isHidden(i) || (hasMask && valid.array->GetComponent(i, 0) == 0) || hasNaN(array, i);
    });
    return;
  }
  if (settings_.unknown == Unknown::NotANumber) {
    mark([&](vtkIdType i) { return hasNaN(array, i); });
    return;
  }
  // Rounded as a value in the array.
  const double value = array->GetDataType() == VTK_FLOAT
                           ? static_cast<float>(settings_.unknownValue)
                           : settings_.unknownValue;
  mark([&](vtkIdType i) {
    bool is = false;
    for (int c = 0; c < task.components; ++c) is = is || array->GetComponent(i, c) == value;
    return is;
  });
}

/// Whether each of this rank's sites is unknown.
std::vector<std::uint8_t> HarmonicFillRun::unknownOf(const GridSites& sites, const Task& task) {
  std::vector<std::uint8_t> unknown;
  collectively(transport_, [&] {
    unknown.assign(sites.count(), 0);
    for (const GridSites::Source& source : sites.sources) {
      const CellRange& range = sites.pieces[source.piece];
      const auto clear = [&](std::size_t, std::size_t mine) { unknown[mine] = 0; };
      forEachSite(source.range, range, sites.box, clear);
      markUnknown(cells_.pieces[source.piece], task, [&](auto&& isUnknown) {
        forEachSite(source.range, range, sites.box, [&](std::size_t place, std::size_t mine) {
          unknown[mine] = isUnknown(static_cast<vtkIdType>(place)) ? 1 : 0;
        });
      });
    }
    for (std::size_t cell = 0; marksBlanked() && task.isAtCells && cell < unknown.size(); ++cell)
      unknown[cell] |= cells_.hidden[cell];
  });
  return unknown;
}

/// Local.
HarmonicFillOptions HarmonicFillRun::makeOptions() const {
  HarmonicFillOptions options;
  options.smoothness = settings_.smoothness;
  options.tolerance = settings_.tolerance;
  options.cycleLimit = settings_.cycleLimit;
  settings_.solver.apply(options.iteration);
  options.sweepsPerExchange = settings_.solver.sweepsPerExchange;
  options.parallelFor = smpFor;
  return options;
}

void HarmonicFillRun::makeSolver(const GridSites& sites, const Task& task,
                                 std::vector<std::uint8_t>&& unknown) {
  retireSolver();
  solver_ =
      std::make_unique<HarmonicFill>(transport_, sites.lattice, sites.box, unknown, makeOptions());
  solverUnknown_ = std::move(unknown);
  solverIsAtCells_ = task.isAtCells;
}

/// Local.
void HarmonicFillRun::retireSolver() {
  if (solver_) iterations_ += solver_->statistics();
  solver_.reset();
}

/// The values of this rank's sites.
std::vector<double> HarmonicFillRun::valuesOf(const GridSites& sites, const Task& task,
                                              int component) {
  std::vector<double> values;
  collectively(transport_, [&] {
    values.assign(sites.count(), 0.0);
    for (const GridSites::Source& source : sites.sources) {
      vtkDataArray* array = arrayOf(cells_.pieces[source.piece], task);
      forEachSite(source.range, sites.pieces[source.piece], sites.box,
                  [&](std::size_t place, std::size_t site) {
                    values[site] = array->GetComponent(static_cast<vtkIdType>(place), component);
                  });
    }
  });
  return values;
}

/// Local, with the same result on all ranks.
void HarmonicFillRun::throwNotConverged(const Task& task, const HarmonicFillResult& result) const {
  const bool isHarmonic = settings_.smoothness == FillSmoothness::Harmonic;
  std::ostringstream text;
  text << "the residual of " << nameOf(task.name, task.isAtCells) << " is " << result.residual
       << " after " << result.cycles << " cycles";
  if (isHarmonic)
    text << " and " << result.iterations << " iterations and exceeds";
  else
    text << " and its correction is " << result.correction << "; one of them exceeds";
  text << " Tolerance, " << settings_.tolerance << ", times the range of the known values, "
       << result.highest - result.lowest << "; raise Tolerance or "
       << (isHarmonic ? "Iteration Limit" : "Cycle Limit, or set Smoothness to Harmonic");
  throw Error(text.str());
}

/// @param begin, share  of the progress
/// @return false after an abort
bool HarmonicFillRun::fillComponent(const GridSites& sites, int component, double begin,
                                    double share, Filled& filled) {
  const Task& task = filled.task;
  std::vector<double> values = valuesOf(sites, task, component);
  HarmonicFillResult result;
  try {
    result =
        solver_->fill(values, [&](double done) { return context_.monitor(begin + share * done); });
  } catch (const LostMessage&) {
    throw;  // of this rank alone
  } catch (const Error& error) {
    ErrorCollector named;  // lack of memory for the text is an Error too, as on the other ranks
    named.attempt([&] {
      throw Error(error.kind(), nameOf(task.name, task.isAtCells) + ": " + error.what(),
                  error.rank());
    });
    named.raise();
  }
  if (context_.agreeOnAbort(result.verdict == Verdict::Aborted)) return false;
  if (result.verdict != Verdict::Converged) throwNotConverged(task, result);
  filled.residual = std::max(filled.residual, result.residual);
  filled.correction = std::max(filled.correction, result.correction);
  filled.cycles += result.cycles;
  filled.iterations += result.iterations;
  filled.values[index(component)] = valuesAtPieces(transport_, sites, values);
  return true;
}

/// @param begin, share  of the progress
/// @return false after an abort
bool HarmonicFillRun::fill(const GridSites& sites, double begin, double share, Filled& filled) {
  const Task& task = filled.task;
  std::vector<std::uint8_t> unknown = unknownOf(sites, task);
  const std::int64_t mine = std::count(unknown.begin(), unknown.end(), std::uint8_t(1));
  const bool canUseSolver =
      solver_ && solverIsAtCells_ == task.isAtCells && solverUnknown_ == unknown;
  const auto counts =
      allreduce(transport_, ReduceOp::Sum, std::vector<std::int64_t>{mine, canUseSolver ? 0 : 1});
  if (counts[0] == 0) return true;
  const std::int64_t all = sites.lattice.along(0) * sites.lattice.along(1) * sites.lattice.along(2);
  if (counts[0] == all) {
    filled.outcome = Filled::Outcome::NothingKnown;
    return true;
  }
  if (counts[1] != 0) makeSolver(sites, task, std::move(unknown));
  filled.outcome = Filled::Outcome::Filled;
  filled.count = counts[0];
  filled.unknown = valuesAtPieces(transport_, sites, solverUnknown_);
  const double part = share / task.components;
  for (int component = 0; component < task.components; ++component)
    if (!fillComponent(sites, component, begin + part * component, part, filled)) return false;
  return true;
}

/// Local. The arrays with an outcome, for messages.
std::string HarmonicFillRun::namesOf(Filled::Outcome outcome) const {
  std::string names;
  for (const Filled& filled : filled_)
    if (filled.outcome == outcome)
      names += (names.empty() ? "" : ", ") + nameOf(filled.task.name, filled.task.isAtCells);
  return names;
}

/// Local, with the same result on all ranks. Arrays without a known value remain as they are, which
/// is an error only if there are no others.
void HarmonicFillRun::reportWithoutValues() const {
  using Outcome = Filled::Outcome;
  const auto isNone = [&](Outcome outcome) {
    return std::none_of(filled_.begin(), filled_.end(),
                        [&](const Filled& one) { return one.outcome == outcome; });
  };
  if (isNone(Outcome::Filled) && isNone(Outcome::NothingKnown)) {
    if (transport_.rank() == 0)
      context_.warnOnce(
          filled_.empty()
              ? "There is no array to fill; choose Point Arrays or Cell Arrays."
              : "Nothing is filled, because no value is unknown in " +
                    namesOf(Outcome::NothingUnknown) +
                    "; choose other arrays, or set Unknown to what marks unknown values.");
    return;
  }
  const std::string names = namesOf(Outcome::NothingKnown);
  if (names.empty()) return;
  const std::string text = "nothing is known in " + names +
                           ": all values are unknown; choose other arrays, or check Unknown";
  if (isNone(Outcome::Filled) && isNone(Outcome::NothingUnknown)) throw Error(text);
  if (transport_.rank() == 0) context_.warnOnce("The other arrays are filled, but " + text + ".");
}

/// Local. Adds the filled arrays, and marks if asked for.
/// @param piece  the index of the data set in the pieces, if it has cells
void HarmonicFillRun::writeFilled(vtkDataSet* dataSet, std::size_t piece) const {
  for (const Filled& filled : filled_) {
    vtkDataSetAttributes* attributes = attributesOf(dataSet, filled.task.isAtCells);
    vtkNew<vtkUnsignedCharArray> mark;
    mark->SetName((filled.task.name + "Filled").c_str());
    if (dataSet->GetNumberOfCells() > 0) {
      vtkDataArray* old = attributes->GetArray(filled.task.name.c_str());
      const std::vector<std::uint8_t>& unknown = filled.unknown[piece];
      auto array = vtkSmartPointer<vtkDataArray>::Take(old->NewInstance());
      copyArray(old, array);
      const bool isIntegral = !isFloating(old);
      for (int c = 0; c < filled.task.components; ++c) {
        const std::vector<double>& values = filled.values[index(c)][piece];
        for (std::size_t i = 0; i < values.size(); ++i) {
          const auto place = static_cast<vtkIdType>(i);
          // The owner of a site may know another value.
          const double had = old->GetComponent(place, c);
          const bool isSame = had == values[i] || (std::isnan(had) && std::isnan(values[i]));
          if (unknown[i] != 0 || !isSame)
            array->SetComponent(place, c, isIntegral ? std::round(values[i]) : values[i]);
        }
      }
      attributes->AddArray(array);
      requireMemory(unknown.size());
      mark->SetNumberOfTuples(static_cast<vtkIdType>(unknown.size()));
      std::copy(unknown.begin(), unknown.end(), mark->GetPointer(0));
    }
    if (settings_.markFilled) attributes->AddArray(mark);
  }
}

/// Local. Clears the flags of hidden points and cells.
void HarmonicFillRun::showHidden(vtkDataSet* dataSet) const {
  for (const bool areCells : {false, true}) {
    vtkDataSetAttributes* attributes = attributesOf(dataSet, areCells);
    vtkDataArray* old = attributes->GetArray(vtkDataSetAttributes::GhostArrayName());
    if (!old) continue;
    const int hidden = areCells ? static_cast<int>(vtkDataSetAttributes::HIDDENCELL)
                                : static_cast<int>(vtkDataSetAttributes::HIDDENPOINT);
    auto flags = vtkSmartPointer<vtkDataArray>::Take(old->NewInstance());
    copyArray(old, flags);
    for (vtkIdType i = 0; i < flags->GetNumberOfTuples(); ++i)
      flags->SetComponent(i, 0, static_cast<int>(flags->GetComponent(i, 0)) & ~hidden);
    attributes->AddArray(flags);
  }
}

/// Local. Adds a row for each filled array.
void HarmonicFillRun::writeFieldData(vtkDataObject* output) const {
  const auto names = texts("FilledArrays");
  const auto counts = numbers("FilledValues"), cycles = numbers("Cycles"),
             iterations = numbers("Iterations");
  const auto residuals = values("Residual"), corrections = values("Correction");
  for (const Filled& filled : filled_) {
    names->InsertNextValue(filled.task.name);
    counts->InsertNextValue(filled.count);
    residuals->InsertNextValue(filled.residual);
    corrections->InsertNextValue(filled.correction);
    cycles->InsertNextValue(filled.cycles);
    iterations->InsertNextValue(filled.iterations);
  }
  vtkFieldData* fieldData = output->GetFieldData();
  fieldData->AddArray(names);
  fieldData->AddArray(counts);
  fieldData->AddArray(residuals);
  fieldData->AddArray(cycles);
  fieldData->AddArray(iterations);
  if (settings_.smoothness == FillSmoothness::Biharmonic) fieldData->AddArray(corrections);
}

void HarmonicFillRun::write(vtkDataObject* input, vtkDataObject* output) {
  collectively(transport_, [&] {
    shallowCopy(output, input);
    std::size_t piece = 0;
    forEachDataSet(output, [&](vtkDataObject* object) {
      auto* dataSet = vtkDataSet::SafeDownCast(object);
      if (!dataSet) return;
      writeFilled(dataSet, piece);
      if (marksBlanked() && settings_.showFilled && !filled_.empty()) showHidden(dataSet);
      piece += dataSet->GetNumberOfCells() > 0 ? 1 : 0;
    });
    if (!filled_.empty()) {
      const Task& first = filled_.front().task;
      setActiveScalars(output, first.isAtCells ? vtkDataObject::CELL : vtkDataObject::POINT,
                       first.name.c_str());
    }
    writeFieldData(output);
  });
}

bool HarmonicFillRun::execute(vtkDataObject* input, vtkDataObject* output) {
  // Only the widths of cells matter.
  cells_ = gridCellsOf(transport_, input, DecreasingAxes::Mirrored);
  const std::vector<Task> tasks = findTasks();
  const PeriodicAxes periodic = findAxes(input, tasks);
  GridSites points, cells;
  collectively(transport_, [&] {
    for (std::size_t a = 0; a < 3; ++a)
      if (periodic[a].isPeriodic && cells_.grid.along(a) < 2)
        throw Error(std::string("Periodic is on along ") + "XYZ"[a] +
                    ", where the grid has one cell; switch it off there, or refine the grid");
    points = gridSitesOf(cells_, periodic, false);
    cells = gridSitesOf(cells_, periodic, true);
    filled_ = std::vector<Filled>(tasks.begin(), tasks.end());
  });
  context_.statistics.phase("SetupSeconds");
  double begin = 0;
  const double share = 1.0 / static_cast<double>(std::max<std::size_t>(filled_.size(), 1));
  for (Filled& filled : filled_) {
    if (!fill(filled.task.isAtCells ? cells : points, begin, share, filled)) return false;
    begin += share;
  }
  reportWithoutValues();
  filled_.erase(
      std::remove_if(filled_.begin(), filled_.end(),
                     [](const Filled& one) { return one.outcome != Filled::Outcome::Filled; }),
      filled_.end());
  retireSolver();
  context_.statistics.phase("SolvingSeconds");
  write(input, output);
  context_.statistics.count("Values", static_cast<std::int64_t>(points.count()));
  context_.statistics.add(iterations_);
  context_.statistics.phase("WritingSeconds");
  return true;
}

}  // namespace tributary
