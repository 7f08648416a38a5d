// SPDX-License-Identifier: BSD-3-Clause
#include "Regions/RegionSelection.h"

#include <vtkCellData.h>
#include <vtkPointData.h>

#include <algorithm>
#include <string>
#include <tuple>

#include "Common/CellLists.h"

#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"

namespace tributary {
namespace {

/// The regions that any rank names, each once.
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

/// Throws Error on all ranks if one of the ids was found on none.
void requireAll(Transport& transport, const std::vector<std::int64_t>& ids,
                const std::vector<std::int64_t>& found, const char* what) {
  const auto total = allreduce(transport, ReduceOp::Sum, found);
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (total[i] == 0)
      throw Error("SeedIds has " + std::to_string(ids[i]) + ", but there is no such " + what +
                  "; set it to ids that the input has");
}

/// For each piece the local numbers of the elements with the given ids.
/// @param lessAlongAxis  by how many elements are fewer than points along an axis
template <class Count, class GlobalIds>
std::vector<std::vector<std::int64_t>> locate(Transport& transport, const ComponentDomain& domain,
                                              const std::vector<std::int64_t>& ids, bool byIds,
                                              bool byExtent, int lessAlongAxis, Count&& countOf,
                                              GlobalIds&& globalIdsOf, const char* what) {
  std::vector<std::vector<std::int64_t>> places(domain.pieces.size());
  std::vector<std::int64_t> found(ids.size(), 0);
  std::int64_t mine = 0;
  for (const auto& piece : domain.pieces) mine += countOf(*piece);
  std::int64_t before = exclusivePrefix(transport, mine);
  collectively(transport, [&] {
    for (std::size_t n = 0; n < domain.pieces.size(); ++n) {
      const ComponentPiece& piece = *domain.pieces[n];
      const std::int64_t count = countOf(piece);
      const auto take = [&](std::size_t i, std::int64_t local) {
        places[n].push_back(local);
        found[i] = 1;
      };
      if (byIds && count > 0 && globalIdsOf(piece)) {
        const auto global = exactIds(globalIdsOf(piece));
        std::vector<std::pair<std::int64_t, std::size_t>> wanted;
        for (std::size_t i = 0; i < ids.size(); ++i) wanted.emplace_back(ids[i], i);
        std::sort(wanted.begin(), wanted.end());
        for (std::int64_t p = 0; p < count; ++p) {
          const auto at = std::lower_bound(wanted.begin(), wanted.end(),
                                           std::make_pair(global[index(p)], std::size_t(0)));
          if (at != wanted.end() && at->first == global[index(p)]) take(at->second, p);
        }
      } else if (byExtent && !byIds) {
        const std::array<int, 6> whole = domain.rules.whole;
        const std::array<int, 6> own = piece.extent();
        for (std::size_t i = 0; i < ids.size(); ++i) {
          std::int64_t rest = ids[i], local = 0, stride = 1;
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
          if (isHere) take(i, local);
        }
      } else if (!byIds) {
        for (std::size_t i = 0; i < ids.size(); ++i)
          if (ids[i] >= before && ids[i] < before + count) take(i, ids[i] - before);
      }
      before += count;
    }
  });
  requireAll(transport, ids, found, what);
  return places;
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
      throw Error("SpecifiedRegionIds has " + std::to_string(number) + ", but there are " +
                  std::to_string(table.total) + " regions; set it to ids below that");
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

RegionSelection selectNearest(Transport& transport, const ComponentDomain& domain,
                              const RangeRegions& regions, const std::array<double, 3>& place) {
  double distance2 = RegionFacts::Infinity;
  std::int64_t number = std::numeric_limits<std::int64_t>::max();
  for (std::size_t n = 0; n < domain.pieces.size(); ++n) {
    const ComponentPiece::Nearest nearest = domain.pieces[n]->nearest(place);
    for (const std::uint32_t set : nearest.sets) {
      const std::int64_t region = regions.numbered.ofSet[n][set].number;
      if (region < 0 || nearest.distance2 > distance2) continue;
      if (nearest.distance2 < distance2) number = region;
      distance2 = nearest.distance2;
      number = std::min(number, region);
    }
  }
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
        "SeedIds are points, but hyper tree grids have no points; name cells with another "
        "ExtractionMode, or choose that of the closest point");
  const auto places = locate(
      transport, domain, ids, domain.rules.hasPointIds, domain.rules.isOneExtent, 0,
      [](const ComponentPiece& piece) { return piece.points(); },
      [](const ComponentPiece& piece) { return piece.dataSet()->GetPointData()->GetGlobalIds(); },
      "point");
  std::vector<std::int64_t> mine;
  for (std::size_t n = 0; n < places.size(); ++n)
    for (const std::uint32_t set : domain.pieces[n]->setsAt(places[n]))
      if (regions.numbered.ofSet[n][set].number >= 0)
        mine.push_back(regions.numbered.ofSet[n][set].number);
  return selectionOf(transport, std::move(mine));
}

RegionSelection selectAtCells(Transport& transport, const ComponentDomain& domain,
                              const RangeRegions& regions, const std::vector<std::int64_t>& ids) {
  const auto places = locate(
      transport, domain, ids, domain.rules.hasCellIds, domain.rules.isOneExtent, 1,
      [](const ComponentPiece& piece) { return piece.cells(); },
      [](const ComponentPiece& piece) { return piece.leaf().cellData()->GetGlobalIds(); }, "cell");
  std::vector<std::int64_t> mine;
  for (std::size_t n = 0; n < places.size(); ++n) {
    for (const std::int64_t cell : places[n]) {
      const std::uint32_t set = domain.pieces[n]->setOfCell(cell);
      if (set != NoSet && regions.numbered.ofSet[n][set].number >= 0)
        mine.push_back(regions.numbered.ofSet[n][set].number);
    }
  }
  return selectionOf(transport, std::move(mine));
}

}  // namespace tributary
