// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "Common/RunContext.h"
#include "Grids/GridCells.h"
#include "Grids/GridSites.h"
#include "Grids/SolverSettings.h"
#include "Periodic/PeriodicAxes.h"

#include "Tributary/Base/Bytes.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Iteration/Iteration.h"
#include "Tributary/Relaxation/HarmonicFill.h"
#include "Tributary/Transport/Transport.h"

class vtkDataArray;
class vtkDataObject;
class vtkDataSet;

namespace tributary {

/// The properties of vtkAsyncHarmonicFill that one execution needs; see there.
struct HarmonicFillSettings {
  enum class Unknown { NotANumber, Mask, Blanked, Value, Missing };

  std::vector<std::string> pointArrays, cellArrays;
  FillSmoothness smoothness = FillSmoothness::Harmonic;
  Unknown unknown = Unknown::Missing;
  ArrayChoice mask;  ///< chooses point data or cell data only
  bool invertMask = false;
  double unknownValue = 0;
  bool showFilled = true;
  bool markFilled = false;
  double tolerance = 1e-6;
  std::int64_t cycleLimit = 1;
  PeriodicSettings periodic;
  SolverSettings solver;
};

/// One execution of vtkAsyncHarmonicFill on one rank. Private member functions are collective
/// unless their comment states otherwise.
class HarmonicFillRun {
 public:
  /// @param context  must outlive the object, as must the settings
  HarmonicFillRun(const RunContext& context, const HarmonicFillSettings& settings)
      : context_(context), transport_(context.transport), settings_(settings) {}

  /// Collective.
  /// @return false after an abort
  /// @throws Error on all ranks
  [[nodiscard]] bool execute(vtkDataObject* input, vtkDataObject* output);

 private:
  /// An array to be filled; the same on all ranks.
  struct Task {
    std::string name;
    bool isAtCells;
    int components;
  };

  /// A task and its result.
  struct Filled {
    enum class Outcome { NothingUnknown, NothingKnown, Filled };

    explicit Filled(const Task& of) : task(of), values(index(of.components)) {}

    Task task;
    Outcome outcome = Outcome::NothingUnknown;
    std::int64_t count = 0;  ///< number of unknown tuples on all ranks
    double residual = 0;
    double correction = 0;
    std::int64_t cycles = 0;
    std::int64_t iterations = 0;
    std::vector<std::vector<std::uint8_t>> unknown;        ///< by piece and site
    std::vector<std::vector<std::vector<double>>> values;  ///< by component, piece and site
  };

  std::vector<Task> findTasks();
  PeriodicAxes findAxes(vtkDataObject* input, const std::vector<Task>& tasks);
  void writeTasks(vtkDataSet* dataSet, Writer& writer) const;
  void checkMarks(const std::vector<Task>& tasks) const;
  vtkDataArray* arrayOf(const GridPiece& piece, const Task& task) const;
  std::vector<std::uint8_t> unknownOf(const GridSites& sites, const Task& task);
  bool marksBlanked() const {
    using Unknown = HarmonicFillSettings::Unknown;
    return settings_.unknown == Unknown::Blanked || settings_.unknown == Unknown::Missing;
  }
  template <class Mark>
  void markUnknown(const GridPiece& piece, const Task& task, Mark&& mark) const;
  [[nodiscard]] bool fill(const GridSites& sites, double begin, double share, Filled& filled);
  [[nodiscard]] bool fillComponent(const GridSites& sites, int component, double begin,
                                   double share, Filled& filled);
  std::vector<double> valuesOf(const GridSites& sites, const Task& task, int component);
  void makeSolver(const GridSites& sites, const Task& task, std::vector<std::uint8_t>&& unknown);
  HarmonicFillOptions makeOptions() const;
  void retireSolver();
  std::string namesOf(Filled::Outcome outcome) const;
  void reportWithoutValues() const;
  [[noreturn]] void throwNotConverged(const Task& task, const HarmonicFillResult& result) const;
  void write(vtkDataObject* input, vtkDataObject* output);
  void writeFilled(vtkDataSet* dataSet, std::size_t piece) const;
  void showHidden(vtkDataSet* dataSet) const;
  void writeFieldData(vtkDataObject* output) const;

  const RunContext& context_;
  Transport& transport_;
  const HarmonicFillSettings& settings_;
  GridCells cells_;
  std::vector<Filled> filled_;  ///< of all tasks; in write() of those that were filled

  /// The solver of the last task; reused by tasks with the same unknown sites.
  std::unique_ptr<HarmonicFill> solver_;
  std::vector<std::uint8_t> solverUnknown_;
  bool solverIsAtCells_ = false;
  IterationStatistics iterations_;  ///< of this rank
};

}  // namespace tributary
