#include "vtkAsyncStreamTracer.h"

#include "Private/ControllerTransport.h"
#include "Private/DomainFromVTK.h"
#include "Private/Leaves.h"
#include "Private/LineAssembly.h"
#include "Private/LineTable.h"
#include "Private/PointArrays.h"
#include "Private/RunStatistics.h"
#include "Private/SeedsFromVTK.h"
#include "Private/Together.h"

#include "Tributary/Advection/Tracer.h"
#include "Tributary/Error.h"
#include "Tributary/Termination/Detector.h"
#include "Tributary/Transport/Collectives.h"

#include <vtkDataArray.h>
#include <vtkDataObject.h>
#include <vtkDataSetAttributes.h>
#include <vtkErrorCode.h>
#include <vtkFieldData.h>
#include <vtkIdTypeArray.h>
#include <vtkInformation.h>
#include <vtkInformationVector.h>
#include <vtkMultiProcessController.h>
#include <vtkNew.h>
#include <vtkObjectFactory.h>
#include <vtkPolyData.h>
#include <vtkSMPTools.h>
#include <vtkStreamingDemandDrivenPipeline.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <mutex>
#include <sstream>
#include <utility>

vtkStandardNewMacro(vtkAsyncStreamTracer);

namespace
{
using tributary::Error;

/// Share of the progress bar at the end of each phase.
constexpr double SETUP_DONE = 0.1;
constexpr double TRACING_DONE = 0.8;
/// Seconds between two looks at the abort flag, which may call back into a client.
constexpr double MONITOR_INTERVAL = 0.02;

void smpFor(
  std::int64_t count, const std::function<void(std::int64_t begin, std::int64_t end)>& body)
{
  if (count < 1)
  {
    return;
  }
  // An exception that left a thread of VTK's would end the program.
  std::exception_ptr failure;
  std::mutex guard;
  vtkSMPTools::For(0, count,
    [&](vtkIdType begin, vtkIdType end)
    {
      try
      {
        body(begin, end);
      }
      catch (...)
      {
        const std::lock_guard<std::mutex> lock(guard);
        failure = std::current_exception();
      }
    });
  if (failure)
  {
    std::rethrow_exception(failure);
  }
}

/// Throws Error unless the value is good, naming the property, its value and what it should be.
template <class T>
void require(bool isGood, const char* property, T value, const char* cure)
{
  if (!isGood)
  {
    std::ostringstream text;
    text << property << " is " << value << "; " << cure;
    throw Error(text.str());
  }
}
} // anonymous namespace

//------------------------------------------------------------------------------
/// One execution on one rank. Every member function is collective.
class vtkAsyncStreamTracer::vtkRun
{
public:
  vtkRun(vtkAsyncStreamTracer* self, tributary::Transport& transport)
    : Self(self)
    , Transport(transport)
  {
  }

  /// Traces and fills `output`; leaves it empty after an abort.
  void Execute(vtkDataObject* input, vtkDataObject* source, vtkPolyData* output);

private:
  void CheckProperties();
  void AgreeOnProperties();
  std::vector<tributary::FlowPiece> PiecesOf(vtkDataObject* input, bool& cellCentred);
  tributary::TraceOptions MakeOptions(const tributary::FlowDomain& flow);
  bool Monitor(double share);
  void ReportRejected(
    const tributary::SeedList& seeds, const tributary::LineTable& table, vtkFieldData* fieldData);
  void Warn(const std::vector<std::string>& droppedArrays, std::int64_t unexpected);

  vtkAsyncStreamTracer* Self;
  tributary::Transport& Transport;
  double LastLook = -1;
};

//------------------------------------------------------------------------------
void vtkAsyncStreamTracer::vtkRun::CheckProperties()
{
  const auto finite = [](double value) { return std::isfinite(value); };
  auto* self = this->Self;
  tributary::together(this->Transport,
    [&]
    {
      const double first = self->InitialIntegrationStep;
      require(
        first > 0 && finite(first), "InitialIntegrationStep", first, "set it to a positive length");
      if (self->IntegratorType == RUNGE_KUTTA45)
      {
        const double shortest = self->MinimumIntegrationStep;
        const double longest = self->MaximumIntegrationStep;
        require(shortest >= 0 && finite(shortest), "MinimumIntegrationStep", shortest,
          "set it to a positive length, or to 0 to use InitialIntegrationStep");
        require(longest >= 0 && finite(longest), "MaximumIntegrationStep", longest,
          "set it to a positive length, or to 0 to use InitialIntegrationStep");
        require((shortest > 0 ? shortest : first) <= (longest > 0 ? longest : first),
          "MinimumIntegrationStep", shortest, "it must not be above MaximumIntegrationStep");
        require(self->MaximumError > 0 && finite(self->MaximumError), "MaximumError",
          self->MaximumError, "set it to a positive length");
      }
      require(self->MaximumNumberOfSteps >= 0 &&
          self->MaximumNumberOfSteps <= std::numeric_limits<std::int32_t>::max() - 2,
        "MaximumNumberOfSteps", self->MaximumNumberOfSteps,
        "set it to a number from 0 to 2147483645");
      require(self->MaximumPropagation > 0, "MaximumPropagation", self->MaximumPropagation,
        "set the maximum streamline length to a positive length");
      require(self->MaximumIntegrationTime >= 0, "MaximumIntegrationTime",
        self->MaximumIntegrationTime, "set it to a positive time, or to 0 for no limit");
      require(self->TerminalSpeed >= 0, "TerminalSpeed", self->TerminalSpeed,
        "set it to 0 or a positive speed");
      require(finite(self->RotationScale), "RotationScale", self->RotationScale,
        "set it to a finite number");
      require(self->Arrivals >= 0 && self->Arrivals <= 1, "Arrivals", self->Arrivals,
        "set it to a share from 0 to 1");
      require(self->BatchBytes >= 1, "BatchBytes", self->BatchBytes, "set it to 1 or more");
      require(self->HoldTime >= 0 && finite(self->HoldTime), "HoldTime", self->HoldTime,
        "set it to 0 or more microseconds");
      require(self->BlocksPerRank >= 1 && self->BlocksPerRank <= 1000000, "BlocksPerRank",
        self->BlocksPerRank, "set it to a number from 1 to 1000000");
      require(self->StallTimeout >= 0, "StallTimeout", self->StallTimeout,
        "set it to a positive number of seconds, or to 0 to wait for ever");
      const auto known = tributary::detectorNames(tributary::WorkModel::AP);
      std::string choices = "\"default\"";
      for (const std::string& name : known)
      {
        choices += ", \"" + name + "\"";
      }
      require(self->Detector == "default" ||
          std::find(known.begin(), known.end(), self->Detector) != known.end(),
        "Detector", self->Detector, ("set it to one of " + choices).c_str());
    });
}

//------------------------------------------------------------------------------
/// Ranks with other properties would do other things, and wait for each other for ever. Those that
/// only say how a rank shares out its own work may differ.
void vtkAsyncStreamTracer::vtkRun::AgreeOnProperties()
{
  auto* self = this->Self;
  const auto detectors = tributary::detectorNames();
  const auto detector = std::find(detectors.begin(), detectors.end(), self->Detector);
  const std::vector<std::pair<const char*, double>> properties{
    { "IntegrationDirection", self->IntegrationDirection },
    { "JoinDirections", self->JoinDirections },
    { "IntegratorType", self->IntegratorType },
    { "IntegrationStepUnit", self->IntegrationStepUnit },
    { "InitialIntegrationStep", self->InitialIntegrationStep },
    { "MinimumIntegrationStep", self->MinimumIntegrationStep },
    { "MaximumIntegrationStep", self->MaximumIntegrationStep },
    { "MaximumError", self->MaximumError },
    { "MaximumNumberOfSteps", static_cast<double>(self->MaximumNumberOfSteps) },
    { "MaximumPropagation", self->MaximumPropagation },
    { "MaximumIntegrationTime", self->MaximumIntegrationTime },
    { "TerminalSpeed", self->TerminalSpeed },
    { "ComputeVorticity", self->ComputeVorticity },
    { "RotationScale", self->RotationScale },
    { "SurfaceStreamlines", self->SurfaceStreamlines },
    { "Periodic", self->Periodic[0] },
    { "Periodic", self->Periodic[1] },
    { "Periodic", self->Periodic[2] },
    { "ReportRejectedSeeds", self->ReportRejectedSeeds },
    { "Schedule", self->Schedule },
    { "Detector", static_cast<double>(detector - detectors.begin()) },
  };
  std::vector<double> values;
  for (const auto& property : properties)
  {
    values.push_back(property.second);
  }
  const auto least = tributary::allreduce(this->Transport, tributary::ReduceOp::Min, values);
  const auto most = tributary::allreduce(this->Transport, tributary::ReduceOp::Max, values);
  for (std::size_t i = 0; i < properties.size(); ++i)
  {
    if (least[i] != most[i])
    {
      std::ostringstream text;
      text << properties[i].first << " is " << least[i] << " on one rank and " << most[i]
           << " on another; set it to the same on all ranks";
      throw Error(text.str());
    }
  }
}

//------------------------------------------------------------------------------
/// The leaves of this rank that have cells and the chosen vectors.
std::vector<tributary::FlowPiece> vtkAsyncStreamTracer::vtkRun::PiecesOf(
  vtkDataObject* input, bool& cellCentred)
{
  std::vector<tributary::FlowPiece> pieces;
  tributary::together(this->Transport,
    [&]
    {
      for (const tributary::Leaf& leaf : tributary::leavesOf(input))
      {
        int association = vtkDataObject::FIELD_ASSOCIATION_NONE;
        vtkDataArray* vectors = this->Self->GetInputArrayToProcess(0, leaf.dataSet, association);
        const bool atCells = association == vtkDataObject::FIELD_ASSOCIATION_CELLS;
        if (!vectors || (!atCells && association != vtkDataObject::FIELD_ASSOCIATION_POINTS))
        {
          continue;
        }
        const int dimension = tributary::dimensionOf(leaf.dataSet);
        if (dimension < 0)
        {
          continue;
        }
        if (!pieces.empty() && atCells != cellCentred)
        {
          throw Error("the vectors belong to points in some blocks and to cells in others; convert "
                      "them with Cell Data to Point Data or Point Data to Cell Data first");
        }
        cellCentred = atCells;
        pieces.push_back(
          { leaf.dataSet, leaf.group, leaf.hierarchy, leaf.level, vectors, dimension });
      }
    });
  return pieces;
}

//------------------------------------------------------------------------------
tributary::TraceOptions vtkAsyncStreamTracer::vtkRun::MakeOptions(const tributary::FlowDomain& flow)
{
  auto* self = this->Self;
  tributary::TraceOptions options;
  tributary::StepRules& rules = options.rules;
  constexpr tributary::Integrator integrators[] = { tributary::Integrator::RungeKutta2,
    tributary::Integrator::RungeKutta4, tributary::Integrator::RungeKutta45 };
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
  tributary::together(this->Transport,
    [&]
    {
      require(!self->SurfaceStreamlines || flow.dimension == 2, "SurfaceStreamlines",
        "on with an input of volumes", "turn it off, or trace on the result of Extract Surface");
      for (std::size_t a = 0; a < 3; ++a)
      {
        if (self->Periodic[a] == 0)
        {
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
  constexpr tributary::Schedule schedules[] = { tributary::Schedule::Synchronous,
    tributary::Schedule::Neighborhood, tributary::Schedule::Asynchronous };
  options.exchange.schedule = schedules[self->Schedule];
  options.exchange.arrivals = self->Arrivals;
  options.exchange.detector = self->Detector;
  options.exchange.batchBytes = static_cast<std::size_t>(self->BatchBytes);
  options.exchange.holdSeconds = self->HoldTime * 1e-6;
  options.exchange.stallSeconds = self->StallTimeout;
  options.parallelFor = smpFor;
  options.monitor = [this](double share) { return this->Monitor(share); };
  return options;
}

//------------------------------------------------------------------------------
/// Local: shows progress, returns false if the user asked to abort.
bool vtkAsyncStreamTracer::vtkRun::Monitor(double share)
{
  const double now = this->Transport.now();
  if (this->LastLook >= 0 && now - this->LastLook < MONITOR_INTERVAL)
  {
    return true;
  }
  this->LastLook = now;
  this->Self->UpdateProgress(
    SETUP_DONE + (TRACING_DONE - SETUP_DONE) * std::min(1.0, std::max(0.0, share)));
  return !this->Self->CheckAbort();
}

//------------------------------------------------------------------------------
void vtkAsyncStreamTracer::vtkRun::ReportRejected(
  const tributary::SeedList& seeds, const tributary::LineTable& table, vtkFieldData* fieldData)
{
  std::vector<std::int64_t> mine;
  for (const std::int64_t place : table.rejected)
  {
    mine.push_back(
      seeds.shown.empty() ? place : seeds.shown[static_cast<std::size_t>(place - table.firstSeed)]);
  }
  vtkNew<vtkIdTypeArray> ids;
  ids->SetName("RejectedSeedIds");
  for (const std::int64_t id : tributary::allgatherv(this->Transport, mine))
  {
    ids->InsertNextValue(id);
  }
  fieldData->AddArray(ids);
}

//------------------------------------------------------------------------------
void vtkAsyncStreamTracer::vtkRun::Warn(
  const std::vector<std::string>& droppedArrays, std::int64_t unexpected)
{
  unexpected = tributary::allreduce(this->Transport, tributary::ReduceOp::Sum, unexpected);
  if (this->Transport.rank() != 0)
  {
    return;
  }
  for (const std::string& name : droppedArrays)
  {
    vtkWarningWithObjectMacro(this->Self,
      "The point array \"" << name
                           << "\" is not interpolated: its number of components differs "
                              "between blocks.");
  }
  if (unexpected > 0)
  {
    vtkWarningWithObjectMacro(this->Self,
      << unexpected << " lines end where the vectors are not finite numbers (ReasonForTermination "
      << UNEXPECTED_VALUE << ").");
  }
}

//------------------------------------------------------------------------------
void vtkAsyncStreamTracer::vtkRun::Execute(
  vtkDataObject* input, vtkDataObject* source, vtkPolyData* output)
{
  auto* self = this->Self;
  tributary::RunStatistics statistics;
  const double start = this->Transport.now();

  this->CheckProperties();
  this->AgreeOnProperties();
  bool cellCentred = false;
  auto pieces = this->PiecesOf(input, cellCentred);
  const auto flow =
    tributary::makeFlowDomain(this->Transport, std::move(pieces), cellCentred, self->BlocksPerRank);
  const auto arrays = tributary::agreeOnPointArrays(this->Transport, *flow);
  const auto seeds = tributary::makeSeedList(this->Transport, source);
  const auto options = this->MakeOptions(*flow);
  const double setupDone = this->Transport.now();
  self->UpdateProgress(SETUP_DONE);

  const auto traced = tributary::trace(this->Transport, *flow->domain, seeds.seeds, options);
  const double tracingDone = this->Transport.now();
  if (!traced.aborted)
  {
    self->UpdateProgress(TRACING_DONE);
  }
  const bool aborted = traced.aborted || self->CheckAbort();
  if (tributary::allreduce(this->Transport, tributary::ReduceOp::Or, std::int64_t(aborted)) != 0)
  {
    self->SetAbortOutput(true); // also where nobody asked for it, so that all ranks go on alike
    return;
  }

  auto table = tributary::makeLineTable(this->Transport, seeds.shares, traced.ends, options.forward,
    options.backward, self->JoinDirections);
  tributary::AssemblySettings settings;
  settings.rules = options.rules;
  settings.computeVorticity = self->ComputeVorticity;
  settings.rotationScale = self->RotationScale;
  settings.parallelFor = smpFor;
  const auto lines =
    tributary::assembleLines(this->Transport, *flow, arrays, seeds, table, traced, settings);

  output->ShallowCopy(lines);
  if (input)
  {
    output->GetFieldData()->PassData(input->GetFieldData());
  }
  statistics.seeds = static_cast<std::int64_t>(seeds.seeds.size());
  statistics.rejected = static_cast<std::int64_t>(table.rejected.size());
  statistics.lines = static_cast<std::int64_t>(table.lines.size());
  statistics.points = table.points;
  statistics.recorded = traced.points;
  statistics.handovers = traced.handovers;
  statistics.blocks = static_cast<std::int64_t>(flow->domain->blocks.size());
  statistics.exchange = traced.statistics;
  statistics.setupSeconds = setupDone - start;
  statistics.tracingSeconds = tracingDone - setupDone;
  statistics.assemblySeconds = this->Transport.now() - tracingDone;
  tributary::addStatistics(this->Transport, statistics, output->GetFieldData());
  if (self->ReportRejectedSeeds)
  {
    this->ReportRejected(seeds, table, output->GetFieldData());
  }
  this->Warn(arrays.dropped, table.unexpected);
}

//------------------------------------------------------------------------------
vtkAsyncStreamTracer::vtkAsyncStreamTracer()
{
  this->SetNumberOfInputPorts(2);
  this->SetInputArrayToProcess(
    0, 0, 0, vtkDataObject::FIELD_ASSOCIATION_POINTS_THEN_CELLS, vtkDataSetAttributes::VECTORS);
  this->SetController(vtkMultiProcessController::GetGlobalController());
}

//------------------------------------------------------------------------------
vtkAsyncStreamTracer::~vtkAsyncStreamTracer()
{
  this->SetController(nullptr);
}

//------------------------------------------------------------------------------
vtkCxxSetObjectMacro(vtkAsyncStreamTracer, Controller, vtkMultiProcessController);

//------------------------------------------------------------------------------
void vtkAsyncStreamTracer::SetSourceConnection(vtkAlgorithmOutput* seeds)
{
  this->SetInputConnection(1, seeds);
}

//------------------------------------------------------------------------------
void vtkAsyncStreamTracer::SetDetector(const char* name)
{
  const std::string detector = name ? name : "";
  if (this->Detector != detector)
  {
    this->Detector = detector;
    this->Modified();
  }
}

//------------------------------------------------------------------------------
int vtkAsyncStreamTracer::FillInputPortInformation(int, vtkInformation* info)
{
  info->Set(vtkAlgorithm::INPUT_REQUIRED_DATA_TYPE(), "vtkDataSet");
  info->Append(vtkAlgorithm::INPUT_REQUIRED_DATA_TYPE(), "vtkCompositeDataSet");
  return 1;
}

//------------------------------------------------------------------------------
int vtkAsyncStreamTracer::RequestInformation(
  vtkInformation*, vtkInformationVector**, vtkInformationVector* outputVector)
{
  // Every rank executes, also one whose input gives it nothing: the others would wait for it.
  outputVector->GetInformationObject(0)->Set(vtkAlgorithm::CAN_HANDLE_PIECE_REQUEST(), 1);
  return 1;
}

//------------------------------------------------------------------------------
int vtkAsyncStreamTracer::RequestUpdateExtent(
  vtkInformation*, vtkInformationVector** inputVector, vtkInformationVector* outputVector)
{
  using Pipeline = vtkStreamingDemandDrivenPipeline;
  vtkInformation* outInfo = outputVector->GetInformationObject(0);
  // Input and seeds alike: each rank its piece, no ghost cells.
  for (int port = 0; port < this->GetNumberOfInputPorts(); ++port)
  {
    for (int i = 0; i < inputVector[port]->GetNumberOfInformationObjects(); ++i)
    {
      vtkInformation* info = inputVector[port]->GetInformationObject(i);
      info->Set(Pipeline::UPDATE_PIECE_NUMBER(), outInfo->Get(Pipeline::UPDATE_PIECE_NUMBER()));
      info->Set(
        Pipeline::UPDATE_NUMBER_OF_PIECES(), outInfo->Get(Pipeline::UPDATE_NUMBER_OF_PIECES()));
      info->Set(Pipeline::UPDATE_NUMBER_OF_GHOST_LEVELS(), 0);
      // The extent that comes along by default is one of the other input.
      if (info->Has(Pipeline::WHOLE_EXTENT()))
      {
        info->Set(Pipeline::UPDATE_EXTENT(), info->Get(Pipeline::WHOLE_EXTENT()), 6);
      }
    }
  }
  return 1;
}

//------------------------------------------------------------------------------
int vtkAsyncStreamTracer::RequestData(
  vtkInformation*, vtkInformationVector** inputVector, vtkInformationVector* outputVector)
{
  vtkDataObject* input = vtkDataObject::GetData(inputVector[0], 0);
  vtkDataObject* source = vtkDataObject::GetData(inputVector[1], 0);
  vtkPolyData* output = vtkPolyData::GetData(outputVector, 0);
  this->SetErrorCode(vtkErrorCode::NoError);
  std::string error;
  try
  {
    const auto transport = tributary::makeTransport(this->Controller);
    vtkRun(this, *transport).Execute(input, source, output);
    return 1;
  }
  catch (const std::exception& e)
  {
    error = e.what();
  }
  output->Initialize();
  this->SetErrorCode(vtkErrorCode::UserError);
  // All ranks are here with the same error: one message is enough. The executive would add one on
  // every rank if this were not called a success.
  if (!this->Controller || this->Controller->GetLocalProcessId() == 0)
  {
    vtkErrorMacro("No streamlines: " << error << ".");
  }
  return 1;
}

//------------------------------------------------------------------------------
void vtkAsyncStreamTracer::PrintSelf(ostream& os, vtkIndent indent)
{
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
     << indent << "Schedule: " << this->Schedule << "\n"
     << indent << "Arrivals: " << this->Arrivals << "\n"
     << indent << "Detector: " << this->Detector << "\n"
     << indent << "BatchBytes: " << this->BatchBytes << "\n"
     << indent << "HoldTime: " << this->HoldTime << " microseconds\n"
     << indent << "BlocksPerRank: " << this->BlocksPerRank << "\n"
     << indent << "StallTimeout: " << this->StallTimeout << " seconds\n"
     << indent << "Controller: " << this->Controller << "\n";
}
