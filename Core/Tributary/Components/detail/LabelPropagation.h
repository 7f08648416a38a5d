// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "Tributary/Collective/Assignment.h"
#include "Tributary/Components/SetLinks.h"
#include "Tributary/Components/detail/SetForest.h"

namespace tributary::detail {

/// The new label of a set: the least set that is known to be in its region. Sent to the blocks that
/// have a link with the set.
struct SetLabel {
  std::int64_t set;  ///< number in the sender
  SetName label;
};

/// Throws Error unless `lower` can be a set that `name` was told to be united with.
void checkLower(const Assignment& assignment, const SetName& name, const SetName& lower);

/// Algorithm 8 (D. Morozov et al., "IExchange: Asynchronous Communication and Termination Detection
/// for Iterative Algorithms", LDAV 2021, doi:10.1109/LDAV53230.2021.00009, Section 4.2) for one
/// block, without the exchange of messages. Its forest holds its own sets, those of others that
/// they are linked with, and the labels that it was told of, so that two sets that get the same
/// label are united here; the label of a set is its root.
class LabelPropagation {
 public:
  LabelPropagation(BlockId block, std::int64_t sets, const std::vector<SetLink>& links);

  /// Takes in the label of a set of block `from`. Throws Error if it cannot be right.
  void receive(const Assignment& assignment, BlockId from, const SetLabel& label);
  /// Calls `send(BlockId, SetLabel)` for all labels that have changed since the last call.
  template <class Send>
  void sendChanged(Send&& send) {
    for (const Node node : changed_) {
      waiting_[node] = false;
      const SetLabel label{forest_.name(node).set, forest_.name(forest_.find(node))};
      for (std::size_t i = begin_[node]; i < begin_[node + 1]; ++i) send(neighbors_[i], label);
    }
    changed_.clear();
  }
  /// Writes the root of each set. Needs no memory.
  void writeRoots(std::vector<SetName>& result) { forest_.writeRoots({&result, 1}); }

 private:
  using Node = SetForest::Node;
  static constexpr Node None = SetForest::None;

  void unite(Node a, Node b);

  SetForest forest_;
  // The own sets of a tree are a ring.
  std::vector<Node> next_;    // by own set
  std::vector<Node> member_;  // by root: one of its ring, or None
  std::vector<Node> changed_;
  std::vector<bool> waiting_;  // in `changed_`
  // Whom to tell of an own set's label.
  std::vector<std::size_t> begin_;
  std::vector<BlockId> neighbors_;
};

}  // namespace tributary::detail
