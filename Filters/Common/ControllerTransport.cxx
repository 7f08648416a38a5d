// SPDX-License-Identifier: BSD-3-Clause
#include "Common/ControllerTransport.h"

#include <vtkMPI.h>
#include <vtkMPICommunicator.h>
#include <vtkMultiProcessController.h>

#include <string>

#include "Tributary/Base/Error.h"
#include "Tributary/Transport/Loopback.h"
#include "Tributary/Transport/Mpi.h"

namespace tributary {

std::unique_ptr<Transport, DestroyTransport> makeTransport(vtkMultiProcessController* controller) {
  using Owner = std::unique_ptr<Transport, DestroyTransport>;
  if (!controller || controller->GetNumberOfProcesses() < 2)
    return Owner(makeLoopbackTransport().release());
  auto* communicator = vtkMPICommunicator::SafeDownCast(controller->GetCommunicator());
  if (!communicator || !communicator->GetMPIComm() || !communicator->GetMPIComm()->GetHandle())
    throw Error(std::string("the controller (") + controller->GetClassName() + ") has " +
                std::to_string(controller->GetNumberOfProcesses()) +
                " processes but no MPI communicator; set the controller of the filter to a "
                "vtkMPIController");
  return Owner(makeMpiTransport(*communicator->GetMPIComm()->GetHandle()).release());
}

}  // namespace tributary
