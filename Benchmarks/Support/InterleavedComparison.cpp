// SPDX-License-Identifier: BSD-3-Clause
#include "Support/InterleavedComparison.h"

#include <algorithm>
#include <cmath>

#include "Tributary/Collective/Collectives.h"

namespace bench {

namespace {

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

}  // namespace

void InterleavedComparison::add(Variant variant) {
  if (wanted_.empty() || std::find(wanted_.begin(), wanted_.end(), variant.name) != wanted_.end())
    variants_.push_back(std::move(variant));
}

void InterleavedComparison::run(int repeat, const std::function<void()>& prepare,
                                const std::function<void(const std::string&)>& check) {
  for (int r = 0; r < repeat; ++r)
    for (std::size_t i = 0; i < variants_.size(); ++i) {
      Variant& variant = variants_[r % 2 ? variants_.size() - 1 - i : i];
      prepare();
      const double mine = variant.run(variant.statistics);
      variant.seconds.push_back(tributary::allreduce(transport_, tributary::ReduceOp::Max, mine));
      check(variant.name);
    }
}

double InterleavedComparison::seconds(const std::string& name) const {
  for (const Variant& variant : variants_)
    if (variant.name == name) return median(variant.seconds);
  return std::nan("");
}

void InterleavedComparison::addDetails(Row& row) const {
  Row times, counters;
  for (const Variant& variant : variants_) {
    times[variant.name] = variant.seconds;
    if (variant.ours)
      counters[variant.name] = toJson(tributary::reduceStatistics(transport_, variant.statistics));
  }
  row["seconds"] = times;
  row["statistics"] = counters;
}

double timeExchange(tributary::Transport& transport, const tributary::Assignment& assignment,
                    const std::vector<std::vector<tributary::BlockId>>& links,
                    const tributary::ExchangeOptions& options, const tributary::Step& step,
                    tributary::ExchangeStatistics& statistics) {
  tributary::barrier(transport);
  const double begin = transport.now();
  tributary::Exchange exchange(transport, assignment, links, options, step);
  exchange.run();
  const double seconds = transport.now() - begin;
  statistics = exchange.statistics();
  return seconds;
}

std::uint64_t sumOfHashes(tributary::Transport& transport, std::uint64_t mine) {
  // In halves: the sum of signed numbers must not overflow.
  const auto halves = tributary::allreduce(
      transport, tributary::ReduceOp::Sum,
      std::vector<std::int64_t>{static_cast<std::int64_t>(mine >> 32),
                                static_cast<std::int64_t>(mine & 0xffffffffu)});
  return (static_cast<std::uint64_t>(halves[0]) << 32) + static_cast<std::uint64_t>(halves[1]);
}

}  // namespace bench
