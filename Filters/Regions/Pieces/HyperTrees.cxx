// SPDX-License-Identifier: BSD-3-Clause
#include "Regions/Pieces/HyperTrees.h"

#include <vtkBitArray.h>
#include <vtkCellData.h>
#include <vtkDataArray.h>
#include <vtkDataSetAttributes.h>
#include <vtkHyperTree.h>
#include <vtkHyperTreeGrid.h>
#include <vtkHyperTreeGridNonOrientedCursor.h>
#include <vtkNew.h>
#include <vtkUniformHyperTreeGrid.h>
#include <vtkUnsignedCharArray.h>

#include <algorithm>
#include <string>

#include "Common/Leaves.h"

#include "Tributary/Base/Error.h"
#include "Tributary/Base/Hash.h"

namespace tributary {
namespace {

/// Calls `visit(cursor)` at the root of each tree.
template <class Visit>
void forEachTree(vtkHyperTreeGrid* grid, Visit&& visit) {
  vtkHyperTreeGrid::vtkHyperTreeGridIterator iterator;
  grid->InitializeTreeIterator(iterator);
  vtkNew<vtkHyperTreeGridNonOrientedCursor> cursor;
  vtkIdType tree = 0;
  while (iterator.GetNextTree(tree)) {
    grid->InitializeNonOrientedCursor(cursor, tree);
    visit(cursor.Get(), tree);
  }
}

class LeafCollector {
 public:
  LeafCollector(vtkHyperTreeGrid* grid, const TreeLattice& lattice) : lattice_(lattice) {
    for (int level = 0; level <= lattice.depth; ++level) widths_.push_back(lattice.width(level));
    const vtkIdType count = Leaf{nullptr, {}, {}, -1, grid}.cells();
    const auto check = [&](vtkIdType values, const char* what) {
      if (values < count)
        throw Error("a hyper tree grid has " + std::to_string(values) + what +
                    std::to_string(count) + " cells; repair it where it is read or made");
    };
    if (grid->HasMask()) check(grid->GetMask()->GetNumberOfTuples(), " mask flags for ");
    vtkDataArray* flags = grid->GetCellData()->GetArray(vtkDataSetAttributes::GhostArrayName());
    flags_ = vtkUnsignedCharArray::SafeDownCast(flags);
    if (flags_) check(flags_->GetNumberOfValues(), " ghost flags for ");
  }

  void collect(vtkHyperTreeGridNonOrientedCursor* cursor, const TreeLeaves::Place& at, int level) {
    if (cursor->IsMasked()) return;
    const vtkIdType cell = cursor->GetGlobalNodeIndex();
    if (cursor->IsLeaf()) {
      const int flags = flags_ ? flags_->GetValue(cell) : 0;
      if ((flags & vtkDataSetAttributes::HIDDENCELL) != 0) return;
      found.leaves.push_back({at, level, (flags & vtkDataSetAttributes::DUPLICATECELL) != 0});
      found.cells.push_back(cell);
      return;
    }
    const std::int64_t width = widths_.at(static_cast<std::size_t>(level) + 1);
    const int children = cursor->GetNumberOfChildren();
    for (int child = 0; child < children; ++child) {
      TreeLeaves::Place place = at;
      int rest = child;
      for (std::size_t a = 0; a < 3; ++a) {
        if (lattice_.isFlat[a] != 0) continue;
        place[a] += rest % lattice_.factor * width;
        rest /= lattice_.factor;
      }
      cursor->ToChild(static_cast<unsigned char>(child));
      collect(cursor, place, level + 1);
      cursor->ToParent();
    }
  }

  HyperTreeLeaves found;

 private:
  TreeLattice lattice_;
  std::vector<std::int64_t> widths_;
  vtkUnsignedCharArray* flags_ = nullptr;
};

/// @return whether anything is left of a cell
bool maskCell(vtkHyperTreeGridNonOrientedCursor* cursor, const std::vector<vtkIdType>& kept,
              vtkBitArray* mask) {
  const vtkIdType cell = cursor->GetGlobalNodeIndex();
  bool isKept = false;
  if (cursor->IsLeaf()) {
    isKept = !cursor->IsMasked() && std::binary_search(kept.begin(), kept.end(), cell);
  } else if (!cursor->IsMasked()) {
    const int children = cursor->GetNumberOfChildren();
    for (int child = 0; child < children; ++child) {
      cursor->ToChild(static_cast<unsigned char>(child));
      isKept = maskCell(cursor, kept, mask) || isKept;
      cursor->ToParent();
    }
  }
  if (isKept) mask->SetValue(cell, 0);
  return isKept;
}

}  // namespace

TreeLattice latticeOf(vtkHyperTreeGrid* grid) {
  TreeLattice lattice;
  const unsigned int* points = grid->GetDimensions();
  for (std::size_t a = 0; a < 3; ++a) {
    lattice.isFlat[a] = points[a] < 2 ? 1 : 0;
    lattice.roots[a] = std::max<std::int64_t>(std::int64_t(points[a]) - 1, 1);
  }
  lattice.factor = static_cast<std::int32_t>(grid->GetBranchFactor());
  const unsigned int levels = std::max(grid->GetNumberOfLevels(), 1u);
  lattice.depth = static_cast<std::int32_t>(std::min(levels - 1, grid->GetDepthLimiter()));
  return lattice;
}

std::array<std::vector<double>, 3> rootCoordinates(vtkHyperTreeGrid* grid) {
  std::array<std::vector<double>, 3> axes;
  const unsigned int* points = grid->GetDimensions();
  auto* uniform = vtkUniformHyperTreeGrid::SafeDownCast(grid);
  for (std::size_t a = 0; a < 3; ++a) {
    const std::size_t count = std::max(points[a], 1u);
    vtkDataArray* array = nullptr;
    if (!uniform)
      array = a == 0   ? grid->GetXCoordinates()
              : a == 1 ? grid->GetYCoordinates()
                       : grid->GetZCoordinates();
    const auto given = array ? static_cast<std::size_t>(array->GetNumberOfTuples()) : 0;
    if (!uniform && given < count)
      throw Error("a hyper tree grid of " + std::to_string(count) + " planes along an axis has " +
                  std::to_string(given) + " coordinates there; repair it where it is read or made");
    for (std::size_t i = 0; i < count; ++i)
      axes[a].push_back(uniform ? uniform->GetOrigin()[a] +
                                      static_cast<double>(i) * uniform->GetGridScale()[a]
                                : array->GetComponent(static_cast<vtkIdType>(i), 0));
  }
  return axes;
}

std::uint64_t hashOfRoots(vtkHyperTreeGrid* grid) {
  const TreeLattice lattice = latticeOf(grid);
  auto hash = static_cast<std::uint64_t>(lattice.factor);
  for (std::size_t a = 0; a < 3; ++a)
    hash = scramble(hash ^ static_cast<std::uint64_t>(2 * lattice.roots[a] + lattice.isFlat[a]));
  for (const std::vector<double>& axis : rootCoordinates(grid)) {
    for (const double coordinate : axis) hash = scramble(hash ^ coordinateBits(coordinate));
  }
  return hash;
}

HyperTreeLeaves hyperTreeLeaves(vtkHyperTreeGrid* grid, const TreeLattice& lattice) {
  LeafCollector collector(grid, lattice);
  forEachTree(grid, [&](vtkHyperTreeGridNonOrientedCursor* cursor, vtkIdType tree) {
    std::array<unsigned int, 3> root;
    grid->GetLevelZeroCoordinatesFromIndex(tree, root[0], root[1], root[2]);
    TreeLeaves::Place at{};
    for (std::size_t a = 0; a < 3; ++a)
      if (lattice.isFlat[a] == 0) at[a] = root[a] * lattice.width(0);
    collector.collect(cursor, at, 0);
  });
  return std::move(collector.found);
}

vtkSmartPointer<vtkHyperTreeGrid> maskOthers(vtkHyperTreeGrid* grid,
                                             const std::vector<vtkIdType>& cells) {
  vtkNew<vtkBitArray> mask;
  mask->SetNumberOfTuples(Leaf{nullptr, {}, {}, -1, grid}.cells());
  for (vtkIdType c = 0; c < mask->GetNumberOfTuples(); ++c) mask->SetValue(c, 1);
  forEachTree(grid, [&](vtkHyperTreeGridNonOrientedCursor* cursor, vtkIdType) {
    maskCell(cursor, cells, mask);
  });
  auto output = vtkSmartPointer<vtkHyperTreeGrid>::Take(grid->NewInstance());
  output->ShallowCopy(grid);
  output->SetMask(mask);
  return output;
}

}  // namespace tributary
