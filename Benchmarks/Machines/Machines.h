// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "Support/Report.h"
#include "Tributary/Transport/Simulated.h"

namespace bench {

/// A computer to simulate: its network, and the time that its processor takes for the operations of
/// the papers' experiments. All times in seconds.
struct Machine {
  std::string name;
  tributary::VirtualTimeNetworkOptions network;  ///< Without the number of ranks.
  double stepSeconds = 0;                        ///< Of a Runge-Kutta step of a particle.
  double handoverSeconds = 0;  ///< Of a particle's way into a block and out of it.
  double linkSeconds = 0;      ///< Of a link in uniteSets(): set up, united, its labels handled.
  double turnSeconds = 0;      ///< Of a turn of the exchange between two looks at the network.
};

/// The profile "cluster" or "theta" (Machines.cpp has the source of each number), or one that
/// calibrateMachine() has saved to this file. Throws tributary::Error if there is none.
Machine findMachine(const std::string& nameOrFile);

/// Multiplies latency, overhead, gap and gap per byte, within a node and between nodes.
void scaleNetwork(Machine& machine, double factor);

/// The numbers of a profile, as calibrateMachine() saves them.
Row machineRow(const Machine& machine);

}  // namespace bench
