#include "Tributary/Components/DistributedUnion.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "Tributary/Agree.h"
#include "Tributary/Bytes.h"
#include "Tributary/Components/LabelPropagation.h"
#include "Tributary/Components/SetForest.h"
#include "Tributary/Error.h"

namespace tributary {
namespace {

using Node = SetForest::Node;
constexpr Node None = SetForest::None;

/// What a rank needs for one of the methods.
class Method {
 public:
  virtual ~Method() = default;
  virtual void step(BlockId block, Mailbox& mailbox) = 0;
  virtual std::vector<std::vector<SetName>> roots() = 0;
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
    throw Error("malformed message: " + std::to_string(reader.remaining()) +
                " bytes too many from block " + std::to_string(view.from));
  }
  return message;
}

/// The blocks of a rank under Algorithm 8.
class LabelledBlocks : public Method {
 public:
  explicit LabelledBlocks(const Inputs& inputs)
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

  std::vector<std::vector<SetName>> roots() override {
    std::vector<std::vector<SetName>> all;
    for (LabelPropagation& block : blocks_) all.push_back(block.roots());
    return all;
  }

 private:
  const Assignment& assignment_;
  BlockId first_;
  std::vector<LabelPropagation> blocks_;
};

/// One forest for all blocks of a rank. Its roots that other ranks own are asked for: their owners
/// tell of a lower set at once, or as soon as they know one. See README.md in this folder for why
/// all ranks have the same roots in the end.
class TreeUnion : public Method {
 public:
  explicit TreeUnion(const Inputs& inputs)
      : assignment_(inputs.assignment),
        rank_(inputs.transport.rank()),
        first_(assignment_.first(rank_)),
        forest_(first_, inputs.setsOfBlock) {
    std::vector<bool> known;  // by node: its owner knows of a lower set by a link
    for (std::size_t b = 0; b < inputs.links.size(); ++b) {
      const BlockId block = first_ + static_cast<BlockId>(b);
      for (const SetLink& link : inputs.links[b]) {
        const SetName mine{block, link.local}, other{link.block, link.remote};
        const Node a = forest_.add(mine), o = forest_.add(other);
        known.resize(forest_.size(), false);
        if (mine < other) known[o] = true;
        uniteRoots(forest_.find(a), forest_.find(o));
      }
    }
    asked_.assign(forest_.size(), false);
    watchers_.resize(forest_.size());
    for (Node node = 0; node < forest_.size(); ++node) {
      if (forest_.owns(node)) continue;
      if (forest_.find(node) == node) {
        wanted_.push_back(node);
      } else if (!known[node]) {
        fallen_.push_back(node);
      }
    }
  }

  void step(BlockId block, Mailbox& mailbox) override {
    while (auto view = mailbox.dequeueView()) {
      const auto message = readMessage<Message>(*view);
      switch (message.kind) {
        case Kind::Same:
          receiveSame(block, message);
          break;
        case Kind::Ask:
          receiveAsk(block, message);
          break;
        default:
          throw Error("malformed message from block " + std::to_string(view->from));
      }
    }
    flush(mailbox);
  }

  std::vector<std::vector<SetName>> roots() override { return forest_.roots(); }

 private:
  enum class Kind : std::int32_t {
    Same,  ///< `name` and `lower` are in one region: to the owner of `name`, or to who asked for it
    Ask    ///< `rank` asks for sets below `name`
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

  Node received(const SetName& name) {
    const Node node = forest_.received(name);
    asked_.resize(forest_.size(), false);
    watchers_.resize(forest_.size());
    return node;
  }

  void receiveSame(BlockId block, const Message& message) {
    checkLower(assignment_, message.name, message.lower);
    if (forest_.owns(message.name.block)) {
      checkOwner(block, message.name);
      const Node name = forest_.find(received(message.name));
      const Node lower = forest_.find(received(message.lower));
      const Node fallen = uniteRoots(name, lower);
      if (fallen == None) return;
      if (!forest_.owns(fallen) || !watchers_[fallen].empty()) fallen_.push_back(fallen);
      const Node root = fallen == name ? lower : name;
      if (!forest_.owns(root) && !asked_[root]) wanted_.push_back(root);
      return;
    }
    // An answer; whoever gave it has asked for `lower` on behalf of this rank. That one's answer
    // may have come first: then the name is new here. If it has another parent here, its owner was
    // told of that one, or knows it by a link.
    const Node name = received(message.name);
    const Node lower = received(message.lower);
    asked_[lower] = true;
    if (forest_.find(name) == name) uniteRoots(name, forest_.find(lower));
  }

  void receiveAsk(BlockId block, const Message& message) {
    checkOwner(block, message.name);
    if (message.rank < 0 || message.rank >= assignment_.ranks() || message.rank == rank_ ||
        assignment_.count(message.rank) == 0) {
      throw Error("malformed message: rank " + std::to_string(message.rank) + " asks for " +
                  textOf(message.name));
    }
    asks_.push_back({received(message.name), message.rank});
  }

  static void checkOwner(BlockId block, const SetName& name) {
    if (name.block == block) return;
    throw Error("malformed message: block " + std::to_string(block) + " was asked for " +
                textOf(name));
  }

  /// Sends what follows from all that has come.
  void flush(Mailbox& mailbox) {
    for (const Node node : fallen_) {
      if (forest_.owns(node)) {
        for (const std::int32_t rank : watchers_[node]) asks_.push_back({node, rank});
        watchers_[node] = {};
      } else {
        const SetName& name = forest_.name(node);
        mailbox.enqueue(name.block, Message{Kind::Same, rank_, name, rootName(node)});
      }
    }
    fallen_.clear();
    for (const Asked& ask : asks_) answer(ask, mailbox);
    asks_.clear();
    const auto key = [](const Asked& ask) { return std::make_tuple(ask.node, ask.rank); };
    std::sort(forwards_.begin(), forwards_.end(),
              [&](const Asked& a, const Asked& b) { return key(a) < key(b); });
    for (std::size_t i = 0; i < forwards_.size(); ++i) {
      if (i == 0 || key(forwards_[i]) != key(forwards_[i - 1])) {
        ask(forwards_[i].node, forwards_[i].rank, mailbox);
      }
    }
    forwards_.clear();
    for (const Node node : wanted_) {
      if (asked_[node] || forest_.find(node) != node) continue;
      asked_[node] = true;
      ask(node, rank_, mailbox);
    }
    wanted_.clear();
  }

  /// Tells of a lower set, if one is known, and sees to it that its owner will tell of more.
  void answer(const Asked& ask, Mailbox& mailbox) {
    const Node root = forest_.find(ask.node);
    if (root != ask.node) {
      mailbox.enqueue(assignment_.first(ask.rank),
                      Message{Kind::Same, rank_, forest_.name(ask.node), forest_.name(root)});
    }
    if (forest_.owns(root)) {
      watch(root, ask.rank);
    } else if (assignment_.rankOf(forest_.name(root).block) != ask.rank) {
      forwards_.push_back({root, ask.rank});
    }
  }

  void ask(Node node, std::int32_t rank, Mailbox& mailbox) {
    const SetName& name = forest_.name(node);
    mailbox.enqueue(name.block, Message{Kind::Ask, rank, name, {}});
  }

  void watch(Node node, std::int32_t rank) {
    auto& ranks = watchers_[node];
    const auto at = std::lower_bound(ranks.begin(), ranks.end(), rank);
    if (at == ranks.end() || *at != rank) ranks.insert(at, rank);
  }

  const SetName& rootName(Node node) { return forest_.name(forest_.find(node)); }

  const Assignment& assignment_;
  const std::int32_t rank_;
  const BlockId first_;
  SetForest forest_;
  std::vector<bool> asked_;                          // by node of another rank: its owner was asked
  std::vector<std::vector<std::int32_t>> watchers_;  // by own root: ranks that asked, ascending
  // What flush() has to send.
  std::vector<Node> fallen_;     // roots that have got a parent
  std::vector<Node> wanted_;     // roots of other ranks to ask for
  std::vector<Asked> asks_;      // own sets that were asked for
  std::vector<Asked> forwards_;  // other ranks' that are to be asked for on behalf of a rank
};

std::string argumentError(const Inputs& inputs) {
  const Assignment& assignment = inputs.assignment;
  const int rank = inputs.transport.rank();
  const auto count = static_cast<std::size_t>(assignment.count(rank));
  const BlockId first = assignment.first(rank);
  if (inputs.setsOfBlock.size() != count || inputs.links.size() != count) {
    return "distributed union: numbers of sets of " + std::to_string(inputs.setsOfBlock.size()) +
           " and links of " + std::to_string(inputs.links.size()) + " blocks given for " +
           std::to_string(count) + " local blocks";
  }
  for (const std::int64_t sets : inputs.setsOfBlock) {
    if (sets < 0) return "distributed union: a block has " + std::to_string(sets) + " sets";
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
             textOf({link.block, link.remote}) + ", but there is no such set";
    }
  }
  return {};
}

}  // namespace

UnionResult uniteSets(Transport& transport, const Assignment& assignment,
                      const std::vector<std::int64_t>& setsOfBlock,
                      const std::vector<std::vector<SetLink>>& links, const UnionOptions& options) {
  const Inputs inputs{transport, assignment, setsOfBlock, links};
  std::unique_ptr<Method> method;
  std::vector<std::vector<BlockId>> neighbours(links.size());
  std::string error;
  try {
    error = argumentError(inputs);
    if (error.empty()) {
      switch (options.method) {
        case UnionMethod::LabelPropagation:
          method = std::make_unique<LabelledBlocks>(inputs);
          break;
        case UnionMethod::TreeUnion:
          method = std::make_unique<TreeUnion>(inputs);
          break;
      }
      if (!method) throw Error("distributed union: unknown method");
    }
  } catch (const std::exception& thrown) {
    error = thrown.what();
  }
  agreeOnError(transport, error);
  for (std::size_t b = 0; b < links.size(); ++b) {
    auto& blocks = neighbours[b];
    for (const SetLink& link : links[b]) {
      if (blocks.empty() || blocks.back() != link.block) blocks.push_back(link.block);
    }
    std::sort(blocks.begin(), blocks.end());
    blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
  }

  Exchange exchange(transport, assignment, std::move(neighbours), options.exchange,
                    [&](BlockId block, Mailbox& mailbox) {
                      method->step(block, mailbox);
                      return false;
                    });
  exchange.run(options.monitor);
  UnionResult result;
  result.root = method->roots();
  result.aborted = exchange.aborted();
  result.statistics = exchange.statistics();
  return result;
}

}  // namespace tributary
