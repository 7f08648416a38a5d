// SPDX-License-Identifier: BSD-3-Clause
#include "Exchange/Walks.h"

#include <mpi.h>

#include <algorithm>
#include <cstring>
#include <iostream>
#include <numeric>

#include "Support/InterleavedComparison.h"
#include "Support/RandomWalks.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Transport/Mpi.h"

namespace bench {

WalksOptions::WalksOptions() {
  const tributary::ExchangeOptions defaults;
  detector = defaults.detector;
  batchBytes = defaults.batchBytes;
  holdTime = defaults.holdTime;
}

namespace {

using tributary::Schedule;

/// One row: all variants with as many blocks and walkers.
Row measureRow(tributary::Transport& transport, int perRank, int walkers,
               const WalksOptions& options) {
  const tributary::Assignment assignment(
      std::vector<std::int64_t>(static_cast<std::size_t>(transport.size()), perRank));
  const RandomWalks walks(assignment.total(), walkers, std::max(1, options.hops / walkers));
  const BlockId first = assignment.first(transport.rank());
  std::vector<WalkBlock> blocks(static_cast<std::size_t>(perRank));
  std::vector<std::vector<BlockId>> links(blocks.size());
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    blocks[i].id = first + static_cast<BlockId>(i);
    links[i].resize(static_cast<std::size_t>(assignment.total()));
    std::iota(links[i].begin(), links[i].end(), 0);
  }

  const auto step = [&](BlockId id, tributary::Mailbox& mailbox) {
    walks.step(
        blocks[static_cast<std::size_t>(id - first)],
        [&](Walker& walker) {
          const auto message = mailbox.dequeueView();
          if (!message) return false;
          std::memcpy(&walker, message->payload.data(), sizeof walker);
          return true;
        },
        [&](BlockId target, const Walker& walker) { mailbox.enqueue(target, walker); });
    return false;
  };
  InterleavedComparison comparison(transport, options.variants);
  const auto addOurs = [&](const std::string& name, Schedule schedule) {
    tributary::ExchangeOptions exchangeOptions;
    exchangeOptions.schedule = schedule;
    exchangeOptions.detector = options.detector;
    exchangeOptions.batchBytes = options.batchBytes;
    exchangeOptions.holdTime = options.holdTime;
    comparison.add({name, [&, exchangeOptions](tributary::ExchangeStatistics& statistics) {
                      return timeExchange(transport, assignment, links, exchangeOptions, step,
                                          statistics);
                    }});
  };
  addOurs("Synchronous", Schedule::Synchronous);
  addOurs("Neighborhood", Schedule::Neighborhood);
  addOurs("Asynchronous", Schedule::Asynchronous);
#ifdef TRIBUTARY_BENCH_WITH_DIY
  comparison.add(
      {"DIY exchange",
       [&](tributary::ExchangeStatistics&) { return runDiyExchange(walks, assignment, blocks); },
       false});
  comparison.add({"DIY iexchange",
                  [&](tributary::ExchangeStatistics&) {
                    return runDiyIexchange(walks, assignment, blocks, options.diy);
                  },
                  false});
#endif

  std::uint64_t expected = 0;
  bool known = false;
  comparison.run(
      options.repeat,
      [&] {
        for (WalkBlock& block : blocks) walks.seed(block);
      },
      [&](const std::string& name) {
        std::int64_t hops = 0, ended = 0;
        std::uint64_t hash = 0;
        for (const WalkBlock& block : blocks) {
          hops += block.hops;
          ended += block.ended;
          hash += block.hash;
        }
        const auto sums = tributary::allreduce(transport, tributary::ReduceOp::Sum,
                                               std::vector<std::int64_t>{hops, ended});
        hash = sumOfHashes(transport, hash);
        if (sums[0] != walks.hops() || sums[1] != walks.walkers())
          throw tributary::Error(name + " made " + std::to_string(sums[0]) + " of " +
                                 std::to_string(walks.hops()) + " hops and ended " +
                                 std::to_string(sums[1]) + " of " +
                                 std::to_string(walks.walkers()) + " walks");
        if (!known) expected = hash;
        known = true;
        if (hash != expected) throw tributary::Error(name + " walked other ways than the first");
      });

  Row row{{"ranks", transport.size()},
          {"blocks/rank", perRank},
          {"walkers", walkers},
          {"Mmessages", static_cast<double>(walks.hops()) * 1e-6}};
  for (const Variant& variant : comparison.variants())
    row[variant.name + " M/s"] =
        static_cast<double>(walks.hops()) * 1e-6 / comparison.seconds(variant.name);
#ifdef TRIBUTARY_BENCH_WITH_DIY
  row["Sync/exchange"] = comparison.seconds("DIY exchange") / comparison.seconds("Synchronous");
  row["Async/iexchange"] = comparison.seconds("DIY iexchange") / comparison.seconds("Asynchronous");
#endif
  comparison.addDetails(row);
  return row;
}

}  // namespace

void measureWalks(const WalksOptions& options) {
  const auto transport = tributary::makeMpiTransport(MPI_COMM_WORLD);
  const bool speaks = transport->rank() == 0;
  Report report("Random walks, a message of 64 bytes a hop (medians, million messages a second)",
                {{"ranks", transport->size()},
                 {"repetitions", options.repeat},
                 {"detector", options.detector},
                 {"batch bytes", options.batchBytes},
                 {"hold seconds", options.holdTime},
                 {"DIY queue bytes", options.diy.minimumQueueBytes},
                 {"DIY hold ms", options.diy.holdMilliseconds},
                 {"DIY fine", options.diy.fine}});
  for (const int perRank : options.blocksPerRank)
    for (const int walkers : options.walkers) {
      if (speaks)
        std::cerr << "measuring " << transport->size() << " ranks, " << perRank << " blocks each, "
                  << walkers << " walkers ..." << std::endl;
      report.add(measureRow(*transport, perRank, walkers, options));
    }
  if (speaks) {
    report.print(std::cout);
    if (!options.json.empty()) report.save(options.json);
  }
}

}  // namespace bench
