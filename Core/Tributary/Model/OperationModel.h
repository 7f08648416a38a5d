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

/// Distributions of the durations of operations and transfers, from measured samples minus the time
/// that timing adds to each. Immutable; all functions are local.
class OperationModel {
 public:
  /// Throws Error if there are no positive times of computed layers, if the work share was not 1 in
  /// the measurement, or if samples, paces or the setting are invalid.
  /// @param family  the family to fit; none for kernel density estimates. Kernel density is also
  ///                used where the family cannot be fitted, for instance to fewer than three
  ///                samples.
  OperationModel(const MeasuredTimes& measured, std::optional<Family> family);

  /// The setting of the measurement.
  const HybridSetting& setting() const { return setting_; }
  /// The seconds that timing adds to an operation.
  double timingSeconds() const { return timingSeconds_; }
  /// The distribution of an operation; null without samples.
  const Distribution* of(Operation operation) const {
    return operations_[static_cast<std::size_t>(operation)].get();
  }
  /// The operations and transfers for which kernel density replaces the family.
  const std::vector<std::string>& substituted() const { return substituted_; }

  /// Draws a random duration, at least 0; 0 without samples. The durations for the sides and the
  /// residual of a block are proportional to its layers.
  /// @param layers  the number of layers of the block
  double draw(Operation operation, std::int64_t layers, std::uint64_t& random) const;
  /// Draws a random duration of a transfer: see MeasuredTimes.
  double drawSwapTransfer(std::uint64_t& random) const;
  /// @copydoc drawSwapTransfer
  double drawReportTransfer(std::uint64_t& random) const;
  /// The factor for the durations of the operations of a thread: the measured pace if `setting` has
  /// the measured numbers of subregions and threads and the same communicating thread; else 1.
  double paceOf(const HybridSetting& setting, int subregion, std::size_t thread) const;

 private:
  using Source = std::unique_ptr<Distribution>;
  Source makeSource(const std::vector<double>& samples, double timingSeconds,
                    std::optional<Family> family, const std::string& name);

  HybridSetting setting_;
  double timingSeconds_;
  double blockLayers_;  ///< Of the measured blocks.
  std::vector<double> paces_;
  std::array<Source, Operations> operations_;
  Source swapTransfer_, reportTransfer_;
  std::vector<std::string> substituted_;
};

}  // namespace tributary
