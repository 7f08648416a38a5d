// The filter as a C++ program uses it: what a script of ParaView cannot reach, because there all
// ranks have the same properties and the global controller.
#include "vtkAsyncStreamTracer.h"

#include <vtkCallbackCommand.h>
#include <vtkCellArray.h>
#include <vtkCellData.h>
#include <vtkDataArray.h>
#include <vtkDataObject.h>
#include <vtkDoubleArray.h>
#include <vtkErrorCode.h>
#include <vtkExecutive.h>
#include <vtkImageData.h>
#include <vtkInformation.h>
#include <vtkMPIController.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPolyData.h>
#include <vtkSmartPointer.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "World.h"

#include "Tributary/Transport/Collectives.h"

using tributary::ReduceOp;
using tributary::testing::world;

namespace {

constexpr int kCells = 24;
constexpr int kSeeds = 21;

/// VTK's controller over all ranks; MPI is the test program's.
vtkMultiProcessController* everybody() {
  static const vtkSmartPointer<vtkMPIController> controller = [] {
    auto made = vtkSmartPointer<vtkMPIController>::New();
    made->Initialize(nullptr, nullptr, /*initializedExternally=*/1);
    return made;
  }();
  return controller;
}

/// One of `parts` slabs of a grid, with a swirl about its middle at points, at cells or both.
vtkSmartPointer<vtkImageData> slab(int part, int parts, bool atPoints = true,
                                   bool atCells = false) {
  auto image = vtkSmartPointer<vtkImageData>::New();
  image->SetExtent(kCells * part / parts, kCells * (part + 1) / parts, 0, kCells, 0, kCells);
  const auto swirl = [](vtkDataSetAttributes* data, vtkIdType count, auto&& positionOf) {
    vtkNew<vtkDoubleArray> velocity;
    velocity->SetName("velocity");
    velocity->SetNumberOfComponents(3);
    for (vtkIdType i = 0; i < count; ++i) {
      double x[3];
      positionOf(i, x);
      velocity->InsertNextTuple3(kCells / 2.0 - x[1], x[0] - kCells / 2.0, 0.3);
    }
    data->SetVectors(velocity);
  };
  if (atPoints)
    swirl(image->GetPointData(), image->GetNumberOfPoints(),
          [&](vtkIdType i, double x[3]) { image->GetPoint(i, x); });
  if (atCells)
    swirl(image->GetCellData(), image->GetNumberOfCells(), [&](vtkIdType i, double x[3]) {
      double b[6];
      image->GetCellBounds(i, b);
      for (int a = 0; a < 3; ++a) x[a] = (b[2 * a] + b[2 * a + 1]) / 2;
    });
  return image;
}

/// The seeds of one of `parts` ranks: on a line through the grid, the last one outside.
vtkSmartPointer<vtkPolyData> seeds(int part, int parts) {
  vtkNew<vtkPoints> points;
  for (int i = kSeeds * part / parts; i < kSeeds * (part + 1) / parts; ++i)
    points->InsertNextPoint(2.1 + i, 11.3, i + 1 < kSeeds ? 10.7 : -5.0);
  auto data = vtkSmartPointer<vtkPolyData>::New();
  data->SetPoints(points);
  return data;
}

/// A filter whose error messages are kept instead of shown.
class Tracing {
 public:
  Tracing(vtkMultiProcessController* controller, vtkImageData* data, vtkPolyData* from) {
    filter->SetController(controller);
    filter->SetInputData(0, data);
    filter->SetInputData(1, from);
    filter->SetMaximumPropagation(40);
    vtkNew<vtkCallbackCommand> listener;
    listener->SetClientData(this);
    listener->SetCallback([](vtkObject*, unsigned long, void* self, void* text) {
      static_cast<Tracing*>(self)->errors.emplace_back(static_cast<const char*>(text));
    });
    filter->AddObserver(vtkCommand::ErrorEvent, listener);
    filter->GetExecutive()->AddObserver(vtkCommand::ErrorEvent, listener);
  }

  vtkPolyData* lines() {
    errors.clear();
    filter->Modified();  // also on ranks where nothing was changed
    filter->Update();
    return filter->GetOutput();
  }
  /// Of all ranks.
  std::int64_t count() {
    return tributary::allreduce(world(), ReduceOp::Sum, std::int64_t(lines()->GetNumberOfCells()));
  }

  /// Rank 0 has one message with the word, the others have none.
  void expectOneError(const std::string& word) {
    EXPECT_EQ(errors.size(), world().rank() == 0 ? 1u : 0u);
    for (const std::string& error : errors) EXPECT_NE(error.find(word), std::string::npos) << error;
  }

  vtkNew<vtkAsyncStreamTracer> filter;
  std::vector<std::string> errors;
};

/// All bits of the lines first ... end - 1.
std::string bitsOf(vtkPolyData* lines, vtkIdType first, vtkIdType end) {
  std::string bits;
  const auto add = [&](vtkDataArray* array, vtkIdType from, vtkIdType to) {
    const auto tuple = static_cast<std::size_t>(array->GetNumberOfComponents()) *
                       static_cast<std::size_t>(array->GetDataTypeSize());
    const auto* data = static_cast<const char*>(array->GetVoidPointer(0));
    bits.append(data + static_cast<std::size_t>(from) * tuple,
                data + static_cast<std::size_t>(to) * tuple);
  };
  vtkCellArray* cells = lines->GetLines();
  const vtkIdType from = cells->GetOffsetsArray()->GetTuple1(first);
  const vtkIdType to = cells->GetOffsetsArray()->GetTuple1(end);
  add(lines->GetPoints()->GetData(), from, to);
  for (int i = 0; i < lines->GetPointData()->GetNumberOfArrays(); ++i)
    add(lines->GetPointData()->GetArray(i), from, to);
  for (int i = 0; i < lines->GetCellData()->GetNumberOfArrays(); ++i)
    add(lines->GetCellData()->GetArray(i), first, end);
  return bits;
}

/// Calls back on the filter's progress on this rank.
void onProgress(vtkAlgorithm* filter, std::function<void(vtkAlgorithm*)>* action) {
  vtkNew<vtkCallbackCommand> command;
  command->SetClientData(action);
  command->SetCallback([](vtkObject* caller, unsigned long, void* data, void*) {
    (*static_cast<std::function<void(vtkAlgorithm*)>*>(data))(vtkAlgorithm::SafeDownCast(caller));
  });
  filter->AddObserver(vtkCommand::ProgressEvent, command);
}

TEST(Filter, TracesAmongTheRanksOfItsController) {
  Tracing alone(nullptr, slab(0, 1), seeds(0, 1));
  const vtkIdType all = alone.lines()->GetNumberOfCells();
  ASSERT_EQ(all, 2 * (kSeeds - 1));

  // Two groups of ranks that trace at the same time, and do not know of each other.
  const auto group = vtkSmartPointer<vtkMultiProcessController>::Take(
      everybody()->PartitionController(world().rank() % 2, world().rank()));
  const int rank = group->GetLocalProcessId(), ranks = group->GetNumberOfProcesses();
  Tracing part(group, slab(rank, ranks), seeds(rank, ranks));
  vtkPolyData* mine = part.lines();
  const vtkIdType first = std::min<vtkIdType>(all, 2 * (kSeeds * rank / ranks));
  const vtkIdType end = std::min<vtkIdType>(all, 2 * (kSeeds * (rank + 1) / ranks));
  ASSERT_EQ(mine->GetNumberOfCells(), end - first);
  EXPECT_EQ(bitsOf(mine, 0, end - first), bitsOf(alone.filter->GetOutput(), first, end));
  EXPECT_EQ(mine->GetFieldData()->GetArray("Seeds")->GetNumberOfTuples(), ranks);
}

TEST(Filter, RefusesPropertiesThatDifferBetweenRanks) {
  if (world().size() == 1) GTEST_SKIP() << "needs two ranks";
  Tracing tracing(everybody(), slab(world().rank(), world().size()),
                  seeds(world().rank(), world().size()));
  const bool last = world().rank() == world().size() - 1;
  using Change = std::function<void(vtkAsyncStreamTracer*, bool odd)>;
  const std::vector<std::pair<std::string, Change>> changes{
      {"ComputeVorticity", [](auto* f, bool odd) { f->SetComputeVorticity(!odd); }},
      {"ReportRejectedSeeds", [](auto* f, bool odd) { f->SetReportRejectedSeeds(odd); }},
      {"IntegrationDirection",
       [](auto* f, bool odd) {
         f->SetIntegrationDirection(odd ? vtkAsyncStreamTracer::FORWARD
                                        : vtkAsyncStreamTracer::BOTH);
       }},
      {"Schedule",
       [](auto* f, bool odd) {
         f->SetSchedule(odd ? vtkAsyncStreamTracer::SYNCHRONOUS
                            : vtkAsyncStreamTracer::ASYNCHRONOUS);
       }},
      {"Periodic", [](auto* f, bool odd) { f->SetPeriodic(0, odd, 0); }},
      {"MaximumPropagation", [](auto* f, bool odd) { f->SetMaximumPropagation(odd ? 39 : 40); }},
  };
  for (const auto& [name, change] : changes) {
    SCOPED_TRACE(name);
    change(tracing.filter, last);
    EXPECT_EQ(tracing.count(), 0);
    EXPECT_NE(tracing.filter->GetErrorCode(), vtkErrorCode::NoError);
    tracing.expectOneError(name);
    change(tracing.filter, false);
    EXPECT_EQ(tracing.count(), 2 * (kSeeds - 1));
    EXPECT_TRUE(tracing.errors.empty());
    EXPECT_EQ(tracing.filter->GetErrorCode(), vtkErrorCode::NoError);
  }
  // These may differ.
  tracing.filter->SetBlocksPerRank(1 + world().rank());
  tracing.filter->SetBatchBytes(1000 * (1 + world().rank()));
  tracing.filter->SetHoldTime(world().rank());
  EXPECT_EQ(tracing.count(), 2 * (kSeeds - 1));
}

TEST(Filter, ObeysAnAbortOnOneRankEverywhere) {
  // Many seeds, as what a rank does in one go is not interrupted.
  const auto cloud = seeds(world().rank(), world().size());
  for (int i = 0; i < 40000; ++i)
    cloud->GetPoints()->InsertNextPoint(0.5 + i % 23, 0.5 + i / 23 % 23, 0.5 + i / 529 % 23);
  Tracing tracing(everybody(), slab(world().rank(), world().size()), cloud);
  tracing.filter->SetPeriodic(1, 1, 1);
  tracing.filter->SetMaximumPropagation(300);
  tracing.filter->SetComputeVorticity(false);
  double progress = 0;
  int seen = 0;
  std::function<void(vtkAlgorithm*)> abort = [&](vtkAlgorithm* filter) {
    if (filter->GetProgress() == 1) return;  // the executive's, whatever happened
    progress = filter->GetProgress();
    if (progress > 0.1 && ++seen == 2) filter->SetAbortExecute(1);
  };
  if (world().rank() == world().size() - 1) onProgress(tracing.filter, &abort);
  EXPECT_EQ(tracing.count(), 0);
  EXPECT_TRUE(tracing.errors.empty());
  EXPECT_LT(progress, 0.8) << "the lines were traced to their ends";

  tracing.filter->RemoveObservers(vtkCommand::ProgressEvent);
  tracing.filter->SetAbortExecute(0);
  tracing.filter->SetInputData(1, seeds(world().rank(), world().size()));
  EXPECT_EQ(tracing.count(), 2 * kSeeds);  // the seed outside has an image inside
}

TEST(Filter, TakesTheActiveVectorsByDefault) {
  const int rank = world().rank(), ranks = world().size();
  Tracing cells(everybody(), slab(rank, ranks, false, true), seeds(rank, ranks));
  EXPECT_EQ(cells.count(), 2 * (kSeeds - 1));
  // As vtkStreamTracer: those at points first.
  Tracing points(everybody(), slab(rank, ranks), seeds(rank, ranks));
  Tracing both(everybody(), slab(rank, ranks, true, true), seeds(rank, ranks));
  vtkPolyData* one = points.lines();
  vtkPolyData* other = both.lines();
  ASSERT_EQ(one->GetNumberOfCells(), other->GetNumberOfCells());
  if (one->GetNumberOfCells() > 0) {
    EXPECT_EQ(bitsOf(one, 0, one->GetNumberOfCells()), bitsOf(other, 0, other->GetNumberOfCells()));
  }
}

TEST(Filter, RefusesVectorsOfSeveralNames) {
  const int rank = world().rank(), ranks = world().size();
  const auto data = slab(rank, ranks);
  if (rank == ranks - 1) data->GetPointData()->GetVectors()->SetName("other");
  Tracing tracing(everybody(), data, seeds(rank, ranks));
  EXPECT_EQ(tracing.count(), ranks > 1 ? 0 : 2 * (kSeeds - 1));
  if (ranks > 1) tracing.expectOneError("\"other\"");
}

TEST(Filter, RunsWithoutDataOnSomeRanks) {
  const bool first = world().rank() == 0, last = world().rank() == world().size() - 1;
  vtkNew<vtkImageData> nothing;
  vtkNew<vtkPolyData> nowhere;
  Tracing tracing(everybody(), last ? slab(0, 1).Get() : nothing.Get(),
                  first ? seeds(0, 1).Get() : nowhere.Get());
  EXPECT_EQ(tracing.count(), 2 * (kSeeds - 1));
}

}  // namespace
