// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Components/DistributedUnion.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "Tributary/Base/Bytes.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Base/Hash.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Records.h"
#include "Tributary/Components/UnionTuner.h"
#include "Tributary/Components/detail/LabelPropagation.h"
#include "Tributary/Components/detail/SetForest.h"

namespace tributary {

using namespace detail;

namespace {

using Node = SetForest::Node;
constexpr Node None = SetForest::None;

/// What a rank needs for one of the methods.
class Method {
 public:
  virtual ~Method() = default;
  virtual void step(BlockId block, Mailbox& mailbox) = 0;
  /// Writes the root of each set of each local block. Needs no memory.
  virtual void writeRoots(Span<std::vector<SetName>> result) = 0;
};

struct Inputs {
  Transport& transport;
  const Assignment& assignment;
  const std::vector<std::int64_t>& setsOfBlock;
  const std::vector<std::vector<SetLink>>& links;
};

template <class Message>
Message readMessage(const MessageView& view) {
  Reader reader(view.payload);
  const auto message = reader.value<Message>();
  if (!reader.atEnd()) {
    refuseMessage(std::to_string(reader.remaining()) + " bytes too many from block " +
                  std::to_string(view.from));
  }
  return message;
}

/// The blocks of a rank under Algorithm 8 (LDAV 2021, doi:10.1109/LDAV53230.2021.00009).
class LabeledBlocks : public Method {
 public:
  explicit LabeledBlocks(const Inputs& inputs)
      : assignment_(inputs.assignment), first_(assignment_.first(inputs.transport.rank())) {
    for (std::size_t b = 0; b < inputs.links.size(); ++b) {
      blocks_.emplace_back(first_ + static_cast<BlockId>(b), inputs.setsOfBlock[b],
                           inputs.links[b]);
    }
  }

  void step(BlockId block, Mailbox& mailbox) override {
    LabelPropagation& here = blocks_[static_cast<std::size_t>(block - first_)];
    while (auto view = mailbox.dequeueView()) {
      here.receive(assignment_, view->from, readMessage<SetLabel>(*view));
    }
    here.sendChanged([&](BlockId to, const SetLabel& label) { mailbox.enqueue(to, label); });
  }

  void writeRoots(Span<std::vector<SetName>> result) override {
    for (std::size_t b = 0; b < blocks_.size(); ++b) blocks_[b].writeRoots(result[b]);
  }

 private:
  const Assignment& assignment_;
  BlockId first_;
  std::vector<LabelPropagation> blocks_;
};

/// The ranks subscribed to a node, which are notified of a name lower than its own. A rank
/// subscribes to a node once.
class Subscribers {
 public:
  using Node = SetForest::Node;

  void reserve(std::size_t count) {
    entries_.reserve(count);
    std::size_t slots = slots_.size();
    while (slots < 2 * count) slots *= 2;
    slots_.assign(slots, None);
  }

  /// @return false if the rank was subscribed before
  bool add(Node node, std::int32_t rank) {
    const std::size_t before = entries_.size();
    return note(node, rank) == before;
  }
  /// @return the entry's number
  std::uint32_t note(Node node, std::int32_t rank) {
    if (slots_.size() < 2 * (entries_.size() + 1)) grow();
    std::uint32_t& slot = slots_[slotOf(node, rank)];
    if (slot == None) {
      if (entries_.size() >= Most)
        throw Error("distributed union: too many subscribed ranks; use more ranks");
      if (last_.size() <= node) last_.resize(std::size_t(node) + 1, None);
      slot = static_cast<std::uint32_t>(entries_.size());
      entries_.push_back({node, rank, last_[node], false});
      last_[node] = slot;
    }
    return slot;
  }
  /// Ends the subscription: the rank knows a lower name.
  void settle(std::uint32_t entry) { entries_[entry].settled = true; }
  std::size_t size() const { return entries_.size(); }
  Node node(std::uint32_t entry) const { return entries_[entry].node; }
  /// Calls `action(rank)` for the ranks subscribed to a node; it may add subscriptions to other
  /// nodes.
  template <class Action>
  void forEach(Node node, Action&& action) const {
    if (node >= last_.size()) return;
    for (std::uint32_t i = last_[node]; i != None; i = entries_[i].before) {
      if (!entries_[i].settled) action(entries_[i].rank);
    }
  }

 private:
  struct Entry {
    Node node;
    std::int32_t rank;
    std::uint32_t before;  // another one of the node, or None
    bool settled;
  };

  static constexpr std::size_t Most = None / 2;

  std::size_t slotOf(Node node, std::int32_t rank) const {
    const std::size_t mask = slots_.size() - 1;
    auto slot = static_cast<std::size_t>(
        scramble(static_cast<std::uint64_t>(node) << 32 | static_cast<std::uint32_t>(rank)));
    for (slot &= mask; slots_[slot] != None; slot = (slot + 1) & mask) {
      const Entry& entry = entries_[slots_[slot]];
      if (entry.node == node && entry.rank == rank) break;
    }
    return slot;
  }
  void grow() {
    slots_.assign(2 * slots_.size(), None);
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      slots_[slotOf(entries_[i].node, entries_[i].rank)] = static_cast<std::uint32_t>(i);
    }
  }

  std::vector<Entry> entries_;
  std::vector<std::uint32_t> last_;  // by node, as far as used: its latest entry
  std::vector<std::uint32_t> slots_ = std::vector<std::uint32_t>(16, None);  // open addressing
};

/// What two ranks both know from the beginning: the links between them. Who else is not the least
/// of the sets that these connect has a parent on both ranks, and neither need tell the other.
class Shared {
 public:
  using Node = SetForest::Node;

  Shared(const SetForest& forest, Subscribers& subscribers, std::size_t links)
      : forest_(forest), subscribers_(subscribers) {
    parent_.reserve(2 * links);
  }

  /// Adds a link between an own set and a set of another rank, which is subscribed to the former.
  void add(Node mine, Node other, std::int32_t rank) {
    // Own sets occur once for each subscribed rank, sets of other ranks once.
    const std::uint32_t entry = subscribers_.note(mine, rank);
    const std::size_t size = 2 * std::size_t(std::max(entry, other) + 1);
    while (parent_.size() < size) parent_.push_back(static_cast<std::uint32_t>(parent_.size()));
    std::uint32_t a = find(2 * entry), b = find(2 * other + 1);
    if (a == b) return;
    if (nameOf(a) < nameOf(b)) std::swap(a, b);
    parent_[a] = b;
  }
  void settle() {
    for (std::uint32_t entry = 0; entry < subscribers_.size(); ++entry) {
      if (parent_[2 * entry] != 2 * entry) subscribers_.settle(entry);
    }
  }
  /// @param other  of another rank
  bool least(Node other) const { return parent_[2 * other + 1] == 2 * other + 1; }

 private:
  const SetName& nameOf(std::uint32_t i) const {
    return forest_.name(i % 2 == 0 ? subscribers_.node(i / 2) : i / 2);
  }
  std::uint32_t find(std::uint32_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }

  const SetForest& forest_;
  Subscribers& subscribers_;
  std::vector<std::uint32_t> parent_;
};

/// One forest for all blocks of a rank. Whoever has a lower name for a set that another rank knows
/// tells that rank, and sees to it that the lower name's owner will tell it of more. See README.md
/// in this folder for why all ranks have the same roots in the end.
class TreeUnion : public Method {
 public:
  explicit TreeUnion(const Inputs& inputs)
      : assignment_(inputs.assignment),
        rank_(inputs.transport.rank()),
        first_(assignment_.first(rank_)),
        forest_(first_, inputs.setsOfBlock) {
    std::size_t count = 0;
    for (const auto& links : inputs.links) count += links.size();
    forest_.reserve(count);
    subscribers_.reserve(count);
    Shared shared(forest_, subscribers_, count);
    for (std::size_t b = 0; b < inputs.links.size(); ++b) {
      const BlockId block = first_ + static_cast<BlockId>(b);
      for (const SetLink& link : inputs.links[b]) {
        const Node mine = forest_.add({block, link.local});
        const Node other = forest_.add({link.block, link.remote});
        uniteRoots(forest_.find(mine), forest_.find(other));
        if (!forest_.owns(other)) shared.add(mine, other, ownerOf(other));
      }
    }
    shared.settle();
    for (Node node = 0; node < forest_.size(); ++node) {
      if (forest_.find(node) != node && (forest_.owns(node) || shared.least(node))) {
        fallen_.push_back(node);
      }
    }
  }

  void step(BlockId, Mailbox& mailbox) override {
    while (auto view = mailbox.dequeueView()) {
      const auto message = readMessage<Message>(*view);
      if (message.rank < 0 || message.rank >= assignment_.ranks() || message.rank == rank_ ||
          assignment_.count(message.rank) == 0) {
        refuseMessage("about " + textOf(message.name) + " and rank " +
                      std::to_string(message.rank));
      }
      switch (message.kind) {
        case Kind::Same:
          receiveSame(message);
          break;
        case Kind::Ask:
          receiveAsk(message);
          break;
        default:
          refuseMessage("unknown kind, from block " + std::to_string(view->from));
      }
    }
    flush(mailbox);
  }

  void writeRoots(Span<std::vector<SetName>> result) override { forest_.writeRoots(result); }

 private:
  enum class Kind : std::int32_t {
    Same,  ///< notification by `rank`: `name` and `lower` are in one region
    Ask    ///< `rank` subscribes to sets below `name`
  };
  struct Message {
    Kind kind;
    std::int32_t rank;
    SetName name;
    SetName lower;
  };
  struct Asked {
    Node node;
    std::int32_t rank;
  };

  /// @return the larger root, which is none any more; None if they were the same
  Node uniteRoots(Node a, Node b) {
    if (a == b) return None;
    if (forest_.name(a) < forest_.name(b)) std::swap(a, b);
    forest_.link(a, b);
    return a;
  }

  void receiveSame(const Message& message) {
    checkLower(assignment_, message.name, message.lower);
    const Node name = forest_.received(message.name);
    const Node lower = forest_.received(message.lower);
    if (forest_.owns(name)) {
      subscribers_.settle(subscribers_.note(name, message.rank));
      const Node fallen = uniteRoots(forest_.find(name), forest_.find(lower));
      if (fallen != None) fallen_.push_back(fallen);
    } else if (forest_.find(name) == name) {
      uniteRoots(name, forest_.find(lower));
    }
    // Otherwise the name has another parent here, and its owner has a link to that parent or was
    // notified of it.
  }

  void receiveAsk(const Message& message) {
    if (!forest_.owns(message.name.block)) {
      refuseMessage("rank " + std::to_string(rank_) + " was asked for " + textOf(message.name));
    }
    const Node node = forest_.received(message.name);
    if (subscribers_.add(node, message.rank) && forest_.find(node) != node) {
      asked_.push_back({node, message.rank});
    }
  }

  /// Sends the messages that follow from the received ones.
  void flush(Mailbox& mailbox) {
    for (const Node node : fallen_) {
      if (forest_.owns(node)) {
        subscribers_.forEach(node, [&](std::int32_t rank) { tell(rank, node, mailbox); });
      } else {
        tell(ownerOf(node), node, mailbox);
      }
    }
    fallen_.clear();
    for (const Asked& asked : asked_) tell(asked.rank, asked.node, mailbox);
    asked_.clear();
  }

  /// Tells a rank of the root of a name that it knows, and sees to it that it will hear of more.
  void tell(std::int32_t rank, Node node, Mailbox& mailbox) {
    const Node root = forest_.find(node);
    send(rank, {Kind::Same, rank_, forest_.name(node), forest_.name(root)}, mailbox);
    const std::int32_t owner = ownerOf(root);
    if (owner == rank || !subscribers_.add(root, rank) || owner == rank_) return;
    send(owner, {Kind::Ask, rank, forest_.name(root), {}}, mailbox);
  }

  /// All messages of a rank go to one block, so that they are dealt with together.
  void send(std::int32_t rank, const Message& message, Mailbox& mailbox) {
    mailbox.enqueue(assignment_.first(rank), message);
  }

  std::int32_t ownerOf(Node node) const {
    if (forest_.owns(node)) return rank_;
    return static_cast<std::int32_t>(assignment_.rankOf(forest_.name(node).block));
  }

  const Assignment& assignment_;
  const std::int32_t rank_;
  const BlockId first_;
  SetForest forest_;
  // Of own nodes, the ranks that are told by this one, and of others those that it has asked for.
  Subscribers subscribers_;
  // What flush() has to send.
  std::vector<Node> fallen_;  // roots that have got a parent
  std::vector<Asked> asked_;  // own sets that are no roots
};

std::string argumentError(const Inputs& inputs) {
  const Assignment& assignment = inputs.assignment;
  const int rank = inputs.transport.rank();
  const auto count = static_cast<std::size_t>(assignment.count(rank));
  const BlockId first = assignment.first(rank);
  if (inputs.setsOfBlock.size() != count || inputs.links.size() != count) {
    return "distributed union: numbers of sets of " + std::to_string(inputs.setsOfBlock.size()) +
           " and links of " + std::to_string(inputs.links.size()) + " blocks given for " +
           std::to_string(count) + " local blocks; pass those of each block";
  }
  for (const std::int64_t sets : inputs.setsOfBlock) {
    if (sets < 0)
      return "distributed union: a block has " + std::to_string(sets) + " sets; give at least 0";
  }
  for (std::size_t b = 0; b < count; ++b) {
    for (const SetLink& link : inputs.links[b]) {
      const auto other = static_cast<std::uint64_t>(link.block - first);
      const bool right = link.local >= 0 && link.local < inputs.setsOfBlock[b] &&
                         link.remote >= 0 && assignment.exists(link.block) &&
                         (other >= count || link.remote < inputs.setsOfBlock[other]);
      if (right) continue;
      return "distributed union: a link of " +
             textOf({first + static_cast<BlockId>(b), link.local}) + " with " +
             textOf({link.block, link.remote}) + ", but there is no such set; link sets that exist";
    }
  }
  return {};
}

std::unique_ptr<Method> makeMethod(UnionMethod method, const Inputs& inputs) {
  switch (method) {
    case UnionMethod::LabelPropagation:
      return std::make_unique<LabeledBlocks>(inputs);
    case UnionMethod::TreeUnion:
      return std::make_unique<TreeUnion>(inputs);
  }
  throw Error("distributed union: unknown method; use a value of UnionMethod");
}

/// @param neighbors  output: of each local block
void findNeighbors(const Inputs& inputs, std::vector<std::vector<BlockId>>& neighbors) {
  for (std::size_t b = 0; b < inputs.links.size(); ++b) {
    auto& blocks = neighbors[b];
    for (const SetLink& link : inputs.links[b]) {
      if (blocks.empty() || blocks.back() != link.block) blocks.push_back(link.block);
    }
    std::sort(blocks.begin(), blocks.end());
    blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
  }
}

}  // namespace

UnionResult uniteSets(Transport& transport, const Assignment& assignment,
                      const std::vector<std::int64_t>& setsOfBlock,
                      const std::vector<std::vector<SetLink>>& links, const UnionOptions& options) {
  if (options.tuner)
    return options.tuner->unite(transport, assignment, setsOfBlock, links, options);
  const Inputs inputs{transport, assignment, setsOfBlock, links};
  std::unique_ptr<Method> method;
  ErrorCollector errors;
  std::vector<std::vector<BlockId>> neighbors;
  errors.attempt([&] {
    neighbors.resize(index(assignment.count(transport.rank())));
    if (const std::string error = argumentError(inputs); !error.empty()) throw Error(error);
    findNeighbors(inputs, neighbors);
  });
  Exchange exchange(transport, assignment, std::move(neighbors), options.exchange,
                    [&](BlockId block, Mailbox& mailbox) {
                      method->step(block, mailbox);
                      return false;
                    });
  UnionResult result;
  if (!errors.any()) {
    errors.attempt([&] {
      method = makeMethod(options.method, inputs);
      for (const std::int64_t sets : setsOfBlock) result.root.emplace_back(index(sets));
    });
  }
  if (errors.any()) exchange.fail(errors.text());
  exchange.run(options.monitor);
  method->writeRoots({result.root.data(), result.root.size()});
  result.aborted = exchange.aborted();
  result.statistics = exchange.statistics();
  return result;
}

}  // namespace tributary
