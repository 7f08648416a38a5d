// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "Tributary/Collective/Assignment.h"
#include "Tributary/Transport/Transport.h"

namespace tributary::testing {

/// One block on each rank.
inline Assignment oneEach(const Transport& transport) {
  return Assignment(std::vector<std::int64_t>(static_cast<std::size_t>(transport.size()), 1));
}

}  // namespace tributary::testing
