// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "Tributary/Base/Span.h"

namespace tributary {

/// The times of steps, each once.
/// @param reported  ascending; may repeat times, as Catalyst's producer does
[[nodiscard]] std::vector<double> distinctTimes(Span<const double> reported);

/// Whether a list of times is the beginning of another one.
[[nodiscard]] bool isBeginningOf(const std::vector<double>& part, const std::vector<double>& all);

/// The number of known times before those that are reported: a simulation that was restarted
/// reports the times since then only. None if the first reported time is not known, or if the
/// reported and the known times from there on differ; either may have more.
/// @param known     ascending
/// @param reported  ascending, not empty
[[nodiscard]] std::optional<std::size_t> timesBefore(const std::vector<double>& known,
                                                     const std::vector<double>& reported);

}  // namespace tributary
