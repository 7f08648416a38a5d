// SPDX-License-Identifier: BSD-3-Clause
#include <vtkDataArray.h>
#include <vtkDataObject.h>
#include <vtkFieldData.h>
#include <vtkIdTypeArray.h>
#include <vtkPolyData.h>
#include <vtkTable.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "Common/FreshArray.h"
#include "Common/Leaves.h"
#include "Common/RunStatistics.h"
#include "Features/CellSearch.h"
#include "Features/FeatureCells.h"
#include "Features/FeatureHistory.h"
#include "Features/FeatureTracking.h"
#include "Output/ActiveScalars.h"
#include "Output/NamedArrays.h"
#include "Regions/KeptDomain.h"
#include "Regions/RangeRegions.h"
#include "Regions/RegionArrays.h"
#include "Regions/RegionSettings.h"
#include "Regions/RegionWriting.h"

#include "Tributary/Base/Box.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Base/FixedSum.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Base/Span.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Features/FeatureGraph.h"
#include "Tributary/Features/FeatureOverlap.h"

namespace tributary {
namespace {

/// Fractions of the progress bar when the data sets are known, and when regions are.
constexpr double SetupDone = 0.1;
constexpr double RegionsDone = 0.5;

/// The part of a moment that is the same on all ranks.
struct MomentHead {
  std::int64_t steps;
  double time;
  FixedScale scale;

  bool operator==(const MomentHead& other) const {
    return steps == other.steps && time == other.time && scale == other.scale;
  }
};

/// The data after a step that the next step needs.
struct Moment {
  std::int64_t steps = 0;
  double time = 0;
  std::vector<Bytes> graph;
  CellSamples cells;
  FixedScale scale;  // of the samples' volumes
};

/// The tracks of some regions.
class TracksOfRegions {
 public:
  /// @param regions  ascending, each once
  /// @param tracks   of the regions
  TracksOfRegions(std::vector<std::int64_t> regions, std::vector<std::int64_t> tracks)
      : regions_(std::move(regions)), tracks_(std::move(tracks)) {
    if (regions_.empty()) return;
    const std::size_t span = index(regions_.back() - regions_.front()) + 1;
    if (span > MostPerRegion * regions_.size()) return;
    table_.resize(span);
    for (std::size_t r = 0; r < regions_.size(); ++r)
      table_[index(regions_[r] - regions_.front())] = tracks_[r];
  }
  /// @pre the region is one of them
  std::int64_t operator[](std::int64_t region) const {
    if (!table_.empty()) return table_[index(region - regions_.front())];
    const auto at = std::lower_bound(regions_.begin(), regions_.end(), region);
    return tracks_[index(at - regions_.begin())];
  }

 private:
  static constexpr std::size_t MostPerRegion = 8;  // entries of the table

  std::vector<std::int64_t> regions_, tracks_;
  std::vector<std::int64_t> table_;  // from the first region on, unless regions are far apart
};

/// Moves a place by whole periods into the domain.
void putInside(const PeriodicAxes& periodic, std::array<double, 3>& place) {
  for (std::size_t a = 0; a < 3; ++a) {
    const PeriodicAxis& axis = periodic[a];
    if (!axis.isPeriodic) continue;
    const double from = place[a] - axis.origin;
    if (from >= 0 && from <= axis.period) continue;
    place[a] = axis.origin + (from - axis.period * std::floor(from / axis.period));
  }
}

class RegionTracking final : public FeatureTracking {
 public:
  bool addStep(const RunContext& context, const FeatureTrackerSettings& settings,
               vtkDataObject* input, double time) override;
  void release() override { step_ = {}; }
  bool write(const RunContext& context, const FeatureTrackerSettings& settings,
             vtkDataObject* input, const FeatureOutputs& outputs) override;
  void takeBack() override {
    history_.cut(now_.steps - 1);
    now_ = std::exchange(before_, {});
  }
  Bytes save() const override;
  void load(Transport& transport, const std::vector<Bytes>& parts) override;

 private:
  /// The step that is being added.
  struct Step {
    std::vector<Leaf> leaves;
    std::vector<Fingerprint> meshes;  // of the leaves
    const ComponentDomain* domain = nullptr;
    std::vector<ShownRange> ranges;  // one
    std::unique_ptr<FeatureGraph> graph;
    TrackedStep tracked;

    const RangeRegions& regions() const { return ranges.front().regions; }
    const std::vector<RegionOfSet>& regionsOf(std::size_t leaf) const {
      return regions().numbered.ofSet[leaf];
    }
  };

  bool findStepRegions(const RunContext& context, const FeatureTrackerSettings& settings,
                       vtkDataObject* input);
  void addCellsOf(std::size_t leaf, const FeatureTrackerSettings& settings,
                  CellSamples& cells) const;
  void findSearches();
  const ComponentPiece& pieceOf(std::size_t leaf) const {
    return step_.regions().labeled[leaf]->piece();
  }
  /// Whether a data set of the step before has the same points and cells in this step.
  bool stays(std::size_t leaf, const Fingerprint& mesh) const {
    return leaf < step_.meshes.size() && step_.meshes[leaf] == mesh;
  }
  std::int64_t regionAt(std::size_t leaf, vtkIdType cell) const;
  FeatureAtPlace featureAt(const std::array<double, 3>& place, bool isCentroid) const;
  std::vector<Box> boxesOfOthers(std::size_t leaf, const Box& bounds,
                                 const std::vector<FeatureReach>& reaches, int rank) const;
  void addSteadyOverlaps(const SampledCells& cells, const std::vector<FeatureSample>& samples,
                         const std::vector<Box>& others, OverlapSums& overlaps,
                         std::vector<FeatureSample>& rest) const;
  bool addSteadyOverlaps(const CellSamples& before, const std::vector<FeatureReach>& reaches,
                         int rank, std::vector<FeatureOverlap>& overlaps,
                         std::vector<FeatureSample>& rest) const;
  std::vector<FeatureOverlap> overlapsWith(const Moment& before, Transport& transport,
                                           const FeatureTrackerSettings& settings, double time);
  void track(Transport& transport, const FeatureTrackerSettings& settings, double time);
  ElementIds trackIds(Transport& transport) const;

  Moment before_;  // the step before, for takeBack()
  Moment now_;
  FeatureHistory history_;
  Step step_;
  std::vector<std::unique_ptr<CellSearch>> searches_;  // of the last step's data sets
};

/// Collective. @return false after an abort
bool RegionTracking::findStepRegions(const RunContext& context,
                                     const FeatureTrackerSettings& settings, vtkDataObject* input) {
  step_ = {};
  collectively(context.transport, [&] { step_.leaves = leavesOf(input); });
  const RegionSettings& regions = settings.regions;
  std::vector<RangeTest> tests = selectTests(regions, context.transport, step_.leaves);
  setRange(regions, 0, tests);
  if (regions.labelConnectivity && !regions.scalarConnectivity) {
    const auto labels = findLabels(context.transport, step_.leaves, regions.labels);
    for (std::size_t n = 0; n < labels.size(); ++n) {
      tests[n].scalars = labels[n];
      tests[n].atCells = true;
      tests[n].lo = 0;  // cells with a negative label are in no region
      tests[n].hi = std::numeric_limits<double>::infinity();
    }
  }
  step_.domain = regions.kept->update(regions, context, input, step_.leaves, 0.5 * SetupDone);
  if (context.agreeOnAbort(!step_.domain)) return false;
  collectively(context.transport, [&] { step_.meshes = regions.kept->meshesOf(step_.leaves); });
  const std::vector<std::vector<MeasuredValues>> none(step_.leaves.size());
  step_.ranges.resize(1);
  step_.ranges.front().selection.all = true;
  step_.ranges.front().regions =
      findRegions(context.transport, *step_.domain, tests, none, 0, RegionOrder::LeastKey,
                  makeTunedUnionOptions(regions, context, SetupDone));
  return !context.agreeOnAbort(step_.regions().aborted);
}

/// Local. Adds a leaf's cells, for the next step.
void RegionTracking::addCellsOf(std::size_t n, const FeatureTrackerSettings& settings,
                                CellSamples& cells) const {
  const Leaf& leaf = step_.leaves[n];
  vtkDataArray* velocity = nullptr;
  int association = vtkDataObject::FIELD_ASSOCIATION_NONE;
  if (settings.usesVelocity && leaf.cells() > 0) {
    velocity = settings.findVelocity(leaf, association);
    const bool atCells = association == vtkDataObject::FIELD_ASSOCIATION_CELLS;
    if (!velocity || velocity->GetNumberOfComponents() != 3 ||
        velocity->GetNumberOfTuples() != (atCells ? leaf.cells() : leaf.points()))
      throw Error(
          "a data set lacks the vectors required by Motion; choose an array of three components "
          "that all data sets have with Velocity, or "
          "another Motion");
  }
  addCells(n, step_.meshes[n], *step_.regions().labeled[n], step_.regionsOf(n),
           step_.regions().scales, velocity, association == vtkDataObject::FIELD_ASSOCIATION_CELLS,
           cells);
}

/// Local. Makes a search in each data set, unless there is one of the same points and cells.
void RegionTracking::findSearches() {
  searches_.resize(step_.leaves.size());
  for (std::size_t n = 0; n < searches_.size(); ++n)
    if (searches_[n] && searches_[n]->mesh() == step_.meshes[n]) {
      searches_[n]->useAgain(pieceOf(n));
    } else {
      searches_[n].reset();  // before new memory is allocated
      searches_[n] = std::make_unique<CellSearch>(pieceOf(n), step_.meshes[n]);
    }
}

/// Local. The number of the region of a cell, -1 if it is in none.
std::int64_t RegionTracking::regionAt(std::size_t leaf, vtkIdType cell) const {
  const std::uint32_t set = step_.regions().labeled[leaf]->setOfCell(cell);
  return set == NoSet ? -1 : step_.regionsOf(leaf)[set].number;
}

/// Local. The region at a place. A hidden cell is not there.
/// @param isCentroid  whether the place is that of a cell of the step before that does not move
FeatureAtPlace RegionTracking::featureAt(const std::array<double, 3>& place,
                                         bool isCentroid) const {
  FeatureAtPlace found;
  for (std::size_t n = 0; n < searches_.size(); ++n) {
    const auto cells = searches_[n]->at(pieceOf(n), place, isCentroid);
    for (const vtkIdType cell : cells.centered)
      found.add({!pieceOf(n).isHidden(cell), regionAt(n, cell)});
    for (const vtkIdType cell : cells.others) found.add({false, regionAt(n, cell)});
  }
  return found;
}

/// Local. The boxes of all other data sets that meet the bounds of one.
std::vector<Box> RegionTracking::boxesOfOthers(std::size_t leaf, const Box& bounds,
                                               const std::vector<FeatureReach>& reaches,
                                               int rank) const {
  std::vector<Box> boxes;
  const auto add = [&](const Box& box) {
    if (intersects(box, bounds)) boxes.push_back(box);
  };
  for (std::size_t r = 0; r < reaches.size(); ++r)
    if (static_cast<int>(r) != rank && intersects(reaches[r].all, bounds))
      std::for_each(reaches[r].boxes.begin(), reaches[r].boxes.end(), add);
  for (std::size_t n = 0; n < searches_.size(); ++n)
    if (n != leaf) add(searches_[n]->box());
  return boxes;
}

/// Local. Adds the overlaps of cells with themselves, of a data set that stays.
/// @param others  the boxes of other data sets, which may have cells with the same centroids
/// @param rest    Out: adds the samples that have to be searched
void RegionTracking::addSteadyOverlaps(const SampledCells& sampled,
                                       const std::vector<FeatureSample>& samples,
                                       const std::vector<Box>& others, OverlapSums& overlaps,
                                       std::vector<FeatureSample>& rest) const {
  const std::size_t n = sampled.leaf;
  const ComponentPiece& piece = pieceOf(n);
  std::vector<vtkIdType> centered;
  for (std::size_t i = 0; i < sampled.cells.size(); ++i) {
    const FeatureSample& sample = samples[sampled.first + i];
    const auto holdsIt = [&](const Box& box) { return box.contains(sample.place.data()); };
    FeatureAtPlace found;
    if (std::none_of(others.begin(), others.end(), holdsIt) &&
        searches_[n]->findCentered(piece, sampled.cells[i], sample.place, centered))
      for (const vtkIdType cell : centered) found.add({!piece.isHidden(cell), regionAt(n, cell)});
    if (!found.isOfPart)
      rest.push_back(sample);
    else if (found.feature >= 0)
      overlaps.add(sample.feature, found.feature, sample.volume);
  }
}

/// Local. Adds the overlaps of cells with themselves, of all data sets that stay.
/// @param rest  Out: the samples that have to be searched
/// @return false if these are all of `before.samples`, which are not copied then
bool RegionTracking::addSteadyOverlaps(const CellSamples& before,
                                       const std::vector<FeatureReach>& reaches, int rank,
                                       std::vector<FeatureOverlap>& overlaps,
                                       std::vector<FeatureSample>& rest) const {
  bool isAll = before.lattices.empty();
  for (const SampledCells& cells : before.sampled) isAll &= !stays(cells.leaf, cells.mesh);
  if (isAll) return false;
  OverlapSums sums;
  for (const LatticeCells& lattice : before.lattices) {
    const std::size_t n = lattice.leaf();
    if (stays(n, lattice.mesh()))
      lattice.addOverlaps(*step_.regions().labeled[n], step_.regionsOf(n),
                          boxesOfOthers(n, lattice.bounds(), reaches, rank), sums, rest);
    else
      lattice.addSamples(rest);
  }
  const auto copy = [&](std::size_t begin, std::size_t end) {
    rest.insert(rest.end(), before.samples.begin() + std::ptrdiff_t(begin),
                before.samples.begin() + std::ptrdiff_t(end));
  };
  for (const SampledCells& cells : before.sampled) {
    const std::size_t n = cells.leaf;
    if (stays(n, cells.mesh))
      addSteadyOverlaps(cells, before.samples, boxesOfOthers(n, searches_[n]->box(), reaches, rank),
                        sums, rest);
    else
      copy(cells.first, cells.first + cells.cells.size());
  }
  overlaps = sums.take();
  return true;
}

/// Collective. The overlaps of the regions of the step before with those of this one.
std::vector<FeatureOverlap> RegionTracking::overlapsWith(const Moment& before, Transport& transport,
                                                         const FeatureTrackerSettings& settings,
                                                         double time) {
  const bool moves = settings.usesVelocity || settings.tracking.motion != FeatureMotion::None;
  std::vector<Box> boxes;
  collectively(transport, [&] {
    findSearches();
    for (const auto& search : searches_) boxes.push_back(search->box());
  });
  const std::vector<FeatureReach> reaches = gatherReaches(transport, boxes);
  std::vector<FeatureOverlap> steady;
  std::vector<FeatureSample> samples;
  bool isCopy = true;  // whether `samples` are what to search, rather than `before.cells.samples`
  collectively(transport, [&] {
    if (!moves) {
      isCopy = addSteadyOverlaps(before.cells, reaches, transport.rank(), steady, samples);
      return;
    }
    samples = before.cells.all();
    for (std::size_t i = 0; i < before.cells.velocities.size(); ++i)
      for (std::size_t a = 0; a < 3; ++a)
        samples[i].place[a] += before.cells.velocities[i][a] * (time - before.time);
  });
  if (moves) {
    samples = step_.graph->moved(samples, time);
    for (FeatureSample& sample : samples) putInside(step_.domain->rules.periodic, sample.place);
  }
  std::vector<FeatureOverlap> overlaps =
      findOverlaps(transport, isCopy ? samples : before.cells.samples, reaches,
                   [&](const std::array<double, 3>& place) { return featureAt(place, !moves); });
  collectively(transport, [&] { overlaps.insert(overlaps.end(), steady.begin(), steady.end()); });
  return overlaps;
}

/// Collective. Adds the step after now_.
void RegionTracking::track(Transport& transport, const FeatureTrackerSettings& settings,
                           double time) {
  TrackingOptions options = settings.tracking;
  for (std::size_t a = 0; a < 3; ++a) options.period[a] = step_.domain->rules.periodic[a].period;
  step_.graph = std::make_unique<FeatureGraph>(transport, options);
  std::vector<FeatureOverlap> overlaps;
  if (now_.steps > 0) {
    step_.graph->load(now_.graph);
    overlaps = overlapsWith(now_, transport, settings, time);
  }
  const RangeRegions& regions = step_.regions();
  FeatureStep step;
  CellSamples cells;
  collectively(transport, [&] {
    step.time = time;
    step.total = regions.numbered.table.total;
    const RegionTable& table = regions.numbered.table;
    for (std::size_t i = 0; i < table.regions.size(); ++i) {
      const RegionFacts& facts = table.regions[i];
      const RegionPlace place = regions.wrapped.placeOf(table.first + static_cast<std::int64_t>(i),
                                                        facts, regions.scales);
      FeatureFacts& feature = step.features.emplace_back();
      feature.size = weightOf(facts, regions.scales);
      feature.centroid = place.centroid;
      for (std::size_t a = 0; a < 3; ++a)
        if (place.wraps[a]) feature.wraps |= std::int64_t(1) << a;
    }
    for (std::size_t n = 0; n < step_.leaves.size(); ++n) addCellsOf(n, settings, cells);
  });
  step_.tracked = step_.graph->advance(step, std::move(overlaps), now_.scale);
  history_.add(transport, step_.tracked, time);
  collectively(transport, [&] {
    before_ = std::move(now_);
    now_ = {step_.graph->steps(),
            time,
            {step_.graph->save()},
            std::move(cells),
            regions.scales.measure};
  });
}

bool RegionTracking::addStep(const RunContext& context, const FeatureTrackerSettings& settings,
                             vtkDataObject* input, double time) {
  if (!findStepRegions(context, settings, input)) return false;
  context.statistics.phase("RegionsSeconds");
  context.monitor(RegionsDone);
  track(context.transport, settings, time);
  context.statistics.phase("TrackingSeconds");
  return true;
}

/// Collective. The tracks of cells and points, from their regions.
ElementIds RegionTracking::trackIds(Transport& transport) const {
  const ShownRange& range = step_.ranges.front();
  std::vector<std::int64_t> regions;
  collectively(transport, [&] {
    regions = range.atSharedPoints;
    for (const auto& ofSet : range.regions.numbered.ofSet)
      for (const RegionOfSet& set : ofSet)
        if (set.number >= 0) regions.push_back(set.number);
    std::sort(regions.begin(), regions.end());
    regions.erase(std::unique(regions.begin(), regions.end()), regions.end());
  });
  std::vector<std::int64_t> tracks = step_.graph->tracksOf(regions);

  const auto tracksAt = [](vtkIdTypeArray* array, const TracksOfRegions& trackOf) {
    const Span<const vtkIdType> ids(array->GetPointer(0), index(array->GetNumberOfTuples()));
    auto copy = freshArray<vtkIdTypeArray>("TrackId", 1, array->GetNumberOfTuples());
    vtkIdType* to = copy->GetPointer(0);
    for (std::size_t begin = 0, end = 0; begin < ids.size(); begin = end) {
      end = endOfRun(ids, begin);
      std::fill(to + begin, to + end, ids[begin] < 0 ? -1 : trackOf[ids[begin]]);
    }
    return copy;
  };
  ElementIds ids;
  collectively(transport, [&] {
    const TracksOfRegions trackOf(std::move(regions), std::move(tracks));
    ids.name = "TrackId";
    for (const auto& cells : range.ids.cells) ids.cells.push_back(tracksAt(cells, trackOf));
    for (const auto& points : range.ids.points) ids.points.push_back(tracksAt(points, trackOf));
  });
  return ids;
}

bool RegionTracking::write(const RunContext& context, const FeatureTrackerSettings& settings,
                           vtkDataObject* input, const FeatureOutputs& outputs) {
  ShownRange& range = step_.ranges.front();
  showRegions(context.transport, *step_.domain, step_.leaves, nameOfRange(0), {}, true, true,
              range);
  const ElementIds tracks = trackIds(context.transport);
  collectively(context.transport, [&] {
    std::vector<const ElementIds*> extracted;
    if (settings.regions.extractRegions) extracted.push_back(&range.ids);
    writeData(input, {&range.ids, &tracks}, extracted, outputs.mesh);
    setActiveScalars(outputs.mesh, vtkDataObject::CELL, "TrackId");
    writeTable(step_.ranges, outputs.features);
    addTrackColumns(step_.tracked, now_.time, outputs.features);
    history_.writeTrajectories(outputs.trajectories);
    history_.writeEvents(outputs.events);
    history_.writeEdges(outputs.edges);
  });
  addCounts(outputs.mesh->GetFieldData(), {{"NumberOfRegions", range.regions.numbered.table.total},
                                           {"NumberOfTracks", step_.graph->tracks()}});
  context.statistics.count("Blocks", static_cast<std::int64_t>(step_.leaves.size()));
  context.statistics.add(range.regions.statistics);
  describeTuning(settings.regions, context.statistics);
  context.statistics.phase("WritingSeconds");
  return true;
}

Bytes RegionTracking::save() const {
  Writer writer;
  writer.value(MomentHead{before_.steps, before_.time, before_.scale});
  writer.value(MomentHead{now_.steps, now_.time, now_.scale});
  for (const Moment* moment : {&before_, &now_}) {
    writer.value(static_cast<std::uint64_t>(moment->graph.size()));
    for (const Bytes& part : moment->graph) writer.range(part);
    writer.range(moment->cells.all()).range(moment->cells.velocities);
  }
  history_.save(writer);
  return writer.take();
}

void RegionTracking::load(Transport& transport, const std::vector<Bytes>& parts) {
  std::vector<MomentHead> before, now;
  std::vector<Reader> readers;
  before_ = {};
  now_ = {};
  collectively(transport, [&] {
    for (const Bytes& part : parts) {
      Reader& reader = readers.emplace_back(part);
      before.push_back(reader.value<MomentHead>());
      now.push_back(reader.value<MomentHead>());
      for (Moment* moment : {&before_, &now_}) {
        for (auto left = reader.value<std::uint64_t>(); left > 0; --left)
          reader.rangeInto(moment->graph.emplace_back());
        reader.rangeInto(moment->cells.samples);
        reader.rangeInto(moment->cells.velocities);
        const std::size_t velocities = moment->cells.velocities.size();
        if (velocities > 0 && velocities != moment->cells.samples.size())
          throw Error("the checkpoint lacks the velocities of some cells");
      }
    }
  });
  history_.load(transport, readers);
  for (auto [moment, heads] : {std::pair(&before_, &before), std::pair(&now_, &now)}) {
    const MomentHead head = common(transport, *heads);
    moment->steps = head.steps;
    moment->time = head.time;
    moment->scale = head.scale;
  }
  checkSteps(before_.steps, now_.steps);
}

}  // namespace

std::unique_ptr<FeatureTracking> makeRegionTracking() {
  return std::make_unique<RegionTracking>();
}

}  // namespace tributary
