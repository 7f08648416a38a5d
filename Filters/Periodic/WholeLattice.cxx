// SPDX-License-Identifier: BSD-3-Clause
#include "Periodic/WholeLattice.h"

#include <vtkDataArray.h>
#include <vtkImageData.h>
#include <vtkMatrix3x3.h>
#include <vtkRectilinearGrid.h>

#include <algorithm>
#include <cmath>
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

/// Collective. Whether the coordinates along each axis decrease, if the leaves of all ranks are
/// parts of one grid along the axes; otherwise none.
std::optional<std::array<bool, 3>> directionsOfGrid(Transport& transport, Span<const Leaf> leaves) {
  // By axis whether coordinates may increase, and decrease; minus the number of leaves.
  std::vector<std::int64_t> facts{1, 1, 1, 1, 1, 1, 0};
  collectively(transport, [&] {
    for (const Leaf& leaf : leaves) {
      const auto directions = directionsOf(leaf.dataSet);
      for (std::size_t a = 0; a < 3; ++a) {
        if (!directions[a].increases) facts[2 * a] = 0;
        if (!directions[a].decreases) facts[2 * a + 1] = 0;
      }
    }
  });
  facts[6] = leaves.empty() ? 0 : -1;
  facts = allreduce(transport, ReduceOp::Min, facts);
  if (facts[6] == 0) return std::nullopt;
  std::array<bool, 3> decreases{};
  for (std::size_t a = 0; a < 3; ++a) {
    if (facts[2 * a] == 0 && facts[2 * a + 1] == 0) return std::nullopt;
    decreases[a] = facts[2 * a] == 0;
  }
  const std::vector<int> numbers = numberGrids(transport, leaves);
  constexpr std::int64_t Most = std::numeric_limits<std::int64_t>::max();
  std::vector<std::int64_t> range{Most, Most};  // the lowest number, minus the highest
  for (const int number : numbers) {
    range[0] = std::min<std::int64_t>(range[0], number);
    range[1] = std::min<std::int64_t>(range[1], -number);
  }
  range = allreduce(transport, ReduceOp::Min, range);
  if (range[0] < 0 || range[0] != -range[1]) return std::nullopt;
  return decreases;
}

}  // namespace

std::array<AxisDirection, 3> directionsOf(vtkDataSet* dataSet) {
  std::array<AxisDirection, 3> directions;
  auto* const image = vtkImageData::SafeDownCast(dataSet);
  const bool isGrid = image ? image->GetDirectionMatrix()->IsIdentity() != 0
                            : vtkRectilinearGrid::SafeDownCast(dataSet) != nullptr;
  if (!isGrid) {
    directions.fill({false, false});
    return directions;
  }
  for (std::size_t a = 0; a < 3; ++a) {
    const std::vector<double> x = coordinatesAlong(dataSet, a);
    for (std::size_t i = 1; i < x.size(); ++i) {
      // Beside a large origin, the coordinates of an image may be equal.
      const double step = image ? image->GetSpacing()[a] : x[i] - x[i - 1];
      directions[a].increases = directions[a].increases && step > 0;
      directions[a].decreases = directions[a].decreases && step < 0;
    }
  }
  return directions;
}

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
  const std::optional<std::array<bool, 3>> decreases = directionsOfGrid(transport, leaves);
  if (!decreases) return std::nullopt;
  WholeLattice lattice;
  std::vector<std::array<int, 6>> mine(leaves.size());
  for (std::size_t n = 0; n < leaves.size(); ++n) extentOf(leaves[n].dataSet, mine[n].data());
  std::vector<std::int64_t> counts;
  lattice.pieces = allgatherv(transport, mine, &counts);

  // By axis: minus the smallest width, the largest one, the last one, and the coordinate beyond the
  // last. Ranks without leaves know none.
  constexpr std::size_t PerAxis = 4;
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
        for (std::size_t i = 1; i < x.size(); ++i) {
          const double width = std::fabs(x[i] - x[i - 1]);
          facts[0] = std::max(facts[0], -width);
          facts[1] = std::max(facts[1], width);
          if (i + 1 == x.size() && mine[n][2 * a + 1] == lattice.extent[2 * a + 1])
            facts[2] = std::max(facts[2], width);
        }
        if (image)
          facts[3] = std::max(facts[3], image->GetOrigin()[a] + (lattice.extent[2 * a + 1] + 1.0) *
                                                                    image->GetSpacing()[a]);
      }
    }
  });
  most = allreduce(transport, ReduceOp::Max, most);
  lattice.isUniform = allreduce(transport, ReduceOp::Min, isUniform) != 0;
  for (std::size_t a = 0; a < 3; ++a) {
    const double* const facts = &most[PerAxis * a];
    LatticeAxis& axis = lattice.axes[a];
    axis.decreases = (*decreases)[a];
    if (facts[1] > 0) {
      axis.smallest = -facts[0];
      axis.largest = facts[1];
      axis.lastWidth = facts[2];
      axis.next = facts[3];
    }
  }
  return lattice;
}

}  // namespace tributary
