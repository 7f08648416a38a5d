// SPDX-License-Identifier: BSD-3-Clause
#include "Paper/Paper.h"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <optional>

#include "Machines/Machines.h"
#include "Paper/FlowTrace.h"
#include "Support/Mpi.h"
#include "Support/Report.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Transport/Clock.h"

namespace bench {

namespace {

using tributary::Schedule;

Schedule scheduleOf(const std::string& protocol) {
  return protocol == "exchange" ? Schedule::Synchronous : Schedule::Asynchronous;
}

Machine machineOf(const PaperOptions& options) {
  Machine machine = findMachine(options.machine);
  machine.handoverSeconds *= options.handoverFactor;
  machine.stepSeconds *= options.stepFactor;
  machine.turnSeconds *= options.turnFactor;
  scaleNetwork(machine, options.networkFactor);
  return machine;
}

/// The largest packets, up to 8 voxels, of which a block still has 64, or single voxels.
int packetVoxels(const FlowTraceOptions& flow) {
  const auto blocks = nearCube(flow.ranks * flow.blocksPerRank);
  int edge = 8;
  while (edge > 1 && flow.voxels / blocks[1] / edge * (flow.voxels / blocks[2] / edge) < 64)
    edge /= 2;
  return edge;
}

FlowTraceOptions flowOf(const PaperOptions& options, int ranks, int blocksPerRank, double ratio) {
  FlowTraceOptions flow;
  flow.ranks = ranks;
  flow.blocksPerRank = blocksPerRank;
  flow.voxels = options.voxels;
  flow.ratio = options.ratio > 0 ? options.ratio : ratio;
  flow.dealt = !options.rows;
  flow.packetVoxels = options.packetVoxels > 0 ? options.packetVoxels : packetVoxels(flow);
  return flow;
}

Row flowRow(const FlowTraceOptions& flow, const std::string& protocol,
            const FlowTraceResult& result, double wallSeconds) {
  return {{"ranks", flow.ranks},
          {"protocol", protocol},
          {"blocks/rank", flow.blocksPerRank},
          {"seconds", result.seconds},
          {"busiest", result.busiestSeconds},
          {"mean load", result.meanSeconds},
          {"idle %", result.idleShare * 100},
          {"rounds", result.rounds},
          {"packet voxels", flow.packetVoxels},
          {"steps", result.steps},
          {"handovers", result.handovers},
          {"wall s", wallSeconds}};
}

/// Table 1 and Figure 4.
void measureStrongScaling(const PaperOptions& options, const Machine& machine, Report& report) {
  const std::vector<int> ranks =
      options.ranks.empty() ? std::vector<int>{32, 128, 512, 2048, 8192} : options.ranks;
  const std::vector<int> perRank =
      options.blocksPerRank.empty() ? std::vector<int>{1, 2, 4, 8, 16} : options.blocksPerRank;
  for (const int size : ranks)
    for (const int blocks : perRank) {
      std::optional<std::uint64_t> hash;
      for (const std::string& protocol : options.protocols) {
        std::cerr << "measuring " << protocol << ", " << size << " ranks, " << blocks
                  << " blocks each ..." << std::endl;
        FlowTraceOptions flow = flowOf(options, size, blocks, 10);
        flow.exchange.schedule = scheduleOf(protocol);
        const double begin = tributary::steadySeconds();
        const FlowTraceResult result = traceFlow(machine, flow);
        report.add(flowRow(flow, protocol, result, tributary::steadySeconds() - begin));
        if (hash.value_or(result.hash) != result.hash)
          throw tributary::Error(protocol + ": end points differ from those of the other protocol");
        hash = result.hash;
      }
    }
}

/// Figure 1.
void measureGantt(const PaperOptions& options, const Machine& machine, Report& report) {
  for (const std::string& protocol : options.protocols) {
    FlowTraceOptions flow =
        flowOf(options, options.ranks.empty() ? 64 : options.ranks.front(), 1, 100);
    flow.exchange.schedule = scheduleOf(protocol);
    const double begin = tributary::steadySeconds();
    const FlowTraceResult result = traceFlow(machine, flow, !options.timeline.empty());
    report.add(flowRow(flow, protocol, result, tributary::steadySeconds() - begin));
    if (!options.timeline.empty())
      tributary::writeTrace(options.timeline + "-" + protocol + ".json",
                            {result.timelines.data(), result.timelines.size()});
  }
}

}  // namespace

void measurePaper(const PaperOptions& options) {
  if (worldSize() > 1) throw tributary::Error("paper simulates all ranks: run it on one rank");
  const Machine machine = machineOf(options);
  Report report("IExchange, Figure " + options.figure,
                {{"machine", machineRow(machine)},
                 {"voxels", options.voxels},
                 {"blocks", options.rows ? "consecutive along x" : "in turn"}});
  if (options.figure == "1")
    measureGantt(options, machine, report);
  else
    measureStrongScaling(options, machine, report);
  report.publish(options.json);
}

}  // namespace bench
