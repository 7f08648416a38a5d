// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Exchange/detail/ExchangeArguments.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"

namespace tributary::detail {

namespace {

std::string argumentError(const Transport& transport, const Assignment& assignment,
                          const std::vector<std::vector<BlockId>>& links,
                          const ExchangeOptions& options, const Step& step) {
  if (!step) return "exchange: there is no callback";
  if (assignment.ranks() != transport.size()) {
    return "exchange: the assignment is for " + std::to_string(assignment.ranks()) +
           " ranks, the transport has " + std::to_string(transport.size());
  }
  const auto count = static_cast<std::size_t>(assignment.count(transport.rank()));
  if (links.size() != count) {
    return "exchange: links of " + std::to_string(links.size()) + " blocks given for " +
           std::to_string(count) + " local blocks";
  }
  for (const auto& blocks : links) {
    for (const BlockId block : blocks) {
      if (!assignment.exists(block)) {
        return "exchange: a link leads to block " + std::to_string(block) +
               ", but blocks are numbered from 0 to " + std::to_string(assignment.total() - 1);
      }
    }
  }
  if (!(options.arrivals >= 0 && options.arrivals <= 1)) {
    return "exchange: arrivals is " + std::to_string(options.arrivals) +
           ", but must be between 0 and 1";
  }
  if (options.batchBytes == 0) return "exchange: batchBytes must be at least 1";
  if (!(options.holdSeconds >= 0)) return "exchange: holdSeconds must not be negative";
  if (!(options.stallSeconds >= 0)) return "exchange: stallSeconds must not be negative";
  DetectorOptions detection = options.detection;
  // Ranks that were passive send remarks on rounds.
  if (options.schedule == Schedule::Neighborhood) detection.work = WorkModel::AP;
  try {
    checkDetector(options.detector, detection);
  } catch (const Error& error) {
    return std::string("exchange: ") + error.what();
  }
  return {};
}

/// Throws on all ranks if an argument is wrong on one, or if schedules or detectors differ, under
/// which ranks would wait for each other for ever. One reduction, as an exchange may be short.
void agreeOnArguments(Transport& transport, const std::string& error,
                      const ExchangeOptions& options) {
  std::string detector;
  std::vector<std::int64_t> mine(5, 0);
  if (error.empty()) {
    detector = checkDetector(options.detector, options.detection).name;
    std::int64_t hash = 0;
    for (const char letter : detector) hash = hash * 31 % 1000003 + letter;
    mine = {static_cast<std::int64_t>(options.schedule), hash, options.detection.arity,
            options.detection.controlLevel, options.detection.initiators};
  }
  // The largest is the least negated.
  for (std::size_t i = 0; i < 5; ++i) mine.push_back(-mine[i]);
  mine.push_back(error.empty() ? 0 : -1);
  const auto least = allreduce(transport, ReduceOp::Min, mine);
  if (least.back() < 0) agreeOnError(transport, error);
  if (std::equal(least.begin(), least.begin() + 5, least.begin() + 5,
                 [](std::int64_t low, std::int64_t high) { return low == -high; })) {
    return;
  }
  throw Error(
      "exchange: ranks were given different schedules, detectors or detectors' parameters; this "
      "rank has the detector '" +
      detector + "' (does TRIBUTARY_DETECTOR differ among ranks?)");
}

}  // namespace

void checkExchangeArguments(Transport& transport, const Assignment& assignment,
                            const std::vector<std::vector<BlockId>>& links,
                            const ExchangeOptions& options, const Step& step) {
  agreeOnArguments(transport, argumentError(transport, assignment, links, options, step), options);
}

}  // namespace tributary::detail
