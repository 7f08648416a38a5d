// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "Common/PropertyList.h"
#include "Common/RunContext.h"
#include "Lines/Crossings/EventText.h"
#include "Lines/Destinations/DestinationTable.h"
#include "Lines/LineSettings.h"

#include "Tributary/Advection/MeshField.h"
#include "Tributary/Advection/StepRules.h"
#include "Tributary/Advection/TraceTuning.h"

class vtkDataObject;
class vtkFieldData;
class vtkPolyData;
class vtkTable;

namespace tributary {

struct FlowDomain;
struct LineTable;
struct PointArrayList;
struct SeedList;

/// The properties of vtkAsyncStreamTracer that one execution needs; see there.
struct StreamTracerSettings : LineSettings {
  /// The selection of the vectors and of their form, and the periodic axes.
  PropertyList field{};
  bool forward = true;
  bool backward = true;
  bool joinDirections = false;
  bool reportRejectedSeeds = false;
  DestinationSettings destinations{};
  PropertyList properties{};  ///< A change of any of them invalidates the choice of AutoTune.
};

struct FlowSetup;
struct SurfaceTarget;

/// State kept between executions: the choice of AutoTune and the properties for which it was made,
/// and the domain.
struct StreamTracerState {
  struct Choice {
    PropertyList properties;
    ExchangeSetting exchange;
    int blocksPerRank;
    std::optional<TimeForecast> expected;
  };
  std::optional<Choice> choice;
  std::shared_ptr<FlowSetup> setup;   ///< Null if none is kept.
  std::unique_ptr<MeshCache> meshes;  ///< Of `setup`, and of inputs with other values.
  std::shared_ptr<SurfaceTarget> surface;
};

/// One execution of vtkAsyncStreamTracer on one rank.
class StreamTracerRun {
 public:
  /// All arguments must outlive the run.
  StreamTracerRun(const RunContext& context, const StreamTracerSettings& settings,
                  StreamTracerState& state)
      : context_(context), settings_(settings), state_(state) {}

  /// Collective. Traces lines through `input` from the points of `seeds`.
  /// @param surfaces  those of events, or null
  /// @param crossings  receives those of events
  /// @param destinations  receives the table of destinations
  /// @return false after an abort
  /// @throws Error on all ranks
  [[nodiscard]] bool execute(vtkDataObject* input, vtkDataObject* seeds, vtkDataObject* surfaces,
                             vtkPolyData* output, vtkPolyData* crossings, vtkTable* destinations);

 private:
  [[nodiscard]] std::shared_ptr<FlowSetup> setUp(vtkDataObject* input);
  TraceOptions makeOptions(const FlowSetup& setup, PointArrayList& arrays,
                           std::vector<std::size_t>& eventPlaces);
  [[nodiscard]] std::shared_ptr<SurfaceTarget> makeSurface(vtkDataObject* surfaces,
                                                           EventList& events);
  void cut(FlowSetup& setup, int blocksPerRank);
  void cutAnew(FlowSetup& setup, int blocksPerRank);
  [[nodiscard]] bool tune(FlowSetup& setup, const SeedList& seeds, TraceOptions& options);
  [[nodiscard]] bool chooseSetting(FlowSetup& setup, const SeedList& seeds,
                                   const TraceOptions& options, PropertyList properties,
                                   std::size_t& trials);
  void prepareEvaluation(FlowSetup& setup, const PointArrayList& arrays, const StepRules& rules);
  void assembleCrossings(const FlowSetup& setup, const PointArrayList& arrays,
                         const SeedList& seeds, const LineTable& table, TraceResult& traced,
                         vtkPolyData* output);
  [[nodiscard]] bool writeDestinations(const FlowSetup& setup, const SeedList& seeds,
                                       const LineTable& table, TraceOptions options,
                                       ArrayPlace place, vtkTable* output);
  void addStatistics(const FlowSetup& setup, const SeedList& seeds, const LineTable& table,
                     const TraceResult& traced);
  void reportRejected(const SeedList& seeds, const LineTable& table, vtkFieldData* fieldData);
  void warn(const FlowSetup& setup, const PointArrayList& arrays, const LineTable& table);

  const RunContext& context_;
  const StreamTracerSettings& settings_;
  StreamTracerState& state_;
  bool reusedMesh_ = false;
};

}  // namespace tributary
