// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>

namespace tributary {

/// Local. Runs body(begin, end) for parts of [0, count) on the threads of vtkSMPTools; see
/// ParallelFor. If bodies throw, rethrows the exception of the part with the lowest begin.
void smpFor(std::int64_t count,
            const std::function<void(std::int64_t begin, std::int64_t end)>& body);

}  // namespace tributary
