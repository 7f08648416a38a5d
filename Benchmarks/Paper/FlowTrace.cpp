// SPDX-License-Identifier: BSD-3-Clause
#include "Paper/FlowTrace.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "Balance/LentTracers.h"
#include "Paper/PatientTransport.h"
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

  /// Steps of all particles: a voxel is a step, or `ratio` steps in the slow blocks.
  double expectedSteps() const {
    const auto& blocks = flow.settings().blocks;
    const double packets = static_cast<double>(flow.seedCount());
    const double across = double(blocks[1]) * blocks[2];
    const double slowVoxels =
        static_cast<double>(flow.slowBlocks()) / across / blocks[0] * flow.settings().voxels[0];
    return particlesPerPacket * packets *
           (flow.settings().voxels[0] + (options.ratio - 1) * slowVoxels);
  }

  /// The sum of the seconds of all calls: steps, a hand-over for each packet in each plane, stalls.
  double expectedLoad() const {
    double seconds = expectedSteps() * machine.stepSeconds +
                     static_cast<double>(flow.seedCount()) * flow.settings().blocks[0] *
                         particlesPerPacket * machine.handoverSeconds;
    for (int rank = 0; rank < options.ranks; ++rank) seconds += stallOf(rank);
    return seconds;
  }
  double stallOf(int rank) const {
    constexpr int Thousand = 1000;
    return rank % Thousand == std::min(options.ranks, Thousand) / 2 ? options.stallSeconds : 0;
  }

  const Machine machine;
  const FlowTraceOptions options;
  SlowBlockFlow flow;
  tributary::Assignment assignment;
  int particlesPerPacket;
};

constexpr std::int32_t NoLimit = std::numeric_limits<std::int32_t>::max();

/// The processor of a rank.
class Processor {
 public:
  Processor(const Problem& problem, Transport& transport)
      : problem_(problem), transport_(transport), stall_(problem.stallOf(transport.rank())) {}

  const Problem& problem() const { return problem_; }
  /// Spends the time of particles in a block.
  /// @param steps  of all packets together
  void advance(std::int64_t steps, std::size_t packets) {
    const Machine& machine = problem_.machine;
    spend(problem_.particlesPerPacket * (static_cast<double>(steps) * machine.stepSeconds +
                                         static_cast<double>(packets) * machine.handoverSeconds) +
          std::exchange(stall_, 0));
  }
  void spend(double seconds) { transport_.spend(seconds); }

 private:
  const Problem& problem_;
  Transport& transport_;
  double stall_;  // until the first call
};

/// A block in which particles move by the known speed, which takes the time of a machine.
class TimedBlock : public tributary::FieldBlock {
 public:
  TimedBlock(Processor& processor, tributary::BlockId id)
      : FieldBlock(id, 0), problem_(processor.problem()), processor_(processor) {}

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
      const auto next = problem_.flow.pass(block, tracer, NoLimit);
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
    processor_.advance(block.steps, particles.size());
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
  Processor& processor_;
};

/// Packets that move like those in a TimedBlock, and copies of blocks that have their true time in
/// messages, but no field.
class TimedMotion : public Motion {
 public:
  explicit TimedMotion(Processor& processor)
      : problem_(processor.problem()), processor_(processor) {}

  FlowBlock makeBlock(tributary::BlockId block) const override {
    return problem_.flow.outline(block);
  }
  tributary::BlockId advance(FlowBlock& block, Tracer& tracer, double) const override {
    const std::int32_t before = tracer.steps;
    const auto next = problem_.flow.pass(block, tracer, NoLimit);
    if (next >= 0) ++handovers_;
    processor_.advance(tracer.steps - before, 1);
    return next;
  }
  tributary::CopySize copySize(const FlowBlock& block) const override {
    return {messageBytes(block), fieldBytes(block)};
  }
  void writeField(const FlowBlock& block, tributary::Writer& message) const override {
    const std::size_t bytes = messageBytes(block);
    std::fill_n(message.extend(bytes), bytes, std::byte(0));
    copy(block);
  }
  void readField(FlowBlock& block, tributary::Reader& message) const override {
    static_cast<void>(message.raw(messageBytes(block)));
    copy(block);
  }
  /// Of packets.
  std::int64_t handovers() const { return handovers_; }

 private:
  /// A packet is the seed of one voxel of the flow, but crosses more of the field.
  std::size_t fieldBytes(const FlowBlock& block) const {
    FlowBlock field = block;
    for (std::size_t a = 1; a < 3; ++a) {
      field.lo[a] *= problem_.options.packetVoxels;
      field.hi[a] *= problem_.options.packetVoxels;
    }
    return SlowBlockFlow::fieldSize(field) * sizeof(float);
  }
  /// A byte of the simulated network takes the time of a byte of each particle in a packet.
  std::size_t messageBytes(const FlowBlock& block) const {
    return fieldBytes(block) / std::size_t(problem_.particlesPerPacket) + 1;
  }
  void copy(const FlowBlock& block) const {
    processor_.spend(static_cast<double>(fieldBytes(block)) *
                     problem_.machine.network.within.gapPerByte);
  }

  const Problem& problem_;
  Processor& processor_;
  mutable std::int64_t handovers_ = 0;
};

/// A domain whose seeds know their blocks: ranks need not hold the boxes of all blocks.
tributary::Domain domainOf(const Problem& problem, Processor& processor, int rank) {
  std::vector<std::unique_ptr<tributary::FieldBlock>> blocks;
  for (auto id = problem.assignment.first(rank); id < problem.assignment.first(rank + 1); ++id)
    blocks.push_back(std::make_unique<TimedBlock>(processor, id));
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

tributary::Seed seedOf(const Tracer& tracer) {
  tributary::Seed seed{};
  for (int a = 0; a < 3; ++a) seed.x[a] = tracer.x[a];
  seed.id = tracer.id;
  return seed;
}

std::vector<tributary::Seed> seedsOf(const Problem& problem, const tributary::Domain& domain) {
  std::vector<tributary::Seed> seeds;
  for (const auto& block : domain.blocks) {
    FlowBlock outline = problem.flow.outline(block->id());
    problem.flow.seed(outline);
    for (const Tracer& tracer : outline.waiting) {
      tributary::Seed seed = seedOf(tracer);
      seed.block = block->id();
      seed.cell = 0;
      seeds.push_back(seed);
    }
  }
  return seeds;
}

/// The sum over the ranks of a simulation.
class Total {
 public:
  explicit Total(const Problem& problem) : problem_(problem) {}

  void add(const tributary::ExchangeStatistics& rank) {
    result.seconds = std::max(result.seconds, rank.totalSeconds);
    result.busiestSeconds = std::max(result.busiestSeconds, rank.computingSeconds);
    result.meanSeconds += rank.computingSeconds / problem_.options.ranks;
    result.idleShare += rank.idleSeconds / problem_.options.ranks;
    result.rounds = std::max(result.rounds, rank.rounds);
  }
  void add(const tributary::LendingStatistics& rank) {
    result.loans += rank.loans;
    result.copies += rank.copies;
    result.copiedBytes += static_cast<double>(rank.bytes) * problem_.particlesPerPacket;
  }

  /// Checks the numbers of packets and steps, and that no time of the machine is missing.
  FlowTraceResult finish() {
    result.idleShare /= result.seconds;
    result.handovers *= problem_.particlesPerPacket;
    result.steps *= problem_.particlesPerPacket;
    if (ended != problem_.flow.seedCount())
      throw tributary::Error("the trace ended " + std::to_string(ended) + " of " +
                             std::to_string(problem_.flow.seedCount()) + " packets");
    const double expected = problem_.expectedSteps();
    if (std::abs(static_cast<double>(result.steps) - expected) > 1e-6 * expected)
      throw tributary::Error("the trace made " + std::to_string(result.steps) +
                             " steps; the lengths and speeds of the blocks give " +
                             std::to_string(expected));
    // The noise shortens times by at most its standard deviation.
    const double load =
        problem_.expectedLoad() * (1 - problem_.machine.network.noise) / problem_.options.ranks;
    if (result.meanSeconds < load * (1 - 1e-6))
      throw tributary::Error("calls took " + std::to_string(result.meanSeconds) +
                             " s per rank; the machine needs at least " + std::to_string(load));
    return std::move(result);
  }

  FlowTraceResult result;  ///< Steps and hand-overs are those of packets until finish().
  std::int64_t ended = 0;  ///< Packets.

 private:
  const Problem& problem_;
};

void traceBlocks(const Problem& problem, Transport& transport,
                 const tributary::ExchangeOptions& exchange, Total& total) {
  Processor processor(problem, transport);
  const tributary::Domain domain = domainOf(problem, processor, transport.rank());
  const std::vector<tributary::Seed> seeds = seedsOf(problem, domain);
  tributary::TraceOptions trace;
  trace.rules.integrator = tributary::Integrator::RungeKutta4;
  trace.rules.record = false;
  trace.exchange = exchange;
  if (exchange.timeline) exchange.timeline->start(transport);
  if (problem.machine.turnSeconds > 0)
    trace.monitor = [&](double) {
      transport.spend(problem.machine.turnSeconds);
      return true;
    };
  const tributary::TraceResult traced =
      tributary::trace(transport, domain, {seeds.data(), seeds.size()}, trace);
  total.add(traced.statistics);
  total.result.handovers += traced.handovers;
  for (const tributary::LineEnd& end : traced.ends) {
    if (end.reason != tributary::Reason::OutOfDomain) continue;
    ++total.ended;
    Tracer tracer{};
    for (int a = 0; a < 3; ++a) tracer.x[a] = static_cast<float>(end.x[a]);
    tracer.steps = end.points - 1;
    tracer.id = end.line / 2;
    total.result.hash += hashOf(tracer);
    total.result.steps += tracer.steps;
  }
}

void traceWithLending(const Problem& problem, Transport& transport,
                      const tributary::ExchangeOptions& exchange, Total& total) {
  const Machine& machine = problem.machine;
  const double particles = problem.particlesPerPacket;
  Processor processor(problem, transport);
  const TimedMotion motion(processor);
  constexpr int SmallestPortion = 64;
  TracingOptions tracing;
  tracing.tracersPerItem = problem.particlesPerPacket;
  tracing.callSeconds = SmallestPortion * (machine.stepSeconds + machine.handoverSeconds);
  tributary::LendingOptions lending;
  lending.rates.writeSecondsPerByte = particles * machine.network.within.gapPerByte;
  lending.rates.transferSecondsPerByte =
      particles * (machine.network.within.gapPerByte + machine.network.between.gapPerByte);
  LentTracers tracers(transport, problem.flow, problem.assignment, motion, tracing);
  const TracedShare share = tracers.run(exchange, &lending);
  total.add(share.exchange);
  total.add(share.lending);
  total.result.handovers += motion.handovers();
  total.result.hash += share.hash;
  total.result.steps += share.steps;
  total.ended += share.retired;
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
  tributary::ExchangeOptions exchange = options.exchange;
  exchange.batchBytes =
      std::max<std::size_t>(1, exchange.batchBytes / std::size_t(problem.particlesPerPacket));
  exchange.stallTimeout = 0;  // a round may take minutes
  Total total(problem);
  if (wantTimelines) total.result.timelines.resize(std::size_t(options.ranks));
  const auto net = tributary::makeVirtualTimeNetwork(network);
  net->run([&](Transport& simulated) {
    std::optional<PatientTransport> patient;
    if (exchange.schedule == tributary::Schedule::Synchronous) patient.emplace(simulated);
    Transport& transport = patient ? *patient : simulated;
    tributary::ExchangeOptions mine = exchange;
    tributary::Timeline timeline;
    if (wantTimelines) mine.timeline = &timeline;
    if (options.lending)
      traceWithLending(problem, transport, mine, total);
    else
      traceBlocks(problem, transport, mine, total);
    if (wantTimelines) total.result.timelines[std::size_t(transport.rank())] = timeline.entries();
  });
  if (!net->left().empty())
    throw tributary::Error("the trace left messages in the network: " + net->left());
  return total.finish();
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
    for (const Tracer& tracer : block.waiting) seeds.push_back(seedOf(tracer));
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
  if (options.lending) trace.lending.emplace();
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
  result.loans = sum(traced.lending.loans);
  result.copies = sum(traced.lending.copies);
  result.copiedBytes = static_cast<double>(sum(traced.lending.bytes));
  if (sum(ended) != problem.flow.seedCount())
    throw tributary::Error("the trace did not end all particles outside of the domain");
  return result;
}

}  // namespace bench
