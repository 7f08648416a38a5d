// SPDX-License-Identifier: BSD-3-Clause
#include "Exchange/Tune.h"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <memory>
#include <random>

#include "Support/InterleavedComparison.h"
#include "Support/Report.h"
#include "Tributary/Advection/Domain.h"
#include "Tributary/Advection/StructuredField.h"
#include "Tributary/Advection/TraceTuning.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Base/Hash.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Transport/Mpi.h"

namespace bench {

namespace {

constexpr double Side = 6.283185307179586;
constexpr int Cells = 64;  // per axis, all ranks together

struct Workload {
  const char* name;
  bool hops;      ///< Along x, a step crosses half of a rank's part. Else the ABC flow.
  bool corner;    ///< All seeds begin in one corner, on one rank.
  bool adaptive;  ///< Runge-Kutta 4-5; else 4, half a cell a step.
  int seeds;
  int steps;  ///< Of a line.
};

constexpr Workload Workloads[] = {
    {"many", false, false, false, 20000, 400},   {"few", false, false, false, 500, 12000},
    {"adaptive", false, false, true, 5000, 800}, {"corner", false, true, false, 10000, 600},
    {"hops", true, false, false, 10000, 100},    {"few-hops", true, false, false, 500, 2000}};

/// The slab of a periodic box that a rank has, cut into several numbers of blocks.
class Field {
 public:
  Field(tributary::Transport& transport, const Workload& workload,
        const std::vector<int>& blocksPerRank) {
    const int rank = transport.rank(), ranks = transport.size();
    piece_.extent = {{Cells * rank / ranks, Cells * (rank + 1) / ranks, 0, Cells, 0, Cells}};
    const double edge = Side / Cells;
    piece_.spacing = {{edge, edge, edge}};
    const double a = std::sqrt(3.0), b = std::sqrt(2.0), c = 1;
    for (int k = 0; k <= Cells; ++k)
      for (int j = 0; j <= Cells; ++j)
        for (int i = piece_.extent[0]; i <= piece_.extent[1]; ++i) {
          const double x = edge * i, y = edge * j, z = edge * k;
          const std::array<double, 3> v =
              workload.hops ? std::array<double, 3>{{1, 0, 0}}
                            : std::array<double, 3>{{a * std::sin(z) + c * std::cos(y),
                                                     b * std::sin(x) + a * std::cos(z),
                                                     c * std::sin(y) + b * std::cos(x)}};
          for (const double component : v) velocity_.push_back(static_cast<float>(component));
        }
    piece_.velocity = {velocity_.data(), false, static_cast<std::int64_t>(velocity_.size() / 3)};
    for (const int blocks : blocksPerRank) {
      auto made = tributary::makeStructuredBlocks(transport, {piece_}, blocks, {rank * blocks});
      const std::vector<std::int64_t> counts(static_cast<std::size_t>(ranks), blocks);
      domains_.push_back(std::make_unique<tributary::Domain>(
          tributary::makeDomain(transport, tributary::Assignment(counts), std::move(made))));
      cuts.push_back(domains_.back().get());
    }
  }

  std::vector<const tributary::Domain*> cuts;

 private:
  std::vector<float> velocity_;
  tributary::StructuredPiece piece_;
  std::vector<std::unique_ptr<tributary::Domain>> domains_;
};

std::vector<tributary::Seed> seedsOf(const Workload& workload, int rank, int ranks) {
  std::mt19937_64 random(1);
  std::vector<tributary::Seed> seeds;
  for (int i = 0; i < workload.seeds; ++i) {
    tributary::Seed seed;
    seed.id = i;
    for (double& x : seed.x)
      x = (workload.corner ? 0.2 : 1) * Side * (static_cast<double>(random() >> 11) * 0x1p-53);
    if (i % ranks == rank) seeds.push_back(seed);
  }
  return seeds;
}

tributary::TraceOptions optionsOf(const Workload& workload, double work, int ranks) {
  tributary::TraceOptions options;
  tributary::StepRules& rules = options.rules;
  rules.maximumSteps = std::max<std::int64_t>(1, std::llround(workload.steps * work));
  rules.record = false;
  for (double& period : rules.period) period = Side;
  if (!workload.adaptive) {
    rules.integrator = tributary::Integrator::RungeKutta4;
    rules.unit = tributary::StepUnit::Length;
    rules.initialStep = workload.hops ? Side / (2 * ranks) : 0.5 * Side / Cells;
  }
  return options;
}

/// One row: what is chosen for a workload, and a sweep.
class Trial {
 public:
  Trial(tributary::Transport& transport, const Workload& workload, const TuneOptions& options)
      : transport_(transport),
        workload_(workload),
        options_(options),
        field_(transport, workload, options.blocksPerRank),
        settings_(tributary::traceSettings(field_.cuts)),
        seeds_(seedsOf(workload, transport.rank(), transport.size())),
        trace_(optionsOf(workload, options.work, transport.size())) {}

  Row row() {
    // First, so that nothing is warm that would not be.
    const auto tuning =
        tributary::tuneTrace(transport_, settings_, seeds_, trace_, options_.budget);
    std::vector<std::size_t> all(settings_.size());
    for (std::size_t s = 0; s < all.size(); ++s) all[s] = s;
    const std::vector<std::vector<double>> swept = run(all, options_.repeat);
    double sweep = 0, once = 0;
    std::size_t best = 0;
    for (std::size_t s = 0; s < all.size(); ++s) {
      for (const double seconds : swept[s]) sweep += seconds;
      once += median(swept[s]);
      if (median(swept[s]) < median(swept[best])) best = s;
    }
    // Measured again, because the best of many may lead by luck.
    std::vector<std::size_t> two{0};
    for (const std::size_t s : {best, tuning.best})
      if (std::find(two.begin(), two.end(), s) == two.end()) two.push_back(s);
    const std::vector<std::vector<double>> confirmed = run(two, options_.confirm);
    const auto seconds = [&](std::size_t s) {
      return median(
          confirmed[static_cast<std::size_t>(std::find(two.begin(), two.end(), s) - two.begin())]);
    };
    Row row{{"ranks", transport_.size()},
            {"workload", workload_.name},
            {"default s", seconds(0)},
            {"best", nameOf(best)},
            {"best s", seconds(best)},
            {"chosen", nameOf(tuning.best)},
            {"chosen s", seconds(tuning.best)},
            {"chosen/best", seconds(tuning.best) / seconds(best)},
            {"worst s", worst(swept)},
            {"expected s", tuning.expected ? tuning.expected->seconds : std::nan("")},
            {"spread s", tuning.expected ? tuning.expected->spread : std::nan("")},
            {"forecast error",
             tuning.expected ? tuning.expected->offBy(seconds(tuning.best)) : std::nan("")},
            {"trials", tuning.trials},
            {"tuning s", tuning.seconds},
            {"tuning/one sweep", tuning.seconds / once},
            {"tuning/sweep", tuning.seconds / sweep}};
    row["sweep"] = swept;
    row["confirmed"] = confirmed;
    return row;
  }

 private:
  /// Seconds of the slowest rank, each setting `repeat` times, every other time in reverse.
  std::vector<std::vector<double>> run(const std::vector<std::size_t>& which, int repeat) {
    const std::vector<std::string> all;
    InterleavedComparison comparison(transport_, all);
    for (const std::size_t s : which)
      comparison.add({nameOf(s), [this, s](tributary::ExchangeStatistics& statistics) {
                        return traceWith(settings_[s], statistics);
                      }});
    comparison.run(
        repeat, [] {}, [this](const std::string& name) { check(name); });
    std::vector<std::vector<double>> seconds;
    for (const Variant& variant : comparison.variants()) seconds.push_back(variant.seconds);
    return seconds;
  }

  double traceWith(const tributary::TraceSetting& setting,
                   tributary::ExchangeStatistics& statistics) {
    setting.exchange.applyTo(trace_.exchange);
    tributary::barrier(transport_);
    const double begin = transport_.now();
    const auto result = tributary::trace(transport_, *setting.domain, seeds_, trace_);
    const double seconds = transport_.now() - begin;
    statistics = result.statistics;
    hash_ = 0;
    for (const tributary::LineEnd& end : result.ends)
      hash_ += tributary::scramble(static_cast<std::uint64_t>(end.line) * 31 +
                                   static_cast<std::uint64_t>(end.points)) ^
               static_cast<std::uint64_t>(end.reason);
    return seconds;
  }

  void check(const std::string& name) {
    const std::uint64_t hash = sumOfHashes(transport_, hash_);
    if (answer_ == 0) answer_ = hash;
    if (hash != answer_)
      throw tributary::Error(name + ": lines differ from those of the first setting");
  }

  static double worst(const std::vector<std::vector<double>>& swept) {
    double worst = 0;
    for (const auto& seconds : swept) worst = std::max(worst, median(seconds));
    return worst;
  }

  std::string nameOf(std::size_t s) const {
    const tributary::TraceSetting& setting = settings_[s];
    const auto cut = std::find(field_.cuts.begin(), field_.cuts.end(), setting.domain);
    char text[64];
    std::snprintf(text, sizeof text, "%d x %zuK, %gus",
                  options_.blocksPerRank[static_cast<std::size_t>(cut - field_.cuts.begin())],
                  setting.exchange.batchBytes >> 10, setting.exchange.holdTime);
    return text;
  }

  tributary::Transport& transport_;
  const Workload& workload_;
  const TuneOptions& options_;
  Field field_;
  std::vector<tributary::TraceSetting> settings_;
  std::vector<tributary::Seed> seeds_;
  tributary::TraceOptions trace_;
  std::uint64_t hash_ = 0, answer_ = 0;
};

}  // namespace

std::vector<std::string> tuneWorkloads() {
  std::vector<std::string> names;
  for (const Workload& workload : Workloads) names.emplace_back(workload.name);
  return names;
}

void measureTune(const TuneOptions& options) {
  const auto transport = tributary::makeMpiTransport(MPI_COMM_WORLD);
  const bool speaks = transport->rank() == 0;
  Report report("Settings chosen by trials and by a sweep (median seconds of the slowest rank)",
                {{"ranks", transport->size()},
                 {"repetitions of the sweep", options.repeat},
                 {"repetitions of the comparison", options.confirm},
                 {"budget", options.budget},
                 {"work", options.work}});
  const auto& wanted = options.workloads;
  for (const Workload& workload : Workloads) {
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), workload.name) == wanted.end())
      continue;
    if (speaks) std::cerr << "measuring " << workload.name << " ..." << std::endl;
    report.add(Trial(*transport, workload, options).row());
  }
  if (speaks) report.publish(options.json);
}

}  // namespace bench
