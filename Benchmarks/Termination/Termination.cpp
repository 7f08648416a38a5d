// SPDX-License-Identifier: BSD-3-Clause
#include "Termination/Termination.h"

#include <mpi.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <memory>

#include "Exchange/SlowBlockFlow.h"
#include "Support/Mpi.h"
#include "Support/Report.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Exchange/Exchange.h"
#include "Tributary/Transport/Mpi.h"
#include "Tributary/Transport/Simulated.h"

namespace bench {

namespace {

using tributary::Transport;

/// A run over all ranks.
struct Outcome {
  double work = 0;   ///< seconds until all was quiet
  double delay = 0;  ///< from then until the last rank knew
  DetectorRun sums;
  std::int64_t collective = 0;  ///< messages of collective operations, where they can be counted
};

/// One rank's part of a run; times by one clock for all.
struct Share {
  Share() = default;
  Share(const DetectorRun& program, double begin) : run(program), began(begin) {}

  DetectorRun run;
  double began = 0;
};

Outcome total(const std::vector<Share>& shares) {
  Outcome outcome;
  double began = shares.front().began;
  double fired = 0;
  for (const Share& share : shares) {
    began = std::min(began, share.began);
    fired = std::max(fired, share.run.firedAt);
    outcome.work = std::max(outcome.work, share.run.passiveAt);
    outcome.sums.workMessages += share.run.workMessages;
    outcome.sums.detectorMessages += share.run.detectorMessages;
    outcome.sums.waves = std::max(outcome.sums.waves, share.run.waves);
    outcome.sums.answer += share.run.answer;
  }
  outcome.delay = fired - outcome.work;
  outcome.work -= began;
  return outcome;
}

/// Fires as soon as all ranks are passive and no message is in flight, which only a simulation can
/// know. Measures the time that the work takes without a detector.
class Oracle : public tributary::Detector {
 public:
  static constexpr const char* Name = "none";

  static tributary::DetectorType type() {
    tributary::DetectorTraits traits;
    traits.name = Name;
    return {traits, [](Transport&, tributary::Session, const tributary::DetectorOptions&) {
              return std::make_unique<Oracle>();
            }};
  }

  Oracle() { ++active_; }
  ~Oracle() override {
    if (!passive_) --active_;
  }

  const tributary::DetectorTraits& traits() const override {
    static const tributary::DetectorTraits traits = type().traits;
    return traits;
  }
  std::int64_t waves() const override { return 0; }
  std::string state() const override { return "all-knowing"; }
  void sent(int) override { ++underWay_; }
  void received(int) override { --underWay_; }

 protected:
  bool turn(bool passive, bool) override {
    if (passive != passive_) active_ += passive ? -1 : 1;
    passive_ = passive;
    return active_ == 0 && underWay_ == 0;
  }

 private:
  static inline std::int64_t active_ = 0;
  static inline std::int64_t underWay_ = 0;
  bool passive_ = false;
};

/// Records for each rank of this process when it turned passive and when the wrapped detector
/// fired.
class RecordingDetector : public tributary::Detector {
 public:
  static constexpr const char* Prefix = "recorded ";

  static void registerFor(const std::string& name, const tributary::DetectorOptions& options) {
    tributary::DetectorTraits traits = tributary::checkDetector(name, options);
    traits.name = Prefix + name;
    tributary::registerDetector({traits, [name](Transport& transport, tributary::Session session,
                                                const tributary::DetectorOptions& o) {
                                   return std::make_unique<RecordingDetector>(
                                       transport,
                                       tributary::makeDetector(name, transport, session, o));
                                 }});
  }

  RecordingDetector(Transport& transport, std::unique_ptr<tributary::Detector> inner)
      : transport_(transport), inner_(std::move(inner)) {}

  static const DetectorRun& run(int rank) { return runs_.at(rank); }

  const tributary::DetectorTraits& traits() const override { return inner_->traits(); }
  std::int64_t waves() const override { return inner_->waves(); }
  std::int64_t messages() const override { return inner_->messages(); }
  std::string state() const override { return inner_->state(); }
  void sent(int destination) override {
    ++run_.workMessages;
    inner_->sent(destination);
  }
  void received(int source) override { inner_->received(source); }

 protected:
  bool turn(bool passive, bool touched) override {
    if (passive && (touched || !wasPassive_)) run_.passiveAt = transport_.now();
    wasPassive_ = passive;
    if (!inner_->advance(passive, touched)) return false;
    run_.firedAt = transport_.now();
    run_.detectorMessages = inner_->messages();
    run_.waves = inner_->waves();
    runs_[transport_.rank()] = run_;
    return true;
  }

 private:
  static inline std::map<int, DetectorRun> runs_;
  Transport& transport_;
  std::unique_ptr<tributary::Detector> inner_;
  DetectorRun run_;
  bool wasPassive_ = false;
};

/// Particle tracing as in the iexchange paper (doi:10.1109/LDAV53230.2021.00009, section 4.1), by
/// the exchange: one block per rank, with a ten times lower velocity on the diagonal.
Share traceParticles(Transport& transport, const std::string& detector,
                     const tributary::DetectorOptions& detection, const TracerOptions& options) {
  FlowSettings settings;
  settings.voxels = {{options.voxels, options.voxels, options.voxels}};
  settings.blocks = nearCube(transport.size());
  settings.seedsPerVoxel = 1;
  const SlowBlockFlow flow(settings, transport.size());
  FlowBlock block = flow.makeBlock(transport.rank());
  flow.seed(block);
  tributary::ExchangeOptions exchangeOptions;
  exchangeOptions.detector = RecordingDetector::Prefix + detector;
  exchangeOptions.detection = detection;
  const auto step = [&](BlockId, tributary::Mailbox& mailbox) {
    const std::int64_t before = block.steps;
    flow.step(
        block,
        [&](Tracer& tracer) {
          const auto message = mailbox.dequeueView();
          if (message) tracer = tributary::Reader(message->payload).value<Tracer>();
          return message.has_value();
        },
        [&](BlockId target, const Tracer& tracer) { mailbox.enqueue(target, tracer); });
    transport.spend(static_cast<double>(block.steps - before) * options.stepSeconds);
    return false;
  };
  tributary::Exchange exchange(transport,
                               tributary::Assignment(std::vector<std::int64_t>(
                                   static_cast<std::size_t>(transport.size()), 1)),
                               {flow.links(transport.rank())}, exchangeOptions, step);
  const double began = transport.now();
  exchange.run();
  Share share(RecordingDetector::run(transport.rank()), began);
  share.run.answer = block.hash;
  return share;
}

class Bench {
 public:
  explicit Bench(const TerminationOptions& options)
      : options_(options), load_(options.program == "load") {
    options_.detection.work = load_ ? tributary::WorkModel::APS : tributary::WorkModel::AP;
    detectors_ = options.detectors.empty() ? tributary::detectorNames(options_.detection.work)
                                           : options.detectors;
    for (const std::string& name : detectors_) {
      tributary::checkDetector(name, options_.detection);
    }
    if (!options.simulate.empty()) {
      tributary::registerDetector(Oracle::type());
      detectors_.insert(detectors_.begin(), Oracle::Name);
    } else {
      world_ = tributary::makeMpiTransport(MPI_COMM_WORLD);
    }
    if (tracer()) {
      for (const std::string& name : detectors_) {
        RecordingDetector::registerFor(name, options_.detection);
      }
    }
  }

  void run(Report& report) {
    std::vector<int> sizes = options_.simulate;
    if (sizes.empty()) sizes.push_back(world_->size());
    for (const int size : sizes) {
      if (!load_) {
        addRows(report, size, 0, 0);
        continue;
      }
      for (const double mean : options_.means) {
        for (const double remote : options_.remotePercent) addRows(report, size, mean, remote);
      }
    }
  }

 private:
  Share traced(Transport& transport, const std::string& detector) const {
    return traceParticles(transport, detector, options_.detection, options_.tracer);
  }

  std::unique_ptr<DetectorProgram> makeProgram(Transport& transport, const std::string& detector,
                                               double mean, double remote,
                                               std::uint64_t seed) const {
    if (!load_) {
      WalkOptions walks = options_.walks;
      walks.seed = seed;
      return makeWalks(transport, detector, options_.detection, walks);
    }
    LoadOptions load = options_.load;
    load.mean = mean;
    load.remote = remote / 100;
    load.seed = seed;
    return makeLoad(transport, detector, options_.detection, load);
  }

  bool tracer() const { return options_.program == "tracer"; }

  Outcome simulate(const std::string& detector, int size, double mean, double remote,
                   std::uint64_t seed) const {
    tributary::VirtualTimeNetworkOptions network;
    network.ranks = size;
    network.ranksPerNode = options_.ranksPerNode;
    network.seed = seed;
    const auto net = tributary::makeVirtualTimeNetwork(network);
    std::vector<Share> shares(static_cast<std::size_t>(size));
    const auto shareOf = [&](Transport& transport) -> Share& {
      return shares[static_cast<std::size_t>(transport.rank())];
    };
    if (tracer()) {
      net->run([&](Transport& transport) { shareOf(transport) = traced(transport, detector); });
    } else {
      std::vector<std::unique_ptr<DetectorProgram>> programs;
      for (int rank = 0; rank < size; ++rank) {
        programs.push_back(makeProgram(net->transport(rank), detector, mean, remote, seed));
      }
      net->runSteps([&](Transport& transport) {
        DetectorProgram& program = *programs[static_cast<std::size_t>(transport.rank())];
        if (!program.turn()) return false;
        shareOf(transport) = Share(program.result(), 0);
        return true;
      });
    }
    Outcome outcome = total(shares);
    outcome.collective = net->traffic().collective;
    const std::string left = net->left();
    if (!left.empty() && detector != Oracle::Name) {
      throw tributary::Error("detector " + detector + " left messages in the network: " + left);
    }
    return outcome;
  }

  /// All ranks of a machine have the same clock; that of several is not compared.
  Outcome measure(const std::string& detector, double mean, double remote,
                  std::uint64_t seed) const {
    Transport& transport = *world_;
    if (tracer()) return total(tributary::allgather(transport, traced(transport, detector)));
    const auto program = makeProgram(transport, detector, mean, remote, seed);
    tributary::barrier(transport);
    const double began = transport.now();
    tributary::Backoff backoff;
    while (!program->turn(&backoff)) {
    }
    return total(tributary::allgather(transport, Share(program->result(), began)));
  }

  void addRows(Report& report, int size, double mean, double remote) {
    const bool simulated = !options_.simulate.empty();
    std::map<std::string, std::vector<Outcome>> outcomes;
    for (int repetition = 0; repetition < options_.repeat; ++repetition) {
      const auto seed = static_cast<std::uint64_t>(repetition + 1);
      const Outcome* first = nullptr;
      for (const std::string& name : detectors_) {
        outcomes[name].push_back(simulated ? simulate(name, size, mean, remote, seed)
                                           : measure(name, mean, remote, seed));
        const Outcome& outcome = outcomes[name].back();
        if (first == nullptr) first = &outcome;
        if (outcome.sums.answer != first->sums.answer || outcome.delay < 0) {
          throw tributary::Error("detector " + name + " fired before the work was done");
        }
      }
    }
    for (const std::string& name : detectors_) {
      const auto of = [&](auto member) {
        std::vector<double> values;
        for (const Outcome& outcome : outcomes[name]) values.push_back(member(outcome));
        return median(values);
      };
      const double work = of([](const Outcome& o) { return o.work; });
      Row row = {{"detector", name}, {"ranks", size}};
      if (load_) {
        row["mean"] = mean;
        row["remote%"] = remote;
      }
      row["work ms"] = work * 1e3;
      row["delay us"] = of([](const Outcome& o) { return o.delay; }) * 1e6;
      row["total ms"] = of([](const Outcome& o) { return o.work + o.delay; }) * 1e3;
      if (simulated) {
        std::vector<double> slowdowns;
        for (std::size_t i = 0; i < outcomes[name].size(); ++i) {
          slowdowns.push_back(outcomes[name][i].work / outcomes[Oracle::Name][i].work);
        }
        row["slowdown"] = median(slowdowns);
      }
      row["work msgs"] = of([](const Outcome& o) { return double(o.sums.workMessages); });
      row["own msgs"] = of([](const Outcome& o) { return double(o.sums.detectorMessages); });
      if (simulated) {
        row["collective msgs"] = of([](const Outcome& o) { return double(o.collective); });
      }
      row["waves"] = of([](const Outcome& o) { return double(o.sums.waves); });
      report.add(row);
    }
  }

  TerminationOptions options_;
  bool load_;
  std::vector<std::string> detectors_;
  std::unique_ptr<Transport> world_;
};

/// Messages of the tree detectors in a diffusing process, counted, and as derived for trees of
/// ranks. With N ranks, of which rank 0 sends m requests to the others:
///
/// The first reports and the announcement of the end are N - 1 messages each, always. Best case of
/// tree-aps and tree-counter: all reports of a node's ranks meet there, and every rank but the
/// root's sends one more message, what its node has gathered included. Worst case: each request
/// makes its receiver report to the control level, one message unless the node is on that rank, and
/// the report is passed up by itself, one message from each rank to the next. tree-ack: an
/// acknowledgement for each request, in any case.
///
/// The paper's Figure 2 counts a process of n ranks in a tree of height h whose control level is at
/// c: h + n + 2^c and h + m + c m for the reports, m + h for the acknowledgements. (Its text speaks
/// of two control messages for each work message, its table of one; the algorithm needs one.) Of
/// the first reports it counts the source's only, h at most, and leaves out the announcement; nodes
/// that share a rank make the rest of the difference.
std::int64_t derivedMessages(const std::string& detector, int ranks, int arity, int controlLevel,
                             int rounds, bool worst) {
  const std::int64_t others = ranks - 1;
  const std::int64_t firstAndEnd = 2 * others;
  if (detector == "tree-ack") return firstAndEnd + others * rounds;
  if (!worst) return firstAndEnd + others;
  int height = 0;
  for (std::int64_t width = 1; width < ranks; width *= arity) ++height;
  std::int64_t controlWidth = 1;
  for (int level = 0; level < height - controlLevel; ++level) controlWidth *= arity;
  std::int64_t reports = 0;
  for (std::int64_t rank = 1; rank < ranks; ++rank) {
    std::int64_t at = rank - rank % controlWidth;
    if (at != rank) ++reports;
    for (std::int64_t width = arity; at > 0; width *= arity) {
      if (at % width == 0) continue;
      at -= at % width;
      ++reports;
    }
  }
  return firstAndEnd + reports * rounds;
}

void countMessages(const TerminationOptions& options, Report& report) {
  tributary::DetectorOptions detection = options.detection;
  detection.work = tributary::WorkModel::APS;
  constexpr int Rounds = 3;
  for (const int ranks : options.simulate) {
    for (const bool worst : {false, true}) {
      for (const char* detector : {"tree-aps", "tree-counter", "tree-ack"}) {
        DiffusionOptions diffusion;
        diffusion.rounds = worst ? Rounds : 1;
        diffusion.gapSeconds = worst ? 1e-3 : 0;
        diffusion.arity = detection.arity;
        tributary::VirtualTimeNetworkOptions network;
        network.ranks = ranks;
        network.ranksPerNode = options.ranksPerNode;
        const auto net = tributary::makeVirtualTimeNetwork(network);
        std::vector<std::unique_ptr<DetectorProgram>> programs;
        for (int rank = 0; rank < ranks; ++rank) {
          programs.push_back(makeDiffusion(net->transport(rank), detector, detection, diffusion));
        }
        net->runSteps([&](Transport& transport) {
          return programs[static_cast<std::size_t>(transport.rank())]->turn();
        });
        std::int64_t counted = 0;
        for (const auto& program : programs) counted += program->result().detectorMessages;
        const std::int64_t derived = derivedMessages(
            detector, ranks, detection.arity, detection.controlLevel, diffusion.rounds, worst);
        report.add({{"detector", detector},
                    {"ranks", ranks},
                    {"case", worst ? "worst" : "best"},
                    {"work msgs", (ranks - 1) * diffusion.rounds},
                    {"counted", counted},
                    {"derived", derived}});
        if (counted != derived) {
          report.print(std::cout);
          throw tributary::Error(std::string(detector) +
                                 ": the number of messages differs from the derived one");
        }
      }
    }
  }
}

}  // namespace

void measureTermination(const TerminationOptions& options) {
  const int rank = worldRank(), size = worldSize();
  if (!options.simulate.empty() && size > 1) {
    throw tributary::Error("--simulate runs in one process: run it on one rank");
  }
  Row settings = {{"program", options.program},
                  {"network", options.simulate.empty() ? "MPI" : "simulated"},
                  {"repetitions", options.repeat},
                  {"arity", options.detection.arity},
                  {"control level", options.detection.controlLevel},
                  {"initiators", options.detection.initiators}};
  if (options.program == "tracer") {
    settings["voxels"] = options.tracer.voxels;
    settings["step us"] = options.tracer.stepSeconds * 1e6;
  } else if (options.program == "walks") {
    settings["walkers per rank"] = options.walks.walkers;
    settings["hops"] = options.walks.hops;
    settings["bytes"] = options.walks.bytes;
  } else if (options.program == "load") {
    settings["items per unit of load"] = options.load.itemsPerUnit;
    settings["item us"] = options.load.itemSeconds * 1e6;
  }
  Report report("Termination detection", settings);
  if (options.program == "diffusion") {
    if (options.simulate.empty()) throw tributary::Error("diffusion needs --simulate");
    countMessages(options, report);
  } else {
    Bench(options).run(report);
  }
  if (rank == 0) report.publish(options.json);
}

}  // namespace bench
