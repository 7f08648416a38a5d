// SPDX-License-Identifier: BSD-3-Clause
#include "Regions/ComponentDomain.h"

#include <vtkCellData.h>
#include <vtkDataArray.h>
#include <vtkPointData.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

#include "Common/CellLists.h"
#include "Common/Refinement.h"

#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"

namespace tributary {
namespace {

/// A value per cell that is equal where labels are.
std::vector<std::int64_t> valuesOf(vtkDataArray* labels, bool asDoubles, const Leaf& leaf) {
  if (!labels) return {};
  if (!hasValuePerCell(labels, leaf) || labels->GetNumberOfComponents() != 1)
    throw Error(std::string("the labels \"") + (labels->GetName() ? labels->GetName() : "") +
                "\" are not one value per cell; choose another array with SelectLabels");
  if (!asDoubles) return exactIds(labels);
  std::vector<std::int64_t> values(index(labels->GetNumberOfTuples()));
  for (std::size_t c = 0; c < values.size(); ++c) {
    const double value = labels->GetTuple1(static_cast<vtkIdType>(c)) + 0.0;  // -0 is 0
    std::memcpy(&values[c], &value, sizeof value);
  }
  return values;
}

/// @param margin  by which points may be apart and the same
NeighborPiece neighborOf(const ComponentPiece& piece, double margin) {
  Box box = piece.box();
  for (std::size_t a = 0; a < 3 && !box.empty(); ++a) {
    box.lo[a] -= margin;
    box.hi[a] += margin;
  }
  return {box, piece.leaf().level, piece.stride()};
}

bool touch(const Box& a, const Box& b) {
  if (a.empty() || b.empty()) return false;
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (a.lo[axis] > b.hi[axis] || b.lo[axis] > a.hi[axis]) return false;
  return true;
}

/// Keys of the points of a piece that others may have.
std::vector<EntityKey> keysOf(const ComponentPiece& piece, const DomainRules& rules,
                              const std::vector<std::int64_t>& points,
                              const std::vector<SetName>& clusters) {
  std::vector<EntityKey> keys;
  keys.reserve(points.size());
  if (rules.points == DomainRules::Points::Structured ||
      rules.points == DomainRules::Points::Hierarchy ||
      rules.points == DomainRules::Points::Trees) {
    for (const std::int64_t p : points) {
      const std::array<std::int64_t, 3> at = piece.indexOf(p);
      keys.push_back(keyOfStructured(0, at[0], at[1], at[2], 0));
    }
  } else if (rules.points == DomainRules::Points::Clusters) {
    for (const std::int64_t p : points)
      keys.push_back(keyOfStructured(0, clusters[index(p)].block, clusters[index(p)].set, 0, 0));
  } else if (rules.points == DomainRules::Points::Ids && !points.empty()) {
    const auto ids = exactIds(piece.dataSet()->GetPointData()->GetGlobalIds());
    for (const std::int64_t p : points) keys.push_back(keyOfPoint(ids[index(p)]));
  } else {
    for (const std::int64_t p : points) keys.push_back(keyOfPoint(piece.place(p).data()));
  }
  return keys;
}

/// Throws Error if the ids are not as many as cells or points.
void checkIds(vtkDataArray* ids, bool areAll, vtkIdType count, const char* of) {
  if (ids && !areAll)
    throw Error("a data set has " + std::to_string(ids->GetNumberOfTuples()) + " global ids for " +
                std::to_string(count) + of);
}

std::unique_ptr<ComponentPiece> makePiece(const Leaf& leaf, const DomainRules& rules,
                                          Span<const std::uint8_t> covered,
                                          std::vector<std::int64_t> labels) {
  vtkDataArray* cellIds = leaf.cellData()->GetGlobalIds();
  checkIds(cellIds, cellIds && hasValuePerCell(cellIds, leaf), leaf.cells(), " cells");
  if (rules.points == DomainRules::Points::Trees)
    return makeTreePiece(leaf, rules, std::move(labels));
  vtkDataSet* dataSet = leaf.dataSet;
  vtkDataArray* pointIds = dataSet->GetPointData()->GetGlobalIds();
  checkIds(pointIds, pointIds && pointIds->GetNumberOfTuples() == leaf.points(), leaf.points(),
           " points");
  std::vector<std::uint8_t> copy;
  const Span<const std::uint8_t> flags = cellFlagsOf(dataSet, covered, copy);
  if (!flags.empty() && flags.size() != index(dataSet->GetNumberOfCells()))
    throw Error("a data set has " + std::to_string(flags.size()) + " ghost flags for " +
                std::to_string(dataSet->GetNumberOfCells()) + " cells");
  std::vector<std::uint8_t> own(flags.begin(), flags.end());
  int extent[6];
  const bool lattice = extentOf(dataSet, extent) &&
                       (rules.points == DomainRules::Points::Structured ||
                        rules.points == DomainRules::Points::Hierarchy ||
                        (rules.points == DomainRules::Points::Places && isAlongAxes(dataSet)));
  return lattice ? makeLatticePiece(leaf, rules, std::move(own), std::move(labels))
                 : makeUnstructuredPiece(leaf, rules, std::move(own), std::move(labels));
}

/// Collective. Joins points that are not further apart than the tolerance allows.
/// @param clusters  Out: for each piece the cluster of each point
/// @return how far apart they may be; nothing after an abort
std::optional<double> joinPoints(Transport& transport, ComponentDomain& domain, double tolerance,
                                 const UnionOptions& options,
                                 std::vector<std::vector<SetName>>& clusters) {
  double margin = 0;
  std::vector<std::vector<LoosePoint>> loose;
  collectively(transport, [&] {
    for (const auto& piece : domain.pieces) {
      loose.push_back(piece->loosePoints(tolerance));
      for (const LoosePoint& point : loose.back()) margin = std::max(margin, point.reach);
    }
  });
  margin = allreduce(transport, ReduceOp::Max, margin);
  UnionResult united = clusterPoints(transport, domain.assignment, loose, options);
  if (united.aborted) return std::nullopt;
  clusters = std::move(united.root);
  collectively(transport, [&] {
    for (std::size_t n = 0; n < clusters.size(); ++n) domain.pieces[n]->identify(clusters[n]);
  });
  return margin;
}

/// Collective. Finds out what the data sets share.
void share(Transport& transport, ComponentDomain& domain, double margin,
           const std::vector<std::vector<SetName>>& clusters) {
  std::vector<NeighborPiece> mine;
  for (const auto& piece : domain.pieces) mine.push_back(neighborOf(*piece, margin));
  const std::vector<NeighborPiece> all = allgatherv(transport, mine);
  const auto first = index(domain.assignment.first(transport.rank()));
  std::vector<std::vector<EntityKey>> pointKeys, connectionKeys;
  collectively(transport, [&] {
    for (std::size_t n = 0; n < domain.pieces.size(); ++n) {
      std::vector<NeighborPiece> others;
      for (std::size_t b = 0; b < all.size(); ++b)
        if (b != first + n && touch(all[b].box, mine[n].box)) others.push_back(all[b]);
      ComponentPiece& piece = *domain.pieces[n];
      auto points = piece.pointsIn(others);
      auto keys = keysOf(piece, domain.rules, points, clusters[n]);
      pointKeys.push_back(keys);
      piece.share(std::move(points), std::move(keys));
      if (!domain.throughPoints) connectionKeys.push_back(piece.connectionKeys(others));
    }
  });
  domain.points = matchEntities(transport, domain.assignment, pointKeys);
  if (!domain.throughPoints)
    domain.connections = matchEntities(transport, domain.assignment, connectionKeys);
}

}  // namespace

std::unique_ptr<ComponentDomain> makeComponentDomain(
    Transport& transport, const std::vector<Leaf>& leaves, const std::vector<vtkDataArray*>& labels,
    bool withLabels, Through through, double tolerance, const UnionOptions& options) {
  auto domain = std::make_unique<ComponentDomain>(
      Assignment::gather(transport, static_cast<std::int64_t>(leaves.size())));
  DomainRules& rules = domain->rules;
  rules = agreeOnRules(transport, leaves);
  const bool areTrees = rules.points == DomainRules::Points::Trees;
  const bool areClusters = tolerance > 0 && !areTrees;  // leaves of trees meet exactly
  if (areClusters) rules.points = DomainRules::Points::Clusters;
  rules.through = through;
  rules.withLabels = withLabels;
  domain->throughPoints = through == Through::Points && !withLabels && !areTrees &&
                          rules.points != DomainRules::Points::Hierarchy;
  const auto covered = findRefinedCells(transport, leaves);
  // Labels of different types are compared as doubles.
  const bool hasReals = std::any_of(labels.begin(), labels.end(), [](vtkDataArray* array) {
    return array && (array->GetDataType() == VTK_FLOAT || array->GetDataType() == VTK_DOUBLE);
  });
  const bool asDoubles = allreduce(transport, ReduceOp::Or, std::int64_t(hasReals)) != 0;
  collectively(transport, [&] {
    for (std::size_t n = 0; n < leaves.size(); ++n)
      domain->pieces.push_back(
          makePiece(leaves[n], rules, covered[n], valuesOf(labels[n], asDoubles, leaves[n])));
  });

  std::vector<std::vector<SetName>> clusters(domain->pieces.size());
  std::optional<double> margin = 0.0;
  if (areClusters) margin = joinPoints(transport, *domain, tolerance, options, clusters);
  if (!margin) {
    domain->aborted = true;
    return domain;
  }
  if (areTrees) {
    std::vector<const TreeLeaves*> trees;
    for (const auto& piece : domain->pieces) trees.push_back(piece->treeLeaves());
    auto contacts = matchLeaves(transport, domain->assignment, trees, through);
    for (std::size_t n = 0; n < contacts.size(); ++n)
      domain->pieces[n]->meet(std::move(contacts[n]));
  }
  share(transport, *domain, *margin, clusters);
  return domain;
}

}  // namespace tributary
