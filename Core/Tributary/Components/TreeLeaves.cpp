// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Components/TreeLeaves.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <string>
#include <tuple>

#include "Tributary/Base/Error.h"
#include "Tributary/Base/Hash.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Rendezvous.h"

namespace tributary {
namespace {

using Place = TreeLeaves::Place;
using Direction = TreeLeaves::Direction;

/// A tree that a block has, of its own or as a ghost.
struct TreeHolder {
  std::int64_t tree;
  BlockId block;
  std::int64_t isGhost;
};

/// A tree of a block that others have ghosts of.
struct CopiedTree {
  BlockId block;
  std::int64_t tree;
};

/// What is known, or asked for, of a place in a tree.
struct LeafRecord {
  enum Kind : std::int32_t {
    Own,       ///< A leaf.
    Neighbor,  ///< Which leaf that is as large or larger lies beside this one?
    Original   ///< Which leaf is this a copy of?
  };
  std::int64_t tree;
  BlockId block;
  std::int64_t leaf;
  Place at;  ///< Of the leaf.
  Direction direction;
  std::int32_t level;
  Kind kind;
};

struct Contact {
  BlockId block;
  LeafContact contact;
};

EntityKey keyOf(const Place& at, int level) {
  return keyOfStructured(0, at[0], at[1], at[2], level);
}

EntityKey keyOfPair(const EntityKey& one, const EntityKey& other) {
  EntityKey both[2] = {one, other};
  return keyOfEntity({both, 2});
}

}  // namespace

void TreeLattice::check() const {
  if (factor < 2 || depth < 0 || (depth > 0 && dimension() == 0))
    throw Error("trees: a branch factor of " + std::to_string(factor) + " and " +
                std::to_string(depth + 1) +
                " levels are not valid; give a factor of at least 2, a depth of at least 0, and an "
                "axis that is not flat");
  for (std::size_t a = 0; a < 3; ++a) {
    double cells = static_cast<double>(roots[a]);
    if (roots[a] < 1 || (isFlat[a] != 0 && roots[a] != 1))
      throw Error("trees: " + std::to_string(roots[a]) +
                  " roots along an axis are not valid; give at least 1, and 1 along a flat axis");
    if (isFlat[a] == 0) cells *= std::pow(factor, depth);
    if (cells > 9007199254740992.0)
      throw Error("trees: " + std::to_string(roots[a]) + " roots along an axis with " +
                  std::to_string(depth + 1) +
                  " levels have more than 2^53 places there; limit the depth");
  }
}

std::int64_t TreeLattice::width(int level) const {
  std::int64_t width = 1;
  for (int l = level; l < depth; ++l) width *= factor;
  return width;
}

TreeLeaves::TreeLeaves(const TreeLattice& lattice, std::vector<TreeLeaf> leaves)
    : lattice_(lattice), leaves_(std::move(leaves)) {
  lattice_.check();
  if (leaves_.size() >= std::size_t(1) << 31)
    throw Error("trees: a block has " + std::to_string(leaves_.size()) +
                " leaves; use smaller blocks");
  for (int level = 0; level <= lattice_.depth; ++level) widths_.push_back(lattice_.width(level));
  std::size_t children = 1;
  for (int d = 0; d < lattice_.dimension(); ++d) children *= index(lattice_.factor);
  for (std::size_t n = 0; n < leaves_.size(); ++n) {
    if (!isInLattice(leaves_[n]))
      throw Error("trees: leaf " + std::to_string(n) +
                  " is not in the lattice; give leaves of the lattice");
    if (leaves_[n].isGhost == 0) insert(n, children);
  }
}

bool TreeLeaves::isInLattice(const TreeLeaf& leaf) const {
  if (leaf.level < 0 || leaf.level > lattice_.depth) return false;
  for (std::size_t a = 0; a < 3; ++a) {
    const std::int64_t end = lattice_.isFlat[a] != 0 ? 1 : lattice_.roots[a] * widths_[0];
    const std::int64_t step = lattice_.isFlat[a] != 0 ? 1 : widths_[index(leaf.level)];
    if (leaf.at[a] < 0 || leaf.at[a] >= end || leaf.at[a] % step != 0) return false;
  }
  return true;
}

void TreeLeaves::insert(std::size_t n, std::size_t children) {
  const TreeLeaf& leaf = leaves_[n];
  const Path x = pathTo(0, leaf.at[0], leaf.level), y = pathTo(1, leaf.at[1], leaf.level),
             z = pathTo(2, leaf.at[2], leaf.level);
  std::int64_t* slot = &roots_.emplace(x.tree + y.tree + z.tree, Nothing).first->second;
  for (int level = 1; level <= leaf.level && *slot >= Nothing; ++level) {
    if (*slot == Nothing) {
      const auto first = static_cast<std::int64_t>(slots_.size());
      *slot = first;
      slots_.resize(slots_.size() + children, Nothing);
      slot = &slots_[index(first)];
    } else {
      slot = &slots_[index(*slot)];
    }
    const std::size_t l = index(level);
    slot += x.child[l] + y.child[l] + z.child[l];
  }
  if (*slot != Nothing)
    throw Error("trees: leaf " + std::to_string(n) + " overlaps another; give each place one leaf");
  *slot = -2 - static_cast<std::int64_t>(n);
}

TreeLeaves::Path TreeLeaves::pathTo(std::size_t axis, std::int64_t coordinate, int level) const {
  Path path;
  path.tree = 0;
  if (lattice_.isFlat[axis] != 0) {
    path.child.fill(0);
    return path;
  }
  std::int64_t trees = 1;
  std::int32_t children = 1;
  for (std::size_t a = 0; a < axis; ++a) {
    if (lattice_.isFlat[a] != 0) continue;
    trees *= lattice_.roots[a];
    children *= lattice_.factor;
  }
  path.tree = coordinate / widths_[0] * trees;
  std::int64_t rest = coordinate % widths_[0];
  for (int l = 1; l <= level; ++l) {
    const std::int64_t width = widths_[static_cast<std::size_t>(l)];
    path.child[static_cast<std::size_t>(l)] = static_cast<std::int32_t>(rest / width) * children;
    rest %= width;
  }
  return path;
}

std::int64_t TreeLeaves::nodeAt(const Path& x, const Path& y, const Path& z, int level) const {
  const auto root = roots_.find(x.tree + y.tree + z.tree);
  if (root == roots_.end()) return Nothing;
  std::int64_t node = root->second;
  for (std::size_t l = 1; node >= 0 && l <= static_cast<std::size_t>(level); ++l)
    node = slots_[static_cast<std::size_t>(node + x.child[l] + y.child[l] + z.child[l])];
  return node;
}

std::int64_t TreeLeaves::treeAt(const Place& at) const {
  std::int64_t tree = 0;
  for (std::size_t a = 3; a-- > 0;)
    if (lattice_.isFlat[a] == 0) tree = tree * lattice_.roots[a] + at[a] / widths_[0];
  return tree;
}

std::int64_t TreeLeaves::find(const Place& at) const {
  const int level = lattice_.depth;
  const std::int64_t node =
      nodeAt(pathTo(0, at[0], level), pathTo(1, at[1], level), pathTo(2, at[2], level), level);
  return node == Nothing ? -1 : -2 - node;
}

void TreeLeaves::contactsOf(std::size_t n, Through through, std::vector<Pair>& pairs) const {
  const TreeLeaf& leaf = leaves_[n];
  const std::size_t first = pairs.size();
  const std::int64_t width = widths_[static_cast<std::size_t>(leaf.level)];
  std::array<std::array<Path, 3>, 3> paths;  // along an axis, to what is before, here and behind
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t step = 0; step < 3; ++step)
      paths[a][step] =
          pathTo(a, leaf.at[a] + (static_cast<std::int64_t>(step) - 1) * width, leaf.level);
  visitNeighbors(leaf, through, [&](const Direction& d, const Place&) {
    const auto path = [&](std::size_t a) -> const Path& {
      return paths[a][static_cast<std::size_t>(d[a] + 1)];
    };
    // A smaller one finds this one.
    const std::int64_t node = nodeAt(path(0), path(1), path(2), leaf.level);
    if (node >= Nothing) return;
    const Pair pair(static_cast<std::uint32_t>(n), static_cast<std::uint32_t>(-2 - node));
    // Of two of a size one is enough.
    if (leaves_[pair.second].level == leaf.level && pair.second < pair.first) return;
    if (std::find(pairs.begin() + static_cast<std::ptrdiff_t>(first), pairs.end(), pair) ==
        pairs.end())
      pairs.push_back(pair);
  });
}

std::vector<TreeLeaves::Pair> TreeLeaves::contacts(Through through,
                                                   const ParallelFor& parallelFor) const {
  std::vector<Pair> pairs;
  std::mutex mutex;
  parallelFor(static_cast<std::int64_t>(leaves_.size()), [&](std::int64_t begin, std::int64_t end) {
    std::vector<Pair> mine;
    for (std::int64_t n = begin; n < end; ++n) {
      const auto leaf = static_cast<std::size_t>(n);
      if (leaves_[leaf].isGhost == 0) contactsOf(leaf, through, mine);
    }
    const std::lock_guard<std::mutex> lock(mutex);
    pairs.insert(pairs.end(), mine.begin(), mine.end());
  });
  return pairs;
}

bool TreeLeaves::isOnBorder(const Place& corner) const {
  // The roots around the corner, along each axis one or, between two, both.
  std::array<std::int64_t, 3> from{}, to{};
  for (std::size_t a = 0; a < 3; ++a) {
    if (lattice_.isFlat[a] != 0) continue;
    to[a] = std::min(corner[a] / widths_[0], lattice_.roots[a] - 1);
    from[a] =
        corner[a] % widths_[0] == 0 ? std::max<std::int64_t>(corner[a] / widths_[0] - 1, 0) : to[a];
  }
  Place root;
  for (root[2] = from[2]; root[2] <= to[2]; ++root[2])
    for (root[1] = from[1]; root[1] <= to[1]; ++root[1])
      for (root[0] = from[0]; root[0] <= to[0]; ++root[0]) {
        const std::int64_t tree =
            (root[2] * lattice_.roots[1] + root[1]) * lattice_.roots[0] + root[0];
        if (!hasTree(tree)) return true;
      }
  return false;
}

std::vector<std::int64_t> TreeLeaves::trees(bool ofGhosts) const {
  std::vector<std::int64_t> trees;
  for (const TreeLeaf& leaf : leaves_) {
    if ((leaf.isGhost != 0) != ofGhosts) continue;
    const std::int64_t tree = treeAt(leaf.at);
    if (trees.empty() || trees.back() != tree) trees.push_back(tree);
  }
  std::sort(trees.begin(), trees.end());
  trees.erase(std::unique(trees.begin(), trees.end()), trees.end());
  return trees;
}

namespace {

/// For each block of this rank the trees of its own that other blocks have ghosts of, sorted.
std::vector<std::vector<std::int64_t>> findCopiedTrees(
    Transport& transport, BlockId first, const std::vector<const TreeLeaves*>& blocks) {
  std::vector<TreeHolder> holders;
  collectively(transport, [&] {
    for (std::size_t b = 0; b < blocks.size(); ++b)
      for (const bool ofGhosts : {false, true})
        for (const std::int64_t tree : blocks[b]->trees(ofGhosts))
          holders.push_back({tree, first + static_cast<BlockId>(b), ofGhosts ? 1 : 0});
  });
  const std::vector<CopiedTree> answers = rendezvous<CopiedTree>(
      transport, std::move(holders),
      [](const TreeHolder& h) { return scramble(static_cast<std::uint64_t>(h.tree)); },
      [](const TreeHolder& a, const TreeHolder& b) {
        return std::tie(a.tree, a.isGhost, a.block) < std::tie(b.tree, b.isGhost, b.block);
      },
      [](const TreeHolder& a, const TreeHolder& b) { return a.tree == b.tree; },
      [](Span<Met<TreeHolder>> group, auto&& send) {
        if (group[0].record.isGhost != 0 || group.size() < 2) return;
        if (group[1].record.isGhost == 0)
          throw Error("tree " + std::to_string(group[0].record.tree) + " is on ranks " +
                      std::to_string(group[0].rank) + " and " + std::to_string(group[1].rank) +
                      ", but its cells are ghosts on neither rank; a tree must be on one rank (and "
                      "in one block), and copies must be marked as ghost cells");
        send(group[0].rank, {group[0].record.block, group[0].record.tree});
      });
  std::vector<std::vector<std::int64_t>> copied;
  collectively(transport, [&] {
    copied.resize(blocks.size());
    for (const CopiedTree& answer : answers)
      copied.at(static_cast<std::size_t>(answer.block - first)).push_back(answer.tree);
    for (auto& trees : copied) std::sort(trees.begin(), trees.end());
  });
  return copied;
}

/// What a block tells and asks of its leaves.
void addRecords(const TreeLeaves& block, BlockId number, const std::vector<std::int64_t>& copied,
                Through through, std::vector<LeafRecord>& records) {
  const std::vector<TreeLeaf>& leaves = block.leaves();
  for (std::size_t n = 0; n < leaves.size(); ++n) {
    const TreeLeaf& leaf = leaves[n];
    LeafRecord record{
        block.treeAt(leaf.at), number, static_cast<std::int64_t>(n), leaf.at, {}, leaf.level,
        LeafRecord::Own};
    if (leaf.isGhost != 0) {
      record.kind = LeafRecord::Original;
      records.push_back(record);
      continue;
    }
    const std::int64_t own = record.tree;
    bool isWanted = std::binary_search(copied.begin(), copied.end(), own);
    block.visitNeighbors(leaf, through, [&](const Direction& direction, const Place& place) {
      record.tree = block.treeAt(place);
      if (block.hasTree(record.tree)) return;
      isWanted = true;
      record.direction = direction;
      record.kind = LeafRecord::Neighbor;
      records.push_back(record);
    });
    if (!isWanted) continue;
    record.tree = own;
    record.direction = {};
    record.kind = LeafRecord::Own;
    records.push_back(record);
  }
}

/// Answers what is asked of one tree.
template <class Send>
void answer(const TreeLattice& lattice, Span<Met<LeafRecord>> group, Send&& send) {
  std::vector<TreeLeaf> leaves;
  for (const auto& met : group)
    if (met.record.kind == LeafRecord::Own) leaves.push_back({met.record.at, met.record.level, 0});
  if (leaves.empty()) return;
  const std::size_t known = leaves.size();  // they come first
  const TreeLeaves tree(lattice, std::move(leaves));
  for (const auto& met : group.subspan(known, group.size() - known)) {
    const LeafRecord& asked = met.record;
    const std::int64_t found =
        tree.find(TreeLeaves::beside(asked.at, asked.direction, lattice.width(asked.level)));
    if (found < 0) continue;
    const Met<LeafRecord>& other = group[static_cast<std::size_t>(found)];
    const bool isCopy = asked.kind == LeafRecord::Original;
    if (isCopy ? asked.level != other.record.level || asked.at != other.record.at
               : other.record.level > asked.level)
      continue;
    const EntityKey key =
        keyOfPair(keyOf(asked.at, asked.level), keyOf(other.record.at, other.record.level));
    send(met.rank, Contact{asked.block, {asked.leaf, key}});
    send(other.rank, Contact{other.record.block, {other.record.leaf, key}});
  }
}

}  // namespace

std::vector<std::vector<LeafContact>> matchLeaves(Transport& transport,
                                                  const Assignment& assignment,
                                                  const std::vector<const TreeLeaves*>& blocks,
                                                  Through through) {
  collectively(transport, [&] {
    if (blocks.size() != static_cast<std::size_t>(assignment.count(transport.rank())))
      throw Error("trees: " + std::to_string(blocks.size()) + " blocks given for " +
                  std::to_string(assignment.count(transport.rank())) +
                  " local blocks; pass one for each block");
  });
  const BlockId first = assignment.first(transport.rank());
  const auto copied = findCopiedTrees(transport, first, blocks);

  std::vector<LeafRecord> records;
  std::vector<TreeLattice> mine;
  collectively(transport, [&] {
    if (!blocks.empty()) mine.push_back(blocks.front()->lattice());
    for (std::size_t b = 0; b < blocks.size(); ++b)
      addRecords(*blocks[b], first + static_cast<BlockId>(b), copied[b], through, records);
  });
  // Ranks without blocks answer for trees too.
  const std::vector<TreeLattice> lattices = allgatherv(transport, mine);
  const std::vector<Contact> answers = rendezvous<Contact>(
      transport, std::move(records),
      [](const LeafRecord& r) { return scramble(static_cast<std::uint64_t>(r.tree)); },
      [](const LeafRecord& a, const LeafRecord& b) {
        return std::tie(a.tree, a.kind, a.block, a.leaf, a.direction) <
               std::tie(b.tree, b.kind, b.block, b.leaf, b.direction);
      },
      [](const LeafRecord& a, const LeafRecord& b) { return a.tree == b.tree; },
      [&](Span<Met<LeafRecord>> group, auto&& send) { answer(lattices.at(0), group, send); });

  std::vector<std::vector<LeafContact>> contacts;
  collectively(transport, [&] {
    contacts.resize(blocks.size());
    for (const Contact& met : answers)
      contacts.at(static_cast<std::size_t>(met.block - first)).push_back(met.contact);
    for (auto& block : contacts) {
      const auto less = [](const LeafContact& a, const LeafContact& b) {
        return a.leaf != b.leaf ? a.leaf < b.leaf : a.key < b.key;
      };
      const auto same = [](const LeafContact& a, const LeafContact& b) {
        return a.leaf == b.leaf && a.key == b.key;
      };
      std::sort(block.begin(), block.end(), less);
      block.erase(std::unique(block.begin(), block.end(), same), block.end());
    }
  });
  return contacts;
}

}  // namespace tributary
