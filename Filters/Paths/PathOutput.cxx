// SPDX-License-Identifier: BSD-3-Clause
#include "Paths/PathOutput.h"

#include <vtkCellArray.h>
#include <vtkCellData.h>
#include <vtkDoubleArray.h>
#include <vtkIdTypeArray.h>
#include <vtkIntArray.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPoints.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include "Common/FreshArray.h"

#include "Tributary/Base/Index.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {
namespace {

/// Ranges of points between two checks for an abort.
constexpr std::size_t RangesPerPiece = 4096;

/// Consecutive points of a particle in a segment.
struct PointRange {
  const PathSegment* segment;
  std::int64_t first;
  std::int64_t points;
  std::int64_t particle;
};

/// The cells of the output.
struct PathCells {
  std::vector<PointRange> ranges;              ///< In the order of the points of the output.
  std::vector<std::int64_t> offsets{0};        ///< The first point of each cell, and the end.
  std::vector<const PathParticle*> particles;  ///< Of each cell; of streaklines the newest one.
  std::vector<Reason> reasons;                 ///< Of each cell.
};

/// The segments that are shown.
std::vector<const PathSegment*> segmentsOf(const ShownPaths& shown, PathKind kind) {
  std::vector<const PathSegment*> segments;
  if (kind == PathKind::Pathlines)
    for (std::size_t s = 0; s < shown.steps; ++s) segments.push_back(&shown.history.segments[s]);
  if (kind != PathKind::Pathlines || shown.part) segments.push_back(&shown.last());
  return segments;
}

/// The particles that are inside, each with its last point.
PathCells particlesOf(const ShownPaths& shown) {
  PathCells cells;
  const PathSegment& segment = shown.last();
  for (const PathEntry& entry : segment.entries) {
    if (!isInside(entry, shown.time)) continue;
    cells.ranges.push_back({&segment, entry.first + entry.points - 1, 1, entry.particle});
    cells.offsets.push_back(cells.offsets.back() + 1);
    cells.particles.push_back(&shown.history.particles[index(entry.particle)]);
    cells.reasons.push_back(entry.reason);
  }
  return cells;
}

/// Lines through the particles that are inside: those of one seed, the newest first.
PathCells streaklinesOf(const ShownPaths& shown) {
  std::vector<PointRange> points = particlesOf(shown).ranges;
  const auto particleOf = [&](const PointRange& point) -> const PathParticle& {
    return shown.history.particles[index(point.particle)];
  };
  std::sort(points.begin(), points.end(), [&](const PointRange& a, const PointRange& b) {
    const PathParticle &one = particleOf(a), &other = particleOf(b);
    return one.seed != other.seed ? one.seed < other.seed : one.injection > other.injection;
  });
  PathCells cells;
  for (std::size_t begin = 0, end; begin < points.size(); begin = end) {
    end = begin + 1;
    while (end < points.size() && particleOf(points[end]).seed == particleOf(points[begin]).seed)
      ++end;
    if (end - begin < 2) continue;
    cells.ranges.insert(cells.ranges.end(), points.begin() + std::ptrdiff_t(begin),
                        points.begin() + std::ptrdiff_t(end));
    cells.offsets.push_back(cells.offsets.back() + std::int64_t(end - begin));
    cells.particles.push_back(&particleOf(points[begin]));
    cells.reasons.push_back(Reason::None);
  }
  return cells;
}

/// Lines of all particles that have moved.
PathCells pathlinesOf(const ShownPaths& shown) {
  const std::vector<PathParticle>& particles = shown.history.particles;
  const std::vector<const PathSegment*> segments = segmentsOf(shown, PathKind::Pathlines);
  std::vector<std::size_t> begin(particles.size() + 1, 0);  // of the ranges of each particle
  for (const PathSegment* segment : segments)
    for (const PathEntry& entry : segment->entries) ++begin[index(entry.particle) + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<const PathEntry*> entries(begin.back());
  std::vector<const PathSegment*> segmentOf(begin.back());
  std::vector<std::size_t> next = begin;
  for (const PathSegment* segment : segments)
    for (const PathEntry& entry : segment->entries) {
      const std::size_t at = next[index(entry.particle)]++;
      entries[at] = &entry;
      segmentOf[at] = segment;
    }
  PathCells cells;
  for (std::size_t p = 0; p < particles.size(); ++p) {
    std::int64_t points = 0;
    for (std::size_t e = begin[p]; e < begin[p + 1]; ++e) points += entries[e]->points;
    if (points < 2) continue;
    for (std::size_t e = begin[p]; e < begin[p + 1]; ++e)
      cells.ranges.push_back(
          {segmentOf[e], entries[e]->first, entries[e]->points, std::int64_t(p)});
    cells.offsets.push_back(cells.offsets.back() + points);
    cells.particles.push_back(&particles[p]);
    cells.reasons.push_back(entries[begin[p + 1] - 1]->reason);
  }
  return cells;
}

/// The index of a field in a segment, or -1. Its type may differ there.
std::ptrdiff_t find(const PathSegment& segment, const PointField& field) {
  const auto at = std::find_if(segment.fields.begin(), segment.fields.end(), [&](const auto& f) {
    return f.name == field.name && f.components == field.components && f.kind == field.kind;
  });
  return at == segment.fields.end() ? -1 : at - segment.fields.begin();
}

/// Copies the points of the cells from an array of each segment.
/// @param type  of the result
vtkSmartPointer<vtkDataArray> gather(const Transport& transport, const PathCells& cells,
                                     const PointField& field, int type) {
  auto array = freshArrayOf(type, field.name.c_str(), field.components,
                            static_cast<vtkIdType>(cells.offsets.back()));
  vtkIdType to = 0;
  const PathSegment* segment = nullptr;
  vtkDataArray* from = nullptr;
  for (std::size_t r = 0; r < cells.ranges.size(); ++r) {
    if (r % RangesPerPiece == 0) throwIfInterrupted(transport);
    const PointRange& range = cells.ranges[r];
    if (range.points == 0) continue;
    if (segment != range.segment) {
      segment = range.segment;
      from = segment->arrays[static_cast<std::size_t>(find(*segment, field))];
    }
    if (from->GetDataType() == type) {
      const std::size_t bytes =
          index(field.components) * static_cast<std::size_t>(array->GetDataTypeSize());
      std::memcpy(
          static_cast<std::byte*>(array->GetVoidPointer(0)) + index(to) * bytes,
          static_cast<const std::byte*>(from->GetVoidPointer(0)) + index(range.first) * bytes,
          index(range.points) * bytes);
    } else {
      for (std::int64_t i = 0; i < range.points; ++i)
        array->SetTuple(to + i, range.first + i, from);
    }
    to += range.points;
  }
  return array;
}

/// Adds an array with a value for each point: valueOf(particle, index of the point).
template <class ArrayT, class ValueOf>
void addToPoints(vtkPolyData* output, const char* name, const ShownPaths& shown,
                 const PathCells& cells, ValueOf&& valueOf) {
  auto array = freshArray<ArrayT>(name, 1, static_cast<vtkIdType>(cells.offsets.back()));
  vtkIdType at = 0;
  for (const PointRange& range : cells.ranges)
    for (std::int64_t i = 0; i < range.points; ++i, ++at)
      array->SetValue(at, valueOf(shown.history.particles[index(range.particle)], at));
  output->GetPointData()->AddArray(array);
}

/// Adds an array with a value for each cell: valueOf(index).
template <class ArrayT, class ValueOf>
void addToCells(vtkPolyData* output, const char* name, const PathCells& cells, ValueOf&& valueOf) {
  auto array = freshArray<ArrayT>(name, 1, static_cast<vtkIdType>(cells.particles.size()));
  for (std::size_t c = 0; c < cells.particles.size(); ++c)
    array->SetValue(static_cast<vtkIdType>(c), valueOf(c));
  output->GetCellData()->AddArray(array);
}

vtkSmartPointer<vtkCellArray> cellArrayOf(const PathCells& cells) {
  auto offsets = freshArray<vtkIdTypeArray>("", 1, static_cast<vtkIdType>(cells.offsets.size()));
  std::copy(cells.offsets.begin(), cells.offsets.end(), offsets->GetPointer(0));
  auto connectivity = freshArray<vtkIdTypeArray>("", 1, cells.offsets.back());
  std::iota(connectivity->GetPointer(0), connectivity->GetPointer(0) + cells.offsets.back(),
            vtkIdType(0));
  auto array = vtkSmartPointer<vtkCellArray>::New();
  array->SetData(offsets, connectivity);
  return array;
}

/// Adds the point arrays that all segments have.
void addPointArrays(const Transport& transport, vtkPolyData* output, const PathCells& cells,
                    std::vector<const PathSegment*> segments, std::set<std::string>& dropped) {
  // No rank has particles in these.
  segments.erase(std::remove_if(segments.begin(), segments.end(),
                                [](const PathSegment* s) { return s->fields.empty(); }),
                 segments.end());
  if (segments.empty()) return;
  const PathSegment& last = *segments.back();
  for (const PathSegment* segment : segments)
    for (const PointField& field : segment->fields)
      if (std::any_of(segments.begin(), segments.end(),
                      [&](const PathSegment* s) { return find(*s, field) < 0; }))
        dropped.insert(field.name);
  const auto typeOf = [&](const PointField& field) {
    const auto differs = [&](const PathSegment* s) {
      return s->fields[static_cast<std::size_t>(find(*s, field))].type != field.type;
    };
    return std::any_of(segments.begin(), segments.end(), differs) ? VTK_DOUBLE : field.type;
  };
  vtkPointData* data = output->GetPointData();
  // Arrays of the filter replace those of the input with the same names.
  for (const bool interpolated : {true, false})
    for (const PointField& field : last.fields) {
      if ((field.kind == PointField::Kind::Interpolated) != interpolated ||
          dropped.count(field.name) > 0)
        continue;
      const vtkSmartPointer<vtkDataArray> array = gather(transport, cells, field, typeOf(field));
      if (field.kind == PointField::Kind::Position) {
        vtkNew<vtkPoints> points;
        points->SetData(array);
        output->SetPoints(points);
        continue;
      }
      data->AddArray(array);
      if (!interpolated) continue;
      const PointArray& input = last.list.arrays[field.array];
      for (std::size_t c = 0; c < input.componentNames.size(); ++c)
        if (!input.componentNames[c].empty())
          array->SetComponentName(static_cast<vtkIdType>(c), input.componentNames[c].c_str());
      if (input.isScalars) data->SetActiveScalars(field.name.c_str());
      if (input.isVectors) data->SetActiveVectors(field.name.c_str());
    }
}

}  // namespace

bool isInside(const PathEntry& entry, double time) {
  return entry.points > 0 && (entry.reason == Reason::None ||
                              (entry.reason == Reason::OutOfTime && entry.time == time));
}

vtkSmartPointer<vtkPolyData> makePathOutput(const Transport& transport, const ShownPaths& shown,
                                            PathKind kind, std::set<std::string>& dropped) {
  auto output = vtkSmartPointer<vtkPolyData>::New();
  const PathCells cells = kind == PathKind::Pathlines     ? pathlinesOf(shown)
                          : kind == PathKind::Streaklines ? streaklinesOf(shown)
                                                          : particlesOf(shown);
  vtkNew<vtkPoints> none;
  output->SetPoints(none);
  // VTK's attributes are not valid any more where memory ends while they grow.
  constexpr int OwnArrays = 4;
  const std::size_t fields = shown.last().fields.size();
  output->GetPointData()->AllocateArrays(static_cast<int>(fields) + OwnArrays);
  addPointArrays(transport, output, cells, segmentsOf(shown, kind), dropped);
  if (kind == PathKind::Particles)
    output->SetVerts(cellArrayOf(cells));
  else
    output->SetLines(cellArrayOf(cells));
  auto* times = vtkDoubleArray::SafeDownCast(output->GetPointData()->GetArray("SimulationTime"));
  addToPoints<vtkDoubleArray>(output, "ParticleAge", shown, cells,
                              [&](const PathParticle& particle, vtkIdType point) {
                                return times->GetValue(point) - particle.injected;
                              });
  addToPoints<vtkIdTypeArray>(output, "ParticleId", shown, cells,
                              [](const PathParticle& p, vtkIdType) { return p.id; });
  addToPoints<vtkIdTypeArray>(output, "InjectedPointId", shown, cells,
                              [](const PathParticle& p, vtkIdType) { return p.shownSeed; });
  addToPoints<vtkIntArray>(output, "InjectionStepId", shown, cells,
                           [](const PathParticle& p, vtkIdType) { return p.injection; });
  if (kind != PathKind::Streaklines)
    addToCells<vtkIntArray>(output, "ReasonForTermination", cells, [&](std::size_t cell) {
      return static_cast<int>(cells.reasons[cell]);
    });
  if (kind == PathKind::Pathlines)
    addToCells<vtkIdTypeArray>(output, "ParticleId", cells,
                               [&](std::size_t cell) { return cells.particles[cell]->id; });
  if (kind == PathKind::Streaklines)
    addToCells<vtkIdTypeArray>(output, "InjectedPointId", cells,
                               [&](std::size_t cell) { return cells.particles[cell]->shownSeed; });
  return output;
}

}  // namespace tributary
