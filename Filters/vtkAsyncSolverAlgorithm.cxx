// SPDX-License-Identifier: BSD-3-Clause
#include "vtkAsyncSolverAlgorithm.h"

#include "Common/PropertyList.h"
#include "Common/Require.h"

//------------------------------------------------------------------------------
void vtkAsyncSolverAlgorithm::CheckExecutionProperties() {
  this->Superclass::CheckExecutionProperties();
  tributary::require(this->Schedule == SYNCHRONOUS || this->Schedule == ASYNCHRONOUS, "Schedule",
                     this->Schedule, "set it to ", int(SYNCHRONOUS), " (synchronous) or ",
                     int(ASYNCHRONOUS), " (asynchronous)");
}

//------------------------------------------------------------------------------
void vtkAsyncSolverAlgorithm::DescribeExecutionProperties(tributary::PropertyList& list) {
  this->Superclass::DescribeExecutionProperties(list);
  list.add("Schedule", this->Schedule);
  list.add("Convergence Detection", this->ConvergenceDetection);
}

//------------------------------------------------------------------------------
void vtkAsyncSolverAlgorithm::PrintSelf(ostream& os, vtkIndent indent) {
  this->Superclass::PrintSelf(os, indent);
  os << indent << "Schedule: " << this->Schedule << "\n"
     << indent << "ConvergenceDetection: " << this->ConvergenceDetection << "\n";
}
