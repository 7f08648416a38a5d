// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Components/TreeLeaves.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "Support/Assignments.h"
#include "Support/Effort.h"
#include "Support/World.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Collective/Collectives.h"

namespace tributary {
namespace {

using namespace testing;

/// Leaves of blocks; `name` of each: a number of its own, alike for ghosts and their originals.
struct Forest {
  TreeLattice lattice;
  std::vector<std::vector<TreeLeaf>> blocks;
  std::vector<std::vector<std::int64_t>> names;
};

/// Divides cells at random, leaves some out, and some trees, and gives blocks ghosts of others'.
Forest randomForest(const TreeLattice& lattice, std::int64_t blocks, std::uint64_t seed) {
  Forest forest;
  forest.lattice = lattice;
  forest.blocks.resize(index(blocks));
  forest.names.resize(index(blocks));
  std::uint64_t state = mix(seed);
  const auto random = [&](std::uint64_t below) { return (state = mix(state)) % below; };
  std::int64_t next = 0;
  std::vector<std::pair<std::size_t, std::vector<TreeLeaf>>> trees;  // block, leaves
  std::array<std::int64_t, 3> root;
  for (root[2] = 0; root[2] < lattice.roots[2]; ++root[2])
    for (root[1] = 0; root[1] < lattice.roots[1]; ++root[1])
      for (root[0] = 0; root[0] < lattice.roots[0]; ++root[0]) {
        if (random(8) == 0) continue;
        auto& tree = trees.emplace_back(random(index(blocks)), std::vector<TreeLeaf>());
        TreeLeaf first{root, 0, 0};
        for (std::size_t a = 0; a < 3; ++a)
          if (lattice.isFlat[a] == 0) first.at[a] *= lattice.width(0);
        std::vector<TreeLeaf> open = {first};
        while (!open.empty()) {
          const TreeLeaf cell = open.back();
          open.pop_back();
          if (cell.level == lattice.depth || random(5) < 3) {
            if (random(10) > 0) tree.second.push_back(cell);
            continue;
          }
          const std::int64_t width = lattice.width(cell.level + 1);
          std::int64_t children = 1;
          for (int d = 0; d < lattice.dimension(); ++d) children *= lattice.factor;
          for (std::int64_t c = 0; c < children; ++c) {
            TreeLeaf child{cell.at, cell.level + 1, 0};
            std::int64_t rest = c;
            for (std::size_t a = 0; a < 3; ++a) {
              if (lattice.isFlat[a] != 0) continue;
              child.at[a] += rest % lattice.factor * width;
              rest /= lattice.factor;
            }
            open.push_back(child);
          }
        }
      }
  for (const auto& [block, leaves] : trees) {
    for (TreeLeaf leaf : leaves) {
      forest.blocks[block].push_back(leaf);
      forest.names[block].push_back(next);
      leaf.isGhost = 1;
      for (std::size_t b = 0; b < forest.blocks.size(); ++b) {
        if (b == block || random(6) != 0) continue;
        forest.blocks[b].push_back(leaf);
        forest.names[b].push_back(next);
      }
      ++next;
    }
    // A ghost that is no copy of any leaf, as trees that others do not need in full have.
    if (!leaves.empty() && leaves.front().level > 0 && blocks > 1) {
      TreeLeaf coarse{{}, 0, 1};
      for (std::size_t a = 0; a < 3; ++a)
        if (lattice.isFlat[a] == 0)
          coarse.at[a] = leaves.front().at[a] / lattice.width(0) * lattice.width(0);
      forest.blocks[(block + 1) % index(blocks)].push_back(coarse);
      forest.names[(block + 1) % index(blocks)].push_back(-1);
    }
  }
  return forest;
}

/// Do the closed boxes of two leaves meet, beside each other along few enough axes?
bool touch(const TreeLattice& lattice, const TreeLeaf& one, const TreeLeaf& other,
           Through through) {
  int beside = 0;
  for (std::size_t a = 0; a < 3; ++a) {
    if (lattice.isFlat[a] != 0) continue;
    const std::int64_t lo = std::max(one.at[a], other.at[a]);
    const std::int64_t hi =
        std::min(one.at[a] + lattice.width(one.level), other.at[a] + lattice.width(other.level));
    if (lo > hi) return false;
    beside += lo == hi ? 1 : 0;
  }
  const int dimension = lattice.dimension();
  if (through == Through::Points) return true;
  return beside <= (through == Through::Edges && dimension == 3 ? 2 : 1);
}

using Names = std::pair<std::int64_t, std::int64_t>;

/// What two blocks have in common, and how many ghosts each leaf has.
struct Met {
  std::int64_t name, isGhost, block;
  EntityKey key;
};

void matchAndCompare(Transport& transport, const Forest& forest, Through through,
                     std::uint64_t seed) {
  const Assignment assignment =
      spread(static_cast<std::int64_t>(forest.blocks.size()), transport.size(), seed);
  const std::int64_t first = assignment.first(transport.rank());
  std::vector<TreeLeaves> mine;
  for (std::int64_t b = 0; b < assignment.count(transport.rank()); ++b)
    mine.emplace_back(forest.lattice, forest.blocks[index(first + b)]);
  std::vector<const TreeLeaves*> views;
  for (const TreeLeaves& block : mine) views.push_back(&block);

  std::vector<Met> told;
  const auto contacts = matchLeaves(transport, assignment, views, through);
  ASSERT_EQ(contacts.size(), mine.size());
  for (std::size_t b = 0; b < mine.size(); ++b) {
    const auto& leaves = forest.blocks[index(first) + b];
    const auto& names = forest.names[index(first) + b];
    std::set<Names> expected, found;
    for (std::size_t i = 0; i < leaves.size(); ++i)
      for (std::size_t j = i + 1; j < leaves.size(); ++j)
        if (leaves[i].isGhost == 0 && leaves[j].isGhost == 0 &&
            touch(forest.lattice, leaves[i], leaves[j], through))
          expected.emplace(std::minmax(names[i], names[j]));
    for (const auto& [i, j] : mine[b].contacts(through, serialFor))
      EXPECT_TRUE(found.emplace(std::minmax(names[i], names[j])).second) << "a pair came twice";
    EXPECT_EQ(found, expected) << "block " << b << " seed " << seed;
    for (const LeafContact& contact : contacts[b])
      told.push_back({names[index(contact.leaf)], leaves[index(contact.leaf)].isGhost,
                      first + static_cast<std::int64_t>(b), contact.key});
  }

  std::set<Names> expected, found;
  std::set<Names> expectedGhosts, foundGhosts;  // name, block of the ghost
  for (std::size_t b = 0; b < forest.blocks.size(); ++b) {
    for (std::size_t i = 0; i < forest.blocks[b].size(); ++i) {
      const TreeLeaf& one = forest.blocks[b][i];
      if (one.isGhost != 0 && forest.names[b][i] >= 0)
        expectedGhosts.emplace(forest.names[b][i], static_cast<std::int64_t>(b));
      for (std::size_t c = b + 1; c < forest.blocks.size() && one.isGhost == 0; ++c)
        for (std::size_t j = 0; j < forest.blocks[c].size(); ++j)
          if (forest.blocks[c][j].isGhost == 0 &&
              touch(forest.lattice, one, forest.blocks[c][j], through))
            expected.emplace(std::minmax(forest.names[b][i], forest.names[c][j]));
    }
  }
  std::map<EntityKey, std::vector<Met>> groups;
  for (const Met& met : allgatherv(transport, told)) groups[met.key].push_back(met);
  for (const auto& [key, group] : groups) {
    std::vector<std::int64_t> names;
    for (const Met& met : group)
      if (met.isGhost == 0) names.push_back(met.name);
    ASSERT_TRUE(names.size() == 1 || (names.size() == 2 && group.size() == 2));
    if (names.size() == 2) found.emplace(std::minmax(names[0], names[1]));
    for (const Met& met : group) {
      EXPECT_TRUE(met.isGhost == 0 || met.name == names[0]);
      if (met.isGhost != 0) foundGhosts.emplace(met.name, met.block);
    }
  }
  EXPECT_EQ(found, expected) << "seed " << seed;
  EXPECT_EQ(foundGhosts, expectedGhosts) << "seed " << seed;
}

TreeLattice lattice(std::array<std::int64_t, 3> roots, std::array<std::int32_t, 3> isFlat,
                    int factor, int depth) {
  TreeLattice lattice;
  lattice.roots = roots;
  lattice.isFlat = isFlat;
  lattice.factor = factor;
  lattice.depth = depth;
  return lattice;
}

TEST(TreeLeaves, TouchAsTheirBoxesDo) {
  const TreeLattice lattices[] = {
      lattice({3, 2, 2}, {0, 0, 0}, 2, 2), lattice({2, 2, 1}, {0, 0, 0}, 3, 1),
      lattice({4, 3, 1}, {0, 0, 1}, 2, 3), lattice({1, 3, 3}, {1, 0, 0}, 3, 2),
      lattice({3, 1, 4}, {0, 1, 0}, 2, 3), lattice({1, 1, 7}, {1, 1, 0}, 3, 3),
      lattice({1, 1, 1}, {0, 0, 0}, 2, 2)};
  for (const TreeLattice& one : lattices) {
    for (const Through through : {Through::Faces, Through::Edges, Through::Points}) {
      for (std::uint64_t seed = 0; seed < (Sanitized ? 2 : 8); ++seed) {
        const Forest forest = randomForest(one, 1 + static_cast<std::int64_t>(seed % 6), seed);
        onRanks(static_cast<int>(1 + seed % 4),
                [&](Transport& transport) { matchAndCompare(transport, forest, through, seed); });
      }
    }
  }
}

TEST(TreeLeaves, AreFoundByPlace) {
  const TreeLattice two = lattice({2, 1, 1}, {0, 0, 1}, 2, 2);
  const TreeLeaves leaves(two, {{{0, 0, 0}, 0, 0}, {{4, 0, 0}, 1, 0}, {{6, 2, 0}, 1, 1}});
  EXPECT_EQ(leaves.find({3, 3, 0}), 0);
  EXPECT_EQ(leaves.find({5, 1, 0}), 1);
  EXPECT_EQ(leaves.find({6, 1, 0}), -1);
  EXPECT_EQ(leaves.find({7, 3, 0}), -1) << "a ghost";
  EXPECT_FALSE(leaves.isOnBorder({4, 4, 0}));
  EXPECT_TRUE(TreeLeaves(two, {{{0, 0, 0}, 0, 0}}).isOnBorder({4, 1, 0}));
  EXPECT_FALSE(TreeLeaves(two, {{{0, 0, 0}, 0, 0}}).isOnBorder({3, 1, 0}));
}

TEST(TreeLeaves, ThatCannotBeAreRefused) {
  const TreeLattice two = lattice({2, 1, 1}, {0, 0, 1}, 2, 2);
  const auto error = [&](std::vector<TreeLeaf> leaves) {
    return errorOf([&] { TreeLeaves(two, std::move(leaves)); });
  };
  EXPECT_NE(error({{{0, 0, 0}, 0, 0}, {{2, 0, 0}, 1, 0}}).find("overlaps"), std::string::npos);
  EXPECT_NE(error({{{2, 0, 0}, 1, 0}, {{0, 0, 0}, 0, 0}}).find("overlaps"), std::string::npos);
  EXPECT_NE(error({{{1, 0, 0}, 1, 0}}).find("not in the lattice"), std::string::npos);
  EXPECT_NE(error({{{8, 0, 0}, 0, 0}}).find("not in the lattice"), std::string::npos);
  EXPECT_NE(error({{{0, 0, 0}, 3, 0}}).find("not in the lattice"), std::string::npos);
  EXPECT_NE(errorOf([&] {
              lattice({2, 1, 1}, {0, 0, 1}, 2, 60).check();
            }).find("2^53"),
            std::string::npos);
}

TEST(TreeLeaves, OfATreeOnTwoRanksAreRefused) {
  onRanks(3, [](Transport& transport) {
    const TreeLattice two = lattice({2, 1, 1}, {0, 0, 1}, 2, 2);
    const TreeLeaves twice[] = {TreeLeaves(two, {{{4, 0, 0}, 0, 0}}),
                                TreeLeaves(two, {{{4, 2, 0}, 1, 0}})};
    std::vector<std::int64_t> counts(static_cast<std::size_t>(transport.size()), 0);
    ++counts.front();
    ++counts.back();
    std::vector<const TreeLeaves*> mine;
    if (transport.rank() == 0) mine.push_back(&twice[0]);
    if (transport.rank() == transport.size() - 1) mine.push_back(&twice[1]);
    const std::string error = errorOf([&] {
      static_cast<void>(matchLeaves(transport, Assignment(counts), mine, Through::Faces));
    });
    EXPECT_NE(error.find("tree 1 is on ranks 0 and"), std::string::npos) << error;
  });
}

}  // namespace
}  // namespace tributary
