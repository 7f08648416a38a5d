// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "Tributary/Exchange/Exchange.h"

namespace tributary {

/// What changes how long an exchange takes, and nothing else. See ExchangeOptions.
struct ExchangeSetting {
  std::size_t batchBytes = ExchangeOptions().batchBytes;
  double holdSeconds = ExchangeOptions().holdSeconds;

  void applyTo(ExchangeOptions& options) const {
    options.batchBytes = batchBytes;
    options.holdSeconds = holdSeconds;
  }
};

/// The settings to choose from: batch sizes from 4 KiB to 1 MiB, hold times from 0 to 100 us. The
/// defaults of ExchangeOptions come first.
std::vector<ExchangeSetting> exchangeSettings();

}  // namespace tributary
