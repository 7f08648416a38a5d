// SPDX-License-Identifier: BSD-3-Clause
#include "Lines/SeedsFromVTK.h"

#include <vtkDataArray.h>
#include <vtkDataSetAttributes.h>
#include <vtkPointData.h>
#include <vtkUnsignedCharArray.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "Common/CellLists.h"
#include "Common/GridParts.h"
#include "Common/Leaves.h"

#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Reduction/AllToAll.h"

namespace tributary {
namespace {

/// What ids the sources of this rank can give; only what all ranks can give is used.
enum IdKind : std::int64_t { Nothing = 0, GlobalIds = 1, Extent = 2, Counted = 4 };

IdKind idKind(const std::vector<Leaf>& leaves, int grid) {
  if (leaves.empty()) return Nothing;
  const auto hasIds = [](const Leaf& leaf) {
    return leaf.dataSet->GetPointData()->GetGlobalIds() != nullptr;
  };
  if (std::all_of(leaves.begin(), leaves.end(), hasIds)) return GlobalIds;
  return leaves.size() == 1 && leaves[0].group.empty() && grid >= 0 ? Extent : Counted;
}

/// Number of a point of `extent` within `whole`.
std::int64_t numberInWhole(vtkIdType point, const int extent[6],
                           const std::vector<std::int64_t>& whole) {
  std::int64_t number = 0, stride = 1;
  std::int64_t rest = point;
  for (std::size_t a = 0; a < 3; ++a) {
    const std::int64_t points = std::int64_t(extent[2 * a + 1]) - extent[2 * a] + 1;
    number += (rest % points + extent[2 * a] - whole[2 * a]) * stride;
    rest /= points;
    stride *= whole[2 * a + 1] - whole[2 * a] + 1;
  }
  return number;
}

/// The points of this rank, ghosts left out, with ids where the sources give them.
std::vector<Seed> pointsOf(const std::vector<Leaf>& leaves, IdKind kind,
                           const std::vector<std::int64_t>& whole) {
  std::vector<Seed> seeds;
  for (const Leaf& leaf : leaves) {
    vtkDataSet* dataSet = leaf.dataSet;
    vtkUnsignedCharArray* ghosts = pointGhosts(dataSet);
    std::vector<std::int64_t> ids;
    if (kind == GlobalIds) {
      vtkDataArray* given = dataSet->GetPointData()->GetGlobalIds();
      if (given->GetNumberOfValues() != dataSet->GetNumberOfPoints())
        throw Error("the seed source has " + std::to_string(given->GetNumberOfValues()) +
                    " global ids for " + std::to_string(dataSet->GetNumberOfPoints()) +
                    " points; remove its GlobalIds");
      ids = exactIds(given);
    }
    int extent[6];
    extentOf(dataSet, extent);
    for (vtkIdType i = 0; i < dataSet->GetNumberOfPoints(); ++i) {
      if (ghosts && (ghosts->GetValue(i) &
                     (vtkDataSetAttributes::DUPLICATEPOINT | vtkDataSetAttributes::HIDDENPOINT)))
        continue;
      Seed& seed = seeds.emplace_back();
      dataSet->GetPoint(i, seed.x);
      if (kind == GlobalIds)
        seed.id = ids[static_cast<std::size_t>(i)];
      else if (kind == Extent)
        seed.id = numberInWhole(i, extent, whole);
      if (kind == GlobalIds && (seed.id < 0 || seed.id == std::numeric_limits<std::int64_t>::max()))
        throw Error("the seed source has the global point id " + std::to_string(seed.id) +
                    "; number its points from 0 or remove its GlobalIds");
    }
  }
  return seeds;
}

/// What the keeper of a range of ids answers for each id it was sent.
constexpr std::int64_t TakenByAnother = -1;

/// Collective. Replaces ids by places in the ascending order of all ids, drops seeds whose id an
/// earlier rank (or point) has too. Each rank keeps one range of ids, so nobody sees them all.
void orderById(Transport& transport, SeedList& list) {
  const auto ranks = static_cast<std::size_t>(transport.size());
  std::int64_t largest = -1;
  for (const Seed& seed : list.seeds) largest = std::max(largest, seed.id);
  largest = allreduce(transport, ReduceOp::Max, largest);
  const Shares ranges{largest + 1, transport.size()};

  std::vector<std::vector<std::int64_t>> asked(ranks);
  for (const Seed& seed : list.seeds)
    asked[static_cast<std::size_t>(ranges.ownerOf(seed.id))].push_back(seed.id);
  std::vector<Bytes> questions;
  for (const auto& ids : asked) questions.push_back(Writer().range(ids).take());

  struct Entry {
    std::int64_t id;
    std::size_t rank, position;
  };
  std::vector<Entry> entries;
  std::vector<std::vector<std::int64_t>> answers(ranks);
  const std::vector<Bytes> questionsToMe = allToAll(transport, std::move(questions));
  collectively(transport, [&] {
    for (std::size_t r = 0; r < ranks; ++r) {
      if (questionsToMe[r].empty()) continue;
      const auto ids = Reader(questionsToMe[r]).range<std::int64_t>();
      answers[r].resize(ids.size());
      for (std::size_t i = 0; i < ids.size(); ++i) entries.push_back({ids[i], r, i});
    }
    std::stable_sort(entries.begin(), entries.end(),
                     [](const Entry& a, const Entry& b) { return a.id < b.id; });
  });
  std::int64_t distinct = 0;
  for (std::size_t e = 0; e < entries.size(); ++e)
    if (e == 0 || entries[e].id != entries[e - 1].id) ++distinct;
  std::int64_t place = exclusivePrefix(transport, distinct);
  for (std::size_t e = 0; e < entries.size(); ++e) {
    const bool first = e == 0 || entries[e].id != entries[e - 1].id;
    answers[entries[e].rank][entries[e].position] = first ? place++ : TakenByAnother;
  }
  std::vector<Bytes> replies;
  for (const auto& places : answers) replies.push_back(Writer().range(places).take());
  const std::vector<Bytes> repliesToMe = allToAll(transport, std::move(replies));

  list.shares = {allreduce(transport, ReduceOp::Sum, distinct), transport.size()};
  list.largestShown = largest;
  std::vector<std::vector<std::array<std::int64_t, 2>>> shown(ranks);  // place, id
  std::vector<Seed> kept;
  collectively(transport, [&] {
    std::vector<std::vector<std::int64_t>> places(ranks);
    for (std::size_t r = 0; r < ranks; ++r)
      if (!repliesToMe[r].empty()) places[r] = Reader(repliesToMe[r]).range<std::int64_t>();
    // Seeds were asked for in order, so the answers come in order.
    std::vector<std::size_t> cursor(ranks, 0);
    for (Seed seed : list.seeds) {
      const auto keeper = static_cast<std::size_t>(ranges.ownerOf(seed.id));
      const std::int64_t at = places[keeper].at(cursor[keeper]++);
      if (at == TakenByAnother) continue;
      shown[static_cast<std::size_t>(list.shares.ownerOf(at))].push_back({at, seed.id});
      seed.id = at;
      kept.push_back(seed);
    }
  });
  list.seeds = std::move(kept);
  if (largest + 1 == list.shares.total) return;  // every id occurs: places are ids
  std::vector<Bytes> names;
  for (const auto& pairs : shown) names.push_back(Writer().range(pairs).take());
  const std::int64_t first = list.shares.first(transport.rank());
  list.shown.resize(static_cast<std::size_t>(list.shares.count(transport.rank())));
  const std::vector<Bytes> namesToMe = allToAll(transport, std::move(names));
  collectively(transport, [&] {
    for (const Bytes& bytes : namesToMe) {
      if (bytes.empty()) continue;
      for (const auto& [at, id] : Reader(bytes).range<std::array<std::int64_t, 2>>())
        list.shown.at(static_cast<std::size_t>(at - first)) = id;
    }
  });
}

}  // namespace

SeedList makeSeedList(Transport& transport, vtkDataObject* source) {
  const std::vector<Leaf> leaves = leavesOf(source);
  const std::vector<int> grids = numberGrids(transport, leaves);
  const IdKind mine = idKind(leaves, leaves.empty() ? -1 : grids[0]);
  // The whole extent and the numbers of grids, as -lo, hi.
  std::vector<std::int64_t> hull(8, -std::numeric_limits<std::int64_t>::max());
  int extent[6];
  if (mine == Extent && extentOf(leaves[0].dataSet, extent)) {
    for (std::size_t a = 0; a < 3; ++a) {
      hull[2 * a] = -std::int64_t(extent[2 * a]);
      hull[2 * a + 1] = extent[2 * a + 1];
    }
    hull[6] = -std::int64_t(grids[0]);
    hull[7] = grids[0];
  }
  const std::int64_t kinds = allreduce(transport, ReduceOp::Or, std::int64_t(mine));
  hull = allreduce(transport, ReduceOp::Max, hull);
  const bool isOneGrid = kinds == Extent && -hull[6] == hull[7];
  const IdKind kind = kinds == GlobalIds ? GlobalIds : isOneGrid ? Extent : Counted;
  std::vector<std::int64_t> whole = hull;
  for (std::size_t a = 0; a < 3; ++a) whole[2 * a] = -hull[2 * a];

  SeedList list;
  collectively(transport, [&] { list.seeds = pointsOf(leaves, kind, whole); });
  if (kind != Counted) {
    orderById(transport, list);
  } else {
    const auto count = static_cast<std::int64_t>(list.seeds.size());
    std::int64_t id = exclusivePrefix(transport, count);
    for (Seed& seed : list.seeds) seed.id = id++;
    list.shares = {allreduce(transport, ReduceOp::Sum, count), transport.size()};
    list.largestShown = list.shares.total - 1;
  }
  if (list.shares.total == 0)
    throw Error("the seed source has no points on any rank, so there is no line to trace");
  return list;
}

}  // namespace tributary
