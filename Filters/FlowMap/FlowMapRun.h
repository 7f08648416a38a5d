// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vtkDataObject.h>
#include <vtkSmartPointer.h>
#include <vtkType.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "Common/PropertyList.h"
#include "Common/RunContext.h"
#include "FlowMap/FlowMapPlan.h"
#include "FlowMap/GrowingSteps.h"
#include "FlowMap/KeptSteps.h"
#include "FlowMap/MapSeeds.h"
#include "Lines/DomainFromVTK.h"
#include "Lines/LineSettings.h"
#include "Paths/IntervalDomain.h"
#include "Paths/IntervalTrace.h"
#include "Paths/PathPlan.h"
#include "Paths/PathSteps.h"
#include "Time/CheckpointUse.h"

#include "Tributary/Advection/Particle.h"
#include "Tributary/Advection/StepRules.h"
#include "Tributary/Advection/Tracer.h"

class vtkAlgorithm;

namespace tributary {

/// The properties of vtkAsyncFlowMap that one execution needs; see there.
struct FlowMapSettings : TraceSettings {
  bool grows = false;   ///< The window begins at the first time step.
  double duration = 1;  ///< Signed.
  bool onGrid = true;   ///< Otherwise at the points of the input.
  bool useInputBounds = true;
  std::array<double, 6> bounds{};  ///< Of the grid, without useInputBounds: x, y, z ranges.
  std::array<int, 3> dimensions{1, 1, 1};
  double distance = 0;  ///< Of auxiliary seeds; 0 for one that is derived from the bounds.
  std::int64_t seedsPerBatch = 1;
  std::size_t keptSteps = 0;
  bool withTensor = false;
  CheckpointSettings checkpoints = {};
};

/// What the output of a flow map shows.
struct MapWindow {
  double time = 0;     ///< Of the output.
  double begin = 0;    ///< Of the window,
  double end = 0;      ///< and the end so far.
  double traced = 0;   ///< The signed time for which particles are traced.
  double shift = 0;    ///< From times of particles to those of the output.
  bool isCut = false;  ///< The time steps end before the window.
  // Counts of steps: executed for the window, taken from before, and kept for the next one.
  std::size_t reads = 0, reused = 0, kept = 0;
};

/// The part of a flow map filter that is kept between executions.
struct FlowMapState {
  /// What determines whether kept data can be used again.
  struct Source {
    std::vector<std::pair<const vtkAlgorithm*, int>> inputs;  ///< By port.
    std::vector<vtkMTimeType> times;  ///< When their pipelines were last modified.

    bool operator==(const Source& other) const {
      return inputs == other.inputs && times == other.times;
    }
  };

  FlowMapPlan plan;
  Source source;
  KeptSteps kept;
  GrowingSteps growing;     ///< Used instead of the three members above if the window grows.
  PropertyList properties;  ///< With which `memory.choice` was made.
  IntervalMemory memory;

  // Of the window.
  std::size_t interval = 0;              ///< The next one.
  vtkSmartPointer<vtkDataObject> shape;  ///< The input, if its points are the seeds.
  MapGrid grid;                          ///< Otherwise.
  double distance = 0;                   ///< Of auxiliary seeds.
  std::array<int, 6> extent{};           ///< That this rank outputs.
  std::unique_ptr<MapSeeds> seeds;
  MapParticles particles;

  /// Counts of the executions for one window, on this rank.
  struct Counts : IntervalCounts {
    std::int64_t batches = 0;
    std::int64_t steps = 0;  ///< Of the integrator.
    std::int64_t skippedTrees = 0;
    std::size_t reads = 0;  ///< Of steps that a growing window needs.
  };
  Counts counts;

  /// Local. Plans the executions for a window. Parameters are those of FlowMapPlan::plan().
  void planFor(Span<const double> steps, double time, double duration, Source from,
               PropertyList all);
  /// Local. Plans the executions of a window that grows. Parameters are those of
  /// GrowingSteps::planFor().
  /// @param ofRank  the extent that this rank outputs
  /// @param directory  of the checkpoint to resume, or ""
  void planToGrow(Span<const double> steps, double time, double duration, PathSteps::Basis basis,
                  const std::vector<vtkMTimeType>& times, bool isWhole,
                  const std::array<int, 6>& ofRank, const std::string& directory);
  /// Local. Forgets all particles and data. A checkpoint is still resumed once only.
  void forget() {
    CheckpointUse use = std::move(growing.checkpoints);
    *this = FlowMapState();
    growing.checkpoints = std::move(use);
  }
};

/// One execution of a flow map filter: traces the particles through the intervals whose steps are
/// there, or through the one before the next step of a window that grows.
class FlowMapRun {
 public:
  /// All arguments must outlive the run.
  FlowMapRun(const RunContext& context, const FlowMapSettings& settings, FlowMapState& state)
      : context_(context), settings_(settings), state_(state) {}

  /// Collective. Traces, and writes the output if the window is complete.
  /// @param extent  of the grid, which this rank outputs
  /// @return false after an abort
  /// @throws Error on all ranks
  [[nodiscard]] bool execute(vtkDataObject* input, const int extent[6], vtkDataObject* output);

  /// Whether the filter must be executed again before its output is complete.
  bool isUnderWay() const { return isUnderWay_; }

 private:
  /// Numbers of points of this rank.
  struct Outcome {
    std::int64_t inside = 0;      ///< In a cell,
    std::int64_t arrived = 0;     ///< of these, with a particle that has reached the end,
    std::int64_t unexpected = 0;  ///< or met a velocity that is not finite,
    std::int64_t outOfSteps = 0;  ///< or has taken Maximum Steps.
  };

  [[nodiscard]] bool trace(const StepData& earlier, const StepData& later,
                           const TimeInterval& interval, double begin, const int extent[6]);
  void makeSeeds(const FlowDomain& flow, const StepData& earlier, const StepData& later,
                 double begin, const int extent[6]);
  void makePointSeeds(const StepData& step, const std::array<bool, 3>& along, double distance,
                      const std::vector<FlowPiece>& pieces, double share);
  void place(double begin);
  [[nodiscard]] bool traceBatch(IntervalField& field, const std::vector<std::int64_t>& batch,
                                std::int64_t most);
  void enter(const std::vector<std::int64_t>& batch, const std::vector<LineEnd>& ends);

  // A window from the requested time.
  [[nodiscard]] bool executeWindow(vtkDataObject* input, const int extent[6],
                                   vtkDataObject* output);
  StepData dataOf(vtkDataObject* input);
  [[nodiscard]] bool advance(const StepData& read, const int extent[6]);
  [[nodiscard]] MapWindow window() const;

  // A window that grows.
  [[nodiscard]] bool executeGrowing(vtkDataObject* input, const int extent[6],
                                    vtkDataObject* output);
  PathPlan::Task resume(const StepData& step, PathPlan::Task task, const int extent[6]);
  [[nodiscard]] bool begin(const StepData& step, const int extent[6]);
  [[nodiscard]] bool grow(const StepData& step, double stop, const int extent[6]);
  void writeCheckpoint();
  [[nodiscard]] MapWindow grownWindow() const;

  void write(const MapWindow& window, const int extent[6], vtkDataObject* output);
  std::int64_t writeArrays(const MapWindow& window, vtkDataObject* output) const;
  [[nodiscard]] Outcome outcome() const;
  void addStatistics(const MapWindow& window, const Outcome& outcome, std::int64_t undefined);
  void warn(const MapWindow& window, const Outcome& outcome);

  const RunContext& context_;
  const FlowMapSettings& settings_;
  FlowMapState& state_;
  bool isUnderWay_ = false;
  double done_ = 0, all_ = 1;  // intervals of the request
  bool hasTime_ = true;        // the input has time steps, or its data a time
  bool onlyLocates_ = false;   // particles are not moved, so settings cannot be compared
};

}  // namespace tributary
