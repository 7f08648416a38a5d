// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The C++ bindings were removed from the MPI standard. Including them adds warnings and a library.
#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1
#endif
#include <mpi.h>

#include <memory>

#include "Tributary/Transport/Transport.h"

namespace tributary {

/// Makes a transport for the ranks of an MPI communicator.
///
/// Collective over `comm`. The communicator is duplicated, so messages of other libraries are never
/// matched. MPI must be initialized and must not be finalized before the transport is destroyed.
/// MPI_THREAD_FUNNELED is sufficient, or MPI_THREAD_SINGLE if the program has a single thread.
///
/// If a function of MPI fails, the transport throws MpiError with the name of the function, the
/// error code and text of MPI, and the rank. Destructors write these errors to stderr instead.
///
/// Destroying the transport is collective. It receives and discards messages that were not
/// received, and completes all sends, so that no communication is pending in MPI.
///
/// @param largestPart  messages above this size are sent in parts; bytes, in [1, 2^30], other
///                     values are clamped. Default: 2^30.
[[nodiscard]] std::unique_ptr<Transport> makeMpiTransport(MPI_Comm comm,
                                                          std::size_t largestPart = std::size_t(1)
                                                                                    << 30);

}  // namespace tributary
