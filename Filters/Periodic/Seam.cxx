// SPDX-License-Identifier: BSD-3-Clause
#include "Periodic/Seam.h"

#include <vtkBitArray.h>
#include <vtkCellData.h>
#include <vtkDataSetAttributes.h>
#include <vtkDoubleArray.h>
#include <vtkHyperTreeGrid.h>
#include <vtkImageData.h>
#include <vtkNew.h>
#include <vtkPartitionedDataSet.h>
#include <vtkPointData.h>
#include <vtkRectilinearGrid.h>
#include <vtkSetGet.h>
#include <vtkUnsignedCharArray.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "Common/FreshArray.h"
#include "Common/Leaves.h"
#include "Periodic/Columns.h"
#include "Periodic/WholeLattice.h"

#include "Tributary/Base/Error.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"

namespace tributary {
namespace {

/// The data sets of this rank with the velocity.
struct VelocityLeaves {
  std::vector<Leaf> leaves;
  std::vector<Leaf> without;  ///< Those without it.
  bool atPoints = true;
};

/// Collective. Those of the highest dimension of all ranks.
VelocityLeaves findLeaves(Transport& transport, vtkDataObject* input,
                          const VelocityArraysOf& velocityOf) {
  VelocityLeaves found;
  std::vector<int> dimensions;
  std::int64_t most = -1;
  collectively(transport, [&] {
    for (const Leaf& leaf : leavesOf(input)) {
      const VelocityArrays velocity = velocityOf(leaf.dataSet);
      if (velocity.arrays.empty()) {
        found.without.push_back(leaf);
        continue;
      }
      const int dimension = dimensionOf(leaf.dataSet);
      if (dimension < 0) continue;
      if (velocity.isAtCells) found.atPoints = false;
      found.leaves.push_back(leaf);
      dimensions.push_back(dimension);
      most = std::max<std::int64_t>(most, dimension);
    }
  });
  most = allreduce(transport, ReduceOp::Max, most);
  std::size_t kept = 0;
  for (std::size_t n = 0; n < found.leaves.size(); ++n)
    if (dimensions[n] == most) found.leaves[kept++] = found.leaves[n];
  found.leaves.resize(kept);
  return found;
}

vtkSmartPointer<vtkDoubleArray> coordinateArray(const std::vector<double>& values) {
  const auto array = freshArray<vtkDoubleArray>("", 1, static_cast<vtkIdType>(values.size()));
  std::copy(values.begin(), values.end(), array->GetPointer(0));
  return array;
}

vtkSmartPointer<vtkRectilinearGrid> rectilinearGrid(
    const std::array<int, 6>& extent, const std::array<std::vector<double>, 3>& coordinates) {
  const auto grid = vtkSmartPointer<vtkRectilinearGrid>::New();
  grid->SetExtent(const_cast<int*>(extent.data()));
  grid->SetXCoordinates(coordinateArray(coordinates[0]));
  grid->SetYCoordinates(coordinateArray(coordinates[1]));
  grid->SetZCoordinates(coordinateArray(coordinates[2]));
  return grid;
}

/// A uniform grid as a rectilinear one that shares its arrays.
vtkSmartPointer<vtkDataSet> asRectilinear(vtkDataSet* dataSet) {
  std::array<int, 6> extent{};
  extentOf(dataSet, extent.data());
  const auto grid = rectilinearGrid(
      extent,
      {coordinatesAlong(dataSet, 0), coordinatesAlong(dataSet, 1), coordinatesAlong(dataSet, 2)});
  grid->GetPointData()->ShallowCopy(dataSet->GetPointData());
  grid->GetCellData()->ShallowCopy(dataSet->GetCellData());
  return grid;
}

/// The point arrays that a gap continues: not ids, which would not be unique.
std::vector<vtkDataArray*> continuedArrays(vtkDataSet* dataSet) {
  vtkPointData* data = dataSet->GetPointData();
  std::vector<vtkDataArray*> arrays;
  for (int i = 0; i < data->GetNumberOfArrays(); ++i) {
    vtkDataArray* array = data->GetArray(i);
    if (!array || !array->GetName() || vtkBitArray::SafeDownCast(array) ||
        !isNumeric(array->GetDataType()) || array->GetNumberOfComponents() < 1 ||
        array->GetNumberOfTuples() != dataSet->GetNumberOfPoints() ||
        array == data->GetGlobalIds() || array == data->GetPedigreeIds() ||
        std::string(array->GetName()) == vtkDataSetAttributes::GhostArrayName())
      continue;
    arrays.push_back(array);
  }
  return arrays;
}

/// A gap between the last column and the image of the first one, beside one leaf.
class Gap {
 public:
  /// @param before  of at least two columns: a part of a grid is only flat along an axis if the
  ///                grid is, which findPeriodicAxes() refuses
  /// @param at  the index of the last column
  Gap(vtkDataSet* before, const FirstColumn& first, std::size_t axis, int at)
      : before_(before), first_(first), axis_(axis), at_(at) {
    extentOf(before, extent_.data());
    gapExtent_ = extent_;
    gapExtent_[2 * axis] = at;
    gapExtent_[2 * axis + 1] = at + 1;
  }

  /// Local. The data set.
  /// @param image  the coordinate of the first column's image
  [[nodiscard]] vtkSmartPointer<vtkDataSet> make(double image) const {
    vtkSmartPointer<vtkDataSet> gap;
    if (auto* uniform = vtkImageData::SafeDownCast(before_)) {
      const auto grid = vtkSmartPointer<vtkImageData>::New();
      grid->SetOrigin(uniform->GetOrigin());
      grid->SetSpacing(uniform->GetSpacing());
      grid->SetExtent(const_cast<int*>(gapExtent_.data()));
      gap = grid;
    } else {
      std::array<std::vector<double>, 3> coordinates;
      for (std::size_t a = 0; a < 3; ++a) coordinates[a] = coordinatesAlong(before_, a);
      coordinates[axis_] = {coordinates[axis_].back(), image};
      gap = rectilinearGrid(gapExtent_, coordinates);
    }
    addArrays(gap->GetPointData());
    addPointFlags(gap->GetPointData());
    addCellFlags(gap->GetCellData());
    return gap;
  }

 private:
  void addArrays(vtkPointData* data) const {
    const ColumnPlaces from(extent_, axis_), to(gapExtent_, axis_);
    for (vtkDataArray* array : continuedArrays(before_)) {
      vtkDataArray* const other = first_.find(array->GetName());
      const int components = array->GetNumberOfComponents();
      const bool isSame = !other || other->GetDataType() == array->GetDataType();
      if (other && other->GetNumberOfComponents() != components) continue;
      const auto values = freshArrayOf(isSame ? array->GetDataType() : VTK_DOUBLE, array->GetName(),
                                       components, 2 * to.points());
      const bool isReal = values->GetDataType() == VTK_FLOAT || values->GetDataType() == VTK_DOUBLE;
      if (array->HasAComponentName())
        for (int c = 0; c < components; ++c)
          values->SetComponentName(c, array->GetComponentName(c));
      for (std::int64_t p = 0; p < to.points(); ++p) {
        copyTuple(array, from.pointOf(p, at_), values, to.pointOf(p, at_));
        const vtkIdType there = to.pointOf(p, at_ + 1);
        if (other && first_.isKnown[index(p)] != 0)
          copyTuple(other, p, values, there);
        else
          for (int c = 0; c < components; ++c)
            values->SetComponent(there, c, isReal ? std::numeric_limits<double>::quiet_NaN() : 0);
      }
      data->AddArray(values);
    }
    for (const int type : {vtkDataSetAttributes::SCALARS, vtkDataSetAttributes::VECTORS}) {
      vtkDataArray* const active = before_->GetPointData()->GetAttribute(type);
      if (active && active->GetName() && data->GetArray(active->GetName()))
        data->SetActiveAttribute(active->GetName(), type);
    }
  }

  void addPointFlags(vtkPointData* data) const {
    const ColumnPlaces from(extent_, axis_), to(gapExtent_, axis_);
    vtkUnsignedCharArray* const flags = pointGhosts(before_);
    const auto hidden = freshArray<vtkUnsignedCharArray>(vtkDataSetAttributes::GhostArrayName(), 1,
                                                         2 * to.points());
    bool isAny = false;
    for (std::int64_t p = 0; p < to.points(); ++p) {
      const bool here =
          flags && (flags->GetValue(from.pointOf(p, at_)) & vtkDataSetAttributes::HIDDENPOINT) != 0;
      const bool there = first_.isHidden[index(p)] != 0;
      hidden->SetValue(to.pointOf(p, at_), here ? vtkDataSetAttributes::HIDDENPOINT : 0);
      hidden->SetValue(to.pointOf(p, at_ + 1), there ? vtkDataSetAttributes::HIDDENPOINT : 0);
      isAny = isAny || here || there;
    }
    if (isAny) data->AddArray(hidden);
  }

  void addCellFlags(vtkCellData* data) const {
    const ColumnPlaces from(extent_, axis_), to(gapExtent_, axis_);
    vtkUnsignedCharArray* const flags = cellGhosts(before_);
    const std::vector<std::uint8_t> hidden = hiddenCellsOf(before_);
    const auto ghosts =
        freshArray<vtkUnsignedCharArray>(vtkDataSetAttributes::GhostArrayName(), 1, to.cells());
    for (std::int64_t c = 0; c < to.cells(); ++c) {
      const vtkIdType cell = from.cellOf(c, at_ - 1);
      int flag = flags ? flags->GetValue(cell) & vtkDataSetAttributes::DUPLICATECELL : 0;
      const bool isHole =
          !hidden.empty() && hidden[index(cell)] != 0 && first_.hasCell[index(c)] == 0;
      if (isHole) flag |= vtkDataSetAttributes::HIDDENCELL;
      ghosts->SetValue(c, static_cast<unsigned char>(flag));
    }
    // Also where a corner in the first column is missing.
    for (std::int64_t p = 0; p < to.points(); ++p) {
      if (first_.isKnown[index(p)] != 0) continue;
      to.forEachCellAt(p, [&](std::int64_t c) {
        ghosts->SetValue(
            c, static_cast<unsigned char>(ghosts->GetValue(c) | vtkDataSetAttributes::HIDDENCELL));
      });
    }
    for (vtkIdType c = 0; c < ghosts->GetNumberOfValues(); ++c)
      if (ghosts->GetValue(c) != 0) {
        data->AddArray(ghosts);
        return;
      }
  }

  vtkDataSet* before_;
  const FirstColumn& first_;
  std::size_t axis_;
  int at_;
  std::array<int, 6> extent_{}, gapExtent_{};
};

/// Collective. Adds the data sets of the gap along an axis to those of this rank.
/// @return their memory in bytes
std::size_t addGaps(Transport& transport, const PeriodicAxis& axis, std::size_t number,
                    std::vector<vtkSmartPointer<vtkDataSet>>& dataSets) {
  std::vector<Leaf> leaves;
  // The group is that of the pieces of one partitioned data set.
  for (const auto& dataSet : dataSets) leaves.push_back({dataSet, "/", {}, -1, nullptr});
  const std::optional<WholeLattice> lattice = findWholeLattice(transport, leaves);
  if (!lattice) refuseMessage("a gap along a periodic axis that is not a part of the grid");
  const int last = lattice->extent[2 * number + 1];
  if (last == std::numeric_limits<int>::max())
    throw Error("the extent of the input ends at the largest index; begin it at 0");
  const std::vector<FirstColumn> first =
      sendFirstColumn(transport, *lattice, leaves, number, continuedArrays);
  std::size_t memory = 0;
  collectively(transport, [&] {
    const std::size_t count = dataSets.size();
    for (std::size_t n = 0; n < count; ++n) {
      if (!isLast(*lattice, lattice->pieces[lattice->first + n], number)) continue;
      const vtkSmartPointer<vtkDataSet> gap =
          Gap(dataSets[n], first[n], number, last)
              .make(axis.decreases ? axis.origin : axis.origin + axis.period);
      memory += static_cast<std::size_t>(gap->GetActualMemorySize()) << 10;
      dataSets.push_back(gap);
    }
  });
  return memory;
}

}  // namespace

ClosedData closePeriodicAxes(Transport& transport, vtkDataObject* input,
                             const PeriodicSettings& settings, const VelocityArraysOf& velocityOf) {
  ClosedData data;
  data.input = input;
  if (!settings.any()) return data;
  const VelocityLeaves found = findLeaves(transport, input, velocityOf);
  data.axes = findPeriodicAxes(transport, found.leaves, settings, [&](vtkDataSet* dataSet) {
    return found.atPoints ? velocityOf(dataSet).arrays : std::vector<vtkDataArray*>();
  });
  const auto hasGap = [](const PeriodicAxis& axis) { return axis.hasGap(); };
  if (std::none_of(data.axes.begin(), data.axes.end(), hasGap)) return data;

  const bool isEven = std::all_of(data.axes.begin(), data.axes.end(), [](const PeriodicAxis& axis) {
    return !axis.hasGap() || axis.isEven;
  });
  std::vector<vtkSmartPointer<vtkDataSet>> dataSets;
  collectively(transport, [&] {
    for (const Leaf& leaf : found.leaves)
      dataSets.push_back(isEven ? vtkSmartPointer<vtkDataSet>(leaf.dataSet)
                                : asRectilinear(leaf.dataSet));
  });
  for (std::size_t a = 0; a < 3; ++a)
    if (data.axes[a].hasGap()) data.memory += addGaps(transport, data.axes[a], a, dataSets);
  collectively(transport, [&] {
    vtkNew<vtkPartitionedDataSet> closed;
    for (std::size_t n = 0; n < dataSets.size(); ++n)
      closed->SetPartition(static_cast<unsigned>(n), dataSets[n]);
    const auto add = [&](const Leaf& leaf) {
      closed->SetPartition(closed->GetNumberOfPartitions(), leaf.object());
    };
    // The filter tells whether vectors are missing at one of two steps, and that it ignores trees.
    for (const Leaf& leaf : found.without) add(leaf);
    for (const Leaf& leaf : leavesAndTreesOf(input))
      if (leaf.trees) add(leaf);
    data.closed = closed;
  });
  return data;
}

}  // namespace tributary
