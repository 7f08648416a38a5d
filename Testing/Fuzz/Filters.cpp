// SPDX-License-Identifier: BSD-3-Clause
// The messages of whole filters: those of their own rooms, and in between those of Core as the
// filters use them.
#include "vtkAsyncConnectivity.h"
#include "vtkAsyncConvectionDiffusion.h"
#include "vtkAsyncFeatureTracker.h"
#include "vtkAsyncFlowMap.h"
#include "vtkAsyncHarmonicFill.h"
#include "vtkAsyncPathTracer.h"
#include "vtkAsyncStreamTracer.h"

#include <vtkAMRBox.h>
#include <vtkCellArray.h>
#include <vtkCellData.h>
#include <vtkCellType.h>
#include <vtkDataObject.h>
#include <vtkDataSet.h>
#include <vtkDataSetAttributes.h>
#include <vtkDoubleArray.h>
#include <vtkExecutive.h>
#include <vtkFloatArray.h>
#include <vtkIdList.h>
#include <vtkImageData.h>
#include <vtkInformation.h>
#include <vtkInformationVector.h>
#include <vtkIntArray.h>
#include <vtkNew.h>
#include <vtkObjectFactory.h>
#include <vtkOverlappingAMR.h>
#include <vtkPointData.h>
#include <vtkPoints.h>
#include <vtkPolyData.h>
#include <vtkRectilinearGrid.h>
#include <vtkSmartPointer.h>
#include <vtkUniformGrid.h>
#include <vtkUnstructuredGrid.h>

#include <array>
#include <string>
#include <utility>

#include "Common/PropertyList.h"
#include "Common/RunStatistics.h"
#include "Harness.h"

namespace tributary::fuzz {

namespace {

/// A filter on one rank of a transport, without a pipeline around it.
template <class Filter>
class OneRank : public Filter {
 public:
  static OneRank* New() { VTK_STANDARD_NEW_BODY(OneRank); }
  vtkTemplateTypeMacro(OneRank, Filter);

  /// Collective. The collective part of vtkAsyncAlgorithm::RequestData(); throws where that reports
  /// an error.
  void execute(Transport& transport, vtkDataObject* input) {
    this->SetInputDataObject(0, input);
    vtkInformationVector** const inputs = this->GetExecutive()->GetInputInformation();
    vtkInformationVector* const outputs = this->GetExecutive()->GetOutputInformation();
    vtkNew<vtkInformation> request;
    this->RequestDataObject(request, inputs, outputs);
    this->RequestInformation(request, inputs, outputs);
    this->RequestUpdateExtent(request, inputs, outputs);
    RunStatistics statistics(transport);
    PropertyList properties;
    this->DescribeExecutionProperties(properties);
    this->DescribeProperties(properties);
    properties.agree(transport, {});
    this->BeginExecution(transport, false);
    this->IsWhole = this->Execute(transport, inputs, outputs, statistics);
    statistics.write(
        "", outputs->GetInformationObject(0)->Get(vtkDataObject::DATA_OBJECT())->GetFieldData());
    this->EndExecution(transport);
  }
};

using Position = std::array<double, 3>;

template <class Array, class Function>
void addArray(vtkDataSetAttributes* data, const char* name, vtkIdType tuples, int components,
              Function&& valueOf) {
  vtkNew<Array> array;
  array->SetName(name);
  array->SetNumberOfComponents(components);
  array->SetNumberOfTuples(tuples);
  for (vtkIdType i = 0; i < tuples; ++i)
    for (int c = 0; c < components; ++c) array->SetComponent(i, c, valueOf(i, c));
  data->AddArray(array);
}

/// Adds a swirl about (2, 1), as vectors of points and as components of cells, a bump that moves
/// along x, and labels of cells.
void addArrays(vtkDataSet* data, int step) {
  const auto swirl = [](const Position& x, int c) {
    return c == 0 ? 1 - x[1] : c == 1 ? x[0] - 2 : 0.1;
  };
  const auto pointOf = [&](vtkIdType i) {
    Position x;
    data->GetPoint(i, x.data());
    return x;
  };
  const auto centerOf = [&](vtkIdType i) {
    double b[6];
    data->GetCellBounds(i, b);
    return Position{(b[0] + b[1]) / 2, (b[2] + b[3]) / 2, (b[4] + b[5]) / 2};
  };
  const vtkIdType points = data->GetNumberOfPoints(), cells = data->GetNumberOfCells();
  addArray<vtkDoubleArray>(data->GetPointData(), "velocity", points, 3,
                           [&](vtkIdType i, int c) { return swirl(pointOf(i), c); });
  data->GetPointData()->SetActiveVectors("velocity");
  addArray<vtkFloatArray>(data->GetPointData(), "bump", points, 1, [&](vtkIdType i, int) {
    const double d = pointOf(i)[0] - 1.5 - 0.5 * step;
    return 1 - d * d;
  });
  data->GetPointData()->SetActiveScalars("bump");
  for (int c = 0; c < 3; ++c)
    addArray<vtkFloatArray>(data->GetCellData(), std::string(1, "uvw"[c]).c_str(), cells, 1,
                            [&](vtkIdType i, int) { return swirl(centerOf(i), c); });
  addArray<vtkIntArray>(data->GetCellData(), "label", cells, 1,
                        [&](vtkIdType i, int) { return centerOf(i)[1] < 1 ? 3 : 4; });
  data->GetInformation()->Set(vtkDataObject::DATA_TIME_STEP(), step);
}

using Data = vtkSmartPointer<vtkDataObject>;

/// Two columns of the cells of a grid, whose points are at integers.
/// @param y, z  the last point along these axes
template <int y, int z>
Data imageOf(int part, int step) {
  vtkNew<vtkImageData> data;
  data->SetExtent(2 * part, 2 * part + 2, 0, y, 0, z);
  addArrays(data, step);
  return data.Get();
}
constexpr auto image = imageOf<2, 1>;
constexpr auto row = imageOf<1, 0>;

Data rectilinear(int part, int step) {
  vtkNew<vtkRectilinearGrid> data;
  data->SetExtent(2 * part, 2 * part + 2, 0, 2, 0, 1);
  const auto set = [&](int count, double first, double width, auto&& take) {
    vtkNew<vtkDoubleArray> coordinates;
    for (int i = 0; i < count; ++i) coordinates->InsertNextValue(first + i * width);
    take(coordinates.Get());
  };
  set(3, 2 * part, 1, [&](vtkDataArray* x) { data->SetXCoordinates(x); });
  set(3, 0, 1.1, [&](vtkDataArray* y) { data->SetYCoordinates(y); });
  set(2, 0, 1, [&](vtkDataArray* z) { data->SetZCoordinates(z); });
  addArrays(data, step);
  return data.Get();
}

/// The cells of image() as a mesh of voxels.
Data mesh(int part, int step) {
  const Data grid = image(part, step);
  auto* const lattice = vtkDataSet::SafeDownCast(grid);
  vtkNew<vtkUnstructuredGrid> data;
  vtkNew<vtkPoints> points;
  for (vtkIdType i = 0; i < lattice->GetNumberOfPoints(); ++i)
    points->InsertNextPoint(lattice->GetPoint(i));
  data->SetPoints(points);
  vtkNew<vtkIdList> corners;
  for (vtkIdType i = 0; i < lattice->GetNumberOfCells(); ++i) {
    lattice->GetCellPoints(i, corners);
    data->InsertNextCell(VTK_VOXEL, corners);
  }
  addArrays(data, step);
  return data.Get();
}

/// A level on the first rank, and one on the second that refines a part of it.
Data refined(int part, int step) {
  vtkNew<vtkOverlappingAMR> data;
  const int blocks[] = {1, 1};
  data->Initialize(2, blocks);
  const double origin[3] = {0, 0, 0};
  data->SetOrigin(origin);
  data->SetGridDescription(VTK_XYZ_GRID);
  for (int level = 0; level < 2; ++level) {
    const double width[3] = {1.0 / (level + 1), 1.0 / (level + 1), 1.0 / (level + 1)};
    data->SetSpacing(static_cast<unsigned int>(level), width);
    const int size[3] = {level == 0 ? 3 : 2, 2, 1};
    const vtkAMRBox box(0, 0, 0, size[0] - 1, size[1] - 1, size[2] - 1);
    data->SetAMRBox(static_cast<unsigned int>(level), 0, box);
    if (level != part) continue;
    vtkNew<vtkUniformGrid> grid;
    grid->SetSpacing(width);
    grid->SetDimensions(size[0] + 1, size[1] + 1, size[2] + 1);
    addArrays(grid, step);
    data->SetDataSet(static_cast<unsigned int>(level), 0, grid);
  }
  return data.Get();
}

Data seeds(int part) {
  vtkNew<vtkPoints> points;
  points->InsertNextPoint(1.25 + 1.5 * part, 0.5, 0.25);
  vtkNew<vtkPolyData> data;
  data->SetPoints(points);
  addArray<vtkIntArray>(data->GetPointData(), "source", 1, 1, [&](vtkIdType, int) { return part; });
  return data.Get();
}

/// A triangle across the lines, which one rank has.
Data surface(int part) {
  vtkNew<vtkPolyData> data;
  if (part > 0) return data.Get();
  vtkNew<vtkPoints> points;
  points->InsertNextPoint(2, 0, -1);
  points->InsertNextPoint(2, 3, -1);
  points->InsertNextPoint(2, 0, 4);
  vtkNew<vtkCellArray> cells;
  cells->InsertNextCell({0, 1, 2});
  data->SetPoints(points);
  data->SetPolys(cells);
  return data.Get();
}

/// A scene of one or two executions.
/// @param setUp  called as setUp(Filter*, int rank)
template <class Filter, class SetUp>
Scene scene(const std::string& name, int rank, Data (*dataOf)(int part, int step), int steps,
            SetUp setUp) {
  return {name, 2, rank, [=](Transport& transport) {
            vtkObject::GlobalWarningDisplayOff();
            vtkNew<OneRank<Filter>> filter;
            setUp(filter.Get(), transport.rank());
            for (int step = 0; step < steps; ++step)
              filter->execute(transport, dataOf(transport.rank(), step));
          }};
}

void setSeeds(vtkAsyncLineAlgorithm* filter, int rank) {
  filter->SetInputDataObject(1, seeds(rank));
  filter->SetInitialIntegrationStep(0.5);
  filter->SetMaximumNumberOfSteps(6);
}

void setComponents(vtkAlgorithm* filter, int first) {
  for (int c = 0; c < 3; ++c)
    filter->SetInputArrayToProcess(first + c, 0, 0, vtkDataObject::FIELD_ASSOCIATION_CELLS,
                                   std::string(1, "uvw"[c]).c_str());
}

void setRegions(vtkAsyncRegionAlgorithm* filter) {
  filter->SetScalarConnectivity(true);
  filter->SetNumberOfScalarRanges(1);
  filter->SetScalarRange(0, 0.5, 2);
}

void addLines(std::vector<Scene>& all) {
  using Lines = vtkAsyncStreamTracer;
  all.push_back(scene<Lines>("lines", 0, image, 1, [](Lines* filter, int rank) {
    setSeeds(filter, rank);
    filter->AddEvent("plane origin 2 0 0 normal 1 0 0");
    filter->AddEvent("isovalue bump 0.9");
    filter->AddEvent("label label 4");
    filter->SetDestinations(Lines::LABEL_ARRAY);
    filter->SetSeedLabelArray("source");
    filter->SetEndLabelArray("label");
    filter->SetReportRejectedSeeds(true);
  }));
  all.push_back(scene<Lines>("lines-faces", 1, image, 1, [](Lines* filter, int rank) {
    setSeeds(filter, rank);
    filter->SetVelocityForm(Lines::COMPONENTS);
    filter->SetComponentPosition(Lines::LOW_FACES);
    setComponents(filter, 1);
  }));
  all.push_back(scene<Lines>("lines-periodic", 1, rectilinear, 1, [](Lines* filter, int rank) {
    setSeeds(filter, rank);
    filter->SetPeriodic(1, 1, 0);
    filter->SetPeriod(5, 3, 0);
  }));
  all.push_back(scene<Lines>("lines-surface", 1, mesh, 1, [](Lines* filter, int rank) {
    setSeeds(filter, rank);
    filter->SetInputDataObject(2, surface(rank));
  }));
  all.push_back(scene<Lines>("lines-cells", 0, mesh, 1, [](Lines* filter, int rank) {
    setSeeds(filter, rank);
    filter->SetVelocityForm(Lines::COMPONENTS);
    setComponents(filter, 1);
  }));
  all.push_back(scene<Lines>("lines-refined", 0, refined, 1,
                             [](Lines* filter, int rank) { setSeeds(filter, rank); }));
}

void addPaths(std::vector<Scene>& all) {
  using Paths = vtkAsyncPathTracer;
  for (const bool areMeshes : {false, true}) {
    all.push_back(scene<Paths>(areMeshes ? "paths-mesh" : "paths", areMeshes ? 1 : 0,
                               areMeshes ? mesh : image, 2, [](Paths* filter, int rank) {
                                 setSeeds(filter, rank);
                                 filter->SetStaticSeeds(true);
                                 filter->AddEvent("plane origin 2 0 0 normal 1 0 0");
                               }));
  }
  using Map = vtkAsyncFlowMap;
  all.push_back(scene<Map>("map", 0, row, 2, [](Map* filter, int) {
    filter->SetSeeds(Map::POINTS_OF_INPUT);
    filter->SetWindow(Map::FROM_FIRST_TIME_STEP);
    filter->SetMaximumNumberOfSteps(2);
  }));
}

void addRegions(std::vector<Scene>& all) {
  using Regions = vtkAsyncConnectivity;
  all.push_back(scene<Regions>("regions", 0, image, 1, [](Regions* filter, int) {
    setRegions(filter);
    filter->AddStatisticsArray("bump");
    filter->SetExtractionMode(Regions::CLOSEST_POINT);
  }));
  all.push_back(scene<Regions>("regions-periodic", 1, rectilinear, 1, [](Regions* filter, int) {
    setRegions(filter);
    filter->SetPeriodic(1, 0, 0);
    filter->SetPeriod(5, 0, 0);
    filter->SetRegionIdAssignmentMode(Regions::CELL_COUNT_DESCENDING);
  }));
  all.push_back(scene<Regions>("regions-mesh", 1, mesh, 1, [](Regions* filter, int) {
    filter->SetLabelConnectivity(true);
    filter->SetInputArrayToProcess(1, 0, 0, vtkDataObject::FIELD_ASSOCIATION_CELLS, "label");
    filter->SetTolerance(0.1);
    filter->SetExtractionMode(Regions::POINT_SEEDED);
    filter->AddSeed(1);
  }));
  all.push_back(scene<Regions>("regions-refined", 1, refined, 1,
                               [](Regions* filter, int) { setRegions(filter); }));
  using Features = vtkAsyncFeatureTracker;
  all.push_back(
      scene<Features>("features", 0, image, 2, [](Features* filter, int) { setRegions(filter); }));
  all.push_back(scene<Features>("critical-points", 1, mesh, 2, [](Features* filter, int) {
    filter->SetFeatures(Features::CRITICAL_POINTS);
  }));
}

void addSolvers(std::vector<Scene>& all) {
  using Fill = vtkAsyncHarmonicFill;
  all.push_back(scene<Fill>("fill", 0, image, 1, [](Fill* filter, int) {
    filter->AddPointArray("bump");
    filter->SetUnknown(Fill::VALUE);
    filter->SetUnknownValue(1);
    filter->SetTolerance(0.1);
  }));
  using Diffusion = vtkAsyncConvectionDiffusion;
  all.push_back(scene<Diffusion>("diffusion", 1, rectilinear, 1, [](Diffusion* filter, int) {
    filter->SetDiffusivity(1);
    filter->SetSteadyState(true);
    filter->SetResidualThreshold(0.1);
  }));
}

}  // namespace

const std::vector<Scene>& scenes() {
  static const std::vector<Scene> all = [] {
    std::vector<Scene> made;
    addLines(made);
    addPaths(made);
    addRegions(made);
    addSolvers(made);
    return made;
  }();
  return all;
}

}  // namespace tributary::fuzz
