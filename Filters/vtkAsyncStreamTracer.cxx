// SPDX-License-Identifier: BSD-3-Clause
#include "vtkAsyncStreamTracer.h"

#include "Common/Leaves.h"
#include "Common/PropertyList.h"
#include "Common/Require.h"
#include "Common/RunStatistics.h"
#include "Common/SmpFor.h"
#include "Lines/DomainFromVTK.h"
#include "Lines/LineAssembly.h"
#include "Lines/LineTable.h"
#include "Lines/PointArrays.h"
#include "Lines/SeedsFromVTK.h"

#include "Tributary/Advection/TraceTuning.h"
#include "Tributary/Advection/Tracer.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"

#include <vtkDataArray.h>
#include <vtkDataObject.h>
#include <vtkDataSetAttributes.h>
#include <vtkFieldData.h>
#include <vtkIdTypeArray.h>
#include <vtkInformation.h>
#include <vtkInformationVector.h>
#include <vtkNew.h>
#include <vtkObjectFactory.h>
#include <vtkPolyData.h>
#include <vtkStreamingDemandDrivenPipeline.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

vtkStandardNewMacro(vtkAsyncStreamTracer);

namespace {
using tributary::Error;
using tributary::require;

/// Share of the progress bar at the end of each phase.
constexpr double SETUP_DONE = 0.1;
constexpr double TRACING_DONE = 0.8;

/// What AutoTune tries beside BlocksPerRank.
int MoreBlocks(int blocksPerRank) {
  return static_cast<int>(
      std::min<std::int64_t>(std::numeric_limits<int>::max(), std::int64_t{4} * blocksPerRank));
}
}  // anonymous namespace

//------------------------------------------------------------------------------
/// What AutoTune chose, and for what.
struct vtkAsyncStreamTracer::vtkChoice {
  tributary::PropertyList Work;
  tributary::TraceSetting Setting;
  int BlocksPerRank;
  std::optional<tributary::TimeForecast> Expected;
};

//------------------------------------------------------------------------------
/// One execution on one rank. Every member function is collective.
class vtkAsyncStreamTracer::vtkRun {
 public:
  vtkRun(vtkAsyncStreamTracer* self, tributary::Transport& transport)
      : Self(self), Transport(transport) {}

  /// Traces and fills `output`. @return false after an abort
  bool Execute(vtkDataObject* input, vtkDataObject* source, vtkPolyData* output,
               tributary::RunStatistics& statistics);

 private:
  std::vector<tributary::FlowPiece> PiecesOf(vtkDataObject* input, bool& cellCentered);
  tributary::TraceOptions MakeOptions(const tributary::FlowDomain& flow);
  /// Cuts the domain anew and sets what else is chosen, or was before. @return false after an abort
  bool Tune(tributary::FlowDomain& flow, const tributary::SeedList& seeds,
            tributary::TraceOptions& options, tributary::RunStatistics& statistics);
  void ReportRejected(const tributary::SeedList& seeds, const tributary::LineTable& table,
                      vtkFieldData* fieldData);
  void Warn(const std::vector<std::string>& droppedArrays, std::int64_t unexpected);

  vtkAsyncStreamTracer* Self;
  tributary::Transport& Transport;
  std::int64_t SkippedTrees = 0;  // of this rank
};

//------------------------------------------------------------------------------
/// The leaves of this rank that have cells and the chosen vectors.
std::vector<tributary::FlowPiece> vtkAsyncStreamTracer::vtkRun::PiecesOf(vtkDataObject* input,
                                                                         bool& cellCentered) {
  std::vector<tributary::FlowPiece> pieces;
  tributary::collectively(this->Transport, [&] {
    for (const tributary::Leaf& leaf : tributary::leavesAndTreesOf(input)) {
      if (leaf.trees) {
        ++this->SkippedTrees;
        continue;
      }
      int association = vtkDataObject::FIELD_ASSOCIATION_NONE;
      vtkDataArray* vectors = this->Self->GetInputArrayToProcess(0, leaf.dataSet, association);
      const bool atCells = association == vtkDataObject::FIELD_ASSOCIATION_CELLS;
      if (!vectors || (!atCells && association != vtkDataObject::FIELD_ASSOCIATION_POINTS)) {
        continue;
      }
      const int dimension = tributary::dimensionOf(leaf.dataSet);
      if (dimension < 0) {
        continue;
      }
      if (!pieces.empty() && atCells != cellCentered) {
        throw Error(
            "the vectors belong to points in some blocks and to cells in others; convert "
            "them with Cell Data to Point Data or Point Data to Cell Data first");
      }
      cellCentered = atCells;
      pieces.push_back({leaf, vectors, dimension});
    }
  });
  return pieces;
}

//------------------------------------------------------------------------------
tributary::TraceOptions vtkAsyncStreamTracer::vtkRun::MakeOptions(
    const tributary::FlowDomain& flow) {
  auto* self = this->Self;
  tributary::TraceOptions options;
  tributary::StepRules& rules = options.rules;
  constexpr tributary::Integrator integrators[] = {tributary::Integrator::RungeKutta2,
                                                   tributary::Integrator::RungeKutta4,
                                                   tributary::Integrator::RungeKutta45};
  rules.integrator = integrators[self->IntegratorType];
  rules.unit = self->IntegrationStepUnit == LENGTH_UNIT ? tributary::StepUnit::Length
                                                        : tributary::StepUnit::CellLength;
  rules.initialStep = self->InitialIntegrationStep;
  rules.minimumStep = self->MinimumIntegrationStep;
  rules.maximumStep = self->MaximumIntegrationStep;
  rules.maximumError = self->MaximumError;
  rules.maximumLength = self->MaximumPropagation;
  rules.maximumTime = self->MaximumIntegrationTime > 0 ? self->MaximumIntegrationTime
                                                       : std::numeric_limits<double>::infinity();
  rules.maximumSteps = self->MaximumNumberOfSteps;
  rules.terminalSpeed = self->TerminalSpeed;
  rules.onSurface = self->SurfaceStreamlines;
  tributary::collectively(this->Transport, [&] {
    require(!self->SurfaceStreamlines || flow.dimension == 2, "SurfaceStreamlines",
            "on with an input of volumes",
            "turn it off, or trace on the result of Extract Surface");
    for (std::size_t a = 0; a < 3; ++a) {
      if (self->Periodic[a] == 0) {
        continue;
      }
      rules.period[a] = flow.bounds.hi[a] - flow.bounds.lo[a];
      rules.periodicOrigin[a] = flow.bounds.lo[a];
      require(rules.period[a] > 0, "Periodic", "1 along an axis in which the input is flat",
              "set it to 0 there");
    }
  });
  options.forward = self->IntegrationDirection != BACKWARD;
  options.backward = self->IntegrationDirection != FORWARD;
  options.exchange = self->MakeExchangeOptions();
  options.parallelFor = tributary::smpFor;
  options.monitor = [this](double share) {
    return this->Self->Monitor(
        this->Transport,
        SETUP_DONE + (TRACING_DONE - SETUP_DONE) * std::min(1.0, std::max(0.0, share)));
  };
  return options;
}

//------------------------------------------------------------------------------
bool vtkAsyncStreamTracer::vtkRun::Tune(tributary::FlowDomain& flow,
                                        const tributary::SeedList& seeds,
                                        tributary::TraceOptions& options,
                                        tributary::RunStatistics& statistics) {
  auto* self = this->Self;
  tributary::PropertyList work;
  self->DescribeProperties(work);
  work.add("Schedule", self->Schedule);
  work.add("Detector", self->Detector);
  work.add("Arrivals", self->Arrivals);
  work.add("Seeds", seeds.shares.total);
  work.add("BlocksPerRank", self->BlocksPerRank);
  work.add("Ranks", this->Transport.size());
  const bool known = self->Choice && self->Choice->Work == work;
  std::size_t trials = 0;
  // Not alike on all ranks: Arrivals, or if another controller has come in.
  if (tributary::allreduce(this->Transport, tributary::ReduceOp::Or, std::int64_t(!known)) != 0) {
    self->Choice.reset();
    const std::array<int, 2> blocksPerRank{self->BlocksPerRank, MoreBlocks(self->BlocksPerRank)};
    std::array<std::unique_ptr<tributary::Domain>, 2> domains{
        std::move(flow.domain), tributary::cutIntoBlocks(this->Transport, flow, blocksPerRank[1])};
    const std::vector<const tributary::Domain*> cuts{domains[0].get(), domains[1].get()};
    const auto settings = tributary::traceSettings(cuts);
    const auto tuning = tributary::tuneTrace(this->Transport, settings, seeds.seeds, options);
    if (self->AbortedTogether(this->Transport, tuning.aborted)) {
      return false;
    }
    trials = tuning.trials;
    const auto best = static_cast<std::size_t>(
        std::find(cuts.begin(), cuts.end(), settings[tuning.best].domain) - cuts.begin());
    flow.domain = std::move(domains[best]);
    self->Choice.reset(new vtkChoice{std::move(work), settings[tuning.best], blocksPerRank[best],
                                     tuning.expected});
    self->Choice->Setting.domain = nullptr;                       // which does not live as long
  } else if (self->Choice->BlocksPerRank != self->BlocksPerRank)  // so it is on all ranks or none
  {
    flow.domain = tributary::cutIntoBlocks(this->Transport, flow, self->Choice->BlocksPerRank);
  }
  const tributary::TraceSetting& setting = self->Choice->Setting;
  setting.exchange.applyTo(options.exchange);
  statistics.count("TunedBlocksPerRank", self->Choice->BlocksPerRank);
  statistics.add(setting.exchange, trials);
  statistics.phase("TuningSeconds");
  return true;
}

//------------------------------------------------------------------------------
void vtkAsyncStreamTracer::vtkRun::ReportRejected(const tributary::SeedList& seeds,
                                                  const tributary::LineTable& table,
                                                  vtkFieldData* fieldData) {
  std::vector<std::int64_t> mine;
  for (const std::int64_t place : table.rejected) {
    mine.push_back(seeds.shown.empty()
                       ? place
                       : seeds.shown[static_cast<std::size_t>(place - table.firstSeed)]);
  }
  vtkNew<vtkIdTypeArray> ids;
  ids->SetName("RejectedSeedIds");
  for (const std::int64_t id : tributary::allgatherv(this->Transport, mine)) {
    ids->InsertNextValue(id);
  }
  fieldData->AddArray(ids);
}

//------------------------------------------------------------------------------
void vtkAsyncStreamTracer::vtkRun::Warn(const std::vector<std::string>& droppedArrays,
                                        std::int64_t unexpected) {
  const std::vector<std::int64_t> sums =
      tributary::allreduce(this->Transport, tributary::ReduceOp::Sum,
                           std::vector<std::int64_t>{unexpected, this->SkippedTrees});
  if (this->Transport.rank() != 0) {
    return;
  }
  for (const std::string& name : droppedArrays) {
    vtkWarningWithObjectMacro(this->Self,
                              "The point array \""
                                  << name
                                  << "\" is not interpolated: its number of components differs "
                                     "between blocks.");
  }
  if (sums[1] > 0) {
    vtkWarningWithObjectMacro(
        this->Self,
        "The hyper tree grids of the input are not traced; apply Hyper Tree Grid To Unstructured "
        "Grid "
        "to them first.");
  }
  if (sums[0] > 0) {
    vtkWarningWithObjectMacro(
        this->Self, << sums[0]
                    << " lines end where the vectors are not finite numbers (ReasonForTermination "
                    << UNEXPECTED_VALUE << ").");
  }
}

//------------------------------------------------------------------------------
bool vtkAsyncStreamTracer::vtkRun::Execute(vtkDataObject* input, vtkDataObject* source,
                                           vtkPolyData* output,
                                           tributary::RunStatistics& statistics) {
  auto* self = this->Self;
  bool cellCentered = false;
  auto pieces = this->PiecesOf(input, cellCentered);
  const auto flow = tributary::makeFlowDomain(this->Transport, std::move(pieces), cellCentered);
  flow->domain = tributary::cutIntoBlocks(this->Transport, *flow, self->BlocksPerRank);
  const auto arrays = tributary::agreeOnPointArrays(this->Transport, *flow);
  const auto seeds = tributary::makeSeedList(this->Transport, source);
  auto options = this->MakeOptions(*flow);
  statistics.phase("SetupSeconds");
  self->UpdateProgress(SETUP_DONE);
  if (!self->AutoTune) {
    self->Choice.reset();
  } else if (!this->Tune(*flow, seeds, options, statistics)) {
    return false;
  }

  const auto traced = tributary::trace(this->Transport, *flow->domain, seeds.seeds, options);
  const double tracing = statistics.phase("TracingSeconds");
  if (!traced.aborted) {
    self->UpdateProgress(TRACING_DONE);
  }
  if (self->AbortedTogether(this->Transport, traced.aborted)) {
    return false;
  }

  auto table = tributary::makeLineTable(this->Transport, seeds.shares, traced.ends, options.forward,
                                        options.backward, self->JoinDirections);
  tributary::AssemblySettings settings;
  settings.rules = options.rules;
  settings.computeVorticity = self->ComputeVorticity;
  settings.rotationScale = self->RotationScale;
  const auto lines =
      tributary::assembleLines(this->Transport, *flow, arrays, seeds, table, traced, settings);

  output->ShallowCopy(lines);
  if (input) {
    output->GetFieldData()->PassData(input->GetFieldData());
  }
  statistics.count("Seeds", static_cast<std::int64_t>(seeds.seeds.size()));
  statistics.count("RejectedSeeds", static_cast<std::int64_t>(table.rejected.size()));
  statistics.count("Lines", static_cast<std::int64_t>(table.lines.size()));
  statistics.count("LinePoints", table.points);
  statistics.count("PointsRecorded", traced.points);
  statistics.count("Blocks", static_cast<std::int64_t>(flow->domain->blocks.size()));
  statistics.count("Handovers", traced.handovers);
  statistics.add(traced.statistics);
  statistics.phase("AssemblySeconds");
  if (self->AutoTune && self->Choice->Expected) {
    statistics.add(*self->Choice->Expected,
                   tributary::allreduce(this->Transport, tributary::ReduceOp::Max, tracing));
  }
  if (self->ReportRejectedSeeds) {
    this->ReportRejected(seeds, table, output->GetFieldData());
  }
  this->Warn(arrays.dropped, table.unexpected);
  return true;
}

//------------------------------------------------------------------------------
vtkAsyncStreamTracer::vtkAsyncStreamTracer() {
  this->SetNumberOfInputPorts(2);
  this->SetInputArrayToProcess(0, 0, 0, vtkDataObject::FIELD_ASSOCIATION_POINTS_THEN_CELLS,
                               vtkDataSetAttributes::VECTORS);
}

//------------------------------------------------------------------------------
vtkAsyncStreamTracer::~vtkAsyncStreamTracer() = default;

//------------------------------------------------------------------------------
void vtkAsyncStreamTracer::SetSourceConnection(vtkAlgorithmOutput* seeds) {
  this->SetInputConnection(1, seeds);
}

//------------------------------------------------------------------------------
vtkPolyData* vtkAsyncStreamTracer::GetOutput() {
  return this->GetOutput(0);
}

//------------------------------------------------------------------------------
vtkPolyData* vtkAsyncStreamTracer::GetOutput(int port) {
  return vtkPolyData::SafeDownCast(this->GetOutputDataObject(port));
}

//------------------------------------------------------------------------------
int vtkAsyncStreamTracer::FillOutputPortInformation(int, vtkInformation* info) {
  info->Set(vtkDataObject::DATA_TYPE_NAME(), "vtkPolyData");
  return 1;
}

//------------------------------------------------------------------------------
int vtkAsyncStreamTracer::RequestUpdateExtent(vtkInformation* request,
                                              vtkInformationVector** inputVector,
                                              vtkInformationVector* outputVector) {
  // Lines have no ghosts, and the cells next to a rank's are asked for where they are.
  for (int port = 0; port < this->GetNumberOfInputPorts(); ++port) {
    for (int i = 0; i < inputVector[port]->GetNumberOfInformationObjects(); ++i) {
      inputVector[port]->GetInformationObject(i)->Set(
          vtkStreamingDemandDrivenPipeline::UPDATE_NUMBER_OF_GHOST_LEVELS(), 0);
    }
  }
  return this->Superclass::RequestUpdateExtent(request, inputVector, outputVector);
}

//------------------------------------------------------------------------------
void vtkAsyncStreamTracer::CheckProperties() {
  const double first = this->InitialIntegrationStep;
  require(first > 0 && std::isfinite(first), "InitialIntegrationStep", first,
          "set it to a positive length");
  if (this->IntegratorType == RUNGE_KUTTA45) {
    const double shortest = this->MinimumIntegrationStep;
    const double longest = this->MaximumIntegrationStep;
    require(shortest >= 0 && std::isfinite(shortest), "MinimumIntegrationStep", shortest,
            "set it to a positive length, or to 0 to use InitialIntegrationStep");
    require(longest >= 0 && std::isfinite(longest), "MaximumIntegrationStep", longest,
            "set it to a positive length, or to 0 to use InitialIntegrationStep");
    require((shortest > 0 ? shortest : first) <= (longest > 0 ? longest : first),
            "MinimumIntegrationStep", shortest, "it must not be above MaximumIntegrationStep");
    require(this->MaximumError > 0 && std::isfinite(this->MaximumError), "MaximumError",
            this->MaximumError, "set it to a positive length");
  }
  require(this->MaximumNumberOfSteps >= 0 &&
              this->MaximumNumberOfSteps <= std::numeric_limits<std::int32_t>::max() - 2,
          "MaximumNumberOfSteps", this->MaximumNumberOfSteps,
          "set it to a number from 0 to 2147483645");
  require(this->MaximumPropagation > 0, "MaximumPropagation", this->MaximumPropagation,
          "set the maximum streamline length to a positive length");
  require(this->MaximumIntegrationTime >= 0, "MaximumIntegrationTime", this->MaximumIntegrationTime,
          "set it to a positive time, or to 0 for no limit");
  require(this->TerminalSpeed >= 0, "TerminalSpeed", this->TerminalSpeed,
          "set it to 0 or a positive speed");
  require(std::isfinite(this->RotationScale), "RotationScale", this->RotationScale,
          "set it to a finite number");
  require(this->BlocksPerRank >= 1 && this->BlocksPerRank <= 1000000, "BlocksPerRank",
          this->BlocksPerRank, "set it to a number from 1 to 1000000");
}

//------------------------------------------------------------------------------
void vtkAsyncStreamTracer::DescribeProperties(tributary::PropertyList& list) {
  this->DescribeArray(list, "Vectors", 0);
  list.add("IntegrationDirection", this->IntegrationDirection);
  list.add("JoinDirections", this->JoinDirections);
  list.add("IntegratorType", this->IntegratorType);
  list.add("IntegrationStepUnit", this->IntegrationStepUnit);
  list.add("InitialIntegrationStep", this->InitialIntegrationStep);
  list.add("MinimumIntegrationStep", this->MinimumIntegrationStep);
  list.add("MaximumIntegrationStep", this->MaximumIntegrationStep);
  list.add("MaximumError", this->MaximumError);
  list.add("MaximumNumberOfSteps", this->MaximumNumberOfSteps);
  list.add("MaximumPropagation", this->MaximumPropagation);
  list.add("MaximumIntegrationTime", this->MaximumIntegrationTime);
  list.add("TerminalSpeed", this->TerminalSpeed);
  list.add("ComputeVorticity", this->ComputeVorticity);
  list.add("RotationScale", this->RotationScale);
  list.add("SurfaceStreamlines", this->SurfaceStreamlines);
  list.addAll("Periodic", this->Periodic);
  list.add("ReportRejectedSeeds", this->ReportRejectedSeeds);
}

//------------------------------------------------------------------------------
bool vtkAsyncStreamTracer::Execute(tributary::Transport& transport,
                                   vtkInformationVector** inputVector,
                                   vtkInformationVector* outputVector,
                                   tributary::RunStatistics& statistics) {
  return vtkRun(this, transport)
      .Execute(vtkDataObject::GetData(inputVector[0], 0), vtkDataObject::GetData(inputVector[1], 0),
               vtkPolyData::GetData(outputVector, 0), statistics);
}

//------------------------------------------------------------------------------
void vtkAsyncStreamTracer::PrintSelf(ostream& os, vtkIndent indent) {
  this->Superclass::PrintSelf(os, indent);
  os << indent << "IntegrationDirection: " << this->IntegrationDirection << "\n"
     << indent << "JoinDirections: " << this->JoinDirections << "\n"
     << indent << "IntegratorType: " << this->IntegratorType << "\n"
     << indent << "IntegrationStepUnit: " << this->IntegrationStepUnit << "\n"
     << indent << "InitialIntegrationStep: " << this->InitialIntegrationStep << "\n"
     << indent << "MinimumIntegrationStep: " << this->MinimumIntegrationStep << "\n"
     << indent << "MaximumIntegrationStep: " << this->MaximumIntegrationStep << "\n"
     << indent << "MaximumError: " << this->MaximumError << "\n"
     << indent << "MaximumNumberOfSteps: " << this->MaximumNumberOfSteps << "\n"
     << indent << "MaximumPropagation: " << this->MaximumPropagation << "\n"
     << indent << "MaximumIntegrationTime: " << this->MaximumIntegrationTime << "\n"
     << indent << "TerminalSpeed: " << this->TerminalSpeed << "\n"
     << indent << "ComputeVorticity: " << this->ComputeVorticity << "\n"
     << indent << "RotationScale: " << this->RotationScale << "\n"
     << indent << "SurfaceStreamlines: " << this->SurfaceStreamlines << "\n"
     << indent << "Periodic: " << this->Periodic[0] << " " << this->Periodic[1] << " "
     << this->Periodic[2] << "\n"
     << indent << "ReportRejectedSeeds: " << this->ReportRejectedSeeds << "\n"
     << indent << "BlocksPerRank: " << this->BlocksPerRank << "\n";
}
