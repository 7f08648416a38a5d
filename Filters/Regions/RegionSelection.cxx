// SPDX-License-Identifier: BSD-3-Clause
#include "Regions/RegionSelection.h"

#include <vtkCellData.h>
#include <vtkDataArray.h>
#include <vtkPointData.h>

#include <algorithm>
#include <limits>
#include <string>
#include <tuple>
#include <utility>

#include "Common/CellLists.h"

#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Components/SharedPoints.h"

namespace tributary {
namespace {

/// Collective. The regions that any rank names, each once.
RegionSelection selectionOf(Transport& transport, std::vector<std::int64_t> mine) {
  std::sort(mine.begin(), mine.end());
  mine.erase(std::unique(mine.begin(), mine.end()), mine.end());
  RegionSelection selection;
  selection.numbers = allgatherv(transport, mine);
  auto& numbers = selection.numbers;
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return selection;
}

/// Collective. Throws Error on all ranks if one of the ids exists on none.
void requireAll(Transport& transport, const std::vector<std::int64_t>& ids,
                const std::vector<std::int64_t>& found, const char* what) {
  const auto total = allreduce(transport, ReduceOp::Sum, found);
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (total[i] == 0)
      throw Error("Seed Ids has " + std::to_string(ids[i]) + ", which is not a " + what +
                  " of the input; set it to existing ids");
}

/// Cells or points of data sets, which seeds name.
struct SeedKind {
  const char* name;
  bool byIds;         ///< Whether all data sets have global ids of them.
  int lessAlongAxis;  ///< By how many they are fewer than points along an axis.
  std::int64_t (*countOf)(const ComponentPiece&);
  vtkDataArray* (*globalIdsOf)(const ComponentPiece&);
};

/// Calls `take(i, local)` for the elements of a piece that have the i-th of the global ids.
template <class Take>
void locateByIds(vtkDataArray* globalIds, std::int64_t count, const std::vector<std::int64_t>& ids,
                 Take&& take) {
  const auto global = exactIds(globalIds);
  std::vector<std::pair<std::int64_t, std::size_t>> wanted;
  for (std::size_t i = 0; i < ids.size(); ++i) wanted.emplace_back(ids[i], i);
  std::sort(wanted.begin(), wanted.end());
  for (std::int64_t p = 0; p < count; ++p) {
    const auto at = std::lower_bound(wanted.begin(), wanted.end(),
                                     std::make_pair(global[index(p)], std::size_t(0)));
    if (at != wanted.end() && at->first == global[index(p)]) take(at->second, p);
  }
}

/// The number in the extent `own` of an element with number `id` in the extent `whole`; -1 if `own`
/// does not have it.
std::int64_t locateInExtent(std::int64_t id, const std::array<int, 6>& whole,
                            const std::array<int, 6>& own, int lessAlongAxis) {
  std::int64_t rest = id, local = 0, stride = 1;
  bool isHere = rest >= 0;
  for (std::size_t a = 0; a < 3; ++a) {
    const auto elements = [&](const std::array<int, 6>& extent) {
      const std::int64_t points = std::int64_t(extent[2 * a + 1]) - extent[2 * a] + 1;
      return std::max<std::int64_t>(points - lessAlongAxis, 1);
    };
    const std::int64_t size = elements(whole);
    const std::int64_t place = (a < 2 ? rest % size : rest) + whole[2 * a] - own[2 * a];
    rest /= size;
    isHere = isHere && place >= 0 && place < elements(own);
    local += place * stride;
    stride *= elements(own);
  }
  return isHere ? local : -1;
}

std::array<int, 6> extentOfPiece(const ComponentPiece& piece) {
  std::array<int, 6> extent = {0, -1, 0, -1, 0, -1};
  extentOf(piece.dataSet(), extent.data());
  return extent;
}

/// Collective. For each piece the local numbers of the elements with the given ids. Throws Error on
/// all ranks if an id exists on none.
std::vector<std::vector<std::int64_t>> locate(Transport& transport, const ComponentDomain& domain,
                                              const std::vector<std::int64_t>& ids,
                                              const SeedKind& kind) {
  std::vector<std::vector<std::int64_t>> places;
  std::vector<std::int64_t> found;
  std::int64_t mine = 0;
  for (const auto& piece : domain.pieces) mine += kind.countOf(*piece);
  std::int64_t before = exclusivePrefix(transport, mine);
  collectively(transport, [&] {
    places.resize(domain.pieces.size());
    found.resize(ids.size(), 0);
    for (std::size_t n = 0; n < domain.pieces.size(); ++n) {
      const ComponentPiece& piece = *domain.pieces[n];
      const std::int64_t count = kind.countOf(piece);
      const auto take = [&](std::size_t i, std::int64_t local) {
        places[n].push_back(local);
        found[i] = 1;
      };
      if (kind.byIds) {
        vtkDataArray* globalIds = kind.globalIdsOf(piece);
        if (count > 0 && globalIds) locateByIds(globalIds, count, ids, take);
      } else {
        const bool byExtent = domain.rules.isOneExtent;
        const std::array<int, 6> own = byExtent ? extentOfPiece(piece) : std::array<int, 6>();
        for (std::size_t i = 0; i < ids.size(); ++i) {
          const std::int64_t local =
              byExtent ? locateInExtent(ids[i], domain.rules.whole, own, kind.lessAlongAxis)
              : ids[i] < before + count ? std::max<std::int64_t>(ids[i] - before, -1)
                                        : -1;
          if (local >= 0) take(i, local);
        }
      }
      before += count;
    }
  });
  requireAll(transport, ids, found, kind.name);
  return places;
}

/// Collective. Adds the images of points beyond the sides of a periodic domain, and the same points
/// of other data sets.
void addImages(Transport& transport, const ComponentDomain& domain,
               std::vector<std::vector<std::int64_t>>& places) {
  if (!domain.rules.isPeriodic()) return;
  std::vector<std::vector<RegionAtPoint>> seeds;
  collectively(transport, [&] {
    for (std::size_t n = 0; n < places.size(); ++n) {
      std::vector<RegionAtPoint>& ofPiece = seeds.emplace_back();
      for (const std::int64_t point : places[n]) {
        const std::int64_t at = domain.shared[n]->points().find(domain.pieces[n]->firstAt(point));
        if (at >= 0) ofPiece.push_back({at, 0, 1});
      }
    }
  });
  // As if all seeds were of one region: each block learns which of its points have it.
  const SettledPoints settled = settlePoints(transport, domain.assignment, domain.points, seeds);
  collectively(transport, [&] {
    for (std::size_t n = 0; n < places.size(); ++n)
      for (const PointLabel& label : settled.labels[n])
        places[n].push_back(domain.shared[n]->points().points()[index(label.point)]);
  });
}

/// The number of the region of a set, appended if it has one.
void addRegion(const RangeRegions& regions, std::size_t piece, std::uint32_t set,
               std::vector<std::int64_t>& numbers) {
  if (set == NoSet) return;
  const std::int64_t number = regions.numbered.ofSet[piece][set].number;
  if (number >= 0) numbers.push_back(number);
}

}  // namespace

bool RegionSelection::has(std::int64_t number, std::int64_t cells) const {
  return number >= 0 && (all || (cells >= leastCells && cells <= mostCells) ||
                         std::binary_search(numbers.begin(), numbers.end(), number));
}

RegionSelection selectLargest(Transport& transport, const RegionTable& table) {
  struct Best {
    std::int64_t cells = 0;
    RegionKey key{};
    std::int64_t number = -1;
  };
  Best mine;
  const auto take = [](Best& best, const Best& other) {
    if (other.number < 0) return;
    if (best.number < 0 || std::tuple(-other.cells, other.key) < std::tuple(-best.cells, best.key))
      best = other;
  };
  for (std::size_t i = 0; i < table.regions.size(); ++i)
    take(mine, {table.regions[i].cells, table.regions[i].key,
                table.first + static_cast<std::int64_t>(i)});
  Best best;
  for (const Best& other : allgather(transport, mine)) take(best, other);
  RegionSelection selection;
  if (best.number >= 0) selection.numbers = {best.number};
  return selection;
}

RegionSelection selectSpecified(const RegionTable& table,
                                const std::vector<std::int64_t>& numbers) {
  RegionSelection selection;
  for (const std::int64_t number : numbers) {
    if (number < 0 || number >= table.total)
      throw Error("Specified Region Ids has " + std::to_string(number) + ", but there are " +
                  std::to_string(table.total) + " regions; set it to ids below that number");
    selection.numbers.push_back(number);
  }
  std::sort(selection.numbers.begin(), selection.numbers.end());
  return selection;
}

RegionSelection selectBySize(std::int64_t leastCells, std::int64_t mostCells) {
  RegionSelection selection;
  selection.leastCells = leastCells;
  selection.mostCells = mostCells;
  return selection;
}

RegionSelection selectNearest(Transport& transport, const RangeRegions& regions,
                              const std::array<double, 3>& place) {
  double distance2 = RegionFacts::Infinity;
  std::int64_t number = std::numeric_limits<std::int64_t>::max();
  collectively(transport, [&] {
    for (std::size_t n = 0; n < regions.labeled.size(); ++n) {
      const NearestPoints nearest = regions.labeled[n]->nearest(place);
      for (const std::uint32_t set : nearest.sets) {
        const std::int64_t region = regions.numbered.ofSet[n][set].number;
        if (region < 0 || nearest.distance2 > distance2) continue;
        if (nearest.distance2 < distance2) number = region;
        distance2 = nearest.distance2;
        number = std::min(number, region);
      }
    }
  });
  const double least = allreduce(transport, ReduceOp::Min, distance2);
  if (distance2 != least) number = std::numeric_limits<std::int64_t>::max();
  number = allreduce(transport, ReduceOp::Min, number);
  RegionSelection selection;
  if (number < regions.numbered.table.total) selection.numbers = {number};
  return selection;
}

RegionSelection selectAtPoints(Transport& transport, const ComponentDomain& domain,
                               const RangeRegions& regions, const std::vector<std::int64_t>& ids) {
  if (domain.rules.points == DomainRules::Points::Trees)
    throw Error(
        "Seed Ids are points, but hyper tree grids have no points; name cells with another "
        "Extraction Mode, or choose that of the closest point");
  const SeedKind points{
      "point", domain.rules.hasPointIds, 0,
      [](const ComponentPiece& piece) { return piece.points(); },
      [](const ComponentPiece& piece) { return piece.dataSet()->GetPointData()->GetGlobalIds(); }};
  auto places = locate(transport, domain, ids, points);
  addImages(transport, domain, places);
  std::vector<std::int64_t> mine;
  collectively(transport, [&] {
    for (std::size_t n = 0; n < places.size(); ++n)
      for (const std::uint32_t set : regions.labeled[n]->setsAt(places[n]))
        addRegion(regions, n, set, mine);
  });
  return selectionOf(transport, std::move(mine));
}

RegionSelection selectAtCells(Transport& transport, const ComponentDomain& domain,
                              const RangeRegions& regions, const std::vector<std::int64_t>& ids) {
  const SeedKind cells{
      "cell", domain.rules.hasCellIds, 1, [](const ComponentPiece& piece) { return piece.cells(); },
      [](const ComponentPiece& piece) { return piece.leaf().cellData()->GetGlobalIds(); }};
  const auto places = locate(transport, domain, ids, cells);
  std::vector<std::int64_t> mine;
  collectively(transport, [&] {
    for (std::size_t n = 0; n < places.size(); ++n)
      for (const std::int64_t cell : places[n])
        addRegion(regions, n, regions.labeled[n]->setOfCell(cell), mine);
  });
  return selectionOf(transport, std::move(mine));
}

}  // namespace tributary
