// SPDX-License-Identifier: BSD-3-Clause
#include "Machines/Machines.h"

#include <fstream>

#include "Tributary/Base/Error.h"

namespace bench {

namespace {

/// A cluster of today: 64-core nodes, a network of 100 Gbit/s.
Machine cluster() {
  Machine machine;
  machine.name = "cluster";
  machine.network.ranksPerNode = 64;
  // One way takes 0.9 us for up to 16 bytes and 11.6 GB/s are reached: osu_latency and osu_bw of
  // Open MPI between two nodes, gist.github.com/jfgrimm/3af692a5475bdd4ed836b5a18197a209. A pair of
  // ranks sends 3.0 million messages of 16 to 64 bytes per second: osu_mbw_mr on Omni-Path,
  // gist.github.com/hppritcha/8da4436a216c9d96bf10ad9d403da03f. Assumed: half of that gap is
  // overhead of the processor.
  machine.network.between = {0.57e-6, 0.165e-6, 0.33e-6, 1 / 11.6e9};
  // Assumed: shared memory has the overhead of the network's messages and a third of its latency.
  machine.network.within = {0.2e-6, 0.165e-6, 0.165e-6, 1 / 10e9};
  // A step of RK4 on a uniform grid and a link: `kernels` and `calibrate` on one core, see
  // README.md and REPORT.md. Assumed: a hand-over and a turn.
  machine.stepSeconds = 33e-9;
  machine.handoverSeconds = 0.3e-6;
  machine.linkSeconds = 0.2e-6;
  machine.turnSeconds = 0.2e-6;
  return machine;
}

/// The machine of the iexchange paper (doi:10.1109/LDAV53230.2021.00009): Theta, a Cray XC40 with
/// 64-core Knights Landing nodes of 1.3 GHz and an Aries network.
Machine theta() {
  Machine machine;
  machine.name = "theta";
  machine.network.ranksPerNode = 64;  // Section 4.1; assumed: a rank on each core
  // Between two Haswell nodes on Aries, one way takes 1.2 us, and 4 MiB take 435 us: osu_latency,
  // gist.github.com/hppritcha/6a3acd0c192fcfd082bd543fc98e6fe6. A pair sends 1.42 million small
  // messages per second: osu_mbw_mr, gist.github.com/hppritcha/200bc7a2d4dfde709245d6ffa7b2b971.
  // Assumed: half of that gap is overhead; a core of Knights Landing with MPI_THREAD_MULTIPLE takes
  // three times as long for both, and the wire as long.
  constexpr double Slower = 3;
  machine.network.between = {0.5e-6, 0.35e-6 * Slower, 0.70e-6 * Slower, 435e-6 / (4 << 20)};
  machine.network.within = {0.3e-6, 0.35e-6 * Slower, 0.35e-6 * Slower, 1 / 4e9};  // assumed
  machine.network.lookSeconds *= Slower;
  machine.network.noise = 0.05;  // assumed
  // The 25 times of Table 1 with the synchronous protocol, fitted by Benchmarks/Scripts/paper.py:
  // a step, and a particle from block to block. These reproduce them within 14 %, in the median 3
  // %. The asynchronous times are not used.
  machine.stepSeconds = 16.1e-9;
  machine.handoverSeconds = 28.4e-6;
  // Assumed: three times as long as on the core that `cluster` was measured on.
  machine.linkSeconds = 0.2e-6 * Slower;
  machine.turnSeconds = 0.2e-6 * Slower;
  return machine;
}

tributary::LinkCosts linkCosts(const Row& row) {
  return {row.at("latency"), row.at("overhead"), row.at("gap"), row.at("gap per byte")};
}

Row linkRow(const tributary::LinkCosts& link) {
  return {{"latency", link.latency},
          {"overhead", link.overhead},
          {"gap", link.gap},
          {"gap per byte", link.gapPerByte}};
}

}  // namespace

Machine findMachine(const std::string& nameOrFile) {
  if (nameOrFile == "cluster") return cluster();
  if (nameOrFile == "theta") return theta();
  std::ifstream file(nameOrFile);
  if (!file)
    throw tributary::Error("no machine '" + nameOrFile +
                           "'; give cluster, theta or a file that calibrate has written");
  try {
    const Row row = Row::parse(file).at("settings").at("machine");
    Machine machine;
    machine.name = row.at("name");
    machine.network.ranksPerNode = row.at("ranks per node");
    machine.network.within = linkCosts(row.at("within"));
    machine.network.between = linkCosts(row.at("between"));
    machine.network.lookSeconds = row.at("look");
    machine.network.noise = row.at("noise");
    machine.stepSeconds = row.at("step");
    machine.handoverSeconds = row.at("handover");
    machine.linkSeconds = row.at("link");
    machine.turnSeconds = row.at("turn");
    return machine;
  } catch (const nlohmann::json::exception& error) {
    throw tributary::Error("the machine in " + nameOrFile + " is malformed: " + error.what());
  }
}

void scaleNetwork(Machine& machine, double factor) {
  for (tributary::LinkCosts* link : {&machine.network.within, &machine.network.between}) {
    link->latency *= factor;
    link->overhead *= factor;
    link->gap *= factor;
    link->gapPerByte *= factor;
  }
}

Row machineRow(const Machine& machine) {
  return {{"name", machine.name},
          {"ranks per node", machine.network.ranksPerNode},
          {"within", linkRow(machine.network.within)},
          {"between", linkRow(machine.network.between)},
          {"look", machine.network.lookSeconds},
          {"noise", machine.network.noise},
          {"step", machine.stepSeconds},
          {"handover", machine.handoverSeconds},
          {"link", machine.linkSeconds},
          {"turn", machine.turnSeconds}};
}

}  // namespace bench
