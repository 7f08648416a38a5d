// SPDX-License-Identifier: BSD-3-Clause
#include "Features/RegionTracking.h"

#include "Common/FreshArray.h"
#include "Common/RunContext.h"
#include "Common/RunStatistics.h"
#include "Features/FeatureCells.h"
#include "Regions/RegionArrays.h"
#include "Regions/RegionSettings.h"
#include "Regions/RegionWriting.h"

#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Features/FeatureGraph.h"
#include "Tributary/Features/FeatureOverlap.h"

#include <vtkCellData.h>
#include <vtkDataObject.h>
#include <vtkDataSet.h>
#include <vtkDataSetAttributes.h>
#include <vtkFieldData.h>
#include <vtkIdTypeArray.h>
#include <vtkInformationVector.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPolyData.h>
#include <vtkTable.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <utility>

using tributary::Error;

namespace {
/// Shares of the progress bar when the data sets are known, and when regions are.
constexpr double SETUP_DONE = 0.1;
constexpr double REGIONS_DONE = 0.5;

/// What all ranks know of a moment.
struct MomentHead {
  std::int64_t Steps;
  double Time;
  tributary::FixedScale Scale;

  bool operator==(const MomentHead& other) const {
    return this->Steps == other.Steps && this->Time == other.Time && this->Scale == other.Scale;
  }
};
}  // anonymous namespace

//------------------------------------------------------------------------------
/// @return false after an abort
bool vtkAsyncFeatureTracker::vtkRegions::FindRegions(tributary::Transport& transport,
                                                     vtkDataObject* input,
                                                     tributary::RunStatistics& statistics) {
  auto* self = this->Self;
  this->Leaves = tributary::leavesOf(input);
  const tributary::RegionSettings settings = self->MakeRegionSettings();
  const tributary::RunContext context = self->MakeRunContext(transport, statistics);
  std::vector<tributary::RangeTest> tests =
      tributary::selectTests(settings, transport, this->Leaves);
  tributary::setRange(settings, 0, tests);
  if (self->LabelConnectivity && !self->ScalarConnectivity) {
    const auto labels = tributary::findLabels(transport, this->Leaves, settings.labels);
    for (std::size_t n = 0; n < labels.size(); ++n) {
      tests[n].scalars = labels[n];
      tests[n].atCells = true;
      tests[n].lo = 0;  // what has a negative label is in no region
      tests[n].hi = std::numeric_limits<double>::infinity();
    }
  }
  this->Domain = tributary::makeDomain(settings, context, this->Leaves, 0.5 * SETUP_DONE);
  if (self->AbortedTogether(transport, !this->Domain)) {
    return false;
  }
  const std::vector<std::vector<tributary::MeasuredValues>> none(this->Leaves.size());
  this->Ranges.resize(1);
  this->Ranges.front().selection.all = true;
  this->Ranges.front().regions = tributary::findRegions(
      transport, *this->Domain, tests, none, 0, tributary::RegionOrder::LeastKey,
      tributary::makeTunedUnionOptions(settings, context, SETUP_DONE));
  return !self->AbortedTogether(transport, this->Ranges.front().regions.aborted);
}

//------------------------------------------------------------------------------
std::vector<tributary::FlowingSample> vtkAsyncFeatureTracker::vtkRegions::MakeSamples(
    tributary::Transport& transport) {
  std::vector<tributary::FlowingSample> samples;
  tributary::collectively(transport, [&] {
    for (std::size_t n = 0; n < this->Leaves.size(); ++n) {
      const tributary::Leaf& leaf = this->Leaves[n];
      vtkDataArray* velocity = nullptr;
      int association = vtkDataObject::FIELD_ASSOCIATION_NONE;
      if (this->Self->Motion == VELOCITY_FIELD && leaf.cells() > 0) {
        velocity = this->Self->GetInputArrayToProcess(2, leaf.object(), association);
        const bool atCells = association == vtkDataObject::FIELD_ASSOCIATION_CELLS;
        if (!velocity || velocity->GetNumberOfComponents() != 3 ||
            velocity->GetNumberOfTuples() != (atCells ? leaf.cells() : leaf.points())) {
          throw Error(
              "a data set has not the vectors of Motion; choose an array of three "
              "components that all have with SelectVelocity (SetInputArrayToProcess(2, "
              "...)), or another Motion");
        }
      }
      tributary::addSamples(*this->Ranges.front().regions.labeled[n], this->RegionsOf(n),
                            this->Ranges.front().regions.scales, velocity,
                            association == vtkDataObject::FIELD_ASSOCIATION_CELLS, samples);
    }
  });
  return samples;
}

//------------------------------------------------------------------------------
/// Takes up a step after State.Now.
void vtkAsyncFeatureTracker::vtkRegions::Follow(tributary::Transport& transport, double time) {
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
  this->Graph = std::make_unique<tributary::FeatureGraph>(transport, options);

  const tributary::RangeRegions& regions = this->Ranges.front().regions;
  Moment& before = this->Now;
  std::vector<tributary::FeatureOverlap> overlaps;
  if (before.Steps > 0) {
    this->Graph->load(before.Graph);
    std::vector<tributary::FeatureSample> earlier;
    for (const tributary::FlowingSample& flowing : before.Samples) {
      earlier.push_back(flowing.sample);
      for (std::size_t a = 0; a < 3; ++a) {
        earlier.back().place[a] += flowing.velocity[a] * (time - before.Time);
      }
    }
    earlier = this->Graph->moved(earlier, time);
    std::vector<std::unique_ptr<tributary::FeatureSearch>> searches;
    std::vector<tributary::Box> boxes;
    tributary::collectively(transport, [&] {
      for (std::size_t n = 0; n < this->Leaves.size(); ++n) {
        searches.push_back(std::make_unique<tributary::FeatureSearch>(
            *this->Ranges.front().regions.labeled[n], this->RegionsOf(n)));
        boxes.push_back(searches.back()->box());
      }
    });
    overlaps =
        tributary::findOverlaps(transport, earlier, boxes, [&](const std::array<double, 3>& place) {
          std::int64_t least = -1;
          for (const auto& search : searches) {
            const std::int64_t region = search->at(place);
            least = region >= 0 && (least < 0 || region < least) ? region : least;
          }
          return least;
        });
  }
  tributary::FeatureStep step;
  step.time = time;
  step.total = regions.numbered.table.total;
  for (const tributary::RegionFacts& facts : regions.numbered.table.regions) {
    step.features.push_back(
        {tributary::weightOf(facts, regions.scales), tributary::centroidOf(facts, regions.scales)});
  }
  std::vector<tributary::FlowingSample> samples = this->MakeSamples(transport);
  this->Tracked = this->Graph->advance(step, std::move(overlaps), before.Scale);
  this->History.add(transport, this->Tracked, time);
  this->Before = std::move(before);
  this->Now = {this->Graph->steps(),
               time,
               {this->Graph->save()},
               std::move(samples),
               regions.scales.measure};
}

//------------------------------------------------------------------------------
bool vtkAsyncFeatureTracker::vtkRegions::TakeUp(tributary::Transport& transport,
                                                vtkDataObject* input, double time,
                                                tributary::RunStatistics& statistics) {
  if (!this->FindRegions(transport, input, statistics)) {
    return false;
  }
  statistics.phase("RegionsSeconds");
  this->Self->UpdateProgress(REGIONS_DONE);
  this->Follow(transport, time);
  statistics.phase("TrackingSeconds");
  return true;
}

//------------------------------------------------------------------------------
/// Adds the arrays TrackId beside those of RegionId.
void vtkAsyncFeatureTracker::vtkRegions::AddTracks(tributary::Transport& transport,
                                                   vtkDataObject* output) {
  const tributary::ShownRange& range = this->Ranges.front();
  std::vector<std::int64_t> regions;
  for (const auto* arrays : {&range.cells, &range.points}) {
    for (const auto& array : *arrays) {
      const vtkIdType* values = array->GetPointer(0);
      for (vtkIdType i = 0; i < array->GetNumberOfTuples(); ++i) {
        if (values[i] >= 0 && (regions.empty() || regions.back() != values[i])) {
          regions.push_back(values[i]);
        }
      }
    }
  }
  std::sort(regions.begin(), regions.end());
  regions.erase(std::unique(regions.begin(), regions.end()), regions.end());
  const std::vector<std::int64_t> tracks = this->Graph->tracksOf(regions);

  const auto tracksAt = [&](vtkIdTypeArray* array) {
    const vtkIdType count = array->GetNumberOfTuples();
    auto copy = tributary::freshArray<vtkIdTypeArray>("TrackId", 1, count);
    for (vtkIdType i = 0; i < count; ++i) {
      const vtkIdType region = array->GetValue(i);
      const auto at = std::lower_bound(regions.begin(), regions.end(), region);
      copy->SetValue(i, region < 0 ? -1 : tracks[static_cast<std::size_t>(at - regions.begin())]);
    }
    return copy;
  };
  tributary::collectively(transport, [&] {
    const std::vector<tributary::Leaf> leaves = tributary::leavesOf(output);
    for (std::size_t n = 0; n < leaves.size(); ++n) {
      leaves[n].dataSet->GetCellData()->AddArray(tracksAt(range.cells[n]));
      leaves[n].dataSet->GetPointData()->AddArray(tracksAt(range.points[n]));
    }
    tributary::forEachDataSet(output, [&](vtkDataObject* object) {
      for (const int type : {vtkDataObject::CELL, vtkDataObject::POINT}) {
        vtkDataSetAttributes* attributes = object->GetAttributes(type);
        if (attributes && !attributes->HasArray("TrackId")) {
          attributes->AddArray(tributary::freshArray<vtkIdTypeArray>("TrackId", 1, 0));
        }
      }
    });
  });
}

//------------------------------------------------------------------------------
bool vtkAsyncFeatureTracker::vtkRegions::Write(tributary::Transport& transport,
                                               vtkDataObject* input,
                                               vtkInformationVector* outputVector,
                                               tributary::RunStatistics& statistics) {
  tributary::ShownRange& range = this->Ranges.front();
  tributary::showRegions(transport, *this->Domain, this->Leaves, tributary::nameOfRange(0), true,
                         true, range);
  vtkDataObject* output = vtkDataObject::GetData(outputVector, MESH_PORT);
  vtkTable* features = vtkTable::GetData(outputVector, FEATURES_PORT);
  tributary::collectively(transport, [&] {
    tributary::writeData(input, this->Ranges, true, false, output);
    tributary::writeTable(this->Ranges, {}, features);
    tributary::addTrackColumns(this->Tracked, this->Now.Time, features);
    this->History.writeTrajectories(vtkPolyData::GetData(outputVector, TRAJECTORIES_PORT));
    this->History.writeEvents(vtkTable::GetData(outputVector, EVENTS_PORT));
    this->History.writeEdges(vtkTable::GetData(outputVector, EDGES_PORT));
  });
  this->AddTracks(transport, output);
  for (const auto& [name, value] :
       {std::pair<const char*, std::int64_t>("NumberOfRegions", range.regions.numbered.table.total),
        std::pair<const char*, std::int64_t>("NumberOfTracks", this->Graph->tracks())}) {
    vtkNew<vtkIdTypeArray> array;
    array->SetName(name);
    array->InsertNextValue(value);
    output->GetFieldData()->AddArray(array);
  }
  statistics.count("Blocks", static_cast<std::int64_t>(this->Leaves.size()));
  statistics.add(range.regions.statistics);
  tributary::describeTuning(this->Self->MakeRegionSettings(), statistics);
  statistics.phase("WritingSeconds");
  return true;
}

//------------------------------------------------------------------------------
void vtkAsyncFeatureTracker::vtkRegions::Release() {
  this->Leaves.clear();
  this->Domain.reset();
  this->Ranges.clear();
  this->Graph.reset();
  this->Tracked = {};
}

//------------------------------------------------------------------------------
void vtkAsyncFeatureTracker::vtkRegions::TakeBack() {
  this->History.cut(this->Now.Steps - 1);
  this->Now = std::move(this->Before);
  this->Before = {};
}

//------------------------------------------------------------------------------
tributary::Bytes vtkAsyncFeatureTracker::vtkRegions::Save() const {
  tributary::Writer writer;
  writer.value(MomentHead{this->Before.Steps, this->Before.Time, this->Before.Scale});
  writer.value(MomentHead{this->Now.Steps, this->Now.Time, this->Now.Scale});
  for (const Moment* moment : {&this->Before, &this->Now}) {
    writer.value(static_cast<std::uint64_t>(moment->Graph.size()));
    for (const tributary::Bytes& part : moment->Graph) {
      writer.range(part);
    }
    writer.range(moment->Samples);
  }
  this->History.save(writer);
  return writer.take();
}

//------------------------------------------------------------------------------
void vtkAsyncFeatureTracker::vtkRegions::Load(tributary::Transport& transport,
                                              const std::vector<tributary::Bytes>& parts) {
  std::vector<MomentHead> before, now;
  std::vector<tributary::Reader> readers;
  this->Before = {};
  this->Now = {};
  tributary::collectively(transport, [&] {
    for (const tributary::Bytes& part : parts) {
      tributary::Reader& reader = readers.emplace_back(part);
      before.push_back(reader.value<MomentHead>());
      now.push_back(reader.value<MomentHead>());
      for (Moment* moment : {&this->Before, &this->Now}) {
        for (auto left = reader.value<std::uint64_t>(); left > 0; --left) {
          reader.rangeInto(moment->Graph.emplace_back());
        }
        reader.rangeInto(moment->Samples);
      }
    }
  });
  this->History.load(transport, readers);
  for (auto [moment, heads] : {std::pair(&this->Before, &before), std::pair(&this->Now, &now)}) {
    const MomentHead head = Common(transport, *heads);
    moment->Steps = head.Steps;
    moment->Time = head.Time;
    moment->Scale = head.Scale;
  }
  if (this->Now.Steps < 1 || this->Before.Steps != this->Now.Steps - 1) {
    throw Error("the checkpoint is of no step");
  }
}
