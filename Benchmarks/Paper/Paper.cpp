// SPDX-License-Identifier: BSD-3-Clause
#include "Paper/Paper.h"

#include <mpi.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <utility>

#include "Components/Components.h"
#include "Machines/Machines.h"
#include "Paper/FlowTrace.h"
#include "Support/Mpi.h"
#include "Support/Report.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Transport/Clock.h"
#include "Tributary/Transport/Mpi.h"

namespace bench {

namespace {

using tributary::Schedule;

Machine machineOf(const PaperOptions& options) {
  Machine machine = findMachine(options.machine);
  machine.handoverSeconds *= options.handoverFactor;
  machine.stepSeconds *= options.stepFactor;
  machine.turnSeconds *= options.turnFactor;
  scaleNetwork(machine, options.networkFactor);
  return machine;
}

/// trace() takes up to 64 particles of a block at once, and above that about a quarter of them. So
/// with at most 64 packets in a block, a call takes all particles that wait there, as the callback
/// of the paper does. For the protocols "library" and "lending" blocks have at least 1,024 packets,
/// or those of single voxels.
int packetVoxels(const FlowTraceOptions& flow, const std::string& protocol) {
  const auto blocks = nearCube(flow.ranks * flow.blocksPerRank);
  const auto packets = [&](int edge) {
    const auto along = [&](int a) {
      return std::max(1, flow.voxels / blocks[std::size_t(a)] / edge);
    };
    return along(1) * along(2);
  };
  int edge = 1;
  if (protocol == "library" || protocol == "lending")
    while (packets(2 * edge) >= 1024) edge *= 2;
  else
    while (packets(edge) > 64) edge *= 2;
  return edge;
}

FlowTraceOptions flowOf(const PaperOptions& options, const std::string& protocol, int ranks,
                        int blocksPerRank, double ratio) {
  FlowTraceOptions flow;
  flow.ranks = ranks;
  flow.blocksPerRank = blocksPerRank;
  flow.voxels = options.voxels;
  flow.seedsPerVoxel = options.seedsPerVoxel;
  flow.ratio = options.ratio > 0 ? options.ratio : ratio;
  flow.dealt = !options.rows;
  flow.lending = protocol == "lending";
  flow.stallSeconds = options.stallSeconds;
  flow.exchange.schedule = protocol == "exchange" ? Schedule::Synchronous : Schedule::Asynchronous;
  flow.packetVoxels =
      options.packetVoxels > 0 ? options.packetVoxels : packetVoxels(flow, protocol);
  return flow;
}

Row flowRow(const FlowTraceOptions& flow, const std::string& protocol,
            const FlowTraceResult& result, double coreSeconds) {
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
          {"loans", result.loans},
          {"copies", result.copies},
          {"MB copied", result.copiedBytes * 1e-6},
          {"core s", coreSeconds}};
}

/// Simulates a trace and adds its row to the report.
FlowTraceResult addTrace(const FlowTraceOptions& flow, const std::string& protocol,
                         const Machine& machine, Report& report, bool wantTimelines = false) {
  const double begin = tributary::coreSeconds();
  FlowTraceResult result = traceFlow(machine, flow, wantTimelines);
  report.add(flowRow(flow, protocol, result, tributary::coreSeconds() - begin));
  return result;
}

/// Table 1 and Figure 4.
void measureStrongScaling(const PaperOptions& options, const Machine& machine, Report& report) {
  const std::vector<int> ranks =
      options.ranks.empty() ? std::vector<int>{32, 128, 512, 2048, 8192} : options.ranks;
  for (const int size : ranks)
    for (const int blocks : options.blocksPerRank) {
      std::map<int, std::uint64_t> hashes;  // of the ends, by size of packets
      for (const std::string& protocol : options.protocols) {
        std::cerr << "measuring " << protocol << ", " << size << " ranks, " << blocks
                  << " blocks each ..." << std::endl;
        const FlowTraceOptions flow = flowOf(options, protocol, size, blocks, 10);
        const std::uint64_t hash = addTrace(flow, protocol, machine, report).hash;
        if (hashes.emplace(flow.packetVoxels, hash).first->second != hash)
          throw tributary::Error(protocol + ": end points differ from those of another protocol");
      }
    }
}

/// The same on MPI's ranks, without slow blocks: of repetitions that take turns, the fastest one,
/// to which other programs have added least. Without `iexchange`, which would be `library`: trace()
/// always hands over in portions.
void measureStrongScaling(const PaperOptions& options) {
  std::vector<std::string> protocols;
  for (const std::string& protocol : options.protocols)
    if (protocol != "iexchange") protocols.push_back(protocol);
  const auto world = tributary::makeMpiTransport(MPI_COMM_WORLD);
  Report report("IExchange, Figure 4, measured without slow blocks",
                {{"voxels", options.voxels}, {"repetitions", options.repeat}});
  for (const int blocks : options.blocksPerRank) {
    std::vector<FlowTraceOptions> flows;
    for (const std::string& protocol : protocols) {
      flows.push_back(flowOf(options, protocol, world->size(), blocks, 1));
      flows.back().packetVoxels = 1;
    }
    std::vector<FlowTraceResult> fastest(flows.size());
    for (int repetition = 0; repetition < options.repeat; ++repetition)
      for (std::size_t p = 0; p < flows.size(); ++p) {
        FlowTraceResult result = measureFlow(*world, flows[p]);
        if (repetition == 0 || result.seconds < fastest[p].seconds) fastest[p] = std::move(result);
      }
    for (std::size_t p = 0; p < flows.size(); ++p)
      report.add(flowRow(flows[p], protocols[p], fastest[p], 0));
  }
  if (world->rank() == 0) report.publish(options.json);
}

/// Figure 1.
void measureGantt(const PaperOptions& options, const Machine& machine, Report& report) {
  for (const std::string& protocol : options.protocols) {
    const FlowTraceOptions flow =
        flowOf(options, protocol, options.ranks.empty() ? 64 : options.ranks.front(), 1, 100);
    const FlowTraceResult result =
        addTrace(flow, protocol, machine, report, !options.timeline.empty());
    if (!options.timeline.empty())
      tributary::writeTrace(options.timeline + "-" + protocol + ".json",
                            {result.timelines.data(), result.timelines.size()});
  }
}

/// Figures 7 and 9.
void measureUnions(const PaperOptions& options, const Machine& machine) {
  ComponentsOptions unions;
  unions.problems = {options.figure == "7" ? "critical" : "streaks"};
  unions.size = options.size;
  unions.blocksPerRank = {1};
  unions.unions = unions.repeat = 1;
  unions.simulate = options.ranks;
  if (unions.simulate.empty())
    for (int ranks = 16; ranks <= 8192; ranks *= 2) unions.simulate.push_back(ranks);
  unions.machine = machine;
  unions.variants = {"Labels Dense", "Labels Sync", "Labels Async", "Tree Async"};
  unions.json = options.json;
  measureComponents(unions);
}

}  // namespace

void measurePaper(const PaperOptions& options) {
  if (options.measure) {
    measureStrongScaling(options);
    return;
  }
  if (worldSize() > 1)
    throw tributary::Error("paper simulates all ranks: run it on one rank, or with --measure");
  const Machine machine = machineOf(options);
  if (options.figure == "7" || options.figure == "9") {
    measureUnions(options, machine);
    return;
  }
  Report report("IExchange, Figure " + options.figure,
                {{"machine", machineRow(machine)},
                 {"seeds per voxel", options.seedsPerVoxel},
                 {"voxels", options.voxels},
                 {"stall s", options.stallSeconds},
                 {"blocks", options.rows ? "consecutive along x" : "in turn"}});
  if (options.figure == "1")
    measureGantt(options, machine, report);
  else
    measureStrongScaling(options, machine, report);
  report.publish(options.json);
}

}  // namespace bench
