// SPDX-License-Identifier: BSD-3-Clause
#include "Lines/Crossings/CrossingOutput.h"

#include <vtkCellArray.h>
#include <vtkCellData.h>
#include <vtkIdTypeArray.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPoints.h>
#include <vtkTypeInt32Array.h>
#include <vtkTypeInt64Array.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "Common/FreshArray.h"
#include "Lines/LineAssembly.h"
#include "Lines/LineOutput.h"
#include "Lines/PointTransfer.h"

#include "Tributary/Base/Error.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Collective/Records.h"
#include "Tributary/Reduction/AllToAll.h"

namespace tributary {
namespace {

/// Crossings after which a round of a rank ends. Rounds bound the memory beside logs and output.
constexpr std::size_t CrossingsPerRound = std::size_t(1) << 16;
/// Points of a PointGroup.
constexpr std::size_t CrossingsPerGroup = 8192;

/// What evaluated arrays do not have, as it travels, without padding.
struct CrossingRecord {
  std::int64_t line;
  std::int32_t index;
  std::int32_t event;
  std::int64_t number;
  double length;
  double time;
  double x[3];
  std::int64_t target;
};
static_assert(sizeof(CrossingRecord) == 72, "no padding travels");

/// Takes the crossings out of the logs of a trace, whose memory becomes free.
class CrossingReader {
 public:
  CrossingReader(const FlowDomain& flow, TraceResult& traced) {
    for (std::size_t b = 0; b < traced.logs.size(); ++b)
      add(*flow.domain->blocks[b], traced.logs[b]);
    for (TraceResult::Borrowed& borrowed : traced.borrowed) add(*borrowed.block, borrowed.logs);
  }

  bool atEnd() const { return next_ == logs_.size(); }

  /// Reads the crossings of a round.
  /// @param grouped  whether groups() are wanted
  void read(bool grouped) {
    crossings_.clear();
    points_.clear();
    groups_.clear();
    std::vector<std::pair<const FieldBlock*, std::size_t>> parts;
    while (!atEnd() && crossings_.size() < CrossingsPerRound) {
      const std::size_t count = logs_[next_].crossings->takeChunk(crossings_);
      if (count == 0)
        ++next_;
      else
        parts.emplace_back(logs_[next_].block, count);
    }
    if (!grouped) return;
    for (const CrossingPoint& crossing : crossings_) points_.push_back(crossing.point);
    Span<const TrajectoryPoint> rest(points_.data(), points_.size());
    for (auto& [block, count] : parts)
      while (count > 0) {
        const std::size_t size = std::min(count, CrossingsPerGroup);
        groups_.push_back({block, rest.subspan(0, size)});
        rest = rest.subspan(size, rest.size() - size);
        count -= size;
      }
  }
  const std::vector<CrossingPoint>& crossings() const { return crossings_; }
  Span<const PointGroup> groups() const { return {groups_.data(), groups_.size()}; }

 private:
  struct Log {
    const FieldBlock* block;
    CrossingLog* crossings;
  };
  void add(const FieldBlock& block, std::vector<TrajectoryLog>& logs) {
    for (TrajectoryLog& log : logs)
      if (log.crossings().size() > 0) logs_.push_back({&block, &log.crossings()});
  }

  std::vector<Log> logs_;
  std::size_t next_ = 0;
  // Of the round.
  std::vector<CrossingPoint> crossings_;
  std::vector<TrajectoryPoint> points_;
  std::vector<PointGroup> groups_;
};

/// Local. Gives a place to each crossing of the output.
LineTable layOut(const LineTable& table) {
  LineTable places;
  places.firstSeed = table.firstSeed;
  places.hasSurface = table.hasSurface;
  places.halves.reserve(table.halves.size());
  for (const HalfLine& half : table.halves) {
    HalfLine& place = places.halves.emplace_back();
    place.base = places.points;
    place.points = half.crossings;
    place.isOutput = half.crossings > 0;
    places.points += half.crossings;
  }
  return places;
}

/// Local. Memory for all crossings.
CrossingList listFor(const Transport& transport, const PointEvaluator& evaluator,
                     CrossingContent content, LineTable places) {
  CrossingList crossings;
  const auto count = static_cast<vtkIdType>(places.points);
  crossings.arrived.resize(index(places.points), false);
  if (content == CrossingContent::Positions) {
    crossings.positions = freshArray<vtkFloatArray>("Points", 3, count);
    crossings.places = std::move(places);
    return crossings;
  }
  crossings.points = freshArray<vtkDoubleArray>("Points", 3, count);
  crossings.length = freshArray<vtkDoubleArray>("ArcLength", 1, count);
  crossings.event = freshArray<vtkIntArray>("EventId", 1, count);
  crossings.number = freshArray<vtkIntArray>("CrossingNumber", 1, count);
  if (content == CrossingContent::Times)
    crossings.time = freshArray<vtkDoubleArray>("IntegrationTime", 1, count);
  else
    crossings.evaluated.emplace(transport, evaluator.fields(), places.points, true);
  if (places.hasSurface) crossings.target = freshArray<vtkIdTypeArray>("TargetId", 1, count);
  crossings.places = std::move(places);
  return crossings;
}

/// Local. Writes a crossing to its place.
void place(const CrossingRecord& record, CrossingList& crossings) {
  const HalfLine* const half = crossings.places.find(record.line);
  if (!half || record.index < half->skipped || record.index >= half->points)
    refuseMessage("a crossing of another rank's line");
  if (record.event < 0 || record.event >= MostEvents || record.number < 0 ||
      record.number > half->points)
    refuseMessage("crossing " + std::to_string(record.number) + " of event " +
                  std::to_string(record.event));
  const std::int64_t at = half->base + record.index;
  if (crossings.arrived[index(at)]) refuseMessage("a crossing that has arrived before");
  crossings.arrived[index(at)] = true;
  if (crossings.positions) {
    for (int a = 0; a < 3; ++a)
      crossings.positions->SetTypedComponent(at, a, static_cast<float>(record.x[a]));
    return;
  }
  crossings.points->SetTypedTuple(at, record.x);
  crossings.length->SetValue(at, record.length);
  crossings.event->SetValue(at, record.event);
  crossings.number->SetValue(at, static_cast<int>(record.number));
  if (crossings.time) crossings.time->SetValue(at, record.time);
  if (crossings.target) crossings.target->SetValue(at, record.target);
}

/// Collective. Writes the crossings of a round to their places, or sends them to the ranks of their
/// lines.
/// @return how many were written here
std::int64_t sendCrossings(Transport& transport, const Shares& shares,
                           const std::vector<CrossingPoint>& round, CrossingList& crossings) {
  std::int64_t count = 0;
  sendRecords<CrossingRecord, allToAll>(
      transport,
      [&](RecordOutbox<CrossingRecord>& outbox) {
        for (const CrossingPoint& crossing : round) {
          const TrajectoryPoint& p = crossing.point;
          const CrossingRecord record{p.line,
                                      p.index,
                                      crossing.event,
                                      crossing.number,
                                      crossing.length,
                                      p.time,
                                      {crossing.image[0], crossing.image[1], crossing.image[2]},
                                      crossing.target};
          const int owner = ownerOfLine(shares, p.line);
          if (owner != transport.rank()) {
            outbox.add(owner, record);
          } else {
            place(record, crossings);
            ++count;
          }
        }
      },
      [&](Records<CrossingRecord>& arrived) {
        for (const CrossingRecord& record : arrived) place(record, crossings);
        count += std::int64_t(arrived.size());
      });
  return count;
}

/// Collective. Takes all crossings out of the logs, and writes them to their places.
void takeCrossings(Transport& transport, const FlowDomain& flow, const PointEvaluator& evaluator,
                   const Shares& shares, TraceResult& traced, CrossingList& crossings) {
  std::optional<CrossingReader> reader;
  collectively(transport, [&] { reader.emplace(flow, traced); });
  std::int64_t arrived = 0, evaluated = 0;
  while (allreduce(transport, ReduceOp::Or, std::int64_t(!reader->atEnd())) != 0) {
    collectively(transport, [&] { reader->read(crossings.evaluated.has_value()); });
    if (crossings.evaluated) {
      ErrorCollector errors;
      evaluated += transferPoints(transport, evaluator, reader->groups(), crossings.places, shares,
                                  *crossings.evaluated, errors);
      errors.agree(transport);
    }
    arrived += sendCrossings(transport, shares, reader->crossings(), crossings);
  }
  collectively(transport, [&] {
    const std::int64_t expected = crossings.places.points;
    if (arrived != expected || (crossings.evaluated && evaluated != expected))
      refuseMessage("expected " + std::to_string(expected) + " crossings, received " +
                    std::to_string(arrived) + ", and arrays of " + std::to_string(evaluated));
  });
}

/// Local. A cell for the crossings of each line and direction, or for each crossing.
/// @param times  how many a line has
template <class Array>
vtkSmartPointer<vtkCellArray> makeVertices(const std::vector<std::int64_t>& times, vtkIdType count,
                                           bool perLine) {
  using Number = typename Array::ValueType;
  const vtkIdType cells = perLine ? static_cast<vtkIdType>(times.size()) : count;
  auto offsets = freshArray<Array>("", 1, cells + 1);
  auto connectivity = freshArray<Array>("", 1, count);
  Number* const first = offsets->GetPointer(0);
  std::iota(first, first + cells + 1, Number(0));
  if (perLine)
    for (vtkIdType c = 0; c < cells; ++c)
      first[c + 1] = static_cast<Number>(first[c] + times[static_cast<std::size_t>(c)]);
  std::iota(connectivity->GetPointer(0), connectivity->GetPointer(0) + count, Number(0));
  auto vertices = vtkSmartPointer<vtkCellArray>::New();
  vertices->SetData(offsets, connectivity);
  return vertices;
}

/// Local.
vtkSmartPointer<vtkPolyData> makeCrossings(const PointEvaluator& evaluator,
                                           const PointArrayList& arrays, const SeedList& seeds,
                                           const CrossingList& crossings) {
  auto output = vtkSmartPointer<vtkPolyData>::New();
  const LineTable& places = crossings.places;
  const bool perLine = crossings.positions != nullptr;
  std::vector<std::int64_t> seedOf, times;  // of each line with crossings
  for (std::size_t h = 0; h < places.halves.size(); ++h) {
    if (places.halves[h].points == 0) continue;
    seedOf.push_back(places.firstSeed + std::int64_t(h / 2));
    times.push_back(places.halves[h].points);
  }
  vtkNew<vtkPoints> points;
  points->SetData(perLine ? static_cast<vtkDataArray*>(crossings.positions) : crossings.points);
  output->SetPoints(points);
  const auto count = static_cast<vtkIdType>(places.points);
  const bool isSmall = count < std::numeric_limits<std::int32_t>::max();
  output->SetVerts(isSmall ? makeVertices<vtkTypeInt32Array>(times, count, perLine)
                           : makeVertices<vtkTypeInt64Array>(times, count, perLine));
  if (perLine) {
    output->GetCellData()->AddArray(makeSeedIds(seeds, places.firstSeed, seedOf));
    return output;
  }
  vtkPointData* const data = output->GetPointData();
  if (crossings.evaluated)
    addPointArrays(data, evaluator.fields(), *crossings.evaluated, arrays);
  else
    data->AddArray(crossings.time);
  data->AddArray(crossings.length);
  data->AddArray(crossings.event);
  data->AddArray(crossings.number);
  if (crossings.target) data->AddArray(crossings.target);
  data->AddArray(makeSeedIds(seeds, places.firstSeed, seedOf, times));
  return output;
}

}  // namespace

CrossingList collectCrossings(Transport& transport, const FlowDomain& flow,
                              const PointEvaluator& evaluator, const Shares& shares,
                              LineTable places, CrossingContent content, TraceResult& traced) {
  CrossingList crossings;
  collectively(transport,
               [&] { crossings = listFor(transport, evaluator, content, std::move(places)); });
  takeCrossings(transport, flow, evaluator, shares, traced, crossings);
  return crossings;
}

vtkSmartPointer<vtkPolyData> noCrossings(const Transport& transport,
                                         const PointEvaluator& evaluator,
                                         const PointArrayList& arrays, const SeedList& seeds,
                                         CrossingContent content) {
  return makeCrossings(evaluator, arrays, seeds, listFor(transport, evaluator, content, {}));
}

vtkSmartPointer<vtkPolyData> assembleCrossings(Transport& transport, const FlowDomain& flow,
                                               const PointEvaluator& evaluator,
                                               const PointArrayList& arrays, const SeedList& seeds,
                                               const LineTable& table, CrossingContent content,
                                               TraceResult& traced) {
  LineTable places;
  collectively(transport, [&] { places = layOut(table); });
  const CrossingList crossings = collectCrossings(transport, flow, evaluator, seeds.shares,
                                                  std::move(places), content, traced);
  vtkSmartPointer<vtkPolyData> output;
  collectively(transport, [&] { output = makeCrossings(evaluator, arrays, seeds, crossings); });
  return output;
}

}  // namespace tributary
