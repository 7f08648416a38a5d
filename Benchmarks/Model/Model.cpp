// SPDX-License-Identifier: BSD-3-Clause
#include "Model/Model.h"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iostream>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <sstream>
#include <utility>

#include "Support/Report.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Collective/Records.h"
#include "Tributary/Model/EventSimulation.h"
#include "Tributary/Model/Fit.h"
#include "Tributary/Model/HybridJacobi.h"
#include "Tributary/Model/KernelDensity.h"
#include "Tributary/Model/OperationModel.h"
#include "Tributary/Model/TimingFile.h"
#include "Tributary/Model/Tuner.h"
#include "Tributary/Model/detail/HybridLinks.h"
#include "Tributary/Transport/Clock.h"
#include "Tributary/Transport/Mpi.h"

namespace bench {

namespace {

namespace detail = tributary::detail;
using tributary::Family;
using tributary::HybridJacobi;
using tributary::HybridOptions;
using tributary::HybridResult;
using tributary::HybridSetting;
using tributary::KindSummary;
using tributary::LaplaceProblem;
using tributary::LaplaceStencil;
using tributary::MeasuredTimes;
using tributary::Operation;
using tributary::OperationModel;
using tributary::OperationTimes;
using tributary::steadySeconds;
using tributary::Transport;

constexpr Family Gev = Family::GeneralizedExtremeValue;
// The last hundredth of samples is beyond what bins of equal width between the least and the
// largest can show: an operation with a tick of the system's clock in it takes a hundred times as
// long as others.
constexpr double FittedPart = 0.99;
// Approximate duration of the measurement of transfers.
constexpr double TransferSeconds = 1;

LaplaceStencil stencilOf(int neighbors) {
  return neighbors == 4   ? LaplaceStencil::FivePoint
         : neighbors == 8 ? LaplaceStencil::NinePoint
                          : LaplaceStencil::SevenPoint;
}

HybridSetting settingOf(const ModelOptions& options, int ranks) {
  HybridSetting setting;
  setting.neighbors = options.neighbors;
  setting.master = options.master;
  const int computing = ranks - (options.master ? 1 : 0);
  // This number of subregions, in a row along the layers.
  setting.subregions = {1, std::max(1, computing)};
  setting.points = {options.points, options.points * setting.subregions[1], 1};
  setting.threads = options.threads;
  setting.swapPeriod = options.swapPeriod;
  setting.residualPeriod = options.residualPeriod;
  return setting;
}

LaplaceProblem problemOf(const HybridSetting& setting) {
  LaplaceProblem problem;
  problem.stencil = stencilOf(setting.neighbors);
  problem.points = setting.points;
  problem.boundary = [](std::int64_t i, std::int64_t j, std::int64_t k) {
    return 1 + 0.01 * std::sin(static_cast<double>(i + 2 * j + 3 * k));
  };
  // Numbers of ordinary size from the beginning: those that are almost 0 take longer.
  problem.guess = [](std::int64_t, std::int64_t, std::int64_t) { return 0.5; };
  return problem;
}

HybridOptions optionsOf(const HybridSetting& setting) {
  HybridOptions hybrid;
  hybrid.traffic =
      setting.master ? tributary::HybridTraffic::Master : tributary::HybridTraffic::Direct;
  hybrid.threads = setting.threads;
  hybrid.workShare = setting.workShare;
  hybrid.swapPeriod = setting.swapPeriod;
  hybrid.residualPeriod = setting.residualPeriod;
  return hybrid;
}

/// Iterations for some seconds.
HybridResult runFor(Transport& transport, const HybridSetting& setting, double seconds,
                    int timingPeriod) {
  HybridOptions hybrid = optionsOf(setting);
  hybrid.tolerance = std::numeric_limits<double>::min();
  hybrid.timeLimit = seconds;
  hybrid.timingPeriod = timingPeriod;
  return HybridJacobi(transport, problemOf(setting), hybrid).run();
}

/// The median time between two looks at the clock with nothing in between, or with something.
template <class Between>
double clockSeconds(Between&& between) {
  std::vector<double> samples;
  for (int i = 0; i < 100001; ++i) {
    const double begin = steadySeconds();
    between();
    samples.push_back(steadySeconds() - begin);
  }
  return median(samples);
}
double clockSeconds() {
  return clockSeconds([] {});
}

/// As many of them, evenly spread.
std::vector<double> thinned(std::vector<double> values, std::int64_t most) {
  const auto wanted = static_cast<std::size_t>(most);
  if (values.size() <= wanted) return values;
  std::vector<double> some;
  for (std::size_t i = 0; i < wanted; ++i) some.push_back(values[i * values.size() / wanted]);
  return some;
}

double meanOf(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Seconds of swaps and reports alone, by the links that the iterations use, with computing in
/// between that takes as long as theirs. Collective; adds to `measured`.
void measureTransfers(Transport& transport, const HybridSetting& setting, double iterationSeconds,
                      MeasuredTimes& measured) {
  const double look = clockSeconds();
  const LaplaceProblem problem = problemOf(setting);
  std::vector<tributary::CellRange> boxes(setting.master ? 1 : 0);
  for (const auto& box :
       tributary::cutIntoBoxes(setting.points, 2, tributary::subregionsOf(setting)))
    boxes.push_back(box);
  const tributary::Subregion subregion(problem, boxes, static_cast<std::size_t>(transport.rank()));
  const detail::DatedValues boundary{std::vector<double>(subregion.boundary().size(), 0.5)};
  detail::DatedValues halo{std::vector<double>(subregion.halo().size(), 0.5)};
  // Nothing is low enough, and nothing becomes lower.
  const detail::HybridJudge judge(0, std::numeric_limits<std::int64_t>::max());
  const tributary::Session session = transport.openSession();
  OperationTimes served;
  if (setting.master) {
    const auto boundaries = tributary::sendRecords<double>(transport, [&](auto& outbox) {
      outbox.add(0, tributary::Span<const double>(boundary.values.data(), boundary.values.size()));
    });
    if (transport.rank() == 0) {
      detail::HybridMaster master(problem, boxes, boundaries);
      static_cast<void>(master.serve(transport, session, judge, &served));  // ends by a Limit
    }
  }
  if (!setting.master || transport.rank() > 0) {
    const auto links = setting.master
                           ? detail::makeMasterLinks(transport, session, subregion)
                           : detail::makeNeighborLinks(transport, session, subregion, judge, false);
    links->open(boundary);
    const auto time = [&](std::vector<double>& samples, auto&& work) {
      const tributary::OffCore offCore;
      const double begin = steadySeconds();
      work();
      const double seconds = steadySeconds() - begin - look;
      // Who waits for a master may have no core meanwhile; neighbors do not wait.
      if (setting.master || offCore.seconds() <= tributary::InterruptionSeconds)
        samples.push_back(std::max(0.0, seconds));
    };
    const auto compute = [&](double seconds) {
      for (const double end = steadySeconds() + seconds; steadySeconds() < end;) {
      }
    };
    const double pause = setting.swapPeriod * iterationSeconds;
    const int swaps = std::clamp(static_cast<int>(TransferSeconds / pause), 50, 4000);
    double due = 0;
    bool stop = false;  // whoever is ready first ends it for all
    for (int i = 0; i < swaps && !stop; ++i) {
      compute(pause);
      if (!halo.values.empty()) time(measured.swapTransfers, [&] { links->swap(boundary, halo); });
      due += static_cast<double>(setting.swapPeriod) / setting.residualPeriod;
      for (; due >= 1 && !stop; due -= 1)
        time(measured.reportTransfers, [&] { stop = links->report({1, true, 0}); });
    }
    while (!stop) {
      stop = links->report({1, true, detail::HybridJudge::Limit});
      transport.relax(0);
    }
    links->close();
  }
  if (!setting.master) return;
  // The master's own time is no part of the transfer.
  const auto& operations = served.operations;
  double halos = 0, residuals = 0;
  if (transport.rank() == 0) {
    const auto mean = [&](Operation operation) {
      const auto& samples = operations[static_cast<std::size_t>(operation)];
      return samples.empty() ? 0 : std::max(0.0, meanOf(samples) - look);
    };
    halos = mean(Operation::MasterHalo);
    residuals = mean(Operation::MasterResidual);
  }
  halos = tributary::broadcast(transport, halos, 0);
  residuals = tributary::broadcast(transport, residuals, 0);
  for (double& seconds : measured.swapTransfers) seconds = std::max(0.0, seconds - halos);
  for (double& seconds : measured.reportTransfers) seconds = std::max(0.0, seconds - residuals);
}

void addTo(MeasuredTimes& all, const MeasuredTimes& more) {
  const auto append = [](std::vector<double>& to, const std::vector<double>& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  all.times.add(more.times);
  append(all.swapTransfers, more.swapTransfers);
  append(all.reportTransfers, more.reportTransfers);
}

/// The samples of all ranks on rank 0, and of the calling rank elsewhere. Collective.
MeasuredTimes gathered(Transport& transport, const ModelOptions& options, MeasuredTimes mine) {
  for (auto& samples : mine.times.operations) samples = thinned(samples, options.samples);
  mine.swapTransfers = thinned(mine.swapTransfers, options.samples);
  mine.reportTransfers = thinned(mine.reportTransfers, options.samples);
  std::ostringstream text;
  tributary::writeTimings(text, mine);
  tributary::sendMessages(
      transport,
      [&](tributary::MessageOutbox& outbox) {
        if (transport.rank() > 0) outbox.to(0).text(text.str());
      },
      [&](std::vector<tributary::Reader>& readers) {
        tributary::readAll(readers, [&](int rank, tributary::Reader& reader) {
          std::istringstream part(reader.text());
          addTo(mine, tributary::readTimings(part, "times of rank " + std::to_string(rank)));
        });
      });
  return mine;
}

/// The samples in ascending order, without the longest ones. @pre not empty
std::vector<double> fitted(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  const double kept = std::ceil(FittedPart * static_cast<double>(samples.size()));
  samples.resize(static_cast<std::size_t>(kept));
  return samples;
}

/// Combines the times of this rank's threads, and scales those of operations to a thread of mean
/// pace. Sets the paces of all threads and the overhead of timing in `measured`. Collective.
OperationTimes atMeanPace(Transport& transport, std::vector<OperationTimes> threads,
                          MeasuredTimes& measured) {
  std::vector<double> mine;
  for (const OperationTimes& times : threads)
    if (!times.layersTogether.empty()) mine.push_back(meanOf(fitted(times.layersTogether)));
  measured.paces = tributary::allgatherv(transport, mine);
  if (measured.paces.size() != tributary::computingThreadsOf(measured.setting))
    throw tributary::Error(
        "a thread has no timed iterations; run for longer, or time more of them");
  const double mean = meanOf(measured.paces);
  for (double& pace : measured.paces) pace /= mean;
  OperationTimes all;
  std::size_t next = 0;
  for (OperationTimes& times : threads) {
    if (!times.layersTogether.empty()) times.scale(mean / mine[next++]);
    all.add(times);
  }
  std::vector<double> added;
  for (const double seconds : tributary::allgather(transport, all.timingSeconds().value_or(-1)))
    if (seconds >= 0) added.push_back(seconds);
  if (added.empty())
    throw tributary::Error("no operations were timed; run for longer, or time more of them");
  measured.timingSeconds = meanOf(added);
  return all;
}

/// Times of iterations and transfers, on rank 0 those of all ranks. Collective.
MeasuredTimes measure(Transport& transport, const ModelOptions& options,
                      const HybridSetting& setting) {
  MeasuredTimes measured;
  measured.setting = setting;
  const HybridResult result =
      runFor(transport, setting, options.measuredSeconds, options.timingPeriod);
  measured.times = atMeanPace(transport, result.times, measured);
  std::int64_t most = 1;
  for (const std::int64_t iterations : result.iterations) most = std::max(most, iterations);
  const double iterationSeconds = tributary::allreduce(
      transport, tributary::ReduceOp::Min,
      result.iterations.empty() ? std::numeric_limits<double>::infinity()
                                : options.measuredSeconds / static_cast<double>(most));
  measureTransfers(transport, setting, iterationSeconds, measured);
  return gathered(transport, options, std::move(measured));
}

/// The times: read from a file, or measured and saved if requested. Collective.
MeasuredTimes timesFor(Transport& transport, const ModelOptions& options) {
  const HybridSetting setting = settingOf(options, transport.size());
  tributary::ErrorCollector errors;
  MeasuredTimes measured;
  if (options.load.empty()) {
    measured = measure(transport, options, setting);
    errors.attempt([&] {
      if (transport.rank() == 0 && !options.save.empty())
        tributary::saveTimings(options.save, measured);
    });
  } else {
    errors.attempt([&] { measured = tributary::loadTimings(options.load); });
  }
  errors.agree(transport);
  return measured;
}

Row settingsOf(const HybridSetting& setting) {
  Row row;
  row["neighbors"] = setting.neighbors;
  row["points"] = std::to_string(setting.points[0]) + "x" + std::to_string(setting.points[1]) +
                  (setting.points[2] > 1 ? "x" + std::to_string(setting.points[2]) : "");
  row["subregions"] = tributary::subregionsOf(setting);
  row["traffic"] = setting.master ? "master" : "direct";
  row["threads"] = setting.threads;
  row["residual period"] = setting.residualPeriod;
  return row;
}

// ---- Tables 1 and 3: modeled and measured iterations ----

void tabulateErrors(Transport& transport, const ModelOptions& options) {
  const MeasuredTimes measured = timesFor(transport, options);
  if (transport.rank() != 0) return;
  Row settings = settingsOf(measured.setting);
  settings["swap period"] = measured.setting.swapPeriod;
  settings["timing ns"] = 1e9 * measured.timingSeconds;
  settings["paces"] = measured.paces;
  Report report("Errors of modeled iteration times", settings);
  const OperationModel kernel(measured, std::nullopt), gev(measured, Gev);
  const auto modeled = [&](const OperationModel& model) {
    return tributary::summarize(tributary::simulateIterations(
                                    measured.setting, model, options.simulatedSeconds, options.seed)
                                    .iterations);
  };
  const std::vector<KindSummary> byKernel = modeled(kernel), byGev = modeled(gev);
  std::vector<std::pair<tributary::IterationKind, double>> real = measured.times.iterations;
  // One look at the clock, as good as what timing adds, belongs to the measurement alone.
  for (auto& [kind, seconds] : real) seconds = std::max(1e-9, seconds - measured.timingSeconds);
  for (const KindSummary& kind : tributary::summarize(real)) {
    Row row;
    row["kind"] = nameOf(kind.kind);
    row["samples"] = kind.seconds.size();
    row["mean us"] = 1e6 * kind.mean;
    row["median us"] = 1e6 * median(kind.seconds);
    row["deviation us"] = 1e6 * kind.deviation;
    row["ideal pairs %"] = 100 * tributary::errorOfModel(kind, kind).ofPairsIfPerfect;
    const auto add = [&](const std::vector<KindSummary>& model, const std::string& name) {
      const double none = std::numeric_limits<double>::quiet_NaN();
      row[name + " us"] = none;
      row[name + " error %"] = none;
      row[name + " pairs %"] = none;
      row[name + " +- %"] = none;
      for (const KindSummary& other : model) {
        if (!(other.kind == kind.kind)) continue;
        const tributary::ModelError error = tributary::errorOfModel(other, kind);
        row[name + " us"] = 1e6 * other.mean;
        row[name + " error %"] = 100 * error.ofMeans;
        row[name + " pairs %"] = 100 * error.ofPairs;
        row[name + " +- %"] = 100 * error.deviation;
      }
    };
    add(byKernel, "KERNEL");
    add(byGev, "GEV");
    // Those that were interrupted happened as well.
    std::vector<double> all = kind.seconds;
    for (const auto& [other, seconds] : measured.times.interrupted)
      if (other == kind.kind) all.push_back(seconds);
    row["interrupted"] = all.size() - kind.seconds.size();
    row["mean us with interrupted"] = 1e6 * meanOf(all);
    report.add(row);
  }
  report.publish(options.json, options.csv);
  std::cout << "kernel density in place of GEV:";
  for (const std::string& name : gev.substituted()) std::cout << " " << name;
  std::cout << (gev.substituted().empty() ? " none\n" : "\n");
}

// ---- Table 2: goodness of fits ----

void tabulateFits(Transport& transport, const ModelOptions& options) {
  const MeasuredTimes measured = timesFor(transport, options);
  if (transport.rank() != 0) return;
  Row settings = settingsOf(measured.setting);
  settings["fitted share"] = FittedPart;
  Report report("Chi-square of fitted distributions, 100 bins", settings);
  for (std::size_t i = 0; i < tributary::Operations; ++i) {
    const std::vector<double> samples = fitted(measured.times.operations[i]);
    if (samples.size() < 100) continue;
    Row row;
    row["operation"] = "(" + std::string(1, static_cast<char>('a' + i)) + ") " +
                       tributary::nameOf(static_cast<Operation>(i));
    row["samples"] = samples.size();
    row["mean ns"] = 1e9 * meanOf(samples);
    std::string best;
    double least = std::numeric_limits<double>::infinity();
    const auto add = [&](const std::string& name, auto&& make, std::size_t parameters) {
      double statistic = std::numeric_limits<double>::quiet_NaN();
      try {
        const auto distribution = make();
        statistic = tributary::chiSquare(samples, distribution, parameters, 100).statistic;
      } catch (const tributary::Error&) {  // none of this family
      }
      row[name] = statistic;
      if (parameters == 0 || !(statistic < least)) return;
      least = statistic;
      best = name;
    };
    add(
        "KERNEL", [&] { return tributary::KernelDensity(samples); }, 0);
    for (const Family family : tributary::AllFamilies)
      add(
          family == Gev ? "GEV" : tributary::nameOf(family),
          [&] { return tributary::fit(family, samples); }, tributary::parametersOf(family));
    row["best family"] = best;
    report.add(row);
  }
  report.publish(options.json, options.csv);
}

// ---- Figures 7 to 9: rates by swap period and work share ----

/// Iterations per second with a core, of the first thread, and of the others on average.
/// Collective.
std::pair<double, double> measuredRates(Transport& transport, const HybridSetting& setting,
                                        double seconds) {
  const HybridResult result = runFor(transport, setting, seconds, 0);
  std::vector<double> mine;
  for (std::size_t b = 0; b < result.iterations.size(); ++b)
    mine.push_back(static_cast<double>(result.iterations[b]) / result.coreSeconds[b]);
  std::vector<std::int64_t> counts;
  const std::vector<double> all = tributary::allgatherv(transport, mine, &counts);
  double first = 0, others = 0;
  std::size_t at = 0, ranks = 0;
  for (const std::int64_t count : counts) {
    if (count == 0) continue;
    ++ranks;
    first += all[at];
    for (std::int64_t b = 1; b < count; ++b) others += all[at + static_cast<std::size_t>(b)];
    at += static_cast<std::size_t>(count);
  }
  return {first / static_cast<double>(ranks), others / static_cast<double>(all.size() - ranks)};
}

void tabulateRates(Transport& transport, const ModelOptions& options) {
  if (!options.predict.empty() && options.predict.size() != 2)
    throw tributary::Error("--predict takes two numbers: subregions and threads");
  const MeasuredTimes measured = timesFor(transport, options);
  HybridSetting setting = measured.setting;
  const bool measures = options.load.empty() && options.predict.empty() && options.rateSeconds > 0;
  if (!options.predict.empty()) {
    setting.points[1] = setting.points[1] / setting.subregions[1] * options.predict[0];
    setting.subregions[1] = options.predict[0];
    setting.threads = options.predict[1];
  }
  std::optional<OperationModel> model;
  if (transport.rank() == 0) model.emplace(measured, std::nullopt);
  Report report("Modeled iterations per second by swap period and work share", settingsOf(setting));
  for (const double share : options.workShares) {
    if (setting.threads == 1 && share != options.workShares.back()) continue;
    for (const int period : options.swapPeriods) {
      setting.workShare = setting.threads == 1 ? 1 : share;
      setting.swapPeriod = period;
      std::pair<double, double> real;
      if (measures) real = measuredRates(transport, setting, options.rateSeconds);
      if (transport.rank() != 0) continue;
      const auto simulated =
          tributary::simulateIterations(setting, *model, options.simulatedSeconds, options.seed);
      double all = 0, blocks = 0;
      for (const auto& rates : simulated.rates)
        for (const double rate : rates) {
          all += rate;
          blocks += 1;
        }
      Row row;
      row["share"] = setting.workShare;
      row["period"] = period;
      row["I_c"] = simulated.communicatingRate;
      row["I_nc"] = simulated.otherRate;
      row["all"] = all / blocks;
      row["I_c/I_nc"] = simulated.communicatingRate / simulated.otherRate;
      row["swap us"] = 1e6 * simulated.secondsBetweenSwaps;
      row["master load"] = simulated.masterLoad;
      if (measures) {
        row["measured I_c"] = real.first;
        row["measured I_nc"] = real.second;
        row["I_c error %"] = 100 * (simulated.communicatingRate / real.first - 1);
        row["I_nc error %"] = 100 * (simulated.otherRate / real.second - 1);
      }
      report.add(row);
    }
  }
  if (transport.rank() == 0) report.publish(options.json, options.csv);
}

// ---- Figures 11 and 12: a stencil between two others ----

void tabulateStencils(Transport& transport, const ModelOptions& options) {
  if (transport.size() > 1 || options.master || !options.load.empty())
    throw tributary::Error("--table stencils requires one rank");
  Report report(
      "GEV distribution of an interior row: 7-point stencil interpolated between 5 and 9 points",
      Row{{"points", options.points}, {"fitted share", FittedPart}});
  const std::array<int, 3> stencils{4, 8, 6};
  std::array<std::vector<double>, 3> rows;
  // In turns: the machine is not the same all the time.
  for (int r = 0; r < options.repeat; ++r)
    for (std::size_t i = 0; i < stencils.size(); ++i) {
      HybridSetting setting;
      setting.neighbors = stencils[i];
      // Seven points lie in three dimensions, of which one is one point wide: rows as long.
      const bool isFlat = setting.neighbors == 6;
      setting.points = {options.points, isFlat ? 1 : options.points, isFlat ? options.points : 1};
      const OperationTimes times =
          runFor(transport, setting, options.measuredSeconds / options.repeat, options.timingPeriod)
              .times.front();
      const auto& samples = times.operations[static_cast<std::size_t>(Operation::ComputeInterior)];
      rows[i].insert(rows[i].end(), samples.begin(), samples.end());
    }
  for (auto& samples : rows) samples = fitted(std::move(samples));
  const auto five = tributary::fit(Gev, rows[0]), nine = tributary::fit(Gev, rows[1]);
  const auto between = tributary::interpolate(five, 5, nine, 9, 7);
  const auto add = [&](const std::string& name,
                       const tributary::ParametricDistribution& distribution) {
    Row row;
    row["stencil"] = name;
    row["location ns"] = 1e9 * distribution.parameters()[0];
    row["scale ns"] = 1e9 * distribution.parameters()[1];
    row["shape"] = distribution.parameters()[2];
    row["mean ns"] = 1e9 * distribution.mean();
    row["deviation ns"] = 1e9 * distribution.deviation();
    row["error of mean %"] = 100 * (distribution.mean() / meanOf(rows[2]) - 1);
    report.add(row);
  };
  add("5 points", five);
  add("9 points", nine);
  add("7, interpolated", between);
  add("7, measured", tributary::fit(Gev, rows[2]));
  report.publish(options.json, options.csv);
}

// ---- The tuner ----

void tabulateTuner(Transport& transport, const ModelOptions& options) {
  if (!options.load.empty())
    throw tributary::Error("--table tuner measures; it does not accept --load");
  const MeasuredTimes measured = timesFor(transport, options);
  const auto converge = [&](int period) {
    HybridSetting setting = measured.setting;
    setting.swapPeriod = period;
    HybridOptions hybrid = optionsOf(setting);
    hybrid.tolerance = options.tolerance;
    const HybridResult result = HybridJacobi(transport, problemOf(setting), hybrid).run();
    tributary::PilotRun pilot;
    pilot.setting = setting;
    pilot.residual = result.residual;
    pilot.iterations = tributary::allgatherv(transport, result.iterations);
    return std::make_pair(
        pilot, tributary::allreduce(transport, tributary::ReduceOp::Max, result.seconds));
  };
  std::vector<tributary::PilotRun> pilots;
  for (const int period : {options.swapPeriods.front(), options.swapPeriods.back()})
    pilots.push_back(converge(period).first);
  tributary::ErrorCollector errors;
  std::vector<tributary::Expectation> all;
  double fresh = 0, harm = 0;
  errors.attempt([&] {
    if (transport.rank() != 0) return;
    const OperationModel model(measured, std::nullopt);
    const tributary::Tuner tuner(model, pilots, options.simulatedSeconds, options.seed);
    fresh = tuner.iterationsOfFreshHalos();
    harm = tuner.harmOfStaleness();
    all = tuner.recommend(measured.setting, options.tolerance, options.swapPeriods, {1});
  });
  errors.agree(transport);
  // All of them measured, in turns.
  std::vector<std::vector<double>> real(options.swapPeriods.size());
  for (int r = 0; r < options.repeat; ++r)
    for (std::size_t p = 0; p < real.size(); ++p)
      real[p].push_back(converge(options.swapPeriods[p]).second);
  if (transport.rank() != 0) return;
  Row settings = settingsOf(measured.setting);
  settings["tolerance"] = options.tolerance;
  settings["iterations with fresh halos"] = fresh;
  settings["cost of staleness"] = harm;
  Report report("Expected and measured seconds, the recommended period first", settings);
  for (const tributary::Expectation& expected : all) {
    const auto place =
        static_cast<std::size_t>(std::find(options.swapPeriods.begin(), options.swapPeriods.end(),
                                           expected.setting.swapPeriod) -
                                 options.swapPeriods.begin());
    const auto [least, largest] = std::minmax_element(real[place].begin(), real[place].end());
    Row row;
    row["period"] = expected.setting.swapPeriod;
    row["staleness"] = expected.staleness;
    row["expected iterations"] = expected.iterations;
    row["expected ms"] = 1e3 * expected.seconds;
    row["measured ms"] = 1e3 * median(real[place]);
    row["least ms"] = 1e3 * *least;
    row["most ms"] = 1e3 * *largest;
    row["error %"] = 100 * tributary::howFarOff(expected, median(real[place]));
    report.add(row);
  }
  report.publish(options.json, options.csv);
}

// ---- What measuring costs ----

void tabulateCost(Transport& transport, const ModelOptions& options) {
  if (options.master || !options.load.empty() || !(options.rateSeconds > 0))
    throw tributary::Error(
        "--table cost measures; it does not accept --master, --load or a --rate-seconds of 0");
  const HybridSetting setting = settingOf(options, transport.size());
  std::vector<double> with, without;
  for (int r = 0; r < options.repeat; ++r)
    for (const bool first : {true, false}) {
      const bool timed = first == (r % 2 == 0);
      const double rate =
          runFor(transport, setting, options.rateSeconds, timed ? options.timingPeriod : 0)
              .iterations.front() /
          options.rateSeconds;
      (timed ? with : without).push_back(rate);
    }
  const HybridResult result =
      runFor(transport, setting, options.measuredSeconds, options.timingPeriod);
  OperationTimes times;
  for (const OperationTimes& one : result.times) times.add(one);
  std::size_t operations = 0;
  for (const auto& samples : times.operations) operations += samples.size();
  std::int64_t iterations = 0;
  for (const std::int64_t count : result.iterations) iterations += count;
  if (transport.rank() != 0) return;
  const double clock = clockSeconds();
  const double core =
      clockSeconds([] { static_cast<void>(tributary::OffCore().seconds()); }) - clock;
  const auto whole = times.iterations.size() + times.interrupted.size();
  const auto together = times.layersTogether.size(), oneByOne = times.layersOneByOne.size();
  const double looks = 2 * static_cast<double>(operations + whole + together) * clock +
                       static_cast<double>(whole + together + oneByOne) * core;
  Report report("Cost of timing with a period of " + std::to_string(options.timingPeriod),
                settingsOf(setting));
  Row row;
  row["iterations/s"] = median(without);
  row["timed iterations/s"] = median(with);
  row["slower %"] = 100 * (median(without) / median(with) - 1);
  row["clock ns"] = 1e9 * clock;
  row["core ns"] = 1e9 * core;
  row["clock reads per iteration"] =
      2 * static_cast<double>(operations) / static_cast<double>(iterations);
  row["clock reads %"] = 100 * looks / (result.seconds * options.threads);
  row["single"] = with;
  row["single without"] = without;
  report.add(row);
  report.publish(options.json, options.csv);
}

}  // namespace

void measureModel(const ModelOptions& options) {
  const auto transport = tributary::makeMpiTransport(MPI_COMM_WORLD);
  if (options.master && transport->size() < 3)
    throw tributary::Error("--master needs at least 3 ranks");
  if (!options.load.empty() && transport->size() > 1)
    throw tributary::Error("--load requires one rank");
  if (options.table == "errors") tabulateErrors(*transport, options);
  if (options.table == "fits") tabulateFits(*transport, options);
  if (options.table == "rates") tabulateRates(*transport, options);
  if (options.table == "stencils") tabulateStencils(*transport, options);
  if (options.table == "tuner") tabulateTuner(*transport, options);
  if (options.table == "cost") tabulateCost(*transport, options);
}

}  // namespace bench
