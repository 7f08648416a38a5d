// SPDX-License-Identifier: BSD-3-Clause
#include "Regions/WrappedRegions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
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

/// The sets of a piece in regions that reach both sides along an axis.
class ReachingSets {
 public:
  static constexpr std::uint32_t Nowhere = std::numeric_limits<std::uint32_t>::max();

  ReachingSets() = default;
  explicit ReachingSets(const std::vector<RegionOfSet>& ofSet) {
    for (std::size_t s = 0; s < ofSet.size(); ++s) {
      if (ofSet[s].reaches == 0) continue;
      placeOf_.resize(ofSet.size(), Nowhere);
      placeOf_[s] = static_cast<std::uint32_t>(sets_.size());
      sets_.push_back(static_cast<std::uint32_t>(s));
    }
  }

  const std::vector<std::uint32_t>& sets() const { return sets_; }
  bool empty() const { return sets_.empty(); }
  /// The place of a set in sets(), or Nowhere.
  std::uint32_t placeOf(std::uint32_t set) const { return placeOf_[set]; }

 private:
  std::vector<std::uint32_t> sets_, placeOf_;
};

/// Numbers by axis, of ReachingSets::sets().
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

/// Of a lattice: how many cells sets have in each column of an axis along which their regions reach
/// both sides; none along the others.
using Columns = BySet<std::vector<std::int64_t>>;

Columns countColumns(const LabeledPiece& labeled, const StraightLattice& lattice,
                     const std::vector<RegionOfSet>& ofSet, const ReachingSets& reaching) {
  Columns columns;
  for (std::size_t a = 0; a < 3; ++a) {
    columns[a].resize(reaching.sets().size());
    for (std::size_t n = 0; n < reaching.sets().size(); ++n)
      if ((ofSet[reaching.sets()[n]].reaches >> a & 1) != 0)
        columns[a][n].resize(index(lattice.cells(a)) + 1);
  }
  RowCursor cursor(lattice);
  labeled.visitOwnCells([&](std::int64_t begin, std::int64_t end, std::uint32_t set) {
    const std::uint32_t n = reaching.placeOf(set);
    if (n == ReachingSets::Nowhere) return;
    const std::int64_t reaches = ofSet[set].reaches;
    const std::array<std::int64_t, 3>& place = cursor.goTo(begin);
    // A run of a row is in one column of the other axes; along its own, first the changes count.
    if ((reaches & 1) != 0) {
      ++columns[0][n][index(place[0])];
      --columns[0][n][index(place[0] + end - begin)];
    }
    if ((reaches & 2) != 0) columns[1][n][index(place[1])] += end - begin;
    if ((reaches & 4) != 0) columns[2][n][index(place[2])] += end - begin;
  });
  for (std::vector<std::int64_t>& ofSet : columns[0])
    std::partial_sum(ofSet.begin(), ofSet.end(), ofSet.begin());
  return columns;
}

/// Adds the parts of the axes that the cells of a lattice occupy.
void addOccupied(const Columns& columns, const StraightLattice& lattice,
                 const std::vector<RegionOfSet>& ofSet, const ReachingSets& reaching,
                 std::vector<Occupied>& parts) {
  for (std::size_t a = 0; a < 3; ++a) {
    const std::vector<double>& places = lattice.axes[a];
    for (std::size_t n = 0; n < reaching.sets().size(); ++n) {
      const std::vector<std::int64_t>& cells = columns[a][n];
      const std::int64_t number = ofSet[reaching.sets()[n]].number;
      for (std::size_t i = 0, lo = 0; i < cells.size(); ++i) {
        const bool wasIn = i > 0 && cells[i - 1] > 0, isIn = cells[i] > 0;
        if (!wasIn && isIn) lo = i;
        if (wasIn && !isIn)
          parts.push_back({number, static_cast<std::int64_t>(a), places[lo], places[i]});
      }
    }
  }
}

/// Adds the parts of the axes that a piece's regions that reach both sides occupy.
/// @param columns  Out: of a lattice
void addOccupied(const LabeledPiece& labeled, const std::vector<RegionOfSet>& ofSet,
                 const ReachingSets& reaching, Columns& columns, std::vector<Occupied>& parts) {
  if (reaching.empty()) return;
  if (const StraightLattice* const lattice = labeled.piece().straight()) {
    columns = countColumns(labeled, *lattice, ofSet, reaching);
    return addOccupied(columns, *lattice, ofSet, reaching, parts);
  }
  std::vector<Occupied> own;
  constexpr std::size_t Many = 1 << 16;
  std::size_t limit = Many;
  labeled.visitOwnCells([&](std::int64_t begin, std::int64_t end, std::uint32_t set) {
    const std::int64_t reaches = ofSet[set].reaches;
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
void addBelow(const LabeledPiece& labeled, const StraightLattice& lattice,
              const ReachingSets& reaching, const Columns& columns, const BySet<double>& lo,
              const FactScales& scales, BySet<FixedSum>& below) {
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
      for (std::size_t n = 0; n < ends[a].size(); ++n) {
        const auto first = columns[a][n].begin();
        if (ends[a][n] > 0)
          addChecked(below[a][n],
                     weightOf(0) * std::accumulate(first, first + ends[a][n], std::int64_t(0)));
      }
    return;
  }
  RowCursor cursor(lattice);
  labeled.visitOwnCells([&](std::int64_t begin, std::int64_t end, std::uint32_t set) {
    const std::uint32_t n = reaching.placeOf(set);
    if (n == ReachingSets::Nowhere) return;
    const std::array<std::int64_t, 3>& place = cursor.goTo(begin);
    for (std::size_t a = 0; a < 3; ++a) {
      const std::int64_t left = ends[a][n] - place[a];
      const std::int64_t last = a == 0 ? std::min(end, begin + left) : end;
      for (std::int64_t c = begin; left > 0 && c < last; ++c) addChecked(below[a][n], weightOf(c));
    }
  });
}

/// Adds up the weight of cells below places along each axis, which may be NaN.
void addBelow(const LabeledPiece& labeled, const ReachingSets& reaching, const Columns& columns,
              const BySet<double>& lo, const FactScales& scales, BySet<FixedSum>& below) {
  if (const StraightLattice* const lattice = labeled.piece().straight())
    return addBelow(labeled, *lattice, reaching, columns, lo, scales, below);
  labeled.visitOwnCells([&](std::int64_t begin, std::int64_t end, std::uint32_t set) {
    const std::uint32_t n = reaching.placeOf(set);
    if (n == ReachingSets::Nowhere) return;
    for (std::int64_t c = begin; c < end; ++c) {
      const CellSize size = labeled.sizeOf(c);
      const FixedSum weight = scales.hasMeasure ? scales.measure.fixed(size.measure) : FixedSum(1);
      for (std::size_t a = 0; a < 3; ++a)
        if (size.centroid[a] < lo[a][n]) addChecked(below[a][n], weight);
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
    const double below = axis.decreases ? axis.gap : 0;
    sides.lower[a] = axis.origin + below + axis.tolerance;
    sides.upper[a] = axis.origin + axis.period - (axis.gap - below) - axis.tolerance;
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
  std::vector<ReachingSets> reaching;
  std::vector<Columns> columns(labeled.size());
  std::vector<Occupied> mine;
  sendRecords<Occupied>(
      transport,
      [&](RecordOutbox<Occupied>& outbox) {
        for (std::size_t n = 0; n < labeled.size(); ++n) {
          reaching.emplace_back(numbered.ofSet[n]);
          addOccupied(*labeled[n], numbered.ofSet[n], reaching[n], columns[n], mine);
        }
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
          const std::vector<std::uint32_t>& sets = reaching[n].sets();
          BySet<double> lo;
          BySet<FixedSum> below;
          bool isAny = false;
          for (std::size_t a = 0; a < 3; ++a) {
            lo[a].resize(sets.size(), std::nan(""));
            below[a].resize(sets.size(), 0);
            for (std::size_t i = 0; i < sets.size(); ++i) {
              const RegionOfSet& region = ofSet[sets[i]];
              if (region.number < 0 || (region.reaches >> a & 1) == 0) continue;
              const std::pair key(region.number, std::int64_t(a));
              const auto at = std::lower_bound(asked.begin(), asked.end(), key);
              if (at == asked.end() || *at != key) continue;  // ghosts only
              lo[a][i] = from[static_cast<std::size_t>(at - asked.begin())];
              isAny = isAny || !std::isnan(lo[a][i]);
            }
          }
          if (!isAny) continue;
          addBelow(*labeled[n], reaching[n], columns[n], lo, scales, below);
          for (std::size_t a = 0; a < 3; ++a)
            for (std::size_t i = 0; i < sets.size(); ++i)
              if (below[a][i] != 0)
                outbox.add(shares.ownerOf(ofSet[sets[i]].number),
                           {ofSet[sets[i]].number, std::int64_t(a), below[a][i]});
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
