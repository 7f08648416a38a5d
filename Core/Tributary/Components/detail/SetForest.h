// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "Tributary/Base/Error.h"
#include "Tributary/Base/Hash.h"
#include "Tributary/Base/Span.h"
#include "Tributary/Collective/Records.h"
#include "Tributary/Components/SetLinks.h"

namespace tributary::detail {

/// "set 3 of block 7", for people.
inline std::string textOf(const SetName& name) {
  return "set " + std::to_string(name.set) + " of block " + std::to_string(name.block);
}

/// The names that some blocks know, as nodes of a forest in which parents have lower names: what is
/// in one tree is in one region. Nodes are the blocks' own sets that have links, and sets of other
/// blocks as they become known.
class SetForest {
 public:
  using Node = std::uint32_t;
  static constexpr Node None = 0xffffffffu;

  SetForest(BlockId firstBlock, Span<const std::int64_t> setsOfBlock)
      : first_(firstBlock), nodeOfSet_(setsOfBlock.size()), slots_(16, None) {
    for (std::size_t b = 0; b < setsOfBlock.size(); ++b) {
      nodeOfSet_[b].assign(static_cast<std::size_t>(setsOfBlock[b]), None);
    }
  }

  /// Makes room for so many names, all of other blocks.
  void reserve(std::size_t count) {
    while (slots_.size() < 2 * (count + 1)) grow();
    names_.reserve(count);
    parent_.reserve(count);
  }

  bool owns(BlockId block) const { return offsetOf(block, first_) < nodeOfSet_.size(); }
  bool owns(Node node) const { return owns(names_[node].block); }
  const SetName& name(Node node) const { return names_[node]; }
  std::size_t size() const { return names_.size(); }

  /// @return None if there is none yet
  Node lookUp(const SetName& name) const {
    return owns(name.block) ? own(name) : slots_[slotOf(name)];
  }
  /// Makes one if there is none. @pre the blocks have such a set, if it is one of theirs
  Node add(const SetName& name) {
    if (owns(name.block)) {
      Node& node = nodeOfSet_[static_cast<std::size_t>(name.block - first_)]
                             [static_cast<std::size_t>(name.set)];
      if (node == None) node = append(name);
      return node;
    }
    if (slots_.size() < 2 * (foreign_ + 1)) grow();
    const std::size_t slot = slotOf(name);
    if (slots_[slot] == None) {
      slots_[slot] = append(name);
      ++foreign_;
    }
    return slots_[slot];
  }
  /// The node of a name in a message. Throws Error if it cannot be right.
  Node received(const SetName& name) {
    if (!owns(name.block)) return add(name);
    const Node node = own(name);
    if (node == None) refuseMessage(textOf(name) + " has no links");
    return node;
  }

  Node find(Node node) {
    while (parent_[node] != node) {
      parent_[node] = parent_[parent_[node]];
      node = parent_[node];
    }
    return node;
  }
  /// @param root, parent  roots, the first with the larger name
  void link(Node root, Node parent) { parent_[root] = parent; }

  /// Writes the root of each set of each block. Needs no memory.
  /// @param result  an element for each block, with one for each of its sets
  void writeRoots(Span<std::vector<SetName>> result) {
    for (std::size_t b = 0; b < result.size(); ++b)
      for (std::size_t set = 0; set < nodeOfSet_[b].size(); ++set)
        result[b][set] = {first_ + static_cast<BlockId>(b), static_cast<std::int64_t>(set)};
    for (Node node = 0; node < names_.size(); ++node) {
      const SetName& name = names_[node];
      if (!owns(name.block)) continue;
      result[static_cast<std::size_t>(name.block - first_)][static_cast<std::size_t>(name.set)] =
          names_[find(node)];
    }
  }

 private:
  Node own(const SetName& name) const {
    const auto& nodes = nodeOfSet_[static_cast<std::size_t>(name.block - first_)];
    return static_cast<std::uint64_t>(name.set) < nodes.size()
               ? nodes[static_cast<std::size_t>(name.set)]
               : None;
  }
  Node append(const SetName& name) {
    if (names_.size() >= None / 2)
      throw Error("distributed union: too many linked sets on a rank; use more ranks");
    names_.push_back(name);
    parent_.push_back(static_cast<Node>(names_.size() - 1));
    return parent_.back();
  }
  /// Where a set of another block is or should be.
  std::size_t slotOf(const SetName& name) const {
    const std::size_t mask = slots_.size() - 1;
    auto slot = static_cast<std::size_t>(
        scramble(static_cast<std::uint64_t>(name.set) +
                 static_cast<std::uint64_t>(name.block) * 0x9e3779b97f4a7c15ull));
    for (slot &= mask; slots_[slot] != None && names_[slots_[slot]] != name;) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }
  void grow() {
    slots_.assign(4 * slots_.size(), None);
    for (Node node = 0; node < names_.size(); ++node) {
      if (!owns(node)) slots_[slotOf(names_[node])] = node;
    }
  }

  BlockId first_;
  std::vector<std::vector<Node>> nodeOfSet_;  // by local block and set
  std::vector<SetName> names_;
  std::vector<Node> parent_;
  std::vector<Node> slots_;  // of sets of other blocks: open addressing
  std::size_t foreign_ = 0;
};

}  // namespace tributary::detail
