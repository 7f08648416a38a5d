// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "Tributary/Collective/Assignment.h"
#include "Tributary/Components/SetLinks.h"
#include "Tributary/Exchange/Exchange.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

enum class UnionMethod {
  /// Labels of boundary sets travel to neighboring blocks until nothing changes: Algorithm 8 of
  /// Morozov, Peterka, Guo, Raj, Xu, Shen, "IExchange: Asynchronous Communication and Termination
  /// Detection for Iterative Algorithms", LDAV 2021. In as many steps as a region is wide, in
  /// blocks.
  LabelPropagation,
  /// A forest over all ranks in which every set points to a lower one: unions travel to the owner
  /// of the larger root, and who points to a remote set is told of that one's parent, so that paths
  /// halve. In as many steps as the logarithm of a path's length.
  TreeUnion
};

class UnionTuner;

struct UnionOptions {
  UnionMethod method = UnionMethod::TreeUnion;
  ExchangeOptions exchange;
  /// Called between turns; return false to abort on all ranks. May be empty.
  std::function<bool()> monitor;
  /// Chooses batchBytes and holdTime of the exchange, if there is one: on all ranks or on none.
  UnionTuner* tuner = nullptr;
};

struct UnionResult {
  /// For each block of this rank and each of its sets, the least set of its region. Not meant to be
  /// used after an abort.
  std::vector<std::vector<SetName>> root;
  bool aborted = false;
  ExchangeStatistics statistics;
};

/// Unites sets of different blocks that are linked, directly or by others: distributed union-find.
/// Collective. The result does not depend on the method, the schedule, the detector, the ranks or
/// the timing of messages. Sets without links cost neither messages nor time. Memory follows a
/// rank's own sets and links, and of the regions that reach its blocks the number of ranks that
/// they reach.
///
/// Throws Error on all ranks if arguments are wrong on one, if a message is malformed, and for what
/// Exchange throws.
/// @param setsOfBlock  for each block of this rank, the number of its sets
/// @param links  of each block of this rank, in any order, repeated or not; a link between two
///               blocks must be given on both sides
UnionResult uniteSets(Transport& transport, const Assignment& assignment,
                      const std::vector<std::int64_t>& setsOfBlock,
                      const std::vector<std::vector<SetLink>>& links, const UnionOptions& options);

}  // namespace tributary
