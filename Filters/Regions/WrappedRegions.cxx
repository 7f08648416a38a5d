// SPDX-License-Identifier: BSD-3-Clause
#include "Regions/WrappedRegions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
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

/// Numbers by axis, of the sets of a piece.
template <class Number>
using BySet = std::array<std::vector<Number>, 3>;

/// Follows cells of a lattice that are visited in ascending order.
class RowCursor {
 public:
  explicit RowCursor(const StraightLattice& lattice)
      : width_(lattice.cells(0)), height_(lattice.cells(1)) {}

  /// @return the place of a cell along each axis
  const std::array<std::int64_t, 3>& goTo(std::int64_t cell) {
    while (cell - first_ >= width_) {
      first_ += width_;
      if (++place_[1] < height_) continue;
      place_[1] = 0;
      ++place_[2];
    }
    place_[0] = cell - first_;
    return place_;
  }

 private:
  std::int64_t width_, height_;
  std::int64_t first_ = 0;  // cell of the row
  std::array<std::int64_t, 3> place_{};
};

/// Of a lattice: how many cells sets have in each column of an axis. Only of sets that reach both
/// sides; the others have no columns.
using Columns = BySet<std::vector<std::int64_t>>;

Columns countColumns(const LabeledPiece& labeled, const StraightLattice& lattice,
                     const std::vector<RegionOfSet>& ofSet) {
  Columns columns;
  for (std::size_t a = 0; a < 3; ++a) {
    columns[a].resize(ofSet.size());
    for (std::size_t s = 0; s < ofSet.size(); ++s)
      if ((ofSet[s].reaches >> a & 1) != 0) columns[a][s].resize(index(lattice.cells(a)) + 1);
  }
  RowCursor cursor(lattice);
  labeled.visitOwnCells([&](std::int64_t begin, std::int64_t end, std::uint32_t set) {
    const unsigned reaches = ofSet[set].reaches;
    if (reaches == 0) return;
    const std::array<std::int64_t, 3>& place = cursor.goTo(begin);
    // A run of a row is in one column of the other axes; along its own, first the changes count.
    if ((reaches & 1) != 0) {
      ++columns[0][set][index(place[0])];
      --columns[0][set][index(place[0] + end - begin)];
    }
    if ((reaches & 2) != 0) columns[1][set][index(place[1])] += end - begin;
    if ((reaches & 4) != 0) columns[2][set][index(place[2])] += end - begin;
  });
  for (std::vector<std::int64_t>& ofSet : columns[0])
    std::partial_sum(ofSet.begin(), ofSet.end(), ofSet.begin());
  return columns;
}

/// Adds the parts of the axes that the cells of a lattice occupy.
void addOccupied(const Columns& columns, const StraightLattice& lattice,
                 const std::vector<RegionOfSet>& ofSet, std::vector<Occupied>& parts) {
  for (std::size_t a = 0; a < 3; ++a) {
    const std::vector<double>& places = lattice.axes[a];
    for (std::size_t s = 0; s < ofSet.size(); ++s) {
      const std::vector<std::int64_t>& cells = columns[a][s];
      for (std::size_t i = 0, lo = 0; i < cells.size(); ++i) {
        const bool wasIn = i > 0 && cells[i - 1] > 0, isIn = cells[i] > 0;
        if (!wasIn && isIn) lo = i;
        if (wasIn && !isIn)
          parts.push_back({ofSet[s].number, static_cast<std::int64_t>(a), places[lo], places[i]});
      }
    }
  }
}

/// Adds the parts of the axes that a piece's regions that reach both sides occupy.
/// @param columns  Out: of a lattice
void addOccupied(const LabeledPiece& labeled, const std::vector<RegionOfSet>& ofSet,
                 Columns& columns, std::vector<Occupied>& parts) {
  if (std::none_of(ofSet.begin(), ofSet.end(),
                   [](const RegionOfSet& one) { return one.reaches != 0; }))
    return;
  if (const StraightLattice* const lattice = labeled.piece().straight()) {
    columns = countColumns(labeled, *lattice, ofSet);
    return addOccupied(columns, *lattice, ofSet, parts);
  }
  std::vector<Occupied> own;
  constexpr std::size_t Many = 1 << 16;
  std::size_t limit = Many;
  labeled.visitOwnCells([&](std::int64_t begin, std::int64_t end, std::uint32_t set) {
    const unsigned reaches = ofSet[set].reaches;
    for (std::int64_t c = begin; c < end && reaches != 0; ++c) {
      const Box box = labeled.piece().boundsOf(c);
      for (std::size_t a = 0; a < 3; ++a) {
        const Occupied part{ofSet[set].number, static_cast<std::int64_t>(a), box.lo[a], box.hi[a]};
        if ((reaches >> a & 1) != 0 && part.isFinite()) own.push_back(part);
      }
    }
    if (own.size() < limit) return;
    join(own);
    limit = std::max(Many, 2 * own.size());
  });
  join(own);
  parts.insert(parts.end(), own.begin(), own.end());
}

/// The same as addBelow(), of a lattice.
void addBelow(const LabeledPiece& labeled, const StraightLattice& lattice, const Columns& columns,
              const BySet<double>& lo, const FactScales& scales, BySet<FixedSum>& below) {
  BySet<std::int64_t> ends;  // of the columns below
  for (std::size_t a = 0; a < 3; ++a)
    for (const double place : lo[a]) {
      std::int64_t low = 0, high = std::isnan(place) ? 0 : lattice.cells(a);
      while (low < high) {
        const std::int64_t middle = low + (high - low) / 2;
        if (lattice.middle(a, middle) < place)
          low = middle + 1;
        else
          high = middle;
      }
      ends[a].push_back(low);
    }
  const auto weightOf = [&](std::int64_t cell) {
    return scales.hasMeasure ? scales.measure.fixed(lattice.sizeOf(cell).measure) : FixedSum(1);
  };
  if (lattice.spacing || !scales.hasMeasure) {
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t s = 0; s < ends[a].size(); ++s) {
        const auto first = columns[a][s].begin();
        if (ends[a][s] > 0)
          addChecked(below[a][s],
                     weightOf(0) * std::accumulate(first, first + ends[a][s], std::int64_t(0)));
      }
    return;
  }
  RowCursor cursor(lattice);
  labeled.visitOwnCells([&](std::int64_t begin, std::int64_t end, std::uint32_t set) {
    const std::array<std::int64_t, 3>& place = cursor.goTo(begin);
    for (std::size_t a = 0; a < 3; ++a) {
      const std::int64_t left = ends[a][set] - place[a];
      const std::int64_t last = a == 0 ? std::min(end, begin + left) : end;
      for (std::int64_t c = begin; left > 0 && c < last; ++c)
        addChecked(below[a][set], weightOf(c));
    }
  });
}

/// Adds up the weight of cells below places along each axis: of `ofSet[set]`, that in
/// `lo[axis][set]`, or NaN.
void addBelow(const LabeledPiece& labeled, const Columns& columns, const BySet<double>& lo,
              const FactScales& scales, BySet<FixedSum>& below) {
  if (const StraightLattice* const lattice = labeled.piece().straight())
    return addBelow(labeled, *lattice, columns, lo, scales, below);
  labeled.visitOwnCells([&](std::int64_t begin, std::int64_t end, std::uint32_t set) {
    if (std::isnan(lo[0][set]) && std::isnan(lo[1][set]) && std::isnan(lo[2][set])) return;
    for (std::int64_t c = begin; c < end; ++c) {
      const CellSize size = labeled.sizeOf(c);
      const FixedSum weight = scales.hasMeasure ? scales.measure.fixed(size.measure) : FixedSum(1);
      for (std::size_t a = 0; a < 3; ++a)
        if (size.centroid[a] < lo[a][set]) addChecked(below[a][set], weight);
    }
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
  std::vector<Columns> columns(labeled.size());
  std::vector<Occupied> mine;
  sendRecords<Occupied>(
      transport,
      [&](RecordOutbox<Occupied>& outbox) {
        for (std::size_t n = 0; n < labeled.size(); ++n)
          addOccupied(*labeled[n], numbered.ofSet[n], columns[n], mine);
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
        for (std::size_t n = 0; n < labeled.size(); ++n) {
          const std::vector<RegionOfSet>& ofSet = numbered.ofSet[n];
          BySet<double> lo;
          BySet<FixedSum> below;
          bool isAny = false;
          for (std::size_t a = 0; a < 3; ++a) {
            lo[a].resize(ofSet.size(), std::nan(""));
            below[a].resize(ofSet.size(), 0);
            for (std::size_t s = 0; s < ofSet.size(); ++s) {
              if (ofSet[s].number < 0 || (ofSet[s].reaches >> a & 1) == 0) continue;
              const auto at = std::lower_bound(asked.begin(), asked.end(),
                                               std::pair(ofSet[s].number, std::int64_t(a)));
              if (at == asked.end() || *at != std::pair(ofSet[s].number, std::int64_t(a)))
                continue;  // ghosts only
              lo[a][s] = from[static_cast<std::size_t>(at - asked.begin())];
              isAny = isAny || !std::isnan(lo[a][s]);
            }
          }
          if (!isAny) continue;
          addBelow(*labeled[n], columns[n], lo, scales, below);
          for (std::size_t a = 0; a < 3; ++a)
            for (std::size_t s = 0; s < ofSet.size(); ++s)
              if (below[a][s] != 0)
                outbox.add(shares.ownerOf(ofSet[s].number),
                           {ofSet[s].number, std::int64_t(a), below[a][s]});
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
