// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Components/Matching.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "Support/Assignments.h"
#include "Support/Effort.h"
#include "Support/World.h"
#include "Tributary/Base/Bytes.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Collective/Rendezvous.h"
#include "Tributary/Components/Connection.h"
#include "Tributary/Components/SetLinks.h"

namespace tributary {
namespace {

using namespace testing;

using Keys = std::vector<std::vector<EntityKey>>;
using Matches = std::vector<std::vector<Match>>;
using Links = std::vector<std::vector<SetLink>>;

/// The entities of all blocks, the same on every rank.
struct Problem {
  Keys keys;
  std::vector<std::vector<std::uint32_t>> sets;
};

/// Entities out of few, so that many blocks share some.
Problem randomProblem(std::int64_t blocks, std::uint64_t seed) {
  Problem problem;
  for (std::int64_t b = 0; b < blocks; ++b) {
    const std::uint64_t block = seed * 1000 + static_cast<std::uint64_t>(b);
    std::set<std::int64_t> ids;
    const auto count = mix(block) % 5 == 0 ? 0 : mix(block) % 60;
    for (std::uint64_t i = 0; i < count; ++i) {
      ids.insert(static_cast<std::int64_t>(mix(block * 100 + i) % 80));
    }
    problem.keys.emplace_back();
    problem.sets.emplace_back();
    for (const std::int64_t id : ids) {
      problem.keys.back().push_back(keyOfPoint(id));
      const std::uint64_t random = mix(block * 777 + static_cast<std::uint64_t>(id));
      problem.sets.back().push_back(random % 3 == 0 ? NoSet
                                                    : static_cast<std::uint32_t>(random / 3 % 7));
    }
  }
  return problem;
}

/// Every key's holders in ascending order.
std::map<EntityKey, std::vector<std::pair<BlockId, std::int64_t>>> holders(const Keys& keys) {
  std::map<EntityKey, std::vector<std::pair<BlockId, std::int64_t>>> all;
  for (std::size_t b = 0; b < keys.size(); ++b)
    for (std::size_t e = 0; e < keys[b].size(); ++e)
      all[keys[b][e]].emplace_back(static_cast<BlockId>(b), static_cast<std::int64_t>(e));
  return all;
}

auto asTuple(const Match& m) {
  return std::make_tuple(m.local, m.block, m.remote);
}
auto asTuple(const SetLink& l) {
  return std::make_tuple(l.local, l.block, l.remote);
}

using Tuples = std::vector<std::vector<std::tuple<std::int64_t, BlockId, std::int64_t>>>;

template <class T>
Tuples asTuples(const std::vector<std::vector<T>>& lists) {
  Tuples tuples;
  for (const auto& list : lists) {
    tuples.emplace_back();
    for (const T& item : list) tuples.back().push_back(asTuple(item));
  }
  return tuples;
}

Tuples expectedMatches(const Problem& problem) {
  Tuples expected(problem.keys.size());
  for (const auto& [key, who] : holders(problem.keys)) {
    for (std::size_t i = 1; i < who.size(); ++i) {
      expected[std::size_t(who[0].first)].emplace_back(who[0].second, who[i].first, who[i].second);
      expected[std::size_t(who[i].first)].emplace_back(who[i].second, who[0].first, who[0].second);
    }
  }
  for (auto& block : expected) std::sort(block.begin(), block.end());
  return expected;
}

Tuples expectedLinks(const Problem& problem) {
  Tuples expected(problem.keys.size());
  for (const auto& [key, who] : holders(problem.keys)) {
    std::set<std::pair<BlockId, std::int64_t>> sets;
    for (const auto& [block, entity] : who) {
      const std::uint32_t set = problem.sets[std::size_t(block)][std::size_t(entity)];
      if (set != NoSet) sets.emplace(block, set);
    }
    for (const auto& set : sets) {
      const auto& least = *sets.begin();
      if (set == least) continue;
      expected[std::size_t(least.first)].emplace_back(least.second, set.first, set.second);
      expected[std::size_t(set.first)].emplace_back(set.second, least.first, least.second);
    }
  }
  for (auto& block : expected) {
    std::sort(block.begin(), block.end());
    block.erase(std::unique(block.begin(), block.end()), block.end());
  }
  return expected;
}

/// A rank's part of what there is for all blocks.
template <class T>
std::vector<T> partOf(const std::vector<T>& all, const Assignment& assignment, int rank) {
  return {all.begin() + assignment.first(rank), all.begin() + assignment.first(rank + 1)};
}

void checkProblem(Transport& transport, const Assignment& assignment, const Problem& problem) {
  const int rank = transport.rank();
  const Matches matches =
      matchEntities(transport, assignment, partOf(problem.keys, assignment, rank));
  EXPECT_EQ(asTuples(matches), partOf(expectedMatches(problem), assignment, rank));
  std::vector<Span<const std::uint32_t>> sets;
  for (BlockId b = assignment.first(rank); b < assignment.first(rank + 1); ++b)
    sets.emplace_back(problem.sets[std::size_t(b)]);
  EXPECT_EQ(asTuples(linkSets(transport, assignment, matches, sets)),
            partOf(expectedLinks(problem), assignment, rank));
}

TEST(Matching, SharersMeetTheirOwner) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    onRanks(5, [&](Transport& transport) {
      const auto blocks = static_cast<std::int64_t>(seed);
      checkProblem(transport, spread(blocks, transport.size(), seed), randomProblem(blocks, seed));
    });
  }
}

TEST(Matching, UnderAdversaries) {
  if (testing::world().size() > 1) GTEST_SKIP() << "simulated ranks need one process";
  underAdversaries(Sanitized ? 20 : 200, [](std::uint64_t seed, Transport& transport) {
    checkProblem(transport, spread(6, transport.size(), seed), randomProblem(6, seed));
  });
}

TEST(Matching, AKeyTwiceInABlockIsSharedWithItself) {
  Transport& transport = testing::world();
  const Assignment assignment = Assignment::gather(transport, 1);
  Problem problem;
  for (BlockId b = 0; b < assignment.total(); ++b) {
    problem.keys.push_back({keyOfPoint(7), keyOfPoint(b + 100), keyOfPoint(7)});
    problem.sets.push_back({0, 1, 2});
  }
  checkProblem(transport, assignment, problem);
}

TEST(Matching, KeysMeanWhatTheyAreMadeOf) {
  const double zero[3] = {0.0, 1.0, -0.0}, minusZero[3] = {-0.0, 1.0, 0.0};
  const double swapped[3] = {1.0, 0.0, 0.0};
  const double next[3] = {0.0, std::nextafter(1.0, 2.0), 0.0};
  EXPECT_EQ(keyOfPoint(zero), keyOfPoint(minusZero));
  EXPECT_NE(keyOfPoint(zero), keyOfPoint(swapped));
  EXPECT_NE(keyOfPoint(zero), keyOfPoint(next));
  EXPECT_NE(keyOfStructured(0, 1, 2, 3, 0), keyOfStructured(0, 1, 2, 3, 1));
  EXPECT_NE(keyOfStructured(0, 1, 2, 3, 0), keyOfStructured(0, 2, 1, 3, 0));
  EXPECT_NE(keyOfStructured(0, 1, 2, 3, 0), keyOfStructured(1, 1, 2, 3, 0));
  std::vector<EntityKey> face = {keyOfPoint(1), keyOfPoint(2), keyOfPoint(3)};
  std::vector<EntityKey> turned = {face[2], face[0], face[1]}, edge = {face[0], face[1]};
  EXPECT_EQ(keyOfEntity(face), keyOfEntity(turned));
  EXPECT_NE(keyOfEntity(face), keyOfEntity(edge));
  std::set<std::uint64_t> high, low;
  for (std::int64_t i = 0; i < 100000; ++i) {
    high.insert(keyOfPoint(i).high >> 24);
    low.insert(keyOfPoint(i).low >> 24);
  }
  EXPECT_GT(high.size(), 99900u);  // of 2^40 values
  EXPECT_GT(low.size(), 99900u);
}

TEST(Matching, WrongArgumentsAreRefusedOnAllRanks) {
  Transport& transport = testing::world();
  const Assignment assignment = Assignment::gather(transport, 1);
  const bool last = transport.rank() == transport.size() - 1;
  EXPECT_NE(errorOf([&] {
              static_cast<void>(matchEntities(transport, assignment, Keys(last ? 2 : 1)));
            }).find("keys of 2 blocks given for 1 local blocks"),
            std::string::npos);
  const std::vector<std::uint32_t> sets = {0};
  EXPECT_NE(errorOf([&] {
              static_cast<void>(linkSets(transport, assignment, Matches(last ? 2 : 1),
                                         {Span<const std::uint32_t>(sets)}));
            }).find("matches of 2"),
            std::string::npos);
  const auto linking = [&](const Match& match) {
    return errorOf([&] {
      static_cast<void>(linkSets(transport, assignment,
                                 {last ? Matches::value_type{match} : Matches::value_type{}},
                                 {Span<const std::uint32_t>(sets)}));
    });
  };
  EXPECT_NE(linking({1, 0, 0}).find("entity 1"), std::string::npos);
  EXPECT_NE(linking({0, -1, 0}).find("block -1"), std::string::npos);
}

/// All ranks but the last match or link, which sends the first rank other bytes in both phases.
template <class Collective>
std::string errorWithStranger(Transport& transport, const Bytes& question, const Bytes& answer,
                              Collective&& collective) {
  if (transport.rank() < transport.size() - 1) return errorOf([&] { collective(); });
  return errorOf([&] {
    agreeOnError(transport, {});
    ErrorCollector errors;
    for (const Bytes& bytes : {question, answer}) {
      std::vector<Bytes> toRanks(std::size_t(transport.size()));
      toRanks[0] = bytes;
      (void)exchangeBytes(transport, std::move(toRanks), errors);
    }
    errors.agree(transport);
    agreeOnError(transport, {});
  });
}

template <class... Numbers>
Bytes bytesOf(Numbers... numbers) {
  Writer writer;
  (writer.value(std::int64_t(numbers)), ...);
  return writer.take();
}

TEST(Matching, MalformedMessagesAreAnErrorOnAllRanks) {
  onRanks(2, [](Transport& transport) {
    if (transport.size() == 1) return;
    const int stranger = transport.size() - 1;
    const Assignment assignment(std::vector<std::int64_t>(std::size_t(transport.size()), 1));
    // Of a holder: key, block and entity; of an answer: block, entity, other block and entity.
    const std::vector<std::pair<Bytes, Bytes>> matching = {{Bytes(5), {}},
                                                           {bytesOf(1, 1, 0, 0), {}},
                                                           {bytesOf(1, 1, -1, 0), {}},
                                                           {bytesOf(1, 1, stranger + 1, 0), {}},
                                                           {{}, Bytes(33)},
                                                           {{}, bytesOf(stranger, 0, 0, 0)},
                                                           {{}, bytesOf(-1, 0, stranger, 0)},
                                                           {{}, bytesOf(0, 1, stranger, 0)},
                                                           {{}, bytesOf(0, -1, stranger, 0)},
                                                           {{}, bytesOf(0, 0, stranger + 1, 0)},
                                                           {{}, bytesOf(0, 0, stranger, -1)}};
    for (std::size_t i = 0; i < matching.size(); ++i) {
      const std::string error = errorWithStranger(
          transport, matching[i].first, matching[i].second,
          [&] { static_cast<void>(matchEntities(transport, assignment, {{keyOfPoint(1)}})); });
      EXPECT_NE(error.find("malformed message"), std::string::npos) << "message " << i;
    }
    // Of a set: owner, entity, block and set; of a link: block, set, other block and set.
    const std::vector<std::pair<Bytes, Bytes>> linking = {{Bytes(5), {}},
                                                          {bytesOf(stranger, 0, stranger, 0), {}},
                                                          {bytesOf(-1, 0, stranger, 0), {}},
                                                          {bytesOf(0, 1, stranger, 0), {}},
                                                          {bytesOf(0, -1, stranger, 0), {}},
                                                          {bytesOf(0, 0, 0, 0), {}},
                                                          {bytesOf(0, 0, stranger + 1, 0), {}},
                                                          {{}, Bytes(31)},
                                                          {{}, bytesOf(stranger, 0, 0, 0)},
                                                          {{}, bytesOf(0, 0, -1, 0)}};
    const std::vector<std::uint32_t> sets = {0};
    for (std::size_t i = 0; i < linking.size(); ++i) {
      const std::string error =
          errorWithStranger(transport, linking[i].first, linking[i].second, [&] {
            static_cast<void>(
                linkSets(transport, assignment, {{}}, {Span<const std::uint32_t>(sets)}));
          });
      EXPECT_NE(error.find("malformed message"), std::string::npos) << "message " << i;
    }
  });
}

TEST(Rendezvous, GroupsAreOfEqualKeysAndInOrder) {
  for (const std::size_t count : {0, 1, 2, 3, 100, 5000}) {
    struct Item {
      std::uint64_t key, number;
    };
    std::vector<Item> items;
    std::map<std::uint64_t, std::vector<std::uint64_t>> expected;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t key = mix(mix(i) % (count / 2 + 1));
      items.push_back({key, count - i});
      expected[key].insert(expected[key].begin(), count - i);
    }
    std::map<std::uint64_t, std::vector<std::uint64_t>> groups;
    forEachGroup(
        items, [](const Item& item) { return item.key; },
        [](const Item& a, const Item& b) {
          return a.key != b.key ? a.key < b.key : a.number < b.number;
        },
        [](const Item& a, const Item& b) { return a.key == b.key; },
        [&](Span<Item> group) {
          EXPECT_EQ(groups.count(group[0].key), 0u);
          for (const Item& item : group) groups[group[0].key].push_back(item.number);
        });
    EXPECT_EQ(groups, expected);
  }
}

}  // namespace
}  // namespace tributary
