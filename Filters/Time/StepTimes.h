// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "Tributary/Base/Span.h"

namespace tributary {

/// The times of steps, each once.
/// @param reported  ascending; may repeat times, as Catalyst's producer does
[[nodiscard]] std::vector<double> distinctTimes(Span<const double> reported);

/// Whether a list of times is the beginning of another one.
[[nodiscard]] bool isBeginningOf(const std::vector<double>& part, const std::vector<double>& all);

}  // namespace tributary
