// SPDX-License-Identifier: BSD-3-Clause
#include "Common/CellLists.h"

#include <vtkCellArray.h>
#include <vtkCellArrayIterator.h>
#include <vtkCellType.h>
#include <vtkDataSetAttributes.h>
#include <vtkDoubleArray.h>
#include <vtkFloatArray.h>
#include <vtkIdList.h>
#include <vtkNew.h>
#include <vtkPointSet.h>
#include <vtkPoints.h>
#include <vtkPolyData.h>
#include <vtkSmartPointer.h>
#include <vtkUnsignedCharArray.h>
#include <vtkUnstructuredGrid.h>
#include <vtkVariant.h>

#include <algorithm>
#include <array>
#include <string>

#include "Common/Leaves.h"

#include "Common/FreshArray.h"

#include "Tributary/Base/Error.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Base/StructuredCells.h"

namespace tributary {
namespace {

/// 64-bit connectivity: a view, or a copy if VTK stores 32 bits.
void viewCells(vtkCellArray* cells, CellLists& lists) {
  const auto view = [](vtkDataArray* array,
                       std::vector<std::int64_t>& own) -> Span<const std::int64_t> {
    const std::size_t count = index(array->GetNumberOfValues());
    if (array->GetDataTypeSize() == sizeof(std::int64_t))
      return {static_cast<const std::int64_t*>(array->GetVoidPointer(0)), count};
    const auto* narrow = static_cast<const std::int32_t*>(array->GetVoidPointer(0));
    own.assign(narrow, narrow + count);
    return own;
  };
  lists.offsets = view(cells->GetOffsetsArray(), lists.ownOffsets);
  lists.connectivity = view(cells->GetConnectivityArray(), lists.ownConnectivity);
}

/// Adds cells one by one.
class CellWriter {
 public:
  explicit CellWriter(CellLists& lists) : lists_(lists) { lists.ownOffsets.assign(1, 0); }
  ~CellWriter() {
    lists_.types = lists_.ownTypes;
    lists_.offsets = lists_.ownOffsets;
    lists_.connectivity = lists_.ownConnectivity;
  }

  void add(int type, vtkIdType count, const vtkIdType* points) {
    lists_.ownTypes.push_back(static_cast<std::uint8_t>(type));
    lists_.ownConnectivity.insert(lists_.ownConnectivity.end(), points, points + count);
    lists_.ownOffsets.push_back(static_cast<std::int64_t>(lists_.ownConnectivity.size()));
  }

 private:
  CellLists& lists_;
};

/// The hexahedra (quadrilaterals where an axis is flat, lines where two are) of an extent, in VTK's
/// order.
void structuredCells(const int extent[6], CellLists& lists) {
  CellWriter list(lists);
  const StructuredCells grid(pointsAlong(extent));
  constexpr std::array<int, 4> Types = {VTK_VERTEX, VTK_LINE, VTK_QUAD, VTK_HEXAHEDRON};
  std::array<vtkIdType, 8> ids;
  for (std::int64_t cell = 0; cell < grid.cellCount(); ++cell) {
    const CellPointIds points = grid.pointsOf(cell);
    for (std::int64_t i = 0; i < points.count; ++i) ids[index(i)] = points[i];
    list.add(Types[index(grid.dimension())], points.count, ids.data());
  }
}

/// The cells of poly data in the order of their cell data.
void polyCells(vtkPolyData* poly, CellLists& lists) {
  CellWriter list(lists);
  const auto add = [&](vtkCellArray* cells, auto&& typeOf) {
    if (!cells) return;
    const auto iterator = vtk::TakeSmartPointer(cells->NewIterator());
    for (vtkIdType c = 0; c < cells->GetNumberOfCells(); ++c) {
      vtkIdType count = 0;
      const vtkIdType* points = nullptr;
      iterator->GetCellAtId(c, count, points);
      list.add(typeOf(count), count, points);
    }
  };
  add(poly->GetVerts(), [](vtkIdType n) { return n == 1 ? VTK_VERTEX : VTK_POLY_VERTEX; });
  add(poly->GetLines(), [](vtkIdType n) { return n == 2 ? VTK_LINE : VTK_POLY_LINE; });
  add(poly->GetPolys(), [](vtkIdType n) {
    return n == 3 ? VTK_TRIANGLE : n == 4 ? VTK_QUAD : VTK_POLYGON;
  });
  add(poly->GetStrips(), [](vtkIdType) { return VTK_TRIANGLE_STRIP; });
}

/// The cells of any other data set.
void genericCells(vtkDataSet* dataSet, CellLists& lists) {
  CellWriter list(lists);
  vtkNew<vtkIdList> ids;
  for (vtkIdType c = 0; c < dataSet->GetNumberOfCells(); ++c) {
    dataSet->GetCellPoints(c, ids);
    list.add(dataSet->GetCellType(c), ids->GetNumberOfIds(), ids->GetPointer(0));
  }
}

}  // namespace

CellLists cellListsOf(vtkDataSet* dataSet) {
  CellLists lists;
  int extent[6];
  if (auto* grid = vtkUnstructuredGrid::SafeDownCast(dataSet)) {
    if (grid->GetNumberOfCells() < 1) {
      CellWriter none(lists);
      return lists;
    }
    vtkUnsignedCharArray* types = grid->GetCellTypesArray();
    lists.types = {types->GetPointer(0), index(types->GetNumberOfValues())};
    viewCells(grid->GetCells(), lists);
  } else if (extentOf(dataSet, extent)) {
    structuredCells(extent, lists);
  } else if (auto* poly = vtkPolyData::SafeDownCast(dataSet)) {
    polyCells(poly, lists);
  } else {
    genericCells(dataSet, lists);
  }
  return lists;
}

void refer(CellLists& lists, vtkDataSet* dataSet) {
  if (!lists.ownTypes.empty()) return;
  lists = CellLists();  // frees own memory before it is allocated again
  lists = cellListsOf(dataSet);
}

vtkSmartPointer<vtkDataArray> coordinatesOf(vtkDataSet* dataSet) {
  auto* pointSet = vtkPointSet::SafeDownCast(dataSet);
  if (pointSet && pointSet->GetPoints()) return contiguous(pointSet->GetPoints()->GetData());
  auto points = freshArray<vtkDoubleArray>("", 3, dataSet->GetNumberOfPoints());
  for (vtkIdType i = 0; i < dataSet->GetNumberOfPoints(); ++i)
    dataSet->GetPoint(i, points->GetPointer(3 * i));
  return points;
}

PointCoordinates::PointCoordinates(vtkDataSet* dataSet) : copy_(coordinatesOf(dataSet)) {
  view_ = Coordinates(copy_);
  auto* pointSet = vtkPointSet::SafeDownCast(dataSet);
  if (pointSet && pointSet->GetPoints() && pointSet->GetPoints()->GetData() == copy_)
    copy_ = nullptr;
}

std::size_t PointCoordinates::memory() const {
  return copy_ ? index(copy_->GetNumberOfValues()) * index(copy_->GetDataTypeSize()) : 0;
}

vtkSmartPointer<vtkDataArray> contiguous(vtkDataArray* array) {
  if (vtkFloatArray::FastDownCast(array) || vtkDoubleArray::FastDownCast(array)) return array;
  vtkSmartPointer<vtkDataArray> copy;
  if (array->GetDataType() == VTK_FLOAT)
    copy = vtkSmartPointer<vtkFloatArray>::New();
  else
    copy = vtkSmartPointer<vtkDoubleArray>::New();
  copyArray(array, copy);
  return copy;
}

vtkSmartPointer<vtkDataArray> plain(vtkDataArray* array) {
  if (array->GetDataType() == VTK_BIT) {  // packed, although its layout is reported as standard
    auto bytes = freshArray<vtkUnsignedCharArray>(array->GetName(), array->GetNumberOfComponents(),
                                                  array->GetNumberOfTuples());
    for (vtkIdType i = 0; i < array->GetNumberOfTuples(); ++i)
      for (int c = 0; c < array->GetNumberOfComponents(); ++c)
        bytes->SetComponent(i, c, array->GetComponent(i, c));
    return bytes;
  }
  if (array->HasStandardMemoryLayout()) return array;
  auto copy = vtkSmartPointer<vtkDoubleArray>::New();
  copyArray(array, copy);
  return copy;
}

std::vector<std::int64_t> exactIds(vtkDataArray* ids) {
  if (ids->GetDataType() == VTK_BIT) return exactIds(plain(ids));
  std::vector<std::int64_t> copy(index(ids->GetNumberOfTuples()));
  if (ids->HasStandardMemoryLayout() && ids->GetNumberOfComponents() == 1) {
    switch (ids->GetDataType()) {
      vtkTemplateMacro(
          std::transform(static_cast<const VTK_TT*>(ids->GetVoidPointer(0)),
                         static_cast<const VTK_TT*>(ids->GetVoidPointer(0)) + copy.size(),
                         copy.begin(), [](VTK_TT id) { return static_cast<std::int64_t>(id); }));
      default:
        throw Error(std::string("the array \"") + (ids->GetName() ? ids->GetName() : "") +
                    "\" has no integer type; select an array of integers");
    }
    return copy;
  }
  for (std::size_t i = 0; i < copy.size(); ++i)
    copy[i] = ids->GetVariantValue(static_cast<vtkIdType>(i)).ToLongLong();
  return copy;
}

Span<const std::uint8_t> cellFlagsOf(vtkDataSet* dataSet, Span<const std::uint8_t> covered,
                                     std::vector<std::uint8_t>& copy) {
  vtkUnsignedCharArray* cells = cellGhosts(dataSet);
  vtkUnsignedCharArray* points = pointGhosts(dataSet);
  const auto any = [](vtkUnsignedCharArray* array, unsigned char flag) {
    if (!array) return false;
    const unsigned char* first = array->GetPointer(0);
    return std::any_of(first, first + array->GetNumberOfValues(),
                       [&](unsigned char value) { return (value & flag) != 0; });
  };
  const bool refined = any(cells, vtkDataSetAttributes::REFINEDCELL);
  const bool hiddenPoints = any(points, vtkDataSetAttributes::HIDDENPOINT);
  const std::size_t count = index(dataSet->GetNumberOfCells());
  const Span<const std::uint8_t> stored =
      cells ? Span<const std::uint8_t>(cells->GetPointer(0), count) : Span<const std::uint8_t>();
  if (!refined && !hiddenPoints && covered.empty()) return stored;
  std::vector<std::uint8_t>& flags = copy;
  flags.assign(count, 0);
  vtkNew<vtkIdList> ids;
  for (std::size_t c = 0; c < count; ++c) {
    if (cells) flags[c] = stored[c];
    if ((flags[c] & vtkDataSetAttributes::REFINEDCELL) || (!covered.empty() && covered[c]))
      flags[c] |= vtkDataSetAttributes::HIDDENCELL;
    if (!hiddenPoints) continue;
    dataSet->GetCellPoints(static_cast<vtkIdType>(c), ids);
    for (vtkIdType j = 0; j < ids->GetNumberOfIds(); ++j)
      if (points->GetValue(ids->GetId(j)) & vtkDataSetAttributes::HIDDENPOINT)
        flags[c] |= vtkDataSetAttributes::HIDDENCELL;
  }
  return flags;
}

}  // namespace tributary
