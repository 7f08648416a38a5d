// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "Tributary/Collective/Agree.h"
#include "Tributary/Reduction/Broadcast.h"
#include "Tributary/Reduction/Merge.h"

namespace tributary {

/// The merged item of all blocks on every rank that has blocks: a full merge reduction and a
/// broadcast. For items of any type with a Serial; the operator need not commute, and the result
/// has the same bits for any number of ranks.
///
/// Can be run many times. Non-blocking with start() and advance(), on any transport.
template <class Item>
class AllReduce {
 public:
  using Combine = typename MergeReduction<Item>::Combine;

  /// Collective. Throws Error on all ranks if arguments are wrong or differ between ranks.
  /// @param k  groups that meet in a round of the merge
  AllReduce(Transport& transport, const Assignment& assignment, Combine combine, int k = DefaultK,
            ParallelFor parallelFor = serialFor)
      : transport_(transport),
        merge_(transport, assignment, fullOrRefused(assignment.total(), k), std::move(combine),
               std::move(parallelFor)),
        broadcast_(transport, assignment),
        hasBlocks_(assignment.total() > 0),
        isRoot_(hasBlocks_ && assignment.rankOf(0) == transport.rank()) {}

  /// Begins with an item for each local block, in order. Collective, without communication.
  void start(std::vector<Item> items) {
    // First what must be in step on all ranks: the items may be wrong here.
    merge_.open();
    if (hasBlocks_) broadcast_.open();
    merge_.start(std::move(items));
    merged_ = false;
    if (hasBlocks_) broadcast_.start(0);
  }
  /// One non-blocking turn. @return whether this rank has nothing more to do
  bool advance() {
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
  bool busy() const { return merge_.busy() || broadcast_.busy(); }
  /// Nothing on a rank without blocks. @pre ended
  const std::optional<Item>& item() const { return broadcast_.item(); }
  /// What went wrong on this rank since start(), or "".
  const std::string& error() const {
    return merge_.error().empty() ? broadcast_.error() : merge_.error();
  }

  /// All of it. Collective; throws Error on all ranks if an operator threw. @return item()
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
