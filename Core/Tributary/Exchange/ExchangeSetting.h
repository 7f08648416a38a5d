// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "Tributary/Exchange/Exchange.h"

namespace tributary {

/// The members of ExchangeOptions that affect the duration of an exchange but not its result.
struct ExchangeSetting {
  std::size_t batchBytes = ExchangeOptions().batchBytes;
  double holdTime = ExchangeOptions().holdTime;  ///< in microseconds

  /// Copies both members to `options`.
  void applyTo(ExchangeOptions& options) const {
    options.batchBytes = batchBytes;
    options.holdTime = holdTime;
  }
};

/// The candidates for tuning: all pairs of a batch size of 4 KiB, 64 KiB or 1 MiB and a hold time
/// of 0, 5 or 100 microseconds. The defaults of ExchangeOptions come first.
[[nodiscard]] std::vector<ExchangeSetting> exchangeSettings();

}  // namespace tributary
