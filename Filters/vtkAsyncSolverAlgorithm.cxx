// SPDX-License-Identifier: BSD-3-Clause
#include "vtkAsyncSolverAlgorithm.h"

#include "Common/PropertyList.h"
#include "Common/Require.h"
#include "Grids/SolverSettings.h"

//------------------------------------------------------------------------------
void vtkAsyncSolverAlgorithm::CheckExecutionProperties() {
  this->Superclass::CheckExecutionProperties();
  tributary::require(this->Schedule == SYNCHRONOUS || this->Schedule == ASYNCHRONOUS, "Schedule",
                     this->Schedule, "set it to ", int(SYNCHRONOUS), " (synchronous) or ",
                     int(ASYNCHRONOUS), " (asynchronous)");
  tributary::require(this->IterationLimit >= 1, "Iteration Limit", this->IterationLimit,
                     "set it to 1 or more");
  tributary::require(this->SweepsPerExchange >= 1 && this->SweepsPerExchange <= MOST_SWEEPS,
                     "Sweeps Per Exchange", this->SweepsPerExchange, "set it to a number in [1, ",
                     int(MOST_SWEEPS), "]");
}

//------------------------------------------------------------------------------
void vtkAsyncSolverAlgorithm::DescribeExecutionProperties(tributary::PropertyList& list) {
  this->Superclass::DescribeExecutionProperties(list);
  list.add("Schedule", this->Schedule);
  list.add("Convergence Detection", this->ConvergenceDetection);
  list.add("Iteration Limit", this->IterationLimit);
  list.add("Sweeps Per Exchange", this->SweepsPerExchange);
}

//------------------------------------------------------------------------------
tributary::SolverSettings vtkAsyncSolverAlgorithm::MakeSolverSettings() const {
  tributary::SolverSettings settings;
  settings.schedule = this->Schedule == ASYNCHRONOUS ? tributary::IterationSchedule::Asynchronous
                                                     : tributary::IterationSchedule::Synchronous;
  settings.convergenceDetection = this->ConvergenceDetection == SUPERVISED
                                      ? tributary::ConvergenceDetection::SupervisedTermination
                                      : tributary::ConvergenceDetection::SnapshotReduction;
  settings.iterationLimit = this->IterationLimit;
  settings.sweepsPerExchange = this->SweepsPerExchange;
  return settings;
}

//------------------------------------------------------------------------------
void vtkAsyncSolverAlgorithm::PrintSelf(ostream& os, vtkIndent indent) {
  this->Superclass::PrintSelf(os, indent);
  os << indent << "Schedule: " << this->Schedule << "\n"
     << indent << "ConvergenceDetection: " << this->ConvergenceDetection << "\n"
     << indent << "IterationLimit: " << this->IterationLimit << "\n"
     << indent << "SweepsPerExchange: " << this->SweepsPerExchange << "\n";
}
