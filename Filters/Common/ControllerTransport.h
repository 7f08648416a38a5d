// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "Tributary/Transport/Transport.h"

class vtkMultiProcessController;

namespace tributary {

/// The transport over the ranks of a VTK controller: MPI if the controller has more than one
/// process, otherwise the Loopback transport. Collective over the controller; its communicator is
/// duplicated. Throws Error if a controller of several processes does not use MPI.
std::unique_ptr<Transport> makeTransport(vtkMultiProcessController* controller);

}  // namespace tributary
