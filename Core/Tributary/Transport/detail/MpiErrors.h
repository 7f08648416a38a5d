// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>

#include "Tributary/Base/Error.h"
#include "Tributary/Base/Span.h"

namespace tributary::detail {

/// Throws MpiError with the error text of MPI unless `code` is MPI_SUCCESS.
/// @param function  the name of the MPI function that returned `code`
/// @param rank  the rank of this process, if known
inline void checkMpi(int code, const char* function, std::optional<int> rank) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) length = 0;
  int errorClass = MPI_ERR_UNKNOWN;
  if (MPI_Error_class(code, &errorClass) != MPI_SUCCESS) errorClass = MPI_ERR_UNKNOWN;
  throw MpiError(std::string(function) + " failed" +
                     (rank ? " on rank " + std::to_string(*rank) : std::string()) + " with code " +
                     std::to_string(code) + ": " +
                     std::string(text, static_cast<std::size_t>(length)),
                 function, code, errorClass, rank);
}

/// The error of the first failed request if `code` is MPI_ERR_IN_STATUS, otherwise `code`.
/// @param code  what a function that completes several requests returned
/// @param statuses  that it set
[[nodiscard]] inline int codeOfRequest(int code, Span<const MPI_Status> statuses) {
  int errorClass = MPI_SUCCESS;
  if (code == MPI_SUCCESS || MPI_Error_class(code, &errorClass) != MPI_SUCCESS ||
      errorClass != MPI_ERR_IN_STATUS)
    return code;
  for (const MPI_Status& status : statuses)
    if (status.MPI_ERROR != MPI_SUCCESS && status.MPI_ERROR != MPI_ERR_PENDING)
      return status.MPI_ERROR;
  return code;
}

/// Runs `work` and writes an error that it throws to stderr. For destructors, which must not throw.
/// @param when  what the destructor does, for instance "closing the MPI transport"
template <class Work>
void reportErrors(const char* when, Work&& work) noexcept {
  try {
    work();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "Tributary: while %s: %s\n", when, error.what());
  }
}

}  // namespace tributary::detail
