// SPDX-License-Identifier: BSD-3-Clause
#include "Lines/LineOutput.h"

#include <vtkCellArray.h>
#include <vtkCellData.h>
#include <vtkDoubleArray.h>
#include <vtkFloatArray.h>
#include <vtkIdTypeArray.h>
#include <vtkIntArray.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPoints.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <type_traits>
#include <utility>

#include "Common/FreshArray.h"
#include "Common/SmpFor.h"

#include "Tributary/Advection/Frames.h"

namespace tributary {
namespace {

/// Points between two checks for an abort.
constexpr std::int64_t PointsPerPiece = std::int64_t(1) << 20;
/// Lines between two checks for an abort, where they are looked through and where frames are
/// computed.
constexpr std::int64_t LinesPerPiece = 1024, LinesPerFramePiece = 64;

/// Touches each page of fresh memory. Points are written to places all over it, so that otherwise
/// the first ones would wait for all of it, without a look for an abort.
void touch(const Transport& transport, std::byte* memory, std::int64_t bytes) {
  constexpr std::int64_t Page = 4096, PagesPerPiece = 4096;
  smpForPieces(transport, (bytes + Page - 1) / Page, PagesPerPiece,
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t page = begin; page < end; ++page)
                   memory[page * Page] = std::byte(0);
               });
}

bool samePosition(const float* points, std::int64_t a, std::int64_t b) {
  return points[3 * a] == points[3 * b] && points[3 * a + 1] == points[3 * b + 1] &&
         points[3 * a + 2] == points[3 * b + 2];
}

/// Whether a point is at the same place (as float) as its neighbor toward the seed: such steps
/// are not output.
bool isRepeated(const float* points, const OutputLine& line, std::int64_t i) {
  if (i == line.origin) return false;
  const std::int64_t at = line.first + i;
  return samePosition(points, at, i > line.origin ? at - 1 : at + 1);
}

bool hasRepeatedPoints(const Transport& transport, const LineTable& table, const float* points) {
  std::vector<char> found(table.lines.size(), 0);
  const auto lines = static_cast<std::int64_t>(table.lines.size());
  smpForPieces(transport, lines, LinesPerPiece, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t l = begin; l < end; ++l) {
      const OutputLine& line = table.lines[static_cast<std::size_t>(l)];
      for (std::int64_t i = 1; i < line.points; ++i)
        if (samePosition(points, line.first + i - 1, line.first + i))
          found[static_cast<std::size_t>(l)] = 1;
    }
  });
  return std::find(found.begin(), found.end(), 1) != found.end();
}

vtkSmartPointer<vtkCellArray> polylines(const Transport& transport, const LineTable& table) {
  auto offsets = freshArray<vtkIdTypeArray>("", 1, static_cast<vtkIdType>(table.lines.size()) + 1);
  auto connectivity = freshArray<vtkIdTypeArray>("", 1, table.points);
  vtkIdType* first = offsets->GetPointer(0);
  for (std::size_t l = 0; l < table.lines.size(); ++l) first[l] = table.lines[l].first;
  first[table.lines.size()] = table.points;
  vtkIdType* ids = connectivity->GetPointer(0);
  smpForPieces(transport, table.points, PointsPerPiece, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) ids[i] = i;
  });
  auto cells = vtkSmartPointer<vtkCellArray>::New();
  cells->SetData(offsets, connectivity);
  return cells;
}

void addCellData(vtkPolyData* lines, const LineTable& table, const SeedList& seeds) {
  const auto count = static_cast<vtkIdType>(table.lines.size());
  auto reasons = freshArray<vtkIntArray>("ReasonForTermination", 1, count);
  auto events = freshArray<vtkIntArray>("EventId", 1, count);
  auto targets = freshArray<vtkIdTypeArray>("TargetId", 1, count);
  std::vector<std::int64_t> seedOf;
  seedOf.reserve(table.lines.size());
  for (vtkIdType l = 0; l < count; ++l) {
    const OutputLine& line = table.lines[static_cast<std::size_t>(l)];
    reasons->SetValue(l, static_cast<int>(line.reason));
    events->SetValue(l, line.event);
    targets->SetValue(l, line.target);
    seedOf.push_back(line.seed);
  }
  lines->GetCellData()->AddArray(reasons);
  lines->GetCellData()->AddArray(makeSeedIds(seeds, table.firstSeed, seedOf));
  if (table.hasEvents) lines->GetCellData()->AddArray(events);
  if (table.hasSurface) lines->GetCellData()->AddArray(targets);
}

/// Adds Rotation and Normals, which need whole lines.
void addFrames(const Transport& transport, vtkPointData* data, const float* points,
               vtkSmartPointer<vtkDataArray> velocity, const LineTable& table) {
  if (!vtkFloatArray::FastDownCast(velocity) && !vtkDoubleArray::FastDownCast(velocity)) {
    vtkNew<vtkDoubleArray> copy;
    copyArray(velocity, copy);
    velocity = copy.Get();
  }
  auto rotation = freshArray<vtkDoubleArray>("Rotation", 1, table.points);
  auto normals = freshArray<vtkDoubleArray>("Normals", 3, table.points);
  FrameArrays arrays;
  arrays.points = points;
  arrays.time = vtkDoubleArray::FastDownCast(data->GetArray("IntegrationTime"))->GetPointer(0);
  vtkSmartPointer<vtkDataArray> omega = data->GetArray("AngularVelocity");
  arrays.angularVelocity = vtkDoubleArray::FastDownCast(omega)->GetPointer(0);
  if (auto* values = vtkFloatArray::FastDownCast(velocity))
    arrays.velocityFloat = values->GetPointer(0);
  else
    arrays.velocityDouble = vtkDoubleArray::FastDownCast(velocity)->GetPointer(0);
  arrays.rotation = rotation->GetPointer(0);
  arrays.normals = normals->GetPointer(0);
  smpForPieces(transport, static_cast<std::int64_t>(table.lines.size()),
               LinesPerFramePiece * smpThreads(), [&](std::int64_t begin, std::int64_t end) {
                 const std::vector<Polyline> part(table.lines.begin() + begin,
                                                  table.lines.begin() + end);
                 computeFrames({part.data(), part.size()}, arrays);
               });
  // In the order of vtkStreamTracer's output.
  data->RemoveArray("AngularVelocity");
  data->AddArray(rotation);
  data->AddArray(omega);
  data->AddArray(normals);
}

}  // namespace

LineArrays::LineArrays(const Transport& transport, const std::vector<PointField>& fields,
                       std::int64_t points, bool ofCrossings) {
  for (const PointField& field : fields) {
    auto array = vtkSmartPointer<vtkDataArray>::Take(vtkDataArray::CreateDataArray(field.type));
    array->SetName(field.name.c_str());
    array->SetNumberOfComponents(field.components);
    arrays.push_back(array);
    data.push_back(nullptr);
    if (ofCrossings && field.kind == PointField::Kind::Position) continue;
    setFreshTuples(array, points);
    data.back() = static_cast<std::byte*>(array->GetVoidPointer(0));
    if (!ofCrossings)
      touch(transport, data.back(), points * static_cast<std::int64_t>(field.bytes));
  }
}

void removeRepeatedPoints(const Transport& transport, LineTable& table,
                          const std::vector<PointField>& fields, LineArrays& output) {
  std::vector<OutputLine> lines;
  std::vector<std::int64_t> kept;
  const auto* points = reinterpret_cast<const float*>(output.data[0]);
  if (!hasRepeatedPoints(transport, table, points)) return;
  for (const OutputLine& line : table.lines) {
    throwIfInterrupted(transport);
    OutputLine shorter = line;
    shorter.first = static_cast<std::int64_t>(kept.size());
    shorter.points = 0;
    for (std::int64_t i = 0; i < line.points; ++i) {
      if (isRepeated(points, line, i)) continue;
      if (i == line.origin) shorter.origin = shorter.points;
      kept.push_back(line.first + i);
      ++shorter.points;
    }
    if (shorter.points >= 2)
      lines.push_back(shorter);
    else
      kept.resize(static_cast<std::size_t>(shorter.first));
  }
  for (std::size_t f = 0; f < fields.size(); ++f) {
    const std::size_t bytes = fields[f].bytes;
    throwIfInterrupted(transport);
    for (std::size_t i = 0; i < kept.size(); ++i)  // places only move forward
      std::memmove(output.data[f] + i * bytes,
                   output.data[f] + static_cast<std::size_t>(kept[i]) * bytes, bytes);
    output.arrays[f]->SetNumberOfTuples(static_cast<vtkIdType>(kept.size()));
  }
  table.lines = std::move(lines);
  table.points = static_cast<std::int64_t>(kept.size());
}

vtkSmartPointer<vtkDataArray> makeSeedIds(const SeedList& seeds, std::int64_t firstSeed,
                                          const std::vector<std::int64_t>& seedOf,
                                          const std::vector<std::int64_t>& times) {
  const auto count = static_cast<vtkIdType>(
      times.empty() ? std::int64_t(seedOf.size())
                    : std::accumulate(times.begin(), times.end(), std::int64_t(0)));
  const auto fill = [&](auto ids) {
    auto* to = ids->GetPointer(0);
    using Id = std::remove_pointer_t<decltype(to)>;
    for (std::size_t i = 0; i < seedOf.size(); ++i) {
      const std::int64_t seed = seedOf[i];
      const std::int64_t shown =
          seeds.shown.empty() ? seed : seeds.shown[static_cast<std::size_t>(seed - firstSeed)];
      to = std::fill_n(to, times.empty() ? 1 : times[i], static_cast<Id>(shown));
    }
    return vtkSmartPointer<vtkDataArray>(ids);
  };
  if (seeds.largestShown <= std::numeric_limits<int>::max())
    return fill(freshArray<vtkIntArray>("SeedIds", 1, count));
  return fill(freshArray<vtkIdTypeArray>("SeedIds", 1, count));
}

void addPointArrays(vtkPointData* data, const std::vector<PointField>& fields,
                    const LineArrays& output, const PointArrayList& arrays) {
  const auto add = [&](bool interpolated) {
    for (std::size_t f = 1; f < fields.size(); ++f)
      if (isOutput(fields[f]) && (fields[f].kind == PointField::Kind::Interpolated) == interpolated)
        data->AddArray(output.arrays[f]);
  };
  add(true);
  add(false);  // in place of an array of the input that has the name of one of ours
  for (std::size_t f = 1; f < fields.size(); ++f) {
    if (fields[f].kind != PointField::Kind::Interpolated) continue;
    const PointArray& array = arrays.arrays[fields[f].array];
    vtkDataArray* made = output.arrays[f];
    if (data->GetArray(array.name.c_str()) != made) continue;
    for (std::size_t c = 0; c < array.componentNames.size(); ++c)
      if (!array.componentNames[c].empty())
        made->SetComponentName(static_cast<vtkIdType>(c), array.componentNames[c].c_str());
    if (array.isScalars) data->SetActiveScalars(array.name.c_str());
    if (array.isVectors) data->SetActiveVectors(array.name.c_str());
  }
}

vtkSmartPointer<vtkPolyData> makePolyData(const Transport& transport,
                                          const std::vector<PointField>& fields,
                                          const LineArrays& output, const PointArrayList& arrays,
                                          vtkDataArray* velocity, const SeedList& seeds,
                                          const LineTable& table, bool withFrames) {
  auto lines = vtkSmartPointer<vtkPolyData>::New();
  vtkNew<vtkPoints> points;
  points->SetData(output.arrays[0]);
  lines->SetPoints(points);
  lines->SetLines(polylines(transport, table));
  vtkPointData* data = lines->GetPointData();
  addPointArrays(data, fields, output, arrays);
  if (withFrames) {
    addFrames(transport, data, reinterpret_cast<const float*>(output.data[0]), velocity, table);
    data->SetActiveVectors("Normals");
  }
  addCellData(lines, table, seeds);
  return lines;
}

}  // namespace tributary
