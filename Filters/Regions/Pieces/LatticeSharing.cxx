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
      if (isShared) corners[count++] = shared.keys()[index(at)];
    }
    if (!isShared) continue;
    if (rules_.points == DomainRules::Points::Hierarchy) {
      const Index3 at = indexOf(point);
      visit(finestIndexOf(point),
            keyOfStructured(1, at[0], at[1], at[2], std::int64_t(span) + 8 * leaf_.level));
    } else {
      visit(finestIndexOf(point), count == 1 ? corners[0] : keyOfEntity({corners.data(), count}));
    }
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
              keyOfStructured(1, at[0], at[1], at[2], std::int64_t(span) + 8 * finer.level));
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

std::vector<std::uint32_t> LabeledLattice::setsOfConnections() const {
  std::vector<std::uint32_t> sets;
  sets.reserve(connections_.size());
  for (const LatticeEntity& entity : connections_) {
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
    lattice_.cellsAt(lattice_.finestIndexOf(point), 0, [&](std::int64_t cell) {
      const std::uint32_t set = setOfCell(cell);
      if (set != NoSet) sets.push_back(set);
    });
  }
  return sets;
}

}  // namespace tributary
