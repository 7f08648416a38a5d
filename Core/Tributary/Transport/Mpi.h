// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// MPI's own C++ classes are gone from the standard and would only add warnings and a library.
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

/// The ranks of an MPI communicator. Collective over `comm`, which is duplicated, so that other
/// users' messages are never matched; MPI must be initialized (MPI_THREAD_FUNNELED is enough,
/// MPI_THREAD_SINGLE if the program has no other threads) and outlive the transport. Errors are
/// returned by MPI and thrown as MpiError with the function, MPI's code and text, and the rank;
/// destructors write them to stderr instead. Messages larger than `largestPart` bytes travel in
/// parts.
///
/// Destroying the transport is collective: it receives and drops what was sent and never asked for,
/// and finishes all sends, so that nothing stays pending in MPI.
std::unique_ptr<Transport> makeMpiTransport(MPI_Comm comm, std::size_t largestPart = std::size_t(1)
                                                                                     << 30);

}  // namespace tributary
