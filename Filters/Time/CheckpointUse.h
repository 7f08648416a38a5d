// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "Time/Checkpoint.h"

#include "Tributary/Base/Bytes.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// The properties of a filter about checkpoints.
struct CheckpointSettings {
  std::string directory;  ///< Empty: no checkpoints.
  int interval = 1;       ///< Steps between two checkpoints.
};

/// What a filter that adds step after step keeps about its checkpoints between executions.
class CheckpointUse {
 public:
  /// How a checkpoint relates to the steps that are planned.
  enum class Fit {
    Resumes,    ///< The plan continues from it.
    IsLater,    ///< The requested time is earlier: the filter begins with a first step.
    OtherSteps  ///< The input has other time steps.
  };

  /// @param name  that of Checkpoint
  explicit CheckpointUse(std::string name) : name_(std::move(name)) {}

  /// Local. Looks for the checkpoint to resume, if no step was executed yet. An error is kept in
  /// error(), so that the ranks can agree on it when they execute.
  /// @param directory  empty: none is resumed
  /// @param basis      of the steps that are planned, see CheckpointIndex
  /// @param plan       plans to continue from a checkpoint
  void find(const std::string& directory, const Bytes& basis,
            const std::function<Fit(const CheckpointIndex&)>& plan);
  /// Why the checkpoint cannot be resumed, or "".
  const std::string& error() const { return error_; }
  /// The checkpoint to continue from.
  const std::optional<CheckpointIndex>& found() const { return found_; }
  /// Its generation, or -1.
  std::int64_t foundGeneration() const { return found_ ? found_->generation : -1; }

  /// Collective. Passes the parts of the checkpoint found to `load`, which may communicate. Errors
  /// of both name a cure.
  void load(Transport& transport, const std::string& directory,
            const std::function<void(std::vector<Bytes>)>& load) const;
  /// Notes that a first step was executed, or a checkpoint loaded: none is resumed after it.
  void begin();

  /// Collective. Counts a step that was added, and writes a checkpoint if one is due.
  /// @param save  local: sets basis, steps, time and common part, and returns the part of this rank
  /// @return whether it was written
  bool addStep(Transport& transport, const CheckpointSettings& settings,
               const std::function<Bytes(CheckpointIndex&)>& save);

 private:
  std::string name_;
  std::string error_;
  std::optional<CheckpointIndex> found_;
  bool hasBegun_ = false;
  std::int64_t stepsAdded_ = 0;  // since then
};

}  // namespace tributary
