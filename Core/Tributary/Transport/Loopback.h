// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "Tributary/Transport/Transport.h"

namespace tributary {

/// One rank, no MPI. A synchronous send to itself is finished when it is received.
std::unique_ptr<Transport> makeLoopbackTransport();

}  // namespace tributary
