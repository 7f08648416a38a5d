// SPDX-License-Identifier: BSD-3-Clause
#include "Components/Components.h"

#include <mpi.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <iostream>
#include <map>
#include <memory>
#include <utility>

#include "Components/ComponentProblems.h"
#include "Support/InterleavedComparison.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Base/Hash.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Components/DistributedUnion.h"
#include "Tributary/Transport/Mpi.h"
#include "Tributary/Transport/Simulated.h"

namespace bench {

namespace {

using tributary::Assignment;
using tributary::Schedule;
using tributary::SetName;
using tributary::Transport;
using tributary::UnionMethod;
using tributary::UnionOptions;

struct Way {
  std::string name;
  UnionMethod method;
  Schedule schedule;
};

const std::string Dense = "Labels Dense";

const std::vector<Way>& ways() {
  static const std::vector<Way> all = {
      {"Labels Sync", UnionMethod::LabelPropagation, Schedule::Synchronous},
      {"Labels Neigh", UnionMethod::LabelPropagation, Schedule::Neighborhood},
      {"Labels Async", UnionMethod::LabelPropagation, Schedule::Asynchronous},
      {"Tree Sync", UnionMethod::TreeUnion, Schedule::Synchronous},
      {"Tree Neigh", UnionMethod::TreeUnion, Schedule::Neighborhood},
      {"Tree Async", UnionMethod::TreeUnion, Schedule::Asynchronous}};
  return all;
}

/// What a simulated rank's processor takes, in seconds.
struct Costs {
  double turn = 0;  ///< A turn of the exchange.
  double link = 0;
};

/// The result of the blocks of a rank; runs are compared by the sum over all ranks.
struct Outcome {
  std::uint64_t hash = 0;
  std::int64_t regions = 0;

  void add(BlockId block, const std::vector<SetName>& roots) {
    for (std::size_t s = 0; s < roots.size(); ++s) {
      const SetName own{block, std::int64_t(s)};
      regions += roots[s] == own;
      std::uint64_t mixed = 0;
      for (const std::int64_t n : {own.block, own.set, roots[s].block, roots[s].set})
        mixed = tributary::scramble(mixed ^ std::uint64_t(n));
      hash += mixed;
    }
  }
};

/// A rank's part of a problem.
class RankUnions {
 public:
  RankUnions(const ComponentProblem& problem, const Assignment& assignment, Transport& transport)
      : assignment_(assignment),
        transport_(transport),
        first_(assignment.first(transport.rank())),
        sets_(problem.sets.begin() + first_,
              problem.sets.begin() + assignment.first(transport.rank() + 1)),
        links_(problem.links.begin() + first_,
               problem.links.begin() + assignment.first(transport.rank() + 1)) {}

  tributary::UnionResult run(const Way& way, const std::string& detector, const Costs& costs = {}) {
    UnionOptions options;
    options.method = way.method;
    options.exchange.schedule = way.schedule;
    options.exchange.detector = detector;
    if (costs.turn > 0)
      options.monitor = [&] {
        transport_.spend(costs.turn);
        return true;
      };
    const double begin = start(costs);
    auto result = tributary::uniteSets(transport_, assignment_, sets_, links_, options);
    seconds = transport_.now() - begin;
    setRoots(result.root);
    return result;
  }

  /// Dense rounds of Algorithm 8 in the only block of this rank. @return their number
  std::int64_t runDense(const ComponentProblem& problem, const LabelWork& work, const Costs& costs);

  void setRoots(const std::vector<std::vector<SetName>>& roots) {
    outcome = {};
    for (std::size_t b = 0; b < roots.size(); ++b) outcome.add(first_ + BlockId(b), roots[b]);
  }

  double seconds = 0;  ///< Of the last run, on this rank.
  Outcome outcome;

 private:
  /// @return the time at which the union begins
  double start(const Costs& costs) {
    tributary::barrier(transport_);
    const double begin = transport_.now();
    std::size_t count = 0;
    for (const auto& links : links_) count += links.size();
    if (costs.link > 0) transport_.spend(costs.link * static_cast<double>(count));
    return begin;
  }

  const Assignment& assignment_;
  Transport& transport_;
  BlockId first_;
  std::vector<std::int64_t> sets_;
  std::vector<std::vector<tributary::SetLink>> links_;
};

std::int64_t RankUnions::runDense(const ComponentProblem& problem, const LabelWork& work,
                                  const Costs& costs) {
  const auto neighbors = problem.surrounding(first_);
  const double begin = start(costs);
  std::vector<LabelBlock> blocks = work.blocksOf(transport_.rank());
  const auto session = transport_.openSession();
  const auto turn = [&] {
    if (costs.turn > 0) transport_.spend(costs.turn);
    transport_.poll();
  };
  // By neighbor. One that is ahead may have sent the message of the next round, too.
  std::map<BlockId, std::deque<tributary::Bytes>> inbox;
  std::vector<LabelMessage> received;
  std::int64_t rounds = 0;
  for (bool more = true; more; ++rounds) {
    std::map<BlockId, std::vector<LabelMessage>> outbox;
    for (const BlockId neighbor : neighbors) outbox[neighbor];
    auto next = received.begin();
    work.step(
        blocks[0],
        [&](LabelMessage& message) {
          if (next == received.end()) return false;
          message = *next++;
          return true;
        },
        [&](BlockId to, const LabelMessage& message) { outbox.at(to).push_back(message); });
    std::int64_t sent = 0;
    for (const auto& [to, messages] : outbox) {
      tributary::Bytes bytes;
      tributary::append(bytes, messages.data(), messages.size() * sizeof(LabelMessage));
      transport_.send(assignment_.rankOf(to), tributary::Topic::Work, session,
                      tributary::SendMode::Eager, std::move(bytes));
      sent += static_cast<std::int64_t>(messages.size());
    }
    received.clear();
    for (const BlockId from : neighbors) {
      auto& queue = inbox[from];
      while (queue.empty()) {
        if (auto envelope = transport_.tryReceive(tributary::Topic::Work, session))
          inbox[assignment_.first(envelope->source)].push_back(std::move(envelope->bytes));
        else
          transport_.relax(0);
        turn();
      }
      const std::size_t before = received.size();
      received.resize(before + queue.front().size() / sizeof(LabelMessage));
      if (!queue.front().empty())
        std::memcpy(received.data() + before, queue.front().data(), queue.front().size());
      queue.pop_front();
    }
    const auto reduction = transport_.allreduce(tributary::ReduceOp::Or, {sent > 0});
    while (!reduction.done()) {
      turn();
      if (!reduction.done()) transport_.relax(0);
    }
    more = reduction.result()[0] != 0;
  }
  std::vector<std::vector<SetName>> roots(1);
  roots[0].resize(std::size_t(sets_[0]));
  blocks[0].labels.writeRoots(roots[0]);
  seconds = transport_.now() - begin;
  setRoots(roots);
  return rounds;
}

Row problemRow(const std::string& name, const ComponentProblem& problem,
               const Assignment& assignment) {
  return {{"problem", name},
          {"ranks", assignment.ranks()},
          {"blocks/rank", assignment.count(0)},
          {"elements", problem.elements},
          {"regions", problem.regions},
          {"linked sets", problem.linked}};
}

void check(const std::string& name, const ComponentProblem& problem, std::int64_t regions,
           std::uint64_t hash, std::uint64_t& expected) {
  if (regions != problem.regions)
    throw tributary::Error(name + " found " + std::to_string(regions) + " of " +
                           std::to_string(problem.regions) + " regions");
  if (expected == 0) expected = hash;
  if (hash != expected)
    throw tributary::Error(name + ": regions differ from those of the first variant");
}

Row measureRow(Transport& transport, const std::string& name, int perRank,
               const ComponentsOptions& options) {
  const Assignment assignment(std::vector<std::int64_t>(std::size_t(transport.size()), perRank));
  const ComponentProblem problem = makeComponentProblem(name, options.size, assignment);
  RankUnions unions(problem, assignment, transport);
  InterleavedComparison comparison(transport, options.variants);
  for (const Way& way : ways()) {
    comparison.add({way.name, [&](tributary::ExchangeStatistics& statistics) {
                      double seconds = 0;
                      for (int i = 0; i < options.unions; ++i) {
                        statistics = unions.run(way, options.detector).statistics;
                        seconds += unions.seconds;
                      }
                      return seconds / options.unions;
                    }});
  }
#ifdef TRIBUTARY_BENCH_WITH_DIY
  const LabelWork work(problem, assignment);
  const auto addDiy = [&](const std::string& diyName, auto&& exchange) {
    comparison.add({diyName,
                    [&, exchange](tributary::ExchangeStatistics&) {
                      double seconds = 0;
                      for (int i = 0; i < options.unions; ++i) {
                        const double begin = transport.now();
                        std::vector<LabelBlock> blocks = work.blocksOf(transport.rank());
                        seconds += transport.now() - begin;
                        seconds += exchange(blocks);
                        const double ended = transport.now();
                        std::vector<std::vector<SetName>> roots;
                        for (LabelBlock& block : blocks)
                          block.labels.writeRoots(
                              roots.emplace_back(std::size_t(problem.sets[std::size_t(block.id)])));
                        seconds += transport.now() - ended;
                        unions.setRoots(roots);
                      }
                      return seconds / options.unions;
                    },
                    false});
  };
  addDiy("DIY exchange", [&](auto& blocks) { return runDiyExchange(work, assignment, blocks); });
  addDiy("DIY iexchange",
         [&](auto& blocks) { return runDiyIexchange(work, assignment, blocks, options.diy); });
#endif
  std::uint64_t expected = 0;
  comparison.run(
      options.repeat, [] {},
      [&](const std::string& variant) {
        const auto regions =
            tributary::allreduce(transport, tributary::ReduceOp::Sum, unions.outcome.regions);
        check(variant, problem, regions, sumOfHashes(transport, unions.outcome.hash), expected);
      });
  Row row = problemRow(name, problem, assignment);
  for (const Variant& variant : comparison.variants())
    row[variant.name + " ms"] = comparison.seconds(variant.name) * 1e3;
  row["Labels Sync / Tree Async"] =
      comparison.seconds("Labels Sync") / comparison.seconds("Tree Async");
  comparison.addDetails(row);
  return row;
}

Row simulateRow(int ranks, const std::string& name, int perRank, const ComponentsOptions& options) {
  const Assignment assignment(std::vector<std::int64_t>(std::size_t(ranks), perRank));
  const ComponentProblem problem = makeComponentProblem(name, options.size, assignment);
  Row row = problemRow(name, problem, assignment);
  std::uint64_t expected = 0;
  tributary::VirtualTimeNetworkOptions network;
  Costs costs{options.turnSeconds, 0};
  if (options.machine) {
    network = options.machine->network;
    costs = {options.machine->turnSeconds, options.machine->linkSeconds};
  } else {
    network.ranksPerNode = options.ranksPerNode;
    network.noise = options.noise;
  }
  network.ranks = ranks;
  // Calls unite(RankUnions&) on each rank; checks the result and adds the time of the slowest rank.
  const auto simulate = [&](const std::string& variant, const auto& unite) {
    double seconds = 0;
    Outcome outcome;
    tributary::makeVirtualTimeNetwork(network)->run([&](Transport& transport) {
      RankUnions unions(problem, assignment, transport);
      unite(unions);
      seconds = std::max(seconds, unions.seconds);
      outcome.regions += unions.outcome.regions;
      outcome.hash += unions.outcome.hash;
    });
    check(variant, problem, outcome.regions, outcome.hash, expected);
    row[variant + " ms"] = seconds * 1e3;
  };
  if (std::find(options.variants.begin(), options.variants.end(), Dense) !=
      options.variants.end()) {
    if (perRank != 1) throw tributary::Error(Dense + " needs one block per rank");
    const LabelWork work(problem, assignment);
    std::int64_t rounds = 0;
    simulate(Dense, [&](RankUnions& unions) {
      rounds = std::max(rounds, unions.runDense(problem, work, costs));
    });
    row[Dense + " rounds"] = rounds;
  }
  for (const Way& way : ways()) {
    if (!options.variants.empty() && std::find(options.variants.begin(), options.variants.end(),
                                               way.name) == options.variants.end())
      continue;
    std::int64_t messages = 0, rounds = 0;
    simulate(way.name, [&](RankUnions& unions) {
      const auto result = unions.run(way, options.detector, costs);
      messages += result.statistics.messages;
      rounds = std::max(rounds, result.statistics.rounds);
    });
    row[way.name + " messages"] = messages;
    if (way.schedule == Schedule::Synchronous) row[way.name + " rounds"] = rounds;
  }
  return row;
}

}  // namespace

void measureComponents(const ComponentsOptions& options) {
  const auto world = tributary::makeMpiTransport(MPI_COMM_WORLD);
  const bool speaks = world->rank() == 0;
  if (!options.simulate.empty() && world->size() > 1)
    throw tributary::Error("--simulate runs in one process: run it on one rank");
  if (options.machine && options.simulate.empty())
    throw tributary::Error("--machine has no effect on measured times: give --simulate");
  Row settings{{"repetitions", options.repeat},
               {"successive unions", options.unions},
               {"detector", options.detector}};
  std::string title = "Distributed union-find (medians)";
  if (options.machine) {
    settings["machine"] = machineRow(*options.machine);
    title = "Distributed union-find, simulated: times of messages and computation by the machine";
  } else if (!options.simulate.empty()) {
    settings["turn seconds"] = options.turnSeconds;
    settings["noise"] = options.noise;
    title =
        "Distributed union-find, simulated: times of messages by the network model, of computation "
        "by --turn-seconds";
  }
  Report report(title, settings);
  const auto& problems = options.problems.empty() ? componentProblems() : options.problems;
  const std::vector<int> sizes =
      options.simulate.empty() ? std::vector<int>{world->size()} : options.simulate;
  for (const std::string& problem : problems)
    for (const int ranks : sizes)
      for (const int perRank : options.blocksPerRank) {
        if (speaks)
          std::cerr << "measuring " << problem << ", " << ranks << " ranks, " << perRank
                    << " blocks each ..." << std::endl;
        report.add(options.simulate.empty() ? measureRow(*world, problem, perRank, options)
                                            : simulateRow(ranks, problem, perRank, options));
      }
  if (speaks) report.publish(options.json);
}

}  // namespace bench
