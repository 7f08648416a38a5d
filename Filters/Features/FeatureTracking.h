// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "Common/RunContext.h"
#include "Features/FeatureTrackerSettings.h"

#include "Tributary/Base/Bytes.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Transport/Transport.h"

class vtkDataObject;
class vtkPolyData;
class vtkTable;

namespace tributary {

/// The outputs of a feature tracker, by port.
struct FeatureOutputs {
  vtkDataObject* mesh;
  vtkPolyData* trajectories;
  vtkTable* features;
  vtkTable* events;
  vtkTable* edges;
};

/// One way to find features in a step and to track them from step to step. It keeps the data of two
/// steps, and on each rank a part of the results of all steps. All members are collective unless
/// they say otherwise, and throw Error on all ranks or on none; an object that threw must not be
/// used any more.
class FeatureTracking {
 public:
  virtual ~FeatureTracking() = default;

  /// Adds the next step.
  /// @param time  later than that of the last step
  /// @return false after an abort
  [[nodiscard]] virtual bool addStep(const RunContext& context,
                                     const FeatureTrackerSettings& settings, vtkDataObject* input,
                                     double time) = 0;
  /// Writes the results of all steps up to the one just added.
  /// @return false after an abort
  [[nodiscard]] virtual bool write(const RunContext& context,
                                   const FeatureTrackerSettings& settings, vtkDataObject* input,
                                   const FeatureOutputs& outputs) = 0;
  /// Local. Releases the data of the input.
  virtual void release() = 0;
  /// Local. Removes the last step, so that another one can be added in its place. May be called
  /// once after each addStep() or load().
  virtual void takeBack() = 0;

  /// Local. Serializes this rank's part.
  [[nodiscard]] virtual Bytes save() const = 0;
  /// Restores what the ranks of a run have saved, on the same or another number of ranks, instead
  /// of adding a first step.
  /// @param parts  results of save(), in the order of the ranks that saved them
  virtual void load(Transport& transport, const std::vector<Bytes>& parts) = 0;

 protected:
  /// Collective. The value that all parts on all ranks have in common. Throws Error if they differ.
  template <class Head>
  [[nodiscard]] static Head common(Transport& transport, const std::vector<Head>& ofParts) {
    const std::vector<Head> all = allgatherv(transport, ofParts);
    for (const Head& one : all)
      if (!(one == all.front()))
        throw Error("the parts of the checkpoint are not those of one step");
    if (all.empty()) throw Error("the checkpoint has no parts");
    return all.front();
  }
  /// Throws Error unless a checkpoint has the numbers of steps of two consecutive moments.
  static void checkSteps(std::int64_t before, std::int64_t now) {
    if (now < 1 || before != now - 1) throw Error("the checkpoint has no step");
  }
};

/// Regions of connected cells, matched by the volume that they share: see FeatureGraph.
[[nodiscard]] std::unique_ptr<FeatureTracking> makeRegionTracking();
/// Critical points of a field: see CriticalPointTracker.
[[nodiscard]] std::unique_ptr<FeatureTracking> makeCriticalTracking();

}  // namespace tributary
