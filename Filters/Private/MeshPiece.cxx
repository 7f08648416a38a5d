#include "ComponentPiece.h"

#include <vtkCellData.h>
#include <vtkCellType.h>
#include <vtkDataArray.h>
#include <vtkDataSetAttributes.h>
#include <vtkPointData.h>
#include <vtkUnstructuredGrid.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "CellLists.h"
#include "CellSize.h"
#include "PointVisits.h"
#include "SmpFor.h"

#include "Tributary/Components/CoincidentPoints.h"
#include "Tributary/Components/MeshEntities.h"
#include "Tributary/Components/MeshLabels.h"
#include "Tributary/Error.h"

namespace tributary {
namespace {

class MeshPiece : public ComponentPiece {
 public:
  MeshPiece(const Leaf& leaf, const DomainRules& rules, std::vector<std::uint8_t> flags,
            std::vector<std::int64_t> labels);

  std::array<double, 3> place(std::int64_t point) const override { return coordinates_[point]; }
  Extremes extremes(const std::vector<MeasuredValues>& arrays) const override;
  Box box() const override;
  std::vector<std::int64_t> pointsIn(Span<const Neighbour> others) const override;
  std::vector<LoosePoint> loosePoints(double tolerance) const override;
  void identify(const std::vector<SetName>& names) override;
  std::vector<EntityKey> connectionKeys(Span<const Neighbour> others) override;
  std::uint32_t label(const RangeTest& test) override;
  std::uint32_t setOfCell(std::int64_t cell) const override {
    return labels_.setOfCell[index(cell)];
  }
  std::vector<std::uint32_t> setsOfConnections() const override;
  std::vector<SetAtPoint> setsAtShared() const override;
  BlockFacts facts(const FactScales& scales,
                   const std::vector<MeasuredValues>& arrays) const override;
  void write(RegionOutput& output) const override;
  void showAt(std::int64_t shared, vtkIdType region, vtkIdType* points) const override;
  std::vector<std::uint32_t> setsAt(const std::vector<std::int64_t>& points) const override;
  Nearest nearest(const std::array<double, 3>& place) const override;

 private:
  bool throughPoints() const { return rules_.through == Through::Points; }
  /// The points of a cell, coincident ones by the first of them.
  Span<const std::int64_t> pointsOf(std::int64_t cell) const { return between(cellPoints_, cell); }
  Span<const std::int64_t> entitiesOf(std::int64_t cell) const {
    return throughPoints() ? pointsOf(cell) : between(numbered_.cells(), cell);
  }
  static Span<const std::int64_t> between(const CellEntities& rows, std::int64_t row) {
    const std::int64_t first = rows.offsets[index(row)];
    return rows.entities.subspan(index(first), index(rows.offsets[index(row + 1)] - first));
  }
  std::int64_t firstOf(std::int64_t point) const {
    return first_.empty() ? point : first_[index(point)];
  }
  Span<const std::int64_t> ownPointsOf(std::int64_t cell) const {
    return between({lists_.offsets, lists_.connectivity, 0}, cell);
  }
  void checkCells() const;
  void measureCells();
  /// What tells where the same point may be: its coordinates, or its id as if it were one.
  std::array<double, 3> whereToLook(std::int64_t point) const;
  bool isGhost(std::int64_t cell) const {
    return !flags_.empty() && (flags_[index(cell)] & vtkDataSetAttributes::DUPLICATECELL) != 0;
  }
  /// @param names  of clusters, or null
  void mergePoints(const std::vector<SetName>* names);
  /// @param least  of its points
  RegionKey keyOf(std::int64_t cell, const std::array<double, 3>& least) const;

  CellLists lists_;
  std::int64_t count_;  // cells
  vtkSmartPointer<vtkDataArray> coordinatesArray_;
  Coordinates coordinates_;
  std::vector<CellSize> sizes_;      // of cells
  std::vector<std::int64_t> first_;  // of the points that are the same as a point, or none
  std::vector<std::pair<std::int64_t, std::int64_t>> copies_;  // (first, other), sorted
  std::vector<std::int64_t> mergedPoints_;                     // the connectivity with those
  CellEntities cellPoints_;
  MeshEntities numbered_;
  std::vector<std::uint8_t> flags_;
  std::vector<std::int64_t> values_;
  std::vector<std::int64_t> cellIds_, pointIds_;

  using Connection = std::pair<std::int64_t, std::int64_t>;  // an entity, and a value of its cells
  std::vector<Connection> connections_;                      // sorted
  std::vector<std::int64_t> borderCells_;                    // that have shared points
  MeshLabels labels_;
};

MeshPiece::MeshPiece(const Leaf& leaf, const DomainRules& rules, std::vector<std::uint8_t> flags,
                     std::vector<std::int64_t> labels)
    : ComponentPiece(leaf, rules),
      lists_(cellListsOf(leaf.dataSet)),
      count_(static_cast<std::int64_t>(lists_.types.size())),
      coordinatesArray_(coordinatesOf(leaf.dataSet)),
      coordinates_(coordinatesArray_),
      flags_(std::move(flags)),
      values_(std::move(labels)) {
  checkCells();
  measureCells();
  if (rules_.points == DomainRules::Points::Ids && count_ > 0)
    pointIds_ = exactIds(leaf.dataSet->GetPointData()->GetGlobalIds());
  if (rules_.points != DomainRules::Points::Clusters) mergePoints(nullptr);
  if (rules_.cells == DomainRules::Cells::Ids && count_ > 0)
    cellIds_ = exactIds(leaf.dataSet->GetCellData()->GetGlobalIds());
}

void MeshPiece::checkCells() const {
  const std::int64_t pointCount = points();
  const auto check = [&](std::int64_t cell, std::int64_t point) {
    if (point < 0 || point >= pointCount)
      throw Error("cell " + std::to_string(cell) + " has point " + std::to_string(point) +
                  " of a data set with " + std::to_string(pointCount) + " points");
  };
  smpFor(count_, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t c = begin; c < end; ++c) {
      const auto ids = ownPointsOf(c);
      for (const std::int64_t p : ids) check(c, p);
      const int type = lists_.types[index(c)];
      if (static_cast<std::int64_t>(ids.size()) < leastPointsOf(type))
        throw Error("cell " + std::to_string(c) + " of type " + std::to_string(type) + " has " +
                    std::to_string(ids.size()) + " points");
      if (type != VTK_POLYHEDRON) continue;
      const auto size = static_cast<std::int64_t>(lists_.faces.size());
      std::int64_t at =
          index(c) < lists_.faceLocations.size() ? lists_.faceLocations[index(c)] : -1;
      const auto next = [&] {
        if (at < 0 || at >= size)
          throw Error("polyhedron " + std::to_string(c) + " has not the faces that it should");
        return lists_.faces[index(at++)];
      };
      for (std::int64_t faces = next(); faces > 0; --faces)
        for (std::int64_t corners = next(); corners > 0; --corners) check(c, next());
    }
  });
}

void MeshPiece::measureCells() {
  sizes_.resize(index(count_));
  const auto measure = [&](std::int64_t c) {
    const auto ids = ownPointsOf(c);
    sizes_[index(c)] = sizeOfCell(lists_.types[index(c)], static_cast<std::int64_t>(ids.size()),
                                  ids.data(), coordinates_, leaf_.dataSet, c);
  };
  smpFor(count_, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t c = begin; c < end; ++c)
      if (isMeasuredByPoints(lists_.types[index(c)])) measure(c);
  });
  for (std::int64_t c = 0; c < count_; ++c)  // VTK's cells are for one thread at a time
    if (!isMeasuredByPoints(lists_.types[index(c)])) measure(c);
}

std::vector<LoosePoint> MeshPiece::loosePoints(double tolerance) const {
  std::vector<LoosePoint> loose;
  for (std::int64_t p = 0; p < points(); ++p) loose.push_back({coordinates_[p], 0});
  for (std::int64_t c = 0; c < count_; ++c) {
    const auto ids = ownPointsOf(c);
    std::array<double, 3> lo, hi;
    lo.fill(RegionFacts::Infinity);
    hi.fill(-RegionFacts::Infinity);
    for (const std::int64_t p : ids) {
      for (std::size_t a = 0; a < 3; ++a) {
        lo[a] = std::min(lo[a], loose[index(p)].place[a]);
        hi[a] = std::max(hi[a], loose[index(p)].place[a]);
      }
    }
    double squares = 0;
    for (std::size_t a = 0; a < 3; ++a) squares += (hi[a] - lo[a]) * (hi[a] - lo[a]);
    const double reach = tolerance * std::sqrt(squares);
    for (const std::int64_t p : ids) loose[index(p)].reach = std::max(loose[index(p)].reach, reach);
  }
  return loose;
}

void MeshPiece::identify(const std::vector<SetName>& names) {
  mergePoints(&names);
}

void MeshPiece::mergePoints(const std::vector<SetName>* names) {
  if (count_ == 0) {
    first_ = {};
  } else if (names || rules_.points == DomainRules::Points::Ids) {
    // As points in space, to be merged like those: a block's number and the halves of an id are
    // exact as doubles.
    std::vector<double> places;
    places.reserve(3 * index(points()));
    const auto add = [&](std::int64_t block, std::int64_t id) {
      places.push_back(static_cast<double>(id & 0xffffffff));
      places.push_back(static_cast<double>(id >> 32));
      places.push_back(static_cast<double>(block));
    };
    if (names) {
      for (const SetName& name : *names) add(name.block, name.set);
    } else {
      for (const std::int64_t id : pointIds_) add(0, id);
    }
    first_ = mergeCoincident(Span<const double>(places), smpFor);
  } else if (coordinates_.doubles()) {
    first_ =
        mergeCoincident(Span<const double>(coordinates_.doubles(), index(3 * points())), smpFor);
  } else {
    first_ = mergeCoincident(Span<const float>(coordinates_.floats(), index(3 * points())), smpFor);
  }
  for (std::size_t p = 0; p < first_.size(); ++p)
    if (first_[p] != static_cast<std::int64_t>(p))
      copies_.emplace_back(first_[p], static_cast<std::int64_t>(p));
  std::sort(copies_.begin(), copies_.end());
  cellPoints_ = {lists_.offsets, lists_.connectivity, points()};
  if (copies_.empty()) {
    first_ = {};
  } else {
    mergedPoints_.reserve(lists_.connectivity.size());
    for (const std::int64_t p : lists_.connectivity) mergedPoints_.push_back(first_[index(p)]);
    cellPoints_.entities = mergedPoints_;
  }
  if (!throughPoints()) {
    MeshCells mesh;
    mesh.types = lists_.types;
    mesh.offsets = lists_.offsets;
    mesh.connectivity = lists_.connectivity;
    mesh.faceLocations = lists_.faceLocations;
    mesh.faces = lists_.faces;
    mesh.pointCount = points();
    mesh.canonical = first_;
    numbered_ = numberEntities(mesh, rules_.through, {}, smpFor);
  }
}

Extremes MeshPiece::extremes(const std::vector<MeasuredValues>& arrays) const {
  Extremes extremes;
  extremes.values.resize(arrays.size(), 0);
  const auto consider = [](double value, double& largest) {
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  };
  for (std::int64_t c = 0; c < count_; ++c) {
    if (setOfCell(c) == NoSet || isGhost(c)) continue;
    consider(sizes_[index(c)].measure, extremes.measure);
    for (const double x : sizes_[index(c)].centroid) consider(x, extremes.coordinate);
    for (std::size_t v = 0; v < arrays.size(); ++v)
      considerValues(arrays[v], c, ownPointsOf(c), extremes.values[v]);
  }
  return extremes;
}

std::array<double, 3> MeshPiece::whereToLook(std::int64_t point) const {
  if (rules_.points != DomainRules::Points::Ids) return coordinates_[point];
  return {static_cast<double>(pointIds_[index(point)]), 0, 0};
}

Box MeshPiece::box() const {
  Box box;
  if (count_ == 0) return box;  // empty
  box.lo.fill(RegionFacts::Infinity);
  box.hi.fill(-RegionFacts::Infinity);
  for (std::int64_t p = 0; p < points(); ++p) {
    const std::array<double, 3> here = whereToLook(p);
    for (std::size_t a = 0; a < 3; ++a) {
      box.lo[a] = std::min(box.lo[a], here[a]);
      box.hi[a] = std::max(box.hi[a], here[a]);
    }
  }
  return box;
}

std::vector<std::int64_t> MeshPiece::pointsIn(Span<const Neighbour> others) const {
  std::vector<std::int64_t> found;
  if (others.empty() || count_ == 0) return found;
  for (std::int64_t p = 0; p < points(); ++p) {
    const std::array<double, 3> here = whereToLook(p);
    if (std::any_of(others.begin(), others.end(),
                    [&](const Neighbour& other) { return other.box.contains(here.data()); }))
      found.push_back(firstOf(p));
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::vector<EntityKey> MeshPiece::connectionKeys(Span<const Neighbour>) {
  connections_.clear();
  std::vector<EntityKey> keys;
  if (shared_.empty()) return keys;
  std::vector<EntityKey> corners;
  std::vector<std::int64_t> points;
  const auto keyOfNumbered = [&](std::int64_t entity, EntityKey& key) {
    if (throughPoints()) {
      const std::int64_t at = sharedIndex(entity);
      if (at < 0) return false;
      key = sharedKeys_[index(at)];
      return true;
    }
    corners.clear();
    numbered_.pointsOf(entity, points);
    for (const std::int64_t p : points) {
      const std::int64_t at = sharedIndex(p);
      if (at < 0) return false;
      corners.push_back(sharedKeys_[index(at)]);
    }
    key = corners.size() == 1 ? corners[0] : keyOfEntity(corners);
    return true;
  };
  borderCells_.clear();
  for (std::int64_t c = 0; c < count_; ++c) {
    const auto ids = pointsOf(c);
    if (std::any_of(ids.begin(), ids.end(), [&](std::int64_t p) { return isShared(p); }))
      borderCells_.push_back(c);
  }
  for (const std::int64_t c : borderCells_)
    for (const std::int64_t e : entitiesOf(c))
      connections_.emplace_back(e, rules_.withLabels ? values_[index(c)] : 0);
  std::sort(connections_.begin(), connections_.end());
  connections_.erase(std::unique(connections_.begin(), connections_.end()), connections_.end());
  std::vector<Connection> shared;
  for (const Connection& connection : connections_) {
    EntityKey key;
    if (!keyOfNumbered(connection.first, key)) continue;
    shared.push_back(connection);
    keys.push_back(rules_.withLabels ? withValue(key, connection.second) : key);
  }
  connections_ = std::move(shared);
  return keys;
}

std::uint32_t MeshPiece::label(const RangeTest& test) {
  std::vector<std::uint8_t> inRange;
  if (test.scalars || !flags_.empty()) {
    inRange.assign(index(count_), 1);
    const std::vector<std::uint64_t> mask = rangeBits(test);
    const auto isIn = [&](std::int64_t i) { return (mask[index(i >> 6)] >> (i & 63) & 1) != 0; };
    smpFor(count_, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t c = begin; c < end; ++c) {
        std::uint8_t& in = inRange[index(c)];
        if (!flags_.empty() && (flags_[index(c)] & vtkDataSetAttributes::HIDDENCELL) != 0) {
          in = 0;
        } else if (test.scalars && test.atCells) {
          in = isIn(c) ? 1 : 0;
        } else if (test.scalars) {
          const auto ids = ownPointsOf(c);
          const bool good = test.allPoints
                                ? !ids.empty() && std::all_of(ids.begin(), ids.end(), isIn)
                                : std::any_of(ids.begin(), ids.end(), isIn);
          in = good ? 1 : 0;
        }
      }
    });
  }
  const CellEntities entities = throughPoints() ? cellPoints_ : numbered_.cells();
  labels_ = {};
  labels_ = labelMesh(entities, inRange, values_.empty() ? nullptr : values_.data(), smpFor);
  return labels_.sets;
}

std::vector<std::uint32_t> MeshPiece::setsOfConnections() const {
  std::vector<std::uint32_t> sets(connections_.size(), NoSet);
  for (const std::int64_t c : borderCells_) {
    if (setOfCell(c) == NoSet) continue;
    const std::int64_t value = rules_.withLabels ? values_[index(c)] : 0;
    for (const std::int64_t e : entitiesOf(c)) {
      const Connection connection(e, value);
      const auto at = std::lower_bound(connections_.begin(), connections_.end(), connection);
      if (at != connections_.end() && *at == connection)
        sets[static_cast<std::size_t>(at - connections_.begin())] = setOfCell(c);
    }
  }
  return sets;
}

std::vector<SetAtPoint> MeshPiece::setsAtShared() const {
  if (shared_.empty()) return {};
  return setsAtPoints(
      count_, [&](std::int64_t c) { return setOfCell(c); },
      [&](std::int64_t c) { return pointsOf(c); }, [&](std::int64_t p) { return sharedIndex(p); });
}

RegionKey MeshPiece::keyOf(std::int64_t cell, const std::array<double, 3>& least) const {
  std::vector<EntityKey> corners;
  for (const std::int64_t p : ownPointsOf(cell))
    corners.push_back(keyOfPoint(coordinates_[p].data()));
  EntityKey all = withValue(keyOfEntity(corners), lists_.types[index(cell)]);
  if (rules_.withLabels) all = withValue(all, values_[index(cell)]);
  return placeKey(least, all);
}

BlockFacts MeshPiece::facts(const FactScales& scales,
                            const std::vector<MeasuredValues>& arrays) const {
  BlockFacts facts;
  facts.sets.resize(labels_.sets);
  facts.values.resize(labels_.sets * arrays.size());
  constexpr double far = RegionFacts::Infinity;
  std::vector<std::array<double, 3>> leastOfSet(labels_.sets, {far, far, far});
  for (std::int64_t c = 0; c < count_; ++c) {
    if (setOfCell(c) == NoSet || isGhost(c)) continue;
    RegionFacts& set = facts.sets[setOfCell(c)];
    ++set.cells;
    const CellSize& size = sizes_[index(c)];
    const double weight = scales.hasMeasure ? size.measure : 1;
    if (std::isfinite(size.measure)) set.measure += scales.measure.fixed(size.measure);
    for (std::size_t a = 0; a < 3; ++a) {
      const double moment = weight * size.centroid[a];
      if (std::isfinite(moment)) set.moment[a] += scales.moment.fixed(moment);
    }
    std::array<double, 3> least = {far, far, far};
    for (const std::int64_t p : ownPointsOf(c)) {
      const std::array<double, 3> here = coordinates_[p];
      least = std::min(least, here);
      for (std::size_t a = 0; a < 3; ++a) {
        set.lo[a] = std::min(set.lo[a], here[a]);
        set.hi[a] = std::max(set.hi[a], here[a]);
      }
    }
    if (rules_.cells == DomainRules::Cells::Ids) {
      set.key =
          std::min(set.key, RegionKey{static_cast<std::uint64_t>(cellIds_[index(c)]), 0, 0, 0});
    } else if (least <= leastOfSet[setOfCell(c)]) {
      leastOfSet[setOfCell(c)] = least;
      set.key = std::min(set.key, keyOf(c, least));
    }
    const auto own = ownPointsOf(c);
    for (std::size_t v = 0; v < arrays.size(); ++v)
      addValues(arrays[v], c, static_cast<std::int64_t>(own.size()), own.data(), weight,
                scales.integrals[v], facts.values[setOfCell(c) * arrays.size() + v]);
  }
  return facts;
}

void MeshPiece::write(RegionOutput& output) const {
  if (output.cells) {
    smpFor(count_, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t c = begin; c < end; ++c)
        output.cells[c] = setOfCell(c) == NoSet ? -1 : output.shownOf[setOfCell(c)];
    });
  }
  if (output.points) std::fill_n(output.points, points(), vtkIdType(-1));
  output.pointsOfSet.assign(labels_.sets, 0);
  visitRegionsAtPoints(
      points(), count_, [&](std::int64_t c) { return setOfCell(c); },
      [&](std::int64_t c) { return pointsOf(c); }, output.numberOf,
      [&](std::int64_t point, std::uint32_t set) {
        if (shared_.empty() || !isShared(point)) ++output.pointsOfSet[set];
        const std::int64_t shown = output.shownOf[set];
        if (!output.points || shown < 0) return;
        vtkIdType& out = output.points[point];
        if (out < 0 || shown < out) out = shown;
      });
  if (output.points && !first_.empty())
    for (std::int64_t p = 0; p < points(); ++p) output.points[p] = output.points[firstOf(p)];
}

void MeshPiece::showAt(std::int64_t shared, vtkIdType region, vtkIdType* points) const {
  const std::int64_t point = shared_[index(shared)];
  points[point] = region;
  const auto before = [](const std::pair<std::int64_t, std::int64_t>& copy, std::int64_t p) {
    return copy.first < p;
  };
  for (auto copy = std::lower_bound(copies_.begin(), copies_.end(), point, before);
       copy != copies_.end() && copy->first == point; ++copy)
    points[copy->second] = region;
}

std::vector<std::uint32_t> MeshPiece::setsAt(const std::vector<std::int64_t>& wanted) const {
  std::vector<char> isWanted(index(points()), 0);
  for (const std::int64_t p : wanted) isWanted[index(firstOf(p))] = 1;
  std::vector<std::uint32_t> sets;
  for (std::int64_t c = 0; c < count_; ++c) {
    if (setOfCell(c) == NoSet) continue;
    for (const std::int64_t p : pointsOf(c)) {
      if (isWanted[index(p)] == 0) continue;
      sets.push_back(setOfCell(c));
      break;
    }
  }
  return sets;
}

ComponentPiece::Nearest MeshPiece::nearest(const std::array<double, 3>& where) const {
  Nearest nearest;
  for (std::int64_t c = 0; c < count_; ++c) {
    if (setOfCell(c) == NoSet) continue;
    for (const std::int64_t p : ownPointsOf(c)) nearest.add(where, coordinates_[p], setOfCell(c));
  }
  return nearest;
}

}  // namespace

std::unique_ptr<ComponentPiece> makeMeshPiece(const Leaf& leaf, const DomainRules& rules,
                                              std::vector<std::uint8_t> flags,
                                              std::vector<std::int64_t> labels) {
  return std::make_unique<MeshPiece>(leaf, rules, std::move(flags), std::move(labels));
}

}  // namespace tributary
