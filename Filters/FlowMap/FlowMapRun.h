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
#include <set>
#include <utility>
#include <vector>

#include "Common/PropertyList.h"
#include "Common/RunContext.h"
#include "FlowMap/FlowMapPlan.h"
#include "FlowMap/KeptSteps.h"
#include "FlowMap/MapSeeds.h"
#include "Lines/DomainFromVTK.h"
#include "Lines/LineSettings.h"
#include "Paths/IntervalDomain.h"
#include "Paths/IntervalTrace.h"

#include "Tributary/Advection/Particle.h"
#include "Tributary/Advection/StepRules.h"
#include "Tributary/Advection/Tracer.h"

class vtkAlgorithm;

namespace tributary {

/// The properties of vtkAsyncFlowMap that one execution needs; see there.
struct FlowMapSettings : TraceSettings {
  double duration = 1;  ///< Signed.
  bool onGrid = true;   ///< Otherwise at the points of the input.
  bool useInputBounds = true;
  std::array<double, 6> bounds{};  ///< Of the grid, without useInputBounds: x, y, z ranges.
  std::array<int, 3> dimensions{1, 1, 1};
  double distance = 0;  ///< Of auxiliary seeds; 0 for one that is derived from the bounds.
  std::int64_t seedsPerBatch = 1;
  std::size_t keptSteps = 0;
  bool withTensor = false;
};

/// The particles of this rank, by seed.
struct MapParticles {
  std::vector<std::array<double, 3>> x;  ///< The last positions,
  std::vector<double> time;              ///< and their times.
  std::vector<Reason> reasons;           ///< None while a particle can be continued.
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
  PropertyList properties;  ///< With which `memory.choice` was made.
  IntervalMemory memory;

  // Of the window.
  std::size_t interval = 0;              ///< The next one.
  vtkSmartPointer<vtkDataObject> shape;  ///< The input, if its points are the seeds.
  MapGrid grid;
  std::unique_ptr<MapSeeds> seeds;
  MapParticles particles;

  /// Counts of the executions for one window, on this rank.
  struct Counts : IntervalCounts {
    std::int64_t batches = 0;
    std::int64_t steps = 0;  ///< Of the integrator.
    std::int64_t skippedTrees = 0;
  };
  Counts counts;

  /// Local. Plans the executions for a window. Parameters are those of FlowMapPlan::plan().
  void planFor(Span<const double> steps, double time, double duration, Source from,
               PropertyList all);
  /// Local. Forgets all particles and data.
  void forget() { *this = FlowMapState(); }
};

/// One execution of a flow map filter: traces the particles through the intervals whose steps are
/// there.
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

  StepData dataOf(vtkDataObject* input);
  [[nodiscard]] bool advance(const StepData& read, const int extent[6]);
  [[nodiscard]] bool trace(const StepData& earlier, const StepData& later,
                           const TimeInterval& interval, double begin, const int extent[6]);
  void makeSeeds(const FlowDomain& flow, vtkDataObject* data, double begin, const int extent[6]);
  [[nodiscard]] bool traceBatch(IntervalField& field, const std::vector<std::int64_t>& batch,
                                std::int64_t most);
  void enter(const std::vector<std::int64_t>& batch, const std::vector<LineEnd>& ends);
  void write(const int extent[6], vtkDataObject* output);
  std::int64_t writeArrays(vtkDataObject* output) const;
  [[nodiscard]] Outcome outcome() const;
  void addStatistics(const Outcome& outcome, std::int64_t undefined);
  void warn(const Outcome& outcome);
  double shareDone(double ofInterval) const;
  double tracedTime() const;

  const RunContext& context_;
  const FlowMapSettings& settings_;
  FlowMapState& state_;
  bool isUnderWay_ = false;
};

}  // namespace tributary
