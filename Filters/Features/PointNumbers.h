// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "Tributary/Transport/Transport.h"

namespace tributary {

/// Collective. Numbers the points of all ranks by place: z first, then y, then x. Points with
/// exactly the same coordinates (-0 equals 0) have the same number, and the numbers depend on
/// nothing else. Each rank stores its own points and its share of all points. Throws Error on all
/// ranks if a coordinate is not a number.
/// @return the number of each point of this rank
[[nodiscard]] std::vector<std::int64_t> numberByPlace(
    Transport& transport, const std::vector<std::array<double, 3>>& points);

}  // namespace tributary
