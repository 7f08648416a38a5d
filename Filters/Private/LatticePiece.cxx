#include "ComponentPiece.h"

#include <vtkCellData.h>
#include <vtkCellType.h>
#include <vtkDataArray.h>
#include <vtkDataSetAttributes.h>
#include <vtkImageData.h>
#include <vtkRectilinearGrid.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "CellLists.h"
#include "CellSize.h"
#include "SmpFor.h"

#include "Tributary/Components/LatticeLabels.h"
#include "Tributary/Components/LatticeMask.h"
#include "Tributary/Error.h"

namespace tributary {
namespace {

using Index3 = std::array<std::int64_t, 3>;

/// A point, edge or face of the lattice, or of a finer one: from `at`, in the finest lattice
/// counted from the first point, it goes along each axis in `span`.
struct LatticeEntity {
  Index3 at;
  unsigned span;       // a bit per axis
  std::int64_t value;  // of the cells that it connects, if they are told apart by values
};

/// Whether an entity lies in a face of a box of indices.
bool isOnSurface(const Index3& at, unsigned span, const Box& box) {
  for (std::size_t a = 0; a < 3; ++a) {
    const auto place = static_cast<double>(at[a]);
    if ((span >> a & 1) == 0 && box.lo[a] < box.hi[a] && (place == box.lo[a] || place == box.hi[a]))
      return true;
  }
  return false;
}

class LatticePiece : public ComponentPiece {
 public:
  LatticePiece(const Leaf& leaf, const DomainRules& rules, std::vector<std::uint8_t> flags,
               std::vector<std::int64_t> labels);

  std::array<double, 3> place(std::int64_t point) const override;
  Extremes extremes(const std::vector<MeasuredValues>& arrays) const override;
  Box box() const override;
  std::vector<std::int64_t> pointsIn(Span<const Neighbour> others) const override;
  Index3 indexOf(std::int64_t point) const override;
  Index3 stride() const override { return stride_; }
  std::vector<EntityKey> connectionKeys(Span<const Neighbour> others) override;
  std::uint32_t label(const RangeTest& test) override;
  std::uint32_t setOfCell(std::int64_t cell) const override {
    return setAt(cell % cells_[0], cell / cells_[0]);
  }
  std::vector<std::uint32_t> setsOfConnections() const override;
  std::vector<SetAtPoint> setsAtShared() const override;
  BlockFacts facts(const FactScales& scales,
                   const std::vector<MeasuredValues>& arrays) const override;
  void write(RegionOutput& output) const override;
  std::vector<std::uint32_t> setsAt(const std::vector<std::int64_t>& points) const override;
  Nearest nearest(const std::array<double, 3>& place) const override;

 private:
  Index3 localIndexOf(std::int64_t point) const {
    return {point % points_[0], point / points_[0] % points_[1], point / (points_[0] * points_[1])};
  }
  std::int64_t pointAt(std::int64_t i, std::int64_t j, std::int64_t k) const {
    return (k * points_[1] + j) * points_[0] + i;
  }
  std::int64_t cellAt(std::int64_t i, std::int64_t j, std::int64_t k) const {
    return (k * cells_[1] + j) * cells_[0] + i;
  }
  bool isFlat(std::size_t axis) const { return points_[axis] == 1; }

  /// The corners of a cell as VTK orders those of a vertex, line, quadrilateral or hexahedron.
  int cornersOf(std::int64_t cell, std::int64_t* ids) const;
  CellSize sizeOf(std::int64_t cell) const;
  std::array<double, 3> at(std::int64_t i, std::int64_t j, std::int64_t k) const {
    if (straight_) return {axes_[0][index(i)], axes_[1][index(j)], axes_[2][index(k)]};
    return coordinates_[pointAt(i, j, k)];
  }

  /// The set of a cell in a row of cells.
  std::uint32_t setAt(std::int64_t i, std::int64_t row) const;
  /// Whether points are told apart by indices.
  bool hasIndices() const {
    return rules_.points == DomainRules::Points::Structured ||
           rules_.points == DomainRules::Points::Hierarchy;
  }
  Index3 finestIndexOf(std::int64_t point) const;
  /// Calls `visit(cell)` for all cells that have the entity.
  template <class Visit>
  void cellsAt(const Index3& at, unsigned span, Visit&& visit) const;
  /// Calls `visit(at, key)` for what connects its cells with those of another data set.
  template <class Visit>
  void visitOwnEntities(unsigned span, Visit&& visit) const;
  /// The same for what cells of a finer level connect to.
  template <class Visit>
  void visitFinerEntities(const Neighbour& finer, unsigned span, Visit&& visit) const;
  /// Calls `visit(row)` for the rows of cells beside a row of points.
  template <class Visit>
  void cellRowsAt(std::int64_t j, std::int64_t k, Visit&& visit) const;
  /// Calls `visit(begin, end, set)` for the cells of a run that are no ghosts, in one piece or
  /// more.
  template <class Visit>
  void ownCells(const Run& run, std::int64_t row, Visit&& visit) const;
  RegionKey keyOf(std::int64_t i, std::int64_t row, const RegionKey& known) const;

  void writeRow(std::int64_t j, std::int64_t k, RegionOutput& output, bool isConcurrent,
                std::vector<std::vector<std::uint32_t>>& sets) const;

  std::array<int, 6> extent_;
  Index3 start_{};          // in the extent or the finest lattice
  Index3 stride_{1, 1, 1};  // of its points there
  LatticeSize points_{};
  LatticeSize cells_{};
  bool straight_ = false;  // along the axes, with increasing coordinates
  bool uniform_ = false;   // and all cells of one size
  std::array<std::vector<double>, 3> axes_;
  std::array<double, 3> spacing_{1, 1, 1};
  vtkSmartPointer<vtkDataArray> coordinatesArray_;
  Coordinates coordinates_;
  std::vector<std::uint8_t> flags_;
  bool hasGhosts_ = false;
  std::vector<std::int64_t> values_;  // per cell, or none
  std::vector<std::int64_t> cellIds_;
  std::vector<CellSize> sizes_;  // of cells that are not straight

  std::vector<LatticeEntity> connections_;
  LatticeLabels labels_;
};

LatticePiece::LatticePiece(const Leaf& leaf, const DomainRules& rules,
                           std::vector<std::uint8_t> flags, std::vector<std::int64_t> labels)
    : ComponentPiece(leaf, rules),
      extent_(extent()),
      flags_(std::move(flags)),
      values_(std::move(labels)) {
  for (std::size_t a = 0; a < 3; ++a) {
    points_[a] = std::int64_t(extent_[2 * a + 1]) - extent_[2 * a] + 1;
    cells_[a] = std::max<std::int64_t>(points_[a] - 1, 1);
  }
  straight_ = isAlongAxes(leaf.dataSet);
  auto* amr = vtkImageData::SafeDownCast(leaf.dataSet);
  for (std::size_t a = 0; a < 3; ++a) {
    start_[a] = extent_[2 * a];
    if (rules_.points != DomainRules::Points::Hierarchy || isFlat(a)) continue;
    const double spacing = amr->GetSpacing()[a];
    stride_[a] = std::llround(spacing / rules_.finest[a]);
    start_[a] = std::llround((amr->GetOrigin()[a] + extent_[2 * a] * spacing - rules_.origin[a]) /
                             rules_.finest[a]);
  }
  if (auto* image = vtkImageData::SafeDownCast(leaf.dataSet); image && straight_) {
    uniform_ = true;
    for (std::size_t a = 0; a < 3; ++a) {
      spacing_[a] = image->GetSpacing()[a];
      for (std::int64_t i = 0; i < points_[a]; ++i)
        axes_[a].push_back(image->GetOrigin()[a] +
                           static_cast<double>(extent_[2 * a] + i) * spacing_[a]);
    }
  } else if (auto* grid = vtkRectilinearGrid::SafeDownCast(leaf.dataSet); grid && straight_) {
    vtkDataArray* axes[3] = {grid->GetXCoordinates(), grid->GetYCoordinates(),
                             grid->GetZCoordinates()};
    for (std::size_t a = 0; a < 3; ++a)
      for (vtkIdType i = 0; i < axes[a]->GetNumberOfTuples(); ++i)
        axes_[a].push_back(axes[a]->GetComponent(i, 0));
  } else {
    coordinatesArray_ = coordinatesOf(leaf.dataSet);
    coordinates_ = Coordinates(coordinatesArray_);
    std::vector<CellSize> sizes(index(cells()));
    smpFor(cells(), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t c = begin; c < end; ++c) sizes[index(c)] = sizeOf(c);
    });
    sizes_ = std::move(sizes);
  }
  hasGhosts_ = std::any_of(flags_.begin(), flags_.end(), [](std::uint8_t flag) {
    return (flag & vtkDataSetAttributes::DUPLICATECELL) != 0;
  });
  if (rules_.cells == DomainRules::Cells::Ids)
    cellIds_ = exactIds(leaf.dataSet->GetCellData()->GetGlobalIds());
}

std::array<double, 3> LatticePiece::place(std::int64_t point) const {
  const Index3 p = localIndexOf(point);
  return at(p[0], p[1], p[2]);
}

int LatticePiece::cornersOf(std::int64_t cell, std::int64_t* ids) const {
  const std::int64_t i = cell % cells_[0], j = cell / cells_[0] % cells_[1];
  const std::int64_t first = pointAt(i, j, cell / (cells_[0] * cells_[1]));
  const std::array<std::int64_t, 3> strides = {1, points_[0], points_[0] * points_[1]};
  std::array<std::int64_t, 3> steps{};
  int dimension = 0;
  for (std::size_t a = 0; a < 3; ++a)
    if (!isFlat(a)) steps[static_cast<std::size_t>(dimension++)] = strides[a];
  const std::int64_t u = steps[0], v = steps[1], w = steps[2];
  const std::int64_t all[8] = {first,     first + u,     first + u + v,     first + v,
                               first + w, first + u + w, first + u + v + w, first + v + w};
  const int count = 1 << dimension;
  std::copy_n(all, count, ids);
  return count;
}

CellSize LatticePiece::sizeOf(std::int64_t cell) const {
  std::int64_t ids[8];
  const int count = cornersOf(cell, ids);
  if (!sizes_.empty()) return sizes_[index(cell)];
  if (straight_) {
    const Index3 first = localIndexOf(ids[0]);
    CellSize size;
    size.measure = count > 1 ? 1 : 0;
    for (std::size_t a = 0; a < 3; ++a) {
      const double lo = axes_[a][index(first[a])];
      const double hi = isFlat(a) ? lo : axes_[a][index(first[a] + 1)];
      size.centroid[a] = 0.5 * (lo + hi);
      if (!isFlat(a)) size.measure *= uniform_ ? spacing_[a] : hi - lo;
    }
    return size;
  }
  constexpr int types[] = {VTK_VERTEX, VTK_LINE, VTK_QUAD, VTK_HEXAHEDRON};
  const int dimension = count == 8 ? 3 : count / 2;
  return sizeOfCell(types[dimension], count, ids, coordinates_, nullptr, cell);
}

Extremes LatticePiece::extremes(const std::vector<MeasuredValues>& arrays) const {
  Extremes extremes;
  double bounds[6];
  leaf_.dataSet->GetBounds(bounds);
  for (const double bound : bounds)
    if (std::isfinite(bound)) extremes.coordinate = std::max(extremes.coordinate, std::abs(bound));
  extremes.values.resize(arrays.size(), 0);
  if (uniform_) extremes.measure = sizeOf(0).measure;
  if (uniform_ && arrays.empty()) return extremes;
  std::int64_t ids[8];
  for (std::int64_t row = 0; row < cells_[1] * cells_[2]; ++row) {
    for (std::int64_t r = labels_.rowBegin[index(row)]; r < labels_.rowBegin[index(row + 1)]; ++r) {
      ownCells(labels_.runs[index(r)], row, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          const std::int64_t cell = row * cells_[0] + i;
          const double measure = sizeOf(cell).measure;
          if (std::isfinite(measure)) extremes.measure = std::max(extremes.measure, measure);
          const Span<const std::int64_t> corners(ids, index(cornersOf(cell, ids)));
          for (std::size_t v = 0; v < arrays.size(); ++v)
            considerValues(arrays[v], cell, corners, extremes.values[v]);
        }
      });
    }
  }
  return extremes;
}

Index3 LatticePiece::finestIndexOf(std::int64_t point) const {
  Index3 at = localIndexOf(point);
  for (std::size_t a = 0; a < 3; ++a) at[a] *= stride_[a];
  return at;
}

Index3 LatticePiece::indexOf(std::int64_t point) const {
  Index3 at = finestIndexOf(point);
  for (std::size_t a = 0; a < 3; ++a) at[a] += start_[a];
  return at;
}

Box LatticePiece::box() const {
  Box box;
  for (std::size_t a = 0; a < 3; ++a) {
    if (hasIndices()) {
      box.lo[a] = static_cast<double>(start_[a]);
      box.hi[a] = static_cast<double>(start_[a] + (points_[a] - 1) * stride_[a]);
    } else {
      box.lo[a] = axes_[a].front();
      box.hi[a] = axes_[a].back();
    }
  }
  return box;
}

std::vector<std::int64_t> LatticePiece::pointsIn(Span<const Neighbour> others) const {
  std::vector<std::int64_t> found;
  for (const Neighbour& other : others) {
    const Box& box = other.box;
    Index3 first{}, end{};
    for (std::size_t a = 0; a < 3; ++a) {
      if (hasIndices()) {
        const std::int64_t lo = static_cast<std::int64_t>(box.lo[a]) - start_[a];
        const std::int64_t hi = static_cast<std::int64_t>(box.hi[a]) - start_[a];
        first[a] = lo <= 0 ? 0 : (lo + stride_[a] - 1) / stride_[a];
        end[a] = hi < 0 ? 0 : std::min(hi / stride_[a] + 1, points_[a]);
      } else {
        const auto& axis = axes_[a];
        first[a] = std::lower_bound(axis.begin(), axis.end(), box.lo[a]) - axis.begin();
        end[a] = std::upper_bound(axis.begin(), axis.end(), box.hi[a]) - axis.begin();
      }
    }
    // Between levels only what lies on the finer data set's surface is of interest.
    const Box surface = other.level > leaf_.level ? box : this->box();
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
void LatticePiece::cellsAt(const Index3& at, unsigned span, Visit&& visit) const {
  Index3 first{}, end{};
  for (std::size_t a = 0; a < 3; ++a) {
    const bool inside = (span >> a & 1) != 0 || at[a] % stride_[a] != 0;
    const std::int64_t cell = at[a] / stride_[a];
    first[a] = inside ? cell : std::max<std::int64_t>(cell - 1, 0);
    end[a] = std::min(cell + 1, cells_[a]);
  }
  for (std::int64_t k = first[2]; k < end[2]; ++k)
    for (std::int64_t j = first[1]; j < end[1]; ++j)
      for (std::int64_t i = first[0]; i < end[0]; ++i) visit(cellAt(i, j, k));
}

template <class Visit>
void LatticePiece::visitOwnEntities(unsigned span, Visit&& visit) const {
  const Index3 strides = {1, points_[0], points_[0] * points_[1]};
  for (const std::int64_t point : shared_) {
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
      const std::int64_t at = isShared ? sharedIndex(corner) : -1;
      isShared = at >= 0;
      if (isShared) corners[count++] = sharedKeys_[index(at)];
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
void LatticePiece::visitFinerEntities(const Neighbour& finer, unsigned span, Visit&& visit) const {
  const Box mine = box();
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

std::vector<EntityKey> LatticePiece::connectionKeys(Span<const Neighbour> others) {
  connections_.clear();
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
        connections_.push_back({at, span, 0});
        return;
      }
      values.clear();
      cellsAt(at, span, [&](std::int64_t cell) {
        const std::int64_t value = values_[index(cell)];
        if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
      });
      for (const std::int64_t value : values) {
        keys.push_back(withValue(key, value));
        connections_.push_back({at, span, value});
      }
    };
    visitOwnEntities(span, add);
    for (const Neighbour& other : others)
      if (other.level > leaf_.level) visitFinerEntities(other, span, add);
  }
  return keys;
}

std::uint32_t LatticePiece::label(const RangeTest& test) {
  std::vector<std::uint64_t> mask;
  if (!test.scalars) {
    mask.assign(index(maskWords(cells_)), ~std::uint64_t(0));
  } else {
    const vtkSmartPointer<vtkDataArray> array = plain(test.scalars);
    const LatticeSize& size = test.atCells ? cells_ : points_;
    mask.resize(index(maskWords(size)));
    switch (array->GetDataType()) {
      vtkTemplateMacro(rangeMask(static_cast<const VTK_TT*>(array->GetVoidPointer(0)), size[0],
                                 size[1] * size[2], test.lo, test.hi, mask.data(), smpFor));
      default:
        throw Error("the scalars are of a type that has no order");
    }
    if (!test.atCells) mask = cellMask(mask, points_, test.allPoints, smpFor);
  }
  if (!flags_.empty())
    clearFlagged(mask.data(), cells_, flags_.data(), vtkDataSetAttributes::HIDDENCELL, smpFor);
  // In a plane cells share edges and points only.
  const bool isPlane = isFlat(0) || isFlat(1) || isFlat(2);
  const Through through =
      isPlane && rules_.through == Through::Edges ? Through::Faces : rules_.through;
  labels_ = {};
  labels_ = labelLattice(cells_, mask, through, values_.empty() ? nullptr : values_.data(), smpFor);
  return labels_.sets;
}

std::uint32_t LatticePiece::setAt(std::int64_t i, std::int64_t row) const {
  const auto first = labels_.runs.begin() + labels_.rowBegin[index(row)];
  const auto end = labels_.runs.begin() + labels_.rowBegin[index(row + 1)];
  const auto after =
      std::upper_bound(first, end, i, [](std::int64_t a, const Run& run) { return a < run.begin; });
  if (after == first) return NoSet;
  const Run& run = *(after - 1);
  return i < run.end ? run.set : NoSet;
}

std::vector<std::uint32_t> LatticePiece::setsOfConnections() const {
  std::vector<std::uint32_t> sets;
  sets.reserve(connections_.size());
  for (const LatticeEntity& entity : connections_) {
    std::uint32_t set = NoSet;
    cellsAt(entity.at, entity.span, [&](std::int64_t cell) {
      if (set == NoSet && (!rules_.withLabels || values_[index(cell)] == entity.value))
        set = setOfCell(cell);
    });
    sets.push_back(set);
  }
  return sets;
}

std::vector<SetAtPoint> LatticePiece::setsAtShared() const {
  std::vector<SetAtPoint> list;
  for (std::size_t s = 0; s < shared_.size(); ++s) {
    const std::size_t first = list.size();
    cellsAt(finestIndexOf(shared_[s]), 0, [&](std::int64_t cell) {
      const std::uint32_t set = setOfCell(cell);
      if (set == NoSet) return;
      for (std::size_t i = first; i < list.size(); ++i)
        if (list[i].set == set) return;
      list.push_back({static_cast<std::int64_t>(s), set});
    });
  }
  return list;
}

RegionKey LatticePiece::keyOf(std::int64_t i, std::int64_t row, const RegionKey& known) const {
  const std::int64_t j = row % cells_[1], k = row / cells_[1];
  const std::int64_t cell = row * cells_[0] + i;
  if (rules_.cells == DomainRules::Cells::Ids)
    return {static_cast<std::uint64_t>(cellIds_[index(cell)]), 0, 0, 0};
  if (rules_.cells == DomainRules::Cells::Structured) {
    std::uint64_t number = 0;
    const std::array<std::int64_t, 3> local = {i, j, k};
    for (std::size_t a = 3; a-- > 0;) {
      const std::int64_t size = std::int64_t(rules_.whole[2 * a + 1]) - rules_.whole[2 * a] + 1;
      number = number * static_cast<std::uint64_t>(size) +
               static_cast<std::uint64_t>(local[a] + extent_[2 * a] - rules_.whole[2 * a]);
    }
    std::uint64_t flat = 0;  // cells of other planes may begin at the same point
    for (std::size_t a = 0; a < 3; ++a) flat |= std::uint64_t(isFlat(a) ? 1 : 0) << a;
    return {number, flat, 0, 0};
  }
  std::int64_t ids[8];
  const int count = cornersOf(cell, ids);
  std::array<double, 3> least = place(ids[0]);
  std::array<EntityKey, 8> corners;
  for (int c = 1; c < count; ++c) least = std::min(least, place(ids[c]));
  if (placeKey(least, {0, 0}) > known) return known;
  for (int c = 0; c < count; ++c)
    corners[static_cast<std::size_t>(c)] = keyOfPoint(place(ids[c]).data());
  constexpr int types[] = {VTK_VERTEX, VTK_LINE, VTK_QUAD, 0, VTK_HEXAHEDRON};
  EntityKey all =
      withValue(keyOfEntity({corners.data(), static_cast<std::size_t>(count)}), types[count / 2]);
  if (rules_.withLabels) all = withValue(all, values_[index(cell)]);
  return placeKey(least, all);
}

template <class Visit>
void LatticePiece::ownCells(const Run& run, std::int64_t row, Visit&& visit) const {
  if (!hasGhosts_) {
    visit(run.begin, run.end);
    return;
  }
  const std::uint8_t* flags = flags_.data() + row * cells_[0];
  for (std::int64_t i = run.begin; i < run.end;) {
    const bool ghost = (flags[i] & vtkDataSetAttributes::DUPLICATECELL) != 0;
    std::int64_t end = i + 1;
    while (end < run.end && ((flags[end] & vtkDataSetAttributes::DUPLICATECELL) != 0) == ghost)
      ++end;
    if (!ghost) visit(i, end);
    i = end;
  }
}

BlockFacts LatticePiece::facts(const FactScales& scales,
                               const std::vector<MeasuredValues>& arrays) const {
  BlockFacts facts;
  facts.sets.resize(labels_.sets);
  facts.values.resize(labels_.sets * arrays.size());
  const std::int64_t rows = cells_[1] * cells_[2];
  const double one = sizeOf(0).measure;
  const FixedSum fixedOne = scales.measure.fixed(one);
  const double weightOne = scales.hasMeasure ? one : 1;
  // Of a uniform lattice: what cells add to the moment by column, row and layer, and the columns'
  // sums, so that a run adds exactly what its cells would.
  std::array<std::vector<FixedSum>, 3> moments;
  std::vector<FixedSum> columns(1, 0);
  if (uniform_) {
    for (std::size_t a = 0; a < 3; ++a) {
      for (std::int64_t i = 0; i < cells_[a]; ++i) {
        const double lo = axes_[a][index(i)];
        const double middle = isFlat(a) ? lo : 0.5 * (lo + axes_[a][index(i + 1)]);
        moments[a].push_back(scales.moment.fixed(weightOne * middle));
      }
    }
    for (const FixedSum moment : moments[0]) columns.push_back(columns.back() + moment);
  }

  std::int64_t ids[8];
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t j = row % cells_[1], k = row / cells_[1];
    for (std::int64_t r = labels_.rowBegin[index(row)]; r < labels_.rowBegin[index(row + 1)]; ++r) {
      const Run& run = labels_.runs[index(r)];
      RegionFacts& set = facts.sets[run.set];
      ownCells(run, row, [&](std::int64_t begin, std::int64_t end) {
        const std::int64_t count = end - begin;
        set.cells += count;
        if (straight_) {
          const std::array<std::int64_t, 3> from = {begin, j, k};
          const std::array<std::int64_t, 3> to = {end, j + 1, k + 1};
          for (std::size_t a = 0; a < 3; ++a) {
            set.lo[a] = std::min(set.lo[a], axes_[a][index(from[a])]);
            set.hi[a] = std::max(set.hi[a], axes_[a][index(isFlat(a) ? from[a] : to[a])]);
          }
        }
        if (uniform_) {
          set.measure += fixedOne * count;
          set.moment[0] += columns[index(end)] - columns[index(begin)];
          set.moment[1] += moments[1][index(j)] * count;
          set.moment[2] += moments[2][index(k)] * count;
        }
        const bool ordered = rules_.cells == DomainRules::Cells::Structured ||
                             (rules_.cells == DomainRules::Cells::Places && straight_);
        for (std::int64_t i = begin; i < (ordered ? begin + 1 : end); ++i)
          set.key = std::min(set.key, keyOf(i, row, set.key));
        if (uniform_ && arrays.empty()) return;
        for (std::int64_t i = begin; i < end; ++i) {
          const std::int64_t cell = row * cells_[0] + i;
          const CellSize size = sizeOf(cell);
          const double weight = scales.hasMeasure ? size.measure : 1;
          const int corners = cornersOf(cell, ids);
          if (!uniform_) {
            if (std::isfinite(size.measure)) set.measure += scales.measure.fixed(size.measure);
            for (std::size_t a = 0; a < 3; ++a) {
              const double moment = weight * size.centroid[a];
              if (std::isfinite(moment)) set.moment[a] += scales.moment.fixed(moment);
            }
          }
          if (!straight_) {
            for (int c = 0; c < corners; ++c) {
              const std::array<double, 3> here = coordinates_[ids[c]];
              for (std::size_t a = 0; a < 3; ++a) {
                set.lo[a] = std::min(set.lo[a], here[a]);
                set.hi[a] = std::max(set.hi[a], here[a]);
              }
            }
          }
          for (std::size_t v = 0; v < arrays.size(); ++v) {
            ValueFacts& values = facts.values[run.set * arrays.size() + v];
            addValues(arrays[v], cell, corners, ids, weight, scales.integrals[v], values);
          }
        }
      });
    }
  }
  return facts;
}

template <class Visit>
void LatticePiece::cellRowsAt(std::int64_t j, std::int64_t k, Visit&& visit) const {
  for (std::int64_t ck = std::max<std::int64_t>(k - 1, 0); ck < std::min(k + 1, cells_[2]); ++ck)
    for (std::int64_t cj = std::max<std::int64_t>(j - 1, 0); cj < std::min(j + 1, cells_[1]); ++cj)
      visit(ck * cells_[1] + cj);
}

void LatticePiece::writeRow(std::int64_t j, std::int64_t k, RegionOutput& output, bool isConcurrent,
                            std::vector<std::vector<std::uint32_t>>& sets) const {
  // sets[n][i]: a set of the n-th different region at point i of the row.
  const auto same = [&](std::uint32_t a, std::uint32_t b) {
    return a == b || output.numberOf[a] == output.numberOf[b];
  };
  const std::size_t length = index(points_[0]);
  std::size_t depth = 1;
  sets[0].assign(length, NoSet);
  const std::int64_t reach = isFlat(0) ? 0 : 1;
  const bool single = rules_.through == Through::Points && !rules_.withLabels;
  cellRowsAt(j, k, [&](std::int64_t row) {
    for (std::int64_t r = labels_.rowBegin[index(row)]; r < labels_.rowBegin[index(row + 1)]; ++r) {
      const Run& run = labels_.runs[index(r)];
      const std::size_t end = index(run.end + reach);
      if (single) {  // whatever set is here is the only one
        std::fill(sets[0].begin() + run.begin, sets[0].begin() + run.end + reach, run.set);
        continue;
      }
      for (std::size_t i = index(run.begin); i < end; ++i) {
        std::size_t n = 0;
        while (n < depth && sets[n][i] != NoSet && !same(sets[n][i], run.set)) ++n;
        if (n == depth) {
          if (sets.size() == depth) sets.emplace_back();
          sets[depth++].assign(length, NoSet);
        }
        if (sets[n][i] == NoSet) sets[n][i] = run.set;
      }
    }
  });

  const std::int64_t first = pointAt(0, j, k);
  const auto count = [&](std::uint32_t set, std::int64_t points) {
    if (isConcurrent)
      __atomic_fetch_add(&output.pointsOfSet[set], points, __ATOMIC_RELAXED);
    else
      output.pointsOfSet[set] += points;
  };
  for (std::size_t n = 0; n < depth; ++n) {
    std::uint32_t last = NoSet;
    std::int64_t run = 0;
    vtkIdType shown = -1;
    for (std::size_t i = 0; i < length; ++i) {
      const std::uint32_t set = sets[n][i];
      if (set != last) {
        if (last != NoSet) count(last, run);
        run = 0;
        last = set;
        shown = set == NoSet ? -1 : output.shownOf[set];
      }
      run += shared_.empty() || !isShared(first + static_cast<std::int64_t>(i)) ? 1 : 0;
      if (!output.points) continue;
      vtkIdType& out = output.points[first + static_cast<std::int64_t>(i)];
      if (n == 0)
        out = shown;
      else if (shown >= 0 && (out < 0 || shown < out))
        out = shown;
    }
    if (last != NoSet) count(last, run);
  }
}

void LatticePiece::write(RegionOutput& output) const {
  if (output.cells)
    writeLabels<std::int64_t>(labels_, cells_, output.shownOf, -1,
                              reinterpret_cast<std::int64_t*>(output.cells), smpFor);
  output.pointsOfSet.assign(labels_.sets, 0);
  const std::int64_t rows = points_[1] * points_[2];
  smpFor(rows, [&](std::int64_t begin, std::int64_t end) {
    std::vector<std::vector<std::uint32_t>> sets(1);
    const bool isConcurrent = end - begin < rows;
    for (std::int64_t row = begin; row < end; ++row)
      writeRow(row % points_[1], row / points_[1], output, isConcurrent, sets);
  });
}

std::vector<std::uint32_t> LatticePiece::setsAt(const std::vector<std::int64_t>& points) const {
  std::vector<std::uint32_t> sets;
  for (const std::int64_t point : points) {
    cellsAt(finestIndexOf(point), 0, [&](std::int64_t cell) {
      const std::uint32_t set = setOfCell(cell);
      if (set != NoSet) sets.push_back(set);
    });
  }
  return sets;
}

ComponentPiece::Nearest LatticePiece::nearest(const std::array<double, 3>& where) const {
  Nearest nearest;
  std::int64_t ids[8];
  const std::int64_t rows = cells_[1] * cells_[2];
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t r = labels_.rowBegin[index(row)]; r < labels_.rowBegin[index(row + 1)]; ++r) {
      const Run& run = labels_.runs[index(r)];
      for (std::int64_t i = run.begin; i < run.end; ++i) {
        const int corners = cornersOf(row * cells_[0] + i, ids);
        for (int c = 0; c < corners; ++c) nearest.add(where, place(ids[c]), run.set);
      }
    }
  }
  return nearest;
}

}  // namespace

std::unique_ptr<ComponentPiece> makeLatticePiece(const Leaf& leaf, const DomainRules& rules,
                                                 std::vector<std::uint8_t> flags,
                                                 std::vector<std::int64_t> labels) {
  return std::make_unique<LatticePiece>(leaf, rules, std::move(flags), std::move(labels));
}

}  // namespace tributary
