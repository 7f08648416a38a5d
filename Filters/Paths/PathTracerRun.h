// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vtkDataObject.h>
#include <vtkSmartPointer.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "Common/PropertyList.h"
#include "Common/RunContext.h"
#include "Lines/Crossings/CrossingOutput.h"
#include "Lines/Crossings/SurfaceFromVTK.h"
#include "Lines/DomainFromVTK.h"
#include "Lines/LineSettings.h"
#include "Lines/LineTable.h"
#include "Paths/IntervalDomain.h"
#include "Paths/IntervalTrace.h"
#include "Paths/PathHistory.h"
#include "Paths/PathOutput.h"
#include "Paths/PathPlan.h"
#include "Paths/PathSeeds.h"
#include "Paths/PathSteps.h"
#include "Time/CheckpointUse.h"

#include "Tributary/Advection/StepRules.h"
#include "Tributary/Advection/Tracer.h"
#include "Tributary/Base/Span.h"
#include "Tributary/Collective/Shares.h"
#include "Tributary/Exchange/Exchange.h"

class vtkAlgorithm;
class vtkPolyData;

namespace tributary {

/// The properties of vtkAsyncPathTracer that one execution needs; see there.
struct PathTracerSettings : LineSettings {
  PathKind kind = PathKind::Pathlines;
  bool keepsSteps = true;  ///< All steps of particles; otherwise their points at time steps only.
  bool staticSeeds = false;
  std::int64_t reinjection = 0;  ///< Steps between injections; 0 for one injection.
  double injectionStart = 0, injectionEnd = 0;
  double terminationTime = 0;  ///< May be infinite.
  CheckpointSettings checkpoints = {};
};

/// The part of a path tracer that is kept between executions.
struct PathTracerState : PathSteps {
  std::optional<PathSeeds> seeds;  ///< Those of the first step, if seeds are static.
  PathHistory history;
  IntervalMemory memory;
  CheckpointUse checkpoints{"paths"};
  std::shared_ptr<SurfaceTarget> surface;  ///< That of the first step, for all intervals.

  /// Counts of the executions for one request, on this rank.
  struct Counts : IntervalCounts {
    std::int64_t points = 0;  ///< Recorded.
  };
  Counts counts;

  /// Local. As PathSteps::planFor(), for another request.
  void planFor(Span<const double> steps, double time, Basis basis,
               const std::vector<vtkMTimeType>& times, bool isWhole);
  /// Local. Finds the checkpoint to resume, if the first execution follows. Call it after
  /// planFor().
  void planToResume(const std::string& directory);
  /// Local. Forgets all particles and data. A checkpoint is still resumed once only.
  void forget() {
    CheckpointUse use = std::move(checkpoints);
    *this = PathTracerState();
    checkpoints = std::move(use);
  }
};

/// One execution of a path tracer: adds a step to those before, or traces a part of an interval.
class PathTracerRun {
 public:
  /// All arguments must outlive the run.
  PathTracerRun(const RunContext& context, const PathTracerSettings& settings,
                PathTracerState& state)
      : context_(context), settings_(settings), state_(state) {}

  /// Collective. Does the task of the plan, and writes the output if it is the last one.
  /// @return false after an abort
  /// @throws Error on all ranks
  /// @param surfaces  those of events, or null
  /// @param crossings  receives those of events
  [[nodiscard]] bool execute(vtkDataObject* input, vtkDataObject* seeds, vtkDataObject* surfaces,
                             vtkPolyData* output, vtkPolyData* crossings);

  /// Whether the filter must be executed again before its output is that of the requested time.
  bool isUnderWay() const { return isUnderWay_; }

 private:
  /// A particle to trace, and its end.
  struct Traced {
    PathParticle particle;  ///< If it is new.
    PathEntry before;       ///< Its state at the beginning.
    PathProgress progress;  ///< With events: what it has done until then.
    bool isNew;
    LineEnd end;
  };
  struct Field;

  void resume();
  [[nodiscard]] bool injectsAt(double time) const;
  /// Whether the trace records all points: Rotation is integrated along all steps.
  [[nodiscard]] bool recordsSteps() const {
    return !settings_.crossingsOnly && (settings_.keepsSteps || settings_.computeVorticity);
  }
  [[nodiscard]] bool hasEvents() const { return settings_.rules.events.count > 0; }
  [[nodiscard]] bool hasSurface() const { return haveSurface(settings_.rules.events); }
  void makeSurface(PathPlan::Task task, vtkDataObject* surfaces);
  void inject(vtkDataObject* source, double time, std::vector<Traced>& particles);
  [[nodiscard]] bool add(PathPlan::Task task, const StepData& step, vtkDataObject* source);
  [[nodiscard]] bool tracePart(const StepData& step, PathSegment& part);
  [[nodiscard]] bool trace(const StepData& earlier, const StepData& later, double stop,
                           const PathSegment* before, std::vector<Traced>& particles,
                           PathSegment& segment);
  static std::vector<Traced> active(const PathSegment& segment);
  [[nodiscard]] bool monitor(double share) const;
  void makeField(const StepData& earlier, const StepData& later, double stop, Field& field,
                 PathSegment& segment);
  void addPoints(const PointEvaluator& evaluator, LineArrays& points, double begin,
                 PathSegment& segment) const;
  void count(const Field& field, const TraceResult& traced);
  LineTable enter(std::vector<Traced>& particles, double stop, std::int64_t firstSeed,
                  PathSegment& segment);
  [[nodiscard]] LineTable enterCrossings(const std::vector<Traced>& particles,
                                         std::int64_t firstSeed, PathSegment& segment) const;
  static void addCrossings(const PointEvaluator& evaluator, const CrossingList& crossings,
                           PathSegment& segment);
  [[nodiscard]] LineProgress progressOf(const Traced& traced) const;
  void addRotation(PathSegment& segment, double begin) const;
  void writeCheckpoint();
  void write(const ShownPaths& shown, vtkPolyData* output, vtkPolyData* crossings);
  void addStatistics(const ShownPaths& shown, vtkPolyData* output);
  void warn(const ShownPaths& shown, const std::set<std::string>& dropped);

  const RunContext& context_;
  const PathTracerSettings& settings_;
  PathTracerState& state_;
  bool isUnderWay_ = false;
  bool hasTime_ = true;  // the input has time steps, or its data a time
  std::int64_t skippedTrees_ = 0;
};

}  // namespace tributary
