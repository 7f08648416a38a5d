// SPDX-License-Identifier: BSD-3-Clause
#include "Exchange/Walks.h"

#include <mpi.h>

#include <algorithm>
#include <cstring>
#include <iostream>
#include <numeric>
#include <optional>

#include "Support/RandomWalks.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Transport/Mpi.h"

namespace bench {

namespace {

/// One row: all variants with the same numbers of blocks and walkers.
class WalkComparison {
 public:
  WalkComparison(tributary::Transport& transport, int perRank, int walkers,
                 const WalksOptions& options)
      : transport_(transport),
        options_(options),
        perRank_(perRank),
        assignment_(std::vector<std::int64_t>(tributary::index(transport.size()), perRank)),
        walks_(assignment_.total(), walkers, std::max(1, options.hops / walkers)),
        blocks_(tributary::index(perRank)),
        links_(blocks_.size()),
        comparison_(transport, options.variants) {
    const BlockId first = assignment_.first(transport.rank());
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      blocks_[i].id = first + static_cast<BlockId>(i);
      links_[i].resize(tributary::index(assignment_.total()));
      std::iota(links_[i].begin(), links_[i].end(), 0);
    }
    addSchedules(comparison_, options.exchange,
                 [this, first](const tributary::ExchangeOptions& exchange,
                               tributary::ExchangeStatistics& statistics) {
                   return timeExchange(
                       transport_, assignment_, links_, exchange,
                       [this, first](BlockId id, tributary::Mailbox& mailbox) {
                         return step(blocks_[tributary::index(id - first)], mailbox);
                       },
                       statistics);
                 });
#ifdef TRIBUTARY_BENCH_WITH_DIY
    addDiy(comparison_, walks_, assignment_, blocks_, options.diy);
#endif
  }

  Row run() {
    comparison_.run(
        options_.repeat,
        [this] {
          for (WalkBlock& block : blocks_) walks_.seed(block);
        },
        [this](const std::string& name) { check(name); });
    return row();
  }

 private:
  bool step(WalkBlock& block, tributary::Mailbox& mailbox) const {
    walks_.step(
        block,
        [&](Walker& walker) {
          const auto message = mailbox.dequeueView();
          if (!message) return false;
          std::memcpy(&walker, message->payload.data(), sizeof walker);
          return true;
        },
        [&](BlockId target, const Walker& walker) { mailbox.enqueue(target, walker); });
    return false;
  }

  void check(const std::string& name) {
    std::int64_t hops = 0, ended = 0;
    std::uint64_t hash = 0;
    for (const WalkBlock& block : blocks_) {
      hops += block.hops;
      ended += block.ended;
      hash += block.hash;
    }
    const auto sums = tributary::allreduce(transport_, tributary::ReduceOp::Sum,
                                           std::vector<std::int64_t>{hops, ended});
    hash = sumOfHashes(transport_, hash);
    if (sums[0] != walks_.hops() || sums[1] != walks_.walkers())
      throw tributary::Error(name + ": " + std::to_string(sums[0]) + " of " +
                             std::to_string(walks_.hops()) + " hops made and " +
                             std::to_string(sums[1]) + " of " + std::to_string(walks_.walkers()) +
                             " walks ended");
    if (!hash_) hash_ = hash;
    if (hash != *hash_) throw tributary::Error(name + ": walks differ from the first variant's");
  }

  Row row() {
    const double millions = static_cast<double>(walks_.hops()) * 1e-6;
    Row row{{"ranks", transport_.size()},
            {"blocks/rank", perRank_},
            {"walkers", walks_.walkers()},
            {"Mmessages", millions}};
    for (const Variant& variant : comparison_.variants())
      row[variant.name + " M/s"] = millions / comparison_.seconds(variant.name);
#ifdef TRIBUTARY_BENCH_WITH_DIY
    row["Sync/exchange"] = comparison_.seconds("DIY exchange") / comparison_.seconds("Synchronous");
    row["Async/iexchange"] =
        comparison_.seconds("DIY iexchange") / comparison_.seconds("Asynchronous");
#endif
    comparison_.addDetails(row);
    return row;
  }

  tributary::Transport& transport_;
  const WalksOptions& options_;
  int perRank_;
  tributary::Assignment assignment_;
  RandomWalks walks_;
  std::vector<WalkBlock> blocks_;
  std::vector<std::vector<BlockId>> links_;
  InterleavedComparison comparison_;
  std::optional<std::uint64_t> hash_;  // of the first variant
};

}  // namespace

void measureWalks(const WalksOptions& options) {
  const auto transport = tributary::makeMpiTransport(MPI_COMM_WORLD);
  const bool speaks = transport->rank() == 0;
  Row settings{{"ranks", transport->size()}};
  addSettings(settings, options);
  Report report("Random walks, one 64-byte message per hop (median million messages per second)",
                settings);
  for (const int perRank : options.blocksPerRank)
    for (const int walkers : options.walkers) {
      if (speaks)
        std::cerr << "measuring " << transport->size() << " ranks, " << perRank << " blocks each, "
                  << walkers << " walkers ..." << std::endl;
      report.add(WalkComparison(*transport, perRank, walkers, options).run());
    }
  if (speaks) report.publish(options.json);
}

}  // namespace bench
