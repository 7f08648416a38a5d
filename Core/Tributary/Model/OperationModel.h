// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "Tributary/Model/Distribution.h"
#include "Tributary/Model/HybridSetting.h"
#include "Tributary/Model/OperationTimes.h"
#include "Tributary/Model/TimingFile.h"

namespace tributary {

/// Distributions of the seconds that operations and transfers take, made of measured ones, less
/// what timing added to each. Immutable; functions are local.
class OperationModel {
 public:
  /// Throws Error if there are no times of computing layers above 0, if they were measured with a
  /// work share, so that blocks were not equal, or if samples, paces or the setting make no sense.
  /// @param family  to fit; none: kernel density. Where no distribution of the family fits, as to
  ///                fewer than three samples, kernel density is used
  OperationModel(const MeasuredTimes& measured, std::optional<Family> family);

  /// What was measured.
  const HybridSetting& setting() const { return setting_; }
  double timingSeconds() const { return timingSeconds_; }
  /// Null if there were no samples.
  const Distribution* of(Operation operation) const {
    return operations_[static_cast<std::size_t>(operation)].get();
  }
  /// Operations and transfers for which kernel density stands in for the family.
  const std::vector<std::string>& substituted() const { return substituted_; }

  /// The next seconds at random, never negative; 0 if there were no samples. Those of a block's
  /// sides and of its residual grow with its layers.
  /// @param layers  of the block that it is done for
  double draw(Operation operation, std::int64_t layers, std::uint64_t& random) const;
  /// See MeasuredTimes.
  double drawSwapTransfer(std::uint64_t& random) const;
  double drawReportTransfer(std::uint64_t& random) const;
  /// By what seconds of a thread's operations are multiplied: as measured, if `setting` has as many
  /// subregions and threads as were measured, of which the same one communicates; else 1.
  double paceOf(const HybridSetting& setting, int subregion, std::size_t thread) const;

 private:
  using Source = std::unique_ptr<Distribution>;
  Source makeSource(const std::vector<double>& samples, double timingSeconds,
                    std::optional<Family> family, const std::string& name);

  HybridSetting setting_;
  double timingSeconds_;
  double blockLayers_;  ///< Of the blocks that were measured.
  std::vector<double> paces_;
  std::array<Source, Operations> operations_;
  Source swapTransfer_, reportTransfer_;
  std::vector<std::string> substituted_;
};

}  // namespace tributary
