// SPDX-License-Identifier: BSD-3-Clause
// The messages of all reductions over blocks.
#include <optional>
#include <string>

#include "Harness.h"
#include "Support/OneEach.h"
#include "Tributary/Collective/Assignment.h"
#include "Tributary/Reduction/AllReduce.h"
#include "Tributary/Reduction/AllToAll.h"
#include "Tributary/Reduction/ArrayMerge.h"
#include "Tributary/Reduction/Broadcast.h"
#include "Tributary/Reduction/Merge.h"
#include "Tributary/Reduction/Sort.h"
#include "Tributary/Reduction/Swap.h"

namespace tributary::fuzz {

namespace {

using testing::oneEach;

void add(const std::int64_t* lower, const std::int64_t* upper, std::int64_t* result,
         std::size_t count) {
  // Without overflow, whatever the other rank sends.
  for (std::size_t i = 0; i < count; ++i) result[i] = lower[i] ^ upper[i];
}

void concatenate(std::string& lower, std::string&& upper) {
  lower += upper;
}

void merge(Transport& transport) {
  MergeReduction<std::string> merge(transport, oneEach(transport), {2, 2}, concatenate);
  (void)merge.run({std::string(9, 'a')});
}

void mergeArrays(Transport& transport) {
  ArrayMergeReduction<std::int64_t> merge(transport, oneEach(transport), {4}, 5, add);
  std::vector<std::int64_t> array(5, 1);
  (void)merge.run({array.data()});
}

void swapArrays(Transport& transport) {
  SwapReduction<std::int64_t> swap(transport, oneEach(transport), {2, 2}, 6, add);
  std::vector<std::int64_t> array(6, 1);
  (void)swap.run({array.data()});
}

void broadcast(Transport& transport) {
  Broadcast<std::string> broadcast(transport, oneEach(transport));
  (void)broadcast.run(1, transport.rank() == 1 ? std::optional<std::string>("item") : std::nullopt);
}

void reduceAll(Transport& transport) {
  AllReduce<std::string> reduce(transport, oneEach(transport), concatenate);
  (void)reduce.run({std::string(3, 'b')});
}

void allToAll(Transport& transport) {
  for (const KValues& kValues : {KValues{4}, KValues{2, 2}}) {
    AllToAll allToAll(transport, oneEach(transport), kValues);
    std::vector<std::vector<Parcel>> parcels(1);
    // To block 0 none, one or several.
    for (BlockId to = 0; to < 4; ++to)
      for (int i = 1; i < transport.rank(); ++i) parcels[0].push_back({to, Bytes(3)});
    parcels[0].push_back({3, Bytes(5)});
    (void)allToAll.run(std::move(parcels));
  }
}

void sort(Transport& transport) {
  SampleSort<std::int64_t> sort(transport, oneEach(transport), {2, 2});
  std::vector<std::int64_t> values;
  for (std::int64_t i = 0; i < 5; ++i) values.push_back(i * 7919 % 5 + transport.rank());
  (void)sort.run({values});
}

}  // namespace

const std::vector<Scene>& scenes() {
  static const std::vector<Scene> all = {
      {"merge", 4, 0, merge},          {"merge-arrays", 4, 0, mergeArrays},
      {"swap", 4, 0, swapArrays},      {"broadcast", 3, 0, broadcast},
      {"all-reduce", 4, 0, reduceAll}, {"all-to-all", 4, 0, allToAll},
      {"sort-root", 4, 0, sort},       {"sort-leaf", 4, 3, sort},
  };
  return all;
}

}  // namespace tributary::fuzz
