// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>

#include "Tributary/Transport/Transport.h"

namespace tributary {

/// Local. Runs body(begin, end) for parts of [0, count) on the threads of vtkSMPTools; see
/// ParallelFor. If bodies throw, rethrows the exception of the part with the lowest begin.
void smpFor(std::int64_t count,
            const std::function<void(std::int64_t begin, std::int64_t end)>& body);

/// Local. The number of threads of smpFor(), at least 1.
[[nodiscard]] std::int64_t smpThreads();

/// Local. The same as smpFor() in pieces of at most `piece` numbers, with throwIfInterrupted()
/// before each. For work within collectively() or ErrorCollector::attempt().
/// @param piece  at least 1; some 10 to 100 milliseconds of work
void smpForPieces(const Transport& transport, std::int64_t count, std::int64_t piece,
                  const std::function<void(std::int64_t begin, std::int64_t end)>& body);

}  // namespace tributary
