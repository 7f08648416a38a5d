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
  std::int32_t segment;  ///< Among those shown.
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
  std::vector<int> events;                     ///< That which ended its particle, or -1.
  std::vector<std::int64_t> targets;           ///< PathEntry::target of its particle.

  void reserve(std::size_t rangesWanted, std::size_t cellsWanted) {
    ranges.reserve(rangesWanted);
    offsets.reserve(cellsWanted + 1);
    particles.reserve(cellsWanted);
    reasons.reserve(cellsWanted);
    events.reserve(cellsWanted);
    targets.reserve(cellsWanted);
  }
};

/// The segments that are shown.
std::vector<const PathPoints*> segmentsOf(const ShownPaths& shown, PathKind kind) {
  std::vector<const PathPoints*> segments;
  if (kind == PathKind::Pathlines)
    for (std::size_t s = 0; s < shown.steps; ++s) segments.push_back(&shown.history.segments[s]);
  if (kind != PathKind::Pathlines || shown.part) segments.push_back(&shown.last());
  return segments;
}

/// The particles that are inside, each with its last point.
PathCells particlesOf(const ShownPaths& shown) {
  PathCells cells;
  const PathSegment& segment = shown.last();
  cells.reserve(segment.entries.size(), segment.entries.size());
  for (const PathEntry& entry : segment.entries) {
    if (!isInside(entry, shown.time)) continue;
    cells.ranges.push_back({0, entry.first + entry.points - 1, 1, entry.particle});
    cells.offsets.push_back(cells.offsets.back() + 1);
    cells.particles.push_back(&shown.history.particles[index(entry.particle)]);
    cells.reasons.push_back(entry.reason);
    cells.events.push_back(entry.event);
    cells.targets.push_back(entry.target);
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

/// The entries of each particle, in order of time.
struct EntriesByParticle {
  struct Shown {
    const PathEntry* entry;
    std::int32_t segment;
  };
  std::vector<std::size_t> begin;  ///< Of the entries of each particle, and the end.
  std::vector<Shown> entries;

  EntriesByParticle(std::size_t particles, const std::vector<const PathPoints*>& segments)
      : begin(particles + 1, 0) {
    for (const PathPoints* segment : segments)
      for (const PathEntry& entry : segment->entries) ++begin[index(entry.particle) + 1];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    entries.resize(begin.back());
    std::vector<std::size_t> next = begin;
    for (std::size_t s = 0; s < segments.size(); ++s)
      for (const PathEntry& entry : segments[s]->entries)
        entries[next[index(entry.particle)]++] = {&entry, static_cast<std::int32_t>(s)};
  }
};

/// Lines of all particles that have moved.
PathCells pathlinesOf(const ShownPaths& shown) {
  const std::vector<PathParticle>& particles = shown.history.particles;
  const auto [begin, entries] =
      EntriesByParticle(particles.size(), segmentsOf(shown, PathKind::Pathlines));
  PathCells cells;
  cells.reserve(entries.size(), particles.size());
  for (std::size_t p = 0; p < particles.size(); ++p) {
    std::int64_t points = 0;
    for (std::size_t e = begin[p]; e < begin[p + 1]; ++e) points += entries[e].entry->points;
    if (points < 2) continue;
    for (std::size_t e = begin[p]; e < begin[p + 1]; ++e) {
      const PathEntry& entry = *entries[e].entry;
      if (entry.points > 0)
        cells.ranges.push_back({entries[e].segment, entry.first, entry.points, std::int64_t(p)});
    }
    cells.offsets.push_back(cells.offsets.back() + points);
    cells.particles.push_back(&particles[p]);
    const PathEntry& last = *entries[begin[p + 1] - 1].entry;
    cells.reasons.push_back(last.reason);
    cells.events.push_back(last.event);
    cells.targets.push_back(last.target);
  }
  return cells;
}

/// Vertices of all crossings.
/// @param segments  their crossings
PathCells crossingsOf(const ShownPaths& shown, const std::vector<const PathPoints*>& segments) {
  const EntriesByParticle all(shown.history.particles.size(), segments);
  PathCells cells;
  for (const auto& [entry, segment] : all.entries) {
    cells.ranges.push_back({segment, entry->first, entry->points, entry->particle});
    for (std::int64_t i = 0; i < entry->points; ++i)
      cells.offsets.push_back(cells.offsets.back() + 1);
  }
  return cells;
}

/// The index of a field in a segment, or -1. Its type may differ there.
std::ptrdiff_t find(const PathPoints& segment, const PointField& field) {
  const auto at = std::find_if(segment.fields.begin(), segment.fields.end(), [&](const auto& f) {
    return f.name == field.name && f.components == field.components && f.kind == field.kind;
  });
  return at == segment.fields.end() ? -1 : at - segment.fields.begin();
}

/// Copies tuples of `Bytes` bytes, or of `bytes` bytes if `Bytes` is 0: most ranges are short, and
/// copies of a known size take less time than a call for all of them.
/// @return the end of the copies
template <std::size_t Bytes>
std::byte* copyTuples(std::byte* to, const std::byte* from, std::size_t tuples, std::size_t bytes) {
  constexpr std::size_t Few = 16;
  std::byte* const end = to + tuples * bytes;
  if (Bytes == 0 || tuples > Few)
    std::memcpy(to, from, tuples * bytes);
  else
    for (; to != end; to += Bytes, from += Bytes) std::memcpy(to, from, Bytes);
  return end;
}

/// Copies the points of the cells from an array of each segment.
/// @param segments  those shown
/// @param type  of the result
vtkSmartPointer<vtkDataArray> gather(const Transport& transport, const PathCells& cells,
                                     const std::vector<const PathPoints*>& segments,
                                     const PointField& field, int type) {
  auto array = freshArrayOf(type, field.name.c_str(), field.components,
                            static_cast<vtkIdType>(cells.offsets.back()));
  std::vector<vtkDataArray*> arrays;  // by segment; null without points
  for (const PathPoints* segment : segments)
    arrays.push_back(segment->fields.empty()
                         ? nullptr
                         : segment->arrays[static_cast<std::size_t>(find(*segment, field))]);
  const std::size_t bytes =
      index(field.components) * static_cast<std::size_t>(array->GetDataTypeSize());
  const auto copy = bytes == 4    ? copyTuples<4>
                    : bytes == 8  ? copyTuples<8>
                    : bytes == 12 ? copyTuples<12>
                    : bytes == 24 ? copyTuples<24>
                                  : copyTuples<0>;
  auto* const begin = static_cast<std::byte*>(array->GetVoidPointer(0));
  std::byte* to = begin;
  for (std::size_t r = 0; r < cells.ranges.size(); ++r) {
    if (r % RangesPerPiece == 0) throwIfInterrupted(transport);
    const PointRange& range = cells.ranges[r];
    vtkDataArray* const from = arrays[index(range.segment)];
    if (from->GetDataType() == type) {
      to = copy(to,
                static_cast<const std::byte*>(from->GetVoidPointer(0)) + index(range.first) * bytes,
                index(range.points), bytes);
      continue;
    }
    const auto first = static_cast<vtkIdType>(index(to - begin) / bytes);
    for (std::int64_t i = 0; i < range.points; ++i)
      array->SetTuple(first + i, range.first + i, from);
    to += index(range.points) * bytes;
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
                    const std::vector<const PathPoints*>& shown, std::set<std::string>& dropped) {
  std::vector<const PathPoints*> segments = shown;
  // No rank has particles in these.
  segments.erase(std::remove_if(segments.begin(), segments.end(),
                                [](const PathPoints* s) { return s->fields.empty(); }),
                 segments.end());
  if (segments.empty()) return;
  const PathPoints& last = *segments.back();
  for (const PathPoints* segment : segments)
    for (const PointField& field : segment->fields)
      if (std::any_of(segments.begin(), segments.end(),
                      [&](const PathPoints* s) { return find(*s, field) < 0; }))
        dropped.insert(field.name);
  const auto typeOf = [&](const PointField& field) {
    const auto differs = [&](const PathPoints* s) {
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
      const vtkSmartPointer<vtkDataArray> array =
          gather(transport, cells, shown, field, typeOf(field));
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

/// Adds what points have of their particles.
void addParticleArrays(const ShownPaths& shown, const PathCells& cells, vtkPolyData* output) {
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
}

/// Makes an output without points. VTK's attributes are not valid any more where memory ends while
/// they grow.
/// @param fields  the number of arrays of the last segment
vtkSmartPointer<vtkPolyData> emptyOutput(std::size_t fields) {
  constexpr int OwnArrays = 4;
  auto output = vtkSmartPointer<vtkPolyData>::New();
  vtkNew<vtkPoints> none;
  output->SetPoints(none);
  output->GetPointData()->AllocateArrays(static_cast<int>(fields) + OwnArrays);
  return output;
}

}  // namespace

bool isInside(const PathEntry& entry, double time) {
  return entry.points > 0 && (entry.reason == Reason::None ||
                              (entry.reason == Reason::OutOfTime && entry.time == time));
}

vtkSmartPointer<vtkPolyData> makePathOutput(const Transport& transport, const ShownPaths& shown,
                                            PathKind kind, std::set<std::string>& dropped) {
  const PathCells cells = kind == PathKind::Pathlines     ? pathlinesOf(shown)
                          : kind == PathKind::Streaklines ? streaklinesOf(shown)
                                                          : particlesOf(shown);
  auto output = emptyOutput(shown.last().fields.size());
  addPointArrays(transport, output, cells, segmentsOf(shown, kind), dropped);
  if (kind == PathKind::Particles)
    output->SetVerts(cellArrayOf(cells));
  else
    output->SetLines(cellArrayOf(cells));
  addParticleArrays(shown, cells, output);
  if (kind != PathKind::Streaklines)
    addToCells<vtkIntArray>(output, "ReasonForTermination", cells, [&](std::size_t cell) {
      return static_cast<int>(cells.reasons[cell]);
    });
  if (kind != PathKind::Streaklines && shown.hasEvents)
    addToCells<vtkIntArray>(output, "EventId", cells,
                            [&](std::size_t cell) { return cells.events[cell]; });
  if (kind != PathKind::Streaklines && shown.hasSurface)
    addToCells<vtkIdTypeArray>(output, "TargetId", cells,
                               [&](std::size_t cell) { return cells.targets[cell]; });
  if (kind == PathKind::Pathlines)
    addToCells<vtkIdTypeArray>(output, "ParticleId", cells,
                               [&](std::size_t cell) { return cells.particles[cell]->id; });
  if (kind == PathKind::Streaklines)
    addToCells<vtkIdTypeArray>(output, "InjectedPointId", cells,
                               [&](std::size_t cell) { return cells.particles[cell]->shownSeed; });
  return output;
}

vtkSmartPointer<vtkPolyData> makeCrossingOutput(const Transport& transport,
                                                const ShownPaths& shown) {
  if (!shown.hasEvents) return emptyOutput(0);
  std::vector<const PathPoints*> segments;
  for (std::size_t s = 0; s < shown.steps; ++s)
    segments.push_back(&shown.history.segments[s].crossings);
  if (shown.part) segments.push_back(&shown.part->crossings);
  const PathCells cells = crossingsOf(shown, segments);
  auto output = emptyOutput(segments.back()->fields.size());
  std::set<std::string> dropped;  // those of paths, of which a warning tells
  addPointArrays(transport, output, cells, segments, dropped);
  output->SetVerts(cellArrayOf(cells));
  addParticleArrays(shown, cells, output);
  return output;
}

}  // namespace tributary
