// SPDX-License-Identifier: BSD-3-Clause
#include "Lines/Crossings/SurfaceFromVTK.h"

#include <vtkCellArray.h>
#include <vtkCellData.h>
#include <vtkCompositeDataSet.h>
#include <vtkDataArray.h>
#include <vtkDataSet.h>
#include <vtkIdList.h>
#include <vtkMultiBlockDataSet.h>
#include <vtkNew.h>
#include <vtkPartitionedDataSet.h>
#include <vtkPartitionedDataSetCollection.h>
#include <vtkPoints.h>
#include <vtkPolyData.h>
#include <vtkPolygon.h>
#include <vtkUnsignedCharArray.h>
#include <vtkVariant.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "Common/FreshArray.h"
#include "Common/Leaves.h"
#include "Common/Require.h"

#include "Tributary/Base/Error.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Base/NumberText.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"

namespace tributary {
namespace {

/// The name of the input on the panel.
constexpr const char* Surfaces = "Event Surfaces";

/// Calls visit(object, number) for each part of a surface.
/// @param last  the number of the last block
template <class Visit>
void forEachPart(vtkDataObject* object, std::int64_t number, std::int64_t& last, Visit&& visit) {
  if (!object) return;
  if (auto* pieces = vtkPartitionedDataSet::SafeDownCast(object)) {
    for (unsigned i = 0; i < pieces->GetNumberOfPartitions(); ++i)
      visit(pieces->GetPartitionAsDataObject(i), number);
  } else if (auto* blocks = vtkMultiBlockDataSet::SafeDownCast(object)) {
    for (unsigned i = 0; i < blocks->GetNumberOfBlocks(); ++i)
      forEachPart(blocks->GetBlock(i), ++last, last, visit);
  } else if (auto* sets = vtkPartitionedDataSetCollection::SafeDownCast(object)) {
    for (unsigned i = 0; i < sets->GetNumberOfPartitionedDataSets(); ++i)
      forEachPart(sets->GetPartitionedDataSet(i), ++last, last, visit);
  } else {
    visit(object, number);
  }
}

/// The surface cells of this rank.
class TriangleReader {
 public:
  /// @param labels  the name of the array of labels; empty for none
  explicit TriangleReader(std::string labels) : labelArray_(std::move(labels)) {}

  /// @param number  the label without an array
  void read(vtkDataObject* part, std::int64_t number) {
    auto* const mesh = vtkPolyData::SafeDownCast(part);
    auto* const dataSet = vtkDataSet::SafeDownCast(part);
    if (!mesh && part && (!dataSet || dataSet->GetNumberOfPoints() > 0))
      require(false, Surfaces, part->GetClassName(),
              "use poly data, for instance of Extract Surface");
    if (!mesh) return;
    mesh_ = mesh;
    number_ = number;
    const vtkIdType others = mesh->GetNumberOfVerts() + mesh->GetNumberOfLines();
    const vtkIdType polygons = mesh->GetNumberOfPolys(), strips = mesh->GetNumberOfStrips();
    otherCells += others;
    if (polygons + strips == 0) return;
    ghosts_ = cellGhosts(mesh);
    findLabels();
    for (vtkIdType c = 0; c < polygons; ++c) {
      if (!begin(mesh->GetPolys(), c, others + c)) continue;
      addPolygon();
    }
    for (vtkIdType c = 0; c < strips; ++c) {
      if (!begin(mesh->GetStrips(), c, others + polygons + c)) continue;
      for (vtkIdType i = 0; i + 2 < ids_->GetNumberOfIds(); ++i)
        add(i + i % 2, i + 1 - i % 2, i + 2);
    }
  }

  std::vector<SurfaceTriangle> triangles;
  std::int64_t otherCells = 0;  ///< Lines and vertices.

 private:
  void findLabels() {
    values_ = nullptr;
    if (labelArray_.empty()) return;
    values_ = mesh_->GetCellData()->GetArray(labelArray_.c_str());
    require(values_ && values_->GetNumberOfComponents() == 1 &&
                values_->GetNumberOfTuples() == mesh_->GetNumberOfCells(),
            "Surface Label Array", '"' + labelArray_ + '"',
            "choose an array with one number for each cell, which all blocks of ", Surfaces,
            " have, or no array");
  }

  std::int64_t labelOf(vtkIdType cell) const {
    if (!values_) return number_;
    if (values_->GetDataType() != VTK_FLOAT && values_->GetDataType() != VTK_DOUBLE)
      return values_->GetVariantValue(cell).ToLongLong();
    const double value = values_->GetTuple1(cell);
    require(std::fabs(value) < 9e15 && value == std::floor(value), "Surface Label Array",
            '"' + labelArray_ + "\" with the value " + numberText(value),
            "choose an array of whole numbers, or no array");
    return static_cast<std::int64_t>(value);
  }

  /// Reads the points of a cell. @param cell  its number in the mesh
  /// @return whether it is used
  bool begin(vtkCellArray* cells, vtkIdType place, vtkIdType cell) {
    if (ghosts_ && ghosts_->GetValue(cell) != 0) return false;
    cells->GetCellAtId(place, ids_);
    const vtkIdType count = ids_->GetNumberOfIds();
    if (count < 3) return false;
    label_ = labelOf(cell);
    points_.resize(3 * index(count));
    for (vtkIdType i = 0; i < count; ++i) {
      double* const x = &points_[3 * index(i)];
      mesh_->GetPoint(ids_->GetId(i), x);
      for (int a = 0; a < 3; ++a)
        require(std::fabs(x[a]) <= 1e40, Surfaces,
                "a mesh with a point at (" + numberText(x[0]) + ", " + numberText(x[1]) + ", " +
                    numberText(x[2]) + ')',
                "use finite coordinates of at most 1e40");
    }
    return true;
  }

  /// Polygons need not be convex, so those with more than three points are cut by VTK.
  void addPolygon() {
    const vtkIdType count = ids_->GetNumberOfIds();
    if (count == 3) return add(0, 1, 2);
    polygon_->Points->SetNumberOfPoints(count);
    polygon_->PointIds->SetNumberOfIds(count);
    for (vtkIdType i = 0; i < count; ++i) {
      polygon_->Points->SetPoint(i, &points_[3 * index(i)]);
      polygon_->PointIds->SetId(i, i);
    }
    const bool isCut =
        polygon_->Triangulate(cut_) != 0 && cut_->GetNumberOfIds() == 3 * (count - 2);
    for (vtkIdType i = 0; i < count - 2; ++i) {
      if (isCut)
        add(cut_->GetId(3 * i), cut_->GetId(3 * i + 1), cut_->GetId(3 * i + 2));
      else  // all but flat
        add(0, i + 1, i + 2);
    }
  }

  void add(vtkIdType i, vtkIdType j, vtkIdType k) {
    SurfaceTriangle& triangle = triangles.emplace_back();
    triangle.label = label_;
    const vtkIdType corners[3] = {i, j, k};
    for (std::size_t n = 0; n < 3; ++n)
      for (std::size_t a = 0; a < 3; ++a)
        triangle.corner[n][a] = points_[3 * index(corners[n]) + a];
  }

  std::string labelArray_;
  vtkPolyData* mesh_ = nullptr;
  vtkUnsignedCharArray* ghosts_ = nullptr;
  vtkDataArray* values_ = nullptr;
  std::int64_t number_ = 0, label_ = 0;
  vtkNew<vtkIdList> ids_, cut_;
  std::vector<double> points_;
  vtkNew<vtkPolygon> polygon_;
};

}  // namespace

std::shared_ptr<SurfaceTarget> gatherSurface(Transport& transport, vtkDataObject* input,
                                             const std::string& labels,
                                             std::shared_ptr<SurfaceTarget> kept) {
  bool isSame = false;
  collectively(transport, [&] {
    isSame = kept && kept->rank == transport.rank() && kept->ranks == transport.size() &&
             kept->labels == labels && kept->input.isCurrent(input);
  });
  if (allreduce(transport, ReduceOp::Min, std::int64_t(isSame)) != 0) {
    kept->isReused = true;
    return kept;
  }
  kept.reset();  // before new memory is allocated
  TriangleReader reader(labels);
  collectively(transport, [&] {
    std::int64_t last = 0;
    forEachPart(input, 0, last,
                [&](vtkDataObject* part, std::int64_t number) { reader.read(part, number); });
  });
  const std::vector<std::int64_t> sums = allreduce(
      transport, ReduceOp::Sum,
      std::vector<std::int64_t>{std::int64_t(reader.triangles.size()), reader.otherCells});
  auto target = std::make_shared<SurfaceTarget>();
  collectively(transport, [&] {
    require(sums[0] > 0 || sums[1] == 0, Surfaces, "a data set of lines and vertices",
            "use a mesh of triangles, polygons or triangle strips");
    requireMemory(3 * index(sums[0]) * sizeof(SurfaceTriangle));  // with its tree, and to make it
    target->rank = transport.rank();
    target->ranks = transport.size();
    target->input = DataVersion(input);
    target->labels = labels;
  });
  std::vector<SurfaceTriangle> all = allgatherv(transport, reader.triangles);
  collectively(transport, [&] {
    if (std::int64_t(all.size()) != sums[0])
      refuseMessage("expected " + std::to_string(sums[0]) + " triangles, received " +
                    std::to_string(all.size()));
    target->surface = std::make_unique<EventSurface>(std::move(all));
  });
  return target;
}

void setSurface(EventList& events, const SurfaceTarget& target) {
  for (Event& event : events.event)
    if (event.kind == EventKind::Surface) event.surface = target.surface.get();
}

void addSurface(const SurfaceTarget& target, RunStatistics& statistics) {
  statistics.count("ReusedSurface", target.isReused);
  statistics.count("SurfaceTriangles", target.surface->size());
  statistics.count("SurfaceBytes", static_cast<std::int64_t>(target.surface->memory()));
}

}  // namespace tributary
