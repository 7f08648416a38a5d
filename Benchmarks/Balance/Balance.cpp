// SPDX-License-Identifier: BSD-3-Clause
#include "Balance/Balance.h"

#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <memory>
#include <utility>

#include "Support/Mpi.h"
#include "Support/Report.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Exchange/Timeline.h"
#include "Tributary/Transport/Mpi.h"
#include "Tributary/Transport/Simulated.h"

namespace bench {

namespace {

using tributary::Reader;
using tributary::Schedule;
using tributary::Transport;
using tributary::Writer;

const std::string Lending = "Lending", Asynchronous = "Asynchronous";

class RealMotion : public Motion {
 public:
  explicit RealMotion(const SlowBlockFlow& flow) : flow_(flow) {}

  FlowBlock makeBlock(BlockId block) const override { return flow_.makeBlock(block); }
  BlockId advance(FlowBlock& block, Tracer& tracer, double /*seconds*/) const override {
    return flow_.advance(block, tracer);
  }
  void writeField(const FlowBlock& block, Writer& message) const override {
    message.range(block.velocity);
  }
  void readField(FlowBlock& block, Reader& message) const override {
    block.velocity = message.range<float>();
    if (block.velocity.size() != SlowBlockFlow::fieldSize(block))
      tributary::refuseMessage("a field of another size than that of its block");
  }

 private:
  const SlowBlockFlow& flow_;
};

/// Tracers of the same column of voxels travel together as one, and stop within a block when the
/// time of a call is over, as those of the library do after a number of steps. Copies have their
/// true size in messages, but are not kept.
class SimulatedMotion : public Motion {
 public:
  SimulatedMotion(Transport& transport, const SlowBlockFlow& flow, const BalanceOptions& options)
      : transport_(transport), flow_(flow), options_(options) {}

  FlowBlock makeBlock(BlockId block) const override { return flow_.outline(block); }
  BlockId advance(FlowBlock& block, Tracer& tracer, double seconds) const override {
    const std::int32_t before = tracer.steps;
    const int tracers = options_.seedsPerVoxel * options_.seedsPerVoxel;
    const double stepSeconds = tracers * options_.stepSeconds;
    const auto most =
        static_cast<std::int32_t>(std::clamp(std::ceil(seconds / stepSeconds), 1.0, 1e9));
    const BlockId next = flow_.pass(block, tracer, most);
    transport_.spend((tracer.steps - before) * stepSeconds);
    return next;
  }
  void writeField(const FlowBlock& block, Writer& message) const override {
    const std::size_t bytes = bytesOf(block);
    std::fill_n(message.extend(bytes), bytes, std::byte(0));
    transport_.spend(static_cast<double>(bytes) / options_.copyRate);
  }
  void readField(FlowBlock& block, Reader& message) const override {
    transport_.spend(static_cast<double>(message.raw(bytesOf(block)).size()) / options_.copyRate);
  }

 private:
  static std::size_t bytesOf(const FlowBlock& block) {
    return sizeof(std::uint64_t) + SlowBlockFlow::fieldSize(block) * sizeof(float);
  }

  Transport& transport_;
  const SlowBlockFlow& flow_;
  const BalanceOptions& options_;
};

/// All ranks together.
struct Outcome {
  double seconds = 0;      // of the slowest
  double meanSeconds = 0;  // for tracers
  double idleShare = 0;    // of all ranks' time
  std::uint64_t hash = 0;
  std::int64_t retired = 0, steps = 0;
  tributary::LendingStatistics lending;  // sums
};

Outcome total(const std::vector<TracedShare>& ranks) {
  Outcome outcome;
  const auto count = static_cast<double>(ranks.size());
  for (const TracedShare& rank : ranks) {
    outcome.seconds = std::max(outcome.seconds, rank.seconds);
    outcome.meanSeconds += rank.tracingSeconds / count;
    outcome.idleShare += rank.exchange.idleSeconds;
    outcome.hash += rank.hash;
    outcome.retired += rank.retired;
    outcome.steps += rank.steps;
    outcome.lending.requests += rank.lending.requests;
    outcome.lending.offers += rank.lending.offers;
    outcome.lending.loans += rank.lending.loans;
    outcome.lending.copies += rank.lending.copies;
    outcome.lending.bytes += rank.lending.bytes;
  }
  outcome.idleShare /= outcome.seconds * count;
  return outcome;
}

struct Way {
  std::string name;
  tributary::ExchangeOptions exchange;
  const tributary::LendingOptions* lending;
  std::vector<Outcome> outcomes{};

  double seconds() const {
    std::vector<double> values;
    for (const Outcome& outcome : outcomes) values.push_back(outcome.seconds);
    return median(values);
  }
};

/// All variants of one case.
class Comparison {
 public:
  /// @param world  null: a simulation
  Comparison(const BalanceOptions& options, const FlowSettings& flow, int ranks, Transport* world)
      : options_(options),
        ranks_(ranks),
        world_(world),
        flow_(flow, ranks),
        assignment_(
            std::vector<std::int64_t>(static_cast<std::size_t>(ranks), options.blocksPerRank)),
        tracing_(options.tracing) {
    lending_.memory = static_cast<std::size_t>(options.memory * (1 << 20));
    if (!world) tracing_.tracersPerItem = options.seedsPerVoxel * options.seedsPerVoxel;
    addWay("Synchronous", Schedule::Synchronous, nullptr);
    addWay("Neighborhood", Schedule::Neighborhood, nullptr);
    addWay(Asynchronous, Schedule::Asynchronous, nullptr);
    addWay(Lending, Schedule::Asynchronous, &lending_);
  }

  /// @param seeds  the name of the case
  void run(const std::string& seeds, Report& report) {
    if (world_) {
      const RealMotion motion(flow_);
      LentTracers mine(*world_, flow_, assignment_, motion, tracing_);
      for (int repetition = 0; repetition < options_.repeat; ++repetition)
        for (std::size_t i = 0; i < ways_.size(); ++i) {
          // Every other time backwards, so that nothing always follows the same.
          Way& way = ways_[repetition % 2 ? ways_.size() - 1 - i : i];
          tributary::Timeline timeline;
          way.exchange.timeline = options_.timeline.empty() ? nullptr : &timeline;
          add(way, tributary::allgather(*world_, mine.run(way.exchange, way.lending)));
          if (way.exchange.timeline) writeTimeline(*world_, timeline, timelineFile(seeds, way));
        }
    } else {
      for (Way& way : ways_) add(way, simulate(seeds, way));
    }
    addRows(seeds, report);
  }

 private:
  void addWay(const std::string& name, Schedule schedule,
              const tributary::LendingOptions* lending) {
    const auto& wanted = options_.variants;
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), name) == wanted.end()) return;
    ways_.push_back({name, options_.exchange, lending});
    ways_.back().exchange.schedule = schedule;
  }

  std::string timelineFile(const std::string& seeds, const Way& way) const {
    return options_.timeline + '-' + seeds + '-' + way.name + ".json";
  }

  std::vector<TracedShare> simulate(const std::string& seeds, const Way& way) const {
    tributary::VirtualTimeNetworkOptions network;
    network.ranks = ranks_;
    network.ranksPerNode = options_.ranksPerNode;
    const auto net = tributary::makeVirtualTimeNetwork(network);
    std::vector<TracedShare> shares(static_cast<std::size_t>(ranks_));
    std::vector<std::vector<tributary::TimelineEntry>> timelines(shares.size());
    net->run([&](Transport& transport) {
      const SimulatedMotion motion(transport, flow_, options_);
      const auto rank = static_cast<std::size_t>(transport.rank());
      tributary::ExchangeOptions exchange = way.exchange;
      tributary::Timeline timeline;
      if (!options_.timeline.empty()) exchange.timeline = &timeline;
      shares[rank] =
          LentTracers(transport, flow_, assignment_, motion, tracing_).run(exchange, way.lending);
      timelines[rank] = timeline.entries();
    });
    if (!options_.timeline.empty())
      tributary::writeTrace(timelineFile(seeds, way), {timelines.data(), timelines.size()});
    if (!net->left().empty())
      throw tributary::Error("the exchange left messages in the network: " + net->left());
    return shares;
  }

  void add(Way& way, const std::vector<TracedShare>& shares) {
    const Outcome outcome = total(shares);
    if (outcome.retired != flow_.seedCount())
      throw tributary::Error(way.name + " ended with " + std::to_string(outcome.retired) + " of " +
                             std::to_string(flow_.seedCount()) + " tracers");
    way.outcomes.push_back(outcome);
    const Outcome& first = ways_[0].outcomes.empty() ? outcome : ways_[0].outcomes[0];
    if (outcome.hash != first.hash || outcome.steps != first.steps)
      throw tributary::Error(way.name + ": end points differ from those of the first variant");
  }

  void addRows(const std::string& seeds, Report& report) const {
    // Measured times vary with the state of the caches; the least one is the load.
    double load = ways_[0].outcomes[0].meanSeconds;
    double asynchronous = std::nan("");
    for (const Way& way : ways_) {
      for (const Outcome& outcome : way.outcomes) load = std::min(load, outcome.meanSeconds);
      if (way.name == Asynchronous) asynchronous = way.seconds();
    }
    for (const Way& way : ways_) {
      const Outcome& outcome = way.outcomes.front();
      std::vector<double> times;
      for (const Outcome& o : way.outcomes) times.push_back(o.seconds);
      report.add({{"seeds", seeds},
                  {"ranks", ranks_},
                  {"variant", way.name},
                  {"ms", way.seconds() * 1e3},
                  {"mean load ms", load * 1e3},
                  {"ms/mean", way.seconds() / load},
                  {"Async/this", asynchronous / way.seconds()},
                  {"idle %", outcome.idleShare * 100},
                  {"requests", outcome.lending.requests},
                  {"offers", outcome.lending.offers},
                  {"loans", outcome.lending.loans},
                  {"copies", outcome.lending.copies},
                  {"MB copied", static_cast<double>(outcome.lending.bytes) * 1e-6},
                  {"seconds", times}});
    }
  }

  const BalanceOptions& options_;
  const int ranks_;
  Transport* const world_;
  SlowBlockFlow flow_;
  tributary::Assignment assignment_;
  TracingOptions tracing_;
  tributary::LendingOptions lending_;
  std::vector<Way> ways_;
};

FlowSeeds seedsOf(const std::string& name) {
  if (name == "plane") return FlowSeeds::Plane;
  if (name == "sixteenth") return FlowSeeds::Sixteenth;
  if (name == "block") return FlowSeeds::Block;
  return FlowSeeds::Even;
}

}  // namespace

void measureBalance(const BalanceOptions& options) {
  const int size = worldSize();
  const bool simulated = !options.simulate.empty();
  if (simulated && size > 1)
    throw tributary::Error("--simulate runs in one process: run it on one rank");
  FlowSettings flow;
  const int voxels = options.voxels > 0 ? options.voxels : simulated ? 512 : 64;
  flow.voxels = {{voxels, voxels, voxels}};
  flow.slowSpeed = static_cast<float>(flow.fastSpeed / options.ratio);
  flow.stepVoxels = static_cast<float>(options.stepVoxels);
  // A simulated tracer is a packet.
  flow.seedsPerVoxel = simulated ? 1 : options.seedsPerVoxel;

  Row settings{
      {"network", simulated ? "simulated" : "MPI"},   {"voxels", voxels},
      {"blocks per rank", options.blocksPerRank},     {"fast:slow", options.ratio},
      {"seeds per voxel", options.seedsPerVoxel},     {"voxels per fast step", options.stepVoxels},
      {"call us", options.tracing.callSeconds * 1e6}, {"memory MiB", options.memory},
      {"detector", options.exchange.detector}};
  if (simulated) {
    settings["step ns"] = options.stepSeconds * 1e9;
    settings["copy GB/s"] = options.copyRate * 1e-9;
    settings["ranks per node"] = options.ranksPerNode;
  } else {
    settings["repetitions"] = options.repeat;
  }
  Report report("Lending of blocks in the slow-block flow", settings);
  const auto world = simulated ? nullptr : tributary::makeMpiTransport(MPI_COMM_WORLD);
  const bool speaks = worldRank() == 0;
  for (const int ranks : simulated ? options.simulate : std::vector<int>{size}) {
    flow.blocks = nearCube(ranks * options.blocksPerRank);
    for (const std::string& seeds : options.seeds) {
      if (speaks)
        std::cerr << "measuring " << seeds << " on " << ranks << " ranks ..." << std::endl;
      flow.seeds = seedsOf(seeds);
      Comparison(options, flow, ranks, world.get()).run(seeds, report);
    }
  }
  if (speaks) report.publish(options.json);
}

}  // namespace bench
