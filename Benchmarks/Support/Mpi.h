// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <optional>

#include "Tributary/Transport/detail/MpiErrors.h"

namespace bench {

/// Throws tributary::MpiError unless `code`, returned by the MPI function of that name, is
/// MPI_SUCCESS.
inline void checkMpi(int code, const char* function) {
  tributary::detail::checkMpi(code, function, std::nullopt);
}

/// The rank of this process in MPI_COMM_WORLD.
inline int worldRank() {
  int rank = 0;
  checkMpi(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
  return rank;
}

/// The number of ranks of MPI_COMM_WORLD.
inline int worldSize() {
  int size = 0;
  checkMpi(MPI_Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size");
  return size;
}

}  // namespace bench
