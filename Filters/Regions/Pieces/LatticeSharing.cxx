// SPDX-License-Identifier: BSD-3-Clause
#include "Regions/Pieces/LatticePiece.h"

#include <algorithm>
#include <utility>

namespace tributary {
namespace {

/// Whether an entity lies in a face of a box of indices.
bool isOnSurface(const std::array<std::int64_t, 3>& at, unsigned span, const Box& box) {
  for (std::size_t a = 0; a < 3; ++a) {
    const auto place = static_cast<double>(at[a]);
    if ((span >> a & 1) == 0 && box.lo[a] < box.hi[a] && (place == box.lo[a] || place == box.hi[a]))
      return true;
  }
  return false;
}

}  // namespace

std::vector<std::int64_t> LatticePiece::pointsIn(Span<const NeighborPiece> others) const {
  std::vector<std::int64_t> found;
  const Box mine = outline().box;
  for (const NeighborPiece& other : others) {
    const Box& box = other.box;
    Index3 first{}, end{};
    for (std::size_t a = 0; a < 3; ++a) {
      if (hasIndices()) {
        const std::int64_t lo = static_cast<std::int64_t>(box.lo[a]) - start_[a];
        const std::int64_t hi = static_cast<std::int64_t>(box.hi[a]) - start_[a];
        first[a] = lo <= 0 ? 0 : (lo + stride_[a] - 1) / stride_[a];
        end[a] = hi < 0 ? 0 : std::min(hi / stride_[a] + 1, points_[a]);
      } else {
        const auto& axis = straight_->axes[a];
        first[a] = std::lower_bound(axis.begin(), axis.end(), box.lo[a]) - axis.begin();
        end[a] = std::upper_bound(axis.begin(), axis.end(), box.hi[a]) - axis.begin();
      }
    }
    // Between levels only what lies on the finer data set's surface is of interest.
    const Box surface = other.level > leaf_.level ? box : mine;
    for (std::int64_t k = first[2]; k < end[2]; ++k)
      for (std::int64_t j = first[1]; j < end[1]; ++j)
        for (std::int64_t i = first[0]; i < end[0]; ++i) {
          const std::int64_t point = pointAt(i, j, k);
          if (other.level == leaf_.level || isOnSurface(indexOf(point), 0, surface))
            found.push_back(point);
        }
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

template <class Visit>
void LatticePiece::visitOwnEntities(const SharedPoints& shared, unsigned span,
                                    Visit&& visit) const {
  const Index3 strides = {1, points_[0], points_[0] * points_[1]};
  for (const std::int64_t point : shared.points()) {
    const Index3 p = localIndexOf(point);
    std::array<EntityKey, 8> corners;
    std::array<std::int64_t, 8> cornerPoints;
    std::size_t count = 0;
    bool isShared = true;
    for (unsigned part = 0; part < 8 && isShared; ++part) {
      if ((part & ~span) != 0) continue;
      std::int64_t corner = point;
      for (std::size_t a = 0; a < 3; ++a) {
        if ((part >> a & 1) == 0) continue;
        isShared = isShared && p[a] + 1 < points_[a];
        corner += strides[a];
      }
      const std::int64_t at = isShared ? shared.find(corner) : -1;
      isShared = at >= 0;
      if (!isShared) break;
      cornerPoints[count] = corner;
      corners[count++] = shared.keys()[index(at)];
    }
    if (!isShared) continue;
    if (hasIndices())
      visit(finestIndexOf(point), keyOfIndices(indexOf(point), span, leaf_.level));
    else
      visit(finestIndexOf(point),
            keyOfPoints({cornerPoints.data(), count}, {corners.data(), count}));
  }
}

template <class Visit>
void LatticePiece::visitFinerEntities(const NeighborPiece& finer, unsigned span,
                                      Visit&& visit) const {
  const Box mine = outline().box;
  Index3 lo, hi, step;
  for (std::size_t a = 0; a < 3; ++a) {
    lo[a] = static_cast<std::int64_t>(finer.box.lo[a]);
    hi[a] = static_cast<std::int64_t>(std::min(finer.box.hi[a], mine.hi[a]));
    step[a] = isFlat(a) ? 1 : finer.stride[a];
    const std::int64_t below = static_cast<std::int64_t>(mine.lo[a]) - lo[a];
    if (below > 0) lo[a] += (below + step[a] - 1) / step[a] * step[a];
    if ((span >> a & 1) != 0) hi[a] -= step[a];
  }
  Index3 at;
  for (at[2] = lo[2]; at[2] <= hi[2]; at[2] += step[2])
    for (at[1] = lo[1]; at[1] <= hi[1]; at[1] += step[1])
      for (at[0] = lo[0]; at[0] <= hi[0]; at[0] += step[0]) {
        if (!isOnSurface(at, span, finer.box)) continue;
        visit(Index3{at[0] - start_[0], at[1] - start_[1], at[2] - start_[2]},
              keyOfIndices(at, span, finer.level));
      }
}

template <class Visit>
void LatticePiece::visitGapEntities(Span<const NeighborPiece> others, unsigned span,
                                    Visit&& visit) const {
  for (std::size_t n = 0; n < slabs_.size(); ++n) {
    const GapSlab& slab = slabs_[n];
    // With ghost cells the gaps of data sets overlap: their outer faces are not the same.
    std::vector<Box> near;
    Box own;
    for (std::size_t a = 0; a < 3; ++a) {
      own.lo[a] = static_cast<double>(slab.first[a]);
      own.hi[a] = static_cast<double>(slab.last[a]);
    }
    for (const NeighborPiece& other : others)
      if (intersects(other.box, own)) near.push_back(other.box);
    bool hasOuter = !near.empty();
    for (std::size_t a = 0; a < 3; ++a) hasOuter = hasOuter || (!isFlat(a) && around_[a] == 0);
    if (!hasOuter) continue;
    const auto isShared = [&](const Index3& from) {
      std::array<double, 3> lo, hi;
      for (std::size_t a = 0; a < 3; ++a) {
        lo[a] = static_cast<double>(from[a]);
        hi[a] = static_cast<double>(from[a] + (span >> a & 1));
      }
      return std::any_of(near.begin(), near.end(), [&](const Box& box) {
        return box.contains(lo.data()) && box.contains(hi.data());
      });
    };
    Index3 last = slab.last;
    for (std::size_t a = 0; a < 3; ++a)
      if ((span >> a & 1) != 0) --last[a];
    // Whether elements of other data sets may have entities with an index along an axis.
    const auto isOuter = [&](std::size_t a, std::int64_t at) {
      if ((span >> a & 1) != 0 || isFlat(a) || around_[a] > 0) return false;
      return at == slab.last[a] || (at == slab.first[a] && !slab.isGap[a]);
    };
    Index3 at;
    for (at[2] = slab.first[2]; at[2] <= last[2]; ++at[2])
      for (at[1] = slab.first[1]; at[1] <= last[1]; ++at[1])
        for (at[0] = slab.first[0]; at[0] <= last[0]; ++at[0])
          if (isOuter(0, at[0]) || isOuter(1, at[1]) || isOuter(2, at[2]) || isShared(at))
            visit(static_cast<int>(n), at, keyOfIndices(at, span, leaf_.level));
  }
}

std::vector<EntityKey> LatticePiece::connect(Span<const NeighborPiece> others,
                                             const SharedPoints& shared,
                                             std::vector<LatticeEntity>& connections) const {
  unsigned notFlat = 0;
  int dimension = 0;
  for (std::size_t a = 0; a < 3; ++a) {
    if (isFlat(a)) continue;
    notFlat |= 1u << a;
    ++dimension;
  }
  const int spans = rules_.through == Through::Points  ? 0
                    : rules_.through == Through::Edges ? std::min(1, std::max(dimension - 1, 0))
                                                       : std::max(dimension - 1, 0);
  std::vector<EntityKey> keys;
  std::vector<std::int64_t> values;
  for (unsigned span = 0; span < 8; ++span) {
    if ((span & ~notFlat) != 0 || __builtin_popcount(span) != spans) continue;
    const auto add = [&](const Index3& at, const EntityKey& key) {
      if (!rules_.withLabels) {
        keys.push_back(key);
        connections.push_back({at, span, 0});
        return;
      }
      values.clear();
      cellsAt(at, span, [&](std::int64_t cell) {
        const std::int64_t value = values_[index(cell)];
        if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
      });
      for (const std::int64_t value : values) {
        keys.push_back(withValue(key, value));
        connections.push_back({at, span, value});
      }
    };
    visitOwnEntities(shared, span, add);
    visitGapEntities(others, span, [&](int slab, const Index3& at, const EntityKey& key) {
      keys.push_back(key);
      connections.push_back({at, span, 0, slab});
    });
    for (const NeighborPiece& other : others)
      if (other.level > leaf_.level) visitFinerEntities(other, span, add);
  }
  return keys;
}

std::unique_ptr<SharedPiece> LatticePiece::shareMore(SharedPoints&& shared,
                                                     Span<const NeighborPiece> others,
                                                     bool connect) const {
  std::vector<LatticeEntity> connections;
  std::vector<EntityKey> connectionKeys;
  if (connect) connectionKeys = this->connect(others, shared, connections);
  return std::make_unique<SharedLattice>(*this, std::move(shared), std::move(connectionKeys),
                                         std::move(connections));
}

/// The set of an element of a gap that has the entity.
std::uint32_t LabeledLattice::setInGap(const LatticeEntity& entity) const {
  if (gaps_.empty()) return NoSet;
  const GapSlab& slab = lattice_.slabs_[index(entity.slab)];
  const LatticeLabels& labels = gaps_[index(entity.slab)];
  Index3 first{}, end{};  // in the order of the labels
  for (std::size_t n = 0; n < 3; ++n) {
    const std::size_t a = slab.order[n];
    const std::int64_t at = entity.at[a] - slab.first[a];
    first[n] = (entity.span >> a & 1) != 0 ? at : std::max<std::int64_t>(at - 1, 0);
    end[n] = std::min(at + 1, labels.size()[n]);
  }
  for (std::int64_t k = first[2]; k < end[2]; ++k)
    for (std::int64_t j = first[1]; j < end[1]; ++j)
      for (std::int64_t i = first[0]; i < end[0]; ++i) {
        const std::uint32_t set = labels.setAt(k * labels.size()[1] + j, i);
        if (set != NoSet) return set;
      }
  return NoSet;
}

std::vector<std::uint32_t> LabeledLattice::setsOfConnections() const {
  std::vector<std::uint32_t> sets;
  sets.reserve(connections_.size());
  for (const LatticeEntity& entity : connections_) {
    if (entity.slab >= 0) {
      sets.push_back(setInGap(entity));
      continue;
    }
    std::uint32_t set = NoSet;
    lattice_.cellsAt(entity.at, entity.span, [&](std::int64_t cell) {
      if (set == NoSet &&
          (!lattice_.rules_.withLabels || lattice_.values_[index(cell)] == entity.value))
        set = setOfCell(cell);
    });
    sets.push_back(set);
  }
  return sets;
}

std::vector<SetAtPoint> LabeledLattice::setsAtShared() const {
  std::vector<SetAtPoint> list;
  const std::vector<std::int64_t>& shared = points_.points();
  for (std::size_t s = 0; s < shared.size(); ++s) {
    const std::size_t first = list.size();
    lattice_.cellsAt(lattice_.finestIndexOf(shared[s]), 0, [&](std::int64_t cell) {
      const std::uint32_t set = setOfCell(cell);
      if (set == NoSet) return;
      for (std::size_t i = first; i < list.size(); ++i)
        if (list[i].set == set) return;
      list.push_back({static_cast<std::int64_t>(s), set});
    });
  }
  return list;
}

std::vector<std::uint32_t> LabeledLattice::setsAt(const std::vector<std::int64_t>& points) const {
  std::vector<std::uint32_t> sets;
  for (const std::int64_t point : points) {
    const Index3 at = lattice_.localIndexOf(point);
    for (unsigned images = 0; images < 8;
         ++images) {  // axes along which it is an image of the point
      Index3 place = at;
      bool exists = true;
      for (std::size_t a = 0; a < 3; ++a) {
        if ((images >> a & 1) == 0) continue;
        const std::int64_t last = lattice_.points_[a] - 1;
        exists = exists && lattice_.isClosed(a) && (at[a] == 0 || at[a] == last);
        place[a] = last - at[a];
      }
      if (!exists) continue;
      for (std::size_t a = 0; a < 3; ++a) place[a] *= lattice_.stride_[a];
      lattice_.cellsAt(place, 0, [&](std::int64_t cell) {
        const std::uint32_t set = setOfCell(cell);
        if (set != NoSet) sets.push_back(set);
      });
    }
  }
  return sets;
}

}  // namespace tributary
