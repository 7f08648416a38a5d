// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <string>

#include "Tributary/Base/Error.h"

namespace tributary::detail {

/// Throws Error, with MPI's own text, if a function of MPI has failed.
inline void checkMpi(int code, const char* function, int rank) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) length = 0;
  throw Error(std::string(function) + " failed on rank " + std::to_string(rank) + " with code " +
              std::to_string(code) + ": " + std::string(text, static_cast<std::size_t>(length)));
}

/// Whether more has come than there was room for, where that is known.
inline bool isTruncated(int code) {
  int kind = MPI_SUCCESS;
  return code != MPI_SUCCESS && MPI_Error_class(code, &kind) == MPI_SUCCESS &&
         kind == MPI_ERR_TRUNCATE;
}

}  // namespace tributary::detail
