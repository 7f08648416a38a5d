// SPDX-License-Identifier: BSD-3-Clause
#include "Lines/CellVelocity.h"

#include <vtkDataSetAttributes.h>
#include <vtkGenericCell.h>
#include <vtkNew.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "Common/Leaves.h"

#include "Tributary/Base/Hash.h"
#include "Tributary/Base/StructuredCells.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Collective/Rendezvous.h"

namespace tributary {
namespace {

/// What the cells around a point add up to; addition is exact, so its order does not matter.
struct Sum {
  std::array<std::int64_t, 3> velocity{};  // in units of the rounding
  std::int64_t cells = 0;

  void operator+=(const Sum& other) {
    for (std::size_t c = 0; c < 3; ++c) add(velocity[c], other.velocity[c]);
    add(cells, other.cells);
  }

 private:
  /// Sums in a malformed message may overflow; unsigned numbers wrap.
  static void add(std::int64_t& sum, std::int64_t more) {
    sum = static_cast<std::int64_t>(static_cast<std::uint64_t>(sum) +
                                    static_cast<std::uint64_t>(more));
  }
};

using Position = std::array<double, 3>;

struct PositionHash {
  std::size_t operator()(const Position& p) const {
    std::uint64_t hash = 0;
    for (const double x : p) hash = scramble(hash ^ coordinateBits(x));
    return hash;
  }
};

/// A point where cells meet.
struct Place {
  Position position;
  bool isOnSide = false;  ///< Of a periodic axis: others may be anywhere on the opposite side.
};

Place placeOf(const FlowDomain& flow, vtkDataSet* dataSet, vtkIdType point) {
  Place place;
  Position& p = place.position;
  dataSet->GetPoint(point, p.data());
  for (double& x : p) x += 0.0;  // -0 becomes 0: they are one place
  for (std::size_t a = 0; a < 3; ++a) {
    const PeriodicAxis& axis = flow.periodic[a];
    if (!axis.isPeriodic) continue;
    const double inside = p[a] - axis.origin;
    if (inside > axis.tolerance && inside < axis.period - axis.tolerance) continue;
    p[a] = axis.origin + 0.0;  // both sides are one place
    place.isOnSide = true;
  }
  return place;
}

std::array<double, 3> velocityAt(const ArrayView& view, std::int64_t tuple) {
  std::array<double, 3> v;
  for (std::size_t c = 0; c < 3; ++c) {
    const auto at = 3 * static_cast<std::size_t>(tuple) + c;
    v[c] = view.isDouble ? static_cast<const double*>(view.data)[at]
                         : double(static_cast<const float*>(view.data)[at]);
  }
  return v;
}

/// The velocity at the center of a cell: each component is the mean of those of two faces.
/// @param points  of the piece, along the axes
/// @param corner  the cell's lowest
std::array<double, 3> betweenFaces(const ArrayView& view, const std::array<std::int64_t, 3>& points,
                                   std::int64_t corner) {
  std::array<double, 3> v = velocityAt(view, corner);
  std::int64_t stride = 1;
  for (std::size_t c = 0; c < 3; ++c) {
    if (points[c] > 1) v[c] = (v[c] + velocityAt(view, corner + stride)[c]) / 2;
    stride *= points[c];
  }
  return v;
}

bool isFinite(const std::array<double, 3>& v) {
  return std::isfinite(v[0]) && std::isfinite(v[1]) && std::isfinite(v[2]);
}

bool counts(Span<const std::uint8_t> ghosts, std::int64_t cell) {
  return ghosts.empty() ||
         !(ghosts[static_cast<std::size_t>(cell)] &
           (vtkDataSetAttributes::DUPLICATECELL | vtkDataSetAttributes::HIDDENCELL));
}

/// The velocities of a piece at a step.
template <class Piece>
const ArrayView& velocitiesOf(const Piece& piece, FlowStep step) {
  return step == FlowStep::Earlier ? piece.velocity : piece.laterVelocity;
}

/// Calls visit(piece number, points, velocity) for every cell that counts.
template <class Visit>
void forEachCell(const FlowDomain& flow, FlowStep step, Visit&& visit) {
  for (const StructuredPiece& piece : flow.structured) {
    const std::array<std::int64_t, 3> along = pointsAlong(piece.extent.data());
    const StructuredCells grid(along);
    const ArrayView& velocities = velocitiesOf(piece, step);
    for (std::int64_t cell = 0; cell < grid.cellCount(); ++cell) {
      if (!counts(piece.ghosts, cell)) continue;
      const CellPointIds points = grid.pointsOf(cell);
      visit(piece.piece, points,
            piece.onFaces ? betweenFaces(velocities, along, points[0])
                          : velocityAt(velocities, cell));
    }
  }
  vtkNew<vtkGenericCell> prototype;
  std::array<int, 256> dimensions;
  dimensions.fill(-1);
  for (const MeshPiece& piece : flow.meshes) {
    for (std::size_t cell = 0; cell < piece.types.size(); ++cell) {
      int& dimension = dimensions[piece.types[cell]];
      if (dimension < 0) {
        prototype->SetCellType(piece.types[cell]);
        dimension = prototype->GetCellDimension();
      }
      if (dimension < flow.dimension || !counts(piece.ghosts, static_cast<std::int64_t>(cell)))
        continue;
      visit(piece.piece, piece.pointsOf(static_cast<std::int64_t>(cell)),
            velocityAt(velocitiesOf(piece, step), static_cast<std::int64_t>(cell)));
    }
  }
}

/// Sums at the points of all pieces of this rank.
std::vector<std::vector<Sum>> sumLocally(const FlowDomain& flow, FlowStep step,
                                         double unitsPerSpeed) {
  std::vector<std::vector<Sum>> sums;
  for (const FlowPiece& piece : flow.pieces)
    sums.emplace_back(static_cast<std::size_t>(piece.dataSet->GetNumberOfPoints()));
  forEachCell(flow, step,
              [&](int piece, const CellPointIds& points, const std::array<double, 3>& velocity) {
                if (!isFinite(velocity)) return;
                Sum one;
                one.cells = 1;
                for (std::size_t c = 0; c < 3; ++c)
                  one.velocity[c] = std::llround(velocity[c] * unitsPerSpeed);
                for (std::int64_t p = 0; p < points.count; ++p)
                  sums[static_cast<std::size_t>(piece)].at(static_cast<std::size_t>(points[p])) +=
                      one;
              });
  return sums;
}

/// Collective. The bounding boxes of the other ranks' pieces.
std::vector<Box> boxesOfOthers(Transport& transport, const FlowDomain& flow) {
  std::vector<Box> mine;
  collectively(transport, [&] {
    for (const FlowPiece& piece : flow.pieces) {
      const double* b = piece.dataSet->GetBounds();
      Box& box = mine.emplace_back();
      for (std::size_t a = 0; a < 3; ++a) {
        box.lo[a] = b[2 * a];
        box.hi[a] = b[2 * a + 1];
      }
    }
  });
  std::vector<std::int64_t> countPerRank;
  const std::vector<Box> all = allgatherv(transport, mine, &countPerRank);
  std::vector<Box> others;
  collectively(transport, [&] {
    std::size_t at = 0;
    for (int r = 0; r < transport.size(); ++r)
      for (std::int64_t i = 0; i < countPerRank[static_cast<std::size_t>(r)]; ++i, ++at)
        if (r != transport.rank()) others.push_back(all[at]);
  });
  return others;
}

struct SharedPoint {
  Place place;
  Sum sum;
};

/// Collective. Adds up the sums at positions that other ranks may have too.
void sumAcrossRanks(Transport& transport, const std::vector<SharedPoint*>& shared) {
  struct Contribution {
    Position position;
    Sum sum;
    std::int64_t index;  // in `shared`
  };
  struct Total {
    std::int64_t index;
    Sum sum;
  };
  std::vector<Contribution> mine;
  collectively(transport, [&] {
    for (std::size_t i = 0; i < shared.size(); ++i)
      mine.push_back({shared[i]->place.position, shared[i]->sum, static_cast<std::int64_t>(i)});
  });
  const std::vector<Total> totals = rendezvous<Total>(
      transport, std::move(mine),
      [](const Contribution& one) { return PositionHash()(one.position); },
      [](const Contribution& a, const Contribution& b) { return a.position < b.position; },
      [](const Contribution& a, const Contribution& b) { return a.position == b.position; },
      [](Span<Met<Contribution>> group, auto&& send) {
        Sum total;
        for (const auto& one : group) total += one.record.sum;
        for (const auto& one : group) send(one.rank, {one.record.index, total});
      });
  collectively(transport, [&] {
    for (const Total& total : totals) {
      if (total.index < 0 || static_cast<std::size_t>(total.index) >= shared.size())
        refuseMessage("a sum of a point that is not shared");
      shared[static_cast<std::size_t>(total.index)]->sum = total.sum;
    }
  });
}

}  // namespace

std::vector<std::vector<double>> averageToPoints(Transport& transport, const FlowDomain& flow,
                                                 FlowStep step) {
  double largest = 0;
  forEachCell(flow, step, [&](int, const CellPointIds&, const std::array<double, 3>& v) {
    if (!isFinite(v)) return;
    for (const double c : v) largest = std::max(largest, std::fabs(c));
  });
  largest = allreduce(transport, ReduceOp::Max, largest);
  int exponent = 0;
  std::frexp(largest, &exponent);
  // Of 63 bits, 40 are for the value and the rest for the number of cells around a point.
  const double unitsPerSpeed = largest > 0 ? std::ldexp(1.0, std::min(40 - exponent, 1000)) : 1;

  std::vector<std::vector<Sum>> sums;
  collectively(transport, [&] { sums = sumLocally(flow, step, unitsPerSpeed); });

  // Points that may coincide with others: all points of meshes if they can meet within this rank,
  // and whatever lies in the box of another rank's piece.
  const std::vector<Box> boxes = boxesOfOthers(transport, flow);
  const bool onePieceOfGrid = flow.pieces.size() == 1 && flow.meshes.empty();
  std::unordered_map<Position, std::size_t, PositionHash> slots;
  std::vector<SharedPoint> merged;
  std::vector<std::vector<std::int64_t>> slotOf;
  std::vector<SharedPoint*> shared;
  collectively(transport, [&] {
    const BoxIndex others(boxes);
    slotOf.resize(flow.pieces.size());
    for (std::size_t n = 0; n < flow.pieces.size(); ++n) {
      slotOf[n].assign(sums[n].size(), -1);
      for (std::size_t i = 0; i < sums[n].size(); ++i) {
        const Place place = placeOf(flow, flow.pieces[n].dataSet, static_cast<vtkIdType>(i));
        const Position& p = place.position;
        if (onePieceOfGrid && !place.isOnSide && others.next(p.data(), -1) < 0) continue;
        const auto [at, isNew] = slots.emplace(p, merged.size());
        if (isNew) merged.push_back({place, {}});
        merged[at->second].sum += sums[n][i];
        slotOf[n][i] = static_cast<std::int64_t>(at->second);
      }
    }
    for (SharedPoint& point : merged)
      if (point.place.isOnSide || others.next(point.place.position.data(), -1) >= 0)
        shared.push_back(&point);
  });
  sumAcrossRanks(transport, shared);

  std::vector<std::vector<double>> velocities;
  collectively(transport, [&] {
    velocities.resize(flow.pieces.size());
    for (std::size_t n = 0; n < flow.pieces.size(); ++n) {
      velocities[n].assign(3 * sums[n].size(), 0.0);
      for (std::size_t i = 0; i < sums[n].size(); ++i) {
        const Sum& sum =
            slotOf[n][i] < 0 ? sums[n][i] : merged[static_cast<std::size_t>(slotOf[n][i])].sum;
        if (sum.cells == 0) continue;
        for (std::size_t c = 0; c < 3; ++c)
          velocities[n][3 * i + c] =
              static_cast<double>(sum.velocity[c]) / static_cast<double>(sum.cells) / unitsPerSpeed;
      }
    }
  });
  return velocities;
}

}  // namespace tributary
