// SPDX-License-Identifier: BSD-3-Clause
#include "Regions/ComponentDomain.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include "Tributary/Base/Error.h"
#include "Tributary/Base/NumberText.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Components/PointClusters.h"

namespace tributary {
namespace {

/// @param margin  greatest distance of points that may coincide
NeighborPiece neighborOf(const ComponentPiece& piece, double margin) {
  NeighborPiece outline = piece.outline();
  Box& box = outline.box;
  for (std::size_t a = 0; a < 3 && !box.empty(); ++a) {
    box.lo[a] -= margin;
    box.hi[a] += margin;
  }
  return outline;
}

/// Calls `visit(image)` for a piece and its images beyond periodic sides.
template <class Visit>
void visitImages(const DomainRules& rules, NeighborPiece piece, Visit&& visit) {
  if (rules.around == std::array<std::int64_t, 3>{}) {
    visit(piece);
    return;
  }
  std::array<double, 3> around{};
  std::array<int, 3> reach{};
  for (std::size_t a = 0; a < 3; ++a) {
    around[a] = static_cast<double>(rules.around[a]);
    reach[a] = rules.around[a] > 0 ? 1 : 0;
    // The elements of a gap belong to the piece that has the last column.
    if (around[a] > 0 && rules.periodic[a].hasGap() && piece.box.hi[a] == rules.whole[2 * a + 1])
      ++piece.box.hi[a];
  }
  std::array<int, 3> steps{};
  for (steps[2] = -reach[2]; steps[2] <= reach[2]; ++steps[2])
    for (steps[1] = -reach[1]; steps[1] <= reach[1]; ++steps[1])
      for (steps[0] = -reach[0]; steps[0] <= reach[0]; ++steps[0]) {
        NeighborPiece image = piece;
        for (std::size_t a = 0; a < 3; ++a) {
          image.box.lo[a] += steps[a] * around[a];
          image.box.hi[a] += steps[a] * around[a];
        }
        visit(image);
      }
}

/// The points of a piece that are on periodic sides, with their places on the lower sides.
/// @param places  Out: of the points, as distances from the lower sides
SidePoints sidePointsOf(const ComponentPiece& piece, std::vector<LoosePoint>& places) {
  SidePoints sides;
  std::vector<std::pair<std::int64_t, std::uint8_t>> found;
  const PeriodicAxes& axes = piece.rules().periodic;
  for (std::int64_t p = 0; p < piece.points(); ++p) {
    const std::array<double, 3> place = piece.place(p);
    unsigned lower = 0, upper = 0;
    for (std::size_t a = 0; a < 3; ++a) {
      if (!axes[a].isPeriodic) continue;
      const double from = place[a] - axes[a].origin;
      if (std::abs(from) <= axes[a].tolerance) lower |= 1u << a;
      if (std::abs(from - axes[a].period) <= axes[a].tolerance) upper |= 1u << a;
    }
    if ((lower | upper) != 0)
      found.emplace_back(piece.firstAt(p), static_cast<std::uint8_t>(lower << 3 | upper));
  }
  std::sort(found.begin(), found.end());
  for (const auto& [point, bits] : found) {
    if (!sides.points.empty() && sides.points.back() == point) continue;
    sides.points.push_back(point);
    sides.upper.push_back(bits & 7);
    LoosePoint& loose = places.emplace_back(LoosePoint{piece.place(point), 1});
    for (std::size_t a = 0; a < 3; ++a)
      if (((bits | bits >> 3) >> a & 1) != 0) loose.place[a] = 0;
  }
  return sides;
}

/// Collective. Divides places by the rounding errors of the largest coordinates along each axis, so
/// that the points of thin layers stay apart even if the sides are far from each other.
void scaleByRounding(Transport& transport, std::vector<std::vector<LoosePoint>>& places) {
  std::vector<double> largest(3, 0);
  for (const auto& ofPiece : places)
    for (const LoosePoint& loose : ofPiece)
      for (std::size_t a = 0; a < 3; ++a)
        if (std::isfinite(loose.place[a]))
          largest[a] = std::max(largest[a], std::abs(loose.place[a]));
  largest = allreduce(transport, ReduceOp::Max, largest);
  for (auto& ofPiece : places)
    for (LoosePoint& loose : ofPiece)
      for (std::size_t a = 0; a < 3; ++a)
        // Of 53 bits the last three may differ. Powers of two do not round.
        if (largest[a] > 0)
          loose.place[a] = std::ldexp(loose.place[a], 50 - std::ilogb(largest[a]));
}

/// Collective. Finds which points on opposite periodic sides are the same, if they have no indices.
/// Along a side their coordinates differ by rounding errors only.
/// @return false after an abort
bool joinSides(Transport& transport, ComponentDomain& domain, const UnionOptions& options) {
  if (!domain.rules.isPeriodic() || domain.rules.hasIndices()) return true;
  std::vector<SidePoints> sides;
  std::vector<std::vector<LoosePoint>> places;
  collectively(transport, [&] {
    for (const auto& piece : domain.pieces)
      sides.push_back(sidePointsOf(*piece, places.emplace_back()));
  });
  scaleByRounding(transport, places);
  const UnionResult same = clusterPoints(transport, domain.assignment, places, options);
  if (same.aborted) return false;
  collectively(transport, [&] {
    for (std::size_t n = 0; n < sides.size(); ++n) {
      for (const SetName& name : same.root[n])
        sides[n].keys.push_back(keyOfStructured(2, name.block, name.set, 0, 0));
      domain.pieces[n]->setSides(std::move(sides[n]));
    }
  });
  return true;
}

/// Whether a box is that of no points: see TreePiece::outline().
bool isNowhere(const Box& box) {
  for (std::size_t a = 0; a < 3; ++a)
    if (box.lo[a] != RegionFacts::Infinity || box.hi[a] != -RegionFacts::Infinity) return false;
  return true;
}

/// Throws Error of kind Message if a piece cannot lie where it does.
void checkOutlines(const DomainRules& rules, Span<const NeighborPiece> all) {
  constexpr std::int64_t Most = std::int64_t(1) << 53;  // integers of this size are doubles
  const bool areIndices = rules.hasIndices() || rules.points == DomainRules::Points::Trees;
  for (const NeighborPiece& piece : all) {
    const bool isAnywhere = !areIndices || isNowhere(piece.box);
    for (std::size_t a = 0; a < 3; ++a) {
      const bool isPlace =
          isAnywhere || (std::fabs(piece.box.lo[a]) <= Most && std::fabs(piece.box.hi[a]) <= Most);
      if (!isPlace || piece.stride[a] < 1 || piece.stride[a] > Most)
        refuseMessage("a data set at indices that do not exist");
    }
  }
}

/// Collective. Finds what the data sets share.
void share(Transport& transport, ComponentDomain& domain, double margin) {
  std::vector<NeighborPiece> mine;
  collectively(transport, [&] {
    for (const auto& piece : domain.pieces) mine.push_back(neighborOf(*piece, margin));
  });
  const std::vector<NeighborPiece> all = allgatherv(transport, mine);
  const auto first = index(domain.assignment.first(transport.rank()));
  std::vector<std::vector<EntityKey>> pointKeys, connectionKeys;
  collectively(transport, [&] {
    checkOutlines(domain.rules, all);
    if (domain.rules.hasGap()) domain.gapPoints = GapPoints(domain.rules, domain.pieces, all);
    for (std::size_t n = 0; n < domain.pieces.size(); ++n) {
      std::vector<NeighborPiece> others;
      for (std::size_t b = 0; b < all.size(); ++b)
        if (b != first + n)
          visitImages(domain.rules, all[b], [&](const NeighborPiece& image) {
            if (intersects(image.box, mine[n].box)) others.push_back(image);
          });
      domain.shared.push_back(domain.pieces[n]->share(others, !domain.throughPoints));
      pointKeys.push_back(domain.shared[n]->takePointKeys());
      if (!domain.throughPoints) connectionKeys.push_back(domain.shared[n]->takeConnectionKeys());
    }
  });
  domain.points = matchEntities(transport, domain.assignment, pointKeys);
  if (!domain.throughPoints)
    domain.connections = matchEntities(transport, domain.assignment, connectionKeys);
}

}  // namespace

std::size_t ComponentDomain::memory() const {
  std::size_t bytes = 0;
  for (const auto& piece : pieces) bytes += piece->memory();
  for (const auto& piece : shared) bytes += piece->memory();
  for (const auto* matches : {&points, &connections})
    for (const auto& ofPiece : *matches) bytes += memoryOf(ofPiece);
  return bytes + gapPoints.memory();
}

std::unique_ptr<ComponentDomain> makeComponentDomain(Transport& transport,
                                                     const std::vector<Leaf>& leaves,
                                                     const std::vector<vtkDataArray*>& labels,
                                                     bool withLabels, Through through,
                                                     double tolerance, const PeriodicAxes& periodic,
                                                     const UnionOptions& options) {
  auto domain = std::make_unique<ComponentDomain>(
      Assignment::gather(transport, static_cast<std::int64_t>(leaves.size())));
  DomainRules& rules = domain->rules;
  rules = agreeOnRules(transport, leaves, periodic);
  const bool areTrees = rules.points == DomainRules::Points::Trees;
  // Leaves of trees meet exactly.
  if (tolerance > 0 && rules.isPeriodic())
    throw Error("Tolerance is " + numberText(tolerance) +
                ", but Periodic joins equal points of opposite sides only; set it to 0, or switch "
                "Periodic off");
  if (tolerance > 0 && !areTrees) rules.points = DomainRules::Points::Clusters;
  rules.through = through;
  rules.withLabels = withLabels;
  domain->throughPoints = through == Through::Points && !withLabels && !areTrees &&
                          rules.points != DomainRules::Points::Hierarchy && !rules.hasGap();
  auto made = makePieces(transport, domain->assignment, leaves, labels, rules, tolerance, options);
  if (!made) return nullptr;
  domain->pieces = std::move(made->pieces);
  if (!joinSides(transport, *domain, options)) return nullptr;
  share(transport, *domain, made->margin);
  return domain;
}

}  // namespace tributary
