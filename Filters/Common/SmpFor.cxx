// SPDX-License-Identifier: BSD-3-Clause
#include "Common/SmpFor.h"

#include <vtkSMPTools.h>

#include <algorithm>
#include <exception>
#include <mutex>

namespace tributary {

std::int64_t smpThreads() {
  return std::max(vtkSMPTools::GetEstimatedNumberOfThreads(), 1);
}

void smpFor(std::int64_t count,
            const std::function<void(std::int64_t begin, std::int64_t end)>& body) {
  if (count < 1) return;
  // An exception in a thread of VTK would terminate the program. The exception of the lowest part
  // is kept, so the error does not depend on threads.
  std::exception_ptr failure;
  vtkIdType place = count;
  std::mutex guard;
  vtkSMPTools::For(0, count, [&](vtkIdType begin, vtkIdType end) {
    try {
      body(begin, end);
    } catch (...) {
      const std::lock_guard<std::mutex> lock(guard);
      if (begin < place) {
        place = begin;
        failure = std::current_exception();
      }
    }
  });
  if (failure) std::rethrow_exception(failure);
}

void smpForPieces(const Transport& transport, std::int64_t count, std::int64_t piece,
                  const std::function<void(std::int64_t begin, std::int64_t end)>& body) {
  for (std::int64_t at = 0; at < count; at += piece) {
    throwIfInterrupted(transport);
    smpFor(std::min(piece, count - at),
           [&](std::int64_t begin, std::int64_t end) { body(at + begin, at + end); });
  }
}

}  // namespace tributary
