// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Components/DistributedUnion.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "Support/Assignments.h"
#include "Support/Effort.h"
#include "Support/World.h"
#include "Tributary/Base/Bytes.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Components/UnionTuner.h"

namespace tributary {

/// For messages of failed expectations.
void PrintTo(const SetName& name, std::ostream* out) {
  *out << name.block << "." << name.set;
}

namespace {

using namespace testing;

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
  // Neighbors on the path are far apart in number.
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
  if (testing::world().size() > 1) GTEST_SKIP() << "simulated ranks need one process";
  underAdversaries(Sanitized ? 200 : 2000, [](std::uint64_t seed, Transport& transport) {
    const auto blocks = std::int64_t(2 + seed % 7);
    const Graph graph = seed % 3 == 0 ? spiral(blocks, 5) : randomGraph(blocks, 12, 1.2, seed);
    const auto& options = allOptions()[mix(seed) % allOptions().size()];
    expectRight(transport, spread(blocks, transport.size(), seed), graph, options);
  });
}

TEST(DistributedUnion, DetectorsAndBatchesChangeNothing) {
  const Graph graph = randomGraph(9, 40, 1.1, 5);
  for (const std::string& detector : detectorNames(WorkModel::AP)) {
    for (const std::size_t batchBytes : {std::size_t(1), std::size_t(1) << 16}) {
      UnionOptions options;
      options.exchange.detector = detector;
      options.exchange.batchBytes = batchBytes;
      onRanks(1, [&](Transport& transport) {
        expectRight(transport, spread(9, transport.size(), 3), graph, options);
      });
    }
  }
}

/// Consecutive sets of the path lie on consecutive ranks, numbers ascend along a rank's part.
Graph pathOverRanks(std::int64_t ranks, std::int64_t perRank) {
  return path(ranks * perRank, [=](std::int64_t i) { return i % ranks * perRank + i / ranks; });
}

TEST(DistributedUnion, TreeUnionTakesTheLogarithmOfALongPath) {
  if (testing::world().size() > 1) GTEST_SKIP() << "simulated ranks need one process";
  VirtualTimeNetworkOptions network;
  network.ranks = 32;
  const std::int64_t perRank = Sanitized ? 4 : 16;
  const Assignment assignment(std::vector<std::int64_t>(32, perRank));
  // The other way round a label has a way of as many steps as the path has sets.
  for (const Graph& graph :
       {pathOverRanks(32, perRank), path(32 * perRank, [](std::int64_t i) { return i; })}) {
    std::int64_t rounds[2] = {0, 0};
    for (const auto method : {UnionMethod::LabelPropagation, UnionMethod::TreeUnion}) {
      makeVirtualTimeNetwork(network)->run([&](Transport& transport) {
        const UnionResult result =
            unite(transport, assignment, graph, makeOptions(method, Schedule::Synchronous));
        if (transport.rank() == 0) rounds[int(method)] = result.statistics.rounds;
      });
    }
    EXPECT_LE(rounds[int(UnionMethod::TreeUnion)], Sanitized ? 14 : 18);
    EXPECT_GE(rounds[int(UnionMethod::LabelPropagation)], 30);
  }
}

TEST(DistributedUnion, TwoBlocksOnTwoRanksNeedNoMessage) {
  if (testing::world().size() > 1) GTEST_SKIP() << "simulated ranks need one process";
  VirtualTimeNetworkOptions network;
  network.ranks = 2;
  // Both know all links.
  Graph graph;
  graph.sets = {200, 300};
  for (std::uint64_t e = 0; e < 250; ++e)
    graph.add({0, std::int64_t(mix(e) % 200)}, {1, std::int64_t(mix(e + 1000) % 300)});
  makeVirtualTimeNetwork(network)->run([&](Transport& transport) {
    const Assignment assignment({1, 1});
    expectRight(transport, assignment, graph, {});
    EXPECT_EQ(unite(transport, assignment, graph, {}).statistics.messages, 0);
  });
}

TEST(DistributedUnion, SetsWithoutLinksCostNoMessages) {
  for (const UnionOptions& options : allOptions()) {
    onRanks(3, [&](Transport& transport) {
      Graph graph;
      graph.sets.assign(std::size_t(transport.size()), 100000);
      if (transport.size() > 1) graph.add({0, 77}, {1, 99999});
      const auto result = unite(transport, Assignment::gather(transport, 1), graph, options);
      const auto all = reduceStatistics(transport, result.statistics);
      EXPECT_LE(all.messages, 2);
      for (std::size_t s = 0; s < 100000; ++s) {
        const SetName own{transport.rank(), std::int64_t(s)};
        const SetName expected = own == SetName{1, 99999} ? SetName{0, 77} : own;
        ASSERT_EQ(result.root[0][s], expected);
      }
    });
  }
}

TEST(DistributedUnion, AMonitorAborts) {
  for (const UnionOptions& each : allOptions()) {
    onRanks(
        3,
        [&](Transport& transport) {
          UnionOptions options = each;
          const bool last = transport.rank() == transport.size() - 1;
          options.monitor = [&] { return !last; };
          const UnionResult result = unite(transport, Assignment::gather(transport, 2),
                                           spiral(2 * transport.size(), 50), options);
          EXPECT_TRUE(result.aborted);
          expectRight(transport, Assignment::gather(transport, 2), spiral(2 * transport.size(), 3),
                      each);
        },
        testing::Left::Messages);
  }
}

TEST(UnionTuner, ChoosesOnceAndChangesNoRoot) {
  const std::vector<UnionOptions> all = allOptions();
  const std::size_t step = thorough() || (!Sanitized && world().size() < 8) ? 1 : 3;
  for (std::size_t o = 0; o < all.size(); o += step) {
    const UnionOptions& each = all[o];
    onRanks(3, [&](Transport& transport) {
      const bool hasOthers = transport.size() > 1;
      const std::int64_t blocks = 2 * transport.size();
      const Assignment assignment = Assignment::gather(transport, 2);
      UnionTuner tuner;
      UnionOptions options = each;
      options.tuner = &tuner;
      // Tells whether there were trials, and checks that all ranks say the same.
      const auto tuningOf = [&](const Graph& graph) {
        expectRight(transport, assignment, graph, options);
        const UnionTuning tuning = tuner.takeTuning();
        EXPECT_GT(tuning.actualSeconds.value_or(0), 0);
        EXPECT_FALSE(tuner.takeTuning().actualSeconds);
        EXPECT_EQ(tuning.seconds > 0, tuning.trials > 0);
        EXPECT_EQ(bool(tuning.expected), hasOthers);
        for (const double value : {double(tuning.setting.batchBytes), tuning.setting.holdTime,
                                   double(tuning.trials), tuning.seconds, *tuning.actualSeconds,
                                   tuning.expected ? tuning.expected->seconds : 0})
          EXPECT_EQ(allreduce(transport, ReduceOp::Min, value),
                    allreduce(transport, ReduceOp::Max, value));
        return tuning;
      };
      const UnionTuning first = tuningOf(spiral(blocks, 20));
      EXPECT_EQ(first.trials >= exchangeSettings().size(), hasOthers);
      // Again, and with something else to unite.
      for (const Graph& graph : {spiral(blocks, 20), randomGraph(blocks, 40, 1.3, 8)}) {
        const UnionTuning again = tuningOf(graph);
        EXPECT_EQ(again.trials, 0u);
        EXPECT_EQ(again.setting.batchBytes, first.setting.batchBytes);
        EXPECT_EQ(again.setting.holdTime, first.setting.holdTime);
      }
      options.method = options.method == UnionMethod::TreeUnion ? UnionMethod::LabelPropagation
                                                                : UnionMethod::TreeUnion;
      EXPECT_EQ(tuningOf(spiral(blocks, 5)).trials > 0, hasOthers);
      // Blocks come and go.
      const auto trialsWith = [&](std::int64_t count) {
        const auto many = Assignment::gather(transport, count);
        expectRight(transport, many, spiral(many.total(), 5), options);
        return tuner.takeTuning().trials;
      };
      EXPECT_EQ(trialsWith(4), 0u);
      EXPECT_EQ(trialsWith(1), 0u);
      EXPECT_EQ(trialsWith(5) > 0, hasOthers);
      EXPECT_EQ(trialsWith(2) > 0, hasOthers);
      // On one rank only.
      if (transport.rank() == transport.size() - 1) options.exchange.arrivals = 0.5;
      EXPECT_EQ(tuningOf(spiral(blocks, 5)).trials > 0, hasOthers);
    });
  }
}

TEST(UnionTuner, FindsTheFastestSetting) {
  if (testing::world().size() > 1) GTEST_SKIP() << "simulated ranks need one process";
  // Messages that are dear to send and to receive, so that it pays to wait for some more.
  VirtualTimeNetworkOptions network;
  network.ranks = 16;
  network.within.overhead = 50e-6;
  const Assignment assignment(std::vector<std::int64_t>(16, 3));
  const Graph graph = spiral(48, 1);
  UnionOptions options = makeOptions(UnionMethod::LabelPropagation, Schedule::Asynchronous);
  const auto secondsWith = [&](const ExchangeSetting& setting) {
    UnionOptions with = options;
    setting.applyTo(with.exchange);
    double seconds = 0;
    makeVirtualTimeNetwork(network)->run([&](Transport& transport) {
      const UnionResult result = unite(transport, assignment, graph, with);
      if (transport.rank() == 0) seconds = result.statistics.totalSeconds;
    });
    return seconds;
  };
  std::vector<double> all;
  for (const ExchangeSetting& setting : exchangeSettings()) all.push_back(secondsWith(setting));
  const double best = *std::min_element(all.begin(), all.end());
  ASSERT_GT(all.front(), 1.05 * best) << "nothing to be won";
  UnionTuning tuning;
  makeVirtualTimeNetwork(network)->run([&](Transport& transport) {
    UnionTuner tuner;
    UnionOptions with = options;
    with.tuner = &tuner;
    expectRight(transport, assignment, graph, with);
    if (transport.rank() == 0) tuning = tuner.takeTuning();
  });
  EXPECT_LE(secondsWith(tuning.setting), 1.01 * best);
  ASSERT_TRUE(tuning.expected);
  EXPECT_NEAR(tuning.expected->seconds, best, 0.05 * best);
}

TEST(UnionTuner, TriesNothingWhereNothingIsSent) {
  onRanks(3, [&](Transport& transport) {
    UnionTuner tuner;
    UnionOptions options;
    options.tuner = &tuner;
    Graph graph;
    graph.sets.assign(std::size_t(transport.size()), 100);
    for (int i = 0; i < 2; ++i) {
      expectRight(transport, Assignment::gather(transport, 1), graph, options);
      const UnionTuning tuning = tuner.takeTuning();
      EXPECT_EQ(tuning.trials, 0u);
      EXPECT_FALSE(tuning.expected);
      EXPECT_EQ(tuning.setting.batchBytes, ExchangeOptions().batchBytes);
    }
  });
}

TEST(UnionTuner, AbortsAndErrorsLeaveNoChoice) {
  onRanks(
      3,
      [&](Transport& transport) {
        const bool last = transport.rank() == transport.size() - 1;
        const Assignment assignment = Assignment::gather(transport, 2);
        const Graph graph = spiral(2 * transport.size(), 50);
        UnionTuner tuner;
        UnionOptions options;
        options.tuner = &tuner;
        for (const int calls : {0, 200}) {
          int left = calls;
          options.monitor = [&] { return !last || left-- > 0; };
          const UnionResult result = unite(transport, assignment, graph, options);
          EXPECT_TRUE(result.aborted || calls > 0);
          EXPECT_FALSE(result.aborted && tuner.takeTuning().expected);
        }
        // In the first union, and in a trial.
        for (const int calls : {0, 20, 200}) {
          UnionTuner another;
          options.tuner = &another;
          int left = calls;
          bool broke = false;
          options.monitor = [&] {
            if (!last || left-- > 0) return true;
            broke = true;
            throw Error("the monitor broke");
          };
          const std::string error = errorOf([&] { unite(transport, assignment, graph, options); });
          const auto everywhere = allreduce(transport, ReduceOp::Or, std::int64_t(broke));
          EXPECT_EQ(error.find("the monitor broke") != error.npos, everywhere != 0) << error;
          if (everywhere) {
            EXPECT_FALSE(another.takeTuning().expected);
          }
        }
        options.monitor = {};
        options.tuner = &tuner;
        options.exchange.stallTimeout = last ? -1 : 120;
        EXPECT_NE(errorOf([&] { unite(transport, assignment, graph, options); }), "");
        options.exchange.stallTimeout = 120;
        expectRight(transport, assignment, graph, options);
        EXPECT_EQ(bool(tuner.takeTuning().expected), transport.size() > 1);
      },
      testing::Left::Messages);
}

TEST(DistributedUnion, WrongArgumentsAreRefusedOnAllRanks) {
  Transport& transport = testing::world();
  const Assignment assignment = Assignment::gather(transport, 1);
  const bool last = transport.rank() == transport.size() - 1;
  const auto error = [&](std::int64_t sets, std::vector<std::vector<SetLink>> links,
                         UnionMethod method = UnionMethod::TreeUnion) {
    UnionOptions options;
    options.method = method;
    if (!last) links.assign(1, {});
    return errorOf([&] {
      static_cast<void>(uniteSets(transport, assignment, {last ? sets : 1}, links, options));
    });
  };
  const BlockId own = transport.size() - 1;
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(has(error(1, {{}, {}}), "links of 2 blocks given for 1 local blocks"));
  EXPECT_TRUE(has(error(-2, {{}}), "-2 sets"));
  EXPECT_TRUE(has(error(1, {{{1, own, 0}}}), "there is no such set"));
  EXPECT_TRUE(has(error(1, {{{-1, own, 0}}}), "there is no such set"));
  EXPECT_TRUE(has(error(1, {{{0, own, 1}}}), "there is no such set"));
  EXPECT_TRUE(has(error(1, {{{0, own + 1, 0}}}), "there is no such set"));
  EXPECT_TRUE(has(error(1, {{{0, 0, -1}}}), "there is no such set"));
  EXPECT_TRUE(has(error(1, {{}}, static_cast<UnionMethod>(7)), "unknown method"));
  // A rank without blocks, of which none is called.
  std::vector<std::int64_t> counts(std::size_t(transport.size()), 1);
  counts.back() = 0;
  const std::vector<std::int64_t> sets(1, 1);
  EXPECT_TRUE(has(
      errorOf([&] { static_cast<void>(uniteSets(transport, Assignment(counts), sets, {{}}, {})); }),
      "of 1 blocks given for 0 local blocks"));
}

// ---- Malformed messages: the last rank runs a program of its own ----

/// Each rank's set 0 is linked with those of the ranks beside it; set 1 has no links.
std::string errorWithStranger(Transport& transport, UnionMethod method,
                              const std::vector<Bytes>& toFirstBlock) {
  const Assignment assignment(std::vector<std::int64_t>(std::size_t(transport.size()), 1));
  UnionOptions options;
  options.method = method;
  if (transport.rank() < transport.size() - 1) {
    Graph graph;
    graph.sets.assign(std::size_t(transport.size()), 2);
    for (BlockId b = 1; b < transport.size(); ++b) graph.add({b - 1, 0}, {b, 0});
    return errorOf([&] { unite(transport, assignment, graph, options); });
  }
  return errorOf([&] {
    bool sent = false;
    Exchange exchange(transport, assignment, {{}}, options.exchange,
                      [&](BlockId, Mailbox& mailbox) {
                        while (mailbox.dequeueView()) {
                        }
                        for (const Bytes& bytes : toFirstBlock)
                          if (!sent) mailbox.enqueueRaw(0, bytes.data(), bytes.size());
                        sent = true;
                        return false;
                      });
    exchange.run();
  });
}

Bytes treeMessage(std::int32_t kind, std::int32_t rank, SetName name, SetName lower) {
  return Writer().value(kind).value(rank).value(name).value(lower).take();
}
Bytes labelMessage(std::int64_t set, SetName label) {
  return Writer().value(set).value(label).take();
}

TEST(DistributedUnion, MalformedMessagesAreAnErrorOnAllRanks) {
  constexpr std::int32_t Same = 0, Ask = 1;
  const SetName right{0, 0};
  onRanks(2, [&](Transport& transport) {
    if (transport.size() == 1) return;
    const auto stranger = std::int32_t(transport.size() - 1);
    Bytes tooLong = treeMessage(Ask, stranger, right, {});
    tooLong.resize(tooLong.size() + 1);
    const std::vector<Bytes> tree = {Bytes(3),
                                     tooLong,
                                     treeMessage(2, stranger, right, {}),
                                     treeMessage(Ask, -1, right, {}),
                                     treeMessage(Ask, stranger + 1, right, {}),
                                     treeMessage(Ask, 0, right, {}),
                                     treeMessage(Ask, stranger, {stranger, 0}, {}),
                                     treeMessage(Ask, stranger, {7777, 0}, {}),
                                     treeMessage(Ask, stranger, {0, 1}, {}),
                                     treeMessage(Ask, stranger, {0, 2}, {}),
                                     treeMessage(Ask, stranger, {0, -1}, {}),
                                     treeMessage(Same, stranger, right, right),
                                     treeMessage(Same, stranger, right, {0, 1}),
                                     treeMessage(Same, stranger, {stranger, 0}, {-1, 0}),
                                     treeMessage(Same, stranger, {stranger, 0}, {0, -1}),
                                     treeMessage(Same, stranger, {stranger, 0}, {0, 1}),
                                     treeMessage(Same, stranger, {stranger, 0}, {0, 1 << 20})};
    for (std::size_t i = 0; i < tree.size(); ++i) {
      EXPECT_NE(errorWithStranger(transport, UnionMethod::TreeUnion, {tree[i]}).find("malformed"),
                std::string::npos)
          << "message " << i;
    }
    if (transport.size() > 2) return;  // the first block knows its neighbor only
    const std::vector<Bytes> labels = {Bytes(3),
                                       Bytes(25),
                                       labelMessage(1, right),
                                       labelMessage(-1, right),
                                       labelMessage(0, {stranger, 0}),
                                       labelMessage(0, {stranger, 5}),
                                       labelMessage(0, {-1, 0}),
                                       labelMessage(0, {0, -1}),
                                       labelMessage(0, {0, 1}),
                                       labelMessage(0, {0, 1 << 20})};
    for (std::size_t i = 0; i < labels.size(); ++i) {
      EXPECT_NE(errorWithStranger(transport, UnionMethod::LabelPropagation, {labels[i]})
                    .find("malformed"),
                std::string::npos)
          << "message " << i;
    }
  });
}

TEST(DistributedUnion, RandomMessagesDoNoHarm) {
  onRanks(
      3,
      [&](Transport& transport) {
        for (std::uint64_t seed = 0; seed < (Sanitized ? 100 : 300); ++seed) {
          auto random = [n = seed * 1000]() mutable { return mix(++n); };
          const auto name = [&] {
            return SetName{std::int64_t(random() % std::uint64_t(transport.size() + 1)),
                           std::int64_t(random() % 4)};
          };
          std::vector<Bytes> tree, labels;
          for (int i = 0; i < 6; ++i) {
            // Mostly plausible, or nothing gets past the first check.
            const SetName lower = random() % 4 ? SetName{0, 0} : name();
            tree.push_back(treeMessage(std::int32_t(random() % 2), transport.size() - 1,
                                       random() % 2 ? name() : SetName{0, 0}, lower));
            labels.push_back(labelMessage(std::int64_t(random() % 2), lower));
          }
          const std::string errors[] = {
              errorWithStranger(transport, UnionMethod::TreeUnion, tree),
              errorWithStranger(transport, UnionMethod::LabelPropagation, labels)};
          for (const std::string& error : errors) {
            EXPECT_TRUE(error.empty() || error.find("malformed") != std::string::npos) << error;
          }
        }
      },
      testing::Left::Messages);
}

}  // namespace
}  // namespace tributary
