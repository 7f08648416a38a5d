// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "Tributary/Transport/Transport.h"

class vtkMultiProcessController;

namespace tributary {

/// Closes and destroys a transport, collectively, unless a rank abandons it: see
/// Transport::abandon().
struct DestroyTransport {
  void operator()(Transport* transport) const {
    if (!transport->isAbandoned()) transport->close();
    if (!transport->isAbandoned()) delete transport;
  }
};

/// Collective over the controller. Makes the transport between its ranks: MPI, on a duplicate of
/// the communicator, if the controller has more than one process, otherwise Loopback. Throws Error
/// if a controller of several processes does not use MPI.
[[nodiscard]] std::unique_ptr<Transport, DestroyTransport> makeTransport(
    vtkMultiProcessController* controller);

}  // namespace tributary
