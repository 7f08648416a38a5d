// SPDX-License-Identifier: BSD-3-Clause
#include "Lines/Crossings/CrossingOutput.h"

#include <vtkCellArray.h>
#include <vtkDoubleArray.h>
#include <vtkIdTypeArray.h>
#include <vtkIntArray.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPoints.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "Common/FreshArray.h"
#include "Lines/LineAssembly.h"
#include "Lines/LineOutput.h"

#include "Tributary/Base/Error.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Records.h"
#include "Tributary/Reduction/AllToAll.h"

namespace tributary {
namespace {

/// Local. Calls visit() with the crossings that each log of a trace has.
template <class Visit>
void forEachLog(const TraceResult& traced, Visit&& visit) {
  for (const auto& logs : traced.logs)
    for (const TrajectoryLog& log : logs) visit(log.crossings());
  for (const TraceResult::Borrowed& borrowed : traced.borrowed)
    for (const TrajectoryLog& log : borrowed.logs) visit(log.crossings());
}

/// Local. The points of the crossings in logs.
std::vector<TrajectoryLog> pointsOf(const std::vector<TrajectoryLog>& logs) {
  std::vector<TrajectoryLog> points;
  for (const TrajectoryLog& log : logs) {
    if (log.crossings().empty()) continue;
    TrajectoryLog& here = points.emplace_back();
    for (const CrossingPoint& crossing : log.crossings()) here.append() = crossing.point;
  }
  return points;
}

/// Local. A trace whose points are the crossings of another one.
TraceResult crossingsAsPoints(const TraceResult& traced) {
  TraceResult crossings;
  for (const auto& logs : traced.logs) crossings.logs.push_back(pointsOf(logs));
  for (const TraceResult::Borrowed& borrowed : traced.borrowed)
    crossings.borrowed.push_back({borrowed.block, pointsOf(borrowed.logs)});
  return crossings;
}

/// Local. Gives a place to each crossing.
LineTable layOut(const LineTable& table) {
  LineTable crossings;
  crossings.firstSeed = table.firstSeed;
  crossings.hasSurface = table.hasSurface;
  crossings.halves.reserve(table.halves.size());
  for (const HalfLine& half : table.halves) {
    HalfLine& places = crossings.halves.emplace_back();
    places.base = crossings.points;
    places.points = half.crossings;
    places.isOutput = half.crossings > 0;
    crossings.points += half.crossings;
  }
  return crossings;
}

/// Collective. Sends what the point arrays do not have.
/// @param records  In and out: as many as there are places
void sendCrossings(Transport& transport, const Shares& shares, const TraceResult& traced,
                   const LineTable& places, std::vector<CrossingRecord>& records) {
  sendRecords<CrossingRecord, allToAll>(
      transport,
      [&](RecordOutbox<CrossingRecord>& outbox) {
        forEachLog(traced, [&](const std::vector<CrossingPoint>& log) {
          for (const CrossingPoint& crossing : log) {
            const TrajectoryPoint& p = crossing.point;
            outbox.add(shares.ownerOf(p.line >> 1),
                       {p.line,
                        p.index,
                        crossing.event,
                        crossing.number,
                        crossing.length,
                        {crossing.image[0], crossing.image[1], crossing.image[2]},
                        crossing.target});
          }
        });
      },
      [&](Records<CrossingRecord>& arrived) {
        for (const CrossingRecord& record : arrived) {
          const HalfLine* const half = places.find(record.line);
          if (!half || record.index < half->skipped || record.index >= half->points)
            refuseMessage("a crossing of another rank's line");
          if (record.event < 0 || record.event >= MostEvents || record.number < 1 ||
              record.number > half->points)
            refuseMessage("crossing " + std::to_string(record.number) + " of event " +
                          std::to_string(record.event));
          CrossingRecord& place = records[index(half->base + record.index)];
          if (place.line >= 0) refuseMessage("a crossing that has arrived before");
          place = record;
        }
        if (arrived.size() != records.size())
          refuseMessage("expected " + std::to_string(records.size()) + " crossings, received " +
                        std::to_string(arrived.size()));
      });
}

/// Local.
vtkSmartPointer<vtkPolyData> makeCrossings(const PointEvaluator& evaluator,
                                           const LineArrays& evaluated,
                                           const PointArrayList& arrays, const SeedList& seeds,
                                           const LineTable& table,
                                           const std::vector<CrossingRecord>& records) {
  const auto count = static_cast<vtkIdType>(records.size());
  auto output = vtkSmartPointer<vtkPolyData>::New();
  const CrossingArrays own = arraysOf(records);
  auto offsets = freshArray<vtkIdTypeArray>("", 1, count + 1);
  auto connectivity = freshArray<vtkIdTypeArray>("", 1, count);
  std::vector<std::int64_t> seedOf;
  seedOf.reserve(records.size());
  for (vtkIdType i = 0; i < count; ++i) {
    offsets->SetValue(i, i);
    connectivity->SetValue(i, i);
    seedOf.push_back(records[static_cast<std::size_t>(i)].line >> 1);
  }
  offsets->SetValue(count, count);
  vtkNew<vtkPoints> points;
  points->SetData(own.x);
  output->SetPoints(points);
  vtkNew<vtkCellArray> vertices;
  vertices->SetData(offsets, connectivity);
  output->SetVerts(vertices);
  addPointArrays(output->GetPointData(), evaluator.fields(), evaluated, arrays);
  for (vtkDataArray* array : {own.length.Get(), own.event.Get(), own.number.Get()})
    output->GetPointData()->AddArray(array);
  if (table.hasSurface) output->GetPointData()->AddArray(own.target);
  output->GetPointData()->AddArray(makeSeedIds(seeds, table.firstSeed, seedOf));
  return output;
}

}  // namespace

CrossingArrays arraysOf(const std::vector<CrossingRecord>& records) {
  const auto count = static_cast<vtkIdType>(records.size());
  auto x = freshArray<vtkDoubleArray>("Points", 3, count);
  auto length = freshArray<vtkDoubleArray>("ArcLength", 1, count);
  auto event = freshArray<vtkIntArray>("EventId", 1, count);
  auto number = freshArray<vtkIntArray>("CrossingNumber", 1, count);
  auto target = freshArray<vtkIdTypeArray>("TargetId", 1, count);
  for (vtkIdType i = 0; i < count; ++i) {
    const CrossingRecord& record = records[static_cast<std::size_t>(i)];
    x->SetTypedTuple(i, record.x);
    length->SetValue(i, record.length);
    event->SetValue(i, record.event);
    number->SetValue(i, static_cast<int>(record.number));
    target->SetValue(i, record.target);
  }
  return {x, length, event, number, target};
}

CrossingList collectCrossings(Transport& transport, const FlowDomain& flow,
                              const PointEvaluator& evaluator, const Shares& shares,
                              const LineTable& places, const TraceResult& traced) {
  CrossingList crossings;
  TraceResult points;
  collectively(transport, [&] {
    crossings.records.resize(index(places.points), {-1, 0, 0, 0, 0, {0, 0, 0}, 0});
    points = crossingsAsPoints(traced);
  });
  crossings.arrays = collectPoints(transport, flow, evaluator, shares, places, points);
  sendCrossings(transport, shares, traced, places, crossings.records);
  return crossings;
}

vtkSmartPointer<vtkPolyData> noCrossings(const Transport& transport,
                                         const PointEvaluator& evaluator,
                                         const PointArrayList& arrays, const SeedList& seeds) {
  return makeCrossings(evaluator, LineArrays(transport, evaluator.fields(), 0), arrays, seeds, {},
                       {});
}

vtkSmartPointer<vtkPolyData> assembleCrossings(Transport& transport, const FlowDomain& flow,
                                               const PointEvaluator& evaluator,
                                               const PointArrayList& arrays, const SeedList& seeds,
                                               const LineTable& table, const TraceResult& traced) {
  LineTable places;
  collectively(transport, [&] { places = layOut(table); });
  const CrossingList crossings =
      collectCrossings(transport, flow, evaluator, seeds.shares, places, traced);
  vtkSmartPointer<vtkPolyData> output;
  collectively(transport, [&] {
    output = makeCrossings(evaluator, *crossings.arrays, arrays, seeds, places, crossings.records);
  });
  return output;
}

}  // namespace tributary
