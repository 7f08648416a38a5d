// SPDX-License-Identifier: BSD-3-Clause
#include "Lines/SeedsFromVTK.h"

#include <vtkDataArray.h>
#include <vtkDataSetAttributes.h>
#include <vtkPointData.h>
#include <vtkUnsignedCharArray.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "Common/CellLists.h"
#include "Common/GridParts.h"
#include "Common/Leaves.h"
#include "Common/Require.h"

#include "Tributary/Base/Error.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Assignment.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Collective/Records.h"
#include "Tributary/Reduction/AllToAll.h"

namespace tributary {
namespace {

/// The kind of ids that the sources of this rank provide; a kind is used if all ranks provide it.
enum IdKind : std::int64_t { Nothing = 0, GlobalIds = 1, Extent = 2, Counted = 4 };

IdKind idKind(const std::vector<Leaf>& leaves) {
  if (leaves.empty()) return Nothing;
  const auto hasIds = [](const Leaf& leaf) {
    return leaf.dataSet->GetPointData()->GetGlobalIds() != nullptr;
  };
  if (std::all_of(leaves.begin(), leaves.end(), hasIds)) return GlobalIds;
  int extent[6];
  const bool isGrid =
      leaves.size() == 1 && leaves[0].group.empty() && extentOf(leaves[0].dataSet, extent);
  return isGrid ? Extent : Counted;
}

/// Collective. Whether the leaves of all ranks, at most one on each and with an extent, are parts
/// of one grid.
/// @param whole  Out: its extent
bool arePartsOfOneGrid(Transport& transport, const std::vector<Leaf>& leaves,
                       std::vector<std::int64_t>& whole) {
  const std::vector<int> grids = numberGrids(transport, leaves);
  // The whole extent and the numbers of grids, as -lo, hi.
  std::vector<std::int64_t> hull(8, -std::numeric_limits<std::int64_t>::max());
  int extent[6];
  if (!leaves.empty() && extentOf(leaves[0].dataSet, extent)) {
    for (std::size_t a = 0; a < 3; ++a) {
      hull[2 * a] = -std::int64_t(extent[2 * a]);
      hull[2 * a + 1] = extent[2 * a + 1];
    }
    hull[6] = -std::int64_t(grids[0]);
    hull[7] = grids[0];
  }
  whole = allreduce(transport, ReduceOp::Max, std::move(hull));
  for (std::size_t a = 0; a < 3; ++a) whole[2 * a] = -whole[2 * a];
  return whole[7] >= 0 && -whole[6] == whole[7];
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

/// The labels of the points of a data set, or null if it lacks them.
vtkDataArray* labelsOf(vtkDataSet* dataSet, const std::string& name) {
  vtkDataArray* labels = dataSet->GetPointData()->GetArray(name.c_str());
  if (!labels || labels->GetNumberOfTuples() != dataSet->GetNumberOfPoints()) return nullptr;
  require(labels->GetNumberOfComponents() == 1, "Seed Label Array", '"' + name + '"',
          "use an array with one component, not ", labels->GetNumberOfComponents());
  return labels;
}

/// The points of this rank, ghosts left out, with ids where the sources give them.
/// @param labels  Out: those of the seeds; empty if `labelArray` is
/// @param hasLabels  Out: whether any data set has them
std::vector<Seed> pointsOf(const std::vector<Leaf>& leaves, IdKind kind,
                           const std::vector<std::int64_t>& whole, const std::string& labelArray,
                           std::vector<double>& labels, bool& hasLabels) {
  std::vector<Seed> seeds;
  for (const Leaf& leaf : leaves) {
    vtkDataSet* dataSet = leaf.dataSet;
    vtkDataArray* const given = labelArray.empty() ? nullptr : labelsOf(dataSet, labelArray);
    hasLabels = hasLabels || given;
    vtkUnsignedCharArray* ghosts = pointGhosts(dataSet);
    std::vector<std::int64_t> ids;
    if (kind == GlobalIds) {
      vtkDataArray* numbers = dataSet->GetPointData()->GetGlobalIds();
      if (numbers->GetNumberOfValues() != dataSet->GetNumberOfPoints())
        throw Error("the seed source has " + std::to_string(numbers->GetNumberOfValues()) +
                    " global ids for " + std::to_string(dataSet->GetNumberOfPoints()) +
                    " points; remove its GlobalIds");
      ids = exactIds(numbers);
    }
    int extent[6];
    extentOf(dataSet, extent);
    for (vtkIdType i = 0; i < dataSet->GetNumberOfPoints(); ++i) {
      if (ghosts && (ghosts->GetValue(i) &
                     (vtkDataSetAttributes::DUPLICATEPOINT | vtkDataSetAttributes::HIDDENPOINT)))
        continue;
      Seed& seed = seeds.emplace_back();
      dataSet->GetPoint(i, seed.x);
      if (!labelArray.empty())
        labels.push_back(given ? given->GetComponent(i, 0)
                               : std::numeric_limits<double>::quiet_NaN());
      // Points of lines are of type float. Not a number is outside all cells.
      for (double& x : seed.x)
        if (!(std::fabs(x) <= std::numeric_limits<float>::max()))
          x = std::numeric_limits<double>::quiet_NaN();
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

/// The answer to an id that an earlier rank, or an earlier point of the same rank, has too.
constexpr std::int64_t TakenByAnother = -1;

/// The id to show for a place in the order of all ids.
struct ShownId {
  std::int64_t place;
  std::int64_t id;
};

/// Local. The place of each id among the distinct ids, or TakenByAnother if it is not the first.
/// @param distinct  Out: the number of distinct ids
std::vector<std::int64_t> numberIds(const Records<std::int64_t>& ids, std::int64_t& distinct) {
  const std::vector<std::int64_t>& all = ids.all();
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return all[a] < all[b]; });
  std::vector<std::int64_t> places(all.size(), TakenByAnother);
  distinct = 0;
  for (std::size_t i = 0; i < order.size(); ++i)
    if (i == 0 || all[order[i]] != all[order[i - 1]]) places[order[i]] = distinct++;
  return places;
}

/// Local. Replaces the ids of seeds by their places, and drops seeds that have none.
/// @param ranges  the ranges of ids, which ranks number
/// @param places  of all of this rank's seeds, by the rank that numbers their ids
/// @return the ids of the seeds that remain
std::vector<ShownId> replaceIds(SeedList& list, const Shares& ranges,
                                const Records<std::int64_t>& places) {
  std::vector<std::size_t> next(index(ranges.ranks), 0);
  std::vector<Seed> kept;
  std::vector<double> labels;
  std::vector<ShownId> shown;
  for (std::size_t i = 0; i < list.seeds.size(); ++i) {
    Seed seed = list.seeds[i];
    const int keeper = ranges.ownerOf(seed.id);
    const std::int64_t place = places.from(keeper)[next[index(keeper)]++];
    if (place == TakenByAnother) continue;
    if (place < 0 || place >= list.shares.total)
      refuseMessage("place " + std::to_string(place) + " of " + std::to_string(list.shares.total) +
                    " seeds");
    shown.push_back({place, seed.id});
    seed.id = place;
    kept.push_back(seed);
    if (list.isLabeled) labels.push_back(list.labels[i]);
  }
  list.seeds = std::move(kept);
  list.labels = std::move(labels);
  return shown;
}

/// Collective. Replaces ids by places in the ascending order of all ids, and drops seeds whose id
/// an earlier rank (or point) has too. Each rank numbers one range of ids, so memory is
/// proportional to a rank's share.
void orderById(Transport& transport, SeedList& list) {
  std::int64_t largest = -1;
  for (const Seed& seed : list.seeds) largest = std::max(largest, seed.id);
  largest = allreduce(transport, ReduceOp::Max, largest);
  const Shares ranges{largest + 1, transport.size()};

  // Not askRanks(): the answers need the numbers of ids on the ranks before.
  ErrorCollector errors;
  std::vector<std::size_t> asked;
  const auto ids = sendRecords<std::int64_t, allToAll>(
      transport, errors, [&](RecordOutbox<std::int64_t>& outbox) {
        for (const Seed& seed : list.seeds) outbox.add(ranges.ownerOf(seed.id), seed.id);
        for (int rank = 0; rank < outbox.ranks(); ++rank) asked.push_back(outbox.count(rank));
      });
  std::vector<std::int64_t> places;
  std::int64_t distinct = 0;
  if (!errors.anyKnown()) errors.attempt([&] { places = numberIds(ids, distinct); });
  const std::int64_t first = exclusivePrefix(transport, distinct);
  list.shares = {allreduce(transport, ReduceOp::Sum, distinct), transport.size()};
  list.largestShown = largest;
  const auto answers = answerRanks<std::int64_t, allToAll>(
      transport, errors,
      [&](RecordOutbox<std::int64_t>& outbox) {
        std::size_t at = 0;
        for (int rank = 0; rank < transport.size(); ++rank)
          for (std::size_t i = 0; i < ids.from(rank).size(); ++i, ++at)
            outbox.add(rank, places[at] == TakenByAnother ? TakenByAnother : first + places[at]);
      },
      [&](int rank) { return asked[index(rank)]; });

  std::vector<ShownId> shown;
  if (!errors.anyKnown()) errors.attempt([&] { shown = replaceIds(list, ranges, answers); });
  if (largest + 1 == list.shares.total) return errors.agree(transport);  // places are ids
  const auto shownHere =
      sendRecords<ShownId, allToAll>(transport, errors, [&](RecordOutbox<ShownId>& outbox) {
        for (const ShownId& s : shown) outbox.add(list.shares.ownerOf(s.place), s);
      });
  const std::int64_t firstHere = list.shares.first(transport.rank());
  if (!errors.anyKnown())
    errors.attempt([&] {
      list.shown.resize(index(list.shares.count(transport.rank())));
      for (const ShownId& s : shownHere) {
        if (s.place < firstHere || s.place - firstHere >= std::int64_t(list.shown.size()))
          refuseMessage("the id of a seed of another rank");
        list.shown[index(s.place - firstHere)] = s.id;
      }
    });
  errors.agree(transport);
}

}  // namespace

SeedList makeSeedList(Transport& transport, vtkDataObject* source, const std::string& labelArray) {
  std::vector<Leaf> leaves;
  IdKind kind = Nothing;
  ErrorCollector errors;
  errors.attempt([&] {
    leaves = leavesOf(source);
    kind = idKind(leaves);
  });
  std::vector<std::int64_t> whole;
  const std::int64_t kinds = allreduce(transport, ReduceOp::Or, std::int64_t(kind));
  const bool isOneGrid = kinds == Extent && arePartsOfOneGrid(transport, leaves, whole);
  kind = kinds == GlobalIds ? GlobalIds : isOneGrid ? Extent : Counted;

  SeedList list;
  list.isLabeled = !labelArray.empty();
  bool hasLabels = false;
  if (!errors.any())
    errors.attempt(
        [&] { list.seeds = pointsOf(leaves, kind, whole, labelArray, list.labels, hasLabels); });
  errors.agree(transport);
  if (kind != Counted) {
    orderById(transport, list);
  } else {
    const Assignment counted(allgather(transport, static_cast<std::int64_t>(list.seeds.size())));
    std::int64_t id = counted.first(transport.rank());
    for (Seed& seed : list.seeds) seed.id = id++;
    list.shares = {counted.total(), transport.size()};
    list.largestShown = list.shares.total - 1;
  }
  if (list.shares.total == 0)
    throw Error(
        "the seed source has no points on any rank, so there is no line to trace; choose a seed "
        "source with points");
  if (list.isLabeled)
    require(allreduce(transport, ReduceOp::Or, std::int64_t(hasLabels)) != 0, "Seed Label Array",
            '"' + labelArray + '"', "use the name of a point array of the seed source");
  return list;
}

}  // namespace tributary
