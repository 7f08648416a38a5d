// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Model/EventSimulation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <string>

#include "Tributary/Base/Bytes.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Base/Hash.h"
#include "Tributary/Base/NumberText.h"
#include "Tributary/Transport/Simulated.h"

namespace tributary {

namespace {

// A look at the network has to move the clock; no operation is as short.
constexpr double LookSeconds = 1e-14;

/// What travels between ranks.
enum class Word : std::int64_t { Halo, Residual, End };

/// A block's layers, and what is new for its thread.
struct Block {
  std::int64_t layers = 0;
  double pace = 1;  ///< Of its thread.
  std::int64_t iterations = 0;
  std::array<std::int64_t, 2> seen{-1, -1};  ///< Iterations of the next blocks, when last looked.
  bool haloIsNew = false;
  bool swapDue = false, reportDue = false;  // since it communicated last
};

struct Region {
  std::vector<Block> blocks;
  std::vector<int> neighbors;     ///< Subregions.
  bool hasSides = false;          ///< Others lie side by side with it.
  std::array<bool, 2> hasEnds{};  ///< Others lie before its first layer, and after its last one.
  std::size_t communicator = 0;
  std::vector<double> swaps;  ///< When they ended.
};

/// All ranks of the network share this; they run in one thread of the machine.
class Simulation {
 public:
  Simulation(const HybridSetting& setting, const OperationModel& model, double seconds,
             std::uint64_t seed)
      : setting_(setting), model_(model), seconds_(seconds), seed_(seed) {
    const int across = setting.subregions[0], along = setting.subregions[1];
    for (int s = 0; s < across * along; ++s) {
      Region region;
      const int x = s % across, y = s / across;
      for (const std::int64_t layers : blocksOf(setting, s)) {
        Block block;
        block.layers = layers;
        block.pace = model.paceOf(setting, s, region.blocks.size());
        region.blocks.push_back(block);
      }
      region.hasSides = across > 1;
      region.hasEnds = {y > 0, y + 1 < along};
      if (x > 0) region.neighbors.push_back(s - 1);
      if (x + 1 < across) region.neighbors.push_back(s + 1);
      if (y > 0) region.neighbors.push_back(s - across);
      if (y + 1 < along) region.neighbors.push_back(s + across);
      regions_.push_back(std::move(region));
    }
  }

  SimulatedIterations run() {
    VirtualTimeNetworkOptions options;
    options.ranks = firstWorker() + subregionsOf(setting_) * setting_.threads;
    options.within = options.between = {0, 0, 0, 0};
    options.lookSeconds = LookSeconds;
    options.deadlockSeconds = 1e3 * seconds_ + 1e4;
    options.stackBytes = std::size_t(128) << 10;
    const auto network = makeVirtualTimeNetwork(options);
    network->run([&](Transport& transport) {
      const int worker = transport.rank() - firstWorker();
      if (worker < 0) return serve(transport);
      const auto region = static_cast<std::size_t>(worker / setting_.threads);
      const auto thread = static_cast<std::size_t>(worker % setting_.threads);
      std::uint64_t random = seed_ ^ scramble(static_cast<std::uint64_t>(worker) + 1);
      if (thread == regions_[region].blocks.size()) {
        communicateOnly(transport, region, random);
      } else {
        while (iterate(transport, region, thread, random)) {
        }
        if (setting_.master) transport.send(0, Topic::Work, 0, SendMode::Eager, said(Word::End));
      }
    });
    return result();
  }

 private:
  int firstWorker() const { return setting_.master ? 1 : 0; }
  int rankOf(std::size_t region, std::size_t thread) const {
    return firstWorker() + static_cast<int>(region) * setting_.threads + static_cast<int>(thread);
  }
  static Bytes said(Word word, double when = 0) {
    return Writer().value<std::int64_t>(static_cast<std::int64_t>(word)).value(when).take();
  }

  /// Lets all others catch up, so that what they share is as of this moment.
  static void catchUp(Transport& transport) { transport.poll(); }

  static Envelope await(Transport& transport) {
    for (;;) {
      if (auto envelope = transport.tryReceive(Topic::Work, 0)) return std::move(*envelope);
      transport.relax(0);
    }
  }

  void spend(Transport& transport, Operation operation, const Block& block, std::uint64_t& random) {
    transport.spend(block.pace * model_.draw(operation, block.layers, random));
  }

  /// Like HybridJacobi's. @return whether there is time for more
  bool iterate(Transport& transport, std::size_t number, std::size_t thread,
               std::uint64_t& random) {
    catchUp(transport);
    Region& region = regions_[number];
    Block& block = region.blocks[thread];
    const double begin = transport.now();
    if (begin >= seconds_) return false;
    const std::int64_t n = block.iterations + 1;
    const bool swaps = n % setting_.swapPeriod == 0;
    const bool measures = n % setting_.residualPeriod == 0;
    const bool communicating =
        setting_.communicates != CommunicatingThread::Dedicated && region.communicator == thread;

    const auto isBeside = [&](std::size_t side) {
      return side == 0 ? thread > 0 : thread + 1 < region.blocks.size();
    };
    std::array<bool, 2> isNew{};
    for (const std::size_t side : {0u, 1u}) {
      if (!isBeside(side)) continue;
      const std::int64_t other = region.blocks[side == 0 ? thread - 1 : thread + 1].iterations;
      isNew[side] = std::exchange(block.seen[side], other) != other;
    }
    const bool haloIsNew = std::exchange(block.haloIsNew, false);
    for (const bool one : isNew)
      if (one) spend(transport, Operation::CopyNeighbor, block, random);
    const bool hasEnds = (thread == 0 && region.hasEnds[0]) ||
                         (thread + 1 == region.blocks.size() && region.hasEnds[1]);
    if (haloIsNew) {
      if (region.hasSides) spend(transport, Operation::CopySideHalo, block, random);
      if (hasEnds) spend(transport, Operation::CopyEndHalo, block, random);
    }
    for (std::int64_t layer = 0; layer < block.layers; ++layer) {
      const bool isOutermost = layer == 0 || layer + 1 == block.layers;
      spend(transport, isOutermost ? Operation::ComputeLayer : Operation::ComputeInterior, block,
            random);
    }
    for (const std::size_t side : {0u, 1u})
      if (isBeside(side)) spend(transport, Operation::PublishLayer, block, random);
    catchUp(transport);
    block.iterations = n;
    if (measures) spend(transport, Operation::ComputeResidual, block, random);
    if (swaps || measures) {
      if (region.hasSides) spend(transport, Operation::PublishSides, block, random);
      if (hasEnds) spend(transport, Operation::PublishEnds, block, random);
    }
    block.swapDue = block.swapDue || swaps;
    block.reportDue = block.reportDue || measures;
    bool swapped = false, reported = false;
    if (communicating && (swaps || measures)) {
      swapped = std::exchange(block.swapDue, false);
      reported = std::exchange(block.reportDue, false);
      communicate(transport, number, block, swapped, reported, random);
      passOn(region, thread);
    }
    transport.spend(block.pace * model_.timingSeconds());
    if (transport.now() <= begin + 10 * LookSeconds)
      throw Error("the simulated iterations take no time; measure outermost and interior layers");
    if (transport.now() > seconds_) return false;
    ++counted(number, thread);
    iterations_.emplace_back(IterationKind{communicating, swapped, measures, reported},
                             transport.now() - begin);
    return true;
  }

  void communicate(Transport& transport, std::size_t number, const Block& block, bool swaps,
                   bool measures, std::uint64_t& random) {
    Region& region = regions_[number];
    if (swaps) {
      spend(transport, Operation::CopyBoundary, block, random);
      if (!region.neighbors.empty()) {
        const double transfer = model_.drawSwapTransfer(random);
        if (setting_.master) {
          ask(transport, Word::Halo, transfer);
        } else {
          transport.spend(transfer);
        }
        spend(transport, Operation::UpdateHalo, block, random);
        catchUp(transport);
        for (Block& other : region.blocks) other.haloIsNew = true;
      }
      if (transport.now() <= seconds_) region.swaps.push_back(transport.now());
    }
    if (measures) {
      spend(transport, Operation::SumResidual, block, random);
      const double transfer = model_.drawReportTransfer(random);
      if (setting_.master) {
        ask(transport, Word::Residual, transfer);
      } else {
        transport.spend(transfer);
      }
    }
    catchUp(transport);
  }

  void ask(Transport& transport, Word word, double transfer) {
    transport.spend(0.5 * transfer);
    transport.send(0, Topic::Work, 0, SendMode::Eager, said(word, transport.now()));
    await(transport);
    transport.spend(0.5 * transfer);
  }

  void passOn(Region& region, std::size_t thread) {
    if (setting_.communicates == CommunicatingThread::InTurns)
      region.communicator = (thread + 1) % region.blocks.size();
    if (setting_.communicates != CommunicatingThread::MostIterations) return;
    region.communicator = 0;
    for (std::size_t b = 1; b < region.blocks.size(); ++b)
      if (region.blocks[b].iterations > region.blocks[region.communicator].iterations)
        region.communicator = b;
  }

  /// A dedicated thread: neighbors wait for each other's halos; the residual is a transfer.
  void communicateOnly(Transport& transport, std::size_t number, std::uint64_t& random) {
    Region& region = regions_[number];
    const Block none;
    std::vector<std::int64_t> came(regions_.size(), 0);
    std::vector<bool> ended(regions_.size(), false);
    const auto tell = [&](Word word) {
      for (const int neighbor : region.neighbors)
        transport.send(rankOf(static_cast<std::size_t>(neighbor), region.blocks.size()),
                       Topic::Work, 0, SendMode::Eager, said(word));
    };
    for (std::int64_t n = 1; transport.now() < seconds_; ++n) {
      const double begin = transport.now();
      spend(transport, Operation::CopyBoundary, none, random);
      if (!region.neighbors.empty()) {
        transport.spend(model_.drawSwapTransfer(random));
        tell(Word::Halo);
        const auto isMissing = [&](int neighbor) {
          const auto other = static_cast<std::size_t>(neighbor);
          return came[other] < n && !ended[other];
        };
        while (std::any_of(region.neighbors.begin(), region.neighbors.end(), isMissing)) {
          const Envelope envelope = await(transport);
          const auto from =
              static_cast<std::size_t>((envelope.source - firstWorker()) / setting_.threads);
          Reader reader(envelope.bytes);
          if (static_cast<Word>(reader.value<std::int64_t>()) == Word::End) ended[from] = true;
          ++came[from];
        }
        spend(transport, Operation::UpdateHalo, none, random);
        catchUp(transport);
        for (Block& block : region.blocks) block.haloIsNew = true;
      }
      if (transport.now() <= seconds_) region.swaps.push_back(transport.now());
      if (n % setting_.residualPeriod == 0) {
        spend(transport, Operation::SumResidual, none, random);
        transport.spend(model_.drawReportTransfer(random));
      }
      if (transport.now() <= begin + 10 * LookSeconds)
        throw Error(
            "the timings lack samples of the operations of the dedicated communication thread; "
            "measure with this thread");
      catchUp(transport);
    }
    tell(Word::End);
  }

  void serve(Transport& transport) {
    const Block none;
    std::uint64_t random = seed_ ^ scramble(0);
    std::int64_t running = static_cast<std::int64_t>(setting_.threads) * subregionsOf(setting_);
    while (running > 0) {
      const Envelope envelope = await(transport);
      Reader reader(envelope.bytes);
      const auto word = static_cast<Word>(reader.value<std::int64_t>());
      const auto asked = reader.value<double>();
      if (word == Word::End) {
        --running;
        continue;
      }
      const double begin = transport.now();
      waited_ += begin - asked;
      ++questions_;
      spend(transport, word == Word::Halo ? Operation::MasterHalo : Operation::MasterResidual, none,
            random);
      busy_ += std::min(seconds_, transport.now()) - std::min(seconds_, begin);
      transport.send(envelope.source, Topic::Work, 0, SendMode::Eager, said(word));
    }
  }

  std::int64_t& counted(std::size_t region, std::size_t thread) {
    const std::size_t index = region * static_cast<std::size_t>(setting_.threads) + thread;
    if (counts_.size() <= index) counts_.resize(index + 1, 0);
    return counts_[index];
  }

  SimulatedIterations result() {
    SimulatedIterations result;
    result.iterations = std::move(iterations_);
    double first = 0, others = 0, between = 0;
    std::size_t otherCount = 0, betweenCount = 0;
    const bool dedicated = setting_.communicates == CommunicatingThread::Dedicated;
    for (std::size_t r = 0; r < regions_.size(); ++r) {
      const Region& region = regions_[r];
      std::vector<double> rates;
      for (std::size_t b = 0; b < region.blocks.size(); ++b) {
        rates.push_back(static_cast<double>(counted(r, b)) / seconds_);
        if (b == 0 && !dedicated) continue;
        others += rates.back();
        ++otherCount;
      }
      first += dedicated ? static_cast<double>(region.swaps.size()) / seconds_ : rates[0];
      result.rates.push_back(std::move(rates));
      if (region.swaps.size() < 2) continue;
      between += region.swaps.back() - region.swaps.front();
      betweenCount += region.swaps.size() - 1;
    }
    constexpr double None = std::numeric_limits<double>::quiet_NaN();
    result.communicatingRate = first / static_cast<double>(regions_.size());
    result.otherRate = otherCount > 0 ? others / static_cast<double>(otherCount) : None;
    result.secondsBetweenSwaps = betweenCount > 0 ? between / static_cast<double>(betweenCount)
                                                  : std::numeric_limits<double>::infinity();
    result.masterLoad = busy_ / seconds_;
    result.masterWait = questions_ > 0 ? waited_ / static_cast<double>(questions_) : 0;
    return result;
  }

  const HybridSetting& setting_;
  const OperationModel& model_;
  double seconds_;
  std::uint64_t seed_;
  std::vector<Region> regions_;
  std::vector<std::pair<IterationKind, double>> iterations_;
  std::vector<std::int64_t> counts_;  // of iterations that ended in time
  double busy_ = 0, waited_ = 0;
  std::int64_t questions_ = 0;
};

/// Points of a layer of a subregion.
double layerSize(const HybridSetting& setting) {
  double size = static_cast<double>(setting.points[0]) / setting.subregions[0];
  if (setting.neighbors == 6 || setting.neighbors == 26)
    size *= static_cast<double>(setting.points[1]);
  return size;
}

}  // namespace

SimulatedIterations simulateIterations(const HybridSetting& setting, const OperationModel& model,
                                       double seconds, std::uint64_t seed) {
  check(setting);
  if (!(seconds > 0 && std::isfinite(seconds)))
    throw Error("the simulated time is " + numberText(seconds) +
                " seconds; it must be finite and greater than 0");
  if (setting.neighbors != model.setting().neighbors)
    throw Error("the simulated stencil has " + std::to_string(setting.neighbors) +
                " neighbors, but the times are those of a stencil with " +
                std::to_string(model.setting().neighbors) + "; simulate the measured stencil");
  const double wanted = layerSize(setting), measured = layerSize(model.setting());
  if (std::abs(wanted - measured) > 1)
    throw Error("the simulated layers have " + std::to_string(wanted) +
                " points, but the times are those of layers of " + std::to_string(measured) +
                "; measure layers of the simulated size");
  return Simulation(setting, model, seconds, seed).run();
}

std::vector<KindSummary> summarize(
    const std::vector<std::pair<IterationKind, double>>& iterations) {
  std::vector<KindSummary> all;
  for (const auto& [kind, seconds] : iterations) {
    const IterationKind& wanted = kind;
    auto found = std::find_if(all.begin(), all.end(),
                              [&](const KindSummary& summary) { return summary.kind == wanted; });
    if (found == all.end()) {
      all.emplace_back();
      found = all.end() - 1;
      found->kind = kind;
    }
    found->seconds.push_back(seconds);
  }
  for (KindSummary& summary : all) {
    const auto n = static_cast<double>(summary.seconds.size());
    for (const double seconds : summary.seconds) summary.mean += seconds / n;
    double squares = 0;
    for (const double seconds : summary.seconds)
      squares += (seconds - summary.mean) * (seconds - summary.mean);
    summary.deviation = std::sqrt(squares / n);
  }
  std::sort(all.begin(), all.end(), [](const KindSummary& a, const KindSummary& b) {
    return nameOf(a.kind) < nameOf(b.kind);
  });
  return all;
}

ModelError errorOfModel(const KindSummary& modeled, const KindSummary& measured) {
  if (modeled.seconds.empty() || measured.seconds.empty())
    throw Error(
        "the error of a model needs modeled and measured samples; give at least one of each");
  const std::size_t pairs = std::max(modeled.seconds.size(), measured.seconds.size());
  const auto mean = [](const std::vector<double>& values, auto&& of) {
    double sum = 0;
    for (const double value : values) sum += of(value);
    return sum / static_cast<double>(values.size());
  };
  const auto itself = [](double value) { return value; };
  for (const double real : measured.seconds)
    if (!(real > 0)) throw Error("the measured seconds of an iteration must be greater than 0");
  ModelError result;
  const double measuredMean = mean(measured.seconds, itself);
  result.ofMeans = mean(modeled.seconds, itself) / measuredMean - 1;
  result.ofPairsIfPerfect =
      measuredMean * mean(measured.seconds, [](double value) { return 1 / value; }) - 1;
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < pairs; ++i) {
    const double real = measured.seconds[i % measured.seconds.size()];
    const double error = modeled.seconds[i % modeled.seconds.size()] / real - 1;
    sum += error;
    squares += error * error;
  }
  result.ofPairs = sum / static_cast<double>(pairs);
  result.deviation = std::sqrt(
      std::max(0.0, squares / static_cast<double>(pairs) - result.ofPairs * result.ofPairs));
  return result;
}

}  // namespace tributary
