// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "Tributary/Collective/Agree.h"
#include "Tributary/Reduction/Broadcast.h"
#include "Tributary/Reduction/Merge.h"

namespace tributary {

/// All-reduce of the items of all blocks: a full merge reduction, and a broadcast to all ranks that
/// have blocks. Items can have any type with a Serial. The operator need not be commutative, and
/// the result has the same bits for any number of ranks.
///
/// Can run any number of times. Non-blocking with start() and advance().
template <class Item>
class AllReduce {
 public:
  /// See MergeReduction::Combine.
  using Combine = typename MergeReduction<Item>::Combine;

  /// Collective. Throws Error on all ranks if arguments are invalid or differ between ranks.
  /// @param transport  must outlive the reduction
  /// @param k  number of groups that meet in a round of the merge, at least 2. Default: DefaultK.
  /// @param parallelFor  see MergeReduction
  AllReduce(Transport& transport, const Assignment& assignment, Combine combine, int k = DefaultK,
            ParallelFor parallelFor = serialFor)
      : transport_(transport),
        merge_(transport, assignment, fullOrRefused(assignment.total(), k), std::move(combine),
               std::move(parallelFor)),
        broadcast_(transport, assignment),
        hasBlocks_(assignment.total() > 0),
        isRoot_(hasBlocks_ && assignment.rankOf(0) == transport.rank()) {}

  /// Starts a run. Collective, without communication.
  /// @param items  one for each local block, in order
  void start(std::vector<Item> items) {
    // Sessions first, because they must be in step on all ranks: start() may throw.
    merge_.open();
    if (hasBlocks_) broadcast_.open();
    merge_.start(std::move(items));
    merged_ = false;
    if (hasBlocks_) broadcast_.start(0);
  }
  /// Performs one non-blocking turn. @return whether this rank has ended
  [[nodiscard]] bool advance() {
    if (!merged_ && merge_.advance()) {
      merged_ = true;
      auto survivors = merge_.takeSurvivors();
      if (!survivors.empty()) {
        broadcast_.give(std::move(survivors.front().item));
      } else if (isRoot_) {
        broadcast_.giveNothing();
      }
    }
    return broadcast_.advance() && merged_;
  }
  /// See ReductionMachine::busy().
  [[nodiscard]] bool busy() const { return merge_.busy() || broadcast_.busy(); }
  /// The merged item; nothing if this rank has no blocks. @pre this rank has ended
  [[nodiscard]] const std::optional<Item>& item() const { return broadcast_.item(); }
  /// The first error on this rank since start(), or "".
  [[nodiscard]] const std::string& error() const {
    return merge_.error().empty() ? broadcast_.error() : merge_.error();
  }

  /// Starts a run and advances it to the end. Collective. Throws Error on all ranks if an operator
  /// throws on one. @return item()
  const std::optional<Item>& run(std::vector<Item> items) {
    agreeOnError(transport_, merge_.itemsError(items.size()));
    start(std::move(items));
    detail::advanceToEnd(transport_, *this);
    agreeOnError(transport_, error());
    return item();
  }

 private:
  Transport& transport_;
  MergeReduction<Item> merge_;
  Broadcast<Item> broadcast_;
  bool hasBlocks_;
  bool isRoot_;  // block 0 is here
  bool merged_ = false;
};

}  // namespace tributary
