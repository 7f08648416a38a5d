// SPDX-License-Identifier: BSD-3-Clause
#include "Common/Refinement.h"

#include <vtkDataSetAttributes.h>
#include <vtkImageData.h>
#include <vtkUnsignedCharArray.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

#include "Tributary/Base/Box.h"
#include "Tributary/Base/Bytes.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"

namespace tributary {
namespace {

/// The position of a data set of a hierarchy, without its ghost cells.
struct Patch {
  std::string hierarchy;
  int level = 0;
  Box box;
};

vtkImageData* gridOf(const Leaf& leaf) {
  return leaf.level < 0 ? nullptr : vtkImageData::SafeDownCast(leaf.dataSet);
}

/// The bounding box of the cells that are not ghost cells; empty if all are.
Box ownBox(vtkImageData* grid) {
  const int* extent = grid->GetExtent();
  std::array<int, 6> own;
  std::copy_n(extent, 6, own.begin());
  if (vtkUnsignedCharArray* ghosts = grid->GetCellGhostArray()) {
    std::array<int, 3> cells;
    for (std::size_t a = 0; a < 3; ++a) {
      cells[a] = std::max(extent[2 * a + 1] - extent[2 * a], 1);
      own[2 * a] = extent[2 * a + 1];
      own[2 * a + 1] = extent[2 * a];
    }
    const vtkIdType count = std::min(grid->GetNumberOfCells(), ghosts->GetNumberOfValues());
    for (vtkIdType c = 0; c < count; ++c) {
      if (ghosts->GetValue(c) & vtkDataSetAttributes::DUPLICATECELL) continue;
      vtkIdType rest = c;
      for (std::size_t a = 0; a < 3; ++a) {
        const int first = extent[2 * a] + static_cast<int>(rest % cells[a]);
        rest /= cells[a];
        own[2 * a] = std::min(own[2 * a], first);
        own[2 * a + 1] = std::max(own[2 * a + 1], std::min(first + 1, extent[2 * a + 1]));
      }
    }
  }
  const double* origin = grid->GetOrigin();
  const double* spacing = grid->GetSpacing();
  Box box;
  for (std::size_t a = 0; a < 3; ++a) {
    if (own[2 * a] > own[2 * a + 1]) return Box();
    box.lo[a] = origin[a] + own[2 * a] * spacing[a];
    box.hi[a] = origin[a] + own[2 * a + 1] * spacing[a];
  }
  return box;
}

/// Marks the cells of `grid` whose center is in the box.
void mark(vtkImageData* grid, const Box& box, std::vector<std::uint8_t>& marks) {
  const int* extent = grid->GetExtent();
  const double* origin = grid->GetOrigin();
  const double* spacing = grid->GetSpacing();
  std::array<int, 3> first, last, cells;  // cells of the box, relative to the extent
  for (std::size_t a = 0; a < 3; ++a) {
    cells[a] = std::max(extent[2 * a + 1] - extent[2 * a], 1);
    if (extent[2 * a] == extent[2 * a + 1]) {  // flat, like the finer levels
      first[a] = last[a] = 0;
      continue;
    }
    const double begin = origin[a] + (extent[2 * a] + 0.5) * spacing[a];
    const double from = std::max(0.0, std::ceil((box.lo[a] - begin) / spacing[a]));
    const double to = std::min(cells[a] - 1.0, std::floor((box.hi[a] - begin) / spacing[a]));
    if (!(from <= to)) return;
    first[a] = static_cast<int>(from);
    last[a] = static_cast<int>(to);
  }
  marks.resize(index(grid->GetNumberOfCells()), 0);
  for (std::int64_t k = first[2]; k <= last[2]; ++k)
    for (std::int64_t j = first[1]; j <= last[1]; ++j)
      for (std::int64_t i = first[0]; i <= last[0]; ++i)
        marks[index((k * cells[1] + j) * cells[0] + i)] = 1;
}

/// Collective. The patches of all ranks that may refine others. Notes errors.
std::vector<Patch> gatherPatches(Transport& transport, const std::vector<Leaf>& leaves,
                                 ErrorCollector& errors) {
  Bytes mine;
  errors.attempt([&] {
    Writer writer;
    for (const Leaf& leaf : leaves) {
      vtkImageData* grid = gridOf(leaf);
      if (!grid || leaf.level == 0) continue;  // level 0 refines no level
      const Box box = ownBox(grid);
      if (!box.empty()) writer.text(leaf.hierarchy).value(leaf.level).value(box);
    }
    mine = writer.take();
  });
  std::vector<Patch> patches;
  allgatherRead(transport, std::move(mine), errors, [&](Reader& reader, int) {
    Patch& patch = patches.emplace_back();
    patch.hierarchy = reader.text();
    patch.level = reader.value<int>();
    patch.box = reader.value<Box>();
  });
  return patches;
}

}  // namespace

std::vector<std::vector<std::uint8_t>> findRefinedCells(Transport& transport,
                                                        const std::vector<Leaf>& leaves) {
  ErrorCollector errors;
  const std::vector<Patch> patches = gatherPatches(transport, leaves, errors);
  std::vector<std::vector<std::uint8_t>> refined;
  errors.attempt([&] {
    refined.resize(leaves.size());
    for (std::size_t n = 0; n < leaves.size(); ++n) {
      vtkImageData* grid = gridOf(leaves[n]);
      if (!grid) continue;
      for (const Patch& patch : patches)
        if (patch.level > leaves[n].level && patch.hierarchy == leaves[n].hierarchy)
          mark(grid, patch.box, refined[n]);
    }
  });
  errors.agree(transport);
  return refined;
}

}  // namespace tributary
