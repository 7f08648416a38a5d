// SPDX-License-Identifier: BSD-3-Clause
#include "Regions/RangeRegions.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Components/SharedPoints.h"

namespace tributary {
namespace {

/// Collective. Scales that hold the sums over all ranks.
FactScales agreeOnScales(Transport& transport,
                         const std::vector<std::unique_ptr<LabeledPiece>>& labeled,
                         const std::vector<std::vector<MeasuredValues>>& arrays,
                         std::size_t values) {
  std::vector<double> most(2 + values, 0.0);
  collectively(transport, [&] {
    for (std::size_t n = 0; n < labeled.size(); ++n) {
      const Extremes extremes = labeled[n]->extremes(arrays[n]);
      most[0] = std::max(most[0], extremes.measure);
      most[1] = std::max(most[1], extremes.coordinate);
      for (std::size_t v = 0; v < values; ++v)
        most[2 + v] = std::max(most[2 + v], extremes.values[v]);
    }
  });
  most = allreduce(transport, ReduceOp::Max, most);
  FactScales scales;
  scales.hasMeasure = most[0] > 0;
  const double weight = scales.hasMeasure ? most[0] : 1;
  const auto finite = [](double x) { return std::min(x, std::numeric_limits<double>::max()); };
  scales.measure = FixedScale(weight);
  scales.moment = FixedScale(finite(weight * most[1]));
  for (std::size_t v = 0; v < values; ++v)
    scales.integrals.emplace_back(finite(weight * most[2 + v]));
  return scales;
}

}  // namespace

RangeRegions findRegions(Transport& transport, const ComponentDomain& domain,
                         const std::vector<RangeTest>& tests,
                         const std::vector<std::vector<MeasuredValues>>& arrays, std::size_t values,
                         RegionOrder order, const UnionOptions& options) {
  RangeRegions regions;
  const std::size_t count = domain.shared.size();
  std::vector<std::int64_t> sets;
  std::vector<std::vector<std::uint32_t>> setOfEntity;
  std::vector<Span<const std::uint32_t>> views;
  std::vector<std::vector<std::uint64_t>> gaps(count);
  if (domain.rules.hasGap())
    gaps = domain.gapPoints.masksOf(transport, domain.assignment, domain.pieces, tests);
  collectively(transport, [&] {
    sets.resize(count);
    setOfEntity.resize(count);
    for (std::size_t n = 0; n < count; ++n) {
      const LabeledPiece& labeled =
          *regions.labeled.emplace_back(domain.shared[n]->label(tests[n], gaps[n]));
      sets[n] = labeled.sets();
      setOfEntity[n] = domain.throughPoints ? labeled.setsOfShared() : labeled.setsOfConnections();
    }
    views.assign(setOfEntity.begin(), setOfEntity.end());
  });
  const auto links = linkSets(transport, domain.assignment,
                              domain.throughPoints ? domain.points : domain.connections, views);
  UnionResult united = uniteSets(transport, domain.assignment, sets, links, options);
  regions.statistics = united.statistics;
  regions.aborted = united.aborted;
  if (united.aborted) return regions;

  regions.scales = agreeOnScales(transport, regions.labeled, arrays, values);
  std::vector<BlockFacts> facts;
  collectively(transport, [&] {
    facts.resize(count);
    for (std::size_t n = 0; n < count; ++n)
      facts[n] = regions.labeled[n]->facts(regions.scales, arrays[n]);
  });
  regions.numbered = numberRegions(transport, domain.assignment, united.root, std::move(facts),
                                   values, order, sidesOf(domain.rules.periodic));
  if (domain.rules.isPeriodic())
    regions.wrapped = WrappedRegions(transport, domain.rules.periodic, regions.labeled,
                                     regions.numbered, regions.scales);
  return regions;
}

WrittenRegions writeRegions(Transport& transport, const ComponentDomain& domain,
                            const RangeRegions& regions,
                            const std::vector<std::vector<char>>& isSelected,
                            const std::vector<vtkIdType*>& cells,
                            const std::vector<vtkIdType*>& points) {
  const std::size_t count = regions.labeled.size();
  std::vector<std::vector<RegionAtPoint>> shared;
  std::vector<RegionCount> counts;
  collectively(transport, [&] {
    shared.resize(count);
    std::size_t sets = 0;
    for (const auto& ofSet : regions.numbered.ofSet) sets += ofSet.size();
    counts.reserve(sets);
    for (std::size_t n = 0; n < count; ++n) {
      const std::vector<RegionOfSet>& ofSet = regions.numbered.ofSet[n];
      std::vector<std::int64_t> numberOf, shownOf;
      numberOf.reserve(ofSet.size());
      shownOf.reserve(ofSet.size());
      for (std::size_t s = 0; s < ofSet.size(); ++s) {
        numberOf.push_back(ofSet[s].number);
        shownOf.push_back(isSelected[n][s] != 0 ? ofSet[s].number : -1);
      }
      RegionOutput output;
      output.numberOf = numberOf;
      output.shownOf = shownOf;
      output.cells = cells[n];
      output.points = points[n];
      regions.labeled[n]->write(output);
      for (std::size_t s = 0; s < ofSet.size(); ++s)
        if (output.pointsOfSet[s] > 0 && ofSet[s].number >= 0)
          counts.push_back({ofSet[s].number, output.pointsOfSet[s]});
      for (const SetAtPoint& at : regions.labeled[n]->setsAtShared())
        if (ofSet[at.set].number >= 0)
          shared[n].push_back({at.shared, ofSet[at.set].number, isSelected[n][at.set]});
    }
  });
  const SettledPoints settled = settlePoints(transport, domain.assignment, domain.points, shared);
  WrittenRegions written;
  std::vector<std::int64_t>& shown = written.atSharedPoints;
  collectively(transport, [&] {
    counts.insert(counts.end(), settled.counts.begin(), settled.counts.end());
    for (std::size_t n = 0; n < count; ++n) {
      if (!points[n]) continue;
      for (const PointLabel& label : settled.labels[n]) {
        regions.labeled[n]->writeShared(label.point, label.region, points[n]);
        if (shown.empty() || shown.back() != label.region) shown.push_back(label.region);
      }
    }
  });
  written.points = addPoints(transport, regions.numbered.table.total, std::move(counts));
  return written;
}

}  // namespace tributary
