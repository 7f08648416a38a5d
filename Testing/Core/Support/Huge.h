// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <string>

#include "Support/World.h"
#include "Tributary/Collective/Collectives.h"

namespace tributary::testing {

/// A size that exceeds the range of int.
constexpr std::size_t HugeBytes = 2300000000;

inline double availableGigabytes() {
  std::ifstream file("/proc/meminfo");
  std::string word;
  while (file >> word) {
    if (word != "MemAvailable:") continue;
    double kilobytes = 0;
    file >> kilobytes;
    return kilobytes / (1 << 20);
  }
  return 0;
}

/// The reason to skip a test that needs this much memory of the machine; "" to run it. Collective.
inline std::string whyNotHuge(double neededGigabytes) {
  if (std::getenv("TRIBUTARY_TEST_HUGE") != nullptr) return {};
  const double available = allreduce(world(), ReduceOp::Min, availableGigabytes());
  if (available >= neededGigabytes) return {};
  return "SKIPPED: needs " + std::to_string(neededGigabytes) + " GiB of free memory, there are " +
         std::to_string(available) + "; TRIBUTARY_TEST_HUGE=1 runs it all the same";
}

}  // namespace tributary::testing
