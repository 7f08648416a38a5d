// SPDX-License-Identifier: BSD-3-Clause
#include "Exchange/Particles.h"

#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iostream>

#include "Exchange/SlowBlockFlow.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Exchange/Exchange.h"
#include "Tributary/Transport/Mpi.h"

namespace bench {

namespace {

/// The result of a run over all ranks. All variants must give the same.
struct Answer {
  std::uint64_t hash = 0;
  std::int64_t retired = 0, steps = 0;
  bool operator==(const Answer& other) const {
    return hash == other.hash && retired == other.retired && steps == other.steps;
  }
};

Answer gatherAnswer(tributary::Transport& transport, const std::vector<FlowBlock>& blocks) {
  Answer answer;
  for (const FlowBlock& block : blocks) {
    answer.hash += block.hash;
    answer.retired += block.retired;
    answer.steps += block.steps;
  }
  answer.hash = sumOfHashes(transport, answer.hash);
  const auto sums = tributary::allreduce(transport, tributary::ReduceOp::Sum,
                                         std::vector<std::int64_t>{answer.retired, answer.steps});
  answer.retired = sums[0];
  answer.steps = sums[1];
  return answer;
}

/// One row: all variants on one lattice.
class Lattice {
 public:
  Lattice(tributary::Transport& transport, const FlowSettings& settings, int perRank,
          const ParticlesOptions& options)
      : transport_(transport),
        options_(options),
        flow_(settings, transport.size()),
        assignment_(std::vector<std::int64_t>(static_cast<std::size_t>(transport.size()), perRank)),
        perRank_(perRank),
        comparison_(transport, options.variants) {
    const BlockId first = assignment_.first(transport.rank());
    for (BlockId id = first; id < first + perRank; ++id) {
      blocks_.push_back(flow_.makeBlock(id));
      links_.push_back(flow_.links(id));
    }
    addSchedules(comparison_, options.exchange,
                 [this](const tributary::ExchangeOptions& exchange,
                        tributary::ExchangeStatistics& statistics) {
                   return runExchange(exchange, statistics);
                 });
#ifdef TRIBUTARY_BENCH_WITH_DIY
    addDiy(comparison_, flow_, assignment_, blocks_, options_.diy);
#endif
  }

  Row run() {
    comparison_.run(
        options_.repeat,
        [this] {
          for (FlowBlock& block : blocks_) flow_.seed(block);
        },
        [this](const std::string& name) { check(name); });
    return row();
  }

 private:
  double runExchange(const tributary::ExchangeOptions& exchange,
                     tributary::ExchangeStatistics& statistics) {
    const BlockId first = assignment_.first(transport_.rank());
    // A message carries several values, while DIY has a stream of values per pair of blocks. Not
    // all values of a call: the receiver could begin only after the call, and two ranks would take
    // turns.
    constexpr std::size_t TracersPerMessage = 32;
    std::vector<std::pair<BlockId, std::vector<Tracer>>> outgoing;
    const auto step = [&](BlockId id, tributary::Mailbox& mailbox) {
      tributary::MessageView message;
      std::size_t at = 0;
      flow_.step(
          blocks_[static_cast<std::size_t>(id - first)],
          [&](Tracer& tracer) {
            while (at == message.payload.size()) {
              const auto next = mailbox.dequeueView();
              if (!next) return false;
              if (next->payload.size() % sizeof tracer != 0)
                throw tributary::Error("particles: a message has an unexpected size");
              message = *next;
              at = 0;
            }
            std::memcpy(&tracer, message.payload.data() + at, sizeof tracer);
            at += sizeof tracer;
            return true;
          },
          [&](BlockId target, const Tracer& tracer) {
            const auto found = std::find_if(outgoing.begin(), outgoing.end(),
                                            [&](const auto& o) { return o.first == target; });
            auto& tracers = found != outgoing.end()
                                ? found->second
                                : outgoing.emplace_back(target, std::vector<Tracer>()).second;
            tracers.push_back(tracer);
            if (tracers.size() < TracersPerMessage) return;
            mailbox.enqueue(target, tracers);
            tracers.clear();
          });
      for (auto& [block, tracers] : outgoing) {
        if (tracers.empty()) continue;
        mailbox.enqueue(block, tracers);
        tracers.clear();
      }
      return false;
    };
    return timeExchange(transport_, assignment_, links_, exchange, step, statistics);
  }

  void check(const std::string& name) {
    const Answer answer = gatherAnswer(transport_, blocks_);
    if (answer.retired != flow_.seedCount())
      throw tributary::Error(name + " ended with " + std::to_string(answer.retired) + " of " +
                             std::to_string(flow_.seedCount()) + " tracers");
    if (answer_.retired == 0) answer_ = answer;
    if (!(answer == answer_))
      throw tributary::Error(name + ": end points differ from those of the first variant");
  }

  Row row() {
    const auto& n = flow_.settings().blocks;
    Row row{
        {"ranks", transport_.size()},
        {"blocks/rank", perRank_},
        {"lattice", std::to_string(n[0]) + "x" + std::to_string(n[1]) + "x" + std::to_string(n[2])},
        {"slow", flow_.slowBlocks()},
        {"tracers", flow_.seedCount()},
        {"Msteps", static_cast<double>(answer_.steps) * 1e-6}};
    for (const Variant& variant : comparison_.variants())
      row[variant.name + " s"] = comparison_.seconds(variant.name);
    const double asynchronous = comparison_.seconds("Asynchronous");
    const double synchronous = comparison_.seconds("Synchronous");
    row["Sync/Async"] = synchronous / asynchronous;
#ifdef TRIBUTARY_BENCH_WITH_DIY
    row["exchange/Sync"] = comparison_.seconds("DIY exchange") / synchronous;
    row["iexchange/Async"] = comparison_.seconds("DIY iexchange") / asynchronous;
#endif
    comparison_.addDetails(row);
    return row;
  }

  tributary::Transport& transport_;
  const ParticlesOptions& options_;
  SlowBlockFlow flow_;
  tributary::Assignment assignment_;
  int perRank_;
  std::vector<FlowBlock> blocks_;
  std::vector<std::vector<BlockId>> links_;
  InterleavedComparison comparison_;
  Answer answer_;
};

/// The slow-block flow on `blocks` blocks.
FlowSettings diagonalFlow(const ParticlesOptions& options, int blocks) {
  FlowSettings settings;
  settings.voxels = {{options.voxels, options.voxels, options.voxels}};
  settings.blocks = nearCube(blocks);
  settings.slowSpeed = static_cast<float>(settings.fastSpeed / options.ratio);
  settings.stepVoxels = static_cast<float>(options.stepVoxels);
  settings.seedsPerVoxel = options.seedsPerVoxel;
  return settings;
}

/// A ring of `blocks` blocks, each `stepsPerHop` steps long, assigned to ranks in turn.
FlowSettings ringFlow(const ParticlesOptions& options, int blocks, int tracers) {
  FlowSettings settings;
  settings.voxels = {{blocks * options.stepsPerHop, 1, 1}};
  settings.blocks = {{blocks, 1, 1}};
  settings.seedsPerVoxel = static_cast<int>(std::lround(std::sqrt(tracers)));
  settings.seeds = FlowSeeds::Even;
  // The tracers start in one block, and need many hops to spread.
  const std::int64_t all = options.hops;
  const auto hops = std::max(all / tracers, std::min<std::int64_t>(1000, 40 * all / tracers));
  settings.laps = static_cast<int>(std::max<std::int64_t>(1, hops / blocks));
  settings.dealt = true;
  return settings;
}

}  // namespace

void measureParticles(const ParticlesOptions& options) {
  const auto transport = tributary::makeMpiTransport(MPI_COMM_WORLD);
  const int ranks = transport->size();
  const bool speaks = transport->rank() == 0;

  Row settings{{"ranks", ranks}};
  if (options.stepsPerHop > 0) {
    settings["steps per hop"] = options.stepsPerHop;
    settings["hops"] = options.hops;
  } else {
    settings["voxels"] = options.voxels;
    settings["fast:slow"] = options.ratio;
    settings["seeds per voxel"] = options.seedsPerVoxel;
    settings["voxels per fast step"] = options.stepVoxels;
  }
  addSettings(settings, options);
  Report report(options.stepsPerHop > 0
                    ? "Tracers in a ring, dominated by messages (median seconds)"
                    : "Tracers in the slow-block flow (median seconds)",
                settings);

  const auto comparison = [&](const FlowSettings& flow, int perRank) {
    if (speaks)
      std::cerr << "measuring " << ranks << " ranks, " << perRank << " blocks each ..."
                << std::endl;
    report.add(Lattice(*transport, flow, perRank, options).run());
  };
  for (const int perRank : options.blocksPerRank) {
    if (options.stepsPerHop == 0) {
      comparison(diagonalFlow(options, ranks * perRank), perRank);
    } else if (ranks * perRank > 1) {  // a ring of one block would send to itself only
      for (const int tracers : options.tracers)
        comparison(ringFlow(options, ranks * perRank, tracers), perRank);
    }
  }
  if (speaks) report.publish(options.json);
}

}  // namespace bench
