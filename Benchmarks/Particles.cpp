#include "Particles.h"

#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <iostream>

#include "Report.h"
#include "SlowBlockFlow.h"
#include "Tributary/Error.h"
#include "Tributary/Exchange/Exchange.h"
#include "Tributary/Transport/Collectives.h"
#include "Tributary/Transport/Mpi.h"

namespace bench {

ParticlesOptions::ParticlesOptions() {
  const tributary::ExchangeOptions defaults;
  batchBytes = defaults.batchBytes;
  holdSeconds = defaults.holdSeconds;
}

namespace {

using tributary::Schedule;

/// What a run must leave behind, over all ranks.
struct Answer {
  std::int64_t hash = 0, retired = 0, steps = 0;
  bool operator==(const Answer& other) const {
    return hash == other.hash && retired == other.retired && steps == other.steps;
  }
};

Answer gatherAnswer(tributary::Transport& transport, const std::vector<FlowBlock>& blocks) {
  std::uint64_t hash = 0;
  std::vector<std::int64_t> sums(4);
  for (const FlowBlock& block : blocks) {
    hash += block.hash;
    sums[2] += block.retired;
    sums[3] += block.steps;
  }
  // In halves: the sum of signed numbers must not overflow.
  sums[0] = static_cast<std::int64_t>(hash >> 32);
  sums[1] = static_cast<std::int64_t>(hash & 0xffffffffu);
  sums = tributary::allreduce(transport, tributary::ReduceOp::Sum, sums);
  Answer answer;
  answer.hash = static_cast<std::int64_t>((static_cast<std::uint64_t>(sums[0]) << 32) +
                                          static_cast<std::uint64_t>(sums[1]));
  answer.retired = sums[2];
  answer.steps = sums[3];
  return answer;
}

/// One way to run the callback.
struct Variant {
  std::string name;
  std::function<double()> run;  ///< @return this rank's seconds
  std::vector<double> seconds{};
  tributary::ExchangeStatistics statistics{};
};

Row toJson(const tributary::ExchangeStatistics& s) {
  return {{"messages", s.messages},
          {"bytes", s.bytes},
          {"localDeliveries", s.localDeliveries},
          {"batches", s.batches},
          {"callbacks", s.callbacks},
          {"rounds", s.rounds},
          {"waves", s.waves},
          {"pauses", s.pauses},
          {"computingSeconds", s.computingSeconds},
          {"communicationSeconds", s.communicationSeconds},
          {"idleSeconds", s.idleSeconds},
          {"terminationDelaySeconds", s.terminationDelaySeconds}};
}

/// One row: all variants on one lattice.
class Contest {
 public:
  Contest(tributary::Transport& transport, const FlowSettings& settings, int perRank,
          const ParticlesOptions& options)
      : transport_(transport),
        options_(options),
        flow_(settings, transport.size()),
        assignment_(std::vector<std::int64_t>(static_cast<std::size_t>(transport.size()), perRank)),
        perRank_(perRank) {
    const BlockId first = assignment_.first(transport.rank());
    for (BlockId id = first; id < first + perRank; ++id) {
      blocks_.push_back(flow_.makeBlock(id));
      links_.push_back(flow_.links(id));
    }
    addOurs("Synchronous", Schedule::Synchronous);
    addOurs("Neighborhood", Schedule::Neighborhood);
    addOurs("Asynchronous", Schedule::Asynchronous);
#ifdef TRIBUTARY_BENCH_WITH_DIY
    variants_.push_back(
        {"DIY exchange", [this] { return runDiyExchange(flow_, assignment_, blocks_); }});
    variants_.push_back({"DIY iexchange", [this] {
                           return runDiyIexchange(flow_, assignment_, blocks_, options_.diy);
                         }});
#endif
  }

  Row run() {
    for (int r = 0; r < options_.repeat; ++r)
      // Every other time backwards, so that no variant always follows the same one.
      for (std::size_t i = 0; i < variants_.size(); ++i)
        runOnce(variants_[r % 2 ? variants_.size() - 1 - i : i]);
    return row();
  }

 private:
  void addOurs(const std::string& name, Schedule schedule) {
    variants_.push_back({name, {}});
    const std::size_t index = variants_.size() - 1;
    variants_.back().run = [this, index, schedule] {
      return runOurs(schedule, variants_[index].statistics);
    };
  }

  double runOurs(Schedule schedule, tributary::ExchangeStatistics& statistics) {
    tributary::ExchangeOptions exchangeOptions;
    exchangeOptions.schedule = schedule;
    exchangeOptions.arrivals = options_.arrivals;
    exchangeOptions.detector = options_.detector;
    exchangeOptions.batchBytes = options_.batchBytes;
    exchangeOptions.holdSeconds = options_.holdSeconds;
    const BlockId first = assignment_.first(transport_.rank());
    // A message carries any number of values: what a callback sends to a block leaves as one, where
    // DIY has a stream of values per pair of blocks.
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
                throw tributary::Error("a message of the benchmark has a wrong size");
              message = *next;
              at = 0;
            }
            std::memcpy(&tracer, message.payload.data() + at, sizeof tracer);
            at += sizeof tracer;
            return true;
          },
          [&](BlockId target, const Tracer& tracer) {
            for (auto& [block, tracers] : outgoing)
              if (block == target) return tracers.push_back(tracer);
            outgoing.push_back({target, {tracer}});
          });
      for (auto& [block, tracers] : outgoing) {
        if (tracers.empty()) continue;
        mailbox.enqueue(block, tracers);
        tracers.clear();
      }
      return false;
    };
    tributary::barrier(transport_);
    const double begin = transport_.now();
    tributary::Exchange exchange(transport_, assignment_, links_, exchangeOptions, step);
    exchange.run();
    const double seconds = transport_.now() - begin;
    statistics = exchange.statistics();
    return seconds;
  }

  void runOnce(Variant& variant) {
    for (FlowBlock& block : blocks_) flow_.seed(block);
    const double mine = variant.run();
    variant.seconds.push_back(tributary::allreduce(transport_, tributary::ReduceOp::Max, mine));
    const Answer answer = gatherAnswer(transport_, blocks_);
    if (answer.retired != flow_.seedCount())
      throw tributary::Error(variant.name + " ended with " + std::to_string(answer.retired) +
                             " of " + std::to_string(flow_.seedCount()) + " tracers");
    if (answer_.retired == 0) answer_ = answer;
    if (!(answer == answer_))
      throw tributary::Error(variant.name + " found other end points than " + variants_[0].name);
  }

  double medianOf(const std::string& name) const {
    for (const Variant& variant : variants_)
      if (variant.name == name) return median(variant.seconds);
    return std::nan("");
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
    Row times, counters;
    for (Variant& variant : variants_) {
      row[variant.name + " s"] = median(variant.seconds);
      times[variant.name] = variant.seconds;
      if (variant.statistics.callbacks > 0 || variant.name.compare(0, 3, "DIY") != 0)
        counters[variant.name] =
            toJson(tributary::reduceStatistics(transport_, variant.statistics));
    }
    const double asynchronous = medianOf("Asynchronous"), synchronous = medianOf("Synchronous");
    row["Sync/Async"] = synchronous / asynchronous;
#ifdef TRIBUTARY_BENCH_WITH_DIY
    row["exchange/Sync"] = medianOf("DIY exchange") / synchronous;
    row["iexchange/Async"] = medianOf("DIY iexchange") / asynchronous;
#endif
    row["seconds"] = times;
    row["statistics"] = counters;
    return row;
  }

  tributary::Transport& transport_;
  const ParticlesOptions& options_;
  SlowBlockFlow flow_;
  tributary::Assignment assignment_;
  int perRank_;
  std::vector<FlowBlock> blocks_;
  std::vector<std::vector<BlockId>> links_;
  std::vector<Variant> variants_;
  Answer answer_;
};

/// The paper's flow on `blocks` blocks.
FlowSettings diagonalFlow(const ParticlesOptions& options, int blocks) {
  FlowSettings settings;
  settings.voxels = {{options.voxels, options.voxels, options.voxels}};
  settings.blocks = nearCube(blocks);
  settings.slowSpeed = static_cast<float>(settings.fastSpeed / options.ratio);
  settings.stepVoxels = static_cast<float>(options.stepVoxels);
  settings.seedsPerVoxel = options.seedsPerVoxel;
  return settings;
}

/// A ring of `blocks` blocks, dealt to the ranks in turn, each `stepsPerHop` steps long.
FlowSettings ringFlow(const ParticlesOptions& options, int blocks, int tracers) {
  FlowSettings settings;
  settings.voxels = {{blocks * options.stepsPerHop, 1, 1}};
  settings.blocks = {{blocks, 1, 1}};
  settings.seedsPerVoxel = static_cast<int>(std::lround(std::sqrt(tracers)));
  settings.laps = std::max(1, options.hops / tracers / blocks);
  settings.dealt = true;
  return settings;
}

}  // namespace

void measureParticles(const ParticlesOptions& options) {
  const auto transport = tributary::makeMpiTransport(MPI_COMM_WORLD);
  const int ranks = transport->size();
  const bool speaks = transport->rank() == 0;

  Row settings{{"ranks", ranks}, {"repetitions", options.repeat}};
  if (options.stepsPerHop > 0) {
    settings["steps per hop"] = options.stepsPerHop;
    settings["hops"] = options.hops;
  } else {
    settings["voxels"] = options.voxels;
    settings["fast:slow"] = options.ratio;
    settings["seeds per voxel"] = options.seedsPerVoxel;
    settings["voxels per fast step"] = options.stepVoxels;
  }
  settings["arrivals"] = options.arrivals;
  settings["detector"] = options.detector;
  settings["batch bytes"] = options.batchBytes;
  settings["hold seconds"] = options.holdSeconds;
  settings["DIY queue bytes"] = options.diy.minimumQueueBytes;
  settings["DIY hold ms"] = options.diy.holdMilliseconds;
  settings["DIY fine"] = options.diy.fine;
  Report report(options.stepsPerHop > 0 ? "Tracers in a ring: messages dominate (medians, seconds)"
                                        : "Tracers in the slow-block flow (medians, seconds)",
                settings);

  const auto contest = [&](const FlowSettings& flow, int perRank) {
    if (speaks)
      std::cerr << "measuring " << ranks << " ranks, " << perRank << " blocks each ..."
                << std::endl;
    report.add(Contest(*transport, flow, perRank, options).run());
  };
  for (const int perRank : options.blocksPerRank) {
    if (options.stepsPerHop == 0) {
      contest(diagonalFlow(options, ranks * perRank), perRank);
    } else if (ranks * perRank > 1) {  // a ring of one block would send to itself only
      for (const int tracers : options.tracers)
        contest(ringFlow(options, ranks * perRank, tracers), perRank);
    }
  }
  if (speaks) {
    report.print(std::cout);
    if (!options.json.empty()) report.save(options.json);
  }
}

}  // namespace bench
