#include "vtkAsyncFeatureTracker.h"

#include "Private/ComponentDomain.h"
#include "Private/FeatureCells.h"
#include "Private/FeatureHistory.h"
#include "Private/FreshArray.h"
#include "Private/Leaves.h"
#include "Private/PropertyList.h"
#include "Private/RangeRegions.h"
#include "Private/RegionArrays.h"
#include "Private/RegionWriting.h"
#include "Private/Require.h"
#include "Private/RunStatistics.h"

#include "Tributary/Agree.h"
#include "Tributary/Error.h"
#include "Tributary/Features/FeatureGraph.h"
#include "Tributary/Features/FeatureOverlap.h"
#include "Tributary/Transport/Collectives.h"

#include <vtkCellData.h>
#include <vtkDataObject.h>
#include <vtkDataSet.h>
#include <vtkDataSetAttributes.h>
#include <vtkDoubleArray.h>
#include <vtkFieldData.h>
#include <vtkIdTypeArray.h>
#include <vtkInformation.h>
#include <vtkInformationVector.h>
#include <vtkNew.h>
#include <vtkObjectFactory.h>
#include <vtkPointData.h>
#include <vtkPolyData.h>
#include <vtkSmartPointer.h>
#include <vtkStreamingDemandDrivenPipeline.h>
#include <vtkTable.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

vtkStandardNewMacro(vtkAsyncFeatureTracker);

namespace
{
using Pipeline = vtkStreamingDemandDrivenPipeline;
using tributary::Error;
using tributary::require;

enum Ports
{
  MESH_PORT,
  TRAJECTORIES_PORT,
  FEATURES_PORT,
  EVENTS_PORT,
  EDGES_PORT,
  PORT_COUNT
};

/// Shares of the progress bar when the data sets are known, and when regions are.
constexpr double SETUP_DONE = 0.1;
constexpr double REGIONS_DONE = 0.5;
} // anonymous namespace

//------------------------------------------------------------------------------
/// What is kept between executions, and what the next one is for.
class vtkAsyncFeatureTracker::vtkState
{
public:
  /// After a step all that is needed to take up the next one.
  struct Moment
  {
    bool IsBeginning = true; ///< There was no step yet.
    double Time = 0;
    tributary::Bytes Graph;
    std::vector<tributary::FlowingSample> Samples;
    tributary::FixedScale Scale; ///< Of the samples' volumes.
    tributary::FeatureHistory::Length Length;
  };

  /// What all steps have to have in common.
  struct Basis
  {
    tributary::PropertyList Properties;
    const vtkAlgorithm* Input = nullptr;
    int InputPort = 0;

    bool operator==(const Basis& other) const
    {
      return this->Properties == other.Properties && this->Input == other.Input &&
        this->InputPort == other.InputPort;
    }
  };

  /// Local. What to ask the input for so that the outputs become those of a time.
  void Plan(const double* steps, int count, double time, Basis basis);
  void Begin()
  {
    this->Before = this->Now = {};
    this->History = {};
    this->Seen.clear();
  }

  Moment Before; ///< Before the last step, to take it up again.
  Moment Now;
  tributary::FeatureHistory History;
  Basis Begun;               ///< That of the steps so far,
  Basis Asked;               ///< and of the next one.
  std::vector<double> Seen;  ///< Steps of the input that have been asked for.
  std::vector<double> Steps; ///< All that the input tells.
  std::size_t Next = 0;      ///< Which of them is to be executed, if there are any,
  std::size_t Goal = 0;      ///< and up to which.
  bool IsAnew = true;        ///< Begin with the first step.
  bool IsWhole = false;      ///< The last execution neither failed nor was aborted.
  bool IsUnderWay = false;   ///< Towards the goal.
};

//------------------------------------------------------------------------------
void vtkAsyncFeatureTracker::vtkState::Plan(
  const double* steps, int count, double time, Basis basis)
{
  this->Steps.assign(steps, steps + count);
  this->Goal = 0;
  while (this->Goal + 1 < this->Steps.size() && this->Steps[this->Goal + 1] <= time)
  {
    ++this->Goal;
  }
  const std::size_t seen = this->Seen.size();
  const bool goesOn = seen <= this->Steps.size() &&
    std::equal(this->Seen.begin(), this->Seen.end(), this->Steps.begin());
  this->IsAnew =
    !this->IsWhole || !(basis == this->Begun) || !goesOn || (count > 0 && this->Goal < seen);
  this->Next = this->IsAnew ? 0 : seen;
  this->Asked = std::move(basis);
}

//------------------------------------------------------------------------------
/// One execution on one rank. Every member function is collective.
class vtkAsyncFeatureTracker::vtkRun
{
public:
  vtkRun(vtkAsyncFeatureTracker* self, tributary::Transport& transport)
    : Self(self)
    , Transport(transport)
    , State(*self->State)
  {
  }

  /// @return false after an abort
  bool Execute(
    vtkDataObject* input, vtkInformationVector* outputVector, tributary::RunStatistics& statistics);

private:
  double TimeOf(vtkDataObject* input, bool& isOfAnother);
  bool FindRegions(vtkDataObject* input);
  std::vector<tributary::FlowingSample> MakeSamples();
  void TakeUp(double time);
  void Write(vtkDataObject* input, double time, vtkInformationVector* outputVector);
  void AddTracks(vtkDataObject* output);

  const std::vector<tributary::RegionOfSet>& RegionsOf(std::size_t leaf) const
  {
    return this->Ranges.front().regions.numbered.ofSet[leaf];
  }

  vtkAsyncFeatureTracker* Self;
  tributary::Transport& Transport;
  vtkState& State;
  std::vector<tributary::Leaf> Leaves;
  std::unique_ptr<tributary::ComponentDomain> Domain;
  std::vector<tributary::ShownRange> Ranges; // one
  std::unique_ptr<tributary::FeatureGraph> Graph;
  tributary::TrackedStep Tracked;
};

//------------------------------------------------------------------------------
/// @param isOfAnother  whether the input is not at the time that it was asked for
double vtkAsyncFeatureTracker::vtkRun::TimeOf(vtkDataObject* input, bool& isOfAnother)
{
  // Ranks without data may not know their time.
  constexpr double none = -std::numeric_limits<double>::infinity();
  vtkInformation* info = input->GetInformation();
  const double known = tributary::allreduce(this->Transport, tributary::ReduceOp::Max,
    info->Has(vtkDataObject::DATA_TIME_STEP()) ? info->Get(vtkDataObject::DATA_TIME_STEP()) : none);
  if (!this->State.Steps.empty())
  {
    const double asked = this->State.Steps[this->State.Next];
    isOfAnother = known != none && known != asked && this->State.Next < this->State.Goal;
    return asked;
  }
  isOfAnother = false;
  return known == none ? 0 : known;
}

//------------------------------------------------------------------------------
/// @return false after an abort
bool vtkAsyncFeatureTracker::vtkRun::FindRegions(vtkDataObject* input)
{
  auto* self = this->Self;
  this->Leaves = tributary::leavesOf(input);
  std::vector<tributary::RangeTest> tests = self->SelectTests(this->Transport, this->Leaves);
  self->SetRange(tests, 0);
  if (self->LabelConnectivity && !self->ScalarConnectivity)
  {
    const auto labels = tributary::findLabels(this->Transport, this->Leaves, self->Finder(1));
    for (std::size_t n = 0; n < labels.size(); ++n)
    {
      tests[n].scalars = labels[n];
      tests[n].atCells = true;
      tests[n].lo = 0; // what has a negative label is in no region
      tests[n].hi = std::numeric_limits<double>::infinity();
    }
  }
  this->Domain = self->MakeDomain(this->Transport, this->Leaves, 0.5 * SETUP_DONE);
  if (self->AbortedTogether(this->Transport, this->Domain->aborted))
  {
    return false;
  }
  const std::vector<std::vector<tributary::MeasuredValues>> none(this->Leaves.size());
  this->Ranges.resize(1);
  this->Ranges.front().selection.all = true;
  this->Ranges.front().regions = tributary::findRegions(this->Transport, *this->Domain, tests, none,
    0, tributary::RegionOrder::LeastKey, self->MakeUnionOptions(this->Transport, SETUP_DONE));
  return !self->AbortedTogether(this->Transport, this->Ranges.front().regions.aborted);
}

//------------------------------------------------------------------------------
std::vector<tributary::FlowingSample> vtkAsyncFeatureTracker::vtkRun::MakeSamples()
{
  std::vector<tributary::FlowingSample> samples;
  tributary::together(this->Transport,
    [&]
    {
      for (std::size_t n = 0; n < this->Leaves.size(); ++n)
      {
        const tributary::Leaf& leaf = this->Leaves[n];
        vtkDataArray* velocity = nullptr;
        int association = vtkDataObject::FIELD_ASSOCIATION_NONE;
        if (this->Self->Motion == VELOCITY_FIELD && leaf.cells() > 0)
        {
          velocity = this->Self->GetInputArrayToProcess(2, leaf.object(), association);
          const bool atCells = association == vtkDataObject::FIELD_ASSOCIATION_CELLS;
          if (!velocity || velocity->GetNumberOfComponents() != 3 ||
            velocity->GetNumberOfTuples() != (atCells ? leaf.cells() : leaf.points()))
          {
            throw Error("a data set has not the vectors of Motion; choose an array of three "
                        "components that all have with SelectVelocity (SetInputArrayToProcess(2, "
                        "...)), or another Motion");
          }
        }
        tributary::addSamples(*this->Domain->pieces[n], this->RegionsOf(n),
          this->Ranges.front().regions.scales, velocity,
          association == vtkDataObject::FIELD_ASSOCIATION_CELLS, samples);
      }
    });
  return samples;
}

//------------------------------------------------------------------------------
/// Takes up a step after State.Now.
void vtkAsyncFeatureTracker::vtkRun::TakeUp(double time)
{
  auto* self = this->Self;
  tributary::TrackingOptions options;
  options.match =
    self->Match == BEST ? tributary::FeatureMatch::Best : tributary::FeatureMatch::All;
  options.overlapOf = self->OverlapFraction == OF_LARGER ? tributary::OverlapOf::Larger
                                                         : tributary::OverlapOf::Smaller;
  options.minimumOverlap = self->MinimumOverlap;
  options.minimumSecondaryOverlap = self->MinimumSecondaryOverlap;
  options.motion = self->Motion == ESTIMATED ? tributary::FeatureMotion::Estimated
                                             : tributary::FeatureMotion::None;
  this->Graph = std::make_unique<tributary::FeatureGraph>(this->Transport, options);

  const tributary::RangeRegions& regions = this->Ranges.front().regions;
  vtkState::Moment& before = this->State.Now;
  std::vector<tributary::FeatureOverlap> overlaps;
  if (!before.IsBeginning)
  {
    this->Graph->load({ before.Graph });
    std::vector<tributary::FeatureSample> earlier;
    for (const tributary::FlowingSample& flowing : before.Samples)
    {
      earlier.push_back(flowing.sample);
      for (std::size_t a = 0; a < 3; ++a)
      {
        earlier.back().place[a] += flowing.velocity[a] * (time - before.Time);
      }
    }
    earlier = this->Graph->moved(earlier, time);
    std::vector<std::unique_ptr<tributary::FeatureSearch>> searches;
    std::vector<tributary::Box> boxes;
    tributary::together(this->Transport,
      [&]
      {
        for (std::size_t n = 0; n < this->Leaves.size(); ++n)
        {
          searches.push_back(std::make_unique<tributary::FeatureSearch>(
            *this->Domain->pieces[n], this->RegionsOf(n)));
          boxes.push_back(searches.back()->box());
        }
      });
    overlaps = tributary::findOverlaps(this->Transport, earlier, boxes,
      [&](const std::array<double, 3>& place)
      {
        std::int64_t least = -1;
        for (const auto& search : searches)
        {
          const std::int64_t region = search->at(place);
          least = region >= 0 && (least < 0 || region < least) ? region : least;
        }
        return least;
      });
  }
  tributary::FeatureStep step;
  step.time = time;
  step.total = regions.numbered.table.total;
  for (const tributary::RegionFacts& facts : regions.numbered.table.regions)
  {
    step.features.push_back(
      { tributary::weightOf(facts, regions.scales), tributary::centroidOf(facts, regions.scales) });
  }
  std::vector<tributary::FlowingSample> samples = this->MakeSamples();
  this->Tracked = this->Graph->advance(step, std::move(overlaps), before.Scale);
  before.Length = this->State.History.length();
  this->State.History.add(this->Transport, this->Tracked, time);
  this->State.Before = std::move(before);
  this->State.Now = { false, time, this->Graph->save(), std::move(samples), regions.scales.measure,
    this->State.History.length() };
}

//------------------------------------------------------------------------------
/// Adds the arrays TrackId beside those of RegionId.
void vtkAsyncFeatureTracker::vtkRun::AddTracks(vtkDataObject* output)
{
  const tributary::ShownRange& range = this->Ranges.front();
  std::vector<std::int64_t> regions;
  for (const auto* arrays : { &range.cells, &range.points })
  {
    for (const auto& array : *arrays)
    {
      const vtkIdType* values = array->GetPointer(0);
      for (vtkIdType i = 0; i < array->GetNumberOfTuples(); ++i)
      {
        if (values[i] >= 0 && (regions.empty() || regions.back() != values[i]))
        {
          regions.push_back(values[i]);
        }
      }
    }
  }
  std::sort(regions.begin(), regions.end());
  regions.erase(std::unique(regions.begin(), regions.end()), regions.end());
  const std::vector<std::int64_t> tracks = this->Graph->tracksOf(regions);

  const auto tracksAt = [&](vtkIdTypeArray* array)
  {
    const vtkIdType count = array->GetNumberOfTuples();
    auto copy = tributary::freshArray<vtkIdTypeArray>("TrackId", 1, count);
    for (vtkIdType i = 0; i < count; ++i)
    {
      const vtkIdType region = array->GetValue(i);
      const auto at = std::lower_bound(regions.begin(), regions.end(), region);
      copy->SetValue(i, region < 0 ? -1 : tracks[static_cast<std::size_t>(at - regions.begin())]);
    }
    return copy;
  };
  tributary::together(this->Transport,
    [&]
    {
      const std::vector<tributary::Leaf> leaves = tributary::leavesOf(output);
      for (std::size_t n = 0; n < leaves.size(); ++n)
      {
        leaves[n].dataSet->GetCellData()->AddArray(tracksAt(range.cells[n]));
        leaves[n].dataSet->GetPointData()->AddArray(tracksAt(range.points[n]));
      }
      tributary::forEachDataSet(output,
        [&](vtkDataObject* object)
        {
          for (const int type : { vtkDataObject::CELL, vtkDataObject::POINT })
          {
            vtkDataSetAttributes* attributes = object->GetAttributes(type);
            if (attributes && !attributes->HasArray("TrackId"))
            {
              attributes->AddArray(tributary::freshArray<vtkIdTypeArray>("TrackId", 1, 0));
            }
          }
        });
    });
}

//------------------------------------------------------------------------------
void vtkAsyncFeatureTracker::vtkRun::Write(
  vtkDataObject* input, double time, vtkInformationVector* outputVector)
{
  tributary::ShownRange& range = this->Ranges.front();
  tributary::showRegions(
    this->Transport, *this->Domain, this->Leaves, tributary::nameOfRange(0), true, true, range);
  vtkDataObject* output = vtkDataObject::GetData(outputVector, MESH_PORT);
  vtkTable* features = vtkTable::GetData(outputVector, FEATURES_PORT);
  tributary::together(this->Transport,
    [&]
    {
      tributary::writeData(input, this->Ranges, true, false, output);
      tributary::writeTable(this->Ranges, {}, features);
      tributary::addTrackColumns(this->Tracked, time, features);
      this->State.History.writeTrajectories(vtkPolyData::GetData(outputVector, TRAJECTORIES_PORT));
      this->State.History.writeEvents(vtkTable::GetData(outputVector, EVENTS_PORT));
      this->State.History.writeEdges(vtkTable::GetData(outputVector, EDGES_PORT));
    });
  this->AddTracks(output);
  for (const auto& [name, value] :
    { std::pair<const char*, std::int64_t>("NumberOfRegions", range.regions.numbered.table.total),
      std::pair<const char*, std::int64_t>("NumberOfTracks", this->Graph->tracks()) })
  {
    vtkNew<vtkIdTypeArray> array;
    array->SetName(name);
    array->InsertNextValue(value);
    output->GetFieldData()->AddArray(array);
  }
  for (int port = 0; port < PORT_COUNT; ++port)
  {
    vtkDataObject::GetData(outputVector, port)
      ->GetInformation()
      ->Set(vtkDataObject::DATA_TIME_STEP(), time);
  }
}

//------------------------------------------------------------------------------
bool vtkAsyncFeatureTracker::vtkRun::Execute(
  vtkDataObject* input, vtkInformationVector* outputVector, tributary::RunStatistics& statistics)
{
  vtkState& state = this->State;
  bool isOfAnother = false;
  const double time = this->TimeOf(input, isOfAnother);
  if (state.IsAnew || (state.Steps.empty() && time < state.Now.Time))
  {
    state.Begin();
    state.IsAnew = false;
    state.Begun = state.Asked;
  }
  else if (state.Steps.empty() && !state.Now.IsBeginning && time == state.Now.Time)
  {
    state.History.cut(state.Before.Length);
    state.Now = std::move(state.Before);
    state.Before = {};
  }
  if (!isOfAnother)
  {
    if (!this->FindRegions(input))
    {
      return false;
    }
    statistics.phase("RegionsSeconds");
    this->Self->UpdateProgress(REGIONS_DONE);
    this->TakeUp(time);
    statistics.phase("TrackingSeconds");
  }
  if (!state.Steps.empty())
  {
    state.Seen.push_back(state.Steps[state.Next]);
    state.IsUnderWay = state.Next++ < state.Goal;
    if (state.IsUnderWay)
    {
      return true;
    }
  }
  this->Write(input, time, outputVector);
  statistics.count("Blocks", static_cast<std::int64_t>(this->Leaves.size()));
  statistics.add(this->Ranges.front().regions.statistics);
  statistics.phase("WritingSeconds");
  return true;
}

//------------------------------------------------------------------------------
vtkAsyncFeatureTracker::vtkAsyncFeatureTracker()
  : State(std::make_unique<vtkState>())
{
  this->SetNumberOfOutputPorts(PORT_COUNT);
  this->SetInputArrayToProcess(
    2, 0, 0, vtkDataObject::FIELD_ASSOCIATION_POINTS_THEN_CELLS, vtkDataSetAttributes::VECTORS);
}

//------------------------------------------------------------------------------
vtkAsyncFeatureTracker::~vtkAsyncFeatureTracker() = default;

//------------------------------------------------------------------------------
void vtkAsyncFeatureTracker::CheckProperties()
{
  this->Superclass::CheckProperties();
  require(!this->ScalarConnectivity || this->GetNumberOfScalarRanges() == 1, "ScalarRange",
    "several ranges", "set it to one");
  require(this->MinimumOverlap >= 0 && this->MinimumOverlap <= 1, "MinimumOverlap",
    this->MinimumOverlap, "set it to a fraction from 0 to 1");
  require(this->MinimumSecondaryOverlap >= 0 && this->MinimumSecondaryOverlap <= 1,
    "MinimumSecondaryOverlap", this->MinimumSecondaryOverlap, "set it to a fraction from 0 to 1");
}

//------------------------------------------------------------------------------
void vtkAsyncFeatureTracker::DescribeTracking(tributary::PropertyList& list)
{
  this->Superclass::DescribeProperties(list);
  list.add("Match", this->Match);
  list.add("OverlapFraction", this->OverlapFraction);
  list.add("MinimumOverlap", this->MinimumOverlap);
  list.add("MinimumSecondaryOverlap", this->MinimumSecondaryOverlap);
  list.add("Motion", this->Motion);
  if (this->Motion == VELOCITY_FIELD)
  {
    this->DescribeArray(list, "SelectVelocity", 2);
  }
}

//------------------------------------------------------------------------------
void vtkAsyncFeatureTracker::DescribeProperties(tributary::PropertyList& list)
{
  this->DescribeTracking(list);
  // Nor may ranks be in different steps.
  list.addAll("the list of time steps", this->State->Steps);
  list.add("the time step asked for", this->State->Goal);
  list.add("the next time step", this->State->Next);
  list.add("whether to begin anew", this->State->IsAnew);
  list.add("the time of the last step", this->State->Now.Time);
}

//------------------------------------------------------------------------------
int vtkAsyncFeatureTracker::FillOutputPortInformation(int port, vtkInformation* info)
{
  info->Set(vtkDataObject::DATA_TYPE_NAME(),
    port == MESH_PORT             ? "vtkDataObject"
      : port == TRAJECTORIES_PORT ? "vtkPolyData"
                                  : "vtkTable");
  return 1;
}

//------------------------------------------------------------------------------
int vtkAsyncFeatureTracker::RequestDataObject(
  vtkInformation*, vtkInformationVector** inputVector, vtkInformationVector* outputVector)
{
  vtkDataObject* input = vtkDataObject::GetData(inputVector[0], 0);
  if (!input)
  {
    return 0;
  }
  for (int port = 0; port < PORT_COUNT; ++port)
  {
    vtkSmartPointer<vtkDataObject> output;
    if (port == MESH_PORT)
    {
      output.TakeReference(input->NewInstance());
    }
    else if (port == TRAJECTORIES_PORT)
    {
      output = vtkSmartPointer<vtkPolyData>::New();
    }
    else
    {
      output = vtkSmartPointer<vtkTable>::New();
    }
    vtkInformation* info = outputVector->GetInformationObject(port);
    vtkDataObject* old = vtkDataObject::GetData(info);
    if (!old || old->GetDataObjectType() != output->GetDataObjectType())
    {
      info->Set(vtkDataObject::DATA_OBJECT(), output);
    }
  }
  return 1;
}

//------------------------------------------------------------------------------
int vtkAsyncFeatureTracker::RequestUpdateExtent(
  vtkInformation* request, vtkInformationVector** inputVector, vtkInformationVector* outputVector)
{
  this->Superclass::RequestUpdateExtent(request, inputVector, outputVector);
  vtkInformation* input = inputVector[0]->GetInformationObject(0);
  if (!this->State->IsUnderWay)
  {
    const int port = std::max(request->Get(Pipeline::FROM_OUTPUT_PORT()), 0);
    vtkInformation* output = outputVector->GetInformationObject(port);
    vtkState::Basis basis;
    this->DescribeTracking(basis.Properties);
    basis.Input = this->GetInputAlgorithm(0, 0, basis.InputPort);
    this->State->Plan(input->Get(Pipeline::TIME_STEPS()), input->Length(Pipeline::TIME_STEPS()),
      output->Has(Pipeline::UPDATE_TIME_STEP()) ? output->Get(Pipeline::UPDATE_TIME_STEP())
                                                : -std::numeric_limits<double>::infinity(),
      std::move(basis));
  }
  if (!this->State->Steps.empty())
  {
    input->Set(Pipeline::UPDATE_TIME_STEP(), this->State->Steps[this->State->Next]);
  }
  return 1;
}

//------------------------------------------------------------------------------
int vtkAsyncFeatureTracker::ProcessRequest(
  vtkInformation* request, vtkInformationVector** inputVector, vtkInformationVector* outputVector)
{
  const int result = this->Superclass::ProcessRequest(request, inputVector, outputVector);
  if (request->Has(vtkDemandDrivenPipeline::REQUEST_DATA()))
  {
    if (this->State->IsUnderWay)
    {
      request->Set(Pipeline::CONTINUE_EXECUTING(), 1);
    }
    else
    {
      request->Remove(Pipeline::CONTINUE_EXECUTING());
    }
  }
  return result;
}

//------------------------------------------------------------------------------
bool vtkAsyncFeatureTracker::Execute(tributary::Transport& transport,
  vtkInformationVector** inputVector, vtkInformationVector* outputVector,
  tributary::RunStatistics& statistics)
{
  this->State->IsUnderWay = false;
  this->State->IsWhole = false;
  this->State->IsWhole =
    vtkRun(this, transport)
      .Execute(vtkDataObject::GetData(inputVector[0], 0), outputVector, statistics);
  return this->State->IsWhole;
}

//------------------------------------------------------------------------------
void vtkAsyncFeatureTracker::PrintSelf(ostream& os, vtkIndent indent)
{
  this->Superclass::PrintSelf(os, indent);
  os << indent << "Match: " << this->Match << "\n"
     << indent << "OverlapFraction: " << this->OverlapFraction << "\n"
     << indent << "MinimumOverlap: " << this->MinimumOverlap << "\n"
     << indent << "MinimumSecondaryOverlap: " << this->MinimumSecondaryOverlap << "\n"
     << indent << "Motion: " << this->Motion << "\n";
}
