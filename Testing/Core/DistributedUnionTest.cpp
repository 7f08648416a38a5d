#include "Tributary/Components/DistributedUnion.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "Assignments.h"
#include "Tributary/Error.h"
#include "World.h"

namespace tributary {

/// For messages of failed expectations.
void PrintTo(const SetName& name, std::ostream* out) {
  *out << name.block << "." << name.set;
}

namespace {

using testing::errorOf;
using testing::mix;
using testing::onRanks;
using testing::spread;
using testing::underAdversaries;

/// Sets of all blocks and the links between them, the same on every rank.
struct Graph {
  std::vector<std::int64_t> sets;  // by block
  std::vector<std::pair<SetName, SetName>> edges;

  std::int64_t blocks() const { return static_cast<std::int64_t>(sets.size()); }
  void add(SetName a, SetName b) { edges.emplace_back(a, b); }
};

/// By a serial union-find on all sets.
std::vector<std::vector<SetName>> expectedRoots(const Graph& graph) {
  std::vector<std::size_t> begin(graph.sets.size() + 1, 0);
  std::vector<SetName> names;
  for (std::size_t b = 0; b < graph.sets.size(); ++b) {
    begin[b + 1] = begin[b] + static_cast<std::size_t>(graph.sets[b]);
    for (std::int64_t s = 0; s < graph.sets[b]; ++s) names.push_back({static_cast<BlockId>(b), s});
  }
  std::vector<std::size_t> parent(names.size());
  std::iota(parent.begin(), parent.end(), std::size_t(0));
  const auto find = [&](std::size_t i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
  };
  const auto indexOf = [&](const SetName& name) {
    return begin[std::size_t(name.block)] + std::size_t(name.set);
  };
  for (const auto& [a, b] : graph.edges) {
    const std::size_t ra = find(indexOf(a)), rb = find(indexOf(b));
    parent[std::max(ra, rb)] = std::min(ra, rb);
  }
  std::vector<std::vector<SetName>> roots(graph.sets.size());
  for (std::size_t i = 0; i < names.size(); ++i)
    roots[std::size_t(names[i].block)].push_back(names[find(i)]);
  return roots;
}

UnionResult unite(Transport& transport, const Assignment& assignment, const Graph& graph,
                  const UnionOptions& options) {
  const BlockId first = assignment.first(transport.rank());
  const BlockId end = assignment.first(transport.rank() + 1);
  const std::vector<std::int64_t> sets(graph.sets.begin() + first, graph.sets.begin() + end);
  std::vector<std::vector<SetLink>> links(sets.size());
  const auto add = [&](const SetName& from, const SetName& to) {
    if (from.block >= first && from.block < end)
      links[std::size_t(from.block - first)].push_back({from.set, to.block, to.set});
  };
  for (const auto& [a, b] : graph.edges) {
    add(a, b);
    add(b, a);
  }
  return uniteSets(transport, assignment, sets, links, options);
}

void expectRight(Transport& transport, const Assignment& assignment, const Graph& graph,
                 const UnionOptions& options) {
  const auto expected = expectedRoots(graph);
  const UnionResult result = unite(transport, assignment, graph, options);
  EXPECT_FALSE(result.aborted);
  const BlockId first = assignment.first(transport.rank());
  ASSERT_EQ(static_cast<std::int64_t>(result.root.size()), assignment.count(transport.rank()));
  for (std::size_t b = 0; b < result.root.size(); ++b)
    EXPECT_EQ(result.root[b], expected[std::size_t(first) + b]) << "block " << first + BlockId(b);
}

UnionOptions makeOptions(UnionMethod method, Schedule schedule, double arrivals = 1) {
  UnionOptions options;
  options.method = method;
  options.exchange.schedule = schedule;
  options.exchange.arrivals = arrivals;
  return options;
}

const std::vector<UnionOptions>& allOptions() {
  static const std::vector<UnionOptions> all = [] {
    std::vector<UnionOptions> list;
    for (const auto method : {UnionMethod::LabelPropagation, UnionMethod::TreeUnion}) {
      list.push_back(makeOptions(method, Schedule::Synchronous));
      list.push_back(makeOptions(method, Schedule::Neighborhood, 1));
      list.push_back(makeOptions(method, Schedule::Neighborhood, 0.3));
      list.push_back(makeOptions(method, Schedule::Asynchronous));
    }
    return list;
  }();
  return all;
}

// ---- Graphs ----

/// Random edges, some repeated, some within a block or of a set with itself.
Graph randomGraph(std::int64_t blocks, std::int64_t mostSets, double degree, std::uint64_t seed) {
  Graph graph;
  std::int64_t total = 0;
  for (std::int64_t b = 0; b < blocks; ++b) {
    const auto random = mix(seed * 131 + std::uint64_t(b));
    graph.sets.push_back(random % 7 == 0 ? 0 : std::int64_t(random % std::uint64_t(mostSets + 1)));
    total += graph.sets.back();
  }
  const auto pick = [&](std::uint64_t random) {
    auto i = std::int64_t(random % std::uint64_t(total));
    BlockId block = 0;
    while (i >= graph.sets[std::size_t(block)]) i -= graph.sets[std::size_t(block++)];
    return SetName{block, i};
  };
  const auto edges = std::uint64_t(double(total) * degree / 2);
  for (std::uint64_t e = 0; e < edges; ++e) {
    graph.add(pick(mix(seed * 1000003 + 2 * e)), pick(mix(seed * 1000003 + 2 * e + 1)));
    if (mix(e) % 5 == 0) graph.edges.push_back(graph.edges.back());
  }
  return graph;
}

/// One set a block, linked along a path through the blocks that `place` gives.
template <class Place>
Graph path(std::int64_t length, Place&& place) {
  Graph graph;
  graph.sets.assign(std::size_t(length), 1);
  for (std::int64_t i = 1; i < length; ++i) graph.add({place(i - 1), 0}, {place(i), 0});
  return graph;
}

/// A line that passes through all blocks in turn, again and again.
Graph spiral(std::int64_t blocks, std::int64_t turns) {
  Graph graph;
  graph.sets.assign(std::size_t(blocks), turns);
  for (std::int64_t i = 1; i < blocks * turns; ++i)
    graph.add({(i - 1) % blocks, (i - 1) / blocks}, {i % blocks, i / blocks});
  return graph;
}

/// Teeth from the first block to the last, joined in the last only.
Graph comb(std::int64_t blocks, std::int64_t teeth) {
  Graph graph;
  graph.sets.assign(std::size_t(blocks), teeth);
  graph.sets.back() = 1;
  for (std::int64_t t = 0; t < teeth; ++t)
    for (std::int64_t b = 1; b < blocks; ++b) graph.add({b - 1, t}, {b, b == blocks - 1 ? 0 : t});
  return graph;
}

/// Every set of every block linked with one set of the middle block.
Graph star(std::int64_t blocks, std::int64_t sets) {
  Graph graph;
  graph.sets.assign(std::size_t(blocks), sets);
  for (BlockId b = 0; b < blocks; ++b)
    for (std::int64_t s = 0; s < sets; ++s) graph.add({b, s}, {blocks / 2, 0});
  return graph;
}

std::vector<Graph> specialGraphs() {
  const auto reversed = [](std::int64_t length) {
    return [=](std::int64_t i) { return length - 1 - i; };
  };
  // Neighbours on the path are far apart in number.
  const auto shuffled = [](std::int64_t length) {
    return [=](std::int64_t i) { return i * 7 % length; };
  };
  std::vector<Graph> graphs = {Graph{},
                               Graph{{0, 0, 0}, {}},
                               Graph{{3, 0, 5}, {}},
                               path(1, reversed(1)),
                               path(30, [](std::int64_t i) { return i; }),
                               path(30, reversed(30)),
                               path(33, shuffled(33)),
                               spiral(8, 20),
                               spiral(3, 50),
                               comb(9, 12),
                               star(8, 10)};
  // Two that touch in one set of one block, and one that does not.
  Graph touching = spiral(6, 4);
  for (auto& sets : touching.sets) sets += 4;
  for (std::int64_t i = 1; i < 24; ++i)
    touching.add({(i - 1) % 6, 4 + (i - 1) / 6}, {i % 6, 4 + i / 6});
  graphs.push_back(touching);
  touching.add({5, 3}, {0, 7});
  graphs.push_back(touching);
  return graphs;
}

// ---- Tests ----

TEST(DistributedUnion, SpecialGraphs) {
  std::uint64_t seed = 0;
  for (const Graph& graph : specialGraphs()) {
    ++seed;
    for (const UnionOptions& options : allOptions()) {
      onRanks(5, [&](Transport& transport) {
        expectRight(transport, spread(graph.blocks(), transport.size(), seed), graph, options);
      });
    }
  }
}

TEST(DistributedUnion, RandomGraphs) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    // Below, at and above where one region takes in most.
    const double degree = 0.5 + 0.25 * double(seed % 5);
    const std::int64_t blocks = 1 + std::int64_t(seed) * 2;
    const Graph graph = randomGraph(blocks, 60, degree, seed);
    for (const UnionOptions& options : allOptions()) {
      onRanks(4, [&](Transport& transport) {
        expectRight(transport, spread(blocks, transport.size(), seed), graph, options);
      });
    }
  }
}

TEST(DistributedUnion, UnderAdversaries) {
  underAdversaries(60, [](std::uint64_t seed, Transport& transport) {
    const auto blocks = std::int64_t(2 + seed % 7);
    const Graph graph = seed % 3 == 0 ? spiral(blocks, 5) : randomGraph(blocks, 12, 1.2, seed);
    const auto& options = allOptions()[seed % allOptions().size()];
    expectRight(transport, spread(blocks, transport.size(), seed), graph, options);
  });
}

}  // namespace
}  // namespace tributary
