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

/// How uniteSets() finds the least set of each region.
///
/// D. Morozov, T. Peterka, H. Guo, M. Raj, J. Xu, H.-W. Shen, "IExchange: Asynchronous
/// Communication and Termination Detection for Iterative Algorithms", LDAV 2021,
/// doi:10.1109/LDAV53230.2021.00009, Section 4.2, Algorithm 8 (LabelPropagation).
enum class UnionMethod {
  /// Labels of sets with links travel to neighboring blocks until no label changes. The number of
  /// steps is the width of a region, in blocks.
  LabelPropagation,
  /// A forest over all ranks in which each set points to a lower one. Unions travel to the owner of
  /// the larger root. The ranks that point to a remote set receive its parent, so that paths halve.
  /// The number of steps is the logarithm of the length of a path.
  TreeUnion
};

class UnionTuner;

/// The options of uniteSets(); the same on all ranks, except the monitor.
struct UnionOptions {
  UnionMethod method = UnionMethod::TreeUnion;
  ExchangeOptions exchange;
  /// Local. Called between turns; returns false to abort on all ranks. May be empty.
  std::function<bool()> monitor;
  /// If not null, chooses batchBytes and holdTime of the exchange. Null on all ranks or on none.
  UnionTuner* tuner = nullptr;
};

/// The result of uniteSets().
struct UnionResult {
  /// For each block of this rank and each of its sets, the least set of its region. Undefined after
  /// an abort.
  std::vector<std::vector<SetName>> root;
  bool aborted = false;
  ExchangeStatistics statistics;
};

/// Unites sets of different blocks that are linked, directly or through other sets: distributed
/// union-find. Collective. The result does not depend on the method, the schedule, the detector,
/// the ranks or the timing of messages. Sets without links cost neither messages nor time. Memory
/// is proportional to the sets and links of a rank, plus, for each region that reaches its blocks,
/// the number of ranks that the region reaches.
///
/// Throws Error on all ranks if the arguments of a rank are invalid, if a message is malformed, and
/// in the cases of Exchange.
/// @param setsOfBlock  for each block of this rank, the number of its sets
/// @param links  of each block of this rank, in any order, repeated or not; a link between two
///               blocks must be given on both sides
[[nodiscard]] UnionResult uniteSets(Transport& transport, const Assignment& assignment,
                                    const std::vector<std::int64_t>& setsOfBlock,
                                    const std::vector<std::vector<SetLink>>& links,
                                    const UnionOptions& options);

}  // namespace tributary
