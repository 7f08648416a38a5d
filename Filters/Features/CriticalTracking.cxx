// SPDX-License-Identifier: BSD-3-Clause
#include "Features/CriticalTracking.h"

#include "Common/NamedArrays.h"
#include "Common/RunContext.h"
#include "Common/RunStatistics.h"
#include "Common/SmpFor.h"
#include "Features/CriticalOutput.h"
#include "Regions/RegionSettings.h"

#include "Tributary/Base/Error.h"
#include "Tributary/Base/Hash.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Collective/Rendezvous.h"
#include "Tributary/Features/Trajectories.h"

#include <vtkDataObject.h>
#include <vtkFieldData.h>
#include <vtkInformationVector.h>
#include <vtkPolyData.h>
#include <vtkTable.h>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

using tributary::CriticalField;
using tributary::CriticalPointStep;
using tributary::CriticalPointTracker;
using tributary::Error;
using tributary::Span;
using tributary::TrajectoryPieces;
using tributary::Transport;

namespace {
/// Shares of the progress bar when the mesh is known, and when lines between two steps are.
constexpr double MESH_DONE = 0.2;
constexpr double LINES_DONE = 0.7;

std::vector<Span<const double>> viewsOf(const std::vector<std::vector<double>>& values) {
  return {values.begin(), values.end()};
}

/// The step that a piece was added with.
std::int64_t stepOf(Span<const tributary::CriticalPoint> piece) {
  std::int64_t step = 0;
  for (const tributary::CriticalPoint& point : piece) {
    step = std::max(step, point.face.step + (point.face.upper > 0 ? 1 : 0));
  }
  return step;
}

/// What all ranks know of a moment.
struct MomentHead {
  std::int64_t Steps;
  std::int64_t Mesh;
  std::int64_t IsVector;

  bool operator==(const MomentHead& other) const {
    return this->Steps == other.Steps && this->Mesh == other.Mesh &&
           this->IsVector == other.IsVector;
  }
};

/// Adds the pieces that were saved.
void readPieces(tributary::Reader& reader, TrajectoryPieces& pieces) {
  TrajectoryPieces part;
  reader.rangeInto(part.points);
  part.offsets = reader.range<std::size_t>();
  reader.rangeInto(part.tracks);
  const bool isWhole =
      part.offsets.size() == part.tracks.size() + 1 && part.offsets.front() == 0 &&
      part.offsets.back() == part.points.size() &&
      std::adjacent_find(part.offsets.begin(), part.offsets.end(),
                         std::greater_equal<std::size_t>()) == part.offsets.end() &&
      std::all_of(part.tracks.begin(), part.tracks.end(), [](std::int64_t t) { return t >= 0; });
  if (!isWhole) {
    throw Error("the checkpoint has pieces of trajectories that are none");
  }
  pieces.append(part);
}

/// A point that somebody has the values of, or wants them for.
struct Wish {
  std::int64_t Id;
  std::int64_t Place;  ///< Among the rank's points; of what is known -1 - place.
  double Values[3];
};
}  // anonymous namespace

//------------------------------------------------------------------------------
void vtkAsyncFeatureTracker::vtkCriticalPoints::CheckMesh(Transport& transport,
                                                          bool isVector) const {
  std::int64_t difference = 0;
  if (this->Now.Steps > 0) {
    difference = this->Now.Mesh != this->Domain->fingerprint   ? 1
                 : (this->Now.Field.IsVector != 0) != isVector ? 2
                                                               : 0;
  }
  difference = tributary::allreduce(transport, tributary::ReduceOp::Max, difference);
  if (difference == 1) {
    throw Error(
        "the mesh is not that of the last step; critical points are followed on a mesh that "
        "stays as it is: resample the steps to one, or follow regions");
  }
  if (difference == 2) {
    throw Error("one step has a scalar field and another one vectors; choose one array");
  }
}

//------------------------------------------------------------------------------
/// Of the blocks of this step the values of the last one, which other ranks may have.
std::vector<std::vector<double>> vtkAsyncFeatureTracker::vtkCriticalPoints::LastValues(
    Transport& transport) const {
  const KeptField& kept = this->Now.Field;
  const std::size_t width = kept.IsVector ? 3 : 1;
  const tributary::SimplicialSpace& space = *this->Domain->space;
  std::vector<std::int64_t> ids;
  for (std::size_t b = 0; b < space.blocks(); ++b) {
    for (std::int64_t p = 0; p < space.points(b); ++p) {
      ids.push_back(space.idOf(b, p));
    }
  }
  std::vector<double> values;
  if (tributary::allreduce(transport, tributary::ReduceOp::Or, std::int64_t(ids != kept.Ids)) ==
      0) {
    values = kept.Values;
  } else {
    std::vector<Wish> mine;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      mine.push_back({ids[i], static_cast<std::int64_t>(i), {}});
    }
    for (std::size_t i = 0; i < kept.Ids.size(); ++i) {
      mine.push_back({kept.Ids[i], -1 - static_cast<std::int64_t>(i), {}});
      std::copy_n(kept.Values.data() + i * width, width, mine.back().Values);
    }
    const auto answers = tributary::rendezvous<Wish>(
        transport, std::move(mine),
        [](const Wish& w) { return tributary::scramble(static_cast<std::uint64_t>(w.Id)); },
        [](const Wish& x, const Wish& y) { return x.Id < y.Id; },
        [](const Wish& x, const Wish& y) { return x.Id == y.Id; },
        [](Span<tributary::Met<Wish>> group, auto&& send) {
          // A point of several blocks has the values of the first of them.
          const tributary::Met<Wish>* first = nullptr;
          for (const auto& one : group) {
            if (one.record.Place < 0 &&
                (!first || one.rank < first->rank ||
                 (one.rank == first->rank && one.record.Place > first->record.Place))) {
              first = &one;
            }
          }
          for (const auto& one : group) {
            if (one.record.Place < 0) {
              continue;
            }
            if (!first) {
              throw Error("a point of the mesh was not there in the last step");
            }
            Wish answer = one.record;
            std::copy_n(first->record.Values, 3, answer.Values);
            send(one.rank, answer);
          }
        });
    values.resize(width * ids.size());
    for (const Wish& answer : answers) {
      std::copy_n(answer.Values, width,
                  values.data() + width * static_cast<std::size_t>(answer.Place));
    }
  }
  std::vector<std::vector<double>> ofBlocks;
  auto next = values.begin();
  for (std::size_t b = 0; b < space.blocks(); ++b) {
    const auto count = static_cast<std::ptrdiff_t>(width) * space.points(b);
    ofBlocks.emplace_back(next, next + count);
    next += count;
  }
  return ofBlocks;
}

//------------------------------------------------------------------------------
bool vtkAsyncFeatureTracker::vtkCriticalPoints::TakeUp(Transport& transport, vtkDataObject* input,
                                                       double time,
                                                       tributary::RunStatistics& statistics) {
  this->Leaves = tributary::leavesOf(input);
  this->Domain = tributary::makeCriticalDomain(transport, this->Leaves);
  if (this->Self->AbortedTogether(transport, !this->Self->Monitor(transport, MESH_DONE))) {
    return false;
  }
  statistics.phase("MeshSeconds");
  const tributary::SimplicialSpace& space = *this->Domain->space;
  CriticalField field =
      tributary::findCriticalField(transport, *this->Domain, this->Leaves, this->Self->Finder(3));
  this->CheckMesh(transport, field.isVector);

  tributary::CriticalPointOptions options;
  options.center = this->Self->CenterTolerance;
  const tributary::RegionSettings settings = this->Self->MakeRegionSettings();
  options.linking = tributary::makeTunedUnionOptions(
      settings, this->Self->MakeRunContext(transport, statistics), LINES_DONE);
  options.parallelFor = tributary::smpFor;
  CriticalPointTracker tracker(transport, space, options);
  const auto values = viewsOf(field.values);
  if (this->Now.Steps > 0) {
    const auto last = this->LastValues(transport);
    if (field.isVector) {
      tracker.resumeVectors(this->Now.Tracker, viewsOf(last));
    } else {
      tracker.resumeScalars(this->Now.Tracker, viewsOf(last));
    }
  }
  CriticalPointStep step =
      field.isVector ? tracker.addVectors(time, values) : tracker.addScalars(time, values);
  if (this->Self->AbortedTogether(transport, step.aborted)) {
    return false;
  }
  Moment now;
  tributary::collectively(transport, [&] {
    now.Steps = tracker.steps();
    now.Mesh = this->Domain->fingerprint;
    now.Tracker.push_back(tracker.save());
    now.Field.IsVector = field.isVector;
    for (std::size_t b = 0; b < space.blocks(); ++b) {
      for (std::int64_t p = 0; p < space.points(b); ++p) {
        now.Field.Ids.push_back(space.idOf(b, p));
      }
      now.Field.Values.insert(now.Field.Values.end(), field.values[b].begin(),
                              field.values[b].end());
      this->History.append(step.pieces[b]);
    }
  });
  this->Before = std::move(this->Now);
  this->Now = std::move(now);
  this->Pieces = std::move(step.pieces);
  this->Tracks = tracker.tracks();
  statistics.phase("TrackingSeconds");
  return true;
}

//------------------------------------------------------------------------------
bool vtkAsyncFeatureTracker::vtkCriticalPoints::Write(Transport& transport, vtkDataObject* input,
                                                      vtkInformationVector* outputVector,
                                                      tributary::RunStatistics& statistics) {
  // What there is of all steps is one block on each rank.
  const tributary::Assignment ranks(
      std::vector<std::int64_t>(static_cast<std::size_t>(transport.size()), 1));
  const tributary::Trajectories lines = tributary::joinPieces(
      transport, ranks, {this->History},
      tributary::makeUnionOptions(this->Self->MakeRegionSettings(),
                                  this->Self->MakeRunContext(transport, statistics), LINES_DONE));
  if (this->Self->AbortedTogether(transport, lines.aborted)) {
    return false;
  }
  const std::int64_t last = this->Now.Steps - 1;
  std::int64_t points = 0;
  for (const TrajectoryPieces& block : this->Pieces) {
    tributary::forPointsOfStep(block, last,
                               [&](std::size_t, const tributary::CriticalPoint&) { ++points; });
  }
  points = tributary::allreduce(transport, tributary::ReduceOp::Sum, points);
  const tributary::CriticalOutput output(this->Now.Field.IsVector != 0, this->Domain->dimension());
  tributary::collectively(transport, [&] {
    vtkDataObject* mesh = vtkDataObject::GetData(outputVector, MESH_PORT);
    mesh->ShallowCopy(input);
    output.writeTrajectories(lines, vtkPolyData::GetData(outputVector, TRAJECTORIES_PORT));
    output.writePoints(this->Pieces, last, vtkTable::GetData(outputVector, FEATURES_PORT));
    output.writeEvents(lines, vtkTable::GetData(outputVector, EVENTS_PORT));
    output.writeEdges(lines, vtkTable::GetData(outputVector, EDGES_PORT));
    const auto counts = {std::pair<const char*, std::int64_t>("NumberOfCriticalPoints", points),
                         std::pair<const char*, std::int64_t>("NumberOfTracks", this->Tracks),
                         std::pair<const char*, std::int64_t>("NumberOfTrajectories", lines.total)};
    for (const auto& [name, value] : counts) {
      const auto array = tributary::numbers(name);
      array->InsertNextValue(value);
      mesh->GetFieldData()->AddArray(array);
    }
  });
  statistics.count("Blocks", static_cast<std::int64_t>(this->Domain->blocks.size()));
  tributary::describeTuning(this->Self->MakeRegionSettings(), statistics);
  statistics.phase("WritingSeconds");
  return true;
}

//------------------------------------------------------------------------------
void vtkAsyncFeatureTracker::vtkCriticalPoints::Release() {
  this->Leaves.clear();
  this->Domain.reset();
  this->Pieces.clear();
}

//------------------------------------------------------------------------------
void vtkAsyncFeatureTracker::vtkCriticalPoints::TakeBack() {
  const std::int64_t step = this->Now.Steps - 1;
  TrajectoryPieces kept;
  for (std::size_t i = 0; i < this->History.size(); ++i) {
    const auto piece = this->History.piece(i);
    if (stepOf(piece) >= step) {
      continue;
    }
    kept.points.insert(kept.points.end(), piece.begin(), piece.end());
    kept.offsets.push_back(kept.points.size());
    kept.tracks.push_back(this->History.tracks[i]);
  }
  this->History = std::move(kept);
  this->Now = std::move(this->Before);
  this->Before = {};
}

//------------------------------------------------------------------------------
tributary::Bytes vtkAsyncFeatureTracker::vtkCriticalPoints::Save() const {
  tributary::Writer writer;
  for (const Moment* moment : {&this->Before, &this->Now}) {
    writer.value(MomentHead{moment->Steps, moment->Mesh, moment->Field.IsVector});
    writer.value(static_cast<std::uint64_t>(moment->Tracker.size()));
    for (const tributary::Bytes& part : moment->Tracker) {
      writer.range(part);
    }
    writer.range(moment->Field.Ids).range(moment->Field.Values);
  }
  writer.range(this->History.points).range(this->History.offsets).range(this->History.tracks);
  return writer.take();
}

//------------------------------------------------------------------------------
void vtkAsyncFeatureTracker::vtkCriticalPoints::Load(Transport& transport,
                                                     const std::vector<tributary::Bytes>& parts) {
  std::array<std::vector<MomentHead>, 2> heads;
  this->Before = {};
  this->Now = {};
  this->History = {};
  const std::array<Moment*, 2> moments{&this->Before, &this->Now};
  tributary::collectively(transport, [&] {
    for (const tributary::Bytes& part : parts) {
      tributary::Reader reader(part);
      for (std::size_t m = 0; m < moments.size(); ++m) {
        heads[m].push_back(reader.value<MomentHead>());
        for (auto left = reader.value<std::uint64_t>(); left > 0; --left) {
          reader.rangeInto(moments[m]->Tracker.emplace_back());
        }
        KeptField& field = moments[m]->Field;
        reader.rangeInto(field.Ids);
        reader.rangeInto(field.Values);
        if (field.Values.size() != field.Ids.size() * (heads[m].back().IsVector ? 3 : 1)) {
          throw Error("the checkpoint has not one value for each point");
        }
      }
      readPieces(reader, this->History);
    }
  });
  for (std::size_t m = 0; m < moments.size(); ++m) {
    const MomentHead head = Common(transport, heads[m]);
    moments[m]->Steps = head.Steps;
    moments[m]->Mesh = head.Mesh;
    moments[m]->Field.IsVector = head.IsVector;
  }
  if (this->Now.Steps < 1 || this->Before.Steps != this->Now.Steps - 1) {
    throw Error("the checkpoint is of no step");
  }
}
