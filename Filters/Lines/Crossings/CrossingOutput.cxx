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

/// What the point arrays of lines do not have, as it travels, without padding.
struct CrossingRecord {
  std::int64_t line;
  std::int32_t index;
  std::int32_t event;
  std::int64_t number;
  double length;
  double x[3];
  std::int64_t target;
};
static_assert(sizeof(CrossingRecord) == 64, "no padding travels");

/// The crossings of a rank's lines, in the order of the output.
struct CrossingTable {
  LineTable places;  ///< Of the crossings, as if they were the points of lines.
  std::vector<CrossingRecord> records;
  bool hasSurface = false;
};

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
CrossingTable layOut(const LineTable& table) {
  CrossingTable crossings;
  crossings.places.firstSeed = table.firstSeed;
  crossings.hasSurface = table.hasSurface;
  crossings.places.halves.reserve(table.halves.size());
  for (const HalfLine& half : table.halves) {
    HalfLine& places = crossings.places.halves.emplace_back();
    places.base = crossings.places.points;
    places.points = half.crossings;
    places.isOutput = half.crossings > 0;
    crossings.places.points += half.crossings;
  }
  crossings.records.resize(index(crossings.places.points), {-1, 0, 0, 0, 0, {0, 0, 0}, 0});
  return crossings;
}

/// Collective. Sends what the point arrays do not have.
void sendCrossings(Transport& transport, const Shares& shares, const TraceResult& traced,
                   CrossingTable& crossings) {
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
          const HalfLine* const half = crossings.places.find(record.line);
          if (!half || record.index < 0 || record.index >= half->points)
            refuseMessage("a crossing of another rank's line");
          CrossingRecord& place = crossings.records[index(half->base + record.index)];
          if (place.line >= 0) refuseMessage("a crossing that has arrived before");
          place = record;
        }
        if (arrived.size() != crossings.records.size())
          refuseMessage("expected " + std::to_string(crossings.records.size()) +
                        " crossings, received " + std::to_string(arrived.size()));
      });
}

/// Local.
vtkSmartPointer<vtkPolyData> makeCrossings(const PointEvaluator& evaluator,
                                           const LineArrays& evaluated,
                                           const PointArrayList& arrays, const SeedList& seeds,
                                           const CrossingTable& crossings) {
  const auto count = static_cast<vtkIdType>(crossings.records.size());
  auto output = vtkSmartPointer<vtkPolyData>::New();
  auto x = freshArray<vtkDoubleArray>("Points", 3, count);
  auto length = freshArray<vtkDoubleArray>("ArcLength", 1, count);
  auto event = freshArray<vtkIntArray>("EventId", 1, count);
  auto number = freshArray<vtkIntArray>("CrossingNumber", 1, count);
  auto target = freshArray<vtkIdTypeArray>("TargetId", 1, count);
  auto offsets = freshArray<vtkIdTypeArray>("", 1, count + 1);
  auto connectivity = freshArray<vtkIdTypeArray>("", 1, count);
  std::vector<std::int64_t> seedOf;
  seedOf.reserve(crossings.records.size());
  for (vtkIdType i = 0; i < count; ++i) {
    const CrossingRecord& record = crossings.records[static_cast<std::size_t>(i)];
    x->SetTypedTuple(i, record.x);
    length->SetValue(i, record.length);
    event->SetValue(i, record.event);
    number->SetValue(i, static_cast<int>(record.number));
    target->SetValue(i, record.target);
    offsets->SetValue(i, i);
    connectivity->SetValue(i, i);
    seedOf.push_back(record.line >> 1);
  }
  offsets->SetValue(count, count);
  vtkNew<vtkPoints> points;
  points->SetData(x);
  output->SetPoints(points);
  vtkNew<vtkCellArray> vertices;
  vertices->SetData(offsets, connectivity);
  output->SetVerts(vertices);
  addPointArrays(output->GetPointData(), evaluator.fields(), evaluated, arrays);
  output->GetPointData()->AddArray(length);
  output->GetPointData()->AddArray(event);
  output->GetPointData()->AddArray(number);
  if (crossings.hasSurface) output->GetPointData()->AddArray(target);
  output->GetPointData()->AddArray(makeSeedIds(seeds, crossings.places.firstSeed, seedOf));
  return output;
}

}  // namespace

vtkSmartPointer<vtkPolyData> noCrossings(const Transport& transport,
                                         const PointEvaluator& evaluator,
                                         const PointArrayList& arrays, const SeedList& seeds) {
  return makeCrossings(evaluator, LineArrays(transport, evaluator.fields(), 0), arrays, seeds, {});
}

vtkSmartPointer<vtkPolyData> assembleCrossings(Transport& transport, const FlowDomain& flow,
                                               const PointEvaluator& evaluator,
                                               const PointArrayList& arrays, const SeedList& seeds,
                                               const LineTable& table, const TraceResult& traced) {
  CrossingTable crossings;
  TraceResult points;
  collectively(transport, [&] {
    crossings = layOut(table);
    points = crossingsAsPoints(traced);
  });
  const std::unique_ptr<LineArrays> evaluated =
      collectPoints(transport, flow, evaluator, seeds.shares, crossings.places, points);
  sendCrossings(transport, seeds.shares, traced, crossings);
  vtkSmartPointer<vtkPolyData> output;
  collectively(transport,
               [&] { output = makeCrossings(evaluator, *evaluated, arrays, seeds, crossings); });
  return output;
}

}  // namespace tributary
