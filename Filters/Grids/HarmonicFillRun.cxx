// SPDX-License-Identifier: BSD-3-Clause
#include "Grids/HarmonicFillRun.h"

#include "Common/Leaves.h"
#include "Common/NamedArrays.h"
#include "Common/SmpFor.h"

#include "Tributary/Base/Bytes.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"

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

namespace {
using tributary::Error;
using tributary::GridPiece;
using tributary::GridSites;

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

/// Ids and flags, such as what probes were in the data, are no values that have something in
/// between.
bool canBeFilled(vtkDataSetAttributes* attributes, int index) {
  vtkDataArray* array = attributes->GetArray(index);
  if (!array || !array->GetName()) {
    return false;
  }
  const int attribute = attributes->IsArrayAnAttribute(index);
  return attribute != vtkDataSetAttributes::GLOBALIDS &&
         attribute != vtkDataSetAttributes::PEDIGREEIDS &&
         array->GetName() != std::string(vtkDataSetAttributes::GhostArrayName()) &&
         array->GetName() != std::string("vtkValidPointMask");
}

/// Whether a mask has a number for each point, or for each cell.
bool isMask(vtkDataArray* mask, int association, vtkDataSet* dataSet) {
  return mask && mask->GetNumberOfComponents() == 1 &&
         (association == vtkDataObject::FIELD_ASSOCIATION_POINTS ||
          association == vtkDataObject::FIELD_ASSOCIATION_CELLS) &&
         mask->GetNumberOfTuples() == (association == vtkDataObject::FIELD_ASSOCIATION_CELLS
                                           ? dataSet->GetNumberOfCells()
                                           : dataSet->GetNumberOfPoints());
}
}  // anonymous namespace

//------------------------------------------------------------------------------
/// Local, in collectively().
vtkDataArray* vtkAsyncHarmonicFill::vtkRun::ArrayOf(const GridPiece& piece,
                                                    const Task& task) const {
  vtkDataArray* array = attributesOf(piece.dataSet, task.IsAtCells)->GetArray(task.Name.c_str());
  const vtkIdType count =
      task.IsAtCells ? piece.dataSet->GetNumberOfCells() : piece.dataSet->GetNumberOfPoints();
  if (!array || array->GetNumberOfComponents() != task.Components ||
      array->GetNumberOfTuples() != count) {
    throw Error("a piece of the input has not " + nameOf(task.Name, task.IsAtCells) + " of " +
                std::to_string(task.Components) + " components that another one has");
  }
  return array;
}

//------------------------------------------------------------------------------
/// What is to be filled: what the first rank with data has.
std::vector<vtkAsyncHarmonicFill::vtkRun::Task> vtkAsyncHarmonicFill::vtkRun::FindTasks() {
  auto* self = this->Self;
  tributary::Writer writer;
  tributary::collectively(this->Transport, [&] {
    if (this->Cells.pieces.empty()) {
      return;
    }
    vtkDataSet* dataSet = this->Cells.pieces.front().dataSet;
    int maskAssociation = vtkDataObject::FIELD_ASSOCIATION_NONE;
    vtkDataArray* mask = nullptr;
    if (self->Unknown == MASK) {
      mask = self->GetInputArrayToProcess(0, dataSet, maskAssociation);
      if (!isMask(mask, maskAssociation, dataSet)) {
        throw Error(
            "the input has not the array that SelectMask names, of 1 component at points "
            "or cells; choose one with SelectMask (SetInputArrayToProcess(0, ...))");
      }
    }
    const bool isAll = self->PointArrays.empty() && self->CellArrays.empty();
    for (const bool areCells : {false, true}) {
      const bool fits =
          !mask || areCells == (maskAssociation == vtkDataObject::FIELD_ASSOCIATION_CELLS);
      vtkDataSetAttributes* attributes = attributesOf(dataSet, areCells);
      const auto add = [&](vtkDataArray* array) {
        writer.value(std::uint8_t(areCells))
            .value(std::int32_t(array->GetNumberOfComponents()))
            .text(array->GetName());
      };
      for (int i = 0; isAll && fits && i < attributes->GetNumberOfArrays(); ++i) {
        // No integer is not a number.
        if (canBeFilled(attributes, i) && attributes->GetArray(i) != mask &&
            (self->Unknown != NOT_A_NUMBER || isFloating(attributes->GetArray(i)))) {
          add(attributes->GetArray(i));
        }
      }
      const auto& names = areCells ? self->CellArrays : self->PointArrays;
      for (const std::string& name : names) {
        int index = -1;
        if (!attributes->GetArray(name.c_str(), index) || !canBeFilled(attributes, index)) {
          throw Error("the input has not " + nameOf(name, areCells) +
                      " with numbers, that are no ids or ghost flags; choose another one with " +
                      (areCells ? "CellArrays" : "PointArrays"));
        }
        if (!fits) {
          throw Error(nameOf(name, areCells) + " is chosen, but the mask belongs to " +
                      (areCells ? "points" : "cells") +
                      "; choose a mask or arrays of the other kind");
        }
        if (std::find(names.begin(), names.end(), name) == &name - names.data() + names.begin()) {
          add(attributes->GetArray(index));
        }
      }
    }
  });
  std::vector<Task> tasks;
  int first = -1;
  tributary::allgatherRead(this->Transport, writer.take(),
                           [&](tributary::Reader& reader, int rank) {
                             first = first < 0 ? rank : first;
                             Task task;
                             task.IsAtCells = reader.value<std::uint8_t>() != 0;
                             task.Components = reader.value<std::int32_t>();
                             task.Name = reader.text();
                             if (rank == first) {
                               tasks.push_back(task);
                             }
                           });
  for (const Task& task : tasks) {
    const auto isItsMark = [&](const Task& other) {
      return other.IsAtCells == task.IsAtCells && other.Name == task.Name + "Filled";
    };
    if (self->MarkFilled && std::any_of(tasks.begin(), tasks.end(), isItsMark)) {
      throw Error(nameOf(task.Name + "Filled", task.IsAtCells) +
                  " is to be filled, but MarkFilled would replace it; switch MarkFilled off, or "
                  "choose arrays "
                  "without it");
    }
  }
  return tasks;
}

//------------------------------------------------------------------------------
/// Of this rank's sites.
std::vector<std::uint8_t> vtkAsyncHarmonicFill::vtkRun::UnknownOf(const GridSites& sites,
                                                                  const Task& task) {
  auto* self = this->Self;
  std::vector<std::uint8_t> unknown;
  tributary::collectively(this->Transport, [&] {
    if (self->Unknown == BLANKED && task.IsAtCells) {
      unknown = this->Cells.hidden;
      return;
    }
    unknown.assign(sites.count(), 0);
    for (const GridSites::Source& source : sites.sources) {
      vtkDataSet* dataSet = this->Cells.pieces[source.piece].dataSet;
      const auto mark = [&](auto&& isUnknown) {
        tributary::forEachSite(source.range, sites.pieces[source.piece], sites.box,
                               [&](std::size_t place, std::size_t mine) {
                                 unknown[mine] = isUnknown(static_cast<vtkIdType>(place)) ? 1 : 0;
                               });
      };
      if (self->Unknown == BLANKED) {
        if (vtkUnsignedCharArray* ghosts = tributary::pointGhosts(dataSet)) {
          mark([&](vtkIdType i) {
            return (ghosts->GetValue(i) & vtkDataSetAttributes::HIDDENPOINT) != 0;
          });
        } else {
          mark([](vtkIdType) { return false; });
        }
      } else if (self->Unknown == MASK) {
        int association = vtkDataObject::FIELD_ASSOCIATION_NONE;
        vtkDataArray* mask = self->GetInputArrayToProcess(0, dataSet, association);
        if (!isMask(mask, association, dataSet) ||
            (association == vtkDataObject::FIELD_ASSOCIATION_CELLS) != task.IsAtCells) {
          throw Error("a piece of the input has not the array that SelectMask names");
        }
        mark([&](vtkIdType i) { return (mask->GetComponent(i, 0) != 0) != self->InvertMask; });
      } else {
        vtkDataArray* array = this->ArrayOf(this->Cells.pieces[source.piece], task);
        const bool isValue = self->Unknown == VALUE;
        // As an array of this type has it.
        double value = self->UnknownValue;
        if (array->GetDataType() == VTK_FLOAT) {
          value = static_cast<float>(value);
        }
        mark([&](vtkIdType i) {
          bool is = false;
          for (int c = 0; c < task.Components; ++c) {
            const double one = array->GetComponent(i, c);
            is = is || (isValue ? one == value : std::isnan(one));
          }
          return is;
        });
      }
    }
  });
  return unknown;
}

//------------------------------------------------------------------------------
tributary::HarmonicFillOptions vtkAsyncHarmonicFill::vtkRun::MakeOptions() const {
  auto* self = this->Self;
  tributary::HarmonicFillOptions options;
  options.smoothness = self->Smoothness == BIHARMONIC ? tributary::FillSmoothness::Biharmonic
                                                      : tributary::FillSmoothness::Harmonic;
  options.tolerance = self->Tolerance;
  options.cycleLimit = self->CycleLimit;
  options.sweepsPerExchange = self->SweepsPerExchange;
  options.iteration.mode = self->Schedule == ASYNCHRONOUS ? tributary::IterationMode::Asynchronous
                                                          : tributary::IterationMode::Synchronous;
  options.iteration.detection = self->ConvergenceDetection == SUPERVISED
                                    ? tributary::ConvergenceDetection::SupervisedTermination
                                    : tributary::ConvergenceDetection::SnapshotReduction;
  options.iteration.iterationLimit = self->IterationLimit;
  options.parallelFor = tributary::smpFor;
  return options;
}

//------------------------------------------------------------------------------
void vtkAsyncHarmonicFill::vtkRun::Retire() {
  if (this->Solver) {
    this->Total += this->Solver->statistics();
  }
  this->Solver.reset();
}

//------------------------------------------------------------------------------
/// @param begin, share  of the progress
/// @return false after an abort
bool vtkAsyncHarmonicFill::vtkRun::Fill(const GridSites& sites, const Task& task, double begin,
                                        double share) {
  auto* self = this->Self;
  std::vector<std::uint8_t> unknown = this->UnknownOf(sites, task);
  const std::int64_t mine = std::count(unknown.begin(), unknown.end(), std::uint8_t(1));
  const auto counts = tributary::allreduce(
      this->Transport, tributary::ReduceOp::Sum,
      std::vector<std::int64_t>{mine, this->Solver && this->SolverIsAtCells == task.IsAtCells &&
                                              this->SolverUnknown == unknown
                                          ? 0
                                          : 1});
  if (counts[0] == 0) {
    return true;
  }
  const std::int64_t all = sites.lattice.along(0) * sites.lattice.along(1) * sites.lattice.along(2);
  if (counts[0] == all) {
    throw Error("nothing is known in " + nameOf(task.Name, task.IsAtCells) + ": all " +
                std::to_string(all) +
                " of its values are to be filled; choose other arrays, or look at Unknown");
  }
  if (counts[1] != 0) {
    this->Retire();
    this->Solver = std::make_unique<tributary::HarmonicFill>(
        this->Transport, sites.lattice, sites.box, unknown, this->MakeOptions());
    this->SolverUnknown = unknown;
    this->SolverIsAtCells = task.IsAtCells;
  }
  Filled filled;
  filled.What = task;
  filled.Count = counts[0];
  filled.Unknown = tributary::valuesAtPieces(this->Transport, sites, unknown);
  const double part = share / task.Components;
  for (int component = 0; component < task.Components; ++component) {
    std::vector<double> values;
    tributary::collectively(this->Transport, [&] {
      values.assign(sites.count(), 0.0);
      for (const GridSites::Source& source : sites.sources) {
        vtkDataArray* array = this->ArrayOf(this->Cells.pieces[source.piece], task);
        tributary::forEachSite(source.range, sites.pieces[source.piece], sites.box,
                               [&](std::size_t place, std::size_t site) {
                                 values[site] =
                                     array->GetComponent(static_cast<vtkIdType>(place), component);
                               });
      }
    });
    tributary::HarmonicFillResult result;
    try {
      result = this->Solver->fill(values, [&](double done) {
        return self->Monitor(this->Transport, begin + part * (component + done));
      });
    } catch (const Error& error) {
      throw Error(nameOf(task.Name, task.IsAtCells) + ": " + error.what());
    }
    if (self->AbortedTogether(this->Transport, result.verdict == tributary::Verdict::Aborted)) {
      return false;
    }
    if (result.verdict != tributary::Verdict::Converged) {
      const bool isHarmonic = self->Smoothness == HARMONIC;
      std::ostringstream text;
      text << "the residual of " << nameOf(task.Name, task.IsAtCells) << " is " << result.residual
           << " after " << result.cycles << " cycles";
      if (isHarmonic) {
        text << " and " << result.iterations << " iterations, and";
      } else {
        text << " and its correction " << result.correction << ", and they are";
      }
      text << " not at or below Tolerance, " << self->Tolerance
           << ", times the range of known values, " << result.highest - result.lowest
           << "; allow a larger Tolerance, or a larger "
           << (isHarmonic ? "IterationLimit" : "CycleLimit, or set Smoothness to Harmonic");
      throw Error(text.str());
    }
    filled.Residual = std::max(filled.Residual, result.residual);
    filled.Correction = std::max(filled.Correction, result.correction);
    filled.Cycles += result.cycles;
    filled.Iterations += result.iterations;
    filled.Values.push_back(tributary::valuesAtPieces(this->Transport, sites, values));
  }
  this->Done.push_back(std::move(filled));
  return true;
}

//------------------------------------------------------------------------------
void vtkAsyncHarmonicFill::vtkRun::Write(vtkDataObject* input, vtkDataObject* output) {
  auto* self = this->Self;
  tributary::collectively(this->Transport, [&] {
    output->ShallowCopy(input);
    std::size_t piece = 0;
    tributary::forEachDataSet(output, [&](vtkDataObject* object) {
      auto* dataSet = vtkDataSet::SafeDownCast(object);
      if (!dataSet) {
        return;
      }
      const bool hasData = dataSet->GetNumberOfCells() > 0;
      for (const Filled& filled : this->Done) {
        vtkDataSetAttributes* attributes = attributesOf(dataSet, filled.What.IsAtCells);
        vtkDataArray* old = attributes->GetArray(filled.What.Name.c_str());
        vtkNew<vtkUnsignedCharArray> mark;
        mark->SetName((filled.What.Name + "Filled").c_str());
        if (hasData) {
          const std::vector<std::uint8_t>& unknown = filled.Unknown[piece];
          auto array = vtkSmartPointer<vtkDataArray>::Take(old->NewInstance());
          array->DeepCopy(old);
          const bool isIntegral = !isFloating(old);
          for (int c = 0; c < filled.What.Components; ++c) {
            const std::vector<double>& values = filled.Values[static_cast<std::size_t>(c)][piece];
            for (std::size_t i = 0; i < values.size(); ++i) {
              const auto place = static_cast<vtkIdType>(i);
              // A copy of what another piece knows better is as that one has it.
              const double had = old->GetComponent(place, c);
              const bool isSame = had == values[i] || (std::isnan(had) && std::isnan(values[i]));
              if (unknown[i] != 0 || !isSame) {
                array->SetComponent(place, c, isIntegral ? std::round(values[i]) : values[i]);
              }
            }
          }
          attributes->AddArray(array);
          mark->SetNumberOfTuples(static_cast<vtkIdType>(unknown.size()));
          std::copy(unknown.begin(), unknown.end(), mark->GetPointer(0));
        }
        if (self->MarkFilled) {
          attributes->AddArray(mark);
        }
      }
      if (self->Unknown == BLANKED && self->ShowFilled && !this->Done.empty()) {
        for (const bool areCells : {false, true}) {
          vtkDataSetAttributes* attributes = attributesOf(dataSet, areCells);
          vtkDataArray* old = attributes->GetArray(vtkDataSetAttributes::GhostArrayName());
          if (!old) {
            continue;
          }
          const int hidden = areCells ? static_cast<int>(vtkDataSetAttributes::HIDDENCELL)
                                      : static_cast<int>(vtkDataSetAttributes::HIDDENPOINT);
          auto flags = vtkSmartPointer<vtkDataArray>::Take(old->NewInstance());
          flags->DeepCopy(old);
          for (vtkIdType i = 0; i < flags->GetNumberOfTuples(); ++i) {
            flags->SetComponent(i, 0, static_cast<int>(flags->GetComponent(i, 0)) & ~hidden);
          }
          attributes->AddArray(flags);
        }
      }
      piece += hasData ? 1 : 0;
    });
    const auto names = tributary::texts("FilledArrays");
    const auto counts = tributary::numbers("FilledValues"), cycles = tributary::numbers("Cycles"),
               iterations = tributary::numbers("Iterations");
    const auto residuals = tributary::values("Residual"),
               corrections = tributary::values("Correction");
    for (const Filled& filled : this->Done) {
      names->InsertNextValue(filled.What.Name);
      counts->InsertNextValue(filled.Count);
      residuals->InsertNextValue(filled.Residual);
      corrections->InsertNextValue(filled.Correction);
      cycles->InsertNextValue(filled.Cycles);
      iterations->InsertNextValue(filled.Iterations);
    }
    for (vtkAbstractArray* array :
         {static_cast<vtkAbstractArray*>(names.Get()), static_cast<vtkAbstractArray*>(counts.Get()),
          static_cast<vtkAbstractArray*>(residuals.Get()),
          static_cast<vtkAbstractArray*>(cycles.Get()),
          static_cast<vtkAbstractArray*>(iterations.Get())}) {
      output->GetFieldData()->AddArray(array);
    }
    if (self->Smoothness == BIHARMONIC) {
      output->GetFieldData()->AddArray(corrections);
    }
  });
}

//------------------------------------------------------------------------------
bool vtkAsyncHarmonicFill::vtkRun::Execute(vtkDataObject* input, vtkDataObject* output,
                                           tributary::RunStatistics& statistics) {
  this->Cells = tributary::gridCellsOf(this->Transport, input);
  const std::vector<Task> tasks = this->FindTasks();
  GridSites sites[2];
  tributary::collectively(this->Transport, [&] {
    for (const bool areCells : {false, true}) {
      sites[areCells ? 1 : 0] = tributary::gridSitesOf(this->Cells, areCells);
    }
  });
  statistics.phase("SetupSeconds");
  double begin = 0;
  const double share = 1.0 / static_cast<double>(std::max<std::size_t>(tasks.size(), 1));
  for (const Task& task : tasks) {
    if (!this->Fill(sites[task.IsAtCells ? 1 : 0], task, begin, share)) {
      return false;
    }
    begin += share;
  }
  this->Retire();
  statistics.phase("SolvingSeconds");
  this->Write(input, output);
  statistics.count("Values", static_cast<std::int64_t>(sites[0].count()));
  statistics.add(this->Total);
  statistics.phase("WritingSeconds");
  return true;
}
