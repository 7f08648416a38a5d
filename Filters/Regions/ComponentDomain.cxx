// SPDX-License-Identifier: BSD-3-Clause
#include "Regions/ComponentDomain.h"

#include <utility>

#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"

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
    for (std::size_t n = 0; n < domain.pieces.size(); ++n) {
      std::vector<NeighborPiece> others;
      for (std::size_t b = 0; b < all.size(); ++b)
        if (b != first + n && intersects(all[b].box, mine[n].box)) others.push_back(all[b]);
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
  return bytes;
}

std::unique_ptr<ComponentDomain> makeComponentDomain(
    Transport& transport, const std::vector<Leaf>& leaves, const std::vector<vtkDataArray*>& labels,
    bool withLabels, Through through, double tolerance, const UnionOptions& options) {
  auto domain = std::make_unique<ComponentDomain>(
      Assignment::gather(transport, static_cast<std::int64_t>(leaves.size())));
  DomainRules& rules = domain->rules;
  rules = agreeOnRules(transport, leaves);
  const bool areTrees = rules.points == DomainRules::Points::Trees;
  // Leaves of trees meet exactly.
  if (tolerance > 0 && !areTrees) rules.points = DomainRules::Points::Clusters;
  rules.through = through;
  rules.withLabels = withLabels;
  domain->throughPoints = through == Through::Points && !withLabels && !areTrees &&
                          rules.points != DomainRules::Points::Hierarchy;
  auto made = makePieces(transport, domain->assignment, leaves, labels, rules, tolerance, options);
  if (!made) return nullptr;
  domain->pieces = std::move(made->pieces);
  share(transport, *domain, made->margin);
  return domain;
}

}  // namespace tributary
