#include "ComponentDomain.h"

#include <vtkCellData.h>
#include <vtkDataArray.h>
#include <vtkImageData.h>
#include <vtkPointData.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <utility>

#include "CellLists.h"
#include "GridParts.h"
#include "HyperTrees.h"
#include "Refinement.h"

#include "Tributary/Agree.h"
#include "Tributary/Error.h"
#include "Tributary/Transport/Collectives.h"

namespace tributary {
namespace {

std::size_t index(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

/// What decides how the data sets of all ranks are put together. Trivially copyable.
struct Traits {
  bool hasCells;
  bool isUniform;
  bool isComposite;
  bool hasPointIds;
  bool hasCellIds;
  bool isTrees;
  int grid;  // -1 if it is not structured
  int level;
  std::uint64_t hierarchy;
  std::uint64_t roots;  // of trees
  TreeLattice trees;
  std::array<int, 6> extent;
  std::array<double, 6> lattice;  // origin, spacing
};

Traits traitsOf(const Leaf& leaf) {
  Traits traits{};
  vtkDataSet* dataSet = leaf.dataSet;
  traits.hasCells = leaf.cells() > 0;
  traits.isComposite = !leaf.group.empty();
  traits.hasCellIds = leaf.cellData()->GetGlobalIds() != nullptr;
  if (leaf.trees) {
    traits.isTrees = true;
    traits.roots = hashOfRoots(leaf.trees);
    traits.trees = latticeOf(leaf.trees);
    traits.level = -1;
    return traits;
  }
  traits.hasPointIds = dataSet->GetPointData()->GetGlobalIds() != nullptr;
  traits.level = leaf.level;
  traits.hierarchy = std::hash<std::string>()(leaf.hierarchy);
  extentOf(dataSet, traits.extent.data());
  if (auto* image = vtkImageData::SafeDownCast(dataSet)) {
    traits.isUniform = true;
    std::copy_n(image->GetOrigin(), 3, traits.lattice.begin());
    std::copy_n(image->GetSpacing(), 3, traits.lattice.begin() + 3);
  }
  return traits;
}

/// Whether all data sets lie in the lattices of one AMR hierarchy, each level's a whole number of
/// times finer than the last; the finest is noted in the rules.
bool isOneHierarchy(const std::vector<Traits>& all, DomainRules& rules) {
  const auto spacing = [](const Traits& one, std::size_t a) { return one.lattice[3 + a]; };
  const auto begin = [&](const Traits& one, std::size_t a) {
    return one.lattice[a] + one.extent[2 * a] * spacing(one, a);
  };
  const auto isWhole = [](double x) { return std::abs(x - std::round(x)) < 1e-3; };
  rules.origin.fill(std::numeric_limits<double>::infinity());
  rules.finest = rules.origin;
  for (const Traits& one : all) {
    if (one.level < 0 || !one.isUniform || one.hierarchy != all.front().hierarchy) return false;
    for (std::size_t a = 0; a < 3; ++a) {
      rules.origin[a] = std::min(rules.origin[a], begin(one, a));
      rules.finest[a] = std::min(rules.finest[a], spacing(one, a));
    }
  }
  for (const Traits& one : all) {
    for (std::size_t a = 0; a < 3; ++a) {
      if (one.extent[2 * a] == one.extent[2 * a + 1]) continue;
      if (!(rules.finest[a] > 0) || !isWhole(spacing(one, a) / rules.finest[a]) ||
          !isWhole((begin(one, a) - rules.origin[a]) / rules.finest[a]))
        return false;
    }
  }
  return !all.empty();
}

/// Whether all data sets are hyper tree grids; their lattice is noted in the rules. Throws Error if
/// only some are, or if they do not fit together.
bool areTrees(const std::vector<Traits>& all, DomainRules& rules) {
  const Traits* first = nullptr;
  bool hasOthers = false;
  for (const Traits& one : all) {
    if (!one.hasCells) continue;
    hasOthers = hasOthers || !one.isTrees;
    if (!one.isTrees) continue;
    if (!first) first = &one;
    if (one.roots != first->roots)
      throw Error(
          "the hyper tree grids have not all the same root cells and branch factor, so "
          "that it is not known which of their cells touch; run the filter on each");
    const std::int32_t depth = std::max(rules.trees.depth, one.trees.depth);
    rules.trees = one.trees;
    rules.trees.depth = depth;
  }
  if (first && hasOthers)
    throw Error(
        "the input has hyper tree grids and other data sets, whose cells cannot be "
        "connected; run the filter on each, or convert the former with Hyper Tree Grid To "
        "Unstructured Grid");
  rules.trees.check();
  return first != nullptr;
}

/// Collective. The same on all ranks.
DomainRules agreeOnRules(Transport& transport, const std::vector<Leaf>& leaves) {
  const std::vector<int> grids = numberGrids(transport, leaves);
  std::vector<Traits> mine;
  together(transport, [&] {
    for (const Leaf& leaf : leaves) {
      mine.push_back(traitsOf(leaf));
      mine.back().grid = grids[mine.size() - 1];
    }
  });
  const std::vector<Traits> all = allgatherv(transport, mine);
  DomainRules rules;
  bool oneGrid = true, pointIds = true, cellIds = true;
  const Traits* first = nullptr;
  for (std::size_t a = 0; a < 3; ++a) {
    rules.whole[2 * a] = std::numeric_limits<int>::max();
    rules.whole[2 * a + 1] = std::numeric_limits<int>::min();
  }
  for (const Traits& one : all) {
    if (!one.hasCells) continue;
    if (!first) first = &one;
    // Pieces of a composite data set may each count from the beginning, unless they say where they
    // lie.
    oneGrid =
        oneGrid && one.grid >= 0 && one.grid == first->grid && (one.isUniform || !one.isComposite);
    pointIds = pointIds && one.hasPointIds && !one.isComposite;
    cellIds = cellIds && one.hasCellIds && !one.isComposite;
    for (std::size_t a = 0; a < 3; ++a) {
      rules.whole[2 * a] = std::min(rules.whole[2 * a], one.extent[2 * a]);
      rules.whole[2 * a + 1] = std::max(rules.whole[2 * a + 1], one.extent[2 * a + 1]);
    }
  }
  if (!first) oneGrid = pointIds = cellIds = false;
  rules.hasPointIds = pointIds;
  rules.hasCellIds = cellIds;
  rules.isOneExtent = oneGrid;
  rules.points = areTrees(all, rules)         ? DomainRules::Points::Trees
                 : isOneHierarchy(all, rules) ? DomainRules::Points::Hierarchy
                 : oneGrid                    ? DomainRules::Points::Structured
                 : pointIds                   ? DomainRules::Points::Ids
                                              : DomainRules::Points::Places;
  rules.cells = cellIds                                           ? DomainRules::Cells::Ids
                : rules.points == DomainRules::Points::Structured ? DomainRules::Cells::Structured
                                                                  : DomainRules::Cells::Places;
  return rules;
}

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
Neighbour neighbourOf(const ComponentPiece& piece, double margin) {
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

}  // namespace

std::unique_ptr<ComponentDomain> makeComponentDomain(
    Transport& transport, const std::vector<Leaf>& leaves, const std::vector<vtkDataArray*>& labels,
    bool withLabels, Through through, double tolerance, const UnionOptions& options) {
  auto domain = std::make_unique<ComponentDomain>();
  DomainRules& rules = domain->rules;
  rules = agreeOnRules(transport, leaves);
  const bool areTrees = rules.points == DomainRules::Points::Trees;
  const bool areClusters = tolerance > 0 && !areTrees;  // leaves of trees meet exactly
  if (areClusters) rules.points = DomainRules::Points::Clusters;
  rules.through = through;
  rules.withLabels = withLabels;
  domain->assignment = Assignment::gather(transport, static_cast<std::int64_t>(leaves.size()));
  const auto covered = findRefinedCells(transport, leaves);
  // Labels of different types are compared as doubles.
  const bool hasReals = std::any_of(labels.begin(), labels.end(), [](vtkDataArray* array) {
    return array && (array->GetDataType() == VTK_FLOAT || array->GetDataType() == VTK_DOUBLE);
  });
  const bool asDoubles = allreduce(transport, ReduceOp::Or, std::int64_t(hasReals)) != 0;
  together(transport, [&] {
    for (std::size_t n = 0; n < leaves.size(); ++n) {
      auto values = valuesOf(labels[n], asDoubles, leaves[n]);
      const auto checkIds = [](vtkDataArray* ids, bool areAll, vtkIdType count, const char* of) {
        if (ids && !areAll)
          throw Error("a data set has " + std::to_string(ids->GetNumberOfTuples()) +
                      " global ids for " + std::to_string(count) + of);
      };
      vtkDataArray* cellIds = leaves[n].cellData()->GetGlobalIds();
      checkIds(cellIds, cellIds && hasValuePerCell(cellIds, leaves[n]), leaves[n].cells(),
               " cells");
      if (areTrees) {
        domain->pieces.push_back(makeTreePiece(leaves[n], rules, std::move(values)));
        continue;
      }
      vtkDataSet* dataSet = leaves[n].dataSet;
      vtkDataArray* pointIds = dataSet->GetPointData()->GetGlobalIds();
      checkIds(pointIds, pointIds && pointIds->GetNumberOfTuples() == leaves[n].points(),
               leaves[n].points(), " points");
      std::vector<std::uint8_t> copy;
      const Span<const std::uint8_t> flags = cellFlagsOf(dataSet, covered[n], copy);
      if (!flags.empty() && flags.size() != index(dataSet->GetNumberOfCells()))
        throw Error("a data set has " + std::to_string(flags.size()) + " ghost flags for " +
                    std::to_string(dataSet->GetNumberOfCells()) + " cells");
      std::vector<std::uint8_t> own(flags.begin(), flags.end());
      int extent[6];
      const bool lattice = extentOf(dataSet, extent) &&
                           (rules.points == DomainRules::Points::Structured ||
                            rules.points == DomainRules::Points::Hierarchy ||
                            (rules.points == DomainRules::Points::Places && isLattice(dataSet)));
      domain->pieces.push_back(
          lattice ? makeLatticePiece(leaves[n], rules, std::move(own), std::move(values))
                  : makeMeshPiece(leaves[n], rules, std::move(own), std::move(values)));
    }
  });

  std::vector<std::vector<SetName>> clusters(domain->pieces.size());
  double margin = 0;
  if (areClusters) {
    std::vector<std::vector<LoosePoint>> loose;
    together(transport, [&] {
      for (const auto& piece : domain->pieces) {
        loose.push_back(piece->loosePoints(tolerance));
        for (const LoosePoint& point : loose.back()) margin = std::max(margin, point.reach);
      }
    });
    margin = allreduce(transport, ReduceOp::Max, margin);
    UnionResult united = clusterPoints(transport, domain->assignment, loose, options);
    domain->aborted = united.aborted;
    if (united.aborted) return domain;
    clusters = std::move(united.root);
    together(transport, [&] {
      for (std::size_t n = 0; n < clusters.size(); ++n) domain->pieces[n]->identify(clusters[n]);
    });
  }

  if (areTrees) {
    std::vector<const TreeLeaves*> trees;
    for (const auto& piece : domain->pieces) trees.push_back(piece->treeLeaves());
    auto contacts = matchLeaves(transport, domain->assignment, trees, through);
    for (std::size_t n = 0; n < contacts.size(); ++n)
      domain->pieces[n]->meet(std::move(contacts[n]));
  }

  std::vector<Neighbour> mine;
  for (const auto& piece : domain->pieces) mine.push_back(neighbourOf(*piece, margin));
  const std::vector<Neighbour> all = allgatherv(transport, mine);
  const auto first = index(domain->assignment.first(transport.rank()));
  domain->throughPoints = through == Through::Points && !withLabels && !areTrees &&
                          rules.points != DomainRules::Points::Hierarchy;
  std::vector<std::vector<EntityKey>> pointKeys, connectionKeys;
  together(transport, [&] {
    for (std::size_t n = 0; n < domain->pieces.size(); ++n) {
      std::vector<Neighbour> others;
      for (std::size_t b = 0; b < all.size(); ++b)
        if (b != first + n && touch(all[b].box, mine[n].box)) others.push_back(all[b]);
      ComponentPiece& piece = *domain->pieces[n];
      auto points = piece.pointsIn(others);
      auto keys = keysOf(piece, rules, points, clusters[n]);
      pointKeys.push_back(keys);
      piece.share(std::move(points), std::move(keys));
      if (!domain->throughPoints) connectionKeys.push_back(piece.connectionKeys(others));
    }
  });
  domain->points = matchEntities(transport, domain->assignment, pointKeys);
  if (!domain->throughPoints)
    domain->connections = matchEntities(transport, domain->assignment, connectionKeys);
  return domain;
}

namespace {

/// Collective. Scales that hold the sums over all ranks.
FactScales agreeOnScales(Transport& transport, const ComponentDomain& domain,
                         const std::vector<std::vector<MeasuredValues>>& arrays,
                         std::size_t values) {
  std::vector<double> most(2 + values, 0.0);
  together(transport, [&] {
    for (std::size_t n = 0; n < domain.pieces.size(); ++n) {
      const Extremes extremes = domain.pieces[n]->extremes(arrays[n]);
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

RangeRegions findRegions(Transport& transport, ComponentDomain& domain,
                         const std::vector<RangeTest>& tests,
                         const std::vector<std::vector<MeasuredValues>>& arrays, std::size_t values,
                         RegionOrder order, const UnionOptions& options) {
  RangeRegions regions;
  const std::size_t count = domain.pieces.size();
  std::vector<std::int64_t> sets(count);
  std::vector<std::vector<std::uint32_t>> setOfEntity(count);
  together(transport, [&] {
    for (std::size_t n = 0; n < count; ++n) {
      sets[n] = domain.pieces[n]->label(tests[n]);
      setOfEntity[n] = domain.throughPoints ? domain.pieces[n]->setsOfShared()
                                            : domain.pieces[n]->setsOfConnections();
    }
  });
  const std::vector<Span<const std::uint32_t>> views(setOfEntity.begin(), setOfEntity.end());
  const auto links = linkSets(transport, domain.assignment,
                              domain.throughPoints ? domain.points : domain.connections, views);
  UnionResult united = uniteSets(transport, domain.assignment, sets, links, options);
  regions.statistics = united.statistics;
  regions.aborted = united.aborted;
  if (united.aborted) return regions;

  regions.scales = agreeOnScales(transport, domain, arrays, values);
  std::vector<BlockFacts> facts(count);
  together(transport, [&] {
    for (std::size_t n = 0; n < count; ++n)
      facts[n] = domain.pieces[n]->facts(regions.scales, arrays[n]);
  });
  regions.numbered =
      numberRegions(transport, domain.assignment, united.root, std::move(facts), values, order);
  return regions;
}

void writeRegions(Transport& transport, const ComponentDomain& domain, RangeRegions& regions,
                  const std::vector<std::vector<char>>& isSelected,
                  const std::vector<vtkIdType*>& cells, const std::vector<vtkIdType*>& points) {
  const std::size_t count = domain.pieces.size();
  std::vector<std::vector<RegionAtPoint>> shared(count);
  std::vector<RegionCount> counts;
  together(transport, [&] {
    for (std::size_t n = 0; n < count; ++n) {
      const std::vector<RegionOfSet>& ofSet = regions.numbered.ofSet[n];
      std::vector<std::int64_t> numberOf, shownOf;
      for (std::size_t s = 0; s < ofSet.size(); ++s) {
        numberOf.push_back(ofSet[s].number);
        shownOf.push_back(isSelected[n][s] != 0 ? ofSet[s].number : -1);
      }
      RegionOutput output;
      output.numberOf = numberOf;
      output.shownOf = shownOf;
      output.cells = cells[n];
      output.points = points[n];
      domain.pieces[n]->write(output);
      for (std::size_t s = 0; s < ofSet.size(); ++s)
        if (output.pointsOfSet[s] > 0 && ofSet[s].number >= 0)
          counts.push_back({ofSet[s].number, output.pointsOfSet[s]});
      for (const SetAtPoint& at : domain.pieces[n]->setsAtShared())
        if (ofSet[at.set].number >= 0)
          shared[n].push_back({at.shared, ofSet[at.set].number, isSelected[n][at.set]});
    }
  });
  const SettledPoints settled = settlePoints(transport, domain.assignment, domain.points, shared);
  counts.insert(counts.end(), settled.counts.begin(), settled.counts.end());
  for (std::size_t n = 0; n < count; ++n) {
    if (!points[n]) continue;
    for (const PointLabel& label : settled.labels[n])
      domain.pieces[n]->showAt(label.point, label.region, points[n]);
  }
  addPoints(transport, regions.numbered.table, std::move(counts));
}

}  // namespace tributary
