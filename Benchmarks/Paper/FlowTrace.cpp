// SPDX-License-Identifier: BSD-3-Clause
#include "Paper/FlowTrace.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "Tributary/Advection/Tracer.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Collectives.h"

namespace bench {

namespace {

using tributary::Particle;
using tributary::Transport;

/// What the ranks of a simulation share.
struct Problem {
  Problem(const Machine& where, const FlowTraceOptions& given)
      : machine(where),
        options(given),
        flow(settingsOf(given), given.ranks),
        assignment(
            std::vector<std::int64_t>(std::size_t(given.ranks), std::int64_t(given.blocksPerRank))),
        particlesPerPacket(given.seedsPerVoxel * given.seedsPerVoxel * given.packetVoxels *
                           given.packetVoxels) {}

  static FlowSettings settingsOf(const FlowTraceOptions& options) {
    FlowSettings settings;
    // A packet is the only seed of a coarse voxel.
    const int across = options.voxels / options.packetVoxels;
    settings.voxels = {{options.voxels, across, across}};
    settings.blocks = nearCube(options.ranks * options.blocksPerRank);
    settings.seedsPerVoxel = 1;
    settings.slowSpeed = static_cast<float>(settings.fastSpeed / options.ratio);
    settings.dealt = options.dealt;
    return settings;
  }

  /// Steps of all particles: a voxel is a step, or `ratio` steps in the slow blocks. For each of
  /// the packets that pass a block.
  double expectedSteps() const {
    const auto& blocks = flow.settings().blocks;
    const double packets = static_cast<double>(flow.seedCount());
    const double across = double(blocks[1]) * blocks[2];
    const double slowVoxels =
        static_cast<double>(flow.slowBlocks()) / across / blocks[0] * flow.settings().voxels[0];
    return particlesPerPacket * packets *
           (flow.settings().voxels[0] + (options.ratio - 1) * slowVoxels);
  }

  const Machine machine;
  const FlowTraceOptions options;
  SlowBlockFlow flow;
  tributary::Assignment assignment;
  int particlesPerPacket;
};

/// A block in which particles move by the known speed, which takes the time of a machine.
class TimedBlock : public tributary::FieldBlock {
 public:
  TimedBlock(const Problem& problem, Transport& transport, tributary::BlockId id)
      : FieldBlock(id, 0), problem_(problem), transport_(transport) {}

  tributary::Box bounds() const override {
    const FlowBlock block = problem_.flow.outline(id());
    tributary::Box box;
    for (std::size_t a = 0; a < 3; ++a) {
      box.lo[a] = block.lo[a];
      box.hi[a] = block.hi[a];
    }
    return box;
  }

  void advance(const tributary::StepRules&, tributary::Span<Particle> particles, std::int64_t,
               tributary::TrajectoryLog&) const override {
    FlowBlock block = problem_.flow.outline(id());
    for (Particle& p : particles) {
      Tracer tracer{};
      for (int a = 0; a < 3; ++a) tracer.x[a] = static_cast<float>(p.x[a]);
      tracer.id = p.line;
      const auto next = problem_.flow.pass(block, tracer, std::numeric_limits<std::int32_t>::max());
      for (int a = 0; a < 3; ++a) p.x[a] = tracer.x[a];
      p.steps += tracer.steps;
      p.time = p.steps;
      if (next < 0) {
        p.status = tributary::Status::Finished;
        p.reason = tributary::Reason::OutOfDomain;
      } else {
        p.block = next;
      }
    }
    const Machine& machine = problem_.machine;
    transport_.spend(problem_.particlesPerPacket *
                     (static_cast<double>(block.steps) * machine.stepSeconds +
                      static_cast<double>(particles.size()) * machine.handoverSeconds));
  }

  // Each block is one cell.
  bool enter(std::int32_t& cell) const override { return cell == 0; }
  void find(tributary::Span<tributary::CellQuery>) const override {}
  void weights(const tributary::StepRules&, tributary::Span<const tributary::TrajectoryPoint>,
               tributary::Weights&) const override {}
  std::vector<tributary::BlockId> neighbors() const override {
    std::vector<tributary::BlockId> blocks = problem_.flow.links(id());
    std::sort(blocks.begin(), blocks.end());
    return blocks;
  }

 private:
  const Problem& problem_;
  Transport& transport_;
};

/// A domain whose seeds know their blocks: ranks need not hold the boxes of all blocks.
tributary::Domain domainOf(const Problem& problem, Transport& transport) {
  const int rank = transport.rank();
  std::vector<std::unique_ptr<tributary::FieldBlock>> blocks;
  for (auto id = problem.assignment.first(rank); id < problem.assignment.first(rank + 1); ++id)
    blocks.push_back(std::make_unique<TimedBlock>(problem, transport, id));
  tributary::Box all;
  for (std::size_t a = 0; a < 3; ++a) {
    all.lo[a] = 0;
    all.hi[a] = problem.flow.settings().voxels[a];
  }
  return {std::move(blocks),
          problem.assignment,
          tributary::BoxIndex(std::vector<tributary::Box>{all}),
          {},
          false};
}

std::vector<tributary::Seed> seedsOf(const Problem& problem, const tributary::Domain& domain) {
  std::vector<tributary::Seed> seeds;
  for (const auto& block : domain.blocks) {
    FlowBlock outline = problem.flow.outline(block->id());
    problem.flow.seed(outline);
    for (const Tracer& tracer : outline.waiting) {
      tributary::Seed seed{};
      for (int a = 0; a < 3; ++a) seed.x[a] = tracer.x[a];
      seed.id = tracer.id;
      seed.block = block->id();
      seed.cell = 0;
      seeds.push_back(seed);
    }
  }
  return seeds;
}

}  // namespace

FlowTraceResult traceFlow(const Machine& machine, const FlowTraceOptions& options,
                          bool wantTimelines) {
  const Problem problem(machine, options);
  tributary::VirtualTimeNetworkOptions network = machine.network;
  network.ranks = options.ranks;
  // A packet has the bytes of all its particles.
  network.within.gapPerByte *= problem.particlesPerPacket;
  network.between.gapPerByte *= problem.particlesPerPacket;
  FlowTraceResult result;
  if (wantTimelines) result.timelines.resize(std::size_t(options.ranks));
  std::int64_t ended = 0;
  const auto net = tributary::makeVirtualTimeNetwork(network);
  net->run([&](Transport& transport) {
    const tributary::Domain domain = domainOf(problem, transport);
    const std::vector<tributary::Seed> seeds = seedsOf(problem, domain);
    tributary::TraceOptions trace;
    trace.rules.integrator = tributary::Integrator::RungeKutta4;
    trace.rules.record = false;
    trace.exchange = options.exchange;
    trace.exchange.batchBytes = std::max<std::size_t>(
        1, trace.exchange.batchBytes / std::size_t(problem.particlesPerPacket));
    tributary::Timeline timeline;
    if (wantTimelines) {
      timeline.start(transport);
      trace.exchange.timeline = &timeline;
    }
    if (machine.turnSeconds > 0)
      trace.monitor = [&](double) {
        transport.spend(machine.turnSeconds);
        return true;
      };
    const tributary::TraceResult traced =
        tributary::trace(transport, domain, {seeds.data(), seeds.size()}, trace);
    const tributary::ExchangeStatistics& statistics = traced.statistics;
    result.seconds = std::max(result.seconds, statistics.totalSeconds);
    result.busiestSeconds = std::max(result.busiestSeconds, statistics.computingSeconds);
    result.meanSeconds += statistics.computingSeconds / options.ranks;
    result.idleShare += statistics.idleSeconds;
    result.rounds = std::max(result.rounds, statistics.rounds);
    result.handovers += problem.particlesPerPacket * traced.handovers;
    for (const tributary::LineEnd& end : traced.ends) {
      if (end.reason != tributary::Reason::OutOfDomain) continue;
      ++ended;
      Tracer tracer{};
      for (int a = 0; a < 3; ++a) tracer.x[a] = static_cast<float>(end.x[a]);
      tracer.steps = end.points - 1;
      tracer.id = end.line / 2;
      result.hash += hashOf(tracer);
      result.steps += std::int64_t(problem.particlesPerPacket) * tracer.steps;
    }
    if (wantTimelines) result.timelines[std::size_t(transport.rank())] = timeline.entries();
  });
  result.idleShare /= result.seconds * options.ranks;
  if (!net->left().empty())
    throw tributary::Error("the trace left messages in the network: " + net->left());
  if (ended != problem.flow.seedCount())
    throw tributary::Error("the trace ended " + std::to_string(ended) + " of " +
                           std::to_string(problem.flow.seedCount()) + " packets");
  const double expected = problem.expectedSteps();
  if (std::abs(static_cast<double>(result.steps) - expected) > 1e-6 * expected)
    throw tributary::Error("the trace made " + std::to_string(result.steps) +
                           " steps; the lengths and speeds of the blocks give " +
                           std::to_string(expected));
  return result;
}

FlowTraceResult measureFlow(Transport& transport, const FlowTraceOptions& given) {
  FlowTraceOptions options = given;
  options.ranks = transport.size();
  options.seedsPerVoxel = options.packetVoxels = 1;
  const Problem problem({}, options);
  const auto first = problem.assignment.first(transport.rank());
  std::vector<std::vector<float>> velocities;
  std::vector<tributary::StructuredPiece> pieces;
  std::vector<tributary::BlockId> firstBlock;
  std::vector<tributary::Seed> seeds;
  for (auto id = first; id < problem.assignment.first(transport.rank() + 1); ++id) {
    FlowBlock block = problem.flow.outline(id);
    auto& velocity = velocities.emplace_back(SlowBlockFlow::fieldSize(block), 0.0F);
    for (std::size_t i = 0; i < velocity.size(); i += 3) velocity[i] = 1;
    tributary::StructuredPiece piece;
    piece.piece = static_cast<int>(id - first);
    for (std::size_t a = 0; a < 3; ++a) {
      piece.extent[2 * a] = block.lo[a];
      piece.extent[2 * a + 1] = block.hi[a];
    }
    piece.spacing = {1, 1, 1};
    piece.velocity = {velocity.data(), false, static_cast<std::int64_t>(velocity.size() / 3)};
    pieces.push_back(piece);
    firstBlock.push_back(id);
    problem.flow.seed(block);
    for (const Tracer& tracer : block.waiting) {
      tributary::Seed seed{};
      for (int a = 0; a < 3; ++a) seed.x[a] = tracer.x[a];
      seed.id = tracer.id;
      seeds.push_back(seed);
    }
  }
  auto blocks = tributary::makeStructuredBlocks(transport, pieces, 1, firstBlock);
  const tributary::Domain domain =
      tributary::makeDomain(transport, problem.assignment, std::move(blocks));
  tributary::TraceOptions trace;
  trace.rules.integrator = tributary::Integrator::RungeKutta4;
  trace.rules.unit = tributary::StepUnit::Length;
  trace.rules.initialStep = 1;
  trace.rules.record = false;
  trace.exchange = options.exchange;
  const tributary::TraceResult traced =
      tributary::trace(transport, domain, {seeds.data(), seeds.size()}, trace);
  const tributary::ExchangeStatistics all = reduceStatistics(transport, traced.statistics);
  FlowTraceResult result;
  result.seconds = all.totalSeconds;
  result.meanSeconds = all.computingSeconds / options.ranks;
  result.idleShare = all.idleSeconds / (all.totalSeconds * options.ranks);
  result.rounds = all.rounds;
  std::int64_t ended = 0;
  for (const tributary::LineEnd& end : traced.ends) {
    ended += end.reason == tributary::Reason::OutOfDomain;
    result.steps += end.points - 1;
  }
  const auto sum = [&](std::int64_t mine) {
    return tributary::allreduce(transport, tributary::ReduceOp::Sum, mine);
  };
  result.steps = sum(result.steps);
  result.handovers = sum(traced.handovers);
  if (sum(ended) != problem.flow.seedCount())
    throw tributary::Error("the trace did not end all particles outside of the domain");
  return result;
}

}  // namespace bench
