// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Components/detail/LabelPropagation.h"

#include <algorithm>
#include <utility>

#include "Tributary/Base/Error.h"
#include "Tributary/Base/Span.h"

namespace tributary::detail {

void checkLower(const Assignment& assignment, const SetName& name, const SetName& lower) {
  if (assignment.exists(lower.block) && lower.set >= 0 && lower < name) return;
  refuseMessage(textOf(name) + " is to be united with " + textOf(lower));
}

LabelPropagation::LabelPropagation(BlockId block, std::int64_t sets,
                                   const std::vector<SetLink>& links)
    : forest_(block, Span<const std::int64_t>(&sets, 1)) {
  forest_.reserve(links.size());
  // The block's own sets come first among the nodes.
  for (const SetLink& link : links) forest_.add({block, link.local});
  const std::size_t own = forest_.size();
  waiting_.assign(own, false);
  for (Node node = 0; node < own; ++node) next_.push_back(node);
  member_ = next_;
  std::vector<std::pair<Node, BlockId>> edges;
  for (const SetLink& link : links) {
    const Node node = forest_.add({block, link.local});
    if (link.block != block) edges.emplace_back(node, link.block);
    unite(node, forest_.add({link.block, link.remote}));
  }
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  begin_.assign(own + 1, 0);
  for (const auto& [node, to] : edges) {
    ++begin_[std::size_t(node) + 1];
    neighbors_.push_back(to);
  }
  for (std::size_t i = 0; i < own; ++i) begin_[i + 1] += begin_[i];
}

void LabelPropagation::receive(const Assignment& assignment, BlockId from, const SetLabel& label) {
  const SetName name{from, label.set};
  const Node node = forest_.lookUp(name);
  if (node == None) refuseMessage(textOf(name) + " has no link here");
  checkLower(assignment, name, label.label);
  unite(node, forest_.received(label.label));
}

void LabelPropagation::unite(Node a, Node b) {
  a = forest_.find(a);
  b = forest_.find(b);
  if (a == b) return;
  if (forest_.name(a) < forest_.name(b)) std::swap(a, b);
  member_.resize(forest_.size(), None);
  forest_.link(a, b);
  const Node first = member_[a];
  if (first == None) return;
  Node node = first;
  do {
    if (!waiting_[node]) changed_.push_back(node);
    waiting_[node] = true;
    node = next_[node];
  } while (node != first);
  if (member_[b] == None) {
    member_[b] = first;
  } else {
    std::swap(next_[first], next_[member_[b]]);
  }
}

}  // namespace tributary::detail
