// SPDX-License-Identifier: BSD-3-Clause
#include "Periodic/WholeLattice.h"

#include <vtkDataArray.h>
#include <vtkImageData.h>
#include <vtkRectilinearGrid.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "Common/GridParts.h"

#include "Tributary/Base/Index.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"

namespace tributary {
namespace {

constexpr double Infinity = std::numeric_limits<double>::infinity();

/// Collective. Whether the leaves of all ranks, of which there is at least one, are parts of one
/// grid along the axes.
bool areOneGrid(Transport& transport, Span<const Leaf> leaves) {
  std::vector<std::int64_t> facts{1, 0};  // all along the axes, minus their number
  collectively(transport, [&] {
    for (const Leaf& leaf : leaves)
      if (!leaf.dataSet || !isAlongAxes(leaf.dataSet)) facts[0] = 0;
  });
  facts[1] = leaves.empty() ? 0 : -1;
  facts = allreduce(transport, ReduceOp::Min, facts);
  if (facts[0] == 0 || facts[1] == 0) return false;
  const std::vector<int> numbers = numberGrids(transport, leaves);
  constexpr std::int64_t Most = std::numeric_limits<std::int64_t>::max();
  std::vector<std::int64_t> range{Most, Most};  // the lowest number, minus the highest
  for (const int number : numbers) {
    range[0] = std::min<std::int64_t>(range[0], number);
    range[1] = std::min<std::int64_t>(range[1], -number);
  }
  range = allreduce(transport, ReduceOp::Min, range);
  return range[0] >= 0 && range[0] == -range[1];
}

}  // namespace

std::vector<double> coordinatesAlong(vtkDataSet* dataSet, std::size_t axis) {
  std::vector<double> coordinates;
  if (auto* image = vtkImageData::SafeDownCast(dataSet)) {
    const int* const extent = image->GetExtent();
    const double origin = image->GetOrigin()[axis], spacing = image->GetSpacing()[axis];
    for (std::int64_t i = extent[2 * axis]; i <= extent[2 * axis + 1]; ++i)
      coordinates.push_back(origin + static_cast<double>(i) * spacing);
  } else if (auto* grid = vtkRectilinearGrid::SafeDownCast(dataSet)) {
    vtkDataArray* const axes[3] = {grid->GetXCoordinates(), grid->GetYCoordinates(),
                                   grid->GetZCoordinates()};
    for (vtkIdType i = 0; i < axes[axis]->GetNumberOfTuples(); ++i)
      coordinates.push_back(axes[axis]->GetComponent(i, 0));
  }
  return coordinates;
}

std::optional<WholeLattice> findWholeLattice(Transport& transport, Span<const Leaf> leaves) {
  if (!areOneGrid(transport, leaves)) return std::nullopt;
  WholeLattice lattice;
  std::vector<std::array<int, 6>> mine(leaves.size());
  for (std::size_t n = 0; n < leaves.size(); ++n) extentOf(leaves[n].dataSet, mine[n].data());
  std::vector<std::int64_t> counts;
  lattice.pieces = allgatherv(transport, mine, &counts);

  // By axis: minus the first coordinate, the last one, minus the smallest width, the largest one,
  // the last one, and the coordinate beyond the last. Ranks without leaves know none.
  constexpr std::size_t PerAxis = 6;
  std::vector<double> most(3 * PerAxis, -Infinity);
  std::int64_t isUniform = 1;
  collectively(transport, [&] {
    for (int rank = 0; rank < transport.size(); ++rank) {
      if (rank == transport.rank()) lattice.first = lattice.ranks.size();
      lattice.ranks.insert(lattice.ranks.end(), index(counts[index(rank)]), rank);
    }
    lattice.extent = lattice.pieces.front();
    for (const auto& extent : lattice.pieces)
      for (std::size_t a = 0; a < 3; ++a) {
        lattice.extent[2 * a] = std::min(lattice.extent[2 * a], extent[2 * a]);
        lattice.extent[2 * a + 1] = std::max(lattice.extent[2 * a + 1], extent[2 * a + 1]);
      }
    for (std::size_t n = 0; n < leaves.size(); ++n) {
      auto* const image = vtkImageData::SafeDownCast(leaves[n].dataSet);
      if (!image) isUniform = 0;
      for (std::size_t a = 0; a < 3; ++a) {
        const std::vector<double> x = coordinatesAlong(leaves[n].dataSet, a);
        double* const facts = &most[PerAxis * a];
        facts[0] = std::max(facts[0], -x.front());
        facts[1] = std::max(facts[1], x.back());
        for (std::size_t i = 1; i < x.size(); ++i) {
          facts[2] = std::max(facts[2], x[i - 1] - x[i]);
          facts[3] = std::max(facts[3], x[i] - x[i - 1]);
        }
        if (x.size() > 1 && mine[n][2 * a + 1] == lattice.extent[2 * a + 1])
          facts[4] = std::max(facts[4], x.back() - x[x.size() - 2]);
        if (image)
          facts[5] = std::max(facts[5], image->GetOrigin()[a] + (lattice.extent[2 * a + 1] + 1.0) *
                                                                    image->GetSpacing()[a]);
      }
    }
  });
  most = allreduce(transport, ReduceOp::Max, most);
  lattice.isUniform = allreduce(transport, ReduceOp::Min, isUniform) != 0;
  for (std::size_t a = 0; a < 3; ++a) {
    const double* const facts = &most[PerAxis * a];
    LatticeAxis& axis = lattice.axes[a];
    axis.first = -facts[0];
    axis.last = facts[1];
    if (facts[3] > 0) {
      axis.smallest = -facts[2];
      axis.largest = facts[3];
      axis.lastWidth = facts[4];
      axis.next = facts[5];
    }
  }
  return lattice;
}

}  // namespace tributary
