// SPDX-License-Identifier: BSD-3-Clause
// The filters in a C++ program, with properties that differ between ranks and with controllers of
// some ranks, which a script of ParaView cannot set. The test suite "Filter" runs with both
// exchange filters.
#include "vtkAsyncConnectivity.h"
#include "vtkAsyncStreamTracer.h"

#include <vtkBitArray.h>
#include <vtkCallbackCommand.h>
#include <vtkCellArray.h>
#include <vtkCellData.h>
#include <vtkDataArray.h>
#include <vtkDataObject.h>
#include <vtkDataSet.h>
#include <vtkDoubleArray.h>
#include <vtkErrorCode.h>
#include <vtkExecutive.h>
#include <vtkFieldData.h>
#include <vtkHyperTree.h>
#include <vtkHyperTreeGridNonOrientedCursor.h>
#include <vtkIdTypeArray.h>
#include <vtkImageData.h>
#include <vtkInformation.h>
#include <vtkInformationVector.h>
#include <vtkIntArray.h>
#include <vtkLongLongArray.h>
#include <vtkMPIController.h>
#include <vtkNew.h>
#include <vtkPartitionedDataSet.h>
#include <vtkPointData.h>
#include <vtkPolyData.h>
#include <vtkRectilinearGrid.h>
#include <vtkSmartPointer.h>
#include <vtkStreamingDemandDrivenPipeline.h>
#include <vtkStructuredGrid.h>
#include <vtkTable.h>
#include <vtkTrivialProducer.h>
#include <vtkUniformHyperTreeGrid.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "Support/World.h"

#include "Tributary/Collective/Collectives.h"

using tributary::ReduceOp;
using tributary::testing::world;

namespace {

constexpr int Cells = 24;
constexpr int Seeds = 21;

/// The controller of all ranks; the test program initializes MPI.
vtkMultiProcessController* everybody() {
  static const vtkSmartPointer<vtkMPIController> controller = [] {
    auto made = vtkSmartPointer<vtkMPIController>::New();
    made->Initialize(nullptr, nullptr, /*initializedExternally=*/1);
    return made;
  }();
  return controller;
}

/// One of `parts` slabs of a grid, with a swirl around its center as point data, cell data or both.
vtkSmartPointer<vtkImageData> slab(int part, int parts, bool atPoints = true,
                                   bool atCells = false) {
  auto image = vtkSmartPointer<vtkImageData>::New();
  image->SetExtent(Cells * part / parts, Cells * (part + 1) / parts, 0, Cells, 0, Cells);
  const auto swirl = [](vtkDataSetAttributes* data, vtkIdType count, auto&& positionOf) {
    vtkNew<vtkDoubleArray> velocity;
    velocity->SetName("velocity");
    velocity->SetNumberOfComponents(3);
    for (vtkIdType i = 0; i < count; ++i) {
      double x[3];
      positionOf(i, x);
      velocity->InsertNextTuple3(Cells / 2.0 - x[1], x[0] - Cells / 2.0, 0.3);
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

/// The seeds of one of `parts` ranks, on a line through the grid; the last seed is outside.
vtkSmartPointer<vtkPolyData> seeds(int part, int parts) {
  vtkNew<vtkPoints> points;
  for (int i = Seeds * part / parts; i < Seeds * (part + 1) / parts; ++i)
    points->InsertNextPoint(2.1 + i, 11.3, i + 1 < Seeds ? 10.7 : -5.0);
  auto data = vtkSmartPointer<vtkPolyData>::New();
  data->SetPoints(points);
  return data;
}

/// A filter whose error messages are collected instead of printed.
template <class Filter>
class Running {
 public:
  explicit Running(vtkMultiProcessController* controller) {
    filter->SetController(controller);
    vtkNew<vtkCallbackCommand> listener;
    listener->SetClientData(this);
    listener->SetCallback([](vtkObject*, unsigned long, void* self, void* text) {
      static_cast<Running*>(self)->errors.emplace_back(static_cast<const char*>(text));
    });
    filter->AddObserver(vtkCommand::ErrorEvent, listener);
    filter->GetExecutive()->AddObserver(vtkCommand::ErrorEvent, listener);
  }

  void update() {
    errors.clear();
    filter->Modified();  // also on ranks where nothing was changed
    filter->Update();
  }

  /// Rank 0 has one message that contains the word, other ranks have none.
  void expectOneError(const std::string& word) {
    EXPECT_EQ(errors.size(), world().rank() == 0 ? 1u : 0u);
    for (const std::string& error : errors) EXPECT_NE(error.find(word), std::string::npos) << error;
  }

  vtkNew<Filter> filter;
  std::vector<std::string> errors;
};

class Tracing : public Running<vtkAsyncStreamTracer> {
 public:
  static constexpr vtkIdType All = 2 * (Seeds - 1);
  static constexpr bool PassesGhostsOn = false;
  using Change = std::function<void(vtkAsyncStreamTracer*, bool odd)>;

  Tracing(vtkMultiProcessController* controller, vtkImageData* data, vtkPolyData* from)
      : Running(controller) {
    filter->SetInputData(0, data);
    filter->SetInputData(1, from);
    filter->SetMaximumPropagation(40);
  }
  /// With a part of the data.
  Tracing(vtkMultiProcessController* controller, int part, int parts)
      : Tracing(controller, slab(part, parts), seeds(part, parts)) {}
  /// With all data or none.
  Tracing(vtkMultiProcessController* controller, bool hasData)
      : Tracing(controller, hasData ? slab(0, 1) : vtkSmartPointer<vtkImageData>::New(),
                hasData ? seeds(0, 1) : vtkSmartPointer<vtkPolyData>::New()) {}

  vtkPolyData* lines() {
    update();
    return filter->GetOutput();
  }
  /// Of this rank.
  vtkIdType results() { return lines()->GetNumberOfCells(); }

  static std::vector<std::pair<std::string, Change>> changes() {
    return {
        {"Compute Vorticity", [](auto* f, bool odd) { f->SetComputeVorticity(!odd); }},
        {"Report Rejected Seeds", [](auto* f, bool odd) { f->SetReportRejectedSeeds(odd); }},
        {"Integration Direction",
         [](auto* f, bool odd) {
           f->SetIntegrationDirection(odd ? vtkAsyncStreamTracer::FORWARD
                                          : vtkAsyncStreamTracer::BOTH);
         }},
        {"Periodic", [](auto* f, bool odd) { f->SetPeriodic(0, odd, 0); }},
        {"Maximum Streamline Length",
         [](auto* f, bool odd) { f->SetMaximumPropagation(odd ? 39 : 40); }},
        {"Auto Tune", [](auto* f, bool odd) { f->SetAutoTune(odd); }},
    };
  }
  /// Sets the properties that may differ between ranks.
  void setOwn() { filter->SetBlocksPerRank(1 + world().rank()); }
};

class Connecting : public Running<vtkAsyncConnectivity> {
 public:
  /// Cubes of 4 cells a side, every second one in range.
  static constexpr bool PassesGhostsOn = true;  // its output is the input
  static constexpr vtkIdType All = Cells / 4 * (Cells / 4) * (Cells / 4) / 2;
  using Change = std::function<void(vtkAsyncConnectivity*, bool odd)>;

  Connecting(vtkMultiProcessController* controller, vtkImageData* data) : Running(controller) {
    filter->SetInputData(data);
    filter->SetConnectThrough(vtkAsyncConnectivity::FACES);
    filter->SetScalarConnectivity(true);
    filter->SetScalarRange(1, 1);
    filter->SetInputArrayToProcess(0, 0, 0, vtkDataObject::FIELD_ASSOCIATION_CELLS, "cube");
    filter->SetInputArrayToProcess(1, 0, 0, vtkDataObject::FIELD_ASSOCIATION_CELLS, "cube");
    filter->AddStatisticsArray("cube");
    filter->AddSeed(Far);
    filter->AddSpecifiedRegion(Far);
  }
  Connecting(vtkMultiProcessController* controller, int part, int parts)
      : Connecting(controller, cubes(part, parts)) {}
  Connecting(vtkMultiProcessController* controller, bool hasData)
      : Connecting(controller, hasData ? cubes(0, 1) : vtkSmartPointer<vtkImageData>::New()) {}

  static vtkSmartPointer<vtkImageData> cubes(int part, int parts) {
    auto image = slab(part, parts, false);
    for (const char* name : {"cube", "same"}) {
      vtkNew<vtkIntArray> values;
      values->SetName(name);
      for (vtkIdType i = 0; i < image->GetNumberOfCells(); ++i) {
        double b[6];
        image->GetCellBounds(i, b);
        values->InsertNextValue((int(b[0]) / 4 + int(b[2]) / 4 + int(b[4]) / 4) % 2);
      }
      image->GetCellData()->AddArray(values);
    }
    return image;
  }

  /// Of this rank.
  vtkIdType results() {
    update();
    return filter->GetRegionTable()->GetNumberOfRows();
  }

  static std::vector<std::pair<std::string, Change>> changes() {
    constexpr auto cells = vtkDataObject::FIELD_ASSOCIATION_CELLS;
    return {
        {"Extract Regions", [](auto* f, bool odd) { f->SetExtractRegions(odd); }},
        {"Method", [](auto* f, bool odd) { f->SetMethod(!odd); }},
        {"Tolerance", [](auto* f, bool odd) { f->SetTolerance(odd ? 1e-9 : 0); }},
        {"Scalar Range", [](auto* f, bool odd) { f->SetScalarRange(0, 1, odd ? 2 : 1); }},
        {"Scalar Range", [](auto* f, bool odd) { f->SetNumberOfScalarRanges(odd ? 2 : 1); }},
        {"Scalars",
         [](auto* f, bool odd) {
           f->SetInputArrayToProcess(0, 0, 0, cells, odd ? "same" : "cube");
         }},
        {"Labels",
         [](auto* f, bool odd) {
           f->SetLabelConnectivity(true);
           f->SetInputArrayToProcess(1, 0, 0, cells, odd ? "same" : "cube");
         }},
        {"Statistics Arrays",
         [](auto* f, bool odd) {
           f->ClearStatisticsArrays();
           f->AddStatisticsArray(odd ? "same" : "cube");
         }},
        {"Seed Ids",
         [](auto* f, bool odd) {
           f->InitializeSeedList();
           f->AddSeed(Far + odd);
         }},
        {"Specified Region Ids",
         [](auto* f, bool odd) {
           f->InitializeSpecifiedRegionList();
           f->AddSpecifiedRegion(Far + odd);
         }},
        {"Size Range", [](auto* f, bool odd) { f->SetSizeRange(1, Far + odd); }},
        {"Auto Tune", [](auto* f, bool odd) { f->SetAutoTune(odd); }},
    };
  }
  void setOwn() {}

  /// No seed, no region; as a double the same as the next number.
  static constexpr vtkIdType Far = vtkIdType(1) << 53;
};

/// Of all ranks.
template <class Case>
std::int64_t resultsOf(Case& run) {
  return tributary::allreduce(world(), ReduceOp::Sum, std::int64_t(run.results()));
}

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

template <class Case>
class Filter : public ::testing::Test {};
using Cases = ::testing::Types<Tracing, Connecting>;
TYPED_TEST_SUITE(Filter, Cases);

TYPED_TEST(Filter, WorksAmongTheRanksOfItsController) {
  TypeParam alone(nullptr, 0, 1);
  ASSERT_EQ(alone.results(), TypeParam::All);
  EXPECT_TRUE(alone.errors.empty());

  // Two groups of ranks work at the same time, independently.
  const auto group = vtkSmartPointer<vtkMultiProcessController>::Take(
      everybody()->PartitionController(world().rank() % 2, world().rank()));
  const int ranks = group->GetNumberOfProcesses();
  TypeParam part(group, group->GetLocalProcessId(), ranks);
  vtkIdType mine = part.results(), all = 0;
  group->AllReduce(&mine, &all, 1, vtkCommunicator::SUM_OP);
  EXPECT_EQ(all, TypeParam::All);
  vtkFieldData* fields = part.filter->GetOutputDataObject(0)->GetFieldData();
  const std::string prefix = std::string(part.filter->GetClassName()).substr(3) + " ";
  for (const char* name : {"Blocks", "Messages", "SetupSeconds"}) {
    vtkDataArray* values = fields->GetArray((prefix + name).c_str());
    ASSERT_TRUE(values) << name;
    EXPECT_EQ(values->GetNumberOfTuples(), ranks) << name;
  }
}

TYPED_TEST(Filter, RefusesPropertiesThatDifferBetweenRanks) {
  if (world().size() == 1) GTEST_SKIP() << "needs two ranks";
  TypeParam run(everybody(), world().rank(), world().size());
  const bool last = world().rank() == world().size() - 1;
  auto changes = TypeParam::changes();
  changes.push_back({"Schedule", [](vtkAsyncExchangeAlgorithm* f, bool odd) {
                       f->SetSchedule(odd ? vtkAsyncExchangeAlgorithm::SYNCHRONOUS
                                          : vtkAsyncExchangeAlgorithm::ASYNCHRONOUS);
                     }});
  changes.push_back({"Detector", [](vtkAsyncExchangeAlgorithm* f, bool odd) {
                       f->SetDetector(odd ? "tree-counter" : "default");
                     }});
  for (const auto& [name, change] : changes) {
    SCOPED_TRACE(name);
    change(run.filter, last);
    EXPECT_EQ(resultsOf(run), 0);
    EXPECT_NE(run.filter->GetErrorCode(), vtkErrorCode::NoError);
    run.expectOneError(name);
    change(run.filter, false);
    EXPECT_EQ(resultsOf(run), TypeParam::All);
    EXPECT_TRUE(run.errors.empty());
    EXPECT_EQ(run.filter->GetErrorCode(), vtkErrorCode::NoError);
  }
  // These may differ.
  run.setOwn();
  run.filter->SetBatchBytes(1000 * (1 + world().rank()));
  run.filter->SetHoldTime(world().rank());
  EXPECT_EQ(resultsOf(run), TypeParam::All);
}

TYPED_TEST(Filter, ObeysAnAbortOnOneRankEverywhere) {
  TypeParam run(everybody(), world().rank(), world().size());
  std::function<void(vtkAlgorithm*)> abort = [&](vtkAlgorithm* filter) {
    // Not the events of the executive, which it sends in any case.
    if (filter->GetProgress() > 0 && filter->GetProgress() < 1) filter->SetAbortExecute(1);
  };
  if (world().rank() == world().size() - 1) onProgress(run.filter, &abort);
  EXPECT_EQ(resultsOf(run), 0);
  EXPECT_TRUE(run.errors.empty());

  run.filter->RemoveObservers(vtkCommand::ProgressEvent);
  run.filter->SetAbortExecute(0);
  EXPECT_EQ(resultsOf(run), TypeParam::All);
}

TYPED_TEST(Filter, RunsWithoutDataOnSomeRanks) {
  TypeParam run(everybody(), world().rank() == world().size() - 1);
  EXPECT_EQ(resultsOf(run), TypeParam::All);
}

TYPED_TEST(Filter, RefusesAnotherTypeOfInputOnOneRankEverywhere) {
  TypeParam run(everybody(), world().rank(), world().size());
  const vtkSmartPointer<vtkDataObject> good = run.filter->GetInputDataObject(0, 0);
  if (world().rank() == world().size() - 1) run.filter->SetInputDataObject(0, vtkNew<vtkTable>());
  EXPECT_EQ(resultsOf(run), 0);
  run.expectOneError("vtkTable");
  run.filter->SetInputDataObject(0, good);
  EXPECT_EQ(resultsOf(run), TypeParam::All);
  EXPECT_TRUE(run.errors.empty());
}

TYPED_TEST(Filter, PassesOnWhatAnyOfItsOutputsIsAskedFor) {
  using Pipeline = vtkStreamingDemandDrivenPipeline;
  TypeParam run(nullptr, 0, 1);
  for (int port = 0; port < run.filter->GetNumberOfOutputPorts(); ++port) {
    SCOPED_TRACE(port);
    vtkNew<vtkTrivialProducer> source;
    source->SetOutput(slab(0, 1));
    source->SetWholeExtent(0, Cells, 0, Cells, 0, Cells);
    run.filter->SetInputConnection(0, source->GetOutputPort());
    run.filter->UpdateInformation();
    for (int other = 0; other < run.filter->GetNumberOfOutputPorts(); ++other) {
      vtkInformation* request = run.filter->GetOutputInformation(other);
      request->Set(Pipeline::UPDATE_PIECE_NUMBER(), other == port ? 1 : 0);
      request->Set(Pipeline::UPDATE_NUMBER_OF_PIECES(), other == port ? 3 : 1);
      request->Set(Pipeline::UPDATE_NUMBER_OF_GHOST_LEVELS(), other == port ? 2 : 0);
    }
    ASSERT_TRUE(Pipeline::SafeDownCast(run.filter->GetExecutive())->PropagateUpdateExtent(port));
    vtkInformation* asked = source->GetOutputInformation(0);
    EXPECT_EQ(Pipeline::GetUpdatePiece(asked), 1);
    EXPECT_EQ(Pipeline::GetUpdateNumberOfPieces(asked), 3);
    EXPECT_EQ(Pipeline::GetUpdateGhostLevel(asked), TypeParam::PassesGhostsOn ? 2 : 0);
  }
}

// Only the tracer.

TEST(Tracer, GivesTheSameLinesOnAnyNumberOfRanks) {
  Tracing alone(nullptr, 0, 1);
  alone.update();
  const int rank = world().rank(), ranks = world().size();
  Tracing part(everybody(), rank, ranks);
  vtkPolyData* mine = part.lines();
  const vtkIdType first = std::min<vtkIdType>(Tracing::All, 2 * (Seeds * rank / ranks));
  const vtkIdType end = std::min<vtkIdType>(Tracing::All, 2 * (Seeds * (rank + 1) / ranks));
  ASSERT_EQ(mine->GetNumberOfCells(), end - first);
  EXPECT_EQ(bitsOf(mine, 0, end - first), bitsOf(alone.filter->GetOutput(), first, end));
}

TEST(Tracer, IsInterruptedAmongLines) {
  // Many seeds, as what a rank does in one go is not interrupted.
  const auto cloud = seeds(world().rank(), world().size());
  for (int i = 0; i < 40000; ++i)
    cloud->GetPoints()->InsertNextPoint(0.5 + i % 23, 0.5 + i / 23 % 23, 0.5 + i / 529 % 23);
  Tracing tracing(everybody(), slab(world().rank(), world().size()), cloud);
  tracing.filter->SetPeriodic(1, 1, 1);
  tracing.filter->SetPeriod(Cells, Cells, Cells);  // opposite sides differ
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
  EXPECT_EQ(resultsOf(tracing), 0);
  EXPECT_TRUE(tracing.errors.empty());
  EXPECT_LT(progress, 0.8) << "the lines were traced to their ends";

  tracing.filter->RemoveObservers(vtkCommand::ProgressEvent);
  tracing.filter->SetAbortExecute(0);
  tracing.filter->SetInputData(1, seeds(world().rank(), world().size()));
  EXPECT_EQ(resultsOf(tracing), 2 * Seeds);  // the seed outside has an image inside
}

/// Enough seeds for trials with a part of them.
vtkSmartPointer<vtkPolyData> manySeeds() {
  constexpr int Many = 1000;
  const int rank = world().rank(), ranks = world().size();
  const auto cloud = seeds(rank, ranks);
  for (int i = Many * rank / ranks; i < Many * (rank + 1) / ranks; ++i)
    cloud->GetPoints()->InsertNextPoint(0.5 + i % 23, 0.5 + i / 23 % 23, 0.5 + i % 11);
  return cloud;
}

TEST(Tracer, ChoosesSettingsOnceAndChangesNoLine) {
  const int rank = world().rank(), ranks = world().size();
  Tracing plain(everybody(), slab(rank, ranks), manySeeds());
  Tracing tuned(everybody(), slab(rank, ranks), manySeeds());
  tuned.filter->SetAutoTune(true);
  const auto statistic = [](Tracing& tracing, const std::string& name) {
    return tracing.filter->GetOutput()->GetFieldData()->GetArray(
        ("AsyncStreamTracer " + name).c_str());
  };
  const auto value = [&](const std::string& name) {
    vtkDataArray* array = statistic(tuned, name);
    EXPECT_TRUE(array) << name;
    if (!array) return -1.0;
    EXPECT_EQ(array->GetNumberOfTuples(), world().size());
    for (vtkIdType i = 1; i < array->GetNumberOfTuples(); ++i)
      EXPECT_EQ(array->GetTuple1(i), array->GetTuple1(0)) << name;
    return array->GetTuple1(0);
  };
  const auto expectSame = [&] {
    vtkPolyData* one = plain.lines();
    vtkPolyData* other = tuned.lines();
    EXPECT_TRUE(tuned.errors.empty());
    ASSERT_EQ(one->GetNumberOfCells(), other->GetNumberOfCells());
    if (one->GetNumberOfCells() > 0) {
      EXPECT_EQ(bitsOf(one, 0, one->GetNumberOfCells()),
                bitsOf(other, 0, other->GetNumberOfCells()));
    }
  };
  const int fewest = ranks > 1 ? 3 : 0;  // a rank alone has nothing to try
  const auto change = [&](auto&& make) {
    for (Tracing* tracing : {&plain, &tuned}) make(tracing->filter.Get());
  };

  expectSame();
  EXPECT_FALSE(statistic(plain, "TunedBatchBytes"));
  EXPECT_GE(value("TuningTrials"), fewest);
  const double batchBytes = value("TunedBatchBytes"), holdTime = value("TunedHoldTime");
  const double blocks = value("TunedBlocksPerRank");
  EXPECT_GE(batchBytes, 4096);
  EXPECT_GE(holdTime, 0);
  EXPECT_TRUE(blocks == 1 || blocks == 4) << blocks;
  EXPECT_EQ(statistic(tuned, "Blocks")->GetTuple1(rank), blocks);
  EXPECT_GT(statistic(tuned, "TuningSeconds")->GetRange()[0], 0);
  double expected = 0;
  if (ranks > 1) {
    expected = value("ExpectedSeconds");
    EXPECT_GT(expected, 0);
    EXPECT_GE(value("ExpectedSpread"), 0);
    EXPECT_EQ(value("OffBy"), statistic(tuned, "TracingSeconds")->GetRange()[1] / expected - 1);
  }

  // Executed again with other values, as from step to step.
  for (int step = 0; step < 2; ++step) {
    expectSame();
    EXPECT_EQ(value("TuningTrials"), 0);
    EXPECT_EQ(value("TunedBatchBytes"), batchBytes);
    EXPECT_EQ(value("TunedHoldTime"), holdTime);
    EXPECT_EQ(value("TunedBlocksPerRank"), blocks);
    if (ranks > 1) {
      EXPECT_EQ(value("ExpectedSeconds"), expected);
    }
    change([&](auto* filter) { filter->SetInputData(0, slab(rank, ranks)); });
  }
  change([](auto* filter) { filter->SetMaximumPropagation(30); });
  expectSame();
  EXPECT_GE(value("TuningTrials"), fewest);
  // A property that may differ between ranks.
  if (rank == ranks - 1) change([](auto* filter) { filter->SetArrivals(0.5); });
  expectSame();
  EXPECT_GE(value("TuningTrials"), fewest);
  // Too few seeds for trials.
  change([&](auto* filter) { filter->SetInputData(1, seeds(rank, ranks)); });
  expectSame();
  EXPECT_EQ(value("TuningTrials"), 0);
  EXPECT_EQ(value("TunedBatchBytes"), 65536);
  EXPECT_EQ(value("TunedHoldTime"), 5);
  EXPECT_EQ(value("TunedBlocksPerRank"), 1);
  EXPECT_FALSE(statistic(tuned, "ExpectedSeconds"));
}

TEST(Tracer, IsInterruptedInTrials) {
  if (world().size() == 1) GTEST_SKIP() << "one rank tries nothing";
  const int rank = world().rank(), ranks = world().size();
  Tracing tracing(everybody(), slab(rank, ranks), manySeeds());
  tracing.filter->SetAutoTune(true);
  double progress = 0;
  std::function<void(vtkAlgorithm*)> abort = [&](vtkAlgorithm* filter) {
    if (filter->GetProgress() == 1) return;  // the executive's, whatever happened
    progress = filter->GetProgress();
    if (progress > 0) filter->SetAbortExecute(1);
  };
  if (rank == ranks - 1) onProgress(tracing.filter, &abort);
  EXPECT_EQ(resultsOf(tracing), 0);
  EXPECT_TRUE(tracing.errors.empty());
  EXPECT_LE(progress, 0.1) << "it went on after the trials";

  tracing.filter->RemoveObservers(vtkCommand::ProgressEvent);
  tracing.filter->SetAbortExecute(0);
  EXPECT_GT(resultsOf(tracing), 0);
  // An interrupted execution is not kept.
  vtkFieldData* fields = tracing.filter->GetOutput()->GetFieldData();
  EXPECT_GE(fields->GetArray("AsyncStreamTracer TuningTrials")->GetTuple1(0), 3);
}

TEST(Tracer, HasTheSameErrorWhenItTunes) {
  const int rank = world().rank(), ranks = world().size();
  Tracing tracing(everybody(), slab(rank, ranks), manySeeds());
  for (const bool tuned : {false, true}) {
    tracing.filter->SetAutoTune(tuned);
    tracing.filter->SetBatchBytes(rank == ranks - 1 ? 0 : 65536);
    EXPECT_EQ(resultsOf(tracing), 0);
    tracing.expectOneError("Batch Bytes");
    tracing.filter->SetBatchBytes(65536);
    EXPECT_GT(resultsOf(tracing), 0);
    EXPECT_TRUE(tracing.errors.empty());
  }
}

TEST(Connectivity, ChoosesSettingsOnceAndChangesNoRegion) {
  const int rank = world().rank(), ranks = world().size();
  // Through points all cubes are one region, and more than two ranks have to tell each other.
  Connecting plain(everybody(), rank, ranks), tuned(everybody(), rank, ranks);
  for (Connecting* run : {&plain, &tuned})
    run->filter->SetConnectThrough(vtkAsyncConnectivity::POINTS);
  tuned.filter->SetAutoTune(true);
  const auto statistic = [&](const std::string& name) {
    return tuned.filter->GetOutputDataObject(0)->GetFieldData()->GetArray(
        ("AsyncConnectivity " + name).c_str());
  };
  const auto value = [&](const std::string& name) {
    vtkDataArray* array = statistic(name);
    EXPECT_TRUE(array) << name;
    if (!array) return -1.0;
    EXPECT_EQ(array->GetNumberOfTuples(), ranks);
    for (vtkIdType i = 1; i < array->GetNumberOfTuples(); ++i)
      EXPECT_EQ(array->GetTuple1(i), array->GetTuple1(0)) << name;
    return array->GetTuple1(0);
  };
  const auto expectSame = [&] {
    for (Connecting* run : {&plain, &tuned}) {
      run->update();
      EXPECT_TRUE(run->errors.empty());
    }
    const auto idsOf = [](Connecting& run) {
      auto* image = vtkDataSet::SafeDownCast(run.filter->GetOutputDataObject(0));
      return vtkIdTypeArray::SafeDownCast(image->GetCellData()->GetArray("RegionId"));
    };
    vtkIdTypeArray* one = idsOf(plain);
    vtkIdTypeArray* other = idsOf(tuned);
    ASSERT_TRUE(one && other);
    ASSERT_EQ(one->GetNumberOfValues(), other->GetNumberOfValues());
    for (vtkIdType i = 0; i < one->GetNumberOfValues(); ++i)
      ASSERT_EQ(one->GetValue(i), other->GetValue(i)) << i;
  };

  expectSame();
  const bool tries = value("TuningTrials") > 0;
  EXPECT_EQ(tries, ranks > 2);
  EXPECT_EQ(value("TuningSeconds") > 0, tries);
  const double batchBytes = value("TunedBatchBytes"), holdTime = value("TunedHoldTime");
  EXPECT_GE(batchBytes, 4096);
  EXPECT_GE(holdTime, 0);
  EXPECT_EQ(bool(statistic("ExpectedSeconds")), tries);
  const double expected = tries ? value("ExpectedSeconds") : 0;
  for (int step = 0; step < 2; ++step) {
    expectSame();
    EXPECT_EQ(value("TuningTrials"), 0);
    EXPECT_EQ(value("TunedBatchBytes"), batchBytes);
    EXPECT_EQ(value("TunedHoldTime"), holdTime);
    if (tries) {
      EXPECT_EQ(value("ExpectedSeconds"), expected);
      EXPECT_GT(value("OffBy"), -1);
      // Uniting was a part of labeling.
      EXPECT_LE(expected * (1 + value("OffBy")),
                statistic("LabelingSeconds")->GetRange()[1] * (1 + 1e-9));
    }
    for (Connecting* run : {&plain, &tuned})
      run->filter->SetInputData(Connecting::cubes(rank, ranks));
  }
  tuned.filter->SetMethod(vtkAsyncConnectivity::LABEL_PROPAGATION);
  expectSame();
  if (tries) {
    EXPECT_GT(value("TuningTrials"), 0);
  }
  // An error after the trials: they were not those of the next execution.
  for (Connecting* run : {&plain, &tuned}) {
    run->filter->SetMethod(vtkAsyncConnectivity::TREE_UNION);
    run->filter->SetExtractionMode(vtkAsyncConnectivity::SPECIFIED);
    run->filter->InitializeSpecifiedRegionList();
    run->filter->AddSpecifiedRegion(1000);
  }
  tuned.update();
  tuned.expectOneError("1000");
  for (Connecting* run : {&plain, &tuned})
    run->filter->SetExtractionMode(vtkAsyncConnectivity::ALL);
  expectSame();
  EXPECT_EQ(value("TuningTrials"), 0);
  tuned.filter->SetAutoTune(false);
  expectSame();
  EXPECT_FALSE(statistic("TuningTrials"));
}

TEST(Tracer, TakesTheActiveVectorsByDefault) {
  const int rank = world().rank(), ranks = world().size();
  Tracing cells(everybody(), slab(rank, ranks, false, true), seeds(rank, ranks));
  EXPECT_EQ(resultsOf(cells), 2 * (Seeds - 1));
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

TEST(Tracer, RefusesVectorsOfSeveralNames) {
  const int rank = world().rank(), ranks = world().size();
  const auto data = slab(rank, ranks);
  if (rank == ranks - 1) data->GetPointData()->GetVectors()->SetName("other");
  Tracing tracing(everybody(), data, seeds(rank, ranks));
  EXPECT_EQ(resultsOf(tracing), ranks > 1 ? 0 : 2 * (Seeds - 1));
  if (ranks > 1) tracing.expectOneError("\"other\"");
}

/// Seeds of one rank, a row of 4 points along x: a curvilinear or a rectilinear grid.
vtkSmartPointer<vtkDataSet> row(bool curvilinear, int firstIndex, double x) {
  const int extent[6] = {firstIndex, firstIndex + 3, 0, 0, 0, 0};
  if (curvilinear) {
    vtkNew<vtkPoints> points;
    for (int i = 0; i < 4; ++i) points->InsertNextPoint(x + i, 11.3, 10.7);
    auto grid = vtkSmartPointer<vtkStructuredGrid>::New();
    grid->SetExtent(const_cast<int*>(extent));
    grid->SetPoints(points);
    return grid;
  }
  auto grid = vtkSmartPointer<vtkRectilinearGrid>::New();
  grid->SetExtent(const_cast<int*>(extent));
  vtkNew<vtkDoubleArray> axes[3];
  for (int i = 0; i < 4; ++i) axes[0]->InsertNextValue(x + i);
  axes[1]->InsertNextValue(11.3);
  axes[2]->InsertNextValue(10.7);
  grid->SetXCoordinates(axes[0]);
  grid->SetYCoordinates(axes[1]);
  grid->SetZCoordinates(axes[2]);
  return grid;
}

TEST(Tracer, TakesSeedsOfOneGridOnceAndOfSeveralAll) {
  const int rank = world().rank(), ranks = world().size();
  for (const bool curvilinear : {false, true}) {
    SCOPED_TRACE(curvilinear ? "curvilinear" : "rectilinear");
    Tracing tracing(everybody(), rank, ranks);
    // The last point of a rank is the first one of the next.
    tracing.filter->SetInputData(1, row(curvilinear, 3 * rank, 0.6 + 3 * rank % 21));
    if (ranks <= 7) {
      EXPECT_EQ(resultsOf(tracing), 2 * (3 * ranks + 1));
    }
    // Extents that all begin at 0.
    tracing.filter->SetInputData(1, row(curvilinear, 0, 0.6 + 2 * rank));
    EXPECT_EQ(resultsOf(tracing), 2 * 4 * ranks);
    // Extents that go on, with points that do not.
    tracing.filter->SetInputData(1, row(curvilinear, 3 * rank, 0.6 + 2.5 * rank));
    EXPECT_EQ(resultsOf(tracing), 2 * 4 * ranks);
  }
}

TEST(Tracer, TakesSeedsOfImagesWithOtherOrigins) {
  vtkNew<vtkImageData> image;
  image->SetDimensions(4, 1, 1);
  image->SetOrigin(0.6 + 2 * world().rank(), 11.3, 10.7);
  Tracing tracing(everybody(), world().rank(), world().size());
  tracing.filter->SetInputData(1, image);
  EXPECT_EQ(resultsOf(tracing), 2 * 4 * world().size());
}

TEST(Tracer, RoundsNoIdOfASeed) {
  const int rank = world().rank(), ranks = world().size();
  constexpr long long far = (1ll << 53) + 1;
  const auto from = seeds(rank, ranks);
  vtkNew<vtkLongLongArray> ids;
  for (int i = Seeds * rank / ranks; i < Seeds * (rank + 1) / ranks; ++i)
    ids->InsertNextValue(far + i);
  from->GetPointData()->SetGlobalIds(ids);
  Tracing tracing(everybody(), slab(rank, ranks), from);
  EXPECT_EQ(resultsOf(tracing), Tracing::All);
  auto* shown =
      vtkIdTypeArray::SafeDownCast(tracing.filter->GetOutput()->GetCellData()->GetArray("SeedIds"));
  vtkIdType sum = 0;
  for (vtkIdType i = 0; shown && i < shown->GetNumberOfValues(); ++i)
    sum += shown->GetValue(i) - far;
  EXPECT_EQ(tributary::allreduce(world(), ReduceOp::Sum, std::int64_t(sum)),
            (Seeds - 1) * (Seeds - 2));

  ids->InsertNextValue(far + Seeds * 2 + rank);
  EXPECT_EQ(resultsOf(tracing), 0);
  tracing.expectOneError("global ids for");
}

// Only regions.

// In ParaView 5.11 a pipeline with one ends the program.
TEST(Connectivity, TakesUniformHyperTreeGrids) {
  vtkNew<vtkUniformHyperTreeGrid> grid;
  grid->Initialize();
  grid->SetDimensions(4, 3, 1);
  grid->SetBranchFactor(3);
  grid->SetOrigin(1, 2, 3);
  grid->SetGridScale(0.5, 0.25, 1);
  vtkIdType cells = 0;
  for (vtkIdType tree = world().rank(); tree < 6; tree += world().size()) {
    vtkNew<vtkHyperTreeGridNonOrientedCursor> cursor;
    grid->InitializeNonOrientedCursor(cursor, tree, true);
    cursor->SetGlobalIndexStart(cells);
    if (tree % 2 == 0) cursor->SubdivideLeaf();
    cells += cursor->GetTree()->GetNumberOfVertices();
  }
  vtkNew<vtkAsyncConnectivity> filter;
  filter->SetController(everybody());
  filter->SetInputDataObject(grid);
  filter->SetConnectThrough(vtkAsyncConnectivity::FACES);
  filter->Update();
  vtkDataArray* regions =
      filter->GetOutputDataObject(0)->GetFieldData()->GetArray("NumberOfRegions");
  ASSERT_NE(regions, nullptr);
  EXPECT_EQ(regions->GetTuple1(0), 1);
  vtkTable* table = filter->GetRegionTable();
  if (table->GetNumberOfRows() == 0) return;
  EXPECT_EQ(table->GetValueByName(0, "Cells").ToInt(), 3 * 9 + 3);
  EXPECT_NEAR(table->GetValueByName(0, "Measure").ToDouble(), 6 * 0.5 * 0.25, 1e-15);
  const std::pair<const char*, double> bounds[] = {{"BoundsMinX", 1}, {"BoundsMaxX", 2.5},
                                                   {"BoundsMinY", 2}, {"BoundsMaxY", 2.5},
                                                   {"BoundsMinZ", 3}, {"BoundsMaxZ", 3}};
  for (const auto& [name, value] : bounds)
    EXPECT_EQ(table->GetValueByName(0, name).ToDouble(), value) << name;
}

TEST(Connectivity, TakesBitsAsScalarsAndLabels) {
  const auto image = Connecting::cubes(world().rank(), world().size());
  vtkDataArray* cube = image->GetCellData()->GetArray("cube");
  vtkNew<vtkBitArray> bits;
  bits->SetName("bits");
  for (vtkIdType i = 0; i < cube->GetNumberOfTuples(); ++i)
    bits->InsertNextValue(static_cast<int>(cube->GetTuple1(i)));
  image->GetCellData()->AddArray(bits);
  Connecting run(everybody(), image);
  constexpr auto cells = vtkDataObject::FIELD_ASSOCIATION_CELLS;
  run.filter->SetInputArrayToProcess(0, 0, 0, cells, "bits");
  EXPECT_EQ(resultsOf(run), Connecting::All);
  run.filter->SetScalarConnectivity(false);
  run.filter->SetLabelConnectivity(true);
  run.filter->SetInputArrayToProcess(1, 0, 0, cells, "bits");
  EXPECT_EQ(resultsOf(run), 2 * Connecting::All);
}

/// A cube of 4 cells a side whose indices begin at (first, 0, 0) and whose points at (x, 0, 0).
vtkSmartPointer<vtkDataSet> cube(bool curvilinear, int first, double x) {
  vtkNew<vtkRectilinearGrid> grid;
  grid->SetExtent(first, first + 4, 0, 4, 0, 4);
  vtkNew<vtkDoubleArray> axes[3];
  for (int a = 0; a < 3; ++a)
    for (int i = 0; i < 5; ++i) axes[a]->InsertNextValue(a == 0 ? x + i : i);
  grid->SetXCoordinates(axes[0]);
  grid->SetYCoordinates(axes[1]);
  grid->SetZCoordinates(axes[2]);
  if (!curvilinear) return grid.Get();
  vtkNew<vtkPoints> points;
  grid->GetPoints(points);
  auto other = vtkSmartPointer<vtkStructuredGrid>::New();
  other->SetExtent(grid->GetExtent());
  other->SetPoints(points);
  return other;
}

TEST(Connectivity, JoinsDataSetsByIndexOnlyIfTheirPointsAgree) {
  const int rank = world().rank(), ranks = world().size();
  const auto regionsOf = [&](vtkDataObject* data) {
    Running<vtkAsyncConnectivity> run(everybody());
    run.filter->SetInputData(data);
    run.update();
    EXPECT_TRUE(run.errors.empty());
    return tributary::allreduce(world(), ReduceOp::Sum,
                                std::int64_t(run.filter->GetRegionTable()->GetNumberOfRows()));
  };
  for (const bool curvilinear : {false, true}) {
    SCOPED_TRACE(curvilinear ? "curvilinear" : "rectilinear");
    // The same indices at other places, as of a simulation that says nothing of its whole extent.
    const auto apart = cube(curvilinear, 0, 100 * rank);
    EXPECT_EQ(regionsOf(apart), ranks);
    vtkNew<vtkPartitionedDataSet> partitions;
    partitions->SetNumberOfPartitions(1);
    partitions->SetPartition(0, apart);
    EXPECT_EQ(regionsOf(partitions), ranks);
    // Indices that go on where points do not.
    EXPECT_EQ(regionsOf(cube(curvilinear, 4 * rank, 100 * rank)), ranks);
    // One grid.
    const auto part = cube(curvilinear, 4 * rank, 4 * rank);
    EXPECT_EQ(regionsOf(part), 1);
    partitions->SetPartition(0, part);
    EXPECT_EQ(regionsOf(partitions), 1);
  }
}

TEST(Connectivity, HasItsListsBackAndIsNotModifiedByEqualOnes) {
  vtkNew<vtkAsyncConnectivity> filter;
  filter->SetScalarRange(0.25, 0.5);
  filter->SetScalarRange(2, 1, 3);
  EXPECT_EQ(filter->GetNumberOfScalarRanges(), 3);
  double range[2];
  filter->GetScalarRange(2, range);
  EXPECT_EQ(range[0], 1);
  EXPECT_EQ(range[1], 3);
  filter->GetScalarRange(1, range);  // between those that were given
  EXPECT_EQ(range[0], 0);
  EXPECT_EQ(range[1], 1);
  filter->AddSeed(7);
  filter->AddSpecifiedRegion(8);
  filter->AddStatisticsArray("a");
  EXPECT_EQ(filter->GetNumberOfSeeds(), 1);
  EXPECT_EQ(filter->GetSeed(0), 7);
  EXPECT_EQ(filter->GetNumberOfSpecifiedRegions(), 1);
  EXPECT_EQ(filter->GetSpecifiedRegion(0), 8);
  EXPECT_EQ(filter->GetNumberOfStatisticsArrays(), 1);
  EXPECT_STREQ(filter->GetStatisticsArray(0), "a");
  for (const int none : {-1, 1}) {
    EXPECT_EQ(filter->GetSeed(none), -1);
    EXPECT_EQ(filter->GetSpecifiedRegion(none), -1);
    EXPECT_EQ(filter->GetStatisticsArray(none), nullptr);
  }
  const vtkMTimeType before = filter->GetMTime();
  filter->SetScalarRange(2, 1, 3);
  filter->SetNumberOfScalarRanges(3);
  filter->DeleteSeed(9);
  filter->DeleteSpecifiedRegion(9);
  EXPECT_EQ(filter->GetMTime(), before);
  filter->SetScalarRange(2, 1, 4);
  EXPECT_GT(filter->GetMTime(), before);
}

}  // namespace
