// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "Tributary/Transport/Transport.h"

namespace tributary {

/// Makes a transport of one rank that does not use MPI. A synchronous send is finished when this
/// rank receives the message.
[[nodiscard]] std::unique_ptr<Transport> makeLoopbackTransport();

}  // namespace tributary
