// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Exchange/detail/ExchangeArguments.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "Tributary/Base/Error.h"
#include "Tributary/Base/NumberText.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"

namespace tributary::detail {

namespace {

std::string argumentError(const Transport& transport, const Assignment& assignment,
                          const std::vector<std::vector<BlockId>>& links,
                          const ExchangeOptions& options, const Step& step) {
  if (!step) return "exchange: no callback is given; set the argument step";
  if (assignment.ranks() != transport.size()) {
    return "exchange: the assignment is for " + std::to_string(assignment.ranks()) +
           " ranks, but the transport has " + std::to_string(transport.size()) +
           "; use an assignment to the ranks of the transport";
  }
  const auto count = static_cast<std::size_t>(assignment.count(transport.rank()));
  if (links.size() != count) {
    return "exchange: links are given for " + std::to_string(links.size()) +
           " blocks, but this rank has " + std::to_string(count) +
           " blocks; give one list of links per local block";
  }
  for (const auto& blocks : links) {
    for (const BlockId block : blocks) {
      if (!assignment.exists(block)) {
        return "exchange: a link leads to block " + std::to_string(block) +
               ", which is not in [0, " + std::to_string(assignment.total() - 1) +
               "]; give one of these blocks";
      }
    }
  }
  if (!(options.arrivals >= 0 && options.arrivals <= 1)) {
    return "exchange: arrivals is " + std::to_string(options.arrivals) + ", but must be in [0, 1]";
  }
  if (options.batchBytes == 0) return "exchange: batchBytes must be at least 1";
  if (!(options.holdTime >= 0))
    return "exchange: holdTime is " + numberText(options.holdTime) +
           " microseconds; give at least 0";
  if (!(options.stallTimeout >= 0))
    return "exchange: stallTimeout is " + numberText(options.stallTimeout) +
           " seconds; give a positive time, or 0 for no limit";
  DetectorOptions detection = options.detection;
  // A passive rank may send messages that announce rounds.
  if (options.schedule == Schedule::Neighborhood) detection.work = WorkModel::AP;
  try {
    checkDetector(options.detector, detection);
  } catch (const Error& error) {
    return std::string("exchange: ") + error.what();
  }
  return {};
}

/// Throws on all ranks if an argument is invalid on any rank. Also if schedules or detectors
/// differ, because ranks would then wait for each other forever.
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
  ErrorCollector errors;
  if (!error.empty()) errors.note(error);
  if (sameOnAllRanks(transport, std::move(mine), errors)) return;
  throw Error(
      "exchange: the schedule, the detector or its parameters differ among ranks; the detector of "
      "this rank is '" +
      detector + "'. Set the same options and the same TRIBUTARY_DETECTOR on all ranks.");
}

}  // namespace

void checkExchangeArguments(Transport& transport, const Assignment& assignment,
                            const std::vector<std::vector<BlockId>>& links,
                            const ExchangeOptions& options, const Step& step) {
  agreeOnArguments(transport, argumentError(transport, assignment, links, options, step), options);
}

}  // namespace tributary::detail
