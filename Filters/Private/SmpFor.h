#pragma once

#include <cstdint>
#include <functional>

namespace tributary {

/// The core's parallel loop (see ParallelFor) on vtkSMPTools. An exception of a body is thrown by
/// this call.
void smpFor(std::int64_t count,
            const std::function<void(std::int64_t begin, std::int64_t end)>& body);

}  // namespace tributary
