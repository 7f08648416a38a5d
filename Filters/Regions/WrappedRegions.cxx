// SPDX-License-Identifier: BSD-3-Clause
#include "Regions/WrappedRegions.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "Tributary/Base/Error.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Base/Span.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Records.h"
#include "Tributary/Collective/Shares.h"

namespace tributary {
namespace {

/// A part of an axis with cells of a region, bounds included.
struct Occupied {
  std::int64_t region;
  std::int64_t axis;
  double lo, hi;

  bool isOfSame(const Occupied& other) const {
    return region == other.region && axis == other.axis;
  }
  /// Also false for an empty part.
  bool isFinite() const { return std::isfinite(lo) && std::isfinite(hi) && lo <= hi; }
};

/// Sorts parts, and joins those of the same region that touch.
void join(std::vector<Occupied>& parts) {
  std::sort(parts.begin(), parts.end(), [](const Occupied& a, const Occupied& b) {
    return std::tie(a.region, a.axis, a.lo, a.hi) < std::tie(b.region, b.axis, b.lo, b.hi);
  });
  std::size_t count = 0;
  for (const Occupied& part : parts) {
    if (count > 0 && parts[count - 1].isOfSame(part) && part.lo <= parts[count - 1].hi)
      parts[count - 1].hi = std::max(parts[count - 1].hi, part.hi);
    else
      parts[count++] = part;
  }
  parts.resize(count);
}

/// Adds the parts of an axis that a piece's regions that reach both sides occupy.
void addOccupied(const LabeledPiece& labeled, const std::vector<RegionOfSet>& ofSet,
                 std::size_t axis, std::vector<Occupied>& parts) {
  const auto isWanted = [&](std::uint32_t set) { return (ofSet[set].reaches >> axis & 1) != 0; };
  if (std::none_of(ofSet.begin(), ofSet.end(),
                   [&](const RegionOfSet& one) { return (one.reaches >> axis & 1) != 0; }))
    return;
  const auto a = static_cast<std::int64_t>(axis);
  const StraightLattice* const lattice = labeled.piece().straight();
  if (!lattice) {
    std::vector<Occupied> own;
    constexpr std::size_t Many = 1 << 16;
    std::size_t limit = Many;
    labeled.visitOwnCells([&](std::int64_t begin, std::int64_t end, std::uint32_t set) {
      for (std::int64_t c = begin; c < end && isWanted(set); ++c) {
        const Box box = labeled.piece().boundsOf(c);
        const Occupied part{ofSet[set].number, a, box.lo[axis], box.hi[axis]};
        if (part.isFinite()) own.push_back(part);
      }
      if (own.size() < limit) return;
      join(own);
      limit = std::max(Many, 2 * own.size());
    });
    join(own);
    parts.insert(parts.end(), own.begin(), own.end());
    return;
  }
  // How many runs of each set begin in a column, less those that ended.
  const std::int64_t columns = lattice->cells(axis);
  std::vector<std::vector<std::int64_t>> changes(ofSet.size());
  labeled.visitOwnCells([&](std::int64_t begin, std::int64_t end, std::uint32_t set) {
    if (!isWanted(set)) return;
    std::vector<std::int64_t>& ofThis = changes[set];
    if (ofThis.empty()) ofThis.resize(index(columns) + 1);
    // A run of a row is in one column of the other axes.
    const std::int64_t first = lattice->placeOf(begin)[axis];
    ++ofThis[index(first)];
    --ofThis[index(axis == 0 ? first + end - begin : first + 1)];
  });
  const std::vector<double>& places = lattice->axes[axis];
  for (std::size_t set = 0; set < ofSet.size(); ++set) {
    std::int64_t runs = 0;
    double lo = 0;
    for (std::size_t i = 0; i < changes[set].size(); ++i) {
      const std::int64_t before = std::exchange(runs, runs + changes[set][i]);
      if (before == 0 && runs > 0) lo = places[i];
      if (before > 0 && runs == 0) parts.push_back({ofSet[set].number, a, lo, places[i]});
    }
  }
}

/// Adds up the weight of cells below places: of `ofSet[set]`, that in `lo[set]`.
void addBelow(const LabeledPiece& labeled, const std::vector<double>& lo, std::size_t axis,
              const FactScales& scales, std::vector<FixedSum>& below) {
  const StraightLattice* const lattice = labeled.piece().straight();
  const auto weightOfCell = [&](const CellSize& size) {
    return scales.hasMeasure ? scales.measure.fixed(size.measure) : FixedSum(1);
  };
  if (!lattice) {
    labeled.visitOwnCells([&](std::int64_t begin, std::int64_t end, std::uint32_t set) {
      if (std::isnan(lo[set])) return;
      for (std::int64_t c = begin; c < end; ++c) {
        const CellSize size = labeled.sizeOf(c);
        if (size.centroid[axis] < lo[set]) addChecked(below[set], weightOfCell(size));
      }
    });
    return;
  }
  std::vector<std::int64_t> columns;  // of each set, that are below
  for (const double place : lo) {
    std::int64_t low = 0, high = std::isnan(place) ? 0 : lattice->cells(axis);
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (lattice->middle(axis, middle) < place)
        low = middle + 1;
      else
        high = middle;
    }
    columns.push_back(low);
  }
  const bool isUniform = lattice->spacing || !scales.hasMeasure;
  labeled.visitOwnCells([&](std::int64_t begin, std::int64_t end, std::uint32_t set) {
    const std::int64_t left = columns[set] - lattice->placeOf(begin)[axis];
    if (left <= 0) return;
    if (axis == 0) end = std::min(end, begin + left);
    if (isUniform) {
      addChecked(below[set], weightOfCell(lattice->sizeOf(begin)) * (end - begin));
      return;
    }
    for (std::int64_t c = begin; c < end; ++c)
      addChecked(below[set], weightOfCell(lattice->sizeOf(c)));
  });
}

}  // namespace

double measureOf(const RegionFacts& facts, const FactScales& scales) {
  return scales.hasMeasure ? scales.measure.value(facts.measure) : 0;
}

double weightOf(const RegionFacts& facts, const FactScales& scales) {
  return scales.hasMeasure ? measureOf(facts, scales) : static_cast<double>(facts.cells);
}

RegionSides sidesOf(const PeriodicAxes& periodic) {
  RegionSides sides;
  for (std::size_t a = 0; a < 3; ++a) {
    const PeriodicAxis& axis = periodic[a];
    if (!axis.isPeriodic) continue;
    sides.lower[a] = axis.origin + axis.tolerance;
    sides.upper[a] = axis.origin + axis.period - axis.gap - axis.tolerance;
  }
  return sides;
}

WrappedRegions::WrappedRegions(Transport& transport, const PeriodicAxes& periodic,
                               const std::vector<std::unique_ptr<LabeledPiece>>& labeled,
                               const NumberedRegions& numbered, const FactScales& scales)
    : periodic_(periodic) {
  const Shares shares{numbered.table.total, transport.size()};
  const auto isHere = [&](std::int64_t region) {
    return region >= 0 && region < shares.total && shares.ownerOf(region) == transport.rank();
  };
  const auto find = [&](std::int64_t region, std::int64_t axis) {
    const auto at =
        std::lower_bound(along_.begin(), along_.end(), std::pair(region, axis),
                         [](const Along& one, const std::pair<std::int64_t, std::int64_t>& key) {
                           return std::pair(one.region, one.axis) < key;
                         });
    return at != along_.end() && at->region == region && at->axis == axis ? &*at : nullptr;
  };
  std::vector<Occupied> mine;
  sendRecords<Occupied>(
      transport,
      [&](RecordOutbox<Occupied>& outbox) {
        for (std::size_t n = 0; n < labeled.size(); ++n)
          for (std::size_t a = 0; a < 3; ++a)
            if (periodic[a].isPeriodic) addOccupied(*labeled[n], numbered.ofSet[n], a, mine);
        join(mine);
        for (const Occupied& part : mine) outbox.add(shares.ownerOf(part.region), part);
      },
      [&](Records<Occupied>& received) {
        std::vector<Occupied>& parts = received.all();
        for (const Occupied& part : parts) {
          if (!isHere(part.region) || part.axis < 0 || part.axis > 2 ||
              !periodic[index(part.axis)].isPeriodic)
            refuseMessage("a part of a region of another rank");
          if (!part.isFinite()) refuseMessage("a part of a region without bounds");
        }
        join(parts);
        for (std::size_t i = 0, end = 0; i < parts.size(); i = end) {
          Along along{parts[i].region, parts[i].axis};
          const PeriodicAxis& axis = periodic[index(along.axis)];
          double widest = 0;
          // What is beyond the sides is not free: the region goes on there. Of parts that are
          // equally wide, apart from rounding, the lowest one counts.
          for (end = i + 1; end < parts.size() && parts[end].isOfSame(parts[i]); ++end) {
            if (!(parts[end].lo - parts[end - 1].hi > widest + axis.tolerance)) continue;
            widest = parts[end].lo - parts[end - 1].hi;
            along.isFree = true;
            along.lo = parts[end].lo;
            along.hi = parts[end - 1].hi + axis.period;
          }
          along_.push_back(along);
        }
      });
  // The cells below that place are a period further.
  std::vector<std::pair<std::int64_t, std::int64_t>> asked;
  collectively(transport, [&] {
    for (const Occupied& part : mine)
      if (asked.empty() || asked.back() != std::pair(part.region, part.axis))
        asked.emplace_back(part.region, part.axis);
  });
  struct Key {
    std::int64_t region, axis;
  };
  std::vector<Key> keys;
  for (const auto& [region, axis] : asked) keys.push_back({region, axis});
  const std::vector<double> from = askOwners<double>(
      transport, keys, [&](const Key& key) { return shares.ownerOf(key.region); },
      [&](const Key& key, int) {
        const Along* const along = find(key.region, key.axis);
        if (!along) refuseMessage("a region that does not reach both sides");
        return along->isFree ? along->lo : std::nan("");
      });
  struct Part {
    std::int64_t region, axis;
    FixedSum below;
  };
  sendRecords<Part>(
      transport,
      [&](RecordOutbox<Part>& outbox) {
        for (std::size_t n = 0; n < labeled.size(); ++n)
          for (std::size_t a = 0; a < 3; ++a) {
            const std::vector<RegionOfSet>& ofSet = numbered.ofSet[n];
            std::vector<double> lo(ofSet.size(), std::nan(""));
            bool isAny = false;
            for (std::size_t s = 0; s < ofSet.size(); ++s) {
              if (ofSet[s].number < 0 || (ofSet[s].reaches >> a & 1) == 0) continue;
              const auto at = std::lower_bound(asked.begin(), asked.end(),
                                               std::pair(ofSet[s].number, std::int64_t(a)));
              if (at == asked.end() || *at != std::pair(ofSet[s].number, std::int64_t(a)))
                continue;  // ghosts only
              lo[s] = from[static_cast<std::size_t>(at - asked.begin())];
              isAny = isAny || !std::isnan(lo[s]);
            }
            if (!isAny) continue;
            std::vector<FixedSum> below(ofSet.size(), 0);
            addBelow(*labeled[n], lo, a, scales, below);
            for (std::size_t s = 0; s < ofSet.size(); ++s)
              if (below[s] != 0)
                outbox.add(shares.ownerOf(ofSet[s].number),
                           {ofSet[s].number, std::int64_t(a), below[s]});
          }
      },
      [&](const Records<Part>& received) {
        for (const Part& part : received) {
          Along* const along = isHere(part.region) ? find(part.region, part.axis) : nullptr;
          if (!along) refuseMessage("a part of a region of another rank");
          addChecked(along->below, part.below);
        }
      });
}

RegionPlace WrappedRegions::placeOf(std::int64_t number, const RegionFacts& facts,
                                    const FactScales& scales) const {
  RegionPlace place;
  place.lo = facts.lo;
  place.hi = facts.hi;
  const double weight = weightOf(facts, scales);
  auto along = std::lower_bound(along_.begin(), along_.end(), number,
                                [](const Along& one, std::int64_t n) { return one.region < n; });
  for (std::size_t a = 0; a < 3; ++a) {
    const PeriodicAxis& axis = periodic_[a];
    double sum = scales.moment.value(facts.moment[a]);
    const bool isKnown =
        along != along_.end() && along->region == number && along->axis == std::int64_t(a);
    if (isKnown && along->isFree) {
      place.lo[a] = along->lo;
      place.hi[a] = along->hi;
      const double below = scales.hasMeasure ? scales.measure.value(along->below)
                                             : static_cast<double>(along->below);
      sum += axis.period * below;
    } else if (isKnown) {
      place.wraps[a] = true;
      place.lo[a] = axis.origin;
      place.hi[a] = axis.origin + axis.period;
    }
    const bool hasMean = weight > 0 && !place.wraps[a];
    place.centroid[a] = hasMean ? sum / weight : 0.5 * (place.lo[a] + place.hi[a]);
    if (isKnown && place.centroid[a] >= axis.origin + axis.period) place.centroid[a] -= axis.period;
    if (isKnown) ++along;
  }
  return place;
}

}  // namespace tributary
