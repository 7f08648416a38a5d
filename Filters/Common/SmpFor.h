// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>

namespace tributary {

/// The core's parallel loop (see ParallelFor) on vtkSMPTools. Of the bodies' exceptions
/// the one of the lowest `begin` is thrown by this call.
void smpFor(std::int64_t count,
            const std::function<void(std::int64_t begin, std::int64_t end)>& body);

}  // namespace tributary
